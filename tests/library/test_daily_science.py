"""More tasks of every day as programs on seeded data: estimation, images, cubes, graphs, fits, models, logs, databases."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest
from values import generator, run_program

import rho
from rho.shell.main import main

pytestmark = pytest.mark.long


def test_rolling_statistics_of_prices(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    x = 100 + np.cumsum(generator().normal(size=300))
    text = """use rolling
use series
input x : f64[n]
output mean ← 20 rolling.mean x
output deviation ← 20 rolling.deviation x
output upper ← 20 rolling.quantile (0.9 ⋄ x)
output smooth ← (2÷21) series.ema x
"""
    result, frame = run_program(tmp_path, text, x=x), pandas.Series(x)
    for name, expected in (
        ("mean", frame.rolling(20).mean()), ("deviation", frame.rolling(20).std()),
        ("upper", frame.rolling(20).quantile(0.9)), ("smooth", frame.ewm(span=20, adjust=False).mean()),
    ):  # fmt: skip
        np.testing.assert_allclose(result[name], expected, rtol=1e-9)


def test_regression_with_a_penalty_and_principal_components(tmp_path: Path) -> None:
    x = generator().normal(size=(60, 4)) @ np.diag([3, 2, 1, 0.5])
    y = x @ [1.0, -2, 0.5, 3] + 4 + generator().normal(size=60) / 10
    text = """input x : f64[n p] where n ≥ 2, p+1 ≤ n
input y : f64[n]
c ← x-⍤1 ⊢ (+⌿x)÷n
output covariance ← ((⍉c)+.×c)÷n-1
(values vectors) ← ⎕eigh covariance
output share ← (⌽values)÷+/values
output fit ← y⌹1,x
output ridge ← ((⍉c)+.×y-(+/y)÷n)⌹((⍉c)+.×c)+2×∘.=⍨⍳p
"""
    result = run_program(tmp_path, text, x=x, y=y)
    np.testing.assert_allclose(result["covariance"], np.cov(x.T))
    values = np.linalg.eigvalsh(np.cov(x.T))[::-1]
    np.testing.assert_allclose(result["share"], values / values.sum())
    np.testing.assert_allclose(result["fit"], np.linalg.lstsq(np.c_[np.ones(60), x], y, rcond=None)[0])
    c = x - x.mean(0)
    np.testing.assert_allclose(result["ridge"], np.linalg.solve(c.T @ c + 2 * np.eye(4), c.T @ (y - y.mean())))


def test_a_portfolio_by_its_gradient(tmp_path: Path) -> None:
    """The weights of least variance, by descent on a softmax: what the closed form gives where all weights are positive."""
    returns = generator().normal(0, [0.01, 0.02, 0.015], size=(500, 3))
    text = """use optim
input covariance : f64[n n] where n ≥ 1
weights ← {e ← *⍵-⌈/⍵ ⋄ e÷+/e}
output w ← weights (0.1 ⋄ 2000) {w ← weights ⍵ ⋄ 10000×+/w×covariance+.×w} optim.adam n⍴0.0
"""
    covariance = np.cov(returns.T)
    exact = np.linalg.solve(covariance, np.ones(3))
    np.testing.assert_allclose(run_program(tmp_path, text, covariance=covariance)["w"], exact / exact.sum(), atol=1e-5)


def test_anomalies_of_a_cube_in_hdf5(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    cube = generator().normal(size=(48, 3, 5)) + np.arange(48)[:, None, None] % 12
    with h5py.File(tmp_path / "cube.h5", "w") as file:
        file["temperature"] = cube
    text = """use group
