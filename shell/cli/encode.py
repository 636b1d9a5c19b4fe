"""Values as JSON (ux.md): nested lists, complex as `[re, im]`, text as rows, NaN and infinities as strings."""

from __future__ import annotations

import math
from typing import Any


def plain_data(nested: Any) -> Any:
    """Nested lists of Python numbers and texts, made fit for JSON.  Lists that need no change are returned as they are."""
    if isinstance(nested, list):
        if nested and not isinstance(nested[0], list | complex | float):
            return nested
        return [plain_data(item) for item in nested]
    if isinstance(nested, complex):
        return [plain_data(nested.real), plain_data(nested.imag)]
    if isinstance(nested, float) and not math.isfinite(nested):
        return "nan" if nested != nested else "inf" if nested > 0 else "-inf"
    return nested
