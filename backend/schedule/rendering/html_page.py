"""Self-contained HTML pages about plans: Gantt chart with transfers, fences and memory, the phase graph, the cost table.

A page loads nothing, so it can be mailed or stored with the plan.  Its one inline script zooms charts (wheel with Ctrl, buttons,
dragging) and searches bars, phases and rows by text; without scripts the page is complete, too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from ....lang.support.records import replace
from ..plan.plan_text import bytes_text
from .gantt import FrontDrawing, colour, fronts_svg, gantt_svg
from .gantt_model import ChartNode, GanttChart, time_text

# ---------------------------------------------------------------------------------------------------- graph
#
# The phase graph of a schedule, as DOT for Graphviz and as SVG for the page.
#
# In DOT, devices are clusters (a phase on several devices is outside them), edges are labelled with bytes, edges over a link are
# bold, fences between two phases are dashed, and phases on a device whose memory limit is exceeded are red, as infeasible plans
# are drawn, too.  The SVG is layered by longest path from the inputs, and layers are ordered by the mean position of their
# predecessors (Sugiyama's barycentre heuristic, one sweep).

MOST_NODES: Final = 400
"""The most nodes of the SVG; more are unreadable.  DOT has no limit."""
_COLUMN: Final = 178
_ROW: Final = 62
_BOX: Final = (158, 42)


def graph_dot(chart: GanttChart) -> str:
    """Returns the graph as a DOT document."""
    lines = ["digraph schedule {", "  rankdir=LR;", '  node [shape=box, fontname="sans-serif", fontsize=10];']
    clusters: dict[str, list[ChartNode]] = defaultdict(list)
    for node in chart.nodes:
        clusters[node.devices[0] if len(node.devices) == 1 else ""].append(node)
    for index, (device, nodes) in enumerate(sorted(clusters.items())):
        indent = "  "
        if device:
            lines += [f"  subgraph cluster_{index} {{", f"    label={_quoted(device)};"]
            indent = "    "
        for node in nodes:
            where = "" if device else f"\n{len(node.devices)} devices"
            look = ', color="#cc0000", fontcolor="#cc0000"' if node.over_memory else ""
            label = _quoted(f"{node.label}\n{time_text(node.ticks, chart.tick_ns)}{where}")
            lines.append(f"{indent}{_quoted(node.id)} [label={label}{look}];")
        if device:
            lines.append("  }")
    for line in chart.lines:
        look = ', style=bold, color="#3060c0"' if line.moved else ""
        moved = f" ({bytes_text(line.moved)} moved)" if line.moved else ""
        label = _quoted(bytes_text(line.bytes) + moved)
        lines.append(f"  {_quoted(line.source)} -> {_quoted(line.target)} [label={label}{look}];")
    drawn = {node.id for node in chart.nodes}
    places = {bar.key: bar.node for lane in chart.lanes for bar in lane.bars if bar.node in drawn}
    fences: dict[tuple[str, str], list[str]] = defaultdict(list)
    for arrow in chart.arrows:
        ends = (places.get(arrow.source, ""), places.get(arrow.target, ""))
        if all(ends) and ends[0] != ends[1] and f"f{arrow.fence}" not in fences[ends]:
            fences[ends].append(f"f{arrow.fence}")
    for (source, target), names in fences.items():
        look = 'style=dashed, constraint=false, color="#888888", fontcolor="#888888"'
        lines.append(f"  {_quoted(source)} -> {_quoted(target)} [label={_quoted(' '.join(names))}, {look}];")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def graph_svg(chart: GanttChart) -> str:
    """Returns the graph as SVG, or a line that it is too large to draw."""
    if len(chart.nodes) > MOST_NODES:
        return f"<p>{len(chart.nodes):,} phases are too many for a picture; use <code>--format dot</code>.</p>\n"
    layers = _layers(chart)
    height = max((len(layer) for layer in layers), default=1) * _ROW + 20
    width = len(layers) * _COLUMN + 20
    places: dict[str, tuple[float, float]] = {}
    for column, layer in enumerate(layers):
        top = (height - len(layer) * _ROW) / 2
        for row, name in enumerate(layer):
            places[name] = (10 + column * _COLUMN, top + row * _ROW + 10)
    wide, tall = _BOX
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        'aria-label="phase graph"><style>text{font:10px system-ui,sans-serif;fill:#222}.edge{fill:none;stroke:#999}'
        ".moved{stroke:#3060c0;stroke-width:2}.node{stroke:#0005}.over{stroke:#c00;stroke-width:2}.small{fill:#555}</style>"
    ]
    for line in chart.lines:
        (x1, y1), (x2, y2) = places[line.source], places[line.target]
        x1, y1, y2 = x1 + wide, y1 + tall / 2, y2 + tall / 2
        bend = (x1 + x2) / 2
        moved = f", {bytes_text(line.moved)} moved over links" if line.moved else ""
        parts.append(
            f'<path class="edge{" moved" if line.moved else ""}" d="M{x1:.0f},{y1:.0f}C{bend:.0f},{y1:.0f} {bend:.0f},{y2:.0f} '
            f'{x2:.0f},{y2:.0f}"><title>{bytes_text(line.bytes)}{moved}</title></path>'
        )
    for node in chart.nodes:
        x, y = places[node.id]
        where = node.devices[0] if len(node.devices) == 1 else f"{len(node.devices)} devices"
        label = node.label if len(node.label) <= 26 else node.label[:25] + "…"
        small = f"{where} · {time_text(node.ticks, chart.tick_ns)}"
        parts.append(
            f'<rect class="node{" over" if node.over_memory else ""}" x="{x}" y="{y:.0f}" width="{wide}" height="{tall}" rx="4" '
            f'fill="{colour(node.label)}"><title>{escape(node.label)} on {escape(", ".join(node.devices[:8]))}</title></rect>'
            f'<text class="label" x="{x + 6}" y="{y + 17:.0f}">{escape(label)}</text>'
            f'<text class="small label" x="{x + 6}" y="{y + 33:.0f}">{escape(small)}</text>'
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


def _layers(chart: GanttChart) -> list[list[str]]:
    """Returns layers of node ids, each node after all its predecessors."""
    reads: dict[str, list[str]] = defaultdict(list)
    for line in chart.lines:
        reads[line.target].append(line.source)
    depth: dict[str, int] = {}
    for node in chart.nodes:  # nodes are in topological order
        depth[node.id] = max((depth[source] + 1 for source in reads[node.id] if source in depth), default=0)
    layers: list[list[str]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    order_of: dict[str, float] = {}
    for column, layer in enumerate(layers):
        names = [name for name, at in depth.items() if at == column]

        def centre(name: str) -> float:
            neighbours = [order_of[source] for source in reads[name] if source in order_of]
            return sum(neighbours) / len(neighbours) if neighbours else 0.0

        layer.extend(sorted(names, key=centre))
        order_of.update({name: row - len(names) / 2 for row, name in enumerate(layer)})
    return layers


# ---------------------------------------------------------------------------------------------------- page

MOST_ROWS: Final = 2000


def plan_page(chart: GanttChart) -> str:
    """Returns the page of one plan."""
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


def front_page(front: FrontDrawing, charts: Sequence[GanttChart]) -> str:
    """Returns the page of a front: the plans as points, and below it each plan in a collapsed section."""
    lines = [
        "<p>Each point is a verified plan; right of and above the blue line a plan reaches everything, below the green one "
        f"no {escape(front.plans)} does.</p>",
        *(f"<p>{escape(line)}</p>" for line in front.over),
        *_zoomed(fronts_svg([front])),
    ]
    for index, ((_, _, said), chart) in enumerate(zip(front.points, charts, strict=True), 1):
        lines += [f"<details><summary>{index}: {escape(said)}</summary>", *_zoomed(gantt_svg(replace(chart, title="")))]
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
    """Yields an SVG in a scrollable window."""
    yield '<div class="zoom"><p class="buttons"><button data-by="1.5">+</button><button data-by="0.667">−</button>'
    yield f'<button data-by="0">1:1</button></p><div class="scroll">{svg}</div></div>'


def _loops(chart: GanttChart) -> Iterator[str]:
    """Yields collapsed sections of sub-plans: an iteration of a loop, the arms of a branch."""
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


def _memory(chart: GanttChart) -> Iterator[str]:
    yield '<table><tr><th>device</th><th class="number">peak</th><th class="number">limit</th></tr>'
    for memory in chart.memory[:MOST_ROWS]:
        over = memory.limit is not None and memory.peak > memory.limit
        limit = "none stated" if memory.limit is None else bytes_text(memory.limit)
        yield (
            f"<tr{' class=over' if over else ''}><td>{escape(memory.device)}</td>"
            f'<td class="number">{bytes_text(memory.peak)}</td><td class="number">{limit}</td></tr>'
        )
    yield "</table>"


def _costs(chart: GanttChart) -> Iterator[str]:
    yield '<table><tr><th>phase</th><th>device</th><th>part</th><th class="number">estimate</th></tr>'
    for row in chart.rows[:MOST_ROWS]:
        yield (
            f"<tr><td>{escape(row.phase)}</td><td>{escape(row.device)}</td><td>{escape(row.part)}</td>"
            f'<td class="number">{time_text(row.estimate_ns, 1)}</td></tr>'
        )
    yield "</table>"
    if len(chart.rows) > MOST_ROWS:
        yield f"<p>and {len(chart.rows) - MOST_ROWS:,} more rows</p>"
