"""Library functions of the core on whole cells: linear algebra and discrete Fourier transforms.

Everything is computed in binary64 (complex128) and rounded once to the result's kind; other back ends are compared
within k·ε·|A||B|, not bit for bit.  Transforms are the defining sums, with exact angles (jk mod n) and exact sums.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from typing import Final, TypeAlias

from ...lang.diagnostics.model import Code
from ...typechecker.elements import Kind
from ..vm.check_failures import CheckFailed
from ..vm.values import Array, array
from .arrays import InternalError, assemble, cells

# ---------------------------------------------------------------------------------------------------- matrices
#
# Linear algebra on small matrices, each algorithm in its plainest stable form.
#
# Matrices are lists of rows of Python floats or complex numbers.  Sign conventions, which other back ends normalise to:
#   * `qr`: the diagonal of R is real and not negative.
#   * `svd` and `eigh`: values in descending and in ascending order; each column of U (of V for `eigh`) is scaled by a
#     unit so that its item of largest magnitude (the first among those within 1e-9 of it) is real and positive; V of
#     `svd` is scaled along.
#   * `cholesky`: lower triangular, diagonal positive.
# Vectors of equal or nearly equal values, and of zero singular values, are not determined beyond their span.

Number: TypeAlias = float | complex
Matrix: TypeAlias = list[list[Number]]

EPSILON: Final = 2.0**-52
SWEEPS: Final = 60
NEAR: Final = 1 - 1e-9


def identity(n: int) -> Matrix:
    return [[1.0 if i == j else 0.0 for j in range(n)] for i in range(n)]


def adjoint(a: Matrix, columns: int) -> Matrix:
    """The conjugate transpose; `columns` is a's row length (rows may be none)."""
    return [[row[j].conjugate() for row in a] for j in range(columns)]


def multiply(a: Matrix, b: Matrix, columns: int) -> Matrix:
    return [[sum((x * b[k][j] for k, x in enumerate(row)), 0.0) for j in range(columns)] for row in a]


def norm(items: list[Number]) -> float:
    """Euclidean length, without overflow."""
    return math.hypot(*(part for x in items for part in (x.real, x.imag)))


# --------------------------------------------------------------------- elimination


def eliminate(a: Matrix, b: Matrix) -> tuple[Matrix, Matrix, float]:
    """Gaussian elimination with partial pivoting: upper triangle, transformed right sides, sign of the permutation."""
    a, b, sign = [row[:] for row in a], [row[:] for row in b], 1.0
    for k in range(len(a)):
        pivot = max(range(k, len(a)), key=lambda i: abs(a[i][k]))
        if pivot != k:
            a[k], a[pivot], b[k], b[pivot], sign = a[pivot], a[k], b[pivot], b[k], -sign
        if a[k][k] == 0:
            continue
        for i in range(k + 1, len(a)):
            factor = a[i][k] / a[k][k]
            a[i] = [x - factor * y for x, y in zip(a[i], a[k], strict=True)]
            b[i] = [x - factor * y for x, y in zip(b[i], b[k], strict=True)]
    return a, b, sign


def back_substitute(r: Matrix, b: Matrix) -> Matrix:
    """x with r +.× x equal to b, r upper triangular."""
    solution: Matrix = [[] for _ in r]
    for i in reversed(range(len(r))):
        if r[i][i] == 0:
            raise CheckFailed(Code.E703, "the matrix is singular")
        row = b[i][:]
        for k in range(i + 1, len(r)):
            row = [x - r[i][k] * y for x, y in zip(row, solution[k], strict=True)]
        solution[i] = [x / r[i][i] for x in row]
    return solution


def solve(a: Matrix, b: Matrix, columns: int) -> Matrix:
    """x with a +.× x = b: exact for a square a, least squares for a tall one, least norm for a wide one.

    `columns` is the length of a's rows.  Raises E703 where a does not have full rank."""
    rows = len(a)
    if rows == columns:
        _check_rank(qr(a, columns)[1], "the matrix is singular")
        upper, right, _ = eliminate(a, b)
        return back_substitute(upper, right)
    width = len(b[0]) if b else 0
    if rows > columns:
        q, r = qr(a, columns)
        _check_rank(r)
        return back_substitute(r, multiply(adjoint(q, columns), b, width))
    q, r = qr(adjoint(a, columns), rows)
    _check_rank(r)
    return multiply(q, forward_substitute(adjoint(r, rows), b), width)


def _check_rank(r: Matrix, trouble: str = "the matrix has not full rank") -> None:
    """Raises E703 if a column of the factored matrix depends on those before it: its pivot is within rounding of 0."""
    for i in range(len(r)):
        scale = max(abs(r[k][i]) for k in range(len(r)))
        if abs(r[i][i]) <= scale * EPSILON * len(r):
            raise CheckFailed(Code.E703, trouble)


