"""A function tried on symbolic arguments as a program of its own: its arguments, and what it captures, are the inputs.

Neighbours: `sampling` (tries functions), `backend.graph` (costs of programs).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..builder import Builder
from ..core_blocks import Block, Core, CoreInput, CoreOutput
from ..core_walk import mentioned
from ..operands import Operand


def program_of(builder: Builder, arguments: Sequence[Operand], block: Block) -> Core:
    """The block as a program; it stays whole when the builder drops the block."""
    own, read = mentioned(block)
    given = dict.fromkeys([*(x.value for x in arguments), *sorted(read - own)])
    values = own | read | set(given)
    spans = {value: builder.spans[value] for value in values}
    inputs = tuple([CoreInput(f"argument {at + 1}", value, None, spans[value]) for at, value in enumerate(given)])
    outputs = tuple([CoreOutput(f"result {at + 1}", value, spans[value]) for at, value in enumerate(block.results)])
    types = {value: builder.types[value] for value in values}
    return Core(Block((), block.ops, ()), inputs, (), outputs, (), types, spans, {}, (), ())
