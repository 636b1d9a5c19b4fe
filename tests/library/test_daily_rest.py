"""The thirty tasks of every day: which test has which, and those that no other file has."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from values import generator, run_program

from rho.shell.main import main

pytestmark = pytest.mark.long

TESTS = Path(__file__).parents[1]
DAILY, SCIENCE, REST, ANALYST = "test_daily_tasks", "test_daily_science", "test_daily_rest", "test_analyst_tasks"
TASKS = {
    "as-of join": (DAILY, "test_the_last_quote_before_each_trade"),
    "bars and VWAP": (DAILY, "test_bars_of_ten_minutes_by_symbol"),
    "rolling by rows": (SCIENCE, "test_rolling_statistics_of_prices"),
    "window join": (DAILY, "test_mean_bids_of_the_minute_around_each_trade"),
    "returns, drawdown, Sharpe, value at risk": (DAILY, "test_returns_risk_and_drawdown"),
    "covariance, components, least squares, ridge": (SCIENCE, "test_regression_with_a_penalty_and_principal_components"),
    "simulation with normals": (DAILY, "test_the_price_of_a_call_by_simulation"),
    "implied volatility": (DAILY, "test_implied_volatilities"),
    "curve bootstrap": (REST, "test_a_curve_of_discounts_from_swap_rates"),
    "portfolio by gradients": (SCIENCE, "test_a_portfolio_by_its_gradient"),
    "pivot, several aggregates, rank in groups": (DAILY, "test_a_pivot_and_the_two_largest_of_each_group"),
    "climate cube in HDF5": (SCIENCE, "test_anomalies_of_a_cube_in_hdf5"),
    "larger than memory": (SCIENCE, "test_statistics_of_a_file_that_is_larger_than_memory"),
    "image stack": (SCIENCE, "test_a_stack_of_images_with_a_flat_field"),
    "spectrum, filter": (DAILY, "test_a_spectrum_a_filter_and_a_curve"),
    "ODE": (DAILY, "test_planets_keep_their_energy"),
    "PDE by a stencil": (REST, "test_heat_spreads_on_a_plate"),
    "interpolation, regridding": (REST, "test_a_field_on_another_grid"),
    "non-linear fit": (SCIENCE, "test_a_curve_is_fitted_by_levenberg_and_marquardt"),
    "sparse matrices, PageRank, conjugate gradients": (SCIENCE, "test_ranks_of_pages_and_a_sparse_system"),
    "bootstrap": (DAILY, "test_samples_drawn_again_and_the_test_of_two_groups"),
    "permutation test": (REST, "test_two_groups_by_permutations"),
    "APL idioms": ("../corpora/test_corpora", "test_recorded_answer"),
    "ragged groups, split and join": (DAILY, "test_a_ragged_text_in_parts"),
    "regular expressions on a log": (SCIENCE, "test_lines_of_a_log_by_a_regular_expression"),
    "JSON in": (REST, "test_requests_of_a_log_of_json_lines"),
    "workspaces, scripts, notebooks": (REST, "test_a_session_becomes_a_document_that_is_tested"),
    "keyed tables, look-up, join": (REST, "test_a_keyed_table_is_looked_up_and_changed"),
    "einsum, broadcasting, indexing": (SCIENCE, "test_products_along_axes_and_selection_by_arrays"),
    "NaN, masks": (SCIENCE, "test_missing_values_and_masks"),
    "a slow Python function": (SCIENCE, "test_a_slow_python_function_made_fast"),
    "a small model": (SCIENCE, "test_a_small_model_is_trained"),
    "frames in and out, a database": (SCIENCE, "test_frames_in_frames_out_and_a_database"),
    "the analyst's pivot": (ANALYST, "test_4_5_moving_average_of_days_and_pivot_by_payment"),
}
"""Every task of the list but units with axis names, and the files left for later: FITS, NetCDF, WAV, Matrix Market, ONNX."""


def test_every_daily_task_has_its_test() -> None:
    for task, (file, name) in TASKS.items():
        text = (TESTS / "library" / f"{file}.py").read_text(encoding="utf-8")
        assert re.search(rf"^def {name}\(", text, re.M), task


def test_a_curve_of_discounts_from_swap_rates(tmp_path: Path) -> None:
    """A swap of k years at the rate s is worth nothing: s times the discounts of k years is 1 minus the last."""
    text = """input rate : f64[n]
