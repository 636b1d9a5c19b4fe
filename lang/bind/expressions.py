"""Binds one flat sequence of tokens, right to left, so that an inline binding is seen by everything left of it.

The pass turns each token or group into a unit whose class is known and stops at every `←` to reduce what
stands right of it to one value.  It recurses only into brackets, which the splitter has capped; dfns come
in through `BindContext.braces`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from ..diagnostics.model import Code
from ..syntax.lexer import DYADIC_OPERATORS, MONADIC_OPERATORS, OUTER, SLASHES, TokenKind
from ..syntax.source import Token, split_at
from ..tree import expressions
from ..tree.expressions import NameClass
from . import applications
from .applications import apply_all
from .names import bind_member, bind_name, bind_quad, checked_name, is_member, target_of
from .scopes import BindContext, BindError, Unit, UnitKind, has_diamond, is_notation, replacing

# ---------------------------------------------------------------------------------------------------- sequences

Tokens = tuple[Token, ...]

_CLASS_NAMES = {UnitKind.FUNCTION: "a function", UnitKind.OPERATOR: "an operator"}


def bind_value(binding: BindContext, tokens: Tokens, blame: tuple[int, int]) -> Unit:
    """An array, a function or a lone user operator.  `blame` is the range an empty sequence is blamed on."""
    if not tokens:
        raise binding.problem(Code.E002, "a value is missing here", binding.span(*blame))
    units: list[Unit] = []  # right to left
    at = len(tokens) - 1
    while at >= 0:
        token = tokens[at]
        if token.kind is TokenKind.GETS:
            value = _assigned_value(binding, units, token)
            unit, at = _assign(binding, tokens, at, value)
            units = [unit]
        elif token.kind is TokenKind.NAME and is_member(binding, tokens, at):
            units.append(bind_member(binding, tokens, at))
            at -= 3
        else:
            units.append(bind_name(binding, tokens, at) if token.kind is TokenKind.NAME else _unit(binding, token))
            at -= 1
    units.reverse()
    return apply_all(binding, units)


def bind_array(binding: BindContext, tokens: Tokens, blame: tuple[int, int]) -> Unit:
    """A value that must be an array or a tuple."""
    return need_array(binding, bind_value(binding, tokens, blame))


def need_array(binding: BindContext, unit: Unit) -> Unit:
    if unit.kind is not UnitKind.ARRAY:
        what = _CLASS_NAMES[unit.kind]
        raise binding.problem(Code.E134, f"a value is needed here, and `{binding.written(unit)}` is {what}", binding.of(unit))
    return unit


def expression_of(unit: Unit) -> expressions.Expression:
    assert isinstance(unit.node, expressions.Expression)
    return unit.node


def function_of(unit: Unit) -> expressions.Function:
    assert isinstance(unit.node, expressions.Function)
    return unit.node


# ---------------------------------------------------------------------------------- single items


def _unit(binding: BindContext, token: Token) -> Unit:
    start, end = token.start, token.end
    match token.kind:
        case TokenKind.NUMBERS:
            return Unit(UnitKind.ARRAY, start, end, "", applications.number(binding, token), 1, token=token)
        case TokenKind.GLYPH:
            return _glyph(binding, token)
        case TokenKind.PARENTHESES:
            return _parentheses(binding, token)
        case TokenKind.BRACKETS:
            return _brackets(binding, token)
        case TokenKind.BRACES:
            return binding.braces(binding, token)
        case TokenKind.TEXT:
            return Unit(UnitKind.ARRAY, start, end, "", applications.text(binding, token), 1)
        case TokenKind.ZILDE:
            return Unit(UnitKind.ARRAY, start, end, "", expressions.Zilde(binding.of(token)), 1)
        case TokenKind.SLOT:
            return Unit(UnitKind.ARRAY, start, end, "", expressions.Slot(binding.of(token)), 1)
        case TokenKind.QUAD:
            return bind_quad(binding, token)
        case _:
            raise _stray(binding, token)


def _glyph(binding: BindContext, token: Token) -> Unit:
    glyph = token.text
    if glyph in SLASHES:
        kind = UnitKind.SLASH
    elif glyph == OUTER:
        kind = UnitKind.OUTER
    elif glyph in MONADIC_OPERATORS:
        kind = UnitKind.MONADIC
    elif glyph in DYADIC_OPERATORS:
        kind = UnitKind.DYADIC
    else:
        return Unit(UnitKind.FUNCTION, token.start, token.end, glyph, expressions.GlyphFunction(binding.of(token), glyph), 1)
    return Unit(kind, token.start, token.end, glyph)


def refuse_strays(binding: BindContext, tokens: Sequence[Token]) -> None:
    """E002 for a `;` outside brackets, whatever the names around it mean."""
    pending = [*tokens]
    while pending:
        token = pending.pop()
        if token.kind is TokenKind.SEMICOLON:
            raise _stray(binding, token)
        pending += [item for item in token.items if token.kind is not TokenKind.BRACKETS or item.kind is not TokenKind.SEMICOLON]


def _stray(binding: BindContext, token: Token) -> BindError:
    span = binding.of(token)
    match token.kind:
        case TokenKind.COLON:
            return binding.problem(Code.E017, "`:` makes a guard only in a statement of a dfn, `{condition : value ⋄ …}`", span)
        case TokenKind.ARROW:
            return binding.problem(
                Code.E017, "there are no jumps; use a guard `{condition : value ⋄ …}` or iterate with `⍣`", span
            )
        case TokenKind.SEMICOLON:
            return binding.problem(
                Code.E002, "`;` separates axes only inside `x[…]`", span, fixes=replacing("write ⋄", span, " ⋄")
            )
        case _:
            return binding.problem(Code.E002, f"`{token.text}` cannot be read here", span)


# ---------------------------------------------------------------------------------------- groups


def _parentheses(binding: BindContext, token: Token) -> Unit:
    """`(…)`: a value, a function, an operator, or with `⋄` a tuple."""
    segments = [segment for segment in split_at(token.items, TokenKind.SEPARATOR) if segment]
    if len(segments) == 1 and not has_diamond(token):
        unit = bind_value(binding, segments[0], token[1:3])
        return unit._replace(start=token.start, end=token.end, token=None)
    if len(segments) < 2:
        what = "these parentheses hold nothing" if not segments else "a tuple needs two items or more"
        notes = ("an empty vector is `⍬`, an empty text `''`",) if not segments else ()
        raise binding.problem(Code.E002, what, binding.of(token), notes=notes)
    last = bind_value(binding, segments[-1], (0, 0))
    until = last.kind is UnitKind.FUNCTION and len(segments) == 2
    items = [*_items(binding, segments[:-1]), last if until else need_array(binding, last)]
    nodes = tuple(cast(expressions.Expression, item.node) for item in items)
    kind = UnitKind.UNTIL if until else UnitKind.ARRAY
    depth = max(item.depth for item in items) + 1
    return Unit(kind, token.start, token.end, "", expressions.Tuple(binding.of(token), nodes), depth)


def _items(binding: BindContext, segments: list[Tokens]) -> list[Unit]:
    """The arrays of a tuple or of array notation; the last is bound first."""
    items = [bind_array(binding, segment, (0, 0)) for segment in reversed(segments)]
    items.reverse()
    return items


def _brackets(binding: BindContext, token: Token) -> Unit:
    """`[…]`: array notation if it is empty or has a `⋄` or a newline between items, else an index or an axis."""
    if is_notation(token):
        segments = [segment for segment in split_at(token.items, TokenKind.SEPARATOR) if segment]
        items = _items(binding, segments)
        node = expressions.ArrayNotation(binding.of(token), tuple(expression_of(item) for item in items))
        return Unit(UnitKind.ARRAY, token.start, token.end, "", node, max((item.depth for item in items), default=0) + 1)
    bound, depth = bind_axes(binding, token)
    return Unit(UnitKind.BRACKET, token.start, token.end, "", None, depth, bound)


def bind_axes(binding: BindContext, token: Token) -> tuple[tuple[expressions.Expression | None, ...], int]:
    """The entries of an index between `;`, None where one is empty; the last is bound first."""
    axes: list[expressions.Expression | None] = []
    depth = 0
    for axis in reversed(split_at(token.items, TokenKind.SEMICOLON)):
        if any(item.kind is TokenKind.SEPARATOR and item.text == "⋄" for item in axis):
            raise binding.problem(Code.E002, "`⋄` and `;` do not go together in brackets", binding.of(token))
        items = tuple(item for item in axis if item.kind is not TokenKind.SEPARATOR)
        unit = bind_array(binding, items, token[1:3]) if items else None
        axes.append(None if unit is None else expression_of(unit))
        depth = max(depth, 0 if unit is None else unit.depth)
    return tuple(reversed(axes)), depth


# ------------------------------------------------------------------------------------ assignment


def _assigned_value(binding: BindContext, units: list[Unit], gets: Token) -> Unit:
    """What stands right of a `←` inside an expression."""
    if not units:
        raise binding.problem(Code.E002, "`←` has no value on its right", binding.of(gets))
    value = apply_all(binding, units[::-1])
    if value.kind is not UnitKind.ARRAY:
        what = _CLASS_NAMES[value.kind]
        raise binding.problem(Code.E010, f"{what} gets its name in a statement of its own: `name ← {binding.written(value)}`",
                              binding.of(value))  # fmt: skip
    return value


def _assign(binding: BindContext, tokens: Tokens, at: int, value: Unit) -> tuple[Unit, int]:
    """The `←` at `at` with its value; gives the unit it makes and the index of the next token to its left."""
    if at == 0:
        raise binding.problem(Code.E010, "`←` has nothing on its left to give the value to", binding.of(tokens[at]))
    start = at - binding.names.starts[binding.base + tokens[at].start]
    first = _replaced(binding, tokens, start)
    if first is not None:
        return _replace_items(binding, tokens, first, at, value), first - 1
    if 0 < start < at and tokens[start - 1].kind is TokenKind.NAME:
        first = start - 1
        name = tokens[first]
        function = _modifier(binding, tokens[start:at])
        array, span = _array_name(binding, tokens, first), binding.span(name.start, value.end)
        node = expressions.Modify(span, array, function_of(function), expression_of(value))
        return _made(node, name.start, value, function.depth), first - 1
    left = tokens[at - 1]
    if left.kind is TokenKind.QUAD and left.text == "⎕":
        return _made(expressions.PrintExpression(binding.span(left.start, value.end), expression_of(value)), left.start, value,
            0), at - 2
    target = target_of(binding, left)
    return _made(expressions.InlineBind(binding.span(left.start, value.end), target, expression_of(value)), left.start, value,
        0), at - 2


def _made(node: expressions.Expression, start: int, value: Unit, depth: int) -> Unit:
    return Unit(UnitKind.ARRAY, start, value.end, "", node, max(value.depth, depth) + 1)


def _replaced(binding: BindContext, tokens: Tokens, first: int) -> int | None:
    """Index of the name in `x[i]←` or `x[i]f←`, or None; the function starts at `first`."""
    if first > 0 and tokens[first - 1].kind is TokenKind.BRACKETS:
        if first > 1 and tokens[first - 2].kind is TokenKind.NAME:
            return first - 2
        raise binding.problem(
            Code.E010, "only the items of a name can be replaced: `name[i]←value`", binding.of(tokens[first - 1])
        )
    return None


def _modifier(binding: BindContext, tokens: Tokens) -> Unit:
    function = bind_value(binding, tokens, (0, 0))
    if function.kind is not UnitKind.FUNCTION:
        raise binding.problem(Code.E010, f"`{binding.written(function)}` is not a function that could change the name before it",
                              binding.of(function))  # fmt: skip
    return function


def _array_name(binding: BindContext, tokens: Tokens, at: int) -> expressions.Name:
    token = tokens[at]
    unit = bind_name(binding, tokens, at)
    if not isinstance(unit.node, expressions.Name):
        raise binding.problem(Code.E010, f"`{token.text}` is not an array, so no part of it can be replaced", binding.of(token))
    return unit.node


def _replace_items(binding: BindContext, tokens: Tokens, first: int, at: int, value: Unit) -> Unit:
    name, brackets = tokens[first], tokens[first + 1]
    function = _modifier(binding, tokens[first + 2 : at]) if first + 2 < at else None
    if not brackets.items or has_diamond(brackets):
        raise binding.problem(Code.E010, "the brackets before `←` must say which items are replaced", binding.of(brackets))
    axes, depth = bind_axes(binding, brackets)
    target = _array_name(binding, tokens, first)
    span = binding.span(name.start, value.end)
    if function is None:
        return _made(expressions.Replace(span, target, axes, None, expression_of(value)), name.start, value, depth)
    node = expressions.Replace(span, target, axes, function_of(function), expression_of(value))
    return _made(node, name.start, value, max(depth, function.depth))


# ---------------------------------------------------------------------------------------------------- statements
#
# Assignments as statements: what kind of binding a statement is, and its node.

StatementsTokens = tuple[Token, ...]


def refuse_bare_names(binding: BindContext, tokens: StatementsTokens) -> None:
    """E010 for `a b ← t`: other APLs give both names a value, and here only b would get one."""
    arrow = next((index for index, token in enumerate(tokens) if token.kind is TokenKind.GETS), 0)
    if arrow < 2:
        return
    for token in tokens[:arrow]:
        meaning = binding.meaning(token)
        if token.kind is not TokenKind.NAME or (meaning is not None and meaning.name_class not in (None, NameClass.ARRAY)):
            return
    span = binding.span(tokens[0].start, tokens[arrow - 1].end)
    names = " ".join(token.text for token in tokens[:arrow])
    message = f"only `{tokens[arrow - 1].text}` would get this value; to take it apart write `({names}) ← …`"
    raise binding.problem(Code.E010, message, span, fixes=replacing("put the names in parentheses", span, f"({names})"))


def failed_names(tokens: StatementsTokens) -> list[str]:
    """Names that a statement which could not be bound was to bind: their uses stay quiet."""
    arrows = [index for index, token in enumerate(tokens) if token.kind is TokenKind.GETS and index > 0]
    names = [name for index in arrows for name in _names(tokens[index - 1])]
    before = tokens[: max(arrows, default=0)]
    return [*names, *[token.text for token in before if token.kind is TokenKind.NAME]]


def _names(token: Token) -> list[str]:
    if token.kind is TokenKind.NAME:
        return [token.text]
    if token.kind is TokenKind.PARENTHESES:
        return [name for item in token.items for name in _names(item)]
    return []


def bind_assignment(
    binding: BindContext, tokens: StatementsTokens, annotation: expressions.TypeExpression | None = None
) -> tuple[expressions.Statement, int]:
    """`target ← value`, and how deep its tree is."""
    first, gets = tokens[0], tokens[1]
    if len(tokens) == 2 or tokens[2].kind is TokenKind.GETS:
        raise binding.problem(Code.E002, "`←` has no value on its right", binding.of(gets))
    span = binding.span(first.start, tokens[-1].end)
    if first.kind is not TokenKind.NAME:
        target = target_of(binding, first)
        unit = bind_value(binding, tokens[2:], gets[1:3])
        if unit.kind is not UnitKind.ARRAY:
            raise binding.problem(Code.E010, "a function gets one name: `name ← …`", binding.of(first))
        return expressions.BindArray(span, target, expression_of(unit), annotation), unit.depth
    name = checked_name(binding, first)
    unit = bind_value(binding, tokens[2:], gets[1:3])
    binding.broken.discard(name.name)
    node = unit.node
    assert node is not None
    if isinstance(node, expressions.Operator):
        return expressions.BindOperator(span, name, node), unit.depth
    if isinstance(node, expressions.Function):
        if name.name in "⍺⍵":
            message = f"`{name.name}` is an argument: it can be given an array, not a function"
            raise binding.problem(Code.E010, message, binding.of(first))
        return expressions.BindFunction(span, name, node), unit.depth
    return expressions.BindArray(span, name, node, annotation), unit.depth