def forward_substitute(lower: Matrix, b: Matrix) -> Matrix:
    solution: Matrix = []
    for i, row in enumerate(lower):
        right = b[i][:]
        for k in range(i):
            right = [x - row[k] * y for x, y in zip(right, solution[k], strict=True)]
        solution.append([x / row[i] for x in right])
    return solution


def determinant(a: Matrix) -> Number:
    upper, _, sign = eliminate(a, [[] for _ in a])
    product: Number = sign
    for i, row in enumerate(upper):
        product = product * row[i]
    return product


def sign_and_log(a: Matrix) -> tuple[Number, float]:
    """The determinant as its sign (of magnitude 1, or 0 for a singular matrix) and the logarithm of its magnitude."""
    upper, _, sign = eliminate(a, [[] for _ in a])
    unit: Number = sign
    log = 0.0
    for i, row in enumerate(upper):
        size = abs(row[i])
        if size == 0:
            return 0.0, -math.inf
        unit, log = unit * (row[i] / size), log + math.log(size)
    return unit, log


# ------------------------------------------------------------------- factorisations


def cholesky(a: Matrix) -> Matrix:
    """Lower triangular L with L times its adjoint equal to a (only a's lower triangle is read)."""
    n = len(a)
    lower: Matrix = [[0.0] * n for _ in range(n)]
    for j in range(n):
        pivot = a[j][j].real - sum(abs(x) ** 2 for x in lower[j][:j])
        if not pivot > 0:
            raise CheckFailed(Code.E703, "the matrix is not positive definite")
        lower[j][j] = math.sqrt(pivot)
        for i in range(j + 1, n):
            inner = sum((lower[i][k] * lower[j][k].conjugate() for k in range(j)), 0.0)
            lower[i][j] = (a[i][j] - inner) / lower[j][j]
    return lower


def qr(a: Matrix, columns: int) -> tuple[Matrix, Matrix]:
    """Reduced Householder QR: q has min(m, n) orthonormal columns; `columns` is n."""
    m, k = len(a), min(len(a), columns)
    r = [row[:] for row in a]
    q = identity(m)
    for j in range(k):
        x = [r[i][j] for i in range(j, m)]
        length = norm(x)
        if length == 0:
            continue
        unit = x[0] / abs(x[0]) if x[0] != 0 else 1.0
        v = [t / length for t in x]  # scaled, so that squares neither overflow nor vanish
        v[0] += unit
        scale = 2 / sum(abs(t) ** 2 for t in v)
        for target, width in ((r, columns), (q, m)):  # q accumulates the adjoint of Q
            for c in range(width):
                inner = sum((t.conjugate() * target[j + i][c] for i, t in enumerate(v)), 0.0) * scale
                for i, t in enumerate(v):
                    target[j + i][c] = target[j + i][c] - t * inner
    for i in range(k):
        diagonal = r[i][i]
        if diagonal != 0:
            rotation = diagonal.conjugate() / abs(diagonal)
            r[i] = [rotation * x for x in r[i]]
            q[i] = [rotation * x for x in q[i]]
            r[i][i] = abs(diagonal)
        r[i][:i] = [0.0] * i
    return [[q[j][i].conjugate() for j in range(k)] for i in range(m)], r[:k]


def svd(a: Matrix, columns: int) -> tuple[Matrix, list[float], Matrix]:
    """u, s, v with a = u +.× s × v: one-sided Jacobi on the columns of a (of its adjoint when a is wide)."""
    m, n = len(a), columns
    if m < n:
        u, s, v = _tall_svd(adjoint(a, n), m)
        return _oriented(adjoint(v, m), s, adjoint(u, m))
    return _oriented(*_tall_svd(a, n))


def _tall_svd(a: Matrix, n: int) -> tuple[Matrix, list[float], Matrix]:
    work = [[row[j] for row in a] for j in range(n)]  # columns
    right: Matrix = identity(n)  # columns of V
    for _ in range(SWEEPS):
        turned = False
        for p in range(n):
            for q in range(p + 1, n):
                turned = _orthogonalise(work, right, p, q) or turned
        if not turned:
            break
    lengths = [norm(column) for column in work]
    order = sorted(range(n), key=lambda j: -lengths[j])
    left: Matrix = [[x / lengths[j] for x in work[j]] if lengths[j] else [0.0] * len(a) for j in order]
    _complete(left, len(a))
    return (adjoint([[x.conjugate() for x in c] for c in left], len(a)), [lengths[j] for j in order],
            [[x.conjugate() for x in right[j]] for j in order])  # fmt: skip


