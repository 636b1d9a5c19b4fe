"""Scopes, references and name classes: the result of name resolution; and the binder's own context, items and errors."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import NamedTuple, TypeAlias

from ..diagnostics.model import Code, Diagnostic, Edit, Fix, Label
from ..primitives.operators import UNSUPPORTED_CHARACTERS
from ..support.records import dataclass, field
from ..syntax.glyph_input import GlyphText
from ..syntax.reader import RawStatement
from ..syntax.source import (
    CONVERSIONS,
    DYADIC_OPERATORS,
    FUNCTIONS,
    AnchoredSpan,
    Span,
    StatementPosition,
    Token,
    TokenKind,
    Tokens,
    mentions,
    read,
    split_at,
)
from ..tree.expressions import Expression, Function, NameClass, Operator, Symbol, SymbolKind

# ---------------------------------------------------------------------------------------------------- symbols

ModuleNames: TypeAlias = Callable[[str], Mapping[str, NameClass] | None]
"""Names and classes a module exports, by library name (`stats`) or path (`./geometry.rho`); None if there is no such module."""


class ReferenceKind(Enum):
    """The use that a reference makes of its symbol."""

    BIND = "gives a value"
    CHANGE = "gives a part of it another value"
    DECLARE = "states its type"
    READ = "reads"


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """An occurrence of a name in the text and the symbol it stands for; `member` is the name after the dot of `module.name`."""

    span: Span
    symbol: Symbol
    kind: ReferenceKind
    member: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PendingSignature:
    """The signatures and annotations of a name whose binding has not been read yet, and the sizes of the signature."""

    spans: tuple[Span, ...]
    sizes: Mapping[str, Symbol] = field(default_factory=dict)


class ResolvedName(NamedTuple):
    """The meaning of a name at one position: its symbol (None for an argument of a dfn) and its class.

    A class of None marks a name whose binding failed: its uses report no second error.  `is_recursive`: the name occurs inside
    the dfn that it is being bound to."""

    symbol: Symbol | None
    name_class: NameClass | None
    is_recursive: bool = False


class UnresolvedName(NamedTuple):
    """A name that is not in scope: whether it is inside a dfn, the symbols of the enclosing dfns, and how many new names the
    statement had bound by then (later ones are no suggestions)."""

    in_dfn: bool
    symbols: tuple[Symbol, ...]
    new_names: int


class ResolvedValue(NamedTuple):
    """The resolved tokens of the value of a declaration, and the offset in its text that they count from."""

    offset: int = 0
    tokens: Tokens = ()


@dataclass(slots=True, eq=False)
class NameScope:
    """Names bound so far in one block: the file, or the body of a dfn.

    `defining` is the function that the current statement binds: dfns inside the statement see it before any older binding,
    so referring to it there is recursion.  `operands` are the classes of `⍺⍺` and `⍵⍵`; inner dfns do not see them.
    `failed_names` are names whose binding failed; `captures` are the symbols of enclosing blocks that this block refers to.
    `sizes` are the names of sizes, which are integers where no other name hides them: those of inputs in the file, and those of
    its signature in the function that has it.
    """

    parent: NameScope | None = None
    depth: int = 0
    symbols: dict[str, Symbol] = field(default_factory=dict)
    bound: list[Symbol] = field(default_factory=list)
    operands: Mapping[str, NameClass] = field(default_factory=dict)
    defining: Symbol | None = None
    failed_names: set[str] = field(default_factory=set)
    captures: dict[Symbol, None] = field(default_factory=dict)
    sizes: Mapping[str, Symbol] = field(default_factory=dict)

    def inner(self, operands: Mapping[str, NameClass] | None = None) -> NameScope:
        """The scope of a dfn's body."""
        return NameScope(self, self.depth + 1, operands=operands or {})

    def branch(self) -> NameScope:
        """The scope of a guard's value: names bound in it are visible only there."""
        return NameScope(
            self.parent, self.depth, dict(self.symbols), self.bound, self.operands, self.defining, set(self.failed_names),
            self.captures, self.sizes,
        )  # fmt: skip

    def capture(self, symbol: Symbol) -> None:
        """Record a reference to a symbol: every block between here and the block that binds it captures it."""
        scope: NameScope | None = self
        while scope is not None and scope.depth > symbol.depth:
            scope.captures[symbol] = None
            scope = scope.parent

    def enter(self, symbol: Symbol) -> None:
        """Bring a symbol into scope."""
        self.symbols[symbol.name] = symbol
        self.failed_names.discard(symbol.name)

    def find(self, name: str) -> ResolvedName | None:
        """Look a name up; None if it is not in scope."""
        scope: NameScope | None = self
        while scope is not None:
            if scope is not self and scope.defining is not None and scope.defining.name == name:
                return ResolvedName(scope.defining, scope.defining.name_class, is_recursive=True)
            if name in scope.failed_names:
                return ResolvedName(scope.symbols.get(name), None)
            if (symbol := scope.symbols.get(name)) is not None:
                return ResolvedName(symbol, symbol.name_class)
            size = scope.sizes.get(name)
            if size is not None and size.kind is SymbolKind.SIZE:
                return ResolvedName(size, NameClass.ARRAY)
            scope = scope.parent
        return None

    def class_of(self, name: str) -> NameClass | None:
        """The class of a name, or of an operand; None if it is not known."""
        meaning = self.find(name)
        return self.operands.get(name) if meaning is None else meaning.name_class

    def visible_symbols(self, until: NameScope | None = None) -> Iterator[Symbol]:
        """The symbols of this scope and its parents, innermost first, up to but not including the scope `until`."""
        scope: NameScope | None = self
        while scope is not until and scope is not None:
            yield from [symbol for name, symbol in scope.symbols.items() if name not in scope.failed_names]
            scope = scope.parent

    def restricted_to(self, names: frozenset[str]) -> NameScope:
        """A copy of this scope, and of its parents, with only some of the names."""
        scope = NameScope(depth=self.depth)
        for name in names:
            match self.find(name):
                case ResolvedName(Symbol() as symbol, _, is_recursive=True):
                    scope.parent = NameScope(scope.parent, self.depth, defining=symbol)
                case ResolvedName(symbol, name_class):
                    if symbol is not None:
                        scope.symbols[name] = symbol
                    if name_class is None:
                        scope.failed_names.add(name)
        return scope


