"""From a source text to its bound program: `parse_program`.

The text is spelt in glyphs, cut into statements, and each statement is read by the grammar and bound on its
own, so one broken statement costs one message and hides nothing.  What the names of a statement stand for is settled
before it is bound, whether it is broken or not.  Tokens of a statement are cached by its text; a program that is parsed
again with `remembered` statements pays only for what changed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cache
from itertools import pairwise

from . import program_tree, tree
from .codes import Code
from .declarations import bind_declaration, is_declaration
from .definitions import KINDS, NameClass, Symbol
from .dfns import bind_braces, control_word
from .diagnostics import Diagnostic
from .lexer import NAME, TokenKind
from .limits import MAXIMUM_CHARACTERS, ensure_recursion_headroom
from .problems import Problem
from .properties import cached_property
from .records import dataclass
from .remembered import Statements
from .resolution.classes import is_assignment
from .resolution.declared import declaration, finish
from .resolution.symbols import Index, ModuleNames, Names
from .resolution.walk import Walk
from .sequences import bind_value, expression_of
from .source import Source, Span
from .spelling import Spelled, spell
from .splitter import MARGIN, Piece, split_statements
from .statements import bind_assignment, failed_names, refuse_bare_names
from .tokens import read
from .units import Binding, UnitKind
from .unreadable import read_statement

_ORIGIN = re.compile(r"⎕IO[ \t]*←[ \t]*([01])")
_BINDS = re.compile(rf"(?:(?:input|param|output)[ \t]+)?({NAME})[ \t]*(?:←|:[^←\n]*(←)?)")


@dataclass(frozen=True)
class Parsed:
    """A bound program and what is wrong with it; `found`, `spelled` and `pieces` are what its index is made of."""

    program: program_tree.Program
    diagnostics: tuple[Diagnostic, ...]
    found: Names
    spelled: Spelled
    pieces: tuple[Piece, ...] = ()

    @cached_property
    def index(self) -> Index:
        """What every name stands for, also in statements that are wrong."""
        return self.found.index(self.spelled, self.pieces)

    @property
    def names(self) -> Mapping[str, NameClass]:
        """The classes of every name in scope after the program, the given ones included."""
        top = self.found.top
        return {name: symbol.name_class for name, symbol in top.symbols.items() if name not in top.quiet}


def parse_program(
    source: Source, *, names: Mapping[str, NameClass] | None = None, modules: ModuleNames | None = None,
    remembered: Statements | None = None,
) -> tuple[program_tree.Program, tuple[Diagnostic, ...]]:  # fmt: skip
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
    """As `parse_program`, with what its names stand for."""
    ensure_recursion_headroom()
    span = Span(source.name, 0, len(source.text))
    if len(source.text) > MAXIMUM_CHARACTERS:
        message = f"the source has {len(source.text)} characters, and the limit is {MAXIMUM_CHARACTERS}"
        refused = Diagnostic(Code.E016, message, Span(source.name, 0, 0))
        return Parsed(program_tree.Program(span, (), 0), (refused,), Names(), spell(Source(source.name, "")))
    spelled = spell(source)
    pieces = split_statements(spelled) if remembered is None else remembered.split(spelled)
    origin = index_origin(pieces[0].text) if pieces else None
    found = Names()
    for name, name_class in (names or {}).items():
        found.top.enter(Symbol(name, KINDS[name_class], name_class, Span(source.name, 0, 0), Span(source.name, 0, 0), given=True))
    found.begin().bound += found.top.symbols.values()
    definitions = cache(lambda: _definitions(pieces))
    binding = Binding(
        spelled, bind_braces, found, modules=modules, definitions=definitions, diagnostics=list(spelled.diagnostics)
    )
    statements: list[program_tree.Statement] = []
    uses: list[Collection[Symbol]] = []
    for piece in pieces if origin is None else pieces[1:]:
        binding.base = piece.start
        statement = _read(binding, piece, {}) if remembered is None else remembered.bind(binding, piece, _read)
        if statement is not None:
            statements.append(statement)
            uses.append(found.added[-1].uses)
    finish(binding, pieces)
    diagnostics = tuple(sorted(binding.diagnostics, key=lambda diagnostic: diagnostic.span.start))
    program = program_tree.Program(span, tuple(statements), origin or 0, tuple(uses))
    return Parsed(program, diagnostics, found, spelled, tuple(pieces))


def _read(binding: Binding, piece: Piece, before: dict[str, list[Symbol]]) -> program_tree.Statement | None:
    """Resolve the names of a statement, and bind it; what is wrong with it is reported."""
    names = binding.names
    already = len(names.added)
    _resolve(binding, piece, before)
    try:
        if _misspelt(binding.spelled, piece):
            raise Problem(None)
        return _statement(binding, piece)
    except Problem as problem:
        if problem.diagnostic is not None:
            binding.diagnostics.append(problem.diagnostic)
        bound = [symbol.name for part in names.added[already:] for symbol in part.bound]
        names.top.quiet.update(bound, _failing(piece))
    return None


def _resolve(binding: Binding, piece: Piece, before: dict[str, list[Symbol]]) -> None:
    """What the names of a statement stand for.  One whose brackets do not match ends where the next line starts at the margin."""
    base, text = piece.start, piece.text
    ends = [] if piece.damage is None else [found.end() for found in MARGIN.finditer(text)]
    for start, end in pairwise((0, *ends, len(text))):
        part = text[start:end].rstrip()
        binding.base = base + start
        walk = Walk(binding, binding.span(0, len(part)), before)
        if is_declaration(part):
            declaration(walk, part)
        else:
            walk.statement_of(read(part).tokens, binding.names.top)
    binding.base = base


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


def _statement(binding: Binding, piece: Piece) -> program_tree.Statement:
    binding.defining = _bound_name(piece.text) or ""
    if piece.damage is not None:
        raise Problem(piece.damage)
    if is_declaration(piece.text):
        return bind_declaration(binding, piece.text)
    tokens = read_statement(binding, piece.text)
    if tokens[0].kind is TokenKind.COLON:
        raise control_word(binding, tokens)
    if is_assignment(tokens):
        return bind_assignment(binding, tokens)[0]
    refuse_bare_names(binding, tokens)
    unit = bind_value(binding, tokens, (0, len(piece.text)))
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


def _failing(piece: Piece) -> list[str]:
    """The names a broken statement was to bind, which stay quiet where they are used."""
    name = _bound_name(piece.text)
    return [*([] if name is None else [name]), *failed_names(read(piece.text).tokens)]
