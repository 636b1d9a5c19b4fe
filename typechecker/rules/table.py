"""The table of typing rules: for every primitive function what it requires, the shape of its result, and the core ops it emits.

`apply` is the entry.  A rule gets operands that are not poisoned; it reports errors on the builder and then returns a poisoned
operand.  Each valence of a primitive is a row of `MONADIC` or `DYADIC`, except library functions: elementwise ones that give
floats (`⎕erf`) share a rule, and those on cells have the rule of their signature in the table of primitives (`rules.search`).
"""

from __future__ import annotations

from ...lang.diagnostics.model import Code
from ...lang.primitives.functions import LIBRARY
from ...lang.primitives.record import PrimitiveUse, Trait
from ...lang.syntax.source import Span
from ..core.builder import Builder
from ..elements import Kind
from ..values.facts import Operand, TupleOperand, Value, is_poisoned
from . import arithmetic, dates, index, logic, search, shape
from .argument_checks import DyadicRule, MonadicRule


def _gives_floats(use: PrimitiveUse | None) -> bool:
    return use is not None and {Trait.SCALAR, Trait.FLOAT_RESULT} <= use.traits


MONADIC: dict[str, MonadicRule] = {
    "+": arithmetic.conjugate,
    "-": arithmetic.negate,
    "×": arithmetic.sign,
    "÷": arithmetic.reciprocal,
    "*": arithmetic.float_monadic("exp"),
    "⍟": arithmetic.float_monadic("ln"),
    "√": arithmetic.float_monadic("sqrt"),
    "⌊": arithmetic.floor,
    "⌈": arithmetic.ceiling,
    "|": arithmetic.magnitude,
    "!": arithmetic.float_monadic("factorial"),
    "○": arithmetic.float_monadic("pi_times"),
    "~": logic.negation,
    "≠": logic.first_occurrence,
    "≡": shape.depth,
    "≢": shape.tally,
    "⍴": shape.shape_of,
    ",": shape.ravel,
    "⍪": shape.table,
    "∊": shape.enlist,
    "⌷": shape.identity,
    "⌽": shape.reverse,
    "⊖": shape.reverse,
    "⍉": shape.transpose,
    "↑": shape.identity,
    "↓": shape.identity,
    "⊃": index.first,
    "⍳": search.iota,
    "⍸": logic.where,
    "⍋": search.grade,
    "⍒": search.grade,
    "∪": search.unique,
    "⌹": arithmetic.inverse,
    "⊣": shape.identity,
    "⊢": shape.identity,
    "⍕": search.format_text,
    **{kind.value: arithmetic.conversion(kind) for kind in Kind},
    "⎕bnot": logic.complement,
    **{row.glyph: arithmetic.float_monadic(row.glyph[1:]) for row in LIBRARY if _gives_floats(row.monadic)},
    **{row.glyph: search.by_signature(row.monadic) for row in LIBRARY if row.monadic and search.has_signature(row)},
    "⎕regex": search.regular_expression,
}

DYADIC: dict[str, DyadicRule] = {
    **dict.fromkeys("+-×⌊⌈", arithmetic.dyadic),
    "|": arithmetic.residue,
    "÷": arithmetic.divide,
    "*": arithmetic.power,
    "⍟": arithmetic.logarithm,
    "√": arithmetic.float_dyadic("root"),
    "!": arithmetic.float_dyadic("binomial"),
    "○": arithmetic.circular,
    **dict.fromkeys("∧∨⍲⍱", logic.logical),
    **dict.fromkeys("<≤=≥>≠", logic.compare),
    **dict.fromkeys("≡≢", logic.match),
    "~": search.without,
    "⍴": shape.reshape,
    ",": shape.join,
    "⍪": shape.join,
    "⌽": shape.rotate,
    "⊖": shape.rotate,
    "⍉": shape.reorder,
    "↑": shape.take,
    "↓": shape.drop,
    "↕": shape.windows,
    "⊃": index.pick,
    "⌷": index.select_cells,
    "⍳": search.index_of,
    "⍸": search.interval_index,
    "∊": search.member,
    "⍷": search.find,
    "⍋": search.grade_by,
    "⍒": search.grade_by,
    "∪": search.union,
    "∩": search.intersection,
    "/": logic.compress,
    "⌿": logic.compress,
    "\\": logic.expand,
    "⍀": logic.expand,
    "⊥": arithmetic.decode,
    "⊤": arithmetic.encode,
    "⌹": arithmetic.solve,
    "?": arithmetic.random,
    "⎕text": search.fixed_text,
    **{row.glyph: arithmetic.float_dyadic(row.glyph[1:]) for row in LIBRARY if _gives_floats(row.dyadic)},
    **{f"⎕{name}": logic.both(name) for name in ("band", "bor", "bxor")},
    **{f"⎕{name}": logic.shift(name) for name in ("shl", "shr", "shru")},
    "⊣": shape.left_argument,
    "⊢": shape.right_argument,
}


def apply(b: Builder, glyph: str, left: Value | None, right: Value, axis: Operand | None, span: Span) -> Value:
    """Apply a primitive function, a conversion or a library function."""
    if is_poisoned(left) or is_poisoned(right) or (axis is not None and axis.poisoned):
        return b.poison(span)
    outer, b.glyph = b.glyph, glyph
    try:
        if glyph in ("⊣", "⊢") and axis is None:
            return left if glyph == "⊣" and left is not None else right
        if (left is None and glyph in dates.CONVERSIONS) or dates.has_unit(left) or dates.has_unit(right):
            return dates.apply(b, left, right, span, lambda x, y: _apply(b, glyph, x, y, axis, span))
        return _apply(b, glyph, left, right, axis, span)
    finally:
        b.glyph = outer


_HINTS = {
    "?": ("`key?shape` gives numbers from 0 to 1, the same for the same key: one of 0..n-1 is `⌊n×key?⍬`",),
    "⍕": ("`2⎕text x` writes rows of text with 2 digits after the point",),
    "⊂": ("arrays do not nest: cut with masks (`m⌿x`), or sum the items of each part with `k f⌸ (idx ⋄ values)`",),
}


def _apply(b: Builder, glyph: str, left: Value | None, right: Value, axis: Operand | None, span: Span) -> Value:
    if glyph == "¿" and isinstance(left, Operand):
        return logic.select(b, left, right, axis, span)
    if glyph == "?" and isinstance(left, TupleOperand) and isinstance(right, Operand):
        left = arithmetic.key_pair(b, left, span)
        if left.poisoned:
            return left
    if isinstance(left, TupleOperand) or isinstance(right, TupleOperand):
        return b.error(Code.E305, f"`{glyph}` takes arrays, but this argument is a tuple", span,
                       notes=("take a tuple apart with `(a b) ← t`",))  # fmt: skip
    if glyph not in MONADIC and glyph not in DYADIC and glyph != "¿":
        return b.error(Code.E620, f"`{glyph}` is not a function of this language", span, notes=_HINTS.get(glyph, ()))
    if left is None:
        monadic = MONADIC.get(glyph)
        if monadic is None:
            return b.error(Code.E133, f"`{glyph}` takes a left argument too", span, notes=_HINTS.get(glyph, ()))
        return monadic(b, right, axis, span)
    dyadic = DYADIC.get(glyph)
    if dyadic is None:
        return b.error(Code.E133, f"`{glyph}` takes no left argument", span, notes=_HINTS.get(glyph, ()))
    return dyadic(b, left, right, axis, span)
