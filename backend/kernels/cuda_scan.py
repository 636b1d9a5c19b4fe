"""Scans as CUDA C++, in the order of scans (`backend.run.scans`): floats have the bits of every other tier.

`lines` has a thread a line: for many lines, or lines that do not lie along memory (neighbouring threads then read neighbouring
items).  Else a block of threads takes a block of items: `totals` finds what each comes to, `carry` what is before each, and
`tiles` scans it from there (lines of one block need `tiles` alone).  A thread scans a run in shared memory; one joins the runs.

Neighbours: `cuda_scalars`; `loops.scans` (the same on the CPU); `backend.run.cuda.scanning` launches these.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from ...typechecker.elements import Kind
from ...typechecker.scalars import neutral
from .cuda_math import number
from .cuda_scalars import STORED, Functions, combine
from .cuda_words import PRELUDE, THREADS
from .ir import BLOCK, RUN

LINES: Final = "lines"
TOTALS: Final = "totals"
CARRY: Final = "carry"
TILES: Final = "tiles"
_RUNS: Final = BLOCK // RUN


@cache
def scan_text(function: str, kind: Kind) -> str:
    """`lines(count, length, inner, source, result)`, where items of a line lie `inner` apart; `totals(count, length, source,
    before)`, `carry(count, blocks, before)` and `tiles(count, length, source, before, result)`, where `before` has an item a
    block, and is 0 for lines of one block.  Lines are not empty."""
    functions, stored = Functions(), STORED[kind]
    nothing = number(kind, neutral(function, kind))

    def joined(left: str, right: str) -> str:
        return combine(functions, function, kind, left, right)

    step, following = joined("total", "item"), joined("run", "total")
    item, ahead, behind = joined("before", "total"), joined("block", "run"), joined("run", "sums[r]")
    made = joined("before", "tile[r * (RUN + 1) + i % RUN]").replace("RUN", str(RUN))
    helpers = "".join(f"{text}\n" for text in functions.texts.values())
    head = f'extern "C" __global__ void __launch_bounds__({THREADS})'
    shared = f"""  __shared__ {stored} tile[{BLOCK + _RUNS}], sums[{_RUNS}];
  const i64 blocks = (length + {BLOCK - 1}) / {BLOCK};
  for (i64 work = blockIdx.x; work < count * blocks; work += gridDim.x) {{
    const i64 at = work / blocks * length + work % blocks * {BLOCK}, left = length - work % blocks * {BLOCK};
    const int items = left < {BLOCK} ? (int)left : {BLOCK}, runs = (items + {RUN - 1}) / {RUN};
    for (int i = threadIdx.x; i < items; i += {THREADS}) tile[i / {RUN} * {RUN + 1} + i % {RUN}] = source[at + i];
    __syncthreads();
    for (int r = threadIdx.x; r < runs; r += {THREADS}) {{
      {stored} total = {nothing};
      const int stop = items - r * {RUN} < {RUN} ? items - r * {RUN} : {RUN};
      for (int i = 0; i < stop; i++) {{
        const {stored} item = tile[r * {RUN + 1} + i];
        total = {step};
        tile[r * {RUN + 1} + i] = total;
      }}
      sums[r] = total;
    }}
    __syncthreads();
"""
    return f"""{PRELUDE}{helpers}{head} {LINES}(const i64 count, const i64 length, const i64 inner, const {stored} *source, \
{stored} *result) {{
  for (i64 line = (i64)blockIdx.x * blockDim.x + threadIdx.x; line < count; line += (i64)gridDim.x * blockDim.x) {{
    i64 at = line / inner * length * inner + line % inner;
    {stored} block = {nothing}, run = {nothing}, before = {nothing}, total = {nothing};
    for (i64 place = 0; place < length; place++, at += inner) {{
      if (place && place % {RUN} == 0) {{
        run = {following};
        if (place % {BLOCK} == 0) {{
          block = {ahead};
          run = {nothing};
        }}
        before = {ahead};
        total = {nothing};
      }}
      const {stored} item = source[at];
      total = {step};
      result[at] = {item};
    }}
  }}
}}
{head} {TOTALS}(const i64 count, const i64 length, const {stored} *source, {stored} *before) {{
{shared}    if (threadIdx.x == 0) {{
      {stored} run = {nothing};
      for (int r = 0; r < runs; r++) run = {behind};
      before[work] = run;
    }}
    __syncthreads();
  }}
}}
{head} {CARRY}(const i64 count, const i64 blocks, {stored} *before) {{
  for (i64 line = (i64)blockIdx.x * blockDim.x + threadIdx.x; line < count; line += (i64)gridDim.x * blockDim.x) {{
    {stored} block = {nothing};
    for (i64 at = line * blocks; at < (line + 1) * blocks; at++) {{
      const {stored} run = before[at];
      before[at] = block;
      block = {ahead};
    }}
  }}
}}
{head} {TILES}(const i64 count, const i64 length, const {stored} *source, const {stored} *ahead, {stored} *result) {{
{shared}    if (threadIdx.x == 0) {{
      const {stored} block = ahead ? ahead[work] : {nothing};
      {stored} run = {nothing};
      for (int r = 0; r < runs; r++) {{
        const {stored} before = {ahead};
        run = {behind};
        sums[r] = before;
      }}
    }}
    __syncthreads();
    for (int i = threadIdx.x; i < items; i += {THREADS}) {{
      const int r = i / {RUN};
      const {stored} before = sums[r];
      result[at + i] = {made};
    }}
    __syncthreads();
  }}
}}
"""
