"""Backward usage analysis: how many times the reference evaluation reads each element of every value.

The analysis walks a block from its results to its parameters.  At the op that defines a value all reads of that value are known;
they are the demand on the op, from which the reads of its operands follow.  An op without demand does not run.  One with a demand
runs once in each run of its block and stores its result, unless it is a view, which passes the demand on.  Calls are inlined in
the core; a call of a function whose signature states quantities reads its arguments as stated there, whatever its body does.

Grades of values inside a block count the reads of one run of the block.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Generic, TypeAlias, TypeVar

from ...lang.support.records import dataclass
from ...lang.syntax.source import Span
from ..core import operations as c
from ..core.operations import (
    Block,
    Core,
    CoreBranch,
    CoreCall,
    CoreFold,
    CoreLoop,
    FoldScan,
    MapCells,
    Op,
    ValueId,
    operands_of,
    results_of,
)
from ..elements import ArrayType
from ..proof.obligations import Relation, SizeFact
from ..sizes.polynomials import ONE, ZERO, Size, SizeVariable, number, product
from ..sizes.size import minimum
from .grades import NONE, ONCE, Grade, SizeContext, UsageCount, UsageSite, cell_range, exactly, less_one, operand_reads

# ---------------------------------------------------------------------------------------------------- blocks
#
# The reads of outer values by the blocks of maps, folds, loops and branches: the same rules for the core (below) and for the
# phase graph (`backend.graph.passes.usage`).  A value that a block captures is read once in each run of the block.

Value = TypeVar("Value", bound=int)
Body = TypeVar("Body")
OuterReads: TypeAlias = dict[Value, UsageCount]


@dataclass(frozen=True, slots=True)
class IterationUsage(Generic[Value]):
    """The iterations of a loop; its body's parameters are a cell of each of `cells`, then the state."""

    trip: Size
    index: SizeVariable | None
    cells: Sequence[Value]
    initial: Sequence[Value]
    keep: bool


