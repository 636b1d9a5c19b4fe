"""Reductions as CUDA C++: the loops around a body, and how partial results become one (see `cuda_text`).

Note [Barriers].  All threads of a block go through a loop with barriers equally often: its bounds are the block's, and threads
without a cell skip only what is between barriers.

Note [Shared memory].  Each part of a state has an item a thread in shared memory.  Where those of all states are more than
every card has, some states are joined after the others, in the same memory.

Neighbours: `cuda_states` (what is carried), `cuda_text` (bodies, maps).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from .cuda_parameters import Output
from .cuda_scalars import STORED, Functions
from .cuda_states import Part, State
from .cuda_words import coordinates, indented, product
from .ir import BLOCK, LANES, Kernel

Names: TypeAlias = list[list[str]]

THREADS: Final = LANES
"""Threads of a block, for every kernel."""
STRANDS: Final = 8
"""Threads a cell (ACROSS) where the reduced axis has at least `STRANDED` items."""
STRANDED: Final = 64
SHARED: Final = 40 << 10
"""Bytes of shared memory, of the 48 KiB that a block of threads may have on any card."""


def along_blocks(cells: int, length: int) -> int:
    """Blocks of threads for a reduction ALONG of so many cells, each of so many items; short ones are side by side."""
    width = LANES if length >= LANES else 1 << (length - 1).bit_length()
    return -(-cells * -(-length // BLOCK) // (THREADS // width))


def across_blocks(cells: int, length: int) -> int:
    """The same for a reduction ACROSS."""
    width = THREADS // (STRANDS if length >= STRANDED else 1)
    return -(-cells // width) * -(-length // BLOCK)


@dataclass(frozen=True, slots=True)
class Reductions:
    """What the kernel's reductions need; `used`: the axes whose coordinate the body mentions."""

    kernel: Kernel
    functions: Functions
    states: tuple[State, ...]
    outputs: tuple[Output, ...]
    used: frozenset[int]

    def along(self, element: Sequence[str]) -> list[str]:
        last, own = self.kernel.axes - 1, self._names("t")
        lanes, beside = self._names("lanes", "[place]"), self._names("lanes", "[place + half]")
        compute = [
            "const i64 block = work % blocks;",
            *self._cell("work / blocks"),
            f"const i64 start = block * {BLOCK}, stop = start + {BLOCK} < n{last} ? start + {BLOCK} : n{last};",
            f"for (i64 a{last} = start + lane; a{last} < stop; a{last} += {LANES}) {{",
            *indented([*element, *self._absorbed(own)]),
            "}",
        ]
        body = [
            "const i64 work = tile * rows + place / width;",
            *self._begun(own),
            "if (work < cells * blocks) {",
            *indented(compute),
            "}",
        ]
        for group in self._groups():
            body += [
                *_moved(lanes, own, group),
                "for (int half = width / 2; half; half >>= 1) {",
                "  __syncthreads();",
                "  if (lane < half) {",
                *indented(indented(self._joined(lanes, beside, group))),
                "  }",
                "}",
                "if (lane == 0 && work < cells * blocks) {",
                *indented(_moved(self._results("[work]"), lanes, group)),
                "}",
                "__syncthreads();",
            ]
        return [
            *self._shared("lanes"),
            f"const i64 cells = {product(range(last))}, blocks = (n{last} + {BLOCK - 1}) / {BLOCK};",
            f"const int place = threadIdx.x, width = n{last} < {LANES} ? 1 << (32 - __clz((int)n{last} - 1)) : {LANES};",
            f"const int lane = place % width, rows = {THREADS} / width;",
            "for (i64 tile = blockIdx.x; tile * rows < cells * blocks; tile += gridDim.x) {",
            *indented(body),
            "}",
        ]

    def across(self, element: Sequence[str]) -> list[str]:
        last, own = self.kernel.axes - 1, self._names("t")
        tree, mine = self._names("tree", "[level]"), self._names("strands", "[place]")
        visit = [
            "const int lane = bits ? (int)(__brev((u32)visit) >> (32 - bits)) : 0;",
            *self._begun(own),
            f"for (i64 a{last} = start + lane; a{last} < stop; a{last} += {LANES}) {{",
            *indented([*element, *self._absorbed(own)]),
            "}",
            "int level = 0;",
            "for (int left = visit - first; left & 1; left >>= 1, level++) {",
            *indented([line for i, state in enumerate(self.states) for line in state.follow(self.functions, tree[i], own[i])]),
            "}",
            *(f"{level} = {value};" for level, value in zip(_flat(tree), _flat(own), strict=True)),
        ]
        cell = [
            *coordinates(last, "cell", self.used - {last}),
            "const int first = strand << share;",
            "for (int visit = first; visit < first + (1 << share); visit++) {",
            *indented(visit),
            "}",
        ]
        ends, outputs = self._names("tree", "[share]"), self._results("[block * cells + cell]")
        body = [
            "const i64 block = work / tiles, cell = work % tiles * width + place % width;",
            f"const i64 start = block * {BLOCK}, stop = start + {BLOCK} < n{last} ? start + {BLOCK} : n{last};",
            f"const int count = stop - start < {LANES} ? (int)(stop - start) : {LANES};",
            "const int bits = count > 1 ? 32 - __clz(count - 1) : 0;",
            "const int active = 1 << bits < strands ? 1 << bits : strands;",
            "const bool works = cell < cells && strand < active;",
            "const int share = bits - (31 - __clz(active));",
            *(f"{part.type} {name}[{LANES.bit_length()}];" for name, part in self._each("tree")),
            "if (works) {",
            *indented(cell),
            "}",
        ]
        for group in self._groups():
            body += [
                "if (works) {",
                *indented(_moved(mine, ends, group)),
                "}",
                "for (int step = 1; step < active; step <<= 1) {",
                "  __syncthreads();",
                "  if (strand % (2 * step) == 0) {",
                *indented(indented(self._joined(mine, self._names("strands", "[place + step * width]"), group))),
                "  }",
                "}",
                "if (strand == 0 && cell < cells) {",
                *indented(_moved(outputs, mine, group)),
                "}",
                "__syncthreads();",
            ]
        return [
            *self._shared("strands"),
            f"const i64 cells = {product(range(last))}, blocks = (n{last} + {BLOCK - 1}) / {BLOCK};",
            f"const int place = threadIdx.x, strands = n{last} < {STRANDED} ? 1 : {STRANDS}, width = {THREADS} / strands;",
            "const int strand = place / width;",
            "const i64 tiles = (cells + width - 1) / width;",
            "for (i64 work = blockIdx.x; work < tiles * blocks; work += gridDim.x) {",
            *indented(body),
            "}",
        ]

    def finish(self) -> tuple[list[str], list[str]]:
        """The parameters and the body of the function that joins partial results."""
        parameters = ["const i64 cells", "const i64 blocks", "const i64 cell_step", "const i64 block_step"]
        parameters += [f"{STORED[output.part]} *p{i}" for i, output in enumerate(self.outputs)]
        parameters += [f"{STORED[o.part]} *r{i}" for i, o in enumerate(self.outputs) if o.result >= 0]
        here, there = self._names("x"), self._names("y")
        numbers = list(range(len(self.outputs)))
        levels = [
            *(f"{p.type} {name} = p{i}[at];" for i, (name, p) in zip(numbers, self._each("x"), strict=True)),
            *(
                f"const {p.type} {name} = p{i}[at + step * block_step];"
                for i, (name, p) in zip(numbers, self._each("y"), strict=True)
            ),
            *self._joined(here, there),
            *(f"p{i}[at] = {name};" for i, name in enumerate(_flat(here))),
        ]
        ends = [f"r{i}[cell] = p{i}[cell * cell_step];" for i, output in enumerate(self.outputs) if output.result >= 0]
        body = [
            "for (i64 cell = blockIdx.x; cell < cells; cell += gridDim.x) {",
            "  for (i64 step = 1; step < blocks; step *= 2) {",
            "    for (i64 left = (i64)threadIdx.x * 2 * step; left + step < blocks; left += (i64)blockDim.x * 2 * step) {",
            "      const i64 at = cell * cell_step + left * block_step;",
            *indented(indented(indented(levels))),
            "    }",
            "    __syncthreads();",
            "  }",
            "  if (threadIdx.x == 0) {",
            *indented(indented(ends)),
            "  }",
            "}",
        ]
        return parameters, body

    def _cell(self, index: str) -> list[str]:
        """The coordinates of a cell of the parallel axes."""
        last = self.kernel.axes - 1
        lines = coordinates(last, "cell", self.used - {last})
        return [f"const i64 cell = {index};", *lines] if lines else []

    # ------------------------------------------------------------------------------------------ states

    def _names(self, stem: str, behind: str = "") -> Names:
        """A variable for each part of each state."""
        return [[f"{stem}{i}{'ab'[j]}{behind}" if len(s.parts) > 1 else f"{stem}{i}{behind}" for j in range(len(s.parts))]
                for i, s in enumerate(self.states)]  # fmt: skip

    def _results(self, behind: str) -> Names:
        """The outputs, which are numbered through."""
        numbers = iter(range(len(self.outputs)))
        return [[f"r{next(numbers)}{behind}" for _ in state.parts] for state in self.states]

    def _each(self, stem: str) -> list[tuple[str, Part]]:
        return list(zip(_flat(self._names(stem)), (part for state in self.states for part in state.parts), strict=True))

    def _begun(self, names: Names) -> list[str]:
        parts = [part for state in self.states for part in state.parts]
        return [f"{part.type} {name} = {part.first};" for name, part in zip(_flat(names), parts, strict=True)]

    def _absorbed(self, names: Names) -> list[str]:
        return self._joined(names, [[part.item for part in state.parts] for state in self.states])

    def _joined(self, target: Names, right: Names, group: Sequence[int] | None = None) -> list[str]:
        numbers = range(len(self.states)) if group is None else group
        return [line for i in numbers for line in self.states[i].absorb(self.functions, target[i], right[i])]

    def _groups(self) -> list[list[int]]:
        """The states that are in shared memory together."""
        groups: list[list[int]] = [[]]
        used = 0
        for place, state in enumerate(self.states):
            bytes = _bytes(state)
            if used + bytes > SHARED:
                groups.append([])
                used = 0
            groups[-1].append(place)
            used += bytes
        return groups

    def _shared(self, stem: str) -> list[str]:
        groups = self._groups()
        if len(groups) == 1:
            return [f"__shared__ {part.type} {name}[{THREADS}];" for name, part in self._each(stem)]
        names, lines = self._names(stem), [f"__shared__ double room[{SHARED // 8}];"]
        for group in groups:
            at = 0
            for place in group:
                for name, part in zip(names[place], self.states[place].parts, strict=True):
                    lines.append(f"{part.type} *const {name} = ({part.type} *)(room + {at});")
                    at += THREADS
        return lines


def _bytes(state: State) -> int:
    """Of shared memory; words of 64 bits."""
    return len(state.parts) * THREADS * 8


def _moved(target: Names, source: Names, group: Sequence[int]) -> list[str]:
    return [f"{to} = {own};" for i in group for to, own in zip(target[i], source[i], strict=True)]


def _flat(names: Names) -> list[str]:
    return [name for own in names for name in own]
