"""Stable grades of vectors through kernels, on the team.

A grade sorts words of key and position (`library.keys`, Note [Stable order]); kernels make the words and look for ties.  Large
vectors are sorted in parts, each by NumPy on a thread of its own, and merged two by two, from both ends at once.

Neighbours: `kernels.sorting` (the text), `library.keys` (the same on NumPy), `library.compiled` (asks).
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ....typechecker.elements import Kind
from ...kernels import policy
from ...kernels.llvm_leaf import is_installed
from ...kernels.sorting import Form, Sorting
from ...kernels.store import address_of
from ..pool import room, trim
from ..team import run_boxes
from .compiled import CALL, vector_bytes
from .kinds import DTYPES, NumArray
from .library.keys import order_columns, repaired

LEAST: Final = 1 << 13
_PARTED: Final = 1 << 17
"""Items from which a sort is cut in parts."""
_MOST_PARTS: Final = 8
_MOST: Final = 1 << 31
_SAVED: Final = 6.0
_KINDS: Final = frozenset({Kind.F64, Kind.F32, Kind.I64, Kind.I32, Kind.U8, Kind.BOOL, Kind.CHAR})


def _is_asked(items: NumArray, kind: Kind) -> bool:
    current = policy.mode()
    if current is policy.Mode.OFF or (len(items) < LEAST and current is not policy.Mode.ALWAYS) or len(items) < 2:
        return False
    return is_installed() and items.dtype == DTYPES[kind] and len(items) < _MOST


def graded(items: NumArray, kind: Kind, descending: bool, threads: int) -> NumArray | None:
    """The stable order of a vector; None where NumPy has to find it."""
    if kind not in _KINDS or items.ndim != 1 or not items.flags.c_contiguous or not _is_asked(items, kind):
        return None
    count, lanes = len(items), vector_bytes() // 8
    codes = [Sorting(form, kind, lanes, descending) for form in (Form.SPAN, Form.WORDS)]
    if not all(policy.is_worth(code, count * _SAVED) for code in codes):
        return None
    span, words_of, alike = (address_of(code) for code in (*codes, Sorting(Form.ALIKE, Kind.I64, lanes)))
    if span is None or words_of is None or alike is None:
        return None
    found = np.empty(3, np.int64)
    _call(span, (count, _address(items), _address(found)), (items, found))
    low, high, bits = found.tolist()
    places = (count - 1).bit_length()
    idle = ((bits & -bits).bit_length() - 1) if bits else 0
    cut = max(0, (high - low).bit_length() - idle + places - 64)
    words: NumArray = room((count,), np.dtype(np.int64))
    each = -(-count // threads)

    def make(start: int, owners: Any = (items, words)) -> None:
        size, sources, targets = min(each, count - start), _address(items) + start * items.itemsize, _address(words) + start * 8
        _call(words_of, (size, sources, start, low, min(63, idle + cut), places, targets), owners)

    run_boxes(range(0, count, each), lambda: make, threads)
    ordered = sort_words(words, threads)
    number = np.zeros(1, np.int64)
    if cut:
        _call(alike, (count, _address(ordered), places, _address(number)), (ordered, number))
    if number[0]:
        del words
        trim()
        return repaired(order_columns(items, descending=descending)[0], ordered.view(np.uint64), low, idle, cut, places)
    ordered &= (1 << places) - 1
    return ordered


def sort_words(words: NumArray, threads: int) -> NumArray:
    """In the order of their bits, perhaps in another array; `words` is overwritten."""
    count, parts = len(words), 1
    while 2 * parts <= min(threads, _MOST_PARTS):
        parts *= 2
    up, down = Sorting(Form.UP, Kind.I64), Sorting(Form.DOWN, Kind.I64)
    calls: tuple[int | None, ...] = (None, None)
    if parts > 1 and count >= _PARTED and policy.is_worth(up, count * 1.0):
        calls = (address_of(up), address_of(down))
    view = words.view(np.uint64)
    if calls[0] is None or calls[1] is None:
        view.sort()
        return words
    bounds = [part * count // parts for part in range(parts + 1)]
    run_boxes(range(parts), lambda: lambda part: view[bounds[part] : bounds[part + 1]].sort(), threads)
    other: NumArray = room(words.shape, words.dtype)
    while parts > 1:
        parts //= 2
        joints = bounds[::2]
        middles = bounds[1::2]
        _merge(calls, words, other, joints, middles, threads)
        words, other, bounds = other, words, joints
    return words


def _merge(
    calls: tuple[int | None, ...], source: NumArray, target: NumArray, joints: Sequence[int], middles: Sequence[int], threads: int
) -> None:
    base, result, bytes = _address(source), _address(target), 8

    def work(task: int, owners: Any = (source, target)) -> None:
        pair, address = task // 2, calls[task % 2]
        assert address is not None
        start, middle, stop = joints[pair], middles[pair], joints[pair + 1]
        words = (base + start * bytes, base + middle * bytes, middle - start, stop - middle, result + start * bytes)
        _call(address, words, owners)

    run_boxes(range(2 * len(middles)), lambda: work, threads)


def _address(array: NumArray) -> int:
    return int(array.__array_interface__["data"][0])


def _call(address: int, words: Sequence[int], owners: Any) -> None:
    """`owners`: the arrays that the words are about, which live until the call is over."""
    block = (ctypes.c_int64 * len(words))(*words)
    CALL(address)(ctypes.addressof(block))
