"""Function values: what a function expression denotes once its operands are evaluated.

Functions are second class, so these exist only while elaborating.  Array operands are evaluated
when the function is derived, once, outside any operator body.  Applying one is `applications`.
"""

from __future__ import annotations

from typing import TypeAlias

from ...lang import tree
from ...lang.records import dataclass
from ...lang.source import Span
from ..obligations import Proof
from ..operands import Operand, Value
from .scopes import Moment


@dataclass(frozen=True, slots=True, eq=False)
class PrimitiveFunction:
    """A primitive, a conversion or a library function; `axis` as written (index origin not yet removed).

    `origin` is the index origin of the file it is written in; None for one that the elaborator makes.
    """

    span: Span
    glyph: str
    axis: Operand | None = None
    origin: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class DfnFunction:
    """A dfn closed over the moment of its definition; `name` is the name it was bound to, if any."""

    span: Span
    node: tree.Dfn
    home: Moment
    name: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class SignedFunction:
    """An annotated function: matched against its signature at every call.

    `proof`: by what every fact its body needs follows from the signature, for all sizes, so that calls need not look again.
    """

    span: Span
    name: str
    signature: tree.Signature
    body: FunctionValue
    home: Moment
    proof: Proof = Proof.NONE


@dataclass(frozen=True, slots=True, eq=False)
class ForkFunction:
    """`(f g h)`; an array as the left tine is constant."""

    span: Span
    left: FunctionValue | Value
    middle: FunctionValue
    right: FunctionValue


@dataclass(frozen=True, slots=True, eq=False)
class AtopFunction:
    span: Span
    outer: FunctionValue
    inner: FunctionValue


@dataclass(frozen=True, slots=True, eq=False)
class DerivedFunction:
    """A primitive operator with its operands evaluated; `until` is the p of `f⍣(n ⋄ p)`."""

    span: Span
    operator: str
    operands: tuple[FunctionValue | Value, ...]
    axis: Operand | None = None
    until: FunctionValue | None = None
    origin: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class BoundFunction:
    """A dyadic function with its left argument given."""

    span: Span
    function: FunctionValue
    left: Value


@dataclass(frozen=True, slots=True, eq=False)
class BrokenFunction:
    """An error was reported while the function was made; applying it gives poison."""

    span: Span


FunctionValue: TypeAlias = (
    PrimitiveFunction
    | DfnFunction
    | SignedFunction
    | ForkFunction
    | AtopFunction
    | DerivedFunction
    | BoundFunction
    | BrokenFunction
)

FUNCTIONS = (
    PrimitiveFunction,
    DfnFunction,
    SignedFunction,
    ForkFunction,
    AtopFunction,
    DerivedFunction,
    BoundFunction,
    BrokenFunction,
)


@dataclass(frozen=True, slots=True, eq=False)
class OperatorValue:
    """A user operator closed over the moment of its definition."""

    span: Span
    node: tree.OperatorDfn
    home: Moment


def is_function(value: object) -> bool:
    """Is an operand a function rather than an array or a tuple?"""
    return isinstance(value, FUNCTIONS)
