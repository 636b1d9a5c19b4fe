"""From a checked program to its outcome: files it may touch, inputs, what this machine grants, runs and documented claims."""
