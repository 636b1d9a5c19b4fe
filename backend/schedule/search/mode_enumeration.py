"""The candidate modes of phases: each device alone, and subsets of the device classes, water-filled.

A mode is dominated by another that uses a subset of its devices and is no slower.  For phases that cannot be cut, or in few ways,
the list is complete (with as many equal devices as there are phases), so that a search over it is exhaustive.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations
from math import comb, gcd, perm
from typing import Final

from ....lang.support.records import dataclass, replace
from ...devices.cost_functions import Ticks
from ..bounds.head_tail_bounds import Costs, apportion_within, bisect_min
from ..problem import Answer, Baseline, BoundCertificate, Deadline, Mode, Problem, Schedule, directive_constraints

# ---------------------------------------------------------------------------------------------------- modes

MOST_MODES: Final = 15
MOST_CUTS: Final = 40
"""Cuts of a phase up to which all of them are candidates, so that a search over them is complete."""


@dataclass(frozen=True, slots=True)
class Modes:
    """The candidate modes by phase (`choices`); `complete`: some optimal schedule uses only these."""

    choices: tuple[tuple[Mode, ...], ...]
    complete: bool


def water_filled(costs: Costs, phase: int, devices: Sequence[int]) -> Mode | None:
    """The rows of `phase` over `devices` such that the last to finish computing is as early as possible (water-filling).

    Devices that do not shorten it get no rows; rows follow the order of the devices."""
    decoder = costs.decoder
    rows = decoder.problem.phases[phase].rows
    kinds = sorted({decoder.kinds[d] for d in devices})
    sample = {kind: next(d for d in devices if decoder.kinds[d] == kind) for kind in kinds}
    number = {kind: sum(1 for d in devices if decoder.kinds[d] == kind) for kind in kinds}

    def count(kind: str, time: int) -> int:
        return decoder.rows_within(phase, sample[kind], time)

    if any(decoder.ticks(phase, device, 1) is None for device in devices):
        return None
    ceiling = min(decoder.ticks(phase, device, rows) or 0 for device in sample.values())
    time = bisect_min(0, ceiling, lambda t: sum(count(kind, t) * number[kind] for kind in kinds) >= rows)
    counts = {kind: count(kind, time) for kind in kinds}
    given = apportion_within([counts[decoder.kinds[d]] for d in devices], rows)
    return tuple((device, share) for device, share in zip(devices, given, strict=True) if share)


def enumerate_modes(
    costs: Costs, phase: int, most_modes: int = MOST_MODES, most_cuts: int = MOST_CUTS
) -> tuple[tuple[Mode, ...], bool]:
    """Candidate modes of one phase, and whether they are complete (see `Modes`)."""
    decoder = costs.decoder
    task = decoder.problem.phases[phase]
    if phase in decoder.constraints.fixed_modes:
        return (decoder.constraints.fixed_modes[phase],), True
    rivals = len(decoder.problem.phases)
    classes = [
        [d for d in costs.members[c] if d in allowed] for c in costs.allowed_classes[phase]
        for allowed in [set(costs.allowed[phase])]
    ]  # fmt: skip
    candidates = [members[:rivals] for members in classes]
    singles: list[Mode] = [((device, task.units),) for members in candidates for device in members]
    complete = len(singles) <= max(most_modes, 64)
    if not complete:
        candidates = [members[: max(1, most_modes // len(candidates))] for members in candidates]
        singles = [mode for mode in singles if mode[0][0] in {d for members in candidates for d in members}][:64]
    limit = decoder.constraints.machines
    if not task.rows or phase in decoder.constraints.undivided or sum(map(len, classes)) < 2 or limit == 1:
        return tuple(singles), complete
    widest = len(costs.allowed[phase]) if limit is None else limit
    if complete and _cuts(len(costs.allowed[phase]), task.rows, widest) <= most_cuts:
        return tuple(_all_cuts(costs.allowed[phase], task.rows, widest)), True
    durations: dict[Mode, int] = {mode: decoder.ticks(phase, mode[0][0], task.rows) or 0 for mode in singles[:most_modes]}
    for devices in _subsets(classes):
        chosen = devices if limit is None else devices[:limit]
        mode = water_filled(costs, phase, chosen)
        if mode is not None and len(mode) > 1:
            durations[mode] = max(decoder.ticks(phase, device, rows) or 0 for device, rows in mode)
    return _undominated(durations)[:most_modes], False


def _cuts(devices: int, rows: int, widest: int) -> int:
    """The number of modes of at most `widest` shards."""
    return sum(perm(devices, k) * comb(rows - 1, k - 1) for k in range(1, min(devices, rows, widest) + 1))


def _all_cuts(devices: Sequence[int], rows: int, widest: int) -> Iterator[Mode]:
    """All modes of at most `widest` shards, fewest shards first."""
    for k in range(1, min(len(devices), rows, widest) + 1):
        for chosen in permutations(devices, k):
            for ends in combinations(range(1, rows), k - 1):
                yield tuple((d, b - a) for d, a, b in zip(chosen, (0, *ends), (*ends, rows), strict=True))


def _subsets(classes: list[list[int]]) -> list[list[int]]:
    """Unions of classes, and of the first two, four, eight… devices of each, the largest first."""
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


def _undominated(durations: dict[Mode, int]) -> tuple[Mode, ...]:
    """The undominated modes, fastest first: a mode whose devices include another's must be faster."""
    ordered = sorted(durations, key=lambda mode: (durations[mode], len(mode), mode))
    undominated: list[tuple[Mode, frozenset[int]]] = []
    singles = [mode for mode in ordered if len(mode) == 1]
    for mode in ordered:
        devices = frozenset(device for device, _ in mode)
        if len(mode) == 1 or not any(other <= devices and durations[known] <= durations[mode] for known, other in undominated):
            undominated.append((mode, devices))
    several = [mode for mode, _ in undominated if len(mode) > 1]
    room = max(1, MOST_MODES - len(singles))
    return (*several[:room], *singles)


