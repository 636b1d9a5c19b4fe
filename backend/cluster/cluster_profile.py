"""The profile of a cluster: its links as measured, and its devices as the processes describe themselves or as a file declares
them.

Home probes one worker of each machine; that worker probes another one of its machine, and one of the next machine.  The slowest
figure between two machines is used for all pairs of machines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import Final

from ...lang.diagnostics.model import Code, Diagnostic, Refused
from ...lang.support.records import dataclass, replace
from ...lang.syntax.source import Span
from ..calibration.calibrate import Pace, pace
from ..devices.cost_functions import Duplex
from ..devices.profile import CPU, MESSAGE, STORE, Calibration, CostTable, DeviceProfile, LinkProfile, Profile
from ..devices.profile_toml import Places, Problems, read_profile
from ..devices.this_machine import profile_text
from ..schedule.plan.plan import DeviceId, ExecutionPlan
from ..schedule.plan.plan_text import bytes_text
from ..schedule.program_facts.partitioning import stores_of
from .membership import ClusterMember, Worker, share_of_processors
from .wire import Lost, MessageKind, link_table, rising
from .worker import HERE, PACED_NS, tables_digest

# ---------------------------------------------------------------------------------------------------- calibrate

@dataclass(frozen=True, slots=True)
class Measured:
    """Times of messages by size (`wire.SIZES`): from home to each machine, between workers of a machine, between machines."""

    home: dict[str, CostTable]
    within: dict[str, CostTable]
    between: CostTable | None


class Unreachable(Lost):
    """Raised if a worker that home reaches cannot reach another one."""


def measure(workers: Sequence[Worker]) -> Measured:
    """Measures the links between home and the machines of the workers.  Raises Lost if a worker does not answer, and
    Unreachable."""
    machines: dict[str, list[Worker]] = {}
    for worker in workers:
        machines.setdefault(worker.member.machine, []).append(worker)
    home, within, between = {}, {}, []
    groups = [*machines.values()]
    for (machine, group), following in zip(machines.items(), [*groups[1:], []], strict=True):
        first = group[0]
        home[machine] = link_table(first.member.door, first.every.context, first.process)
        if len(group) > 1:
            within[machine] = _asked(first, group[1])
        if following:
            between.append(_asked(first, following[0]))
    slowest = rising([max(times) for times in zip(*(table.ns for table in between), strict=True)]) if between else None
    return Measured(home, within, slowest)


def _asked(worker: Worker, other: Worker) -> CostTable:
    """The times that a worker measures of messages to another worker."""
    (facts,) = worker.every.ask([worker], MessageKind.MEASURE, {"to": other.member.door})
    if "words" in facts:
        words = f"it cannot reach {other.member.address}: {facts['words']}"
        try:
            link_table(other.member.door, other.every.context, other.process)
        except Lost as lost:  # home cannot reach it either
            raise Lost(lost.process, f"{lost.words}; worker {worker.process}: {words}") from None
        raise Unreachable(worker.process, words)
    return rising(facts["ns"])


# ---------------------------------------------------------------------------------------------------- profile
#
# The members of a cluster as a profile: home, and every worker as a device.
#
# Links have measured figures (`measure`) or, if a worker did not answer, declared ones: those of a loopback if both ends are on
# one machine, else those of ten-gigabit Ethernet.  Workers have their own tables (`describe`).  Files that all processes see are
# a store, whose links to the devices have the figures of measured reads.

RESERVE: Final = Fraction(2, 5)
"""The share of a worker's memory that plans may not use: Dask begins to spill at 0.6 of the memory."""
SYNC_NS: Final = 60_000
_LATENCY: Final = {True: 60_000, False: 120_000}
_RATE: Final = {True: 2_000_000_000, False: 1_100_000_000}
FILES: Final = "files"
"""The name of a cluster's store."""
_OPENED: Final = 30_000
"""Nanoseconds to open a file and check its fingerprint."""
_READ: Final = CostTable((8 << 20,), (8_000_000,))
_SIZES: Final = (4096, 1 << 20, 64 << 20)


