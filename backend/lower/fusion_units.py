"""The units that one step of a plan runs: a phase, a chain along rows, or a stencil group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set as AbstractSet
from typing import TYPE_CHECKING, TypeAlias

from ...lang.support.records import dataclass
from ..graph import traverse
from ..graph.phases import AxisKind, Graph, Map, Phase, PhaseId, Structured, ValueId

if TYPE_CHECKING:
    from ..graph.fusion_groups import JoinedGroup

Unit: TypeAlias = "Phase | RowsUnit | GroupUnit"
MultiPhaseUnit: TypeAlias = "RowsUnit | GroupUnit"


@dataclass(frozen=True, slots=True)
class RowsUnit:
    """A chain along rows: its members, and their joined body, whose results are the values that are read outside the chain."""

    members: tuple[Structured, ...]
    joined: JoinedGroup

    @property
    def ids(self) -> tuple[PhaseId, ...]:
        return tuple(member.id for member in self.members)


@dataclass(frozen=True, slots=True)
class GroupUnit:
    """A stencil group as a map over an empty frame (`graph.fusion_groups`), whose results are the values that are read
    outside."""

    phase: Map

    @property
    def members(self) -> tuple[Phase, ...]:
        return self.phase.body.phases

    @property
    def ids(self) -> tuple[PhaseId, ...]:
        return tuple(member.id for member in self.members)


def shape_of(unit: Unit) -> Phase:
    """A phase with the operands and results of the unit."""
    match unit:
        case RowsUnit():
            return unit.joined.phase
        case GroupUnit():
            return unit.phase
        case _:
            return unit


def may_reuse_operand(unit: Unit) -> bool:
    """May the first result be written into the buffer of an operand that is read at the same point?"""
    if isinstance(unit, GroupUnit):
        return False
    if not isinstance(unit, RowsUnit):
        return True
    from ..graph import fusion_groups

    return fusion_groups.may_reuse_operand(unit.joined)


def units_of(phases: Sequence[Phase], graph: Graph, live_out: Iterable[ValueId], split: AbstractSet[PhaseId] = frozenset()
             ) -> list[Unit]:  # fmt: skip
    """The units of a block in order: its chains, groups and single phases.

    `live_out`: values that are read after the block.  `split`: chains and groups whose last member is in it stay single
    phases."""
    wanted = frozenset(live_out)
    units_at: list[tuple[int, MultiPhaseUnit]] = [*_chains(phases, graph, wanted)]
    inside = {member.id for _, unit in units_at for member in unit.members}
    units_at += [(at, unit) for at, unit in _groups(phases, graph, wanted) if inside.isdisjoint(unit.ids)]
    units_at = [(at, unit) for at, unit in units_at if unit.ids[-1] not in split]
    while units_at:
        units = list(_in_order(phases, units_at))
        late = _misplaced(units)
        if late is None:
            return units
        units_at = [(at, unit) for at, unit in units_at if unit is not late]
    return list(phases)


def _chains(phases: Sequence[Phase], graph: Graph, live_out: frozenset[ValueId]) -> Iterator[tuple[int, RowsUnit]]:
    if not any(isinstance(p, Structured) and p.axes and p.axes[-1].kind is AxisKind.REDUCE for p in phases):
        return
    from ..graph.fusion_groups import find_chains
    from .body import legalize

    for chain in find_chains(phases, graph, lambda phase: legalize(phase) is not None):
        unit = _unit(chain.phases, phases, live_out)
        if unit is not None:
            yield chain.at, unit


def _groups(phases: Sequence[Phase], graph: Graph, live_out: frozenset[ValueId]) -> Iterator[tuple[int, GroupUnit]]:
    from ..graph.fusion_groups import STENCIL_MOST_RESULTS, find_stencil_groups, group_as_map

    for at, members in find_stencil_groups(phases, graph, live_out):
        wanted = _live_out_of(members, phases, live_out)
        if 0 < len(wanted) <= STENCIL_MOST_RESULTS:
            yield at, GroupUnit(group_as_map(members, wanted))


def _live_out_of(members: Sequence[Phase], phases: Sequence[Phase], live_out: frozenset[ValueId]) -> tuple[ValueId, ...]:
    """The members' results that other phases read, or that are live after the block."""
    ids = {member.id for member in members}
    used = live_out.union(*(traverse.uses(phase) for phase in phases if phase.id not in ids))
    return tuple(value for member in members for value in traverse.results(member) if value in used)


def _unit(members: tuple[Structured, ...], phases: Sequence[Phase], live_out: frozenset[ValueId]) -> RowsUnit | None:
    """The chain with the values that others read; None if it has no such value or too many.

    Results computed in the last pass come first, since only the first result may reuse an operand's buffer.
    """
    from ..graph.fusion_groups import MOST_RESULTS, join_chain, reduction_levels

    wanted = _live_out_of(members, phases, live_out)
    if not 0 < len(wanted) <= MOST_RESULTS:
        return None
    fused = join_chain(members, wanted)
    level = reduction_levels(fused.phase)
    latest = [fused.is_row[i] * 1000 - level[r.node] for i, r in enumerate(fused.phase.results)]
    ordered = tuple([value for _, value in sorted(zip(latest, wanted, strict=True), key=lambda pair: pair[0])])
    return RowsUnit(members, fused if ordered == wanted else join_chain(members, ordered))


def _in_order(phases: Sequence[Phase], units: Sequence[tuple[int, MultiPhaseUnit]]) -> Iterator[Unit]:
    inside = {member.id for _, unit in units for member in unit.members}
    for position, phase in enumerate(phases):
        yield from (unit for at, unit in units if at == position)
        if phase.id not in inside:
            yield phase


def _misplaced(units: Sequence[Unit]) -> MultiPhaseUnit | None:
    """The first chain or group that reads a value before its definition, or defines one after it is read; None if all are in
    order."""
    producer = {value: unit for unit in units for value in traverse.results(shape_of(unit))}
    done: set[ValueId] = set()
    for unit in units:
        for value in traverse.uses(shape_of(unit)):
            source = producer.get(value)
            if source is None or value in done or source is unit:
                continue
            for candidate in (unit, source):
                if isinstance(candidate, RowsUnit | GroupUnit):
                    return candidate
        done.update(traverse.results(shape_of(unit)))
    return None
