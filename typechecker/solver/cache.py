"""Verdicts on disk, so that a fact proved once is not proved again by the next run.

One small JSON file a question in the user's cache folder, named by the digest of the question and the solver's version
and steps; the question itself is in the file and compared.  Only entries that this user's runs wrote are read
(`lang.user_cache`); one that cannot be read, decoded or believed is as good as absent, and a folder that cannot be written is
no error.  `RHO_VERDICTS=off` turns it off.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ...lang.json_text import decode
from ...lang.user_cache import Cache

SWITCH = "RHO_VERDICTS"
FORMAT = 2
CACHE = Cache("verdicts", SWITCH, ".json", 65_536, 10_000)


def read(key: str) -> Mapping[str, Any] | None:
    """What was stored for a question, not yet believed."""
    text = CACHE.read(key)
    if text is None:
        return None
    try:
        entry = decode(text.decode("ascii"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(entry, dict) or entry.get("format") != FORMAT or entry.get("question") != key:
        return None
    return entry


def write(key: str, found: Mapping[str, Any]) -> None:
    """Store an answer; what goes wrong is nobody's concern."""
    CACHE.write(key, json.dumps({"format": FORMAT, "question": key, **found}, ensure_ascii=True).encode("ascii"))
