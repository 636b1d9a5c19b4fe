"""The back end for one NVIDIA GPU, through CuPy."""
