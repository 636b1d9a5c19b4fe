"""Gantt charts as self-contained SVG, as text and as Chrome traces; Pareto fronts as SVG; differences of plans as text.

The SVG has lanes of devices and links, memory strips, fences and the critical path.  Colour is a hash of the phase's name; idle
time is hatched; a red line is a device's memory limit; bars of the critical path have a dashed outline.  Hovering a bar shows its
details (`title` elements; no script).
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from html import escape
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Any, Final, TypeAlias

from ....lang.support.records import dataclass
from ...graph.phases import PhaseId
from ..plan.plan import (
    BranchStep,
    CellsStep,
    CombineStep,
    ExecutionPlan,
    JoinStep,
    LoopStep,
    RowsStep,
    RunStep,
    TransferStep,
    WaitStep,
    box_text,
)
from ..plan.plan_text import bytes_text, space_lines, time_text as nanoseconds_text
from .gantt_model import Bar, BarKind, GanttChart, Lane, MemoryTrack, TimeAxis, time_text

# ---------------------------------------------------------------------------------------------------- SVG

WIDTH: Final = 1100
LEFT: Final = 130
RIGHT: Final = 30
LANE: Final = 26
STRIP: Final = 22
GAP: Final = 8
TOP: Final = 62
NARROWEST_LABEL: Final = 7.0
"""Pixels of a character; a label that does not fit its bar is in the tooltip only."""


def gantt_svg(chart: GanttChart) -> str:
    """Returns the chart as SVG text.  Bars are drawn at least half a pixel wide."""
    strips = {memory.device: memory for memory in chart.memory}
    places: dict[str, float] = {}
    body: list[str] = []
    y = float(TOP + 14 * max(0, len(chart.notes) - 1)) if chart.title else 8.0
    top = y
    for lane in chart.lanes:
        places[lane.name] = y
        body += _lane(chart, lane, y)
        y += LANE
        memory = None if lane.is_link else strips.get(lane.name)
        if memory is not None and memory.peak > 0:
            body += _strip(chart, memory, y + 2)
            y += STRIP
        y += GAP
    bottom = y
    if chart.hidden:
        body.append(f'<text x="{LEFT}" y="{y + 12:.0f}" class="note">and {chart.hidden:,} more queues</text>')
        y += 18
    body += _arrows(chart, places)
    height = y + 34
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" height="{height:.0f}" '
        f'role="img" aria-label="{escape(chart.title, quote=True)}">',
        _STYLE,
        f'<text x="10" y="22" class="title">{escape(chart.title)}</text>',
        *(f'<text x="10" y="{40 + 14 * i}" class="note">{escape(note)}</text>' for i, note in enumerate(chart.notes)),
        *_axis(chart, top, bottom),
    ]
    return "\n".join([*head, *body, "</svg>"]) + "\n"


_STYLE: Final = (
    "<style>text{font:11px system-ui,sans-serif;fill:#222}.title{font-size:15px;font-weight:600}.note{fill:#555}"
    ".bar{stroke:#0003;stroke-width:.5}.critical{stroke:#111;stroke-width:1.4;stroke-dasharray:4 2}.label{pointer-events:none}"
    ".idle{fill:url(#idle)}.grid{stroke:#ddd}.memory{fill:#9bbbe0}.limit{stroke:#c00;stroke-width:1.3}"
    ".over{fill:#e06666}.fence{stroke:#666;fill:none;stroke-dasharray:2 2}.bound{stroke:#080;stroke-dasharray:6 3}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}.note{fill:#aaa}.label{fill:#111}.grid{stroke:#444}.idle{fill:#222}"
    ".critical{stroke:#fff}.memory{fill:#3f6ea3}.fence{stroke:#aaa}.bound{stroke:#6c6}}</style>"
    '<defs><pattern id="idle" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<rect width="6" height="6" fill="#fafafa"/><line x1="0" y1="0" x2="0" y2="6" stroke="#e4e4e4" stroke-width="2"/></pattern>'
    '<marker id="head" markerWidth="7" markerHeight="6" refX="6" refY="3" orient="auto"><path d="M0,0L7,3L0,6z" fill="#666"/>'
    "</marker></defs>"
)


def colour(name: str) -> str:
    """Returns a light colour that depends on the name only."""
    digest = hashlib.sha256(name.encode()).digest()
    return f"hsl({(digest[0] << 8 | digest[1]) % 360} {45 + digest[2] % 25}% {68 + digest[3] % 12}%)"


def _x(chart: GanttChart, tick: int) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * tick / max(1, chart.makespan)


def _axis(chart: GanttChart, top: float, bottom: float) -> Iterator[str]:
    for part in range(0, 11, 2):
        tick = chart.makespan * part // 10
        x = _x(chart, tick)
        yield f'<line class="grid" x1="{x:.1f}" y1="{top:.0f}" x2="{x:.1f}" y2="{bottom:.0f}"/>'
        label = f"{tick}" if chart.axis is TimeAxis.TICKS else time_text(tick, chart.tick_ns)
        yield f'<text x="{x:.1f}" y="{bottom + 14:.0f}" text-anchor="middle" class="note">{label}</text>'
    if chart.lower_bound is not None and 0 < chart.lower_bound <= chart.makespan:
        x = _x(chart, chart.lower_bound)
        yield f'<line class="bound" x1="{x:.1f}" y1="{top:.0f}" x2="{x:.1f}" y2="{bottom:.0f}"><title>lower bound</title></line>'


def _lane(chart: GanttChart, lane: Lane, y: float) -> Iterator[str]:
    name = lane.name if lane.equal == 1 else f"{lane.name} and {lane.equal - 1:,} like it"
    short, full = escape(_short(name, 20)), escape(name)
    yield f'<text x="{LEFT - 8}" y="{y + 17:.0f}" text-anchor="end">{short}<title>{full}</title></text>'
    width = WIDTH - LEFT - RIGHT
    yield f'<rect class="idle" x="{LEFT}" y="{y:.0f}" width="{width}" height="{LANE - 4}"/>'
    for bar in lane.bars:
        yield _bar(chart, bar, y)


def _bar(chart: GanttChart, bar: Bar, y: float) -> str:
    x, width = _x(chart, bar.start), max(0.5, _x(chart, bar.end) - _x(chart, bar.start))
    inset = 5 if bar.kind is BarKind.TRANSFER else 0
    label = ""
    if width > NARROWEST_LABEL * 3:
        text = escape(_short(bar.name, int(width / NARROWEST_LABEL)))
        label = f'<text class="label" x="{x + 3:.1f}" y="{y + 15:.0f}">{text}</text>'
    detail = escape(f"{bar.detail} [{bar.start}, {bar.end})")
    tail = ""
    if bar.arrive > bar.end:  # still on its way after the link is free
        end = max(0.5, _x(chart, bar.arrive) - x)
        tail = (
            f'<rect class="tail" x="{x:.2f}" y="{y + LANE / 2 - 3:.0f}" width="{end:.2f}" height="3" fill="{colour(bar.name)}">'
            f"<title>{detail}</title></rect>"
        )
    return tail + (
        f'<rect class="bar{" critical" if bar.critical else ""}" x="{x:.2f}" y="{y + inset:.0f}" width="{width:.2f}" '
        f'height="{LANE - 4 - 2 * inset}" fill="{colour(bar.name)}"><title>{detail}</title></rect>{label}'
    )


def _strip(chart: GanttChart, memory: MemoryTrack, y: float) -> Iterator[str]:
    """Yields the curve of bytes over time, scaled to the larger of peak and limit."""
    height = STRIP - 6
    largest = max(memory.peak, memory.limit or 0, 1)
    for index, (tick, size) in enumerate(memory.points):
        if size <= 0:
            continue
        stop = memory.points[index + 1][0] if index + 1 < len(memory.points) else chart.makespan
        tall = height * size / largest
        over = " over" if memory.limit is not None and size > memory.limit else ""
        width = max(0.5, _x(chart, stop) - _x(chart, tick))
        yield (
            f'<rect class="memory{over}" x="{_x(chart, tick):.2f}" y="{y + height - tall:.2f}" width="{width:.2f}" '
            f'height="{tall:.2f}"><title>{bytes_text(size)} on {escape(memory.device)}</title></rect>'
        )
    limit = "" if memory.limit is None else f" of {bytes_text(memory.limit)}"
    if memory.limit is not None:
        line = y + height - height * memory.limit / largest
        yield f'<line class="limit" x1="{LEFT}" y1="{line:.2f}" x2="{WIDTH - RIGHT}" y2="{line:.2f}"/>'
    yield f'<text x="{LEFT - 8}" y="{y + 12:.0f}" text-anchor="end" class="note">{bytes_text(memory.peak)}{limit}</text>'


def _arrows(chart: GanttChart, places: dict[str, float]) -> Iterator[str]:
    bars = {bar.key: (lane.name, bar) for lane in chart.lanes for bar in lane.bars}
    for arrow in chart.arrows:
        if arrow.source not in bars or arrow.target not in bars:
            continue
        (lane, source), (other, target) = bars[arrow.source], bars[arrow.target]
        x1, y1 = _x(chart, source.end), places[lane] + LANE / 2
        x2, y2 = _x(chart, target.start), places[other] + LANE / 2
        yield (
            f'<path class="fence" marker-end="url(#head)" d="M{x1:.1f},{y1:.1f}L{x2:.1f},{y2:.1f}">'
            f"<title>fence f{arrow.fence}</title></path>"
        )


def _short(text: str, length: int) -> str:
    return text if len(text) <= length else text[: max(1, length - 1)] + "…"


# ---------------------------------------------------------------------------------------------------- text
#
# A Gantt chart in the characters of a terminal, for logs.
#
#     gpu0  ▕aaaaaaabbb··········▏
#     pcie0 ▕··ttt···············▏
#
# Each phase has a letter, listed below with its name; a cell shows the phase that is busy for most of its time.

_LETTERS: Final = ascii_lowercase + ascii_uppercase + digits
_MORE: Final = "#"


def gantt_text(chart: GanttChart, width: int = 72) -> str:
    """Returns the chart as lines of about `width` cells, after the names of lanes."""
    names = list(dict.fromkeys(bar.name for lane in chart.lanes for bar in lane.bars))
    letters = {name: _LETTERS[index] if index < len(_LETTERS) else _MORE for index, name in enumerate(names)}
    wide = max((len(_titled(lane)) for lane in chart.lanes), default=0)
    lines = [chart.title, *chart.notes]
    for lane in chart.lanes:
        lines.append(f"{_titled(lane):<{wide}} ▕{_cells(lane, chart.makespan, width, letters)}▏")
    if chart.hidden:
        lines.append(f"and {chart.hidden:,} more queues")
    legend = [f"{letters[name]} {name}" for name in names if letters[name] != _MORE]
    return "\n".join([*lines, *legend])


def _titled(lane: Lane) -> str:
    return lane.name if lane.equal == 1 else f"{lane.name} ×{lane.equal}"


def _cells(lane: Lane, makespan: int, width: int, letters: dict[str, str]) -> str:
    if makespan == 0:
        return "·" * width
    best = [(0, "·")] * width
    for bar in lane.bars:
        if bar.end == bar.start:
            continue
        first, last = bar.start * width // makespan, min(width - 1, (bar.end * width - 1) // makespan)
        for cell in range(first, last + 1):
            busy = min(bar.end * width, (cell + 1) * makespan) - max(bar.start * width, cell * makespan)
            if busy > best[cell][0]:
                best[cell] = (busy, letters[bar.name])
    return "".join(letter for _, letter in best)


# ---------------------------------------------------------------------------------------------------- trace
#
# Chrome trace events, for Perfetto and chrome://tracing: one process for the prediction, then one for each measured process.
#
# Times are microseconds.  Bars are complete events (`X`) on a thread a queue, fences are flows (`s`, `f`), memory is a counter
# (`C`).  The format is Google's "Trace Event Format".

PREDICTED: Final = 1
MEASURED: Final = 2
"""The id of the first measured process."""


def trace_json(chart: GanttChart, measured: Sequence[GanttChart] = ()) -> str:
    """Returns one JSON object with `traceEvents`."""
    events = list(_events(chart, PREDICTED, "predicted"))
    for process, one in enumerate(measured, MEASURED):
        events += _events(one, process, "measured")
    return json.dumps({"displayTimeUnit": "ns", "traceEvents": events}, ensure_ascii=False, separators=(",", ":"))


def _events(chart: GanttChart, process: int, name: str) -> Iterator[dict[str, Any]]:
    yield {"ph": "M", "name": "process_name", "pid": process, "args": {"name": f"{name}: {chart.title}"}}
    places: dict[str, tuple[int, int, int]] = {}
    for thread, lane in enumerate(chart.lanes, 1):
        title = lane.name if lane.equal == 1 else f"{lane.name} and {lane.equal - 1} like it"
        yield {"ph": "M", "name": "thread_name", "pid": process, "tid": thread, "args": {"name": title}}
        yield {"ph": "M", "name": "thread_sort_index", "pid": process, "tid": thread, "args": {"sort_index": thread}}
        for bar in lane.bars:
            places[bar.key] = (thread, bar.start, bar.end)
            yield {
                "ph": "X",
                "name": bar.name,
                "cat": bar.kind.value,
                "pid": process,
                "tid": thread,
                "ts": _micros(chart, bar.start),
                "dur": _micros(chart, bar.end - bar.start),
                "args": {"detail": bar.detail},
            }
    for index, arrow in enumerate(chart.arrows):
        if arrow.source in places and arrow.target in places:
            (source, start, end), (target, at, _) = places[arrow.source], places[arrow.target]
            common = {"name": f"fence f{arrow.fence}", "cat": "fence", "id": process * 1_000_000 + index, "pid": process}
            yield {"ph": "s", **common, "tid": source, "ts": _micros(chart, max(start, end - 1))}
            yield {"ph": "f", "bp": "e", **common, "tid": target, "ts": _micros(chart, at)}
    for memory in chart.memory:
        for tick, size in memory.points:
            counter = {"ph": "C", "name": f"memory {memory.device}", "pid": process, "ts": _micros(chart, tick)}
            yield {**counter, "args": {"bytes": size}}


def _micros(chart: GanttChart, ticks: int) -> float:
    return ticks * chart.tick_ns / 1000


# ---------------------------------------------------------------------------------------------------- Pareto front
#
# A Pareto front as one self-contained SVG: plans as points, the staircase that they dominate, and the proved lower bound.
#
# Points right of and above the staircase are dominated by a plan; below the green line there is no plan of the plan space;
# between them it is open.

PARETO_WIDTH: Final = 720
HEIGHT: Final = 360
PARETO_LEFT: Final = 90
PARETO_RIGHT: Final = 30
PARETO_TOP: Final = 44
BOTTOM: Final = 50
Scale: TypeAlias = Callable[[float], float]


@dataclass(frozen=True, slots=True)
class FrontDrawing:
    """A Pareto front to draw.

    `points`: (nanoseconds, value, tooltip); `floors`: (nanoseconds, value): no plan within that time is below the value; `over`:
    the plan space of these bounds.
    """

    title: str
    unit: str
    points: tuple[tuple[int, int, str], ...]
    floors: tuple[tuple[int, int], ...] = ()
    plans: str = "plan"
    over: tuple[str, ...] = ()


def fronts_svg(fronts: Sequence[FrontDrawing]) -> str:
    """Returns an SVG with one panel for each front, one below the other."""
    height = HEIGHT * max(1, len(fronts))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {PARETO_WIDTH} {height}" '
        f'width="{PARETO_WIDTH}" height="{height}" role="img" '
        f'aria-label="{escape("; ".join(one.title for one in fronts), quote=True)}">',
        _PARETO_STYLE,
    ]
    for index, front in enumerate(fronts):
        lines += [f'<g transform="translate(0 {HEIGHT * index})">', *_panel(front), "</g>"]
    return "\n".join([*lines, "</svg>"]) + "\n"


_PARETO_STYLE: Final = (
    "<style>svg{background:#fff}text{font:11px system-ui,sans-serif;fill:#222}.title{font-size:14px;font-weight:600}"
    ".note{fill:#555}.grid{stroke:#ddd}.front{fill:none;stroke:#2b6cb0;stroke-width:2}.point{fill:#2b6cb0}"
    ".floor{fill:none;stroke:#080;stroke-dasharray:6 3;stroke-width:1.5}.open{fill:#f4e3b1;opacity:.5}"
    "@media(prefers-color-scheme:dark){svg{background:#181a1b}text{fill:#ddd}.note{fill:#aaa}.grid{stroke:#444}"
    ".front{stroke:#7db3ee}.point{fill:#7db3ee}.floor{stroke:#6c6}.open{fill:#6b5a1f}}</style>"
)


def _panel(front: FrontDrawing) -> Iterator[str]:
    yield f'<text x="10" y="22" class="title">{escape(front.title)}</text>'
    if not front.points:
        yield f'<text x="{PARETO_LEFT}" y="{PARETO_TOP + 20}" class="note">no plan</text>'
        return
    low, high = _range([ns for ns, _, _ in front.points])
    least, most = _range([value for _, value, _ in front.points] + [value for _, value in front.floors])

    def x(ns: float) -> float:
        return PARETO_LEFT + (PARETO_WIDTH - PARETO_LEFT - PARETO_RIGHT) * (min(max(ns, low), high) - low) / (high - low)

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - PARETO_TOP - BOTTOM) * (min(max(value, least), most) - least) / (most - least)

    for part in range(6):
        ns, value = low + (high - low) * part / 5, least + (most - least) * part / 5
        yield f'<line class="grid" x1="{x(ns):.1f}" y1="{PARETO_TOP}" x2="{x(ns):.1f}" y2="{HEIGHT - BOTTOM}"/>'
        right = PARETO_WIDTH - PARETO_RIGHT
        yield f'<line class="grid" x1="{PARETO_LEFT}" y1="{y(value):.1f}" x2="{right}" y2="{y(value):.1f}"/>'
        shown = nanoseconds_text(round(ns))
        yield f'<text x="{x(ns):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle" class="note">{shown}</text>'
        yield f'<text x="{PARETO_LEFT - 8}" y="{y(value) + 4:.1f}" text-anchor="end" class="note">{value:.4g}</text>'
    yield f'<text x="{PARETO_WIDTH - PARETO_RIGHT}" y="{HEIGHT - 12}" text-anchor="end" class="note">predicted time</text>'
    yield f'<text x="10" y="{PARETO_TOP - 6}" class="note">{escape(front.unit)}</text>'
    stairs = _stairs([(ns, value) for ns, value, _ in front.points], x, y)
    yield f'<path class="front" d="{stairs}"/>'
    if front.floors:
        yield f'<path class="floor" d="{_floor(front.floors, x, y)}"><title>no {escape(front.plans)} is below</title></path>'
    for index, (ns, value, said) in enumerate(front.points, 1):
        yield f'<circle class="point" cx="{x(ns):.1f}" cy="{y(value):.1f}" r="5"><title>{escape(said)}</title></circle>'
        yield f'<text x="{x(ns) + 8:.1f}" y="{y(value) - 7:.1f}">{index}</text>'


def _range(numbers: Sequence[int]) -> tuple[float, float]:
    """Returns the range of numbers with a margin of a tenth at either side."""
    low, high = min(numbers), max(numbers)
    room = (high - low) / 10 or max(1.0, high / 10)
    return max(0.0, low - room), high + room


def _stairs(points: Sequence[tuple[int, int]], x: Scale, y: Scale) -> str:
    """Returns the path of the staircase: each value holds until the next point's time."""
    parts = [f"M{x(points[0][0]):.1f},{PARETO_TOP}"]
    for index, (ns, value) in enumerate(points):
        end = points[index + 1][0] if index + 1 < len(points) else float("inf")
        parts.append(f"L{x(ns):.1f},{y(value):.1f}L{x(end):.1f},{y(value):.1f}")
    return "".join(parts)


