"""Memory: the bytes that a phase needs while it runs, beside its operands and results, and the liveness of the values of a block.

NumPy computes in slices of an eighth of `LARGE_SPACE_POINTS` points (a half where they are reduced), small spaces in one.
Kernels pack operands in that room, of which large spaces have four times as much, whatever the team, so that a plan says the
same on every machine.
Counted at the most values that are alive at once, plus what compound functions use inside.  Reads that no strides may say (a
ravel of a broadcast) are copied slice by slice, and count as what is computed does; what is computed once from such reads has
copies of them beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import reduce
from math import prod
from typing import Final, Generic, Protocol, TypeVar

from ....lang.support.records import dataclass, field
from ....typechecker.elements import ArrayType, is_sequential
from ....typechecker.sizes.polynomials import ZERO, Size, number, product
from ....typechecker.sizes.size import minimum, quotient, upper_bound
from ...graph import traverse
from ...graph.passes.pipeline import bound_function
from ...graph.phases import (
    ARGUMENT_REDUCTIONS,
    Affine,
    ApplyNode,
    AxisNode,
    Constant,
    Graph,
    Input,
    LibraryPhase,
    Loop,
    Output,
    Phase,
    Print,
    Projection,
    Read,
    ReadNode,
    Reshaped,
    Structured,
    ValueId,
    frame_of,
    kind_of,
)
from ...graph.registry import called
from ...graph.scratch import right_fold
from ...graph.symbolic_costs import bytes_of, cost_of, total, upper_bound_of
from ...scalar.function_table import REDUCTIONS, ROWS
from ..plan.plan import ALIGNMENT, Role, Step, SubPlan, sub_plans

LARGE_SPACE_POINTS: Final = 1 << 18
"""Points of scratch for large spaces, twice as many where they are reduced."""
CHAIN_POINTS: Final = 1 << 15
"""Points of the rows of a chain that are computed together, or one row."""
SMALL_SPACE_POINTS: Final = 1 << 19
"""Spaces of fewer points have a quarter of that scratch."""
SUM_POINTS: Final = 1 << 20
"""Items summed at once."""
LANES: Final = 256
BLOCK: Final = 4096
_INNER_ARRAYS: Final = 3
"""Temporary arrays of a slice that one compound function may need."""


def workspace(phase: Structured, number: Callable[[Size], int], scattered: Container[ValueId] = ()) -> int:
    """Scratch bytes of the phase.  `scattered`: the values that may not be contiguous."""
    applied = [node for node in phase.body if isinstance(node, ApplyNode | AxisNode)]
    sizes = [number(axis.size) for axis in phase.axes]
    points = prod(sizes)
    reduces = any(r.reduction is not None for r in phase.results)
    lanes = _lane_bytes(points, sizes[-1]) + number(_sequential_bytes(phase)) if reduces else 0
    undivided = number(_bytes_computed_once(phase)) if phase.reads else 0
    deferred = deferred_bytes(phase, scattered)
    if not applied:
        undivided = undivided if reduces else 0
        if not deferred:
            return lanes + undivided
    each, most = _bytes_per_point(phase, applied, deferred, reduces=reduces)
    at_once = points if _has_full_slices(phase) else most if points >= SMALL_SPACE_POINTS else most // 4
    return min(points, at_once) * each + lanes + undivided


def rows_workspace(phase: Structured, number: Callable[[Size], int], scattered: Container[ValueId] = ()) -> int:
    """Scratch bytes of a chain along rows: those of the rows that are computed together."""
    sizes = [number(axis.size) for axis in phase.axes]
    applied = [node for node in phase.body if isinstance(node, ApplyNode)]
    each, _ = _bytes_per_point(phase, applied, deferred_bytes(phase, scattered), reduces=False)
    results = sum(kind_of(phase.body[r.node]).bytes for r in phase.results)
    in_work = rows_points(prod(sizes), sizes[-1])
    return in_work * (each + results) + _lane_bytes(in_work, sizes[-1])


def rows_points(points: int, row: int) -> int:
    """Points computed together: few enough that a chain needs no more memory than its members one by one."""
    return max(row, min(CHAIN_POINTS, points // 4))


def deferred_bytes(phase: Structured, scattered: Container[ValueId] = ()) -> dict[int, int]:
    """By node, the bytes a point that its read copies."""
    deferred: dict[int, int] = {}
    for index, node in enumerate(phase.body):
        if isinstance(node, ReadNode) and (copies := _copies(phase.reads[node.index], scattered)):
            deferred[index] = node.kind.bytes * copies
    return deferred


def _copies(read: Read, scattered: Container[ValueId]) -> int:
    """Items copied for each item read: one for a reshape, more for padding before it."""
    stages = read.projection.stages
    if stages and isinstance(stages[-1], Reshaped) and read.value not in scattered:
        stages = stages[:-1]  # the last stage reads contiguous rows: a view
    last = max((index for index, stage in enumerate(stages) if isinstance(stage, Reshaped)), default=-1)
    copies, around = 0, 1
    for stage in stages[: last + 1]:
        if isinstance(stage, Reshaped):
            copies += around
        else:
            around *= 2
            copies += around if stage.fills else 0
    return copies


def _bytes_computed_once(phase: Structured) -> Size:
    """Bytes of arrays computed once for all slices: nodes that do not vary on every axis, their reads of reshapes, padded copies
    of reads with fills."""
    rank = len(phase.axes)
    every = frozenset(range(rank))
    sizes = [upper_bound(axis.size) for axis in phase.axes]
    points = product(sizes)
    total = ZERO
    varying: list[frozenset[int]] = []
    for node in phase.body:
        on: frozenset[int] = frozenset()
        match node:
            case ReadNode():
                on = _varying(phase.reads[node.index].projection, every)
            case AxisNode():
                on = frozenset({node.axis})
            case ApplyNode():
                on = on.union(*(varying[a] for a in node.args))
        varying.append(on)
    full = frozenset().union(*(varying[r.node] for r in phase.results)) if phase.results else every
    inside = ZERO
    once: set[int] = set()
    for node, on in zip(phase.body, varying, strict=True):
        if isinstance(node, ApplyNode) and on != full:
            items = product(sizes[axis] for axis in sorted(on))
            total = total + items * node.kind.bytes
            inside = upper_bound_of(inside, items * _inner_bytes(phase, node))
            once.update(node.args)
    total = total + inside
    for node_index, node in enumerate(phase.body):
        if node_index in once and isinstance(node, ReadNode) and _is_reshaped(phase.reads[node.index]):
            total = total + product(sizes[axis] for axis in sorted(varying[node_index])) * node.kind.bytes
    kinds = {node.index: node.kind for node in phase.body if isinstance(node, ReadNode)}
    for index, read in enumerate(phase.reads):
        for stage in read.projection.stages:
            if isinstance(stage, Affine) and stage.fills and index in kinds:
                total = total + _padded(stage, points) * kinds[index].bytes
    return total


def _is_reshaped(read: Read) -> bool:
    return any(isinstance(stage, Reshaped) for stage in read.projection.stages[:-1])


def _varying(projection: Projection, every: frozenset[int]) -> frozenset[int]:
    """The axes of the space that a read depends on."""
    on: frozenset[int] | None = None  # axes of the box after the stage; None is all
    for stage in reversed(projection.stages):
        if isinstance(stage, Reshaped):
            on = _reinterpreted(stage, on)
            continue
        used = [t.axis for a, index in enumerate(stage.indices) if on is None or a in on or stage.fills for t in index.terms]
        on = frozenset(used)
    return every if on is None else on


def _reinterpreted(stage: Reshaped, on: frozenset[int] | None) -> frozenset[int] | None:
    """The axes before a reshape on which the axes `on` after it depend: those of the shortest runs of axes with equal
    products."""
    if on is None:
        return None
    axes: set[int] = set()
    i = j = 0
    while i < len(stage.source) or j < len(stage.target):
        ends = [(a, b) for b in range(j, len(stage.target) + 1) for a in range(i, len(stage.source) + 1) if (a, b) != (i, j)]
        ends.sort(key=sum)
        stop = len(stage.source), len(stage.target)
        a, b = next((e for e in ends if product(stage.source[i : e[0]]) == product(stage.target[j : e[1]])), stop)
        if any(axis in on for axis in range(j, b)):
            axes.update(range(i, a))
        i, j = a, b
    return frozenset(axes)


def _padded(stage: Affine, points: Size) -> Size:
    """Items of a read's bounding box or, where that is too large, of its index arrays (two per axis and a mask)."""
    terms = [term for index in stage.indices for term in index.terms]
    if all(abs(term.coefficient) == 1 for term in terms) and len({term.axis for term in terms}) == len(terms):
        return points
    return points * (3 + 16 * len(stage.indices))


