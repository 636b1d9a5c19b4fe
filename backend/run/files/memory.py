"""The bytes that reading and writing a file take in addition to its array, known beforehand: part of the planned peak.

Every figure is a bound: some blocks, or less where the data are less.  `tests/soak/test_files_memory.py` compares them with
what processes take.

Neighbours: `shell.execution.refusals` (`--max-memory`); every codec, whose blocks these are.
"""

from __future__ import annotations

import math
import os
from typing import Final

from ....lang.source import Span
from ....typechecker.elements import Kind
from . import npy, parquet, parquet_writing, png, zarr_store, zarr_writing
from .content import suffix_of
from .reading import content_of, located, split_member
from .trouble import system_errors

_MB: Final = 1 << 20
_ITEM: Final = {Kind.BOOL: 1, Kind.U8: 1, Kind.I32: 4, Kind.F32: 4, Kind.CHAR: 4, Kind.C128: 16}


def bytes_of(kind: Kind, shape: tuple[int, ...]) -> int:
    """Of an array as it is in memory."""
    return math.prod(shape) * _ITEM.get(kind, 8)


def reading_bytes(path: str, kind: Kind, shape: tuple[int, ...], span: Span, *, held: bytes | None = None) -> int:
    """Beside the array, of an input whose header was read.  `held`: what came through a pipe, which is kept."""
    with located(path, span), system_errors():
        file, member = split_member(path)
        content, suffix = content_of(file, held)
        size = 0 if os.path.isdir(file) else content.size()
        most = bytes_of(kind, shape)
        match suffix:
            case ".npy":
                needed = npy.beside_bytes(content, kind, shape)
            case ".npz":
                needed = min(8 * most, _MB)
            case ".parquet":
                needed = parquet.largest_column(content)
            case ".zarr":
                needed = zarr_store.chunk_bytes(content, member)
            case ".png":
                needed = png.band_bytes(content)
            case ".txt":
                needed = min(64 * size, 16 * _MB)
            case _:
                needed = min(80 * size, 20 * _MB)
        return needed + content.kept


def writing_bytes(path: str, kind: Kind, shape: tuple[int, ...]) -> int:
    """Beside the array, of an output."""
    items, most = math.prod(shape), bytes_of(kind, shape)
    match suffix_of(path):
        case ".npy":
            return min(2 * most, 4 * _MB)
        case ".parquet":
            return min(40 * items, parquet_writing.BESIDE)
        case ".zarr":
            return zarr_writing.writing_bytes(kind, shape)
        case ".png":
            return min(64 * items, 16 * _MB) + _MB // 2
        case ".txt":
            return min(600 * items, 6 * _MB) + (64 * shape[-1] if len(shape) > 1 else 0)
        case _:
            return min(600 * items, 6 * _MB)
