"""The names in statements that have a grammar of their own: `use`, `input`, `param`, `output`, `schedule`, types of names.

Neighbour: `walk` (which these are part of).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..declarations import keyword_of
from ..lexer import ARGUMENTS, COMMENT, NAME, TEXT, WORD_END, TokenKind
from ..primitives import ELEMENT_NAMES
from ..source import Span
from ..splitter import Piece
from ..tokens import Token, read
from ..tree import NameClass
from .symbols import Access, Symbol, SymbolKind
from .walk import Walk

_WORD = re.compile(NAME)
_CUT = re.compile(rf"{TEXT}|{COMMENT}|(?P<gets>←)|(?P<where>(?<![\w∆])where{WORD_END})")
_NOT_SIZES = ELEMENT_NAMES | {"idx", "int", "perm", "where"}
_CLASSES = frozenset({"num", "real", "int", "ord"})


def declaration(walk: Walk, piece: Piece, schedules: list[Piece]) -> None:
    """One declaration."""
    word = keyword_of(piece.text)
    start = len(word)
    if word == "schedule":
        schedules.append(piece)
    elif word == "use":
        _use(walk, piece.text, start)
    else:
        _named(walk, piece.text, start, word)


def _token(found: re.Match[str]) -> Token:
    return Token(TokenKind.NAME, found.start(), found.end(), found.group())


def _use(walk: Walk, text: str, start: int) -> None:
    path = re.compile(TEXT).search(text, start)
    if path is not None:
        name, file = re.split(r"[/\\]", path.group()[1:-1])[-1].removesuffix(".rho"), path.group()[1:-1]
        span = walk.between(path.start(), path.end())
    else:
        word = _WORD.search(text, start)
        if word is None:
            return
        name = file = word.group()
        span = walk.span(_token(word))
    symbol = walk.create(walk.top, name, SymbolKind.MODULE, span)
    symbol.path = file
    walk.enter(walk.top, symbol, NameClass.MODULE)


def _named(walk: Walk, text: str, start: int, keyword: str) -> None:
    word = _WORD.search(text, start)
    if word is None:
        return
    name = _token(word)
    gets, where = _cut(text, name.end)
    type_end = min(gets if gets is not None else len(text), where if where is not None else len(text))
    types = text[name.end : type_end]
    signature = not keyword and "→" in types
    local: dict[str, Symbol] | None = {} if signature else None
    if gets is not None and keyword != "input":
        value = text[gets + 1 : where if where is not None and where > gets else len(text)]
        walk.base += gets + 1
        walk.sequence(read(value).tokens, walk.top)
        walk.base -= gets + 1
    if keyword == "input":
        symbol = walk.bind(walk.top, name)
        symbol.kind = SymbolKind.INPUT
    elif keyword == "param":
        symbol = walk.bind(walk.top, name)
        symbol.kind = SymbolKind.PARAM
    elif gets is not None:
        walk.bind(walk.top, name)
    elif keyword == "output":
        found = walk.top.find(name.text)
        if found is not None:
            walk.mention(found, walk.span(name), Access.READ)
    else:
        walk.pending[name.text] = (*walk.pending.get(name.text, ()), walk.span(name))
    if keyword not in ("param", "output"):
        _sizes(walk, text, name.end, type_end, local)
    if where is not None:
        _sizes(walk, text, where, len(text), local)


def _cut(text: str, start: int) -> tuple[int | None, int | None]:
    """Where the value and the facts of a declaration begin."""
    gets = where = None
    for found in _CUT.finditer(text, start):
        if found.group("gets") and gets is None:
            gets = found.start()
        elif found.group("where"):
            where = found.start()
    return gets, where


def _sizes(walk: Walk, text: str, start: int, end: int, local: dict[str, Symbol] | None) -> None:
    """The sizes and element variables between two places; `local` are those of a signature."""
    leaves = list(_leaves(read(text[start:end]).tokens))
    for index, (token, inside) in enumerate(leaves):
        if token.kind is not TokenKind.NAME or token.text in ARGUMENTS:
            continue
        previous = leaves[index - 1][0] if index else None
        if token.text in _CLASSES and previous is not None and previous.kind is TokenKind.NAME and not inside:
            continue
        if token.text in _NOT_SIZES:
            continue
        name = Token(token.kind, token.start + start, token.end + start, token.text)
        _size(walk, name, SymbolKind.ELEMENT if token.text[:1].isupper() and not inside else SymbolKind.SIZE, local)


def _size(walk: Walk, name: Token, kind: SymbolKind, local: dict[str, Symbol] | None) -> None:
    param = walk.top.find(name.text)
    known = walk.sizes if local is None else local
    span = walk.span(name)
    if param is not None and param.kind is SymbolKind.PARAM:
        walk.mention(param, span, Access.READ)
    elif name.text in known:
        walk.mention(known[name.text], span, Access.READ)
    else:
        symbol = Symbol(name.text, kind, span, walk.statement)
        known[name.text] = symbol
        walk.symbols.append(symbol)
        walk.mention(symbol, span, Access.BIND)


def _leaves(tokens: tuple[Token, ...], inside: bool = False) -> Iterator[tuple[Token, bool]]:
    """Every token that is no group, and whether it stands in a shape."""
    for token in tokens:
        if token.items:
            yield from _leaves(token.items, inside or token.kind is TokenKind.BRACKETS)
        else:
            yield token, inside


def finish(walk: Walk, schedules: list[Piece]) -> None:
    """What only the whole text tells: names in schedules, signatures without a binding."""
    for piece in schedules:
        walk.base = piece.start
        for word in re.finditer(rf"{COMMENT}|(?<![\w∆]){NAME}{WORD_END}(?!\s*\{{)", piece.text):
            found = walk.top.find(word.group())
            if found is not None:
                walk.mention(found, walk.span(_token(word)), Access.READ)
    for name, spans in walk.pending.items():
        span: Span = spans[-1]
        symbol = Symbol(name, SymbolKind.FUNCTION, span, span)
        walk.symbols.append(symbol)
        for declared in spans:
            walk.mention(symbol, declared, Access.DECLARE)
