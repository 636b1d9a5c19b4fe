"""The state of one run, and what it leaves."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import field
from sys import getrefcount
from threading import Lock
from time import perf_counter_ns
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy import ndarray

from ...lang.support.records import dataclass
from ...typechecker.elements import Kind
from ..graph.bind_sizes import BoundGraph
from ..graph.phases import Phase, PhaseId, ValueId
from ..schedule.plan.plan import DeviceId, StreamStep, TransferStep
from .backend_interface import Backend, Types

# ---------------------------------------------------------------------------------------------------- buffer pool
#
# Large buffers, aligned and used again: fresh memory costs more to touch than most phases cost to compute.
#
# `room` gives an array whose memory returns to the pool when the last array that shows it is gone.  Such an array shows a
# `Lease`, and whatever shows the array holds it.  Only arrays of at least `LEAST` bytes come from here.
#
# Note [At hand].  The pool holds the last few leases of each shape itself; one that nobody else refers to is shown again, which
# takes a third of a microsecond.  Other leases give their memory back at their end.  A lease is taken from its row while it is
# looked at, so that two threads never find the same one.
#
# Note [The bound holds].  What the pool keeps must not add to a run's peak.  A buffer is kept only from values that were alive
# together, a request that no kept buffer meets first gives back as many kept bytes as it asks for, and `trim` gives back all
# before anything else allocates (library phases, blocks of ufuncs).  So kept and used bytes together never exceed the most that
# was in use at once.

LEAST: Final = 1 << 17
MOST_KEPT: Final = 1 << 30
"""Bytes kept at most."""
ALIGNMENT: Final = 64
_PAGE: Final = 512
_UNSEEN: Final = 2
"""References to a lease that nobody but the pool knows: a variable's, and the argument of `getrefcount`."""
_MOST_ALIKE: Final = 4
_MOST_SHOWN: Final = 1 << 23
_MOST_AT_HAND: Final = 1 << 26
"""Leases of one shape that the pool holds, bytes of one of them, and of all together."""


class _MemoryUse(np.ndarray[Any, Any]):
    """Bytes; of a type of its own, since NumPy would name arrays of its own type as the base of what shows a lease."""


class _LiveArray:
    """Memory, and where in it arrays begin."""

    __slots__ = ("memory", "offset", "size")

    def __init__(self, size: int) -> None:
        self.size, self.memory = size, np.ndarray.__new__(_MemoryUse, (size + ALIGNMENT,), np.dtype(np.uint8))
        self.offset = -self.memory.__array_interface__["data"][0] % ALIGNMENT


class Lease(np.ndarray[Any, Any]):
    """The right to a buffer, which it gives back at its end (unless that has been taken from it), as an array."""

    __slots__ = ("buffer",)
    buffer: _LiveArray | None

    def __del__(self) -> None:
        free, buffer = _free, self.buffer
        if free is not None and buffer is not None and buffer.size + kept_bytes() <= MOST_KEPT:
            row = free.get(buffer.size)
            if row is None:
                row = free.setdefault(buffer.size, [])
            row.append(buffer)


_free: dict[int, list[_LiveArray]] = {}
_at_hand: dict[tuple[tuple[int, ...], np.dtype[Any]], list[Lease]] = {}


