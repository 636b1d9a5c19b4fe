"""`rolling` and `series` beside pandas: by rows and by time, random data, none, ties, NaN, widths beyond the data."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from beside import disagreements
from share import SEED

import rho

pandas = pytest.importorskip("pandas")


def vectors() -> dict[str, dict[str, Any]]:
    draw = np.random.default_rng(SEED)
    return {
        name: {"x": np.asarray(x, float), "t": np.sort(draw.integers(0, 2 * len(x) + 1, len(x)))}
        for name, x in {
            "none": [], "one": [2.0], "ties": draw.integers(0, 4, 300), "random": draw.normal(size=400), "few": [3, 1, 2],
            "rising": np.arange(150.0) ** 3, "holes": np.where(draw.random(200) < 0.02, np.nan, draw.random(200)),
        }.items()
    }  # fmt: skip


def by_rows(width: int, method: str, *arguments: Any) -> Callable[..., Any]:
    return lambda x, t: getattr(pandas.Series(x).rolling(width), method)(*arguments).to_numpy()


def by_time(width: int, method: str, *arguments: Any) -> Callable[..., Any]:
    """The windows of pandas, but NaN where one holds a NaN."""

    def call(x: Any, t: Any) -> Any:
        series = pandas.Series(x, index=pandas.to_datetime(t, unit="s"))
        result = getattr(series.rolling(f"{width}s"), method)(*arguments).to_numpy()
        return np.where(series.isna().astype(float).rolling(f"{width}s").max().to_numpy() > 0, np.nan, result)

    return call


def test_rows_as_pandas(tmp_path: Path) -> None:
    names = {"sum": "sum", "mean": "mean", "least": "min", "greatest": "max", "deviation": "std"}
    cases = {f"{w} rolling.{ours} x": by_rows(w, theirs) for w in (2, 20, 129) for ours, theirs in names.items()}
    cases |= {f"{w} rolling.quantile ({p} ⋄ x)": by_rows(w, "quantile", p) for w, p in ((1, 0.5), (5, 0.3), (20, 1), (100, 0.77))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not disagreements(tmp_path, "use rolling\ninput x : f64[n]\ninput t : i64[n]\n", cases, vectors(), 1e-7)


def test_times_as_pandas(tmp_path: Path) -> None:
    names = {"sum": "sum", "mean": "mean", "least": "min", "greatest": "max", "deviation": "std"}
    widths = {f"({w} rolling.within t)": w for w in (1, 9, 500)}
    cases = {f"{text} rolling.{ours}_of x": by_time(w, theirs) for text, w in widths.items() for ours, theirs in names.items()}
    ranged = "{{(begin end) ← {w} rolling.within t ⋄ {p} rolling.quantile_of (begin ⋄ end ⋄ x)}} 0"
    cases |= {ranged.format(w=w, p=p): by_time(w, "quantile", p) for w, p in ((9, 0.5), (40, 0.25), (500, 1))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not disagreements(tmp_path, "use rolling\ninput x : f64[n]\ninput t : i64[n]\n", cases, vectors(), 1e-7)


def test_series_as_pandas(tmp_path: Path) -> None:
    def of(function: Callable[[Any], Any]) -> Callable[..., Any]:
        return lambda x, t: function(pandas.Series(x)).to_numpy()

    cases = {
        "2 series.shift x": of(lambda s: s.shift(2)),
        "¯1 series.shift x": of(lambda s: s.shift(-1)),
        "3 series.change x": of(lambda s: s.diff(3)),
        "series.returns x+1": of(lambda s: (s + 1).pct_change(fill_method=None)),
        "series.log_returns 9+x": of(lambda s: np.log((9 + s) / (9 + s).shift())),
        "series.drawdown 9+x": of(lambda s: (9 + s) / (9 + s).cummax() - 1),
        "0.2 series.ema x": of(lambda s: s.ewm(alpha=0.2, adjust=False, ignore_na=True).mean()),
        "0.2 series.ewm x": of(lambda s: s.ewm(alpha=0.2, ignore_na=True).mean()),
    }
    assert not disagreements(tmp_path, "use series\ninput x : f64[n]\ninput t : i64[n]\n", cases, vectors(), 1e-9)


def test_bars_as_resampled(tmp_path: Path) -> None:
    def bars(field: str) -> Callable[..., Any]:
        def call(x: Any, t: Any) -> Any:
            frame = pandas.DataFrame({"x": x, "v": np.arange(len(x)) + 1.0, "t": t - t % 7})
            frame["xv"] = frame.x * frame.v
            grouped = frame.groupby("t")
            if field == "vwap":
                return (grouped.xv.sum(skipna=False) / grouped.v.sum()).to_numpy()
            if field == "start":
                return np.array(list(grouped.groups), int)
            if field in ("first", "last"):
                return getattr(grouped.x, field)(skipna=False).to_numpy()
            return getattr(grouped["v" if field == "sum" else "x"], field)(skipna=False).to_numpy()

        return call

    fields = ("start", "first", "max", "min", "last", "sum", "vwap")
    names = " ".join(f"bar_{field}" for field in fields)
    head = f"use series\ninput x : f64[n]\ninput t : i64[n]\n({names}) ← 7 series.bars (t ⋄ x ⋄ 1+⍳≢x)\n"
    assert not disagreements(tmp_path, head, {f"bar_{field}": bars(field) for field in fields}, vectors())


def test_medians_of_more_windows_than_are_sorted_at_once(tmp_path: Path) -> None:
    x = np.random.default_rng(SEED).random(900_000)
    x[[777, 262_150]] = np.nan
    (tmp_path / "p.rho").write_text("use rolling\ninput x : f64[n]\noutput r ← 60 rolling.quantile (0.3 ⋄ x)\n", encoding="utf-8")
    result = rho.load(tmp_path / "p.rho").run(x=x)["r"]
    assert np.isnan(result[:59]).all() and np.isnan(result[777:837]).all() and not np.isnan(result[837:262_150]).any()
    ends = [59, 60, 776, 837, 262_142, 262_143, 262_144, 262_149, 262_210, 524_287, 524_288, 899_999]
    np.testing.assert_allclose(result[ends], [np.quantile(x[end - 59 : end + 1], 0.3) for end in ends])
