"""Binds the names of an expression, as an array, a function, an operator or a member of a module, and explains wrong ones."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from ..diagnostics.model import Code, Diagnostic, Label
from ..primitives.table import by_name, edits, nearest, rows as rows_of, suggest
from ..syntax.lex_errors import LOOKALIKES
from ..syntax.lexer import (
    ARGUMENTS,
    ARRAY_LEFT_OPERANDS,
    ARRAY_RIGHT_OPERANDS,
    CONVERSIONS,
    DYADIC_OPERATORS,
    FUNCTIONS,
    MONADIC_OPERATORS,
    OUTER,
    RESERVED,
    SLASHES,
    SYSTEM_CONSTANTS,
    TokenKind,
)
from ..syntax.source import Span, Token, names_in, read
from ..tree import expressions
from ..tree.expressions import Argument, Definition, NameClass, Symbol
from .scopes import BindContext, BindError, Unit, UnitKind, replacing

# ---------------------------------------------------------------------------------------------------- cycles
#
# Definitions that need each other: found when a dfn mentions a name that is only bound further down.

def cycle_through(definitions: Mapping[str, tuple[int, str]], first: str, mentioned: str) -> tuple[str, ...] | None:
    """The names of a cycle `first → mentioned → … → first`, or None.

    `definitions` gives the offset and the text of each name's statement.
    """
    if mentioned == first:
        return (first, first)
    came_from: dict[str, str] = {mentioned: first}
    pending = [mentioned]
    while pending:
        name = pending.pop()
        if name not in definitions:
            continue
        names = names_in(read(definitions[name][1]).tokens)
        if first in names:
            path = [name]
            while path[-1] != mentioned:
                path.append(came_from[path[-1]])
            return (first, *reversed(path), first)
        for other in sorted(names - came_from.keys() - {name}):
            came_from[other] = name
            pending.append(other)
    return None


# ---------------------------------------------------------------------------------------------------- names

_ARGUMENTS = {"⍺": "left argument", "⍵": "right argument", "⍺⍺": "left operand", "⍵⍵": "right operand"}


_MOST_SUGGESTIONS = 50


def bind_name(binding: BindContext, tokens: tuple[Token, ...], at: int) -> Unit:
    """A unit for the name at `at` that is not a member of a module."""
    token = tokens[at]
    name = token.text
    if name in CONVERSIONS:
        return Unit(UnitKind.FUNCTION, token.start, token.end, name, expressions.GlyphFunction(binding.of(token), name), 1)
    if name in _ARGUMENTS:
        return _argument(binding, token)
    if name in RESERVED:
        raise binding.problem(Code.E014, f"`{name}` is a reserved word, not a value", binding.of(token))
    meaning = binding.meaning(token)
    if name in binding.broken:
        raise BindError(None)
    if meaning is None:
        raise _unknown_name(binding, tokens, at)
    if meaning.is_recursive and meaning.symbol is not None:
        raise _calls_itself(binding, token, meaning.symbol)
    if meaning.symbol is None or meaning.name_class is None:
        raise BindError(None)
    return _unit(binding, token, meaning.name_class, meaning.symbol)


def _calls_itself(binding: BindContext, token: Token, symbol: Symbol) -> BindError:
    name, span = token.text, binding.of(token)
    first = binding.definitions().get(name)
    is_older = first is not None and symbol.depth == 0 and binding.spelled.span(first[0], first[0]).start < symbol.span.start
    older = (f"inside its braces `{name}` is the new function, not the older one: call one of them by another name",)
    return BindError(Diagnostic(
        Code.E600, f"`{name}` calls itself ({name} → {name}); every program must end, so there is no recursion", span,
        label="the call", labels=(Label(symbol.span, f"`{name}` is defined here"),),
        notes=older if is_older else ("use a loop with a bound `f⍣n`, a reduction `f/` or a scan `f\\`",),
    ))  # fmt: skip


def _unit(binding: BindContext, token: Token, name_class: NameClass, definition: Definition) -> Unit:
    span, name = binding.of(token), token.text
    match name_class:
        case NameClass.ARRAY:
            return Unit(UnitKind.ARRAY, token.start, token.end, name, expressions.Name(span, name, definition), 1)
        case NameClass.FUNCTION:
            return Unit(UnitKind.FUNCTION, token.start, token.end, name, expressions.FunctionName(span, name, definition), 1)
        case NameClass.MONADIC_OPERATOR:
            return Unit(UnitKind.OPERATOR, token.start, token.end, "monadic", expressions.OperatorName(span, name, definition), 1)
        case NameClass.DYADIC_OPERATOR:
            return Unit(UnitKind.OPERATOR, token.start, token.end, "dyadic", expressions.OperatorName(span, name, definition), 1)
        case NameClass.MODULE:
            raise binding.problem(Code.E001, f"`{name}` is a module; write `{name}.` and the name of something in it", span)


def _argument(binding: BindContext, token: Token) -> Unit:
    name, span = token.text, binding.of(token)
    meaning = binding.meaning(token)
    if meaning is None or meaning.name_class is None:
        whose = "user operator" if name in ("⍺⍺", "⍵⍵") else "dfn `{…}`"
        raise binding.problem(Code.E001, f"`{name}` is the {_ARGUMENTS[name]} of a {whose}, and this is not in one", span)
    return _unit(binding, token, meaning.name_class, Argument(name))


def _unknown_name(binding: BindContext, tokens: tuple[Token, ...], at: int) -> BindError:
    """E001, with the name that was probably meant."""
    token = tokens[at]
    name, span, quiet = token.text, binding.of(token), binding.names.top.quiet
    if name in quiet:
        return BindError(None)
    before = binding.spelled.text[: binding.base + token.start]
    module = re.search(r"\b([^\W\d]\w*)\.$", before)
    unusable = module is not None and module[1] in quiet
    quiet.add(name)  # one cause, one error
    if name in binding.definitions():
        return _defined_below(binding, token)
    if unusable:
        return BindError(None)  # of a module that could not be used
    spelt = _misspelt(binding, token)
    if spelt is not None:
        return spelt
    if _is_bound_later(binding, name, span):
        message = f"`{name}` is used before it gets a value in these braces"
        return binding.problem(Code.E001, message, span, notes=("a statement sees only the names before it",))
    meant = _meant(binding, tokens, at)
    if meant is None:
        return binding.problem(Code.E001, f"`{name}` has no value here", span, notes=_explained(binding, name, module, before))
    said = f"`{name}` has no value here; did you mean `{meant.text}`?"
    if meant.note:
        return binding.problem(Code.E001, said, span, notes=(meant.note,))
    return binding.problem(Code.E001, said, span, fixes=replacing(f"write `{meant.text}`", span, meant.text))


def _is_bound_later(binding: BindContext, name: str, span: Span) -> bool:
    """Does a later statement of the dfns around give a name a value?"""
    around = [scope for braces, scope in binding.names.added[-1].blocks if braces.start < span.start < braces.end]
    return any(symbol.name == name and symbol.span.start > span.start for scope in around for symbol in scope.bound)


def _misspelt(binding: BindContext, token: Token) -> BindError | None:
    """A name right after a backtick key is more likely the rest of a misspelt glyph: `` `iotta ``."""
    offsets, start = binding.spelled.offsets, binding.base + token.start
    if offsets is None or start == 0:
        return None
    glyph, width = binding.spelled.text[start - 1], offsets[start] - offsets[start - 1]
    rows = [row for row in rows_of(glyph) if row.key is not None] if width == 2 else []
    meant = suggest(f"`{rows[0].key}{token.text}") if rows else None
    if meant is None:
        return None
    word = f"`{rows[0].key}{token.text}"
    span = Span(binding.spelled.file, offsets[start - 1], binding.of(token).end)
    return binding.problem(Code.E007, f"{word} spells no glyph; did you mean {meant}?", span,
                           fixes=replacing(f"write {meant}", span, meant))  # fmt: skip


