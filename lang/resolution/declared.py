"""The names in statements that have a grammar of their own: `use`, `input`, `param`, `output`, `schedule`, types of names.

Neighbour: `walk` (which these are part of).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from ..declarations import keyword_of
from ..definitions import NameClass, Symbol, SymbolKind
from ..lexer import ARGUMENTS, COMMENT, NAME, TEXT, WORD_END, TokenKind
from ..module_names import called
from ..primitives import ELEMENT_NAMES
from ..splitter import Piece
from ..tokens import Token, read
from ..units import Binding
from .symbols import Access, Declared, Meaning, Mention
from .walk import Walk

_WORD = re.compile(NAME)
_CUT = re.compile(rf"{TEXT}|{COMMENT}|(?P<gets>←)|(?P<where>(?<![\w∆])where{WORD_END})")
_NOT_SIZES = ELEMENT_NAMES | {"idx", "int", "perm", "where"}
_SCHEDULED = re.compile(rf"{COMMENT}|(?<![\w∆]){NAME}{WORD_END}(?!\s*\{{)")
_CLASSES = frozenset({"num", "real", "int", "ord"})


def declaration(walk: Walk, text: str) -> None:
    """One declaration; the names of schedules are those that the whole text has (`finish`)."""
    word = keyword_of(text)
    if word == "use":
        _use(walk, text, len(word))
    elif word != "schedule":
        _named(walk, text, len(word), word)


def _token(found: re.Match[str]) -> Token:
    return Token(TokenKind.NAME, found.start(), found.end(), found.group())


def _use(walk: Walk, text: str, start: int) -> None:
    path = re.compile(TEXT).search(text, start)
    if path is not None:
        file = path.group()[1:-1]
        name = Token(TokenKind.NAME, path.start(), path.end(), called(file))
    else:
        word = _WORD.search(text, start)
        if word is None:
            return
        name, file = _token(word), word.group()
    symbol = walk.create(walk.found.top, name, NameClass.MODULE)
    symbol.path = file
    walk.enter(walk.found.top, symbol)


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
    top = walk.found.top
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
        known = walk.found.pending.get(name.text)
        walk.found.pending[name.text] = Declared((*(() if known is None else known.spans), walk.span(name)))
    if keyword not in ("param", "output"):
        _sizes(walk, text, name.end, type_end, local, values=keyword != "input")
    if where is not None:
        _sizes(walk, text, where, len(text), local, values=True)


def _cut(text: str, start: int) -> tuple[int | None, int | None]:
    """Where the value and the facts of a declaration begin."""
    gets = where = None
    for found in _CUT.finditer(text, start):
        if found.group("gets") and gets is None:
            gets = found.start()
        elif found.group("where"):
            where = found.start()
    return gets, where


def _sizes(walk: Walk, text: str, start: int, end: int, local: dict[str, Symbol] | None, *, values: bool) -> None:
    """The sizes and element variables between two places; `local` are those of a signature, `values`: integers may be sizes."""
    walk.shift += start
    for name, kind in _sizes_in(text[start:end]):
        _size(walk, name, kind, local, values=values and local is None)
    walk.shift -= start


@lru_cache(maxsize=20_000)
def _sizes_in(text: str) -> tuple[tuple[Token, SymbolKind], ...]:
    """The sizes and element variables in types or facts; kept, for many are written alike."""
    found: list[tuple[Token, SymbolKind]] = []
    leaves = list(_leaves(read(text).tokens))
    for index, (token, inside) in enumerate(leaves):
        if token.kind is not TokenKind.NAME or token.text in ARGUMENTS:
            continue
        previous = leaves[index - 1][0] if index else None
        if token.text in _CLASSES and previous is not None and previous.kind is TokenKind.NAME and not inside:
            continue
        if token.text not in _NOT_SIZES:
            found.append((token, SymbolKind.ELEMENT if token.text[:1].isupper() and not inside else SymbolKind.SIZE))
    return tuple(found)


def _size(walk: Walk, name: Token, kind: SymbolKind, local: dict[str, Symbol] | None, *, values: bool) -> None:
    value = walk.found.top.symbols.get(name.text)
    known = walk.found.sizes if local is None else local
    span = walk.span(name)
    is_value = values and name.text not in known and value is not None and value.name_class is NameClass.ARRAY
    if value is not None and (is_value or value.kind is SymbolKind.PARAM):
        walk.stands(name, Meaning(value, value.name_class), walk.found.top, Access.READ)
    elif name.text in known:
        walk.mention(known[name.text], span, Access.READ)
    else:
        known[name.text] = walk.symbol(name.text, kind, NameClass.ARRAY, span)
        walk.mention(known[name.text], span, Access.BIND)


def _leaves(tokens: tuple[Token, ...], inside: bool = False) -> Iterator[tuple[Token, bool]]:
    """Every token that is not a group, and whether it stands in a shape."""
    for token in tokens:
        if token.items:
            yield from _leaves(token.items, inside or token.kind is TokenKind.BRACKETS)
        else:
            yield token, inside


def finish(binding: Binding, pieces: Sequence[Piece]) -> None:
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
                added.mentions.append(Mention(binding.of(_token(word)), symbol, Access.READ))
    for name, declared in names.pending.items():
        symbol = Symbol(name, SymbolKind.FUNCTION, NameClass.FUNCTION, declared.spans[-1], declared.spans[-1])
        added.symbols.append(symbol)
        added.mentions += [Mention(span, symbol, Access.DECLARE) for span in declared.spans]
