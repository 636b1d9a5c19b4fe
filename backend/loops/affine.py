"""What is known of the numbers of a loop program, and what follows from it.

Facts are affine forms that are not negative.  `Facts.proves(form)` eliminates registers, the innermost first: a register with a
positive coefficient is replaced by a lower bound, one with a negative coefficient by an upper bound.  This is exact for bounds of
loops (the greatest of affine forms, the least of others); a fact of several inner registers is also joined with the facts that
bound its innermost register from the other side (Fourier and Motzkin), so that what holds in a body because it is entered at all
is known there.

Neighbours: `forms`, `definitions` (what registers are); `check` (indices stay in views, iterations are independent), `transform`
(conditions, bounds, legality).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import gcd
from typing import Final, TypeAlias

from ...typechecker.elements import Kind
from .definitions import Definitions
from .forms import coefficient, combined, minus, substitute, tight
from .ir import ONE, Apply, Constant, Fail, For, If, Index, Program, Statement, index, plus, times

_MOST_FACTS: Final = 16
_MOST_STEPS: Final = 600
_PRIME: Final = "′"

Condition: TypeAlias = tuple[tuple[Index, ...], ...]


def _holds(function: str, difference: Index) -> Condition:
    """A comparison of a difference with 0, as alternatives of facts that hold together."""
    below = plus(times(difference, -1), Index((), -1))
    above = plus(difference, Index((), -1))
    match function:
        case "lt":
            return ((below,),)
        case "le":
            return ((times(difference, -1),),)
        case "gt":
            return ((above,),)
        case "ge":
            return ((difference,),)
        case "eq":
            return ((difference, times(difference, -1)),)
        case _:
            return (below,), (above,)


def conditions(definitions: Definitions, register: str, value: bool) -> Condition:
    """What a comparison of numbers says where it is true, or false; nothing of what is no comparison."""
    compared = definitions.compared(register)
    return () if compared is None else _holds(compared[0] if value else _OPPOSITE[compared[0]], compared[1])


_OPPOSITE: Final = {"lt": "ge", "le": "gt", "eq": "ne", "ge": "lt", "gt": "le", "ne": "eq"}


class Facts:
    """What holds at a place of a program: facts, and truth values of registers (`known`).  Worked out when it is first asked."""

    __slots__ = ("_assumed", "_before", "_by", "_forms", "_never", "definitions", "inner", "known")

    def __init__(self, definitions: Definitions, known: dict[str, bool] | None = None, before: Facts | None = None,
                 forms: tuple[Index, ...] = (), *, never: bool = False, inner: frozenset[str] = frozenset()) -> None:  # fmt: skip
        """`before`, and that the forms are not negative; `never`: the place is never reached."""
        self.definitions, self.known, self.inner = definitions, known or {}, inner
        self._before, self._forms = before, forms
        self._by: dict[str, tuple[Index, ...]] | None = None
        self._assumed: tuple[Index, ...] = ()
        self._never = never

    # -- adding

    def also(self, forms: Iterable[Index]) -> Facts:
        """The facts, and that these forms are not negative."""
        return Facts(self.definitions, self.known, self, tuple(forms), inner=self.inner)

    @property
    def by(self) -> dict[str, tuple[Index, ...]]:
        """Facts by their innermost register."""
        if self._by is None:
            self._work()
        assert self._by is not None
        return self._by

    @property
    def assumed(self) -> tuple[Index, ...]:
        """The facts as they were added, in order."""
        return self._assumed if self.by is not None else ()

    @property
    def never(self) -> bool:
        """Is the place never reached?"""
        return self._never if self.by is not None else False

    def _work(self) -> None:
        added = list[Index]()
        self._by = {} if self._before is None else self._before.by  # what is asked meanwhile is answered by this
        if self._before is not None:
            self._assumed, self._never = self._before._assumed, self._never or self._before._never
        if not self._forms:
            return
        by, waiting = dict(self._by), [tight(self.definitions.expand(form)) for form in self._forms]
        while waiting:
            form = waiting.pop()
            if not form.terms:
                self._never = self._never or form.constant < 0
                continue
            register = self._innermost(form)
            present = by.get(register, ())
            if form in present or len(present) >= _MOST_FACTS:
                continue
            own = coefficient(form, register)
            for other in (*present, *self._about(register)):
                c = coefficient(other, register)
                if c * own < 0:
                    waiting.append(tight(combined(form, abs(c), other, abs(own))))
            by[register] = (*present, form)
            added.append(form)
        self._by, self._assumed = by, (*self._assumed, *added)

    def assuming(self, condition: str | None, value: bool = True) -> Facts:
        """The facts where a register is true, or false."""
        if condition is None:
            return self
        condition = self.definitions.same.get(condition, condition)
        if condition in self.known:
            return self if self.known[condition] is value else Facts(self.definitions, self.known, self, never=True)
        facts = Facts(self.definitions, {**self.known, condition: value}, self)
        node = self.definitions.of.get(condition)
        if isinstance(node, Apply) and node.compute is Kind.BOOL:
            match node.function, value:
                case "not", _:
                    return facts.assuming(node.args[0], not value)
                case ("and", True) | ("nand", False):
                    return facts.assuming(node.args[0]).assuming(node.args[1])
                case ("or", False) | ("nor", True):
                    return facts.assuming(node.args[0], False).assuming(node.args[1], False)
        if isinstance(node, Apply) and node.function == "outside" and not value:
            item, count = map(index, node.args)
            return facts.also([item, minus(minus(count, ONE), item)])
        alternatives = conditions(self.definitions, condition, value)
        if len(alternatives) > 1:
            alternatives = tuple(forms for forms in alternatives if not facts._refutes(forms))
        return facts.also(alternatives[0]) if len(alternatives) == 1 else facts

    def within(self, loop: For) -> Facts:
        """The facts in an iteration of a loop."""
        own = index(loop.index)
        lower = [minus(own, form) for form in loop.lower]
        return self.also([*lower, *(combined(form, 1, plus(own, ONE), -1) for form in loop.upper)])

    # -- asking

    def proves(self, form: Index) -> bool:
        """Does it follow that the form is not negative?"""
        return self.never or self._proves(self.definitions.expand(form), [_MOST_STEPS])

    def decides(self, condition: str) -> bool | None:
        """The value of a truth register where it follows."""
        condition = self.definitions.same.get(condition, condition)
        if condition in self.known:
            return self.known[condition]
        node = self.definitions.of.get(condition)
        match node:
            case Constant(kind=Kind.BOOL, bits=bits):
                return bool(bits)
            case Apply(function="not"):
                value = self.decides(node.args[0])
                return None if value is None else not value
            case Apply(function="and" | "or" | "nand" | "nor" as logic, args=args):
                absorbing = logic in ("or", "nor")
                values = [self.decides(name) for name in args]
                outcome = absorbing if absorbing in values else None if None in values else not absorbing
                return outcome if outcome is None or logic in ("and", "or") else not outcome
        for value in (True, False):
            if any(all(map(self.proves, forms)) for forms in conditions(self.definitions, condition, value)):
                return value
        return None

    def _refutes(self, forms: tuple[Index, ...]) -> bool:
        return any(self.proves(plus(times(form, -1), Index((), -1))) for form in forms)

    def _about(self, register: str) -> tuple[Index, ...]:
        if register.endswith(_PRIME):
            return tuple(self._renamed(form) for form in self._about(register.removesuffix(_PRIME)))
        node = self.definitions.of.get(register)
        if isinstance(node, Apply) and node.function == "residue" and node.kind is Kind.I64:
            size, own = self.definitions.form(node.args[0]), Index(((register, 1),))
            last = plus(size, Index((), -1))
            return (own, minus(last, own)) if self.proves(last) else ()
        return self.definitions.bounds(register)

    def _innermost(self, form: Index) -> str:
        if len(form.terms) == 1:
            return form.terms[0][0]
        rank = self.definitions.rank
        if not self.inner:
            return max([name for name, _ in form.terms], key=rank.__getitem__)
        return max([name for name, _ in form.terms],
                   key=lambda name: (name.endswith(_PRIME), rank[name.removesuffix(_PRIME)]))  # fmt: skip

    def _proves(self, form: Index, left: list[int]) -> bool:
        form = tight(form)
        if not form.terms:
            return form.constant >= 0
        left[0] -= 1
        if left[0] < 0:
            return False
        register = self._innermost(form)
        own = coefficient(form, register)
        for fact in (*self.by.get(register, ()), *self._about(register)):
            c = coefficient(fact, register)
            if c * own > 0 and self._proves(combined(form, abs(c), fact, -abs(own)), left):
                return True
        alternatives = self.definitions.alternatives(register.removesuffix(_PRIME))
        if register.endswith(_PRIME):
            alternatives = tuple((self._renamed(value), None, True) for value, _, _ in alternatives)
        for value, condition, truth in alternatives:
            facts = self.assuming(condition, truth)
            if not facts.never and not facts._proves(substitute(form, {register: value}), left):
                return False
        return bool(alternatives)

    # -- two iterations

    def _renamed(self, form: Index) -> Index:
        return index(*((name + _PRIME if name in self.inner else name, c) for name, c in form.terms), constant=form.constant)

    def beside(self, other: Facts, loop: For, inner: frozenset[str]) -> Facts:
        """These facts, of an iteration of the loop, and `other`, of a later one; `inner`: what an iteration defines, which is
        renamed (`later`) in the other."""
        both = Facts(self.definitions, self.known, self, never=other.never, inner=inner)
        theirs = [both._renamed(form) for form in other.assumed if any(name in inner for name, _ in form.terms)]
        distance = index(loop.index + _PRIME, (loop.index, -1), constant=-loop.step)
        return both.also([distance, *theirs])

    def differs(self, form: Index) -> bool:
        """Does it follow that the form is not 0?"""
        form = self.definitions.expand(form)
        divisor = gcd(*[c for _, c in form.terms])
        if divisor > 1 and form.constant % divisor:
            return True
        return self.proves(plus(form, Index((), -1))) or self.proves(minus(Index((), -1), form))

    def later(self, form: Index) -> Index:
        """A form of the later iteration of `beside`."""
        return self._renamed(self.definitions.expand(form))


def facts_of(program: Program, definitions: Definitions | None = None) -> Facts:
    """What holds before a program's first statement."""
    lengths = [length for view in program.views for length in view.shape]
    return Facts(definitions or Definitions(program)).also([*program.facts, *lengths])



def everywhere(body: tuple[Statement, ...], facts: Facts) -> Iterator[tuple[Statement, Facts]]:
    """Every statement of a block, outer ones first, with what holds before it (not yet that its own mask is true)."""
    for statement in body:
        yield statement, facts
        match statement:
            case Fail():
                facts = facts.assuming(statement.condition, False)
            case If():
                yield from everywhere(statement.then, facts.assuming(statement.condition))
                yield from everywhere(statement.otherwise, facts.assuming(statement.condition, False))
            case For():
                yield from everywhere(statement.body, facts.within(statement))
