"""Standard streams that fail while a command writes to them.

A message that cannot be written changes nothing of how the command ends.  A reader of results that leaves ends the command, whose
verdict it does not change once there is one.

Neighbours: `console`, `main` (which says that results were lost).
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:

    from .exits import Exit


class ReaderLeft(BrokenPipeError):
    """The reader of results has left a command that knows how it ends."""

    def __init__(self, code: Exit) -> None:
        super().__init__()
        self.code = code


@contextmanager
def reporting(code: Exit) -> Iterator[None]:
    """What the block prints reports a verdict: a reader that leaves meanwhile does not change it."""
    try:
        yield
    except BrokenPipeError as error:
        raise ReaderLeft(code) from error


class _Messages(io.FileIO):
    """Standard error, which drops what the system does not take."""

    def write(self, text: Any) -> int:  # what has a buffer
        try:
            return super().write(text)
        except OSError:
            return memoryview(text).nbytes


def messages_of_process() -> None:
    """`sys.stderr` drops what cannot be written, if it is the process's first one."""
    if sys.stderr is sys.__stderr__ and sys.stderr is not None:
        raw = _Messages(sys.stderr.fileno(), "w", closefd=False)
        sys.stderr = io.TextIOWrapper(io.BufferedWriter(raw), "utf-8", "backslashreplace", line_buffering=True)


def in_order(results: TextIO) -> None:
    """Write results before a message that follows them; whether they are lost is told at the end of the command."""
    with suppress(OSError):
        results.flush()
