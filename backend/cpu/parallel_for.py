"""All calls from Python into compiled code: tasks, whose argument blocks are made once for a layout and run on any addresses.

A single task is a call.  Several are a launch of the thread pool; if interrupts must be handled between them, Python hands them
out as boxes (`parallel_for`).

Note [Boxes].  `parallel_for` is a launch of the same pool in which each thread takes boxes until there are none.  It returns only
when all threads have finished, so memory that they use lives long enough, also after an interrupt.  An interrupt that arrives in
machine code is raised when Python code runs next: inside the `try` of a generator.  Without the pool one thread does everything.
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
# The words with which native code launches kernels (`launch.c`, Note [Launches]).
# Argument blocks contain no addresses: a launch refers to buffers by number, so that the same words serve every run.

BufferRef: TypeAlias = tuple[int | None, int]
"""The number of a buffer and an offset in bytes; if the number is None the offset is an address."""
SHARED_NANOSECONDS: Final = tiering.SHARED_NANOSECONDS
UNLOCKED_NANOSECONDS: Final = 30_000.0
"""A call with at least this much work releases the interpreter lock."""
LONG_NANOSECONDS: Final = tiering.LONG_NANOSECONDS
MAX_LAUNCH_WORDS: Final = 1 << 13
"""The most words of all argument blocks of a launch."""
TUNING_WORDS: Final = (4, 5)
"""The words of a launch with its estimated nanoseconds and whether it releases the interpreter lock; no result depends on
them."""
POOL_THREADS_WORD: Final = 3
"""The word of a launch with the number of pool threads that may join."""


@dataclass(frozen=True, slots=True)
class ArgumentBlock:
    """The arguments of a task as 64-bit words, and which words are addresses in which buffers."""

    words: Sequence[int]
    addresses: Sequence[tuple[int, BufferRef]]


def words_of(address: int, blocks: Sequence[ArgumentBlock], helpers: int, duration: float) -> list[int] | None:
    """The words of a launch of the kernel at `address`; None if there are too many."""
    width = len(blocks[0].words)
    if width * len(blocks) > MAX_LAUNCH_WORDS:
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


def rebase(blocks: Sequence[ArgumentBlock], bases: Sequence[BufferRef]) -> list[ArgumentBlock]:
    """The argument blocks with buffer number `i` replaced by `bases[i]`."""
    return [
        ArgumentBlock(block.words, [(at, (bases[which or 0][0], bases[which or 0][1] + by)) for at, (which,
        by) in block.addresses])
        for block in blocks
    ]


def offset_addresses(places: Sequence[int], bases: Sequence[BufferRef], offsets: Sequence[int]) -> list[tuple[int, BufferRef]]:
    """Pairs of a word's position and the buffer address that belongs there, at `offsets` bytes from `bases`."""
    return [(at, (number, ahead + by)) for at, (number, ahead), by in zip(places, bases, offsets, strict=True)]


# ---------------------------------------------------------------------------------------------------- launches

_CALL: Final = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
_SHORT_CALL: Final = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
"""A call that keeps the interpreter lock."""
_SERVER: Final = ctypes.CFUNCTYPE(ctypes.c_int64)
_ALONE: Final = 8
"""Boxes that a thread does alone before it asks for pool threads again."""
Box = TypeVar("Box")


def address_if_worthwhile(code: MachineCode, items: int, least: int, nanoseconds: float) -> int | None:
    """The address of code that saves `nanoseconds` on `items` items; None below `least` items or while compiling does not pay."""
    mode = tiering.mode()
    if not items or mode is tiering.Mode.OFF or (items < least and mode is not tiering.Mode.ALWAYS) or not is_installed():
        return None
    return address_of(code) if tiering.is_worth(code, nanoseconds) else None


