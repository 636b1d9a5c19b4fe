"""Code generators: loop programs as LLVM text for processors and as CUDA C++ for cards."""
