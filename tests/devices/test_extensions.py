"""Devices that lack an extension of OpenCL: what needs it is planned elsewhere, or refused with both names before a run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rho import backend
from rho.backend.codegen.gpu_targets import ATOMICS, DOUBLE, EXTENSIONS, needed_extensions
from rho.backend.devices.profile import DeviceProfile, LinkProfile, Profile, Roofline
from rho.backend.devices.profile_toml import canonical, read_profile
from rho.backend.gpu import opencl
from rho.backend.gpu.driver import CardModel
from rho.backend.schedule.plan.plan import phases_of
from rho.backend.schedule.program.plan_program import plan_program
from rho.lang.diagnostics.model import Refused
from rho.shell.execution import scheduling, stored_plans
from rho.tests.harness.tiers import checked

pytestmark = pytest.mark.long

FULL = Roofline(10**12, 10**11)
CARD = DeviceProfile("ocl0", "gpu", "opencl", home=True, roofline=FULL)
PROGRAMS = {
    "output r ← x+1": DOUBLE, "output r ← +/x": DOUBLE, "output r ← x÷f32 2": DOUBLE, "output r ← {⍵×0.5+x}⍣3 ⊢ x": DOUBLE,
    "output r ← 4+⌸(k ⋄ i)": ATOMICS[0], "output r ← (+/i)÷2": DOUBLE,
}  # fmt: skip
ANYWHERE = ("output r ← i+1", "output r ← +/i", "output r ← f×f", "output r ← ⌈/f", "output r ← +\\i", "output r ← i[k]")
GIVEN = {"x": np.arange(9.0), "f": np.arange(9, dtype=np.float32), "i": np.arange(9), "k": np.arange(9) % 4}
DECLARED = "input x : f64[n]\ninput f : f32[n]\ninput i : i64[n]\ninput k : idx<4>[n]\n"


def planned(text: str, profile: Profile) -> tuple[backend.BoundGraph, backend.ExecutionPlan]:
    core = checked(DECLARED + text + "\n")
    assert core is not None, text
    bound = backend.load(core, GIVEN)
    return bound, plan_program(core, bound, profile).plan


@pytest.mark.parametrize("text", PROGRAMS)
def test_what_needs_an_extension_is_refused_by_name(text: str) -> None:
    wanted = PROGRAMS[text]
    for lacks in (EXTENSIONS, tuple(one for one in EXTENSIONS if one == wanted)):
        with pytest.raises(Refused) as refused:
            planned(text, Profile((replace(CARD, lacks=lacks),)))
        first = refused.value.diagnostics[0]
        assert first.code == "SCH104" and wanted in first.message and "ocl0" in first.message
    planned(text, Profile((replace(CARD, lacks=tuple(one for one in EXTENSIONS if one not in (DOUBLE, *ATOMICS))),)))


@pytest.mark.parametrize("text", ANYWHERE)
def test_what_needs_none_runs_without_any(text: str) -> None:
    planned(text, Profile((replace(CARD, lacks=EXTENSIONS),)))


@pytest.mark.parametrize("text", PROGRAMS)
def test_a_processor_beside_it_takes_what_needs_an_extension(text: str) -> None:
    """The card is so much quicker that all runs there where it lacks nothing."""
    slow = DeviceProfile("cpu0", "cpu", home=True, roofline=Roofline(10**3, 10**3))
    needed = []
    for lacks in ((), EXTENSIONS):
        card = replace(CARD, home=False, lacks=lacks)
        bound, plan = planned(text, Profile((slow, card), (LinkProfile("cpu0", "ocl0", latency_ns=1),)))
        steps = [step for queue in plan.main.queues if queue.device == "ocl0" for step in queue.steps]
        phases = [phase for phase in bound.graph.phases for step in steps if phase.id in phases_of(step)]
        needed.append([extension for phase in phases for extension in needed_extensions(phase, bound.graph.types)])
    assert PROGRAMS[text] in needed[0] and not needed[1], text


def test_a_stored_plan_for_another_card_is_refused_before_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    bound, plan = planned("output r ← x+1", Profile((CARD,)))
    table = (CardModel(0, "Small", 1 << 30, "1.2", lacking=(DOUBLE,)),)
    monkeypatch.setattr(opencl, "gpus", lambda: table)
    with pytest.raises(Refused, match=f"ocl0 has no {DOUBLE}"):
        scheduling.require_local_devices(plan, bound, "p.rho", Profile((CARD,)))
    monkeypatch.setattr(opencl, "gpus", lambda: (replace(table[0], lacking=ATOMICS),))
    scheduling.require_local_devices(plan, bound, "p.rho", Profile((CARD,)))


def test_a_device_of_this_machine_is_named_with_what_it_lacks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from rho.backend.calibration import cards

    model = CardModel(0, "Small", 1 << 30, "1.2", lacking=(DOUBLE,))
    monkeypatch.setattr(cards, "measured_card", lambda name, kind, model: replace(CARD, name=name, home=False))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert stored_plans._card_profile("ocl7", model).lacks == (DOUBLE,)


def test_profiles_say_what_a_device_lacks() -> None:
    profile = Profile((replace(CARD, lacks=(DOUBLE,)),))
    assert read_profile("p", canonical(profile)) == profile
    with pytest.raises(Refused, match="lacks"):
        read_profile("p", canonical(profile).replace(DOUBLE, "cl_khr_fp16"))
