"""The derivatives of the scalar functions: by function, the cotangent of each operand from that of the result.

The cotangent of a complex number a + bi is the derivative by a plus i times that by b; for an analytic function it is the
cotangent of the result times the conjugate of the derivative.

A rule gets the terms, the operands, the result, and the result's cotangent.  Where a derivative may be infinite or undefined,
`Terms.times` keeps a cotangent of 0 at 0, so that items which were masked out do not become NaN.  At a tie of `min` and `max` the
first operand takes the cotangent; `abs` and `sign` have derivative 0 at 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from ..core.operations import Literal, Scalar, ValueId
from ..elements import Kind
from .terms import Masking, Terms

Operands: TypeAlias = Sequence[ValueId]
Rule: TypeAlias = "Callable[[Terms, Operands, ValueId, ValueId], ValueId]"
"""(terms, operands, result, cotangent of the result) → cotangent of one operand, of the result's shape."""


def _divided(t: Terms, g: ValueId, by: ValueId) -> ValueId:
    return t.over(g, t.conj(by))


def _times(t: Terms, g: ValueId, by: ValueId) -> ValueId:
    known = constant(t, by)
    return t.mul(g, t.conj(by)) if known is not None and math.isfinite(known) else t.times(g, t.conj(by))


def _square(t: Terms, x: ValueId) -> ValueId:
    return t.mul(x, x)


def _one_plus(t: Terms, x: ValueId) -> ValueId:
    return t.add(t.number(1.0, x), x)


def _one_minus(t: Terms, x: ValueId) -> ValueId:
    return t.sub(t.number(1.0, x), x)


def constant(t: Terms, x: ValueId) -> float | None:
    """The number that a scalar operand is, also through conversions; None if it is not constant."""
    op = t.builder.definitions.get(x)
    while isinstance(op, Scalar) and op.function == "convert":
        op = t.builder.definitions.get(op.args[0])
    if not isinstance(op, Literal) or len(op.data) != 1 or isinstance(op.data[0], str | complex):
        return None
    return float(op.data[0])


def _base_of_power(t: Terms, x: Operands, y: ValueId, g: ValueId) -> ValueId:
    """y × x*(y-1); a constant exponent is written as a number."""
    base, exponent = x
    known = constant(t, exponent)
    if known == 0:
        return t.mul(g, t.number(0.0, g))
    if known == 1:
        return g
    if known == 2:
        return _times(t, g, t.mul(t.number(2.0, base), base))
    if known is not None:
        lower = t.apply("pow", base, t.number(known - 1, base))
        return _times(t, g, t.mul(t.number(known, base), lower))
    one = t.number(1.0, base)
    slope = t.mul(exponent, t.apply("pow", base, t.sub(exponent, one)))
    return _times(t, g, t.where(t.apply("eq", exponent, t.number(0.0, exponent)), None, slope))


def _exponent_of_power(t: Terms, x: Operands, y: ValueId, g: ValueId) -> ValueId:
    base = x[0]
    slope = t.mul(y, t.apply("ln", base))
    return _times(t, g, t.where(t.apply("eq", base, t.number(0.0, base)), None, slope))


def _base_of_logarithm(t: Terms, x: Operands, y: ValueId, g: ValueId) -> ValueId:
    return t.neg(_times(t, g, t.div(y, t.mul(x[0], t.apply("ln", x[0])))))


def _degree_of_root(t: Terms, x: Operands, y: ValueId, g: ValueId) -> ValueId:
    return t.neg(_times(t, g, t.div(t.mul(y, t.apply("ln", x[1])), _square(t, x[0]))))


def _chosen(function: str, number: int) -> Rule:
    """For `min` and `max`: the cotangent goes to the operand that is the result, at a tie to the first."""

    def rule(t: Terms, x: Operands, y: ValueId, g: ValueId) -> ValueId:
        first = t.apply(function, *x)
        return t.where(first, g, None) if number == 0 else t.where(first, None, g)

    return rule


def _modulus(t: Terms, x: Operands, y: ValueId, g: ValueId) -> ValueId:
    """`x|y` is y - x×⌊y÷x, whose quotient is constant; by x the slope is the quotient, 0 for x = 0."""
    quotient = t.div(t.sub(x[1], y), x[0])
    slope = t.where(t.apply("eq", x[0], t.number(0.0, x[0])), None, quotient)
    return t.neg(_times(t, g, slope))


