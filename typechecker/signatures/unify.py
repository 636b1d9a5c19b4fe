"""Unifies a signature with the arguments of a call: binds size, shape and element variables, and conforms values to declared
types.

A size binds where it stands alone, or as `(c×n)+c'` or `(c×n)-c'`; other size expressions become obligations when the argument is
conformed to the declared type (`calls`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from ...lang.diagnostics.model import Code, Edit, Fix
from ...lang.support.records import dataclass, field, replace
from ...lang.syntax.source import Span
from ...lang.tree import program
from ...lang.tree.expressions import (
    GIVEN,
    ITEMS,
    ArrayTypeExpression,
    BoundedSize,
    ElementName,
    Fact,
    Parameter,
    ShapeItem,
    ShapeVariable,
    SizeCall,
    SizeExpression,
    SizeName,
    SizeNumber,
    TupleTypeExpression,
    TypeExpression,
    arrays,
)
from ..diagnostics import show_type
from ..elaborate.context import Bindings, Context, undetermined
from ..elaborate.type_expressions import KINDS, UNITS, DeclaredType, TupleType, meant_element, reject_element
from ..elements import (
    ArrayType,
    Element,
    Kind,
    common_unit,
    fits,
    integer_range,
    plain,
    promote,
    show_element,
    size_range,
    strong,
    widens,
)
from ..proof.obligations import Obligation, Relation, SizeFact
from ..rules.argument_checks import require_natural, size_arguments, size_expression
from ..rules.index import is_below_if_any, is_inside
from ..sizes.polynomials import ONE, ZERO, Size, SizeOrigin, SizeVariable, number as size_number, operand, variable
from ..sizes.size import quotient, upper_bound
from ..values.facts import Operand, TupleOperand, Value, is_poisoned

# ---------------------------------------------------------------------------------------------------- binding

def unify(
    ctx: Context, pairs: Sequence[tuple[TypeExpression, Value]], bindings: Bindings, name: str, span: Span, notes: tuple[str, ...]
) -> bool:  # fmt: skip
    """Bind the variables of the types of parameters to the sizes, shapes and elements of the arguments of `name`; False after an
    error.

    Lengths bind first, then the bounds of elements, so that `idx<n>` takes n from an axis."""
    unifier = _Unifier(bindings)
    if not _unify_all(ctx, pairs, unifier, name, span):
        return False
    limited = [(array.element.args[0], _above(x.type.element)) for pair in pairs for array, x in paired(*pair) if _is_idx(array)]
    unifier.finish([(bound, above) for bound, above in limited if above is not None])
    for least, size in unifier.offsets:
        message = f"`{name}` needs an axis of {least} or more items, but this one has {size}"
        if not ctx.builder.require(Obligation(SizeFact(Relation.AT_MOST, least, size), Code.E201, span, message, notes=notes)):
            return False
    return True


def _unify_all(
    ctx: Context, pairs: Sequence[tuple[TypeExpression, Value]], unifier: _Unifier, name: str, span: Span
) -> bool:  # fmt: skip
    """Unify parameters `(k)` first, since the sizes of others may depend on them."""
    ordered = sorted(pairs, key=lambda pair: not (isinstance(pair[0], ArrayTypeExpression) and pair[0].given is not None))
    return all(_unify(ctx, node, value, unifier, name, span) for node, value in ordered)


def _unify(ctx: Context, node: TypeExpression, value: Value, unifier: _Unifier, name: str, span: Span) -> bool:
    if isinstance(node, TupleTypeExpression):
        if not isinstance(value, TupleOperand) or len(value.items) != len(node.items):
            count = len(node.items)
            shown = f"`({' ⋄ '.join('abcdefgh'[:count])})`"
            notes = (f"write {shown}, not a vector of them",)
            ctx.error(Code.E305, f"`{name}` takes a tuple of {count} items here", span, notes=notes)
            return False
        return _unify_all(ctx, list(zip(node.items, value.items, strict=True)), unifier, name, span)
    if not isinstance(value, Operand):
        ctx.error(Code.E305, f"`{name}` takes an array here, not a tuple", span)
        return False
    bindings, rank = unifier.bindings, value.type.rank
    if node.given is not None:
        return _bind_given(ctx, node.given, value, bindings, name, span)
    _bind_element(ctx, node.element, value, bindings)
    axes = _axes(node, value.type.shape)
    if axes is None:
        least = len(node.shape) - 1
        if any(isinstance(part, ShapeVariable) for part in node.shape):
            needed = f"`{name}` needs at least {'1 axis' if least == 1 else f'{least} axes'} here"
            ctx.error(Code.E131, f"{needed}, but this argument has rank {rank}", span)
        else:
            needed = f"`{name}` takes an array of rank {cell_rank(node)} here"
            ctx.error(Code.E131, f"{needed}, but this item of the tuple has rank {rank}", span, label=show_type(value.type))
        return False
    for part, sizes in axes:
        unifier.bind(part, sizes)
        if isinstance(part, ShapeVariable) and not _shapes_agree(ctx, bindings.shapes[part.name], sizes, part, name, span):
            return False
    return True


def bind_result(ctx: Context, node: TypeExpression, value: Value, bindings: Bindings, span: Span, *, of_operand: bool) -> bool:
    """Bind the k of `k≤n`, and the sizes that only the result of an operand determines; E140 for a runtime size among these."""
    for array, x in paired(node, value):
        for part, sizes in _axes(array, x.type.shape) or ():
            if isinstance(part, BoundedSize):
                bindings.sizes.setdefault(part.name, sizes[0])
            elif of_operand and isinstance(part, SizeName) and not bindings.is_bound(part.name):
                if sizes[0].is_runtime():
                    message = f"this operand's result is declared of one length {part.name}, but only the run knows its length"
                    ctx.error(Code.E140, message, span, label=show_type(x.type))
                    return False
                bindings.sizes[part.name] = sizes[0]
    return True


def paired(node: TypeExpression, value: Value) -> Iterator[tuple[ArrayTypeExpression, Operand]]:
    """The arrays of a type, each with that of the value."""
    if isinstance(node, ArrayTypeExpression):
        yield from ((node, x) for x in (value,) if isinstance(x, Operand))
    elif isinstance(value, TupleOperand):
        for part, item in zip(node.items, value.items, strict=False):
            yield from paired(part, item)


def cell_rank(node: TypeExpression) -> int | None:
    """The number of axes of an array type; None for a tuple, and with a shape variable."""
    if isinstance(node, TupleTypeExpression) or any(isinstance(part, ShapeVariable) for part in node.shape):
        return None
    return len(_items(node))


def _is_idx(node: ArrayTypeExpression) -> bool:
    return node.element.name == "idx"


def _items(node: ArrayTypeExpression) -> tuple[ShapeItem, ...]:
    return node.element.args if node.element.name == "perm" and node.element.args else node.shape


def _axes(node: ArrayTypeExpression, shape: Sequence[Size]) -> list[tuple[ShapeItem, tuple[Size, ...]]] | None:
    """The items of the shape of a type, each with the sizes that it stands for; None if there are too few or too many."""
    items = _items(node)
    at = next((at for at, part in enumerate(items) if isinstance(part, ShapeVariable)), None)
    taken = 1 if at is None else len(shape) - len(items) + 1
    if len(items) - 1 + taken != len(shape) or taken < 0:
        return None
    starts = [axis if at is None or axis <= at else axis + taken - 1 for axis in range(len(items))]
    return [(part, tuple(shape[start : start + (taken if axis == at else 1)])) for axis, (part, start) in
            enumerate(zip(items, starts, strict=True))]  # fmt: skip


def _bind_given(ctx: Context, given: SizeName, value: Operand, bindings: Bindings, name: str, span: Span) -> bool:
    """Bind the k of `(k)` to the integer that the argument is: a size, or one that is bounded (E403)."""
    builder = ctx.builder
    sizes = size_arguments(builder, value, span, f"the size {given.name} of `{name}`")
    if sizes is None or not require_natural(builder, sizes, span, f"the size {given.name} of `{name}`"):
        return False
    known = bindings.size(given.name)
    if known is None:
        bindings.sizes[given.name] = sizes[0]
        return True
    message = f"{given.name} of `{name}` is {known} and {sizes[0]}"
    return builder.require(Obligation(SizeFact(Relation.EQUAL, known, sizes[0]), Code.E201, span, message))


def _shapes_agree(
    ctx: Context, known: tuple[Size, ...], shape: tuple[Size, ...], part: ShapeVariable, name: str, span: Span
) -> bool:
    if len(known) != len(shape):
        ctx.error(Code.E101, f"`..{part.name}` of `{name}` stands for {len(known)} axes and for {len(shape)}", span)
        return False
    for a, b in zip(known, shape, strict=True):
        message = f"`..{part.name}` of `{name}` stands for {a} and for {b}"
        if not ctx.builder.require(Obligation(SizeFact(Relation.EQUAL, a, b), Code.E201, span, message)):
            return False
    return True


def _bind_element(ctx: Context, node: ElementName, value: Operand, bindings: Bindings) -> None:
    if node.name in KINDS or node.name in UNITS:
        return
    element = value.type.element
    if node.name in _SIZED_ELEMENTS:
        return
    element = (
        strong(ctx.builder.to_number(value, ctx.builder.span_of(value)).type.element)
        if element.index_bound is not None
        else strong(element)
    )
    element = Element(element.kind, unit=element.unit)
    known = bindings.elements.get(node.name)
    joint = element if known is None else promote(known, element)
    bindings.elements[node.name] = element if joint is None else joint


def _above(element: Element) -> Size | None:
    """The size that bounds all items from above, exclusively; the items are not negative."""
    if element.kind is not Kind.BOOL and element.index_bound is None and (element.low is None or element.low < 0):
        return None
    top = size_range(element)[1]
    return None if top is None else top + ONE


def sizes_bound_by(parameters: Sequence[ArrayTypeExpression]) -> frozenset[str]:
    """The size names that arguments of these types always bind."""
    unifier = _Unifier(Bindings({}))
    bindings, some = unifier.bindings, variable(SizeVariable("", -1, SizeOrigin.RIGID))
    bindings.sizes.update({array.given.name: some for array in parameters if array.given is not None})
    for array in parameters:
        for part in dict.fromkeys((*_items(array), *array.shape)):  # `perm<n>[m]` is E011 for its brackets, not for m
            unifier.bind(part, (some,))
    unifier.finish([(array.element.args[0], some) for array in parameters if _is_idx(array)])
    return frozenset([*bindings.sizes, *[ITEMS + name for name in bindings.shapes]])


@dataclass(slots=True)
class _Unifier:
    """Binds sizes to their parts of shapes.  `bounds`: size expressions n of `k≤n`, each with the size that it gets if no shape
    binds it; `products`: those of which several names are not bound yet; `offsets`: the least sizes that axes such as `n+3` have,
    with those that they have here."""

    bindings: Bindings
    bounds: list[tuple[SizeExpression, Size]] = field(default_factory=list)
    products: list[tuple[SizeExpression, Size]] = field(default_factory=list)
    offsets: list[tuple[Size, Size]] = field(default_factory=list)

    def bind(self, node: ShapeItem, sizes: tuple[Size, ...]) -> None:
        """Bind `..s`, `n`, `(c×n)+c'` or `(c×n)-c'` (if c divides), unless it is bound; other expressions are left to
        obligations."""
        match node:
            case ShapeVariable():
                self.bindings.shapes.setdefault(node.name, sizes)
            case SizeName():
                if self.bindings.size(node.name) is None:
                    self.bindings.sizes[node.name] = sizes[0]
            case BoundedSize():
                self.bindings.sizes.setdefault(node.name, sizes[0])
                self.bounds.append((node.bound, upper_bound(sizes[0])))
            case SizeCall():
                linear = _linear(node, self.bindings)
                if linear is None:
                    self.products.append((node, sizes[0]))
                else:
                    name, factor, offset = linear
                    self.bindings.sizes.setdefault(name, quotient(sizes[0] - offset, factor))
                    self.offsets.append((offset, sizes[0]))
            case _:
                pass

    def finish(self, limits: Sequence[tuple[ShapeItem, Size]]) -> None:
        """Bind the d of `h×d` whose h is bound, then what no shape has bound: the n of `k≤n`, and `limits`, those of `idx<n>`."""
        for _ in range(len(self.products)):
            products, self.products = self.products, []
            for node, size in products:
                self.bind(node, (size,))
        for bound, size in (*self.bounds, *limits):
            self.bind(bound, (size,))


def _linear(node: SizeExpression, bindings: Bindings) -> tuple[str, Size, Size] | None:
    """(name, factor, offset) of `(c×n)±c'` with one unbound name; a factor is a number or a size that is bound."""
    unbound = {size.name for size in sizes_of(node) if bindings.size(size.name) is None}
    if len(unbound) != 1:
        return None
    (name,), unknown = unbound, SizeVariable("", -2, SizeOrigin.RIGID)
    value = size_expression(None, node, lambda size: bindings.size(size.name) or variable(unknown))
    if value is None:
        return None
    offset = value.substitute({unknown: ZERO})
    factor = value.substitute({unknown: ONE}) - offset
    is_linear = value == variable(unknown) * factor + offset and (factor.constant is None or factor.constant >= 1)
    return (name, factor, offset) if is_linear else None


# ---------------------------------------------------------------------------------------------------- conforming
#
# Checks a value against a declared type and converts it where it widens.

_ONE_MASK = "select from all arguments with the same mask: `(m⌿x) … m⌿y`"


def conform(
    ctx: Context, value: Value, expected: DeclaredType, span: Span, what: str, notes: tuple[str, ...] = ()
) -> Value:  # fmt: skip
    """`value` as one of the declared type; E200, E201 for sizes, E300, E301, E302 for elements."""
    if is_poisoned(value):
        return ctx.builder.poison(span)
    if isinstance(expected, TupleType):
        if not isinstance(value, TupleOperand) or len(value.items) != len(expected.items):
            return ctx.error(Code.E305, f"{what} is declared a tuple of {len(expected.items)} items, but this is not one", span)
        pairs = zip(value.items, expected.items, strict=True)
        items = [conform(ctx, item, type_, span, what, notes) for item, type_ in pairs]
        return ctx.builder.poison(span) if any(is_poisoned(item) for item in items) else TupleOperand(tuple(items))
    if isinstance(value, TupleOperand):
        return ctx.error(Code.E305, f"{what} is declared {show_type(expected)}, but this is a tuple", span)
    if value.type.rank != expected.rank:
        return ctx.error(
            Code.E200,
            f"{what} is declared {show_type(expected)}, but this has rank {value.type.rank}: it can never work",
            span,
            label=show_type(value.type),
            notes=notes,
        )
    for a, b in zip(value.type.shape, expected.shape, strict=True):
        fact = SizeFact(Relation.EQUAL, a, b)
        message = f"{what} is declared {show_type(expected)}, but this is {show_type(value.type)}"
        if a.is_runtime() and b.constant is None and not b.is_runtime():
            notes = (*notes, _ONE_MASK)
        if not ctx.builder.require(Obligation(fact, Code.E201, span, message, notes=notes)):
            return ctx.builder.poison(span)
    return element_as(ctx, value, expected, span, what)


def element_as(ctx: Context, x: Operand, expected: ArrayType, span: Span, what: str) -> Operand:
    """x with the declared element type, if it widens to it."""
    element = expected.element
    if element.index_bound is not None:
        return _position_as(ctx, x, element, expected.permutation, span, what)
    actual = x.type.element
    if Kind.CHAR in (actual.kind, element.kind) and actual.kind is not element.kind:
        return ctx.error(Code.E300, f"{what} is declared {element.kind.value}, but this is {show_element(plain(actual))}", span)
    if not common_unit(actual.unit, element.unit)[0]:
        declared, given = show_element(plain(element)), show_element(plain(actual))
        conversion = f"⎕{declared}" if element.unit is not None else declared
        message = f"{what} is declared {declared}, but this is {given}"
        back = f", and `⎕{given} i64 ⌊y` converts a result back" if element.unit is None and element.kind.is_float else ""
        return ctx.error(Code.E301, message, span, notes=(f"`{conversion} x` converts{back}",))
    number = ctx.builder.to_number(x, span)
    actual = number.type.element
    if not widens(actual, element):
        low, high = integer_range(actual)
        if (
            actual.weak
            and low is not None
            and not actual.kind.is_float
            and not actual.kind.is_complex
            and not fits(actual, element.kind)
        ):
            shown = low if low == high else f"{low}..{high}"
            return ctx.error(Code.E302, f"{str(shown).replace('-', '¯')} does not fit {element.kind.value}", span)
        fixes = _conversion(ctx, x, element.kind, span)
        return ctx.error(
            Code.E301,
            f"{what} is declared {element.kind.value}, and {actual.kind.value} does not narrow to it by itself",
            span,
            notes=() if fixes else (f"write `{element.kind.value} …` to convert (checked when it runs)",),
            fixes=fixes,
        )
    if not _within_range(ctx, number, element, span, what, show_type(x.type)):
        return ctx.builder.poison(span)
    return ctx.builder.convert(number, element.kind, span)


def _within_range(ctx: Context, x: Operand, element: Element, span: Span, what: str, label: str) -> bool:
    """Is x within the declared `int<…>`?  E302, or E201 where the upper bound is a size."""
    low, high = integer_range(x.type.element)
    exact = x.static if isinstance(x.static, Size) else None
    if element.low is not None and not (low is not None and low >= element.low):
        least = str(element.low).replace("-", "¯")
        if exact is None or not ctx.builder.at_most(size_number(element.low), exact):
            ctx.error(Code.E302, f"{what} is declared at least {least}, but this may be less", span, label=label)
            return False
    if element.high is not None and not (high is not None and high <= element.high):
        most = str(element.high).replace("-", "¯")
        ctx.error(Code.E302, f"{what} is declared at most {most}, but this may be more", span, label=label)
        return False
    if element.symbolic_max is None:
        return True
    top = exact or size_range(x.type.element)[1]
    if top is None or (exact is None and ctx.builder.at_most(top, element.symbolic_max) is False):
        may = "more" if top is None else str(top)
        ctx.error(Code.E302, f"{what} is declared at most {element.symbolic_max}, but this may be {may}", span, label=label)
        return False
    message = f"{what} is declared at most {element.symbolic_max}, but this may be {top}"
    return ctx.builder.require(Obligation(SizeFact(Relation.AT_MOST, top, element.symbolic_max), Code.E201, span, message))


def _conversion(ctx: Context, x: Operand, kind: Kind, span: Span) -> tuple[Fix, ...]:
    """The fix by an explicit conversion, written around the value itself."""
    text = ctx.builder.text(span)
    if ctx.builder.source_names.uses.get(x.value) != span or not text:
        return ()
    last = ctx.builder.text(Span(span.file, span.end, span.end + 1)) in ("", "\n")
    converted = f"{kind.value} {text}" if last else f"({kind.value} {text})"
    return (Fix(f"convert it: `{converted}` (checked when it runs)", (Edit(span, converted),)),)


def _position_as(ctx: Context, x: Operand, element: Element, permutation: bool, span: Span, what: str) -> Operand:
    assert element.index_bound is not None
    actual = x.type.element
    if permutation and not x.type.permutation:
        return ctx.error(
            Code.E301, f"{what} is declared a permutation, but this is not known to be one", span, label=show_type(x.type)
        )
    if actual.index_bound is not None:
        below = actual.index_bound, element.index_bound
        if ctx.builder.at_most(*below) is True or is_below_if_any(ctx.builder, x, *below):
            return x
        return ctx.error(Code.E310, f"{what} is declared idx<{element.index_bound}>, but this is idx<{actual.index_bound}>", span)
    stored = ctx.builder.to_position(x, span)
    if stored.type.element.kind is Kind.I64 and is_inside(ctx.builder, stored, element.index_bound):
        return ctx.builder.with_type(stored, ArrayType(element, stored.type.shape))
    return ctx.error(
        Code.E310,
        f"{what} is declared idx<{element.index_bound}>, but this is not known to be in that range",
        span,
        label=show_type(x.type),
        fixes=_limited(ctx, x, element.index_bound, span),
    )


def _limited(ctx: Context, x: Operand, bound: Size, span: Span) -> tuple[Fix, ...]:
    """The fix that limits an integer to the positions of an axis that has some, written around the value itself."""
    builder, origin = ctx.builder, ctx.builder.index_origin
    text, named = builder.text(span), {SizeOrigin.INPUT, SizeOrigin.PARAM}
    if builder.source_names.uses.get(x.value) != span or not text or not x.type.element.kind.is_integer:
        return ()
    if any(size.origin not in named for size in bound.variables()) or not builder.at_most(ONE, bound):
        return ()
    limited = f"{origin}⌈{operand(bound - 1 + origin)}⌊{text}"
    last = builder.text(Span(span.file, span.end, span.end + 1)) in ("", "\n")
    limited = limited if last else f"({limited})"
    return (Fix(f"limit it to the positions there are: `{limited}`", (Edit(span, limited),)),)


# ---------------------------------------------------------------------------------------------------- well-formedness
#
# The parameters, variables and classes of a signature, and whether its arguments determine every size.

_SIZED_ELEMENTS = ("idx", "int", "perm", GIVEN)


def parameters(signature: program.Signature) -> list[Parameter]:
    return [p for p in (signature.left, signature.right) if p is not None]


def parameter_arrays(signature: program.Signature) -> list[ArrayTypeExpression]:
    return [array for p in parameters(signature) for array in arrays(p.type)]


def shape_variables(signature: program.Signature) -> frozenset[str]:
    """The names of the parameters' shape variables."""
    parts = [part for array in parameter_arrays(signature) for part in array.shape]
    return frozenset(part.name for part in parts if isinstance(part, ShapeVariable))


