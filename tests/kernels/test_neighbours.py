"""Rotations and the maps around them as one unit: which phases go together, and that it changes no bit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import rho
from rho import backend
from rho.backend.cpu import regions, regions as ranges
from rho.backend.graph import fusion_groups
from rho.backend.graph.phases import Constant
from rho.backend.jit.compiler import LruCache
from rho.backend.lower.fusion_units import GroupUnit, units_of
from rho.backend.schedule.plan.plan import RowsStep, decode_plan, encode_plan
from rho.backend.schedule.verify.plan_checks import check_plan
from rho.tests.harness.tiers import checked

PROGRAMS = {
    "along both axes": "(1⊖x)+(¯1⊖x)+(1⌽x)+¯1⌽x",
    "sums of rows on the way": "y+(1⌽y)+¯1⌽y ⊣ y ← (1⊖x)+¯1⊖x",
    "far": "x-(5⊖x)×3⌽x",
    "twice along the first axis": "y-(2⊖y)+1⊖y ⊣ y ← x+1⊖x",
    "every other item": "((1⊖x)+¯1⊖x)[1+2×⍳⌊(≢x)÷2;2×⍳⌊(≢⍉x)÷2]",
    "turned": "(⍉1⊖x)+(¯1⌽⍉x)",
    "two results": "(a+1⌽a),a×¯1⌽a ⊣ a ← x+1⊖x",
    "used elsewhere": "(+/r)∘.+(≢⍉x)⍴1+1⌽r ⊣ r ← x×1⊖x",
    "a rotation of a rotation": "x+1⌽1⊖x×2",
    "integers": "(1⊖i)+¯1⌽i ⊣ i ← ⌊x×100",
    "truth values": "(b∧1⊖b)∨¯1⌽b ⊣ b ← x>0.5",
    "as much as there are rows": "x+((≢x)⊖x)-(-≢x)⊖x",
    "by a number that data tells": "x+(⌊10×x[0;0])⊖x",
    "in a loop that is no region": "{(1⊖⍵)+(¯1⌽⍵)÷⌈/,⍵}⍣3 ⊢ x+0.5",
}


@pytest.fixture(autouse=True)
def small_ones_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fusion_groups, "STENCIL_MIN_ITEMS", 1)
    monkeypatch.setattr(regions, "_runs", LruCache(256))


def _groups(statement: str) -> list[int]:
    """How many rotations and maps each group of a program has."""
    bodies = _in_order(statement).replace(" ⋄ ", "\noutput r ← ") if " ⊣ " in statement else f"output r ← {statement}"
    core = checked(f"input x : f64[9 7]\n{bodies}\n")
    assert core is not None
    graph = backend.load(core, {"x": np.zeros((9, 7))}, {}).graph
    units = [unit for unit in units_of(graph.phases, graph, ()) if isinstance(unit, GroupUnit)]
    return [sum(not isinstance(member, Constant) for member in unit.members) for unit in units]


@pytest.mark.parametrize(("name", "groups"), [
    ("along both axes", [5]), ("sums of rows on the way", [6]), ("twice along the first axis", [2, 3]), ("two results", [6]),
    ("every other item", [3]), ("used elsewhere", [4]), ("a rotation of a rotation", [2]), ("turned", [3]),
])  # fmt: skip
def test_what_goes_together(name: str, groups: list[int]) -> None:
    assert _groups(PROGRAMS[name]) == groups


def _bits(statement: str, array: Any, mode: str, monkeypatch: pytest.MonkeyPatch) -> bytes:
    monkeypatch.setenv("RHO_KERNELS", mode)
    return np.asarray(rho.compile(f"{{x ← ⍵ ⋄ {_in_order(statement)}}}")(array)).tobytes()


def _in_order(statement: str) -> str:
    """`value ⊣ name ← …` as two statements."""
    value, _, first = statement.partition(" ⊣ ")
    return f"{first} ⋄ {value}" if first else value


@pytest.mark.parametrize("shape", [(67, 9), (2, 3), (1, 1), (0, 4), (3, 0)], ids=str)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_group_changes_no_bit(name: str, shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    if name in ("by a number that data tells", "in a loop that is no region") and 0 in shape:
        pytest.skip("there is no item")
    array = np.random.default_rng(1).random(shape)
    expected = _bits(PROGRAMS[name], array, "off", monkeypatch)
    assert _bits(PROGRAMS[name], array, "always", monkeypatch) == expected
    monkeypatch.setattr(fusion_groups, "STENCIL_MIN_ITEMS", 1 << 60)
    assert _bits(PROGRAMS[name], array, "off", monkeypatch) == expected


def test_a_plan_with_a_group_is_judged_and_kept() -> None:
    core = checked("input x : f64[9 7]\ny ← (1⊖x)+¯1⊖x\noutput r ← y+1⌽y\n")
    assert core is not None
    bound = backend.load(core, {"x": np.zeros((9, 7))}, {})
    plan = backend.plan(bound)
    (step,) = [step for queue in plan.main.queues for step in queue.steps if isinstance(step, RowsStep)]
    assert not list(check_plan(plan, bound))
    assert decode_plan(encode_plan(plan)) == plan
    for wrong in (replace(step, results=()), replace(step, phases=step.phases[1:]), replace(step, overwrite=step.results[0])):
        queues = tuple(replace(q, steps=tuple(wrong if s is step else s for s in q.steps)) for q in plan.main.queues)
        assert list(check_plan(replace(plan, main=replace(plan.main, queues=queues)), bound))


def test_threads_have_scratch_of_their_own_for_a_row_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What has all rows is there once, however many threads there are: the plan counts it once."""
    made: list[bool] = []
    real = ranges.RegionExecution.scratch

    def scratch(self: ranges.RegionExecution, *, is_local: bool = False) -> dict[str, Any]:
        found = real(self, is_local=is_local)
        if found:
            made.append(is_local)
        return found

    monkeypatch.setattr(ranges.RegionExecution, "scratch", scratch)
    statement, array = "z-¯1⌽z ⊣ z ← {(1⊖⍵)+¯1⊖⍵}⍤2 ⊢ (1⊖x)+¯1⊖x", np.random.default_rng(2).random((40, 30, 20))
    expected = _bits(statement, array, "off", monkeypatch)
    made.clear()
    assert _bits(statement, array, "always", monkeypatch) == expected
    assert made.count(False) == 1 and True in made
