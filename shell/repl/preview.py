"""The bottom line: type, reads, memory, time and device of what is being typed, worked out beside the typing.

`describe` is the answer for one text.  `Watcher` runs it in a thread of its own, always for the latest text, after a moment
without keystrokes; it never waits and never starts the solver (a text with sizes of its own, a signature or an `input`, is
checked when it is entered).

Neighbours: `workspace.Workspace.ask` with a checker of its own; `terminal` shows the line.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from threading import Condition, Thread
from typing import TYPE_CHECKING, Final

from ...lang.diagnostics import RhoError
from ..display.durations import duration

if TYPE_CHECKING:
    from ...typechecker.incremental import Checker
    from ..workspace.workspace import Asked, Workspace

PAUSE: Final = 0.05
MOST_CHARACTERS: Final = 4_000


@dataclass(frozen=True, slots=True)
class Preview:
    """Of a text: the line below it, and whether it is a message about an error."""

    text: str
    line: str
    wrong: bool = False


def describe(workspace: Workspace, text: str, checker: Checker) -> Preview:
    """The line for a text; empty where there is nothing to say."""
    from ...lang.resolution.entries import Form, statements_of, unfinished

    if not text.strip() or text.lstrip().startswith(")") or len(text) > MOST_CHARACTERS or unfinished(text):
        return Preview(text, "")
    if "→" in text or any(statement.form not in (Form.EXPRESSION, Form.BINDING) for statement in statements_of(text)):
        return Preview(text, "")
    asked = workspace.ask(text, checker)
    if asked.checked.core is None:
        first = next((found for found in asked.diagnostics if found.is_error), None)
        return Preview(text, "" if first is None else f"{first.code} {first.message}", True)
    return Preview(text, " · ".join([part for part in _parts(workspace, asked) if part]))


def _parts(workspace: Workspace, asked: Asked) -> list[str]:
    checked = asked.checked
    parts = [checked.last or "", reads(asked)]
    if checked.core is None or not checked.core.block.ops:
        return parts
    from ...backend.schedule.plan.explain import bytes_text
    from ..display.estimates import predicted_ns

    try:
        prepared = workspace.prepare(asked)
    except RhoError as error:
        return [*parts, f"{error.diagnostics[0].code} {error.diagnostics[0].message}"]
    parts.append(bytes_text(sum(prepared.plan.peak.values())))
    estimate = predicted_ns(prepared.bound)
    if estimate:
        parts.append(f"~{duration(estimate)}")
    return [*parts, str(prepared.plan.devices[0].id)]


def reads(asked: Asked) -> str:
    """How often the elements of the session's values are read: `reads each element once`, or by name."""
    if asked.checked.result is None:
        return ""
    from ...typechecker.quantities.written import written

    counts: dict[str, str] = {}
    for quantity in asked.checked.result.quantities():
        if quantity.name in asked.layout.arrays and not quantity.name.startswith("∆∆"):
            counts[quantity.name] = written(quantity.grade)
    read = {name: count for name, count in counts.items() if count != "0"}
    if not read:
        return ""
    if set(read.values()) == {"1"}:
        return "reads each element once"
    return "reads " + ", ".join(f"{name} {'once' if count == '1' else count + '×'}" for name, count in read.items())


def _warm() -> None:
    """Import what computing needs, so that the first entry does not wait for it."""
    from ... import backend
    from ...backend.run import cpu, executor

    assert backend and cpu and executor


class Watcher:
    """Keeps the line of the latest text; `changed` is called (in its thread) when there is a new one."""

    def __init__(self, workspace: Callable[[], Workspace], changed: Callable[[], None]) -> None:
        self._workspace, self._changed = workspace, changed
        self._condition = Condition()
        self._wanted: str | None = None
        self._stopped = False
        self._busy = False
        self.latest = Preview("", "")
        self._thread = Thread(target=self._work, name="rho preview", daemon=True)

    def start(self) -> None:
        """Begin, once there is a prompt."""
        if not self._thread.is_alive() and not self._stopped:
            with suppress(RuntimeError):  # there are no more threads: no line, until there are
                self._thread.start()

    def want(self, text: str) -> None:
        """Returns at once."""
        with self._condition:
            self._wanted = text
            self._condition.notify()

    def pause(self) -> None:
        """Forget what was wanted, and wait for the line being worked out: the session is about to change."""
        with self._condition:
            self._wanted = None
            while self._busy:
                self._condition.wait(1)

    def finish(self) -> None:
        """Wait until the line of the latest text is there."""
        with self._condition:
            while self._wanted is not None or self._busy:
                self._condition.wait(1)

    def stop(self) -> None:
        with self._condition:
            self._stopped = True
            self._condition.notify()

    def _work(self) -> None:
        workspace = self._workspace()
        checker = workspace.session.checker()
        _warm()
        while True:
            text = self._next()
            if text is None:
                return
            try:
                found = describe(workspace, text, checker)
            except (RhoError, RecursionError, MemoryError, OSError, ValueError, KeyError, AssertionError):
                found = Preview(text, "")  # a line that cannot be worked out is none; entering says why
            with self._condition:
                self.latest, self._busy = found, False
                self._condition.notify_all()
            self._changed()

    def _next(self) -> str | None:
        """The latest text, once nothing was typed for a moment."""
        with self._condition:
            while not self._stopped:
                if self._wanted is None:
                    self._condition.wait()
                    continue
                text = self._wanted
                self._condition.wait(PAUSE)
                if self._wanted == text:
                    self._wanted, self._busy = None, True
                    return text
            return None
