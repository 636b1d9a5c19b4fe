"""Facts about core blocks that lowering decides by: what they capture, whether they may fail, which sizes they mention.

Neighbours: `control`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from ....typechecker import core, core_blocks
from ....typechecker.core_walk import all_ops, blocks_of, operands_of, results_of
from ....typechecker.scalars import may_fail
from ....typechecker.sizes import Size, SizeVariable
from ..registry import LIBRARY


def op_may_fail(op: core_blocks.Op) -> bool:
    """May this op (not the blocks in it) fail when run?"""
    match op:
        case core.Gather() | core.Update() | core.Expand() | core.KeyReduce():
            return op.checked
        case core.MaskUpdate():
            return True
        case core.Library():
            return LIBRARY[op.name].fails(dict(op.attributes))
        case _:
            return False


class Facts:
    """What ops capture and whether they may fail, each op looked at once (nesting costs no more than length).

    Keyed by identity: the core outlives the lowering."""

    def __init__(self, program: core_blocks.Core) -> None:
        self.program = program
        self._free: dict[int, tuple[core.ValueId, ...]] = {}
        self._fails: dict[int, bool] = {}

    def free_values(self, op: core_blocks.Op) -> tuple[core.ValueId, ...]:
        """Values that the op mentions, also in its blocks, and that are defined outside it, in order of first mention."""
        found = self._free.get(id(op))
        if found is None:
            mentioned = dict.fromkeys(operands_of(op))
            for block in blocks_of(op):
                mentioned.update(dict.fromkeys(self.captured(block)))
            found = self._free[id(op)] = tuple(mentioned)
        return found

    def captured(self, block: core_blocks.Block) -> tuple[core.ValueId, ...]:
        """Values that a block mentions and does not define."""
        return self.free_of(block.ops, block.results, block.params)

    def free_of(self, ops: Sequence[core_blocks.Op], results: Sequence[core.ValueId] = (), params: Sequence[core.ValueId] = ()
                ) -> tuple[core.ValueId, ...]:  # fmt: skip
        inside = set(params)
        mentioned: dict[core.ValueId, None] = {}
        for op in ops:
            mentioned.update(dict.fromkeys(self.free_values(op)))
            inside.update(results_of(op))
        mentioned.update(dict.fromkeys(results))
        return tuple(v for v in mentioned if v not in inside)

    def may_fail(self, op: core_blocks.Op) -> bool:
        """May the op, or one in its blocks, fail when run?"""
        found = self._fails.get(id(op))
        if found is None:
            if isinstance(op, core.Scalar):
                found = may_fail(op.function, self.program.types[op.result].element.kind)
            else:
                found = op_may_fail(op) or any(self.may_fail(o) for block in blocks_of(op) for o in block.ops)
            self._fails[id(op)] = found
        return found


def mentioned_sizes(op: core_blocks.Op, types: core_blocks.Core) -> frozenset[SizeVariable]:
    """Run-time sizes in the types of an op's results and operands, in its fields, and in its blocks."""
    found: set[SizeVariable] = set()
    for inner in all_ops([op]):
        for value in (*results_of(inner), *operands_of(inner)):
            for size in types.types[value].shape:
                found |= size.variables()
        for size in _own_sizes(inner):
            found |= size.variables()
    return frozenset(found)


def _own_sizes(op: core_blocks.Op) -> Iterator[Size]:
    match op:
        case core.SizeVector():
            yield from op.sizes
        case core.Slice():
            yield from op.starts
        case core_blocks.Loop():
            yield op.trip
        case core_blocks.Lift():
            yield from op.frame
        case core_blocks.Branch():
            for _, then, otherwise in op.sizes:
                yield then
                yield otherwise
        case _:
            return


_ELEMENTWISE = (core.Scalar, core.SizeVector, core.Literal, core_blocks.Branch)
_CHEAP_ARM_OPS = 24


def selectable(op: core_blocks.Branch, facts: Facts) -> bool:
    """Are both arms total, pure and cheap, so that computing both and selecting is the same and costs little?"""
    types = facts.program
    inner = list(islice(all_ops([op]), _CHEAP_ARM_OPS + 1))
    return (
        len(inner) <= _CHEAP_ARM_OPS
        and all(isinstance(o, _ELEMENTWISE) for o in inner)
        and not any(isinstance(o, core_blocks.Branch) and o.sizes for o in inner)
        and not facts.may_fail(op)
        and all(
            types.types[a].shape == types.types[r].shape == types.types[b].shape
            for o in inner
            if isinstance(o, core_blocks.Branch)
            for r, a, b in zip(o.results, o.then.results, o.otherwise.results, strict=True)
        )
    )
