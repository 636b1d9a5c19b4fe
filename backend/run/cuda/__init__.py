"""The CUDA back end on CuPy (`device.Backend`): generated kernels for structured phases, CuPy's libraries for the rest."""
