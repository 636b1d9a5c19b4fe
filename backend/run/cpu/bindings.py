"""What native code does for a phase on operands of some layouts: a binding, made from the kernels that the phase has.

A binding names no address of an operand: its launches speak of places among the operands, the results and the rooms to work in
(`native/run.c`, Note [Bindings]).

Neighbours: `sites` (asks), `launching` (words of launches), `compiled`, `rows`, `gathering`, `scanning`, `products` (what is
launched), `short_forms` (routines).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from math import prod
from typing import Any, Final, TypeVar

import numpy as np

from ....lang.diagnostics import Diagnostic, RunFailed
from ....lang.source import Span
from ....typechecker.elements import Kind
from ...graph.phases import LibraryPhase, Loop, Phase, ReadNode, Structured, ValueId
from ...graph.registry import frame_of, framed_of, is_unread
from ...graph.sums_of_products import is_summed, sum_of_products
from ...kernels import policy
from ...kernels.build import joining_body
from ...kernels.complexes import PART
from ...kernels.counting import Counting
from ...kernels.ir import Kernel, Stores
from ...kernels.llvm_leaf import has_feature, is_installed
from ...kernels.products import LETTERS
from ...kernels.selecting import WIDTHS, Form, Select
from ...kernels.store import Code, address_of
from ...loops.lower.kernel import KernelCode
from ..device import Kernel as Runner
from ..device import Types
from ..failures import CheckFailed
from ..native.layouts import Layouts
from ..pool import ALIGNMENT
from .blas import alone, blas
from .compiled import CompiledRun, layout_of
from .copying import drafted
from .few_pairs import every_pair
from .gathering import Outside, gather_run
from .kinds import DTYPES, NumArray
from .launching import HELPERS_PLACE, LONG_NANOSECONDS, Base, Block, Bound, combining_words, launch_words, moved, words_of
from .loops import LoopRun
from .products import batch_of, bound_product, may_be_mirrored, needs_rows, relocated
from .row_kernels import BoundRows
from .rows import RowsRun
from .scanning import Whole, scan_plan
from .short_forms import routine_of
from .space import common_stride
from .structured import compile_structured, compiled_of

SAVED_NANOSECONDS: Final = 8_000
"""What a native phase saves over one that Python does."""
MOST_SELECTED: Final = 8191
"""Items of a mask whose results, of any number of cells, are met again."""
_SELECT_NANOSECONDS: Final = 0.7
"""An item."""
_COPY_NANOSECONDS: Final = 0.3
"""A byte."""
MOST_BYTES: Final = 1 << 21
"""Of routines' operands: with larger ones entering Python is nothing."""
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
        self.lengths: NumArray | None = None
        self.selected: tuple[tuple[int, ...], np.dtype[Any]] | None = None
        """Of what is selected: the shape of a cell, and the dtype."""
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
        whole = self.values[value]
        array = np.asarray(view(whole))
        return array, self.base(value, array, view)

    def base(self, value: ValueId, array: NumArray, view: Callable[[Any], Any]) -> Base:
        whole = self.values[value]
        if array.size and not np.may_share_memory(array, whole):
            if array.size != 1:
                raise Unbound
            ahead = int(np.asarray(view(distances(whole))).reshape(())) - 1  # NumPy copies an item that is taken out
            if ahead % whole.itemsize or (ahead < 0 and whole.itemsize == 1):
                raise Unbound
            return self.places[value], ahead
        return self.places[value], address(array) - address(whole)

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

    def meet(self, count: int) -> None:
        """So many cells have been selected, and may be again."""
        assert self.lengths is not None and self.selected is not None
        if count < len(self.lengths):
            self.lengths[count] = self.layouts.rows((count, *self.selected[0]), self.selected[1])

    def words(self, key: Sequence[int], overwrites: bool) -> list[int]:
        """`struct binding`, but for its neighbour."""
        if len(self.made) != self.count:
            raise Unbound
        held = [0 if thing is None else id(thing) for thing in (self.fault, self.routine, self.guard)]
        self.keep += (self.fault, self.routine, self.guard)
        self.keep.append(self.lengths)
        lengths = 0 if self.lengths is None else address(self.lengths)
        head = [0, *held, int(self.apart), lengths, int(overwrites), len(self.rooms), len(self.launches), 10 + len(key), *key]
        rows = [word for value in list(self.places)[self.operands :] for word in self.made[value]]
        return [*head, *rows, *self.rooms, *[word for launch in self.launches for word in (len(launch), *launch)]]


