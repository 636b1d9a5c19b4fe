"""Reads `device-profile/1`: TOML text to a `Profile`, or every problem of the file at once.

Refused (E705): text that is not TOML, another schema, missing or unknown fields, values out of range, tables whose sizes do
not grow, names that clash, links without ends, no home.  Reserved fields are kept unread.

Home is the device that says `home = true`; if none does, the first of the back end `cpu`.

Neighbours: `fields` (one field at a time), `writing` (the other way), `shipped` (which files there are).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Final

from ...lang.codes import Code
from ...lang.diagnostics import Diagnostic, Refused
from ...lang.primitives import nearest
from ...lang.source import Span
from . import keys
from .fields import Fields, Places, Problems, shown
from .profile import SCHEMA, STORE, Backend, Calibration, DeviceProfile, LinkProfile, Power, Profile, Roofline, Source
from .tables import Table
from .ticks import Duplex

RESERVED: Final = ("memory_levels", "numa", "queues", "worker", "plugin")
_COMPUTING: Final = tuple(backend for backend in Backend if backend is not Backend.STORE)
MOST_DEVICES: Final = 10_000_000
MOST_DOTS: Final = 100
_DOTTED: Final = re.compile(r"[\w\"'-]\.")
_BETWEEN_KEYS: Final = re.compile(r"[\s,=\[\]{}]")
LARGEST_PROFILE: Final = 4 << 20
"""Bytes."""
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_INSTANCE: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*)\[([0-9]{1,9})\]")
_AT_LINE: Final = re.compile(r"\(at (?:line (\d+), column (\d+)|end of document)\)")


def read_profile(file: str, text: str) -> Profile:
    """The profile that a text says; `file` is its name in messages.  Refused: E705, all problems together."""
    places = Places.of(file, text)
    problems = Problems(places)
    if any(len(_DOTTED.findall(part)) > MOST_DOTS for part in _BETWEEN_KEYS.split(text)):
        raise Refused([_not_toml(file, text, ValueError(f"a name has more than {MOST_DOTS} parts"))])
    try:
        values = tomllib.loads(text, parse_float=Decimal)
    except (tomllib.TOMLDecodeError, ValueError, RecursionError) as error:
        raise Refused([_not_toml(file, text, error)]) from None
    return profile_of(values, problems)


def profile_of(values: Mapping[str, object], problems: Problems) -> Profile:
    """The profile that a file's values say.  Refused: E705, all problems together."""
    top = Fields("", dict(values), problems)
    schema = top.text("schema", SCHEMA if "schema" in values else None)
    if schema and schema != SCHEMA:
        problems.fail("schema", f'"{schema}" is not a schema this version reads', f'it reads "{SCHEMA}"')
    power_off = top.switch("power_off_unused")
    devices = [_device(fields) for fields in top.tables("device")]
    devices += [_store(fields) for fields in top.tables("store")]
    links = [_link(fields) for fields in top.tables("link")]
    calibration = _calibration(top.table("fingerprint"))
    top.finish()
    if all(device.backend is Backend.STORE for device in devices):
        problems.add("", "a profile has at least one [[device]]")
    devices = _with_home(devices, problems)
    _check_names(devices, links, problems)
    problems.stop()
    return Profile(tuple(devices), tuple(links), power_off, calibration)


def _not_toml(file: str, text: str, error: Exception) -> Diagnostic:
    message = str(error) if not isinstance(error, RecursionError) else "nested too deeply"
    start = 0
    if (found := _AT_LINE.search(message)) is not None:
        lines = text.splitlines(keepends=True)
        start = sum(map(len, lines[: int(found[1]) - 1])) + int(found[2]) - 1 if found[1] else len(text)
        message = message[: found.start()].strip()
    start = min(start, len(text))
    return Diagnostic(Code.E705, f"this is not TOML: {message}", Span(file, start, min(start + 1, len(text))))


def _name(fields: Fields, field: str) -> str:
    name = fields.text(field)
    if name and not _NAME.fullmatch(name):
        fields.trouble(field, f"must be letters, digits, `_` and `-`, and begin with a letter, not {shown(name)}")
    return name


