"""The bound syntax tree: the parser's output and the type checker's input.

The parser produces flat sequences of items; the binder, which knows the class of every name, turns each of them into the
applications below.  Every node has a span.  `Expression` nodes denote arrays or tuples; `Function` nodes denote functions, which
are second class; `Operator` nodes occur only as the operator of an `OperatorCall` or the value of a `BindOperator`.

Invariants: numbers are Python `int`, `float` or `complex` as written; glyphs are canonical (never their ASCII spelling or an
alias such as `⋆`); names are exactly as written.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, TypeAlias

from ..support.records import dataclass, field
from ..syntax.source import Span

# ---------------------------------------------------------------------------------------------------- definitions
#
# What a name stands for: a symbol, which is one binding, or an argument of the enclosing dfn.  `lang.bind.resolver` makes them,
# the tree refers to them, and the checker keeps its facts about a name under its definition.

class NameClass(Enum):
    ARRAY = "array"
    FUNCTION = "function"
    MONADIC_OPERATOR = "monadic operator"
    DYADIC_OPERATOR = "dyadic operator"
    MODULE = "module"


class SymbolKind(Enum):
    ARRAY = "array"
    FUNCTION = "function"
    OPERATOR = "operator"
    MODULE = "module"
    INPUT = "input"
    PARAM = "param"
    SIZE = "size"
    ELEMENT = "element type"


KINDS = {
    NameClass.ARRAY: SymbolKind.ARRAY, NameClass.FUNCTION: SymbolKind.FUNCTION, NameClass.MODULE: SymbolKind.MODULE,
    NameClass.MONADIC_OPERATOR: SymbolKind.OPERATOR, NameClass.DYADIC_OPERATOR: SymbolKind.OPERATOR,
}  # fmt: skip


class Argument(Enum):
    """An argument or operand of the innermost dfn; each call binds it."""

    RIGHT = "⍵"
    LEFT = "⍺"
    LEFT_OPERAND = "⍺⍺"
    RIGHT_OPERAND = "⍵⍵"


@dataclass(slots=True, eq=False)
class Symbol:
    """One binding of a name.

    `span` is the name where it is bound; `statement` is the top-level statement that binds it, after which it is in scope;
    `depth` counts the enclosing dfns.  `path` is the name or file in the `use` of a module; `declared` is the last signature or
    annotation; `given`: it was in scope before the text.  In the next version of a text a binding of the same name and kind is
    the same object."""

    name: str
    kind: SymbolKind
    name_class: NameClass
    span: Span
    statement: Span
    depth: int = 0
    path: str = ""
    declared: Span | None = None
    given: bool = False


Definition: TypeAlias = Symbol | Argument


# ---------------------------------------------------------------------------------------------------- types
#
# Shapes, sizes, quantities and facts as signatures and declarations state them.

ITEMS: Final = "×/"

@dataclass(frozen=True, slots=True)
class SizeName:
    """A size; the name `×/s` (`ITEMS` before that of a shape variable) is the number of items of a shape."""

    span: Span
    name: str
    definition: Symbol | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SizeNumber:
    span: Span
    value: int


@dataclass(frozen=True, slots=True)
class SizeCall:
    """`function` is one of `+ - × ÷ | ⌈ ⌊`; `-` and `⌊` may have one argument."""

    span: Span
    function: str
    args: tuple[SizeExpression, ...]


@dataclass(frozen=True, slots=True)
class ShapeVariable:
    """`..s`."""

    span: Span
    name: str


@dataclass(frozen=True, slots=True)
class BoundedSize:
    """`k≤d`: a size known only at run time, at most `bound`."""

    span: Span
    name: str
    bound: SizeExpression


SizeExpression: TypeAlias = SizeName | SizeNumber | SizeCall


ShapeItem: TypeAlias = SizeExpression | ShapeVariable | BoundedSize


GIVEN = "size"
"""The element of a parameter `(k)`: an integer, which is the size k."""


@dataclass(frozen=True, slots=True)
class ElementName:
    """`f64`, an element variable `T`, `idx<n>` or `perm<k≤n>` (one argument) or `int<a..b>` (two); `(k)` has the name `GIVEN`."""

    span: Span
    name: str
    args: tuple[SizeExpression | BoundedSize, ...] = ()


@dataclass(frozen=True, slots=True)
class ArrayTypeExpression:
    """`e[shape]`; `shape` empty for a scalar.  `perm<n>` is an element name with an empty shape."""

    span: Span
    element: ElementName
    shape: tuple[ShapeItem, ...]

    @property
    def given(self) -> SizeName | None:
        """The k of a parameter `(k)`."""
        name = self.element.args[0] if self.element.name == GIVEN else None
        return name if isinstance(name, SizeName) else None


@dataclass(frozen=True, slots=True)
class TupleTypeExpression:
    span: Span
    items: tuple[TypeExpression, ...]


TypeExpression: TypeAlias = ArrayTypeExpression | TupleTypeExpression


def arrays(node: TypeExpression) -> list[ArrayTypeExpression]:
    """The arrays of a type, tuples taken apart."""
    return [node] if isinstance(node, ArrayTypeExpression) else [array for item in node.items for array in arrays(item)]


@dataclass(frozen=True, slots=True)
class Quantity:
    """`0`, `1`, `d`, `d..d` (two bounds), `d..ω` (no upper bound) or `ω` (both bounds None)."""

    span: Span
    low: SizeExpression | None
    high: SizeExpression | None


@dataclass(frozen=True, slots=True)
class Fact:
    """`relation` is `= ≠ ≤ < ≥ > ∣` between sizes, or a class (`num real int ord`) of element variable `left`, with no
    `right`."""

    span: Span
    relation: str
    left: SizeExpression
    right: SizeExpression | None


@dataclass(frozen=True, slots=True)
class Parameter:
    span: Span
    quantity: Quantity | None
    type: TypeExpression


# ---------------------------------------------------------------- expressions (arrays, tuples)


@dataclass(frozen=True, slots=True)
class Number:
    """One number or a strand of number literals: `values` has at least one entry.

    A single literal is a scalar (`strand` false), two or more a vector.
    """

    span: Span
    values: tuple[int | float | complex, ...]
    strand: bool


@dataclass(frozen=True, slots=True)
class Text:
    """`'a'` is a scalar; `'ab'`, `''` and `"a"` are vectors (`vector` true)."""

    span: Span
    value: str
    vector: bool


@dataclass(frozen=True, slots=True)
class Zilde:
    """`⍬`, the empty `i64[0]`."""

    span: Span


@dataclass(frozen=True, slots=True)
class Slot:
    """`_`: the reshape slot, or a discarded target in a destructuring."""

    span: Span


@dataclass(frozen=True, slots=True)
class Strand:
    """Adjacent items that are not all number literals, two or more."""

    span: Span
    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Name:
    """A name of class array.  `⍵`, `⍺`, and `⍺⍺`/`⍵⍵` of array class are names too."""

    span: Span
    name: str
    definition: Definition = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Member:
    """`module.name` of class array."""

    span: Span
    module: str
    name: str
    definition: Symbol = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SystemName:
    """`⎕A`, `⎕D` or `⎕IO`: a constant array; `name` keeps the `⎕`."""

    span: Span
    name: str


@dataclass(frozen=True, slots=True)
class Monadic:
    """`f B`."""

    span: Span
    function: Function
    right: Expression


@dataclass(frozen=True, slots=True)
class Dyadic:
    """`A f B`; the right argument is evaluated first."""

    span: Span
    left: Expression
    function: Function
    right: Expression


@dataclass(frozen=True, slots=True)
class IndexExpression:
    """`x[i;;j]`: one entry an axis, None where the axis is taken whole."""

    span: Span
    array: Expression
    axes: tuple[Expression | None, ...]


@dataclass(frozen=True, slots=True)
class ArrayNotation:
    """`[a ⋄ b]` or `[]`: stacks cells into one more leading axis."""

    span: Span
    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Tuple:
    """`(a ⋄ b)`, two items or more."""

    span: Span
    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class InlineBind:
    """`(x←e)` or `x←e` in the middle of an expression: binds from there leftwards and yields the value."""

    span: Span
    target: Target
    value: Expression


@dataclass(frozen=True, slots=True)
class Replace:
    """`x[i;j]←v` (or `x[i;j] f← v` with `function`): `name` becomes itself with those items replaced."""

    span: Span
    name: Name
    axes: tuple[Expression | None, ...]
    function: Function | None
    value: Expression


@dataclass(frozen=True, slots=True)
class Modify:
    """`x f← v`: `x ← x f v`."""

    span: Span
    name: Name
    function: Function
    value: Expression


@dataclass(frozen=True, slots=True)
class PrintExpression:
    """`⎕←e`: prints and yields its value."""

    span: Span
    value: Expression


Expression: TypeAlias = (
    Number | Text | Zilde | Slot | Strand | Name | Member | SystemName | Monadic | Dyadic | IndexExpression | ArrayNotation
    | Tuple
    | InlineBind | Replace | Modify | PrintExpression
)  # fmt: skip


# ---------------------------------------------------------------------------------- functions


@dataclass(frozen=True, slots=True)
class GlyphFunction:
    """A primitive function, a conversion (`f64`) or a library function (`⎕fft`).

    `axis` is the bracket axis of `/ \\ ⌿ ⍀ ⌽ ⊖ , ⍪ ↑ ↓ ⌷`, an expression that must be static.
    """

    span: Span
    glyph: str
    axis: Expression | None = None


@dataclass(frozen=True, slots=True)
class FunctionName:
    """A name of class function; `⍺⍺` and `⍵⍵` of class function are names too."""

    span: Span
    name: str
    definition: Definition = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class FunctionMember:
    """`module.name` of class function."""

    span: Span
    module: str
    name: str
    definition: Symbol = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Dfn:
    """`{…}` that mentions neither `⍺⍺` nor `⍵⍵`.  `uses_alpha` says whether `⍺` occurs in it."""

    span: Span
    body: tuple[Statement, ...]
    uses_alpha: bool
    captures: tuple[Symbol, ...] = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Fork:
    """`(f g h)`; an array as the left tine is constant."""

    span: Span
    left: Function | Expression
    middle: Function
    right: Function


@dataclass(frozen=True, slots=True)
class Atop:
    """`(g h)` as a train."""

    span: Span
    outer: Function
    inner: Function


@dataclass(frozen=True, slots=True)
class Derived:
    """A primitive operator with its operands.

    `operator` is one of `/ ⌿ \\ ⍀ ¨ ˘ ⍨ ⍤ ⍥ ∘ ⍛ ∘. . ⍣ ⍣\\ @ ⌸ ⌺ ∂ ⍫`.  `operands` has one entry for
    monadic operators (`/ ⌿ \\ ⍀ ¨ ˘ ⍨ ∘. ⌸ ∂`) and two for the rest.  `axis` is the bracket axis.
    `f∘.g` written with the jot is `∘.` with the one operand g; `f.g` is `.` with two.
    In `f⍣(n ⋄ p)` the second operand is a `Tuple` of the expression n and the function p.
    """

    span: Span
    operator: str
    operands: tuple[Function | Expression, ...]
    axis: Expression | None = None


@dataclass(frozen=True, slots=True)
class OperatorCall:
    """A user operator with its operands; `operator` is looked up or written in place."""

    span: Span
    operator: OperatorName | OperatorMember | OperatorDfn
    operands: tuple[Function | Expression, ...]


@dataclass(frozen=True, slots=True)
class OperatorName:
    span: Span
    name: str
    definition: Definition = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class OperatorMember:
    span: Span
    module: str
    name: str
    definition: Symbol = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class OperatorDfn:
    """`{…}` that mentions `⍺⍺` (monadic) or `⍵⍵` (dyadic).

    How its body binds depends on whether each operand is an array or a function, so it is bound
    when applied: `lang.bind.functions.bind_operator(dfn, left_class, right_class)` gives a `Dfn`.
    `scope` is the `BindContext` of its definition, for the binder alone.
    """

    span: Span
    dyadic: bool
    parsed: object
    captures: tuple[Symbol, ...] = field(compare=False, repr=False)
    scope: object = field(compare=False, repr=False)


Function: TypeAlias = GlyphFunction | FunctionName | FunctionMember | Dfn | Fork | Atop | Derived | OperatorCall
Operator: TypeAlias = OperatorName | OperatorMember | OperatorDfn


# --------------------------------------------------------------------------------- statements


@dataclass(frozen=True, slots=True)
class NameTarget:
    span: Span
    name: str
    definition: Definition = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DiscardTarget:
    span: Span


@dataclass(frozen=True, slots=True)
class TupleTarget:
    """`(x y) ← …`, possibly nested."""

    span: Span
    items: tuple[Target, ...]


Target: TypeAlias = NameTarget | DiscardTarget | TupleTarget


@dataclass(frozen=True, slots=True)
class BindArray:
    """`target ← expression`, with the annotation of `name : type ← e` if there is one."""

    span: Span
    target: Target
    value: Expression
    annotation: TypeExpression | None = None


@dataclass(frozen=True, slots=True)
class BindFunction:
    span: Span
    target: NameTarget
    value: Function


@dataclass(frozen=True, slots=True)
class BindOperator:
    span: Span
    target: NameTarget
    value: Operator


@dataclass(frozen=True, slots=True)
class Evaluate:
    """A bare expression statement: printed at top level, the value when last in a dfn."""

    span: Span
    value: Expression


@dataclass(frozen=True, slots=True)
class Guard:
    """`cond : expr` in a dfn."""

    span: Span
    condition: Expression
    value: Expression


@dataclass(frozen=True, slots=True)
class BareFunction:
    """A statement whose value is a function (E134 in the checker)."""

    span: Span
    value: Function | Operator


Statement: TypeAlias = BindArray | BindFunction | BindOperator | Evaluate | Guard | BareFunction
