"""Standard input and output in place of a file: `-`, `-:csv`, `-:npz:name`.

`-` alone is read as npy if its bytes say so, else as csv, and written as csv.  Standard input is read once, to its end, and
never more of it than the memory there is.  Standard output holds one output and nothing else: what the program prints goes to
standard error then.

Neighbours: `requests` (which name them), `loading` (reads), `verbs.run` (writes); `backend.run.files` has the formats.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from typing import BinaryIO, TextIO

from ...lang.opening import read_stream
from ...lang.records import dataclass
from .arguments import UsageError, nearest

READ = ("csv", "tsv", "npy", "npz", "txt", "png", "parquet")
WRITTEN = ("csv", "tsv", "npy", "txt", "json", "png")
BINARY = frozenset({"npy", "png"})
_WITH_MEMBERS = frozenset({"npz", "parquet", "csv", "tsv"})
_NPY = b"\x93NUMPY"
_FILE = re.compile(r"-(\.\w+)+(:.*)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Stream:
    """What stands after the `-`: a format, "" for none, and an array of an archive."""

    format: str
    member: str = ""

    def named(self, held: bytes = b"") -> str:
        """The name that a file of this format would have."""
        format = self.format or ("npy" if held.startswith(_NPY) else "csv")
        return f"-.{format}" + (f":{self.member}" if self.member else "")


def stream_of(path: str) -> Stream | None:
    """None: the path is a file's."""
    if path == "-":
        return Stream("")
    if not path.startswith("-:"):
        return None
    format, _, member = path.removeprefix("-:").partition(":")
    return Stream(format.lower(), member)


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
