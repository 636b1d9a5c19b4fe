"""Symbols, scopes and name classes: the result of name resolution, with every reference to a symbol by position."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from enum import Enum
from typing import NamedTuple, TypeAlias

from ..diagnostics.model import Code, Diagnostic, Edit, Fix, Label
from ..support.records import dataclass
from ..syntax.glyph_input import Spelled
from ..syntax.lexer import CONVERSIONS, DYADIC_OPERATORS, FUNCTIONS, TokenKind
from ..syntax.reader import RawStatement
from ..syntax.source import PlacedSpan, Span, StatementPosition, Token, mentions, split_at
from ..tree.expressions import Expression, Function, NameClass, Operator, Symbol

# ---------------------------------------------------------------------------------------------------- symbols

ModuleNames: TypeAlias = Callable[[str], Mapping[str, NameClass] | None]
"""Names and classes a module exports, by library name (`stats`) or path (`./geometry.rho`); None if there is no such module."""


class ReferenceKind(Enum):
    """What a mention does."""

    BIND = "gives a value"
    CHANGE = "gives a part of it another value"
    DECLARE = "states its type"
    READ = "reads"


@dataclass(frozen=True, slots=True, eq=False)
class Mention:
    """A name in the text and what it means there; `member` is the name after the dot of `module.name`."""

    span: Span
    symbol: Symbol
    access: ReferenceKind
    member: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Declared:
    """Where signatures and annotations state the type of a name whose binding is still to come."""

    spans: tuple[Span, ...]


class ResolvedName(NamedTuple):
    """What a name stands for where it is written: its binding, if it is not an argument, and its class; a class of None marks one
    whose binding failed, so that its uses stay quiet.  `is_recursive`: it stands in a dfn that the binding is to name."""

    symbol: Symbol | None
    name_class: NameClass | None
    is_recursive: bool = False


class Unseen(NamedTuple):
    """Where a name is written that is not in scope: inside a dfn or not, the bindings of dfns around, and how
    many names the statement has brought in before."""

    in_dfn: bool
    symbols: tuple[Symbol, ...]
    new: int


@dataclass(slots=True, eq=False)
class NameScope:
    """Names bound so far in one block: the file, or the body of a dfn.

    `defining` is the function that the current statement binds: dfns inside the statement see it before any older binding,
    so mentioning it there is recursion.  `operands` are the classes of `⍺⍺` and `⍵⍵`, which reach into no inner dfn.
    `quiet` are names whose binding failed, `captures` the bindings of blocks around that are mentioned in this one.
    """

    parent: NameScope | None = None
    depth: int = 0
    symbols: dict[str, Symbol] = field(default_factory=dict)
    bound: list[Symbol] = field(default_factory=list)
    operands: Mapping[str, NameClass] = field(default_factory=dict)
    defining: Symbol | None = None
    quiet: set[str] = field(default_factory=set)
    captures: dict[Symbol, None] = field(default_factory=dict)

    def inner(self, operands: Mapping[str, NameClass] | None = None) -> NameScope:
        """The scope of a dfn's body."""
        return NameScope(self, self.depth + 1, operands=operands or {})

    def branch(self) -> NameScope:
        """The scope of a guard's value: what it binds is seen in it alone."""
        return NameScope(
            self.parent, self.depth, dict(self.symbols), self.bound, self.operands, self.defining, set(self.quiet), self.captures
        )

    def capture(self, symbol: Symbol) -> None:
        """A binding is mentioned here: blocks inside the one that binds it take it along."""
        scope: NameScope | None = self
        while scope is not None and scope.depth > symbol.depth:
            scope.captures[symbol] = None
            scope = scope.parent

    def enter(self, symbol: Symbol) -> None:
        """In scope from here on."""
        self.symbols[symbol.name] = symbol
        self.quiet.discard(symbol.name)

    def find(self, name: str) -> ResolvedName | None:
        """What a name stands for here; None if it is not in scope."""
        scope: NameScope | None = self
        while scope is not None:
            if scope is not self and scope.defining is not None and scope.defining.name == name:
                return ResolvedName(scope.defining, scope.defining.name_class, is_recursive=True)
            if name in scope.quiet:
                return ResolvedName(scope.symbols.get(name), None)
            if (symbol := scope.symbols.get(name)) is not None:
                return ResolvedName(symbol, symbol.name_class)
            scope = scope.parent
        return None

    def class_of(self, name: str) -> NameClass | None:
        """The class of a name, or of an operand; None if it is not known."""
        meaning = self.find(name)
        return self.operands.get(name) if meaning is None else meaning.name_class

    def named(self, until: NameScope | None = None) -> Iterator[Symbol]:
        """The binding of every name that has a value here, inner ones first, those of the scope `until` left out."""
        scope: NameScope | None = self
        while scope is not until and scope is not None:
            yield from [symbol for name, symbol in scope.symbols.items() if name not in scope.quiet]
            scope = scope.parent

    def only(self, names: frozenset[str]) -> NameScope:
        """The scope as it is now, for some names."""
        scope = NameScope(depth=self.depth)
        for name in names:
            match self.find(name):
                case ResolvedName(Symbol() as symbol, _, is_recursive=True):
                    scope.parent = NameScope(scope.parent, self.depth, defining=symbol)
                case ResolvedName(symbol, name_class):
                    if symbol is not None:
                        scope.symbols[name] = symbol
                    if name_class is None:
                        scope.quiet.add(name)
        return scope


