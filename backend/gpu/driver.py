"""Arrays in the memory of a card, and the interface of the drivers behind them (`Driver`): memory, copies, events, launches.

A driver has two queues, one for kernels and one for copies; each runs in order.  If the GPU can only copy pinned memory by
itself, large values pass through two pinned buffers: the host fills or empties one while the GPU copies the other (double
buffering).  An event for each says when it is free again.  The copy queue waits for earlier kernels, whose memory a copy may
reuse, and later kernels wait for the copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from math import prod
from threading import Lock
from typing import Any, Final, Protocol, TypeAlias

import numpy as np

from ...lang.support.records import dataclass
from ..codegen.gpu_targets import Dialect
from ..cpu.views import NumArray, contiguous, reshaped_strides
from ..jit.compiler import LruCache
from ..vm.run_state import pooled_empty

PINNED: Final = 1 << 16
"""The least bytes of a transfer that goes through pinned memory."""
STAGE: Final = 1 << 23
"""Bytes of each pinned buffer."""

Numbers: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CardModel:
    """A GPU that a driver can use: its position among those of the driver, its memory in bytes, its `version` as the vendor
    states it.  `lacks`: the reason why programs cannot run on it; `lacking`: missing extensions, which some programs need;
    `units`: its parallel compute units (of a processor those that the process may use); `is_simulator`: it interprets kernels."""

    number: int
    name: str
    memory: int
    version: str
    lacks: str = ""
    lacking: tuple[str, ...] = ()
    units: int = 0
    is_simulator: bool = False


@dataclass(frozen=True, slots=True)
class DeviceArray:
    """A strided view of a driver's memory; `offset` and `strides` in bytes."""

    memory: Any
    offset: int
    shape: Numbers
    strides: Numbers
    dtype: np.dtype[Any]

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def is_contiguous(self) -> bool:
        dense = contiguous(self.shape, self.dtype.itemsize)
        return not self.size or all(n == 1 or s == d for n, s, d in zip(self.shape, self.strides, dense, strict=False))

    def viewed(self, shape: Numbers, strides: Numbers, offset: int = 0, dtype: Any = None) -> DeviceArray:
        """An array of other items in the same memory; `offset` is in bytes from the first item of this array."""
        return DeviceArray(self.memory, self.offset + offset, shape, strides, self.dtype if dtype is None else dtype)

    def transpose(self, order: Sequence[int]) -> DeviceArray:
        return self.viewed(tuple(self.shape[axis] for axis in order), tuple(self.strides[axis] for axis in order))

    def __getitem__(self, index: tuple[int | slice, ...]) -> DeviceArray:
        """A cell by indices on the leading axes, or a box by slices of step 1."""
        offset, shape, strides = 0, list[int](), list[int]()
        for axis, part in enumerate(index):
            if isinstance(part, slice):
                start, stop, _ = part.indices(self.shape[axis])
                shape.append(max(0, stop - start))
                strides.append(self.strides[axis])
            else:
                start = part
            offset += start * self.strides[axis]
        rest = len(index)
        return self.viewed((*shape, *self.shape[rest:]), (*strides, *self.strides[rest:]), offset)


class Driver(Protocol):
    """`name`: of the device; `compute` and `copies`: its queues; `xp`: a library of arrays in its memory, with `view` and
    `adopt` to and from them, or None.  Its errors are raised inside `here`, which turns them into E710 with the device's message,
    or MemoryError."""

    name: str
    dialect: Dialect
    compute: Any
    copies: Any
    xp: Any

    def view(self, array: DeviceArray) -> Any: ...
    def adopt(self, array: Any) -> DeviceArray: ...

    def limit(self, size: int | None) -> None:
        """Sets the most bytes of arrays from now on; None: the device's memory."""

    def here(self) -> AbstractContextManager[None]:
        """A context in which the device is current, and which translates its errors."""

    def allocate(self, size: int) -> Any:
        """Allocates memory, which is released with the last reference to it."""

    @property
    def pinned(self) -> Callable[[int], NumArray] | None:
        """Allocates host memory that the device copies by itself; None if it can copy any memory."""

    def write(self, queue: Any, memory: Any, offset: int, host: NumArray, *, wait: bool) -> None:
        """Enqueues a copy of bytes to the device; with `wait` the host's bytes may be reused on return."""

    def read(self, queue: Any, memory: Any, offset: int, host: NumArray, *, wait: bool) -> None:
        """Enqueues a copy of bytes to the host; with `wait` they have arrived on return."""

    def copy(self, source: DeviceArray, target: DeviceArray) -> None:
        """Enqueues a copy between contiguous arrays on the compute queue."""

    def launch(self, source: str, name: str, blocks: int, words: Sequence[int | DeviceArray]) -> None:
        """Enqueues a kernel of a text on the compute queue; an array takes two words, its memory and its offset."""

    def record(self, queue: Any) -> Any:
        """Returns an event that occurs when all work enqueued so far has ended."""

    def wait(self, queue: Any, event: Any) -> None:
        """Makes later work of the queue wait for an event."""

    def finish(self, event: Any) -> None:
        """Makes the host wait for an event."""


