"""From the units of one sequence to its applications: operators, strands, trains, arguments.

Operators bind tighter than functions and have long left scope, so they go first, left to right; then
neighbouring arrays join into strands; then functions apply right to left, or, if the sequence ends in a
function, it is a train whose forks group from the right in threes.  Every loop here is flat.
"""

from __future__ import annotations

import re
from math import isinf

from ..diagnostics.model import Code
from ..syntax.lexer import ARRAY_LEFT_OPERANDS, ARRAY_RIGHT_OPERANDS, AXIS_FUNCTIONS, LITERAL_OPERAND_OPERATORS, SLASHES, STATES
from ..syntax.source import MAXIMUM_DEPTH, Token
from ..tree import expressions
from .scopes import BindContext, Unit, UnitKind, replacing

# ---------------------------------------------------------------------------------------------------- literals
#
# Literals: the values of number strands and texts.
#
# A strand may hold 100,000 numbers, so strands of small integers take a fast path.

_WORD = re.compile(r"\S+")
_SMALL_INTEGERS = re.compile(r"[¯0-9\s]+")
_SMALLEST, _LARGEST = -(2**63), 2**63 - 1
_LONGEST = 25
"""Digits after which an integer is too large without converting it (Python limits conversions)."""


def number(binding: BindContext, token: Token) -> expressions.Number:
    """The node of a number or a strand of numbers."""
    text = token.text
    values: tuple[int | float | complex, ...] | None = None
    if _SMALL_INTEGERS.fullmatch(text):
        words = text.replace("¯", "-").split()
        if max(map(len, words)) < 19:
            values = tuple(map(int, words))
    if values is None:
        values = tuple(_value(binding, match[0], token.start + match.start()) for match in _WORD.finditer(text))
    return expressions.Number(binding.of(token), values, len(values) > 1)


def number_items(binding: BindContext, token: Token, strand: expressions.Number) -> list[expressions.Number]:
    """Each number of a strand as a node of its own."""
    places = (token.start + match.start() for match in _WORD.finditer(token.text))
    ends = (token.start + match.end() for match in _WORD.finditer(token.text))
    return [
        expressions.Number(binding.span(start, end), (value,), False)
        for start, end, value in zip(places, ends, strand.values, strict=True)
    ]


def text(binding: BindContext, token: Token) -> expressions.Text:
    quote = token.text[0]
    value = token.text[1:-1].replace(quote * 2, quote)
    return expressions.Text(binding.of(token), value, quote == '"' or len(value) != 1)


def _value(binding: BindContext, word: str, start: int) -> int | float | complex:
    plain = word.replace("_", "").replace("¯", "-").replace("J", "j").replace("∞", "inf")
    real, complex_mark, imaginary = plain.partition("j")
    if complex_mark:
        return complex(_float(binding, real, word, start), _float(binding, imaginary, word, start))
    if "." in real or "e" in real or "E" in real or "inf" in real:
        return _float(binding, real, word, start)
    value = int(real) if len(real) <= _LONGEST else _LARGEST + 1
    if not _SMALLEST <= value <= _LARGEST:
        span = binding.span(start, start + len(word))
        after = binding.span(start + len(word), start + len(word))
        message = f"{_short(word)} does not fit i64 (¯9223372036854775808 to 9223372036854775807)"
        raise binding.problem(Code.E302, message, span, fixes=replacing("make it an f64", after, "."))
    return value


def _float(binding: BindContext, plain: str, word: str, start: int) -> float:
    value = float(plain)
    if isinf(value) and "inf" not in plain:
        message = f"{_short(word)} does not fit f64 (up to 1.797e308); write ∞ for infinity"
        raise binding.problem(Code.E302, message, binding.span(start, start + len(word)))
    return value


def _short(word: str) -> str:
    return word if len(word) <= 40 else f"{word[:20]}… ({len(word)} characters)"


# ---------------------------------------------------------------------------------------------------- applications

_ARRAY = UnitKind.ARRAY
_FUNCTION = UnitKind.FUNCTION
_VALUES = frozenset({UnitKind.ARRAY, UnitKind.FUNCTION})


def apply_all(binding: BindContext, units: list[Unit]) -> Unit:
    """One unit for a non-empty sequence of units in text order: an array, a function or a lone user operator."""
    if len(units) == 1 and units[0].kind in (_ARRAY, UnitKind.OPERATOR):
        return units[0]
    items = _strands(binding, _operators(binding, units))
    return _apply(binding, items) if items[-1].kind is _ARRAY else _train(binding, items)


