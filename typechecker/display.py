"""How types are written: `f64[n 3]`, `idx<n>[n]`, `perm<n>`, `f64[k≤n 2]`; a scalar is its element.

Neighbours: `elements.show_element`, `size_text`.
"""

from __future__ import annotations

from collections.abc import Sequence

from .elements import show_element
from .sizes import Size, SizeOrigin, SizeVariable
from .types import ArrayType


def show_type(type: ArrayType) -> str:
    """A type in the notation of types.md."""
    if type.permutation:
        return f"perm<{type.shape[0]}>"
    if not type.shape:
        return show_element(type.element)
    return f"{show_element(type.element)}{show_shape(type.shape)}"


def show_shape(shape: Sequence[Size]) -> str:
    """`[n 3]`; a lone run-time size shows its cap: `[k≤n]`."""
    return f"[{' '.join(_show_size(s) for s in shape)}]"


def _show_size(size: Size) -> str:
    lone = _lone(size)
    if lone is not None and lone.origin is SizeOrigin.RUNTIME and lone.cap is not None:
        return f"{lone}≤{lone.cap}"
    return str(size)


def _lone(size: Size) -> SizeVariable | None:
    if len(size.terms) == 1 and size.terms[0][1] == 1 and len(size.terms[0][0]) == 1:
        atom, power = size.terms[0][0][0]
        if power == 1 and isinstance(atom, SizeVariable):
            return atom
    return None