class UsageWalk(ABC, Generic[Value, Body]):
    """A backward walk over blocks, whose ops the subclass handles."""

    def __init__(self, context: SizeContext) -> None:
        self.context = context
        self.grades: dict[Value, Grade] = {}
        self.uses: dict[Value, tuple[UsageSite, ...]] = {}

    @abstractmethod
    def ops(self, body: Body, usages: OuterReads[Value], *, live: bool) -> None:
        """Walk the ops of a block from last to first."""

    @abstractmethod
    def param_values(self, body: Body) -> tuple[Value, ...]:
        """The parameters of a block."""

    @abstractmethod
    def result_uses(self, body: Body, demands: Sequence[Grade]) -> list[tuple[Value, UsageSite]]:
        """The uses of a block's results, read as often as `demands` say."""

    def finish(self, value: Value, usages: OuterReads[Value]) -> Grade:
        """Record the grade of a value whose reads are all known."""
        usage = usages.pop(value, None)
        if usage is None:
            self.grades[value] = NONE
            return NONE
        usage.combine_parts(self.context)
        self.grades[value] = usage.grade.over_all_iterations()
        self.uses[value] = tuple(sorted(usage.uses, key=lambda use: (use.span.file, use.span.start)))
        return usage.grade

    def block(self, body: Body, demands: Sequence[Grade], *, live: bool) -> tuple[list[Grade], OuterReads[Value]]:
        """Walk a block: the grades of its parameters, and its reads of outer values."""
        usages: OuterReads[Value] = {}
        for value, use in self.result_uses(body, demands):
            usages.setdefault(value, UsageCount()).add(use)
        self.ops(body, usages, live=live)
        params = [self.finish(param, usages) for param in self.param_values(body)]
        for usage in usages.values():
            usage.combine_parts(self.context)
        return params, usages

    def lift(self, body: Body, args: Sequence[Value], frames: Sequence[int], frame: Sequence[Size], span: Span,
             demands: Sequence[Grade], usages: OuterReads[Value], *, runs: bool) -> None:  # fmt: skip
        """A body that runs once for each point of `frame`."""
        params, free = self.block(body, [demand.runs() for demand in demands], live=runs)
        if not runs:
            return
        frame_text = " ".join(str(size) for size in frame)
        for arg, length, grade in zip(args, frames, params, strict=True):
            times = product(frame[length:])
            prefix_text = " ".join(str(size) for size in frame[:length])
            why = "" if times == ONE else f"the function is lifted over ⟨{frame_text}⟩; this supplies only ⟨{prefix_text}⟩"
            usages.setdefault(arg, UsageCount()).add(UsageSite(span, grade.times(exactly(times)), why))
        count = product(frame)
        capture(free, exactly(count), f"captured by a function that runs {count} times", usages)

    def fold(self, body: Body, args: Sequence[Value], length: Size, span: Span, usages: OuterReads[Value], *, scan: bool,
        runs: bool
             ) -> None:  # fmt: skip
        """A fold or scan over `length` cells."""
        params, free = self.block(body, [ONCE if runs else NONE] * len(args), live=runs)
        if not runs:
            return
        several = self.context.proved(Relation.AT_MOST, number(2), length)
        single = self.context.proved(Relation.AT_MOST, length, ONE)
        half = len(args)
        for i, arg in enumerate(args):
            grade = ONCE  # a single item is only copied
            if not scan and not single:
                grade = params[i].join(params[half + i])
                grade = grade if several else grade.join(ONCE)
            elif scan and not single:
                grade = ONCE.join(params[half + i])
            usages.setdefault(arg, UsageCount()).add(UsageSite(span, grade))
        times = less_one(length)
        capture(free, times, f"captured by a function that runs {times} times", usages)

    def loop(
        self,
        body: Body,
        until: Body | None,
        iterations: IterationUsage[Value],
        span: Span,
        usages: OuterReads[Value],
        *,
        runs: bool,
    ) -> None:
        """A loop, which may end early and may have an index."""
        params, free = self.block(body, [ONCE if runs else NONE] * len(iterations.initial), live=runs)
        if until is not None:
            tested, outer = self.block(until, [ONCE if runs else NONE], live=runs)
            count = len(iterations.cells)
            params[count:] = [a.plus(b) for a, b in zip(params[count:], tested[len(iterations.initial) :], strict=True)]
            for value, usage in outer.items():
                free.setdefault(value, UsageCount()).include(usage)
        if not runs:
            return
        trips = exactly(iterations.trip)
        if until is not None:
            trips = Grade(minimum(trips.low, ONE), trips.high)
        for value, grade in zip(iterations.cells, params, strict=False):
            each = grade if until is None else Grade(ZERO, grade.high)
            usages.setdefault(value, UsageCount()).add(UsageSite(span, each))
        for value, grade in zip(iterations.initial, params[len(iterations.cells) :], strict=True):
            first = grade if iterations.index is None else grade.in_first_iteration(iterations.index)
            if iterations.keep or trips.high == ZERO:
                first = ONCE  # a copy into the states
            elif not self.context.proved(Relation.AT_MOST, ONE, trips.low):
                first = grade.join(ONCE)
            usages.setdefault(value, UsageCount()).add(UsageSite(span, first))
        if iterations.index is None:
            capture(free, trips, f"in a loop of {iterations.trip}", usages)
            return
        for value, usage in free.items():
            usages.setdefault(value, UsageCount()).include(
                usage.summed(iterations.index, trips, f"in a loop of {iterations.trip}")
            )

    def branch(self, then: Body, otherwise: Body, condition: Value, span: Span, demands: Sequence[Grade],
        usages: OuterReads[Value],
               *, runs: bool) -> None:  # fmt: skip
        """A branch, one arm of which runs."""
        then_reads = self.block(then, demands, live=runs)[1]
        otherwise_reads = self.block(otherwise, demands, live=runs)[1]
        if not runs:
            return
        usages.setdefault(condition, UsageCount()).add(UsageSite(span, ONCE))
        for value in then_reads | otherwise_reads:
            why = "only if the condition holds" if value not in otherwise_reads else ""
            if value not in then_reads:
                why = "only if the condition does not hold"
            usages.setdefault(value, UsageCount()).include(
                then_reads.get(value, UsageCount()).join(otherwise_reads.get(value, UsageCount()), why)
            )


def capture(free: OuterReads[Value], times: Grade, why: str, usages: OuterReads[Value]) -> None:
    """Add the reads of outer values by a block that runs `times` times."""
    for value, usage in free.items():
        usages.setdefault(value, UsageCount()).include(usage.times(times, why))


