"""Damaged files of every format that is read: a value or a message, never a traceback, ten seconds or a gigabyte.

One process reads many files in turn (`worker`); one test id is a format and twenty-five damaged files of it.  Bombs, files that
are small and promise much, are read by the command line, each in a process of its own.
"""

from __future__ import annotations

import itertools
import json
import selectors
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from share import drawing, share

from rho.tests.bad_input import damage
from rho.tests.bad_input.bombs import BOMBS
from rho.tests.bad_input.worker import NAMES

MOST_SECONDS, MOST_BYTES = 10.0, 1 << 30
WATCHDOG = 100.0
BATCH, BATCHES = 25, 20
CASES = list(itertools.product(NAMES, range(BATCHES)))


class Worker:
    """The process that reads, started again where it has died."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, name: str, path: Path) -> tuple[str, float, int]:
        if self._process is None or self._process.poll() is not None:
            command = [sys.executable, "-m", "rho.tests.bad_input.worker"]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps([name, str(path)]).encode() + b"\n")
        process.stdin.flush()
        with selectors.DefaultSelector() as waiting:
            waiting.register(process.stdout, selectors.EVENT_READ)
            if not waiting.select(WATCHDOG):
                self.stop()
                return "bug: it hangs", WATCHDOG, 0
        line = process.stdout.readline()
        if not line:
            return f"bug: the process ended with {process.wait()}", 0.0, 0
        found, seconds, most = json.loads(line)
        return found, seconds, most

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    made = Worker()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[str, bytes]]]:
    """The files that are not damaged yet, made when first asked for."""
    return {}


def path_of(name: str, folder: Path) -> Path:
    suffix = damage.SUFFIXES.get(name, f".{name}")
    return folder / suffix if "/" in suffix else folder / f"x{suffix}"


@pytest.mark.parametrize("case", share(CASES, 11), ids=lambda case: f"{case[0]} {case[1]}")
def test_damage_is_read_or_refused(
    case: tuple[str, int], worker: Worker, sound: dict[str, list[tuple[str, bytes]]], tmp_path: Path
) -> None:
    name, batch = case
    if name not in sound:
        sound[name] = damage.whole(name, tmp_path)
    chance = drawing(name, batch)
    for number in range(BATCH):
        folder = tmp_path / str(number)
        folder.mkdir()
        parts = sound[name] if batch == number == 0 else damage.damaged(name, sound[name], chance)
        damage.put(path_of(name, folder), parts)
        found, seconds, most = worker.ask(name, path_of(name, folder))
        assert not found.startswith("bug"), f"{name}, batch {batch}, {number}: {found}\n{parts}"
        assert seconds < MOST_SECONDS and most < MOST_BYTES, f"{name}, batch {batch}, {number}: {seconds} s, {most:,} bytes"
        assert parts is not sound[name] or found == "read", f"the sound {name} is not read: {found}"
        shutil.rmtree(folder)


# ----------------------------------------------------------------------------------- bombs


RUN = """
import resource, subprocess, sys
ran = subprocess.run([sys.executable, "-m", "rho.shell", *sys.argv[1:]], capture_output=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(ran.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)
print(ran.stderr.decode("utf-8", "replace"))
"""


def ran(folder: Path, *words: str) -> tuple[int, str]:
    """The exit code and the messages of `rho`, which took neither ten seconds nor a gigabyte."""
    def limit() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))

    found = subprocess.run(
        [sys.executable, "-c", RUN, *words], cwd=folder, capture_output=True, text=True, timeout=WATCHDOG, preexec_fn=limit,
    )  # fmt: skip
    first, _, messages = found.stdout.partition("\n")
    code, seconds, most = first.split()
    assert float(seconds) < MOST_SECONDS and int(most) < MOST_BYTES, f"{words}: {seconds} s, {int(most):,} bytes\n{messages}"
    assert "Traceback" not in messages, messages
    return int(code), messages


@pytest.mark.parametrize("bomb", share(sorted(BOMBS), 12))
def test_a_small_file_that_promises_much_is_refused(bomb: str, tmp_path: Path) -> None:
    declared, words = BOMBS[bomb](tmp_path)
    (tmp_path / "p.rho").write_text(f"input x : {declared}\n⎕←⍴x\n" if declared else "+/⍳10\n", encoding="utf-8")
    code, messages = ran(tmp_path, *words)
    assert code in (0, 1, 2, 4), f"exit {code}: {messages}"
    assert code or "fine" in bomb, messages
    assert "a bug in Rho" not in messages
