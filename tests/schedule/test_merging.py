"""S09 on a link that takes time, and that merging keeps what it was given."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

from hypothesis import given, settings, strategies as st

from rho.backend.schedule.search.primal_heuristics import fewer_syncs
from rho.backend.schedule.timeline.fence_insertion import Merging, synchronise
from rho.backend.schedule.timeline.serial_sgs import decode_schedule
from rho.backend.schedule.verify.schedule_checks import verify_schedule

from .drawn import decisions_for, problem_of
from .test_fences import scheduled, sums


def test_s09_one_write_and_one_read() -> None:
    problem = sums()
    problem = replace(problem, links=(replace(problem.links[0], bytes_per_tick=Fraction(1)),))
    schedule = scheduled(problem, "y1 y2")
    assert synchronise(problem, schedule, Merging.SLACK).syncs == 3
    merged = fewer_syncs(problem, schedule)
    assert synchronise(problem, merged, Merging.SLACK).syncs == 2
    first = next(shard for shard in merged.shards if problem.phases[shard.phase].id == "y1")
    assert first.start == 26  # both inputs of 8 bytes, and the latency
    assert fewer_syncs(problem, schedule, most=schedule.makespan) == schedule


@given(st.integers(0, 1 << 40))
@settings(max_examples=60, deadline=None)
def test_merged_schedules_are_accepted(seed: int) -> None:
    r = Random(seed)
    problem = problem_of(r)
    schedule = decode_schedule(problem, decisions_for(r, problem))
    if schedule is None:
        return
    merged = fewer_syncs(problem, schedule)
    before, after = (synchronise(problem, each, Merging.SLACK) for each in (schedule, merged))
    assert after.syncs <= before.syncs
    assert verify_schedule(problem, merged, after) == ()
