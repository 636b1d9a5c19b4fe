"""The ten tasks of an analyst, from files as shops write them, in seven programs; answers beside pandas.

Prices with groups of digits, missing cells, quoted commas, blanks around words, dates, Parquet with times, a budget in a code
page of Windows with decimal commas: what `rho init --from` writes is the head of each program.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from share import SEED

import rho
from rho.shell.main import main

pytestmark = pytest.mark.long

pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

SALES = """use set
use group
use stats
use text
use dates
use missing
use table
use rolling
input date : date[n] ← "sales.csv:date" where n ≥ 40
input shop : char[n shop_w] ← "sales.csv:shop"
input product : i64[n] ← "sales.csv:product"
input price : f64[n] ← "sales.csv:price" missing ⎕nan group ","
input pay : char[n pay_w] ← "sales.csv:pay"
paid ← 0 missing.fill price
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, draw = tmp_path_factory.mktemp("analyst"), np.random.default_rng(SEED)
    lines = ["date,shop,product,price,pay"]
    for _ in range(400):
        day = np.datetime64("2020-01-01") + int(draw.integers(0, 120))
        price = "NA" if draw.random() < 0.1 else f"{draw.integers(1, 200_000) / 100:,.2f}"
        shop = draw.choice(['"Ulm, Mitte"', "Köln", '"Bonn ""Süd"""', "Trier"])
        lines.append(f'{day},{shop},{draw.integers(1, 6)},"{price}",{draw.choice([" transfer", "CASH ", "cash", "card"])}')
    (folder / "sales.csv").write_text("\n".join(lines) + "\n", encoding="utf-8-sig")
    shops = 'shop,region\nKöln,west\nTrier,west\n"Ulm, Mitte",south\n"Bonn ""Süd""",west\n'
    (folder / "shops.csv").write_text(shops, encoding="utf-8")
    launched = pandas.to_datetime(["2019-01-01", "2019-05-01", "2018-01-01", "2017-03-04", "2020-01-01"])
    names = ["toys", "food", "toys", "books", "food"]
    pandas.DataFrame({"id": [3, 1, 2, 5, 4], "category": names, "launched": launched}).to_parquet(folder / "products.parquet")
    t = np.linspace(-5, 30, 90)
    np.save(folder / "temp.npy", np.c_[t, 3 * t + 7 + draw.normal(size=90)])
    (folder / "old.csv").write_bytes('Konto;Budget €\nA;"18.204,25"\nB;"1.000,50"\nA;"7,25"\n'.encode("cp1252"))
    return folder


@pytest.fixture
def frame(folder: Path) -> Any:
    sales = pandas.read_csv(folder / "sales.csv", thousands=",", parse_dates=["date"])
    return sales.assign(paid=sales.price.fillna(0), pay=sales.pay.str.strip().str.lower())


def run(folder: Path, text: str) -> Any:
    (folder / "task.rho").write_text(text, encoding="utf-8")
    return rho.load(folder / "task.rho").run()


def words(rows: Any) -> list[str]:
    return ["".join(row).rstrip() for row in rows]


def test_1_2_sales_by_month_and_region_and_the_ten_best_days(folder: Path, frame: Any) -> None:
    text = SALES + """input name : char[s shop_w] ← "shops.csv:shop"
input region : char[s region_w] ← "shops.csv:region" where s ≥ 1
(place there) ← name table.lookup shop
(months m) ← 12 set.classes_within dates.month_start date
(regions r) ← 9 set.classes_within region[place;]
output months
output regions
output table ← (m ⋄ r) group.pivot paid
(days d) ← set.classes date
total ← d group.sum paid
output top ← total[(10⌊≢total)↑⍒total]
"""
    result = run(folder, text)
    merged = frame.merge(pandas.read_csv(folder / "shops.csv"), on="shop")
    expected = merged.pivot_table("paid", merged.date.dt.to_period("M"), "region", aggfunc="sum", fill_value=0)
    starts = [pandas.Period(day, "M") for day in result["months"]]
    np.testing.assert_allclose(result["table"], expected.loc[starts, words(result["regions"])])
    np.testing.assert_allclose(result["top"], frame.groupby("date").paid.sum().nlargest(10))


def test_3_sum_by_category_of_a_joined_table(folder: Path, frame: Any) -> None:
    text = SALES + """input id : i64[p] ← "products.parquet:id"
input category : char[p category_w] ← "products.parquet:category"
input launched : time[p] ← "products.parquet:launched"
(categories c) ← set.classes category
(i j) ← product table.inner id
output categories
output total ← c[j] group.sum paid[i]
output newest ← ⌈/launched
"""
    result = run(folder, text)
    products = pandas.read_parquet(folder / "products.parquet")
    expected = frame.merge(products, left_on="product", right_on="id").groupby("category").paid.sum()
    np.testing.assert_allclose(result["total"], expected[words(result["categories"])])
    assert result["newest"] == products.launched.max().to_datetime64()


