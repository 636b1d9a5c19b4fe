"""The peak of memory as a formula in the sizes, never below what `one_device` plans once they are numbers.

The same walk as the planner's on sizes instead of numbers.  Where the planner decides by numbers, this counts the worse of
both outcomes: a result that may or may not be a view has a buffer of its own *and* keeps its operand's storage, and only
what dies for every size is written over.  Buffers whose size is not a number count 512 bytes more for rounding.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ....typechecker.sizes import ZERO, Size, number
from ...graph import traverse
from ...graph.costs import bytes_of, cost_of
from ...graph.formulas import larger, total
from ...graph.phases import (
    Branch,
    Constant,
    Fold,
    Graph,
    Input,
    LibraryPhase,
    Loop,
    Map,
    Output,
    Phase,
    Print,
    ReadNode,
    Structured,
    SubGraph,
    ValueId,
)
from ..facts.workspace import copied, is_reordered, rounded, workspace_bound
from ..plan.model import ALIGNMENT, Role
from .one_device import COPY_BELOW, is_view


def peak_bound(graph: Graph) -> Size:
    """At least the planned peak, for all sizes."""
    return _Bound(graph).block(graph.phases, (), (), keep=graph.roots)


@dataclass(slots=True, eq=False)
class _Storage:
    """A buffer.  `last` is the latest step it may live to, `least` the step it lives to for certain."""

    value: ValueId
    role: Role
    bytes: Size
    first: int
    last: int
    least: int
    written_over: bool = False
    aliased: bool = False


_Homes = dict[ValueId, list[_Storage]]


class _Bound:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.scattered: set[ValueId] = set()

    def bytes(self, value: ValueId) -> Size:
        return bytes_of(self.graph.types[value])

    def block(self, phases: Sequence[Phase], params: Sequence[ValueId], results: Sequence[ValueId],
              keep: Iterable[ValueId] = ()) -> Size:  # fmt: skip
        end = len(phases)
        last = _last_uses(phases, results, keep)
        homes: _Homes = {}
        storages: list[_Storage] = []

        def store(value: ValueId, role: Role, first: int, until: int) -> _Storage:
            made = _Storage(value, role, self.bytes(value), first, until, until)
            storages.append(made)
            homes.setdefault(value, []).append(made)
            return made

        for value in params:
            store(value, Role.VALUE, 0, last.get(value, 0))
            if len(self.graph.types[value].shape) > 1:
                self.scattered.add(value)
        inner: list[Size] = []
        kept: list[Size] = []
        for place, phase in enumerate(phases):
            made = traverse.results(phase)
            source, certain = self.viewed(phase, homes, last)
            if source is not None or may_be_view(phase) or is_reordered(phase, self.graph.types):
                self.scattered.update(made)
            overwritten = None if source is not None else self.dying(phase, place, homes, last)
            for value in made:
                until = max(last.get(value, place), place)
                for home in [] if source is None else homes[source]:
                    homes.setdefault(value, []).append(home)
                    home.aliased = True
                    home.last = max(home.last, until)
                    home.least = max(home.least, until) if certain else home.least
                if not certain:
                    is_input = isinstance(phase, Input)
                    role = Role.INPUT if is_input else Role.CONSTANT if isinstance(phase, Constant) else Role.VALUE
                    store(value, role, 0 if is_input else place, end if is_input else until)
            if overwritten is not None:
                homes[made[0]][0].written_over = True
            inner.append(self.inside(phase))
            leaves = isinstance(phase, Print | Output) and any(h.role is Role.INPUT for h in homes.get(phase.arg, ()))
            kept.append(_rounded(self.bytes(phase.arg)) if leaves and isinstance(phase, Print | Output) else ZERO)
        return _peak(storages, inner, kept, end)

    def viewed(self, phase: Phase, homes: _Homes, last: Mapping[ValueId, int]) -> tuple[ValueId | None, bool]:
        """The operand whose storage the result may share, and whether it does so for all sizes."""
        if not may_be_view(phase):
            return None, False
        assert isinstance(phase, Structured)
        result, source = phase.results[0], phase.reads[0].value
        if source not in homes:
            return None, False
        kept = homes[source]
        certain = is_view(phase) and len(kept) == 1 and (
            last.get(result.value, 0) <= kept[0].least
            or kept[0].role is not Role.VALUE
            or _never_less(self.bytes(result.value) * COPY_BELOW, kept[0].bytes)
        )  # fmt: skip
        return source, certain

    def dying(self, phase: Phase, place: int, homes: _Homes, last: Mapping[ValueId, int]) -> ValueId | None:
        """As the planner's, of what dies whatever the sizes are."""
        if not isinstance(phase, Structured) or any(r.reduction for r in phase.results):
            return None
        wanted = self.graph.types[phase.results[0].value]
        for read in phase.reads:
            value = read.value
            kept = homes.get(value, [])
            if last.get(value) != place or len(kept) != 1 or kept[0].value != value:
                continue
            storage, type = kept[0], self.graph.types[value]
            if storage.role is not Role.VALUE or storage.aliased or not type.shape:
                continue
            if type.element.kind is not wanted.element.kind or type.shape != wanted.shape:
                continue
            if all(not r.projection.stages for r in phase.reads if r.value == value):
                return value
        return None

    def inside(self, phase: Phase) -> Size:
        """The bytes a phase needs beside operands and results."""
        match phase:
            case Loop():
                body = self.sub(phase.body)
                until = ZERO if phase.until is None else self.sub(phase.until)
                state = total(_rounded(self.bytes(v)) for v in phase.body.params)
                return state + larger(body, until)
            case Branch():
                return larger(self.sub(phase.then), self.sub(phase.otherwise))
            case Map() | Fold():
                return self.sub(phase.body)
            case LibraryPhase():
                copies = total(_rounded(self.bytes(value)) for value in copied(phase, self.scattered, self.graph.types))
                return _rounded(cost_of(phase, self.graph.types).scratch) + copies
            case Structured():
                return _rounded(workspace_bound(phase))
            case _:
                return ZERO

    def sub(self, graph: SubGraph) -> Size:
        return self.block(graph.phases, graph.params, graph.results)


