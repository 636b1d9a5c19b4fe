"""Loop invariants: what every iteration of a loop, fold or map would compute alike is computed once, before it.

Moved are structured and library phases that read nothing made in the body, mention no size defined in it, and cannot fail (a loop
that never runs must not fail either; its wasted work is bounded by one iteration).  What is cheaper to compute again than to
read back, such as a conversion or a transposition, stays until fusion has had it, unless it is a single number; what fusion left
as a phase would be computed by itself in each iteration, and moves then (`hoist_rest`).  Arms of branches keep their phases: they
may not run.  A loop whose body needed that it runs (`Loop.premised`) keeps its phases too, unless it surely does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import replace
from enum import Enum
from math import prod

from ....typechecker.sizes import Size, SizeVariable, number
from ..phases import Branch, Constant, Graph, LibraryPhase, Loop, Phase, Structured, SubGraph, ValueId
from ..traverse import defines, operands, results, sizes, with_subgraphs
from .fusion import is_cheap
from .rewriting import is_view, phase_may_fail


def hoist_invariants(graph: Graph) -> Graph:
    """What is not to be fused with its readers; see the module."""
    return replace(graph, phases=_Hoisting(graph, _Stage.BEFORE_FUSION).block(graph.phases))


def hoist_rest(graph: Graph) -> Graph:
    """The same of what fusion has left."""
    phases = _Hoisting(graph, _Stage.AFTER_FUSION).block(graph.phases)
    return graph if phases == graph.phases else replace(graph, phases=phases)


class _Stage(Enum):
    BEFORE_FUSION = "before fusion"
    AFTER_FUSION = "after fusion"


class _Hoisting:
    def __init__(self, graph: Graph, stage: _Stage) -> None:
        self.graph, self.stage = graph, stage

    def block(self, phases: Sequence[Phase]) -> tuple[Phase, ...]:
        done: list[Phase] = []
        for phase in phases:
            moved: list[Phase] = []
            if isinstance(phase, Branch) or (isinstance(phase, Loop) and phase.premised and (phase.trip.bounds()[0] or 0) < 1):
                phase = with_subgraphs(phase, lambda g: replace(g, phases=self.block(g.phases)))
            else:
                index = {phase.index} if isinstance(phase, Loop) and phase.index is not None else set[SizeVariable]()
                phase = with_subgraphs(phase, lambda g, out=moved, own=index: self.body(g, out, own))  # type: ignore[misc]
            done.extend(moved)
            done.append(phase)
        return tuple(done)

    def body(self, graph: SubGraph, moved: list[Phase], own: Set[SizeVariable]) -> SubGraph:
        """The body without its invariant phases, which go to `moved` in order."""
        phases = self.block(graph.phases)
        inside: set[ValueId | SizeVariable] = {*graph.params, *own}
        for phase in phases:
            inside.update(results(phase))
            inside.update(defines(phase))
        kept: list[Phase] = []
        for phase in phases:
            if self.may_move(phase) and not self.mentions(phase, inside):
                inside.difference_update(results(phase))
                moved.append(phase)
            else:
                kept.append(phase)
        return replace(graph, phases=tuple(kept))

    def may_move(self, phase: Phase) -> bool:
        match phase:
            case Structured():
                if phase.axes and (is_cheap(phase) or is_view(phase)):
                    return self.stage is _Stage.AFTER_FUSION and self.is_no_larger(phase) and not phase_may_fail(phase)
                return not phase_may_fail(phase)
            case LibraryPhase():
                return not phase.defines and not phase_may_fail(phase)
            case Constant():
                return True
            case _:
                return False

    def is_no_larger(self, phase: Structured) -> bool:
        """Each result has no more items than some operand: what is kept during the loop is no matrix of vectors."""
        read = [self.graph.types[value].shape for value in operands(phase)]
        made = [self.graph.types[value].shape for value in results(phase)]
        return all(any(_is_within(shape, other) for other in read) for shape in made)

    def mentions(self, phase: Phase, inside: set[ValueId | SizeVariable]) -> bool:
        if any(v in inside for v in operands(phase)):
            return True
        types = (size for value in results(phase) for size in self.graph.types[value].shape)
        return any(v in inside for size in (*sizes(phase), *types) for v in size.variables())


def _is_within(shape: Sequence[Size], other: Sequence[Size]) -> bool:
    """Has one shape surely no more items than another?"""
    items, others = (prod(sizes, start=number(1)) for sizes in (shape, other))
    few, many = items.constant, others.constant
    return items == others or Counter(shape) <= Counter(other) or (few is not None and many is not None and few <= many)
