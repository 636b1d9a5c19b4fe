"""Binds names to arrays, functions, operators and members of modules; explains unknown names and suggests near ones."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from ..diagnostics.model import Code, Diagnostic, Label
from ..primitives.table import by_name, edits, nearest, rows as rows_of, suggest
from ..syntax.source import (
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
    Span,
    Token,
    TokenKind,
    Tokens,
    names_in,
    read,
)
from ..tree import expressions
from ..tree.expressions import Argument, Definition, NameClass, Symbol
from .scopes import LOOKALIKES, BindContext, BindError, BindItem, ItemKind, UnresolvedName, meaning_of, replacement

# ---------------------------------------------------------------------------------------------------- definition cycles

def cycle_through(definitions: Mapping[str, tuple[int, str]], first: str, mentioned: str) -> tuple[str, ...] | None:
    """The names of a cycle `first → mentioned → … → first`, or None.

    `definitions` gives the offset and the text of each name's statement.  Asked when a dfn refers to a name that is bound below.
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


def bind_name(context: BindContext, tokens: Tokens, index: int) -> BindItem:
    """The item of the name at `index`; E001, E014 or E600."""
    token = tokens[index]
    name = token.text
    if token.items:
        return _member(context, tokens, index)
    if name in CONVERSIONS:
        function = expressions.GlyphFunction(context.span_of(token), name)
        return BindItem(ItemKind.FUNCTION, token.start, token.end, name, function, 1)
    if name in _ARGUMENTS:
        return _argument(context, token)
    if name in RESERVED:
        raise context.error(Code.E014, f"`{name}` is a reserved word, not a value", context.span_of(token))
    meaning = meaning_of(token)
    if name in context.failed_names:
        raise BindError(None)
    if meaning is None:
        raise _unknown_name(context, tokens, index)
    if meaning.is_recursive and meaning.symbol is not None:
        raise _recursion_error(context, token, meaning.symbol)
    if meaning.symbol is None or meaning.name_class is None:
        raise BindError(None)
    return _name_item(context, token, meaning.name_class, meaning.symbol)


def _recursion_error(context: BindContext, token: Token, symbol: Symbol) -> BindError:
    name, span = token.text, context.span_of(token)
    first = context.definitions().get(name)
    is_older = first is not None and symbol.depth == 0 and context.glyphs.span(first[0], first[0]).start < symbol.span.start
    older = (f"inside its braces `{name}` is the new function, not the older one: call one of them by another name",)
    return BindError(Diagnostic(
        Code.E600, f"`{name}` calls itself ({name} → {name}); every program must end, so there is no recursion", span,
        label="the call", labels=(Label(symbol.span, f"`{name}` is defined here"),),
        notes=older if is_older else ("use a loop with a bound `f⍣n`, a reduction `f/` or a scan `f\\`",),
    ))  # fmt: skip


def _name_item(context: BindContext, token: Token, name_class: NameClass, definition: Definition) -> BindItem:
    span, name, start, end = context.span_of(token), token.text, token.start, token.end
    match name_class:
        case NameClass.ARRAY:
            return BindItem(ItemKind.ARRAY, start, end, name, expressions.Name(span, name, definition), 1)
        case NameClass.FUNCTION:
            return BindItem(ItemKind.FUNCTION, start, end, name, expressions.FunctionName(span, name, definition), 1)
        case NameClass.MONADIC_OPERATOR:
            return BindItem(ItemKind.OPERATOR, start, end, "monadic", expressions.OperatorName(span, name, definition), 1)
        case NameClass.DYADIC_OPERATOR:
            return BindItem(ItemKind.OPERATOR, start, end, "dyadic", expressions.OperatorName(span, name, definition), 1)
        case NameClass.MODULE:
            raise context.error(Code.E001, f"`{name}` is a module; write `{name}.` and the name of something in it", span)


def _argument(context: BindContext, token: Token) -> BindItem:
    name, span = token.text, context.span_of(token)
    meaning = meaning_of(token)
    if meaning is None or meaning.name_class is None:
        whose = "user operator" if name in ("⍺⍺", "⍵⍵") else "dfn `{…}`"
        raise context.error(Code.E001, f"`{name}` is the {_ARGUMENTS[name]} of a {whose}, and this is not in one", span)
    return _name_item(context, token, meaning.name_class, Argument(name))


