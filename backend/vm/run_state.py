"""The state of one run, its results, and the pool of large buffers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from sys import getrefcount
from threading import Lock
from time import perf_counter_ns
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy import ndarray

from ...lang.support.records import dataclass, field
from ...typechecker.elements import Kind
from ..graph.bind_sizes import BoundGraph
from ..graph.phases import Phase, PhaseId, ValueId
from ..schedule.plan.plan import DeviceId, StreamStep, TransferStep
from .backend_interface import Backend, Types

# ---------------------------------------------------------------------------------------------------- buffer pool
#
# A pool of large, aligned buffers.  Fresh memory costs more to touch than most phases take to compute.
#
# `pooled_empty` returns a view of a `PooledBuffer`.  Views of the array keep the buffer alive; when the last of them is gone its
# memory returns to the pool.  Only arrays of at least `MIN_POOLED` bytes are pooled.
#
# Note [Ready buffers].  The pool also keeps the last few buffers of each shape alive.  One that nothing else refers to is reused
# as it is, in a third of a microsecond.  A buffer is removed from its list while it is examined, so that two threads never take
# the same one.
#
# Note [Pool and peak memory].  Free memory in the pool must not raise a run's peak.  A request that no free buffer satisfies
# first releases as many free bytes as it asks for, and `trim` releases all of them before anything else allocates (library
# phases, blocks of ufuncs).  So free and used bytes together never exceed the most bytes that were in use at once.

MIN_POOLED: Final = 1 << 17
MAX_FREE_BYTES: Final = 1 << 30
"""The most bytes of free memory that the pool keeps."""
ALIGNMENT: Final = 64
_PAGE: Final = 512
_UNSHARED_REFERENCES: Final = 2
"""References to a buffer that only the pool holds: a local variable and the argument of `getrefcount`."""
_MAX_READY_PER_SHAPE: Final = 4
_MAX_READY_SIZE: Final = 1 << 23
_MAX_READY_BYTES: Final = 1 << 26
"""Limits of ready buffers: how many of one shape, the bytes of one, and the bytes of all."""


class _RawBytes(np.ndarray[Any, Any]):
    """The bytes of a block.  The subclass keeps NumPy from collapsing the `base` of a view past the `PooledBuffer`."""


class _MemoryBlock:
    """Memory, and the offset at which arrays begin in it."""

    __slots__ = ("memory", "offset", "size")

    def __init__(self, size: int) -> None:
        self.size, self.memory = size, np.ndarray.__new__(_RawBytes, (size + ALIGNMENT,), np.dtype(np.uint8))
        self.offset = -self.memory.__array_interface__["data"][0] % ALIGNMENT


class PooledBuffer(np.ndarray[Any, Any]):
    """An array that owns a block and returns it to the pool when it is deleted, unless the block was taken from it."""

    __slots__ = ("buffer",)
    buffer: _MemoryBlock | None

    def __del__(self) -> None:
        free, buffer = _free, self.buffer
        if free is not None and buffer is not None and buffer.size + free_bytes() <= MAX_FREE_BYTES:
            row = free.get(buffer.size)
            if row is None:
                row = free.setdefault(buffer.size, [])
            row.append(buffer)


_free: dict[int, list[_MemoryBlock]] = {}
_ready: dict[tuple[tuple[int, ...], np.dtype[Any]], list[PooledBuffer]] = {}


def pooled_empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """A contiguous array with undefined contents.  A large one is pooled, and aligned to `ALIGNMENT` bytes."""
    row = _ready.get((shape, dtype))
    if row is not None:
        used: list[PooledBuffer] = []
        while row:
            try:
                lease = row.pop()
            except IndexError:  # another thread took the last one
                break
            if getrefcount(lease) == _UNSHARED_REFERENCES:
                array = lease.view(ndarray)
                row += used[::-1]
                row.append(lease)
                return array
            used.append(lease)
        row += used[::-1]
    return _new_pooled(shape, dtype)


def _new_pooled(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    size = dtype.itemsize
    for length in shape:
        size *= length
    if size < MIN_POOLED:
        return np.empty(shape, dtype)
    size = -(-size // _PAGE) * _PAGE
    buffer = _take_free(size) or _retire_ready(size)
    if buffer is None:
        trim(size)
        buffer = _MemoryBlock(size)
    lease: PooledBuffer = ndarray.__new__(PooledBuffer, shape, dtype, buffer.memory, buffer.offset)
    lease.buffer = buffer
    array = lease.view(ndarray)
    if size <= _MAX_READY_SIZE:
        _make_ready(shape, dtype, lease)
    return array


def reshaped(array: Any, shape: tuple[int, ...]) -> ndarray[Any, Any]:
    """An array that nobody else has, with another shape; unlike a view of it, one that has its buffer may be given away."""
    if type(array.base) is PooledBuffer and array.nbytes == array.base.nbytes and array.flags.c_contiguous:
        return ndarray(shape, array.dtype, array.base)
    result: ndarray[Any, Any] = array if array.shape == shape else array.reshape(shape)
    return result


def _take_free(size: int) -> _MemoryBlock | None:
    try:
        return _free[size].pop()
    except (KeyError, IndexError):
        return None


def _make_ready(shape: tuple[int, ...], dtype: np.dtype[Any], lease: PooledBuffer) -> None:
    """Keep a buffer ready, and drop others beyond the limits."""
    row = _ready.setdefault((shape, dtype), [])
    row.append(lease)
    del row[:-_MAX_READY_PER_SHAPE]
    while sum([lease.nbytes for row in list(_ready.values()) for lease in row]) > _MAX_READY_BYTES:
        _ready.pop(next(iter(_ready)), None)


def _retire_ready(size: int | None = None) -> _MemoryBlock | None:
    """Take the block (of `size` bytes, if given) of a ready buffer that nothing else refers to, and drop the buffer."""
    for key, row in list(_ready.items()):
        others: list[PooledBuffer] = []
        buffer: _MemoryBlock | None = None
        while row and buffer is None:
            try:
                lease = row.pop()
            except IndexError:
                break
            if getrefcount(lease) == _UNSHARED_REFERENCES and lease.buffer is not None and size in (None, lease.buffer.size):
                buffer, lease.buffer = lease.buffer, None
            else:
                others.append(lease)
        row += others[::-1]
        if not row:
            _ready.pop(key, None)
        if buffer is not None:
            return buffer
    return None


def trim(wanted: int | None = None) -> None:
    """Release free memory of at least `wanted` bytes to the system; by default all.  See Note [Pool and peak memory]."""
    for size in sorted(_free, reverse=True):
        row = _free.get(size, [])
        while row and (wanted is None or wanted > 0):
            try:
                row.pop()
            except IndexError:
                break
            if wanted is not None:
                wanted -= size
        if not row:
            _free.pop(size, None)
    while (wanted is None or wanted > 0) and (buffer := _retire_ready()) is not None:
        wanted = None if wanted is None else wanted - buffer.size


def free_bytes() -> int:
    """Bytes of free memory in the pool."""
    unseen = [lease.buffer for row in list(_ready.values()) for lease in row if getrefcount(lease) == _UNSHARED_REFERENCES + 1]
    return sum(size * len(row) for size, row in list(_free.items())) + sum(buffer.size for buffer in unseen if buffer is not None)


# ---------------------------------------------------------------------------------------------------- memory limit
#
# Values on a device, and the reuse of their buffers.
#
# A memory maps value ids to arrays.  Values are immutable to the program.  A buffer is reused only if nothing else refers to it:
# `sole_owner` tests the reference count, so a mistake in a plan costs speed but never corrupts a value.

Memory: TypeAlias = dict[ValueId, Any]
_SOLE_OWNER_REFERENCES: Final = 2
"""References to an array that only a memory holds: the memory and the argument of `getrefcount`."""


def sole_owner(memory: Memory, value: ValueId) -> bool:
    """Is this memory the only holder of the array, and is all of its buffer writable?  (A view of it would be another holder.)"""
    array = memory[value]
    base = getattr(array, "base", array)
    if base is None:
        if not array.flags.owndata:
            return False
    elif type(base) is not PooledBuffer:
        return False
    if not getattr(array.flags, "writeable", True):  # CuPy's arrays always are
        return False
    del array, base
    return sys.getrefcount(memory[value]) <= _SOLE_OWNER_REFERENCES


# ---------------------------------------------------------------------------------------------------- inputs between runs
#
# Inputs that a run need not share with its caller, and arrays that stay in the memories of devices from one run to the next.

class MovedArray(list[Any]):
    """A cell with an array of the declared kind, on the host, that nobody else refers to: a run that takes it out of the cell may
    write results over it (`run.c`)."""

    __slots__ = ()


Piece: TypeAlias = "tuple[Backend, tuple[tuple[int, int], ...] | None, Any]"
"""A box of a value (None: all of it) in the memory of a back end."""


def memory_of(backend: Backend) -> object:
    """What tells the memory of a back end from others: the card, or that it is the host's."""
    return getattr(backend, "card", None)


