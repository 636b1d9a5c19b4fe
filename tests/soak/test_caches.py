"""Caches that somebody has changed: damaged, exchanged, planted, of others, links, pipes.

Answers never change, and nothing waits.  Verdicts of the solver, machine code of kernels, and calibrations; each as a program
finds them in a process of its own, also under `python -O`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from share import share

from rho.lang.support import caches
from rho.lang.support.caches import Cache
from rho.typechecker.proof import solver as verdicts

pytestmark = pytest.mark.long

LIMIT = 60
SMALL = Cache("trials", "RHO_TRIALS", ".x", 100, 5)

ADDED = """\
input a : f64[n] ← "a.npy"
input b : f64[m] ← "b.npy"
p ← (1+(≢a)×≢a)⍴2.0
q ← (4+4×≢b)⍴3.0
r ← p+q
+/r
⍴r
"""
"""n×n + 1 is never 4×m + 4, which only the solver knows."""

SIGNED = """\
f : f64[n] → f64[m] → f64
f ← {+/((1+(≢⍺)×≢⍺)⍴√⍺)+(4+4×≢⍵)⍴⍵}
input a : f64[n] ← "a.npy"
input b : f64[m] ← "b.npy"
a f b
"""

GOOD = """\
input a : f64[n] ← "a.npy"
n ← ≢a
+/((2×⌊(n×1+n)÷2)⍴a)-(n×1+n)⍴⌽a
+\\⌽√a
"""
"""Twice the half of n×(1+n) is n×(1+n): true, and only the solver knows.  Several kernels."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("RHO_VERDICTS", raising=False)
    monkeypatch.delenv("RHO_KERNEL_CACHE", raising=False)
    monkeypatch.setenv("RHO_KERNELS", "always")
    np.save(tmp_path / "a.npy", np.arange(300.0))
    np.save(tmp_path / "b.npy", np.arange(90000.0))
    return tmp_path


def run(folder: Path, program: str, *options: str) -> tuple[int, str, str]:
    """A program in a process of its own; too slow is a hang."""
    script = folder / "x.rho"
    script.write_text(program, encoding="utf-8")
    words = [sys.executable, *options, "-m", "rho.shell", "run", str(script)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT, check=False)
    return done.returncode, done.stdout, done.stderr


def entries(folder: Path, kind: str) -> list[Path]:
    return sorted(path for path in (folder / "cache" / "rho" / kind).iterdir() if not path.name.startswith("."))


# ------------------------------------------------------------------------------------------------- verdicts


def forge(verdict: str) -> None:
    """Every stored verdict becomes another, in the user's own hand."""
    place = verdicts.CACHE.folder()
    assert place is not None
    files = list(place.glob("*.json"))
    assert files
    for file in files:
        entry = json.loads(file.read_bytes().partition(b"\n")[2])
        verdicts.write(entry["question"], {"verdict": verdict, "model": []})


def replace_in_file(verdict: str) -> None:
    """The same with an editor."""
    place = verdicts.CACHE.folder()
    assert place is not None
    for file in place.glob("*.json"):
        head, _, text = file.read_bytes().partition(b"\n")
        old = json.loads(text)["verdict"].encode()
        file.write_bytes(head + b"\n" + text.replace(old, verdict.encode()))


@pytest.mark.parametrize(("program", "options"), [(ADDED, []), (SIGNED, ["-O"])], ids=["added", "in a signed function, -O"])
def test_a_wrong_proof_moves_no_data(program: str, options: list[str], folder: Path) -> None:
    code, out, clean = run(folder, program, *options)
    assert (code, out) == (3, "") and ("E101" in clean or "E102" in clean), clean
    replace_in_file("proved")
    assert run(folder, program, *options) == (3, "", clean)
    forge("proved")
    code, out, message = run(folder, program, *options)
    assert (code, out) == (4, "") and "E701" in message and "the left is 90001, the right is 360004" in message, message


@pytest.mark.parametrize("verdict", share(["never", "depends", "unknown", "nonsense"]))
def test_a_changed_verdict_is_asked_for_again(verdict: str, folder: Path) -> None:
    clean = run(folder, GOOD)
    assert clean[0] == 0, clean
    replace_in_file(verdict)
    assert run(folder, GOOD) == clean