def _store(fields: Fields) -> DeviceProfile:
    name, paths = _name(fields, "name"), fields.take("paths")
    if paths is None:
        fields.missing("paths")
        paths = []
    if not isinstance(paths, list) or not all(isinstance(path, str) and path.startswith("/") for path in paths):
        fields.trouble("paths", f"must be a list of absolute paths, not {shown(paths)}")
        paths = []
    fields.finish()
    return DeviceProfile(name, STORE, Backend.STORE, "", paths=tuple(paths))


def _device(fields: Fields) -> DeviceProfile:
    name, kind = _name(fields, "name"), _name(fields, "class")
    count = fields.number("count", 1, 1)
    if count > MOST_DEVICES:
        fields.trouble("count", f"must be at most {MOST_DEVICES:,}, not {count:,}")
    device = DeviceProfile(
        name, kind, fields.choice("backend", _COMPUTING, Backend.CPU), fields.text("node", "n0"), count,
        fields.number("threads", 1, 1), fields.whole("memory_bytes", None, 1),
        fields.fraction("memory_reserve", Fraction(0), below=1), fields.switch("home"), fields.number("launch_ns", 0),
        fields.number("sync_ns", 0), fields.number("host_dispatch_ns", 0), fields.number("alloc_ns", 0),
        _power(fields.table("power")), _roofline(fields.table("roofline")), _operations(fields.table("op")), _reserved(fields),
    )  # fmt: skip
    fields.finish()
    return device


def _reserved(fields: Fields) -> dict[str, object]:
    kept: dict[str, object] = {}
    for name in RESERVED:
        value = fields.take(name)
        if value is None:
            continue
        if _plain(value):
            kept[name] = value
        else:
            fields.trouble(name, "may hold texts, numbers, lists and tables only")
    return kept


def _plain(value: object) -> bool:
    match value:
        case str() | int():
            return True
        case Decimal():
            exponent = value.as_tuple().exponent
            return value.is_finite() and isinstance(exponent, int) and exponent >= -9
        case list():
            return all(map(_plain, value))
        case dict():
            return all(map(_plain, value.values()))
        case _:
            return False


def _power(fields: Fields | None) -> Power | None:
    if fields is None:
        return None
    for name in ("idle_w", "active_w"):
        if name not in fields.values:
            fields.missing(name)
    idle, active = fields.fraction("idle_w", Fraction(0)), fields.fraction("active_w", Fraction(0))
    for name, value in (("idle_w", idle), ("active_w", active)):
        if (value * 1000).denominator != 1:
            fields.trouble(name, "must be a whole number of milliwatts")
    power = Power(int(idle * 1000), int(active * 1000), fields.choice("source", Source, Source.DECLARED))
    fields.finish()
    return power


def _roofline(fields: Fields | None) -> Roofline | None:
    if fields is None:
        return None
    roof = Roofline(fields.number("flops", least=1), fields.number("bandwidth", least=1))
    fields.finish()
    return roof


def _operations(fields: Fields | None) -> dict[str, Table]:
    if fields is None:
        return {}
    made: dict[str, Table] = {}
    for name in tuple(fields.values):
        inner = fields.table(name)
        if not keys.is_key(name):
            guess = keys.nearest_key(name)
            fields.trouble(
                name,
                "no operation of this name is known" + (f"; did you mean `{guess}`?" if guess else ""),
                "names are an operation, a dot and an element type: `add.f64`; `rho devices --json` lists some",
            )
            continue
        if inner is None:
            continue
        table = _table(inner, required=True)
        inner.finish()
        if table is not None:
            made[name] = table
    return made


def _table(fields: Fields, *, required: bool) -> Table | None:
    for name in ("size", "ns"):
        if name not in fields.values and (required or {"size", "ns"} & fields.values.keys()):
            fields.missing(name)
    size, ns = fields.numbers("size"), fields.numbers("ns")
    if size is None or ns is None:
        return None
    if len(size) != len(ns):
        fields.trouble("ns", f"has {len(ns)} entries, and `size` has {len(size)}")
        return None
    if size[0] < 1 or any(a >= b for a, b in pairwise(size)):
        fields.trouble("size", f"must be positive and grow from entry to entry: {shown(list(size))}")
        return None
    return Table(size, ns)


