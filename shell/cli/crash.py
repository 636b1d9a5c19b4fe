"""What happens on a bug in Rho: a reproducer file in a temporary folder, and one line that says where it is."""

from __future__ import annotations

import os
import platform
import shlex
import tempfile
import traceback as tracebacks
from collections.abc import Sequence
from contextlib import suppress

from ... import __version__
from ...lang.opening import read_bytes
from .console import Console


def report(error: BaseException, words: Sequence[str], console: Console, *, traceback: bool) -> None:
    """Write the reproducer and say so; with `traceback` also print it."""
    trace = "".join(tracebacks.format_exception(error))
    try:
        path = write_reproducer(trace, words)
        console.note(f"rho: a bug in Rho ({type(error).__name__}); everything needed to reproduce it is in {path}")
    except OSError:
        console.note(f"rho: a bug in Rho ({type(error).__name__}); run again with --debug for the details")
    if traceback:
        console.note(trace.rstrip())


def write_reproducer(trace: str, words: Sequence[str]) -> str:
    """The command, the versions, the texts of the .rho files it names, and the traceback; returns the file's path."""
    parts = [
        "# Reproducer of a bug in Rho",
        f"rho {__version__} · Python {platform.python_version()} · {platform.platform()}",
        f"working folder: {os.getcwd()}",
        "command: rho " + shlex.join(words),
    ]
    for word in words:
        if word.endswith(".rho") and os.path.isfile(word):
            with suppress(OSError):
                parts.append(f"\n## {word}\n{read_bytes(word, 1_000_000).decode('utf-8', 'replace')}")
    parts.append("\n## traceback\n" + trace)
    handle, path = tempfile.mkstemp(prefix="rho-bug-", suffix=".txt")
    with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write("\n".join(parts))
    return path