def _unknown_name(context: BindContext, tokens: Tokens, index: int) -> BindError:
    """E001, with the name that was probably meant."""
    token = tokens[index]
    name, span, failed_names = token.text, context.span_of(token), context.resolution.top.failed_names
    if name in failed_names:
        return BindError(None)
    before = context.glyphs.text[: context.base + token.start]
    module = re.search(r"\b([^\W\d]\w*)\.$", before)
    unusable = module is not None and module[1] in failed_names
    failed_names.add(name)  # one cause, one error
    if name in context.definitions():
        return _defined_below(context, token)
    if unusable:
        return BindError(None)  # the `use` of its module has failed
    spelt = _misspelt(context, token)
    if spelt is not None:
        return spelt
    if _is_bound_later(context, name, span):
        message = f"`{name}` is used before it gets a value in these braces"
        return context.error(Code.E001, message, span, notes=("a statement sees only the names before it",))
    suggestion = _suggested(context, tokens, index)
    if suggestion is None:
        notes = _unknown_name_notes(context, name, module, before)
        return context.error(Code.E001, f"`{name}` has no value here", span, notes=notes)
    question = f"`{name}` has no value here; did you mean `{suggestion.text}`?"
    if suggestion.note:
        return context.error(Code.E001, question, span, notes=(suggestion.note,))
    return context.error(Code.E001, question, span, fixes=replacement(f"write `{suggestion.text}`", span, suggestion.text))


def _is_bound_later(context: BindContext, name: str, span: Span) -> bool:
    """Does a later statement of an enclosing dfn bind the name?"""
    around = [scope for braces, scope in context.resolution.added[-1].blocks if braces.start < span.start < braces.end]
    return any(symbol.name == name and symbol.span.start > span.start for scope in around for symbol in scope.bound)


def _misspelt(context: BindContext, token: Token) -> BindError | None:
    """E007 for a name right after a backtick key, which is more likely the rest of a misspelt glyph: `` `iotta ``."""
    offsets, start = context.glyphs.offsets, context.base + token.start
    if offsets is None or start == 0:
        return None
    glyph, width = context.glyphs.text[start - 1], offsets[start] - offsets[start - 1]
    rows = [row for row in rows_of(glyph) if row.key is not None] if width == 2 else []
    suggestion = suggest(f"`{rows[0].key}{token.text}") if rows else None
    if suggestion is None:
        return None
    word = f"`{rows[0].key}{token.text}"
    span = Span(context.glyphs.file, offsets[start - 1], context.span_of(token).end)
    return context.error(Code.E007, f"{word} spells no glyph; did you mean {suggestion}?", span,
                         fixes=replacement(f"write {suggestion}", span, suggestion))  # fmt: skip


def _unknown_name_notes(context: BindContext, name: str, module: re.Match[str] | None, before: str) -> tuple[str, ...]:
    """Notes for an unknown name that looks like a member of a module, is a size in a type or follows `use` in braces."""
    if module is not None:
        if module[1] in {symbol.name for symbol in context.resolution.top.visible_symbols()}:
            return (f"`{module[1]}` is a value, which has no members",)
        if context.modules is None or context.modules(module[1]) is None:
            return (f"`{module[1]}` is not a module in use, nor one of the standard library",)
        return (f"`{module[1]}` is not a module in use: `use {module[1]}` above would make it one",)
    if re.search(r"\buse[ \t]+$", before):
        return (f"`use {name}` is a statement of the program, not of a function: it stands before it, on a line of its own",)
    declared = [line for line in before.split("\n") if line.lstrip().startswith("input") or (":" in line and "→" in line)]
    if any(re.search(rf"[\[<][^\]>\n⋄]*\b{re.escape(name)}\b", line) for line in declared):
        return (f"{name} is a size of another function's signature: take it from an array, as `≢x` or from `⍴x`",)
    return ()


class _Suggestion(NamedTuple):
    """The name or glyph that was probably meant.  With a `note` on its class, which is uncertain, it is offered without a fix."""

    text: str
    note: str = ""


