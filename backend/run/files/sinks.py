"""Outputs that can be written a slab at a time, and how.

A sink is a new file of items of `kind`, written slab by slab: `begin`, `put(slab, axis, first)`, `end`, or `discard`.  It has the
type and shape of a value, and no data.  The sink's class states `beside`, the bytes of memory that writing takes, and `any_axis`:
whether slabs may be along any axis in any order, or are rows in order.

Neighbours: `placed_rows`, `ordered_rows` (the ways); `backend.run.streams` writes so; `writing` writes whole; `rows` reads.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from ....lang.reading_clauses import AS_WRITTEN, Reading
from ....typechecker.elements import Kind
from .content import suffix_of
from .delimited_writing import TextSink
from .npy_rows import NpySink
from .ordered_rows import OrderedSink
from .parquet_writing import ParquetSink
from .placed_rows import PlacedSink
from .zarr_writing import ZarrSink

RowSink: TypeAlias = PlacedSink | OrderedSink

_OF_NUMBERS: Final[dict[str, type[PlacedSink] | type[OrderedSink]]] = {
    ".csv": TextSink, ".tsv": TextSink, ".parquet": ParquetSink, ".zarr": ZarrSink,
}  # fmt: skip


def sink_type(path: str, kind: Kind, reading: Reading) -> type[PlacedSink] | type[OrderedSink] | None:
    """What takes the rows of an output to a file of this name; None where its format takes it only as a whole."""
    suffix = suffix_of(path)
    if reading != AS_WRITTEN:
        return None
    if suffix == ".npy":
        return NpySink
    return _OF_NUMBERS.get(suffix) if kind is not Kind.CHAR else None


def endings_in_order(kind: Kind, rank: int) -> tuple[str, ...]:
    """How the names of files end that take rows of numbers in order: of one axis or two those of tables too."""
    if kind is Kind.CHAR:
        return ()
    tables = () if rank > 2 else (".csv", ".tsv") if kind.is_complex else (".csv", ".tsv", ".parquet")
    return (*tables, ".zarr.zip")
