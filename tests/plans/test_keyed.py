"""Reductions by key and products of integers cut along what they reduce: bins and sums of shards are joined at home."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from share import seeds

from rho import backend
from rho.backend.devices.profile_toml import read_profile
from rho.backend.devices.this_machine import load_profile
from rho.backend.graph import traverse
from rho.backend.graph.bind_sizes import BoundGraph
from rho.backend.graph.phases import LibraryPhase
from rho.backend.schedule.plan.plan import CombineStep, ExecutionPlan, RunStep, decode_plan
from rho.backend.schedule.program.plan_program import faults_of_stored, plan_program
from rho.backend.schedule.program_facts.partitioning import cuts_of, reason_not_cut
from rho.lang.diagnostics.model import RhoError, RunFailed
from rho.tests.harness.tiers import checked

from .drawn import Drawn, profile
from .judge import judge
from .planning import QUICK, Case, case_of

SHAPES = {"k": (6000,), "v": (6000,), "w": (6000, 3), "a": (5, 6000), "b": (6000, 4)}
FORMS = ("7 FUNC⌸(k ⋄ v×3)", "(7|k)×300 FUNC⌸(k ⋄ v)", "7 +⌸(k ⋄ w+1)", "7 ∨⌸(k ⋄ v>2)", "7 ∧⌸(k ⋄ v>2)", "7 +⌸(k ⋄ v>0)",
         "7 +⌸(k ⋄ 1)", "7 3 +⌸(k ⋄ w)", "a+.×b", "(a×2)+.×b", "v+.×k", "v+.×w")  # fmt: skip


def keyed(r: Random) -> Drawn:
    """A program of one or two such reductions, each of which another phase reads; the last is printed."""
    functions = iter(r.choices("+×", k=2))
    chosen = [r.choice(FORMS).replace("FUNC", next(functions)).replace("7 3", "7") for _ in range(r.randint(1, 2))]
    text = "\n".join(
        ("input k : idx<7>[n]", "input v : i64[n]", "input w : i64[n 3]", "input a : i64[5 n]", "input b : i64[n 4]",
         *(f"r{at} ← {form}\noutput o{at} ← r{at}+1" for at, form in enumerate(chosen)))
    )  # fmt: skip
    return Drawn(text.replace("(7|k)×300", "300"), SHAPES, profile(r, 8 * 18_000, devices=r.randint(2, 4), linked=True))


def data(seed: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    return {name: random.integers(0, 7 if name == "k" else 50, shape) for name, shape in SHAPES.items()}


def case(seed: int) -> Case | None:
    drawn = keyed(Random(seed))
    try:
        one = case_of(drawn, QUICK)
    except RhoError as error:
        assert {each.code for each in error.diagnostics} <= {"SCH103", "SCH104"}, (drawn.text, error)
        return None
    if all(len(traverse.results(phase)) < 2 for phase in one.graph.phases):  # it does not know that results travel together
        faults = judge(one.plan, one.profile, one.graph)
        assert [fault for fault in faults if " takes " not in fault] == [], drawn.text  # its prices are of floats
    stored = decode_plan(one.stored)
    assert faults_of_stored(stored, one.bound, one.core, read_profile("<drawn>", drawn.profile)) == [], drawn.text
    return one


@pytest.mark.parametrize("seed", seeds(80, least=6))
def test_a_plan_of_shards_has_the_values_of_one_device(seed: int) -> None:
    one = case(seed)
    if one is None:
        return
    inputs = data(seed)
    plain = backend.execute(backend.plan(one.bound), one.bound, inputs)
    cut = backend.execute(one.planned.plan, one.bound, inputs, simulated=True)
    for name, output in plain.outputs.items():
        assert np.array_equal(np.asarray(output.value), np.asarray(cut.outputs[name].value)), seed


def planned(text: str, **shapes: tuple[int, ...]) -> tuple[ExecutionPlan, BoundGraph]:
    core = checked(text)
    assert core is not None
    bound = backend.bind_shapes(core, shapes)
    return plan_program(core, bound, load_profile("workstation"), budget=QUICK).plan, bound


COUNTS = "input k : i64[n]\nc ← 100 +⌸((100|k×k) ⋄ 1+k)\noutput c"


def test_counts_by_key_are_cut_over_devices() -> None:
    plan, _ = planned(COUNTS, k=(20_000_000,))
    steps = [step for queue in plan.main.queues for step in queue.steps]
    phases = {step.phase for step in steps if isinstance(step, CombineStep)}
    assert phases and max(sum(isinstance(s, RunStep) and s.phase == phase for s in steps) for phase in phases) > 1


@pytest.mark.parametrize("text", ["7 ⌈⌸((⍳7),k ⋄ (7⍴0),k)", "7 +⌸(k ⋄ f)", "7 -⌸((⍳7),k ⋄ (7⍴0),k)"])
def test_what_depends_on_the_order_or_has_no_value_for_no_items_is_not_cut(text: str) -> None:
    """A shard may have no item of a bin."""
    _, bound = planned(f"input k : idx<7>[n]\ninput f : f64[n]\noutput o ← {text}", k=(50_000,), f=(50_000,))
    (phase,) = (phase for phase in bound.graph.phases if isinstance(phase, LibraryPhase) and phase.op == "key_reduce")
    assert not cuts_of(phase, bound.graph.types)
    reason = "in the order of its items" if " f)" in text else "does not join partial results"
    assert reason in reason_not_cut(phase, bound.graph.types)


def test_the_first_key_outside_the_bins_is_named_as_on_one_device() -> None:
    plan, bound = planned(COUNTS.replace("100|k×k", "k"), k=(20_000_000,))
    k = np.zeros(20_000_000, np.int64)
    k[[3_000_000, 19_000_000]] = 200, -7
    messages = []
    for one, simulated in ((backend.plan(bound), False), (plan, True)):
        with pytest.raises(RunFailed) as failure:
            backend.execute(one, bound, {"k": k}, simulated=simulated)
        messages.append([each.message for each in failure.value.diagnostics])
    assert messages[0] == messages[1] and "200" in messages[0][0]
