"""Calibration with clocks and times made up for the purpose: no test looks at real times."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from fractions import Fraction
from functools import partial
from math import prod
from pathlib import Path
from types import SimpleNamespace
from typing import TypeVar

import pytest

from rho.backend.calibration import calibrate as measure, measurement_loop, probes, probes as scalars
from rho.backend.calibration.calibrate import CalibrationEffort, calibrate
from rho.backend.calibration.measurement_loop import Clock, ProbeRow, Section, Times
from rho.backend.calibration.probes import kernels_as, warm_kernels
from rho.backend.cpu.backend import CpuBackend
from rho.backend.devices.profile import CostTable, DeviceProfile, is_key
from rho.backend.devices.profile_toml import canonical, read_profile
from rho.backend.devices.this_machine import VERSION, HostFacts, cache_file, host_profile, machine_profile
from rho.backend.graph.phases import Structured
from rho.backend.jit import tiering
from rho.backend.jit.tiering import Mode
from rho.backend.schedule.single_device import HOME
from rho.backend.vm.run_state import StepTiming
from rho.lang.diagnostics.model import RunFailed
from rho.typechecker.elements import Kind

T = TypeVar("T")
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


class Counted:
    def __init__(self, runs: Iterator[int]) -> None:
        self.runs = runs

    def ready(self, size: int, threads: int, clock: Clock) -> Callable[[], int]:
        return lambda: next(self.runs) or 1


def taking(*times: int) -> Times:
    return Times(((Made(*times), None, 1),))


class Calm(measurement_loop.LoadMonitor):
    """The monitor of a machine that runs nothing else, whatever this one runs."""

    def undisturbed(self, measure: Callable[[], T]) -> tuple[T, float]:
        return measure(), 1.0


def section(*, budget_ns: int = 10**9, clock: Clock | None = None, threads: int = 1) -> Section:
    return Section(clock or Steady(0), budget_ns, Calm(), threads)


def test_the_lower_quartile_of_medians_counts_and_first_runs_do_not() -> None:
    found, row = section(), ProbeRow("add.f64", taking(900, 10, 12, 14, 16, 15, 900, 20, 22, 24, 26, 25, 900, 1, 2, 3, 5, 4))
    found.add(row, 8)
    found.again(3, 10**9)
    assert [*found.times.values()] == [[14, 24, 3]] and found.tables() == {"add.f64": CostTable((8,), (3,))}


def test_a_row_is_a_sum_of_what_its_ways_take() -> None:
    found, one, other = section(), taking(100), taking(30)
    found.add(ProbeRow("add.f64", (one * 2 - other) * 0.5, at=other), 8)
    found.add(ProbeRow("sub.f64", other - one, least=7), 8)  # less than it can be
    found.again(1, 10**9)
    assert found.tables() == {"add.f64": CostTable((30,), (85,))}
    assert len(found.live) == 2, "what two rows speak of is timed once"


def test_after_its_time_only_what_has_none_is_timed() -> None:
    found = section(budget_ns=0, clock=Steady(10))
    for _ in range(2):
        found.add(ProbeRow("add.f64", taking(10)), 1)
    found.again(5, until=15)
    assert [*map(len, found.times.values())] == [1, 1]


def test_compiling_counts_against_no_deadline() -> None:
    """Where no kernel was stored, the first calibration ran out of its time before large products, and was refused."""
    now = 0

    class Compiled:
        def ready(self, size: int, threads: int, clock: Clock) -> Callable[[], int]:
            nonlocal now
            now += 1_000
            return lambda: 5

    measured = section(clock=lambda: now)
    measured.grow([ProbeRow("add.f64", Times(((Compiled(), None, 1),)), (1, 2, 4))], 1, 500, 3, 500)
    assert measured.tables() == {"add.f64": CostTable((1, 2, 4), (5, 5, 5))}


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


@pytest.mark.long
def test_a_calibration_makes_a_profile_that_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tiering.SWITCH, "off")
    monkeypatch.setattr(scalars, "CALLED", (Kind.F64,))
    effort = CalibrationEffort(1, other_ns=0, budget_ns=0, places=1, force=True)
    profile = calibrate(HostFacts(1, 1 << 30, "Some Processor"), Steady(5000), effort, date(2026, 11, 21))
    assert profile.calibration.calibrated == date(2026, 11, 21) and profile.calibration.facts["kernels"] == tiering.tier_name()
    assert {
        "add.f64", "ufunc.add.f64", "read.f64", "write.f64", "step.f64", "first.f64", "first.library.f64", "grade.f64",
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
        asked = probes.looked_up_row(row, ready)
        assert isinstance(asked.table, str) and is_key(asked.table) and isinstance(asked.at, int) and asked.at > 0, row
        assert ready() > 0
        seen.add(asked.table)
    assert {"grade.f64", "scan.add.row.f64", "gemm.square.f64", "gemv.f64", "compress.f64", "key_reduce.add.f64"} <= seen


def test_steps_of_loops_are_seen_though_loops_are_machine_code_elsewhere() -> None:
    for _ in range(8):  # a difference that is lost in the machine's noise is no row
        found = section(budget_ns=0)
        with warm_kernels(), CpuBackend(1).quiet():
            found.grow([row for row in probes.rows(1) if str(row.table) in STEPS], 1, 0, 1, 0)
        tables = found.tables()
        if tables.keys() == STEPS:
            break
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


def waiting(monkeypatch: pytest.MonkeyPatch, *shares: float) -> measurement_loop.LoadMonitor:
    """A monitor of a process, one of whose threads waits for such shares of its measurements, the last one for ever."""
    waits = itertools.accumulate(wait for share in (*shares, *[shares[-1]] * 999) for wait in (0, int(1000 * share)))
    monkeypatch.setattr(measurement_loop, "perf_counter_ns", partial(next, itertools.count(0, 1000)))
    monkeypatch.setattr(measurement_loop, "waits_ns", lambda: {"1": 0, "2": next(waits)})
    return measurement_loop.LoadMonitor()


def test_a_measurement_that_waited_for_a_processor_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The calmest of three attempts counts, for the share of it in which no thread waited."""
    watch = waiting(monkeypatch, 0.4, 0.04, 0.4, 0.2, 0.3, 0.9)
    assert watch.undisturbed(partial(next, iter("abc"))) == ("b", 0.96)
    assert watch.undisturbed(partial(next, iter("abc"))) == ("b", 0.8)
    assert watch.undisturbed(partial(next, iter("abc")))[1] == 0
    assert (watch.measured, watch.disturbed) == (3, 1)


