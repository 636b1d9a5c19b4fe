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
from dataclasses import field

from ...lang.records import dataclass
from ...lang.source import Span
from .. import core as c
from ..core import Block, Core, CoreCall, ValueId
from ..obligations import Relation, SizeFact
from ..sizes import ONE, ZERO, minimum, number, product
from ..types import ArrayType
from .grades import NONE, ONCE, Grade, exactly, less_one
from .reads import Setting, operand_reads, part_of
from .tally import Tally, Use
from .walk import operands_of, results_of

_Free = dict[ValueId, Tally]


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


@dataclass(slots=True)
class _Walk:
    setting: Setting
    spans: Mapping[ValueId, Span]
    calls: Sequence[_Call]
    grades: dict[ValueId, Grade] = field(default_factory=dict)
    uses: dict[ValueId, tuple[Use, ...]] = field(default_factory=dict)

    def whole(self, block: Block, roots: Sequence[tuple[ValueId, Use]], outer: Sequence[ValueId]) -> Demands:
        tallies: _Free = {}
        for value, use in roots:
            tallies.setdefault(value, Tally()).add(use)
        self.ops(block, tallies, live=True)
        for value in dict.fromkeys([*outer, *tallies]):
            self.finish(value, tallies)
        return Demands(self.grades, self.uses)

    def finish(self, value: ValueId, tallies: _Free) -> Grade:
        """All reads of a value are known: keep its grade."""
        tally = tallies.pop(value, None)
        if tally is None:
            self.grades[value] = NONE
            return NONE
        tally.settle(self.setting)
        self.grades[value] = tally.grade.of_any_turn()
        self.uses[value] = tuple(sorted(tally.uses, key=lambda use: (use.span.file, use.span.start)))
        return tally.grade

    def block(self, block: Block, demands: Sequence[Grade], *, live: bool) -> tuple[list[Grade], _Free]:
        """The grades of the parameters, and the reads of outer values."""
        tallies: _Free = {}
        for result, demand in zip(block.results, demands, strict=True):
            tallies.setdefault(result, Tally()).add(Use(self.spans[result], demand))
        self.ops(block, tallies, live=live)
        params = [self.finish(param, tallies) for param in block.params]
        for tally in tallies.values():
            tally.settle(self.setting)
        return params, tallies

    def ops(self, block: Block, tallies: _Free, *, live: bool) -> None:
        self.run(block.ops, self.calls, tallies, live=live)

    def run(self, ops: Sequence[c.Op], calls: Sequence[_Call], tallies: _Free, *, live: bool) -> None:
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

    def call(self, expanded: _Call, ops: Sequence[c.Op], tallies: _Free, *, live: bool) -> None:
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

    def op(self, op: c.Op, tallies: _Free, *, live: bool) -> None:
        match op:
            case c.Print():
                if live:
                    tallies.setdefault(op.arg, Tally()).add(Use(self.spans[op.arg], ONCE))
            case c.RuntimeSize():
                if live:
                    tallies.setdefault(op.value, Tally()).add(Use(self.spans[op.value], ONCE))
            case c.Lift() | c.Fold() | c.FoldScan() | c.Loop() | c.Branch() | c.Library():
                demands = [self.finish(result, tallies) for result in op.results]
                self.several(op, demands, tallies)
            case c.Slice():
                part = part_of(op, self.finish(op.result, tallies), self.setting)
                tallies.setdefault(op.arg, Tally()).add_part(part, self.spans[op.result])
            case _:
                demand = self.finish(op.result, tallies)
                for read in operand_reads(op, demand, self.setting):
                    tallies.setdefault(read.value, Tally()).add(Use(self.spans[op.result], read.grade, read.why))

    def several(self, op: c.Op, demands: list[Grade], tallies: _Free) -> None:
        """Ops with several results or with blocks."""
        runs = any(not demand.is_zero for demand in demands)
        match op:
            case c.Library():
                if runs:
                    for arg in op.args:
                        tallies.setdefault(arg, Tally()).add(Use(self.spans[op.results[0]], ONCE))
            case c.Lift():
                self.lift(op, [demand.delta() for demand in demands], tallies, runs=runs)
            case c.Fold() | c.FoldScan():
                self.fold(op, tallies, runs=runs)
            case c.Loop():
                self.loop(op, tallies, runs=runs)
            case c.Branch():
                self.branch(op, demands, tallies, runs=runs or prints(op))

    def lift(self, op: c.Lift, demands: list[Grade], tallies: _Free, *, runs: bool) -> None:
        params, free = self.block(op.body, demands, live=runs)
        if not runs:
            return
        span, whole = self.spans[op.results[0]], " ".join(str(size) for size in op.frame)
        for arg, length, grade in zip(op.args, op.frames, params, strict=True):
            times = product(op.frame[length:])
            own = " ".join(str(size) for size in op.frame[:length])
            why = "" if times == ONE else f"the function is lifted over ⟨{whole}⟩; this supplies only ⟨{own}⟩"
            tallies.setdefault(arg, Tally()).add(Use(span, grade.times(exactly(times)), why))
        count = product(op.frame)
        _capture(free, exactly(count), f"captured by a function that runs {count} times", tallies)

    def fold(self, op: c.Fold | c.FoldScan, tallies: _Free, *, runs: bool) -> None:
        params, free = self.block(op.body, [ONCE if runs else NONE] * len(op.body.results), live=runs)
        if not runs:
            return
        length = self.setting.shape(op.args[0])[0]
        several = self.setting.proved(Relation.AT_MOST, number(2), length)
        single = self.setting.proved(Relation.AT_MOST, length, ONE)
        half = len(op.args)
        for i, arg in enumerate(op.args):
            grade = ONCE  # of one item there is only its copy
            if isinstance(op, c.Fold) and not single:
                grade = params[i].join(params[half + i])
                grade = grade if several else grade.join(ONCE)
            elif isinstance(op, c.FoldScan) and not single:
                grade = ONCE.join(params[half + i])
            tallies.setdefault(arg, Tally()).add(Use(self.spans[op.results[0]], grade))
        times = less_one(length)
        _capture(free, times, f"captured by a function that runs {times} times", tallies)

    def loop(self, op: c.Loop, tallies: _Free, *, runs: bool) -> None:
        params, free = self.block(op.body, [ONCE if runs else NONE] * len(op.body.results), live=runs)
        if op.until is not None:
            tested, outer = self.block(op.until, [ONCE if runs else NONE], live=runs)
            count = len(op.cells)
            params[count:] = [a.plus(b) for a, b in zip(params[count:], tested[len(op.initial) :], strict=True)]
            for value, tally in outer.items():
                free.setdefault(value, Tally()).include(tally)
        if not runs:
            return
        trips = exactly(op.trip)
        if op.until is not None:
            trips = Grade(minimum(trips.low, ONE), trips.high)
        for value, grade in zip(op.cells, params, strict=False):
            each = grade if op.until is None else Grade(ZERO, grade.high)
            tallies.setdefault(value, Tally()).add(Use(self.spans[op.results[0]], each))
        for value, grade in zip(op.initial, params[len(op.cells) :], strict=True):
            first = grade if op.index is None else grade.first_turn(op.index)
            if op.keep or trips.high == ZERO:
                first = ONCE  # a copy into the states
            elif not self.setting.proved(Relation.AT_MOST, ONE, trips.low):
                first = grade.join(ONCE)
            tallies.setdefault(value, Tally()).add(Use(self.spans[op.results[0]], first))
        if op.index is None:
            _capture(free, trips, f"in a loop of {op.trip}", tallies)
            return
        for value, tally in free.items():
            tallies.setdefault(value, Tally()).include(tally.summed(op.index, trips, f"in a loop of {op.trip}"))

    def branch(self, op: c.Branch, demands: list[Grade], tallies: _Free, *, runs: bool) -> None:
        then = self.block(op.then, demands, live=runs)[1]
        otherwise = self.block(op.otherwise, demands, live=runs)[1]
        if not runs:
            return
        tallies.setdefault(op.condition, Tally()).add(Use(self.spans[op.condition], ONCE))
        for value in then | otherwise:
            left, right = then.get(value, Tally()), otherwise.get(value, Tally())
            why = "only if the condition holds" if value not in otherwise else ""
            if value not in then:
                why = "only if the condition does not hold"
            tallies.setdefault(value, Tally()).include(left.join(right, why))


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


def _call_of(ops: Sequence[c.Op], at: int, calls: Sequence[_Call]) -> _Call | None:
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


def _capture(free: _Free, times: Grade, why: str, tallies: _Free) -> None:
    """Outer values that a block reads each time it runs."""
    for value, tally in free.items():
        tallies.setdefault(value, Tally()).include(tally.times(times, why))


def prints(op: c.Branch) -> bool:
    """Does an arm print?  Then the branch runs although nothing needs its results."""
    pending = [op]
    while pending:
        branch = pending.pop()
        for inner in (*branch.then.ops, *branch.otherwise.ops):
            if isinstance(inner, c.Print):
                return True
            if isinstance(inner, c.Branch):
                pending.append(inner)
    return False
