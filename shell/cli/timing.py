"""`--max-time`: stop work that takes longer, with nothing printed (exit 5).

Uses the process's interval timer, so it works in the main thread of systems that have one; elsewhere the limit is checked
when the work is over, and its results are then withheld.  What compiled code makes of the main thread, `ending` ends.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from ...lang.codes import Code
from ...lang.diagnostics import Diagnostic, RhoError
from ...lang.source import Source, Span
from .ending import Alarm, LastWords, limited


class TimeUp(RhoError):
    """The time allowed ran out (exit code 5)."""


class Allowance:
    """The time allowed.  `saving`: are outputs being written?  `over`: it has run out."""

    def __init__(self, seconds: float, source: Source) -> None:
        self.seconds, self.source = seconds, source
        self.saving = self.over = False

    def up(self) -> TimeUp:
        left = "each output is complete or as it was before" if self.saving else "no output was written"
        return TimeUp([Diagnostic(
            Code.E709, f"this program ran longer than the {self.seconds:g} seconds it was given", Span(self.source.name, 0, 0),
            notes=(f"nothing was printed and {left}",),
        )])  # fmt: skip


@contextmanager
def time_limit(seconds: float | None, source: Source, words: Callable[[TimeUp], LastWords]) -> Iterator[Allowance]:
    """Raise TimeUp once `seconds` have passed inside the block; None is no limit.  `words`: what the process then says."""
    allowance = Allowance(seconds or 0.0, source)
    if seconds is None:
        yield allowance
        return
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        start = time.monotonic()
        yield allowance
        if time.monotonic() - start > seconds:
            raise allowance.up()
        return

    def stop(number: int, frame: FrameType | None) -> None:
        allowance.over = True
        raise Alarm

    before = signal.signal(signal.SIGALRM, stop)
    try:
        with limited(lambda: words(allowance.up())):
            try:
                signal.setitimer(signal.ITIMER_REAL, seconds)
                yield allowance
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
    except BaseException:
        if allowance.over:  # whatever became of the alarm: a compiled module that is being imported says that it cannot be
            raise allowance.up() from None
        raise
    finally:
        signal.signal(signal.SIGALRM, before)
