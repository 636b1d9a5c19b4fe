"""Binding the variables of a signature at a call: what its sizes, shapes and element types stand for.

A size binds where it stands alone, or as `(c×n)+c'` or `(c×n)-c'`; whatever else a parameter says about sizes becomes an
obligation when the argument is held against the declared type (`signatures`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from ...lang.codes import Code
from ...lang.records import dataclass
from ...lang.source import Span
from ...lang.type_tree import (
    ArrayTypeExpression,
    BoundedSize,
    ElementName,
    ShapeItem,
    ShapeVariable,
    SizeCall,
    SizeExpression,
    SizeName,
    SizeNumber,
    TupleTypeExpression,
    TypeExpression,
)
from ..elements import Element, promote, strong
from ..obligations import Obligation, Relation, SizeFact
from ..operands import Operand, TupleOperand, Value
from ..sizes import ZERO, Size, SizeVariable, capacity, quotient, variable
from .context import Context
from .type_expressions import KINDS


@dataclass(slots=True)
class Bindings:
    """What the variables of a signature stand for at one call; `opened`: the lengths that `k≤n` items of it have; `bounds`:
    what stands for the n of `k≤n` where nothing else does."""

    params: Mapping[str, SizeVariable]
    sizes: dict[str, Size] = field(default_factory=dict)
    shapes: dict[str, tuple[Size, ...]] = field(default_factory=dict)
    elements: dict[str, Element] = field(default_factory=dict)
    opened: dict[str, Size] = field(default_factory=dict)
    bounds: list[tuple[SizeExpression, Size]] = field(default_factory=list)

    def size(self, name: str) -> Size | None:
        if name in self.sizes:
            return self.sizes[name]
        return variable(self.params[name]) if name in self.params else None


def bind(ctx: Context, node: TypeExpression, value: Value, bindings: Bindings, name: str, span: Span) -> bool:
    """Let the sizes, shapes and elements of a parameter stand for the argument's."""
    if isinstance(node, TupleTypeExpression):
        if not isinstance(value, TupleOperand) or len(value.items) != len(node.items):
            ctx.error(Code.E305, f"`{name}` takes a tuple of {len(node.items)} items here", span)
            return False
        return all(bind(ctx, part, item, bindings, name, span) for part, item in zip(node.items, value.items, strict=True))
    if not isinstance(value, Operand):
        ctx.error(Code.E305, f"`{name}` takes an array here, not a tuple", span)
        return False
    _bind_element(ctx, node.element, value, bindings)
    shape = value.type.shape
    items = node.shape
    if node.element.name == "perm":
        _bind_size(node.element.args[0], shape[0], bindings)
        return True
    variables = [i for i, part in enumerate(items) if isinstance(part, ShapeVariable)]
    if variables:
        at = variables[0]
        after = len(items) - at - 1
        if len(shape) < len(items) - 1:
            ctx.error(
                Code.E131, f"`{name}` needs at least {len(items) - 1} axes here, but this argument has rank {len(shape)}", span
            )
            return False
        part = items[at]
        assert isinstance(part, ShapeVariable)
        middle = shape[at : len(shape) - after]
        known = bindings.shapes.setdefault(part.name, middle)
        if not _shapes_agree(ctx, known, middle, part, name, span):
            return False
        pairs = [*zip(items[:at], shape[:at], strict=True), *zip(items[at + 1 :], shape[len(shape) - after :], strict=True)]
    else:
        pairs = list(zip(items, shape, strict=True))
    for item, size in pairs:
        _bind_size(item, size, bindings)
    return True


def _shapes_agree(
    ctx: Context, known: tuple[Size, ...], found: tuple[Size, ...], part: ShapeVariable, name: str, span: Span
) -> bool:
    if len(known) != len(found):
        ctx.error(Code.E101, f"`..{part.name}` of `{name}` stands for {len(known)} axes and for {len(found)}", span)
        return False
    for a, b in zip(known, found, strict=True):
        message = f"`..{part.name}` of `{name}` stands for {a} and for {b}"
        if not ctx.builder.require(Obligation(SizeFact(Relation.EQUAL, a, b), Code.E201, span, message)):
            return False
    return True


