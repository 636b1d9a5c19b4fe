"""Blocks of the core: extending them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...lang.source import Span
from ..core_blocks import Block
from ..operands import Operand
from .context import Context


def extend(ctx: Context, block: Block, results: Callable[[], Sequence[Operand]], span: Span) -> tuple[Block, tuple[Operand, ...]]:
    """The block with more ops at its end and other results."""
    ctx.builder.open_block((), span)
    made = tuple(results())
    tail = ctx.builder.close_block(made)
    return Block(block.params, block.ops + tail.ops, tail.results), made
