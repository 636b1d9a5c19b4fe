"""What is predicted of passes: each takes as long as its slower thread, one comes after the other, and nothing is left out."""

from __future__ import annotations

import errno
from dataclasses import replace
from pathlib import Path
from time import perf_counter_ns

import numpy as np
import pytest

from rho.backend.calibration import probes
from rho.backend.calibration.measurement_loop import LoadMonitor, Section
from rho.backend.devices.profile import CostTable, DeviceProfile, Profile, is_key
from rho.backend.devices.this_machine import DECLARED, READ, SCRATCH_READ, SCRATCH_WRITE, WRITE, disk_ns
from rho.backend.schedule.streams.pass_times import PassTimes, sorting_ns
from rho.shell.execution import stored_plans
from rho.shell.execution.stored_plans import this_machine
from rho.shell.execution.streaming import InTiles, passes_of, predicted_seconds, stages_of

from .running import loaded

pytestmark = pytest.mark.long

ROWS, LIMIT = 1_000_000, 1_500_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    np.save(tmp_path / "x.npy", np.linspace(0, 1, ROWS))
    return tmp_path


def with_disk(profile: Profile, **rates: int) -> Profile:
    names = {"read": READ, "write": WRITE, "scratch_read": SCRATCH_READ, "scratch_write": SCRATCH_WRITE}
    tables = {names[name]: CostTable.of_rate(rate) for name, rate in rates.items()}
    return replace(profile, devices=(replace(profile.home, ops={**profile.home.ops, **tables}), *profile.devices[1:]))


def test_a_sort_on_disk_takes_what_ordering_takes(folder: Path) -> None:
    """It is in no phase of the graph, and was predicted to take nothing."""
    program = loaded("input x : f64[n]\noutput y ← x[⍋x]\n", folder, LIMIT)
    profile = this_machine()
    assert isinstance(program.run, InTiles)
    (scratch,), steps = program.run.streaming.scratch, passes_of(program.plan)
    runs, merging = sorting_ns(scratch, steps[0].rows, profile, "x[⍋x]"), sorting_ns(scratch, scratch.merged, profile, "x[⍋y]")
    assert runs > 0 and merging > sorting_ns(scratch, scratch.merged, profile, "x[⍋x]"), "a merge grades and takes"
    assert predicted_seconds(program) * 1e9 >= runs + merging


def test_threads_of_a_pass_overlap_and_passes_do_not(folder: Path) -> None:
    program = loaded("input x : f64[n]\noutput y ← x-(+/x)÷≢x\n", folder, LIMIT)
    planned = PassTimes(program.plan, program.bound, (), ())
    steps = passes_of(program.plan)
    assert len(steps) == 2
    slow = with_disk(this_machine(), read=1_000_000)  # a byte takes a microsecond, and so reading nearly all
    reading = sum(disk_ns(slow.home, READ, step.reads) for step in steps)
    assert reading <= planned.ns(slow) <= reading * 1.01
    writing = with_disk(this_machine(), write=1_000_000)
    assert planned.ns(writing) >= sum(step.writes for step in steps) * 1_000


def test_every_tile_has_costs_of_its_own(folder: Path) -> None:
    """Passes in many small tiles were predicted to take what one execution takes."""
    found = []
    for limit in (LIMIT, 8 * LIMIT):
        program = loaded("input x : f64[n]\noutput y ← x-(+/x)÷≢x\n", folder, limit)
        planned = PassTimes(program.plan, program.bound, (), ())
        found.append([(step.tiles, planned.tiles_ns(step, this_machine())) for step in passes_of(program.plan)])
    (many, slow), (few, quick) = found[0][0], found[1][0]
    assert many > few and slow > quick
    assert slow > many * this_machine().home.host_dispatch_ns


def test_temporary_files_have_rates_of_their_own(folder: Path) -> None:
    program = loaded("input x : f64[n]\n+/(x>0.5)/x\n", folder, LIMIT, write=False)
    assert stages_of(program)
    before = predicted_seconds(program)
    machine = this_machine()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored_plans, "this_machine", lambda: with_disk(machine, write=1))
        assert predicted_seconds(program) == before  # nothing is written to an output
        patch.setattr(stored_plans, "this_machine", lambda: with_disk(machine, scratch_write=1_000_000))
        assert predicted_seconds(program) > before + 1


def test_the_disk_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    section = Section(perf_counter_ns, 0, LoadMonitor())
    for row in probes.DISK:
        section.add(row, 1 << 20)
    section.again(1, 0)
    found = section.tables(disturbed=True)  # by other programs of this machine, say
    assert found.keys() == DECLARED.keys() and all(map(is_key, found))
    device = DeviceProfile("cpu0", "cpu", ops=found)
    assert all(disk_ns(device, name, 1 << 20) > 0 for name in found)
    assert list(tmp_path.iterdir()) == []


def test_where_no_file_can_be_written_the_disk_is_a_usual_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.pwrite", full)
    section = Section(perf_counter_ns, 0, LoadMonitor())
    section.grow(probes.DISK, 1, 0, 1, 0)
    assert section.tables() == {}
    assert disk_ns(DeviceProfile("cpu0", "cpu"), WRITE, 400_000_000) == 1_000_000_000
