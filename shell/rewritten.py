"""What rules changed in a program, as lines of a plan: `rewritten  line 2: a part of an order: selected, …`.

Neighbours: `backend.graph.passes.rules` (the rules), `verbs.plan` and `repl.commands` (who print it).
"""

from __future__ import annotations

from collections.abc import Mapping

from ..backend.graph.phases import OFFER, Graph
from ..lang.source import Source


def rewritten_lines(graph: Graph, sources: Mapping[str, Source]) -> list[str]:
    """One line a rewriting, in the order of the program."""
    lines: list[str] = []
    for note in sorted(graph.rewritten, key=lambda note: (note.span.file, note.span.start)):
        source = sources.get(note.span.file)
        place = "" if source is None else f"line {source.position(note.span.start)[0] + 1}: "
        lines.append(f"{'offered' if note.rule == OFFER else 'rewritten'}  {place}{note.says}")
    return list(dict.fromkeys(lines))
