"""Element-wise loops, whose elements go through all turns one after the other.  `graph.elementwise` says which.

Note [Turns].  In a turn an application may have to wait for the one before; `turn` is what it takes then (`turn.exp` a
transcendental one), `point` what it takes when others go on meanwhile.  A turn takes the longer of all its applications and its
longest chain of them.

Neighbours: `forms`, `points` (one turn), `regions` (loops that are compiled whole), `cost` (other loops).
"""

from __future__ import annotations

from math import prod

from ..graph import traverse
from ..graph.elementwise import merge_loop
from ..graph.phases import Loop, Structured
from ..kernels.build import build_body
from .forms import Number, Types, Work, work_of
from .points import applied_grains, chained_grains, moved_grains, shared_work, step
from .rates import Around, Rates
from .spans import largest
from .tables import Grains
from .teams import together


def repeated_grains(loop: Loop, types: Types, rates: Rates, number: Number, cut: tuple[int, int] | None) -> Grains | None:
    """None: it runs step by step."""
    if not rates.kernels or not loop.body.params:
        return None
    merged = merge_loop(loop, lambda value: types[value].element.kind, lambda value: types[value].shape)
    if merged is None or any(size.constant is None for size in traverse.sizes(merged)):
        return None
    if build_body(merged, complexes=True) is None:
        return None
    work = _work(merged, types, number, cut)
    if work is None:
        return Grains(0)
    around = rates.around.get(loop.id, Around())
    computed = number(loop.trip) * largest(chained_grains(work, rates), applied_grains(work, rates))
    moved = moved_grains(work, rates, around)
    return Grains(step(rates, around) + together(moved, computed, shared_work(work, rates, number(loop.trip)), rates))


def _work(phase: Structured, types: Types, number: Number, cut: tuple[int, int] | None) -> Work | None:
    extents = [number(axis.size) for axis in phase.axes]
    if cut is not None:
        extents[cut[0]] = cut[1]
    return work_of(phase, types, tuple(extents), number, kernels=True) if prod(extents) else None
