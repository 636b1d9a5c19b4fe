"""`instance/1` JSON: an abstract problem as data.  docs/instances.md is its description, docs/instance-1.schema.json its schema.

Decoding gives a `Problem` whose ids are resolved; what concerns the whole (cycles, duplicates, home) is `validate`'s.
`encode` writes a problem back, so that whoever finds one can hand it on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from ....lang.codes import Code
from ....lang.primitives import nearest
from ..problem import (
    SCHEMA,
    Combine,
    Contention,
    DeviceGroup,
    Duplex,
    Edge,
    Link,
    PhaseIndex,
    PhaseTask,
    Problem,
    Select,
    Ticks,
)
from .directives import resolve_texts
from .fields import Faults, Field, shown
from .topology import MOST_GROUPS, Devices, Topology, decode_topology
from .validate import first_duplicate, validate

MOST_PHASES: Final = 100_000
MOST_EDGES: Final = 1_000_000
MOST_DIRECTIVES: Final = 10_000
MOST_POINTS: Final = 10_000


def decode(value: object, faults: Faults, devices: Devices | None = None) -> Problem:
    """The problem of a JSON value; `devices` replaces those it has (a number: as many of its only class).

    Raises InstanceError; directives that cannot be meant raise Rejected with their SCH codes."""
    whole = Field(value, "", faults)
    at = whole.members(
        ("schema", "phases") if devices is not None else ("schema", "devices", "phases"),
        (*(("devices",) if devices is not None else ()), "tick_ns", "contention", "links", "edges", "directives", "objective",
         "selects", "memory_grain", "power_off_unused", "batches", "chunks"),
    )  # fmt: skip
    if "schema" in at and at["schema"].value != SCHEMA:
        at["schema"].wrong(f'"{SCHEMA}"')
    phases = tuple(_phase(each) for each in at["phases"].elements(MOST_PHASES)) if "phases" in at else ()
    faults.stop()
    topology = _topology(at, devices, phases)
    contention = Contention(at["contention"].choice([c.value for c in Contention])) if "contention" in at else Contention.GROUP
    twice = first_duplicate([phase.id for phase in phases])
    if twice is not None:
        faults.add(f"phases[{twice[1]}].id", f"`{phases[twice[1]].id}` is the id of phases[{twice[0]}] too", Code.SCH201)
    places = {phase.id: PhaseIndex(index) for index, phase in enumerate(phases)}
    edges = tuple(_edge(each, places) for each in at["edges"].elements(MOST_EDGES)) if "edges" in at else ()
    problem = Problem(
        topology.devices, topology.links, phases, edges,
        contention=contention,
        tick_ns=at["tick_ns"].integer(1) if "tick_ns" in at else 1,
        memory_grain=at["memory_grain"].integer(1) if "memory_grain" in at else 1,
        power_off_unused="power_off_unused" in at and at["power_off_unused"].flag(),
        batches=at["batches"].integer(1) if "batches" in at else 1,
        chunks=at["chunks"].integer(1) if "chunks" in at else 1,
        selects=tuple(_select(each, places) for each in at["selects"].elements(MOST_DIRECTIVES)) if "selects" in at else (),
    )  # fmt: skip
    faults.stop()
    for fault in validate(problem):
        faults.add(fault.path, fault.message, fault.code)
    directives = [each.text() for each in at["directives"].elements(MOST_DIRECTIVES)] if "directives" in at else []
    objectives = [each.text() for each in at["objective"].elements(MOST_GROUPS)] if "objective" in at else []
    faults.stop()
    resolved = resolve_texts(problem, directives, objectives)
    return replace(problem, directives=resolved.directives, objectives=resolved.objectives)


def _topology(at: Mapping[str, Field], devices: Devices | None, phases: tuple[PhaseTask, ...]) -> Topology:
    if devices is None:
        return decode_topology(at["devices"], at.get("links"))
    if not isinstance(devices, int):
        unit = at["tick_ns"].integer(1) if "tick_ns" in at else 1
        return _of_classes(devices(unit), {kind for phase in phases for kind in phase.ticks})
    kinds = sorted({kind for phase in phases for kind in phase.ticks})
    if len(kinds) > 1:
        at["phases"].fault(f"--devices {devices} is that many equal devices, and ticks are of the classes {', '.join(kinds)}")
    return Topology((DeviceGroup("p", kinds[0] if kinds else "processor", devices, home=True),))


def _of_classes(topology: Topology, kinds: set[str]) -> Topology:
    """A profile's class `gpu/gpu0` is the class `gpu` of an instance that speaks only of that."""
    groups = [
        replace(group, kind=group.kind.partition("/")[0]) if group.kind not in kinds and group.kind.partition("/")[0] in kinds
        else group
        for group in topology.devices
    ]  # fmt: skip
    return Topology(tuple(groups), topology.links)