class TaskLaunch:
    """A launch of a kernel: one task for each argument block, on the buffers at the `addresses` of a run.

    Long work goes through `parallel_for`, so that it can be interrupted."""

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
        """The failure code of the first task that fails, else 0.  When this returns no thread uses the arrays any more."""
        return self.outcome(addresses)[0]

    def outcome(self, addresses: Sequence[int]) -> tuple[int, int]:
        """The failure code as in `run`, and the last word of that task's block.  Raises MemoryError."""
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

        parallel_for(range(len(self.blocks)), lambda: work, self.threads)
        return failed[min(failed)] if failed else (0, 0)

    def on(self, words: Any) -> int:
        """Run one task with these words, which contain all addresses."""
        code: int = self._call(ctypes.addressof(words))
        return code

    def _called(self, task: int, addresses: Sequence[int]) -> tuple[int, int]:
        """Run one task.  If it is the only one its words are reused by later runs."""
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


def run_tasks(address: int, calls: Sequence[Sequence[int]], threads: int, nanoseconds: float) -> int:
    """`TaskLaunch.run` for tasks whose words already contain all addresses."""
    return TaskLaunch(address, [ArgumentBlock(words, ()) for words in calls], 0, threads, nanoseconds).run(())


# ------------------------------------------------------------------------------------------------ boxes


def parallel_for(boxes: Iterable[Box], make_worker: Callable[[], Callable[[Box], object]], threads: int) -> None:
    """Call a worker on every box until one fails; each thread makes a worker of its own.

    If several boxes fail the exception of the first is raised.  See Note [Boxes]."""
    pool = native() if threads > 1 and tiering.mode() is not tiering.Mode.OFF else None
    if pool is None:
        worker = make_worker()
        for box in boxes:
            worker(box)
        return
    pool.ask_for_helpers(threads - 1)
    supply, failures = _WorkQueue(boxes), dict[int, BaseException]()
    while not supply.is_empty and not failures:
        supply.alone = 0
        _launch(pool, [_work_loop(supply, make_worker, failures) for _ in range(threads)])
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


class _WorkQueue(Generic[Box]):
    """A queue of numbered boxes for several threads.

    `alone`: how many boxes were taken while only one thread was there.  Another launch may then have the pool for the moment, so
    the pool is asked again after some boxes."""

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


def _work_loop(supply: _WorkQueue[Box], make_worker: Callable[[], Callable[[Box], object]], failures: dict[int, BaseException]
           ) -> Generator[int, None, None]:  # fmt: skip
    """Suspends once, then works on boxes until there are none."""
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
# How the loops of a kernel are split into tasks: each loop is cut into ranges, and a task is one range of each loop.
# Note [Tasks].  The outermost loop that is long enough is cut.  The reduce axis may be cut too, at multiples of 2ᵐ blocks of the
# summation order, so that partial results are subtrees of its combination tree and the split does not change the result.  Long
# work is cut further until tasks are short (`HEARD_NANOSECONDS`): between tasks Python handles interrupts.

PARALLEL: Final = tiering.SHARED_NANOSECONDS
"""A phase with at least this many nanoseconds of work uses several threads."""
_VECTOR: Final = 16
_Piece = TypeVar("_Piece")


@dataclass(frozen=True, slots=True)
class TaskSplit:
    """For each loop, of these `sizes`, where its ranges start.  `reduced`: is the last loop a reduction that is cut?"""

    sizes: tuple[int, ...]
    starts: tuple[Sequence[int], ...]
    reduced: bool = False

    @classmethod
    def none(cls, sizes: tuple[int, ...]) -> TaskSplit:
        """A single task."""
        return cls(sizes, ((0,),) * len(sizes))

    def cut(self, loop: int, starts: Sequence[int], *, reduced: bool = False) -> TaskSplit:
        return replace(self, starts=(*self.starts[:loop], starts, *self.starts[loop + 1 :]), reduced=reduced)

    @property
    def count(self) -> int:
        """The number of tasks."""
        return prod(map(len, self.starts))

    @property
    def partials(self) -> int:
        """The number of partial results of each cell."""
        return len(self.starts[-1]) if self.reduced else 1

    def most(self, loop: int) -> int:
        """The length of the longest range of a loop."""
        starts = self.starts[loop]
        if isinstance(starts, range):
            return min(self.sizes[loop], starts.step)
        return max(stop - start for start, stop in zip(starts, [*starts[1:], self.sizes[loop]], strict=True))

    def longest(self, work: float) -> float:
        """The work of the largest task, if all tasks together have `work`."""
        return work * prod(self.most(loop) / size for loop, size in enumerate(self.sizes))

    def ranges(self, task: int) -> list[tuple[int, int]]:
        """(start, stop) of a task in each loop.  Tasks are numbered with the last loop varying fastest."""
        ranges: list[tuple[int, int]] = []
        for size, starts in zip(reversed(self.sizes), reversed(self.starts), strict=True):
            task, at = divmod(task, len(starts))
            ranges.append((starts[at], starts[at + 1] if at + 1 < len(starts) else size))
        return ranges[::-1]

    def partial(self, task: int) -> int:
        """The number of the partial result that a task computes of its cells."""
        return task % self.partials


