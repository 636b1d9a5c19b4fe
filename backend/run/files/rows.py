"""Inputs that can be read a range of rows at a time, and how.

Neighbours: `npy_rows`, `in_order` (the two ways); `backend.run.streams` reads so; `reading` reads whole.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final, Protocol

from ....lang.reading_clauses import AS_WRITTEN
from ....typechecker.elements import Kind
from . import columns, npz, parquet, zarr_store
from .content import Content, suffix_of
from .delimited_writing import DELIMITERS
from .filling import bytes_of
from .in_order import Blocks, InOrder
from .npy_rows import npy_source
from .reading import Wanted, column_of, content_of, identity_of, split_member, table_of
from .records import Place

_BLOCK: Final = 1 << 20


class RowSource(Protocol):
    """An input of `bytes` stored bytes whose rows are read as they are wanted, with `beside` bytes of memory for it."""

    @property
    def path(self) -> str: ...
    @property
    def kind(self) -> Kind: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def bytes(self) -> int: ...
    @property
    def beside(self) -> int: ...

    def open(self) -> Any:
        """A handle, if the file is still the one that was planned for.  FileTrouble."""
        ...

    def read(self, handle: Any, first: int, into: Any, keep: int) -> None:
        """Rows from `first` on, as many as `into` has; those from `keep` on will be wanted again.  FileTrouble."""
        ...

    def require_same(self, handle: Any) -> None:
        """FileTrouble: it has been written meanwhile."""
        ...

    def close(self, handle: Any) -> None: ...


def row_source(path: str, wanted: Wanted, shape: tuple[int, ...], places: tuple[Place, ...] = ()) -> RowSource | None:
    """The rows of a file whose header was read, which gave it this shape; None where they cannot be read some at a time.
    `places`: those of a table, if it was measured elsewhere."""
    kind = wanted.kind
    if wanted.held is not None or not shape or kind is Kind.CHAR:
        return None
    file, member = split_member(path)
    content, suffix, column = Content(file), suffix_of(file), column_of(member, wanted)
    if suffix in (".npy", ".npz"):
        at = 0 if suffix == ".npy" else npz.place_of(content, member)
        return None if at is None else npy_source(content, kind, shape, at)
    size = content.size()
    blocks: Blocks
    identify = partial(identity_of, content, suffix, column)
    match suffix:
        case ".parquet" if wanted.reading == AS_WRITTEN:
            size, beside = parquet.stored_bytes(content, column), parquet.largest_group(content, column) + _BLOCK
            blocks = lambda first: parquet.blocks(content, column, first)  # noqa: E731
        case ".zarr":
            size = bytes_of(kind, shape)
            beside = zarr_store.beside_bytes(content, column)
            beside += 2 * zarr_store.band_bytes(content, column, bytes_of(kind, shape[1:]))
            blocks = lambda first: zarr_store.blocks(content, column, first)  # noqa: E731
        case ".csv" | ".tsv":
            beside, table = columns.BESIDE, table_of(content, suffix, wanted, places)
            blocks = lambda first: table.items(column, first)  # noqa: E731
        case _:
            return None
    return InOrder(content, kind, shape, size, content.kept + beside, blocks, identify, identify())


def places_of(path: str, wanted: Wanted) -> tuple[Place, ...]:
    """From which the records of a table that is text can be read; none in other formats."""
    file, suffix = content_of(split_member(path)[0], wanted.held)
    return table_of(file, suffix, wanted).places if suffix in DELIMITERS else ()
