"""Programs that fail on workers: the same failure as on one device, at the same place, and nobody waits for ever."""

from __future__ import annotations

import random

import numpy as np
import pytest
from share import seeds

from rho import backend
from rho.backend.cluster import worker
from rho.backend.cluster.membership import WorkerFault
from rho.backend.devices.profile import DeviceProfile, LinkProfile, Profile
from rho.backend.schedule.program.plan_from_schedule import plan_of
from rho.backend.schedule.program.problem_from_program import problem_of
from rho.lang.diagnostics.model import RunFailed
from rho.tests.backend.quick import with_modes
from rho.tests.backend.test_programs_on_devices import random_modes, ticks_of
from rho.tests.cluster.residents import Threads, run_on
from rho.tests.harness.tiers import checked

pytestmark = pytest.mark.long

TWO_FAIL = """input x : f64[n]
input i : i64[m]
a ← 3×x+1
b ← a[i]
c ← i64 (x×0.5)
d ← +/c
⎕←+/b
⎕←d
⎕←+/x
"""


@pytest.mark.parametrize("seed", seeds(8, least=2))
@pytest.mark.parametrize("wrong", ["first", "second", "both", "none"])
def test_the_failure_is_that_of_one_process(threads: Threads, seed: int, wrong: str) -> None:
    data = {"x": np.arange(0, 80, 2.0), "i": np.arange(10)}
    if wrong in ("first", "both"):
        data["i"][3] = 100
    if wrong in ("second", "both"):
        data["x"][7] = 3.0
    core = checked(TWO_FAIL)
    assert core is not None
    bound = backend.load(core, data)
    devices = [DeviceProfile("cpu0", "cpu", home=True), *(DeviceProfile(f"d{i}", "k0") for i in range(1, 4))]
    profile = Profile(tuple(devices), tuple(LinkProfile("cpu0", d.name, latency_ns=1) for d in devices[1:]))
    chance = random.Random(seed)
    made = problem_of(bound, profile, ticks_of=ticks_of(chance))
    answer = with_modes(made.problem, random_modes(made.problem, chance))
    assert answer is not None
    plan = plan_of(made, answer)
    if wrong == "none":
        run_on(threads, plan, bound, data)
        return
    with pytest.raises(RunFailed) as alone:
        backend.execute(plan, bound, data)
    with pytest.raises(RunFailed) as apart:
        run_on(threads, plan, bound, data)
    (one,), (other,) = alone.value.diagnostics, apart.value.diagnostics
    assert (one.code, one.message, one.span) == (other.code, other.message, other.span)


def test_a_mistake_in_rho_on_a_worker_is_named_in_a_line_and_traced_in_a_note(
    threads: Threads, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: object, **more: object) -> None:
        raise TypeError("nothing to add")

    core = checked("input x : f64[n]\noutput y ← 1+x\n")
    assert core is not None
    data = {"x": np.arange(20.0)}
    bound = backend.load(core, data)
    profile = Profile(
        (DeviceProfile("cpu0", "cpu", home=True), DeviceProfile("d1", "k0")), (LinkProfile("cpu0", "d1", latency_ns=1),)
    )
    made = problem_of(bound, profile, ticks_of=ticks_of(random.Random(1)))
    answer = next(
        answer for seed in range(50)
        if (answer := with_modes(made.problem, random_modes(made.problem, random.Random(seed)))) is not None
        and answer.schedule is not None and any(shard.device for shard in answer.schedule.shards)
    )  # fmt: skip
    monkeypatch.setattr(worker, "execute_plan", broken)
    with pytest.raises(WorkerFault, match=r"worker tcp://[\d.:]+ failed: TypeError: nothing to add") as caught:
        run_on(threads, plan_of(made, answer), bound, data)
    assert str(caught.value).endswith("nothing to add")
    assert any("Traceback" in note and "in broken" in note for note in caught.value.__notes__)
