"""The standard streams, `Console` (which every command reads from and writes to), and JSON and diagnostics on it.

Every error is a usage error or a diagnostic.  An input or output may be `-`, `-:csv` or `-:npz:name` in place of a data file.
`-` alone is read as npy if it starts with npy's magic bytes, else as csv, and is written as csv.  Standard input is read once, to
its end, and at most as much as fits in memory.  If standard output holds an output, it holds nothing else: the program's printed
values go to standard error.
"""

from __future__ import annotations

import io
import math
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from enum import Enum
from pathlib import Path
from typing import Any, BinaryIO, Final, TextIO

from ...lang.diagnostics.model import Code, Diagnostic, Refused, Rejected, RhoError
from ...lang.diagnostics.render import Ink, render_text
from ...lang.support.bounded_parsing import parse_natural
from ...lang.support.files import Pipes, read_bytes, read_stream, replace_file
from ...lang.support.records import dataclass, replace
from ...lang.syntax.source import MAXIMUM_CHARACTERS, Source, Span
from .process_exit import Exit, NotWritten, UsageError, nearest

# ---------------------------------------------------------------------------------------------------- streams in place of files

READ_FORMATS = ("csv", "tsv", "json", "jsonl", "npy", "npz", "txt", "png", "parquet", "arrow", "xlsx", "h5")
WRITE_FORMATS = ("csv", "tsv", "npy", "txt", "json", "jsonl", "png", "arrow")
BINARY_FORMATS = frozenset({"npy", "png", "arrow"})
_WITH_MEMBERS = frozenset({"npz", "parquet", "csv", "tsv", "json", "jsonl", "arrow", "xlsx", "h5"})
_NPY = b"\x93NUMPY"
_MISTYPED_STREAM = re.compile(r"-(\.\w+)+(:.*)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class StandardStream:
    """`-:FORMAT:MEMBER`: the format ("" if none is given) and the array of an archive or column of a table."""

    format: str
    member: str = ""

    def named(self, held: bytes = b"") -> str:
        """The name of a file with the format of this stream, or with `held` if the stream names none."""
        format = self.format or ("npy" if held.startswith(_NPY) else "csv")
        return f"-.{format}" + (f":{self.member}" if self.member else "")


def stream_of(path: str) -> StandardStream | None:
    """The stream that a path stands for; None for a file."""
    if path == "-":
        return StandardStream("")
    if not path.startswith("-:"):
        return None
    format, _, member = path.removeprefix("-:").partition(":")
    return StandardStream(format.lower(), member)


def check_streams(inputs: Mapping[str, str], outputs: Sequence[tuple[str, str]], *, terminal: bool, program: bool) -> None:
    """Raise UsageError for a stream whose format does not exist or that would be used twice.

    `terminal`: standard output is a terminal; `program`: standard input holds the program."""
    reading = [_checked_name("--in", name, path, READ_FORMATS) for name, path in inputs.items()]
    writing = [(name, path) for name, path in outputs if _checked_name("--out", name, path, WRITE_FORMATS)]
    first, *others = [name for name in reading if name] or [""]
    if first and program:
        raise UsageError(f"--in {first}={inputs[first]}: standard input holds the program", "give one of them a file")
    if others and not all((stream := stream_of(inputs[name])) is not None and stream.member for name in (first, *others)):
        raise UsageError(f"--in {others[0]}={inputs[others[0]]}: standard input is read by --in {first} already",
                         "one array can come from it, or columns of one table: `-:csv:name`")  # fmt: skip
    if not writing:
        return
    (name, path), *more = writing
    for another, its_path in more[:1]:
        raise UsageError(f"--out {another}={its_path}: standard output is --out {name}'s already",
                         "one output can go there: give the others files")  # fmt: skip
    stream = stream_of(path)
    if stream is not None and stream.format in BINARY_FORMATS and terminal:
        raise UsageError(f"--out {name}={path}: {stream.format} is binary, and standard output is a terminal",
                         f"redirect it to a file, or write text: --out {name}=-:csv")  # fmt: skip


def _checked_name(option: str, name: str, path: str, formats: tuple[str, ...]) -> str:
    """The name if its path is a stream, else "".  UsageError: not a valid stream."""
    what = "input" if option == "--in" else "output"
    if _MISTYPED_STREAM.fullmatch(path):
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
    """The rest of standard input.  OSError (`TooLarge`: more than `most` bytes)."""
    return b"" if stream is None else read_stream(_bytes_in(stream), most)


def _bytes_in(stream: TextIO) -> BinaryIO:
    """The binary stream below a text stream; for one without (`StringIO`), its UTF-8 bytes."""
    binary: BinaryIO | None = getattr(stream, "buffer", None)
    return binary if binary is not None else io.BytesIO(stream.read().encode())


def bytes_out(stream: TextIO) -> BinaryIO:
    """A binary stream that continues a text stream after what was printed on it."""
    stream.flush()
    binary: BinaryIO | None = getattr(stream, "buffer", None)
    return binary if binary is not None else _TextBytes(stream)


class _TextBytes(io.BytesIO):
    """A binary stream over a text stream without a buffer: `flush` decodes the bytes and writes them as text."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._stream = stream

    def flush(self) -> None:
        self._stream.write(self.getvalue().decode("utf-8", "surrogateescape"))
        self.seek(0)
        self.truncate()


# ---------------------------------------------------------------------------------------------------- values as JSON

def plain_data(nested: Any) -> Any:
    """Nested lists of numbers and texts as JSON has them: complex as `[re, im]`, NaN and infinities as strings.

    Lists that need no change are returned as they are."""
    if isinstance(nested, list):
        if nested and not isinstance(nested[0], list | complex | float):
            return nested
        return [plain_data(item) for item in nested]
    if isinstance(nested, complex):
        return [plain_data(nested.real), plain_data(nested.imag)]
    if isinstance(nested, float) and not math.isfinite(nested):
        return "nan" if nested != nested else "inf" if nested > 0 else "-inf"
    return nested


# ---------------------------------------------------------------------------------------------------- streams that fail
#
# A message that cannot be written does not change how the command ends.  A closed pipe on standard output (`rho … | head`) ends
# the command, and does not change its exit code once that is decided.

class ReaderLeft(BrokenPipeError):
    """The reader closed standard output after the command had decided on its exit code."""

    def __init__(self, code: Exit) -> None:
        super().__init__()
        self.code = code


@contextmanager
def reporting(code: Exit) -> Iterator[None]:
    """A block that prints the report of a command which exits with `code`, even if the reader closes the pipe meanwhile."""
    try:
        yield
    except BrokenPipeError as error:
        raise ReaderLeft(code) from error


class _LossyStderr(io.FileIO):
    """Standard error that drops what cannot be written."""

    def write(self, text: Any) -> int:  # streams with a buffer
        try:
            return super().write(text)
        except OSError:
            return memoryview(text).nbytes


def install_lossy_stderr() -> None:
    """Make `sys.stderr` drop what cannot be written, unless it has been replaced."""
    if sys.stderr is sys.__stderr__ and sys.stderr is not None:
        raw = _LossyStderr(sys.stderr.fileno(), "w", closefd=False)
        sys.stderr = io.TextIOWrapper(io.BufferedWriter(raw), "utf-8", "backslashreplace", line_buffering=True)


def flush_results(results: TextIO) -> None:
    """Flush results before a message that follows them; an error of that is reported when the command ends."""
    with suppress(OSError):
        results.flush()


# ---------------------------------------------------------------------------------------------------- console
#
# Every verb gets a `Console`, so that nothing in the shell touches `sys` and tests pass their own streams.

_MOST_COLUMNS = 100_000
DEFAULT_DIGITS: Final = 10


class Volume(Enum):
    """The amount of output in addition to results."""

    QUIET = "errors"
    USUAL = "errors, warnings and notes"
    VERBOSE = "also how long each stage took"


class Colour(Enum):
    AUTO = "on a terminal"
    ALWAYS = "everywhere"
    NEVER = "nowhere"


@dataclass(frozen=True, slots=True)
class Console:
    """Results go to `out`, everything else to `err`, in colour only on a terminal.

    `environment` is read for NO_COLOR, TERM and COLUMNS only; `digits`: significant digits of printed numbers."""

    out: TextIO
    err: TextIO
    input: TextIO
    environment: Mapping[str, str]
    volume: Volume = Volume.USUAL
    colouring: Colour = Colour.AUTO
    digits: int = DEFAULT_DIGITS

    @classmethod
    def standard(cls) -> Console:
        """The standard streams of the process, as UTF-8 in every locale.

        Closed standard input reads as empty; writing to closed standard output fails, so that no result is lost silently; writing
        to closed standard error is dropped.
        """
        for name, mode, flags in (("stdin", "r", os.O_RDONLY), ("stdout", "w", os.O_RDONLY), ("stderr", "w", os.O_WRONLY)):
            if getattr(sys, name) is None:
                setattr(sys, name, open(os.open(os.devnull, flags), mode, encoding="utf-8"))  # noqa: SIM115 (for the life of the process)
        install_lossy_stderr()
        for stream in (sys.stdin, sys.stdout, sys.stderr):
            reconfigure = getattr(stream, "reconfigure", None)
            with suppress(io.UnsupportedOperation):  # it has been read from already
                if reconfigure is not None:
                    reconfigure(encoding="utf-8", errors="surrogateescape" if stream is sys.stdin else "backslashreplace")
        return cls(sys.stdout, sys.stderr, sys.stdin, os.environ)

    def print(self, text: str) -> None:
        """Print a line of the result."""
        self.out.write(text + "\n")

    def note(self, text: str) -> None:
        """Print a line that is not a result; nothing with `--quiet`."""
        if self.volume is Volume.QUIET:
            return
        flush_results(self.out)
        self.err.write(text + "\n")

    def read_input(self) -> str:
        """All of standard input, cut one character above the largest program."""
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
        """Are input and output a terminal?"""
        return self.input.isatty() and self.out.isatty()

    @property
    def has_lines(self) -> bool:
        """Can a line on standard error be overwritten (a terminal that moves its cursor)?"""
        return self.err.isatty() and self.environment.get("TERM") != "dumb"

    @property
    def error_width(self) -> int:
        """Columns for messages: the window's on a terminal, else 80."""
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


# ---------------------------------------------------------------------------------------------------- results

def to_json(value: Any) -> str:
    """One line of JSON, glyphs as they are; never NaN or Infinity, which JSON does not have."""
    import json

    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def print_json(console: Console, value: Any) -> None:
    console.print(to_json(value))


def write_atomically(path: Path, content: str | bytes) -> None:
    """Replace a file atomically (`lang.support.files`).  OSError: the old file is unchanged."""
    data = content.encode() if isinstance(content, str) else content
    replace_file(path, lambda file: file.write(data))


def save_text(file: str | Path, text: str, what: str = "") -> None:
    """Replace a text file; `what` names it in the message.  Raises NotWritten."""
    try:
        write_atomically(Path(file), text)
    except OSError as error:
        raise NotWritten(f"{what or f'`{file}`'} cannot be written: {error.strerror}") from error


def require_writable(path: str, what: str) -> None:
    """Raise NotWritten if a file cannot be written, before anything runs; `what` names it in the message."""
    if not os.path.isdir(os.path.dirname(os.path.realpath(path))) or os.path.isdir(path):
        raise NotWritten(f"{what} cannot be written", "its folder has to be there")


# ---------------------------------------------------------------------------------------------------- diagnostics

def show_diagnostics(console: Console, diagnostics: Sequence[Diagnostic], sources: Mapping[str, Source]) -> None:
    """Write diagnostics as text to standard error, a blank line after each."""
    if console.volume is Volume.QUIET:
        diagnostics = [one for one in diagnostics if one.is_error]
    if diagnostics:
        flush_results(console.out)
        console.err.write(diagnostics_text(console, diagnostics, sources) + "\n")


def explain_fixes(console: Console, diagnostics: Sequence[Diagnostic], path: str) -> None:
    """Print on a terminal how to apply the fixes marked `[fix]` to the program in a file."""
    if path and path != "-" and console.err.isatty() and any(one.fixes and one.code != Code.N001 for one in diagnostics):
        console.note(f"`rho check --fix {path}` applies what is marked [fix]")


def with_input_options(
    diagnostics: Sequence[Diagnostic], sources: Mapping[str, Source], inputs: Mapping[str, str]
) -> tuple[Diagnostic, ...]:  # fmt: skip
    """The diagnostics; one about a data file that an option `--in` gave gets a note with the option.
    `inputs` are the paths by the name of the input, as options give them."""
    return tuple([_with_input_option(diagnostic, sources, inputs) for diagnostic in diagnostics])


def _with_input_option(diagnostic: Diagnostic, sources: Mapping[str, Source], inputs: Mapping[str, str]) -> Diagnostic:
    source = sources.get(diagnostic.span.file)
    if source is None or diagnostic.code not in _FILE_ERRORS:
        return diagnostic
    declared = _INPUT_LINE.match(source.text, diagnostic.span.start)
    if declared is None or declared[1] not in inputs:
        return diagnostic
    return replace(diagnostic, notes=(*diagnostic.notes, f"the file was given by `--in {declared[1]}={inputs[declared[1]]}`"))


_FILE_ERRORS = frozenset({Code.E704, Code.E705, Code.E706})
_INPUT_LINE = re.compile(r"[ \t]*input[ \t]+(\w+)")


def diagnostics_text(console: Console, diagnostics: Sequence[Diagnostic], sources: Mapping[str, Source]) -> str:
    """Diagnostics as text, coloured if the console is."""
    ink = Ink.ANSI if console.colour else Ink.PLAIN
    return render_text(diagnostics, sources, ink=ink)


def exit_of(error: RhoError) -> Exit:
    """The exit code of an error that a stage of the pipeline raises."""
    codes = {diagnostic.code for diagnostic in error.diagnostics}
    if Code.BUG in codes:
        return Exit.BUG
    if codes & {Code.E709, Code.SCH302} and not isinstance(error, Refused):
        return Exit.BUDGET
    if isinstance(error, Rejected):
        return Exit.REJECTED
    return Exit.REFUSED if isinstance(error, Refused) else Exit.FAILED


# ---------------------------------------------------------------------------------------------------- sources
#
# Reads program texts (UTF-8, limited in size) and finds the files that `check`, `fmt` and `test` mean by a path.

_MOST_BYTES = 4 * MAXIMUM_CHARACTERS + 4
EVAL, STANDARD_INPUT = "<eval>", "<stdin>"
_SKIPPED_FOLDERS = ("__pycache__", "node_modules")


def read_source(path: str, name: str | None = None, pipes: Pipes = Pipes.READ) -> Source:
    """The text of a file, called `name` in messages.  UsageError: it cannot be read; Rejected E002: it is not UTF-8."""
    try:
        data = read_bytes(path, _MOST_BYTES, pipes)
    except FileNotFoundError:
        raise UsageError(f"there is no file `{path}`", _similar(path)) from None
    except IsADirectoryError:
        raise UsageError(f"`{path}` is a folder; name a .rho file in it") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"`{path}` cannot be read: {getattr(error, 'strerror', None) or error}") from None
    return decode(name or path, data)


