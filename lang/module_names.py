"""What the file is called that a `use` names: `use stats` is of the standard library, `use "./x.rho"` beside who says it."""

from __future__ import annotations

import os
from typing import Final

LIBRARY_PREFIX: Final = "<stdlib>/"


def module_name(module: str, importer: str, folder: str = "") -> str:
    """The name of a module's source; `folder`: where a program without a file stands."""
    if not module.endswith(".rho"):
        return f"{LIBRARY_PREFIX}{module}.rho"
    if importer.startswith(LIBRARY_PREFIX):
        return LIBRARY_PREFIX + os.path.normpath(module)
    base = folder if importer.startswith("<") else os.path.dirname(importer)
    return os.path.normpath(os.path.join(base, module))


def called(path: str) -> str:
    """By what name a program calls the module of a path: its file's."""
    return path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