def test_what_is_disturbed_for_long_is_known_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    found, runs = section(budget_ns=0), itertools.count()
    found.add(ProbeRow("add.f64", Times(((Counted(runs), None, 1),))), 8)
    found.watch = waiting(monkeypatch, 0.9)
    monkeypatch.setattr(measurement_loop, "stolen_ns", lambda: 0)
    with pytest.raises(measurement_loop.Disturbed):
        found.again(10**6, 10**9)
    assert next(runs) < 1000


def test_runs_that_waited_count_without_their_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    found = section(budget_ns=0)
    found.add(ProbeRow("add.f64", taking(1000)), 8)
    found.watch = waiting(monkeypatch, 0.25)
    found.again(1, 10**9)
    assert found.tables() == {"add.f64": CostTable((8,), (750,))}


def test_what_was_never_timed_undisturbed_is_no_point_but_for_who_wants_it(monkeypatch: pytest.MonkeyPatch) -> None:
    found = section(budget_ns=0)
    found.add(ProbeRow("add.f64", taking(5)), 8)
    found.watch = waiting(monkeypatch, 0.6)
    found.again(1, 10**9)
    assert found.tables() == {} and found.tables(disturbed=True) == {"add.f64": CostTable((8,), (5,))}


def test_a_difference_that_is_lost_in_noise_is_no_point() -> None:
    found, one = section(), taking(1000)
    for name, other in (("add.f64", 1001), ("sub.f64", 990), ("mul.f64", 900)):
        found.add(ProbeRow(name, one - taking(other)), 8)
    found.again(1, 10**9)
    assert found.tables() == {"mul.f64": CostTable((8,), (100,))}


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the system does not say what processes use")
def test_the_system_says_what_this_process_waits_and_what_others_use() -> None:
    before = measurement_loop.waited_ns()
    watch = measurement_loop.LoadMonitor()
    assert measurement_loop.waited_ns() >= before >= 0 and watch.stolen() >= 0
    watch._used, watch._start = dict.fromkeys(watch._used, -(10**9)), watch._start - 10**9
    assert len(watch.others()) == 3 and all("% of a core)" in one for one in watch.others())
    assert os.getpid() not in {number for number, _ in measurement_loop.processor_times()}


