"""One GPU as a back end (`vm.backend_interface`): generated kernels for structured phases and loops, CuPy's libraries for the
rest.

A device has a computing stream and a copying stream.  Large values are transferred through pinned memory on the copying stream
(`Staging`).  Arrays are allocated from a memory pool of the GPU, limited to the memory that the plan of the run declares.

Failures of CuPy (a kernel that faults, a missing library) become E710, and a lack of memory MemoryError: all that accesses the
GPU runs in the context `_here`, which translates them.

Phases without kernels (`codegen.cuda_coverage`) run on the host between two transfers; `hosted` counts them by name, for display.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any, Final

import numpy as np

from ...lang.diagnostics.model import Code
from ...lang.support.records import dataclass
from ...typechecker.elements import Kind
from ..codegen.cuda_coverage import missing
from ..cpu.backend import CpuBackend
from ..cpu.views import DTYPES, NumArray, as_stored, as_view, constants
from ..graph import traverse
from ..graph.fusion_groups import join_chain
from ..graph.phases import Constant, Fold, LibraryPhase, Loop, Map, Phase, PhaseId, Structured, ValueId
from ..vm.backend_interface import CheckFailed, Index, Kernel, RegionKernel, Types
from .bindings import cupy, errors
from .cuda_library import compile_library
from .launch import Modules, compile_region, compile_rows, compile_structured

# ---------------------------------------------------------------------------------------------------- pinned staging buffers
#
# Transfers between a GPU and host memory, through two pinned buffers of one size (double buffering).
#
# Only pinned memory is copied asynchronously, and it is scarce: a value is transferred in pieces, and the host fills or empties
# one buffer while the GPU copies the other.  An event for each buffer says when it is free again, so `up` returns while the
# transfer is under way and the caller's memory is no longer needed.
#
# The copying stream waits for earlier kernels (whose memory the copy may reuse), and later kernels wait for the copy.

PINNED: Final = 1 << 16
"""Bytes from which a transfer goes through pinned memory."""
STAGE: Final = 1 << 23
"""Bytes of each buffer."""


class _DeviceBuffer:
    """A pinned buffer, and the event after which it is free."""

    def __init__(self, xp: Any) -> None:
        self.bytes: NumArray = np.frombuffer(xp.cuda.alloc_pinned_memory(STAGE), np.uint8, STAGE)
        self.event = xp.cuda.Event(disable_timing=True)
        self.is_used = False

    def wait(self) -> None:
        if self.is_used:
            self.event.synchronize()

    def record(self, stream: Any) -> None:
        self.event.record(stream)
        self.is_used = True


class Staging:
    """The pinned buffers of one GPU, allocated on first use; one transfer at a time."""

    def __init__(self, xp: Any, compute: Any, copies: Any) -> None:
        self.xp, self.compute, self.copies = xp, compute, copies
        self._lock = Lock()
        self._rooms: list[_DeviceBuffer] = []
        self._turn = 0

    def up(self, host: NumArray) -> Any:
        """An array on the card.  Later work on the computing stream finds it complete."""
        array = self.xp.empty(host.shape, host.dtype)
        source = np.ascontiguousarray(host).reshape(-1).view(np.uint8)
        target = array.reshape(-1).view(np.uint8)
        with self._lock:
            self._after_computing()
            for start in range(0, source.size, STAGE):
                stop, room = min(start + STAGE, source.size), self._room()
                room.wait()
                part = room.bytes[: stop - start]
                part[...] = source[start:stop]
                target[start:stop].set(part, stream=self.copies)
                room.record(self.copies)
            self.compute.wait_event(room.event)
        return array

    def down(self, value: Any) -> NumArray:
        """A copy in host memory; waits until it is complete."""
        contiguous = self.xp.ascontiguousarray(value)
        source = contiguous.reshape(-1).view(np.uint8)
        host = np.empty(contiguous.shape, contiguous.dtype)
        target = host.reshape(-1).view(np.uint8)
        coming: list[tuple[int, int, _DeviceBuffer]] = []
        with self._lock:
            self._after_computing()
            for start in range(0, source.size, STAGE):
                stop, room = min(start + STAGE, source.size), self._room()
                room.wait()
                source[start:stop].get(stream=self.copies, out=room.bytes[: stop - start], blocking=False)
                room.record(self.copies)
                coming.append((start, stop, room))
                if len(coming) > 1:
                    _empty(coming.pop(0), target)
            for one in coming:
                _empty(one, target)
        return host

    def _room(self) -> _DeviceBuffer:
        if not self._rooms:
            self._rooms = [_DeviceBuffer(self.xp), _DeviceBuffer(self.xp)]
        self._turn ^= 1
        return self._rooms[self._turn]

    def _after_computing(self) -> None:
        event = self.xp.cuda.Event(disable_timing=True)
        event.record(self.compute)
        self.copies.wait_event(event)


def _empty(coming: tuple[int, int, _DeviceBuffer], target: NumArray) -> None:
    start, stop, room = coming
    room.wait()
    target[start:stop] = room.bytes[: stop - start]


# ---------------------------------------------------------------------------------------------------- back end

@dataclass(frozen=True, slots=True)
class Card:
    """The state that all runs on one GPU share: streams, memory pool and loaded kernels."""

    compute: Any
    staging: Staging
    pool: Any
    modules: Modules


_cards: dict[tuple[int, int], Card] = {}


def _card(xp: Any, number: int) -> Card:
    key = id(xp), number
    if key not in _cards:
        with xp.cuda.Device(number):
            streams = [xp.cuda.Stream(non_blocking=True) for _ in range(2)]
            _cards[key] = Card(streams[0], Staging(xp, *streams), xp.cuda.MemoryPool(), Modules(xp))
    return _cards[key]


def _as_executor_error(error: BaseException, number: int) -> BaseException:
    """An exception of CuPy as one that the executor handles."""
    text = str(error).strip().splitlines() or [type(error).__name__]
    if isinstance(error, MemoryError) or "cudaErrorMemoryAllocation" in text[0]:
        return MemoryError(text[0])
    return CheckFailed(Code.E710, f"card {number}: {text[0]}")


class CudaBackend:
    """The back end of GPU `number`; `limit`: bytes that its arrays may take; `xp`: CuPy."""

    def __init__(self, number: int = 0, limit: int | None = None, xp: Any = None) -> None:
        module = cupy() if xp is None else xp
        assert module is not None, "there is no card"
        self.xp, self.number = module, number
        self.hosted: Counter[str] = Counter()
        self._host = CpuBackend()
        card = _card(module, number)
        self._compute, self._staging, self._pool, self._modules = card.compute, card.staging, card.pool, card.modules
        with module.cuda.Device(number):
            self._pool.set_limit(size=limit or 0)

    @contextmanager
    def _here(self) -> Iterator[Any]:
        xp = self.xp
        try:
            with xp.cuda.Device(self.number), xp.cuda.using_allocator(self._room), self._compute:
                yield xp
        except errors(xp) as error:
            raise _as_executor_error(error, self.number) from error

    def _room(self, size: int) -> Any:
        """Memory of the pool, after freeing its cached blocks if they would exceed the limit, which counts them too."""
        try:
            return self._pool.malloc(size)
        except self.xp.cuda.memory.OutOfMemoryError:
            self._pool.free_all_blocks()
            return self._pool.malloc(size)

    # ------------------------------------------------------------------------------------------ kernels

    def structured(self, phase: Structured, types: Types) -> Kernel:
        operands = tuple(dict.fromkeys(read.value for read in phase.reads))
        fallback = self._through_host(lambda: self._host.structured(phase, types), operands)
        with self._here() as xp:
            kernel = compile_structured(xp, self._modules, phase, types.kind, types.number, fallback)
        if kernel is None:
            return self._counted(missing(phase, types.types) or "body", fallback)
        return self._placed(kernel)

    def rows(self, members: Sequence[Structured], wanted: Sequence[ValueId], types: Types) -> Kernel:
        with self._here() as xp:
            kernel = compile_rows(xp, self._modules, join_chain(members, wanted), types.kind, types.number)
        if kernel is not None:
            return self._placed(kernel)
        return _in_sequence([(member, self.structured(member, types)) for member in members], wanted)

    def library(self, phase: LibraryPhase, types: Types) -> Kernel:
        with self._here() as xp:
            kernel = compile_library(xp, self._modules, phase, types)
        if kernel is None:
            fallback = self._through_host(lambda: self._host.library(phase, types), phase.args)
            return self._counted(missing(phase, types.types) or phase.op, fallback)
        return self._placed(kernel)

    def region(self, phase: Loop | Map | Fold, types: Types, program: Mapping[PhaseId, Phase]) -> RegionKernel | None:
        """The kernel of a loop; None for other phases, whose bodies run step by step."""
        if not isinstance(phase, Loop):
            return None
        with self._here() as xp:
            runner = compile_region(xp, self._modules, phase, types, lambda constant: self.constant(constant, types))
        if runner is None:
            return None

        def run(memory: Mapping[ValueId, Any]) -> Sequence[Any] | None:
            with self._here():
                return runner(memory, [memory[value] for value in phase.initial], types.number(phase.trip))

        return run

    def _placed(self, kernel: Kernel) -> Kernel:
        def run(memory: Mapping[ValueId, Any], overwrite: Any) -> tuple[Any, ...]:
            with self._here():
                return kernel(memory, overwrite)

        return run

    def _through_host(self, make: Callable[[], Kernel], operands: tuple[ValueId, ...]) -> Kernel:
        """A kernel of the host, compiled on first use, on arrays of the device."""
        made_once: list[Kernel] = []

        def run(memory: Mapping[ValueId, Any], overwrite: Any) -> tuple[Any, ...]:
            if not made_once:
                made_once.append(make())
            host_memory = {value: self._to_host(memory[value]) for value in operands}
            with np.errstate(all="ignore"):
                results = made_once[0](host_memory, None)
            return tuple(self._to_device(np.asarray(array)) for array in results)

        return run

    def _counted(self, name: str, kernel: Kernel) -> Kernel:
        def run(memory: Mapping[ValueId, Any], overwrite: Any) -> tuple[Any, ...]:
            self.hosted[name] += 1
            return kernel(memory, overwrite)

        return run

    # ---------------------------------------------------------------------------------------- transfers

    def bring(self, value: Any, kind: Kind) -> Any:
        return self._to_device(as_stored(value, kind))

    def fetch(self, value: Any, kind: Kind) -> Any:
        return as_view(self._to_host(value), kind)

    def constant(self, phase: Constant, types: Types) -> Any:
        return self._to_device(constants(types.kind(phase.result), phase.data, types.shape(phase.result)))

    def _to_device(self, host: NumArray) -> Any:
        with self._here() as xp:
            return xp.array(host) if host.nbytes < PINNED else self._staging.up(host)

    def _to_host(self, value: Any) -> NumArray:
        with self._here():
            return np.asarray(value.get()) if value.nbytes < PINNED else self._staging.down(value)

    # ------------------------------------------------------------------------------------------- arrays

    def item(self, value: Any) -> Any:
        with self._here():
            return value.item()

    def part(self, value: Any, index: Index) -> Any:
        return value[index] if index else value

    def empty(self, kind: Kind, shape: tuple[int, ...]) -> Any:
        with self._here() as xp:
            return xp.empty(shape, DTYPES[kind])

    def store(self, target: Any, index: Index, part: Any) -> None:
        with self._here():
            target[index] = part

    def quiet(self) -> Any:
        return np.errstate(all="ignore")


def _in_sequence(kernels: Sequence[tuple[Structured, Kernel]], wanted: Sequence[ValueId]) -> Kernel:
    """The members of a chain in order, if it has no single kernel; values are freed after their last use."""
    last: dict[ValueId, int] = {}
    for number, (member, _) in enumerate(kernels):
        last.update(dict.fromkeys((*traverse.operands(member), *traverse.results(member)), number))
    last.update(dict.fromkeys(wanted, len(kernels)))

    def run(memory: Mapping[ValueId, Any], overwrite: Any) -> tuple[Any, ...]:
        known = {value: memory[value] for value in last if value in memory}
        for number, (member, kernel) in enumerate(kernels):
            known.update(zip(traverse.results(member), kernel(known, None), strict=True))
            for value in [value for value in known if last[value] <= number]:
                del known[value]
        return tuple(known[value] for value in wanted)

    return run
