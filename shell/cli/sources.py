"""Program texts from disk: read with a size cap, as UTF-8, and the files that `check`, `fmt` and `test` mean by a path."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from ...lang.codes import Code
from ...lang.diagnostics import Diagnostic, Rejected
from ...lang.limits import MAXIMUM_CHARACTERS
from ...lang.opening import Pipes, read_bytes
from ...lang.source import Source, Span
from .arguments import UsageError

_MOST_BYTES = 4 * MAXIMUM_CHARACTERS + 4
EVAL, STANDARD_INPUT = "<eval>", "<stdin>"
_SKIPPED_FOLDERS = ("__pycache__", "node_modules")


def read_source(path: str, name: str | None = None, pipes: Pipes = Pipes.READ) -> Source:
    """The text of a file, called `name` in messages; a name that is not a readable file is a usage error."""
    try:
        data = read_bytes(path, _MOST_BYTES, pipes)
    except FileNotFoundError:
        raise UsageError(f"there is no file `{path}`", _similar(path)) from None
    except IsADirectoryError:
        raise UsageError(f"`{path}` is a folder; name a .rho file in it") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"`{path}` cannot be read: {getattr(error, 'strerror', None) or error}") from None
    return decode(name or path, data)


def decode(name: str, data: bytes) -> Source:
    """UTF-8 with an optional byte order mark; anything else is E002 at the first bad byte, shown with what could be read."""
    try:
        return Source(name, data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        text = data.decode("utf-8", "replace")
        at = len(data[: error.start].decode("utf-8", "replace"))
        line = data.count(b"\n", 0, error.start) + 1
        bad = Diagnostic(
            Code.E002, f"this file is not UTF-8 text: byte {data[error.start]:#04x} on line {line}",
            Span(name, at, at + 1), notes=("save it as UTF-8",),
        )  # fmt: skip
        raise Rejected([bad], {name: Source(name, text)}) from None


def _similar(path: str) -> str:
    from .arguments import nearest

    folder, name = os.path.split(path)
    try:
        names = [entry for entry in os.listdir(folder or ".") if entry.endswith((".rho", ".md"))]
    except OSError:
        return ""
    guess = nearest(name, sorted(names))
    return f"did you mean `{os.path.join(folder, guess)}`?" if guess else ""


def find_files(paths: Iterable[str], suffixes: tuple[str, ...]) -> list[str]:
    """The files meant by paths, folders searched for `suffixes` in order of name; each once.  `-` stays."""
    found: dict[str, None] = {}
    for path in paths:
        if not os.path.isdir(path):
            found[path] = None
            continue
        inside = sorted(_walk(Path(path), suffixes))
        if not inside:
            raise UsageError(f"there is no {' or '.join(suffixes)} file under `{path}`")
        found.update(dict.fromkeys(inside))
    return list(found)


def _walk(folder: Path, suffixes: tuple[str, ...]) -> Iterable[str]:
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED_FOLDERS)
        inside = (os.path.join(root, name) for name in files if name.endswith(suffixes))
        yield from (os.path.normpath(path) for path in inside if os.path.isfile(path))
