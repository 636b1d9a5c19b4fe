"""Compares joins, groups and windows of the library with polars, on one core.

    python benchmarks/joins.py [--rows 1e7] [--only join] [--rounds 3] [--write results/file.md]

A time is processor time of the process, the least of the rounds, in which both sides alternate.  Results are compared first.
"""

from __future__ import annotations

import os

os.environ.setdefault("POLARS_MAX_THREADS", "1")
os.environ.setdefault("RHO_THREADS", "1")

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import rho


@dataclass(frozen=True)
class Row:
    """A program with outputs, its inputs, the same by polars, and the ratio of times that it should stay below."""

    name: str
    program: str
    data: Callable[[int], dict[str, Any]]
    frames: Callable[[dict[str, Any]], Any]
    peer: Callable[[Any], Any]
    same: Callable[[Any, Any], bool]
    bar: float


def keyed(n: int) -> dict[str, Any]:
    draw = np.random.default_rng(0)
    return {"a": draw.permutation(n), "b": draw.integers(0, 2 * n, n), "x": draw.random(n), "y": draw.random(n)}


def words(numbers: Any, width: int = 9) -> Any:
    """A row of text for each number."""
    digits = numbers[:, None] // 10 ** np.arange(width)[::-1] % 10
    return (digits + ord("0")).astype(np.uint32).view("U1").reshape(-1, width)


def text_keyed(n: int) -> dict[str, Any]:
    data = keyed(n)
    return {**data, "a": words(data["a"]), "b": words(data["b"])}


def strings(rows: Any) -> Any:
    return pl.Series([row.decode() for row in rows.astype("S1").view(f"S{rows.shape[1]}").ravel()])


def two_frames(data: dict[str, Any]) -> Any:
    a, b = (strings(data[k]) if data[k].ndim == 2 else data[k] for k in "ab")
    return pl.DataFrame({"k": a, "x": data["x"]}), pl.DataFrame({"k": b, "y": data["y"]})


