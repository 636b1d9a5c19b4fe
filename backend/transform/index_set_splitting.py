"""Index-set splitting: a loop whose conditions change with its index becomes loops over ranges in which they are constant.

A condition is a comparison of affine numbers that a mask, a branch or a `select` of an innermost loop uses, or a `min`, `max` or
`residue` of them, that is linear in the loop's index.  It changes at a *border*, an affine form that is invariant in the loop.  A
loop is split at its first two borders into at most three ranges, whose bounds are clamped to the loop's, so that ranges may be
empty and borders anywhere.  `simplify` then removes the conditions of the interior; the edge ranges keep some where nothing is
known about sizes.  The inner loops of an edge of one iteration are not split.

Legal for every loop of step 1 without `until` that is not a reduction in the order of sums: iterations stay in order, and carried
values pass from range to range.
"""

from __future__ import annotations

from typing import Final

from ...lang.support.records import replace
from ...typechecker.elements import Kind, is_exact_in_any_order
from ..loopir.facts import Definitions, Facts, facts_of
from ..loopir.ir import (
    ONE,
    Apply,
    Fail,
    For,
    If,
    Index,
    Load,
    LoopProgram,
    Statement,
    Store,
    coefficient,
    defined_in_iteration,
    index,
    minus,
    plus,
    walk,
)
from .rewriting import FreshNames, copied, statement_count

_MOST_BORDERS: Final = 2
_MOST_STATEMENTS: Final = 1500
_GROWTH: Final = 12
_SHORT_LOOP: Final = 4
"""Loops of up to this many iterations are not split."""

_BELOW: Final = {"lt": (0,), "ge": (0,), "le": (-1,), "gt": (-1,), "eq": (0, -1), "ne": (0, -1), "min": (0,), "max": (0,)}
"""By function of a and b: constants c such that it is linear or constant where a - b + c < 0, and likewise where it is not."""


def split_index_sets(program: LoopProgram) -> LoopProgram:
    """Splits loops at the borders of their conditions."""
    splitting = _Splitting(program)
    body = splitting.block(program.body, facts_of(program, splitting.definitions))
    return replace(program, body=body) if splitting.has_split else program


class _Splitting:
    def __init__(self, program: LoopProgram) -> None:
        self.definitions = Definitions(program)
        self.names = FreshNames(program)
        size = statement_count(program.body)
        self.budget = min(_GROWTH * size, max(0, _MOST_STATEMENTS - size))
        """Statements that may be added."""
        self.has_split = False
        self.deciding = _deciding_registers(program, self.definitions)

    def block(self, body: tuple[Statement, ...], facts: Facts) -> tuple[Statement, ...]:
        result: list[Statement] = []
        for statement in body:
            match statement:
                case For():
                    result += self.loop(statement, facts)
                case If(condition, then, otherwise, _):
                    arms = self.block(then, facts.assuming(condition)), self.block(otherwise, facts.assuming(condition, False))
                    result.append(replace(statement, then=arms[0], otherwise=arms[1]))
                case _:
                    result.append(statement)
        return tuple(result)

    def loop(self, loop: For, facts: Facts) -> list[Statement]:
        borders = self.borders(loop, facts)
        cost = statement_count(loop.body) * len(borders)
        if not borders or cost > self.budget:
            return [self.inside(loop, facts)]
        self.budget -= cost
        self.has_split = True
        parts = self.parts(loop, borders)
        middle = self.inside(parts[1], facts)
        return [self.inside(parts[0], facts), middle, *(self.inside(part, facts) for part in parts[2:])]

    def inside(self, loop: For, facts: Facts) -> For:
        """The loop with its inner loops split, unless the loop is an edge."""
        return loop if _is_short(loop, 1, facts) else replace(loop, body=self.block(loop.body, facts.in_iteration(loop)))

    def borders(self, loop: For, facts: Facts) -> list[Index]:
        """The first two borders of the body's conditions, in ascending order."""
        is_clamped = len(loop.lower) > 1 or len(loop.upper) > 1
        if loop.step != 1 or loop.until is not None or is_clamped or _follows_order_of_sums(loop):
            return []
        if _is_short(loop, _SHORT_LOOP, facts):
            return []
        changing, here, counter = defined_in_iteration(loop), facts.in_iteration(loop), index(loop.index)
        borders: list[Index] = []
        for statement in walk(loop.body):
            for form in self.below(statement):
                border = _border(form, loop.index)
                if border is None or border in borders or any(name in changing for name, _ in border.terms):
                    continue
                if not here.proves(minus(counter, border)) and not here.proves(minus(minus(border, ONE), counter)):
                    borders.append(border)
        borders = borders[:_MOST_BORDERS]
        return borders[::-1] if len(borders) > 1 and _is_above(borders[0], borders[1], facts) else borders

    def below(self, statement: Statement) -> list[Index]:
        """Forms that change sign at the borders of a statement."""
        if not isinstance(statement, Apply) or statement.compute is not Kind.I64 or statement.name not in self.deciding:
            return []
        forms = [self.definitions.form(name) for name in statement.args]
        if statement.function == "residue":  # a residue by a constant would have many borders
            return [forms[1], minus(forms[1], forms[0])] if forms[0].terms else []
        return [plus(minus(*forms), Index((), constant)) for constant in _BELOW.get(statement.function, ())]

    def parts(self, loop: For, borders: list[Index]) -> list[For]:
        """The loops over the ranges between borders; the last one keeps the names of results."""
        lower, parts, initial = loop.lower, list[For](), [c.initial for c in loop.carried]
        for border in borders:
            (copy,), new = copied((loop,), self.names, {})
            self.definitions.add((copy,))
            self.deciding |= {new[name] for name in new if name in self.deciding}
            assert isinstance(copy, For)
            parts.append(_over_range(copy, lower, (*loop.upper, border), initial))
            lower, initial = (*lower, border), [c.result for c in copy.carried]
        return [*parts, _over_range(loop, lower, loop.upper, initial)]


