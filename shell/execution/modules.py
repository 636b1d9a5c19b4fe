"""Files that `use` names: where they are and their texts, each read once for a program.

`use stats` is `stats.rho` of the standard library; `use "./x.rho"` is relative to the file that says it.
A file outside the permitted folders is E707.  Neighbour: `typechecker.check` asks `load`, and finds cycles itself.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from ...lang.diagnostics import Refused
from ...lang.module_names import LIBRARY_PREFIX, module_name
from ...lang.opening import Pipes
from ...lang.source import Source, Span
from ..cli.sources import read_source
from ..display.library import STDLIB
from .permissions import Permissions


class ModuleLoader:
    """Reads modules for one program; `folder` is where a program without a file (`rho eval`) stands.

    `texts` are known already."""

    def __init__(self, folder: str, permissions: Permissions, texts: Mapping[str, Source] | None = None) -> None:
        self._folder = folder
        self._permissions = permissions
        self._texts = texts or {}
        self._sources: dict[str, Source | None] = {}

    def load(self, module: str, importer: str | None) -> Source | None:
        """The text of a module by library name or path; None if there is no such file."""
        importer = importer or "<eval>"
        name = module_name(module, importer, self._folder)
        if name not in self._sources:
            self._sources[name] = self._read(name, importer)
        return self._sources[name]

    @property
    def sources(self) -> tuple[Source, ...]:
        """Every module read so far (messages show their lines)."""
        return tuple(source for source in self._sources.values() if source is not None)

    def _read(self, name: str, importer: str) -> Source | None:
        if name in self._texts:
            return self._texts[name]
        if name.startswith(LIBRARY_PREFIX):
            path = STDLIB / name.removeprefix(LIBRARY_PREFIX)
            return read_source(str(path), name, Pipes.REFUSED) if path.parent == STDLIB and path.is_file() else None
        if not os.path.isfile(name):
            return None
        if not self._permissions.may_read(name):
            raise Refused([self._permissions.refusal(name, Span(importer, 0, 0))])
        return read_source(name, pipes=Pipes.REFUSED)
