"""Lines above definitions: what a function or the whole program costs, how long that takes, and how many facts are checked when
it is loaded.

A lens has its place at once and its text when it is looked at, because costs are worked out by the back end.  The time of a
program is that for its data, whose headers are read; that of a function for sizes of a thousand.
Neighbours: `shell.display.costs`, `shell.display.estimates`, `hover`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from ...lang.definitions import SymbolKind
from ...lang.diagnostics import RhoError
from .documents import Document
from .hover import cost_of
from .places import Range
from .values import is_latest

PROGRAM = ""


@dataclass(frozen=True, slots=True)
class Lens:
    """`name` is that of a function, or `PROGRAM`."""

    range: Range
    name: str


def lenses(document: Document) -> list[Lens]:
    """One for the program where its first statement is, one for each function; none while anything is wrong."""
    if not document.checked.accepted:
        return []
    pieces = document.index.pieces
    found = []
    if pieces:
        start = document.index.spelled.span(pieces[0].start, pieces[0].start).start
        found.append(Lens(document.lines.range(start, start), PROGRAM))
    for symbol in document.index.symbols:
        if symbol.kind is SymbolKind.FUNCTION and is_latest(document, symbol):
            found.append(Lens(document.lines.of(symbol.declared or symbol.span), symbol.name))
    return found


def lens_text(document: Document, name: str) -> str:
    """What a lens says."""
    if name == PROGRAM:
        return _program(document)
    if name not in document.checked.types:
        return "generic: costs at each use"
    cost = cost_of(document, name)
    lines = [] if cost is None else cost.splitlines()
    found = [part for kind in ("work", "memory") if (part := _line(lines, kind))]
    found += [time] if found and (time := _time(document, name)) else []
    return " · ".join(found) or "generic: costs at each use"


def _time(document: Document, name: str) -> str:
    """Of the first way to apply a function."""
    from ..display.estimates import time_at_assumed_sizes

    result = document.checked.result
    if result is None:
        return ""
    try:
        ways = replace(result, elaborated=replace(result.elaborated, names={name: result.elaborated.names[name]})).instances()
        params = {} if document.checked.core is None else {one.name: one.default for one in document.checked.core.params}
        return time_at_assumed_sizes(ways[name][0][1], params) if ways.get(name) else ""
    except RecursionError:
        return ""


def _line(lines: list[str], kind: str) -> str:
    line = next((line for line in lines if line.startswith(kind)), "")
    return " ".join(line.partition("operations (")[0].split()) + (" operations" if "operations (" in line else "")


def _program(document: Document) -> str:
    from ..display.costs import cost_of_program
    from ..display.estimates import time_of_program

    core = document.checked.core
    if core is None:
        return "rejected"
    parts = []
    if core.block.ops or core.inputs:
        try:
            lines = cost_of_program(core).lines()
            parts += [part for kind in ("work", "memory") if (part := _line(lines, kind))]
            parts += [time] if (time := time_of_program(core, os.path.dirname(document.name))) else []
        except (RhoError, RecursionError):
            parts.append("too deep to cost")
    count = len(core.guards)
    if count:
        parts.append(f"{count} {'fact' if count == 1 else 'facts'} checked when loaded")
    return " · ".join(parts) or "nothing to compute"
