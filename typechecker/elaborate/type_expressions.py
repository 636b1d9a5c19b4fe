"""Elaborates type expressions to types, sizes and facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from ...lang.diagnostics.model import Code, Edit, Fix
from ...lang.primitives.table import nearest
from ...lang.support.records import dataclass
from ...lang.syntax.source import Span
from ...lang.tree.expressions import (
    GIVEN,
    ArrayTypeExpression,
    BoundedSize,
    ElementName,
    Fact,
    ShapeVariable,
    SizeCall,
    SizeExpression,
    TupleTypeExpression,
    TypeExpression,
)
from ..elements import ArrayType, Element, Kind, Unit, ranged
from ..proof.obligations import Relation, SizeFact
from ..rules.argument_checks import Names, size_expression
from ..sizes.polynomials import Size
from .context import Context

KINDS: Mapping[str, Kind] = {kind.value: kind for kind in Kind}
UNITS: Mapping[str, Unit] = {unit.value: unit for unit in Unit if unit is not Unit.ANY}

@dataclass(frozen=True, slots=True)
class TupleType:
    items: tuple[DeclaredType, ...]


DeclaredType: TypeAlias = ArrayType | TupleType


def array_types(type_: DeclaredType) -> list[ArrayType]:
    """The types of the arrays of a value, tuples flattened in order."""
    return [type_] if isinstance(type_, ArrayType) else [array for item in type_.items for array in array_types(item)]


def element_of(ctx: Context, node: ElementName, names: Names, variables: Mapping[str, Element]) -> Element | None:
    """The element of an element type, `idx<n>`, `int<a..b>`, or an element variable."""
    if node.name in KINDS and not node.args:
        return Element(KINDS[node.name])
    if node.name in UNITS and not node.args:
        return Element(Kind.I64, unit=UNITS[node.name])
    if node.name in variables:
        return variables[node.name]
    if node.name == GIVEN:
        message = "an integer that gives a size is a parameter of a signature, as in `(k) → f64[n] → f64[k]`"
        ctx.error(Code.E011, message, node.span)
        return None
    sizes: list[Size] = []
    for arg in node.args:
        value = names(arg) if isinstance(arg, BoundedSize) else _signed(ctx, arg, names)
        if value is None:
            return None
        sizes.append(value)
    if node.name in ("idx", "perm") and len(sizes) == 1:
        return Element(Kind.I64, index_bound=sizes[0])
    if node.name == "int" and len(sizes) == 2:
        low, high = sizes[0].constant, sizes[1].constant
        if low is None:
            low = sizes[0].bounds()[0]
        return ranged(Kind.I64, low, high, symbolic_max=sizes[1] if high is None and low is not None else None)
    reject_element(ctx, [node])
    return None


_FOREIGN_NAMES = {
    "float": "f64", "double": "f64", "real": "f64", "float64": "f64", "float32": "f32", "single": "f32", "integer": "i64",
    "int": "i64", "int64": "i64", "long": "i64", "int32": "i32", "uint8": "u8", "byte": "u8", "boolean": "bool",
    "complex": "c128", "complex128": "c128", "complex64": "c64", "string": "char", "str": "char", "text": "char",
}  # fmt: skip


def meant_element(name: str) -> str | None:
    """The element type that a foreign or misspelt name stands for; None for what may be a variable."""
    known = _FOREIGN_NAMES.get(name.lower())
    if known is not None or not (name[0].islower() and any(c.isdigit() for c in name)):
        return known
    return nearest(name, KINDS)


def reject_element(ctx: Context, occurrences: Sequence[ElementName]) -> None:
    """E011 with the element type that was meant; `occurrences` are those of one name."""
    node = occurrences[0]
    meant = meant_element(node.name) or nearest(node.name, KINDS)
    hint = f"; did you mean `{meant}`?" if meant else ""
    fixes: tuple[Fix, ...] = ()
    if meant:
        spans = [Span(at.span.file, at.span.start, at.span.start + len(at.name)) for at in occurrences]
        fixes = (Fix(f"write `{meant}`", tuple([Edit(span, meant) for span in spans])),)
    notes = ("the element types are " + " ".join([*KINDS, *UNITS]),)
    ctx.error(Code.E011, f"there is no element type `{node.name}`{hint}", node.span, notes=notes, fixes=fixes)


def _signed(ctx: Context, node: SizeExpression, names: Names) -> Size | None:
    """The size of a bound of `int<…>`, which may be negative."""
    if isinstance(node, SizeCall) and node.function == "-" and len(node.args) == 1:
        value = size_expression(ctx.builder, node.args[0], names)
        return None if value is None else -value
    return size_expression(ctx.builder, node, names)


def declared_type(ctx: Context, node: TypeExpression, names: Names) -> DeclaredType | None:
    """The type that an `input` or an annotated binding declares, which has no shape or element variables."""
    if isinstance(node, TupleTypeExpression):
        items: list[DeclaredType] = []
        for item in node.items:
            type_ = declared_type(ctx, item, names)
            if type_ is None:
                return None
            items.append(type_)
        return TupleType(tuple(items))

    def refused(part: ShapeVariable | BoundedSize, axis: int) -> None:
        if isinstance(part, ShapeVariable):
            message = f"the rank of `..{part.name}` is not known here: shape variables belong in signatures"
            ctx.error(Code.E121, message, part.span)
        else:
            ctx.error(Code.E011, "a size known only when run has no place in this declaration", part.span)

    return array_type(ctx, node, names, {}, refused)


def array_type(
    ctx: Context, node: ArrayTypeExpression, names: Names, variables: Mapping[str, Element],
    axes: Callable[[ShapeVariable | BoundedSize, int], Sequence[Size] | None],
) -> ArrayType | None:  # fmt: skip
    """The type of an array; `axes` gives the sizes of `..s` and of the k of `k≤n`, which is that axis."""
    element = element_of(ctx, node.element, names, variables)
    if element is None:
        return None
    shape: list[Size] = []
    for part in node.shape:
        if isinstance(part, ShapeVariable | BoundedSize):
            sizes = axes(part, len(shape))
        else:
            size = size_expression(ctx.builder, part, names)
            sizes = None if size is None else (size,)
        if sizes is None:
            return None
        shape.extend(sizes)
    if node.element.name == "perm" and element.index_bound is not None:
        if shape:
            ctx.error(Code.E011, "`perm<n>` is a vector of n items already", node.span, notes=("write it without brackets",))
            return None
        return ArrayType(element, (element.index_bound,), True)
    return ArrayType(element, tuple(shape))


def facts(ctx: Context, nodes: Sequence[Fact], names: Names, *, quietly: bool = False) -> Iterator[tuple[SizeFact, Span]]:
    """The facts about sizes of a `where`, without element classes, one at a time, so that the caller can make each a premise.

    They come in order of dependency: `2∣k-1` needs `k≥1` and comes after it.  With `quietly`, a fact that cannot be formed is
    skipped.
    """
    pending = [node for node in nodes if node.right is not None]
    while pending:
        left: list[Fact] = []
        for node in pending:
            fact = _formed_quietly(ctx, node, names)
            if fact is None:
                left.append(node)
            else:
                yield fact, node.span
        if len(left) == len(pending):
            break
        pending = left
    for node in () if quietly else pending:
        fact = _formed(ctx, node, names)  # to report the error
        if fact is not None:
            yield fact, node.span


def meaningful_facts(ctx: Context, nodes: Sequence[Fact], names: Names) -> list[SizeFact]:
    """The facts that can be formed, which become premises."""
    constraints: list[SizeFact] = []
    for fact, _ in facts(ctx, nodes, names, quietly=True):
        constraints.append(fact)
        ctx.builder.constraints.premises.append(fact)
    return constraints


def _formed_quietly(ctx: Context, node: Fact, names: Names) -> SizeFact | None:
    """The fact if all its sizes are known to be defined; else None, without errors or guards."""
    builder = ctx.builder
    before = builder.mark()
    fact = _formed(ctx, node, names)
    if builder.mark() == before:
        return fact
    builder.rollback(before)
    return None


def _formed(ctx: Context, node: Fact, names: Names) -> SizeFact | None:
    assert node.right is not None
    left, right = size_expression(ctx.builder, node.left, names), size_expression(ctx.builder, node.right, names)
    if left is None or right is None:
        return None
    match node.relation:
        case "=":
            return SizeFact(Relation.EQUAL, left, right)
        case "≠":
            return SizeFact(Relation.NOT_EQUAL, left, right)
        case "≤":
            return SizeFact(Relation.AT_MOST, left, right)
        case "<":
            return SizeFact(Relation.LESS, left, right)
        case "≥":
            return SizeFact(Relation.AT_MOST, right, left)
        case ">":
            return SizeFact(Relation.LESS, right, left)
        case "*":
            return SizeFact(Relation.POWER, left, right)
        case _:
            return SizeFact(Relation.DIVIDES, left, right)
