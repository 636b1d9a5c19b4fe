"""Tests and times Rho on a graphics card, in one command.

    python benchmarks/cards.py [--check] [--quick] [--rounds 7] [--only W3,W4] [--write results/cards.md]

First the programs of the test suite run on the card and are compared with the reference interpreter, and with the processor's
bits where these are promised (docs/devices-gpu.md); `--check` stops there.  Then the workloads run on arrays in its memory,
synchronised, in comparison with CuPy, JAX and PyTorch if these are installed; results are compared first.  Finally some programs
run as planned over the processor and the card, in comparison with the predicted times.

The exit status is 0, 1 (something is wrong), or 2 (there is no card).
"""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rho import backend
from rho.backend.devices.this_machine import load_profile
from rho.backend.gpu import cuda as bindings
from rho.backend.gpu.cuda import CudaDriver
from rho.backend.gpu.device import CardBackend, tiers
from rho.backend.gpu.driver import Card
from rho.backend.schedule.plan.plan import DeviceId
from rho.backend.schedule.program.plan_program import plan_program
from rho.backend.vm.executor import execute_plan
from rho.benchmarks.workloads import WORKLOADS, Workload, agree
from rho.lang.diagnostics.model import RhoError
from rho.lang.syntax.source import Source
from rho.typechecker.check import check

Calls = dict[str, Callable[[], Any]]
SPLIT = ("W1 2×x+y", "W4 dot", "W6 softmax rows", "W11 heat")
PART = 9
"""`--quick` runs one program in this many."""
NAMES = ("CuPy", "torch", "jax", "Rho")


def card_of(xp: Any) -> Card:
    return Card(CudaDriver(0, xp))


class Resident(CardBackend):
    """A back end that keeps inputs and outputs on the card, so that only the card's work is timed."""

    def __init__(self, xp: Any) -> None:
        super().__init__(card_of(xp))
        self.inputs: dict[int, Any] = {}

    def bring(self, value: Any, kind: Any) -> Any:
        if id(value) not in self.inputs:
            self.inputs[id(value)] = super().bring(value, kind), value
        return self.inputs[id(value)][0]

    def fetch(self, value: Any, kind: Any) -> Any:
        return value

    def finish(self) -> None:
        self.card.driver.finish(self.card.driver.record(self.card.driver.compute))


# --------------------------------------------------------------------------------------------- correctness


def wrong(xp: Any, part: Callable[[Sequence[str]], Sequence[str]]) -> tuple[int, list[str], Counter[str]]:
    """(the number of programs, the faults, the phases that ran on the host)."""
    from rho.tests.backend import test_cuda_backend, test_cuda_fetching
    from rho.tests.backend.test_differential import DECLARED, PROGRAMS, data
    from rho.tests.harness.tiers import checked
    from rho.tests.kernels.test_programs import LOOPS, STENCILS

    card = card_of(xp)

    def make(limit: int | None = None) -> CardBackend:
        card.driver.limit(limit)
        return CardBackend(card)

    test_cuda_backend.MAKE = make
    hosted: Counter[str] = Counter()
    ran, found = 0, []
    loops = [f"output {text}" for text in (*LOOPS, *STENCILS)]
    gathers = [f"output r ← {text}" for text in test_cuda_fetching.GATHERS]
    shapes = (("x", (90_001,)), ("y", (90_001,)), ("M", (700, 430)))
    large = {name: np.random.default_rng(3).standard_normal(shape) for name, shape in shapes}
    declared = "input x : f64[n]\ninput y : f64[n]\ninput M : f64[r c]\n"
    cases: list[tuple[str, str, list[Any], bool]] = [
        *((DECLARED, text, [data(7, 2, 5), data(23, 3, 40)], False) for text in part([*PROGRAMS, *loops])),
        *((test_cuda_fetching.DECLARED, text, [test_cuda_fetching.data()], False) for text in part(gathers)),
        *((declared, text, [large], True) for text in part(test_cuda_backend.BITS)),
    ]
    for head, text, sizes, bits in cases:
        core = checked(head + text + "\n")
        for given in () if core is None else sizes:
            ran += 1
            try:
                found += [f"`{text}`: {one}" for one in _differences(test_cuda_backend, core, given, hosted, bits=bits)]
            except Exception as error:  # a failure does not stop the other programs
                found.append(f"`{text}`: {type(error).__name__}: {error}")
    return ran, found, hosted


