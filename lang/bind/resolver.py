"""Name resolution: finds the binding of each name, for the binder and for editors, in statements with errors too.

Names are lexical and statements are read from right to left, so this walks the tokens in the order of evaluation and
resolves each name to the binding in scope there.  A name that is bound again is another `Symbol`; `x[i]←v` and `x f← v`
continue the old one, and a signature belongs to the binding after it.  Sizes in types have symbols of their own: those of a
signature are its own, those of inputs and annotations the program's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from ..primitives.table import ELEMENT_NAMES
from ..syntax.lexer import ARGUMENTS, COMMENT, NAME, RESERVED, TEXT, WORD_END, TokenKind
from ..syntax.reader import RawStatement
from ..syntax.source import Span, Token, mentions, names_in, read, split_at
from ..tree.expressions import KINDS, NameClass, Symbol, SymbolKind
from .declarations import keyword_of
from .names import called
from .scopes import (
    BindContext,
    Declared,
    Mention,
    NameScope,
    ReferenceKind,
    ResolvedName,
    Unseen,
    class_of_value,
    function_start,
    is_assignment,
    is_member,
    member_class,
)

# ---------------------------------------------------------------------------------------------------- walk

Tokens = tuple[Token, ...]


class Resolver:
    """Resolves the names of one statement, into `binding.names`.  `before` are symbols of the version before, by name, for
    bindings that are the same."""

    def __init__(self, binding: BindContext, statement: Span, before: dict[str, list[Symbol]]) -> None:
        self.binding = binding
        self.resolution = binding.names
        self.added = binding.names.begin()
        self.statement = statement
        self._before = before
        self.shift = 0

    def span(self, token: Token) -> Span:
        return self.between(token.start, token.end)

    def between(self, start: int, end: int) -> Span:
        """The span of a part of what is being read."""
        return self.binding.span(self.shift + start, self.shift + end)

    def at(self, token: Token) -> int:
        """Where the binder asks about a token."""
        return self.binding.base + self.shift + token.start

    def mention(self, symbol: Symbol, span: Span, access: ReferenceKind, member: str | None = None) -> None:
        if symbol.depth == 0 and access in (ReferenceKind.READ, ReferenceKind.CHANGE):
            self.added.uses[symbol] = None
        self.added.mentions.append(Mention(span, symbol, access, member))

    def symbol(self, name: str, kind: SymbolKind, name_class: NameClass, span: Span, depth: int = 0) -> Symbol:
        """A binding, not yet in scope: the one of the version before if it is the same."""
        for at, known in enumerate(self._before.get(name, ()) if depth == 0 else ()):
            if known.kind is kind and known.name_class is name_class:
                del self._before[name][at]
                known.span, known.statement, known.path, known.declared = span, self.statement, "", None
                break
        else:
            known = Symbol(name, kind, name_class, span, self.statement, depth)
        self.added.symbols.append(known)
        return known

    def create(self, scope: NameScope, token: Token, name_class: NameClass, kind: SymbolKind | None = None) -> Symbol:
        """A new binding, its signature attached; not yet in scope."""
        name, span = token.text, self.span(token)
        symbol = self.symbol(name, kind or KINDS[name_class], name_class, span, scope.depth)
        (scope.bound if scope.depth else self.added.bound).append(symbol)
        pending = self.resolution.pending.pop(name, None) if scope is self.resolution.top else None
        for declared in () if pending is None else pending.spans:
            symbol.declared = declared
            self.mention(symbol, declared, ReferenceKind.DECLARE)
        self.mention(symbol, span, ReferenceKind.BIND)
        self.resolution.meanings[self.at(token)] = ResolvedName(symbol, name_class)
        return symbol

    def bind(self, scope: NameScope, token: Token, kind: SymbolKind | None = None) -> Symbol:
        """An array's name that is in scope from here on."""
        symbol = self.create(scope, token, NameClass.ARRAY, kind)
        self.enter(scope, symbol)
        return symbol

    def enter(self, scope: NameScope, symbol: Symbol) -> None:
        """In scope from here on."""
        if scope is self.resolution.top and symbol.name not in scope.symbols:
            self.resolution.new.append(symbol.name)
        scope.enter(symbol)

    # ------------------------------------------------------------------------------ expressions

    def sequence(self, tokens: Tokens, scope: NameScope) -> None:
        """From right to left, as it is evaluated."""
        at = len(tokens) - 1
        while at >= 0:
            token = tokens[at]
            if token.kind is TokenKind.GETS and at > 0:
                at = self.assignment(tokens, at, scope)
            elif token.kind is TokenKind.NAME:
                at = self.name(tokens, at, scope)
            else:
                self.group(token, scope)
                at -= 1

    def name(self, tokens: Tokens, at: int, scope: NameScope) -> int:
        """A name or a member; the index of what stands left of it."""
        token = tokens[at]
        if is_member(scope, tokens, at):
            module = self.read(tokens[at - 2], scope, token)
            name_class = member_class(scope, self.binding.modules, tokens[at - 2].text, token.text)
            if name_class is not None:
                self.resolution.meanings[self.at(token)] = ResolvedName(module, name_class)
            return at - 3
        self.read(token, scope)
        return at - 1

    def read(self, token: Token, scope: NameScope, member: Token | None = None) -> Symbol | None:
        """A name that is not bound here, an argument among them."""
        name = token.text
        if name in ARGUMENTS:
            argument = scope.operands.get(name) if name in ("⍺⍺", "⍵⍵") else NameClass.ARRAY if scope.depth else None
            meaning = None if argument is None else ResolvedName(None, argument)
        else:
            meaning = scope.find(name)
        return self.stands(token, meaning, scope, ReferenceKind.READ, member)

    def stands(
        self, token: Token, meaning: ResolvedName | None, scope: NameScope, access: ReferenceKind, member: Token | None = None
    ) -> Symbol | None:  # fmt: skip
        """Note what a name stands for, and where it is mentioned."""
        if meaning is None:
            inner = scope.named(self.resolution.top)
            self.resolution.unseen[self.at(token)] = Unseen(scope.depth > 0, tuple(inner), len(self.resolution.new))
            return None
        self.resolution.meanings[self.at(token)] = meaning
        symbol = meaning.symbol
        if symbol is not None and member is not None:
            self.mention(symbol, self.span(member), access, member.text)
        if symbol is not None:
            self.mention(symbol, self.span(token), access)
            scope.capture(symbol)
        return symbol

    def group(self, token: Token, scope: NameScope) -> None:
        """What brackets hold."""
        match token.kind:
            case TokenKind.BRACES:
                self.braced(token, scope)
            case TokenKind.PARENTHESES | TokenKind.BRACKETS:
                for part in reversed(split_at(token.items, TokenKind.SEPARATOR)):
                    for axis in reversed(split_at(part, TokenKind.SEMICOLON)):
                        self.sequence(axis, scope)

    def braced(self, token: Token, scope: NameScope) -> None:
        """A dfn: a block of its own."""
        inner = scope.inner()
        if mentions(token.items, "⍺⍺") or mentions(token.items, "⍵⍵"):
            home = self.resolution.homes[self.at(token)] = inner.only(names_in(token.items))
            for symbol in home.symbols.values():
                inner.capture(symbol)
        self.added.blocks.append((self.span(token), inner))
        self.body(token, inner)
        self.resolution.captures[self.at(token)] = tuple(inner.captures)
        inner.parent = None

    def body(self, token: Token, scope: NameScope) -> None:
        """The statements of a dfn."""
        for part in split_at(token.items, TokenKind.SEPARATOR):
            colon = next((index for index, item in enumerate(part) if item.kind is TokenKind.COLON), None)
            if colon is None:
                self.statement_of(part, scope)
            else:
                self.sequence(part[:colon], scope)
                self.sequence(part[colon + 1 :], scope.branch())

    def statement_of(self, tokens: Tokens, scope: NameScope) -> None:
        """`name ← value`, the name of a function being known inside it; else an expression."""
        name_class = NameClass.ARRAY
        if is_assignment(tokens) and tokens[0].kind is TokenKind.NAME and tokens[0].text not in RESERVED:
            name_class = class_of_value(scope, tokens[2:], self.binding.modules)
        if name_class is NameClass.ARRAY or tokens[0].text in ARGUMENTS:
            self.sequence(tokens, scope)
            return
        symbol = self.create(scope, tokens[0], name_class)
        outer, scope.defining = scope.defining, symbol
        self.sequence(tokens[2:], scope)
        scope.defining = outer
        self.enter(scope, symbol)

    # ------------------------------------------------------------------------------ assignment

    def assignment(self, tokens: Tokens, at: int, scope: NameScope) -> int:
        """What stands left of the `←` at `at`; the index of what stands left of that."""
        first = function_start(scope, tokens, at)
        self.resolution.starts[self.at(tokens[at])] = at - first
        if first > 1 and tokens[first - 1].kind is TokenKind.BRACKETS and tokens[first - 2].kind is TokenKind.NAME:
            self.sequence(tokens[first:at], scope)
            self.group(tokens[first - 1], scope)
            self.change(tokens[first - 2], scope)
            return first - 3
        if 0 < first < at and tokens[first - 1].kind is TokenKind.NAME:
            self.sequence(tokens[first:at], scope)
            self.change(tokens[first - 1], scope)
            return first - 2
        self.target(tokens[at - 1], scope)
        return at - 2

    def change(self, token: Token, scope: NameScope) -> None:
        """`x[i]←v`, `x f← v`."""
        if token.text in ARGUMENTS:
            self.read(token, scope)
        else:
            self.stands(token, scope.find(token.text), scope, ReferenceKind.CHANGE)

    def target(self, token: Token, scope: NameScope) -> None:
        if token.kind is TokenKind.NAME and token.text not in RESERVED and token.text not in ARGUMENTS:
            self.bind(scope, token)
        elif token.kind is TokenKind.PARENTHESES:
            for item in token.items:
                self.target(item, scope)
        else:
            self.group(token, scope)