class LazySequence(Sequence[_Piece], Generic[_Piece]):
    """A sequence whose items are made when they are read: long work may have a hundred thousand tasks."""

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
    """Is the last loop of a nest a reduction, and can it be split?"""

    NONE = "nothing"
    SPLITTABLE = "partial results can be joined"
    UNSPLITTABLE = "they cannot"


@dataclass(frozen=True, slots=True)
class WorkEstimate:
    """The estimated work of a nest: `nanoseconds` on one thread."""

    nanoseconds: float
    threads: int
    reduction: SplitReduction

    def parallel(self, nest: LoopOrder) -> int:
        """The number of loops that are not reductions."""
        return len(nest.sizes) - (self.reduction is not SplitReduction.NONE)


def task_split_of(nest: LoopOrder, work: WorkEstimate) -> TaskSplit:
    """Split a nest into tasks.  See Note [Tasks]."""
    cuts = _split_for_threads(nest, work) if work.threads > 1 else TaskSplit.none(nest.sizes)
    return _split_for_interrupts(cuts, nest, work) if work.nanoseconds >= tiering.LONG_NANOSECONDS else cuts


def _split_for_threads(nest: LoopOrder, work: WorkEstimate) -> TaskSplit:
    """Cut one loop so that every thread has tasks."""
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
        return uncut.cut(loop, _column_starts(size, step))
    blocks = _reduction_grain(nest, work, wanted)
    return uncut if blocks is None else uncut.cut(parallel, range(0, nest.sizes[-1], blocks), reduced=True)


def _split_for_interrupts(cuts: TaskSplit, nest: LoopOrder, work: WorkEstimate) -> TaskSplit:
    """Cut further loops, and cut more finely, outermost first and the reduce axis last, until tasks are short."""
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
            cuts = cuts.cut(loop, _column_starts(size, step) if columns else range(0, size, step))
    pieces = cuts.longest(work.nanoseconds) / tiering.HEARD_NANOSECONDS
    if pieces <= 1 or work.reduction is not SplitReduction.SPLITTABLE:
        return cuts
    size, most = nest.sizes[-1], cuts.most(parallel)
    blocks = _reduction_grain(nest, work, int(pieces * size / most) + 1)
    return cuts if blocks is None or blocks >= most else cuts.cut(parallel, range(0, size, blocks), reduced=True)


def _reduction_grain(nest: LoopOrder, work: WorkEstimate, wanted: int) -> int | None:
    """The number of items of the reduce axis in each of about `wanted` ranges; None if it is not cut."""
    size = nest.sizes[-1]
    if work.reduction is not SplitReduction.SPLITTABLE or size < 2 * BLOCK * work.threads:
        return None
    step = BLOCK
    while step * wanted < size:
        step *= 2
    return step


def _column_starts(size: int, step: int) -> list[int]:
    """The starts of ranges of about `step` of `size` adjacent cells; the last range, too, is at least a vector long."""
    return [start for start in range(0, size, step) if not start or size - start >= _VECTOR]
