"""A profile that a Python function writes: run once, and data from then on.

The file has a function `profile()` that gives what a `device-profile/1` file says as dicts and lists.  Where a table is
wanted it may have a function from a size to nanoseconds instead; it is asked at powers of four, or at the sizes of
`{"size": […], "ns": function}`.  What comes out is read as any profile is, so costs have their break points where the tables
have theirs, and nothing runs later.

Neighbours: `reading` (judges the values), `shell.verbs.devices` (asks whether code may run at all).
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from math import ceil, isfinite
from typing import Any, Final

from ...lang.codes import Code
from ...lang.diagnostics import Diagnostic, Refused
from ...lang.opening import Pipes, read_text
from ...lang.source import Span
from .fields import LARGEST, Places, Problems, shown
from .profile import SCHEMA, Profile
from .reading import profile_of

LARGEST_CODE: Final = 1 << 20
"""Characters."""
SIZES: Final = tuple(1 << power for power in range(6, 37, 2))
"""Where a function is asked that says no sizes: 64 bytes to 64 GiB."""
DEEPEST: Final = 20


def profile_from(path: str) -> Profile:
    """Run a file's `profile()`.  Refused: E704 it cannot be read, E705 it fails or what it gives is no profile."""
    try:
        text = read_text(path, LARGEST_CODE, Pipes.REFUSED)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise Refused([Diagnostic(Code.E704, f"`{path}` cannot be read: {reason}", Span(path, 0, 0))]) from None
    names: dict[str, Any] = {"__name__": "costs", "__file__": path}

    def give() -> object:
        exec(compile(text, path, "exec"), names)
        made = names.get("profile")
        if not callable(made):
            raise TypeError("there is no function `profile()`, whose result is the profile")
        return made()

    values = _run(give, path, text)
    if not isinstance(values, Mapping):
        raise _refused(path, text, 0, f"`profile()` gives {type(values).__name__}, not a dict")
    plain = _plain(values, path, text, "", 0)
    return profile_of({"schema": SCHEMA, **plain}, Problems(Places(path, text, {})))


def _run(code: Callable[[], object], path: str, text: str) -> object:
    try:
        return code()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # code of the user's, also one that exits
        line = getattr(error, "lineno", None) if isinstance(error, SyntaxError) else None
        frames = traceback.extract_tb(error.__traceback__)
        line = line or next((frame.lineno for frame in reversed(frames) if frame.filename == path), None)
        raise _refused(path, text, line or 0, f"{type(error).__name__}: {error}") from None


def _refused(path: str, text: str, line: int, message: str) -> Refused:
    """E705 at a line, counted from 1; 0: at the beginning."""
    lines = text.splitlines(keepends=True)
    start = sum(map(len, lines[: line - 1])) if line else 0
    length = len(lines[line - 1].rstrip()) if 0 < line <= len(lines) else 0
    return Refused([Diagnostic(Code.E705, message, Span(path, start, start + length))])


def _plain(value: object, path: str, text: str, place: str, depth: int) -> Any:
    """Values as a file has them: dicts, lists, texts, whole numbers, decimals; tables in place of functions."""
    if depth > DEEPEST:
        raise _refused(path, text, 0, f"{place}: nested too deeply")
    match value:
        case bool() | str():
            return value
        case Mapping():
            if callable(function := value.get("ns")) and set(value) <= {"size", "ns"}:
                sizes = _plain(value.get("size", SIZES), path, text, f"{place}.size", depth + 1)
                return _table(function, sizes, path, text, place)
            return {str(name): _plain(one, path, text, f"{place}.{name}".lstrip("."), depth + 1) for name, one in value.items()}
        case Sequence():
            return [_plain(one, path, text, f"{place}[{i}]", depth + 1) for i, one in enumerate(value)]
        case float():
            return Decimal(repr(value))
        case _ if hasattr(value, "__index__"):
            return int(value)
        case _ if callable(value):
            return _table(value, list(SIZES), path, text, place)
        case _ if hasattr(value, "isoformat"):
            return value
    raise _refused(path, text, 0, f"{place}: {type(value).__name__} has no place in a profile")


def _table(function: Callable[[int], object], sizes: object, path: str, text: str, place: str) -> dict[str, Any]:
    """What a function says at some sizes, rounded up."""
    if not isinstance(sizes, list) or not all(isinstance(size, int) for size in sizes):
        raise _refused(path, text, 0, f"{place}.size: must be whole numbers, not {shown(sizes)}")
    times: list[int] = []
    for size in sizes:
        ns = _run(lambda size=size: function(size), path, text)  # type: ignore[misc]
        number = float(ns) if isinstance(ns, int | float) or hasattr(ns, "__float__") else float("nan")
        if not (isfinite(number) and 0 <= number <= LARGEST):
            raise _refused(path, text, 0, f"{place}: at size {size} it says {shown(ns)}, not a number of nanoseconds")
        times.append(ceil(number))
    return {"size": sizes, "ns": times}
