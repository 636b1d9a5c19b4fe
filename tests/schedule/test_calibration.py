"""Calibration with clocks and times made up for the purpose: no test looks at real times."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import date
from fractions import Fraction

import pytest

from rho.backend.kernels import policy
from rho.backend.run.calibration import Effort, bodies, calibrate
from rho.backend.run.calibration.clock import Series, run_rounds
from rho.backend.run.calibration.measure import _tasks
from rho.backend.run.calibration.programs import PROGRAMS, prepare
from rho.backend.run.calibration.solve import Measured, residuals, tables
from rho.backend.run.calibration.tier import tier_name, warm_kernels
from rho.backend.run.cpu import CpuBackend
from rho.backend.schedule.profiles import DeviceProfile, Table, canonical, read_profile
from rho.backend.schedule.profiles.host import HostFacts
from rho.backend.schedule.profiles.keys import is_key
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
    one = Series(lambda: None)
    run_rounds([one], Steady(900, 10, 12, 14, 900, 20, 22, 24, 900, 1, 2, 3), 3, 10**9, most=3)
    assert one.medians == [12, 22, 2] and one.ns == 2


def test_no_second_round_begins_when_time_is_up() -> None:
    one = Series(lambda: None)
    run_rounds([one], Steady(10), 5, 0, until=15)
    assert len(one.medians) == 1


def made_up(read: int, write: int, add: int, function: int) -> dict[tuple[Kind, tuple[str, ...]], Measured]:
    """Times at 100 and 1000 points of a machine on which parts add up."""
    found: dict[tuple[Kind, tuple[str, ...]], Measured] = {}
    for points in (100, 1000):
        parts = {
            ("chain", "1", "1"): read + write + add, ("chain", "2", "1"): 2 * read + write + add,
            ("chain", "2", "5"): 2 * read + write + 5 * add, ("once", "exp", "0"): read + write + function,
            ("twice", "exp", "0"): 2 * read + write + 2 * function + add,
            ("fused", "add", "full"): 2 * read + function + 7, ("twice", "mul", "0"): 2 * read + write + 3 * add,
            ("reduce", "add", "full"): read + 7, ("padded",): 2 * read + write + add + 5,
        }  # fmt: skip
        for name, ns in parts.items():
            found.setdefault((Kind.F64, name), {})[points] = ns * points
    return found


def test_parts_are_found_again() -> None:
    found = tables(made_up(3, 11, 2, 40))
    assert found["read.f64"] == Table((800, 8000), (300, 3000))
    assert found["write.f64"].ns == (1100, 11_000)
    assert found["body.add.f64"] == Table((2400, 24_000), (200, 2000))
    assert found["body.exp.f64"] == Table((1600, 16_000), (4000, 40_000))
    assert found["exp.f64"].ns == (5400, 54_000)
    assert found["body.mul.f64"].ns == (200, 2000)
    assert found["body.reduce.add.full.f64"].ns == ((40 + 7 - 2) * 100, (40 + 7 - 2) * 1000)
    assert found["pad.f64"].ns == (500, 5000)
    assert all(is_key(name) for name in found)


def test_tables_predict_what_they_were_solved_from() -> None:
    device = DeviceProfile("cpu0", "cpu", home=True, ops=tables(made_up(3, 11, 2, 40)))
    probes = [(bodies.chain(Kind.F64, 1000, ["add", "add", "add"]), 1000 * (2 * 3 + 11 + 3 * 2))]
    assert residuals(device, probes) == (Fraction(2, 100), Fraction(2, 100))
    assert residuals(device, [(probes[0][0], 2 * probes[0][1])]) == (Fraction(2, 100), Fraction(9, 10))
    assert residuals(device, []) == (Fraction(1, 2), Fraction(1, 2))


@pytest.mark.parametrize("kind", [Kind.F64, Kind.I64, Kind.BOOL, Kind.C128])
def test_every_measured_body_runs(kind: Kind) -> None:
    backend = CpuBackend(1)
    with backend.quiet():
        for task in _tasks(kind):
            task.make(64).kernel(backend)()


def test_a_calibration_makes_a_profile_that_can_be_written() -> None:
    effort = Effort(1, budget_ns=0, kinds=(Kind.F64, Kind.BOOL), sizes=(64, 1024), small_sizes=(64, 1024), with_programs=False)
    profile = calibrate(HostFacts(1, 1 << 30, "Some Processor"), Steady(5000), effort, date(2026, 11, 21))
    assert profile.calibration.calibrated == date(2026, 11, 21) and profile.calibration.facts["kernels"] == tier_name()
    assert {"add.f64", "body.add.f64", "read.f64", "write.f64", "reduce.add.row.f64", "kernel.i64"} <= profile.home.ops.keys()
    assert read_profile("again", canonical(profile)) == profile


def test_programs_ask_for_the_tables_the_model_asks_for() -> None:
    seen = set()
    for program in PROGRAMS:
        for kind in program.kinds:
            prepared = prepare(program, kind, 64, 1)
            assert prepared is not None and is_key(prepared.key) and prepared.size > 0, program
            assert prepared.run() > 0
            seen.add(prepared.key)
    bodies.forget_data()
    assert {"grade.f64", "scan.add.row.f64", "gemm.square.f64", "gemv.f64", "compress.f64", "key_reduce.add.f64"} <= seen


def test_kernels_are_warm_only_while_measuring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(policy.SWITCH, raising=False)
    with warm_kernels():
        assert policy.mode() is policy.Mode.WARM
    assert policy.SWITCH not in os.environ
    monkeypatch.setenv(policy.SWITCH, "off")
    with warm_kernels():
        assert policy.mode() is policy.Mode.OFF
