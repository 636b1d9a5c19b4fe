"""Chains along rows as CUDA C++: a group of threads takes a row through everything; what only the chain reads is never stored.

The body is that of `graph.chains.joined`.  It is done in sweeps: one evaluates what the reductions of a level need, element by
element, and what results need once these are known.  Elements are computed again in each sweep: the row is in cache by then, and
arithmetic is what a card has most of.  Reductions follow the order of sums, as in `cuda_reductions`, and every thread of the
group then has their value.

Short rows lie side by side in a block of threads.  Threads beyond the last row do that row once more and store nothing, so all
of a block meet at its barriers.

Neighbours: `row_plan` (levels), `cuda_text` (nodes), `loops.lower.rows` (the same on the CPU); `backend.run.cuda.rows`
(launches these).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from ...typechecker.scalars import neutral
from ..graph.chains import LONGEST
from .cuda_math import TYPES, number
from .cuda_reductions import SHARED, THREADS, along_blocks
from .cuda_scalars import combine
from .cuda_text import NAME, CudaText, Text
from .cuda_words import coordinates, indented, product
from .ir import BLOCK, LANES, Apply, Kernel, kind_of
from .row_plan import FUNCTIONS, plan_sweeps

_MOST: Final = SHARED // (THREADS * 8)
"""Reductions of one sweep."""


def row_blocks(cells: int, length: int) -> int:
    """Blocks of threads for so many rows of one length, which is at most `LONGEST`."""
    return along_blocks(cells, min(length, BLOCK))


@cache
def row_text(kernel: Kernel, is_row: tuple[bool, ...]) -> CudaText | None:
    """The module of a chain; None: no reductions, or more at once than shared memory holds."""
    text = Text.of(kernel)
    body = _Rows(text, is_row).lines()
    return None if body is None else CudaText(text.whole(NAME, body), text.parameters)


@dataclass(slots=True)
class _Rows:
    text: Text
    is_row: tuple[bool, ...]

    def lines(self) -> list[str] | None:
        kernel = self.text.kernel
        plan = plan_sweeps(kernel, self.is_row)
        last = kernel.axes - 1
        sweeps = [sweep.reduces for sweep in plan.sweeps]
        if not 0 < max(map(len, sweeps)) <= _MOST:
            return None
        elements, levels, written = plan.elements, plan.levels, set[int]()
        body = [
            "const i64 work = tile * rows + place / width;",
            "const i64 cell = work < cells ? work : cells - 1;",
            *coordinates(last, "cell", self.text.used() - {last}),
        ]
        for level in range(len(sweeps) + 1):
            for place in range(len(kernel.body)):
                known = levels[place] <= level and place not in elements and not _reduction(kernel, place)
                if known and place in self.text.needed and place not in written:
                    written.add(place)
                    body += self.text.node(place, "const ")
            if level < len(sweeps):
                body += self._sweep(sweeps[level], plan.sweeps[level].stores, elements)
        ends = [f"r{i}[work] = v{kernel.results[i].node};" for i, on_row in enumerate(self.is_row) if on_row]
        if ends:
            body += ["if (lane == 0 && work < cells) {", *indented(ends), "}"]
        return [
            f"__shared__ double room[{max(map(len, sweeps)) * THREADS}];",
            f"const i64 cells = {product(range(last))};",
            f"const int place = threadIdx.x, width = n{last} < {LANES} ? 1 << (32 - __clz((int)n{last} - 1)) : {LANES};",
            f"const int lane = place % width, rows = {THREADS} / width, blocks = (int)((n{last} + {BLOCK - 1}) / {BLOCK});",
            "for (i64 tile = blockIdx.x; tile * rows < cells; tile += gridDim.x) {",
            *indented(body),
            "}",
        ]

    def _sweep(self, reduces: list[int], stores: list[int], elements: frozenset[int]) -> list[str]:
        if not reduces and not stores:
            return []
        kernel, last = self.text.kernel, self.text.kernel.axes - 1
        assigned = [f"r{i}[work * n{last} + a{last}] = v{kernel.results[i].node};" for i in stores]
        stored = ["if (work < cells) {", *indented(assigned), "}"]
        wanted = [_argument(kernel, place) for place in reduces] + [kernel.results[i].node for i in stores]
        each = [*self._elements(wanted, elements), *(self._joined(p, f"t{p}", f"v{_argument(kernel, p)}") for p in reduces)]
        inner = [
            f"const i64 stop = n{last} < (block + 1) * {BLOCK} ? n{last} : (block + 1) * {BLOCK};",
            *(f"{self._type(p)} t{p} = {self._nothing(p)};" for p in reduces),
            f"for (i64 a{last} = block * {BLOCK} + lane; a{last} < stop; a{last} += {LANES}) {{",
            *indented([*each, *(stored if stores else [])]),
            "}",
        ]
        if reduces:
            inner += [
                *(f"lanes{p}[place] = t{p};" for p in reduces),
                "for (int half = width / 2; half; half >>= 1) {",
                "  __syncthreads();",
                "  if (lane < half) {",
                *indented(indented([self._joined(p, f"lanes{p}[place]", f"lanes{p}[place + half]") for p in reduces])),
                "  }",
                "}",
                "__syncthreads();",
                *(f"totals{p}[block] = lanes{p}[place - lane];" for p in reduces),
                "__syncthreads();",
            ]
        lines = ["for (i64 block = 0; block < blocks; block++) {", *indented(inner), "}"]
        if not reduces:
            return lines
        tree = [self._joined(p, f"totals{p}[left]", f"totals{p}[left + step]") for p in reduces]
        return [
            *(f"{self._type(p)} *const lanes{p} = ({self._type(p)} *)(room + {i * THREADS});" for i, p in enumerate(reduces)),
            *(f"{self._type(p)} totals{p}[{LONGEST // BLOCK}];" for p in reduces),
            *lines,
            "for (int step = 1; step < blocks; step *= 2) {",
            "  for (int left = 0; left + step < blocks; left += 2 * step) {",
            *indented(indented(tree)),
            "  }",
            "}",
            *(f"const {self._type(p)} v{p} = totals{p}[0];" for p in reduces),
        ]

    def _elements(self, wanted: list[int], elements: frozenset[int]) -> list[str]:
        """What varies along the row, of what is wanted."""
        kernel, found = self.text.kernel, set[int]()
        left = list(wanted)
        while left:
            place = left.pop()
            if place in elements and place not in found:
                found.add(place)
                node = kernel.body[place]
                left += node.args if isinstance(node, Apply) else ()
        return [line for place in sorted(found) for line in self.text.node(place, "const ")]

    def _function(self, place: int) -> str:
        node = self.text.kernel.body[place]
        assert isinstance(node, Apply)
        return FUNCTIONS[node.function]

    def _type(self, place: int) -> str:
        return TYPES[kind_of(self.text.kernel, place)]

    def _nothing(self, place: int) -> str:
        kind = kind_of(self.text.kernel, place)
        return number(kind, neutral(self._function(place), kind))

    def _joined(self, place: int, left: str, right: str) -> str:
        kind = kind_of(self.text.kernel, place)
        return f"{left} = {combine(self.text.functions, self._function(place), kind, left, right)};"


def _reduction(kernel: Kernel, place: int) -> bool:
    node = kernel.body[place]
    return isinstance(node, Apply) and node.function in FUNCTIONS


def _argument(kernel: Kernel, place: int) -> int:
    node = kernel.body[place]
    assert isinstance(node, Apply)
    return node.args[0]
