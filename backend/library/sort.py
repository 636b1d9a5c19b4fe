"""Sorts and grades of vectors and of rows, and partial sorts: items in the order of their stable grade, in the result's memory.

NumPy's sort and selection are not stable.  That matters only for equal items with different bits, zeros of both signs and NaNs,
which are put back in their original order.  NaN comes last, in ascending and descending order.
"""

from __future__ import annotations

import ctypes
import math
import platform
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import chain, pairwise
from typing import Any, Final, TypeAlias

import numpy as np

from ...lang.support.records import dataclass
from ...typechecker.elements import Kind
from ..cpu.numpy_reductions import order_columns
from ..cpu.parallel_for import (
    ArgumentBlock,
    BufferRef,
    TaskLaunch,
    address_if_worthwhile,
    may_launch,
    parallel_for,
    run_tasks,
)
from ..cpu.views import DTYPES, NumArray, model_array
from ..graph.phases import LibraryPhase, frame_of, needed_positions
from ..graph.scratch import SORT_BLOCK
from ..jit import tiering
from ..jit.compiler import LruCache, MachineCode, address_of, vector_bytes
from ..vm.run_state import pooled_empty, reshaped, trim
from ..vm.runtime import numpy_functions, routine_address
from ..vm.specialization import NotSpecializable, Specialization
from .hash import (
    COUNTED,
    UNBOUNDED,
    Bounds,
    ValueRange,
    counted_order,
    counted_sort,
    counting_range,
    first_positions,
    inverse_permutation,
    is_ordered,
    lexicographic_keys,
    row_columns,
    stable_order,
)
from .operation import Arrays, Function, Operation, OperationCall, cell_by_cell, checked
from .sort_codegen import (
    HEAD,
    ITEMS_PLACE,
    MOST_PARTS,
    NOTES_PLACE,
    SORTED_KINDS,
    TARGET_PLACE,
    TOGETHER,
    Dealing,
    MergingRuns,
    Moves,
    SortForm,
    Sorting,
    SortStage,
)

# ---------------------------------------------------------------------------------------------------- sorting

Window: TypeAlias = "tuple[int, int]"

_LEAST: Final = 1 << 8
"""The least items for which a part is selected; fewer items are sorted completely."""
_ROWS: Final = 1 << 15
"""Items per task that sorts rows."""


def selects(length: int, wanted: Window | None) -> bool:
    """Returns whether a part of `length` items is selected rather than cut from a full sort Reversing a part copies it."""
    return wanted is not None and length >= _LEAST and wanted[1] - wanted[0] <= SORT_BLOCK


def sorted_items(value: NumArray, *, descending: bool, wanted: Window | None = None) -> NumArray:
    """Returns the items of a vector in the order of its stable grade; items outside `wanted` are arbitrary.

    Complex numbers need the memory of a grade.
    """
    if value.dtype.kind == "c":
        trim()
        keys = lexicographic_keys(order_columns(value, descending=descending), len(value))
        return np.asarray(value[stable_order(keys)])
    result: NumArray = pooled_empty(value.shape, value.dtype)
    values = counting_range(value) if value.itemsize == 1 else None  # NumPy sorts wider items as fast as they are counted
    if values is not None:
        _put_in_order(result, _counts(value, values), values.least, descending=descending)
        return result
    result[...] = value
    if wanted is None or not selects(len(result), wanted) or not _select(value, result, wanted, descending=descending):
        result.sort()
        settle(value, result, descending=descending)
    return result


