"""An expression of Python (or C, R) as Rho writes it: `x**2` is `x*2`, `2*a+1` is `(2×a)+1`.

Whoever writes `y = 2*a+1` means `*` and its precedence as the other language has them, so the value of a statement that is
repaired is read as that language.  Calls, indices and what else `habits` has a row for keep their text: a later fix is theirs.

Neighbours: `habits` (who asks).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

_FUNCTIONS: Mapping[type[ast.operator | ast.cmpop | ast.boolop], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "×", ast.Div: "÷", ast.Pow: "*", ast.MatMult: "+.×", ast.Eq: "=", ast.NotEq: "≠",
    ast.Lt: "<", ast.LtE: "≤", ast.Gt: ">", ast.GtE: "≥", ast.And: "∧", ast.Or: "∨", ast.BitAnd: "∧", ast.BitOr: "∨",
}  # fmt: skip


def rho_of(text: str, array_of: Callable[[str], str | None]) -> str | None:
    """The expression in Rho; the text itself if it is none of Python, None if Rho has no spelling of its meaning.
    `array_of` writes a list, or is None of one that is no array."""
    if not text.isascii():
        return text  # whoever writes the glyphs knows them
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    try:
        written = _Writer(text.strip(), array_of).write(node)
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
    def __init__(self, text: str, array_of: Callable[[str], str | None]) -> None:
        self.text, self.array_of = text, array_of

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
                array = self.array_of(self.segment(node))
                if array is None:
                    raise _NoSpelling
                return array
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
        return written if isinstance(node, items) or written.startswith("¯") else f"({written})"

    def segment(self, node: ast.expr) -> str:
        segment = ast.get_source_segment(self.text, node)
        if segment is None:
            raise _NoSpelling
        return segment
