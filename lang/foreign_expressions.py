"""An expression of Python (or C, R) as Rho writes it, but for what its calls mean: operators, lists, indices and slices.

Neighbours: `foreign` (calls, and who asks).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from math import ceil
from typing import Final

from .habits_functions import CONSTANTS, PACKAGES, WORDS

_FUNCTIONS: Final[Mapping[type[ast.operator | ast.cmpop | ast.boolop], str]] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "×", ast.Div: "÷", ast.Pow: "*", ast.MatMult: "+.×", ast.Eq: "=", ast.NotEq: "≠",
    ast.Lt: "<", ast.LtE: "≤", ast.Gt: ">", ast.GtE: "≥", ast.And: "∧", ast.Or: "∨", ast.BitAnd: "∧", ast.BitOr: "∨",
    ast.In: "∊",
}  # fmt: skip
_ITEM_BY_ITEM: Final = (
    ast.Name, ast.Constant, ast.Compare, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.operator, ast.cmpop, ast.boolop, ast.unaryop,
    ast.expr_context,
)  # fmt: skip
"""What a value is made of that has the axes of the names in it."""
_ITEM: Final = re.compile(r"[^\W\d]\w*|¯?[\d.]+(?: ¯?[\d.]+)*|\([^()]*\)|'[^']*'|\"[^\"]*\"")


class NoSpelling(Exception):
    """Rho has no spelling of this that is sure to mean the same."""


class Expressions:
    """Writes what it is given, parts of `text`; `ranks`: how many axes names have."""

    def __init__(self, text: str, ranks: Mapping[str, int]) -> None:
        self.text, self.ranks = text, ranks

    def write(self, node: ast.expr) -> str:
        match node:
            case ast.BinOp(left, ast.Mod(), right):
                return f"{self.operand(right)}|{self.write(left)}"
            case ast.BinOp(left, ast.FloorDiv(), right):
                return f"⌊{self.operand(left)}÷{self.write(right)}"
            case ast.BinOp(left, ast.LShift(), right):
                return f"{self.operand(left)}×2*{self.write(right)}"
            case ast.BinOp(left, ast.RShift(), right):
                return f"⌊{self.operand(left)}÷2*{self.write(right)}"
            case ast.BinOp(left, ast.BitAnd() | ast.BitOr() as operator, right) if _is_number(left) or _is_number(right):
                glyph = "⎕band" if isinstance(operator, ast.BitAnd) else "⎕bor"
                return f"{self.operand(left)} {glyph} {self.write(right)}"
            case ast.BinOp(left, operator, right):
                return self.joined(left, operator, right)
            case ast.Compare(left, [ast.NotIn()], [right]):
                return f"~{self.joined(left, ast.In(), right)}"
            case ast.Compare(left, operators, others):
                pairs = zip([left, *others], operators, others, strict=False)
                *before, last = (self.joined(*pair) for pair in pairs)
                return "".join(f"({one})∧" for one in before) + last
            case ast.BoolOp(operator, values):
                *first, end = values
                return "".join(f"{self.operand(value)}{_FUNCTIONS[type(operator)]}" for value in first) + self.write(end)
            case ast.IfExp(test, body, orelse):
                return f"{self.operand(test)} ¿ ({self.write(body)} ⋄ {self.write(orelse)})"
            case ast.UnaryOp(ast.USub(), ast.Constant() as number):
                return f"¯{self.write(number)}"
            case ast.UnaryOp(ast.USub() | ast.Not() | ast.Invert() as operator, value):
                return f"{'-' if isinstance(operator, ast.USub) else '~'}{self.write(value)}"
            case ast.List(items):
                return self.listed(items)
            case ast.Tuple([_, *_] as items):
                return self.strand(items) or ",".join(map(self.operand, items))
            case ast.Call():
                return self.called(node)
            case ast.Attribute(ast.Name(package), word) if package in PACKAGES:
                return self.known(CONSTANTS.get(word))
            case ast.Attribute(value, ("T" | "shape" | "size" | "ndim") as word):
                return {"size": "×/⍴"}.get(word, WORDS[word]) + self.operand(value)
            case ast.Subscript(value, index):
                return self.indexed(value, index)
            case ast.Constant(int() | float() as number) if not isinstance(number, bool):
                written = self.segment(node).replace("_", "").replace("e-", "e¯").replace("E-", "e¯")
                return str(number) if written[:2].lower() in ("0x", "0b", "0o") else written
            case ast.Name("end"):
                raise NoSpelling  # of Julia, which counts from 1
            case ast.Constant(str()) | ast.Name():
                return CONSTANTS[self.segment(node)] if self.segment(node) in ("True", "False") else self.segment(node)
            case ast.Constant(bool() as truth):
                return str(int(truth))
            case _:
                raise NoSpelling

    def joined(self, left: ast.expr, operator: ast.operator | ast.cmpop, right: ast.expr) -> str:
        return f"{self.operand(left)}{self.known(_FUNCTIONS.get(type(operator)))}{self.write(right)}"

    def operand(self, node: ast.expr) -> str:
        """What stands beside a glyph: what is not an item stands in parentheses."""
        written = self.write(node)
        item = _ITEM.fullmatch(written) or (isinstance(node, ast.Subscript | ast.Call) and written == self.segment(node))
        return written if item or re.fullmatch(r"\w+\[[^\[\]]*\]", written) else f"({written})"

    def strand(self, items: Sequence[ast.expr]) -> str | None:
        """Numbers side by side."""
        written = [self.write(item) for item in items]
        return " ".join(written) if all(re.fullmatch(r"¯?[\d.]+(?:e¯?\d+)?", one) for one in written) else None

    def listed(self, items: Sequence[ast.expr]) -> str:
        """A list: a strand of numbers, or cells in brackets."""
        if not items:
            return "⍬"
        return self.strand(items) or "[" + " ⋄ ".join(map(self.write, items)) + "]"

    def called(self, node: ast.Call) -> str:
        """A call, whose meaning others know."""
        raise NoSpelling

    def indexed(self, value: ast.expr, index: ast.expr) -> str:
        """Some cells of an array."""
        array = self.operand(value)
        match index:
            case ast.Constant(int() as axis) if isinstance(value, ast.Call) and _asks_where(value):
                rank = self.rank(value.args[0])
                if rank is None or axis not in range(rank):
                    raise NoSpelling
                return self.write(value) if rank == 1 else f"({self.write(value)})[;{axis}]"
            case _ if _asks_where(value):
                raise NoSpelling
            case ast.Slice(None, None, ast.UnaryOp(ast.USub(), ast.Constant(1))):
                return f"⊖{array}"
            case ast.Slice(first, last, None):
                return self.sliced(array, first, last)
            case ast.UnaryOp(ast.USub(), ast.Constant(1)):
                return f"0⌷⊖{array}"
            case ast.Compare() | ast.BoolOp() | ast.BinOp(_, ast.BitAnd() | ast.BitOr(), _) | ast.UnaryOp(ast.Invert(), _):
                mask = self.write(index)
                flat = _is_item_by_item(index, value) and self.rank(value) != 1
                return f"(,{mask})⌿,{array}" if flat else f"({mask})⌿{array}"
            case ast.Tuple(axes) if sum(isinstance(one, ast.List | ast.Name) for one in axes) > 1 and ast.List in map(type, axes):
                raise NoSpelling  # pairs of positions
            case ast.Tuple(axes):
                return f"{array}[{';'.join(self.places(one, f'(⍴{array})[{axis}]') for axis, one in enumerate(axes))}]"
        return f"{array}[{self.places(index, f'(≢{array})')}]"

    def rank(self, node: ast.expr) -> int | None:
        """How many axes a value has that goes item by item over names; None if that is not known."""
        if not all(isinstance(one, _ITEM_BY_ITEM) for one in ast.walk(node)):
            return None
        ranks = [self.ranks.get(one.id) for one in ast.walk(node) if isinstance(one, ast.Name)]
        known = [rank for rank in ranks if rank is not None]
        return max(known, default=0) if len(known) == len(ranks) else None

    def sliced(self, array: str, first: ast.expr | None, last: ast.expr | None) -> str:
        start, stop = ("" if bound is None else self.operand(bound) for bound in (first, last))
        start = "" if start == "0" else start
        if start and stop and "¯" not in start + stop:
            return f"{array}[{counted(start, stop)}]"
        if start.startswith("¯") and not stop:
            return f"{start}↑{array}"
        part = f"{start}↓{array}" if start else array
        return f"{stop}↓{part}" if stop.startswith("¯") else f"{stop}↑{part}" if stop else part

    def places(self, index: ast.expr, length: str) -> str:
        """The positions on an axis of that length; nothing for all."""
        match index:
            case ast.Slice(None, None, None):
                return ""
            case ast.Slice(None, None, ast.UnaryOp(ast.USub(), ast.Constant(1))):
                return f"⌽⍳{length}"
            case ast.Slice(first, last, step):
                pace = "1" if step is None else self.operand(step)
                bounds = [default if one is None else self.places(one, length) for one, default in ((first, "0"), (last, length))]
                start, stop = (one if one == length or _ITEM.fullmatch(one) else f"({one})" for one in bounds)
                return counted(start, stop, self.known(None if pace.startswith("¯") else pace))
            case ast.Compare() | ast.BoolOp():
                return f"⍸{self.write(index)}"
            case ast.UnaryOp(ast.USub(), ast.Constant() as back):
                return f"{length}-{self.write(back)}"
            case ast.Constant(value) if value is None or value is ...:
                raise NoSpelling
        return self.write(index)

    def known(self, written: str | None) -> str:
        if written is None:
            raise NoSpelling
        return written

    def segment(self, node: ast.expr) -> str:
        return self.known(ast.get_source_segment(self.text, node))


def counted(first: str, last: str, step: str = "1") -> str:
    """Numbers from the first on to before the last, in steps."""
    try:
        start, stop, pace = (float(one.replace("¯", "-")) for one in (first, last, step))
        many = str(max(0, ceil((stop - start) / pace)))
    except (ValueError, ZeroDivisionError):
        span = last if first == "0" else f"{last}-{first}"
        many = span if step == "1" else f"⌈{span if first == '0' else f'({span})'}÷{step}"
    items = f"⍳{many}" if step == "1" else f"{step}×⍳{many}"
    return items if first == "0" else f"{first}+{items}"


def _asks_where(node: ast.expr) -> bool:
    """Is it a call of `where` or `nonzero`, which give the positions on each axis?"""
    return (
        isinstance(node, ast.Call)
        and len(node.args) == 1
        and (isinstance(node.func, ast.Attribute) and node.func.attr in ("where", "nonzero") and is_package(node.func.value))
    )


def _is_item_by_item(mask: ast.expr, array: ast.expr) -> bool:
    """Does a mask compare the items of an array with numbers, so that it has the shape of the array?"""
    names = [one for one in ast.walk(mask) if isinstance(one, ast.Name)]
    return {*map(ast.dump, names)} == {ast.dump(array)} and all(isinstance(one, _ITEM_BY_ITEM) for one in ast.walk(mask))


def is_mask(node: ast.expr) -> bool:
    return isinstance(node, ast.Compare | ast.BoolOp) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not isinstance(node.value, bool)


def is_package(node: ast.expr) -> bool:
    """Is it `np`, `np.linalg` or the like?"""
    while isinstance(node, ast.Attribute) and node.attr in _PARTS:
        node = node.value
    return isinstance(node, ast.Name) and node.id in PACKAGES


_PARTS: Final = frozenset({"linalg", "fft", "special", "numpy", "nn", "functional"})
"""Packages in packages."""