def _explained(binding: BindContext, name: str, module: re.Match[str] | None, before: str) -> tuple[str, ...]:
    """What an unknown name may have been taken for: a member of a module, or a size."""
    if module is not None:
        if module[1] in {symbol.name for symbol in binding.names.top.named()}:
            return (f"`{module[1]}` is a value, which has no members",)
        if binding.modules is None or binding.modules(module[1]) is None:
            return (f"`{module[1]}` is not a module in use, nor one of the standard library",)
        return (f"`{module[1]}` is not a module in use: `use {module[1]}` above would make it one",)
    declared = [line for line in before.split("\n") if line.lstrip().startswith("input") or (":" in line and "→" in line)]
    if any(re.search(rf"[\[<][^\]>\n⋄]*\b{re.escape(name)}\b", line) for line in declared):
        return (f"{name} is a size in a type, not a value: take it from an array, as `≢x` or from `⍴x`",)
    return ()


class _Suggestion(NamedTuple):
    """What was probably meant; with a `note` of its kind where other kinds fit as well, so that it is no fix."""

    text: str
    note: str = ""


def _meant(binding: BindContext, tokens: tuple[Token, ...], at: int) -> _Suggestion | None:
    """The name or glyph probably meant; asked only so often, for every answer reads every name in scope."""
    token = tokens[at]
    glyph = LOOKALIKES.get(token.text)
    if glyph is not None or len(binding.diagnostics) >= _MOST_SUGGESTIONS:
        return None if glyph is None else _Suggestion(glyph)
    unseen = binding.unseen(token)
    later = binding.names.new[unseen.new :]
    known: dict[str, NameClass] = {}
    for symbol in (*unseen.symbols, *[one for one in binding.names.top.named() if one.name not in later]):
        known.setdefault(symbol.name, symbol.name_class)
    classes = _classes_that_fit(binding, tokens, at)
    near = nearest(token.text, [name for name, name_class in known.items() if name_class in classes])
    if near is not None:
        return _Suggestion(near, f"`{near}` is {_CLASSES[known[near]]}" if len(classes) > 1 else "")
    spelt = by_name(token.text)
    return None if spelt is None else _Suggestion(spelt.glyph)


