"""One self-contained HTML page about a plan: Gantt chart with transfers, fences and memory, the phase graph, the cost table.

No script and nothing loaded from elsewhere; it can be mailed or kept with the plan.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from html import escape
from typing import Final

from ..plan.explain import bytes_text
from .chart import Chart, Row, time_text
from .gantt_svg import gantt_svg
from .graph import graph_svg

MOST_ROWS: Final = 2000


def plan_page(chart: Chart) -> str:
    """The page as HTML text."""
    drawn = replace(chart, title="", notes=())
    return "\n".join([
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
        f"<title>{escape(chart.title)}</title>",
        "<style>body{font:14px/1.45 system-ui,sans-serif;margin:2em auto;max-width:1180px;padding:0 1em;color:#222}"
        "h1{font-size:1.4em}h2{font-size:1.1em;margin-top:2em}table{border-collapse:collapse}"
        "td,th{padding:.2em .8em;border-bottom:1px solid #ddd;text-align:left}.number{text-align:right}"
        ".over{color:#c00}.scroll{overflow-x:auto}</style></head><body>",
        f"<h1>{escape(chart.title)}</h1>",
        *(f"<p>{escape(note)}</p>" for note in chart.notes),
        "<h2>When and where</h2>",
        "<p>A lane is a queue of a device or link. Dashed outlines are a critical path, the green line is the lower bound, "
        "dotted arrows are fences, blue is memory in use and red its limit. Hover for details.</p>",
        f'<div class="scroll">{gantt_svg(drawn)}</div>',
        "<h2>Memory</h2>",
        *_memory(chart),
        "<h2>Phases</h2>",
        f'<div class="scroll">{graph_svg(chart)}</div>',
        "<h2>Cost</h2>",
        *_costs(chart),
        "</body></html>",
    ]) + "\n"  # fmt: skip


def _memory(chart: Chart) -> Iterator[str]:
    yield '<table><tr><th>device</th><th class="number">peak</th><th class="number">limit</th></tr>'
    for memory in chart.memory[:MOST_ROWS]:
        over = memory.limit is not None and memory.peak > memory.limit
        limit = "none stated" if memory.limit is None else bytes_text(memory.limit)
        yield (
            f"<tr{' class=over' if over else ''}><td>{escape(memory.device)}</td>"
            f'<td class="number">{bytes_text(memory.peak)}</td><td class="number">{limit}</td></tr>'
        )
    yield "</table>"


def _costs(chart: Chart) -> Iterator[str]:
    measured = any(row.actual_ns is not None for row in chart.rows)
    more = '<th class="number">actual</th><th class="number">actual / estimate</th>' if measured else ""
    yield f'<table><tr><th>phase</th><th>device</th><th>part</th><th class="number">estimate</th>{more}</tr>'
    for row in chart.rows[:MOST_ROWS]:
        yield (
            f"<tr><td>{escape(row.phase)}</td><td>{escape(row.device)}</td><td>{escape(row.part)}</td>"
            f'<td class="number">{time_text(row.estimate_ns, 1)}</td>{_actual(row) if measured else ""}</tr>'
        )
    yield "</table>"
    if len(chart.rows) > MOST_ROWS:
        yield f"<p>and {len(chart.rows) - MOST_ROWS:,} more rows</p>"


def _actual(row: Row) -> str:
    if row.actual_ns is None:
        return "<td></td><td></td>"
    ratio = f"{row.actual_ns / row.estimate_ns:.2f}" if row.estimate_ns else ""
    return f'<td class="number">{time_text(row.actual_ns, 1)}</td><td class="number">{ratio}</td>'