def _of_angle(number: int) -> Rule:
    """For `atan2`: the other leg over the square of the hypotenuse, scaled by the longer leg, whose square may overflow."""

    def rule(t: Terms, x: Operands, y: ValueId, g: ValueId) -> ValueId:
        longer = t.apply("max", t.apply("abs", x[0]), t.apply("abs", x[1]))
        legs = [t.div(leg, longer) for leg in x]
        square = t.add(_square(t, legs[0]), _square(t, legs[1]))
        part = _times(t, g, t.div(t.div(legs[1 - number], square), longer))
        return t.neg(part) if number else part

    return rule


def _binomial(number: int) -> Rule:
    def rule(t: Terms, x: Operands, y: ValueId, g: ValueId) -> ValueId:
        rest = t.apply("digamma", _one_plus(t, t.sub(x[1], x[0])))
        other = t.apply("digamma", _one_plus(t, x[number]))
        return _times(t, g, t.mul(y, t.sub(rest, other) if number == 0 else t.sub(other, rest)))

    return rule


def _bell(scale: float) -> Rule:
    """For `erf`: `scale`×2÷√π × e*-x*2."""
    return lambda t, x, y, g: _times(
        t, g, t.mul(t.number(scale * 2 / math.sqrt(math.pi), g), t.apply("exp", t.neg(_square(t, x[0]))))
    )


def _sine(t: Terms, x: ValueId, which: int) -> ValueId:
    return t.apply("circular", x, parameter=which)


def _legs(t: Terms, x: ValueId, *, outside: bool) -> ValueId:
    """√x²-1 for a positive x, without overflow, or √1-x²; both without cancellation."""
    if outside:
        return t.mul(t.apply("sqrt", t.sub(x, t.number(1.0, x))), t.apply("sqrt", _one_plus(t, x)))
    return t.apply("sqrt", t.mul(_one_minus(t, x), _one_plus(t, x)))


def _over_legs(t: Terms, x: ValueId) -> ValueId:
    return t.div(x, _legs(t, x, outside=True))


def _converted(t: Terms, x: Operands, y: ValueId, g: ValueId) -> ValueId:
    """For conversions: the real part of the cotangent, if a real number was made complex."""
    kind = t.kind(x[0])
    if t.kind(g).is_complex and not kind.is_complex:
        g = _sine(t, g, 9)
    return g if t.kind(g) is kind else t.apply("convert", g, to=kind)


def _magnitude(t: Terms, x: Operands, y: ValueId, g: ValueId) -> ValueId:
    """For `abs`: g times the sign, which for a complex number is the number divided by its magnitude."""
    if not t.kind(x[0]).is_complex:
        return _times(t, g, t.apply("sign", x[0]))
    return t.times(t.apply("convert", g, to=t.kind(x[0])), t.apply("sign", x[0]))


def _part(factor: complex) -> Rule:
    """For the real part (factor 1) and the imaginary part (factor i): g times the factor; for a real number, g or 0."""

    def rule(t: Terms, x: Operands, y: ValueId, g: ValueId) -> ValueId:
        kind = t.kind(x[0])
        if not kind.is_complex:
            return t.mul(g, t.number(factor.real, g))
        return t.mul(t.apply("convert", g, to=kind), t.literal(factor, kind))

    return rule


CIRCULAR: Final[dict[int, Rule | None]] = {
    0: lambda t, x, y, g: t.neg(_times(t, g, t.div(x[0], _legs(t, x[0], outside=False)))),
    1: lambda t, x, y, g: _times(t, g, _sine(t, x[0], 2)),
    2: lambda t, x, y, g: t.neg(_times(t, g, _sine(t, x[0], 1))),
    3: lambda t, x, y, g: _times(t, g, _one_plus(t, _square(t, y))),
    4: lambda t, x, y, g: _times(t, g, t.div(x[0], y)),
    5: lambda t, x, y, g: _times(t, g, _sine(t, x[0], 6)),
    6: lambda t, x, y, g: _times(t, g, _sine(t, x[0], 5)),
    7: lambda t, x, y, g: _times(t, g, _one_minus(t, _square(t, y))),
    -1: lambda t, x, y, g: _divided(t, g, _legs(t, x[0], outside=False)),
    -2: lambda t, x, y, g: t.neg(_divided(t, g, _legs(t, x[0], outside=False))),
    -3: lambda t, x, y, g: _divided(t, g, _one_plus(t, _square(t, x[0]))),
    -4: lambda t, x, y, g: _times(t, g, _over_legs(t, t.apply("abs", x[0]))),
    -5: lambda t, x, y, g: _divided(t, g, _sine(t, x[0], 4)),
    -6: lambda t, x, y, g: _divided(t, g, _legs(t, x[0], outside=True)),
    -7: lambda t, x, y, g: _divided(t, g, t.mul(_one_minus(t, x[0]), _one_plus(t, x[0]))),
    9: _part(1),
    -9: lambda t, x, y, g: g,
    -10: lambda t, x, y, g: t.conj(g),
    10: _magnitude,
    11: _part(1j),
    12: None,
    8: None,
    -8: None,
}
"""The rules of `circular` by its number; None if the function is constant or defined nowhere."""