def sorted_rows(rows: NumArray, *, descending: bool, wanted: Window | None, threads: int) -> NumArray:
    """As `sorted_items` for each row of a matrix, on several threads."""
    result: NumArray = pooled_empty(rows.shape, rows.dtype)
    length = rows.shape[1]
    piece = max(1, _ROWS // max(1, length))

    def work(start: int) -> None:
        source, part = rows[start : start + piece], result[start : start + piece]
        if selects(length, wanted) or piece == 1:
            for items, row in zip(source, part, strict=True):
                row[...] = sorted_items(items, descending=descending, wanted=wanted)
            return
        part[...] = source
        part.sort(axis=1)
        odd = _odd_rows(source, part) if part.dtype.kind == "f" and length else ()
        if descending:
            low, high = part[:, : length // 2], part[:, length - length // 2 :]
            saved = low.copy()
            low[...] = high[:, ::-1]
            high[...] = saved[:, ::-1]
        if len(odd):
            keys = order_columns(source[odd], descending=descending)[0]
            part[odd] = np.take_along_axis(source[odd], np.argsort(keys, axis=1, kind="stable"), 1)

    parallel_for(range(0, len(rows), piece), lambda: work, threads if rows.size > _ROWS else 1)
    return result


def _odd_rows(source: NumArray, ordered: NumArray) -> NumArray:
    """Returns the rows with items that are equal but differ in their bits (negative zeros, NaN), which a sort may reorder."""
    least, greatest = ordered[:, 0], ordered[:, -1]
    odd = np.isnan(greatest)
    with_zeros = (least <= 0) & (greatest >= 0)
    if with_zeros.any():
        rows = source[with_zeros]
        odd[with_zeros] = (np.signbit(rows) & (rows == 0)).any(axis=1)
    return np.flatnonzero(odd)


def partial_grade(value: NumArray, wanted: Window, *, descending: bool) -> NumArray | None:
    """Returns the stable grade of a vector of which only a part is wanted; None if a full grade is not slower."""
    if value.ndim != 1 or value.dtype.kind == "c" or not selects(len(value), wanted):
        return None
    first, end = _ascending(len(value), wanted, descending=descending)
    partitioned = value.copy()
    _partition(partitioned, first, end)
    low, high = partitioned[first:end].min(), partitioned[first:end].max()
    if high != high or (descending and partitioned[end - 1 :].max() != partitioned[end - 1 :].max()):
        return None  # NaN
    del partitioned
    inside = value >= low
    inside &= value <= high
    places = np.flatnonzero(inside)
    if 2 * len(places) > len(value):
        return None  # most items are equal
    before = np.count_nonzero(value > high) if descending else np.count_nonzero(value < low)
    order = stable_order(order_columns(value[places], descending=descending)[0])
    selected = places[order[wanted[0] - before : wanted[1] - before]]
    if len(selected) == 1:
        return np.broadcast_to(selected, value.shape)
    result = np.zeros(len(value), np.int64)
    result[wanted[0] : wanted[1]] = selected
    return result


def _ascending(count: int, wanted: Window, *, descending: bool) -> Window:
    """Returns positions of the part in ascending order of items without NaN."""
    return (count - wanted[1], count - wanted[0]) if descending else wanted


def _partition(items: NumArray, first: int, end: int) -> None:
    """Partitions in place: smaller items before the part, greater ones after it.  NumPy is fast for a single pivot position."""
    count = len(items)
    if end > count - first:
        items.partition(first)
        if end < count and end > first + 1:
            items[first:].partition(end - 1 - first)
        return
    items.partition(end - 1)
    if 0 < first < end - 1:
        items[:end].partition(first)


def _select(value: NumArray, result: NumArray, wanted: Window, *, descending: bool) -> bool:
    """Selects the wanted part of the sorted items into its positions in `result`; returns False if a NaN prevents it."""
    count = len(result)
    first, end = _ascending(count, wanted, descending=descending)
    _partition(result, first, end)
    part = result[first:end]
    part.sort()
    if value.dtype.kind == "f":
        last = result[end - 1 :].max() if descending else part[-1]
        if last != last:
            result[...] = value
            return False
        if part[0] <= 0 <= part[-1]:
            low, high = (first + int(np.searchsorted(part, 0, side)) for side in ("left", "right"))
            start = low - _count(value, np.less)
            if descending:
                start = count - high - _count(value, np.greater)
            zeros = _taken(value, start, high - low)
            part[low - first : high - first] = zeros[::-1] if descending else zeros
    if descending:
        result[wanted[0] : wanted[1]] = part[::-1].copy()
    return True


def _count(value: NumArray, compare: np.ufunc) -> int:
    """Returns how many items are less (or greater, by `compare`) than 0."""
    return sum(int(np.count_nonzero(compare(value[at : at + SORT_BLOCK], 0))) for at in range(0, len(value), SORT_BLOCK))


def _taken(value: NumArray, start: int, count: int) -> NumArray:
    """Returns zeros [start, start + count) of the vector, in their original order."""
    result, passed = np.empty(count, value.dtype), 0
    for at in range(0, len(value), SORT_BLOCK):
        part = value[at : at + SORT_BLOCK]
        zeros = part[np.logical_not(part)]
        low, high = max(0, start - passed), max(0, start + count - passed)
        run = zeros[low:high]
        filled = max(0, passed - start)
        result[filled : filled + len(run)] = run
        passed += len(zeros)
        if passed >= start + count:
            break
    return result


def settle(value: NumArray, ordered: NumArray, *, descending: bool) -> None:
    """Puts zeros and NaNs among sorted items back in their original order, and reverses the items for descending order."""
    numbers, zeros = len(ordered), slice(0, 0)
    if value.dtype.kind == "f" and numbers:
        if ordered[-1] != ordered[-1]:
            numbers = int(np.searchsorted(ordered, np.nan))
            _put_back(value, np.isnan, ordered[numbers:])
        if numbers and ordered[0] <= 0 <= ordered[numbers - 1]:  # 0.0 and -0.0 are equal, and keep their order
            zeros = slice(*(int(np.searchsorted(ordered[:numbers], 0, side)) for side in ("left", "right")))
    if descending:
        _reverse(ordered[:numbers])
        zeros = slice(numbers - zeros.stop, numbers - zeros.start)
    if zeros.start != zeros.stop and _has_negative_zeros(value):
        _put_back(value, np.logical_not, ordered[zeros])


def _has_negative_zeros(value: NumArray) -> bool:
    """Returns whether there is a negative zero; otherwise all zeros have the same bits."""
    bits = value.view(np.dtype(f"i{value.itemsize}"))
    least = np.iinfo(bits.dtype).min
    return any((bits[start : start + SORT_BLOCK] == least).any() for start in range(0, len(bits), SORT_BLOCK))


def _counts(items: NumArray, values: ValueRange) -> list[int]:
    """Returns the number of occurrences of each value of the range."""
    total = np.zeros(values.slots, np.int64)
    for start in range(0, len(items), SORT_BLOCK):
        part = items[start : start + SORT_BLOCK].astype(np.int64)
        part -= values.least
        total += np.bincount(part, minlength=values.slots)
    return [int(count) for count in total]


def _put_in_order(result: NumArray, counts: list[int], least: int, *, descending: bool) -> None:
    at = 0
    for value, count in sorted(enumerate(counts, least), reverse=descending):
        if count:
            result[at : at + count] = value
            at += count


def _put_back(value: NumArray, test: np.ufunc, places: NumArray) -> None:
    """Writes the items that pass the test into `places` in their order; never beyond it, even if another thread changes the
    items."""
    at = 0
    for start in range(0, len(value), SORT_BLOCK):
        part = value[start : start + SORT_BLOCK]
        matches = part[test(part)][: len(places) - at]
        places[at : at + len(matches)] = matches
        at += len(matches)


def _reverse(items: NumArray) -> None:
    """Reverses the items in place."""
    half = len(items) // 2
    for start in range(0, half, SORT_BLOCK):
        stop = min(start + SORT_BLOCK, half)
        low, high = items[start:stop], items[len(items) - stop : len(items) - start]
        saved = low.copy()
        low[...] = high[::-1]
        high[...] = saved[::-1]


# ---------------------------------------------------------------------------------------------------- NumPy's sorting functions
#
# The addresses of NumPy's sorting functions, for kernels that call them: the fastest sorts of this processor, in any thread.
#
# They are in the public table of a type (`PyArray_ArrFuncs` of numpy/ndarraytypes.h, from `_PyDataType_GetArrFuncs`), work in
# place, hold no lock, and allocate nothing for numbers.  Each is tested once before it is used.

_VERSION: Final = 0x02000000
_VERSION_PLACE: Final = 0
_OF_TYPE_PLACE: Final = 365
"""Offsets in NumPy's table, which are fixed for this ABI version."""
_SORT_PLACE: Final = 21 + 12
"""Words of a type's table before its first sorting function: casts, and single functions."""
_found: dict[np.dtype[Any], int | None] = {}


def numpy_sort(dtype: np.dtype[Any]) -> int | None:
    """Returns the address of NumPy's sorting function for a type; None if it is not available."""
    if dtype not in _found:
        _found[dtype] = _numpy_sort(dtype)
    return _found[dtype]


def _numpy_sort(dtype: np.dtype[Any]) -> int | None:
    table = numpy_functions() if platform.python_implementation() == "CPython" and ctypes.sizeof(ctypes.c_void_p) == 8 else None
    if table is None or not dtype.isnative or dtype.kind not in "fiub":
        return None
    version, of_type = (ctypes.c_void_p.from_address(table + 8 * slot).value for slot in (_VERSION_PLACE, _OF_TYPE_PLACE))
    if version is None or of_type is None or ctypes.CFUNCTYPE(ctypes.c_uint)(version)() != _VERSION:
        return None
    functions: int | None = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object)(of_type)(dtype)
    address = None if functions is None else ctypes.c_void_p.from_address(functions + 8 * _SORT_PLACE).value
    return address if address is not None and _sorts(address, dtype) else None


def _sorts(address: int, dtype: np.dtype[Any]) -> bool:
    items = (np.arange(300) * 77 % 101 % (2 if dtype.kind == "b" else 101)).astype(dtype)
    wanted = np.sort(items)
    function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_void_p)(address)
    return function(items.ctypes.data, len(items), None) == 0 and np.array_equal(items, wanted)