def element_classes(signature: program.Signature) -> dict[str, str | None]:
    """The element variables of the parameters and their classes."""
    classes: dict[str, str | None] = {}
    for array in parameter_arrays(signature):
        name = array.element.name
        if name not in KINDS and name not in UNITS and name not in _SIZED_ELEMENTS:
            classes[name] = None
    for node in signature.where:
        if node.right is None and isinstance(node.left, SizeName) and node.left.name in classes:
            classes[node.left.name] = node.relation
    return classes


def well_formed(ctx: Context, signature: program.Signature, params: Collection[str], existential: Collection[str]) -> bool:
    """E011 for an unknown element type, E121 for two shape variables in one shape, E122 for a size that no argument
    determines and no fact defines."""
    for inner in signature.operands:
        outside = determined(signature) | frozenset(params)
        for size, _ in _sizes([*parameter_arrays(inner), *arrays(inner.result)], outside, outside):
            unknown = next((name for name in sizes_of(size) if name.name not in outside), None)
            if unknown is not None:
                undetermined(ctx, unknown)
                return False
    elements = [array.element for array in (*parameter_arrays(signature), *arrays(signature.result))]
    for array in arrays(signature.result):
        if array.given is not None:
            ctx.error(Code.E011, "an integer that gives a size is a parameter, not a result", array.span)
            return False
    mistaken = dict.fromkeys([element.name for element in elements if _is_mistaken(element)])
    for name in mistaken:
        reject_element(ctx, [element for element in elements if element.name == name])
    if mistaken:
        return False
    good = True
    for node in (*[p.type for p in parameters(signature)], signature.result):
        for array in arrays(node):
            variables = [part for part in array.shape if isinstance(part, ShapeVariable)]
            if len(variables) > 1:
                names = " and ".join([f"..{v.name}" for v in variables])
                ctx.error(Code.E121, f"{names} cannot be told apart: one shape has at most one shape variable", variables[1].span)
                good = False
    known = determined(signature) | frozenset(params)
    defined = known | frozenset(existential)
    opened = frozenset(part.name for array in arrays(signature.result) for part in bounded_sizes(array))
    shapes = shape_variables(signature)
    reported: set[str] = set()
    for size, named in (
        *_sizes(parameter_arrays(signature), known, known),
        *_sizes(arrays(signature.result), defined, defined | opened),
        *[(side, defined) for fact in signature.where if fact.right is not None for side in (fact.left, fact.right)],
    ):
        unknown = next((name for name in sizes_of(size) if name.name not in named), None)
        if unknown is not None and unknown.name not in reported:
            undetermined(ctx, unknown)
            reported.add(unknown.name)
    for array in arrays(signature.result):
        for part in array.shape:
            if isinstance(part, ShapeVariable) and part.name not in shapes:
                ctx.error(Code.E122, f"..{part.name} is not determined by any argument", part.span)
                good = False
    return good and not reported


