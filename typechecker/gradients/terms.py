"""Emits the core ops of adjoints, by value id: elementwise functions, sums over axes, views, constants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from functools import partial

from ...lang.syntax.source import Span
from ..core.builder import Builder
from ..core.operations import (
    Broadcast,
    Contract,
    Gather,
    Iota,
    Join,
    Literal,
    Op,
    Payload,
    Reduce,
    Reshape,
    Reverse,
    Scalar,
    Scan,
    SizeVector,
    Slice,
    Stack,
    Transpose,
    Update,
    ValueId,
)
from ..elements import FUNCTIONS, ArrayType, Element, Kind, ResultKind
from ..sizes.polynomials import ONE, ZERO, Size, as_size

Shape = tuple[Size, ...]


class NotDifferentiable(Exception):
    """There is no rule, or an error has been reported already (`is_reported`)."""

    def __init__(
        self, message: str = "", span: Span | None = None, notes: Sequence[str] = (), *, is_reported: bool = False
    ) -> None:
        super().__init__(message)
        self.message, self.span, self.notes, self.is_reported = message, span, tuple(notes), is_reported


class Masking(IntEnum):
    """The way in which items with cotangent 0 may have been masked out, which decides what must not turn the 0 into NaN.

    Not at all; by a factor 0, as in `x×x>0`: slopes may be infinite where values are finite; or by a choice, as in `m ¿ (x ⋄ 0)`:
    values may be NaN or infinite too.
    """

    NONE = 0
    FACTOR = 1
    CHOICE = 2


class Terms:
    """Emits ops at one span; every method returns the id of the value that it defines."""

    def __init__(self, builder: Builder, span: Span) -> None:
        self.builder, self.span = builder, span
        self.sums: dict[tuple[ValueId, int], ValueId] = {}
        """The sums that the differentiated function computes itself, by array and axis."""
        self.masking = Masking.NONE
        """The masking of the cotangent that is being propagated."""

    def type(self, value: ValueId) -> ArrayType:
        return self.builder.types[value]

    def kind(self, value: ValueId) -> Kind:
        return self.type(value).element.kind

    def shape(self, value: ValueId) -> Shape:
        return self.type(value).shape

    def emit(self, make: Callable[[ValueId], Op], kind: Kind, shape: Sequence[Size]) -> ValueId:
        return self.emit_typed(make, ArrayType(Element(kind), tuple(shape)))

    def emit_typed(self, make: Callable[[ValueId], Op], type: ArrayType) -> ValueId:
        operand = self.builder.emit(make, type, self.span)
        if operand.poisoned:
            raise NotDifferentiable(is_reported=True)
        return operand.value

    # ------------------------------------------------------------------------------------------- constants

    def literal(self, value: Payload, kind: Kind) -> ValueId:
        if kind.is_complex and isinstance(value, float | int):
            value = complex(value)
        return self.emit(lambda r: Literal(r, (value,)), kind, ())

    def full(self, value: Payload, kind: Kind, shape: Shape) -> ValueId:
        """An array of equal items."""
        scalar = self.literal(value, kind)
        return self.emit(lambda r: Broadcast(r, scalar, ()), kind, shape) if shape else scalar

    def zeros_like(self, value: ValueId) -> ValueId:
        return self.full(0.0, self.kind(value), self.shape(value))

    def size(self, size: Size) -> ValueId:
        return self.emit(lambda r: SizeVector(r, (size,), True), Kind.I64, ())

    def iota(self, length: Size) -> ValueId:
        return self.emit(Iota, Kind.I64, (length,))

    def coordinates(self, shape: Shape, axis: int) -> ValueId:
        """The coordinate on an axis of each item of an array."""
        return self.broadcast(self.iota(shape[axis]), shape, (axis,))

    # ------------------------------------------------------------------------------------------- elementwise

    def apply(self, function: str, *args: ValueId, parameter: int = 0, to: Kind | None = None) -> ValueId:
        """An elementwise function; the operand of the longest shape gives the shape, `to` the kind of a conversion."""
        compute = self.kind(args[-1])
        row = FUNCTIONS[function]
        kind = to if row.result is ResultKind.TARGET else row.result_kind(compute, parameter)
        assert kind is not None
        shape = max(map(self.shape, args), key=len)
        return self.emit(lambda r: Scalar(r, function, args, parameter), kind, shape)

    def number(self, value: float, like: ValueId) -> ValueId:
        return self.literal(value, self.kind(like))

    def add(self, x: ValueId, y: ValueId) -> ValueId:
        return self.apply("add", x, y)

    def sub(self, x: ValueId, y: ValueId) -> ValueId:
        return self.apply("sub", x, y)

    def mul(self, x: ValueId, y: ValueId) -> ValueId:
        return self.apply("mul", x, y)

    def div(self, x: ValueId, y: ValueId) -> ValueId:
        return self.apply("div", x, y)

    def neg(self, x: ValueId) -> ValueId:
        return self.apply("neg", x)

    def conj(self, x: ValueId) -> ValueId:
        return self.apply("conj", x) if self.kind(x).is_complex else x

    def where(self, condition: ValueId, x: ValueId | None, y: ValueId | None) -> ValueId:
        """The items of x where the condition holds, else those of y; None stands for 0."""
        like = x if x is not None else y
        assert like is not None
        zero = self.number(0.0, like)
        return self.apply("select", condition, zero if x is None else x, zero if y is None else y)

    def times(self, cotangent: ValueId, slope: ValueId) -> ValueId:
        """A cotangent times a derivative: 0 for an item that was masked out, even if the derivative is NaN or infinite.

        The derivative of the product by the cotangent is the slope, also where the cotangent is 0, if the slope is finite.
        """
        if self.masking:
            slope = self.where(self.apply("gt", self._is_zero(cotangent), self.is_finite(slope)), None, slope)
        return self.mul(cotangent, slope)

    def over(self, cotangent: ValueId, divisor: ValueId) -> ValueId:
        """A cotangent divided by a number: 0 for an item that was masked out, even if the number is 0 or NaN."""
        if self.masking:
            is_undefined = self.apply("or", self._is_zero(divisor), self.apply("ne", divisor, divisor))
            is_masked = self.apply("and", self._is_zero(cotangent), is_undefined)
            divisor = self.where(is_masked, self.number(1.0, divisor), divisor)
        return self.div(cotangent, divisor)

    def is_always_finite(self, x: ValueId) -> bool:
        """Are all items finite for all data: are they integers, or quotients of these by positive integers?"""
        match self.builder.definitions.get(x):
            case Scalar(function="convert", args=(arg,)):
                return self.kind(arg).is_integer
            case Scalar(function="div", args=(arg, by)):
                divisor = self.builder.definitions.get(by)
                if not isinstance(divisor, Scalar) or divisor.function != "convert":
                    return False
                return (self.type(divisor.args[0]).element.low or 0) >= 1 and self.is_always_finite(arg)
            case Broadcast(arg=arg) | Reshape(arg=arg) | Reverse(arg=arg) | Slice(arg=arg) | Transpose(arg=arg):
                return self.is_always_finite(arg)
        return False

    def is_finite(self, x: ValueId) -> ValueId:
        return self._is_zero(self.sub(x, x))

    def _is_zero(self, x: ValueId) -> ValueId:
        return self.apply("eq", x, self.number(0.0, x))

    # ------------------------------------------------------------------------------------------- shapes

    def broadcast(self, x: ValueId, shape: Shape, axes: tuple[int, ...]) -> ValueId:
        return x if len(axes) == len(shape) and axes == tuple(range(len(shape))) else self.emit(
            lambda r: Broadcast(r, x, axes), self.kind(x), shape
        )  # fmt: skip

    def sum(self, x: ValueId, axis: int) -> ValueId:
        """The sum over an axis, by fewer operations where x allows it.

        The sum of a product of matrices is a product of sums.  If the differentiated function sums items itself, the sum of these
        items times a factor that is constant along the axis is that sum times the factor.
        """
        shorter = self._shorter_sum(x, axis)
        return self.reduce("add", x, axis) if shorter is None else shorter

    def _shorter_sum(self, x: ValueId, axis: int) -> ValueId | None:
        if (x, axis) in self.sums:
            return self.sums[x, axis]
        op = self.builder.definitions.get(x)
        if isinstance(op, Scalar) and op.function == "neg":
            total = self._shorter_sum(op.args[0], axis)
            return None if total is None else self.neg(total)
        if isinstance(op, Contract):
            left, right, rows = op.left, op.right, len(self.shape(op.left)) - 1
            if axis < rows:
                left = self.sum(left, axis)
            else:
                right = self.sum(right, axis - rows + 1)
            return self.emit(lambda r: Contract(r, left, right), self.kind(x), self.shape(x)[:axis] + self.shape(x)[axis + 1 :])
        if isinstance(op, Scalar) and op.function == "mul":
            for items, factor in (op.args, op.args[::-1]):
                number = self.builder.definitions.get(factor)
                if (items, axis) in self.sums and isinstance(number, Broadcast) and axis not in number.axes:
                    shape = self.shape(x)[:axis] + self.shape(x)[axis + 1 :]
                    axes = tuple([at - (at > axis) for at in number.axes])
                    return self.mul(self.broadcast(number.arg, shape, axes), self.sums[items, axis])
        return None

    def reduce(self, function: str, x: ValueId, axis: int) -> ValueId:
        shape = self.shape(x)
        return self.emit(lambda r: Reduce(r, function, x, axis), self.kind(x), shape[:axis] + shape[axis + 1 :])

    def scan(self, function: str, x: ValueId, axis: int) -> ValueId:
        return self.emit(lambda r: Scan(r, function, x, axis), self.kind(x), self.shape(x))

    def sum_to_rank(self, x: ValueId, rank: int) -> ValueId:
        """The sum over all but the leading `rank` axes."""
        while len(self.shape(x)) > rank:
            x = self.sum(x, len(self.shape(x)) - 1)
        return x

    def sum_leading(self, x: ValueId, count: int) -> ValueId:
        """The sum over the leading `count` axes."""
        for _ in range(count):
            x = self.sum(x, 0)
        return x

    def transpose(self, x: ValueId, axes: Sequence[int]) -> ValueId:
        """Axis i becomes axis `axes[i]`, a permutation."""
        order = tuple(axes)
        if order == tuple(range(len(order))):
            return x
        shape = self.shape(x)
        new = tuple([shape[order.index(i)] for i in range(len(order))])
        return self.emit(lambda r: Transpose(r, x, order), self.kind(x), new)

    def diagonal(self, x: ValueId, first: int, second: int) -> ValueId:
        """The diagonal of two axes of one length, at the lower of both positions."""
        low, high = sorted((first, second))
        axes = tuple([low if axis == high else axis - (axis > high) for axis in range(len(self.shape(x)))])
        shape = self.shape(x)
        return self.emit(lambda r: Transpose(r, x, axes), self.kind(x), shape[:high] + shape[high + 1 :])

    def to_front(self, x: ValueId, axis: int) -> ValueId:
        """The array with an axis moved to the front."""
        return self.transpose(x, [0 if at == axis else at + (at < axis) for at in range(len(self.shape(x)))])

    def from_front(self, x: ValueId, axis: int) -> ValueId:
        """The array with its first axis moved to position `axis`."""
        return self.transpose(x, [axis if at == 0 else at - (at <= axis) for at in range(len(self.shape(x)))])

    def reshape(self, x: ValueId, shape: Shape) -> ValueId:
        return x if self.shape(x) == shape else self.emit(lambda r: Reshape(r, x), self.kind(x), shape)

    def reverse(self, x: ValueId, axis: int) -> ValueId:
        return self.emit(lambda r: Reverse(r, x, axis), self.kind(x), self.shape(x))

    def slice(self, x: ValueId, axis: int, start: Size, length: Size) -> ValueId:
        """Positions `start` to `start + length` of an axis, 0 outside x."""
        shape = self.shape(x)
        starts = (*(ZERO for _ in range(axis)), start)
        return self.emit(lambda r: Slice(r, x, starts), self.kind(x), (*shape[:axis], length, *shape[axis + 1 :]))

    def cell(self, x: ValueId, axis: int, at: Size) -> ValueId:
        """The cell at a position of an axis."""
        shape = self.shape(x)
        return self.reshape(self.slice(x, axis, at, ONE), shape[:axis] + shape[axis + 1 :])

    # Slices and stacks of values of any kind, which keep the facts about their items.

    def slice_any(self, x: ValueId, length: Size, start: Size = ZERO) -> ValueId:
        """Major cells `start` to `start + length`."""
        type = self.type(x)
        return self.emit_typed(lambda r: Slice(r, x, (start,)), ArrayType(type.element, (length, *type.shape[1:])))

    def cell_of(self, x: ValueId, at: Size) -> ValueId:
        """The major cell at a position."""
        part, type = self.slice_any(x, ONE, at), self.type(x)
        return self.emit_typed(lambda r: Reshape(r, part), ArrayType(type.element, type.shape[1:]))

    def reversed_any(self, x: ValueId) -> ValueId:
        return self.emit_typed(lambda r: Reverse(r, x, 0), self.type(x))

    def join(self, axis: int, *args: ValueId) -> ValueId:
        shapes = list(map(self.shape, args))
        length = ZERO
        for shape in shapes:
            length = length + shape[axis]
        full_shape = (*shapes[0][:axis], length, *shapes[0][axis + 1 :])
        return self.emit(lambda r: Join(r, args, axis), self.kind(args[0]), full_shape)

    def stack(self, axis: int, cells: Sequence[ValueId]) -> ValueId:
        """The array with these cells along a new axis."""
        shape = self.shape(cells[0])
        full_shape = (*shape[:axis], as_size(len(cells)), *shape[axis:])
        return self.emit(lambda r: Stack(r, tuple(cells), axis), self.kind(cells[0]), full_shape)

    def add_to_cell(self, total: ValueId | None, op: Gather, cell: ValueId) -> ValueId:
        """Add to one cell of an array of cotangents, in place; `total` None stands for zeros."""
        if total is not None:
            gather = partial(Gather, arg=total, indices=op.indices, axis=op.axis, checked=op.checked, indexing=op.indexing)
            cell = self.add(self.emit(gather, self.kind(cell), self.shape(cell)), cell)
        base = self.zeros_like(op.arg) if total is None else total
        indices = tuple([op.indices if axis == op.axis else None for axis in range(len(self.shape(op.arg)))])
        update = partial(Update, arg=base, indices=indices, value=cell, checked=op.checked, indexing=op.indexing)
        return self.emit(update, self.kind(cell), self.shape(op.arg))

    def products_before(self, x: ValueId, axis: int) -> ValueId:
        """The product of all earlier items along an axis, for each item."""
        shape = self.shape(x)
        ones = self.full(1.0, self.kind(x), (*shape[:axis], ONE, *shape[axis + 1 :]))
        return self.slice(self.join(axis, ones, self.scan("mul", x, axis)), axis, ZERO, shape[axis])

    def refuse(self, message: str, span: Span | None = None, *notes: str) -> NotDifferentiable:
        return NotDifferentiable(message, span or self.span, notes)
