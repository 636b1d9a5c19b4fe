"""A plan, or an answer to an instance, in the format that was asked for: text, JSON or a picture.

Neighbours: `shell.verbs.plan` and `plan_instance` (who print it), `backend.schedule.pictures` (drawing).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..cli.arguments import Arguments

if TYPE_CHECKING:
    from ...backend.schedule.pictures.chart import Chart

_PICTURES: Final = ("dot", "svg", "html", "trace", "gantt")


def picture_asked(arguments: Arguments) -> str | None:
    """The picture that `--format` asks for."""
    asked = arguments.value("--format")
    return asked if asked in _PICTURES else None


def picture(chart: Chart, format: str) -> str:
    """A chart drawn: `dot` is the graph, `svg` and `gantt` the Gantt chart, `html` everything, `trace` for Perfetto."""
    match format:
        case "dot":
            from ...backend.schedule.pictures.graph import graph_dot

            return graph_dot(chart)
        case "svg":
            from ...backend.schedule.pictures.gantt_svg import gantt_svg

            return gantt_svg(chart)
        case "html":
            from ...backend.schedule.pictures.page import plan_page

            return plan_page(chart)
        case "trace":
            from ...backend.schedule.pictures.trace import trace_json

            return trace_json(chart)
        case _:
            from ...backend.schedule.pictures.gantt_text import gantt_text

            return gantt_text(chart)
