"""No forgery of an answer or of a stored plan is believed: every field of every dataclass in them, and every objective.

Fields come from the types (`forging.fields_in`), so that a new one is forged without anybody's thinking of it.  A forgery is
refused if the format, the verifiers, or a proof done again says no.  What is accepted must be named here, or in what the
product itself declares advisory, with the reason: it says less than was known, or it is right as well.  Of answers there are some
6,000 forgeries, of plans 1,100; the gate tries a twentieth of the answers and two a field of the plans.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from following import followed
from share import SEED, SHARE, share

from rho.backend.cpu.backend import CpuBackend
from rho.backend.graph.phases import Input
from rho.backend.schedule.exact.z3_solver import SolverSteps
from rho.backend.schedule.plan.plan import (
    CellsStep,
    DeviceId,
    ExecutionPlan,
    FenceStep,
    FreeStep,
    LoopStep,
    Queue,
    RunStep,
    Step,
    SubPlan,
    TransferStep,
    WaitStep,
    encode_plan,
)
from rho.backend.schedule.problem import Answer, BoundCertificate, Objective, Status, Synchronisation
from rho.backend.schedule.program import schedule_from_plan
from rho.backend.schedule.search.portfolio import bound_is_reproved
from rho.backend.schedule.verify.judge import Rule
from rho.backend.schedule.verify.schedule_checks import ADVISORY, BoundStatus, bound_status, verify
from rho.backend.vm.executor import execute_plan

from .answers import PROBLEMS, Claim, case
from .forging import HUGE, fields_in, forgeries, places_of, put
from .stored import PROGRAMS, Stored, faults, stored

STEPS = 3_000_000

# ------------------------------------------------------------------------------------------------- answers

FIELDS = fields_in(Answer, Synchronisation)
RIGHT_TOO = (
    "delays sync.fences[1].after: ((0, 0),) → ((4, 0),)",  # which comes after it, and no later than what waits
    "delays sync.waits[3].fence: 1 → 2",  # another fence that tells as much
    "delays sync.waits[3].fence: 1 → 0",
    "delays sync.waits[5].fence: 0 → 1",
    "uncontended sync.fences[2].after: ((1, 0),) → ((1, 1),)",
    "uncontended sync.waits[0].fence: 2 → 0",
    "uncontended sync.waits[3].fence: 0 → 2",
    "merged answer.schedule.combines[0].start: 23 → 24",  # the first merge may wait for the second partial result
)


def refused(name: str, claim: Claim) -> bool:
    problem, answer, right, sync = case(name).problem, claim.answer, case(name).answer.schedule, claim.sync
    if sync is not None and right is not None and answer.schedule is not None:
        sync = followed(sync, right, answer.schedule)
    if verify(problem, answer, sync):
        return True
    return answer != case(name).answer and not bound_is_reproved(problem, answer, SolverSteps(STEPS))


def says_less(name: str, claim: Claim) -> bool:
    """An optimal answer may be called one of which that is not known; the order in which waits are listed says nothing."""
    right = case(name)
    if claim.sync is not None and right.sync is not None and claim.sync != right.sync:
        return replace(claim.sync, waits=frozenset(claim.sync.waits)) == replace(right.sync, waits=frozenset(right.sync.waits))  # type: ignore[arg-type]
    return claim.answer == replace(right.answer, status=Status.GAP)


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_answers_are_right(name: str) -> None:
    right = case(name)
    assert verify(right.problem, right.answer, right.sync) == ()
    assert bound_is_reproved(right.problem, right.answer, SolverSteps(STEPS))


@pytest.mark.parametrize(("kind", "field"), FIELDS, ids=[".".join(one) for one in FIELDS])
def test_no_forged_field_of_an_answer_is_accepted(kind: str, field: str) -> None:
    if f"{kind}.{field}" in ADVISORY:
        return
    cases = [
        (name, what, claim)
        for name in PROBLEMS
        for what, claim in forgeries(Claim(case(name).answer, case(name).sync), kind, field)
    ]
    accepted = [
        f"{name} {what}"
        for name, what, claim in share(cases, seed=hash_of(kind, field))
        if not refused(name, claim) and not says_less(name, claim) and f"{name} {what}" not in RIGHT_TOO
    ]
    assert accepted == []


def hash_of(*words: str) -> int:
    return sum(ord(letter) * 31**place % 1_000_003 for place, letter in enumerate("".join(words)))


def test_what_is_advisory_are_fields() -> None:
    assert set(ADVISORY) <= {f"{kind}.{field}" for kind, field in FIELDS}


def test_every_field_of_an_answer_is_in_one_of_the_cases() -> None:
    """But those of directives: an answer names some of its problem's only in a conflict."""
    directives = {kind for kind, field in FIELDS if (kind, "line") in FIELDS} | {"Line"}
    for kind, field in FIELDS:
        if kind not in directives:
            assert any(places_of(Claim(case(n).answer, case(n).sync), kind, field) for n in PROBLEMS), (kind, field)


