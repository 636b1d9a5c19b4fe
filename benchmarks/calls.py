"""Small functions of arrays for `latency`: in Rho, in idiomatic NumPy, and in numba if it is installed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

SIZES = (10, 1000, 100_000)


def _one(size: int) -> tuple[Any, ...]:
    return (np.random.default_rng(1).random(size),)


def _two(size: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(2)
    return rng.random(size), rng.random(size)


def _scaled(size: int) -> tuple[Any, ...]:
    return 2.5, np.random.default_rng(3).random(size)


def _other(size: int) -> tuple[Any, ...]:
    """Different data in each set, so that selections have different sizes."""
    rng = np.random.default_rng()
    return (rng.random(size) * rng.uniform(0.6, 2.0),)


def _square(size: int) -> tuple[Any, ...]:
    rng, side = np.random.default_rng(4), max(3, round(size**0.5))
    return rng.random((side, side)), rng.random(side)


@dataclass(frozen=True)
class Call:
    name: str
    text: str
    make: Callable[[int], tuple[Any, ...]]
    by_hand: Callable[..., Any]
    sizes: tuple[int, ...] = SIZES
    sets: int = 1
    """The number of sets of arguments, which are used in turn."""


CALLS = [
    Call("2×x+y", "{2×⍺+⍵}", _two, lambda x, y: 2 * (x + y)),
    Call("polynomial", "{((((⍵×3)+2)×⍵)+1)×⍵}", _one, lambda x: ((x * 3 + 2) * x + 1) * x),
    Call("+/x×y", "{+/⍺×⍵}", _two, lambda x, y: (x * y).sum()),
    Call("distance", "{√+/(⍺-⍵)*2}", _two, lambda x, y: np.sqrt(((x - y) ** 2).sum())),
    Call("mean", "{(+⌿⍵)÷≢⍵}", _one, lambda x: x.mean()),
    Call("number × vector", "{⍺×⍵}", _scaled, lambda a, x: a * x),
    Call("exponential", "*", _one, np.exp),
    Call("reversed", "{⌽⍵}", _one, lambda x: x[::-1].copy()),
    Call("shape", "{⍴⍵}", _one, lambda x: np.array(x.shape)),
    Call("differences", "{(1↓⍵)-¯1↓⍵}", _one, np.diff),
    Call("sorted", "{⍵[⍋⍵]}", _one, np.sort),
    Call("sums so far", "{+\\⍵}", _one, np.cumsum),
    Call("those above", "{(⍵>0.5)⌿⍵}", _one, lambda x: x[x > 0.5]),
    Call("sum of those above, new data", "{+/(⍵>0.5)/⍵}", _other, lambda x: x[x > 0.5].sum(), (10, 1000, 10_000), 500),
    Call("matrix × vector", "{⍺+.×⍵}", _square, lambda a, x: a @ x),
    Call("halved five times", "{{⍵×0.5}⍣5 ⊢ ⍵}", _one, lambda x: x * 0.5 * 0.5 * 0.5 * 0.5 * 0.5),
]


def by_numba() -> dict[str, Callable[[int], Callable[..., Any]]]:
    """For each name a factory of the function for arrays of a size (parallel for large ones); empty without numba."""
    try:
        import numba
    except ImportError:
        return {}

    def compiled(function: Callable[..., Any]) -> Callable[[int], Callable[..., Any]]:
        made = {many: numba.njit(function, parallel=many) for many in (False, True)}

        def choose(size: int) -> Callable[..., Any]:
            run = made[size >= 50_000]
            run(*(_two(size) if function.__code__.co_argcount == 2 else _one(size)))
            return run

        return choose

    def axpy(x: Any, y: Any) -> Any:
        made = np.empty_like(x)
        for i in numba.prange(x.size):
            made[i] = 2 * (x[i] + y[i])
        return made

    def polynomial(x: Any) -> Any:
        made = np.empty_like(x)
        for i in numba.prange(x.size):
            made[i] = ((x[i] * 3 + 2) * x[i] + 1) * x[i]
        return made

    def dot(x: Any, y: Any) -> Any:
        total = 0.0
        for i in numba.prange(x.size):
            total += x[i] * y[i]
        return total

    def distance(x: Any, y: Any) -> Any:
        total = 0.0
        for i in numba.prange(x.size):
            total += (x[i] - y[i]) ** 2
        return np.sqrt(total)

    def mean(x: Any) -> Any:
        total = 0.0
        for i in numba.prange(x.size):
            total += x[i]
        return total / x.size

    loops = {"2×x+y": axpy, "polynomial": polynomial, "+/x×y": dot, "distance": distance, "mean": mean}
    return {name: compiled(loop) for name, loop in loops.items()}
