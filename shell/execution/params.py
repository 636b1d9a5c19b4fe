"""Values of params from the texts of `--set` (numbers for sizes, arrays for others), and the permissions of a program.

A param has the type of its default.  The text for a param of text is its value; numbers are written as in Python or in Rho, and
those of a vector are separated by blanks or commas.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from typing import Any

from ...lang.diagnostics.model import Code, Diagnostic
from ...lang.support import bounded_parsing
from ...lang.support.bounded_parsing import file_of, is_below, is_file_url, is_url, parent_url
from ...lang.support.records import dataclass, field
from ...lang.syntax.source import Span
from ...typechecker.core.operations import Core, CoreInput, Payload
from ...typechecker.diagnostics import show_type
from ...typechecker.elements import Kind
from ..console.process_exit import UsageError

# ---------------------------------------------------------------------------------------------------- params

_LARGEST = 10**18 - 1
"""The largest size: sums of a few such sizes fit i64."""


@dataclass(frozen=True, slots=True)
class ParamValues:
    """Values of a program's params: `sizes` that were set, and `arrays` of all params that are not sizes."""

    sizes: Mapping[str, int] = field(default_factory=dict)
    arrays: Mapping[str, Any] = field(default_factory=dict)


def param_values_of(core: Core, texts: Mapping[str, str]) -> ParamValues:
    """The params of a program, as `texts` set them or by default.  UsageError: a text that does not have the param's type."""
    sizes = {param.name: parse_size("--set", param.name, texts[param.name]) for param in core.params if param.name in texts}
    return ParamValues(sizes, {entry.name: _param_array(core, entry, texts.get(entry.name)) for entry in core.settings})


def parse_size(option: str, name: str, text: str) -> int:
    """The number of a size in `--set` or `--size`.  UsageError: not a natural number, or too large."""
    digits = text.replace("_", "")
    if (number := bounded_parsing.parse_natural(digits, _LARGEST)) is not None:
        return number
    what = "this param is a size," if option == "--set" else "a size is"
    which = f"at most {_LARGEST:,}" if digits.isascii() and digits.isdigit() else "a natural number such as 3"
    raise UsageError(f"{option} {name}={text}: {what} {which}")


def _param_array(core: Core, entry: CoreInput, text: str | None) -> Any:
    type = core.types[entry.value]
    default = entry.default
    assert default is not None
    if text is None:
        known = tuple([size.constant for size in type.shape if size.constant is not None])
        return as_items(default, type.element.kind, known if len(known) == type.rank else (len(default),))
    from ...backend.io.cells import CellError, item_of

    kind, shown = type.element.kind, f"--set {entry.name}={text}"
    if kind is Kind.CHAR and type.rank == 1:
        return as_items(tuple(text), kind, (len(text),))
    words = [text] if kind is Kind.CHAR and not type.rank else text.replace(",", " ").split()
    sizes = tuple([size.constant or 0 for size in type.shape])
    try:
        items = tuple([item_of(word, kind) for word in words])
    except CellError as trouble:
        raise UsageError(f"{shown}: {trouble.message}", f"`{entry.name}` is {show_type(type)}") from None
    if len(items) != math.prod(sizes):
        expected = "1 item" if math.prod(sizes) == 1 else f"{math.prod(sizes)} items"
        raise UsageError(f"{shown}: `{entry.name}` is {show_type(type)}, which has {expected}, not {len(items)}")
    return as_items(items, kind, sizes)


def as_items(data: tuple[Payload, ...], kind: Kind, shape: tuple[int, ...]) -> Any:
    """Items as a NumPy array of a kind and shape."""
    from ...backend.vm.values import Array, to_numpy

    return to_numpy(Array(kind, shape, data))


# ---------------------------------------------------------------------------------------------------- permissions
#
# A program may read files in the script's folder and those that the command line names, nothing else.
#
# Paths are compared after links are resolved, so that a link inside the folder does not lead out of it.  A URL is read only if
# `--allow-read` names it or a URL above it; `--in` does not permit it, since reading a URL informs its server.

@dataclass(frozen=True, slots=True)
class Permissions:
    """Files, folders and URLs that a program may read (links are resolved), and the folders it may write to (None: as the command
    line says)."""

    read_folders: tuple[str, ...] = ()
    read_files: frozenset[str] = frozenset()
    write_folders: tuple[str, ...] | None = None
    unrestricted: bool = False
    urls: tuple[str, ...] = ()

    @classmethod
    def of(cls, folders: Iterable[str], files: Iterable[str], write_folders: Iterable[str] | None = None) -> Permissions:
        paths = [file_of(folder) if is_file_url(folder) else folder for folder in folders]
        return cls(
            tuple(os.path.realpath(folder) for folder in paths if not is_url(folder)),
            frozenset(os.path.realpath(file) for file in files if not is_url(file)),
            None if write_folders is None else tuple(os.path.realpath(folder) for folder in write_folders),
            urls=tuple(folder for folder in paths if is_url(folder)),
        )

    def may_read(self, path: str | os.PathLike[str]) -> bool:
        if is_url(os.fspath(path)):
            return self.unrestricted or any(is_below(os.fspath(path), allowed) for allowed in self.urls)
        real = os.path.realpath(path)
        return self.unrestricted or real in self.read_files or any(_inside(real, folder) for folder in self.read_folders)

    def may_write(self, path: str | os.PathLike[str]) -> bool:
        folders = self.write_folders
        return folders is None or any(_inside(os.path.realpath(path), folder) for folder in folders)

    def refusal(self, path: str | os.PathLike[str], span: Span) -> Diagnostic:
        """E707 for `path`, as the program writes it, which may not be read."""
        written = os.fspath(path)
        if is_url(written):
            notes = ("URLs are read where --allow-read names them", f"to permit it add `--allow-read {parent_url(written)}`")
            return Diagnostic(Code.E707, f"`{written}` is a URL that this program may not read", span, notes=notes)
        return Diagnostic(
            Code.E707, f"`{written}` is outside the folders this program may read", span,
            notes=(
                "a program reads files in its own folder, and those named on the command line",
                f"to permit it add `--allow-read {os.path.dirname(written) or '.'}`",
            ),
        )  # fmt: skip

    def write_refusal(self, path: str | os.PathLike[str], span: Span) -> Diagnostic:
        return Diagnostic(Code.E707, f"`{os.fspath(path)}` is outside the folders of --allow-write", span)


UNRESTRICTED = Permissions(unrestricted=True)
"""Permissions for checking, which reads program texts only."""


def _inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
