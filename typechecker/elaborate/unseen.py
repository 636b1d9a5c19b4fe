"""Sizes that stand in facts alone: `n = r×k` says that k divides n, `n = 2*p` that n is a power of 2.

A size that no argument has is written in terms of those that arguments have, before anything else reads the facts: where
one unseen name stands once in an equality, the equality says what it is and when there is such a number.  It may stand in
other facts and in the result's type too.  Of a product of two names that stand nowhere else nothing is left to say.

Neighbours: `definitions` (signatures), `declarations` (inputs and params).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ...lang import program_tree
from ...lang.type_tree import (
    BoundedSize,
    Fact,
    ShapeItem,
    ShapeVariable,
    SizeCall,
    SizeExpression,
    SizeName,
    SizeNumber,
    TupleTypeExpression,
    TypeExpression,
)
from .signature_form import CLASSES, determined, sizes_of

Known = Callable[[SizeName], bool]
_Size = SizeExpression


def without_unseen(signature: program_tree.Signature, params: frozenset[str]) -> program_tree.Signature:
    """The signature with facts and result in the sizes of its arguments; what cannot be written so stays."""
    if not signature.where:
        return signature
    known = determined(signature) | params
    where, meant = solved(signature.where, lambda size: size.name in known)
    result = signature.result
    for name, value in meant:
        result = _in_type(result, name, value)
    return signature if where == signature.where else replace(signature, where=where, result=result)


def solved(where: Sequence[Fact], known: Known) -> tuple[tuple[Fact, ...], list[tuple[str, _Size]]]:
    """The facts in known sizes, and what the unseen ones stand for."""
    facts = list(where)
    meant: list[tuple[str, _Size]] = []
    changed = True
    while changed:
        changed = False
        for at, fact in enumerate(facts):
            if fact.relation != "=" or fact.right is None:
                continue
            others = facts[:at] + facts[at + 1 :]
            for side, other in ((fact.left, fact.right), (fact.right, fact.left)):
                found = _equality(fact, side, other, others, known)
                if found is not None:
                    others = _powers_of(side, other, others)
                    facts = [*others[:at], fact, *others[at:]]
                    break
            else:
                continue
            kept, name, value = found
            facts = [*facts[:at], *kept, *facts[at + 1 :]]
            if name is not None and value is not None:
                facts = [_in_fact(f, name, value) for f in facts]
                meant.append((name, value))
            changed = True
            break
    return tuple(facts), meant


def _equality(
    fact: Fact, side: _Size, other: _Size, others: Sequence[Fact], known: Known
) -> tuple[tuple[Fact, ...], str | None, _Size | None] | None:
    """What remains of `side = other`, and the name that it settles; None if it settles nothing."""
    if not all(known(name) for name in sizes_of(other)):
        return None
    unseen = [name.name for name in sizes_of(side) if not known(name)]
    elsewhere = {name for f in others for name in _names_in(f)}
    match side:
        case SizeCall(function="*", args=(SizeNumber() as base, SizeName(name=name) as exponent)):
            if known(exponent) or not all(_is_bound(f, name) for f in others if name in _names_in(f)):
                return None
            return (replace(fact, relation="*", left=base, right=other),), None, None
        case SizeCall(function="×", args=(SizeName(name=x), SizeName(name=y))) if len(set(unseen)) == 2:
            return None if {x, y} & elsewhere else ((), None, None)
    if len(unseen) != 1:
        return None
    return _linear(fact, side, other, known)


def _powers_of(side: _Size, other: _Size, others: Sequence[Fact]) -> list[Fact]:
    """The other facts where `side`, if it is a power, is `other`."""
    match side:
        case SizeCall(function="*", args=(SizeNumber() as base, SizeName(name=name))):
            return [_of_powers(f, name, base, other) for f in others]
        case _:
            return list(others)


def _names_in(fact: Fact) -> list[str]:
    return [name.name for part in (fact.left, fact.right) if part is not None for name in sizes_of(part)]


def _is_bound(fact: Fact, name: str) -> bool:
    """`p ≥ 1`, `2 ≤ p`: an exponent beside a small number."""
    for one, other in ((fact.left, fact.right), (fact.right, fact.left)):
        if isinstance(one, SizeName) and one.name == name and isinstance(other, SizeNumber):
            return 0 <= other.value <= 62
    return False


def _of_powers(fact: Fact, name: str, base: SizeNumber, power: _Size) -> Fact:
    """A bound of the exponent as one of the power, which grows with it."""
    if name not in _names_in(fact) or fact.right is None:
        return fact
    sides = [replace(x, value=base.value**x.value) if isinstance(x, SizeNumber) else power for x in (fact.left, fact.right)]
    return replace(fact, left=sides[0], right=sides[1])


def _linear(fact: Fact, side: _Size, other: _Size, known: Known) -> tuple[tuple[Fact, ...], str, _Size] | None:
    """The one unseen name of `side` where it stands in a sum or as a factor."""
    match side:
        case SizeName():
            return (), side.name, other
        case SizeCall(function="+", args=(a, b)):
            part, rest = (b, a) if _is_known(a, known) else (a, b)
            found = _linear(fact, part, SizeCall(fact.span, "-", (other, rest)), known)
            enough = replace(fact, relation="≤", left=rest, right=other)
            return None if found is None else ((enough, *found[0]), found[1], found[2])
        case SizeCall(function="-", args=(a, b)) if _is_known(b, known):
            return _linear(fact, a, SizeCall(fact.span, "+", (other, b)), known)
        case SizeCall(function="×", args=(a, b)):
            part, factor = (b, a) if _is_known(a, known) else (a, b)
            found = _linear(fact, part, SizeCall(fact.span, "÷", (other, factor)), known)
            whole = replace(fact, relation="∣", left=factor, right=other)
            return None if found is None else ((whole, *found[0]), found[1], found[2])
        case _:
            return None


def _is_known(size: _Size, known: Known) -> bool:
    return all(known(name) for name in sizes_of(size))


# ------------------------------------------------------------------------------------ replacing names


def _in_size(size: ShapeItem, name: str, value: _Size) -> ShapeItem:
    match size:
        case SizeName():
            return value if size.name == name else size
        case SizeCall():
            args = tuple([_sized(_in_size(arg, name, value)) for arg in size.args])
            return replace(size, args=args)
        case BoundedSize():
            return replace(size, bound=_sized(_in_size(size.bound, name, value)))
        case _:
            return size


def _sized(item: ShapeItem) -> _Size:
    assert isinstance(item, SizeName | SizeNumber | SizeCall)
    return item


def _in_fact(fact: Fact, name: str, value: _Size) -> Fact:
    if fact.relation in CLASSES or fact.right is None:
        return fact
    return replace(fact, left=_sized(_in_size(fact.left, name, value)), right=_sized(_in_size(fact.right, name, value)))


def _in_type(node: TypeExpression, name: str, value: _Size) -> TypeExpression:
    if isinstance(node, TupleTypeExpression):
        return replace(node, items=tuple([_in_type(item, name, value) for item in node.items]))
    args = [item for arg in node.element.args if not isinstance(item := _in_size(arg, name, value), ShapeVariable)]
    element = replace(node.element, args=tuple(args))
    return replace(node, element=element, shape=tuple([_in_size(part, name, value) for part in node.shape]))
