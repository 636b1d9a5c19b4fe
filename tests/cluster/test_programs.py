"""Random programs on random plans, each device a resident: the bits of one device."""

from __future__ import annotations

import random

import pytest
from share import seeds

from rho import backend
from rho.backend.reference.interpreter import interpret
from rho.backend.schedule.plan.plan import LoopStep
from rho.backend.schedule.program.plan_from_schedule import plan_of
from rho.backend.schedule.program.problem_from_program import problem_of
from rho.backend.vm.values import to_numpy
from rho.lang.diagnostics.model import RhoError
from rho.tests.backend.loop_programs import loop_program, planned_together
from rho.tests.backend.loops_of_two import SHIFTED, TURNED, UNTIL, planned
from rho.tests.backend.quick import split_evenly, with_modes
from rho.tests.backend.test_programs_on_devices import random_modes, same_bits, ticks_of, topology
from rho.tests.backend.test_threads import prepared
from rho.tests.cluster.residents import Threads, run_on
from rho.tests.graph.test_random import program
from rho.tests.harness.tiers import checked

pytestmark = pytest.mark.long


@pytest.mark.parametrize("seed", seeds(100))
def test_random_programs(threads: Threads, seed: int) -> None:
    build, chance = program(seed), random.Random(seed)
    core, data = build.core(), {name: to_numpy(value) for name, value in build.data.items()}
    try:
        interpret(core, build.data, {})
    except RhoError:
        return
    bound = backend.load(core, data)
    alone = backend.execute(backend.plan(bound), bound, data)
    made = problem_of(bound, topology(chance), ticks_of=ticks_of(chance))
    for answer in (split_evenly(made.problem), with_modes(made.problem, random_modes(made.problem, chance))):
        assert answer is not None
        assert same_bits(run_on(threads, plan_of(made, answer), bound, data), alone)


@pytest.mark.parametrize("seed", seeds(100))
def test_random_loops(threads: Threads, seed: int) -> None:
    text, data = loop_program(seed)
    core = checked(text)
    if core is None:
        return
    try:
        bound = backend.load(core, data)
    except RhoError:
        return
    chance = random.Random(seed)
    found = planned_together(bound, topology(chance), ticks_of(chance), chance)
    if found is not None:
        alone = backend.execute(backend.plan(bound), bound, data)
        assert same_bits(run_on(threads, found[2], bound, data), alone)


@pytest.mark.parametrize("seed", range(4))
def test_threads_programs(threads: Threads, seed: int) -> None:
    plan, bound, data = prepared(2 + seed % 4, seed)
    alone = backend.execute(backend.plan(bound), bound, data)
    for _ in range(3):
        assert same_bits(run_on(threads, plan, bound, data), alone)


def test_halos_of_turns_go_between_workers(threads: Threads) -> None:
    """Found by random loops: values of a turn are not values of the program."""
    for text in (SHIFTED, TURNED, UNTIL):
        made, bound, data = planned(text)
        alone = backend.execute(backend.plan(bound), bound, data)
        assert any(isinstance(step, LoopStep) and step.rows for queue in made.plan.main.queues for step in queue.steps)
        assert same_bits(run_on(threads, made.plan, bound, data), alone)