def _floor(floors: Sequence[tuple[int, int]], x: Scale, y: Scale) -> str:
    """Returns the path of the lower bound: each value holds for every time up to its own."""
    parts: list[str] = []
    before = 0.0
    for ns, value in floors:
        parts.append(f"{'M' if not parts else 'L'}{x(before):.1f},{y(value):.1f}L{x(ns):.1f},{y(value):.1f}")
        before = float(ns)
    return "".join(parts)


# ---------------------------------------------------------------------------------------------------- diff
#
# Differences of two plans of one program, as lines: predictions, placements, transfers, synchronisations, memory.

def diff_text(old: ExecutionPlan, new: ExecutionPlan) -> str:
    """Returns lines that begin with `-` (only in `old`), `+` (only in `new`) or a name; `the plans are the same` if so."""
    lines = [*_identity(old, new), *_numbers(old, new), *_placements(old, new), *_transfers(old, new), *_memory(old, new)]
    return "\n".join(lines) if lines else "the plans are the same"


def _identity(old: ExecutionPlan, new: ExecutionPlan) -> Iterator[str]:
    if old.program != new.program:
        yield "program: another text, parameters or passes"
    if old.sizes != new.sizes:
        before, after = dict(old.sizes), dict(new.sizes)
        changed = [n for n in dict.fromkeys((*before, *after)) if before.get(n) != after.get(n)]
        yield "sizes: " + ", ".join(f"{n} {before.get(n, 'absent')} → {after.get(n, 'absent')}" for n in changed)
    if old.profile != new.profile:
        yield "devices: another profile"


