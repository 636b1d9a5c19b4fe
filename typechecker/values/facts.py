"""Operands, and facts about values besides their types: counts of true elements of masks, affine sequences; conversions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from ...lang.support.records import dataclass, field_names
from ...lang.syntax.source import Span
from ..core import operations as c
from ..core.operations import OPERANDS, Literal, Op, Payload, Scalar, ValueId
from ..diagnostics import SourceNames
from ..elements import ArrayType, Element, Kind, fits, integer_range, limits, ranged
from ..proof.obligations import Relation, SizeFact
from ..sizes.polynomials import ONE, ZERO, Size, SizeVariable, number, product, variable
from ..sizes.size import truncated_subtract
from .constant_folding import fold

# ---------------------------------------------------------------------------------------------------- operands

@dataclass(frozen=True, slots=True)
class Operand:
    """An array value in the elaborator: its core id, its type, and its value as far as it is known while checking.

    `static` is the exact value as sizes: one for a scalar (`≢x`, `3`, a `param`), a tuple for a vector (`⍴x`, `2 3`); they may be
    negative.  `constant` has the items in row-major order if they are written in the program or folded (any kind, at most 4096).
    `poisoned`: an error has been reported; rules return a poisoned operand for it without another error.
    """

    value: ValueId
    type: ArrayType
    static: Size | tuple[Size, ...] | None = None
    constant: tuple[Payload, ...] | None = None
    poisoned: bool = False


@dataclass(frozen=True, slots=True)
class TupleOperand:
    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class EnclosedOperand(TupleOperand):
    """`⊂x`.  Only `⌷` (as its left argument, for cells), `⊃` and `f¨` (the whole array with each element) accept it."""


Value: TypeAlias = Operand | TupleOperand


def leaves(value: Value) -> tuple[Operand, ...]:
    """The arrays of a value, tuples flattened in order."""
    if isinstance(value, Operand):
        return (value,)
    operands: list[Operand] = []
    stack: list[Value] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, TupleOperand):
            stack.extend(reversed(item.items))
        else:
            operands.append(item)
    return tuple(operands)


def is_poisoned(value: Value | None) -> bool:
    if value is None or isinstance(value, Operand):
        return value is not None and value.poisoned
    return any(x.poisoned for x in leaves(value))


# ---------------------------------------------------------------------------------------------------- value facts

@dataclass(frozen=True, slots=True)
class ValueFacts:
    """Facts about a value from the op that defined it, for the rules of functions applied to it.

    `quotients` are the exact fractions of a division, so that `⌊n÷2` is a size; `digits` the most digits that a logarithm counts;
    `negated` the operand of a negation, so that `(-+/m)↓x` is bounded; `modulus` the divisor of a remainder; `selected` the span
    of the mask, known while checking, that selected these cells.  `covers`: every position of an axis of this length is an item.
    `cell_of` is the array of which a function mapped over its cells gets this one.
    """

    quotients: tuple[tuple[Size, Size], ...] | None = None
    digits: int | None = None
    negated: Operand | None = None
    modulus: Size | None = None
    selected: Span | None = None
    covers: Size | None = None
    cell_of: Operand | None = None


NO_FACTS = ValueFacts()


# ---------------------------------------------------------------------------------------------------- statements of conditions
#
# A condition, or its negation, makes statements: facts about sizes, limits of integers, counts of masks.

@dataclass(frozen=True, slots=True)
class IntegerLimits:
    """Every item of an integer value is at least `low`, at most `high`, and not `other_than`."""

    value: ValueId
    low: Size | None = None
    high: Size | None = None
    other_than: Size | None = None

    def facts(self, size: Size) -> list[SizeFact]:
        """The limits of a scalar that is this size."""
        sides = ((Relation.AT_MOST, self.low, size), (Relation.AT_MOST, size, self.high),
                 (Relation.NOT_EQUAL, size, self.other_than))  # fmt: skip
        return [SizeFact(relation, x, y) for relation, x, y in sides if x is not None and y is not None]


@dataclass(frozen=True, slots=True)
class Count:
    """A relation between the numbers of true elements of masks, or one of them and a size; a value id stands for its mask's
    number."""

    relation: Relation
    left: Size | ValueId
    right: Size | ValueId

    def mentions(self, is_same: Callable[[ValueId], bool]) -> bool:
        """Is one of the masks equal to a value, by `is_same`?"""
        return any(not isinstance(side, Size) and is_same(side) for side in (self.left, self.right))

    def facts(self, counted: Callable[[ValueId], SizeVariable | None]) -> list[SizeFact]:
        """The fact about sizes, if each mask has a size variable."""
        known = [side if isinstance(side, Size) else None if (size := counted(side)) is None else variable(size)
                 for side in (self.left, self.right)]  # fmt: skip
        return [SizeFact(self.relation, x, y) for x, y in [known] if x is not None and y is not None]

    def facts_of_lengths(self, types: Mapping[ValueId, ArrayType]) -> list[SizeFact]:
        """The facts that a count states about the length of its mask, which is at least the number of true elements."""
        pairs = [(self.left, self.right), *([(self.right, self.left)] if self.relation is Relation.EQUAL else [])]
        least = Relation.LESS if self.relation is Relation.LESS else Relation.AT_MOST
        return [SizeFact(least, size, types[mask].shape[0]) for size, mask in pairs
                if self.relation is not Relation.NOT_EQUAL and isinstance(size, Size) and not isinstance(mask, Size)]  # fmt: skip


Statement: TypeAlias = SizeFact | IntegerLimits | Count


# ---------------------------------------------------------------------------------------------------- masks
#
# Facts about the number of true elements of a mask, derived from its defining ops.
#
# Structurally equal masks have equally many true elements; each element is true in exactly one of a mask and its opposite; and
# some elements are true whatever the data are: ones that the program joins to a mask, the blank of `' '=t,' '`, the first of
# equal cells, the position of the greatest integer.  The analysis looks at most `DEPTH` ops back, beyond which facts are lost.

DEPTH = 48

_OPPOSITE_WITHOUT_NAN = (frozenset({"lt", "ge"}), frozenset({"le", "gt"}))
_OPPOSITE = frozenset({frozenset({"eq", "ne"}), frozenset({"and", "nand"}), frozenset({"or", "nor"}), *_OPPOSITE_WITHOUT_NAN})
_WITH_BLOCKS = (c.MapCells, c.CoreLoop, c.CoreBranch, c.CoreFold, c.FoldScan)


class MaskFacts:
    """Structural equality and true-element counts of the values of one builder; equalities are cached."""

    __slots__ = ("_at_most", "_definitions", "_minimum_true", "_same", "_types")

    def __init__(
        self, definitions: Mapping[ValueId, Op], types: Mapping[ValueId, ArrayType], at_most: Callable[[Size, Size], bool | None]
    ) -> None:
        self._definitions = definitions
        self._types = types
        self._at_most = at_most
        self._same: dict[tuple[ValueId, ValueId], bool] = {}
        self._minimum_true: dict[ValueId, int] = {}

    def is_same(self, x: ValueId, y: ValueId, depth: int = DEPTH) -> bool:
        """Are two values equal because the same ops computed them from the same values?"""
        if x == y:
            return True
        pair = (min(x, y), max(x, y))
        known = self._same.get(pair)
        if known is None:
            known = self._same[pair] = depth > 0 and self._structurally_equal(x, y, depth - 1)
        return known

    def _structurally_equal(self, x: ValueId, y: ValueId, depth: int) -> bool:
        first, second = self._definitions.get(x), self._definitions.get(y)
        if first is None or second is None or type(first) is not type(second):
            return False
        if isinstance(first, _WITH_BLOCKS):
            return False
        x_type, y_type = self._types[x], self._types[y]
        if x_type.shape != y_type.shape or x_type.element.kind is not y_type.element.kind:
            return False
        for name in field_names(type(first)):
            a, b = getattr(first, name), getattr(second, name)
            if name in ("result", "results") or a == b:
                continue
            if name not in OPERANDS:
                return False
            pairs = [*zip(a, b, strict=True)] if isinstance(a, tuple) and len(a) == len(b) else [(a, b)]
            if not all(p == q or (None not in (p, q) and self.is_same(p, q, depth)) for p, q in pairs):
                return False
        return True

    def is_opposite(self, x: ValueId, y: ValueId) -> bool:
        """Is one mask true exactly where the other is false?"""
        first, second = self._definitions.get(x), self._definitions.get(y)
        for op, other in ((first, y), (second, x)):
            if isinstance(op, c.Scalar) and op.function == "not" and self.is_same(op.args[0], other):
                return True
        if not (isinstance(first, c.Scalar) and isinstance(second, c.Scalar)) or len(first.args) != 2:
            return False
        pair = frozenset({first.function, second.function})
        floats = any(self._types[arg].element.kind.is_float for arg in first.args)
        if pair not in _OPPOSITE or (floats and pair in _OPPOSITE_WITHOUT_NAN) or self._types[x].shape != self._types[y].shape:
            return False
        return all(self.is_same(p, q) for p, q in zip(first.args, second.args, strict=True))

    def minimum_true(self, mask: ValueId, depth: int = DEPTH) -> int:
        """A lower bound of the number of true elements for all data, from the facts about sizes in scope."""
        if depth == DEPTH:
            self._minimum_true.clear()
        known = self._minimum_true.get(mask)
        if known is None:
            op = self._definitions.get(mask)
            known = self._minimum_true[mask] = 0 if op is None or not depth else self._of(op, mask, depth - 1)
        return known

    def _of(self, op: Op, mask: ValueId, depth: int) -> int:
        shape = self._types[mask].shape
        match op:
            case c.Literal():
                return sum(1 for item in op.data if item not in (0, ""))
            case c.Scalar(function="convert" | "convert_checked", args=(arg,)):
                return self.minimum_true(arg, depth)
            case c.Scalar(function="or"):
                return max(self.minimum_true(arg, depth) for arg in op.args if len(self._types[arg].shape) == len(shape))
            case c.Scalar(function="eq", args=(x, y)):
                return max(self._extreme(x, y), self._extreme(y, x), self._written(x, y), self._written(y, x))
            case c.Join() | c.Stack():
                return sum([self.minimum_true(arg, depth) for arg in op.args])
            case c.Reverse() | c.Rotate() | c.Scan(function="or"):
                return self.minimum_true(op.arg, depth)
            case c.Transpose():
                return self.minimum_true(op.arg, depth) if len(self._types[op.arg].shape) == len(shape) else 0
            case c.Reshape() | c.Broadcast():
                holding, total = self.minimum_true(op.arg, depth), product(self._types[op.arg].shape)
                if product(shape) == total:
                    return holding
                return max(product(shape).bounds()[0] or 0, 0) if holding and total.constant == holding else 0
            case c.Library(name="first_occurrence"):
                return 1 if self._at_most(ONE, shape[0]) is True else 0
            case _:
                return 0

    def keeps_first(self, mask: ValueId) -> bool:
        """Is the mask true at its first element, if it has one?"""
        op = self._definitions.get(mask)
        return isinstance(op, c.Library) and op.name == "first_occurrence"

    def _written(self, x: ValueId, y: ValueId) -> int:
        """The number of items of x written in the program that equal the integer or character y."""
        items, literal = self._definitions.get(x), self._definitions.get(y)
        kinds = [self._types[value].element.kind for value in (x, y)]
        if not isinstance(literal, c.Literal) or self._types[y].shape or not all(k.is_integer or k is Kind.CHAR for k in kinds):
            return 0
        match items:
            case c.Literal():
                return items.data.count(literal.data[0])
            case c.Join() | c.Stack():
                return sum([self._written(arg, y) for arg in items.args])
            case c.Reshape() | c.Broadcast() if product(self._types[items.arg].shape) == product(self._types[x].shape):
                return self._written(items.arg, y)
            case _:
                return 0

    def _extreme(self, x: ValueId, y: ValueId) -> int:
        """1 if y is the maximum or minimum of the integers x, and so equal to one of them; else 0."""
        op = self._definitions.get(y)
        if not isinstance(op, c.Reduce) or op.function not in ("max", "min") or self._types[y].shape:
            return 0
        kind = self._types[x].element.kind
        return int(len(self._types[x].shape) == 1 and (kind.is_integer or kind is Kind.BOOL) and self.is_same(x, op.arg))


# ---------------------------------------------------------------------------------------------------- affine sequences
#
# Vectors that are arithmetic progressions, recognised by their defining ops: `⍳n`, `a+b×⍳n`, reversals and parts of these.

SEQUENCE_DEPTH = 24


@dataclass(frozen=True, slots=True)
class AffineSequence:
    """A vector whose item i is `start + step·i`."""

    start: Size
    step: Size


class AffineSequences:
    """Recognises affine sequences among the values of one builder."""

    __slots__ = ("_at_most", "_definitions", "_exact", "_types")

    def __init__(
        self, definitions: Mapping[ValueId, Op], types: Mapping[ValueId, ArrayType],
        exact: Mapping[ValueId, Size | tuple[Size, ...]], at_most: Callable[[Size, Size], bool | None],
    ) -> None:  # fmt: skip
        self._definitions = definitions
        self._types = types
        self._exact = exact
        self._at_most = at_most

    def of(self, value: ValueId, depth: int = SEQUENCE_DEPTH) -> AffineSequence | None:
        """The affine sequence of a vector; None if it is not known to be one."""
        op = self._definitions.get(value)
        if op is None or not depth or len(self._types[value].shape) != 1:
            return None
        match op:
            case c.Iota():
                return AffineSequence(ZERO, ONE)
            case c.Literal():
                return _of_numbers(op.data)
            case c.Reverse():
                inner, length = self.of(op.arg, depth - 1), self._types[value].shape[0]
                return None if inner is None else AffineSequence(inner.start + inner.step * (length - 1), -inner.step)
            case c.Slice():
                return self._part(op, value, depth)
            case c.Scalar():
                return self._scalar(op, depth)
            case _:
                return None

    def _part(self, op: c.Slice, value: ValueId, depth: int) -> AffineSequence | None:
        """Take or drop, unless it may insert fills."""
        inner = self.of(op.arg, depth - 1)
        if inner is None:
            return None
        length, total, begin = self._types[value].shape[0], self._types[op.arg].shape[0], op.starts[0]
        inside = length == truncated_subtract(total, begin) or self._at_most(begin + length, total) is True
        if not inside or self._at_most(ZERO, begin) is not True:
            return None
        return AffineSequence(inner.start + inner.step * begin, inner.step)

    def _scalar(self, op: c.Scalar, depth: int) -> AffineSequence | None:
        if op.function in ("convert", "neg") and len(op.args) == 1:
            inner = self.of(op.args[0], depth - 1)
            if inner is None or op.function == "convert":
                return inner
            return AffineSequence(-inner.start, -inner.step)
        if op.function not in ("add", "sub", "mul"):
            return None
        x, y = (self.of(arg, depth - 1) for arg in op.args)
        a, b = (self.size(arg, depth - 1) for arg in op.args)
        match op.function:
            case "add" if x is not None and b is not None:
                return AffineSequence(x.start + b, x.step)
            case "add" if a is not None and y is not None:
                return AffineSequence(a + y.start, y.step)
            case "sub" if x is not None and b is not None:
                return AffineSequence(x.start - b, x.step)
            case "sub" if a is not None and y is not None:
                return AffineSequence(a - y.start, -y.step)
            case "mul" if x is not None and b is not None:
                return AffineSequence(x.start * b, x.step * b)
            case "mul" if a is not None and y is not None:
                return AffineSequence(a * y.start, a * y.step)
            case "add" | "sub" if x is not None and y is not None:
                sign = 1 if op.function == "add" else -1
                return AffineSequence(x.start + y.start * sign, x.step + y.step * sign)
            case _:
                return None

    def step(self, value: ValueId, start: ValueId, depth: int = SEQUENCE_DEPTH) -> int | None:
        """The constant difference of two values; None if it is unknown."""
        if value == start:
            return 0
        op = self._definitions.get(value)
        if not isinstance(op, c.Scalar) or not depth:
            return None
        if op.function == "convert":
            return self.step(op.args[0], start, depth - 1)
        if op.function not in ("add", "sub"):
            return None
        left, right = op.args
        first_sign = 1 if op.function == "add" else -1
        for base, other, sign in ((left, right, first_sign), (right, left, 1)):
            if base is right and first_sign < 0:
                return None
            before, by = self.step(base, start, depth - 1), self.size(other, depth - 1)
            if before is not None and by is not None and by.constant is not None:
                return before + sign * by.constant
        return None

    def size(self, value: ValueId, depth: int = SEQUENCE_DEPTH) -> Size | None:
        """The size that a scalar equals; None if it is unknown."""
        known, op = self._exact.get(value), self._definitions.get(value)
        if isinstance(known, Size) or self._types[value].shape:
            return known if isinstance(known, Size) else None
        match op:
            case c.Literal(data=(int() as only,)) if not isinstance(only, bool):
                return number(only)
            case c.SizeVector(sizes=(only,)):
                return only
            case c.Scalar(function="convert", args=(arg,)) if depth:
                return self.size(arg, depth - 1)
            case _:
                return None

    def items(self, value: ValueId) -> tuple[Size, ...] | None:
        """The sizes that the items of a vector equal; None if they are unknown."""
        known = self._exact.get(value)
        return known if isinstance(known, tuple) else None


def _of_numbers(data: tuple[Payload, ...]) -> AffineSequence | None:
    """The sequence of at least two numbers that step evenly; else None."""
    numbers = [item for item in data if isinstance(item, int) and not isinstance(item, bool)]
    if len(numbers) != len(data) or len(numbers) < 2:
        return None
    step = numbers[1] - numbers[0]
    even = all(after - before == step for before, after in pairwise(numbers))
    return AffineSequence(number(numbers[0]), number(step)) if even else None


# ---------------------------------------------------------------------------------------------------- conversions
#
# A mixin of `Builder`.  Positions (`idx<n>`) are stored from 0: only `to_number` adds the index origin, and only `to_position`
# subtracts it.  Conversions keep static values and ranges.

class Conversions:
    index_origin: int
    source_names: SourceNames

    if TYPE_CHECKING:

        def span_of(self, x: Operand) -> Span: ...

        def emit(
            self, make: Callable[[ValueId], Op], type: ArrayType, span: Span, *, static: Size | tuple[Size, ...] | None = None,
            constant: tuple[Payload, ...] | None = None,
        ) -> Operand: ...  # fmt: skip

    def to_number(self, x: Operand, span: Span) -> Operand:
        """A position as a number, with the index origin added; other values are unchanged."""
        if x.type.element.index_bound is None or x.poisoned:
            return x
        origin, number = self.index_origin, ArrayType(self.number_element(x.type.element), x.type.shape)
        if origin == 0:
            return Operand(x.value, number, x.static, x.constant)
        one = self.emit(lambda r: Literal(r, (origin,)), ArrayType(Element(Kind.I64, origin, origin, weak=True), ()), span)
        constant = None if x.constant is None else tuple(int(c) + origin for c in x.constant if isinstance(c, int))
        return self.emit(lambda r: Scalar(r, "add", (x.value, one.value)), number, span, static=shifted(x.static, origin),
                         constant=constant)  # fmt: skip

    def number_element(self, element: Element) -> Element:
        """The element of positions as numbers, with the index origin added; other elements are unchanged."""
        if element.index_bound is None:
            return element
        most = element.index_bound - 1 + self.index_origin
        top = most.bounds()[1]
        return Element(Kind.I64, self.index_origin, top, weak=element.weak, symbolic_max=most if top is None else None)

    def to_position(self, x: Operand, span: Span) -> Operand:
        """A number used as an index, counted from 0, as i64; a position is unchanged."""
        element = x.type.element
        if x.poisoned or element.index_bound is not None:
            return x
        x = self.convert(x, Kind.I64, span)
        origin = self.index_origin
        if origin == 0:
            return x
        low, high = integer_range(x.type.element)
        most = None if x.type.element.symbolic_max is None else x.type.element.symbolic_max - origin
        low, high = None if low is None else low - origin, None if high is None else high - origin
        shifted_element = ranged(Kind.I64, low, high, symbolic_max=most)
        one = self.emit(lambda r: Literal(r, (origin,)), ArrayType(Element(Kind.I64, origin, origin, weak=True), ()), span)
        constant = None if x.constant is None else tuple(int(c) - origin for c in x.constant if isinstance(c, int))
        return self.emit(lambda r: Scalar(r, "sub", (x.value, one.value)), ArrayType(shifted_element, x.type.shape), span,
                         static=shifted(x.static, -origin), constant=constant)  # fmt: skip

    def convert(self, x: Operand, kind: Kind, span: Span) -> Operand:
        """The value converted to `kind`; checked at run time (E703) unless its range fits."""
        if x.poisoned:
            return x
        x = self.to_number(x, span)
        element = x.type.element
        if element.kind is kind:
            return x
        known_limits = limits(kind)
        if known_limits is not None and limits(element.kind) is not None:
            low, high = integer_range(element)
            inside = fits(element, kind)
            target = ranged(kind, low, high, weak=element.weak, symbolic_max=element.symbolic_max) if inside else Element(kind)
            function = "convert" if inside else "convert_checked"
        else:
            narrows = known_limits is not None or (element.kind.is_complex and not kind.is_complex) or kind is Kind.CHAR
            rounds = kind in (Kind.F32, Kind.C64) and element.kind in (Kind.F64, Kind.C128) and not element.weak
            narrows = narrows or rounds
            target = Element(kind, weak=element.weak)
            function = "convert_checked" if narrows or element.kind is Kind.CHAR else "convert"
        constant = fold("convert", element.kind, kind, (x.constant,), ((None,),)) if function == "convert" else None
        static = x.static if kind is Kind.I64 else None
        converted = self.emit(lambda r: Scalar(r, function, (x.value,)), ArrayType(target, x.type.shape), span, static=static,
                         constant=constant)  # fmt: skip
        self.source_names.add(converted.value, self.span_of(x))  # messages point at the operand in the program
        return converted


def shifted(static: Size | tuple[Size, ...] | None, by: int) -> Size | tuple[Size, ...] | None:
    """A static value plus a number."""
    if static is None:
        return None
    return static + by if isinstance(static, Size) else tuple(s + by for s in static)
