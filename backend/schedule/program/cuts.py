"""The axis that each phase of a graph is cut along, chosen once before planning so that neighbours line up.

Phases are taken in order.  Of the ways to cut one (`sharding.cuts_of`) that one is taken whose shards need the least beside their
own part of the operands: whole operands and halos count their bytes, a combine its partial results, and an axis of few rows
what cannot be dealt out evenly.  An input is cut along the axis that its first consumer likes best.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Final, TypeAlias

from ...graph import traverse
from ...graph.costs import Types
from ...graph.phases import Graph, Input, Phase, PhaseId, ValueId
from ..facts.sharding import Cut, as_one, cuts_of, most_subtrees, shape_of
from .needs import Aligned, Need, need_of

_COMBINE_BYTES: Final = 1 << 16
"""What a combine counts as beside its partial results."""


Axes: TypeAlias = Mapping[PhaseId, int | None]
"""The axis along which a phase is cut, or the rows of an input lie (None: whole)."""


@dataclass(frozen=True, slots=True)
class Cuts:
    """`of`: the cut of each phase by place (None: atomic); `axis`: the axis along which the rows of a value lie."""

    of: tuple[Cut | None, ...]
    axis: Mapping[ValueId, int]


@dataclass(frozen=True, slots=True)
class Given:
    """A phase that is not to be asked: its `cut`, and the axes of its results and, where they are free to choose, operands."""

    cut: Cut | None
    axes: Mapping[ValueId, int] = field(default_factory=dict)


def choose_cuts(
    graph: Graph, given: Mapping[PhaseId, Given] | None = None, free: Iterable[ValueId] = (), axes: Axes | None = None
) -> Cuts:  # fmt: skip
    """The cuts of the phases; `free`: values from elsewhere, which lie as their first consumer likes best; `axes`: of phases that
    are not to be chosen for."""
    chooser = _Chooser(graph.types, given or {}, axes or {}, free=set(free))
    found = [chooser.choose(phase) for phase in graph.phases]
    for place, phase in enumerate(graph.phases):
        if isinstance(phase, Input):
            axis = chooser.axis.setdefault(phase.result, 0)
            shape = shape_of(phase.result, graph.types)
            if shape and shape[axis] > 1 and chooser.axes.get(phase.id, axis) is not None:
                found[place] = Cut(axis, shape[axis])
    return Cuts(tuple(found), chooser.axis)


def given_as(phase: Phase, cut: Cut, types: Types) -> Given:
    """A phase that is cut so, with its operands along the axes that suit it best."""
    chooser, phase = _Chooser(types, {}, {}), as_one(phase, types)
    operands = enumerate(traverse.operands(phase))
    axes = {value: chooser.best_axis(phase, cut, place, value)[1] for place, value in operands}
    return Given(cut, {**axes, **dict.fromkeys(traverse.results(phase), 0 if cut.combines else cut.axis)})


@dataclass(slots=True)
class _Chooser:
    types: Types
    given: Mapping[PhaseId, Given]
    axes: Axes
    axis: dict[ValueId, int] = field(default_factory=dict)
    free: set[ValueId] = field(default_factory=set)

    def choose(self, phase: Phase) -> Cut | None:
        if isinstance(phase, Input):
            if phase.id in self.axes:
                self.axis[phase.result] = self.axes[phase.id] or 0
            else:
                self.free.add(phase.result)
            return None
        if phase.id in self.given:
            return self.take(phase, self.given[phase.id])
        phase = as_one(phase, self.types)
        options = cuts_of(phase, self.types)
        if phase.id in self.axes:
            options = tuple(cut for cut in options if cut.axis == self.axes[phase.id])
        best = min(options, key=lambda cut: (self.cost(phase, cut), cut.combines, cut.axis), default=None)
        for place, value in enumerate(traverse.operands(phase)):
            if value in self.free and best is not None:
                self.axis[value] = self.best_axis(phase, best, place, value)[1]
                self.free.discard(value)
        for value in traverse.results(phase):
            self.axis[value] = 0 if best is None or best.combines else best.axis
        return best

    def take(self, phase: Phase, given: Given) -> Cut | None:
        self.axis |= dict.fromkeys(traverse.results(phase), 0)
        for value, axis in given.axes.items():
            if value in self.free or value in traverse.results(phase):
                self.axis[value] = axis
                self.free.discard(value)
        return given.cut

    def bytes(self, value: ValueId) -> int:
        return prod(shape_of(value, self.types) or (0,)) * self.types[value].element.kind.bytes

    def cost(self, phase: Phase, cut: Cut) -> int:
        """Bytes that shards need beside their part."""
        operands = traverse.operands(phase)
        total = sum(map(self.bytes, dict.fromkeys((*operands, *traverse.results(phase)))))
        found = total // cut.rows
        for place, value in enumerate(operands):
            if value in self.free:
                found += self.best_axis(phase, cut, place, value)[0]
            else:
                axis = self.axis.get(value, 0)
                found += self.beside(value, need_of(phase, cut, place, axis, self.types), axis)
        if cut.combines:
            found += _COMBINE_BYTES + sum(map(self.bytes, traverse.results(phase))) * most_subtrees(cut.rows)
        return found

    def beside(self, value: ValueId, need: Need, axis: int) -> int:
        shape, size = shape_of(value, self.types), self.bytes(value)
        if isinstance(need, Aligned) and shape:
            return need.halo * size // max(1, shape[axis])
        return size

    def best_axis(self, phase: Phase, cut: Cut, place: int, value: ValueId) -> tuple[int, int]:
        """Along which axis an input's rows line up best: (bytes beside, axis)."""
        rank = len(self.types[value].shape)
        return min(
            ((self.beside(value, need_of(phase, cut, place, axis, self.types), axis), axis) for axis in range(rank)),
            default=(self.bytes(value), 0),
        )
