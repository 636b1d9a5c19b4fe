"""What a session keeps of the statements it has accepted, in their order.

A value that took computing is kept as an array (`ValueItem`), everything else as text (`TextItem`): functions, modules, and
values that the checker knows (sizes, literals), which must stay known.  A later item for a name shadows an earlier one and
removes nothing: items that mentioned the earlier one still stand between the two.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ...lang.source import Span
from ...typechecker.elements import Kind


@dataclass(frozen=True, slots=True)
class Leaf:
    """One array of a value: the name of the hidden input it comes back as, its type there, and the data."""

    name: str
    type: str
    array: Any = field(compare=False)
    kind: Kind = Kind.F64


@dataclass(frozen=True, slots=True)
class Tree:
    """A tuple of values."""

    items: tuple[Kept, ...]


Kept: TypeAlias = Leaf | Tree


@dataclass(frozen=True, slots=True)
class TextItem:
    """Statements as they were typed.  `names` are what they bind, `mentions` every word in them."""

    names: tuple[str, ...]
    text: str
    mentions: frozenset[str]
    origin: Span


@dataclass(frozen=True, slots=True)
class ValueItem:
    """A name for a value that has been computed; `origin` is the statement that did."""

    name: str
    value: Kept
    origin: Span

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name,)

    @property
    def mentions(self) -> frozenset[str]:
        return frozenset()


Item: TypeAlias = TextItem | ValueItem


def leaves(value: Kept) -> list[Leaf]:
    """The arrays of a value."""
    return [value] if isinstance(value, Leaf) else [leaf for item in value.items for leaf in leaves(item)]


def written(value: Kept) -> str:
    """An expression for the value: names of inputs, `(a ⋄ b)` for a tuple."""
    return value.name if isinstance(value, Leaf) else "(" + " ⋄ ".join(written(item) for item in value.items) + ")"


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that was entered and accepted, and what it printed: a text, or only its number of lines where it was long."""

    text: str
    printed: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class State:
    """All of a session, immutable: an entry that fails leaves the state there was.

    `types` are the names' types as shown; `sizes` numbers for the sizes of inputs and params, `params` which are the latter's.
    """

    items: tuple[Item, ...] = ()
    types: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    params: frozenset[str] = frozenset()
    origin: int = 0
    log: tuple[Entry, ...] = ()
    counter: int = 0

    def latest(self) -> dict[str, int]:
        """The position of the item that each name stands for."""
        return {name: place for place, item in enumerate(self.items) for name in item.names}

    @property
    def bytes(self) -> int:
        """Of all arrays that are kept."""
        return sum(leaf.array.nbytes for item in self.items if isinstance(item, ValueItem) for leaf in leaves(item.value))
