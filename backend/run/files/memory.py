"""The bytes that reading and writing a file take in addition to its array, known beforehand: part of the planned peak.

Every figure is a bound: some blocks, or less where the data are less.  `tests/soak/test_files_memory.py` compares them with
what processes take.

Neighbours: `shell.execution.refusals` (`--max-memory`); every codec, whose blocks these are.
"""

from __future__ import annotations

import math
from typing import Final

from ....lang.reading_clauses import AS_WRITTEN
from ....lang.source import Span
from ....typechecker.elements import Kind
from . import parquet_writing, zarr_writing
from .content import suffix_of
from .conversions import Column
from .filling import bytes_of
from .reading import FORMATS, content_of, located, split_member
from .trouble import system_errors

_MB: Final = 1 << 20


def reading_bytes(path: str, kind: Kind, shape: tuple[int, ...], span: Span, *, held: bytes | None = None) -> int:
    """Beside the array, of an input whose header was read.  `held`: what came through a pipe, which is kept."""
    with located(path, span), system_errors():
        file, member = split_member(path)
        content, suffix = content_of(file, held)
        wanted = Column(member, kind, len(shape), AS_WRITTEN)
        needed = FORMATS[suffix].beside_bytes(content, wanted) if suffix in FORMATS else min(80 * content.size(), 20 * _MB)
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
