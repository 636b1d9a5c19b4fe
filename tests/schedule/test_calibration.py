"""Calibration with clocks and times made up for the purpose: no test looks at real times."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from fractions import Fraction
from math import prod
from pathlib import Path

import pytest

from rho.backend.calibration import calibrate as measure, measurement_loop, probes, probes as scalars
from rho.backend.calibration.calibrate import CalibrationEffort, calibrate
from rho.backend.calibration.measurement_loop import Clock, ProbeRow, Section, Times
from rho.backend.calibration.probes import kernels_as, tier_name, warm_kernels
from rho.backend.cpu.backend import CpuBackend
from rho.backend.devices.profile import CostTable, is_key
from rho.backend.devices.profile_toml import canonical, read_profile
from rho.backend.devices.this_machine import VERSION, HostFacts, cache_file, host_profile, machine_profile
from rho.backend.jit import tiering
from rho.backend.jit.tiering import Mode
from rho.lang.diagnostics.model import RunFailed
from rho.typechecker.elements import Kind

STEPS = {"step.f64", "first.f64", "call.f64", "first.library.f64", "first.made.f64"}


class Steady:
    """Each time that it is asked, so many nanoseconds have gone by, in turn."""

    def __init__(self, *times: int) -> None:
        self.times, self.calls, self.clock = times or (1000,), 0, 0

    def __call__(self) -> int:
        self.clock += self.times[self.calls % len(self.times)]
        self.calls += 1
        return self.clock


class Made:
    """A way whose runs take so long, in turn."""

    def __init__(self, *times: int) -> None:
        self.times = itertools.cycle(times)

    def ready(self, size: int, threads: int, clock: Clock) -> Callable[[], int]:
        return lambda: next(self.times)


def taking(*times: int) -> Times:
    return Times(((Made(*times), None, 1),))


def section(*, budget_ns: int = 10**9, clock: Clock | None = None, threads: int = 1) -> Section:
    return Section(clock or Steady(0), budget_ns, measurement_loop.LoadMonitor(0), threads)


def test_the_lower_quartile_of_medians_counts_and_first_runs_do_not() -> None:
    found, row = section(), ProbeRow("add.f64", taking(900, 10, 12, 14, 16, 15, 900, 20, 22, 24, 26, 25, 900, 1, 2, 3, 5, 4))
    found.add(row, 8)
    found.again(3, 10**9)
    assert [*found.times.values()] == [[14, 24, 3]] and found.tables() == {"add.f64": CostTable((8,), (3,))}


def test_a_row_is_a_sum_of_what_its_ways_take() -> None:
    found, one, other = section(), taking(100), taking(30)
    found.add(ProbeRow("add.f64", (one * 2 - other) * 0.5, at=other), 8)
    found.add(ProbeRow("sub.f64", other - one, least=7), 8)
    found.again(1, 10**9)
    assert found.tables() == {"add.f64": CostTable((30,), (85,)), "sub.f64": CostTable((8,), (7,))}
    assert len(found.live) == 2, "what two rows speak of is timed once"


def test_after_its_time_only_what_has_none_is_timed() -> None:
    found = section(budget_ns=0, clock=Steady(10))
    for _ in range(2):
        found.add(ProbeRow("add.f64", taking(10)), 1)
    found.again(5, until=15)
    assert [*map(len, found.times.values())] == [1, 1]


def test_a_row_grows_until_it_takes_too_long_and_what_is_no_table_is_left_out() -> None:
    found = section(budget_ns=1)
    rows = [ProbeRow("add.f64", taking(5), (1, 2, 8)), ProbeRow("sub.f64", taking(50), (1, 2, 3)), ProbeRow(lambda row,
        ready: None, taking(1))]
    found.grow(rows, 1, 10**9, 3, 10**9)
    assert found.tables() == {"add.f64": CostTable((1, 2), (5, 5)), "sub.f64": CostTable((1,), (50,))} and not found.live


def test_what_the_machine_does_not_let_is_left_out() -> None:
    class Refused:
        def ready(self, size: int, threads: int, clock: Clock) -> Callable[[], int]:
            raise OSError

    found = section()
    found.grow([ProbeRow("disk.read.u8", Times(((Refused(), None, 1),))), ProbeRow("add.f64", taking(5))], 1, 10**9, 1, 10**9)
    assert found.tables().keys() == {"add.f64"}


def test_residuals_are_shares_of_the_estimate() -> None:
    assert measure.shares([]) == (Fraction(1, 2), Fraction(1, 2))
    assert measure.shares([Fraction(1)] * 10) == (Fraction(2, 100), Fraction(2, 100))
    assert measure.shares([Fraction(8, 10)] * 5 + [Fraction(3, 2)] * 5) == (Fraction(2, 10), Fraction(1, 2))
    assert measure.shares([Fraction(9)] * 3) == (Fraction(2, 100), Fraction(9, 10))


@pytest.mark.parametrize("rows_of", [scalars.in_kernels, scalars.by_calls])
@pytest.mark.parametrize("kind", [Kind.F64, Kind.I64, Kind.BOOL])
def test_every_measured_body_runs(kind: Kind, rows_of: Callable[[Kind], Iterator[ProbeRow]]) -> None:
    with CpuBackend(1).quiet(), kernels_as(Mode.OFF):
        rows = list(rows_of(kind))
        assert len(rows) >= 8
        for row in rows:
            assert isinstance(row.table, str) and is_key(row.table) and isinstance(row.at, int) and row.at > 0
            for way, _, _ in row.ns.terms:
                assert way.ready(1, 1, Steady())() == 1000


def test_runs_are_as_many_numbers_as_their_probe_reads() -> None:
    for kind in (Kind.F64, Kind.BOOL):
        for name, length, runs, one in scalars.reductions(kind):
            assert prod(one.space) == length * runs and length in one.space and is_key(name)


def test_a_calibration_makes_a_profile_that_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tiering.SWITCH, "off")
    monkeypatch.setattr(scalars, "CALLED", (Kind.F64,))
    effort = CalibrationEffort(1, other_ns=0, budget_ns=0, places=1, waits=0, force=True)
    profile = calibrate(HostFacts(1, 1 << 30, "Some Processor"), Steady(5000), effort, date(2026, 11, 21))
    assert profile.calibration.calibrated == date(2026, 11, 21) and profile.calibration.facts["kernels"] == tier_name()
    assert {
        "add.f64", "ufunc.add.f64", "read.f64", "write.f64", "step.f64", "first.f64", "first.library.f64", "disk.read.u8",
        "grade.f64",
    } <= profile.home.ops.keys()  # fmt: skip
    assert all(is_key(name) for name in profile.home.ops)
    assert read_profile("again", canonical(profile)) == profile


def test_tables_of_an_earlier_sort_are_not_taken_for_new_ones(tmp_path: Path) -> None:
    facts = HostFacts(2, 1 << 30, "Some Processor")
    new = host_profile(facts, "numpy", {**facts.facts(), "numpy": "2"})
    old = replace(
        new,
        calibration=replace(
            new.calibration, calibrated=date(2026, 1, 1), facts={**new.calibration.facts, "version": VERSION - 1}
        ),
    )
    assert cache_file(old, tmp_path) != cache_file(new, tmp_path)
    cache_file(new, tmp_path).write_text(canonical(old), encoding="utf-8")  # put in the place of a new one, it is no use either
    assert machine_profile(facts, "numpy", "2", tmp_path).calibration.calibrated is None


def test_programs_ask_for_the_tables_the_model_asks_for() -> None:
    seen = set()
    for row in probes.LIBRARY:
        ready = row.ns.terms[0][0].ready(64, 1, Steady())
        asked = probes.asked_for(row, ready)
        assert isinstance(asked.table, str) and is_key(asked.table) and isinstance(asked.at, int) and asked.at > 0, row
        assert ready() > 0
        seen.add(asked.table)
    assert {"grade.f64", "scan.add.row.f64", "gemm.square.f64", "gemv.f64", "compress.f64", "key_reduce.add.f64"} <= seen


def test_steps_of_loops_are_seen_though_loops_are_machine_code_elsewhere() -> None:
    found = section(budget_ns=0)
    with warm_kernels(), CpuBackend(1).quiet():
        found.grow([row for row in probes.rows(1) if str(row.table) in STEPS], 1, 0, 1, 0)
    tables = found.tables()
    assert tables.keys() == STEPS
    assert all(len(table.ns) == 2 and table.ns[0] == table.ns[1] for table in tables.values())


def test_kernels_are_warm_only_while_measuring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(tiering.SWITCH, raising=False)
    with warm_kernels():
        assert tiering.mode() is tiering.Mode.WARM
    assert tiering.SWITCH not in os.environ
    monkeypatch.setenv(tiering.SWITCH, "off")
    with warm_kernels():
        assert tiering.mode() is tiering.Mode.OFF


def test_who_may_not_wait_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    asleep: list[float] = []
    monkeypatch.setattr(measurement_loop, "sleep", asleep.append)
    monkeypatch.setattr(measurement_loop.LoadMonitor, "is_calm", lambda self: False)
    watch = measurement_loop.LoadMonitor(0)
    assert watch.undisturbed(lambda: 1) == 1
    assert not asleep and watch.waits == 0


def test_a_disturbed_measurement_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    asleep: list[float] = []
    states = iter([False, True, False, True, True])  # busy, waited for, disturbed meanwhile, waited for, calm
    monkeypatch.setattr(measurement_loop, "sleep", asleep.append)
    monkeypatch.setattr(measurement_loop.LoadMonitor, "is_calm", lambda self: next(states, True))
    watch, found = measurement_loop.LoadMonitor(100), iter("abc")
    assert watch.undisturbed(lambda: next(found)) == "b"
    assert len(asleep) == 1 and watch.waits == 1


def test_beyond_what_was_measured_tables_have_the_shape_of_the_known_ones() -> None:
    """A point in proportion said 341 s of a product that takes 0.2."""
    known = {"gemm.square.f32": CostTable((10, 100, 1000), (50, 200, 1000)), "read.f64": CostTable((8,), (3,))}
    slow = {"gemm.square.f32": CostTable((10, 100), (100, 400)), "read.f64": CostTable((8,), (9,)), "new.f64": CostTable((8,),
        (9,))}
    assert measure.extended(slow, known) == {**slow, "gemm.square.f32": CostTable((10, 100, 1000), (100, 400, 2000))}
    assert measure.extended({"gemm.square.f32": CostTable((10,), (92950,))}, known)["gemm.square.f32"] == known["gemm.square.f32"]
    whole = {"gemm.square.f32": CostTable((10, 1000), (1, 2))}
    assert measure.extended(whole, known) == whole


def busy(monkeypatch: pytest.MonkeyPatch) -> HostFacts:
    monkeypatch.setenv(tiering.SWITCH, "off")
    monkeypatch.setattr(scalars, "CALLED", (Kind.F64,))
    monkeypatch.setattr(measurement_loop.LoadMonitor, "is_calm", lambda self: False)
    return HostFacts(1, 1 << 30, "Some Processor")


def test_a_calibration_that_others_disturb_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    effort = CalibrationEffort(1, other_ns=0, budget_ns=0, places=1, waits=0)
    with pytest.raises(RunFailed, match="others used the processor during 100 % of the measurements"):
        calibrate(busy(monkeypatch), Steady(5000), effort)


def test_tables_that_a_product_does_not_keep_to_are_refused() -> None:
    measure._require_products([Fraction(1, 3), Fraction(3)], CalibrationEffort())
    with pytest.raises(RunFailed, match="a product of matrices differs 1000 times"):
        measure._require_products([Fraction(1), Fraction(1, 1000)], CalibrationEffort())
    measure._require_products([Fraction(1000)], CalibrationEffort(force=True))
