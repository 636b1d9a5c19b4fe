"""Code generators: loop programs become LLVM text for CPUs and CUDA C++ for GPUs."""
