"""What reductions carry while a CUDA kernel runs: a variable for each part, and how two states become one.

A reduction by a function carries one value.  `least_place` and `greatest_place` carry the best item and its place; the earlier
of equal ones is better, and a number is better than a NaN.  So the result is the same whatever the order, and what loses against
every item has the last place there is.

Neighbours: `cuda_text` (loops around these), `columns` (the same on the CPU).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ...typechecker.elements import Kind
from ...typechecker.scalars import neutral
from ..graph.phases import PLACES
from .cuda_math import TYPES, number
from .cuda_scalars import STORED, Functions, combine
from .ir import Kernel, kind_of

_LAST: Final = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class Part:
    """A variable of a state: `first` is what changes nothing, `item` what an element contributes (an expression)."""

    kind: Kind
    first: str
    item: str

    @property
    def type(self) -> str:
        return TYPES[self.kind]

    @property
    def stored(self) -> str:
        return STORED[self.kind]


@dataclass(frozen=True, slots=True)
class State:
    """One reduction; its result is the last part."""

    function: str
    parts: tuple[Part, ...]

    def absorb(self, functions: Functions, target: Sequence[str], right: Sequence[str]) -> list[str]:
        """Statements: `target` (variables of each part) becomes itself joined with what comes after it."""
        if self.function not in PLACES:
            return [f"{target[0]} = {combine(functions, self.function, self.parts[0].kind, target[0], right[0])};"]
        return self._better(functions, target, right)

    def follow(self, functions: Functions, left: Sequence[str], target: Sequence[str]) -> list[str]:
        """Statements: `target` becomes what comes before it joined with itself."""
        if self.function not in PLACES:
            return [f"{target[0]} = {combine(functions, self.function, self.parts[0].kind, left[0], target[0])};"]
        return self._better(functions, target, left)

    def _better(self, functions: Functions, target: Sequence[str], other: Sequence[str]) -> list[str]:
        functions.need("place")
        name, (value, _) = f"is_{self.function.removesuffix('_place')}", self.parts
        test = f"{name}<{value.type}>({other[0]}, {other[1]}, {target[0]}, {target[1]})"
        return [f"if ({test}) {{ {target[0]} = {other[0]}; {target[1]} = {other[1]}; }}"]


def states(kernel: Kernel) -> tuple[State, ...]:
    """The reductions of a kernel whose last axis is reduced."""
    made = []
    for result in kernel.results:
        function, kind = result.reduction or "", kind_of(kernel, result.node)
        if function in PLACES:
            value = Part(kind, _losing(function, kind), f"v{result.node}")
            made.append(State(function, (value, Part(Kind.I64, number(Kind.I64, _LAST), f"a{kernel.axes - 1}"))))
        else:
            made.append(State(function, (Part(kind, number(kind, neutral(function, kind)), f"v{result.node}"),)))
    return tuple(made)


def _losing(function: str, kind: Kind) -> str:
    if kind.is_float:
        return number(kind, math.nan)
    if kind is Kind.BOOL:
        return number(kind, function == "least_place")
    return number(kind, neutral("min" if function == "least_place" else "max", kind))
