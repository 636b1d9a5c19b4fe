"""Whole phases with delays between them, searched state by state: published task graphs, mostly."""