# --------------------------------------------------------------------------------- what may lie in a folder


def flip(file: Path, rng: np.random.Generator) -> None:
    data = bytearray(file.read_bytes() or b"\0")  # an entry that an earlier way emptied, and no later run wrote again
    data[rng.integers(len(data))] ^= 1 << int(rng.integers(8))
    file.write_bytes(data)


def cut(file: Path, rng: np.random.Generator) -> None:
    data = file.read_bytes()
    file.write_bytes(data[: int(rng.integers(len(data) or 1))])


def rest_of_another(file: Path, rng: np.random.Generator) -> None:
    """The contents of another entry under this one's name."""
    others = sorted(o for o in file.parent.glob("*" + file.suffix) if o.is_file() and not o.is_symlink() and o != file)
    if others:
        file.write_bytes(others[int(rng.integers(len(others)))].read_bytes())


def instead(make: Callable[[Path], object], file: Path, rng: np.random.Generator) -> None:
    file.unlink()
    make(file)


def hidden(file: Path, rng: np.random.Generator) -> None:
    """As it was, behind a link."""
    other = file.with_suffix(f".{rng.integers(1 << 60)}")
    shutil.move(file, other)
    file.symlink_to(other)


DAMAGE: dict[str, Callable[[Path, np.random.Generator], object]] = {
    "one bit": flip,
    "cut": cut,
    "exchanged": rest_of_another,
    "random": lambda file, rng: file.write_bytes(rng.bytes(5000)),
    "large": lambda file, rng: file.write_bytes(bytes(9 << 20)),
    "empty": partial(instead, Path.touch),
    "folder": partial(instead, Path.mkdir),
    "pipe": partial(instead, os.mkfifo),
    "/dev/zero": partial(instead, lambda file: file.symlink_to("/dev/zero")),
    "itself": partial(instead, lambda file: file.symlink_to(file)),
    "hidden": hidden,
    "of another": lambda file, rng: os.chown(file, 12345, 12345) if os.geteuid() == 0 else file.unlink(),
    "unreadable": lambda file, rng: file.chmod(0),
}


