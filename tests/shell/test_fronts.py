"""`rho plan --pareto time,energy`: every point a verified plan, none worse than another in both, drawn, chosen, stored."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from .conftest import Rho

pytestmark = pytest.mark.long

PROGRAM = "input x : f64[n n]\noutput z ← +/x+.×⍉x\n"
PROFILE = """\
schema = "device-profile/1"
[[device]]
name = "slow"
class = "slow"
backend = "cpu"
power = { idle_w = 1.0, active_w = 2.0 }
roofline = { flops = 1_000_000_000, bandwidth = 1_000_000_000 }
[[device]]
name = "fast"
class = "fast"
backend = "cpu"
power = { idle_w = 1.0, active_w = 90.0 }
roofline = { flops = 10_000_000_000, bandwidth = 10_000_000_000 }
[[link]]
from = "slow"
to = "fast"
latency_ns = 1000
size = [4096, 1048576]
ns = [2000, 100000]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import numpy as np

    made = tmp_path_factory.mktemp("fronts")
    (made / "p.rho").write_text(PROGRAM.replace("[n n]", '[n n] ← "x.npy"'), encoding="utf-8")
    (made / "two.toml").write_text(PROFILE, encoding="utf-8")
    np.save(made / "x.npy", np.ones((400, 400)))
    return made


def front(rho: Rho, folder: Path, *words: str) -> Any:
    return rho("plan", str(folder / "p.rho"), "--devices", str(folder / "two.toml"), "--pareto", "time,energy", "--fast", *words)


@pytest.fixture(scope="module")
def three(rho: Rho, folder: Path) -> Any:
    return front(rho, folder, "--points", "3", "--json").json()


def test_points_trade_one_for_the_other(three: Any) -> None:
    points = three["points"]
    assert three["objectives"] == ["latency", "energy"] and len(points) >= 2
    assert all(a["ns"] < b["ns"] and a["energy"] > b["energy"] for a, b in pairwise(points))
    assert three["least_ns"] <= points[0]["ns"]
    assert all(floor["energy"] <= point["energy"] for floor in three["floors"] for point in points if point["ns"] <= floor["ns"])


def test_a_point_is_taken_stored_and_holds(rho: Rho, folder: Path, three: Any, tmp_path: Path) -> None:
    stored = tmp_path / "2.json"
    assert front(rho, folder, "--points", "3", "--point", "2", "-o", str(stored)).code == 0
    plan = json.loads(stored.read_text(encoding="utf-8"))
    assert plan["prediction"]["makespan"] * plan["tick_ns"] == three["points"][1]["ns"] and plan["directives"] == []
    checked = rho("plan", "--check", str(stored), str(folder / "p.rho"), "--devices", str(folder / "two.toml"))
    assert checked.code == 0, checked.err


def test_weights_choose(rho: Rho, folder: Path, three: Any) -> None:
    points = three["points"]
    for weights, wanted in (("time=1,energy=0", points[0]), ("time=0,energy=1", points[-1])):
        plan = front(rho, folder, "--points", "3", "--weights", weights, "--json").json()
        assert plan["prediction"]["makespan"] * plan["tick_ns"] == wanted["ns"]


def test_a_front_is_drawn(rho: Rho, folder: Path, three: Any) -> None:
    svg = front(rho, folder, "--points", "3", "--format", "svg").out
    root = ElementTree.fromstring(svg)
    points = three["points"]
    circles = [one for one in root.iter() if one.tag.endswith("circle")]
    assert len(circles) == len(points)
    page = front(rho, folder, "--points", "2", "--format", "html").out
    assert page.count("<details>") >= 2 and "default-src 'none'" in page
    text = front(rho, folder, "--points", "2").out
    assert text.startswith("time against energy: 2 plans") and "no plan " in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--pareto", "time"), "--pareto time: write two objectives, one of them time"),
        (("--pareto", "energy,machines"), "one of them time"),
        (("--pareto", "time,enrgy"), "the other is one of energy, throughput, machines, syncs"),
        (("--pareto", "time,energy", "--points", "1"), "write a number of plans from 2 to 50"),
        (("--pareto", "time,energy", "--points", "9999999999999"), "write a number of plans from 2 to 50"),
        (("--pareto", "time,energy", "--objective", "energy"), "--objective is for one plan"),
        (("--pareto", "time,energy", "--fast", "--points", "2", "--point", "99"), "the front has the points 1 to "),
        (("--pareto", "time,energy", "--fast", "--weights", "time=x"), "write weights such as time=1,energy=0.2"),
        (("--pareto", "time,energy", "--fast", "--weights", "machines=1"), "write weights such as"),
        (("--pareto", "time,energy", "--fast", "--weights", "time=1", "--point", "1"), "both choose a plan"),
        (("--pareto", "time,energy", "--fast", "--format", "dot"), "a front is shown as text, json, svg or html, not dot"),
        (("--point", "1"), "--point is for a front"),
        (("--pareto", "time,energy", "--deadline", "1ms"), "--deadline is for one plan"),
        (("--objective", "energy", "--deadline", "20"), "--deadline 20: write a time such as 20ms (ns, us, ms or s)"),
        (("--objective", "energy", "--deadline", "soon"), "--deadline soon: write a time"),
    ],
)
def test_what_is_no_front(rho: Rho, folder: Path, words: tuple[str, ...], message: str) -> None:
    ran = rho("plan", str(folder / "p.rho"), "--devices", str(folder / "two.toml"), *words)
    assert ran.code == 2 and message in ran.err, ran


