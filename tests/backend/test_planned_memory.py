"""The planned peak bounds what a run allocates, in every tier, in first and later runs: random programs around reads that no
strides can say (`ravels`), where a copy of an operand is as large as the space.

Seeds print with what is above; `RHO_SEED` moves the draw."""

from __future__ import annotations

import contextlib
import gc
import importlib
import pkgutil
import random
import tracemalloc
from collections.abc import Mapping
from typing import Any

import llvmlite
import numpy as np
import pytest
from share import SEED, repeats

from rho import backend
from rho.backend.cpu import kernels, numpy_reductions, phases, views, views as deferred
from rho.backend.vm import run_state
from rho.lang.diagnostics.model import RhoError
from rho.tests.backend import ravels
from rho.tests.harness.tiers import agree, checked
from rho.typechecker.core.operations import Core

SLACK = 640 * 1024
"""The interpreter's own objects, NumPy's buffers, and boxes of `deferred.POINTS` items."""
ROWS, COLUMNS = 500, 300
TIERS = ("off", "warm", "always", "auto")


def import_all() -> None:
    """Import what a run may import late, LLVM too, so that no run is charged for modules."""
    for package in (backend, llvmlite):
        for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            if not module.name.endswith("__main__") and ".tests" not in module.name:
                with contextlib.suppress(ImportError):  # of cards, which this machine may lack
                    importlib.import_module(module.name)
    measured("+/⍳10", {}, 2)


def measured(text: str, inputs: Mapping[str, Any], runs: int) -> tuple[int, list[int]]:
    """The planned peak beside the inputs, and what each run allocates.  RhoError: it ends so."""
    core = checked(text)
    assert core is not None, text
    return measured_core(core, inputs, runs)


def measured_core(core: Core, inputs: Mapping[str, Any], runs: int) -> tuple[int, list[int]]:
    """The same of a checked program."""
    bound = backend.load(core, inputs)
    plan = backend.plan(bound)
    used: list[int] = []
    for _ in range(runs):
        gc.collect()
        run_state.trim()
        tracemalloc.start()
        try:
            backend.execute(plan, bound, inputs)
            used.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    return max(plan.peak.values()) - sum(-(-value.nbytes // 512) * 512 for value in inputs.values()), used


def drawn(seed: int, rows: int, columns: int) -> tuple[str, dict[str, Any]] | None:
    rng = random.Random(seed)
    declared, inputs = ravels.inputs(rng, rows, columns)
    text = declared + ravels.program(rng, rows, columns)
    return None if checked(text) is None else (text, inputs)


@pytest.mark.parametrize("tier", TIERS)
def test_no_run_takes_more_than_is_planned(tier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RHO_KERNELS", tier)
    import_all()
    above: list[str] = []
    for number in range(repeats(150 if tier == "off" else 40)):
        seed = (SEED * 1_000_003 + TIERS.index(tier) * 1009 + number) & 0xFFFFFFFF
        case = drawn(seed, ROWS, COLUMNS)
        if case is None:
            continue
        try:
            planned, used = measured(*case, runs=3)
        except RhoError:
            continue
        first = 0 if tier == "off" else 1  # what is compiled in the first run is the compiler's
        if max(used[first:]) > planned + SLACK:
            above.append(f"seed {seed}: {case[0]!r} planned {planned:,}, used {used}")
    assert not above, "\n".join(above)


@pytest.mark.parametrize("program", ["∨/i×6", "∧/i", "∧/1+i×2", "∧\\i", "-/0J1×f", "!f", "⎕digamma f", "⎕lgamma f", "|f×0J1",
                                     "f∨g", "f∧g", "-/f", "÷/f", "|/f", "~f>1"])  # fmt: skip
@pytest.mark.parametrize("size", [8000, 300_000])
def test_functions_that_numpy_lacks_stay_within_the_plan(program: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RHO_KERNELS", "off")
    rng = np.random.default_rng(1)
    inputs = {"f": rng.uniform(0.5, 3, size), "g": rng.uniform(0.5, 3, size), "i": rng.integers(1, 40, size)}
    planned, used = measured("input f : f64[n]\ninput g : f64[n]\ninput i : i64[n]\noutput r ← " + program, inputs, 2)
    assert used[-1] <= planned + SLACK


@pytest.mark.parametrize("tier", ["off", "always"])
@pytest.mark.parametrize("program", ["+/,a∘.=b", "⌈/,a∘.-b", "∨/,a∘.=b", "≢⍸,a∘.=b", "+/,⍉a∘.=b", "+/,f∘.×g", "5↑,⍉f∘.+g"])
def test_a_ravel_of_an_outer_product_is_not_made(program: str, tier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RHO_KERNELS", tier)
    rng = np.random.default_rng(1)
    inputs = {"a": rng.integers(0, 99, 3000), "b": rng.integers(0, 99, 2000), "f": rng.random(3000), "g": rng.random(2000)}
    declared = "input a : i64[n]\ninput b : i64[m]\ninput f : f64[n]\ninput g : f64[m]\n"
    planned, used = measured(declared + program, inputs, 2)
    assert used[-1] <= planned + SLACK
    assert planned < 16 << 20


@pytest.mark.parametrize("tier", ["off", "always"])
def test_boxes_do_not_show(tier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """However small arrays and slices are, values and bits are those of the reference."""
    monkeypatch.setenv("RHO_KERNELS", tier)
    for module in (deferred, numpy_reductions, views):
        monkeypatch.setattr(module, "WHOLE", -1)
    monkeypatch.setattr(phases, "WHOLE", 1)
    for module, name, points in ((deferred, "POINTS", 50), (phases, "BOX_BYTES", 512), (phases, "SUM_POINTS", 64),
                                 (kernels, "POINTS", 64)):  # fmt: skip
        monkeypatch.setattr(module, name, points)
    for number in range(repeats(100)):
        seed = (SEED * 1_000_003 + number) & 0xFFFFFFFF
        case = drawn(seed, *random.Random(seed).choice([(3, 4), (20, 6), (5, 1), (40, 230)]))
        core = None if case is None else checked(case[0])
        if case is not None and core is not None:
            assert not agree(core, case[1]), (seed, case[0])
