"""`rho plan` and `rho run` on declared devices: profiles, stored plans, simulation, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rho.shell.console.process_exit import Exit
from rho.tests.shell.conftest import Rho

pytestmark = pytest.mark.long

PROGRAM = """input x : f64[n] ← "x.csv"
y ← (x×2)+x÷3
s ← +/y×y
⎕←s
output y
"""
PROFILE = """schema = "device-profile/1"
[[device]]
name = "cpu0"
class = "cpu"
home = true
launch_ns = 100
[device.op."add.f64"]
size = [2400, 24000, 240000, 2400000]
ns = [600, 1300, 9900, 99900]
[[device]]
name = "cpu1"
class = "cpu"
launch_ns = 100
memory_bytes = MEMORY
[device.op."add.f64"]
size = [2400, 24000, 240000, 2400000]
ns = [600, 1300, 9900, 99900]
[[link]]
from = "cpu0"
to = "cpu1"
latency_ns = 10
size = [4096, 1048576]
ns = [20, 3000]
"""


STORE = """[[store]]
name = "disk"
paths = ["FOLDER"]
[[link]]
from = "disk"
to = "cpu0"
latency_ns = 10
size = [1048576]
ns = [300000]
group = "reading"
[[link]]
from = "disk"
to = "cpu1"
latency_ns = 10
size = [1048576]
ns = [300000]
group = "reading"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "p.rho").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "x.csv").write_text("\n".join(str(k / 8) for k in range(20_000)) + "\n", encoding="utf-8")
    (tmp_path / "two.toml").write_text(PROFILE.replace("MEMORY", "1000000000"), encoding="utf-8")
    return tmp_path


def test_a_simulated_run_prints_what_a_run_prints(rho: Rho, folder: Path) -> None:
    program, two = str(folder / "p.rho"), str(folder / "two.toml")
    alone = rho("run", program)
    found = rho("run", program, "--devices", two, "--simulate")
    assert (found.code, found.out) == (Exit.OK, alone.out)
    assert "simulated on 2 devices: T = " in found.err
    assert "busy: " in found.err
    shown = json.loads(rho("run", program, "--devices", two, "--simulate", "--json").out)
    assert shown["plan"]["prediction"]["status"] in ("optimal", "gap")
    assert set(shown["plan"]["prediction"]["held_bytes"]) == {"cpu0", "cpu1"}


def test_devices_of_this_machine_need_no_simulation(rho: Rho, folder: Path) -> None:
    program = str(folder / "p.rho")
    found = rho("run", program, "--devices", str(folder / "two.toml"))
    assert (found.code, found.out) == (Exit.OK, rho("run", program).out)
    refused = rho("run", program, "--devices", "workstation")
    assert refused.code == Exit.REFUSED
    assert "is not on this machine" in refused.err
    assert "--simulate" in refused.err
    away = rho("run", program, "--devices", "cluster40")
    assert away.code == Exit.REFUSED and "is on node `node`, and home on `head`" in away.err


def test_a_plan_in_text_names_queues_and_fences(rho: Rho, folder: Path) -> None:
    found = rho("plan", str(folder / "p.rho"), "--devices", str(folder / "two.toml"), "--fast")
    assert found.code == Exit.OK
    for part in ("plan/2 · 2 devices", "T = ", "lower bound", "Baselines:", "cpu0", "print s", "output y"):
        assert part in found.out, part


def test_a_stored_plan_runs_and_twenty_are_the_same(rho: Rho, folder: Path) -> None:
    program, two, plan = (str(folder / name) for name in ("p.rho", "two.toml", "p.plan"))
    assert rho("plan", program, "--devices", two, "-o", plan).code == Exit.OK
    first = Path(plan).read_bytes()
    assert json.loads(first)["schema"] == "plan/2"
    assert rho("plan", program, "--devices", two, "-o", plan).code == Exit.OK
    assert Path(plan).read_bytes() == first
    for more in ((), ("--devices", two), ("--devices", two, "--simulate")):
        found = rho("run", program, "--plan", plan, *more)
        assert (found.code, found.out) == (Exit.OK, rho("run", program).out), found.err


def test_a_stale_plan_says_what_changed(rho: Rho, folder: Path) -> None:
    program, two, plan = (str(folder / name) for name in ("p.rho", "two.toml", "p.plan"))
    assert rho("plan", program, "--devices", two, "-o", plan).code == Exit.OK
    other = rho("run", program, "--plan", plan, "--devices", "workstation", "--simulate")
    assert other.code == Exit.REFUSED
    assert "SCH301" in other.err
    assert "another fingerprint" in other.err
    (folder / "x.csv").write_text("1\n2\n", encoding="utf-8")
    assert "n is 2 and was 20000" in rho("run", program, "--plan", plan).err
    (folder / "p.rho").write_text(PROGRAM + "⎕←1\n", encoding="utf-8")
    assert "another program text" in rho("run", program, "--plan", plan).err