output discount ← {d ← ⍵ ⋄ d[⍺] ← (1-rate[⍺]×+/d)÷1+rate[⍺] ⋄ d}⍣(⍳n) ⊢ n⍴0.0
output zero ← (discount*-÷1+⍳n)-1
"""
    rate = 0.02 + np.cumsum(generator().uniform(0, 0.002, 20))
    result = run_program(tmp_path, text, rate=rate)
    discount = np.zeros(20)
    for k in range(20):
        discount[k] = (1 - rate[k] * discount.sum()) / (1 + rate[k])
    np.testing.assert_allclose(result["discount"], discount)
    np.testing.assert_allclose(rate * np.cumsum(result["discount"]), 1 - result["discount"])
    np.testing.assert_allclose(result["zero"], discount ** (-1 / np.arange(1, 21)) - 1)


def test_heat_spreads_on_a_plate(tmp_path: Path) -> None:
    """A hundred explicit steps of the heat equation, the edges at 0; a mode of the plate decays by its eigenvalue."""
    text = """input u : f64[h w]
step ← {⍵+0.2×(1 0↓⍵⍪0)+((¯1 0↓0⍪⍵)+(0 1↓⍵,0)+0 ¯1↓0,⍵)-4×⍵}
output v ← step⍣100 ⊢ u
"""
    u = generator().normal(size=(9, 12))
    expected = u
    for _ in range(100):
        padded = np.pad(expected, 1)
        around = padded[2:, 1:-1] + padded[:-2, 1:-1] + padded[1:-1, 2:] + padded[1:-1, :-2]
        expected = expected + 0.2 * (around - 4 * expected)
    np.testing.assert_allclose(run_program(tmp_path, text, u=u)["v"], expected, atol=1e-12)
    mode = np.outer(np.sin(np.pi * np.arange(1, 10) / 10), np.sin(np.pi * np.arange(1, 13) / 13))
    decay = (1 - 0.4 * (2 - np.cos(np.pi / 10) - np.cos(np.pi / 13))) ** 100
    np.testing.assert_allclose(run_program(tmp_path, text, u=mode)["v"], decay * mode, atol=1e-12)


def test_a_field_on_another_grid(tmp_path: Path) -> None:
    """A field by latitude and longitude on a finer grid, linear along each axis."""
    interpolate = pytest.importorskip("scipy.interpolate")
    text = """use stats
input latitude : f64[n] where n ≥ 1
input longitude : f64[m] where m ≥ 1
input field : f64[n m]
input north : f64[p]
input east : f64[q]
along ← {(longitude ⋄ ⍵) stats.interp east}⍤1 ⊢ field
output finer ← ⍉{(latitude ⋄ ⍵) stats.interp north}⍤1 ⊢ ⍉along
"""
    latitude, longitude = np.linspace(-60, 60, 7), np.linspace(0, 90, 10)
    field, north, east = generator().normal(size=(7, 10)), np.linspace(-55, 58, 30), np.linspace(1, 89, 40)
    exact = interpolate.RegularGridInterpolator((latitude, longitude), field)(tuple(np.meshgrid(north, east, indexing="ij")))
    result = run_program(tmp_path, text, latitude=latitude, longitude=longitude, field=field, north=north, east=east)
    np.testing.assert_allclose(result["finer"], exact, atol=1e-12)


def test_two_groups_by_permutations(tmp_path: Path) -> None:
    """How often a random division of both groups has means that differ as much as those of the groups."""
    stats = pytest.importorskip("scipy.stats")
    text = """use random
