"""The error function and its complement on f64 arrays, by rational approximations on five intervals.

Source of the method and the coefficients: FreeBSD's msun `s_erf.c` (Sun Microsystems, 1993; freely usable with notice), which
states an error below 1 ulp.  C libraries use the same, so this agrees with the reference, which calls theirs.

Each interval's items are gathered, computed together and put back, so that the cost is that of the intervals in use.

Neighbours: `special`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from .kinds import NumArray

_ERX: Final = 8.45062911510467529297e-01
_EFX: Final = 1.28379167095512586316e-01
_PP: Final = (1.28379167095512558561e-01, -3.25042107247001499370e-01, -2.84817495755985104766e-02, -5.77027029648944159157e-03,
              -2.37630166566501626084e-05)  # fmt: skip
_QQ: Final = (1.0, 3.97917223959155352819e-01, 6.50222499887672944485e-02, 5.08130628187576562776e-03, 1.32494738004321644526e-04,
              -3.96022827877536812320e-06)  # fmt: skip
_PA: Final = (-2.36211856075265944077e-03, 4.14856118683748331666e-01, -3.72207876035701323847e-01, 3.18346619901161753674e-01,
              -1.10894694282396677476e-01, 3.54783043256182359371e-02, -2.16637559486879084300e-03)  # fmt: skip
_QA: Final = (1.0, 1.06420880400844228286e-01, 5.40397917702171048937e-01, 7.18286544141962662868e-02, 1.26171219808761642112e-01,
              1.36370839120290507362e-02, 1.19844998467991074170e-02)  # fmt: skip
_RA: Final = (-9.86494403484714822705e-03, -6.93858572707181764372e-01, -1.05586262253232909814e+01, -6.23753324503260060396e+01,
              -1.62396669462573470355e+02, -1.84605092906711035994e+02, -8.12874355063065934246e+01,
              -9.81432934416914548592e+00)  # fmt: skip
_SA: Final = (1.0, 1.96512716674392571292e+01, 1.37657754143519042600e+02, 4.34565877475229228821e+02, 6.45387271733267880336e+02,
              4.29008140027567833386e+02, 1.08635005541779435134e+02, 6.57024977031928170135e+00,
              -6.04244152148580987438e-02)  # fmt: skip
_RB: Final = (-9.86494292470009928597e-03, -7.99283237680523006574e-01, -1.77579549177547519889e+01, -1.60636384855821916062e+02,
              -6.37566443368389627722e+02, -1.02509513161107724954e+03, -4.83519191608651397019e+02)  # fmt: skip
_SB: Final = (1.0, 3.03380607434824582924e+01, 3.25792512996573918826e+02, 1.53672958608443695994e+03, 3.19985821950859553908e+03,
              2.55305040643316442583e+03, 4.74528541206955367215e+02, -2.24409524465858183362e+01)  # fmt: skip

_SMALL, _MIDDLE, _WIDE = 0.84375, 1.25, 1 / 0.35
_HIGH_WORD: Final = np.uint64(0xFFFFFFFF00000000)


def erf(x: NumArray) -> NumArray:
    """The error function."""
    return _by_interval(x, ((_SMALL, _erf_small), (_MIDDLE, _erf_middle), (6.0, _erf_tail), (np.inf, _erf_far)))


def erfc(x: NumArray) -> NumArray:
    """1 - erf(x), without cancellation."""
    return _by_interval(x, ((_SMALL, _erfc_small), (_MIDDLE, _erfc_middle), (28.0, _erfc_tail), (np.inf, _erfc_far)))


def _by_interval(x: NumArray, parts: Sequence[tuple[float, Callable[[NumArray], Any]]]) -> NumArray:
    """Apply to each item the function of the first interval that its magnitude is below; NaN stays."""
    flat = np.ascontiguousarray(x, np.float64).reshape(-1)
    size = np.absolute(flat)
    result = flat + flat  # NaN of NaN
    low = -1.0
    for high, function in parts:
        inside = (size >= low) & (size <= high) if high == np.inf else (size >= low) & (size < high)
        low = high
        count = int(np.count_nonzero(inside))
        if count == len(flat):
            result = np.asarray(function(flat))
        elif count:
            result[inside] = function(flat[inside])
    return result.reshape(x.shape)


def _polynomial(coefficients: Sequence[float], x: NumArray) -> NumArray:
    value = np.full_like(x, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        value *= x
        value += coefficient
    return value


def _ratio_small(x: NumArray) -> NumArray:
    z = x * x
    return _polynomial(_PP, z) / _polynomial(_QQ, z)


def _ratio_middle(size: NumArray) -> NumArray:
    s = size - 1.0
    return _polynomial(_PA, s) / _polynomial(_QA, s)


def _tail(size: NumArray) -> NumArray:
    """erfc of a magnitude of at least 1.25: exp(-x²) with x² split exactly, times a rational function of 1÷x²."""
    s = 1.0 / (size * size)
    near = size < _WIDE
    if near.all():
        ratio = _polynomial(_RA, s) / _polynomial(_SA, s)
    elif not near.any():
        ratio = _polynomial(_RB, s) / _polynomial(_SB, s)
    else:
        ratio = np.where(near, _polynomial(_RA, s) / _polynomial(_SA, s), _polynomial(_RB, s) / _polynomial(_SB, s))
    z = (size.view(np.uint64) & _HIGH_WORD).view(np.float64)
    return np.asarray(np.exp(-z * z - 0.5625) * np.exp((z - size) * (z + size) + ratio) / size)


def _erf_small(x: NumArray) -> NumArray:
    tiny = np.absolute(x) < 2.0**-28
    value = x + x * _ratio_small(x)
    return np.where(tiny, x + _EFX * x, value) if tiny.any() else value


def _erf_middle(x: NumArray) -> NumArray:
    return np.copysign(_ERX + _ratio_middle(np.absolute(x)), x)


def _erf_tail(x: NumArray) -> NumArray:
    return np.copysign(1.0 - _tail(np.absolute(x)), x)


def _erf_far(x: NumArray) -> NumArray:
    return np.copysign(np.ones_like(x), x)


def _erfc_small(x: NumArray) -> NumArray:
    product = x * _ratio_small(x)
    return np.asarray(np.where(x < 0.25, 1.0 - (x + product), 0.5 - ((x - 0.5) + product)))


def _erfc_middle(x: NumArray) -> NumArray:
    ratio = _ratio_middle(np.absolute(x))
    return np.where(x >= 0, (1.0 - _ERX) - ratio, 1.0 + (_ERX + ratio))


def _erfc_tail(x: NumArray) -> NumArray:
    tail = _tail(np.absolute(x))
    return np.where(x > 0, tail, 2.0 - tail)


def _erfc_far(x: NumArray) -> NumArray:
    return np.where(x > 0, 0.0, 2.0)
