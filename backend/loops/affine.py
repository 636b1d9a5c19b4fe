"""What is known of the numbers of a loop program, and what follows from it.

Facts are affine forms that are not negative.  `Facts.proves(form)` eliminates registers, the innermost first: a register with a
positive coefficient is replaced by a lower bound, one with a negative coefficient by an upper bound.  This is exact for bounds of
loops (the greatest of affine forms, the least of others); a fact of several inner registers is also joined with the facts that
bound its innermost register from the other side (Fourier and Motzkin), so that what holds in a body because it is entered at all
is known there.

Note [Numbers].  Sizes and loop indices are below 2**52 in magnitude, so additions and small multiples of them are exact in i64:
an `Apply` of `add`, `sub`, `neg` or `mul` on them is an affine form, as a `Number` is.  Arithmetic on data may wrap, and is
opaque.

Neighbours: `check` (indices stay in views, iterations are independent), `transform` (conditions, bounds, legality).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import gcd
from typing import Final, TypeAlias

from ...lang.records import dataclass
from ...typechecker.elements import Kind
from .ir import ONE, Apply, Constant, Fail, For, If, Index, Load, Number, Program, Statement, index, plus, times, walk

_MOST_COEFFICIENTS: Final = 1 << 10
_MOST_FACTS: Final = 16
_MOST_STEPS: Final = 600
_PRIME: Final = "′"
_COMPARED: Final = ("lt", "le", "eq", "ge", "gt", "ne")

Condition: TypeAlias = tuple[tuple[Index, ...], ...]


def minus(left: Index, right: Index) -> Index:
    return plus(left, times(right, -1))


def coefficient(form: Index, register: str) -> int:
    for name, c in form.terms:
        if name == register:
            return c
    return 0


def substitute(form: Index, values: dict[str, Index]) -> Index:
    """The form with registers replaced by forms."""
    for name, _ in form.terms:
        if name in values:
            break
    else:
        return form
    total = Index((), form.constant)
    for name, c in form.terms:
        total = plus(total, times(values[name], c) if name in values else Index(((name, c),)))
    return total


class Definitions:
    """What registers are, from one walk over a program: `rank` orders them by definition, `forms` gives affine ones in terms of
    parameters, loop indices and registers that are not affine (their own form), `of` the statement that defines one, `same` the
    registers that are others (`learn`)."""

    def __init__(self, program: Program) -> None:
        self.rank: dict[str, int] = {}
        self.forms: dict[str, Index] = {}
        self.of: dict[str, Statement] = {}
        self.same: dict[str, str] = {}
        self._bounded = set(program.parameters)
        self._kinds = {view.name: view.kind for view in program.views}
        for name in program.parameters:
            self._place(name)
        self._turns: dict[str, tuple[int, int]] = {}
        self.add(program.body)

    def add(self, body: tuple[Statement, ...]) -> None:
        """Further statements, which use what is known already."""
        for statement in walk(body):
            self._add(statement)
        for statement in walk(body):
            if isinstance(statement, For):
                self._alternate(statement)

    def _add(self, statement: Statement) -> None:
        match statement:
            case For():
                self._place(statement.index)
                self._bounded.add(statement.index)
                for carried in statement.carried:
                    self._place(carried.inside)
                    self._place(carried.result)
            case If():
                for chosen in statement.results:
                    self._place(chosen.name)
            case Constant() | Number() | Apply() | Load():
                self._place(statement.name)
                self.of[statement.name] = statement
                form = self._form(statement)
                if form is not None:
                    self.forms[statement.name] = form

    def _alternate(self, loop: For) -> None:
        """Carried numbers that alternate: i, s - i, i, …, of which i has constant bounds."""
        for carried in loop.carried:
            following = self.form(carried.yielded)
            ends = self._ends(carried.initial) if following.terms == ((carried.inside, -1),) else None
            if ends is not None:
                low, high = min(ends[0], following.constant - ends[1]), max(ends[1], following.constant - ends[0])
                self._turns[carried.inside] = self._turns[carried.result] = low, high

    def _ends(self, register: str) -> tuple[int, int] | None:
        """Constant bounds of a register that its definition shows."""
        form = self.form(register)
        if not form.terms:
            return form.constant, form.constant
        match self.of.get(register):
            case Apply(function="residue", kind=Kind.I64, args=(size, _)) if not self.form(size).terms:
                return (0, self.form(size).constant - 1) if self.form(size).constant > 0 else None
        return self._turns.get(register)

    def _place(self, name: str) -> None:
        self.rank[name] = len(self.rank)

    def learn(self, register: str, other: str) -> None:
        """A register turns out to be another one."""
        self.same[register] = other = self.same.get(other, other)
        self.forms[register] = self.form(other)

    def form(self, register: str) -> Index:
        return self.forms.get(register) or Index(((register, 1),))

    def expand(self, form: Index) -> Index:
        """The form in terms of registers that are not affine in others."""
        return substitute(form, self.forms)

    def _form(self, statement: Statement) -> Index | None:
        match statement:
            case Constant(kind=Kind.I64, bits=bits):
                return Index((), bits)
            case Number(index=form):
                return self.expand(form)
            case Apply(kind=Kind.I64, compute=Kind.I64):
                return self._sum(statement)
        return None

    def _sum(self, node: Apply) -> Index | None:
        forms = [self.form(name) for name in node.args]
        if any(name not in self._bounded for form in forms for name, _ in form.terms):
            return None
        match node.function, forms:
            case "add", [left, right]:
                total = plus(left, right)
            case "sub", [left, right]:
                total = minus(left, right)
            case "neg", [only]:
                total = times(only, -1)
            case "mul", [left, right] if not right.terms:
                total = times(left, right.constant)
            case "mul", [left, right] if not left.terms:
                total = times(right, left.constant)
            case "convert", [only]:
                total = only
            case "min" | "max", [_, _]:
                self._bounded.add(node.name)
                return None
            case _:
                return None
        exact = sum(abs(c) for _, c in total.terms) <= _MOST_COEFFICIENTS and abs(total.constant) < 1 << 52
        return total if exact else None

    # -- what a register that is not affine may be

    def alternatives(self, register: str) -> tuple[tuple[Index, str | None, bool], ...]:
        """Forms of which an opaque register is one, each with the condition that has that value then."""
        match self.of.get(register):
            case Apply(function="min" | "max", kind=Kind.I64) as node:
                return tuple((self.form(name), None, True) for name in node.args)
            case Apply(function="select", kind=Kind.I64) as node:
                condition, then, otherwise = node.args
                return (self.form(then), condition, True), (self.form(otherwise), condition, False)
        return ()

    def bounds(self, register: str) -> tuple[Index, ...]:
        """Facts of an opaque register that its definition says."""
        own = Index(((register, 1),))
        if register in self._turns:
            low, high = self._turns[register]
            return plus(own, Index((), -low)), minus(Index((), high), own)
        match self.of.get(register):
            case Apply(function="max", kind=Kind.I64) as node:
                return tuple(minus(own, self.form(name)) for name in node.args)
            case Apply(function="min", kind=Kind.I64) as node:
                return tuple(minus(self.form(name), own) for name in node.args)
            case Apply(function="convert" | "convert_checked", compute=Kind.BOOL):
                return own, minus(ONE, own)
            case Apply(function="convert" | "convert_checked", compute=Kind.U8):
                return own, minus(Index((), 255), own)
        return ()

    def compared(self, register: str) -> tuple[str, Index] | None:
        """A comparison of whole numbers: its function, and its left operand minus its right."""
        match self.of.get(register):
            case Apply(compute=Kind.I64) as node if node.function in _COMPARED:
                return node.function, minus(self.form(node.args[0]), self.form(node.args[1]))
        return None


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


_OPPOSITE: Final = {"lt": "ge", "le": "gt", "eq": "ne", "ge": "lt", "gt": "le", "ne": "eq"}


@dataclass(frozen=True, slots=True)
class Facts:
    """What holds at a place of a program.  `by`: facts by their innermost register; `known`: truth values of registers;
    `assumed`: the facts as they were added, in order; `never`: the place is never reached."""

    definitions: Definitions
    by: dict[str, tuple[Index, ...]]
    known: dict[str, bool]
    assumed: tuple[Index, ...] = ()
    never: bool = False
    inner: frozenset[str] = frozenset()

    # -- adding

    def also(self, forms: Iterable[Index]) -> Facts:
        """The facts, and that these forms are not negative."""
        by, added, never = dict(self.by), list[Index](), self.never
        waiting = [_tight(self.definitions.expand(form)) for form in forms]
        while waiting:
            form = waiting.pop()
            if not form.terms:
                never = never or form.constant < 0
                continue
            register = self._innermost(form)
            present = by.get(register, ())
            if form in present or len(present) >= _MOST_FACTS:
                continue
            own = coefficient(form, register)
            for other in (*present, *self._about(register)):
                c = coefficient(other, register)
                if c * own < 0:
                    waiting.append(_tight(plus(times(form, abs(c)), times(other, abs(own)))))
            by[register] = (*present, form)
            added.append(form)
        return Facts(self.definitions, by, self.known, (*self.assumed, *added), never, self.inner)

    def assuming(self, condition: str | None, value: bool = True) -> Facts:
        """The facts where a register is true, or false."""
        if condition is None:
            return self
        condition = self.definitions.same.get(condition, condition)
        if condition in self.known:
            return self if self.known[condition] is value else replace(self, never=True)
        facts = replace(self, known={**self.known, condition: value})
        node = self.definitions.of.get(condition)
        if isinstance(node, Apply) and node.compute is Kind.BOOL:
            match node.function, value:
                case "not", _:
                    return facts.assuming(node.args[0], not value)
                case ("and", True) | ("nand", False):
                    return facts.assuming(node.args[0]).assuming(node.args[1])
                case ("or", False) | ("nor", True):
                    return facts.assuming(node.args[0], False).assuming(node.args[1], False)
        compared = self.definitions.compared(condition)
        if compared is not None:
            function, difference = compared
            alternatives = _holds(function if value else _OPPOSITE[function], difference)
            if len(alternatives) == 1:
                return facts.also(alternatives[0])
            left = [facts.also(forms) for forms in alternatives if not facts._refutes(forms)]
            if len(left) == 1:
                return left[0]
        return facts

    def within(self, loop: For) -> Facts:
        """The facts in an iteration of a loop."""
        own = index(loop.index)
        lower = [minus(own, form) for form in loop.lower]
        return self.also([*lower, *(plus(minus(form, own), Index((), -1)) for form in loop.upper)])

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
        compared = self.definitions.compared(condition)
        if compared is None:
            return None
        function, difference = compared
        for value, name in ((True, function), (False, _OPPOSITE[function])):
            if any(all(map(self.proves, forms)) for forms in _holds(name, difference)):
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
        form = _tight(form)
        if not form.terms:
            return form.constant >= 0
        left[0] -= 1
        if left[0] < 0:
            return False
        register = self._innermost(form)
        own = coefficient(form, register)
        for fact in (*self.by.get(register, ()), *self._about(register)):
            c = coefficient(fact, register)
            if c * own > 0 and self._proves(minus(times(form, abs(c)), times(fact, abs(own))), left):
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
        both = replace(self, inner=inner)
        theirs = [both._renamed(form) for form in other.assumed if any(name in inner for name, _ in form.terms)]
        distance = index(loop.index + _PRIME, (loop.index, -1), constant=-loop.step)
        return replace(both.also([distance, *theirs]), never=self.never or other.never)

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


def _tight(form: Index) -> Index:
    """The strongest form that says the same of whole numbers."""
    divisor = gcd(*[c for _, c in form.terms])
    if divisor <= 1:
        return form
    return Index(tuple((name, c // divisor) for name, c in form.terms), form.constant // divisor)


def facts_of(program: Program, definitions: Definitions | None = None) -> Facts:
    """What holds before a program's first statement."""
    lengths = [length for view in program.views for length in view.shape]
    return Facts(definitions or Definitions(program), {}, {}).also([*program.facts, *lengths])



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