# -------------------------------------------------------------------------------------- coherent claims of answers

WHAT_IS_CLAIMED = {
    "less": lambda value: value - 1,
    "a tenth": lambda value: value // 10,
    "nothing": lambda value: 0,
    "more": lambda value: value + 1,
    "as much as fits no number": lambda value: 1 << 63,
}


@pytest.mark.parametrize("claimed", WHAT_IS_CLAIMED)
@pytest.mark.parametrize("objective", Objective, ids=[objective.value for objective in Objective])
def test_no_value_of_an_objective_is_taken_on_trust(objective: Objective, claimed: str) -> None:
    """The forged value goes with a bound, a proof and a status that agree with it."""
    tried = 0
    for name in PROBLEMS:
        right = case(name)
        objectives = right.problem.objectives
        for place, own in enumerate(objectives if right.answer.values else ()):
            value = WHAT_IS_CLAIMED[claimed](right.answer.values[place])
            if own is not objective or value == right.answer.values[place]:
                continue
            values = (*right.answer.values[:place], value, *right.answer.values[place + 1 :])
            bound = value if place == 0 else right.answer.lower_bound
            proof = replace(right.answer.proof, lower_bound=bound, method="z3")
            forged = replace(right.answer, values=values, lower_bound=bound, proof=proof, status=Status.OPTIMAL)
            assert Rule.V9 in {violation.code for violation in verify(right.problem, forged, right.sync)}, name
            tried += 1
    assert tried


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_better_bound_is_believed_only_if_it_is_proved_again(name: str) -> None:
    """An answer that is not the best, called optimal: nothing in the schedule shows that it is not."""
    right = case(name)
    schedule = right.answer.schedule
    if schedule is None:
        return
    late = replace(
        schedule,
        shards=tuple(replace(shard, start=shard.start + 7, end=shard.end + 7) for shard in schedule.shards),
        combines=tuple(replace(step, start=step.start + 7, end=step.end + 7) for step in schedule.combines),
        transfers=tuple(
            replace(moved, start=moved.start + 7, busy=moved.busy + 7, arrive=moved.arrive + 7) for moved in schedule.transfers
        ),
    )
    if Objective.LATENCY is not right.problem.objectives[0]:
        return
    values = (late.makespan, *right.answer.values[1:])
    forged = Answer(Status.OPTIMAL, late, late.makespan, values, BoundCertificate("certificate", late.makespan))
    problem = replace(right.problem, directives=())  # deadlines would refuse it
    assert bound_status(problem, forged) is BoundStatus.CLAIMED
    assert verify(problem, forged) or not bound_is_reproved(problem, forged, SolverSteps(STEPS))


