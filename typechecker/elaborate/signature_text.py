"""Signatures as text, for messages."""

from __future__ import annotations

from ...lang import tree


def show_signature(signature: tree.Signature) -> str:
    """A signature as it could be written."""
    parts = [_show(p.type) for p in (signature.left, signature.right) if p is not None]
    return " → ".join([*parts, _show(signature.result)])


def _show(node: tree.TypeExpression) -> str:
    if isinstance(node, tree.TupleTypeExpression):
        return "(" + " ⋄ ".join([_show(item) for item in node.items]) + ")"
    element = node.element.name
    if node.element.args:
        element += "<" + "..".join([_show_size(arg) for arg in node.element.args]) + ">"
    return element + (f"[{' '.join([_show_size(part) for part in node.shape])}]" if node.shape else "")


def _show_size(node: tree.ShapeItem) -> str:
    match node:
        case tree.SizeNumber():
            return str(node.value)
        case tree.SizeName():
            return node.name
        case tree.ShapeVariable():
            return f"..{node.name}"
        case tree.BoundedSize():
            return f"{node.name}≤{_show_size(node.bound)}"
        case tree.SizeCall():
            shown = [_show_size(arg) if not isinstance(arg, tree.SizeCall) else f"({_show_size(arg)})" for arg in node.args]
            return node.function.join(shown) if len(shown) == 2 else node.function + shown[0]
