"""`instance/1` JSON: an abstract problem as data.  docs/instances.md is its description, docs/instance-1.schema.json its schema.

Decoding gives a `Problem` with ids resolved; `require_valid` checks global invariants (cycles, duplicates, home).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Final, TypeAlias, TypeVar

from ....lang.diagnostics.model import Code
from ....lang.primitives.table import nearest
from ....lang.support.bounded_parsing import TooManyValues, limit_values, parse_natural
from ....lang.support.files import Pipes, read_text
from ....lang.support.records import dataclass, replace
from ...codegen.gpu_targets import LEAST_ROW, dialect_of
from ...devices.cost_functions import Duplex, Ticks
from ...devices.profile import LinkProfile, Profile
from ...devices.profile_toml import Fields, Places, Problems, is_whole, shown
from ...devices.this_machine import load_profile
from ..problem import SCHEMA, Combine, Contention, DeviceGroup, Edge, Link, PhaseIndex, PhaseTask, Problem
from .directive_resolution import resolve_texts

# ---------------------------------------------------------------------------------------------------- JSON values
#
# The value of a JSON text, and the collected errors of an instance of any format.

LARGEST: Final = (1 << 53) - 1
"""The largest number in a file: the largest integer that JSON readers of other languages keep exactly."""
MOST_CHARACTERS: Final = 64 << 20
MOST_VALUES: Final = 1 << 23


def problems_of(file: str) -> Problems:
    """Returns an empty list of problems of a file."""
    return Problems(Places(file, "", {}), LARGEST, "an object")


def load_json(text: str, problems: Problems) -> object:
    """Returns the value of a JSON text without repeated names, NaN or excessive depth.  Raises Refused (E705)."""
    if len(text) > MOST_CHARACTERS:
        problems.fail("", f"the file has {len(text)} characters; at most {MOST_CHARACTERS} are read")

    def without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
        mapping = dict(pairs)
        if len(mapping) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            problems.add("", f"an object says `{twice}` twice")
        return mapping

    def constant(word: str) -> object:
        problems.add("", f"{word} is not a number of JSON")
        return 0

    value: object = None
    try:
        limit_values(text, MOST_VALUES)
        value = json.loads(text, object_pairs_hook=without_repeats, parse_constant=constant)
    except json.JSONDecodeError as error:
        problems.add(f"line {error.lineno}, column {error.colno}", f"not JSON: {error.msg}")
    except RecursionError:
        problems.add("", "the lists and objects are nested too deeply")
    except TooManyValues as error:
        problems.add("", f"it holds {error}")
    except ValueError:
        problems.add("", "a number has too many digits")
    problems.stop()
    return value


# ---------------------------------------------------------------------------------------------------- topology
#
# The devices and links of an instance: its own, those of a file named by `--devices`, or N equal processors.

MOST_GROUPS: Final = 10_000
MOST_DEVICES: Final = 1_000_000
MOST_LINKS: Final = 100_000
PROCESSOR: Final = "processor"
"""The device class in formats that have no classes."""


@dataclass(frozen=True, slots=True)
class Topology:
    devices: tuple[DeviceGroup, ...]
    links: tuple[Link, ...] = ()


Devices: TypeAlias = int | Callable[[int], Topology]
"""The value of `--devices`: a number of equal devices, or a function from nanoseconds per tick to a file's devices."""


def equal_processors(count: int, kind: str = PROCESSOR) -> Topology:
    """Returns processors `p[0]`… of one class, fully connected by default links."""
    return Topology((DeviceGroup("p", kind, count, home=True),))


def topology_of(fields: Fields, *, required: bool = True) -> Topology:
    """Returns the lists `devices` and `links` of an instance, or of a file with only these."""
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
        id, of.name("class", id), of.number("count", 1, 1), of.integer("mem", None), of.switch("home"), of.number("sync", 0),
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
    """Returns a ratio written `[numerator, denominator]` or as an integer."""
    if not isinstance(of.values.get(name), list):
        number = of.integer(name, None, least)
        return None if number is None else Fraction(number)
    parts = of.numbers(name) or (1, 1)
    if len(parts) != 2 or parts[0] < least or parts[1] < 1:
        of.trouble(name, f"must be [numerator, denominator] of at least {least} and 1, not {shown(list(parts))}")
        return None
    return Fraction(*parts)