input t : f64[n h w] ← "cube.h5:temperature" where n ≥ 12
month ← 12|⍳n
mean ← month group.mean t
output mean
output anomaly ← t-month⌷mean
"""
    result = run_program(tmp_path, text)
    mean = cube.reshape(4, 12, 3, 5).mean(0)
    np.testing.assert_allclose(result["mean"], mean)
    np.testing.assert_allclose(result["anomaly"], cube - np.tile(mean, (4, 1, 1)), atol=1e-12)


def test_statistics_of_a_file_that_is_larger_than_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    x = generator().normal(size=(40_000, 50))
    np.save("x.npy", x)
    text = 'input x : f64[n m] ← "x.npy" where n ≥ 1\noutput mean ← (+⌿x)÷n\noutput greatest ← ⌈⌿x\noutput rows ← +/x×x\n'
    Path("task.rho").write_text(text, encoding="utf-8")
    wanted = [word for name in ("mean", "greatest", "rows") for word in ("--out", f"{name}={name}.npy")]
    assert main(["run", "task.rho", "--max-memory", "10MB", *wanted]) == 0
    np.testing.assert_allclose(np.load("mean.npy"), x.mean(0), atol=1e-12)
    np.testing.assert_array_equal(np.load("greatest.npy"), x.max(0))
    np.testing.assert_allclose(np.load("rows.npy"), (x**2).sum(1))


def test_a_stack_of_images_with_a_flat_field(tmp_path: Path) -> None:
    stack = generator().integers(20, 200, (6, 8, 9)).astype(np.uint8)
    flat = generator().uniform(0.8, 1.2, (8, 9))
    text = """use stats
input stack : u8[k h w] where k ≥ 2
input flat : f64[h w]
corrected ← stack÷⍤2 ⊢ flat÷(+/,flat)÷h×w
middle ← (+⌿corrected)÷k
output middle
output counts ← (0 50 100 150 200 250 300) stats.histogram ,corrected
output bright ← +/,middle>128
"""
    result = run_program(tmp_path, text, stack=stack, flat=flat)
    corrected = stack / (flat / flat.mean())
    np.testing.assert_allclose(result["middle"], corrected.mean(0))
    np.testing.assert_array_equal(result["counts"], np.histogram(corrected, np.arange(0, 301, 50))[0])
    assert result["bright"] == (corrected.mean(0) > 128).sum()


def test_a_curve_is_fitted_by_levenberg_and_marquardt(tmp_path: Path) -> None:
    scipy = pytest.importorskip("scipy.optimize")
    t = np.linspace(0, 4, 60)
    y = 3 * np.exp(-1.3 * t) + 0.5 + generator().normal(size=60) / 100
    text = """input t : f64[n] where n ≥ 3
input y : f64[n]
model ← {(a b c) ← ⍵ ⋄ c+a×*-b×t}
slopes ← {(a b c) ← ⍵ ⋄ e ← *-b×t ⋄ ⍉[e ⋄ -a×t×e ⋄ n⍴1.0]}
output p ← {
  j ← slopes (⍵[0] ⋄ ⍵[1] ⋄ ⍵[2])
  r ← y-model (⍵[0] ⋄ ⍵[1] ⋄ ⍵[2])
  ⍵+((⍉j)+.×r)⌹((⍉j)+.×j)+0.001×∘.=⍨⍳3
}⍣60 ⊢ 1.0 1 0
"""
    expected, _ = scipy.curve_fit(lambda t, a, b, c: a * np.exp(-b * t) + c, t, y, [1, 1, 0])
    np.testing.assert_allclose(run_program(tmp_path, text, t=t, y=y)["p"], expected, rtol=1e-5)


def test_ranks_of_pages_and_a_sparse_system(tmp_path: Path) -> None:
    """Products with a matrix of which only the items that are not 0 are stored: row, column and value of each."""
    count = 40
    row, column = generator().integers(0, count, (2, 200))
    text = """param k ← 40 where k ≥ 1
