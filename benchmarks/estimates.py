"""Compares the estimated with the actual time of every phase, over the examples and programs of all classes of operations.

    python benchmarks/estimates.py [--set tuned|other|third|fourth|fifth] [--runs 20] [--again 2] [--all] [--profile FILE] …

The other sets have programs and sizes that the model was not tuned on (`estimates_other`, `estimates_varied`).

The profile is that of this machine (calibrate first: `rho devices --calibrate`).  The actual time of a phase is the median over
the runs of what the executor's observer reports; the estimate is `step_ns`.  Loops that end by data are excluded (and named),
since their estimate is an upper bound.  Phases of at least 50 µs whose runs vary by less than 10 % count; the criterion is that
nine in ten of them are within 25 %.  The variation is the standard deviation over the median; since a single preempted run in
twenty makes that 10 %, results are also given for the deviation by quartiles (0.741 of their distance), and for all phases. Times
are wall times: under a hypervisor that preempts, a thread's processor clock runs on as well.

A program runs five times in a row (after one run that is not counted), then the next one does, and so on, so that load affects
all programs.  With `--again N`, programs with unsteady phases are measured again, up to N times, and the steadiest runs of each
phase count, independently of the estimate.  Runs in which the process waited for a processor are made again
(`backend.calibration.measurement_loop`).  `--times FILE` stores the times, or reuses stored ones, to compare several models on
the same runs.  Compiled kernels are used from the first run (as in a long-running process), or never with `--kernels off`; tables
and runs need the same setting.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

IN_A_ROW = 5
LEAST_NS = 50_000
STEADY = 0.1
ROOT = Path(__file__).resolve().parents[1]

PROGRAMS: tuple[tuple[str, str], ...] = (
    ("x:f64 y:f64", "x+y"), ("x:f64 y:f64", "2×x+y"), ("x:f64", "((x×3+2)×x+1)×x"), ("x:f64", "*x"), ("x:f64", "√x×2"),
    ("x:f64 y:f64", "x÷y"), ("x:f64", "1○x"), ("x:f64", "⍟x"), ("x:f64 y:f64", "x*y"), ("x:f64", "x*2"),
    ("x:f32 y:f32", "x+y"), ("x:f32", "*x"), ("x:f32 y:f32", "(x×y)-x÷y"), ("i:i64 j:i64", "i+j"), ("i:i64 j:i64", "3×i-j"),
    ("i:i64", "7|i"), ("m:bool k:bool", "m∧~k"), ("x:f64 y:f64", "x<y"), ("x:f64 y:f64", "(x<y)∧x>0.2"), ("x:f64", "⌊10×x"),
    ("x:f64 y:f64", "x⌈y"), ("x:f64 m:bool", "x×m"), ("i:i64 x:f64", "i×x"), ("x:f64 y:f64", "(x<y) ¿ (x ⋄ y)"),
    ("x:f64", "+/x"), ("x:f64 y:f64", "+/x×y"), ("x:f64 y:f64", "√+/(x-y)*2"), ("x:f64", "⌈/x"), ("m:bool", "+/m"),
    ("i:i64", "+/i"), ("x:f64", "+/x>0.5"), ("x:f32", "+/x"), ("A:f64r", "+/A"), ("A:f64r", "+⌿A"), ("A:f64r", "⌈/A"),
    ("A:f64r", "+/A×A"), ("A:f64r", "+⌿A×2"), ("A:f64r v:f64c", "A+⍤1⊢v"), ("S:f64s", "S+⍉S"), ("A:f64r", "A-⍤1⊢(+⌿A)÷≢A"),
    ("x:f64", "+\\x"), ("i:i64", "+\\i"), ("m:bool x:f64", "m⌿x"), ("m:bool", "⍸m"), ("x:f64", "⍋x"), ("x:f64", "x[⍋x]"),
    ("i:i64", "⍋i"), ("i:i64 j:i64", "i⍳j"), ("i:i64 j:i64", "i∊j"), ("x:f64 y:f64", "x,y"), ("x:f64", "5⌽x"), ("x:f64", "⌽x×2"),
    ("i:i64 x:f64", "100+⌸(100|i ⋄ x)"), ("i:i64", "2⊥i"), ("i:i64", "10 10⊤i"), ("S:f64s", "S+.×S"), ("S:f64s v:f64q", "S+.×v"),
    ("A:f64r", "A+.×⍉3 1000⍴A"), ("S:f32s", "S+.×S"), ("x:f64", "3+/x"), ("x:f64", "{⍵×0.5+⍵}⍣20⊢x"),
    ("S:f64s", "{(⍵+1⌽⍵)÷2}⍣5⊢S"),
    ("x:f64", "(0.5×x)+0.5×1↓x,0"), ("z:c128 w:c128", "z×w"), ("z:c128", "|z"), ("x:f64", "x-+/x"),
    ("A:f64r", "{e←*⍵-⌈/⍵ ⋄ e÷+/e}⍤1⊢A"),
)  # fmt: skip


@dataclass(slots=True)
class Job:
    """One program at one size.  By phase: `spent`, the nanoseconds of each run, and `launches`, the executions in a run."""

    name: str
    bound: Any
    plan: Any
    values: dict[str, Any]
    spent: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    launches: dict[int, int] = field(default_factory=dict)
    labels: dict[int, str] = field(default_factory=dict)
    steadiest: dict[int, list[int]] = field(default_factory=dict)

    def settle(self) -> None:
        """Keep, for each phase, the runs that vary least by quartiles: these, or those of an earlier measurement."""
        for which, times in self.spent.items():
            before = self.steadiest.get(which)
            if before is None or len(before) < len(times) or (len(before) == len(times) and steadier(times, before)):
                self.steadiest[which] = times
        self.spent = defaultdict(list)

    def kept(self) -> dict[str, Any]:
        return {"times": self.steadiest, "launches": self.launches, "labels": self.labels}

    def recall(self, known: dict[str, Any]) -> None:
        self.steadiest, self.launches, self.labels = (
            {int(which): one for which, one in known[name].items()} for name in ("times", "launches", "labels")
        )

    def is_steady(self) -> bool:
        return all(spreads(times)[1] < STEADY for times in self.steadiest.values() if statistics.median(times) >= LEAST_NS)


def data_for(name: str, kind: str, elements: int) -> Any:
    generator = np.random.default_rng([elements, *kind.encode(), *name.encode()])
    side, rows = int(elements**0.5), max(1, elements // 1000)
    shapes = {"r": (rows, 1000), "c": (1000,), "s": (side, side), "q": (side,)}
    stem, shape = (kind[:-1], shapes[kind[-1]]) if kind[-1] in shapes else (kind, (elements,))
    count = int(np.prod(shape))
    if stem == "bool":
        return (generator.random(count) < 0.5).reshape(shape)
    if stem == "i64":
        return generator.integers(0, max(8, count), count).reshape(shape)
    if stem == "c128":
        return (generator.random(count) + 1j * generator.random(count)).reshape(shape)
    return (generator.random(count) * 0.85 + 0.1).astype(stem.replace("f", "float")).reshape(shape)


def declaration(kind: str) -> str:
    shapes = {"r": "[r c]", "c": "[c]", "s": "[s s]", "q": "[s]"}
    return kind[:-1] + shapes[kind[-1]] if kind[-1] in shapes else f"{kind}[n]"


def jobs(sizes: list[int], only: str, programs: Sequence[tuple[str, str]] = PROGRAMS) -> Iterator[Job]:
    from rho import backend
    from rho.backend.schedule.plan.plan import Device
    from rho.lang.syntax.source import Source
    from rho.shell.execution.run_request import RunRequest
    from rho.shell.execution.stored_plans import cores
    from rho.shell.pipeline import Session
    from rho.typechecker.check import check

    device = Device("cpu0", "cpu", cores())
    for elements in sizes:
        for types, expression in programs:
            if only and only not in expression:
                continue
            inputs = [part.split(":") for part in types.split()]
            text = "".join(f"input {name} : {declaration(kind)}\n" for name, kind in inputs) + f"output result ← {expression}\n"
            checked = check(Source("<estimates>", text))
            assert checked.core is not None, (expression, checked.diagnostics)
            values = {name: data_for(name, kind, elements) for name, kind in inputs}
            bound = backend.load(checked.core, values, {})
            yield Job(f"{expression} {types} n={elements}", bound, backend.plan(bound, device), values)
    for path in sorted((ROOT / "examples").glob("*.rho")):
        if only and only not in path.name:
            continue
        session = Session(str(path.parent))
        found = session.check(Source(str(path), path.read_text(encoding="utf-8")))
        loaded = session.load(found, RunRequest())
        from rho.shell.execution.loading import read_inputs

        yield Job(path.name, loaded.bound, loaded.plan, read_inputs(loaded.core, loaded.files, loaded.bound.sizes))


def run_in_a_row(job: Job, threads: int, watch: Any) -> None:
    """`IN_A_ROW` runs after an uncounted one, repeated if other processes used the processor meanwhile."""
    for spent in watch.undisturbed(lambda: [run_once(job, threads) for _ in range(IN_A_ROW + 1)])[0][1:]:
        for which, ns in spent.items():
            job.spent[which].append(ns)


def run_once(job: Job, threads: int) -> dict[int, int]:
    from rho.backend.cpu.backend import CpuBackend
    from rho.backend.schedule.plan.plan_text import label
    from rho.backend.vm.executor import execute_plan

    spent: dict[int, int] = defaultdict(int)
    launches: dict[int, int] = defaultdict(int)

    def observe(took: Any) -> None:
        phase = took.step
        spent[phase.id] += took.ns
        launches[phase.id] += 1
        if phase.id not in job.labels:
            job.labels[phase.id] = f"{type(phase).__name__[:4]} {label(phase, job.bound.graph)}"

    execute_plan(job.plan, job.bound, job.values, {"cpu0": CpuBackend(threads)}, observe)
    job.launches.update(launches)
    return spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--profile", default="")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--again", type=int, default=0, help="measure programs with unsteady phases so many times more")
    parser.add_argument("--kernels", choices=("off", "warm"), default="warm")
    parser.add_argument("--set", choices=("tuned", "other", "third", "fourth", "fifth"), default="tuned", dest="which")
    parser.add_argument("--times", default="", help="file that keeps the times, or has them already")
    parser.add_argument("--sizes", default="")
    parser.add_argument("--only", default="")
    parser.add_argument("--all", action="store_true", help="show every phase, not only those beyond 25 %%")
    options = parser.parse_args()
    os.environ["RHO_KERNELS"] = options.kernels
    from rho.backend.calibration.calibrate import settle_memory
    from rho.backend.calibration.measurement_loop import LoadMonitor
    from rho.backend.devices.this_machine import HostFacts, load_profile, machine_profile
    from rho.backend.jit.tiering import tier_name
    from rho.shell.execution import stored_plans

    facts = HostFacts(stored_plans.cores(), stored_plans.memory(), stored_plans.model())
    profile = load_profile(options.profile) if options.profile else machine_profile(facts, tier_name(), np.__version__)
    print(f"{facts.model}, {facts.cores} cores, kernels {tier_name()}, load {os.getloadavg()[0]:.2f}; tables "
          f"{profile.calibration.calibrated or 'default'} ({profile.calibration.facts.get('kernels', '')})")  # fmt: skip
    settle_memory()
    watch = LoadMonitor()
    rows = measured(options, profile, facts.cores, watch)
    print(f"others used the processor during {watch.disturbed} of {watch.measured} measurements")
    rows.sort(key=lambda row: -abs(row.error))
    for row in rows:
        if (options.all or abs(row.error) > 0.25) and row.by_quartiles < STEADY:
            mark = " " if row.inside else "!"
            spread = " " if row.deviation < STEADY else "~"
            print(f"{row.error:+7.1%} {row.actual / 1000:10.1f} µs, estimate {row.estimate / 1000:10.1f} {mark}{spread} "
                  f"{row.name:<40} {row.label}")  # fmt: skip
    summary("steady by standard deviation", [row for row in rows if row.deviation < STEADY])
    summary("steady by quartiles", [row for row in rows if row.by_quartiles < STEADY])
    summary("all", rows)


def measured(options: argparse.Namespace, profile: Any, cores: int, watch: Any) -> list[Row]:
    """The rows of all phases that count."""
    from estimates_other import OTHER, SIZES, THIRD, THIRD_SIZES
    from estimates_varied import FIFTH, FIFTH_SIZES, FOURTH, FOURTH_SIZES

    from rho.backend.devices.phase_cost import step_ns
    from rho.backend.graph import traverse
    from rho.backend.graph.phases import Constant, Input, Loop, Output, Print

    rows: list[Row] = []
    left_out: list[str] = []
    kept: dict[str, Any] = {}
    if options.times and Path(options.times).exists():
        kept = json.loads(Path(options.times).read_text(encoding="utf-8"))
    sets = {
        "tuned": (PROGRAMS, (30_000, 300_000, 3_000_000)),
        "other": (OTHER, SIZES),
        "third": (THIRD, THIRD_SIZES),
        "fourth": (FOURTH, FOURTH_SIZES),
        "fifth": (FIFTH, FIFTH_SIZES),
    }
    programs, usual = sets[options.which]
    sizes = [int(size) for size in options.sizes.split(",")] if options.sizes else list(usual)
    for size in [*sizes, 0] if options.which == "tuned" else sizes:
        found = jobs([size] if size else [], options.only, programs)
        batch = [job for job in found if bool(size) == job.name.endswith(f"n={size}")]
        known = kept.get(str(size)) if kept else None
        for job in batch if known is not None else ():
            job.recall(known[job.name])
        waiting = batch if known is None else []
        for _ in range(options.again + 1):
            for _ in range(-(-options.runs // IN_A_ROW)):
                for job in waiting:
                    run_in_a_row(job, cores, watch)
            for job in waiting:
                job.settle()
            waiting = [job for job in waiting if not job.is_steady()]
        if options.times and known is None:
            kept[str(size)] = {job.name: job.kept() for job in batch}
            Path(options.times).write_text(json.dumps(kept), encoding="utf-8")
        for job in batch:
            phases = {phase.id: phase for phase in traverse.all_phases(job.bound.graph)}
            for which, times in job.steadiest.items():
                phase, actual = phases[which], statistics.median(times)
                if isinstance(phase, Constant | Input | Output | Print) or actual < LEAST_NS:
                    continue
                if isinstance(phase, Loop) and is_up_to_data(phase):
                    left_out.append(f"{job.name} {job.labels[which]}")
                    continue
                if len(times) < options.runs // 2:
                    continue  # in a branch, or in a loop that has been compiled as one region
                estimate = step_ns(phase, job.bound, profile.home, profile.calibration, job.launches[which])
                if estimate is not None:
                    inside = estimate.p10 <= actual <= estimate.p90
                    rows.append(Row(actual, estimate.ns, inside, *spreads(times), job.name, job.labels[which]))
        del batch
    if left_out:
        print(f"left out, since what they take at most is all that sizes say: {', '.join(left_out)}")
    return rows


def is_up_to_data(loop: Any) -> bool:
    """Does the number of iterations depend on data: by a stopping test, or because elements that keep their state finish?"""
    from rho.backend.graph.phases import ApplyNode, ReadNode, Structured

    def keeps(phase: Structured) -> bool:
        state = {place for place, node in enumerate(phase.body)
                 if isinstance(node, ReadNode) and phase.reads[node.index].value in loop.body.params}  # fmt: skip
        return any(isinstance(n, ApplyNode) and n.function == "select" and state & set(n.args[1:]) for n in phase.body)

    return loop.until is not None or any(isinstance(phase, Structured) and keeps(phase) for phase in loop.body.phases)


@dataclass(frozen=True, slots=True)
class Row:
    """A phase of at least 50 µs; the deviations of its runs are fractions of their median."""

    actual: float
    estimate: int
    inside: bool
    deviation: float
    by_quartiles: float
    name: str
    label: str

    @property
    def error(self) -> float:
        return self.estimate / self.actual - 1


def spreads(times: list[int]) -> tuple[float, float]:
    """(deviation, deviation by quartiles) as fractions of the median."""
    if len(times) < 2:
        return 1.0, 1.0
    low, middle, high = statistics.quantiles(times, n=4)
    return statistics.stdev(times) / middle, 0.741 * (high - low) / middle


def steadier(times: list[int], before: list[int]) -> bool:
    return spreads(times)[1] < spreads(before)[1]


def summary(name: str, rows: list[Row]) -> None:
    errors = sorted(abs(row.error) for row in rows)
    if not errors:
        print(f"{name}: no phases")
        return
    at = {share: errors[min(len(errors) - 1, int(len(errors) * share))] for share in (0.5, 0.75, 0.9, 0.95)}
    shares = "  ".join(f"p{int(100 * share)} {value:.1%}" for share, value in at.items())
    near, inside = sum(e <= 0.25 for e in errors) / len(errors), sum(row.inside for row in rows) / len(errors)
    print(f"{name}: {len(errors)} phases  error {shares}  within 25 %: {near:.0%}, within p10 to p90: {inside:.0%}")


if __name__ == "__main__":
    main()
