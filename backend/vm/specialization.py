"""Specializations (`struct binding`): the launches by which native code runs a phase on operands of given layouts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from functools import cache, partial
from math import prod
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np

from ...lang.support.records import dataclass, field
from ...lang.syntax.source import Span
from ..cpu import parallel_for
from ..cpu.kernels import BoundKernel, CompiledRun, layout_of
from ..cpu.numpy_reductions import broadcast_view
from ..cpu.parallel_for import POOL_THREADS_WORD, BufferRef, TaskLaunch
from ..cpu.phases import ViewsRun, compile_structured
from ..cpu.templates import IndexOutside, prepare_copy
from ..cpu.views import DeferredView, NumArray, Pad, in_parts, model_array, recorded_pads, start_of
from ..graph.phases import Structured, ValueId
from ..jit import tiering
from ..jit.compiler import MachineCode, address_of
from .check_failures import CheckFailed
from .run_state import ALIGNMENT, MIN_POOLED as POOLED_MIN_BYTES, Types, pooled_empty

# ---------------------------------------------------------------------------------------------------- array descriptors
#
# Layouts (dtype, shape, strides) of the values of a native program.  Each is stored once, so equal layouts have one address.

MAX_LAYOUTS: Final = 2048
"""The number of layouts after which a program is made anew; a table of lengths counts as one layout per entry."""
MAX_TABLE_CELLS: Final = 32767
"""The most cells of an array whose layout is an entry of a table of lengths."""
Key: TypeAlias = tuple[np.dtype[Any], tuple[int, ...], tuple[int, ...]]


class Layouts:
    """The layouts of one program, which live as long as the program."""

    def __init__(self) -> None:
        self._known: dict[Key, int] = {}
        self._keys: dict[int, Key] = {}
        self._keep: list[object] = []
        self._lengths: dict[Key, int] = {}
        self._counted = 0

    @property
    def is_full(self) -> bool:
        return len(self._keys) - self._counted > MAX_LAYOUTS

    def of(self, array: Any) -> int:
        """The address of the array's layout."""
        key = (array.dtype, array.shape, array.strides)
        return self._known.get(key) or self._describe(key)

    def row_major(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> int:
        """The address of a row-major layout."""
        return self.at(dtype, shape, _strides(shape, dtype))

    def at(self, dtype: np.dtype[Any], shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
        key = (dtype, shape, strides)
        return self._known.get(key) or self._describe(key)

    def cell(self, layout: int, axes: int) -> int:
        """The address of the layout of a cell: without the first `axes` axes."""
        dtype, shape, strides = self._keys[layout]
        return self.at(dtype, shape[axes:], strides[axes:])

    def length_table(self, dtype: np.dtype[Any], cell: tuple[int, ...], strides: tuple[int, ...] | None = None) -> int:
        """The address of a table (`struct lengths`) of the layouts of 0 to `MAX_TABLE_CELLS` cells; by default row-major."""
        key = dtype, cell, _strides((0, *cell), dtype) if strides is None else strides
        address = self._lengths.get(key)
        if address is None:
            described = partial(self.with_length, key)
            table = np.zeros(MAX_TABLE_CELLS + 2, np.int64)
            table[0] = id(described)
            self._keep += (described, table)
            address = self._lengths[key] = int(table.ctypes.data)
        return address

    def with_length(self, cells: Key, count: int) -> int:
        """The address of the layout of `count` cells, an entry of their table."""
        known, (dtype, cell, strides) = len(self._keys), cells
        layout = self.at(dtype, (count, *cell), strides)
        self._counted += len(self._keys) - known
        return layout

    def key(self, layout: int) -> Key:
        """The dtype, shape and strides of a layout."""
        return self._keys[layout]

    def _describe(self, key: Key) -> int:
        dtype, shape, strides = key
        maker: Any = None
        if prod(shape) * dtype.itemsize >= POOLED_MIN_BYTES:
            order = sorted(range(len(shape)), key=lambda axis: -strides[axis])
            inner = tuple([shape[axis] for axis in order])
            if tuple([strides[axis] for axis in order]) == _strides(inner, dtype):
                turned = tuple(sorted(range(len(order)), key=order.__getitem__))
                maker = partial(pooled_empty, shape, dtype) if order == sorted(order) else partial(
                    _empty_in_axis_order, inner, dtype, turned
                )
        is_rows = 0 in shape or all(n == 1 or a == b for n, a, b in zip(shape, strides, _strides(shape, dtype), strict=True))
        address = 0 if maker is None else id(maker)
        words = np.array([id(dtype), address, len(shape), dtype.itemsize, prod(shape), int(is_rows), *shape, *strides], np.int64)
        self._keep += (dtype, maker, words)
        descriptor: int = words.ctypes.data
        self._known[key], self._keys[descriptor] = descriptor, key
        return descriptor


def _strides(shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[int, ...]:
    outward: list[int] = []
    step = dtype.itemsize
    for length in reversed(shape):
        outward.append(step)
        step *= length
    return tuple(outward[::-1])


def _empty_in_axis_order(shape: tuple[int, ...], dtype: np.dtype[Any], order: tuple[int, ...]) -> Any:
    return pooled_empty(shape, dtype).transpose(order)


# ---------------------------------------------------------------------------------------------------- size specialization
#
# One specialization for a range of values of a run-time size (a size family): every word is an affine function of the size.
#
# The specialization is made for some sample sizes: the ends of the range and sizes between.  Each word has to be `a×size + b`
# with whole `a` and `b` that fit all samples; in a layout only the first length may change.  Where that does not hold the range
# is made smaller.  If no range remains each value of the size gets its own specialization.

MIN_SIZE: Final = 2
"""The least size of a range: an axis of length 1 has no stride to compare."""
MIN_RANGE: Final = 16
"""The least number of sizes in a range that is worth its preparation."""
TRIALS: Final = 11
"""Sample sizes within a range; odd, so that all remainders modulo a power of two occur."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The words of a specialization for one value of the size.

    `layouts`, `rooms`: indices of words that refer to layouts of values, and to scratch; `free_words`: indices of words on which
    no result depends, so that any sample's will do; `keep`: the objects whose addresses the words contain."""

    words: list[int]
    layouts: frozenset[int]
    rooms: frozenset[int]
    free_words: frozenset[int]
    keep: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class SizeFamily:
    """The words of a specialization, and its `struct tuning`, which says how they depend on the size."""

    words: list[int]
    tuning: list[int]
    keep: tuple[object, ...]


def fit_size_family(example: Callable[[int], Sample | None], layouts: Layouts, size: int, most: int) -> SizeFamily | None:
    """The size family for a range around `size`, the only size that the run has met, with sizes up to `most`; None if no range
    pays."""
    near = size + 1 if size < most else size - 1
    if size < MIN_SIZE or near < MIN_SIZE:
        return None
    first, second = example(size), example(near)
    if first is None or second is None or len(first.words) != len(second.words):
        return None
    fit = _AffineFit(layouts, example, size, first, [first, second])
    if not fit.starts(near, second):
        return None
    least, greatest = fit.largest_valid(MIN_SIZE), fit.largest_valid(most)
    if greatest - least < MIN_RANGE:
        return None
    trials = {least + (greatest - least) * trial // (TRIALS + 1) + trial % 2 for trial in range(1, TRIALS + 1)}
    if not all(map(fit.holds, sorted(trials))):
        return None
    last = example(greatest)
    return None if last is None else fit.result_for(least, greatest, last)


@dataclass(slots=True)
class _AffineFit:
    layouts: Layouts
    example: Callable[[int], Sample | None]
    size: int
    first: Sample
    samples: list[Sample]
    """The samples, kept alive so that no address is reused."""
    numbers: list[tuple[int, Any]] = field(default_factory=list)
    factors: list[int] = field(default_factory=list)

    def read(self, example: Sample) -> list[tuple[int, Any]]:
        """The sample's words as numbers; the second part must not depend on the size."""
        numbers: list[tuple[int, Any]] = []
        for at, word in enumerate(example.words):
            if at in example.layouts or at in example.rooms:
                dtype, shape, strides = self.layouts.key(word)
                numbers.append((shape[0] if shape else 0, (dtype, shape[1:], strides)))
            else:
                numbers.append((0 if at in example.free_words else word, None))
        return numbers

    def starts(self, near: int, second: Sample) -> bool:
        """Derives the factor of each word from two neighbouring sizes; False if some word is not affine."""
        self.numbers, other = self.read(self.first), self.read(second)
        self.factors = [(b - a) * (near - self.size) for (a, _), (b, _) in zip(self.numbers, other, strict=True)]
        return self.agrees(near, second, other) and all(self.factors[at] >= 0 for at in self.first.rooms)

    def agrees(self, size: int, example: Sample, numbers: list[tuple[int, Any]]) -> bool:
        """Do the factors predict the words of this sample?"""
        if (example.layouts, example.rooms, example.free_words) != (self.first.layouts, self.first.rooms, self.first.free_words):
            return False
        ahead = size - self.size
        lengths = [numbers[at][0] for at in example.layouts if self.factors[at]]
        return max(lengths, default=0) <= MAX_TABLE_CELLS and all(
            number == was + factor * ahead and same == before
            for (was, before), factor, (number, same) in zip(self.numbers, self.factors, numbers, strict=True)
        )

    def holds(self, size: int) -> bool:
        example = self.example(size)
        if example is None or len(example.words) != len(self.first.words):
            return False
        self.samples.append(example)
        return self.agrees(size, example, self.read(example))

    def largest_valid(self, end: int) -> int:
        """The size furthest towards `end` for which the factors hold, by bisection."""
        if self.holds(end):
            return end
        good = self.size
        while abs(end - good) > 1:
            middle = (good + end) // 2
            good, end = (middle, end) if self.holds(middle) else (good, middle)
        return good

    def result_for(self, least: int, most: int, last: Sample) -> SizeFamily:
        """The size family from `least` to `most`; scratch buffers have the bytes that the largest size needs."""
        changes: list[int] = []
        count = 0
        for at, ((number, same), factor) in enumerate(zip(self.numbers, self.factors, strict=True)):
            if factor and at not in last.rooms:
                table = self.layouts.length_table(*same) if at in last.layouts else 0
                changes += (at, table, number - factor * self.size, factor)
                count += 1
        return SizeFamily(last.words, [least, most, most, count, *changes], last.keep)


# ---------------------------------------------------------------------------------------------------- specialization of calls

HEADER_WORDS: Final = 11
"""Words of a `struct binding` before its key."""
FAILURE_WORD: Final = 1
SIZE_FAMILY_WORD: Final = 6
"""The word that refers to the size family."""
Ready = TypeVar("Ready")


class OperandStarts(IntEnum):
    """Which addresses a specialization for two operands allows: any, different ones, or equal ones."""

    ANY = 0
    APART = 1
    TOGETHER = 2


class NotSpecializable(Exception):
    """Raised where there can be no specialization for such operands."""


class NotCompiledYet(NotSpecializable):
    """Raised while code is not compiled yet; the specialization is possible once the requests in `Specialization.waiting` are
    ready."""


class Specialization:
    """A specialization under construction.

    `values`: the operands, of which only the layouts and addresses are used.  Buffers are numbered: the operands, then the
    results, then the scratch buffers.  `lost`: nanoseconds that a run without it takes."""

    def __init__(
        self, layouts: Layouts, types: Types, threads: int, lost: float, values: Mapping[ValueId, NumArray],
        results: Sequence[ValueId],
    ) -> None:  # fmt: skip
        self.layouts, self.types, self.threads, self.lost, self.values = layouts, types, threads, lost, values
        self.places = {value: number for number, value in enumerate(values)}
        self.places |= {value: len(values) + number for number, value in enumerate(results)}
        self.operands, self.count = len(values), len(results)
        self.made: dict[ValueId, tuple[int, int, int]] = {}
        self.rooms: list[int] = []
        self.launches: list[list[int]] = []
        self.keep: list[object] = []
        self.fault: Callable[[int, int], object] | None = None
        self.routine: Callable[..., Any] | None = None
        self.guard: Callable[[], object] | None = None
        self.starts = OperandStarts.ANY
        self.length_table = 0
        """The table of lengths of the result, if the first launch determines how many cells it has."""
        self.helpers = 0
        self.before = 0
        """Runs of the program in Python."""
        self.waiting: list[tiering.CodeRequest] = []

    def wants(self, code: MachineCode) -> bool:
        """Is the code compiled, or worth compiling now?  If not, its request is added to `waiting`."""
        is_wanted = tiering.is_wanted(code, self.lost, self.before)
        if not is_wanted:
            self.waiting.append(tiering.request_of(code))
        return is_wanted

    def ready(self, result: object, type: type[Ready]) -> Ready:
        if result is None:
            raise NotSpecializable
        if not isinstance(result, type):
            raise NotCompiledYet
        return result

    def view(self, value: ValueId, view: Callable[[Any], Any]) -> tuple[NumArray, BufferRef]:
        """A view of an operand, and its start; pads are copies that the run makes.  Raises NotSpecializable for any other
        copy."""
        with recorded_pads() as pads:
            viewed = view(self.values[value])
        if isinstance(viewed, DeferredView):
            raise NotSpecializable
        sources = [(self.values[value], self.places[value])]
        for pad in pads:
            sources.append((pad.array, self.padded(pad, sources)))
        array = np.asarray(viewed)
        return array, _base_in(sources, array)

    def base(self, value: ValueId, array: NumArray) -> BufferRef:
        """The start of a view of an operand.  Raises NotSpecializable for a copy."""
        return _base_in([(self.values[value], self.places[value])], array)

    def padded(self, pad: Pad, sources: Sequence[tuple[NumArray, int]]) -> int:
        """The buffer number of scratch memory that one launch fills with fills and another one with copies of the items
        inside."""
        array, room = pad.array, self.room(pad.array.shape, pad.array.dtype)
        fills = fill_of(array.dtype, pad.fill)
        self.copy(array, (room, 0), np.broadcast_to(fills, array.shape), (None, start_of(fills)))
        if pad.inside is not None:
            items, inside = pad.inside
            target = array[inside]
            self.copy(target, (room, start_of(target) - start_of(array)), items, _base_in(sources, items))
        return room

    def copy(self, target: NumArray, to: BufferRef, source: NumArray, at: BufferRef) -> None:
        """Adds a launch that copies between buffers with these layouts; requests its code if that is not compiled."""
        if not target.size:
            return
        draft = prepare_copy(np.atleast_1d(in_parts(target)), np.atleast_1d(in_parts(source)), self.threads, streams=False)
        if draft is None:
            raise NotSpecializable
        address = address_of(draft.code) if self.wants(draft.code) else 0
        if address is None:
            raise NotSpecializable
        if address:
            self.share(draft.launch(address, self.threads), [at, to])

    def result(self, value: ValueId, shape: tuple[int, ...], dtype: np.dtype[Any], order: Sequence[int] | None = None) -> int:
        """The buffer number of a new result; `order`: its axes in memory, outermost first."""
        layout = self.layouts.row_major(shape, dtype)
        if order is not None and list(order) != sorted(order):
            layout = self.layouts.of(model_array(shape, dtype).transpose(np.argsort(order).tolist()))
        self.made[value] = (layout, -1, 0)
        return self.places[value]

    def room(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> int:
        """The buffer number of new scratch memory for this shape, with space to align its start to `ALIGNMENT`."""
        self.rooms.append(self.layouts.row_major((prod(shape) * dtype.itemsize + ALIGNMENT,), np.dtype(np.uint8)))
        return self.operands + self.count + len(self.rooms) - 1

    def launch(self, words: list[int]) -> None:
        self.helpers = max(self.helpers, words[POOL_THREADS_WORD])
        self.launches.append(words)

    def share(self, pieces: TaskLaunch, bases: Sequence[BufferRef]) -> None:
        """Adds a launch of these tasks on the buffers `bases`."""
        self.launch(pieces.words(bases))

    def words(self, key: Sequence[int], overwrites: bool) -> list[int]:
        """The words of `struct binding`, without its link to the next one and its size family."""
        if len(self.made) != self.count:
            raise NotSpecializable
        calls = (self.fault, self.routine, self.guard)
        self.keep += calls
        head = [0, *[0 if call is None else id(call) for call in calls], int(self.starts), self.length_table, 0, int(overwrites)]
        head += [len(self.rooms), len(self.launches), HEADER_WORDS + len(key), *key]
        rows = [word for value in list(self.places)[self.operands :] for word in self.made[value]]
        return [*head, *rows, *self.rooms, *[word for launch in self.launches for word in (len(launch), *launch)]]

    def example(self, key: Sequence[int], overwrites: bool) -> Sample:
        """The sample of this specialization.  Raises NotSpecializable if its words refer to an object made for one size."""
        if self.keep:
            raise NotSpecializable
        words = self.words(key, overwrites)
        first = HEADER_WORDS + len(key)
        results = frozenset(range(first, first + 3 * self.count, 3))
        at = first + 3 * self.count + len(self.rooms)
        rooms, loose = frozenset(range(first + 3 * self.count, at)), {FAILURE_WORD}
        for launch in self.launches:
            loose |= {at + 1 + offset for offset in parallel_for.TUNING_WORDS}
            at += 1 + len(launch)
        layouts = frozenset(range(HEADER_WORDS, HEADER_WORDS + self.operands)) | results
        return Sample(words, layouts, rooms, frozenset(loose), tuple(self.keep))


@cache
def fill_of(dtype: np.dtype[Any], fill: int) -> NumArray:
    """An item with the fill, at a fixed address."""
    return np.array(fill, dtype)


def _base_in(sources: Sequence[tuple[NumArray, int]], array: NumArray) -> BufferRef:
    """The buffer number and the offset at which a view begins, among some numbered buffers."""
    for source, number in reversed(sources):
        if not array.size or np.may_share_memory(array, source):
            return number, start_of(array) - start_of(source)
    raise NotSpecializable


def specialize_structured(binding: Specialization, phase: Structured, run: Any = None) -> None:
    """Specializes a structured phase, or a chain along rows given by its first phase.  Raises NotSpecializable."""
    types = binding.types
    run = run or compile_structured(phase, types.kind, types.number, binding.threads)
    owner = getattr(run, "__self__", None)
    if isinstance(owner, CompiledRun):
        results = list(binding.places)[binding.operands : binding.operands + binding.count]
        operands = [binding.view(value, view) for value, view in owner.views]
        specialize_kernel(binding, owner, operands, results)
        binding.fault = FailureDecoder(owner, phase.span)
    elif isinstance(owner, ViewsRun):
        for (source, view), result in zip(owner.picks, phase.results, strict=True):
            _specialize_view(binding, view, owner.space, source, result.value)
    else:
        raise NotSpecializable


def _specialize_view(
    binding: Specialization, view: Callable[[Any], Any], space: tuple[int, ...], source: ValueId, result: ValueId
) -> None:  # fmt: skip
    """Specializes a result that is a view of a part of an operand."""
    viewed, base = binding.view(source, view)
    array, (at, ahead) = np.asarray(broadcast_view(viewed, space)), base
    if not array.size or at is None:
        raise NotSpecializable
    if at < binding.operands:
        binding.made[result] = (binding.layouts.of(array), at, ahead)
    else:
        binding.copy(model_array(array.shape, array.dtype), (binding.result(result, array.shape, array.dtype), 0), array, base)


class FailureDecoder:
    """Called with the failure record of a kernel: raises the error, or returns if Python has to run the phase again to determine
    it."""

    def __init__(self, run: CompiledRun, span: Span) -> None:
        self.run, self.span = run, span

    def __call__(self, code: int, item: int) -> None:
        try:
            self.run.fail(code - 1, item)
        except IndexOutside:
            return
        except CheckFailed as failure:
            raise failure.at(self.span) from None


def specialize_kernel(
    binding: Specialization, run: CompiledRun, operands: Sequence[tuple[NumArray, BufferRef]], defined: Sequence[ValueId],
) -> None:  # fmt: skip
    """Adds the launch of the kernel on these operands, with these results."""
    bound, operands = _bound_kernel(binding, run, [array for array, _ in operands]), list(operands)
    for packing in bound.packs:
        array, base = operands[packing.operand]
        packed = np.empty_like(array, order=packing.order)
        room = binding.room(packed.shape, packed.dtype), 0
        binding.copy(packed, room, array, base)
        operands[packing.operand] = packed, room
    arrays = list(zip(bound.shapes, bound.dtypes, strict=True))
    results = [
        binding.result(value, shape, dtype, bound.order[: len(shape)])
        for value, (shape, dtype) in zip(defined, arrays, strict=True)
    ]
    rows = results if bound.partials == 1 else [binding.room((bound.partials, *shape), dtype) for shape, dtype in arrays]
    binding.share(bound.pieces, [*(base for _, base in operands), *((row, 0) for row in rows)])
    for number, (row, result) in enumerate(zip(rows, results, strict=True)):
        if row != result:
            binding.share(bound.joining(number), [(row, 0), (result, 0)])


def _bound_kernel(binding: Specialization, run: CompiledRun, arrays: Sequence[NumArray]) -> BoundKernel:
    stores = run.stores(False)
    key = (stores, layout_of(arrays))
    code = run.kept[key] if key in run.kept else run.code_for(arrays, stores)
    if code is not None and not isinstance(code, BoundKernel) and binding.wants(code):
        code = run.bind(code, arrays)
    run.kept[key] = code
    return binding.ready(code, BoundKernel)
