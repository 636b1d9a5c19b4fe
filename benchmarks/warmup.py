"""How soon a function is quick: calls until its final time, with an empty and with a warm kernel cache, beside the NumPy tier.

Forty programs on arrays of 10 to 10⁶ items.  For each size three processes run all programs: one that never compiles
(`RHO_KERNELS=off`), one with an empty cache of kernels, one with that which the second has filled.  In each process a program is
called at least `CALLS` times and for `SECONDS`.  The final time is the lower quartile of the last fifth, and a call is quick that
takes at most 1.2 times as long (and 0.3 µs), by the time of its thread.  *Settled* is the first quick call with three quarters of
the `FOLLOWING` calls quick, so that what else runs on the machine counts little.  Milliseconds are wall time.
JAX, if it is installed, is called a hundred times on the programs that `JAX` has.  Run:

    python benchmarks/warmup.py                 all, about ten minutes
    python benchmarks/warmup.py --sizes 1000 --programs dot,variance
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

SIZES = (10, 1000, 30_000, 1_000_000)
CALLS = 120
MOST_CALLS = 4000
SECONDS = 0.6
FOLLOWING = 60
SLACK = 1.2
SLACK_SECONDS = 0.3e-6


def vectors(count: int) -> Callable[[int], tuple[Any, ...]]:
    return lambda size: tuple(np.random.default_rng(number).random(size) for number in range(count))


def matrix(size: int) -> tuple[Any, ...]:
    side = max(3, round(size**0.5))
    return (np.random.default_rng(4).random((side, side)),)


def rows(size: int) -> tuple[Any, ...]:
    return (np.random.default_rng(5).random((max(2, size // 12), 12)),)


def small(size: int) -> tuple[Any, ...]:
    side = max(3, min(60, round(size**0.5)))
    return (np.random.default_rng(6).random((side, side)) + side * np.eye(side),)


def integers(size: int) -> tuple[Any, ...]:
    return (np.random.default_rng(7).integers(0, 50, size),)


PROGRAMS: dict[str, tuple[str, Callable[[int], tuple[Any, ...]]]] = {
    "add": ("{⍺+⍵}", vectors(2)),
    "axpy": ("{2×⍺+⍵}", vectors(2)),
    "polynomial": ("{((((⍵×3)+2)×⍵)+1)×⍵}", vectors(1)),
    "exponential": ("{*-⍵}", vectors(1)),
    "logistic": ("{÷1+*-⍵}", vectors(1)),
    "dot": ("{+/⍺×⍵}", vectors(2)),
    "squares": ("{+/⍵×⍵}", vectors(1)),
    "mean": ("{(+/⍵)÷≢⍵}", vectors(1)),
    "variance": ("{(⍵-(+/⍵)÷≢⍵)*2}", vectors(1)),
    "deviation": ("{√(+/(⍵-(+/⍵)÷≢⍵)*2)÷≢⍵}", vectors(1)),
    "norm": ("{⍵÷√+/⍵*2}", vectors(1)),
    "distance": ("{√+/(⍺-⍵)*2}", vectors(2)),
    "greatest": ("{⌈/⍵}", vectors(1)),
    "range": ("{(⌈/⍵)-⌊/⍵}", vectors(1)),
    "scaled": ("{(⍵-⌊/⍵)÷(⌈/⍵)-⌊/⍵}", vectors(1)),
    "place": ("{⍵⍳⌈/⍵}", vectors(1)),
    "selection": ("{(⍵>0.25)/⍵}", vectors(1)),
    "sum of selection": ("{+/(⍵>0.5)/⍵}", vectors(1)),
    "count": ("{+/⍵>0.5}", vectors(1)),
    "where": ("{⍸⍵>0.5}", vectors(1)),
    "running sum": ("{+\\⍵}", vectors(1)),
    "differences": ("{(1↓⍵)-¯1↓⍵}", vectors(1)),
    "smoothed": ("{(3+/⍵)÷3}", vectors(1)),
    "sorted": ("{⍵[⍋⍵]}", vectors(1)),
    "ranks": ("{⍋⍋⍵}", vectors(1)),
    "reversed": ("{⌽⍵}", vectors(1)),
    "joined": ("{⍵,⌽⍵}", vectors(1)),
    "unique": ("{∪⍵}", integers),
    "member": ("{⍵∊3 4 5}", integers),
    "histogram": ("{+/⍵∘.=⍳50}", integers),
    "residue": ("{7|3+⍵×5}", integers),
    "row sums": ("{+/⍵}", rows),
    "row scaled": ("{+/⍵÷⌈/⍵}", rows),
    "softmax": ("{{x←*⍵-⌈/⍵ ⋄ x÷+/x}⍤1⊢⍵}", rows),
    "column sums": ("{+⌿⍵}", matrix),
    "covariance": ("{(⍉x)+.×x←⍵-⍤1⊢(+⌿⍵)÷≢⍵}", rows),
    "product": ("{⍵+.×⍵}", small),
    "halved": ("{{⍵×0.5}⍣5⊢⍵}", vectors(1)),
    "power iteration": ("{A←⍵ ⋄ {x←A+.×⍵ ⋄ x÷√x+.×x}⍣20⊢A[0;]}", small),
    "stencil": ("{{0.25×(1⌽⍵)+(¯1⌽⍵)+(1⊖⍵)+¯1⊖⍵}⍣10⊢⍵}", small),
}
JAX = {
    "dot": lambda np: lambda x, y: (x * y).sum(), "variance": lambda np: lambda x: (x - x.mean()) ** 2,
    "logistic": lambda np: lambda x: 1 / (1 + np.exp(-x)), "norm": lambda np: lambda x: x / np.sqrt((x**2).sum()),
    "scaled": lambda np: lambda x: (x - x.min()) / (x.max() - x.min()),
    "row scaled": lambda np: lambda x: (x.T / x.max(1)).T.sum(1),
}  # fmt: skip


Times: TypeAlias = list[tuple[float, float]]
"""The seconds of each call, of its thread and by the wall."""


def called(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Times:
    took: Times = []
    began = time.perf_counter()
    while len(took) < CALLS or (len(took) < MOST_CALLS and time.perf_counter() - began < SECONDS):
        start, at = time.perf_counter(), time.thread_time()
        function(*arguments)
        took.append((time.thread_time() - at, time.perf_counter() - start))
    return took


def in_this_process(names: Sequence[str], size: int) -> dict[str, Times]:
    import rho

    return {name: called(rho.compile(PROGRAMS[name][0]), PROGRAMS[name][1](size)) for name in names}


def jax_in_this_process(names: Sequence[str], size: int) -> dict[str, Times]:
    import jax
    import jax.numpy

    jax.config.update("jax_enable_x64", True)
    ready = {name: jax.jit(JAX[name](jax.numpy)) for name in names if name in JAX}
    return {
        name: called(lambda *given, run=run: run(*given).block_until_ready(), PROGRAMS[name][1](size))
        for name, run in ready.items()
    }


def measured(names: Sequence[str], size: int, tier: str, cache: str) -> dict[str, Times]:
    """The times of each program in a new process; empty where the peer is not installed."""
    environment = os.environ | {"RHO_KERNELS": "off" if tier == "numpy" else "", "RHO_KERNEL_CACHE": cache}
    command = [sys.executable, __file__, "--inside", tier, "--sizes", str(size), "--programs", ",".join(names)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode and tier != "jax":
        raise SystemExit(done.stderr)
    return json.loads(done.stdout) if not done.returncode else {}


def settled(took: Times) -> tuple[int, float, float]:
    """The first settled call, the wall seconds before it but for the first call's, and the final seconds of a thread."""
    threads = [thread for thread, _ in took]
    final = statistics.quantiles(threads[-len(took) // 5 :])[0]
    are_quick = [thread <= SLACK * final + SLACK_SECONDS for thread in threads]
    starts = (at for at, is_quick in enumerate(are_quick) if is_quick)
    at = next((at for at in starts if statistics.mean(are_quick[at : at + FOLLOWING]) >= 0.75), len(took))
    return at, sum(wall for _, wall in took[1:at]), final


def row_of(name: str, size: int, plain: Times, empty: Times, warm: Times, peer: Times) -> dict[str, Any]:
    numpy_tier = statistics.median(thread for thread, _ in plain[1:])
    at_empty, wait, final = settled(empty)
    at_warm, _, _ = settled(warm)
    before = [thread for thread, _ in empty[2 : max(3, at_empty)]]
    return {
        "program": name, "size": size, "NumPy tier µs": numpy_tier * 1e6, "final µs": final * 1e6,
        "calls, warm": at_warm, "calls, empty": at_empty, "ms, empty": wait * 1e3,
        "slow calls": sum(each > 1.3 * numpy_tier + SLACK_SECONDS for each in before), "calls before": len(before),
        "slowest ms": max(before, default=0) * 1e3, "hundred ms": sum(wall for _, wall in empty[:100]) * 1e3,
        "hundred, JAX ms": sum(wall for _, wall in peer[:100]) * 1e3 if peer else None,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--inside", default="")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    names, sizes = options.programs.split(","), [int(size) for size in options.sizes.split(",")]
    if options.inside:
        json.dump((jax_in_this_process if options.inside == "jax" else in_this_process)(names, sizes[0]), sys.stdout)
        return
    found: list[dict[str, Any]] = []
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            cache = str(Path(folder) / "kernels")
            plain, empty, warm, peer = [measured(names, size, tier, cache) for tier in ("numpy", "empty", "warm", "jax")]
        found += [row_of(name, size, plain[name], empty[name], warm[name], peer.get(name, ())) for name in names]
        if not options.json:
            show([row for row in found if row["size"] == size])
    if options.json:
        json.dump(found, sys.stdout)
        return
    print(f"\nprograms × sizes: {len(found)}; settled with a warm cache after at most 5 calls: "
          f"{sum(row['calls, warm'] <= 5 for row in found)}; with an empty one after at most 100 ms: "
          f"{sum(row['ms, empty'] <= 100 for row in found)}; no call meanwhile above 1.3 × the NumPy tier: "
          f"{sum(not row['slow calls'] for row in found)}")  # fmt: skip


def show(found: Sequence[dict[str, Any]]) -> None:
    print("\n| " + " | ".join(found[0]) + " |\n|" + "---|" * len(found[0]))
    for row in found:
        cells = ["" if cell is None else f"{cell:.2f}" if isinstance(cell, float) else str(cell) for cell in row.values()]
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
