"""Compares the predicted with the measured time of programs over the processor and one OpenCL device, a core each.

    python benchmarks/two_devices.py [--device ocl0] [--rounds 60] [--write benchmarks/results/two_devices.md]

The device is measured first, as when it is first named; the processor has its calibration (`rho devices --calibrate`) or the
default tables.  The device's threads, which its first kernel begins, and this process have a core each where the system lets it.
Each program is split evenly by a directive, as plans for two devices on one memory rarely use both.  Time of a run: from its
inputs in memory to its results in memory, with kernels that are there already, the least of the rounds, since other programs of
the machine only ever make it longer; the load is stated.  The best single device is the least measured time of the two alone.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

os.environ.setdefault("POCL_MAX_PTHREAD_COUNT", "1")  # read when the first device is asked for
os.environ.setdefault("DPCPP_CPU_NUM_CUS", "1")

import numpy as np

from rho import backend
from rho.backend.devices.profile import Profile
from rho.backend.gpu.device import card_backend
from rho.backend.schedule.plan.plan import ExecutionPlan, RunStep
from rho.backend.schedule.program.plan_program import plan_program
from rho.lang.diagnostics.model import RhoError
from rho.lang.syntax.source import Source
from rho.shell.execution.stored_plans import profile_named, this_machine
from rho.typechecker.check import check
from rho.typechecker.elements import Kind

DECLARED = "input x : f64[n]\ninput y : f64[n]\ninput M : f64[r c]\ninput N : f64[c]\ninput k : i64[n]\n"
PROGRAMS = (
    "3+x×x", "*-x×x", "x÷1+|y", "⍟2+1○x", "(1○x)×*-y×y", "√1+x×x+y", "+/x×y", "+/*-x×x", "⌈/x-y", "⌊0.5+x×9", "+/⍤1 ⊢ M",
    "+⌿M×0.1", "M-⍤1 ⊢ N", "{(+/⍵)÷≢⍵}⍤1 ⊢ M", "x+2×⌽y", "{⍵-0.3×⍵×⍵}⍣25 ⊢ x", "∨/x>9", "k|7-k", "+/k×k",
    "(*x÷9)⌈1○y",
)  # fmt: skip
SPLIT = "schedule {{\n  split r rows 1:1 over cpu0 {}\n}}\n"
ROWS = 1 << 23
WITHIN = 0.35


def least(run: Callable[[], Any], rounds: int) -> float:
    """Seconds."""
    times = []
    for _ in range(rounds + 1):
        start = perf_counter()
        run()
        times.append(perf_counter() - start)
    return min(times[1:])


def warm(profile: Profile) -> Profile:
    """The profile for kernels that are there already."""
    return replace(profile, devices=tuple(replace(one, host_dispatch_ns=0) for one in profile.devices))


def working(plan: ExecutionPlan) -> str:
    """The devices that run something."""
    queues = [queue for queue in plan.main.queues if any(isinstance(step, RunStep) for step in queue.steps)]
    return ", ".join(sorted({str(queue.device) for queue in queues}))


def alone(core: Any, bound: Any, profile: Profile, given: dict[str, Any], rounds: int) -> float:
    plan = plan_program(core, bound, profile).plan
    return least(lambda: backend.execute(plan, bound, given), rounds)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="ocl0")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--write")
    parsed = parser.parse_args()
    processors = sorted(os.sched_getaffinity(0))
    with suppress(OSError):
        os.sched_setaffinity(0, processors[-1:])
    card_backend("opencl", int(parsed.device.removeprefix("ocl")), None).bring(np.ones(9), Kind.F64)
    both, card = map(warm, (profile_named(f"cpu0,{parsed.device}"), profile_named(parsed.device)))
    with suppress(OSError):
        os.sched_setaffinity(0, processors[:1])
    rng = np.random.default_rng(5)
    data = {
        "x": rng.standard_normal(ROWS), "y": rng.standard_normal(ROWS), "M": rng.standard_normal((ROWS // 256, 256)),
        "N": rng.standard_normal(256), "k": rng.integers(-99, 99, ROWS),
    }  # fmt: skip
    lines, close = [], 0
    for text in PROGRAMS:
        names = [name for name in data if name in text]
        source = "".join(f"{line}\n" for line in DECLARED.splitlines() if line.split()[1] in names) + f"output r ← {text}\n"
        core = check(Source("<two devices>", source)).core
        assert core is not None, text
        given = {name: data[name] for name in names}
        bound = backend.load(core, given)
        split = check(Source("<two devices>", source + SPLIT.format(parsed.device))).core
        assert split is not None, text
        plan = plan_program(split, bound, both).plan
        assert plan.prediction is not None
        predicted = plan.prediction.makespan * plan.tick_ns / 1e9
        taken = least(lambda plan=plan, bound=bound, given=given: backend.execute(plan, bound, given), parsed.rounds)  # type: ignore[misc]
        single = [alone(core, bound, warm(this_machine()), given, parsed.rounds)]
        with suppress(RhoError):
            single.append(alone(core, bound, card, given, parsed.rounds))
        ratio = taken / predicted
        close += 1 - WITHIN <= ratio <= 1 + WITHIN
        shown = text.replace("|", "\\|")
        figures = f"{predicted * 1e3:.2f} | {taken * 1e3:.2f} | {ratio:.2f} | {min(single) * 1e3:.2f}"
        lines.append(f"| `{shown}` | {working(plan)} | {figures} |")
        print(lines[-1], flush=True)
    head = [
        f"{close} of {len(PROGRAMS)} within {WITHIN:.0%}; load {os.getloadavg()[0]:.1f} on {len(processors)} cores; "
        f"{ROWS:,} items; tables {this_machine().calibration.calibrated or 'default'}.", "",
        "| program | devices | predicted ms | measured ms | ratio | best single device ms |", "|---|---|---|---|---|---|",
    ]  # fmt: skip
    print("\n".join(head))
    if parsed.write:
        text = "\n".join(["# Predicted and measured times over two devices", "", *head, *lines, ""])
        Path(parsed.write).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