def _phase(field: Field) -> PhaseTask:
    at = field.members(
        ("id", "ticks"), ("rows", "combine", "out_bytes", "scratch", "inplace", "home", "ready", "effect")
    )  # fmt: skip
    rows = at["rows"].integer() if "rows" in at else 0
    ticks = {kind: _ticks(each, rows) for kind, each in at["ticks"].entries().items()} if "ticks" in at else {}
    effect = "effect" in at and at["effect"].flag()
    return PhaseTask(
        at["id"].name() if "id" in at else "", ticks, rows,
        combine=_combine(at["combine"]) if "combine" in at else None,
        out_bytes=at["out_bytes"].integer() if "out_bytes" in at else 0,
        scratch=at["scratch"].integer() if "scratch" in at else 0,
        inplace="inplace" in at and at["inplace"].flag(),
        home=effect or ("home" in at and at["home"].flag()),
        ready=at["ready"].integer() if "ready" in at else 0,
        effect=effect,
    )  # fmt: skip


def _ticks(field: Field, rows: int) -> Ticks:
    """A number is the ticks of the whole phase; a list is points (rows, ticks)."""
    if not isinstance(field.value, list):
        return Ticks(((max(1, rows), field.integer()),))
    points: list[tuple[int, int]] = []
    for each in field.elements(MOST_POINTS):
        pair = each.elements(2)
        if len(pair) != 2:
            each.wrong("[rows, ticks]")
            continue
        points.append((pair[0].integer(), pair[1].integer()))
    if not points:
        field.fault("a table needs at least one point [rows, ticks]")
        points = [(1, 0)]
    return Ticks(tuple(points))


def _combine(field: Field) -> Combine:
    at = field.members(("ticks_per_shard",), ("barrier", "bytes"))
    return Combine(
        at["ticks_per_shard"].integer() if "ticks_per_shard" in at else 0,
        at["barrier"].flag() if "barrier" in at else True,
        at["bytes"].integer() if "bytes" in at else 0,
    )


def _edge(field: Field, places: Mapping[str, PhaseIndex]) -> Edge:
    at = field.members(("from", "to"), ("bytes", "ticks", "whole", "halo"))
    if "bytes" in at and "ticks" in at:
        field.fault("says both `bytes` and `ticks`: bytes take a link, ticks are a delay; give one")
    return Edge(
        _known(at.get("from"), places),
        _known(at.get("to"), places),
        at["bytes"].integer() if "bytes" in at else None,
        at["ticks"].integer() if "ticks" in at else None,
        "whole" in at and at["whole"].flag(),
        at["halo"].integer() if "halo" in at else 0,
    )


def _select(field: Field, places: Mapping[str, PhaseIndex]) -> Select:
    at = field.members(("phase", "condition"), ("then", "otherwise"))

    def arm(name: str) -> tuple[PhaseIndex, ...]:
        return tuple(_known(each, places) for each in at[name].elements(MOST_PHASES)) if name in at else ()

    return Select(_known(at.get("phase"), places), _known(at.get("condition"), places), arm("then"), arm("otherwise"))


