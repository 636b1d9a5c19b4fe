"""Arrays that stay on OpenCL devices between runs: the bytes that move, the bits, and the memory that they take."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rho
from rho import backend
from rho.backend.devices.profile import Profile
from rho.backend.gpu.driver import Card
from rho.backend.schedule.program.plan_program import plan_program
from rho.shell.embedding.programs import Plan
from rho.tests.devices.opencl_devices import needs_opencl
from rho.tests.devices.test_several_devices import THREE, three
from rho.tests.harness.tiers import checked

pytestmark = [needs_opencl, pytest.mark.usefixtures("three"), pytest.mark.long]
__all__ = ["three"]
ROWS = 3_000
TRAIN = """input w : f64[n]
input x : f64[n]
d ← (x×w)-1
g ← 2×x×d
w2 ← w-0.1×g
output loss ← +/d*2
output w2
schedule {{
  {}
}}
"""
ON_ONE = "place d on ocl0\n  place g on ocl0\n  place w2 on ocl0\n  place loss on ocl0"
ON_ALL = "\n  ".join(f"split {name} rows 1:1:1 over cpu0 ocl0 ocl1" for name in ("d", "g", "w2"))


@pytest.fixture
def moved(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """The bytes that go up to cards and come down."""
    bytes_of, up, read = Counter[str](), Card.up, Card.read

    def counted_up(self: Card, host: Any) -> Any:
        bytes_of["up"] += host.nbytes
        return up(self, host)

    def counted_read(self: Card, value: Any, host: Any) -> bool:
        was_read = read(self, value, host)
        bytes_of["down"] += was_read * value.nbytes
        return was_read

    monkeypatch.setattr(Card, "up", counted_up)
    monkeypatch.setattr(Card, "read", counted_read)
    return bytes_of


def loaded(tmp_path: Path, text: str, given: dict[str, Any], profile: Profile = THREE) -> tuple[Any, Plan]:
    core = checked(text)
    assert core is not None
    script = tmp_path / "train.rho"
    script.write_text(text, encoding="utf-8")
    return rho.load(script), Plan(plan_program(core, backend.load(core, given), profile).plan)


@pytest.mark.parametrize("directives", [ON_ONE, ON_ALL], ids=["one", "all"])
def test_state_stays_on_its_devices(tmp_path: Path, moved: Counter[str], directives: str) -> None:
    x = np.random.default_rng(1).uniform(0.5, 1, ROWS)
    program, plan = loaded(tmp_path, TRAIN.format(directives), {"w": x, "x": x})
    here, alone = np.zeros(ROWS), []
    for _ in range(3):
        result = program.run(plan=plan, w=here, x=x)
        here = result["w2"]
        alone.append(float(result["loss"]))
    without = Counter(moved)
    moved.clear()
    state, losses, steps = {"w": rho.ResidentArray(np.zeros(ROWS))}, [], []
    data = rho.ResidentArray(x)
    for _ in range(3):
        result = program.run(plan=plan, **state, x=data, keep={"w2": "w"})
        state = dict(result.resident)
        losses.append(float(result["loss"]))
        steps.append(Counter(moved))
        moved.clear()
    assert losses == alone
    every_run, last = sum(without.values()) / 3, sum(steps[-1].values())
    if directives == ON_ONE:
        assert every_run >= 3 * 8 * ROWS and last == steps[1]["down"] == 8  # the loss
    else:  # rows of d are sent on, as sums go by blocks of 4,096
        assert every_run - last >= 3 * 8 * ROWS * 2 // 3 - 100
    assert np.asarray(state["w"]).tobytes() == here.tobytes()


def test_another_program_reads_what_stays(tmp_path: Path, moved: Counter[str]) -> None:
    x = np.linspace(0.5, 1, ROWS)
    program, plan = loaded(tmp_path, TRAIN.format(ON_ONE), {"w": x, "x": x})
    left = program.run(plan=plan, w=np.zeros(ROWS), x=x, keep="w2").resident["w2"]
    use, on_other = loaded(tmp_path, "input w : f64[n]\noutput s ← +/w×w\nschedule {\n  place s on ocl1\n}\n", {"w": x})
    moved.clear()
    first = use.run(plan=on_other, w=left)["s"]
    assert moved == {"up": 8 * ROWS, "down": 8 * ROWS + 8}  # from the one device to the other, over the host
    second = use.run(plan=on_other, w=left)["s"]
    assert first == second and moved == {"up": 8 * ROWS, "down": 8 * ROWS + 16}
    host = np.asarray(left)
    assert np.isclose(float(first), float(host @ host), rtol=1e-14)
    assert rho.compile("{+/⍵×⍵}")(left).tobytes() == use.run(w=left)["s"].tobytes()  # the processor reads it too


def test_what_stays_counts_in_the_memory_of_its_device(tmp_path: Path) -> None:
    x = np.linspace(0.5, 1, ROWS)
    home, card, other = THREE.devices
    small = replace(THREE, devices=(home, replace(card, memory_bytes=6 * 8 * ROWS), other))
    program, plan = loaded(tmp_path, TRAIN.format(ON_ONE), {"w": x, "x": x}, small)
    stays = []
    with pytest.raises(rho.RunFailed) as failure:
        for _ in range(9):
            stays.append(program.run(plan=plan, w=x, x=x, keep="w2").resident["w2"])
    assert failure.value.diagnostics[0].code == "E702" and 1 <= len(stays) <= 5
    stays.clear()
    del failure  # and the arrays of its frames
    assert program.run(plan=plan, w=x, x=x, keep="w2").resident["w2"].shape == x.shape
