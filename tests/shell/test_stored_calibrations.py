"""A stored calibration that was damaged, edited or replaced is not used, and whoever sees an estimate reads why."""

from __future__ import annotations

import dataclasses
import io
import os
from collections.abc import Callable
from datetime import date
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from share import SEED, repeats

from rho.backend.devices.this_machine import keep_calibration
from rho.shell.console.standard_streams import Console
from rho.shell.execution import stored_plans
from rho.shell.main import main

EDITS: dict[str, tuple[str, str]] = {
    "another type": ("launch_ns = 77", 'launch_ns = "77"'),
    "negative": ("launch_ns = 77", "launch_ns = -77"),
    "huge": ("launch_ns = 77", f"launch_ns = {10**18}"),
    "beyond 64 bits": ("launch_ns = 77", f"launch_ns = {10**40}"),
    "not a number": ("launch_ns = 77", "launch_ns = nan"),
    "unknown": ("launch_ns = 77", "launch_ns = 77\nlanch_ns = 3"),
    "another device": ('name = "cpu0"', 'name = "gpu0"'),
    "another back end": ('backend = "cpu"', 'backend = "cuda"'),
    "many devices": ('name = "cpu0"', 'name = "cpu0"\ncount = 1000'),
    "another memory": ("launch_ns = 77", "launch_ns = 77\nmemory_reserve = 0.999"),
}


def _truncated(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def _emptied(file: Path) -> None:
    file.write_bytes(b"")


def _as_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def _as_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def _as_link(file: Path) -> None:
    file.rename(file.with_suffix(".elsewhere"))
    file.symlink_to(file.with_suffix(".elsewhere"))


def _no_text(file: Path) -> None:
    file.write_bytes(b"\xff\xfe" * 999)


def _too_large(file: Path) -> None:
    os.truncate(file, 1 << 33)


def _open_to_all(file: Path) -> None:
    file.parent.chmod(0o777)


DAMAGE: dict[str, Callable[[Path], None]] = {
    damage.__name__: damage
    for damage in (_truncated, _emptied, _as_folder, _as_pipe, _as_link, _no_text, _too_large, _open_to_all)
}


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a calibration of this machine, in a cache folder of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sum.rho").write_text("⎕←+/√⍳1000\n", encoding="utf-8")
    bare = stored_plans.this_machine()
    device = dataclasses.replace(bare.home, launch_ns=77)
    made = dataclasses.replace(
        bare, devices=(device,), calibration=dataclasses.replace(bare.calibration, calibrated=date(2026, 1, 2))
    )
    path = keep_calibration(made)
    assert stored_plans.this_machine() == made
    return path


def said(*words: str) -> str:
    out, err = io.StringIO(), io.StringIO()
    code = main(words, Console(out, err, io.StringIO(), {}))
    assert code == 0, err.getvalue()
    return out.getvalue() + err.getvalue()


def refused(stored: Path) -> None:
    found = stored_plans.this_machine()
    assert found.calibration.calibrated is None and found.home.launch_ns != 77 and len(found.devices) == 1
    assert f"default tables, because `{stored}` " in said("devices")
    assert f"(uncalibrated: `{stored}` " in said("plan", "sum.rho")


@pytest.mark.parametrize("damage", sorted(DAMAGE))
def test_a_damaged_calibration_is_not_used_and_named(stored: Path, damage: str) -> None:
    DAMAGE[damage](stored)
    refused(stored)


@pytest.mark.parametrize("edit", sorted(EDITS))
def test_an_edited_calibration_is_not_used_and_named(stored: Path, edit: str) -> None:
    before, after = EDITS[edit]
    text = stored.read_text(encoding="utf-8")
    assert text.count(before) == 1
    stored.write_text(text.replace(before, after), encoding="utf-8")
    assert "was changed after it was measured" in stored_plans.this_machine().calibration.unusable
    refused(stored)


@pytest.mark.parametrize("edit", sorted(EDITS))
def test_an_edited_calibration_with_its_digest_changes_the_times_of_this_machine_alone(stored: Path, edit: str) -> None:
    text = stored.read_text(encoding="utf-8").partition("\n")[2].replace(*EDITS[edit]).encode()
    stored.write_bytes(b"# sha256 " + sha256(text).hexdigest().encode() + b"\n" + text)
    found, facts = stored_plans.this_machine(), stored_plans.host_facts()
    assert (found.home.name, found.home.backend, found.home.count, found.home.threads) == ("cpu0", "cpu", 1, facts.cores)
    assert found.home.memory == (facts.memory or None)
    said("plan", "sum.rho")


def test_a_calibration_with_any_byte_changed_is_not_used(stored: Path) -> None:
    data, rng = stored.read_bytes(), np.random.default_rng(SEED)
    for _ in range(repeats(200)):
        at, bit = int(rng.integers(len(data))), 1 << int(rng.integers(8))
        stored.write_bytes(data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :])
        assert stored_plans.this_machine().calibration.unusable, (SEED, at, bit)


def test_a_calibration_that_is_replaced_while_a_session_runs_is_the_next_one_used(stored: Path) -> None:
    known = stored_plans.this_machine()
    keep_calibration(dataclasses.replace(known, devices=(dataclasses.replace(known.home, launch_ns=78),)))
    assert stored_plans.this_machine().home.launch_ns == 78
    stored.unlink()
    assert stored_plans.this_machine().calibration.unusable == "" and "(uncalibrated)" in said("plan", "sum.rho")


def test_a_calibration_that_cannot_be_stored_is_said_not_to_be(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = stored_plans.this_machine()
    monkeypatch.setattr("rho.backend.calibration.calibrate.calibrate", lambda facts, effort, report: known)
    assert f"kept in {stored}" in said("devices", "--calibrate")
    _open_to_all(stored)
    assert f"not kept: `{stored}` or its folder" in said("devices", "--calibrate")
    stored.parent.chmod(0o700)
    _as_folder(stored)
    assert f"not kept: `{stored}` cannot be written: " in said("devices", "--calibrate")


def test_a_calibration_of_another_machine_is_not_used(stored: Path) -> None:
    known = stored_plans.this_machine()
    other = dataclasses.replace(
        known, calibration=dataclasses.replace(known.calibration, facts={**known.calibration.facts, "cpu": "another"})
    )
    stored.rename(keep_calibration(other).parent / "first")
    keep_calibration(other).rename(stored)
    assert "another machine" in stored_plans.this_machine().calibration.unusable
