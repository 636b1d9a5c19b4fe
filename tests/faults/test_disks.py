"""Disks that are all but full, folders and caches that may not be written: old files or new ones, and the same answers.

Each in a forked child, which may have a file system and a user of its own.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from share import share

from rho.lang.support.caches import Cache

from .commands import COMMANDS, Command, contents, left_over, make, make_old, require_clear, require_sound, run
from .system_calls import in_child

pytestmark = pytest.mark.long

WRITING = sorted(name for name, command in COMMANDS.items() if command.writes)
PAGE = 4096
NOBODY = 65534
NOT_ALLOWED = 77
_NEW_MOUNTS, _PRIVATE, _RECURSIVE = 0x00020000, 1 << 18, 1 << 14
"""`CLONE_NEWNS`, `MS_PRIVATE`, `MS_REC` of Linux."""


def require(work: Callable[[], object], folder: Path) -> None:
    """Run in a forked child; what fails there fails here."""
    told = folder.parent / f"{folder.name}.told"
    told.touch()
    handle = os.open(told, os.O_WRONLY)

    def child() -> int:
        try:
            work()
        except pytest.skip.Exception as skipped:
            os.write(handle, str(skipped).encode())
            return NOT_ALLOWED
        except BaseException:
            os.write(handle, traceback.format_exc().encode())
            return 1
        return 0

    code = in_child(child)
    os.close(handle)
    if code == NOT_ALLOWED:
        pytest.skip(told.read_text())
    assert code == 0, told.read_text()


# ------------------------------------------------------------------------------------------- a full disk


def mount_small(folder: Path, size: int) -> None:
    """A file system of so many bytes in the folder, for this process alone."""
    libc = ctypes.CDLL(None, use_errno=True)
    kind = b"tmpfs"
    if (
        not hasattr(libc, "unshare")
        or libc.unshare(_NEW_MOUNTS)
        or libc.mount(None, b"/", None, _RECURSIVE | _PRIVATE, None)
        or libc.mount(kind, os.fsencode(folder), kind, 0, f"size={size}".encode())
    ):
        pytest.skip("this process may not mount: " + os.strerror(ctypes.get_errno()))


def leave(pages: int) -> Path:
    """Fill the file system of this folder but for so many pages."""
    filler = Path("filler")
    found = os.statvfs(".")
    filler.write_bytes(bytes(max(0, found.f_bavail - pages) * found.f_frsize))
    return filler


@pytest.mark.parametrize("name", share(WRITING, seed=51))
def test_a_disk_with_so_many_pages_left(name: str, tmp_path: Path) -> None:
    """None, one, … until everything fits."""
    command = COMMANDS[name]

    def work() -> None:
        mount_small(tmp_path, 256 * PAGE)
        os.chdir(tmp_path)
        make(tmp_path)
        assert run(command).code == 0
        new, codes = contents(tmp_path, command), []
        for pages in range(8):
            make_old(tmp_path)
            old = contents(tmp_path, command)
            filler = leave(pages)
            ran = run(command)
            filler.unlink()
            codes.append(ran.code)
            require_clear(ran, (name, pages))
            assert left_over(tmp_path) == [], (name, pages)
            if ran.code == 0 and "cannot be written" not in ran.err:
                assert old != contents(tmp_path, command), (name, pages, ran)
            else:
                assert old == contents(tmp_path, command), (name, pages, ran)
            require_sound(tmp_path, command, old, new, (name, pages))
        assert command.typed or (codes[0] != 0 and codes[-1] == 0), codes

    require(work, tmp_path)


# --------------------------------------------------------------------------------------- may not be written


@pytest.fixture
def open_to_all() -> Iterator[Path]:
    """A folder that any user reaches: those of pytest are its user's alone."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def be_somebody() -> None:
    """Root becomes nobody, who may not write everywhere."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setegid(NOBODY)
        os.seteuid(NOBODY)


def require_forbidden(folder: Path) -> None:
    try:
        os.close(os.open(folder / "trial", os.O_CREAT | os.O_WRONLY))
    except OSError:
        return
    pytest.skip("this user may write everywhere")


@pytest.mark.parametrize("name", share(WRITING, seed=52))
def test_folders_that_may_not_be_written(name: str, open_to_all: Path) -> None:
    command, folder = COMMANDS[name], open_to_all

    def work() -> None:
        os.chdir(folder)
        make(folder)
        assert run(command).code == 0  # what is imported may lie where only root reads
        make_old(folder)
        old = contents(folder, command)
        for part in (folder / "a", folder / "b", folder):
            part.chmod(0o555)
        be_somebody()
        require_forbidden(folder)
        ran = run(command)
        require_clear(ran, name)
        assert (ran.code != 0 or command.typed) and contents(folder, command) == old, ran
        assert "cannot be written" in ran.err or "denied" in ran.err, ran

    require(work, folder)


def _file(place: Path) -> Path:
    place.touch()
    return place


def _below_a_file(place: Path) -> Path:
    place.touch()
    return place / "below"


def _read_only(place: Path) -> Path:
    place.mkdir(mode=0o555)
    return place


def _of_another(place: Path) -> Path:
    place.mkdir(mode=0o777)
    place.chmod(0o777)
    return place


def _nowhere(place: Path) -> Path:
    place.symlink_to(place / "nowhere")
    return place


PLACES: dict[str, Callable[[Path], Path]] = {
    "a file": _file, "below a file": _below_a_file, "read only": _read_only, "anybody's": _of_another, "nowhere": _nowhere,
}  # fmt: skip
PROGRAM = """\
input a : f64[n] ← "a.npy"
n ← ≢a
+/((2×⌊(n×1+n)÷2)⍴a)-(n×1+n)⍴⌽a
+\\⌽√a
"""
"""Verdicts and kernels are made and would be kept."""


@pytest.mark.parametrize("place", share(sorted(PLACES), seed=53))
def test_caches_that_cannot_be_written_change_nothing(place: str, open_to_all: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.save(open_to_all / "a.npy", np.arange(30.0))
    (open_to_all / "p.rho").write_text(PROGRAM, encoding="utf-8")
    monkeypatch.chdir(open_to_all)
    monkeypatch.setenv("RHO_KERNELS", "always")
    command = Command(("run", "p.rho"))
    expected = run(command)
    assert expected.code == 0, expected
    caches = PLACES[place](open_to_all / "caches")
    for variable in ("RHO_VERDICTS", "RHO_KERNEL_CACHE", "RHO_PROGRAM_CACHE"):
        monkeypatch.delenv(variable)
    monkeypatch.setenv("XDG_CACHE_HOME", str(caches))

    def work() -> None:
        be_somebody()
        assert run(command) == expected
        trial = Cache("trials", "RHO_TRIALS", ".x", 100, 5)
        trial.write("one", b"1")
        assert trial.read("one") == (b"1" if place == "anybody's" else None)

    require(work, open_to_all)
