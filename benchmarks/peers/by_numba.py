"""The workloads for numba: loops, parallel with several threads, without fast-math, since Rho keeps the order of operations
too."""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np

from rho.benchmarks.peers.sides import FEW_PRIMES, STEPS, Sides


def sides(threads: int) -> Sides:
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
                for _ in range(STEPS):
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
        for _ in range(STEPS):
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

    @numba.njit  # type: ignore[untyped-decorator]
    def above(x, limit):  # type: ignore[no-untyped-def]
        r = np.empty_like(x)
        count = 0
        for i in range(x.size):
            r[count] = x[i]
            count += x[i] > limit
        return r[:count]

    @numba.njit  # type: ignore[untyped-decorator]
    def where(x, limit):  # type: ignore[no-untyped-def]
        r = np.empty(x.size, np.int64)
        count = 0
        for i in range(x.size):
            r[count] = i
            count += x[i] > limit
        return r[:count]

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

    @jit
    def life(b):  # type: ignore[no-untyped-def]
        h, w = b.shape
        for _ in range(STEPS):
            c = np.empty_like(b)
            for y in prange(h):
                up, row, down = b[y - 1], b[y], b[(y + 1) % h]
                for x in range(w):
                    right = x + 1 if x + 1 < w else 0
                    n = (
                        np.uint8(up[x - 1])
                        + up[x]
                        + up[right]
                        + row[x - 1]
                        + row[x]
                        + row[right]
                        + down[x - 1]
                        + down[x]
                        + down[right]
                    )
                    c[y, x] = (n == 3) | (row[x] & (n == 4))
            b = c
        return b

    @jit
    def bodies(p, m, soft):  # type: ignore[no-untyped-def]
        r = np.empty_like(p)
        for i in prange(p.shape[0]):
            x, y, z = soft - soft, soft - soft, soft - soft
            for j in range(p.shape[0]):
                a, b, c = p[j, 0] - p[i, 0], p[j, 1] - p[i, 1], p[j, 2] - p[i, 2]
                far = a * a + b * b + c * c + soft
                pull = m[j] / (far * math.sqrt(far))
                x, y, z = x + a * pull, y + b * pull, z + c * pull
            r[i, 0], r[i, 1], r[i, 2] = x, y, z
        return r

    @jit
    def assign(points, centres):  # type: ignore[no-untyped-def]
        r = np.empty(points.shape[0], np.int64)
        for i in prange(points.shape[0]):
            best, least = 0, points[i, 0] * 0 + np.inf
            for k in range(centres.shape[0]):
                far = points[i, 0] - points[i, 0]
                for f in range(points.shape[1]):
                    d = points[i, f] - centres[k, f]
                    far += d * d
                if far < least:
                    best, least = k, far
            r[i] = best
        return r

    @jit
    def primes(x, p):  # type: ignore[no-untyped-def]
        r = np.empty(x.size, np.bool_)
        for i in prange(x.size):
            v = x[i]
            alive = True
            for k in range(p.size):
                alive &= (v % p[k] != 0) | (v == p[k])
            r[i] = alive
        return r

    @jit
    def by_constants(x):  # type: ignore[no-untyped-def]
        r = np.empty(x.size, np.bool_)
        for i in prange(x.size):
            v = x[i]
            alive = True
            for p in FEW_PRIMES:
                alive = alive and (v % p != 0 or v == p)
            r[i] = alive
        return r

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
        "W10 Life": lambda a: life(a["b"]),
        "W11 heat": lambda a: heat(a["A"], a["A"].dtype.type(0.1), a["A"].dtype.type(4)),
        "W12 prefix sum": lambda a: prefix(a["x"]),
        "W14 n-body": lambda a: bodies(a["p"], a["m"], a["p"].dtype.type(0.01)),
        "W15 k-means assignment": lambda a: assign(a["x"], a["c"]),
        "compress": lambda a: above(a["x"], a["x"].dtype.type(0.5)),
        "where": lambda a: where(a["x"], a["x"].dtype.type(0.5)),
        "W16 histogram": lambda a: histogram(a["i"], 4),
        "W17 row sums, total": lambda a: total(a["A"]),
        "W19 primes": lambda a: primes(a["i"], a["p"]),
        "W19 by ten constants": lambda a: by_constants(a["i"]),
        "column sums": lambda a: columns(a["A"]),
    }
