"""`(⌹A)+.×b` is a solution: a third of the work, and nearer to the exact one.

Neighbours: `table` (the rule), `backend.library.linear` (says the same of a matrix that is singular).
"""

from __future__ import annotations

from dataclasses import replace

from .patterns import Match
from .rule import Change, Scope


def is_solution(match: Match, scope: Scope) -> Change | None:
    """Of a square matrix whose inverse nothing else reads, and of sides that are there before it: it fails where that did."""
    product, inverse = match.library(0), match.library(1)
    matrix, sides = match["A"], match["b"]
    types = [scope.types[value] for value in (matrix, sides, product.results[0])]
    square, right = types[0].shape, types[1].shape
    if len({type.element.kind for type in types}) > 1 or len(square) != 2 or square[0] != square[1] or not 0 < len(right) < 3:
        return None
    if scope.readers(inverse.results[0]) != [product] or not scope.is_beside(inverse, product):
        return None
    if not scope.is_before(sides, inverse):
        return None
    solve = replace(inverse, op="solve", args=(sides, matrix), results=product.results, attributes={})
    return Change({inverse.id: (solve,), product.id: ()})
