"""Builds the program of an entry (the definitions that it needs, then the entry) and maps diagnostics back to the entry.

The program has only the items that the entry mentions, directly or indirectly, in the order in which they were entered, so that
each keeps its meaning.  A value becomes an input of its type.  If a name has several values, the inputs have hidden names, and
the name is bound to each before the items that refer to it.

Note [Spans].  `EntryLayout` records which typed text each part of the program comes from, so that diagnostics point into the
typed text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, TypeAlias

from ...lang.bind.statement_dependencies import Statement, StatementKind
from ...lang.diagnostics.model import Diagnostic, Edit, Fix, Label
from ...lang.support.records import dataclass, field, replace
from ...lang.syntax.glyph_input import GlyphText
from ...lang.syntax.source import NAME, Source, Span
from ...lang.tree.expressions import SymbolKind
from ...typechecker.elements import Kind

# ---------------------------------------------------------------------------------------------------- state
#
# The items that a session has from the statements it accepted, in their order.
#
# A value that was computed is an array (`ValueItem`), everything else is text (`TextItem`): functions, modules, and values that
# the checker knows (sizes, literals), which must stay known to it.  A later item for a name shadows an earlier one, which remains
# in the items that need it: each refers to the items that its words stood for when it was entered.  Items that no other item
# needs are freed.

@dataclass(frozen=True, slots=True)
class Leaf:
    """One array of a value: the name and type of the input that it becomes, and the data."""

    name: str
    type: str
    array: Any = field(compare=False)
    kind: Kind = Kind.F64


@dataclass(frozen=True, slots=True)
class ValueTree:
    """A tuple of values."""

    items: tuple[SessionValue, ...]


SessionValue: TypeAlias = Leaf | ValueTree


@dataclass(frozen=True, slots=True)
class TextItem:
    """Statements as text.  `names`: the names they bind; `mentions`: their free words; `needs`: the items that these refer to;
    `number`: the position among all items that were entered."""

    names: tuple[str, ...]
    text: str
    mentions: frozenset[str]
    origin: Span
    number: int = 0
    needs: tuple[SessionItem, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ValueItem:
    """A name with its computed value; `origin`: the span of the statement that computed it."""

    name: str
    value: SessionValue
    origin: Span
    number: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name,)

    @property
    def needs(self) -> tuple[SessionItem, ...]:
        return ()


SessionItem: TypeAlias = TextItem | ValueItem


def leaves(value: SessionValue) -> list[Leaf]:
    """The arrays of a value."""
    return [value] if isinstance(value, Leaf) else [leaf for item in value.items for leaf in leaves(item)]


def value_expression(value: SessionValue) -> str:
    """An expression for the value: names of inputs, `(a ⋄ b)` for a tuple."""
    return value.name if isinstance(value, Leaf) else "(" + " ⋄ ".join(value_expression(item) for item in value.items) + ")"


_KINDS = {"function": SymbolKind.FUNCTION, "operator": SymbolKind.OPERATOR, "module": SymbolKind.MODULE}
MOST_UNDO: Final = 20
MOST_UNDO_BYTES: Final = 64 << 20
"""The most entries that can be undone, and the bytes of values that earlier states may keep alive."""


@dataclass(frozen=True, slots=True)
class SessionEntry:
    """An accepted entry with its output: texts, or numbers of lines for long ones."""

    text: str
    printed: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class SessionState:
    """The immutable state of a session.

    `latest` has the item that each name refers to, `types` the types of the names as text, `sizes` the numbers of the sizes of
    inputs and params, `params` the names of the latter, `entered` the number of items entered, `earlier` the previous states, for
    undo.
    """

    latest: Mapping[str, SessionItem] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    params: frozenset[str] = frozenset()
    origin: int = 0
    log: tuple[SessionEntry, ...] = ()
    counter: int = 0
    entered: int = 0
    earlier: tuple[SessionState, ...] = ()

    def with_history(self, before: SessionState) -> SessionState:
        """This state with `before` in its history for undo, unless that would keep too much memory alive."""
        if before.bytes > MOST_UNDO_BYTES:
            return replace(self, earlier=())
        return replace(self, earlier=(*before.earlier, replace(before, earlier=()))[-MOST_UNDO:])

    def with_items(self, items: Iterable[SessionItem], types: dict[str, str]) -> SessionState:
        """The state after more items, each of which refers to the ones before it; `types` are those of all names."""
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
        """The kinds of the names, and of names of sizes, which are integers."""
        kinds = {name: _KINDS.get(type_, SymbolKind.ARRAY) for name, type_ in self.types.items()}
        return dict.fromkeys(self.sizes, SymbolKind.ARRAY) | kinds | dict.fromkeys(self.params, SymbolKind.PARAM)

    @property
    def items(self) -> list[SessionItem]:
        """All items that names refer to, directly or indirectly, in order."""
        return dependency_closure(self.latest.values())

    @property
    def bytes(self) -> int:
        """The bytes of all arrays of the session."""
        return sum(leaf.array.nbytes for item in self.items if isinstance(item, ValueItem) for leaf in leaves(item.value))


def dependency_closure(items: Iterable[SessionItem]) -> list[SessionItem]:
    """These items and all that they need, in the order in which they were entered."""
    reached: dict[int, SessionItem] = {}
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
    """The origin of the characters `start` to `end` of the program: the typed text `glyphs` from offset `base` on; if there is
    none, the span `origin` as a whole."""

    start: int
    end: int
    origin: Span
    glyphs: GlyphText | None = None
    base: int = 0


@dataclass(slots=True)
class EntryLayout:
    """A program under construction.  `arrays`: the values of its inputs, by name."""

    text: str = ""
    arrays: dict[str, Any] = field(default_factory=dict)
    _parts: list[_EntryPart] = field(default_factory=list)

    def line(self, text: str, origin: Span, glyphs: GlyphText | None = None, base: int = 0) -> None:
        """Add a line (or several)."""
        self.add(text, origin, glyphs, base)
        self.text += "\n"

    def add(self, text: str, origin: Span, glyphs: GlyphText | None = None, base: int = 0) -> None:
        self._parts.append(_EntryPart(len(self.text), len(self.text) + len(text), origin, glyphs, base))
        self.text += text

    @property
    def source(self) -> Source:
        return Source(SESSION, self.text)

    # ------------------------------------------------------------------------------------- Note [Spans]

    def typed_span(self, span: Span) -> Span:
        """The span in the typed text for a span of the program; spans of other files are unchanged."""
        if span.file != SESSION:
            return span
        first, last = self._part(span.start), self._part(max(span.start, span.end - 1))
        if first is None or last is None:
            return Span("<repl>", 0, 0) if not self._parts else self._parts[-1].origin
        start, end = _typed_offset(first, span.start, False), _typed_offset(last, span.end, True)
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
        """A diagnostic of the program with spans in the typed text."""
        labels = tuple([Label(self.typed_span(label.span), label.message) for label in diagnostic.labels])
        fixes = tuple([
            Fix(fix.title, tuple([Edit(self.typed_span(edit.span), edit.text) for edit in fix.edits])) for fix in diagnostic.fixes
        ])  # fmt: skip
        return replace(diagnostic, span=self.typed_span(diagnostic.span), labels=labels, fixes=fixes)


def _typed_offset(part: _EntryPart, offset: int, end: bool) -> int:
    if part.glyphs is None:
        return part.origin.end if end else part.origin.start
    inside = part.base + min(max(offset, part.start), part.end) - part.start
    if inside > len(part.glyphs.text):
        return part.origin.end
    span = part.glyphs.span(min(inside, len(part.glyphs.text)), min(inside, len(part.glyphs.text)))
    return span.start


def needed_items(state: SessionState, mentions: Collection[str]) -> list[SessionItem]:
    """The items that words refer to, directly or indirectly, in order."""
    return dependency_closure([item for word in mentions if (item := state.latest.get(word)) is not None])


def program_before(state: SessionState, mentions: Collection[str], hidden: bool = False) -> EntryLayout:
    """The program before an entry that mentions these words; `hidden`: all inputs get hidden names, since the entry declares
    one."""
    layout = EntryLayout()
    if state.origin:
        layout.line("⎕IO←1", Span("<repl>", 0, 0))
    items = needed_items(state, mentions)
    names = [name for item in items for name in item.names]
    for item in items:
        if isinstance(item, TextItem):
            layout.line(item.text, item.origin)
        else:
            _define_value(layout, item, hidden or names.count(item.name) > 1)
    return layout


def _define_value(layout: EntryLayout, item: ValueItem, hidden: bool) -> None:
    value = item.value
    if isinstance(value, Leaf) and not hidden:
        layout.arrays[item.name] = value.array
        layout.line(f"input {item.name} : {value.type}", item.origin)
        return
    for leaf in leaves(value):
        layout.arrays[leaf.name] = leaf.array
        layout.line(f"input {leaf.name} : {leaf.type}", item.origin)
    layout.line(f"{item.name} ← {value_expression(value)}", item.origin)


def add_statement(
    layout: EntryLayout, state: SessionState, statement: Statement, glyphs: GlyphText, text: str | None = None
) -> None:  # fmt: skip
    """Add a statement of an entry, or `text` in its place; in its types, numbers replace the sizes of the session."""
    statement_span = glyphs.span(statement.start, statement.end)
    if text is not None:
        layout.line(text, statement_span)
        return
    at = 0
    for match in _size_words(state, statement):
        name = match.group()
        layout.add(statement.text[at : match.start()], statement_span, glyphs, statement.start + at)
        layout.add(str(state.sizes[name]), glyphs.span(statement.start + match.start(), statement.start + match.end()))
        at = match.end()
    layout.line(statement.text[at:], statement_span, glyphs, statement.start + at)


def text_with_sizes(state: SessionState, statement: Statement, glyphs: GlyphText) -> str:
    """The text of a statement with numbers for the sizes of the session in its types."""
    layout = EntryLayout()
    add_statement(layout, state, statement, glyphs)
    return layout.text.removesuffix("\n")


def _size_words(state: SessionState, statement: Statement) -> list[re.Match[str]]:
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
