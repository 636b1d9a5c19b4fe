"""How types are written: `f64[n 3]`, `idx<n>[n]`, `perm<n>`, `f64[k≤n 2]`; a scalar is its element.

Neighbours: `elements.show_element`, `size_text`.
"""

from __future__ import annotations

from collections.abc import Sequence

from .elements import show_element
from .size_text import show_short
from .sizes import Size, capacity
from .types import ArrayType


def show_type(type: ArrayType) -> str:
    """A type in the notation of types.md."""
    if type.permutation:
        return f"perm<{show_short(type.shape[0])}>"
    if not type.shape:
        return show_element(type.element)
    return f"{show_element(type.element)}{show_shape(type.shape)}"


def show_shape(shape: Sequence[Size]) -> str:
    """`[n 3]`; a size known only at run time shows its cap: `[k≤n]`, `[k+k2≤2·n]`."""
    return f"[{' '.join(_show_size(s) for s in shape)}]"


def _show_size(size: Size) -> str:
    return f"{show_short(size)}≤{show_short(capacity(size))}" if size.is_runtime() else show_short(size)