def _differences(tests: Any, core: Any, given: Any, hosted: Counter[str], *, bits: bool) -> list[str]:
    if not bits:
        return list(tests.disagreements(core, given, hosted))
    bound = backend.load(core, given, {})
    wanted = [shown.value.tobytes() for shown in backend.execute(backend.plan(bound), bound, given).outputs.values()]
    return [] if tests.outputs(core, given)[0] == wanted else ["other bits than the processor's"]


# --------------------------------------------------------------------------------------------- speed


def rho_call(work: Workload, kind: str, given: Any, xp: Any) -> tuple[Callable[[], Any], Resident]:
    bound = _bound(work, kind, given)
    plan, card = backend.plan(bound), Resident(xp)

    def call() -> Any:
        made = execute_plan(plan, bound, given, {plan.home: card}).outputs["r"].value
        card.finish()
        return made

    return call, card


def _bound(work: Workload, kind: str, given: Any) -> Any:
    found = check(Source("<benchmark>", work.program.replace(": T[", f": {kind}[") + "\n"))
    assert found.core is not None, work.name
    return backend.load(found.core, given, {})


def by_cupy(work: Workload, given: Any, xp: Any) -> Callable[[], Any]:
    """The NumPy version on CuPy's arrays, which override NumPy's functions."""
    own = {name: xp.asarray(array) for name, array in given.items()}

    def call() -> Any:
        made = work.by_hand(own)
        xp.cuda.get_current_stream().synchronize()
        return made

    return call


def others(work: Workload, given: Any, xp: Any) -> Calls:
    """The calls of the installed peers that have the workload."""
    made: Calls = {"CuPy": by_cupy(work, given, xp)}
    for name in ("torch", "jax"):
        try:
            peer = importlib.import_module(f"rho.benchmarks.peers.by_{name}")
        except ImportError:
            continue
        side = peer.sides(os.cpu_count() or 1).get(work.name)
        if side is None:
            continue
        if name == "torch":
            import torch

            torch.set_default_device("cuda")
            own = {key: tensor.cuda() for key, tensor in peer.arrays(given).items()}
            made[name] = partial(_waited, side, own, torch.cuda.synchronize)
        else:
            made[name] = partial(side, peer.arrays(given))
    return made


def _waited(side: Callable[[Any], Any], own: Any, wait: Callable[[], None]) -> Any:
    made = side(own)
    wait()
    return made


def on_host(value: Any) -> Any:
    for name in ("get", "cpu"):
        if hasattr(value, name):
            return np.asarray(getattr(value, name)())
    return np.asarray(value)


def row(work: Workload, kind: str, size: int, rounds: int, xp: Any) -> str:
    """A line of the table: medians of interleaved rounds, in milliseconds."""
    given = work.make(size, np.float32 if kind == "f32" else np.float64, np.random.default_rng(1))
    ours, card = rho_call(work, kind, given, xp)
    calls, notes = others(work, given, xp) | {"Rho": ours}, []
    wanted = work.by_hand(given)
    for name, call in list(calls.items()):
        try:
            if not agree(card._to_host(call()) if name == "Rho" else on_host(call()), wanted, kind, work):
                notes.append(f"{name} differs")
        except Exception as error:  # a peer that cannot do it is left out
            if name == "Rho":
                raise
            del calls[name]
            notes.append(f"{name}: {type(error).__name__}")
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            call()
            start = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - start)
    medians = {name: statistics.median(taken) * 1e3 for name, taken in times.items()}
    notes += [f"{name} on the host" for name in card.hosted]
    shown = [f"{medians[name]:.4g}" if name in medians else "" for name in NAMES]
    best = min((medians[name] for name in medians if name != "Rho"), default=None)
    ratio = "" if best is None else f"{medians['Rho'] / best:.2f}"
    return f"| {work.name} | {kind} | {size} | {' | '.join(shown)} | {ratio} | {', '.join(notes)} |"


# ----------------------------------------------------------------------------------------- predicted times


