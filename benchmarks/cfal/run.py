"""Compares Rho with NumPy on CFAL-bench (n-body, NAS MG, attention, quickhull), as ratios; results are compared first.

    python benchmarks/cfal/run.py [--rounds 3] [nbody attention mg quickhull]

Sizes: 2,000 bodies for 10 steps; attention of 16,384 × 64 in f32; MG class A (256³, four cycles), whose residual has a published
value; the hull of 10⁶ points in a disc.  Times are the least of interleaved rounds, of `rho.load(…).run` and of the NumPy text
below.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import rho

HERE = Path(__file__).parent
MG_RESIDUAL = 0.2433365309069285e-05
"""Of class A, as NPB's verification has it."""
Array = np.ndarray[Any, Any]


def mg_start(n: int) -> Array:
    """The start of NAS MG: 1 at the positions of the ten greatest numbers of NPB's generator (x ← 5¹³x mod 2⁴⁶), -1 at the ten
    least."""
    x = np.multiply.accumulate(np.full(n**3, 5**13, np.uint64)) * np.uint64(314159265) & np.uint64(2**46 - 1)
    order = np.argpartition(x, (9, n**3 - 10))
    v = np.zeros(n**3)
    v[order[:10]], v[order[-10:]] = -1, 1
    return v.reshape(n, n, n)


def _both(u: Array, axis: int) -> Array:
    return np.roll(u, 1, axis) + np.roll(u, -1, axis)


def _stencil(c: tuple[float, ...], u: Array) -> Array:
    x, y, z = (_both(u, axis) for axis in range(3))
    xy = _both(x, 1)
    weighted: Array = c[0] * u + c[1] * (x + y + z) + c[2] * (xy + _both(x, 2) + _both(y, 2)) + c[3] * _both(xy, 2)
    return weighted


def _operator(u: Array) -> Array:
    return _stencil((-8 / 3, 0, 1 / 6, 1 / 12), u)


def _smooth(u: Array) -> Array:
    return _stencil((-3 / 8, 1 / 32, -1 / 64, 0), u)


def _prolong(z: Array) -> Array:
    for axis in range(3):
        between = 0.5 * (z + np.roll(z, 1, axis))
        z = np.stack([between, z], axis + 1).reshape([s * (1 + (i == axis)) for i, s in enumerate(z.shape)])
    return z


def _cycle(r: Array) -> Array:
    if len(r) == 2:
        return _smooth(r)
    z = _prolong(_cycle(_stencil((0.5, 0.25, 0.125, 0.0625), r)[1::2, 1::2, 1::2]))
    return z + _smooth(r - _operator(z))


def mg(v: Array) -> Array:
    u = np.zeros_like(v)
    for _ in range(4):
        u = u + _cycle(v - _operator(u))
    return np.sqrt(np.square(v - _operator(u)).mean())


def attention(q: Array, k: Array, v: Array) -> Array:
    s = q @ k.T / np.float32(np.sqrt(q.shape[1]))
    s = np.exp(s - s.max(1, keepdims=True))
    o: Array = (s / s.sum(1, keepdims=True)) @ v
    return o


def nbody(position: Array, velocity: Array, mass: Array, steps: int = 10, dt: float = 0.001) -> Array:
    p, v = position.copy(), velocity.copy()
    for _ in range(steps):
        d = p[:, None] - p[None]
        weights = mass[:, None] / (1e-9 + (d * d).sum(2)) ** 1.5
        v = v + dt * (d * weights[..., None]).sum(0)
        p = p + dt * v
    return p


def _right(a: Array, b: Array, points: Array) -> Array:
    """Twice the signed area of the triangles of `a`, `b` and each point, positive right of the line from `a` to `b`."""
    (dx, dy), (x, y) = b - a, points.T
    area: Array = dx * (a[1] - y) - dy * (a[0] - x)
    return area


def _beyond(a: Array, b: Array, points: Array) -> list[Array]:
    """The vertices of the hull strictly between `a` and `b`, given the points right of that line."""
    area = _right(a, b, points)
    points, area = points[area > 0], area[area > 0]
    if not len(points):
        return []
    c = points[area.argmax()]
    return [*_beyond(a, c, points), c, *_beyond(c, b, points)]


def quickhull(points: Array) -> Array:
    """The vertices of the convex hull, anticlockwise."""
    a, b = points[points[:, 0].argmin()], points[points[:, 0].argmax()]
    return np.array([a, *_beyond(a, b, points), b, *_beyond(b, a, points)])


def by_rows(points: Array) -> Array:
    return points[np.lexsort(points.T)]


def disc(draw: np.random.Generator, n: int) -> Array:
    angle, radius = 2 * np.pi * draw.random(n), np.sqrt(draw.random(n))
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1)


def cases() -> dict[str, tuple[dict[str, Any], str, Callable[..., Array]]]:
    """For each name: the inputs, the output that is compared, and the NumPy function."""
    draw = np.random.default_rng(0)
    q, k, v = (draw.standard_normal((16_384, 64)).astype(np.float32) for _ in range(3))
    bodies = {"position": draw.random((2_000, 3)), "velocity": draw.random((2_000, 3)), "mass": draw.random(2_000)}
    return {
        "nbody": (bodies, "positions", nbody),
        "attention": ({"q": q, "k": k, "v": v}, "o", attention),
        "mg": ({"v": mg_start(256)}, "residual", mg),
        "quickhull": ({"points": disc(draw, 1_000_000)}, "hull", quickhull),
    }


def timed(function: Callable[..., Any], given: dict[str, Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = function(**given)
    return time.perf_counter() - start, result


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("names", nargs="*", default=["nbody", "attention", "mg", "quickhull"])
    asked.add_argument("--rounds", type=int, default=3)
    options = asked.parse_args()
    print("| program | NumPy s | Rho s | Rho ÷ NumPy |\n|---|---|---|---|")
    for name, (given, output, peer) in cases().items():
        if name not in options.names:
            continue
        program = rho.load(HERE / f"{name}.rho")
        result, expected = program.run(**given)[output], peer(**given)
        if name == "quickhull":
            result, expected = by_rows(result), by_rows(expected)
        assert np.allclose(result, expected, 1e-4 if name == "attention" else 1e-9), name
        assert name != "mg" or abs(result / MG_RESIDUAL - 1) < 1e-8
        rounds = [(timed(peer, given)[0], timed(program.run, given)[0]) for _ in range(options.rounds)]
        theirs, ours = map(min, zip(*rounds, strict=True))
        print(f"| {name} | {theirs:.3f} | {ours:.3f} | {ours / theirs:.2f} |", flush=True)


if __name__ == "__main__":
    main()
