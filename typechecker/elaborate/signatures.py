"""Annotated functions: their types are matched at every call, their bodies expanded in place.

A parameter's shape gives the function's cell ranks; an argument of higher rank is lifted over.  Sizes
bind as a name, or as `(c×n)+c'`; any other size expression is an obligation, and so is every fact of the `where`.
The body sees its arguments as the signature declares them: what more is known of them at a call stays outside.
What the body needs was proved where the function was defined (`definitions`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from ...lang import tree
from ...lang.source import Span
from ..display import show_type
from ..elements import Element, Kind, promote, strong
from ..obligations import Obligation, Relation, SizeFact
from ..operands import Operand, TupleOperand, Value
from ..sizes import Size, SizeVariable, capacity, quotient, variable
from ..types import ArrayType
from . import matching, type_expressions
from .context import Context, is_poisoned
from .functions import SignedFunction
from .lifting import lift
from .signature_form import CLASSES, undetermined
from .signature_text import show_signature
from .type_expressions import KINDS, DeclaredType, TupleType


@dataclass(slots=True)
class Bindings:
    """What the variables of a signature stand for at one call."""

    params: Mapping[str, SizeVariable]
    sizes: dict[str, Size] = field(default_factory=dict)
    shapes: dict[str, tuple[Size, ...]] = field(default_factory=dict)
    elements: dict[str, Element] = field(default_factory=dict)

    def size(self, name: str) -> Size | None:
        if name in self.sizes:
            return self.sizes[name]
        return variable(self.params[name]) if name in self.params else None


def call(ctx: Context, function: SignedFunction, left: Value | None, right: Value, span: Span) -> Value:
    """Match, lift, expand the body, check the result."""
    signature = function.signature
    if (left is None) != (signature.left is None):
        wanted, got = (1, 2) if signature.left is None else (2, 1)
        return ctx.error(
            "E130",
            f"`{function.name}` takes {wanted} argument{'s' * (wanted > 1)}, got {got}",
            span,
            notes=(f"{function.name} : {show_signature(signature)}",),
        )
    parameters = [p for p in (signature.left, signature.right) if p is not None]
    given = [v for v in (left, right) if v is not None]
    arrays: list[Operand] = []
    ranks: list[int] = []
    for parameter, value in zip(parameters, given, strict=True):
        rank = _cell_rank(parameter.type)
        if not isinstance(value, Operand) or rank is None:
            continue
        if value.type.rank < rank:
            return ctx.error(
                "E131",
                f"`{function.name}` needs cells of rank {rank} here, but this argument has rank {value.type.rank}",
                span,
                label=show_type(value.type),
                notes=(f"{function.name} : {show_signature(signature)}",),
            )
        arrays.append(value)
        ranks.append(rank)

    def body(cells: list[Operand]) -> Value:
        rest = list(cells)
        args: list[Value] = []
        for parameter, value in zip(parameters, given, strict=True):
            lifted = isinstance(value, Operand) and _cell_rank(parameter.type) is not None
            args.append(rest.pop(0) if lifted else value)
        return _call_cells(ctx, function, parameters, args, span)

    return lift(ctx, arrays, ranks, lambda cells: body(list(cells)), span)


def _cell_rank(node: tree.TypeExpression) -> int | None:
    """The rank of a parameter's cells; None if it takes its argument whole."""
    if isinstance(node, tree.TupleTypeExpression) or any(isinstance(part, tree.ShapeVariable) for part in node.shape):
        return None
    return 1 if node.element.name == "perm" else len(node.shape)


