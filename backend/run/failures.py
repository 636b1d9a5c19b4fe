"""How an operation of any back end says that a run-time check failed, before its span is known.

Operations know the code and the sentence; who runs the nodes of a fused phase adds the span of the node, the executor that of the
phase where there is none, and raises `RunFailed`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...lang.codes import Code

if TYPE_CHECKING:
    from ...lang.source import Span


class CheckFailed(Exception):
    """A run-time check of the program failed: E310 index, E703 value, E403 size, E204 empty reduction, E702 memory."""

    def __init__(self, code: Code, message: str) -> None:
        self.code = code
        self.message = message
        self.span: Span | None = None
        """The part of a fused phase that failed, where it is known."""
        super().__init__(f"{code}: {message}")


def outside(index: int, size: int, shift: object = None) -> CheckFailed:
    """An index outside its axis, or a count of bits of a `shift` of this kind."""
    if shift:
        return CheckFailed(Code.E310, f"a shift of {shift} is by 0 to {size - 1} bits, but this is {shown(index)}")
    return CheckFailed(Code.E310, f"index {shown(index)} (counted from 0) is outside an axis of length {size}")


def shown(value: complex | float | int | bool) -> str:
    """A number in a message as the program would write it: `¯3`, `2.5`, `1E30`, `NaN`, `¯∞`, `3J¯4`; every digit of it."""
    if isinstance(value, complex):
        return f"{shown(value.real)}J{shown(value.imag)}"
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "∞" if value > 0 else "¯∞"
    text = str(int(value)) if isinstance(value, int) else repr(value).removesuffix(".0")
    return text.replace("e+", "E").replace("e", "E").replace("-", "¯")
