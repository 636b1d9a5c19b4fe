"""The formats of files: one row each, from which reading, writing, messages and `rho init` take what they need."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.util import find_spec
from typing import Final, NamedTuple

from .errors import missing_package


class FileFormat(NamedTuple):
    """A format: its suffixes, the module that knows it, and what it can hold.

    `codec`: the prefix of the module's functions `header`, `read` and `working_memory` (None: it has tables of columns).
    `package`: the package and the extra that read and write it.  `members`: has it named parts?  `cells`: do the clauses of
    inputs apply?  `table`: are several outputs columns of one file?  `tables`: are its members columns of several
    tables?"""

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
FORMATS: Final = (
    FileFormat((".npy",), "npy", writes=True),
    FileFormat((".npz",), "npy", "npz_", members=True),
    FileFormat((".csv", ".tsv"), "csv", None, members=True, cells=True, writes=True, table=True),
    FileFormat((".parquet",), "parquet", "", _ARROW, members=True, cells=True, writes=True, table=True),
    FileFormat((".arrow", ".feather"), "columns", None, _ARROW, members=True, cells=True, writes=True, table=True),
    FileFormat((".jsonl", ".ndjson"), "columns", None, members=True, cells=True, writes=True, table=True),
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
"""The tables that have types of dates, times and their differences; npy files have them too."""
DATED: Final = (".npy", ".npz", *DATED_TABLES)
COMPRESSED: Final = (".gz", ".zst")
"""Suffixes after that of a text format (`x.csv.gz`)."""
TEXTS: Final = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".txt")


def suffixes(holds: Callable[[FileFormat], bool]) -> tuple[str, ...]:
    """The suffixes of some formats, as messages show them."""
    return tuple(suffix for format in FORMATS if holds(format) for suffix in format.suffixes)


def require_package(format: FileFormat, *, writes: bool = False) -> None:
    """FileTrouble E704 (E708 to write) where the package of a format is not installed."""
    package, extra = format.package
    if package and find_spec(package) is None:
        raise missing_package(extra, package, writes=writes)


_NAMED: Final = "|".join(re.escape(suffix) for suffix in suffixes(lambda format: format.members))
_WITH_MEMBERS: Final = re.compile(rf"(?i)(.*(?:\.zarr\.zip|(?:{_NAMED})(?:\.gz|\.zst)?)):(.*)", re.DOTALL)


def split_member(path: str) -> tuple[str, str]:
    """`a.npz:name` is the file `a.npz` and its member `name`, as in `.parquet` and `.zarr`; other paths have no member."""
    match = _WITH_MEMBERS.fullmatch(path)
    return (path, "") if match is None else (match[1], match[2])