def checked(binding: BindContext, unit: Unit) -> Unit:
    """The unit, unless its tree is deeper than anything may be."""
    if unit.depth > MAXIMUM_DEPTH:
        raise binding.problem(
            Code.E016, f"this expression nests more than {MAXIMUM_DEPTH} applications", binding.of(unit),
            notes=("name the inner parts in separate statements",),
        )  # fmt: skip
    return unit


# ------------------------------------------------------------------------------------- operators


def _operators(binding: BindContext, units: list[Unit]) -> list[Unit]:
    """Derive every function; arrays, functions only are left."""
    done: list[Unit] = []
    at = 0
    while at < len(units):
        unit = units[at]
        at += 1
        match unit.kind:
            case UnitKind.ARRAY | UnitKind.FUNCTION:
                done.append(unit)
            case UnitKind.BRACKET:
                done.append(_bracket(binding, done.pop() if done else None, unit))
            case UnitKind.SLASH:
                if done and done[-1].kind is _FUNCTION:
                    done.append(_derived(binding, unit, done.pop(), None))
                else:
                    done.append(_slash_function(binding, unit))
            case UnitKind.MONADIC:
                done.append(_derived(binding, unit, _left_operand(binding, done, unit), None))
            case UnitKind.OUTER:
                right, at = _right_operand(binding, units, at, unit)
                if right.kind is not _FUNCTION:
                    message = f"`∘.` needs a function on its right, and `{binding.written(right)}` is an array"
                    raise binding.problem(Code.E008, message, binding.of(right))
                node = expressions.Derived(binding.span(unit.start, right.end), "∘.", (_operand(right),))
                done.append(Unit(_FUNCTION, unit.start, right.end, node=node, depth=right.depth + 1))
            case UnitKind.DYADIC:
                left = _left_operand(binding, done, unit)
                right, at = _right_operand(binding, units, at, unit)
                _refuse_touching(binding, unit, right, units, at)
                done.append(_derived(binding, unit, left, right))
            case UnitKind.UNTIL:
                message = "a tuple holds values, not functions; only `f⍣(n ⋄ p)` takes a function p"
                raise binding.problem(Code.E134, message, binding.of(unit))
            case UnitKind.OPERATOR:
                left = _left_operand(binding, done, unit)
                if _is_dyadic(unit):
                    second, at = _right_operand(binding, units, at, unit)
                    done.append(_operator_call(binding, unit, left, second))
                else:
                    done.append(_operator_call(binding, unit, left, None))
    return done


def _operand(unit: Unit) -> expressions.Function | expressions.Expression:
    node = unit.node
    assert node is not None and not isinstance(node, expressions.OperatorName | expressions.OperatorMember
        | expressions.OperatorDfn)
    return node


def _function(unit: Unit) -> expressions.Function:
    node = unit.node
    assert isinstance(node, expressions.Function)
    return node


def _expression(unit: Unit) -> expressions.Expression:
    node = unit.node
    assert isinstance(node, expressions.Expression)
    return node


def _is_dyadic(unit: Unit) -> bool:
    return unit.text == "dyadic"


def _slash_function(binding: BindContext, unit: Unit) -> Unit:
    return Unit(_FUNCTION, unit.start, unit.end, unit.text, expressions.GlyphFunction(binding.of(unit), unit.text), 1)


def _left_operand(binding: BindContext, done: list[Unit], operator: Unit) -> Unit:
    """The function, or the whole strand of arrays, left of an operator; taken off `done`."""
    if not done:
        name = binding.written(operator)
        raise binding.problem(Code.E008, f"`{name}` is an operator and has nothing on its left", binding.of(operator))
    if done[-1].kind is _FUNCTION:
        return done.pop()
    arrays: list[Unit] = []
    while done and done[-1].kind is _ARRAY:
        arrays.append(done.pop())
    return _strand(binding, arrays[::-1])


