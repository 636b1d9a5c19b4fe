"""Ticks of shards are the profile's own at every number of rows, and what is said of ranges of rows holds for each of them."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from random import Random

import pytest
from share import SEED, share

from rho import backend
from rho.backend.devices.cost_functions import Ticks
from rho.backend.devices.phase_cost import phase_ticks
from rho.backend.devices.profile import DeviceProfile
from rho.backend.devices.profile_toml import read_profile
from rho.backend.devices.this_machine import load_profile
from rho.backend.graph.phases import Loop, Structured
from rho.backend.schedule.program.distributed_loop import ProgramProblem
from rho.backend.schedule.program.problem_from_program import problem_of
from rho.backend.schedule.program_facts.partitioning import box_of, space_of
from rho.lang.syntax.source import Source
from rho.tests.plans.drawn import BLOCKS, drawn
from rho.tests.plans.prices import Prices
from rho.typechecker.check import check

CASES = [(kind, seed) for kind in BLOCKS for seed in range(SEED * 12, SEED * 12 + 12)]


def priced(program: ProgramProblem, prices: Prices, place: int, device: str, rows: int) -> int | None:
    """What the judge says of the first `rows` rows."""
    phase, cut = program.phases[place], program.cuts.cut_of[place]
    space = space_of(phase, program.bound.graph.types)
    assert cut is not None and space is not None
    return prices.shard(phase, device, box_of(cut, space, 0, rows))


@pytest.mark.parametrize(("kind", "seed"), share(CASES, seed=1))
def test_curves_are_the_profile_at_every_size(kind: str, seed: int) -> None:
    case, r = drawn(seed, kind=kind), Random(seed)
    bound = backend.bind_shapes(check(Source("<curves>", case.text)).core, case.shapes)
    program = problem_of(bound, read_profile("<drawn>", case.profile))
    prices = Prices(bound.graph, tomllib.loads(case.profile), program.problem.tick_ns)
    for place, task in enumerate(program.problem.phases):
        if task.rows < 2 or task.home:
            continue
        for group in program.problem.devices:
            table = task.ticks.get(group.kind)
            if table is None or type(table) is Ticks:
                continue
            sizes = sorted({1, task.rows, *(r.randint(1, task.rows) for _ in range(20))})
            ticks = {rows: table.at(rows) for rows in sizes}
            for rows in r.sample(sizes, min(6, len(sizes))):
                own = priced(program, prices, place, group.id, rows)
                assert own is None or own == ticks[rows], (kind, seed, place, group.id, rows)
            least, most = sorted(r.choices(sizes, k=2))
            inside = [took for rows, took in ticks.items() if least <= rows <= most]
            assert table.min_ticks(least, most) <= min(inside) and table.weak_min_ticks(least, most) <= min(inside)
            time = r.choice(inside)
            assert table.max_rows_within(time, task.rows) >= max(rows for rows, took in ticks.items() if took <= time)
            assert table.rate(task.rows) <= min(Fraction(took, rows) for rows, took in ticks.items())


STEPS = "size = [100000, 1000000, 1100000, 10000000]\nns = [10000, 100000, 1000000, 10000000]\n"


def test_a_step_is_where_the_table_has_it() -> None:
    """The issue's node: 100 µs at 1,000,000 bytes, 1 ms at 1,100,000."""
    device = '[[device]]\nname = "c"\nclass = "node"\nbackend = "cpu"\n[device.op."add.f64"]\n' + STEPS
    bound = backend.bind_shapes(check(Source("<step>", "input x : f64[7000 100]\n+/x")).core, {"x": (7000, 100)})
    program = problem_of(bound, read_profile("<step>", 'schema = "device-profile/1"\n' + device))
    table, tick = (
        next(t for task in program.problem.phases if task.rows and not task.home for t in task.ticks.values()),
        program.problem.tick_ns,
    )
    assert (table.at(1250) * tick, table.at(1375) * tick) == (100_000, 1_000_000)
    assert table.max_rows_within(100_000 // tick, 7000) == 1250
    assert table.min_ticks(1251, 7000) == table.at(1251) > 100_000 // tick


@pytest.mark.parametrize(
    "text",
    [
        "input x : f64[n]\noutput y ← 1○x+0.5", "input x : f64[n]\n+/x×x", "input x : f64[n 8]\noutput y ← +/x",
        "input x : f64[n 8]\noutput y ← (*x)÷8×x", "input x : f64[n]\noutput y ← {1○⍵}⍣50 ⊢ x",
        "input x : f64[n]\noutput y ← {⍵×0.5+⍵}⍣50 ⊢ x",
    ],
)  # fmt: skip
def test_measured_tables_bound_ranges_too(text: str) -> None:
    """Parts of phases that were measured one by one, and how threads share them, are formulas of the rows as whole tables are."""
    profile, rows = load_profile("default-compiled"), 1_000_000
    profile = replace(profile, devices=(replace(profile.home, threads=2),))
    core = check(Source("<measured>", text)).core
    bound = backend.bind_shapes(core, {"x": (rows, 8)[: 2 if "8]" in text else 1]})
    phase = next(p for p in bound.graph.phases if isinstance(p, Structured | Loop))
    table = phase_ticks(phase, bound, profile, profile.home.name, axis=0, rows=rows)
    assert table is not None
    sizes = sorted(Random(1).sample(range(1, rows), 40))
    for least, most in pairwise(sizes):
        inside = min(table.at(size) for size in range(least, most + 1, max(1, (most - least) // 400)))
        assert table.min_ticks(least, most) <= inside and 20 * table.min_ticks(least, most) >= 19 * inside
    assert table.rate(rows) <= min(Fraction(table.at(size), size) for size in sizes)
    assert table.rate(rows) * rows * 2 > table.at(rows)


def test_a_series_in_a_loop_waits_for_itself() -> None:
    """A turn of `1○` takes longer than its throughput says, as much as that of `*` was measured to."""
    profile = load_profile("default-compiled")
    waits = replace(profile, devices=(without(profile.home, "turn.exp.f64"),))
    core = check(Source("<series>", "input x : f64[n]\noutput y ← {1○⍵}⍣50 ⊢ x")).core
    bound = backend.bind_shapes(core, {"x": (1_000_000,)})
    loop = next(phase for phase in bound.graph.phases if isinstance(phase, Loop))
    alone, among = (phase_ticks(loop, bound, one, one.home.name) for one in (profile, waits))
    assert alone is not None and among is not None
    exp = profile.home.ops
    ratio = Fraction(exp["turn.exp.f64"].ns[0], exp["point.exp.f64"].ns[0])
    assert ratio > 2 and Fraction(9, 10) * ratio < Fraction(alone.at(1), among.at(1)) < Fraction(11, 10) * ratio


def without(device: DeviceProfile, table: str) -> DeviceProfile:
    return replace(device, ops={name: one for name, one in device.ops.items() if name != table})
