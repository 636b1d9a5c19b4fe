"""The span of a graph: the longest chain of operations each of which needs the one before, with processors without end.

Rules.  An element-wise phase counts the longest chain of functions in its body; an associative reduction of n items
⌈2⍟n⌉ more (the documented order of float sums is a tree too, and its runs of 16 in the leaves count as part of it); other
reductions, scans and folds n.  A sort, a search or a grouping of n items counts the square of ⌈2⍟n⌉ (a sorting network) and 1.  A
matrix product counts 1 + ⌈2⍟k⌉, a transform 1 + ⌈2⍟n⌉, a factorisation its columns times 1 + ⌈2⍟rows⌉, other library ops 1.
A loop counts trips × body, a map its body once, a branch the longer arm and 1.  Views, inputs and constants count nothing.

A phase starts when its operands, what its body captures and the run-time sizes that its types mention are there.

Neighbours: `costs` (work and bytes), `formulas` (logarithms).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from ...typechecker.scalars import FUNCTIONS, is_sequential
from ...typechecker.sizes import ONE, ZERO, Size, SizeVariable, capacity, product
from . import traverse
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
from .registry import Cells, cells_of


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
                rule = _RULES.get(phase.op)
                return ONE if rule is None else rule(cells_of(phase, self.types), self.logs.of)
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


# ------------------------------------------------------------------------------------- library ops

Log = Callable[[Size], Size]
Rule = Callable[[Cells, Log], Size]


def _length(cells: Cells) -> Size:
    return capacity(cells.args[0][cells.axis])


def _scan(cells: Cells, log: Log) -> Size:
    function = cells.attributes["function"]
    assert isinstance(function, str)
    associative = function in FUNCTIONS and FUNCTIONS[function].associative
    return log(_length(cells)) if associative else _length(cells)


def _square(size: Size) -> Size:
    return size * size


def _sorted(which: int) -> Rule:
    return lambda cells, log: ONE + _square(log(product(cells.args[which])))


def _searched(cells: Cells, log: Log) -> Size:
    return ONE + _square(log(product(cells.args[0]) + product(cells.args[1])))


def _tree(which: int) -> Rule:
    return lambda cells, log: ONE + log(product(cells.args[which]))


def _factored(which: int) -> Rule:
    def rule(cells: Cells, log: Log) -> Size:
        shape = cells.args[which]
        rows, columns = shape[-2:] if len(shape) >= 2 else (product(shape), ONE)
        return capacity(columns) * (ONE + log(rows))

    return rule


def _decoded(cells: Cells, log: Log) -> Size:
    steps = cells.args[1][0] if cells.args[1] else cells.args[0][-1] if cells.args[0] else ONE
    return capacity(steps)


_RULES: Final[dict[str, Rule]] = {
    "scan": _scan,
    "contract": lambda cells, log: ONE + (log(cells.args[0][-1]) if cells.args[0] else ZERO),
    "compress": _tree(0), "expand": _tree(0), "where": _tree(0), "mask_update": _tree(1),
    "first_occurrence": _sorted(0), "grade": _sorted(0), "grade_by": _sorted(1), "key_reduce": _sorted(0),
    "index_of": _searched, "member_of": _searched, "interval_index": _searched,
    "find": _tree(0), "match": _tree(0), "decode": _decoded,
    "encode": lambda cells, log: capacity(cells.args[0][0]) if cells.args[0] else ONE,
    "fft": lambda cells, log: ONE + log(cells.args[0][-1]), "ifft": lambda cells, log: ONE + log(cells.args[0][-1]),
    "rfft": lambda cells, log: ONE + log(cells.args[0][-1]), "irfft": lambda cells, log: ONE + log(cells.results[0][-1]),
    "inverse": _factored(0), "solve": _factored(1), "cholesky": _factored(0), "qr": _factored(0), "svd": _factored(0),
    "eigh": _factored(0), "det": _factored(0), "slogdet": _factored(0),
}  # fmt: skip
"""Library ops that count more than one step."""
