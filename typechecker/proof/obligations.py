"""Obligations: facts about sizes that a program needs, with their provenance.

The elaborator emits them and `typechecker.proof.prover` proves or refutes them.  One that stays open becomes a guard checked at
load (W201) or, in an annotated definition, an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from ...lang.diagnostics.model import Code, Fix, Label
from ...lang.support.records import dataclass
from ...lang.syntax.source import Span
from ..sizes.polynomials import Size, SizeVariable, variable


class Relation(Enum):
    EQUAL = "="
    NOT_EQUAL = "≠"
    AT_MOST = "≤"
    LESS = "<"
    DIVIDES = "∣"
    POWER = "*"


class Proof(Enum):
    """The method by which all facts that a body needs were proved for all sizes."""

    NONE = "they were not"
    RULES = "by normal forms, bounds and premises"
    SOLVER = "also by the solver"


@dataclass(frozen=True, slots=True)
class SizeFact:
    """`left relation right`.  `DIVIDES`: left divides right; `POWER`: right is a power of left; ≥ and > are stored with sides
    swapped."""

    relation: Relation
    left: Size
    right: Size

    def holds(self, sizes: Mapping[SizeVariable, int]) -> bool:
        """Evaluate the fact for concrete sizes."""
        left, right = self.left.evaluate(sizes), self.right.evaluate(sizes)
        match self.relation:
            case Relation.EQUAL:
                return left == right
            case Relation.NOT_EQUAL:
                return left != right
            case Relation.AT_MOST:
                return left <= right
            case Relation.LESS:
                return left < right
            case Relation.DIVIDES:
                return right == 0 if left == 0 else right % left == 0
            case Relation.POWER:
                while left > 1 and right > 1 and right % left == 0:
                    right //= left
                return right == 1 or (left == right == 0)

    def is_runtime(self) -> bool:
        """Does a runtime size occur in it?"""
        return self.left.is_runtime() or self.right.is_runtime()

    def __str__(self) -> str:
        if self.relation is Relation.POWER:
            return f"{self.right} = {self.left}*p"
        return f"{self.left} {self.relation.value} {self.right}"

    def describe_failure(self, sizes: Mapping[SizeVariable, int]) -> str:
        """The reason why it does not hold for these sizes, with the values of its sides unless they are plain names."""
        mentioned = sorted(self.left.variables() | self.right.variables(), key=lambda v: v.key)
        shown = ", ".join(f"{v.name}={sizes[v]}" for v in mentioned)
        numbers = [
            f"the {side} is {str(size.evaluate(sizes)).replace('-', '¯')}"
            for side, size in (("left", self.left), ("right", self.right))
            if size.constant is None and not (len(mentioned) and any(size == variable(v) for v in mentioned))
        ]
        message = f"{self} does not hold" + (f" with {shown}" if shown else "")
        return f"{message}: {', '.join(numbers)}" if numbers else message


@dataclass(frozen=True, slots=True)
class Obligation:
    """A fact with the span that needs it and the diagnostic (code, message, labels, notes, fixes) if it fails.

    `mistake_fixes` are fixes for a likely slip, where no data can have that size; they precede the fix by `where`.
    """

    fact: SizeFact
    code: Code
    span: Span
    message: str
    labels: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()
    mistake_fixes: tuple[Fix, ...] = ()
