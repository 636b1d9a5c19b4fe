"""Loops that run as kernels: element-wise ones, all turns of an element before the next, and those over rotations of their state,
a call a turn.  `kernels.loops` and `kernels.stencils` say which.

Note [Turns].  In a turn an application may have to wait for the one before; `turn` is what it takes then (`turn.exp` a
transcendental one), `point` what it takes when others go on meanwhile.  A turn takes the longer of all its applications and its
longest chain of them.

Neighbours: `forms`, `points` (one turn), `cost` (other loops).
"""

from __future__ import annotations

from math import prod
from typing import Final

from ...typechecker.elements import Kind
from ..graph import traverse
from ..graph.phases import Loop, Structured
from ..kernels.build import build_body
from ..kernels.loops import build_loop, merge_loop
from ..kernels.stencils import merge_stencil, rotation_amounts
from .forms import Number, Types, Work, work_of
from .points import applied_grains, chained_grains, moved_grains, shared_work, step
from .rates import Around, Rates
from .spans import largest
from .tables import Grains
from .teams import Sharing, overlapped, together


def repeated_grains(loop: Loop, types: Types, rates: Rates, number: Number, cut: tuple[int, int] | None) -> Grains | None:
    """None: it runs step by step."""
    if not rates.kernels or not loop.body.params:
        return None
    merged = merge_loop(loop, lambda value: types[value].element.kind, lambda value: types[value].shape)
    if merged is not None:
        if any(size.constant is None for size in traverse.sizes(merged)) or build_loop(merged, complexes=True) is None:
            return None
        return _turns_of_elements(loop, merged, types, rates, number, cut)
    amounts = rotation_amounts(loop)
    if not amounts and amounts != ():
        return None
    turn = merge_stencil(
        loop, lambda value: types[value].element.kind, lambda value: types[value].shape, dict.fromkeys(amounts or (), 1)
    )
    if turn is None or build_body(turn.phase) is None:
        return None
    ways = len({own[:-1] for own, state in zip(turn.offsets, turn.states, strict=True) if state is not None})
    return _turns_of_stencils(loop, turn.phase, types, rates, number, cut, ways)


def _shifted(phase: Structured, work: Work, rates: Rates) -> int:
    """Each read of the state under another index is loaded by itself, across two lines: as long as two additions."""
    reads = max(0, len(phase.reads) - _READS)
    return 2 * reads * rates.require(("point.add",), Kind.F64).rate(work.points * 3 * Kind.F64.bytes)


_READS: Final = 2
"""Of the turns that are measured."""


def _work(phase: Structured, types: Types, number: Number, cut: tuple[int, int] | None) -> Work | None:
    extents = [number(axis.size) for axis in phase.axes]
    if cut is not None:
        extents[cut[0]] = cut[1]
    return work_of(phase, types, tuple(extents), number, kernels=True) if prod(extents) else None


def _turns_of_elements(
    loop: Loop, merged: Structured, types: Types, rates: Rates, number: Number, cut: tuple[int, int] | None
) -> Grains:
    work = _work(merged, types, number, cut)
    if work is None:
        return Grains(0)
    around = rates.around.get(loop.id, Around())
    computed = number(loop.trip) * largest(chained_grains(work, rates), applied_grains(work, rates))
    moved = moved_grains(work, rates, around)
    return Grains(step(rates, around) + together(moved, computed, shared_work(work, rates, number(loop.trip)), rates))


def _turns_of_stencils(
    loop: Loop, phase: Structured, types: Types, rates: Rates, number: Number, cut: tuple[int, int] | None, ways: int
) -> Grains:
    """`ways`: distances along axes but the last, at each of which the space is cut."""
    work = _work(phase, types, number, cut)
    if work is None:
        return Grains(0)
    around = rates.around.get(loop.id, Around())
    plane = len([axis for axis in phase.axes if number(axis.size) != 1]) > 1
    stem = "turn.plane" if plane else "turn.line"
    turns, ends = rates.table((stem,), Kind.F64), rates.table((f"{stem}.ends",), Kind.F64)
    start = step(rates, around)
    computed = applied_grains(work, rates) + _shifted(phase, work, rates)
    if turns is not None and ends is not None:
        shared = shared_work(work, rates).sharing is not Sharing.ALONE
        each = overlapped(turns.at(work.own), computed // (rates.device.threads if shared else 1))
        return Grains(start + ends.at(work.own) + number(loop.trip) * each)
    inside = Around(work.own, {})
    each = ways * rates.grains(("turn.step", "step"), Kind.F64, max(1, work.own))
    each += together(moved_grains(work, rates, inside), computed, shared_work(work, rates), rates)
    both = moved_grains(work, rates, around)
    return Grains(start + both + number(loop.trip) * each)