# ---------------------------------------------------------------------------------------------------- declared
#
# The names in statements that have a grammar of their own: `use`, `input`, `param`, `output`, `schedule`, types of names.

_WORD = re.compile(NAME)
_CUT = re.compile(rf"{TEXT}|{COMMENT}|(?P<gets>←)|(?P<where>(?<![\w∆])where{WORD_END})")
_NOT_SIZES = ELEMENT_NAMES | {"idx", "int", "perm", "where"}
_SCHEDULED = re.compile(rf"{COMMENT}|(?<![\w∆]){NAME}{WORD_END}(?!\s*\{{)")
_CLASSES = frozenset({"num", "real", "int", "ord"})


def declaration(walk: Resolver, text: str) -> None:
    """One declaration; the names of schedules are those that the whole text has (`finish`)."""
    word = keyword_of(text)
    if word == "use":
        _use(walk, text, len(word))
    elif word != "schedule":
        _named(walk, text, len(word), word)


def _token(match: re.Match[str]) -> Token:
    return Token(TokenKind.NAME, match.start(), match.end(), match.group())


def _use(walk: Resolver, text: str, start: int) -> None:
    path = re.compile(TEXT).search(text, start)
    if path is not None:
        file = path.group()[1:-1]
        name = Token(TokenKind.NAME, path.start(), path.end(), called(file))
    else:
        word = _WORD.search(text, start)
        if word is None:
            return
        name, file = _token(word), word.group()
    symbol = walk.create(walk.resolution.top, name, NameClass.MODULE)
    symbol.path = file
    walk.enter(walk.resolution.top, symbol)


