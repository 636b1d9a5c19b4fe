"""Signatures as text, for messages."""

from __future__ import annotations

from ...lang import program_tree
from ...lang.type_tree import (
    BoundedSize,
    ShapeItem,
    ShapeVariable,
    SizeCall,
    SizeName,
    SizeNumber,
    TupleTypeExpression,
    TypeExpression,
)


def show_signature(signature: program_tree.Signature) -> str:
    """A signature as it could be written."""
    parts = [_show(p.type) for p in (signature.left, signature.right) if p is not None]
    return " → ".join([*parts, _show(signature.result)])


def _show(node: TypeExpression) -> str:
    if isinstance(node, TupleTypeExpression):
        return "(" + " ⋄ ".join([_show(item) for item in node.items]) + ")"
    element = node.element.name
    if node.element.args:
        element += "<" + "..".join([show_size(arg) for arg in node.element.args]) + ">"
    return element + (f"[{' '.join([show_size(part) for part in node.shape])}]" if node.shape else "")


def show_size(node: ShapeItem) -> str:
    """An item of a shape as it could be written."""
    match node:
        case SizeNumber():
            return str(node.value)
        case SizeName():
            return node.name
        case ShapeVariable():
            return f"..{node.name}"
        case BoundedSize():
            return f"{node.name}≤{show_size(node.bound)}"
        case SizeCall():
            shown = [show_size(arg) if not isinstance(arg, SizeCall) else f"({show_size(arg)})" for arg in node.args]
            return node.function.join(shown) if len(shown) == 2 else node.function + shown[0]
