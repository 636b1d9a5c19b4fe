"""Definitions and affine facts of the registers of a loop program, and proofs from them.

Note [Numbers].  Sizes and loop indices are below 2**52 in magnitude, so additions and small multiples of them are exact in i64:
an `Apply` of `add`, `sub`, `neg` or `mul` on them is an affine form, as a `Number` is.  Arithmetic on data may wrap, and is
opaque.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import gcd, prod
from typing import Any, Final, TypeAlias

import numpy as np

from ...lang.support.records import dataclass
from ...typechecker.elements import ArrayType, Kind
from ...typechecker.sizes.polynomials import Size
from ...typechecker.sizes.size import capacity
from ..graph import traverse
from ..graph.phases import ApplyNode, Fold, Loop, Map, Phase as AnyPhase, Structured, ValueId
from ..scalar.function_table import TRANSCENDENTAL
from .ir import (
    ONE,
    Apply,
    ConstantStatement,
    Fail,
    For,
    If,
    Index,
    IndexStatement,
    Load,
    LoopProgram,
    Statement,
    coefficient,
    combined,
    index,
    minus,
    plus,
    substitute,
    tight,
    times,
    walk,
)

# ---------------------------------------------------------------------------------------------------- definitions

_MOST_COEFFICIENTS: Final = 1 << 10
_COMPARED: Final = ("lt", "le", "eq", "ge", "gt", "ne")


class Definitions:
    """What registers are, from one walk over a program: `rank` orders them by definition, `forms` gives affine ones in terms of
    parameters, loop indices and registers that are not affine (their own form), `of` the statement that defines one, `same` the
    registers that are others (`learn`)."""

    def __init__(self, program: LoopProgram) -> None:
        self.rank: dict[str, int] = {}
        self._count = 0
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
        loops: list[For] = []
        for statement in walk(body):
            self._add(statement)
            if isinstance(statement, For) and statement.carried:
                loops.append(statement)
        for loop in loops:
            self._alternate(loop)

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
            case ConstantStatement() | IndexStatement() | Apply() | Load():
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

    def alternates(self, register: str) -> bool:
        """Is it a carried number that is i, s - i, i, …?"""
        return register in self._turns

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
        self._count += 1
        self.rank[name] = self._count

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
            case ConstantStatement(kind=Kind.I64, bits=bits):
                return Index((), bits)
            case IndexStatement(index=form):
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
        itself = Index(((register, 1),))
        if register in self._turns:
            low, high = self._turns[register]
            return plus(itself, Index((), -low)), minus(Index((), high), itself)
        match self.of.get(register):
            case Apply(function="max", kind=Kind.I64) as node:
                return tuple(minus(itself, self.form(name)) for name in node.args)
            case Apply(function="min", kind=Kind.I64) as node:
                return tuple(minus(self.form(name), itself) for name in node.args)
            case Apply(function="shr", kind=Kind.I64, args=(_, value)) if not self.form(value).terms:
                constant = self.form(value).constant
                return (itself, minus(Index((), constant), itself)) if constant >= 0 else ()
            case Apply(function="convert" | "convert_checked", compute=Kind.BOOL):
                return itself, minus(ONE, itself)
            case Apply(function="convert" | "convert_checked", compute=Kind.U8):
                return itself, minus(Index((), 255), itself)
        return ()

    def compared(self, register: str) -> tuple[str, Index] | None:
        """A comparison of whole numbers: its function, and its left operand minus its right."""
        match self.of.get(register):
            case Apply(compute=Kind.I64) as node if node.function in _COMPARED:
                return node.function, minus(self.form(node.args[0]), self.form(node.args[1]))
        return None


# ---------------------------------------------------------------------------------------------- affine facts
#
# What is known of the numbers of a loop program, and what follows from it.
#
# Facts are affine forms that are not negative.  `Facts.proves(form)` eliminates registers, the innermost first: a register with a
# positive coefficient is replaced by a lower bound, one with a negative coefficient by an upper bound.  This is exact for bounds
# of loops (the greatest of affine forms, the least of others); a fact of several inner registers is also joined with the facts
# that bound its innermost register from the other side (Fourier and Motzkin), so that what holds in a body because it is entered
# at all is known there.

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
            multiple = coefficient(form, register)
            for other in (*present, *self._about(register)):
                c = coefficient(other, register)
                if c * multiple < 0:
                    waiting.append(tight(combined(form, abs(c), other, abs(multiple))))
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
        counter = index(loop.index)
        lower = [minus(counter, form) for form in loop.lower]
        return self.also([*lower, *(combined(form, 1, plus(counter, ONE), -1) for form in loop.upper)])

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
            case ConstantStatement(kind=Kind.BOOL, bits=bits):
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
            size, remainder = self.definitions.form(node.args[0]), Index(((register, 1),))
            last = plus(size, Index((), -1))
            return (remainder, minus(last, remainder)) if self.proves(last) else ()
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
        multiple = coefficient(form, register)
        for fact in (*self.by.get(register, ()), *self._about(register)):
            c = coefficient(fact, register)
            if c * multiple > 0 and self._proves(combined(form, abs(c), fact, -abs(multiple)), left):
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

    def across_iterations(self, other: Facts, loop: For, inner: frozenset[str]) -> Facts:
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
        """A form of the later iteration of `across_iterations`."""
        return self._renamed(self.definitions.expand(form))


def facts_of(program: LoopProgram, definitions: Definitions | None = None) -> Facts:
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


# ------------------------------------------------------------------------------------------ cost of an iteration
#
# How much an iteration of a loop, fold, scan or map does, and whether it is one for machine code.
#
# Estimates take sizes that a run finds at their caps.

Phase: TypeAlias = Loop | Fold | Map
Types: TypeAlias = Mapping[ValueId, ArrayType]
_PHASE_NANOSECONDS: Final = 4_000.0
"""What a phase of a body costs by Python in each iteration, roughly."""
_FUNCTION_NANOSECONDS: Final = 1.0
"""What a scalar function costs there at each point."""
_HARD: Final = 6
"""Plain functions that take as long as a transcendental one."""
_MOST_POINTS: Final = 20_000_000
"""Points of the phases of an iteration, loops inside apart, that is no region: large phases have all threads."""
_POINTS_A_PHASE: Final = 1 << 16
"""The same for each phase of an iteration with routines, whose phases have all threads, and chains along rows."""
_COPIED: Final = 8
"""Points of phases on all threads that make up for an item of state that is copied."""


@dataclass(frozen=True, slots=True)
class Iteration:
    """Estimates of one: its phases, the points of all their nests and of those outside the loops in it, the items of these loops'
    states, and the scalar functions that are done there."""

    phases: int
    points: int
    outside_loops: int
    state: int
    functions: int

    @property
    def by_phases(self) -> float:
        """Nanoseconds by Python, roughly."""
        return _PHASE_NANOSECONDS * self.phases + _FUNCTION_NANOSECONDS * self.functions

    def is_for_region(self, *, calls: bool, in_tiles: Callable[[], bool]) -> bool:
        """Is it better as machine code than with all threads for each phase?  Loops inside have one thread anyway, and by
        themselves they would copy their state each time.  `calls`: are some of its phases routines?  `in_tiles`: do threads share
        its rows?"""
        most = _POINTS_A_PHASE * self.phases if calls else _MOST_POINTS
        return self.outside_loops <= most + _COPIED * self.state or (not calls and in_tiles())


def iteration_of(phase: Phase, types: Types) -> Iteration:
    body = [p for graph in traverse.subgraphs(phase) for p in graph.phases]
    outside = 1 + sum(_points_of(p, types, _once) for p in body if not isinstance(p, Phase))
    states = sum(prod(map(_most, types[value].shape)) for p in body if isinstance(p, Loop) for value in p.initial)
    return Iteration(_phases(phase), _points(phase, types, _once), outside, states, _points(phase, types, _functions))


def points_inside(phase: Phase, types: Types) -> tuple[int, int]:
    """How many iterations a loop has at most, and the points of one."""
    return _trips(phase, types), _points(phase, types, _once)


def trips_of(phase: Phase, memory: Mapping[ValueId, Any], number: Callable[[Size], int]) -> int:
    match phase:
        case Loop():
            return number(phase.trip)
        case Map():
            frame = [number(size) for size in phase.frame]
            return int(np.prod(frame)) if all(frame) else 0
        case Fold():
            return int(np.asarray(memory[phase.args[0]]).shape[0])


def _phases(phase: Phase) -> int:
    return sum(1 for graph in traverse.subgraphs(phase) for _ in traverse.all_phases(graph))


def _points(phase: Phase, types: Types, weight: Callable[[AnyPhase], int]) -> int:
    """Points of all nests of an iteration, each so many times, roughly."""
    return 1 + sum(_points_of(inner, types, weight) for graph in traverse.subgraphs(phase) for inner in graph.phases)


def _trips(phase: Phase, types: Types) -> int:
    match phase:
        case Loop():
            return _most(phase.trip)
        case Fold():
            return _most(types[phase.args[0]].shape[0])
        case Map():
            return prod(map(_most, phase.frame))


def _points_of(phase: AnyPhase, types: Types, weight: Callable[[AnyPhase], int]) -> int:
    match phase:
        case Structured():
            return prod(_most(axis.size) for axis in phase.axes) * weight(phase)
        case Loop() | Fold() | Map():
            return _trips(phase, types) * _points(phase, types, weight)
        case _:
            sizes = [prod(map(_most, types[value].shape)) for value in traverse.results(phase)]
            inner = sum(_points_of(p, types, weight) for graph in traverse.subgraphs(phase) for p in graph.phases)
            return max(sizes, default=0) * weight(phase) + inner


def _once(phase: AnyPhase) -> int:
    return 1


def _functions(phase: AnyPhase) -> int:
    """Scalar functions at a point; those that are many operations count so often."""
    if not isinstance(phase, Structured):
        return 1
    return sum(_HARD if node.function in TRANSCENDENTAL else 1 for node in phase.body if isinstance(node, ApplyNode))


def _most(size: Size) -> int:
    number = capacity(size).constant
    return 1 if number is None else max(0, number)
