"""Which name means what: the bindings of a text and where each is mentioned, broken statements included.

Names are lexical and statements are read from right to left, so this walks the tokens in the binder's order and resolves each
name to the binding in scope there.  A name that is bound again is another `Symbol`; `x[i]←v` and `x f← v` continue the old
one, and a signature belongs to the binding after it.  Sizes in types have symbols of their own: those of a signature are its
own, those of inputs and annotations the program's.

What a statement binds, where a function left of `←` starts and what class a name gets is decided where the binder decides it
(`statements`, `sequences`, `names`).  Neighbour: `declared` (statements with a grammar of their own).
"""

from __future__ import annotations

from collections.abc import Mapping

from ..lexer import ARGUMENTS, TokenKind
from ..names import is_member
from ..sequences import function_start
from ..source import Place, PlacedSpan, Source, Span
from ..spelling import Spelled
from ..statements import class_by_content, ends_in_function
from ..tokens import Token, split_at
from ..tree import NameClass
from ..vocabulary import RESERVED
from .symbols import Access, Frame, Mention, Symbol, SymbolKind

Tokens = tuple[Token, ...]

CLASSES = {
    NameClass.ARRAY: SymbolKind.ARRAY, NameClass.FUNCTION: SymbolKind.FUNCTION, NameClass.MODULE: SymbolKind.MODULE,
    NameClass.MONADIC_OPERATOR: SymbolKind.OPERATOR, NameClass.DYADIC_OPERATOR: SymbolKind.OPERATOR,
}  # fmt: skip

GIVEN = {
    SymbolKind.FUNCTION: NameClass.FUNCTION, SymbolKind.OPERATOR: NameClass.MONADIC_OPERATOR, SymbolKind.MODULE: NameClass.MODULE,
}  # fmt: skip


Known = tuple[Symbol | None, NameClass | None, Symbol | None, tuple[Span, ...] | None]
"""What a word stands for at top level with its class, and as a size, and the signatures whose binding is still to come."""


class Walk:
    """The state of one walk over a text, which fills `top`.  `place`, of a statement that is kept, is where it stands; `origin`
    its offset in the spelled text."""

    def __init__(self, source: Source, spelled: Spelled, given: Mapping[str, SymbolKind], top: Frame) -> None:
        self.spelled = spelled
        self.source = source
        self.base = self.origin = 0
        self.place: Place | None = None
        self.statement = Span(source.name, 0, 0)
        self.top = top
        for filled in (top.symbols, top.bound, top.scope.names):
            filled.clear()
        self.symbols: list[Symbol] = []
        self.mentions: list[Mention] = []
        self.braces: list[tuple[Span, Frame]] = []
        self.pending: dict[str, tuple[Span, ...]] = {}
        self.sizes: dict[str, Symbol] = {}
        for name, kind in given.items():
            known = Symbol(name, kind, self.statement, self.statement, given=True)
            self.enter(self.top, known, GIVEN.get(kind, NameClass.ARRAY))

    def span(self, token: Token) -> Span:
        return self.between(token.start, token.end)

    def between(self, start: int, end: int) -> Span:
        """The span of a part of what is being read."""
        if self.place is None:
            return self.spelled.span(self.base + start, self.base + end)
        ahead = self.base - self.origin
        return PlacedSpan(self.place, ahead + start, ahead + end)

    def known(self, word: str) -> Known:
        return self.top.symbols.get(word), self.top.scope.names.get(word), self.sizes.get(word), self.pending.get(word)

    def knows(self, word: str, known: Known) -> bool:
        """Does a word stand for the very same?"""
        symbol, _, size, pending = known
        return self.top.symbols.get(word) is symbol and self.sizes.get(word) is size and self.pending.get(word) is pending

    def learn(self, word: str, known: Known) -> None:
        """A word stands for this from here on."""
        symbol, name_class, size, pending = known
        if symbol is not None and name_class is not None:
            self.enter(self.top, symbol, name_class)
        if size is not None:
            self.sizes[word] = size
        if pending is None:
            self.pending.pop(word, None)
        else:
            self.pending[word] = pending

    def mention(self, symbol: Symbol, span: Span, access: Access, member: str | None = None) -> None:
        self.mentions.append(Mention(span, symbol, access, member))

    def create(self, frame: Frame, name: str, kind: SymbolKind, span: Span) -> Symbol:
        """A new binding, its signature attached; not yet in scope."""
        symbol = Symbol(name, kind, span, self.statement, frame.depth)
        self.symbols.append(symbol)
        frame.bound.append(symbol)
        for declared in self.pending.pop(name, ()) if frame is self.top else []:
            symbol.declared = declared
            self.mention(symbol, declared, Access.DECLARE)
        self.mention(symbol, span, Access.BIND)
        return symbol

    def bind(self, frame: Frame, token: Token, name_class: NameClass = NameClass.ARRAY) -> Symbol:
        """A new binding that is in scope from here on."""
        symbol = self.create(frame, token.text, CLASSES[name_class], self.span(token))
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
        module = frame.find(tokens[at - 2].text) if is_member(frame.scope, tokens, at) else None
        if module is not None:
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
        inner = Frame(frame.scope.inner(), frame)
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
        value = tokens[2:]
        if tokens[0].text in RESERVED or not ends_in_function(frame.scope, value):
            self.sequence(tokens, frame)
            return
        name_class = class_by_content(frame.scope, value)
        symbol = self.create(frame, tokens[0].text, CLASSES[name_class], self.span(tokens[0]))
        outer, frame.own = frame.own, symbol
        self.sequence(value, frame)
        frame.own = outer
        self.enter(frame, symbol, name_class)

    # ------------------------------------------------------------------------------ assignment

    def assignment(self, tokens: Tokens, at: int, frame: Frame) -> int:
        """What stands left of the `←` at `at`; the index of what stands left of that."""
        first = function_start(frame.scope, tokens, at)
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

    def change(self, token: Token, frame: Frame) -> None:
        """`x[i]←v`, `x f← v`."""
        symbol = frame.find(token.text)
        if symbol is not None:
            self.mention(symbol, self.span(token), Access.CHANGE)

    def target(self, token: Token, frame: Frame) -> None:
        if token.kind is TokenKind.NAME and token.text not in RESERVED and token.text not in ARGUMENTS:
            self.bind(frame, token)
        elif token.kind is TokenKind.PARENTHESES:
            for item in token.items:
                self.target(item, frame)
        else:
            self.group(token, frame)
