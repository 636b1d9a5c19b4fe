"""Words of CUDA C++ that every kernel is made of: what texts begin with, loops over a grid, coordinates.

Neighbours: `cuda_text`, `cuda_reductions`, `cuda_scan`, `cuda_bins`.
"""

from __future__ import annotations

from typing import Final

PRELUDE: Final = """typedef long long i64;
typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned char u8;
"""


def coordinates(axes: int, index: str, used: frozenset[int]) -> list[str]:
    """The used ones of a0, a1, … of a row-major index over the first axes."""
    lines, rest = [], index
    for axis in range(axes - 1, min(used, default=axes) - 1, -1):
        if axis in used:
            lines.append(f"const i64 a{axis} = {rest}{f' % n{axis}' if axis else ''};")
        if axis > min(used):
            lines.append(f"const i64 q{axis} = {rest} / n{axis};")
        rest = f"q{axis}"
    return lines


def product(axes: range) -> str:
    return " * ".join(f"n{axis}" for axis in axes) or "1"


def grid_stride(name: str, stop: str) -> str:
    return (
        f"for (i64 {name} = (i64)blockIdx.x * blockDim.x + threadIdx.x; {name} < {stop}; "
        f"{name} += (i64)gridDim.x * blockDim.x) {{"
    )


def indented(lines: list[str]) -> list[str]:
    return [f"  {line}" for line in lines]
