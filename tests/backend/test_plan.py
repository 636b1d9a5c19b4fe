"""Plans: what the one-device planner decides, their JSON, their text, and execution on several queues."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from rho import backend
from rho.backend.cpu.backend import CpuBackend
from rho.backend.graph.bind_sizes import BoundGraph
from rho.backend.graph.phases import Structured
from rho.backend.schedule.plan.plan import (
    Device,
    DeviceId,
    ExecutionPlan,
    FenceId,
    FenceStep,
    FreeStep,
    PlanFormatError,
    Queue,
    Role,
    RowsStep,
    RunStep,
    Step,
    SubPlan,
    TransferStep,
    WaitStep,
    decode_plan,
    encode_plan,
)
from rho.backend.schedule.plan.plan_text import plan_text, queues_text
from rho.backend.schedule.problem import QueueKind
from rho.backend.schedule.rendering.gantt_model import chart_of_plan
from rho.backend.vm.executor import execute_plan
from rho.lang.diagnostics.model import Refused, RunFailed
from rho.tests.harness.tiers import checked

N = 1000
VECTORS = {"x": np.arange(float(N)), "y": np.full(N, 0.5)}


def planned(program: str, **inputs: np.ndarray) -> tuple[BoundGraph, ExecutionPlan]:  # type: ignore[type-arg]
    core = checked("input x : f64[n]\ninput y : f64[n]\n" + program)
    assert core is not None
    bound = backend.load(core, inputs or VECTORS)
    return bound, backend.plan(bound, Device(DeviceId("cpu0"), "cpu"))


EVERY_STEP = """z ← (2×x)+y
w ← {(⍵×0.5)+x}⍣3 ⊢ z
v ← {⍵+1}⍣(5 ⋄ {100<+/⍺}) ⊢ w
b ← {0<+/⍵ : ⍵ ⋄ -⍵} v
m ← {+/(⍵>x)/x}¨2↑z
s ← {⍺+2×⍵}/3↑x
⎕←⌽w
⎕←m
⎕←s
output b"""


def test_json_is_canonical_and_comes_back() -> None:
    _, plan = planned(EVERY_STEP)
    text = encode_plan(plan)
    assert decode_plan(text) == plan
    assert encode_plan(decode_plan(text)) == text
    found = json.loads(text)
    assert found["schema"] == "plan/2"
    assert found["sizes"] == {"n": N}
    phase = next(p for p in found["phases"] if p["label"].startswith("z ←"))
    assert phase["op"] == "map"
    assert phase["axes"] == [[N, "parallel"]]
    assert [r["projection"] for r in phase["reads"]] == ["[i]", "[i]"]
    assert phase["operations"] == {"add": N, "multiply": N}
    assert phase["bytes_written"] == 8 * N
    assert phase["span"][2] > phase["span"][1]
    assert (found["chunks"], found["stores"]) == ([], [])
    assert len(found["regions"]) > 2
    assert all(bool(region["because"]) != bool(region["states"] or region["cells"]) for region in found["regions"])


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.pop("home"),
        lambda d: d.update(schema="plan/1"),
        lambda d: d.update(chunks=[{}]),
        lambda d: d.update(stores=["x.zarr"]),
        lambda d: d.update(program="p"),
        lambda d: d.update(regions=[{"phase": 1, "states": ["somewhere"], "cells": False, "because": ""}]),
        lambda d: d.update(extra=1),
        lambda d: d["main"]["peak"].update(cpu0=-1),
        lambda d: d["main"]["queues"][0].update(kind="nowhere"),
        lambda d: d["main"]["queues"][0]["steps"].append({"step": "explode"}),
        lambda d: d["main"]["queues"][0]["steps"].append({"step": "run", "phase": 1.5, "overwrite": None}),
        lambda d: d["main"]["queues"][0]["steps"].append({"step": "run", "phase": True, "overwrite": None}),
        lambda d: d["phases"][0].update(label=7),
        lambda d: d.update(inputs=[["x"]]),
        lambda d: d.update(main=[]),
    ],
)
def test_what_does_not_fit_the_schema_is_refused(change: object) -> None:
    data = json.loads(encode_plan(planned(EVERY_STEP)[1]))
    change(data)  # type: ignore[operator]
    with pytest.raises(PlanFormatError):
        decode_plan(json.dumps(data))


@pytest.mark.parametrize("text", ["", "[]", "{", "null", '"plan/2"', "[" * 100_000, "nan"])
def test_what_is_no_plan_is_refused(text: str) -> None:
    with pytest.raises(PlanFormatError):
        decode_plan(text)


def all_sub_plans(plan: SubPlan) -> list[SubPlan]:
    found = [plan]
    for queue in plan.queues:
        for step in queue.steps:
            for name in ("body", "until", "then", "otherwise"):
                inner = getattr(step, name, None)
                if inner is not None:
                    found += all_sub_plans(inner)
    return found


def test_buffers_that_live_at_once_do_not_overlap() -> None:
    _, plan = planned(EVERY_STEP)
    for sub in all_sub_plans(plan.main):
        own = [b for b in sub.buffers if b.role is not Role.ALIAS]
        for i, a in enumerate(own):
            for b in own[i + 1 :]:
                apart = a.last < b.first or b.last < a.first
                beside = a.offset + a.bytes <= b.offset or b.offset + b.bytes <= a.offset
                assert apart or beside or b.reuses == a.value or a.reuses == b.value, (a, b)


def test_every_value_is_freed_once_and_never_used_again() -> None:
    _, plan = planned(EVERY_STEP)
    for sub in all_sub_plans(plan.main):
        freed: list[int] = [v for q in sub.queues for s in q.steps if isinstance(s, FreeStep) for v in s.values]
        assert len(freed) == len(set(freed))


def test_a_dying_buffer_is_written_over() -> None:
    _, plan = planned("a ← ×\\x\nb ← +\\y\nc ← a+b\n⎕←+/c\nc×2")
    steps = [s for q in plan.main.queues for s in q.steps if isinstance(s, RunStep | RowsStep)]
    overwrites = [s.overwrite for s in steps if s.overwrite is not None]
    assert overwrites


def test_an_input_is_never_written_over() -> None:
    bound, plan = planned("x ← x×2\nx ← x+y\nx")
    before = {name: value.copy() for name, value in VECTORS.items()}
    results = backend.execute(plan, bound, VECTORS)
    assert np.array_equal(results.printed[0].value, VECTORS["x"] * 2 + VECTORS["y"])
    assert all(np.array_equal(VECTORS[name], before[name]) for name in before)


@pytest.mark.parametrize("program", ["x", "⌽x", "output x", "5↓x", "10 100⍴x"])
def test_results_do_not_share_memory_with_inputs(program: str) -> None:
    bound, plan = planned(program)
    results = backend.execute(plan, bound, VECTORS)
    for shown in (*results.printed, *results.outputs.values()):
        assert not np.may_share_memory(shown.value, VECTORS["x"])


def test_text_names_what_runs() -> None:
    _, plan = planned(EVERY_STEP)
    text = plan_text(plan)
    for part in (
        "plan/2",
        "n=1000",
        "peak",
        "cpu0 compute",
        "z ← mul add",
        "i<1000",
        "loop",
        "until",
        "otherwise",
        "x[i]",
        "free",
    ):
        assert part in text, part


def test_outputs_go_by_their_names_in_texts_and_pictures() -> None:
    _, plan = planned("t ← x+y\nt\noutput t\noutput x")
    labels = [phase.label for phase in plan.phases if not phase.results]
    assert labels == ["print t", "output t", "output x"]
    lines = [line.split()[1:3] for line in plan_text(plan).splitlines() if "output" in line]
    assert lines == [["output", "t"], ["output", "x"]]
    assert not [line for line in queues_text(plan).splitlines() if "output %" in line]
    nodes = [node.label for node in chart_of_plan(plan).nodes]
    assert nodes[-3:] == labels


def test_memory_limit_of_a_device_is_enforced_before_anything_runs() -> None:
    bound, plan = planned("x+y")
    small = dataclasses.replace(plan, devices=(Device(DeviceId("cpu0"), "cpu", 1, 1000),))
    with pytest.raises(Refused, match="E702"):
        backend.execute(small, bound, VECTORS)


def test_running_out_of_memory_is_a_diagnostic(monkeypatch: pytest.MonkeyPatch) -> None:
    bound, plan = planned("x+y")

    def fail(*args: object, **named: object) -> None:
        raise MemoryError

    monkeypatch.setattr(CpuBackend, "structured", lambda self, phase, types: fail)
    with pytest.raises(RunFailed, match="E702") as caught:
        backend.execute(plan, bound, VECTORS)
    assert caught.value.diagnostics[0].span.end > 0


def test_an_interrupt_passes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    bound, plan = planned("x+y")

    def interrupt(*args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(CpuBackend, "structured", lambda self, phase, types: interrupt)
    with pytest.raises(KeyboardInterrupt):
        backend.execute(plan, bound, VECTORS)


# ------------------------------------------------------------------------------- several queues


def two_devices(bound: BoundGraph, plan: ExecutionPlan, order: tuple[int, int]) -> ExecutionPlan:
    """The element-wise phases on a second device, with transfers there and back behind fences."""
    here, there = DeviceId("cpu0"), DeviceId("cpu1")
    steps = [s for s in plan.main.queues[0].steps if isinstance(s, RunStep)]
    phases = {p.id: p for p in bound.graph.phases}
    work = [s for s in steps if isinstance(phases[s.phase], Structured)]
    before = [s for s in steps if phases[s.phase] in bound.graph.phases[:2]]
    after = [s for s in steps if s not in work and s not in before]
    inputs = [value for _, value in plan.inputs]
    last = phases[work[-1].phase]
    assert isinstance(last, Structured)
    result = last.results[0].value
    first, second, third, fourth = map(FenceId, range(4))
    queues = [
        Queue(here, QueueKind.COMPUTE, (*before, FenceStep(first), WaitStep(fourth), *after)),
        Queue(there, QueueKind.COMPUTE, (WaitStep(second), *(RunStep(s.phase) for s in work), FenceStep(third))),
    ]
    down: tuple[Step, ...] = tuple(TransferStep(v, here, there, 8 * N) for v in inputs)
    up: tuple[Step, ...] = (WaitStep(third), TransferStep(result, there, here, 8 * N), FenceStep(fourth))
    copy = Queue(there, QueueKind.COPY, (WaitStep(first), *down, FenceStep(second), *up))
    main = SubPlan((*(queues[i] for i in order), copy), (), ((here, 1 << 20), (there, 1 << 20)))
    return dataclasses.replace(plan, main=main, devices=(Device(here, "cpu"), Device(there, "cpu")))


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_queues_wait_for_fences(order: tuple[int, int]) -> None:
    bound, plan = planned("z ← (x×2)-y\nz")
    split = two_devices(bound, plan, order)
    assert decode_plan(encode_plan(split)) == split
    results = backend.execute(split, bound, VECTORS)
    assert np.array_equal(results.printed[0].value, VECTORS["x"] * 2 - VECTORS["y"])


def test_queues_that_wait_for_each_other_are_a_bug_not_a_hang() -> None:
    bound, plan = planned("x+y")
    stuck = Queue(DeviceId("cpu0"), QueueKind.COMPUTE, (WaitStep(FenceId(0)),))
    other = Queue(DeviceId("cpu0"), QueueKind.COPY, (WaitStep(FenceId(1)), FenceStep(FenceId(0))))
    main = SubPlan((stuck, other), (), (("cpu0", 0),))  # type: ignore[arg-type]
    with pytest.raises(AssertionError, match="waits"):
        execute_plan(dataclasses.replace(plan, main=main), bound, VECTORS, {DeviceId("cpu0"): CpuBackend()})
