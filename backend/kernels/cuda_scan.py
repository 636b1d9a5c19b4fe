"""Scans as CUDA C++, each line from its first item to its last: floats have the bits of every other tier.

`lines` has a thread a line: for many lines, or lines that do not lie along memory (neighbouring threads then read neighbouring
items).  `tiles` has a block a line: its threads carry tiles to and from shared memory, and one of them runs along.

Neighbours: `cuda_scalars`; `backend.run.cuda.scanning` launches these.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from ...typechecker.elements import Kind
from .cuda_scalars import STORED, Functions, combine
from .cuda_text import PRELUDE, THREADS

LINES: Final = "lines"
TILES: Final = "tiles"
_TILE: Final = 2048


@cache
def scan_text(function: str, kind: Kind) -> str:
    """`lines(count, length, inner, source, result)`, where items of a line lie `inner` apart; `tiles(count, length, source,
    result)`.  Lines are not empty."""
    functions, stored = Functions(), STORED[kind]
    joined = combine(functions, function, kind, "total", "item")
    helpers = "".join(f"{text}\n" for text in functions.texts.values())
    head = f'extern "C" __global__ void __launch_bounds__({THREADS})'
    return f"""{PRELUDE}{helpers}{head} {LINES}(const i64 count, const i64 length, const i64 inner, const {stored} *source, \
{stored} *result) {{
  for (i64 line = (i64)blockIdx.x * blockDim.x + threadIdx.x; line < count; line += (i64)gridDim.x * blockDim.x) {{
    i64 at = line / inner * length * inner + line % inner;
    {stored} total = source[at];
    result[at] = total;
    for (i64 place = 1; place < length; place++) {{
      at += inner;
      const {stored} item = source[at];
      total = {joined};
      result[at] = total;
    }}
  }}
}}
{head} {TILES}(const i64 count, const i64 length, const {stored} *source, {stored} *result) {{
  __shared__ {stored} tile[{_TILE}];
  for (i64 line = blockIdx.x; line < count; line += gridDim.x) {{
    {stored} total = 0;
    for (i64 start = 0; start < length; start += {_TILE}) {{
      const i64 at = line * length + start;
      const int items = length - start < {_TILE} ? (int)(length - start) : {_TILE};
      for (int i = threadIdx.x; i < items; i += {THREADS}) tile[i] = source[at + i];
      __syncthreads();
      if (threadIdx.x == 0) {{
        if (start == 0) total = tile[0];
        for (int i = start == 0; i < items; i++) {{
          const {stored} item = tile[i];
          total = {joined};
          tile[i] = total;
        }}
      }}
      __syncthreads();
      for (int i = threadIdx.x; i < items; i += {THREADS}) result[at + i] = tile[i];
      __syncthreads();
    }}
  }}
}}
"""
