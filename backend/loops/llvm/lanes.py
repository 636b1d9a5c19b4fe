"""How many lanes a VECTOR loop is printed with, and the kinds of registers.

Neighbours: `printer` (Note [Vector loops]).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ....typechecker.elements import Kind
from ...scalar.table import LONG, weight_of
from ..check import may_fail
from ..ir import Apply, Constant, Fail, For, If, Load, Number, Program, Statement, Store, View, walk


def lanes_of(loop: For, views: Mapping[str, View], vector_bytes: int) -> int:
    """Of a loop that may be printed with vectors; 1 where it may not."""
    inside = list(walk(loop.body))
    if loop.step != 1 or (fails(inside) and read_back(inside)) or any(c.reduction is None for c in loop.carried):
        return 1
    varying, kinds = {loop.index}, list[Kind]()
    for statement in inside:  # definitions come before uses
        match statement:
            case Number(name, index) if any(t in varying for t, _ in index.terms):
                varying.add(name)
                kinds.append(Kind.I64)
            case Apply(name=name, args=args):
                kinds += [statement.kind, statement.compute]
                if any(a in varying for a in args):
                    varying.add(name)
            case Load(name=name, view=view, indices=indices, mask=mask):
                kinds.append(views[view].kind)
                if mask in varying or any(t in varying for i in indices for t, _ in i.terms):
                    varying.add(name)
            case Store(view=view):
                kinds.append(views[view].kind)
            case If(condition=condition):
                if condition in varying or statement.results:
                    return 1
            case For():
                bounds = (*statement.lower, *statement.upper)
                if statement.until is not None or any(t in varying for i in bounds for t, _ in i.terms):
                    return 1
                varying.update(name for c in statement.carried for name in (c.inside, c.result))
            case _:
                pass
    return max(1, vector_bytes // max((k.bytes for k in kinds), default=8))


def read_back(statements: Sequence[Statement]) -> set[str]:
    """The views that are both loaded and stored."""
    return {s.view for s in statements if isinstance(s, Load)} & {s.view for s in statements if isinstance(s, Store)}


def fails(statements: Iterable[Statement]) -> bool:
    """May one of them leave the program?"""
    return any(isinstance(s, Fail) or (isinstance(s, Apply) and may_fail(s)) for s in statements)


def is_long(statements: Iterable[Statement]) -> bool:
    """Are there so many instructions that they are better written once?"""
    return any(isinstance(s, Apply) and weight_of(s.function) >= LONG for s in statements)


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
