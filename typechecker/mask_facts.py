"""What the ops that made a mask say about how many of its elements hold.

Two masks computed alike from the same values are one mask, whose elements that hold are as many; of a mask and its opposite
every element holds in one; and some hold whatever the data are: ones that the program joins to a mask, the blank of
`' '=t,' '`, the first of equal cells, the place of the greatest integer.  Looking further than `DEPTH` ops back is given up,
which only forgets something true.

Neighbours: `builder` (`mask_size` asks both), `core` (the ops).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields

from . import core as c
from . import core_blocks
from .core import ValueId
from .core_blocks import Op
from .core_walk import OPERANDS
from .elements import Kind
from .sizes import ONE, Size, product
from .types import ArrayType

DEPTH = 48

_BUT_FOR_NAN = (frozenset({"lt", "ge"}), frozenset({"le", "gt"}))
_OPPOSITE = frozenset({frozenset({"eq", "ne"}), frozenset({"and", "nand"}), frozenset({"or", "nor"}), *_BUT_FOR_NAN})
_WITH_BLOCKS = (core_blocks.Lift, core_blocks.Loop, core_blocks.Branch, core_blocks.Fold, core_blocks.FoldScan)


class MaskFacts:
    """Answers about the values of one builder; which are the same is remembered, for values never change."""

    __slots__ = ("_at_most", "_definitions", "_least", "_same", "_types")

    def __init__(
        self, definitions: Mapping[ValueId, Op], types: Mapping[ValueId, ArrayType], at_most: Callable[[Size, Size], bool | None]
    ) -> None:
        self._definitions = definitions
        self._types = types
        self._at_most = at_most
        self._same: dict[tuple[ValueId, ValueId], bool] = {}
        self._least: dict[ValueId, int] = {}

    def same(self, x: ValueId, y: ValueId, depth: int = DEPTH) -> bool:
        """Are two values the same because the same ops made them from the same values?"""
        if x == y:
            return True
        pair = (min(x, y), max(x, y))
        known = self._same.get(pair)
        if known is None:
            known = self._same[pair] = depth > 0 and self._made_alike(x, y, depth - 1)
        return known

    def _made_alike(self, x: ValueId, y: ValueId, depth: int) -> bool:
        first, second = self._definitions.get(x), self._definitions.get(y)
        if first is None or second is None or type(first) is not type(second):
            return False
        if isinstance(first, _WITH_BLOCKS):
            return False
        mine, theirs = self._types[x], self._types[y]
        if mine.shape != theirs.shape or mine.element.kind is not theirs.element.kind:
            return False
        for field in fields(first):
            a, b = getattr(first, field.name), getattr(second, field.name)
            if field.name in ("result", "results") or a == b:
                continue
            if field.name not in OPERANDS:
                return False
            pairs = [*zip(a, b, strict=True)] if isinstance(a, tuple) and len(a) == len(b) else [(a, b)]
            if not all(p == q or (None not in (p, q) and self.same(p, q, depth)) for p, q in pairs):
                return False
        return True

    def opposite(self, x: ValueId, y: ValueId) -> bool:
        """Does each element of one mask hold exactly where the other's does not?"""
        first, second = self._definitions.get(x), self._definitions.get(y)
        for op, other in ((first, y), (second, x)):
            if isinstance(op, c.Scalar) and op.function == "not" and self.same(op.args[0], other):
                return True
        if not (isinstance(first, c.Scalar) and isinstance(second, c.Scalar)) or len(first.args) != 2:
            return False
        pair = frozenset({first.function, second.function})
        floats = any(self._types[arg].element.kind.is_float for arg in first.args)
        if pair not in _OPPOSITE or (floats and pair in _BUT_FOR_NAN) or self._types[x].shape != self._types[y].shape:
            return False
        return all(self.same(p, q) for p, q in zip(first.args, second.args, strict=True))

    def least(self, mask: ValueId, depth: int = DEPTH) -> int:
        """A number of elements that hold at least, whatever the data are, by what is known of sizes now."""
        if depth == DEPTH:
            self._least.clear()
        known = self._least.get(mask)
        if known is None:
            op = self._definitions.get(mask)
            known = self._least[mask] = 0 if op is None or not depth else self._of(op, mask, depth - 1)
        return known

    def _of(self, op: Op, mask: ValueId, depth: int) -> int:
        shape = self._types[mask].shape
        match op:
            case c.Literal():
                return sum(1 for item in op.data if item not in (0, ""))
            case c.Scalar(function="convert" | "convert_checked", args=(arg,)):
                return self.least(arg, depth)
            case c.Scalar(function="or"):
                return max(self.least(arg, depth) for arg in op.args if len(self._types[arg].shape) == len(shape))
            case c.Scalar(function="eq", args=(x, y)):
                return max(self._extreme(x, y), self._extreme(y, x), self._written(x, y), self._written(y, x))
            case c.Join() | c.Stack():
                return sum([self.least(arg, depth) for arg in op.args])
            case c.Reverse() | c.Rotate() | c.Scan(function="or"):
                return self.least(op.arg, depth)
            case c.Transpose():
                return self.least(op.arg, depth) if len(self._types[op.arg].shape) == len(shape) else 0
            case c.Reshape() | c.Spread():
                holding, whole = self.least(op.arg, depth), product(self._types[op.arg].shape)
                if product(shape) == whole:
                    return holding
                return max(product(shape).bounds()[0] or 0, 0) if holding and whole.constant == holding else 0
            case c.Library(name="first_occurrence"):
                return 1 if self._at_most(ONE, shape[0]) is True else 0
            case _:
                return 0

    def _written(self, x: ValueId, y: ValueId) -> int:
        """How many items of x, of those that the program writes, are the integer or character y."""
        items, sought = self._definitions.get(x), self._definitions.get(y)
        kinds = [self._types[value].element.kind for value in (x, y)]
        if not isinstance(sought, c.Literal) or self._types[y].shape or not all(k.is_integer or k is Kind.CHAR for k in kinds):
            return 0
        match items:
            case c.Literal():
                return items.data.count(sought.data[0])
            case c.Join() | c.Stack():
                return sum([self._written(arg, y) for arg in items.args])
            case c.Reshape() | c.Spread() if product(self._types[items.arg].shape) == product(self._types[x].shape):
                return self._written(items.arg, y)
            case _:
                return 0

    def _extreme(self, x: ValueId, y: ValueId) -> int:
        """1 if y is the greatest or the least of the integers x (a NaN would be equal to nothing)."""
        op = self._definitions.get(y)
        if not isinstance(op, c.Reduce) or op.function not in ("max", "min") or self._types[y].shape:
            return 0
        kind = self._types[x].element.kind
        return int(len(self._types[x].shape) == 1 and (kind.is_integer or kind is Kind.BOOL) and self.same(x, op.arg))
