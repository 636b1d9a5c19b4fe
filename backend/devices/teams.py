"""What a team of threads takes for one thread's work: how a phase is shared out, and what that changes.

Note [Sharing].  Kernels are cut into pieces by the work that the policy sees in them.  Pieces cost something before the first
one runs (`cut`); helpers that sleep are woken only for work that is worth it, and come late.  What that makes of one thread's
time is measured in programs: `team` where helpers are woken, `team.reduced` to reduce all to one cell, `team.long` in long
loops, `team.rows` of chains that make a number of each row, `team.handed` where one thread has just made an operand.  It hardly
depends on whether a thread moves or computes.  (Tables of earlier calibrations had `team.moved` for moving.)

Neighbours: `points` (asks), `forms` (sizes of loops).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from ...typechecker.elements import Kind
from ..kernels import policy
from ..kernels.ir import BLOCK, Form
from ..kernels.nest import Nest
from .rates import Rates
from .spans import largest, smallest
from .tables import GRAIN, Grains, Table

OVERLAP: Final = (1, 8)
"""The part of the shorter of moving and computing that the longer does not hide."""


class Sharing(Enum):
    """See Note [Sharing]."""

    ALONE = "one thread"
    CUT = "pieces, which helpers do not wake for"
    WOKEN = "pieces, which helpers wake for"
    ROWS = "rows of a chain that makes a number of each"
    LONG = "pieces of a loop that Python hands out, to hear an interrupt between them"


@dataclass(frozen=True, slots=True)
class Shared:
    """`joined`: are partial results put together at the end?  `handed`: do operands lie with the thread that made them?"""

    sharing: Sharing = Sharing.ALONE
    joined: bool = False
    handed: bool = False


ALONE: Final = Shared()


def shared_out(nest: Nest, reduces: bool, nanoseconds: int, threads: int, turns: int = 1) -> Shared:
    """How work is shared of which the policy takes one turn for so long."""
    if threads <= 1 or nanoseconds < policy.SHARED_NANOSECONDS:
        return ALONE
    joined = not _has_cells(nest, reduces, threads)
    if joined and (not reduces or nest.sizes[-1] < 2 * BLOCK * threads):
        return ALONE
    whole = nanoseconds * max(1, turns)
    if turns > 1 and whole >= policy.LONG_NANOSECONDS:
        return Shared(Sharing.LONG)
    return Shared(Sharing.WOKEN if whole > policy.WORTH_WAKING else Sharing.CUT, joined)


def rows_shared_out(nest: Nest, nanoseconds: int, threads: int, moves: bool) -> Shared:
    """The same of a chain along rows; `moves`: does it write as much as it reads?"""
    if threads <= 1 or nanoseconds < policy.PIECES_NANOSECONDS or not any(size >= 2 * threads for size in nest.sizes[:-1]):
        return ALONE
    return Shared(Sharing.WOKEN if moves else Sharing.ROWS)


def _has_cells(nest: Nest, reduces: bool, threads: int) -> bool:
    """Is there a loop over cells that is long enough to be cut?"""
    parallel = len(nest.sizes) - reduces
    for loop, size in enumerate(nest.sizes[:parallel]):
        inner = loop == parallel - 1 and nest.form is not Form.ALONG
        if size >= (256 * threads if inner else 2 * threads):
            return True
    return False


def overlapped(moved: int, computed: int) -> int:
    longer, shorter = largest(moved, computed), smallest(moved, computed)
    return Grains(longer + shorter * OVERLAP[0] // OVERLAP[1])


def together(moved: int, computed: int, shared: Shared, rates: Rates) -> int:
    """What the executor takes for so much moving and computing of one thread, in grains."""
    alone = overlapped(moved, computed)
    match shared.sharing:
        case Sharing.ALONE:
            return alone
        case Sharing.CUT:
            table = rates.table(("cut.reduced", "cut") if shared.joined else ("cut",), Kind.F64)
            return alone + (0 if table is None else table.at(1))
        case Sharing.ROWS | Sharing.LONG:
            table = rates.table(("team.rows" if shared.sharing is Sharing.ROWS else "team.long", "team"), Kind.F64)
            return alone if table is None else _mapped(alone, table)
        case Sharing.WOKEN:
            names: tuple[str, ...] = ("team.moved", "team") if moved > computed else ("team",)
            names = ("team.reduced", *names) if shared.joined else names
            table = rates.table(("team.handed", *names) if shared.handed else names, Kind.F64)
            return alone if table is None else _mapped(alone, table)


def _mapped(alone: int, table: Table) -> int:
    """Below the first point the same is added as there; above the last, times are in proportion."""
    least = table.size[0] * GRAIN
    if alone < least:
        return Grains(largest(alone // 2, alone + (table.ns[0] - table.size[0]) * GRAIN))
    return table.rate(-(-alone // GRAIN))