def _right_operand(binding: BindContext, units: list[Unit], at: int, operator: Unit) -> tuple[Unit, int]:
    """The one item right of an operator with the brackets that follow it, and where the rest starts."""
    if at == len(units):
        name = binding.written(operator)
        raise binding.problem(Code.E008, f"`{name}` is an operator and has nothing on its right", binding.of(operator))
    right = units[at]
    if right.kind is UnitKind.SLASH:
        right = _slash_function(binding, right)
    elif right.kind is UnitKind.UNTIL and operator.text in ("⍣", STATES):
        return right._replace(kind=_ARRAY), at + 1
    elif right.kind not in _VALUES:
        message = f"`{binding.written(operator)}` needs an operand on its right, and `{binding.written(right)}` is not one"
        raise binding.problem(Code.E008, message, binding.of(right))
    at += 1
    while at < len(units) and units[at].kind is UnitKind.BRACKET:
        right = _bracket(binding, right, units[at])
        at += 1
    return right, at


def _refuse_touching(binding: BindContext, operator: Unit, right: Unit, units: list[Unit], at: int) -> None:
    """E013: after `⍤ ⍣ ⌺ @` a literal strand is the whole operand, so an array that touches it is a trap."""
    if operator.text not in LITERAL_OPERAND_OPERATORS or not isinstance(right.node, expressions.Number):
        return
    if at < len(units) and units[at].kind is _ARRAY and right.token is not None:
        after = units[at]
        literal, name = binding.written(right), binding.written(after)
        raise binding.problem(
            Code.E013, f"`{name}` touches `{literal}`, which is the whole operand of `{operator.text}`", binding.of(after),
            fixes=replacing(f"write `{operator.text}{literal} ⊢ {name}`", binding.span(after.start, after.start), "⊢ "),
        )  # fmt: skip


def _derived(binding: BindContext, operator: Unit, left: Unit, right: Unit | None) -> Unit:
    glyph = operator.text
    if left.kind is _ARRAY and glyph not in ARRAY_LEFT_OPERANDS:
        what = f"`{binding.written(left)}` is an array"
        raise binding.problem(Code.E008, f"`{glyph}` needs a function on its left, and {what}", binding.of(left))
    if right is None:
        node = expressions.Derived(binding.span(left.start, operator.end), glyph, (_operand(left),))
        return checked(binding, Unit(_FUNCTION, left.start, operator.end, glyph, node, left.depth + 1))
    if right.kind is _ARRAY and (glyph not in ARRAY_RIGHT_OPERANDS or (left.kind is _ARRAY and glyph != "@")):
        what = f"`{binding.written(right)}` is an array"
        raise binding.problem(Code.E008, f"`{glyph}` needs a function on its right, and {what}", binding.of(right))
    node = expressions.Derived(binding.span(left.start, right.end), glyph, (_operand(left), _operand(right)))
    return checked(binding, Unit(_FUNCTION, left.start, right.end, glyph, node, max(left.depth, right.depth) + 1))


def _operator_call(binding: BindContext, operator: Unit, left: Unit, right: Unit | None) -> Unit:
    head = operator.node
    assert isinstance(head, expressions.OperatorName | expressions.OperatorMember | expressions.OperatorDfn)
    operands = (_operand(left),) if right is None else (_operand(left), _operand(right))
    end = operator.end if right is None else right.end
    depth = max(left.depth, operator.depth, 0 if right is None else right.depth) + 1
    node = expressions.OperatorCall(binding.span(left.start, end), head, operands)
    return checked(binding, Unit(_FUNCTION, left.start, end, node=node, depth=depth))


# -------------------------------------------------------------------------------------- brackets


