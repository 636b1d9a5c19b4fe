"""Compares the estimated with the actual time of loops, folds and maps: kernels of NPBench at one preset, as ratios.

    python benchmarks/loop_estimates.py CORPUS [--preset S] [KERNEL …] [-o benchmarks/results/loop_estimates.md]

CORPUS is as for `benchmarks/npbench/run.py`.  The actual time is the least of three runs of the step after one that compiles; the
estimate is that of the cost model with the tables of this machine.  The error is the larger of both divided by the smaller.
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

import numpy as np

from rho import backend
from rho.backend.calibration.probes import warm_kernels
from rho.backend.devices.phase_cost import step_ns
from rho.backend.graph.phases import Fold, Loop, Map, PhaseId
from rho.backend.schedule.plan.plan import TransferStep
from rho.backend.vm.run_state import StepTiming
from rho.lang.diagnostics.model import RhoError
from rho.lang.syntax.source import Source
from rho.shell.execution.stored_plans import this_machine
from rho.typechecker.check import check

sys.path.insert(0, str(Path(__file__).parent / "npbench"))
from run import HERE, Kernel  # type: ignore[import-not-found]

Row = tuple[str, str, int, int]


def rows(folder: Path, preset: str) -> list[Row]:
    """(name, kind, actual nanoseconds, estimated nanoseconds) of each outermost loop of a kernel."""
    kernel = Kernel(folder, preset)
    core = check(Source("<kernel>", (HERE / f"{folder.name}.rho").read_text(encoding="utf-8"))).core
    assert core is not None
    inputs = {entry.name for entry in core.inputs}
    data = {name: np.asarray(value) for name, value in kernel.given.items() if name in inputs}
    bound = backend.load(core, data, {name: int(value) for name, value in kernel.given.items() if name not in inputs})
    plan, taken = backend.plan(bound), dict[PhaseId, int]()

    def observe(took: StepTiming) -> None:
        assert not isinstance(took.step, TransferStep), "there is one device"
        taken[took.step.id] = min(took.ns, taken.get(took.step.id, took.ns))

    with warm_kernels():
        backend.execute(plan, bound, data)
        for _ in range(3):
            backend.execute(plan, bound, data, observe)
    machine, found = this_machine(), []
    for phase in bound.graph.phases:
        if isinstance(phase, Loop | Fold | Map) and phase.id in taken:
            estimate = step_ns(phase, bound, machine.home, machine.calibration)
            if estimate is not None:
                found.append((folder.name, type(phase).__name__.lower(), taken[phase.id], estimate.ns))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("kernels", nargs="*")
    parser.add_argument("--preset", default="S")
    parser.add_argument("-o", type=Path)
    given = parser.parse_args()
    found: list[Row] = []
    for path in sorted(HERE.glob("*.rho")):
        if given.kernels and path.stem not in given.kernels:
            continue
        try:
            found += rows(given.corpus / path.stem, given.preset)
        except (RhoError, ImportError, TypeError, ValueError) as failure:
            print(f"{path.stem}: not run ({type(failure).__name__})", file=sys.stderr)
    errors = sorted(math.exp(abs(math.log(estimate / actual))) for _, _, actual, estimate in found)
    lines = ["| kernel | | actual µs | estimate µs | ratio |", "|---|---|---|---|---|"]
    lines += [f"| {n} | {what} | {a / 1e3:.0f} | {e / 1e3:.0f} | {e / a:.2f} |" for n, what, a, e in found]
    if errors:
        lines += [
            "",
            f"{len(errors)} loops: error p50 {errors[len(errors) // 2]:.2f}×, p90 {errors[len(errors) * 9 // 10]:.2f}×.",
        ]
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if given.o is not None:
        given.o.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
