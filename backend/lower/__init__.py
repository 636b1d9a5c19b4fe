"""Lowering of phases and regions of the graph to kernels and loop programs."""
