"""Launches of compiled code from Python, how work is cut into tasks and tiles, and loops over Python functions shared by threads.

A launch is a sequence of words, made once for a layout and run on any addresses (`launch.c`, Note [Launches]).

Note [Boxes].  `parallel_for` is a launch whose tasks are generators of Python, each of which takes boxes until there are none.
It returns only when all threads have finished, so memory that they use lives long enough, also after an interrupt.  An interrupt
that arrives in machine code is raised when Python code runs next: inside the `try` of a generator.  Without the pool one thread
does everything.
"""

from __future__ import annotations

import ctypes
import itertools
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from enum import Enum
from functools import cache
from math import prod
from pathlib import Path
from typing import Any, Final, Generic, TypeAlias, TypeVar

import numpy as np

from ...lang.support.files import KERNEL_TEXT, read_text
from ...lang.support.records import dataclass, replace
from ..jit import tiering
from ..jit.compiler import MachineCode, address_of, is_installed
from ..lower.loop_order import BLOCK, NO_MEMORY, Form, LoopOrder
from ..vm.runtime import Launcher, Native, native

# ---------------------------------------------------------------------------------------------------- argument blocks
#
# The words by which native code launches kernels (`launch.c`, Note [Launches]).

BufferRef: TypeAlias = tuple[int | None, int]
"""The number of a buffer and an offset in bytes; if the number is None the offset is an address."""
SHARED_NANOSECONDS: Final = tiering.SHARED_NANOSECONDS
UNLOCKED_NANOSECONDS: Final = 30_000.0
"""A call with at least this much work releases the interpreter lock."""
LONG_NANOSECONDS: Final = tiering.LONG_NANOSECONDS
TUNING_WORDS: Final = (4, 5)
"""The words of a launch with its estimated nanoseconds and whether it releases the interpreter lock; no result depends on
them."""
POOL_THREADS_WORD: Final = 3
"""The word of a launch with the number of pool threads that may join."""


@dataclass(frozen=True, slots=True)
class ArgumentBlock:
    """The arguments of a task as 64-bit words, and for each word that is an address, its buffer and offset."""

    words: Sequence[int]
    addresses: Sequence[tuple[int, BufferRef]]


@dataclass(frozen=True, slots=True)
class TaskLoop:
    """A loop over `size` items that tasks cut into ranges with these `starts`.

    `length`, `first`: the block's words that hold a range's length and first item.  `moves`: (word, bytes per item, bytes per
    range) for each address that depends on the range."""

    size: int
    starts: Sequence[int]
    length: int
    first: int
    moves: tuple[tuple[int, int, int], ...]

    @property
    def step(self) -> int:
        return self.starts[1] if len(self.starts) > 1 else self.size

    @property
    def is_regular(self) -> bool:
        """Are all ranges but the last equally long?"""
        starts = self.starts
        return isinstance(starts, range) or all(start == number * self.step for number, start in enumerate(starts))

    def words(self) -> list[int]:
        head = [self.length, self.first, self.size, self.step, len(self.starts), len(self.moves)]
        return [*head, *itertools.chain.from_iterable(self.moves)]


def blocks_of(block: ArgumentBlock, loops: Sequence[TaskLoop]) -> Iterator[ArgumentBlock]:
    """Yields the argument block of each task, derived from the block of all; the last loop varies fastest."""
    for ranges in itertools.product(*[range(len(loop.starts)) for loop in loops]):
        words, ahead = [*block.words], dict[int, int]()
        for loop, number in zip(loops, ranges, strict=True):
            start = loop.starts[number]
            stop = loop.starts[number + 1] if number + 1 < len(loop.starts) else loop.size
            words[loop.first], words[loop.length] = start, stop - start
            for at, by_item, by_range in loop.moves:
                ahead[at] = ahead.get(at, 0) + start * by_item + number * by_range
        yield ArgumentBlock(words, [(at, (buffer, offset + ahead.get(at, 0))) for at, (buffer, offset) in block.addresses])