def bind(binding: Binding, phase: Phase, run: Runner | LoopRun | None, turns: int = 0) -> None:
    """What a phase (the first of a chain) does.  Unbound: there is no native way."""
    match phase:
        case Loop():
            assert isinstance(run, LoopRun)
            _loop(binding, phase, run, turns)
        case LibraryPhase():
            _library(binding, phase)
        case Structured():
            owner = compiled_of(run)  # type: ignore[arg-type]
            if isinstance(owner, RowsRun):
                _rows(binding, owner)
            else:
                _structured(binding, phase, run)
        case _:
            raise Unbound


# ------------------------------------------------------------------------------------------ structured phases


def _structured(binding: Binding, phase: Structured, run: Any = None) -> None:
    types = binding.types
    run = run or compile_structured(phase, types.kind, types.number, binding.threads)
    owner = compiled_of(run)
    if isinstance(owner, CompiledRun):
        made = [(result.value, types.kind(result.value)) for result in phase.results]
        operands = [binding.view(value, view) for value, view in owner.views]
        _kernel(binding, owner, operands, made)
        binding.fault = _Fault(owner, binding.kernels[0], phase.span)
    elif all(r.reduction is None and isinstance(phase.body[r.node], ReadNode) for r in phase.results):
        for place, result in enumerate(phase.results):
            node = phase.body[result.node]
            assert isinstance(node, ReadNode)
            _shown(binding, run, place, phase.reads[node.index].value, result.value)
    else:
        raise Unbound


def _shown(binding: Binding, run: Any, place: int, source: ValueId, result: ValueId) -> None:
    """A result that shows part of an operand."""

    def view(operand: Any) -> Any:
        return np.asarray(run({**binding.values, source: operand}, None)[place])

    array = view(binding.values[source])
    if not array.size:
        raise Unbound
    at, ahead = binding.base(source, array, view)
    assert at is not None
    binding.made[result] = (binding.layouts.of(array), at, ahead)


class _Fault:
    """Says what a kernel's failure is; returns where the phase has to be done again for that."""

    def __init__(self, run: CompiledRun, kernel: Kernel, span: Span) -> None:
        self.run, self.kernel, self.span = run, kernel, span

    def __call__(self, code: int, item: int) -> None:
        try:
            self.run.fail(self.kernel, code - 1, item)
        except Outside:
            return
        except CheckFailed as failure:
            raise RunFailed([Diagnostic(failure.code, failure.message, failure.span or self.span)]) from None


def _kernel(
    binding: Binding, run: CompiledRun, operands: Sequence[tuple[NumArray, Base]], made: Sequence[tuple[ValueId, Kind]],
    turns: int = 0,
) -> None:  # fmt: skip
    """The launch of a kernel that makes these results; of those in parts (complex ones), and of what joins these."""
    split = run.body.split
    if not split:
        _launch(binding, run, operands, [(value, None) for value, _ in made], turns)
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
    parts = _launch(binding, plain, operands, targets, turns)
    for value, kind, first in whole:
        pair = parts[first : first + 2]
        body, kinds = joining_body(kind), [PART[kind]] * 2
        views = [(ValueId(-1), np.asarray)] * 2
        joining = CompiledRun(body, views, pair[0][0].shape, kinds, [], run.threads, run.mode, _nothing, 0)
        _launch(binding, joining, pair, [(value, None)])


def _launch(
    binding: Binding, run: CompiledRun, operands: Sequence[tuple[NumArray, Base]],
    targets: Sequence[tuple[ValueId | None, int | None]], turns: int = 0,
) -> list[tuple[NumArray, Base]]:  # fmt: skip
    """The kernel for these operands; where its results lie (those of no value are rooms), and arrays that lie so."""
    bound = _bound(binding, run, [array for array, _ in operands])
    if bound.packs or (bound.partials > 1 and not bound.combine):
        raise Unbound
    bases: list[Base] = [base for _, base in operands]
    results = [
        binding.room(bound.shape, dtype) if value is None else binding.result(value, bound.shape, dtype, bound.order)
        for (value, _), dtype in zip(targets, bound.dtypes, strict=True)
    ]
    rows = results if bound.partials == 1 else [binding.room((bound.partials, *bound.shape), dtype) for dtype in bound.dtypes]
    words = launch_words(bound, bases, [(row, 0) for row in rows], turns)
    binding.launch(words, bound.duration * max(1, turns))
    binding.kernels.append(bound.kernel)
    for place, (row, result) in enumerate(zip(rows, results, strict=True)):
        if row != result:
            binding.launch(combining_words(bound, place, (row, 0), (result, 0)), 0)
    order = sorted(range(len(bound.order)), key=bound.order.__getitem__)
    return [
        (np.empty(bound.shape, dtype).transpose(order), (result, 0)) for dtype, result in zip(bound.dtypes, results, strict=True)
    ]