def _call_cells(ctx: Context, function: SignedFunction, parameters: list[tree.Parameter], args: list[Value], span: Span) -> Value:
    bindings = Bindings(function.home.scope.file.params)
    for parameter, value in zip(parameters, args, strict=True):
        if not _bind(ctx, parameter.type, value, bindings, function.name, span):
            return ctx.builder.poison(span)
    for parameter, value in zip(parameters, args, strict=True):
        _bind_bounds(parameter.type, value, bindings)
    converted: list[Value] = []
    notes = (f"{function.name} : {show_signature(function.signature)}",)
    for parameter, value in zip(parameters, args, strict=True):
        wanted = instantiate(ctx, parameter.type, bindings, value)
        made = (
            ctx.builder.poison(span)
            if wanted is None
            else matching.conform(ctx, value, wanted, _place(ctx, value, span), f"this argument of `{function.name}`", notes)
        )
        if is_poisoned(made):
            return ctx.builder.poison(span)
        converted.append(_as_declared(made, wanted))
    stated = _facts(ctx, function, bindings, span)
    if stated is None:
        return ctx.builder.poison(span)
    with _body(ctx, function, stated):
        left = converted[0] if len(converted) == 2 else None
        result = ctx.call(function.body, left, converted[-1], span)
        if is_poisoned(result):
            return ctx.builder.poison(span)
        wanted = instantiate(ctx, function.signature.result, bindings, result)
        if wanted is None:
            return ctx.builder.poison(span)
        return matching.conform(ctx, result, wanted, function.signature.result.span, f"the result of `{function.name}`")


def _place(ctx: Context, value: Value, span: Span) -> Span:
    """Where an argument is written, if that is known."""
    return ctx.builder.uses.get(value.value, span) if isinstance(value, Operand) else span


def _as_declared(value: Value, wanted: DeclaredType | None) -> Value:
    """The argument without what is known of it beyond its declared type."""
    if isinstance(value, Operand):
        assert isinstance(wanted, ArrayType)
        return Operand(value.value, ArrayType(wanted.element, value.type.shape, wanted.permutation))
    assert isinstance(wanted, TupleType)
    items: list[Value] = []
    for item, type_ in zip(value.items, wanted.items, strict=True):
        items.append(_as_declared(item, type_))
    return TupleOperand(tuple(items))


@contextmanager
def _body(ctx: Context, function: SignedFunction, stated: list[SizeFact]) -> Iterator[None]:
    """Inside the body: its `where` is known, and nothing proved is proved again."""
    builder = ctx.builder
    before = builder.proved_body
    builder.proved_body = before or function.proved
    builder.premises += stated
    try:
        yield
    finally:
        builder.proved_body = before
        for fact in stated:
            builder.premises.remove(fact)


def _facts(ctx: Context, function: SignedFunction, bindings: Bindings, span: Span) -> list[SizeFact] | None:
    """The `where` at this call: what it says that no premise says; None after an error."""
    stated: list[SizeFact] = []
    good = True
    for node in function.signature.where:
        if node.relation in CLASSES:
            continue
        for fact, _ in type_expressions.facts(ctx, [node], lambda name, at: known_size(ctx, bindings, name, at)):
            message = f"`{function.name}` needs {fact}"
            good = ctx.builder.require(Obligation(fact, "E201", span, message, notes=("stated by its `where`",))) and good
            if fact not in ctx.builder.premises and fact not in stated:
                stated.append(fact)
    for node in function.signature.where:
        if node.relation in CLASSES and isinstance(node.left, tree.SizeName):
            good = _class_holds(ctx, node, bindings.elements.get(node.left.name), function.name, span) and good
    return stated if good else None


def _class_holds(ctx: Context, node: tree.Fact, element: Element | None, name: str, span: Span) -> bool:
    assert isinstance(node.left, tree.SizeName)
    if element is None:
        ctx.error("E011", f"`{node.left.name}` is not an element variable of this signature", node.span)
        return False
    kind = element.kind
    holds = {
        "num": kind is not Kind.CHAR,
        "real": kind is not Kind.CHAR and not kind.is_complex,
        "int": kind.is_integer or kind is Kind.BOOL,
        "ord": not kind.is_complex,
    }[node.relation]
    if not holds:
        ctx.error("E300", f"`{name}` needs {node.left.name} {node.relation}, but it is {kind.value} here", span)
    return holds


