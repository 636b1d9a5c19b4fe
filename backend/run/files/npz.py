"""One member of an `.npz` archive: `path.npz:name` is the array saved as `name` (a zip file of npy files).

Without a name an archive of exactly one array stands for that array.  Of a member that is not compressed (`numpy.savez`) rows are
read where they lie, without its checksum.  A member's length is compared with its own npy
header before it is inflated, and inflating stops at that length.

Neighbours: `npy` (the members' format), `archive`.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from ....lang.codes import Code
from ....typechecker.elements import Kind
from . import npy
from .archive import member, opened, stored_at
from .content import Content
from .conversions import Column
from .elements import require_accepted
from .trouble import FileTrouble, damaged, listed


@contextmanager
def _member(content: Content, name: str) -> Iterator[tuple[BinaryIO, int]]:
    """The named member's stream and its length once inflated."""
    with opened(content, "is not an npz file") as archive:
        info = _find(archive, name)
        with member(archive, info) as stream:
            yield stream, info.file_size


def _find(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    members = {info.filename.removesuffix(".npy"): info for info in archive.infolist() if info.filename.endswith(".npy")}
    if name:
        if name not in members:
            raise FileTrouble(Code.E704, f"has no array named {name}", f"its arrays: {listed(members)}")
        return members[name]
    if len(members) != 1:
        few = "holds several arrays, name one as `file.npz:name`" if members else "holds no array"
        raise FileTrouble(Code.E704, few, f"its arrays: {listed(members)}")
    return next(iter(members.values()))


def _parse(stream: BinaryIO, length: int, kind: Kind) -> npy.Header:
    found = npy.parse_header(stream)
    expected = found.start + found.data_bytes
    if length != expected:
        raise damaged(f"has a member of {length} bytes whose header promises {expected}")
    require_accepted(found.stored, kind)
    return found


def header(content: Content, wanted: Column) -> tuple[int, ...]:
    """The shape, after checking the stored type and the member's length."""
    with _member(content, wanted.member) as (stream, length):
        return _parse(stream, length, wanted.kind).shape


def place_of(content: Content, name: str) -> int | None:
    """With which byte of the archive a member begins that lies there as it is; None: it is compressed."""
    with opened(content, "is not an npz file") as archive:
        return stored_at(content, _find(archive, name))


def beside_bytes(content: Content, wanted: Column) -> int:
    """What reading takes beside the array: blocks as they are stored, inflated and converted."""
    return 1 << 20


def read(content: Content, wanted: Column, shape: tuple[int, ...]) -> Any:
    """The data as a NumPy array of the kind."""
    with _member(content, wanted.member) as (stream, length):
        array = npy.fill(stream, _parse(stream, length, wanted.kind), wanted.kind, shape)
        if stream.read(1):  # where the member ends its checksum is compared
            raise damaged("has a member that goes on after its data")
        return array
