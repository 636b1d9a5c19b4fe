"""The workloads by hand for numexpr and numba, where they are installed (never in Rho's own environment).

Each is what a practised user would write: numexpr expressions; numba loops, parallel where there are several threads, and no
fast-math, as Rho keeps the order of operations too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

Arrays = dict[str, Any]
Sides = dict[str, Callable[[Arrays], Any]]


def peers(threads: int) -> dict[str, Sides]:
    """By the workload's name: what each peer runs."""
    found: dict[str, Sides] = {}
    for name, make in (("numexpr", _numexpr), ("numba", _numba)):
        try:
            sides = make(threads)
        except ImportError:
            continue
        for work, call in sides.items():
            found.setdefault(work, {})[name] = call
    return found


def _numexpr(threads: int) -> dict[str, Callable[[Arrays], Any]]:
    import numexpr

    numexpr.set_num_threads(threads)

    def expression(text: str) -> Callable[[Arrays], Any]:
        return lambda a: numexpr.evaluate(text, local_dict=a, global_dict={})

    return {
        "W1 2×x+y": expression("2*(x+y)"),
        "W2 polynomial": expression("((x*3+2)*x+1)*x"),
        "W4 dot": expression("sum(x*y)"),
        "W5 distance": lambda a: math.sqrt(numexpr.evaluate("sum((x-y)*(x-y))", local_dict=a, global_dict={})),
    }


def _numba(threads: int) -> dict[str, Callable[[Arrays], Any]]:
    import numba
    import numpy as np

    if threads > 1:
        numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
    jit: Any = numba.njit(parallel=threads > 1)
    prange: Any = numba.prange

    @jit
    def twice(x, y, two):  # type: ignore[no-untyped-def]
        r = np.empty_like(x)
        for i in prange(x.size):
            r[i] = two * (x[i] + y[i])
        return r

    @jit
    def polynomial(x, one):  # type: ignore[no-untyped-def]
        r = np.empty_like(x)
        two, three = one + one, one + one + one
        for i in prange(x.size):
            r[i] = ((x[i] * three + two) * x[i] + one) * x[i]
        return r

    @jit
    def options(s, k, t, one, half, fifth, drift, rate, scale):  # type: ignore[no-untyped-def]
        r = np.empty_like(s)
        for i in prange(s.size):
            root = fifth * math.sqrt(t[i])
            d1 = (math.log(s[i] / k[i]) + drift * t[i]) / root
            d2 = d1 - root
            left, right = half * (one + math.erf(d1 * scale)), half * (one + math.erf(d2 * scale))
            r[i] = s[i] * left - k[i] * math.exp(rate * t[i]) * right
        return r

    @jit
    def dot(x, y):  # type: ignore[no-untyped-def]
        total = x[0] - x[0]
        for i in prange(x.size):
            total += x[i] * y[i]
        return total

    @jit
    def distance(x, y):  # type: ignore[no-untyped-def]
        total = x[0] - x[0]
        for i in prange(x.size):
            total += (x[i] - y[i]) ** 2
        return math.sqrt(total)

    @jit
    def softmax(a):  # type: ignore[no-untyped-def]
        r = np.empty_like(a)
        for i in prange(a.shape[0]):
            most = a[i, 0]
            for j in range(a.shape[1]):
                most = max(most, a[i, j])
            total = a[i, 0] - a[i, 0]
            for j in range(a.shape[1]):
                r[i, j] = math.exp(a[i, j] - most)
                total += r[i, j]
            for j in range(a.shape[1]):
                r[i, j] /= total
        return r

    @jit
    def moments(a, length):  # type: ignore[no-untyped-def]
        r = np.empty((2, a.shape[0]), a.dtype)
        for i in prange(a.shape[0]):
            total = a[i, 0] - a[i, 0]
            for j in range(a.shape[1]):
                total += a[i, j]
            mean = total / length
            spread = a[i, 0] - a[i, 0]
            for j in range(a.shape[1]):
                spread += (a[i, j] - mean) ** 2
            r[0, i], r[1, i] = mean, spread / length
        return r

    @jit
    def mandelbrot(p, q):  # type: ignore[no-untyped-def]
        n = np.zeros((q.size, p.size), np.int64)
        for y in prange(q.size):
            for x in range(p.size):
                a, b = p[0] - p[0], p[0] - p[0]
                for _ in range(50):
                    r, i = a * a, b * b
                    if r + i > 4:
                        break
                    b = (a + a) * b + q[y]
                    a = r - i + p[x]
                    n[y, x] += 1
        return n

    @jit
    def heat(u, tenth, four):  # type: ignore[no-untyped-def]
        h, w = u.shape
        for _ in range(10):
            v = np.empty_like(u)
            for y in prange(h):
                up, down = u[(y + 1) % h], u[y - 1]
                row = u[y]
                for x in range(w):
                    right = row[x + 1] if x + 1 < w else row[0]
                    v[y, x] = row[x] + tenth * ((up[x] + down[x] + right + row[x - 1]) - four * row[x])
            u = v
        return u

    @numba.njit  # type: ignore[untyped-decorator]
    def prefix(x):  # type: ignore[no-untyped-def]
        r = np.empty_like(x)
        total = x[0] - x[0]
        for i in range(x.size):
            total += x[i]
            r[i] = total
        return r

    @jit
    def histogram(keys, parts):  # type: ignore[no-untyped-def]
        tables = np.zeros((parts, 256), np.int64)
        step = (keys.size + parts - 1) // parts
        for part in prange(parts):
            for i in range(part * step, min(keys.size, (part + 1) * step)):
                tables[part, keys[i]] += 1
        return tables.sum(0)

    @jit
    def total(a):  # type: ignore[no-untyped-def]
        found = a[0, 0] - a[0, 0]
        for i in prange(a.shape[0]):
            row = a[i, 0] - a[i, 0]
            for j in range(a.shape[1]):
                row += a[i, j]
            found += row
        return found

    @jit
    def columns(a):  # type: ignore[no-untyped-def]
        parts = 4
        tables = np.zeros((parts, a.shape[1]), a.dtype)
        step = (a.shape[0] + parts - 1) // parts
        for part in prange(parts):
            for i in range(part * step, min(a.shape[0], (part + 1) * step)):
                for j in range(a.shape[1]):
                    tables[part, j] += a[i, j]
        return tables.sum(0)

    numbers = (1, 0.5, 0.2, 0.07, -0.05, math.sqrt(0.5))
    return {
        "W1 2×x+y": lambda a: twice(a["x"], a["y"], a["x"].dtype.type(2)),
        "W2 polynomial": lambda a: polynomial(a["x"], a["x"].dtype.type(1)),
        "W3 Black-Scholes": lambda a: options(a["s"], a["k"], a["t"], *map(a["s"].dtype.type, numbers)),
        "W4 dot": lambda a: dot(a["x"], a["y"]),
        "W5 distance": lambda a: distance(a["x"], a["y"]),
        "W6 softmax rows": lambda a: softmax(a["A"]),
        "W7 mean, variance": lambda a: moments(a["A"], a["A"].dtype.type(a["A"].shape[1])),
        "W9 Mandelbrot": lambda a: mandelbrot(a["p"], a["q"]),
        "W11 heat, 10 steps": lambda a: heat(a["A"], a["A"].dtype.type(0.1), a["A"].dtype.type(4)),
        "W12 prefix sum": lambda a: prefix(a["x"]),
        "W16 histogram": lambda a: histogram(a["i"], 4),
        "W17 row sums, total": lambda a: total(a["A"]),
        "+⌿ columns": lambda a: columns(a["A"]),
    }
