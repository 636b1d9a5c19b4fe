"""Measures the peak memory of the workloads: Rho compared with idiomatic NumPy, and with the peak that the plan predicts.

    python benchmarks/memory.py [--only W3,W4] [--write results/file.md]

The peak is the most bytes that one call has allocated at once, with its result and without its arguments, as counted by
tracemalloc (NumPy's buffers, and Rho's from its pool, which is empty at the start).  `by hand` is the NumPy of `workloads`.
"""

from __future__ import annotations

import argparse
import gc
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from rho import backend
from rho.backend.schedule.plan.plan import Device
from rho.backend.vm import run_state
from rho.benchmarks.workloads import WORKLOADS, Workload
from rho.lang.syntax.source import Source
from rho.typechecker.check import check


def peak(call: Callable[[], Any]) -> int:
    gc.collect()
    run_state.trim()
    tracemalloc.start()
    result = call()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del result
    return most


def compared(work: Workload, kind: str) -> tuple[int, int, int]:
    """(NumPy, Rho, predicted) peak bytes without the arguments."""
    given = work.make(work.sizes[-1], np.float32 if kind == "f32" else np.float64, np.random.default_rng(1))
    text = work.program.replace(": T[", f": {kind}[") + "\n"
    core = check(Source("<benchmark>", text)).core
    assert core is not None, work.name
    bound = backend.load(core, given, {})
    plan = backend.plan(bound, Device("cpu0", "cpu", 2))
    run = lambda: backend.execute(plan, bound, given).outputs["r"].value  # noqa: E731
    for _ in range(8):  # kernels are compiled and native calls specialized
        run()
    held = sum(array.nbytes for array in given.values())
    return peak(lambda: work.by_hand(given)), peak(run), max(plan.peak.values()) - held


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="parts of the workloads' names")
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    lines = ["| workload | kind | by hand, MB | Rho, MB | planned, MB | Rho ÷ by hand |", "|---|---|---|---|---|---|"]
    print("\n".join(lines))
    for work in WORKLOADS:
        if options.only and not any(part in work.name for part in options.only.split(",")):
            continue
        for kind in work.kinds[:1]:
            hand, rho, planned = compared(work, kind)
            megabytes = " | ".join(f"{size / 1e6:.2f}" for size in (hand, rho, planned))
            lines.append(f"| {work.name} | {kind} | {megabytes} | {rho / max(hand, 1):.2f} |")
            print(lines[-1], flush=True)
    if options.write:
        options.write.write_text("\n".join([*lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
