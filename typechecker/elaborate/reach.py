"""What the meaning of whoever mentions a name depends on besides texts.

Neighbours: `sites` (keys of what is kept from version to version), `environment` (what names stand for).
"""

from __future__ import annotations

from collections.abc import Iterator

from ..operands import Operand, TupleOperand
from ..sizes import Size, SizeOrigin
from .environment import Entry, Module
from .sites import Reach


def reach_of(entry: Entry) -> Reach:
    """What the meaning of whoever mentions this value depends on."""
    if isinstance(entry, Module):
        return max(map(reach_of, entry.entries.values()), default=Reach.NOTHING)
    if isinstance(entry, TupleOperand):
        return max((reach_of(item) for item in entry.items), default=Reach.CONSTANTS)
    if not isinstance(entry, Operand):
        return Reach.NOTHING
    origins = {v.origin for size in _sizes_of(entry) for v in size.variables()}
    if entry.poisoned:
        return Reach.SIZES
    if not origins:
        return Reach.CONSTANTS
    return Reach.PARAMS if origins == {SizeOrigin.PARAM} else Reach.SIZES


def _sizes_of(x: Operand) -> Iterator[Size]:
    yield from x.type.shape
    for size in (x.type.element.below, x.type.element.most):
        if size is not None:
            yield size
    if isinstance(x.static, Size):
        yield x.static
    elif x.static is not None:
        yield from x.static
