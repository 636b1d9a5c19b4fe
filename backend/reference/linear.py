"""Library functions of the core on whole cells: linear algebra and discrete Fourier transforms.

Everything is computed in binary64 (complex128) and rounded once to the result's kind; other back ends are compared
within k·ε·|A||B|, not bit for bit.  Transforms are the defining sums, with exact angles (jk mod n) and exact sums.

Neighbours: `matrices` (the algorithms and their sign conventions), `interpret`.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence

from ...typechecker.elements import Kind
from ..run.values import Array, array
from . import matrices
from .failures import InternalError
from .indexing import assemble, cells
from .matrices import Matrix, Number


def library(name: str, args: Sequence[Array], kinds: Sequence[Kind], shapes: Sequence[tuple[int, ...]]) -> tuple[Array, ...]:
    """Apply `name` to every cell; `kinds` and `shapes` are those of the results."""
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
            return (_flat(kind, matrices.solve(matrix, matrices.identity(rows), columns), rows),)
        case "solve":
            right, width = _rows(args[0])
            return (_flat(kind, matrices.solve(matrix, right, columns), width),)
        case "det":
            return (array(kind, (), [_real(kind, matrices.determinant(matrix))]),)
        case "slogdet":
            sign, log = matrices.sign_and_log(matrix)
            return array(kind, (), [_real(kind, sign)]), array(kinds[1], (), [log])
        case "cholesky":
            return (_flat(kind, matrices.cholesky(matrix), columns),)
        case "qr":
            q, r = matrices.qr(matrix, columns)
            return _flat(kind, q, inner), _flat(kinds[1], r, columns)
        case "svd":
            u, s, v = matrices.svd(matrix, columns)
            return _flat(kind, u, inner), array(kinds[1], (len(s),), s), _flat(kinds[2], v, columns)
        case "eigh":
            values, vectors = matrices.eigh(matrix)
            return array(kind, (len(values),), values), _flat(kinds[1], vectors, columns)
    raise InternalError(f"no library function {name}")


# ---------------------------------------------------------------------- transforms

TRANSFORMS = frozenset({"fft", "ifft", "rfft", "irfft"})


def _transform(name: str, value: Array, kind: Kind, length: int) -> Array:
    """Along the last axis; `length` is the result's last size."""
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
