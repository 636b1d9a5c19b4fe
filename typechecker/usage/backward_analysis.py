"""Backward usage analysis: a grade for each value, which counts how often the reference evaluation reads each of its elements.

The analysis walks a block from its results to its parameters.  When it reaches the op that defines a value, all reads of that
value are known; they are the demand on the op, from which the reads of its operands follow.  An op without demand does not run.
One with a demand runs once in each run of its block and stores its result, unless it is a *view* (transpose, broadcast, reverse,
rotate, slice, windows, a reshape that keeps the number of elements), which passes the demand on to its operand.  Calls are
inlined in the core; a call of a function whose signature states quantities reads its arguments as stated, whatever its body does.

Grades of values inside a block count the reads of one run of the block.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Generic, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

from ...lang.diagnostics.model import Verdict
from ...lang.support.records import dataclass, field
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
from ..proof.prover import prove_without_examples
from ..sizes.polynomials import ONE, ZERO, AtomKind, NonlinearAtom, Size, SizeVariable, as_size, number, product, variable
from ..sizes.size import (
    lower_bound,
    maximum,
    minimum,
    placeholder,
    quotient,
    sum_upper_bound,
    summed,
    truncated_subtract,
    upper_bound,
    with_placeholders,
    without_placeholders,
)

# ---------------------------------------------------------------------------------------------------- grades
#
# A grade is an interval `low..high` of natural numbers, both formulas in sizes; `high` may be ω (no bound).
#
# Addition and multiplication are pointwise (0·ω is 0); `join` is the smallest interval that contains both.  A formula with more
# than 64 monomials is dropped: a `low` becomes 0, a `high` ω.  Runtime sizes do not occur in grades: they are replaced by their
# bounds.

MOST_MONOMIALS = 64
_LONGEST_KEY = 4000  # characters of a formula's key, for formulas nested in atoms


@dataclass(frozen=True, slots=True)
class Grade:
    """`low..high`; a `high` of None is ω."""

    low: Size
    high: Size | None

    @property
    def is_zero(self) -> bool:
        """Is nothing ever read?"""
        return self.high == ZERO

    @property
    def is_exact(self) -> bool:
        return self.low == self.high

    @property
    def is_number(self) -> bool:
        return self.low.constant is not None and (self.high is None or self.high.constant is not None)

    def plus(self, other: Grade) -> Grade:
        if self.is_zero:
            return other
        if other.is_zero:
            return self
        high = None if self.high is None or other.high is None else self.high + other.high
        return _capped(self.low + other.low, high)

    def times(self, other: Grade) -> Grade:
        if self.is_zero or other.is_zero:
            return NONE
        if self == ONCE:
            return other
        if other == ONCE:
            return self
        high = None if self.high is None or other.high is None else self.high * other.high
        return _capped(self.low * other.low, high)

    def join(self, other: Grade) -> Grade:
        """The smallest grade that contains both."""
        if self == other:
            return self
        high = None if self.high is None or other.high is None else maximum(self.high, other.high)
        return _capped(minimum(self.low, other.low), high)

    def at_most(self) -> Grade:
        """`0..high`, for a value of which only a part is read."""
        return Grade(ZERO, self.high)

    def runs(self) -> Grade:
        """The grade of the runs of an op with this demand: once, or never."""
        return NONE if self.is_zero else ONCE

    def within(self, other: Grade, premises: Sequence[SizeFact]) -> bool:
        """Is the interval proved to be within `other`'s?"""
        return _at_most(other.low, self.low, premises) and _at_most(self.high, other.high, premises)

    def holds(self, count: int, sizes: Mapping[SizeVariable, int]) -> bool:
        """Is a number of reads in the interval, for these sizes?"""
        return self.low.evaluate(sizes) <= count and (self.high is None or count <= self.high.evaluate(sizes))

    def over_all_iterations(self) -> Grade:
        """The least and the most reads over all iterations of loops whose index occurs in the grade."""
        low, high = without_placeholders(self.low), None if self.high is None else without_placeholders(self.high)
        return (
            self if (low, high) == (self.low, self.high) else Grade(maximum(ZERO, lower_bound(low)), high and upper_bound(high))
        )

    def in_first_iteration(self, index: SizeVariable) -> Grade:
        """The grade in the first iteration of a loop with an index."""
        first = {placeholder(index): ZERO}
        return Grade(self.low.substitute(first), None if self.high is None else self.high.substitute(first))

    def summed(self, index: SizeVariable, trips: Grade) -> Grade:
        """The sum over the iterations of a loop with an index."""
        high = None if self.high is None or trips.high is None else sum_upper_bound(self.high, index, trips.high)
        low = summed(self.low, index, trips.low)
        return _capped(ZERO if low is None else low, high)

    def __str__(self) -> str:
        if self.high is None:
            return "ω" if self.low == ZERO else f"{self.low}..ω"
        return str(self.high) if self.is_exact else f"{self.low}..{self.high}"