# ---------------------------------------------------------------------------------------------------- checks
#
# The invariants of `Problem` that every planner relies on, for problems of any origin.
#
# Paths are those of `instance/1`.

Id = TypeVar("Id", bound=Hashable)


def require_valid(problem: Problem, problems: Problems) -> None:
    """Raise Refused (E705, SCH201) with all violations in `problem`, in order of its fields."""
    for part in (_devices, _links, _phases, _edges, _cycle):
        part(problem, problems)
    problems.stop()


def first_duplicate(ids: Sequence[Id]) -> tuple[int, int] | None:
    """Returns the positions (first, second) of the first id that occurs twice; None if all are unique."""
    seen: dict[Id, int] = {}
    for index, id in enumerate(ids):
        if id in seen:
            return seen[id], index
        seen[id] = index
    return None


def _devices(problem: Problem, problems: Problems) -> None:
    if not problem.devices:
        problems.add("devices", "there is no device")
        return
    twice = first_duplicate([group.id for group in problem.devices])
    if twice is not None:
        id = problem.devices[twice[1]].id
        problems.add(f"devices[{twice[1]}].id", f"`{id}` is the id of devices[{twice[0]}] too")
    elif first_duplicate(problem.device_names()) is not None:
        problems.add("devices", "an id is the same as the name of an instance of another group")
    homes = [index for index, group in enumerate(problem.devices) if group.home]
    if not homes:
        problems.add("devices", "no device is home; one must say `home`: true, where inputs are and printing happens")
    elif len(homes) > 1:
        problems.add(f"devices[{homes[1]}].home", f"devices[{homes[0]}] is home already; only one can be")
    for at, group in enumerate(problem.devices):
        if group.count < 1:
            problems.add(f"devices[{at}].count", "must be at least 1")


def _links(problem: Problem, problems: Problems) -> None:
    known = {group.id for group in problem.devices} | set(problem.device_names())
    for index, link in enumerate(problem.links):
        for field, name in (("src", link.source), ("dst", link.target)):
            if name not in known:
                problems.add(f"links[{index}].{field}", f"there is no device `{name}`{_suggestion(name, known)}")
        if link.source == link.target and not any(g.id == link.source and g.count > 1 for g in problem.devices):
            problems.add(f"links[{index}]", f"joins `{link.source}` to itself")
        if link.bytes_per_tick is not None and link.bytes_per_tick <= 0:
            problems.add(f"links[{index}].bytes_per_tick", "must be above 0")
    repeated = first_duplicate([f"`{link.source}` to `{link.target}`" for link in problem.links])
    if repeated is not None:
        one = problem.links[repeated[1]]
        problems.add(f"links[{repeated[1]}]", f"leads from `{one.source}` to `{one.target}`, as links[{repeated[0]}] does")
    twice = first_duplicate([link.id for link in problem.links])
    if twice is not None:
        problems.add(f"links[{twice[1]}].id", f"`{problem.links[twice[1]].id}` is the id of links[{twice[0]}] too")


def _suggestion(name: str, known: set[str]) -> str:
    guess = nearest(name, sorted(known)) if len(known) <= 1000 else None
    return f"; did you mean `{guess}`?" if guess else ""