@dataclass(frozen=True, slots=True)
class CardKind:
    """The GPUs of one driver.  `prefix`: the beginning of their names; `models`: returns those of this machine, in order; `open`:
    returns the driver of one by its number; `tier`: returns how programs run on them, or why they do not, for people."""

    prefix: str
    dialect: Dialect
    models: Callable[[], Sequence[CardModel]]
    open: Callable[[int], Driver]
    tier: Callable[[], str]


@dataclass(slots=True)
class _PinnedBuffer:
    bytes: NumArray
    event: Any = None
    """The event after which the buffer is free."""


class Card:
    """A GPU: its driver, its cached launches, and its pinned buffers, which are allocated on first use and serve one transfer at
    a time."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.launches: LruCache[Any] = LruCache(256)
        """Launches of library phases and of loops, by key."""
        self._lock = Lock()
        self._buffers: list[_PinnedBuffer] = []

    def empty(self, shape: Numbers, dtype: np.dtype[Any]) -> DeviceArray:
        memory = self.driver.allocate(max(1, prod(shape)) * dtype.itemsize)
        return DeviceArray(memory, 0, shape, contiguous(shape, dtype.itemsize)[: len(shape)], dtype)

    def up(self, host: NumArray) -> DeviceArray:
        """Copies a host array to the GPU.  Later work on the compute queue finds it complete, and the host's array may be reused
        on return."""
        array, driver = self.empty(host.shape, host.dtype), self.driver
        source = np.ascontiguousarray(host).reshape(-1).view(np.uint8)
        if source.size < PINNED:
            if source.size:
                driver.write(driver.compute, array.memory, 0, source, wait=True)
            return array
        with self._transfer():
            driver.wait(driver.copies, driver.record(driver.compute))
            if driver.pinned is None:
                driver.write(driver.copies, array.memory, 0, source, wait=True)
                return array
            for start in range(0, source.size, STAGE):
                buffer = self._free_buffer(driver.pinned)
                part = buffer.bytes[: min(STAGE, source.size - start)]
                part[...] = source[start : start + part.size]
                driver.write(driver.copies, array.memory, start, part, wait=False)
                buffer.event = driver.record(driver.copies)
            driver.wait(driver.compute, buffer.event)
        return array

    def down(self, value: DeviceArray, copied: DeviceArray) -> NumArray:
        """Copies the items of an array to the host, by a contiguous copy if needed; waits until they have arrived."""
        host: NumArray = pooled_empty(value.shape, value.dtype)
        driver = self.driver
        target = host.reshape(-1).view(np.uint8)
        if target.size < PINNED:
            if target.size:
                driver.read(driver.compute, copied.memory, copied.offset, target, wait=True)
            return host
        coming: list[tuple[int, _PinnedBuffer]] = []
        with self._transfer():
            driver.wait(driver.copies, driver.record(driver.compute))
            if driver.pinned is None:
                driver.read(driver.copies, copied.memory, copied.offset, target, wait=True)
                return host
            for start in range(0, target.size, STAGE):
                if len(coming) > 1:
                    self._empty(coming.pop(0), target)
                buffer = self._free_buffer(driver.pinned)
                part = buffer.bytes[: min(STAGE, target.size - start)]
                driver.read(driver.copies, copied.memory, copied.offset + start, part, wait=False)
                buffer.event = driver.record(driver.copies)
                coming.append((start, buffer))
            for one in coming:
                self._empty(one, target)
        return host

    @contextmanager
    def _transfer(self) -> Iterator[None]:
        """One transfer; if it fails or is interrupted, after what it left under way, whose bytes the next one would meet."""
        with self._lock:
            try:
                yield
            except BaseException:
                with suppress(Exception):  # a device that is lost copies nothing
                    self.driver.finish(self.driver.record(self.driver.copies))
                raise

    def _empty(self, coming: tuple[int, _PinnedBuffer], target: NumArray) -> None:
        start, buffer = coming
        self.driver.finish(buffer.event)
        buffer.event = None
        part = target[start : start + STAGE]
        part[...] = buffer.bytes[: part.size]

    def _free_buffer(self, pinned: Callable[[int], NumArray]) -> _PinnedBuffer:
        if not self._buffers:
            self._buffers = [_PinnedBuffer(pinned(STAGE)) for _ in range(2)]
        self._buffers.reverse()
        if self._buffers[0].event is not None:
            self.driver.finish(self._buffers[0].event)
        return self._buffers[0]


def reshaped_view(array: DeviceArray, target: Numbers) -> DeviceArray | None:
    """The row-major reshape of a view; None if strides cannot express it."""
    strides = reshaped_strides(array.shape, array.strides, target)
    return None if strides is None else array.viewed(target, strides)