CONSTANT: Final[tuple[Rule | None, ...]] = (None, None, None)

RULES: Final[dict[str, tuple[Rule | None, ...]]] = {
    "neg": (lambda t, x, y, g: t.neg(g),),
    "sign": CONSTANT,
    "reciprocal": (lambda t, x, y, g: t.neg(_times(t, g, _square(t, y))),),
    "abs": (_magnitude,),
    "conj": (lambda t, x, y, g: t.conj(g),),
    "exp": (lambda t, x, y, g: _times(t, g, y),),
    "ln": (lambda t, x, y, g: _divided(t, g, x[0]),),
    "sqrt": (lambda t, x, y, g: _divided(t, t.mul(t.number(0.5, g), g), y),),
    "factorial": (lambda t, x, y, g: _times(t, g, t.mul(y, t.apply("digamma", _one_plus(t, x[0])))),),
    "pi_times": (lambda t, x, y, g: t.apply("pi_times", g),),
    "erf": (_bell(1.0),),
    "erfc": (_bell(-1.0),),
    "lgamma": (lambda t, x, y, g: _times(t, g, t.apply("digamma", x[0])),),
    "expm1": (lambda t, x, y, g: _times(t, g, t.apply("exp", x[0])),),
    "log1p": (lambda t, x, y, g: _divided(t, g, _one_plus(t, x[0])),),
    "convert": (_converted,),
    "convert_checked": (_converted,),
    "add": (lambda t, x, y, g: g, lambda t, x, y, g: g),
    "sub": (lambda t, x, y, g: g, lambda t, x, y, g: t.neg(g)),
    "mul": (lambda t, x, y, g: _times(t, g, x[1]), lambda t, x, y, g: _times(t, g, x[0])),
    "div": (
        lambda t, x, y, g: _divided(t, g, x[1]),
        lambda t, x, y, g: t.neg(_times(t, g, t.div(y, x[1]))),
    ),
    "pow": (_base_of_power, _exponent_of_power),
    "log": (_base_of_logarithm, lambda t, x, y, g: _divided(t, g, t.mul(x[1], t.apply("ln", x[0])))),
    "root": (_degree_of_root, lambda t, x, y, g: _times(t, g, t.div(y, t.mul(x[0], x[1])))),
    "atan2": (_of_angle(0), _of_angle(1)),
    "min": (_chosen("le", 0), _chosen("le", 1)),
    "max": (_chosen("ge", 0), _chosen("ge", 1)),
    "residue": (_modulus, lambda t, x, y, g: g),
    "binomial": (_binomial(0), _binomial(1)),
    "select": (None, lambda t, x, y, g: t.where(x[0], g, None), lambda t, x, y, g: t.where(x[0], None, g)),
}  # fmt: skip
"""By function, a rule for each operand; None if the result is constant in it.  A function of floats without a row has no
derivative."""

ANALYTIC: Final = frozenset({
    "neg", "reciprocal", "abs", "conj", "exp", "ln", "sqrt", "pi_times", "convert", "convert_checked", "add", "sub", "mul", "div",
    "select",
})  # fmt: skip
"""Functions whose rules hold for complex numbers."""
ANALYTIC_CIRCULAR: Final = frozenset({1, 2, 5, 6, 9, 10, 11, -9, -10})

CHOOSE: Final = frozenset({"select", "min", "max", "abs"})
"""Functions that choose: the cotangent of an operand is 0 where the result does not depend on it."""


def masking_of(t: Terms, op: Scalar) -> Masking:
    """The masking that the rule of an op adds: choices mask values, and products with a 0 or 1 made of a bool mask slopes."""
    if op.function in CHOOSE:
        return Masking.CHOICE
    definitions = [t.builder.definitions.get(arg) for arg in op.args]
    is_truth = any(isinstance(d, Scalar) and d.function == "convert" and t.kind(d.args[0]) is Kind.BOOL for d in definitions)
    return Masking.FACTOR if is_truth else Masking.NONE
