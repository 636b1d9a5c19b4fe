"""Grades as a signature could state them: `1`, `0..1`, `(2×n)+m`, `0⌈(n-1)`.

Sizes read right to left there, and mixed signs need parentheses, so every compound operand gets them.

Neighbours: `grades`, `contracts` and `describe` (which offer the text), `lang.type_expressions` (which reads it).
"""

from __future__ import annotations

from ..size_terms import Atom, Node, Size, SizeVariable
from ..sizes import number
from .grades import Grade


def written(grade: Grade) -> str:
    """The quantity that is exactly this grade (`ω` where it has no bound)."""
    if grade.high is None:
        return "ω"
    high = written_size(grade.high)
    return high if grade.is_exact else f"{written_size(grade.low)}..{high}"


def written_size(size: Size) -> str:
    """A size as it could stand in a signature."""
    if size.constant is not None:
        return str(size.constant)
    positive = [_term(Size({m: c})) for m, c in size.terms if c > 0]
    negative = [_term(Size({m: -c})) for m, c in size.terms if c < 0]
    if not positive:
        positive = ["0"]
    left, right = "+".join(positive), "+".join(negative)
    if not right:
        return left
    return f"{_wrapped(left)}-{_wrapped(right)}"


def _term(size: Size) -> str:
    ((monomial, coefficient),) = size.terms
    factors = [_atom(atom) for atom, power in monomial for _ in range(power)]
    if coefficient != 1 or not factors:
        factors.insert(0, str(coefficient))
    text = "×".join(factors)
    return text if len(factors) == 1 else f"({text})"


def _atom(atom: Atom) -> str:
    if isinstance(atom, SizeVariable):
        return atom.name
    args = [_wrapped(written_size(arg)) for arg in atom.args]
    if atom.node is Node.REMAINDER:
        args.reverse()
    return f"({atom.node.value.join(args)})"


def _wrapped(text: str) -> str:
    simple = all(character.isalnum() or character in "_∆" for character in text)
    return text if simple or _is_enclosed(text) else f"({text})"


def _is_enclosed(text: str) -> bool:
    """Does the first parenthesis close at the very end?"""
    depth = 0
    for at, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return at == len(text) - 1 and at > 0
    return False


def is_writable(grade: Grade, names: frozenset[str]) -> bool:
    """Are all its sizes among these names?"""
    return all(v.name in names for size in (grade.low, grade.high or number(0)) for v in size.variables())