def test_bounds_that_anybody_can_refute() -> None:
    right = case("cut")
    everything_at_home = 2 + 160 + 80 + 1 + 5 + 1 + 1
    free = replace(right.problem, directives=(), devices=tuple(replace(d, memory=None) for d in right.problem.devices))
    for bound, wrong in ((everything_at_home, False), (everything_at_home + 1, True)):
        assert right.answer.schedule is not None
        claim = replace(right.answer, status=Status.GAP, lower_bound=bound, proof=BoundCertificate("z3", bound), values=(bound,))
        found = [v for v in verify(free, claim) if v.code is Rule.V10]
        assert bool(found) == wrong
    impossible = replace(case("impossible").answer, lower_bound=0, proof=BoundCertificate("none", 0))
    assert impossible.conflict is not None
    said = replace(impossible, conflict=replace(impossible.conflict, directives=()))
    assert [violation.code for violation in verify(free, said)] == [Rule.V10]


def test_syncs_are_not_believed_without_queues() -> None:
    right = case("syncs")
    assert [violation.code for violation in verify(right.problem, right.answer)] == [Rule.V9]


# ------------------------------------------------------------------------------------------------ stored plans

PLAN_FIELDS = fields_in(ExecutionPlan)
"""Forged with the profile known; without it most fields cannot be compared."""


def bare(queue: Queue) -> Queue:
    """A queue without what only lets go of memory; fences and waits that stand together have no order."""
    steps: list[object] = []
    for step in queue.steps:
        if isinstance(step, FreeStep):
            continue
        if isinstance(step, FenceStep | WaitStep) and steps and isinstance(steps[-1], frozenset):
            steps[-1] |= {step}
        else:
            steps.append(frozenset({step}) if isinstance(step, FenceStep | WaitStep) else step)
    return replace(queue, steps=tuple(steps))  # type: ignore[arg-type]


def says_no_more(right: ExecutionPlan, forged: ExecutionPlan) -> bool:
    """Queues and phases in another order, memory let go of later, fewer aims, a bound that is not called met."""

    def plain(plan: ExecutionPlan) -> ExecutionPlan:
        queues = tuple(sorted(map(bare, plan.main.queues), key=lambda queue: (queue.device, queue.kind.value)))
        found = plan.prediction and replace(plan.prediction, status=Status.GAP, objectives=())
        phases = tuple(sorted(plan.phases, key=lambda phase: phase.id))
        return replace(plan, main=replace(plan.main, queues=queues), prediction=found, phases=phases)

    if plain(right) != plain(forged):
        return False
    if right.prediction is None or forged.prediction is None:
        return True
    lower = forged.prediction.status in (right.prediction.status, Status.GAP)
    return lower and set(forged.prediction.objectives) <= set(right.prediction.objectives) and bool(forged.prediction.objectives)


@pytest.mark.long
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("known", [True, False], ids=["with its profile", "without"])
def test_the_plans_are_right(name: str, known: bool) -> None:
    assert faults(stored(name), stored(name).text, known) == []


@pytest.mark.parametrize(("kind", "field"), PLAN_FIELDS, ids=[".".join(one) for one in PLAN_FIELDS])
def test_no_forged_field_of_a_stored_plan_is_accepted(kind: str, field: str) -> None:
    name_of = f"{kind}.{field}"
    cases = []
    for name in PROGRAMS if SHARE == 1 else Random(SEED + hash_of(kind, field)).sample(sorted(PROGRAMS), 3):
        right = stored(name)
        for what, forged in forgeries(right.plan, kind, field, most=1):
            text = encode_plan(forged)
            if text == right.text or says_no_more(right.plan, forged):
                continue
            if name_of not in schedule_from_plan.ADVISORY:
                cases.append((name, what, text, forged))
    chosen = share(cases, seed=hash_of(kind, field))[: None if SHARE == 1 else 2]
    accepted = [
        f"{name} {what}"
        for name, what, text, forged in chosen
        if not faults(stored(name), text, True) and not (name_of in ALIKE and runs_alike(stored(name), forged))
    ]
    assert accepted == []


ALIKE = (
    "WaitStep.fence", "SubPlan.queues", "Queue.steps", "TransferStep.box", "Device.threads", "PlannedCut.axis", "Space.dealt",
)  # fmt: skip
"""Another fence that tells as much, the queues of a body, or what lets go of memory there, in another order, another number of
threads, and another space of which the bound holds too: accepted if the plan gives the same values."""


