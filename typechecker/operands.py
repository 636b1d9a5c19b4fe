"""What the elaborator knows about a value: its core id, type, and what is static about it."""

from __future__ import annotations

from typing import TypeAlias

from ..lang.records import dataclass
from .core import Payload, ValueId
from .sizes import Size
from .types import ArrayType


@dataclass(frozen=True, slots=True)
class Operand:
    """An array value.

    `static`: its singleton: a size for a scalar (`≢x`, `3`, a `param`), a tuple of sizes for a vector (`⍴x`, `2 3`);
    sizes may be negative here.  `constant`: the literal data in row-major order when it was written in the program or
    folded (any kind; kept only up to 4096 items).  `poisoned`: an error was reported; every rule returns a poisoned
    operand quietly when given one.
    """

    value: ValueId
    type: ArrayType
    static: Size | tuple[Size, ...] | None = None
    constant: tuple[Payload, ...] | None = None
    poisoned: bool = False


@dataclass(frozen=True, slots=True)
class TupleOperand:
    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class EnclosedOperand(TupleOperand):
    """`⊂x`: one item.  Only `⌷` (its left argument: cells), `⊃` and `f¨` (the whole array beside each element) take it."""


Value: TypeAlias = Operand | TupleOperand


def leaves(value: Value) -> tuple[Operand, ...]:
    """The arrays of a value, tuples flattened in order."""
    if isinstance(value, Operand):
        return (value,)
    found: list[Operand] = []
    stack: list[Value] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, TupleOperand):
            stack.extend(reversed(item.items))
        else:
            found.append(item)
    return tuple(found)


def is_poisoned(value: Value | None) -> bool:
    if value is None or isinstance(value, Operand):
        return value is not None and value.poisoned
    return any(x.poisoned for x in leaves(value))
