"""Directives are those of the problem that was asked: what is planned in another form (executions in a row, branches that choose
before they run) obeys them as they were written, or the form is not taken, or they are refused by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest
from share import SEED, repeats

from rho.backend.devices.cost_functions import Ticks
from rho.backend.schedule.instances.directive_resolution import DirectivesRejected, resolve_texts
from rho.backend.schedule.problem import (
    Answer,
    Before,
    Deadline,
    DeviceGroup,
    Directive,
    Edge,
    IssueBefore,
    Keep,
    Link,
    NoSplit,
    Objective,
    PhaseIndex,
    PhaseTask,
    PlaceDirective,
    Problem,
    Replicate,
    Select,
    SourceLine,
    Speculate,
    Split,
)
from rho.backend.schedule.search.branch_forms import plan_selects
from rho.backend.schedule.search.instance_transformations import unrolled
from rho.backend.schedule.search.lexicographic_search import plan_objectives
from rho.backend.schedule.search.strategy import FAST

from .naive_directives import Directives

DEVICES = (DeviceGroup("cpu0", "cpu", home=True), DeviceGroup("gpu0", "gpu"))
LINKS = (Link("pcie", "cpu0", "gpu0", 1),)


def task(id: str, cpu: int, gpu: int, rows: int = 0, effect: bool = False) -> PhaseTask:
    ticks = {"cpu": Ticks(((max(1, rows), cpu),)), "gpu": Ticks(((max(1, rows), gpu),))}
    return PhaseTask(id, ticks, rows, out_bytes=4, home=effect, effect=effect)


def each_phase(directive: Directive, of: dict[int, int]) -> Directive:
    """The directive of other phases, one for one."""

    def to(phase: int) -> PhaseIndex:
        return PhaseIndex(of[phase])

    match directive:
        case PlaceDirective():
            return replace(directive, phases=tuple(map(to, directive.phases)))
        case Before() | IssueBefore():
            return replace(directive, first=tuple(map(to, directive.first)), then=tuple(map(to, directive.then)))
        case Split() | NoSplit() | Replicate() | Keep():
            return replace(directive, phase=to(directive.phase))
        case _:
            return directive


def naive(problem: Problem, answer: Answer) -> Directives:
    assert answer.schedule is not None
    return Directives(replace(problem, directives=()), answer.schedule)


# --------------------------------------------------------------------------------------------- executions in a row


def of_batches(r: Random) -> Problem:
    phases = tuple(task(f"p{place}", r.randint(1, 6), r.randint(1, 6), r.choice((0, 0, 4))) for place in range(r.randint(2, 4)))
    edges = tuple(
        Edge(PhaseIndex(a), PhaseIndex(b)) for b in range(len(phases)) for a in range(b) if r.random() < 0.25
    )  # fmt: skip
    return Problem(DEVICES, LINKS, phases, edges, objectives=(Objective.THROUGHPUT,), batches=r.randint(2, 3))


def texts_of(r: Random, problem: Problem) -> list[str]:
    ids = [phase.id for phase in problem.phases]
    a, b = r.sample(ids, 2)
    cut = [phase.id for phase in problem.phases if phase.rows]
    every = [
        f"order {a} {b}", f"order {' '.join(r.sample(ids, len(ids)))}", f"{a} before {b}", f"{a} issue_before {b}",
        f"place {a} on gpu0", f"keep {a} on gpu0",
        f"replicate {a}", f"nosplit {a}", *(f"split {one} rows 3:1 over cpu0 gpu0" for one in cut),
    ]  # fmt: skip
    return r.sample(every, r.randint(1, 2))


@pytest.mark.parametrize("seed", range(repeats(400)))
def test_every_execution_obeys_what_was_asked(seed: int) -> None:
    r = Random(SEED * 1_000_003 + seed)
    problem = of_batches(r)
    try:
        directives = resolve_texts(problem, texts_of(r, problem), []).directives
    except DirectivesRejected:
        return
    asked = replace(problem, directives=directives)
    answer = plan_objectives(asked, FAST)
    if answer.schedule is None:
        return
    judge, count = naive(unrolled(asked), answer), len(problem.phases)
    for batch in range(problem.batches):
        of = {phase: phase + batch * count for phase in range(count)}
        for directive in directives:
            assert not any(judge.against(each_phase(directive, of))), (seed, batch, directive.line.text)


def test_an_order_with_batches_is_kept() -> None:
    """Each execution has c before a."""
    phases = (task("a", 5, 9), task("b", 6, 4), task("c", 3, 3))
    problem = Problem(DEVICES, LINKS, phases, (), objectives=(Objective.THROUGHPUT,), batches=2)
    asked = replace(problem, directives=resolve_texts(problem, ["order c a"], []).directives)
    answer = plan_objectives(asked, FAST)
    assert answer.schedule is not None
    opens = {phase: min(s.start for s in answer.schedule.shards if s.phase == phase) for phase in range(6)}
    for batch in (0, 3):
        assert opens[batch + 2] <= opens[batch]


# ----------------------------------------------------------------------------- branches that choose before they run


def of_branch(r: Random, effect: bool = False) -> Problem:
    """z of p q, or of r s, by b; and w beside them."""
    names = ["x", "b", "p", "q", "r", "s", "z", "w"]
    phases = [task(name, r.randint(1, 6), r.randint(1, 6), r.choice((0, 4)) if name in "pqrs" else 0) for name in names]
    if effect:
        phases[names.index("q")] = task("q", 1, 1, effect=True)
    joined = [(0, 2), (0, 4), (2, 3), (4, 5), (3, 6), (5, 6), (1, 6), (0, 1), (0, 7)]
    if r.random() < 0.5:  # the phases of an arm have no order by themselves
        joined = [(0, 2), (0, 3), (0, 4), (0, 5), (2, 6), (3, 6), (4, 6), (5, 6), (1, 6), (0, 1), (0, 7)]
    edges = tuple(Edge(PhaseIndex(a), PhaseIndex(b)) for a, b in joined)
    arms = tuple(map(PhaseIndex, (2, 3))), tuple(map(PhaseIndex, (4, 5)))
    aims = r.choice(((Objective.LATENCY,), (Objective.SYNCS,), (Objective.MACHINES,)))
    selects = (Select(PhaseIndex(6), PhaseIndex(1), *arms),)
    return Problem(DEVICES, LINKS, tuple(phases), edges, objectives=aims, selects=selects)


def broken(problem: Problem, form: Problem, answer: Answer, directives: tuple[Directive, ...]) -> Iterator[str]:
    """What a plan does against directives as they were written: of a late branch, one step, it can be said only where it is, and
    what comes before or after all of it."""
    judge, place = naive(form, answer), {phase.id: at for at, phase in enumerate(form.phases)}
    late = 6 not in answer.speculated
    arms = {2, 3, 4, 5} if late else set()
    of = {at: place[phase.id if at not in arms else "z"] for at, phase in enumerate(problem.phases)}
    for directive in directives:
        match directive:
            case Deadline():
                continue
            case Speculate():
                if late:
                    yield directive.line.text
                continue
            case Before() | IssueBefore():
                pairs = [(a, b) for a in directive.first for b in directive.then if not (a in arms and b == 6 and late)]
                if any(of[a] == of[b] for a, b in pairs):
                    yield directive.line.text
                    continue
                single = [replace(directive, first=(PhaseIndex(of[a]),), then=(PhaseIndex(of[b]),)) for a, b in pairs]
                yield from (directive.line.text for one in single if any(judge.against(one)))
            case PlaceDirective():
                if any(judge.against(each_phase(directive, of))):
                    yield directive.line.text
            case NoSplit():
                if directive.phase not in arms and any(judge.against(each_phase(directive, of))):
                    yield directive.line.text
            case Split() | Keep() | Replicate():
                spoken = {getattr(directive, name, None) for name in ("phase", "first", "then")}
                if spoken & arms or any(judge.against(each_phase(directive, of))):
                    yield directive.line.text


@pytest.mark.parametrize("seed", range(repeats(600)))
def test_every_form_of_a_branch_obeys_what_was_asked(seed: int) -> None:
    r = Random(SEED * 1_000_003 + seed)
    problem = of_branch(r, effect=seed % 4 == 0)
    try:
        directives = resolve_texts(problem, [*texts_of(r, problem), *r.choice(([], [], ["speculate z"]))], []).directives
    except DirectivesRejected:
        return
    planned = plan_selects(replace(problem, directives=directives), FAST)
    if planned.answer.schedule is not None:
        assert not list(broken(problem, planned.problem, planned.answer, directives)), seed


@pytest.mark.parametrize(
    "text", ["split p rows 3:1 over cpu0 gpu0", "p before q", "keep p on gpu0", "order p q", "replicate p"]
)
def test_what_only_two_arms_can_obey_is_refused_beside_an_effect(text: str) -> None:
    problem = of_branch(Random(3), effect=True)
    phases = tuple(replace(phase, rows=4, ticks={kind: Ticks(((4, 2),)) for kind in ("cpu", "gpu")}) if phase.id == "p" else phase
                   for phase in problem.phases)  # fmt: skip
    with pytest.raises(DirectivesRejected) as refused:
        resolve_texts(replace(problem, phases=phases), [text], [])
    assert "has an effect" in refused.value.diagnostics[0].message


def test_an_arm_that_is_split_is_run_as_it_was_asked() -> None:
    """The late form dropped `split` of an arm: the branch ran as one step on one device."""
    problem = replace(of_branch(Random(1)), objectives=(Objective.SYNCS,))
    phases = tuple(replace(phase, rows=4, ticks={kind: Ticks(((4, 8),)) for kind in ("cpu", "gpu")}) if phase.id == "p" else phase
                   for phase in problem.phases)  # fmt: skip
    line = SourceLine(1, "split p rows 1:1 over cpu0 gpu0")
    asked = replace(problem, phases=phases, directives=(Split(line, PhaseIndex(2), (1, 1), ("cpu0", "gpu0")),))
    planned = plan_selects(asked, FAST)
    assert planned.answer.speculated == (6,)
    assert planned.answer.schedule is not None
    assert sum(shard.phase == 2 for shard in planned.answer.schedule.shards) == 2
