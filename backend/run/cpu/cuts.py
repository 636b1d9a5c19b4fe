"""How the loops of a kernel are cut into pieces: every loop by itself, a piece being one range of each.

Note [Pieces].  The outermost loop that is long enough is cut, or the reduce axis at multiples of 2ᵐ blocks of the order of sums,
whose partial results are subtrees of its tree.  So the pieces do not show.  Work that takes long is cut further until a piece
ends soon (`HEARD_NANOSECONDS`): between pieces Python is asked whether anybody has interrupted.

Neighbours: `compiled` (binds kernels to pieces), `kernels.policy` (how much is worth what).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from math import prod
from typing import Any, Final, Generic, TypeVar, overload

from ...kernels import policy
from ...kernels.ir import BLOCK, Form
from ...kernels.nest import Nest

PARALLEL: Final = policy.SHARED_NANOSECONDS
"""Nanoseconds of work from which a phase uses the team."""
_VECTOR: Final = 16
_Piece = TypeVar("_Piece")


@dataclass(frozen=True, slots=True)
class Cuts:
    """Of loops of these sizes, where the ranges of each start.  `reduced`: is the last loop cut, and a reduction?"""

    sizes: tuple[int, ...]
    starts: tuple[Sequence[int], ...]
    reduced: bool = False

    @classmethod
    def none(cls, sizes: tuple[int, ...]) -> Cuts:
        """One piece."""
        return cls(sizes, ((0,),) * len(sizes))

    def cut(self, loop: int, starts: Sequence[int], *, reduced: bool = False) -> Cuts:
        return replace(self, starts=(*self.starts[:loop], starts, *self.starts[loop + 1 :]), reduced=reduced)

    @property
    def count(self) -> int:
        """Of pieces."""
        return prod(map(len, self.starts))

    @property
    def partials(self) -> int:
        """Partial results of each cell."""
        return len(self.starts[-1]) if self.reduced else 1

    def most(self, loop: int) -> int:
        """The longest range of a loop."""
        starts = self.starts[loop]
        if isinstance(starts, range):
            return min(self.sizes[loop], starts.step)
        return max(stop - start for start, stop in zip(starts, [*starts[1:], self.sizes[loop]], strict=True))

    def longest(self, work: float) -> float:
        """The work of the largest piece, where all of them are so much."""
        return work * prod(self.most(loop) / size for loop, size in enumerate(self.sizes))

    def ranges(self, place: int) -> list[tuple[int, int]]:
        """(start, stop) in each loop of a piece.  The last loop goes on fastest."""
        found: list[tuple[int, int]] = []
        for size, starts in zip(reversed(self.sizes), reversed(self.starts), strict=True):
            place, at = divmod(place, len(starts))
            found.append((starts[at], starts[at + 1] if at + 1 < len(starts) else size))
        return found[::-1]

    def partial(self, place: int) -> int:
        """Which partial result of its cells a piece makes."""
        return place % self.partials


class Made(Sequence[_Piece], Generic[_Piece]):
    """Pieces that are made when they are asked for: of long work there may be a hundred thousand."""

    def __init__(self, length: int, make: Callable[[int], _Piece]) -> None:
        self.length, self.make = length, make

    def __len__(self) -> int:
        return self.length

    @overload
    def __getitem__(self, place: int) -> _Piece: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[_Piece]: ...
    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self.make(one) for one in range(*place.indices(self.length))]
        if not 0 <= place < self.length:
            raise IndexError(place)
        return self.make(place)


# ---------------------------------------------------------------------------------------- where


class Reduction(Enum):
    """What becomes of the last loop of a nest."""

    NONE = "nothing"
    SUMS = "partial results can be joined"
    WHOLE = "they cannot"


@dataclass(frozen=True, slots=True)
class Work:
    """`nanoseconds` on one thread, roughly."""

    nanoseconds: float
    threads: int
    reduction: Reduction

    def parallel(self, nest: Nest) -> int:
        """How many loops are over cells."""
        return len(nest.sizes) - (self.reduction is not Reduction.NONE)


def cuts_of(nest: Nest, work: Work) -> Cuts:
    """See Note [Pieces]."""
    made = _shared(nest, work) if work.threads > 1 else Cuts.none(nest.sizes)
    return _shortened(made, nest, work) if work.nanoseconds >= policy.LONG_NANOSECONDS else made


def _shared(nest: Nest, work: Work) -> Cuts:
    """One loop is cut, so that every thread of the team has pieces."""
    whole, threads = Cuts.none(nest.sizes), work.threads
    if work.nanoseconds < PARALLEL:
        return whole
    wanted = (8 if work.nanoseconds < policy.LONG_NANOSECONDS else 4) * threads
    parallel = work.parallel(nest)
    for loop in range(parallel):
        size = nest.sizes[loop]
        if size < 2 * threads:
            continue
        inner = loop == parallel - 1 and nest.form is not Form.ALONG
        grain = 256 if inner and size >= 1024 * threads else 64 if inner and size >= 256 * threads else 1
        if inner and grain == 1:
            continue
        runs = threads if inner and nest.form is not Form.MAP else wanted
        step = -(-size // (runs * grain)) * grain
        if runs == wanted:
            return whole.cut(loop, policy.starts(size, step, threads, work.nanoseconds))
        return whole.cut(loop, _columns(size, step))
    blocks = _blocks(nest, work, wanted)
    return whole if blocks is None else whole.cut(parallel, range(0, nest.sizes[-1], blocks), reduced=True)


def _shortened(cuts: Cuts, nest: Nest, work: Work) -> Cuts:
    """Further loops are cut, and more finely, outermost first and the reduce axis last, until pieces are short."""
    parallel = work.parallel(nest)
    for loop in range(parallel):
        pieces = cuts.longest(work.nanoseconds) / policy.HEARD_NANOSECONDS
        if pieces <= 1:
            return cuts
        size, most = nest.sizes[loop], cuts.most(loop)
        inner = loop == parallel - 1 and nest.form is not Form.ALONG
        grain = 256 if inner else 1
        step = -(-most // (int(pieces + 1) * grain)) * grain
        if step < most:
            columns = inner and nest.form is not Form.MAP
            cuts = cuts.cut(loop, _columns(size, step) if columns else range(0, size, step))
    pieces = cuts.longest(work.nanoseconds) / policy.HEARD_NANOSECONDS
    if pieces <= 1 or work.reduction is not Reduction.SUMS:
        return cuts
    size, most = nest.sizes[-1], cuts.most(parallel)
    blocks = _blocks(nest, work, int(pieces * size / most) + 1)
    return cuts if blocks is None or blocks >= most else cuts.cut(parallel, range(0, size, blocks), reduced=True)


def _blocks(nest: Nest, work: Work, wanted: int) -> int | None:
    """Items of the reduce axis in each of about so many pieces; None where it is not cut."""
    size = nest.sizes[-1]
    if work.reduction is not Reduction.SUMS or size < 2 * BLOCK * work.threads:
        return None
    step = BLOCK
    while step * wanted < size:
        step *= 2
    return step


def _columns(size: int, step: int) -> list[int]:
    """Where so many cells side by side are cut; the last piece fills vectors, too."""
    return [start for start in range(0, size, step) if not start or size - start >= _VECTOR]
