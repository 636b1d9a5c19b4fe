"""Time of a structured phase: on a measured device what `points` says of the form it will have; on a declared one by tables of
whole phases.  Copies that a read needs before anything runs count on both.

Note [One application].  A phase that is one application of full operands, or one reduction of an operand, is what declared tables
are about: its time is looked up.  Any other takes its slowest application on all bytes touched, and of every other one what it
takes more than an addition.  An application that does not vary on all axes is computed once for those it varies on.
Applications without a table are counted, and take no less than the roofline's operations a second.

Neighbours: `forms`, `points` (measured devices), `rates`, `keys` (tables), `library` (other phases), `cost` (everything else).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Final

from ...typechecker.elements import Kind
from ..graph.phases import (
    Affine,
    ApplyNode,
    AxisKind,
    Read,
    ReadNode,
    Reshaped,
    Structured,
    ValueId,
)
from .forms import Applied, Number, Types, calls, strides, varies, work_of
from .keys import reduce_stems, scalar_stems
from .points import ALONE, work_grains
from .rates import Rates
from .spans import largest, smallest
from .tables import Grains, Table

LONG_ROW: Final = 1024
SHORT_ROW: Final = 8


@dataclass(frozen=True, slots=True)
class _Space:
    """The iteration space in numbers, with the axes that each read varies on."""

    extents: tuple[int, ...]
    reduce: int | None
    reads: tuple[frozenset[int], ...]

    @property
    def points(self) -> int:
        return prod(self.extents)

    def along(self, axes: frozenset[int]) -> int:
        return prod(self.extents[axis] for axis in axes)


def structured_grains(phase: Structured, types: Types, rates: Rates, number: Number, cut: tuple[int, int] | None) -> Grains:
    """`cut`: (axis of the space, its rows)."""
    space = _space(phase, number, cut)
    if space.points == 0:
        return Grains(0)
    if space.reduce is None and all(isinstance(phase.body[r.node], ReadNode) for r in phase.results):
        return _padding(phase, types, rates, number, space)  # a view
    if rates.measured:
        work = work_of(phase, types, space.extents, number, kernels=rates.kernels)
        around = ALONE if cut is not None else rates.around.get(phase.id, ALONE)
        return Grains(work_grains(work, rates, around) + _padding(phase, types, rates, number, space))
    found = _one_application(phase, types, rates, space, number)
    if found is not None:
        return found
    return Grains(_declared(phase, types, rates, number, space) + _padding(phase, types, rates, number, space))


# ------------------------------------------------------------------------------------------- the space


def _space(phase: Structured, number: Number, cut: tuple[int, int] | None) -> _Space:
    extents = [number(axis.size) for axis in phase.axes]
    if cut is not None:
        extents[cut[0]] = cut[1]
    reduce = next((a for a, axis in enumerate(phase.axes) if axis.kind is AxisKind.REDUCE), None)
    return _Space(tuple(extents), reduce, tuple(varies(read, extents) for read in phase.reads))


def _fills(read: Read) -> bool:
    return any(isinstance(stage, Affine) and stage.fills for stage in read.projection.stages)


def _copied(read: Read, number: Number) -> int:
    """Elements that are copied because a view of them cannot be reshaped."""
    found = 0
    for place, stage in enumerate(read.projection.stages):
        if isinstance(stage, Reshaped) and any(isinstance(later, Affine) for later in read.projection.stages[place + 1 :]):
            found += prod(map(number, stage.target))
    return found


def _inner(phase: Structured, types: Types, space: _Space, number: Number) -> tuple[int | None, tuple[tuple[int, ...], ...]]:
    """The axis along which the largest operand lies side by side, and the strides of all reads."""
    steps = [strides(r, space.extents, tuple(map(number, types[r.value].shape))) for r in phase.reads]
    apart = tuple(tuple(map(abs, step)) for step in steps)
    best, most = None, 0
    for on, step in zip(space.reads, apart, strict=True):
        if on and space.along(on) > most:
            most, best = space.along(on), min(on, key=lambda axis: step[axis])
    return best, apart


def _bytes(read: Read, on: frozenset[int], types: Types, space: _Space, number: Number) -> int:
    """Bytes of the operand that the space reads, once each."""
    type = types[read.value]
    whole = prod(map(number, type.shape))
    return Grains(smallest(whole, space.along(on))) * type.element.kind.bytes


# ------------------------------------------------------------------------------------ whole phases


def _one_application(phase: Structured, types: Types, rates: Rates, space: _Space, number: Number) -> Grains | None:
    """See Note [One application]; None if the phase is something else."""
    if len(phase.results) != 1 or any(len(on) != sum(n != 1 for n in space.extents) for on in space.reads):
        return None
    if len({read.value for read in phase.reads}) != len(phase.reads):
        return None
    inner, apart = _inner(phase, types, space, number)
    if any(len(r.projection.stages) > 1 or _fills(r) for r in phase.reads):
        return None
    if inner is not None and any(step[inner] > 1 for step in apart):
        return None
    applied = [node for node in phase.body if isinstance(node, ApplyNode)]
    result = phase.results[0]
    if space.reduce is not None:
        if len(phase.reads) == 1 and isinstance(source := phase.body[result.node], ReadNode):
            return _reduction(result.reduction, source.kind, rates, space, inner)
        if len(applied) == 1 and (counted := _counted(phase, applied[0], result.node)) is not None:
            return _reduction(result.reduction, counted, rates, space, inner)
        return None
    if len(applied) != 1 or not phase.reads or not all(isinstance(phase.body[a], ReadNode) for a in applied[0].args):
        return None
    (one,) = calls(phase, space.reads, space.extents)
    return rates.grains(*_table_of(applied[0], one), space.points * one.each)


def _counted(phase: Structured, node: ApplyNode, reduced: int) -> Kind | None:
    """The kind of a read that is only widened before it is added up."""
    source = phase.body[node.args[0]] if node.args else None
    if node.function == "convert" and phase.body[reduced] is node and isinstance(source, ReadNode):
        return source.kind if source.kind is Kind.BOOL else None
    return None


def _table_of(node: ApplyNode, one: Applied) -> tuple[tuple[str, ...], Kind]:
    """The names of an application's table, and its kind."""
    kind = node.kind if node.function.startswith("convert") else one.compute
    return scalar_stems(node.function, one.compute, node.parameter), kind


