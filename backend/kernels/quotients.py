"""Division by what is the same for many elements, without dividing each: the bits are those of the division.

With y the reciprocal of b, rounded, two corrections of q = a y by fused multiply-add give the quotient as division rounds it
(Markstein: a correctly rounded reciprocal and a quotient within one unit give, corrected once more, the correctly rounded
quotient).  That holds where nothing on the way overflows or loses bits: elements and divisors far beyond either end, zeros,
infinities and NaN are divided.

A processor that has no fused multiply-add divides as ever.

Neighbours: `loops.llvm.statements` (divides by what is known before a loop).
"""

from __future__ import annotations

from dataclasses import dataclass

from ...typechecker.elements import Kind
from .vectors import Vectors

_REACH = {Kind.F64: (500, 300), Kind.F32: (60, 40)}
"""Binary orders of magnitude, for elements and for divisors, within which no intermediate result loses bits."""


@dataclass(frozen=True, slots=True)
class Divisor:
    """`reciprocal`: of `value`, lane by lane; `is_near`: may it be used at all (an i1)?"""

    kind: Kind
    value: str
    reciprocal: str
    is_near: str


def prepare(v: Vectors, kind: Kind, value: str) -> Divisor:
    """The divisors of the lanes, which stay for many elements."""
    reach = 2.0 ** _REACH[kind][1]
    size = v.intrinsic("fabs", kind, value)
    above = v.compare("ogt", kind, size, v.constant(kind, 1 / reach))
    below = v.compare("olt", kind, size, v.constant(kind, reach))
    both = v.binary("and", Kind.BOOL, above, below)
    near = v.w.call("i1", f"llvm.vector.reduce.and.v{v.lanes}i1", (v.type(Kind.BOOL), both))
    return Divisor(kind, value, v.binary("fdiv", kind, v.constant(kind, 1.0), value), near)


def divide(v: Vectors, x: str, by: Divisor) -> str:
    """x ÷ the divisor."""
    w, kind = v.w, by.kind
    reach = 2.0 ** _REACH[kind][0]
    size = v.intrinsic("fabs", kind, x)
    above = v.compare("ogt", kind, size, v.constant(kind, 1 / reach))
    below = v.compare("olt", kind, size, v.constant(kind, reach))
    inside = w.call("i1", f"llvm.vector.reduce.and.v{v.lanes}i1", (v.type(Kind.BOOL), v.binary("and", Kind.BOOL, above, below)))
    quick, slow, ready = w.new_label(), w.new_label(), w.new_label()
    w.branch(w.let(f"and i1 {inside}, {by.is_near}"), quick, slow)
    w.label(quick)
    minus = w.let(f"fneg {v.type(kind)} {by.value}")
    quotient = v.binary("fmul", kind, x, by.reciprocal)
    for _ in range(2):
        left = v.intrinsic("fma", kind, minus, quotient, x)
        quotient = v.intrinsic("fma", kind, left, by.reciprocal, quotient)
    w.jump(ready)
    w.label(slow)
    divided = v.binary("fdiv", kind, x, by.value)
    w.jump(ready)
    w.label(ready)
    return w.let(f"phi {v.type(kind)} [ {quotient}, %{quick} ], [ {divided}, %{slow} ]")
