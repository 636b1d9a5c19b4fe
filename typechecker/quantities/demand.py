"""Backward demand: how many times the reference evaluation reads each element of every value (types.md 4.2).

The walk goes through a block from its results to its parameters.  When it meets the op that makes a value, all reads of
that value are known; they are the demand on the op, and the op's operands are read accordingly.  A node that nothing
demands does not run; one that is demanded runs once each time its block runs, and makes its result, unless it is a
view, which hands the demand on.  Functions that were called are expanded in the core; a call of one whose signature
states quantities reads its arguments as stated there, whatever its body does.

Grades of values inside a block count the reads of one run of the block.

Neighbours: `reads` (ops without blocks), `tally` (sums of reads), `contracts` and `describe` (what is made of it).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence

from ...lang.records import dataclass
from ...lang.source import Span
from .. import core as c
from ..core import ValueId
from ..core_blocks import Block, Branch, Core, CoreCall, Fold, FoldScan, Lift, Loop, Op
from ..core_walk import operands_of, results_of
from ..obligations import SizeFact
from ..types import ArrayType
from .blocks import Free, Turns, Walk
from .grades import NONE, ONCE, Grade
from .reads import Setting, operand_reads, part_of
from .tally import Tally, Use

_Free = Free[ValueId]


@dataclass(frozen=True, slots=True)
class Demands:
    """The grade of every value, and where each is read (a few places a value)."""

    grades: Mapping[ValueId, Grade]
    uses: Mapping[ValueId, tuple[Use, ...]]

    def grade(self, value: ValueId) -> Grade:
        return self.grades.get(value, NONE)

    def uses_of(self, value: ValueId) -> tuple[Use, ...]:
        return self.uses.get(value, ())


def demands_of(core: Core) -> Demands:
    """The demands of a whole program, whose outputs and prints are read once."""
    walk = _Walk(Setting(core.types, core.facts()), core.spans, nested(core.calls))
    roots = [(output.value, Use(output.span, ONCE, "")) for output in core.outputs]
    return walk.whole(core.block, roots, [entry.value for entry in core.inputs])


def demands_of_block(
    block: Block, results: Sequence[ValueId], types: Mapping[ValueId, ArrayType], spans: Mapping[ValueId, Span],
    premises: Sequence[SizeFact], calls: Sequence[CoreCall] = (),
) -> Demands:  # fmt: skip
    """The demands of a function's body, each of whose results is read once; values that it never reads may be absent."""
    walk = _Walk(Setting(types, premises), spans, nested(calls))
    return walk.whole(block, [(result, Use(spans[result], ONCE, "")) for result in results], [])