def test_where_the_system_does_not_say_processor_time_is_held_against_the_wall(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measurement_loop, "_PROCESSES", "/nowhere")
    monkeypatch.setattr(measurement_loop, "perf_counter_ns", lambda: 1000)
    monkeypatch.setattr(measurement_loop, "process_time_ns", lambda: 400)
    assert measurement_loop.waited_ns() == 600 and measurement_loop.processor_times() == {} and measurement_loop.stolen_ns() == 0


def test_tables_have_the_shape_of_the_known_ones_where_nothing_was_measured() -> None:
    """A point in proportion said 341 s of a product that takes 0.2."""
    known = {"gemm.square.f32": CostTable((10, 100, 1000), (50, 200, 1000)), "read.f64": CostTable((8,), (3,))}
    slow = {"gemm.square.f32": CostTable((10, 100), (100, 400)), "read.f64": CostTable((8,), (9,)), "new.f64": CostTable((8,),
        (9,))}
    assert measure.shaped(slow, known) == {**slow, "gemm.square.f32": CostTable((10, 100, 1000), (100, 400, 2000))}
    assert measure.shaped({"gemm.square.f32": CostTable((10,), (92950,))}, known) == known, "one size says nothing of a shape"
    assert measure.shaped({}, known) == known
    ends = {"gemm.square.f32": CostTable((10, 1000), (100, 4000))}
    assert measure.shaped(ends, known)["gemm.square.f32"] == CostTable((10, 100, 1000), (100, 600, 4000)), "between far sizes"
    near = {"gemm.square.f32": CostTable((50, 200), (1, 2))}
    assert measure.shaped(near, known)["gemm.square.f32"].size == (10, 50, 200, 1000)


def busy(monkeypatch: pytest.MonkeyPatch) -> HostFacts:
    monkeypatch.setenv(tiering.SWITCH, "off")
    monkeypatch.setattr(scalars, "CALLED", (Kind.F64,))
    waits = itertools.count(0, 10**12)
    monkeypatch.setattr(measurement_loop, "waits_ns", lambda: {"": next(waits)})
    monkeypatch.setattr(measurement_loop.LoadMonitor, "others", lambda self: ["`make` (process 7, 99 % of a core)"])
    return HostFacts(1, 1 << 30, "Some Processor")


def test_a_calibration_that_others_disturb_is_begun_again_and_refused_with_who_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    effort, told = CalibrationEffort(1, other_ns=0, budget_ns=0, places=1, attempts=2), list[str]()
    words = r"others used the processor during 100 % of the measurements: `make` \(process 7, 99 % of a core\)"
    with pytest.raises(RunFailed, match=f"this machine was not calibrated: {words}"):
        calibrate(busy(monkeypatch), Steady(5000), effort, report=told.append)
    assert len(told) == 1 and told[0].endswith("; measuring again")


