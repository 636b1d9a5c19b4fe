"""How a checked program runs: core → phase graph → bound graph → plan → values.

    bound = load(core, {"x": array}, {"k": 3})     # sizes from shapes, guards checked
    schedule = plan(bound)
    results = execute(schedule, bound, {"x": array})

Thin on purpose: the work is in `graph` (what), `schedule` (where and when) and `run` (how).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from ..typechecker.core.operations import Core
from .graph.bind_sizes import BoundGraph, bind
from .graph.lowering import blocks
from .graph.passes.pipeline import optimise, optimise_with_sizes
from .schedule.plan.plan import Device, DeviceId, ExecutionPlan, PlannedFile
from .schedule.single_device import HOME, Detail, plan_one_device
from .vm.input_sizes import bind_sizes

if TYPE_CHECKING:
    from .graph.phases import Graph
    from .streams.stream_executor import TiledFiles
    from .vm.run_state import Backend, Observer, RunResults

__all__ = ["Detail", "Device", "bind_shapes", "execute", "load", "plan"]


def load(
    core: Core, inputs: Mapping[str, Any], params: Mapping[str, int] | None = None, *, without: frozenset[str] = frozenset()
) -> BoundGraph:
    """The phase graph with its sizes bound from the shapes of `inputs` (anything with `.shape`).

    Raises Refused for sizes that disagree and guards that fail.  `without`: names of passes to switch off."""
    return bind_shapes(core, {name: value.shape for name, value in inputs.items()}, params, without=without)


def bind_shapes(
    core: Core,
    shapes: Mapping[str, Sequence[int]],
    params: Mapping[str, int] | None = None,
    *,
    without: frozenset[str] = frozenset(),
) -> BoundGraph:
    """As `load`, from the shapes alone (a file's header is enough)."""
    sizes = bind_sizes(core, shapes, params or {})
    return optimise_with_sizes(bind(_graph_of(core, without), sizes), without)


def _graph_of(core: Core, without: frozenset[str]) -> Graph:
    """The graph of a program before its sizes are bound, which is the same for all sizes."""
    key = id(core), without
    known = _graphs.get(key)
    if known is None or known[0] is not core:
        while len(_graphs) >= _MOST_GRAPHS:
            _graphs.pop(next(iter(_graphs)), None)
        known = _graphs[key] = core, optimise(blocks.lower(core), without)
    return known[1]


_MOST_GRAPHS: Final = 64
_graphs: dict[tuple[int, frozenset[str]], tuple[Core, Graph]] = {}


def plan(
    bound: BoundGraph, device: Device | None = None, *, program: tuple[PlannedFile, ...] = (), detail: Detail = Detail.FULL,
    moved: frozenset[str] = frozenset(),
) -> ExecutionPlan:  # fmt: skip
    """The plan on one device; by default this machine's CPU cores as one device.  Inputs in `moved` may be overwritten."""
    return plan_one_device(bound, device or host_device(), program, detail, moved=moved)


def host_device() -> Device:
    """This machine as a device: the client's memory, and the cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return Device(HOME, "cpu", len(affinity(0)) if affinity else os.cpu_count() or 1)


def execute(
    schedule: ExecutionPlan, bound: BoundGraph, inputs: Mapping[str, Any], observe: Observer | None = None, *,
    simulated: bool = False,
    stores: TiledFiles | None = None,
    keep: frozenset[str] = frozenset(),
) -> RunResults:
    """Runs a plan on host arrays, resident values or moved arrays by name; outputs in `keep` are left as resident values.

    `observe`: a callback that receives the duration of each step.  `simulated`: the devices are declared ones, each limited to
    its memory.  `stores`: the files of a plan that reads or writes some of them tile by tile.  Raises `RunFailed` if a run-time
    check fails or memory runs out; there are no partial results.
    """
    if observe is None and not simulated and stores is None and not keep:
        results = _again()(schedule, bound, inputs)
        if results is not None:
            return results
    from .cpu.backend import CpuBackend
    from .distributed.buffers import QueueClock
    from .vm.executor import execute_plan

    backends: dict[DeviceId, Backend] = {device.id: CpuBackend(device.threads) for device in schedule.devices}
    if not simulated and any(device.backend not in ("cpu", "store") for device in schedule.devices):
        from .gpu.device import card_backend, cards_of

        for device, number in cards_of(schedule.devices):
            backends[device.id] = card_backend(device.backend, number, device.memory)
    pace = QueueClock.SIMULATED if simulated else QueueClock.THREADS
    if stores is None:
        return execute_plan(schedule, bound, inputs, backends, observe, pace=pace, keep=keep)
    from .jit.compiler import compiling_apart

    with compiling_apart():  # a run in tiles must keep to its memory
        return execute_plan(schedule, bound, inputs, backends, observe, pace=pace, stores=stores)


@cache
def _again() -> Callable[[ExecutionPlan, BoundGraph, Mapping[str, Any]], RunResults | None]:
    """Returns the function that runs a plan again by the VM.  Cached, as the import statement takes as long as a small run."""
    from .vm.executor import run_prepared

    return run_prepared
