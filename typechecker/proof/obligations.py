"""Obligations: facts about sizes that a program needs, as data with their provenance.

The elaborator emits them; `typechecker.proof.prover` answers what the normal form and numbers can
answer.  What is left becomes a load-time guard of the script (W201) or, in an annotated
definition, an error.  The full solver plugs in behind `decide` without a change here.
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
    """By what every fact that a body needs was proved for all sizes."""

    NONE = "it was not"
    RULES = "normal forms, bounds and premises"
    SOLVER = "a solver too"


@dataclass(frozen=True, slots=True)
class SizeFact:
    """`left relation right`; `DIVIDES`: left divides right; `POWER`: right is a power of left.  ≥ and > are stored swapped."""

    relation: Relation
    left: Size
    right: Size

    def holds(self, sizes: Mapping[SizeVariable, int]) -> bool:
        """Evaluate the fact on concrete sizes."""
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
        """Does it mention a size that only a run finds?"""
        return self.left.is_runtime() or self.right.is_runtime()

    def __str__(self) -> str:
        if self.relation is Relation.POWER:
            return f"{self.right} = {self.left}*p"
        return f"{self.left} {self.relation.value} {self.right}"

    def describe_failure(self, sizes: Mapping[SizeVariable, int]) -> str:
        """That it does not hold for these sizes, with the numbers of its sides where they say more than the sizes do."""
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
    """A fact with the code of its origin, where it was needed, and what to say."""

    fact: SizeFact
    code: Code
    span: Span
    message: str
    labels: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()
