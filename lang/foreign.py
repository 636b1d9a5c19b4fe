"""An expression of Python (or C, R) as Rho writes it: `x**2` is `x*2`, `2*a+1` is `(2×a)+1`.

Whoever writes `y = 2*a+1` means `*` and its precedence as the other language has them, so a statement that is repaired is read
whole as that language: once a part of it is Rho, nobody can tell whose `*` and `/` the others are.  Functions with names of
their own and slices are written by `habits_spelling`, of calls that it does not know only the arguments.

Neighbours: `habits_spelling` (who asks).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Final, Protocol

_FUNCTIONS: Mapping[type[ast.operator | ast.cmpop | ast.boolop], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "×", ast.Div: "÷", ast.Pow: "*", ast.MatMult: "+.×", ast.Eq: "=", ast.NotEq: "≠",
    ast.Lt: "<", ast.LtE: "≤", ast.Gt: ">", ast.GtE: "≥", ast.And: "∧", ast.Or: "∨", ast.BitAnd: "∧", ast.BitOr: "∨",
}  # fmt: skip


class Spelling(Protocol):
    """What is written of names and brackets; None: nothing that is sure to mean the same."""

    def array(self, text: str) -> str | None: ...
    def call(self, word: str, arguments: list[str]) -> str | None: ...
    def slice(self, name: str, first: str, last: str) -> str | None: ...
    def constant(self, name: str) -> str | None: ...
    def knows(self, word: str) -> bool: ...


PACKAGES: Final = frozenset({"np", "numpy", "math", "jnp", "torch"})


def is_computed(text: str) -> bool:
    """Is it an expression of Python with an operator?"""
    try:
        node = ast.parse(_as_python(text), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(isinstance(one, ast.BinOp | ast.Compare | ast.BoolOp) for one in ast.walk(node))


def _as_python(text: str) -> str:
    """With C's words for and, or and not in Python's."""
    return re.sub(r"!(?!=)", " not ", text.replace("&&", " and ").replace("||", " or ")).strip()


def rho_of(text: str, spelling: Spelling) -> str | None:
    """The expression in Rho; the text itself if it is none of Python, None if Rho has no spelling of its meaning."""
    if not text.isascii():
        return text  # whoever writes the glyphs knows them
    try:
        node = ast.parse(_as_python(text), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    try:
        written = _Writer(_as_python(text), spelling).write(node)
    except (_NoSpelling, RecursionError):
        return None
    return text.strip() if written == text.replace(" ", "") else written


def arguments_of(text: str) -> list[str]:
    """The arguments between the parentheses of a call; the text alone if it is none of Python."""
    try:
        call = ast.parse(f"_({text.strip()})", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return [text]
    given = [*call.args, *(keyword.value for keyword in call.keywords)] if isinstance(call, ast.Call) else []
    return [ast.get_source_segment(f"_({text.strip()})", one) or "" for one in given]


class _NoSpelling(Exception):
    """Rho has no spelling of this that is sure to mean the same."""


class _Writer:
    def __init__(self, text: str, spelling: Spelling) -> None:
        self.text, self.spelling = text, spelling

    def write(self, node: ast.expr) -> str:
        match node:
            case ast.BinOp(left, ast.Mod(), right):
                return f"{self.left(right)}|{self.write(left)}"
            case ast.BinOp(left, ast.FloorDiv(), right):
                return f"⌊{self.left(left)}÷{self.write(right)}"
            case ast.BinOp(left, operator, right):
                return self.joined(left, operator, right)
            case ast.Compare(left, [operator], [right]):
                return self.joined(left, operator, right)
            case ast.BoolOp(operator, values):
                *before, last = values
                return "".join(f"{self.left(value)}{_FUNCTIONS[type(operator)]}" for value in before) + self.write(last)
            case ast.UnaryOp(ast.USub(), ast.Constant() as number):
                return f"¯{self.segment(number)}"
            case ast.UnaryOp(ast.USub(), value):
                return f"-{self.write(value)}"
            case ast.UnaryOp(ast.Not(), value):
                return f"~{self.write(value)}"
            case ast.UnaryOp() | ast.Compare():
                raise _NoSpelling
            case ast.List():
                return self.sure(self.spelling.array(self.segment(node)))
            case ast.Call(ast.Name(word) | ast.Attribute(ast.Name(), word), [_, *_] as arguments, []) if self.is_known(node):
                return self.sure(self.spelling.call(word, [self.operand(argument) for argument in arguments]))
            case ast.Call(ast.Attribute(value, word), [], []) if self.spelling.knows(word):
                return self.sure(self.spelling.call(word, [self.operand(value)]))
            case ast.Call(ast.Name(word) | ast.Attribute(_, word)) if self.spelling.knows(word):
                raise _NoSpelling  # with arguments that have names, or of a method
            case ast.Attribute(ast.Name(package), word) if package in PACKAGES:
                return self.sure(self.spelling.constant(word))
            case ast.Attribute(value, ("T" | "shape") as word):
                return self.sure(self.spelling.call(word, [self.operand(value)]))
            case ast.Subscript(ast.Name(name), ast.Slice(first, last, None)):
                bounds = ("" if bound is None else self.segment(bound) for bound in (first, last))
                return self.sure(self.spelling.slice(name, *bounds))
            case ast.Subscript(_, ast.Slice() | ast.Tuple() | ast.UnaryOp()):
                raise _NoSpelling
            case ast.Call(function, arguments, []):
                return f"{self.segment(function)}({', '.join(map(self.write, arguments))})"
            case _:
                return self.segment(node)

    def joined(self, left: ast.expr, operator: ast.operator | ast.cmpop, right: ast.expr) -> str:
        if type(operator) not in _FUNCTIONS:
            raise _NoSpelling
        return f"{self.left(left)}{_FUNCTIONS[type(operator)]}{self.write(right)}"

    def left(self, node: ast.expr) -> str:
        """A left argument: what is no item stands in parentheses."""
        written = self.write(node)
        items = ast.Name | ast.Constant | ast.Subscript | ast.Attribute | ast.Call
        is_item = isinstance(node, items) and written == self.segment(node)
        return written if is_item or written.startswith("¯") else f"({written})"

    def operand(self, node: ast.expr) -> str:
        """What stands right of a glyph."""
        written = self.write(node)
        return written if isinstance(node, ast.Name | ast.Constant) else f"({written})"

    def is_known(self, call: ast.Call) -> bool:
        """Is it a function by its name, or one of a package?"""
        match call.func:
            case ast.Name(word):
                return self.spelling.knows(word)
            case ast.Attribute(ast.Name(package), word):
                return package in PACKAGES and self.spelling.knows(word)
        return False

    def sure(self, written: str | None) -> str:
        if written is None or "…" in written:
            raise _NoSpelling
        return written

    def segment(self, node: ast.expr) -> str:
        segment = ast.get_source_segment(self.text, node)
        if segment is None:
            raise _NoSpelling
        return segment
