"""Which functions of the library flow in tiles, by planning a call of each.

`python -m rho.tests.streams.library_in_tiles` prints the table of docs/streams.md."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np

from rho.lang.diagnostics.model import Refused
from rho.shell.execution.streaming import passes_of

from .running import loaded

CALLS: Final[Mapping[str, str]] = {
    "dates.month": "dates.month d", "dates.month_start": "dates.month_start d", "dates.weekday": "dates.weekday d",
    "dates.year": "dates.year d",
    "group.count": "group.count k", "group.sum": "k group.sum x", "group.mean": "k group.mean x",
    "group.least": "k group.least x",
    "group.greatest": "k group.greatest x", "group.variance": "k group.variance x",
    "group.sample_deviation": "k group.sample_deviation x", "group.first": "group.first k", "group.last": "group.last k",
    "group.number": "group.number k", "group.previous": "group.previous k", "group.rank": "k group.rank x",
    "group.quantile": "0.5 group.quantile (k ⋄ x)", "group.pivot": "(k ⋄ k) group.pivot x",
    "linalg.dot": "x linalg.dot y", "linalg.norm": "linalg.norm x", "linalg.unit": "linalg.unit x",
    "linalg.distance": "x linalg.distance y",
    "missing.count": "missing.count x", "missing.sum": "missing.sum x", "missing.mean": "missing.mean x",
    "missing.least": "missing.least x", "missing.greatest": "missing.greatest x", "missing.variance": "missing.variance x",
    "missing.deviation": "missing.deviation x", "missing.drop": "missing.drop x", "missing.quantile": "0.5 missing.quantile x",
    "missing.fill": "0 missing.fill x", "missing.forward": "missing.forward x", "missing.backward": "missing.backward x",
    "missing.linear": "missing.linear x",
    "nn.relu": "nn.relu x", "nn.gelu": "nn.gelu x", "nn.sigmoid": "nn.sigmoid x", "nn.squared_error": "x nn.squared_error y",
    "polynomial.value": "(1 2 3) polynomial.value x", "polynomial.fit": "3 polynomial.fit (x ⋄ y)",
    "probability.normal": "probability.normal x", "probability.normal_quantile": "probability.normal_quantile x",
    "rolling.within": "((60 rolling.within x) rolling.sum_of y)", "rolling.sum": "20 rolling.sum x",
    "rolling.mean": "20 rolling.mean x", "rolling.least": "20 rolling.least x", "rolling.greatest": "20 rolling.greatest x",
    "rolling.mean of 500": "500 rolling.mean x", "rolling.greatest of 2000": "2000 rolling.greatest x",
    "rolling.deviation": "20 rolling.deviation x", "rolling.deviation of 65": "65 rolling.deviation x",
    "rolling.quantile": "20 rolling.quantile (0.9 ⋄ x)",
    "series.shift": "1 series.shift x", "series.change": "1 series.change x", "series.returns": "series.returns x",
    "series.log_returns": "series.log_returns x", "series.drawdown": "series.drawdown x", "series.ema": "0.1 series.ema x",
    "series.ewm": "0.1 series.ewm x",
    "set.unique": "set.unique x", "set.size": "set.size x", "set.member": "x set.member (1 2 3)",
    "set.intersection": "x set.intersection (1 2 3)", "set.difference": "x set.difference (1 2 3)",
    "signal.convolve": "x signal.convolve (1 2 1)", "signal.convolve_fft": "x signal.convolve_fft (1 2 1)",
    "sort.up": "sort.up x", "sort.down": "sort.down x", "sort.order": "sort.order x", "sort.places": "sort.places x",
    "sort.by": "x sort.by y", "sort.sorted": "sort.sorted x", "sort.largest": "sort.largest x",
    "sort.smallest": "sort.smallest x",
    "stats.mean": "stats.mean x", "stats.variance": "stats.variance x", "stats.magnitude": "stats.magnitude x",
    "stats.deviation": "stats.deviation x", "stats.sample_variance": "stats.sample_variance x",
    "stats.sample_deviation": "stats.sample_deviation x", "stats.standardise": "stats.standardise x",
    "stats.covariance": "x stats.covariance y", "stats.correlation": "x stats.correlation y", "stats.median": "stats.median x",
    "stats.quantile": "0.9 stats.quantile x", "stats.edges": "10 stats.edges x", "stats.histogram": "(0 0.5 1) stats.histogram x",
    "stats.digitize": "(0 0.5 1) stats.digitize x", "stats.interp": "((0 0.5 1) ⋄ (1 2 4)) stats.interp x",
    "stats.rank": "stats.rank x", "stats.round": "2 stats.round x", "stats.range": "stats.range x",
    "stats.moving": "(0.25 0.5 0.25) stats.moving x",
    "table.find": "(1 2 3) table.find x",
}  # fmt: skip
"""By function, a call with inputs larger than memory: numbers x and y, keys k of a hundred groups, days d."""
_TYPES: Final = {"x": "f64", "y": "f64", "k": "idx<100>", "d": "date"}
_STORED: Final = {"x": "f8", "y": "f8", "k": "i8", "d": "M8[D]"}
ROWS: Final = 2_000_003
_LIMIT: Final = 4_000_000
_NONE: Final = "none"
_REASONS: Final = {
    "may lie anywhere": "reads its argument at computed places",
    "needs all of its argument": "needs all of its argument at once",
    "for a tile of one row": "keeps values as long as its argument",
}
"""By words of the refusal, why a function does not flow."""
_COUNTS: Final = ("", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def store_inputs(folder: Path) -> None:
    """Writes the inputs, files that take no room on the disk."""
    for name, stored in _STORED.items():
        np.lib.format.open_memmap(folder / f"{name}.npy", "w+", stored, (ROWS,)).flush()


def passes(function: str, folder: Path) -> str:
    """The number of passes over the files that the call of a function takes, or why it does not flow."""
    call = CALLS[function]
    modules = sorted({word.partition(".")[0] for word in re.findall(r"[a-z]+\.[a-z_]+", call)})
    names = [name for name in _TYPES if re.search(rf"(?<![\w.]){name}(?![\w.])", call)]
    lines = [f"use {module}" for module in modules]
    lines += [f"input {name} : {_TYPES[name]}[n] where n ≥ 8" for name in names]
    try:
        program = loaded("\n".join([*lines, f"z ← {call}", "output z", ""]), folder, _LIMIT)
    except Refused as refused:
        (why,) = [note for note in refused.diagnostics[0].notes if note.startswith("it cannot stream")]
        return next(f"none: {reason}" for words, reason in _REASONS.items() if words in why)
    assert program.streams
    return _COUNTS[len(passes_of(program.plan))]


def table(of: Mapping[str, str]) -> str:
    """The table of the page: by passes or reason, the functions."""
    order = [*_COUNTS[1:], *(f"none: {reason}" for reason in _REASONS.values())]
    rows = {count: [function for function, its in of.items() if its == count] for count in order}
    shown = {count: " ".join(f"`{function}`" for function in functions) for count, functions in rows.items()}
    lines = [f"| {count} | {functions} |" for count, functions in shown.items() if functions]
    return "\n".join(["| passes | functions |", "|---|---|", *lines])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        store_inputs(Path(name))
        print(table({function: passes(function, Path(name)) for function in CALLS}))
