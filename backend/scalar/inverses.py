"""The inverses of the circular functions, of binary64: what is left of a value that is large is added rounded once.

asin, acos: a polynomial of least error in z = x², or in z = (1-|x|)÷2 beyond a half, where the root's rounding is kept.  atan:
the nearest of five angles whose tangents are simple, and the rest by the polynomial of FreeBSD's msun (Sun Microsystems, 1993;
freely usable with notice).

Largest errors found against mpmath are asserted in tests/kernels/test_mathematics.py: 1 ulp.

Neighbours: `elementary` (what definitions are written in), `table` (names these).
"""

from __future__ import annotations

from typing import Any, Final

from .elementary import halves
from .machine import Machine

_QUARTER, _QUARTER_LOW = 1.5707963267948966, 6.123233995736766e-17
"""π÷2."""
_SINE: Final = (0.16666666666665383, 0.07500000000343057, 0.044642856823473624, 0.030381959331533225, 0.022371753518465303,
                0.017359771156599837, 0.013884598146143417, 0.012173280733222167, 0.006510849148230356, 0.01957391393743722,
                -0.016294081494072903, 0.031958968696819225)  # fmt: skip
"""(asin(√z) ÷ √z - 1) ÷ z for z up to ¼."""
_TANGENT: Final = (3.33333333333329318027e-01, -1.99999999998764832476e-01, 1.42857142725034663711e-01,
                   -1.11111104054623557880e-01, 9.09088713343650656196e-02, -7.69187620504482999495e-02,
                   6.66107313738753120669e-02, -5.83357013379057348645e-02, 4.97687799461593236017e-02,
                   -3.65315727442169155270e-02, 1.62858201153657823623e-02)  # fmt: skip
_ANGLES: Final = (
    (7 / 16, 0.5, 0.4636476090008061, 2.2698777452961687e-17),
    (11 / 16, 1.0, 0.7853981633974483, 3.061616997868383e-17),
    (19 / 16, 1.5, 0.982793723247329, 1.3903311031230998e-17),
)
"""From which size on: a tangent, and its angle in two parts."""


def _sine_parts(x: Any, m: Machine) -> tuple[Any, Any, Any]:
    """Is |x| below a half; and asin|x|, or (beyond) acos|x|, in two parts."""
    size = m.magnitude(x)
    small = size < 0.5
    away = m.fma(size, -0.5, 0.5)
    root = m.root(away)
    rest = m.fma(-root, root, away) / m.choose(root > 0.0, root + root, 1.0)
    z, first = m.choose(small, size * size, away), m.choose(small, size, root)
    series = first * z * halves(m, z, z * z, *_SINE)
    beyond = series + rest
    return small, m.choose(small, size, root + root), m.choose(small, series, beyond + beyond)


def _less(high: Any, low: Any, first: Any, second: Any) -> Any:
    """high + low - first - second, where high is no less than first, or 0."""
    difference = -first + high
    return difference + (((-difference + high) - first) - (second - low))


def asin(x: Any, m: Machine) -> Any:
    """The angle whose sine is x."""
    small, first, second = _sine_parts(x, m)
    value = _less(_QUARTER, _QUARTER_LOW, first, second)
    return m.signed(m.choose(small, first + second, value), x)


def acos(x: Any, m: Machine) -> Any:
    """The angle whose cosine is x: of a small x π÷2 less asin, of 0.5 and more the parts, of the rest π less them."""
    small, first, second = _sine_parts(x, m)
    positive = x > 0.0
    high = m.choose(small, _QUARTER, m.choose(positive, 0.0, 2 * _QUARTER))
    low = m.choose(small, _QUARTER_LOW, m.choose(positive, 0.0, 2 * _QUARTER_LOW))
    sign = m.choose(small, m.choose(positive, 1.0, -1.0), m.choose(positive, -1.0, 1.0))
    return _less(high, low, first * sign, second * sign)


def atan(x: Any, m: Machine) -> Any:
    """The angle whose tangent is x."""
    return m.signed(_angle(m.magnitude(x), m), x)


def atan2(y: Any, x: Any, m: Machine) -> Any:
    """The angle of the point (x, y): of the smaller part ÷ the larger one, taken from π÷2 or from π."""
    up, along = m.magnitude(y), m.magnitude(x)
    steep = up > along
    larger, less = m.choose(steep, up, along), m.choose(steep, along, up)
    angle = _angle(m.choose(larger == 0.0, less, m.choose(less == larger, 1.0, less / larger)), m)
    back = m.signed(m.like(x, 1.0), x) < 0.0
    high = m.choose(steep, _QUARTER, m.choose(back, 2 * _QUARTER, 0.0))
    low = m.choose(steep, _QUARTER_LOW, m.choose(back, 2 * _QUARTER_LOW, 0.0))
    angle = m.choose(back ^ steep, -angle, angle)
    return m.signed(high + (angle + low), y)


def _angle(size: Any, m: Machine) -> Any:
    """The angle whose tangent is x ≥ 0: that of c and of (x-c) ÷ (1+cx), or π÷2 and that of -1÷x."""
    over, under, high, low = size, 1.0, 0.0, 0.0
    for least, tangent, angle, rest in _ANGLES:
        beyond = size >= least
        over = m.choose(beyond, size - tangent, over)
        under = m.choose(beyond, m.fma(size, tangent, 1.0), under)
        high, low = m.choose(beyond, angle, high), m.choose(beyond, rest, low)
    far = size >= 39 / 16
    over, under = m.choose(far, -1.0, over), m.choose(far, size, under)
    high, low = m.choose(far, _QUARTER, high), m.choose(far, _QUARTER_LOW, low)
    t = over / under
    z = t * t
    series = z * halves(m, z, z * z, *_TANGENT)
    return high - (m.fma(t, series, -low) - t)
