"""How structured phases run on this machine, in words: for `rho info`."""

from __future__ import annotations


def gpu_tier() -> str:
    """The cards that programs can use, or why there are none."""
    from ...backend.run.cuda.cupy_leaf import tier

    return tier()


def kernel_tier() -> str:
    """Compiled kernels, or why there are none."""
    from ...backend.kernels import llvm_leaf, policy

    if policy.mode() is policy.Mode.OFF:
        return f"NumPy in blocks ({policy.SWITCH} says so)"
    if llvm_leaf.binding() is None:
        return "NumPy in blocks (llvmlite is not installed)"
    return f"compiled for {llvm_leaf.processor()}"
