"""Blocks of the core: making them from values, extending them, what they define."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...lang.source import Span
from ..core import Compress, Format, RuntimeSize, Where
from ..core_blocks import Block, Branch, Op
from ..operands import Operand
from ..sizes import SizeVariable
from .context import Context


def defined_sizes(ops: Sequence[Op]) -> frozenset[SizeVariable]:
    """Run-time sizes that these very ops define (nested blocks keep theirs to themselves)."""
    found: set[SizeVariable] = set()
    for op in ops:
        match op:
            case Compress() | Where() | RuntimeSize() | Format():
                found.add(op.size)
            case Branch():
                found.update([variable for variable, _, _ in op.sizes])
            case _:
                pass
    return frozenset(found)


def extend(ctx: Context, block: Block, results: Callable[[], Sequence[Operand]], span: Span) -> tuple[Block, tuple[Operand, ...]]:
    """The block with more ops at its end and other results."""
    ctx.builder.open_block((), span)
    made = tuple(results())
    tail = ctx.builder.close_block(made)
    return Block(block.params, block.ops + tail.ops, tail.results), made