@pytest.mark.parametrize("kind", share(["kernels", "verdicts", "programs", "devices", "keys"], seed=5))
def test_damaged_entries_change_nothing(kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every entry in another way, each way at least once where there are as many entries."""
    if kind in ("programs", "keys"):
        monkeypatch.delenv("RHO_PROGRAM_CACHE")
    if kind == "devices":
        calibrate(folder)
    clean = run(folder, GOOD)
    assert clean[0] == 0, clean
    rng = np.random.default_rng(len(kind))
    kinds = ["kernels", "verdicts", "programs"] if kind == "keys" else [kind]
    ways = share(sorted(DAMAGE), seed=len(kind))
    for way in ways:
        files = [f for k in kinds for f in (folder / "cache" / "rho" / k).iterdir() if f.name.startswith(".") == (kind == "keys")]
        assert files
        for place, file in enumerate(files):
            if file.is_file() and not file.is_symlink():
                DAMAGE[way if place == 0 else sorted(DAMAGE)[place % len(DAMAGE)]](file, rng)
        assert run(folder, GOOD, *(["-O"] if ways.index(way) % 2 else [])) == clean, way


@pytest.mark.parametrize("part", ["entry", "key"])
@pytest.mark.parametrize("damage", sorted(DAMAGE))
def test_a_damaged_entry_is_absent(damage: str, part: str, trials: Path) -> None:
    file = SMALL.file("one") if part == "entry" else trials / ".key"
    assert file is not None
    whole = damage == "unreadable" and os.geteuid() == 0  # root reads it
    DAMAGE[damage](file, np.random.default_rng(0))
    if part == "entry":
        assert SMALL.read("one") == (b"1" if whole else None) and SMALL.read("two") == b"2"
    elif not whole:
        assert damage == "exchanged" or (SMALL.read("one"), SMALL.read("two")) == (None, None)
    SMALL.write("one", b"1")
    assert SMALL.read("one") == (None if damage == "folder" else b"1")


def calibrate(folder: Path) -> None:
    """A calibration as `rho devices --calibrate` keeps it, without measuring."""
    program = (
        "from rho.shell.execution import stored_plans; from rho.backend.devices.this_machine import keep_calibration; "
        "keep_calibration(stored_plans.this_machine())"
    )
    subprocess.run([sys.executable, "-c", program], timeout=LIMIT, check=True)
    assert entries(folder, "devices")


# -------------------------------------------------------------------------------------------- whose it is


@pytest.fixture
def trials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RHO_TRIALS", str(tmp_path / "trials"))
    SMALL.write("one", b"1")
    SMALL.write("two", b"2")
    assert (SMALL.read("one"), SMALL.read("two")) == (b"1", b"2")
    return tmp_path / "trials"


def test_what_is_kept_is_the_users_alone(trials: Path) -> None:
    assert os.stat(trials).st_mode & 0o777 == 0o700
    assert {os.stat(file).st_mode & 0o777 for file in trials.iterdir()} == {0o600}


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o720, 0o702, 0o1777])
def test_a_folder_that_others_may_write_is_not_used(mode: int, trials: Path) -> None:
    trials.chmod(mode)
    assert SMALL.read("one") is None
    SMALL.write("three", b"3")
    trials.chmod(0o700)
    assert SMALL.read("three") is None and SMALL.read("one") == b"1"


def test_a_folder_behind_a_link_is_not_used(trials: Path) -> None:
    trials.rename(trials.with_name("elsewhere"))
    trials.symlink_to(trials.with_name("elsewhere"))
    assert SMALL.read("one") is None
    SMALL.write("three", b"3")
    assert len(list(trials.glob("*.x"))) == 2


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("what", ["folder", "entry", "key"])
def test_what_belongs_to_another_is_not_read(what: str, trials: Path) -> None:
    place = {"folder": trials, "entry": SMALL.file("one"), "key": trials / ".key"}[what]
    assert place is not None
    os.chown(place, 12345, 12345)
    assert SMALL.read("one") is None


def test_a_full_folder_forgets_what_was_read_longest_ago(trials: Path) -> None:
    (trials / "note").write_text("not an entry")
    for number in range(3 * SMALL.most_files):
        file = SMALL.file("one")
        assert file is not None
        for entry in trials.glob("*.x"):
            os.utime(entry, (100 + (entry == file), 100))  # "one" was read after the others
        SMALL.write(f"number {number}", b"4")
        assert SMALL.read(f"number {number}") == b"4" and SMALL.read("one") == b"1"
        assert len(list(trials.glob("*.x"))) <= SMALL.most_files
    assert SMALL.read("two") is None and (trials / "note").exists() and SMALL.read("number 0") is None


def test_entries_do_not_answer_for_each_other(trials: Path) -> None:
    one, two = SMALL.file("one"), SMALL.file("two")
    assert one is not None and two is not None
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)
    assert (SMALL.read("one"), SMALL.read("two")) == (None, None)


def test_entries_of_another_folder_or_kind_are_not_read(trials: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = trials.with_name("other")
    monkeypatch.setenv("RHO_TRIALS", str(other))
    SMALL.write("one", b"planted")
    shutil.copytree(other, trials, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".key"))
    monkeypatch.setenv("RHO_TRIALS", str(trials))
    assert SMALL.read("one") is None and SMALL.read("two") == b"2"
    assert Cache("trails", "RHO_TRIALS", ".x", 100, 5).read("two") is None


def test_a_key_that_others_may_read_is_no_key(trials: Path) -> None:
    (trials / ".key").chmod(0o640)
    assert SMALL.read("one") is None
    SMALL.write("one", b"again")
    assert SMALL.read("one") == b"again" and os.stat(trials / ".key").st_mode & 0o077 == 0


def test_what_is_too_much_is_not_kept(trials: Path) -> None:
    SMALL.write("large", bytes(101))
    assert SMALL.read("large") is None
    for number in range(10):
        SMALL.write(f"n{number}", b"")
    assert len(list(trials.iterdir())) <= 6


@pytest.mark.parametrize("home", ["none", "relative"])
def test_a_user_without_a_home_keeps_nothing(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RHO_TRIALS", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path if home == "none" else "here")
    assert caches.cache_folder("x") is None and caches.state_folder({}) is None
    SMALL.write("one", b"1")
    assert SMALL.read("one") is None
