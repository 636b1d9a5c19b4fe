"""Random programs on devices with little memory: what fits at home in the order of the file is planned, and every plan runs."""

from __future__ import annotations

import dataclasses
import random

import pytest
from share import SEED, repeats

from rho import backend
from rho.backend.devices.profile import Profile
from rho.backend.graph.bind_sizes import BoundGraph
from rho.backend.schedule.problem import Decisions, InsertionPolicy
from rho.backend.schedule.program.distributed_loop import TicksOf
from rho.backend.schedule.program.plan_program import plan_program
from rho.backend.schedule.program.problem_from_program import problem_of
from rho.backend.schedule.search.strategy import FAST
from rho.backend.schedule.timeline.serial_sgs import decode_schedule
from rho.backend.schedule.verify.schedule_checks import memory_in_use
from rho.backend.vm.values import to_numpy
from rho.lang.diagnostics.model import Rejected, RunFailed
from rho.tests.graph.test_random import program
from rho.tests.harness.tiers import by_reference, differences, longest, rounds, values_of

from .test_programs_on_devices import run, same_bits, ticks_of, topology


def at_home(bound: BoundGraph, profile: Profile, given: TicksOf) -> int:
    """The most bytes in use with everything at home, one phase after the other."""
    problem = problem_of(bound, profile, ticks_of=given).problem
    home = int(problem.home)
    roomy = dataclasses.replace(problem, devices=tuple(dataclasses.replace(g, memory=1 << 50) for g in problem.devices))
    modes = tuple(((home, phase.units),) for phase in problem.phases)
    schedule = decode_schedule(roomy, Decisions(modes, tuple(range(len(modes))), InsertionPolicy.APPEND))
    assert schedule is not None
    return memory_in_use(roomy, schedule)[home][0]


def tight(profile: Profile, peak: int, chance: random.Random) -> Profile:
    """With memory of about that peak."""
    sizes = [max(1, round(peak * chance.choice([0.4, 0.8, 1, 1, 1.3, 3]))) for _ in profile.devices]
    devices = tuple(
        dataclasses.replace(one, memory_bytes=size, memory_reserve=0) for one, size in zip(profile.devices, sizes, strict=True)
    )
    return dataclasses.replace(profile, devices=devices)


@pytest.mark.parametrize("number", range(repeats(60)))
def test_what_fits_at_home_is_planned_and_what_is_planned_runs(number: int) -> None:
    seed = SEED * 1_000_003 + number
    build, chance = program(seed), random.Random(seed)
    core, data = build.core(), {name: to_numpy(value) for name, value in build.data.items()}
    expected = by_reference(core, data)
    if isinstance(expected, str):
        return
    bound = backend.load(core, data)
    profile, given = topology(chance), ticks_of(chance)
    peak = at_home(bound, profile, given)
    limited = tight(profile, peak, chance)
    fits = (limited.home.memory_bytes or 0) >= peak
    try:
        plan = plan_program(core, bound, limited, budget=FAST, ticks_of=given).plan
    except (Rejected, RunFailed) as refused:
        assert not fits, (seed, str(refused))
        return
    found = run(plan, bound, data)
    assert not differences(values_of(found), expected, longest(data) if rounds(core) else 0), seed
    assert same_bits(found, backend.execute(backend.plan(bound), bound, data)), seed
