"""Turns the items of one sequence into applications: literals, operators, strands, trains, arguments.

Operators bind tighter than functions and have long left scope, so they are applied first, from left to right.  Then neighbouring
arrays join into strands.  Then functions apply from right to left; a sequence that ends in a function is a train, whose forks
group from the right in threes.  No function here recurses, so long sequences need no stack.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import isinf
from typing import Final

from ..diagnostics.model import Code
from ..syntax.source import (
    ARRAY_LEFT_OPERANDS,
    ARRAY_RIGHT_OPERANDS,
    AXIS_FUNCTIONS,
    LITERAL_OPERAND_OPERATORS,
    MAXIMUM_DEPTH,
    SLASHES,
    STATES,
    Token,
)
from ..tree import expressions
from .scopes import BindContext, BindItem, ItemKind, replacement

# ---------------------------------------------------------------------------------------------------- literals
#
# A strand may hold 100,000 numbers, so strands of small integers take a fast path.

_WORD = re.compile(r"\S+")
_SMALL_INTEGERS = re.compile(r"[¯0-9\s]+")
_SMALLEST, _LARGEST = -(2**63), 2**63 - 1
_MOST_DIGITS = 25
"""Integers of more digits are too large for i64; they are not converted, since Python limits the length of conversions."""


def number(context: BindContext, token: Token) -> expressions.Number:
    """The node of a number or a strand of numbers."""
    text = token.text
    values: tuple[int | float | complex, ...] | None = None
    if _SMALL_INTEGERS.fullmatch(text):
        words = text.replace("¯", "-").split()
        if max(map(len, words)) < 19:
            values = tuple(map(int, words))
    if values is None:
        values = tuple(_value(context, match[0], token.start + match.start()) for match in _WORD.finditer(text))
    return expressions.Number(context.span_of(token), values, len(values) > 1)


def number_items(context: BindContext, token: Token, strand: expressions.Number) -> list[expressions.Number]:
    """A separate node for each number of a strand."""
    starts = (token.start + match.start() for match in _WORD.finditer(token.text))
    ends = (token.start + match.end() for match in _WORD.finditer(token.text))
    return [
        expressions.Number(context.span(start, end), (value,), False)
        for start, end, value in zip(starts, ends, strand.values, strict=True)
    ]


def text(context: BindContext, token: Token) -> expressions.Text:
    """The node of a text; `'a'` is a scalar."""
    quote = token.text[0]
    value = token.text[1:-1].replace(quote * 2, quote)
    return expressions.Text(context.span_of(token), value, quote == '"' or len(value) != 1)


def _value(context: BindContext, word: str, start: int) -> int | float | complex:
    plain = word.replace("_", "").replace("¯", "-").replace("J", "j").replace("∞", "inf")
    real, complex_mark, imaginary = plain.partition("j")
    if complex_mark:
        return complex(_float(context, real, word, start), _float(context, imaginary, word, start))
    if "." in real or "e" in real or "E" in real or "inf" in real:
        return _float(context, real, word, start)
    value = int(real) if len(real) <= _MOST_DIGITS else _LARGEST + 1
    if not _SMALLEST <= value <= _LARGEST:
        span = context.span(start, start + len(word))
        after = context.span(start + len(word), start + len(word))
        message = f"{_short(word)} does not fit i64 (¯9223372036854775808 to 9223372036854775807)"
        raise context.error(Code.E302, message, span, fixes=replacement("make it an f64", after, "."))
    return value


def _float(context: BindContext, plain: str, word: str, start: int) -> float:
    value = float(plain)
    if isinf(value) and "inf" not in plain:
        message = f"{_short(word)} does not fit f64 (up to 1.797e308); write ∞ for infinity"
        raise context.error(Code.E302, message, context.span(start, start + len(word)))
    return value


def _short(word: str) -> str:
    return word if len(word) <= 40 else f"{word[:20]}… ({len(word)} characters)"


# ---------------------------------------------------------------------------------------------------- applications

_ARRAY = ItemKind.ARRAY
_FUNCTION = ItemKind.FUNCTION
_VALUES = frozenset({ItemKind.ARRAY, ItemKind.FUNCTION})


def apply_all(context: BindContext, units: list[BindItem]) -> BindItem:
    """The item that a non-empty sequence denotes: an array, a function or a lone user operator."""
    if len(units) == 1 and units[0].kind in (_ARRAY, ItemKind.OPERATOR):
        return units[0]
    items = _strands(context, _operators(context, units))
    return _apply(context, items) if items[-1].kind is _ARRAY else _train(context, items)


def check_depth(context: BindContext, item: BindItem) -> BindItem:
    """The item; E016 if its tree is deeper than `MAXIMUM_DEPTH`."""
    if item.depth > MAXIMUM_DEPTH:
        raise context.error(
            Code.E016, f"this expression nests more than {MAXIMUM_DEPTH} applications", context.span_of(item),
            notes=("name the inner parts in separate statements",),
        )  # fmt: skip
    return item


# ------------------------------------------------------------------------------------- operators


def _operators(context: BindContext, items: list[BindItem]) -> list[BindItem]:
    """Apply every operator; what remains are arrays and functions."""
    applied: list[BindItem] = []
    index = 0
    while index < len(items):
        item = items[index]
        index += 1
        match item.kind:
            case ItemKind.ARRAY | ItemKind.FUNCTION:
                applied.append(item)
            case ItemKind.BRACKET:
                applied.append(_bracket(context, applied.pop() if applied else None, item))
            case ItemKind.SLASH:
                if applied and applied[-1].kind is _FUNCTION:
                    applied.append(_derived(context, item, applied.pop(), None))
                else:
                    applied.append(_slash_function(context, item))
            case ItemKind.MONADIC:
                applied.append(_derived(context, item, _left_operand(context, applied, item), None))
            case ItemKind.OUTER:
                right, index = _right_operand(context, items, index, item)
                if right.kind is not _FUNCTION:
                    message = f"`∘.` needs a function on its right, and `{context.text_of(right)}` is an array"
                    raise context.error(Code.E008, message, context.span_of(right))
                node = expressions.Derived(context.span(item.start, right.end), "∘.", (_operand(right),))
                applied.append(BindItem(_FUNCTION, item.start, right.end, node=node, depth=right.depth + 1))
            case ItemKind.DYADIC:
                left = _left_operand(context, applied, item)
                right, index = _right_operand(context, items, index, item)
                _reject_touching_array(context, item, right, items, index)
                applied.append(_derived(context, item, left, right))
            case ItemKind.UNTIL:
                message = "a tuple holds values, not functions; only `f⍣(n ⋄ p)` takes a function p"
                raise context.error(Code.E134, message, context.span_of(item))
            case ItemKind.OPERATOR:
                left = _left_operand(context, applied, item)
                if _is_dyadic(item):
                    second, index = _right_operand(context, items, index, item)
                    applied.append(_operator_call(context, item, left, second))
                else:
                    applied.append(_operator_call(context, item, left, None))
    return applied


def _operand(item: BindItem) -> expressions.Function | expressions.Expression:
    node = item.node
    assert node is not None and not isinstance(
        node, expressions.OperatorName | expressions.OperatorMember | expressions.OperatorDfn
    )
    return node


def function_of(item: BindItem) -> expressions.Function:
    assert isinstance(item.node, expressions.Function)
    return item.node


def expression_of(item: BindItem) -> expressions.Expression:
    assert isinstance(item.node, expressions.Expression)
    return item.node


def _is_dyadic(item: BindItem) -> bool:
    return item.text == "dyadic"


def _slash_function(context: BindContext, item: BindItem) -> BindItem:
    return BindItem(_FUNCTION, item.start, item.end, item.text, expressions.GlyphFunction(context.span_of(item), item.text), 1)


def _left_operand(context: BindContext, applied: list[BindItem], operator: BindItem) -> BindItem:
    """Remove from the end of `applied` the left operand of an operator: a function, or a strand of arrays."""
    if not applied:
        name = context.text_of(operator)
        raise context.error(Code.E008, f"`{name}` is an operator and has nothing on its left", context.span_of(operator))
    if applied[-1].kind is _FUNCTION:
        return applied.pop()
    arrays: list[BindItem] = []
    while applied and applied[-1].kind is _ARRAY:
        arrays.append(applied.pop())
    return _strand(context, arrays[::-1])


def _right_operand(context: BindContext, items: list[BindItem], index: int, operator: BindItem) -> tuple[BindItem, int]:
    """The right operand, one item with the brackets after it, and the index of the next item."""
    if index == len(items):
        name = context.text_of(operator)
        raise context.error(Code.E008, f"`{name}` is an operator and has nothing on its right", context.span_of(operator))
    right = items[index]
    if right.kind is ItemKind.SLASH:
        right = _slash_function(context, right)
    elif right.kind is ItemKind.UNTIL and operator.text in ("⍣", STATES):
        return right._replace(kind=_ARRAY), index + 1
    elif right.kind not in _VALUES:
        message = f"`{context.text_of(operator)}` needs an operand on its right, and `{context.text_of(right)}` is not one"
        raise context.error(Code.E008, message, context.span_of(right))
    index += 1
    while index < len(items) and items[index].kind is ItemKind.BRACKET:
        right = _bracket(context, right, items[index])
        index += 1
    return right, index


def _reject_touching_array(context: BindContext, operator: BindItem, right: BindItem, items: list[BindItem], index: int) -> None:
    """E013 for an array right after a literal operand of `⍤ ⍣ ⌺ @`: `f⍤1 x` looks like an operand `1 x`, and is not one."""
    if operator.text not in LITERAL_OPERAND_OPERATORS or not isinstance(right.node, expressions.Number):
        return
    if index < len(items) and items[index].kind is _ARRAY and right.token is not None:
        after = items[index]
        literal, name = context.text_of(right), context.text_of(after)
        raise context.error(
            Code.E013, f"`{name}` touches `{literal}`, which is the whole operand of `{operator.text}`", context.span_of(after),
            fixes=replacement(f"write `{operator.text}{literal} ⊢ {name}`", context.span(after.start, after.start), "⊢ "),
        )  # fmt: skip


_GROUPS: Final = (
    "values are added by key with `k +⌸ (keys ⋄ values)`; `(names keys) ← set.classes x` numbers the keys, and `≢names` is k"
)


def _derived(context: BindContext, operator: BindItem, left: BindItem, right: BindItem | None) -> BindItem:
    glyph = operator.text
    if left.kind is _ARRAY and glyph not in ARRAY_LEFT_OPERANDS:
        subject = f"`{context.text_of(left)}` is an array"
        message, notes = f"`{glyph}` needs a function on its left, and {subject}", (_GROUPS,) if glyph == "⌸" else ()
        raise context.error(Code.E008, message, context.span_of(left), notes=notes)
    if right is None:
        node = expressions.Derived(context.span(left.start, operator.end), glyph, (_operand(left),))
        return check_depth(context, BindItem(_FUNCTION, left.start, operator.end, glyph, node, left.depth + 1))
    if right.kind is _ARRAY and (glyph not in ARRAY_RIGHT_OPERANDS or (left.kind is _ARRAY and glyph != "@")):
        subject = f"`{context.text_of(right)}` is an array"
        raise context.error(Code.E008, f"`{glyph}` needs a function on its right, and {subject}", context.span_of(right))
    node = expressions.Derived(context.span(left.start, right.end), glyph, (_operand(left), _operand(right)))
    return check_depth(context, BindItem(_FUNCTION, left.start, right.end, glyph, node, max(left.depth, right.depth) + 1))


def _operator_call(context: BindContext, operator: BindItem, left: BindItem, right: BindItem | None) -> BindItem:
    head = operator.node
    assert isinstance(head, expressions.OperatorName | expressions.OperatorMember | expressions.OperatorDfn)
    operands = (_operand(left),) if right is None else (_operand(left), _operand(right))
    end = operator.end if right is None else right.end
    depth = max(left.depth, operator.depth, 0 if right is None else right.depth) + 1
    node = expressions.OperatorCall(context.span(left.start, end), head, operands)
    return check_depth(context, BindItem(_FUNCTION, left.start, end, node=node, depth=depth))


# -------------------------------------------------------------------------------------- brackets


def _bracket(context: BindContext, target: BindItem | None, bracket: BindItem) -> BindItem:
    """Index the array left of a bracket, or give the axis to the function left of it; E002 where neither is possible."""
    if target is None:
        content = context.text_of(bracket)[1:-1].strip()
        raise context.error(
            Code.E002, "these brackets have nothing on their left to index", context.span_of(bracket),
            notes=("`[a ⋄ b]` with a `⋄` stacks cells; a plain vector needs no brackets",),
            fixes=replacement("write parentheses", context.span_of(bracket), f"({content})") if "…" not in content else (),
        )  # fmt: skip
    span = context.span(target.start, bracket.end)
    if target.kind is _ARRAY:
        node = expressions.IndexExpression(span, expression_of(target), bracket.axes)
        depth = max(target.depth, bracket.depth) + 1
        return check_depth(context, BindItem(_ARRAY, target.start, bracket.end, node=node, depth=depth))
    function = target.node
    if len(bracket.axes) == 1 and bracket.axes[0] is not None:
        axis = bracket.axes[0]
        if isinstance(function, expressions.GlyphFunction) and function.glyph in AXIS_FUNCTIONS and function.axis is None:
            primitive = expressions.GlyphFunction(span, function.glyph, axis)
            return BindItem(_FUNCTION, target.start, bracket.end, target.text, primitive, max(target.depth, bracket.depth) + 1)
        if isinstance(function, expressions.Derived) and function.operator in SLASHES and function.axis is None:
            derived = expressions.Derived(span, function.operator, function.operands, axis)
            return BindItem(_FUNCTION, target.start, bracket.end, target.text, derived, max(target.depth, bracket.depth) + 1)
    raise context.error(
        Code.E002, f"`{context.text_of(target)}` takes no axis in brackets", context.span_of(bracket),
        notes=("`/ ⌿ \\ ⍀ ⌽ ⊖ , ⍪ ↑ ↓ ⌷` take one; use `⍤` to choose cells",),
    )  # fmt: skip


# ------------------------------------------------------------------------- strands and arguments


def _strands(context: BindContext, items: list[BindItem]) -> list[BindItem]:
    """Join neighbouring arrays into strands."""
    joined: list[BindItem] = []
    run: list[BindItem] = []
    for item in items:
        if item.kind is _ARRAY:
            run.append(item)
            continue
        if run:
            joined.append(_strand(context, run))
            run = []
        joined.append(item)
    if run:
        joined.append(_strand(context, run))
    return joined


def _strand(context: BindContext, run: list[BindItem]) -> BindItem:
    """The strand of adjacent arrays; each number of a literal such as `1 2` is an item of it."""
    if len(run) == 1:
        return run[0]
    nodes: list[expressions.Expression] = []
    for item in run:
        if isinstance(item.node, expressions.Number) and item.node.strand and item.token is not None:
            nodes.extend(number_items(context, item.token, item.node))
        else:
            nodes.append(expression_of(item))
    start, end = run[0].start, run[-1].end
    depth = max(item.depth for item in run) + 1
    return check_depth(
        context, BindItem(_ARRAY, start, end, node=expressions.Strand(context.span(start, end), tuple(nodes)), depth=depth)
    )


_Join = Callable[[BindItem | None, BindItem, BindItem], tuple[BindItem, expressions.Expression | expressions.Function]]
"""(the item on the left of one, that one, what is on its right) → the first that their node joins, and the node."""


def _from_right(context: BindContext, items: list[BindItem], kind: ItemKind, join: _Join) -> BindItem:
    """Items joined from right to left."""
    *rest, value = items
    while rest:
        middle = rest[-1]
        first, node = join(rest[-2] if len(rest) > 1 else None, middle, value)
        depth = max(first.depth, middle.depth, value.depth) + 1
        value = check_depth(context, BindItem(kind, first.start, value.end, node=node, depth=depth))
        del rest[-1 if first is middle else -2 :]
    return value


def _apply(context: BindContext, items: list[BindItem]) -> BindItem:
    """Apply functions from right to left: dyadically where an array is on their left, else monadically."""

    def applied(left: BindItem | None, function: BindItem, value: BindItem) -> tuple[BindItem, expressions.Expression]:
        assert function.kind is _FUNCTION
        if left is None or left.kind is not _ARRAY:
            span = context.span(function.start, value.end)
            return function, expressions.Monadic(span, function_of(function), expression_of(value))
        span = context.span(left.start, value.end)
        return left, expressions.Dyadic(span, expression_of(left), function_of(function), expression_of(value))

    return _from_right(context, items, _ARRAY, applied)


def _train(context: BindContext, items: list[BindItem]) -> BindItem:
    """A train: forks of three functions from the right, an atop for a remaining one."""

    def joined(left: BindItem | None, middle: BindItem, train: BindItem) -> tuple[BindItem, expressions.Function]:
        if middle.kind is _ARRAY:
            raise _no_right_argument(context, items[-1])
        if left is None:
            return middle, expressions.Atop(context.span(middle.start, train.end), function_of(middle), function_of(train))
        tine = function_of(left) if left.kind is _FUNCTION else expression_of(left)
        return left, expressions.Fork(context.span(left.start, train.end), tine, function_of(middle), function_of(train))

    return _from_right(context, items, _FUNCTION, joined)


def _no_right_argument(context: BindContext, function: BindItem) -> Exception:
    return context.error(Code.E009, f"`{context.text_of(function)}` has no right argument", context.span_of(function))
