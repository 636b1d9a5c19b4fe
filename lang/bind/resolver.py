"""Name resolution: finds the symbol of each name, for the binder and for editors, also in statements with errors.

Scoping is lexical and expressions are evaluated from right to left, so the resolver walks the tokens in the order of evaluation
and gives each the symbol in scope there.  A name that is bound again gets another `Symbol`; `x[i]←v` and `x f← v`
keep the old one.  A signature belongs to the next binding of its name.  Sizes in types have symbols too: those of a signature
are local to it, those of inputs and annotations belong to the program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from ..primitives.table import ELEMENT_NAMES
from ..syntax.reader import RawStatement
from ..syntax.source import (
    ARGUMENTS,
    COMMENT,
    NAME,
    RESERVED,
    TEXT,
    WORD_END,
    Span,
    Token,
    TokenKind,
    Tokens,
    mentions,
    names_in,
    read,
    split_at,
)
from ..tree.expressions import KINDS, NameClass, Symbol, SymbolKind
from .declarations import keyword_of
from .names import module_stem
from .scopes import (
    BindContext,
    NameScope,
    PendingSignature,
    Reference,
    ReferenceKind,
    ResolvedName,
    ResolvedValue,
    UnresolvedName,
    class_of_value,
    function_start,
    is_assignment,
    is_member,
    member_class,
)

# ---------------------------------------------------------------------------------------------------- expressions

class Resolver:
    """Resolves the names of one statement: returns its tokens with their meanings, and records symbols and references in
    `context.resolution`.

    `previous` has the reusable symbols of the previous version of the text, by name: a name that is bound again as the same kind
    keeps its symbol."""

    def __init__(self, context: BindContext, statement: Span, previous: dict[str, list[Symbol]]) -> None:
        self.context = context
        self.resolution = context.resolution
        self.added = context.resolution.begin_statement()
        self.statement = statement
        self._previous = previous
        self.offset = 0
        self.signed_sizes: Mapping[str, Symbol] = {}

    def span(self, token: Token) -> Span:
        return self.between(token.start, token.end)

    def between(self, start: int, end: int) -> Span:
        """The span of a range of the text that is being resolved."""
        return self.context.span(self.offset + start, self.offset + end)

    def record(self, symbol: Symbol, span: Span, access: ReferenceKind, member: str | None = None) -> None:
        if symbol.depth == 0 and access in (ReferenceKind.READ, ReferenceKind.CHANGE):
            self.added.uses[symbol] = None
        self.added.references.append(Reference(span, symbol, access, member))

    def symbol(self, name: str, kind: SymbolKind, name_class: NameClass, span: Span, depth: int = 0) -> Symbol:
        """A symbol that is not yet in scope: that of the previous version if kind and class are the same."""
        for at, symbol in enumerate(self._previous.get(name, ()) if depth == 0 else ()):
            if symbol.kind is kind and symbol.name_class is name_class:
                del self._previous[name][at]
                symbol.span, symbol.statement, symbol.path, symbol.declared = span, self.statement, "", None
                break
        else:
            symbol = Symbol(name, kind, name_class, span, self.statement, depth)
        self.added.symbols.append(symbol)
        return symbol

    def create(self, scope: NameScope, token: Token, name_class: NameClass, kind: SymbolKind | None = None) -> Token:
        """The name of a new binding with its pending signatures attached; not yet in scope."""
        name, span = token.text, self.span(token)
        symbol = self.symbol(name, kind or KINDS[name_class], name_class, span, scope.depth)
        (scope.bound if scope.depth else self.added.bound).append(symbol)
        pending = self.resolution.pending.pop(name, None) if scope is self.resolution.top else None
        for declared in () if pending is None else pending.spans:
            symbol.declared = declared
            self.record(symbol, declared, ReferenceKind.DECLARE)
        self.record(symbol, span, ReferenceKind.BIND)
        return token._replace(meaning=ResolvedName(symbol, name_class))

    def bind(self, scope: NameScope, token: Token, kind: SymbolKind | None = None) -> Token:
        """Bind the name of an array and bring it into scope."""
        name = self.create(scope, token, NameClass.ARRAY, kind)
        self.enter(scope, name.meaning.symbol)
        return name

    def enter(self, scope: NameScope, symbol: Symbol) -> None:
        """Bring a symbol into scope."""
        if scope is self.resolution.top and symbol.name not in scope.symbols:
            self.resolution.new_names.append(symbol.name)
        scope.enter(symbol)

    # ------------------------------------------------------------------------------ expressions

    def sequence(self, tokens: Tokens, scope: NameScope) -> Tokens:
        """Resolve a sequence from right to left, in the order of evaluation."""
        resolved: list[Token] = []  # right to left
        at = len(tokens) - 1
        while at >= 0:
            token = tokens[at]
            if token.kind is TokenKind.GETS and at > 0:
                at = self.assignment(tokens, at, scope, resolved)
            elif token.kind is TokenKind.NAME and is_member(scope, tokens, at):
                resolved.append(self.member(tokens[at - 2], token, scope))
                at -= 3
            else:
                resolved.append(self.reference(token, scope) if token.kind is TokenKind.NAME else self.group(token, scope))
                at -= 1
        return tuple(resolved[::-1])

    def member(self, module: Token, name: Token, scope: NameScope) -> Token:
        """Resolve `module.name`, which becomes one token with the two as its items."""
        qualifier = self.reference(module, scope, name).meaning.symbol
        name_class = member_class(scope, self.context.modules, module.text, name.text)
        meaning = ResolvedName(qualifier, name_class)
        return Token(TokenKind.NAME, module.start, name.end, f"{module.text}.{name.text}", (module, name), meaning)

    def reference(self, token: Token, scope: NameScope, member: Token | None = None) -> Token:
        """Resolve a name, or an argument of a dfn, that is read here."""
        name = token.text
        if name in ARGUMENTS:
            argument = scope.operands.get(name) if name in ("⍺⍺", "⍵⍵") else NameClass.ARRAY if scope.depth else None
            meaning = None if argument is None else ResolvedName(None, argument)
        else:
            meaning = scope.find(name)
        return self.resolve_to(token, meaning, scope, ReferenceKind.READ, member)

    def resolve_to(
        self, token: Token, meaning: ResolvedName | None, scope: NameScope, access: ReferenceKind, member: Token | None = None
    ) -> Token:  # fmt: skip
        """The token with what its name stands for, after recording the reference."""
        if meaning is None:
            inner, new_names = scope.visible_symbols(self.resolution.top), len(self.resolution.new_names)
            return token._replace(meaning=UnresolvedName(scope.depth > 0, tuple(inner), new_names))
        symbol = meaning.symbol
        if symbol is not None and member is not None:
            self.record(symbol, self.span(member), access, member.text)
        if symbol is not None:
            self.record(symbol, self.span(token), access)
            scope.capture(symbol)
        return token._replace(meaning=meaning)

    def group(self, token: Token, scope: NameScope) -> Token:
        """Resolve the content of a group."""
        match token.kind:
            case TokenKind.BRACES:
                return self.dfn(token, scope)
            case TokenKind.PARENTHESES | TokenKind.BRACKETS:
                return token._replace(items=self.parts(token.items, TokenKind.SEPARATOR, scope))
        return token

    def parts(self, tokens: Tokens, mark: TokenKind, scope: NameScope) -> Tokens:
        """Resolve the sequences between separators, and in each those between semicolons, the last one first."""
        resolved: list[Token] = []  # right to left
        end = len(tokens)
        for at in range(len(tokens) - 1, -2, -1):
            if at < 0 or tokens[at].kind is mark:
                part = tokens[at + 1 : end]
                inside = mark is TokenKind.SEPARATOR
                resolved += (self.parts(part, TokenKind.SEMICOLON, scope) if inside else self.sequence(part, scope))[::-1]
                resolved += tokens[at : at + 1] if at >= 0 else ()
                end = at
        return tuple(resolved[::-1])

    def dfn(self, token: Token, scope: NameScope) -> Token:
        """Resolve a dfn, which is a block with its own scope: its meaning is what it captures.

        The meaning of a user operator is the scope of its definition; its body is resolved at each application."""
        inner = scope.inner()
        if not scope.depth:
            inner.sizes = self.signed_sizes
        is_operator = mentions(token.items, "⍺⍺") or mentions(token.items, "⍵⍵")
        definition = inner.restricted_to(names_in(token.items)) if is_operator else None
        for symbol in definition.symbols.values() if definition is not None else ():
            inner.capture(symbol)
        self.added.blocks.append((self.span(token), inner))
        items = self.body(token, inner)
        inner.parent = None
        if definition is not None:
            return token._replace(meaning=definition)
        return token._replace(items=items, meaning=tuple(inner.captures))

    def body(self, token: Token, scope: NameScope) -> Tokens:
        """Resolve the statements of a dfn."""
        resolved: list[Token] = []
        marks = [item for item in token.items if item.kind is TokenKind.SEPARATOR]
        for number, part in enumerate(split_at(token.items, TokenKind.SEPARATOR)):
            resolved += marks[number - 1 : number] if number else ()
            colon = next((index for index, item in enumerate(part) if item.kind is TokenKind.COLON), None)
            if colon is None:
                resolved += self.statement_of(part, scope)
            else:
                resolved += self.sequence(part[:colon], scope)
                resolved += (part[colon], *self.sequence(part[colon + 1 :], scope.branch()))
        return tuple(resolved)

    def statement_of(self, tokens: Tokens, scope: NameScope) -> Tokens:
        """Resolve `name ← value` (the name of a function is visible in its own dfn) or an expression."""
        name_class = NameClass.ARRAY
        if is_assignment(tokens) and tokens[0].kind is TokenKind.NAME and tokens[0].text not in RESERVED:
            name_class = class_of_value(scope, tokens[2:], self.context.modules)
        if name_class is NameClass.ARRAY or tokens[0].text in ARGUMENTS:
            return self.sequence(tokens, scope)
        pending = self.resolution.pending.get(tokens[0].text) if scope is self.resolution.top else None
        name = self.create(scope, tokens[0], name_class)
        symbol: Symbol = name.meaning.symbol
        outer, scope.defining = scope.defining, symbol
        self.signed_sizes = {} if pending is None else pending.sizes
        value = self.sequence(tokens[2:], scope)
        self.signed_sizes = {}
        scope.defining = outer
        self.enter(scope, symbol)
        return (name, tokens[1], *value)

    # ------------------------------------------------------------------------------ assignment

    def assignment(self, tokens: Tokens, at: int, scope: NameScope, resolved: list[Token]) -> int:
        """Resolve the `←` at `at`, whose items become the function of `x f← v`, and its target; return the index of the token to
        the left of these."""
        first = function_start(scope, tokens, at)
        left = tokens[first - 1] if first else None
        if left is None or not (left.kind is TokenKind.BRACKETS or (left.kind is TokenKind.NAME and first < at)):
            resolved += (tokens[at], self.target(tokens[at - 1], scope))
            return at - 2
        resolved.append(tokens[at]._replace(items=self.sequence(tokens[first:at], scope)))
        if left.kind is TokenKind.BRACKETS:
            resolved.append(self.group(left, scope))
            first -= 1
        if not first or tokens[first - 1].kind is not TokenKind.NAME:
            return first - 1
        name = tokens[first - 1]
        changed = name.text not in ARGUMENTS
        resolved.append(
            self.resolve_to(name, scope.find(name.text), scope, ReferenceKind.CHANGE) if changed else self.reference(name, scope)
        )
        return first - 2

    def target(self, token: Token, scope: NameScope) -> Token:
        if token.kind is TokenKind.NAME and token.text not in RESERVED and token.text not in ARGUMENTS:
            return self.bind(scope, token)
        if token.kind is TokenKind.PARENTHESES:
            return token._replace(items=tuple([self.target(item, scope) for item in token.items]))
        return self.group(token, scope)


# ---------------------------------------------------------------------------------------------------- declarations
#
# The names in `use`, `input`, `param`, `output`, signatures and annotations.  Those of `schedule` blocks are resolved last
# (`finish`), since a block may name values that are bound after it.

_WORD = re.compile(NAME)
_VALUE_OR_FACTS = re.compile(rf"{TEXT}|{COMMENT}|(?P<gets>←)|(?P<where>(?<![\w∆])where{WORD_END})")
_NOT_SIZES = ELEMENT_NAMES | {"idx", "int", "perm", "where"}
_SCHEDULED = re.compile(rf"{COMMENT}|(?<![\w∆]){NAME}{WORD_END}(?!\s*\{{)")
_CLASSES = frozenset({"num", "real", "int", "ord"})


def resolve_declaration(resolver: Resolver, text: str) -> ResolvedValue:
    """Resolve the names of one declaration other than `schedule`; returns its value."""
    word = keyword_of(text)
    if word == "use":
        _resolve_use(resolver, text, len(word))
    elif word != "schedule":
        return _resolve_named(resolver, text, len(word), word)
    return ResolvedValue()


def _token(match: re.Match[str]) -> Token:
    return Token(TokenKind.NAME, match.start(), match.end(), match.group())


def _resolve_use(resolver: Resolver, text: str, start: int) -> None:
    path = re.compile(TEXT).search(text, start)
    if path is not None:
        file = path.group()[1:-1]
        name = Token(TokenKind.NAME, path.start(), path.end(), module_stem(file))
    else:
        word = _WORD.search(text, start)
        if word is None:
            return
        name, file = _token(word), word.group()
    symbol: Symbol = resolver.create(resolver.resolution.top, name, NameClass.MODULE).meaning.symbol
    symbol.path = file
    resolver.enter(resolver.resolution.top, symbol)


def _resolve_named(resolver: Resolver, text: str, start: int, keyword: str) -> ResolvedValue:
    word = _WORD.search(text, start)
    if word is None:
        return ResolvedValue()
    name, resolved = _token(word), ResolvedValue()
    gets, where = _value_and_facts(text, name.end)
    if keyword == "output":
        where = None  # its value may hold the word; an output has no facts
    type_end = min(gets if gets is not None else len(text), where if where is not None else len(text))
    types = text[name.end : type_end]
    signature = not keyword and "→" in types
    local: dict[str, Symbol] | None = {} if signature else None
    top = resolver.resolution.top
    if gets is not None and keyword != "input":
        value = read(text[gets + 1 : where if where is not None and where > gets else len(text)]).tokens
        resolver.offset += gets + 1
        if keyword:
            tokens = resolver.sequence(value, top)
        else:
            assigned = Token(TokenKind.NAME, name.start - gets - 1, name.end - gets - 1, name.text)
            tokens = resolver.statement_of((assigned, Token(TokenKind.GETS, -1, 0, "←"), *value), top)
        resolver.offset -= gets + 1
        resolved = ResolvedValue(gets + 1, tokens)
    if keyword == "input":
        resolver.bind(top, name, SymbolKind.INPUT)
    elif keyword == "param":
        resolver.bind(top, name, SymbolKind.PARAM)
    elif keyword and gets is not None:
        resolver.bind(top, name)
    elif keyword:
        resolved = ResolvedValue(0, (resolver.reference(name, top),))
    elif gets is None:
        known = resolver.resolution.pending.get(name.text)
        spans = (*(() if known is None else known.spans), resolver.span(name))
        resolver.resolution.pending[name.text] = PendingSignature(spans, {} if local is None else local)
    if keyword not in ("param", "output"):
        _resolve_sizes(resolver, text, name.end, type_end, local, values=keyword != "input")
    if where is not None:
        _resolve_sizes(resolver, text, where, len(text), local, values=True)
    return resolved


def _value_and_facts(text: str, start: int) -> tuple[int | None, int | None]:
    """The offsets of the `←` and of the last `where` of a declaration."""
    gets = where = None
    for match in _VALUE_OR_FACTS.finditer(text, start):
        if match.group("gets") and gets is None:
            gets = match.start()
        elif match.group("where"):
            where = match.start()
    return gets, where


def _resolve_sizes(resolver: Resolver, text: str, start: int, end: int, local: dict[str, Symbol] | None, *, values: bool) -> None:
    """Resolve the sizes and element variables in a range of the text.

    `local` has the names of the enclosing signature (None outside one); with `values`, a size may name an integer of the program,
    else only a param.
    """
    resolver.offset += start
    for name, kind in _sizes_in(text[start:end]):
        _resolve_size(resolver, name, kind, local, values=values)
    resolver.offset -= start


@lru_cache(maxsize=20_000)
def _sizes_in(text: str) -> tuple[tuple[Token, SymbolKind], ...]:
    """The sizes and element variables in types or facts; cached, since programs repeat types."""
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


def _resolve_size(resolver: Resolver, name: Token, kind: SymbolKind, local: dict[str, Symbol] | None, *, values: bool) -> None:
    value = resolver.resolution.value_in_size(name.text, in_signature=local is not None)
    known = resolver.resolution.sizes if local is None else local
    span = resolver.span(name)
    if value is not None and (values or value.kind is SymbolKind.PARAM):
        resolver.resolve_to(name, ResolvedName(value, value.name_class), resolver.resolution.top, ReferenceKind.READ)
    elif name.text in known:
        resolver.record(known[name.text], span, ReferenceKind.READ)
    else:
        known[name.text] = resolver.symbol(name.text, kind, NameClass.ARRAY, span, depth=0 if local is None else 1)
        resolver.record(known[name.text], span, ReferenceKind.BIND)


def _leaves(tokens: Tokens, inside: bool = False) -> Iterator[tuple[Token, bool]]:
    """Every token that is not a group, and whether it is inside a shape."""
    for token in tokens:
        if token.items:
            yield from _leaves(token.items, inside or token.kind is TokenKind.BRACKETS)
        else:
            yield token, inside


def finish(context: BindContext, raw_statements: Sequence[RawStatement]) -> None:
    """Resolve what needs the whole text: names in `schedule` blocks, and signatures without a binding."""
    names = context.resolution
    added = names.begin_statement()
    for raw in raw_statements:
        if not raw.text.startswith("schedule") or keyword_of(raw.text) != "schedule":
            continue
        context.base = raw.start
        for word in _SCHEDULED.finditer(raw.text):
            symbol = names.top.symbols.get(word.group())
            if symbol is not None:
                added.references.append(Reference(context.span_of(_token(word)), symbol, ReferenceKind.READ))
    for name, declared in names.pending.items():
        symbol = Symbol(name, SymbolKind.FUNCTION, NameClass.FUNCTION, declared.spans[-1], declared.spans[-1])
        added.symbols.append(symbol)
        added.references += [Reference(span, symbol, ReferenceKind.DECLARE) for span in declared.spans]
