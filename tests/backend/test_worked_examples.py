"""The worked examples S01 to S05 of scheduling.md as programs: what their schedule blocks ask, and the plans they get."""

from __future__ import annotations

import numpy as np
import pytest

from rho import backend
from rho.backend.cpu.backend import CpuBackend
from rho.backend.devices.this_machine import load_profile
from rho.backend.distributed.buffers import QueueClock
from rho.backend.schedule.plan.plan import BranchStep, ExecutionPlan, RunStep, TransferStep, WaitStep
from rho.backend.schedule.program.plan_program import PlannedProgram, plan_program
from rho.backend.schedule.search.strategy import FAST
from rho.backend.vm.executor import execute_plan
from rho.backend.vm.run_state import RunResults
from rho.lang.diagnostics.model import Rejected
from rho.lang.syntax.source import Source
from rho.typechecker.check import check

VECTORS = {name: np.array([1.5, 2.0, 4.0]) * k for k, name in enumerate("xyz", 1)}

FOUR = """input x : f64[3]
input y : f64[3]
input z : f64[3]
a ← x+y
b ← x×y
c ← x-z
d ← y÷z
⎕←a
⎕←d
"""

COPIES = "input x : f64[3]\ny ← x+5\nz ← y\n⎕←z\n"


def planned(text: str, block: str, data: dict[str, np.ndarray], devices: str = "workstation") -> PlannedProgram:
    checked = check(Source("example.rho", text + (f"schedule {{\n{block}\n}}\n" if block else "")))
    assert checked.core is not None, checked.diagnostics
    named = {one.name for one in checked.core.inputs}
    bound = backend.load(checked.core, {name: data[name] for name in named})
    found = plan_program(checked.core, bound, load_profile(devices), budget=FAST)
    own = {name: data[name] for name in named}
    here = {device.id: CpuBackend() for device in found.plan.devices}
    results = execute_plan(found.plan, bound, own, here, pace=QueueClock.SIMULATED)
    assert same(results, backend.execute(backend.plan(bound), bound, own))
    return found


def same(found: RunResults, alone: RunResults) -> bool:
    pairs = zip(found.printed, alone.printed, strict=True)
    return all(a.value.tobytes() == b.value.tobytes() and a.value.shape == b.value.shape for a, b in pairs)


def syncs(plan: ExecutionPlan) -> int:
    return sum(isinstance(s, WaitStep) for q in plan.main.queues if q.kind.value == "compute" for s in q.steps)


def moved(plan: ExecutionPlan) -> list[tuple[str, str]]:
    return sorted((s.source, s.target) for q in plan.main.queues for s in q.steps if isinstance(s, TransferStep))


def runs(plan: ExecutionPlan, device: str) -> list[str]:
    """What the phases are called that run on a device, in order."""
    labels = {phase.id: phase.label.split()[0] if phase.label else "" for phase in plan.phases}
    return [labels[s.phase] for q in plan.main.queues if q.device == device and q.kind.value == "compute" for s in q.steps
            if isinstance(s, RunStep | BranchStep)]  # fmt: skip


@pytest.mark.parametrize("device", ["gpu0", "gpu1", "gpu"])
def test_s05_a_name_of_what_is_there_already_is_a_phase_of_its_own(device: str) -> None:
    plan = planned(COPIES, f"place y on {device}\nplace z on cpu", VECTORS).plan
    assert syncs(plan) == 2
    used = "gpu1" if device == "gpu1" else "gpu0"
    assert moved(plan) == [("cpu0", used), (used, "cpu0")]


@pytest.mark.parametrize("first", ["z before y", "order z y", "cpu { z ⋄ y }\nz before y"])
def test_s05_the_copy_cannot_come_first(first: str) -> None:
    with pytest.raises(Rejected) as caught:
        planned(COPIES, first, VECTORS)
    assert [d.code for d in caught.value.diagnostics] == ["SCH102"]


def test_copies_are_made_only_for_schedules() -> None:
    def phases(block: str) -> int:
        checked = check(Source("example.rho", "input x : f64[3]\ny ← x+5\nz ← y\nw ← x\n⎕←z\n⎕←w\n" + block))
        assert checked.core is not None
        return len(backend.load(checked.core, {"x": VECTORS["x"]}).graph.phases)

    plain = phases("")
    assert phases("schedule { place y on cpu }") == plain
    assert phases("schedule { place y z on cpu }") == plain + 1
    assert phases("schedule { y z, w before print }") == plain + 2
    assert phases("output r ← z\nschedule { y z r before print }") == plain + 3


def test_a_copy_is_as_well_known_as_what_it_copies() -> None:
    """Sizes that depend on a value are those of its copy too."""
    text = "input x : f64[n]\nm ← ≢x\nk ← m\n⎕←+/k↑x\nb ← x>1\nc ← b\n⎕←(c⌿x)+b⌿x\n⎕←(⍳k)+⍳m\n"
    for block in ("", "place k c on gpu0"):
        planned(text, block, {"x": np.arange(5.0)})


def test_s04_has_two_syncs_both_ways_of_saying_it() -> None:
    placed = "place a b on gpu0\nplace c d on cpu\n"
    completion = placed + "a, b before c, d\nminimize syncs"
    for block in (placed + "print a before d", completion, "gpu { a ⋄ b }\ncpu { c ⋄ d }\nprint a before d"):
        plan = planned(FOUR, block, VECTORS).plan
        assert syncs(plan) == 2
        gpus = {device for device, _ in moved(plan)} - {"cpu0"}
        assert len(gpus) == 1
        (gpu,) = gpus
        assert moved(plan) == [("cpu0", gpu), ("cpu0", gpu), (gpu, "cpu0")]


def test_a_group_is_a_place_and_an_order() -> None:
    for first, second in ("ab", "ba"):
        plan = planned(FOUR, f"gpu0 {{ {first} ⋄ {second} }}", VECTORS).plan
        assert runs(plan, "gpu0") == [first, second]


def test_a_class_of_different_devices_means_any_of_them() -> None:
    """The shipped workstation's GPUs differ; `gpu` is either, `cpu` neither."""
    for block, allowed in (("place a on gpu", {"gpu0", "gpu1"}), ("place a on gpu1", {"gpu1"}), ("place a on cpu", {"cpu0"})):
        plan = planned(FOUR, block, VECTORS).plan
        assert {d.id for d in plan.devices if "a" in runs(plan, d.id)} <= allowed
        assert any("a" in runs(plan, device) for device in allowed)


def test_an_unknown_class_is_answered_with_the_known_ones() -> None:
    with pytest.raises(Rejected) as caught:
        planned(FOUR, "place a on gpus", VECTORS)
    (found,) = caught.value.diagnostics
    assert found.code == "SCH107"
    assert "did you mean `gpu" in found.message
    assert "gpu," in found.notes[0]
