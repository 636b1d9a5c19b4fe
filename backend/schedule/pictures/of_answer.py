"""The chart of an answer to an abstract problem (`instance/1`)."""

from __future__ import annotations

from collections import defaultdict

from ..answer import Answer, Schedule
from ..problem import Problem
from ..timeline.graph import StepGraph, starts_in
from ..timeline.memory import buffers, memory
from ..timeline.timing import Timer, decisions_of
from .chart import Axis, Bar, BarKind, Chart, Lane, Line, Memory, Node, Row, merged, with_critical_path


def chart_of_answer(problem: Problem, answer: Answer, name: str = "") -> Chart:
    """What pictures of an answer with a schedule show; times are in ticks (`tick_ns` of the problem)."""
    schedule = answer.schedule
    assert schedule is not None, "an impossible problem has no picture"
    names = problem.device_names()
    lanes = with_critical_path(_lanes(problem, schedule, names))
    shown, hidden = merged(lanes)
    told = [f"{b.name} {b.ticks}" for b in answer.baselines if b.ticks is not None]
    notes = [f"lower bound {answer.lower_bound} ticks · {answer.status.value}"] + (
        [f"baselines: {', '.join(told)}"] if told else []
    )
    rows = tuple(
        Row(problem.phases[s.phase].id, names[s.device], f"rows {s.first} to {s.stop}", (s.end - s.start) * problem.tick_ns)
        for s in schedule.shards
    )
    nodes, lines = _graph(problem, schedule, names)
    return Chart(
        f"{name or 'instance'}: {schedule.makespan} ticks",
        tuple(notes),
        problem.tick_ns,
        schedule.makespan,
        answer.lower_bound,
        shown,
        (),
        _memory(problem, schedule, names),
        nodes,
        lines,
        rows,
        hidden,
        Axis.TICKS,
    )


def _lanes(problem: Problem, schedule: Schedule, names: tuple[str, ...]) -> list[Lane]:
    devices: dict[int, list[Bar]] = defaultdict(list)
    links: dict[str, list[Bar]] = defaultdict(list)
    made: dict[tuple[int, int], list[str]] = defaultdict(list)
    for place, shard in enumerate(schedule.shards):
        made[shard.phase, shard.device].append(f"s{place}")
    for place, transfer in enumerate(schedule.transfers):
        made[transfer.phase, transfer.target].append(f"t{place}")
    inputs: dict[int, list[int]] = defaultdict(list)
    for edge in problem.edges:
        inputs[edge.target].append(edge.source)
    for place, shard in enumerate(schedule.shards):
        phase = problem.phases[shard.phase]
        after = tuple(key for source in inputs[shard.phase] for key in made[source, shard.device])
        part = f" rows {shard.first}:{shard.stop}" if phase.rows else ""
        text = f"{phase.id}{part} on {names[shard.device]}, {shard.end - shard.start} ticks"
        devices[shard.device].append(
            Bar(f"s{place}", phase.id, BarKind.RUN, shard.start, shard.end, shard.end, text, after, node=phase.id)
        )
    for place, step in enumerate(schedule.combines):
        phase = problem.phases[step.phase]
        after = tuple(key for (p, _), keys in made.items() if p == step.phase for key in keys)
        text = f"{phase.id} combine, {step.end - step.start} ticks"
        bar = Bar(f"c{place}", f"{phase.id} combine", BarKind.COMBINE, step.start, step.end, step.end, text, after, node=phase.id)
        devices[problem.home].append(bar)
    for place, transfer in enumerate(schedule.transfers):
        phase = problem.phases[transfer.phase]
        link = "delay" if transfer.link is None else problem.links[transfer.link].id
        text = f"{phase.id}: {names[transfer.source]} → {names[transfer.target]}, {transfer.bytes} bytes"
        after = tuple(made[transfer.phase, transfer.source])
        times = (transfer.start, transfer.busy, transfer.arrive)
        bar = Bar(f"t{place}", phase.id, BarKind.TRANSFER, *times, text, after, node=phase.id)
        links[link].append(bar)
    found = [Lane(names[device], tuple(sorted(bars, key=lambda b: b.start)), False) for device, bars in sorted(devices.items())]
    return found + [Lane(link, tuple(sorted(bars, key=lambda b: b.start)), True) for link, bars in sorted(links.items())]


def _memory(problem: Problem, schedule: Schedule, names: tuple[str, ...]) -> tuple[Memory, ...]:
    """By the Note [Memory] of `problem`."""
    timer = Timer(problem)
    decisions = decisions_of(problem, schedule)
    graph = StepGraph(timer, timer.expanded(decisions.modes), timer.legal(decisions.priority) or decisions.priority)
    profiles = memory(graph, starts_in(graph, schedule), buffers(graph, everywhere=True))
    limits = [group.memory for group in problem.devices for _ in range(group.count)]
    return tuple(
        Memory(names[device], limits[device], ((0, 0), *profile.levels) if profile.levels[0][0] else profile.levels)
        for device, profile in profiles.items()
    )


def _graph(problem: Problem, schedule: Schedule, names: tuple[str, ...]) -> tuple[tuple[Node, ...], tuple[Line, ...]]:
    where: dict[int, dict[str, int]] = defaultdict(dict)
    for shard in schedule.shards:
        where[shard.phase][names[shard.device]] = shard.end - shard.start
    moved: dict[int, int] = defaultdict(int)
    for transfer in schedule.transfers:
        moved[transfer.phase] += transfer.bytes
    nodes = tuple(
        Node(phase.id, phase.id, tuple(where[place]), sum(where[place].values())) for place, phase in enumerate(problem.phases)
    )
    lines = tuple(
        Line(problem.phases[e.source].id, problem.phases[e.target].id,
             problem.phases[e.source].out_bytes if e.bytes is None else e.bytes, moved[e.source])
        for e in problem.edges
    )  # fmt: skip
    return nodes, lines