# ---------------------------------------------------------------------------------------------------- the core

_Free = OuterReads[ValueId]


@dataclass(frozen=True, slots=True)
class Demands:
    """The grade of every value, and a few of the sites that read it."""

    grades: Mapping[ValueId, Grade]
    uses: Mapping[ValueId, tuple[UsageSite, ...]]

    def grade(self, value: ValueId) -> Grade:
        return self.grades.get(value, NONE)

    def uses_of(self, value: ValueId) -> tuple[UsageSite, ...]:
        return self.uses.get(value, ())


def demands_of(core: Core) -> Demands:
    """The demands of a whole program, whose outputs and prints are read once."""
    walk = _BlockWalk(SizeContext(core.types, core.facts()), core.spans, nested(core.calls))
    roots = [(output.value, UsageSite(output.span, ONCE, "")) for output in core.outputs]
    return walk.demands(core.block, roots, [entry.value for entry in core.inputs])


def demands_of_block(
    block: Block, results: Sequence[ValueId], types: Mapping[ValueId, ArrayType], spans: Mapping[ValueId, Span],
    premises: Sequence[SizeFact], calls: Sequence[CoreCall] = (),
) -> Demands:  # fmt: skip
    """The demands of a function's body, each of whose results is read once; values that it never reads may be absent."""
    walk = _BlockWalk(SizeContext(types, premises), spans, nested(calls))
    return walk.demands(block, [(result, UsageSite(spans[result], ONCE, "")) for result in results], [])


class _BlockWalk(UsageWalk[ValueId, Block]):
    def __init__(self, context: SizeContext, spans: Mapping[ValueId, Span], calls: Sequence[_SignatureCall]) -> None:
        super().__init__(context)
        self.spans = spans
        self.calls = calls

    def demands(self, block: Block, roots: Sequence[tuple[ValueId, UsageSite]], outer: Sequence[ValueId]) -> Demands:
        usages: _Free = {}
        for value, use in roots:
            usages.setdefault(value, UsageCount()).add(use)
        self.ops(block, usages, live=True)
        for value in dict.fromkeys([*outer, *usages]):
            self.finish(value, usages)
        return Demands(self.grades, self.uses)

    def param_values(self, body: Block) -> tuple[ValueId, ...]:
        return body.params

    def result_uses(self, body: Block, demands: Sequence[Grade]) -> list[tuple[ValueId, UsageSite]]:
        return [(value, UsageSite(self.spans[value], demand)) for value, demand in zip(body.results, demands, strict=True)]

    def ops(self, block: Block, usages: _Free, *, live: bool) -> None:
        self.run(block.ops, self.calls, usages, live=live)

    def run(self, ops: Sequence[Op], calls: Sequence[_SignatureCall], usages: _Free, *, live: bool) -> None:
        """Walk ops from last to first, those of an inlined call together."""
        end = len(ops)
        while end:
            call = _call_of(ops, end - 1, calls)
            if call is None:
                end -= 1
                self.op(ops[end], usages, live=live)
            else:
                start = end
                while start and _call_of(ops, start - 1, (call,)) is not None:
                    start -= 1
                self.call(call, ops[start:end], usages, live=live)
                end = start

    def call(self, expanded: _SignatureCall, ops: Sequence[Op], usages: _Free, *, live: bool) -> None:
        """Walk the body of an inlined call, whose arguments are read as its signature states.

        Reads of the body beyond those stated count too: of a result that is a view of an argument and is read twice, or of an
        argument that the function also captures."""
        call = expanded.call
        promised: dict[ValueId, Grade] = {}
        for value, low, high in call.reads:
            promised[value] = promised.get(value, NONE).plus(Grade(low, high))
        before = {value: usages.pop(value, None) for value in promised}
        outside, self.calls = self.calls, expanded.inside  # also for the blocks of these ops
        self.run(ops, expanded.inside, usages, live=live)
        self.calls = outside
        demands = [self.grades.get(result, NONE) for result in call.results]
        runs = any(not demand.is_zero for demand in demands)
        for value, grade in promised.items():
            usage, known = usages.pop(value, None), before[value]
            if known is not None:
                usages[value] = known
            if usage is None and not runs:
                continue
            inner_tally = UsageCount() if usage is None else usage
            inner_tally.combine_parts(self.context)
            stated = grade if inner_tally.grade.within(grade, self.context.premises) else grade.join(inner_tally.grade)
            if runs:
                usages.setdefault(value, UsageCount()).add(UsageSite(call.span, stated, _why(inner_tally)))
            else:
                usages.setdefault(value, UsageCount()).include(inner_tally)

    def op(self, op: Op, usages: _Free, *, live: bool) -> None:
        match op:
            case c.CorePrint():
                if live:
                    usages.setdefault(op.arg, UsageCount()).add(UsageSite(self.spans[op.arg], ONCE))
            case c.BindSize():
                if live:
                    usages.setdefault(op.value, UsageCount()).add(UsageSite(self.spans[op.value], ONCE))
            case MapCells() | CoreFold() | FoldScan() | CoreLoop() | CoreBranch() | c.Library():
                demands = [self.finish(result, usages) for result in op.results]
                self.several(op, demands, usages)
            case c.Slice():
                part = cell_range(op, self.finish(op.result, usages), self.context)
                usages.setdefault(op.arg, UsageCount()).add_part(part, self.spans[op.result])
            case _:
                demand = self.finish(op.result, usages)
                for read in operand_reads(op, demand, self.context):
                    usages.setdefault(read.value, UsageCount()).add(UsageSite(self.spans[op.result], read.grade, read.why))

    def several(self, op: Op, demands: list[Grade], usages: _Free) -> None:
        """Ops with several results or with blocks."""
        runs = any(not demand.is_zero for demand in demands)
        match op:
            case c.Library():
                for read in operand_reads(op, ONCE, self.context) if runs else ():
                    usages.setdefault(read.value, UsageCount()).add(UsageSite(self.spans[op.results[0]], read.grade, read.why))
            case MapCells():
                self.lift(op.body, op.args, op.frames, op.frame, self.spans[op.results[0]], demands, usages, runs=runs)
            case CoreFold() | FoldScan():
                span, scan = self.spans[op.results[0]], isinstance(op, FoldScan)
                self.fold(op.body, op.args, self.context.shape(op.args[0])[0], span, usages, scan=scan, runs=runs)
            case CoreLoop():
                iterations = IterationUsage(op.trip, op.index, op.cells, op.initial, keep=op.keep)
                self.loop(op.body, op.until, iterations, self.spans[op.results[0]], usages, runs=runs)
            case CoreBranch():
                self.branch(
                    op.then, op.otherwise, op.condition, self.spans[op.condition], demands, usages, runs=runs or prints(op)
                )


