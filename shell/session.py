"""One object that takes a program through the stages: check, load, plan, run, format.  Every way to meet Rho uses it.

A `Session` holds what does not change between programs (permissions, strictness, limits) and no program state, so it is
safe to share between threads.  Problems are returned (`Checked.diagnostics`) or raised (`RhoError`); nothing is printed.

Neighbours: `shell.verbs` (the command line); the REPL, the language server and the Python API stand on it too.
NumPy and the back ends are imported by `load` and later steps, never by `check`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from ..lang.diagnostics import Diagnostic, RhoError
from ..lang.source import Source
from ..typechecker.check import check as check_program
from .modules import ModuleLoader
from .permissions import Permissions

if TYPE_CHECKING:
    from ..typechecker.core import Core


class Strictness(Enum):
    """What becomes of facts that only loading or running can decide."""

    GUARDED = "checked when loaded or run"
    STRICT = "refused"


@dataclass(frozen=True, slots=True)
class Checked:
    """What checking found.  `core` is None when the program is rejected; `types` are those of its names, `last` of its last value."""

    source: Source
    core: Core | None
    diagnostics: tuple[Diagnostic, ...]
    types: Mapping[str, str]
    last: str | None
    sources: Mapping[str, Source]

    @property
    def accepted(self) -> bool:
        return self.core is not None


@dataclass(frozen=True, slots=True)
class Session:
    """`folder`: where a program without a file stands (modules and inputs of `rho eval` are relative to it)."""

    folder: str = ""
    permissions: Permissions = Permissions.everything()
    strictness: Strictness = Strictness.GUARDED

    def check(self, source: Source) -> Checked:
        """Types only; reads the program's modules and no data."""
        loader = ModuleLoader(self.folder, self.permissions)
        try:
            found = check_program(source, load_module=loader.load, strict=self.strictness is Strictness.STRICT)
        except RhoError as error:
            sources = {one.name: one for one in (*loader.sources, source)}
            return Checked(source, None, error.diagnostics, {}, None, sources)
        sources = {one.name: one for one in (*loader.sources, source)}
        return Checked(source, found.core, found.diagnostics, found.types, found.last, sources)

    def folder_of(self, source: Source) -> str:
        """The folder a program's relative paths start from."""
        return self.folder if source.name.startswith("<") else os.path.dirname(source.name)
