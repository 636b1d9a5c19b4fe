"""Reads tables of text beside pandas, polars and pyarrow, in one process, as ratios of processor time.

    python benchmarks/tables.py [--lines 500000] [--rounds 5] [--write benchmarks/results/tables.md]

The tables are made here by a seed.  A time is the least of the rounds, in which all readers alternate; what they read is compared
first.  Rho reads as a program does: shapes first (one pass), then the columns (another).  A package that is missing is left out.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import platform
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "2")
os.environ.setdefault("POLARS_MAX_THREADS", "2")

import numpy as np

from rho.backend.io.reading import InputSpec, read_shape, read_values
from rho.lang.syntax.source import Span
from rho.lang.tree.program import AS_WRITTEN, CellFormat, ColumnFormat
from rho.typechecker.elements import Kind

DAYS = ("date", Kind.I64, ColumnFormat(CellFormat.DATE))
SHOPS, PAYMENTS = ("shop", Kind.CHAR, AS_WRITTEN), ("pay", Kind.CHAR, ColumnFormat(missing=""))
NUMBERS = (("price", Kind.F64, AS_WRITTEN), ("units", Kind.I64, AS_WRITTEN), ("ratio", Kind.F64, AS_WRITTEN))
CASES = {
    "dates, text and numbers": (DAYS, SHOPS, PAYMENTS, *NUMBERS), "one column of text": (SHOPS,), "one of dates": (DAYS,),
    "one of numbers": NUMBERS[:1], "three of numbers": NUMBERS,
}  # fmt: skip


def write_table(path: Path, lines: int) -> None:
    chance, first = random.Random(1), date(2020, 1, 1)
    shops = [f'"Shop {number}, Ulm"' if number % 7 == 0 else f"Shop {number}" for number in range(300)]
    with path.open("w", encoding="utf-8") as file:
        file.write("date,time,shop,pay,price,units,ratio\n")
        for _ in range(lines):
            day = first + timedelta(days=chance.randrange(1500))
            clock = f"{chance.randrange(24):02d}:{chance.randrange(60):02d}:00"
            pay = chance.choice(["cash", "card", "transfer", "", "Überweisung", "voucher 12"])
            price, units = f"{chance.random() * 1000:.2f}", chance.randrange(1000)
            file.write(f"{day},{day} {clock},{chance.choice(shops)},{pay},{price},{units},{chance.random()}\n")


def by_rho(path: Path, columns: Sequence[tuple[str, Kind, ColumnFormat]]) -> list[Any]:
    tables: dict[Any, Any] = {}
    files = [
        (f"{path}:{name}", InputSpec(kind, 2 if kind is Kind.CHAR else 1, Span("", 0, 0), reading, None, None, tables))
        for name, kind, reading in columns
    ]
    shapes = [read_shape(*file) for file in files]
    return [read_values(*file, shape) for file, shape in zip(files, shapes, strict=True)]


def readers(path: Path, columns: Sequence[tuple[str, Kind, ColumnFormat]]) -> dict[str, Callable[[], Any]]:
    names = [name for name, _, _ in columns]
    dated = ["date"] if "date" in names else []
    result: dict[str, Callable[[], Any]] = {"Rho": lambda: by_rho(path, columns)}
    if importlib.util.find_spec("pandas"):
        import pandas

        for engine in ("c", "pyarrow"):
            result[f"pandas ({engine})"] = lambda engine=engine: pandas.read_csv(  # type: ignore[misc]
                path, usecols=names, parse_dates=dated, engine=engine
            )
    if importlib.util.find_spec("polars"):
        import polars

        result["polars"] = lambda: polars.read_csv(path, columns=names, try_parse_dates=True)
    if importlib.util.find_spec("pyarrow"):
        from pyarrow import csv

        result["pyarrow"] = lambda: csv.read_csv(path, convert_options=csv.ConvertOptions(include_columns=names))
    return result


def measured(functions: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    least = dict.fromkeys(functions, float("inf"))
    for _ in range(rounds):
        for name, function in functions.items():
            start = time.process_time()
            function()
            least[name] = min(least[name], time.process_time() - start)
    return least


def same(path: Path) -> None:
    """The numbers and the text are those of pandas."""
    import pandas

    frame = pandas.read_csv(path, keep_default_na=False)
    day, shop, _, price, *_ = by_rho(path, CASES["dates, text and numbers"])
    days = pandas.to_datetime(frame["date"]).to_numpy().astype("M8[D]").astype("i8")
    assert np.array_equal(price, frame["price"]) and np.array_equal(day, days)
    assert ["".join(row).rstrip() for row in shop[:1000].tolist()] == frame["shop"][:1000].tolist()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--lines", type=int, default=500_000)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--write", type=Path)
    arguments = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        write_table(path, arguments.lines)
        if importlib.util.find_spec("pandas"):
            same(path)
        rows = []
        for case, columns in CASES.items():
            times = measured(readers(path, columns), arguments.rounds)
            ratios = [f"{times['Rho'] / seconds:.2f}" for seconds in list(times.values())[1:]]
            rows.append([case, *ratios, f"{times['Rho'] * 1e3:.0f} ms"])
        heads = ["columns", *list(times)[1:], "Rho"]
        size = path.stat().st_size / 1e6
    lines = [
        f"`python benchmarks/tables.py`: {arguments.lines:,} lines, {size:.0f} MB; processor time of Rho by that of each,",
        f"the least of {arguments.rounds} rounds in one process on {os.cpu_count()} cores of {platform.machine()},",
        f"Python {platform.python_version()}, NumPy {np.__version__}, {date.today()}.", "",
        "| " + " | ".join(heads) + " |", "|---" * len(heads) + "|", *("| " + " | ".join(row) + " |" for row in rows),
    ]  # fmt: skip
    print("\n".join(lines))
    if arguments.write:
        arguments.write.write_text("# Tables of text beside others\n\n" + "\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
