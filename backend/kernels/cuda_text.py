"""A kernel as CUDA C++: the same scalar IR that is printed as a loop program, for a grid of threads.

MAP: a thread an element, grid-stride.  ALONG: a block of threads a block of the order of sums, a thread a lane, halved in
shared memory.  ACROSS: neighbouring threads have neighbouring cells, and lanes are visited in bit-reversed order, in which
halving is a binary tree of neighbours; `STRANDS` threads a cell share the lanes of a block where there are many.  Reductions
write one partial result a block; `finish`, in the same text, joins those of a cell in place, level by level.  So results have
the bits of every other tier, whatever the grid.

Note [Parameters].  `parameters` lists what a kernel takes, each of 64 bits; sizes are those of its loops, strides are in bytes,
and outputs (`cuda_parameters.outputs`) are contiguous: in the order of the parallel loops for MAP, and of partial results by
`work` (ALONG: cell × blocks + block, ACROSS: block × cells + cell).  `finish` takes the cells, the blocks, how far cells and
blocks of partial results lie apart, and for each output its partial results, then for each result its place.  A failed check
sets `failed` to 1; what failed is found out elsewhere.

Neighbours: `ir`, `cuda_reductions`, `cuda_scalars`, `cuda_math`; `backend.run.cuda` compiles and launches the text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Final, TypeAlias

from ...typechecker.elements import Kind
from .complexes import PART
from .cuda_math import TYPES
from .cuda_parameters import Output, Parameter, Role, has_stride, loaded, needed_nodes, outputs, parameters
from .cuda_reductions import THREADS, Reductions
from .cuda_scalars import FAIL, PROVED, STORED, Functions, apply, checked, literal, may_fail
from .cuda_states import states
from .cuda_words import PRELUDE, coordinates, grid_stride, indented, product
from .ir import FETCH, Apply, Argument, Coordinate, Form, Kernel, Literal, Load, Step, kind_of

NAME: Final = "kernel"
FINISH: Final = "finish"


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
    text = Text.of(kernel, offsets)
    return CudaText(text.source(), text.parameters)


@dataclass(slots=True)
class Text:
    """One kernel being written."""

    kernel: Kernel
    parameters: tuple[Parameter, ...]
    outputs: tuple[Output, ...]
    offsets: Offsets = ()
    functions: Functions = field(default_factory=Functions)
    needed: frozenset[int] = frozenset()

    @classmethod
    def of(cls, kernel: Kernel, offsets: Offsets = ()) -> Text:
        return cls(kernel, parameters(kernel), outputs(kernel), offsets, needed=needed_nodes(kernel))

    def source(self) -> str:
        if self.kernel.form is Form.MAP:
            return self.whole(NAME, self._map())
        reductions = Reductions(self.kernel, self.functions, states(self.kernel), self.outputs, self.used())
        write = reductions.along if self.kernel.form is Form.ALONG else reductions.across
        body = write(self._body())
        return self.whole(NAME, body, self._function(FINISH, *reductions.finish()))

    def whole(self, name: str, body: list[str], *others: str) -> str:
        """The module whose function takes the kernel's parameters."""
        own = self._function(name, [self._parameter(p) for p in self.parameters], body)
        return PRELUDE + "\n".join((*self.functions.texts.values(), own, *others)) + "\n"

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
                return f"{STORED[self.outputs[parameter.which].part]} *{name}"
            case Role.FAILED:
                return f"int *{name}"
            case Role.SIZE | Role.SCALAR | Role.STRIDE:
                return f"const i64 {name}"

    # ------------------------------------------------------------------------------------------- loops

    def _map(self) -> list[str]:
        kernel = self.kernel
        stores = []
        for i, result in enumerate(kernel.results):
            if result.imaginary < 0:
                stores.append(f"r{i}[i] = v{result.node};")
            else:
                stores += [f"r{i}[2 * i] = v{result.node};", f"r{i}[2 * i + 1] = v{result.imaginary};"]
        body = [*coordinates(kernel.axes, "i", self.used()), *self._neighbours(), *self._body(), *stores]
        return [grid_stride("i", product(range(kernel.axes))), *indented(body), "}"]

    # -------------------------------------------------------------------------------------------- body

    def _body(self) -> list[str]:
        """The nodes that results need; those of a repeated body in a loop, the state in variables."""
        kernel, needed = self.kernel, self.needed
        changing = self._changing()
        states = {state for state, _ in kernel.steps}
        lines = [
            line for place in sorted(needed)
            if place not in changing or isinstance(kernel.body[place], Load)
            for line in self.node(place, "" if place in states else "const ")
        ]  # fmt: skip
        if not kernel.steps:
            return lines
        turn = [
            line for place in sorted(needed)
            if place in changing and not isinstance(kernel.body[place], Load)
            for line in self.node(place, "const ")
        ]  # fmt: skip
        turn += [f"const {TYPES[kind_of(kernel, after)]} w{state} = v{after};" for state, after in kernel.steps]
        turn += [f"v{state} = w{state};" for state, _ in kernel.steps]
        return [*lines, f"for (i64 turn = 0; turn < s{kernel.trip}; turn++) {{", *indented(turn), "}"]

    def used(self) -> frozenset[int]:
        """The axes whose coordinate the body mentions."""
        kernel, found = self.kernel, set[int]()
        for place in self.needed:
            node = kernel.body[place]
            if isinstance(node, Coordinate):
                found.add(node.axis)
        for operand in loaded(kernel):
            found.update(axis for axis, on in enumerate(kernel.operands[operand].moves) if on)
        return frozenset(found)

    def _changing(self) -> frozenset[int]:
        found = {state for state, _ in self.kernel.steps}
        for place, node in enumerate(self.kernel.body):
            if isinstance(node, Apply) and found.intersection(node.args):
                found.add(place)
        return frozenset(found)

    def node(self, place: int, qualifier: str) -> list[str]:
        node, name = self.kernel.body[place], f"v{place}"
        match node:
            case Load(operand, part):
                value = self._load(operand, part)
            case Literal():
                value = literal(node)
            case Argument(number_of):
                value = f"s{number_of}"
            case Coordinate(axis):
                value = f"a{axis}"
            case Apply():
                args = [f"v{arg}" for arg in node.args]
                if node.function in (FETCH, PROVED):
                    return self._fetched(node, name, args)
                if may_fail(node):
                    return checked(node, name, args[0])
                value = apply(self.functions, node, args)
        return [f"{qualifier}{TYPES[kind_of(self.kernel, place)]} {name} = {value};"]

    def _neighbours(self) -> list[str]:
        """The coordinates of what is read beside the point."""
        needed = loaded(self.kernel)
        wanted = {
            (axis, offset)
            for operand, own in enumerate(self.offsets)
            for axis, offset in enumerate(own)
            if offset and operand in needed and self.kernel.operands[operand].moves[axis]
        }
        lines = []
        for axis, offset in sorted(wanted):
            name, moved = _beside(axis, offset), f"a{axis} {'+' if offset > 0 else '-'} {abs(offset)}"
            outside, back = (f"{moved} >= n{axis}", "-") if offset > 0 else (f"{moved} < 0", "+")
            lines.append(f"const i64 {name} = {outside} ? {moved} {back} n{axis} : {moved};")
        return lines

    def _fetched(self, node: Apply, name: str, args: list[str]) -> list[str]:
        """An index that is outside reads item 0 and fails."""
        index, count, stride = args
        outside = f"{name}o"
        fails = [] if node.function == PROVED else [f"if ({outside}) {FAIL};"]
        value = self._load(node.parameter, ahead=f"({outside} ? 0LL : {index}) * {stride}")
        return [f"const bool {outside} = (u64){index} >= (u64){count};", *fails, f"const {TYPES[node.kind]} {name} = {value};"]

    def _load(self, operand: int, part: int = -1, ahead: str = "") -> str:
        kernel, row = self.kernel, self.kernel.operands[operand]
        kind = PART.get(row.kind, row.kind)
        terms = [f"p{operand}"]
        for axis, on in enumerate(row.moves):
            offset = self.offsets[operand][axis] if self.offsets else 0
            place = _beside(axis, offset) if offset else f"a{axis}"
            if on and has_stride(kernel, operand, axis):
                terms.append(f"{place} * d{operand}_{axis}")
            elif on:
                terms.append(f"{place} * {row.kind.bytes if row.step is Step.UNIT else -row.kind.bytes}")
        if part > 0:
            terms.append(str(kind.bytes))
        if ahead:
            terms.append(ahead)
        item = f"*(const {STORED[kind]} *)({' + '.join(terms)})"
        return f"{item} != 0" if row.kind is Kind.BOOL else item


def _beside(axis: int, offset: int) -> str:
    return f"a{axis}{'p' if offset > 0 else 'm'}{abs(offset)}"
