"""Checked programs in the user's cache, so that a file whose texts have not changed is not checked in its next run.

An entry is a pickle of what checking gave, and of the text of each module that was asked for, which has to be the same now.  It
is named by the program's name and text, the checker's files and what else checking depends on.  A reader builds nothing but
records and enumerations of `lang` and `typechecker`.  `RHO_PROGRAM_CACHE` names another folder; `off`: none.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ... import __version__
from ...lang.diagnostics.model import RhoError
from ...lang.support.caches import Cache
from ...lang.syntax.source import Source
from ..console.process_exit import UsageError

if TYPE_CHECKING:
    from ...lang.diagnostics.model import Diagnostic
    from ...typechecker.core.operations import Core
    from .modules import ModuleLoader

SWITCH: Final = "RHO_PROGRAM_CACHE"
CACHE: Final = Cache("programs", SWITCH, ".core", 4 << 20, 1000)
_PRODUCT: Final = Path(__file__).resolve().parents[2]
_ROOMS: Final = ("lang", "typechecker")
_BUILT: Final = tuple(f"{__name__.partition('.')[0]}.{room}." for room in _ROOMS)
_STALE: Final = (pickle.UnpicklingError, AttributeError, ImportError, LookupError, TypeError, ValueError, EOFError)


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        value = super().find_class(module, name) if module.startswith(_BUILT) else None
        if not isinstance(value, type):
            raise pickle.UnpicklingError(f"{module}.{name}")
        return value


def read(source: Source, loader: ModuleLoader, settings: str) -> tuple[Core, tuple[Diagnostic, ...]] | None:
    """The core and the diagnostics of a program that was accepted with these settings and the same texts; None if it was not."""
    content = CACHE.read(_key(source, settings))
    if content is None:
        return None
    try:
        core, diagnostics, uses = _Reader(BytesIO(content)).load()
    except _STALE:
        return None
    with suppress(RhoError, UsageError):  # which checking raises again
        if all(loader.load(module, importer) == text for (module, importer), text in uses.items()):
            return core, diagnostics
    return None


def write(source: Source, loader: ModuleLoader, settings: str, core: Core, diagnostics: tuple[Diagnostic, ...]) -> None:
    """Store an accepted program, best effort."""
    file = BytesIO()
    with suppress(pickle.PicklingError, TypeError, AttributeError):
        pickle._Pickler(file, 5).dump((core, diagnostics, loader.uses))  # Python's: C's takes C stack for each level
        CACHE.write(_key(source, settings), file.getvalue())


def _key(source: Source, settings: str) -> str:
    solver = find_spec("z3")
    facts = (__version__, settings, solver and solver.origin, source.name, *_stamps(_PRODUCT))
    return "\n".join([*map(str, facts), source.text])


def _stamps(folder: Path) -> Iterator[int]:
    """Sizes and times of the checker's files, which tell its versions apart."""
    pending = [os.fspath(folder / room) for room in _ROOMS]
    while pending:
        with suppress(OSError), os.scandir(pending.pop()) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if entry.name.endswith(".py"):
                    status = entry.stat()
                    yield from (status.st_size, status.st_mtime_ns)
                elif entry.is_dir() and entry.name != "__pycache__":
                    pending.append(entry.path)
