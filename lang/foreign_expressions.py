"""An expression of Python (or C, R) as Rho writes it, but for what its calls mean: operators, lists, indices and slices.

Neighbours: `foreign` (calls, and who asks).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from math import ceil
from typing import Final

from .foreign_domains import KINDS, Fact, Known, Spelling, described, kinds_of, spelling_for
from .habits_functions import CALLS, CONSTANTS, PACKAGES, WORDS

_OPERATORS: Final[Mapping[type[ast.operator | ast.cmpop | ast.boolop], str]] = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide", ast.Pow: "power", ast.MatMult: "matmul",
    ast.Eq: "equal", ast.NotEq: "not_equal", ast.Lt: "less", ast.LtE: "less_equal", ast.Gt: "greater", ast.GtE: "greater_equal",
    ast.And: "both", ast.Or: "either", ast.BitAnd: "bitwise_and", ast.BitOr: "bitwise_or", ast.BitXor: "bitwise_xor",
    ast.In: "contained", ast.Mod: "mod", ast.FloorDiv: "floor_divide", ast.LShift: "left_shift", ast.RShift: "right_shift",
}  # fmt: skip
"""The functions that operators stand for."""
_ITEM_BY_ITEM: Final = (
    ast.Name, ast.Constant, ast.Compare, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.operator, ast.cmpop, ast.boolop, ast.unaryop,
    ast.expr_context,
)  # fmt: skip
"""What a value is made of that has the axes of the names in it."""
_ITEM: Final = re.compile(r"[^\W\d]\w*|¯?[\d.]+(?: ¯?[\d.]+)*|\([^()]*\)|'[^']*'|\"[^\"]*\"")


_COUNT: Final = Spelling("", "0 i ≥0", "", "a negative bound counts from the end there")
_NOT: Final = Spelling("~", "b", "b", "of integers it turns all bits, which `⎕bnot n` does")
_NOT_SO: Final = Spelling("~", "b", "b", "of other numbers it is `0=`")


class NoSpelling(Exception):
    """Rho has no spelling of this that is sure to mean the same."""


class Expressions:
    """Writes what it is given, parts of `text`; `known`: what the program says of names, and what is to be said."""

    def __init__(self, text: str, known: Known) -> None:
        self.text, self.known = text, known

    def write(self, node: ast.expr) -> str:
        match node:
            case ast.BinOp(left, operator, right):
                return self.joined(left, operator, right)
            case ast.Compare(left, [ast.NotIn()], [right]):
                return f"~{self.joined(left, ast.In(), right)}"
            case ast.Compare(left, operators, others):
                pairs = zip([left, *others], operators, others, strict=False)
                *before, last = (self.joined(*pair) for pair in pairs)
                return "".join(f"({one})∧" for one in before) + last
            case ast.BoolOp(operator, values):
                return self.chained(operator, values)
            case ast.IfExp(test, body, orelse):
                return self.templated(CALLS["where", 3], [test, body, orelse])
            case ast.UnaryOp(ast.USub(), ast.Constant() as number):
                return f"¯{self.write(number)}"
            case ast.UnaryOp(ast.USub(), value):
                return self.prefixed(WORDS["negative"], value)
            case ast.UnaryOp(ast.Not() | ast.Invert() as operator, value):
                return self.prefixed(_NOT if isinstance(operator, ast.Invert) else _NOT_SO, value)
            case ast.List(items):
                return self.listed(items)
            case ast.Tuple([_, *_] as items):
                return self.strand(items) or ",".join(map(self.operand, items))
            case ast.Call():
                return self.called(node)
            case ast.Attribute(ast.Name(package), word) if package in PACKAGES:
                return self.certain(CONSTANTS.get(word))
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
        word = self.certain(_OPERATORS.get(type(operator)))
        return self.templated(CALLS[word, 2], [left, right])

    def chained(self, operator: ast.boolop, values: Sequence[ast.expr]) -> str:
        """`and` and `or` of several."""
        text = CALLS[_OPERATORS[type(operator)], 2]
        *first, end = values
        for value in first:
            self.require(text, self.known.facts([self.operand(value), self.operand(end)]))
        return "".join(f"{self.operand(value)}{text[3]}" for value in first) + self.write(end)

    def templated(self, text: str, nodes: Sequence[ast.expr], in_math: bool = False) -> str:
        """A function of several arguments."""
        operands = list(map(self.operand, nodes))
        facts = self.known.facts(operands)
        chosen = self.require(text, facts)
        last = re.search(r"\{(\d)\}$", chosen)
        if last is not None and chosen.count(last[0]) == 1:
            operands[int(last[1])] = self.write(nodes[int(last[1])])
        return self.typed(chosen, chosen.format(*operands), facts, in_math)

    def prefixed(self, text: str, node: ast.expr, in_math: bool = False) -> str:
        """A function of one argument."""
        operand = self.operand(node)
        facts = self.known.facts([operand])
        chosen = self.require(text, facts)
        simple = text in ("-", "~")
        return self.typed(chosen, chosen + (self.write(node) if simple else operand), facts, in_math)

    def require(self, text: str, facts: Sequence[Fact | None]) -> str:
        """The spelling that means the same for such arguments, for certain."""
        chosen = spelling_for(text, facts)
        if chosen is None:
            assert isinstance(text, Spelling)
            domain = described(" | ".join(one.domain for one in (text, *text.others)))
            words = f"it means the same only for {domain}" + (f": {text.differs}" if text.differs else "")
            if self.known.qualifies:
                self.known.said[words] = None
                return text
            self.known.differs[words] = None
            raise NoSpelling
        return chosen

    def typed(self, text: str, written: str, facts: Sequence[Fact | None], in_math: bool) -> str:
        """The same text, with a word where its elements are of another kind than elsewhere."""
        if not isinstance(text, Spelling) or not text.gives:
            return written
        there = kinds_of(text.gives, facts)
        if in_math and text.gives not in "bi":
            there = "i" if re.search("[⌊⌈]", text) else "f"
        (here,) = self.known.facts([written])
        if here is None and there is None and text.gives == "=":
            self.known.said["elsewhere the result has the type of its arguments"] = None
        elif there is not None and (here is None or here.kind != there):
            given = f", here of {KINDS[here.kind]}" if here is not None and here.kind in KINDS else ""
            self.known.said[f"elsewhere the result is of {KINDS[there]}{given}"] = None
        return written

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
        if isinstance(value, ast.Call) and _asks_where(value):
            rank = self.rank(value.args[0])
            axis = index.value if isinstance(index, ast.Constant) and isinstance(index.value, int) else -1
            if rank is None or axis not in range(rank):
                raise NoSpelling
            positions = self.positions(value.args[0])
            return positions if rank == 1 else f"({positions})[;{axis}]"
        array = self.operand(value)
        match index:
            case ast.Slice(None, None, ast.UnaryOp(ast.USub(), ast.Constant(1))):
                return f"⊖{array}"
            case ast.Slice(first, last, None):
                return self.sliced(value, first, last)
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

    def positions(self, node: ast.expr) -> str:
        """Where an array is not 0."""
        (fact,) = self.known.facts([self.operand(node)])
        return f"⍸{'' if fact is not None and fact.kind == 'b' else '0≠'}{self.write(node)}"

    def rank(self, node: ast.expr) -> int | None:
        """How many axes a value has; None if that is not known."""
        (fact,) = self.known.facts([self.operand(node)])
        return None if fact is None else fact.rank

    def sliced(self, value: ast.expr, first: ast.expr | None, last: ast.expr | None) -> str:
        """The cells from one on to before another; of a shorter array as many as there are."""
        array, bounds = self.operand(value), ["" if bound is None else self.operand(bound) for bound in (first, last)]
        fact, *limits = self.known.facts([array, *[bound or "0" for bound in bounds]])
        length = fact.lengths[0] if fact is not None and fact.lengths else None
        begin, stop = "" if bounds[0] == "0" else bounds[0], bounds[1]
        for bound, limit in zip((begin, stop), limits, strict=True):
            if bound and not bound.startswith("¯"):
                self.require(_COUNT, [limit])
        if begin and stop and "¯" not in begin + stop:
            return f"{array}[{counted(begin, stop)}]"
        if begin.startswith("¯") and not stop:
            return f"{self.at_most(begin, length, array)}↑{array}"
        if begin.startswith("¯"):
            raise NoSpelling
        part = f"{begin}↓{array}" if begin else array
        if not stop:
            return part
        return f"{stop}↓{part}" if stop.startswith("¯") else f"{self.at_most(stop, length, array)}↑{part}"

    def at_most(self, count: str, length: int | None, array: str) -> str:
        """A count of cells to take, no more than an array has: `↑` would fill up."""
        number = count.removeprefix("¯")
        if number.isdigit() and length is not None and int(number) <= length:
            return count
        return f"(-{number}⌊≢{array})" if count.startswith("¯") else f"({count}⌊≢{array})"

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
                return counted(start, stop, self.certain(None if pace.startswith("¯") else pace))
            case ast.Compare() | ast.BoolOp():
                return f"⍸{self.write(index)}"
            case ast.UnaryOp(ast.USub(), ast.Constant() as back):
                return f"{length}-{self.write(back)}"
            case ast.Constant(value) if value is None or value is ...:
                raise NoSpelling
        return self.write(index)

    def certain(self, written: str | None) -> str:
        if written is None:
            raise NoSpelling
        return written

    def segment(self, node: ast.expr) -> str:
        return self.certain(ast.get_source_segment(self.text, node))


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


def is_package(node: ast.expr) -> bool:
    """Is it `np`, `np.linalg` or the like?"""
    while isinstance(node, ast.Attribute) and node.attr in _PARTS:
        node = node.value
    return isinstance(node, ast.Name) and node.id in PACKAGES


_PARTS: Final = frozenset({"linalg", "fft", "special", "numpy", "nn", "functional"})
"""Packages in packages."""