@dataclass(slots=True, eq=False)
class Added:
    """What one statement adds to the index; `bound` are the names that it binds at top level, `uses` the bindings of the
    file that it reads or changes."""

    symbols: list[Symbol] = field(default_factory=list)
    bound: list[Symbol] = field(default_factory=list)
    uses: dict[Symbol, None] = field(default_factory=dict)
    mentions: list[Mention] = field(default_factory=list)
    blocks: list[tuple[Span, NameScope]] = field(default_factory=list)


@dataclass(slots=True)
class Resolution:
    """What every name of a text stands for, as far as it has been read.  `top` is the block of the file, `sizes` are those of
    inputs and annotations, `pending` signatures whose binding is still to come, `added` has an entry a statement.

    The rest is of the statement that is being read.  `new` are the names that it brings in; by place are `meanings` of names,
    names that are `unseen` (not in scope), `starts` (how many tokens left of a `←` the function starts that stands there),
    `homes` (what the names of an operator stand for, by its braces), `captures` (what a dfn takes from around it, by its braces).
    """

    top: NameScope = field(default_factory=NameScope)
    sizes: dict[str, Symbol] = field(default_factory=dict)
    pending: dict[str, Declared] = field(default_factory=dict)
    added: list[Added] = field(default_factory=list)
    meanings: dict[int, ResolvedName] = field(default_factory=dict)
    unseen: dict[int, Unseen] = field(default_factory=dict)
    starts: dict[int, int] = field(default_factory=dict)
    homes: dict[int, NameScope] = field(default_factory=dict)
    captures: dict[int, tuple[Symbol, ...]] = field(default_factory=dict)
    new: list[str] = field(default_factory=list)

    def begin(self) -> Added:
        """A statement begins."""
        for table in (self.meanings, self.unseen, self.starts, self.homes, self.captures):
            table.clear()
        self.new.clear()
        self.added.append(Added())
        return self.added[-1]

    def index(self, spelled: Spelled, pieces: tuple[RawStatement, ...]) -> SymbolIndex:
        """What editors ask about the whole text."""
        mentions = sorted([mention for part in self.added for mention in part.mentions], key=_by_place)
        symbols = sorted([symbol for part in self.added for symbol in part.symbols], key=_by_place)
        blocks = [block for part in self.added for block in part.blocks]
        self.top.bound = [symbol for part in self.added for symbol in part.bound]
        return SymbolIndex(spelled, pieces, tuple(symbols), tuple(mentions), tuple(blocks), self.top)


def _by_place(one: Symbol | Mention) -> tuple[int, int]:
    return one.span.start, one.span.end


