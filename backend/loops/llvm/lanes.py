"""How many lanes and iterations a loop is printed with, and the kinds of registers.

Neighbours: `printer` (Note [Vector loops]).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import gcd
from typing import Final

from ....typechecker.elements import Kind
from ...scalar.table import LONG, weight_of
from ..check import may_fail
from ..forms import coefficient, minus
from ..ir import Apply, Constant, Fail, For, If, Index, Load, Number, Program, Role, Statement, Store, View, scanned, uses, walk


def lanes_of(loop: For, views: Mapping[str, View], vector_bytes: int) -> int:
    """Of a loop that may be printed with vectors; 1 where it may not."""
    inside = list(walk(loop.body))
    if loop.step != 1 or (fails(inside) and read_back(inside)) or any(c.reduction is None for c in loop.carried):
        return 1
    varying, kinds = {loop.index}, list[Kind]()
    busiest = set(map(id, _busiest(loop.body)))
    for statement in inside:  # definitions come before uses
        is_busy = id(statement) in busiest
        match statement:
            case Number(name, index) if any(t in varying for t, _ in index.terms):
                varying.add(name)
                kinds += [Kind.I64] * is_busy
            case Apply(name=name, args=args) if any(a in varying for a in args):
                kinds += [statement.kind, statement.compute] * is_busy
                varying.add(name)
            case Load(name=name, view=view, indices=indices, mask=mask):
                if mask in varying or any(t in varying for i in indices for t, _ in i.terms):
                    kinds += [views[view].kind] * is_busy
                    varying.add(name)
            case Store(view=view):
                kinds += [views[view].kind] * is_busy
            case If(condition=condition):
                if condition in varying or statement.results:
                    return 1
            case For():
                bounds = (*statement.lower, *statement.upper)
                if any(t in varying for i in bounds for t, _ in i.terms) or (statement.until is not None and _touches(statement)):
                    return 1
                varying.update(name for c in statement.carried for name in (c.inside, c.result))
            case _:
                pass
    lanes = max(1, vector_bytes // max((k.bytes for k in kinds), default=8))
    return min(lanes, MOST_TURNED) if turns_tiles(loop) else lanes


def turns_tiles(loop: For) -> bool:
    """Does a loop touch many items one behind the other, of lanes that are apart (`tiles`)?"""
    places: dict[tuple[type, str, tuple[Index, ...]], int] = {}
    for statement in walk(loop.body):
        if isinstance(statement, Load | Store) and statement.indices:
            *outer, last = statement.indices
            if 0 < abs(coefficient(last, loop.index)) <= LONGEST_ROW:
                continue
            if any(coefficient(index, loop.index) for index in statement.indices):
                row = type(statement), statement.view, (*outer, replace(last, constant=0))
                places[row] = places.get(row, 0) + 1
    return max(places.values(), default=0) >= _TILE


def _busiest(body: Sequence[Statement]) -> list[Statement]:
    """What is done most often: the innermost loops, if there are any."""
    inner = [statement for statement in body if isinstance(statement, For)]
    return [each for loop in inner for each in _busiest(loop.body)] if inner else list(walk(tuple(body)))


def vectors_of(loop: For, views: Mapping[str, View], vector_bytes: int) -> int:
    """How many vectors of a loop go together: two; as many as hide the time of long functions of binary32, of counting where
    little is done (sums in scratch), or of going from row to row where loops inside store; or one where more values are alive at
    once than there are registers, and of scans and tiles."""
    if scanned(loop) or turns_tiles(loop):
        return 1
    inside = list(walk(loop.body))
    kinds = [s.compute for s in inside if isinstance(s, Apply)]
    long = sum(isinstance(s, Apply) and weight_of(s.function) >= LONG for s in inside)
    is_wide, is_nested = vector_bytes >= _WIDE, any(isinstance(s, For) for s in inside)
    if is_wide and long >= _WAITING and max(k.bytes for k in kinds) == Kind.F32.bytes and not is_nested:
        return 4
    alive, stored = _most_alive(inside), [views[s.view].role for s in inside if isinstance(s, Store)]
    if stored and alive <= _FEW_ALIVE and all(role is Role.SCRATCH for role in stored):
        return 4
    inner = [s for each in loop.body if isinstance(each, For) for s in walk(each.body)]
    if alive <= _REGISTERS // 2 and any(isinstance(s, Store) for s in inner):
        return 4
    return 1 if alive > (_MANY_REGISTERS if is_wide else _REGISTERS) else 2


LONGEST_ROW: Final = 8
"""Items of a row that is loaded as a whole (`memory`, Note [Rows])."""
_TILE: Final = 4
"""Items of a lane that are worth turning."""
MOST_TURNED: Final = 8
"""Lanes of vectors that are turned."""
_WIDE: Final = 64
_FEW_ALIVE: Final = 4
_WAITING: Final = 3
"""Functions of binary32 by polynomials, whose time is mostly waiting for one step after the other: four vectors fill it."""
_REGISTERS: Final = 10
"""More values alive than this, two registers each, would not fit."""
_MANY_REGISTERS: Final = 13
"""The same of processors whose registers are twice as many."""


def _most_alive(statements: Sequence[Statement]) -> int:
    last: dict[str, int] = {}
    first: dict[str, int] = {}
    for place, statement in enumerate(statements):
        if isinstance(statement, Apply | Load):
            first.setdefault(statement.name, place)
        if isinstance(statement, Apply | Store):
            last.update(dict.fromkeys(uses(statement), place))
    for place, statement in enumerate(statements):
        if isinstance(statement, For):  # what comes from outside is needed in the next iteration, too
            end = place + sum(1 for _ in walk(statement.body))
            outside = (name for name, use in last.items() if place < use <= end and first.get(name, end) < place)
            last.update(dict.fromkeys(outside, end))
    ends: dict[int, int] = {}
    alive = most = 0
    seen: set[str] = set()
    for place, statement in enumerate(statements):
        names = {statement.name} if isinstance(statement, Apply | Load) else set[str]()
        names |= set(uses(statement)) if isinstance(statement, Apply) else set()
        for name in names - seen:  # what comes from outside is alive from its first use on
            seen.add(name)
            alive += 1
            ends[last.get(name, place)] = ends.get(last.get(name, place), 0) + 1
        most = max(most, alive)
        alive -= ends.pop(place, 0)
    return most


def _touches(loop: For) -> bool:
    """Does an iteration more of some lanes show?"""
    return any(isinstance(s, Load | Store | Fail) or (isinstance(s, Apply) and may_fail(s)) for s in walk(loop.body))


def read_back(statements: Sequence[Statement]) -> set[str]:
    """The views that are both loaded and stored."""
    return {s.view for s in statements if isinstance(s, Load)} & {s.view for s in statements if isinstance(s, Store)}


def fails(statements: Iterable[Statement]) -> bool:
    """May one of them leave the program?"""
    return any(isinstance(s, Fail) or (isinstance(s, Apply) and may_fail(s)) for s in statements)


def is_long(statements: Iterable[Statement]) -> bool:
    """Are there so many instructions that they are better written once than once more for the rest?"""
    return sum(isinstance(s, Apply) and weight_of(s.function) >= LONG for s in statements) > 1


def iterations_of(loop: For) -> int | None:
    """How many a loop that goes item by item has, where that is known."""
    if loop.step != 1 or len(loop.lower) != 1 or len(loop.upper) != 1:
        return None
    length = minus(loop.upper[0], loop.lower[0])
    return None if length.terms else max(0, length.constant)


def divisor_of(loop: For) -> int:
    """A number that divides how many iterations a loop has that goes item by item, if it has any; 1 where none is known."""
    if loop.step != 1 or len(loop.lower) != 1 or len(loop.upper) != 1:
        return 1
    length = minus(loop.upper[0], loop.lower[0])
    return gcd(length.constant, *(factor for _, factor in length.terms)) or 1


def kinds_of(program: Program) -> dict[str, Kind]:
    """Of all registers."""
    kinds = dict.fromkeys(program.parameters, Kind.I64)
    views = {view.name: view for view in program.views}
    for statement in walk(program.body):
        match statement:
            case Constant(name=name, kind=kind) | Apply(name=name, kind=kind):
                kinds[name] = kind
            case Number(name, _):
                kinds[name] = Kind.I64
            case Load(name=name, view=view):
                kinds[name] = views[view].kind
            case For():
                kinds[statement.index] = Kind.I64
                for carried in statement.carried:
                    kinds[carried.inside] = kinds[carried.result] = carried.kind
            case If():
                for chosen in statement.results:
                    kinds[chosen.name] = chosen.kind
            case _:
                pass
    return kinds