_CLASSES: Final = {
    NameClass.ARRAY: "an array", NameClass.FUNCTION: "a function", NameClass.MONADIC_OPERATOR: "an operator",
    NameClass.DYADIC_OPERATOR: "an operator", NameClass.MODULE: "a module",
}  # fmt: skip
_AN_ARRAY: Final = frozenset({NameClass.ARRAY})
_A_FUNCTION: Final = frozenset({NameClass.FUNCTION})
_OPERAND: Final = _AN_ARRAY | _A_FUNCTION
_APPLIED: Final = _A_FUNCTION | {NameClass.MONADIC_OPERATOR, NameClass.DYADIC_OPERATOR}


def _classes_that_fit(binding: BindContext, tokens: tuple[Token, ...], at: int) -> frozenset[NameClass]:
    """The classes that a name may have by what stands beside it; more than one where that does not decide."""
    left, right = tokens[at - 1] if at else None, tokens[at + 1] if at + 1 < len(tokens) else None
    if left is not None and left.kind is TokenKind.GLYPH and (left.text == OUTER or left.text in DYADIC_OPERATORS):
        return _OPERAND if left.text in ARRAY_RIGHT_OPERANDS else _A_FUNCTION
    if right is None:
        return _AN_ARRAY if left is not None and left.kind is not TokenKind.GETS else _OPERAND
    after = right.text
    match right.kind:
        case TokenKind.GLYPH if after == "." and at + 2 < len(tokens) and tokens[at + 2].kind is TokenKind.NAME:
            return frozenset({NameClass.MODULE})
        case TokenKind.GLYPH if after in SLASHES:
            return _OPERAND
        case TokenKind.GLYPH if after in MONADIC_OPERATORS or after in DYADIC_OPERATORS:
            return _OPERAND if after in ARRAY_LEFT_OPERANDS else _A_FUNCTION
        case TokenKind.GLYPH | TokenKind.BRACES | TokenKind.BRACKETS:
            return _AN_ARRAY
        case TokenKind.QUAD:
            return _AN_ARRAY if after in FUNCTIONS else _APPLIED
        case TokenKind.NAME:
            meaning = binding.meaning(right)
            is_applied = after in CONVERSIONS or (meaning is not None and meaning.name_class is NameClass.FUNCTION)
            is_operator = meaning is not None and meaning.name_class in (NameClass.MONADIC_OPERATOR, NameClass.DYADIC_OPERATOR)
            return _AN_ARRAY if is_applied else _OPERAND if is_operator else _APPLIED
    return _APPLIED


