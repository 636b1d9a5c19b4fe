"""Programs over the processor and two OpenCL devices, each queue in a thread: the bits of the processor alone."""

from __future__ import annotations

import threading
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from share import share

from rho import backend
from rho.backend.calibration import cards
from rho.backend.devices.phase_cost import phase_ticks
from rho.backend.devices.profile import DeviceProfile, LinkProfile, Profile, Roofline
from rho.backend.gpu import device, opencl
from rho.backend.gpu.driver import Card
from rho.backend.schedule.plan.plan import RunStep
from rho.backend.schedule.program.plan_program import plan_program
from rho.shell.execution import stored_plans
from rho.shell.main import main
from rho.shell.verbs import devices
from rho.tests.devices.opencl_devices import DEVICES, needs_opencl
from rho.tests.harness.tiers import checked
from rho.typechecker.elements import Kind

pytestmark = [needs_opencl, pytest.mark.long]
ROOF = Roofline(10**9, 10**9)
THREE = Profile(
    (DeviceProfile("cpu0", "cpu", roofline=ROOF, home=True),
     *(DeviceProfile(f"ocl{n}", "gpu", "opencl", memory_bytes=1 << 24, roofline=ROOF) for n in (0, 1))),
    tuple(LinkProfile("cpu0", f"ocl{n}", latency_ns=100) for n in (0, 1)),
)  # fmt: skip

CARDS: dict[tuple[str, int], Card] = {}
EVERYWHERE = "split r rows 1:1:1 over cpu0 ocl0 ocl1"
CASES = [
    *((f"output r ← {text}", EVERYWHERE) for text in (
        "3+x×x", "*-x×x", "x÷1+|y", "+/x×y", "⌈/x-y", "+/⍤1 ⊢ M", "+⌿M×0.1", "⌊0.5+x×9", "{(+/⍵)÷≢⍵}⍤1 ⊢ M", "M-⍤1 ⊢ N",
        "x+2×⌽y", "⌊/x", "∨/x>3", "+\\x", "⌊\\y", "∨\\x>3.5", "+\\i", "+⍀(n 1)⍴x",
    )),
    ("y0 ← 3+x×x\ns ← +/y0\noutput r ← y0÷s", "place y0 on ocl1\n  place s on ocl0"),
    ("a ← +\\x\noutput r ← a+y", "place a on ocl1"),
    ("a ← M×2\nb ← a+⍤1 ⊢ N\noutput r ← +/,b", "place a on ocl0\n  place b on ocl1"),
    ("a ← {⍵-0.3×⍵×⍵}⍣9 ⊢ x\noutput r ← a×y", "place a on ocl1"),
    ("a ← x[⍋x]\noutput r ← 1+a", "place r on ocl0"),
    ("a ← y[i]\noutput r ← a×2", "place a on ocl1"),
    ("a ← 7+⌸(7|i ⋄ ⌊x×9)\noutput r ← 2×a", "place r on ocl1"),
]  # fmt: skip
DECLARED = "input x : f64[n]\ninput y : f64[n]\ninput M : f64[r c]\ninput N : f64[c]\ninput i : idx<n>[n]\n"


