"""`--verify`: the planned run compared with the reference interpreter, value by value.

Integers, bool and text must be equal; floats within 4 units in the last place of the larger magnitude in the array, because
sums of products may be grouped differently (phases.md compares contractions by k·ε·|A||B|).
"""

from __future__ import annotations

import math
from typing import Any

from ..lang.diagnostics import Diagnostic, RunFailed
from ..lang.source import Source, Span
from .messages import BUG
from .outcome import Outcome, Shown

_TOLERANCE = {"f32": 2.0**-20, "c64": 2.0**-20, "f64": 2.0**-46, "c128": 2.0**-46}


def compare(planned: Outcome, reference: Outcome, source: Source) -> None:
    """RunFailed E700-class diagnostics for every value that differs."""
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
        raise RunFailed([Diagnostic(BUG, f"the planned run differs from the reference: {text}", span) for text in problems])


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
