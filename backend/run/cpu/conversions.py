"""Conversions between kinds, with and without the check that nothing is lost (E703).

Neighbours: `typechecker.scalars` (rows convert and convert_checked), `scalars`.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ....lang.codes import Code
from ....typechecker.elements import Kind
from ..failures import CheckFailed, shown
from .kinds import DTYPES

LARGEST_CODE_POINT: Final = 0x10FFFF
_I64_LIMIT: Final = float(1 << 63)


def conversion(kind: Kind, target: Kind, *, checked: bool) -> Any:
    """`f(x)` from `kind` to `target`."""
    dtype = DTYPES[target]

    def convert(x: Any) -> Any:
        return x.astype(dtype)

    if not checked or kind is target:
        return convert
    if target is Kind.CHAR or target is Kind.BOOL or target.is_integer:

        return lambda x: convert(_require_range(_require_whole(x, target), target))

    def convert_float(x: Any) -> Any:
        source = x
        if x.dtype.kind == "c" and not target.is_complex:
            if np.any(x.imag):
                where = shown(_first(x, x.imag != 0))
                raise CheckFailed(Code.E703, f"{where} has an imaginary part, so it cannot be converted to {target.value}")
            source = x.real
        result = source.astype(dtype)
        lost = np.isfinite(source) & ~np.isfinite(result)
        if lost.any():
            raise CheckFailed(Code.E703, f"{shown(_first(source, lost))} is too large for {target.value}")
        return result

    return convert_float


def require_i64(rounded: Any, what: str) -> None:
    """Fail unless every rounded float is an i64."""
    if rounded.size == 0:
        return
    low, high = rounded.min(), rounded.max()
    if not (low >= -_I64_LIMIT and high < _I64_LIMIT):
        bad = ~((rounded >= -_I64_LIMIT) & (rounded < _I64_LIMIT))
        raise CheckFailed(Code.E703, f"the {what} of {shown(_first(rounded, bad))} is not an i64")


def _require_whole(x: Any, target: Kind) -> Any:
    """The real values, which are whole numbers."""
    match x.dtype.kind:
        case "c":
            bad = (x.imag != 0) | ~np.isfinite(x.real) | (x.real != np.floor(x.real))
            real = x.real
        case "f":
            bad = ~np.isfinite(x) | (x != np.floor(x))
            real = x
        case _:
            return x
    if bad.any():
        where = shown(_first(x, bad))
        raise CheckFailed(Code.E703, f"{where} is not a whole number, so it cannot be converted to {target.value}")
    return real


def _require_range(x: Any, target: Kind) -> Any:
    if x.size == 0:
        return x
    if target is Kind.CHAR:
        low, high = 0, LARGEST_CODE_POINT
    elif target is Kind.BOOL:
        low, high = 0, 1
    else:
        limits = np.iinfo(DTYPES[target])
        low, high = int(limits.min), int(limits.max)
    if int(x.min()) < low or int(x.max()) > high:
        values = x.reshape(-1).tolist()
        value = next(int(v) for v in values if not low <= int(v) <= high)
        what = f"a code point (0 to {high})" if target is Kind.CHAR else None
        trouble = f"is not {what}" if what else f"does not fit {target.value} ({shown(low)} to {shown(high)})"
        raise CheckFailed(Code.E703, f"{shown(value)} {trouble}")
    return x


def _first(x: Any, bad: Any) -> Any:
    """The first offending item, as a Python value."""
    return np.asarray(x)[np.asarray(bad)].reshape(-1)[0].item()