def test_a_plan_that_was_edited_is_refused(rho: Rho, folder: Path) -> None:
    program, two, plan = (str(folder / name) for name in ("p.rho", "two.toml", "p.plan"))
    assert rho("plan", program, "--devices", two, "-o", plan).code == Exit.OK
    data = json.loads(Path(plan).read_text(encoding="utf-8"))
    data["prediction"]["makespan"] += 1
    Path(plan).write_text(json.dumps(data), encoding="utf-8")
    found = rho("run", program, "--plan", plan)
    assert found.code == Exit.REFUSED
    assert "V9" in found.err
    for text in ("{}", "no plan", ""):
        Path(plan).write_text(text, encoding="utf-8")
        assert "E705" in rho("run", program, "--plan", plan).err
    assert "E704" in rho("run", program, "--plan", str(folder / "none.plan")).err


def test_a_device_too_small_for_what_is_placed_there(rho: Rho, folder: Path) -> None:
    (folder / "two.toml").write_text(PROFILE.replace("MEMORY", "1000"), encoding="utf-8")
    two = str(folder / "two.toml")
    free = rho("run", str(folder / "p.rho"), "--devices", two, "--simulate")
    assert free.code == Exit.OK, "nothing needs to be there"
    (folder / "p.rho").write_text(PROGRAM + "schedule {\n  place y on cpu1\n  nosplit y\n}\n", encoding="utf-8")
    found = rho("run", str(folder / "p.rho"), "--devices", two, "--simulate")
    assert found.code == Exit.REJECTED
    assert "SCH103" in found.err


def test_options_that_do_not_go_together(rho: Rho, folder: Path) -> None:
    program = str(folder / "p.rho")
    assert rho("plan", program, "--fast", "--prove").code == Exit.USAGE
    assert rho("plan", program, "--budget", "soon").code == Exit.USAGE
    assert rho("run", program, "--plan", "x", "--fast").code == Exit.USAGE


def test_an_edited_plan_of_one_device_is_not_run(folder: Path, rho: Rho) -> None:
    program = str(folder / "one.rho")
    Path(program).write_text("x ← 100⍴0.5×⍳10\ny ← ⌽x\n+/y×x\n", encoding="utf-8")
    plan = folder / "one.plan"
    assert rho("plan", program, "-o", str(plan)).code == Exit.OK
    assert rho("run", program, "--plan", str(plan)).code == Exit.OK
    made = json.loads(plan.read_text(encoding="utf-8"))
    step = next(step for step in made["main"]["queues"][0]["steps"] if step["step"] == "run")
    for broken in ({**made, "devices": []}, {**made, "main": {**made["main"], "queues": []}}):
        plan.write_text(json.dumps(broken), encoding="utf-8")
        assert "E705" in rho("run", program, "--plan", str(plan)).err
    step["overwrite"] = 999
    plan.write_text(json.dumps(made), encoding="utf-8")
    assert "V4" in rho("run", program, "--plan", str(plan)).err


def test_a_plan_reads_what_lies_in_a_store_from_there(rho: Rho, folder: Path) -> None:
    import numpy as np

    np.save(folder / "x.npy", np.arange(20_000) / 8)
    (folder / "p.rho").write_text(PROGRAM.replace("x.csv", "x.npy"), encoding="utf-8")
    with_store = (folder / "two.toml").read_text() + STORE.replace("FOLDER", str(folder.resolve()))
    (folder / "store.toml").write_text(with_store, encoding="utf-8")
    program, profile, plan = (str(folder / name) for name in ("p.rho", "store.toml", "plan.json"))
    assert f"disk  store of {folder.resolve()}" in rho("devices", "--devices", profile).out
    assert rho("plan", program, "--devices", profile, "--fast", "-o", plan).code == Exit.OK
    stored = json.loads(Path(plan).read_text())
    moved = [step for queue in stored["main"]["queues"] for step in queue["steps"] if step["step"] == "transfer"]
    assert any(step["source"] == "disk" for step in moved)
    assert rho("plan", program, "--devices", profile, "--check", plan).code == Exit.OK
    alone = rho("run", program)
    for words in ((program, "--plan", plan, "--simulate"), (program, "--devices", profile)):
        found = rho("run", *words)
        assert (found.code, found.out) == (Exit.OK, alone.out)
    assert rho("plan", program, "--devices", profile, "--explain-cut", "y").code == Exit.OK