def may_be_view(phase: Phase) -> bool:
    """Is a phase a view for some sizes?"""
    if not isinstance(phase, Structured) or len(phase.results) != 1 or len(phase.reads) != 1:
        return False
    result = phase.results[0]
    return result.reduction is None and isinstance(phase.body[result.node], ReadNode)


def _last_uses(phases: Sequence[Phase], results: Iterable[ValueId], keep: Iterable[ValueId]) -> dict[ValueId, int]:
    end = len(phases)
    last: dict[ValueId, int] = {}
    for place, phase in enumerate(phases):
        for value in traverse.uses(phase):
            last[value] = place
        if isinstance(phase, Print | Output):
            last[phase.arg] = end
    last.update(dict.fromkeys((*results, *keep), end))
    last.update({p.arg: end for p in phases if isinstance(p, Print | Output)})
    return last


def _never_less(a: Size, b: Size) -> bool:
    low = (a - b).bounds()[0]
    return low is not None and low >= 0


def _rounded(count: Size) -> Size:
    known = count.constant
    return count + ALIGNMENT if known is None else number(rounded(known))


def _peak(storages: Sequence[_Storage], inner: Sequence[Size], copied: Sequence[Size], end: int) -> Size:
    born: list[list[_Storage]] = [[] for _ in range(end + 2)]
    dead: list[list[_Storage]] = [[] for _ in range(end + 2)]
    for storage in storages:
        born[min(storage.first + (1 if storage.written_over else 0), end)].append(storage)
        dead[storage.last + 1].append(storage)
    live = peak = ZERO
    for place in range(end + 1):
        live = live + total(_rounded(s.bytes) for s in born[place]) - total(_rounded(s.bytes) for s in dead[place])
        if place < end:
            live = live + copied[place]
        peak = larger(peak, live + inner[place] if place < end else live)
    return peak
