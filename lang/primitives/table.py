r"""The table of primitives: one row for every glyph, operator, system name and conversion of the language.

The lexer, binder, formatter, help, editor and tests all read this one table.  A glyph may have two
rows when it is both a function and an operator (`/ ⌿ \ ⍀`); `rows` gives both and `by_glyph` the
operator.  Importing this costs a few milliseconds and loads nothing outside the standard library.
"""

from __future__ import annotations

from collections.abc import Iterable

from .functions import ARRAY_FUNCTIONS, CONVERSIONS, LIBRARY, SCALAR_FUNCTIONS
from .operators import ALIASES, LEFT_OUT, OPERATORS, RESERVED_WORDS, SYNTAX
from .record import CellRank, Example, GlyphRole, Primitive, PrimitiveUse, Trait

__all__ = [
    "ALIASES",
    "ELEMENT_NAMES",
    "LEFT_OUT",
    "PRIMITIVES",
    "RESERVED_WORDS",
    "CellRank",
    "Example",
    "GlyphRole",
    "Primitive",
    "PrimitiveUse",
    "Trait",
    "by_glyph",
    "by_key",
    "by_name",
    "find",
    "identity_of",
    "nearest",
    "rows",
    "suggest",
]  # fmt: skip

PRIMITIVES: tuple[Primitive, ...] = OPERATORS + SCALAR_FUNCTIONS + ARRAY_FUNCTIONS + CONVERSIONS + LIBRARY + SYNTAX

ELEMENT_NAMES: frozenset[str] = frozenset(row.glyph for row in CONVERSIONS) | {"f16", "bf16"}
"""Reserved element type names; `f16` and `bf16` are reserved for storage and convert nothing yet."""

_ROWS: dict[str, tuple[Primitive, ...]] = {}
_NAMES: dict[str, Primitive] = {}
_KEYS: dict[str, Primitive] = {}
for _row in PRIMITIVES:
    _ROWS[_row.glyph] = (*_ROWS.get(_row.glyph, ()), _row)
    for _name in _row.names:
        _NAMES[_name] = _row
    if _row.key is not None:
        _KEYS[_row.key] = _row


def rows(glyph: str) -> tuple[Primitive, ...]:
    """Every row of a glyph: two for `/ ⌿ \\ ⍀`, none if it is not of the language."""
    return _ROWS.get(ALIASES.get(glyph, glyph), ())


def by_glyph(glyph: str, role: GlyphRole | None = None) -> Primitive | None:
    """The row of a glyph, aliases included; of the given role if one is given, else the operator before the function."""
    for row in rows(glyph):
        if role is None or row.role is role:
            return row
    return None


def by_name(name: str) -> Primitive | None:
    """The row a backtick and this name spell."""
    return _NAMES.get(name)


def by_key(key: str) -> Primitive | None:
    """The row a backtick and this one character spell."""
    return _KEYS.get(key)


def glyph_of(word: str) -> str | None:
    """The glyph that a backtick and a whole name or one key spell."""
    row = _NAMES.get(word) or _KEYS.get(word)
    return None if row is None else row.glyph


def find(word: str) -> tuple[Primitive, ...]:
    """Rows for whatever a user may type: a glyph, a name, a backtick spelling, or `erf` for `⎕erf`."""
    bare = word.removeprefix("`")
    named = _NAMES.get(bare) or _NAMES.get(bare.lower())
    candidates = rows(word) + ((named,) if named is not None else ())
    if candidates:
        return tuple(dict.fromkeys(candidates))
    keyed = _KEYS.get(bare) if word != bare else None
    if keyed is not None:
        return (keyed,)
    return rows("⎕" + word) if word else ()


def identity_of(glyph: str) -> int | None:
    """The identity element of a scalar function, or None if an empty reduction with it is E204."""
    row = by_glyph(glyph, GlyphRole.FUNCTION)
    return row.dyadic.identity if row is not None and row.dyadic is not None else None


def suggest(word: str) -> str | None:
    """The glyph, backtick name or system name nearest to a misspelt one, as it should be written; None if none is near."""
    bare = word.removeprefix("`").removeprefix("⎕")
    candidates = dict.fromkeys(_NAMES)
    candidates.update(dict.fromkeys(row.glyph.removeprefix("⎕") for row in PRIMITIVES if row.glyph[-1].isalnum()))
    name = nearest(bare, candidates)
    if name is None:
        return None
    if name in _NAMES:
        return _NAMES[name].glyph
    return name if name in _ROWS else "⎕" + name


def meant(guess: str | None) -> str:
    """What a message goes on with, if there is a guess."""
    return f"; did you mean `{guess}`?" if guess else ""


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate one edit away (insert, delete, replace, swap), or that differs in case only; None if none.

    Of several as near, the one that begins as the word does, then the first."""
    best: str | None = None
    best_score = (1, True)
    for candidate in candidates:
        if abs(len(candidate) - len(word)) > best_score[0] or not candidate:
            continue
        distance = edits(word.lower(), candidate.lower())
        score = (distance, candidate[:1].lower() != word[:1].lower())
        if distance < max(len(word), len(candidate)) and (score < best_score or (best is None and score <= best_score)):
            best, best_score = candidate, score
    return best


def edits(left: str, right: str) -> int:
    """Optimal string alignment distance."""
    before: list[int] = []
    previous = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        current = [i]
        for j, b in enumerate(right, 1):
            cost = min(previous[j] + 1, current[-1] + 1, previous[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            current.append(cost)
        before, previous = previous, current
    return previous[-1]
