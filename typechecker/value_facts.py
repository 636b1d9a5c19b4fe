"""What is known of a value beside its type: one record a value, from the rule that made it.

Neighbours: `builder` keeps them, `rules` write and read them.
"""

from __future__ import annotations

from ..lang.records import dataclass
from ..lang.source import Span
from .operands import Operand
from .sizes import Size


@dataclass(frozen=True, slots=True)
class ValueFacts:
    """`quotients`: the exact fractions behind a division, so that `⌊n÷2` is a size; `digits`: how many a logarithm rounded up
    counts; `negated`: what was negated, so that `(-+/m)↓x` is bounded; `modulus`: of what this is a remainder; `selected`: the
    mask of known data that kept these cells; each position of an axis of
    length `covers` is an item."""

    quotients: tuple[tuple[Size, Size], ...] | None = None
    digits: int | None = None
    negated: Operand | None = None
    modulus: Size | None = None
    selected: Span | None = None
    covers: Size | None = None


NOTHING = ValueFacts()
