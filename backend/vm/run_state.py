"""The interface of back ends (`Backend` compiles kernels for phases and moves values into and out of device memory), the state of
one run and its results, and the pool of large buffers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from sys import getrefcount
from threading import Lock
from time import perf_counter_ns
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy import ndarray

from ...lang.diagnostics.model import Code, RunFailed
from ...lang.support.records import dataclass, field
from ...typechecker.core.operations import CoreGuard
from ...typechecker.elements import ArrayType, Kind
from ...typechecker.sizes.polynomials import Size, SizeVariable
from ...typechecker.sizes.size import upper_bound
from ..graph.bind_sizes import BoundGraph
from ..graph.phases import Constant, Fold, LibraryPhase, Loop, Map, Phase, PhaseId, Structured, ValueId
from ..graph.registry import GraphFunction
from ..schedule.plan.plan import DeviceId, StreamStep, TransferStep
from .check_failures import CheckFailed
from .input_sizes import broken_guard

if TYPE_CHECKING:
    pass


# ---------------------------------------------------------------------------------------------------- interface

Kernel: TypeAlias = Callable[[Mapping[ValueId, Any], Any], tuple[Any, ...]]
"""`kernel(memory, target)` returns the results in order; it may write the first into the array `target`, which may be None."""
RegionKernel: TypeAlias = Callable[[Mapping[ValueId, Any]], Sequence[Any] | None]
"""`kernel(memory)` returns the results in order, or None if the interpreter has to run the inner phases."""
Index: TypeAlias = tuple[int | slice, ...]
"""A part of an array: a cell by its indices on the leading axes, or a box by slices."""


FunctionRunner: TypeAlias = Callable[[GraphFunction, tuple[int, ...], Sequence[Any], int], tuple[Any, ...]]
"""Runs a shared function with its sizes on stored arrays by a number of threads; returns its results as stored arrays."""


class SharedFunctions:
    """The runner of shared functions, which the executor sets, since it stands above what calls them."""

    run: FunctionRunner


@dataclass(slots=True)
class Types:
    """The types of values, with the sizes known so far.

    `sizes` grows while the program runs; `guards` are those that mention a run-time size."""

    types: Mapping[ValueId, ArrayType]
    sizes: dict[SizeVariable, int]
    guards: tuple[CoreGuard, ...] = ()

    def kind(self, value: ValueId) -> Kind:
        return self.types[value].element.kind

    def shape(self, value: ValueId) -> tuple[int, ...]:
        return tuple(map(self.number, self.types[value].shape))

    def cap_shape(self, value: ValueId) -> tuple[int, ...]:
        """The shape, with the cap of each unknown size."""
        return tuple(upper_bound(size).evaluate({}) for size in self.types[value].shape)

    def number(self, size: Size) -> int:
        constant = size.constant
        return size.evaluate(self.sizes) if constant is None else constant

    def define(self, variable: SizeVariable, value: int) -> None:
        """Record the value of a run-time size.

        Raises CheckFailed E403 if it is negative or above its cap, and RunFailed E701 if a guard that mentions it fails."""
        cap = None if variable.cap is None else self.number(variable.cap)
        if value < 0 or (cap is not None and value > cap):
            raise CheckFailed(Code.E403, f"{variable.name} is {value}, outside 0 to {cap}")
        self.sizes[variable] = value
        self.check(variable)

    def check(self, variable: SizeVariable) -> None:
        """Check the guards that mention this size.  Raises RunFailed E701."""
        for guard in self.guards:
            needed = guard.variables()
            if variable in needed and all(v in self.sizes for v in needed) and not guard.holds(self.sizes):
                raise RunFailed([broken_guard(guard, self.sizes)])


class Backend(Protocol):
    """The back end of one device of a plan.  Its kernels are for the sizes in `types` at the time when they are compiled."""

    def structured(self, phase: Structured, types: Types) -> Kernel: ...
    def library(self, phase: LibraryPhase, types: Types) -> Kernel: ...
    def rows(self, members: Sequence[Structured], wanted: Sequence[ValueId], types: Types) -> Kernel:
        """The kernel of a chain along rows (`graph.fusion_groups`) that computes the `wanted` values."""
        ...

    def region(self, phase: Loop | Map | Fold, types: Types, program: Mapping[PhaseId, Phase]) -> RegionKernel | None:
        """One kernel for a phase with inner phases; None if the interpreter has to run those.  `program`: all phases."""
        ...

    def constant(self, phase: Constant, types: Types) -> Any: ...
    def bring(self, value: Any, kind: Kind) -> Any:
        """Copies a host array into the device's memory, or shares it, since nothing writes to the host's array."""
        ...

    def fetch(self, value: Any, kind: Kind, room: Any = None) -> Any:
        """A value as a host array for printing and saving, which shares memory with nothing that is written later; what is
        copied may be copied into `room`."""
        ...

    def item(self, value: Any) -> Any:
        """A scalar as a Python number, for conditions and sizes."""
        ...

    def part(self, value: Any, index: Index) -> Any:
        """A view of a cell or a box of an array."""
        ...

    def empty(self, kind: Kind, shape: tuple[int, ...]) -> Any:
        """A new array with undefined contents."""
        ...

    def store(self, target: Any, index: Index, part: Any) -> None:
        """Writes `part` into a cell or a box of `target`, an array of `empty`."""
        ...

    def quiet(self) -> Any:
        """A context manager that turns off floating-point warnings."""
        ...


# ---------------------------------------------------------------------------------------------------- buffer pool
#
# A pool of large, aligned buffers.  Fresh memory costs more to touch than most phases take to compute.
#
# `pooled_empty` returns a view of a `PooledBuffer`.  Views of the array keep the buffer alive; when the last of them is gone its
# memory returns to the pool.  Only arrays of at least `MIN_POOLED` bytes are pooled.
#
# Note [Ready buffers].  The pool also keeps the last few buffers of each shape alive.  One that nothing else refers to is reused
# directly, in a third of a microsecond.  A buffer is removed from its list while it is examined, so that two threads never take
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
"""Limits of ready buffers: their number per shape, the bytes of one, and the bytes of all."""


class _RawBytes(np.ndarray[Any, Any]):
    """The bytes of a block.  Being a subclass keeps NumPy from collapsing the `base` of a view past the `PooledBuffer`."""


class _MemoryBlock:
    """A memory block, and the offset at which its arrays begin."""

    __slots__ = ("memory", "offset", "size")

    def __init__(self, size: int) -> None:
        self.size, self.memory = size, np.ndarray.__new__(_RawBytes, (size + ALIGNMENT,), np.dtype(np.uint8))
        self.offset = -self.memory.__array_interface__["data"][0] % ALIGNMENT


class PooledBuffer(np.ndarray[Any, Any]):
    """An ndarray that owns a memory block and returns it to the pool when it is deleted, unless the block was taken from it."""

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
            except IndexError:  # another thread took the last buffer
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
    """An unshared array with another shape.  Unlike a view of it, the result owns the buffer, so its memory may be reused."""
    if type(array.base) is PooledBuffer and array.nbytes == array.base.nbytes and array.flags.c_contiguous:
        return ndarray(shape, array.dtype, array.base)
    result: ndarray[Any, Any] = array
    if array.shape != shape and array.flags.owndata and array.flags.c_contiguous:
        array.resize(shape, refcheck=False)
    elif array.shape != shape:
        result = array.reshape(shape)
    return result


def _take_free(size: int) -> _MemoryBlock | None:
    try:
        return _free[size].pop()
    except (KeyError, IndexError):
        return None


def _make_ready(shape: tuple[int, ...], dtype: np.dtype[Any], lease: PooledBuffer) -> None:
    """Keeps a buffer ready for reuse, and drops others beyond the limits."""
    row = _ready.setdefault((shape, dtype), [])
    row.append(lease)
    del row[:-_MAX_READY_PER_SHAPE]
    while sum([lease.nbytes for row in list(_ready.values()) for lease in row]) > _MAX_READY_BYTES:
        _ready.pop(next(iter(_ready)), None)


def _retire_ready(size: int | None = None) -> _MemoryBlock | None:
    """Takes the block (of `size` bytes, if given) of a ready buffer that nothing else refers to, and drops the buffer."""
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
    """Releases at least `wanted` bytes of free memory to the system; by default all.  See Note [Pool and peak memory]."""
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


# --------------------------------------------------------------------------------------------------- memory of a device
#
# Values on a device, and the reuse of their buffers.
#
# A memory maps value ids to arrays.  Values are immutable to the program.  A buffer is reused only if nothing else refers to it:
# `sole_owner` tests the reference count, so a mistake in a plan costs speed but never corrupts a value.

Memory: TypeAlias = dict[ValueId, Any]
_SOLE_OWNER_REFERENCES: Final = 2
"""References to an array that only a memory holds: the memory and the argument of `getrefcount`."""


def sole_owner(memory: Memory, value: ValueId) -> bool:
    """Is this memory the only holder of the array, and is all of its buffer writable?  A view of the array would be another
    holder."""
    array = memory[value]
    base = getattr(array, "base", array)
    if base is None:
        if not array.flags.owndata:
            return False
    elif type(base) is not PooledBuffer:
        return False
    if not getattr(array.flags, "writeable", True):  # CuPy's arrays are always writeable
        return False
    del array, base
    return sys.getrefcount(memory[value]) <= _SOLE_OWNER_REFERENCES


# ---------------------------------------------------------------------------------------------------- inputs between runs
#
# Inputs that their caller hands over to a run, and arrays that stay in the memory of devices from one run to the next.

class MovedArray(list[Any]):
    """A cell with an array of the declared kind, on the host, to which nothing else refers.  A run that takes it out of the cell
    may overwrite it with results (`run.c`)."""

    __slots__ = ()


Piece: TypeAlias = "tuple[Backend, tuple[tuple[int, int], ...] | None, Any]"
"""A box of a value (None: all of it) in the memory of a back end."""


def memory_of(backend: Backend) -> object:
    """The key of a back end's memory: its card, or the host."""
    return getattr(backend, "card", None)


