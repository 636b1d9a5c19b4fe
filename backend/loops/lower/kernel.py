"""Kernels as loop programs: nests over the argument block of `kernels.ir`.

Parameters are the sizes of the axes, their first coordinates and the scalars.  Views are the operands and the results, with the
axes of the nest and, behind these, one of items that lie side by side: those of the vector axis where its stride is one item, the
parts of a complex number, and what an index picks from.  The number of a check is that of its node.

Neighbours: `nests` (the loops), `rows` (chains, kernel by kernel), `kernels.build` (makes kernels), `llvm` (prints this),
`run.cpu.compiled` (binds it).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....typechecker.elements import Kind
from ...kernels.ir import (
    FETCH,
    PROVED,
    Accumulator,
    Apply,
    Argument,
    Coordinate,
    Form,
    Kernel,
    Literal,
    Load,
    Node,
    Operand,
    Step,
    Stores,
    kind_of,
)
from ...kernels.llvm_leaf import vector_bytes
from ..builder import Builder, at
from ..ir import ONE, ZERO, Index, Program, Role, View, plus, times
from ..llvm import llvm_text
from ..orders import MOST
from .nests import Extent, Nest
from .values import parts_of


@dataclass(frozen=True, slots=True)
class KernelCode:
    """The code of a kernel."""

    kernel: Kernel

    def text(self) -> str:
        return llvm_text(program_of(self.kernel), vector_bytes())


def program_of(kernel: Kernel) -> Program:
    """A program whose block of words is the kernel's argument block."""
    return Lowering(kernel).program()