def _defined_below(binding: BindContext, token: Token) -> BindError:
    """E600 if the definition below needs the one this is in, else E001."""
    name, span = token.text, binding.of(token)
    offset = binding.definitions()[name][0]
    cycle = (
        cycle_through(binding.definitions(), binding.defining, name)
        if binding.unseen(token).in_dfn and binding.defining
        else None
    )
    if cycle is not None:
        binding.names.top.quiet.update(cycle)
        labels = tuple(
            Label(binding.spelled.span(at, at + len(part)), f"`{part}` is defined here")
            for part, at in ((part, binding.definitions()[part][0]) for part in cycle[:-1])
        )
        message = f"definitions may not need each other, and these form the cycle {' → '.join(cycle)}"
        return binding.problem(Code.E600, message, span, labels=labels, notes=("iterate with `⍣`, `/` or `\\`",))
    line = binding.spelled.line_of(offset) + 1
    if name == binding.defining:
        return binding.problem(Code.E001, f"`{name}` has no value yet in its own definition", span)
    message = f"`{name}` is used before it gets a value on line {line}"
    return binding.problem(Code.E001, message, span, notes=("a statement sees only the names above it",))


def is_member(binding: BindContext, tokens: tuple[Token, ...], at: int) -> bool:
    """Whether the name at `at` is the member in `module.name`."""
    if at < 2 or tokens[at - 1].text != "." or tokens[at - 1].kind is not TokenKind.GLYPH:
        return False
    module = binding.meaning(tokens[at - 2]) if tokens[at - 2].kind is TokenKind.NAME else None
    return module is not None and module.name_class is NameClass.MODULE


def bind_member(binding: BindContext, tokens: tuple[Token, ...], at: int) -> Unit:
    """`module.member`, the member at `at`."""
    module, member = tokens[at - 2], tokens[at]
    span = binding.span(module.start, member.end)
    start, end, text = module.start, member.end, f"{module.text}.{member.text}"
    qualifier, meaning = binding.meaning(module), binding.meaning(member)
    assert qualifier is not None and qualifier.symbol is not None
    name = (span, module.text, member.text, qualifier.symbol)
    match None if meaning is None else meaning.name_class:
        case NameClass.ARRAY:
            return Unit(UnitKind.ARRAY, start, end, text, expressions.Member(*name), 1)
        case NameClass.FUNCTION:
            return Unit(UnitKind.FUNCTION, start, end, text, expressions.FunctionMember(*name), 1)
        case NameClass.MONADIC_OPERATOR:
            return Unit(UnitKind.OPERATOR, start, end, "monadic", expressions.OperatorMember(*name), 1)
        case NameClass.DYADIC_OPERATOR:
            return Unit(UnitKind.OPERATOR, start, end, "dyadic", expressions.OperatorMember(*name), 1)
    path = qualifier.symbol.path
    exported = (binding.modules(path) if binding.modules is not None else None) or {}
    classes = _classes_that_fit(binding, (*tokens[: at - 2], *tokens[at:]), at - 2)
    meant = nearest(member.text, [name for name, name_class in exported.items() if name_class in classes])
    message = f"module `{module.text}` has no `{member.text}`"
    if meant is None:
        raise binding.problem(Code.E001, message, binding.of(member))
    message += f"; did you mean `{module.text}.{meant}`?"
    if len(classes) > 1:
        note = f"`{module.text}.{meant}` is {_CLASSES[exported[meant]]}"
        raise binding.problem(Code.E001, message, binding.of(member), notes=(note,))
    fixes = replacing(f"write `{meant}`", binding.of(member), meant)
    raise binding.problem(Code.E001, message, binding.of(member), fixes=fixes)


_ELSEWHERE = {
    "⎕UCS": "`i64 text` gives the code points of text, `char codes` the text",
    "⎕C": "look letters up in an alphabet of your own: `⎕A[lower⍳x]`",
    "⎕FMT": "`⍕x` formats",
    "⎕CT": "comparisons are exact",
    "⎕PP": "numbers print with ten digits, or as many as `--digits` says",
    "⎕RL": "random numbers come from a key: `key?shape`",
    "⎕TS": "a program reads no clock: give the date as an `input` or a `param`",
}


def _system_name(name: str) -> str | None:
    """The name of the library that is misspelt: other interpreters have names of two letters and in capitals that mean other
    functions, so either the case or one letter of at least three may differ, and only one name may be so near."""
    names = sorted(one for one in FUNCTIONS | SYSTEM_CONSTANTS if one.startswith("⎕"))
    cased = [one for one in names if one.lower() == name.lower()]
    if cased or len(name) < 4:
        return cased[0] if cased else None
    near = [one for one in names if one[1:].islower() and edits(name, one) == 1]
    return near[0] if len(near) == 1 else None