def _named(walk: Resolver, text: str, start: int, keyword: str) -> None:
    word = _WORD.search(text, start)
    if word is None:
        return
    name = _token(word)
    gets, where = _cut(text, name.end)
    type_end = min(gets if gets is not None else len(text), where if where is not None else len(text))
    types = text[name.end : type_end]
    signature = not keyword and "→" in types
    local: dict[str, Symbol] | None = {} if signature else None
    top = walk.resolution.top
    if gets is not None and keyword != "input":
        value = read(text[gets + 1 : where if where is not None and where > gets else len(text)]).tokens
        walk.shift += gets + 1
        if keyword:
            walk.sequence(value, top)
        else:
            here = [
                token._replace(start=token.start - gets - 1, end=token.end - gets - 1)
                for token in (name, Token(TokenKind.GETS, gets, gets + 1, "←"))
            ]
            walk.statement_of((*here, *value), top)
        walk.shift -= gets + 1
    if keyword == "input":
        walk.bind(top, name, SymbolKind.INPUT)
    elif keyword == "param":
        walk.bind(top, name, SymbolKind.PARAM)
    elif keyword and gets is not None:
        walk.bind(top, name)
    elif keyword:
        walk.read(name, top)
    elif gets is None:
        known = walk.resolution.pending.get(name.text)
        walk.resolution.pending[name.text] = Declared((*(() if known is None else known.spans), walk.span(name)))
    if keyword not in ("param", "output"):
        _sizes(walk, text, name.end, type_end, local, values=keyword != "input")
    if where is not None:
        _sizes(walk, text, where, len(text), local, values=True)


