"""`rho.eval`: a text as a program of its own, and the value that it shows last.

A text without inputs and modules always means the same: it is checked and planned once, and run each time it is asked for.

Neighbours: `shell.session` (checks, loads, runs), `backend.run.prepared` (runs again),
`shell.execution.folded` (texts that are constants).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Any, Final, TypeAlias

from ...backend.run.cpu.kinds import NumArray
from ...backend.run.prepared import Runs
from ...lang import forking
from ...lang.diagnostics import RhoError
from ...lang.source import Source
from ...typechecker.core import Print
from ...typechecker.core_blocks import Core
from ..cli.requests import Request
from ..cli.sources import EVAL
from ..execution.folded import folded_results
from ..execution.outcome import as_numpy
from ..session import Session
from ..stages import Loaded
from .showing import require_accepted, showing, shown

MOST_KEPT: Final = 256
"""Texts that are kept; the oldest goes first."""


class _Constant:
    """A text whose value is known; every caller has a copy."""

    def __init__(self, values: Sequence[NumArray]) -> None:
        self._values = values

    def value(self) -> Any:
        return _as_one([value.copy() for value in self._values])


class _Planned:
    """A text that is run; prepared for one run at a time."""

    def __init__(self, loaded: Loaded) -> None:
        self._runs, self._several = Runs(loaded.plan, loaded.bound), _several(loaded.core)

    def value(self) -> Any:
        printed = self._runs.use(lambda prepared: prepared.run({})).printed
        return _as_one([shown.value for shown in printed[-self._several :]])


_Kept: TypeAlias = "_Constant | _Planned"
_kept: dict[tuple[Session, str], _Kept] = {}
_lock = forking.lock()
_SESSION: Final = Session()


def evaluate(text: str, session: Session | None = None) -> Any:
    """The value that a program's text shows last, as an array; several that are one result (`⎕qr A`) as a tuple, as from a
    compiled function; None if it shows nothing.

    Rejected, Refused, RunFailed: as for any program.  The array is the caller's own."""
    session = session or _SESSION
    found = _kept.get((session, text))
    if found is not None:
        try:
            return found.value()
        except RhoError as error:
            raise showing(error, {EVAL: Source(EVAL, text)}) from None
    checked = session.check(Source(EVAL, text))
    core = require_accepted(checked)
    pathless = [entry.name for entry in core.data if entry.path is None]
    if pathless:
        raise TypeError(f"no value for {', '.join(pathless)}, which the text names no file for")
    with shown(checked.sources):
        loaded = session.load(checked, Request())
        if core.inputs or core.schedules or len(checked.sources) > 1:
            printed = session.run(loaded).printed
            return _as_one([as_numpy(one.value) for one in printed[-_several(core) :]])
        with _lock:
            made = _kept[session, text] = _made(loaded)
            while len(_kept) > MOST_KEPT:
                del _kept[next(iter(_kept))]
        return made.value()


def _made(loaded: Loaded) -> _Kept:
    folded = folded_results(loaded.bound)
    if folded is None:
        return _Planned(loaded)
    return _Constant([as_numpy(value) for value in folded[0][-_several(loaded.core) :]])


def _several(core: Core) -> int:
    """How many of the printed values are the last one."""
    printed = [op for op in core.block.ops if isinstance(op, Print)]
    return 1 + len([*takewhile(lambda shown: shown.goes_on, reversed(printed))])


def _as_one(values: Sequence[Any]) -> Any:
    return tuple(values) if len(values) > 1 else values[0] if values else None
