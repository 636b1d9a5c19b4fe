"""Translates expressions of Python (or C, R) into Rho: `x**2` is `x*2`, `2*a+1` is `(2×a)+1`, `np.sum(x)` is `+/,x`.

Whoever writes `y = 2*a+1` means `*` and its precedence as the other language has them, so a statement that is repaired is read
whole as that language: once a part of it is Rho, nobody can tell whose `*` and `/` the others are.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from math import ceil
from typing import Final

from .equivalence_domains import KINDS, ArgumentFact, Known, RhoSpelling, described, kinds_of, spelling_for, without_ranks
from .function_names import BUILTINS, CALLS, CONSTANTS, FIRST, JOINED, KINDS_OF_WORDS, PACKAGES, ROWS, WORDS

# ---------------------------------------------------------------------------------------------------- foreign_expressions
#
# An expression of Python (or C, R) as Rho writes it, but for what its calls mean: operators, lists, indices and slices.

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


_COUNT: Final = RhoSpelling("", "0 i ≥0", "", "a negative bound counts from the end there")
_NOT: Final = RhoSpelling("~", "b", "b", "of integers it turns all bits, which `⎕bnot n` does")
_NOT_SO: Final = RhoSpelling("~", "b", "b", "of other numbers it is `0=`")


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

    def require(self, text: str, facts: Sequence[ArgumentFact | None]) -> str:
        """The spelling that means the same for such arguments, for certain."""
        chosen = spelling_for(text, facts)
        if chosen is None:
            assert isinstance(text, RhoSpelling)
            domain = described(" | ".join(one.domain for one in (text, *text.others)))
            words = f"it means the same only for {domain}" + (f": {text.differs}" if text.differs else "")
            if self.known.qualifies:
                self.known.said[words] = None
                return text
            self.known.differs[words] = None
            raise NoSpelling
        return chosen

    def typed(self, text: str, written: str, facts: Sequence[ArgumentFact | None], in_math: bool) -> str:
        """The same text, with a word where its elements are of another kind than elsewhere."""
        if not isinstance(text, RhoSpelling) or not text.gives:
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


# ---------------------------------------------------------------------------------------------------- foreign

_WITHOUT_MEANING: Final = frozenset({"kind", "copy", "stable"})


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


def rho_of(text: str, known: Known) -> str | None:
    """The expression in Rho; the text itself if it is none of Python, None if Rho has no spelling of its meaning.

    `known`: what the program says of the names in it, and what is to be said of the result."""
    if not text.isascii():
        return text  # whoever writes the glyphs knows them
    try:
        node = ast.parse(_as_python(text), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    try:
        written = _Calls(_as_python(text), known).write(node)
    except (NoSpelling, RecursionError):
        return None
    return text.strip() if written == text.replace(" ", "") else written


class _Calls(Expressions):
    """What calls of functions of another language are written as."""

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
            case ast.Attribute(ast.Attribute(package, function), "outer" | "reduce"
                | "accumulate" as method) if is_package(package):
                return self.pervading(function, method, node)
            case ast.Attribute(value, word) if is_package(value):
                self.certain(word if word in _KNOWN else None)
                given, bare = list(node.args), False
            case ast.Attribute(value, "astype") if len(node.args) == 1:
                return self.converted(self.kind(node.args[0]), value)
            case ast.Attribute(value, word) if word in _KNOWN:
                given, bare = [value, *node.args], False
            case ast.Name() if not node.keywords:
                return f"{self.segment(node.func)}({', '.join(map(self.write, node.args))})"
            case _:
                raise NoSpelling
        named = {keyword.arg or "": keyword.value for keyword in node.keywords if keyword.arg not in _WITHOUT_MEANING}
        if word == "sorted" and isinstance(reverse := named.get("reverse"), ast.Constant) and reverse.value is True:
            return f"⌽{self.applied(word, given, bare)}" if len(named) == 1 else self.certain(None)
        if word in _SPREADS and (bare or self.segment(node.func).startswith("torch.")):
            raise NoSpelling  # Julia, MATLAB, R and torch divide by one less
        if word == "round" and bare and len(given) > 1:
            raise NoSpelling  # Python rounds the decimal number, not the product
        if word == "log" and len(given) > 1 and not self.segment(node.func).startswith("math."):
            raise NoSpelling  # R has the base on the right, Julia on the left
        axis, kind = named.pop("axis", named.pop("dim", None)), named.pop("dtype", None)
        extra = [named.pop(one) for one in ("ddof", "weights") if one in named and axis is None]
        if named or not given:
            raise NoSpelling
        if axis is None and not extra and not bare and len(given) == 2 and (word in FIRST or word in ROWS):
            axis = given.pop()
        if axis is not None and not (isinstance(axis, ast.Constant) and axis.value is None):
            written = self.along(word, given, self.write(axis))
        elif word == "int" and isinstance(given[0], ast.Constant) and isinstance(given[0].value, str):
            raise NoSpelling
        else:
            written = self.applied(word, [*given, *extra], bare, self.segment(node.func).startswith("math."))
        return written if kind is None else f"{self.kind(kind)} {written}"

    def each(self, name: str, body: ast.expr, items: ast.expr, keeps: bool) -> str:
        """A function of each item, or the items of which it holds."""
        if any(isinstance(one, ast.Call | ast.Subscript | ast.Attribute) for one in ast.walk(body)):
            raise NoSpelling  # of the rows of a matrix
        array, outside = self.operand(items), self.known
        self.known = outside.with_item(name, array)
        body_text = re.sub(rf"\b{name}\b", "⍵", self.write(body))
        self.known = outside
        return f"({{{body_text}}}¨{array})⌿{array}" if keeps else f"{{{body_text}}}¨{array}"

    def pervading(self, function: str, method: str, node: ast.Call) -> str:
        """A function of two arguments between all items of two arrays, or folded along an axis, the first if none is said."""
        glyph = re.fullmatch(r"\{0\}([^\w\s⎕{}()])\{1\}", CALLS.get((function, 2), ""))
        if glyph is None:
            raise NoSpelling
        if method == "outer" and len(node.args) == 2 and not node.keywords:
            both = self.known.facts(list(map(self.operand, node.args)))
            text = without_ranks(CALLS[function, 2])
            self.require(text, both)
            return self.typed(text, f"{self.operand(node.args[0])}∘.{glyph[1]}{self.write(node.args[1])}", both, False)
        given = [*node.args, *(one.value for one in node.keywords if one.arg == "axis")]
        axis = self.write(given[1]) if len(given) == 2 else "0"
        if method == "outer" or glyph[1] not in "+×⌈⌊" or len(given) != len(node.args) + len(node.keywords) or not node.args:
            raise NoSpelling  # other functions give another value folded from the right
        folds_of_axis = {"0": "⌿⍀", "1": "/\\", "¯1": "/\\"}
        operand = self.operand(given[0])
        facts = self.known.facts([operand])
        self.require(_ALONG[axis == "1"], facts)
        kind = RhoSpelling(function, "", "+" if glyph[1] in "+×" else "=")
        folded = f"{glyph[1]}{self.certain(folds_of_axis.get(axis))['ra'.index(method[0])]}{operand}"
        return self.typed(kind, folded, facts, False)

    def along(self, word: str, given: Sequence[ast.expr], axis: str) -> str:
        """A function along an axis: the first, or the last, which the second of a matrix is."""
        if word in JOINED and axis in ("0", "1", "¯1"):
            return self.pieces(given, _JOINED_ALONG[axis])
        if word == "stack" and axis == "0":
            return self.applied(word, given, False)
        if word == "roll" and len(given) == 2 and axis in ("0", "1", "¯1"):
            return f"(-{self.operand(given[1])}){'⊖' if axis == '0' else '⌽'}{self.operand(given[0])}"
        if len(given) != 1:
            raise NoSpelling
        operand = self.operand(given[0])
        facts = self.known.facts([operand])
        self.require(_ALONG[axis == "1"] if axis != "¯1" else _ALONG[0], facts)
        self.require(without_ranks(WORDS[word]), facts)
        return self.typed(WORDS[word], self.folded(word, operand, axis), facts, False)

    def folded(self, word: str, operand: str, axis: str) -> str:
        if axis == "0" and word in FIRST:
            return f"{FIRST[word]} {operand}" if FIRST[word][-1].isalpha() else FIRST[word] + operand
        if axis == "0" and word in ROWS:
            return f"⍉({ROWS[word]}⍤1) ⍉{operand}"
        function = ROWS.get(word) or FIRST.get(word)
        if function is None or axis not in ("1", "¯1"):
            raise NoSpelling
        plain = function.replace("⌿", "/").replace("⍀", "\\").replace("⊖", "⌽")
        return plain + operand if word not in ROWS and re.fullmatch(r"[^\w{(]+|2-⍨/|.*≠", plain) else f"({function}⍤1) {operand}"

    def converted(self, kind: str, value: ast.expr) -> str:
        """Items of another type."""
        operand = self.operand(value)
        (fact,) = self.known.facts([operand])
        if kind.startswith(("i", "u")) and not (fact is not None and fact.kind in "bi"):
            return self.prefixed(_WHOLE if kind == "i64" else self.certain(None), value)
        if kind == "bool":
            return f"0≠{operand}"
        return f"{kind} {operand}"

    def applied(self, word: str, given: Sequence[ast.expr], bare: bool, in_math: bool = False) -> str:
        """A function of all items."""
        if word in JOINED:
            return self.pieces(given, JOINED[word])
        if word in ("stack", "column_stack") and isinstance(given[0], ast.List | ast.Tuple) and len(given) == 1:
            return ("⍉" if word == "column_stack" else "") + "[" + " ⋄ ".join(map(self.write, given[0].elts)) + "]"
        if word in ("reshape", "zeros", "ones"):
            return self.shaped(word, given)
        if word in ("arange", "range") and len(given) > 1:
            return counted(*map(self.operand, given))
        template = (BUILTINS.get((word, len(given))) if bare else None) or CALLS.get((word, len(given)))
        if word in ("where", "nonzero") and len(given) == 1:
            (fact,) = self.known.facts([self.operand(given[0])])
            self.require(WORDS[word], [fact])
            self.known.said["elsewhere the positions are in a tuple"] = None
            return self.positions(given[0])
        if template is not None:
            return self.templated(template, given, in_math)
        if len(given) != 1 or word not in WORDS:
            raise NoSpelling
        return self.prefixed(WORDS[word], given[0], in_math) if WORDS[word] else self.write(given[0])

    def pieces(self, given: Sequence[ast.expr], glyph: str) -> str:
        """The arrays of a list, or of the arguments, joined."""
        arrays = given[0].elts if len(given) == 1 and isinstance(given[0], ast.List | ast.Tuple) else given
        facts = self.known.facts(list(map(self.operand, arrays)))
        for fact in facts:
            glyph = self.require(glyph, [fact, facts[0]])
        return glyph.join([*map(self.operand, arrays[:-1]), self.write(arrays[-1])])

    def shaped(self, word: str, given: Sequence[ast.expr]) -> str:
        """An array of a shape, which is one argument or several."""
        *array, lengths = (given[0], list(given[1:])) if word == "reshape" else (list(given),)
        if len(lengths) == 1 and isinstance(lengths[0], ast.Tuple | ast.List):
            lengths = list(lengths[0].elts)
        items = self.operand(array[0]) if array else {"zeros": "0.0", "ones": "1.0"}[word]
        written = [self.operand(one) for one in lengths]
        if written == ["¯1"]:
            return f",{items}"
        if "¯1" in written:
            rest = "×".join(one for one in written if one != "¯1")
            written[written.index("¯1")] = f"(⌊(×/⍴{items})÷{rest})"
        if not written:
            raise NoSpelling
        digits = all(one.isdigit() for one in written)
        shape = " ".join(written) if digits else written[0] if len(written) == 1 else f"({','.join(written)})"
        return f"{shape}⍴{items}"

    def kind(self, node: ast.expr) -> str:
        """A type by its name elsewhere."""
        return self.certain(KINDS_OF_WORDS.get(re.split(r"\W", self.segment(node).strip("'\""))[-1]))


_ALONG: Final = (RhoSpelling("", "123"), RhoSpelling("", "2", "", "axis 1 is not the last one of other ranks"))
_WHOLE: Final = RhoSpelling(WORDS["int"], "", "i")
_JOINED_ALONG: Final = {"0": RhoSpelling("⍪", "123 fits"), "1": RhoSpelling(",", "2 fits"), "¯1": RhoSpelling(",", "123 fits")}

_SPREADS: Final = frozenset({"std", "var"})

_KNOWN: Final = frozenset({
    *WORDS, *JOINED, *ROWS, "stack", "column_stack", *(word for word, _ in CALLS), *(word for word, _ in BUILTINS),
})  # fmt: skip
