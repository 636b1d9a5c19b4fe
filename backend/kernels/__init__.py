"""Compiled kernels: a structured phase as a loop nest over raw memory, translated to machine code.

    build    phase and layout → kernel (`ir`): loops, strides, a scalar body, reductions
    *_text   kernel → LLVM text, with explicit vectors
    store    text → machine code, cached in the process and on disk; only `llvm_leaf` knows llvmlite
    apart    the compiler in a process of its own, where memory is bounded
    policy   when a kernel is worth compiling

Nothing here imports NumPy or runs a phase: `backend.run.cpu.compiled` binds kernels to arrays.
"""
