"""Chrome trace events, which Perfetto and chrome://tracing open: one process for what was predicted, then one
for each process measured.

Times are microseconds.  Bars are complete events (`X`) on a thread a queue, fences are flows (`s`, `f`), memory is a counter
(`C`).  The format is Google's "Trace Event Format".
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from .chart import Chart

PREDICTED: Final = 1
MEASURED: Final = 2
"""The first of them."""


def trace_json(chart: Chart, measured: Sequence[Chart] = ()) -> str:
    """One JSON object with `traceEvents`."""
    events = list(_events(chart, PREDICTED, "predicted"))
    for process, one in enumerate(measured, MEASURED):
        events += _events(one, process, "measured")
    return json.dumps({"displayTimeUnit": "ns", "traceEvents": events}, ensure_ascii=False, separators=(",", ":"))


def _events(chart: Chart, process: int, name: str) -> Iterator[dict[str, Any]]:
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
    for place, arrow in enumerate(chart.arrows):
        if arrow.source in places and arrow.target in places:
            (source, start, end), (target, at, _) = places[arrow.source], places[arrow.target]
            common = {"name": f"fence f{arrow.fence}", "cat": "fence", "id": process * 1_000_000 + place, "pid": process}
            yield {"ph": "s", **common, "tid": source, "ts": _micros(chart, max(start, end - 1))}
            yield {"ph": "f", "bp": "e", **common, "tid": target, "ts": _micros(chart, at)}
    for memory in chart.memory:
        for tick, size in memory.points:
            counter = {"ph": "C", "name": f"memory {memory.device}", "pid": process, "ts": _micros(chart, tick)}
            yield {**counter, "args": {"bytes": size}}


def _micros(chart: Chart, ticks: int) -> float:
    return ticks * chart.tick_ns / 1000