def _known(field: Field | None, places: Mapping[str, PhaseIndex]) -> PhaseIndex:
    if field is None:
        return PhaseIndex(0)
    id = field.text()
    if id not in places:
        guess = nearest(id, places) if len(places) <= 1000 else None
        field.fault(f"there is no phase {shown(id)}" + (f"; did you mean `{guess}`?" if guess else ""))
        return PhaseIndex(0)
    return places[id]


def encode(problem: Problem) -> str:
    """The instance as canonical text: what `decode` reads back to an equal problem."""
    whole: dict[str, object] = {
        "schema": SCHEMA,
        "tick_ns": problem.tick_ns,
        "contention": problem.contention.value,
        "devices": [_group_json(group) for group in problem.devices],
        "links": [_link_json(link) for link in problem.links],
        "phases": [_phase_json(phase) for phase in problem.phases],
        "edges": [_edge_json(edge, problem) for edge in problem.edges],
        "selects": [_select_json(select, problem) for select in problem.selects],
        "directives": list(dict.fromkeys(directive.line.text for directive in problem.directives)),
        "objective": [objective.value for objective in problem.objectives],
        "memory_grain": problem.memory_grain,
        "power_off_unused": problem.power_off_unused,
        "batches": problem.batches,
        "chunks": problem.chunks,
    }
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"


def _given(**fields: object) -> dict[str, object]:
    """Without what says nothing."""
    return {name: value for name, value in fields.items() if value is not None and value is not False and value != 0}


def _group_json(group: DeviceGroup) -> dict[str, object]:
    made: dict[str, object] = {"id": group.id, "class": group.kind}
    if group.memory is not None:
        made["mem"] = group.memory
    return made | _given(count=group.count, home=group.home, sync=group.sync, idle_mw=group.idle_mw, active_mw=group.active_mw)


def _link_json(link: Link) -> dict[str, object]:
    rate = link.bytes_per_tick
    made: dict[str, object] = {"id": link.id, "src": link.source, "dst": link.target}
    if link.nj_per_byte:
        made["nj_per_byte"] = [link.nj_per_byte.numerator, link.nj_per_byte.denominator]
    return made | _given(
        latency=link.latency, bytes_per_tick=None if rate is None else [rate.numerator, rate.denominator],
        duplex=None if link.duplex is Duplex.HALF else link.duplex.value, group=link.group,
    )  # fmt: skip


def _phase_json(phase: PhaseTask) -> dict[str, object]:
    def ticks(table: Ticks) -> object:
        (rows, count), *more = table.points
        return count if not more and rows == max(1, phase.rows) else [list(point) for point in table.points]

    made: dict[str, object] = {"id": phase.id, "ticks": {kind: ticks(table) for kind, table in phase.ticks.items()}}
    if phase.combine is not None:
        combine = phase.combine
        made["combine"] = {"ticks_per_shard": combine.ticks_per_shard, "barrier": combine.barrier, "bytes": combine.bytes}
    return made | _given(
        rows=phase.rows, out_bytes=phase.out_bytes, scratch=phase.scratch, inplace=phase.inplace, home=phase.home,
        ready=phase.ready, effect=phase.effect,
    )  # fmt: skip


def _select_json(select: Select, problem: Problem) -> dict[str, object]:
    def ids(phases: tuple[PhaseIndex, ...]) -> list[str]:
        return [problem.phases[phase].id for phase in phases]

    (phase, condition), then, otherwise = ids((select.phase, select.condition)), ids(select.then), ids(select.otherwise)
    return {"phase": phase, "condition": condition, "then": then, "otherwise": otherwise}


def _edge_json(edge: Edge, problem: Problem) -> dict[str, object]:
    made: dict[str, object] = {"from": problem.phases[edge.source].id, "to": problem.phases[edge.target].id}
    if edge.bytes is not None:
        made["bytes"] = edge.bytes
    if edge.ticks is not None:
        made["ticks"] = edge.ticks
    return made | _given(whole=edge.whole, halo=edge.halo)
