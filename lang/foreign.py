"""An expression of Python (or C, R) as Rho writes it: `x**2` is `x*2`, `2*a+1` is `(2×a)+1`.

Whoever writes `y = 2*a+1` means `*` and its precedence as the other language has them, so a statement that is repaired is read
whole as that language: once a part of it is Rho, nobody can tell whose `*` and `/` the others are.  Functions with names of
their own and slices are written by `habits_spelling`, of calls that it does not know only the arguments.

Neighbours: `habits_spelling` (who asks).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from math import ceil
from typing import Final

from .habits_functions import (
    BUILTINS,
    CALLS,
    CONSTANTS,
    FIRST,
    JOINED,
    KINDS_OF_WORDS,
    PACKAGES,
    ROWS,
    WORDS,
)

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
_WITHOUT_MEANING: Final = frozenset({"kind", "copy", "stable"})
_ITEM: Final = re.compile(r"[^\W\d]\w*|¯?[\d.]+(?: ¯?[\d.]+)*|\([^()]*\)|'[^']*'|\"[^\"]*\"")


def is_computed(text: str) -> bool:
    """Is it an expression of Python that computes something?"""
    try:
        node = ast.parse(_as_python(text), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(isinstance(one, ast.BinOp | ast.Compare | ast.BoolOp | ast.Subscript | ast.Call) for one in ast.walk(node))


def _as_python(text: str) -> str:
    """With C's words for and, or and not in Python's."""
    return re.sub(r"!(?!=)", " not ", text.replace("&&", " and ").replace("||", " or ")).strip()


def rho_of(text: str, ranks: Mapping[str, int]) -> str | None:
    """The expression in Rho; the text itself if it is none of Python, None if Rho has no spelling of its meaning.

    `ranks`: how many axes the names in it have, as far as they are known."""
    if not text.isascii():
        return text  # whoever writes the glyphs knows them
    try:
        node = ast.parse(_as_python(text), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    try:
        written = _Writer(_as_python(text), ranks).write(node)
    except (_NoSpelling, RecursionError):
        return None
    return text.strip() if written == text.replace(" ", "") else written


class _NoSpelling(Exception):
    """Rho has no spelling of this that is sure to mean the same."""


class _Writer:
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
                raise _NoSpelling  # of Julia, which counts from 1
            case ast.Constant(str()) | ast.Name():
                return CONSTANTS[self.segment(node)] if self.segment(node) in ("True", "False") else self.segment(node)
            case ast.Constant(bool() as truth):
                return str(int(truth))
            case _:
                raise _NoSpelling

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
        """A call of a function of another language, or of a function of the program's."""
        match node:
            case ast.Call(ast.Name("list"), [ast.Call(ast.Name("map" | "filter")) as inner], []):
                return self.called(inner)
            case ast.Call(ast.Name("map" | "filter"), [ast.Lambda(ast.arguments([], [ast.arg(name)])) as each, items], []):
                return self.each(name, each.body, items, keeps=self.segment(node.func) == "filter")
        match node.func:
            case ast.Name(word) if word in _KNOWN:
                given, bare = list(node.args), True
            case ast.Attribute(ast.Attribute(package, function), "outer" | "reduce" | "accumulate" as way) if _is_package(
                package
            ):
                return self.pervading(function, way, node)
            case ast.Attribute(value, word) if _is_package(value):
                self.known(word if word in _KNOWN else None)
                given, bare = list(node.args), False
            case ast.Attribute(value, "astype") if len(node.args) == 1:
                return f"{self.kind(node.args[0])} {self.operand(value)}"
            case ast.Attribute(value, word) if word in _KNOWN:
                given, bare = [value, *node.args], False
            case ast.Name() if not node.keywords:
                return f"{self.segment(node.func)}({', '.join(map(self.write, node.args))})"
            case _:
                raise _NoSpelling
        named = {keyword.arg or "": keyword.value for keyword in node.keywords if keyword.arg not in _WITHOUT_MEANING}
        if word == "sorted" and isinstance(reverse := named.get("reverse"), ast.Constant) and reverse.value is True:
            return f"⌽{self.applied(word, given, bare)}" if len(named) == 1 else self.known(None)
        if word in _SPREADS and (bare or self.segment(node.func).startswith("torch.")):
            raise _NoSpelling  # Julia, MATLAB, R and torch divide by one less
        if word == "round" and bare and len(given) > 1:
            raise _NoSpelling  # Python rounds the decimal number, not the product
        axis, kind = named.pop("axis", named.pop("dim", None)), named.pop("dtype", None)
        extra = [named.pop(one) for one in ("ddof", "weights") if one in named and axis is None]
        if named or not given:
            raise _NoSpelling
        if axis is None and not extra and not bare and len(given) == 2 and (word in FIRST or word in ROWS):
            axis = given.pop()
        if axis is not None and not (isinstance(axis, ast.Constant) and axis.value is None):
            written = self.along(word, given, self.write(axis))
        elif word == "int" and isinstance(given[0], ast.Constant) and isinstance(given[0].value, str):
            raise _NoSpelling
        else:
            written = self.applied(word, [*given, *extra], bare)
        return written if kind is None else f"{self.kind(kind)} {written}"

    def each(self, name: str, body: ast.expr, items: ast.expr, keeps: bool) -> str:
        """A function of each item, or the items of which it holds."""
        if any(isinstance(one, ast.Call | ast.Subscript | ast.Attribute) for one in ast.walk(body)):
            raise _NoSpelling  # of the rows of a matrix
        array, body_text = self.operand(items), re.sub(rf"\b{name}\b", "⍵", self.write(body))
        return f"({{{body_text}}}¨{array})⌿{array}" if keeps else f"{{{body_text}}}¨{array}"

    def pervading(self, function: str, way: str, node: ast.Call) -> str:
        """A function of two arguments between all items of two arrays, or folded along an axis, the first if none is said."""
        glyph = re.fullmatch(r"\{0\}([^\w\s⎕{}()])\{1\}", CALLS.get((function, 2), ""))
        if glyph is None:
            raise _NoSpelling
        if way == "outer" and len(node.args) == 2 and not node.keywords:
            return f"{self.operand(node.args[0])}∘.{glyph[1]}{self.write(node.args[1])}"
        given = [*node.args, *(one.value for one in node.keywords if one.arg == "axis")]
        axis = self.write(given[1]) if len(given) == 2 else "0"
        if way == "outer" or glyph[1] not in "+×⌈⌊" or len(given) != len(node.args) + len(node.keywords) or len(node.args) == 0:
            raise _NoSpelling  # other functions give another value folded from the right
        ways = {"0": "⌿⍀", "1": "/\\", "¯1": "/\\"}
        return f"{glyph[1]}{self.known(ways.get(axis))['ra'.index(way[0])]}{self.operand(given[0])}"

    def along(self, word: str, given: Sequence[ast.expr], axis: str) -> str:
        """A function along an axis: the first, or the last, which the second of a matrix is."""
        if word in JOINED and axis in ("0", "1", "¯1"):
            return self.pieces(given, "⍪" if axis == "0" else ",")
        if word == "stack" and axis == "0":
            return self.applied(word, given, False)
        if word == "roll" and len(given) == 2 and axis in ("0", "1", "¯1"):
            return f"(-{self.operand(given[1])}){'⊖' if axis == '0' else '⌽'}{self.operand(given[0])}"
        if len(given) != 1:
            raise _NoSpelling
        operand = self.operand(given[0])
        if axis == "0" and word in FIRST:
            return f"{FIRST[word]} {operand}" if FIRST[word][-1].isalpha() else FIRST[word] + operand
        if axis == "0" and word in ROWS:
            return f"⍉({ROWS[word]}⍤1) ⍉{operand}"
        function = ROWS.get(word) or FIRST.get(word)
        if function is None or axis not in ("1", "¯1"):
            raise _NoSpelling
        plain = function.replace("⌿", "/").replace("⍀", "\\").replace("⊖", "⌽")
        return plain + operand if re.fullmatch(r"[^\w{(]+|2-⍨/|.*≠", plain) else f"({function}⍤1) {operand}"

    def applied(self, word: str, given: Sequence[ast.expr], bare: bool) -> str:
        """A function of all items."""
        if word in JOINED:
            return self.pieces(given, JOINED[word])
        if word in ("stack", "column_stack") and isinstance(given[0], ast.List | ast.Tuple) and len(given) == 1:
            return ("⍉" if word == "column_stack" else "") + "[" + " ⋄ ".join(map(self.write, given[0].elts)) + "]"
        if word in ("reshape", "zeros", "ones"):
            return self.shaped(word, given)
        if word in ("arange", "range") and len(given) > 1:
            return _counted(*map(self.operand, given))
        template = (BUILTINS.get((word, len(given))) if bare else None) or CALLS.get((word, len(given)))
        if word in ("where", "nonzero") and len(given) == 1:
            return f"⍸{'' if _is_mask(given[0]) else '0≠'}{self.write(given[0])}"
        if template is not None:
            return template.format(*map(self.operand, given))
        if len(given) != 1 or word not in WORDS:
            raise _NoSpelling
        return WORDS[word] + self.operand(given[0]) if WORDS[word] else self.write(given[0])

    def pieces(self, given: Sequence[ast.expr], glyph: str) -> str:
        """The arrays of a list, or of the arguments, joined."""
        arrays = given[0].elts if len(given) == 1 and isinstance(given[0], ast.List | ast.Tuple) else given
        return glyph.join([*map(self.operand, arrays[:-1]), self.write(arrays[-1])])

    def shaped(self, word: str, given: Sequence[ast.expr]) -> str:
        """An array of a shape, which is one argument or several."""
        *array, lengths = (given[0], list(given[1:])) if word == "reshape" else (list(given),)
        if len(lengths) == 1 and isinstance(lengths[0], ast.Tuple | ast.List):
            lengths = list(lengths[0].elts)
        items = self.operand(array[0]) if array else {"zeros": "0", "ones": "1"}[word]
        written = [self.operand(one) for one in lengths]
        if written == ["¯1"]:
            return f",{items}"
        if "¯1" in written:
            rest = "×".join(one for one in written if one != "¯1")
            written[written.index("¯1")] = f"(⌊(×/⍴{items})÷{rest})"
        if not written:
            raise _NoSpelling
        digits = all(one.isdigit() for one in written)
        shape = " ".join(written) if digits else written[0] if len(written) == 1 else f"({','.join(written)})"
        return f"{shape}⍴{items}"

    def indexed(self, value: ast.expr, index: ast.expr) -> str:
        """Some cells of an array."""
        array = self.operand(value)
        match index:
            case ast.Constant(int() as axis) if isinstance(value, ast.Call) and _asks_where(value):
                rank = self.rank(value.args[0])
                if rank is None or axis not in range(rank):
                    raise _NoSpelling
                return self.write(value) if rank == 1 else f"({self.write(value)})[;{axis}]"
            case _ if _asks_where(value):
                raise _NoSpelling
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
                raise _NoSpelling  # pairs of positions
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
            return f"{array}[{_counted(start, stop)}]"
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
                return _counted(start, stop, self.known(None if pace.startswith("¯") else pace))
            case ast.Compare() | ast.BoolOp():
                return f"⍸{self.write(index)}"
            case ast.UnaryOp(ast.USub(), ast.Constant() as back):
                return f"{length}-{self.write(back)}"
            case ast.Constant(value) if value is None or value is ...:
                raise _NoSpelling
        return self.write(index)

    def kind(self, node: ast.expr) -> str:
        """A type by its name elsewhere."""
        return self.known(KINDS_OF_WORDS.get(re.split(r"\W", self.segment(node).strip("'\""))[-1]))

    def known(self, written: str | None) -> str:
        if written is None:
            raise _NoSpelling
        return written

    def segment(self, node: ast.expr) -> str:
        return self.known(ast.get_source_segment(self.text, node))


