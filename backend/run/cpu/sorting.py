"""Stable grades and sorts of vectors through kernels, on the team.

A grade sorts words of key and position (`library.keys`, Note [Stable order]); kernels make the words and look for ties.  Large
vectors are sorted in parts, each by NumPy on a thread of its own, and merged two by two, from both ends at once.

Neighbours: `kernels.sorting` (the text), `library.keys` (the same on NumPy), `library.compiled` (asks).
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np

from ....typechecker.elements import Kind
from ...kernels import policy
from ...kernels.llvm_leaf import is_installed
from ...kernels.sorting import MERGED_KINDS, Form, Sorting
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
    bounds = _parts(len(words), threads)
    calls = _merges(len(words)) if len(bounds) > 2 else None
    view = words.view(np.uint64)
    if calls is None:
        view.sort()
        return words
    run_boxes(range(len(bounds) - 1), lambda: lambda part: view[bounds[part] : bounds[part + 1]].sort(), threads)
    return _merged(calls, words, bounds, threads)


def sorted_in_parts(items: NumArray, kind: Kind, threads: int) -> NumArray | None:
    """The items in order, zeros in any; None where NumPy has to sort them: few, on one thread, or with NaN among them."""
    if kind not in MERGED_KINDS or items.ndim != 1 or not _is_asked(items, kind):
        return None
    bounds = _parts(len(items), threads)
    code = Sorting(Form.ITEMS, kind)
    call = address_of(code) if len(bounds) > 2 and policy.is_worth(code, len(items) * 1.0) else None
    if call is None:
        return None
    made: NumArray = room(items.shape, items.dtype)

    def order(part: int) -> None:
        own = made[bounds[part] : bounds[part + 1]]
        own[...] = items[bounds[part] : bounds[part + 1]]
        own.sort()

    run_boxes(range(len(bounds) - 1), lambda: order, threads)
    if kind.is_float and any(np.isnan(made[stop - 1]) for stop in bounds[1:]):
        return None
    other: NumArray = room(made.shape, made.dtype)
    while len(bounds) > 2:
        tasks = _tasks(made, bounds, max(2, threads // (len(bounds) // 2)))
        _merge_items(call, made, other, tasks, threads)
        made, other, bounds = other, made, bounds[::2]
    return made


def _tasks(runs: NumArray, bounds: Sequence[int], each: int) -> list[tuple[int, int, int, int, int]]:
    """Neighbours to be merged, in `each` pieces a pair: where the part of each run begins and ends, and where the result is."""
    tasks = []
    for start, middle, stop in zip(bounds[:-2:2], bounds[1::2], bounds[2::2], strict=True):
        first, second = runs[start:middle], runs[middle:stop]
        cuts = [_shared(first, second, piece * (stop - start) // each) for piece in range(each)] + [middle - start]
        places = [piece * (stop - start) // each for piece in range(each + 1)]
        for (low, high), (place, end) in zip(pairwise(cuts), pairwise(places), strict=True):
            tasks.append((start + low, start + high, middle + place - low, middle + end - high, start + place))
    return tasks


def _shared(first: NumArray, second: NumArray, count: int) -> int:
    """How many of the least `count` items of two sorted runs are of the first."""
    low, high = max(0, count - len(second)), min(count, len(first))
    while low < high:
        middle = (low + high) // 2
        if first[middle] < second[count - middle - 1]:
            low = middle + 1
        else:
            high = middle
    return low


def _merge_items(
    address: int, source: NumArray, target: NumArray, tasks: Sequence[tuple[int, int, int, int, int]], threads: int
) -> None:
    base, result, bytes = _address(source), _address(target), source.itemsize

    def work(task: tuple[int, int, int, int, int], owners: Any = (source, target)) -> None:
        first, first_end, second, second_end, place = task
        if first == first_end or second == second_end:
            target[place : place + first_end - first + second_end - second] = (
                source[second:second_end] if first == first_end else source[first:first_end]
            )
            return
        words = (base + first * bytes, base + second * bytes, first_end - first, second_end - second, result + place * bytes)
        _call(address, words, owners)

    run_boxes(tasks, lambda: work, threads)


def _parts(count: int, threads: int) -> list[int]:
    """Where parts to be sorted begin, and the end; as many as a power of two."""
    parts = 1
    while count >= _PARTED and 2 * parts <= min(threads, _MOST_PARTS, count):
        parts *= 2
    return [part * count // parts for part in range(parts + 1)]


def _merges(count: int) -> tuple[int, int] | None:
    codes = Sorting(Form.UP, Kind.I64), Sorting(Form.DOWN, Kind.I64)
    if not policy.is_worth(codes[0], count * 1.0):
        return None
    first, second = (address_of(code) for code in codes)
    return None if first is None or second is None else (first, second)


def _merged(calls: tuple[int, int], runs: NumArray, bounds: list[int], threads: int) -> NumArray:
    """Sorted runs as one, perhaps in another array; `runs` is overwritten."""
    other: NumArray = room(runs.shape, runs.dtype)
    while len(bounds) > 2:
        joints = bounds[::2]
        _merge(calls, runs, other, joints, bounds[1::2], threads)
        runs, other, bounds = other, runs, joints
    return runs


def _merge(
    calls: tuple[int, int], source: NumArray, target: NumArray, joints: Sequence[int], middles: Sequence[int], threads: int
) -> None:
    base, result, bytes = _address(source), _address(target), source.itemsize

    def work(task: int, owners: Any = (source, target)) -> None:
        pair, address = task // 2, calls[task % 2]
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
