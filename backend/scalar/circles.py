"""The circular functions of binary64, with coefficients of FreeBSD's msun (Sun Microsystems, 1993; freely usable with notice).

Neighbours: `elementary` (what definitions are written in), `table` (names these).
"""

from __future__ import annotations

from typing import Any, Final

from .elementary import SHIFT, polynomial
from .machine import Machine

_FAR: Final = 1.0e6
"""Angles beyond this need more digits of π than are here."""


def _quarter_turns(x: Any, turn: int, m: Machine) -> tuple[Any, Any, Any]:
    """x less a multiple of π÷2, in two parts, and the multiple plus `turn` in the low bits of a word.

    π÷2 is taken away in three parts.  The second has so few digits that its multiples are exact, and what the second step rounds
    away is found by the third: an angle that is nearly a multiple keeps all its digits."""
    shifted = m.fma(x, 6.36619772367581382433e-01, SHIFT + turn)
    whole = shifted - (SHIFT + turn)
    t = m.fma(whole, -1.5707963267948966, x)
    r = m.fma(whole, -6.12323399538461e-17, t)
    low = m.fma(whole, -3.5215598651832e-27, m.fma(whole, -6.12323399538461e-17, t - r))
    y = r + low
    return y, (r - y) + low, m.bits(shifted)


def _sine_part(y: Any, rest: Any, z: Any, m: Machine) -> Any:
    p = polynomial(m, z, -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
                   2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10)  # fmt: skip
    return m.fma(z * y, p, m.fma(z * -0.5, rest, rest)) + y


def _cosine_part(y: Any, rest: Any, z: Any, m: Machine) -> Any:
    p = polynomial(m, z, 4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
                   -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11)  # fmt: skip
    w = m.fma(z, -0.5, 1.0)
    return m.fma(z * z, p, m.fma(y, -rest, m.fma(z, -0.5, 1.0 - w))) + w


def _circular(x: Any, m: Machine, name: str, turn: int) -> Any:
    far = m.magnitude(x) > _FAR
    y, rest, k = _quarter_turns(m.choose(far, 0.0, x), turn, m)
    z = y * y
    value = by_quarter(_sine_part(y, rest, z, m), _cosine_part(y, rest, z, m), k, m)
    if not turn:
        value = m.choose(x == 0.0, x, value)
    return m.patch(name, far, x, value)


def by_quarter(sine: Any, cosine: Any, k: Any, m: Machine) -> Any:
    """Which of the two a k-th quarter turn leaves, and its sign."""
    value = m.choose((k & 1) == 0, sine, cosine)
    return m.choose((k & 2) == 0, value, -value)


def sin(x: Any, m: Machine) -> Any:
    """The sine."""
    return _circular(x, m, "sin", 0)


def cos(x: Any, m: Machine) -> Any:
    """The cosine."""
    return _circular(x, m, "cos", 1)


def tan(x: Any, m: Machine) -> Any:
    """The tangent."""
    far = m.magnitude(x) > _FAR
    y, rest, k = _quarter_turns(m.choose(far, 0.0, x), 0, m)
    z = y * y
    sine, cosine = _sine_part(y, rest, z, m), _cosine_part(y, rest, z, m)
    even = (k & 1) == 0
    value = m.choose(even, sine, -cosine) / m.choose(even, cosine, sine)
    return m.patch("tan", far, x, m.choose(x == 0.0, x, value))
