"""What native code does for a phase on operands of some layouts: a binding, made from the kernels that the phase has.

A binding names no address of an operand: its launches speak of places among the operands, the results and the rooms to work in
(`native/run.c`, Note [Bindings]).

Neighbours: `sites` (asks), `backend.library` (of library phases), `launching` (words of launches), `compiled`, `rows` (what is
launched).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from math import prod
from typing import Any, Final, TypeVar

import numpy as np

from ....lang.source import Span
from ....typechecker.elements import Kind
from ...graph.phases import ReadNode, Structured, ValueId
from ...kernels import policy
from ...kernels.build import joining_body
from ...kernels.complexes import PART
from ...kernels.ir import Kernel
from ...kernels.store import Code
from ..device import Types
from ..failures import CheckFailed
from ..native.layouts import Layouts
from ..native.tuning import Example
from ..pool import ALIGNMENT
from . import launching
from .bound import Bound
from .compiled import CompiledRun, layout_of
from .deferred import Deferred
from .gathering import Outside
from .kinds import NumArray, start_of
from .launching import HELPERS_PLACE, LONG_NANOSECONDS, Base, on_bases, words_of
from .sharing import Pieces
from .structured import compile_structured, compiled_of

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


class Binding:
    """As it is made; `values`: the operands, of which only the layout and the place in memory matter.

    Places: the operands, the results, the rooms."""

    def __init__(
        self, layouts: Layouts, types: Types, threads: int, runs: int, values: Mapping[ValueId, NumArray],
        results: Sequence[ValueId],
    ) -> None:  # fmt: skip
        self.layouts, self.types, self.threads, self.runs, self.values = layouts, types, threads, runs, values
        self.places = {value: place for place, value in enumerate(values)}
        self.places |= {value: len(values) + place for place, value in enumerate(results)}
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

    def wants(self, kernel: Code) -> bool:
        """Is a kernel there, or is it time to make it?"""
        return policy.is_worth(kernel, self.runs * SAVED_NANOSECONDS)

    def ready(self, found: object, type: type[Ready]) -> Ready:
        if found is None:
            raise Unbound
        if not isinstance(found, type):
            raise Later
        return found

    def view(self, value: ValueId, view: Callable[[Any], Any]) -> tuple[NumArray, Base]:
        """A view of an operand, and where it begins.  Unbound: it is a copy."""
        found = view(self.values[value])
        if isinstance(found, Deferred):
            raise Unbound
        array = np.asarray(found)
        return array, self.base(value, array)

    def base(self, value: ValueId, array: NumArray) -> Base:
        """Where a view of an operand begins.  Unbound: it is a copy."""
        whole = self.values[value]
        if array.size and not np.may_share_memory(array, whole):
            raise Unbound
        return self.places[value], start_of(array) - start_of(whole)

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
            loose |= {at + 1 + place for place in launching.LOOSE_PLACES}
            at += 1 + len(launch)
        return Example(words, frozenset(range(HEAD, HEAD + self.operands)) | results, rooms, frozenset(loose), tuple(self.keep))


def bind_structured(binding: Binding, phase: Structured, run: Any = None) -> None:
    """What a structured phase (the first of a chain) does.  Unbound: there is no native way."""
    types = binding.types
    run = run or compile_structured(phase, types.kind, types.number, binding.threads)
    owner = compiled_of(run)
    if isinstance(owner, CompiledRun):
        made = [(value, types.kind(value)) for value in list(binding.places)[binding.operands : binding.operands + binding.count]]
        operands = [binding.view(value, view) for value, view in owner.views]
        bind_kernel(binding, owner, operands, made)
        binding.fault = Fault(owner, binding.kernels[0], phase.span)
    elif all(r.reduction is None and isinstance(phase.body[r.node], ReadNode) for r in phase.results):
        for place, result in enumerate(phase.results):
            node = phase.body[result.node]
            assert isinstance(node, ReadNode)
            _shown(binding, run, place, phase.reads[node.index].value, result.value)
    else:
        raise Unbound


def _shown(binding: Binding, run: Any, place: int, source: ValueId, result: ValueId) -> None:
    """A result that shows part of an operand."""
    array = np.asarray(run(binding.values, None)[place])
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
    binding: Binding, run: CompiledRun, operands: Sequence[tuple[NumArray, Base]], made: Sequence[tuple[ValueId, Kind]]
) -> None:
    """The launch of a kernel that makes these results; of those in parts (complex ones), and of what joins these."""
    split = run.body.split
    if not split:
        _launch(binding, run, operands, [(value, None) for value, _ in made])
        return
    plain = copy(run)
    plain.body = replace(run.body, split=frozenset())
    targets: list[tuple[ValueId | None, int | None]] = []
    whole: list[tuple[ValueId, Kind, int]] = []
    for value, kind in made:
        is_split = len(targets) in split
        if is_split:
            whole.append((value, kind, len(targets)))
        targets += [(None, None), (None, None)] if is_split else [(value, None)]
    parts = _launch(binding, plain, operands, targets)
    for value, kind, first in whole:
        pair = parts[first : first + 2]
        body, kinds = joining_body(kind), [PART[kind]] * 2
        views = [(ValueId(-1), np.asarray)] * 2
        joining = CompiledRun(body, views, pair[0][0].shape, kinds, [], run.threads, run.mode, _nothing, 0)
        _launch(binding, joining, pair, [(value, None)])


def _launch(
    binding: Binding, run: CompiledRun, operands: Sequence[tuple[NumArray, Base]],
    targets: Sequence[tuple[ValueId | None, int | None]],
) -> list[tuple[NumArray, Base]]:  # fmt: skip
    """The kernel for these operands; where its results lie (those of no value are rooms), and arrays that lie so."""
    bound = _bound(binding, run, [array for array, _ in operands])
    if bound.packs:
        raise Unbound
    bases: list[Base] = [base for _, base in operands]
    made = list(zip(bound.shapes, bound.dtypes, strict=True))
    results = [
        binding.room(shape, dtype) if value is None else binding.result(value, shape, dtype, bound.order[: len(shape)])
        for (value, _), (shape, dtype) in zip(targets, made, strict=True)
    ]
    rows = results if bound.partials == 1 else [binding.room((bound.partials, *shape), dtype) for shape, dtype in made]
    binding.share(bound.pieces, [*bases, *((row, 0) for row in rows)])
    binding.kernels.append(bound.kernel)
    for place, (row, result) in enumerate(zip(rows, results, strict=True)):
        if row != result:
            binding.share(bound.joining(place), [(row, 0), (result, 0)])
    order = sorted(range(len(bound.order)), key=bound.order.__getitem__)
    return [
        (np.empty(shape, dtype).transpose(order[: len(shape)]), (result, 0))
        for (shape, dtype), result in zip(made, results, strict=True)
    ]


def _bound(binding: Binding, run: CompiledRun, arrays: Sequence[NumArray]) -> Bound:
    stores = run.stores(False)
    key = (stores, layout_of(arrays))
    found = run.kept[key] if key in run.kept else run.code_for(arrays, stores)
    if found is not None and not isinstance(found, Bound) and binding.wants(found):
        found = run.bind(found, arrays)
    run.kept[key] = found
    return binding.ready(found, Bound)


def _nothing(values: Mapping[ValueId, Any], overwrite: NumArray | None) -> tuple[Any, ...]:
    return ()
