"""Estimates without data: `rho estimate`, the last line of `rho plan`, and plans from Python."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import rho as rho_package
from rho.lang.diagnostics.model import Refused

from .conftest import Rho

pytestmark = pytest.mark.long

PROGRAM = "input x : f64[n m]\nparam k ← 3\ny ← +/x×k\noutput y\n"
LOOP = "param steps ← 50\nx ← 1.5×⍳10000\noutput z ← {0.5×x++\\⍵}⍣steps ⊢ x\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sums.rho").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "filed.rho").write_text(PROGRAM.replace("[n m]", '[n m] ← "x.npy"'), encoding="utf-8")
    (tmp_path / "loop.rho").write_text(LOOP, encoding="utf-8")
    np.save(tmp_path / "x.npy", np.ones((30, 4)))
    return tmp_path


# ------------------------------------------------------------------------------------ rho estimate


def test_profiles_beside_each_other_without_data(folder: Path, rho: Rho) -> None:
    ran = rho("estimate", "sums.rho", "--size", "n=2000", "--size", "m=500", "--devices", "here,laptop,workstation")
    assert ran.code == 0, ran.err
    sizes, *rows = ran.out.splitlines()
    assert set(sizes.split()) == {"k=3", "n=2000", "m=500"}
    assert [row.split()[0] for row in rows] == ["here", "laptop", "workstation"]
    assert sum(row.endswith("  quickest") for row in rows) == 1 and sum("× the quickest" in row for row in rows) == 2
    assert "3 devices" in rows[2]


def test_larger_sizes_take_longer(folder: Path, rho: Rho) -> None:
    times = []
    for number in (1000, 10_000, 100_000):
        (row,) = rho("estimate", "sums.rho", "--size", f"n={number}", "--size", "m=50", "--json").json()["estimates"]
        assert row["p10_ns"] <= row["ns"] <= row["p90_ns"]
        times.append(row["ns"])
    assert times == sorted(times) and times[-1] > 10 * times[0]


def test_sizes_that_are_not_given_are_those_of_the_data(folder: Path, rho: Rho) -> None:
    assert rho("estimate", "filed.rho", "--json").json()["sizes"] == {"n": 30, "m": 4, "k": 3}
    assert rho("estimate", "filed.rho", "--size", "n=7000", "--json").json()["sizes"] == {"n": 7000, "m": 4, "k": 3}
    (folder / "x.npy").unlink()
    assert rho("estimate", "filed.rho", "--size", "n=7", "--size", "m=2", "--json").json()["sizes"] == {"n": 7, "m": 2, "k": 3}


def test_other_data_say_the_sizes(folder: Path, rho: Rho) -> None:
    (folder / "sum.rho").write_text("input x : f64[n 2]\nparam k ← 1\noutput r ← k↑+/x\n", encoding="utf-8")
    (folder / "other.csv").write_text("1,2\n3,4\n5,6\n", encoding="utf-8")
    said = rho("estimate", str(folder / "sum.rho"), "--in", f"x={folder / 'other.csv'}", "--set", "k=2")
    assert said.code == 0 and "n=3" in said.out and "k=2" in said.out
    assert "has no input `y`" in rho("estimate", str(folder / "sum.rho"), "--in", "y=other.csv").err


def test_a_loop_says_what_a_turn_takes(folder: Path, rho: Rho) -> None:
    assert ": 50 iterations of " in rho("plan", "loop.rho").out.splitlines()[-1]
    assert "time    about" in rho("plan", "loop.rho").out
    (row,) = rho("estimate", "loop.rho", "--size", "steps=80", "--json").json()["estimates"]
    assert row["turns"] == 80 and row["turn_ns"] * 80 <= row["ns"]


def test_a_plan_ends_with_the_time_here(folder: Path, rho: Rho) -> None:
    last = rho("plan", "filed.rho").out.splitlines()[-1]
    assert last.startswith("time    about ") and " on this machine (" in last


def test_objectives_are_compared_too(folder: Path, rho: Rho) -> None:
    ran = rho("estimate", "sums.rho", "--size", "n=200", "--size", "m=50", "--objective", "energy", "--devices", "workstation",
              "--json")  # fmt: skip
    assert ran.json()["estimates"][0]["objectives"]["energy"] > 0


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("sums.rho",), 2, "nothing says how large this program's data is: n, m"),
        (("sums.rho", "--size", "n=3"), 2, "give --size m=N"),
        (("sums.rho", "--size", "q=3"), 2, "this program has no size `q`"),
        (("sums.rho", "--size", "n=three"), 2, "a size is a natural number such as 3"),
        (("sums.rho", "--size", "n=-1"), 2, "a size is a natural number such as 3"),
        (("sums.rho", "--size", "n=9223372036854775807"), 2, "a size is at most 999,999,999,999,999,999"),
        (("sums.rho", "--size", "n=1", "--size", "n=2"), 2, "names `n` twice"),
        (("sums.rho", "--size", "n=3", "--size", "m=3", "--devices", "labtop"), 4, "`labtop` is not a shipped profile"),
        (("loop.rho", "--size", "steps=3", "--devices", "loop.rho"), 4, "this is not TOML"),
        (("filed.rho", "--size", "n=100000000000", "--size", "m=1000000000000"), 4, ""),
        (("nothing.rho",), 2, ""),
    ],
)
def test_what_cannot_be_estimated(folder: Path, rho: Rho, words: tuple[str, ...], code: int, message: str) -> None:
    ran = rho("estimate", *words)
    assert (ran.code, message in ran.err + ran.out) == (code, True), ran


def test_a_profile_without_room_says_so(folder: Path, rho: Rho) -> None:
    ran = rho("estimate", "sums.rho", "--size", "n=1000000", "--size", "m=100000", "--devices", "laptop,workstation")
    assert ran.code == 4 and ran.out.count("cannot run it: ") == 2


# ------------------------------------------------------------------------------------------ Python


def test_a_plan_is_made_stored_loaded_and_run(folder: Path) -> None:
    program = rho_package.load("sums.rho")
    made = program.plan("workstation", n=4000, m=300, budget="fast")
    made.save("plan.json")
    assert rho_package.Plan.load("plan.json") == made
    assert made.sizes == {"n": 4000, "m": 300, "k": 3} and set(made.devices) == {"cpu0", "gpu0", "gpu1"}
    assert 0 < made.at_least <= made.seconds and made.status in ("optimal", "gap") and made.memory["cpu0"] > 4000 * 300 * 8
    assert made.picture("svg").startswith("<svg") and "cpu0" in str(made) and "3 devices" in repr(made)
    x = np.random.default_rng(5).random((4000, 300))
    plain = program.run(x=x)
    planned = program.run(x=x, plan=rho_package.Plan.load("plan.json").simulated())
    assert planned["y"].tobytes() == plain["y"].tobytes()


def test_a_plan_of_this_machine_runs_here(folder: Path) -> None:
    program = rho_package.load("filed.rho")
    made = program.plan(budget="fast")
    assert made.sizes["n"] == 30 and "energy" not in made.objectives
    np.testing.assert_array_equal(program.run(plan=made)["y"], np.full(30, 12.0))


def test_arrays_say_their_sizes(folder: Path) -> None:
    program = rho_package.load("sums.rho")
    assert program.plan(x=np.ones((5, 6)), budget="fast").sizes == {"n": 5, "m": 6, "k": 3}
    with pytest.raises(TypeError, match="n is 5 by the arrays that are given, and 7 as it is given"):
        program.plan(x=np.ones((5, 6)), n=7)


def test_what_no_plan_is_made_of(folder: Path) -> None:
    program = rho_package.load("sums.rho")
    with pytest.raises(TypeError, match="nothing says how large these sizes are: n, m"):
        program.plan()
    with pytest.raises(TypeError, match="no input or size or param q"):
        program.plan(q=3)
    with pytest.raises(ValueError, match="an objective is one of latency, "):
        program.plan(n=3, m=3, objective="speed")
    with pytest.raises(ValueError, match="a budget is a number of seconds, 'fast' or 'prove', not -1"):
        program.plan(n=3, m=3, budget=-1)
    with pytest.raises(ValueError, match="a picture of a plan is one of svg, "):
        program.plan(n=3, m=3, budget="fast").picture("png")
    with pytest.raises(Refused, match=r"`none\.json` cannot be read"):
        rho_package.Plan.load("none.json")
    with pytest.raises(Refused, match=r"`sums\.rho` is not a plan that can be read"):
        rho_package.Plan.load("sums.rho")


def test_a_plan_for_something_else_is_refused(folder: Path) -> None:
    program = rho_package.load("sums.rho")
    made = program.plan("workstation", n=30, m=4, budget="fast")
    with pytest.raises(Refused, match="sizes differ: n is 31 and was 30"):
        program.run(x=np.ones((31, 4)), plan=made.simulated())
    with pytest.raises(Refused, match="made for another program text"):
        rho_package.load("filed.rho").run(plan=made.simulated())
    with pytest.raises(Refused, match=r"gpu0 \(cuda\) is not on this machine"):
        big = program.plan("workstation", n=100_000, m=400, budget="fast")
        program.run(x=np.ones((100_000, 400)), plan=big)


def test_an_input_may_be_called_plan(folder: Path) -> None:
    (folder / "named.rho").write_text("input plan : f64[n]\noutput y ← 2×plan\n", encoding="utf-8")
    program = rho_package.load("named.rho")
    np.testing.assert_array_equal(program.run(plan=np.ones(3))["y"], np.full(3, 2.0))


def test_what_is_no_plan_or_cluster(folder: Path) -> None:
    (folder / "named.rho").write_text("input x : f64[n]\noutput y ← 2×x\n", encoding="utf-8")
    program = rho_package.load("named.rho")
    with pytest.raises(TypeError, match=r"plan is a rho\.Plan \(.*\), not str"):
        program.run(x=np.ones(3), plan="plan.json")
    with pytest.raises(TypeError, match=r"cluster is a rho\.Cluster \(.*\), not str"):
        program.run(x=np.ones(3), cluster="local:2")


# ------------------------------------------------------------------------------------ rho plan --size


def test_a_plan_for_sizes_needs_no_data(folder: Path, rho: Rho) -> None:
    ran = rho("plan", "sums.rho", "--size", "n=2000", "--size", "m=500")
    assert ran.code == 0, ran.err
    assert "8.0 MB → 16.0 kB" in ran.out and "k=3" in ran.out.splitlines()[0]
    assert ran.out.splitlines()[-1].startswith("time")
    assert "k=9" in rho("plan", "sums.rho", "--size", "n=20", "--size", "m=5", "--set", "k=9").out


def test_a_plan_without_data_says_that_sizes_would_do(folder: Path, rho: Rho) -> None:
    (folder / "fixed.rho").write_text("input x : f64[3]\noutput y ← +/x\n")
    for command, hint in (
        (("plan", "sums.rho"), "give --in x=PATH, or --size m=N --size n=N"),
        (("run", "fixed.rho"), "give --in x=PATH"),
        (("run", "sums.rho"), "give --in x=PATH"),
    ):
        refused = rho(*command)
        assert refused.code == 2 and refused.err.splitlines()[-1].strip() == hint, refused.err
    assert "memory  1,536 bytes" in rho("plan", "fixed.rho").out


def test_sizes_go_before_those_of_the_data(folder: Path, rho: Rho) -> None:
    assert "n=30" in rho("plan", "filed.rho").out
    other = rho("plan", "filed.rho", "--size", "n=7000").out.splitlines()[0]
    assert "n=7000" in other and "m=4" in other
    assert "n=7 " in rho("plan", "sums.rho", "--in", "x=x.npy", "--size", "n=7").out.splitlines()[0]


def test_a_plan_for_sizes_is_kept_and_checked_but_fits_no_other_data(folder: Path, rho: Rho) -> None:
    kept = rho("plan", "filed.rho", "--size", "n=40", "--devices", "workstation", "-o", "plan.json")
    assert kept.code == 0, kept.err
    assert rho("plan", "--check", "plan.json", "--size", "n=40").code == 0
    for command in (("plan", "--check"), ("run", "--plan")):
        refused = rho(*command, "plan.json")
        assert refused.code == 4 and "sizes differ: n is 30 and was 40" in refused.err


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        (["nn=3"], "this program has no size `nn`; did you mean `n`?"),
        (["n=x"], "--size n=x: a size is a natural number such as 3"),
        (["n=3"], "nothing says how large this program's data is: m"),
    ],
)
def test_sizes_that_cannot_be(folder: Path, rho: Rho, sizes: list[str], message: str) -> None:
    for verb in ("plan", "estimate"):
        ran = rho(verb, "sums.rho", *[word for size in sizes for word in ("--size", size)])
        assert ran.code == 2 and message in ran.err


def test_a_plan_for_sizes_is_held_to_its_limit(folder: Path, rho: Rho) -> None:
    ran = rho("plan", "sums.rho", "--size", "n=2000000", "--size", "m=500", "--max-memory", "1GB")
    assert ran.code == 4 and "E702" in ran.err and "at most n≤" in ran.err


def test_a_loop_that_may_end_early_takes_at_most_so_long(folder: Path, rho: Rho) -> None:
    (folder / "root.rho").write_text('input x : f64[n m] ← "x.npy"\n{0.5×⍵+x÷⍵}⍣(50 ⋄ {∧/,1e¯9>|⍺-⍵})⊢x\n')
    assert "time    at most" in rho("plan", "root.rho").out
