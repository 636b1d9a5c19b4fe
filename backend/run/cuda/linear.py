"""Linear algebra of one square matrix, through cuSOLVER; what is singular is found as on the CPU.

Neighbours: `library`; `cpu.library.linear` (the same with LAPACK).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ....lang.codes import Code
from ..cpu.kinds import DTYPES
from ..failures import CheckFailed
from .call import Call
from .cupy_leaf import raising

_EPSILON: Final = float(np.finfo(np.float64).eps)
_SINGULAR: Final = "the matrix is singular"


def _wide(a: Any) -> Any:
    return a.astype(np.complex128 if a.dtype.kind == "c" else np.float64)


def _shaped(call: Call, result: Any) -> Any:
    return result.astype(DTYPES[call.kind()]).reshape(call.shape())


def _solution(xp: Any, a: Any, b: Any) -> Any:
    """x with a +.× x = b.  E703: a column depends on those before it, or seems to for rounding."""
    r = xp.linalg.qr(a)[1]
    pivots, scale = xp.abs(xp.diagonal(r)), xp.abs(r).max(axis=0)
    if bool((pivots <= scale * _EPSILON * len(a)).any()):
        raise CheckFailed(Code.E703, _SINGULAR)
    return xp.linalg.solve(a, b)


def _solve(call: Call, arrays: Any) -> Any:
    b, a = map(_wide, arrays)
    if not a.size or not b.size:
        return call.xp.zeros(call.shape(), DTYPES[call.kind()])
    if a.dtype != b.dtype:
        a, b = a.astype(np.complex128), b.astype(np.complex128)
    return _shaped(call, _solution(call.xp, a, b.reshape(len(b), -1)))


def _inverse(call: Call, arrays: Any) -> Any:
    a = _wide(arrays[0])
    if not a.size:
        return call.xp.zeros(call.shape(), DTYPES[call.kind()])
    return _shaped(call, _solution(call.xp, a, call.xp.eye(len(a), dtype=a.dtype)))


def _cholesky(call: Call, arrays: Any) -> Any:
    xp, a = call.xp, _wide(arrays[0])
    if not a.size:
        return _shaped(call, a)
    try:
        with raising(xp):
            lower = xp.linalg.cholesky(a)
    except np.linalg.LinAlgError:
        raise CheckFailed(Code.E703, "the matrix is not positive definite") from None
    if not bool((xp.diagonal(lower).real > 0).all()):
        raise CheckFailed(Code.E703, "the matrix is not positive definite")
    return _shaped(call, lower)


def _determinant(call: Call, arrays: Any) -> Any:
    return _shaped(call, call.xp.asarray(call.xp.linalg.det(_wide(arrays[0]))))


LINEAR: Final[dict[str, Callable[[Call, Any], Any]]] = {
    "inverse": _inverse, "solve": _solve, "cholesky": _cholesky, "det": _determinant,
}  # fmt: skip
