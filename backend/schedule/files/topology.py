"""The devices and links of an instance: read from it, from a file named by `--devices`, or N equal processors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias

from ...devices.fields import Fields, shown
from ..problem import DeviceGroup, Duplex, Link

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


def topology_of(fields: Fields, *, required: bool = True) -> Topology:
    """The lists `devices` and `links` of an instance, or of a file that has only these."""
    if required and "devices" not in fields.values:
        fields.missing("devices")
    groups = tuple(_group(each) for each in fields.tables("devices", MOST_GROUPS))
    total = sum(group.count for group in groups)
    if total > MOST_DEVICES:
        fields.trouble("devices", f"{total} devices in all; at most {MOST_DEVICES} are read")
    return Topology(groups, tuple(_link(each, f"link{at}") for at, each in enumerate(fields.tables("links", MOST_LINKS))))


def _group(of: Fields) -> DeviceGroup:
    id = of.name("id")
    group = DeviceGroup(
        id, of.name("class", id), of.number("count", 1, 1), of.whole("mem", None), of.switch("home"), of.number("sync", 0),
        of.number("idle_mw", 0), of.number("active_mw", 0),
    )  # fmt: skip
    of.finish()
    return group


def _link(of: Fields, id: str) -> Link:
    link = Link(
        of.name("id", id), of.name("src"), of.name("dst"), of.number("latency", 0), _ratio(of, "bytes_per_tick", 1),
        of.choice("duplex", Duplex, Duplex.HALF), of.name("group", "") or None, _ratio(of, "nj_per_byte", 0) or Fraction(0),
    )  # fmt: skip
    of.finish()
    return link


def _ratio(of: Fields, name: str, least: int) -> Fraction | None:
    """`[numerator, denominator]`, or a whole number."""
    if not isinstance(of.values.get(name), list):
        found = of.whole(name, None, least)
        return None if found is None else Fraction(found)
    parts = of.numbers(name) or (1, 1)
    if len(parts) != 2 or parts[0] < least or parts[1] < 1:
        of.trouble(name, f"must be [numerator, denominator] of at least {least} and 1, not {shown(list(parts))}")
        return None
    return Fraction(*parts)