def _bytes_per_point(
    phase: Structured, applied: Sequence[ApplyNode | AxisNode], deferred: Mapping[int, int], *, reduces: bool
) -> tuple[int, int]:
    """Bytes a point of a slice, and the most points of a slice."""
    inside = max((_inner_bytes(phase, node) for node in applied), default=0)
    widest = max((node.kind.bytes if isinstance(node, ApplyNode) else 8 for node in applied), default=8)
    live = _live_bytes(phase, deferred, counts_results=reduces) + inside
    return live, LARGE_SPACE_POINTS * 2 if reduces else LARGE_SPACE_POINTS * 8 // widest


SMALL_PRODUCTS: Final = 1 << 22
"""Matrix products below which non-contiguous operands are copied (`backend.library.products`)."""
_READ_IN_PLACE: Final = frozenset({
    "join", "broadcast", "stack", "rotate", "scan", "size_vector", "runtime_size", "match", "random",
})  # fmt: skip


def copied_operands(phase: LibraryPhase, scattered: Container[ValueId], types: Mapping[ValueId, ArrayType]) -> list[ValueId]:
    """The operands that a library op copies because they may not be contiguous."""
    if phase.op in _READ_IN_PLACE:
        return []
    if phase.op == "contract" and not frame_of(phase) and all(len(types[value].shape) <= 2 for value in phase.args):
        items = product(map(upper_bound, (*types[phase.args[0]].shape, *types[phase.args[1]].shape[1:]))).constant
        if items is not None and items > SMALL_PRODUCTS:
            return []
    return [value for value in dict.fromkeys(phase.args) if value in scattered]


