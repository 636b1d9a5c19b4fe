"""Index of, member of and first occurrence of few items in linked calls: every pair is compared, in one kernel.

Neighbours: `linked_library` (asks), `library.searching` (the same of many).
"""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Final

from ....typechecker.elements import Kind
from ....typechecker.sizes import ZERO
from ...graph.phases import (
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
from ...graph.registry import frame_of
from .linked_values import Values

MOST_PAIRS: Final = 1 << 13


def link_index_of(linker: Values, phase: LibraryPhase) -> bool:
    """The first place of each item in a table, its length if none."""
    table, arg = phase.args
    equal = _equal(linker, phase, arg, table)
    if equal is None:
        return False
    length = equal.axes[1].size
    body: tuple[Node, ...] = (*equal.body, AxisNode(1), SizeNode(length), ApplyNode("select", (2, 3, 4), Kind.I64))
    linker.structured(replace(equal, body=body, results=(Result(phase.results[0], 5, "min"),)), None)
    return True


def link_member_of(linker: Values, phase: LibraryPhase) -> bool:
    """Is each item in a table?"""
    equal = _equal(linker, phase, *phase.args)
    if equal is None:
        return False
    linker.structured(replace(equal, results=(Result(phase.results[0], 2, "or"),)), None)
    return True


def link_first_occurrence(linker: Values, phase: LibraryPhase) -> bool:
    """Is no item before this one equal to it?"""
    (arg,) = phase.args
    equal = _equal(linker, phase, arg, arg)
    if equal is None:
        return False
    body: list[Node] = [*equal.body, AxisNode(0), AxisNode(1), ApplyNode("le", (3, 4), Kind.BOOL)]
    body += [ApplyNode("not", (2,), Kind.BOOL), ApplyNode("or", (5, 6), Kind.BOOL)]
    linker.structured(replace(equal, body=tuple(body), results=(Result(phase.results[0], 7, "and"),)), None)
    return True


def _equal(linker: Values, phase: LibraryPhase, arg: ValueId, table: ValueId) -> Structured | None:
    """Whether each item of a vector equals each of another (node 2); None where they are many, or something else."""
    types = linker.types
    shapes = types.types[arg].shape, types.types[table].shape
    kind = types.kind(arg)
    if frame_of(phase) or any(len(shape) != 1 for shape in shapes) or types.kind(table) is not kind or kind is Kind.CHAR:
        return None
    if not 0 < prod((*types.cap_shape(arg), *types.cap_shape(table))) <= MOST_PAIRS or kind.is_complex:
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