class _Walk(Walk[ValueId, Block]):
    def __init__(self, setting: Setting, spans: Mapping[ValueId, Span], calls: Sequence[_Call]) -> None:
        super().__init__(setting)
        self.spans = spans
        self.calls = calls

    def whole(self, block: Block, roots: Sequence[tuple[ValueId, Use]], outer: Sequence[ValueId]) -> Demands:
        tallies: _Free = {}
        for value, use in roots:
            tallies.setdefault(value, Tally()).add(use)
        self.ops(block, tallies, live=True)
        for value in dict.fromkeys([*outer, *tallies]):
            self.finish(value, tallies)
        return Demands(self.grades, self.uses)

    def param_values(self, body: Block) -> tuple[ValueId, ...]:
        return body.params

    def result_uses(self, body: Block, demands: Sequence[Grade]) -> list[tuple[ValueId, Use]]:
        return [(value, Use(self.spans[value], demand)) for value, demand in zip(body.results, demands, strict=True)]

    def ops(self, block: Block, tallies: _Free, *, live: bool) -> None:
        self.run(block.ops, self.calls, tallies, live=live)

    def run(self, ops: Sequence[Op], calls: Sequence[_Call], tallies: _Free, *, live: bool) -> None:
        """The ops from last to first; those of a call together."""
        end = len(ops)
        while end:
            call = _call_of(ops, end - 1, calls)
            if call is None:
                end -= 1
                self.op(ops[end], tallies, live=live)
            else:
                start = end
                while start and _call_of(ops, start - 1, (call,)) is not None:
                    start -= 1
                self.call(call, ops[start:end], tallies, live=live)
                end = start

    def call(self, expanded: _Call, ops: Sequence[Op], tallies: _Free, *, live: bool) -> None:
        """The body of a call: its arguments are read as its signature states.

        The body's own reads count too where they are not within what is stated: of a result that is a view of an argument
        and is read twice, of an argument that the function also captures."""
        call = expanded.call
        promised: dict[ValueId, Grade] = {}
        for value, low, high in call.reads:
            promised[value] = promised.get(value, NONE).plus(Grade(low, high))
        before = {value: tallies.pop(value, None) for value in promised}
        outside, self.calls = self.calls, expanded.inside  # also in the blocks of these ops, which are part of the same call
        self.run(ops, expanded.inside, tallies, live=live)
        self.calls = outside
        demands = [self.grades.get(result, NONE) for result in call.results]
        runs = any(not demand.is_zero for demand in demands)
        for value, grade in promised.items():
            found, known = tallies.pop(value, None), before[value]
            if known is not None:
                tallies[value] = known
            if found is None and not runs:
                continue
            own = Tally() if found is None else found
            own.settle(self.setting)
            stated = grade if own.grade.within(grade, self.setting.premises) else grade.join(own.grade)
            if runs:
                tallies.setdefault(value, Tally()).add(Use(call.span, stated, _why(own)))
            else:
                tallies.setdefault(value, Tally()).include(own)

    def op(self, op: Op, tallies: _Free, *, live: bool) -> None:
        match op:
            case c.Print():
                if live:
                    tallies.setdefault(op.arg, Tally()).add(Use(self.spans[op.arg], ONCE))
            case c.RuntimeSize():
                if live:
                    tallies.setdefault(op.value, Tally()).add(Use(self.spans[op.value], ONCE))
            case Lift() | Fold() | FoldScan() | Loop() | Branch() | c.Library():
                demands = [self.finish(result, tallies) for result in op.results]
                self.several(op, demands, tallies)
            case c.Slice():
                part = part_of(op, self.finish(op.result, tallies), self.setting)
                tallies.setdefault(op.arg, Tally()).add_part(part, self.spans[op.result])
            case _:
                demand = self.finish(op.result, tallies)
                for read in operand_reads(op, demand, self.setting):
                    tallies.setdefault(read.value, Tally()).add(Use(self.spans[op.result], read.grade, read.why))

    def several(self, op: Op, demands: list[Grade], tallies: _Free) -> None:
        """Ops with several results or with blocks."""
        runs = any(not demand.is_zero for demand in demands)
        match op:
            case c.Library():
                for read in operand_reads(op, ONCE, self.setting) if runs else ():
                    tallies.setdefault(read.value, Tally()).add(Use(self.spans[op.results[0]], read.grade, read.why))
            case Lift():
                self.lift(op.body, op.args, op.frames, op.frame, self.spans[op.results[0]], demands, tallies, runs=runs)
            case Fold() | FoldScan():
                span, scan = self.spans[op.results[0]], isinstance(op, FoldScan)
                self.fold(op.body, op.args, self.setting.shape(op.args[0])[0], span, tallies, scan=scan, runs=runs)
            case Loop():
                turns = Turns(op.trip, op.index, op.cells, op.initial, keep=op.keep)
                self.loop(op.body, op.until, turns, self.spans[op.results[0]], tallies, runs=runs)
            case Branch():
                self.branch(
                    op.then, op.otherwise, op.condition, self.spans[op.condition], demands, tallies, runs=runs or prints(op)
                )


@dataclass(frozen=True, slots=True)
class _Call:
    """A call and the calls in its body, in order."""

    call: CoreCall
    inside: list[_Call]


def nested(calls: Sequence[CoreCall]) -> list[_Call]:
    """The calls that are in no other's body, in order."""
    outermost: list[_Call] = []
    around: list[_Call] = []
    for call in sorted(calls, key=lambda call: (call.first, -call.last)):
        while around and around[-1].call.last <= call.first:
            around.pop()
        made = _Call(call, [])
        (around[-1].inside if around else outermost).append(made)
        around.append(made)
    return outermost


def _call_of(ops: Sequence[Op], at: int, calls: Sequence[_Call]) -> _Call | None:
    """Which of these calls an op is in the body of; a size that an op takes is defined just before it."""
    while isinstance(ops[at], c.RuntimeSize) and at + 1 < len(ops):
        at += 1
    op = ops[at]
    made = (results_of(op) or operands_of(op)) if calls else ()
    before = bisect_right(calls, made[0], key=lambda known: known.call.first) if made else 0
    return calls[before - 1] if before and made[0] < calls[before - 1].call.last else None


def _why(tally: Tally) -> str:
    """What multiplies the reads inside a call, if it is one thing."""
    return tally.uses[0].why if len(tally.uses) == 1 else ""


def prints(op: Branch) -> bool:
    """Does an arm print?  Then the branch runs although nothing needs its results."""
    pending = [op]
    while pending:
        branch = pending.pop()
        for inner in (*branch.then.ops, *branch.otherwise.ops):
            if isinstance(inner, c.Print):
                return True
            if isinstance(inner, Branch):
                pending.append(inner)
    return False