def _reduction(function: str | None, kind: Kind, rates: Rates, space: _Space, inner: int | None) -> Grains:
    """Of all points, each `kind.bytes` wide.  Short rows, and few cells side by side, cost by the cell (or row) as well."""
    assert function is not None and space.reduce is not None
    size = space.points * kind.bytes
    cells = prod(n for axis, n in enumerate(space.extents) if axis != space.reduce)
    length = space.extents[space.reduce]
    side = inner is None or inner == space.reduce
    if cells == 1:
        return _reduced(function, kind, rates, "full", size)
    long, short = ("row", "short") if side else ("col", "narrow")
    run = length if side else (space.extents[inner] if inner is not None else 1)
    most, least = _reduced(function, kind, rates, long, size), _reduced(function, kind, rates, short, size)
    if run >= LONG_ROW:
        return most
    more = largest(0, least - most) * SHORT_ROW * (LONG_ROW - run)
    return Grains(most + -(-more // (largest(run, 1) * (LONG_ROW - SHORT_ROW))))


def _reduced(function: str, kind: Kind, rates: Rates, layout: str, size: int) -> Grains:
    return rates.grains((*reduce_stems(function, layout), "copy", "add"), kind, size)


# ------------------------------------------------------------------------------------ fused phases


def _widens(phase: Structured, place: int) -> bool:
    """Truth values are counted as they are: no conversion is made for a sum of them."""
    node = phase.body[place]
    if not isinstance(node, ApplyNode) or node.function != "convert":
        return False
    source = phase.body[node.args[0]]
    counted = isinstance(source, ReadNode | ApplyNode) and source.kind is Kind.BOOL
    return counted and any(r.node == place and r.reduction == "add" for r in phase.results)


def _padding(phase: Structured, types: Types, rates: Rates, number: Number, space: _Space) -> Grains:
    """Reads that may leave their operand."""
    total = 0
    for read, on in zip(phase.reads, space.reads, strict=True):
        copied = _copied(read, number)
        if copied:
            kind = types[read.value].element.kind
            total += rates.grains(("pad", "copy", "write", "add"), kind, copied * kind.bytes)
        if _fills(read):
            kind = types[read.value].element.kind
            total += rates.grains(("pad", "copy", "write", "add"), kind, space.along(on) * kind.bytes)
    return Grains(total)


def _declared(phase: Structured, types: Types, rates: Rates, number: Number, space: _Space) -> int:
    """See Note [One application]."""
    touched: dict[ValueId, int] = {}
    for read, on in zip(phase.reads, space.reads, strict=True):
        touched[read.value] = largest(touched.get(read.value, 0), _bytes(read, on, types, space, number))
    cells = prod(n for axis, n in enumerate(space.extents) if axis != space.reduce)
    written = sum(cells * types[r.value].element.kind.bytes for r in phase.results)
    size = sum(touched.values()) + written
    kinds = [types[r.value].element.kind for r in phase.results]
    times = [rates.grains(("copy", "add"), kinds[0], size)]
    extra = unknown = 0
    nodes = [(place, node) for place, node in enumerate(phase.body) if isinstance(node, ApplyNode)]
    for (place, node), one in zip(nodes, calls(phase, space.reads, space.extents), strict=True):
        if _widens(phase, place):
            continue
        (stems, kind), own = _table_of(node, one), one.points * one.each
        times.append(rates.grains(stems, kind, smallest(size, own)))
        if rates.table(stems, kind) is None:
            unknown += one.points
        extra += largest(0, rates.grains(stems, kind, own) - rates.grains(("add",), kind, own))
    if unknown and rates.device.roofline is not None:
        times.append(Table.of_rate(rates.device.roofline.flops).at(unknown))
    inner, _ = _inner(phase, types, space, number)
    for result, kind in zip(phase.results, kinds, strict=True):
        if result.reduction is not None:
            times.append(_reduction(result.reduction, kind, rates, space, inner))
    return Grains(largest(*times, extra + times[0]))
