"""Small programs: ten of three to six phases on arrays of 20 to 100 rows, beside NumPy's array form and numba's loops.

Each side is called `--before` times, then the sides take turns; a figure is the least processor time of a call, in microseconds.
*Early* is the median of calls 10 to 20 of Rho by the time of its thread, with the cache of kernels that an earlier process has
filled.  Run:

    python benchmarks/small_programs.py                  all, about a minute and a half
    python benchmarks/small_programs.py --only lu,kalman --rounds 40
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

LIMITS = 1.2, 3.0
"""Of NumPy's time, of numba's."""
ROUND_SECONDS = 2e-3


@dataclass(frozen=True)
class Small:
    inputs: str
    """Names and shapes."""
    text: str
    make: Callable[[np.random.Generator], tuple[Any, ...]]
    by_hand: Callable[..., Any]
    loops: Callable[..., Any]
    """Compiled by numba."""


def _of(*shapes: tuple[int, ...]) -> Callable[[np.random.Generator], tuple[Any, ...]]:
    return lambda rng: tuple(rng.standard_normal(shape) for shape in shapes)


def _regular(rng: np.random.Generator) -> tuple[Any, ...]:
    return (rng.standard_normal((60, 60)) + 60 * np.eye(60),)


def _points(rng: np.random.Generator) -> tuple[Any, ...]:
    return rng.standard_normal((100, 3)), rng.standard_normal((5, 3))


def _kalman(rng: np.random.Generator) -> tuple[Any, ...]:
    return rng.standard_normal((20, 20)) / 5, np.eye(20), rng.standard_normal((20, 20))


def rank_two(a, b, c):  # type: ignore[no-untyped-def]
    rows, inner = a.shape
    result = c.copy()
    for i in range(rows):
        for j in range(i + 1):
            total = 0.0
            for k in range(inner):
                total += a[i, k] * b[j, k] + b[i, k] * a[j, k]
            result[i, j] = 0.5 * c[i, j] + total
    return result


def rank_k(a, c):  # type: ignore[no-untyped-def]
    rows, inner = a.shape
    result = c.copy()
    for i in range(rows):
        for j in range(i + 1):
            total = 0.0
            for k in range(inner):
                total += a[i, k] * a[j, k]
            result[i, j] = 1.2 * c[i, j] + 1.5 * total
    return result


def lu(given):  # type: ignore[no-untyped-def]
    a, size = given.copy(), len(given)
    for k in range(size - 1):
        for i in range(k + 1, size):
            a[i, k] /= a[k, k]
            for j in range(k + 1, size):
                a[i, j] -= a[i, k] * a[k, j]
    return a


def lu_by_hand(given: Any) -> Any:
    a = given.copy()
    for k in range(len(a) - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return a


def triangular(a, b):  # type: ignore[no-untyped-def]
    result = np.empty_like(b)
    for i in range(len(b)):
        total = b[i]
        for j in range(i):
            total -= a[i, j] * result[j]
        result[i] = total / a[i, i]
    return result


def triangular_by_hand(a: Any, b: Any) -> Any:
    result = np.empty_like(b)
    for i in range(len(b)):
        result[i] = (b[i] - a[i, :i] @ result[:i]) / a[i, i]
    return result


def covariance(x):  # type: ignore[no-untyped-def]
    rows, columns = x.shape
    centred, result = np.empty_like(x), np.empty((columns, columns))
    for j in range(columns):
        mean = 0.0
        for i in range(rows):
            mean += x[i, j]
        mean /= rows
        for i in range(rows):
            centred[i, j] = x[i, j] - mean
    for i in range(columns):
        for j in range(i + 1):
            total = 0.0
            for k in range(rows):
                total += centred[k, i] * centred[k, j]
            result[i, j] = result[j, i] = total / (rows - 1)
    return result


def covariance_by_hand(x: Any) -> Any:
    centred = x - x.mean(0)
    return centred.T @ centred / (len(x) - 1)


def ridge(x, y):  # type: ignore[no-untyped-def]
    columns = x.shape[1]
    square = np.zeros((columns, columns))
    right = np.zeros(columns)
    for k in range(len(x)):
        for i in range(columns):
            right[i] += x[k, i] * y[k]
            for j in range(columns):
                square[i, j] += x[k, i] * x[k, j]
    for i in range(columns):
        square[i, i] += 0.1
    return np.linalg.solve(square, right)


def ridge_by_hand(x: Any, y: Any) -> Any:
    return np.linalg.solve(x.T @ x + 0.1 * np.eye(x.shape[1]), x.T @ y)


def attention(q, k, v):  # type: ignore[no-untyped-def]
    rows, inner = q.shape
    result, weights = np.zeros(v.shape), np.empty(rows)
    for i in range(rows):
        greatest, total = -np.inf, 0.0
        for j in range(rows):
            weight = 0.0
            for at in range(inner):
                weight += q[i, at] * k[j, at]
            weights[j] = weight * 0.25
            greatest = max(greatest, weights[j])
        for j in range(rows):
            weights[j] = np.exp(weights[j] - greatest)
            total += weights[j]
        for j in range(rows):
            for at in range(v.shape[1]):
                result[i, at] += weights[j] / total * v[j, at]
    return result


def attention_by_hand(q: Any, k: Any, v: Any) -> Any:
    scores = q @ k.T * 0.25
    weights = np.exp(scores - scores.max(1)[:, None])
    return weights / weights.sum(1)[:, None] @ v


def regression(x, y, w):  # type: ignore[no-untyped-def]
    result = w.copy()
    for i in range(len(x)):
        total = 0.0
        for j in range(len(w)):
            total += x[i, j] * w[j]
        error = 1 / (1 + np.exp(-total)) - y[i]
        for j in range(len(w)):
            result[j] -= 0.1 / len(x) * x[i, j] * error
    return result


def regression_by_hand(x: Any, y: Any, w: Any) -> Any:
    return w - 0.1 / len(x) * ((1 / (1 + np.exp(-(x @ w))) - y) @ x)


def medians(x):  # type: ignore[no-untyped-def]
    result = np.empty(len(x))
    for i in range(len(x)):
        ordered = np.sort(x[i])
        total = 0.0
        for j in range(4, x.shape[1] - 4):
            total += ordered[j]
        result[i] = total / (x.shape[1] - 8)
    return result


def kalman(a, p, h):  # type: ignore[no-untyped-def]
    predicted = a @ p @ a.T
    seen = h @ predicted
    spread = seen @ h.T
    for i in range(len(a)):
        spread[i, i] += 1.0
    gain = np.linalg.solve(spread, seen)
    return predicted - seen.T @ gain


def kalman_by_hand(a: Any, p: Any, h: Any) -> Any:
    predicted = a @ p @ a.T
    seen = h @ predicted
    return predicted - seen.T @ np.linalg.solve(seen @ h.T + np.eye(len(a)), seen)


def _lower(result: Any, c: Any) -> Any:
    return np.where(np.tri(len(c), dtype=bool), result, c)


SMALL = {
    "rank-2 update": Small(
        "A:n m,B:n m,C:n n", "i←⍳≢C ⋄ R←(i∘.≥i)¿((0.5×C)+(A+.×⍉B)+B+.×⍉A ⋄ C)", _of((50, 35), (50, 35), (50, 50)),
        lambda a, b, c: _lower(0.5 * c + a @ b.T + b @ a.T, c), rank_two,
    ),
    "rank-k update": Small(
        "A:n m,C:n n", "i←⍳≢C ⋄ R←(i∘.≥i)¿((1.2×C)+1.5×A+.×⍉A ⋄ C)", _of((60, 40), (60, 60)),
        lambda a, c: _lower(1.2 * c + 1.5 * (a @ a.T), c), rank_k,
    ),
    "lu": Small(
        "A:n n", "s←{k←⍺ ⋄ A←⍵ ⋄ r←(k+1)+⍳(≢A)-k+1 ⋄ A[r;k]÷←A[k;k] ⋄ A[r;r]-←A[r;k]∘.×A[k;r] ⋄ A} ⋄ R←s⍣(⍳¯1+≢A)⊢A", _regular,
        lu_by_hand, lu,
    ),
    "triangular system": Small(
        "L:n n,b:n", "R←{x←⍵ ⋄ x[⍺]←(b[⍺]-(⍺↑L[⍺;])+.×⍺↑x)÷L[⍺;⍺] ⋄ x}⍣(⍳≢b)⊢0×b",
        lambda rng: (*_regular(rng), rng.standard_normal(60)), triangular_by_hand, triangular,
    ),
    "covariance": Small("X:n m", "x←X-⍤1⊢(+⌿X)÷≢X ⋄ R←((⍉x)+.×x)÷¯1+≢x", _of((100, 12)), covariance_by_hand, covariance),
    "ridge": Small(
        "X:n m,y:n", "i←⍳1⊃⍴X ⋄ R←((⍉X)+.×y)⌹((⍉X)+.×X)+0.1×i∘.=i", _of((100, 20), (100,)), ridge_by_hand, ridge
    ),
    "attention": Small("Q:n m,K:n m,V:n m", "R←({x←*⍵-⌈/⍵ ⋄ x÷+/x}⍤1⊢0.25×Q+.×⍉K)+.×V", _of((50, 16), (50, 16), (50, 16)),
                       attention_by_hand, attention),
    "regression": Small("X:n m,y:n,w:m", "R←w-(0.1÷≢X)×((÷1+*-X+.×w)-y)+.×X", _of((100, 20), (100,), (20,)),
                        regression_by_hand, regression),
    "trimmed means": Small("X:n m", "s←{⍵[⍋⍵]}⍤1⊢X ⋄ R←(+/¯4↓⍤1⊢4↓⍤1⊢s)÷¯8+1⊃⍴X", _of((40, 50)),
                           lambda x: np.sort(x, 1)[:, 4:-4].mean(1), medians),
    "kalman": Small("A:n n,P:n n,H:n n", "M←A+.×P+.×⍉A ⋄ S←H+.×M ⋄ i←⍳≢A ⋄ R←M-(⍉S)+.×S⌹(S+.×⍉H)+i∘.=i", _kalman,
                    kalman_by_hand, kalman),
}  # fmt: skip


def least(sides: list[Callable[[], Any]], rounds: int) -> list[float]:
    counts, times = [], [math.inf] * len(sides)
    for side in sides:
        began = time.process_time()
        for _ in range(20):
            side()
        counts.append(max(1, math.ceil(20 * ROUND_SECONDS / max(1e-7, time.process_time() - began))))
    for _ in range(rounds):
        for number, (side, count) in enumerate(zip(sides, counts, strict=True)):
            began = time.process_time()
            for _ in range(count):
                side()
            times[number] = min(times[number], (time.process_time() - began) / count)
    return times


def row(small: Small, before: int, rounds: int) -> dict[str, float]:
    import numba

    import rho

    given = small.make(np.random.default_rng(3))
    names, shapes = zip(*[each.split(":") for each in small.inputs.split(",")], strict=True)
    declared = [f"input {name} : f64[{shape}]" for name, shape in zip(names, shapes, strict=True)]
    with tempfile.NamedTemporaryFile("w", suffix=".rho", encoding="utf-8") as file:
        file.write("\n".join([*declared, small.text, "output R"]))
        file.flush()
        program = rho.load(file.name)
    named = dict(zip(names, given, strict=True))

    def ours() -> Any:
        return program.run(**named)

    expected, took = small.by_hand(*given), []
    for _ in range(before):
        began = time.thread_time()
        result = ours()
        took.append(time.thread_time() - began)
    jitted = numba.njit(small.loops)
    for other in (result["R"], jitted(*given)):
        np.testing.assert_allclose(other, expected, rtol=1e-9, atol=1e-9)
    mine, theirs, loops = least([ours, lambda: small.by_hand(*given), lambda: jitted(*given)], rounds)
    return {"early": statistics.median(took[10:20]), "Rho": mine, "NumPy": theirs, "numba": loops}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="parts of names, separated by commas")
    parser.add_argument("--before", type=int, default=1500)
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    names = [name for name in SMALL if any(part in name for part in options.only.split(","))]
    if options.inside:
        for name in names:
            print(json.dumps(row(SMALL[name], options.before, options.rounds)), flush=True)
        return
    command = [sys.executable, __file__, "--inside", "--only", options.only, "--rounds"]
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "RHO_KERNEL_CACHE": f"{folder}/kernels"}
        subprocess.run([*command, "1"], env=environment, check=True, stdout=subprocess.DEVNULL)
        output = subprocess.run([*command, str(options.rounds), "--before", str(options.before)], env=environment, check=True,
                                stdout=subprocess.PIPE, text=True).stdout  # fmt: skip
    print("| program | early µs | Rho µs | NumPy µs | numba µs | Rho ÷ NumPy | Rho ÷ numba |\n|---|---|---|---|---|---|---|")
    missed = 0
    for name, took in zip(names, map(json.loads, output.splitlines()), strict=True):
        ratios = took["Rho"] / took["NumPy"], took["Rho"] / took["numba"]
        missed += any(ratio > limit for ratio, limit in zip(ratios, LIMITS, strict=True))
        cells = [*(f"{seconds * 1e6:.3g}" for seconds in took.values()), *(f"{ratio:.2f}" for ratio in ratios)]
        print(f"| {name} | " + " | ".join(cells) + " |")
    print(f"\n{missed} of {len(names)} above {LIMITS[0]} × NumPy or {LIMITS[1]} × numba.")


if __name__ == "__main__":
    main()
