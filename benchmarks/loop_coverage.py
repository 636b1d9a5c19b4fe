"""Counts which loops, folds, scans and maps are compiled as regions, and why others are not: `benchmarks/results/coverage.md`.

    python benchmarks/loop_coverage.py [--npbench CORPUS] [-o benchmarks/results/coverage.md]

The programs are the recorded APL expressions, idioms and programs of `tests/corpora`, the examples, the kernels of
`benchmarks/npbench` (with the data of NPBench's initialisers if CORPUS is given), and the loops of `tests/loops`.  Each runs once
with `RHO_KERNELS=always`, which compiles everything that can be compiled.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import rho
from rho.backend.cpu import regions

ROOT = Path(__file__).parents[1]
DATA = ROOT / "tests" / "corpora" / "data"


def recorded() -> Iterator[tuple[str, str, Callable[[], object]]]:
    """(group, name, function that runs it) of the recorded programs."""
    for file, field in (("apl_expressions", "expr"), ("apl_idioms", "program")):
        for line in (DATA / f"{file}.jsonl").read_text(encoding="utf-8").splitlines():
            text = json.loads(line)[field]
            yield file, text, lambda text=text: rho.eval("⎕IO←1\n" + text)  # type: ignore[misc]
    for path in sorted((DATA / "apl_programs").glob("*.apl")):
        yield "apl_programs", path.stem, lambda path=path: rho.eval("⎕IO←1\n" + path.read_text(encoding="utf-8"))  # type: ignore[misc]


def examples() -> Iterator[tuple[str, str, Callable[[], object]]]:
    for path in sorted((ROOT / "examples").glob("*.rho")):
        yield "examples", path.stem, lambda path=path: rho.load(path).run()  # type: ignore[misc]


def loops() -> Iterator[tuple[str, str, Callable[[], object]]]:
    from rho.tests.loops.programs import REGIONS, ROUTINES

    for text, makes in [*REGIONS, *((text, makes) for text, makes, _ in ROUTINES)]:
        yield "tests/loops", text, lambda text=text, make=makes[-1]: rho.compile(text)(*make(np.random.default_rng(1)))  # type: ignore[misc]


def npbench(corpus: Path) -> Iterator[tuple[str, str, Callable[[], object]]]:
    sys.path.insert(0, str(ROOT / "benchmarks" / "npbench"))
    from run import HERE, Kernel  # type: ignore[import-not-found]

    for path in sorted(HERE.glob("*.rho")):
        yield "npbench", path.stem, lambda name=path.stem: Kernel(corpus / name, "S").rho_seconds()  # type: ignore[misc]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--npbench", type=Path)
    parser.add_argument("-o", type=Path)
    given = parser.parse_args()
    os.environ["RHO_KERNELS"] = "always"
    programs = [*recorded(), *examples(), *loops(), *(npbench(given.npbench) if given.npbench else ())]
    counts: dict[str, Counter[str]] = {}
    others: list[str] = []
    for group, name, run in programs:
        regions._runs.clear()
        tally = counts.setdefault(group, Counter())
        tally["programs"] += 1
        try:
            run()
        except (rho.RhoError, ImportError, TypeError):
            tally["not run"] += 1
            continue
        found = list(regions._runs.values())
        tally["with loops"] += bool(found)
        for one in found:
            tally["compiled" if one.region is not None else "by phases"] += 1
            if one.reason:
                others.append(f"| {group} | `{name.splitlines()[0][:60].replace('|', '∣')}` | {one.reason} |")
    columns = ("programs", "not run", "with loops", "compiled", "by phases")
    command = "`python benchmarks/loop_coverage.py --npbench CORPUS -o benchmarks/results/coverage.md`"
    lines = ["# What is compiled whole", "", command, ""]
    lines += ["| group | " + " | ".join(columns) + " |", "|---" * (1 + len(columns)) + "|"]
    lines += [f"| {group} | " + " | ".join(str(tally[c]) for c in columns) + " |" for group, tally in counts.items()]
    lines += ["", "The last two columns count loops, folds, scans and maps by any function, not primitive ones.", ""]
    lines += ["## Why not", "", "| group | program | reason |", "|---|---|---|", *dict.fromkeys(others)]
    text = "\n".join(lines) + "\n"
    print(text)
    if given.o:
        given.o.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