def runs_alike(right: Stored, forged: ExecutionPlan) -> bool:
    """Does the forged plan print and give the same bits?"""
    data = {
        entry.name: np.random.default_rng(1).random([size.constant for size in right.bound.graph.types[entry.result].shape])
        for entry in right.bound.graph.phases if isinstance(entry, Input)
    }  # fmt: skip
    found = []
    for plan in (right.plan, forged):
        results = execute_plan(plan, right.bound, data, {device.id: CpuBackend() for device in plan.devices})
        printed = [one.value.tobytes() for one in results.printed]
        found.append((printed, {name: one.value.tobytes() for name, one in results.outputs.items()}))
    return found[0] == found[1]


def test_what_is_advisory_in_plans_are_fields() -> None:
    assert set(schedule_from_plan.ADVISORY) <= {f"{kind}.{field}" for kind, field in PLAN_FIELDS}


@pytest.mark.parametrize("known", [True, False], ids=["with its profile", "without"])
@pytest.mark.parametrize(
    ("at", "value"),
    [
        (("main", "buffers", 0, "first"), HUGE), (("main", "buffers", 0, "device"), DeviceId("../../etc/passwd")),
        (("main", "buffers", 0, "offset"), 7), (("main", "buffers", 0, "reuses"), 1), (("phases", 0, "id"), 1),
        (("prediction", "baselines", 0, "ticks"), HUGE), (("devices", 0, "id"), DeviceId("../../etc/passwd")),
        (("home",), DeviceId("cpu0\x1b[2J")), (("tick_ns",), HUGE),
        (("tick_ns",), 0), (("space", "chunks"), 0), (("devices", 0, "threads"), 0),
    ],
)  # fmt: skip
def test_what_was_accepted_is_refused(at: tuple[object, ...], value: object, known: bool) -> None:
    right = stored("sums")
    assert faults(right, encode_plan(put(right.plan, at, value)), known)


@pytest.mark.parametrize("known", [True, False], ids=["with its profile", "without"])
@pytest.mark.parametrize("name", ["heat", "inner"])
def test_no_forged_peak_of_a_body_is_believed(name: str, known: bool) -> None:
    """Scratch of steps with bodies is what the plan says of these, so that is judged."""
    right = stored(name)

    def less(body: SubPlan) -> SubPlan:
        return replace(body, peak=tuple((device, size // 2) for device, size in body.peak))

    def forged(step: Step) -> Step:
        return replace(step, body=less(step.body)) if isinstance(step, LoopStep | CellsStep) else step

    queues = tuple(replace(queue, steps=tuple(map(forged, queue.steps))) for queue in right.plan.main.queues)
    assert queues != right.plan.main.queues
    assert faults(right, encode_plan(replace(right.plan, main=replace(right.plan.main, queues=queues))), known)


def test_ticks_are_judged_without_the_profile() -> None:
    """What is read is there by the ticks of the plan itself, in the turns of a loop too, and no wait is over too late."""
    heat = stored("heat").plan
    at = next(
        ("main", "queues", q, "steps", s, "body", "queues", inner, "steps", place, "start")
        for q, queue in enumerate(heat.main.queues)
        for s, step in enumerate(queue.steps) if isinstance(step, LoopStep) and step.rows is not None
        for inner, own in enumerate(step.body.queues)
        for place, one in enumerate(own.steps) if isinstance(one, RunStep) and one.start > 0
    )  # fmt: skip
    assert any(fault.startswith("V4") for fault in faults(stored("heat"), encode_plan(put(heat, at, 0)), False))
    pair = stored("pair").plan
    late = [
        put(pair, ("main", "queues", q, "steps", s), replace(step, arrive=2 * step.arrive + 2))
        for q, queue in enumerate(pair.main.queues) for s, step in enumerate(queue.steps) if isinstance(step, TransferStep)
    ]  # fmt: skip
    assert late and all(faults(stored("pair"), encode_plan(plan), False) for plan in late)
