"""Linear algebra on the matrices behind any leading axes, by `numpy.linalg`.

Everything is computed in binary64 or complex128 and rounded once to the result's kind.  Signs follow the conventions of
`reference.matrices`: R's diagonal is not negative; in each column of U and of eigenvectors the first of the items of largest
magnitude (within 1e-9) is real and positive.  A matrix without an answer is E703, as there; one with an item that is
not finite gives NaN from the iterative factorisations, which would not converge.  BLAS uses one thread meanwhile: with more, bits
would follow from the machine's cores and from what its other threads do.

Neighbours: `transforms`; `reference.linear` (definitions).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ...lang.codes import Code
from ..run.cpu.kinds import DTYPES, NumArray
from ..run.failures import CheckFailed
from .blas import alone
from .frames import Again, Arrays, Call, Operation, Prepare, whole
from .lapack import factors, square

_EPSILON: Final = 2.0**-52
_NEAR: Final = 1 - 1e-9

Work = Callable[..., tuple[Any, ...]]


_SINGULAR = "the matrix is singular"


def _library(work: Work, prepare: Prepare | None = None) -> Operation:
    """`work` of matrices (the operands, widened) as a library phase."""

    def run(call: Call, arrays: Arrays) -> Arrays:
        depth = max(0, arrays[-1].ndim - 2)
        shapes = [call.context.shape(result) for result in call.phase.results]
        dtypes = [DTYPES[call.context.kind(result)] for result in call.phase.results]
        with alone():
            results = work(*(_matrices(a, min(depth, a.ndim)) for a in arrays))
        return tuple(
            np.asarray(result).astype(dtype, copy=False).reshape(shape)
            for result, dtype, shape in zip(results, dtypes, shapes, strict=True)
        )

    return whole(run, prepare=prepare)


def _matrices(arg: NumArray, depth: int) -> NumArray:
    """Cells as matrices of binary64 or complex128: a vector is one column, a scalar 1 by 1."""
    shape = (*arg.shape, *[1] * (2 - (arg.ndim - depth)))
    return arg.reshape(shape).astype(np.complex128 if arg.dtype.kind == "c" else np.float64, copy=False)


def _adjoint(a: NumArray) -> NumArray:
    return np.swapaxes(a, -1, -2).conj()  # which copies no real ones


# -------------------------------------------------------------------------------- linear equations


def _inverse(a: NumArray) -> tuple[NumArray]:
    rows, columns = a.shape[-2:]
    if rows > columns and a.size:  # by the adjoint of Q, which an identity as long as the columns would only copy
        q, r = np.linalg.qr(a)
        _check_rank(r)
        return (_square_solution(r, _adjoint(q), "the matrix has not full rank"),)
    return (_solution(a, np.broadcast_to(np.eye(rows, dtype=a.dtype), (*a.shape[:-2], rows, rows))),)


def _solve(b: NumArray, a: NumArray) -> tuple[NumArray]:
    return (_solution(a, b),)


def _solution(a: NumArray, b: NumArray) -> NumArray:
    """x with a +.× x = b: exact for a square a, least squares for a tall one, least norm for a wide one."""
    rows, columns = a.shape[-2:]
    if not min(rows, columns) or not a.size:
        frame = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        return np.zeros((*frame, columns, b.shape[-1]), np.result_type(a, b))
    if rows == columns:
        return _full_rank_solution(a, b)
    if rows > columns:
        q, r = np.linalg.qr(a)
        _check_rank(r)
        return _square_solution(r, _adjoint(q) @ np.ascontiguousarray(b), "the matrix has not full rank")
    q, r = np.linalg.qr(_adjoint(a))
    _check_rank(r)
    return np.asarray(q @ _square_solution(_adjoint(r), b, "the matrix has not full rank"))


def _full_rank_solution(a: NumArray, b: NumArray) -> NumArray:
    """Of square matrices whose rank is looked at: rounding can hide a zero pivot from the elimination."""
    system = square(a.shape[-1], b.shape[-1], np.result_type(a, b)) if a.ndim == b.ndim == 2 else None
    full: bool | None = False
    if system is None:
        solution = _square_solution(a, b, _SINGULAR)
    else:
        full, solution = system.run(a, b), system.solution
        if full is None:
            raise CheckFailed(Code.E703, _SINGULAR)
    if not full:
        _check_rank(np.asarray(np.linalg.qr(a, "r")), _SINGULAR)
    return solution


def _square_solution(a: NumArray, b: NumArray, trouble: str) -> NumArray:
    try:
        return np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        raise CheckFailed(Code.E703, trouble) from None


def _check_rank(r: NumArray, trouble: str = "the matrix has not full rank") -> None:
    """E703 if a column of the factored matrix depends on those before it: its pivot is rounding beside its items."""
    scale = np.abs(r).max(axis=-2, initial=0.0)
    pivots = np.abs(np.diagonal(r, axis1=-2, axis2=-1))
    if np.any(pivots <= scale * _EPSILON * r.shape[-2]):
        raise CheckFailed(Code.E703, trouble)


def _determinant(a: NumArray) -> tuple[NumArray]:
    return (np.asarray(np.linalg.det(a)),)


def _sign_and_log(a: NumArray) -> tuple[NumArray, NumArray]:
    sign, log = np.linalg.slogdet(a)
    return np.asarray(sign), np.asarray(log)


# ---------------------------------------------------------------------------------- factorisations


def _cholesky(a: NumArray) -> tuple[NumArray]:
    trouble = CheckFailed(Code.E703, "the matrix is not positive definite")
    if not a.size:
        return (a,)
    try:
        lower = np.linalg.cholesky(a)
    except np.linalg.LinAlgError:
        raise trouble from None
    if not np.all(np.diagonal(lower, axis1=-2, axis2=-1).real > 0):
        raise trouble
    return (lower,)


def _qr(a: NumArray) -> tuple[NumArray, NumArray]:
    q, r = np.linalg.qr(a)
    _with_signs(q, r, np.einsum("...ii->...i", r[..., : r.shape[-2]]))
    return q, r


def _with_signs(q: NumArray, r: NumArray, diagonal: NumArray) -> None:
    """Nothing on R's diagonal, which the last shows, is negative."""
    units, sizes = _units(diagonal), np.abs(diagonal)
    np.multiply(r, np.conjugate(units)[..., np.newaxis], out=r)
    diagonal[...] = sizes
    np.multiply(q, units[..., np.newaxis, :], out=q)