# ---------------------------------------------------------------------------------- matching


def _bind(ctx: Context, node: tree.TypeExpression, value: Value, bindings: Bindings, name: str, span: Span) -> bool:
    """Let the sizes, shapes and elements of a parameter stand for the argument's."""
    if isinstance(node, tree.TupleTypeExpression):
        if not isinstance(value, TupleOperand) or len(value.items) != len(node.items):
            ctx.error("E305", f"`{name}` takes a tuple of {len(node.items)} items here", span)
            return False
        return all(_bind(ctx, part, item, bindings, name, span) for part, item in zip(node.items, value.items, strict=True))
    if not isinstance(value, Operand):
        ctx.error("E305", f"`{name}` takes an array here, not a tuple", span)
        return False
    _bind_element(ctx, node.element, value, bindings)
    shape = value.type.shape
    items = node.shape
    if node.element.name == "perm":
        _bind_size(node.element.args[0], shape[0], bindings)
        return True
    variables = [i for i, part in enumerate(items) if isinstance(part, tree.ShapeVariable)]
    if variables:
        at = variables[0]
        after = len(items) - at - 1
        if len(shape) < len(items) - 1:
            ctx.error(
                "E131", f"`{name}` needs at least {len(items) - 1} axes here, but this argument has rank {len(shape)}", span
            )
            return False
        part = items[at]
        assert isinstance(part, tree.ShapeVariable)
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
    ctx: Context, known: tuple[Size, ...], found: tuple[Size, ...], part: tree.ShapeVariable, name: str, span: Span
) -> bool:
    if len(known) != len(found):
        ctx.error("E101", f"`..{part.name}` of `{name}` stands for {len(known)} axes and for {len(found)}", span)
        return False
    for a, b in zip(known, found, strict=True):
        message = f"`..{part.name}` of `{name}` stands for {a} and for {b}"
        if not ctx.builder.require(Obligation(SizeFact(Relation.EQUAL, a, b), "E201", span, message)):
            return False
    return True


def _bind_element(ctx: Context, node: tree.ElementName, value: Operand, bindings: Bindings) -> None:
    if node.name in KINDS:
        return
    element = value.type.element
    if node.name in ("idx", "perm", "int"):
        return
    element = (
        strong(ctx.builder.to_number(value, value_span(ctx, value)).type.element)
        if element.below is not None
        else strong(element)
    )
    element = Element(element.kind)
    known = bindings.elements.get(node.name)
    joint = element if known is None else promote(known, element)
    bindings.elements[node.name] = element if joint is None else joint


def _bind_bounds(node: tree.TypeExpression, value: Value, bindings: Bindings) -> None:
    """The n of `idx<n>`, where no shape has bound it."""
    if isinstance(node, tree.TupleTypeExpression):
        if isinstance(value, TupleOperand):
            for part, item in zip(node.items, value.items, strict=True):
                _bind_bounds(part, item, bindings)
    elif node.element.name == "idx" and isinstance(value, Operand) and value.type.element.below is not None:
        _bind_size(node.element.args[0], value.type.element.below, bindings)


def value_span(ctx: Context, x: Operand) -> Span:
    return ctx.builder.where(x)


def _bind_size(node: tree.ShapeItem, size: Size, bindings: Bindings) -> None:
    """Bind `n`, `(c×n)+c'` (when it divides); leave the rest to obligations."""
    match node:
        case tree.SizeName():
            if bindings.size(node.name) is None:
                bindings.sizes[node.name] = size
        case tree.BoundedSize():
            bindings.sizes.setdefault(node.name, size)
            _bind_size(node.bound, capacity(size), bindings)
        case tree.SizeCall():
            found = _linear(node, bindings)
            if found is not None:
                name, factor, offset = found
                bindings.sizes.setdefault(name, quotient(size - offset, factor))
        case _:
            pass


