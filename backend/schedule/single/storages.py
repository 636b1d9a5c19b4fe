"""The buffers of a block, unit by unit: which results are views of an operand, which are written over one that dies, how long
each buffer lives, and how much is in use at every place.

Over numbers it is what one device does; over formulas (`memory_bound`) it is never less, whatever the sizes become: a result that
may or may not be a view has a buffer of its own *and* keeps its operand's, and only what dies for every size is written over.

Note [Taking a dying buffer].  A structured phase may write its result over an operand that dies in it when both have one
kind and shape, every read of that storage in the phase is at the point itself, the storage belongs to a value made in
this block, and no other value is a view of it.  The executor checks again that nobody else holds the array.

Note [Views].  A phase whose results are an operand under other indices makes no buffer; the operand's storage then lives as long
as the view.  A small part of a large value that dies is copied instead, so that the large one can go.

Neighbours: `one_device` (plans), `memory_bound` (formulas), `facts.workspace` (what a phase needs inside).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Final, Generic

from ....lang.records import dataclass
from ...graph import traverse
from ...graph.phases import Affine, Constant, Graph, Input, Output, Phase, Print, ReadNode, Structured, ValueId
from ..facts.workspace import Amount, Amounts, is_reordered
from ..plan.model import Role

COPY_BELOW: Final = 2
"""A view that keeps more than this many times its own bytes alive is copied instead."""


@dataclass(slots=True, eq=False)
class Storage(Generic[Amount]):
    """A buffer.  `last` is the latest place it may live to, `least` the one it lives to for certain; `reuses`: the operand that
    it is written over."""

    value: ValueId
    role: Role
    bytes: Amount
    first: int
    last: int
    least: int
    reuses: ValueId | None = None
    aliases: list[ValueId] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Block(Generic[Amount]):
    """The units of a block as `phases`, with its `params` and the values `kept` at its end.  `scattered`: values that may not lie
    in rows, which the walk adds to; `left`: by place, the copies that the run's results keep."""

    graph: Graph
    amounts: Amounts[Amount]
    scattered: set[ValueId]
    phases: Sequence[Phase]
    params: Iterable[ValueId]
    kept: Iterable[ValueId]
    storages: list[Storage[Amount]] = field(default_factory=list)
    homes: dict[ValueId, list[Storage[Amount]]] = field(default_factory=dict)
    left: list[Amount] = field(default_factory=list)
    last: dict[ValueId, int] = field(default_factory=dict)

    @property
    def end(self) -> int:
        return len(self.phases)

    def __post_init__(self) -> None:
        leaving: list[ValueId] = []
        for place, phase in enumerate(self.phases):
            self.last.update(dict.fromkeys(traverse.uses(phase), place))
            if isinstance(phase, Print | Output):
                leaving.append(phase.arg)  # the results of the run hold it
        self.last.update(dict.fromkeys((*self.kept, *leaving), self.end))
        for value in self.params:
            self.store(value, Role.VALUE, 0, self.last.get(value, 0))
            if len(self.graph.types[value].shape) > 1:
                self.scattered.add(value)

    def bytes(self, value: ValueId) -> Amount:
        return self.amounts.bytes(self.graph.types[value])

    def store(self, value: ValueId, role: Role, first: int, until: int) -> Storage[Amount]:
        made = Storage(value, role, self.bytes(value), first, until, until)
        self.storages.append(made)
        self.homes.setdefault(value, []).append(made)
        return made

    def enter(self, place: int, *, alone: bool = True, writes_over: bool = True) -> ValueId | None:
        """The storages of what the unit at a place makes, and the operand that its first result is written over.

        `alone`: it is a phase; `writes_over`: it may do so."""
        phase = self.phases[place]
        made = traverse.results(phase)
        source, certain = self.viewed(phase) if alone else (None, False)
        if alone and (source is not None or is_view(phase, exact=self.amounts.exact) or is_reordered(phase, self.graph.types)):
            self.scattered.update(made)
        overwritten = self.dying(phase, place) if source is None and writes_over else None
        for value in made:
            until = max(self.last.get(value, place), place)
            for home in [] if source is None else self.homes[source]:
                self.homes.setdefault(value, []).append(home)
                home.aliases.append(value)
                home.last = max(home.last, until)
                home.least = max(home.least, until) if certain else home.least
            if isinstance(phase, Input):
                self.store(value, Role.INPUT, 0, self.end)
            elif not certain:
                self.store(value, Role.CONSTANT if isinstance(phase, Constant) else Role.VALUE, place, until)
        if overwritten is not None:
            self.homes[made[0]][0].reuses = overwritten
        left = self.amounts.zero
        if isinstance(phase, Print | Output) and any(home.role is Role.INPUT for home in self.homes.get(phase.arg, ())):
            left = self.amounts.rounded(self.bytes(phase.arg))  # the caller owns an input's buffer: what leaves the run is a copy
        self.left.append(left)
        return overwritten

    def viewed(self, phase: Phase) -> tuple[ValueId | None, bool]:
        """The operand whose storage the only result shares, and whether it does so for certain.  See Note [Views]."""
        if not is_view(phase, exact=self.amounts.exact):
            return None, False
        assert isinstance(phase, Structured)
        result, source = phase.results[0].value, phase.reads[0].value
        if source not in self.homes:
            return None, False
        first, *more = self.homes[source]
        certain = not more and is_view(phase) and (
            self.last.get(result, 0) <= first.least
            or first.role is not Role.VALUE
            or self.amounts.never_less(self.bytes(result) * COPY_BELOW, first.bytes)
        )  # fmt: skip
        return (source if certain or not self.amounts.exact else None), certain

    def dying(self, phase: Phase, place: int) -> ValueId | None:
        """An operand whose buffer the first result may take.  See Note [Taking a dying buffer]."""
        if not isinstance(phase, Structured) or any(r.reduction for r in phase.results):
            return None
        wanted = self.graph.types[phase.results[0].value]
        for value in dict.fromkeys(read.value for read in phase.reads):
            type = self.graph.types[value]
            if not self.goes(value, place) or not type.shape:
                continue
            if type.element.kind is not wanted.element.kind or type.shape != wanted.shape:
                continue
            if all(not r.projection.stages for r in phase.reads if r.value == value):
                return value
        return None

    def goes(self, value: ValueId, place: int) -> bool:
        """Is it a value of this block whose buffer nothing else shares, and nothing needs after the unit at a place?"""
        kept = self.homes.get(value, [])
        if self.last.get(value) != place or len(kept) != 1:
            return False
        return kept[0].value == value and kept[0].role is Role.VALUE and not kept[0].aliases

    def dead(self, place: int) -> tuple[ValueId, ...]:
        """The values of this block that no later phase needs."""
        phase: Phase = self.phases[place]
        mentioned = () if isinstance(phase, Print | Output) else (*traverse.uses(phase), *traverse.results(phase))
        return tuple(v for v in dict.fromkeys(mentioned) if v in self.homes and self.last.get(v, place) <= place)

    def in_use(self, inner: Sequence[Amount]) -> list[Amount]:
        """Bytes alive at every place: buffers of operands and results, what the unit needs itself, and copies that the run's
        results keep."""
        change = [self.amounts.zero] * (self.end + 2)
        for storage in self.storages:
            size = self.amounts.rounded(storage.bytes)
            first = storage.first + (storage.reuses is not None)  # until then the memory is the dying operand's
            change[min(first, self.end)] += size
            change[storage.last + 1] -= size
        live = self.amounts.zero
        found: list[Amount] = []
        for place in range(self.end):
            live = live + change[place] + self.left[place]
            found.append(live + inner[place])
        found.append(live + change[self.end])
        return found


def shared_buffers(phases: Iterable[Phase]) -> frozenset[ValueId]:
    """The values whose buffers others may have too: inputs and constants, views and what these show."""
    shared: set[ValueId] = set()
    for phase in phases:
        if isinstance(phase, Input | Constant):
            shared.add(phase.result)
        elif is_view(phase):
            shared.update((*traverse.operands(phase), *traverse.results(phase)))
    return frozenset(shared)


def is_view(phase: Phase, *, exact: bool = True) -> bool:
    """Is a phase one operand under other indices, which strides can say of any layout?  Not `exact`: for some sizes."""
    if not isinstance(phase, Structured) or len(phase.results) != 1 or len(phase.reads) != 1:
        return False
    result = phase.results[0]
    if result.reduction is not None or not isinstance(phase.body[result.node], ReadNode):
        return False
    return not exact or all(isinstance(stage, Affine) and not stage.fills for stage in phase.reads[0].projection.stages)
