"""Arrays in the memory of a card, and the interface of the drivers behind them (`Driver`): memory, copies, events, launches.

A driver has two queues, one for kernels and one for copies; each runs in order.  If the GPU can only copy pinned memory by
itself, large values pass through two pinned buffers: the host fills or empties one while the GPU copies the other (double
buffering).  An event for each says when it is free again.  The copy queue waits for earlier kernels, whose memory a copy may
reuse, and later kernels wait for the copy.

Boxes of larger arrays are copied as they lie, as matrices of bytes with a distance between their rows (`matrices`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from math import prod
from threading import Lock
from typing import Any, Final, Protocol, TypeAlias

import numpy as np

from ...lang.support.records import dataclass
from ..codegen.gpu_targets import LEAST_ROW, Dialect
from ..cpu.views import NumArray, contiguous, reshaped_strides
from ..jit.compiler import LruCache

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

    def write(self, queue: Any, target: DeviceArray, host: NumArray, *, wait: bool) -> None:
        """Enqueues a copy of a matrix of bytes with contiguous rows; with `wait` the host's may be reused on return."""

    def read(self, queue: Any, source: DeviceArray, host: NumArray, *, wait: bool) -> None:
        """Enqueues a copy of a matrix of bytes with contiguous rows to the host; with `wait` it has arrived on return."""

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
        parts = matrices(array, host) or matrices(array, np.ascontiguousarray(host))
        if parts is None or array.nbytes < PINNED:
            for target, source in parts or ():
                driver.write(driver.compute, target, source, wait=True)
            return array
        with self._transfer():
            driver.wait(driver.copies, driver.record(driver.compute))
            if driver.pinned is None:
                for target, source in parts:
                    driver.write(driver.copies, target, source, wait=True)
                return array
            for target, source in _staged(parts):
                buffer = self._free_buffer(driver.pinned)
                piece = buffer.bytes[: source.size].reshape(source.shape)
                piece[...] = source
                driver.write(driver.copies, target, piece, wait=False)
                buffer.event = driver.record(driver.copies)
            driver.wait(driver.compute, buffer.event)
        return array

    def read(self, array: DeviceArray, host: NumArray) -> bool:
        """Copies the items of an array into one of the host, and waits until they have arrived; False if they are no
        `matrices`."""
        driver, parts = self.driver, matrices(array, host)
        if parts is None or array.nbytes < PINNED:
            for source, target in parts or ():
                driver.read(driver.compute, source, target, wait=True)
            return parts is not None
        coming: list[tuple[NumArray, NumArray, _PinnedBuffer]] = []
        with self._transfer():
            driver.wait(driver.copies, driver.record(driver.compute))
            if driver.pinned is None:
                for source, target in parts:
                    driver.read(driver.copies, source, target, wait=True)
                return True
            for source, target in _staged(parts):
                if len(coming) > 1:
                    self._empty(*coming.pop(0))
                buffer = self._free_buffer(driver.pinned)
                piece = buffer.bytes[: target.size].reshape(target.shape)
                driver.read(driver.copies, source, piece, wait=False)
                buffer.event = driver.record(driver.copies)
                coming.append((target, piece, buffer))
            for one in coming:
                self._empty(*one)
        return True

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

    def _empty(self, target: NumArray, piece: NumArray, buffer: _PinnedBuffer) -> None:
        self.driver.finish(buffer.event)
        buffer.event = None
        target[...] = piece

    def _free_buffer(self, pinned: Callable[[int], NumArray]) -> _PinnedBuffer:
        if not self._buffers:
            self._buffers = [_PinnedBuffer(pinned(STAGE)) for _ in range(2)]
        self._buffers.reverse()
        if self._buffers[0].event is not None:
            self.driver.finish(self._buffers[0].event)
        return self._buffers[0]


_BYTE: Final = np.dtype(np.uint8)
_LONGEST_PITCH: Final = (1 << 31) - 1
"""The most bytes from one row to the next that drivers take."""


def matrices(array: DeviceArray, host: NumArray) -> list[tuple[DeviceArray, NumArray]] | None:
    """Two arrays of one shape as pairs of matrices of bytes, whose rows are contiguous on both sides; None if their rows are
    shorter than `LEAST_ROW`, or the matrices small: such arrays are to be made contiguous first."""
    shape, far, near = [array.dtype.itemsize], [1], [1]
    for length, there, here in zip(reversed(array.shape), reversed(array.strides), reversed(host.strides), strict=False):
        if length != 1 and (there, here) == (shape[0] * far[0], shape[0] * near[0]):
            shape[0] *= length
        elif length != 1:
            shape, far, near = [length, *shape], [there, *far], [here, *near]
    *outer, width = shape
    if not array.size:
        return []
    if not outer:
        return [(array.viewed((1, width), (width, 1), dtype=_BYTE), host.reshape(1, -1).view(np.uint8))]
    is_small = width < LEAST_ROW or (len(outer) > 1 and outer[-1] * width < PINNED)
    if is_small or not all(width <= pitch <= _LONGEST_PITCH for pitch in (far[-2], near[-2])):
        return None
    first = host[(slice(0, 1),) * host.ndim].reshape(1).view(np.uint8)
    bytes_there = array.viewed(tuple(shape), tuple(far), dtype=_BYTE)
    bytes_here = np.lib.stride_tricks.as_strided(first, shape, near)
    return [(bytes_there[plane], bytes_here[plane]) for plane in np.ndindex(*outer[:-1])]


def _staged(parts: Sequence[tuple[DeviceArray, NumArray]]) -> Iterator[tuple[DeviceArray, NumArray]]:
    """The matrices in pieces that fit into a pinned buffer."""
    for array, host in parts:
        rows, width = host.shape
        height = max(1, STAGE // width)
        for row in range(0, rows, height):
            for start in range(0, width, STAGE):
                box = slice(row, row + height), slice(start, start + STAGE)
                yield array[box], host[box]


def reshaped_view(array: DeviceArray, target: Numbers) -> DeviceArray | None:
    """The row-major reshape of a view; None if strides cannot express it."""
    strides = reshaped_strides(array.shape, array.strides, target)
    return None if strides is None else array.viewed(target, strides)