use stats
input x : f64[n] where n ≥ 2
input y : f64[m] where m ≥ 2
all ← x,y
apart ← {|(stats.mean n↑⍵)-stats.mean n↓⍵}
drawn ← {apart all[⍵ random.permutation n+m]}¨⍳4000
output p ← (+/drawn≥apart all)÷4000
"""
    x, y = generator().normal(0, 1, 40), generator().normal(0, 1, 50)[10:] + 0.35
    result = run_program(tmp_path, text, x=x, y=y)
    assert abs(result["p"] - stats.ttest_ind(x, y).pvalue) < 0.05


def test_requests_of_a_log_of_json_lines(tmp_path: Path) -> None:
    """The slowest decile and the errors by path of a log in which each line is an object."""
    draw = generator()
    lines = [
        {
            "path": ("/", "/cart", "/pay")[draw.integers(3)],
            "status": int(draw.choice([200, 404, 500])),
            "ms": float(draw.gamma(2, 50)),
        }
        for _ in range(200)
    ]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    text = """use set
use group
use stats
input path : char[n w] ← "log.jsonl:path" where n ≥ 1
input status : i64[n] ← "log.jsonl:status"
input ms : f64[n] ← "log.jsonl:ms"
(paths code) ← set.classes path
output paths
output failed ← code group.sum status≥400
output slow ← 0.9 stats.quantile ms
"""
    result = run_program(tmp_path, text)
    failed = {"".join(path).strip(): count for path, count in zip(result["paths"], result["failed"], strict=True)}
    assert failed == {
        path: sum(line["status"] >= 400 for line in lines if line["path"] == path) for path in {line["path"] for line in lines}
    }
    np.testing.assert_allclose(result["slow"], np.quantile([line["ms"] for line in lines], 0.9))


def test_a_session_becomes_a_document_that_is_tested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was tried in a session is saved with its answers; the document is run as a test, and fails where the data change."""
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", x := np.round(generator().normal(size=30), 3))
    entries = ['input x : f64[n] ← "x.npy"', "centre ← {⍵-(+/⍵)÷1⌈≢⍵}", "y ← centre x", "⌈/0,y", ")save work.md", ")off"]
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(entries) + "\n"))
    assert main(["repl"]) == 0
    assert "centre" in Path("work.md").read_text(encoding="utf-8") and main(["test", "work.md"]) == 0
    np.save("x.npy", 2 * x)
    assert main(["test", "work.md"]) != 0


def test_a_keyed_table_is_looked_up_and_changed(tmp_path: Path) -> None:
    """Orders of a price list with keys: what is not listed has no price, a new list changes and adds keys."""
    text = """use table
use set
input key : char[n w] where n ≥ 1
input price : f64[n]
input changed : char[m w]
input to : f64[m]
input ordered : char[k w]
rows ← changed table.find key
now ← (rows<m)¿((to,0)[rows] ⋄ price)
new ← ⍸n=key table.find changed
keys ← key⍪new⌷changed
prices ← now,to[new]
output cost ← (prices,⎕nan)[keys table.find ordered]
"""
    draw = generator()
    names = [f"item{at:02}" for at in range(40)]
    listed = dict(zip(names[:30], draw.uniform(1, 9, 30), strict=True))
    changes = {name: float(draw.uniform(1, 9)) for name in draw.permutation(names[:36])[:12]}
    orders = [str(name) for name in draw.choice(names, 60)]

    def rows(words: list[str]) -> Any:
        return np.array([list(word) for word in words])

    result = run_program(
        tmp_path, text, key=rows(list(listed)), price=np.array(list(listed.values())), changed=rows(list(map(str, changes))),
        to=np.array(list(changes.values())), ordered=rows(orders),
    )  # fmt: skip
    np.testing.assert_array_equal(result["cost"], [{**listed, **changes}.get(name, np.nan) for name in orders])
