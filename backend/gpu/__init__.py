"""The back end for GPUs: CUDA through CuPy, OpenCL through pyopencl."""
