"""`stats` and `missing` beside NumPy and pandas: random data, none, NaN, ties and duplicates."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from beside import disagreements
from share import SEED

HEAD = "use stats\nuse missing\ninput x : f64[n]\n"
PROBABILITIES = np.array([0, 0.1, 0.25, 0.5, 0.77, 1])
EDGES = np.array([-1, 0, 0.5, 2, 2.5, 7])
POINTS = np.array([-1.0, 0, 0.5, 0.5, 3]), np.array([2.0, 5, -1, 4, 4])


def vectors() -> dict[str, dict[str, Any]]:
    """Vectors of every kind that a function may meet."""
    draw = np.random.default_rng(SEED)
    some = draw.normal(size=37)
    holes = np.where(draw.random(50) < 0.3, np.nan, draw.integers(-3, 8, 50))
    return {
        name: {"x": np.asarray(x, float)}
        for name, x in {
            "none": [], "one": [2.5], "equal": [3, 3, 3], "ties": draw.integers(0, 5, 40), "random": some, "large": some * 1e300,
            "holes": holes, "NaN": [np.nan], "NaN alone": [np.nan] * 4, "ends": [-1, 7, 7, 2.5, 0.5, 8, -2],
            "infinite": [np.inf, 1, 2, -np.inf], "falling": np.arange(9.0)[::-1],
        }.items()
    }  # fmt: skip


def quiet(reference: Callable[..., Any]) -> Callable[..., Any]:
    """The reference without its warnings, and NaN where it raises of no items."""

    def call(x: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return reference(x)

    return call


def quantiles(q: Any, of: Callable[..., Any] = np.quantile) -> Callable[..., Any]:
    """NumPy's quantiles, NaN of none; of infinite values NumPy itself says NaN or not by their neighbours."""
    return lambda x: None if np.isinf(x).any() else of(x, q) if len(x) else np.full(np.shape(q), np.nan)


def ends(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x: function(x) if len(x) else np.nan


def bars(x: Any) -> Any:
    return np.histogram(x[np.isfinite(x)], EDGES)[0]


def none(t: Any) -> Any:
    """NaN for each column."""
    return np.full(t.shape[1:], np.nan)


def last_or_none(x: Any, step: int) -> Any:
    result, previous = x[::step].copy(), np.nan
    for i, item in enumerate(result):
        previous = result[i] = previous if np.isnan(item) else item
    return result[::step]


CASES = {
    "0 0.1 0.25 0.5 0.77 1 stats.quantile x": quantiles(PROBABILITIES),
    "0.3 stats.quantile x": quantiles(0.3),
    "(2 3⍴0.3) stats.quantile x": quantiles(np.full((2, 3), 0.3)),
    "stats.median x": np.median,
    "¯1 0 0.5 2 2.5 7 stats.histogram x": bars,
    "(,7) stats.histogram x": lambda x: np.zeros(0),
    "(1↓0 7) stats.digitize x": lambda x: np.digitize(x, [7]),
    "¯1 0 0.5 2 2.5 7 stats.digitize x": lambda x: np.digitize(x, EDGES),
    "5 stats.edges x": lambda x: np.histogram_bin_edges(x, 5) if np.isfinite(x).all() and not (abs(x) > 1e290).any() else None,
    "(¯1 0 0.5 0.5 3 ⋄ 2 5 ¯1 4 4) stats.interp x": lambda x: np.interp(x, *POINTS),
    "((,1) ⋄ (,5)) stats.interp x": lambda x: np.where(np.isnan(x), np.nan, 5.0),
    "2 stats.round x": lambda x: np.where(np.isfinite(x) & (abs(x) < 1e200), np.round(np.where(abs(x) < 1e200, x, 0), 2), x),
    "0 stats.round x÷2": lambda x: np.round(x / 2),
    "¯1 stats.round 5×⌊2⌊¯2⌈0 missing.fill x": lambda x: np.round(5 * np.floor(np.clip(np.nan_to_num(x), -2, 2)), -1),
    "stats.sample_variance x": lambda x: None if (abs(x) > 1e200).any() else np.var(x, ddof=1) if len(x) > 1 else np.nan,
    "stats.sample_deviation x": lambda x: None if (abs(x) > 1e200).any() else np.std(x, ddof=1) if len(x) > 1 else np.nan,
    "×\\x": lambda x: None if (abs(x) > 1e200).any() else np.cumprod(x),
    "missing.count x": lambda x: np.count_nonzero(~np.isnan(x)),
    "missing.sum x": np.nansum,
    "missing.mean x": np.nanmean,
    "missing.least x": ends(np.nanmin),
    "missing.greatest x": ends(np.nanmax),
    "missing.variance x": np.nanvar,
    "missing.deviation x": lambda x: None if (abs(x) > 1e200).any() else np.nanstd(x),
    "0 0.1 0.25 0.5 0.77 1 missing.quantile x": quantiles(PROBABILITIES, np.nanquantile),
    "missing.drop x": lambda x: x[~np.isnan(x)],
    "7 missing.fill x": lambda x: np.where(np.isnan(x), 7, x),
    "missing.forward x": lambda x: last_or_none(x, 1),
    "missing.backward x": lambda x: last_or_none(x, -1),
}


def test_as_numpy(tmp_path: Path) -> None:
    cases = {expression: quiet(reference) for expression, reference in CASES.items()}
    assert not disagreements(tmp_path, HEAD, cases, vectors())


def test_ranks_and_interpolation_as_pandas(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")

    def by(method: str) -> Callable[..., Any]:
        return lambda x: pandas.Series(x).rank(method=method).to_numpy()

    cases = {
        "stats.rank x": by("average"),
        "{(a b c) ← stats.ranks ⍵ ⋄ (⍵=⍵)¿(a ⋄ ⎕nan)} x": by("min"),
        "{(a b c) ← stats.ranks ⍵ ⋄ (⍵=⍵)¿(b ⋄ ⎕nan)} x": by("max"),
        "{(a b c) ← stats.ranks ⍵ ⋄ (⍵=⍵)¿(c ⋄ ⎕nan)} x": by("dense"),
        "missing.linear x": lambda x: pandas.Series(x).interpolate().to_numpy(),
    }
    assert not disagreements(tmp_path, HEAD, cases, vectors())


def test_along_the_leading_axis(tmp_path: Path) -> None:
    names = {"sum": np.nansum, "mean": np.nanmean, "variance": np.nanvar, "deviation": np.nanstd}
    extremes = {"least": np.nanmin, "greatest": np.nanmax}
    cases = {f"missing.{name} t": lambda t, f=f: f(t, axis=0) for name, f in names.items()}
    cases |= {f"missing.{name} t": lambda t, f=f: f(t, axis=0) if len(t) else none(t) for name, f in extremes.items()}
    cases["stats.sample_deviation t"] = lambda t: np.std(t, axis=0, ddof=1) if len(t) > 1 else none(t)
    draw = np.random.default_rng(SEED)
    shapes = (0, 3), (1, 2), (9, 4), (5, 0)
    data = {str(shape): {"t": np.where(draw.random(shape) < 0.4, np.nan, draw.random(shape))} for shape in shapes}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not disagreements(tmp_path, "use stats\nuse missing\ninput t : f64[n m]\n", cases, data)