def decode(name: str, data: bytes) -> Source:
    """Decode UTF-8 with an optional byte order mark.  Rejected E002: at the first invalid byte."""
    try:
        return Source(name, data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        text = data.decode("utf-8", "replace")
        at = len(data[: error.start].decode("utf-8", "replace"))
        line = data.count(b"\n", 0, error.start) + 1
        bad = Diagnostic(
            Code.E002, f"this file is not UTF-8 text: byte {data[error.start]:#04x} on line {line}",
            Span(name, at, at + 1), notes=("save it as UTF-8",),
        )  # fmt: skip
        raise Rejected([bad], {name: Source(name, text)}) from None


def _similar(path: str) -> str:
    folder, name = os.path.split(path)
    try:
        names = [entry for entry in os.listdir(folder or ".") if entry.endswith((".rho", ".md"))]
    except OSError:
        return ""
    guess = nearest(name, sorted(names))
    return f"did you mean `{os.path.join(folder, guess)}`?" if guess else ""


def find_files(paths: Iterable[str], suffixes: tuple[str, ...]) -> list[str]:
    """The files that paths mean, each once: a folder stands for all files below it with one of `suffixes`, sorted; `-` stays."""
    files: dict[str, None] = {}
    for path in paths:
        if not os.path.isdir(path):
            files[path] = None
            continue
        inside = sorted(_walk(Path(path), suffixes))
        if not inside:
            raise UsageError(f"there is no {' or '.join(suffixes)} file under `{path}`")
        files.update(dict.fromkeys(inside))
    return list(files)


def _walk(folder: Path, suffixes: tuple[str, ...]) -> Iterable[str]:
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED_FOLDERS)
        inside = (os.path.join(root, name) for name in files if name.endswith(suffixes))
        yield from (os.path.normpath(path) for path in inside if os.path.isfile(path))