def _is_mistaken(element: ElementName) -> bool:
    """Is this a misspelt or foreign element type, and not an element variable?"""
    return element.name not in KINDS.keys() | UNITS.keys() and not element.args and meant_element(element.name) is not None


def determined(signature: program.Signature) -> frozenset[str]:
    """The sizes that arguments determine, and those that the result of an operand determines."""
    results = [array for operand in signature.operands for array in arrays(operand.result)]
    return sizes_bound_by(parameter_arrays(signature)) | {
        part.name for array in results for part in array.shape if isinstance(part, SizeName)
    }


def rigid(array: ArrayTypeExpression) -> list[str]:
    """The names of the rigid sizes of a type, in order of occurrence."""
    parts = [part for part in (*array.element.args, *array.shape) if not isinstance(part, ShapeVariable)]
    sizes = [size.name for part in parts for size in sizes_of(part.bound if isinstance(part, BoundedSize) else part)]
    return [name for name in sizes if not name.startswith(ITEMS)]


def bounded_sizes(array: ArrayTypeExpression) -> list[BoundedSize]:
    """The `k≤d` of a type, which are runtime sizes."""
    return [part for part in (*array.element.args, *array.shape) if isinstance(part, BoundedSize)]


def _sizes(
    arrays: Sequence[ArrayTypeExpression], known: frozenset[str], of_items: frozenset[str]
) -> Iterator[tuple[SizeExpression, frozenset[str]]]:  # fmt: skip
    """Every size whose names must be determined, in order, with the names that it may use: of an item those of `of_items`."""
    for array in arrays:
        for part in (*array.element.args, *array.shape):
            if isinstance(part, BoundedSize):
                yield part.bound, known
            elif not isinstance(part, ShapeVariable):
                yield part, of_items


