"""The words by which native code launches kernels (`launch.c`, Note [Launches]).

Addresses are not part of blocks of words: a launch names them by numbers of bases, so that one text of words serves every run.

Neighbours: `sharing` (calls compiled code), `bindings` (puts launches into native programs), `run.native` (runs them).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from ...kernels import policy

Base: TypeAlias = tuple[int | None, int]
"""The number of a base and bytes from there; None: an address."""
SHARED_NANOSECONDS: Final = policy.SHARED_NANOSECONDS
UNLOCKED_NANOSECONDS: Final = 30_000.0
"""Work from which a call gives up the interpreter lock."""
LONG_NANOSECONDS: Final = policy.LONG_NANOSECONDS
MOST_WORDS: Final = 1 << 13
"""Words of all blocks of a launch."""
LOOSE_PLACES: Final = (4, 5)
"""Where it has the nanoseconds that it takes, and whether the interpreter lock is given up: no result depends on them."""
HELPERS_PLACE: Final = 3
"""Where a launch says how many helpers may join."""


@dataclass(frozen=True, slots=True)
class Block:
    """The argument block of a piece: its words, and the places of addresses in it."""

    words: Sequence[int]
    addresses: Sequence[tuple[int, Base]]


def words_of(address: int, blocks: Sequence[Block], helpers: int, duration: float) -> list[int] | None:
    """A launch of the kernel at an address; None if it is too large."""
    width = len(blocks[0].words)
    if width * len(blocks) > MOST_WORDS:
        return None
    words: list[int] = []
    relocations: list[int] = []
    for block in blocks:
        start = len(words)
        words += block.words
        for place, (number, ahead) in block.addresses:
            if number is None:
                words[start + place] = ahead
            else:
                relocations += (start + place, number, ahead)
    unlocked = int(duration >= UNLOCKED_NANOSECONDS)
    return [address, len(blocks), width, helpers, int(duration), unlocked, len(relocations) // 3, *relocations, *words]


def on_bases(blocks: Sequence[Block], bases: Sequence[Base]) -> list[Block]:
    """Blocks whose bases are these."""
    return [
        Block(block.words, [(at, (bases[which or 0][0], bases[which or 0][1] + by)) for at, (which, by) in block.addresses])
        for block in blocks
    ]


def moved(places: Sequence[int], bases: Sequence[Base], offsets: Sequence[int]) -> list[tuple[int, Base]]:
    """The places of addresses that lie some bytes from bases."""
    return [(at, (number, ahead + by)) for at, (number, ahead), by in zip(places, bases, offsets, strict=True)]
