"""Usage analysis: how many times each element of every value is read."""
