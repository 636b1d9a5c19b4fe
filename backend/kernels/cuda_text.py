"""A kernel as CUDA C++: the same scalar IR that `llvm_text` prints, for a grid of threads.

MAP: a thread an element, grid-stride.  ALONG: a block of threads a block of the order of sums, a thread a lane, halved in
shared memory.  ACROSS: a thread a cell and a block of the order of sums; lanes are visited in bit-reversed order, in which
halving is a binary tree of neighbours.  Reductions write one partial result a block; `finish`, in the same text, joins those of
a cell in place, level by level.  So results have the bits of every other tier, whatever the grid.

Note [Parameters].  `parameters` lists what a kernel takes, each of 64 bits; sizes are those of its loops, strides are in bytes,
and results are contiguous: in the order of the parallel loops for MAP, and of partial results by `work` (ALONG: cell × blocks +
block, ACROSS: block × cells + cell).  `finish` takes the cells, the blocks, how far cells and blocks of partial results lie
apart, and for each result its partial results and its place.  A failed check sets `failed` to 1; what failed is found out
elsewhere.

Neighbours: `ir`, `cuda_scalars`, `cuda_math`; `backend.run.cuda` compiles and launches the text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Final, TypeAlias

from ...typechecker.elements import Kind
from .cuda_math import TYPES, number
from .cuda_parameters import Parameter, Role, has_stride, needed_nodes, parameters
from .cuda_scalars import STORED, Functions, apply, checked, combine, literal, may_fail
from .ir import BLOCK, LANES, Apply, Argument, Coordinate, Form, Kernel, Literal, Load, Step, kind_of
from .scalar_text import identity

NAME: Final = "kernel"
FINISH: Final = "finish"
THREADS: Final = LANES
"""Threads of a block, for every kernel."""

PRELUDE: Final = """typedef long long i64;
typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned char u8;
"""


@dataclass(frozen=True, slots=True)
class CudaText:
    """`source` has the functions `kernel` and, for reductions, `finish`."""

    source: str
    parameters: tuple[Parameter, ...]


Offsets: TypeAlias = tuple[tuple[int, ...], ...]


@cache
def cuda_text(kernel: Kernel, offsets: Offsets = ()) -> CudaText:
    """The module of a kernel and what its function takes.  With `offsets` (of a MAP) each operand is read so many items further
    on each axis, around its end; none is longer than the axis."""
    made = parameters(kernel)
    return CudaText(_Text(kernel, made, offsets).source(), made)


@dataclass(slots=True)
class _Text:
    """One kernel being written."""

    kernel: Kernel
    parameters: tuple[Parameter, ...]
    offsets: Offsets = ()
    functions: Functions = field(default_factory=Functions)

    def source(self) -> str:
        match self.kernel.form:
            case Form.MAP:
                body = self._map()
            case Form.ALONG:
                body = self._along()
            case Form.ACROSS:
                body = self._across()
        texts = [self._function(NAME, [self._parameter(p) for p in self.parameters], body)]
        if self.kernel.form is not Form.MAP:
            texts.append(self._finish())
        return PRELUDE + "\n".join((*self.functions.texts.values(), *texts)) + "\n"

    def _function(self, name: str, parameters: list[str], body: list[str]) -> str:
        head = f'extern "C" __global__ void __launch_bounds__({THREADS}) {name}({", ".join(parameters)}) {{'
        return "\n".join((head, *(f"  {line}" for line in body), "}"))

    def _parameter(self, parameter: Parameter) -> str:
        name = parameter.name
        match parameter.role:
            case Role.ADDRESS:
                # a map may write its first result over an operand
                return f"const char *{name}" if self.kernel.form is Form.MAP else f"const char *__restrict__ {name}"
            case Role.RESULT:
                return f"{STORED[self.kernel.results[parameter.which].kind]} *{name}"
            case Role.FAILED:
                return f"int *{name}"
            case Role.SIZE | Role.SCALAR | Role.STRIDE:
                return f"const i64 {name}"

    # ------------------------------------------------------------------------------------------- loops

    def _map(self) -> list[str]:
        kernel = self.kernel
        stores = [f"r{i}[i] = v{result.node};" for i, result in enumerate(kernel.results)]
        body = [*_coordinates(kernel.axes, "i", self._used()), *self._neighbours(), *self._body(), *stores]
        return [_grid_stride("i", _product(range(kernel.axes))), *_indented(body), "}"]

    def _along(self) -> list[str]:
        last = self.kernel.axes - 1
        each = list(enumerate(self.kernel.results))
        lanes = [f"t{i} = {self._joined(i, f't{i}', f'v{r.node}')};" for i, r in each]
        halves = [f"lanes{i}[lane] = {self._joined(i, f'lanes{i}[lane]', f'lanes{i}[lane + half]')};" for i, _ in each]
        body = [
            "const i64 block = work % blocks;",
            *self._cell(last, "work / blocks"),
            f"const i64 start = block * {BLOCK}, stop = start + {BLOCK} < n{last} ? start + {BLOCK} : n{last};",
            *(f"{self._type(i)} t{i} = {self._identity(i)};" for i, _ in each),
            f"for (i64 a{last} = start + lane; a{last} < stop; a{last} += {LANES}) {{",
            *_indented([*self._body(), *lanes]),
            "}",
            *(f"lanes{i}[lane] = t{i};" for i, _ in each),
            f"for (int half = {LANES // 2}; half; half >>= 1) {{",
            "  __syncthreads();",
            "  if (lane < half) {",
            *_indented(_indented(halves)),
            "  }",
            "}",
            "if (lane == 0) {",
            *_indented([f"r{i}[work] = lanes{i}[0];" for i, _ in each]),
            "}",
            "__syncthreads();",
        ]
        return [
            *(f"__shared__ {self._type(i)} lanes{i}[{LANES}];" for i, _ in each),
            f"const i64 cells = {_product(range(last))}, blocks = (n{last} + {BLOCK - 1}) / {BLOCK};",
            "const int lane = threadIdx.x;",
            "for (i64 work = blockIdx.x; work < cells * blocks; work += gridDim.x) {",
            *_indented(body),
            "}",
        ]

    def _across(self) -> list[str]:
        last = self.kernel.axes - 1
        each = list(enumerate(self.kernel.results))
        lanes = [f"t{i} = {self._joined(i, f't{i}', f'v{r.node}')};" for i, r in each]
        carries = [f"t{i} = {self._joined(i, f'tree{i}[level]', f't{i}')};" for i, _ in each]
        visit = [
            "const int lane = bits ? (int)(__brev((u32)visit) >> (32 - bits)) : 0;",
            *(f"{self._type(i)} t{i} = {self._identity(i)};" for i, _ in each),
            f"for (i64 a{last} = start + lane; a{last} < stop; a{last} += {LANES}) {{",
            *_indented([*self._body(), *lanes]),
            "}",
            "int level = 0;",
            "for (int left = visit; left & 1; left >>= 1, level++) {",
            *_indented(carries),
            "}",
            *(f"tree{i}[level] = t{i};" for i, _ in each),
        ]
        body = [
            "const i64 block = work / cells;",
            *self._cell(last, "work % cells"),
            f"const i64 start = block * {BLOCK}, stop = start + {BLOCK} < n{last} ? start + {BLOCK} : n{last};",
            f"const int count = stop - start < {LANES} ? (int)(stop - start) : {LANES};",
            "const int bits = count > 1 ? 32 - __clz(count - 1) : 0;",
            *(f"{self._type(i)} tree{i}[{LANES.bit_length()}];" for i, _ in each),
            "for (int visit = 0; visit < 1 << bits; visit++) {",
            *_indented(visit),
            "}",
            *(f"r{i}[work] = tree{i}[bits];" for i, _ in each),
        ]
        return [
            f"const i64 cells = {_product(range(last))}, blocks = (n{last} + {BLOCK - 1}) / {BLOCK};",
            _grid_stride("work", "cells * blocks"),
            *_indented(body),
            "}",
        ]

    def _finish(self) -> str:
        parameters = ["const i64 cells", "const i64 blocks", "const i64 cell_step", "const i64 block_step"]
        levels, ends = [], []
        for i, result in enumerate(self.kernel.results):
            stored = STORED[result.kind]
            parameters += [f"{stored} *p{i}", f"{stored} *r{i}"]
            left, right = (f"({self._type(i)})p{i}[{place}]" for place in ("at", "at + step * block_step"))
            levels.append(f"p{i}[at] = {self._joined(i, left, right)};")
            ends.append(f"r{i}[cell] = p{i}[cell * cell_step];")
        body = [
            "for (i64 cell = blockIdx.x; cell < cells; cell += gridDim.x) {",
            "  for (i64 step = 1; step < blocks; step *= 2) {",
            "    for (i64 left = (i64)threadIdx.x * 2 * step; left + step < blocks; left += (i64)blockDim.x * 2 * step) {",
            "      const i64 at = cell * cell_step + left * block_step;",
            *_indented(_indented(_indented(levels))),
            "    }",
            "    __syncthreads();",
            "  }",
            "  if (threadIdx.x == 0) {",
            *_indented(_indented(ends)),
            "  }",
            "}",
        ]
        return self._function(FINISH, parameters, body)

    # -------------------------------------------------------------------------------------------- body

    def _type(self, result: int) -> str:
        return TYPES[self.kernel.results[result].kind]

    def _identity(self, place: int) -> str:
        result = self.kernel.results[place]
        return number(result.kind, identity(result.reduction or "", result.kind))

    def _joined(self, place: int, x: str, y: str) -> str:
        result = self.kernel.results[place]
        return combine(self.functions, result.reduction or "", result.kind, x, y)

    def _body(self) -> list[str]:
        """The nodes that results need; those of a repeated body in a loop, the state in variables."""
        kernel, needed = self.kernel, needed_nodes(self.kernel)
        changing = self._changing()
        states = {state for state, _ in kernel.steps}
        lines = [
            line for place in sorted(needed)
            if place not in changing or isinstance(kernel.body[place], Load)
            for line in self._node(place, "" if place in states else "const ")
        ]  # fmt: skip
        if not kernel.steps:
            return lines
        turn = [
            line for place in sorted(needed)
            if place in changing and not isinstance(kernel.body[place], Load)
            for line in self._node(place, "const ")
        ]  # fmt: skip
        turn += [f"const {TYPES[kind_of(kernel, after)]} w{state} = v{after};" for state, after in kernel.steps]
        turn += [f"v{state} = w{state};" for state, _ in kernel.steps]
        return [*lines, f"for (i64 turn = 0; turn < s{kernel.trip}; turn++) {{", *_indented(turn), "}"]

    def _used(self) -> frozenset[int]:
        """The axes whose coordinate the body mentions."""
        kernel, found = self.kernel, set[int]()
        for place in needed_nodes(kernel):
            match kernel.body[place]:
                case Load(operand):
                    found.update(axis for axis, on in enumerate(kernel.operands[operand].moves) if on)
                case Coordinate(axis):
                    found.add(axis)
        return frozenset(found)

    def _cell(self, axes: int, index: str) -> list[str]:
        """The coordinates of a cell of the parallel axes."""
        lines = _coordinates(axes, "cell", self._used() - {axes})
        return [f"const i64 cell = {index};", *lines] if lines else []

    def _changing(self) -> frozenset[int]:
        found = {state for state, _ in self.kernel.steps}
        for place, node in enumerate(self.kernel.body):
            if isinstance(node, Apply) and found.intersection(node.args):
                found.add(place)
        return frozenset(found)

    def _node(self, place: int, qualifier: str) -> list[str]:
        node, name = self.kernel.body[place], f"v{place}"
        match node:
            case Load(operand):
                value = self._load(operand)
            case Literal():
                value = literal(node)
            case Argument(number_of):
                value = f"s{number_of}"
            case Coordinate(axis):
                value = f"a{axis}"
            case Apply():
                args = [f"v{arg}" for arg in node.args]
                if may_fail(node):
                    return checked(node, name, args[0])
                value = apply(self.functions, node, args)
        return [f"{qualifier}{TYPES[kind_of(self.kernel, place)]} {name} = {value};"]

    def _neighbours(self) -> list[str]:
        """The coordinates of what is read beside the point."""
        loaded = {n.operand for p, n in enumerate(self.kernel.body) if isinstance(n, Load) and p in needed_nodes(self.kernel)}
        wanted = {
            (axis, offset)
            for operand, own in enumerate(self.offsets)
            for axis, offset in enumerate(own)
            if offset and operand in loaded and self.kernel.operands[operand].moves[axis]
        }
        lines = []
        for axis, offset in sorted(wanted):
            name, moved = _beside(axis, offset), f"a{axis} {'+' if offset > 0 else '-'} {abs(offset)}"
            outside, back = (f"{moved} >= n{axis}", "-") if offset > 0 else (f"{moved} < 0", "+")
            lines.append(f"const i64 {name} = {outside} ? {moved} {back} n{axis} : {moved};")
        return lines

    def _load(self, operand: int) -> str:
        kernel, row = self.kernel, self.kernel.operands[operand]
        terms = [f"p{operand}"]
        for axis, on in enumerate(row.moves):
            offset = self.offsets[operand][axis] if self.offsets else 0
            place = _beside(axis, offset) if offset else f"a{axis}"
            if on and has_stride(kernel, operand, axis):
                terms.append(f"{place} * d{operand}_{axis}")
            elif on:
                terms.append(f"{place} * {row.kind.bytes if row.step is Step.UNIT else -row.kind.bytes}")
        item = f"*(const {STORED[row.kind]} *)({' + '.join(terms)})"
        return f"{item} != 0" if row.kind is Kind.BOOL else item


def _coordinates(axes: int, index: str, used: frozenset[int]) -> list[str]:
    """The used ones of a0, a1, … of a row-major index over the first axes."""
    lines, rest = [], index
    for axis in range(axes - 1, min(used, default=axes) - 1, -1):
        if axis in used:
            lines.append(f"const i64 a{axis} = {rest}{f' % n{axis}' if axis else ''};")
        if axis > min(used):
            lines.append(f"const i64 q{axis} = {rest} / n{axis};")
        rest = f"q{axis}"
    return lines


def _beside(axis: int, offset: int) -> str:
    return f"a{axis}{'p' if offset > 0 else 'm'}{abs(offset)}"


def _product(axes: range) -> str:
    return " * ".join(f"n{axis}" for axis in axes) or "1"


def _grid_stride(name: str, stop: str) -> str:
    return (
        f"for (i64 {name} = (i64)blockIdx.x * blockDim.x + threadIdx.x; {name} < {stop}; "
        f"{name} += (i64)gridDim.x * blockDim.x) {{"
    )


def _indented(lines: list[str]) -> list[str]:
    return [f"  {line}" for line in lines]
