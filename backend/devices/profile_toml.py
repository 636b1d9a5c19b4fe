"""Reads `device-profile/1`: TOML text to a `Profile`, or every problem of the file at once.

Raises Refused (E705) for text that is not TOML, another schema, missing or unknown fields, values out of range, tables whose
sizes do not grow, names that clash, links without ends, no home.  Reserved fields are kept unread.

Home is the device with `home = true`; by default the first device of the back end `cpu`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from hashlib import sha256
from itertools import pairwise
from typing import Final, NoReturn, TypeGuard, TypeVar

from ...lang.diagnostics.model import Code, Diagnostic, Refused
from ...lang.primitives.table import nearest
from ...lang.support.records import dataclass, field, replace
from ...lang.syntax.source import Source, Span
from . import profile
from .cost_functions import Duplex
from .profile import (
    CPU,
    SCHEMA,
    STORE,
    Calibration,
    CalibrationSource,
    CostTable,
    DeviceProfile,
    LinkProfile,
    Power,
    Profile,
    Roofline,
)

# ---------------------------------------------------------------------------------------------------- fields
#
# The fields of a TOML or JSON table are read one by one: every bad value becomes a diagnostic with its path, such as
# `phases[3].ticks`, and one run reports all of them.
#
# `tomllib` keeps no positions, so `Places` finds the line of a field again by its section and name (fields of an inline table
# have the table's line); a field that cannot be located gets the line of its section's header, or the file's first line.

Chosen = TypeVar("Chosen", bound=Enum)

LARGEST: Final = (1 << 63) - 1
MOST_PROBLEMS: Final = 20
PLACES: Final = 9
"""The most digits after the point of a number."""
_HEADER: Final = re.compile(r"\s*(\[\[?)\s*([^\]#]+?)\s*\]")
_FIELD: Final = re.compile(r"""\s*("[^"]*"|'[^']*'|[A-Za-z0-9_-]+)\s*(?:\.|=)""")


@dataclass(frozen=True, slots=True)
class Places:
    """Positions in a text: offsets of headers (`sections["device[1].op.add.f64"]`), and of the `fields` in each section."""

    file: str
    text: str
    spans: Mapping[str, tuple[int, int]]

    @staticmethod
    def of(file: str, text: str) -> Places:
        spans: dict[str, tuple[int, int]] = {}
        counts: dict[str, int] = {}
        section, start = "", 0
        for line in text.splitlines(keepends=True):
            span = (start + len(line) - len(line.lstrip()), start + len(line.rstrip()))
            if (header := _HEADER.match(line)) is not None:
                name = header[2].replace('"', "").replace("'", "").replace(" ", "")
                top, dot, rest = name.partition(".")
                if header[1] == "[[":
                    counts[top] = counts.get(top, -1) + 1
                section = f"{top}[{counts[top]}]{dot}{rest}" if top in counts else name
                spans.setdefault(section, span)
            elif (name_of := _FIELD.match(line)) is not None:
                key = name_of[1].strip("\"'")
                spans.setdefault(f"{section}.{key}" if section else key, span)
            start += len(line)
        return Places(file, text, spans)

    @property
    def sources(self) -> dict[str, Source]:
        """The text, by its name in messages."""
        return {self.file: Source(self.file, self.text)}

    def span(self, path: str) -> Span:
        """Returns the span of the line that contains `path`, or of the nearest enclosing section."""
        while path:
            if path in self.spans:
                return Span(self.file, *self.spans[path])
            path = path.rpartition(".")[0]
        return Span(self.file, 0, max(1, len(self.text.partition("\n")[0])) if self.text else 0)


