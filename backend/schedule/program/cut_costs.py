"""What it costs to cut one phase, by axis and by number of devices: its time, the bytes that move for it, and its energy.

The phase is planned alone: its operands lie at home before it, and its results are wanted there after it.  So what differs from
row to row is the cut: what several shards read (copied to each), edges between neighbours, partial results to combine.  A row has
the best split over home and the devices that are soonest done beside it, as the planner finds it without a solver; other devices
are off.

Neighbours: `cuts` (which cut a whole program takes), `facts.sharding` (which there are), `shell.verbs.plan_cut` (shows it).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ...devices.profile import DeviceProfile, Profile
from ...graph import traverse
from ...graph.bind import BoundGraph
from ...graph.phases import Input, Output, Phase, PhaseId
from ..answer import Answer
from ..facts.sharding import Cut, cuts_of
from ..solve.budget import FAST
from ..solve.objectives import plan_objectives
from ..solve.values import energy
from .cuts import Given, given_as
from .problem_of import problem_of
from .together import ProgramProblem


@dataclass(frozen=True, slots=True)
class CutCost:
    """The phase cut into `shards` along `cut` (None: whole), by a plan for `devices` devices: `ns` from its operands at home to
    its results there, bytes `sent` from home and `returned` to it, `picojoules` (None: no power is known)."""

    cut: Cut | None
    devices: int
    shards: int
    ns: int
    sent: int
    returned: int
    picojoules: int | None


def cut_costs(bound: BoundGraph, phase: Phase, profile: Profile) -> tuple[CutCost, ...]:
    """The phase whole, and then along each axis over 2, 4, 8, … devices and all; none that does not fit in memory.

    Refused: SCH104, no device can run it."""
    alone, profile = _alone(bound, phase), replace(profile, devices=tuple(d for d in profile.devices if not d.paths))
    answers: list[tuple[Cut | None, int, ProgramProblem, Answer]] = []
    ranked = _ranked(alone, phase, profile)
    for cut in (None, *cuts_of(phase, bound.graph.types)):
        for count in (2,) if cut is None else _counts(profile):
            program = _problem(alone, phase, cut, _first(ranked, count))
            answers.append((cut, count, program, plan_objectives(program.problem, FAST)))
    return tuple(row for each in answers if (row := _row(*each)) is not None)


def _counts(profile: Profile) -> Iterator[int]:
    total, count = sum(device.count for device in profile.devices), 2
    while count < total:
        yield count
        count *= 2
    if total > 1:
        yield total


def _alone(bound: BoundGraph, phase: Phase) -> BoundGraph:
    """A program of this phase: its operands come in, its results go out."""
    graph = bound.graph
    number = max((int(one.id) for one in traverse.all_phases(graph)), default=0)
    operands = dict.fromkeys(traverse.uses(phase))
    inputs = [Input(PhaseId(number + at), phase.span, f"operand {at}", value) for at, value in enumerate(operands, 1)]
    number += len(inputs)
    results = enumerate(traverse.results(phase), 1)
    outputs = [Output(PhaseId(number + at), phase.span, f"result {at}", value) for at, value in results]
    return replace(bound, graph=replace(graph, phases=(*inputs, phase, *outputs), guards=()))


def _problem(alone: BoundGraph, phase: Phase, cut: Cut | None, profile: Profile) -> ProgramProblem:
    given = Given(None) if cut is None else given_as(phase, cut, alone.graph.types)
    return problem_of(alone, profile, cut={phase.id: given})


def _ranked(alone: BoundGraph, phase: Phase, profile: Profile) -> Profile:
    """Home, and then the devices by when each would be done with the whole phase."""

    def ends(device: DeviceProfile) -> int:
        program = _problem(alone, phase, None, _only(profile, (replace(profile.home, count=1), replace(device, count=1))))
        problem = program.problem
        place = next(at for at, one in enumerate(program.phases) if one.id == phase.id)
        kind = next(group.kind for group in problem.devices if group.id == device.name)
        tasks = list(problem.phases)
        tasks[place] = replace(tasks[place], ticks={name: table for name, table in tasks[place].ticks.items() if name == kind})
        if not tasks[place].ticks:
            return 1 << 62
        answer = plan_objectives(replace(problem, phases=tuple(tasks)), FAST)
        return 1 << 62 if answer.schedule is None else answer.schedule.makespan * problem.tick_ns

    others = sorted((device for device in profile.devices if not device.home), key=ends)
    return replace(profile, devices=(profile.home, *others))


def _first(ranked: Profile, count: int) -> Profile:
    """The profile's first devices."""
    taken: list[DeviceProfile] = []
    for device in ranked.devices:
        own = min(device.count, count)
        count -= own
        if own:
            taken.append(replace(device, count=own))
    return _only(ranked, taken)


def _only(profile: Profile, devices: Sequence[DeviceProfile]) -> Profile:
    distinct = tuple({device.name: device for device in reversed(devices)}.values())[::-1]
    names = {device.name for device in distinct}

    def is_there(end: str) -> bool:
        stem, _, rest = end.partition("[")
        device = next((one for one in distinct if one.name in (end, stem)), None)
        return device is not None and (not rest or end in names or int(rest.rstrip("]")) < device.count)

    links = tuple(link for link in profile.links if is_there(link.source) and is_there(link.target))
    return replace(profile, devices=distinct, links=links)


def _row(cut: Cut | None, count: int, program: ProgramProblem, answer: Answer) -> CutCost | None:
    problem, schedule = program.problem, answer.schedule
    if schedule is None:
        return None
    place = next(at for at, one in enumerate(program.phases) if not isinstance(one, Input | Output))
    shards = sum(shard.phase == place for shard in schedule.shards)
    sent = sum(one.bytes for one in schedule.transfers if one.source == problem.home)
    returned = sum(one.bytes for one in schedule.transfers if one.target == problem.home)
    powered = program.profile is not None and any(device.power is not None for device in program.profile.devices)
    used = energy(problem, schedule) if powered else None
    return CutCost(cut, count, shards, schedule.makespan * problem.tick_ns, sent, returned, used)
