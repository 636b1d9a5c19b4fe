"""Scans on a device: CuPy's for sums of whole numbers, which are exact in any order; generated kernels that keep the order else.

Neighbours: `kernels.cuda_scan` (the text), `library`; `cpu.library.sequential` (the definition on NumPy).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from ....typechecker.elements import Kind
from ...graph.registry import frame_of
from ...kernels.cuda_scan import LINES, TILES, scan_text
from ...kernels.cuda_text import THREADS

if TYPE_CHECKING:
    from .library import Call

_MANY: Final = 4096
"""Lines from which each has a thread of its own."""


def scan(call: Call, arrays: Any) -> Any:
    xp, axis, function, kind = call.xp, call.axis() + frame_of(call.phase), call.function(), call.kind()
    arg = xp.ascontiguousarray(arrays[0])
    if not arg.size:
        return arg.copy()
    if function == "add" and kind is Kind.I64:
        return xp.cumsum(arg, axis=axis, dtype=arg.dtype)
    result = xp.empty(arg.shape, arg.dtype)
    length, inner = arg.shape[axis], math.prod(arg.shape[axis + 1 :])
    lines, addresses = arg.size // length, (int(arg.data.ptr), int(result.data.ptr))
    text = scan_text(function, kind)
    if inner > 1 or lines >= _MANY:
        call.modules.launch(text, LINES, -(-lines // THREADS), (lines, length, inner, *addresses))
    else:
        call.modules.launch(text, TILES, lines, (lines, length, *addresses))
    return result
