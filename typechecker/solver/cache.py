"""Verdicts on disk, so that a fact proved once is not proved again by the next run.

One small JSON file a question in the user's cache folder, named by the digest of the question and the solver's version
and steps; the question itself is in the file and compared.  Files are written under a temporary name and renamed; one
that cannot be read, decoded or believed is as good as absent, and a folder that cannot be written is no error.
`RHO_VERDICTS=off` turns it off.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from ...lang.json_text import decode
from ...lang.opening import read_text

SWITCH = "RHO_VERDICTS"
FORMAT = 1
_MOST_BYTES = 65_536
_MOST_FILES = 10_000


def folder() -> Path | None:
    """Where verdicts are kept; None if nowhere."""
    if os.environ.get(SWITCH, "").lower() in ("off", "0", "no"):
        return None
    base = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(base):
        return Path(base) / "rho" / "verdicts"
    home = os.path.expanduser("~")
    return Path(home) / ".cache" / "rho" / "verdicts" if os.path.isabs(home) else None


def read(key: str) -> Mapping[str, Any] | None:
    """What was stored for a question, not yet believed."""
    place = folder()
    if place is None:
        return None
    try:
        entry = decode(read_text(place / _name(key), _MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(entry, dict) or entry.get("format") != FORMAT or entry.get("question") != key:
        return None
    return entry


def write(key: str, found: Mapping[str, Any]) -> None:
    """Store an answer; what goes wrong is nobody's concern."""
    place = folder()
    if place is None:
        return
    text = json.dumps({"format": FORMAT, "question": key, **found}, ensure_ascii=True)
    if len(text) > _MOST_BYTES:
        return
    name = _name(key)
    temporary = place / f".{name}.{os.getpid()}"
    try:
        place.mkdir(parents=True, exist_ok=True)
        if len(os.listdir(place)) >= _MOST_FILES:
            return
        temporary.write_text(text, encoding="ascii")
        os.replace(temporary, place / name)
    except OSError:
        temporary.unlink(missing_ok=True) if temporary.exists() else None


def _name(key: str) -> str:
    return sha256(key.encode()).hexdigest()[:40] + ".json"
