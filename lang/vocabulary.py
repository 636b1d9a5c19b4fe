"""What the parser needs from the table of primitives: which characters are glyphs and what class each has.

Everything here is derived from `lang.primitives`; nothing is spelt twice.
"""

from __future__ import annotations

from .primitives import ELEMENT_NAMES, PRIMITIVES, RESERVED_WORDS, Role

FUNCTIONS: frozenset[str] = frozenset(row.glyph for row in PRIMITIVES if row.role is Role.FUNCTION)
"""Glyphs, conversions (`f64`) and library functions (`⎕fft`)."""

MONADIC_OPERATORS: frozenset[str] = frozenset(row.glyph for row in PRIMITIVES if row.role is Role.MONADIC_OPERATOR)
DYADIC_OPERATORS: frozenset[str] = frozenset(row.glyph for row in PRIMITIVES if row.role is Role.DYADIC_OPERATOR)

SLASHES: frozenset[str] = FUNCTIONS & MONADIC_OPERATORS
"""`/ ⌿ \\ ⍀`: operators right of a function, else functions."""

OUTER = "∘."
STATES = "⍣\\"

SYSTEM_CONSTANTS: frozenset[str] = frozenset(
    row.glyph for row in PRIMITIVES if row.role is Role.CONSTANT and row.glyph.startswith("⎕")
)
CONVERSIONS: frozenset[str] = FUNCTIONS & ELEMENT_NAMES
RESERVED: frozenset[str] = RESERVED_WORDS | ELEMENT_NAMES

GLYPHS: frozenset[str] = frozenset(
    glyph for glyph in FUNCTIONS | MONADIC_OPERATORS | DYADIC_OPERATORS if not glyph.startswith("⎕") and not glyph.isalnum()
)
"""Glyphs of functions and operators as the grammar reads them; some have two characters."""

AXIS_FUNCTIONS: frozenset[str] = frozenset("/\\⌿⍀⌽⊖,⍪↑↓⌷")
"""Primitive functions that take a bracket axis; as operators `/ \\ ⌿ ⍀` take one too."""

ARRAY_LEFT_OPERANDS: frozenset[str] = frozenset("∘⍛@⍨")
"""Primitive operators whose left operand may be an array (a bound argument, a replacement, a constant)."""

ARRAY_RIGHT_OPERANDS: frozenset[str] = frozenset({"∘", "⍤", "⍣", STATES, "@", "⌺"})
"""Primitive operators whose right operand may be an array."""

LITERAL_OPERAND_OPERATORS: frozenset[str] = frozenset({"⍤", "⍣", STATES, "@", "⌺"})
"""Operators after which a literal strand is the whole operand (E013 if an array touches it)."""
