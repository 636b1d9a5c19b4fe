"""Graphs of more phases, or on more devices, than the search can look at one by one: list scheduling with cuts, and chains."""
