"""Tasks of every day as whole programs on seeded data, beside NumPy, pandas and SciPy."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from share import SEED
from values import generator, run_program

pytestmark = pytest.mark.long


def market(tmp_path: Path) -> None:
    """Trades and quotes of three symbols as CSV files."""
    draw = generator()
    for name, count, values in (("trades", 300, ("price", "size")), ("quotes", 500, ("bid", "ask"))):
        time = np.sort(draw.integers(0, 3600, count))
        with (tmp_path / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["time", "symbol", *values])
            for row in range(count):
                symbol = ("IBM", "MSFT", "X")[draw.integers(3)]
                writer.writerow([time[row], symbol, round(100 + draw.normal(), 2), round(100 + draw.random(), 2)])


MARKET = """use table
use group
use set
use series
use rolling
input time : i64[n] ← "trades.csv:time" where n ≥ 1
input symbol : char[n w] ← "trades.csv:symbol"
input price : f64[n] ← "trades.csv:price"
input size : f64[n] ← "trades.csv:size"
input at : i64[m] ← "quotes.csv:time"
input quoted : char[m w] ← "quotes.csv:symbol"
input bid : f64[m] ← "quotes.csv:bid"
"""


def test_the_last_quote_before_each_trade(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    market(tmp_path)
    result = run_program(tmp_path, MARKET + "output last ← (bid,⎕nan)[(quoted ⋄ at) table.asof (symbol ⋄ time)]\n")["last"]
    trades, quotes = (pandas.read_csv(tmp_path / f"{name}.csv") for name in ("trades", "quotes"))
    np.testing.assert_array_equal(result, pandas.merge_asof(trades, quotes, on="time", by="symbol").bid)


def test_mean_bids_of_the_minute_around_each_trade(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    market(tmp_path)
    text = "(order begin end) ← (quoted ⋄ at) table.windows (symbol ⋄ time-30 ⋄ time+30)\n"
    result = run_program(tmp_path, MARKET + text + "output mean ← (begin ⋄ end) rolling.mean_of order⌷bid\n")["mean"]
    trades, quotes = (pandas.read_csv(tmp_path / f"{name}.csv") for name in ("trades", "quotes"))
    near = [(quotes.symbol == trade.symbol) & (quotes.time - trade.time).between(-30, 30) for trade in trades.itertuples()]
    expected = [quotes.bid[rows].mean() for rows in near]
    np.testing.assert_allclose(result, expected)


def test_bars_of_ten_minutes_by_symbol(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    market(tmp_path)
    text = """chosen ← ∧/symbol=⍤1 ⊢ (1⊃⍴symbol)↑'IBM'
(start open high low close volume vwap) ← 600 series.bars (chosen⌿time ⋄ chosen⌿price ⋄ chosen⌿size)
output bars ← ⍉[open ⋄ high ⋄ low ⋄ close ⋄ volume ⋄ vwap]
"""
    bars = run_program(tmp_path, MARKET + text)["bars"]
    trades = pandas.read_csv(tmp_path / "trades.csv")
    trades = trades[trades.symbol == "IBM"]
    grouped = trades.assign(value=trades.price * trades["size"]).groupby(trades.time // 600)
    expected = grouped.price.ohlc().assign(volume=grouped["size"].sum(), vwap=grouped.value.sum() / grouped["size"].sum())
    np.testing.assert_allclose(bars, expected.to_numpy())


def test_a_pivot_and_the_two_largest_of_each_group(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    market(tmp_path)
    text = """(names code) ← set.classes symbol
(starts bar) ← 900 series.every time
output names
output starts
output table ← (code ⋄ bar) group.pivot size
output rows ← (2 group.top (code ⋄ price))⌿⍳n
output rank ← code group.rank price
"""
    result = run_program(tmp_path, MARKET + text)
    trades = pandas.read_csv(tmp_path / "trades.csv")
    pivot = trades.pivot_table("size", "symbol", trades.time // 900 * 900, aggfunc="sum", fill_value=0)
    names = ["".join(name).strip() for name in result["names"]]
    np.testing.assert_allclose(result["table"], pivot.loc[names, list(result["starts"])])
    largest = trades.groupby("symbol").price.nlargest(2)
    assert sorted(trades.price[result["rows"]]) == sorted(largest)
    np.testing.assert_array_equal(result["rank"], trades.groupby("symbol").price.rank())


def test_returns_risk_and_drawdown(tmp_path: Path) -> None:
    price = 100 * np.exp(np.cumsum(generator().normal(0, 0.01, 500)))
    text = """use series
