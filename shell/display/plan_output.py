"""A plan, or an answer to an instance, in the format that was asked for: text, JSON or a picture.

Neighbours: `shell.verbs.plan` and `plan_instance` (who print it), `backend.schedule.pictures` (drawing).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..cli.arguments import Arguments

if TYPE_CHECKING:
    from ...backend.schedule.pictures.chart import Chart
    from ..stages import Loaded

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


def plan_lines(loaded: Loaded, *, programs: bool = False) -> str:
    """The plan as text: its steps, what was rewritten and what it costs, or its queues on several devices; `programs`: also its
    loop programs."""
    if loaded.plan.prediction is not None:
        from ...backend.schedule.plan.explain_queues import queues_text

        return queues_text(loaded.plan)
    from ...backend.schedule.plan.explain import plan_text
    from ..execution.streaming import stream_lines
    from .compiled_loops import loop_lines
    from .costs import cost_of_program
    from .estimates import time_line
    from .rewritten import decision_lines, regrouped_graph, rewritten_lines

    plan = loaded.plan
    rewritten = decision_lines(loaded.bound.graph, plan, loaded.checked.sources)
    rewritten += rewritten_lines(loaded.bound.graph, loaded.checked.sources)
    rewritten += loop_lines(loaded.bound.graph, loaded.checked.sources, programs=programs)
    files = [f"files   {loaded.file_bytes:,} bytes at most beside, while one is read"] if loaded.file_bytes else []
    peak = max(plan.peak.values(), default=0)
    costs = cost_of_program(loaded.core).lines(loaded.bound.sizes, peak, regrouped_graph(loaded.bound.graph))
    stages = () if loaded.staged is None else loaded.staged.stages
    before = [f"first, at most {stage.selection.most:,} items are selected: {plan_text(stage.plan)}\nthen" for stage in stages]
    return "\n".join([*before, plan_text(plan), *rewritten, *costs, *files, *(stream_lines(loaded) or time_line(loaded.bound))])
