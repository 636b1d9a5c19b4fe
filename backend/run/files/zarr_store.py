"""`.zarr`: arrays in chunks, versions 2 and 3, through zarr (the extra `zarr`).

`x.zarr` is a folder (or a zip file) that holds one array; `x.zarr:name` is the array of that name in a group.  Stored types
widen as those of other formats do (`elements`).

The header pass reads the metadata only.  Neighbours: `reading`, `elements`.
"""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from ....typechecker.elements import Kind
from .elements import require_accepted, require_shape, to_kind
from .trouble import FileTrouble, damaged, first_line, missing_package, system_errors

_UNSOUND: Final = (ValueError, TypeError, KeyError, RuntimeError, zipfile.BadZipFile, zlib.error)
"""What zarr and its codecs raise on metadata and chunks that are no such."""


@contextmanager
def _opened(path: str, name: str, kind: Kind) -> Iterator[Any]:
    try:
        import zarr
    except ImportError:
        raise missing_package("zarr", "zarr") from None
    with system_errors():
        os.stat(path)
        try:
            store = zarr.storage.ZipStore(path, mode="r") if os.path.isfile(path) else path
            found = zarr.open(store, mode="r")
        except (*_UNSOUND, FileNotFoundError, zarr.errors.BaseZarrError) as error:
            raise damaged(f"is no zarr array or group: {first_line(error)}") from None
        array = _member(found, name, zarr)
        require_accepted(str(array.dtype), kind)
        try:
            yield array
        except _UNSOUND as error:
            raise damaged(f"is a damaged zarr array: {first_line(error)}") from None


def _member(found: Any, name: str, zarr: Any) -> Any:
    if isinstance(found, zarr.Array):
        if name:
            raise FileTrouble("E704", f"is one array, without an array named {name}")
        return found
    listed = ", ".join(sorted(found.array_keys())) or "none"
    if not name:
        raise FileTrouble("E704", "is a group of arrays, name one as `file.zarr:name`", f"its arrays: {listed}")
    member = found.get(name)
    if not isinstance(member, zarr.Array):
        raise FileTrouble("E704", f"has no array named {name}", f"its arrays: {listed}")
    return member


def header(path: str, name: str, kind: Kind) -> tuple[int, ...]:
    """The shape, after checking the stored type."""
    with _opened(path, name, kind) as array:
        return tuple(int(size) for size in array.shape)


def read(path: str, name: str, kind: Kind, shape: tuple[int, ...]) -> Any:
    """The data as a NumPy array of the kind."""
    import numpy

    with _opened(path, name, kind) as array:
        require_shape(tuple(array.shape), shape)
        return to_kind(numpy.asarray(array[...]), kind)
