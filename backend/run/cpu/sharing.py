"""Pieces of one kernel that is no phase's (scans, copies): their words, made once for a layout, run again on other addresses.

One piece is a call.  Several are a launch of the native team (`launching`); where that cannot be had, or where an interrupt must
be heard between them, the boxes of Python's.

Neighbours: `scanning`, `copying` (make pieces), `launching` (the words of a launch).
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from ..native import native
from ..team import run_boxes
from .compiled import CALL, SHORT_CALL
from .launching import LONG_NANOSECONDS, UNLOCKED_NANOSECONDS, Block, Launch, words_of


class Pieces:
    """`run(addresses, owners)`: the numbers of bases in blocks are places in `addresses`; `owners` live until the end."""

    __slots__ = ("_launch", "address", "blocks", "nanoseconds", "threads")

    def __init__(self, address: int, blocks: Sequence[Block], bases: int, threads: int, nanoseconds: float) -> None:
        self.address, self.blocks, self.nanoseconds = address, blocks, nanoseconds
        self.threads = min(threads, len(blocks))
        self._launch: Launch | None = None
        if self.threads > 1 and nanoseconds < LONG_NANOSECONDS and (made := native()) is not None:
            words = words_of(address, blocks, self.threads - 1, nanoseconds)
            if words is not None:
                made.ask_for_helpers(self.threads - 1)
                self._launch = Launch(made.launch, words, bases)

    def run(self, addresses: Sequence[int], owners: Any) -> None:
        if self._launch is not None:
            code, _ = self._launch.run(addresses)
            if code:
                raise MemoryError
            return
        call = (CALL if self.nanoseconds >= UNLOCKED_NANOSECONDS else SHORT_CALL)(self.address)

        def work(block: Block, owners: Any = owners) -> None:
            words = (ctypes.c_int64 * len(block.words))(*block.words)
            for place, (number, ahead) in block.addresses:
                words[place] = ahead if number is None else addresses[number] + ahead
            if call(ctypes.addressof(words)):
                raise MemoryError

        run_boxes(self.blocks, lambda: work, self.threads)
