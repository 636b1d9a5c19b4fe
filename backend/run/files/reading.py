"""Inputs: the shape from the header alone, then the data.

A path is `file.suffix`, or `file.npz:name` (`.parquet:`, `.zarr:`) for one array of several.  `read_shape` touches no data
(text formats are scanned once); sizes are bound from it, obligations and memory are checked, and only then `read_values`
reads.

Failures: RunFailed with E704 (cannot be read) or E705 (damaged); Refused with E706 (not of the declared type) or E707
(permission, by the caller).  Which files may be touched is the caller's decision, see `shell.execution.permissions`.

Neighbours: one codec a format: `npy npz columns png plain parquet zarr_store`; `run.binding` takes the shapes.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import numpy as np

from ....lang.codes import Code
from ....lang.diagnostics import Diagnostic, Refused, RhoError, RunFailed
from ....lang.reading_clauses import AS_WRITTEN, Reading
from ....lang.source import Span
from ....lang.urls import is_url
from ....typechecker.elements import Kind
from ....typechecker.sizes import SizeVariable
from ....typechecker.types import ArrayType
from ..failures import shown as number_in_text
from . import npy, npz, parquet, plain, png, zarr_store
from .columns import Table
from .content import Content, suffix_of
from .conversions import Column
from .delimited_writing import DELIMITERS
from .records import Place
from .trouble import FileTrouble, damaged, disagrees, system_errors

READABLE: Final = (".npy", ".npz", ".csv", ".tsv", ".png", ".txt", ".parquet", ".zarr")
_WITH_MEMBERS: Final = re.compile(r"(?i)(.*\.(?:npz|parquet|zarr|zarr\.zip|csv|tsv)):(.*)", re.DOTALL)
_WIDEST: Final = 16  # bytes of an item
_WITH_CLAUSES: Final = (".csv", ".tsv", ".parquet")


class _Format(Protocol):
    """A module that reads a format.  FileTrouble."""

    def header(self, content: Content, wanted: Column) -> tuple[int, ...]:
        """The shape, after checking all that can be checked without the data."""
        ...

    def read(self, content: Content, wanted: Column, shape: tuple[int, ...]) -> Any:
        """The data as a NumPy array of the kind (text: dtype U1)."""
        ...

    def beside_bytes(self, content: Content, wanted: Column) -> int:
        """What reading takes beside the array, at most."""
        ...


FORMATS: Final[Mapping[str, _Format]] = {
    ".npy": npy, ".npz": npz, ".parquet": parquet, ".zarr": zarr_store, ".png": png, ".txt": plain,
}  # fmt: skip
"""All but tables that are text (`table_of`)."""


def split_member(path: str) -> tuple[str, str]:
    """`a.npz:name` is the file `a.npz` and its member `name`, as in `.parquet` and `.zarr`; other paths have no member."""
    found = _WITH_MEMBERS.fullmatch(path)
    return (path, "") if found is None else (found[1], found[2])


@dataclass(frozen=True, slots=True)
class Wanted:
    """An input: the declared kind and rank, what its clauses say, and which line of the program asks for it.

    `shown` is how messages name the file (as the program wrote it) when its path was resolved; `held` its bytes where they could
    be read only once.  `tables`: those that other inputs take columns of, so that each is read once."""

    kind: Kind
    rank: int
    span: Span
    reading: Reading = AS_WRITTEN
    shown: str | None = None
    held: bytes | None = None
    tables: dict[tuple[str, str], Table] = field(default_factory=dict)


def read_shape(path: str, wanted: Wanted) -> tuple[int, ...]:
    """The shape that the file gives an input."""
    rank = wanted.rank
    with located(wanted.shown or path, wanted.span), system_errors():
        shape = _header(path, wanted)
        if len(shape) != rank:
            raise disagrees(f"has shape [{' '.join(map(str, shape))}], its declared type has {_axes(rank)}")
        if math.prod(max(1, size) for size in shape) * _WIDEST > sys.maxsize:
            raise damaged(f"has shape [{' '.join(map(str, shape))}], which no array can have")
        return shape


def read_values(path: str, wanted: Wanted, shape: tuple[int, ...]) -> Any:
    """The data as a NumPy array of the kind (text: dtype U1) and of the shape that `read_shape` gave."""
    with located(wanted.shown or path, wanted.span), system_errors():
        file, member = split_member(path)
        content, suffix = content_of(file, wanted.held)
        column = column_of(member, wanted)
        before = identity_of(content, suffix, column)
        if suffix in FORMATS:
            values = FORMATS[suffix].read(content, column, shape)
        else:
            values = table_of(content, suffix, wanted).values(column, shape)
        if identity_of(content, suffix, column) != before:
            raise damaged("changed while it was read")
        return values


def identity_of(content: Content, suffix: str, column: Column) -> tuple[int | str, ...]:
    """The same while nobody has written what an input is read from."""
    return zarr_store.identity(content, column) if suffix == ".zarr" else content.identity()


def table_of(content: Content, suffix: str, wanted: Wanted, places: tuple[Place, ...] = ()) -> Table:
    """The table that an input takes a column of, or all.  `places`: of its records, if they are known."""
    separator = wanted.reading.separator or DELIMITERS[suffix]
    return wanted.tables.setdefault((content.path, separator), Table(content, separator, places))


def column_of(member: str, wanted: Wanted) -> Column:
    """What an input takes of a table."""
    return Column(member, wanted.kind, wanted.rank, wanted.reading)


def check_declared(values: Any, declared: ArrayType, sizes: Mapping[SizeVariable, int], path: str, span: Span) -> None:
    """E706 where an input's values (a NumPy array of the declared shape) are not of its declared elements: outside
    `int<low..high>` or `idx<n>`, or not each of 0..n-1 once where it is declared `perm<n>`."""
    element = declared.element
    low, high = element.low, element.high if element.most is None else element.most.evaluate(sizes)
    if element.below is not None:
        low, high = 0, element.below.evaluate(sizes) - 1
    if low is not None or high is not None:
        check_range(values, low, high, path, span)
    if declared.permutation:
        check_permutation(values, path, span)


def check_range(values: Any, low: int | None, high: int | None, path: str, span: Span) -> None:
    """E706 where an input declared `int<low..high>` or `idx<n>` (0..n-1) holds something else.  `values` is a NumPy array."""
    if not values.size:
        return
    least, greatest = int(values.min()), int(values.max())
    wrong = least if low is not None and least < low else greatest if high is not None and greatest > high else None
    if wrong is not None:
        with located(path, span):
            raise disagrees(f"holds {number_in_text(wrong)}, its declared type allows {_bound(low)} to {_bound(high)}")


def _bound(number: int | None) -> str:
    return "any" if number is None else number_in_text(number)


def check_permutation(values: Any, path: str, span: Span) -> None:
    """E706 where an input declared `perm<n>` does not hold each of 0..n-1 once; its range has been checked."""
    if not values.size:
        return
    seen = np.zeros(values.size, np.bool_)
    seen[values] = True
    if not seen.all():
        missing = int(np.flatnonzero(~seen)[0])
        with located(path, span):
            raise disagrees(f"is declared a permutation, but does not hold {missing} (each of 0 to {values.size - 1} once)")


def _header(path: str, wanted: Wanted) -> tuple[int, ...]:
    file, member = split_member(path)
    content, suffix = content_of(file, wanted.held)
    column = column_of(member, wanted)
    if suffix not in _WITH_CLAUSES and wanted.reading != AS_WRITTEN:
        raise disagrees("has no cells: `as`, `missing`, `sep` and `decimal` are for csv, tsv and parquet")
    return FORMATS[suffix].header(content, column) if suffix in FORMATS else table_of(content, suffix, wanted).shape(column)


def content_of(file: str, held: bytes | None) -> tuple[Content, str]:
    """The file and its format, which is known."""
    suffix = suffix_of(file)
    if suffix not in READABLE:
        raise FileTrouble(
            Code.E704, f"has the suffix {suffix!r}, which is not a known format" if suffix else "has no suffix", _known(file),
            *(() if suffix else ("what has no name that says so is read from standard input, with its format: `-:csv`",)),
        )
    return Content(file, held), suffix


def _known(file: str) -> str:
    every = " ".join(READABLE)
    return "URLs that can be read: " + every.replace(".zarr", ".zarr.zip") if is_url(file) else "files that can be read: " + every


def _axes(rank: int) -> str:
    return "no axes" if rank == 0 else "one axis" if rank == 1 else f"{rank} axes"


@contextmanager
def located(path: str, span: Span) -> Iterator[None]:
    """Turn a codec's trouble into the diagnostic of one input or output."""
    try:
        yield
    except FileTrouble as trouble:
        raise _error(trouble, path, span) from None


def _error(trouble: FileTrouble, path: str, span: Span) -> RhoError:
    diagnostic = Diagnostic(trouble.code, f"`{path}` {trouble.message}", span, notes=trouble.notes)
    return Refused([diagnostic]) if trouble.code in (Code.E702, Code.E706) else RunFailed([diagnostic])
