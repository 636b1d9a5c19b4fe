"""The files of a program's inputs: which, whether they may be read, their shapes, then their data.

Paths in a program are relative to the program, paths on the command line to the working folder.  Only headers are read
before sizes are bound.  Neighbours: `backend.run.files` (formats), `shell.permissions`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..backend.run.files import check_declared, read_shape, read_values, split_member
from ..lang.diagnostics import Diagnostic, Refused, RhoError
from ..typechecker.core import Core, CoreInput
from .permissions import Permissions


@dataclass(frozen=True, slots=True)
class InputFile:
    """One input with its file (`path` as opened, `shown` as written) and the shape its header gives."""

    entry: CoreInput
    path: str
    shown: str
    shape: tuple[int, ...]


def find_inputs(core: Core, given: Mapping[str, str], folder: str, permissions: Permissions) -> dict[str, InputFile]:
    """Every input's file, with its shape; all problems together.  `given` overrides the paths in the program."""
    files: dict[str, InputFile] = {}
    failures: list[RhoError] = []
    for entry in core.inputs:
        shown = given.get(entry.name) or entry.path or ""
        path = shown if entry.name in given else os.path.join(folder, shown)
        type = core.types[entry.value]
        try:
            if not permissions.may_read(split_member(path)[0]):
                raise Refused([permissions.refusal(shown, entry.span)])
            shape = read_shape(path, type.element.kind, type.rank, entry.span, shown=shown)
        except RhoError as error:
            failures.append(error)
            continue
        files[entry.name] = InputFile(entry, path, shown, shape)
    if failures:
        raise _all_of(failures)
    return files


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
        values[name] = read_values(file.path, declared.element.kind, file.shape, file.entry.span, shown=file.shown)
        check_declared(values[name], declared, sizes, file.shown, file.entry.span)
    return values
