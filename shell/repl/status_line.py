"""The status line: type, reads, memory, time and device of the text being typed, computed in a background thread; settings.

`preview_of` computes the line of one text.  `PreviewThread` calls it for the latest text after a pause in typing.  A text that
declares sizes (a signature or an `input`) has no line, since checking it might start the solver.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, fields
from pathlib import Path
from threading import Condition, Thread
from typing import TYPE_CHECKING, Any, Final

from ...lang.diagnostics.model import RhoError
from ...lang.support.bounded_parsing import decode, parse_natural
from ...lang.support.caches import state_folder
from ...lang.support.files import read_text
from ...lang.support.records import dataclass, replace
from ...typechecker.elements import Kind
from ..console.standard_streams import Console, write_atomically
from ..display.costs import duration, predicted_ns
from ..display.values import LIMIT, PIPE_LIMIT, ROWS_CUT, WHOLE_TEXT_LIMIT, DisplayedValue, display

if TYPE_CHECKING:
    from ...typechecker.check import Checker
    from ..workspace.workspace import CheckedEntry, Workspace


# ---------------------------------------------------------------------------------------------------- preview

TYPING_PAUSE: Final = 0.05
MOST_CHARACTERS: Final = 4_000


@dataclass(frozen=True, slots=True)
class Preview:
    """The status line of a text, and whether it is an error message."""

    text: str
    line: str
    is_error: bool = False


def preview_of(workspace: Workspace, text: str, checker: Checker) -> Preview:
    """The status line of a text; empty for commands, unfinished or long texts, and texts that declare sizes."""
    from ...lang.bind.statement_dependencies import StatementKind, statements_of, unfinished

    if not text.strip() or text.lstrip().startswith(")") or len(text) > MOST_CHARACTERS or unfinished(text):
        return Preview(text, "")
    kinds = (StatementKind.EXPRESSION, StatementKind.BINDING)
    if "→" in text or any(statement.kind not in kinds for statement in statements_of(text)):
        return Preview(text, "")
    entry = workspace.check(text, checker)
    if entry.checked.core is None:
        first = next((one for one in entry.diagnostics if one.is_error), None)
        return Preview(text, "" if first is None else f"{first.code} {first.message}", True)
    return Preview(text, " · ".join([part for part in _preview_parts(workspace, entry) if part]))


def _preview_parts(workspace: Workspace, entry: CheckedEntry) -> list[str]:
    checked = entry.checked
    parts = [checked.last or "", reads_text(entry)]
    if checked.core is None or not checked.core.block.ops:
        return parts
    from ...backend.schedule.plan.plan_text import bytes_text

    try:
        prepared = workspace.prepare(entry)
    except RhoError as error:
        return [*parts, f"{error.diagnostics[0].code} {error.diagnostics[0].message}"]
    parts.append(bytes_text(sum(prepared.plan.peak.values())))
    estimate = predicted_ns(prepared.bound)
    if estimate:
        parts.append(f"~{duration(estimate)}")
    return [*parts, str(prepared.plan.devices[0].id)]


def reads_text(entry: CheckedEntry) -> str:
    """The text on how often the elements of the session's values are read: `reads each element once`, or by name."""
    if entry.checked.result is None:
        return ""
    from ...typechecker.usage.check_moves import grade_text

    counts: dict[str, str] = {}
    for quantity in entry.checked.result.quantities():
        if quantity.name in entry.layout.arrays and not quantity.name.startswith("∆∆"):
            counts[quantity.name] = grade_text(quantity.grade)
    read = {name: count for name, count in counts.items() if count != "0"}
    if not read:
        return ""
    if set(read.values()) == {"1"}:
        return "reads each element once"
    return "reads " + ", ".join(f"{name} {'once' if count == '1' else count + '×'}" for name, count in read.items())


def _import_backend() -> None:
    """Import the back end, so that the first entry does not wait for it."""
    from ... import backend
    from ...backend.cpu import backend as cpu
    from ...backend.vm import executor

    assert backend and cpu and executor


class PreviewThread:
    """A thread that computes the status line of the latest text and calls `changed` when there is a new line."""

    def __init__(self, workspace: Callable[[], Workspace], changed: Callable[[], None]) -> None:
        self._workspace, self._changed = workspace, changed
        self._condition = Condition()
        self._requested: str | None = None
        self._stopped = False
        self._is_computing = False
        self.latest = Preview("", "")
        self._thread = Thread(target=self._work, name="rho preview", daemon=True)

    def start(self) -> None:
        """Start the thread; called once the prompt is shown."""
        if not self._thread.is_alive() and not self._stopped:
            with suppress(RuntimeError):  # no thread can be started now
                self._thread.start()

    def request(self, text: str) -> None:
        """Ask for the line of a text; returns at once."""
        with self._condition:
            self._requested = text
            self._condition.notify()

    def cancel(self) -> None:
        """Drop the request and wait until no line is being computed, before the session changes."""
        with self._condition:
            self._requested = None
            while self._is_computing:
                self._condition.wait(1)

    def wait(self) -> None:
        """Wait until the line of the latest text is computed."""
        with self._condition:
            while self._requested is not None or self._is_computing:
                self._condition.wait(1)

    def stop(self) -> None:
        with self._condition:
            self._stopped = True
            self._condition.notify()

    def _work(self) -> None:
        workspace = self._workspace()
        checker = workspace.session.checker()
        _import_backend()
        while True:
            text = self._next()
            if text is None:
                return
            try:
                preview = preview_of(workspace, text, checker)
            except (RhoError, RecursionError, MemoryError, OSError, ValueError, KeyError, AssertionError):
                preview = Preview(text, "")  # entering the text will report the error
            with self._condition:
                self.latest, self._is_computing = preview, False
                self._condition.notify_all()
            self._changed()

    def _next(self) -> str | None:
        """The latest text, after a pause in typing; None once the thread is stopped."""
        with self._condition:
            while not self._stopped:
                if self._requested is None:
                    self._condition.wait()
                    continue
                text = self._requested
                self._condition.wait(TYPING_PAUSE)
                if self._requested == text:
                    self._requested, self._is_computing = None, True
                    return text
            return None


