"""Lines above definitions: what a function or the whole program costs, and how many facts are checked when it is loaded.

A lens has its place at once and its text when it is looked at, because costs are worked out by the back end.
Neighbours: `shell.costs`, `hover`.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...lang.diagnostics import RhoError
from .documents import Document
from .hover import cost_of
from .index import SymbolKind
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
    cost = cost_of(document, name) if name in document.checked.types else None
    lines = [] if cost is None else cost.splitlines()
    found = [part for kind in ("work", "memory") if (part := _line(lines, kind))]
    return " · ".join(found) or "generic: costs at each use"


def _line(lines: list[str], kind: str) -> str:
    line = next((line for line in lines if line.startswith(kind)), "")
    return " ".join(line.partition("operations (")[0].split()) + (" operations" if "operations (" in line else "")


def _program(document: Document) -> str:
    from ..costs import cost_of_program

    core = document.checked.core
    if core is None:
        return "rejected"
    parts = []
    if core.block.ops or core.inputs:
        try:
            lines = cost_of_program(core).lines()
            parts += [part for kind in ("work", "memory") if (part := _line(lines, kind))]
        except (RhoError, RecursionError):
            parts.append("too deep to cost")
    count = len(core.guards)
    if count:
        parts.append(f"{count} {'fact' if count == 1 else 'facts'} checked when loaded")
    return " · ".join(parts) or "nothing to compute"
