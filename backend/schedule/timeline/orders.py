"""Topological orders."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from heapq import heapify, heappop, heappush


def order_of(before: Sequence[Collection[int]], *, by_index: bool = False) -> list[int] | None:
    """A topological order of what must come after what, layer by layer or always the smallest index that is free; None if there
    is a cycle."""
    waiting = [len(earlier) for earlier in before]
    followers: list[list[int]] = [[] for _ in before]
    for p, earlier in enumerate(before):
        for q in earlier:
            followers[q].append(p)
    free = [p for p, count in enumerate(waiting) if count == 0]
    heapify(free)
    result: list[int] = []
    while free if by_index else len(result) < len(free):
        p = heappop(free) if by_index else free[len(result)]
        result.append(p)
        for q in followers[p]:
            waiting[q] -= 1
            if waiting[q] == 0:
                heappush(free, q) if by_index else free.append(q)
    return result if len(result) == len(waiting) else None
