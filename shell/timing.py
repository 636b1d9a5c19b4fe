"""`--max-time`: stop a run that takes longer, with nothing printed and nothing written (exit 5).

Uses the process's interval timer, so it works in the main thread of systems that have one; elsewhere the limit is checked
when the run is over, and its results are then withheld.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from ..lang.diagnostics import Diagnostic, RhoError
from ..lang.source import Source, Span


class TimeUp(RhoError):
    """The time allowed ran out (exit code 5)."""


@contextmanager
def time_limit(seconds: float | None, source: Source) -> Iterator[None]:
    """Raise TimeUp once `seconds` have passed inside the block; None is no limit."""
    if seconds is None:
        yield
        return
    up = TimeUp([Diagnostic(
        "E709", f"this program ran longer than the {seconds:g} seconds it was given", Span(source.name, 0, 0),
        notes=("nothing was printed and no output was written",),
    )])  # fmt: skip
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        start = time.monotonic()
        yield
        if time.monotonic() - start > seconds:
            raise up
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise up

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
