"""Keyed reduction as CUDA C++: items joined into the bin that their key names.

`scatter` joins items as they come, with atomic operations, for functions of whole numbers and truth values that are exact in any
order.  `grouped` has one thread a bin run through its items in their order (a stable sort of the keys says where they are), which
gives floats the bits of every other tier.

Neighbours: `scattering` (the same on the CPU), `backend.run.cuda.keyed` (launches these).
"""

from __future__ import annotations

from functools import cache
from typing import Final

from ...typechecker.elements import Kind
from .cuda_reductions import THREADS
from .cuda_scalars import STORED, Functions, combine
from .cuda_words import PRELUDE

SCATTER: Final = "scatter"
GROUPED: Final = "grouped"

_ATOMIC: Final = {
    ("add", Kind.I32): "atomicAdd((u32 *)&bins[key], (u32)item);", ("add", Kind.I64): "atomicAdd((u64 *)&bins[key], (u64)item);",
    ("min", Kind.I32): "atomicMin(&bins[key], item);", ("min", Kind.I64): "atomicMin(&bins[key], item);",
    ("max", Kind.I32): "atomicMax(&bins[key], item);", ("max", Kind.I64): "atomicMax(&bins[key], item);",
    ("or", Kind.BOOL): "if (item) bins[key] = 1;", ("and", Kind.BOOL): "if (!item) bins[key] = 0;",
}  # fmt: skip


def is_scattered(function: str, kind: Kind) -> bool:
    """May items be joined in any order, one by one?"""
    return (function, kind) in _ATOMIC


@cache
def scatter_text(function: str, kind: Kind) -> str:
    """`scatter(count, keys, items, bins)`: keys are in range, bins hold what changes nothing."""
    stored = STORED[kind]
    return f"""{PRELUDE}extern "C" __global__ void __launch_bounds__({THREADS}) {SCATTER}(const i64 count, const i64 *keys, \
const {stored} *items, {stored} *bins) {{
  for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (i64)gridDim.x * blockDim.x) {{
    const i64 key = keys[i];
    const {stored} item = items[i];
    {_ATOMIC[function, kind]}
  }}
}}
"""


@cache
def grouped_text(function: str, kind: Kind) -> str:
    """`grouped(bins, starts, order, items, result)`: the items of bin b are `order[starts[b]]` … `order[starts[b+1]-1]`."""
    functions, stored = Functions(), STORED[kind]
    joined = combine(functions, function, kind, "total", "item")
    helpers = "".join(f"{text}\n" for text in functions.texts.values())
    return f"""{PRELUDE}{helpers}extern "C" __global__ void __launch_bounds__({THREADS}) {GROUPED}(const i64 bins, \
const i64 *starts, const i64 *order, const {stored} *items, {stored} *result) {{
  for (i64 bin = (i64)blockIdx.x * blockDim.x + threadIdx.x; bin < bins; bin += (i64)gridDim.x * blockDim.x) {{
    i64 at = starts[bin];
    const i64 stop = starts[bin + 1];
    if (at == stop) continue;
    {stored} total = items[order[at]];
    for (at++; at < stop; at++) {{
      const {stored} item = items[order[at]];
      total = {joined};
    }}
    result[bin] = total;
  }}
}}
"""
