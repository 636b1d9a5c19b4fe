"""`rho plan FILE --explain-cut PHASE`: what one phase costs by axis and number of shards, as a table or JSON.

Neighbours: `backend.schedule.program.cut_costs` (works it out), `verbs.plan` (asks).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ...lang.source import Span
from ..cli.arguments import Arguments, UsageError, nearest
from ..cli.results import to_json, wants_json
from ..display.durations import duration
from ..execution.scheduling import profile_of
from ..stages import Loaded

if TYPE_CHECKING:
    from ...backend.graph.phases import Phase
    from ...backend.schedule.program.cut_costs import CutCost
    from ..execution.scheduling import Scheduling

HEADER = ("cut", "shards", "time", "sent", "returned", "energy")
TOGETHER = "several devices can run this loop together; its iterations are planned with the whole program, without --explain-cut"


def text(arguments: Arguments, loaded: Loaded, scheduling: Scheduling) -> str:
    """A table for each phase that is meant.  UsageError: none is.  Refused: as `cut_costs`."""
    from ...backend.graph.phases import Loop
    from ...backend.graph.turns import can_turn_together
    from ...backend.schedule.plan.describe import label
    from ...backend.schedule.program.cut_costs import cut_costs

    profile, graph = profile_of(scheduling), loaded.bound.graph
    phases = phases_of(arguments.value("--explain-cut") or "", loaded)
    found = [(phase, cut_costs(loaded.bound, phase, profile)) for phase in phases]
    if wants_json(arguments):
        return to_json({"version": 1, "phases": [_described(label(phase, graph), rows) for phase, rows in found]})
    lines: list[str] = []
    for phase, rows in found:
        lines += ["", *_table(label(phase, graph), _line(loaded, phase.span), rows)]
        if rows and all(row.cut is None for row in rows):
            together = isinstance(phase, Loop) and can_turn_together(phase, graph)
            lines.append(f"  {TOGETHER if together else 'no cut of it is known, or the profile has one device'}")
    return "\n".join(lines[1:])


def phases_of(asked: str, loaded: Loaded) -> list[Phase]:
    """The phases that make a value, by its name, or that are written on a line, by its number.  UsageError."""
    from ...backend.graph.phases import Constant, Input, Output, Print
    from ...backend.schedule.program.problem_of import names_in

    graph = loaded.bound.graph
    working: list[Phase] = [phase for phase in graph.phases if not isinstance(phase, Input | Output | Print | Constant)]
    if asked.isascii() and asked.isdigit():
        written = [phase for phase in working if int(asked) in _lines(loaded, phase)]
        if not written:
            lines = sorted({line for phase in working for line in _lines(loaded, phase)} - {0})
            message = f"--explain-cut {asked}: no phase is computed on line {asked}; it may be fused into one that reads it"
            raise UsageError(message, f"there is work on {_listed(lines)}")
        return written
    names = {name: [graph.phases[place] for place in places] for name, places in names_in(loaded.bound).items()}
    names = {name: kept for name, phases in names.items() if (kept := [phase for phase in phases if phase in working])}
    if asked not in names:
        guess = nearest(asked, sorted(names))
        known = f"name one of {', '.join(sorted(names))}, or a line" if names else "give the number of a line"
        hint = f"did you mean `{guess}`?" if guess else known
        message = f"--explain-cut {asked}: no phase makes a value of this name; it may be fused into one that reads it"
        raise UsageError(message, hint)
    return names[asked]


def _lines(loaded: Loaded, phase: Phase) -> set[int]:
    """Where it is written, and the values that it makes."""
    from ...backend.graph.traverse import results

    core, named = loaded.core, loaded.bound.graph.names
    made = {named[value] for value in results(phase) if value in named}
    return {_line(loaded, phase.span), *(_line(loaded, core.spans[value]) for value, name in core.names.items() if name in made)}


def _line(loaded: Loaded, span: Span) -> int:
    """From 1; 0 in another file."""
    source = loaded.checked.source
    return source.position(span.start)[0] + 1 if span.file == source.name else 0


def _listed(lines: Sequence[int]) -> str:
    return f"line{'s' * (len(lines) != 1)} {', '.join(map(str, lines))}" if lines else "no line"


def _described(name: str, rows: Sequence[CutCost]) -> dict[str, Any]:
    return {"phase": name, "cuts": [
        {
            "axis": None if row.cut is None else row.cut.axis, "size": None if row.cut is None else row.cut.size,
            "combines": row.cut is not None and row.cut.combines, "devices": row.devices, "shards": row.shards, "ns": row.ns,
            "bytes_sent": row.sent, "bytes_returned": row.returned,
            "millijoules": None if row.picojoules is None else row.picojoules / 1e9,
        }
        for row in rows
    ]}  # fmt: skip


def _table(name: str, line: int, rows: Sequence[CutCost]) -> Iterator[str]:
    where = f" (line {line})" if line else ""
    yield f"{name}{where}, its operands at home before it and its results after it"
    if not rows:
        yield "it fits on no device"
        return
    cells = [HEADER, *map(_cells, rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for first, *rest in cells:
        yield "  ".join(["", first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))])
    if any(row.cut is not None and row.cut.combines for row in rows):
        yield "  (partial): shards make partial results, which are combined at home"


def _cells(row: CutCost) -> tuple[str, ...]:
    from ...backend.schedule.plan.explain import bytes_text

    cut = "whole" if row.cut is None else f"axis {row.cut.axis}, of {row.cut.size:,}" + " (partial)" * row.cut.combines
    energy = "" if row.picojoules is None else f"{row.picojoules / 1e9:,.1f} mJ"
    return cut, str(row.shards), duration(row.ns), bytes_text(row.sent), bytes_text(row.returned), energy
