"""Every example against an independent NumPy computation on the same data."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rho.shell.main import main

pytestmark = pytest.mark.long

EXAMPLES = Path(__file__).parents[2] / "examples"
DATA = EXAMPLES / "data"


def run(name: str, *arguments: str) -> dict[str, np.ndarray[Any, Any]]:
    """Run an example and return its named outputs."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(["run", str(EXAMPLES / f"{name}.rho"), "--json", *arguments])
    assert code == 0, err.getvalue() + out.getvalue()
    return {v["name"]: np.array(v["data"]) for v in json.loads(out.getvalue())["values"] if v["name"]}


def table(name: str) -> np.ndarray[Any, Any]:
    with open(DATA / name, newline="") as file:
        return np.array([[float(cell) for cell in row] for row in list(csv.reader(file))[1:]])


def test_every_example_is_tested_and_prints() -> None:
    tested = {"black_scholes", "kmeans", "life", "mandelbrot", "pagerank", "pca", "pi", "readings", "regression", "sales",
              "sobel", "sunspots",
              "text_statistics", "digits", "digits_step", "letters", "portfolio"}  # fmt: skip
    assert {p.stem for p in EXAMPLES.glob("*.rho")} == tested


@pytest.mark.parametrize("steps", [0, 1, 100])
def test_life(steps: int) -> None:
    board = np.zeros((24, 72), dtype=int)
    for i, line in enumerate((DATA / "glider_gun.txt").read_text().splitlines()):
        board[i, : len(line)] = [c == "O" for c in line]
    for _ in range(steps):
        near = sum(np.roll(board, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - board
        board = ((near == 3) | ((near == 2) & (board == 1))).astype(int)
    assert np.array_equal(run("life", "--set", f"steps={steps}")["board"], board)


def test_mandelbrot() -> None:
    width, height, steps = 120, 80, 50
    x = -2 + 3 * np.arange(width) / width
    y = -1 + 2 * np.arange(height) / height
    c = x[None, :] + 1j * y[:, None]
    z, count = c.copy(), np.zeros(c.shape, dtype=int)
    for _ in range(steps):
        alive = np.abs(z) <= 2
        z[alive] = z[alive] ** 2 + c[alive]
        count += alive
    expected = np.floor(255 * (1 - count / steps)).astype(int)
    picture = run("mandelbrot", "--set", f"width={width}", "--set", f"height={height}")["picture"]
    assert picture.shape == (height, width)
    assert np.mean(picture != expected) < 0.002  # points on the boundary may escape a step earlier


def test_black_scholes() -> None:
    spot, strike, years, rate, volatility = table("options.csv").T
    normal = np.vectorize(lambda v: 0.5 * math.erfc(-v / math.sqrt(2)))
    d1 = (np.log(spot / strike) + years * (rate + volatility**2 / 2)) / (volatility * np.sqrt(years))
    d2 = d1 - volatility * np.sqrt(years)
    call = spot * normal(d1) - strike * np.exp(-rate * years) * normal(d2)
    put = strike * np.exp(-rate * years) * normal(-d2) - spot * normal(-d1)
    results = run("black_scholes")
    np.testing.assert_allclose(results["call"], call, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(results["put"], put, rtol=1e-9, atol=1e-10)


def test_kmeans() -> None:
    points = table("iris.csv")
    centres = points[[0, 50, 100]]
    for _ in range(20):
        label = ((points[:, None, :] - centres) ** 2).sum(-1).argmin(1)
        centres = np.array([points[label == j].mean(0) for j in range(3)])
    results = run("kmeans")
    label = ((points[:, None, :] - centres) ** 2).sum(-1).argmin(1)
    assert np.array_equal(results["label"], label)
    np.testing.assert_allclose(results["centres"], centres, rtol=1e-12)


def test_pca() -> None:
    points = table("iris.csv")
    centred = points - points.mean(0)
    _, singular, axes = np.linalg.svd(centred, full_matrices=False)
    results = run("pca")
    np.testing.assert_allclose(results["explained"], singular**2 / (singular**2).sum(), rtol=1e-10)
    np.testing.assert_allclose(np.abs(results["scores"]), np.abs(centred @ axes.T), atol=1e-10)


def test_pagerank() -> None:
    friends = np.zeros((34, 34))
    for a, b in table("karate.csv").astype(int):
        friends[a, b] = friends[b, a] = 1
    google = 0.15 / 34 + 0.85 * friends / friends.sum(0)
    values, vectors = np.linalg.eig(google)
    principal = np.real(vectors[:, np.argmax(np.real(values))])
    np.testing.assert_allclose(run("pagerank")["rank"], principal / principal.sum(), atol=1e-10)


def test_regression() -> None:
    data = table("longley.csv")
    design = np.hstack([np.ones((len(data), 1)), data[:, 1:]])
    expected = np.linalg.lstsq(design, data[:, 0], rcond=None)[0]
    np.testing.assert_allclose(run("regression")["coefficients"], expected, rtol=1e-6)


def test_sunspots() -> None:
    spots = table("sunspots.csv")[:, 1]
    np.testing.assert_allclose(run("sunspots")["average"], np.convolve(spots, np.ones(11) / 11, mode="valid"), rtol=1e-12)
    assert len(run("sunspots", "--set", "span=5")["average"]) == len(spots) - 4


def test_sobel(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    photo = np.asarray(image.open(DATA / "hopper.png"), dtype=float)
    padded = np.pad(photo, 1)
    across = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3))
    gx, gy = (windows * across).sum((2, 3)), (windows * across.T).sum((2, 3))
    expected = np.floor(np.minimum(255, np.hypot(gx, gy) / 2)).astype(int)
    results = run("sobel", "--out", f"edges={tmp_path / 'edges.png'}")
    assert np.array_equal(results["edges"], expected)
    assert np.array_equal(np.asarray(image.open(tmp_path / "edges.png")), expected)


def test_text_statistics() -> None:
    text = (DATA / "gettysburg.txt").read_text().lower()
    expected = [text.count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"]
    assert run("text_statistics")["counts"].tolist() == expected


def test_pi() -> None:
    estimate = float(run("pi")["estimate"])
    assert abs(estimate - math.pi) < 4 * math.sqrt(math.pi * (4 - math.pi) / 1e6)
    assert estimate == float(run("pi")["estimate"]), "the key fixes the numbers"
    assert estimate != float(run("pi", "--set", "key=43")["estimate"])


def make_readings(*words: str) -> None:
    subprocess.run([sys.executable, str(DATA / "make_readings.py"), *words], check=True)


def test_readings_are_what_their_script_makes(tmp_path: Path) -> None:
    make_readings("500", str(tmp_path / "r.npy"))
    assert (tmp_path / "r.npy").read_bytes() == (DATA / "readings.npy").read_bytes()


def test_readings_larger_than_memory(tmp_path: Path) -> None:
    """Three passes, and the bits of the run in memory."""
    made = tmp_path / "readings.npy"
    make_readings("400000", str(made))
    rows = np.load(made)
    mean, spread = rows.mean(axis=0), rows.std(axis=0, ddof=1)
    whole = run("readings", "--in", f"reading={made}", "--out", f"scaled={tmp_path / 'whole.npy'}")
    tiles = run("readings", "--in", f"reading={made}", "--out", f"scaled={tmp_path / 'tiles.npy'}", "--max-memory", "6MB")
    np.testing.assert_allclose(whole["mean"], mean, rtol=1e-13)
    np.testing.assert_allclose(whole["spread"], spread, rtol=1e-13)
    np.testing.assert_allclose(whole["farthest"], np.abs((rows - mean) / spread).max(axis=0), rtol=1e-12)
    assert all(np.array_equal(whole[name], tiles[name]) for name in ("mean", "spread", "farthest"))
    assert (tmp_path / "whole.npy").read_bytes() == (tmp_path / "tiles.npy").read_bytes()


def test_sales_are_what_its_script_makes(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", f"import runpy, pathlib; runpy.run_path({str(DATA / 'make_sales.py')!r})"
                    f"['main'](pathlib.Path({str(tmp_path)!r}))"], check=True)  # fmt: skip
    for name in ("sales.csv", "shops.csv"):
        assert (tmp_path / name).read_bytes() == (DATA / name).read_bytes()


def test_sales_by_month_and_region(tmp_path: Path) -> None:
    with open(DATA / "sales.csv", newline="", encoding="utf-8") as file:
        sales = list(csv.DictReader(file))
    with open(DATA / "shops.csv", newline="", encoding="utf-8") as file:
        regions = {row["shop"]: row["region"] for row in csv.DictReader(file)}
    by_region: dict[str, float] = dict.fromkeys(regions.values(), 0.0)
    by_month: dict[str, float] = {}
    for row in sales:
        revenue = 0.0 if row["price"] in ("", "NA") else int(row["units"]) * float(row["price"])
        by_month[row["date"][:7] + "-01"] = by_month.get(row["date"][:7] + "-01", 0.0) + revenue
        if row["shop"] in regions:
            by_region[regions[row["shop"]]] += revenue
    found = run("sales")
    assert [str(text).rstrip() for text in found["region"]] == list(by_region)
    np.testing.assert_allclose(found["sold"], list(by_region.values()), rtol=1e-13)
    np.testing.assert_allclose(found["monthly"], [by_month[month] for month in sorted(by_month)], rtol=1e-13)
    report = tmp_path / "report.csv"
    run("sales", "--out", f"month,monthly={report}")
    with open(report, newline="", encoding="utf-8") as file:
        written = list(csv.DictReader(file))
    assert [row["month"] for row in written] == sorted(by_month)
    np.testing.assert_allclose([float(row["monthly"]) for row in written], found["monthly"], rtol=1e-13)
