"""A Pareto front as one self-contained SVG: plans as points, the staircase they decide, and below it what is proved.

Right of and above the staircase every value is reached by a plan; below the green line no plan of its space can be; between
them nobody knows.

Neighbours: `backend.schedule.program.fronts` (what is drawn), `page` (the same style).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final, TypeAlias

from ..plan.explain_queues import time_text

WIDTH: Final = 720
HEIGHT: Final = 360
LEFT: Final = 90
RIGHT: Final = 30
TOP: Final = 44
BOTTOM: Final = 50
Scale: TypeAlias = Callable[[float], float]


@dataclass(frozen=True, slots=True)
class Drawn:
    """`points`: (nanoseconds, value, what is said of it); `floors`: (nanoseconds, value): none of the `plans` within that time is
    below; `over`: which plans these are."""

    title: str
    unit: str
    points: tuple[tuple[int, int, str], ...]
    floors: tuple[tuple[int, int], ...] = ()
    plans: str = "plan"
    over: tuple[str, ...] = ()


def fronts_svg(fronts: Sequence[Drawn]) -> str:
    """One panel a front, one below the other."""
    height = HEIGHT * max(1, len(fronts))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" '
        f'aria-label="{escape("; ".join(one.title for one in fronts), quote=True)}">',
        _STYLE,
    ]
    for place, front in enumerate(fronts):
        lines += [f'<g transform="translate(0 {HEIGHT * place})">', *_panel(front), "</g>"]
    return "\n".join([*lines, "</svg>"]) + "\n"


_STYLE: Final = (
    "<style>svg{background:#fff}text{font:11px system-ui,sans-serif;fill:#222}.title{font-size:14px;font-weight:600}"
    ".note{fill:#555}.grid{stroke:#ddd}.front{fill:none;stroke:#2b6cb0;stroke-width:2}.point{fill:#2b6cb0}"
    ".floor{fill:none;stroke:#080;stroke-dasharray:6 3;stroke-width:1.5}.open{fill:#f4e3b1;opacity:.5}"
    "@media(prefers-color-scheme:dark){svg{background:#181a1b}text{fill:#ddd}.note{fill:#aaa}.grid{stroke:#444}"
    ".front{stroke:#7db3ee}.point{fill:#7db3ee}.floor{stroke:#6c6}.open{fill:#6b5a1f}}</style>"
)


def _panel(front: Drawn) -> Iterator[str]:
    yield f'<text x="10" y="22" class="title">{escape(front.title)}</text>'
    if not front.points:
        yield f'<text x="{LEFT}" y="{TOP + 20}" class="note">no plan</text>'
        return
    low, high = _range([ns for ns, _, _ in front.points])
    least, most = _range([value for _, value, _ in front.points] + [value for _, value in front.floors])

    def x(ns: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (min(max(ns, low), high) - low) / (high - low)

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (min(max(value, least), most) - least) / (most - least)

    for part in range(6):
        ns, value = low + (high - low) * part / 5, least + (most - least) * part / 5
        yield f'<line class="grid" x1="{x(ns):.1f}" y1="{TOP}" x2="{x(ns):.1f}" y2="{HEIGHT - BOTTOM}"/>'
        yield f'<line class="grid" x1="{LEFT}" y1="{y(value):.1f}" x2="{WIDTH - RIGHT}" y2="{y(value):.1f}"/>'
        shown = time_text(round(ns))
        yield f'<text x="{x(ns):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle" class="note">{shown}</text>'
        yield f'<text x="{LEFT - 8}" y="{y(value) + 4:.1f}" text-anchor="end" class="note">{value:.4g}</text>'
    yield f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 12}" text-anchor="end" class="note">predicted time</text>'
    yield f'<text x="10" y="{TOP - 6}" class="note">{escape(front.unit)}</text>'
    stairs = _stairs([(ns, value) for ns, value, _ in front.points], x, y)
    yield f'<path class="front" d="{stairs}"/>'
    if front.floors:
        yield f'<path class="floor" d="{_floor(front.floors, x, y)}"><title>no {escape(front.plans)} is below</title></path>'
    for place, (ns, value, said) in enumerate(front.points, 1):
        yield f'<circle class="point" cx="{x(ns):.1f}" cy="{y(value):.1f}" r="5"><title>{escape(said)}</title></circle>'
        yield f'<text x="{x(ns) + 8:.1f}" y="{y(value) - 7:.1f}">{place}</text>'


def _range(numbers: Sequence[int]) -> tuple[float, float]:
    """With a tenth of room at either side."""
    low, high = min(numbers), max(numbers)
    room = (high - low) / 10 or max(1.0, high / 10)
    return max(0.0, low - room), high + room


def _stairs(points: Sequence[tuple[int, int]], x: Scale, y: Scale) -> str:
    """Each value holds until the next point's time."""
    parts = [f"M{x(points[0][0]):.1f},{TOP}"]
    for place, (ns, value) in enumerate(points):
        end = points[place + 1][0] if place + 1 < len(points) else float("inf")
        parts.append(f"L{x(ns):.1f},{y(value):.1f}L{x(end):.1f},{y(value):.1f}")
    return "".join(parts)


def _floor(floors: Sequence[tuple[int, int]], x: Scale, y: Scale) -> str:
    """Each value holds for every time up to its own."""
    parts: list[str] = []
    before = 0.0
    for ns, value in floors:
        parts.append(f"{'M' if not parts else 'L'}{x(before):.1f},{y(value):.1f}L{x(ns):.1f},{y(value):.1f}")
        before = float(ns)
    return "".join(parts)
