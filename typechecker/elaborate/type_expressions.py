"""Elaborates type expressions to types, sizes and facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
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
    ShapeItem,
    ShapeVariable,
    SizeCall,
    SizeExpression,
    SizeName,
    TupleTypeExpression,
    TypeExpression,
)
from ..elements import ArrayType, Element, Kind, Unit, ranged
from ..proof.obligations import Obligation, Relation, SizeFact
from ..rules.argument_checks import Names, size_expression
from ..sizes.polynomials import Size
from ..sizes.size import upper_bound
from ..values.facts import Operand, TupleOperand, Value
from .context import Bindings, Context

KINDS: Mapping[str, Kind] = {kind.value: kind for kind in Kind}
UNITS: Mapping[str, Unit] = {unit.value: unit for unit in Unit if unit is not Unit.ANY}

@dataclass(frozen=True, slots=True)
class TupleType:
    items: tuple[DeclaredType, ...]


DeclaredType: TypeAlias = ArrayType | TupleType


def array_types(type_: DeclaredType) -> list[ArrayType]:
    """The types of the arrays of a value, tuples flattened in order."""
    return [type_] if isinstance(type_, ArrayType) else [array for item in type_.items for array in array_types(item)]


def _element(ctx: Context, node: ElementName, bindings: Bindings) -> Element | None:
    """The element of an element type, `idx<n>`, `int<a..b>`, or an element variable."""
    if node.name in KINDS and not node.args:
        return Element(KINDS[node.name])
    if node.name in UNITS and not node.args:
        return Element(Kind.I64, unit=UNITS[node.name])
    if node.name in bindings.elements:
        return bindings.elements[node.name]
    if node.name == GIVEN:
        message = "an integer that gives a size is a parameter of a signature, as in `(k) → f64[n] → f64[k]`"
        ctx.error(Code.E011, message, node.span)
        return None
    sizes: list[Size] = []
    for arg in node.args:
        value = known_size(ctx, bindings, arg) if isinstance(arg, BoundedSize) else _signed(ctx, arg, bindings)
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


def _signed(ctx: Context, node: SizeExpression, bindings: Bindings) -> Size | None:
    """The size of a bound of `int<…>`, which may be negative."""
    if isinstance(node, SizeCall) and node.function == "-" and len(node.args) == 1:
        value = size_expression(ctx.builder, node.args[0], names_of(ctx, bindings))
        return None if value is None else -value
    return size_expression(ctx.builder, node, names_of(ctx, bindings))


# ---------------------------------------------------------------------------------------------------- instantiation

def known_size(ctx: Context, bindings: Bindings, node: SizeName | BoundedSize) -> Size | None:
    """The size of a name: of one that facts define, by its definition."""
    size = bindings.size(node.name)
    if size is None and node.name in bindings.definitions:
        return size_expression(ctx.builder, bindings.definitions[node.name], names_of(ctx, bindings))
    return bindings.otherwise(ctx, node) if size is None else size


def names_of(ctx: Context, bindings: Bindings) -> Names:
    """The sizes that names stand for."""
    return partial(known_size, ctx, bindings)


def instantiate(ctx: Context, node: TypeExpression, bindings: Bindings, value: Value | None = None) -> DeclaredType | None:
    """The type with its variables replaced; None after an error.

    `value` gives the sizes of `k≤n` items; without it they are bound already."""
    if isinstance(node, TupleTypeExpression):
        parts = (None,) * len(node.items) if value is None else value.items if isinstance(value, TupleOperand) else ()
        if len(parts) != len(node.items):
            ctx.error(Code.E305, f"this is declared a tuple of {len(node.items)} items", node.span)
            return None
        items: list[DeclaredType] = []
        for inner, item in zip(node.items, parts, strict=True):
            type_ = instantiate(ctx, inner, bindings, item)
            if type_ is None:
                return None
            items.append(type_)
        return TupleType(tuple(items))
    x = value if isinstance(value, Operand) else None
    if x is not None and not _open_element(ctx, node, bindings, x):
        return None
    element = _element(ctx, node.element, bindings)
    if element is None:
        return None
    shape: list[Size] = []
    for part in node.shape:
        axis = _axis(ctx, part, bindings, value, len(shape))
        if axis is None:
            return None
        shape.extend(axis)
    if node.element.name == "perm" and element.index_bound is not None:
        if shape:
            ctx.error(Code.E011, "`perm<n>` is a vector of n items already", node.span, notes=("write it without brackets",))
            return None
        return ArrayType(element, (element.index_bound,), True)
    return ArrayType(element, tuple(shape))


def _axis(ctx: Context, part: ShapeItem, bindings: Bindings, value: Value | None, axis: int) -> Sequence[Size] | None:
    """The sizes of an item of a shape; of `k≤n`, the length of this axis of the value, which must be at most n."""
    if isinstance(part, ShapeVariable):
        if part.name not in bindings.shapes:
            bindings.otherwise(ctx, part)
        return bindings.shapes.get(part.name)
    if not isinstance(part, BoundedSize):
        size = size_expression(ctx.builder, part, names_of(ctx, bindings))
    elif value is None:
        size = known_size(ctx, bindings, part)
    elif isinstance(value, Operand) and axis < value.type.rank:
        size = _at_most(ctx, part, bindings, value.type.shape[axis])
    else:
        size = size_expression(ctx.builder, part.bound, names_of(ctx, bindings))
    return None if size is None else (size,)


def _open_element(ctx: Context, node: ArrayTypeExpression, bindings: Bindings, value: Operand) -> bool:
    """Bind the k of `idx<k≤d>` or `perm<k≤d>`."""
    for part in node.element.args:
        size = value.type.shape[0] if node.element.name == "perm" and value.type.rank else value.type.element.index_bound
        if isinstance(part, BoundedSize) and size is not None and _at_most(ctx, part, bindings, size) is None:
            return False
    return True


def _at_most(ctx: Context, part: BoundedSize, bindings: Bindings, size: Size) -> Size | None:
    """Require that a size is at most d, and equal to an earlier k."""
    bound = size_expression(ctx.builder, part.bound, names_of(ctx, bindings))
    if bound is None:
        return None
    known = upper_bound(size) if ctx.builder.at_most(size, bound) is None else size
    fact = SizeFact(Relation.AT_MOST, known, bound)
    if not ctx.builder.require(Obligation(fact, Code.E201, part.span, f"the length {size} is not known to be at most {bound}")):
        return None
    bindings.sizes.setdefault(part.name, size)
    known = bindings.opened.setdefault(part.name, size)
    message = f"both lengths are declared {part.name}, but they are {known} and {size}"
    code = Code.E140 if known.is_runtime() or size.is_runtime() else Code.E201
    same = ctx.builder.require(Obligation(SizeFact(Relation.EQUAL, known, size), code, part.span, message))
    return size if same else None


# ---------------------------------------------------------------------------------------------------- facts

def facts(ctx: Context, nodes: Sequence[Fact], bindings: Bindings, *, quietly: bool = False) -> Iterator[tuple[SizeFact, Span]]:
    """The facts about sizes of a `where`, without element classes, one at a time, so that the caller can make each a premise.

    They come in order of dependency: `2∣k-1` needs `k≥1` and comes after it.  With `quietly`, a fact that cannot be formed is
    skipped.
    """
    pending = [node for node in nodes if node.right is not None]
    while pending:
        left: list[Fact] = []
        for node in pending:
            fact = _formed_quietly(ctx, node, bindings)
            if fact is None:
                left.append(node)
            else:
                yield fact, node.span
        if len(left) == len(pending):
            break
        pending = left
    for node in () if quietly else pending:
        fact = _formed(ctx, node, bindings)  # to report the error
        if fact is not None:
            yield fact, node.span


def meaningful_facts(ctx: Context, nodes: Sequence[Fact], bindings: Bindings) -> list[SizeFact]:
    """The facts that can be formed, which become premises."""
    constraints: list[SizeFact] = []
    for fact, _ in facts(ctx, nodes, bindings, quietly=True):
        constraints.append(fact)
        ctx.builder.constraints.premises.append(fact)
    return constraints


def _formed_quietly(ctx: Context, node: Fact, bindings: Bindings) -> SizeFact | None:
    """The fact if all its sizes are known to be defined; else None, without errors or guards."""
    builder = ctx.builder
    before = builder.mark()
    fact = _formed(ctx, node, bindings)
    if builder.mark() == before:
        return fact
    builder.rollback(before)
    return None


def _formed(ctx: Context, node: Fact, bindings: Bindings) -> SizeFact | None:
    assert node.right is not None
    names = names_of(ctx, bindings)
    left, right = size_expression(ctx.builder, node.left, names), size_expression(ctx.builder, node.right, names)
    if left is None or right is None:
        return None
    swapped = _SWAPPED.get(node.relation)
    return SizeFact(Relation(node.relation), left, right) if swapped is None else SizeFact(swapped, right, left)


_SWAPPED = {"≥": Relation.AT_MOST, ">": Relation.LESS}
