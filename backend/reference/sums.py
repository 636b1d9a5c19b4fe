"""The order of float sums and products: a function of the length alone, so every plan gives the same bits.

phases.md, "Order of sums".  The elements along the reduced axis are cut into blocks of `ROWS × LANES` consecutive
elements, element r × LANES + l of a block being row r, lane l.  In a block each lane is added down the rows in order;
then for h = 128, 64, …, 1 lane l becomes lane l + lane (l + h) where lane l + h exists and l < h; then blocks 2i and
2i + 1 are added, level by level, a last odd block passing through.  Absent elements contribute nothing (no zero is
added, so the sum of ¯0.0 alone is ¯0.0).  The empty sum is the identity, which is the caller's business.

This is the definition in its plainest form; what runs programs must agree with it bit for bit.

Neighbours: `reductions` (asks), `loops.orders` and `run.sums_numpy` (the same in kernels and on arrays).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

ROWS: Final = 16
LANES: Final = 256
BLOCK: Final = ROWS * LANES

Item = TypeVar("Item")


def combine(items: Sequence[Item], add: Callable[[Item, Item], Item]) -> Item:
    """Combine one or more items in the fixed order; `add` rounds to the storage kind itself."""
    if not items:
        raise ValueError("an empty sum has no order")
    partials = [_block(items[start : start + BLOCK], add) for start in range(0, len(items), BLOCK)]
    return tree(partials, add)


def tree(partials: Sequence[Item], add: Callable[[Item, Item], Item]) -> Item:
    """The binary tree on the block index: neighbours are paired level by level."""
    level = list(partials)
    while len(level) > 1:
        paired = [add(level[i], level[i + 1]) for i in range(0, len(level) - 1, 2)]
        level = paired + level[len(paired) * 2 :]
    return level[0]


def _block(items: Sequence[Item], add: Callable[[Item, Item], Item]) -> Item:
    lanes = list(items[:LANES])
    for start in range(LANES, len(items), LANES):
        for lane, item in enumerate(items[start : start + LANES]):
            lanes[lane] = add(lanes[lane], item)
    half = LANES // 2
    while half:
        for lane in range(half):
            if lane + half < len(lanes):
                lanes[lane] = add(lanes[lane], lanes[lane + half])
        lanes = lanes[:half]
        half //= 2
    return lanes[0]