def _linear(node: tree.SizeExpression, bindings: Bindings) -> tuple[str, int, Size] | None:
    """(name, factor, offset) of `(c×n)+c'` with one unbound name."""
    match node:
        case tree.SizeName():
            return (node.name, 1, Size({})) if bindings.size(node.name) is None else None
        case tree.SizeCall(function="+", args=(a, b)):
            for part, rest in ((a, b), (b, a)):
                found, offset = _linear(part, bindings), _value(rest, bindings)
                if found is not None and offset is not None:
                    return found[0], found[1], found[2] + offset
            return None
        case tree.SizeCall(function="×", args=(a, b)):
            for part, rest in ((a, b), (b, a)):
                found, factor = _linear(part, bindings), _value(rest, bindings)
                if found is not None and factor is not None and (factor.constant or 0) >= 1:
                    return found[0], found[1] * (factor.constant or 1), found[2] * factor
            return None
        case _:
            return None


def _value(node: tree.SizeExpression, bindings: Bindings) -> Size | None:
    match node:
        case tree.SizeNumber():
            return Size({(): node.value})
        case tree.SizeName():
            return bindings.size(node.name)
        case _:
            return None


def known_size(ctx: Context, bindings: Bindings, name: str, span: Span) -> Size | None:
    found = bindings.size(name)
    if found is None:
        undetermined(ctx, name, span)
    return found


def instantiate(ctx: Context, node: tree.TypeExpression, bindings: Bindings, value: Value | None) -> DeclaredType | None:
    """The type a parameter or result has at this call.  `value` gives the sizes of `k≤n` items; without it they are bound."""
    if isinstance(node, tree.TupleTypeExpression):
        parts = value.items if isinstance(value, TupleOperand) else ()
        if len(parts) != len(node.items):
            ctx.error("E305", f"this is declared a tuple of {len(node.items)} items", node.span)
            return None
        items: list[DeclaredType] = []
        for inner, item in zip(node.items, parts, strict=True):
            made = instantiate(ctx, inner, bindings, item)
            if made is None:
                return None
            items.append(made)
        return TupleType(tuple(items))
    element = type_expressions.element_of(ctx, node.element, lambda n, s: known_size(ctx, bindings, n, s), bindings.elements)
    if element is None:
        return None
    if node.element.name == "perm" and element.below is not None:
        return ArrayType(element, (element.below,), True)
    shape: list[Size] = []
    for part in node.shape:
        if isinstance(part, tree.ShapeVariable):
            if part.name not in bindings.shapes:
                ctx.error("E122", f"..{part.name} is not determined by any argument", part.span)
                return None
            shape.extend(bindings.shapes[part.name])
        elif isinstance(part, tree.BoundedSize):
            size = _bounded(ctx, part, bindings, value, len(shape))
            if size is None:
                return None
            shape.append(size)
        else:
            made_size = type_expressions.size_expression(ctx, part, lambda n, s: known_size(ctx, bindings, n, s))
            if made_size is None:
                return None
            shape.append(made_size)
    return ArrayType(element, tuple(shape))


def _bounded(ctx: Context, part: tree.BoundedSize, bindings: Bindings, value: Value | None, axis: int) -> Size | None:
    """`k≤d`: whatever the value's size is, if it is at most d."""
    bound = type_expressions.size_expression(ctx, part.bound, lambda n, s: known_size(ctx, bindings, n, s))
    if value is None:
        return bindings.sizes.get(part.name)
    if bound is None or not isinstance(value, Operand) or axis >= value.type.rank:
        return bound
    size = value.type.shape[axis]
    fact = SizeFact(Relation.AT_MOST, capacity(size), bound)
    if not ctx.builder.require(Obligation(fact, "E201", part.span, f"the length {size} is not known to be at most {bound}")):
        return None
    bindings.sizes.setdefault(part.name, size)
    return size
