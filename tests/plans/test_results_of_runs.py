"""Planner, judge and simulator agree on the memory of a run's results, and the run takes no more: drawn programs with several
outputs (inputs, views, repeats, values that are read again) on drawn profiles, on which steps may take no time."""

from __future__ import annotations

import gc
import re
import tracemalloc
from random import Random

import numpy as np
import pytest
from share import seeds

from rho import backend
from rho.backend.schedule.verify.plan_checks import check_plan, memory_in_use
from rho.backend.vm.run_state import trim
from rho.lang.diagnostics.model import RhoError

from .drawn import Drawn, profile
from .planning import case_of

LENGTH = 60_000
SLACK = 300_000
"""Bytes of Python objects and kernels."""
FORMS = ("⌽{a}", "1⌽{a}", "2×{a}", "{a}-{b}", "{a}×⌽{b}", "⌈\\{a}", "√{a}", "{a}+(+/{b})÷1000")


def program(r: Random) -> str:
    """A program whose outputs are inputs, views, and values, some of them twice."""
    names, lines = ["x", "y"], ["input x : f64[n]", "input y : f64[n]"]
    for place in range(r.randint(1, 4)):
        form = r.choice(FORMS).format(a=r.choice(names), b=r.choice(names))
        lines.append(f"v{place} ← {form}")
        names.append(f"v{place}")
    shown = [r.choice(names) for _ in range(r.randint(1, 4))]
    return "\n".join((*lines, *(f"output o{place} ← {r.choice(('', '', '⌽'))}{name}" for place, name in enumerate(shown))))


def untimed_copies(machine: str) -> str:
    """The profile with copies that take no time."""
    return re.sub(r'(op\."copy\.f(?:32|64)"]\nsize = .*\nns = )(.*)', lambda one: one[1] + re.sub(r"\d+", "0", one[2]), machine)


@pytest.mark.parametrize("seed", seeds(150, least=8))
def test_planner_judge_simulator_and_run_agree(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RHO_KERNELS", "off")
    r = Random(seed)
    text, machine = program(r), profile(r, 8 * LENGTH, devices=r.randint(1, 3))
    machine = untimed_copies(machine) if r.random() < 0.5 else machine
    rng = np.random.default_rng(seed)
    data = {name: rng.random(LENGTH) for name in ("x", "y")}
    try:
        case = case_of(Drawn(text, {name: array.shape for name, array in data.items()}, machine))
    except RhoError:
        return
    plan = case.planned.plan
    assert not check_plan(plan, case.bound), (seed, text)
    judged, combines = memory_in_use(plan, case.bound), '"combine"' in case.stored
    for device, peak in plan.peak.items():  # the judge does not count partial results
        assert judged[device] <= peak if combines else judged[device] == peak, (seed, text)
    held = backend.execute(plan, case.bound, data, simulated=True).held
    assert all(size <= plan.peak[device] for device, size in held.items()), (seed, text)
    gc.collect()
    trim()
    tracemalloc.start()
    try:
        results = backend.execute(plan, case.bound, data, simulated=True)
        used = tracemalloc.get_traced_memory()[1] + sum(array.nbytes for array in data.values())
    finally:
        tracemalloc.stop()
    assert results is not None and used <= sum(plan.peak.values()) + SLACK, (seed, text)
