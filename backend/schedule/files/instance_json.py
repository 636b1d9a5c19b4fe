"""`instance/1` JSON: an abstract problem as data.  docs/instances.md is its description, docs/instance-1.schema.json its schema.

Decoding gives a `Problem` whose ids are resolved; what concerns the whole (cycles, duplicates, home) is `validate`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from ....lang.codes import Code
from ....lang.primitives import nearest
from ...devices.fields import Fields, Problems, is_whole, shown
from ..problem import SCHEMA, Combine, Contention, Edge, PhaseIndex, PhaseTask, Problem, Select, Ticks
from .directives import resolve_texts
from .json_values import LARGEST
from .topology import MOST_GROUPS, Devices, Topology, equal_processors, topology_of
from .validate import first_duplicate, require_valid

MOST_PHASES: Final = 100_000
MOST_EDGES: Final = 1_000_000
MOST_DIRECTIVES: Final = 10_000
MOST_POINTS: Final = 10_000


def decode(value: object, problems: Problems, devices: Devices | None = None) -> Problem:
    """The problem of a JSON value; `devices` replaces those it has (a number: as many of its only class).

    Refused: E705, SCH201.  Directives that cannot be meant raise Rejected with their SCH codes."""
    whole = problems.whole(value)
    if whole.take("schema") != SCHEMA:
        whole.trouble("schema", f'must be "{SCHEMA}"')
    if "phases" not in whole.values:
        whole.missing("phases")
    tick_ns = whole.number("tick_ns", 1, 1)
    stated = topology_of(whole, required=devices is None)
    contention = whole.choice("contention", Contention, Contention.GROUP)
    grain, power_off = whole.number("memory_grain", 1, 1), whole.switch("power_off_unused")
    batches, chunks = whole.number("batches", 1, 1), whole.number("chunks", 1, 1)
    edges, selects = whole.tables("edges", MOST_EDGES), whole.tables("selects", MOST_DIRECTIVES)
    directives, objectives = whole.texts("directives", MOST_DIRECTIVES), whole.texts("objective", MOST_GROUPS)
    phases = tuple(map(_phase, whole.tables("phases", MOST_PHASES)))
    whole.finish()
    problems.stop()
    twice = first_duplicate([phase.id for phase in phases])
    if twice is not None:
        path, first = f"phases[{twice[1]}].id", f"phases[{twice[0]}]"
        problems.add(path, f"`{phases[twice[1]].id}` is the id of {first} too", code=Code.SCH201)
    names = _Names({phase.id: PhaseIndex(index) for index, phase in enumerate(phases)})
    topology = stated if devices is None else _topology(devices, tick_ns, phases, problems)
    problem = Problem(
        topology.devices, topology.links, phases, tuple(map(names.edge, edges)), contention=contention, tick_ns=tick_ns,
        memory_grain=grain, power_off_unused=power_off, batches=batches, chunks=chunks, selects=tuple(map(names.select, selects)),
    )  # fmt: skip
    problems.stop()
    require_valid(problem, problems)
    resolved = resolve_texts(problem, directives, objectives)
    return replace(problem, directives=resolved.directives, objectives=resolved.objectives)


def _topology(devices: Devices, tick_ns: int, phases: tuple[PhaseTask, ...], problems: Problems) -> Topology:
    """The devices that are given instead."""
    kinds = sorted({kind for phase in phases for kind in phase.ticks})
    if not isinstance(devices, int):
        return _of_classes(devices(tick_ns), set(kinds))
    if len(kinds) > 1:
        classes = ", ".join(kinds)
        problems.add("phases", f"--devices {devices} is that many equal devices, and ticks are of the classes {classes}")
    return equal_processors(devices, *kinds[:1])


def _of_classes(topology: Topology, kinds: set[str]) -> Topology:
    """A profile's class `gpu/gpu0` is the class `gpu` of an instance that speaks only of that."""
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
    """A number is the ticks of the whole phase; a list is points (rows, ticks)."""
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
    combine = Combine(of.number("ticks_per_shard"), of.switch("barrier", True), of.number("bytes", 0))
    of.finish()
    return combine


@dataclass(frozen=True, slots=True)
class _Names:
    """Phases by their ids, and what speaks of them."""

    places: Mapping[str, PhaseIndex]

    def edge(self, of: Fields) -> Edge:
        if of.values.keys() >= {"bytes", "ticks"}:
            of.problems.add(of.path, "says both `bytes` and `ticks`: bytes take a link, ticks are a delay; give one")
        edge = Edge(
            self.phase(of, "from"), self.phase(of, "to"), of.whole("bytes", None), of.whole("ticks", None), of.switch("whole"),
            of.number("halo", 0),
        )  # fmt: skip
        of.finish()
        return edge

    def select(self, of: Fields) -> Select:
        select = Select(self.phase(of, "phase"), self.phase(of, "condition"), self.arm(of, "then"), self.arm(of, "otherwise"))
        of.finish()
        return select

    def arm(self, of: Fields, name: str) -> tuple[PhaseIndex, ...]:
        return tuple(self.known(of, f"{name}[{at}]", id) for at, id in enumerate(of.texts(name, MOST_PHASES)))

    def phase(self, of: Fields, name: str) -> PhaseIndex:
        id = of.text(name)
        return self.known(of, name, id) if id else PhaseIndex(0)

    def known(self, of: Fields, name: str, id: str) -> PhaseIndex:
        if id not in self.places:
            guess = nearest(id, self.places) if len(self.places) <= 1000 else None
            of.trouble(name, f"there is no phase {shown(id)}" + (f"; did you mean `{guess}`?" if guess else ""))
        return self.places.get(id, PhaseIndex(0))
