"""`probability`, `random`, `signal`, `polynomial` and `solve` beside NumPy and SciPy, and beside what is known of them."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from beside import disagreements
from share import SEED

import rho

pytestmark = pytest.mark.long


def samples() -> dict[str, dict[str, Any]]:
    draw = np.random.default_rng(SEED)
    return {
        name: {"x": np.asarray(x, float), "y": np.asarray(y, float)}
        for name, x, y in (
            ("random", draw.normal(size=40), draw.normal(1, 3, size=25)),
            ("two", [1, 2], [5, 7]),
            ("equal", [3, 3, 3], [1, 2, 2]),
            ("ties", draw.integers(0, 4, 31), draw.integers(0, 4, 30)),
            ("NaN", [1, np.nan, 2], [4, 4, 5]),
            ("large", [1e8, 1e8 + 1, 1e8 + 2], [1e8, 1e8 + 3, 1e8 - 1]),
            ("far", [-900, -40, -8, -1e-3, 1e-300, 0.5, 1, 7, 38, 900, np.inf], [1, 2, 3, 1e9]),
        )
    }


def test_distributions_as_scipy(tmp_path: Path) -> None:
    special = pytest.importorskip("scipy.special")
    degrees = (0.5, 1, 3, 30, 1000)
    head = "use probability\ninput x : f64[n]\ninput y : f64[m]\n"
    cases: dict[str, Any] = {
        "probability.normal x": lambda x, y: special.ndtr(x),
        "probability.normal_quantile probability.normal ¯7⌈7⌊x": lambda x, y: special.ndtri(special.ndtr(np.clip(x, -7, 7))),
        "probability.normal_quantile x": lambda x, y: special.ndtri(x),
    }
    for k in degrees:
        cases[f"{{(p q) ← {k} probability.gamma ⍵ ⋄ p}} x"] = lambda x, y, k=k: special.gammainc(k, np.maximum(x, 0))
        cases[f"{{(p q) ← {k} probability.gamma ⍵ ⋄ q}} x"] = lambda x, y, k=k: special.gammaincc(k, np.maximum(x, 0))
        cases[f"{k} probability.student x"] = lambda x, y, k=k: special.stdtr(k, x)
        cases[f"({k} ⋄ 2.5) probability.beta x"] = lambda x, y, k=k: special.betainc(k, 2.5, np.clip(x, 0, 1))
        cases[f"{k} probability.chi_square_above x"] = lambda x, y, k=k: special.chdtrc(k, np.maximum(x, 0))
    assert not disagreements(tmp_path, head, cases, samples(), 1e-10)


def test_tests_as_scipy(tmp_path: Path) -> None:
    stats = pytest.importorskip("scipy.stats")
    head = (
        "use probability\ninput x : f64[n]\ninput y : f64[m]\n"
        "(s p) ← 1 probability.t_test x\n(s2 p2) ← x probability.welch_test y\n"
        "counts ← 9+⌊9⌊¯9⌈7↑10×(x=x)¿(x ⋄ 0)\n(s3 p3) ← counts probability.chi_square_test 7⍴(+/counts)÷7\n"
        "(s4 p4) ← probability.independence 1+2 3⍴counts\n"
    )

    def counts(x: Any) -> Any:
        return 9 + np.floor(
            np.clip(np.resize(np.append(10 * np.nan_to_num(x, posinf=np.inf), np.zeros(7)), max(7, len(x)))[:7], -9, 9)
        )

    def table(x: Any) -> Any:
        return stats.chi2_contingency(1 + counts(x)[:6].reshape(2, 3), correction=False)

    cases = {
        "s": lambda x, y: stats.ttest_1samp(x, 1).statistic, "p": lambda x, y: stats.ttest_1samp(x, 1).pvalue,
        "s2": lambda x, y: stats.ttest_ind(x, y, equal_var=False).statistic,
        "p2": lambda x, y: stats.ttest_ind(x, y, equal_var=False).pvalue,
        "s3": lambda x, y: stats.chisquare(counts(x)).statistic, "p3": lambda x, y: stats.chisquare(counts(x)).pvalue,
        "s4": lambda x, y: table(x).statistic, "p4": lambda x, y: table(x).pvalue,
    }  # fmt: skip
    data = samples()
    del data["far"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not disagreements(tmp_path, head, cases, data, 1e-9)


def test_signals_and_polynomials(tmp_path: Path) -> None:
    draw = np.random.default_rng(SEED)
    data = {
        f"{n} {m}": {"x": draw.normal(size=n), "y": draw.normal(size=m)}
        for n, m in ((1, 1), (1, 5), (9, 2), (4, 4), (40, 30), (64, 1))
    }
    head = "use signal\nuse polynomial\ninput x : f64[n] where n ≥ 1\ninput y : f64[m] where m ≥ 1\n(f p) ← 8 signal.spectrum x\n"

    def spectrum(x: Any, y: Any) -> Any:
        size = abs(np.fft.rfft(x - x.mean())) ** 2 / 8 / len(x)
        size[1 : len(size) - (len(x) % 2 == 0)] *= 2
        return size

    cases: dict[str, Any] = {
        "x signal.convolve y": lambda x, y: np.convolve(x, y),
        "x signal.convolve_fft y": lambda x, y: np.convolve(x, y),
        "x signal.correlate y": lambda x, y: np.correlate(x, y, "full"),
        "f": lambda x, y: np.fft.rfftfreq(len(x), 1 / 8),
        "p": spectrum,
        "signal.hann n": lambda x, y: np.hanning(len(x)) if len(x) > 1 else np.zeros(1),
        "x polynomial.value y": lambda x, y: np.polynomial.polynomial.polyval(y, x),
        "(2 2⍴x) polynomial.value⍤1 0 ⊢ 2⍴y": lambda x, y: None,
        "x polynomial.product y": lambda x, y: np.polynomial.polynomial.polymul(x, y),
        "polynomial.derivative x": lambda x, y: (x * np.arange(len(x)))[1:],
        "polynomial.antiderivative x": lambda x, y: np.polynomial.polynomial.polyint(x),
        "0 polynomial.fit (x ⋄ x*2)": lambda x, y: [np.mean(x**2)],
    }
    assert not disagreements(tmp_path, head, cases, data, 1e-9)
    points = np.sort(draw.random(50)) * 1000
    path = tmp_path / "p.rho"
    path.write_text(
        "use polynomial\ninput x : f64[n] where n ≥ 4\ninput y : f64[n]\noutput c ← 3 polynomial.fit (x ⋄ y)\n", encoding="utf-8"
    )
    fitted = rho.load(path).run(x=points, y=1 - points + points**3 / 7)["c"]
    np.testing.assert_allclose(fitted, [1, -1, 0, 1 / 7], atol=1e-4)


def test_spectrum_as_scipy() -> None:
    signal = pytest.importorskip("scipy.signal")
    for count in (7, 16):
        values = np.random.default_rng(SEED).normal(size=count)
        text = " ".join(repr(float(value)).replace("-", "¯") for value in values)
        frequencies, power = signal.periodogram(values, 8)
        np.testing.assert_allclose(rho.eval(f"use signal ⋄ (f p) ← 8 signal.spectrum {text} ⋄ p"), power, atol=1e-12)
        np.testing.assert_allclose(rho.eval(f"use signal ⋄ (f p) ← 8 signal.spectrum {text} ⋄ f"), frequencies)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1e¯13 {⍵-2 3 5*0.5} solve.bisect (0 0 0 ⋄ 9 9 9)", np.sqrt([2, 3, 5])),
        ("1e¯13 {(⍵*3)-⍵} solve.bisect (0.5 ⋄ 7)", 1),
        ("1e¯13 {⍵-1} solve.bisect (1 2 ⋄ 5 5)", [1, np.nan]),
        ("1e¯13 {1-⍵} solve.bisect (0 ¯5 ⋄ 1 ¯2)", [1, np.nan]),
        ("0 {⍵-1÷3} solve.bisect (0 ⋄ 1)", 1 / 3),
        ("1e¯13 {(⍵*2)-2 9 16} solve.newton 1 1 1", np.sqrt([2, 9, 16])),
        ("1e¯13 {(*⍵)-3} solve.newton 0", np.log(3)),
        ("20 {*-⍵×⍵} solve.integral (¯8 ⋄ 8)", np.sqrt(np.pi)),
        ("1 {⍵*9} solve.integral (0 ⋄ 2)", 102.4),
        ("3 {⍵} solve.integral (1 ⋄ 1)", 0),
        ("0 1 3 solve.trapezoid 1 3 5", 10),
        ("⍬ solve.trapezoid ⍬", 0),
        ("101⌷((0.01×⍳102) {-⍵} solve.runge_kutta 1 2)", np.exp(-1.01) * np.array([1, 2])),
        ("((○÷100)×⍳101) {⍵[1],-⍵[0]} solve.runge_kutta 0 1", None),
        ("⍴(0 1) {⍺} solve.euler 3", [2]),
        ("(0 1 3) {⍺} solve.euler 3", [3, 3, 5]),
    ],
)
def test_solvers(text: str, expected: Any) -> None:
    value = rho.eval(f"use solve ⋄ {text}")
    if expected is None:
        angles = np.pi / 100 * np.arange(101)
        expected = np.stack([np.sin(angles), np.cos(angles)], 1)
    np.testing.assert_allclose(value, expected, atol=1e-7)


def test_random_numbers_have_their_distributions() -> None:
    """By the sizes of the first moments; 20,000 numbers, five standard errors."""
    for name, mean, deviation in (("normal", 0, 1), ("exponential", 1, 1)):
        x = np.asarray(rho.eval(f"use random ⋄ 11 random.{name} 20000"))
        assert abs(x.mean() - mean) < 5 * deviation / 140 and abs(x.std() - deviation) < 0.1
        assert np.array_equal(x, rho.eval(f"use random ⋄ 11 random.{name} 20000"))
        assert not np.array_equal(x, rho.eval(f"use random ⋄ 12 random.{name} 20000"))
    dice = np.bincount(rho.eval("use random ⋄ 3 random.below 60000⍴6"), minlength=6)
    assert len(dice) == 6 and abs(dice - 10000).max() < 500
    choice = np.bincount(rho.eval("use random ⋄ 3 random.choice (0 1 0 3 0 ⋄ 40000⍴0)"), minlength=5)
    assert choice[0] == choice[2] == choice[4] == 0 and abs(choice[1] - 10000) < 500
    assert sorted(rho.eval("use random ⋄ 5 random.permutation 50")) == list(range(50))
    assert (
        np.shape(rho.eval("use random ⋄ 5 random.normal 0")) == np.shape(rho.eval("use random ⋄ 5 random.permutation 0")) == (0,)
    )
    assert np.shape(rho.eval("use random ⋄ 5 random.below 2 3⍴9")) == (2, 3)
    means = np.asarray(rho.eval("use random ⋄ (5 ⋄ 2000) {(+/⍵)÷≢⍵} random.bootstrap ⍳100"))
    assert abs(means.mean() - 49.5) < 0.5 and abs(means.std() - 2.89) < 0.3
