"""The canonical text of a profile: `device-profile/1` as TOML, one way to write each value.

Invariant: reading what is written gives an equal profile, and equal profiles are written alike (fields in a fixed order,
operations and reserved fields by name, fields at their defaults left out).

Neighbours: `reading` (the other way), `profile.fingerprint` (hashes this).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from hashlib import sha256

from .profile import SCHEMA, Backend, Calibration, DeviceProfile, LinkProfile, Power, Profile
from .tables import Table

_DEFAULTED = ("count", "threads", "memory_bytes", "memory_reserve", "home", "launch_ns", "sync_ns", "host_dispatch_ns",
              "alloc_ns")  # fmt: skip
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def canonical(profile: Profile) -> str:
    lines = [f"schema = {_value(SCHEMA)}"]
    if profile.power_off_unused:
        lines.append("power_off_unused = true")
    for device in profile.devices:
        lines += ["", *_device(device)]
    for link in profile.links:
        lines += ["", *_link(link)]
    if profile.calibration != Calibration():
        lines += ["", *_calibration(profile.calibration)]
    return "\n".join(lines) + "\n"


def _device(device: DeviceProfile) -> Iterable[str]:
    if device.backend is Backend.STORE:
        yield from ("[[store]]", f"name = {_value(device.name)}", f"paths = {_value(device.paths)}")
        return
    plain = DeviceProfile("", "")
    yield "[[device]]"
    yield f"name = {_value(device.name)}"
    yield f"class = {_value(device.kind)}"
    yield f"backend = {_value(device.backend.value)}"
    yield f"node = {_value(device.node)}"
    for name in _DEFAULTED:
        value = getattr(device, name)
        if value != getattr(plain, name):
            yield f"{name} = {_value(value)}"
    if device.power is not None:
        yield f"power = {_power(device.power)}"
    if device.roofline is not None:
        yield f"roofline = {{ flops = {device.roofline.flops}, bandwidth = {device.roofline.bandwidth} }}"
    for name in sorted(device.reserved):
        yield f"{name} = {_value(device.reserved[name])}"
    for name in sorted(device.ops):
        yield f"[device.op.{_key(name)}]"
        yield from _table(device.ops[name])


def _link(link: LinkProfile) -> Iterable[str]:
    yield "[[link]]"
    yield f"from = {_value(link.source)}"
    yield f"to = {_value(link.target)}"
    yield f"latency_ns = {link.latency_ns}"
    if link.table is not None:
        yield from _table(link.table)
    yield f"duplex = {_value(link.duplex.value)}"
    if link.group is not None:
        yield f"group = {_value(link.group)}"
    if link.energy_pj_per_byte:
        yield f"energy_pj_per_byte = {_value(link.energy_pj_per_byte)}"


def _calibration(calibration: Calibration) -> Iterable[str]:
    yield "[fingerprint]"
    if calibration.calibrated is not None:
        yield f"calibrated = {calibration.calibrated.isoformat()}"
    yield f"residual_p10 = {_value(calibration.residual_p10)}"
    yield f"residual_p90 = {_value(calibration.residual_p90)}"
    for name in sorted(calibration.facts):
        yield f"{_key(name)} = {_value(calibration.facts[name])}"


def _table(table: Table) -> tuple[str, str]:
    return f"size = {_value(table.size)}", f"ns = {_value(table.ns)}"


def _power(power: Power) -> str:
    idle, active = Fraction(power.idle_mw, 1000), Fraction(power.active_mw, 1000)
    return f"{{ idle_w = {_value(idle)}, active_w = {_value(active)}, source = {_value(power.source.value)} }}"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _value(name)


def _value(value: object) -> str:
    """One TOML value.  Fractions are decimals with at most nine places: what `reading` accepts has no more."""
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case Fraction():
            return _decimal(value)
        case Decimal():
            return _decimal(Fraction(value))
        case str():
            return '"' + "".join(_escaped(c) for c in value) + '"'
        case date():
            return value.isoformat()
        case Mapping():
            inside = ", ".join(f"{_key(str(k))} = {_value(value[k])}" for k in sorted(value))
            return f"{{ {inside} }}" if inside else "{}"
        case tuple() | list():
            return "[" + ", ".join(map(_value, value)) + "]"
        case _:
            raise TypeError(f"{type(value).__name__} has no place in a profile")


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    return character if character.isprintable() else f"\\U{ord(character):08x}"


def _decimal(value: Fraction) -> str:
    scaled = round(value * 10**9)
    whole, part = divmod(abs(scaled), 10**9)
    digits = f"{part:09}".rstrip("0") or "0"
    return f"{'-' if scaled < 0 else ''}{whole}.{digits}"


def fingerprint(profile: Profile) -> str:
    """See Note [Fingerprint] of `profile`."""
    dateless = replace(profile, calibration=replace(profile.calibration, calibrated=None))
    return sha256(canonical(dateless).encode()).hexdigest()
