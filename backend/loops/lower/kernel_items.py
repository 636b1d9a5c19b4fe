"""Kernels' operands and results as views of loop programs, and the nodes of their bodies as registers.

Parameters are the sizes of the axes, their first coordinates and the scalars.  Views are the operands and the results, with the
axes of the nest and, behind these, one of items that lie side by side: those of the vector axis where its stride is one item, the
parts of a complex number, and what an index picks from.

Neighbours: `kernel` (the loops, and its Notes), `rows` (chains, kernel by kernel), `kernels.ir` (what a kernel is).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ....typechecker.elements import Kind
from ....typechecker.scalars import may_fail
from ...kernels.build import late_nodes
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
)
from ..builder import Builder, at, power
from ..ir import ONE, ZERO, Index, Role, View, plus, times
from .values import parts_of


class KernelItems:
    """`known`: the registers of nodes."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel, self.b = kernel, Builder()
        self.sizes = [f"n{axis}" for axis in range(kernel.axes)]
        self.origins = [f"o{axis}" for axis in range(kernel.axes)]
        self.scalars = [f"s{place}" for place in range(kernel.scalars)]
        self.views: list[View] = []
        self.operands = [self.operand(f"x{i}", row) for i, row in enumerate(kernel.operands)]
        self.results = [self.result(i, result.kind) for i, result in enumerate(kernel.results)]
        self.axes: list[frozenset[int]] = []
        for node in kernel.body:
            self.axes.append(self.depends(node))
        self.needed = self.wanted()
        self.late = late_nodes(kernel.body)
        """The nodes that depend on the state of a reduction from the right."""
        self.known: dict[int, str] = {}
        self.mask: str | None = None
        """The items of the vector axis that are there, where not all are."""

    @property
    def has_few_columns(self) -> bool:
        """See Note [Few columns]."""
        return self.kernel.form is Form.MAP and self.kernel.length > 0

    # ------------------------------------------------------------------------------------------- views

    def operand(self, name: str, row: Operand) -> str:
        parts, extents = parts_of(row.kind), [at(n) if on else ONE for n, on in zip(self.sizes, row.moves, strict=True)]
        together = self.together(row)
        last = Index((), len(parts))
        for axis in together:
            last, extents[axis] = times(at(self.sizes[axis]), len(parts)), ONE
        if len(together) > 1:
            last = times(at(self.sizes[together[0]]), self.kernel.length)
        is_streamed = self.kernel.form is Form.ALONG and not self.kernel.length
        self.views.append(View(name, parts[0], (*extents, last), Role.INPUT, streamed=is_streamed))
        return name

    def result(self, place: int, kind: Kind) -> str:
        name = f"y{place}"
        parts, extents = parts_of(kind), [at(n) for n in self.sizes[: self.kernel.result_axes]]
        if extents:
            extents.append(times(extents[-1], len(parts)))
            extents[-2] = ONE
        elif len(parts) > 1:
            extents.append(Index((), len(parts)))
        if self.has_few_columns:
            extents[-1], extents[-3] = times(extents[-3], self.kernel.length), ONE
        is_streamed = self.kernel.stores is Stores.STREAMED
        self.views.append(View(name, parts[0], tuple(extents), Role.OUTPUT, streamed=is_streamed))
        return name

    def together(self, row: Operand) -> tuple[int, ...]:
        """The axes along which the items of an operand lie side by side, or backwards."""
        vector = self.kernel.vector_axis
        if self.has_few_columns and row.moves[vector] and row.moves[vector - 1]:
            return vector - 1, vector
        return (vector,) if row.step in (Step.UNIT, Step.REVERSED) else ()

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
        last = plus(times(last, parts), Index((), part))
        if self.has_few_columns:
            last, own[-1] = plus(last, times(own[-1], self.kernel.length)), ZERO
        return *own, ZERO, last

    # ------------------------------------------------------------------------------------------- nodes

    def depends(self, node: Node) -> frozenset[int]:
        """The axes on which a node depends, once those of earlier ones are known."""
        kernel = self.kernel
        match node:
            case Load(operand):
                return frozenset(axis for axis, on in enumerate(kernel.operands[operand].moves) if on)
            case Coordinate(axis):
                return frozenset({axis})
            case Apply(args=args):
                moves = kernel.operands[node.parameter].moves if node.function in (FETCH, PROVED) else ()
                return frozenset(axis for axis, on in enumerate(moves) if on).union(*(self.axes[arg] for arg in args))
            case Accumulator():
                return frozenset({kernel.axes - 1})
            case Literal() | Argument():
                return frozenset()

    def wanted(self) -> set[int]:
        kernel = self.kernel
        wanted = {node for result in kernel.results for node in result.roots}
        for place in range(len(kernel.body) - 1, -1, -1):
            node = kernel.body[place]
            if place in wanted and isinstance(node, Apply):
                wanted.update(node.args)
        return wanted

    def at_depth(self, depth: int) -> list[int]:
        """The nodes that are known inside so many loops and not before."""
        return [place for place in sorted(self.needed) if max(self.axes[place], default=-1) + 1 == depth]

    def compute(self, places: Iterable[int], point: Sequence[Index], known: dict[int, str]) -> None:
        for place in places:
            known[place] = self.node(place, point, known)

    def node(self, place: int, point: Sequence[Index], known: dict[int, str]) -> str:
        b, node = self.b, self.kernel.body[place]
        match node:
            case Load(operand, part):
                mask = self.mask if self.kernel.operands[operand].moves[self.kernel.vector_axis] else None
                return b.load(self.operands[operand], self.item(operand, point, max(part, 0)), mask)
            case Literal(kind, bits):
                return b.constant(kind, bits)
            case Argument(number):
                return self.scalars[number]
            case Accumulator():
                return known[place]
            case Coordinate(axis):
                return b.number(plus(point[axis], at(self.origins[axis])))
            case Apply(function, args, compute, kind, parameter):
                registers = [known[arg] for arg in args]
                if function in (FETCH, PROVED):
                    return self.fetch(place, node, registers, point)
                if function == "ipow":
                    return power(b, registers[0], registers[1], kind)
                if not may_fail(function, kind):
                    return b.apply(function, registers, compute, kind, parameter)
                return b.apply(function, b.where(self.mask, registers, compute), compute, kind, parameter, place)

    def fetch(self, place: int, node: Apply, registers: Sequence[str], point: Sequence[Index]) -> str:
        """An item by an index, which is checked unless it is known to be inside."""
        b, (index, count, stride), operand = self.b, registers, node.parameter
        if node.function == FETCH:
            b.fail(place, b.apply("outside", (index, count), Kind.I64, Kind.BOOL), (index,))
        shift = b.constant(Kind.I64, self.kernel.operands[operand].kind.bytes.bit_length() - 1)
        items = b.apply("shr", (shift, stride), Kind.I64, Kind.I64)
        ahead = b.apply("mul", (index, items), Kind.I64, Kind.I64)
        return b.load(self.operands[operand], self.item(operand, point, ahead=at(ahead)))