def _units(values: NumArray) -> NumArray:
    """Each value's unit of magnitude 1; of 0 it is 1."""
    sizes = np.abs(values)
    return np.where(sizes == 0, 1.0, values / np.where(sizes == 0, 1.0, sizes))


def _leading_units(columns: NumArray) -> NumArray:
    """For each column of matrices the unit of its first item of largest magnitude."""
    if not columns.shape[-2]:
        return np.ones((*columns.shape[:-2], columns.shape[-1]), columns.dtype)
    sizes = np.abs(columns)
    places = np.argmax(sizes >= sizes.max(axis=-2, keepdims=True) * _NEAR, axis=-2)
    return _units(np.take_along_axis(columns, places[..., np.newaxis, :], -2)[..., 0, :])


def _svd(a: NumArray) -> tuple[NumArray, NumArray, NumArray]:
    rows, columns = a.shape[-2:]
    inner = min(rows, columns)
    frame = a.shape[:-2]
    if not a.size:
        return np.zeros((*frame, rows, inner)), np.zeros((*frame, inner)), np.zeros((*frame, inner, columns))
    u, s, v = _iterated(lambda m: np.linalg.svd(m, full_matrices=False), a)
    units = _leading_units(u)
    return u * np.conjugate(units)[..., np.newaxis, :], s, v * units[..., np.newaxis]


def _eigh(a: NumArray) -> tuple[NumArray, NumArray]:
    if not a.size:
        return np.zeros(a.shape[:-1]), a
    values, vectors = _iterated(lambda m: np.linalg.eigh(m, "L"), a)
    return values, vectors * np.conjugate(_leading_units(vectors))[..., np.newaxis, :]