def bind_quad(binding: BindContext, token: Token) -> Unit:
    """A library function or a system constant: `⎕fft`, `⎕A`."""
    name, span = token.text, binding.of(token)
    if name in FUNCTIONS:
        return Unit(UnitKind.FUNCTION, token.start, token.end, name, expressions.GlyphFunction(span, name), 1)
    if name in SYSTEM_CONSTANTS:
        return Unit(UnitKind.ARRAY, token.start, token.end, name, expressions.SystemName(span, name), 1)
    if name == "⎕":
        message = "`⎕` reads nothing; `⎕←x` prints x, and data comes in through `input`"
        raise binding.problem(Code.E001, message, span)
    if name in _ELSEWHERE:
        raise binding.problem(Code.E001, f"there is no `{name}`", span, notes=(_ELSEWHERE[name],))
    meant = _system_name(name)
    if meant is not None:
        raise binding.problem(Code.E001, f"there is no `{name}`; did you mean `{meant}`?", span,
                              fixes=replacing(f"write `{meant}`", span, meant))  # fmt: skip
    notes = ("files are read by `input` and written by `output`",) if "file" in name.lower() or name == "⎕FIO" else ()
    raise binding.problem(Code.E001, f"there is no `{name}`", span, notes=notes)


# ---------------------------------------------------------------------------------------------------- targets
#
# Targets of assignments: a name, `_`, or names in parentheses.

def target_of(binding: BindContext, token: Token) -> expressions.Target:
    """The target a token spells, or E010, E014 or E018."""
    span = binding.of(token)
    match token.kind:
        case TokenKind.NAME:
            return checked_name(binding, token)
        case TokenKind.SLOT:
            return expressions.DiscardTarget(span)
        case TokenKind.PARENTHESES if token.items:
            items = tuple(target_of(binding, item) for item in token.items if item.kind is not TokenKind.SEPARATOR)
            return items[0] if len(items) == 1 else expressions.TupleTarget(span, items)
        case TokenKind.QUAD if token.text == "⎕IO":
            raise binding.problem(Code.E018, "`⎕IO` is set, to 0 or 1, by the first statement of a file only", span)
    notes = ("names get values, and items of one: `x[i]←v`, or `v@i ⊢ x` for a changed array",)
    raise binding.problem(Code.E010, f"`{binding.written(token)}` cannot be given a value", span, notes=notes)


def checked_name(binding: BindContext, token: Token) -> expressions.NameTarget:
    span, name = allowed_name(binding, token)
    if name in ARGUMENTS:
        return expressions.NameTarget(span, name, Argument(name))
    meaning = binding.meaning(token)
    if meaning is None or meaning.symbol is None:  # what follows makes no assignment of it
        raise binding.problem(Code.E010, f"`{name}` cannot be given a value here", span)
    return expressions.NameTarget(span, name, meaning.symbol)


def allowed_name(binding: BindContext, token: Token) -> tuple[Span, str]:
    """A name that may get a value, else E010 or E014."""
    name, span = token.text, binding.of(token)
    if name in RESERVED:
        raise binding.problem(Code.E014, f"`{name}` is a reserved word and cannot be a name", span)
    if name in ("⍺⍺", "⍵⍵"):
        raise binding.problem(Code.E010, f"`{name}` is an operand and cannot be given a value", span)
    return span, name


# ---------------------------------------------------------------------------------------------------- module_names
#
# What the file is called that a `use` names: `use stats` is of the standard library, `use "./x.rho"` beside who says it.

LIBRARY_PREFIX: Final = "<stdlib>/"


def module_name(module: str, importer: str, folder: str = "") -> str:
    """The name of a module's source; `folder`: where a program without a file stands."""
    if not module.endswith(".rho"):
        return f"{LIBRARY_PREFIX}{module}.rho"
    if importer.startswith(LIBRARY_PREFIX):
        return LIBRARY_PREFIX + os.path.normpath(module)
    base = folder if importer.startswith("<") else os.path.dirname(importer)
    return os.path.normpath(os.path.join(base, module))


def called(path: str) -> str:
    """By what name a program calls the module of a path: its file's."""
    return path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
