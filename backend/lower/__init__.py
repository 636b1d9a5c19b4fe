"""Lowering of phases and regions (loops, folds, scans, maps) of the graph to kernels and loop programs."""
