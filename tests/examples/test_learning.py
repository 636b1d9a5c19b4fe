"""The examples that learn: what they reach, beside what can be computed without gradients."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import rho

from .test_examples import DATA, run

pytestmark = pytest.mark.long


def test_digits_are_read() -> None:
    """`held` is the share of the held-out digits that are read rightly."""
    outputs = run("digits")
    loss = outputs["loss"]
    assert loss.shape == (11,)
    assert loss[0] > 2 > 0.05 > loss[-1]
    assert outputs["held"] >= 0.97


def test_digits_are_learnt_with_a_state_that_stays() -> None:
    """Steps from Python, of states that are moved, have the bits of steps of arrays."""
    step, digits = rho.load(DATA.parent / "digits_step.rho"), np.load(DATA / "digits.npy")
    rng = np.random.default_rng(1)
    start = {"w": rng.normal(0, 0.1, (64, 16)), "b": np.zeros(16), "v": rng.normal(0, 0.1, (16, 10)), "c": np.zeros(10)}
    state, arrays = {name: rho.ResidentArray(array) for name, array in start.items()}, dict(start)
    for _ in range(20):
        result = step.run(batch=digits, keep={name + "2": name for name in start}, **{n: s.move() for n, s in state.items()})
        right = step.run(batch=digits, **arrays)
        state, arrays = dict(result.resident), {name: right[name + "2"] for name in start}
        assert result["loss"] == right["loss"]
    assert all(np.asarray(state[name]).tobytes() == arrays[name].tobytes() for name in start)
    assert right["loss"] < 1.7


def test_letters_are_learnt() -> None:
    loss = run("letters", "--set", "rounds=2")["loss"]
    assert loss.shape == (3,)
    assert loss[0] > 3 > loss[1] > loss[2]
    text = (DATA / "gettysburg.txt").read_text().lower()
    letters = np.array([text.count(c) for c in "abcdefghijklmnopqrstuvwxyz ,."], float)
    share = letters[letters > 0] / letters.sum()
    assert loss[2] < -np.sum(share * np.log(share))  # less than who knows only how often letters come


def test_a_portfolio_is_the_best_of_all_supports() -> None:
    """The cost is quadratic, so on each set of assets that are held the best weights solve linear equations."""
    days, assets, aversion = 400, 5, 8.0
    market = 0.02 * (np.sum(rho.eval(f"7?12 {days}"), axis=0) - 6)
    own = 0.03 * (np.sum(rho.eval(f"8?12 {days} {assets}"), axis=0) - 6)
    number = np.arange(assets)
    returns = 0.001 + own * (0.4 + 0.1 * number) + np.outer(market, 0.5 + 0.2 * number) + 0.0004 * number
    mean, covariance = returns.mean(0), np.cov(returns.T, bias=True)

    def cost(w: np.ndarray) -> float:  # type: ignore[type-arg]
        return float(aversion * w @ covariance @ w - w @ mean)

    best = np.inf
    for size in range(1, assets + 1):
        for held in map(list, combinations(range(assets), size)):
            system = np.block(
                [[2 * aversion * covariance[np.ix_(held, held)], np.ones((size, 1))], [np.ones((1, size)), np.zeros((1, 1))]]
            )
            w = np.zeros(assets)
            w[held] = np.linalg.solve(system, np.append(mean[held], 1))[:-1]
            if (w >= 0).all():
                best = min(best, cost(w))
    outputs = run("portfolio", "--set", f"days={days}", "--set", f"assets={assets}", "--set", "rounds=20")
    w = outputs["w"]
    assert (w >= 0).all() and abs(w.sum() - 1) < 1e-12
    assert abs(outputs["loss"][-1] - cost(w)) < 1e-12
    assert best - 1e-12 <= cost(w) < best + 1e-5
