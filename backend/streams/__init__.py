"""Execution of plans whose inputs are read tile by tile, with prefetching, spilled rows and partial results."""
