"""The parser: reads a source text and returns its bound program (`parse_program`) and its diagnostics.

The text is spelt in glyphs, cut into statements, and each statement is read by the grammar and bound on its
own, so one broken statement costs one message and hides nothing.  What the names of a statement stand for is settled
before it is bound, whether it is broken or not.  Tokens of a statement are cached by its text; a program that is parsed
again with `remembered` statements pays only for what changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import field, fields, is_dataclass
from functools import cache
from itertools import pairwise
from typing import Any, TypeAlias

from ..bind.declarations import bind_declaration, is_declaration
from ..bind.expressions import bind_assignment, bind_value, expression_of, failed_names, refuse_bare_names
from ..bind.functions import bind_braces, control_word
from ..bind.resolver import Resolver, declaration, finish
from ..bind.scopes import Added, BindContext, BindError, Declared, ModuleNames, Resolution, SymbolIndex, UnitKind, is_assignment
from ..diagnostics.model import Code, Diagnostic
from ..support.caches import GenerationalCache
from ..support.records import cached_property, dataclass
from ..tree import expressions, program, program as program_tree
from ..tree.expressions import KINDS, NameClass, Symbol
from .glyph_input import Spelled, spell
from .lex_errors import read_statement
from .lexer import NAME, RESERVED, TokenKind
from .reader import MARGIN, RawStatement, split_again, split_statements
from .source import MAXIMUM_CHARACTERS, PlacedSpan, Source, Span, StatementPosition, ensure_recursion_headroom, read

# ---------------------------------------------------------------------------------------------------- remembered
#
# Statements kept from one reading of a program to the next: what has not changed is not read again.
#
# What a statement means depends on its text and on what the names in it stand for (for modules, on what they export).
# A statement that bound without a diagnostic is kept with exactly these, and with what it added to the index of names.
# Its spans count from its anchor, which moves with the statement: so what an earlier reading gave is good
# until the next one, diagnostics apart.  Statements with something wrong, and user operators (which are bound when they are
# applied), are read anew every time; their symbols are those of the version before where they bind the same names.

_WORDS = re.compile(NAME)
_MOST_CHARACTERS = 4_000  # of a statement worth keeping

_Exports = tuple[tuple[str, tuple[tuple[str, NameClass], ...] | None], ...]
Loose: TypeAlias = dict[str, list[Symbol]]
"""Symbols that statements of this version may take again, by name."""

_Known: TypeAlias = "tuple[Symbol | None, Symbol | None, Declared | None, bool]"
"""What a word stands for, and as a size; the signatures whose binding is still to come; whether its binding failed."""


@dataclass(frozen=True, slots=True)
class _CachedStatement:
    """A bound statement and where it stands, the names in it with what they stood for before and stand for after it, what the
    modules among them export, and what it added to the index."""

    statement: program.Statement
    anchor: StatementPosition
    words: tuple[str, ...]
    before: list[_Known]
    exported: _Exports
    after: list[tuple[str, _Known]]
    added: list[Added]


@dataclass(slots=True)
class _File:
    """`loose` are symbols of the version before, by name, that no kept statement has; `added` is what statements
    of this version add that are not kept."""

    text: str = ""
    pieces: list[RawStatement] = field(default_factory=list)
    cached: dict[RawStatement, _CachedStatement] = field(default_factory=dict)
    loose: Loose = field(default_factory=dict)
    added: list[Added] = field(default_factory=list)

    def loosen(self, added: list[Added]) -> None:
        """The symbols of a statement that is not kept may be taken again."""
        for symbol in [symbol for part in added for symbol in part.symbols if not symbol.depth]:
            self.loose.setdefault(symbol.name, []).append(symbol)


@dataclass(slots=True)
class StatementCache:
    """What has been read so far; `words` are the names that may occur in a text."""

    _files: dict[str, _File] = field(default_factory=dict)
    _words: GenerationalCache[str, tuple[str, ...]] = field(default_factory=GenerationalCache)

    def end_generation(self) -> None:
        """A program has been read."""
        self._words.end_generation()

    def words(self, text: str) -> tuple[str, ...]:
        """Everything in a text that could be a name, in order; words of comments and texts too."""
        known = self._words.get(text)
        if known is None:
            known = tuple([word for word in dict.fromkeys(_WORDS.findall(text)) if word not in RESERVED])
            self._words.put(text, known)
        return known

    def split(self, spelled: Spelled) -> list[RawStatement]:
        """The statements of the next version of a file; what is kept of those that are gone is forgotten."""
        file = self._files.setdefault(spelled.file, _File())
        file.pieces, file.text = split_again(spelled, file.pieces, file.text), spelled.text
        file.loose = {}
        file.loosen(file.added)
        file.added = []
        for piece in file.cached.keys() - set(file.pieces):
            file.loosen(file.cached.pop(piece).added)
        return file.pieces

    def bind(
        self, binding: BindContext, piece: RawStatement, read: Callable[[BindContext, RawStatement, Loose], program.Statement
        | None]
    ) -> program.Statement | None:  # fmt: skip
        """The statement of a piece: the one that is kept, else what `read` makes of it: nothing where it is wrong."""
        file, names = self._files[binding.spelled.file], binding.names
        start, cached = _unmoved(binding, piece), file.cached.get(piece)
        if cached is not None:
            stays = start is not None and _known(names, cached.words) == cached.before
            if start is not None and stays and (not cached.exported or _exported(binding, cached.words) == cached.exported):
                cached.anchor.start = start
                _again(names, cached)
                return cached.statement
            file.loosen(file.cached.pop(piece).added)
        words = () if start is None else self.words(piece.text)
        before, exported = _known(names, words), _exported(binding, words)
        reported, already = len(binding.diagnostics), len(names.added)
        anchor = None if start is None else StatementPosition(binding.spelled.file, start)
        binding.anchor, binding.origin = anchor, piece.start
        try:
            statement = read(binding, piece, file.loose)
        finally:
            binding.anchor = None
        added = names.added[already:]
        if anchor is not None and statement is not None and len(binding.diagnostics) == reported and _stays(statement):
            changes = zip(words, before, _known(names, words), strict=True)
            after = [(word, now) for word, was, now in changes if now != was]
            file.cached[piece] = _CachedStatement(statement, anchor, words, before, exported, after, added)
        else:
            file.added += added
        return statement


def _known(names: Resolution, words: tuple[str, ...]) -> list[_Known]:
    """What words stand for."""
    symbol, size, pending, quiet = names.top.symbols.get, names.sizes.get, names.pending.get, names.top.quiet
    return [(symbol(word), size(word), pending(word), word in quiet) for word in words]


def _again(names: Resolution, cached: _CachedStatement) -> None:
    """What a kept statement adds and changes."""
    names.added.extend(cached.added)
    for word, (symbol, size, pending, quiet) in cached.after:
        if symbol is not None:
            names.top.enter(symbol)
        if quiet:
            names.top.quiet.add(word)
        if size is not None:
            names.sizes[word] = size
        if pending is None:
            names.pending.pop(word, None)
        else:
            names.pending[word] = pending


def _unmoved(binding: BindContext, piece: RawStatement) -> int | None:
    """Where the piece starts in the source, if every character of it is what the user typed; None for what is not kept."""
    if piece.damage is not None or len(piece.text) > _MOST_CHARACTERS:
        return None
    offsets = binding.spelled.offsets
    if offsets is None:
        return piece.start
    start, end = piece.start, piece.start + len(piece.text)
    first = offsets[start]
    return first if offsets[start : end + 1] == tuple(range(first, first + end - start + 1)) else None


def _exported(binding: BindContext, words: tuple[str, ...]) -> _Exports:
    """What the modules among some names export."""
    symbols = binding.names.top.symbols
    modules = [symbol for word in words if (symbol := symbols.get(word)) is not None and symbol.name_class is NameClass.MODULE]
    exports = [(symbol.name, binding.modules and binding.modules(symbol.path)) for symbol in modules]
    return tuple([(name, None if names is None else tuple(names.items())) for name, names in exports])


def _stays(node: object) -> bool:
    """May a statement be kept: has it no user operator, and do all its spans move with it?"""
    pending = [node]
    while pending:
        part: Any = pending.pop()
        if isinstance(part, tuple):
            pending += part
        elif isinstance(part, Span):
            if not isinstance(part, PlacedSpan):
                return False
        elif isinstance(part, expressions.OperatorDfn):
            return False
        elif is_dataclass(part):
            pending += [getattr(part, one.name) for one in fields(part)]
    return True


# ---------------------------------------------------------------------------------------------------- parser

_ORIGIN = re.compile(r"⎕IO[ \t]*←[ \t]*([01])")
_BINDS = re.compile(rf"(?:(?:input|param|output)[ \t]+)?({NAME})[ \t]*(?:←|:[^←\n]*(←)?)")


@dataclass(frozen=True)
class Parsed:
    """A bound program and what is wrong with it; `resolution`, `spelled` and `pieces` are what its index is made of."""

    program: program_tree.ProgramTree
    diagnostics: tuple[Diagnostic, ...]
    resolution: Resolution
    spelled: Spelled
    pieces: tuple[RawStatement, ...] = ()

    @cached_property
    def index(self) -> SymbolIndex:
        """What every name stands for, also in statements that are wrong."""
        return self.resolution.index(self.spelled, self.pieces)

    @property
    def names(self) -> Mapping[str, NameClass]:
        """The classes of every name in scope after the program, the given ones included."""
        top = self.resolution.top
        return {name: symbol.name_class for name, symbol in top.symbols.items() if name not in top.quiet}


def parse_program(
    source: Source, *, names: Mapping[str, NameClass] | None = None, modules: ModuleNames | None = None,
    remembered: StatementCache | None = None,
) -> tuple[program_tree.ProgramTree, tuple[Diagnostic, ...]]:  # fmt: skip
    """The bound program and what is wrong with it; statements that are wrong are left out.

    `names` are names already in scope (a session's).  `modules` tells what a module exports; without it any
    module is taken to exist and its members to be functions.  `remembered` are statements of earlier versions.
    """
    parsed = parse(source, names=names, modules=modules, remembered=remembered)
    return parsed.program, parsed.diagnostics


def parse(
    source: Source, *, names: Mapping[str, NameClass] | None = None, modules: ModuleNames | None = None,
    remembered: StatementCache | None = None,
) -> Parsed:  # fmt: skip
    """As `parse_program`, with what its names stand for."""
    ensure_recursion_headroom()
    span = Span(source.name, 0, len(source.text))
    if len(source.text) > MAXIMUM_CHARACTERS:
        message = f"the source has {len(source.text)} characters, and the limit is {MAXIMUM_CHARACTERS}"
        refused = Diagnostic(Code.E016, message, Span(source.name, 0, 0))
        return Parsed(program_tree.ProgramTree(span, (), 0), (refused,), Resolution(), spell(Source(source.name, "")))
    spelled = spell(source)
    pieces = split_statements(spelled) if remembered is None else remembered.split(spelled)
    origin = index_origin(pieces[0].text) if pieces else None
    resolution = Resolution()
    for name, name_class in (names or {}).items():
        resolution.top.enter(Symbol(name, KINDS[name_class], name_class, Span(source.name, 0, 0), Span(source.name, 0, 0),
            given=True))
    resolution.begin().bound += resolution.top.symbols.values()
    definitions = cache(lambda: _definitions(pieces))
    binding = BindContext(
        spelled, bind_braces, resolution, modules=modules, definitions=definitions, diagnostics=list(spelled.diagnostics)
    )
    statements: list[program_tree.Statement] = []
    uses: list[Collection[Symbol]] = []
    for piece in pieces if origin is None else pieces[1:]:
        binding.base = piece.start
        statement = _read(binding, piece, {}) if remembered is None else remembered.bind(binding, piece, _read)
        if statement is not None:
            statements.append(statement)
            uses.append(resolution.added[-1].uses)
    finish(binding, pieces)
    diagnostics = tuple(sorted(binding.diagnostics, key=lambda diagnostic: diagnostic.span.start))
    program = program_tree.ProgramTree(span, tuple(statements), origin or 0, tuple(uses))
    return Parsed(program, diagnostics, resolution, spelled, tuple(pieces))


def _read(binding: BindContext, piece: RawStatement, before: dict[str, list[Symbol]]) -> program_tree.Statement | None:
    """Resolve the names of a statement, and bind it; what is wrong with it is reported."""
    names = binding.names
    already = len(names.added)
    _resolve(binding, piece, before)
    try:
        if _misspelt(binding.spelled, piece):
            raise BindError(None)
        return _statement(binding, piece)
    except BindError as problem:
        if problem.diagnostic is not None:
            binding.diagnostics.append(problem.diagnostic)
        bound = [symbol.name for part in names.added[already:] for symbol in part.bound]
        names.top.quiet.update(bound, _failing(piece))
    return None


def _resolve(binding: BindContext, piece: RawStatement, before: dict[str, list[Symbol]]) -> None:
    """What the names of a statement stand for.  One whose brackets do not match ends where the next line starts at the margin."""
    base, text = piece.start, piece.text
    ends = [] if piece.damage is None else [match.end() for match in MARGIN.finditer(text)]
    for start, end in pairwise((0, *ends, len(text))):
        part = text[start:end].rstrip()
        binding.base = base + start
        walk = Resolver(binding, binding.span(0, len(part)), before)
        if is_declaration(part):
            declaration(walk, part)
        else:
            walk.statement_of(read(part).tokens, binding.names.top)
    binding.base = base


def index_origin(text: str) -> int | None:
    """The index origin that a statement sets."""
    match = _ORIGIN.fullmatch(text)
    return None if match is None else int(match.group(1))


def _misspelt(spelled: Spelled, piece: RawStatement) -> bool:
    """Does the statement hold a spelling of no glyph?  That is reported; what it would mean without it is not."""
    if not spelled.diagnostics:
        return False
    line = spelled.span(piece.start, piece.start + len(piece.text))
    return any(line.start <= diagnostic.span.start < line.end for diagnostic in spelled.diagnostics)


def _statement(binding: BindContext, piece: RawStatement) -> program_tree.Statement:
    binding.defining = _bound_name(piece.text) or ""
    if piece.damage is not None:
        raise BindError(piece.damage)
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
        return expressions.Evaluate(span, expression_of(unit))
    assert isinstance(unit.node, expressions.Function | expressions.Operator)
    return expressions.BareFunction(span, unit.node)


# ----------------------------------------------------------------------- what a statement's text binds


def _bound_name(text: str) -> str | None:
    match = _BINDS.match(text)
    return match.group(1) if match is not None else None


def _definitions(pieces: list[RawStatement]) -> dict[str, tuple[int, str]]:
    """Where each top-level name first gets a value, and the text of that statement; signatures do not count."""
    definitions: dict[str, tuple[int, str]] = {}
    for piece in pieces:
        match = _BINDS.match(piece.text) if piece.damage is None else None
        if match is not None and (":" not in match.group() or match.group(2) or piece.text.startswith("input")):
            definitions.setdefault(match.group(1), (piece.start, piece.text))
    return definitions


def _failing(piece: RawStatement) -> list[str]:
    """The names a broken statement was to bind, which stay quiet where they are used."""
    name = _bound_name(piece.text)
    return [*([] if name is None else [name]), *failed_names(read(piece.text).tokens)]
