"""Chains along rows through compiled kernels: binds a row kernel to the arrays of a run and cuts its rows for the team.

The rules of `compiled` hold here: operands are the views that NumPy would compute on, arrays live until the kernel has returned,
and each layout is bound once.

Neighbours: `rows` (who asks), `loops.lower.rows` (the kernel), `compiled`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from ....lang.certain import certain
from ....typechecker.elements import Kind
from ....typechecker.sizes import Size
from ...graph.chains import Joined
from ...kernels import policy
from ...kernels.build import Body, build_body, build_kernel
from ...kernels.ir import FAILURE_WORDS, Form, Stores
from ...kernels.llvm_leaf import vector_bytes
from ...kernels.nest import Nest
from ...kernels.row_plan import MOST_SIDE
from ...kernels.store import address_of
from ...loops.lower.rows import RowsCode
from ..native import native
from ..pool import ALIGNMENT
from .compiled import ASKED, STREAMED, strides_over
from .cuts import PARALLEL
from .kinds import DTYPES, NumArray
from .launching import Block, moved
from .sharing import Pieces


@dataclass(frozen=True, slots=True)
class BoundRows:
    """A row kernel for operands of one layout, whose bases are operands, then results.  `whole`: all in one piece, for runs that
    are not worth handing out."""

    pieces: Pieces
    whole: Pieces


class RowBinding:
    """The kernels of one chain by the layout of its operands."""

    def __init__(self, chain: Joined, body: Body, space: tuple[int, ...], operands: Sequence[Kind], number: Callable[[Size], int],
                 threads: int, mode: policy.Mode) -> None:  # fmt: skip
        self.chain, self.body, self.space, self.operands, self.mode = chain, body, space, operands, mode
        self.scalars = [number(size) for size in body.sizes]
        self.points = prod(space)
        self.work = policy.work(body, self.points)
        self.threads = threads
        self.small = self.points < policy.SMALL
        self.runs = 0
        self.kept: dict[tuple[Any, ...], BoundRows | RowsCode | None] = {}
        self.is_side = space[-1] < MOST_SIDE

    @classmethod
    def of(cls, chain: Joined, space: tuple[int, ...], operands: Sequence[Kind], number: Callable[[Size], int], threads: int,
           mode: policy.Mode) -> RowBinding | None:  # fmt: skip
        body = build_body(chain.phase)
        return None if body is None else cls(chain, body, space, operands, number, threads, mode)

    def bound(self, arrays: Sequence[NumArray], stores: Stores) -> BoundRows | None:
        """None: no kernel yet, or none for such operands."""
        key = (stores, *[(a.strides, a.shape, a.dtype.num) for a in arrays])
        if key not in self.kept and self.small and self.mode is policy.Mode.AUTO and (self.runs + 1) % ASKED:
            self.runs += 1  # nothing is asked of the compiler (which would be imported) before it may be wanted
            return None
        found = self.kept[key] if key in self.kept else self.kernel(arrays, stores)
        if isinstance(found, RowsCode) and self.wanted(found):
            found = self.bind(found, arrays)
        self.kept[key] = found
        return found if isinstance(found, BoundRows) else None

    def wanted(self, kernel: RowsCode) -> bool:
        if self.mode is policy.Mode.ALWAYS:
            return True
        self.runs += 1
        if self.small and self.runs % ASKED:
            return False
        return policy.is_worth(kernel, policy.saving(self.body, self.points) * (ASKED if self.small else 1))

    def nest(self, arrays: Sequence[NumArray]) -> Nest:
        """Loops in the program's order; axes that step evenly through every operand are one."""
        strides = [strides_over(array, self.space) for array in arrays]
        groups: list[list[int]] = []
        for axis in range(len(self.space) - 1):
            if self.space[axis] == 1:
                continue
            if groups and all(own[groups[-1][-1]] == own[axis] * self.space[axis] for own in strides):
                groups[-1].append(axis)
            else:
                groups.append([axis])
        groups.append([len(self.space) - 1])
        return Nest(
            Form.ACROSS if self.is_side else Form.MAP, tuple(range(len(self.space))), tuple(map(tuple, groups)),
            tuple(prod(self.space[axis] for axis in group) for group in groups),
            tuple(tuple(own[group[-1]] for group in groups) for own in strides),
        )  # fmt: skip

    def kernel(self, arrays: Sequence[NumArray], stores: Stores) -> RowsCode | None:
        for array, kind in zip(arrays, self.operands, strict=True):
            if array.dtype != DTYPES[kind] or (array.ndim != len(self.space) and array.size != 1):
                return None
        nest = self.nest(arrays)
        if self.is_side and len(nest.sizes) < 2:
            return None
        made = build_kernel(self.body, nest, self.operands, vector_bytes(), stores)
        return RowsCode(made, self.chain.is_row, 1 << (self.space[-1] - 1).bit_length())

    def may_stream(self) -> bool:
        """Are the results larger than caches, and is each row of them aligned?"""
        if self.is_side:
            return False
        kinds = [r.kind for r, on_row in zip(self.body.results, self.chain.is_row, strict=True) if not on_row]
        large = self.points * sum(kind.bytes for kind in kinds) >= STREAMED
        return large and all(self.space[-1] * kind.bytes % ALIGNMENT == 0 for kind in kinds)

    def bind(self, kernel: RowsCode, arrays: Sequence[NumArray]) -> BoundRows | None:
        address = address_of(kernel)
        if address is None:
            return None
        nest, described = self.nest(arrays), kernel.kernel
        axes = described.axes
        head = 2 * axes + described.scalars
        places = [head + i * (1 + axes) for i in range(len(arrays))]
        first = head + len(arrays) * (1 + axes)
        places += [first + i * (1 + described.result_axes) for i in range(len(self.body.results))]
        cuts = self.cuts(nest, described.lanes)
        pieces, whole = [
            Pieces(address, [self.piece(kernel, nest, places, *cut) for cut in own], len(places), self.threads, self.work)
            for own in (cuts, [(0, 0, nest.sizes[0])])
        ]
        return BoundRows(pieces, whole)

    def cuts(self, nest: Nest, lanes: int) -> list[tuple[int, int, int]]:
        """(loop, start, stop) of each piece: the first loop that is long enough is cut, into pieces of whole vectors of rows."""
        least = PARALLEL if native() is None else min(PARALLEL, policy.SHARED_NANOSECONDS)
        is_long = self.work >= policy.LONG_NANOSECONDS
        if is_long or (self.threads > 1 and self.work >= least):
            wanted = policy.pieces(4 * self.threads, self.work)
            for loop, size in enumerate(nest.sizes[:-1]):
                grain = lanes if self.is_side and loop == len(nest.sizes) - 2 else 1
                if size >= 2 * self.threads * grain:
                    step = -(-size // (wanted * grain)) * grain
                    starts = [start for start in range(0, size, step) if not start or size - start >= grain]
                    return [(loop, start, stop) for start, stop in zip(starts, [*starts[1:], size], strict=True)]
        return [(0, 0, nest.sizes[0])]

    def piece(self, kernel: RowsCode, nest: Nest, places: Sequence[int], loop: int, start: int, stop: int) -> Block:
        """`places`: of the addresses in the words."""
        sizes = list(nest.sizes)
        sizes[loop] = stop - start
        words = [*sizes, *([0] * len(sizes)), *self.scalars]
        for strides in nest.strides:
            words += [0, *strides]
        starts = [start * strides[loop] for strides in nest.strides]
        for result, on_row in zip(self.body.results, self.chain.is_row, strict=True):
            step, steps = result.kind.bytes, list[int]()
            for place, size in reversed(list(enumerate(nest.sizes))):
                if on_row and place == len(nest.sizes) - 1:
                    steps.insert(0, 0)
                    continue
                steps.insert(0, step)
                step *= size
            starts.append(start * steps[loop])
            words += [0, *(steps[:-1] if self.is_side else steps)]
        words += [0] * FAILURE_WORDS
        certain(len(words) == kernel.words(), "a launch has the words that its kernel reads")
        return Block(words, moved(places, [(number, 0) for number in range(len(places))], starts))

    def call(self, bound: BoundRows, arrays: Sequence[NumArray], results: Sequence[NumArray]) -> tuple[Any, ...]:
        pieces = bound.pieces if self.work >= PARALLEL else bound.whole
        addresses = [array.__array_interface__["data"][0] for array in (*arrays, *results)]
        if pieces.run(addresses, (arrays, results)):
            raise MemoryError
        return tuple(results)
