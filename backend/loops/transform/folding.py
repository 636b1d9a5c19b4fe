"""Folding: what follows from the bounds of loops, from conditions and from facts is not computed.

  * Indices are affine in parameters, loop indices and registers that are not affine; affine `Apply`s are `Number`s.
  * A comparison, mask or branch that is always true or always false disappears; so do `min`, `max`, `select` and `residue` with a
    known outcome, copies, and what joins a value with the identity of a reduction, which changes no bit of it.
  * A bound that another bound makes needless is left out; a loop that has no iteration is its initial values.

Neighbours: `affine` (proofs), `splitting` (makes more of this possible).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ....typechecker.elements import Kind
from ....typechecker.scalars import neutral
from ...kernels.build import bits_of
from ...scalar.table import REDUCTIONS
from ..affine import Facts, facts_of
from ..definitions import Definitions
from ..forms import minus, substitute
from ..ir import (
    ONE,
    Apply,
    Call,
    Carried,
    Constant,
    Fail,
    For,
    If,
    Index,
    Load,
    Number,
    Program,
    Statement,
    Store,
    index,
    plus,
    times,
)
from .rewriting import rebuilt


def run(program: Program) -> Program:
    """Leave out what is known."""
    folding = _Folding(program)
    body = folding.block(program.body, facts_of(program, folding.definitions))
    return program if body == program.body else replace(program, body=body)


class _Folding:
    def __init__(self, program: Program) -> None:
        self.definitions = Definitions(program)
        self.kinds = {view.name: view.kind for view in program.views}
        self.same = self.definitions.same
        self.joins: set[str] = set()
        """Registers that reductions yield: they stay what Note [Loops] of `ir` wants."""

    def use(self, name: str) -> str:
        while name in self.same:  # what it is may itself have turned out to be another, in a further pass over a loop
            name = self.same[name]
        return name

    def form(self, form: Index) -> Index:
        expanded = self.definitions.expand(form)
        renamed = {name: index(self.use(name)) for name, _ in expanded.terms if name in self.same}
        return self.definitions.expand(substitute(expanded, renamed)) if renamed else expanded

    def block(self, body: tuple[Statement, ...], facts: Facts) -> tuple[Statement, ...]:
        """A block where `facts` hold; what is known of a check that did not fail holds for what follows it."""
        kept: list[Statement] = []
        for statement in body:
            match statement:
                case Apply():
                    kept += self.apply(statement, facts)
                case Number(name, form):
                    kept += self.number(name, self.form(form))
                case Load() | Store():
                    kept += self.access(statement, facts)
                case Fail(_, condition, _):
                    if facts.decides(condition) is not False:
                        kept.append(self.plainly(statement))
                    facts = facts.assuming(condition, False)
                case For():
                    kept += self.loop(statement, facts)
                case If():
                    kept += self.branch(statement, facts)
                case Call():
                    kept.append(self.plainly(statement))
                case _:
                    kept.append(statement)
        return tuple(kept)

    def plainly(self, statement: Statement) -> Statement:
        return rebuilt(statement, self.use, self.form, lambda body: body)

    # ------------------------------------------------------------------------------------------ scalars

    def number(self, name: str, form: Index) -> list[Statement]:
        if len(form.terms) == 1 and form.terms[0][1] == 1 and not form.constant:
            self.definitions.learn(name, form.terms[0][0])
            return []
        return [Number(name, form)]

    def constant(self, name: str, kind: Kind, bits: int) -> list[Statement]:
        constant = Constant(name, kind, bits)
        self.definitions.add((constant,))
        return [constant]

    def apply(self, node: Apply, facts: Facts) -> list[Statement]:
        if node.name in self.joins:
            return [self.plainly(node)]
        affine = self.definitions.forms.get(node.name)
        if affine is not None:
            return self.number(node.name, self.form(affine))
        if node.kind is Kind.BOOL and node.compute in (Kind.I64, Kind.BOOL):
            value = facts.decides(node.name)
            if value is not None:
                return self.constant(node.name, Kind.BOOL, int(value))
        chosen = self.chosen(node, facts)
        if chosen is not None:
            self.definitions.learn(node.name, chosen)
            return []
        if node.function == "residue" and node.kind is Kind.I64:
            size, place = map(self.definitions.form, node.args)
            for turns in (0, 1, -1):
                shifted = plus(place, times(size, turns))
                if facts.proves(shifted) and facts.proves(minus(minus(size, shifted), ONE)):
                    self.definitions.forms[node.name] = self.definitions.expand(shifted)
                    return self.number(node.name, self.form(shifted))
        return [self.plainly(node)]

    def chosen(self, node: Apply, facts: Facts) -> str | None:
        """The operand that an application is, where that is known."""
        args = node.args
        match node.function:
            case "select":
                value = facts.decides(args[0])
                if value is not None:
                    return args[1] if value else args[2]
                return args[1] if self.use(args[1]) == self.use(args[2]) else None
            case "min" | "max" if node.kind is Kind.I64:
                difference = minus(*map(self.definitions.form, args))
                for left, sign in ((False, 1), (True, -1)):
                    if facts.proves(times(difference, sign)):
                        return args[0] if (node.function == "min") is left else args[1]
            case "and" | "or":
                for own, other in (args, args[::-1]):
                    if facts.decides(own) is (node.function == "and") or self.use(own) == self.use(other):
                        return other
            case "convert" if node.kind is node.compute:
                return args[0]
            case function if function in REDUCTIONS:
                nothing = bits_of(node.compute, neutral(function, node.compute))
                for own, other in (args, args[::-1]):
                    if self.definitions.of.get(self.use(own)) == Constant(self.use(own), node.compute, nothing):
                        return other
        return None

    def access(self, node: Load | Store, facts: Facts) -> list[Statement]:
        present = True if node.mask is None else facts.decides(node.mask)
        if present is False:
            return self.constant(node.name, self.kinds[node.view], 0) if isinstance(node, Load) else []
        return [self.plainly(replace(node, mask=None) if present else node)]

    # ------------------------------------------------------------------------------------------ blocks

    def branch(self, node: If, facts: Facts) -> list[Statement]:
        value = facts.decides(node.condition)
        if value is not None:
            kept = self.block(node.then if value else node.otherwise, facts)
            for chosen in node.results:
                self.definitions.learn(chosen.name, chosen.then if value else chosen.otherwise)
            return list(kept)
        then = self.block(node.then, facts.assuming(node.condition))
        otherwise = self.block(node.otherwise, facts.assuming(node.condition, False))
        results = []
        for chosen in node.results:
            arms = self.use(chosen.then), self.use(chosen.otherwise)
            if arms[0] == arms[1]:
                self.definitions.learn(chosen.name, arms[0])
            else:
                results.append(replace(chosen, then=arms[0], otherwise=arms[1]))
        return [If(self.use(node.condition), then, otherwise, tuple(results))]

    def still(self, carried: tuple[Carried, ...]) -> tuple[Carried, ...]:
        """The carried values that never change."""
        return tuple(c for c in carried if self.use(c.yielded) in (c.inside, self.use(c.initial)))

    def loop(self, loop: For, facts: Facts) -> list[Statement]:
        lower, upper = tuple(map(self.form, loop.lower)), tuple(map(self.form, loop.upper))
        if any(facts.proves(minus(low, high)) for low in lower for high in upper):
            for carried in loop.carried:
                self.definitions.learn(carried.result, carried.initial)
            return []
        lower = _needed(lower, lambda low, other: facts.proves(minus(other, low)))
        upper = _needed(upper, lambda high, other: facts.proves(minus(high, other)))
        self.joins.update(c.yielded for c in loop.carried if c.reduction is not None)
        changing, still = loop.carried, self.still(loop.carried)
        while True:
            for same in still:
                self.definitions.learn(same.inside, same.initial)
                self.definitions.learn(same.result, same.initial)
            changing = tuple(c for c in changing if c not in still)
            body = self.block(loop.body, facts.within(loop))
            still = self.still(changing)
            if not still:
                break
        values = tuple(replace(c, initial=self.use(c.initial), yielded=self.use(c.yielded)) for c in changing)
        until = None if loop.until is None else self.use(loop.until)
        return [For(loop.index, lower, upper, loop.kind, body, values, until, loop.step)]


def _needed(bounds: tuple[Index, ...], is_implied: Callable[[Index, Index], bool]) -> tuple[Index, ...]:
    """The bounds that no other makes needless."""
    kept = list(dict.fromkeys(bounds))
    for bound in tuple(kept):
        if any(other is not bound and is_implied(bound, other) for other in kept):
            kept.remove(bound)
    return tuple(kept)
