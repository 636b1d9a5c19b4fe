"""Phases that read neighbours: rotations and the element-wise phases around them, as one.

A rotation by itself is a copy of its operand.  In a loop program it is an index, so a stencil in whole-array words (`(1⊖x)+¯1⊖x`)
goes through memory once.  A *group* is such phases with results of one shape.  None of them reads what the group makes in
another row (along the first axis): its rows are independent, and what only the group reads is there for one row at a time.

Members are Structured phases without reductions, none of which may fail, rotations that only these read, and the constants (how
far) that only members read.

Neighbours: `chains` (the other units of several phases), `kernels.units` (arranges them), `loops.transform.tiling` (shares rows).
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import field
from math import prod
from typing import Final, TypeAlias

from ...lang.records import dataclass
from . import traverse
from .passes.rewriting import body_may_fail, has_reduction
from .phases import Constant, Graph, LibraryPhase, Map, Phase, ReadNode, Structured, SubGraph, ValueId

LEAST: Final = 1 << 16
"""Items of a space whose phases are worth it: of fewer all stays in the caches."""
MOST_NODES: Final = 120
MOST_SOURCES: Final = 16
MOST_RESULTS: Final = 8

Numbers: TypeAlias = tuple[int, ...]


@dataclass(slots=True)
class _Group:
    """`members` by their places; `limit`: the place of the first other phase that reads what they make."""

    space: Numbers
    members: dict[int, Phase] = field(default_factory=dict)
    limit: int | None = None


def find_groups(phases: Sequence[Phase], graph: Graph, kept: AbstractSet[ValueId]) -> list[tuple[int, tuple[Phase, ...]]]:
    """Groups with the places in the block before which they run; values in `kept` are wanted at its end."""
    if not any(isinstance(phase, LibraryPhase) and phase.op == "rotate" for phase in phases):
        return []
    finder = _Finder(phases, graph, kept | graph.roots)
    for place, phase in enumerate(phases):
        finder.visit(place, phase)
    groups = {id(group): group for group in finder.maker.values()}
    found: list[tuple[int, tuple[Phase, ...]]] = []
    for group in groups.values():
        last = max(group.members)
        at = last if group.limit is None else min(last, group.limit)
        members = group.members | finder.constants_of(group)
        found.append((at, tuple(members[place] for place in sorted(members))))
    return sorted(found, key=lambda each: each[0])


def as_map(members: Sequence[Phase], wanted: tuple[ValueId, ...]) -> Map:
    """A group as a map of one cell, which no graph contains; the same one for the same phases, since code is kept with it."""
    key = tuple(map(id, members)), wanted
    found = _maps.get(key)
    if found is None or any(old is not new for old, new in zip(found.body.phases, members, strict=True)):
        while len(_maps) >= _MOST_MAPS:
            _maps.pop(next(iter(_maps)), None)
        last = members[-1]
        found = _maps[key] = Map(last.id, last.span, (), (), (), wanted, SubGraph((), tuple(members), wanted))
    return found


def is_group(phase: Phase) -> bool:
    """Is it what `as_map` made?"""
    return isinstance(phase, Map) and not phase.frame


_maps: Final[dict[tuple[tuple[int, ...], tuple[ValueId, ...]], Map]] = {}
_MOST_MAPS: Final = 256


class _Finder:
    def __init__(self, phases: Sequence[Phase], graph: Graph, kept: AbstractSet[ValueId]) -> None:
        self.graph, self.kept = graph, kept
        self.users: dict[ValueId, list[Phase]] = {}
        self.constants = {place: p for place, p in enumerate(phases) if isinstance(p, Constant) and len(p.data) == 1}
        for phase in phases:
            for value in dict.fromkeys(traverse.uses(phase)):
                self.users.setdefault(value, []).append(phase)
        self.rotations: dict[ValueId, tuple[int, LibraryPhase]] = {}
        self.maker: dict[ValueId, _Group] = {}

    def visit(self, place: int, phase: Phase) -> None:
        if isinstance(phase, LibraryPhase) and self.is_rotation(phase):
            self.rotations[phase.results[0]] = place, phase
            return
        group = self.join(place, phase) if isinstance(phase, Structured) and self.qualifies(phase) else None
        for value in traverse.uses(phase):
            maker = self.maker.get(value)
            if maker is not None and maker is not group and maker.limit is None:
                maker.limit = place

    def constants_of(self, group: _Group) -> dict[int, Constant]:
        """By their places."""
        ids = {member.id for member in group.members.values()}
        found: dict[int, Constant] = {}
        for place, constant in self.constants.items():
            users = self.users.get(constant.result, [])
            if users and constant.result not in self.kept and ids.issuperset(user.id for user in users):
                found[place] = constant
        return found

    def is_rotation(self, phase: LibraryPhase) -> bool:
        """One that only maps read."""
        if phase.op != "rotate" or phase.attributes.get("frame"):
            return False
        (result,) = phase.results
        users = self.users.get(result, [])
        return result not in self.kept and all(isinstance(user, Structured) and self.qualifies(user) for user in users)

    def space(self, value: ValueId) -> Numbers | None:
        sizes = [size.constant for size in self.graph.types[value].shape]
        return None if None in sizes else tuple(int(n) for n in sizes if n is not None)

    def qualifies(self, phase: Structured) -> bool:
        if not phase.axes or not phase.results or has_reduction(phase) or body_may_fail(phase.body):
            return False
        if any(result.value in self.graph.roots for result in phase.results):
            return False
        if all(isinstance(phase.body[result.node], ReadNode) for result in phase.results):
            return False  # a view costs nothing
        space = self.space(phase.results[0].value)
        return space is not None and prod(space) >= LEAST

    def join(self, place: int, phase: Structured) -> _Group | None:
        """The group that the phase becomes part of, perhaps a new one of rotations that it reads."""
        space = self.space(phase.results[0].value)
        assert space is not None
        rotations = [self.rotations[read.value] for read in phase.reads if read.value in self.rotations]
        waiting = {at: rotation for at, rotation in rotations if rotation.results[0] not in self.maker}
        near = [*(read.value for read in phase.reads), *(rotation.args[0] for rotation in waiting.values())]
        groups = {id(group): group for value in near if (group := self.maker.get(value)) is not None and group.space == space}
        chosen: list[_Group] = []
        joined = self.joined(space, chosen, waiting, place, phase)
        for group in sorted(groups.values(), key=lambda group: -max(group.members)):  # what was made last first
            larger = self.joined(space, [*chosen, group], waiting, place, phase)
            if larger is not None:
                chosen, joined = [*chosen, group], larger
        if joined is None:
            return None
        for member in joined.members.values():
            self.maker.update(dict.fromkeys(traverse.results(member), joined))
        for rotation in waiting.values():
            maker = self.maker.get(rotation.args[0])
            if maker is not None and maker is not joined and maker.limit is None:
                maker.limit = place
        return joined

    def joined(self, space: Numbers, groups: Sequence[_Group], waiting: dict[int, LibraryPhase], place: int, phase: Structured
               ) -> _Group | None:  # fmt: skip
        """Groups and a phase, with the rotations that it reads, as one; None if they cannot be."""
        if (not groups and not waiting) or any(group.limit is not None for group in groups):
            return None
        made = _Group(space)
        for group in groups:
            made.members |= group.members
        made.members |= {**waiting, place: phase}
        made.members = dict(sorted(made.members.items()))
        rotated: dict[ValueId, ValueId] = {}
        inside, elsewhere, sources, nodes = set[ValueId](), set[ValueId](), set[ValueId](), 0
        for member in made.members.values():
            inside.update(traverse.results(member))
            sources.update(traverse.operands(member))
            match member:
                case LibraryPhase():
                    rotated[member.results[0]] = member.args[0]
                    if member.attributes["axis"] == 0:
                        elsewhere.add(member.args[0])
                case Structured():
                    nodes += len(member.body)
                    elsewhere.update(rotated.get(read.value, read.value) for read in member.reads if read.projection.stages)
        too_large = len(sources - inside) > MOST_SOURCES or nodes > MOST_NODES
        return made if inside.isdisjoint(elsewhere) and not too_large else None
