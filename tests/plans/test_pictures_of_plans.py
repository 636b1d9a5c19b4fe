"""The memory in pictures of plans: never below nothing, never above the peak that the plan states."""

from __future__ import annotations

import pytest

from rho.backend.schedule.rendering.gantt_model import chart_of_plan

from .stored import PROGRAMS, stored


@pytest.mark.parametrize("name", [name for name, (_, devices, _) in PROGRAMS.items() if devices is not None])
def test_the_memory_of_a_plan_is_between_nothing_and_its_peak(name: str) -> None:
    plan = stored(name).plan
    peaks = dict(plan.main.peak)
    for memory in chart_of_plan(plan).memory:
        live = [size for _, size in memory.points]
        assert min(live) == 0 and max(live) <= peaks[memory.device]
        assert live[-1] == 0  # at the end of the run
