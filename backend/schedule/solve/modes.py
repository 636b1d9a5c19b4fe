"""Which ways of cutting a phase are worth trying: each device alone, and subsets of the classes of devices, water-filled.

A mode is dropped when another uses some of its devices only and is no slower.  For phases that cannot be cut, or in
few ways, the list is complete (of equal devices as many as there are phases), so a search over it is one over everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from math import comb, perm
from typing import Final

from ..timeline.timing import Mode
from .costs import Costs
from .filling import fill, least

MOST_MODES: Final = 15
MOST_CUTS: Final = 40
"""Cuts of a phase up to which all of them are candidates, so that a search over them is complete."""


@dataclass(frozen=True, slots=True)
class Modes:
    """`choices` by phase; `complete`: an optimum is among them."""

    choices: tuple[tuple[Mode, ...], ...]
    complete: bool


def water_filled(costs: Costs, phase: int, devices: Sequence[int]) -> Mode | None:
    """The rows of `phase` over `devices` so that the last to finish computing is as early as can be; devices that help
    nothing get none.  Rows follow the order of the devices."""
    timer = costs.timer
    rows = timer.problem.phases[phase].rows
    kinds = sorted({timer.kinds[d] for d in devices})
    sample = {kind: next(d for d in devices if timer.kinds[d] == kind) for kind in kinds}
    number = {kind: sum(1 for d in devices if timer.kinds[d] == kind) for kind in kinds}

    def count(kind: str, time: int) -> int:
        return timer.about(phase, sample[kind], time)

    if any(timer.ticks(phase, device, 1) is None for device in devices):
        return None
    ceiling = min(timer.ticks(phase, device, rows) or 0 for device in sample.values())
    time = least(0, ceiling, lambda t: sum(count(kind, t) * number[kind] for kind in kinds) >= rows)
    counts = {kind: count(kind, time) for kind in kinds}
    given = fill([counts[timer.kinds[d]] for d in devices], rows)
    return tuple((device, share) for device, share in zip(devices, given, strict=True) if share)


def modes_of(costs: Costs, phase: int, most_modes: int = MOST_MODES, most_cuts: int = MOST_CUTS) -> tuple[tuple[Mode, ...], bool]:
    """Candidate modes of one phase, and whether they are complete."""
    timer = costs.timer
    task = timer.problem.phases[phase]
    if phase in timer.limits.fixed:
        return (timer.limits.fixed[phase],), True
    rivals = len(timer.problem.phases)
    classes = [
        [d for d in costs.members[c] if d in allowed] for c in costs.allowed_classes[phase]
        for allowed in [set(costs.allowed[phase])]
    ]  # fmt: skip
    kept = [members[:rivals] for members in classes]
    singles: list[Mode] = [((device, task.units),) for members in kept for device in members]
    whole = len(singles) <= max(most_modes, 64)
    if not whole:
        kept = [members[: max(1, most_modes // len(kept))] for members in kept]
        singles = [mode for mode in singles if mode[0][0] in {d for members in kept for d in members}][:64]
    limit = timer.limits.machines
    if not task.rows or phase in timer.limits.unsplit or sum(map(len, classes)) < 2 or limit == 1:
        return tuple(singles), whole
    widest = len(costs.allowed[phase]) if limit is None else limit
    if whole and _cuts(len(costs.allowed[phase]), task.rows, widest) <= most_cuts:
        return tuple(_all_cuts(costs.allowed[phase], task.rows, widest)), True
    found: dict[Mode, int] = {mode: timer.ticks(phase, mode[0][0], task.rows) or 0 for mode in singles[:most_modes]}
    for devices in _subsets(classes):
        chosen = devices if limit is None else devices[:limit]
        mode = water_filled(costs, phase, chosen)
        if mode is not None and len(mode) > 1:
            found[mode] = max(timer.ticks(phase, device, rows) or 0 for device, rows in mode)
    return _undominated(found)[:most_modes], False


def _cuts(devices: int, rows: int, widest: int) -> int:
    """How many modes of at most `widest` shards there are in all."""
    return sum(perm(devices, k) * comb(rows - 1, k - 1) for k in range(1, min(devices, rows, widest) + 1))


def _all_cuts(devices: Sequence[int], rows: int, widest: int) -> Iterator[Mode]:
    """Every mode of at most `widest` shards, those of fewer first."""
    for k in range(1, min(len(devices), rows, widest) + 1):
        for chosen in permutations(devices, k):
            for ends in combinations(range(1, rows), k - 1):
                yield tuple((d, b - a) for d, a, b in zip(chosen, (0, *ends), (*ends, rows), strict=True))


def _subsets(classes: list[list[int]]) -> list[list[int]]:
    """Unions of whole classes, and of the first two, four, eight… of each, the largest first."""
    result: list[list[int]] = []
    if len(classes) <= 4:
        for size in range(len(classes), 0, -1):
            result += [sorted(d for members in some for d in members) for some in combinations(classes, size)]
    else:
        result.append(sorted(d for members in classes for d in members))
        result += [list(members) for members in classes]
    for members in classes:
        size = 2
        while size < len(members):
            result.append(members[:size])
            size *= 2
    return [devices for devices in result if len(devices) > 1]


def _undominated(found: dict[Mode, int]) -> tuple[Mode, ...]:
    """The fastest first; of two, one whose devices include the other's must be faster."""
    ordered = sorted(found, key=lambda mode: (found[mode], len(mode), mode))
    kept: list[tuple[Mode, frozenset[int]]] = []
    singles = [mode for mode in ordered if len(mode) == 1]
    for mode in ordered:
        devices = frozenset(device for device, _ in mode)
        if len(mode) == 1 or not any(other <= devices and found[known] <= found[mode] for known, other in kept):
            kept.append((mode, devices))
    several = [mode for mode, _ in kept if len(mode) > 1]
    room = max(1, MOST_MODES - len(singles))
    return (*several[:room], *singles)


def candidate_modes(costs: Costs, most_cuts: int = MOST_CUTS) -> Modes:
    """Candidate modes of every phase."""
    found = [modes_of(costs, p, MOST_MODES, most_cuts) for p in range(len(costs.allowed))]
    return Modes(tuple(choices for choices, _ in found), all(complete for _, complete in found))
