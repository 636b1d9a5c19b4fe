"""A process that hears Ctrl-C (or SIGTERM) at its n-th call of a function, for any n from its first line to its last.

The process is a fork of one that has everything imported, so a moment costs little; what happens while modules are imported is
asked of real processes (`test_ending`).  Calls are those of every thread, of functions in Python and in C.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from rho.shell.start import main

WATCHDOG = 60.0
"""Ten times what the slowest of these takes on a busy machine."""
NEVER = 0


@dataclass(frozen=True)
class Ended:
    """`calls`: how many there were; those of the process's last words are counted, too."""

    code: int
    out: str
    err: str
    calls: int


class Counting:
    """Sends this process a signal at the n-th call."""

    def __init__(self, number: int, sent: signal.Signals) -> None:
        self.number, self.sent, self.calls = number, sent, 0

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        if event in ("call", "c_call"):
            self.calls += 1
            if self.calls == self.number:
                os.kill(os.getpid(), self.sent)

    def start(self) -> None:
        threading.setprofile(self)
        sys.setprofile(self)

    def stop(self) -> None:
        sys.setprofile(None)
        threading.setprofile(None)


def process(
    work: Callable[[], int], folder: Path, number: int, sent: signal.Signals = signal.SIGINT, typed: bytes = b""
) -> Ended:
    """`work` in a process of its own with streams that are files, and a signal at the n-th call; `NEVER`: none."""
    names = [folder.parent / f"{folder.name}.{stream}" for stream in ("in", "out", "err", "calls")]
    names[0].write_bytes(typed)
    child = os.fork()
    if child == 0:
        code = 70
        try:
            code = _in_child(work, names, Counting(number, sent))
        finally:
            os._exit(code)
    code = _ending(child, number)
    _, out, err, calls = (name.read_text(encoding="utf-8") if name.exists() else "" for name in names)
    for name in names:
        name.unlink(missing_ok=True)
    return Ended(code, out, err, int(calls or 0))


def _in_child(work: Callable[[], int], names: Sequence[Path], counting: Counting) -> int:
    for stream, name in enumerate(names[:3]):
        os.dup2(os.open(name, os.O_RDONLY if stream == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND), stream)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", buffering=1, closefd=False)  # noqa: SIM115
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    counting.start()
    try:
        code = work()
        counting.number = NEVER
        return code
    except BaseException:  # as Python itself would tell it
        traceback.print_exc()
        return 70
    finally:
        counting.stop()
        names[3].write_text(str(counting.calls))


def _ending(child: int, number: int) -> int:
    """The exit code, or minus the signal that ended it; a hang fails."""
    end = time.monotonic() + WATCHDOG
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise AssertionError(f"after a signal at call {number} it did not end within {WATCHDOG} s")
        time.sleep(0.002)


def command(words: Sequence[str]) -> Callable[[], int]:
    """`rho WORDS`, from the first line of its process."""

    def work() -> int:
        sys.argv = ["rho", *words]
        code = int(main())
        for stream in (sys.stdout, sys.stderr):  # as Python does in the end
            stream.flush()
        return code

    return work