@dataclass(slots=True, eq=False)
class ResidentValue:
    """An array that stays where runs have left it, in boxes that cover it.  Copies that later runs make are added."""

    kind: Kind
    shape: tuple[int, ...]
    pieces: list[Piece]

    def covering(self, backend: Backend, box: tuple[tuple[int, int], ...] | None) -> list[Piece]:
        """The piece in that memory which covers a box, if there is one."""
        memory, wanted = memory_of(backend), box or tuple([(0, length) for length in self.shape])
        for piece in self.pieces:
            around = piece[1] or tuple([(0, length) for length in self.shape])
            is_covered = all(a <= c and d <= b for (a, b), (c, d) in zip(around, wanted, strict=True))
            if is_covered and memory_of(piece[0]) is memory:
                return [piece]
        return []

    def array_on(self, backend: Backend) -> Any:
        """All of the array in the memory of a back end, where it stays from now on."""
        for _, box, array in self.covering(backend, None):
            if box is None:
                return array
        array = backend.bring(self.on_host(), self.kind)
        self.pieces.append((backend, None, array))
        return array

    def on_host(self) -> Any:
        """All of the array on the host; nobody may write it."""
        for backend, box, array in self.pieces:
            if box is None:
                return array if memory_of(backend) is None else backend.fetch(array, self.kind)
        backend, _, array = self.pieces[0]
        result = np.empty(self.shape, backend.fetch(array, self.kind).dtype)
        for backend, box, array in self.pieces:
            result[tuple([slice(*extent) for extent in box or ()])] = backend.fetch(array, self.kind)
        return result