def _iterated(factor: Callable[[NumArray], tuple[Any, ...]], a: NumArray) -> list[NumArray]:
    """The factors, NaN where a matrix has an item that is not finite (or the iteration does not end)."""
    bad = np.asarray(~np.isfinite(a).all(axis=(-2, -1)))
    safe = np.where(bad[..., np.newaxis, np.newaxis], 0.0, a) if bad.any() else a
    try:
        factors = [np.asarray(part) for part in factor(safe)]
    except np.linalg.LinAlgError:
        factors = [np.asarray(part) for part in factor(np.zeros_like(a))]
        bad = np.ones_like(bad)
    for part in factors if bad.any() else ():
        part[bad] = np.nan
    return factors


# ------------------------------------------------------------------------------- again and again


_ALONE: Final = 1 << 12
"""Items from which BLAS might take several threads."""


def _again(make: Callable[[Sequence[NumArray], Sequence[NumArray], Any], Again | None]) -> Prepare:
    """What runs an operation on arrays of these shapes and dtypes, with the bits that it has alone; None: it is no one call."""

    def prepared(operands: Sequence[NumArray], targets: Sequence[NumArray]) -> Again | None:
        a = operands[-1]
        if a.ndim != 2 or operands[0].ndim > 2:
            return None
        dtype = np.dtype(np.complex128 if any(array.dtype.kind == "c" for array in operands) else np.float64)
        run = make(operands, targets, dtype)
        if run is None or len(a) * max(array.shape[-1] for array in (a, *targets)) < _ALONE:
            return run
        whole = run

        def guarded(operands: Sequence[NumArray], targets: Sequence[NumArray]) -> None:
            with alone():
                whole(operands, targets)

        return guarded

    return prepared


def _solving(operands: Sequence[NumArray], targets: Sequence[NumArray], dtype: Any) -> Again | None:
    (rows, columns), target = operands[-1].shape, targets[0]
    system = square(rows, target.shape[1] if target.ndim == 2 else 1, dtype) if rows == columns else None
    if system is None:
        return None
    identity = np.eye(rows)

    def run(operands: Sequence[NumArray], targets: Sequence[NumArray]) -> None:
        a = operands[-1]
        b = operands[0] if len(operands) > 1 else identity
        full = system.run(a, b if b.ndim == 2 else b[:, np.newaxis])
        if full is None:
            raise CheckFailed(Code.E703, _SINGULAR)
        if not full:
            _check_rank(np.asarray(np.linalg.qr(a.astype(dtype), "r")), _SINGULAR)
        target = targets[0]
        np.copyto(target if target.ndim == 2 else target[:, np.newaxis], system.solution, casting="unsafe")

    return run


def _factoring(operands: Sequence[NumArray], targets: Sequence[NumArray], dtype: Any) -> Again | None:
    rows, columns = operands[0].shape
    made = factors(rows, columns, dtype)
    if made is None:
        return None
    below = np.tri(len(made.r), columns, -1, dtype=np.bool_)
    diagonal = np.einsum("ii->i", made.r[:, : len(made.r)])

    def run(operands: Sequence[NumArray], targets: Sequence[NumArray]) -> None:
        made.run(operands[0])
        np.copyto(made.r, 0.0, where=below)
        _with_signs(made.q, made.r, diagonal)
        for target, array in zip(targets, (made.q, made.r), strict=True):
            np.copyto(target, array, casting="unsafe")

    return run


LINEAR: Final[dict[str, Operation]] = {
    "inverse": _library(_inverse, _again(_solving)), "solve": _library(_solve, _again(_solving)),
    "det": _library(_determinant), "slogdet": _library(_sign_and_log), "cholesky": _library(_cholesky),
    "qr": _library(_qr, _again(_factoring)), "svd": _library(_svd), "eigh": _library(_eigh),
}  # fmt: skip
