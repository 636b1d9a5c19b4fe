"""Builds the program of an entry (the definitions that it needs, then the entry) and maps diagnostics back to the entry.

Only the items that the entry mentions, and what these mention, are put before it, in their order, so that each sees what it
saw when it was entered.  A value comes back as an input of its type.  Where a name occurs twice, the inputs have hidden
names and the name is given to each in its place.

Note [Places].  `Layout` remembers which characters of the program are whose; a diagnostic is led back to the entry it is
about, whatever was written around it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import field, replace
from typing import Any, Final, TypeAlias

from ...lang.bind.statement_dependencies import Statement, StatementKind
from ...lang.diagnostics.model import Diagnostic, Edit, Fix, Label
from ...lang.support.records import dataclass
from ...lang.syntax.glyph_input import GlyphText
from ...lang.syntax.lexer import NAME
from ...lang.syntax.source import Source, Span
from ...lang.tree.expressions import SymbolKind
from ...typechecker.elements import Kind

# ---------------------------------------------------------------------------------------------------- items
#
# What a session keeps of the statements it has accepted, in their order.
#
# A value that took computing is kept as an array (`ValueItem`), everything else as text (`TextItem`): functions, modules, and
# values that the checker knows (sizes, literals), which must stay known.  A later item for a name shadows an earlier one, which
# lives on in the items that need it: each holds those that its words stood for when it was entered.  What nothing needs any more
# is gone, so that a statement costs what it needs, whatever was entered before.

@dataclass(frozen=True, slots=True)
class Leaf:
    """One array of a value: the name of the hidden input it comes back as, its type there, and the data."""

    name: str
    type: str
    array: Any = field(compare=False)
    kind: Kind = Kind.F64


@dataclass(frozen=True, slots=True)
class ValueTree:
    """A tuple of values."""

    items: tuple[Kept, ...]


Kept: TypeAlias = Leaf | ValueTree


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
class SessionEntry:
    """Something that was entered and accepted, and what it printed: a text, or only its number of lines where it was long."""

    text: str
    printed: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class SessionState:
    """All of a session, immutable: an entry that fails leaves the state there was.

    `latest`: the item that each name stands for; `types` are the names' types as shown; `sizes` numbers for the sizes of inputs
    and params, `params` which are the latter's; `entered`: how many items there have been; `earlier`: the states before it.
    """

    latest: Mapping[str, Item] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    params: frozenset[str] = frozenset()
    origin: int = 0
    log: tuple[SessionEntry, ...] = ()
    counter: int = 0
    entered: int = 0
    earlier: tuple[SessionState, ...] = ()

    def following(self, before: SessionState) -> SessionState:
        """This state, from which there is a way back to the one before it, unless that would hold much memory."""
        if before.bytes > MOST_BYTES_BACK:
            return replace(self, earlier=())
        return replace(self, earlier=(*before.earlier, replace(before, earlier=()))[-MOST_BACK:])

    def entering(self, items: Iterable[Item], types: dict[str, str]) -> SessionState:
        """The state after these items, each of which sees those before it; `types`: what all names are now shown as."""
        latest, count = dict(self.latest), self.entered
        for item in items:
            count += 1
            if isinstance(item, TextItem):
                needs = {id(item_needed): item_needed for word in item.mentions if (item_needed := latest.get(word)) is not None}
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
    reached: dict[int, Item] = {}
    pending = list(items)
    while pending:
        item = pending.pop()
        if item.number not in reached:
            reached[item.number] = item
            pending += item.needs
    return [reached[number] for number in sorted(reached)]


# ---------------------------------------------------------------------------------------------------- program

SESSION = "<session>"
ANSWER = "ans"
_WORD = re.compile(NAME)


@dataclass(frozen=True, slots=True)
class _EntryPart:
    """Characters `start` to `end` of the program: those of a spelled text from `base` on, or all for the span `origin`."""

    start: int
    end: int
    origin: Span
    glyphs: GlyphText | None = None
    base: int = 0


@dataclass(slots=True)
class EntryLayout:
    """A program as it is put together.  `arrays` are the values of its hidden inputs by name."""

    text: str = ""
    arrays: dict[str, Any] = field(default_factory=dict)
    _parts: list[_EntryPart] = field(default_factory=list)

    def line(self, text: str, origin: Span, glyphs: GlyphText | None = None, base: int = 0) -> None:
        """One more line (or several)."""
        self.add(text, origin, glyphs, base)
        self.text += "\n"

    def add(self, text: str, origin: Span, glyphs: GlyphText | None = None, base: int = 0) -> None:
        self._parts.append(_EntryPart(len(self.text), len(self.text) + len(text), origin, glyphs, base))
        self.text += text

    @property
    def source(self) -> Source:
        return Source(SESSION, self.text)

    # ------------------------------------------------------------------------------------- Note [Places]

    def typed_span(self, span: Span) -> Span:
        """Where what stands here was typed; places in other files stay."""
        if span.file != SESSION:
            return span
        first, last = self._part(span.start), self._part(max(span.start, span.end - 1))
        if first is None or last is None:
            return Span("<repl>", 0, 0) if not self._parts else self._parts[-1].origin
        start, end = _back(first, span.start, False), _back(last, span.end, True)
        if first.origin.file != last.origin.file:
            return first.origin
        return Span(first.origin.file, min(start, end), max(start, end))

    def _part(self, at: int) -> _EntryPart | None:
        nearest = None
        for part in self._parts:
            if part.start <= at:
                nearest = part
        return nearest

    def diagnostic(self, diagnostic: Diagnostic) -> Diagnostic:
        """A diagnostic of the program as one of what was typed."""
        labels = tuple([Label(self.typed_span(label.span), label.message) for label in diagnostic.labels])
        fixes = tuple(
            [Fix(fix.title, tuple([Edit(self.typed_span(edit.span),
            edit.text) for edit in fix.edits])) for fix in diagnostic.fixes]
        )
        return replace(diagnostic, span=self.typed_span(diagnostic.span), labels=labels, fixes=fixes)


def _back(part: _EntryPart, offset: int, end: bool) -> int:
    if part.glyphs is None:
        return part.origin.end if end else part.origin.start
    inside = part.base + min(max(offset, part.start), part.end) - part.start
    if inside > len(part.glyphs.text):
        return part.origin.end
    span = part.glyphs.span(min(inside, len(part.glyphs.text)), min(inside, len(part.glyphs.text)))
    return span.start


def needed(state: SessionState, mentions: Collection[str]) -> list[Item]:
    """The items that words stand for, and those that these items need, in their order."""
    return closure([item for word in mentions if (item := state.latest.get(word)) is not None])


def before(state: SessionState, mentions: Collection[str], hidden: bool = False) -> EntryLayout:
    """A program of what an entry that mentions these words needs; `hidden`: it declares inputs of its own."""
    layout = EntryLayout()
    if state.origin:
        layout.line("⎕IO←1", Span("<repl>", 0, 0))
    items = needed(state, mentions)
    names = [name for item in items for name in item.names]
    for item in items:
        if isinstance(item, TextItem):
            layout.line(item.text, item.origin)
        else:
            _give(layout, item, hidden or names.count(item.name) > 1)
    return layout


def _give(layout: EntryLayout, item: ValueItem, hidden: bool) -> None:
    value = item.value
    if isinstance(value, Leaf) and not hidden:
        layout.arrays[item.name] = value.array
        layout.line(f"input {item.name} : {value.type}", item.origin)
        return
    for leaf in leaves(value):
        layout.arrays[leaf.name] = leaf.array
        layout.line(f"input {leaf.name} : {leaf.type}", item.origin)
    layout.line(f"{item.name} ← {written(value)}", item.origin)


def put(layout: EntryLayout, state: SessionState, statement: Statement, glyphs: GlyphText, text: str | None = None) -> None:
    """A statement of an entry, or `text` in its place; sizes of the session become numbers in its types."""
    statement_span = glyphs.span(statement.start, statement.end)
    if text is not None:
        layout.line(text, statement_span)
        return
    at = 0
    for match in _sizes(state, statement):
        name = match.group()
        layout.add(statement.text[at : match.start()], statement_span, glyphs, statement.start + at)
        layout.add(str(state.sizes[name]), glyphs.span(statement.start + match.start(), statement.start + match.end()))
        at = match.end()
    layout.line(statement.text[at:], statement_span, glyphs, statement.start + at)


def with_sizes(state: SessionState, statement: Statement, glyphs: GlyphText) -> str:
    """The text of a statement with numbers for the sizes of the session in its types."""
    layout = EntryLayout()
    put(layout, state, statement, glyphs)
    return layout.text.removesuffix("\n")


def _sizes(state: SessionState, statement: Statement) -> list[re.Match[str]]:
    """The words of a statement's type that are sizes of the session."""
    head, colon, rest = statement.text.partition(":")
    if not colon or not state.sizes or statement.kind not in (StatementKind.BINDING, StatementKind.INPUT) or not _declares(head):
        return []
    first = len(head) + 1
    known: Mapping[str, int] = state.sizes
    text = rest.partition("←")[0]
    if "→" in text:
        known = {name: size for name, size in state.sizes.items() if name in state.params}
        text = rest.partition("\n")[0].partition("⋄")[0]
    return [match for match in _WORD.finditer(statement.text, first, first + len(text)) if match.group() in known]


def _declares(head: str) -> bool:
    return re.fullmatch(rf"\s*(?:input\s+)?{NAME}\s*", head) is not None
