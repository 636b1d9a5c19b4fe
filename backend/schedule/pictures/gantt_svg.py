"""A Gantt chart as one self-contained SVG: lanes of devices and links, memory strips, fences, the critical path.

Colour is a hash of the phase's name; idle time is hatched; a red line is a device's memory limit; bars of the critical
path have a dashed outline.  Hovering a bar shows its details (`title` elements; no script).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from html import escape
from typing import Final

from ..plan.explain import bytes_text
from .chart import Axis, Bar, BarKind, Chart, Lane, Memory, time_text

WIDTH: Final = 1100
LEFT: Final = 130
RIGHT: Final = 30
LANE: Final = 26
STRIP: Final = 22
GAP: Final = 8
TOP: Final = 62
NARROWEST_LABEL: Final = 7.0
"""Pixels of a character; a label that does not fit its bar is left to the tooltip."""


def gantt_svg(chart: Chart) -> str:
    """The chart as SVG text.  Every bar of at least half a pixel is there; shorter ones are drawn half a pixel wide."""
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
    """A light colour that depends on the name only."""
    digest = hashlib.sha256(name.encode()).digest()
    return f"hsl({(digest[0] << 8 | digest[1]) % 360} {45 + digest[2] % 25}% {68 + digest[3] % 12}%)"


def _x(chart: Chart, tick: int) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * tick / max(1, chart.makespan)


def _axis(chart: Chart, top: float, bottom: float) -> Iterator[str]:
    for part in range(0, 11, 2):
        tick = chart.makespan * part // 10
        x = _x(chart, tick)
        yield f'<line class="grid" x1="{x:.1f}" y1="{top:.0f}" x2="{x:.1f}" y2="{bottom:.0f}"/>'
        label = f"{tick}" if chart.axis is Axis.TICKS else time_text(tick, chart.tick_ns)
        yield f'<text x="{x:.1f}" y="{bottom + 14:.0f}" text-anchor="middle" class="note">{label}</text>'
    if chart.lower_bound is not None and 0 < chart.lower_bound <= chart.makespan:
        x = _x(chart, chart.lower_bound)
        yield f'<line class="bound" x1="{x:.1f}" y1="{top:.0f}" x2="{x:.1f}" y2="{bottom:.0f}"><title>lower bound</title></line>'


def _lane(chart: Chart, lane: Lane, y: float) -> Iterator[str]:
    name = lane.name if lane.equal == 1 else f"{lane.name} and {lane.equal - 1:,} like it"
    short, full = escape(_short(name, 20)), escape(name)
    yield f'<text x="{LEFT - 8}" y="{y + 17:.0f}" text-anchor="end">{short}<title>{full}</title></text>'
    width = WIDTH - LEFT - RIGHT
    yield f'<rect class="idle" x="{LEFT}" y="{y:.0f}" width="{width}" height="{LANE - 4}"/>'
    for bar in lane.bars:
        yield _bar(chart, bar, y)


def _bar(chart: Chart, bar: Bar, y: float) -> str:
    x, width = _x(chart, bar.start), max(0.5, _x(chart, bar.end) - _x(chart, bar.start))
    inset = 5 if bar.kind is BarKind.TRANSFER else 0
    label = ""
    if width > NARROWEST_LABEL * 3:
        text = escape(_short(bar.name, int(width / NARROWEST_LABEL)))
        label = f'<text class="label" x="{x + 3:.1f}" y="{y + 15:.0f}">{text}</text>'
    detail = escape(f"{bar.detail} [{bar.start}, {bar.end})")
    tail = ""
    if bar.arrive > bar.end:  # on its way, the link free again
        end = max(0.5, _x(chart, bar.arrive) - x)
        tail = (
            f'<rect class="tail" x="{x:.2f}" y="{y + LANE / 2 - 3:.0f}" width="{end:.2f}" height="3" fill="{colour(bar.name)}">'
            f"<title>{detail}</title></rect>"
        )
    return tail + (
        f'<rect class="bar{" critical" if bar.critical else ""}" x="{x:.2f}" y="{y + inset:.0f}" width="{width:.2f}" '
        f'height="{LANE - 4 - 2 * inset}" fill="{colour(bar.name)}"><title>{detail}</title></rect>{label}'
    )


def _strip(chart: Chart, memory: Memory, y: float) -> Iterator[str]:
    """Bytes over time, as high as the larger of peak and limit."""
    height = STRIP - 6
    largest = max(memory.peak, memory.limit or 0, 1)
    for place, (tick, size) in enumerate(memory.points):
        if size <= 0:
            continue
        stop = memory.points[place + 1][0] if place + 1 < len(memory.points) else chart.makespan
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


def _arrows(chart: Chart, places: dict[str, float]) -> Iterator[str]:
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