def sizes_of(node: SizeExpression) -> Iterator[SizeName]:
    """The names in a size, from left to right."""
    stack: list[SizeExpression] = [node]
    while stack:
        part = stack.pop()
        if isinstance(part, SizeName):
            yield part
        elif isinstance(part, SizeCall):
            stack.extend(reversed(part.args))


# ---------------------------------------------------------------------------------------------------- existential sizes
#
# Sizes that occur in facts alone: `n = r×k` states that k divides n, `n = 2*p` that n is a power of 2.
#
# A size that no argument determines is eliminated before anything else uses the facts: an equality in which one such name occurs
# once defines it, and states when it exists.  It may also occur in other facts and in the result's type.  A product of two such
# names that occur nowhere else states nothing.

Known = Callable[[SizeName], bool]
Definitions = Mapping[str, SizeExpression]
_Size = SizeExpression


def solved(signature: program.Signature, params: Collection[str]) -> tuple[program.Signature, Definitions]:
    """The signature with what its facts say about the sizes that its arguments determine, and the definitions of the others."""
    if not signature.where:
        return signature, {}
    known = determined(signature) | frozenset(params)
    where, definitions = solve_existentials(signature.where, lambda size: size.name in known)
    return replace(signature, where=where), definitions


def solve_existentials(where: Sequence[Fact], given: Known) -> tuple[tuple[Fact, ...], Definitions]:
    """The facts in terms of given sizes and of the existential ones that they define, and the definitions of these."""
    facts = list(where)
    definitions: dict[str, SizeExpression] = {}

    def known(size: SizeName) -> bool:
        return given(size) or size.name in definitions

    changed = True
    while changed:
        changed = False
        for at, fact in enumerate(facts):
            if fact.relation != "=" or fact.right is None:
                continue
            others = facts[:at] + facts[at + 1 :]
            for side, other in ((fact.left, fact.right), (fact.right, fact.left)):
                solution = _equality(fact, side, other, others, known)
                if solution is not None:
                    others = _powers_of(side, other, others)
                    facts = [*others[:at], fact, *others[at:]]
                    break
            else:
                continue
            conditions, name, value = solution
            facts = [*facts[:at], *conditions, *facts[at + 1 :]]
            if name is not None and value is not None:
                definitions[name] = value
            changed = True
            break
    return tuple(facts), definitions


