"""loopir."""
