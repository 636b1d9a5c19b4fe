"""Words of directives: from a text to the same groups of words that the parser makes of a `schedule` block, and units.

Neighbour: `directives`, which gives them meaning.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

from ....lang.diagnostics import Diagnostic
from ....lang.source import Source, Span
from ....lang.tree import Directive, DirectiveGroup, DirectiveWord

_WORD: Final = re.compile(r"⍝[^\n]*|[{}⋄\n]|[^\s{}⋄⍝]+")
_QUANTITY: Final = re.compile(r"([0-9][0-9_]*)(?:\.([0-9]{1,18}))?([A-Za-zµμ]*)")
_BYTES: Final = {
    "": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40,
    "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12,
}  # fmt: skip
_NANOSECONDS: Final = {"ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9}
MOST_DEPTH: Final = 50


def words_of(source: Source) -> tuple[tuple[Directive, ...], tuple[Diagnostic, ...]]:
    """The directives of a text; braces group, `⋄` and new lines separate."""
    stack: list[tuple[int, list[Directive], list[DirectiveWord | DirectiveGroup]]] = [(0, [], [])]

    def finish() -> None:
        _, directives, words = stack[-1]
        if words:
            directives.append(Directive(words[0].span.to(words[-1].span), tuple(words)))
            words.clear()

    for found in _WORD.finditer(source.text):
        word, span = found.group(), Span(source.name, *found.span())
        if word[0] == "⍝":
            continue
        if word in ("⋄", "\n"):
            finish()
        elif word == "{":
            if len(stack) > MOST_DEPTH:
                return (), (Diagnostic("E016", "groups are nested too deeply", span),)
            stack.append((found.start(), [], []))
        elif word == "}":
            finish()
            if len(stack) == 1:
                return (), (Diagnostic("E003", "this brace closes nothing", span),)
            start, directives, _ = stack.pop()
            stack[-1][2].append(DirectiveGroup(Span(source.name, start, span.end), tuple(directives)))
        else:
            stack[-1][2].append(DirectiveWord(span, word))
    if len(stack) > 1:
        start = stack[-1][0]
        return (), (Diagnostic("E003", "this brace is not closed", Span(source.name, start, start + 1)),)
    finish()
    return tuple(stack[0][1]), ()


def bytes_of(text: str) -> int | None:
    """`200MB`, `1.5GiB`, `4096`; a part of a byte is dropped."""
    quantity = _quantity(text)
    if quantity is None or quantity[1].upper() not in _BYTES:
        return None
    return int(quantity[0] * _BYTES[quantity[1].upper()])


def ticks_of(text: str, tick_ns: int) -> int | None:
    """`5ms`, `10us`, or plain ticks; a part of a tick is dropped."""
    quantity = _quantity(text)
    if quantity is None:
        return None
    number, unit = quantity
    if unit == "":
        return int(number) if number.denominator == 1 else None
    if unit not in _NANOSECONDS:
        return None
    return int(number * _NANOSECONDS[unit] / tick_ns)


def _quantity(text: str) -> tuple[Fraction, str] | None:
    found = _QUANTITY.fullmatch(text)
    if found is None or len(found[1]) > 18:
        return None
    decimals = found[2] or ""
    number = Fraction(int(found[1].replace("_", "") + decimals), 10 ** len(decimals))
    return number, found[3]