def test_machines_may_be_traded_too(rho: Rho, folder: Path) -> None:
    words = ("--devices", str(folder / "two.toml"), "--pareto", "machines,time", "--fast", "--json")
    ran = rho("plan", str(folder / "p.rho"), *words)
    assert ran.code == 0 and all(1 <= point["machines"] <= 2 for point in ran.json()["points"])


def test_the_least_energy_by_a_deadline(rho: Rho, folder: Path, tmp_path: Path) -> None:
    """Between the ends of the front; what it promises is judged without the deadline, so that the stored plan holds."""
    quick, frugal = (ends := front(rho, folder, "--points", "2", "--json").json()["points"])[0], ends[-1]
    words = ("plan", str(folder / "p.rho"), "--devices", str(folder / "two.toml"), "--objective", "energy", "--fast")
    late = rho(*words, "--deadline", f"{frugal['ns']}ns", "--json").json()["prediction"]
    assert dict(late["objectives"])["energy"] == frugal["energy"]
    limit, stored = (quick["ns"] + frugal["ns"]) // 2, tmp_path / "soon.json"
    ran = rho(*words, "--deadline", f"{limit}ns", "-o", str(stored))
    soon = json.loads(stored.read_text(encoding="utf-8"))
    assert soon["prediction"]["makespan"] * soon["tick_ns"] <= limit
    assert frugal["energy"] <= dict(soon["prediction"]["objectives"])["energy"] <= quick["energy"]
    assert "note[SCH302]" in ran.err and "that end" in ran.err
    checked = rho("plan", "--check", str(stored), str(folder / "p.rho"), "--devices", str(folder / "two.toml"))
    assert checked.code == 0, checked.err
    none = rho(*words, "--deadline", "1us")
    assert none.code == 3 and "error[SCH106]: these cannot all hold: `--deadline 1 µs`" in none.err


def test_no_objective_claims_what_loops_run_together_disprove(rho: Rho, folder: Path, tmp_path: Path) -> None:
    """The quickest plan runs the loop on both devices: no front and no deadline of another objective says that there is none."""
    text = "input x : f64[n]\ny ← {(0.5×⍵+2÷⍵)-1e¯9×+/⍵}⍣50⊢1+|x\noutput y\n"
    (tmp_path / "p.rho").write_text(text, encoding="utf-8")
    profile = PROFILE.replace("10_000_000_000", "4_000_000_000").replace("= 1.0", "= 10.0")
    (tmp_path / "two.toml").write_text(profile, encoding="utf-8")
    words = ("plan", str(tmp_path / "p.rho"), "--size", "n=1000003", "--devices", str(tmp_path / "two.toml"), "--fast")
    plan = rho(*words, "--json").json()
    assert plan["spread"]
    quickest = plan["prediction"]["makespan"] * plan["tick_ns"]
    found = rho(*words, "--pareto", "time,energy", "--points", "3", "--json").json()
    assert found["least_ns"] <= quickest and found["points"][0]["ns"] <= quickest
    floors = [floor["energy"] for floor in found["floors"]]
    assert floors == sorted(set(floors), reverse=True)  # a line says more than the next
    stored = tmp_path / "soon.json"
    soon = rho(*words, "--objective", "energy", "--deadline", f"{quickest}ns", "-o", str(stored))
    assert soon.code == 0, soon.err
    assert rho("plan", "--check", str(stored), "--prove", "--devices", words[5]).code == 0  # it has its sizes
    sooner = rho(*words, "--objective", "energy", "--deadline", f"{quickest * 199 // 200}ns")
    assert sooner.code in (0, 5), sooner.err  # not proved impossible
    assert rho(*words, "--objective", "energy", "--deadline", "1us").code == 3
