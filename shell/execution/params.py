"""What `--set` and Python give params: numbers for those that are sizes, arrays for the others.

A param has the type of its default.  Text stands for itself, numbers are written as in Python or in Rho, those of a vector with
blanks or commas between them.

Neighbours: `requests` (the texts), `typechecker.core` (a param that is not a size is an input with a default).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from ...lang import numerals
from ...lang.records import dataclass
from ...typechecker.core import Payload
from ...typechecker.core_blocks import Core, CoreInput
from ...typechecker.display import show_type
from ...typechecker.elements import Kind
from ..cli.arguments import UsageError

_LARGEST = 10**18 - 1
"""Of sizes: sums of a few fit i64."""


@dataclass(frozen=True, slots=True)
class Settings:
    """`sizes` are those that were set, `arrays` all others of the program."""

    sizes: Mapping[str, int] = field(default_factory=dict)
    arrays: Mapping[str, Any] = field(default_factory=dict)


def settings_of(core: Core, texts: Mapping[str, str]) -> Settings:
    """The params of a program, as set on the command line or by default.  UsageError: a text that is not of the type."""
    sizes = {param.name: natural("--set", param.name, texts[param.name]) for param in core.params if param.name in texts}
    return Settings(sizes, {entry.name: _array(core, entry, texts.get(entry.name)) for entry in core.settings})


def natural(option: str, name: str, text: str) -> int:
    """A size, of a param or of data.  UsageError: it is not a natural number, or too large."""
    digits = text.replace("_", "")
    if (number := numerals.natural(digits, _LARGEST)) is not None:
        return number
    what = "this param is a size," if option == "--set" else "a size is"
    which = f"at most {_LARGEST:,}" if digits.isascii() and digits.isdigit() else "a natural number such as 3"
    raise UsageError(f"{option} {name}={text}: {what} {which}")


def _array(core: Core, entry: CoreInput, text: str | None) -> Any:
    type = core.types[entry.value]
    default = entry.default
    assert default is not None
    if text is None:
        known = tuple([size.constant for size in type.shape if size.constant is not None])
        return as_items(default, type.element.kind, known if len(known) == type.rank else (len(default),))
    from ...backend.run.files.cells import Unsuitable, item_of

    kind, shown = type.element.kind, f"--set {entry.name}={text}"
    if kind is Kind.CHAR and type.rank == 1:
        return as_items(tuple(text), kind, (len(text),))
    words = [text] if kind is Kind.CHAR and not type.rank else text.replace(",", " ").split()
    sizes = tuple([size.constant or 0 for size in type.shape])
    try:
        items = tuple([item_of(word, kind) for word in words])
    except Unsuitable as trouble:
        raise UsageError(f"{shown}: {trouble.message}", f"`{entry.name}` is {show_type(type)}") from None
    if len(items) != math.prod(sizes):
        wanted = "1 item" if math.prod(sizes) == 1 else f"{math.prod(sizes)} items"
        raise UsageError(f"{shown}: `{entry.name}` is {show_type(type)}, which has {wanted}, not {len(items)}")
    return as_items(items, kind, sizes)


def as_items(data: tuple[Payload, ...], kind: Kind, shape: tuple[int, ...]) -> Any:
    """A NumPy array of the kind."""
    from ...backend.run.values import Array, to_numpy

    return to_numpy(Array(kind, shape, data))
