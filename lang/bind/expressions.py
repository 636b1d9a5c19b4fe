"""Binds one flat sequence of tokens from right to left, so that an inline binding is visible to everything on its left.

The pass turns each token or group into an item whose class is known, and at every `←` reduces the items on its right to one
value.  It recurses only into brackets, whose nesting the reader limits; dfns are bound through `BindContext.braces`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from ..diagnostics.model import Code
from ..syntax.source import DYADIC_OPERATORS, MONADIC_OPERATORS, OUTER, SLASHES, Token, TokenKind, Tokens, split_at
from ..tree import expressions
from . import applications
from .applications import apply_all, expression_of, function_of
from .names import bind_name, bind_quad, checked_name, target_of
from .scopes import BindContext, BindError, BindItem, ItemKind, has_diamond, is_notation, meaning_of, replacement

# ---------------------------------------------------------------------------------------------------- expressions

_CLASS_NAMES = {ItemKind.FUNCTION: "a function", ItemKind.OPERATOR: "an operator"}


def bind_value(context: BindContext, tokens: Tokens, error_range: tuple[int, int]) -> BindItem:
    """The item that a sequence denotes: an array, a function or a lone user operator.

    `error_range` is the range that E002 underlines if the sequence is empty."""
    if not tokens:
        raise context.error(Code.E002, "a value is missing here", context.span(*error_range))
    items: list[BindItem] = []  # right to left
    index = len(tokens) - 1
    while index >= 0:
        token = tokens[index]
        if token.kind is TokenKind.GETS:
            value = _assigned_value(context, items, token)
            item, index = _assign(context, tokens, index, value)
            items = [item]
        else:
            items.append(bind_name(context, tokens, index) if token.kind is TokenKind.NAME else _token_item(context, token))
            index -= 1
    items.reverse()
    return apply_all(context, items)


def bind_array(context: BindContext, tokens: Tokens, error_range: tuple[int, int]) -> BindItem:
    """The item of a sequence that must denote an array or a tuple; else E134."""
    return require_array(context, bind_value(context, tokens, error_range))


def require_array(context: BindContext, item: BindItem) -> BindItem:
    if item.kind is not ItemKind.ARRAY:
        class_name = _CLASS_NAMES[item.kind]
        message = f"a value is needed here, and `{context.text_of(item)}` is {class_name}"
        raise context.error(Code.E134, message, context.span_of(item))
    return item


# ---------------------------------------------------------------------------------- single items


def _token_item(context: BindContext, token: Token) -> BindItem:
    start, end = token.start, token.end
    match token.kind:
        case TokenKind.NUMBERS:
            return BindItem(ItemKind.ARRAY, start, end, "", applications.number(context, token), 1, token=token)
        case TokenKind.GLYPH:
            return _glyph(context, token)
        case TokenKind.PARENTHESES:
            return _parentheses(context, token)
        case TokenKind.BRACKETS:
            return _brackets(context, token)
        case TokenKind.BRACES:
            return context.braces(context, token)
        case TokenKind.TEXT:
            return BindItem(ItemKind.ARRAY, start, end, "", applications.text(context, token), 1)
        case TokenKind.ZILDE:
            return BindItem(ItemKind.ARRAY, start, end, "", expressions.Zilde(context.span_of(token)), 1)
        case TokenKind.SLOT:
            return BindItem(ItemKind.ARRAY, start, end, "", expressions.Slot(context.span_of(token)), 1)
        case TokenKind.QUAD:
            return bind_quad(context, token)
        case _:
            raise _stray_token(context, token)


def _glyph(context: BindContext, token: Token) -> BindItem:
    glyph = token.text
    if glyph in SLASHES:
        kind = ItemKind.SLASH
    elif glyph == OUTER:
        kind = ItemKind.OUTER
    elif glyph in MONADIC_OPERATORS:
        kind = ItemKind.MONADIC
    elif glyph in DYADIC_OPERATORS:
        kind = ItemKind.DYADIC
    else:
        function = expressions.GlyphFunction(context.span_of(token), glyph)
        return BindItem(ItemKind.FUNCTION, token.start, token.end, glyph, function, 1)
    return BindItem(kind, token.start, token.end, glyph)


def reject_stray_semicolons(context: BindContext, tokens: Sequence[Token]) -> None:
    """E002 for a `;` outside brackets."""
    pending = [*tokens]
    while pending:
        token = pending.pop()
        if token.kind is TokenKind.SEMICOLON:
            raise _stray_token(context, token)
        pending += [item for item in token.items if token.kind is not TokenKind.BRACKETS or item.kind is not TokenKind.SEMICOLON]


def _stray_token(context: BindContext, token: Token) -> BindError:
    span = context.span_of(token)
    match token.kind:
        case TokenKind.COLON:
            return context.error(Code.E017, "`:` makes a guard only in a statement of a dfn, `{condition : value ⋄ …}`", span)
        case TokenKind.ARROW:
            return context.error(
                Code.E017, "there are no jumps; use a guard `{condition : value ⋄ …}` or iterate with `⍣`", span
            )
        case TokenKind.SEMICOLON:
            return context.error(
                Code.E002, "`;` separates axes only inside `x[…]`", span, fixes=replacement("write ⋄", span, " ⋄")
            )
        case _:
            return context.error(Code.E002, f"`{token.text}` cannot be read here", span)


# ---------------------------------------------------------------------------------------- groups


def _parentheses(context: BindContext, token: Token) -> BindItem:
    """The item of `(…)`: an array, a function, an operator, or with `⋄` a tuple."""
    segments = [segment for segment in split_at(token.items, TokenKind.SEPARATOR) if segment]
    if len(segments) == 1 and not has_diamond(token):
        item = bind_value(context, segments[0], token[1:3])
        return item._replace(start=token.start, end=token.end, token=None)
    if len(segments) < 2:
        message = "these parentheses hold nothing" if not segments else "a tuple needs two items or more"
        notes = ("an empty vector is `⍬`, an empty text `''`",) if not segments else ()
        raise context.error(Code.E002, message, context.span_of(token), notes=notes)
    last = bind_value(context, segments[-1], (0, 0))
    until = last.kind is ItemKind.FUNCTION and len(segments) == 2
    items = [*_items(context, segments[:-1]), last if until else require_array(context, last)]
    nodes = tuple(cast(expressions.Expression, item.node) for item in items)
    kind = ItemKind.UNTIL if until else ItemKind.ARRAY
    depth = max(item.depth for item in items) + 1
    return BindItem(kind, token.start, token.end, "", expressions.Tuple(context.span_of(token), nodes), depth)


def _items(context: BindContext, segments: list[Tokens]) -> list[BindItem]:
    """The items of a tuple or of array notation; the last one is bound first, as it is evaluated first."""
    items = [bind_array(context, segment, (0, 0)) for segment in reversed(segments)]
    items.reverse()
    return items


def _brackets(context: BindContext, token: Token) -> BindItem:
    """The item of `[…]`: array notation if it is empty or has a `⋄` or a newline between items, else an index or an axis."""
    if is_notation(token):
        segments = [segment for segment in split_at(token.items, TokenKind.SEPARATOR) if segment]
        items = _items(context, segments)
        node = expressions.ArrayNotation(context.span_of(token), tuple(expression_of(item) for item in items))
        return BindItem(ItemKind.ARRAY, token.start, token.end, "", node, max((item.depth for item in items), default=0) + 1)
    bound, depth = bind_axes(context, token)
    return BindItem(ItemKind.BRACKET, token.start, token.end, "", None, depth, bound)


def bind_axes(context: BindContext, token: Token) -> tuple[tuple[expressions.Expression | None, ...], int]:
    """The entries of an index (None for an empty one) and the depth of their trees; the last entry is bound first."""
    axes: list[expressions.Expression | None] = []
    depth = 0
    for axis in reversed(split_at(token.items, TokenKind.SEMICOLON)):
        if any(item.kind is TokenKind.SEPARATOR and item.text == "⋄" for item in axis):
            raise context.error(Code.E002, "`⋄` and `;` do not go together in brackets", context.span_of(token))
        items = tuple(item for item in axis if item.kind is not TokenKind.SEPARATOR)
        item = bind_array(context, items, token[1:3]) if items else None
        axes.append(None if item is None else expression_of(item))
        depth = max(depth, 0 if item is None else item.depth)
    return tuple(reversed(axes)), depth


# ------------------------------------------------------------------------------------ assignment


def _assigned_value(context: BindContext, items: list[BindItem], gets: Token) -> BindItem:
    """The array that the items right of a `←` inside an expression denote; E002, E010."""
    if not items:
        raise context.error(Code.E002, "`←` has no value on its right", context.span_of(gets))
    value = apply_all(context, items[::-1])
    if value.kind is not ItemKind.ARRAY:
        class_name = _CLASS_NAMES[value.kind]
        raise context.error(Code.E010, f"{class_name} gets its name in a statement of its own: `name ← {context.text_of(value)}`",
                            context.span_of(value))  # fmt: skip
    return value


def _assign(context: BindContext, tokens: Tokens, index: int, value: BindItem) -> tuple[BindItem, int]:
    """Bind the `←` at `index` with its value: the item of the assignment, and the index of the next token to its left."""
    gets, left = tokens[index], tokens[index - 1]
    if index == 0:
        raise context.error(Code.E010, "`←` has nothing on its left to give the value to", context.span_of(gets))
    if left.kind is TokenKind.BRACKETS:
        if index == 1 or tokens[index - 2].kind is not TokenKind.NAME:
            message = "only the items of a name can be replaced: `name[i]←value`"
            raise context.error(Code.E010, message, context.span_of(left))
        return _replace_items(context, tokens, index, value), index - 3
    if gets.items:
        function = _modifier(context, gets.items)
        array, span = _array_name(context, tokens, index - 1), context.span(left.start, value.end)
        node = expressions.Modify(span, array, function_of(function), expression_of(value))
        return _assignment_item(node, left.start, value, function.depth), index - 2
    if left.kind is TokenKind.QUAD and left.text == "⎕":
        printing = expressions.PrintExpression(context.span(left.start, value.end), expression_of(value))
        return _assignment_item(printing, left.start, value, 0), index - 2
    target = target_of(context, left)
    binding = expressions.InlineBind(context.span(left.start, value.end), target, expression_of(value))
    return _assignment_item(binding, left.start, value, 0), index - 2


def _assignment_item(node: expressions.Expression, start: int, value: BindItem, depth: int) -> BindItem:
    return BindItem(ItemKind.ARRAY, start, value.end, "", node, max(value.depth, depth) + 1)


def _modifier(context: BindContext, tokens: Tokens) -> BindItem:
    function = bind_value(context, tokens, (0, 0))
    if function.kind is not ItemKind.FUNCTION:
        raise context.error(Code.E010, f"`{context.text_of(function)}` is not a function that could change the name before it",
                            context.span_of(function))  # fmt: skip
    return function


def _array_name(context: BindContext, tokens: Tokens, index: int) -> expressions.Name:
    token = tokens[index]
    item = bind_name(context, tokens, index)
    if not isinstance(item.node, expressions.Name):
        message = f"`{token.text}` is not an array, so no part of it can be replaced"
        raise context.error(Code.E010, message, context.span_of(token))
    return item.node


def _replace_items(context: BindContext, tokens: Tokens, index: int, value: BindItem) -> BindItem:
    name, brackets, gets = tokens[index - 2 : index + 1]
    function = _modifier(context, gets.items) if gets.items else None
    if not brackets.items or has_diamond(brackets):
        raise context.error(Code.E010, "the brackets before `←` must say which items are replaced", context.span_of(brackets))
    axes, depth = bind_axes(context, brackets)
    target = _array_name(context, tokens, index - 2)
    span = context.span(name.start, value.end)
    if function is None:
        return _assignment_item(expressions.Replace(span, target, axes, None, expression_of(value)), name.start, value, depth)
    node = expressions.Replace(span, target, axes, function_of(function), expression_of(value))
    return _assignment_item(node, name.start, value, max(depth, function.depth))


# ---------------------------------------------------------------------------------------------------- assignments as statements

def reject_strand_targets(context: BindContext, tokens: Tokens) -> None:
    """E010 for `a b ← t`, which assigns to both names in other APLs and would assign to b alone here."""
    arrow = next((index for index, token in enumerate(tokens) if token.kind is TokenKind.GETS), 0)
    if arrow < 2 or tokens[arrow].items:
        return
    for token in tokens[:arrow]:
        meaning = meaning_of(token)
        is_array = meaning is None or meaning.name_class in (None, expressions.NameClass.ARRAY)
        if token.kind is not TokenKind.NAME or token.items or not is_array:
            return
    span = context.span(tokens[0].start, tokens[arrow - 1].end)
    names = " ".join(token.text for token in tokens[:arrow])
    message = f"only `{tokens[arrow - 1].text}` would get this value; to take it apart write `({names}) ← …`"
    raise context.error(Code.E010, message, span, fixes=replacement("put the names in parentheses", span, f"({names})"))


def names_assigned_in(tokens: Tokens) -> list[str]:
    """The names that a statement assigns to; those of a failed statement report no further errors where they are used."""
    arrows = [index for index, token in enumerate(tokens) if token.kind is TokenKind.GETS and index > 0]
    names = [name for index in arrows for name in _names_in(tokens[index - 1])]
    before = tokens[: max(arrows, default=0)]
    return [*names, *[token.text for token in before if token.kind is TokenKind.NAME]]


def _names_in(token: Token) -> list[str]:
    if token.kind is TokenKind.NAME:
        return [token.text]
    if token.kind is TokenKind.PARENTHESES:
        return [name for item in token.items for name in _names_in(item)]
    return []


def bind_assignment(
    context: BindContext, tokens: Tokens, annotation: expressions.TypeExpression | None = None
) -> tuple[expressions.Statement, int]:
    """The node of `target ← value` and the depth of its tree."""
    first, gets = tokens[0], tokens[1]
    if len(tokens) == 2 or tokens[2].kind is TokenKind.GETS:
        raise context.error(Code.E002, "`←` has no value on its right", context.span_of(gets))
    span = context.span(first.start, tokens[-1].end)
    if first.kind is not TokenKind.NAME:
        target = target_of(context, first)
        item = bind_value(context, tokens[2:], gets[1:3])
        if item.kind is not ItemKind.ARRAY:
            raise context.error(Code.E010, "a function gets one name: `name ← …`", context.span_of(first))
        return expressions.BindArray(span, target, expression_of(item), annotation), item.depth
    name = checked_name(context, first)
    item = bind_value(context, tokens[2:], gets[1:3])
    context.failed_names.discard(name.name)
    node = item.node
    assert node is not None
    if isinstance(node, expressions.Operator):
        return expressions.BindOperator(span, name, node), item.depth
    if isinstance(node, expressions.Function):
        if name.name in "⍺⍵":
            message = f"`{name.name}` is an argument: it can be given an array, not a function"
            raise context.error(Code.E010, message, context.span_of(first))
        return expressions.BindFunction(span, name, node), item.depth
    return expressions.BindArray(span, name, node, annotation), item.depth