@pytest.fixture
def three(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two devices: those that there are, or one twice, with contexts and queues of their own."""
    working = [row for row in opencl._devices() if not row[1]]
    monkeypatch.setattr(opencl, "_devices", lambda: (working * 2)[:2])
    monkeypatch.setattr(device, "_cards", CARDS)


@pytest.mark.parametrize(("text", "directives"), share(CASES))
@pytest.mark.usefixtures("three")
def test_the_bits_of_the_processor(text: str, directives: str) -> None:
    core = checked(f"{DECLARED}{text}\nschedule {{\n  {directives}\n}}\n")
    assert core is not None, text
    rng = np.random.default_rng(5)
    given = {"x": rng.standard_normal(30_000), "y": rng.standard_normal(30_000), "M": rng.standard_normal((300, 40)),
             "N": rng.standard_normal(40), "i": rng.integers(0, 30_000, 30_000)}  # fmt: skip
    bound = backend.load(core, given, {})
    planned = plan_program(core, bound, THREE).plan
    working = {queue.device for queue in planned.main.queues for step in queue.steps if isinstance(step, RunStep)}
    assert any(str(one).startswith("ocl") for one in working), "a device has work"
    got = backend.execute(planned, bound, given).outputs
    wanted = backend.execute(backend.plan(bound), bound, given).outputs
    assert got["r"].value.tobytes() == wanted["r"].value.tobytes()


@pytest.mark.usefixtures("three")
def test_queues_of_devices_run_beside_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each device has a thread: both wait for each other before either may begin."""
    text = "input x : f64[n]\na ← 3+x×x\nb ← 2×*-x\noutput r ← a+b\n"
    core = checked(text + "schedule {\n  place a on ocl0\n  place b on ocl1\n}\n")
    assert core is not None
    both, run_text = threading.Barrier(2, timeout=60), device.CardBackend.structured

    def together(self: Any, *args: Any) -> Any:
        kernel = run_text(self, *args)

        def run(memory: Any, target: Any) -> Any:
            both.wait()
            return kernel(memory, target)

        return run

    monkeypatch.setattr(device.CardBackend, "structured", together)
    given = {"x": np.arange(1000.0)}
    bound = backend.load(core, given, {})
    got = backend.execute(plan_program(core, bound, THREE).plan, bound, given).outputs["r"].value
    assert np.allclose(got, 3 + given["x"] ** 2 + 2 * np.exp(-given["x"]), rtol=1e-15)


# --------------------------------------------------------------------------------------------- the command line


@pytest.mark.usefixtures("three")
def test_devices_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """They are measured once; a program runs over the processor and one of them."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("rho.backend.calibration.cards._SATURATED_NS", 1000)
    monkeypatch.setattr("rho.backend.calibration.cards._ROUNDS", 1)
    monkeypatch.setattr("rho.backend.calibration.cards._MOST_NS", 0)
    script = tmp_path / "p.rho"
    script.write_text("x ← (⍳2000)÷7\ny ← 1+x×x\n+/y\nschedule {\n  place y on ocl0\n}\n", encoding="utf-8")
    launched: list[str] = []
    real = Card.empty

    def counted(self: Card, *args: Any) -> Any:
        launched.append(self.driver.name)
        return real(self, *args)

    monkeypatch.setattr(Card, "empty", counted)
    assert main(["run", str(script), "--devices", "cpu0,ocl0"]) == 0
    assert capsys.readouterr().out.split() == ["54382959.18"] and launched
    measured = len(launched)
    assert main(["run", str(script), "--devices", "cpu0,ocl0"]) == 0
    assert len(launched) - measured < measured, "the measurement is kept"
    before, usual = len(launched), opencl.gpus()
    monkeypatch.setattr(opencl, "gpus", lambda: tuple(replace(one, units=one.units + 1) for one in usual))
    assert main(["devices", "--devices", "cpu0,ocl0"]) == 0
    assert len(launched) - before >= measured // 2, "a processor of which the process may use more is measured anew"
    capsys.readouterr()
    assert main(["devices", "--devices", "cpu0,ocl9"]) != 0
    assert "`ocl9` is no device of this machine" in capsys.readouterr().err


def test_a_device_is_measured_by_functions_reductions_and_library_phases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each program of the tables is estimated by its own, in bytes, and a loop in one kernel by its turns."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    reduced = {Kind.F64: {"add": ("full", "row")}, Kind.BOOL: {"add": ("full",)}}
    small = {"_ROUNDS": 1, "_SATURATED_NS": 10**12, "_ITEMS": (1024, 2048), "_TRANSFERS": (64, 1 << 17), "_LIBRARY": ("x[i]",),
             "_REDUCED": reduced,
             "_APPLIED": {Kind.F64: ("add", "exp"), Kind.I64: ("residue",)}}  # fmt: skip
    for name, value in small.items():
        monkeypatch.setattr(cards, name, value)
    monkeypatch.setattr(cards, "_runs", lambda *given, usual=cards._runs: islice(usual(*given), 1))
    device = stored_plans.profile_named(f"ocl{DEVICES[0].number}").home
    assert device.name == f"ocl{DEVICES[0].number}", "a plan names the device as `rho devices` does"
    bytes_of = {name: table.size for name, table in device.ops.items()}
    assert bytes_of.pop("gather.f64")[0] > 0 and bytes_of == {
        "add.f64": (3 * 8192, 3 * 16384), "exp.f64": (2 * 8192, 2 * 16384), "transcendental.f64": (2 * 8192, 2 * 16384),
        "residue.i64": (3 * 8192, 3 * 16384), "reduce.add.full.f64": (8192, 16384), "reduce.add.row.f64": (8192, 16384),
        "reduce.add.full.bool": (1024, 2048),
    }  # fmt: skip
    times = {text: estimated(f"output r ← {text}", device) for text in ("1+x", "{0.5×⍵+1}⍣9 ⊢ x", "{0.5×⍵+1}⍣99 ⊢ x", "⌽x")}
    assert times["1+x"] < times["{0.5×⍵+1}⍣9 ⊢ x"] < times["{0.5×⍵+1}⍣99 ⊢ x"] < 40 * times["{0.5×⍵+1}⍣9 ⊢ x"]
    assert times["⌽x"] > 100, "cards copy what other devices view"


def estimated(text: str, device: DeviceProfile) -> int:
    core = checked(f"input x : f64[n]\n{text}\n")
    assert core is not None
    bound = backend.load(core, {"x": np.ones(1 << 16)})
    profile = Profile((replace(device, launch_ns=1, host_dispatch_ns=0),))
    return sum(
        ticks.at(1) for phase in bound.graph.phases if (ticks := phase_ticks(phase, bound, profile, device.name)) is not None
    )


def test_a_device_that_runs_nothing_is_refused_with_its_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (real, _), *_ = opencl._devices()
    monkeypatch.setattr(opencl, "_devices", lambda: ((real, "error: unknown target CPU"),))
    assert main(["devices"]) == 0
    assert "runs no programs: error: unknown target CPU" in capsys.readouterr().out
    assert main(["devices", "--devices", "cpu0,ocl0"]) != 0
    told = capsys.readouterr().err
    assert "SCH104" in told and "unknown target CPU" in told


def test_cards_are_checked(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """`--check` says that all is well, and names the programs where it is not."""
    monkeypatch.setattr(devices, "COUNTS", (5, 300))
    monkeypatch.setattr(devices, "PROGRAMS", [*share(devices.PROGRAMS, 3), "k×7"])
    name = f"ocl{DEVICES[0].number}"
    assert main(["devices", "--check", "--devices", name]) == 0
    assert f"{name}  {DEVICES[0].name}" in capsys.readouterr().out
    built = opencl._built

    def wrong(context: Any, text: str, options: list[str]) -> Any:
        return built(context, text.replace("(i64)7", "(i64)8"), options)

    monkeypatch.setattr(opencl, "_built", wrong)
    monkeypatch.setattr(device, "_cards", {})
    assert main(["devices", "--check", "--devices", name]) == 1
    assert "k×7  5 of 5 items differ" in capsys.readouterr().out
    assert main(["devices", "--check", "--devices", "ocl99"]) != 0
