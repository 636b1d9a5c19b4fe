"""Values that step evenly: `⍳n`, `a+b×⍳n`, a reversal or a part of one, found by looking at the ops that made them.

Neighbours: `builder` (`sequence_of` asks), `elaborate.power` (loops over such values know where they are), `core` (the ops).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise

from ..lang.records import dataclass
from . import core as c
from .core import Payload, ValueId
from .core_blocks import Op
from .sizes import ONE, ZERO, Size, maximum, minimum, monus, number, surely_machine
from .types import ArrayType

DEPTH = 24


@dataclass(frozen=True, slots=True)
class Sequence:
    """Item i is `start + step·i`."""

    start: Size
    step: Size


class Sequences:
    """Answers about the values of one builder."""

    __slots__ = ("_at_most", "_definitions", "_types")

    def __init__(
        self, definitions: Mapping[ValueId, Op], types: Mapping[ValueId, ArrayType], at_most: Callable[[Size, Size], bool | None]
    ) -> None:
        self._definitions = definitions
        self._types = types
        self._at_most = at_most

    def of(self, value: ValueId, depth: int = DEPTH) -> Sequence | None:
        """The sequence that a vector is, or None."""
        op = self._definitions.get(value)
        if op is None or not depth or len(self._types[value].shape) != 1:
            return None
        match op:
            case c.Iota():
                return Sequence(ZERO, ONE)
            case c.Literal():
                return _of_numbers(op.data)
            case c.Reverse():
                inner, length = self.of(op.arg, depth - 1), self._types[value].shape[0]
                return None if inner is None else Sequence(inner.start + inner.step * (length - 1), -inner.step)
            case c.Slice():
                return self._part(op, value, depth)
            case c.Scalar():
                return self._scalar(op, depth)
            case _:
                return None

    def _part(self, op: c.Slice, value: ValueId, depth: int) -> Sequence | None:
        """Take or drop, unless it may insert fills."""
        inner = self.of(op.arg, depth - 1)
        if inner is None:
            return None
        length, whole, begin = self._types[value].shape[0], self._types[op.arg].shape[0], op.starts[0]
        inside = length == monus(whole, begin) or self._at_most(begin + length, whole) is True
        if not inside or self._at_most(ZERO, begin) is not True:
            return None
        return Sequence(inner.start + inner.step * begin, inner.step)

    def _scalar(self, op: c.Scalar, depth: int) -> Sequence | None:
        if op.function in ("convert", "neg") and len(op.args) == 1:
            inner = self.of(op.args[0], depth - 1)
            if inner is None or op.function == "convert":
                return inner
            return Sequence(-inner.start, -inner.step)
        if op.function not in ("add", "sub", "mul"):
            return None
        x, y = (self.of(arg, depth - 1) for arg in op.args)
        a, b = (self.size(arg, depth - 1) for arg in op.args)
        match op.function:
            case "add" if x is not None and b is not None:
                return Sequence(x.start + b, x.step)
            case "add" if a is not None and y is not None:
                return Sequence(a + y.start, y.step)
            case "sub" if x is not None and b is not None:
                return Sequence(x.start - b, x.step)
            case "sub" if a is not None and y is not None:
                return Sequence(a - y.start, -y.step)
            case "mul" if x is not None and b is not None:
                return Sequence(x.start * b, x.step * b)
            case "mul" if a is not None and y is not None:
                return Sequence(a * y.start, a * y.step)
            case "add" | "sub" if x is not None and y is not None:
                way = 1 if op.function == "add" else -1
                return Sequence(x.start + y.start * way, x.step + y.step * way)
            case _:
                return None

    def step(self, value: ValueId, start: ValueId, depth: int = DEPTH) -> int | None:
        """The literal that a value is more than another."""
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
        way = 1 if op.function == "add" else -1
        for base, other, sign in ((left, right, way), (right, left, 1)):
            if base is right and way < 0:
                return None
            before, by = self.step(base, start, depth - 1), self.size(other, depth - 1)
            if before is not None and by is not None and by.constant is not None:
                return before + sign * by.constant
        return None

    def size(self, value: ValueId, depth: int = DEPTH) -> Size | None:
        """The size that a scalar is, or None."""
        op = self._definitions.get(value)
        if op is None or not depth or self._types[value].shape:
            return None
        match op:
            case c.Literal(data=(int() as only,)) if not isinstance(only, bool):
                return number(only)
            case c.SizeVector(sizes=(only,)):
                return only
            case c.Scalar(function="convert", args=(arg,)):
                return self.size(arg, depth - 1)
            case c.Scalar(function="neg", args=(arg,)):
                inner = self.size(arg, depth - 1)
                return None if inner is None else -inner
            case c.Scalar(function="add" | "sub" | "mul" | "min" | "max", args=args):
                x, y = (self.size(arg, depth - 1) for arg in args)
                if x is None or y is None:
                    return None
                made = {"add": lambda: x + y, "sub": lambda: x - y, "mul": lambda: x * y,
                        "min": lambda: minimum(x, y), "max": lambda: maximum(x, y)}[op.function]()  # fmt: skip
                return made if surely_machine(made) else None
            case _:
                return None


def _of_numbers(data: tuple[Payload, ...]) -> Sequence | None:
    """At least two numbers that step evenly."""
    numbers = [item for item in data if isinstance(item, int) and not isinstance(item, bool)]
    if len(numbers) != len(data) or len(numbers) < 2:
        return None
    step = numbers[1] - numbers[0]
    even = all(after - before == step for before, after in pairwise(numbers))
    return Sequence(number(numbers[0]), number(step)) if even else None
