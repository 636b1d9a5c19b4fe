"""From the units of one sequence to its applications: operators, strands, trains, arguments.

Operators bind tighter than functions and have long left scope, so they go first, left to right; then
neighbouring arrays join into strands; then functions apply right to left, or, if the sequence ends in a
function, it is a train whose forks group from the right in threes.  Every loop here is flat.
"""

from __future__ import annotations

from . import tree
from .codes import Code
from .limits import MAXIMUM_DEPTH
from .literals import number_items
from .units import Binding, Unit, UnitKind, replacing
from .vocabulary import (
    ARRAY_LEFT_OPERANDS,
    ARRAY_RIGHT_OPERANDS,
    AXIS_FUNCTIONS,
    LITERAL_OPERAND_OPERATORS,
    SLASHES,
    STATES,
)

_ARRAY = UnitKind.ARRAY
_FUNCTION = UnitKind.FUNCTION
_VALUES = frozenset({UnitKind.ARRAY, UnitKind.FUNCTION})


def apply_all(binding: Binding, units: list[Unit]) -> Unit:
    """One unit for a non-empty sequence of units in text order: an array, a function or a lone user operator."""
    if len(units) == 1 and units[0].kind in (_ARRAY, UnitKind.OPERATOR):
        return units[0]
    items = _strands(binding, _operators(binding, units))
    return _apply(binding, items) if items[-1].kind is _ARRAY else _train(binding, items)


def checked(binding: Binding, unit: Unit) -> Unit:
    """The unit, unless its tree is deeper than anything may be."""
    if unit.depth > MAXIMUM_DEPTH:
        raise binding.problem(
            Code.E016, f"this expression nests more than {MAXIMUM_DEPTH} applications", binding.of(unit),
            notes=("name the inner parts in separate statements",),
        )  # fmt: skip
    return unit


# ------------------------------------------------------------------------------------- operators


def _operators(binding: Binding, units: list[Unit]) -> list[Unit]:
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
                node = tree.Derived(binding.span(unit.start, right.end), "∘.", (_operand(right),))
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


def _operand(unit: Unit) -> tree.Function | tree.Expression:
    node = unit.node
    assert node is not None and not isinstance(node, tree.OperatorName | tree.OperatorMember | tree.OperatorDfn)
    return node


def _function(unit: Unit) -> tree.Function:
    node = unit.node
    assert isinstance(node, tree.Function)
    return node


def _expression(unit: Unit) -> tree.Expression:
    node = unit.node
    assert isinstance(node, tree.Expression)
    return node


def _is_dyadic(unit: Unit) -> bool:
    return unit.text == "dyadic"


def _slash_function(binding: Binding, unit: Unit) -> Unit:
    return Unit(_FUNCTION, unit.start, unit.end, unit.text, tree.Primitive(binding.of(unit), unit.text), 1)


def _left_operand(binding: Binding, done: list[Unit], operator: Unit) -> Unit:
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


def _right_operand(binding: Binding, units: list[Unit], at: int, operator: Unit) -> tuple[Unit, int]:
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


def _refuse_touching(binding: Binding, operator: Unit, right: Unit, units: list[Unit], at: int) -> None:
    """E013: after `⍤ ⍣ ⌺ @` a literal strand is the whole operand, so an array that touches it is a trap."""
    if operator.text not in LITERAL_OPERAND_OPERATORS or not isinstance(right.node, tree.Number):
        return
    if at < len(units) and units[at].kind is _ARRAY and right.token is not None:
        after = units[at]
        literal, name = binding.written(right), binding.written(after)
        raise binding.problem(
            Code.E013, f"`{name}` touches `{literal}`, which is the whole operand of `{operator.text}`", binding.of(after),
            fixes=replacing(f"write `{operator.text}{literal} ⊢ {name}`", binding.span(after.start, after.start), "⊢ "),
        )  # fmt: skip


def _derived(binding: Binding, operator: Unit, left: Unit, right: Unit | None) -> Unit:
    glyph = operator.text
    if left.kind is _ARRAY and glyph not in ARRAY_LEFT_OPERANDS:
        what = f"`{binding.written(left)}` is an array"
        raise binding.problem(Code.E008, f"`{glyph}` needs a function on its left, and {what}", binding.of(left))
    if right is None:
        node = tree.Derived(binding.span(left.start, operator.end), glyph, (_operand(left),))
        return checked(binding, Unit(_FUNCTION, left.start, operator.end, glyph, node, left.depth + 1))
    if right.kind is _ARRAY and (glyph not in ARRAY_RIGHT_OPERANDS or (left.kind is _ARRAY and glyph != "@")):
        what = f"`{binding.written(right)}` is an array"
        raise binding.problem(Code.E008, f"`{glyph}` needs a function on its right, and {what}", binding.of(right))
    node = tree.Derived(binding.span(left.start, right.end), glyph, (_operand(left), _operand(right)))
    return checked(binding, Unit(_FUNCTION, left.start, right.end, glyph, node, max(left.depth, right.depth) + 1))


