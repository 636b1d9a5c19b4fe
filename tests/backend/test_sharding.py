"""Which boxes shards read and make: scenarios S23 to S27 of the design with their numbers, halos, reshapes and subtrees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from values import is_within

from rho import backend
from rho.backend.cpu.backend import CpuBackend
from rho.backend.devices.cost_functions import Ticks
from rho.backend.devices.profile import DeviceProfile, LinkProfile, Profile
from rho.backend.distributed.buffers import QueueClock
from rho.backend.graph.bind_sizes import BoundGraph
from rho.backend.graph.phases import AxisKind, LibraryPhase, Phase, Structured
from rho.backend.schedule.plan.plan import CombineStep, ExecutionPlan, RunStep, TransferStep
from rho.backend.schedule.program.distributed_loop import ProgramProblem
from rho.backend.schedule.program.plan_from_schedule import plan_of
from rho.backend.schedule.program.problem_from_program import problem_of
from rho.backend.schedule.program_facts.partitioning import (
    Cut,
    box_of,
    cuts_of,
    max_subtrees,
    operand_boxes,
    result_boxes,
    space_of,
    subtrees,
)
from rho.backend.schedule.verify.plan_checks import check_plan
from rho.backend.vm.executor import execute_plan
from rho.tests.backend.cut_reads import boxes_of, elements_read, marginal_bytes
from rho.tests.backend.quick import split_evenly, with_modes
from rho.tests.harness.tiers import checked


def bound_of(text: str, without: frozenset[str] = frozenset(), **inputs: np.ndarray) -> BoundGraph:  # type: ignore[type-arg]
    core = checked(text)
    assert core is not None, text
    return backend.load(core, inputs, without=without)


def phases_of(bound: BoundGraph) -> list[Phase]:
    return [p for p in bound.graph.phases if isinstance(p, Structured | LibraryPhase)]


def stub(phase: Phase, group: object, cut: Cut | None, tick_ns: int) -> Ticks:
    """One tick a row."""
    return Ticks(((1, 5),)) if cut is None else Ticks(((1, 1), (max(2, cut.rows), cut.rows)))


def cluster(count: int) -> Profile:
    devices = [DeviceProfile("cpu0", "cpu", home=True), *(DeviceProfile(f"d{i}", "cpu") for i in range(1, count))]
    return Profile(tuple(devices), tuple(LinkProfile("cpu0", d.name, latency_ns=1) for d in devices[1:]))


def split(bound: BoundGraph, count: int) -> tuple[ProgramProblem, ExecutionPlan]:
    program = problem_of(bound, cluster(count), ticks_of=stub)
    answer = split_evenly(program.problem)
    assert answer is not None
    plan = plan_of(program, answer)
    assert check_plan(plan, bound) == ()
    return program, plan


def run(plan: ExecutionPlan, bound: BoundGraph, **inputs: np.ndarray):  # type: ignore[no-untyped-def, type-arg]
    return execute_plan(plan, bound, inputs, {d.id: CpuBackend() for d in plan.devices}, pace=QueueClock.SIMULATED)


def steps(plan: ExecutionPlan, kind: type) -> list:  # type: ignore[type-arg]
    return [step for queue in plan.main.queues for step in queue.steps if isinstance(step, kind)]


# ------------------------------------------------------------------------------------ S23 to S27


@pytest.mark.parametrize("count", [2, 3])
def test_s23_a_linear_layer_and_what_follows_are_one_fused_step_a_shard(count: int) -> None:
    """Rows of the batch: no transfer but of inputs and of the result, between the product and ReLU none."""
    text = "input X : f64[b i]\ninput W : f64[i o]\ninput c : f64[o]\nY ← 0⌈(X+.×W)+⍤1⊢c\noutput Y"
    rng = np.random.default_rng(0)
    data = {"X": rng.standard_normal((12, 5)), "W": rng.standard_normal((5, 4)), "c": rng.standard_normal(4)}
    bound = bound_of(text, **data)
    product, relu = phases_of(bound)
    assert isinstance(product, LibraryPhase)
    assert isinstance(relu, Structured)
    _, plan = split(bound, count)
    fused = [step for step in steps(plan, RunStep) if step.phase == relu.id]
    assert [step.box for step in fused] == [((12 * k // count, 12 * (k + 1) // count), (0, 4)) for k in range(count)]
    between = [step for step in steps(plan, TransferStep) if step.value == product.results[0]]
    assert between == []
    found = run(plan, bound, **data).outputs["Y"].value
    assert is_within(found, np.maximum(data["X"] @ data["W"] + data["c"], 0))


def test_s24_what_a_cut_matrix_product_reads() -> None:
    bound = bound_of("input A : f64[a b]\ninput B : f64[b c]\nC ← A+.×B\noutput C", A=np.zeros((10, 5)), B=np.zeros((5, 12)))
    (product,) = phases_of(bound)
    types, space = bound.graph.types, (10, 12)
    assert space_of(product, types) == space
    for parts, elements in (({1: (6, 6)}, 160), ({0: (5, 5)}, 170), ({0: (5, 5), 1: (6, 6)}, 220), ({1: (3, 3, 3, 3)}, 260)):
        assert elements_read(product, types, boxes_of(space, parts)) == elements
    assert marginal_bytes(product, types, boxes_of(space, {1: (6, 6)})) == 8 * (160 - 110)


def test_s24_as_product_then_sum_over_the_middle_axis() -> None:
    """The same product as one structured phase: index [10, 12], the middle axis reduced."""
    text = "input A : f64[a b]\ninput B : f64[b c]\nC ← A⌈.⌊B\noutput C"
    bound = bound_of(text, A=np.zeros((10, 5)), B=np.zeros((5, 12)))
    reduction = next(p for p in phases_of(bound) if isinstance(p, Structured) and p.axes[-1].kind is AxisKind.REDUCE)
    types = bound.graph.types
    space = space_of(reduction, types)
    assert space == (10, 12, 5)
    for parts, elements in (({1: (6, 6)}, 160), ({0: (5, 5)}, 170), ({0: (5, 5), 1: (6, 6)}, 220), ({1: (3, 3, 3, 3)}, 260)):
        assert elements_read(reduction, types, boxes_of(space, parts)) == elements


def convolution() -> tuple[BoundGraph, Structured]:
    windows = "+".join(f"(8 8↑{i} {j}↓I)" for i in range(3) for j in range(3))
    text = f"input I : f64[10 10]\nC ← {windows}\noutput C"
    bound = bound_of(text, I=np.arange(100.0).reshape(10, 10))
    (phase,) = phases_of(bound)
    assert isinstance(phase, Structured)
    return bound, phase


def test_s25_a_convolution_has_a_halo() -> None:
    bound, phase = convolution()
    types = bound.graph.types
    upper, lower = (box_of(Cut(0, 8), (8, 8), *rows) for rows in ((0, 4), (4, 8)))
    read = [[part[0] for part in operand_boxes(phase, types, box)] for box in (upper, lower)]
    hulls = [(min(a for a, _ in one), max(b for _, b in one)) for one in read]
    assert hulls == [(0, 6), (4, 10)]
    assert sum(b - a for a, b in hulls) == 12
    assert result_boxes(phase, types, upper) == (((0, 4), (0, 8)),)
    assert result_boxes(phase, types, lower) == (((4, 8), (0, 8)),)
    assert marginal_bytes(phase, types, [upper, lower]) == 2 * 10 * 8


def test_s25_runs_with_its_halo() -> None:
    bound, phase = convolution()
    program, plan = split(bound, 2)
    (edge,) = [e for e in program.problem.edges if program.phases[e.target] is phase]
    assert (edge.whole, edge.halo) == (False, 1)
    (moved,) = [s for s in steps(plan, TransferStep) if s.target == "d1"]
    assert moved.box == ((4, 10), (0, 10))
    image = np.arange(100.0).reshape(10, 10)
    expected = sum(image[i : i + 8, j : j + 8] for i in range(3) for j in range(3))
    assert np.array_equal(run(plan, bound, I=image).outputs["C"].value, expected)


def test_s26_a_window_of_a_larger_operand() -> None:
    text = "input T : f64[10 5]\ninput U : f64[r c]\nS ← T+10 5↑200 50↓U\noutput S"
    data = {"T": np.ones((10, 5)), "U": np.arange(300.0 * 60).reshape(300, 60)}
    bound = bound_of(text, **data)
    (phase,) = phases_of(bound)
    found = [operand_boxes(phase, bound.graph.types, box)[1] for box in boxes_of((10, 5), {0: (5, 5)})]
    assert found == [((200, 205), (50, 55)), ((205, 210), (50, 55))]
    _, plan = split(bound, 2)
    assert np.array_equal(run(plan, bound, **data).outputs["S"].value, 1 + data["U"][200:210, 50:55])


STATISTICS = "input x : f64[n]\nm ← +/x>0\ns ← +/x\nq ← +/x×x\noutput m\noutput s\noutput q"


@pytest.mark.parametrize(("away", "scalars"), [(3, 9), (4, 12)])
def test_s27_partial_results_of_four_blocks(away: int, scalars: int) -> None:
    """Count, sum and sum of squares: three scalars a block move, those of a block at home do not; one combine."""
    rng = np.random.default_rng(1)
    x = rng.standard_normal(4 * 4096)
    bound = bound_of(STATISTICS, x=x)
    program = problem_of(bound, cluster(5), ticks_of=stub)
    reductions = [p for p in phases_of(bound) if isinstance(p, Structured) and p.axes[-1].kind is AxisKind.REDUCE]
    assert len(reductions) == 1, "sibling reductions are one pass"
    modes = [((0, max(1, task.rows)),) for task in program.problem.phases]
    modes[program.phases.index(reductions[0])] = tuple((d, 1) for d in range(5 - away, 5)) if away == 4 else (  # type: ignore[assignment]
        (0, 1), *((d, 1) for d in range(1, 4)))  # fmt: skip
    answer = with_modes(program.problem, modes)  # type: ignore[arg-type]
    assert answer is not None
    plan = plan_of(program, answer)
    assert check_plan(plan, bound) == ()
    assert len([s for s in steps(plan, TransferStep) if s.partial]) == scalars
    assert len(steps(plan, CombineStep)) == 1
    found, alone = run(plan, bound, x=x), backend.execute(backend.plan(bound), bound, {"x": x})
    for name in "msq":
        assert found.outputs[name].value.tobytes() == alone.outputs[name].value.tobytes()


# --------------------------------------------------------------------------------------- subtrees


def test_subtrees_are_the_largest_whole_ones() -> None:
    assert subtrees(0, 4, 4) == ((0, 4),)
    assert subtrees(1, 4, 4) == ((1, 2), (2, 4))
    assert subtrees(3, 7, 8) == ((3, 4), (4, 6), (6, 7))
    assert subtrees(4, 7, 7) == ((4, 7),), "what is missing at the end of a tree does not cut it"
    for blocks in range(1, 30):
        for first in range(blocks):
            for stop in range(first + 1, blocks + 1):
                assert len(subtrees(first, stop, blocks)) <= max_subtrees(blocks)


@pytest.mark.parametrize("count", [2, 3, 5])
@pytest.mark.parametrize("length", [4096 * 3, 4096 * 5 + 17, 4096 * 8])
def test_a_cut_sum_has_the_bits_of_the_whole(count: int, length: int) -> None:
    x = np.random.default_rng(length).standard_normal(length) * 1e3
    bound = bound_of("input x : f64[n]\ns ← +/x\np ← ×/1+x÷1e9\noutput s\noutput p", x=x)
    _, plan = split(bound, count)
    assert steps(plan, CombineStep)
    alone = backend.execute(backend.plan(bound), bound, {"x": x})
    found = run(plan, bound, x=x)
    for name in "sp":
        assert found.outputs[name].value.tobytes() == alone.outputs[name].value.tobytes()


def test_a_reduction_in_no_fixed_order_may_be_cut_anywhere() -> None:
    bound = bound_of("input x : i64[100]\ns ← ⌈/x\noutput s", x=np.arange(100))
    (phase,) = phases_of(bound)
    assert cuts_of(phase, bound.graph.types) == (Cut(0, 100, 1, True),)


@pytest.mark.parametrize("count", [0, 2])
def test_partial_results_are_combined_once(count: int) -> None:
    bound = bound_of("input x : f64[n]\ns ← +/x\noutput s", x=np.ones(4096 * 4))
    _, plan = split(bound, 2)
    queues = []
    for queue in plan.main.queues:
        steps = [one for step in queue.steps for one in [step] * (count if isinstance(step, CombineStep) else 1)]
        queues.append(replace(queue, steps=tuple(steps)))
    codes = {fault.code.name for fault in check_plan(replace(plan, main=replace(plan.main, queues=tuple(queues))), bound)}
    assert codes == {"V1"}