@dataclass(slots=True)
class Problems:
    """The problems of a file so far.  `largest`: the largest allowed integer; `record`: the word for its tables in messages."""

    places: Places
    largest: int = LARGEST
    record: str = "a table"
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def add(self, path: str, message: str, *notes: str, code: Code = Code.E705) -> None:
        """Adds a problem; raises Refused if there are very many."""
        self.diagnostics.append(Diagnostic(code, f"{path}: {message}" if path else message, self.places.span(path), notes=notes))
        if len(self.diagnostics) >= MOST_PROBLEMS:
            self.stop()

    def fail(self, path: str, message: str, *notes: str) -> NoReturn:
        """Raises Refused with this and all earlier problems."""
        self.add(path, message, *notes)
        raise Refused(self._in_order(), self.places.sources)

    def stop(self) -> None:
        """Raises Refused with all problems in file order, if there are any."""
        if self.diagnostics:
            raise Refused(self._in_order(), self.places.sources)

    def _in_order(self) -> list[Diagnostic]:
        return sorted(self.diagnostics, key=lambda diagnostic: diagnostic.span.start)

    def root_fields(self, value: object) -> Fields:
        """Returns the fields of a file.  Raises Refused if its value is no table."""
        fields = self.fields(value)
        self.stop()
        assert fields is not None
        return fields

    def fields(self, value: object, path: str = "") -> Fields | None:
        """Returns the fields of a table; None, with a problem, if the value is no table."""
        if isinstance(value, dict):
            return Fields(path, dict(value), self)
        self.add(path, f"must be {self.record}, not {shown(value)}")
        return None


_FORMER: Final = ("dask", "reference", "null")
"""Back ends in older profiles, all of which were processors."""


