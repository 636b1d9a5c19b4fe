"""Which outputs can be written a slab at a time: the sink of each format.

Neighbours: `row_sink`, `placed_rows`, `ordered_rows`; `backend.run.streams` writes so; `writing` writes whole; `rows` reads.
"""

from __future__ import annotations

from typing import Final

from ....lang.reading_clauses import AS_WRITTEN, Reading
from ....typechecker.elements import Kind
from .content import suffix_of
from .delimited_writing import TextSink
from .npy_rows import NpySink
from .parquet_writing import ParquetSink
from .row_sink import RowSink
from .zarr_writing import ZarrSink

_OF_NUMBERS: Final[dict[str, type[RowSink]]] = {
    ".csv": TextSink, ".tsv": TextSink, ".parquet": ParquetSink, ".zarr": ZarrSink,
}  # fmt: skip


def sink_type(path: str, kind: Kind, reading: Reading) -> type[RowSink] | None:
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