# ---------------------------------------------------------------------------------------------------- compiled sorts
#
# Stable grades of vectors and rows with kernels, and sorts of vectors in parts, on several threads, in the memory of the results.
#
# A sample sort: items (of a grade: words of key and position) are distributed to as many parts as there are threads, and each
# part is sorted in place by NumPy's own function for its type.  That is a fixed sequence of launches for vectors of one length,
# run by the native thread pool.  With one part a grade is faster than NumPy's, a sort is not.
#
# Note [Pivots].  Parts of items end between different values: a pivot within a run of equal items moves to the nearest end of the
# run.  Words differ in their positions, so that equal keys may be in two parts, unless key bits were cut off: then words that
# differ only in their position stay in one part, to be put in order there.

_PARTED: Final = 1 << 15
"""The least items of a vector that is sorted in several parts."""
_SPARE: Final = 1 << 19
"""The least items for which there are two parts per thread, which balances the load if a thread is preempted."""
_LONG: Final = 1 << 22
"""The most items of a part as long as more parts are possible, because interrupts are handled between parts."""
_MOST: Final = 1 << 31
_MOST_GRADED: Final = 1 << 9
"""The most items that are graded to put equal items back in order."""
_PIECES: Final = 2
"""Tasks per thread of the distribution."""
_PIECES_OF_ROWS: Final = 8
_SAMPLE: Final = 256
"""Sampled items per part."""
_SPREAD: Final = np.uint64(0x9E3779B97F4A7C15)
"""Odd, near 2⁶⁴ times the golden ratio: its multiples sample the vector evenly, without a period that data may have."""
_WORK: Final = {SortStage.TALLY: 0.4, SortStage.DEAL: 1.0}
_SORTING: Final = {8: 7.0, 4: 3.5}
"""Nanoseconds per item that a sort takes, roughly, by bytes of an item."""
_WAKING: Final = 60_001.0
"""Nanoseconds added to the estimate of the first launch, so that it wakes the pool threads for the launches that follow."""
_KINDS: Final = frozenset({Kind.F64, Kind.F32, Kind.I64, Kind.I32, Kind.U8, Kind.BOOL, Kind.CHAR})
_BASES: Final = 3
"""The buffers of every launch: items, results, notes."""


