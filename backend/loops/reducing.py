"""Reductions item after item: what their state is, what it starts with, and what becomes of it.

The state of a place (`PLACES`) is the best item and where it is.  Of equal items the first is best, and a number is better than a
NaN.

Neighbours: `lower.nests` (asks), `threads` (the same in any order), `orders` (sums).
"""

from __future__ import annotations

from math import nan

from ...typechecker.elements import Kind
from ...typechecker.scalars import neutral
from ..graph.phases import PLACES
from ..kernels.build import bits_of
from .builder import Builder


def entry(b: Builder, function: str, kind: Kind) -> list[tuple[Kind, str, None]]:
    """What a reduction starts with; a place loses against every item."""
    if function not in PLACES:
        return [(kind, b.constant(kind, bits_of(kind, neutral(function, kind))), None)]
    loses = nan if kind.is_float else neutral("min" if function == "least_place" else "max", kind)
    counted = _counted(kind)
    return [(kind, b.constant(kind, bits_of(kind, loses)), None), (counted, b.constant(counted, 0), None)]


def joined(b: Builder, function: str, kind: Kind, item: str, row: str, state: list[str]) -> list[str]:
    """A reduction's part of the state, which is taken from there, after one more item, that of a row."""
    before = state.pop(0)
    if function not in PLACES:
        return [b.apply(function, (before, item), kind, kind)]
    if kind.is_float:  # the state may be NaN
        loses = b.apply("ge" if function == "least_place" else "le", (item, before), kind, Kind.BOOL)
        is_number = b.apply("eq", (item, item), kind, Kind.BOOL)
        better = b.apply("and", (b.apply("not", (loses,), Kind.BOOL, Kind.BOOL), is_number), Kind.BOOL, Kind.BOOL)
    else:
        better = b.apply("lt" if function == "least_place" else "gt", (item, before), kind, Kind.BOOL)
    counted = _counted(kind)
    here = row if counted is Kind.I64 else b.apply("convert", (row,), Kind.I64, counted)
    best = b.apply("select", (better, item, before), kind, kind)
    return [best, b.apply("select", (better, here, state.pop(0)), counted, counted)]


def outcome(b: Builder, function: str, kind: Kind, state: list[str]) -> str:
    """What a reduction gives, of its part of the state, which is taken from there."""
    total = state.pop(0)
    if function not in PLACES:
        return total
    counted, place = _counted(kind), state.pop(0)
    return place if counted is Kind.I64 else b.apply("convert", (place,), counted, Kind.I64)


def _counted(kind: Kind) -> Kind:
    """What places are counted in: as wide as the items, so that both fill as many registers."""
    return Kind.I64 if kind.bytes == 8 else Kind.I32
