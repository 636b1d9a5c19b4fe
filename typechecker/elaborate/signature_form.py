"""What a signature says by itself: its parameters, variables and classes, and whether its arguments determine every size.

Neighbours: `definitions` checks bodies against signatures; `signatures` binds the same forms at calls.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ...lang import program_tree
from ...lang.codes import Code
from ...lang.type_tree import (
    ArrayTypeExpression,
    BoundedSize,
    ElementName,
    Parameter,
    ShapeVariable,
    SizeCall,
    SizeExpression,
    SizeName,
    TypeExpression,
)
from .context import Context
from .signature_binding import sizes_bound_by
from .type_expressions import KINDS, meant_element, refuse_element

CLASSES = frozenset({"num", "real", "int", "ord"})
_SIZED_ELEMENTS = ("idx", "int", "perm")


def parameters(signature: program_tree.Signature) -> list[Parameter]:
    return [p for p in (signature.left, signature.right) if p is not None]


def arrays(node: TypeExpression) -> list[ArrayTypeExpression]:
    """The arrays of a type, tuples taken apart."""
    if isinstance(node, ArrayTypeExpression):
        return [node]
    found: list[ArrayTypeExpression] = []
    for item in node.items:
        found.extend(arrays(item))
    return found


def parameter_arrays(signature: program_tree.Signature) -> list[ArrayTypeExpression]:
    return [array for p in parameters(signature) for array in arrays(p.type)]


def shape_variables(signature: program_tree.Signature) -> frozenset[str]:
    """The names of the parameters' shape variables."""
    parts = [part for array in parameter_arrays(signature) for part in array.shape]
    return frozenset(part.name for part in parts if isinstance(part, ShapeVariable))


def element_classes(signature: program_tree.Signature) -> dict[str, str | None]:
    """The element variables of the parameters and their classes."""
    found: dict[str, str | None] = {}
    for array in parameter_arrays(signature):
        name = array.element.name
        if name not in KINDS and name not in _SIZED_ELEMENTS:
            found[name] = None
    for node in signature.where:
        if node.relation in CLASSES and isinstance(node.left, SizeName) and node.left.name in found:
            found[node.left.name] = node.relation
    return found


def well_formed(ctx: Context, signature: program_tree.Signature, params: Collection[str]) -> bool:
    """E011 for what is not an element type, E121 for two shape variables in one shape, E122 for what no argument determines."""
    elements = [array.element for array in (*parameter_arrays(signature), *arrays(signature.result))]
    mistaken = dict.fromkeys([element.name for element in elements if _is_mistaken(element)])
    for name in mistaken:
        refuse_element(ctx, [element for element in elements if element.name == name])
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
    opened = frozenset(part.name for array in arrays(signature.result) for part in bounded_sizes(array))
    shapes = shape_variables(signature)
    reported: set[str] = set()
    for size, in_result in _sizes(signature):
        named = known | opened if in_result else known
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
    """Is this a slip or another language's word rather than a variable?"""
    return element.name not in KINDS and not element.args and meant_element(element.name) is not None


def undetermined(ctx: Context, size: SizeName | BoundedSize) -> None:
    """E122 for a size."""
    notes = (f"take {size.name} from the shape of an argument",)
    ctx.error(Code.E122, f"{size.name} is not determined by any argument", size.span, notes=notes)


def determined(signature: program_tree.Signature) -> frozenset[str]:
    """The sizes that the arguments determine."""
    return sizes_bound_by(parameter_arrays(signature))


def bounded_sizes(array: ArrayTypeExpression) -> list[BoundedSize]:
    """The `k≤d` of a type: sizes known only when run."""
    return [part for part in (*array.element.args, *array.shape) if isinstance(part, BoundedSize)]


def _sizes(signature: program_tree.Signature) -> Iterator[tuple[SizeExpression, bool]]:
    """Every size whose names have to be known, in order, and whether it is of the result, which may name the k of its `k≤d`."""
    results = arrays(signature.result)
    for array in (*parameter_arrays(signature), *results):
        for part in (*array.element.args, *array.shape):
            if isinstance(part, BoundedSize):
                yield part.bound, False
            elif not isinstance(part, ShapeVariable):
                yield part, any(array is one for one in results)
    for node in signature.where:
        if node.relation not in CLASSES and node.right is not None:
            yield from ((node.left, False), (node.right, False))


def sizes_of(node: SizeExpression) -> Iterator[SizeName]:
    """The names in a size, from left to right."""
    stack: list[SizeExpression] = [node]
    while stack:
        part = stack.pop()
        if isinstance(part, SizeName):
            yield part
        elif isinstance(part, SizeCall):
            stack.extend(reversed(part.args))