def threads_of(members: Sequence[ClusterMember], member: ClusterMember) -> int:
    """The threads of a worker: the cores that it may use, each divided by the number of workers that may use it."""
    machine = [one for one in members if one.machine == member.machine]
    if not all(one.cpus for one in machine):
        return max(1, member.cores // len(machine))
    users = Counter(cpu for one in machine for cpu in one.cpus)
    return max(1, min(member.cores, int(sum(Fraction(1, users[cpu]) for cpu in member.cpus))))


@dataclass(frozen=True, slots=True)
class Tables:
    """The cost tables of a process: its calibration, with the device that has them; its current slowdown is `pace`, measured by
    short programs, times `drift`, measured by the last runs.  `messages`: the processor time of both ends of a message."""

    calibration: Calibration
    device: DeviceProfile
    pace: Fraction = Fraction(1)
    drift: Fraction = Fraction(1)
    messages: CostTable | None = None


NO_TABLES: Final[Mapping[str, Tables]] = MappingProxyType({})


def describe(workers: Sequence[Worker], local: Profile) -> dict[str, Tables]:
    """The tables of home (`HERE`) and of each worker, by address, as each describes itself.  Raises Lost.

    Processes that share their processors with all others, as local workers do, are equally fast.  Other processes measure their
    current pace: all workers at once, then home."""
    here = ClusterMember("home", HERE, "", 0, "", "", local.home.threads, None, "", True, **share_of_processors())
    members = [worker.member for worker in workers]
    alike = {("" if one.is_here else one.machine, one.cpus, one.group) for one in (here, *members)}
    known, facts = {tables_digest(local): local}, {"paced": len(alike) > 1}
    asked = [{**facts, "known": [*known], "threads": threads_of(members, one)} for one in members]
    tables: dict[str, Tables] = {}
    for worker, said in zip(workers, workers[0].every.ask_each(workers, MessageKind.DESCRIBE, asked), strict=True):
        if said["profile"]:
            known[said["digest"]] = read_profile(f"<profile of {worker.member.label}>", said["profile"])
        profile = known[said["digest"]]
        pace_of, drift = Fraction(*said["pace"]), Fraction(*said["drift"])
        messages = rising(said["messages"]) if said["messages"] else None
        tables[worker.member.address] = Tables(profile.calibration, profile.home, pace_of, drift, messages)
    home = replace(local.home, threads=1) if any(one.is_here for one in members) else local.home
    tables[HERE] = Tables(local.calibration, local.home, (pace(home, PACED_NS) if len(alike) > 1 else Pace()).slowdown)
    return tables


def profile_of(
    local: Profile, members: Sequence[ClusterMember], measured: Measured | None = None, tables: Mapping[str, Tables] = NO_TABLES
) -> Profile:  # fmt: skip
    """The profile of home and its workers.  `tables`: by address, those that differ from home's (`local`)."""
    here = any(member.is_here for member in members)
    usual = Tables(local.calibration, local.home)
    home = replace(_at_present(tables.get(HERE, usual)), name="home", kind="home", node="home", home=True, sync_ns=SYNC_NS)
    if here:
        home = replace(home, threads=1)  # the workers use its cores
    devices = [home]
    machines = [*dict.fromkeys(member.machine for member in members)]
    for member in members:
        node, threads = f"n{machines.index(member.machine)}", threads_of(members, member)
        devices.append(replace(
            _with_messages(_at_present(tables.get(member.address, usual)), member, members, tables), name=member.name,
            kind="worker", node=node, threads=threads,
            memory_bytes=member.memory, memory_reserve=RESERVE, home=False, sync_ns=SYNC_NS, reserved={"worker": member.address},
        ))  # fmt: skip
    links = []
    for at, one in enumerate(devices):
        for other in devices[at + 1 :]:
            table = None if measured is None else _table(measured, one, other, machines)
            links.append(_link(one, other, _near(one, other, here), table))
    calibrations = [usual.calibration, *(tables[member.address].calibration for member in members if member.address in tables)]
    return Profile(tuple(devices), tuple(links), False, _together(calibrations))


def _at_present(tables: Tables) -> DeviceProfile:
    return tables.device.slower(tables.pace * tables.drift)


def _with_messages(
    device: DeviceProfile, member: ClusterMember, members: Sequence[ClusterMember], tables: Mapping[str, Tables]
) -> DeviceProfile:  # fmt: skip
    """The device with what it takes to send or receive a message, the most of workers with the same processors: both ends of it
    where home has them too."""
    shared = [one for one in members if (one.machine, one.cpus, one.group) == (member.machine, member.cpus, member.group)]
    said = [table.ns for one in shared if one.address in tables and (table := tables[one.address].messages) is not None]
    if not said:
        return device
    ends = 2 if member.is_here else 1
    slowest = rising([max(1, max(times) * ends // 2) for times in zip(*said, strict=True)])
    return replace(device, ops={**device.ops, MESSAGE: slowest})


def _together(calibrations: Sequence[Calibration]) -> Calibration:
    """The calibration that holds for all: as old as the oldest, and as inaccurate as the worst."""
    dates = [one.calibrated for one in calibrations]
    return replace(
        calibrations[0], calibrated=None if None in dates else min(date for date in dates if date is not None),
        residual_p10=max(one.residual_p10 for one in calibrations), residual_p90=max(one.residual_p90 for one in calibrations),
    )  # fmt: skip


def with_store(
    profile: Profile, paths: Sequence[str], reading: Mapping[str, CostTable], members: Mapping[str, ClusterMember]
) -> Profile:  # fmt: skip
    """The profile with a store for these files, which every device reads directly.  `members`: by device name."""
    store = DeviceProfile(FILES, STORE, STORE, "", paths=tuple(paths))
    links = []
    for device in profile.devices:
        readers = [one.address for name, one in members.items() if device.name in (name, name.partition("[")[0])]
        readers += [HERE] * device.home
        table = max((reading.get(address, _READ) for address in readers), key=lambda one: one.ns[-1])
        links.append(LinkProfile(FILES, device.name, min(_OPENED, table.ns[0]), table))
    return replace(profile, devices=(*profile.devices, store), links=(*profile.links, *links))


def _near(one: DeviceProfile, other: DeviceProfile, here: bool) -> bool:
    return here if one.home else one.node == other.node


def _table(measured: Measured, one: DeviceProfile, other: DeviceProfile, machines: Sequence[str]) -> CostTable | None:
    machine = machines[int(other.node[1:])]
    if one.home:
        return measured.home.get(machine)
    return measured.within.get(machine) if one.node == other.node else measured.between


def _link(one: DeviceProfile, other: DeviceProfile, near: bool, table: CostTable | None) -> LinkProfile:
    if table is not None:
        return LinkProfile(one.name, other.name, table.ns[0], table, Duplex.FULL)
    latency, rate = _LATENCY[near], _RATE[near]
    table = CostTable(_SIZES, tuple(latency + size * 1_000_000_000 // rate for size in _SIZES))
    return LinkProfile(one.name, other.name, latency, table, Duplex.FULL)


# ---------------------------------------------------------------------------------------------------- declared devices
#
# Home is the profile's home.  Every other device is a worker: the one that its field `worker` names by address, with or without
# the protocol, or by its name in plans (`w0`); a group of equal devices has a list of names.  Devices without the field are
# assigned the remaining workers in order.  Workers without a device take no part.
#
# Home is the profile's home.  Every other device is a worker: the one that its `worker` names, by its address, with or without
# the protocol, or as plans name it (`w0`); several alike have a list of them.  Devices that name none are the remaining workers,
# in order.  Workers that are no device take no part.

def instances(device: DeviceProfile) -> list[str]:
    """The names of a device's instances."""
    return [device.name] if device.count == 1 else [f"{device.name}[{number}]" for number in range(device.count)]


@dataclass(frozen=True, slots=True)
class DeclaredDevices:
    """A profile that declares home and the workers of a cluster, and its position in its file."""

    profile: Profile
    places: Places

    @staticmethod
    def read(name: str) -> DeclaredDevices:
        """Reads a shipped profile, or one in a file.  Raises Refused: E704, E705."""
        file, text = profile_text(name)
        return DeclaredDevices(read_profile(file, text), Places.of(file, text))

    def matched(self, members: Sequence[ClusterMember]) -> dict[str, ClusterMember]:
        """The workers by the names of their devices, in the profile's order.

        Raises Refused E705 with all mismatches: a device that is no processor or has no worker; a `worker` that does not exist,
        or that two devices name."""
        problems, wanted = Problems(self.places), dict[str, tuple[str, str]]()
        for at, device in enumerate(device for device in self.profile.devices if device.backend != STORE):
            path, names = f"device[{at}]", instances(device)[1 if device.home else 0 :]
            if device.backend != CPU:
                problems.add(f"{path}.backend", f"`{device.name}` is for {device.backend}, and workers are processors")
            chosen = device.reserved.get("worker", [])
            listed = [one for one in (chosen if isinstance(chosen, list) else [chosen]) if isinstance(one, str)]
            if "worker" in device.reserved and len(listed) != len(names):
                count = "no worker, as home is this process" if not names else f"{len(names)} workers, one for each device"
                problems.add(f"{path}.worker", f"`{device.name}` has {count}, and this names {len(listed)}")
            padded = [*listed, *[""] * len(names)]
            wanted |= {name: (path, padded[number]) for number, name in enumerate(names)}
        problems.stop()
        matched = dict(self._matches(wanted, members, problems))
        problems.stop()
        return {name: matched[name] for name in wanted}

    def _matches(
        self, wanted: Mapping[str, tuple[str, str]], members: Sequence[ClusterMember], problems: Problems
    ) -> Iterator[tuple[str, ClusterMember]]:  # fmt: skip
        """Yields devices with their workers, first the devices that name one."""
        left, there = list(members), ", ".join(member.label for member in members[:8]) + ", …" * (len(members) > 8)
        for name, (path, worker) in wanted.items():
            if worker:
                called = ((one.name, one.address, one.address.partition("://")[2]) for one in members)
                chosen = next((one for one, names in zip(members, called, strict=True) if worker in names), None)
                if chosen is None:
                    problems.add(f"{path}.worker", f'no worker is "{worker}"', f"the workers are {there}")
                elif chosen not in left:
                    problems.add(f"{path}.worker", f'"{worker}" is another device already')
                else:
                    left.remove(chosen)
                    yield name, chosen
        unnamed = [(name, path) for name, (path, worker) in wanted.items() if not worker]
        yield from ((name, member) for (name, _), member in zip(unnamed, left, strict=False))
        if len(unnamed) > len(left):
            name, path = unnamed[len(left)]
            wants = f"it has {len(wanted)} devices beside home, and the cluster has {len(members)} workers"
            problems.add(path, f"`{name}` has no worker: {wants}", f"the workers are {there}")


def profile_of_members(
    declared: Profile, matched: Mapping[str, ClusterMember], tables: Mapping[str, Tables] = NO_TABLES
) -> Profile:  # fmt: skip
    """The declared profile, restricted to devices whose workers exist and to the memory that these have, with the drift of the
    last runs; a group of equal devices gets the figures of its weakest member."""
    devices = []
    for device in declared.devices:
        if device.backend == STORE:
            devices.append(device)
            continue
        members = [matched[name] for name in instances(device) if name in matched]
        count = len(members) + device.home
        if count:
            granted = min((member.memory for member in members if member.memory is not None), default=None)
            addresses = [*([HERE] if device.home else []), *(member.address for member in members)]
            drift = min(tables[address].drift if address in tables else Fraction(1) for address in addresses)
            devices.append(_within(replace(device, count=count).slower(drift), granted))
    return declared.restricted(devices)


def _within(device: DeviceProfile, granted: int | None) -> DeviceProfile:
    """The device with at most as much memory for plans as a worker with `granted` bytes has."""
    usable = None if granted is None else int(granted * (1 - RESERVE))
    if usable is None or (device.memory is not None and device.memory <= usable):
        return device
    return replace(device, memory_bytes=granted, memory_reserve=RESERVE)


def require_fitting_workers(plan: ExecutionPlan, profile: Profile, matched: Mapping[str, ClusterMember], where: str) -> None:
    """Raises Refused unless the workers can run a stored plan: SCH104 if a device has no worker, E702 if one has too little
    memory."""
    for one in plan.devices:
        if one.backend not in ("cpu", "store"):
            message = f"device {one.id} of the plan is for {one.backend}, and workers are processors"
            raise Refused([Diagnostic(Code.SCH104, message, Span(where, 0, 0), notes=("plan again for these workers",))])
    order = dict(zip(worker_devices(plan), matched, strict=False))
    peaks = dict(plan.main.peak)
    for device in worker_devices(plan):
        name = device if device in matched else order.get(device)
        if name is None:
            message = f"device {device} of the plan has no worker: the cluster has {len(matched)}"
            raise Refused([Diagnostic(Code.SCH104, message, Span(where, 0, 0), notes=("start more workers, or plan for these",))])
        stem = profile.device(name)
        allowed = None if stem is None else stem.memory
        need = next((count for one, count in peaks.items() if one == device), 0)
        if allowed is not None and need > allowed:
            message = f"the plan needs {bytes_text(need)} on {device}, and its worker has {bytes_text(allowed)} for it"
            raise Refused([Diagnostic(Code.E702, message, Span(where, 0, 0), notes=("plan again for these workers",))])


def worker_devices(plan: ExecutionPlan) -> list[DeviceId]:
    """The devices of a plan that are workers."""
    at_home = plan.home, *stores_of(plan)
    return [device.id for device in plan.devices if device.id not in at_home]
