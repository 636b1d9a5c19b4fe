"""Devices as data: what a machine (or a wished-for one) has, and how long operations take on it.

A `Profile` is what a `device-profile/1` file says (`reading`, `writing`), what `machine` finds out about this machine, and
what calibration measures.  `cost` has the ticks of phases.

Note [Classes].  A problem looks up ticks by the class of a device.  Where two devices of one class have different tables
(two unequal GPUs) each gets the class `gpu/gpu0`: the part before the stroke is what `place z on gpu` speaks of.

Note [Stores].  A store is a device that computes nothing: files lie there, and its links say how quickly who reads them.  What is
read by several at a time at no cost to each other has links without a group.

Note [Fingerprint].  The sha256 of the canonical text without the date: two profiles with one fingerprint give the same plans.

Neighbours: `keys` (names of tables), `backend.schedule.machines` (the devices of a problem).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from fractions import Fraction
from typing import Final

from .tables import Table
from .ticks import Duplex

SCHEMA: Final = "device-profile/1"
STORE: Final = "store"
"""The class of stores."""


class Source(Enum):
    """Where power figures come from: stated, or an energy counter."""

    DECLARED = "declared"
    RAPL = "rapl"
    NVML = "nvml"


class Backend(Enum):
    CPU = "cpu"
    CUDA = "cuda"
    DASK = "dask"
    REFERENCE = "reference"
    NULL = "null"
    STORE = "store"


@dataclass(frozen=True, slots=True)
class Power:
    idle_mw: int
    active_mw: int
    source: Source = Source.DECLARED


@dataclass(frozen=True, slots=True)
class Roofline:
    """What stands in for tables that are not there: operations and bytes a second, at most."""

    flops: int
    bandwidth: int


@dataclass(frozen=True, slots=True)
class DeviceProfile:
    """`count` equal devices.  `memory_bytes` of each (None: no limit), of which the share `memory_reserve` is not for plans.

    Times in ns: `launch_ns` a kernel, `host_dispatch_ns` the first execution of a step (finding or making its kernel), `sync_ns`
    a wait for another queue, `alloc_ns` an allocation.  `ops` by the names of `keys`.  `reserved`: fields that later versions
    give a meaning, kept as they are.  `paths`: files, and folders of files, that lie in a store."""

    name: str
    kind: str
    backend: Backend = Backend.CPU
    node: str = "n0"
    count: int = 1
    threads: int = 1
    memory_bytes: int | None = None
    memory_reserve: Fraction = Fraction(0)
    home: bool = False
    launch_ns: int = 0
    sync_ns: int = 0
    host_dispatch_ns: int = 0
    alloc_ns: int = 0
    power: Power | None = None
    roofline: Roofline | None = None
    ops: Mapping[str, Table] = field(default_factory=dict)
    reserved: Mapping[str, object] = field(default_factory=dict)
    paths: tuple[str, ...] = ()

    @property
    def memory(self) -> int | None:
        """Bytes that plans may use on each instance."""
        return None if self.memory_bytes is None else int(self.memory_bytes * (1 - self.memory_reserve))

    def same_times(self, other: DeviceProfile) -> bool:
        """Does every phase take as long on the other?"""
        own = (self.backend, self.launch_ns, self.host_dispatch_ns, self.alloc_ns, self.roofline, self.ops)
        return own == (other.backend, other.launch_ns, other.host_dispatch_ns, other.alloc_ns, other.roofline, other.ops)


@dataclass(frozen=True, slots=True)
class LinkProfile:
    """Between devices (or groups of them) by name.  `table`: bytes to ns, the latency included; None: no limit of rate."""

    source: str
    target: str
    latency_ns: int = 0
    table: Table | None = None
    duplex: Duplex = Duplex.HALF
    group: str | None = None
    energy_pj_per_byte: Fraction = Fraction(0)

    @property
    def bytes_per_ns(self) -> Fraction | None:
        """The rate of the largest transfer that the table knows, as a fraction that is quick to count with."""
        if self.table is None:
            return None
        rate = Fraction(self.table.size[-1], max(1, self.table.ns[-1] - self.latency_ns))
        return rate.limit_denominator(10_000) or rate


@dataclass(frozen=True, slots=True)
class Calibration:
    """How the figures were found.  `calibrated` None: declared.  Residuals are shares: with 0.1 and 0.19, nine in ten measured
    times were at least 0.9 and nine in ten at most 1.19 of what the tables say.  `unusable`: why a stored calibration of this
machine is not used."""

    calibrated: date | None = None
    residual_p10: Fraction = Fraction(1, 2)
    residual_p90: Fraction = Fraction(1, 2)
    facts: Mapping[str, str | int] = field(default_factory=dict)
    unusable: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Profile:
    """Invariants (`reading` checks them, makers keep them): names differ, exactly one device has `home` (its first instance
    is home), links join devices that exist, stores come last and have a link to home."""

    devices: tuple[DeviceProfile, ...]
    links: tuple[LinkProfile, ...] = ()
    power_off_unused: bool = False
    calibration: Calibration = Calibration()

    @property
    def home(self) -> DeviceProfile:
        return next(device for device in self.devices if device.home)

    def device(self, name: str) -> DeviceProfile | None:
        """The device of a group, by its name or that of an instance (`node[3]`)."""
        stem = name.partition("[")[0]
        return next((device for device in self.devices if device.name in (name, stem)), None)

    @property
    def has_stores(self) -> bool:
        return any(device.backend is Backend.STORE for device in self.devices)

    def store_of(self, path: str) -> str | None:
        """The store in which a file lies, by its real path: the one that names it, or the nearest folder around it."""
        found = [
            (len(own), device.name) for device in self.devices for own in device.paths
            if path == own or path.startswith(own.rstrip("/") + "/")
        ]  # fmt: skip
        return max(found)[1] if found else None

    def class_of(self, device: DeviceProfile) -> str:
        """See Note [Classes]; a store is like no other."""
        if device.backend is Backend.STORE:
            return f"{device.kind}/{device.name}"
        alike = [other for other in self.devices if other.kind == device.kind]
        return device.kind if all(device.same_times(other) for other in alike) else f"{device.kind}/{device.name}"
