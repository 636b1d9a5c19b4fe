"""Functions that calls share: a body too large to be inlined becomes a program of its own, which each call invokes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from ..sizes.polynomials import Size, SizeVariable
from .builder import Builder
from .operations import (
    Block,
    Core,
    CoreCall,
    CoreFunction,
    CoreInput,
    CoreLoop,
    CoreOutput,
    Op,
    ValueId,
    all_ops,
    defined_and_read,
    defined_sizes,
    field_sizes,
)

MOST_INLINED = 1_000
"""The most ops of a body that calls inline, so that they fuse with those around the call."""


def shared(
    builder: Builder, name: str, arguments: Sequence[ValueId], ops: tuple[Op, ...], results: Sequence[ValueId],
    calls: Sequence[CoreCall],
) -> CoreFunction | None:  # fmt: skip
    """The function of a body; None if calls inline it: it is small, or its results have sizes that it defines.

    Values that the body captures are further parameters."""
    if len(list(islice(all_ops(ops), MOST_INLINED + 1))) <= MOST_INLINED:
        return None
    defined, read = defined_and_read(Block(tuple(arguments), ops, tuple(results)))
    parameters = (*arguments, *sorted(read - defined))
    types = {value: builder.types[value] for value in (*parameters, *defined)}
    spans = {value: builder.spans[value] for value in types}
    inside = {size for op in all_ops(ops) for size in defined_sizes(op)}
    inside.update(op.index for op in all_ops(ops) if isinstance(op, CoreLoop) and op.index is not None)
    mentioned = [*_sizes_of(builder, types), *[size for op in all_ops(ops) for size in field_sizes(op)]]
    if not inside.isdisjoint(_variables(_sizes_of(builder, results))):
        return None
    core = Core(
        Block((), ops, ()),
        tuple([CoreInput(f"p{at}", value, None, spans[value]) for at, value in enumerate(parameters)]), (),
        tuple([CoreOutput(f"r{at}", value, spans[value]) for at, value in enumerate(results)]), (),
        types, spans, {}, (), (), tuple(calls),
    )  # fmt: skip
    return CoreFunction(name, core, tuple(sorted(_variables(mentioned) - inside, key=lambda size: size.key)))


def _sizes_of(builder: Builder, values: Iterable[ValueId]) -> Iterator[Size]:
    """The sizes in the types of values."""
    for value in values:
        type = builder.types[value]
        yield from type.shape
        for size in (type.element.index_bound, type.element.symbolic_max):
            if size is not None:
                yield size


def _variables(sizes: Iterable[Size]) -> set[SizeVariable]:
    """The variables of sizes, and of the caps of these."""
    variables: set[SizeVariable] = set()
    pending = {size.key: size for size in sizes}
    while pending:
        new = pending.popitem()[1].variables() - variables
        variables |= new
        pending |= {size.cap.key: size.cap for size in new if size.cap is not None}
    return variables
