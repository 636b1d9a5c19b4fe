"""Where Python calls compiled code, and nowhere else: pieces, whose words are made once for a layout and run on other addresses.

One piece is a call.  Several are a launch of the thread pool (`launching`); where an interrupt must be heard between them, Python
hands them out as boxes.

Note [Boxes].  Work of Python's in pieces is a launch of the same pool, with a chunk for each thread that goes on as long as there
are boxes.  It ends when all of them have, so memory that the boxes see lives long enough, also after an interrupt.  One that
arrives in machine code is heard where Python goes on: in a generator, which goes on inside its `try`.  Without the pool one
thread does it all.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import replace
from enum import Enum
from math import prod
from typing import Any, Final, Generic, TypeAlias, TypeVar, overload

import numpy as np

from ...lang.support.records import dataclass
from ..jit import tiering
from ..jit.compiler import MachineCode, address_of, is_installed
from ..lower.kernel_ir import BLOCK, NO_MEMORY, Form, LoopOrder
from ..vm.runtime import Launcher, Native, native

# ---------------------------------------------------------------------------------------------------- argument blocks
#
# The words by which native code launches kernels (`launch.c`, Note [Launches]).
#
# Addresses are not part of blocks of words: a launch names them by numbers of bases, so that one text of words serves every run.

Base: TypeAlias = tuple[int | None, int]
"""The number of a base and bytes from there; None: an address."""
SHARED_NANOSECONDS: Final = tiering.SHARED_NANOSECONDS
UNLOCKED_NANOSECONDS: Final = 30_000.0
"""Work from which a call gives up the interpreter lock."""
LONG_NANOSECONDS: Final = tiering.LONG_NANOSECONDS
MOST_WORDS: Final = 1 << 13
"""Words of all blocks of a launch."""
LOOSE_PLACES: Final = (4, 5)
"""Where it has the nanoseconds that it takes, and whether the interpreter lock is given up: no result depends on them."""
HELPERS_PLACE: Final = 3
"""Where a launch says how many helpers may join."""


@dataclass(frozen=True, slots=True)
class ArgumentBlock:
    """The argument block of a piece: its words, and the places of addresses in it."""

    words: Sequence[int]
    addresses: Sequence[tuple[int, Base]]


def words_of(address: int, blocks: Sequence[ArgumentBlock], helpers: int, duration: float) -> list[int] | None:
    """A launch of the kernel at an address; None if it is too large."""
    width = len(blocks[0].words)
    if width * len(blocks) > MOST_WORDS:
        return None
    words: list[int] = []
    relocations: list[int] = []
    for block in blocks:
        start = len(words)
        words += block.words
        for slot, (number, ahead) in block.addresses:
            if number is None:
                words[start + slot] = ahead
            else:
                relocations += (start + slot, number, ahead)
    unlocked = int(duration >= UNLOCKED_NANOSECONDS)
    return [address, len(blocks), width, helpers, int(duration), unlocked, len(relocations) // 3, *relocations, *words]


def on_bases(blocks: Sequence[ArgumentBlock], bases: Sequence[Base]) -> list[ArgumentBlock]:
    """Blocks whose bases are these."""
    return [
        ArgumentBlock(block.words, [(at, (bases[which or 0][0], bases[which or 0][1] + by)) for at, (which,
        by) in block.addresses])
        for block in blocks
    ]


def moved(places: Sequence[int], bases: Sequence[Base], offsets: Sequence[int]) -> list[tuple[int, Base]]:
    """The places of addresses that lie some bytes from bases."""
    return [(at, (number, ahead + by)) for at, (number, ahead), by in zip(places, bases, offsets, strict=True)]


# ---------------------------------------------------------------------------------------------------- launches

_CALL: Final = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
_SHORT_CALL: Final = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
"""Without giving up the interpreter's lock."""
_SERVER: Final = ctypes.CFUNCTYPE(ctypes.c_int64)
_ALONE: Final = 8
"""Boxes that one thread does before it looks for others again."""
Box = TypeVar("Box")


def address_for(code: MachineCode, items: int, least: int, nanoseconds: float) -> int | None:
    """The address of code that saves so much on so many items; None where NumPy does them: below `least`, or as yet."""
    mode = tiering.mode()
    if not items or mode is tiering.Mode.OFF or (items < least and mode is not tiering.Mode.ALWAYS) or not is_installed():
        return None
    return address_of(code) if tiering.is_worth(code, nanoseconds) else None