def _suggested(context: BindContext, tokens: Tokens, index: int) -> _Suggestion | None:
    """The name or glyph that was probably meant.

    Each search reads every name in scope, so after `_MOST_SUGGESTIONS` diagnostics only look-alikes are suggested."""
    token = tokens[index]
    glyph = LOOKALIKES.get(token.text)
    if glyph is not None or len(context.diagnostics) >= _MOST_SUGGESTIONS:
        return None if glyph is None else _Suggestion(glyph)
    unresolved: UnresolvedName = token.meaning
    later = context.resolution.new_names[unresolved.new_names :]
    known: dict[str, NameClass] = {}
    for symbol in (*unresolved.symbols, *[one for one in context.resolution.top.visible_symbols() if one.name not in later]):
        known.setdefault(symbol.name, symbol.name_class)
    classes = _classes_that_fit(tokens, index)
    near = nearest(token.text, [name for name, name_class in known.items() if name_class in classes])
    if near is not None:
        is_decided = len(classes) == 1 or _stands_alone(tokens, index, known[near])
        return _Suggestion(near, "" if is_decided else f"`{near}` is {_CLASS_NAMES[known[near]]}")
    spelt = by_name(token.text)
    return None if spelt is None else _Suggestion(spelt.glyph)


_CLASS_NAMES: Final = {
    NameClass.ARRAY: "an array", NameClass.FUNCTION: "a function", NameClass.MONADIC_OPERATOR: "an operator",
    NameClass.DYADIC_OPERATOR: "an operator", NameClass.MODULE: "a module",
}  # fmt: skip
_AN_ARRAY: Final = frozenset({NameClass.ARRAY})
_A_FUNCTION: Final = frozenset({NameClass.FUNCTION})
_OPERAND: Final = _AN_ARRAY | _A_FUNCTION
_APPLIED: Final = _A_FUNCTION | {NameClass.MONADIC_OPERATOR, NameClass.DYADIC_OPERATOR}


def _classes_that_fit(tokens: Tokens, index: int) -> frozenset[NameClass]:
    """The classes that a name may have, given the tokens beside it; several where these do not decide."""
    left, right = tokens[index - 1] if index else None, tokens[index + 1] if index + 1 < len(tokens) else None
    if left is not None and left.kind is TokenKind.GLYPH and (left.text == OUTER or left.text in DYADIC_OPERATORS):
        return _OPERAND if left.text in ARRAY_RIGHT_OPERANDS else _A_FUNCTION
    if right is None:
        return _AN_ARRAY if left is not None and left.kind is not TokenKind.GETS else _OPERAND
    after = right.text
    match right.kind:
        case TokenKind.GLYPH if after == "." and index + 2 < len(tokens) and tokens[index + 2].kind is TokenKind.NAME:
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
            meaning = meaning_of(right)
            is_applied = after in CONVERSIONS or (meaning is not None and meaning.name_class is NameClass.FUNCTION)
            is_operator = meaning is not None and meaning.name_class in (NameClass.MONADIC_OPERATOR, NameClass.DYADIC_OPERATOR)
            return _AN_ARRAY if is_applied else _OPERAND if is_operator else _APPLIED
    return _APPLIED


def _stands_alone(tokens: Tokens, index: int, name_class: NameClass) -> bool:
    """Is the name at `index` a whole value, as a name of this class may be?  The value of a statement is no function."""
    is_first = index == 0 or tokens[index - 1].kind is TokenKind.GETS
    return name_class is NameClass.ARRAY and is_first and index + 1 == len(tokens)


def _defined_below(context: BindContext, token: Token) -> BindError:
    """E600 if the definition below refers back to the current one, else E001."""
    name, span = token.text, context.span_of(token)
    offset = context.definitions()[name][0]
    cycle = (
        cycle_through(context.definitions(), context.defining, name)
        if token.meaning.in_dfn and context.defining
        else None
    )
    if cycle is not None:
        context.resolution.top.failed_names.update(cycle)
        labels = tuple(
            Label(context.glyphs.span(index, index + len(part)), f"`{part}` is defined here")
            for part, index in ((part, context.definitions()[part][0]) for part in cycle[:-1])
        )
        message = f"definitions may not need each other, and these form the cycle {' → '.join(cycle)}"
        return context.error(Code.E600, message, span, labels=labels, notes=("iterate with `⍣`, `/` or `\\`",))
    line = context.glyphs.line_of(offset) + 1
    if name == context.defining:
        return context.error(Code.E001, f"`{name}` has no value yet in its own definition", span)
    message = f"`{name}` is used before it gets a value on line {line}"
    return context.error(Code.E001, message, span, notes=("a statement sees only the names above it",))