def two_keyed(n: int) -> dict[str, Any]:
    data = keyed(n)
    return {**data, "a": data["a"] // 1000, "c": data["a"] % 1000, "b": data["b"] // 1000, "d": data["b"] % 1000}


def two_keyed_frames(data: dict[str, Any]) -> Any:
    left, right = two_frames(data)
    return left.with_columns(l=data["c"]), right.with_columns(l=data["d"])


def grouped(n: int) -> dict[str, Any]:
    draw = np.random.default_rng(0)
    return {"k": draw.integers(0, 100_000, n), "x": draw.random(n)}


def text_grouped(n: int) -> dict[str, Any]:
    data = grouped(n)
    return {"k": words(data["k"]), "x": data["x"]}


def joined(frames: Any) -> Any:
    return frames[1].join(frames[0], on="k")


def one_frame(data: dict[str, Any]) -> Any:
    return pl.DataFrame({name: strings(column) if column.ndim == 2 else column for name, column in data.items()})


def series(n: int) -> dict[str, Any]:
    draw = np.random.default_rng(0)
    return {"t": np.cumsum(draw.integers(1, 20, n)), "x": draw.random(n)}


def quotes(n: int) -> dict[str, Any]:
    draw = np.random.default_rng(0)
    return {
        "a": draw.integers(0, 1000, n), "b": draw.integers(0, 1000, n),
        "t": np.sort(draw.integers(0, 10 * n, n)), "u": np.sort(draw.integers(0, 10 * n, n)), "x": draw.random(n),
    }  # fmt: skip


def close(ours: Any, theirs: Any) -> bool:
    return np.allclose(ours, theirs, rtol=1e-6, atol=1e-9, equal_nan=True)


def sums(result: Any, frame: Any) -> bool:
    total = frame.select((pl.col("x") * pl.col("y")).sum()).item()
    return close(result["total"].sum(), total) and len(result["total"]) == len(frame)


def window(name: str, text: str, peer: Callable[[Any], Any], bar: float = 0.5) -> Row:
    program = f"use rolling\nuse series\ninput x : f64[n]\ninput t : i64[n]\noutput r ← {text}\n"
    return Row(
        name, program, series, one_frame, lambda f: f.select(peer(pl.col("x"))).to_series(),
        lambda ours, theirs: close(ours["r"], theirs.fill_null(np.nan).to_numpy()), bar,
    )  # fmt: skip


JOIN = "use table\ninput a : {}\ninput b : {}\ninput x : f64[n]\ninput y : f64[m]\n"
INTEGERS, TEXTS = ("i64[n]", "i64[m]"), ("char[n w]", "char[m w]")
INNER = "(i j) ← a table.inner b\noutput total ← x[i]×y[j]\n"
FIND = "output total ← ((x,0.0)[a table.find b])×y\n"
GROUP = "use set\nuse group\ninput k : {}\ninput x : f64[n]\n(keys code) ← set.classes k\noutput keys\n"
BY_TIME = "(2000 rolling.within t) rolling.{}_of x"

ROWS = (
    Row("inner join by integers", JOIN.format(*INTEGERS) + INNER, keyed, two_frames, joined, sums, 1.5),
    Row("inner join by text", JOIN.format(*TEXTS) + INNER, text_keyed, two_frames, joined, sums, 3),
    Row(
        "left join by integers", JOIN.format(*INTEGERS) + FIND, keyed, two_frames, lambda f: f[1].join(f[0], on="k", how="left"),
        sums, 1.5,
    ),
    Row(
        "group by integers", GROUP.format("i64[n]") + "output s ← code group.sum x\n", grouped, one_frame,
        lambda f: f.group_by("k").agg(pl.col("x").sum()), lambda o, f: close(np.sort(o["s"]), np.sort(f["x"].to_numpy())), 1.5,
    ),
    Row(
        "four aggregates by integers",
        GROUP.format("i64[n]") + "output s ← code group.sum x\noutput m ← code group.mean x\n"
        "output low ← code group.least x\noutput high ← code group.greatest x\n",
        grouped, one_frame, lambda f: f.group_by("k").agg(
            pl.col("x").sum(), m=pl.col("x").mean(), low=pl.col("x").min(), high=pl.col("x").max()
        ),
        lambda o, f: close(np.sort(o["high"]), np.sort(f["high"].to_numpy())), 1.5,
    ),
    Row(
        "group by text", GROUP.format("char[n w]") + "output s ← code group.sum x\n", text_grouped, one_frame,
        lambda f: f.group_by("k").agg(pl.col("x").sum()), lambda o, f: close(np.sort(o["s"]), np.sort(f["x"].to_numpy())), 3,
    ),
    Row(
        "medians of groups by integers", GROUP.format("i64[n]") + "output s ← 0.5 group.quantile (code ⋄ x)\n", grouped,
        one_frame, lambda f: f.group_by("k").agg(pl.col("x").median()),
        lambda o, f: close(np.sort(o["s"]), np.sort(f["x"].to_numpy())), 1.5,
    ),
    Row(
        "inner join by two keys", JOIN.format(*INTEGERS).replace("input x", "input c : i64[n]\ninput d : i64[m]\ninput x")
        + "(i j) ← (⍉[a ⋄ c]) table.inner ⍉[b ⋄ d]\noutput total ← x[i]×y[j]\n", two_keyed, two_keyed_frames,
        lambda f: f[1].join(f[0], on=["k", "l"]), sums, 1.5,
    ),
    Row(
        "as-of join by key", "use table\n" + "".join(
            f"input {name} : {kind}\n" for name, kind in (("a", "i64[n]"), ("b", "i64[m]"), ("t", "i64[n]"), ("u", "i64[m]"))
        ) + "input x : f64[n]\noutput r ← (x,⎕nan)[(a ⋄ t) table.asof (b ⋄ u)]\n", quotes,
        lambda d: (pl.DataFrame({"k": d["a"], "t": d["t"], "x": d["x"]}), pl.DataFrame({"k": d["b"], "t": d["u"]})),
        lambda f: f[1].join_asof(f[0], on="t", by="k", check_sortedness=False),
        lambda o, f: close(o["r"], f["x"].fill_null(np.nan).to_numpy()), 1.5,
    ),
    window("sums of 20 rows", "20 rolling.sum x", lambda x: x.rolling_sum(20)),
    window("extremes of 20 rows", "20 rolling.greatest x", lambda x: x.rolling_max(20)),
    window("deviations of 20 rows", "20 rolling.deviation x", lambda x: x.rolling_std(20)),
    window("sums of 500 rows", "500 rolling.sum x", lambda x: x.rolling_sum(500)),
    window("extremes of 500 rows", "500 rolling.greatest x", lambda x: x.rolling_max(500)),
    window("deviations of 500 rows", "500 rolling.deviation x", lambda x: x.rolling_std(500)),
    window("medians of 20 rows", "20 rolling.quantile (0.5 ⋄ x)", lambda x: x.rolling_quantile(0.5, "linear", window_size=20)),
    window("medians of 500 rows", "500 rolling.quantile (0.5 ⋄ x)", lambda x: x.rolling_quantile(0.5, "linear", window_size=500)),
    window("sums by time", BY_TIME.format("sum"), lambda x: x.rolling_sum_by(pl.col("t"), "2000i")),
    window("extremes by time", BY_TIME.format("greatest"), lambda x: x.rolling_max_by(pl.col("t"), "2000i")),
    window("deviations by time", BY_TIME.format("deviation"), lambda x: x.rolling_std_by(pl.col("t"), "2000i")),
    window("exponential average", "0.1 series.ema x", lambda x: x.ewm_mean(alpha=0.1, adjust=False)),
)  # fmt: skip


def least(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def measured(row: Row, n: int, rounds: int) -> tuple[float, float]:
    data = row.data(n)
    frames = row.frames(data)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "row.rho"
        path.write_text(row.program, encoding="utf-8")
        program = rho.load(path)
        given = {name: value for name, value in data.items() if f"input {name} " in row.program}
        ours = theirs = float("inf")
        for number in range(rounds):
            mine, result = least(lambda: program.run(**given))
            peer, frame = least(lambda: row.peer(frames))
            if number == 0 and not row.same(result, frame):
                raise SystemExit(f"{row.name}: the results differ")
            del result, frame
            ours, theirs = min(ours, mine), min(theirs, peer)
    return ours, theirs


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args(words)
    head = f"{int(options.rows):,} rows, polars {pl.__version__}, one core, seconds of processor time"
    lines = [head, "", "| | Rho | polars | ratio | bar |", "|---|---|---|---|---|"]
    print("\n".join(lines), flush=True)
    for row in ROWS:
        if options.only in row.name:
            ours, theirs = measured(row, int(options.rows), options.rounds)
            lines.append(f"| {row.name} | {ours:.3g} | {theirs:.3g} | {ours / theirs:.2f} | {row.bar} |")
            print(lines[-1], flush=True)
    if options.write:
        options.write.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
