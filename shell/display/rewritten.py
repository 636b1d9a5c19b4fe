"""What became of values and what rules changed, as lines of a plan: `fused      line 3: d, each element is read once`.

Neighbours: `backend.graph.passes` (decides), `verbs.plan` and `repl.commands` (who print it).
"""

from __future__ import annotations

from collections.abc import Mapping

from ...backend.graph.passes.contractions import REGROUPED
from ...backend.graph.passes.fusion import kept_values
from ...backend.graph.phases import OFFER, Graph
from ...backend.schedule.plan.describe import written_over
from ...backend.schedule.plan.model import Plan
from ...lang.source import Source, Span


def rewritten_lines(graph: Graph, sources: Mapping[str, Source]) -> list[str]:
    """One line a rewriting, in the order of the program."""
    notes = [("offered" if note.rule == OFFER else "rewritten", note.says, note.span) for note in graph.rewritten]
    return _lines(notes, sources, "  ")


def regrouped_graph(graph: Graph) -> Graph | None:
    """The graph, if its products have another order than they are written in."""
    return graph if any(note.rule == REGROUPED for note in graph.rewritten) else None


def decision_lines(graph: Graph, plan: Plan, sources: Mapping[str, Source]) -> list[str]:
    """One line a decision about a value that the program names: dropped, fused, made again or kept, by how often its elements
    are read; written in place, by when the last read is."""
    decisions = [*graph.decisions, *kept_values(graph), *written_over(graph, plan)]
    notes = [(one.choice.value, f"{one.name}, {one.why}", one.span) for one in decisions if one.span.file in sources]
    return _lines([(f"{word:<10}", says, span) for word, says, span in notes], sources, " ")


def _lines(notes: list[tuple[str, str, Span]], sources: Mapping[str, Source], gap: str) -> list[str]:
    lines: list[str] = []
    for word, says, span in sorted(notes, key=lambda note: (note[2].file, note[2].start)):
        source = sources.get(span.file)
        place = "" if source is None else f"line {source.position(span.start)[0] + 1}: "
        lines.append(f"{word}{gap}{place}{says}")
    return list(dict.fromkeys(lines))
