"""Phases of which any order, or any exchange, gives as good a plan: the search need look at one only.  For makespans alone.

* Twins are alike in all that the problem says of them, so a plan with two of them exchanged is a plan.  Of all plans that
  exchanges of twins and of equal devices make of one, that one is kept whose devices, in the order of phases, are least: a later
  twin has no earlier device, and on one device the earlier twin goes first.
* A family is all phases but a common source and a common sink (either may be missing) of a fork, a join, a fork-join or
  independent phases, without links, memory limits or directives.  On one device a member is ready when its operand has come,
  and leaves a tail that is the way of its result.  If members that are ready earlier never have a shorter tail, whatever the
  device, the order by both is as good as any (exchange of neighbours; source and sink come first and last).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from itertools import pairwise

from .shape import Shape


def twins(shape: Shape) -> list[list[int]]:
    """Sets of phases that may be exchanged, each in the order of `shape`."""
    problem = shape.problem
    if problem.directives or problem.selects:
        return []
    reads: list[list[Hashable]] = [[] for _ in range(shape.count)]
    read_by: list[list[Hashable]] = [[] for _ in range(shape.count)]
    for edge in problem.edges:
        said = (edge.bytes, edge.ticks, edge.whole, edge.halo, edge.only)
        reads[edge.target].append((edge.source, said))
        read_by[edge.source].append((edge.target, said))
    alike: dict[Hashable, list[int]] = defaultdict(list)
    for p in shape.order:
        task = problem.phases[p]
        if task.rows or task.combine is not None or task.effect or task.together is not None:
            continue
        ticks = tuple(sorted((kind, table.key) for kind, table in task.ticks.items()))
        own = (task.out_bytes, task.scratch, task.inplace, task.home, task.ready)
        around = (tuple(sorted(reads[p], key=repr)), tuple(sorted(read_by[p], key=repr)))
        alike[ticks, own, around, tuple(shape.modes[p])].append(p)
    return [members for members in alike.values() if len(members) > 1]


def inner(shape: Shape) -> list[int]:
    """All phases but a common source and a common sink; none if the problem is no fork, join or the like."""
    problem, timer = shape.problem, shape.timer
    plain = not (problem.directives or problem.selects or timer.capped or any(shape.split) or any(shape.combined))
    if not plain or any(delay is None for delay in timer.delays) or any(task.ready or task.effect for task in problem.phases):
        return []
    sources = {p for p in range(shape.count) if len(timer.outgoing[p]) > 1}
    sinks = {p for p in range(shape.count) if len(timer.incoming[p]) > 1}
    found = [p for p in shape.order if p not in sources and p not in sinks]
    if len(sources) > 1 or len(sinks) > 1 or sources & sinks or len(found) < 2:
        return []
    for p in found:
        before = [timer.sources[edge] for edge in timer.incoming[p]]
        after = [timer.targets[edge] for edge in timer.outgoing[p]]
        if set(before) != sources or set(after) != sinks or len(before) > 1 or len(after) > 1:
            return []
    return found


def family(shape: Shape) -> dict[int, int]:
    """The place of each member in an order that may be kept on every device; empty if there is no such family."""
    timer = shape.timer
    found = inner(shape)
    keys: dict[int, tuple[int, int]] = {}
    for p in found:
        before = [timer.delays[edge] or 0 for edge in timer.incoming[p]]
        after = [timer.delays[edge] or 0 for edge in timer.outgoing[p]]
        keys[p] = (before[0] if before else 0, after[0] if after else 0)
    order = sorted(found, key=lambda p: (keys[p][0], -keys[p][1], shape.order.index(p)))
    if any(keys[one][1] < keys[other][1] for one, other in pairwise(order)):
        return {}
    return {p: place for place, p in enumerate(order)}