@dataclass(frozen=True, slots=True)
class SymbolIndex:
    """Every symbol in the order of the text, every mention by where it stands; `pieces` are the statements of `spelled`.
    Spans move with their statements: an index is good until the next version of the text is read."""

    spelled: Spelled
    pieces: tuple[RawStatement, ...]
    symbols: tuple[Symbol, ...]
    mentions: tuple[Mention, ...]
    blocks: tuple[tuple[Span, NameScope], ...]
    top: NameScope

    def at(self, offset: int) -> Mention | None:
        """The mention a place is in, or at the end of."""
        after = bisect_right(self.mentions, offset, key=lambda mention: mention.span.start)
        for mention in reversed(self.mentions[max(after - 1, 0) : after]):
            if mention.span.start <= offset <= mention.span.end:
                return mention
        return None

    def visible(self, offset: int) -> dict[str, Symbol]:
        """The names in scope at a place, the innermost binding of each."""
        symbols: dict[str, Symbol] = {}
        around = [scope for span, scope in self.blocks if span.start < offset < span.end]
        for scope in (self.top, *sorted(around, key=lambda scope: scope.depth)):
            for symbol in scope.bound:
                if symbol.statement.end <= offset or (symbol.depth and symbol.span.end < offset):
                    symbols[symbol.name] = symbol
        return symbols

    def statement_at(self, offset: int) -> Span | None:
        """The top-level statement a place is in."""
        for piece in self.pieces:
            span = self.spelled.span(piece.start, piece.start + len(piece.text))
            if span.start <= offset <= span.end:
                return span
        return None


# ---------------------------------------------------------------------------------------------------- classes
#
# What class of thing a run of tokens denotes, told by the names in scope before anything is bound.
#
# A name is in scope as a function where it is mentioned only if the statement that binds it is known to bind one, which its last
# item tells.

Tokens = tuple[Token, ...]


def is_member(scope: NameScope, tokens: Tokens, at: int) -> bool:
    """Whether the name at `at` is the member in `module.name`."""
    if at < 2 or tokens[at - 1].text != "." or tokens[at - 1].kind is not TokenKind.GLYPH:
        return False
    module = tokens[at - 2]
    return module.kind is TokenKind.NAME and scope.class_of(module.text) is NameClass.MODULE


def member_class(scope: NameScope, modules: ModuleNames | None, module: str, name: str) -> NameClass | None:
    """The class of `module.name`, a function where modules cannot be read; None if there is no such name."""
    known = scope.find(module)
    exported = modules(known.symbol.path) if modules is not None and known is not None and known.symbol is not None else None
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


def ends_in_function(scope: NameScope, tokens: Tokens, modules: ModuleNames | None) -> bool:
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


def _is_dyadic_operator(scope: NameScope, token: Token) -> bool:
    if token.kind is TokenKind.GLYPH:
        return token.text in DYADIC_OPERATORS and token.text != "."
    return token.kind is TokenKind.NAME and scope.class_of(token.text) is NameClass.DYADIC_OPERATOR


def class_of_value(scope: NameScope, value: Tokens, modules: ModuleNames | None) -> NameClass:
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


def function_start(scope: NameScope, tokens: Tokens, at: int) -> int:
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


def _may_be_modified(scope: NameScope, token: Token) -> bool:
    """Whether what stands left of a named function before `←` makes it `x f←`, not the naming of an array `f`."""
    if token.kind is TokenKind.NAME:
        return scope.class_of(token.text) is NameClass.ARRAY
    return token.kind is TokenKind.BRACKETS


def _holds_function(scope: NameScope, token: Token) -> bool:
    """Whether parentheses before `←` hold a function, not names to destructure into."""
    names_only = all(item.kind in (TokenKind.NAME, TokenKind.SLOT, TokenKind.PARENTHESES) for item in token.items)
    if not names_only:
        return bool(token.items)
    first = token.items[0] if len(token.items) == 1 else None
    return first is not None and first.kind is TokenKind.NAME and scope.class_of(first.text) is NameClass.FUNCTION