class Lowering(Nest):
    """The loops of a kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.sizes = [f"n{axis}" for axis in range(kernel.axes)]
        self.origins = [f"o{axis}" for axis in range(kernel.axes)]
        self.scalars = [f"s{place}" for place in range(kernel.scalars)]
        kinds = [kind_of(kernel, place) for place in range(len(kernel.body))]
        extents, last = list(map(at, self.sizes)), Extent(kernel.length, kernel.length or MOST)
        if kernel.length:
            extents[-1] = Index((), kernel.length)
        super().__init__(Builder(), kernel.form, kernel.body, kinds, kernel.results, extents, last)
        self.views: list[View] = []
        self.operands = [self.operand(f"x{i}", row) for i, row in enumerate(kernel.operands)]
        self.results = [self.result(i, result.kind) for i, result in enumerate(kernel.results)]

    def program(self) -> Program:
        self.write()
        return Program("kernel", self.parameters, (*self.views, *self.b.views.values()), (*self.b.preamble, *self.b.statements))

    @property
    def parameters(self) -> tuple[str, ...]:
        return (*self.sizes, *self.origins, *self.scalars)

    # ------------------------------------------------------------------------------------------- views

    def operand(self, name: str, row: Operand) -> str:
        parts, extents = parts_of(row.kind), [at(n) if on else ONE for n, on in zip(self.sizes, row.moves, strict=True)]
        together = self.together(row)
        last = Index((), len(parts))
        for axis in together:
            last, extents[axis] = times(at(self.sizes[axis]), len(parts)), ONE
        if len(together) > 1:
            last = times(at(self.sizes[together[0]]), len(parts) * self.kernel.length)
        is_streamed = self.kernel.form is Form.ALONG and not self.kernel.length
        self.views.append(View(name, parts[0], (*extents, last), Role.INPUT, streamed=is_streamed))
        return name

    def result(self, place: int, kind: Kind) -> str:
        name = f"y{place}"
        parts, extents = parts_of(kind), [at(n) for n in self.sizes[: self.kernel.result_axes]]
        if self.form is Form.FEW:
            extents[-2:] = ONE, ONE, times(extents[-2], len(parts) * self.kernel.length)
        elif extents:
            extents[-1:] = ONE, times(extents[-1], len(parts))
        elif len(parts) > 1:
            extents.append(Index((), len(parts)))
        is_streamed = self.kernel.stores is Stores.STREAMED
        self.views.append(View(name, parts[0], tuple(extents), Role.OUTPUT, streamed=is_streamed))
        return name

    def together(self, row: Operand) -> tuple[int, ...]:
        """The axes along which the items of an operand lie side by side, or backwards."""
        vector = self.vector_axis
        if self.form is not Form.FEW:
            return (vector,) if row.step in (Step.UNIT, Step.REVERSED) else ()
        if row.moves[vector] and row.moves[vector + 1]:
            return vector, vector + 1
        return (vector + 1,) if row.step in (Step.UNIT, Step.REVERSED) else ()

    def item(self, number: int, point: Sequence[Index], part: int = 0, ahead: Index = ZERO) -> tuple[Index, ...]:
        """The indices of an operand's item, so many items on."""
        row = self.kernel.operands[number]
        own = [index if on else ZERO for index, on in zip(point, row.moves, strict=False)]
        own += [ZERO] * (self.kernel.axes - len(own))
        last, step = plus(Index((), part), ahead), len(parts_of(row.kind))
        for axis in reversed(self.together(row)):
            last = plus(last, times(own[axis], -step if row.step is Step.REVERSED else step))
            own[axis], step = ZERO, step * self.kernel.length
        return *own, last

    def target(self, place: int, point: Sequence[Index], part: int = 0) -> tuple[Index, ...]:
        """The indices of a result's item; its last axis lies side by side."""
        parts = len(parts_of(self.kernel.results[place].kind))
        if not point:
            return (Index((), part),) if parts > 1 else ()
        *own, last = point
        if self.form is Form.FEW:
            last, own[-1] = plus(last, times(own[-1], self.kernel.length)), ZERO
        return *own, ZERO, plus(times(last, parts), Index((), part))

    # ------------------------------------------------------------------------------------------- items

    def depends(self, node: Node) -> frozenset[int]:
        match node:
            case Load(operand):
                return self.moving(operand)
            case Coordinate(axis):
                return frozenset({axis})
            case Apply(args=args):
                moving = self.moving(node.parameter) if node.function in (FETCH, PROVED) else frozenset[int]()
                return moving.union(*(self.axes[arg] for arg in args))
            case Accumulator():
                return frozenset({self.kernel.axes - 1})
            case Literal() | Argument():
                return frozenset()

    def moving(self, operand: int) -> frozenset[int]:
        """The axes on which an operand's address changes."""
        return frozenset(axis for axis, on in enumerate(self.kernel.operands[operand].moves) if on)

    def load(self, node: Load, point: Sequence[Index], mask: str | None) -> str:
        return self.b.load(self.operands[node.operand], self.item(node.operand, point, max(node.part, 0)), mask)

    def argument(self, place: int) -> str:
        return self.scalars[place]

    def coordinate(self, axis: int, point: Sequence[Index]) -> Index:
        return plus(point[axis], at(self.origins[axis]))

    def fetch(self, place: int, node: Apply, registers: Sequence[str], point: Sequence[Index]) -> str:
        """An item by an index, which is checked unless it is known to be inside."""
        b, (index, count, stride), operand = self.b, registers, node.parameter
        if node.function == FETCH:
            b.fail(place, b.apply("outside", (index, count), Kind.I64, Kind.BOOL), (index,))
        shift = b.constant(Kind.I64, self.kernel.operands[operand].kind.bytes.bit_length() - 1)
        items = b.apply("shr", (shift, stride), Kind.I64, Kind.I64)
        ahead = b.apply("mul", (index, items), Kind.I64, Kind.I64)
        return b.load(self.operands[operand], self.item(operand, point, ahead=at(ahead)))

    def give(self, point: Sequence[Index], registers: Sequence[str]) -> None:
        supply = iter(registers)
        for place, result in enumerate(self.kernel.results):
            for part in range(len(result.nodes)):
                self.b.store(self.results[place], self.target(place, point, part), next(supply))