# ---------------------------------------------------------------------------------------------------- settings
#
# Settings that `)set` shows and changes; stored in `repl.json` next to the history.

_MOST_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class ReplSettings:
    """`prefix`: a character that starts glyph names besides the backtick; `pause`: milliseconds until the language bar appears;
    `digits`: significant digits of printed numbers; `types`: print types above values; `preview`: show the status line."""

    prefix: str = "`"
    pause: int = 500
    digits: int = 10
    types: bool = True
    preview: bool = True


def with_setting(settings: ReplSettings, name: str, text: str) -> ReplSettings | str:
    """The settings with one of them changed, or the message why that is impossible."""
    current = {field.name: getattr(settings, field.name) for field in fields(ReplSettings)}
    if name not in current:
        return f"there is no setting `{name}`; they are {', '.join(current)}"
    old = current[name]
    if isinstance(old, bool):
        if text not in ("on", "off"):
            return f"`{name}` is on or off"
        return _with(settings, name, text == "on")
    if isinstance(old, int):
        low, high = (1, 17) if name == "digits" else (0, 10_000)
        number = parse_natural(text, high)
        if number is None or number < low:
            return f"`{name}` is a number from {low} to {high}"
        return _with(settings, name, number)
    if len(text) != 1 or text.isalnum() or text.isspace():
        return "the prefix is one character, no letter, digit or blank"
    return _with(settings, name, text)


def _with(settings: ReplSettings, name: str, value: Any) -> ReplSettings:
    return replace(settings, **{name: value})


def settings_lines(settings: ReplSettings) -> list[str]:
    def word(value: object) -> str:
        return ("on" if value else "off") if isinstance(value, bool) else str(value)

    return [f"{name:<8} {word(value)}" for name, value in asdict(settings).items()]


def repl_folder(environment: Mapping[str, str]) -> Path | None:
    """The folder of history and settings; None for a user without a home."""
    return state_folder(environment)


def load_settings(environment: Mapping[str, str]) -> ReplSettings:
    """The stored settings; defaults for those that cannot be read."""
    directory = repl_folder(environment)
    if directory is None:
        return ReplSettings()
    try:
        stored = decode(read_text(directory / "repl.json", _MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return ReplSettings()
    settings = ReplSettings()
    for name, value in stored.items() if isinstance(stored, dict) else ():
        text = ("on" if value else "off") if isinstance(value, bool) else str(value)
        new = with_setting(settings, str(name), text)
        settings = settings if isinstance(new, str) else new
    return settings


def save_settings(settings: ReplSettings, environment: Mapping[str, str]) -> None:
    """Store the settings, if the user has a home that can be written."""
    directory = repl_folder(environment)
    if directory is None:
        return
    with suppress(OSError):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(directory / "repl.json", json.dumps(asdict(settings), ensure_ascii=False) + "\n")


# ---------------------------------------------------------------------------------------------------- values
#
# A session prints a value as a header with its type, unless it is a scalar, and as many lines as the window has.

DIM, PLAIN = "\x1b[2m", "\x1b[0m"


def show_value(shown: DisplayedValue, console: Console, settings: ReplSettings) -> None:
    """Print a value."""
    if not console.out.isatty():
        console.print("\n".join(display(shown.value, shown.write, kind=shown.kind, digits=settings.digits, limit=PIPE_LIMIT)))
        return
    if settings.types and shown.shape:
        header = concrete_type(shown)
        console.print(f"{DIM}{header}{PLAIN}" if console.colours_results else header)
    limit = WHOLE_TEXT_LIMIT if shown.kind is Kind.CHAR else LIMIT
    lines = display(shown.value, shown.write, kind=shown.kind, digits=settings.digits, limit=limit, width=console.width)
    console.print("\n".join(cut_lines(lines, max(8, shutil.get_terminal_size().lines - 4))))


def concrete_type(shown: DisplayedValue) -> str:
    """The type with numbers for sizes: `f64[3 4]`."""
    element = shown.type.partition("[")[0]
    if element.startswith("perm<"):
        return shown.type
    return f"{element}[{' '.join(map(str, shown.shape))}]"


def cut_lines(lines: list[str], most: int) -> list[str]:
    """The first and last lines of a value that is higher than the window."""
    if len(lines) <= most:
        return lines
    first = (most - 1) * 2 // 3
    return [*lines[:first], f"{ROWS_CUT}  ({len(lines) - most + 1} more lines)", *lines[len(lines) - (most - 1 - first) :]]
