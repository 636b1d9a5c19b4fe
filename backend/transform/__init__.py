"""Transformations of loop programs, and the pipeline that applies them."""
