"""`--verify`: the planned run compared with the reference interpreter, value by value.

Integers, bool and text must be equal; floats within a relative tolerance of the largest magnitude in the array, because the
orders of contractions and the methods of linear algebra differ between the two.
"""

from __future__ import annotations

import math
from typing import Any

from ...lang.codes import Code
from ...lang.diagnostics import Diagnostic, RunFailed
from ...lang.source import Source, Span
from .outcome import Outcome, Shown

_TOLERANCE = {"f32": 1e-4, "c64": 1e-4, "f64": 1e-9, "c128": 1e-9}


def compare(planned: Outcome, reference: Outcome, source: Source) -> None:
    """RunFailed with one diagnostic for every value that differs."""
    problems: list[str] = []
    if len(planned.printed) != len(reference.printed):
        problems.append(f"{len(planned.printed)} values were printed, the reference prints {len(reference.printed)}")
    pairs = list(zip(planned.printed, reference.printed, strict=False))
    pairs += [(shown, reference.outputs[name]) for name, shown in planned.outputs.items()]
    for number, (shown, expected) in enumerate(pairs, 1):
        difference = differs(shown, expected)
        if difference:
            problems.append(f"{shown.name or f'printed value {number}'}: {difference}")
    if problems:
        span = Span(source.name, 0, 0)
        raise RunFailed([Diagnostic(Code.BUG, f"the planned run differs from the reference: {text}", span) for text in problems])


def differs(shown: Shown, expected: Shown) -> str:
    """What is different, or nothing."""
    if shown.kind is not expected.kind or shown.shape != expected.shape:
        return f"{shown.kind.value}{list(shown.shape)} instead of {expected.kind.value}{list(expected.shape)}"
    left, right = _flat(shown.data()), _flat(expected.data())
    tolerance = _TOLERANCE.get(shown.kind.value, 0.0)
    finite = [abs(item) for item in right if isinstance(item, int | float) and math.isfinite(item)]
    allowed = tolerance * max(finite, default=0.0)
    for place, (one, other) in enumerate(zip(left, right, strict=True)):
        if one != other and not (isinstance(one, int | float) and isinstance(other, int | float) and abs(one - other) <= allowed):
            return f"item {place} is {one} instead of {other}"
    return ""


def _flat(data: Any) -> list[Any]:
    if not isinstance(data, list):
        return [data]
    return [item for row in data for item in _flat(row)]
