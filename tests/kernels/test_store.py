"""Code on disk: found again, rejected when damaged or not private, and never needed."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import numpy as np
import pytest

from rho.backend.jit import compiler, tiering
from rho.backend.vm import runtime
from rho.tests.kernels.phases import apply, phase, projection, read, run
from rho.typechecker.elements import Kind


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for thread in threading.enumerate():  # what earlier tests still compile is not for this folder
        if thread is not threading.main_thread() and not thread.daemon:
            thread.join()
    runtime.native()  # compiled once a process, here or before
    monkeypatch.setenv(compiler.SWITCH, str(tmp_path / "kernels"))
    monkeypatch.setattr(compiler, "_addresses", {})
    return tmp_path / "kernels"


def entries(place: Path) -> list[Path]:
    """What is kept, beside the key."""
    return list(place.glob("*.o"))


def triple(monkeypatch: pytest.MonkeyPatch) -> int:
    """Run one phase as a new process would; how often something was compiled."""
    compiled: list[str] = []
    original = compiler.compile_text

    def counting(text: str) -> bytes:
        compiled.append(text)
        return original(text)

    with monkeypatch.context() as patch:
        patch.setattr(compiler, "compile_text", counting)
        patch.setattr(compiler, "_addresses", {})
        body = [read(0, Kind.F64), apply("add", (0, 0), Kind.F64), apply("add", (0, 1), Kind.F64)]
        made = phase([9], [projection([9], [9], [0])], body, [2])
        (result,) = run(made, [np.arange(9.0)], tiering.Mode.ALWAYS)
    assert np.array_equal(result, 3 * np.arange(9.0))
    return len(compiled)


def test_found_again(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [triple(monkeypatch), triple(monkeypatch)] == [1, 0]
    assert len(entries(place)) == 1
    assert os.stat(place).st_mode & 0o077 == 0


@pytest.mark.parametrize("damage", ["flipped", "cut", "empty", "foreign", "head"])
def test_damaged_files_are_made_again(damage: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    triple(monkeypatch)
    (file,) = entries(place)
    good = file.read_bytes()
    middle = len(good) // 2
    flipped = good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1 :]
    bad = {"flipped": flipped, "cut": good[:middle], "empty": b"", "foreign": b"x" * 999, "head": b"x" + good[1:]}
    file.write_bytes(bad[damage])
    assert triple(monkeypatch) == 1
    assert file.read_bytes() == good


def test_a_folder_that_others_may_write_is_not_read(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    triple(monkeypatch)
    os.chmod(place, 0o777)
    assert triple(monkeypatch) == 1


def test_no_folder(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ("off", str(place / "file" / "below")):
        place.mkdir(exist_ok=True)
        (place / "file").write_text("")
        monkeypatch.setenv(compiler.SWITCH, value)
        assert [triple(monkeypatch), triple(monkeypatch)] == [1, 1]
