"""Structured phases on NumPy: views of the operands, a body of ufuncs, results written whole or block by block.

Small spaces run the body on whole arrays.  Large ones run in boxes that fit the cache, on the device's team of threads,
so that a fused chain makes one pass over memory and needs no temporaries but a few block-sized registers.  Reductions go
through `reduce`; a phase that only renames indices returns a view.

Neighbours: `views`, `body`, `reduce`, `team`; `executor` calls what `compile_structured` returns.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np

from ....typechecker.elements import Kind
from ....typechecker.sizes import Size
from ...graph.phases import AxisKind, ReadNode, Structured, ValueId
from ..team import run_boxes
from .body import Body, compile_body
from .kinds import DTYPES, FILLS, NumArray
from .reduce import Reduction, compile_reduction, identity_array
from .views import View, compile_view

Kernel: TypeAlias = Callable[[Mapping[ValueId, Any], "NumArray | None"], tuple[Any, ...]]
"""From the values of a memory, and an array to write the first result over, to the results."""

WHOLE: Final = 1 << 15
"""Spaces of at most this many points run whole."""
BOX: Final = 1 << 16
"""Points of a box: 512 KiB an f64 operand."""
THREADED: Final = 1 << 19
"""Spaces of at least this many points use the whole team."""


def compile_structured(
    phase: Structured, kinds: Callable[[ValueId], Kind], number: Callable[[Size], int], threads: int
) -> Kernel:
    """The kernel of a phase for known sizes."""
    space = tuple(number(axis.size) for axis in phase.axes)
    reduced = [axis for axis, a in enumerate(phase.axes) if a.kind is AxisKind.REDUCE]
    parallel = tuple(size for size, a in zip(space, phase.axes, strict=True) if a.kind is AxisKind.PARALLEL)
    dtypes = [DTYPES[kinds(r.value)] for r in phase.results]
    if 0 in parallel or (reduced and space[reduced[0]] == 0):
        return _empty(phase, parallel, kinds)
    views: list[tuple[ValueId, View]] = []
    varying: list[tuple[bool, ...]] = []
    for read in phase.reads:
        view, on = compile_view(read.projection, space, FILLS[kinds(read.value)], number)
        views.append((read.value, view))
        varying.append(on)
    if not reduced and all(isinstance(phase.body[r.node], ReadNode) for r in phase.results):
        return _renaming(phase, views, parallel)
    nodes = [r.node for r in phase.results]
    if reduced:
        reductions = [compile_reduction(r, phase.body, kinds(r.value)) for r in phase.results]
        nodes = [r.node for r in reductions]
        body = compile_body(phase.body, nodes, varying, space, number)
        return _Reducing(body, views, space, reductions, threads).run
    body = compile_body(phase.body, nodes, varying, space, number)
    return _Mapping(body, views, space, nodes, dtypes, threads).run


def _empty(phase: Structured, parallel: tuple[int, ...], kinds: Callable[[ValueId], Kind]) -> Kernel:
    """No points: empty results, or identities where only the reduce axis is empty."""

    def run(values: Mapping[ValueId, Any], overwrite: NumArray | None) -> tuple[Any, ...]:
        return tuple(identity_array(r.reduction, kinds(r.value), parallel) for r in phase.results)

    return run


def _renaming(phase: Structured, views: Sequence[tuple[ValueId, View]], space: tuple[int, ...]) -> Kernel:
    """Every result is an operand under other indices: a view, replicated by stride 0."""
    picks = []
    for result in phase.results:
        node = phase.body[result.node]
        assert isinstance(node, ReadNode)
        picks.append(views[node.index])

    def run(values: Mapping[ValueId, Any], overwrite: NumArray | None) -> tuple[Any, ...]:
        found = [view(values[value]) for value, view in picks]
        return tuple(v if v.shape == space else np.broadcast_to(v, space) for v in found)

    return run


class _Compiled:
    """What mapping and reducing share: slots, hoisted work, and the body on a box."""

    def __init__(self, body: Body, views: Sequence[tuple[ValueId, View]], space: tuple[int, ...], threads: int) -> None:
        self.body, self.views, self.space, self.threads = body, views, space, threads
        full = frozenset().union(*(body.varying[i.slot] for i in body.inner))
        for slot, _ in (*body.reads, *body.axes):
            full |= body.varying[slot]
        self.points = tuple(size if axis in full else 1 for axis, size in enumerate(space))
        self.count = prod(self.points)
        self.shown: frozenset[int] = frozenset()

    def slots(self, values: Mapping[ValueId, Any]) -> list[Any]:
        """Every slot that blocks read, over the whole space."""
        body = self.body
        slots: list[Any] = [None] * body.slots
        for slot, value in body.constants:
            slots[slot] = value
        for slot, index in body.reads:
            value_id, view = self.views[index]
            slots[slot] = view(values[value_id])
        for slot, axis in body.axes:
            if body.hoisted or self.count <= WHOLE or slot in self.shown:
                slots[slot] = self.coordinates(axis, 0, self.points[axis])
        for made in body.hoisted:
            slots[made.slot] = made.function(*[slots[a] for a in made.args], None)
        return slots

    def coordinates(self, axis: int, start: int, stop: int) -> NumArray:
        rank = len(self.space)
        line = np.arange(start, stop)
        return line if rank == 1 else line.reshape((1,) * axis + (stop - start,) + (1,) * (rank - axis - 1))

    def whole(self, slots: list[Any]) -> None:
        """The body on whole arrays."""
        for made in self.body.inner:
            slots[made.slot] = made.function(*[slots[a] for a in made.args], None)

    def worker(
        self, slots: Sequence[Any], outputs: Sequence[NumArray | None], box_points: int
    ) -> Callable[[tuple[slice, ...]], list[Any]]:
        """Runs the body on a box; results that have an output are written to it, others stay in its slots."""
        body = self.body
        pools = [np.empty(box_points, dtype) for dtype in body.registers]
        loose = {
            made.slot: np.empty(box_points, made.dtype)
            for made in body.inner
            if made.register < 0 and outputs[made.output] is None
        }
        own = list(slots)
        axes = dict(body.axes)
        moving = [
            (slot, slots[slot], body.varying[slot])
            for slot in range(body.slots)
            if slots[slot] is not None and body.varying[slot] and slot not in axes
        ]

        def run(box: tuple[slice, ...]) -> list[Any]:
            shape = tuple(part.stop - part.start for part in box)
            count = prod(shape)
            for slot, whole, on in moving:
                own[slot] = whole[tuple(part if axis in on else _ALL for axis, part in enumerate(box))]
            for slot, axis in axes.items():
                own[slot] = self.coordinates(axis, box[axis].start, box[axis].stop)
            for made in body.inner:
                if made.register >= 0:
                    target = pools[made.register][:count].reshape(shape)
                else:
                    output = outputs[made.output]
                    target = loose[made.slot][:count].reshape(shape) if output is None else output[box]
                own[made.slot] = made.function(*[own[a] for a in made.args], target)
            return own

        return run


_ALL: Final = slice(None)


class _Mapping(_Compiled):
    """A phase without a reduce axis."""

    def __init__(self, body: Body, views: Sequence[tuple[ValueId, View]], space: tuple[int, ...], nodes: Sequence[int],
                 dtypes: Sequence[np.dtype[Any]], threads: int) -> None:  # fmt: skip
        super().__init__(body, views, space, threads)
        self.nodes, self.dtypes = nodes, dtypes
        self.shown = frozenset(nodes)
        self.fresh = {made.slot for made in (*body.inner, *body.hoisted)}
        self.inner = {made.slot for made in body.inner}
        self.single = len(body.inner) == 1 and not body.hoisted and len(nodes) == 1

    def run(self, values: Mapping[ValueId, Any], overwrite: NumArray | None) -> tuple[Any, ...]:
        slots = self.slots(values)
        if self.count <= WHOLE:
            self.whole(slots)
            return self.collect(slots, {})
        outputs: list[NumArray | None] = []
        written: dict[int, NumArray] = {}
        for place, (node, dtype) in enumerate(zip(self.nodes, self.dtypes, strict=True)):
            if node not in self.inner or node in written:
                outputs.append(None)
                continue
            reusable = overwrite is not None and place == 0 and overwrite.shape == self.points and overwrite.dtype == dtype
            written[node] = overwrite if reusable and overwrite is not None else np.empty(self.points, dtype)
            outputs.append(written[node])
        team = self.threads if self.count >= THREADED else 1
        run_boxes(boxes(self.points, BOX), lambda: self.worker(slots, outputs, BOX), team)
        return self.collect(slots, written)

    def collect(self, slots: Sequence[Any], written: Mapping[int, NumArray]) -> tuple[Any, ...]:
        """The results in full shape, none sharing memory with another or with an operand."""
        results: list[Any] = []
        given: set[int] = set()
        for node, dtype in zip(self.nodes, self.dtypes, strict=True):
            value = written.get(node, slots[node])
            if value.shape != self.space:
                value = np.array(np.broadcast_to(value, self.space), dtype)
            elif node in given or node not in self.fresh:
                value = np.array(value, dtype)
            given.add(node)
            results.append(value)
        return tuple(results)


class _Reducing(_Compiled):
    """A phase with one reduce axis, the last of the space."""

    def __init__(self, body: Body, views: Sequence[tuple[ValueId, View]], space: tuple[int, ...], reductions: Sequence[Reduction],
                 threads: int) -> None:  # fmt: skip
        super().__init__(body, views, space, threads)
        self.reductions = reductions

    def run(self, values: Mapping[ValueId, Any], overwrite: NumArray | None) -> tuple[Any, ...]:
        slots = self.slots(values)
        if not self.body.inner or self.count <= WHOLE:
            self.whole(slots)
            return tuple(self.reduce_whole(r, slots[r.node]) for r in self.reductions)
        return self.reduce_in_boxes(slots)

    def reduce_whole(self, reduction: Reduction, value: Any) -> Any:
        if value.shape != self.space:
            value = np.broadcast_to(value, self.space)
        if self.threads > 1 and value.size >= THREADED:
            return reduction.threaded(value, self.threads)
        return reduction.whole(value)

    def reduce_in_boxes(self, slots: list[Any]) -> tuple[Any, ...]:
        """Boxes are runs of cells with the whole reduce axis, or pieces of it at multiples of a block where it is long."""
        parallel, length = self.points[:-1], self.points[-1]
        piece = self.reductions[0].piece(length, BOX)
        cells = max(1, BOX // piece)
        outputs: list[NumArray | None] = [None] * len(self.reductions)
        results = [r.partials(self.space[:-1], length, piece) for r in self.reductions]

        def make_worker() -> Callable[[tuple[slice, ...]], None]:
            evaluate = self.worker(slots, outputs, cells * piece)

            def work(box: tuple[slice, ...]) -> None:
                own = evaluate(box)
                shape = tuple(part.stop - part.start for part in box)
                for reduction, (partials, per_piece) in zip(self.reductions, results, strict=True):
                    value = own[reduction.node]
                    if value.shape != shape:
                        value = np.broadcast_to(value, shape)
                    first = box[-1].start // piece * per_piece
                    part = reduction.partial(value)
                    partials[(*box[:-1], slice(first, first + part.shape[-1]))] = part

            return work

        pieces = [slice(start, min(start + piece, length)) for start in range(0, length, piece)]
        grid = ((*box, part) for box in boxes(parallel, cells) for part in pieces)
        run_boxes(grid, make_worker, self.threads if self.count >= THREADED else 1)
        return tuple(r.combine(partials) for r, (partials, _) in zip(self.reductions, results, strict=True))


def boxes(shape: Sequence[int], points: int) -> Iterator[tuple[slice, ...]]:
    """Disjoint boxes of at most `points` points that tile the shape, contiguous in row-major order."""
    inner, axis = 1, len(shape)
    while axis and inner * shape[axis - 1] <= points:
        axis -= 1
        inner *= shape[axis]
    rest = tuple(slice(0, size) for size in shape[axis:])
    if axis == 0:
        yield rest
        return
    rows = max(1, points // inner)
    outer = shape[: axis - 1]
    starts = range(0, shape[axis - 1], rows)
    for place in itertools.product(*map(range, outer)):
        for start in starts:
            yield (*(slice(p, p + 1) for p in place), slice(start, min(start + rows, shape[axis - 1])), *rest)
