"""Scans, compress and where in linked calls: their kernels, in one piece.

What a mask selects is counted first, so that its result has the right size.

Neighbours: `linked_library` (asks), `kernels.scanning`, `kernels.selecting` and `kernels.counting` (what the words mean).
"""

from __future__ import annotations

from math import prod
from typing import Final

import numpy as np

from ....typechecker.elements import Kind
from ....typechecker.scalars import neutral
from ...graph.phases import LibraryPhase, ValueId
from ...graph.registry import frame_of
from ...kernels.build import KINDS
from ...kernels.counting import Counting
from ...kernels.llvm_leaf import has_feature, vector_bytes
from ...kernels.scan_words import RUN
from ...kernels.scan_words import Form as ScanForm
from ...kernels.scanning import Scan
from ...kernels.selecting import WIDTHS, Select
from ...kernels.selecting import Form as SelectForm
from ...scalar.table import REDUCTIONS
from ..native.words import Operation
from .drafting import Refused, Verdict
from .kinds import DTYPES, NumArray
from .launching import Base, Block, words_of
from .linked_values import Values
from .space import common_stride

MOST: Final = 1 << 18
"""Items up to which one piece on one thread is as good as any."""
_NANOSECONDS: Final = 0.7
"""An item."""


def link_scan(linker: Values, phase: LibraryPhase) -> bool:
    """A scan of the lines of the last axis."""
    (source,), (value,) = phase.args, phase.results
    arg, kind, function, axis = (
        linker.examples[source],
        linker.types.kind(value),
        phase.attributes["function"],
        phase.attributes["axis"],
    )
    assert isinstance(axis, int)
    assert isinstance(function, str)
    if frame_of(phase) or axis != arg.ndim - 1 or not 0 < arg.size <= MOST or arg.dtype != DTYPES[kind]:
        return False
    step = common_stride(arg.shape[:-1], arg.strides[:-1])
    if step is None or kind not in KINDS or kind is Kind.CHAR or function not in REDUCTIONS:
        return False
    lanes = min(RUN, vector_bytes() // kind.bytes)
    address = linker.code(Scan(function, kind, ScanForm.LINES, lanes, arg.strides[-1] == kind.bytes))
    result, carry = (
        linker.make(arg.shape, DTYPES[kind]),
        linker.workspace((function, kind), np.full(2, neutral(function, kind), DTYPES[kind])),
    )
    words = [prod(arg.shape[:-1]), arg.shape[-1], 0, step, arg.strides[-1], 0, arg.shape[-1] * kind.bytes, carry]
    end = linker.unless_none(arg.size)
    _launch(linker, address, words, {2: linker.base(arg, source, None), 5: (result, 0)}, arg.size, result)
    linker.steps.append((Operation.LABEL, end))
    linker.settle(value, result)
    return True


def link_compress(linker: Values, phase: LibraryPhase) -> bool:
    """What a mask holds along an axis."""
    (mask_value, source), (value,), axis = phase.args, phase.results, phase.attributes["axis"]
    mask, arg = linker.examples[mask_value].reshape(-1), linker.examples[source]
    assert isinstance(axis, int)
    if not arg.ndim or len(mask) != arg.shape[axis] or not 0 < arg.size <= MOST or linker.types.kind(source) is Kind.CHAR:
        return False
    items, tables, bytes = len(mask), prod(arg.shape[:axis]), arg.itemsize * prod(arg.shape[axis + 1 :])
    table = common_stride(arg.shape[:axis], arg.strides[:axis])
    packed = common_stride(arg.shape[axis + 1 :], arg.strides[axis + 1 :])
    if table is None or (bytes != arg.itemsize and packed != arg.itemsize) or not _is_mask(linker, mask_value, mask):
        return False
    step = arg.strides[axis]
    code = Select(SelectForm.COPY, bytes, step == bytes, has_feature("avx512vl")) if bytes in WIDTHS else Select(SelectForm.CELLS)
    address, at = linker.code(code), linker.base(mask, mask_value, None)
    _count(linker, phase, at, items)
    result = linker.make(linker.types.shape(value), arg.dtype)
    due = linker.types.shape(value)[axis] * tables
    words = [tables, items, 0, 0, 0, table, step, 0, due, bytes]
    _launch(linker, address, words, {2: at, 4: linker.base(arg, source, None), 7: (result, 0)}, arg.size, result)
    linker.settle(value, result)
    return True


def link_where(linker: Values, phase: LibraryPhase) -> bool:
    """Where a mask holds."""
    (mask_value,), (value,) = phase.args, phase.results
    mask = linker.examples[mask_value]
    if mask.ndim not in (1, 2) or not 0 < mask.size <= MOST or not _is_mask(linker, mask_value, mask):
        return False
    pairs = mask.ndim == 2
    address = linker.code(Select(SelectForm.PAIRS) if pairs else Select(SelectForm.PLACES, packs=has_feature("avx512vl")))
    at = linker.base(mask, mask_value, None)
    _count(linker, phase, at, mask.size)
    shape = linker.types.shape(value)
    result = linker.make(shape, DTYPES[Kind.I64])
    words = [*((mask.shape[0], mask.shape[1], 0, mask.shape[1]) if pairs else (1, len(mask), 0, 0)), 0, 0, 0, 0, shape[0], 0]
    _launch(linker, address, words, {2: at, 7: (result, 0)}, mask.size, result)
    linker.settle(value, result)
    return True


def _is_mask(linker: Values, value: ValueId, mask: NumArray) -> bool:
    return mask.dtype == np.bool_ and mask.flags.c_contiguous and np.may_share_memory(mask, linker.examples[value])


def _count(linker: Values, phase: LibraryPhase, mask: Base, items: int) -> None:
    """The size that the phase finds; in one base, however often it is found."""
    found = linker.found.get(phase.defines[0])
    number, place = linker.new(None) if found is None else found, linker.new(None)
    linker.steps.append((Operation.ADDRESS, place, number))
    _launch(linker, linker.code(Counting()), [items, 0, 0], {1: mask, 2: (place, 0)}, items, place)
    linker.define(phase.defines[0], number)


def _launch(linker: Values, address: int, words: list[int], bases: dict[int, Base], items: int, result: int) -> None:
    duration = items * _NANOSECONDS
    linker.work(duration)
    launch = words_of(address, [Block(words, list(bases.items()))], 0, duration)
    if launch is None:
        raise Refused(Verdict.NEVER)
    linker.launch(launch, [result])
