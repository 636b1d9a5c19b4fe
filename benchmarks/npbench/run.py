"""NPBench side by side: NumPy's references and Rho in one run, as ratios; and what ran as one region, what not, and why.

    python benchmarks/npbench/run.py CORPUS [--preset S] [KERNEL …] [--rounds 5] [-o FILE]

CORPUS: a folder with `NAME/info.json`, `NAME/NAME.py` (initialiser) and `NAME/NAME_numpy.py` for each kernel, as NPBench has
them (they are not part of this project).  Times are the least of interleaved rounds, results copied for kernels that write their
arguments.  Rho: `rho.load(…).run`, files apart.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import rho
from rho.backend.run.cpu import regions

HERE = Path(__file__).parent
RENAMED = {"_fict_": "fict", "input": "x", "in": "x"}


def module(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))
    spec.loader.exec_module(loaded)
    sys.path.pop(0)
    return loaded


class Kernel:
    """One kernel at one size: its arguments by name, the reference, and the program."""

    def __init__(self, folder: Path, preset: str) -> None:
        about = json.loads((folder / "info.json").read_text())["benchmark"]
        self.name = folder.name
        self.data: dict[str, Any] = dict(about["parameters"][preset])
        init = about.get("init") or {}
        if init:
            initialise = getattr(module(folder / f"{about['module_name']}.py"), init["func_name"])
            made = initialise(*[self.data[a] for a in init["input_args"]])
            made = made if isinstance(made, tuple) and len(init["output_args"]) > 1 else (made,)
            self.data.update(zip(init["output_args"], made, strict=True))
        self.names: list[str] = about["input_args"]
        self.reference: Callable[..., Any] = getattr(module(folder / f"{about['module_name']}_numpy.py"), about["func_name"])
        self.program = rho.load(HERE / f"{self.name}.rho")
        wanted = {RENAMED.get(name, name): self.data[name] for name in self.names}
        self.given = {name: value for name, value in wanted.items() if name in self.taken()}

    def taken(self) -> set[str]:
        text = (HERE / f"{self.name}.rho").read_text(encoding="utf-8")
        words = [line.split() for line in text.splitlines()]
        return {w[1].rstrip(":") for w in words if len(w) > 1 and w[0] in ("input", "param")}

    def numpy_seconds(self) -> float:
        args = [np.copy(self.data[n]) if isinstance(self.data[n], np.ndarray) else self.data[n] for n in self.names]
        start = time.perf_counter()
        self.reference(*args)
        return time.perf_counter() - start

    def rho_seconds(self) -> float:
        start = time.perf_counter()
        self.program.run(**self.given)
        return time.perf_counter() - start


def why() -> str:
    """Of the phases that ran since: as regions, or the reasons."""
    runs = list(regions._runs.values())
    made = sum(bool(run.compiled) for run in runs)
    reasons = sorted({run.reason for run in runs if run.reason})
    regions._runs.clear()
    return "; ".join([f"{made} of {len(runs)}", *reasons])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("kernels", nargs="*")
    parser.add_argument("--preset", default="S")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("-o", type=Path)
    given = parser.parse_args()
    names = given.kernels or sorted(path.stem for path in HERE.glob("*.rho"))
    lines = [f"| kernel ({given.preset}) | NumPy ms | Rho ms | Rho ÷ NumPy | regions |", "|---|---|---|---|---|"]
    ratios: list[float] = []
    for name in names:
        try:
            kernel = Kernel(given.corpus / name, given.preset)
            for _ in range(3):
                kernel.rho_seconds()
            kernel.numpy_seconds()
            least = [math.inf, math.inf]
            for _ in range(given.rounds):
                least = [min(least[0], kernel.numpy_seconds()), min(least[1], kernel.rho_seconds())]
            ratios.append(least[1] / least[0])
            row = f"| {name} | {least[0] * 1e3:.3f} | {least[1] * 1e3:.3f} | {ratios[-1]:.2f} | {why()} |"
        except Exception as error:
            row = f"| {name} | | | | {type(error).__name__}: {str(error)[:90]!r} |"
        print(row, flush=True)
        lines.append(row)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan
    lines.append(f"\nGeometric mean of Rho ÷ NumPy: {mean:.2f}")
    print(lines[-1])
    if given.o:
        given.o.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
