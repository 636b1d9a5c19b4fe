"""What an op of the core mentions: its results, its operands, its blocks, and what those read from outside.

Neighbours: `core`, `core_blocks`; `quantities.demand` and `backend.graph.lower` ask.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields

from . import core, core_blocks
from .core import ValueId
from .core_blocks import Block, Op
from .sizes import SizeVariable

OPERANDS = frozenset({
    "arg", "args", "left", "right", "mask", "indices", "value", "amount", "initial",
    "cells", "beside",
    "condition",
})  # fmt: skip


_FIELDS: dict[type[object], tuple[tuple[str, ...], tuple[str, ...]]] = {}


def _fields(op: Op) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the operands and of the results of an op's class."""
    known = _FIELDS.get(type(op))
    if known is None:
        names = [f.name for f in fields(op)]
        known = tuple(n for n in names if n in OPERANDS), tuple(n for n in names if n in ("result", "results"))
        _FIELDS[type(op)] = known
    return known


def _values(op: Op, names: tuple[str, ...]) -> tuple[ValueId, ...]:
    found: list[ValueId] = []
    for name in names:
        value = getattr(op, name)
        found += [item for item in value if item is not None] if isinstance(value, tuple) else [value]
    return tuple(found)


def operands_of(op: Op) -> tuple[ValueId, ...]:
    """The values an op names as operands."""
    return _values(op, _fields(op)[0])


def results_of(op: Op) -> tuple[ValueId, ...]:
    """The values an op makes."""
    return _values(op, _fields(op)[1])


def blocks_of(op: Op) -> tuple[Block, ...]:
    match op:
        case core_blocks.Lift() | core_blocks.Fold() | core_blocks.FoldScan():
            return (op.body,)
        case core_blocks.Loop():
            return (op.body,) if op.until is None else (op.body, op.until)
        case core_blocks.Branch():
            return op.then, op.otherwise
        case _:
            return ()


def all_ops(ops: Sequence[Op]) -> Iterator[Op]:
    """Every op, also in nested blocks."""
    pending = list(reversed(ops))
    while pending:
        op = pending.pop()
        yield op
        for block in blocks_of(op):
            pending.extend(reversed(block.ops))


def defined_sizes(op: Op) -> tuple[SizeVariable, ...]:
    """The run-time sizes an op itself defines; those of blocks in it are theirs."""
    match op:
        case core.Compress() | core.Where() | core.RuntimeSize() | core.Format():
            return (op.size,)
        case core_blocks.Branch():
            return tuple([variable for variable, _, _ in op.sizes])
        case _:
            return ()


def captured(block: Block) -> frozenset[ValueId]:
    """The outer values that a block, or a block in it, reads."""
    own, read = mentioned(block)
    return frozenset(read - own)


def mentioned(block: Block) -> tuple[set[ValueId], set[ValueId]]:
    """The values that a block makes, and those that it reads, with the blocks in it."""
    own: set[ValueId] = set()
    read: set[ValueId] = set()
    pending = [block]
    while pending:
        current = pending.pop()
        own.update(current.params)
        read.update(current.results)
        for op in current.ops:
            own.update(results_of(op))
            read.update(operands_of(op))
            pending += blocks_of(op)
    return own, read
