"""How an operation of any back end says that a run-time check failed, before its span is known.

Operations know the code and the sentence; who runs the nodes of a fused phase adds the span of the node, the executor that of the
phase where there is none, and raises `RunFailed`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ...lang.codes import Code
from ...lang.diagnostics import Diagnostic, Label, RunFailed
from ...typechecker.core import Indexing
from ..graph.phases import Fold, Loop, Map

if TYPE_CHECKING:
    from ...lang.source import Span

_CHECKS: Final = frozenset({Code.E140, Code.E204, Code.E310, Code.E403, Code.E701, Code.E703})
"""What fails for the values at hand, and so in one iteration of a loop."""


NOTHING: Final[Mapping[int, int]] = {}


class CheckFailed(Exception):
    """A run-time check of the program failed: E310 index, E703 value, E403 size, E204 empty reduction, E702 memory."""

    def __init__(self, code: Code, message: str) -> None:
        self.code = code
        self.message = message
        self.span: Span | None = None
        """The part of a fused phase that failed, where it is known."""
        self.labels: tuple[Label, ...] = ()
        super().__init__(f"{code}: {message}")

    def at(self, span: Span) -> RunFailed:
        """The error of a program; `span`: of the phase."""
        return RunFailed([Diagnostic(self.code, self.message, self.span or span, labels=self.labels)])


def iteration_of(phase: Loop | Fold | Map, number: int) -> Label | None:
    """Where in a loop something failed; None of a map over several axes."""
    if isinstance(phase, Map) and len(phase.frame) > 1:
        return None
    what = "in iteration" if isinstance(phase, Loop) else "in cell" if isinstance(phase, Map) else "at item"
    return Label(phase.span, f"{what} {number:,} (counted from 0)")


def locate(error: BaseException, label: Label | None) -> None:
    """Let an error say in which iteration of a loop a check failed; others stay as they are."""
    if label is None:
        return
    if isinstance(error, CheckFailed):
        error.labels = (*error.labels, label)
    elif isinstance(error, RunFailed):
        error.diagnostics = tuple(
            [replace(d, labels=(*d.labels, label)) if d.code in _CHECKS else d for d in error.diagnostics]
        )


def outside(index: int, size: int, shift: object = None, place: Indexing | None = None, beside: Mapping[int, int] = NOTHING
            ) -> CheckFailed:  # fmt: skip
    """An index outside its axis, or a count of bits of a `shift` of this kind; `place`: how the program writes it;
    `beside`: the indices of other axes, of one item."""
    if shift:
        return CheckFailed(Code.E310, f"a shift of {shift} is by 0 to {size - 1} bits, but this is {shown(index)}")
    place = place or Indexing(0, 1, 0)
    where, origin = "", place.origin
    if place.rank > 1:
        every = {**beside, place.axis: index}
        where = f": [{';'.join(shown(every[axis] + origin) if axis in every else '' for axis in range(place.rank))}]"
    message = f"index {shown(index + origin)} (counted from {origin}) is outside an axis of length {size}{where}"
    failure = CheckFailed(Code.E310, message)
    failure.span = place.span
    return failure


def shown(value: complex | float | int | bool) -> str:
    """A number in a message as the program would write it: `¯3`, `2.5`, `1E30`, `NaN`, `¯∞`, `3J¯4`; every digit of it."""
    if isinstance(value, complex):
        return f"{shown(value.real)}J{shown(value.imag)}"
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "∞" if value > 0 else "¯∞"
    text = str(int(value)) if isinstance(value, int) else repr(value).removesuffix(".0")
    return text.replace("e+", "E").replace("e", "E").replace("-", "¯")