def _phases(problem: Problem, problems: Problems) -> None:
    twice = first_duplicate([phase.id for phase in problem.phases])
    if twice is not None:
        id = problem.phases[twice[1]].id
        problems.add(f"phases[{twice[1]}].id", f"`{id}` is the id of phases[{twice[0]}] too", code=Code.SCH201)
    kinds = {group.kind for group in problem.devices}
    for index, phase in enumerate(problem.phases):
        path = f"phases[{index}]"
        if not phase.ticks:
            problems.add(f"{path}.ticks", "no class of device can run it")
        elif not kinds & phase.ticks.keys():
            named = ", ".join(f"`{kind}`" for kind in sorted(phase.ticks))
            meant = _suggestion(min(phase.ticks), kinds)
            problems.add(f"{path}.ticks", f"no device is of a class it speaks of: {named}{meant}")
        for kind, ticks in phase.ticks.items():
            _table(f"{path}.ticks.{kind}", ticks, phase.rows, problems)
        if phase.combine is not None and phase.rows == 0:
            problems.add(f"{path}.combine", "needs `rows`: an atomic phase has no partial results to combine")
        if phase.home and phase.ticks and problem.devices and any(g.home and g.kind not in phase.ticks for g in problem.devices):
            problems.add(f"{path}.home", "must run on home, and has no ticks for home's class")
        for name in ("rows", "out_bytes", "scratch", "ready"):
            if getattr(phase, name) < 0:
                problems.add(f"{path}.{name}", "must be at least 0")


def _table(path: str, ticks: Ticks, rows: int, problems: Problems) -> None:
    points = ticks.points
    if not points:
        problems.add(path, "a table needs at least one point")
    elif rows == 0 and (len(points) > 1 or points[0][0] != 1):
        problems.add(path, "an atomic phase (no `rows`) takes one number of ticks, not a table")
    elif len(points) == 1 and points[0][0] < 1:
        problems.add(path, "a single point needs at least one row")
    elif negative := [ticks for _, ticks in points if ticks < 0]:
        problems.add(path, f"ticks must be at least 0, not {negative[0]}")
    for (low, first), (high, last) in pairwise(points if rows else ()):
        if high <= low:
            problems.add(path, f"rows must increase: {high} comes after {low}")
        elif last < first:
            problems.add(path, f"ticks must not decrease: {high} rows take {last}, and {low} rows take {first}")


def _edges(problem: Problem, problems: Problems) -> None:
    count = len(problem.phases)
    for index, edge in enumerate(problem.edges):
        if not (0 <= edge.source < count and 0 <= edge.target < count):
            problems.add(f"edges[{index}]", "speaks of a phase that is not there")
        elif edge.ticks is not None and problem.links and problem.contention is Contention.GROUP:
            message = 'a delay needs a problem without links, or `"contention": "off"`; say `bytes` instead'
            problems.add(f"edges[{index}].ticks", message)
        if edge.halo and not problem.phases[edge.source].rows:
            problems.add(f"edges[{index}].halo", f"`{problem.phases[edge.source].id}` has no rows")
    twice = first_duplicate([(edge.source, edge.target) for edge in problem.edges])
    if twice is not None:
        problems.add(f"edges[{twice[1]}]", f"the same as edges[{twice[0]}]; one edge carries everything")


def _cycle(problem: Problem, problems: Problems) -> None:
    count = len(problem.phases)
    followers: list[list[int]] = [[] for _ in range(count)]
    waiting = [0] * count
    for edge in problem.edges:
        if 0 <= edge.source < count and 0 <= edge.target < count:
            followers[edge.source].append(edge.target)
            waiting[edge.target] += 1
    free = [phase for phase in range(count) if waiting[phase] == 0]
    for phase in free:
        for other in followers[phase]:
            waiting[other] -= 1
            if waiting[other] == 0:
                free.append(other)
    if len(free) == count:
        return
    stuck = {phase for phase in range(count) if waiting[phase] > 0}
    back: dict[int, int] = {edge.target: edge.source for edge in problem.edges if edge.source in stuck and edge.target in stuck}
    trail: list[int] = [min(stuck)]
    while trail[-1] not in trail[:-1]:
        trail.append(back[trail[-1]])
    circle = trail[trail.index(trail[-1]) :][::-1]
    names = " → ".join(problem.phases[phase].id for phase in circle)
    problems.add("edges", f"the phases wait for each other: {names}")


# ---------------------------------------------------------------------------------------------------- decoding

MOST_PHASES: Final = 100_000
MOST_EDGES: Final = 1_000_000
MOST_DIRECTIVES: Final = 10_000
MOST_POINTS: Final = 10_000


