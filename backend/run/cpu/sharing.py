"""Where Python calls compiled code, and nowhere else: pieces, whose words are made once for a layout and run on other addresses.

One piece is a call.  Several are a launch of the thread pool (`launching`); where an interrupt must be heard between them, Python
hands them out as boxes.

Note [Boxes].  Work of Python's in pieces is a launch of the same pool, with a chunk for each thread that goes on as long as there
are boxes.  It ends when all of them have, so memory that the boxes see lives long enough, also after an interrupt.  One that
arrives in machine code is heard where Python goes on: in a generator, which goes on inside its `try`.  Without the pool one
thread does it all.

Neighbours: `launching` (the words of a launch), `ranges` (words that stay where they are); `scanning`, `copying`, `selecting`,
`scattering`, `uniforms`, `compiled`, `tiles`, `backend.library` (make pieces).
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any, Final, Generic, TypeVar

import numpy as np

from ...kernels import policy
from ...kernels.ir import NO_MEMORY
from ...kernels.llvm_leaf import is_installed
from ...kernels.store import Code, address_of
from ..native import Launcher, Native, native
from .launching import LONG_NANOSECONDS, UNLOCKED_NANOSECONDS, Block, words_of

_CALL: Final = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
_SHORT_CALL: Final = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
"""Without giving up the interpreter's lock."""
_SERVER: Final = ctypes.CFUNCTYPE(ctypes.c_int64)
_ALONE: Final = 8
"""Boxes that one thread does before it looks for others again."""
Box = TypeVar("Box")


def address_for(code: Code, items: int, least: int, nanoseconds: float) -> int | None:
    """The address of code that saves so much on so many items; None where NumPy does them: below `least`, or as yet."""
    mode = policy.mode()
    if not items or mode is policy.Mode.OFF or (items < least and mode is not policy.Mode.ALWAYS) or not is_installed():
        return None
    return address_of(code) if policy.is_worth(code, nanoseconds) else None


class Pieces:
    """The numbers of bases in blocks are places in the `addresses` of a run.  Those of long work are boxes."""

    __slots__ = ("_bases", "_call", "_launch", "_spare", "_start", "_words", "address", "blocks", "nanoseconds", "threads")

    def __init__(self, address: int, blocks: Sequence[Block], bases: int, threads: int, nanoseconds: float) -> None:
        self.address, self.blocks, self.nanoseconds = address, blocks, nanoseconds
        self.threads = min(threads, len(blocks))
        self._call = (_CALL if nanoseconds >= UNLOCKED_NANOSECONDS else _SHORT_CALL)(address)
        self._launch: Launcher | None = None
        self._spare: list[Any] = []
        if self.threads > 1 and nanoseconds < LONG_NANOSECONDS and (made := native()) is not None:
            words = words_of(address, blocks, self.threads - 1, nanoseconds)
            if words is not None:
                made.ask_for_helpers(self.threads - 1)
                self._launch, self._words, self._bases = made.launch, np.array(words, np.int64), bases
                self._start = self._words.ctypes.data

    def run(self, addresses: Sequence[int]) -> int:
        """The code of the first piece that fails, 0 if none does.  Nobody sees the arrays any more when this ends."""
        return self.outcome(addresses)[0]

    def outcome(self, addresses: Sequence[int]) -> tuple[int, int]:
        """The same, and the last word of that piece."""
        if self._launch is not None:
            slots = (ctypes.c_int64 * (self._bases + 1))(*addresses)
            start = ctypes.addressof(slots)
            code = self._launch(self._start, start, start + 8 * self._bases)
            word = slots[self._bases]
        elif len(self.blocks) == 1:
            code, word = self._called(0, addresses)
        else:
            code, word = self._in_boxes(addresses)
        if code == NO_MEMORY:
            raise MemoryError
        return code, word

    def _in_boxes(self, addresses: Sequence[int]) -> tuple[int, int]:
        failed: dict[int, tuple[int, int]] = {}

        def work(place: int) -> None:
            outcome = (0, 0) if failed and place > min(failed) else self._called(place, addresses)
            if outcome[0]:
                failed[place] = outcome

        run_boxes(range(len(self.blocks)), lambda: work, self.threads)
        return failed[min(failed)] if failed else (0, 0)

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


def run_once(address: int, calls: Sequence[Sequence[int]], threads: int, nanoseconds: float) -> int:
    """Pieces whose words have addresses in them; as `Pieces.run`."""
    return Pieces(address, [Block(words, ()) for words in calls], 0, threads, nanoseconds).run(())


# ------------------------------------------------------------------------------------------------ boxes


def run_boxes(boxes: Iterable[Box], make_worker: Callable[[], Callable[[Box], object]], threads: int) -> None:
    """Call a worker on every box until one fails; each thread has its own worker.  Of several failures that of the first box is
    raised.  See Note [Boxes]."""
    pool = native() if threads > 1 and policy.mode() is not policy.Mode.OFF else None
    if pool is None:
        worker = make_worker()
        for box in boxes:
            worker(box)
        return
    pool.ask_for_helpers(threads - 1)
    supply, failures = _Supply(boxes), dict[int, BaseException]()
    while not supply.is_empty and not failures:
        supply.alone = 0
        _launch(pool, [_serve(supply, make_worker, failures) for _ in range(threads)])
    if failures:
        try:
            raise failures[min(failures)]
        finally:
            failures.clear()  # their frames have it


def _launch(pool: Native, servers: Sequence[Generator[int, None, None]]) -> None:
    for server in servers:
        next(server)
    entry = _SERVER(map(next, servers).__next__)
    address = ctypes.c_void_p.from_buffer(entry).value or 0  # a cast would be held by a cycle, and hold the arrays
    words = np.array(words_of(address, [Block((), ())] * len(servers), len(servers) - 1, LONG_NANOSECONDS), np.int64)
    pool.alone.value = 0  # what is so long is not held back by what launches before it had to wait
    if pool.launch(words.ctypes.data, 0, 0):
        raise MemoryError


class _Supply(Generic[Box]):
    """Boxes with their numbers, for several threads.  `alone`: how many the only one has taken that came: somebody else has the
    pool, perhaps for a moment, so that it is asked again after some."""

    def __init__(self, boxes: Iterable[Box]) -> None:
        self._boxes, self._lock = enumerate(boxes), threading.Lock()
        self._threads = set[int]()
        self.is_empty, self.alone = False, 0

    def next(self) -> tuple[int, Box] | None:
        with self._lock:
            self._threads.add(threading.get_ident())
            self.alone += len(self._threads) == 1
            if self.alone > _ALONE:
                return None
            taken = next(self._boxes, None)
            self.is_empty = taken is None
            return taken


def _serve(supply: _Supply[Box], make_worker: Callable[[], Callable[[Box], object]], failures: dict[int, BaseException]
           ) -> Generator[int, None, None]:  # fmt: skip
    """Waits until it goes on, then serves boxes as long as there are any."""
    number, worker = -1, None
    try:
        yield 0
        with np.errstate(all="ignore"):
            while not failures and (taken := supply.next()) is not None:
                number, box = taken
                worker = worker or make_worker()
                worker(box)
    except GeneratorExit:
        return
    except BaseException as failure:
        failures[number] = failure
    yield 0