TAKEN: Final = "a run that took this array may have written over it, as it was moved: use the result of that run"


@dataclass(slots=True, eq=False)
class ResidentValue:
    """An array that stays in the memories where runs have left it, as boxes that cover it.  Copies made by later runs are
    added."""

    kind: Kind
    shape: tuple[int, ...]
    pieces: list[Piece]

    def covering(self, backend: Backend, box: tuple[tuple[int, int], ...] | None) -> list[Piece]:
        """The piece in that memory which covers a box; None if there is none."""
        memory, wanted = memory_of(backend), box or tuple([(0, length) for length in self.shape])
        for piece in self.pieces:
            around = piece[1] or tuple([(0, length) for length in self.shape])
            is_covered = all(a <= c and d <= b for (a, b), (c, d) in zip(around, wanted, strict=True))
            if is_covered and memory_of(piece[0]) is memory:
                return [piece]
        return []

    def array_on(self, backend: Backend) -> Any:
        """All of the array in the memory of a back end, where it stays from then on."""
        for _, box, array in self.covering(backend, None):
            if box is None:
                return array
        array = backend.bring(self.on_host(), self.kind)
        self.pieces.append((backend, None, array))
        return array

    def on_host(self) -> Any:
        """All of the array on the host, read-only.  Raises ValueError if a run of another thread has taken it."""
        pieces = tuple(self.pieces)
        for backend, box, array in pieces:
            if box is None:
                return array if memory_of(backend) is None else backend.fetch(array, self.kind)
        if not pieces:
            raise ValueError(TAKEN)
        backend, _, array = pieces[0]
        result = np.empty(self.shape, backend.fetch(array, self.kind).dtype)
        for backend, box, array in pieces:
            result[tuple([slice(*extent) for extent in box or ()])] = backend.fetch(array, self.kind)
        return result


