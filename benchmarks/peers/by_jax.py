"""The workloads for JAX, under `jit`, on arrays in memory (`arrays`); every call waits for its result."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

os.environ.setdefault("JAX_ENABLE_X64", "1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp

from rho.benchmarks.peers.sides import FEW_PRIMES, STEPS, Arrays, Call, Sides


def arrays(given: Arrays) -> Arrays:
    return {name: jax.block_until_ready(jnp.asarray(array)) for name, array in given.items()}


def _normal(x: Any) -> Any:
    return 0.5 * (1 + jax.scipy.special.erf(x * math.sqrt(0.5)))


def _options(s: Any, k: Any, t: Any) -> Any:
    root = 0.2 * jnp.sqrt(t)
    d1 = (jnp.log(s / k) + 0.07 * t) / root
    return s * _normal(d1) - k * jnp.exp(-0.05 * t) * _normal(d1 - root)


def _mandelbrot(p: Any, q: Any) -> Any:
    cr, ci = jnp.broadcast_arrays(p, q[:, None])

    def step(_: Any, state: Any) -> Any:
        zr, zi, n = state
        r, i = zr * zr, zi * zi
        alive = r + i <= 4
        return jnp.where(alive, r - i + cr, zr), jnp.where(alive, 2 * zr * zi + ci, zi), n + alive

    return jax.lax.fori_loop(0, STEPS, step, (jnp.zeros_like(cr), jnp.zeros_like(cr), jnp.zeros(cr.shape, jnp.int64)))[2]


def _life(b: Any) -> Any:
    def step(_: Any, b: Any) -> Any:
        n = b.astype(jnp.uint8)
        n = jnp.roll(n, 1, 1) + n + jnp.roll(n, -1, 1)
        n = jnp.roll(n, 1, 0) + n + jnp.roll(n, -1, 0)
        return (n == 3) | (b & (n == 4))

    return jax.lax.fori_loop(0, STEPS, step, b)


def _heat(A: Any) -> Any:
    def step(_: Any, u: Any) -> Any:
        near = jnp.roll(u, -1, 0) + jnp.roll(u, 1, 0) + jnp.roll(u, -1, 1) + jnp.roll(u, 1, 1)
        return u + 0.1 * (near - 4 * u)

    return jax.lax.fori_loop(0, STEPS, step, A)


def _bodies(p: Any, m: Any) -> Any:
    d = p[None] - p[:, None]
    r = (d * d).sum(2) + 0.01
    return (d * (m / (r * jnp.sqrt(r)))[:, :, None]).sum(1)


def _primes(i: Any, p: Any) -> Any:
    def step(k: Any, alive: Any) -> Any:
        return alive & ((i % p[k] != 0) | (i == p[k]))

    return jax.lax.fori_loop(0, len(p), step, jnp.ones(len(i), bool))


def _by_constants(i: Any, p: Any) -> Any:
    alive = jnp.ones(len(i), bool)
    for prime in FEW_PRIMES:
        alive = alive & ((i % prime != 0) | (i == prime))
    return alive


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "W1 2×x+y": lambda x, y: 2 * (x + y),
    "W2 polynomial": lambda x: ((x * 3 + 2) * x + 1) * x,
    "W3 Black-Scholes": _options,
    "W4 dot": lambda x, y: (x * y).sum(),
    "W5 distance": lambda x, y: jnp.sqrt(((x - y) ** 2).sum()),
    "W6 softmax rows": lambda A: jax.nn.softmax(A, 1),
    "W7 mean, variance": lambda A: jnp.stack((A.mean(1), A.var(1))),
    "W8 matrix product": lambda A, B: A @ B,
    "W9 Mandelbrot": _mandelbrot,
    "W10 Life": _life,
    "W11 heat": _heat,
    "W12 prefix sum": jnp.cumsum,
    "W13 sort": jnp.sort,
    "W13 stable grade": lambda x: jnp.argsort(x, stable=True),
    "W14 n-body": _bodies,
    "W15 k-means assignment": lambda x, c: ((x[:, None] - c[None]) ** 2).sum(2).argmin(1),
    "W16 histogram": lambda i: jnp.bincount(i, length=256),
    "W17 row sums, total": lambda A: A.sum(1).sum(),
    "W19 primes": _primes,
    "W19 by ten constants": _by_constants,
    "W20 layers": lambda x, u, v, w: jnp.tanh(jnp.tanh(x @ u) @ v) @ w,
    "+/x": lambda x: x.sum(),
    "column sums": lambda A: A.sum(0),
    "row sums": lambda A: A.sum(1),
}


def sides(threads: int) -> Sides:
    """The workloads; JAX uses all processors of the process, whatever `threads` is."""

    def waiting(call: Callable[..., Any]) -> Call:
        compiled = jax.jit(call)
        return lambda a: compiled(*a.values()).block_until_ready()

    return {work: waiting(call) for work, call in FUNCTIONS.items()}
