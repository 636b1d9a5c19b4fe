"""Structured phases as loop nests.

The parallel axes are loops in order, the last of them over vectors.  A reduction that is exact in any order is a carried value;
a float sum has the order of `orders`, along the reduced axis or in cells side by side, whichever reads memory in order.

Neighbours: `values` (where operands lie), `kernels.build` (the body as kernels know it), `orders`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

from ....typechecker.elements import Kind
from ....typechecker.scalars import identity_of, neutral
from ....typechecker.sizes import Size
from ...graph.phases import PLACES, Affine, AxisKind, Projection, Read, ReadNode, Structured
from ...kernels.build import Body, bits_of, build_body
from ...kernels.ir import Accumulator, Apply, Argument, Coordinate, Literal, Load
from ..builder import at, power
from ..ir import ZERO, Index, LoopKind, plus
from ..orders import MOST_UNROLLED, Items, Sum, from_the_right, of_any_length, ordered, together, unrolled
from ..reducing import entry, joined, outcome
from .projections import indices_of
from .values import Check, Place, Registers, Scope, Unsupported, Where

_CELLS: Final = 64
"""Cells side by side that are summed together."""
_CHECKED = frozenset({"convert_checked", "floor", "ceil"})


def lower_structured(scope: Scope, phase: Structured) -> None:
    _note_turned(scope, phase)
    if phase.results[0].value in scope.aliases:
        _show(scope, phase)
        return
    body = build_body(phase, complexes=True, loops=True)
    if body is None:
        raise Unsupported("a function or kind that kernels do not have")
    _Nest(scope, phase, body).write()


def _show(scope: Scope, phase: Structured) -> None:
    """Items of a phase that only renames indices are read where they are used."""
    (read,), sizes = phase.reads, [axis.size for axis in phase.axes]

    def item(point: tuple[Index, ...], mask: str | None) -> Registers:
        indices, _ = indices_of(scope, read.projection, point, sizes)
        return scope.items(read.value, indices, mask)

    scope.lazy[phase.results[0].value] = item


def _note_turned(scope: Scope, phase: Structured) -> None:
    """Of a phase that only exchanges axes."""
    match phase:
        case Structured(reads=(Read(value, Projection((Affine(indices, _, False),))),), body=(ReadNode(),), results=(result,)):
            axes = [term.axis for index in indices for term in index.terms if term.coefficient == 1]
            plain = all(len(index.terms) == 1 and index.constant.constant == 0 for index in indices)
            rank = list(range(len(indices)))
            is_whole = sorted(axes) == rank and [phase.axes[axis].size for axis in axes] == list(scope.shape(value))
            if plain and is_whole and len(phase.axes) == len(rank) and result.reduction is None:
                scope.turned[result.value] = value, tuple(map(axes.index, rank))


@dataclass(frozen=True, slots=True)
class _Part:
    """A register that is made at each point, joined with `reduction`."""

    node: int
    kind: Kind
    reduction: str | None


class _Nest:
    """`parts` are those of all results, one after the other."""

    def __init__(self, scope: Scope, phase: Structured, body: Body) -> None:
        self.scope, self.b, self.phase, self.body = scope, scope.b, phase, body
        self.parallel = [axis.size for axis in phase.axes if axis.kind is AxisKind.PARALLEL]
        self.reduced = next((axis.size for axis in phase.axes if axis.kind is AxisKind.REDUCE), None)
        self.extents = [scope.index_of(axis.size) for axis in phase.axes]
        self.late = body.late
        self.parts = [_Part(n, body.kinds[n], r.reduction) for r in body.results for n in r.nodes]

    def write(self) -> None:
        if not self.parallel:
            totals = self.reduction([]) if self.reduced is not None else self.values([])
            for result, item in zip(self.phase.results, self.items(totals), strict=True):
                self.scope.keep(result.value, item)
            return
        self.targets = [self.scope.place_for(result.value) for result in self.phase.results]
        with ExitStack() as loops:
            point: list[Index] = []
            last = len(self.parallel) - 1
            for axis, extent in enumerate(self.extents[: last + 1]):
                if axis == last and self.reduced is not None:
                    self.last_of_reduction(loops, point, extent)
                    break
                kind = LoopKind.VECTOR if axis == last else LoopKind.SERIAL
                point.append(at(loops.enter_context(self.b.range(kind, extent)).index))
            else:
                self.give(point, self.values(point))
        for result, target in zip(self.phase.results, self.targets, strict=True):
            self.scope.values[result.value] = target

    def give(self, point: Sequence[Index], registers: Sequence[str]) -> None:
        for target, item in zip(self.targets, self.items(registers), strict=True):
            self.scope.write(target, point, item)

    def items(self, registers: Sequence[str]) -> list[Registers]:
        """The results' items of their parts."""
        supply = iter(registers)
        return [tuple(next(supply) for _ in self.scope.parts(result.value)) for result in self.phase.results]

    # --------------------------------------------------------------------------------------- reductions

    @property
    def is_ordered(self) -> bool:
        return self.body.is_ordered

    def last_of_reduction(self, loops: ExitStack, point: list[Index], extent: Index) -> None:
        """The last parallel axis and the reduced one."""
        size = self.reduced
        assert size is not None
        few = size.constant is not None and size.constant <= MOST_UNROLLED
        if few or self.body.is_from_the_right or not (self.is_ordered or self.is_along()):
            point.append(at(loops.enter_context(self.b.range(LoopKind.VECTOR, extent)).index))
            self.give(point, self.reduction(point, LoopKind.SERIAL))
        elif self.is_along() or not self.is_ordered:
            point.append(at(loops.enter_context(self.b.range(LoopKind.SERIAL, extent)).index))
            self.give(point, self.reduction(point))
        else:
            self.across(loops, point, extent)

    def is_along(self) -> bool:
        """Do operands lie along the reduced axis rather than along the last parallel one?"""
        reduced = len(self.parallel)
        votes = 0
        for read in self.phase.reads:
            stage = read.projection.stages[-1] if read.projection.stages else None
            if stage is None:
                votes += 1  # the identity: the reduced axis is the last
            elif isinstance(stage, Affine) and stage.indices:
                axes = {term.axis for term in stage.indices[-1].terms} if len(read.projection.stages) == 1 else set()
                votes += (reduced in axes) - (reduced - 1 in axes)
        return votes > 0 or not self.parallel

    def reduction(self, point: Sequence[Index], kind: LoopKind | None = None) -> list[str]:
        """Registers of the results at a point of the parallel axes."""
        size, extent = self.reduced, self.extents[-1]
        assert size is not None
        if self.body.is_from_the_right:
            return self.from_the_right(point)
        functions = [(part.reduction or "", part.kind) for part in self.parts]
        if self.is_ordered and not all(f in ("add", "mul") and k.is_float for f, k in functions):
            raise Unsupported("an ordered sum beside another reduction")
        if self.is_ordered:
            sums = [Sum(k, f) for f, k in functions]
            if size.constant is not None and size.constant <= MOST_UNROLLED:
                return unrolled(self.b, sums, size.constant, lambda place: self.values([*point, place]))
            most = self.scope.most(size)
            if most <= 0:
                return [self.b.constant(s.kind, s.of_nothing) for s in sums]

            def addends(place: Index, mask: str | None) -> list[str]:
                return self.values([*point, place], mask)

            if size.constant is not None:
                totals: list[str] = []
                ordered(self.b, sums, extent, lambda _: addends, lambda _, registers: totals.extend(registers), most=most)
                return totals
            with self.b.block() as there:
                totals = of_any_length(self.b, sums, extent, addends, most)
            nothing = [self.b.constant(s.kind, s.of_nothing) for s in sums]
            some = self.b.compare("lt", ZERO, extent)
            arms = [(s.kind, total, none) for s, total, none in zip(sums, totals, nothing, strict=True)]
            return list(self.b.choose(some, there, (), arms))
        if any(f in PLACES for f, _ in functions):
            return self.places(point)
        exact = all(not k.is_float for _, k in functions)
        joined = exact and kind is None
        carried = [(k, self.b.constant(k, bits_of(k, neutral(f, k))), f if joined else None) for f, k in functions]
        with self.b.range(kind or (LoopKind.VECTOR if exact else LoopKind.SERIAL), extent, carried) as loop:
            items = self.values([*point, at(loop.index)])
            loop.yields = tuple(
                self.b.apply(f, (inside, item), k, k) for (f, k), inside, item in zip(functions, loop.inside, items, strict=True)
            )
        return list(loop.results)

    def from_the_right(self, point: Sequence[Index]) -> list[str]:
        """Reductions one item after the other; of nothing they are the identity."""
        b, size, extent = self.b, self.reduced, self.extents[-1]
        assert size is not None
        some = None if size.constant else b.compare("lt", ZERO, extent)
        kinds = [part.kind for part in self.parts]
        nothing = [n for r in self.body.results for n in (identity_of(r.reduction or "", r.kind) or 0, 0)[: len(r.nodes)]]

        def first(place: Index) -> list[str]:
            items = self.values([*point, place], some)
            if some is None:
                return items
            rows = zip(kinds, items, nothing, strict=True)
            return [b.apply("select", (some, item, b.constant(k, bits_of(k, value))), k, k) for k, item, value in rows]

        def following(place: Index, states: Sequence[str]) -> list[str]:
            return self.values([*point, place], states=states)

        return from_the_right(b, kinds, extent, first, following)

    def places(self, point: Sequence[Index]) -> list[str]:
        """Extremes and where the first of each is."""
        b, size = self.b, self.reduced
        assert size is not None
        if not size.constant:
            raise Unsupported("the place of an extreme where there may be no item")
        rows = [(part.reduction or "", part.kind) for part in self.parts]
        with b.range(LoopKind.SERIAL, self.extents[-1], [own for row in rows for own in entry(b, *row)]) as loop:
            items, state = self.values([*point, at(loop.index)]), list(loop.inside)
            pairs = zip(rows, items, strict=True)
            loop.yields = tuple(own for row, item in pairs for own in joined(b, *row, item, loop.index, state))
        last = list(loop.results)
        return [outcome(b, *row, last) for row in rows]

    def across(self, loops: ExitStack, point: list[Index], extent: Index) -> None:
        """Float sums of cells side by side, so many at once."""
        size = self.reduced
        assert size is not None
        sums = [Sum(part.kind, part.reduction or "") for part in self.parts]
        if any(s.function not in ("add", "mul") or not s.kind.is_float for s in sums):
            raise Unsupported("an ordered sum beside another reduction")
        start, cells = loops.enter_context(together(self.b, extent, _CELLS))
        most = self.scope.most(size)

        def items(cell: Index) -> Items:
            return lambda place, mask: self.values([*point, plus(start, cell), place], mask)

        def give(cell: Index, registers: Sequence[str]) -> None:
            self.give([*point, plus(start, cell)], registers)

        def nothing() -> None:
            with self.b.range(LoopKind.VECTOR, cells.count) as cell:
                give(at(cell.index), [self.b.constant(s.kind, s.of_nothing) for s in sums])

        if most <= 0:
            nothing()
            return
        with self.b.block() as there:
            ordered(self.b, sums, self.extents[-1], items, give, cells, most)
        if size.constant is not None:
            self.b.statements += there
            return
        with self.b.block() as none:
            nothing()
        self.b.choose(self.b.compare("lt", ZERO, self.extents[-1]), there, none)

    # -------------------------------------------------------------------------------------------- body

    def values(self, point: Sequence[Index], mask: str | None = None, states: Sequence[str] = ()) -> list[str]:
        """Registers of the results' nodes at a point of all axes, which is there if a mask is true; with the states of reductions
        from the right, of what follows these."""
        loaded: dict[int, Registers] = {}
        registers: list[str] = []
        known = dict(zip((state for r in self.body.results for state in r.states), states, strict=bool(states)))
        for place, node in enumerate(self.body.nodes):
            if place in self.late and not states:
                registers.append("")
                continue
            match node:
                case Accumulator():
                    registers.append(known[place])
                case Load(operand, part):
                    if operand not in loaded:
                        loaded[operand] = self.read(self.phase.reads[operand], point, mask)
                    registers.append(loaded[operand][part])
                case Literal(kind, bits):
                    registers.append(self.b.constant(kind, bits))
                case Argument(place):
                    registers.append(self.b.number(self.scope.index_of(self.body.sizes[place])))
                case Coordinate(axis):
                    registers.append(self.b.number(point[axis]))
                case Apply(function, args, compute, kind, parameter):
                    check = -1
                    if function in _CHECKED:
                        check = self.scope.check(Check(self.phase.span, function, compute, kind, parameter))
                    args_here = self.b.where(mask if check >= 0 else None, [registers[a] for a in args], compute)
                    if function == "ipow":
                        registers.append(power(self.b, args_here[0], args_here[1], kind))
                        continue
                    registers.append(self.b.apply(function, args_here, compute, kind, parameter, check))
        if states:
            return [registers[node] for result in self.body.results for node in result.following]
        return [registers[part.node] for part in self.parts]

    def read(self, read: Read, point: Sequence[Index], present: str | None) -> Registers:
        sizes = [axis.size for axis in self.phase.axes]
        indices, mask = indices_of(self.scope, read.projection, point, sizes)
        return self.scope.items(read.value, indices, self.b.both(present, mask))


def copy(scope: Scope, shape: Sequence[Size], source: Where, target: Place) -> None:
    """Every item of one place to another."""
    if source == target:
        return
    b = scope.b
    with ExitStack() as loops:
        point: list[Index] = []
        for axis, size in enumerate(shape):
            loop_kind = LoopKind.VECTOR if axis == len(shape) - 1 else LoopKind.SERIAL
            point.append(at(loops.enter_context(b.range(loop_kind, scope.index_of(size))).index))
        scope.write(target, point, scope.read(source, point))
