"""The parser: reads a source text and returns its bound program (`parse_program`) and its diagnostics.

The text is translated to glyphs and split into statements.  Each statement is parsed, its names are resolved, and it is bound on
its own, so one failing statement costs one diagnostic and hides no other; names are resolved in failing statements too.  Tokens
are cached by the text of a statement; parsing again with a `StatementCache` costs only the statements that changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from functools import cache
from itertools import pairwise
from typing import Any, TypeAlias

from ..bind.applications import expression_of
from ..bind.declarations import bind_declaration, is_declaration
from ..bind.expressions import bind_assignment, bind_value, names_assigned_in, reject_strand_targets
from ..bind.functions import bind_braces, control_structure_error
from ..bind.resolver import Resolver, finish, resolve_declaration
from ..bind.scopes import (
    BindContext,
    BindError,
    ItemKind,
    ModuleNames,
    PendingSignature,
    Resolution,
    ResolvedValue,
    StatementNames,
    SymbolIndex,
    is_assignment,
    read_statement,
)
from ..diagnostics.model import Code, Diagnostic
from ..support.caches import GenerationalCache
from ..support.records import cached_property, dataclass, field, field_names
from ..tree import expressions, program as program_tree
from ..tree.expressions import KINDS, NameClass, Symbol
from .glyph_input import GlyphText, to_glyphs
from .reader import MARGIN, RawStatement, split_edited, split_statements
from .source import (
    MAXIMUM_CHARACTERS,
    NAME,
    RESERVED,
    AnchoredSpan,
    Source,
    Span,
    StatementPosition,
    TokenKind,
    ensure_recursion_headroom,
    read,
)

# ---------------------------------------------------------------------------------------------------- statement cache
#
# Bound statements, reused from one version of a program to the next.
#
# What a statement means depends on its text and on what its names stand for (for modules, on what they export).  A statement
# that bound without a diagnostic is cached under both, with the symbols that it added to the index.  Its spans are relative to
# an anchor, which moves with the statement; a tree is therefore valid until the next version is read.  Statements with
# diagnostics, and user operators (which are bound when applied), are read again every time; they reuse the symbols of the
# previous version where they bind the same names.

_WORDS = re.compile(NAME)
_MOST_CHARACTERS = 4_000  # of a statement that is cached

_Exports = tuple[tuple[str, tuple[tuple[str, NameClass], ...] | None], ...]
ReusableSymbols: TypeAlias = dict[str, list[Symbol]]
"""Symbols of the previous version that statements of this version may reuse, by name."""

_NameBinding: TypeAlias = "tuple[Symbol | None, Symbol | None, PendingSignature | None, bool]"
"""The meaning of a word: its symbol, its symbol as a size, its pending signatures, and whether its binding failed."""


@dataclass(frozen=True, slots=True)
class _CachedStatement:
    """A bound statement with its position; what its words stood for before it (`before`), and which of them stand for something
    else after it (`after`); the exports of the modules among them; what it added to the index."""

    statement: program_tree.Statement
    anchor: StatementPosition
    words: tuple[str, ...]
    before: list[_NameBinding]
    exported: _Exports
    after: list[tuple[str, _NameBinding]]
    added: list[StatementNames]


@dataclass(slots=True)
class _File:
    """The cached statements of one file.  `reusable` are the symbols of the previous version that belong to no cached statement;
    `added` is what the statements of this version that are not cached add to the index."""

    text: str = ""
    raw_statements: list[RawStatement] = field(default_factory=list)
    cached: dict[RawStatement, _CachedStatement] = field(default_factory=dict)
    reusable: ReusableSymbols = field(default_factory=dict)
    added: list[StatementNames] = field(default_factory=list)

    def release(self, added: list[StatementNames]) -> None:
        """Make the top-level symbols of statements that are gone reusable."""
        for symbol in [symbol for part in added for symbol in part.symbols if not symbol.depth]:
            self.reusable.setdefault(symbol.name, []).append(symbol)


@dataclass(slots=True)
class StatementCache:
    """The bound statements of the previous version of each file."""

    _files: dict[str, _File] = field(default_factory=dict)
    _words: GenerationalCache[str, tuple[str, ...]] = field(default_factory=GenerationalCache)

    def end_generation(self) -> None:
        """Mark the end of one version of a program."""
        self._words.end_generation()

    def words(self, text: str) -> tuple[str, ...]:
        """The words of a text that may be names, in order; those in comments and texts are among them."""
        known = self._words.get(text)
        if known is None:
            known = tuple([word for word in dict.fromkeys(_WORDS.findall(text)) if word not in RESERVED])
            self._words.put(text, known)
        return known

    def split(self, glyphs: GlyphText) -> list[RawStatement]:
        """Split the next version of a file into statements, and drop the cached statements that it no longer has."""
        file = self._files.setdefault(glyphs.file, _File())
        file.raw_statements, file.text = split_edited(glyphs, file.raw_statements, file.text), glyphs.text
        file.reusable = {}
        file.release(file.added)
        file.added = []
        for raw in file.cached.keys() - set(file.raw_statements):
            file.release(file.cached.pop(raw).added)
        return file.raw_statements

    def bind(
        self, context: BindContext, raw: RawStatement,
        read: Callable[[BindContext, RawStatement, ReusableSymbols], program_tree.Statement | None],
    ) -> program_tree.Statement | None:  # fmt: skip
        """The bound statement from the cache, else from `read`, which gives None for a failing one."""
        file, resolution = self._files[context.glyphs.file], context.resolution
        start, cached = _typed_position(context, raw), file.cached.get(raw)
        if cached is not None:
            unchanged = start is not None and _bindings_of(resolution, cached.words) == cached.before
            if start is not None and unchanged and (not cached.exported or _exported(context, cached.words) == cached.exported):
                cached.anchor.start = start
                _restore(resolution, cached)
                return cached.statement
            file.release(file.cached.pop(raw).added)
        words = () if start is None else self.words(raw.text)
        before, exported = _bindings_of(resolution, words), _exported(context, words)
        diagnostics_before, added_before = len(context.diagnostics), len(resolution.added)
        anchor = None if start is None else StatementPosition(context.glyphs.file, start)
        context.anchor, context.origin = anchor, raw.start
        try:
            statement = read(context, raw, file.reusable)
        finally:
            context.anchor = None
        added = resolution.added[added_before:]
        is_clean = statement is not None and len(context.diagnostics) == diagnostics_before
        if anchor is not None and statement is not None and is_clean and _is_reusable(statement):
            changes = zip(words, before, _bindings_of(resolution, words), strict=True)
            after = [(word, new) for word, old, new in changes if new != old]
            file.cached[raw] = _CachedStatement(statement, anchor, words, before, exported, after, added)
        else:
            file.added += added
        return statement


def _bindings_of(resolution: Resolution, words: tuple[str, ...]) -> list[_NameBinding]:
    """The meanings of some words."""
    symbol, size, pending = resolution.top.symbols.get, resolution.sizes.get, resolution.pending.get
    failed = resolution.top.failed_names
    return [(symbol(word), size(word), pending(word), word in failed) for word in words]


def _restore(resolution: Resolution, cached: _CachedStatement) -> None:
    """Apply to the resolution what a cached statement adds and changes."""
    resolution.added.extend(cached.added)
    for word, (symbol, size, pending, failed) in cached.after:
        if symbol is not None:
            resolution.top.enter(symbol)
        if failed:
            resolution.top.failed_names.add(word)
        if size is not None:
            resolution.sizes[word] = size
        if pending is None:
            resolution.pending.pop(word, None)
        else:
            resolution.pending[word] = pending


def _typed_position(context: BindContext, raw: RawStatement) -> int | None:
    """The offset of a statement in the source, if it may be cached: short, without an error, and typed in glyphs throughout."""
    if raw.error is not None or len(raw.text) > _MOST_CHARACTERS:
        return None
    offsets = context.glyphs.offsets
    if offsets is None:
        return raw.start
    start, end = raw.start, raw.start + len(raw.text)
    first = offsets[start]
    return first if offsets[start : end + 1] == tuple(range(first, first + end - start + 1)) else None


def _exported(context: BindContext, words: tuple[str, ...]) -> _Exports:
    """The exports of the modules among some words."""
    symbols = context.resolution.top.symbols
    modules = [symbol for word in words if (symbol := symbols.get(word)) is not None and symbol.name_class is NameClass.MODULE]
    exports = [(symbol.name, context.modules and context.modules(symbol.path)) for symbol in modules]
    return tuple([(name, None if names is None else tuple(names.items())) for name, names in exports])


def _is_reusable(node: object) -> bool:
    """May a statement be cached: it has no user operator, and all its spans are anchored?"""
    pending = [node]
    while pending:
        part: Any = pending.pop()
        if isinstance(part, tuple):
            pending += part
        elif isinstance(part, Span):
            if not isinstance(part, AnchoredSpan):
                return False
        elif isinstance(part, expressions.OperatorDfn):
            return False
        else:
            pending += [getattr(part, name) for name in field_names(type(part))]
    return True


# ---------------------------------------------------------------------------------------------------- parser

_ORIGIN = re.compile(r"⎕IO[ \t]*←[ \t]*([01])")
_BINDS = re.compile(rf"(?:(?:input|param|output)[ \t]+)?({NAME})[ \t]*(?:←|:[^←\n]*(←)?)")


@dataclass(frozen=True)
class Parsed:
    """A bound program with its diagnostics, and the data from which `index` is made."""

    program: program_tree.ProgramTree
    diagnostics: tuple[Diagnostic, ...]
    resolution: Resolution
    glyphs: GlyphText
    raw_statements: tuple[RawStatement, ...] = ()

    @cached_property
    def index(self) -> SymbolIndex:
        """The symbols and references of the text, also of statements that failed."""
        return self.resolution.index(self.glyphs, self.raw_statements)

    @property
    def names(self) -> Mapping[str, NameClass]:
        """The class of every name in scope after the program, predefined ones included."""
        top = self.resolution.top
        return {name: symbol.name_class for name, symbol in top.symbols.items() if name not in top.failed_names}


def parse_program(
    source: Source, *, names: Mapping[str, NameClass] | None = None, modules: ModuleNames | None = None,
    statement_cache: StatementCache | None = None,
) -> tuple[program_tree.ProgramTree, tuple[Diagnostic, ...]]:  # fmt: skip
    """The bound program, without its failing statements, and its diagnostics in the order of the text.

    `names` are the predefined names of a session with their classes.  `modules` gives the exports of a module; without it every
    module is taken to exist and its members to be functions.  `statement_cache` has the statements of earlier versions.  Never
    raises for a text, however malformed.
    """
    parsed = parse(source, names=names, modules=modules, statement_cache=statement_cache)
    return parsed.program, parsed.diagnostics


def parse(
    source: Source, *, names: Mapping[str, NameClass] | None = None, modules: ModuleNames | None = None,
    statement_cache: StatementCache | None = None,
) -> Parsed:  # fmt: skip
    """As `parse_program`, with the resolution of all names."""
    ensure_recursion_headroom()
    span = Span(source.name, 0, len(source.text))
    if len(source.text) > MAXIMUM_CHARACTERS:
        message = f"the source has {len(source.text)} characters, and the limit is {MAXIMUM_CHARACTERS}"
        too_large = Diagnostic(Code.E016, message, Span(source.name, 0, 0))
        return Parsed(program_tree.ProgramTree(span, (), 0), (too_large,), Resolution(), to_glyphs(Source(source.name, "")))
    glyphs = to_glyphs(source)
    raw_statements = split_statements(glyphs) if statement_cache is None else statement_cache.split(glyphs)
    origin = index_origin(raw_statements[0].text) if raw_statements else None
    resolution = Resolution()
    for name, name_class in (names or {}).items():
        resolution.top.enter(
            Symbol(name, KINDS[name_class], name_class, Span(source.name, 0, 0), Span(source.name, 0, 0), given=True)
        )
    resolution.begin_statement().bound += resolution.top.symbols.values()
    definitions = cache(lambda: _definitions(raw_statements))
    context = BindContext(
        glyphs, bind_braces, resolution, modules=modules, definitions=definitions, diagnostics=list(glyphs.diagnostics)
    )
    statements: list[program_tree.Statement] = []
    uses: list[Collection[Symbol]] = []
    for raw in raw_statements if origin is None else raw_statements[1:]:
        context.base = raw.start
        statement = _read(context, raw, {}) if statement_cache is None else statement_cache.bind(context, raw, _read)
        if statement is not None:
            statements.append(statement)
            uses.append(resolution.added[-1].uses)
    finish(context, raw_statements)
    diagnostics = tuple(sorted(context.diagnostics, key=lambda diagnostic: diagnostic.span.start))
    program = program_tree.ProgramTree(span, tuple(statements), origin or 0, tuple(uses))
    return Parsed(program, diagnostics, resolution, glyphs, tuple(raw_statements))


def _read(context: BindContext, raw: RawStatement, previous: dict[str, list[Symbol]]) -> program_tree.Statement | None:
    """Resolve the names of a statement and bind it; None after its diagnostics were added."""
    resolution = context.resolution
    added_before = len(resolution.added)
    resolved = _resolve(context, raw, previous)
    try:
        if _misspelt(context.glyphs, raw):
            raise BindError(None)
        return _statement(context, raw, resolved)
    except BindError as error:
        if error.diagnostic is not None:
            context.diagnostics.append(error.diagnostic)
        bound = [symbol.name for part in resolution.added[added_before:] for symbol in part.bound]
        resolution.top.failed_names.update(bound, _names_of_failed(raw))
    return None


def _resolve(context: BindContext, raw: RawStatement, previous: dict[str, list[Symbol]]) -> ResolvedValue:
    """Resolve the names of a statement: its tokens, or those of the value of a declaration.

    If its brackets do not match, each of its lines that starts at the margin is taken as a statement."""
    base, text, resolved = raw.start, raw.text, ResolvedValue()
    ends = [] if raw.error is None else [match.end() for match in MARGIN.finditer(text)]
    for start, end in pairwise((0, *ends, len(text))):
        part = text[start:end].rstrip()
        context.base = base + start
        resolver = Resolver(context, context.span(0, len(part)), previous)
        if is_declaration(part):
            resolved = resolve_declaration(resolver, part)
        else:
            resolved = ResolvedValue(0, resolver.statement_of(read(part).tokens, context.resolution.top))
    context.base = base
    return resolved


def index_origin(text: str) -> int | None:
    """The index origin that `⎕IO←0` or `⎕IO←1` sets; None for other statements."""
    match = _ORIGIN.fullmatch(text)
    return None if match is None else int(match.group(1))


def _misspelt(glyphs: GlyphText, raw: RawStatement) -> bool:
    """Does the statement contain a backtick spelling of no glyph?  Only that is reported, since other errors follow from it."""
    if not glyphs.diagnostics:
        return False
    line = glyphs.span(raw.start, raw.start + len(raw.text))
    return any(line.start <= diagnostic.span.start < line.end for diagnostic in glyphs.diagnostics)


def _statement(context: BindContext, raw: RawStatement, resolved: ResolvedValue) -> program_tree.Statement:
    context.defining = _bound_name(raw.text) or ""
    if raw.error is not None:
        raise BindError(raw.error)
    if is_declaration(raw.text):
        return bind_declaration(context, raw.text, resolved)
    read_statement(context, raw.text)
    tokens = resolved.tokens
    if tokens[0].kind is TokenKind.COLON:
        raise control_structure_error(context, tokens)
    if is_assignment(tokens):
        return bind_assignment(context, tokens)[0]
    reject_strand_targets(context, tokens)
    item = bind_value(context, tokens, (0, len(raw.text)))
    span = context.span(0, len(raw.text))
    if item.kind is ItemKind.ARRAY:
        return expressions.Evaluate(span, expression_of(item))
    assert isinstance(item.node, expressions.Function | expressions.Operator)
    return expressions.BareFunction(span, item.node)


# ----------------------------------------------------------------------- names bound, by the text alone


def _bound_name(text: str) -> str | None:
    match = _BINDS.match(text)
    return match.group(1) if match is not None else None


def _definitions(raw_statements: list[RawStatement]) -> dict[str, tuple[int, str]]:
    """For each top-level name the offset and text of the statement that first binds it; signatures do not count."""
    definitions: dict[str, tuple[int, str]] = {}
    for raw in raw_statements:
        match = _BINDS.match(raw.text) if raw.error is None else None
        if match is not None and (":" not in match.group() or match.group(2) or raw.text.startswith("input")):
            definitions.setdefault(match.group(1), (raw.start, raw.text))
    return definitions


def _names_of_failed(raw: RawStatement) -> list[str]:
    """The names that a failing statement would have bound: their uses report no further errors."""
    name = _bound_name(raw.text)
    return [*([] if name is None else [name]), *names_assigned_in(read(raw.text).tokens)]