def exactly(count: Size | int) -> Grade:
    """The grade of exactly `count` reads, which is not negative.

    Runtime sizes in it are replaced by their bounds, except loop indices, which stay (as placeholders) until the loop sums
    them."""
    size = with_placeholders(as_size(count))
    if not size.is_runtime():
        return Grade(size, size)
    return Grade(maximum(ZERO, lower_bound(size)), maximum(ZERO, upper_bound(size)))


def up_to(count: Size | int) -> Grade:
    """The grade of at most `count` reads."""
    return exactly(count).at_most()


def less_one(count: Size) -> Grade:
    """The grade of `0⌈count-1` reads."""
    grade = exactly(count)
    assert grade.high is not None
    return Grade(truncated_subtract(grade.low, 1), truncated_subtract(grade.high, 1))


def _capped(low: Size, high: Size | None) -> Grade:
    return Grade(ZERO if _is_large(low) else low, None if high is None or _is_large(high) else high)


def _is_large(size: Size) -> bool:
    return len(size.terms) > MOST_MONOMIALS or len(size.key) > _LONGEST_KEY


def _at_most(small: Size | None, large: Size | None, premises: Sequence[SizeFact]) -> bool:
    if large is None:
        return True
    if small is None:
        return False
    if small in (large, ZERO):
        return True
    return prove_without_examples(SizeFact(Relation.AT_MOST, small, large), premises) is Verdict.PROVED


NONE = Grade(ZERO, ZERO)
ONCE = Grade(ONE, ONE)
ANY = Grade(ZERO, None)


# ---------------------------------------------------------------------------------------------------- reads of one op

@dataclass(frozen=True, slots=True)
class CountedRead:
    """The reads of one operand by one op; `why` names the cause of a multiple, "" if there is none."""

    value: ValueId
    grade: Grade
    why: str = ""


@dataclass(frozen=True, slots=True)
class CellRange:
    """A read of the major cells `start ≤ i < stop` of an operand of this shape, `demand` times each.

    `covers_axes`: all other axes are read in full."""

    shape: tuple[Size, ...]
    start: Size
    stop: Size
    demand: Grade
    covers_axes: bool


@dataclass(frozen=True, slots=True)
class SizeContext:
    """The types of values and the premises about sizes, for the usage analysis."""

    types: Mapping[ValueId, ArrayType]
    premises: Sequence[SizeFact]

    def shape(self, value: ValueId) -> tuple[Size, ...]:
        return self.types[value].shape

    def count(self, value: ValueId) -> Size:
        """The number of elements."""
        return product(self.types[value].shape)

    def proved(self, relation: Relation, left: Size, right: Size) -> bool:
        if left == right:
            return relation is not Relation.LESS
        return prove_without_examples(SizeFact(relation, left, right), self.premises) is Verdict.PROVED

    def keeps_elements(self, op: c.Reshape) -> bool:
        """Is this reshape a view: does its result have exactly the elements of its operand?"""
        count, result_count = self.count(op.arg), self.count(op.result)
        return self.proved(Relation.EQUAL, count, result_count) or any(
            fact.relation is Relation.DIVIDES and fact.right == count and fact.left * quotient(count, fact.left) == result_count
            for fact in self.premises
        )


def cell_range(op: c.Slice, demand: Grade, context: SizeContext) -> CellRange:
    """The major cells that a take or drop reads; those outside the operand are fills."""
    operand_shape, result_shape = context.shape(op.arg), context.shape(op.result)
    if not operand_shape:
        return CellRange(operand_shape, ZERO, ONE, demand, True)
    starts = (*op.starts, *[ZERO] * (len(operand_shape) - len(op.starts)))
    covers_all = all(
        context.proved(Relation.AT_MOST, start, ZERO) and context.proved(Relation.AT_MOST, size, start + length)
        for start, length, size in zip(starts[1:], result_shape[1:], operand_shape[1:], strict=True)
    )
    return CellRange(operand_shape, starts[0], starts[0] + result_shape[0], demand, covers_all)


