"""Connects to a cluster when its devices are needed, and runs programs whose files workers or devices read and write directly."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ...lang.diagnostics.model import RhoError
from ...lang.support.records import cached_property, dataclass, replace
from ..console.process_exit import UsageError, is_command
from ..console.standard_streams import stream_of

if TYPE_CHECKING:
    from ...backend.cluster.client import ClusterClient
    from ...backend.devices.profile import CostTable, DeviceProfile, Profile
    from ...backend.graph.bind_sizes import BoundGraph
    from ...backend.io.external_arrays import StoredInput, StoredOutput
    from ...backend.schedule.plan.plan import ExecutionPlan
    from ...backend.schedule.streams.stream_planning import TileDevice
    from ...backend.vm.run_state import Observer, RunResults
    from ...typechecker.core.operations import Core
    from ..pipeline_types import LoadedProgram
    from .loading import InputFile
    from .params import Permissions


RESTARTS = 3
"""The most times a run starts again after the loss of a worker."""


class ClusterConnection:
    """A cluster that is connected to on first use.
    `where` is its address, as for `membership.attach`; `devices` is the profile that describes home and the workers."""

    def __init__(self, where: object, restarts: int = RESTARTS, devices: str | None = None) -> None:
        self.where, self.restarts, self.devices = where, restarts, devices
        self.is_closed = False
        self.report: Callable[[str], None] = lambda words: None
        """The callback with the reason when a run starts again; set it before the first use of `cluster`."""

    @cached_property
    def cluster(self) -> ClusterClient:
        """The connected cluster.

        UsageError: the address has another form.  RunFailed E710: it does not answer.  Refused E704, E705: the profile cannot be
        read, or is not of these workers.  ValueError: it was closed.
        """
        from ...backend.cluster.client import ClusterClient
        from ...backend.cluster.cluster_profile import DeclaredDevices
        from ...backend.cluster.membership import BadCluster, attach
        from .stored_plans import this_machine

        if self.is_closed:
            raise ValueError("this cluster was closed, by `close()` or the end of its `with`: make another with rho.Cluster")
        declared = None if self.devices is None else DeclaredDevices.read(self.devices)
        if is_command():
            _silence_resource_tracker()
        try:
            membership = attach(self.where)
        except BadCluster as error:
            raise UsageError(f"--cluster: {error}") from None
        try:
            return ClusterClient(membership, this_machine(), self.restarts, self.report, declared)
        except BaseException:
            membership.close()
            raise

    def __enter__(self) -> ClusterConnection:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        self.is_closed = True
        cluster = self.__dict__.pop("cluster", None)
        if cluster is not None:
            cluster.close()


def _silence_resource_tracker() -> None:
    """Start Python's resource tracker without its warnings: it removes semaphores that an interrupted command leaves behind, and
    would print a warning for each."""
    if os.name != "posix":
        return
    from multiprocessing import resource_tracker

    before = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = "ignore:resource_tracker" if before is None else f"{before},ignore:resource_tracker"
    try:
        resource_tracker.ensure_running()
    finally:
        if before is None:
            del os.environ["PYTHONWARNINGS"]
        else:
            os.environ["PYTHONWARNINGS"] = before


# ---------------------------------------------------------------------------------------------------- tiles on workers

@dataclass(frozen=True, slots=True)
class TileWorkers:
    """The devices of a cluster that tiles are dealt to, home first, with the inputs that all of them can read, and the rest,
    which home reads."""

    cluster: ClusterClient
    devices: tuple[TileDevice, ...]
    inputs: Mapping[str, StoredInput]
    undivided: frozenset[str]


def fleet_memory(connection: ClusterConnection) -> int | None:
    """The bytes of memory that all devices of a cluster have for plans; None if one of them has no limit."""
    from . import stored_plans

    devices = [one for one in connection.cluster.profile.devices if one.backend != "store"]
    limits = [(one.memory or stored_plans.memory() or None) if one.home else one.memory for one in devices]
    return None if None in limits else sum((limit or 0) * one.count for limit, one in zip(limits, devices, strict=True))


def tile_workers(
    connection: ClusterConnection, files: Mapping[str, InputFile], sources: Collection[str], outputs: Mapping[str, str],
    limit: int | None,
) -> TileWorkers:  # fmt: skip
    """Home and the workers as devices that tiles are dealt to, with at most `limit` bytes of memory each, and the files that all
    of them see.

    `sources` are the inputs that are read in tiles, `outputs` the files of outputs by name.  Processes of one machine get the
    shortest reading times that one of them measured, since the others' were longer only because of load.
    """
    from ...backend.cluster.client import commonly_visible
    from ...backend.cluster.worker import HERE
    from ...backend.io.external_arrays import stored_input
    from ...backend.schedule.plan.plan import Device, DeviceId
    from ...backend.schedule.streams.stream_planning import TileDevice
    from . import stored_plans

    cluster = connection.cluster
    candidates = {name: stored_input(files[name].path, files[name].wanted, files[name].shape) for name in sources}
    inputs = {name: one for name, one in candidates.items() if one is not None}
    folders = {name: os.path.dirname(os.path.realpath(path)) for name, path in outputs.items()}
    same, shared = commonly_visible(cluster, inputs, {*folders.values()})
    profile = cluster.profile
    known = {device.name: device for device in profile.devices}
    devices = []
    for name in (profile.home.name, *cluster.devices):
        device = known[name] if name in known else known[name.partition("[")[0]]
        granted = device.memory or (stored_plans.memory() if device.home else None)
        memory = min([bytes for bytes in (limit, granted) if bytes], default=None)
        planned = Device(DeviceId(name), "cpu", device.threads, memory, device.kind)
        member = cluster.devices.get(name)
        machine = "" if member is None or member.is_here else member.machine
        addresses = [HERE] if machine == "" else []
        addresses += [one.address for one in cluster.members if ("" if one.is_here else one.machine) == machine]
        tables = [cluster.reading[address] for address in addresses if address in cluster.reading]
        devices.append(TileDevice(planned, _tile_ns(device, profile, min(tables, key=lambda one: one.ns[-1], default=None))))
    undivided = (files.keys() - same.keys()) | {name for name, folder in folders.items() if folder not in shared}
    return TileWorkers(cluster, tuple(devices), same, frozenset(undivided))


def _tile_ns(device: DeviceProfile, profile: Profile, reading: CostTable | None) -> Callable[[BoundGraph, int], int]:
    """A function that predicts a tile on a device: reading it or computing it, whichever is longer."""
    from ...backend.devices.profile import GRAIN
    from ...backend.devices.this_machine import READ, disk_ns
    from ...backend.schedule.streams.pass_times import computing_ns

    alone = replace(profile, devices=(replace(device, home=True, count=1),), links=())

    def ns(tile: BoundGraph, read: int) -> int:
        reads = disk_ns(device, READ, read) if reading is None else reading.at(read) // GRAIN
        return max(reads, computing_ns(tile.graph.phases, tile, alone, _TILES) // _TILES)

    return ns


_TILES: Final = 64
"""The number of tiles over which a prediction is averaged, since the first tile compiles the kernels."""


# ---------------------------------------------------------------------------------------------------- files in stores
#
# Inputs that devices read from a store where they are used, and outputs that they write where they are computed.
#
# An input is read in place if some phase reads it, its format can be read in boxes, its type declares no range that has to be
# checked on all items, and a store of the profile serves its path; on a cluster, if every worker sees the same file.  This
# process reads all others.

def inputs_read_in_place(core: Core, bound: BoundGraph, files: Mapping[str, InputFile]) -> dict[str, StoredInput]:
    """By name, the inputs that can be read in boxes.  Raises the RhoError that reading them would raise."""
    from ...backend.graph import traverse
    from ...backend.graph.phases import Input
    from ...backend.io.external_arrays import stored_input

    phases = bound.graph.phases
    used = {value for phase in phases for value in traverse.uses(phase)}
    read = {phase.name for phase in phases if isinstance(phase, Input) and phase.result in used}
    stored_inputs: dict[str, StoredInput] = {}
    for name, file in files.items():
        if name not in read:
            continue
        element = core.types[file.entry.value].element
        limits = element.low, element.high, element.symbolic_max, element.index_bound
        stored = stored_input(file.path, file.wanted, file.stored) if limits == (None,) * len(limits) else None
        if stored is not None:
            stored_inputs[name] = stored
    return stored_inputs


def outputs_written_in_place(
    core: Core, bound: BoundGraph, paths: Mapping[str, str], permissions: Permissions
) -> dict[str, StoredOutput]:  # fmt: skip
    """By `output NAME`, the outputs that devices can write in place.

    The value is computed by a phase, has a known shape without zeros and is the value of no other output; its file takes no other
    output and has a format in which the position of every item is known."""
    if not paths:
        return {}
    from ...backend.graph.phases import Constant, Input, Output
    from ...backend.io.external_arrays import stored_output
    from ...backend.schedule.program_facts.partitioning import output_store_name, shape_of

    not_computed = {phase.result for phase in bound.graph.phases if isinstance(phase, Input | Constant)}
    outputs = {phase.name: phase for phase in bound.graph.phases if isinstance(phase, Output)}
    stored_outputs: dict[str, StoredOutput] = {}
    for entry in core.outputs:
        phase, path = outputs.get(entry.name), paths.get(entry.name, "")
        if phase is None or not path or stream_of(path) is not None or not permissions.may_write(path):
            continue
        shape, kind = shape_of(phase.arg, bound.graph.types), bound.graph.types[phase.arg].element.kind
        alone = [*paths.values()].count(path) == 1 and sum(one.arg == phase.arg for one in outputs.values()) == 1
        stored = stored_output(path, kind, shape, entry.name, entry.reading, entry.span) if shape and 0 not in shape else None
        if stored is not None and alone and phase.arg not in not_computed:
            stored_outputs[output_store_name(entry.name)] = stored
    return stored_outputs


def stores_by_name(profile: Profile, stored: Mapping[str, StoredInput | StoredOutput]) -> dict[str, str]:
    """By name, the stores of a profile that hold the files of inputs and outputs."""
    stores = {name: profile.store_of(one.file) for name, one in stored.items()}
    return {name: store for name, store in stores.items() if store is not None}


RemoteRunner: TypeAlias = "Callable[[ExecutionPlan, Mapping[str, Any], Observer | None], RunResults]"
"""A function that runs a plan on inputs by name, and calls the observer after each step."""


@dataclass(frozen=True, slots=True)
class OnCluster:
    """Executes a plan by `runner` on a cluster, whose workers read the inputs and write the outputs in `stored` themselves.

    Outputs that workers write are then temporary files next to their targets, which saving renames."""

    runner: RemoteRunner
    stored: Mapping[str, StoredInput | StoredOutput]

    @property
    def in_tiles(self) -> bool:
        return False

    def results(self, program: LoadedProgram, observe: Observer | None) -> RunResults:
        from ...backend.io.external_arrays import StoredInput, StoredOutput
        from ...backend.schedule.program_facts.partitioning import output_store_name
        from ...backend.vm.run_state import OutputValue

        inputs = {name: one for name, one in self.stored.items() if isinstance(one, StoredInput)}
        written = {name: one.anew() for name, one in self.stored.items() if isinstance(one, StoredOutput)}
        try:
            for one in written.values():
                one.begin()
            arguments = {**program.values(inputs), **inputs, **written}
            results = self.runner(program.plan, arguments, observe)
            for one in written.values():
                one.end()
        except BaseException as failure:
            for one in written.values():
                one.sink.discard()
            for name in program.files if isinstance(failure, RhoError) and inputs else ():
                program.values(program.files.keys() - {name})  # raises what reading all inputs would raise first
            raise
        outputs = dict(results.outputs)
        for name in outputs:
            if output_store_name(name) in written:
                sink = written[output_store_name(name)].sink
                outputs[name] = OutputValue(sink.kind, sink)
        return results._replace(outputs=outputs)
