"""Calibration with clocks and times made up for the purpose: no test looks at real times."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from fractions import Fraction
from math import prod
from pathlib import Path

import pytest

from rho.backend.devices.host import VERSION, HostFacts, cache_file, host_profile, machine_profile
from rho.backend.devices.keys import is_key
from rho.backend.devices.reading import read_profile
from rho.backend.devices.writing import canonical
from rho.backend.kernels import policy
from rho.backend.run.calibration import Effort, calibrate, calm, checking, computing, moving, samples, teams
from rho.backend.run.calibration.library import ROWS, asked_for, made
from rho.backend.run.calibration.probes import Section
from rho.backend.run.calibration.programs import library
from rho.backend.run.calibration.tier import tier_name, warm_kernels, without_kernels
from rho.backend.run.cpu import CpuBackend
from rho.typechecker.elements import Kind


class Steady:
    """Every call takes as long as `times` say, in turn; nothing else takes any time."""

    def __init__(self, *times: int) -> None:
        self.times, self.calls, self.clock = times or (1000,), 0, 0

    def now(self) -> int:
        return self.clock

    def time(self, call: Callable[[], object]) -> int:
        call()
        took = self.times[self.calls % len(self.times)]
        self.calls += 1
        self.clock += took
        return took


def test_the_lower_quartile_of_medians_counts_and_first_calls_do_not() -> None:
    section = Section(Steady(900, 10, 12, 14, 16, 15, 900, 20, 22, 24, 26, 25, 900, 1, 2, 3, 5, 4), 10**9)
    one = section.call(lambda: None)
    section.again(3, 10**9)
    assert one.times == [14, 24, 3] and one.ns == 3 and one.best == 3


def test_after_its_time_only_what_has_none_is_timed() -> None:
    section = Section(Steady(10), 0)
    probes = [section.call(lambda: None) for _ in range(2)]
    section.again(5, until=15)
    assert [len(one.times) for one in probes] == [1, 1]
    assert section.probes == probes
    section.let_go()
    assert not section.probes and probes[0].ns == 10


def test_residuals_are_shares_of_the_estimate() -> None:
    assert checking.shares([]) == (Fraction(1, 2), Fraction(1, 2))
    assert checking.shares([Fraction(1)] * 10) == (Fraction(2, 100), Fraction(2, 100))
    assert checking.shares([Fraction(8, 10)] * 5 + [Fraction(3, 2)] * 5) == (Fraction(2, 10), Fraction(1, 2))
    assert checking.shares([Fraction(9)] * 3) == (Fraction(2, 100), Fraction(9, 10))


@pytest.mark.parametrize("kind", [Kind.F64, Kind.I64, Kind.BOOL])
def test_every_measured_body_runs(kind: Kind) -> None:
    backend = CpuBackend(1)
    pairs = list(computing.in_kernels(kind))
    assert {f"point.{name}.{kind.value}" for name in ("and",) if kind is Kind.BOOL} <= {pair.key for pair in pairs}
    with backend.quiet(), without_kernels():
        for pair in [*pairs, *computing.by_calls(kind)]:
            assert is_key(pair.key) and pair.each > 0 and pair.count > 0, pair.key
            pair.more.kernel(backend)()


def test_runs_are_as_many_numbers_as_their_probe_reads() -> None:
    for kind in (Kind.F64, Kind.BOOL):
        for name, length, runs, probe in computing.reductions(kind):
            extents = sorted(axis.size.evaluate({}) for axis in probe.phase.axes)
            assert prod(extents) == length * runs and length in extents and is_key(name)


def test_a_calibration_makes_a_profile_that_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(policy.SWITCH, "off")
    for module, name in ((moving, "FRESH"), (moving, "SIDES"), (moving, "BEHIND"), (teams, "ROUND"), (checking, "POINTS")):
        monkeypatch.setattr(module, name, tuple(getattr(module, name)[:4]))
    monkeypatch.setattr(computing, "CALLED", (Kind.F64,))
    effort = Effort(1, budget_ns=0, moved=1 << 18, with_programs=False, waits=0)
    profile = calibrate(HostFacts(1, 1 << 30, "Some Processor"), Steady(5000), effort, date(2026, 11, 21))
    assert profile.calibration.calibrated == date(2026, 11, 21) and profile.calibration.facts["kernels"] == tier_name()
    assert {
        "add.f64",
        "ufunc.add.f64",
        "read.f64",
        "write.f64",
        "step.f64",
        "first.f64",
        "first.library.f64",
    } <= profile.home.ops.keys()
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
    for row in ROWS:
        for kind in row.kinds:
            program = made(row, kind, 64, 1)
            key, size = asked_for(program)
            assert is_key(key) and size > 0, row
            assert program.timed(library)() > 0
            seen.add(key)
    samples.forget_data()
    assert {"grade.f64", "scan.add.row.f64", "gemm.square.f64", "gemv.f64", "compress.f64", "key_reduce.add.f64"} <= seen


def test_steps_of_loops_are_seen_though_loops_are_machine_code_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moving, "BEHIND", (1 << 10,))
    section = Section(Steady(1000), 0)
    with warm_kernels(), CpuBackend(1).quiet():
        moving.add_steps(section, 1, 1 << 10)
        section.again(1, 0)
    tables = section.tables()
    assert tables.keys() == {"step.f64", "first.f64", "call.f64", "first.library.f64", "first.made.f64"}
    assert all(len(table.ns) == 2 and table.ns[0] == table.ns[1] for table in tables.values())


def test_kernels_are_warm_only_while_measuring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(policy.SWITCH, raising=False)
    with warm_kernels():
        assert policy.mode() is policy.Mode.WARM
    assert policy.SWITCH not in os.environ
    monkeypatch.setenv(policy.SWITCH, "off")
    with warm_kernels():
        assert policy.mode() is policy.Mode.OFF


def test_who_may_not_wait_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    asleep: list[float] = []
    monkeypatch.setattr(calm, "sleep", asleep.append)
    found = iter(range(9))
    assert calm.undisturbed(lambda: next(found)) == 0
    with calm.watching(0) as watch:
        monkeypatch.setattr(calm.Watch, "is_calm", lambda self: False)
        assert calm.undisturbed(lambda: next(found)) == 1
    assert not asleep and watch.waits == 0


def test_a_disturbed_measurement_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    asleep: list[float] = []
    states = iter([False, True, False, True, True])  # busy, waited for, disturbed meanwhile, waited for, calm
    monkeypatch.setattr(calm, "sleep", asleep.append)
    with calm.watching(100) as watch:
        monkeypatch.setattr(calm.Watch, "is_calm", lambda self: next(states, True))
        found = iter("abc")
        assert calm.undisturbed(lambda: next(found)) == "b"
    assert len(asleep) == 1 and watch.waits == 1