def room(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """An array of undefined contents, contiguous, on an address that is a multiple of `ALIGNMENT` if it is large."""
    row = _at_hand.get((shape, dtype))
    if row is not None:
        used: list[Lease] = []
        while row:
            try:
                lease = row.pop()
            except IndexError:  # another thread took the last one
                break
            if getrefcount(lease) == _UNSEEN:
                array = lease.view(ndarray)
                row += used[::-1]
                row.append(lease)
                return array
            used.append(lease)
        row += used[::-1]
    return _new_room(shape, dtype)


def _new_room(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    size = dtype.itemsize
    for length in shape:
        size *= length
    if size < LEAST:
        return np.empty(shape, dtype)
    size = -(-size // _PAGE) * _PAGE
    buffer = _kept(size) or _ended(size)
    if buffer is None:
        trim(size)
        buffer = _LiveArray(size)
    lease: Lease = ndarray.__new__(Lease, shape, dtype, buffer.memory, buffer.offset)
    lease.buffer = buffer
    array = lease.view(ndarray)
    if size <= _MOST_SHOWN:
        _put_at_hand(shape, dtype, lease)
    return array


def _kept(size: int) -> _LiveArray | None:
    try:
        return _free[size].pop()
    except (KeyError, IndexError):
        return None


def _put_at_hand(shape: tuple[int, ...], dtype: np.dtype[Any], lease: Lease) -> None:
    """Hold a lease, and as many others less; what is let go gives its memory back at its end."""
    row = _at_hand.setdefault((shape, dtype), [])
    row.append(lease)
    del row[:-_MOST_ALIKE]
    while sum([lease.nbytes for row in list(_at_hand.values()) for lease in row]) > _MOST_AT_HAND:
        _at_hand.pop(next(iter(_at_hand)), None)


def _ended(size: int | None = None) -> _LiveArray | None:
    """The memory of a lease at hand (one of so many bytes) that nobody sees, and that is no more."""
    for key, row in list(_at_hand.items()):
        others: list[Lease] = []
        buffer: _LiveArray | None = None
        while row and buffer is None:
            try:
                lease = row.pop()
            except IndexError:
                break
            if getrefcount(lease) == _UNSEEN and lease.buffer is not None and size in (None, lease.buffer.size):
                buffer, lease.buffer = lease.buffer, None
            else:
                others.append(lease)
        row += others[::-1]
        if not row:
            _at_hand.pop(key, None)
        if buffer is not None:
            return buffer
    return None


def trim(wanted: int | None = None) -> None:
    """Give back kept buffers of at least `wanted` bytes together (all, if not said).  See Note [The bound holds]."""
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
    while (wanted is None or wanted > 0) and (buffer := _ended()) is not None:
        wanted = None if wanted is None else wanted - buffer.size


def kept_bytes() -> int:
    """Bytes that the pool keeps."""
    unseen = [lease.buffer for row in list(_at_hand.values()) for lease in row if getrefcount(lease) == _UNSEEN + 1]
    return sum(size * len(row) for size, row in list(_free.items())) + sum(buffer.size for buffer in unseen if buffer is not None)


# ---------------------------------------------------------------------------------------------------- memory limit
#
# Values on a device, and the recycling of large buffers.
#
# A memory maps value ids to arrays.  Values are immutable to the program; a buffer is written again only once nobody can
# see it: `sole_owner` asks the reference count, so a mistake in a plan costs speed, never a value.

Memory: TypeAlias = dict[ValueId, Any]
_OWNED_ONCE: Final = 2
"""References to an array that only a memory holds: the memory's own and the argument of `getrefcount`."""


def sole_owner(memory: Memory, value: ValueId) -> bool:
    """Is the array held by this memory alone, in full, and writable?  (A view of it would hold it too.)"""
    array = memory[value]
    base = getattr(array, "base", array)
    if base is None:
        if not array.flags.owndata:
            return False
    elif type(base) is not Lease:
        return False
    if not getattr(array.flags, "writeable", True):  # CuPy's arrays always are
        return False
    del array, base
    return sys.getrefcount(memory[value]) <= _OWNED_ONCE


# ---------------------------------------------------------------------------------------------------- state of a run

class OutputValue(NamedTuple):
    """A value that left the run: its kind, and a host array (text has dtype `U1`)."""

    kind: Kind
    value: Any


class RunResults(NamedTuple):
    """Printed values in order, outputs by name; `held`: the most bytes that each device of several held.

    (As `Shown` made once a run, of which there may be a million a second: tuples are made in a quarter of the time.)"""

    printed: tuple[OutputValue, ...]
    outputs: Mapping[str, OutputValue]
    held: Mapping[DeviceId, int] = MappingProxyType({})


Action: TypeAlias = Callable[[Memory], None]
"""What a word does on a memory."""


class Took(NamedTuple):
    """One execution of a step, of a phase or of a transfer, by the queue of a device or of a link, in nanoseconds of this
    process's clock.

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


Observer: TypeAlias = Callable[[Took], None]
"""Told of every execution when it is over, phases inside others before those around them."""


@dataclass(slots=True)
class Progress:
    """How far the passes of a run have come, in bytes read."""

    done: int = 0
    total: int = 0


class TileRunner(Protocol):
    """What runs passes over inputs that are never whole (`streams.stream_executor`)."""

    @property
    def progress(self) -> Progress: ...

    def action(self, machine: RunState, step: StreamStep, device: DeviceId) -> Action:
        """What one pass does on a memory."""


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
    """The graph that is run, for loops that queues run together."""
    observe: Observer | None = None
    stores: TileRunner | None = None
    """Of a plan with passes over inputs that are never whole."""
    making: Any = field(default_factory=Lock)
    """Held while a kernel is made: queues may be threads."""

    def observed(self, action: Callable[..., None], step: Phase | TransferStep, queue: DeviceId) -> Callable[..., None]:
        """An action of which whoever observes is told."""
        observe = self.observe
        if observe is None:
            return action

        def act(*memory: Memory) -> None:
            start = perf_counter_ns()
            action(*memory)
            observe(Took(step, queue, start, perf_counter_ns()))

        return act


# ---------------------------------------------------------------------------------------------------- progress callback
#
# Who looks on while a plan runs: told of the run's state once, before it begins, and free to read what phase is current.
#
# Nothing is reported step by step, so that looking on costs the run nothing.

Watcher: TypeAlias = Callable[[RunState], None]

WATCHER: ContextVar[Watcher | None] = ContextVar("watcher", default=None)
"""Set by who wants to look on, in the thread that will run the plan.  Told of each queue's state where there are several."""


def announce(machine: RunState) -> None:
    watcher = WATCHER.get()
    if watcher is not None:
        watcher(machine)
