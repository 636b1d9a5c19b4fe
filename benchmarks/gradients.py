"""Gradients beside JAX, in one process and interleaved: the function, its gradient, and the first call of the gradient.

Eight functions (`rows`), of which two have the gradient written by hand too, and three programs of GradBench
(`evaluations`).  Without JAX its columns are empty.  Times are
milliseconds, the least of `ROUNDS`; JAX computes in f64 on as many threads as the process has.  Run:

    python benchmarks/gradients.py
    python benchmarks/gradients.py heat logistic
    taskset -c 0 python benchmarks/gradients.py --processor     # processor time on one core, for a machine that does other things

First calls are wall time always: compilers have threads of their own.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from gradbench.tool import Tool

import rho

ROUNDS = 9
Peer = Callable[[Any, Any], Any]


class Row(NamedTuple):
    """`function` of ⍺ (data) and ⍵ (what is differentiated by); `peer` of the module jax gives the same function; `by_hand`: the
    text of the gradient."""

    function: str
    data: Any
    point: Any
    peer: Callable[[Any], Peer]
    by_hand: str = ""


def rows() -> dict[str, Row]:
    rng = np.random.default_rng(0)
    size = 10**6
    options = np.stack([rng.uniform(50, 150, size), rng.uniform(0.1, 2, size), rng.uniform(0.1, 0.4, size)])
    weights = np.hstack([rng.random((256, 256)), rng.random((256, 10))]) * 0.05
    return {
        "logsumexp 10⁶": Row(
            "{m+⍟+/*⍵-m←⌈/⍵}", None, rng.random(size), lambda j: lambda _, x: j.nn.logsumexp(x), "{e÷+/e←*⍵-⌈/⍵}"
        ),
        "logistic 10⁵×100": Row(
            "{+/⍟1+*-⍺+.×⍵}", rng.random((10**5, 100)), rng.random(100) * 0.1,
            lambda j: lambda a, w: j.numpy.sum(j.numpy.log(1 + j.numpy.exp(-(a @ w)))), "{(-÷1+*⍺+.×⍵)+.×⍺}",
        ),
        "k-means 10⁵×8, 16": Row(
            "{c←⍵ ⋄ +/⌊/{+/(c-⍤1⊢⍵)*2}⍤1⊢⍺}", rng.random((10**5, 8)), rng.random((16, 8)),
            lambda j: lambda p, c: j.numpy.sum(j.numpy.min(j.numpy.sum((p[:, None, :] - c) ** 2, -1), -1)),
        ),
        "k-means as a product": Row(
            "{+/⌊/((+/⍺*2)∘.+(+/⍵*2))-2×⍺+.×⍉⍵}", rng.random((10**5, 8)), rng.random((16, 8)),
            lambda j: lambda p, c: j.numpy.sum(
                j.numpy.min(j.numpy.sum(p * p, -1)[:, None] + j.numpy.sum(c * c, -1) - 2 * p @ c.T, -1)
            ),
        ),
        "heat 256², 100": Row(
            "{+/,({⍵+0.1×((1⌽⍵)+(¯1⌽⍵)+(1⊖⍵)+(¯1⊖⍵))-4×⍵}⍣100⊢⍵)*2}", None, rng.random((256, 256)), _heat
        ),
        "Black-Scholes 10⁶": Row(
            "{k←⍺ ⋄ s←⍵[0] ⋄ t←⍵[1] ⋄ v←⍵[2] ⋄ n←{0.5×1+⎕erf⍵÷√2} ⋄ d←((⍟s÷k)+t×0.05+v×v÷2)÷v×√t ⋄ "
            "+/(s×n d)-k×(*¯0.05×t)×n d-v×√t}",
            rng.uniform(50, 150, size), options, _options,
        ),
        "MLP 1024×256×256×10": Row(
            "{+/,((0⌈⍺+.×256 256↑⍵)+.×256 ¯10↑⍵)*2}", rng.random((1024, 256)), weights,
            lambda j: lambda x, w: j.numpy.sum((j.numpy.maximum(0, x @ w[:, :256]) @ w[:, 256:]) ** 2),
        ),
        "mixture 1000×64, 25": Row(
            "{m←⍵ ⋄ +/{b+⍟+/*⍵-b←⌈/⍵}⍤1⊢{¯0.5×+/(m-⍤1⊢⍵)*2}⍤1⊢⍺}", rng.normal(size=(1000, 64)), rng.normal(size=(25, 64)),
            lambda j: lambda x, m: j.numpy.sum(j.nn.logsumexp(-0.5 * j.numpy.sum((x[:, None, :] - m) ** 2, -1), -1)),
        ),
    }  # fmt: skip


def _heat(j: Any) -> Peer:
    def step(u: Any, _: Any) -> tuple[Any, None]:
        near = j.numpy.roll(u, 1, 0) + j.numpy.roll(u, -1, 0) + j.numpy.roll(u, 1, 1) + j.numpy.roll(u, -1, 1)
        return u + 0.1 * (near - 4 * u), None

    return lambda _, u: j.numpy.sum(j.lax.scan(step, u, None, length=100)[0] ** 2)


def _options(j: Any) -> Peer:
    def value(strike: Any, x: Any) -> Any:
        spot, years, volatility = x
        root = volatility * j.numpy.sqrt(years)
        d = (j.numpy.log(spot / strike) + years * (0.05 + volatility * volatility / 2)) / root

        def normal(z: Any) -> Any:
            return 0.5 * (1 + j.scipy.special.erf(z / np.sqrt(2)))

        return j.numpy.sum(spot * normal(d) - strike * j.numpy.exp(-0.05 * years) * normal(d - root))

    return value


class Evaluation(NamedTuple):
    """A program of GradBench with its inputs; `peer` of the module jax gives the function of those that are differentiated by."""

    module: str
    inputs: dict[str, Any]
    by: tuple[str, ...]
    peer: Callable[[Any, dict[str, Any]], Callable[..., Any]]


def evaluations() -> dict[str, Evaluation]:
    rng = np.random.default_rng(0)

    def mixture(n: int, d: int, k: int) -> Evaluation:
        inputs = {
            "alpha": rng.normal(size=k), "mu": rng.random((k, d)), "q": 0.1 * rng.normal(size=(k, d)),
            "l": 0.1 * rng.normal(size=(k, d * (d - 1) // 2)), "x": rng.normal(size=(n, d)), "gamma": 1.3, "m": 2,
        }  # fmt: skip
        return Evaluation("gmm", inputs, ("alpha", "mu", "q", "l"), _mixture)

    recurrent = {
        "main_params": rng.random((4, 56)), "extra_params": rng.random((3, 14)), "state": rng.random((4, 14)),
        "sequence": rng.random((1024, 14)),
    }  # fmt: skip
    return {
        "GMM 1000×64, 25": mixture(1000, 64, 25),
        "GMM 10⁴×32, 25": mixture(10**4, 32, 25),
        "LSTM 2, 1024×14": Evaluation("lstm", recurrent, ("main_params", "extra_params"), _recurrent),
    }


def _mixture(j: Any, inputs: dict[str, Any]) -> Callable[..., Any]:
    x, gamma, m = inputs["x"], inputs["gamma"], inputs["m"]
    upper = np.triu_indices(x.shape[1], 1)

    def posterior(alpha: Any, mu: Any, q: Any, below: Any) -> Any:
        diagonal = j.numpy.exp(q)[:, :, None] * j.numpy.eye(q.shape[1])
        triangles = j.numpy.zeros(diagonal.shape).at[:, upper[1], upper[0]].set(below) + diagonal
        distances = j.numpy.sum(j.numpy.einsum("kij,nkj->nki", triangles, x[:, None] - mu) ** 2, -1)
        terms = alpha + j.numpy.sum(q, 1) - 0.5 * distances
        prior = m * j.numpy.sum(q) - 0.5 * gamma * gamma * j.numpy.sum(triangles**2)
        return j.numpy.sum(j.scipy.special.logsumexp(terms, 1)) - len(x) * j.scipy.special.logsumexp(alpha) + prior

    return posterior


def _recurrent(j: Any, inputs: dict[str, Any]) -> Callable[..., Any]:
    state, sequence = inputs["state"], inputs["sequence"]
    d = state.shape[1]

    def loss(main: Any, extra: Any) -> Any:
        weights = main.reshape(-1, 2, 4, d)

        def step(states: Any, rows: Any) -> tuple[Any, Any]:
            x, after = rows[0] * extra[0], []
            for (w, b), (h, c) in zip(weights, states, strict=True):
                c = c * j.nn.sigmoid(x * w[0] + b[0]) + j.nn.sigmoid(h * w[1] + b[1]) * j.numpy.tanh(h * w[3] + b[3])
                x = j.nn.sigmoid(x * w[2] + b[2]) * j.numpy.tanh(c)
                after.append(j.numpy.stack([x, c]))
            y = x * extra[1] + extra[2]
            return j.numpy.stack(after), rows[1] @ (y - j.numpy.log(j.numpy.sum(j.numpy.exp(y)) + 2))

        totals = j.lax.scan(step, state.reshape(-1, 2, d), (sequence[:-1], sequence[1:]))[1]
        return -j.numpy.sum(totals) / (d * (len(sequence) - 1))

    return loss


def measure_evaluation(row: Evaluation, jax: Any) -> tuple[list[float], list[float]]:
    """As `measure`."""
    with tempfile.TemporaryDirectory() as folder:
        tool = Tool(Path(folder))
        tool.define(row.module)
        value, slope = tool.programs[row.module, ("objective",)], tool.programs[row.module, ("jacobian",)]
    calls: dict[str, Callable[[], Any]] = {"f": lambda: value.run(**row.inputs), "gradient": lambda: slope.run(**row.inputs)}
    first, first_peer = timed(calls["gradient"]), float("nan")
    if jax is not None:
        peer = row.peer(jax, row.inputs)
        given = [jax.numpy.asarray(row.inputs[name]) for name in row.by]
        f, g = jax.jit(peer), jax.jit(jax.grad(peer, argnums=tuple(range(len(given)))))
        calls["JAX f"], calls["JAX gradient"] = lambda: f(*given).block_until_ready(), lambda: jax.block_until_ready(g(*given))
        first_peer = timed(calls["JAX gradient"])
        expected = np.concatenate([np.asarray(part).ravel() for part in g(*given)])
        assert np.allclose(expected, slope.run(**row.inputs)["jacobian"], rtol=1e-8, atol=1e-10)
    return settled(calls, first, first_peer)


def timed(call: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    begin = clock()
    call()
    return (clock() - begin) * 1e3


def measure(row: Row, jax: Any) -> tuple[list[float], list[float]]:
    """Milliseconds: [f, gradient, first gradient, gradient by hand] of Rho, and the first three of JAX."""
    arguments = (row.point,) if row.data is None else (row.data, row.point)
    function, gradient = rho.compile(row.function), rho.grad(row.function)
    calls: dict[str, Callable[[], Any]] = {"f": lambda: function(*arguments), "gradient": lambda: gradient(*arguments)}
    calls["f"]()
    first, first_peer = timed(calls["gradient"]), float("nan")
    if row.by_hand:
        by_hand = rho.compile(row.by_hand)
        calls["by hand"] = lambda: by_hand(*arguments)
    if jax is not None:
        peer = row.peer(jax)
        given = (None if row.data is None else jax.numpy.asarray(row.data), jax.numpy.asarray(row.point))
        value, slope = jax.jit(peer), jax.jit(jax.grad(peer, argnums=1))
        calls["JAX f"] = lambda: value(*given).block_until_ready()
        calls["JAX gradient"] = lambda: slope(*given).block_until_ready()
        first_peer = timed(calls["JAX gradient"])
        assert np.allclose(np.asarray(slope(*given)), gradient(*arguments), rtol=1e-8, atol=1e-8)
    return settled(calls, first, first_peer)


def settled(calls: dict[str, Callable[[], Any]], first: float, first_peer: float) -> tuple[list[float], list[float]]:
    """The least milliseconds of calls, interleaved, as `measure` returns them."""
    for _ in range(3):  # code is compiled beside the first calls
        for call in calls.values():
            call()
    clock = time.process_time if "--processor" in sys.argv else time.perf_counter
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(ROUNDS):
        for name, call in calls.items():
            best[name] = min(best[name], timed(call, clock))
    missing = float("nan")
    ours = [best["f"], best["gradient"], first, best.get("by hand", missing)]
    return ours, [best.get("JAX f", missing), best.get("JAX gradient", missing), first_peer]


def main() -> int:
    try:
        import jax
        import jax.scipy.special

        jax.config.update("jax_enable_x64", True)
    except ImportError:
        jax = None
    heads = ("f", "gradient", "by hand", "first", "JAX f", "gradient", "first", "Rho ÷ JAX", "first")
    print(f"{'':22}", *[f"{head:>9}" for head in heads])
    for name, row in (rows() | evaluations()).items():
        words = [word for word in sys.argv[1:] if not word.startswith("--")]
        if words and not any(word in name for word in words):
            continue
        ours, peer = measure(row, jax) if isinstance(row, Row) else measure_evaluation(row, jax)
        numbers = (ours[0], ours[1], ours[3], ours[2], *peer, ours[1] / peer[1], ours[2] / peer[2])
        print(f"{name:22}", *[f"{number:9.2f}" for number in numbers], flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
