"""Workers of `local:2` beside this process alone: what a run costs, what a turn of a loop costs, and large programs.

    python benchmarks/clusters.py [--rounds 5] [--write results/clusters.md]

Every program runs in turn on both sides, with the same data, and its bits are compared.  Seconds are the least of the rounds,
after a first one.  One side alone has as many threads as there are cores; of the workers each has half of them.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
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


def best(program: rho.Program, given: dict[str, Any], rounds: int) -> tuple[float, Any]:
    """The least seconds after a first run, and the value."""
    value, seconds = program.run(**given)["y"], []
    for _ in range(rounds):
        start = time.perf_counter()
        program.run(**given)
        seconds.append(time.perf_counter() - start)
    return min(seconds), value


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
            alone, value = best(program, {"x": x}, options.rounds)
            shared, same = best(program, {"x": x, "cluster": cluster}, options.rounds)
            assert np.array_equal(value, same), f"{name}: the bits differ"
            lines.append(f"| {name} | {alone * 1e3:.2f} | {shared * 1e3:.2f} | {shared / alone:.2f} |")
            print(lines[-1], flush=True)
    if options.write:
        options.write.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
