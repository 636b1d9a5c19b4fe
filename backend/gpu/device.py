"""One GPU as a back end (`vm.run_state`): generated kernels for structured phases, loops and some library phases; on CUDA, CuPy's
libraries for more of them.

Failures of a card (a kernel that faults, a missing library) become E710, and a lack of memory MemoryError: every access to the
card runs inside `Driver.here`, which translates them.

Phases without kernels (`codegen.gpu_targets`) run on the host between two transfers; `hosted` counts them by name, for display.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any, Final

import numpy as np

from ...typechecker.elements import Kind
from ..codegen.gpu_targets import CUDA, OPENCL, missing, vendors
from ..cpu.backend import CpuBackend
from ..cpu.views import DTYPES, NumArray, as_stored, as_view, constants
from ..graph import traverse
from ..graph.phases import Constant, Fold, LibraryPhase, Loop, Map, Phase, PhaseId, Structured, ValueId
from ..schedule.plan.plan import Device
from ..vm.run_state import Index, Kernel, RegionKernel, Types
from . import cuda, opencl
from .driver import Card, CardKind, CardModel, DeviceArray
from .launch import compile_region, compile_rows, compile_structured, store, to_host
from .library import compile_library
from .opencl import OpenClDriver

BUILT_IN: Final[Mapping[str, CardKind]] = {
    "cuda": CardKind("gpu", CUDA, lambda: cuda.gpus(), cuda.CudaDriver, lambda: f"CUDA: {_tier('cupy', cuda.gpus())}"),
    "opencl": CardKind("ocl", OPENCL, lambda: opencl.gpus(), OpenClDriver, lambda: f"OpenCL: {_tier('pyopencl', opencl.gpus())}"),
}  # fmt: skip


def _tier(package: str, models: Sequence[CardModel]) -> str:
    """The devices that a package drives, or the reason why it drives none."""
    none = f"none ({package} {'finds no device' if find_spec(package) else 'is not installed'})"
    return ", ".join(f"{one.name} ({one.lacks or one.version})" for one in models) or none


def card_kinds() -> Mapping[str, CardKind]:
    """The kinds of GPUs by back end name: the built-in ones, and those of installed packages."""
    return {**BUILT_IN, **{name: kind for name, kind in vendors().kinds.items() if name not in BUILT_IN}}


def back_end_of(name: str) -> str | None:
    """The back end of a GPU, given its name as `rho devices` prints it; None for other names."""
    prefix = name.rstrip("0123456789")
    kinds = (kind for kind, one in card_kinds().items() if one.prefix == prefix)
    return next(kinds, None) if name != prefix else None


def tiers() -> str:
    """The way in which programs run on GPUs of each kind, or the reason why they do not, for people."""
    known = [kind.tier() for kind in card_kinds().values()]
    return "; ".join([*known, *(f"{name}: {why}" for name, why in vendors().broken.items())])


_cards: dict[tuple[str, int], Card] = {}


def cards_of(devices: Sequence[Device]) -> list[tuple[Device, int]]:
    """The GPUs of a plan, each with its position among those of this machine: the number in a name that `rho devices` prints,
    otherwise the position among the plan's GPUs."""
    counts, rows = Counter[str](), list[tuple[Device, int]]()
    for device in devices:
        if device.backend in card_kinds():
            name = str(device.id)
            named = name.removeprefix(name.rstrip("0123456789")) if back_end_of(name) else ""
            rows.append((device, int(named) if named else counts[device.backend]))
            counts[device.backend] += 1
    return rows


def cards_here() -> list[tuple[str, CardModel]]:
    """The GPUs of this machine, by their names in plans."""
    return [(f"{kind.prefix}{model.number}", model) for kind in card_kinds().values() for model in kind.models()]


def missing_card(kind: str, number: int) -> str | None:
    """The reason why a GPU runs no programs ("" if it does not exist); None if it runs them."""
    models = card_kinds()[kind].models()
    return "" if number >= len(models) else models[number].lacks or None


def card_backend(kind: str, number: int, limit: int | None) -> CardBackend:
    """The back end of a GPU of this machine; `limit`: the most bytes of its arrays."""
    if (kind, number) not in _cards:
        _cards[kind, number] = Card(card_kinds()[kind].open(number))
    card = _cards[kind, number]
    card.driver.limit(limit)
    return CardBackend(card)


