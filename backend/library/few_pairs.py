"""Index of, member of and first occurrence of few items: every pair is compared, in one kernel.

Neighbours: `searching` (asks; the same of many).
"""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Final

from ...typechecker.elements import Kind
from ...typechecker.sizes import ZERO
from ..graph.cells import frame_of
from ..graph.phases import (
    Affine,
    AffineIndex,
    ApplyNode,
    Axis,
    AxisKind,
    AxisNode,
    LibraryPhase,
    Node,
    Projection,
    Read,
    ReadNode,
    Result,
    SizeNode,
    Structured,
    Term,
    ValueId,
)
from ..run.device import Types

MOST_PAIRS: Final = 1 << 13


def every_pair(phase: LibraryPhase, types: Types) -> Structured | None:
    """The phase as one that compares every pair; None where these are many, or it is something else."""
    match phase.op:
        case "index_of":
            table, arg = phase.args
            equal = _equal(types, phase, arg, table)
            if equal is None:
                return None
            length = equal.axes[1].size
            body: tuple[Node, ...] = (*equal.body, AxisNode(1), SizeNode(length), ApplyNode("select", (2, 3, 4), Kind.I64))
            return replace(equal, body=body, results=(Result(phase.results[0], 5, "min"),))
        case "member_of":
            equal = _equal(types, phase, *phase.args)
            return None if equal is None else replace(equal, results=(Result(phase.results[0], 2, "or"),))
        case _:
            (only,) = phase.args
            equal = _equal(types, phase, only, only)
            if equal is None:
                return None
            body = (*equal.body, AxisNode(0), AxisNode(1), ApplyNode("le", (3, 4), Kind.BOOL))
            body = (*body, ApplyNode("not", (2,), Kind.BOOL), ApplyNode("or", (5, 6), Kind.BOOL))
            return replace(equal, body=body, results=(Result(phase.results[0], 7, "and"),))


def _equal(types: Types, phase: LibraryPhase, arg: ValueId, table: ValueId) -> Structured | None:
    """Whether each item of a vector equals each of another (node 2)."""
    shapes = types.types[arg].shape, types.types[table].shape
    kind = types.kind(arg)
    if frame_of(phase) or any(len(shape) != 1 for shape in shapes) or types.kind(table) is not kind or kind is Kind.CHAR:
        return None
    if not 0 < prod((*types.shape(arg), *types.shape(table))) <= MOST_PAIRS or kind.is_complex:
        return None
    axes = Axis(shapes[0][0], AxisKind.PARALLEL), Axis(shapes[1][0], AxisKind.REDUCE)
    reads = tuple(
        [
            Read(value, Projection((Affine((AffineIndex((Term(axis, 1),), ZERO),), shapes[axis]),)))
            for axis, value in enumerate((arg, table))
        ]
    )
    nodes: tuple[Node, ...] = (ReadNode(0, kind), ReadNode(1, kind), ApplyNode("eq", (0, 1), Kind.BOOL))
    return Structured(phase.id, phase.span, axes, reads, nodes, ())
