"""sizes."""