def _counted(first: str, last: str, step: str = "1") -> str:
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
        and (isinstance(node.func, ast.Attribute) and node.func.attr in ("where", "nonzero") and _is_package(node.func.value))
    )


def _is_item_by_item(mask: ast.expr, array: ast.expr) -> bool:
    """Does a mask compare the items of an array with numbers, so that it has the shape of the array?"""
    names = [one for one in ast.walk(mask) if isinstance(one, ast.Name)]
    return {*map(ast.dump, names)} == {ast.dump(array)} and all(isinstance(one, _ITEM_BY_ITEM) for one in ast.walk(mask))


def _is_mask(node: ast.expr) -> bool:
    return isinstance(node, ast.Compare | ast.BoolOp) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not isinstance(node.value, bool)


def _is_package(node: ast.expr) -> bool:
    """Is it `np`, `np.linalg` or the like?"""
    while isinstance(node, ast.Attribute) and node.attr in _PARTS:
        node = node.value
    return isinstance(node, ast.Name) and node.id in PACKAGES


_PARTS: Final = frozenset({"linalg", "fft", "special", "numpy", "nn", "functional"})
"""Packages in packages."""

_SPREADS: Final = frozenset({"std", "var"})

_KNOWN: Final = frozenset({
    *WORDS, *JOINED, *ROWS, "stack", "column_stack", *(word for word, _ in CALLS), *(word for word, _ in BUILTINS),
})  # fmt: skip
