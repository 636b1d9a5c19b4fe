"""`x∊2 3 5` is arithmetic: of a few items that are written in the program each is compared, and nothing is looked up.

Numbers are compared in a kind that holds both exactly; where there is none the phase stays.

Neighbours: `fusion` (makes it part of what reads it), `reference.searching` (the definition).
"""

from __future__ import annotations

from typing import Final

from .....typechecker.core import Payload
from .....typechecker.elements import Kind
from ...phases import (
    ApplyNode,
    Axis,
    AxisKind,
    Constant,
    ConstantNode,
    LibraryPhase,
    Node,
    Projection,
    Read,
    ReadNode,
    Result,
    Structured,
    ValueId,
)
from .patterns import Match
from .rule import Change, Scope

_MOST: Final = 16
_EXACT: Final = 1 << 53
"""Whole numbers up to this are exact in binary64."""


def is_one_of_few(match: Match, scope: Scope) -> Change | None:
    """See the module."""
    table = scope.makers[match["table"]]
    assert isinstance(table, Constant)
    made = _compared(scope, match.root, table.data)
    return None if made is None else Change({match.root.id: (made,)})


def _compared(scope: Scope, phase: LibraryPhase, data: tuple[Payload, ...]) -> Structured | None:
    arg, table = phase.args
    kind = scope.types[arg].element.kind
    common = _common(kind, scope.types[table].element.kind, data)
    if common is None or not 0 < len(data) <= _MOST:
        return None
    body: list[Node] = [ReadNode(0, kind)]
    if common is not kind:
        body.append(ApplyNode("convert", (0,), common))
    item, found = len(body) - 1, -1
    for value in dict.fromkeys(float(v) if common is Kind.F64 and isinstance(v, int | float) else v for v in data):
        body.append(ConstantNode(common, int(value) if common is Kind.I64 and isinstance(value, int) else value))
        body.append(ApplyNode("eq", (item, len(body) - 1), Kind.BOOL))
        if found >= 0:
            body.append(ApplyNode("or", (found, len(body) - 1), Kind.BOOL))
        found = len(body) - 1
    axes = tuple(Axis(size, AxisKind.PARALLEL) for size in scope.types[arg].shape)
    result = Result(ValueId(phase.results[0]), found, None)
    return Structured(phase.id, phase.span, axes, (Read(arg, Projection(())),), tuple(body), (result,))


def _common(kind: Kind, table: Kind, data: tuple[Payload, ...]) -> Kind | None:
    """The kind that items are compared in; None where none holds both exactly."""
    if kind is Kind.CHAR or table is Kind.CHAR:
        return Kind.CHAR if kind is table else None
    whole = table is Kind.BOOL or table.is_integer
    if kind is Kind.BOOL or kind.is_integer:
        return Kind.I64 if whole else None
    if kind.is_float and (table.is_float or whole):
        return Kind.F64 if all(isinstance(v, float) or (isinstance(v, int) and abs(v) <= _EXACT) for v in data) else None
    return None
