"""Facts about core blocks that lowering decides by: what they capture, whether they may fail, which sizes they mention.

Neighbours: `control`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields

from ....typechecker import core
from ....typechecker.sizes import Size, SizeVariable
from .elementwise import fails
from .library import op_may_fail

_FIELDS = {op: tuple(f.name for f in fields(op)) for op in core.Op.__args__}
_RESULT_FIELDS = frozenset({"result", "results"})
_VALUE_FIELDS = frozenset({
    "arg", "args", "amount", "indices", "value", "mask", "left", "right", "order", "table", "pattern", "radix", "key", "initial",
    "condition",
})  # fmt: skip
_BLOCK_FIELDS = frozenset({"body", "until", "then", "otherwise"})


def op_results(op: core.Op) -> tuple[core.ValueId, ...]:
    if isinstance(op, (core.RuntimeSize, core.Print)):
        return ()
    many: tuple[core.ValueId, ...] | None = getattr(op, "results", None)
    return many if many is not None else (op.result,)  # type: ignore[union-attr]


def op_operands(op: core.Op) -> tuple[core.ValueId, ...]:
    """The values an op reads itself, in field order."""
    found: list[core.ValueId] = []
    for name in _FIELDS[type(op)]:
        if name in _VALUE_FIELDS:
            value = getattr(op, name)
            if isinstance(value, tuple):
                found.extend(v for v in value if v is not None)
            else:
                found.append(value)
    return tuple(found)


def op_blocks(op: core.Op) -> tuple[core.Block, ...]:
    found = (getattr(op, name) for name in _FIELDS[type(op)] if name in _BLOCK_FIELDS)
    return tuple(block for block in found if block is not None)


def all_ops(ops: Sequence[core.Op]) -> Iterator[core.Op]:
    """Every op, also in nested blocks."""
    pending = list(reversed(ops))
    while pending:
        op = pending.pop()
        yield op
        for block in op_blocks(op):
            pending.extend(reversed(block.ops))


def free_values(ops: Sequence[core.Op], results: Sequence[core.ValueId] = ()) -> tuple[core.ValueId, ...]:
    """Values that the ops (and `results`) mention and that are defined outside them, in order of first mention."""
    inside: set[core.ValueId] = set()
    mentioned: dict[core.ValueId, None] = {}
    for op in all_ops(ops):
        inside.update(op_results(op))
        mentioned.update(dict.fromkeys(op_operands(op)))
        for block in op_blocks(op):
            inside.update(block.params)
            mentioned.update(dict.fromkeys(block.results))
    mentioned.update(dict.fromkeys(results))
    return tuple(v for v in mentioned if v not in inside)


def may_fail(ops: Sequence[core.Op], types: core.Core) -> bool:
    """May any of the ops fail when run?"""
    for op in all_ops(ops):
        if isinstance(op, core.Scalar):
            if fails(op.function, types.types[op.result].element.kind):
                return True
        elif op_may_fail(op):
            return True
    return False


def defined_sizes(op: core.Op) -> tuple[SizeVariable, ...]:
    """The run-time sizes an op itself defines."""
    if isinstance(op, (core.Compress, core.Where, core.RuntimeSize, core.Format)):
        return (op.size,)
    if isinstance(op, core.Branch):
        return tuple(v for v, _, _ in op.sizes)
    return ()


def mentioned_sizes(op: core.Op, types: core.Core) -> frozenset[SizeVariable]:
    """Run-time sizes in the types of an op's results and operands, in its fields, and in its blocks."""
    found: set[SizeVariable] = set()
    for inner in all_ops([op]):
        for value in (*op_results(inner), *op_operands(inner)):
            for size in types.types[value].shape:
                found |= size.variables()
        for size in _own_sizes(inner):
            found |= size.variables()
    return frozenset(found)


def _own_sizes(op: core.Op) -> Iterator[Size]:
    match op:
        case core.SizeVector():
            yield from op.sizes
        case core.Slice():
            yield from op.starts
        case core.Loop():
            yield op.trip
        case core.Lift():
            yield from op.frame
        case core.Branch():
            for _, then, otherwise in op.sizes:
                yield then
                yield otherwise
        case _:
            return


_ELEMENTWISE = (core.Scalar, core.SizeVector, core.Literal, core.Branch)
_CHEAP_ARM_OPS = 24


def selectable(op: core.Branch, types: core.Core) -> bool:
    """Are both arms total, pure and cheap, so that computing both and selecting is the same and costs little?"""
    inner = list(all_ops([op]))
    return (
        len(inner) <= _CHEAP_ARM_OPS
        and all(isinstance(o, _ELEMENTWISE) for o in inner)
        and not any(isinstance(o, core.Branch) and o.sizes for o in inner)
        and not may_fail(inner, types)
        and all(
            types.types[a].shape == types.types[r].shape == types.types[b].shape
            for o in inner
            if isinstance(o, core.Branch)
            for r, a, b in zip(o.results, o.then.results, o.otherwise.results, strict=True)
        )
    )
