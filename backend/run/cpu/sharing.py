"""Where Python calls compiled code, and nowhere else: pieces, whose words are made once for a layout and run on other addresses.

One piece is a call.  Several are a launch of the native team (`launching`); where that cannot be had, or where an interrupt must
be heard between them, the boxes of Python's.

Neighbours: `launching` (the words of a launch), `ranges` (words that stay where they are); `scanning`, `copying`, `selecting`,
`scattering`, `uniforms`, `compiled`, `tiles`, `backend.library` (make pieces).
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ...kernels import policy
from ...kernels.ir import NO_MEMORY
from ...kernels.llvm_leaf import is_installed
from ...kernels.store import Code, address_of
from ..native import Launcher, native
from ..team import run_boxes
from .launching import LONG_NANOSECONDS, UNLOCKED_NANOSECONDS, Block, words_of

_CALL: Final = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
_SHORT_CALL: Final = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
"""Without giving up the interpreter's lock."""


def address_for(code: Code, items: int, least: int, nanoseconds: float) -> int | None:
    """The address of code that saves so much on so many items; None where NumPy does them: below `least`, or as yet."""
    mode = policy.mode()
    if not items or mode is policy.Mode.OFF or (items < least and mode is not policy.Mode.ALWAYS) or not is_installed():
        return None
    return address_of(code) if policy.is_worth(code, nanoseconds) else None


class Pieces:
    """The numbers of bases in blocks are places in the `addresses` of a run.  Launches below `longest` nanoseconds are native."""

    __slots__ = ("_bases", "_call", "_launch", "_spare", "_start", "_words", "address", "blocks", "nanoseconds", "threads")

    def __init__(self, address: int, blocks: Sequence[Block], bases: int, threads: int, nanoseconds: float,
                 longest: float | None = None) -> None:  # fmt: skip
        self.address, self.blocks, self.nanoseconds = address, blocks, nanoseconds
        self.threads = min(threads, len(blocks))
        self._call = (_CALL if nanoseconds >= UNLOCKED_NANOSECONDS else _SHORT_CALL)(address)
        self._launch: Launcher | None = None
        self._spare: list[Any] = []
        longest = LONG_NANOSECONDS if longest is None else longest
        if self.threads > 1 and nanoseconds < longest and (made := native()) is not None:
            words = words_of(address, blocks, self.threads - 1, nanoseconds)
            if words is not None:
                made.ask_for_helpers(self.threads - 1)
                self._launch, self._words, self._bases = made.launch, np.array(words, np.int64), bases
                self._start = self._words.ctypes.data

    def run(self, addresses: Sequence[int], owners: Any) -> int:
        """The code of the first piece that fails, 0 if none does; `owners`: arrays that live until all is done."""
        return self.outcome(addresses, owners)[0]

    def outcome(self, addresses: Sequence[int], owners: Any) -> tuple[int, int]:
        """The same, and the last word of that piece."""
        if self._launch is not None:
            slots = (ctypes.c_int64 * (self._bases + 1))(*addresses)
            start = ctypes.addressof(slots)
            code = self._launch(self._start, start, start + 8 * self._bases)
            word = slots[self._bases]
        elif len(self.blocks) == 1:
            code, word = self._called(0, addresses)
        else:
            failed: dict[int, tuple[int, int]] = {}

            def work(place: int, owners: Any = owners) -> None:
                # An interrupt may end the run while a thread is in here: the arrays live as long as this function.
                outcome = self._called(place, addresses)
                if outcome[0]:
                    failed[place] = outcome

            run_boxes(range(len(self.blocks)), lambda: work, self.threads)
            code, word = failed[min(failed)] if failed else (0, 0)
        if code == NO_MEMORY:
            raise MemoryError
        return code, word

    def on(self, words: Any) -> int:
        """One piece on these words, addresses and all."""
        code: int = self._call(ctypes.addressof(words))
        return code

    def _called(self, place: int, addresses: Sequence[int]) -> tuple[int, int]:
        """The words of a lone piece are used again, by one run at a time."""
        block = self.blocks[place]
        try:
            words = self._spare.pop()
        except IndexError:
            words = (ctypes.c_int64 * len(block.words))(*block.words)
        for at, (number, ahead) in block.addresses:
            words[at] = ahead if number is None else addresses[number] + ahead
        outcome = self.on(words), words[-1] if words else 0
        if len(self.blocks) == 1:
            self._spare.append(words)
        return outcome


def run_once(address: int, calls: Sequence[Sequence[int]], threads: int, nanoseconds: float, owners: Any) -> int:
    """Pieces whose words have addresses in them; as `Pieces.run`."""
    return Pieces(address, [Block(words, ()) for words in calls], 0, threads, nanoseconds).run((), owners)