def _orthogonalise(work: Matrix, right: Matrix, p: int, q: int) -> bool:
    """Rotates columns p and q until they are orthogonal; returns False if they already are."""
    inner = sum((x.conjugate() * y for x, y in zip(work[p], work[q], strict=True)), 0.0)
    a, b = norm(work[p]), norm(work[q])
    if abs(inner) <= EPSILON * a * b or inner == 0:
        return False
    unit = inner / abs(inner)
    zeta = (b * b - a * a) / (2 * abs(inner))
    t = math.copysign(1.0, zeta) / (abs(zeta) + math.hypot(1.0, zeta))
    c = 1 / math.hypot(1.0, t)
    for columns in (work, right):
        x, y = columns[p], [z * unit.conjugate() for z in columns[q]]
        columns[p] = [c * i - c * t * j for i, j in zip(x, y, strict=True)]
        columns[q] = [c * t * i + c * j for i, j in zip(x, y, strict=True)]
    return True


def _complete(columns: Matrix, m: int) -> None:
    """Replaces zero columns by unit vectors orthogonal to the others (Gram–Schmidt, twice)."""
    for j, column in enumerate(columns):
        if any(column):
            continue
        for i in range(m):
            candidate: list[Number] = [1.0 if k == i else 0.0 for k in range(m)]
            for _ in range(2):
                for other in columns:
                    inner = sum((x.conjugate() * y for x, y in zip(other, candidate, strict=True)), 0.0)
                    candidate = [y - inner * x for x, y in zip(other, candidate, strict=True)]
            length = norm(candidate)
            if length > 0.5 / math.sqrt(m):
                columns[j] = [x / length for x in candidate]
                break


def _unit_of(column: list[Number]) -> Number:
    """The unit whose conjugate makes the column's leading item real and positive."""
    largest = max((abs(x) for x in column), default=0.0)
    leading = next((x for x in column if abs(x) >= largest * NEAR), 0.0)
    return leading / abs(leading) if leading else 1.0


def _oriented(u: Matrix, s: list[float], v: Matrix) -> tuple[Matrix, list[float], Matrix]:
    units = [_unit_of([row[j] for row in u]) for j in range(len(s))]
    u = [[x * unit.conjugate() for x, unit in zip(row, units, strict=True)] for row in u]
    return u, s, [[unit * x for x in row] for row, unit in zip(v, units, strict=True)]


def eigh(a: Matrix) -> tuple[list[float], Matrix]:
    """Ascending eigenvalues and eigenvectors (columns) of a Hermitian matrix: cyclic Jacobi on its lower triangle."""
    n = len(a)
    work = [[a[i][j] if i >= j else a[j][i].conjugate() for j in range(n)] for i in range(n)]
    for i in range(n):
        work[i][i] = work[i][i].real
    vectors = identity(n)
    for _ in range(SWEEPS):
        off = norm([work[i][j] for i in range(n) for j in range(i)])
        if off <= EPSILON * EPSILON * norm([work[i][i] for i in range(n)]) or off == 0:
            break
        for p in range(n):
            for q in range(p + 1, n):
                _rotate(work, vectors, p, q)
    values = [work[i][i].real for i in range(n)]
    order = sorted(range(n), key=lambda i: values[i])
    units = [_unit_of([row[j] for row in vectors]) for j in order]
    turned = [[row[j] * unit.conjugate() for j, unit in zip(order, units, strict=True)] for row in vectors]
    return [values[j] for j in order], turned


def _rotate(work: Matrix, vectors: Matrix, p: int, q: int) -> None:
    """Makes work[p][q] zero by a unitary rotation of rows and columns p and q."""
    inner = work[p][q]
    if inner == 0:
        return
    unit = inner / abs(inner)
    theta = (work[q][q].real - work[p][p].real) / (2 * abs(inner))
    t = math.copysign(1.0, theta) / (abs(theta) + math.hypot(1.0, theta))
    c = 1 / math.hypot(1.0, t)
    s = c * t
    for row in (*work, *vectors):  # columns
        x, y = row[p], row[q] * unit.conjugate()
        row[p], row[q] = c * x - s * y, s * x + c * y
    above, below = work[p], [unit * z for z in work[q]]  # rows
    work[p] = [c * x - s * y for x, y in zip(above, below, strict=True)]
    work[q] = [s * x + c * y for x, y in zip(above, below, strict=True)]
    work[p][q] = work[q][p] = 0.0
    work[p][p], work[q][q] = work[p][p].real, work[q][q].real


# ---------------------------------------------------------------------------------------------------- linear

