"""Bytes that a structured phase needs while it runs, beside its operands and results.

The CPU back end computes in boxes, each thread with registers for the body's temporaries.  A team's boxes together never have
more than `TEAM_POINTS` points, whatever its size, so that a plan says the same on every machine; small spaces are one box.
Counted at the most values that are alive at once, plus what compound functions use inside.

Neighbours: `one_device` (adds it to the peak), `backend.run.cpu.space` (allocates it).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Final

from ...typechecker.sizes import ZERO, Size, capacity, minimum, product, quotient
from ..graph.phases import ApplyNode, AxisNode, Structured

TEAM_POINTS: Final = 1 << 18
"""Points of the boxes of a whole team, twice as many where the boxes are reduced."""
LARGEST_TEAM: Final = 4
"""More threads than this gain nothing: ufuncs are bound by memory and share the interpreter's lock."""
SUM_POINTS: Final = 1 << 20
"""Items that a team sums at once."""
LANES: Final = 256
BLOCK: Final = 4096
_INSIDE: Final = 3
"""Arrays of a box that one compound function may hold inside."""


def workspace(phase: Structured, number: Callable[[Size], int]) -> int:
    """Scratch bytes of the phase on a device's whole team."""
    applied = [node for node in phase.body if isinstance(node, ApplyNode | AxisNode)]
    sizes = [number(axis.size) for axis in phase.axes]
    points = prod(sizes)
    reduces = any(r.reduction is not None for r in phase.results)
    lanes = _lane_bytes(points, sizes[-1]) if reduces else 0
    if not applied:
        return lanes
    each, most = _each(phase, applied, reduces=reduces)
    return min(points, most) * each + lanes


def _each(phase: Structured, applied: Sequence[ApplyNode | AxisNode], *, reduces: bool) -> tuple[int, int]:
    """Bytes a point of the boxes, and the most points."""
    compound = any(isinstance(node, ApplyNode) and node.function not in _ONE_PASS for node in applied)
    widest = max(node.kind.bytes if isinstance(node, ApplyNode) else 8 for node in applied)
    live = _live_bytes(phase, counts_results=reduces) + (_INSIDE * max(widest, 8) if compound else 0)
    return live, TEAM_POINTS * 2 if reduces else TEAM_POINTS * 8 // widest


def workspace_bound(phase: Structured) -> Size:
    """At least `workspace` for all sizes, as a formula in them."""
    applied = [node for node in phase.body if isinstance(node, ApplyNode | AxisNode)]
    points = product(capacity(axis.size) for axis in phase.axes)
    reduces = any(r.reduction is not None for r in phase.results)
    lanes = minimum(points, SUM_POINTS) * (_INSIDE * 8 // 2) + quotient(points, BLOCK) * 16 + 1 if reduces else ZERO
    if not applied:
        return lanes
    each, most = _each(phase, applied, reduces=reduces)
    return minimum(points, most) * each + lanes


def _lane_bytes(points: int, length: int) -> int:
    """Lanes and block partials of the order of sums, for the items summed at once."""
    return -(-min(points, SUM_POINTS) * min(length, LANES) * _INSIDE * 8 // (2 * max(length, 1))) + points // BLOCK * 16


_ONE_PASS: Final = frozenset({
    "add", "sub", "mul", "div", "min", "max", "and", "or", "not", "neg", "conj", "lt", "le", "eq", "ge", "gt", "ne",
    "exp", "ln", "sqrt", "expm1", "log1p", "abs", "sign", "convert", "select",
})  # fmt: skip


def _live_bytes(phase: Structured, *, counts_results: bool) -> int:
    """The most bytes a point that computed nodes take at once; results have their own memory unless they are reduced."""
    last: dict[int, int] = {}
    for place, node in enumerate(phase.body):
        if isinstance(node, ApplyNode):
            last.update(dict.fromkeys(node.args, place))
    results = {r.node for r in phase.results}
    if counts_results:
        last.update(dict.fromkeys(results, len(phase.body)))
    ends: dict[int, int] = {}
    live = most = 0
    for place, node in enumerate(phase.body):
        if isinstance(node, ApplyNode | AxisNode) and (counts_results or place not in results):
            size = node.kind.bytes if isinstance(node, ApplyNode) else 8
            live += size
            ends[last.get(place, place)] = ends.get(last.get(place, place), 0) + size
        most = max(most, live)
        live -= ends.pop(place, 0)
    return most
