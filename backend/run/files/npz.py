"""One member of an `.npz` archive: `path.npz:name` is the array saved as `name` (a zip file of npy files).

Without a name an archive of exactly one array stands for that array.  A member's length is compared with its own npy
header before it is inflated, and inflating stops at that length.

Neighbours: `npy` (the members' format).
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Final, cast

from ....typechecker.elements import Kind
from . import npy
from .elements import require_accepted, require_shape
from .trouble import FileTrouble, damaged, system_errors

_ENCRYPTED: Final = 1
_CHUNK: Final = 1 << 20


@contextmanager
def _member(path: str, name: str) -> Iterator[tuple[BinaryIO, int]]:
    """The named member's stream and its length once inflated."""
    with system_errors(), open(path, "rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                info = _find(archive, name)
                if info.flag_bits & _ENCRYPTED:
                    raise damaged("is encrypted")
                with archive.open(info) as stream:
                    yield cast(BinaryIO, stream), info.file_size
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise damaged(f"is a damaged npz file: {error}" if zipfile.is_zipfile(file) else "is not an npz file") from None
        except NotImplementedError as error:
            raise damaged(f"uses a compression that is not known: {error}") from None


def _find(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    members = {info.filename.removesuffix(".npy"): info for info in archive.infolist() if info.filename.endswith(".npy")}
    listed = ", ".join(members) or "none"
    if name:
        if name not in members:
            raise FileTrouble("E704", f"has no array named {name}", f"its arrays: {listed}")
        return members[name]
    if len(members) != 1:
        raise FileTrouble("E704", "holds several arrays, name one as `file.npz:name`", f"its arrays: {listed}")
    return next(iter(members.values()))


def _parse(stream: BinaryIO, length: int, kind: Kind) -> npy.Header:
    found = npy.parse_header(stream)
    expected = found.start + found.data_bytes
    if length != expected:
        raise damaged(f"has a member of {length} bytes whose header promises {expected}")
    require_accepted(found.stored, kind)
    return found


def header(path: str, name: str, kind: Kind, rank: int) -> tuple[int, ...]:
    """The shape, after checking the stored type and the member's length."""
    with _member(path, name) as (stream, length):
        return _parse(stream, length, kind).shape


def read(path: str, name: str, kind: Kind, shape: tuple[int, ...]) -> Any:
    """The data as a NumPy array of the kind."""
    import numpy

    with _member(path, name) as (stream, length):
        found = _parse(stream, length, kind)
        require_shape(found.shape, shape)
        data = bytearray()
        while chunk := stream.read(min(_CHUNK, found.data_bytes + 1 - len(data))):
            data += chunk
        if len(data) != found.data_bytes:
            raise damaged("has a member that ends early")
    return npy.arrange(numpy.frombuffer(data, dtype=found.description), found, kind)
