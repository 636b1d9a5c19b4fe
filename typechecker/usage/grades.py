"""Grades, and how often one op reads the elements of its operands when each element of its result is read a given number of
times.

A *view* (transpose, broadcast, reverse, rotate, slice, windows, a reshape that keeps the number of elements) passes the demand on
to its operand.  Any other op runs once if it is demanded at all, stores its result, and reads its operands as below.  Ops with
blocks are in `backward_analysis`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...lang.diagnostics.model import Verdict
from ...lang.support.records import dataclass, field
from ...lang.syntax.source import Span
from ..core import operations as c
from ..core.operations import ValueId
from ..elements import ArrayType
from ..proof.obligations import Relation, SizeFact
from ..proof.prover import prove_without_examples
from ..sizes.polynomials import ONE, ZERO, AtomKind, NonlinearAtom, Size, SizeVariable, as_size, product, variable
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
# than 64 monomials is dropped: a `low` becomes 0, a `high` ω.  Run-time sizes do not occur in grades: they are replaced by their
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
        """How often an op with this demand runs: once, or never."""
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

    Run-time sizes in it are replaced by their bounds, except loop indices, which stay (as placeholders) until the loop sums
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
    """The reads of one operand by one op; `why` says what multiplies them, "" if nothing does."""

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
            return [CountedRead(op.arg, demand.times(exactly(times)), _why(times, "it is replicated"))]
        case c.Reverse():
            return [CountedRead(op.arg, demand)]
        case c.Rotate():
            return [CountedRead(op.arg, demand), CountedRead(op.amount, ONCE)]
        case c.SlidingWindows():
            times = product(context.shape(op.result)[op.count : 2 * op.count])
            return [CountedRead(op.arg, demand.times(up_to(times)), _why(times, "windows overlap"))]
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
            return [CountedRead(op.arg, up_to(times), _why(times, "several indices may be the same")), *others]
        case c.Update():
            reads = [CountedRead(op.arg, up_to(ONE)), *[CountedRead(index, ONCE) for index in op.indices if index is not None]]
            if context.shape(op.value):
                return [*reads, CountedRead(op.value, ONCE)]
            positions = ONE
            for axis, index in enumerate(op.indices):
                positions = positions * (context.shape(op.arg)[axis] if index is None else context.count(index))
            return [*reads, CountedRead(op.value, exactly(positions), _why(positions, "it goes to every selected place"))]
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
    return CountedRead(arg, exactly(times), _why(times, why))


def _paired(value: ValueId, others: Sequence[Size], what: str) -> CountedRead:
    times = product(others)
    return CountedRead(value, exactly(times), _why(times, f"it meets all {times} {what}"))


def _why(times: Size, text: str) -> str:
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
    """A span that reads a value this often, and what multiplies the reads there ("" if nothing does)."""

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
            home = next((g for g in groups if len(self.parts) <= _MOST_PARTS and _apart_from_all(part, g, context)), None)
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


def _apart_from_all(part: CellRange, group: Sequence[tuple[CellRange, Span]], context: SizeContext) -> bool:
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
