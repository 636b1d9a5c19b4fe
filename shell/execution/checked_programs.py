"""A cache of checked programs, in the user's cache folder, so that a file whose texts have not changed is not checked again by
its next run.

An entry has the outcome of checking, and the text of each module that was loaded, which must be unchanged.  Its key is the
program's name and text, the version of the checker's modules, and the settings.  `RHO_PROGRAM_CACHE` names another folder, or is
`off`.
"""

from __future__ import annotations

from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from ... import __version__
from ...lang.diagnostics.model import RhoError
from ...lang.support.caches import Cache, code_version
from ...lang.syntax.source import Source
from ..console.process_exit import UsageError

if TYPE_CHECKING:
    from ...lang.diagnostics.model import Diagnostic
    from ...typechecker.core.operations import Core
    from .modules import ModuleLoader

SWITCH: Final = "RHO_PROGRAM_CACHE"
CACHE: Final = Cache("programs", SWITCH, ".core", 4 << 20, 1000)


def read(source: Source, loader: ModuleLoader, settings: str) -> tuple[Core, tuple[Diagnostic, ...]] | None:
    """The core and the diagnostics of a program that was accepted with these settings and the same texts; None if it was not."""
    stored = CACHE.read_value(_key(source, settings))
    if stored is None:
        return None
    core, diagnostics, uses = stored
    with suppress(RhoError, UsageError):  # which checking raises again
        if all(loader.load(module, importer) == text for (module, importer), text in uses.items()):
            return core, diagnostics
    return None


def write(source: Source, loader: ModuleLoader, settings: str, core: Core, diagnostics: tuple[Diagnostic, ...]) -> None:
    """Store an accepted program, best effort."""
    CACHE.write_value(_key(source, settings), (core, diagnostics, loader.uses))


def _key(source: Source, settings: str) -> str:
    solver = find_spec("z3")
    version = f"{__version__} {code_version('lang', 'typechecker')}"
    return f"{version}\n{settings}\n{solver and solver.origin}\n{source.name}\n{source.text}"
