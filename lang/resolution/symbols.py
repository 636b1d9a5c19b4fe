"""What a name means: the binding it stands for, the blocks in which bindings are seen, every mention of them by place."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from enum import Enum
from typing import NamedTuple, TypeAlias

from ..definitions import NameClass, Symbol
from ..records import dataclass
from ..source import Span
from ..spelling import Spelled
from ..splitter import Piece

ModuleNames: TypeAlias = Callable[[str], Mapping[str, NameClass] | None]
"""Names and classes a module exports, by library name (`stats`) or path (`./geometry.rho`); None if there is no such module."""


class Access(Enum):
    """What a mention does."""

    BIND = "gives a value"
    CHANGE = "gives a part of it another value"
    DECLARE = "states its type"
    READ = "reads"


@dataclass(frozen=True, slots=True, eq=False)
class Mention:
    """A name in the text and what it means there; `member` is the name after the dot of `module.name`."""

    span: Span
    symbol: Symbol
    access: Access
    member: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Declared:
    """Where signatures and annotations state the type of a name whose binding is still to come."""

    spans: tuple[Span, ...]


class Meaning(NamedTuple):
    """What a name stands for where it is written: its binding, if it is not an argument, and its class; a class of None marks one
    whose binding failed, so that its uses stay quiet.  `own`: it stands in a dfn that the binding is to name."""

    symbol: Symbol | None
    name_class: NameClass | None
    own: bool = False


class Unseen(NamedTuple):
    """Where a name is written that is not in scope: inside a dfn or not, the names that dfns around have given a value, and how
    many names the statement has brought in before."""

    in_dfn: bool
    names: tuple[str, ...]
    new: int


@dataclass(slots=True, eq=False)
class Scope:
    """Names bound so far in one block: the file, or the body of a dfn.

    `own` is the function that the current statement binds: dfns inside the statement see it before any older binding,
    so mentioning it there is recursion.  `operands` are the classes of `⍺⍺` and `⍵⍵`, which reach into no inner dfn.
    `quiet` are names whose binding failed, `captures` the bindings of blocks around that are mentioned in this one.
    """

    parent: Scope | None = None
    depth: int = 0
    symbols: dict[str, Symbol] = field(default_factory=dict)
    bound: list[Symbol] = field(default_factory=list)
    operands: Mapping[str, NameClass] = field(default_factory=dict)
    own: Symbol | None = None
    quiet: set[str] = field(default_factory=set)
    captures: dict[Symbol, None] = field(default_factory=dict)

    def inner(self, operands: Mapping[str, NameClass] | None = None) -> Scope:
        """The scope of a dfn's body."""
        return Scope(self, self.depth + 1, operands=operands or {})

    def branch(self) -> Scope:
        """The scope of a guard's value: what it binds is seen in it alone."""
        return Scope(
            self.parent, self.depth, dict(self.symbols), self.bound, self.operands, self.own, set(self.quiet), self.captures
        )

    def capture(self, symbol: Symbol) -> None:
        """A binding is mentioned here: blocks inside the one that binds it take it along."""
        scope: Scope | None = self
        while scope is not None and scope.depth > symbol.depth:
            scope.captures[symbol] = None
            scope = scope.parent

    def enter(self, symbol: Symbol) -> None:
        """In scope from here on."""
        self.symbols[symbol.name] = symbol
        self.quiet.discard(symbol.name)

    def find(self, name: str) -> Meaning | None:
        """What a name stands for here; None if it is not in scope."""
        scope: Scope | None = self
        while scope is not None:
            if scope is not self and scope.own is not None and scope.own.name == name:
                return Meaning(scope.own, scope.own.name_class, own=True)
            if name in scope.quiet:
                return Meaning(scope.symbols.get(name), None)
            if (symbol := scope.symbols.get(name)) is not None:
                return Meaning(symbol, symbol.name_class)
            scope = scope.parent
        return None

    def class_of(self, name: str) -> NameClass | None:
        """The class of a name, or of an operand; None if it is not known."""
        found = self.find(name)
        return self.operands.get(name) if found is None else found.name_class

    def names(self, until: Scope | None = None) -> Iterator[str]:
        """Every name that has a value here, those of the scope `until` left out."""
        scope: Scope | None = self
        while scope is not until and scope is not None:
            yield from [name for name in scope.symbols if name not in scope.quiet]
            scope = scope.parent

    def only(self, names: frozenset[str]) -> Scope:
        """The scope as it is now, for some names."""
        kept = Scope(depth=self.depth)
        for name in names:
            match self.find(name):
                case Meaning(Symbol() as symbol, _, own=True):
                    kept.parent = Scope(kept.parent, self.depth, own=symbol)
                case Meaning(symbol, name_class):
                    if symbol is not None:
                        kept.symbols[name] = symbol
                    if name_class is None:
                        kept.quiet.add(name)
        return kept


