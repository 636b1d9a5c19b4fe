"""Files as editors name them (`file:///…`) and as the checker does (paths, `<stdlib>/…`)."""

from __future__ import annotations

import os
from urllib.parse import quote, unquote, urlsplit

from ...lang.module_names import LIBRARY_PREFIX
from ..display.library import STDLIB


def path_of(uri: str) -> str:
    """The path of a file; of anything else (`untitled:1`) a name in angle brackets, which no file has."""
    parts = urlsplit(uri)
    if parts.scheme != "file":
        return f"<{uri}>"
    path = unquote(parts.path)
    if os.name == "nt":
        path = path.removeprefix("/").replace("/", "\\")
    return os.path.normpath(path)


def uri_of(name: str) -> str | None:
    """The address of a source by its name; None if it is not a file."""
    if name.startswith(LIBRARY_PREFIX):
        name = str(STDLIB / name.removeprefix(LIBRARY_PREFIX))
    if name.startswith("<"):
        return name[1:-1] if ":" in name else None
    path = os.path.abspath(name).replace("\\", "/")
    return "file://" + quote(path if path.startswith("/") else "/" + path, safe="/:")
