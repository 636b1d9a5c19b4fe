"""Times the compilation of regions, by stage: `benchmarks/results/compile.md`.

    python benchmarks/compile.py [--npbench CORPUS] [--rounds 3] [-o benchmarks/results/compile.md] [NAME …]

The programs are the kernels of `benchmarks/npbench` at preset S (with the data of NPBench's initialisers if CORPUS is given) and
the loops of `tests/loops`; NAME selects those whose name contains it.  Each runs once with `RHO_KERNELS=always`; its lowering,
transformation and printing are then repeated ROUNDS times.  Times are the least processor times.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from loop_coverage import loops, npbench

import rho
from rho.backend.codegen.llvm_printer import llvm_text
from rho.backend.cpu import regions
from rho.backend.jit import compiler
from rho.backend.loopir.ir import LoopProgram, walk

STAGES = ("lower", "transform", "print", "LLVM")
TYPICAL, MOST = 15.0, 100.0
"""The limits of the typical and of every region, in milliseconds."""


@dataclass
class Row:
    name: str
    program: LoopProgram
    before: int
    milliseconds: dict[str, float] = field(default_factory=dict)

    @property
    def total(self) -> float:
        return sum(self.milliseconds.values())


class Seen:
    """Records the arguments with which a run lowers and transforms."""

    def __init__(self) -> None:
        self.lowered: list[Callable[[], Any]] = []
        self.transformed: list[LoopProgram] = []
        self._lower, self._optimise = regions.lower_region, regions.optimise
        regions.lower_region, regions.optimise = self.lower, self.optimise  # type: ignore[assignment]

    def lower(self, *args: Any, **options: Any) -> Any:
        region = self._lower(*args, **options)
        self.lowered.append(partial(self._lower, *args, **options))
        return region

    def optimise(self, program: LoopProgram) -> LoopProgram:
        self.transformed.append(program)
        return self._optimise(program)


def least(rounds: int, work: Callable[[], Any]) -> tuple[Any, float]:
    """(the value, the least processor time in milliseconds)."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        value = work()
        times.append(time.process_time() - start)
    return value, 1000 * min(times)


def rows(name: str, seen: Seen, rounds: int) -> list[Row]:
    made = []
    lowering = [least(rounds, lower)[1] for lower in seen.lowered]
    for place, given in enumerate(seen.transformed):
        row = Row(name, given, sum(1 for _ in walk(given.body)))
        row.milliseconds["lower"] = lowering[place] if len(lowering) == len(seen.transformed) else sum(lowering)
        row.program, row.milliseconds["transform"] = least(rounds, lambda given=given: seen._optimise(given))
        text, row.milliseconds["print"] = least(rounds, lambda row=row: llvm_text(row.program, regions.vector_bytes()))
        _, row.milliseconds["LLVM"] = least(rounds, lambda text=text: compiler.compile_text(text))
        made.append(row)
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--npbench", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("-o", type=Path)
    given = parser.parse_args()
    os.environ["RHO_KERNELS"] = "always"
    found: list[Row] = []
    seen = Seen()
    for _, name, run in [*(npbench(given.npbench) if given.npbench else ()), *loops()]:
        if given.names and not any(part in name for part in given.names):
            continue
        regions._runs.clear()
        seen.lowered, seen.transformed = [], []
        with suppress(rho.RhoError, ImportError):
            run()
        found += rows(name, seen, given.rounds)
    text = table(sorted(found, key=lambda row: -row.total))
    print(text)
    if given.o:
        given.o.write_text(text, encoding="utf-8")


def table(found: list[Row]) -> str:
    totals = [row.total for row in found]
    command = "`python benchmarks/compile.py --npbench CORPUS -o benchmarks/results/compile.md`"
    lines = ["# What regions cost to compile", "", command, ""]
    above = [sum(total > bar for total in totals) for bar in (TYPICAL, MOST)]
    lines += [
        f"{len(found)} regions: median {median(totals):.1f} ms (bar {TYPICAL:.0f}), {above[0]} above {TYPICAL:.0f}, {above[1]}"
        f" above {MOST:.0f} (bar 0).  Milliseconds of the process, the least of several; statements before and after the"
        " transformations.",
        "",
    ]
    lines += ["| program | statements | " + " | ".join(STAGES) + " | in all |", "|---" * (len(STAGES) + 3) + "|"]
    for row in found:
        after = sum(1 for _ in walk(row.program.body))
        name = row.name.splitlines()[0][:60].replace("|", "∣")
        stages = " | ".join(f"{row.milliseconds[stage]:.1f}" for stage in STAGES)
        lines.append(f"| `{name}` | {row.before} → {after} | {stages} | {row.total:.1f} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
