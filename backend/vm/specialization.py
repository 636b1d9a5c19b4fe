"""What native code does for a phase on operands of some layouts: a binding, made from the kernels that the phase has.

A binding names no address of an operand: its launches speak of places among the operands, the results and the rooms to work in
(`native/run.c`, Note [Bindings]).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import field, replace
from functools import partial
from math import prod
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np

from ...lang.support.records import dataclass
from ...lang.syntax.source import Span
from ...typechecker.elements import Kind
from ..cpu import parallel_for
from ..cpu.kernels import BoundKernel, CompiledRun, layout_of
from ..cpu.parallel_for import HELPERS_PLACE, LONG_NANOSECONDS, Base, Pieces, on_bases, words_of
from ..cpu.phases import compile_structured, compiled_of
from ..cpu.templates import Outside
from ..cpu.views import Deferred, NumArray, start_of
from ..graph.phases import ReadNode, Structured, ValueId
from ..jit import tiering
from ..jit.compiler import MachineCode
from ..lower.body import PART, complex_from_parts
from ..lower.kernel_ir import Kernel
from .backend_interface import CheckFailed, Types
from .run_state import ALIGNMENT, LEAST as POOLED_MIN_BYTES, room

# ---------------------------------------------------------------------------------------------------- array descriptors
#
# Layouts of the values of a native program: how items lie, each described once, so that equal layouts have one address.

MOST: Final = 2048
"""Layouts that a program meets, after which it is made anew (those of a table of lengths are as many as that has places)."""
MOST_CELLS: Final = 32767
"""Of an array whose layout is in a table of lengths."""
Key: TypeAlias = tuple[np.dtype[Any], tuple[int, ...], tuple[int, ...]]


class Layouts:
    """Those of one program, by address; they live as long as it does."""

    def __init__(self) -> None:
        self._known: dict[Key, int] = {}
        self._keys: dict[int, Key] = {}
        self._keep: list[object] = []
        self._lengths: dict[Key, int] = {}
        self._counted = 0

    @property
    def is_full(self) -> bool:
        return len(self._keys) - self._counted > MOST

    def of(self, array: Any) -> int:
        """The address of an array's layout."""
        key = (array.dtype, array.shape, array.strides)
        return self._known.get(key) or self._described(key)

    def rows(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> int:
        """Of an array that lies in rows."""
        return self.at(dtype, shape, _strides(shape, dtype))

    def at(self, dtype: np.dtype[Any], shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
        key = (dtype, shape, strides)
        return self._known.get(key) or self._described(key)

    def cell(self, layout: int, axes: int) -> int:
        """Of a cell: without the first axes."""
        dtype, shape, strides = self._keys[layout]
        return self.at(dtype, shape[axes:], strides[axes:])

    def lengths(self, dtype: np.dtype[Any], cell: tuple[int, ...], strides: tuple[int, ...] | None = None) -> int:
        """The address of the table (`struct lengths`) of 0 to `MOST_CELLS` cells of a shape, in rows or as strides say."""
        key = dtype, cell, _strides((0, *cell), dtype) if strides is None else strides
        address = self._lengths.get(key)
        if address is None:
            described = partial(self.counted, key)
            table = np.zeros(MOST_CELLS + 2, np.int64)
            table[0] = id(described)
            self._keep += (described, table)
            address = self._lengths[key] = int(table.ctypes.data)
        return address

    def counted(self, cells: Key, count: int) -> int:
        """Of so many cells, for their table."""
        known, (dtype, cell, strides) = len(self._keys), cells
        layout = self.at(dtype, (count, *cell), strides)
        self._counted += len(self._keys) - known
        return layout

    def key(self, layout: int) -> Key:
        """What a layout describes."""
        return self._keys[layout]

    def _described(self, key: Key) -> int:
        dtype, shape, strides = key
        maker: Any = None
        if prod(shape) * dtype.itemsize >= POOLED_MIN_BYTES:
            order = sorted(range(len(shape)), key=lambda axis: -strides[axis])
            inner = tuple([shape[axis] for axis in order])
            if tuple([strides[axis] for axis in order]) == _strides(inner, dtype):
                turned = tuple(sorted(range(len(order)), key=order.__getitem__))
                maker = partial(room, shape, dtype) if order == sorted(order) else partial(_turned, inner, dtype, turned)
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


def _turned(shape: tuple[int, ...], dtype: np.dtype[Any], order: tuple[int, ...]) -> Any:
    return room(shape, dtype).transpose(order)


# ---------------------------------------------------------------------------------------------------- size specialization
#
# One binding for all values of a size that a run finds: its words at some values, and what each of them is at the others.
#
# What is bound is asked for at the ends of a range and at places between.  Every word has to be a whole number of times the size,
# and a constant; of layouts the first length may be such a number, and nothing else changes.  Where that does not hold the range
# is made smaller, or there is none: then each value of the size has a binding of its own.

LEAST: Final = 2
"""Of one item nothing is told: its axis has no stride."""
LEAST_RANGE: Final = 16
"""Values of the size for which it is worth the trouble."""
TRIALS: Final = 11
"""Sizes within a range that are tried; odd, so that all remainders by a power of two are met."""


@dataclass(frozen=True, slots=True)
class Example:
    """The words of a binding for one value of the size.

    `layouts`, `rooms`: the places of layouts of values and of memory to work in; `loose`: of what any value of the size may
    have as another has it; `keep`: what the words mention."""

    words: list[int]
    layouts: frozenset[int]
    rooms: frozenset[int]
    loose: frozenset[int]
    keep: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Tuned:
    """The words of a binding, and its `struct tuning`."""

    words: list[int]
    tuning: list[int]
    keep: tuple[object, ...]


def tuned(example: Callable[[int], Example | None], layouts: Layouts, size: int, most: int) -> Tuned | None:
    """For a range about `size`, the only one that the run has found, at most `most`; None: for no range worth it."""
    near = size + 1 if size < most else size - 1
    if size < LEAST or near < LEAST:
        return None
    first, second = example(size), example(near)
    if first is None or second is None or len(first.words) != len(second.words):
        return None
    fit = _AffineFit(layouts, example, size, first, [first, second])
    if not fit.starts(near, second):
        return None
    least, greatest = fit.reached(LEAST), fit.reached(most)
    if greatest - least < LEAST_RANGE:
        return None
    trials = {least + (greatest - least) * trial // (TRIALS + 1) + trial % 2 for trial in range(1, TRIALS + 1)}
    if not all(map(fit.holds, sorted(trials))):
        return None
    last = example(greatest)
    return None if last is None else fit.finished(least, greatest, last)


@dataclass(slots=True)
class _AffineFit:
    layouts: Layouts
    example: Callable[[int], Example | None]
    size: int
    first: Example
    samples: list[Example]
    """So that no address is used twice."""
    numbers: list[tuple[int, Any]] = field(default_factory=list)
    factors: list[int] = field(default_factory=list)

    def read(self, example: Example) -> list[tuple[int, Any]]:
        """Each word as a number, and what has to be the same whatever the size."""
        numbers: list[tuple[int, Any]] = []
        for at, word in enumerate(example.words):
            if at in example.layouts or at in example.rooms:
                dtype, shape, strides = self.layouts.key(word)
                numbers.append((shape[0] if shape else 0, (dtype, shape[1:], strides)))
            else:
                numbers.append((0 if at in example.loose else word, None))
        return numbers

    def starts(self, near: int, second: Example) -> bool:
        """Find the factors, of two sizes that are neighbours."""
        self.numbers, other = self.read(self.first), self.read(second)
        self.factors = [(b - a) * (near - self.size) for (a, _), (b, _) in zip(self.numbers, other, strict=True)]
        return self.agrees(near, second, other) and all(self.factors[at] >= 0 for at in self.first.rooms)

    def agrees(self, size: int, example: Example, numbers: list[tuple[int, Any]]) -> bool:
        """Are these the words that the factors say?"""
        if (example.layouts, example.rooms, example.loose) != (self.first.layouts, self.first.rooms, self.first.loose):
            return False
        ahead = size - self.size
        lengths = [numbers[at][0] for at in example.layouts if self.factors[at]]
        return max(lengths, default=0) <= MOST_CELLS and all(
            number == was + factor * ahead and same == before
            for (was, before), factor, (number, same) in zip(self.numbers, self.factors, numbers, strict=True)
        )

    def holds(self, size: int) -> bool:
        example = self.example(size)
        if example is None or len(example.words) != len(self.first.words):
            return False
        self.samples.append(example)
        return self.agrees(size, example, self.read(example))

    def reached(self, end: int) -> int:
        """How far towards the end of a range it holds, as far as halving tells."""
        if self.holds(end):
            return end
        good = self.size
        while abs(end - good) > 1:
            middle = (good + end) // 2
            good, end = (middle, end) if self.holds(middle) else (good, middle)
        return good

    def finished(self, least: int, most: int, last: Example) -> Tuned:
        """Rooms are as large as any size wants them."""
        changes: list[int] = []
        count = 0
        for at, ((number, same), factor) in enumerate(zip(self.numbers, self.factors, strict=True)):
            if factor and at not in last.rooms:
                table = self.layouts.lengths(*same) if at in last.layouts else 0
                changes += (at, table, number - factor * self.size, factor)
                count += 1
        return Tuned(last.words, [least, most, most, count, *changes], last.keep)


# ---------------------------------------------------------------------------------------------------- specialization of calls

HEAD: Final = 11
"""Words of a `struct binding` before its key."""
FAULT: Final = 1
TUNING: Final = 6
"""Where it names these."""
SAVED_NANOSECONDS: Final = 8_000
"""What a native phase saves over one that Python does."""
Ready = TypeVar("Ready")


class Unbound(Exception):
    """There is no binding for such operands."""


class Later(Unbound):
    """A kernel is not there yet."""


class Specialization:
    """As it is made; `values`: the operands, of which only the layout and the place in memory matter.

    Places: the operands, the results, the rooms."""

    def __init__(
        self, layouts: Layouts, types: Types, threads: int, runs: int, values: Mapping[ValueId, NumArray],
        results: Sequence[ValueId],
    ) -> None:  # fmt: skip
        self.layouts, self.types, self.threads, self.runs, self.values = layouts, types, threads, runs, values
        self.places = {value: number for number, value in enumerate(values)}
        self.places |= {value: len(values) + number for number, value in enumerate(results)}
        self.operands, self.count = len(values), len(results)
        self.made: dict[ValueId, tuple[int, int, int]] = {}
        self.rooms: list[int] = []
        self.launches: list[list[int]] = []
        self.kernels: list[Kernel] = []
        self.keep: list[object] = []
        self.fault: Callable[[int, int], object] | None = None
        self.routine: Callable[..., Any] | None = None
        self.guard: Callable[[], object] | None = None
        self.apart = False
        self.lengths = 0
        """The table of the result's layouts, if the first launch counts its cells."""
        self.duration, self.helpers = 0.0, 0

    def wants(self, kernel: MachineCode) -> bool:
        """Is a kernel there, or is it time to make it?"""
        return tiering.is_worth(kernel, self.runs * SAVED_NANOSECONDS)

    def ready(self, result: object, type: type[Ready]) -> Ready:
        if result is None:
            raise Unbound
        if not isinstance(result, type):
            raise Later
        return result

    def view(self, value: ValueId, view: Callable[[Any], Any]) -> tuple[NumArray, Base]:
        """A view of an operand, and where it begins.  Unbound: it is a copy."""
        viewed = view(self.values[value])
        if isinstance(viewed, Deferred):
            raise Unbound
        array = np.asarray(viewed)
        return array, self.base(value, array)

    def base(self, value: ValueId, array: NumArray) -> Base:
        """Where a view of an operand begins.  Unbound: it is a copy."""
        source = self.values[value]
        if array.size and not np.may_share_memory(array, source):
            raise Unbound
        return self.places[value], start_of(array) - start_of(source)

    def result(self, value: ValueId, shape: tuple[int, ...], dtype: np.dtype[Any], order: Sequence[int] | None = None) -> int:
        """The place of a result, its axes in memory in some order."""
        layout = self.layouts.rows(shape, dtype)
        if order is not None and list(order) != sorted(order):
            layout = self.layouts.of(np.empty(shape, dtype).transpose(np.argsort(order).tolist()))
        self.made[value] = (layout, -1, 0)
        return self.places[value]

    def room(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> int:
        """The place of memory to work in, for so many items and a start at any multiple of `ALIGNMENT`."""
        self.rooms.append(self.layouts.rows((prod(shape) * dtype.itemsize + ALIGNMENT,), np.dtype(np.uint8)))
        return self.operands + self.count + len(self.rooms) - 1

    def launch(self, words: list[int] | None, nanoseconds: float) -> None:
        self.duration += nanoseconds
        if words is None or self.duration >= LONG_NANOSECONDS:  # then an interrupt must be heard meanwhile
            raise Unbound
        self.helpers = max(self.helpers, words[HELPERS_PLACE])
        self.launches.append(words)

    def share(self, pieces: Pieces, bases: Sequence[Base]) -> None:
        """The launch of pieces on these bases."""
        words = words_of(pieces.address, on_bases(pieces.blocks, bases), pieces.threads - 1, pieces.nanoseconds)
        self.launch(words, pieces.nanoseconds)

    def words(self, key: Sequence[int], overwrites: bool) -> list[int]:
        """`struct binding`, but for its neighbour and its tuning."""
        if len(self.made) != self.count:
            raise Unbound
        calls = (self.fault, self.routine, self.guard)
        self.keep += calls
        head = [0, *[0 if call is None else id(call) for call in calls], int(self.apart), self.lengths, 0, int(overwrites)]
        head += [len(self.rooms), len(self.launches), HEAD + len(key), *key]
        rows = [word for value in list(self.places)[self.operands :] for word in self.made[value]]
        return [*head, *rows, *self.rooms, *[word for launch in self.launches for word in (len(launch), *launch)]]

    def example(self, key: Sequence[int], overwrites: bool) -> Example:
        """The words, and which of them are what.  Unbound: they mention what was made for one size."""
        if self.keep:
            raise Unbound
        words = self.words(key, overwrites)
        first = HEAD + len(key)
        results = frozenset(range(first, first + 3 * self.count, 3))
        at = first + 3 * self.count + len(self.rooms)
        rooms, loose = frozenset(range(first + 3 * self.count, at)), {FAULT}
        for launch in self.launches:
            loose |= {at + 1 + offset for offset in parallel_for.LOOSE_PLACES}
            at += 1 + len(launch)
        return Example(words, frozenset(range(HEAD, HEAD + self.operands)) | results, rooms, frozenset(loose), tuple(self.keep))


def bind_structured(binding: Specialization, phase: Structured, run: Any = None) -> None:
    """What a structured phase (the first of a chain) does.  Unbound: there is no native way."""
    types = binding.types
    run = run or compile_structured(phase, types.kind, types.number, binding.threads)
    owner = compiled_of(run)
    if isinstance(owner, CompiledRun):
        results = list(binding.places)[binding.operands : binding.operands + binding.count]
        defined = [(value, types.kind(value)) for value in results]
        operands = [binding.view(value, view) for value, view in owner.views]
        bind_kernel(binding, owner, operands, defined)
        binding.fault = Fault(owner, binding.kernels[0], phase.span)
    elif all(r.reduction is None and isinstance(phase.body[r.node], ReadNode) for r in phase.results):
        for number, result in enumerate(phase.results):
            node = phase.body[result.node]
            assert isinstance(node, ReadNode)
            _shown(binding, run, number, phase.reads[node.index].value, result.value)
    else:
        raise Unbound


def _shown(binding: Specialization, run: Any, number: int, source: ValueId, result: ValueId) -> None:
    """A result that shows part of an operand."""
    array = np.asarray(run(binding.values, None)[number])
    if not array.size:
        raise Unbound
    at, ahead = binding.base(source, array)
    assert at is not None
    binding.made[result] = (binding.layouts.of(array), at, ahead)


class Fault:
    """Says what a kernel's failure is; returns where the phase has to be done again for that."""

    def __init__(self, run: CompiledRun, kernel: Kernel, span: Span) -> None:
        self.run, self.kernel, self.span = run, kernel, span

    def __call__(self, code: int, item: int) -> None:
        try:
            self.run.fail(self.kernel, code - 1, item)
        except Outside:
            return
        except CheckFailed as failure:
            raise failure.at(self.span) from None


def bind_kernel(
    binding: Specialization, run: CompiledRun, operands: Sequence[tuple[NumArray, Base]], defined: Sequence[tuple[ValueId, Kind]]
) -> None:
    """The launch of a kernel that makes these results; of those in parts (complex ones), and of what joins these."""
    split = run.body.split
    if not split:
        _launch(binding, run, operands, [(value, None) for value, _ in defined])
        return
    plain = copy(run)
    plain.body = replace(run.body, split=frozenset())
    targets: list[tuple[ValueId | None, int | None]] = []
    unsplit: list[tuple[ValueId, Kind, int]] = []
    for value, kind in defined:
        is_split = len(targets) in split
        if is_split:
            unsplit.append((value, kind, len(targets)))
        targets += [(None, None), (None, None)] if is_split else [(value, None)]
    parts = _launch(binding, plain, operands, targets)
    for value, kind, first in unsplit:
        pair = parts[first : first + 2]
        body, kinds = complex_from_parts(kind), [PART[kind]] * 2
        views = [(ValueId(-1), np.asarray)] * 2
        joining = CompiledRun(body, views, pair[0][0].shape, kinds, [], run.threads, run.mode, _nothing, 0)
        _launch(binding, joining, pair, [(value, None)])


def _launch(
    binding: Specialization, run: CompiledRun, operands: Sequence[tuple[NumArray, Base]],
    targets: Sequence[tuple[ValueId | None, int | None]],
) -> list[tuple[NumArray, Base]]:  # fmt: skip
    """The kernel for these operands; where its results lie (those of no value are rooms), and arrays that lie so."""
    bound = _bound(binding, run, [array for array, _ in operands])
    if bound.packs:
        raise Unbound
    bases: list[Base] = [base for _, base in operands]
    arrays = list(zip(bound.shapes, bound.dtypes, strict=True))
    results = [
        binding.room(shape, dtype) if value is None else binding.result(value, shape, dtype, bound.order[: len(shape)])
        for (value, _), (shape, dtype) in zip(targets, arrays, strict=True)
    ]
    rows = results if bound.partials == 1 else [binding.room((bound.partials, *shape), dtype) for shape, dtype in arrays]
    binding.share(bound.pieces, [*bases, *((row, 0) for row in rows)])
    binding.kernels.append(bound.kernel)
    for number, (row, result) in enumerate(zip(rows, results, strict=True)):
        if row != result:
            binding.share(bound.joining(number), [(row, 0), (result, 0)])
    order = sorted(range(len(bound.order)), key=bound.order.__getitem__)
    return [
        (np.empty(shape, dtype).transpose(order[: len(shape)]), (result, 0))
        for (shape, dtype), result in zip(arrays, results, strict=True)
    ]


def _bound(binding: Specialization, run: CompiledRun, arrays: Sequence[NumArray]) -> BoundKernel:
    stores = run.stores(False)
    key = (stores, layout_of(arrays))
    code = run.kept[key] if key in run.kept else run.code_for(arrays, stores)
    if code is not None and not isinstance(code, BoundKernel) and binding.wants(code):
        code = run.bind(code, arrays)
    run.kept[key] = code
    return binding.ready(code, BoundKernel)


def _nothing(values: Mapping[ValueId, Any], overwrite: NumArray | None) -> tuple[Any, ...]:
    return ()
