"""What a session keeps of the statements it has accepted, in their order.

A value that took computing is kept as an array (`ValueItem`), everything else as text (`TextItem`): functions, modules, and
values that the checker knows (sizes, literals), which must stay known.  A later item for a name shadows an earlier one, which
lives on in the items that need it: each holds those that its words stood for when it was entered.  What nothing needs any more
is gone, so that a statement costs what it needs, whatever was entered before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from ...lang.definitions import SymbolKind
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
    """Statements as they were typed.  `names` are what they bind, `mentions` the words in them that they do not bind themselves,
    `needs` the items that these stand for, `number` their place among all that was entered."""

    names: tuple[str, ...]
    text: str
    mentions: frozenset[str]
    origin: Span
    number: int = 0
    needs: tuple[Item, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ValueItem:
    """A name for a value that has been computed; `origin` is the statement that did."""

    name: str
    value: Kept
    origin: Span
    number: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name,)

    @property
    def needs(self) -> tuple[Item, ...]:
        return ()


Item: TypeAlias = TextItem | ValueItem


def leaves(value: Kept) -> list[Leaf]:
    """The arrays of a value."""
    return [value] if isinstance(value, Leaf) else [leaf for item in value.items for leaf in leaves(item)]


def written(value: Kept) -> str:
    """An expression for the value: names of inputs, `(a ⋄ b)` for a tuple."""
    return value.name if isinstance(value, Leaf) else "(" + " ⋄ ".join(written(item) for item in value.items) + ")"


_KINDS = {"function": SymbolKind.FUNCTION, "operator": SymbolKind.OPERATOR, "module": SymbolKind.MODULE}
MOST_BACK: Final = 20
MOST_BYTES_BACK: Final = 64 << 20
"""Entries that can be taken back, and the bytes of values that one of them may keep alive."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that was entered and accepted, and what it printed: a text, or only its number of lines where it was long."""

    text: str
    printed: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class State:
    """All of a session, immutable: an entry that fails leaves the state there was.

    `latest`: the item that each name stands for; `types` are the names' types as shown; `sizes` numbers for the sizes of inputs
    and params, `params` which are the latter's; `entered`: how many items there have been; `earlier`: the states before it.
    """

    latest: Mapping[str, Item] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    params: frozenset[str] = frozenset()
    origin: int = 0
    log: tuple[Entry, ...] = ()
    counter: int = 0
    entered: int = 0
    earlier: tuple[State, ...] = ()

    def following(self, before: State) -> State:
        """This state, from which there is a way back to the one before it, unless that would hold much memory."""
        if before.bytes > MOST_BYTES_BACK:
            return replace(self, earlier=())
        return replace(self, earlier=(*before.earlier, replace(before, earlier=()))[-MOST_BACK:])

    def entering(self, items: Iterable[Item], types: dict[str, str]) -> State:
        """The state after these items, each of which sees those before it; `types`: what all names are now shown as."""
        latest, count = dict(self.latest), self.entered
        for item in items:
            count += 1
            if isinstance(item, TextItem):
                needs = {id(found): found for word in item.mentions if (found := latest.get(word)) is not None}
                item = replace(item, number=count, needs=tuple(needs.values()))
            else:
                item = replace(item, number=count)
            latest.update(dict.fromkeys(item.names, item))
        return replace(self, latest=latest, types=types, entered=count)

    @property
    def kinds(self) -> dict[str, SymbolKind]:
        """What the names are."""
        kinds = {name: _KINDS.get(type_, SymbolKind.ARRAY) for name, type_ in self.types.items()}
        return kinds | dict.fromkeys(self.params, SymbolKind.PARAM)

    @property
    def items(self) -> list[Item]:
        """All that lives, in its order."""
        return closure(self.latest.values())

    @property
    def bytes(self) -> int:
        """Of all arrays that are kept."""
        return sum(leaf.array.nbytes for item in self.items if isinstance(item, ValueItem) for leaf in leaves(item.value))


def closure(items: Iterable[Item]) -> list[Item]:
    """These items and all that they need, in the order in which they were entered."""
    found: dict[int, Item] = {}
    pending = list(items)
    while pending:
        item = pending.pop()
        if item.number not in found:
            found[item.number] = item
            pending += item.needs
    return [found[number] for number in sorted(found)]
