"""Explains why a statement cannot be read where the grammar stops: an unknown character, a malformed number."""

from __future__ import annotations

import re

from ..bind.scopes import BindContext, BindError, replacement
from ..diagnostics.model import Code
from ..primitives.operators import UNSUPPORTED_CHARACTERS
from .source import Token, read

_NUMBERLIKE = re.compile(r"¯?[.0-9¯∞][\w.∆¯∞]*")
LOOKALIKES = {
    "^": "∧", "&": "∧", "%": "|", "•": "⎕", "□": "⎕", "▯": "⎕", "∈": "∊", "ε": "∊", "ρ": "⍴", "ι": "⍳", "α": "⍺", "ω": "⍵",
    "–": "-", "—": "-", "∗": "*", "·": "×", "∥": "|", "¦": "|", "“": '"', "”": '"', "‘": "'", "’": "'", "⟨": "(", "⟩": ")",
    "𝕩": "⍵", "𝕨": "⍺", "≔": "←", "⇐": "←", "↩": "←", "′": "'", "≤": "≤", "∕": "/", "∖": "\\", "∙": ".",
    "NaN": "⎕nan", "nan": "⎕nan",
}  # fmt: skip
"""Characters often typed or pasted for the glyph on the right; Greek letters and `NaN` are valid names, suggested on if
unbound."""


def read_statement(context: BindContext, text: str) -> tuple[Token, ...]:
    """The tokens of a statement; `BindError` (E005, E006, E600) at the first character that starts no token."""
    tokens, unreadable = read(text)
    if unreadable is not None:
        raise _lex_error(context, text, unreadable.start)
    return tokens


def _lex_error(context: BindContext, text: str, start: int) -> BindError:
    """The error for offset `start` of a statement, where no token starts."""
    character = text[start : start + 1]
    number = _NUMBERLIKE.match(text, start)
    if number is not None:
        word = number.group()
        span = context.span(start, number.end())
        if word == "¯":
            return context.error(Code.E005, "`¯` is the sign of a number and must touch its digits; to negate write `-`", span,
                                 fixes=replacement("write `-`", span, "-"))  # fmt: skip
        return context.error(Code.E005, f"`{word}` is not a number", span, notes=_number_notes(word))
    span = context.span(start, start + len(character))
    if character in UNSUPPORTED_CHARACTERS:
        code = Code.E600 if character == "∇" else Code.E006
        reason = UNSUPPORTED_CHARACTERS[character]
        message = reason if reason.startswith(f"`{character}`") else f"`{character}` is not in the language: {reason}"
        return context.error(code, message, span)
    intended = LOOKALIKES.get(character, "")
    if intended:
        return context.error(Code.E006, f"`{character}` is not a character of the language; did you mean `{intended}`?", span,
                             fixes=replacement(f"write `{intended}`", span, intended))  # fmt: skip
    shown = f"`{character}`" if character.isprintable() else f"U+{ord(character):04X}" if character else "the end of the text"
    return context.error(Code.E006, f"{shown} is not a character of the language", span)


def _number_notes(word: str) -> tuple[str, ...]:
    if re.match(r"[0-9]+[A-Za-z_∆]", word):
        return ("a name cannot start with a digit; write a blank between a number and a name",)
    if word.count(".") > 1:
        return ("a number has one decimal point",)
    return ("numbers look like `3`, `¯3`, `2.5`, `1e¯3`, `3J4`",)