@pytest.mark.parametrize("disturbed", [0, 10, 11, 20])
def test_processors_that_others_use_are_noticed_before_anything_is_prepared(
    disturbed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At a load of ten on two cores a calibration was not refused within three minutes, since probes were slow to prepare."""
    threads_of_pieces = list[int]()

    def undisturbed(watch: measurement_loop.LoadMonitor, work: Callable[[], list[object]]) -> tuple[None, float]:
        if not watch.measured:
            threads_of_pieces.append(len(work()))
        watch.measured += 1
        watch.disturbed += watch.measured <= disturbed
        return None, 1.0

    monkeypatch.setattr(measurement_loop.LoadMonitor, "undisturbed", undisturbed)
    monkeypatch.setattr(measurement_loop.LoadMonitor, "stolen", lambda self: Fraction(0))
    monkeypatch.setattr(measure, "warm_kernels", lambda: pytest.fail("it prepares"))
    effort = CalibrationEffort(1, other_ns=0, budget_ns=0, places=1, attempts=1)
    if disturbed > 10:
        with pytest.raises(RunFailed, match=f"others used the processor during {5 * disturbed} % of the measurements"):
            calibrate(HostFacts(2, 1 << 30, "Some Processor"), effort=effort)
    else:
        measure.require_processors(2)
    assert threads_of_pieces == [2]


def test_a_host_that_gives_its_processors_to_other_guests_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    watch = measurement_loop.LoadMonitor()
    monkeypatch.setattr(watch, "stolen", lambda: Fraction(1, 4))
    monkeypatch.setattr(watch, "others", lambda: ["`kworker/0:1` (process 9, 12 % of a core)"])
    with pytest.raises(measure.Disturbed) as refused:
        watch.require_calm()
    assert str(refused.value) == "the hypervisor gave 25% of a core to other guests"
    watch.force = True
    watch.require_calm()


def test_tables_that_a_product_or_a_block_does_not_keep_to_are_refused() -> None:
    def checks(product: Fraction, block: Fraction) -> list[tuple[Fraction, str]]:
        return [(product, "x+.×y"), (block, measure._BLOCK), (Fraction(99), "x[⍋y]")]

    measure._require_near(checks(Fraction(1, 3), Fraction(3)), CalibrationEffort())
    with pytest.raises(measure.Disturbed, match="a product of matrices differs 1e\\+03 times"):
        measure._require_near(checks(Fraction(1, 1000), Fraction(1)), CalibrationEffort())
    with pytest.raises(measure.Disturbed, match="a transformer block differs 5 times"):
        measure._require_near(checks(Fraction(1), Fraction(5)), CalibrationEffort())
    with pytest.raises(measure.Disturbed, match="others used the processor whenever a transformer block was run"):
        measure._require_near(checks(Fraction(1), Fraction(5))[::2], CalibrationEffort())
    measure._require_near(checks(Fraction(1000), Fraction(5)), CalibrationEffort(force=True))


def test_the_spread_of_the_estimates_is_said() -> None:
    text = measure.spread_text([(Fraction(1), "x+y"), (Fraction(3, 2), "*x"), (Fraction(1, 4), "x+.×y")])
    assert text == "3 phases compared: half are within 1.5 times of their estimate, the farthest, a product of matrices, 4 times"
    assert measure.spread_text([]).startswith("no program was run long enough")


def test_the_pace_of_a_process_is_what_programs_take_by_its_share_of_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """A neighbour who takes three quarters of the processor makes everything take four times as long."""
    took = [StepTiming(object.__new__(Structured), HOME, 0, 3000)]
    ready = SimpleNamespace(run=lambda: took, bound=None)
    monkeypatch.setattr(measure.ProbeProgram, "ready", lambda self, size, threads: ready)
    monkeypatch.setattr(measure, "step_ns", lambda *given: SimpleNamespace(ns=1000))
    monkeypatch.setattr(measure, "thread_time_ns", partial(next, itertools.count(0, 25)))
    device = DeviceProfile("cpu0", "cpu")
    assert measure.pace(device, 0, partial(next, itertools.count(0, 50))).slowdown == 12
    monkeypatch.setattr(measure, "waited_ns", partial(next, itertools.count(0, 100)))  # two threads, which wait half of the time
    assert measure.pace(replace(device, threads=2), 0, partial(next, itertools.count(0, 50))).slowdown == 6
    monkeypatch.setattr(measure, "step_ns", lambda *given: None)
    assert measure.pace(device, 0, partial(next, itertools.count(0, 50))).slowdown == 1