def _numbers(old: ExecutionPlan, new: ExecutionPlan) -> Iterator[str]:
    before, after = old.prediction, new.prediction
    if before is not None and after is not None:
        if before.makespan * old.tick_ns != after.makespan * new.tick_ns:
            first, second = before.makespan * old.tick_ns, after.makespan * new.tick_ns
            ratio = f" ({second / first:.2f} ×)" if first else ""
            yield f"time: {time_text(first, 1)} → {time_text(second, 1)}{ratio}"
        if before.status is not after.status:
            yield f"status: {before.status.value} → {after.status.value}"
        over = [space_lines(plan)[0].removeprefix("bound over: ") for plan in (old, new)]
        if over[0] != over[1]:
            yield f"bound over: {over[0]} → {over[1]}"
    waits = [sum(isinstance(s, WaitStep) for q in p.main.queues for s in q.steps) for p in (old, new)]
    if waits[0] != waits[1]:
        yield f"waits: {waits[0]} → {waits[1]}"


def _placements(old: ExecutionPlan, new: ExecutionPlan) -> Iterator[str]:
    before, after = _places(old), _places(new)
    labels = {phase.id: f"#{phase.id} {phase.label}" for phase in (*old.phases, *new.phases)}
    for phase in dict.fromkeys((*before, *after)):
        if before.get(phase) != after.get(phase):
            yield labels.get(phase, f"#{phase}")
            for mark, places in (("-", before.get(phase, [])), ("+", after.get(phase, []))):
                yield from (f"  {mark} {placement}" for placement in places)