@dataclass(slots=True, eq=False)
class Added:
    """What one statement adds to the index; `bound` are the names that it binds at top level, `uses` the bindings of the
    file that it reads or changes."""

    symbols: list[Symbol] = field(default_factory=list)
    bound: list[Symbol] = field(default_factory=list)
    uses: dict[Symbol, None] = field(default_factory=dict)
    mentions: list[Mention] = field(default_factory=list)
    blocks: list[tuple[Span, Scope]] = field(default_factory=list)


@dataclass(slots=True)
class Names:
    """What every name of a text stands for, as far as it has been read.  `top` is the block of the file, `sizes` are those of
    inputs and annotations, `pending` signatures whose binding is still to come, `added` has an entry a statement.

    The rest is of the statement that is being read.  `new` are the names that it brings in; by place are `meanings` of names,
    names that are `unseen` (not in scope), `starts` (how many tokens left of a `←` the function starts that stands there),
    `homes` (what the names of an operator stand for, by its braces), `captures` (what a dfn takes from around it, by its braces).
    """

    top: Scope = field(default_factory=Scope)
    sizes: dict[str, Symbol] = field(default_factory=dict)
    pending: dict[str, Declared] = field(default_factory=dict)
    added: list[Added] = field(default_factory=list)
    meanings: dict[int, Meaning] = field(default_factory=dict)
    unseen: dict[int, Unseen] = field(default_factory=dict)
    starts: dict[int, int] = field(default_factory=dict)
    homes: dict[int, Scope] = field(default_factory=dict)
    captures: dict[int, tuple[Symbol, ...]] = field(default_factory=dict)
    new: list[str] = field(default_factory=list)

    def begin(self) -> Added:
        """A statement begins."""
        for table in (self.meanings, self.unseen, self.starts, self.homes, self.captures):
            table.clear()
        self.new.clear()
        self.added.append(Added())
        return self.added[-1]

    def index(self, spelled: Spelled, pieces: tuple[Piece, ...]) -> Index:
        """What editors ask about the whole text."""
        mentions = sorted([mention for part in self.added for mention in part.mentions], key=_by_place)
        symbols = sorted([symbol for part in self.added for symbol in part.symbols], key=_by_place)
        blocks = [block for part in self.added for block in part.blocks]
        self.top.bound = [symbol for part in self.added for symbol in part.bound]
        return Index(spelled, pieces, tuple(symbols), tuple(mentions), tuple(blocks), self.top)


def _by_place(one: Symbol | Mention) -> tuple[int, int]:
    return one.span.start, one.span.end


@dataclass(frozen=True, slots=True)
class Index:
    """Every symbol in the order of the text, every mention by where it stands; `pieces` are the statements of `spelled`.
    Spans move with their statements: an index is good until the next version of the text is read."""

    spelled: Spelled
    pieces: tuple[Piece, ...]
    symbols: tuple[Symbol, ...]
    mentions: tuple[Mention, ...]
    blocks: tuple[tuple[Span, Scope], ...]
    top: Scope

    def at(self, offset: int) -> Mention | None:
        """The mention a place is in, or at the end of."""
        after = bisect_right(self.mentions, offset, key=lambda mention: mention.span.start)
        for mention in reversed(self.mentions[max(after - 1, 0) : after]):
            if mention.span.start <= offset <= mention.span.end:
                return mention
        return None

    def visible(self, offset: int) -> dict[str, Symbol]:
        """The names in scope at a place, the innermost binding of each."""
        found: dict[str, Symbol] = {}
        around = [scope for span, scope in self.blocks if span.start < offset < span.end]
        for scope in (self.top, *sorted(around, key=lambda scope: scope.depth)):
            for symbol in scope.bound:
                if symbol.statement.end <= offset or (symbol.depth and symbol.span.end < offset):
                    found[symbol.name] = symbol
        return found

    def statement_at(self, offset: int) -> Span | None:
        """The top-level statement a place is in."""
        for piece in self.pieces:
            span = self.spelled.span(piece.start, piece.start + len(piece.text))
            if span.start <= offset <= span.end:
                return span
        return None