def library(name: str, args: Sequence[Array], kinds: Sequence[Kind], shapes: Sequence[tuple[int, ...]]) -> tuple[Array, ...]:
    """Applies the function `name` to every cell; `kinds` and `shapes` are those of the results."""
    if name in TRANSFORMS:
        return (_transform(name, args[0], kinds[0], shapes[0][-1]),)
    frame_rank = max(0, args[-1].rank - 2)
    parts = [cells(arg, frame_rank if arg.rank >= frame_rank else 0) for arg in args]
    frame = args[-1].shape[:frame_rank]
    collected: list[list[Array]] = [[] for _ in kinds]
    for i in range(math.prod(frame)):
        results = _on_cells(name, [part[i if len(part) > 1 else 0] for part in parts], kinds)
        for slot, result in zip(collected, results, strict=True):
            slot.append(result)
    return tuple(
        assemble(kind, frame, shape[frame_rank:], [array(kind, shape[frame_rank:], part.data) for part in slot])
        for kind, shape, slot in zip(kinds, shapes, collected, strict=True)
    )


def _rows(value: Array) -> tuple[Matrix, int]:
    """A cell as a matrix and its number of columns; a vector is one column, a scalar 1 by 1."""
    data: list[Number] = list(value.data)  # type: ignore[arg-type]
    columns = value.shape[1] if value.rank == 2 else 1
    rows = value.shape[0] if value.rank else 1
    return [data[i * columns : (i + 1) * columns] for i in range(rows)], columns


def _flat(kind: Kind, matrix: Matrix, columns: int) -> Array:
    return array(kind, (len(matrix), columns), [_real(kind, x) for row in matrix for x in row])


def _real(kind: Kind, value: Number) -> Number:
    return value if kind.is_complex else value.real


def _on_cells(name: str, args: Sequence[Array], kinds: Sequence[Kind]) -> tuple[Array, ...]:
    matrix, columns = _rows(args[-1])
    rows, kind = len(matrix), kinds[0]
    inner = min(rows, columns)
    match name:
        case "inverse":
            return (_flat(kind, solve(matrix, identity(rows), columns), rows),)
        case "solve":
            right, width = _rows(args[0])
            return (_flat(kind, solve(matrix, right, columns), width),)
        case "det":
            return (array(kind, (), [_real(kind, determinant(matrix))]),)
        case "slogdet":
            sign, log = sign_and_log(matrix)
            return array(kind, (), [_real(kind, sign)]), array(kinds[1], (), [log])
        case "cholesky":
            return (_flat(kind, cholesky(matrix), columns),)
        case "qr":
            q, r = qr(matrix, columns)
            return _flat(kind, q, inner), _flat(kinds[1], r, columns)
        case "svd":
            u, s, v = svd(matrix, columns)
            return _flat(kind, u, inner), array(kinds[1], (len(s),), s), _flat(kinds[2], v, columns)
        case "eigh":
            values, vectors = eigh(matrix)
            return array(kind, (len(values),), values), _flat(kinds[1], vectors, columns)
    raise InternalError(f"no library function {name}")


# ---------------------------------------------------------------------- transforms

TRANSFORMS = frozenset({"fft", "ifft", "rfft", "irfft"})


def _transform(name: str, value: Array, kind: Kind, length: int) -> Array:
    """A transform along the last axis; `length` is the length of the result's last axis."""
    frame = value.shape[:-1]
    parts = []
    for cell in cells(value, len(frame)):
        line = [complex(item) for item in cell.data]
        if name == "irfft":
            half = line[: length // 2 + 1]
            half[0] = complex(half[0].real) if half else 0j
            tail = [half[k].conjugate() for k in range(len(half) - 1 - (length % 2 == 0), 0, -1)]
            if length and length % 2 == 0:
                half[-1] = complex(half[-1].real)
            line = half + tail
        moved = fourier(line, inverse=name in ("ifft", "irfft"))[:length]
        parts.append(array(kind, (length,), [_real(kind, x) for x in moved]))
    return assemble(kind, frame, (length,), parts)


def fourier(line: Sequence[complex], *, inverse: bool) -> list[complex]:
    """The discrete Fourier transform by its definition; the inverse divides by n."""
    n = len(line)
    sense = 2j if inverse else -2j
    roots = [cmath.exp(sense * cmath.pi * k / n) for k in range(n)]
    result = []
    for k in range(n):
        terms = [x * roots[j * k % n] for j, x in enumerate(line)]
        total = complex(_sum([t.real for t in terms]), _sum([t.imag for t in terms]))
        result.append(total / n if inverse else total)
    return result


def _sum(items: Sequence[float]) -> float:
    try:
        return math.fsum(items)
    except (OverflowError, ValueError):  # infinities of both signs, or too large
        return sum(items)
