"""Grades as a signature could state them: `1`, `0..1`, `(2×n)+m`, `0⌈n-1`.

Neighbours: `grades`, `contracts` and `describe` (which offer the text), `lang.type_expressions` (which reads it).
"""

from __future__ import annotations

from ..size_text import show
from ..sizes import Node, Opaque, Size, number
from .grades import Grade


def written(grade: Grade) -> str:
    """The quantity that is exactly this grade; `ω` where it has no bound, or none that may be stated (a divisor may be 0)."""
    if grade.high is None or not (_divides_surely(grade.low) and _divides_surely(grade.high)):
        return "ω"
    high = show(grade.high)
    return high if grade.is_exact else f"{show(grade.low)}..{high}"


def is_writable(grade: Grade, names: frozenset[str]) -> bool:
    """Are all its sizes among these names?"""
    return all(v.name in names for size in (grade.low, grade.high or number(0)) for v in size.variables())


def _divides_surely(size: Size) -> bool:
    """Is every divisor at least 1 whatever the sizes are?"""
    atoms = [atom for monomial, _ in size.terms for atom, _ in monomial if isinstance(atom, Opaque)]
    for atom in atoms:
        if atom.node in (Node.QUOTIENT, Node.REMAINDER) and (atom.args[1].bounds()[0] or 0) < 1:
            return False
        if not all(_divides_surely(arg) for arg in atom.args):
            return False
    return True