@dataclass(slots=True, eq=False)
class StatementNames:
    """The additions of one statement to the symbol index.

    `bound` are the symbols that it binds at top level, `uses` the top-level symbols that it reads or changes, `blocks` its dfns
    with their scopes.
    """

    symbols: list[Symbol] = field(default_factory=list)
    bound: list[Symbol] = field(default_factory=list)
    uses: dict[Symbol, None] = field(default_factory=dict)
    references: list[Reference] = field(default_factory=list)
    blocks: list[tuple[Span, NameScope]] = field(default_factory=list)


@dataclass(slots=True)
class Resolution:
    """The meanings of the names of a text, as far as it has been read.

    `top` is the scope of the file, `sizes` are the size variables of inputs and annotations, `pending` the signatures whose
    binding is still to come, `added` has one entry for each statement; `new_names` are the top-level names that the current one
    binds for the first time.
    """

    top: NameScope = field(default_factory=NameScope)
    sizes: dict[str, Symbol] = field(default_factory=dict)
    pending: dict[str, PendingSignature] = field(default_factory=dict)
    added: list[StatementNames] = field(default_factory=list)
    new_names: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.top.sizes = self.sizes

    def begin_statement(self) -> StatementNames:
        """Add an entry for the next statement."""
        self.new_names.clear()
        self.added.append(StatementNames())
        return self.added[-1]

    def value_in_size(self, name: str, *, in_signature: bool) -> Symbol | None:
        """The symbol of an integer that a size in a type names; None for a size variable."""
        value = self.top.symbols.get(name)
        is_integer = value is not None and value.name_class is NameClass.ARRAY and name not in self.sizes and not in_signature
        return value if value is not None and (is_integer or value.kind is SymbolKind.PARAM) else None

    def index(self, glyphs: GlyphText, raw_statements: tuple[RawStatement, ...]) -> SymbolIndex:
        """The symbol index of the whole text."""
        references = sorted([reference for part in self.added for reference in part.references], key=_text_order)
        symbols = sorted([symbol for part in self.added for symbol in part.symbols], key=_text_order)
        blocks = [block for part in self.added for block in part.blocks]
        self.top.bound = [symbol for part in self.added for symbol in part.bound]
        return SymbolIndex(glyphs, raw_statements, tuple(symbols), tuple(references), tuple(blocks), self.top)


def _text_order(entry: Symbol | Reference) -> tuple[int, int]:
    return entry.span.start, entry.span.end