def operand_reads(op: c.Op, demand: Grade, context: SizeContext) -> list[CountedRead]:
    """The reads of an op without blocks whose result has this demand; for a slice see `cell_range`."""
    if demand.is_zero:
        return []
    match op:
        case c.Reshape() | c.Transpose() | c.Broadcast() | c.Reverse() | c.Rotate() | c.SlidingWindows():
            return _view(op, demand, context)
        case c.Scalar():
            result_shape = context.shape(op.result)
            return [_extended(arg, result_shape[len(context.shape(arg)) :], result_shape) for arg in op.args]
        case c.Gather() | c.Update() | c.MaskedUpdate() | c.Compress() | c.Expand() | c.Where():
            return _selection(op, context)
        case c.Contract():
            left, right = context.shape(op.left), context.shape(op.right)
            return [_paired(op.left, right[1:], "columns of the right"), _paired(op.right, left[:-1], "rows of the left")]
        case c.Library(name="decode", args=(radix, arg)):
            left, right = context.shape(radix), context.shape(arg)
            return [_paired(radix, right[1:], "columns of the right"), _paired(arg, left[:-1], "rows of the left")]
        case c.Library(name="encode", args=(radix, arg)):
            left, right = context.shape(radix), context.shape(arg)
            return [_paired(radix, right, "elements of the right"), _paired(arg, left[1:], "columns of the left")]
        case _:
            return [CountedRead(value, ONCE) for value in plain_operands(op)]


def plain_operands(op: c.Op) -> tuple[ValueId, ...]:
    """The operands of an op that reads each element once."""
    match op:
        case c.Join() | c.Stack() | c.Library():
            return op.args
        case c.Reduce() | c.Scan() | c.Format():
            return (op.arg,)
        case c.KeyReduce():
            return op.indices, op.arg
        case _:
            return ()


def _view(op: c.Op, demand: Grade, context: SizeContext) -> list[CountedRead]:
    match op:
        case c.Reshape():
            if context.keeps_elements(op):
                return [CountedRead(op.arg, demand)]
            return [
                CountedRead(
                    op.arg, _cycled(context.count(op.arg), context.count(op.result), context), "reshape cycles through it"
                )
            ]
        case c.Transpose():
            return [CountedRead(op.arg, demand if len(set(op.axes)) == len(op.axes) else demand.at_most())]
        case c.Broadcast():
            added = [size for axis, size in enumerate(context.shape(op.result)) if axis not in op.axes]
            times = product(added)
            return [CountedRead(op.arg, demand.times(exactly(times)), _if_repeated(times, "it is replicated"))]
        case c.Reverse():
            return [CountedRead(op.arg, demand)]
        case c.Rotate():
            return [CountedRead(op.arg, demand), CountedRead(op.amount, ONCE)]
        case c.SlidingWindows():
            times = product(context.shape(op.result)[op.count : 2 * op.count])
            return [CountedRead(op.arg, demand.times(up_to(times)), _if_repeated(times, "windows overlap"))]
    return []


def _cycled(elements: Size, result_count: Size, context: SizeContext) -> Grade:
    """The reads of each of `elements` elements by a reshape to `result_count` elements."""
    if elements == ONE:
        return exactly(result_count)
    if result_count == ZERO:
        return NONE
    if result_count == ONE or context.proved(Relation.AT_MOST, _rounded_up(result_count), elements):
        return up_to(ONE)
    return Grade(exactly(quotient(result_count, elements)).low, exactly(quotient(result_count + elements - 1, elements)).high)


