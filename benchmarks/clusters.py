"""Compares `local:2` workers with a single process: the cost of a run, of a loop iteration, large programs, and files.

    python benchmarks/clusters.py [--rounds 5] [--write results/clusters.md]

Every program runs alternately on both sides with the same data, and its bits are compared.  Seconds are the least of the rounds
after a first one.  The single process has as many threads as there are cores, each worker half of them.  Files are read by the
single process, by the client that sends them to the workers (as arrays from Python are), or by the workers that need them.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

import rho

SMALL: Final = 1000
TURNS: Final = 400
PROGRAMS: Final = (
    ("a run of 1,000 items", "input x : f64[n]\noutput y ← +/x×x\n", SMALL),
    ("a loop of 400 turns, 1,000 items", f"input x : f64[n]\noutput y ← {{⍵+0.1×(1⌽⍵)+(¯1⌽⍵)-2×⍵}}⍣{TURNS} ⊢ x\n", SMALL),
    ("a loop of 400 turns, 2·10⁶ items", f"input x : f64[n]\noutput y ← {{⍵+0.1×(1⌽⍵)+(¯1⌽⍵)-2×⍵}}⍣{TURNS} ⊢ x\n", 2_000_000),
    ("(x²+1)^½ summed, 10⁷ items", "input x : f64[n]\noutput y ← +/√1+x×x\n", 10_000_000),
    ("sines and logarithms, 10⁷ items", "input x : f64[n]\noutput y ← +/(1○x)×⍟1+x×x\n", 10_000_000),
)


FILES: Final = tuple((name, text.replace("f64[n]", 'f64[n] ← "x.npy"'), size) for name, text, size in PROGRAMS[-2:])


def best(name: str, rounds: int, *ways: Callable[[], Any]) -> list[float]:
    """The least seconds of each alternative after a first run, interleaved; asserts that their values are equal."""
    values, seconds = [way()["y"] for way in ways], [[float("inf")] for _ in ways]
    assert all(np.array_equal(values[0], value) for value in values), f"{name}: the bits differ"
    for _ in range(rounds):
        for way, own in zip(ways, seconds, strict=True):
            start = time.perf_counter()
            way()
            own.append(time.perf_counter() - start)
    return [min(own) for own in seconds]


def sending(program: rho.Program, data: Path, cluster: rho.Cluster) -> Any:
    """A run for which the client reads the file."""
    return program.run(x=np.load(data), cluster=cluster)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    lines = [
        f"`python benchmarks/clusters.py --rounds {options.rounds}`, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}.",
        "",
        "| program | alone, ms | two workers, ms | workers ÷ alone |",
        "|---|---|---|---|",
    ]
    print("\n".join(lines), flush=True)
    with tempfile.TemporaryDirectory() as folder, rho.Cluster("local:2") as cluster:
        for name, text, size in PROGRAMS:
            path = Path(folder) / "program.rho"
            path.write_text(text, encoding="utf-8")
            program, x = rho.load(path), np.random.default_rng(1).standard_normal(size)
            given = partial(program.run, x=x)
            alone, shared = best(name, options.rounds, given, partial(given, cluster=cluster))
            lines.append(f"| {name} | {alone * 1e3:.2f} | {shared * 1e3:.2f} | {shared / alone:.2f} |")
            print(lines[-1], flush=True)
        lines += ["", "| program, from a file | alone, ms | sent by home, ms | read where it is used, ms |", "|---|---|---|---|"]
        print("\n".join(lines[-3:]), flush=True)
        for name, text, size in FILES:
            path, data = Path(folder) / "program.rho", Path(folder) / "x.npy"
            path.write_text(text, encoding="utf-8")
            np.save(data, np.random.default_rng(1).standard_normal(size))
            program = rho.load(path)
            sent = partial(sending, program, data, cluster)
            found = best(name, options.rounds, program.run, sent, partial(program.run, cluster=cluster))
            lines.append(f"| {name} | " + " | ".join(f"{seconds * 1e3:.2f}" for seconds in found) + " |")
            print(lines[-1], flush=True)
    if options.write:
        options.write.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
