"""The sweeps of a chain along rows: what is computed in which pass over a row, what is kept in between.

Neighbours: `loops.lower.rows` and `card_rows` (write the sweeps), `graph.chains` (bodies).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from ..graph.chains import ALONG, SHORTEST
from ..scalar.table import weight_of
from .ir import Apply, Kernel, Load

FUNCTIONS: Final = {name: function for function, name in ALONG.items()}
MOST_SIDE: Final = SHORTEST
"""Rows shorter than this are done side by side; a power of two."""
_AGAIN: Final = 4
"""Operations on an element that are done again rather than kept."""


@dataclass(slots=True)
class Sweep:
    """`nodes` to evaluate in order; `reduces`: nodes that are reductions; `keeps`: nodes to put in scratch; `stores`: results."""

    nodes: set[int] = field(default_factory=set)
    reduces: list[int] = field(default_factory=list)
    keeps: list[int] = field(default_factory=list)
    stores: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Sweeps:
    """`kept`: the scratch row of each node that is kept."""

    sweeps: tuple[Sweep, ...]
    kept: dict[int, int]
    elements: frozenset[int]
    levels: tuple[int, ...]


def plan_sweeps(kernel: Kernel, is_row: tuple[bool, ...], *, keeps: bool = True) -> Sweeps:
    """What is computed in which sweep; unless it `keeps`, all that it needs."""
    body = kernel.body
    elements: set[int] = set()
    levels: list[int] = []
    costs: list[int] = []
    for place, node in enumerate(body):
        args = node.args if isinstance(node, Apply) else ()
        level = max((levels[arg] for arg in args), default=0)
        cost = 0
        if isinstance(node, Load) and kernel.operands[node.operand].moves[-1]:
            elements.add(place)
        elif isinstance(node, Apply) and node.function in FUNCTIONS:
            level += 1
        elif any(arg in elements for arg in args):
            assert isinstance(node, Apply)
            elements.add(place)
            own = weight_of(node.function)
            cost = min(1000, own + sum(costs[arg] for arg in args))
        levels.append(level)
        costs.append(cost)
    reductions = [p for p, node in enumerate(body) if isinstance(node, Apply) and node.function in FUNCTIONS]
    stores = [i for i, on_row in enumerate(is_row) if not on_row]
    last = max([levels[p] - 1 for p in reductions] + [levels[kernel.results[i].node] for i in stores], default=0)
    sweeps = [Sweep() for _ in range(last + 1)]
    kept: dict[int, int] = {}
    for place in reductions:
        sweeps[levels[place] - 1].reduces.append(place)
    for i in stores:
        sweeps[levels[kernel.results[i].node]].stores.append(i)
    for now in range(last, -1, -1):
        sweep = sweeps[now]
        wanted = [_argument(kernel, place) for place in sweep.reduces] + sweep.keeps
        wanted += [kernel.results[i].node for i in sweep.stores]
        while wanted:
            place = wanted.pop()
            if place not in elements or place in sweep.nodes:
                continue
            node = body[place]
            if keeps and levels[place] < now and costs[place] > _AGAIN:
                if place not in kept:
                    kept[place] = len(kept)
                    sweeps[levels[place]].keeps.append(place)
            elif isinstance(node, Apply):
                wanted += node.args
            sweep.nodes.add(place)
    return Sweeps(tuple(sweeps), kept, frozenset(elements), tuple(levels))


def _argument(kernel: Kernel, place: int) -> int:
    node = kernel.body[place]
    assert isinstance(node, Apply)
    return node.args[0]