def _rounded_up(size: Size) -> Size:
    """An upper bound of the size: every b·⌊a÷b⌋ in it becomes a."""
    total = ZERO
    for monomial, coefficient in size.terms:
        powers = dict(monomial)
        extra = ONE
        for atom in [atom for atom, power in monomial if power == 1 and isinstance(atom, NonlinearAtom)]:
            if not isinstance(atom, NonlinearAtom) or atom.kind is not AtomKind.QUOTIENT or coefficient < 0:
                continue
            numerator, divisor = atom.args
            low = numerator.bounds()[0]
            if low is None or low < 0:
                continue
            lone = next((v for v, p in powers.items() if p and isinstance(v, SizeVariable) and variable(v) == divisor), None)
            number = divisor.constant
            if lone is not None:
                powers[lone] -= 1
            elif number is not None and number > 0 and coefficient % number == 0:
                coefficient //= number
            else:
                continue
            del powers[atom]
            extra = extra * numerator
        total = total + Size({tuple((a, p) for a, p in powers.items() if p): coefficient}) * extra
    return total


def _selection(op: c.Op, context: SizeContext) -> list[CountedRead]:
    match op:
        case c.Gather():
            indices = context.types[op.indices]
            others = [CountedRead(value, ONCE) for value in (op.indices, *op.other_indices)]
            if indices.permutation and context.shape(op.arg)[op.axis] == indices.shape[0]:
                return [CountedRead(op.arg, ONCE), *others]
            times = product(indices.shape)
            return [CountedRead(op.arg, up_to(times), _if_repeated(times, "several indices may be the same")), *others]
        case c.Update():
            reads = [CountedRead(op.arg, up_to(ONE)), *[CountedRead(index, ONCE) for index in op.indices if index is not None]]
            if context.shape(op.value):
                return [*reads, CountedRead(op.value, ONCE)]
            positions = ONE
            for axis, index in enumerate(op.indices):
                positions = positions * (context.shape(op.arg)[axis] if index is None else context.count(index))
            return [*reads, CountedRead(op.value, exactly(positions), _if_repeated(positions, "it goes to every selected place"))]
        case c.MaskedUpdate():
            reads = [CountedRead(op.arg, up_to(ONE)), CountedRead(op.mask, ONCE)]
            positions = context.count(op.arg)
            scalar = not context.shape(op.value)
            return [*reads, CountedRead(op.value, up_to(positions) if scalar else ONCE)]
        case c.Compress():
            return [CountedRead(op.mask, ONCE), CountedRead(op.arg, up_to(ONE))]
        case c.Expand():
            return [CountedRead(op.mask, ONCE), CountedRead(op.arg, ONCE)]
        case c.Where():
            return [CountedRead(op.mask, ONCE)]
    return []


def _extended(arg: ValueId, missing: Sequence[Size], frame: Sequence[Size]) -> CountedRead:
    """The reads of an operand that is replicated along the axes it lacks."""
    times = product(missing)
    prefix_text = " ".join(str(s) for s in frame[: len(frame) - len(missing)])
    frame_text = " ".join(str(s) for s in frame)
    why = f"the function is lifted over ⟨{frame_text}⟩; this supplies only ⟨{prefix_text}⟩"
    return CountedRead(arg, exactly(times), _if_repeated(times, why))


def _paired(value: ValueId, others: Sequence[Size], what: str) -> CountedRead:
    times = product(others)
    return CountedRead(value, exactly(times), _if_repeated(times, f"it meets all {times} {what}"))


def _if_repeated(times: Size, text: str) -> str:
    return "" if times == ONE else text


# ---------------------------------------------------------------------------------------------------- usage of one value
#
# The reads of one value found so far: their sum, some of their sites, and reads of parts that are not combined yet.
#
# Takes and drops without a common major cell read different elements, so their grades join instead of adding up: `k↑x` and `k↓x`
# together read each element of x once.

MOST_USES = 8  # kept for messages
_MOST_PARTS = 8


@dataclass(frozen=True, slots=True)
class UsageSite:
    """A span that reads a value, how often, and the cause of a multiple ("" if there is none)."""

    span: Span
    grade: Grade
    why: str = ""