use stats
use missing
use rolling
input price : f64[n] where n ≥ 2
r ← 1↓series.returns price
output sharpe ← (√252)×(stats.mean r)÷stats.sample_deviation r
output risk ← -0.05 stats.quantile r
output worst ← ⌊/0,series.drawdown price
output smooth ← 0.1 series.ema price
output volatility ← 20 rolling.deviation series.log_returns price
"""
    result = run_program(tmp_path, text, price=price)
    r = price[1:] / price[:-1] - 1
    np.testing.assert_allclose(result["sharpe"], np.sqrt(252) * r.mean() / r.std(ddof=1))
    np.testing.assert_allclose(result["risk"], -np.quantile(r, 0.05))
    np.testing.assert_allclose(result["worst"], (price / np.maximum.accumulate(price) - 1).min())
    logs = np.log(price[1:] / price[:-1])
    np.testing.assert_allclose(result["volatility"][20:], [logs[i : i + 20].std(ddof=1) for i in range(len(logs) - 19)])


CALL = """use solve
use probability
call ← {(s k t r v) ← ⍵ ⋄ d ← ((⍟s÷k)+t×r+v×v÷2)÷v×√t ⋄ (s×probability.normal d)-k×(*-r×t)×probability.normal d-v×√t}
"""


def test_implied_volatilities(tmp_path: Path) -> None:
    text = f"""{CALL}input strike : f64[n]
input volatility : f64[n]
price ← call (100 ⋄ strike ⋄ 0.5 ⋄ 0.02 ⋄ volatility)
output halved ← 1e¯12 {{(call (100 ⋄ strike ⋄ 0.5 ⋄ 0.02 ⋄ ⍵))-price}} solve.bisect (0.01+0×strike ⋄ 3+0×strike)
output newton ← 1e¯12 {{(call (100 ⋄ strike ⋄ 0.5 ⋄ 0.02 ⋄ ⍵))-price}} solve.newton 0.3+0×strike
"""
    draw = generator()
    given = {"strike": draw.uniform(90, 110, 50), "volatility": draw.uniform(0.15, 0.6, 50)}
    result = run_program(tmp_path, text, **given)
    np.testing.assert_allclose(result["halved"], given["volatility"], atol=1e-8)
    np.testing.assert_allclose(result["newton"], given["volatility"], atol=1e-8)


def test_the_price_of_a_call_by_simulation(tmp_path: Path) -> None:
    text = f"""{CALL}use random
param key ← 1
z ← key random.normal 100000
output simulated ← (*-0.01)×(+/0⌈(100×*(0.02-0.5×0.2*2)+0.2×z)-105)÷100000
output exact ← call (100 ⋄ 105 ⋄ 1 ⋄ 0.02 ⋄ 0.2)
"""
    result = run_program(tmp_path, text.replace("(*-0.01)", "(*-0.02)"), key=SEED)
    assert abs(result["simulated"] - result["exact"]) < 0.3


def test_anomalies_by_month(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    draw = generator()
    days = np.arange(7000, 9000)
    value = np.where(draw.random(2000) < 0.1, np.nan, draw.normal(size=2000))
    text = """use dates
use group
use missing
input day : date[n]
input value : f64[n]
known ← (value=value)¿(1.0 ⋄ 0)
month ← (⍳12)⍳¯1+dates.month day
code ← 0⌈11⌊month
mean ← ((12 +⌸ (code ⋄ 0 missing.fill value))÷12 +⌸ (code ⋄ known))[code]
output anomaly ← value-mean
"""
    result = run_program(tmp_path, text, day=days.astype("M8[D]"), value=value)["anomaly"]
    series = pandas.Series(value)
    months = pandas.to_datetime(days, unit="D").month
    np.testing.assert_allclose(result, series - series.groupby(months).transform("mean"))


def test_a_spectrum_a_filter_and_a_curve(tmp_path: Path) -> None:
    draw = generator()
    time = np.arange(512) / 100
    x = np.sin(2 * np.pi * 12.5 * time) + 0.1 * draw.normal(size=512)
    text = """use signal
