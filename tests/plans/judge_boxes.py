"""Boxes, and what phases read and make, for the judge of plans: nothing of `backend.schedule`."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from rho.backend.graph.phases import Phase, Structured

from .prices import Box


def results_of(phase: Phase) -> tuple[int, ...]:
    if isinstance(phase, Structured):
        return tuple(int(r.value) for r in phase.results)
    if hasattr(phase, "results"):
        return tuple(map(int, phase.results))
    return (int(phase.result),) if hasattr(phase, "result") else ()


def operands_of(phase: Phase) -> tuple[int, ...]:
    for name in ("args", "initial"):
        if hasattr(phase, name):
            return tuple(map(int, getattr(phase, name)))
    return (int(phase.arg),) if hasattr(phase, "arg") else ()


def holds(box: Box, point: tuple[int, ...]) -> bool:
    return all(a <= at < b for (a, b), at in zip(box, point, strict=True))


def volume(box: Box) -> int:
    return prod(b - a for a, b in box)


def meet(one: Box, other: Box) -> bool:
    return all(max(a, c) < min(b, d) for (a, b), (c, d) in zip(one, other, strict=True))


def touches(one: Box, hull: Box) -> bool:
    """Is one a part of what is read?  A value without axes always is."""
    return not hull or meet(one, hull)


def uncovered(box: Box, others: Sequence[Box]) -> list[Box]:
    """What is left of a box beside others."""
    rest = [box]
    for other in others:
        rest = [part for one in rest for part in minus(one, other)]
    return rest


def minus(box: Box, other: Box) -> list[Box]:
    if not meet(box, other):
        return [box] if box else []
    found, middle = [], list(box)
    for axis, ((a, b), (c, d)) in enumerate(zip(box, other, strict=True)):
        for first, stop in ((a, min(b, c)), (max(a, d), b)):
            if first < stop:
                found.append((*middle[:axis], (first, stop), *box[axis + 1 :]))
        middle[axis] = (max(a, c), min(b, d))
    return found