class CardBackend:
    """The back end of one GPU."""

    def __init__(self, card: Card) -> None:
        self.card, self._here = card, card.driver.here
        self.hosted: Counter[str] = Counter()
        self._host = CpuBackend()

    # ------------------------------------------------------------------------------------------ kernels

    def structured(self, phase: Structured, types: Types) -> Kernel:
        operands = tuple(dict.fromkeys(read.value for read in phase.reads))
        fallback = self._through_host(phase, types, lambda: self._host.structured(phase, types), operands)
        with self._here():
            kernel = compile_structured(self.card, phase, types.kind, types.number, fallback)
        return fallback if kernel is None else self._placed(kernel)

    def rows(self, members: Sequence[Structured], wanted: Sequence[ValueId], types: Types) -> Kernel:
        with self._here():
            kernel = compile_rows(self.card, members, wanted, types.kind, types.number)
        if kernel is not None:
            return self._placed(kernel)
        return _in_sequence([(member, self.structured(member, types)) for member in members], wanted)

    def library(self, phase: LibraryPhase, types: Types) -> Kernel:
        with self._here():
            kernel = compile_library(self.card, phase, types)
        if kernel is None:
            return self._through_host(phase, types, lambda: self._host.library(phase, types), phase.args)
        return self._placed(kernel)

    def region(self, phase: Loop | Map | Fold, types: Types, program: Mapping[PhaseId, Phase]) -> RegionKernel | None:
        """The kernel of a loop; None for other phases, whose bodies run step by step."""
        if not isinstance(phase, Loop):
            return None
        with self._here():
            runner = compile_region(self.card, phase, types, lambda constant: self.constant(constant, types))
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

    def _through_host(
        self, phase: Structured | LibraryPhase, types: Types, make: Callable[[], Kernel], operands: tuple[ValueId, ...]
    ) -> Kernel:  # fmt: skip
        """A kernel of the host, compiled on first use, that runs on arrays of the device by two transfers, and is counted."""
        plain = phase.op if isinstance(phase, LibraryPhase) else "body"
        compiled = cache(lambda: (make(), missing(phase, types.types, self.card.driver.dialect) or plain))

        def run(memory: Mapping[ValueId, Any], overwrite: Any) -> tuple[Any, ...]:
            kernel, name = compiled()
            self.hosted[name] += 1
            host_memory = {value: self._to_host(memory[value]) for value in operands}
            with np.errstate(all="ignore"):
                results = kernel(host_memory, None)
            return tuple(self._to_device(np.asarray(array)) for array in results)

        return run

    # ---------------------------------------------------------------------------------------- transfers

    def bring(self, value: Any, kind: Kind) -> Any:
        return self._to_device(as_stored(value, kind))

    def fetch(self, value: Any, kind: Kind, room: Any = None) -> Any:
        return as_view(self._to_host(value, room), kind)

    def constant(self, phase: Constant, types: Types) -> Any:
        return self._to_device(constants(types.kind(phase.result), phase.data, types.shape(phase.result)))

    def _to_device(self, host: NumArray) -> DeviceArray:
        with self._here():
            return self.card.up(host)

    def _to_host(self, value: DeviceArray, room: NumArray | None = None) -> NumArray:
        with self._here():
            return to_host(self.card, value, room)

    # ------------------------------------------------------------------------------------------- arrays

    def item(self, value: Any) -> Any:
        return self._to_host(value).item()

    def part(self, value: Any, index: Index) -> Any:
        return value[index] if index else value

    def empty(self, kind: Kind, shape: tuple[int, ...]) -> Any:
        with self._here():
            return self.card.empty(shape, DTYPES[kind])

    def store(self, target: Any, index: Index, part: Any) -> None:
        with self._here():
            store(self.card, target[index], part)

    def quiet(self) -> Any:
        return np.errstate(all="ignore")


def _in_sequence(kernels: Sequence[tuple[Structured, Kernel]], wanted: Sequence[ValueId]) -> Kernel:
    """Runs the members of a chain in order, if it has no single kernel; values are freed after their last use."""
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
