"""A schedule from a model: the modes and the orders that it chose, as a step graph whose starts are the model's.

The model's own ticks may be too optimistic where the encoding leaves something out; the search finds what from the graph.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...timeline.expand import LINKED
from ...timeline.graph import COMBINE, PARTIAL, SHARD, Key, Node, StepGraph
from .encoding import Encoding, Sending


@dataclass(frozen=True, slots=True)
class Model:
    """`chosen`: a mode by phase; `starts`: the model's; `sent`: the possible transfers of the encoding that steps are."""

    chosen: list[int]
    graph: StepGraph
    starts: dict[Key, int]
    sent: dict[Key, Sending]


class Realiser:
    """Makes step graphs from models of one encoding."""

    def __init__(self, encoding: Encoding) -> None:
        self.encoding = encoding
        self.shape = encoding.shape

    def model(self, numbers: Mapping[str, int], true: frozenset[str]) -> Model:
        """The steps of the chosen modes, with the orders that directives ask of the model's starts."""
        shape = self.shape
        chosen = [
            next((k for k, literal in enumerate(literals) if literal == "true" or literal in true), 0)
            for literals in self.encoding.mode_literals
        ]
        modes = tuple(options[k] if options else () for options, k in zip(shape.modes, chosen, strict=True))
        graph = StepGraph(shape.timer, shape.timer.expanded(modes), shape.order)
        made = Model(chosen, graph, {}, {})
        for key, node in graph.nodes.items():
            made.starts[key] = self._start(made, key, node, numbers)
        self._directives(made)
        return made

    def _start(self, made: Model, key: Key, node: Node, numbers: Mapping[str, int]) -> int:
        """The model's start of a step; those of makers are known when their transfers are asked for."""
        encoding, p = self.encoding, node.phase
        if key[0] == SHARD:
            return numbers.get(encoding.start(p, node.device), 0)
        if key[0] == COMBINE:
            return numbers.get(f"c{p}", 0)
        maker = (SHARD, p, key[2]) if key[0] == PARTIAL else made.graph.maker(p, key[2])
        begin = made.starts[maker] + made.graph.nodes[maker].ticks
        scattered = key[2] if self.shape.scattered[p] else -1
        if key[0] != PARTIAL and key[4] != LINKED:
            late = encoding.delayed.get((p, scattered, node.device, key[4]))
            return begin if late is None else max(begin, numbers.get(late.start, begin))
        sent = encoding.sendings.get((p, -2 - key[2], self.shape.home) if key[0] == PARTIAL else (p, scattered, node.device))
        if sent is None:
            return begin
        made.sent[key] = sent
        return numbers.get(sent.start, begin)

    def _directives(self, made: Model) -> None:
        """Orders of queues: `issue_before` and adjacent phases."""
        shape, graph, starts = self.shape, made.graph, made.starts
        limits = shape.timer.limits

        def first_of(p: int) -> Node:
            return min(graph.shards(p), key=lambda node: (starts[node.key], node.rank))

        for q in range(shape.count):
            for p in limits.issued[q]:
                for shard in graph.shards(q):
                    shard.after.append((first_of(p).key, 0))
        for x, z in limits.glued.items():
            opening = min(starts[node.key] for node in graph.shards(x))
            last = first_of(z)
            queues = {node.device for node in (*graph.shards(x), *graph.shards(z))}
            for other in range(shape.count):
                for between in graph.shards(other):
                    if other in (x, z) or between.device not in queues:
                        continue
                    if starts[between.key] <= opening:
                        for shard in graph.shards(x):
                            shard.after.append((between.key, 0))
                    else:
                        between.after.append((last.key, 0))
