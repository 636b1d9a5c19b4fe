"""The span of a graph: the longest chain of operations each of which needs the one before, with processors without end.

Rules.  An element-wise phase counts the longest chain of functions in its body; an associative reduction of n items
⌈2⍟n⌉ more (the documented order of float sums is a tree too, and its runs of 16 in the leaves count as part of it); other
reductions, scans and folds n.  A sort, a search or a grouping of n items counts the square of ⌈2⍟n⌉ (a sorting network) and 1.  A
matrix product counts 1 + ⌈2⍟k⌉, a transform 1 + ⌈2⍟n⌉, a factorisation its columns times 1 + ⌈2⍟rows⌉, other library ops 1.
A loop counts trips × body, a map its body once, a branch the longer arm and 1.  Views, inputs and constants count nothing.

A phase starts when its operands, what its body captures and the run-time sizes that its types mention are there.

Neighbours: `registry` (what library ops count), `costs` (work and bytes), `formulas` (logarithms).
"""

from __future__ import annotations

from collections.abc import Sequence

from ...typechecker.scalars import is_sequential
from ...typechecker.sizes import ZERO, Size, SizeVariable, capacity
from . import traverse
from .cells import cells_of
from .costs import Types
from .formulas import Logarithms, Span, larger
from .phases import (
    ApplyNode,
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
    Structured,
    ValueId,
)
from .registry import LIBRARY


def graph_span(graph: Graph) -> Span:
    """The span of a whole program, in the sizes of its inputs and params."""
    logs = Logarithms()
    found = _Walk(graph.types, logs).block(graph.phases)
    return Span(found, {v: size for size, v in logs.known.items()})


class _Walk:
    def __init__(self, types: Types, logs: Logarithms) -> None:
        self.types, self.logs = types, logs
        self.defined: dict[SizeVariable, Size] = {}

    def block(self, phases: Sequence[Phase]) -> Size:
        """The longest chain in a block; values from outside are there when it starts."""
        depths: dict[ValueId, Size] = {}
        longest = ZERO
        for phase in phases:
            start = ZERO
            for value in traverse.uses(phase):
                start = larger(start, depths.get(value, ZERO))
            for which in self.mentioned(phase):
                start = larger(start, self.defined.get(which, ZERO))
            end = start + self.phase(phase)
            for value in traverse.results(phase):
                depths[value] = end
            for which in traverse.defines(phase):
                self.defined[which] = end
            longest = larger(longest, end)
        return longest

    def mentioned(self, phase: Phase) -> set[SizeVariable]:
        """The run-time sizes a phase needs (not those it defines)."""
        if not self.defined:
            return set()
        found = {v for size in traverse.sizes(phase) for v in size.variables()}
        for value in traverse.results(phase):
            found.update(v for size in self.types[value].shape for v in size.variables())
        return found - set(traverse.defines(phase))

    def phase(self, phase: Phase) -> Size:
        """What one phase adds to a chain."""
        match phase:
            case Structured():
                return self.structured(phase)
            case LibraryPhase():
                return LIBRARY[phase.op].span(cells_of(phase, self.types), self.logs.of)
            case Loop():
                steps = self.block(phase.body.phases)
                if phase.until is not None:
                    steps = steps + self.block(phase.until.phases)
                return steps * capacity(phase.trip)
            case Fold():
                return self.block(phase.body.phases) * capacity(self.types[phase.args[0]].shape[0])
            case Map():
                return self.block(phase.body.phases)
            case Branch():
                return larger(self.block(phase.then.phases), self.block(phase.otherwise.phases)) + 1
            case Constant() | Input() | Print() | Output():
                return ZERO

    def structured(self, phase: Structured) -> Size:
        depths: list[int] = []
        for node in phase.body:
            depths.append(1 + max((depths[a] for a in node.args), default=0) if isinstance(node, ApplyNode) else 0)
        longest = max((depths[r.node] for r in phase.results), default=0)
        if any(r.reduction is not None for r in phase.results):
            length = phase.axes[-1].size
            in_turn = any(is_sequential(r.reduction or "") for r in phase.results)
            return (capacity(length) if in_turn else self.logs.of(length)) + longest
        return Size({(): longest})
