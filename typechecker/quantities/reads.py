"""How often one op reads the elements of its operands, when its result is demanded a given number of times.

A *view* (transpose, reverse, rotate, spread, slice, windows, a reshape that keeps the number of elements) passes the
demand on to its operand; every other op runs once if it is demanded at all, makes its result, and reads its operands as
below.  Ops with blocks (`Lift Loop Fold FoldScan Branch`) are in `demand`, not here.

Neighbours: `typechecker.core` (the ops), `demand` (the walk), `tests/typechecker/counting.py` (counts the same thing).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...lang.diagnostics import Verdict
from ...lang.records import dataclass
from .. import core as c
from .. import core_blocks
from ..core import ValueId
from ..decide import settle
from ..obligations import Relation, SizeFact
from ..sizes import ONE, ZERO, Node, Opaque, Size, SizeVariable, product, quotient, variable
from ..types import ArrayType
from .grades import NONE, ONCE, Grade, exactly, up_to


@dataclass(frozen=True, slots=True)
class Read:
    """One operand read by one op; `why` says what multiplies the reads, "" if nothing does."""

    value: ValueId
    grade: Grade
    why: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """A read of the major cells `start ≤ i < stop` of an operand of this shape, each as often as the result is demanded.

    `whole` tells that all other axes are taken in full."""

    shape: tuple[Size, ...]
    start: Size
    stop: Size
    demand: Grade
    whole: bool


@dataclass(frozen=True, slots=True)
class Setting:
    """What is known about sizes and types where an op stands."""

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
        return settle(SizeFact(relation, left, right), self.premises) is Verdict.PROVED

    def keeps_elements(self, op: c.Reshape) -> bool:
        """Is this reshape a view: has its result exactly the elements of its operand?"""
        given, made = self.count(op.arg), self.count(op.result)
        return self.proved(Relation.EQUAL, given, made) or any(
            fact.relation is Relation.DIVIDES and fact.right == given and fact.left * quotient(given, fact.left) == made
            for fact in self.premises
        )


def part_of(op: c.Slice, demand: Grade, setting: Setting) -> Part:
    """The major cells that a take or drop reads (those outside the operand are fills)."""
    given, made = setting.shape(op.arg), setting.shape(op.result)
    if not given:
        return Part(given, ZERO, ONE, demand, True)
    starts = (*op.starts, *[ZERO] * (len(given) - len(op.starts)))
    whole = all(
        setting.proved(Relation.AT_MOST, start, ZERO) and setting.proved(Relation.AT_MOST, size, start + length)
        for start, length, size in zip(starts[1:], made[1:], given[1:], strict=True)
    )
    return Part(given, starts[0], starts[0] + made[0], demand, whole)


def operand_reads(op: core_blocks.Op, demand: Grade, setting: Setting) -> list[Read]:
    """The reads of an op without blocks.  `demand` is that of its result; a slice is `part_of` instead."""
    if demand.is_zero:
        return []
    match op:
        case c.Reshape() | c.Transpose() | c.Spread() | c.Reverse() | c.Rotate() | c.Windows():
            return _view(op, demand, setting)
        case c.Scalar():
            made = setting.shape(op.result)
            return [_extended(arg, made[len(setting.shape(arg)) :], made) for arg in op.args]
        case c.Gather() | c.Update() | c.MaskUpdate() | c.Compress() | c.Expand() | c.Where():
            return _selection(op, setting)
        case c.Contract():
            left, right = setting.shape(op.left), setting.shape(op.right)
            return [_paired(op.left, right[1:], "columns of the right"), _paired(op.right, left[:-1], "rows of the left")]
        case c.Library(name="decode", args=(radix, arg)):
            left, right = setting.shape(radix), setting.shape(arg)
            return [_paired(radix, right[1:], "columns of the right"), _paired(arg, left[:-1], "rows of the left")]
        case c.Library(name="encode", args=(radix, arg)):
            left, right = setting.shape(radix), setting.shape(arg)
            return [_paired(radix, right, "elements of the right"), _paired(arg, left[1:], "columns of the left")]
        case _:
            return [Read(value, ONCE) for value in plain_operands(op)]


def plain_operands(op: core_blocks.Op) -> tuple[ValueId, ...]:
    """The operands of an op that loads each element once."""
    match op:
        case c.Join() | c.Stack() | c.Library():
            return op.args
        case c.Reduce() | c.Scan() | c.Format():
            return (op.arg,)
        case c.KeyReduce():
            return op.indices, op.arg
        case _:
            return ()


def _view(op: core_blocks.Op, demand: Grade, setting: Setting) -> list[Read]:
    match op:
        case c.Reshape():
            if setting.keeps_elements(op):
                return [Read(op.arg, demand)]
            return [Read(op.arg, _cycled(setting.count(op.arg), setting.count(op.result), setting), "reshape cycles through it")]
        case c.Transpose():
            return [Read(op.arg, demand if len(set(op.axes)) == len(op.axes) else demand.at_most())]
        case c.Spread():
            added = [size for axis, size in enumerate(setting.shape(op.result)) if axis not in op.axes]
            times = product(added)
            return [Read(op.arg, demand.times(exactly(times)), _why(times, "it is replicated"))]
        case c.Reverse():
            return [Read(op.arg, demand)]
        case c.Rotate():
            return [Read(op.arg, demand), Read(op.amount, ONCE)]
        case c.Windows():
            times = product(setting.shape(op.result)[op.count : 2 * op.count])
            return [Read(op.arg, demand.times(up_to(times)), _why(times, "windows overlap"))]
    return []


def _cycled(given: Size, made: Size, setting: Setting) -> Grade:
    """Reads of each of `given` elements by a reshape to `made` elements; without elements there is nothing to read."""
    if given == ONE:
        return exactly(made)
    if made == ZERO:
        return NONE
    if made == ONE or setting.proved(Relation.AT_MOST, _rounded_up(made), given):
        return up_to(ONE)
    return Grade(exactly(quotient(made, given)).low, exactly(quotient(made + given - 1, given)).high)


def _rounded_up(size: Size) -> Size:
    """At least this size: every b·⌊a÷b⌋ in it becomes a."""
    total = ZERO
    for monomial, coefficient in size.terms:
        powers = dict(monomial)
        extra = ONE
        for atom in [atom for atom, power in monomial if power == 1 and isinstance(atom, Opaque)]:
            if not isinstance(atom, Opaque) or atom.node is not Node.QUOTIENT or coefficient < 0:
                continue
            whole, divisor = atom.args
            low = whole.bounds()[0]
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
            extra = extra * whole
        total = total + Size({tuple((a, p) for a, p in powers.items() if p): coefficient}) * extra
    return total


def _selection(op: core_blocks.Op, setting: Setting) -> list[Read]:
    match op:
        case c.Gather():
            indices = setting.types[op.indices]
            others = [Read(value, ONCE) for value in (op.indices, *op.beside)]
            if indices.permutation and setting.shape(op.arg)[op.axis] == indices.shape[0]:
                return [Read(op.arg, ONCE), *others]
            times = product(indices.shape)
            return [Read(op.arg, up_to(times), _why(times, "several indices may be the same")), *others]
        case c.Update():
            reads = [Read(op.arg, up_to(ONE)), *[Read(index, ONCE) for index in op.indices if index is not None]]
            if setting.shape(op.value):
                return [*reads, Read(op.value, ONCE)]
            places = ONE
            for axis, index in enumerate(op.indices):
                places = places * (setting.shape(op.arg)[axis] if index is None else setting.count(index))
            return [*reads, Read(op.value, exactly(places), _why(places, "it goes to every selected place"))]
        case c.MaskUpdate():
            reads = [Read(op.arg, up_to(ONE)), Read(op.mask, ONCE)]
            places = setting.count(op.arg)
            scalar = not setting.shape(op.value)
            return [*reads, Read(op.value, up_to(places) if scalar else ONCE)]
        case c.Compress():
            return [Read(op.mask, ONCE), Read(op.arg, up_to(ONE))]
        case c.Expand():
            return [Read(op.mask, ONCE), Read(op.arg, ONCE)]
        case c.Where():
            return [Read(op.mask, ONCE)]
    return []


def _extended(arg: ValueId, missing: Sequence[Size], frame: Sequence[Size]) -> Read:
    """An operand that the function is lifted over; axes it lacks replicate it."""
    times = product(missing)
    own = " ".join(str(s) for s in frame[: len(frame) - len(missing)])
    whole = " ".join(str(s) for s in frame)
    why = f"the function is lifted over ⟨{whole}⟩; this supplies only ⟨{own}⟩"
    return Read(arg, exactly(times), _why(times, why))


def _paired(value: ValueId, others: Sequence[Size], what: str) -> Read:
    times = product(others)
    return Read(value, exactly(times), _why(times, f"it meets all {times} {what}"))


def _why(times: Size, text: str) -> str:
    return "" if times == ONE else text
