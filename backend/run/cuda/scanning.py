"""Scans on a device: CuPy's for sums of whole numbers, which are exact in any order; else generated kernels, in the order of
scans.

Neighbours: `loops.card_scans` (the programs), `library`; `cpu.library.sequential` (the definition on NumPy).
"""

from __future__ import annotations

import math
from typing import Any, Final

from ....typechecker.elements import Kind
from ...graph.cells import frame_of
from ...kernels.ir import BLOCK
from ...loops.card_scans import Form, card_scan
from ...loops.cuda import cuda_text
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
    lines, addresses, step = arg.size // length, (int(arg.data.ptr), int(result.data.ptr)), arg.dtype.itemsize
    form = Form.LINES if inner > 1 or lines >= _MANY else Form.BLOCKS if length > BLOCK else Form.BLOCK
    sizes = (lines // inner, length, inner) if form is Form.LINES else (lines, length, -(-length // BLOCK))
    strides = (length * inner * step, inner * step) if form is Form.LINES else (length * step,)
    words = [*sizes[: len(form.value)], *(word for address in addresses for word in (address, *strides))]
    call.modules.run(cuda_text(card_scan(function, kind, form)), words)
    return result
