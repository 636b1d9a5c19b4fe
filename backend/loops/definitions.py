"""What registers are, from one walk over a program.

Note [Numbers].  Sizes and loop indices are below 2**52 in magnitude, so additions and small multiples of them are exact in i64:
an `Apply` of `add`, `sub`, `neg` or `mul` on them is an affine form, as a `Number` is.  Arithmetic on data may wrap, and is
opaque.

Neighbours: `forms`, `affine` (what follows).
"""

from __future__ import annotations

from typing import Final

from ...typechecker.elements import Kind
from .forms import minus, substitute
from .ir import ONE, Apply, Constant, For, If, Index, Load, Number, Program, Statement, plus, times, walk

_MOST_COEFFICIENTS: Final = 1 << 10
_COMPARED: Final = ("lt", "le", "eq", "ge", "gt", "ne")


class Definitions:
    """What registers are, from one walk over a program: `rank` orders them by definition, `forms` gives affine ones in terms of
    parameters, loop indices and registers that are not affine (their own form), `of` the statement that defines one, `same` the
    registers that are others (`learn`)."""

    def __init__(self, program: Program) -> None:
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
            case Apply(function="shr", kind=Kind.I64, args=(_, value)) if not self.form(value).terms:
                constant = self.form(value).constant
                return (own, minus(Index((), constant), own)) if constant >= 0 else ()
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
