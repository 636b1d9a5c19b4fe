"""Outputs as JSON, block by block: `{"elem", "shape", "data"}` with nested lists.

Complex numbers are `[re, im]`, NaN and infinities text, the last axis of text a string.  Neighbours: `writing`, `blocks`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from ....typechecker.elements import Kind
from .blocks import ITEMS, characters_of

_SPELLED: Final = (Kind.F32, Kind.F64, Kind.C64, Kind.C128)
"""Whose items JSON has not, or not all."""


def texts(kind: Kind, values: Any) -> Iterator[str]:
    """The whole text; `values` is a NumPy array of the kind."""
    yield f'{{"elem": "{kind.value}", "shape": {json.dumps(list(values.shape))}, "data": '
    yield from _nested(kind, values) if values.ndim else (_text(kind, values),)
    yield "}\n"


def _nested(kind: Kind, values: Any) -> Iterator[str]:
    """A list of lists; the last axis of text is a string."""
    opening, comma, closing = ('"', "", '"') if kind is Kind.CHAR and values.ndim == 1 else ("[", ", ", "]")
    rows = max(1, ITEMS // max(1, values[:1].size))
    yield opening
    for start in range(0, len(values), rows):
        part = values[start : start + rows]
        if start:
            yield comma
        if part.size > ITEMS:
            yield from _nested(kind, part[0])
        else:
            yield _text(kind, part)[1:-1]
    yield closing


def _text(kind: Kind, values: Any) -> str:
    if kind is Kind.CHAR:
        return json.dumps(_strings(values), ensure_ascii=False)
    items = values.tolist()
    return json.dumps(items if kind not in _SPELLED or (not kind.is_complex and np.isfinite(values).all()) else _spelled(items))


def _strings(values: Any) -> Any:
    return characters_of(values.reshape(-1)) if values.ndim < 2 else [_strings(row) for row in values]


def _spelled(item: Any) -> Any:
    if isinstance(item, list):
        return [_spelled(one) for one in item]
    if isinstance(item, complex):
        return [_spelled(item.real), _spelled(item.imag)]
    if isinstance(item, float) and not math.isfinite(item):
        return "nan" if math.isnan(item) else "inf" if item > 0 else "-inf"
    return item
