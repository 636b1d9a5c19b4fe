"""The types of the rows of the table of primitives, which `functions` and `operators` hold and `table` looks up."""

from __future__ import annotations

from enum import Enum
from typing import TypeAlias

from ..support.records import dataclass


class GlyphRole(Enum):
    FUNCTION = "function"
    MONADIC_OPERATOR = "monadic operator"
    DYADIC_OPERATOR = "dyadic operator"
    CONSTANT = "constant"
    SYNTAX = "syntax"


class Trait(Enum):
    """A property of one valence that a later stage uses or its page states.  The laws of scalar functions are in
    `typechecker.elements`."""

    SCALAR = "pervades: works element by element, by agreement"
    COMPARISON = "gives bool"
    FLOAT_RESULT = "gives floats from integers"
    STATIC_LEFT = "the left argument must be static (known before the program runs)"
    STATIC_RIGHT = "the right argument must be static"
    RUN_TIME_SIZE = "the result has a size known only when it runs, bounded"


Example: TypeAlias = tuple[str, str]
"""An expression and the text `rho eval` prints for it (index origin 0)."""

CellRank: TypeAlias = int | None
"""Rank of the cells an argument is cut into; None takes the whole argument."""


@dataclass(frozen=True, slots=True)
class PrimitiveUse:
    """One valence of a function, or of what an operator derives.

    `ranks` has one cell rank an argument, left first.  `identity` is the value of a reduction over an empty
    axis.  Each law is an expression over the integer vectors x y z (one length, at least 1), the bool vectors
    b c of that length and the integer matrix m; it gives 1.
    """

    name: str
    doc: str
    ranks: tuple[CellRank, ...]
    examples: tuple[Example, ...] = ()
    type: str = ""
    identity: int | None = None
    laws: tuple[str, ...] = ()
    traits: frozenset[Trait] = frozenset()


@dataclass(frozen=True, slots=True)
class Primitive:
    """One row.

    `glyph` is what the formatter writes (several characters for `∘.`, `⍣\\`, `⎕erf`, `f64`); `names` are what may
    follow a backtick, canonical first; `key` is the one character that may follow it instead.  `monadic` and
    `dyadic` are the valences of a function, or of the function an operator derives.  `doc` and `examples` are
    for constants and syntax.  `later`: named by the language, not runnable in this version.
    """

    glyph: str
    names: tuple[str, ...]
    key: str | None
    role: GlyphRole
    monadic: PrimitiveUse | None = None
    dyadic: PrimitiveUse | None = None
    doc: str = ""
    examples: tuple[Example, ...] = ()
    later: bool = False

    @property
    def title(self) -> str:
        """Name or names for a heading: `floor / minimum`."""
        used = [use.name for use in (self.monadic, self.dyadic) if use]
        if used:
            return " / ".join(dict.fromkeys(used))
        return self.names[0] if self.names else self.glyph

    @property
    def ascii(self) -> str:
        """The spelling `rho fmt --ascii` writes: the glyph when it is ASCII, else a backtick and the canonical name."""
        return self.glyph if self.glyph.isascii() or not self.names else "`" + self.names[0]


def traits(*members: Trait) -> frozenset[Trait]:
    return frozenset(members)