def _bracket(binding: BindContext, target: Unit | None, bracket: Unit) -> Unit:
    """An index after an array, a static axis after a function that takes one."""
    if target is None:
        inside = binding.written(bracket)[1:-1].strip()
        raise binding.problem(
            Code.E002, "these brackets have nothing on their left to index", binding.of(bracket),
            notes=("`[a ⋄ b]` with a `⋄` stacks cells; a plain vector needs no brackets",),
            fixes=replacing("write parentheses", binding.of(bracket), f"({inside})") if "…" not in inside else (),
        )  # fmt: skip
    span = binding.span(target.start, bracket.end)
    if target.kind is _ARRAY:
        node = expressions.IndexExpression(span, _expression(target), bracket.axes)
        depth = max(target.depth, bracket.depth) + 1
        return checked(binding, Unit(_ARRAY, target.start, bracket.end, node=node, depth=depth))
    function = target.node
    if len(bracket.axes) == 1 and bracket.axes[0] is not None:
        axis = bracket.axes[0]
        if isinstance(function, expressions.GlyphFunction) and function.glyph in AXIS_FUNCTIONS and function.axis is None:
            primitive = expressions.GlyphFunction(span, function.glyph, axis)
            return Unit(_FUNCTION, target.start, bracket.end, target.text, primitive, max(target.depth, bracket.depth) + 1)
        if isinstance(function, expressions.Derived) and function.operator in SLASHES and function.axis is None:
            derived = expressions.Derived(span, function.operator, function.operands, axis)
            return Unit(_FUNCTION, target.start, bracket.end, target.text, derived, max(target.depth, bracket.depth) + 1)
    raise binding.problem(
        Code.E002, f"`{binding.written(target)}` takes no axis in brackets", binding.of(bracket),
        notes=("`/ ⌿ \\ ⍀ ⌽ ⊖ , ⍪ ↑ ↓ ⌷` take one; use `⍤` to choose cells",),
    )  # fmt: skip


# ------------------------------------------------------------------------- strands and arguments


def _strands(binding: BindContext, items: list[Unit]) -> list[Unit]:
    """Join neighbouring arrays."""
    joined: list[Unit] = []
    run: list[Unit] = []
    for item in items:
        if item.kind is _ARRAY:
            run.append(item)
            continue
        if run:
            joined.append(_strand(binding, run))
            run = []
        joined.append(item)
    if run:
        joined.append(_strand(binding, run))
    return joined


def _strand(binding: BindContext, run: list[Unit]) -> Unit:
    """Two arrays or more side by side; a run of number literals counts as so many items."""
    if len(run) == 1:
        return run[0]
    nodes: list[expressions.Expression] = []
    for unit in run:
        if isinstance(unit.node, expressions.Number) and unit.node.strand and unit.token is not None:
            nodes.extend(number_items(binding, unit.token, unit.node))
        else:
            nodes.append(_expression(unit))
    start, end = run[0].start, run[-1].end
    depth = max(unit.depth for unit in run) + 1
    return checked(binding, Unit(_ARRAY, start, end, node=expressions.Strand(binding.span(start, end), tuple(nodes)),
        depth=depth))


def _apply(binding: BindContext, items: list[Unit]) -> Unit:
    """Functions right to left; arrays and functions alternate except where functions are monadic."""
    value = items[-1]
    at = len(items) - 2
    while at >= 0:
        function = items[at]
        assert function.kind is _FUNCTION
        if at > 0 and items[at - 1].kind is _ARRAY:
            left = items[at - 1]
            dyadic = expressions.Dyadic(binding.span(left.start, value.end), _expression(left), _function(function),
                _expression(value))
            depth = max(left.depth, function.depth, value.depth) + 1
            value = Unit(_ARRAY, left.start, value.end, node=dyadic, depth=depth)
            at -= 2
        else:
            monadic = expressions.Monadic(binding.span(function.start, value.end), _function(function), _expression(value))
            value = Unit(_ARRAY, function.start, value.end, node=monadic, depth=max(function.depth, value.depth) + 1)
            at -= 1
        checked(binding, value)
    return value


def _train(binding: BindContext, items: list[Unit]) -> Unit:
    """Forks from the right in threes, an atop for what is left over."""
    train = items[-1]
    at = len(items) - 2
    while at >= 0:
        middle = items[at]
        if middle.kind is _ARRAY:
            raise _no_right_argument(binding, items[-1])
        if at > 0:
            left = items[at - 1]
            tine = _function(left) if left.kind is _FUNCTION else _expression(left)
            fork = expressions.Fork(binding.span(left.start, train.end), tine, _function(middle), _function(train))
            train = Unit(_FUNCTION, left.start, train.end, node=fork, depth=max(left.depth, middle.depth, train.depth) + 1)
            at -= 2
        else:
            atop = expressions.Atop(binding.span(middle.start, train.end), _function(middle), _function(train))
            train = Unit(_FUNCTION, middle.start, train.end, node=atop, depth=max(middle.depth, train.depth) + 1)
            at -= 1
        checked(binding, train)
    return train


def _no_right_argument(binding: BindContext, function: Unit) -> Exception:
    return binding.problem(Code.E009, f"`{binding.written(function)}` has no right argument", binding.of(function))