def is_reordered(phase: Phase, types: Mapping[ValueId, ArrayType]) -> bool:
    """May the results of a phase be stored in another order of axes than the program's (that of their operands)?"""
    if not isinstance(phase, Structured) or len(types[phase.results[0].value].shape) < 2:
        return False
    return any(read.projection.stages for read in phase.reads)


def workspace_bound(phase: Structured, scattered: Container[ValueId] = ()) -> Size:
    """An upper bound of `workspace`, as a formula in the sizes."""
    applied = [node for node in phase.body if isinstance(node, ApplyNode | AxisNode)]
    points = product(upper_bound(axis.size) for axis in phase.axes)
    reduces = any(r.reduction is not None for r in phase.results)
    lanes = minimum(points, SUM_POINTS) * (_INNER_ARRAYS * 8 // 2) + quotient(points, BLOCK) * 16 + 1 if reduces else ZERO
    lanes = lanes + _sequential_bytes(phase)
    undivided = _bytes_computed_once(phase) if phase.reads else ZERO
    deferred = deferred_bytes(phase, scattered)
    if not applied:
        undivided = undivided if reduces else ZERO
        if not deferred:
            return lanes + undivided
    each, most = _bytes_per_point(phase, applied, deferred, reduces=reduces)
    return (points if _has_full_slices(phase) else minimum(points, most)) * each + lanes + undivided


def _has_full_slices(phase: Structured) -> bool:
    """Do slices have all of the reduced axis, since a reduction of parts does not join?"""
    return any((result.reduction or "add") not in REDUCTIONS | ARGUMENT_REDUCTIONS for result in phase.results)


def _sequential_bytes(phase: Structured) -> Size:
    """Bytes of reductions from the right."""
    total = ZERO
    for result in phase.results:
        if is_sequential(result.reduction or "") or result.reduction == "lcm":
            kind = kind_of(phase.body[result.node])
            items = product(upper_bound(axis.size) for axis in phase.axes)
            cells = product(upper_bound(axis.size) for axis in phase.axes[:-1])
            total = total + right_fold(result.reduction or "", kind, items, upper_bound(phase.axes[-1].size), cells)
    return total


def _lane_bytes(points: int, length: int) -> int:
    """Lanes and block partials of the order of sums, for the items summed at once."""
    lanes = -(-min(points, SUM_POINTS) * min(length, LANES) * _INNER_ARRAYS * 8 // (2 * max(min(length, BLOCK), 1)))
    return lanes + points // BLOCK * 16


def _inner_bytes(phase: Structured, node: ApplyNode | AxisNode) -> int:
    """Bytes an item of the temporaries of a function."""
    if isinstance(node, AxisNode):
        return 0
    kinds = [node.kind, *(kind_of(phase.body[arg]) for arg in node.args)]
    if any(kind.is_complex for kind in kinds):
        return (ROWS[node.function].held_complex if node.function in ROWS else 2 * _INNER_ARRAYS) * 16
    return (ROWS[node.function].held if node.function in ROWS else _INNER_ARRAYS) * 8


def _live_bytes(phase: Structured, deferred: Mapping[int, int], *, counts_results: bool) -> int:
    """The peak of bytes a point over computed nodes; results have their own memory unless they are reduced."""
    last: dict[int, int] = {}
    for index, node in enumerate(phase.body):
        if isinstance(node, ApplyNode):
            last.update(dict.fromkeys(node.args, index))
    results = {r.node for r in phase.results}
    if counts_results:
        last.update(dict.fromkeys(results, len(phase.body)))
    ends: dict[int, int] = {}
    for index, size in deferred.items():
        ends[last.get(index, index)] = ends.get(last.get(index, index), 0) + size
    live = most = sum(deferred.values())
    for index, node in enumerate(phase.body):
        if isinstance(node, ApplyNode | AxisNode) and (counts_results or index not in results):
            size = node.kind.bytes if isinstance(node, ApplyNode) else 8
            live += size
            ends[last.get(index, index)] = ends.get(last.get(index, index), 0) + size
        most = max(most, live)
        live -= ends.pop(index, 0)
    return most


Amount = TypeVar("Amount", int, Size)


class Amounts(Protocol[Amount]):
    """Arithmetic of bytes, by numbers (`exact`) or by formulas."""

    zero: Amount
    exact: bool

    def bytes(self, type: ArrayType) -> Amount:
        """The bytes of a value."""
        ...

    def number(self, size: Size) -> Amount: ...

    def larger(self, a: Amount, b: Amount) -> Amount: ...

    def rounded(self, count: Amount) -> Amount:
        """The memory that a buffer of so many bytes takes."""
        ...

    def never_less(self, a: Amount, b: Amount) -> bool: ...

    def workspace(self, phase: Structured, scattered: Container[ValueId]) -> Amount: ...


class Numbers:
    """Bytes as numbers, run-time sizes at their caps; each size is evaluated once."""

    zero = 0
    exact = True

    def __init__(self) -> None:
        self._known: dict[Size, int] = {}

    def cap(self, size: Size) -> int:
        value = size.constant
        if value is not None:
            return value
        capacity_in_items = self._known.get(size)
        if capacity_in_items is None:
            capacity_in_items = self._known[size] = upper_bound(size).evaluate({})
        return capacity_in_items

    number = cap

    def bytes(self, type: ArrayType, box: Sequence[tuple[int, int]] | None = None) -> int:
        """The bytes of a value, or of a box of it."""
        extents = map(self.cap, type.shape) if box is None else (stop - start for start, stop in box)
        return prod(extents) * type.element.kind.bytes

    def larger(self, a: int, b: int) -> int:
        return max(a, b)

    def rounded(self, count: int) -> int:
        return rounded_to_alignment(count)

    def never_less(self, a: int, b: int) -> bool:
        return a >= b

    def workspace(self, phase: Structured, scattered: Container[ValueId]) -> int:
        return workspace(phase, self.cap, scattered)


def phase_scratch_bytes(
    phase: Phase, bodies: Sequence[Amount], types: Mapping[ValueId, ArrayType], amounts: Amounts[Amount],
    scattered: Container[ValueId] = (),
) -> Amount:  # fmt: skip
    """The bytes that an undivided phase needs beside operands and results: the peaks of its `bodies` or of the function that it
    calls, copies, workspace."""

    def held(values: Iterable[ValueId]) -> Amount:
        total = amounts.zero
        for value in values:
            total = total + amounts.rounded(amounts.bytes(types[value]))
        return total

    most = reduce(amounts.larger, bodies, amounts.zero)
    match phase:
        case Loop():
            return held(phase.body.params) + most
        case LibraryPhase():
            scratch = amounts.number(cost_of(phase, types).scratch)
            return amounts.rounded(scratch) + held(copied_operands(phase, scattered, types)) + most
        case Structured():
            return amounts.rounded(amounts.workspace(phase, scattered))
        case _:
            return most


def peak_of(plan: SubPlan) -> int:
    """The most bytes on any device."""
    return max((size for _, size in plan.peak), default=0)


def rounded_to_alignment(count: int) -> int:
    """The memory that a buffer of so many bytes takes."""
    return -(-count // ALIGNMENT) * ALIGNMENT


def first_fit(occupied: Iterable[tuple[int, int]], size: int) -> int:
    """The address of `size` bytes by first fit; `occupied`: (start, stop) in the order of addresses."""
    offset = 0
    for start, stop in occupied:
        if start - offset >= size:
            break
        offset = max(offset, stop)
    return offset


# ---------------------------------------------------------------------------------------------------- live ranges of buffers
#
# Liveness of a block, unit by unit: which results are views of an operand, which are written over a dying operand, the live range
# of each buffer, and the bytes in use at every unit.
#
# Over numbers it is the plan of one device; over formulas (`peak_bound`) it is an upper bound for all sizes: a result that may or
# may not be a view has a buffer of its own *and* extends its operand's, and only an operand that dies for every size is
# overwritten.
#
# Note [Taking a dying buffer].  A structured phase may write its result over an operand that dies in it when both have one kind
# and shape, every read of that storage in the phase is at the point itself, the storage belongs to a value defined in this block,
# and no other value is a view of it.  The executor checks again that no other reference to the array exists.
#
# Note [Views].  A phase whose result is an operand under other indices allocates no buffer; the operand's storage then lives as
# long as the view.  A small part of a large value that dies is copied instead, so that the large buffer can be freed.

COPY_BELOW: Final = 2
"""A view that keeps more than this many times its own bytes alive is copied instead."""


@dataclass(slots=True, eq=False)
class Storage(Generic[Amount]):
    """A buffer.  It lives at least to unit `certain_last` and at most to unit `last`; `reuses`: the operand that it is written
    over."""

    value: ValueId
    role: Role
    bytes: Amount
    first: int
    last: int
    certain_last: int
    reuses: ValueId | None = None
    aliases: list[ValueId] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class BlockLiveness(Generic[Amount]):
    """Liveness analysis of a block: its units as `phases`, with its `params` and the values `live_out` at its end.  `scattered`:
    values that may not be contiguous, which the analysis extends; `output_copies`: by unit, bytes of copies for the run's
    results; `given`: storages that earlier results of the run occupy; `moved`: inputs that the caller handed over, which die like
    other values."""

    graph: Graph
    amounts: Amounts[Amount]
    scattered: set[ValueId]
    phases: Sequence[Phase]
    params: Iterable[ValueId]
    live_out: Iterable[ValueId]
    storages: list[Storage[Amount]] = field(default_factory=list)
    storages_of: dict[ValueId, list[Storage[Amount]]] = field(default_factory=dict)
    output_copies: list[Amount] = field(default_factory=list)
    given: list[Storage[Amount]] = field(default_factory=list)
    moved: frozenset[str] = frozenset()
    last: dict[ValueId, int] = field(default_factory=dict)

    @property
    def end(self) -> int:
        return len(self.phases)

    def __post_init__(self) -> None:
        leaving: list[ValueId] = []
        for index, phase in enumerate(self.phases):
            self.last.update(dict.fromkeys(traverse.uses(phase), index))
            if isinstance(phase, Print | Output):
                leaving.append(phase.arg)  # the run's result keeps the buffer alive
        self.last.update(dict.fromkeys((*self.live_out, *leaving), self.end))
        for value in self.params:
            self.add_storage(value, Role.VALUE, 0, self.last.get(value, 0))
            if len(self.graph.types[value].shape) > 1:
                self.scattered.add(value)

    def bytes(self, value: ValueId) -> Amount:
        return self.amounts.bytes(self.graph.types[value])

    def add_storage(self, value: ValueId, role: Role, first: int, until: int) -> Storage[Amount]:
        storage = Storage(value, role, self.bytes(value), first, until, until)
        self.storages.append(storage)
        self.storages_of.setdefault(value, []).append(storage)
        return storage

    def allocate_results(self, index: int, *, alone: bool = True, writes_over: bool = True) -> ValueId | None:
        """Add the storages of the results of unit `index`; returns the operand that its first result is written over.

        `alone`: the unit is a single phase; `writes_over`: it may overwrite an operand."""
        phase = self.phases[index]
        results = traverse.results(phase)
        source, certain = self.viewed_operand(phase) if alone else (None, False)
        if alone and (source is not None or is_view(phase, exact=self.amounts.exact) or is_reordered(phase, self.graph.types)):
            self.scattered.update(results)
        overwritten = self.overwritable_operand(phase, index) if source is None and writes_over else None
        for value in results:
            until = max(self.last.get(value, index), index)
            for home in [] if source is None else self.storages_of[source]:
                self.storages_of.setdefault(value, []).append(home)
                home.aliases.append(value)
                home.last = max(home.last, until)
                home.certain_last = max(home.certain_last, until) if certain else home.certain_last
            if isinstance(phase, Input) and phase.name not in self.moved:
                self.add_storage(value, Role.INPUT, 0, self.end)
            elif isinstance(phase, Input):
                self.add_storage(value, Role.VALUE, 0, until)
            elif not certain:
                self.add_storage(value, Role.CONSTANT if isinstance(phase, Constant) else Role.VALUE, index, until)
        if overwritten is not None:
            self.storages_of[results[0]][0].reuses = overwritten
        left = self.amounts.zero
        if isinstance(phase, Print | Output):
            homes = self.storages_of.get(phase.arg, [])
            if any(home.role is Role.INPUT or home in self.given for home in homes):  # the caller already holds that buffer
                left = self.amounts.rounded(self.bytes(phase.arg))
            self.given += homes
        self.output_copies.append(left)
        return overwritten

    def viewed_operand(self, phase: Phase) -> tuple[ValueId | None, bool]:
        """The operand whose storage the only result shares, and whether it does so for all sizes.  See Note [Views]."""
        if not is_view(phase, exact=self.amounts.exact):
            return None, False
        assert isinstance(phase, Structured)
        result, source = phase.results[0].value, phase.reads[0].value
        if source not in self.storages_of:
            return None, False
        first, *more = self.storages_of[source]
        certain = not more and is_view(phase) and (
            self.last.get(result, 0) <= first.certain_last
            or first.role is not Role.VALUE
            or self.amounts.never_less(self.bytes(result) * COPY_BELOW, first.bytes)
        )  # fmt: skip
        return (source if certain or not self.amounts.exact else None), certain

    def overwritable_operand(self, phase: Phase, index: int) -> ValueId | None:
        """The operand whose buffer the first result may be written over, if any.  See Note [Taking a dying buffer]."""
        if not isinstance(phase, Structured) or any(r.reduction for r in phase.results):
            return None
        wanted = self.graph.types[phase.results[0].value]
        for value in dict.fromkeys(read.value for read in phase.reads):
            type = self.graph.types[value]
            if not self.dies(value, index) or not type.shape:
                continue
            if type.element.kind is not wanted.element.kind or type.shape != wanted.shape:
                continue
            if all(not r.projection.stages for r in phase.reads if r.value == value):
                return value
        return None

    def dies(self, value: ValueId, index: int) -> bool:
        """Is `value` defined in this block with its own buffer, and read by no unit after `index`?"""
        storages = self.storages_of.get(value, [])
        if self.last.get(value) != index or len(storages) != 1:
            return False
        return storages[0].value == value and storages[0].role is Role.VALUE and not storages[0].aliases

    def dead_values(self, index: int) -> tuple[ValueId, ...]:
        """The values of this block that no later phase needs."""
        phase: Phase = self.phases[index]
        mentioned = () if isinstance(phase, Print | Output) else (*traverse.uses(phase), *traverse.results(phase))
        return tuple(v for v in dict.fromkeys(mentioned) if v in self.storages_of and self.last.get(v, index) <= index)

    def live_bytes(self, inner: Sequence[Amount]) -> list[Amount]:
        """Bytes in use at every unit: live buffers, the unit's `inner` bytes, and copies for the run's results."""
        change = [self.amounts.zero] * (self.end + 2)
        for storage in self.storages:
            size = self.amounts.rounded(storage.bytes)
            first = storage.first + (storage.reuses is not None)  # until then the dying operand accounts for the memory
            change[min(first, self.end)] += size
            change[storage.last + 1] -= size
        live = self.amounts.zero
        amounts: list[Amount] = []
        for index in range(self.end):
            live = live + change[index] + self.output_copies[index]
            amounts.append(live + inner[index])
        amounts.append(live + change[self.end])
        return amounts


def shared_buffers(phases: Iterable[Phase]) -> frozenset[ValueId]:
    """The values whose buffers several names may share: inputs and constants, views and their operands."""
    shared: set[ValueId] = set()
    for phase in phases:
        if isinstance(phase, Input | Constant):
            shared.add(phase.result)
        elif is_view(phase):
            shared.update((*traverse.operands(phase), *traverse.results(phase)))
    return frozenset(shared)


def is_view(phase: Phase, *, exact: bool = True) -> bool:
    """Is a phase a view of one operand, expressible by strides for any layout?  Not `exact`: for some sizes."""
    if not isinstance(phase, Structured) or len(phase.results) != 1 or len(phase.reads) != 1:
        return False
    result = phase.results[0]
    if result.reduction is not None or not isinstance(phase.body[result.node], ReadNode):
        return False
    return not exact or all(isinstance(stage, Affine) and not stage.fills for stage in phase.reads[0].projection.stages)


# ---------------------------------------------------------------------------------------------------- symbolic peak
#
# The symbolic peak: memory as a formula in the sizes, an upper bound of the peak of a plan of the same graph, for all sizes.  The
# passes that need numbers may change which values are stored, and so the peak, in either direction.
#
# It is the liveness analysis on polynomials instead of numbers, phase by phase.  Buffers whose size is not a number count 512
# bytes more for rounding.

class PeakFormulas:
    """Amounts of bytes as formulas in the sizes."""

    zero = ZERO
    exact = False

    def bytes(self, type: ArrayType) -> Size:
        return bytes_of(type)

    def number(self, size: Size) -> Size:
        return size

    def larger(self, a: Size, b: Size) -> Size:
        return upper_bound_of(a, b)

    def rounded(self, count: Size) -> Size:
        known = count.constant
        return count + ALIGNMENT if known is None else number(rounded_to_alignment(known))

    def never_less(self, a: Size, b: Size) -> bool:
        low = (a - b).bounds()[0]
        return low is not None and low >= 0

    def workspace(self, phase: Structured, scattered: Container[ValueId]) -> Size:
        return workspace_bound(phase, scattered)


def peak_bound(graph: Graph) -> Size:
    """An upper bound of the peak of the plan of this graph, as a formula in the sizes."""
    formulas, scattered = PeakFormulas(), set[ValueId]()

    def peak(phases: Sequence[Phase], params: Iterable[ValueId], results: Iterable[ValueId]) -> Size:
        block, inner = BlockLiveness(graph, formulas, scattered, phases, params, results), list[Size]()
        for index, phase in enumerate(phases):
            block.allocate_results(index)
            bodies = [peak(body.phases, body.params, body.results) for body in traverse.subgraphs(phase)]
            bodies += called_bytes(phase, graph.types, formulas)
            inner.append(phase_scratch_bytes(phase, bodies, graph.types, formulas, scattered))
        return reduce(upper_bound_of, block.live_bytes(inner), ZERO)

    return peak(graph.phases, (), graph.roots)


# ---------------------------------------------------------------------------------------------------- shared functions

def called_bytes(phase: Phase, types: Mapping[ValueId, ArrayType], amounts: Amounts[Amount]) -> tuple[Amount, ...]:
    """The most bytes that a call of a shared function needs beside its arguments and results; empty for other phases."""
    if not isinstance(phase, LibraryPhase) or phase.op != "call":
        return ()
    function, sizes = called(phase.attributes)
    outside = total(bytes_of(types[value]) for value in (*dict.fromkeys(traverse.operands(phase)), *traverse.results(phase)))
    known = [upper_bound(size).constant for size in sizes.values()]
    numbers = tuple(size for size in known if size is not None)
    if len(numbers) < len(known):
        peak = function.cached("peak", lambda: upper_bound(peak_bound(function.graph))).substitute(sizes)
    else:
        peak = function.cached(("peak", numbers), lambda: upper_bound(peak_bound(bound_function(function, numbers).graph)))
    return (amounts.number(peak - outside),)


def step_scratch_bytes(step: Step, phase: Phase, types: Mapping[ValueId, ArrayType], numbers: Numbers) -> int:
    """As `phase_scratch_bytes`, of a step of a plan."""
    bodies = [*map(peak_of, sub_plans(step)), *called_bytes(phase, types, numbers)]
    return phase_scratch_bytes(phase, bodies, types, numbers)
