"""Keyed reduction as CUDA C++: cells joined, item by item, into the bin that their key names.

`scatter` joins items as they come, with atomic operations, for functions of whole numbers and truth values that are exact in any
order; `shared` does so in the shared memory of each block of threads first, where few bins would make all threads meet at the
same places.  `grouped` has one thread an item of a bin run through its items in their order (a stable sort of the keys says where
they are), which gives floats the bits of every other tier.

A key that names no bin writes nowhere, and is noted in `failed` unless that is null.

Neighbours: `scattering` (the same on the CPU), `backend.run.cuda.keyed` (launches these).
"""

from __future__ import annotations

from functools import cache
from typing import Final

from ...typechecker.elements import Kind
from ...typechecker.scalars import neutral
from .cuda_math import number
from .cuda_scalars import STORED, Functions, combine
from .cuda_words import PRELUDE, SHARED, THREADS

SCATTER: Final = "scatter"
PRIVATE: Final = "shared"
GROUPED: Final = "grouped"

_ATOMIC: Final = {
    ("add", Kind.I32): "atomicAdd((u32 *)&{to}, (u32){item});", ("add", Kind.I64): "atomicAdd((u64 *)&{to}, (u64){item});",
    ("min", Kind.I32): "atomicMin(&{to}, {item});", ("min", Kind.I64): "atomicMin(&{to}, {item});",
    ("max", Kind.I32): "atomicMax(&{to}, {item});", ("max", Kind.I64): "atomicMax(&{to}, {item});",
    ("or", Kind.BOOL): "if ({item}) {to} = 1;", ("and", Kind.BOOL): "if (!{item}) {to} = 0;",
}  # fmt: skip


def is_scattered(function: str, kind: Kind) -> bool:
    """May items be joined in any order, one by one?"""
    return (function, kind) in _ATOMIC


def fits_shared(bins: int, kind: Kind) -> bool:
    """Has shared memory room for every bin?"""
    return kind.is_integer and bins * kind.bytes <= SHARED


@cache
def scatter_text(function: str, kind: Kind) -> str:
    """`scatter` and `shared`, of `(count, width, bins_count, keys, items, bins, failed)`: cells of `width` items (1 in `shared`);
    bins hold what changes nothing."""
    stored, nothing = STORED[kind], number(kind, neutral(function, kind))
    heads = {
        name: f'extern "C" __global__ void __launch_bounds__({THREADS}) {name}(const i64 count, const i64 width, '
        f"const i64 bins_count, const i64 *keys, const {stored} *items, {stored} *bins, int *failed) {{"
        for name in (SCATTER, PRIVATE)
    }
    taken = f"""    if ((u64)key >= (u64)bins_count) {{
      if (failed) *failed = 1;
      continue;
    }}
    const {stored} item = items[i];"""
    atomic = _ATOMIC[function, kind]
    scattered = f"""{PRELUDE}{heads[SCATTER]}
  for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < count * width; i += (i64)gridDim.x * blockDim.x) {{
    const i64 key = keys[i / width];
{taken}
    {atomic.format(to="bins[key * width + i % width]", item="item")}
  }}
}}
"""
    if not kind.is_integer:
        return scattered
    return f"""{scattered}{heads[PRIVATE]}
  __shared__ double room[{SHARED // 8}];
  {stored} *const own = ({stored} *)room;
  for (int bin = threadIdx.x; bin < bins_count; bin += {THREADS}) own[bin] = {nothing};
  __syncthreads();
  for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (i64)gridDim.x * blockDim.x) {{
    const i64 key = keys[i];
{taken}
    {atomic.format(to="own[key]", item="item")}
  }}
  __syncthreads();
  for (int bin = threadIdx.x; bin < bins_count; bin += {THREADS}) {{
    if (own[bin] != {nothing}) {{ {atomic.format(to="bins[bin]", item="own[bin]")} }}
  }}
}}
"""


@cache
def grouped_text(function: str, kind: Kind) -> str:
    """`grouped(bins, width, starts, order, items, result)`: the cells of bin b are `order[starts[b]]` … `order[starts[b+1] - 1]`,
    each of `width` items."""
    functions, stored = Functions(), STORED[kind]
    joined = combine(functions, function, kind, "total", "item")
    helpers = "".join(f"{text}\n" for text in functions.texts.values())
    return f"""{PRELUDE}{helpers}extern "C" __global__ void __launch_bounds__({THREADS}) {GROUPED}(const i64 bins, \
const i64 width, const i64 *starts, const i64 *order, const {stored} *items, {stored} *result) {{
  for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < bins * width; i += (i64)gridDim.x * blockDim.x) {{
    i64 at = starts[i / width];
    const i64 stop = starts[i / width + 1], column = i % width;
    if (at == stop) continue;
    {stored} total = items[order[at] * width + column];
    for (at++; at < stop; at++) {{
      const {stored} item = items[order[at] * width + column];
      total = {joined};
    }}
    result[i] = total;
  }}
}}
"""
