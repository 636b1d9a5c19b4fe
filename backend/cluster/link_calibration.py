"""Links of a cluster, measured.

Home probes one worker of each machine; that worker probes another one of its machine, and one of the next machine.  The slowest
figure between two machines holds for all pairs of machines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import Final

from ...lang.support.records import dataclass, replace
from ..calibration.calibrate import pace
from ..devices.cost_functions import Duplex
from ..devices.profile import STORE, BackendKind, Calibration, CostTable, DeviceProfile, LinkProfile, Profile
from ..devices.profile_toml import read_profile
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
    """A worker that home reaches does not reach another one."""


def measure(workers: Sequence[Worker]) -> Measured:
    """Measure the links between home and the machines of the workers.  Raises Lost: a worker does not answer; Unreachable."""
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
    """The times that a worker measures to another."""
    (facts,) = worker.every.ask([worker], MessageKind.MEASURE, {"to": other.member.door})
    if "words" in facts:
        words = f"it cannot reach {other.member.address}: {facts['words']}"
        try:
            link_table(other.member.door, other.every.context, other.process)
        except Lost as lost:  # home does not reach it either
            raise Lost(lost.process, f"{lost.words}; worker {worker.process}: {words}") from None
        raise Unreachable(worker.process, words)
    return rising(facts["ns"])


# ---------------------------------------------------------------------------------------------------- profile
#
# The members of a cluster as a profile: home, and every worker as a device.
#
# Links have measured figures (`calibrate`).  If a worker did not answer, they have declared ones: of a loopback if both ends are
# on one machine, else of ten-gigabit Ethernet.  Workers have tables of their own (`describe`).  Files that all processes see
# (`seeing`) are a store, with a link to each device whose figures are measured reads.

RESERVE: Final = Fraction(2, 5)
"""Of a worker's memory: Dask begins to spill at .6 of it."""
SYNC_NS: Final = 60_000
_LATENCY: Final = {True: 60_000, False: 120_000}
_RATE: Final = {True: 2_000_000_000, False: 1_100_000_000}
FILES: Final = "files"
"""The store that a cluster has."""
_OPENED: Final = 30_000
"""Nanoseconds in which a file is opened, and asked whether it is the same."""
_READ: Final = CostTable((8 << 20,), (8_000_000,))
_SIZES: Final = (4096, 1 << 20, 64 << 20)


def threads_of(members: Sequence[ClusterMember], member: ClusterMember) -> int:
    """The threads of a worker: the cores of its machine that it may use, each divided by the workers that may."""
    machine = [one for one in members if one.machine == member.machine]
    if not all(one.cpus for one in machine):
        return max(1, member.cores // len(machine))
    users = Counter(cpu for one in machine for cpu in one.cpus)
    return max(1, min(member.cores, int(sum(Fraction(1, users[cpu]) for cpu in member.cpus))))


@dataclass(frozen=True, slots=True)
class Tables:
    """The cost tables of a process: its calibration, with the device that has them; `pace`: how many times longer everything
    takes at present."""

    calibration: Calibration
    device: DeviceProfile
    pace: Fraction = Fraction(1)


NO_TABLES: Final[Mapping[str, Tables]] = MappingProxyType({})


def describe(workers: Sequence[Worker], local: Profile) -> dict[str, Tables]:
    """The tables of home (`HERE`) and of each worker, by address, as they say themselves.  Lost.

    Who shares its processors with all others, as local workers do, is as quick as they are.  Only others measure how quick they
    are at present: all workers at once, then home."""
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
        tables[worker.member.address] = Tables(profile.calibration, profile.home, Fraction(*said["pace"]))
    home = replace(local.home, threads=1) if any(one.is_here for one in members) else local.home
    tables[HERE] = Tables(local.calibration, local.home, pace(home, PACED_NS) if len(alike) > 1 else Fraction(1))
    return tables


def profile_of(
    local: Profile, members: Sequence[ClusterMember], measured: Measured | None = None, tables: Mapping[str, Tables] = NO_TABLES
) -> Profile:  # fmt: skip
    """The profile of home and its workers.  `tables`: by address, those that differ from `local`'s."""
    here = any(member.is_here for member in members)
    usual = Tables(local.calibration, local.home)
    home = replace(_at_present(tables.get(HERE, usual)), name="home", kind="home", node="home", home=True, sync_ns=SYNC_NS)
    if here:
        home = replace(home, threads=1)  # its cores are the workers'
    devices = [home]
    machines = [*dict.fromkeys(member.machine for member in members)]
    for member in members:
        node, threads = f"n{machines.index(member.machine)}", threads_of(members, member)
        devices.append(replace(
            _at_present(tables.get(member.address, usual)), name=member.name, kind="worker", node=node, threads=threads,
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
    return tables.device.slower(tables.pace)


def _together(calibrations: Sequence[Calibration]) -> Calibration:
    """What holds for all: calibrated when the oldest was, and as far off as the farthest."""
    dates = [one.calibrated for one in calibrations]
    return replace(
        calibrations[0], calibrated=None if None in dates else min(date for date in dates if date is not None),
        residual_p10=max(one.residual_p10 for one in calibrations), residual_p90=max(one.residual_p90 for one in calibrations),
    )  # fmt: skip


def with_store(
    profile: Profile, paths: Sequence[str], reading: Mapping[str, CostTable], members: Mapping[str, ClusterMember]
) -> Profile:  # fmt: skip
    """The profile with a store for these files, which every device reads by itself.  `members`: by the names of their devices."""
    store = DeviceProfile(FILES, STORE, BackendKind.STORE, "", paths=tuple(paths))
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
