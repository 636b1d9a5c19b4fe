"""Which name means what: the bindings of a text and where each is mentioned, broken statements included.

Names are lexical and statements are read from right to left, so this walks the tokens in the binder's order and resolves each
name to the binding in scope there.  A name that is bound again is another `Symbol`; `x[i]←v` and `x f← v` continue the old
one, and a signature belongs to the binding after it.  Sizes in types have symbols of their own: those of a signature are its
own, those of inputs and annotations the program's.

Neighbours: `declared` (statements with a grammar of their own), `navigation`, `semantic`, `completing` and others ask.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from ...lang.scope import Scope
from ...lang.source import Source, Span
from ...lang.spelling import Spelled
from ...lang.splitter import Piece
from ...lang.statements import ends_in_function
from ...lang.tokens import Token, TokenKind, mentions, split_at
from ...lang.tree import NameClass
from ...lang.vocabulary import RESERVED

Tokens = Sequence[Token]


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
    """One binding.  `span` is the name where it is bound, `statement` the top-level statement that binds it, `extent` the part
    of the text in which it is in scope; `path` is the file of a module."""

    name: str
    kind: SymbolKind
    span: Span
    statement: Span
    extent: Span
    depth: int = 0
    path: str | None = None
    declared: Span | None = None
    mentions: list[Mention] = field(default_factory=list)


@dataclass(frozen=True, slots=True, eq=False)
class Mention:
    """A name in the text and what it means there; `member` is the name after the dot of `module.name`."""

    span: Span
    symbol: Symbol
    access: Access
    member: str | None = None


_CLASSES = {
    NameClass.ARRAY: SymbolKind.ARRAY, NameClass.FUNCTION: SymbolKind.FUNCTION, NameClass.MODULE: SymbolKind.MODULE,
    NameClass.MONADIC_OPERATOR: SymbolKind.OPERATOR, NameClass.DYADIC_OPERATOR: SymbolKind.OPERATOR,
}  # fmt: skip


@dataclass(slots=True)
class Frame:
    """One block's names: their classes for the binder's questions, their symbols for ours; `end` is where the block ends."""

    scope: Scope
    end: int
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


class Walk:
    """The state of one walk over a text."""

    def __init__(self, source: Source, spelled: Spelled) -> None:
        self.spelled = spelled
        self.source = source
        self.base = 0
        self.statement = Span(source.name, 0, 0)
        self.top = Frame(Scope(), len(source.text))
        self.symbols: list[Symbol] = []
        self.mentions: list[Mention] = []
        self.braces: list[tuple[Span, Frame]] = []
        self.pending: dict[str, list[Span]] = {}
        self.sizes: dict[str, Symbol] = {}

    def span(self, token: Token) -> Span:
        return self.spelled.span(self.base + token.start, self.base + token.end)

    def mention(self, symbol: Symbol, span: Span, access: Access, member: str | None = None) -> None:
        found = Mention(span, symbol, access, member)
        symbol.mentions.append(found)
        self.mentions.append(found)

    def create(self, frame: Frame, name: str, kind: SymbolKind, span: Span) -> Symbol:
        """A new binding, its signature attached; not yet in scope."""
        symbol = Symbol(name, kind, span, self.statement, Span(span.file, self.statement.end, frame.end), frame.depth)
        self.symbols.append(symbol)
        frame.bound.append(symbol)
        for declared in self.pending.pop(name, []) if frame is self.top else []:
            symbol.declared = declared
            self.mention(symbol, declared, Access.DECLARE)
        self.mention(symbol, span, Access.BIND)
        return symbol

    def bind(self, frame: Frame, token: Token, name_class: NameClass = NameClass.ARRAY) -> Symbol:
        """A new binding that is in scope from here on."""
        symbol = self.create(frame, token.text, _CLASSES[name_class], self.span(token))
        self.enter(frame, symbol, name_class)
        return symbol

    def enter(self, frame: Frame, symbol: Symbol, name_class: NameClass) -> None:
        frame.symbols[symbol.name] = symbol
        frame.scope.names[symbol.name] = name_class

    # ------------------------------------------------------------------------------ expressions

    def sequence(self, tokens: Tokens, frame: Frame) -> None:
        """From right to left, as it is evaluated."""
        at = len(tokens) - 1
        while at >= 0:
            token = tokens[at]
            if token.kind is TokenKind.GETS and at > 0:
                at = self.assignment(tokens, at, frame)
            elif token.kind is TokenKind.NAME:
                at = self.name(tokens, at, frame)
            else:
                self.group(token, frame)
                at -= 1

    def name(self, tokens: Tokens, at: int, frame: Frame) -> int:
        """A name or a member; the index of what stands left of it."""
        token = tokens[at]
        if at > 1 and tokens[at - 1].text == "." and tokens[at - 2].kind is TokenKind.NAME:
            module = frame.find(tokens[at - 2].text)
            if module is not None and module.kind is SymbolKind.MODULE:
                self.mention(module, self.span(token), Access.READ, token.text)
                self.mention(module, self.span(tokens[at - 2]), Access.READ)
                return at - 3
        symbol = frame.find(token.text)
        if symbol is not None:
            self.mention(symbol, self.span(token), Access.READ)
        return at - 1

    def group(self, token: Token, frame: Frame) -> None:
        """What brackets hold."""
        match token.kind:
            case TokenKind.BRACES:
                self.braced(token, frame)
            case TokenKind.PARENTHESES | TokenKind.BRACKETS:
                for part in reversed(split_at(token.items, TokenKind.SEPARATOR)):
                    for axis in reversed(split_at(part, TokenKind.SEMICOLON)):
                        self.sequence(axis, frame)

    def braced(self, token: Token, frame: Frame) -> None:
        """A dfn: a block of its own."""
        span = self.span(token)
        inner = Frame(frame.scope.inner(), max(span.end - 1, span.start), frame)
        self.braces.append((span, inner))
        for part in split_at(token.items, TokenKind.SEPARATOR):
            colon = next((index for index, item in enumerate(part) if item.kind is TokenKind.COLON), None)
            if colon is None:
                self.statement_of(part, inner)
            else:
                self.sequence(part[:colon], inner)
                self.sequence(part[colon + 1 :], inner)

    def statement_of(self, tokens: Tokens, frame: Frame) -> None:
        """`name ← value`, the name of a function being known inside it; else an expression."""
        if len(tokens) < 3 or tokens[1].kind is not TokenKind.GETS or tokens[0].kind is not TokenKind.NAME:
            self.sequence(tokens, frame)
            return
        value = tuple(tokens[2:])
        if tokens[0].text in RESERVED or not ends_in_function(frame.scope, value):
            self.sequence(tokens, frame)
            return
        name_class = class_of_function(frame.scope, value)
        symbol = self.create(frame, tokens[0].text, _CLASSES[name_class], self.span(tokens[0]))
        outer, frame.own = frame.own, symbol
        self.sequence(value, frame)
        frame.own = outer
        self.enter(frame, symbol, name_class)

    # ------------------------------------------------------------------------------ assignment

    def assignment(self, tokens: Tokens, at: int, frame: Frame) -> int:
        """What stands left of the `←` at `at`; the index of what stands left of that."""
        first = at
        while first > 0 and self.is_function(tokens, first, at, frame):
            first -= 1
        if first > 1 and tokens[first - 1].kind is TokenKind.BRACKETS and tokens[first - 2].kind is TokenKind.NAME:
            self.sequence(tokens[first:at], frame)
            self.group(tokens[first - 1], frame)
            self.change(tokens[first - 2], frame)
            return first - 3
        if 0 < first < at and tokens[first - 1].kind is TokenKind.NAME:
            self.sequence(tokens[first:at], frame)
            self.change(tokens[first - 1], frame)
            return first - 2
        self.target(tokens[at - 1], frame)
        return at - 2

    def is_function(self, tokens: Tokens, first: int, at: int, frame: Frame) -> bool:
        """Does a function that changes the name left of it reach to the token before `first`?"""
        token = tokens[first - 1]
        if token.kind in (TokenKind.GLYPH, TokenKind.BRACES):
            return True
        if token.kind is not TokenKind.NAME or frame.scope.class_of(token.text) is not NameClass.FUNCTION or first < 2:
            return False
        left = tokens[first - 2]
        if first == at and left.kind is TokenKind.NAME:
            return frame.scope.class_of(left.text) is NameClass.ARRAY
        return first != at or left.kind is TokenKind.BRACKETS

    def change(self, token: Token, frame: Frame) -> None:
        """`x[i]←v`, `x f← v`."""
        symbol = frame.find(token.text)
        if symbol is not None:
            self.mention(symbol, self.span(token), Access.CHANGE)

    def target(self, token: Token, frame: Frame) -> None:
        if token.kind is TokenKind.NAME and token.text not in RESERVED and token.text not in ("⍵", "⍺", "⍺⍺", "⍵⍵"):
            self.bind(frame, token)
        elif token.kind is TokenKind.PARENTHESES:
            for item in token.items:
                self.target(item, frame)
        else:
            self.group(token, frame)


def class_of_function(scope: Scope, value: tuple[Token, ...]) -> NameClass:
    """The class of a name that gets a value which is no array."""
    if len(value) == 1 and value[0].kind is TokenKind.NAME:
        return scope.class_of(value[0].text) or NameClass.FUNCTION
    if len(value) == 1 and value[0].kind is TokenKind.BRACES:
        if mentions(value[0].items, "⍵⍵"):
            return NameClass.DYADIC_OPERATOR
        if mentions(value[0].items, "⍺⍺"):
            return NameClass.MONADIC_OPERATOR
    return NameClass.FUNCTION


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
                if symbol.extent.start <= offset or (symbol.depth and symbol.span.end < offset):
                    found[symbol.name] = symbol
        return found

    def statement_at(self, offset: int) -> Span | None:
        """The top-level statement a place is in."""
        for piece in self.pieces:
            span = self.spelled.span(piece.start, piece.start + len(piece.text))
            if span.start <= offset <= span.end:
                return span
        return None
