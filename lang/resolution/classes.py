"""What class of thing a run of tokens denotes, told by the names in scope before anything is bound.

A name is in scope as a function where it is mentioned only if the statement that binds it is known to bind one, which its last
item tells.
"""

from __future__ import annotations

from ..definitions import NameClass
from ..lexer import TokenKind
from ..tokens import Token, mentions, split_at
from ..vocabulary import CONVERSIONS, DYADIC_OPERATORS, FUNCTIONS
from .symbols import ModuleNames, Scope

Tokens = tuple[Token, ...]


def is_member(scope: Scope, tokens: Tokens, at: int) -> bool:
    """Whether the name at `at` is the member in `module.name`."""
    if at < 2 or tokens[at - 1].text != "." or tokens[at - 1].kind is not TokenKind.GLYPH:
        return False
    module = tokens[at - 2]
    return module.kind is TokenKind.NAME and scope.class_of(module.text) is NameClass.MODULE


def member_class(scope: Scope, modules: ModuleNames | None, module: str, name: str) -> NameClass | None:
    """The class of `module.name`, a function where modules cannot be read; None if there is no such name."""
    found = scope.find(module)
    exported = modules(found.symbol.path) if modules is not None and found is not None and found.symbol is not None else None
    return NameClass.FUNCTION if exported is None else exported.get(name)


def is_assignment(tokens: Tokens) -> bool:
    """Whether a statement has the form `name ← …`, `_ ← …` or `(names) ← …`."""
    if len(tokens) < 2 or tokens[1].kind is not TokenKind.GETS:
        return False
    return tokens[0].kind is not TokenKind.QUAD or tokens[0].text != "⎕"


def has_diamond(token: Token) -> bool:
    return any(item.kind is TokenKind.SEPARATOR and item.text == "⋄" for item in token.items)


def is_notation(token: Token) -> bool:
    """Whether brackets are array notation: empty, or with a `⋄` or a newline between items; else they index or say an axis."""
    if any(item.kind is TokenKind.SEMICOLON for item in token.items):
        return False
    return has_diamond(token) or len([part for part in split_at(token.items, TokenKind.SEPARATOR) if part]) != 1


def ends_in_function(scope: Scope, tokens: Tokens, modules: ModuleNames | None) -> bool:
    """Whether a sequence denotes a function or an operator, by its last item alone."""
    while tokens:
        last = tokens[-1]
        if len(tokens) > 1 and _is_dyadic_operator(scope, tokens[-2]):
            return True
        match last.kind:
            case TokenKind.BRACES | TokenKind.GLYPH:
                return True
            case TokenKind.NAME if is_member(scope, tokens, len(tokens) - 1):
                return member_class(scope, modules, tokens[-3].text, last.text) not in (None, NameClass.ARRAY)
            case TokenKind.NAME:
                return last.text in CONVERSIONS or scope.class_of(last.text) not in (None, NameClass.ARRAY)
            case TokenKind.QUAD:
                return last.text in FUNCTIONS
            case TokenKind.PARENTHESES if not has_diamond(last):
                tokens = last.items
            case TokenKind.BRACKETS if not is_notation(last):
                tokens = tokens[:-1]
            case _:
                return False
    return False


def _is_dyadic_operator(scope: Scope, token: Token) -> bool:
    if token.kind is TokenKind.GLYPH:
        return token.text in DYADIC_OPERATORS and token.text != "."
    return token.kind is TokenKind.NAME and scope.class_of(token.text) is NameClass.DYADIC_OPERATOR


def class_of_value(scope: Scope, value: Tokens, modules: ModuleNames | None) -> NameClass:
    """The class of a name that gets this value."""
    if not ends_in_function(scope, value, modules):
        return NameClass.ARRAY
    while len(value) == 1 and value[0].kind is TokenKind.PARENTHESES:
        value = tuple([item for item in value[0].items if item.kind is not TokenKind.SEPARATOR])
    if len(value) == 1 and value[0].kind is TokenKind.NAME:
        return scope.class_of(value[0].text) or NameClass.FUNCTION
    if len(value) == 3 and is_member(scope, value, 2):
        return member_class(scope, modules, value[0].text, value[2].text) or NameClass.FUNCTION
    if len(value) == 1 and value[0].kind is TokenKind.BRACES:
        if mentions(value[0].items, "⍵⍵"):
            return NameClass.DYADIC_OPERATOR
        if mentions(value[0].items, "⍺⍺"):
            return NameClass.MONADIC_OPERATOR
    return NameClass.FUNCTION


def function_start(scope: Scope, tokens: Tokens, at: int) -> int:
    """Where the function written directly left of the `←` at `at` starts; `at` if there is none.

    It may be a primitive, a dfn, a parenthesised function, a name of a function, and operators between them.
    """
    first = at
    while first > 0:
        token = tokens[first - 1]
        if token.kind is TokenKind.NAME:
            if scope.class_of(token.text) in (None, NameClass.ARRAY, NameClass.MODULE):
                break
            if first == at and (first < 2 or not _may_be_modified(scope, tokens[first - 2])):
                break
        elif token.kind is TokenKind.PARENTHESES:
            if not _holds_function(scope, token):
                break
        elif token.kind not in (TokenKind.GLYPH, TokenKind.BRACES) and not (
            token.kind is TokenKind.NUMBERS and first > 1 and tokens[first - 2].text in ("⍤", "⍣", "∘")
        ):
            break
        first -= 1
    return first


def _may_be_modified(scope: Scope, token: Token) -> bool:
    """Whether what stands left of a named function before `←` makes it `x f←`, not the naming of an array `f`."""
    if token.kind is TokenKind.NAME:
        return scope.class_of(token.text) is NameClass.ARRAY
    return token.kind is TokenKind.BRACKETS


def _holds_function(scope: Scope, token: Token) -> bool:
    """Whether parentheses before `←` hold a function, not names to destructure into."""
    names_only = all(item.kind in (TokenKind.NAME, TokenKind.SLOT, TokenKind.PARENTHESES) for item in token.items)
    if not names_only:
        return bool(token.items)
    first = token.items[0] if len(token.items) == 1 else None
    return first is not None and first.kind is TokenKind.NAME and scope.class_of(first.text) is NameClass.FUNCTION