@dataclass(frozen=True, slots=True)
class SymbolIndex:
    """The symbols, references and blocks of a text in the order of the text; `raw_statements` are the statements of `glyphs`.

    Spans move with their statements, so an index is valid until the next version of the text is read."""

    glyphs: GlyphText
    raw_statements: tuple[RawStatement, ...]
    symbols: tuple[Symbol, ...]
    references: tuple[Reference, ...]
    blocks: tuple[tuple[Span, NameScope], ...]
    top: NameScope

    def at(self, offset: int) -> Reference | None:
        """The reference that contains an offset or ends there."""
        after = bisect_right(self.references, offset, key=lambda reference: reference.span.start)
        for reference in reversed(self.references[max(after - 1, 0) : after]):
            if reference.span.start <= offset <= reference.span.end:
                return reference
        return None

    def visible(self, offset: int) -> dict[str, Symbol]:
        """The names in scope at an offset, each with its innermost symbol."""
        symbols: dict[str, Symbol] = {}
        around = [scope for span, scope in self.blocks if span.start < offset < span.end]
        for scope in (self.top, *sorted(around, key=lambda scope: scope.depth)):
            for symbol in scope.bound:
                if symbol.statement.end <= offset or (symbol.depth and symbol.span.end < offset):
                    symbols[symbol.name] = symbol
        return symbols

    def statement_at(self, offset: int) -> Span | None:
        """The top-level statement that contains an offset."""
        for raw in self.raw_statements:
            span = self.glyphs.span(raw.start, raw.start + len(raw.text))
            if span.start <= offset <= span.end:
                return span
        return None


# ---------------------------------------------------------------------------------------------------- name classes
#
# Whether a run of tokens denotes an array, a function or an operator, decided from the names in scope before anything is bound.
#
# The class of the name in `name ← …` follows from the last item of its value, so it is known before the value is bound.

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
    if len(tokens) < 2 or tokens[1].kind is not TokenKind.GETS or tokens[1].items:
        return False
    return tokens[0].kind is not TokenKind.QUAD or tokens[0].text != "⎕"


def has_diamond(token: Token) -> bool:
    return any(item.kind is TokenKind.SEPARATOR and item.text == "⋄" for item in token.items)


def is_notation(token: Token) -> bool:
    """Whether brackets are array notation: empty, or with a `⋄` or a newline between items; else they hold an index or an
    axis."""
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
    """The class of a name that is bound to these tokens."""
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
    """The index at which the function written directly left of the `←` at `at` starts; `at` if there is none.

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
    """Whether the token left of a named function `f` makes `f←` a modification of it (`x f← v`) and not a binding of `f`."""
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


# ---------------------------------------------------------------------------------------------------- errors

class BindError(Exception):
    """Ends parsing or binding of the current statement; `diagnostic` is None when the cause has been reported already."""

    def __init__(self, diagnostic: Diagnostic | None) -> None:
        self.diagnostic = diagnostic
        super().__init__("" if diagnostic is None else diagnostic.message)


# ---------------------------------------------------------------------------------------------------- items and context
#
# The binder turns each token or group into a `BindItem` whose class is known, and a sequence of items into applications.

class ItemKind(Enum):
    ARRAY = "array"
    FUNCTION = "function"
    OPERATOR = "user operator"
    MONADIC = "monadic primitive operator"
    DYADIC = "dyadic primitive operator"
    SLASH = "slash: an operator right of a function, else a function"
    OUTER = "the prefix operator of outer products"
    BRACKET = "an index or a static axis"
    UNTIL = "`(n ⋄ p)` with a function p, the right operand of `⍣`"


class BindItem(NamedTuple):
    """Characters `start` to `end` of the statement, classified.

    `node` is set for the first three kinds, `axes` for a bracket; `depth` counts the levels of the node's tree."""

    kind: ItemKind
    start: int
    end: int
    text: str = ""
    node: Expression | Function | Operator | None = None
    depth: int = 0
    axes: tuple[Expression | None, ...] = ()
    token: Token | None = None


@dataclass(slots=True)
class BindContext:
    """The state of binding one statement: its position, the resolution of its names, the diagnostics so far.

    `base` is the statement's offset in the text in glyphs, `defining` the name that its top-level statement binds.  A statement
    that the cache may keep has an `anchor`, its position in the source, and `origin`, the offset in glyphs that this is.
    `definitions` gives the offset and text of the statement that first binds each top-level name; `operator_depth` counts the
    enclosing operators whose bodies are being checked; `failed_names` are the names that failed statements of enclosing dfns
    would have bound.
    """

    glyphs: GlyphText
    braces: BraceBinder
    resolution: Resolution
    base: int = 0
    modules: ModuleNames | None = None
    definitions: Callable[[], Mapping[str, tuple[int, str]]] = dict
    defining: str = ""
    diagnostics: list[Diagnostic] = field(default_factory=list)
    operator_depth: int = 0
    failed_names: set[str] = field(default_factory=set)
    anchor: StatementPosition | None = None
    origin: int = 0

    def span(self, start: int, end: int) -> Span:
        if self.anchor is not None:
            ahead = self.base - self.origin
            return AnchoredSpan(self.anchor, ahead + start, ahead + end)
        return self.glyphs.span(self.base + start, self.base + end)

    def span_of(self, item: BindItem | Token) -> Span:
        return self.span(item.start, item.end)

    def text_of(self, item: BindItem | Token) -> str:
        """The text of an item in glyphs, for messages; long texts are cut."""
        text = self.glyphs.text[self.base + item.start : self.base + item.end]
        return text if len(text) <= 30 and "\n" not in text else text.split("\n")[0][:24].rstrip() + "…"

    def error(
        self, code: Code, message: str, span: Span, *,
        labels: tuple[Label, ...] = (), notes: tuple[str, ...] = (), fixes: tuple[Fix, ...] = (),
    ) -> BindError:  # fmt: skip
        return BindError(Diagnostic(code, message, span, labels=labels, notes=notes, fixes=fixes))


