"""Outputs: written whole or not at all.

A file is written under a temporary name in its own folder, flushed to the disk and renamed, so a failure at any step
(no space, no right, an interrupt) leaves the old file, or none, and no temporary one.  A link is followed: what it
points to is replaced.

Formats by suffix: `.npy`, `.csv`, `.tsv`, `.png` (see `picture`), `.txt` (text, or the display), `.json`
(`{"elem", "shape", "data"}` with nested lists, complex as `[re, im]`, text as rows, NaN and infinities as strings).

Failures: RunFailed with E708.

Neighbours: `reading` (the same formats inwards); `run.values` (plain arrays are accepted too).
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import stat
import tempfile
from collections.abc import Callable
from typing import Any, BinaryIO, Final

from ....lang.source import Span
from ....typechecker.elements import Kind
from ..values import Array, from_numpy, nested, to_numpy
from . import delimited, npy, picture, plain, png
from .reading import located
from .trouble import FileTrouble

WRITABLE: Final = (".npy", ".csv", ".tsv", ".png", ".txt", ".json")


def write_values(path: str, values: Any, kind: Kind, span: Span) -> None:
    """Write an `Array` or a NumPy array of the kind (text: dtype U1) to `path` in the format of its suffix."""
    prepare_values(path, values, kind, span)()


def prepare_values(path: str, values: Any, kind: Kind, span: Span) -> Callable[[], None]:
    """What writes the file.  All that its format can refuse is refused here, so several outputs are refused together."""
    with located(path, span):
        writer = _writer(path, values, kind)

    def write() -> None:
        with located(path, span):
            write_atomically(path, writer)

    return write


def check_writable(path: str, span: Span) -> None:
    """E708 before anything runs where the suffix is unknown, the folder is missing or the path is one."""
    with located(path, span):
        _suffix(path)
        target = os.path.realpath(path)
        if not os.path.isdir(os.path.dirname(target)):
            raise FileTrouble("E708", "cannot be written: its folder does not exist")
        if os.path.isdir(target):
            raise FileTrouble("E708", "cannot be written: it is a folder")


def _suffix(path: str) -> str:
    suffix = os.path.splitext(path)[1].lower()
    if "\0" in path:
        raise FileTrouble("E708", "is not a path")
    if suffix not in WRITABLE:
        raise FileTrouble(
            "E708", f"has the suffix {suffix!r}, which is no known format" if suffix else "has no suffix",
            "files that can be written: " + " ".join(WRITABLE),
        )  # fmt: skip
    return suffix


def _writer(path: str, values: Any, kind: Kind) -> Callable[[BinaryIO], None]:
    """What fills the file; everything that can be refused is refused here, before a file exists."""
    match _suffix(path):
        case ".npy":
            array = to_numpy(values) if isinstance(values, Array) else values
            return lambda file: npy.write(file, array, kind)
        case ".png":
            pixels = picture.pixels(to_numpy(values) if isinstance(values, Array) else values, kind)
            return lambda file: png.write(file, pixels)
        case suffix:
            text = _text(suffix, values if isinstance(values, Array) else from_numpy(values))
    try:
        raw = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise FileTrouble("E708", f"cannot be written: {text[error.start]!r} is no character of UTF-8") from None
    return lambda file: _write_all(file, raw)


def _write_all(file: BinaryIO, raw: bytes) -> None:
    file.write(raw)


def _text(suffix: str, values: Array) -> str:
    items = list(values.data)
    if suffix == ".txt":
        return plain.render(values.kind, items, values.shape)
    if suffix == ".json":
        content = {"elem": values.kind.value, "shape": list(values.shape), "data": _plain_data(nested(values))}
        return json.dumps(content, ensure_ascii=False, allow_nan=False) + "\n"
    return delimited.render("," if suffix == ".csv" else "\t", values.kind, items, values.shape)


def _plain_data(data: Any) -> Any:
    """Nested lists with complex numbers and non-finite floats in the forms that JSON has."""
    if isinstance(data, list):
        return [_plain_data(item) for item in data]
    if isinstance(data, complex):
        return [_plain_data(data.real), _plain_data(data.imag)]
    if isinstance(data, float) and not math.isfinite(data):
        return "nan" if math.isnan(data) else "inf" if data > 0 else "-inf"
    return data


# -------------------------------------------------------------------------- whole or not at all


def write_atomically(path: str, write: Callable[[BinaryIO], None]) -> None:
    """Fill a temporary file beside the target, flush it to the disk, rename it.  FileTrouble E708 on any failure."""
    try:
        target = os.path.realpath(path)
        mode = _mode(target)
        folder, name = os.path.split(target)
        handle, temporary = tempfile.mkstemp(prefix=f".{name[:60]}.", suffix=".tmp", dir=folder)
        try:
            with os.fdopen(handle, "wb") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary, mode)
            os.replace(temporary, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
        _sync_folder(folder)
    except FileNotFoundError:
        raise FileTrouble("E708", "cannot be written: its folder does not exist") from None
    except PermissionError:
        raise FileTrouble("E708", "cannot be written: permission denied") from None
    except NotADirectoryError:
        raise FileTrouble("E708", "cannot be written: its folder is a file") from None
    except OSError as error:
        raise FileTrouble("E708", f"cannot be written: {error.strerror or error}") from None
    except MemoryError:
        raise FileTrouble("E708", "cannot be written: memory ran out") from None


def _mode(target: str) -> int:
    """The permissions of the file replaced, else the usual ones; a folder or device is never replaced."""
    try:
        found = os.stat(target).st_mode
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
    if stat.S_ISDIR(found):
        raise FileTrouble("E708", "is a folder")
    if not stat.S_ISREG(found):
        raise FileTrouble("E708", "is no regular file")
    return stat.S_IMODE(found)


def _sync_folder(folder: str) -> None:
    """Make the rename itself durable where the system lets folders be flushed."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
