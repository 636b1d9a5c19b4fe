"""The phase graph of a schedule, as DOT for Graphviz and as SVG for the page.

In DOT, devices are clusters (a phase on several devices stands outside them), edges carry bytes, those over a link are bold,
fences between two phases are dashed, and phases on a device whose memory does not suffice are red: plans that do not hold are
drawn too.  The SVG is layered by longest path from the inputs, layers ordered by the mean place of what they read (Sugiyama's
barycentre heuristic, one sweep).
"""

from __future__ import annotations

from collections import defaultdict
from html import escape
from typing import Final

from ..plan.explain import bytes_text
from .chart import Chart, Node, time_text
from .gantt_svg import colour

MOST_NODES: Final = 400
"""More than this is unreadable as a picture; DOT has no limit."""
_COLUMN: Final = 178
_ROW: Final = 62
_BOX: Final = (158, 42)


def graph_dot(chart: Chart) -> str:
    """The graph as a DOT document."""
    lines = ["digraph schedule {", "  rankdir=LR;", '  node [shape=box, fontname="sans-serif", fontsize=10];']
    clusters: dict[str, list[Node]] = defaultdict(list)
    for node in chart.nodes:
        clusters[node.devices[0] if len(node.devices) == 1 else ""].append(node)
    for place, (device, nodes) in enumerate(sorted(clusters.items())):
        indent = "  "
        if device:
            lines += [f"  subgraph cluster_{place} {{", f"    label={_quoted(device)};"]
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


def graph_svg(chart: Chart) -> str:
    """The graph as SVG, or a line that says it is too large for a picture."""
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


def _layers(chart: Chart) -> list[list[str]]:
    """Columns of node ids, each after everything it reads."""
    reads: dict[str, list[str]] = defaultdict(list)
    for line in chart.lines:
        reads[line.target].append(line.source)
    depth: dict[str, int] = {}
    for node in chart.nodes:  # nodes are in an order that respects data flow
        depth[node.id] = max((depth[source] + 1 for source in reads[node.id] if source in depth), default=0)
    layers: list[list[str]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    place: dict[str, float] = {}
    for column, layer in enumerate(layers):
        names = [name for name, at in depth.items() if at == column]

        def centre(name: str) -> float:
            found = [place[source] for source in reads[name] if source in place]
            return sum(found) / len(found) if found else 0.0

        layer.extend(sorted(names, key=centre))
        place.update({name: row - len(names) / 2 for row, name in enumerate(layer)})
    return layers