def decode(value: object, problems: Problems, devices: Devices | None = None) -> Problem:
    """Returns the problem of a JSON value; `devices` replaces its devices (a number: as many of its only class).

    Raises Refused (E705, SCH201), and Rejected with SCH codes for directives that cannot be resolved.
    """
    root = problems.root_fields(value)
    if root.take("schema") != SCHEMA:
        root.trouble("schema", f'must be "{SCHEMA}"')
    if "phases" not in root.values:
        root.missing("phases")
    tick_ns = root.number("tick_ns", 1, 1)
    stated = topology_of(root, required=devices is None)
    contention = root.choice("contention", Contention, Contention.GROUP)
    grain, power_off = root.number("memory_grain", 1, 1), root.switch("power_off_unused")
    chunks, edges = root.number("chunks", 1, 1), root.tables("edges", MOST_EDGES)
    directives, objectives = root.texts("directives", MOST_DIRECTIVES), root.texts("objective", MOST_GROUPS)
    phases = tuple(map(_phase, root.tables("phases", MOST_PHASES)))
    root.finish()
    problems.stop()
    twice = first_duplicate([phase.id for phase in phases])
    if twice is not None:
        path, first = f"phases[{twice[1]}].id", f"phases[{twice[0]}]"
        problems.add(path, f"`{phases[twice[1]].id}` is the id of {first} too", code=Code.SCH201)
    names = _InstanceNames({phase.id: PhaseIndex(index) for index, phase in enumerate(phases)})
    topology = stated if devices is None else _topology(devices, tick_ns, phases, problems)
    problem = Problem(
        topology.devices, topology.links, phases, tuple(map(names.edge, edges)), contention=contention, tick_ns=tick_ns,
        memory_grain=grain, power_off_unused=power_off, chunks=chunks,
    )  # fmt: skip
    problems.stop()
    require_valid(problem, problems)
    resolved = resolve_texts(problem, directives, objectives)
    return replace(problem, directives=resolved.directives, objectives=resolved.objectives)


def _topology(devices: Devices, tick_ns: int, phases: tuple[PhaseTask, ...], problems: Problems) -> Topology:
    """Returns the topology that `devices` describes."""
    kinds = sorted({kind for phase in phases for kind in phase.ticks})
    if not isinstance(devices, int):
        return _of_classes(devices(tick_ns), set(kinds))
    if len(kinds) > 1:
        classes = ", ".join(kinds)
        problems.add("phases", f"--devices {devices} is that many equal devices, and ticks are of the classes {classes}")
    return equal_processors(devices, *kinds[:1])


def _of_classes(topology: Topology, kinds: set[str]) -> Topology:
    """Rename a profile's class `gpu/gpu0` to `gpu` if the instance uses only that."""
    groups = [
        replace(group, kind=group.kind.partition("/")[0]) if group.kind not in kinds and group.kind.partition("/")[0] in kinds
        else group
        for group in topology.devices
    ]  # fmt: skip
    return Topology(tuple(groups), topology.links)


def _phase(of: Fields) -> PhaseTask:
    rows, effect, combine = of.number("rows", 0), of.switch("effect"), of.table("combine")
    if "ticks" not in of.values:
        of.missing("ticks")
    ticks = of.table("ticks")
    task = PhaseTask(
        of.name("id"), {} if ticks is None else {kind: _ticks(ticks, kind, rows) for kind in tuple(ticks.values)}, rows,
        None if combine is None else _combine(combine), of.number("out_bytes", 0), of.number("scratch", 0), of.switch("inplace"),
        of.switch("home") or effect, of.number("ready", 0), effect,
    )  # fmt: skip
    of.finish()
    return task


def _ticks(of: Fields, kind: str, rows: int) -> Ticks:
    """Returns the tick table of a phase: a number is the ticks of the whole phase, a list holds points (rows, ticks)."""
    if not isinstance(of.values[kind], list):
        return Ticks(((max(1, rows), of.number(kind)),))
    points: list[tuple[int, int]] = []
    for path, pair in of.items(kind, MOST_POINTS):
        match pair:
            case [size, ticks] if is_whole(size, LARGEST) and is_whole(ticks, LARGEST):
                points.append((size, ticks))
            case _:
                of.problems.add(path, f"must be [rows, ticks], whole numbers from 0, not {shown(pair)}")
    if not points:
        of.trouble(kind, "a table needs at least one point [rows, ticks]")
    return Ticks(tuple(points or [(1, 0)]))