def _equality(
    fact: Fact, side: _Size, other: _Size, others: Sequence[Fact], known: Known
) -> tuple[tuple[Fact, ...], str | None, _Size | None] | None:
    """The facts that remain of `side = other`, with the name and value that the equality defines; None if it defines nothing."""
    if not all(known(name) for name in sizes_of(other)):
        return None
    unknown_names = [name.name for name in sizes_of(side) if not known(name)]
    elsewhere = {name for f in others for name in _names_in(f)}
    match side:
        case SizeCall(function="*", args=(SizeNumber() as base, SizeName(name=name) as exponent)):
            if known(exponent) or not all(_is_bound(f, name) for f in others if name in _names_in(f)):
                return None
            return (replace(fact, relation="*", left=base, right=other),), None, None
        case SizeCall(function="×", args=(SizeName(name=x), SizeName(name=y))) if len(set(unknown_names)) == 2:
            return None if {x, y} & elsewhere else ((), None, None)
    if len(unknown_names) != 1:
        return None
    return _solve_linear(fact, side, other, known)


def _powers_of(side: _Size, other: _Size, others: Sequence[Fact]) -> list[Fact]:
    """The other facts after an exponent in `side = other` is eliminated."""
    match side:
        case SizeCall(function="*", args=(SizeNumber() as base, SizeName(name=name))):
            return [_of_powers(f, name, base, other) for f in others]
        case _:
            return list(others)


