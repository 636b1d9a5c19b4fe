"""Explains why a statement cannot be read where the grammar stops: an unknown character, a malformed number."""

from __future__ import annotations

import re

from ..bind.scopes import BindContext, BindError, replacing
from ..diagnostics.model import Code
from ..primitives.operators import LEFT_OUT
from .source import Token, read

_NUMBERLIKE = re.compile(r"¯?[.0-9¯∞][\w.∆¯∞]*")
LOOKALIKES = {
    "^": "∧", "&": "∧", "%": "|", "•": "⎕", "□": "⎕", "▯": "⎕", "∈": "∊", "ε": "∊", "ρ": "⍴", "ι": "⍳", "α": "⍺", "ω": "⍵",
    "–": "-", "—": "-", "∗": "*", "·": "×", "∥": "|", "¦": "|", "“": '"', "”": '"', "‘": "'", "’": "'", "⟨": "(", "⟩": ")",
    "𝕩": "⍵", "𝕨": "⍺", "≔": "←", "⇐": "←", "↩": "←", "′": "'", "≤": "≤", "∕": "/", "∖": "\\", "∙": ".",
    "NaN": "⎕nan", "nan": "⎕nan",
}  # fmt: skip
"""Characters often typed or pasted for the glyph on the right; the Greek letters and `NaN` are names unless nothing has them."""


def read_statement(binding: BindContext, text: str) -> tuple[Token, ...]:
    """The tokens of a statement, or the `Problem` that says why it has none."""
    tokens, unreadable = read(text)
    if unreadable is not None:
        raise _problem(binding, text, unreadable.start)
    return tokens


def _problem(binding: BindContext, text: str, start: int) -> BindError:
    """`start` is where no token starts in the statement `text`."""
    character = text[start : start + 1]
    number = _NUMBERLIKE.match(text, start)
    if number is not None:
        word = number.group()
        span = binding.span(start, number.end())
        if word == "¯":
            return binding.problem(Code.E005, "`¯` is the sign of a number and must touch its digits; to negate write `-`", span,
                                   fixes=replacing("write `-`", span, "-"))  # fmt: skip
        return binding.problem(Code.E005, f"`{word}` is not a number", span, notes=_number_notes(word))
    span = binding.span(start, start + len(character))
    if character in LEFT_OUT:
        code = Code.E600 if character == "∇" else Code.E006
        reason = LEFT_OUT[character]
        message = reason if reason.startswith(f"`{character}`") else f"`{character}` is not in the language: {reason}"
        return binding.problem(code, message, span)
    meant = LOOKALIKES.get(character, "")
    if meant:
        return binding.problem(Code.E006, f"`{character}` is not a character of the language; did you mean `{meant}`?", span,
                               fixes=replacing(f"write `{meant}`", span, meant))  # fmt: skip
    shown = f"`{character}`" if character.isprintable() else f"U+{ord(character):04X}" if character else "the end of the text"
    return binding.problem(Code.E006, f"{shown} is not a character of the language", span)


def _number_notes(word: str) -> tuple[str, ...]:
    if re.match(r"[0-9]+[A-Za-z_∆]", word):
        return ("a name cannot start with a digit; write a blank between a number and a name",)
    if word.count(".") > 1:
        return ("a number has one decimal point",)
    return ("numbers look like `3`, `¯3`, `2.5`, `1e¯3`, `3J4`",)