def _bound(binding: Binding, run: CompiledRun, arrays: Sequence[NumArray]) -> Bound:
    stores = run.stores(False)
    key = (stores, layout_of(arrays))
    found = run.kept[key] if key in run.kept else run.kernel_for(arrays, stores)
    if isinstance(found, Kernel) and binding.wants(KernelCode(found)):
        found = run.bind(found, arrays)
    run.kept[key] = found
    return binding.ready(found, Bound)


def _loop(binding: Binding, phase: Loop, run: LoopRun, turns: int) -> None:
    count = len(phase.initial)
    operands = [binding.view(value, np.asarray) for value in phase.initial]
    operands += [binding.view(value, view) for value, view in run.views[count:]]
    _kernel(binding, run, operands, [(value, binding.types.kind(value)) for value in phase.results], turns)
    binding.fault = _Fault(run, binding.kernels[0], phase.span)


def _rows(binding: Binding, run: RowsRun) -> None:
    """A chain along rows."""
    kernels = run.compiled
    if kernels is None:
        raise Unbound
    operands = [binding.view(value, view) for value, view in run.reads]
    arrays = [array for array, _ in operands]
    key = (Stores.PLAIN, *layout_of(arrays))
    found = kernels.kept[key] if key in kernels.kept else kernels.kernel(arrays, Stores.PLAIN)
    if found is not None and not isinstance(found, BoundRows) and binding.wants(found):
        found = kernels.bind(found, arrays)
    kernels.kept[key] = found
    bound = binding.ready(found, BoundRows)
    results = [
        binding.result(value, run.space[:-1] if on_row else run.space, DTYPES[kind])
        for value, kind, on_row in zip(list(binding.places)[binding.operands :], run.kinds, run.chain.is_row, strict=True)
    ]
    pitch = -(-bound.scratch // ALIGNMENT) * ALIGNMENT
    scratch = binding.room((len(bound.pieces) * pitch,), np.dtype(np.uint8))
    bases: list[Base] = [*(base for _, base in operands), *((result, 0) for result in results)]
    blocks = []
    for number, (words, sources, ahead) in enumerate(bound.pieces):
        addresses = moved((*bound.operand_places, *bound.result_places), bases, (*sources, *ahead))
        blocks.append(Block(words, [*addresses, (len(words) - 1, (scratch, number * pitch))]))
    start, duration = ctypes.cast(bound.call, ctypes.c_void_p).value or 0, kernels.work  # type: ignore[arg-type]
    binding.launch(words_of(start, blocks, min(binding.threads, len(blocks)) - 1, duration), duration)


# -------------------------------------------------------------------------------------------- library phases


def _library(binding: Binding, phase: LibraryPhase) -> None:
    if len(phase.results) != 1 or (phase.defines and phase.op not in _SELECTING) or is_unread(phase):
        raise Unbound
    if 0 in [array.size for array in binding.values.values()]:
        raise Unbound
    try:
        _KERNELS.get(phase.op, _routine)(binding, phase)
    except Later:
        raise
    except Unbound:
        if phase.op not in _KERNELS or phase.op in _SELECTING:
            raise
        _routine(binding, phase)


def _routine(binding: Binding, phase: LibraryPhase) -> None:
    """A function of NumPy's."""
    types = binding.types
    if Kind.CHAR in map(types.kind, (*phase.args, *phase.results)) or list(binding.values) != list(phase.args):
        raise Unbound
    if sum([array.nbytes for array in binding.values.values()]) > MOST_BYTES:
        raise Unbound
    binding.routine = routine_of(phase, types)
    if binding.routine is None:
        raise Unbound
    (value,) = phase.results
    binding.result(value, types.shape(value), DTYPES[types.kind(value)])


def _gather(binding: Binding, phase: LibraryPhase) -> None:
    """Items by indices."""
    table, indices = [binding.values[value] for value in phase.args]
    run = gather_run(phase, list(map(binding.types.kind, phase.args)), table, indices, binding.threads, least=0)
    if run is None:
        raise Unbound
    operands = [binding.view(value, view) for value, view in run.views]
    _kernel(binding, run, operands, [(phase.results[0], binding.types.kind(phase.results[0]))])
    binding.fault = _Fault(run, binding.kernels[0], phase.span)


def _pairs(binding: Binding, phase: LibraryPhase) -> None:
    """Few items in few."""
    made = every_pair(phase, binding.types)
    if made is None:
        raise Unbound
    _structured(binding, made)


def _scan(binding: Binding, phase: LibraryPhase) -> None:
    (source,), (value,), function, axis = phase.args, phase.results, phase.attributes["function"], phase.attributes["axis"]
    array, kind = binding.values[source], binding.types.kind(value)
    assert isinstance(function, str)
    assert isinstance(axis, int)
    plan = scan_plan(function, kind, array, axis + frame_of(phase), binding.threads, least=0)
    if not isinstance(plan, Whole):
        raise Later if plan is None and array.dtype == DTYPES[kind] else Unbound
    carry = plan.carry
    binding.keep.append(carry)
    result = binding.result(value, array.shape, array.dtype)
    bases: list[Base] = [(binding.places[source], 0), (result, 0), (None, address(carry))]
    pieces = plan.pieces
    blocks = [_on(block, bases) for block in pieces.blocks]
    binding.launch(words_of(pieces.address, blocks, pieces.threads - 1, pieces.nanoseconds), pieces.nanoseconds)


def _on(block: Block, bases: Sequence[Base]) -> Block:
    """A block on other bases."""
    moved_to = [(at, (bases[which or 0][0], bases[which or 0][1] + ahead)) for at, (which, ahead) in block.addresses]
    return Block(block.words, moved_to)


def _product(binding: Binding, phase: LibraryPhase) -> None:
    """A product of matrices of floats or complex numbers, or of vectors; or as many products as a frame has points."""
    types, args, (value,), depth = binding.types, phase.args, phase.results, frame_of(phase)
    kind, arrays, sizes = types.kind(value), [binding.values[arg] for arg in args], [types.types[arg].shape for arg in args]
    if kind not in LETTERS or not all(0 < len(shape) - depth < 3 for shape in sizes) or (depth and not all(framed_of(phase))):
        raise Unbound
    rows, columns = prod(arrays[0].shape[depth:-1]), prod(arrays[1].shape[depth + 1 :])
    if 1 in (rows, columns) or (not depth and is_summed(rows, arrays[0].shape[-1], columns)):
        _structured(binding, sum_of_products(kind, sizes[0], sizes[1], depth, (args[0], args[1], value)))
        return
    batches = [batch for array in arrays if (batch := batch_of(array, depth)) is not None]
    if len(batches) < 2 or blas() is None or batches[0].shape[-1] == 1:
        raise Unbound
    into_rows = needs_rows(kind, *batches)
    binding.apart = may_be_mirrored(*batches)  # `products` has a way of its own with a matrix and itself transposed
    if binding.apart and address(batches[0]) == address(batches[1]):
        raise Later
    bases: list[Base] = [(binding.places[arg], 0) for arg in args]
    for place, is_copied in enumerate(into_rows):
        if is_copied:
            batches[place], bases[place] = _in_rows(binding, batches[place], bases[place])
    bound = bound_product(kind, batches[0], batches[1], binding.threads)
    if bound is None or not bound.address:
        raise Unbound
    bases.append((binding.result(value, types.shape(value), DTYPES[kind]), 0))
    binding.guard = alone if bound.large else None
    binding.launch(words_of(bound.address, relocated(bound, bases), bound.helpers, bound.duration), bound.duration)


def _in_rows(binding: Binding, array: NumArray, source: Base) -> tuple[NumArray, Base]:
    """A copy in rows: an array that lies so, and where it is."""
    target = np.empty(array.shape, array.dtype)
    draft = drafted(target, array, 1, streams=False)
    if draft is None:
        raise Unbound
    if not binding.wants(draft.kernel):
        raise Later
    room: Base = (binding.room(array.shape, array.dtype), 0)
    duration = array.nbytes * _COPY_NANOSECONDS
    blocks = [_on(block, (source, room)) for block in draft.blocks]
    binding.launch(words_of(address_of(draft.kernel) or 0, blocks, 0, duration), duration)
    return target, room


def _select(binding: Binding, phase: LibraryPhase) -> None:
    """What a mask holds along the first axis, or where it holds: counted, then written."""
    types, (value,), (variable,) = binding.types, phase.results, phase.defines
    mask = binding.values[phase.args[0]]
    limit = mask.size if variable.cap is None else types.number(variable.cap)
    if any(variable in guard.variables() for guard in types.guards) or limit < mask.size or mask.size > MOST_SELECTED:
        raise Unbound  # Python checks what is found
    if not is_installed() or mask.dtype != np.bool_ or not mask.flags.c_contiguous:
        raise Unbound
    code, words, places = (_compressed if phase.op == "compress" else _where)(binding, phase, mask)
    if not (binding.wants(code) and binding.wants(Counting())):
        raise Later
    start, counting = address_of(code), address_of(Counting())
    if start is None or counting is None:
        raise Unbound
    shape, dtype = types.shape(value), DTYPES[types.kind(value)]
    result = binding.result(value, shape, dtype)
    binding.lengths = np.array([binding.layouts.rows((n, *shape[1:]), dtype) if mask.size < 64 or n == shape[0] else 0
                                for n in range(mask.size + 1)], np.int64)  # fmt: skip
    binding.selected = shape[1:], dtype
    counter = binding.room((8,), np.dtype(np.uint8))
    masks: Base = (binding.places[phase.args[0]], 0)
    counted = [(1, masks), (2, (counter, 0))]
    work = mask.size * _SELECT_NANOSECONDS
    binding.launch(words_of(counting, [Block([mask.size, 0, 0], counted)], 0, work), work)
    written = [(2, masks), (7, (result, 0)), (8, (counter + 1, 0)), *places]
    binding.launch(words_of(start, [Block(words, written)], 0, work), work)


def _compressed(binding: Binding, phase: LibraryPhase, mask: NumArray) -> tuple[Select, list[int], list[tuple[int, Base]]]:
    array = binding.values[phase.args[1]]
    if not array.ndim or mask.size != array.shape[0] or phase.attributes["axis"] != 0:
        raise Unbound
    bytes, step = array.itemsize * prod(array.shape[1:]), array.strides[0]
    if bytes != array.itemsize and common_stride(array.shape[1:], array.strides[1:]) != array.itemsize:
        raise Unbound
    code = Select(Form.COPY, bytes, step == bytes, has_feature("avx512vl")) if bytes in WIDTHS else Select(Form.CELLS)
    return code, [1, mask.size, 0, 0, 0, 0, step, 0, 0, bytes], [(4, (binding.places[phase.args[1]], 0))]


def _where(binding: Binding, phase: LibraryPhase, mask: NumArray) -> tuple[Select, list[int], list[tuple[int, Base]]]:
    if mask.ndim not in (1, 2):
        raise Unbound
    if mask.ndim == 1:
        return Select(Form.PLACES, packs=has_feature("avx512vl")), [1, mask.size, *[0] * 8], []
    rows, columns = mask.shape
    return Select(Form.PAIRS), [rows, columns, 0, columns, *[0] * 6], []


_SELECTING: Final = ("compress", "where")
_KERNELS: Final[dict[str, Callable[[Binding, LibraryPhase], None]]] = {
    "gather": _gather, "contract": _product, "scan": _scan, "index_of": _pairs, "member_of": _pairs, "first_occurrence": _pairs,
    "compress": _select, "where": _select,
}  # fmt: skip


def address(array: NumArray) -> int:
    found: int = array.__array_interface__["data"][0]
    return found


def distances(array: NumArray) -> NumArray:
    """Each item's distance in bytes from the first one, and one more (so that no fill looks like one)."""
    found = np.ones(array.shape, np.int64)
    for axis, (length, stride) in enumerate(zip(array.shape, array.strides, strict=True)):
        found += (np.arange(length) * stride).reshape(-1, *(1,) * (array.ndim - axis - 1))
    return found


def _nothing(values: Mapping[ValueId, Any], overwrite: NumArray | None) -> tuple[Any, ...]:
    return ()
