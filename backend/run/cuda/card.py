"""One card as a back end (`device.Backend`): generated kernels for structured phases and loops, CuPy's libraries for the rest.

A device has two streams: one computes, one copies.  What is large travels through pinned memory on the copying stream; an
event makes it wait for what was computed before (whose memory the copy may take), another makes later work wait for the copy.
Arrays come from a pool of the card's own, held to the memory that the plan of the run declares.

Phases without kernels (`kernels.cuda_support`) run on the host between two transfers; `hosted` counts them by name, so that
whoever shows a run can say so.

Neighbours: `launching`, `library`, `loops`, `layouts`; `cupy_leaf` (the only importer of CuPy); `executor` drives this.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ....typechecker.elements import Kind
from ...graph.phases import Constant, LibraryPhase, Loop, Structured, ValueId
from ...kernels.cuda_support import missing
from ...schedule.plan import Box
from ..cpu import CpuBackend
from ..cpu.kinds import DTYPES, NumArray, constants, shown, stored
from ..cpu.loops import LoopRunner
from ..device import Kernel, Types, one_by_one
from .cupy_leaf import cupy
from .launching import Modules, compile_structured
from .library import compile_library
from .loops import compile_loop

PINNED: Final = 1 << 16
"""Bytes from which a transfer goes through pinned memory."""


@dataclass(frozen=True, slots=True)
class Card:
    """What runs on one card share: memory that is freed is taken again, and no kernel is loaded twice."""

    compute: Any
    copies: Any
    pool: Any
    modules: Modules


_cards: dict[tuple[int, int], Card] = {}


def _card(xp: Any, number: int) -> Card:
    key = id(xp), number
    if key not in _cards:
        with xp.cuda.Device(number):
            streams = [xp.cuda.Stream(non_blocking=True) for _ in range(2)]
            _cards[key] = Card(streams[0], streams[1], xp.cuda.MemoryPool(), Modules(xp))
    return _cards[key]


class CudaBackend:
    """Card `number`; `limit`: the most bytes its arrays may take; `xp`: CuPy."""

    def __init__(self, number: int = 0, limit: int | None = None, xp: Any = None) -> None:
        found = cupy() if xp is None else xp
        assert found is not None, "there is no card"
        self.xp, self.number = found, number
        self.hosted: Counter[str] = Counter()
        self._host = CpuBackend()
        self._in_flight: list[tuple[Any, NumArray]] = []
        card = _card(found, number)
        self._compute, self._copies, self._pool, self._modules = card.compute, card.copies, card.pool, card.modules
        with found.cuda.Device(number):
            self._pool.set_limit(size=limit or 0)

    @contextmanager
    def _here(self) -> Iterator[Any]:
        xp = self.xp
        with xp.cuda.Device(self.number), xp.cuda.using_allocator(self._pool.malloc), self._compute:
            yield xp

    def _event(self, stream: Any) -> Any:
        event = self.xp.cuda.Event(disable_timing=True)
        event.record(stream)
        return event

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
        return one_by_one([(member, self.structured(member, types)) for member in members], wanted)

    def library(self, phase: LibraryPhase, types: Types) -> Kernel:
        with self._here() as xp:
            kernel = compile_library(xp, self._modules, phase, types)
        if kernel is None:
            fallback = self._through_host(lambda: self._host.library(phase, types), phase.args)
            return self._counted(missing(phase, types.types) or phase.op, fallback)
        return self._placed(kernel)

    def loop(self, phase: Loop, types: Types) -> LoopRunner | None:
        """A loop as one kernel, if it is of that sort."""
        with self._here() as xp:
            runner = compile_loop(
                xp, self._modules, phase, types.kind, lambda value: types.types[value].shape, types.number
            )  # fmt: skip
        if runner is None:
            return None

        def run(values: Mapping[ValueId, Any], state: list[Any], turns: int) -> tuple[Any, ...] | None:
            with self._here():
                return runner(values, state, turns)

        return run

    def _placed(self, kernel: Kernel) -> Kernel:
        def run(memory: Mapping[ValueId, Any], overwrite: Any) -> tuple[Any, ...]:
            with self._here():
                return kernel(memory, overwrite)

        return run

    def _through_host(self, make: Callable[[], Kernel], operands: tuple[ValueId, ...]) -> Kernel:
        """A kernel of the host, made when it is needed, on arrays of the device."""
        made_once: list[Kernel] = []

        def run(memory: Mapping[ValueId, Any], overwrite: Any) -> tuple[Any, ...]:
            if not made_once:
                made_once.append(make())
            own = {value: self._to_host(memory[value]) for value in operands}
            with np.errstate(all="ignore"):
                made = made_once[0](own, None)
            return tuple(self._to_device(np.asarray(array)) for array in made)

        return run

    def _counted(self, name: str, kernel: Kernel) -> Kernel:
        def run(memory: Mapping[ValueId, Any], overwrite: Any) -> tuple[Any, ...]:
            self.hosted[name] += 1
            return kernel(memory, overwrite)

        return run

    # ---------------------------------------------------------------------------------------- transfers

    def bring(self, value: Any, kind: Kind) -> Any:
        return self._to_device(stored(value, kind))

    def fetch(self, value: Any, kind: Kind) -> Any:
        return shown(self._to_host(value), kind)

    def constant(self, phase: Constant, types: Types) -> Any:
        return self._to_device(constants(types.kind(phase.result), phase.data, types.shape(phase.result)))

    def _pinned(self, shape: tuple[int, ...], dtype: Any) -> NumArray:
        count = int(np.prod(shape))
        memory = self.xp.cuda.alloc_pinned_memory(count * dtype.itemsize)
        return np.frombuffer(memory, dtype, count).reshape(shape)

    def _to_device(self, host: NumArray) -> Any:
        with self._here() as xp:
            if host.nbytes < PINNED:
                return xp.array(host)
            room = self._pinned(host.shape, host.dtype)
            room[...] = host
            made = xp.empty(host.shape, host.dtype)
            self._copies.wait_event(self._event(self._compute))
            made.set(room, stream=self._copies)
            copied = self._event(self._copies)
            self._compute.wait_event(copied)
            self._in_flight = [(event, held) for event, held in self._in_flight if not event.done]
            self._in_flight.append((copied, room))
            return made

    def _to_host(self, value: Any) -> NumArray:
        with self._here() as xp:
            if value.nbytes < PINNED:
                return np.asarray(value.get())
            whole = xp.ascontiguousarray(value)
            room = self._pinned(whole.shape, whole.dtype)
            self._copies.wait_event(self._event(self._compute))
            whole.get(stream=self._copies, out=room)
            self._copies.synchronize()
            return room

    # ------------------------------------------------------------------------------------------- arrays

    def item(self, value: Any) -> Any:
        with self._here():
            return value.item()

    def cell(self, value: Any, point: tuple[int, ...]) -> Any:
        return value[point] if point else value

    def empty(self, kind: Kind, shape: tuple[int, ...]) -> Any:
        with self._here() as xp:
            return xp.empty(shape, DTYPES[kind])

    def put(self, target: Any, point: tuple[int, ...], cell: Any) -> None:
        with self._here():
            target[point] = cell

    def window(self, value: Any, box: Box) -> Any:
        return value[tuple(slice(start, stop) for start, stop in box)]

    def paste(self, target: Any, box: Box, part: Any) -> None:
        with self._here():
            target[tuple(slice(start, stop) for start, stop in box)] = part

    def quiet(self) -> Any:
        return np.errstate(all="ignore")
