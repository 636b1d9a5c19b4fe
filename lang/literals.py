"""Literals: the values of number strands and texts.

A strand may hold 100,000 numbers, so strands of small integers take a fast path.
"""

from __future__ import annotations

import re
from math import isinf

from . import tree
from .codes import Code
from .tokens import Token
from .units import Binding, replacing

_WORD = re.compile(r"\S+")
_SMALL_INTEGERS = re.compile(r"[¯0-9\s]+")
_SMALLEST, _LARGEST = -(2**63), 2**63 - 1
_LONGEST = 25
"""Digits after which an integer is too large without converting it (Python limits conversions)."""


def number(binding: Binding, token: Token) -> tree.Number:
    """The node of a number or a strand of numbers."""
    text = token.text
    values: tuple[int | float | complex, ...] | None = None
    if _SMALL_INTEGERS.fullmatch(text):
        words = text.replace("¯", "-").split()
        if max(map(len, words)) < 19:
            values = tuple(map(int, words))
    if values is None:
        values = tuple(_value(binding, found[0], token.start + found.start()) for found in _WORD.finditer(text))
    return tree.Number(binding.of(token), values, len(values) > 1)


def number_items(binding: Binding, token: Token, strand: tree.Number) -> list[tree.Number]:
    """Each number of a strand as a node of its own."""
    places = (token.start + found.start() for found in _WORD.finditer(token.text))
    ends = (token.start + found.end() for found in _WORD.finditer(token.text))
    return [
        tree.Number(binding.span(start, end), (value,), False)
        for start, end, value in zip(places, ends, strand.values, strict=True)
    ]


def text(binding: Binding, token: Token) -> tree.Text:
    quote = token.text[0]
    value = token.text[1:-1].replace(quote * 2, quote)
    return tree.Text(binding.of(token), value, quote == '"' or len(value) != 1)


def _value(binding: Binding, word: str, start: int) -> int | float | complex:
    plain = word.replace("_", "").replace("¯", "-").replace("J", "j").replace("∞", "inf")
    real, complex_mark, imaginary = plain.partition("j")
    if complex_mark:
        return complex(_float(binding, real, word, start), _float(binding, imaginary, word, start))
    if "." in real or "e" in real or "E" in real or "inf" in real:
        return _float(binding, real, word, start)
    value = int(real) if len(real) <= _LONGEST else _LARGEST + 1
    if not _SMALLEST <= value <= _LARGEST:
        span = binding.span(start, start + len(word))
        after = binding.span(start + len(word), start + len(word))
        message = f"{_short(word)} does not fit i64 (¯9223372036854775808 to 9223372036854775807)"
        raise binding.problem(Code.E302, message, span, fixes=replacing("make it an f64", after, "."))
    return value


def _float(binding: Binding, plain: str, word: str, start: int) -> float:
    value = float(plain)
    if isinf(value) and "inf" not in plain:
        message = f"{_short(word)} does not fit f64 (up to 1.797e308); write ∞ for infinity"
        raise binding.problem(Code.E302, message, binding.span(start, start + len(word)))
    return value


def _short(word: str) -> str:
    return word if len(word) <= 40 else f"{word[:20]}… ({len(word)} characters)"
