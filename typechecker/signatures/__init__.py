"""signatures."""
