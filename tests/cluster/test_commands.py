"""Commands with workers that Dask starts: what they show, write and measure."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.long

pytest.importorskip("distributed")

TEXT = """use stats
param scale ← 3
input x : f64[n]
input m : f64[r 3]
step ← {⍵+0.25×(¯1⌽⍵)+(1⌽⍵)-2×⍵}
y ← step⍣20⊢x
z ← +⌿m×scale
output y
output z
⎕←+/y
⎕←stats.mean x
⎕←z
⎕←≢(x>0)/x
"""
WATCHDOG = 300.0


def rho(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rho", *words], cwd=folder, capture_output=True, text=True, timeout=WATCHDOG, env=os.environ
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    np.save(tmp_path / "x.npy", rng.standard_normal(200_000))
    np.save(tmp_path / "m.npy", rng.standard_normal((50_000, 3)))
    (tmp_path / "p.rho").write_text(TEXT, encoding="utf-8")
    return tmp_path


def test_devices_shows_workers_and_writes_a_profile_that_plans(project: Path) -> None:
    shown = rho(project, "devices", "--cluster", "local:1", "-o", "c.toml")
    assert (shown.returncode, shown.stderr) == (0, "")
    described = rho(project, "devices", "--devices", "c.toml", "--json")
    facts = json.loads(described.stdout)
    assert [device["name"] for device in facts["devices"]] == ["home", "w0", "files"]
    assert facts["devices"][-1]["paths"] == [f"{project.resolve()}/"]
    assert [(link["from"], link["to"]) for link in facts["links"]] == [("home", "w0"), ("files", "home"), ("files", "w0")]
    assert facts["links"][0]["latency_ns"] > 0
    assert '\nworker = "w0"\n' in (project / "c.toml").read_text(encoding="utf-8")
    planned = rho(project, "plan", "p.rho", "--in", "x=x.npy", "--in", "m=m.npy", "--cluster", "local:1", "--devices", "c.toml",
                  "--fast", "--json")  # fmt: skip
    assert planned.returncode == 0 and [one["id"] for one in json.loads(planned.stdout)["devices"]] == ["home", "w0", "files"]


WRITTEN = """input x : f64[n] ← "x.npy"
z ← √1+x×x
output z
schedule {
  split z rows 1:1 over w0 w1
}
"""


def test_outputs_stay_where_they_are_made_with_verify_and_analyze_and_in_plans(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(3_000.0))
    (tmp_path / "w.rho").write_text(WRITTEN, encoding="utf-8")
    given = ["w.rho", "--cluster", "local:2", "--fast"]
    planned = json.loads(rho(tmp_path, "plan", *given, "--json").stdout)
    queues = {queue["device"]: queue["steps"] for queue in planned["main"]["queues"]}
    assert {"link4 w0–files", "link5 w1–files"} < queues.keys() and "link3 home–files" not in queues
    ran = rho(tmp_path, "run", *given, "--verify", "--analyze", "--trace", "t.json", "--out", "z=z.zarr.zip")
    assert (ran.returncode, ran.stdout) == (0, "")
    assert ran.stderr.split()[:2] == ["phase", "device"] and "bytes on w1" in ran.stderr and "on files" not in ran.stderr
    events = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))["traceEvents"]
    named = [event["args"]["name"] for event in events if event["name"] == "process_name"]
    assert len(named) == 4 and sum(" on tls://" in name for name in named) == 2
    threads = {(event["pid"], event["args"]["name"]) for event in events if event["name"] == "thread_name"}
    assert {name for process, name in threads if process > 2} >= {"w0", "w1"}
    assert "link4 w0–files" in {name for _, name in threads}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.json", "w.rho", "x.npy", "z.zarr.zip"]
    rows = {name: line.split() for line in ran.stderr.splitlines() for name in ("w0", "w1") if f" {name} " in line}
    for name, row in rows.items():
        (step,) = [step for step in queues[name] if step["step"] == "run"]
        assert row[row.index(name) + 2] == f"{(step['end'] - step['start']) * planned['tick_ns'] / 1000:,.1f}"


@pytest.mark.parametrize("option", [("--devices", "4"), ("--calibrate",), ("--refine",)])
def test_devices_of_a_cluster_stand_alone(tmp_path: Path, option: tuple[str, ...]) -> None:
    refused = rho(tmp_path, "devices", "--cluster", "local:1", *option)
    assert refused.returncode == 2
    assert f"it goes without {option[0]}" in refused.stderr


INTERRUPTED = """import os, signal
from rho.shell.console.process_exit import install_signal_handlers
from rho.shell.execution.clusters import ClusterConnection
install_signal_handlers()
cluster = ClusterConnection("local:1").cluster
assert cluster.members
try:
    os.killpg(0, signal.SIGINT)
    signal.pause()
except KeyboardInterrupt:
    os._exit(130)
"""


def test_an_interrupt_of_all_processes_is_quiet(tmp_path: Path) -> None:
    """A terminal sends it to the workers too, and Python's tracker of semaphores warns of those that are left."""
    given = [sys.executable, "-c", INTERRUPTED]
    ran = subprocess.Popen(given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path, start_new_session=True)
    assert (*ran.communicate(timeout=WATCHDOG), ran.returncode) == ("", "", 130)


def test_devices_and_plans_in_files_are_those_of_workers(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(300_000.0))
    (tmp_path / "w.rho").write_text('input x : f64[n] ← "x.npy"\nz ← *1○x\noutput z\n', encoding="utf-8")
    one = '[[device]]\nname = "{}"\nclass = "cpu"\n{}roofline = {{ flops = {}_000_000_000, bandwidth = 8_000_000_000 }}\n'
    devices = one.format("head", "home = true\n", 1) + one.format("slow", "", 2) + one.format("quick", 'worker = "w0"\n', 8)
    (tmp_path / "f.toml").write_text(f'schema = "device-profile/1"\n{devices}', encoding="utf-8")
    given = ["w.rho", "--cluster", "local:2", "--fast"]
    assert rho(tmp_path, "plan", *given, "--devices", "f.toml", "-o", "p.json").returncode == 0
    plan = json.loads((tmp_path / "p.json").read_text(encoding="utf-8"))
    assert [device["id"] for device in plan["devices"]] == ["head", "slow", "quick", "files"]
    ran = [
        rho(tmp_path, "run", *given, "--devices", "f.toml", "--out", "z=a.npy"),
        rho(tmp_path, "run", *given[:-1], "--plan", "p.json", "--out", "z=b.npy"),
        rho(tmp_path, "run", "w.rho", "--out", "z=c.npy"),
    ]
    assert [(one.returncode, one.stdout, one.stderr) for one in ran] == [(0, "", "")] * 3
    first, *others = [(tmp_path / f"{name}.npy").read_bytes() for name in "abc"]
    assert others == [first] * 2
    fewer = rho(tmp_path, "run", "w.rho", "--cluster", "local:1", "--plan", "p.json", "--out", "z=d.npy")
    assert (fewer.returncode, "SCH104" in fewer.stderr, "of the plan has no worker" in fewer.stderr) == (4, True, True)
    at_home = rho(tmp_path, "run", *given[:-1], "--plan", "p.json")
    assert (at_home.returncode, "SCH301" in at_home.stderr) == (4, True)
    fewer = rho(tmp_path, "run", "w.rho", "--cluster", "local:1", "--devices", "f.toml")
    assert (fewer.returncode, "f.toml:7:1" in fewer.stderr, "`slow` has no worker" in fewer.stderr) == (4, True, True)
