"""The CUDA back end: `card.CudaBackend` runs phases on a graphics card through CuPy.

Nothing is imported here, so that `cupy_leaf` can be asked which cards there are at no cost.
"""