def _places(plan: ExecutionPlan) -> dict[PhaseId, list[str]]:
    placements: dict[PhaseId, list[str]] = defaultdict(list)
    for queue in plan.main.queues:
        for step in queue.steps:
            match step:
                case RunStep(box=box):
                    placements[step.phase].append(f"{queue.device} {box_text(box)}".rstrip())
                case RowsStep():
                    for member in step.phases:
                        placements[member].append(f"{queue.device} by rows")
                case CombineStep():
                    placements[step.phase].append(f"{queue.device} combine")
                case LoopStep(rows=rows) | JoinStep(rows=rows) if rows is not None:
                    placements[step.phase].append(f"{queue.device} rows {rows[0]}:{rows[1]}")
                case LoopStep() | BranchStep() | CellsStep():
                    placements[step.phase].append(str(queue.device))
                case _:
                    pass
    return {phase: sorted(places) for phase, places in placements.items()}


def _transfers(old: ExecutionPlan, new: ExecutionPlan) -> Iterator[str]:
    before, after = _sent(old), _sent(new)
    for mark, counted in (("-", before - after), ("+", after - before)):
        for (value, source, target, size), count in sorted(counted.items()):
            times = f" ×{count}" if count > 1 else ""
            yield f"{mark} transfer %{value}: {source} → {target}, {bytes_text(size)}{times}"


def _sent(plan: ExecutionPlan) -> Counter[tuple[int, str, str, int]]:
    return Counter(
        (int(s.value), str(s.source), str(s.target), s.bytes)
        for queue in plan.main.queues for s in queue.steps if isinstance(s, TransferStep)
    )  # fmt: skip


def _memory(old: ExecutionPlan, new: ExecutionPlan) -> Iterator[str]:
    before, after = old.peak, new.peak
    for device in dict.fromkeys((*before, *after)):
        if before.get(device, 0) != after.get(device, 0):
            yield f"peak on {device}: {bytes_text(before.get(device, 0))} → {bytes_text(after.get(device, 0))}"
