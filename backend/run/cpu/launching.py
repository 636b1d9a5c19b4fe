"""A kernel bound to operands of one layout, and the words by which native code launches it (`launch.c`, Note [Launches]).

Addresses are not part of a bound kernel: a launch names them by numbers of bases, so that one text of words serves every run.

Neighbours: `compiled` (binds), `bindings` (puts launches into native programs), `run.native` (runs them).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np

from ...kernels import policy
from ...kernels.ir import Kernel
from ...kernels.store import address_of
from ...loops.written import Joining
from ..native import native
from .kinds import NumArray
from .packing import Pack

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
_MOST_LAUNCHES: Final = 16
_CALL: Final = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
_SHORT_CALL: Final = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)


@dataclass(frozen=True, slots=True)
class Piece:
    """One call: the words of the argument block without addresses, and how far into each array it starts (bytes)."""

    words: tuple[int, ...]
    operands: tuple[int, ...]
    results: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Bound:
    """A kernel for operands of one layout.  `addresses`: the places of the operands' and results' addresses in the words.

    `partials`: how many partial results each cell has (1 unless the reduce axis is cut); `combine`: what joins those of
    each result (none: NumPy).  `duration`: nanoseconds on one thread, roughly; `helpers`: threads that may join.  `packs`:
    operands to be packed first."""

    kernel: Kernel
    call: Callable[[int], int]
    pieces: Sequence[Piece]
    operand_places: tuple[int, ...]
    result_places: tuple[int, ...]
    shape: tuple[int, ...]
    order: tuple[int, ...]
    partials: int
    dtypes: tuple[np.dtype[Any], ...]
    packs: tuple[Pack, ...] = ()
    blocks: list[tuple[Any, int]] = field(default_factory=list)
    address: int = 0
    combine: tuple[int, ...] = ()
    duration: float = 0.0
    helpers: int = 0
    launches: dict[int, Launch] = field(default_factory=dict)

    @property
    def is_direct(self) -> bool:
        """Is a run one call on the operands as they are, whose results are as they are made?"""
        return not self.packs and self.partials == 1 and len(self.pieces) == 1 and list(self.order) == sorted(self.order)


@dataclass(frozen=True, slots=True)
class Block:
    """The argument block of a piece: its words, and the places of addresses in it."""

    words: Sequence[int]
    addresses: Sequence[tuple[int, Base]]


def entry(address: int, nanoseconds: float) -> Callable[[int], int]:
    """What calls compiled code with the address of its words; of little work without giving up the interpreter lock."""
    return (_CALL if nanoseconds >= UNLOCKED_NANOSECONDS else _SHORT_CALL)(address)


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


def launch_words(bound: Bound, operands: Sequence[Base], results: Sequence[Base], turns: int = 0) -> list[int] | None:
    """The launch of a bound kernel on these bases; None if it is too large."""
    blocks = []
    for piece in bound.pieces:
        words = list(piece.words)
        if turns:
            words[2 * bound.kernel.axes + bound.kernel.trip] = turns
        places = (*bound.operand_places, *bound.result_places)
        blocks.append(Block(words, moved(places, (*operands, *results), (*piece.operands, *piece.results))))
    return words_of(bound.address, blocks, bound.helpers, bound.duration * max(1, turns))


def on_bases(blocks: Sequence[Block], bases: Sequence[Base]) -> list[Block]:
    """Blocks whose bases are these."""
    return [
        Block(block.words, [(at, (bases[which or 0][0], bases[which or 0][1] + by)) for at, (which, by) in block.addresses])
        for block in blocks
    ]


def moved(places: Sequence[int], bases: Sequence[Base], offsets: Sequence[int]) -> list[tuple[int, Base]]:
    """The places of addresses that lie some bytes from bases."""
    return [(at, (number, ahead + by)) for at, (number, ahead), by in zip(places, bases, offsets, strict=True)]


def combining_words(bound: Bound, place: int, rows: Base, result: Base) -> list[int] | None:
    """The launch that joins the partial results of result number `place`."""
    cells = prod(bound.shape)
    words = [bound.partials, cells, 0, cells * bound.dtypes[place].itemsize, 0, 0]
    return words_of(bound.combine[place], [Block(words, [(2, rows), (4, result)])], 0, 0)


class Launch:
    """The launch of a bound kernel for runs whose bases are operands, then results."""

    __slots__ = ("_launch", "_start", "_words", "count")

    def __init__(self, launch: Callable[[int, int, int], int], words: Sequence[int], count: int) -> None:
        self._launch = launch
        self._words = np.array(words, np.int64)
        self._start = self._words.ctypes.data
        self.count = count

    def blocks(self, count: int, width: int) -> NumArray:
        """The words of the pieces, a row each, to be changed between runs."""
        return self._words[-count * width :].reshape(count, width)

    def run(self, addresses: Sequence[int]) -> tuple[int, int]:
        """The code of the first piece that fails and its word; the code is 0 if none does."""
        block = (ctypes.c_int64 * (self.count + 1))(*addresses)
        start = ctypes.addressof(block)
        code = self._launch(self._start, start, start + 8 * self.count)
        return code, block[self.count]


def launch_of(bound: Bound, turns: int = 0) -> Launch | None:
    """The bound kernel's launch, made once (for each number of turns of a loop); None where native code cannot do it."""
    found = bound.launches.get(turns)
    if found is not None:
        return found
    made = native()
    operands, results = len(bound.operand_places), len(bound.result_places)
    words = launch_words(bound, [(i, 0) for i in range(operands)], [(operands + i, 0) for i in range(results)], turns)
    if made is None or words is None:
        return None
    made.ask_for_helpers(bound.helpers)
    while len(bound.launches) >= _MOST_LAUNCHES:
        bound.launches.popitem()
    return bound.launches.setdefault(turns, Launch(made.launch, words, operands + results))


def joined(bound: Bound, place: int, rows: NumArray) -> NumArray | None:
    """The partial results of result number `place` (which are written over) as one; None where NumPy has to join them."""
    if not bound.combine:
        return None
    result = np.empty(rows.shape[1:], rows.dtype)
    addresses = [array.__array_interface__["data"][0] for array in (rows, result)]
    block = (ctypes.c_int64 * 5)(bound.partials, result.size, addresses[0], result.nbytes, addresses[1])
    entry(bound.combine[place], 0)(ctypes.addressof(block))
    return result


def combiners(functions: Sequence[str], kinds: Sequence[Any], partials: int) -> tuple[int, ...]:
    """The addresses of what joins partial results; none where there are none, or one of them cannot be had."""
    if partials == 1 or native() is None:
        return ()
    found = [address_of(Joining(function, kind)) for function, kind in zip(functions, kinds, strict=True)]
    return tuple(address for address in found if address is not None) if None not in found else ()
