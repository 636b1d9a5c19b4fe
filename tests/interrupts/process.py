"""A command in a process of its own that is interrupted once it has used so much processor time.

Moments are counted in processor time, which a loaded machine does not shift; waits are watchdogs of ten times the figures that
`benchmarks/interrupts.py` measures.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

STOP_SECONDS = 0.5
"""From Ctrl-C, or from the limit and a tenth of it, to the end: the figure."""
WATCHDOG = 10 * STOP_SECONDS
STARTING = 60.0
"""A wait for processor time to be used."""
_SOURCES = Path(__file__).resolve().parents[2]
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


@dataclass(frozen=True)
class Stopped:
    """`seconds`: from the signal to the end; None: the command had ended by itself."""

    code: int
    out: str
    err: str
    seconds: float | None


def processor_seconds(pid: int) -> float:
    """What the threads of a process have used so far."""
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS
    return 0.0


def interrupt(
    words: Sequence[str], folder: Path, after: float, number: int = signal.SIGINT, stdin: int = subprocess.DEVNULL
) -> Stopped:
    """Start `rho WORDS` in a folder; send it a signal once it has used `after` seconds of processor time."""
    return _interrupt(start(words, folder, stdin), after, number)


def interrupt_python(words: Sequence[str], folder: Path, after: float, watchdog: float = WATCHDOG) -> Stopped:
    """The same of `python WORDS`."""
    return _interrupt(_started(words, folder, subprocess.DEVNULL), after, signal.SIGINT, watchdog)


def _interrupt(process: subprocess.Popen[str], after: float, number: int, watchdog: float = WATCHDOG) -> Stopped:
    try:
        begun = time.monotonic()
        while process.poll() is None and processor_seconds(process.pid) < after:
            assert time.monotonic() - begun < STARTING + after, "it uses no processor time"
            time.sleep(0.002)
        sent = time.monotonic()
        over = process.poll() is not None
        process.send_signal(number)
        out, err = process.communicate(timeout=watchdog)
        return Stopped(process.returncode, out, err, None if over else time.monotonic() - sent)
    finally:
        process.kill()
        process.communicate()


def start(words: Sequence[str], folder: Path, stdin: int = subprocess.DEVNULL) -> subprocess.Popen[str]:
    """`rho WORDS`, its streams in pipes."""
    return _started(["-m", "rho.shell", *words], folder, stdin)


def _started(words: Sequence[str], folder: Path, stdin: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *words], cwd=folder, stdin=stdin, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, encoding="utf-8",
    )  # fmt: skip


def is_pythons_own(stopped: Stopped) -> bool:
    """Was it interrupted before the first line of Rho, while Python itself started?

    What `site` imports for an installed package, such as the finder of an editable one, is Python's start too, and so is the
    import by `shell/__main__.py` of the module that takes interrupts over.  `site` says so of a `.pth` file and goes on, and so
    do imports of what is inside a callback of theirs.
    """
    if stopped.code == 0 and re.match(r"Exception ignored in: <function _get_module_lock", stopped.err):
        return True
    if re.search(r"^Error processing line \d+ of .*\.pth:$", stopped.err, re.MULTILINE):
        return True
    if stopped.code not in (1, -signal.SIGINT):
        return False
    if "init_import_site" in stopped.err:
        return True
    files = [Path(name).resolve() for name in re.findall(r'^\s*File "([^<"][^"]*)"', stopped.err, re.MULTILINE)]
    rho = [name for name in files if _SOURCES in name.parents and "site-packages" not in name.parts]
    return all(name == _SOURCES / "shell" / "__main__.py" for name in rho)
