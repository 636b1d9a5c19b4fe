"""Liveness of a block's values, as numbers for a plan and as formulas for an upper bound of its peak; the memory of shared
functions.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from functools import reduce
from typing import Final, Generic

from ....lang.support.records import dataclass, field
from ....typechecker.elements import ArrayType
from ....typechecker.sizes.polynomials import ZERO, Size, number
from ...graph import traverse
from ...graph.phases import (
    Affine,
    Constant,
    Graph,
    Input,
    LibraryPhase,
    Output,
    Phase,
    Print,
    ReadNode,
    Structured,
    ValueId,
    called,
)
from ...graph.symbolic_costs import bytes_of, total, upper_bound_of
from ..plan.plan import ALIGNMENT, Role, Step, sub_plans
from .scratch_memory import (
    Amount,
    Amounts,
    Numbers,
    is_reordered,
    peak_of,
    phase_scratch_bytes,
    rounded_to_alignment,
    workspace_bound,
)

# ---------------------------------------------------------------------------------------------------- live ranges of buffers
#
# Liveness of a block, unit by unit: which results are views of an operand, which are written over a dying operand, the live range
# of each buffer, and the bytes in use at every unit.
#
# Over numbers it is the plan of one device; over formulas (`peak_bound`) it is an upper bound for all sizes: a result that may or
# may not be a view has a buffer of its own *and* extends its operand's, and only an operand that dies for every size is
# overwritten.
#
# Note [Taking a dying buffer].  A structured phase may write its result over an operand that dies in it when both have one kind
# and shape, every read of that storage in the phase is at the point itself, the storage belongs to a value defined in this block,
# and no other value is a view of it.  The executor checks again that no other reference to the array exists.
#
# Note [Views].  A phase whose result is an operand under other indices allocates no buffer; the operand's storage then lives as
# long as the view.  A small part of a large value that dies is copied instead, so that the large buffer can be freed.

COPY_BELOW: Final = 2
"""A view that keeps more than this many times its own bytes alive is copied instead."""


@dataclass(slots=True, eq=False)
class Storage(Generic[Amount]):
    """A buffer.  It lives at least to unit `certain_last` and at most to unit `last`; `reuses`: the operand that it is written
    over."""

    value: ValueId
    role: Role
    bytes: Amount
    first: int
    last: int
    certain_last: int
    reuses: ValueId | None = None
    aliases: list[ValueId] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class BlockLiveness(Generic[Amount]):
    """Liveness analysis of a block: its units as `phases`, with its `params` and the values `live_out` at its end.  `scattered`:
    values that may not be contiguous, which the analysis extends; `output_copies`: by unit, bytes of copies for the run's
    results; `given`: storages that earlier results of the run occupy; `moved`: inputs that the caller handed over, which die like
    other values."""

    graph: Graph
    amounts: Amounts[Amount]
    scattered: set[ValueId]
    phases: Sequence[Phase]
    params: Iterable[ValueId]
    live_out: Iterable[ValueId]
    storages: list[Storage[Amount]] = field(default_factory=list)
    storages_of: dict[ValueId, list[Storage[Amount]]] = field(default_factory=dict)
    output_copies: list[Amount] = field(default_factory=list)
    given: list[Storage[Amount]] = field(default_factory=list)
    moved: frozenset[str] = frozenset()
    last: dict[ValueId, int] = field(default_factory=dict)

    @property
    def end(self) -> int:
        return len(self.phases)

    def __post_init__(self) -> None:
        leaving: list[ValueId] = []
        for index, phase in enumerate(self.phases):
            self.last.update(dict.fromkeys(traverse.uses(phase), index))
            if isinstance(phase, Print | Output):
                leaving.append(phase.arg)  # the run's result keeps the buffer alive
        self.last.update(dict.fromkeys((*self.live_out, *leaving), self.end))
        for value in self.params:
            self.add_storage(value, Role.VALUE, 0, self.last.get(value, 0))
            if len(self.graph.types[value].shape) > 1:
                self.scattered.add(value)

    def bytes(self, value: ValueId) -> Amount:
        return self.amounts.bytes(self.graph.types[value])

    def add_storage(self, value: ValueId, role: Role, first: int, until: int) -> Storage[Amount]:
        storage = Storage(value, role, self.bytes(value), first, until, until)
        self.storages.append(storage)
        self.storages_of.setdefault(value, []).append(storage)
        return storage

    def allocate_results(self, index: int, *, alone: bool = True, writes_over: bool = True) -> ValueId | None:
        """Add the storages of the results of unit `index`; returns the operand that its first result is written over.

        `alone`: the unit is a single phase; `writes_over`: it may overwrite an operand."""
        phase = self.phases[index]
        results = traverse.results(phase)
        source, certain = self.viewed_operand(phase) if alone else (None, False)
        if alone and (source is not None or is_view(phase, exact=self.amounts.exact) or is_reordered(phase, self.graph.types)):
            self.scattered.update(results)
        overwritten = self.overwritable_operand(phase, index) if source is None and writes_over else None
        for value in results:
            until = max(self.last.get(value, index), index)
            for home in [] if source is None else self.storages_of[source]:
                self.storages_of.setdefault(value, []).append(home)
                home.aliases.append(value)
                home.last = max(home.last, until)
                home.certain_last = max(home.certain_last, until) if certain else home.certain_last
            if isinstance(phase, Input) and phase.name not in self.moved:
                self.add_storage(value, Role.INPUT, 0, self.end)
            elif isinstance(phase, Input):
                self.add_storage(value, Role.VALUE, 0, until)
            elif not certain:
                self.add_storage(value, Role.CONSTANT if isinstance(phase, Constant) else Role.VALUE, index, until)
        if overwritten is not None:
            self.storages_of[results[0]][0].reuses = overwritten
        left = self.amounts.zero
        if isinstance(phase, Print | Output):
            homes = self.storages_of.get(phase.arg, [])
            if any(home.role is Role.INPUT or home in self.given for home in homes):  # the caller already holds that buffer
                left = self.amounts.rounded(self.bytes(phase.arg))
            self.given += homes
        self.output_copies.append(left)
        return overwritten

    def viewed_operand(self, phase: Phase) -> tuple[ValueId | None, bool]:
        """The operand whose storage the only result shares, and whether it does so for all sizes.  See Note [Views]."""
        if not is_view(phase, exact=self.amounts.exact):
            return None, False
        assert isinstance(phase, Structured)
        result, source = phase.results[0].value, phase.reads[0].value
        if source not in self.storages_of:
            return None, False
        first, *more = self.storages_of[source]
        certain = not more and is_view(phase) and (
            self.last.get(result, 0) <= first.certain_last
            or first.role is not Role.VALUE
            or self.amounts.never_less(self.bytes(result) * COPY_BELOW, first.bytes)
        )  # fmt: skip
        return (source if certain or not self.amounts.exact else None), certain

    def overwritable_operand(self, phase: Phase, index: int) -> ValueId | None:
        """The operand whose buffer the first result may be written over, if any.  See Note [Taking a dying buffer]."""
        if not isinstance(phase, Structured) or any(r.reduction for r in phase.results):
            return None
        wanted = self.graph.types[phase.results[0].value]
        for value in dict.fromkeys(read.value for read in phase.reads):
            type = self.graph.types[value]
            if not self.dies(value, index) or not type.shape:
                continue
            if type.element.kind is not wanted.element.kind or type.shape != wanted.shape:
                continue
            if all(not r.projection.stages for r in phase.reads if r.value == value):
                return value
        return None

    def dies(self, value: ValueId, index: int) -> bool:
        """Is `value` defined in this block with its own buffer, and read by no unit after `index`?"""
        storages = self.storages_of.get(value, [])
        if self.last.get(value) != index or len(storages) != 1:
            return False
        return storages[0].value == value and storages[0].role is Role.VALUE and not storages[0].aliases

    def dead_values(self, index: int) -> tuple[ValueId, ...]:
        """The values of this block that no later phase needs."""
        phase: Phase = self.phases[index]
        mentioned = () if isinstance(phase, Print | Output) else (*traverse.uses(phase), *traverse.results(phase))
        return tuple(v for v in dict.fromkeys(mentioned) if v in self.storages_of and self.last.get(v, index) <= index)

    def live_bytes(self, inner: Sequence[Amount]) -> list[Amount]:
        """Bytes in use at every unit: live buffers, the unit's `inner` bytes, and copies for the run's results."""
        change = [self.amounts.zero] * (self.end + 2)
        for storage in self.storages:
            size = self.amounts.rounded(storage.bytes)
            first = storage.first + (storage.reuses is not None)  # until then the dying operand accounts for the memory
            change[min(first, self.end)] += size
            change[storage.last + 1] -= size
        live = self.amounts.zero
        amounts: list[Amount] = []
        for index in range(self.end):
            live = live + change[index] + self.output_copies[index]
            amounts.append(live + inner[index])
        amounts.append(live + change[self.end])
        return amounts


def shared_buffers(phases: Iterable[Phase]) -> frozenset[ValueId]:
    """The values whose buffers several names may share: inputs and constants, views and their operands."""
    shared: set[ValueId] = set()
    for phase in phases:
        if isinstance(phase, Input | Constant):
            shared.add(phase.result)
        elif is_view(phase):
            shared.update((*traverse.operands(phase), *traverse.results(phase)))
    return frozenset(shared)


def is_view(phase: Phase, *, exact: bool = True) -> bool:
    """Is a phase a view of one operand, expressible by strides for any layout?  Not `exact`: for some sizes."""
    if not isinstance(phase, Structured) or len(phase.results) != 1 or len(phase.reads) != 1:
        return False
    result = phase.results[0]
    if result.reduction is not None or not isinstance(phase.body[result.node], ReadNode):
        return False
    return not exact or all(isinstance(stage, Affine) and not stage.fills for stage in phase.reads[0].projection.stages)


# ---------------------------------------------------------------------------------------------------- symbolic peak
#
# The symbolic peak: memory as a formula in the sizes, an upper bound of the planned peak for all sizes.
#
# It is the liveness analysis on polynomials instead of numbers, phase by phase.  Buffers whose size is not a number count 512
# bytes more for rounding.

class PeakFormulas:
    """Amounts of bytes as formulas in the sizes."""

    zero = ZERO
    exact = False

    def bytes(self, type: ArrayType) -> Size:
        return bytes_of(type)

    def number(self, size: Size) -> Size:
        return size

    def larger(self, a: Size, b: Size) -> Size:
        return upper_bound_of(a, b)

    def rounded(self, count: Size) -> Size:
        known = count.constant
        return count + ALIGNMENT if known is None else number(rounded_to_alignment(known))

    def never_less(self, a: Size, b: Size) -> bool:
        low = (a - b).bounds()[0]
        return low is not None and low >= 0

    def workspace(self, phase: Structured, scattered: Container[ValueId]) -> Size:
        return workspace_bound(phase, scattered)


def peak_bound(graph: Graph) -> Size:
    """An upper bound of the planned peak, as a formula in the sizes."""
    formulas, scattered = PeakFormulas(), set[ValueId]()

    def peak(phases: Sequence[Phase], params: Iterable[ValueId], results: Iterable[ValueId]) -> Size:
        block, inner = BlockLiveness(graph, formulas, scattered, phases, params, results), list[Size]()
        for index, phase in enumerate(phases):
            block.allocate_results(index)
            bodies = [peak(body.phases, body.params, body.results) for body in traverse.subgraphs(phase)]
            bodies += called_bytes(phase, graph.types, formulas)
            inner.append(phase_scratch_bytes(phase, bodies, graph.types, formulas, scattered))
        return reduce(upper_bound_of, block.live_bytes(inner), ZERO)

    return peak(graph.phases, (), graph.roots)


# ---------------------------------------------------------------------------------------------------- shared functions

def called_bytes(phase: Phase, types: Mapping[ValueId, ArrayType], amounts: Amounts[Amount]) -> tuple[Amount, ...]:
    """The most bytes that a call of a shared function needs beside its arguments and results; empty for other phases."""
    if not isinstance(phase, LibraryPhase) or phase.op != "call":
        return ()
    function, sizes = called(phase.attributes)
    peak = function.cached("peak", lambda: peak_bound(function.graph))
    outside = total(bytes_of(types[value]) for value in (*dict.fromkeys(phase.args), *phase.results))
    return (amounts.number(peak.substitute(sizes) - outside),)


def step_scratch_bytes(step: Step, phase: Phase, types: Mapping[ValueId, ArrayType], numbers: Numbers) -> int:
    """As `phase_scratch_bytes`, of a step of a plan."""
    bodies = [*map(peak_of, sub_plans(step)), *called_bytes(phase, types, numbers)]
    return phase_scratch_bytes(phase, bodies, types, numbers)