# ---------------------------------------------------------------------------------------------------- problems
#
# How parsing and binding stop: a `Problem` carries one diagnostic to the nearest statement boundary.

class BindError(Exception):
    """This statement is wrong; `diagnostic` is None when the cause is reported already."""

    def __init__(self, diagnostic: Diagnostic | None) -> None:
        self.diagnostic = diagnostic
        super().__init__("" if diagnostic is None else diagnostic.message)


# ---------------------------------------------------------------------------------------------------- units
#
# Units: what the binder's items are between the flat sequence and the applications of the tree.

class UnitKind(Enum):
    ARRAY = "array"
    FUNCTION = "function"
    OPERATOR = "user operator"
    MONADIC = "monadic primitive operator"
    DYADIC = "dyadic primitive operator"
    SLASH = "slash: an operator or a function by what is left of it"
    OUTER = "the prefix operator of outer products"
    BRACKET = "an index or a static axis"
    UNTIL = "`(n ⋄ p)` with a function p, the right operand of `⍣`"


class Unit(NamedTuple):
    """`node` is set for the first three kinds, `axes` for a bracket; `depth` counts the levels of the node's tree."""

    kind: UnitKind
    start: int
    end: int
    text: str = ""
    node: Expression | Function | Operator | None = None
    depth: int = 0
    axes: tuple[Expression | None, ...] = ()
    token: Token | None = None


@dataclass(slots=True)
class BindContext:
    """What binding one statement shares: where it stands, what its names stand for, what was found wrong.

    `base` is the statement's offset in the spelled text, `defining` the name its top-level statement binds; `anchor`, of a
    statement that is kept, is where it stands in the source, and `origin` the offset in the spelled text that this is.
    `definitions` tells the offset and text of the statement that first binds each top-level name; `trials` counts the
    operators around this whose bodies are being tried out; `broken` are names that failing statements of dfns around were
    to bind.
    """

    spelled: Spelled
    braces: BraceBinder
    names: Resolution
    base: int = 0
    modules: ModuleNames | None = None
    definitions: Callable[[], Mapping[str, tuple[int, str]]] = dict
    defining: str = ""
    diagnostics: list[Diagnostic] = field(default_factory=list)
    trials: int = 0
    broken: set[str] = field(default_factory=set)
    anchor: StatementPosition | None = None
    origin: int = 0

    def span(self, start: int, end: int) -> Span:
        if self.anchor is not None:
            ahead = self.base - self.origin
            return PlacedSpan(self.anchor, ahead + start, ahead + end)
        return self.spelled.span(self.base + start, self.base + end)

    def meaning(self, token: Token) -> ResolvedName | None:
        """What a name stands for where it is written; None if it is not in scope there."""
        return self.names.meanings.get(self.base + token.start)

    def unseen(self, token: Token) -> Unseen:
        """Where a name is written that is not in scope there."""
        return self.names.unseen[self.base + token.start]

    def of(self, unit: Unit | Token) -> Span:
        return self.span(unit.start, unit.end)

    def written(self, unit: Unit | Token) -> str:
        """The canonical text of a unit, for messages; long ones are cut."""
        text = self.spelled.text[self.base + unit.start : self.base + unit.end]
        return text if len(text) <= 30 and "\n" not in text else text.split("\n")[0][:24].rstrip() + "…"

    def problem(
        self, code: Code, message: str, span: Span, *,
        labels: tuple[Label, ...] = (), notes: tuple[str, ...] = (), fixes: tuple[Fix, ...] = (),
    ) -> BindError:  # fmt: skip
        return BindError(Diagnostic(code, message, span, labels=labels, notes=notes, fixes=fixes))


BraceBinder: TypeAlias = Callable[[BindContext, Token], Unit]
"""Binds `{…}`: a dfn, or a user operator to be bound when it is applied."""


def replacing(title: str, span: Span, text: str) -> tuple[Fix, ...]:
    """A fix of one edit."""
    return (Fix(title, (Edit(span, text),)),)
