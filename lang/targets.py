"""Targets of assignments: a name, `_`, or names in parentheses."""

from __future__ import annotations

from . import tree
from .codes import Code
from .definitions import Argument
from .lexer import ARGUMENTS, TokenKind
from .source import Span
from .tokens import Token
from .units import Binding
from .vocabulary import RESERVED


def target_of(binding: Binding, token: Token) -> tree.Target:
    """The target a token spells, or E010, E014 or E018."""
    span = binding.of(token)
    match token.kind:
        case TokenKind.NAME:
            return checked_name(binding, token)
        case TokenKind.SLOT:
            return tree.DiscardTarget(span)
        case TokenKind.PARENTHESES if token.items:
            items = tuple(target_of(binding, item) for item in token.items if item.kind is not TokenKind.SEPARATOR)
            return items[0] if len(items) == 1 else tree.TupleTarget(span, items)
        case TokenKind.QUAD if token.text == "⎕IO":
            raise binding.problem(Code.E018, "`⎕IO` is set, to 0 or 1, by the first statement of a file only", span)
    notes = ("names get values, and items of one: `x[i]←v`, or `v@i ⊢ x` for a changed array",)
    raise binding.problem(Code.E010, f"`{binding.written(token)}` cannot be given a value", span, notes=notes)


def checked_name(binding: Binding, token: Token) -> tree.NameTarget:
    span, name = allowed_name(binding, token)
    if name in ARGUMENTS:
        return tree.NameTarget(span, name, Argument(name))
    meaning = binding.meaning(token)
    if meaning is None or meaning.symbol is None:  # what follows makes no assignment of it
        raise binding.problem(Code.E010, f"`{name}` cannot be given a value here", span)
    return tree.NameTarget(span, name, meaning.symbol)


def allowed_name(binding: Binding, token: Token) -> tuple[Span, str]:
    """A name that may get a value, else E010 or E014."""
    name, span = token.text, binding.of(token)
    if name in RESERVED:
        raise binding.problem(Code.E014, f"`{name}` is a reserved word and cannot be a name", span)
    if name in ("⍺⍺", "⍵⍵"):
        raise binding.problem(Code.E010, f"`{name}` is an operand and cannot be given a value", span)
    return span, name
