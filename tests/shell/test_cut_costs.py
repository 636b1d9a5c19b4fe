"""`rho plan FILE --explain-cut`: what a phase costs along each axis and over so many devices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .conftest import Rho

PROGRAM = """input a : f64[n m]
input b : f64[m k]
c ← a+.×b
d ← +⌿c
s ← {⍵+¯1⌽⍵}⍣5⊢d
z ← +/d
output c
output d
output s
output z
"""
PROFILE = """\
schema = "device-profile/1"
[[device]]
name = "home"
class = "slow"
backend = "cpu"
roofline = { flops = 1_000_000_000, bandwidth = 1_000_000_000 }
[[device]]
name = "node"
count = 3
class = "fast"
backend = "cpu"
roofline = { flops = 10_000_000_000, bandwidth = 10_000_000_000 }
[[link]]
from = "home"
to = "node"
latency_ns = 1000
size = [4096, 1048576]
ns = [2000, 100000]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("cuts")
    (made / "p.rho").write_text(PROGRAM, encoding="utf-8")
    (made / "four.toml").write_text(PROFILE, encoding="utf-8")
    return made


def explained(rho: Rho, folder: Path, phase: str, *words: str) -> Any:
    sizes = [word for name in ("n=400", "m=300", "k=500") for word in ("--size", name)]
    devices = ["--devices", str(folder / "four.toml")]
    return rho("plan", str(folder / "p.rho"), *sizes, *devices, "--explain-cut", phase, *words)


def test_a_product_along_both_axes(rho: Rho, folder: Path) -> None:
    (phase,) = explained(rho, folder, "c", "--json").json()["phases"]
    whole, *cuts = phase["cuts"]
    assert phase["phase"] == "c ← contract" and (whole["axis"], whole["shards"]) == (None, 1)
    assert [(row["axis"], row["size"], row["devices"]) for row in cuts] == [(0, 400, 2), (0, 400, 4), (1, 500, 2), (1, 500, 4)]
    assert all(1 <= row["shards"] <= row["devices"] and not row["combines"] and row["millijoules"] is None for row in cuts)
    for pair in (cuts[:2], cuts[2:]):
        assert pair[1]["ns"] <= pair[0]["ns"] <= whole["ns"]  # more devices are never slower, and cut at all is quicker here
    others = {row["axis"]: row["shards"] - 1 for row in cuts if row["devices"] == 4}
    sent = {row["axis"]: row["bytes_sent"] for row in cuts if row["devices"] == 4}
    assert others[0] * 8 * 300 * 500 < sent[0] < others[0] * 8 * 300 * 500 + 8 * 400 * 300  # b to each, a in parts
    assert others[1] * 8 * 400 * 300 < sent[1] < others[1] * 8 * 400 * 300 + 8 * 300 * 500


def test_a_table_of_partial_results(rho: Rho, folder: Path) -> None:
    sizes = [word for name in ("n=4", "m=3", "k=5000000") for word in ("--size", name)]
    found = rho("plan", str(folder / "p.rho"), *sizes, "--devices", str(folder / "four.toml"), "--explain-cut", "6")
    lines = found.out.splitlines()
    assert (found.code, lines[0]) == (0, "z ← add/ (line 6), its operands at home before it and its results after it")
    assert lines[1].split() == ["cut", "shards", "time", "sent", "returned", "energy"]
    assert lines[2].split()[:2] == ["whole", "1"] and "axis 0, of 5,000,000 (partial)" in lines[3]
    assert "combined at home" in lines[-1]


def test_what_is_not_cut(rho: Rho, folder: Path) -> None:
    found = explained(rho, folder, "s").out
    assert "several devices can run this loop together" in found and "no cut" not in found


@pytest.mark.parametrize(
    ("phase", "more", "message"),
    [
        ("cc", (), "no phase makes a value of this name; it may be fused into one that reads it\n  did you mean `c`?"),
        ("a", (), "no phase makes a value of this name; it may be fused into one that reads it"),
        ("1", (), "no phase is computed on line 1; it may be fused into one that reads it\n  there is work on lines 3, 4, 5, 6"),
        ("c", ("--pareto", "time,energy"), "--pareto is for a plan"),
        ("c", ("--format", "svg"), "is shown as text or json"),
    ],
)
def test_refusals(rho: Rho, folder: Path, phase: str, more: tuple[str, ...], message: str) -> None:
    found = explained(rho, folder, phase, *more)
    assert found.code == 2 and message in found.err


def test_one_device_cuts_nothing(rho: Rho, folder: Path) -> None:
    found = rho("plan", str(folder / "p.rho"), "--explain-cut", "c")
    assert found.code == 2 and "on one device nothing is cut" in found.err


def test_a_line_whose_phase_is_fused_with_another_lines(rho: Rho, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "p.rho").write_text("input x : f64[n]\ny ← √1+x×x\ns ← y+1\noutput y\noutput s\n", encoding="utf-8")
    words = ("plan", str(tmp_path / "p.rho"), "--size", "n=100000", "--devices", str(folder / "four.toml"), "--explain-cut")
    said = {asked: rho(*words, asked) for asked in ("2", "3", "s")}
    assert {found.code for found in said.values()} == {0} and len({found.out for found in said.values()}) == 1
