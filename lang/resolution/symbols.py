"""What a name means: the binding it stands for, every mention of it, and all of them of one text by place."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from enum import Enum

from ..scope import Scope
from ..source import Span
from ..spelling import Spelled
from ..splitter import Piece


class SymbolKind(Enum):
    ARRAY = "array"
    FUNCTION = "function"
    OPERATOR = "operator"
    MODULE = "module"
    INPUT = "input"
    PARAM = "param"
    SIZE = "size"
    ELEMENT = "element type"


class Access(Enum):
    """What a mention does."""

    BIND = "gives a value"
    CHANGE = "gives a part of it another value"
    DECLARE = "states its type"
    READ = "reads"


@dataclass(slots=True, eq=False)
class Symbol:
    """One binding.  `span` is the name where it is bound, `statement` the top-level statement that binds it, after which it is in
    scope; `path` is the file of a module; `given`: it was in scope before the text."""

    name: str
    kind: SymbolKind
    span: Span
    statement: Span
    depth: int = 0
    path: str | None = None
    declared: Span | None = None
    given: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Mention:
    """A name in the text and what it means there; `member` is the name after the dot of `module.name`."""

    span: Span
    symbol: Symbol
    access: Access
    member: str | None = None


@dataclass(slots=True)
class Frame:
    """One block's names: their classes for the binder's questions, their symbols for ours."""

    scope: Scope
    parent: Frame | None = None
    symbols: dict[str, Symbol] = field(default_factory=dict)
    bound: list[Symbol] = field(default_factory=list)
    own: Symbol | None = None

    def find(self, name: str) -> Symbol | None:
        frame: Frame | None = self
        while frame is not None:
            if frame is not self and frame.own is not None and frame.own.name == name:
                return frame.own
            if name in frame.symbols:
                return frame.symbols[name]
            frame = frame.parent
        return None

    @property
    def depth(self) -> int:
        return 0 if self.parent is None else self.parent.depth + 1


@dataclass(frozen=True, slots=True)
class Index:
    """Every symbol in the order of the text, every mention by where it stands; `pieces` are the statements of `spelled`."""

    spelled: Spelled
    pieces: tuple[Piece, ...]
    symbols: tuple[Symbol, ...]
    mentions: tuple[Mention, ...]
    blocks: tuple[tuple[Span, Frame], ...]
    top: Frame

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
        around = [frame for span, frame in self.blocks if span.start < offset < span.end]
        for frame in (self.top, *sorted(around, key=lambda frame: frame.depth)):
            for symbol in frame.bound:
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
