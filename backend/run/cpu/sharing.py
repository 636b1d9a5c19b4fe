"""Pieces of compiled code: their words, made once for a layout, run again on other addresses.

One piece is a call.  Several are a launch of the native team (`launching`); where that cannot be had, or where an interrupt must
be heard between them, the boxes of Python's.

Neighbours: `launching` (calls, and the words of a launch); `scanning`, `copying`, `selecting`, `sorting`, `hashing`,
`scattering`, `uniforms`, `products`, `row_kernels`, `tiles` (make pieces).
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from ...kernels.ir import NO_MEMORY
from ..native import native
from ..team import run_boxes
from .launching import LONG_NANOSECONDS, Block, Launch, entry, words_of


class Pieces:
    """The numbers of bases in blocks are places in the `addresses` of a run.  Launches below `longest` nanoseconds are native."""

    __slots__ = ("_call", "_launch", "address", "blocks", "nanoseconds", "threads")

    def __init__(self, address: int, blocks: Sequence[Block], bases: int, threads: int, nanoseconds: float,
                 longest: float = LONG_NANOSECONDS) -> None:  # fmt: skip
        self.address, self.blocks, self.nanoseconds = address, blocks, nanoseconds
        self.threads = min(threads, len(blocks))
        self._call = entry(address, nanoseconds)
        self._launch: Launch | None = None
        if self.threads > 1 and nanoseconds < longest and (made := native()) is not None:
            words = words_of(address, blocks, self.threads - 1, nanoseconds)
            if words is not None:
                made.ask_for_helpers(self.threads - 1)
                self._launch = Launch(made.launch, words, bases)

    @property
    def is_native(self) -> bool:
        return self._launch is not None

    def run(self, addresses: Sequence[int], owners: Any) -> int:
        """The code of the first piece that fails, 0 if none does; `owners`: arrays that live until all is done."""
        if self._launch is not None:
            code, _ = self._launch.run(addresses)
        elif len(self.blocks) == 1:
            code = self._called(0, addresses)
        else:
            codes = [0] * len(self.blocks)

            def work(place: int, owners: Any = owners) -> None:
                codes[place] = self._called(place, addresses)

            run_boxes(range(len(codes)), lambda: work, self.threads)
            code = next(filter(None, codes), 0)
        if code == NO_MEMORY:
            raise MemoryError
        return code

    def _called(self, place: int, addresses: Sequence[int]) -> int:
        block = self.blocks[place]
        words = (ctypes.c_int64 * len(block.words))(*block.words)
        for at, (number, ahead) in block.addresses:
            words[at] = ahead if number is None else addresses[number] + ahead
        return self._call(ctypes.addressof(words))


def run_once(address: int, calls: Sequence[Sequence[int]], threads: int, nanoseconds: float, owners: Any) -> int:
    """Pieces whose words have addresses in them; as `Pieces.run`."""
    return Pieces(address, [Block(words, ()) for words in calls], 0, threads, nanoseconds).run((), owners)
