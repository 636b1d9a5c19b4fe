"""The passes over the phase graph, in order: one list that reads as a recipe."""
