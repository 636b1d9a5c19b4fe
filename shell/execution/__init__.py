"""Takes a checked program to its outcome: permissions, inputs, sizes, limits, scheduling, clusters, streams, runs and
doctests."""
