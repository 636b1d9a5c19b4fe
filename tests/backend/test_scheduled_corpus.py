"""Programs whose every value is named again and spoken of by a schedule block: accepted alike, planned on several devices with
branches of both forms, run in threads, and the same bits as without the block."""

from __future__ import annotations

import dataclasses

import pytest
from share import drawing, share

from rho import backend
from rho.backend.cpu.backend import CpuBackend
from rho.backend.distributed.buffers import QueueClock
from rho.backend.graph.partial_graphs import speculable_branches, speculated_branches
from rho.backend.schedule.program.iteration_plan import bound_in_form
from rho.backend.schedule.program.plan_from_schedule import plan_of
from rho.backend.schedule.program.problem_from_program import problem_of
from rho.backend.schedule.verify.plan_checks import check_plan
from rho.backend.vm.executor import execute_plan
from rho.backend.vm.run_state import RunResults
from rho.lang.diagnostics.model import RhoError
from rho.tests.backend.quick import with_modes
from rho.tests.backend.test_differential import DECLARED, PROGRAMS, data
from rho.tests.backend.test_programs_on_devices import random_modes, same_bits, ticks_of, topology
from rho.tests.harness.tiers import checked

NAMED = "copied ← made\nvector ← f\nnumbers ← i\n⎕←copied\n⎕←made\nchosen ← {⍵ : (+/vector)×≢b ⋄ 1+-/numbers}0<+/b\n⎕←chosen\n"
BLOCK = "schedule { made copied vector numbers chosen before print }\n"
EXACT = [text for text in PROGRAMS if "+.×" not in text]  # parts of a product need not have the bits of the whole


@pytest.mark.parametrize("part", range(5))
def test_a_block_changes_no_program(part: int) -> None:
    several = 0
    for text in share(EXACT[part::5], seed=part):
        *before, last = text.split("\n")
        program = DECLARED + "\n".join([*before, f"made ← {last}", NAMED])
        plain, scheduled = checked(program), checked(program + BLOCK)
        assert (plain is None) == (scheduled is None), text
        if plain is None or scheduled is None:
            continue
        arrays = data(5, 3, 4)
        try:
            bound = backend.load(plain, arrays)
            expected: RunResults | RhoError = backend.execute(backend.plan(bound), bound, arrays)
        except RhoError as error:
            expected = error
        try:
            bound = backend.load(scheduled, arrays)
            chance = drawing(text)
            apart = speculated_branches(bound.graph, speculable_branches(bound.graph)) if chance.random() < 0.5 else ()
            made = problem_of(bound_in_form(bound, apart), topology(chance), ticks_of=ticks_of(chance))
            answer = with_modes(made.problem, random_modes(made.problem, chance))
            assert answer is not None
            places = tuple(place for place, phase in enumerate(made.phases) if phase.id in apart)
            plan = plan_of(made, dataclasses.replace(answer, speculated=places))
            assert check_plan(plan, bound) == (), text
            found: RunResults | RhoError = execute_plan(
                plan, bound, arrays, {d.id: CpuBackend() for d in plan.devices}, pace=QueueClock.THREADS
            )
        except RhoError as error:
            found = error
        if isinstance(expected, RhoError) or isinstance(found, RhoError):
            assert isinstance(expected, RhoError), text
            assert isinstance(found, RhoError), text
            assert [d.code for d in found.diagnostics] == [d.code for d in expected.diagnostics], text
        else:
            assert same_bits(found, expected), text
            several += 1
    assert several
