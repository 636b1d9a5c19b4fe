"""A phase through kernels box by box of its space, where operands are `deferred`: their items in a box are copied, then the
kernel runs on these.

The reduced axis is cut at a power of two of blocks of the order of sums, so that what boxes give are subtrees of its tree and
they do not show.

Neighbours: `compiled` (asks), `deferred` (the operands), `sharing` (hands the boxes out).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from ...kernels import policy
from ...kernels.ir import BLOCK, Stores
from ...loops.lower.kernel import KernelCode
from ...loops.lower.rows import RowsCode
from ...schedule.facts.workspace import ALONE_BELOW
from ..pool import room, trim
from .bound import Bound
from .compiled import CompiledRun
from .deferred import Deferred
from .kinds import DTYPES, NumArray
from .reduce import Reduction
from .sharing import run_boxes

Box: TypeAlias = tuple[slice, ...]
POINTS: Final = 1 << 15
"""Points of a box; twice as many where they are reduced."""
TEAM: Final = 8
"""Boxes of items of 8 bytes in work at most, of which the plan knows; a quarter of them where the space is small."""


class BoxedRun:
    """A phase on deferred operands.  `kept`: by the shape of boxes."""

    def __init__(self, run: CompiledRun) -> None:
        self.whole, self.kept = run, dict[tuple[int, ...], _BoxRun]()
        space = run.space
        left, steps = 2 * POINTS if run.reduces else POINTS, list(space)
        for axis in reversed(range(len(space))):
            if run.reduces and axis == len(space) - 1 and space[axis] > left:
                steps[axis] = max(BLOCK, left)
            elif axis < len(space) - 1 or not run.reduces:
                steps[axis] = max(1, min(space[axis], left))
            left //= steps[axis]
        self.steps = tuple(steps)

    def run(self, operands: Sequence[NumArray | Deferred]) -> tuple[Any, ...] | None:
        """The results; None where kernels cannot work on boxes, or are not worth it as yet."""
        run = self.whole
        if run.body.split or run.is_whole or run.body.coordinates:
            return None
        boxes = [
            tuple([slice(at, min(at + step, size)) for at, step, size in zip(corner, self.steps, run.space, strict=True)])
            for corner in itertools.product(*(range(0, size, step) for size, step in zip(run.space, self.steps, strict=True)))
        ]
        for box in {_shape(box): box for box in boxes}.values():
            if self.part(box, _cut(operands, box)) is None:
                return None
        targets = [room(self.extents(place), DTYPES[result.kind]) for place, result in enumerate(run.body.results)]
        missing: list[Box] = []
        trim()

        def worker() -> Callable[[Box], object]:
            def work(box: Box) -> None:
                arrays = _cut(operands, box)
                found = self.part(box, arrays)
                if found is None:
                    missing.append(box)
                else:
                    found[0].put(found[1], arrays, [target[self.where(box)] for target in targets])

            return work

        widest = max(operand.dtype.itemsize for operand in operands)
        most = (TEAM if run.points >= ALONE_BELOW else TEAM // 4) * 8 // max(8, widest)
        run_boxes(boxes, worker, min(run.threads, max(1, most)))
        return None if missing else tuple([self.joined(place, target) for place, target in enumerate(targets)])

    def part(self, box: Box, arrays: Sequence[NumArray]) -> tuple[_BoxRun, Bound] | None:
        """The kernel for a box, bound to arrays that lie so."""
        shape = _shape(box)
        own = self.kept.get(shape) or self.kept.setdefault(shape, _BoxRun(self.whole, shape))
        bound = own.bound(arrays, Stores.PLAIN)
        return None if bound is None or bound.packs else (own, bound)

    def extents(self, place: int) -> tuple[int, ...]:
        """Of what boxes give for a result: one item a run of the reduced axis."""
        space = self.whole.space
        return (-(-space[-1] // self.steps[-1]), *space[:-1]) if self.whole.reduces else space

    def where(self, box: Box) -> tuple[Any, ...]:
        return (box[-1].start // self.steps[-1], *box[:-1], ...) if self.whole.reduces else box

    def joined(self, place: int, target: NumArray) -> Any:
        result = self.whole.body.results[place]
        if result.reduction is None:
            return target
        if len(target) == 1:
            return target[0]
        reduction = Reduction(0, result.reduction, result.kind)
        return reduction.combine(target if reduction.ordered else reduction.partials(target))


class _BoxRun(CompiledRun):
    """The kernel of a phase on boxes of one shape."""

    def __init__(self, whole: CompiledRun, shape: tuple[int, ...]) -> None:
        super().__init__(whole.body, whole.views, shape, whole.operands, whole.scalars, 1, whole.mode, whole.otherwise, 0,
                         whole.phase)  # fmt: skip
        self.small, self.all_points = False, whole.points

    def wanted(self, code: KernelCode | RowsCode) -> bool:
        return self.mode is not policy.Mode.AUTO or policy.is_worthwhile(code, self.body, self.all_points)

    def put(self, bound: Bound, arrays: Sequence[NumArray], targets: Sequence[Any]) -> None:
        """The results of a box, each where it is to lie: at once if its target lies as the loops go."""
        made: list[NumArray] = []
        for place, target in enumerate(targets):
            moved = target.transpose(bound.order[: target.ndim])
            shape = bound.shapes[place] if bound.partials == 1 else (bound.partials, *bound.shapes[place])
            made.append(moved if bound.partials == 1 and moved.flags.c_contiguous else room(shape, bound.dtypes[place]))
        self.call(bound, arrays, made)
        for target, found in zip(targets, self.finish(bound, made), strict=True):
            if not np.may_share_memory(target, found):
                target[...] = found


def _shape(box: Box) -> tuple[int, ...]:
    return tuple([part.stop - part.start for part in box])


def _cut(operands: Sequence[NumArray | Deferred], box: Box) -> list[NumArray]:
    """The items of operands in a box, along the axes on which they vary."""
    found: list[NumArray] = []
    for operand in operands:
        if operand.ndim == len(box):
            own = tuple([slice(0, 1) if size == 1 else part for size, part in zip(operand.shape, box, strict=True)])
            found.append(operand[own])
        else:
            found.append(np.asarray(operand))
    return found
