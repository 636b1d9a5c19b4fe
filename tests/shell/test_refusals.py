"""`--max-memory` and `--max-time` refuse before anything runs, and say what to make smaller."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from .conftest import Rho

PROGRAM = "input x : f64[n]\ninput A : f64[n m]\n⎕←⍉A+x\n⎕←x∘.×x\n"


@pytest.fixture
def given(tmp_path: Path) -> list[str]:
    (tmp_path / "p.rho").write_text(PROGRAM, encoding="utf-8")
    np.save(tmp_path / "x.npy", np.ones(300))
    np.save(tmp_path / "A.npy", np.ones((300, 40)))
    return [str(tmp_path / "p.rho"), "--in", f"x={tmp_path / 'x.npy'}", "--in", f"A={tmp_path / 'A.npy'}"]


def test_the_three_largest_buffers_and_the_size_to_constrain(rho: Rho, given: list[str]) -> None:
    ran = rho("run", *given, "--max-memory", "100kB")
    assert (ran.code, ran.out) == (4, "")
    assert "error[E702]" in ran.err
    assert "the limit is 100.0 kB (100,000 bytes)" in ran.err
    for buffer in ("`∘.×` : f64[n n], 720.0 kB (720,000 bytes)", "`A` : f64[n m], 96.0 kB (96,000 bytes)", "`⍉` : f64[m n]"):
        assert buffer in ran.err
    assert "with n=300, m=40" in ran.err


def test_a_table_of_groups_names_the_count_to_limit(rho: Rho, tmp_path: Path) -> None:
    program = tmp_path / "pivot.rho"
    text = (
        f"use set\ninput x : i64[n] ← '{tmp_path / 'x.npy'}'\n(shops a) ← set.classes x\n(pays b) ← set.classes 3|x\n"
        "output t ← ((≢shops) (≢pays))⍴((≢shops)×≢pays) +⌸ ((a×≢pays)+b ⋄ 1)\n"
    )
    program.write_text(text, encoding="utf-8")
    np.save(tmp_path / "x.npy", np.arange(3000) % 7)
    refused = rho("run", str(program), "--max-memory", "20MB")
    assert refused.code == 4 and "if `≢shops` is at most 50, make it by `50 set.classes_within …`" in refused.err
    assert "`group.pairs` numbers the pairs that occur" in refused.err
    program.write_text(text.replace("set.classes x", "50 set.classes_within x"), encoding="utf-8")
    assert rho("run", str(program), "--max-memory", "20MB").code == 0


def test_what_would_fit_does_and_one_more_does_not(rho: Rho, given: list[str], tmp_path: Path) -> None:
    refused = rho("run", *given, "--max-memory", "200KB")
    most = int(re.findall(r"at most n≤(\d+) would fit", refused.err)[0])
    for count, code in ((most, 0), (most + 1, 4)):
        np.save(tmp_path / "x.npy", np.ones(count))
        np.save(tmp_path / "A.npy", np.ones((count, 40)))
        assert rho("run", *given, "--max-memory", "200kB").code == code


def test_what_would_fit_meets_the_guards(rho: Rho, tmp_path: Path) -> None:
    program = tmp_path / "half.rho"
    program.write_text("input x : f64[n]\n⎕←2 _⍴x\n⎕←x∘.×x\n", encoding="utf-8")
    np.save(tmp_path / "x.npy", np.ones(300))
    ran = rho("run", str(program), "--in", f"x={tmp_path / 'x.npy'}", "--max-memory", "200kB")
    assert ran.code == 4
    assert int(re.findall(r"n≤(\d+)", ran.err)[0]) % 2 == 0


def test_bodies_of_loops_count(rho: Rho, tmp_path: Path) -> None:
    program = tmp_path / "grow.rho"
    program.write_text("param p ← 50\n⎕←{⍵+1○(⍳400)∘.+⍳400}⍣p ⊢ 400 400⍴1.5\n", encoding="utf-8")
    ran = rho("run", str(program), "--max-memory", "1MB")
    assert ran.code == 4
    assert "f64[400 400], 1.3 MB" in ran.err


@pytest.mark.parametrize("text,code", [
    ("16", 4), ("0", 4), ("1kB", 4), ("10MB", 0), ("3 MB", 0), ("2GiB", 0), ("0.5GB", 0), ("10MiB", 0), ("1e9", 2), ("-1", 2),
    ("-5GB", 2), ("many", 2), ("", 2), ("nan", 2), ("inf", 2), ("3XB", 2), ("1.MB", 2), ("٣", 2),
])  # fmt: skip
def test_amounts_of_memory(rho: Rho, text: str, code: int) -> None:
    ran = rho("eval", "+/2×⍳100000", "--max-memory", text)
    assert ran.code == code
    assert ("write a number of bytes" in ran.err) == (code == 2)


@pytest.mark.parametrize("text", ["⌽⍳1000000000000000", "+/⍳1000000000000000000", "1 2∘.+⍳100000000000000"])
def test_what_no_machine_holds_is_refused(rho: Rho, text: str) -> None:
    ran = rho("eval", text)
    assert ran.code == 4
    assert "error[E702]" in ran.err and "this machine has" in ran.err


def test_plans_are_refused_too(rho: Rho, given: list[str]) -> None:
    assert rho("plan", *given, "--max-memory", "100kB").code == 4


def test_work_that_cannot_end_in_time_is_refused(rho: Rho) -> None:
    ran = rho("eval", "+/√⍳100000000000000", "--max-memory", "900TB", "--max-time", "1")
    assert (ran.code, ran.out) == (4, "")
    assert "error[E709]: this program may do 300,000,000,000,000 operations, too many for the 1 seconds it is given" in ran.err


def test_a_loop_that_may_stop_early_is_refused_by_its_bound(rho: Rho) -> None:
    ran = rho("eval", "{⍵+1.5}⍣(1000000000000000 ⋄ {⍵>10}) ⊢ 0.0", "--max-time", "5")
    assert ran.code == 4 and "= a loop that may stop early is counted with its bound: `f⍣(n ⋄ p)`" in ran.err


def test_the_param_that_makes_it_long_is_named(rho: Rho, tmp_path: Path) -> None:
    program = tmp_path / "long.rho"
    program.write_text("param p ← 1000000000000000\n⎕←{⍵+1○⍵}⍣p ⊢ 0.5\n", encoding="utf-8")
    ran = rho("run", str(program), "--max-time", "5")
    assert ran.code == 4
    assert re.search(r"at most p≤\d+ would fit", ran.err)


def test_what_fits_in_memory_is_told_apart_from_why_tiles_do_not(rho: Rho, tmp_path: Path) -> None:
    (tmp_path / "u.rho").write_text("input x : f64[n]\n+/∪x\n", encoding="utf-8")
    np.save(tmp_path / "x.npy", np.arange(100_000.0))
    refused = rho("run", str(tmp_path / "u.rho"), "--in", f"x={tmp_path / 'x.npy'}", "--max-memory", "200kB").err
    assert "at once with all of its values in memory, and the limit is" in refused
    assert "= with all of its values in memory, at most n≤" in refused
    assert "= it cannot stream from its files: `∪` (line 2) needs all of its argument at once" in refused