# ---------------------------------------------------------------------------------------------------- state of a run

class OutputValue(NamedTuple):
    """A printed value or an output: its kind and a host array (text has dtype `U1`)."""

    kind: Kind
    value: Any


class RunResults(NamedTuple):
    """Printed values in order, outputs by name; `held`: with several devices, the peak bytes of each; `tiles`: by device, the
    passes, tiles and bytes that it has read, where tiles are dealt to devices.

    A named tuple, because one is made per run, up to a million a second, and a tuple takes a quarter of a dataclass's time."""

    printed: tuple[OutputValue, ...]
    outputs: Mapping[str, OutputValue]
    held: Mapping[DeviceId, int] = MappingProxyType({})
    tiles: Mapping[DeviceId, tuple[int, int, int]] = MappingProxyType({})


Action: TypeAlias = Callable[[Memory], None]
"""The effect of an instruction, as a function of a memory."""


class StepTiming(NamedTuple):
    """The time of one execution of a phase or a transfer in a queue; `start` and `end` in nanoseconds of this process's clock.

    `times`: the number of executions that this record sums up (a worker reports very many executions as one).  `process`: the
    worker's name, empty in this process."""

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
"""Callback that gets the time of each execution when it has ended; inner phases come before their outer phase."""


@dataclass(slots=True)
class Progress:
    """The bytes that the passes of a run have read so far, and the bytes that they will have read at the end."""

    done: int = 0
    total: int = 0


class TileRunner(Protocol):
    """Runs passes over inputs that are never in memory as a whole (`streams.stream_executor`)."""

    @property
    def progress(self) -> Progress: ...

    def action(self, machine: RunState, step: StreamStep, device: DeviceId) -> Action:
        """The action that runs one pass."""


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
    """The program's graph, for loops that several queues run together."""
    observe: Observer | None = None
    stores: TileRunner | None = None
    """Runs the passes, if the plan has any."""
    keep: frozenset[str] = frozenset()
    """Outputs that stay in device memory, as resident values."""
    resident: dict[ValueId, ResidentValue] = field(default_factory=dict)
    """With several devices, resident inputs, and outputs that become resident without a transfer to home."""
    abroad: frozenset[ValueId] = frozenset()
    """The resident values that are not brought to home, since nothing there reads them."""
    making: Any = field(default_factory=Lock)
    """A lock that is held while a kernel is compiled, because queues may be threads."""

    def observed(self, action: Callable[..., None], step: Phase | TransferStep, queue: DeviceId) -> Callable[..., None]:
        """`action`, followed by a call of the observer, if there is one, with the action's time."""
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
# A watcher is called once with the state of a run, before the run begins, and may read `current`, the phase that is running.
#
# Steps are not reported, so that watching costs the run nothing.

Watcher: TypeAlias = Callable[[RunState], None]

WATCHER: ContextVar[Watcher | None] = ContextVar("watcher", default=None)
"""Set in the thread that will run the plan.  With several queues it is called with the state of each."""


def announce(machine: RunState) -> None:
    watcher = WATCHER.get()
    if watcher is not None:
        watcher(machine)