def _operator_call(binding: Binding, operator: Unit, left: Unit, right: Unit | None) -> Unit:
    head = operator.node
    assert isinstance(head, tree.OperatorName | tree.OperatorMember | tree.OperatorDfn)
    operands = (_operand(left),) if right is None else (_operand(left), _operand(right))
    end = operator.end if right is None else right.end
    depth = max(left.depth, operator.depth, 0 if right is None else right.depth) + 1
    node = tree.OperatorCall(binding.span(left.start, end), head, operands)
    return checked(binding, Unit(_FUNCTION, left.start, end, node=node, depth=depth))


# -------------------------------------------------------------------------------------- brackets


def _bracket(binding: Binding, target: Unit | None, bracket: Unit) -> Unit:
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
        node = tree.Index(span, _expression(target), bracket.axes)
        depth = max(target.depth, bracket.depth) + 1
        return checked(binding, Unit(_ARRAY, target.start, bracket.end, node=node, depth=depth))
    function = target.node
    if len(bracket.axes) == 1 and bracket.axes[0] is not None:
        axis = bracket.axes[0]
        if isinstance(function, tree.Primitive) and function.glyph in AXIS_FUNCTIONS and function.axis is None:
            primitive = tree.Primitive(span, function.glyph, axis)
            return Unit(_FUNCTION, target.start, bracket.end, target.text, primitive, max(target.depth, bracket.depth) + 1)
        if isinstance(function, tree.Derived) and function.operator in SLASHES and function.axis is None:
            derived = tree.Derived(span, function.operator, function.operands, axis)
            return Unit(_FUNCTION, target.start, bracket.end, target.text, derived, max(target.depth, bracket.depth) + 1)
    raise binding.problem(
        Code.E002, f"`{binding.written(target)}` takes no axis in brackets", binding.of(bracket),
        notes=("`/ ⌿ \\ ⍀ ⌽ ⊖ , ⍪ ↑ ↓ ⌷` take one; use `⍤` to choose cells",),
    )  # fmt: skip


# ------------------------------------------------------------------------- strands and arguments


def _strands(binding: Binding, items: list[Unit]) -> list[Unit]:
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


def _strand(binding: Binding, run: list[Unit]) -> Unit:
    """Two arrays or more side by side; a run of number literals counts as so many items."""
    if len(run) == 1:
        return run[0]
    nodes: list[tree.Expression] = []
    for unit in run:
        if isinstance(unit.node, tree.Number) and unit.node.strand and unit.token is not None:
            nodes.extend(number_items(binding, unit.token, unit.node))
        else:
            nodes.append(_expression(unit))
    start, end = run[0].start, run[-1].end
    depth = max(unit.depth for unit in run) + 1
    return checked(binding, Unit(_ARRAY, start, end, node=tree.Strand(binding.span(start, end), tuple(nodes)), depth=depth))


def _apply(binding: Binding, items: list[Unit]) -> Unit:
    """Functions right to left; arrays and functions alternate except where functions are monadic."""
    value = items[-1]
    at = len(items) - 2
    while at >= 0:
        function = items[at]
        assert function.kind is _FUNCTION
        if at > 0 and items[at - 1].kind is _ARRAY:
            left = items[at - 1]
            dyadic = tree.Dyadic(binding.span(left.start, value.end), _expression(left), _function(function), _expression(value))
            depth = max(left.depth, function.depth, value.depth) + 1
            value = Unit(_ARRAY, left.start, value.end, node=dyadic, depth=depth)
            at -= 2
        else:
            monadic = tree.Monadic(binding.span(function.start, value.end), _function(function), _expression(value))
            value = Unit(_ARRAY, function.start, value.end, node=monadic, depth=max(function.depth, value.depth) + 1)
            at -= 1
        checked(binding, value)
    return value


def _train(binding: Binding, items: list[Unit]) -> Unit:
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
            fork = tree.Fork(binding.span(left.start, train.end), tine, _function(middle), _function(train))
            train = Unit(_FUNCTION, left.start, train.end, node=fork, depth=max(left.depth, middle.depth, train.depth) + 1)
            at -= 2
        else:
            atop = tree.Atop(binding.span(middle.start, train.end), _function(middle), _function(train))
            train = Unit(_FUNCTION, middle.start, train.end, node=atop, depth=max(middle.depth, train.depth) + 1)
            at -= 1
        checked(binding, train)
    return train


def _no_right_argument(binding: Binding, function: Unit) -> Exception:
    return binding.problem(Code.E009, f"`{binding.written(function)}` has no right argument", binding.of(function))
