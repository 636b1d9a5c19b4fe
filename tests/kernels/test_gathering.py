"""Gathers through kernels: the items of NumPy on every layout, and the failures of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rho
from rho.backend.cpu import parallel_for, templates
from rho.backend.jit import tiering
from rho.lang.diagnostics.model import RhoError
from rho.tests.harness.tiers import checked, run_plan
from rho.tests.kernels.phases import data, same_bits
from rho.typechecker.elements import Kind

CASES = [  # the table, the index, the program, NumPy
    ("n", "m", "x[i]", lambda x, i: x[i]),
    ("n", "k m", "x[i]", lambda x, i: x[i]),
    ("5 n", "m", "x[;i]", lambda x, i: x[:, i]),
    ("n 33", "m", "x[i;]", lambda x, i: x[i]),
    ("2 n 40", "k m", "x[;i;]", lambda x, i: x[:, i]),
    ("n", "m", "⌽x[⌽i]", lambda x, i: x[i[::-1]][::-1]),
    ("n", "k m", "x[⍉i]", lambda x, i: x[i.T]),
]
SIZES = {"n": 900, "m": 517, "k": 3, "2": 2, "5": 5, "33": 33, "40": 40}


@pytest.fixture(autouse=True)
def every_launch_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_for, "PARALLEL", 0)
    monkeypatch.setenv(tiering.SWITCH, "always")


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    made: list[Any] = []
    before = templates.GatherRun.gathered

    def gathered(self: Any, table: Any, indices: Any) -> Any:
        made.append(before(self, table, indices))
        return made[-1]

    monkeypatch.setattr(templates.GatherRun, "gathered", gathered)
    return made


def shape(text: str, n: int) -> tuple[int, ...]:
    return tuple({**SIZES, "n": n}[size] for size in text.split())


@pytest.mark.parametrize("kind", [Kind.F64, Kind.F32, Kind.I64, Kind.I32, Kind.U8, Kind.BOOL])
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[2]} of {case[0]}")
def test_items(case: tuple[str, str, str, Any], kind: Kind, runs: list[Any]) -> None:
    text, index, program, by_numpy = case
    for index_kind in ("i64", "u8"):
        n = 200 if index_kind == "u8" else 900
        table = data(kind, int(np.prod(shape(text, n))), 1).reshape(shape(text, n))
        axis = program.split("[")[1].startswith(";")
        indices = (
            np.random.default_rng(2)
            .integers(0, table.shape[axis], shape(index, n))
            .astype({"i64": np.int64, "u8": np.uint8}[index_kind])
        )
        core = checked(f"input x : {kind.value}[{text}]\ninput i : {index_kind}[{index}]\noutput r ← {program}\n")
        assert core is not None
        made = run_plan(core, {"x": table, "i": indices}).outputs["r"].value
        assert same_bits(np.ascontiguousarray(made), np.ascontiguousarray(by_numpy(table, indices))), program
    assert runs and all(one is not None for one in runs)


@pytest.mark.parametrize("bad", [-1, 900, 1 << 40, -(1 << 63)])
def test_an_index_outside_is_named(bad: int) -> None:
    core = checked("input x : f64[n]\ninput i : i64[m]\noutput r ← x[i]\n")
    assert core is not None
    indices = np.random.default_rng(2).integers(0, 900, 5000)
    indices[4321] = bad
    with pytest.raises(RhoError) as failure:
        run_plan(core, {"x": np.arange(900.0), "i": indices})
    assert failure.value.diagnostics[0].code == "E310" and str(bad).replace("-", "¯") in str(failure.value)


def test_linked() -> None:
    """As part of a call that is linked, also where it fails."""
    function = rho.compile("{1+2×⍺[⍵]}")
    x, i = np.arange(500.0), np.random.default_rng(1).integers(0, 500, 20_000)
    for _ in range(400):
        made = function(x, i)
    assert np.array_equal(made, 1 + 2 * x[i])
    i[77] = 500
    with pytest.raises(RhoError):
        function(x, i)


def test_small_and_empty() -> None:
    core = checked("input x : f64[n]\ninput i : i64[m]\noutput r ← x[i]\n")
    assert core is not None
    for n, m in ((1, 1), (3, 0), (0, 0), (5, 17)):
        indices = np.zeros(m, np.int64)
        made = run_plan(core, {"x": np.arange(float(n)), "i": indices}).outputs["r"].value
        assert made.tolist() == [0.0] * m


@pytest.mark.parametrize("kind", [np.float64, np.uint8, np.int64])
def test_one_item(kind: type) -> None:
    """NumPy copies an item that is taken out: what a kernel is given is the array."""
    name = Kind(np.dtype(kind).name.replace("float", "f").replace("uint", "u").replace("int", "i")).value
    core = checked(f"input x : {name}[n]\ninput i : i64[]\noutput r ← x[i]\n")
    assert core is not None
    table = np.arange(1, 10).astype(kind)
    for at in range(9):
        assert run_plan(core, {"x": table, "i": np.array(at)}).outputs["r"].value == table[at]
    with pytest.raises(RhoError):
        run_plan(core, {"x": table, "i": np.array(9)})
