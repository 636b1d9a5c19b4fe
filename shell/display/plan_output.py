"""Plans as text and pictures (`rho plan`), and offers (in editors) to rewrite expressions so that they run faster."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from ...lang.diagnostics.model import RhoError
from ...lang.syntax.source import Span, line_text
from ..execution.modules import bind_header_sizes
from .costs import bound_at_assumed_sizes, duration

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ...backend.graph.phases import Rewritten
    from ...backend.schedule.rendering.gantt_model import GanttChart
    from ...lang.syntax.source import Source, Span
    from ...typechecker.core.operations import Core, Recomputed
    from ...typechecker.sizes.polynomials import SizeVariable
    from ..pipeline_types import LoadedProgram


PICTURES: Final = ("dot", "svg", "html", "trace", "gantt")


def picture(chart: GanttChart, format: str) -> str:
    """A chart drawn: `dot` is the graph, `svg` and `gantt` the Gantt chart, `html` everything, `trace` for Perfetto."""
    match format:
        case "dot":
            from ...backend.schedule.rendering.html_page import graph_dot

            return graph_dot(chart)
        case "svg":
            from ...backend.schedule.rendering.gantt import gantt_svg

            return gantt_svg(chart)
        case "html":
            from ...backend.schedule.rendering.html_page import plan_page

            return plan_page(chart)
        case "trace":
            from ...backend.schedule.rendering.gantt import trace_json

            return trace_json(chart)
        case _:
            from ...backend.schedule.rendering.gantt import gantt_text

            return gantt_text(chart)


def plan_lines(loaded: LoadedProgram, *, programs: bool = False) -> str:
    """The plan as text: its steps, optimisation remarks and costs; for several devices, its queues.
    `programs`: also the loop programs of compiled regions."""
    if loaded.plan.prediction is not None:
        from ...backend.schedule.plan.plan_text import queues_text

        return queues_text(loaded.plan)
    from ...backend.schedule.plan.plan_text import plan_text
    from ..execution.streaming import stages_of
    from .analysis import decision_lines, loop_lines, regrouped_graph, rewritten_lines
    from .costs import cost_of_program, time_line

    plan, checked = loaded.plan, loaded.checked

    def line_of(span: Span) -> str:
        return line_text(span, checked.source, checked.sources)

    rewritten = decision_lines(loaded.bound.graph, plan, line_of)
    rewritten += rewritten_lines(loaded.bound.graph, line_of)
    rewritten += loop_lines(loaded.bound.graph, line_of, programs=programs)
    recomputed = [_recomputed_line(loop, loaded.bound.sizes, line_of(loop.span)) for loop in loaded.core.recomputed]
    files = [f"files   {loaded.file_bytes:,} bytes at most beside, while one is read"] if loaded.file_bytes else []
    peak = max(plan.peak.values(), default=0)
    costs = cost_of_program(loaded.core).lines(loaded.bound.sizes, peak, regrouped_graph(loaded.bound.graph))
    stages = stages_of(loaded)
    before = [f"first, at most {stage.selection.most:,} items are selected: {plan_text(stage.plan)}\nthen" for stage in stages]
    ends = stream_lines(loaded) or time_line(loaded.bound)
    return "\n".join([*before, plan_text(plan), *rewritten, *recomputed, *costs, *files, *ends])


def _recomputed_line(loop: Recomputed, sizes: Mapping[SizeVariable, int], text: str) -> str:
    """The line that says that the gradient of a loop stores few of its states."""
    count = f"{loop.trip.evaluate(sizes):,} " if loop.trip.variables() <= sizes.keys() else ""
    return f"again      {text}: the gradient of the loop keeps few of its {count}states and computes the others again"


# ---------------------------------------------------------------------------------------------------- passes over inputs

def stream_lines(program: LoadedProgram) -> list[str]:
    """The line on what the passes of a plan read and write, and the predicted time: `streams x: 1.0 GB read in 1 pass of 64 tiles
    in all, about 0.7 s`; then a line for each device that tiles are dealt to."""
    from ...backend.schedule.plan.plan_text import bytes_text
    from ..execution.streaming import InTiles, passes_of, plans_of, predicted_seconds

    run, plans = program.run, plans_of(program)
    steps = [step for plan in plans for step in passes_of(plan)]
    if not isinstance(run, InTiles) or not steps:
        return []
    stored = dict.fromkeys(store.name for plan in plans for store in plan.stores if store.name in program.files)
    names = ", ".join(f"`{name}`" for name in stored)
    reads, writes = sum(step.reads for step in steps), sum(step.writes for step in steps)
    written = f", {bytes_text(writes)} written" if writes else ""
    picked, scratch = [step.writes for stage in run.stages for step in passes_of(stage.plan)], run.streaming.scratch
    if scratch or sum(picked):
        written += f" ({bytes_text(sum(one.bytes for one in scratch) + sum(picked))} of them in temporary files)"
    most = ", where masks select everything" if run.stages else ""
    shares = [share for step in steps for share in step.shares]
    devices = [
        f"  {device}: {bytes_text(sum(one.reads for one in shares if one.device == device))} read in "
        f"{passes_text(sum(one.device == device for one in shares))} of "
        f"{sum(one.stop - one.first for one in shares if one.device == device):,} tiles, "
        f"{bytes_text(max(one.memory for one in shares if one.device == device))} of memory"
        for device in dict.fromkeys(one.device for one in shares)
    ]
    return [
        f"streams {names}: {bytes_text(reads)} read in {passes_text(len(steps))} of {sum(step.tiles for step in steps):,} tiles "
        f"in all{written}, about {duration(round(predicted_seconds(program) * 1e9))}{most}",
        *devices,
    ]  # fmt: skip


def passes_text(count: int) -> str:
    """`1 pass`, `2 passes`."""
    return "1 pass" if count == 1 else f"{count} passes"


def tile_lines(summary: Mapping[str, Any]) -> list[str]:
    """A line for each device on the tiles that it has read, from the summary of a run whose tiles were dealt."""
    from ...backend.schedule.plan.plan_text import bytes_text

    return [
        f"  {device} has read {bytes_text(one['read_bytes'])} in {passes_text(one['passes'])} of {one['tiles']:,} tiles"
        for device, one in summary.get("tiles", {}).items()
    ]


# ---------------------------------------------------------------------------------------------------- offers
#
# Offers to replace a sum of products by a faster expression that adds in another order, which the optimiser therefore may not
# choose.
#
# Nothing is run; sizes are those in the headers of the program's data, or `ASSUMED`.

_OPENING: Final = "([{"
_CLOSING: Final = ")]}"
_REDUCTIONS: Final = frozenset({"+/", "+⌿"})


def rewrite_offers(core: Core, file: str) -> tuple[Rewritten, ...]:
    """The offers of a program, in no particular order."""
    from ...backend.graph.phases import OFFER

    try:
        bound = bind_header_sizes(core, os.path.dirname(file)) or bound_at_assumed_sizes(core)
    except (RhoError, RecursionError, OverflowError):
        return ()
    return tuple(note for note in bound.graph.rewritten if note.rule == OFFER)


def offer_span(offer: Rewritten, source: Source, statement: Span) -> tuple[int, int] | None:
    """The start and end of the text that the offered expression replaces: a reduction with its argument.

    None if the text alone does not determine them, or inside a function, where names may have another meaning.
    """
    text, start = source.text, offer.span.start
    before = text[statement.start : start]
    if not offer.text or text[start : offer.span.end] not in _REDUCTIONS or "{" in before:
        return None
    if any(mark in text[statement.start : statement.end] for mark in "'\"⍝"):
        return None
    if before.rstrip()[-1:] not in ("", "←", "(", "/", "⌿", "⋄", *"+-×÷"):
        return None
    depth = 0
    for position in range(offer.span.end, statement.end + 1):
        mark = text[position : position + 1]
        depth += (mark in _OPENING) - (mark in _CLOSING) if mark else 0
        if depth < 0 or not mark or (depth == 0 and mark in "⋄\n;") or position == statement.end:
            return start, position
    return None
