"""Plans of several devices as JSON: boxes, ticks, links and predictions come back, and what does not fit is refused."""

from __future__ import annotations

import dataclasses
import json

import pytest

from rho.backend.graph.phases import PhaseId, ValueId
from rho.backend.schedule.plan.plan import (
    CombineStep,
    Device,
    DeviceId,
    ExecutionPlan,
    FreeStep,
    PlanFormatError,
    PlannedFile,
    PlannedLink,
    Prediction,
    Queue,
    RunStep,
    SubPlan,
    TransferStep,
    decode_plan,
    encode_plan,
)
from rho.backend.schedule.problem import Baseline, BoundCertificate, QueueKind, Status

CPU, GPU = DeviceId("cpu0"), DeviceId("gpu0")
STEPS = (
    RunStep(PhaseId(1), None, ((0, 4), (0, 8192)), 3, 9),
    CombineStep(PhaseId(1), 12, 13),
    FreeStep((ValueId(2),), ((4, 12),), GPU),
    TransferStep(ValueId(2), GPU, CPU, 64, ((4, 12),), True, "pcie", 9, 10, 12, (1, 3)),
)
PLAN = ExecutionPlan(
    (PlannedFile("p.rho", "x"),), (), (Device(CPU, "cpu", 2, None, "cpu"), Device(GPU, "cuda", 1, 100, "gpu")), CPU, (),
    SubPlan((Queue(CPU, QueueKind.COMPUTE, STEPS),), (), ((CPU, 0), (GPU, 0))), (), (),
    tick_ns=10, profile="sha256:0", links=(PlannedLink("pcie", "cpu0", "gpu0"),),
    prediction=Prediction(13, 11, Status.GAP, (("latency", 13),), BoundCertificate("bound", 11, {"head": 3}),
                          (Baseline("even split", None), Baseline("one device", 15))),
    directives=("place z on gpu0",), speculated=(PhaseId(7),),
)  # fmt: skip


def test_what_a_plan_of_several_devices_says_comes_back() -> None:
    text = encode_plan(PLAN)
    assert decode_plan(text) == PLAN
    assert encode_plan(decode_plan(text)) == text
    assert decode_plan(encode_plan(dataclasses.replace(PLAN, prediction=None))).prediction is None


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["prediction"].update(status="best"),
        lambda d: d["prediction"].pop("proof"),
        lambda d: d["prediction"]["baselines"][0].update(ticks=-1),
        lambda d: d["main"]["queues"][0]["steps"][0].update(box=[[0]]),
        lambda d: d["main"]["queues"][0]["steps"][0].update(box=[[-1, 2]]),
        lambda d: d["main"]["queues"][0]["steps"][3].update(partial=1),
        lambda d: d["main"]["queues"][0]["steps"][2].update(device=1),
        lambda d: d.update(directives=[1]),
        lambda d: d.update(links=[{"id": "x"}]),
        lambda d: d.update(tick_ns="1"),
    ],
)
def test_what_does_not_fit_is_refused(change: object) -> None:
    data = json.loads(encode_plan(PLAN))
    change(data)  # type: ignore[operator]
    with pytest.raises(PlanFormatError):
        decode_plan(json.dumps(data))
