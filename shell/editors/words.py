"""The words of the language by class, and what numbers, texts and names look like, in the dialects of regular expressions.

Neighbours: `lang.primitives` (the table), `lang.lexer` (what the reader takes).
"""

from __future__ import annotations

from ...lang import lexer
from ...lang.primitives import ELEMENT_NAMES, PRIMITIVES, RESERVED_WORDS, Primitive, Role
from ...lang.vocabulary import DYADIC_OPERATORS, FUNCTIONS, MONADIC_OPERATORS, SYSTEM_CONSTANTS

KEYWORDS = tuple(sorted(RESERVED_WORDS))
TYPES = (*sorted(ELEMENT_NAMES), "idx", "int", "perm")
OPERATORS = tuple(sorted(MONADIC_OPERATORS | DYADIC_OPERATORS, key=lambda glyph: (-len(glyph), glyph)))
GLYPH_FUNCTIONS = tuple(
    sorted(glyph for glyph in FUNCTIONS - set(OPERATORS) if len(glyph) == 1 and not glyph.isalnum())
)  # fmt: skip
LIBRARY = tuple(sorted(glyph for glyph in FUNCTIONS | SYSTEM_CONSTANTS if glyph.startswith("⎕")))
PUNCTUATION = ("←", "→", "⋄", ":", ";")

REAL = lexer.REAL.replace("*+", "*").replace("++", "+")
"""Without possessive repetition, which editors lack."""
NUMBER = rf"{REAL}(?:[jJ]{REAL})?"


def spelt(roles: frozenset[Role]) -> tuple[str, ...]:
    """The names after a backtick of rows of these roles, longest first."""
    names = {name for row in PRIMITIVES if row.role in roles for name in row.names}
    return tuple(sorted(names, key=lambda name: (-len(name), name)))


OPERATOR_ROLES = frozenset({Role.MONADIC_OPERATOR, Role.DYADIC_OPERATOR})
FUNCTION_ROLES = frozenset({Role.FUNCTION})


def typed() -> tuple[tuple[str, Primitive], ...]:
    """Everything that can be typed after a backtick and the row it means, longest first."""
    found: dict[str, Primitive] = {}
    for row in PRIMITIVES:
        for name in row.names:
            found.setdefault(name, row)
        if row.key is not None:
            found.setdefault(row.key, row)
    return tuple(sorted(found.items(), key=lambda entry: (-len(entry[0]), entry[0])))


def escaped(text: str) -> str:
    """A text as a regular expression of any dialect used here."""
    return "".join("\\" + character if character in r"\.^$*+?{}[]|()-/~&!" else character for character in text)


def alternatives(words: tuple[str, ...]) -> str:
    """Longer ones first, single characters as a class."""
    long = [escaped(word) for word in sorted(words, key=lambda word: (-len(word), word)) if len(word) > 1]
    single = "".join(escaped(word) for word in words if len(word) == 1)
    return "|".join([*long, *([f"[{single}]"] if single else [])])
