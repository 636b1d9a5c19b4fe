"""The files of a program's inputs: which, whether they may be read, their shapes, then their data.

Paths in a program are relative to the program, paths on the command line to the working folder.  Only headers are read
before sizes are bound.  Neighbours: `backend.run.files` (formats), `shell.permissions`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..backend.run.files import check_declared, read_shape, read_values, split_member
from ..lang.diagnostics import Diagnostic, Refused, RhoError, RunFailed
from ..lang.opening import Pipes, TooLarge, is_pipe, read_bytes
from ..typechecker.core import Core, CoreInput
from . import machine
from .permissions import Permissions


@dataclass(frozen=True, slots=True)
class InputFile:
    """One input with its file (`path` as opened, `shown` as written) and the shape its header gives."""

    entry: CoreInput
    path: str
    shown: str
    shape: tuple[int, ...]
    held: bytes | None = None
    """What was read from a pipe."""


def find_inputs(
    core: Core, given: Mapping[str, str], folder: str, permissions: Permissions, limit: int | None = None
) -> dict[str, InputFile]:
    """Every input's file, with its shape; all problems together.  `given` overrides the paths in the program; one that is a
    pipe is read here, at most `limit` bytes of it."""
    files: dict[str, InputFile] = {}
    failures: list[RhoError] = []
    for entry in core.inputs:
        shown = given.get(entry.name) or entry.path or ""
        path = shown if entry.name in given else os.path.join(folder, shown)
        type = core.types[entry.value]
        try:
            if not permissions.may_read(split_member(path)[0]):
                raise Refused([permissions.refusal(shown, entry.span)])
            held = _held(path, shown, limit, entry) if entry.name in given and is_pipe(split_member(path)[0]) else None
            shape = read_shape(path, type.element.kind, type.rank, entry.span, shown=shown, held=held)
        except RhoError as error:
            failures.append(error)
            continue
        files[entry.name] = InputFile(entry, path, shown, shape, held)
    if failures:
        raise _all_of(failures)
    return files


def _held(path: str, shown: str, limit: int | None, entry: CoreInput) -> bytes:
    """All that comes through a pipe."""
    most = limit or machine.memory() or sys.maxsize
    try:
        return read_bytes(split_member(path)[0], most, Pipes.READ)
    except TooLarge:
        message = f"`{shown}` has more than the {most:,} bytes of memory there are"
        raise Refused([Diagnostic("E702", message, entry.span)]) from None
    except OSError as error:
        raise RunFailed([Diagnostic("E704", f"`{shown}` cannot be read: {error.strerror or error}", entry.span)]) from None


def _all_of(failures: list[RhoError]) -> RhoError:
    """One error of the first one's class with every diagnostic."""
    diagnostics: list[Diagnostic] = []
    for failure in failures:
        diagnostics += failure.diagnostics
    return type(failures[0])(diagnostics)


def read_inputs(core: Core, files: Mapping[str, InputFile], sizes: Mapping[Any, int]) -> dict[str, Any]:
    """The data as NumPy arrays; an input declared with a range is checked against it."""
    values: dict[str, Any] = {}
    for name, file in files.items():
        declared = core.types[file.entry.value]
        values[name] = read_values(
            file.path, declared.element.kind, file.shape, file.entry.span, shown=file.shown, held=file.held
        )
        check_declared(values[name], declared, sizes, file.shown, file.entry.span)
    return values
