"""The devices and links of a profile as a problem has them."""

from __future__ import annotations

from ..devices.profile import Profile
from .problem import DeviceGroup, Link


def to_devices(profile: Profile, tick_ns: int = 1) -> tuple[tuple[DeviceGroup, ...], tuple[Link, ...]]:
    """The devices and links of a problem whose ticks take `tick_ns`; times are rounded up."""
    groups = tuple(
        DeviceGroup(
            device.name, profile.class_of(device), device.count, device.memory, device.home, -(-device.sync_ns // tick_ns),
            0 if device.power is None else device.power.idle_mw, 0 if device.power is None else device.power.active_mw,
        )
        for device in profile.devices
    )  # fmt: skip
    links = tuple(
        Link(
            f"link{place}", link.source, link.target, -(-link.latency_ns // tick_ns),
            None if link.bytes_per_ns is None else link.bytes_per_ns * tick_ns, link.duplex, link.group,
            link.energy_pj_per_byte / 1000,
        )
        for place, link in enumerate(profile.links)
    )  # fmt: skip
    return groups, links
