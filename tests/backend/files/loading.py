"""A file read as a program reads it, the shape first, then the values; PNG files made by hand."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest

from rho.backend.io.reading import InputSpec, read_shape, read_values
from rho.backend.vm.values import Array, from_numpy
from rho.lang.syntax.source import Span
from rho.lang.tree.program import AS_WRITTEN, ColumnFormat
from rho.typechecker.elements import Kind

np = pytest.importorskip("numpy")
BOOL, U8, I32, I64, F32, F64, C64, C128, CHAR = Kind
SPAN = Span("test.rho", 3, 9)
ROUNDS = 150


def load(path: Path | str, kind: Kind, rank: int, *, reading: ColumnFormat = AS_WRITTEN) -> Array:
    shape = read_shape(str(path), InputSpec(kind, rank, SPAN, reading))
    values = read_values(str(path), InputSpec(kind, len(shape), SPAN, reading), shape)
    assert values.shape == shape
    return from_numpy(values)


def chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I4s", len(content), name) + content + struct.pack(">I", zlib.crc32(name + content))


def png_file(header: bytes, data: bytes, extra: bytes = b"") -> bytes:
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def grey(width: int, height: int, *, depth: int = 8, colour: int = 0, interlace: int = 0) -> bytes:
    return struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlace)
