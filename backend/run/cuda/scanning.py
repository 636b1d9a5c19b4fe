"""Scans on a device: CuPy's for sums of whole numbers, which are exact in any order; else generated kernels, in the order of
scans.

Neighbours: `kernels.cuda_scan` (the text), `library`; `cpu.library.sequential` (the definition on NumPy).
"""

from __future__ import annotations

import math
from typing import Any, Final

from ....typechecker.elements import Kind
from ...graph.registry import frame_of
from ...kernels.cuda_scan import CARRY, LINES, TILES, TOTALS, scan_text
from ...kernels.cuda_words import THREADS
from ...kernels.ir import BLOCK
from .call import Call

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
        blocks = -(-length // BLOCK)
        before = xp.empty((lines * blocks if blocks > 1 else 0,), arg.dtype)
        place = int(before.data.ptr) if blocks > 1 else 0
        if blocks > 1:
            call.modules.launch(text, TOTALS, lines * blocks, (lines, length, addresses[0], place))
            call.modules.launch(text, CARRY, -(-lines // THREADS), (lines, blocks, place))
        call.modules.launch(text, TILES, lines * blocks, (lines, length, addresses[0], place, addresses[1]))
    return result