def _link(fields: Fields) -> LinkProfile:
    link = LinkProfile(
        fields.text("from"), fields.text("to"), fields.number("latency_ns", 0), _table(fields, required=False),
        fields.choice("duplex", Duplex, Duplex.HALF), fields.text("group", "-"),
        fields.fraction("energy_pj_per_byte", Fraction(0)),
    )  # fmt: skip
    if link.table is not None and link.table.ns[-1] < link.latency_ns:
        fields.trouble("ns", f"includes the latency, so {link.table.ns[-1]} is too little: latency_ns is {link.latency_ns}")
    fields.finish()
    return link if link.group != "-" else replace(link, group=None)


def _calibration(fields: Fields | None) -> Calibration:
    if fields is None:
        return Calibration()
    when = fields.take("calibrated")
    if when is not None and (not isinstance(when, date) or isinstance(when, datetime)):
        fields.trouble("calibrated", f"must be a date such as 2026-11-21, not {shown(when)}")
        when = None
    half = Fraction(1, 2)
    high = fields.fraction("residual_p90", half)
    low = fields.fraction("residual_p10", min(high, half), below=1)
    facts: dict[str, str | int] = {}
    for name, value in fields.values.items():
        if isinstance(value, str | int) and not isinstance(value, bool):
            facts[name] = value
        else:
            fields.trouble(name, f"must be a text or a whole number, not {shown(value)}")
    return Calibration(when if isinstance(when, date) else None, low, high, facts)


def _with_home(devices: list[DeviceProfile], problems: Problems) -> list[DeviceProfile]:
    said = [place for place, device in enumerate(devices) if device.home]
    if not said:
        first = next((place for place, device in enumerate(devices) if device.backend is Backend.CPU), None)
        if first is None:
            if devices:
                problems.add("", 'no device is home: one needs `home = true` or `backend = "cpu"`')
            return devices
        said = [first]
        devices = [*devices[:first], replace(devices[first], home=True), *devices[first + 1 :]]
    for place in said[1:]:
        problems.add(f"device[{place}].home", f"`{devices[said[0]].name}` is home already")
    return devices


def _check_names(devices: list[DeviceProfile], links: list[LinkProfile], problems: Problems) -> None:
    seen: dict[str, str] = {}
    stores = sum(device.backend is Backend.STORE for device in devices)
    first = len(devices) - stores
    for number, device in enumerate(devices):
        path = f"device[{number}]" if number < first else f"store[{number - first}]"
        if not device.name:
            continue
        if device.name in seen:
            problems.add(f"{path}.name", f"`{device.name}` is the name of {seen[device.name]} already")
        seen.setdefault(device.name, path)
    counts = {device.name: device.count for device in devices if device.name}
    for place, link in enumerate(links):
        for name, end in (("from", link.source), ("to", link.target)):
            if end and not _exists(end, counts):
                guess = nearest(end, list(counts))
                meant = f"; did you mean `{guess}`?" if guess else ""
                problems.add(f"link[{place}].{name}", f"there is no device `{end}`{meant}")
        if link.group in counts:
            problems.add(f"link[{place}].group", f"`{link.group}` is the name of a device: queues are named after both")
    joined: dict[tuple[str, str], int] = {}
    for place, link in enumerate(links):
        if link.source == link.target and counts.get(link.source, 2) == 1:
            problems.add(f"link[{place}].to", f"`{link.target}` is one device, and the link's other end already")
        before = joined.setdefault((link.source, link.target), place)
        if before != place and link.source and link.target:
            problems.add(f"link[{place}].to", f"link[{before}] leads from `{link.source}` to `{link.target}` already")
    home = next((device.name for device in devices if device.home), None)
    for place, store in enumerate(devices[first:]):
        if links and home not in (None, store.name) and not {(store.name, home), (home, store.name)} & joined.keys():
            problems.add(f"store[{place}].name", f"no link joins `{store.name}` and `{home}`, which is home")


def _exists(end: str, counts: dict[str, int]) -> bool:
    """Is it a group, or an instance of one?"""
    if end in counts:
        return True
    found = _INSTANCE.fullmatch(end)
    return found is not None and 1 < counts.get(found[1], 0) > int(found[2])
