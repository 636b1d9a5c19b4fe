"""Orders that directives and data ask for, as a graph: the fewest facts that contradict each other, and how many orders are left.

No solver is needed: a set of orders is possible if no cycle remains when phases that must be adjacent are taken as one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ...constraints import restrictions
from ...problem import Directive, Problem

Arc: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class OrderFact:
    """`arcs` (first, then) that a directive asks for, and pairs that it wants `glued`; no directive: what data or effects
    ask, in words."""

    arcs: tuple[Arc, ...]
    glued: tuple[Arc, ...] = ()
    directive: Directive | None = None
    words: str = ""


def order_facts(problem: Problem) -> list[OrderFact]:
    """What each directive asks of the order, and what effects do."""
    result: list[OrderFact] = []
    plain = restrictions(replace(problem, directives=()))
    for q, earlier in enumerate(plain.after):
        for p in earlier:
            words = f"`{problem.phases[p].id}` comes before `{problem.phases[q].id}`: effects keep their order"
            result.append(OrderFact(((p, q),), words=words))
    for directive in problem.directives:
        limits = restrictions(replace(problem, directives=(directive,)))
        arcs = [(p, q) for q, earlier in enumerate(limits.after) for p in earlier if p not in plain.after[q]]
        arcs += [(p, q) for q, earlier in enumerate(limits.issued) for p in earlier]
        if arcs or limits.glued:
            result.append(OrderFact(tuple(dict.fromkeys(arcs)), tuple(limits.glued.items()), directive))
    return result


def data_arcs(problem: Problem) -> list[Arc]:
    return list(dict.fromkeys((int(edge.source), int(edge.target)) for edge in problem.edges))


def order_conflict(problem: Problem) -> list[OrderFact] | None:
    """The fewest facts of order that contradict each other; None if there is an order of all phases."""
    facts = order_facts(problem)
    data = data_arcs(problem)
    if possible(len(problem.phases), facts, data):
        return None
    simple = [replace(fact, glued=()) for fact in facts]
    if not possible(len(problem.phases), simple, data):
        return shortest_cycle(problem, facts, data)
    return _with_glue(problem, facts, data)


def possible(count: int, facts: Iterable[OrderFact], data: Iterable[Arc]) -> bool:
    """Whether some order of all phases obeys the facts and the data."""
    return (
        _topological(count, [*data, *(arc for fact in facts for arc in fact.arcs)], [g for f in facts for g in f.glued])
        is not None
    )


def _topological(count: int, arcs: Sequence[Arc], glued: Sequence[Arc]) -> list[int] | None:
    """An order of chains of glued phases (by their heads); None if there is none."""
    following: dict[int, int] = {}
    preceding: dict[int, int] = {}
    for x, z in glued:
        if following.setdefault(x, z) != z or preceding.setdefault(z, x) != x:
            return None
    head = list(range(count))
    place = [0] * count
    seen = 0
    for p in range(count):
        if p in preceding:
            continue
        seen += 1
        step, q = 0, p
        while q in following:
            q = following[q]
            step += 1
            head[q], place[q] = p, step
            seen += 1
    if seen < count:
        return None  # glued in a circle
    waiting = [0] * count
    after: dict[int, list[int]] = {}
    for p, q in set(arcs):
        if head[p] == head[q]:
            if place[p] >= place[q]:
                return None
            continue
        after.setdefault(head[p], []).append(head[q])
        waiting[head[q]] += 1
    ready = deque(p for p in range(count) if head[p] == p and not waiting[p])
    result: list[int] = []
    while ready:
        p = ready.popleft()
        result.append(p)
        for q in after.get(p, ()):
            waiting[q] -= 1
            if not waiting[q]:
                ready.append(q)
    return result if len(result) == sum(1 for p in range(count) if head[p] == p) else None


def shortest_cycle(problem: Problem, facts: Sequence[OrderFact], data: Sequence[Arc]) -> list[OrderFact]:
    """A cycle of the fewest facts; what one phase needs of another, through however many others, is one fact."""
    needs = closure(len(problem.phases), data)
    steps: dict[int, list[tuple[int, int]]] = {}
    for index, fact in enumerate(facts):
        for p, q in fact.arcs:
            steps.setdefault(p, []).append((q, index))
    direct = set(data)
    best: tuple[tuple[int, int], list[tuple[int, int, int]]] | None = None
    for index, fact in enumerate(facts):
        for p, q in fact.arcs:
            path = _path(q, p, steps, needs, index)
            if path is not None:
                used = len({i if i >= 0 else (a, b) for a, b, i in path} | {index})
                far = sum(1 for a, b, i in path if i < 0 and (a, b) not in direct)
                if best is None or (used, far) < best[0]:
                    best = ((used, far), [(p, q, index), *path])
    assert best is not None
    result: list[OrderFact] = []
    for p, q, index in best[1]:
        fact = facts[index] if index >= 0 else need(problem, p, q)
        if fact not in result:
            result.append(fact)
    return result


def _path(
    start: int, goal: int, steps: dict[int, list[tuple[int, int]]], needs: Sequence[set[int]], free: int
) -> list[tuple[int, int, int]] | None:
    """The way from one phase to another by the fewest facts (-1: data); steps of the fact `free` cost nothing."""
    if start == goal:
        return []
    came: dict[tuple[int, bool], tuple[int, bool, int]] = {}
    queue: deque[tuple[int, bool]] = deque([(start, False)])
    seen = {(start, False)}
    while queue:
        p, by_data = queue.popleft()
        options = [(q, index) for q, index in steps.get(p, ())]
        options.sort(key=lambda option: option[1] != free)
        if not by_data:
            options += [(q, -1) for q in sorted(needs[p])]
        for q, index in options:
            state = (q, index < 0)
            if state in seen:
                continue
            seen.add(state)
            came[state] = (p, by_data, index)
            if q == goal:
                path: list[tuple[int, int, int]] = []
                while state != (start, False):
                    before, kind, used = came[state]
                    path.append((before, state[0], used))
                    state = (before, kind)
                return path[::-1]
            if index == free:
                queue.appendleft(state)
            else:
                queue.append(state)
    return None


def need(problem: Problem, p: int, q: int) -> OrderFact:
    return OrderFact(((p, q),), words=f"`{problem.phases[q].id}` needs `{problem.phases[p].id}`")


def closure(count: int, arcs: Sequence[Arc]) -> list[set[int]]:
    """The phases that each is needed for, directly or not."""
    after: list[list[int]] = [[] for _ in range(count)]
    for p, q in arcs:
        after[p].append(q)
    order = _topological(count, arcs, ()) or list(range(count))
    result: list[set[int]] = [set() for _ in range(count)]
    for p in reversed(order):
        for q in after[p]:
            result[p] |= {q} | result[q]
    return result


def _with_glue(problem: Problem, facts: Sequence[OrderFact], data: Sequence[Arc]) -> list[OrderFact]:
    """Deletion, one fact after the other: directives first, then what data ask."""
    count = len(problem.phases)
    kept = list(facts)
    for fact in list(reversed(facts)):
        rest = [other for other in kept if other is not fact]
        if not possible(count, rest, data):
            kept = rest
    named = {p for fact in kept for arc in (*fact.arcs, *fact.glued) for p in arc}
    reach = closure(count, data)
    pairs = [(p, q) for p in sorted(named) for q in sorted(reach[p] & named)]
    if possible(count, kept, pairs):
        pairs = [(p, q) for p in range(count) for q in sorted(reach[p])]
    for arc in list(pairs):
        rest_arcs = [other for other in pairs if other != arc]
        if not possible(count, kept, rest_arcs):
            pairs = rest_arcs
    return [*kept, *(need(problem, p, q) for p, q in pairs)]
