"""What an `order` or `adjacent` line asks, in plain words, for the messages of conflicts; and what could be written instead."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ...problem import Adjacent, Order, PhaseIndex, Problem
from .orders import OrderFact, data_arcs, possible


def order_hint(problem: Problem, facts: Sequence[OrderFact]) -> str | None:
    """What each `order` and `adjacent` among the facts wants: what next to what, what before what; and a line that would do."""
    said = [
        f"line {fact.directive.line.number} wants " + " and ".join(_wants(problem, fact.directive))
        for fact in facts
        if isinstance(fact.directive, Order | Adjacent)
    ]
    instead = _instead(problem, facts)
    return "; ".join((*said, *([instead] if instead else []))) or None


def _wants(problem: Problem, directive: Order | Adjacent) -> list[str]:
    names = [phase.id for phase in problem.phases]
    if isinstance(directive, Adjacent):
        return [f"`{names[directive.then]}` right after `{names[directive.first]}`"]
    wants: list[str] = []
    items = directive.items
    if items and items[0] is not None:
        wants.append(f"nothing before `{names[items[0]]}`")
    known: PhaseIndex | None = None
    for place, item in enumerate(items):
        if item is None:
            continue
        if known is not None:
            between = items[place - 1] is None
            wants.append(f"`{names[item]}` {'after' if between else 'right after'} `{names[known]}`")
        known = item
    if items and items[-1] is not None:
        wants.append(f"nothing after `{names[items[-1]]}`")
    return wants


def _instead(problem: Problem, facts: Sequence[OrderFact]) -> str | None:
    """A line that would do instead: with `…` where it leaves none, or else in the order in which data can be had."""
    data = data_arcs(problem)
    for fact in facts:
        directive = fact.directive
        if not isinstance(directive, Order):
            continue
        rest = [other for other in facts if other is not fact and other.directive is not None]
        names = [item for item in directive.items if item is not None]
        for order, way in ((names, "leave room with"), (_by_data(problem, names), "write")):
            arcs = tuple(pairwise(order))
            if possible(len(problem.phases), [*rest, OrderFact(arcs)], data):
                text = " … ".join(problem.phases[p].id for p in order)
                return f"{way} `order … {text} …`"
    return None


def _by_data(problem: Problem, names: Sequence[PhaseIndex]) -> list[PhaseIndex]:
    """The names so that none comes before what it is made of, else as they were."""
    before: dict[int, set[int]] = {int(p): set() for p in range(len(problem.phases))}
    for source, target in data_arcs(problem):
        before[target].add(source)
    order: list[PhaseIndex] = []
    left = list(names)
    while left:
        free = next((p for p in left if not any(q != p and _reaches(before, p, q) for q in left)), left[0])
        order.append(free)
        left.remove(free)
    return order


def _reaches(before: dict[int, set[int]], target: int, source: int) -> bool:
    """Whether `target` is made of `source`, directly or not."""
    seen: set[int] = set()
    stack = [target]
    while stack:
        p = stack.pop()
        for q in before[p] - seen:
            if q == source:
                return True
            seen.add(q)
            stack.append(q)
    return False