input row : idx<k>[m]
input column : idx<k>[m]
input value : f64[m]
times ← {k +⌸ (row ⋄ value×⍵[column])}
out ← 1⌈k +⌸ (column ⋄ 1)
output rank ← {(0.15÷k)+0.85×k +⌸ (row ⋄ (⍵÷out)[column])}⍣100 ⊢ k⍴1÷k
b ← 1.0+⍳k
apply ← {(20×⍵)+(times ⍵)+k +⌸ (column ⋄ value×⍵[row])}
(x r p) ← {
  (x r p) ← ⍵
  q ← apply p
  a ← (+/r×r)÷1e¯300⌈+/p×q
  s ← r-a×q
  (x+a×p ⋄ s ⋄ s+p×(+/s×s)÷1e¯300⌈+/r×r)
}⍣60 ⊢ (k⍴0.0 ⋄ b ⋄ b)
output x
"""
    value = generator().uniform(-1, 1, 200)
    result = run_program(tmp_path, text, row=row, column=column, value=value)
    dense = np.zeros((count, count))
    np.add.at(dense, (row, column), value)
    system = 20 * np.eye(count) + dense + dense.T
    np.testing.assert_allclose(result["x"], np.linalg.solve(system, 1.0 + np.arange(count)))
    links = np.zeros((count, count))
    np.add.at(links, (row, column), 1)
    walk, rank = links / np.maximum(links.sum(0), 1), np.full(count, 1 / count)
    for _ in range(100):
        rank = 0.15 / count + 0.85 * walk @ rank
    np.testing.assert_allclose(result["rank"], rank, rtol=1e-9)


def test_products_along_axes_and_selection_by_arrays(tmp_path: Path) -> None:
    a, b = generator().normal(size=(3, 4, 5)), generator().normal(size=(3, 5, 2))
    text = """input a : f64[k n m]
input b : f64[k m p]
input row : idx<n>[q]
output product ← a+.×⍤2 ⊢ b
output trace ← +/,(⍉⍤2 ⊢ a)×⍉⍤2 ⊢ a
output centred ← a-⍤1 ⊢ (+⌿((k×n) m)⍴a)÷1⌈k×n
output chosen ← a[;row;]
"""
    result = run_program(tmp_path, text, a=a, b=b, row=np.array([2, 0, 2]))
    np.testing.assert_allclose(result["product"], np.einsum("kij,kjp->kip", a, b))
    np.testing.assert_allclose(result["trace"], np.einsum("kij,kij->", a, a))
    np.testing.assert_allclose(result["centred"], a - a.mean((0, 1)))
    np.testing.assert_array_equal(result["chosen"], a[:, [2, 0, 2]])


def test_missing_values_and_masks(tmp_path: Path) -> None:
    x = np.where(generator().random(200) < 0.2, np.nan, generator().normal(size=200))
    text = """use missing
input x : f64[n]
output mean ← missing.mean x
output highest ← missing.greatest x
output middle ← 0.5 missing.quantile x
output filled ← missing.forward x
output clipped ← ¯1⌈1⌊0 missing.fill x
output large ← ⍸x>1
"""
    result = run_program(tmp_path, text, x=x)
    np.testing.assert_allclose(result["mean"], np.nanmean(x))
    np.testing.assert_allclose(result["middle"], np.nanmedian(x))
    assert result["highest"] == np.nanmax(x)
    np.testing.assert_array_equal(result["clipped"], np.clip(np.nan_to_num(x), -1, 1))
    np.testing.assert_array_equal(result["large"], np.flatnonzero(x > 1))
    last = np.maximum.accumulate(np.where(np.isnan(x), -1, np.arange(200)))
    np.testing.assert_array_equal(result["filled"], np.where(last < 0, np.nan, x[last]))


def test_a_slow_python_function_made_fast() -> None:
    """The distance of Levenshtein, a loop in a loop in Python, by one row of the table after the other."""
    distance = rho.compile("{y ← ⍵ ⋄ ⊃⌽{c ← (1+⊃⍵),(1+1↓⍵)⌊(¯1↓⍵)+y≠⍺ ⋄ (⍳≢c)+⌊\\c-⍳≢c}⍣⍺ ⊢ ⍳1+≢y}")

    def plain(a: str, b: str) -> int:
        row = list(range(len(b) + 1))
        for x in a:
            following = [row[0] + 1]
            for j, y in enumerate(b):
                following.append(min(row[j + 1] + 1, following[j] + 1, row[j] + (x != y)))
            row = following
        return row[-1]

    draw = generator()
    for _ in range(5):
        a, b = ("".join(draw.choice(list("abc"), int(draw.integers(2, 9)))) for _ in range(2))
        assert distance(np.array(list(a)), np.array(list(b))) == plain(a, b), (a, b)


def test_a_small_model_is_trained(tmp_path: Path) -> None:
    x = generator().normal(size=(400, 2))
    label = (x[:, 0] * x[:, 1] > 0).astype(float)
    text = """use optim
