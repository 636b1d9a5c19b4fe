"""Plans with passes, forged one field at a time: every forgery is found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rho.backend.schedule.plan.plan import ExecutionPlan, FreeStep, RunStep, Step, StreamStep
from rho.backend.schedule.streams.pass_checks import faults_of_streams
from rho.backend.schedule.streams.stream_planning import Stored

from .programs import CASES, data
from .running import loaded

pytestmark = pytest.mark.long

LIMIT = 4_000_000


def _with(plan: ExecutionPlan, steps: list[Step]) -> ExecutionPlan:
    queue = replace(plan.main.queues[0], steps=tuple(steps))
    return replace(plan, main=replace(plan.main, queues=(queue,)))


def _forged(plan: ExecutionPlan) -> dict[str, ExecutionPlan]:
    steps = list(plan.main.queues[0].steps)
    at = next(i for i, step in enumerate(steps) if isinstance(step, StreamStep))
    step = steps[at]
    assert isinstance(step, StreamStep)
    changed = {
        "rows that are no power of two": replace(step, rows=step.rows * 3),
        "fewer tiles": replace(step, tiles=step.tiles - 1),
        "fewer bytes": replace(step, reads=step.reads - 8),
        "a phase less": replace(step, phases=step.phases[:-1]),
        "a result less": replace(step, results=step.results[:-1]) if step.results else replace(step, phases=()),
    }
    made = {name: _with(plan, [*steps[:at], one, *steps[at + 1 :]]) for name, one in changed.items()}
    made["no pass"] = _with(plan, steps[:at] + steps[at + 1 :])
    made["the last step is missing"] = _with(plan, [s for s in steps if s is not steps[-1]])
    made["passes at the end"] = _with(plan, [s for s in steps if not isinstance(s, StreamStep)] + [step])
    made["more memory"] = replace(plan, main=replace(plan.main, peak=((plan.home, LIMIT + 1),)))
    return made


@pytest.mark.parametrize("name", ["variance", "standardised", "several"])
def test_every_forgery_is_found(name: str, tmp_path: Path) -> None:
    (case,) = [case for case in CASES if case.name == name]
    np.save(tmp_path / "x.npy", data(1_000_003)["x"])
    program = loaded(case.text, tmp_path, LIMIT)
    stored = {"x": Stored(8_000_024)}
    assert not faults_of_streams(program.plan, program.bound, stored, LIMIT)
    assert any(isinstance(step, RunStep | FreeStep) for step in program.plan.main.queues[0].steps)
    for forgery, plan in _forged(program.plan).items():
        assert faults_of_streams(plan, program.bound, stored, LIMIT), forgery