class Pieces:
    """The numbers of bases in blocks are places in the `addresses` of a run.  Those of long work are boxes."""

    __slots__ = ("_bases", "_call", "_launch", "_spare", "_start", "_words", "address", "blocks", "nanoseconds", "threads")

    def __init__(self, address: int, blocks: Sequence[ArgumentBlock], bases: int, threads: int, nanoseconds: float) -> None:
        self.address, self.blocks, self.nanoseconds = address, blocks, nanoseconds
        self.threads = min(threads, len(blocks))
        self._call = (_CALL if nanoseconds >= UNLOCKED_NANOSECONDS else _SHORT_CALL)(address)
        self._launch: Launcher | None = None
        self._spare: list[Any] = []
        if self.threads > 1 and nanoseconds < LONG_NANOSECONDS and (library := native()) is not None:
            words = words_of(address, blocks, self.threads - 1, nanoseconds)
            if words is not None:
                library.ask_for_helpers(self.threads - 1)
                self._launch, self._words, self._bases = library.launch, np.array(words, np.int64), bases
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

        def work(task: int) -> None:
            outcome = (0, 0) if failed and task > min(failed) else self._called(task, addresses)
            if outcome[0]:
                failed[task] = outcome

        run_boxes(range(len(self.blocks)), lambda: work, self.threads)
        return failed[min(failed)] if failed else (0, 0)

    def on(self, words: Any) -> int:
        """One piece on these words, addresses and all."""
        code: int = self._call(ctypes.addressof(words))
        return code

    def _called(self, task: int, addresses: Sequence[int]) -> tuple[int, int]:
        """The words of a lone piece are used again, by one run at a time."""
        block = self.blocks[task]
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
    return Pieces(address, [ArgumentBlock(words, ()) for words in calls], 0, threads, nanoseconds).run(())


# ------------------------------------------------------------------------------------------------ boxes


def run_boxes(boxes: Iterable[Box], make_worker: Callable[[], Callable[[Box], object]], threads: int) -> None:
    """Call a worker on every box until one fails; each thread has its own worker.  Of several failures that of the first box is
    raised.  See Note [Boxes]."""
    pool = native() if threads > 1 and tiering.mode() is not tiering.Mode.OFF else None
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
    words = np.array(words_of(address, [ArgumentBlock((), ())] * len(servers), len(servers) - 1, LONG_NANOSECONDS), np.int64)
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


# ---------------------------------------------------------------------------------------------------- task split
#
# How the loops of a kernel are cut into pieces: every loop by itself, a piece being one range of each.
#
# Note [Pieces].  The outermost loop that is long enough is cut, or the reduce axis at multiples of 2ᵐ blocks of the order of
# sums, whose partial results are subtrees of its tree.  So the pieces do not show.  Work that takes long is cut further until a
# piece ends soon (`HEARD_NANOSECONDS`): between pieces Python is asked whether anybody has interrupted.

PARALLEL: Final = tiering.SHARED_NANOSECONDS
"""Nanoseconds of work from which a phase uses the team."""
_VECTOR: Final = 16
_Piece = TypeVar("_Piece")


@dataclass(frozen=True, slots=True)
class TaskSplit:
    """Of loops of these sizes, where the ranges of each start.  `reduced`: is the last loop cut, and a reduction?"""

    sizes: tuple[int, ...]
    starts: tuple[Sequence[int], ...]
    reduced: bool = False

    @classmethod
    def none(cls, sizes: tuple[int, ...]) -> TaskSplit:
        """One piece."""
        return cls(sizes, ((0,),) * len(sizes))

    def cut(self, loop: int, starts: Sequence[int], *, reduced: bool = False) -> TaskSplit:
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

    def ranges(self, task: int) -> list[tuple[int, int]]:
        """(start, stop) in each loop of a piece.  The last loop goes on fastest."""
        ranges: list[tuple[int, int]] = []
        for size, starts in zip(reversed(self.sizes), reversed(self.starts), strict=True):
            task, at = divmod(task, len(starts))
            ranges.append((starts[at], starts[at + 1] if at + 1 < len(starts) else size))
        return ranges[::-1]

    def partial(self, task: int) -> int:
        """Which partial result of its cells a piece makes."""
        return task % self.partials


