"""`rolling` and `series` beside pandas: by rows and by time, random data, none, ties, NaN, widths beyond the data."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from beside import disagreements
from share import SEED

import rho

pytestmark = pytest.mark.long

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
    cases |= {f"{w} rolling.quantile ({p} ⋄ x)": by_rows(w, "quantile", p) for w, p in ((1, 0.5), (5, 0.3), (20, 1), (140, 0.77))}
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


def test_sums_of_wide_windows_are_exact_beside_great_items_and_after_missing_ones(tmp_path: Path) -> None:
    x = np.random.default_rng(SEED).random(2000)
    (tmp_path / "p.rho").write_text(
        "use rolling\ninput x : f64[n]\noutput r ← 100 rolling.sum x\noutput d ← 100 rolling.deviation x\n", encoding="utf-8"
    )
    program, exact = rho.load(tmp_path / "p.rho"), np.convolve(x, np.ones(100), "valid")
    great, missing = x.copy(), x.copy()
    great[700], missing[700] = 1e20, np.nan
    ends = np.r_[99:700, 800:2000]
    for data in (great, missing, np.where(np.arange(2000) == 700, np.inf, x), x * 1e300 / x.max()):
        result, scale = program.run(x=data), data[0] / x[0]
        np.testing.assert_allclose(result["r"][ends], exact[ends - 99] * scale, rtol=1e-12)
        expected = [(x[end - 99 : end + 1]).std(ddof=1) for end in ends]
        if scale == 1:
            np.testing.assert_allclose(result["d"][ends], expected, rtol=1e-9)
    assert np.isnan(program.run(x=missing)["r"][700:800]).all()


def test_quantiles_by_lists_are_those_of_sorted_windows(tmp_path: Path) -> None:
    draw, widths = np.random.default_rng(SEED), {"a": 1, "b": 7, "c": 200}
    text = "".join(f"output {name} ← {width} rolling.quantile_by_lists (p ⋄ x)\n" for name, width in widths.items())
    (tmp_path / "p.rho").write_text(f"use rolling\ninput x : f64[n] where n ≥ 200\ninput p : f64\n{text}", encoding="utf-8")
    program, x = rho.load(tmp_path / "p.rho"), draw.normal(size=503)
    rare = draw.random(503) < 0.03
    for data in (x, np.round(x), np.where(rare, np.nan, x), np.where(rare, np.inf, np.round(x)), np.where(rare, -np.inf, x)):
        for p in (0, 1, 0.5, draw.random(), 1.5):
            for (name, width), result in zip(widths.items(), program.run(x=data, p=p).values(), strict=True):
                windows = np.sort(np.lib.stride_tricks.sliding_window_view(data, width), axis=1)
                t, rank = np.modf((width - 1) * min(p, 1))
                low, high = windows[:, int(rank)], windows[:, min(int(rank) + 1, width - 1)]
                with np.errstate(invalid="ignore"):
                    expected = low if t == 0 else low + t * (high - low)
                expected = np.where(np.isnan(windows[:, -1]) | (p > 1), np.nan, expected)
                np.testing.assert_array_equal(result, np.r_[np.full(width - 1, np.nan), expected], err_msg=name)


def test_squares_that_overflow_are_infinite(tmp_path: Path) -> None:
    """They were NaN in ranges longer than 64 rows, infinity less infinity."""
    draw, widths = np.random.default_rng(SEED), (2, 64, 65, 90)
    lines = "use rolling\ninput x : f64[n]\ninput b : i64[m]\ninput e : i64[m]\n"
    lines += "output spread ← (b ⋄ e) rolling.deviation_of x\noutput digits ← (b ⋄ e) rolling.deviation_by_digits x\n"
    (tmp_path / "p.rho").write_text(lines + "\n".join(f"output r{w} ← {w} rolling.deviation x" for w in widths), encoding="utf-8")
    program = rho.load(tmp_path / "p.rho")

    def deviations(x: Any, b: Any, e: Any) -> list[float]:
        with np.errstate(all="ignore"):
            return [x[i:j].std(ddof=1) if j - i > 1 else np.nan for i, j in zip(b, e, strict=True)]

    for most, great in product((3, 90, 300), ([1e301], [1e301, -np.inf], [1e155, np.nan], [1e307, -1e307])):
        x = draw.normal(size=300)
        x[[70, 71, 72, 130, 200, 250]] = draw.choice(great, 6)
        b = draw.integers(0, 300, 200)
        e = np.minimum(300, b + draw.integers(1, most, 200))
        result = program.run(x=x, b=b, e=e)
        for name in ("spread", "digits"):
            np.testing.assert_allclose(result[name], deviations(x, b, e), rtol=1e-6)
        for w in widths:
            ends = np.arange(w, 301)
            np.testing.assert_allclose(result[f"r{w}"], np.r_[[np.nan] * (w - 1), deviations(x, ends - w, ends)], rtol=1e-6)


def test_windows_by_time_of_any_width(tmp_path: Path) -> None:
    """Widths that are not positive give ranges without the row itself; times that are equal, infinite or none are allowed."""
    draw = np.random.default_rng(SEED)
    (tmp_path / "p.rho").write_text(
        "use rolling\ninput w : f64\ninput t : f64[n]\n(begin end) ← w rolling.within t\noutput begin\n", encoding="utf-8"
    )
    program = rho.load(tmp_path / "p.rho")
    for count in (0, 1, 2, 7, 8, 9, 60):
        for width in (-2.0, 0.0, 0.5, 3.0, np.inf):
            t = np.sort(draw.integers(0, count + 1, count)).astype(float)
            np.testing.assert_array_equal(program.run(w=width, t=t)["begin"], np.searchsorted(t, t - width, "right"))


def test_extremes_of_ranges_of_all_lengths(tmp_path: Path) -> None:
    """Few or many ranges much shorter than the longest, in any order, and none."""
    (tmp_path / "p.rho").write_text(
        "use rolling\ninput x : f64[n]\ninput b : i64[m]\ninput e : i64[m]\noutput low ← (b ⋄ e) rolling.least_of x\n"
        "output high ← (b ⋄ e) rolling.greatest_of x\n"
        "output spread ← (b ⋄ e) rolling.deviation_of x+1e6\noutput digits ← (b ⋄ e) rolling.deviation_by_digits x+1e6\n",
        encoding="utf-8",
    )
    program, draw = rho.load(tmp_path / "p.rho"), np.random.default_rng(SEED)
    for count, lengths in ((1, [0, 1]), (50, [50]), (300, [3, 200]), (300, [0, 1, 150]), (300, [0, 0, 0, 2]), (300, range(300))):
        x = np.where(draw.random(count) < 0.01, np.nan, draw.normal(size=count))
        size = draw.choice(lengths, 400)
        b = draw.integers(0, count - np.minimum(size, count) + 1)
        expected = [x[i:j] if i < j else np.array([np.nan]) for i, j in zip(b, np.minimum(b + size, count), strict=True)]
        result = program.run(x=x, b=b, e=b + np.minimum(size, count))
        np.testing.assert_array_equal(result["low"], [part.min() for part in expected])
        np.testing.assert_array_equal(result["high"], [part.max() for part in expected])
        spread = [part.std(ddof=1) if len(part) > 1 else np.nan for part in expected]
        np.testing.assert_allclose(result["spread"], spread, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(result["digits"], spread, rtol=1e-6, atol=1e-8)


def test_an_exponential_average_begins_with_the_first_number_that_is_known(tmp_path: Path) -> None:
    (tmp_path / "p.rho").write_text("use series\ninput x : f64[n]\noutput r ← 0.3 series.ema x\n", encoding="utf-8")
    program, draw = rho.load(tmp_path / "p.rho"), np.random.default_rng(SEED)
    for count, missing in ((1, 0), (1, 1), (2, 1), (7, 3), (8, 3), (8, 8), (9, 4)):
        x = np.r_[np.full(missing, np.nan), draw.normal(size=count - missing)]
        result = program.run(x=x)["r"]
        np.testing.assert_allclose(result, pandas.Series(x).ewm(alpha=0.3, adjust=False, ignore_na=True).mean(), rtol=1e-14)
        np.testing.assert_array_equal(result[: missing + 1], x[: missing + 1])


def test_quantiles_of_wide_windows(tmp_path: Path) -> None:
    x = np.random.default_rng(SEED).random(9000)
    x[[777, 2000]] = np.nan
    x[3000:3010] = np.inf
    x[4000:4010] = -np.inf
    text = "use rolling\ninput x : f64[n]\noutput r ← 60 rolling.quantile (0.3 ⋄ x)\n"
    text += "output wide ← 8200 rolling.quantile (0.5 ⋄ x)\n"
    (tmp_path / "p.rho").write_text(text, encoding="utf-8")
    result = rho.load(tmp_path / "p.rho").run(x=x)
    frame = pandas.Series(x)
    clean = frame.isna().rolling(60).max().to_numpy() == 0
    ends = [end for end in range(59, 9000, 13) if clean[end]]
    np.testing.assert_allclose(result["r"][ends], [np.sort(x[end - 59 : end + 1])[17:19] @ [0.3, 0.7] for end in ends])
    assert np.isnan(result["r"][~clean]).all() and np.isnan(result["wide"][:8976]).all()
    missing = [np.isnan(x[end - 8199 : end + 1]).any() for end in range(8199, 9000)]
    np.testing.assert_array_equal(np.isnan(result["wide"][8199:]), missing)


@pytest.mark.parametrize("times", [[0.0, 5, 1, 6], [1.0, 2, np.nan], [np.nan, 1, 2], [np.nan], [3.0, 2]])
def test_times_that_do_not_ascend_are_refused(times: list[float]) -> None:
    sums = rho.compile("use rolling\n{(2 rolling.within ⍵) rolling.sum_of 1+0×⍵}")
    for _ in range(5):  # the first calls and compiled ones
        with pytest.raises(rho.RunFailed, match="the times of the rows do not ascend, or one is missing"):
            sums(np.array(times))
        assert list(sums(np.array([0.0, 1, 1, 3]))) == [1, 2, 3, 1]


def test_edges_of_bins_that_do_not_ascend_are_refused() -> None:
    for function in ("histogram", "digitize"):
        counts = rho.compile(f"use stats\n{{⍺ stats.{function} ⍵}}")
        for edges in ([2.0, 1, 0], [0.0, np.nan, 1]):
            with pytest.raises(rho.RunFailed, match="the edges of the bins do not ascend"):
                counts(np.array(edges), np.array([0.5]))
