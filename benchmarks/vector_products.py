"""Compares products with vectors, f64 and f32, with NumPy's on one core, for code with and without AVX-512.

    python benchmarks/vector_products.py [--target native,x86-64-v3] [--only y+.×A] [--rounds 15] [--write results/file.md]

One process for each target: with `RHO_TARGET` for Rho, and beside it OPENBLAS_CORETYPE for NumPy.  A time is processor time of
the one thread, the least of the rounds, in which both sides alternate.  Every row's results are compared first.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

BLAS_OF_TARGET = {"native": "", "x86-64-v3": "Haswell"}
"""The kernels of OpenBLAS that have the registers of a target."""
SECONDS_OF_ROUND = 0.004
KINDS = (np.float64, np.float32)
LIMIT = 1.15
"""The ratio that a row should stay below."""


@dataclass(frozen=True)
class Product:
    """`shapes` of the arguments `⍺` and `⍵`, the first alone if there is only one."""

    text: str
    shapes: tuple[tuple[int, ...], ...]
    by_hand: Callable[..., Any]

    @property
    def name(self) -> str:
        return f"{self.text} {' '.join('×'.join(map(str, shape)) for shape in self.shapes)}"


def _product(a: Any, b: Any) -> Any:
    return a @ b


def _batched(a: Any, b: Any) -> Any:
    return np.matmul(a, b[..., None])[..., 0]


PRODUCTS = [
    *(Product("⍺+.×⍵", ((side, side), (side,)), _product) for side in (60, 300, 1000, 3000)),
    *(Product("⍺+.×⍵", ((side,), (side, side)), _product) for side in (60, 300, 1000, 3000)),
    *(Product("(⍉⍺)+.×⍵", ((side, side), (side,)), lambda a, y: a.T @ y) for side in (300, 3000)),
    Product("⍺+.×⍉⍵", ((1000,), (1000, 1000)), lambda y, a: y @ a.T),
    Product("⍺+.×⍵", ((30, 100_000), (100_000,)), _product),
    Product("⍺+.×⍵", ((100_000, 30), (30,)), _product),
    Product("⍺+.×⍵", ((30,), (30, 100_000)), _product),
    Product("⍺+.×⍵", ((100_000,), (100_000, 30)), _product),
    Product("⍺+.×⍵", ((1_000_000,), (1_000_000,)), _product),
    Product("⍵+.×⍺+.×⍵", ((1000, 1000), (1000,)), lambda a, v: v @ (a @ v)),
    Product("⍺+.×⍵", ((20, 300, 250), (250,)), _product),
    Product("⍺(+.×⍤2 1)⍵", ((50, 120, 120), (50, 120)), _batched),
    Product("⍵-⍺+.×⍵", ((1000, 1000), (1000,)), lambda a, x: x - a @ x),
]  # fmt: skip


def least(sides: Sequence[Callable[[], Any]], rounds: int) -> list[float]:
    """The least seconds of a call of each side, which take turns."""
    counts = []
    for side in sides:
        start = time.process_time()
        side()
        counts.append(max(1, math.ceil(SECONDS_OF_ROUND / max(1e-7, time.process_time() - start))))
    times = [math.inf] * len(sides)
    for _ in range(rounds):
        for number, (side, count) in enumerate(zip(sides, counts, strict=True)):
            side()
            start = time.process_time()
            for _ in range(count):
                side()
            times[number] = min(times[number], (time.process_time() - start) / count)
    return times


def row(product: Product, kind: Any, rounds: int) -> list[float]:
    """The seconds of Rho and of NumPy."""
    import rho

    rng = np.random.default_rng(7)
    given = [rng.standard_normal(shape).astype(kind) for shape in product.shapes]
    function = rho.compile("{" + product.text + "}")

    def ours() -> Any:
        return function(*given)

    def theirs() -> Any:
        return product.by_hand(*given)

    expected = theirs()
    bound = 1e-5 if kind == np.float32 else 1e-12
    scale = max(1.0, float(np.abs(expected).max()), max(given[0].shape) ** 0.5)
    for _ in range(4):
        assert np.abs(ours() - expected).max() <= bound * 100 * scale, product.name
    return least((ours, theirs), rounds)


def serve(only: Sequence[str], rounds: int) -> None:
    """Print a JSON line that names the target, then one for each row."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # Rho has a thread for each core
    import rho
    from rho.backend.jit import compiler

    rho.eval("+/1 2 3")
    print(json.dumps(compiler.processor()), flush=True)
    for product in PRODUCTS:
        if only and not any(part in product.name for part in only):
            continue
        for kind in KINDS:
            print(json.dumps([product.name, kind.__name__, *row(product, kind, rounds)]), flush=True)


def measured(target: str, only: str, rounds: int) -> tuple[str, list[tuple[str, str, float, float]]]:
    """The processor that a target's code is made for, and the rows."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "RHO_KERNELS": "always"}
    environment.pop("RHO_TARGET", None)
    if target != "native":
        environment |= {"RHO_TARGET": target, "OPENBLAS_CORETYPE": BLAS_OF_TARGET[target]}
    command = [sys.executable, str(Path(__file__).resolve()), "--serve", "--only", only, "--rounds", str(rounds)]
    output = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
    processor, *rows = map(json.loads, output.splitlines())
    if target not in ("native", processor):
        raise SystemExit(f"code was made for {processor or 'no processor'}, not for {target}")
    return processor, [tuple(row) for row in rows]


def report(target: str, processor: str, rows: Sequence[tuple[str, str, float, float]]) -> list[str]:
    ratios = [ours / theirs for _, _, ours, theirs in rows]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    lines = [f"## {target}", "", f"Code for {processor}, OpenBLAS {BLAS_OF_TARGET[target] or 'for this processor'}.", "",
             "| product | kind | Rho µs | NumPy µs | Rho ÷ NumPy |", "|---|---|---|---|---|"]  # fmt: skip
    for (name, kind, ours, theirs), ratio in zip(rows, ratios, strict=True):
        lines.append(f"| `{name}` | {kind} | {ours * 1e6:.4g} | {theirs * 1e6:.4g} | {ratio:.2f} |")
    above = sum(ratio > LIMIT for ratio in ratios)
    return [*lines, "", f"{len(rows)} rows: geometric mean {mean:.2f}, greatest {max(ratios):.2f}, {above} above {LIMIT}.", ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", default="native,x86-64-v3", help=f"some of {', '.join(BLAS_OF_TARGET)}")
    parser.add_argument("--only", default="", help="parts of the rows' names, separated by commas")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    if options.serve:
        serve(options.only.split(",") if options.only else [], options.rounds)
        return
    lines = ["# Products with vectors", "",
             f"{platform.machine()}, one thread, its processor time, least of {options.rounds} interleaved rounds, "
             f"NumPy {np.__version__}; {date.today()}, load average {os.getloadavg()[0]:.1f}.", ""]  # fmt: skip
    for target in options.target.split(","):
        lines += report(target, *measured(target, options.only, options.rounds))
    print("\n".join(lines))
    if options.write:
        options.write.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