@dataclass(slots=True)
class Fields:
    """The fields of the table at `path`.  Each reader method consumes one field; `finish` reports the unknown fields, which no
    method consumed."""

    path: str
    values: dict[str, object]
    problems: Problems
    known: list[str] = field(default_factory=list)

    def take(self, name: str) -> object | None:
        self.known.append(name)
        return self.values.pop(name, None)

    def at(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path else name

    def trouble(self, name: str, message: str, *notes: str) -> None:
        self.problems.add(self.at(name), message, *notes)

    def missing(self, name: str) -> None:
        self.problems.add(self.path, f"`{name}` is missing")

    def text(self, name: str, default: str | None = None) -> str:
        value = self.take(name)
        if value is None:
            if default is None:
                self.missing(name)
            return default or ""
        if not isinstance(value, str) or not value:
            self.trouble(name, f"must be a text, not {shown(value)}")
            return default or ""
        return value

    def name(self, name: str, default: str | None = None) -> str:
        """Returns a text that is valid as a name in messages and directives."""
        value = self.text(name, default)
        if value != value.strip() or not value.isprintable():
            self.trouble(name, f"must be visible characters without spaces around them, not {shown(value)}")
        return value

    def integer(self, name: str, default: int | None, least: int = 0) -> int | None:
        value = self.take(name)
        if value is None:
            return default
        largest = self.problems.largest
        if not is_whole(value, largest, least):
            most = f" to {largest}" if isinstance(value, int) and value > largest else ""
            self.trouble(name, f"must be a whole number from {least}{most}, not {shown(value)}")
            return default
        return value

    def number(self, name: str, default: int | None = None, least: int = 0) -> int:
        if default is None and name not in self.values:
            self.missing(name)
        number = self.integer(name, default, least)
        return default or least if number is None else number

    def switch(self, name: str, default: bool = False) -> bool:
        value = self.take(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            self.trouble(name, f"must be true or false, not {shown(value)}")
            return False
        return value

    def fraction(self, name: str, default: Fraction, below: int | None = None) -> Fraction:
        """Returns a number in [0, `below`) with at most nine decimals."""
        value = self.take(name)
        if value is None:
            return default
        good = isinstance(value, int | Decimal) and not isinstance(value, bool)
        if good and isinstance(value, Decimal):
            exponent = value.as_tuple().exponent
            good = value.is_finite() and isinstance(exponent, int) and exponent >= -PLACES and value.adjusted() < 19
        if not good or not isinstance(value, int | Decimal) or value < 0:
            self.trouble(name, f"must be a number from 0 with at most {PLACES} decimal places, not {shown(value)}")
            return default
        if below is not None and value >= below:
            self.trouble(name, f"must be below {below}, not {shown(value)}")
            return default
        return Fraction(value)

    def choice(self, name: str, kinds: Iterable[Chosen], default: Chosen) -> Chosen:
        value = self.take(name)
        if value is None:
            return default
        choices = {kind.value: kind for kind in kinds}
        if isinstance(value, str) and value in choices:
            return choices[value]
        guess = nearest(value, list(choices)) if isinstance(value, str) else None
        meant = f"; did you mean `{guess}`?" if guess else ""
        self.trouble(name, f"must be one of {', '.join(map(str, choices))}, not {shown(value)}{meant}")
        return default

    def numbers(self, name: str) -> tuple[int, ...] | None:
        """Returns a list of integers; None if the field is absent or something else."""
        value = self.take(name)
        if value is None:
            return None
        if not isinstance(value, list) or not value or not all(is_whole(item, self.problems.largest) for item in value):
            self.trouble(name, f"must be a list of at least one whole number from 0, not {shown(value)}")
            return None
        return tuple(value)

    def items(self, name: str, most: int) -> list[tuple[str, object]]:
        """Returns the (path, value) of each item of a list, at most `most`."""
        value = self.take(name)
        if value is None:
            return []
        if not isinstance(value, list):
            self.trouble(name, f"must be a list (of tables in TOML: `[[{name}]]`), not {shown(value)}")
            return []
        if len(value) > most:
            self.trouble(name, f"has {len(value)} elements; at most {most} are read")
            return []
        return [(f"{self.at(name)}[{index}]", item) for index, item in enumerate(value)]

    def texts(self, name: str, most: int) -> list[str]:
        texts: list[str] = []
        for path, item in self.items(name, most):
            if isinstance(item, str):
                texts.append(item)
            else:
                self.problems.add(path, f"must be a text, not {shown(item)}")
        return texts

    def table(self, name: str) -> Fields | None:
        value = self.take(name)
        return None if value is None else self.problems.fields(value, self.at(name))

    def tables(self, name: str, most: int = LARGEST) -> list[Fields]:
        """Returns the fields of each table of a list (`[[name]]`); the caller calls `finish` for each."""
        tables = (self.problems.fields(item, path) for path, item in self.items(name, most))
        return [fields for fields in tables if fields is not None]

    def finish(self) -> None:
        for name in self.values:
            guess = nearest(name, self.known)
            self.trouble(name, "unknown field" + (f"; did you mean `{guess}`?" if guess else ""),
                         f"known here: {', '.join(sorted(self.known))}")  # fmt: skip


def is_whole(value: object, largest: int, least: int = 0) -> TypeGuard[int]:
    """Returns whether a value is an integer in the range."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= largest


def shown(value: object) -> str:
    """Returns a value as messages show it: short, and in TOML's notation if it is simple."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value if len(value) <= 40 else value[:37] + "..."}"'
    if isinstance(value, Sequence):
        return f"[{', '.join(map(shown, value[:4]))}{', …' if len(value) > 4 else ''}]"
    if isinstance(value, Mapping):
        return "a table"
    text = str(value)
    return text if len(text) <= 40 else text[:37] + "..."


# ---------------------------------------------------------------------------------------------------- reading

RESERVED: Final = ("memory_levels", "numa", "queues", "worker", "plugin")
MOST_DEVICES: Final = 10_000_000
MOST_DOTS: Final = 100
_DOTTED: Final = re.compile(r"[\w\"'-]\.")
_BETWEEN_KEYS: Final = re.compile(r"[\s,=\[\]{}]")
LARGEST_PROFILE: Final = 4 << 20
"""The most bytes of a profile."""
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_INSTANCE: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*)\[([0-9]{1,9})\]")
_AT_LINE: Final = re.compile(r"\(at (?:line (\d+), column (\d+)|end of document)\)")


def read_profile(file: str, text: str) -> Profile:
    """Returns the profile in a text; `file`: its name in messages.  Raises Refused (E705) with all problems."""
    places = Places.of(file, text)
    problems = Problems(places)
    if any(len(_DOTTED.findall(part)) > MOST_DOTS for part in _BETWEEN_KEYS.split(text)):
        raise Refused([_not_toml(file, text, ValueError(f"a name has more than {MOST_DOTS} parts"))], places.sources)
    try:
        values = tomllib.loads(text, parse_float=Decimal)
    except (tomllib.TOMLDecodeError, ValueError, RecursionError) as error:
        raise Refused([_not_toml(file, text, error)], places.sources) from None
    return profile_of(values, problems)


def profile_of(values: Mapping[str, object], problems: Problems) -> Profile:
    """Returns the profile in a file's values.  Raises Refused (E705) with all problems."""
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
    if all(device.backend == STORE for device in devices):
        problems.add("", "a profile has at least one [[device]]")
    devices = _with_home(devices, problems)
    _check_names(devices, links, problems)
    problems.stop()
    return Profile(tuple(devices), tuple(links), power_off, calibration)


def _not_toml(file: str, text: str, error: Exception) -> Diagnostic:
    message = str(error) if not isinstance(error, RecursionError) else "nested too deeply"
    start = 0
    if (location := _AT_LINE.search(message)) is not None:
        lines = text.splitlines(keepends=True)
        start = sum(map(len, lines[: int(location[1]) - 1])) + int(location[2]) - 1 if location[1] else len(text)
        message = message[: location.start()].strip()
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
    return DeviceProfile(name, STORE, STORE, "", paths=tuple(paths))


def _back_end(fields: Fields) -> str:
    value = fields.text("backend", CPU)
    if value == CPU:
        return value
    from ..codegen.gpu_targets import DIALECTS, dialect_of, vendors

    if dialect_of(value) is not None:
        return value
    known = (CPU, *DIALECTS, *vendors().kinds)
    guess, broken = nearest(value, known), vendors().broken.get(value)
    meant = f"; did you mean `{guess}`?" if guess else ""
    meant = "; processors are `cpu`" if value in _FORMER else f"; {broken}" if broken else meant
    fields.trouble("backend", f"must be one of {', '.join(known)}, not {shown(value)}{meant}")
    return CPU


def _device(fields: Fields) -> DeviceProfile:
    name, kind = _name(fields, "name"), _name(fields, "class")
    count = fields.number("count", 1, 1)
    if count > MOST_DEVICES:
        fields.trouble("count", f"must be at most {MOST_DEVICES:,}, not {count:,}")
    device = DeviceProfile(
        name, kind, _back_end(fields), fields.text("node", "n0"), count,
        fields.number("threads", 1, 1), fields.integer("memory_bytes", None, 1),
        fields.fraction("memory_reserve", Fraction(0), below=1), fields.switch("home"), fields.number("launch_ns", 0),
        fields.number("sync_ns", 0), fields.number("host_dispatch_ns", 0), fields.number("alloc_ns", 0),
        _power(fields.table("power")), _roofline(fields.table("roofline")), _operations(fields.table("op")), _reserved(fields),
        lacks=_lacks(fields),
    )  # fmt: skip
    fields.finish()
    return device


def _lacks(fields: Fields) -> tuple[str, ...]:
    names = fields.take("lacks")
    if names is None:
        return ()
    from ..codegen.gpu_targets import EXTENSIONS

    if not isinstance(names, list) or not {one for one in names if isinstance(one, str)} == {*names} <= {*EXTENSIONS}:
        fields.trouble("lacks", f"must be a list of some of {', '.join(EXTENSIONS)}, not {shown(names)}")
        return ()
    return tuple(name for name in EXTENSIONS if name in names)


def _reserved(fields: Fields) -> dict[str, object]:
    options: dict[str, object] = {}
    for name in RESERVED:
        value = fields.take(name)
        if value is None:
            continue
        if _plain(value):
            options[name] = value
        else:
            fields.trouble(name, "may hold texts, numbers, lists and tables only")
    return options


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
    power = Power(int(idle * 1000), int(active * 1000), fields.choice("source", CalibrationSource, CalibrationSource.DECLARED))
    fields.finish()
    return power


def _roofline(fields: Fields | None) -> Roofline | None:
    if fields is None:
        return None
    roof = Roofline(fields.number("flops", least=1), fields.number("bandwidth", least=1))
    fields.finish()
    return roof


def _operations(fields: Fields | None) -> dict[str, CostTable]:
    if fields is None:
        return {}
    tables: dict[str, CostTable] = {}
    for name in tuple(fields.values):
        inner = fields.table(name)
        if not profile.is_key(name):
            guess = profile.nearest_key(name)
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
            tables[name] = table
    return tables


def _table(fields: Fields, *, required: bool) -> CostTable | None:
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
    return CostTable(size, ns)


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
    said = [index for index, device in enumerate(devices) if device.home]
    if not said:
        first = next((index for index, device in enumerate(devices) if device.backend == CPU), None)
        if first is None:
            if devices:
                problems.add("", 'no device is home: one needs `home = true` or `backend = "cpu"`')
            return devices
        said = [first]
        devices = [*devices[:first], replace(devices[first], home=True), *devices[first + 1 :]]
    for index in said[1:]:
        problems.add(f"device[{index}].home", f"`{devices[said[0]].name}` is home already")
    return devices


def _check_names(devices: list[DeviceProfile], links: list[LinkProfile], problems: Problems) -> None:
    seen: dict[str, str] = {}
    stores = sum(device.backend == STORE for device in devices)
    first = len(devices) - stores
    for number, device in enumerate(devices):
        path = f"device[{number}]" if number < first else f"store[{number - first}]"
        if not device.name:
            continue
        if device.name in seen:
            problems.add(f"{path}.name", f"`{device.name}` is the name of {seen[device.name]} already")
        seen.setdefault(device.name, path)
    counts = {device.name: device.count for device in devices if device.name}
    for index, link in enumerate(links):
        for name, end in (("from", link.source), ("to", link.target)):
            if end and not _exists(end, counts):
                guess = nearest(end, list(counts))
                meant = f"; did you mean `{guess}`?" if guess else ""
                problems.add(f"link[{index}].{name}", f"there is no device `{end}`{meant}")
        if link.group in counts:
            problems.add(f"link[{index}].group", f"`{link.group}` is the name of a device: queues are named after both")
    joined: dict[tuple[str, str], int] = {}
    for index, link in enumerate(links):
        if link.source == link.target and counts.get(link.source, 2) == 1:
            problems.add(f"link[{index}].to", f"`{link.target}` is one device, and the link's other end already")
        before = joined.setdefault((link.source, link.target), index)
        if before != index and link.source and link.target:
            problems.add(f"link[{index}].to", f"link[{before}] leads from `{link.source}` to `{link.target}` already")
    home = next((device.name for device in devices if device.home), None)
    for index, store in enumerate(devices[first:]):
        if links and home not in (None, store.name) and not {(store.name, home), (home, store.name)} & joined.keys():
            problems.add(f"store[{index}].name", f"no link joins `{store.name}` and `{home}`, which is home")


def _exists(end: str, counts: dict[str, int]) -> bool:
    """Returns whether a link's end is a group, or an instance of one."""
    if end in counts:
        return True
    instance = _INSTANCE.fullmatch(end)
    return instance is not None and 1 < counts.get(instance[1], 0) > int(instance[2])


# ---------------------------------------------------------------------------------------------------- writing
#
# The canonical text of a profile: `device-profile/1` as TOML, one way to write each value.
#
# Invariant: reading the text gives an equal profile, and equal profiles have equal texts (fields in a fixed order, operations and
# reserved fields by name, fields with default values omitted).

_DEFAULTED = ("count", "threads", "memory_bytes", "memory_reserve", "home", "launch_ns", "sync_ns", "host_dispatch_ns",
              "alloc_ns")  # fmt: skip
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def canonical(profile: Profile) -> str:
    lines = [f"schema = {_value(SCHEMA)}"]
    if profile.power_off_unused:
        lines.append("power_off_unused = true")
    for device in profile.devices:
        lines += ["", *_device_toml(device)]
    for link in profile.links:
        lines += ["", *_link_toml(link)]
    if profile.calibration != Calibration():
        lines += ["", *_calibration_toml(profile.calibration)]
    return "\n".join(lines) + "\n"


def _device_toml(device: DeviceProfile) -> Iterable[str]:
    if device.backend == STORE:
        yield from ("[[store]]", f"name = {_value(device.name)}", f"paths = {_value(device.paths)}")
        return
    plain = DeviceProfile("", "")
    yield "[[device]]"
    yield f"name = {_value(device.name)}"
    yield f"class = {_value(device.kind)}"
    yield f"backend = {_value(device.backend)}"
    yield f"node = {_value(device.node)}"
    for name in _DEFAULTED:
        value = getattr(device, name)
        if value != getattr(plain, name):
            yield f"{name} = {_value(value)}"
    if device.power is not None:
        yield f"power = {_power_toml(device.power)}"
    if device.roofline is not None:
        yield f"roofline = {{ flops = {device.roofline.flops}, bandwidth = {device.roofline.bandwidth} }}"
    if device.lacks:
        yield f"lacks = {_value(device.lacks)}"
    for name in sorted(device.reserved):
        yield f"{name} = {_value(device.reserved[name])}"
    for name in sorted(device.ops):
        yield f"[device.op.{_key(name)}]"
        yield from _table_toml(device.ops[name])


def _link_toml(link: LinkProfile) -> Iterable[str]:
    yield "[[link]]"
    yield f"from = {_value(link.source)}"
    yield f"to = {_value(link.target)}"
    yield f"latency_ns = {link.latency_ns}"
    if link.table is not None:
        yield from _table_toml(link.table)
    yield f"duplex = {_value(link.duplex.value)}"
    if link.group is not None:
        yield f"group = {_value(link.group)}"
    if link.energy_pj_per_byte:
        yield f"energy_pj_per_byte = {_value(link.energy_pj_per_byte)}"


def _calibration_toml(calibration: Calibration) -> Iterable[str]:
    yield "[fingerprint]"
    if calibration.calibrated is not None:
        yield f"calibrated = {calibration.calibrated.isoformat()}"
    yield f"residual_p10 = {_value(calibration.residual_p10)}"
    yield f"residual_p90 = {_value(calibration.residual_p90)}"
    for name in sorted(calibration.facts):
        yield f"{_key(name)} = {_value(calibration.facts[name])}"


def _table_toml(table: CostTable) -> tuple[str, str]:
    return f"size = {_value(table.size)}", f"ns = {_value(table.ns)}"


def _power_toml(power: Power) -> str:
    idle, active = Fraction(power.idle_mw, 1000), Fraction(power.active_mw, 1000)
    return f"{{ idle_w = {_value(idle)}, active_w = {_value(active)}, source = {_value(power.source.value)} }}"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _value(name)


def _value(value: object) -> str:
    """Returns a TOML value.  Fractions are decimals with at most nine digits, as `Fields.fraction` accepts no more."""
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
    integer, part = divmod(abs(scaled), 10**9)
    digits = f"{part:09}".rstrip("0") or "0"
    return f"{'-' if scaled < 0 else ''}{integer}.{digits}"


def fingerprint(profile: Profile) -> str:
    """Returns a digest of a profile, see Note [Fingerprint] of `profile`."""
    dateless = replace(profile, calibration=replace(profile.calibration, calibrated=None))
    return sha256(canonical(dateless).encode()).hexdigest()
