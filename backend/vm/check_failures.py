"""Failures of run-time checks: the exception by which an operation of any back end reports one before its span is known, and the
diagnostic label of the loop iteration in which it happened.

An operation knows the error code and the message.  The interpreter of a fused phase adds the span of the failing node; where
there is none, the executor adds the span of the phase.  The executor then raises `RunFailed`.  Nothing here needs NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from ...lang.diagnostics.model import Code, Diagnostic, Label, RunFailed
from ...lang.support.records import replace
from ...typechecker.core.operations import Indexing
from ..graph.phases import Fold, Loop, Map

if TYPE_CHECKING:
    from ...lang.syntax.source import Span

DATA_DEPENDENT_CHECKS: Final = frozenset({Code.E140, Code.E204, Code.E310, Code.E403, Code.E701, Code.E703})
"""Checks that depend on values, so that their messages name the iteration of the loop in which they failed."""


NO_FIXED_INDICES: Final[Mapping[int, int]] = {}


class CheckFailed(Exception):
    """A run-time check of the program failed: E310 index, E703 value, E403 size, E204 empty reduction, E702 memory."""

    def __init__(self, code: Code, message: str) -> None:
        self.code = code
        self.message = message
        self.span: Span | None = None
        """The span of the node of a fused phase that failed, if it is known."""
        self.labels: tuple[Label, ...] = ()
        super().__init__(f"{code}: {message}")

    def at(self, span: Span) -> RunFailed:
        """The error to raise; `span`: that of the phase, used if the failing node has none."""
        return RunFailed([Diagnostic(self.code, self.message, self.span or span, labels=self.labels)])


def iteration_label(phase: Loop | Fold | Map, number: int) -> Label | None:
    """The diagnostic label that names iteration `number` of a loop; None for a map over several axes."""
    if isinstance(phase, Map) and len(phase.frame) > 1:
        return None
    what = "in iteration" if isinstance(phase, Loop) else "in cell" if isinstance(phase, Map) else "at item"
    return Label(phase.span, f"{what} {number:,} (counted from 0)")


def add_iteration(error: BaseException, label: Label | None) -> None:
    """Adds `label` to the error of a check that depends on values; leaves other errors unchanged."""
    if label is None:
        return
    if isinstance(error, CheckFailed):
        error.labels = (*error.labels, label)
    elif isinstance(error, RunFailed):
        error.diagnostics = tuple(
            [replace(d, labels=(*d.labels, label)) if d.code in DATA_DEPENDENT_CHECKS else d for d in error.diagnostics]
        )


def index_out_of_range(
    index: int, size: int, shift: object = None, indexing: Indexing | None = None,
    fixed: Mapping[int, int] = NO_FIXED_INDICES,
) -> CheckFailed:  # fmt: skip
    """E310 for an index outside its axis of `size` items, or for a bit count out of range if `shift` is the kind of a shift.

    `indexing`: how the program writes the index; `fixed`: the indices of the other axes, if they are single numbers."""
    if shift:
        return CheckFailed(Code.E310, f"a shift of {shift} is by 0 to {size - 1} bits, but this is {rho_number(index)}")
    indexing = indexing or Indexing(0, 1, 0)
    where, origin = "", indexing.origin
    if indexing.rank > 1:
        every = {**fixed, indexing.axis: index}
        where = f": [{';'.join(rho_number(every[axis] + origin) if axis in every else '' for axis in range(indexing.rank))}]"
    message = f"index {rho_number(index + origin)} (counted from {origin}) is outside an axis of length {size}{where}"
    failure = CheckFailed(Code.E310, message)
    failure.span = indexing.span
    return failure


def rho_number(value: complex | float | int | bool) -> str:
    """A number in Rho's notation with all its digits, for messages: `¯3`, `2.5`, `1E30`, `NaN`, `¯∞`, `3J¯4`."""
    if isinstance(value, complex):
        return f"{rho_number(value.real)}J{rho_number(value.imag)}"
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "∞" if value > 0 else "¯∞"
    text = str(int(value)) if isinstance(value, int) else repr(value).removesuffix(".0")
    return text.replace("e+", "E").replace("e", "E").replace("-", "¯")
