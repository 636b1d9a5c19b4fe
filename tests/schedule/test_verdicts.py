"""The verifier agrees with a judge that counts units and ticks (`naive`), on schedules that are right and on corrupted ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, product
from random import Random

import pytest
from share import drawing, repeats

from rho.backend.devices.cost_functions import Ticks
from rho.backend.schedule.problem import (
    Before,
    Deadline,
    Decisions,
    DeviceGroup,
    DeviceIndex,
    Directive,
    DistributedMode,
    Edge,
    IssueBefore,
    Keep,
    LimitMachines,
    LimitMemory,
    Link,
    NoSplit,
    PhaseIndex,
    PhaseTask,
    PlaceDirective,
    Problem,
    QueueIndex,
    Replicate,
    Schedule,
    Shard,
    SourceLine,
    Split,
    Synchronisation,
    Transfer,
    Wait,
)
from rho.backend.schedule.timeline.fence_insertion import Merging, synchronise
from rho.backend.schedule.timeline.serial_sgs import decode_schedule
from rho.backend.schedule.verify.schedule_checks import memory_in_use, verify_schedule

from .drawn import decisions_for, problem_of
from .naive import Naive
from .naive_order import NaiveOrder

BLOCKS = 10


def drawn(r: Random) -> tuple[Problem, Schedule] | None:
    """A problem and a schedule of it, which was made without knowing its directives and limits of memory."""
    problem = problem_of(r)
    modes = decisions_for(r, problem)
    problem = with_rows_read(r, problem) if r.random() < 0.3 else problem
    problem = run_together(r, problem, modes) if r.random() < 0.3 else problem
    schedule = decode_schedule(unlimited(problem), modes)
    if schedule is None:
        return None
    directives = tuple(directive_for(r, problem, schedule) for _ in range(r.randint(0, 3)))
    return replace(problem, directives=directives), schedule


def unlimited(problem: Problem) -> Problem:
    return replace(problem, devices=tuple(replace(group, memory=None) for group in problem.devices))


def directive_for(r: Random, problem: Problem, schedule: Schedule) -> Directive:
    """Any directive, kept or broken by the schedule, often only just."""
    line = SourceLine(1, "a directive")
    phases = [PhaseIndex(place) for place in range(len(problem.phases))]
    one, other = r.choice(phases), r.choice(phases)
    some = tuple(r.sample(phases, r.randint(1, min(2, len(phases)))))
    instances = problem.device_names()
    name = r.choice([*instances, *(group.id for group in problem.devices), "gpu"])
    used = sorted({shard.device for shard in schedule.shards})
    match r.randrange(10):
        case 0:
            return PlaceDirective(line, some, name)
        case 1:
            return Before(line, some, (other,))
        case 2:
            return IssueBefore(line, some, (other,))
        case 3:
            devices = tuple(r.sample(instances, r.randint(1, len(instances))))
            return Split(line, one, r.choice([(), tuple(r.randint(1, 3) for _ in devices)]), devices)
        case 4:
            return NoSplit(line, one)
        case 5:
            return Replicate(line, one)
        case 6:
            return Keep(line, one, name)
        case 7:
            return LimitMemory(line, name, r.randint(0, 40))
        case 8:
            return LimitMachines(line, max(1, len(used) + r.choice([-1, 0])))
        case _:
            return Deadline(line, max(0, schedule.makespan + r.choice([-1, 0, 1])))


def with_rows_read(r: Random, problem: Problem) -> Problem:
    """Atomic phases that read only some rows."""
    edges = []
    for edge in problem.edges:
        rows = problem.phases[edge.source].rows
        if rows and problem.phases[edge.target].rows == 0:
            first = r.randrange(rows)
            edge = replace(edge, only=(first, r.randint(first + 1, rows)))
        edges.append(edge)
    return replace(problem, edges=tuple(edges))


def run_together(r: Random, problem: Problem, decisions: Decisions) -> Problem:
    """One of the phases that are cut is run by its devices at the same time, which tell each other over a link."""
    able = [place for place, task in enumerate(problem.phases) if task.rows and not task.combine and not task.home]
    if not able:
        return problem
    place = r.choice(able)
    mode = tuple((DeviceIndex(device), rows) for device, rows in decisions.modes[place])
    channels = [
        (link, a, b)
        for link in range(len(problem.links)) for a, _ in mode for b, _ in mode
        if Naive(problem, Schedule((), (), ())).direction(link, a, b) is not None
    ]  # fmt: skip
    gathers = any(device == problem.home for device, _ in mode) and r.random() < 0.5
    scratch = tuple(r.randint(0, 6) for _ in mode)
    distributed = DistributedMode(mode, scratch, tuple(r.sample(channels, r.randint(0, len(channels)))), gathers)
    ticks = r.randint(1, 6)
    task = replace(
        problem.phases[place], distributed=distributed, ticks=dict.fromkeys(("cpu", "gpu"), Ticks(((1, ticks), (9, ticks))))
    )
    return replace(problem, phases=(*problem.phases[:place], task, *problem.phases[place + 1 :]))


def corrupted(r: Random, problem: Problem, schedule: Schedule) -> Schedule:
    """One thing changed: a step moved in time or place, cut otherwise, lost or doubled.  Nothing ends before it begins."""
    lists = {"shards": schedule.shards, "combines": schedule.combines, "transfers": schedule.transfers}
    kind = r.choice([name for name, steps in lists.items() if steps])
    steps = list(lists[kind])
    at = r.randrange(len(steps))
    step = steps[at]
    by = r.choice([-2, -1, -1, 1, 1, 2])
    if r.random() < 0.4:  # to where something else begins or ends, or nearly
        every = [tick for items in lists.values() for item in items for tick in (item.start, getattr(item, "end", item.start))]
        by = r.choice(every) - step.start + r.choice([-1, 0, 0, 1])
    later = {name: getattr(step, name) + by for name in ("start", "busy", "arrive", "end") if hasattr(step, name)}
    changes = [later, later, {name: later[name] for name in later if name != "start"}]
    changes += [{name: later[name]} for name in later]
    if kind != "combines":
        changes += [{"first": max(0, step.first + by)}, {"stop": step.stop + by}]  # type: ignore[union-attr]
        changes += [
            {name: r.randrange(len(problem.device_names()))} for name in ("device", "source", "target") if hasattr(step, name)
        ]
    if kind == "transfers":
        out = problem.phases[step.phase].out_bytes
        changes += [{"bytes": max(0, step.bytes + by)}, {"bytes": out}, {"partial": not step.partial}]  # type: ignore[union-attr]
        changes += [{"link": r.choice([None, -1, *range(len(problem.links) + 1)])}]
    changed = r.choice(changes)
    match r.randrange(12):
        case 0:
            steps.pop(at)
        case 1:
            steps.append(step)
        case _:
            forged = replace(step, **changed)  # type: ignore[type-var]
            spans = [("start", "end"), ("first", "stop")]
            if all(getattr(forged, low, 0) <= getattr(forged, high, 1 << 60) for low, high in spans):
                steps[at] = forged
    return replace(schedule, **{kind: tuple(steps)})


def cases(r: Random, count: int) -> Iterator[tuple[Problem, Schedule]]:
    for _ in range(count):
        found = drawn(r)
        if found is not None:
            problem, schedule = found
            yield problem, schedule
            for _ in range(4):
                yield problem, corrupted(r, problem, schedule)


def agree(problem: Problem, schedule: Schedule) -> bool:
    """Do the verifier and the naive judge find the same rules broken?"""
    naive = Naive(problem, schedule)
    expected, codes = naive.codes(), {violation.code.name for violation in verify_schedule(problem, schedule)}
    if "V3" in expected:  # the rest speaks of rows that are not there
        return "V3" in codes
    if expected & {"V1", "V4", "V6"}:  # what is in use follows from what each step reads
        return codes - {"V5"} == expected - {"V5"}
    return codes == expected and {d: peak for d, (peak, _) in memory_in_use(problem, schedule).items()} == naive.peaks()


@pytest.mark.parametrize("block", range(BLOCKS))
def test_the_verifier_agrees_with_the_naive_judge(block: int) -> None:
    for number, (problem, schedule) in enumerate(cases(drawing("verdicts", block), repeats(300))):
        assert agree(problem, schedule), (number, problem, schedule, *verify_schedule(problem, schedule))


@pytest.mark.parametrize(("seed", "block", "number"), [(3101, 6, 494), (12, 7, 650)])
def test_the_verifier_agreed_not(seed: int, block: int, number: int) -> None:
    """Draws about which the two once differed."""
    (case,) = islice(cases(Random(f"{seed} verdicts {block}"), number), number, number + 1)
    assert agree(*case), verify_schedule(*case)


@pytest.mark.parametrize("rows", [0, 2])
@pytest.mark.parametrize("size", [0, 1, 2])
def test_every_part_of_a_small_output_is_sent(size: int, rows: int) -> None:
    """Also of no bytes, and parts that the output has not: there and back, read, kept and on all devices."""
    devices = (DeviceGroup("home", "h", home=True), DeviceGroup("far", "f"))
    ticks = {kind: Ticks(((1, 1),)) for kind in "hf"}
    phases = (PhaseTask("p", ticks, rows=rows, out_bytes=size), PhaseTask("q", ticks))
    line = SourceLine(1, "a directive")
    first, then = PhaseIndex(0), PhaseIndex(1)
    home, far = DeviceIndex(0), DeviceIndex(1)
    parts = [None, *((low, high) for low in range(4) for high in range(low, 4))]
    wanted = [(), (Keep(line, first, "far"),), (Replicate(line, first),)]
    for edges, directives, one, back in product([(), (Edge(first, then),)], wanted, parts, parts):
        problem = Problem(devices, (Link("l", "home", "far", 0, None),), phases, edges, directives)
        sent = [(home, far, 2, one), (far, home, 4, back)]
        size_of = Naive(problem, Schedule((), (), ())).bytes
        transfers = tuple(
            Transfer(first, a, b, *part, size_of(first, part, None), 0, at, at, at) for a, b, at, part in sent if part is not None
        )
        for device in (home, far):
            shards = (Shard(first, home, 0, rows or 1, 0, 1 if rows == 0 else 2), Shard(then, device, 0, 1, 6, 7))
            assert agree(problem, Schedule(shards, (), transfers)), (problem, shards, transfers)


# ------------------------------------------------------------------------------------------------- order


def disordered(r: Random, sync: Synchronisation) -> Synchronisation:
    """One thing changed: a step in another place, a wait or fence that says something else, is lost or too much."""
    queues, fences, waits = list(sync.queues), list(sync.fences), list(sync.waits)
    q = r.randrange(len(queues))
    by = r.choice([-1, 1])
    match r.randrange(16):
        case 0 | 1 | 2 if waits:
            waits.pop(r.randrange(len(waits)))
        case 3 | 4 if fences:  # a wait more
            waits.append(Wait(QueueIndex(q), r.randrange(len(queues[q].steps) or 1), r.randrange(len(fences))))
        case 5 if waits:
            at = r.randrange(len(waits))
            waits[at] = replace(waits[at], position=waits[at].position + by)
        case 6 if waits:
            at = r.randrange(len(waits))
            waits[at] = replace(waits[at], fence=waits[at].fence + by)
        case 7 if waits:
            at = r.randrange(len(waits))
            waits[at] = replace(waits[at], queue=QueueIndex(waits[at].queue + by))
        case 8 | 9 if fences:
            at = r.randrange(len(fences))
            after = list(fences[at].after)
            place = r.randrange(len(after))
            other, p = after[place]
            after[place] = r.choice([(other, p + by), (QueueIndex(other + by), p), after[place], after[place]])
            after = r.choice([after, after[1:], [*after, (QueueIndex(q), p)], after])
            fences[at] = replace(fences[at], after=tuple(after))
        case 10 if fences:
            at = r.randrange(len(fences))
            changes = [{"id": fences[at].id + by}, {"source": DeviceIndex((fences[at].source + 1) % 3)}]
            fences[at] = replace(fences[at], **r.choice(changes))  # type: ignore[arg-type]
        case 11 | 12 if len(queues[q].steps) > 1:
            steps = list(queues[q].steps)
            at = r.randrange(len(steps) - 1)
            steps[at : at + 2] = reversed(steps[at : at + 2])
            queues[q] = replace(queues[q], steps=tuple(steps))
        case 13 if queues[q].steps:  # a step in another queue, or in none
            step, *rest = queues[q].steps
            queues[q] = replace(queues[q], steps=tuple(rest))
            if r.random() < 0.8:
                other = r.randrange(len(queues))
                queues[other] = replace(queues[other], steps=(step, *queues[other].steps))
        case 14:  # a channel in two queues
            steps = queues[q].steps
            queues[q] = replace(queues[q], steps=steps[:-1])
            queues.append(replace(queues[q], name="another", steps=steps[-1:]))
        case _:
            other = r.choice(queues)
            changes = [{"name": other.name}, {"device": other.device}, {"kind": other.kind}]
            queues[q] = replace(queues[q], **r.choice(changes))  # type: ignore[arg-type]
    return Synchronisation(tuple(queues), tuple(fences), tuple(waits))


@pytest.mark.parametrize("block", range(BLOCKS))
def test_the_order_of_queues_is_that_of_the_naive_judge(block: int) -> None:
    r = drawing("queues", block)
    for number in range(repeats(300)):
        found = drawn(r)
        if found is None:
            continue
        limited, schedule = found
        before = tuple(directive for directive in limited.directives if isinstance(directive, Before))
        problem = unlimited(replace(limited, directives=before))
        if verify_schedule(problem, schedule):
            continue
        right = synchronise(problem, schedule, r.choice(list(Merging)))
        for sync in (right, *(disordered(r, right) for _ in range(4))):
            expected = NaiveOrder(problem, schedule).order_codes(sync)
            violations = verify_schedule(problem, schedule, sync)
            assert {v.code.name for v in violations} == expected, (number, problem, schedule, sync, *violations)