def saving(count: int, length: int, *, keyed: bool) -> float:
    """Nanoseconds that kernels save over NumPy in a grade or a sort of `count` items, in lines of `length` items."""
    return count * (max(0.1, length.bit_length() - 4.0) if keyed else 2.0)


@dataclass(frozen=True, slots=True)
class _SortTask:
    """A sort (with `keyed`: a grade) of a vector, or of each of the `rows` of a matrix (0: a vector)."""

    kind: Kind
    keyed: bool
    descending: bool
    count: int
    threads: int
    rows: int = 0

    def parts(self) -> int:
        """The number of parts: that of the threads, or more if parts would be long."""
        if self.threads < 2 or self.rows or self.count < max(_PARTED, 2):
            return 1
        each = max(1 if self.count < _SPARE else 2, -(-self.count // (self.threads * _LONG)))
        return min(MOST_PARTS, self.threads * each, self.count)

    def steps(self, parts: int) -> list[MachineCode]:
        """Returns the kernel of each launch, in order."""
        kind, down = self.kind, self.descending and self.keyed
        lanes = max(1, vector_bytes() // (8 if self.keyed else kind.bytes))
        if parts == 1:
            return [Sorting(SortForm.ROWS, kind, lanes, down)]
        tally = Dealing(SortStage.TALLY, kind, parts, self.keyed, lanes, down)
        dealt = [tally, Dealing(SortStage.DEAL, kind, parts, self.keyed, 1, down)]
        if self.keyed:
            return [Sorting(SortForm.SPAN, kind, lanes, down), *dealt, Sorting(SortForm.ORDER, kind, lanes, down, parts)]
        return [*dealt, Sorting(SortForm.SORT, kind, parts=parts)]


class _Sort:
    """A task specialized to a length: its launches, complete except for the addresses of items, results and notes."""

    def __init__(self, task: _SortTask, calls: Sequence[int], function: int) -> None:
        parts, count = task.parts(), task.count
        self.task, self.parts = task, parts
        self.shape = (task.rows, count) if task.rows else (count,)
        self.dtype = np.dtype(np.int64) if task.keyed else DTYPES[task.kind]
        self.launches: list[TaskLaunch] = []
        if parts == 1:
            self.launches.append(self.by_rows(max(1, task.rows), calls[0], function))
            return
        each = -(-count // (_PIECES * task.threads))
        starts = range(0, count, each)
        pieces = len(starts)
        self.notes = HEAD + pieces * parts

        def block(start: int, length: int, number: int) -> ArgumentBlock:
            words = [length, 0, start, function, 0, count - 1, 0, pieces, number]
            items = (ITEMS_PLACE, (0, start * task.kind.bytes))
            return ArgumentBlock(words, [items, (TARGET_PLACE, (1, 0)), (NOTES_PLACE, (2, 0))])

        single, ordered = [block(0, count, 0)], [block(0, count, part) for part in range(parts)]
        cut = [block(start, min(each, count - start), piece) for piece, start in enumerate(starts)]
        for code, call in zip(task.steps(parts), calls, strict=True):
            if isinstance(code, Dealing):
                self.launches.append(_pieces(call, cut, task.threads, _WAKING + count * _WORK[code.stage]))
            elif isinstance(code, Sorting) and code.form in (SortForm.SORT, SortForm.ORDER):
                self.launches.append(_pieces(call, ordered, task.threads, count * _SORTING[self.dtype.itemsize]))
            else:
                self.launches.append(_pieces(call, single, 1, count * 1.0))

    def by_rows(self, rows: int, call: int, function: int) -> TaskLaunch:
        """Returns the launch of a sort of rows: each task sorts full rows and has its own notes."""
        task, items = self.task, rows * self.task.count
        each = -(-rows // (_PIECES_OF_ROWS * task.threads)) if task.threads > 1 and items >= _PARTED else rows
        blocks: list[ArgumentBlock] = []
        for start in range(0, rows, each):
            ahead = start * task.count
            words = [task.count, 0, 0, function, 0, task.count - 1, 0, min(each, rows - start), 0]
            places = (ITEMS_PLACE, ahead * task.kind.bytes), (TARGET_PLACE, 8 * ahead), (NOTES_PLACE, 8 * HEAD * len(blocks))
            blocks.append(ArgumentBlock(words, [(slot, (base, by)) for base, (slot, by) in enumerate(places)]))
        self.notes = HEAD * len(blocks)
        return _pieces(call, blocks, task.threads, items * _SORTING[8])

    def run(self, items: NumArray) -> NumArray | None:
        """Returns the result; None if a kernel gives up."""
        result: NumArray = pooled_empty(self.shape, self.dtype)
        notes = np.empty(self.notes, np.int64)
        arrays = (items, result, notes)
        addresses = [int(array.__array_interface__["data"][0]) for array in arrays]
        for number, launch in enumerate(self.launches):
            if self.parts > 1 and number == int(self.task.keyed):  # after the launch of SPAN
                self.choose(items, notes)
            if launch.run(addresses):
                return None
        return result

    def choose(self, items: NumArray, notes: NumArray) -> None:
        """Stores the pivots, from a sample of the vector, in the notes.  See Note [Pivots]."""
        task, parts = self.task, self.parts
        spread = np.arange(1, min(task.count, _SAMPLE * parts) + 1, dtype=np.uint64) * _SPREAD >> np.uint64(32)
        places = spread * np.uint64(task.count) >> np.uint64(32)
        sample = items[places.view(np.int64)]
        if task.keyed:
            least, cut, up, lost = notes[Moves.LEAST : Moves.LOST + 1]
            wide = sample if task.kind.is_float else sample.astype(np.int64)
            keys = order_columns(wide, descending=task.descending)[0].astype(np.int64) - least
            sample = keys.view(np.uint64) >> cut.astype(np.uint64) << up.astype(np.uint64)
            sample |= np.uint64(0) if lost else places
        sample.sort()
        size = max(1, int(np.count_nonzero(sample == sample)))
        pivots = notes.view(sample.dtype)[:: notes.itemsize // sample.itemsize]
        for part in range(1, parts):
            rank = size * part // parts
            before, after = (int(np.searchsorted(sample[:size], sample[rank], side)) for side in ("left", "right"))
            is_near = after == size or rank - before <= after - rank
            pivots[part - 1] = sample[rank if is_near else after]


def _pieces(address: int, blocks: Sequence[ArgumentBlock], threads: int, nanoseconds: float) -> TaskLaunch:
    return TaskLaunch(address, blocks, _BASES, threads, nanoseconds)


_bound: Final[LruCache[_Sort]] = LruCache(64)


def _sort_of(task: _SortTask) -> _Sort | None:
    """Returns the specialized task, cached; None if compiling does not pay yet, or is not possible."""
    cached = _bound.get(task)
    if cached is not None:
        return cached
    dtype = np.dtype(np.uint64) if task.keyed else DTYPES[task.kind]
    codes, function = task.steps(task.parts()), numpy_sort(dtype)
    saved = saving(task.count * max(1, task.rows), task.count, keyed=task.keyed)
    ready = [tiering.is_wanted(code, saved) for code in codes]  # no short circuit, so that all of them are compiled together
    if function is None or not all(ready):
        return None
    calls = [address for address in map(address_of, codes) if address is not None]
    if len(calls) < len(codes):
        return None
    return _bound.put(task, (), _Sort(task, calls, function))


def _is_asked(items: NumArray, kind: Kind, keyed: bool) -> bool:
    if items.size < 2 or not may_launch(saving(items.size, items.shape[-1], keyed=keyed)):
        return False
    return items.dtype == DTYPES[kind] and items.size < _MOST and items.flags.c_contiguous


@cache
def plain_order(kind: Kind, *, descending: bool) -> Callable[[NumArray], NumArray]:
    """Returns a function for the stable grade of few items by NumPy: NaN last, equal items in their order."""
    if not descending:
        return lambda items: items.argsort(kind="stable")
    if kind.is_float:
        return lambda items: (-items).argsort(kind="stable")
    return lambda items: (~items).argsort(kind="stable")


def graded(items: NumArray, kind: Kind, descending: bool, threads: int, bounds: Bounds = UNBOUNDED) -> NumArray | None:
    """Returns the stable grade of a vector, or of each row of a matrix, by kernels; None if NumPy has to grade."""
    if kind not in _KINDS or items.ndim not in (1, 2) or items.shape[-1] < 2 or not _is_asked(items, kind, True):
        return None
    if items.ndim == 1 and is_ordered(items, descending=descending):
        trim()
        return np.arange(len(items))
    values = counting_range(items, bounds) if items.ndim == 1 else None
    if values is not None:
        result = counted_order(items, values, descending=descending, threads=threads)
    else:
        result = inverse_permutation(items, descending=descending, bounds=bounds) if items.ndim == 1 else None
    if result is not None:
        return result
    rows = len(items) if items.ndim == 2 else 0
    grading = _sort_of(_SortTask(kind, True, descending, items.shape[-1], threads, rows))
    return None if grading is None else grading.run(items)


def sorted_vector(items: NumArray, kind: Kind, descending: bool, threads: int, bounds: Bounds = UNBOUNDED) -> NumArray | None:
    """Returns the items of a vector in the order of their stable grade, by kernels; None if NumPy has to sort."""
    if items.ndim != 1 or not _is_asked(items, kind, False):
        return None
    values = counting_range(items, bounds)
    result = None if values is None else counted_sort(items, values, descending=descending, threads=threads)
    if result is not None:
        return result
    if kind not in SORTED_KINDS:
        return None
    task = _SortTask(kind, False, descending, len(items), threads)
    sorting = _sort_of(task) if task.parts() > 1 else None
    result = None if sorting is None else sorting.run(items)
    if result is not None:
        settle(items, result, descending=descending)
    return result


def sort(call: OperationCall) -> Function:
    """The operation `sort`: the items of vectors in the order of their stable grade, without computing the grade."""
    descending, wanted = call.flag("descending"), needed_positions(call.phase)
    kind, count = call.operand_kind(0), math.prod(call.context.shape(call.phase.args[0]))
    if call.rank or kind.is_complex or not count or selects(count, wanted) or tiering.pays(saving(count, count, keyed=False)):
        return checked(call, lambda *arrays: _sorted(call, arrays, wanted, descending=descending), trims=False)
    return _sorted_few(kind, descending=descending)


def _sorted(call: OperationCall, arrays: Arrays, wanted: Window | None, *, descending: bool) -> Arrays:
    if call.rank:
        rows = call.batched(arrays)[0]
        return call.unbatched(sorted_rows(rows, descending=descending, wanted=wanted, threads=call.threads))
    items = arrays[0]
    result = None
    if not selects(len(items), wanted):
        result = sorted_vector(items, call.operand_kind(0), descending, call.threads, call.bounds(0))
    return (sorted_items(items, descending=descending, wanted=wanted) if result is None else result,)


@cache
def _sorted_few(kind: Kind, *, descending: bool) -> Function:
    """Returns the cached function of a kind, so that equal specializations for several sizes compare equal."""
    order_of = plain_order(kind, descending=descending)

    def run(items: NumArray) -> NumArray:
        ordered = items.copy()
        ordered.sort()
        first, last = ordered.item(0), ordered.item(-1)
        if kind.is_float and not ((first > 0 or last < 0) and last == last):  # there may be zeros of both signs, or NaN
            return items[order_of(items)] if len(items) < _MOST_GRADED else sorted_items(items, descending=descending)
        return ordered[::-1].copy() if descending else ordered

    return run


def _bind_sort(binding: Specialization, phase: LibraryPhase) -> None:
    """Specializes a sort of rows, or of a vector that is not counted or sorted in parts, by `sorted_rows` of `vm/routines.c`."""
    (value,), (result,), types = phase.args, phase.results, binding.types
    items, kind, shape = binding.values[value], types.kind(value), types.shape(result)
    address, function = routine_address("sorted_rows"), numpy_sort(items.dtype) if kind in SORTED_KINDS else None
    rows, length = math.prod(shape[:-1]), shape[-1]
    if not address or function is None or items.ndim != frame_of(phase) + 1 or length >= COUNTED:
        raise NotSpecializable
    if selects(length, needed_positions(phase)):
        raise NotSpecializable
    base: BufferRef = binding.places[value], 0
    if not items.flags.c_contiguous:
        base = binding.room(shape, items.dtype), 0
        binding.copy(model_array(shape, items.dtype), base, items, (binding.places[value], 0))
    duration = items.size * _SORTING[max(4, items.itemsize)]
    shared = _PIECES_OF_ROWS * binding.threads if binding.threads > 1 and items.size >= _PARTED else 1
    each = -(-rows // min(rows, tiering.pieces(shared, duration)))
    blocks: list[ArgumentBlock] = []
    for start in range(0, rows, each):
        words = [min(each, rows - start), length, items.itemsize, kind.is_float, phase.attributes["descending"] is True, function]
        ahead = start * length * items.itemsize
        blocks.append(ArgumentBlock([*map(int, words), 0, 0, 0], [(6, (0, ahead)), (7, (1, ahead))]))
    launch = TaskLaunch(address, blocks, 2, binding.threads, duration)
    binding.share(launch, [base, (binding.result(result, shape, items.dtype), 0)])


# ---------------------------------------------------------------------------------------------------- grading
#
# Grades: the stable order of major cells, by the items or by a collation sequence.

def rows_of(value: NumArray) -> NumArray:
    """Returns the major cells as rows of a matrix; a scalar is one cell."""
    if value.ndim == 0:
        return value.reshape(1, 1)
    return value.reshape(len(value), math.prod(value.shape[1:]))


def _graded(value: NumArray, *, descending: bool) -> NumArray:
    if value.ndim == 1:
        columns = order_columns(value, descending=descending)
    else:
        columns = row_columns(rows_of(value), descending=descending)
    keys = columns[0] if len(columns) == 1 else lexicographic_keys(columns, 1 if value.ndim == 0 else len(value))
    return stable_order(keys).astype(np.int64, copy=False)


def grade(call: OperationCall) -> Function:
    """The operation `grade`.  With a frame, vectors are graded row by row, and other cells in one sort by (cell number, key)."""
    kind, shape = call.operand_kind(0), call.context.shape(call.phase.args[0])
    if len(shape) == call.rank + 1 and not (kind.is_complex or tiering.pays(saving(math.prod(shape), shape[-1], keyed=True))):
        return plain_order(kind, descending=call.flag("descending"))
    return checked(call, partial(_grade, call), trims=False)


def _grade(call: OperationCall, *arrays: NumArray) -> Arrays:
    descending = call.flag("descending")
    wanted = needed_positions(call.phase)
    if wanted is None and arrays[0].ndim == call.rank + 1:
        rows = call.batched(arrays)[0] if call.rank else arrays[0]
        grades = graded(rows, call.operand_kind(0), descending, call.threads, call.bounds(0))
        if grades is not None:
            return (reshaped(grades, arrays[0].shape),)
    trim()
    if wanted == (0, 1) and arrays[0].dtype.kind != "c":
        rows = call.batched(arrays)[0]
        if rows.ndim == 2 and rows.shape[1]:
            return call.unbatched(np.broadcast_to(_first_places(rows, descending=descending)[:, np.newaxis], rows.shape))
    if not call.rank:
        some = None if wanted is None else partial_grade(arrays[0], wanted, descending=descending)
        if some is not None:
            return (some,)
        return (_graded(arrays[0], descending=descending),)
    arg = call.batched(arrays)[0]
    if arg.ndim == 2 and arg.dtype.kind != "c":
        keys = order_columns(arg, descending=descending)[0]
        if keys.shape[1] >= _LONG_ROWS:
            return call.unbatched(np.stack([stable_order(row) for row in keys]) if len(keys) else np.empty(keys.shape, np.int64))
        return call.unbatched(np.argsort(keys, axis=-1, kind="stable").astype(np.int64, copy=False))
    count, height = arg.shape[0], arg.shape[1] if arg.ndim > 1 else 1
    numbers = np.repeat(np.arange(count), height)
    rows = arg.reshape(count * height, math.prod(arg.shape[2:]))
    order = stable_order(lexicographic_keys([numbers, *row_columns(rows, descending=descending)], len(numbers)))
    return call.unbatched(order.reshape(count, height) - np.arange(count)[:, np.newaxis] * height)


def grade_by(call: OperationCall, order: NumArray, arg: NumArray) -> NumArray:
    """Grade text by the first position of each character in the collation sequence `order`, absent ones last."""
    places = first_positions(order.reshape(-1).astype(np.int64), arg.astype(np.int64))
    return _graded(places, descending=call.flag("descending"))


_LONG_ROWS: Final = 1 << 10
"""The least length of rows that are graded one by one."""


def _first_places(rows: NumArray, *, descending: bool) -> NumArray:
    """Returns the position of the first least (or greatest) item of each row; NaN comes after all others."""
    places = np.asarray(rows.argmax(1) if descending else rows.argmin(1), np.int64)
    if rows.dtype.kind == "f":
        missing = np.isnan(rows[np.arange(len(rows)), places])  # NumPy returns the position of a NaN if there is one
        if missing.any():
            places[missing] = np.argmin(order_columns(rows[missing], descending=descending)[0], axis=1)
    return places


# ---------------------------------------------------------------------------------------------------- sorts in runs
#
# Sorts and grades in two passes (`graph.partial_graphs.divide_phases`): `sort_runs` and `grade_runs` order the items of a shard,
# in rows of a run, of which the last may be padded, and `merge_runs` has the items of a shard of the result, from all runs.  Runs
# go on from row to row where two neighbours are in order.
#
# Note [Ranks].  The items of a shard of the result are, of each run, those from one position to another, which bisection finds:
# an item of a run has as many before it as the runs before have up to it and those behind have below it.

_MERGING: Final = 2.5
"""Nanoseconds per item and merge, roughly."""
Run: TypeAlias = "tuple[NumArray, ...]"
"""Sorted items, of a grade with their positions."""
Key: TypeAlias = "Callable[[Any], tuple[bool, Any]]"


def sort_runs(call: OperationCall, items: NumArray) -> NumArray:
    """The operation `sort_runs`: the items in the order of their stable grade."""
    ordered = sorted_vector(items, call.operand_kind(0), call.flag("descending"), call.threads, call.bounds(0))
    return _in_rows(sorted_items(items, descending=call.flag("descending")) if ordered is None else ordered, call)


def _in_rows(items: NumArray, call: OperationCall) -> NumArray:
    shape = call.shape()
    if len(items) == math.prod(shape):
        return items.reshape(shape)
    result = np.zeros(shape, items.dtype)
    result.reshape(-1)[: len(items)] = items
    return result


def grade_runs(call: OperationCall, items: NumArray) -> NumArray:
    """The operation `grade_runs`: the stable grade of the items, as positions in the vector that they are a part of."""
    order = graded(items, call.operand_kind(0), call.flag("descending"), call.threads, call.bounds(0))
    order = _graded(items, descending=call.flag("descending")) if order is None else order
    origin = call.origin() * call.shape()[1]
    return _in_rows(order + origin if origin else order, call)


def merge_runs(call: OperationCall, ordered: NumArray, *graded: NumArray) -> NumArray:
    """The operation `merge_runs`: the items of sorted runs in order, or positions in the order of the `graded` items there."""
    length, origin, run = call.phase.attributes["length"], call.origin(), ordered.shape[1]
    assert isinstance(length, int)
    ordered = np.ascontiguousarray(ordered).reshape(-1)[:length]
    (count,), key, key_there = call.shape(), *_keys(graded, ordered, descending=call.flag("descending"))
    ends = [at for at in range(run, length, run) if key_there(ordered[at]) < key_there(ordered[at - 1])]
    runs = [ordered[start:stop] for start, stop in pairwise((0, *ends, length))]
    begins, stops = (_ranks(runs, rank, key_there) for rank in (origin, origin + count))
    slices = [run[start:stop] for run, start, stop in zip(runs, begins, stops, strict=True) if start < stop]
    if len(slices) == 1:
        return slices[0].copy()
    parts: list[Run] = [(*(items[part] for items in graded), part) for part in slices]
    while len(parts) > 1:
        following = [_merge(one, other, key, call) for one, other in zip(parts[::2], parts[1::2], strict=False)]
        parts = following + parts[2 * len(following) :]
    return parts[0][-1]


def _keys(graded: Arrays, ordered: NumArray, *, descending: bool) -> tuple[Key, Key]:
    """Returns the keys of items, and of what is ordered: positions where there are `graded` items, or items themselves."""
    if not graded:
        key = _key(ordered.dtype, descending=descending)
        return key, key
    (items,) = graded
    key = _key(items.dtype, descending=descending)
    return key, lambda position: key(items[position])


def _key(dtype: np.dtype[Any], *, descending: bool) -> Key:
    """Returns a function whose values are in order as the items are in that of their grade."""
    if dtype.kind != "f":
        return lambda item: (False, -int(item) if descending else int(item))
    return lambda item: (True, 0) if item != item else (False, -item if descending else item)


def _ranks(runs: Sequence[NumArray], rank: int, key: Key) -> list[int]:
    """Returns how many of the first `rank` items in order each run has.  See Note [Ranks]."""
    low, high = [0] * len(runs), list(map(len, runs))
    while low != high:
        _, widest = max((high[run] - low[run], run) for run in range(len(runs)))
        middle = (low[widest] + high[widest]) // 2
        pivot = key(runs[widest][middle])
        before = [
            (bisect_right if run < widest else bisect_left)(items, pivot, low[run], high[run], key=key)
            for run, items in enumerate(runs)
        ]
        before[widest] = middle
        if sum(before) < rank:
            low = before
            low[widest] += 1
        else:
            high = before
    return low


def _merge(one: Run, other: Run, key: Key, call: OperationCall) -> Run:
    """Returns two runs merged, the items of the first before equal ones of the second."""
    (first, *_), (second, *_), descending, keyed = one, other, call.flag("descending"), len(one) > 1
    kind = call.operand_kind(int(keyed))
    if key(second[-1]) < key(first[-1]):  # all of the second is passed, and so much of the first
        steps = bisect_right(first, key(second[-1]), key=key) + len(second)
    else:
        steps = len(first) + bisect_left(second, key(first[-1]), key=key)
    work = steps * _MERGING
    code = MergingRuns(kind, keyed, descending)
    address = address_if_worthwhile(code, work) if kind in SORTED_KINDS and steps >= _LEAST else None
    if address is None:
        return _sorted_together(one, other, descending=descending)
    results = tuple(pooled_empty((len(first) + len(second),), array.dtype) for array in one)
    team = call.threads if work >= tiering.PIECES_NANOSECONDS else 1
    ranges = TOGETHER * tiering.pieces(1 if team == 1 else 4 * team, work)
    each = -(-steps // ranges)
    begins = [_ranks((first, second), min(number * each, steps - each), key) for number in range(ranges)]
    addresses = [
        array.__array_interface__["data"][0] for column in zip(one, other, results, strict=True) for array in column
    ]
    run_tasks(address, [(each, *addresses, *chain(*begins[at : at + TOGETHER])) for at in range(0, ranges, TOGETHER)], team, work)
    taken = _ranks((first, second), steps, key)
    for *runs, result in zip(one, other, results, strict=True):
        result[steps:] = np.concatenate([run[count:] for run, count in zip(runs, taken, strict=True)])
    return results


def _sorted_together(one: Run, other: Run, *, descending: bool) -> Run:
    """Returns two runs merged, by a sort."""
    items, *orders = (np.concatenate(arrays) for arrays in zip(one, other, strict=True))
    if not orders:
        return (sorted_items(items, descending=descending),)
    order = _graded(items, descending=descending)
    return items[order], orders[0][order]


GRADING: Final[dict[str, Operation]] = {
    "sort": Operation(sort, _bind_sort), "grade": Operation(grade), "grade_by": cell_by_cell(grade_by),
    "sort_runs": cell_by_cell(sort_runs), "grade_runs": cell_by_cell(grade_runs), "merge_runs": cell_by_cell(merge_runs),
}  # fmt: skip