use random
input x : f64[n 2] where n ≥ 1
input label : f64[n]
score ← {(w v b) ← ⍵ ⋄ b+(0⌈x+.×w)+.×v}
loss ← {s ← score ⍵ ⋄ (+/(⍟1+*-|s)+(0⌈s)-s×label)÷n}
start ← (2 8⍴1 random.normal 16 ⋄ 0.3×2 random.normal 8 ⋄ 0.0)
p ← (0.05 ⋄ 400) loss optim.adam start
output before ← loss start
output after ← loss p
output right ← (+/(0<score p)=label>0.5)÷n
"""
    result = run_program(tmp_path, text, x=x, label=label)
    assert result["after"] < 0.2 < result["before"] and result["right"] > 0.93


def test_frames_in_frames_out_and_a_database(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    draw = generator()
    frame = pandas.DataFrame({"shop": draw.choice(["north", "south", "east"], 60), "price": draw.integers(1, 99, 60) / 4})
    with sqlite3.connect(tmp_path / "shop.db") as database:
        frame.to_sql("sales", database, index=False)
    text = """use set
use group
input shop : char[n w] ← "shop.db:sales.shop"
input price : f64[n] ← "shop.db:sales.price"
(shops code) ← set.classes shop
output shops
output total ← code group.sum price
output mean ← code group.mean price
"""
    given = {"shop": frame["shop"], "price": frame["price"]}
    expected = frame.groupby("shop", sort=False).price.agg(["sum", "mean"])
    unread = text.replace(' ← "shop.db:sales.shop"', "").replace(' ← "shop.db:sales.price"', "")
    for result in (run_program(tmp_path, text), run_program(tmp_path, unread, **given)):
        table = pandas.DataFrame.from_arrow(result) if hasattr(pandas.DataFrame, "from_arrow") else None
        names = [name.strip() for name in map("".join, result["shops"])]
        assert names == list(expected.index)
        np.testing.assert_allclose(result["total"], expected["sum"])
        np.testing.assert_allclose(result["mean"], expected["mean"])
        assert table is None or list(table["total"]) == list(result["total"])


def test_lines_of_a_log_by_a_regular_expression(tmp_path: Path) -> None:
    """Which requests failed, and how long each took: the first number before `ms`."""
    import re

    draw = generator()
    lines = [
        f"2024-0{draw.integers(1, 10)}-12 GET /p{draw.integers(30)} {draw.choice([200, 404, 500])} {draw.integers(10, 900)} ms"
        for _ in range(50)
    ]
    text = """use text
input line : char[n w] ← "log.csv:line"
output failed ← line text.search ' [45]\\d\\d '
ends ← line text.spans '\\d+ ms$'
begin ← {⊃⍸(⍵≥0),1=1}⍤1 ⊢ ends
output ms ← ⎕number (((⍳w)≥⍤1 0 ⊢ begin)∧(⍳w)<⍤1 0 ⊢ begin+3)¿(line ⋄ ' ')
"""
    (tmp_path / "log.csv").write_text("line\n" + "\n".join(lines) + "\n", encoding="utf-8")
    result = run_program(tmp_path, text)
    assert list(result["failed"]) == [bool(re.search(r" [45]\d\d ", line)) for line in lines]
    assert list(result["ms"]) == [int(re.findall(r"(\d+) ms", line)[0]) for line in lines]