use stats
use polynomial
input x : f64[n] where n ≥ 5
(frequency power) ← 100 signal.spectrum x
output peak ← frequency[⊃⍒power]
output smooth ← x signal.convolve_fft 5⍴÷5
output resampled ← (⍳n) {(⍺ ⋄ ⍵) stats.interp 0.5+⍳n} x
output line ← 1 polynomial.fit (⍳n ⋄ 3+2×⍳n)
output counts ← (10 stats.edges x) stats.histogram x
"""
    result = run_program(tmp_path, text, x=x)
    assert abs(result["peak"] - 12.5) < 0.2
    np.testing.assert_allclose(result["smooth"], np.convolve(x, np.full(5, 0.2)), atol=1e-12)
    np.testing.assert_allclose(result["resampled"], np.interp(0.5 + np.arange(512), np.arange(512), x))
    np.testing.assert_allclose(result["line"], [3, 2], atol=1e-9)
    np.testing.assert_array_equal(result["counts"], np.histogram(x, 10)[0])


def test_planets_keep_their_energy(tmp_path: Path) -> None:
    """A circular orbit around a unit mass: after one period the planet is where it began."""
    text = """use solve
times ← (○2)×(⍳1001)÷1000
states ← times {r ← √+/2↑×⍨⍵ ⋄ (2↓⍵),-(2↑⍵)÷r*3} solve.runge_kutta 1 0 0 1
output last ← states[1000;]
output energy ← (0.5×+/(states[;2 3])*2)-÷√+/(states[;0 1])*2
"""
    result = run_program(tmp_path, text)
    np.testing.assert_allclose(result["last"], [1, 0, 0, 1], atol=1e-8)
    np.testing.assert_allclose(result["energy"], -0.5, atol=1e-8)


def test_samples_drawn_again_and_the_test_of_two_groups(tmp_path: Path) -> None:
    stats = pytest.importorskip("scipy.stats")
    draw = generator()
    x, y = draw.normal(0, 1, 80), draw.normal(0.3, 2, 60)
    text = """use random
use stats
use probability
input x : f64[n] where n ≥ 2
input y : f64[m] where m ≥ 2
means ← (3 ⋄ 4000) {(+/⍵)÷≢⍵} random.bootstrap x
output interval ← 0.025 0.975 stats.quantile means
(statistic p) ← x probability.welch_test y
output p
output shuffled ← x[3 random.permutation n]
"""
    result = run_program(tmp_path, text, x=x, y=y)
    margin = stats.norm.ppf(0.975) * x.std() / np.sqrt(80)
    np.testing.assert_allclose(result["interval"], [x.mean() - margin, x.mean() + margin], atol=0.05)
    np.testing.assert_allclose(result["p"], stats.ttest_ind(x, y, equal_var=False).pvalue)
    np.testing.assert_array_equal(np.sort(result["shuffled"]), np.sort(x))


def test_words_of_a_log(tmp_path: Path) -> None:
    lines = ["2024-02-29 12:00 ERROR disk full", "2024-03-01 08:30 INFO ok", "2024-03-01 09:00 ERROR net, down"]
    file = io.StringIO()
    csv.writer(file).writerows([["line"], *[[line] for line in lines]])
    (tmp_path / "log.csv").write_text(file.getvalue(), encoding="utf-8")
    text = """use text
use dates
input line : char[n w] ← "log.csv:line" where w ≥ 16
bad ← line text.contains 'ERROR'
output bad
output day ← ⎕date 10↑⍤1 ⊢ line
output hour ← ⎕number 2↑⍤1 ⊢ 11↓⍤1 ⊢ line
output messages ← ' / ' text.join text.flush 22↓⍤1 ⊢ bad⌿line
"""
    result = run_program(tmp_path, text)
    assert list(result["bad"]) == [True, False, True] and list(result["hour"]) == [12, 8, 9]
    assert list(result["day"].astype(np.int64)) == [19782, 19783, 19783]
    assert "".join(result["messages"]) == "disk full / net, down"


def test_a_ragged_text_in_parts(tmp_path: Path) -> None:
    text = """use text
rows ← 'ada,36;grace,85;alan,41' text.split ';'
first ← {(⍵⍳',')>⍳≢⍵}⍤1 ⊢ rows
output names ← first¿(rows ⋄ ' ')
output ages ← ⎕number (first∨rows=',')¿(' ' ⋄ rows)
"""
    result = run_program(tmp_path, text)
    assert list(result["ages"]) == [36, 85, 41]
    assert ["".join(row).strip() for row in result["names"]] == ["ada", "grace", "alan"]
