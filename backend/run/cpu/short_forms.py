"""Short forms of library phases: NumPy's functions on arrays, for the operands that are met most, without what surrounds a phase.

Each is made once for a phase whose sizes are known, and is a function of the operands' arrays alone; its result is a fresh array
in the order of its items.  What no size is part of is one function for all of them (so `native.tuning` sees that it is the same).

Neighbours: `bindings` (asks), `library` (implementations of everything).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np

from ....typechecker.elements import Kind
from ...graph.phases import LibraryPhase
from ...graph.registry import frame_of, framed_of, wanted_of
from ..device import Types
from .context import Context
from .kinds import DTYPES, NumArray
from .library import IMPLEMENTATIONS
from .library.sorting import selects, sorted_items
from .sorting import LEAST

Function: TypeAlias = Callable[..., NumArray]


def routine_of(phase: LibraryPhase, types: Types) -> Function | None:
    """The short form; None where there is none for such operands."""
    make = _SHORT.get(phase.op)
    return None if make is None else make(phase, types)


def _otherwise(phase: LibraryPhase, types: Types) -> Function:
    """The phase as it is done where no short form is for it."""
    implementation, known = IMPLEMENTATIONS[phase.op], Context(types.types, dict(types.sizes), types.guards)

    def run(*given: NumArray) -> NumArray:
        with np.errstate(all="ignore"):
            return implementation(phase, given, known)[0].copy()

    return run


def _in_order(made: NumArray) -> NumArray:
    """Row by row, as native programs take it: NumPy keeps the order of operands that lie column by column."""
    return made if made.flags.c_contiguous else made.copy()


def _is_plain(phase: LibraryPhase, types: Types, rank: int) -> bool:
    """Vectors of plain numbers, without a frame, too short for kernels?"""
    first = types.types[phase.args[0]]
    if prod(types.shape(phase.args[0])) >= LEAST[phase.op == "grade"]:
        return False
    return not frame_of(phase) and len(first.shape) == rank and not first.element.kind.is_complex


def _grade(phase: LibraryPhase, types: Types) -> Function | None:
    """NumPy's stable order is the language's: NaN behind all, equal zeros and NaNs as they are."""
    flags, shape = phase.attributes, types.types[phase.args[0]].shape
    is_rows = frame_of(phase) == len(shape) - 1 > 0 and not types.kind(phase.args[0]).is_complex
    if not (is_rows or _is_plain(phase, types, 1)) or (wanted_of(phase) and prod(types.shape(phase.args[0])) >= LEAST[True]):
        return None
    descending = flags.get("descending") is True
    return _order(types.kind(phase.args[0]), descending=descending)


@cache
def _order(kind: Kind, *, descending: bool) -> Function:
    """The stable order of items."""
    if not descending:
        return lambda items: items.argsort(kind="stable")
    if kind.is_float:
        return lambda items: (-items).argsort(kind="stable")
    return lambda items: (~items).argsort(kind="stable")


def _gather(phase: LibraryPhase, types: Types) -> Function | None:
    order = phase.attributes.get("sorts")
    if order is None and frame_of(phase):
        return _gather_of_rows(phase, types)
    if order is None or not _is_plain(phase, types, 1) or not prod(types.shape(phase.args[0])):
        return None
    if selects(prod(types.shape(phase.args[0])), wanted_of(phase)):
        return None
    return _sorted(types.kind(phase.args[0]), descending=order == "down")


@cache
def _sorted(kind: Kind, *, descending: bool) -> Function:
    order_of = _order(kind, descending=descending)

    def run(items: NumArray, *order: object) -> NumArray:
        made = items.copy()
        made.sort()
        first, last = made.item(0), made.item(-1)
        if kind.is_float and not ((first > 0 or last < 0) and last == last):  # zeros of both signs, or NaN
            return items[order_of(items)] if len(items) < LEAST[True] else sorted_items(items, descending=descending)
        return made[::-1].copy() if descending else made

    return run


def _gather_of_rows(phase: LibraryPhase, types: Types) -> Function | None:
    """Items of each row of a matrix by indices of its own."""
    ranks = [len(types.types[value].shape) for value in phase.args]
    if frame_of(phase) != 1 or ranks != [2, 2] or framed_of(phase) != (True, True) or phase.attributes.get("fills"):
        return None
    otherwise = _otherwise(phase, types)

    def run(rows: NumArray, places: NumArray) -> NumArray:
        count, length = rows.shape
        if not places.size or int(places.min()) < 0 or int(places.max()) >= length:
            return otherwise(rows, places)
        return _in_order(rows[np.arange(count)[:, np.newaxis], places])

    return run


def _rotate(phase: LibraryPhase, types: Types) -> Function | None:
    axis = phase.attributes["axis"]
    assert isinstance(axis, int)
    if frame_of(phase) or types.types[phase.args[1]].shape or not prod(types.shape(phase.args[0])):
        return None
    return _rotated(axis)


@cache
def _rotated(axis: int) -> Function:
    lead: tuple[Any, ...] = (slice(None),) * axis

    def run(items: NumArray, amount: Any) -> NumArray:
        turn = int(amount) % items.shape[axis]
        return _in_order(np.concatenate((items[(*lead, slice(turn, None))], items[(*lead, slice(0, turn))]), axis))

    return run


def _update(phase: LibraryPhase, types: Types) -> Function | None:
    """Items of a vector; an index that is outside is for the implementation to name."""
    ranks = [len(types.types[value].shape) for value in phase.args]
    if frame_of(phase) or phase.attributes["indexed"] != (True,) or len(ranks) != 3 or ranks[0] != 1 or ranks[1] > 1:
        return None
    otherwise, dtype = _otherwise(phase, types), DTYPES[types.kind(phase.args[0])]

    def run(items: NumArray, places: Any, value: Any) -> NumArray:
        at = np.asarray(places)
        if at.size and (int(at.min()) < 0 or int(at.max()) >= len(items)):
            return otherwise(items, at, np.asarray(value, dtype))
        made = items.copy()
        made[at if at.dtype.kind == "i" else at.astype(np.int64)] = value
        return made

    return run


def _join(phase: LibraryPhase, types: Types) -> Function | None:
    axis = phase.attributes["axis"]
    assert isinstance(axis, int)
    if frame_of(phase) or not all(types.types[value].shape for value in phase.args):
        return None
    return _joined(axis)


@cache
def _joined(axis: int) -> Function:
    return lambda *parts: _in_order(np.concatenate(parts, axis))


def _match(phase: LibraryPhase, types: Types) -> Function | None:
    kinds = [types.kind(value) for value in phase.args]
    shapes = [types.types[value].shape for value in phase.args]
    if frame_of(phase) or shapes[0] != shapes[1] or not shapes[0] or Kind.CHAR in kinds:
        return None
    return _matched


def _matched(left: NumArray, right: NumArray) -> NumArray:
    return np.asarray((left == right).all())


_SHORT: Final[dict[str, Callable[[LibraryPhase, Types], Function | None]]] = {
    "grade": _grade, "gather": _gather, "join": _join, "match": _match, "rotate": _rotate, "update": _update,
}  # fmt: skip