def _member(context: BindContext, tokens: Tokens, index: int) -> BindItem:
    """The item of `module.member` at `index`; E001 for a name that the module lacks."""
    _, start, end, text, (module, member), (symbol, name_class, _) = tokens[index]
    name = (context.span(start, end), module.text, member.text, symbol)
    match name_class:
        case NameClass.ARRAY:
            return BindItem(ItemKind.ARRAY, start, end, text, expressions.Member(*name), 1)
        case NameClass.FUNCTION:
            return BindItem(ItemKind.FUNCTION, start, end, text, expressions.FunctionMember(*name), 1)
        case NameClass.MONADIC_OPERATOR:
            return BindItem(ItemKind.OPERATOR, start, end, "monadic", expressions.OperatorMember(*name), 1)
        case NameClass.DYADIC_OPERATOR:
            return BindItem(ItemKind.OPERATOR, start, end, "dyadic", expressions.OperatorMember(*name), 1)
    exported = (context.modules(symbol.path) if context.modules is not None else None) or {}
    classes = _classes_that_fit(tokens, index)
    suggestion = nearest(member.text, [name for name, name_class in exported.items() if name_class in classes])
    message = f"module `{module.text}` has no `{member.text}`"
    if suggestion is None:
        listed = (f"it has {', '.join(sorted(exported))}",) if 0 < len(exported) <= _MOST_LISTED else ()
        raise context.error(Code.E001, message, context.span_of(member), notes=listed)
    message += f"; did you mean `{module.text}.{suggestion}`?"
    if len(classes) > 1 and not _stands_alone(tokens, index, exported[suggestion]):
        note = f"`{module.text}.{suggestion}` is {_CLASS_NAMES[exported[suggestion]]}"
        raise context.error(Code.E001, message, context.span_of(member), notes=(note,))
    fixes = replacement(f"write `{suggestion}`", context.span_of(member), suggestion)
    raise context.error(Code.E001, message, context.span_of(member), fixes=fixes)


_MOST_LISTED = 40

_DYALOG_NAMES = {
    "⎕UCS": "`i64 text` gives the code points of text, `char codes` the text",
    "⎕C": "`use text`, then `text.upper x` or `text.lower x`",
    "⎕FMT": "`⍕x` formats",
    "⎕CT": "comparisons are exact",
    "⎕PP": "numbers print with ten digits, or as many as `--digits` says",
    "⎕RL": "random numbers come from a key: `key?shape`",
    "⎕TS": "a program reads no clock: give the date as an `input` or a `param`",
    "⎕DT": "`use dates`, then `dates.text day` writes days, and `dates.of (y ⋄ m ⋄ d)` makes them; `⎕date text` reads one",
    **dict.fromkeys(("⎕R", "⎕S"), "`use text`, then `x text.substitute (old ⋄ new)` or `x text.matches old`, of literal texts"),
    "⎕VFI": "`⎕number text` is the number that a text says, and NaN for another",
    **dict.fromkeys(("⎕CSV", "⎕JSON", "⎕NGET", "⎕NREAD", "⎕NPUT", "⎕MAP"),
                    "`input x : f64[n] ← \"file.csv\"` reads a file, and `rho run --out x=FILE` writes one"),
    **dict.fromkeys(("⎕CR", "⎕NR", "⎕VR", "⎕OR", "⎕FX", "⎕FIX"),
                    "functions are no text: `)names` and `rho type FILE NAME` show them"),
    **dict.fromkeys(("⎕NC", "⎕NL"), "`)names` lists what there is, with types"), "⎕EX": "`)forget NAME` takes a name away",
    **dict.fromkeys(("⎕SIGNAL", "⎕TRAP", "⎕EM", "⎕EN"),
                    "there are no exceptions: a guard decides, `{condition : value ⋄ other}`"),
    "⎕DR": "types are declared, as in `x : f64[n]`, and `f32 x` converts", "⎕DL": "a program waits for nothing",
    "⎕WA": "`rho plan FILE` says how much memory a program takes", "⎕ML": "there is one meaning of `↑ ↓ ⊃`",
}  # fmt: skip


