"""A text of Python (or C, R) as Rho writes it: `x**2` is `x*2`, `2*a+1` is `(2×a)+1`, `np.sum(x)` is `+/,x`.

Whoever writes `y = 2*a+1` means `*` and its precedence as the other language has them, so a statement that is repaired is read
whole as that language: once a part of it is Rho, nobody can tell whose `*` and `/` the others are.

Neighbours: `foreign_expressions` (operators and indices), `habits_spelling` (who asks).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Final

from .foreign_domains import Known, Spelling, without_ranks
from .foreign_expressions import Expressions, NoSpelling, counted, is_package
from .habits_functions import BUILTINS, CALLS, FIRST, JOINED, KINDS_OF_WORDS, ROWS, WORDS

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
            case ast.Attribute(ast.Attribute(package, function), "outer" | "reduce" | "accumulate" as way) if is_package(package):
                return self.pervading(function, way, node)
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

    def pervading(self, function: str, way: str, node: ast.Call) -> str:
        """A function of two arguments between all items of two arrays, or folded along an axis, the first if none is said."""
        glyph = re.fullmatch(r"\{0\}([^\w\s⎕{}()])\{1\}", CALLS.get((function, 2), ""))
        if glyph is None:
            raise NoSpelling
        if way == "outer" and len(node.args) == 2 and not node.keywords:
            both = self.known.facts(list(map(self.operand, node.args)))
            text = without_ranks(CALLS[function, 2])
            self.require(text, both)
            return self.typed(text, f"{self.operand(node.args[0])}∘.{glyph[1]}{self.write(node.args[1])}", both, False)
        given = [*node.args, *(one.value for one in node.keywords if one.arg == "axis")]
        axis = self.write(given[1]) if len(given) == 2 else "0"
        if way == "outer" or glyph[1] not in "+×⌈⌊" or len(given) != len(node.args) + len(node.keywords) or len(node.args) == 0:
            raise NoSpelling  # other functions give another value folded from the right
        ways = {"0": "⌿⍀", "1": "/\\", "¯1": "/\\"}
        operand = self.operand(given[0])
        facts = self.known.facts([operand])
        self.require(_ALONG[axis == "1"], facts)
        kind = Spelling(function, "", "+" if glyph[1] in "+×" else "=")
        return self.typed(kind, f"{glyph[1]}{self.certain(ways.get(axis))['ra'.index(way[0])]}{operand}", facts, False)

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


_ALONG: Final = (Spelling("", "123"), Spelling("", "2", "", "axis 1 is not the last one of other ranks"))
_WHOLE: Final = Spelling(WORDS["int"], "", "i")
_JOINED_ALONG: Final = {"0": Spelling("⍪", "123 fits"), "1": Spelling(",", "2 fits"), "¯1": Spelling(",", "123 fits")}

_SPREADS: Final = frozenset({"std", "var"})

_KNOWN: Final = frozenset({
    *WORDS, *JOINED, *ROWS, "stack", "column_stack", *(word for word, _ in CALLS), *(word for word, _ in BUILTINS),
})  # fmt: skip
