"""How types are written: `f64[n 3]`, `idx<n>[n]`, `perm<n>`, `f64[k≤n 2]`; a scalar is its element.

Neighbours: `elements.show_element`, `size_text`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .elements import show_element
from .size_text import show, show_short
from .sizes import Size, capacity, variable
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


# ------------------------------------------------------------------------------ as signatures are written


def names_of_sizes(arguments: Sequence[ArrayType], results: Sequence[ArrayType]) -> dict[Size, str]:
    """What a signature calls the sizes of its results that are known only when run: `k` of `k≤n`; a sum has a name of its own."""
    open_sizes = {size: None for type_ in results for size in _sizes(type_) if size.is_runtime()}
    used = {v.name for type_ in (*arguments, *results) for size in _sizes(type_) for v in size.variables()}
    found: dict[Size, str] = {}
    for size in open_sizes:
        (lone, *others) = size.variables()
        name, count = lone.name, 1
        if others or size != variable(lone):
            while (name := "k" if count == 1 else f"k{count}") in used:
                count += 1
            used.add(name)
        found[size] = name
    return found


def _sizes(type_: ArrayType) -> list[Size]:
    element = type_.element
    return [*type_.shape, *[size for size in (element.below, element.most) if size is not None]]


def show_signature_type(type: ArrayType, names: Mapping[Size, str]) -> str:
    """A type as a signature states it, whole and readable: `names` are those of sizes known only when run."""

    def open_size(size: Size) -> str:
        return f"{names[size]}≤{show(capacity(size))}" if size in names else show(size)

    if type.permutation:
        return f"perm<{open_size(type.shape[0])}>"
    element = type.element
    if element.below is not None:
        said = element.below in type.shape and element.below in names
        text = f"idx<{names[element.below] if said else open_size(element.below)}>"
    elif element.most is not None and element.low is not None and not element.weak:
        most = capacity(element.most) if element.most.is_runtime() else element.most
        text = f"int<{str(element.low).replace('-', '¯')}..{show(most)}>"
    else:
        text = element.kind.value
    return f"{text}[{' '.join(open_size(size) for size in type.shape)}]" if type.shape else text
