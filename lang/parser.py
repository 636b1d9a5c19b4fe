"""From a source text to its bound program: `parse_program`.

The text is spelt in glyphs, cut into statements, and each statement is read by the grammar and bound on its
own, so one broken statement costs one message and hides nothing.  Tokens of a statement are cached by its
text; a program that is parsed again with `remembered` statements pays only for what changed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from . import tree
from .codes import Code
from .declarations import bind_declaration, is_declaration
from .dfns import bind_braces, control_word
from .diagnostics import Diagnostic
from .lexer import NAME, TokenKind
from .limits import MAXIMUM_CHARACTERS, ensure_recursion_headroom
from .problems import Problem
from .records import dataclass
from .remembered import Statements
from .scope import ModuleNames, Scope
from .sequences import bind_value, expression_of
from .source import Source, Span
from .spelling import Spelled, spell
from .splitter import Piece, split_statements
from .statements import bind_assignment, failed_names, is_assignment, refuse_bare_names
from .tokens import read
from .tree import NameClass
from .units import Binding, UnitKind
from .unreadable import read_statement

_ORIGIN = re.compile(r"⎕IO[ \t]*←[ \t]*([01])")
_BINDS = re.compile(rf"(?:(?:input|param|output)[ \t]+)?({NAME})[ \t]*(?:←|:[^←\n]*(←)?)")


@dataclass(frozen=True, slots=True)
class Parsed:
    """`names` are the classes of every name in scope after the program, the given ones included."""

    program: tree.Program
    diagnostics: tuple[Diagnostic, ...]
    names: Mapping[str, NameClass]


def parse_program(
    source: Source, *, names: Mapping[str, NameClass] | None = None, modules: ModuleNames | None = None,
    remembered: Statements | None = None,
) -> tuple[tree.Program, tuple[Diagnostic, ...]]:  # fmt: skip
    """The bound program and what is wrong with it; statements that are wrong are left out.

    `names` are names already in scope (a session's).  `modules` tells what a module exports; without it any
    module is taken to exist and its members to be functions.  `remembered` are statements of earlier versions.
    """
    parsed = parse(source, names=names, modules=modules, remembered=remembered)
    return parsed.program, parsed.diagnostics


def parse(
    source: Source, *, names: Mapping[str, NameClass] | None = None, modules: ModuleNames | None = None,
    remembered: Statements | None = None,
) -> Parsed:  # fmt: skip
    """As `parse_program`, with the names in scope afterwards."""
    ensure_recursion_headroom()
    span = Span(source.name, 0, len(source.text))
    if len(source.text) > MAXIMUM_CHARACTERS:
        message = f"the source has {len(source.text)} characters, and the limit is {MAXIMUM_CHARACTERS}"
        return Parsed(tree.Program(span, (), 0), (Diagnostic(Code.E016, message, Span(source.name, 0, 0)),), names or {})
    spelled = spell(source)
    pieces = split_statements(spelled) if remembered is None else remembered.split(spelled)
    origin = index_origin(pieces[0].text) if pieces else None
    if origin is not None:
        pieces = pieces[1:]
    scope = Scope(names=dict(names or {}))
    definitions = cache(lambda: _definitions(pieces))
    binding = Binding(spelled, bind_braces, modules=modules, definitions=definitions, diagnostics=list(spelled.diagnostics))
    statements: list[tree.Statement] = []
    for piece in pieces:
        binding.base = piece.start
        try:
            if _misspelt(spelled, piece):
                raise Problem(None)
            if remembered is None:
                statements.append(_statement(binding, scope, piece))
            else:
                statements.append(remembered.bind(binding, scope, piece, _statement))
        except Problem as problem:
            if problem.diagnostic is not None:
                binding.diagnostics.append(problem.diagnostic)
            _forget(scope, piece)
    diagnostics = tuple(sorted(binding.diagnostics, key=lambda diagnostic: diagnostic.span.start))
    program = tree.Program(span, tuple(statements), origin or 0)
    return Parsed(program, diagnostics, {name: kind for name, kind in scope.names.items() if kind is not None})


def index_origin(text: str) -> int | None:
    """The index origin that a statement sets."""
    found = _ORIGIN.fullmatch(text)
    return None if found is None else int(found.group(1))


def _misspelt(spelled: Spelled, piece: Piece) -> bool:
    """Does the statement hold a spelling of no glyph?  That is reported; what it would mean without it is not."""
    if not spelled.diagnostics:
        return False
    whole = spelled.span(piece.start, piece.start + len(piece.text))
    return any(whole.start <= diagnostic.span.start < whole.end for diagnostic in spelled.diagnostics)


def _statement(binding: Binding, scope: Scope, piece: Piece) -> tree.Statement:
    binding.defining = _bound_name(piece.text) or ""
    if piece.damage is not None:
        raise Problem(piece.damage)
    if is_declaration(piece.text):
        return bind_declaration(binding, scope, piece.text)
    tokens = read_statement(binding, piece.text)
    if tokens[0].kind is TokenKind.COLON:
        raise control_word(binding, tokens)
    if is_assignment(tokens):
        return bind_assignment(binding, scope, tokens)[0]
    refuse_bare_names(binding, scope, tokens)
    unit = bind_value(binding, scope, tokens, (0, len(piece.text)))
    span = binding.span(0, len(piece.text))
    if unit.kind is UnitKind.ARRAY:
        return tree.Evaluate(span, expression_of(unit))
    assert isinstance(unit.node, tree.Function | tree.Operator)
    return tree.BareFunction(span, unit.node)


# ----------------------------------------------------------------------- what a statement's text binds


def _bound_name(text: str) -> str | None:
    found = _BINDS.match(text)
    return found.group(1) if found is not None else None


def _definitions(pieces: list[Piece]) -> dict[str, tuple[int, str]]:
    """Where each top-level name first gets a value, and the text of that statement; signatures do not count."""
    found: dict[str, tuple[int, str]] = {}
    for piece in pieces:
        match = _BINDS.match(piece.text) if piece.damage is None else None
        if match is not None and (":" not in match.group() or match.group(2) or piece.text.startswith("input")):
            found.setdefault(match.group(1), (piece.start, piece.text))
    return found


def _forget(scope: Scope, piece: Piece) -> None:
    """The names a broken statement was to bind stay quiet where they are used."""
    names = [] if _bound_name(piece.text) is None else [str(_bound_name(piece.text))]
    names.extend(failed_names(read(piece.text).tokens))
    for name in names:
        scope.names[name] = None
