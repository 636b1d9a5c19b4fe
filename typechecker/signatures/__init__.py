"""Annotated functions: matching a signature at a call, and checking a definition against its signature."""