def words_of(
    address: int, blocks: Sequence[ArgumentBlock], helpers: int, duration: float, loops: Sequence[TaskLoop] = ()
) -> list[int]:  # fmt: skip
    """The words of a launch of the kernel at `address`: a task for each block, or for each range of all `loops`."""
    tasks = prod([len(loop.starts) for loop in loops]) if loops else len(blocks)
    if loops and tasks == 1:  # a single task needs no loops
        blocks, loops = [*blocks_of(blocks[0], loops)], ()
    width = len(blocks[0].words)
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
    head = [address, tasks, width, helpers, int(duration), int(duration >= UNLOCKED_NANOSECONDS)]
    cut = [word for loop in reversed(loops) for word in loop.words()]
    return [*head, len(loops), len(relocations) // 3, *relocations, *cut, *words]


def rebase(blocks: Sequence[ArgumentBlock], bases: Sequence[BufferRef]) -> list[ArgumentBlock]:
    """The argument blocks with buffer number `i` replaced by `bases[i]`."""
    return [
        ArgumentBlock(
            block.words, [(at, (bases[which or 0][0], bases[which or 0][1] + by)) for at, (which, by) in block.addresses]
        )
        for block in blocks
    ]


# ---------------------------------------------------------------------------------------------------- launches

_CALL: Final = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
_SERVER: Final = ctypes.CFUNCTYPE(ctypes.c_int64)
_ALONE: Final = 8
"""Boxes that a thread runs alone before it asks for pool threads again."""
Box = TypeVar("Box")


def address_if_worthwhile(code: MachineCode, lost: float) -> int | None:
    """The address of `code`, without which this run loses `lost` nanoseconds; None while compiling or launching it does not
    pay."""
    return address_of(code) if may_launch(lost) and tiering.is_wanted(code, lost) else None


def may_launch(lost: float) -> bool:
    """Is there a compiler, and does code that saves `lost` nanoseconds pay?"""
    return tiering.pays(lost) and tiering.mode() is not tiering.Mode.OFF and is_installed()


class TaskLaunch:
    """A launch of a kernel on buffers whose addresses each run supplies: one task per block, or one per combination of the ranges
    of `loops`."""

    __slots__ = ("_bases", "_launch", "_start", "_words", "address", "blocks", "loops", "nanoseconds", "threads")

    def __init__(
        self, address: int, blocks: Sequence[ArgumentBlock], bases: int, threads: int, nanoseconds: float,
        loops: Sequence[TaskLoop] = (),
    ) -> None:  # fmt: skip
        if not all(loop.is_regular for loop in loops):
            blocks, loops = [*blocks_of(blocks[0], loops)], ()
        self.address, self.blocks, self.loops, self.nanoseconds = address, blocks, loops, nanoseconds
        self.threads, self._bases = min(threads, self.count), bases
        self._launch: Launcher | None = None
        library = native() if blocks else None
        if library is not None:
            library.ask_for_helpers(self.threads - 1)
            self._launch, self._words = library.launch, np.array(self.words(), np.int64)
            self._start = self._words.ctypes.data

    @property
    def count(self) -> int:
        """The number of tasks."""
        return prod([len(loop.starts) for loop in self.loops]) if self.loops else len(self.blocks)

    def words(self, bases: Sequence[BufferRef] | None = None) -> list[int]:
        """The words of the launch; `bases`: the buffers that replace its numbered ones."""
        blocks = self.blocks if bases is None else rebase(self.blocks, bases)
        return words_of(self.address, blocks, self.threads - 1, self.nanoseconds, self.loops)

    def run(self, addresses: Sequence[int]) -> int:
        """Runs the launch; returns the failure code of the first task that fails, else 0.  No thread uses the arrays after it
        returns."""
        return self.outcome(addresses)[0]

    def outcome(self, addresses: Sequence[int]) -> tuple[int, int]:
        """The failure code as in `run`, and the last word of the failed task's block.  Raises MemoryError, or the exception of an
        interrupt."""
        if self._launch is None:
            code, word = self._without_runtime(addresses)
        else:
            slots = (ctypes.c_int64 * (self._bases + 1))(*addresses)
            start = ctypes.addressof(slots)
            code = self._launch(self._start, start, start + 8 * self._bases)
            word = slots[self._bases]
        if code == NO_MEMORY:
            raise MemoryError
        return code, word

    def _without_runtime(self, addresses: Sequence[int]) -> tuple[int, int]:
        """Runs the tasks one after the other, on a host without the native runtime."""
        for block in blocks_of(self.blocks[0], self.loops) if self.loops else self.blocks:
            words = (ctypes.c_int64 * len(block.words))(*block.words)
            for at, (number, ahead) in block.addresses:
                words[at] = ahead if number is None else addresses[number] + ahead
            code = self.on(words)
            if code:
                return code, words[-1]
        return 0, 0

    def on(self, words: Any) -> int:
        """Runs one task with these words, in which all addresses are filled in."""
        code: int = _CALL(self.address)(ctypes.addressof(words))
        return code


def run_tasks(address: int, calls: Sequence[Sequence[int]], threads: int, nanoseconds: float) -> int:
    """`TaskLaunch.run` for tasks whose words already contain all addresses."""
    return TaskLaunch(address, [ArgumentBlock(words, ()) for words in calls], 0, threads, nanoseconds).run(())


# ------------------------------------------------------------------------------------------------ boxes


def parallel_for(boxes: Iterable[Box], make_worker: Callable[[], Callable[[Box], object]], threads: int) -> None:
    """Calls a worker on every box until one fails; each thread makes its own worker.

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
            failures.clear()  # their frames refer to it


def _launch(pool: Native, servers: Sequence[Generator[int, None, None]]) -> None:
    for server in servers:
        next(server)
    entry = _SERVER(map(next, servers).__next__)
    address = ctypes.c_void_p.from_buffer(entry).value or 0  # ctypes.cast would create a cycle that keeps the arrays alive
    words = np.array(words_of(address, [ArgumentBlock((), ())] * len(servers), len(servers) - 1, LONG_NANOSECONDS), np.int64)
    if pool.launch(words.ctypes.data, 0, 0):
        raise MemoryError


class _WorkQueue(Generic[Box]):
    """A queue of numbered boxes for several threads.

    `alone`: boxes taken in a row by a single thread.  Another launch may have been using the pool, so the pool is asked again
    after `_ALONE` of them."""

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
    """A generator that suspends once, then runs a worker on boxes until there are none."""
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
# work is cut further until tasks are short (`INTERRUPT_NANOSECONDS`): between tasks interrupts are handled.

PARALLEL: Final = tiering.SHARED_NANOSECONDS
"""A phase with at least this many nanoseconds of work uses several threads."""
_VECTOR: Final = 16


@dataclass(frozen=True, slots=True)
class TaskSplit:
    """For each loop, of these `sizes`, the starts of its ranges.  `reduced`: is the last loop a reduction that is cut?"""

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
        """The work of the largest task, given the `work` of all tasks together."""
        return work * prod(self.most(loop) / size for loop, size in enumerate(self.sizes))

    def loops(self, moves: Sequence[Sequence[tuple[int, int, int]]]) -> list[TaskLoop]:
        """The cut loops, for argument blocks that begin with the lengths of all loops and then their first items; `moves`: by
        loop."""
        count = len(self.sizes)
        return [
            TaskLoop(size, starts, loop, count + loop, tuple(moved))
            for loop, (size, starts, moved) in enumerate(zip(self.sizes, self.starts, moves, strict=True))
            if len(starts) > 1
        ]


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
    """Cuts further loops, and cuts more finely (outermost loops first, the reduce axis last), until tasks are short."""
    parallel = work.parallel(nest)
    for loop in range(parallel):
        pieces = cuts.longest(work.nanoseconds) / tiering.INTERRUPT_NANOSECONDS
        if pieces <= 1:
            return cuts
        size, most = nest.sizes[loop], cuts.most(loop)
        inner = loop == parallel - 1 and nest.form is not Form.REDUCE_INNER
        grain = 256 if inner else 1
        step = -(-most // (int(pieces + 1) * grain)) * grain
        if step < most:
            columns = inner and nest.form is not Form.MAP
            cuts = cuts.cut(loop, _column_starts(size, step) if columns else range(0, size, step))
    pieces = cuts.longest(work.nanoseconds) / tiering.INTERRUPT_NANOSECONDS
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
    """The starts of ranges of about `step` of `size` adjacent cells; the last range is at least a vector long too."""
    return [start for start in range(0, size, step) if not start or size - start >= _VECTOR]


# ---------------------------------------------------------------------------------------------------- ranges of iterations

FIRST_OPERATIONS: Final = 200_000
"""Estimated scalar operations of the first range."""
GROWTH: Final = 16
"""The factor by which a range may be longer than the one before."""


class RangeSizer:
    """Divides up to `most` iterations into ranges no longer than an interrupt may wait; `points`: the most of one iteration."""

    def __init__(self, first: int, last: int, most: int, points: int) -> None:
        self.first, self.last, self.most = first, last, most
        self.count = max(1, min(most, FIRST_OPERATIONS // points))

    def ranges(self) -> Iterator[tuple[int, int]]:
        while self.first < self.last:
            start, self.first = self.first, min(self.last, self.first + self.count)
            yield start, self.first

    def took(self, count: int, nanoseconds: int) -> None:
        wanted = min(count * GROWTH, int(count * tiering.INTERRUPT_NANOSECONDS / max(1, nanoseconds)))
        self.count = max(1, min(self.most, wanted))


# ---------------------------------------------------------------------------------------------------- time tiling
#
# Runs a region tiled in time (`transform.time_tiling`): chooses the tiles, their order and their threads (Frigo and Strumpen's
# trapezoids).
#
# Several iterations form a time tile, which is two launches: bands of rows that shrink by `halo` on both sides with each stage,
# then the gaps between them.  A band's state stays in a core's cache for the whole time tile, so memory is read once for several
# iterations.  The tiles of a launch are independent, so threads share them.  No row is computed twice, and the choice of tiles
# changes no bit.

_CACHE: Final = Path("/sys/devices/system/cpu/cpu0/cache/index2/size")
_UNKNOWN_CACHE: Final = 1 << 19
_MAX_TILE_ITERATIONS: Final = 16
"""The most iterations of a time tile."""
_BANDS: Final = 8
"""Bands per thread where bands are independent; having several evens out the load."""
_BAND_NANOSECONDS: Final = 4_000.0
_BAND_BYTES: Final = 2048
"""The least work and the least bytes of such a band."""
_MIN_TILE_ITERATIONS: Final = 3
"""The least iterations of a time tile whose bands stay in cache; fewer gain less than the tiling costs."""
UNBOUNDED_ROWS: Final = 1 << 40
"""An upper bound of any row number."""


@cache
def cache_bytes() -> int:
    """Returns the size of a core's second-level cache."""
    try:
        size = read_text(_CACHE, KERNEL_TEXT).strip()
    except (OSError, ValueError):
        return _UNKNOWN_CACHE
    return int(size[:-1]) << 10 if size[:-1].isdigit() and size.endswith("K") else _UNKNOWN_CACHE


@dataclass(frozen=True, slots=True)
class TiledRows:
    """The rows of a tiled loop: `count` rows; one iteration touches `bytes` per row and takes `nanoseconds` per row on one
    thread.

    A band shrinks by `halo` rows on each side with every one of the `stages` of an iteration.
    """

    count: int
    bytes: int
    nanoseconds: float
    halo: int
    stages: int
    wraps: bool


@dataclass(frozen=True, slots=True)
class TimeTiles:
    """A time tiling: `bands` bands of about equal height, each of which runs `iterations` iterations per time tile."""

    bands: int
    iterations: int


def time_tiles_of(rows: TiledRows, iterations: int, threads: int) -> TimeTiles | None:
    """Returns the time tiles; None if running iteration after iteration on one thread is as fast."""
    if not rows.halo:
        return _independent(rows, iterations, threads)
    is_shared = threads > 1 and rows.nanoseconds * rows.count * min(
        iterations, _MAX_TILE_ITERATIONS
    ) >= tiering.PIECES_NANOSECONDS
    team = threads if is_shared else 1
    slope = 2 * rows.halo * rows.stages
    room = cache_bytes() * 3 // 4
    height = min(room // max(1, rows.bytes), -(-rows.count // team))
    most = min(iterations, _MAX_TILE_ITERATIONS, height // slope)
    if most < _MIN_TILE_ITERATIONS or rows.bytes * rows.count <= room:  # one band per thread, cached or not
        height = -(-rows.count // team)
        most = max(1, min(iterations, _MAX_TILE_ITERATIONS, height // (2 * slope)))
    bands = -(-rows.count // height)
    bands = -(-bands // team) * team
    if bands == 1 or rows.count // bands < slope * most:
        return None
    return TimeTiles(bands, most)


def _independent(rows: TiledRows, iterations: int, threads: int) -> TimeTiles:
    """Returns independent bands: several per thread, which stay in cache and are short enough for interrupts."""
    each = rows.nanoseconds * rows.count
    work = each * iterations
    team = threads if work >= tiering.SHARED_NANOSECONDS else 1
    shared = min(_BANDS * team, int(work / _BAND_NANOSECONDS)) if team > 1 else 1
    wanted = max(shared, work / tiering.INTERRUPT_NANOSECONDS, rows.bytes * rows.count / cache_bytes() / 2)
    bands = max(1, min(-(-int(wanted) // team) * team, rows.count // max(1, _BAND_BYTES // max(1, rows.bytes))))
    return TimeTiles(bands, max(1, min(iterations, int(tiering.INTERRUPT_NANOSECONDS * bands / max(1.0, each)))))


def run_tiles(address: int, block_of: Callable[[int], Any], at: int, rows: TiledRows, cut: TimeTiles, first: int, last: int,
              threads: int) -> None:  # fmt: skip
    """Run the iterations from `first` up to `last` in time tiles.

    `block_of`: the argument block of a tile by its index in the launch; `at`: the index in the block of the tile's row bounds.
    """
    inner, outer = rows.halo, -rows.halo
    bands, ends = bands_of(rows, cut)
    between = [(end, end, outer, inner) for end in (ends[:-1] if rows.wraps else ends[1:-1])]
    work = rows.nanoseconds * rows.count * cut.iterations
    launches = [_tiles(address, block_of, at, tiles, threads, work) for tiles in (bands, between)]
    levels = rows.stages
    for start in range(first, last, cut.iterations):
        stop = min(last, start + cut.iterations)
        launches[0].run((start, stop))
        if rows.halo and (stop - start) * levels > 1:
            launches[1].run((start, stop))


def bands_of(rows: TiledRows, cut: TimeTiles) -> tuple[list[tuple[int, int, int, int]], list[int]]:
    """Returns each band as (start, stop, change of start per stage, change of stop per stage), and the bounds between bands."""
    ends = [rows.count * band // cut.bands for band in range(cut.bands + 1)]
    bands = [(start, stop, rows.halo, -rows.halo) for start, stop in itertools.pairwise(ends)]
    if not rows.wraps:
        bands[0] = (-UNBOUNDED_ROWS, bands[0][1], 0, -rows.halo)
        bands[-1] = (-UNBOUNDED_ROWS if len(bands) == 1 else ends[-2], UNBOUNDED_ROWS, rows.halo, 0)
    return bands, ends


def _tiles(address: int, block_of: Callable[[int], Sequence[int]], at: int, tiles: Sequence[tuple[int, int, int, int]],
           threads: int, nanoseconds: float) -> TaskLaunch:  # fmt: skip
    """Returns the launch of independent tiles; its two buffer addresses are the bounds of the iterations."""
    blocks: list[ArgumentBlock] = []
    for number, tile in enumerate(tiles):
        words = block_of(number)
        blocks.append(ArgumentBlock([0, 0, *words[2:at], *tile, *words[at + 4 :]], [(0, (0, 0)), (1, (1, 0))]))
    return TaskLaunch(address, blocks, 2, threads, nanoseconds)