class LazySequence(Sequence[_Piece], Generic[_Piece]):
    """Pieces that are made when they are asked for: of long work there may be a hundred thousand."""

    def __init__(self, length: int, make: Callable[[int], _Piece]) -> None:
        self.length, self.make = length, make

    def __len__(self) -> int:
        return self.length

    @overload
    def __getitem__(self, index: int) -> _Piece: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[_Piece]: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self.make(one) for one in range(*index.indices(self.length))]
        if not 0 <= index < self.length:
            raise IndexError(index)
        return self.make(index)


# ---------------------------------------------------------------------------------------- split points


class SplitReduction(Enum):
    """What becomes of the last loop of a nest."""

    NONE = "nothing"
    SUMS = "partial results can be joined"
    WHOLE = "they cannot"


@dataclass(frozen=True, slots=True)
class WorkEstimate:
    """`nanoseconds` on one thread, roughly."""

    nanoseconds: float
    threads: int
    reduction: SplitReduction

    def parallel(self, nest: LoopOrder) -> int:
        """How many loops are over cells."""
        return len(nest.sizes) - (self.reduction is not SplitReduction.NONE)


def cuts_of(nest: LoopOrder, work: WorkEstimate) -> TaskSplit:
    """See Note [Pieces]."""
    cuts = _shared(nest, work) if work.threads > 1 else TaskSplit.none(nest.sizes)
    return _shortened(cuts, nest, work) if work.nanoseconds >= tiering.LONG_NANOSECONDS else cuts


def _shared(nest: LoopOrder, work: WorkEstimate) -> TaskSplit:
    """One loop is cut, so that every thread of the team has pieces."""
    uncut, threads = TaskSplit.none(nest.sizes), work.threads
    if work.nanoseconds < PARALLEL:
        return uncut
    wanted = (8 if work.nanoseconds < tiering.LONG_NANOSECONDS else 4) * threads
    parallel = work.parallel(nest)
    for loop in range(parallel):
        size = nest.sizes[loop]
        if size < 2 * threads:
            continue
        inner = loop == parallel - 1 and nest.form is not Form.REDUCE_INNER
        grain = 256 if inner and size >= 1024 * threads else 64 if inner and size >= 256 * threads else 1
        if inner and grain == 1:
            continue
        runs = threads if inner and nest.form is not Form.MAP else wanted
        step = -(-size // (runs * grain)) * grain
        if runs == wanted:
            return uncut.cut(loop, tiering.starts(size, step, threads, work.nanoseconds))
        return uncut.cut(loop, _columns(size, step))
    blocks = _blocks(nest, work, wanted)
    return uncut if blocks is None else uncut.cut(parallel, range(0, nest.sizes[-1], blocks), reduced=True)


def _shortened(cuts: TaskSplit, nest: LoopOrder, work: WorkEstimate) -> TaskSplit:
    """Further loops are cut, and more finely, outermost first and the reduce axis last, until pieces are short."""
    parallel = work.parallel(nest)
    for loop in range(parallel):
        pieces = cuts.longest(work.nanoseconds) / tiering.HEARD_NANOSECONDS
        if pieces <= 1:
            return cuts
        size, most = nest.sizes[loop], cuts.most(loop)
        inner = loop == parallel - 1 and nest.form is not Form.REDUCE_INNER
        grain = 256 if inner else 1
        step = -(-most // (int(pieces + 1) * grain)) * grain
        if step < most:
            columns = inner and nest.form is not Form.MAP
            cuts = cuts.cut(loop, _columns(size, step) if columns else range(0, size, step))
    pieces = cuts.longest(work.nanoseconds) / tiering.HEARD_NANOSECONDS
    if pieces <= 1 or work.reduction is not SplitReduction.SUMS:
        return cuts
    size, most = nest.sizes[-1], cuts.most(parallel)
    blocks = _blocks(nest, work, int(pieces * size / most) + 1)
    return cuts if blocks is None or blocks >= most else cuts.cut(parallel, range(0, size, blocks), reduced=True)


def _blocks(nest: LoopOrder, work: WorkEstimate, wanted: int) -> int | None:
    """Items of the reduce axis in each of about so many pieces; None where it is not cut."""
    size = nest.sizes[-1]
    if work.reduction is not SplitReduction.SUMS or size < 2 * BLOCK * work.threads:
        return None
    step = BLOCK
    while step * wanted < size:
        step *= 2
    return step


def _columns(size: int, step: int) -> list[int]:
    """Where so many cells side by side are cut; the last piece fills vectors, too."""
    return [start for start in range(0, size, step) if not start or size - start >= _VECTOR]
