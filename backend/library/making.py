"""Random numbers and text.

Neighbours: `run.philox`, `run.cpu.uniforms` (the generator), `run.text` (how values read).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from ...typechecker.elements import Kind
from ..run.cpu.kinds import DTYPES, NumArray
from ..run.cpu.uniforms import fill
from ..run.philox import fill_uniform
from ..run.text import fixed_items, format_items
from ..run.text_reading import date_in, number_in
from .frames import Arrays, Call, Operation, cell_by_cell, whole
from .masking import define

_FEW: Final = 1 << 12


def random(call: Call, key: NumArray) -> NumArray:
    """Uniform f64 from an integer key or a pair."""
    words = [*key.reshape(-1).tolist(), 0]
    result = np.empty(call.shape())
    numbers = result.reshape(-1)
    if len(numbers) < _FEW:
        fill_uniform(numbers, int(words[0]), int(words[1]))
    else:
        fill(numbers, int(words[0]), int(words[1]), call.threads)
    return result


def format(call: Call, arrays: Arrays) -> NumArray:
    """The text of a value as it would print; defines the length of its rows."""
    arg, kind = arrays[0], call.operand_kind(0)
    if kind is Kind.CHAR:
        result = arg.reshape(arg.shape or (1,)).copy()
    else:
        digits = call.phase.attributes.get("digits")
        if isinstance(digits, int):
            characters, shape = fixed_items(kind, arg.reshape(-1).tolist(), arg.shape, digits)
        else:
            characters, shape = format_items(kind, arg.reshape(-1).tolist(), arg.shape)
        result = np.frombuffer(characters.encode("utf-32-le"), np.dtype("<u4")).astype(np.uint32).reshape(shape)
    define(call, result.shape[-1])
    return result


def _reader(read: Callable[[str], float | int]) -> Callable[[Call, Arrays], NumArray]:
    """What each row of text says."""

    def function(call: Call, arrays: Arrays) -> NumArray:
        (codes,) = arrays
        rows = np.ascontiguousarray(codes).view(f"<U{codes.shape[-1]}") if codes.shape[-1] else np.full(codes.shape[:-1], "")
        known = {text: read(text) for text in set(rows.reshape(-1).tolist())}
        dtype = DTYPES[call.kind()]
        return np.array([known[text] for text in rows.reshape(-1).tolist()], dtype).reshape(codes.shape[:-1])

    return function


MAKING: Final[dict[str, Operation]] = {
    "random": cell_by_cell(random), "format": whole(format), "number": whole(_reader(number_in)), "date": whole(_reader(date_in)),
}  # fmt: skip