def split_row(work: Workload, size: int, profile_name: str, xp: Any) -> str:
    """The predicted and the measured time of a plan over the processor and the card, with transfers."""
    from rho.backend.cpu.backend import CpuBackend

    given = work.make(size, np.float64, np.random.default_rng(1))
    found = check(Source("<benchmark>", work.program.replace(": T[", ": f64[") + "\n"))
    assert found.core is not None
    bound = backend.load(found.core, given, {})
    plan = plan_program(found.core, bound, load_profile(profile_name)).plan
    backends: dict[DeviceId, Any] = {
        device.id: CardBackend(card_of(xp)) if device.backend == "cuda" else CpuBackend(device.threads)
        for device in plan.devices
    }
    taken = []
    for _ in range(4):
        start = time.perf_counter()
        execute_plan(plan, bound, given, backends)
        taken.append(time.perf_counter() - start)
    expected = "" if plan.prediction is None else f"{plan.prediction.makespan * plan.tick_ns / 1e6:.4g}"
    used = ", ".join(sorted({str(queue.device) for queue in plan.main.queues if queue.steps}))
    return f"| {work.name} | {size} | {used} | {expected} | {statistics.median(taken[1:]) * 1e3:.4g} |"


# ------------------------------------------------------------------------------------------------ all


def main(arguments: Sequence[str] | None = None, xp: Any = None) -> int:
    """`xp` replaces CuPy in tests."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only whether everything is right")
    parser.add_argument("--quick", action="store_true", help="a part of the programs, small arrays, f64 only")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default="", help="parts of the workloads' names")
    parser.add_argument("--profile", default="h100", help="of the plans over processor and card")
    parser.add_argument("--write", type=Path)
    options = parser.parse_args(arguments)
    os.environ["JAX_PLATFORMS"] = "cuda,cpu"
    found = bindings.cupy() if xp is None else xp
    if found is None:
        print(f"graphics cards: {tiers()}; nothing was run", file=sys.stderr)
        return 2
    facts = found.cuda.runtime.getDeviceProperties(0)
    name = facts["name"].decode() if isinstance(facts["name"], bytes) else facts["name"]
    lines = [f"{name}, Python {platform.python_version()}, NumPy {np.__version__}, CuPy {getattr(found, '__version__', '')}, "
             f"{date.today()}", ""]  # fmt: skip
    print(lines[0], flush=True)
    ran, faults, hosted = wrong(found, (lambda texts: texts[::PART]) if options.quick else (lambda texts: texts))
    lines += [f"{ran} runs of test programs, {len(faults)} wrong; on the host: "
              f"{', '.join(f'{name} ({count})' for name, count in hosted.most_common()) or 'nothing'}.", *faults]  # fmt: skip
    print("\n".join(lines[1:]), flush=True)
    if not options.check:
        chosen = [w for w in WORKLOADS if not options.only or any(part in w.name for part in options.only.split(","))]
        head = [f"| workload | kind | size | {' | '.join(NAMES)} | Rho ÷ fastest other | |", "|---" * (5 + len(NAMES)) + "|"]
        lines += [
            "",
            f"Milliseconds a call on arrays in the card's memory, medians of {options.rounds} interleaved rounds.",
            "",
            *head,
        ]
        print("\n".join(lines[-5:]), flush=True)
        for work in chosen:
            for kind in work.kinds[:1] if options.quick else work.kinds:
                try:
                    lines.append(row(work, kind, work.sizes[0 if options.quick else -1], options.rounds, found))
                except (RhoError, MemoryError) as error:
                    lines.append(f"| {work.name} | {kind} | {' | ' * (2 + len(NAMES))}{error} |")
                    faults.append(work.name)
                print(lines[-1], flush=True)
        lines += ["", "Plans over the processor and the card (milliseconds, transfers included).", "",
                  "| workload | size | devices | expected | taken |", "|---|---|---|---|---|"]  # fmt: skip
        print("\n".join(lines[-5:]), flush=True)
        for work in (w for w in chosen if w.name in SPLIT):
            lines.append(split_row(work, work.sizes[0 if options.quick else -1], options.profile, found))
            print(lines[-1], flush=True)
    if options.write:
        options.write.parent.mkdir(parents=True, exist_ok=True)
        options.write.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