def _names_in(fact: Fact) -> list[str]:
    return [name.name for part in (fact.left, fact.right) if part is not None for name in sizes_of(part)]


def _is_bound(fact: Fact, name: str) -> bool:
    """Is it a bound of an exponent by a small number, such as `p ≥ 1` or `2 ≤ p`?"""
    for one, other in ((fact.left, fact.right), (fact.right, fact.left)):
        if isinstance(one, SizeName) and one.name == name and isinstance(other, SizeNumber):
            return 0 <= other.value <= 62
    return False


def _of_powers(fact: Fact, name: str, base: SizeNumber, power: _Size) -> Fact:
    """A bound of an exponent as a bound of the power, which is monotonic in it."""
    if name not in _names_in(fact) or fact.right is None:
        return fact
    sides = [replace(x, value=base.value**x.value) if isinstance(x, SizeNumber) else power for x in (fact.left, fact.right)]
    return replace(fact, left=sides[0], right=sides[1])


def _solve_linear(fact: Fact, side: _Size, other: _Size, known: Known) -> tuple[tuple[Fact, ...], str, _Size] | None:
    """Solve `side = other` for the one existential name of `side`, in a sum or as a factor."""
    match side:
        case SizeName():
            return (), side.name, other
        case SizeCall(function="+", args=(a, b)):
            part, rest = (b, a) if _is_known(a, known) else (a, b)
            solution = _solve_linear(fact, part, SizeCall(fact.span, "-", (other, rest)), known)
            enough = replace(fact, relation="≤", left=rest, right=other)
            return None if solution is None else ((enough, *solution[0]), solution[1], solution[2])
        case SizeCall(function="-", args=(a, b)) if _is_known(b, known):
            return _solve_linear(fact, a, SizeCall(fact.span, "+", (other, b)), known)
        case SizeCall(function="×", args=(a, b)):
            part, factor = (b, a) if _is_known(a, known) else (a, b)
            solution = _solve_linear(fact, part, SizeCall(fact.span, "÷", (other, factor)), known)
            divides = replace(fact, relation="∣", left=factor, right=other)
            return None if solution is None else ((divides, *solution[0]), solution[1], solution[2])
        case _:
            return None


def _is_known(size: _Size, known: Known) -> bool:
    return all(known(name) for name in sizes_of(size))