def test_4_5_moving_average_of_days_and_pivot_by_payment(folder: Path, frame: Any) -> None:
    text = SALES + """first ← ⌊/date
day ← 0⌈365⌊i64 date-first
daily ← (1+⌈/0⌈day)↑366 +⌸ (day ⋄ paid)
output average ← 7 rolling.mean daily
(shops s) ← 50 set.classes_within shop
(payments q) ← 9 set.classes_within text.lower text.trim pay
output shops
output payments
output table ← (s ⋄ q) group.pivot paid
"""
    result = run(folder, text)
    daily = frame.groupby("date").paid.sum().resample("D").sum()
    np.testing.assert_allclose(result["average"], daily.rolling(7).mean())
    expected = frame.pivot_table("paid", "shop", "pay", aggfunc="sum", fill_value=0)
    np.testing.assert_allclose(result["table"], expected.loc[words(result["shops"]), words(result["payments"])])


def test_6_histogram_quantiles_and_outliers(folder: Path, frame: Any) -> None:
    text = SALES + """known ← (price=price)⌿price
output quartiles ← 0.25 0.5 0.75 stats.quantile known
output counts ← (500×⍳5) stats.histogram known
output outliers ← +/known>(stats.mean known)+1.5×stats.sample_deviation known
"""
    result = run(folder, text)
    known = frame.price.dropna()
    np.testing.assert_allclose(result["quartiles"], known.quantile([0.25, 0.5, 0.75]))
    np.testing.assert_array_equal(result["counts"], np.histogram(known, np.arange(0, 2001, 500))[0])
    assert result["outliers"] == (known > known.mean() + 1.5 * known.std()).sum()


def test_7_regression(folder: Path) -> None:
    text = 'input t : f64[d 2] ← "temp.npy" where d ≥ 2\noutput line ← t[;1]⌹1,⍪t[;0]\noutput rows ← ≢t\n'
    result, data = run(folder, text), np.load(folder / "temp.npy")
    np.testing.assert_allclose(result["line"], np.polyfit(*data.T, 1)[::-1])
    assert result["rows"] == 90


def test_8_9_tables_and_pictures(folder: Path, frame: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    text = SALES + """(months m) ← 12 set.classes_within dates.month_start date
(shops s) ← 50 set.classes_within shop
output months
output shops ← shops
output table ← (m ⋄ s) group.pivot paid
output total ← m group.sum paid
output sums ← s group.sum paid
"""
    Path("task.rho").write_text(text, encoding="utf-8")
    assert main(["run", "task.rho", "--out", "months,table:shops=report.csv", "--out", "shops,sums=total.parquet"]) == 0
    expected = frame.pivot_table("paid", frame.date.dt.to_period("M").dt.to_timestamp(), "shop", aggfunc="sum", fill_value=0)
    report = pandas.read_csv("report.csv", parse_dates=["months"]).set_index("months").sort_index()
    np.testing.assert_allclose(report[list(expected.columns)], expected)
    np.testing.assert_allclose(pandas.read_parquet("total.parquet").sums.sum(), frame.paid.sum())
    pytest.importorskip("matplotlib")
    assert main(["run", "task.rho", "--plot", "line:months,total=total.png"]) == 0
    assert Path("total.png").read_bytes()[:4] == b"\x89PNG"


def test_10_a_budget_in_a_windows_code_page(folder: Path) -> None:
    """The refusal names the code page and the command that makes a file that is read."""
    text = 'use set\nuse group\ninput account : char[n w] ← "FILE:Konto" sep ";"\n'
    text += 'input budget : f64[n] ← "FILE:Budget €" sep ";" decimal "," group "."\n'
    text += '(accounts a) ← set.classes account\noutput accounts\noutput total ← a group.sum budget\n'
    with pytest.raises(rho.RhoError, match="iconv -f cp1252 -t utf-8"):
        run(folder, text.replace("FILE", "old.csv"))
    (folder / "budget.csv").write_text((folder / "old.csv").read_bytes().decode("cp1252"), encoding="utf-8")
    result = run(folder, text.replace("FILE", "budget.csv"))
    budget = pandas.read_csv(folder / "budget.csv", sep=";", decimal=",", thousands=".")
    assert words(result["accounts"]) == ["A", "B"]
    np.testing.assert_allclose(result["total"], budget.groupby("Konto")["Budget €"].sum())
