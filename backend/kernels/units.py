"""What one step runs: a phase, or a chain along rows as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from ...lang.records import dataclass
from ..graph import traverse
from ..graph.phases import AxisKind, Graph, Phase, PhaseId, Structured, ValueId

if TYPE_CHECKING:
    from ..graph.chains import Joined

Unit: TypeAlias = "Phase | RowsUnit"


@dataclass(frozen=True, slots=True)
class RowsUnit:
    """A chain and its members as one body, whose results are what is wanted outside it."""

    members: tuple[Structured, ...]
    joined: Joined

    @property
    def ids(self) -> tuple[PhaseId, ...]:
        return tuple(member.id for member in self.members)


def shape_of(unit: Unit) -> Phase:
    """The phase that says what a unit reads and makes."""
    return unit.joined.phase if isinstance(unit, RowsUnit) else unit


def may_write_over(unit: Unit) -> bool:
    """May the first result be written over an operand that is read at the point itself?"""
    if not isinstance(unit, RowsUnit):
        return True
    from ..graph import chains

    return chains.may_write_over(unit.joined)


def units_of(phases: Sequence[Phase], graph: Graph, kept: Iterable[ValueId]) -> list[Unit]:
    """The phases of a block with its chains as units; values in `kept` are wanted at its end."""
    if not any(isinstance(p, Structured) and p.axes and p.axes[-1].kind is AxisKind.REDUCE for p in phases):
        return list(phases)
    from ..graph.chains import find_chains
    from .build import build_body

    chains = [(c.at, c.phases) for c in find_chains(phases, graph, lambda phase: build_body(phase) is not None)]
    if not chains:
        return list(phases)
    wanted = frozenset(kept)
    made = [(at, unit) for at, members in chains if (unit := _unit(members, phases, wanted)) is not None]
    while made:
        units = list(_arranged(phases, made))
        late = _late(units)
        if late is None:
            return units
        made = [(at, unit) for at, unit in made if unit is not late]
    return list(phases)


def _unit(members: tuple[Structured, ...], phases: Sequence[Phase], kept: frozenset[ValueId]) -> RowsUnit | None:
    """The chain with the values that others use; None if joining it would save nothing."""
    from ..graph.chains import MOST_RESULTS, joined, levels

    ids = {member.id for member in members}
    used = set(kept)
    for phase in phases:
        if phase.id not in ids:
            used.update(traverse.uses(phase))
    wanted = [result.value for member in members for result in member.results if result.value in used]
    if not 0 < len(wanted) <= MOST_RESULTS:
        return None
    whole = joined(members, wanted)
    level = levels(whole.phase)
    latest = [whole.is_row[i] * 1000 - level[r.node] for i, r in enumerate(whole.phase.results)]
    ordered = [value for _, value in sorted(zip(latest, wanted, strict=True), key=lambda pair: pair[0])]
    return RowsUnit(members, joined(members, ordered))


def _arranged(phases: Sequence[Phase], chains: Sequence[tuple[int, RowsUnit]]) -> Iterator[Unit]:
    inside = {member.id for _, unit in chains for member in unit.members}
    for place, phase in enumerate(phases):
        yield from (unit for at, unit in chains if at == place)
        if phase.id not in inside:
            yield phase


def _late(units: Sequence[Unit]) -> RowsUnit | None:
    """A chain that would read what is not there yet, or make something after it is read."""
    maker = {value: unit for unit in units for value in traverse.results(shape_of(unit))}
    done: set[ValueId] = set()
    for unit in units:
        for value in traverse.uses(shape_of(unit)):
            source = maker.get(value)
            if source is None or value in done or source is unit:
                continue
            for candidate in (unit, source):
                if isinstance(candidate, RowsUnit):
                    return candidate
        done.update(traverse.results(shape_of(unit)))
    return None