def _combine(of: Fields) -> Combine:
    combine = Combine(of.number("ticks_per_shard"), of.number("bytes", 0))
    of.finish()
    return combine


@dataclass(frozen=True, slots=True)
class _InstanceNames:
    """Resolves ids of phases in edges, selects and directives."""

    places: Mapping[str, PhaseIndex]

    def edge(self, of: Fields) -> Edge:
        if of.values.keys() >= {"bytes", "ticks"}:
            of.problems.add(of.path, "says both `bytes` and `ticks`: bytes take a link, ticks are a delay; give one")
        edge = Edge(
            self.phase(of, "from"), self.phase(of, "to"), of.integer("bytes", None), of.integer("ticks", None),
            of.switch("whole"),
            of.number("halo", 0),
        )  # fmt: skip
        of.finish()
        return edge

    def phase(self, of: Fields, name: str) -> PhaseIndex:
        id = of.text(name)
        return self.known(of, name, id) if id else PhaseIndex(0)

    def known(self, of: Fields, name: str, id: str) -> PhaseIndex:
        if id not in self.places:
            guess = nearest(id, self.places) if len(self.places) <= 1000 else None
            of.trouble(name, f"there is no phase {shown(id)}" + (f"; did you mean `{guess}`?" if guess else ""))
        return self.places.get(id, PhaseIndex(0))


# ---------------------------------------------------------------------------------------------------- devices of a profile
#
# The devices and links of a profile as those of a problem.

def to_devices(profile: Profile, tick_ns: int = 1) -> tuple[tuple[DeviceGroup, ...], tuple[Link, ...]]:
    """Returns the devices and links of a problem whose ticks take `tick_ns`; times are rounded up."""
    groups = tuple(
        DeviceGroup(
            device.name, profile.class_of(device), device.count, device.memory, device.home, -(-device.sync_ns // tick_ns),
            0 if device.power is None else device.power.idle_mw, 0 if device.power is None else device.power.active_mw,
        )
        for device in profile.devices
    )  # fmt: skip
    links = tuple(
        Link(
            f"link{index}", link.source, link.target, -(-link.latency_ns // tick_ns),
            None if link.bytes_per_ns is None else link.bytes_per_ns * tick_ns, link.duplex, link.group,
            link.energy_pj_per_byte / 1000, _least_row(profile, link),
        )
        for index, link in enumerate(profile.links)
    )  # fmt: skip
    return groups, links


def _least_row(profile: Profile, link: LinkProfile) -> int | None:
    """That of cards, whose drivers copy between them and their node; others pack, as networks send what is contiguous."""
    ends = [device for end in (link.source, link.target) if (device := profile.device(end)) is not None]
    has_card = any(dialect_of(device.backend) is not None for device in ends)
    return LEAST_ROW if has_card and len({device.node for device in ends}) == 1 else None


# ---------------------------------------------------------------------------------------------------- files of devices
#
# The option `--devices` of an instance: a number of equal processors, a shipped profile, or a file.
#
# A file is a device profile (TOML), or JSON with the `devices` and `links` of an instance.

def requested_devices(said: str) -> Devices:
    """Returns the devices that the option names.  Raises Refused (E704, E705)."""
    problems = problems_of("--devices")
    if said.isascii() and said.isdigit():
        number = parse_natural(said, MOST_DEVICES)
        if number:
            return number
        problems.fail("", f"{said[:20]} is not a number of devices from 1 to {MOST_DEVICES}")
    if said.endswith(".json"):
        problems = problems_of(said)
        try:
            text = read_text(said, MOST_CHARACTERS, Pipes.READ)
        except (OSError, ValueError) as error:
            problems.fail("", f"cannot be read: {getattr(error, 'strerror', None) or 'it is not UTF-8 text'}")
        topology = topology_of(problems.root_fields(load_json(text, problems)))  # other fields of an instance are ignored
        problems.stop()
        return lambda _: topology
    profile = load_profile(said)
    return lambda tick_ns: Topology(*to_devices(profile, tick_ns))
