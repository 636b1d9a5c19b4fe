"""Self-contained HTML pages about plans: Gantt chart with transfers, fences and memory, the phase graph, the cost table.

Nothing is loaded from elsewhere, so a page can be mailed or kept with the plan.  Its one script, in the file itself, zooms charts
(wheel with Ctrl, buttons, dragging) and finds bars, phases and rows by their words; without it everything is still there.

Neighbours: `gantt_svg`, `graph`, `front`, `chart`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from html import escape
from typing import Final

from ..plan.explain import bytes_text
from .chart import Chart, time_text
from .front import Drawn, fronts_svg
from .gantt_svg import gantt_svg
from .graph import graph_svg

MOST_ROWS: Final = 2000


def plan_page(chart: Chart) -> str:
    """The page of one plan."""
    return _page(chart.title, [
        *(f"<p>{escape(note)}</p>" for note in chart.notes),
        "<h2>When and where</h2>",
        "<p>A lane is a queue of a device or link. Dashed outlines are a critical path, the green line is the lower bound "
        "of the plans named above, dotted arrows are fences, blue is memory in use and red its limit. Hover for details.</p>",
        *_zoomed(gantt_svg(replace(chart, title="", notes=()))),
        *_loops(chart),
        "<h2>Memory</h2>",
        *_memory(chart),
        "<h2>Phases</h2>",
        *_zoomed(graph_svg(chart)),
        "<h2>Cost</h2>",
        *_costs(chart),
    ])  # fmt: skip


def front_page(front: Drawn, charts: Sequence[Chart]) -> str:
    """The page of a front: the plans as points, and each plan folded up below."""
    lines = [
        "<p>Each point is a verified plan; right of and above the blue line a plan reaches everything, below the green one "
        f"no {escape(front.plans)} does.</p>",
        *(f"<p>{escape(line)}</p>" for line in front.over),
        *_zoomed(fronts_svg([front])),
    ]
    for place, ((_, _, said), chart) in enumerate(zip(front.points, charts, strict=True), 1):
        lines += [f"<details><summary>{place}: {escape(said)}</summary>", *_zoomed(gantt_svg(replace(chart, title="")))]
        lines += [*_loops(chart), *_memory(chart), "</details>"]
    return _page(front.title, lines)


def _page(title: str, lines: Sequence[str]) -> str:
    return "\n".join([
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        "script-src 'unsafe-inline'\">",
        f"<title>{escape(title)}</title>", _STYLE, "</head><body>",
        f"<h1>{escape(title)}</h1>",
        '<p class="find"><label>Find <input type="search" id="find" placeholder="a phase, a device, a value"></label> '
        '<output id="found"></output></p>',
        *lines,
        _SCRIPT, "</body></html>",
    ]) + "\n"  # fmt: skip


def _zoomed(svg: str) -> Iterator[str]:
    """A picture in a window that it may be larger than."""
    yield '<div class="zoom"><p class="buttons"><button data-by="1.5">+</button><button data-by="0.667">−</button>'
    yield f'<button data-by="0">1:1</button></p><div class="scroll">{svg}</div></div>'


def _loops(chart: Chart) -> Iterator[str]:
    """What is inside a step: a turn of a loop, the arms of a branch, folded up."""
    for inner in chart.inside:
        yield f"<details><summary>{escape(inner.title)}</summary>"
        yield from (f"<p>{escape(note)}</p>" for note in inner.notes)
        yield from _zoomed(gantt_svg(replace(inner, title="", notes=())))
        yield from _loops(inner)
        yield "</details>"


_STYLE: Final = (
    "<style>:root{color-scheme:light dark;--ink:#222;--paper:#fff;--rule:#ddd;--mark:#ffd54a}"
    "@media(prefers-color-scheme:dark){:root{--ink:#ddd;--paper:#181a1b;--rule:#444;--mark:#8a6d00}}"
    "body{font:14px/1.45 system-ui,sans-serif;margin:2em auto;max-width:1180px;padding:0 1em;color:var(--ink);"
    "background:var(--paper)}h1{font-size:1.4em}h2{font-size:1.1em;margin-top:2em}table{border-collapse:collapse}"
    "td,th{padding:.2em .8em;border-bottom:1px solid var(--rule);text-align:left}.number{text-align:right}"
    ".over{color:#e04848}.scroll{overflow:auto;max-height:80vh}.buttons{margin:.2em 0}button{min-width:2.4em;margin-right:.3em}"
    "details{border:1px solid var(--rule);border-radius:4px;padding:.3em .8em;margin:.6em 0}summary{cursor:pointer}"
    ".find{position:sticky;top:0;background:var(--paper);padding:.4em 0;z-index:1}"
    "tr.hit{background:var(--mark)}svg .hit{stroke:#d00!important;stroke-width:2.5!important;stroke-dasharray:none!important}"
    "svg .miss{opacity:.25}</style>"
)
_SCRIPT: Final = """<script>
for (const box of document.querySelectorAll(".zoom")) {
  const svg = box.querySelector("svg"), pane = box.querySelector(".scroll");
  if (!svg) continue;
  const wide = +svg.getAttribute("width"), high = +svg.getAttribute("height");
  let scale = 1;
  const zoom = (by, at) => {
    const before = scale;
    scale = by ? Math.min(40, Math.max(0.2, scale * by)) : 1;
    svg.setAttribute("width", wide * scale);
    svg.setAttribute("height", high * scale);
    pane.scrollLeft = (pane.scrollLeft + at) * scale / before - at;
  };
  for (const button of box.querySelectorAll("button")) button.onclick = () => zoom(+button.dataset.by, pane.clientWidth / 2);
  pane.addEventListener("wheel", event => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, event.clientX - pane.getBoundingClientRect().left);
  }, {passive: false});
  let from = null;
  pane.onpointerdown = event => { from = [event.clientX + pane.scrollLeft, event.clientY + pane.scrollTop]; };
  pane.onpointermove = event => {
    if (!from || !event.buttons) return;
    pane.scrollLeft = from[0] - event.clientX; pane.scrollTop = from[1] - event.clientY;
  };
}
const field = document.getElementById("find");
field.oninput = () => {
  const wanted = field.value.trim().toLowerCase();
  let count = 0;
  for (const part of document.querySelectorAll("svg .bar, svg .node, svg .point, tr")) {
    const hit = wanted !== "" && part.textContent.toLowerCase().includes(wanted);
    part.classList.toggle("hit", hit);
    part.classList.toggle("miss", wanted !== "" && !hit && part.tagName !== "TR");
    if (hit) {
      count++;
      for (let up = part.closest("details"); up; up = up.parentElement.closest("details")) up.open = true;
    }
  }
  document.getElementById("found").textContent = wanted ? count + " found" : "";
};
</script>"""


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
    yield '<table><tr><th>phase</th><th>device</th><th>part</th><th class="number">estimate</th></tr>'
    for row in chart.rows[:MOST_ROWS]:
        yield (
            f"<tr><td>{escape(row.phase)}</td><td>{escape(row.device)}</td><td>{escape(row.part)}</td>"
            f'<td class="number">{time_text(row.estimate_ns, 1)}</td></tr>'
        )
    yield "</table>"
    if len(chart.rows) > MOST_ROWS:
        yield f"<p>and {len(chart.rows) - MOST_ROWS:,} more rows</p>"
