"""Integers that a param makes known wrap as NumPy's, at every place where it becomes known; beyond i64 it is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import rho

TEXT = "input x : i64[n]\nparam k ← 3\nr ← x×k\ns ← (k*20)+x\noutput r\noutput s\n"


@pytest.fixture
def program(tmp_path: Path) -> rho.Program:
    (tmp_path / "p.rho").write_text(TEXT, encoding="utf-8")
    return rho.load(tmp_path / "p.rho")


@pytest.mark.parametrize("k", [3, 9, 30, 2**31, 2**62, 2**63 - 1])
def test_a_param_from_python_wraps_as_numpy(program: rho.Program, k: int) -> None:
    x = np.arange(-2, 3)
    result = program.run(x=x, k=k)
    with np.errstate(over="ignore"):
        power = np.array([k]) ** 20
        assert np.array_equal(result["r"], x * np.array([k])) and np.array_equal(result["s"], power + x)
    assert program.plan(x=x, k=k).sizes["k"] == k and program.bounds(n=5, k=k).work > 0


@pytest.mark.parametrize("k", [2**63, 2**70])
def test_a_param_beyond_i64_is_refused(program: rho.Program, k: int) -> None:
    for ask in (program.run, program.plan):
        with pytest.raises(rho.Refused, match="natural number of i64"):
            ask(x=np.arange(3), k=k)


def test_a_default_is_not_warned_of_as_it_can_be_set(program: rho.Program) -> None:
    assert not program.diagnostics


@pytest.mark.parametrize("number", ["9223372036854775807", "9223372036854775808", "99999999999999999999999999"])
@pytest.mark.parametrize("directive", ["deadline {}ns", "deadline {}s", "deadline {}", "split r rows over cpu0 cpu1 {}:1"])
def test_a_number_of_a_schedule_block_beyond_i64_has_an_answer(tmp_path: Path, directive: str, number: str) -> None:
    block = f"schedule {{\n  {directive.format(number)}\n}}\n"
    (tmp_path / "p.rho").write_text(f"input x : f64[n]\nr ← x×2\noutput r\n{block}", encoding="utf-8")
    try:
        assert rho.load(tmp_path / "p.rho").plan(n=4).seconds > 0
    except (rho.Refused, rho.Rejected) as refusal:
        assert refusal.diagnostics
