"""A Gantt chart in the characters of a terminal, for logs.

    gpu0  ▕aaaaaaabbb··········▏
    pcie0 ▕··ttt···············▏

Each phase has a letter, listed below with its name; a cell shows what is busy for most of it.
"""

from __future__ import annotations

from string import ascii_lowercase, ascii_uppercase, digits
from typing import Final

from .chart import Chart, Lane

_LETTERS: Final = ascii_lowercase + ascii_uppercase + digits
_MORE: Final = "#"


def gantt_text(chart: Chart, width: int = 72) -> str:
    """The chart as lines of at most about `width` cells beside the names of lanes."""
    names = list(dict.fromkeys(bar.name for lane in chart.lanes for bar in lane.bars))
    letters = {name: _LETTERS[place] if place < len(_LETTERS) else _MORE for place, name in enumerate(names)}
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
