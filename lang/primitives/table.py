r"""The table of primitives, with one row for every glyph, operator, system name and conversion, and its look-ups.

The lexer, the binder, the formatter, the help, editors and tests all use this table.  A glyph that is both a function and an
operator (`/ ⌿ \ ⍀`) has two rows: `rows` gives both, `by_glyph` the operator.
"""

from __future__ import annotations

from collections.abc import Iterable

from .functions import ARRAY_FUNCTIONS, CONVERSIONS, LIBRARY, SCALAR_FUNCTIONS
from .operators import ALIASES, OPERATORS, RESERVED_WORDS, SYNTAX, UNSUPPORTED_CHARACTERS
from .record import CellRank, Example, GlyphRole, Primitive, PrimitiveUse, Trait

__all__ = [
    "ALIASES",
    "ELEMENT_NAMES",
    "PRIMITIVES",
    "RESERVED_WORDS",
    "UNSUPPORTED_CHARACTERS",
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
    """The row of a backtick name, such as `iota`."""
    return _NAMES.get(name)


def by_key(key: str) -> Primitive | None:
    """The row of a backtick key, such as `i`."""
    return _KEYS.get(key)


def glyph_of(word: str) -> str | None:
    """The glyph of a backtick name or key; None for other words."""
    row = _NAMES.get(word) or _KEYS.get(word)
    return None if row is None else row.glyph


def find(word: str) -> tuple[Primitive, ...]:
    """The rows of what a user may type: a glyph, a name, a backtick spelling, or `erf` for `⎕erf`."""
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
    """The glyph, backtick name or system name nearest to a misspelt one; None if none is near."""
    bare = word.removeprefix("`").removeprefix("⎕")
    candidates = dict.fromkeys(_NAMES)
    candidates.update(dict.fromkeys(row.glyph.removeprefix("⎕") for row in PRIMITIVES if row.glyph[-1].isalnum()))
    name = nearest(bare, candidates)
    if name is None:
        return None
    if name in _NAMES:
        return _NAMES[name].glyph
    return name if name in _ROWS else "⎕" + name


def did_you_mean(guess: str | None) -> str:
    """The end of a message that suggests a guess; empty without one."""
    return f"; did you mean `{guess}`?" if guess else ""


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate that is one edit away (insert, delete, replace, swap) or differs in case only; None if there is none.

    Among equals, one with the word's first letter wins, then the first."""
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
    """The optimal string alignment distance (edit distance with swaps of neighbours)."""
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
