"""The formats of files: one row each, from which reading, writing, messages and `rho init` take what they need; and the error of
a codec.

Codecs know the format, but not the program's line that names the file: they raise `FileTrouble`.  Their callers (`reading`,
`writing`) add the span and the path and raise `RunFailed` (E704 unreadable, E705 damaged, E708 not written) or `Refused` (E706
disagrees with its declared type).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Final, NamedTuple

from ...lang.diagnostics.model import Code
from ...lang.support.files import NotRegular

_MOST_NAMES: Final = 20
_LONGEST_NAME: Final = 80


class FileTrouble(Exception):
    """A problem with a file: `code`; a sentence whose subject is the file's name, which precedes it; further lines."""

    def __init__(self, code: Code, message: str, *notes: str) -> None:
        self.code = code
        self.message = message
        self.notes = notes
        super().__init__(f"{code}: {message}")


def damaged(message: str, *notes: str) -> FileTrouble:
    """The error E705: the file lacks what its format requires."""
    return FileTrouble(Code.E705, message, *notes)


def disagrees(message: str, *notes: str) -> FileTrouble:
    """The error E706: the file is valid, but not of the declared type."""
    return FileTrouble(Code.E706, message, *notes)


def missing_package(extra: str, package: str, *, writes: bool = False) -> FileTrouble:
    """The error E704 (for writing E708): the package that reads or writes the format is not installed."""
    cure = (f"`pip install 'rho-lang[{extra}]'`",) if extra else ()
    code, verb = (Code.E708, "written") if writes else (Code.E704, "read")
    return FileTrouble(code, f"is {verb} by {package}, which is not installed", *cure)


def first_line(error: BaseException | None) -> str:
    """The first line of a package's error message."""
    return str(error).strip().partition("\n")[0] or type(error).__name__


def listed(names: Iterable[str]) -> str:
    """Some of the names in a file, on one line."""
    every = list(names)
    shown = ["".join(c if c.isprintable() else "?" for c in name[:_LONGEST_NAME]) for name in every[:_MOST_NAMES]]
    more = [f"and {len(every) - _MOST_NAMES} more"] if len(every) > _MOST_NAMES else []
    return ", ".join(shown + more) or "none"


@contextmanager
def system_errors() -> Iterator[None]:
    """Turns errors of the operating system during a read into E704."""
    try:
        yield
    except FileNotFoundError:
        raise FileTrouble(Code.E704, "does not exist") from None
    except IsADirectoryError:
        raise FileTrouble(Code.E704, "is a folder, not a file") from None
    except PermissionError:
        raise FileTrouble(Code.E704, "may not be read: permission denied") from None
    except NotRegular:
        raise FileTrouble(Code.E704, "is not a regular file") from None
    except NotADirectoryError:
        raise FileTrouble(Code.E704, "does not exist: a folder on its path is a file") from None
    except ValueError as error:  # a NUL character in the path
        if "null" not in str(error):
            raise
        raise FileTrouble(Code.E704, "is not a path") from None
    except OSError as error:
        raise FileTrouble(Code.E704, f"cannot be read: {error.strerror or error}") from None
    except MemoryError:
        raise FileTrouble(Code.E702, "does not fit in memory") from None


class FileFormat(NamedTuple):
    """A format: its suffixes, the module that implements it, and what it can hold.

    `codec`: the prefix of the module's functions `header`, `read` and `working_memory` (None: it has tables of columns).
    `package`: the package and the extra that read and write it.  `members`: does it have named parts?  `cells`: do the clauses of
    inputs apply?  `table`: can several outputs be columns of one file?  `tables`: are its members columns of several tables?"""

    suffixes: tuple[str, ...]
    module: str
    codec: str | None = ""
    package: tuple[str, str] = ("", "")
    members: bool = False
    cells: bool = False
    reads: bool = True
    writes: bool = False
    table: bool = False
    tables: bool = False


_ARROW: Final = ("pyarrow", "parquet")
JSON_LINES: Final = (".jsonl", ".ndjson")
FORMATS: Final = (
    FileFormat((".npy",), "npy", writes=True),
    FileFormat((".npz",), "npy", "npz_", members=True),
    FileFormat((".csv", ".tsv"), "csv", None, members=True, cells=True, writes=True, table=True),
    FileFormat((".parquet",), "parquet", "", _ARROW, members=True, cells=True, writes=True, table=True),
    FileFormat((".arrow", ".feather"), "columns", None, _ARROW, members=True, cells=True, writes=True, table=True),
    FileFormat(JSON_LINES, "columns", None, members=True, cells=True, writes=True, table=True),
    FileFormat((".json",), "columns", None, members=True, cells=True, writes=True),
    FileFormat((".sqlite", ".sqlite3", ".db"), "columns", None, ("sqlite3", ""), members=True, cells=True, tables=True),
    FileFormat((".xlsx",), "columns", None, ("openpyxl", "excel"), members=True, cells=True, tables=True),
    FileFormat((".h5", ".hdf5"), "hdf5", "", ("h5py", "hdf5"), members=True),
    FileFormat((".zarr",), "zarr", members=True, writes=True),
    FileFormat((".png",), "png", writes=True),
    FileFormat((".txt",), "reading", writes=True),
)
BY_SUFFIX: Final = {suffix: format for format in FORMATS for suffix in format.suffixes}
DATED_TABLES: Final = (".parquet", ".arrow", ".feather")
"""The tables with types for dates, times and their differences; npy files have such types too."""
COMPRESSED: Final = (".gz", ".zst")
"""Suffixes that may follow that of a text format (`x.csv.gz`)."""
TEXTS: Final = (".csv", ".tsv", *JSON_LINES, ".json", ".txt")


def suffixes(holds: Callable[[FileFormat], bool]) -> tuple[str, ...]:
    """The suffixes of some formats, as messages show them."""
    return tuple(suffix for format in FORMATS if holds(format) for suffix in format.suffixes)


def require_package(format: FileFormat, *, writes: bool = False) -> None:
    """Raises FileTrouble E704 (E708 for writing) unless the package of a format is installed."""
    package, extra = format.package
    if package and find_spec(package) is None:
        raise missing_package(extra, package, writes=writes)


_NAMED: Final = "|".join(re.escape(suffix) for suffix in suffixes(lambda format: format.members))
_WITH_MEMBERS: Final = re.compile(rf"(?i)(.*(?:\.zarr\.zip|(?:{_NAMED})(?:\.gz|\.zst)?)):(.*)", re.DOTALL)


def split_member(path: str) -> tuple[str, str]:
    """`a.npz:name` is the file `a.npz` and its member `name`, as in `.parquet` and `.zarr`; other paths have no member."""
    match = _WITH_MEMBERS.fullmatch(path)
    return (path, "") if match is None else (match[1], match[2])
