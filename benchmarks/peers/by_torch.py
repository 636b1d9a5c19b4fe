"""The workloads for PyTorch, on tensors in memory (`arrays`); `by_compiled_torch` compiles the same functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from rho.benchmarks.peers.sides import FEW_PRIMES, STEPS, Arrays, Sides

Function = Callable[..., Any]


def arrays(given: Arrays) -> Arrays:
    """Tensors over the memory of the arrays."""
    return {name: torch.from_numpy(array) for name, array in given.items()}


def _normal(x: Any) -> Any:
    return 0.5 * (1 + torch.erf(x * math.sqrt(0.5)))


def _options(s: Any, k: Any, t: Any) -> Any:
    root = 0.2 * torch.sqrt(t)
    d1 = (torch.log(s / k) + 0.07 * t) / root
    return s * _normal(d1) - k * torch.exp(-0.05 * t) * _normal(d1 - root)


def _moments(A: Any) -> Any:
    return torch.stack((A.mean(1), A.var(1, correction=0)))


def mandelbrot(p: Any, q: Any, step: Function) -> Any:
    cr, ci = torch.broadcast_tensors(p, q[:, None])
    zr, zi, n = torch.zeros_like(cr), torch.zeros_like(cr), torch.zeros(cr.shape, dtype=torch.int64)
    for _ in range(STEPS):
        zr, zi, n = step(zr, zi, n, cr, ci)
    return n


def escape(zr: Any, zi: Any, n: Any, cr: Any, ci: Any) -> Any:
    r, i = zr * zr, zi * zi
    alive = r + i <= 4
    return torch.where(alive, r - i + cr, zr), torch.where(alive, 2 * zr * zi + ci, zi), n + alive


def life(b: Any) -> Any:
    n = b.to(torch.uint8)
    n = n.roll(1, 1) + n + n.roll(-1, 1)
    n = n.roll(1, 0) + n + n.roll(-1, 0)
    return (n == 3) | (b & (n == 4))


def heat(A: Any) -> Any:
    return A + 0.1 * ((A.roll(-1, 0) + A.roll(1, 0) + A.roll(-1, 1) + A.roll(1, 1)) - 4 * A)


def repeated(step: Function) -> Function:
    def loop(**given: Any) -> Any:
        (state,) = given.values()
        for _ in range(STEPS):
            state = step(state)
        return state

    return loop


def _bodies(p: Any, m: Any) -> Any:
    d = p[None] - p[:, None]
    r = (d * d).sum(2) + 0.01
    return (d * (m / (r * torch.sqrt(r)))[:, :, None]).sum(1)


def sieved(alive: Any, i: Any, prime: Any) -> Any:
    return alive & ((i % prime != 0) | (i == prime))


def primes(step: Function) -> Function:
    def loop(i: Any, p: Any) -> Any:
        alive = torch.ones(len(i), dtype=torch.bool)
        for prime in p:
            alive = step(alive, i, prime)
        return alive

    return loop


def _by_constants(i: Any, p: Any) -> Any:
    alive = torch.ones(len(i), dtype=torch.bool)
    for prime in FEW_PRIMES:
        alive = alive & ((i % prime != 0) | (i == prime))
    return alive


def _layers(x: Any, u: Any, v: Any, w: Any) -> Any:
    return torch.tanh(torch.tanh(x @ u) @ v) @ w


FUNCTIONS: dict[str, Function] = {
    "W1 2×x+y": lambda x, y: 2 * (x + y),
    "W2 polynomial": lambda x: ((x * 3 + 2) * x + 1) * x,
    "W3 Black-Scholes": _options,
    "W4 dot": lambda x, y: (x * y).sum(),
    "W5 distance": lambda x, y: torch.sqrt(((x - y) ** 2).sum()),
    "W6 softmax rows": lambda A: torch.softmax(A, 1),
    "W7 mean, variance": _moments,
    "W8 matrix product": lambda A, B: A @ B,
    "W9 Mandelbrot": partial(mandelbrot, step=escape),
    "W10 Life": repeated(life),
    "W11 heat": repeated(heat),
    "W12 prefix sum": lambda x: torch.cumsum(x, 0),
    "W13 sort": lambda x: torch.sort(x).values,
    "W13 stable grade": lambda x: torch.sort(x, stable=True).indices,
    "W14 n-body": _bodies,
    "W15 k-means assignment": lambda x, c: ((x[:, None] - c[None]) ** 2).sum(2).argmin(1),
    "W16 histogram": lambda i: torch.bincount(i, minlength=256),
    "W17 row sums, total": lambda A: A.sum(1).sum(),
    "W19 primes": primes(sieved),
    "W19 by ten constants": _by_constants,
    "W20 layers": _layers,
    "+/x": lambda x: x.sum(),
    "column sums": lambda A: A.sum(0),
    "row sums": lambda A: A.sum(1),
    "compress": lambda x: x[x > 0.5],
}


def sides(threads: int) -> Sides:
    torch.set_num_threads(threads)
    return {work: lambda a, call=call: call(**a) for work, call in FUNCTIONS.items()}  # type: ignore[misc]