def candidate_modes(costs: Costs, most_cuts: int = MOST_CUTS) -> Modes:
    """Candidate modes of every phase."""
    enumerated = [enumerate_modes(costs, p, MOST_MODES, most_cuts) for p in range(len(costs.allowed))]
    return Modes(tuple(choices for choices, _ in enumerated), all(complete for _, complete in enumerated))


# ---------------------------------------------------------------------------------------------------- common divisor of ticks
#
# A problem in larger ticks: the common divisor of all its times is divided out before it is planned.
#
# Every constraint is a difference between two moments, or says that one interval ends before another begins.  If all durations
# are multiples of g, rounding the moments of a plan down to multiples of g keeps every constraint, memory among them, so the
# optimum is a multiple of g too: bounds may be rounded up, and the search has fewer moments.  The exception is memory that a step
# without length holds for one tick (Note [Memory] of `problem`).

def common_ticks(problem: Problem) -> int:
    """The greatest common divisor of all times; 1 where times depend on links, rows or memory."""
    if problem.links or any(phase.rows for phase in problem.phases) or _holds_for_a_tick(problem):
        return 1
    divisor = 0
    for group in problem.devices:
        divisor = gcd(divisor, group.sync)
    for edge in problem.edges:
        divisor = gcd(divisor, edge.ticks or 0)
    for phase in problem.phases:
        divisor = gcd(divisor, phase.ready, *(ticks.at(1) for ticks in phase.ticks.values()))
        if phase.combine is not None:
            return 1
    return max(1, divisor)


def _holds_for_a_tick(problem: Problem) -> bool:
    """Does some step take no time on a device with a memory limit?"""
    if not any(cap is not None for cap in directive_constraints(problem).memory_limits):
        return False
    at_once = len(problem.device_names()) > 1 and not all(edge.ticks for edge in problem.edges)
    return at_once or any(not ticks.at(1) for phase in problem.phases for ticks in phase.ticks.values())


def in_larger_ticks(problem: Problem, size: int) -> Problem:
    """The same problem with ticks that are `size` times as long; `size` divides all times."""
    return replace(
        problem,
        devices=tuple(replace(group, sync=group.sync // size) for group in problem.devices),
        edges=tuple(edge if edge.ticks is None else replace(edge, ticks=edge.ticks // size) for edge in problem.edges),
        phases=tuple(
            replace(
                phase,
                ready=phase.ready // size,
                ticks={kind: Ticks(((1, ticks.at(1) // size),)) for kind, ticks in phase.ticks.items()},
            )
            for phase in problem.phases
        ),
        directives=tuple(
            replace(line, ticks=line.ticks // size) if isinstance(line, Deadline) else line for line in problem.directives
        ),
    )


def in_original_ticks(answer: Answer, size: int) -> Answer:
    """The answer to the original problem, converted from ticks that are `size` times as long."""
    proof = BoundCertificate(answer.proof.method, answer.proof.lower_bound * size, answer.proof.detail)
    return replace(
        answer,
        schedule=None if answer.schedule is None else _scaled(answer.schedule, size),
        lower_bound=answer.lower_bound * size,
        values=tuple(value * size for value in answer.values),
        proof=proof,
        baselines=tuple(Baseline(one.name, None if one.ticks is None else one.ticks * size) for one in answer.baselines),
    )


def _scaled(schedule: Schedule, size: int) -> Schedule:
    return Schedule(
        tuple(replace(shard, start=shard.start * size, end=shard.end * size) for shard in schedule.shards),
        tuple(replace(step, start=step.start * size, end=step.end * size) for step in schedule.combines),
        tuple(
            replace(moved, start=moved.start * size, busy=moved.busy * size, arrive=moved.arrive * size)
            for moved in schedule.transfers
        ),
        schedule.decisions,
    )
