"""What goes wrong between two tiles: a diagnostic, no output, no temporary, no thread that goes on reading."""

from __future__ import annotations

import errno
import os
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rho.backend.io.npy import NpySink, NpySource
from rho.backend.streams.spill import SortedRuns
from rho.lang.diagnostics.model import Refused, RhoError, RunFailed
from rho.shell.pipeline import Session

from .running import loaded, results, unfinished

pytestmark = pytest.mark.long

LIMIT = 4_000_000
WRITES = "input x : f64[n] where n ≥ 8\nz ← 1+x×x\noutput z\n+/z"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    np.save(tmp_path / "x.npy", np.random.default_rng(1).standard_normal(1_000_003))
    return tmp_path


def _fails(text: str, folder: Path, code: str) -> None:
    before = sorted(folder.iterdir())
    with pytest.raises(RhoError) as caught:
        results(loaded(text, folder, LIMIT))
    assert [found.code for found in caught.value.diagnostics] == [code], caught.value
    assert sorted(folder.iterdir()) == before
    assert not unfinished()
    assert not [thread for thread in threading.enumerate() if thread.name == "rho reader"]


def _third(monkeypatch: pytest.MonkeyPatch, owner: type, name: str, act: Callable[[object], None]) -> None:
    """The third call of a method does something else first."""
    original, calls = getattr(owner, name), [0]

    def wrapped(self: object, *args: object) -> object:
        calls[0] += 1
        if calls[0] == 3:
            act(self)
        return original(self, *args)

    monkeypatch.setattr(owner, name, wrapped)


def test_a_file_cut_off_meanwhile(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _third(monkeypatch, NpySource, "read", lambda source: os.truncate(folder / "x.npy", 1_000_000))
    _fails(WRITES, folder, "E705")


def test_a_file_written_meanwhile(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(source: object) -> None:
        with open(folder / "x.npy", "r+b") as file:
            file.seek(5_000)
            file.write(b"12345678")
        os.utime(folder / "x.npy", ns=(1, 1))

    _third(monkeypatch, NpySource, "read", write)
    _fails(WRITES, folder, "E705")


def test_a_file_cut_off_before_the_run(folder: Path) -> None:
    program = loaded(WRITES, folder, LIMIT)
    os.truncate(folder / "x.npy", 1_000_000)
    with pytest.raises(RunFailed, match="E705"):
        Session().run(program)
    assert not unfinished()


def test_a_full_disk(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    _fails(WRITES, folder, "E708")


def test_a_disk_that_fills_up(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(sink: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    _third(monkeypatch, NpySink, "put", full)
    _fails(WRITES, folder, "E708")


SORTS = "input x : f64[n] where n ≥ 8\nz ← x[⍋x]\noutput z"


def test_a_disk_that_fills_up_with_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(runs: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    _third(monkeypatch, SortedRuns, "put", full)
    _fails(SORTS, folder, "E708")


def test_runs_that_are_cut_off(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _third(monkeypatch, SortedRuns, "read", lambda runs: runs.file.truncate(100_000))  # type: ignore[attr-defined]
    _fails(SORTS, folder, "E705")


@pytest.mark.parametrize("name", ["put", "read"])
def test_an_interrupt_leaves_no_runs(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(runs: object) -> None:
        raise KeyboardInterrupt

    scratch = folder / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    _third(monkeypatch, SortedRuns, name, interrupt)
    before = sorted(folder.iterdir())
    with pytest.raises(KeyboardInterrupt):
        results(loaded(SORTS, folder, LIMIT))
    assert sorted(folder.iterdir()) == before and not list(scratch.iterdir())
    assert not [thread for thread in threading.enumerate() if thread.name == "rho reader"]


@pytest.mark.parametrize(("owner", "name"), [(NpySource, "read"), (NpySink, "put")])
def test_an_interrupt(folder: Path, monkeypatch: pytest.MonkeyPatch, owner: type, name: str) -> None:
    def interrupt(of: object) -> None:
        raise KeyboardInterrupt

    _third(monkeypatch, owner, name, interrupt)
    before = sorted(folder.iterdir())
    with pytest.raises(KeyboardInterrupt):
        results(loaded(WRITES, folder, LIMIT))
    assert sorted(folder.iterdir()) == before
    assert not [thread for thread in threading.enumerate() if thread.name == "rho reader"]


def test_a_check_that_fails_in_a_later_tile(folder: Path) -> None:
    values = np.arange(1_000_003)
    values[700_000] = 99_999_999
    np.save(folder / "i.npy", values)
    _fails("input i : idx<n>[n] where n ≥ 8\n+/i", folder, "E706")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("input x : f64[n] where n ≥ 8\ng ← ⍋x∘.+0 1\noutput g", "`⍋` (line 2) needs all of its argument at once"),
        ("input x : f64[n] where n ≥ 8\ny ← (2×x)[⍋x]\noutput y", "needs all of its argument at once"),
        ("input x : f64[n] where n ≥ 8\nx", "needs all of its argument at once"),
        ("input x : f64[n] where n ≥ 8\n{⍵+(+/x-⍵)÷≢x}⍣(9 ⋄ {1e¯9>|⍺-⍵}) ⊢ 0.0", "is known only when it runs"),
        ("input x : f64[n] where n ≥ 8\n{⍵+(+/x-⍵)÷≢x}⍣\\9 ⊢ 0.0", "in each iteration, and all its states are kept"),
        ("input x : f64[n] where n ≥ 8\n{⍵+(+/x-⍵)÷≢x}⍣9999 ⊢ 0.0", "9,999 iterations are too many"),
        ("input x : f64[n] where n ≥ 8\nz ← x+⌽x\noutput z", "bytes for a tile of one row"),
    ],
)
def test_what_cannot_stream_is_named(folder: Path, text: str, said: str) -> None:
    with pytest.raises(Refused) as caught:
        loaded(text, folder, LIMIT)
    (found,) = caught.value.diagnostics
    assert found.code == "E702"
    assert any(said in note for note in found.notes if "cannot stream" in note), found.notes


def test_an_output_without_a_file_is_told_how(folder: Path) -> None:
    with pytest.raises(Refused) as caught:
        loaded(WRITES, folder, LIMIT, write=False)
    assert "--out z=FILE.npy" in " ".join(caught.value.diagnostics[0].notes)