def meaning_of(token: Token) -> ResolvedName | None:
    """The meaning of the name of a resolved token; None if it is not in scope there."""
    return token.meaning if isinstance(token.meaning, ResolvedName) else None


BraceBinder: TypeAlias = Callable[[BindContext, Token], BindItem]
"""Binds `{…}`: a dfn, or a user operator, whose body is bound when it is applied."""


def replacement(title: str, span: Span, text: str) -> tuple[Fix, ...]:
    """A fix of one edit."""
    return (Fix(title, (Edit(span, text),)),)


# ---------------------------------------------------------------------------------------------------- unreadable statements
#
# Why a statement cannot be read where the grammar stops: an unknown character, a malformed number.

_NUMBERLIKE = re.compile(r"¯?[.0-9¯∞][\w.∆¯∞]*")
LOOKALIKES = {
    "^": "∧", "&": "∧", "%": "|", "•": "⎕", "□": "⎕", "▯": "⎕", "∈": "∊", "ε": "∊", "ρ": "⍴", "ι": "⍳", "α": "⍺", "ω": "⍵",
    "–": "-", "—": "-", "∗": "*", "·": "×", "∥": "|", "¦": "|", "“": '"', "”": '"', "‘": "'", "’": "'", "⟨": "(", "⟩": ")",
    "𝕩": "⍵", "𝕨": "⍺", "≔": "←", "⇐": "←", "↩": "←", "′": "'", "≤": "≤", "∕": "/", "∖": "\\", "∙": ".",
    "NaN": "⎕nan", "nan": "⎕nan",
}  # fmt: skip
"""Characters often typed or pasted for the glyph on the right; Greek letters and `NaN` are valid names, suggested on if
unbound."""


def read_statement(context: BindContext, text: str) -> Tokens:
    """The tokens of a statement; `BindError` (E005, E006, E600) at the first character that starts no token."""
    tokens, unreadable = read(text)
    if unreadable is not None:
        raise _lex_error(context, text, unreadable.start)
    return tokens


def _lex_error(context: BindContext, text: str, start: int) -> BindError:
    """The error for offset `start` of a statement, where no token starts."""
    character = text[start : start + 1]
    number = _NUMBERLIKE.match(text, start)
    if number is not None:
        word = number.group()
        span = context.span(start, number.end())
        if word == "¯":
            return context.error(Code.E005, "`¯` is the sign of a number and must touch its digits; to negate write `-`", span,
                                 fixes=replacement("write `-`", span, "-"))  # fmt: skip
        return context.error(Code.E005, f"`{word}` is not a number", span, notes=_number_notes(word))
    span = context.span(start, start + len(character))
    if character in UNSUPPORTED_CHARACTERS:
        code = Code.E600 if character == "∇" else Code.E006
        reason = UNSUPPORTED_CHARACTERS[character]
        message = reason if reason.startswith(f"`{character}`") else f"`{character}` is not in the language: {reason}"
        return context.error(code, message, span)
    lookalike = LOOKALIKES.get(character, "")
    if lookalike:
        return context.error(Code.E006, f"`{character}` is not a character of the language; did you mean `{lookalike}`?", span,
                             fixes=replacement(f"write `{lookalike}`", span, lookalike))  # fmt: skip
    shown = f"`{character}`" if character.isprintable() else f"U+{ord(character):04X}" if character else "the end of the text"
    return context.error(Code.E006, f"{shown} is not a character of the language", span)


def _number_notes(word: str) -> tuple[str, ...]:
    if re.match(r"[0-9]+[A-Za-z_∆]", word):
        return ("a name cannot start with a digit; write a blank between a number and a name",)
    if word.count(".") > 1:
        return ("a number has one decimal point",)
    return ("numbers look like `3`, `¯3`, `2.5`, `1e¯3`, `3J4`",)
