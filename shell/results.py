"""Helpers every verb shares: is JSON wanted, writing JSON, writing a file whole or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from .arguments import Arguments
from .console import Console


def wants_json(arguments: Arguments) -> bool:
    return arguments.has("--json") or arguments.value("--format") == "json"


def to_json(value: Any) -> str:
    """One line of JSON, glyphs as they are; never NaN or Infinity, which JSON does not have."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def print_json(console: Console, value: Any) -> None:
    console.print(to_json(value))


def write_whole(path: Path, content: str | bytes) -> None:
    """Replace a file atomically, keeping its permissions: a failure leaves the old one as it was."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        mode = path.stat().st_mode & 0o7777 if path.exists() else 0o666 & ~_umask()
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
