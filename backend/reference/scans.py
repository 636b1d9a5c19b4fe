"""The order of float scans by + and ×: a function of the length alone, so every plan gives the same bits.

The items of a line are cut into blocks of `BLOCK` consecutive ones, the blocks into runs of `RUN`.  In a run the items are added
in order.  In a block, what is before a run is the totals of the runs before it, added in order; what is before a block is the
totals of the blocks before it, added in order, the total of a block being what would be before its next run.  An item of the
scan is ((before its block) + (before its run)) + (its sum in the run).  What is absent contributes nothing (no zero is added).

So lines of at most `RUN` items are plain running sums; the first items of a line do not depend on how many follow; and a line can
be cut at its blocks.  For functions that are exact in any order (integers, truth values, ⌊ and ⌈) the order does not show.

This is the definition in its plainest form; what runs programs must agree with it bit for bit.

Neighbours: `sums` (the same of reductions), `run.scans_numpy`, `loops.scans`, `loops.card_scans`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

Item = TypeVar("Item")
_NOTHING: Final = None
RUN: Final = 64
BLOCK: Final = 4096


def running(items: Sequence[Item], add: Callable[[Item, Item], Item]) -> list[Item]:
    """The scan of a line; `add` rounds to the storage kind itself."""

    def joined(left: Item | None, right: Item) -> Item:
        return right if left is _NOTHING else add(left, right)

    made: list[Item] = []
    before_block: Item | None = _NOTHING
    for block in range(0, len(items), BLOCK):
        before_run: Item | None = _NOTHING
        for start in range(block, min(block + BLOCK, len(items)), RUN):
            before = before_block if before_run is _NOTHING else joined(before_block, before_run)
            total: Item | None = _NOTHING
            for item in items[start : min(start + RUN, block + BLOCK)]:
                total = joined(total, item)
                made.append(joined(before, total))
            assert total is not _NOTHING
            before_run = joined(before_run, total)
        assert before_run is not _NOTHING
        before_block = joined(before_block, before_run)
    return made