def _cut(text: str, start: int) -> tuple[int | None, int | None]:
    """Where the value and the facts of a declaration begin."""
    gets = where = None
    for match in _CUT.finditer(text, start):
        if match.group("gets") and gets is None:
            gets = match.start()
        elif match.group("where"):
            where = match.start()
    return gets, where


def _sizes(walk: Resolver, text: str, start: int, end: int, local: dict[str, Symbol] | None, *, values: bool) -> None:
    """The sizes and element variables between two places; `local` are those of a signature, `values`: integers may be sizes."""
    walk.shift += start
    for name, kind in _sizes_in(text[start:end]):
        _size(walk, name, kind, local, values=values and local is None)
    walk.shift -= start


@lru_cache(maxsize=20_000)
def _sizes_in(text: str) -> tuple[tuple[Token, SymbolKind], ...]:
    """The sizes and element variables in types or facts; kept, for many are written alike."""
    names: list[tuple[Token, SymbolKind]] = []
    leaves = list(_leaves(read(text).tokens))
    for index, (token, inside) in enumerate(leaves):
        if token.kind is not TokenKind.NAME or token.text in ARGUMENTS:
            continue
        previous = leaves[index - 1][0] if index else None
        if token.text in _CLASSES and previous is not None and previous.kind is TokenKind.NAME and not inside:
            continue
        if token.text not in _NOT_SIZES:
            names.append((token, SymbolKind.ELEMENT if token.text[:1].isupper() and not inside else SymbolKind.SIZE))
    return tuple(names)


def _size(walk: Resolver, name: Token, kind: SymbolKind, local: dict[str, Symbol] | None, *, values: bool) -> None:
    value = walk.resolution.top.symbols.get(name.text)
    known = walk.resolution.sizes if local is None else local
    span = walk.span(name)
    is_value = values and name.text not in known and value is not None and value.name_class is NameClass.ARRAY
    if value is not None and (is_value or value.kind is SymbolKind.PARAM):
        walk.stands(name, ResolvedName(value, value.name_class), walk.resolution.top, ReferenceKind.READ)
    elif name.text in known:
        walk.mention(known[name.text], span, ReferenceKind.READ)
    else:
        known[name.text] = walk.symbol(name.text, kind, NameClass.ARRAY, span)
        walk.mention(known[name.text], span, ReferenceKind.BIND)


def _leaves(tokens: tuple[Token, ...], inside: bool = False) -> Iterator[tuple[Token, bool]]:
    """Every token that is not a group, and whether it stands in a shape."""
    for token in tokens:
        if token.items:
            yield from _leaves(token.items, inside or token.kind is TokenKind.BRACKETS)
        else:
            yield token, inside


def finish(binding: BindContext, pieces: Sequence[RawStatement]) -> None:
    """What only the whole text tells: names in schedules, signatures without a binding."""
    names = binding.names
    added = names.begin()
    for piece in pieces:
        if not piece.text.startswith("schedule") or keyword_of(piece.text) != "schedule":
            continue
        binding.base = piece.start
        for word in _SCHEDULED.finditer(piece.text):
            symbol = names.top.symbols.get(word.group())
            if symbol is not None:
                added.mentions.append(Mention(binding.of(_token(word)), symbol, ReferenceKind.READ))
    for name, declared in names.pending.items():
        symbol = Symbol(name, SymbolKind.FUNCTION, NameClass.FUNCTION, declared.spans[-1], declared.spans[-1])
        added.symbols.append(symbol)
        added.mentions += [Mention(span, symbol, ReferenceKind.DECLARE) for span in declared.spans]