@dataclass(frozen=True, slots=True)
class _SignatureCall:
    """A call, and the calls in its body, in order."""

    call: CoreCall
    inside: list[_SignatureCall]


def nested(calls: Sequence[CoreCall]) -> list[_SignatureCall]:
    """The outermost calls, in order."""
    outermost: list[_SignatureCall] = []
    around: list[_SignatureCall] = []
    for call in sorted(calls, key=lambda call: (call.first, -call.last)):
        while around and around[-1].call.last <= call.first:
            around.pop()
        entry = _SignatureCall(call, [])
        (around[-1].inside if around else outermost).append(entry)
        around.append(entry)
    return outermost


def _call_of(ops: Sequence[Op], at: int, calls: Sequence[_SignatureCall]) -> _SignatureCall | None:
    """The call, of some, whose body contains an op; the op that defines a size belongs to the next op."""
    while isinstance(ops[at], c.BindSize) and at + 1 < len(ops):
        at += 1
    op = ops[at]
    values = (results_of(op) or operands_of(op)) if calls else ()
    before = bisect_right(calls, values[0], key=lambda known: known.call.first) if values else 0
    return calls[before - 1] if before and values[0] < calls[before - 1].call.last else None


def _why(usage: UsageCount) -> str:
    """The reason that multiplies the reads inside a call, if there is one use."""
    return usage.uses[0].why if len(usage.uses) == 1 else ""


def prints(op: CoreBranch) -> bool:
    """Does an arm print?  Then the branch runs even if its results are not used."""
    pending = [op]
    while pending:
        branch = pending.pop()
        for inner in (*branch.then.ops, *branch.otherwise.ops):
            if isinstance(inner, c.CorePrint):
                return True
            if isinstance(inner, CoreBranch):
                pending.append(inner)
    return False