@dataclass(slots=True)
class UsageCount:
    grade: Grade = NONE
    uses: list[UsageSite] = field(default_factory=list)
    parts: list[tuple[CellRange, Span]] = field(default_factory=list)

    def add(self, use: UsageSite) -> None:
        if not use.grade.is_zero:
            self.grade = self.grade.plus(use.grade)
            self.uses.append(use)
            del self.uses[MOST_USES:]

    def add_part(self, part: CellRange, span: Span) -> None:
        if not part.demand.is_zero:
            self.parts.append((part, span))

    def combine_parts(self, context: SizeContext) -> None:
        """Combine the reads of parts: disjoint ones join, the others add up."""
        groups: list[list[tuple[CellRange, Span]]] = []
        for part, span in self.parts:
            home = next((g for g in groups if len(self.parts) <= _MOST_PARTS and _is_disjoint(part, g, context)), None)
            if home is None:
                groups.append([(part, span)])
            else:
                home.append((part, span))
        self.parts = []
        for group in groups:
            covering = _covers([part for part, _ in group], context)
            total: Grade | None = None
            for part, _ in group:
                total = part.demand if total is None else total.join(part.demand)
            assert total is not None
            grade = total if covering else total.at_most()
            self.grade = self.grade.plus(grade)
            self.uses += [UsageSite(span, grade, "" if covering else "only a part of it") for _, span in group[:MOST_USES]]
            del self.uses[MOST_USES:]

    def times(self, count: Grade, why: str) -> UsageCount:
        """The usage by `count` runs.  The parts have been combined."""
        uses = [UsageSite(u.span, u.grade.times(count), f"{u.why}, {why}" if u.why else why) for u in self.uses]
        return UsageCount(self.grade.times(count), [use for use in uses if not use.grade.is_zero])

    def summed(self, index: SizeVariable, trips: Grade, why: str) -> UsageCount:
        """The usage by all iterations of a loop in whose grades the index occurs.  The parts have been combined."""
        uses = [UsageSite(u.span, u.grade.summed(index, trips), f"{u.why}, {why}" if u.why else why) for u in self.uses]
        return UsageCount(self.grade.summed(index, trips), [use for use in uses if not use.grade.is_zero])

    def join(self, other: UsageCount, why: str) -> UsageCount:
        """The usage by one of two alternatives."""
        uses = [UsageSite(u.span, u.grade.at_most(), u.why or why) for u in self.uses + other.uses]
        return UsageCount(self.grade.join(other.grade), uses[:MOST_USES])

    def include(self, other: UsageCount) -> None:
        """Add another usage."""
        self.grade = self.grade.plus(other.grade)
        self.uses = (self.uses + other.uses)[:MOST_USES]


def _is_disjoint(part: CellRange, group: Sequence[tuple[CellRange, Span]], context: SizeContext) -> bool:
    return all(
        context.proved(Relation.AT_MOST, part.stop, other.start) or context.proved(Relation.AT_MOST, other.stop, part.start)
        for other, _ in group
    )


def _covers(group: Sequence[CellRange], context: SizeContext) -> bool:
    """Do the parts together read every element of the operand?"""
    if not all(part.covers_axes for part in group):
        return False
    shape = group[0].shape
    if not shape:
        return True
    reached, rest = ZERO, list(group)
    while rest:
        following = next((p for p in rest if context.proved(Relation.AT_MOST, p.start, reached)), None)
        if following is None:
            return False
        rest.remove(following)
        reached = following.stop
        if context.proved(Relation.AT_MOST, shape[0], reached):
            return True
    return False


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

        Reads of the body in addition to those stated count too: a result may be a view of an argument and be read twice, or the
        function may also capture the argument.
        """
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
            case MapCells() | CoreFold() | FoldScan() | CoreLoop() | CoreBranch() | c.Library() | c.Invoke():
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
            case c.Invoke():
                for value, grade in zip(op.args, reads_of_call(op.function, op.sizes), strict=True) if runs else ():
                    usages.setdefault(value, UsageCount()).add(UsageSite(self.spans[op.results[0]], grade))
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


_function_reads: WeakKeyDictionary[c.CoreFunction, tuple[Grade, ...]] = WeakKeyDictionary()


def reads_of_call(function: c.CoreFunction, sizes: Sequence[Size]) -> list[Grade]:
    """How often a call with these sizes reads each element of each argument."""
    known = _function_reads.get(function)
    if known is None:
        demands = demands_of(function.core)
        known = _function_reads[function] = tuple([demands.grade(entry.value) for entry in function.core.inputs])
    values, visible = dict(zip(function.sizes, sizes, strict=True)), set(function.sizes)
    grades: list[Grade] = []
    for grade in known:
        low = grade.low.substitute(values) if grade.low.variables() <= visible else ZERO
        high = grade.high.substitute(values) if grade.high is not None and grade.high.variables() <= visible else None
        grades.append(Grade(low, high))
    return grades


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
    """The cause of a multiple of reads inside a call, if there is only one use."""
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
