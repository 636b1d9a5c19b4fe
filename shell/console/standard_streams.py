"""Standard input and output in place of a file: `-`, `-:csv`, `-:npz:name`.

`-` alone is read as npy if its bytes say so, else as csv, and written as csv.  Standard input is read once, to its end, and
never more of it than the memory there is.  Standard output holds one output and nothing else: what the program prints goes to
standard error then.
"""

from __future__ import annotations

import io
import math
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from enum import Enum
from io import UnsupportedOperation
from typing import TYPE_CHECKING, Any, BinaryIO, Final, TextIO

from ...lang.support.bounded_parsing import parse_natural
from ...lang.support.files import read_stream
from ...lang.support.records import dataclass
from ...lang.syntax.source import MAXIMUM_CHARACTERS
from .usage_errors import UsageError, nearest

if TYPE_CHECKING:
    from .process_exit import Exit

# ---------------------------------------------------------------------------------------------------- streams

READ = ("csv", "tsv", "npy", "npz", "txt", "png", "parquet")
WRITTEN = ("csv", "tsv", "npy", "txt", "json", "png")
BINARY = frozenset({"npy", "png"})
_WITH_MEMBERS = frozenset({"npz", "parquet", "csv", "tsv"})
_NPY = b"\x93NUMPY"
_FILE = re.compile(r"-(\.\w+)+(:.*)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class OutputStream:
    """What stands after the `-`: a format, "" for none, and an array of an archive."""

    format: str
    member: str = ""

    def named(self, held: bytes = b"") -> str:
        """The name that a file of this format would have."""
        format = self.format or ("npy" if held.startswith(_NPY) else "csv")
        return f"-.{format}" + (f":{self.member}" if self.member else "")


def stream_of(path: str) -> OutputStream | None:
    """None: the path is a file's."""
    if path == "-":
        return OutputStream("")
    if not path.startswith("-:"):
        return None
    format, _, member = path.removeprefix("-:").partition(":")
    return OutputStream(format.lower(), member)


def check_streams(inputs: Mapping[str, str], outputs: Mapping[str, str], *, terminal: bool, program: bool) -> None:
    """UsageError where a stream is not one, or has to serve twice.  `terminal`: standard output is one; `program`: standard
    input holds the program."""
    reading = [_checked("--in", name, path, READ) for name, path in inputs.items()]
    writing = [_checked("--out", name, path, WRITTEN) for name, path in outputs.items()]
    first, *others = [name for name in reading if name] or [""]
    if first and program:
        raise UsageError(f"--in {first}={inputs[first]}: standard input holds the program", "give one of them a file")
    if others and not all((stream := stream_of(inputs[name])) is not None and stream.member for name in (first, *others)):
        raise UsageError(f"--in {others[0]}={inputs[others[0]]}: standard input is read by --in {first} already",
                         "one array can come from it, or columns of one table: `-:csv:name`")  # fmt: skip
    first, *others = [name for name in writing if name] or [""]
    if others:
        raise UsageError(f"--out {others[0]}={outputs[others[0]]}: standard output is --out {first}'s already",
                         "one output can go there: give the others files")  # fmt: skip
    stream = stream_of(outputs[first]) if first else None
    if stream is not None and stream.format in BINARY and terminal:
        raise UsageError(f"--out {first}={outputs[first]}: {stream.format} is binary, and standard output is a terminal",
                         f"redirect it to a file, or write text: --out {first}=-:csv")  # fmt: skip


def _checked(option: str, name: str, path: str, formats: tuple[str, ...]) -> str:
    """The name if its path is a stream, else ""."""
    what = "input" if option == "--in" else "output"
    if _FILE.fullmatch(path):
        format = path.removeprefix("-.").partition(":")[0]
        raise UsageError(f"{option} {name}={path}: standard {what} is `-` or `-:{format}`",
                         f"if you mean a file of that name write `./{path}`")  # fmt: skip
    stream = stream_of(path)
    if stream is None:
        return ""
    if path != "-" and stream.format not in formats:
        guess = nearest(stream.format, formats)
        meant = f"; did you mean `-:{guess}`?" if guess else ""
        raise UsageError(f"{option} {name}={path}: standard {what} has no format `{stream.format}`{meant}",
                         "the formats are " + " ".join(formats))  # fmt: skip
    if stream.member and (option == "--out" or stream.format not in _WITH_MEMBERS):
        raise UsageError(f"{option} {name}={path}: `{stream.format}` holds one array, which has no name")
    return name


def read_standard_input(stream: TextIO | None, most: int) -> bytes:
    """All that standard input has left.  OSError (`TooLarge`: more than `most` bytes)."""
    return b"" if stream is None else read_stream(_bytes_in(stream), most)


def _bytes_in(stream: TextIO) -> BinaryIO:
    """The bytes under a text stream; of one that is made of text, as UTF-8."""
    binary: BinaryIO | None = getattr(stream, "buffer", None)
    return binary if binary is not None else io.BytesIO(stream.read().encode())


def bytes_out(stream: TextIO) -> BinaryIO:
    """Where bytes go that come after what was printed on a text stream."""
    stream.flush()
    binary: BinaryIO | None = getattr(stream, "buffer", None)
    return binary if binary is not None else _Decoding(stream)


class _Decoding(io.BytesIO):
    """Bytes for a stream of text that has none below it: handed on when they are flushed."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._stream = stream

    def flush(self) -> None:
        self._stream.write(self.getvalue().decode("utf-8", "surrogateescape"))
        self.seek(0)
        self.truncate()


# ---------------------------------------------------------------------------------------------------- encode
#
# Values as JSON: nested lists, complex as `[re, im]`, text as rows, NaN and infinities as strings.

def plain_data(nested: Any) -> Any:
    """Nested lists of Python numbers and texts, made fit for JSON.  Lists that need no change are returned as they are."""
    if isinstance(nested, list):
        if nested and not isinstance(nested[0], list | complex | float):
            return nested
        return [plain_data(item) for item in nested]
    if isinstance(nested, complex):
        return [plain_data(nested.real), plain_data(nested.imag)]
    if isinstance(nested, float) and not math.isfinite(nested):
        return "nan" if nested != nested else "inf" if nested > 0 else "-inf"
    return nested


# ---------------------------------------------------------------------------------------------------- lost_output
#
# Standard streams that fail while a command writes to them.
#
# A message that cannot be written changes nothing of how the command ends.  A reader of results that leaves ends the command,
# whose verdict it does not change once there is one.

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


# ---------------------------------------------------------------------------------------------------- console
#
# Where a command reads and writes: results on `out`, everything else on `err`, colour only on a terminal.
#
# A `Console` is passed to every verb, so nothing in the shell touches `sys` and tests hand in their own streams.

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
        columns = parse_natural(self.environment.get("COLUMNS", ""), _MOST_COLUMNS)
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