# ---------------------------------------------------------------------------------------------------- state of a run

class OutputValue(NamedTuple):
    """A printed value or an output: its kind and a host array (text has dtype `U1`)."""

    kind: Kind
    value: Any


class RunResults(NamedTuple):
    """Printed values in order, outputs by name; `held`: with several devices, the peak bytes of each; `tiles`: where tiles are
    dealt to devices, the passes, the tiles and the bytes that each has read.

    A named tuple, because one is made per run, up to a million a second, and a tuple takes a quarter of a dataclass's time."""

    printed: tuple[OutputValue, ...]
    outputs: Mapping[str, OutputValue]
    held: Mapping[DeviceId, int] = MappingProxyType({})
    tiles: Mapping[DeviceId, tuple[int, int, int]] = MappingProxyType({})


Action: TypeAlias = Callable[[Memory], None]
"""What an instruction does, as a function of a memory."""


class StepTiming(NamedTuple):
    """The time of one execution of a phase or a transfer in a queue; `start` and `end` in nanoseconds of this process's clock.

    `times`: so many executions, of a worker that had too many to tell of each.  `process`: which worker's, empty here."""

    step: Phase | TransferStep
    queue: DeviceId
    start: int
    end: int
    times: int = 1
    process: str = ""

    @property
    def ns(self) -> int:
        return self.end - self.start


Observer: TypeAlias = Callable[[StepTiming], None]
"""Called with the time of each execution when it has ended; phases inside others come before the outer phase."""


@dataclass(slots=True)
class Progress:
    """The bytes that the passes of a run have read so far, and in all."""

    done: int = 0
    total: int = 0


class TileRunner(Protocol):
    """Runs passes over inputs that are never in memory as a whole (`streams.stream_executor`)."""

    @property
    def progress(self) -> Progress: ...

    def action(self, machine: RunState, step: StreamStep, device: DeviceId) -> Action:
        """The action of one pass."""


@dataclass(slots=True)
class RunState(Types):
    """The state of one run."""

    backends: Mapping[DeviceId, Backend] = field(default_factory=dict)
    inputs: Mapping[str, Any] = field(default_factory=dict)
    memories: dict[DeviceId, Memory] = field(default_factory=dict)
    phases: Mapping[PhaseId, Phase] = field(default_factory=dict)
    printed: list[OutputValue] = field(default_factory=list)
    outputs: dict[str, OutputValue] = field(default_factory=dict)
    current: Phase | None = None
    around: BoundGraph | None = None
    """The whole graph that is run, for loops that several queues run together."""
    observe: Observer | None = None
    stores: TileRunner | None = None
    """Runs the passes, if the plan has any."""
    keep: frozenset[str] = frozenset()
    """Outputs that are left where they are, as resident values."""
    resident: dict[ValueId, ResidentValue] = field(default_factory=dict)
    """With several devices, inputs that are resident, and outputs that become so without a transfer to home."""
    abroad: frozenset[ValueId] = frozenset()
    """The resident values that home does not have, as nothing there reads them."""
    making: Any = field(default_factory=Lock)
    """A lock that is held while a kernel is made, because queues may be threads."""

    def observed(self, action: Callable[..., None], step: Phase | TransferStep, queue: DeviceId) -> Callable[..., None]:
        """`action`, after which the observer, if there is one, gets its time."""
        observe = self.observe
        if observe is None:
            return action

        def act(*memory: Memory) -> None:
            start = perf_counter_ns()
            action(*memory)
            observe(StepTiming(step, queue, start, perf_counter_ns()))

        return act


# ---------------------------------------------------------------------------------------------------- progress callback
#
# A watcher gets the state of a run once, before it begins, and may read `current`, the phase that is running.
#
# Steps are not reported, so that watching costs the run nothing.

Watcher: TypeAlias = Callable[[RunState], None]

WATCHER: ContextVar[Watcher | None] = ContextVar("watcher", default=None)
"""Set in the thread that will run the plan.  If there are several queues it is called with the state of each."""


def announce(machine: RunState) -> None:
    watcher = WATCHER.get()
    if watcher is not None:
        watcher(machine)