def _over_range(loop: For, lower: tuple[Index, ...], upper: tuple[Index, ...], initial: list[str]) -> For:
    carried = tuple(replace(c, initial=first) for c, first in zip(loop.carried, initial, strict=True))
    return replace(loop, lower=lower, upper=upper, carried=carried)


def _is_above(one: Index, other: Index, facts: Facts) -> bool:
    """Is border `one` above border `other`?  Where sizes decide it, a border with sizes counts as above a constant."""
    if facts.proves(minus(one, other)):
        return True
    return not facts.proves(minus(other, one)) and bool(one.terms) and not other.terms


def _is_short(loop: For, most: int, facts: Facts) -> bool:
    return any(facts.proves(minus(Index((), most), minus(high, low))) for low in loop.lower for high in loop.upper)


def _follows_order_of_sums(loop: For) -> bool:
    """Is the loop a reduction in the order of sums?"""
    return any(c.reduction is not None and not is_exact_in_any_order(c.reduction, c.kind) for c in loop.carried)


def _border(form: Index, name: str) -> Index | None:
    """The least i from which on a form in register i has the other sign, if that is affine; else None."""
    match coefficient(form, name):
        case 1:
            return minus(index(name), form)
        case -1:
            return plus(plus(form, index(name)), ONE)
    return None


def _deciding_registers(program: LoopProgram, definitions: Definitions) -> set[str]:
    """The registers that determine the conditions, masks and indices of innermost loops."""
    waiting: list[str] = []
    loops = [s for s in walk(program.body) if isinstance(s, For) and not any(isinstance(inner, For) for inner in walk(s.body))]
    for statement in (s for loop in loops for s in walk(loop.body)):
        match statement:
            case Load() | Store():
                waiting += [name for form in statement.indices for name, _ in definitions.expand(form).terms]
                waiting += [statement.mask] if statement.mask is not None else []
            case If() | Fail():
                waiting.append(statement.condition)
            case Apply(function="select", args=args):
                waiting.append(args[0])
    deciding: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in deciding:
            deciding.add(name)
            node = definitions.of.get(name)
            if isinstance(node, Apply) and (node.compute is Kind.BOOL or node.kind is Kind.I64):
                waiting += [arg for operand in node.args for arg, _ in definitions.form(operand).terms]
    return deciding