def _nearest_system_name(name: str) -> str | None:
    """The library function that a misspelt system name stands for.

    Other APLs have names of two letters, or in capitals, for other functions.  So either only the case may differ, or one letter
    of at least three, and the candidate must be unique."""
    names = sorted(one for one in FUNCTIONS | SYSTEM_CONSTANTS if one.startswith("⎕"))
    cased = [one for one in names if one.lower() == name.lower()]
    if cased or len(name) < 4:
        return cased[0] if cased else None
    near = [one for one in names if one[1:].islower() and edits(name, one) == 1]
    return near[0] if len(near) == 1 else None


def bind_quad(context: BindContext, token: Token) -> BindItem:
    """The item of a library function or a system constant (`⎕fft`, `⎕A`), else E001."""
    name, span = token.text, context.span_of(token)
    if name in FUNCTIONS:
        return BindItem(ItemKind.FUNCTION, token.start, token.end, name, expressions.GlyphFunction(span, name), 1)
    if name in SYSTEM_CONSTANTS:
        return BindItem(ItemKind.ARRAY, token.start, token.end, name, expressions.SystemName(span, name), 1)
    if name == "⎕":
        message = "`⎕` reads nothing; `⎕←x` prints x, and data comes in through `input`"
        raise context.error(Code.E001, message, span)
    if name in _DYALOG_NAMES:
        raise context.error(Code.E001, f"there is no `{name}`", span, notes=(_DYALOG_NAMES[name],))
    suggestion = _nearest_system_name(name)
    if suggestion is not None:
        raise context.error(Code.E001, f"there is no `{name}`; did you mean `{suggestion}`?", span,
                            fixes=replacement(f"write `{suggestion}`", span, suggestion))  # fmt: skip
    notes = ("files are read by `input` and written by `output`",) if "file" in name.lower() or name == "⎕FIO" else ()
    raise context.error(Code.E001, f"there is no `{name}`", span, notes=notes)


# ---------------------------------------------------------------------------------------------------- targets
#
# Targets of assignments: a name, `_`, or names in parentheses.

def target_of(context: BindContext, token: Token) -> expressions.Target:
    """The target that a token stands for; E010, E014 or E018."""
    span = context.span_of(token)
    match token.kind:
        case TokenKind.NAME:
            return checked_name(context, token)
        case TokenKind.SLOT:
            return expressions.DiscardTarget(span)
        case TokenKind.PARENTHESES if token.items:
            items = tuple(target_of(context, item) for item in token.items if item.kind is not TokenKind.SEPARATOR)
            return items[0] if len(items) == 1 else expressions.TupleTarget(span, items)
        case TokenKind.QUAD if token.text == "⎕IO":
            raise context.error(Code.E018, "`⎕IO` is set, to 0 or 1, by the first statement of a file only", span)
    notes = ("names get values, and items of one: `x[i]←v`, or `v@i ⊢ x` for a changed array",)
    raise context.error(Code.E010, f"`{context.text_of(token)}` cannot be given a value", span, notes=notes)


def checked_name(context: BindContext, token: Token) -> expressions.NameTarget:
    span, name = allowed_name(context, token)
    if name in ARGUMENTS:
        return expressions.NameTarget(span, name, Argument(name))
    meaning = meaning_of(token)
    if meaning is None or meaning.symbol is None:  # the resolver saw no assignment here
        raise context.error(Code.E010, f"`{name}` cannot be given a value here", span)
    return expressions.NameTarget(span, name, meaning.symbol)


def allowed_name(context: BindContext, token: Token) -> tuple[Span, str]:
    """A name that may get a value, else E010 or E014."""
    name, span = token.text, context.span_of(token)
    if name in RESERVED:
        raise context.error(Code.E014, f"`{name}` is a reserved word and cannot be a name", span)
    if name in ("⍺⍺", "⍵⍵"):
        raise context.error(Code.E010, f"`{name}` is an operand and cannot be given a value", span)
    return span, name


def module_stem(path: str) -> str:
    """The name under which a program refers to the module of a path: `geometry` for `./geometry.rho`."""
    return path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