def _bind_element(ctx: Context, node: ElementName, value: Operand, bindings: Bindings) -> None:
    if node.name in KINDS:
        return
    element = value.type.element
    if node.name in ("idx", "perm", "int"):
        return
    element = (
        strong(ctx.builder.to_number(value, ctx.builder.where(value)).type.element)
        if element.below is not None
        else strong(element)
    )
    element = Element(element.kind)
    known = bindings.elements.get(node.name)
    joint = element if known is None else promote(known, element)
    bindings.elements[node.name] = element if joint is None else joint


def bind_caps(bindings: Bindings) -> None:
    """The n of `k≤n`, where no shape has bound it."""
    for bound, size in bindings.bounds:
        _bind_size(bound, size, bindings)


def bind_bounds(node: TypeExpression, value: Value, bindings: Bindings) -> None:
    """The n of `idx<n>`, where no shape has bound it."""
    if isinstance(node, TupleTypeExpression):
        if isinstance(value, TupleOperand):
            for part, item in zip(node.items, value.items, strict=True):
                bind_bounds(part, item, bindings)
    elif node.element.name == "idx" and isinstance(value, Operand) and value.type.element.below is not None:
        _bind_size(node.element.args[0], value.type.element.below, bindings)


def sizes_bound_by(parameters: Sequence[ArrayTypeExpression]) -> frozenset[str]:
    """The sizes that arguments of these types bind, whatever they are."""
    bindings = Bindings({})
    for array in parameters:
        for part in (*array.shape, *(array.element.args if array.element.name == "perm" else ())):
            _bind_size(part, ZERO, bindings)
    bind_caps(bindings)
    for array in parameters:
        if array.element.name == "idx":
            _bind_size(array.element.args[0], ZERO, bindings)
    return frozenset(bindings.sizes)


def _bind_size(node: ShapeItem, size: Size, bindings: Bindings) -> None:
    """Bind `n`, `(c×n)+c'`, `(c×n)-c'` (when it divides); leave the rest to obligations."""
    match node:
        case SizeName():
            if bindings.size(node.name) is None:
                bindings.sizes[node.name] = size
        case BoundedSize():
            bindings.sizes.setdefault(node.name, size)
            bindings.bounds.append((node.bound, capacity(size)))
        case SizeCall():
            found = _linear(node, bindings)
            if found is not None:
                name, factor, offset = found
                bindings.sizes.setdefault(name, quotient(size - offset, factor))
        case _:
            pass


def _linear(node: SizeExpression, bindings: Bindings) -> tuple[str, int, Size] | None:
    """(name, factor, offset) of `(c×n)±c'` with one unbound name."""
    match node:
        case SizeName():
            return (node.name, 1, Size({})) if bindings.size(node.name) is None else None
        case SizeCall(function="+", args=(a, b)):
            for part, rest in ((a, b), (b, a)):
                found, offset = _linear(part, bindings), _value(rest, bindings)
                if found is not None and offset is not None:
                    return found[0], found[1], found[2] + offset
            return None
        case SizeCall(function="-", args=(a, b)):
            found, offset = _linear(a, bindings), _value(b, bindings)
            return None if found is None or offset is None else (found[0], found[1], found[2] - offset)
        case SizeCall(function="×", args=(a, b)):
            for part, rest in ((a, b), (b, a)):
                found, factor = _linear(part, bindings), _value(rest, bindings)
                if found is not None and factor is not None and (factor.constant or 0) >= 1:
                    return found[0], found[1] * (factor.constant or 1), found[2] * factor
            return None
        case _:
            return None


def _value(node: SizeExpression, bindings: Bindings) -> Size | None:
    match node:
        case SizeNumber():
            return Size({(): node.value})
        case SizeName():
            return bindings.size(node.name)
        case _:
            return None
