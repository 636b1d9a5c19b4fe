"""Where a command reads and writes: results on `out`, everything else on `err`, colour only on a terminal.

A `Console` is passed to every verb, so nothing in the shell touches `sys` and tests hand in their own streams.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from enum import Enum
from io import UnsupportedOperation
from typing import Final, TextIO

from ...lang.limits import MAXIMUM_CHARACTERS
from ...lang.numerals import natural
from ...lang.records import dataclass
from .lost_output import in_order, messages_of_process

_MOST_COLUMNS = 100_000
DEFAULT_DIGITS: Final = 10


class Volume(Enum):
    """How much is said beside results."""

    QUIET = "errors"
    USUAL = "errors, warnings and notes"
    VERBOSE = "also how long each stage took"


class Colour(Enum):
    AUTO = "on a terminal"
    ALWAYS = "everywhere"
    NEVER = "nowhere"


@dataclass(frozen=True, slots=True)
class Console:
    """`environment` is read for NO_COLOR, TERM and COLUMNS only.  `digits` are those of printed numbers."""

    out: TextIO
    err: TextIO
    input: TextIO
    environment: Mapping[str, str]
    volume: Volume = Volume.USUAL
    colouring: Colour = Colour.AUTO
    digits: int = DEFAULT_DIGITS

    @classmethod
    def standard(cls) -> Console:
        """The process's own streams, made UTF-8 whatever the locale says.  Closed standard input is empty; what is written on
        closed standard output fails, so that no result is lost in silence; messages have nowhere else to go."""
        for name, mode, flags in (("stdin", "r", os.O_RDONLY), ("stdout", "w", os.O_RDONLY), ("stderr", "w", os.O_WRONLY)):
            if getattr(sys, name) is None:
                setattr(sys, name, open(os.open(os.devnull, flags), mode, encoding="utf-8"))  # noqa: SIM115 (for the life of the process)
        messages_of_process()
        for stream in (sys.stdin, sys.stdout, sys.stderr):
            reconfigure = getattr(stream, "reconfigure", None)
            with suppress(UnsupportedOperation):  # somebody has read from it: it stays as it is
                if reconfigure is not None:
                    reconfigure(encoding="utf-8", errors="surrogateescape" if stream is sys.stdin else "backslashreplace")
        return cls(sys.stdout, sys.stderr, sys.stdin, os.environ)

    def print(self, text: str) -> None:
        """A line of the result."""
        self.out.write(text + "\n")

    def note(self, text: str) -> None:
        """A line that is not a result."""
        if self.volume is Volume.QUIET:
            return
        in_order(self.out)
        self.err.write(text + "\n")

    def read_input(self) -> str:
        """All of standard input, or as much of it as is too large for a program."""
        return self.input.read(MAXIMUM_CHARACTERS + 1)

    @property
    def colour(self) -> bool:
        """May messages be coloured?"""
        return self._may_colour(self.err)

    @property
    def colours_results(self) -> bool:
        """May results be coloured?"""
        return self._may_colour(self.out)

    @property
    def interactive(self) -> bool:
        """Is someone typing?"""
        return self.input.isatty() and self.out.isatty()

    @property
    def has_lines(self) -> bool:
        """May a line on the terminal of messages be drawn again and again?"""
        return self.err.isatty() and self.environment.get("TERM") != "dumb"

    @property
    def error_width(self) -> int:
        """Columns of the terminal of messages."""
        return self._columns(self.err)

    @property
    def width(self) -> int:
        """Columns for results: the window's on a terminal, else 80."""
        return self._columns(self.out)

    def _columns(self, stream: TextIO) -> int:
        columns = natural(self.environment.get("COLUMNS", ""), _MOST_COLUMNS)
        if columns is not None and columns >= 20:
            return columns
        try:
            return max(20, os.get_terminal_size(stream.fileno()).columns) if stream.isatty() else 80
        except (OSError, ValueError):
            return 80

    def _may_colour(self, stream: TextIO) -> bool:
        if self.colouring is not Colour.AUTO:
            return self.colouring is Colour.ALWAYS
        if self.environment.get("NO_COLOR") or self.environment.get("TERM") == "dumb":
            return False
        return stream.isatty()
