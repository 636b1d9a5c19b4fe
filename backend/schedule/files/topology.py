"""The devices and links of an instance: read from it, from a file named by `--devices`, or N equal processors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias

from ..problem import DeviceGroup, Duplex, Link
from .fields import Faults, Field

MOST_GROUPS: Final = 10_000
MOST_DEVICES: Final = 1_000_000
MOST_LINKS: Final = 100_000
PROCESSOR: Final = "processor"
"""The class of the devices that formats without classes speak of."""


@dataclass(frozen=True, slots=True)
class Topology:
    devices: tuple[DeviceGroup, ...]
    links: tuple[Link, ...] = ()


Devices: TypeAlias = int | Callable[[int], Topology]
"""What `--devices` says: how many equal ones, or those of a file for ticks of so many nanoseconds."""


def equal_processors(count: int, kind: str = PROCESSOR) -> Topology:
    """`p[0]`…, all alike, each joined to each by links that nothing is said of."""
    return Topology((DeviceGroup("p", kind, count, home=True),))


def decode_topology(devices: Field, links: Field | None) -> Topology:
    """The lists `devices` and `links` of an instance."""
    groups = tuple(_group(each) for each in devices.elements(MOST_GROUPS))
    total = sum(group.count for group in groups)
    if total > MOST_DEVICES:
        devices.fault(f"{total} devices in all; at most {MOST_DEVICES} are read")
    found = [] if links is None else links.elements(MOST_LINKS)
    return Topology(groups, tuple(_link(each, f"link{place}") for place, each in enumerate(found)))


def _group(field: Field) -> DeviceGroup:
    at = field.members(("id",), ("class", "count", "mem", "home", "sync", "idle_mw", "active_mw"))
    id = at["id"].name() if "id" in at else ""

    def number(name: str, default: int, least: int = 0) -> int:
        return at[name].integer(least) if name in at else default

    return DeviceGroup(
        id, at["class"].name() if "class" in at else id, number("count", 1, 1),
        at["mem"].integer() if "mem" in at else None, "home" in at and at["home"].flag(),
        number("sync", 0), number("idle_mw", 0), number("active_mw", 0),
    )  # fmt: skip


def _link(field: Field, id: str) -> Link:
    at = field.members(("src", "dst"), ("id", "latency", "bytes_per_tick", "duplex", "group", "nj_per_byte"))
    duplexes = [duplex.value for duplex in Duplex]
    return Link(
        at["id"].name() if "id" in at else id,
        at["src"].name() if "src" in at else "",
        at["dst"].name() if "dst" in at else "",
        at["latency"].integer() if "latency" in at else 0,
        _ratio(at["bytes_per_tick"], 1) if "bytes_per_tick" in at else None,
        Duplex(at["duplex"].choice(duplexes)) if "duplex" in at else Duplex.HALF,
        at["group"].name() if "group" in at else None,
        _ratio(at["nj_per_byte"], 0) if "nj_per_byte" in at else Fraction(0),
    )


def _ratio(field: Field, least: int) -> Fraction:
    """`[numerator, denominator]`, or a whole number."""
    if not isinstance(field.value, list):
        return Fraction(field.integer(least))
    parts = field.elements(2)
    if len(parts) != 2:
        field.wrong("[numerator, denominator]")
        return Fraction(1)
    return Fraction(parts[0].integer(least), parts[1].integer(1))


def decode_devices_file(value: object, faults: Faults) -> Topology:
    """A file that has only `devices` and `links` (a whole instance will do: the rest of it is not looked at)."""
    whole = Field(value, "", faults)
    if isinstance(value, dict):
        whole = Field({name: part for name, part in value.items() if name in ("devices", "links")}, "", faults)
    at = whole.members(("devices",), ("links",))
    topology = decode_topology(at["devices"], at.get("links")) if "devices" in at else Topology(())
    faults.stop()
    return topology
