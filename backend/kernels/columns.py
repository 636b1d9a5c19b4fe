"""Reductions that are exact in any order, down the columns of a nest: a vector of cells at a time, its state in registers.

What does not vary on the reduce axis is loaded and computed once a vector; what varies on it alone is one item for all lanes.
So an outer product that is reduced (the nearest of some centres) keeps its long axis in the vectors, and neither the product
nor what it is made of is ever stored.  The last vector is taken back from the end of the row: kernels of this form have a
vector of cells at least.

`least_place` and `greatest_place` keep the best item so far and its place.  They start from what loses against every item: NaN,
or the extreme number, at place 0.

Neighbours: `sums` (reductions in the order of sums), `nest` (which loops), `build` (chooses this form).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from ...typechecker.elements import Kind
from ...typechecker.scalars import is_ordered, neutral
from ..graph.phases import PLACES
from .build import used_nodes
from .emission import Emission
from .ir import Apply, Coordinate, Form, Kernel, Load, Result, kind_of
from .nest import Nest
from .scalar_text import combine
from .sums import column_address
from .vectors import COMPUTED, Cursor

_CELLS: Final = 16
_ROWS: Final = 32


def is_free(results: tuple[Result, ...]) -> bool:
    """Are all these reductions exact in any order?"""
    return all(r.reduction is not None and not is_ordered(r.reduction, r.kind) for r in results)


def column_nest(nest: Nest, *, finds_places: bool) -> Nest:
    """The nest with its last parallel loop in the vectors, if that is better, or the only way there is.

    Where an operand varies on both inner loops and the reduced one is long, memory decides."""
    if nest.form is Form.MAP or len(nest.sizes) < 2:
        return nest
    both = any(strides[-1] and strides[-2] for strides in nest.strides)
    if finds_places or (nest.sizes[-2] >= _CELLS and (not both or (nest.form is Form.ACROSS and nest.sizes[-1] < _ROWS))):
        return replace(nest, form=Form.COLUMNS)
    return nest


def in_columns(kernel: Kernel, nest: Nest, registers: int) -> Kernel:
    """The kernel down columns, with two registers a value where so many fit."""
    cells = nest.sizes[-2]
    widest = max(kind_of(kernel, place).bytes for place in used_nodes(kernel.body, [r.node for r in kernel.results]))
    lanes = registers // widest
    made = replace(kernel, form=Form.COLUMNS, lanes=lanes)
    if 2 * _alive(made) <= (30 if registers == 64 else 14):
        lanes *= 2
    while lanes > cells:
        lanes //= 2
    return replace(made, lanes=max(1, lanes))


def _alive(kernel: Kernel) -> int:
    """Values that live across the reduce loop, and most of those inside, roughly."""
    reduced = kernel.axes - 1
    inside: set[int] = set()
    held: set[int] = set()
    last: dict[int, int] = {}
    for place, node in enumerate(kernel.body):
        if isinstance(node, Apply):
            last.update(dict.fromkeys(node.args, place))
            if inside.intersection(node.args):
                inside.add(place)
                held.update(arg for arg in node.args if arg not in inside)
        elif _moves_on(kernel, place, reduced):
            inside.add(place)
    alive = most = 0
    for place in sorted(inside):
        alive += 1
        most = max(most, alive)
        alive -= sum(1 for other in inside if last.get(other) == place)
    state = sum(2 if r.reduction in PLACES else 1 for r in kernel.results)
    return len(held) + most + state


def _moves_on(kernel: Kernel, place: int, axis: int) -> bool:
    match kernel.body[place]:
        case Load(operand):
            return kernel.operands[operand].moves[axis]
        case Coordinate(own):
            return own == axis
        case _:
            return False


@dataclass(slots=True)
class _State:
    """What a result carries from row to row: the type and first value of each part."""

    types: tuple[str, ...]
    firsts: tuple[str, ...]


def write_columns(e: Emission) -> None:
    """Outer loops, vectors of cells, then the rows of each."""
    w, kernel, lanes = e.w, e.kernel, e.kernel.lanes
    cells, size = e.sizes[-2], e.sizes[-1]
    loops = e.open_outer(kernel.axes - 2)
    last = w.word("sub", cells, lanes)
    vectors = w.begin(0, cells, lanes)
    cell = w.smaller(vectors.index, last)
    bases = {i: column_address(e, i, cell) for i in e.varying}
    moving = [i for i in e.varying if kernel.operands[i].moves[kernel.axes - 1]]
    still = {i: Cursor(base, e.offsets[i]) for i, base in bases.items() if i not in moving}
    coordinates = {kernel.axes - 2: w.word("add", e.origins[-2], cell)}
    fixed = e.evaluate_at(kernel.axes - 1, e.known, still, coordinates)
    e.flush_checks(None)
    states = [_first(e, place) for place in range(len(kernel.results))]
    carried = [(t, f) for state in states for t, f in zip(state.types, state.firsts, strict=True)]
    rows = w.begin(0, size, 1, carried)
    cursors = {i: Cursor(w.at(bases[i], w.word("mul", rows.index, e.strides[i][-1])), e.offsets[i]) for i in moving}
    row = w.word("add", e.origins[-1], rows.index)
    coordinates[kernel.axes - 1] = row
    found = e.evaluate_at(kernel.axes, fixed, cursors, coordinates)
    e.flush_checks(None)
    following: list[str] = []
    at = 0
    for place, state in enumerate(states):
        own = rows.carried[at : at + len(state.types)]
        following += _joined(e, place, own, found[kernel.results[place].node], row)
        at += len(state.types)
    w.end(rows, following)
    at = 0
    for place, (result, state) in enumerate(zip(kernel.results, states, strict=True)):
        value = rows.carried[at + len(state.types) - 1]
        at += len(state.types)
        if result.reduction in PLACES and state.types[-1] != e.v.type(Kind.I64):
            value = e.v.cast("sext", Kind.I32, Kind.I64, value)
        e.v.store(result.kind, value, w.at(e.outputs[place], w.word("mul", cell, result.kind.bytes)))
    w.end(vectors)
    e.close_outer(loops)


def _place_kind(kind: Kind) -> Kind:
    """What places are counted in: as wide as the items, so that both fill as many registers."""
    return Kind.I64 if kind.bytes == 8 else Kind.I32


def _first(e: Emission, place: int) -> _State:
    result = e.kernel.results[place]
    assert result.reduction is not None
    if result.reduction not in PLACES:
        return _State((e.v.type(result.kind),), (e.v.constant(result.kind, neutral(result.reduction, result.kind)),))
    kind = e.result_kind(place)
    counted = _place_kind(kind)
    if kind.is_float:
        loses = f"splat ({COMPUTED[kind]} 0x7FF8000000000000)"
    elif kind is Kind.BOOL:
        loses = e.v.constant(kind, result.reduction == "least_place")
    else:
        loses = e.v.constant(kind, neutral("min" if result.reduction == "least_place" else "max", kind))
    return _State((e.v.type(kind), e.v.type(counted)), (loses, e.v.constant(counted, 0)))


def _joined(e: Emission, place: int, own: tuple[str, ...], value: str, row: str) -> list[str]:
    """The state after one more row."""
    v, w, result = e.v, e.w, e.kernel.results[place]
    assert result.reduction is not None
    if result.reduction not in PLACES:
        return [combine(v, result.reduction, result.kind, own[0], value)]
    kind = e.result_kind(place)
    counted = _place_kind(kind)
    least = result.reduction == "least_place"
    if kind.is_float:  # unordered: the state is NaN
        better = v.compare("ult" if least else "ugt", kind, value, own[0])
        better = w.let(f"and <{v.lanes} x i1> {better}, {v.compare('ord', kind, value, value)}")
    else:
        sign = "u" if kind in (Kind.BOOL, Kind.U8) else "s"
        better = v.compare(f"{sign}{'lt' if least else 'gt'}", kind, value, own[0])
    here = row if counted is Kind.I64 else w.let(f"trunc i64 {row} to i32")
    return [v.choose(kind, better, value, own[0]), v.choose(counted, better, v.splat(counted, here), own[1])]
