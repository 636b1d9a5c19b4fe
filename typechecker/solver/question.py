"""A fact and its premises as SMT-LIB text: the same text for the same question, whatever the sizes are called.

Sizes are α-normalised (`v0`, `v1`, … in order of first occurrence), so the text is also the key under which a verdict
is kept.  Opaque nodes are purified: for `p÷q` and `q|p` fresh whole numbers d and r with `p = q·d + r`, `0 ≤ r < q`;
for `⌈` and `⌊` one that is among its operands and bounds them.  The solver's own division never appears, and what the
fresh numbers are for a divisor that is not positive is what `Size.evaluate` gives, so a model is an example.

Neighbours: `verdicts` asks the question; `obligations`, `sizes` are what it is made from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..obligations import Relation, SizeFact
from ..sizes import Node, Opaque, Size, SizeVariable

LINEAR, NONLINEAR = "QF_LIA", "QF_NIA"


@dataclass(frozen=True, slots=True)
class Question:
    """Is `goal` true, false or neither where `premises` hold?  `sizes[i]` is what the texts call `v{i}`."""

    sizes: tuple[SizeVariable, ...]
    premises: str
    goal: str
    logic: str

    @property
    def key(self) -> str:
        """Everything the verdict depends on but the solver."""
        return f"{self.logic}\n{self.premises}\n{self.goal}"

    def counterexample(self) -> str:
        """Satisfiable exactly if the goal can be false."""
        return f"{self.premises}\n(assert (not {self.goal}))"

    def example(self) -> str:
        """Satisfiable exactly if the goal can be true."""
        return f"{self.premises}\n(assert {self.goal})"


def question(fact: SizeFact, premises: Sequence[SizeFact]) -> Question:
    """The question in its normal form; give only premises that matter."""
    writer = _Writer()
    goal = writer.fact(fact)
    known = [writer.fact(premise) for premise in premises]
    lines = [*writer.declarations, *writer.definitions, *known]
    asserted = [line if line.startswith("(declare") else f"(assert {line})" for line in lines]
    return Question(tuple(writer.sizes), "\n".join(asserted), goal, LINEAR if writer.linear else NONLINEAR)


class _Writer:
    """Names and definitions collected while writing."""

    def __init__(self) -> None:
        self.sizes: dict[SizeVariable, str] = {}
        self.declarations: list[str] = []
        self.definitions: list[str] = []
        self.linear = True
        self._divided: dict[tuple[str, str], tuple[str, str]] = {}
        self._extreme: dict[str, str] = {}

    def fact(self, fact: SizeFact) -> str:
        left, right = self.size(fact.left), self.size(fact.right)
        match fact.relation:
            case Relation.EQUAL:
                return f"(= {left} {right})"
            case Relation.NOT_EQUAL:
                return f"(not (= {left} {right}))"
            case Relation.AT_MOST:
                return f"(<= {left} {right})"
            case Relation.LESS:
                return f"(< {left} {right})"
            case Relation.DIVIDES:
                _, rest = self._division(fact.right, fact.left)  # the remainder by 0 is the number itself
                return f"(= {rest} 0)"
            case Relation.POWER:  # of a premise as much as is linear; nothing of the kind is asked
                return f"(>= {right} 1)"

    def size(self, size: Size) -> str:
        terms = [self._term(coefficient, monomial) for monomial, coefficient in size.terms]
        if not terms:
            return "0"
        return terms[0] if len(terms) == 1 else f"(+ {' '.join(terms)})"

    def _term(self, coefficient: int, monomial: Sequence[tuple[SizeVariable | Opaque, int]]) -> str:
        factors = [self._atom(atom) for atom, power in monomial for _ in range(power)]
        if len(factors) > 1:
            self.linear = False
        if coefficient != 1 or not factors:
            factors.insert(0, _integer(coefficient))
        return factors[0] if len(factors) == 1 else f"(* {' '.join(factors)})"

    def _atom(self, atom: SizeVariable | Opaque) -> str:
        if isinstance(atom, SizeVariable):
            return self._variable(atom)
        match atom.node:
            case Node.QUOTIENT:
                return self._division(atom.args[0], atom.args[1])[0]
            case Node.REMAINDER:
                return self._division(atom.args[0], atom.args[1])[1]
            case Node.MAXIMUM | Node.MINIMUM:
                return self._extremum(atom)

    def _variable(self, which: SizeVariable) -> str:
        known = self.sizes.get(which)
        if known is None:
            known = self.sizes[which] = f"v{len(self.sizes)}"
            self.declarations.append(f"(declare-const {known} Int)")
            self.definitions.append(f"(>= {known} {_integer(which.minimum)})")
            if which.cap is not None:
                self.definitions.append(f"(<= {known} {self.size(which.cap)})")
        return known

    def _fresh(self, letter: str, count: int) -> str:
        name = f"{letter}{count}"
        self.declarations.append(f"(declare-const {name} Int)")
        return name

    def _division(self, dividend: Size, divisor: Size) -> tuple[str, str]:
        """(quotient, remainder)."""
        key = (dividend.key, divisor.key)
        known = self._divided.get(key)
        if known is None:
            p, q = self.size(dividend), self.size(divisor)
            count = len(self._divided)
            known = self._divided[key] = whole, rest = self._fresh("d", count), self._fresh("r", count)
            low = divisor.bounds()[0]
            if divisor.constant is None:
                self.linear = False
            self.definitions.append(f"(= {p} (+ (* {q} {whole}) {rest}))")
            positive = f"(and (<= 0 {rest}) (< {rest} {q}))"
            if low is not None and low >= 1:
                self.definitions.append(positive)
            else:
                negative = f"(and (< {q} {rest}) (<= {rest} 0))"
                self.definitions.append(
                    f"(or (and (>= {q} 1) {positive}) (and (= {q} 0) (= {whole} 0)) (and (< {q} 0) {negative}))"
                )
        return known

    def _extremum(self, atom: Opaque) -> str:
        known = self._extreme.get(atom.key)
        if known is None:
            args = [self.size(a) for a in atom.args]
            known = self._extreme[atom.key] = self._fresh("m", len(self._extreme))
            relation = ">=" if atom.node is Node.MAXIMUM else "<="
            bounds = " ".join(f"({relation} {known} {a})" for a in args)
            reached = " ".join(f"(= {known} {a})" for a in args)
            self.definitions.append(f"(and {bounds} (or {reached}))")
        return known


def _integer(value: int) -> str:
    return str(value) if value >= 0 else f"(- {-value})"
