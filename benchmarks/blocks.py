"""Compares plans of typical programs on several devices with a lower bound, with one device, and with random splits.

    python benchmarks/blocks.py [PROGRAM…] [--fast] [-o benchmarks/results/blocks.md]

The profiles are `workstation`, and two workstations joined by a network of 10 Gbit/s.  Every plan is verified.  Plans are made
with the effort of `--fast` and with the default one; times are processor times of the planner.  A sliver is a shard of less than
1 % of its phase; it is needless if the plan without it (its rows moved to the largest shard) is at most 1 % longer.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random

import rho
from rho.backend.devices.profile import CostTable, LinkProfile, Profile
from rho.backend.devices.this_machine import load_profile
from rho.backend.schedule.bounds.head_tail_bounds import Costs
from rho.backend.schedule.problem import Decisions, Schedule
from rho.backend.schedule.program.plan_program import PlannedProgram, plan_program
from rho.backend.schedule.search.strategy import DEFAULT, FAST, Budget
from rho.backend.schedule.timeline.serial_sgs import ScheduleDecoder, decisions_of
from rho.lang.diagnostics.model import RhoError
from rho.shell.execution.modules import bind_known_sizes
from rho.tests.plans.drawn import TRANSFORMER

HERE = Path(__file__).resolve().parent
BLOCK = TRANSFORMER.replace("HEADS", "32").replace("input x : f32[t d] where t ≥ 1\n", "")
HEADER, *_ = BLOCK.partition("input wq")


def decoder(layers: int) -> str:
    """A sequence of transformer blocks with separate weights."""
    body = BLOCK.partition("t ← ")[2].splitlines()[1:]
    lines = [HEADER, "input x : f32[t d] where t ≥ 1", "t ← ≢x ⋄ d ← ≢⍉x", body[0], "y0 ← x"]
    for layer in range(layers):
        lines += [f"input {name}{layer} : f32[d d]" for name in ("wq", "wk", "wv", "wo")]
        lines += [f"input w1{layer} : f32[d f]", f"input w2{layer} : f32[f d]"]
        lines += [
            f"n{layer} ← norm y{layer}",
            f"s{layer} ← softmax ((heads n{layer}+.×wq{layer}) +.×⍤2 2 ⊢ 0 2 1⍉heads n{layer}+.×wk{layer})÷√128.0",
            f"r{layer} ← y{layer}+((t d)⍴1 0 2⍉ s{layer} +.×⍤2 2 ⊢ heads n{layer}+.×wv{layer})+.×wo{layer}",
            f"u{layer} ← (norm r{layer})+.×w1{layer}",
            f"y{layer + 1} ← r{layer}+(u{layer}×0.5×1+7○0.797885×u{layer}+0.044715×u{layer}*3)+.×w2{layer}",
        ]
    return "\n".join([*lines, f"output y{layers}"])


def convolutions() -> str:
    """Two 3 × 3 convolutions with activations, and a dense layer."""

    def layer(image: str, weights: str) -> str:
        return "+".join(f"({weights}[{i};{j}]×¯2↓¯2↓[1]{i}⊖{j}⌽{image})" for i in range(3) for j in range(3))

    return f"input x : f32[n m]\ninput v : f32[3 3]\ninput w : f32[3 3]\ninput d : f32[k c]\n" \
        f"a ← 0⌈{layer('x', 'v')}\nb ← 0⌈{layer('a', 'w')}\noutput y ← b+.×(≢⍉b) (≢⍉d)↑d"  # fmt: skip


KMEANS = """input x : f32[n d]
input c : f32[k d] where k ≥ 1
p ← (+/x×x)∘.+(+/c×c)
q ← ⌊/p-2×x+.×⍉c
output q
output s ← +/q"""
BODIES = """input x : f64[n]
input y : f64[n]
input z : f64[n]
input m : f64[n]
dx ← x∘.-x ⋄ dy ← y∘.-y ⋄ dz ← z∘.-z
r ← 0.0001+(dx×dx)+(dy×dy)+dz×dz
g ← m×⍤1⊢÷r×√r
output ax ← +/g×dx
output ay ← +/g×dy
output az ← +/g×dz"""
HEAT = "input x : f64[n]\ny ← {⍵+0.1×(0,¯1↓⍵)+((1↓⍵),0)-2×⍵}⍣100 ⊢ x\noutput y"
PROGRAMS: dict[str, tuple[str, dict[str, int]]] = {
    "transformer block": (decoder(1), {"t": 2048, "d": 4096, "f": 11008}),
    "decoder, 4 layers": (decoder(4), {"t": 512, "d": 4096, "f": 11008}),
    "convolution net": (convolutions(), {"n": 4096, "m": 4096, "k": 4096, "c": 256}),
    "k-means": (KMEANS, {"n": 2_000_000, "d": 32, "k": 64}),
    "n-body": (BODIES, {"n": 12_000}),
    "heat": (HEAT, {"n": 4_000_000}),
}


def two_hosts() -> Profile:
    """Two workstations joined by one network."""
    one = load_profile("workstation")
    names = {"cpu0": "cpu1", "gpu0": "gpu2", "gpu1": "gpu3"}
    others = tuple(replace(device, name=names[device.name], node="n1", home=False) for device in one.devices)
    network = CostTable((0, 1_250_000_000), (30_000, 1_000_030_000))
    links = tuple(LinkProfile("cpu0", name, 30_000, network, one.links[0].duplex, "network") for name in names.values())
    return replace(one, devices=(*one.devices, *others), links=(*one.links, *links))


def random_splits(decoder: ScheduleDecoder, count: int) -> Iterator[int]:
    """Makespans of feasible plans of random devices and rows."""
    r, costs, phases = Random(1), Costs(decoder), decoder.problem.phases
    for _ in range(20 * count):
        modes = []
        for place, task in enumerate(phases):
            if task.distributed is not None:
                modes.append(tuple((int(device), rows) for device, rows in task.distributed.mode))
                continue
            allowed = list(costs.allowed[place])
            parts = r.randint(1, min(len(allowed), task.units))
            bounds = [0, *sorted(r.sample(range(1, task.units), parts - 1)), task.units]
            modes.append(tuple(zip(r.sample(allowed, parts), (b - a for a, b in pairwise(bounds)), strict=True)))
        ticks = decoder.makespan(Decisions(tuple(modes), tuple(range(len(phases)))))
        if ticks is not None:
            yield ticks
            count -= 1
        if not count:
            return


def needless_slivers(decoder: ScheduleDecoder, schedule: Schedule) -> tuple[int, int]:
    """Shards of less than 1 % of their phase, and how many of these phases are as quick without them."""
    decisions, found, needless = decisions_of(decoder.problem, schedule), 0, 0
    whole = decoder.makespan(decisions)
    for place, task in enumerate(decoder.problem.phases):
        mode = decisions.modes[place]
        small = [rows for _, rows in mode if 100 * rows < task.units]
        if not small or task.distributed is not None:
            continue
        largest = max(range(len(mode)), key=lambda at: mode[at][1])
        kept = [(d, rows + sum(small) * (at == largest)) for at, (d, rows) in enumerate(mode) if 100 * rows >= task.units]
        changed = (*decisions.modes[:place], tuple(kept), *decisions.modes[place + 1 :])
        other = decoder.makespan(replace(decisions, modes=changed))
        found += len(small)
        needless += other is not None and whole is not None and 100 * other <= 101 * whole
    return found, needless


def row(name: str, where: str, profile: Profile, efforts: dict[str, Budget]) -> str:
    text, sizes = PROGRAMS[name]
    core = rho.check(text).core
    assert core is not None, [(one.code, one.message) for one in rho.check(text).diagnostics]
    bound = bind_known_sizes(core, sizes, {}, lambda _: {})
    shown, planned = [], None
    for budget in efforts.values():
        began = time.process_time()
        try:
            planned = plan_program(core, bound, profile, budget=budget)
        except RhoError as error:
            return f"| {name} | {where} | {error.diagnostics[0].message} | | | | | |"
        seconds, said = time.process_time() - began, planned.plan.prediction
        assert said is not None
        shown.append(f"{100 * (1 - said.lower_bound / said.makespan):.1f} % in {seconds:.1f} s")
    assert planned is not None
    return f"| {name} | {where} | {' | '.join(shown)} | {' | '.join(compared(planned))} |"


def compared(planned: PlannedProgram) -> list[str]:
    problem, schedule, said = planned.program.problem, planned.answer.schedule, planned.plan.prediction
    assert schedule is not None and said is not None
    single = next((one.ticks for one in said.baselines if one.name == "best single"), None)
    decoder = ScheduleDecoder(problem)
    splits = list(random_splits(decoder, 200))
    slivers, needless = needless_slivers(decoder, schedule)
    return [
        f"{said.makespan * problem.tick_ns / 1e6:,.2f} ms", "none" if single is None else f"{single / said.makespan:.2f} ×",
        f"{min(splits) / said.makespan:.2f} × ({len(splits)})" if splits else "none fits", f"{slivers} ({needless})",
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", choices=[[], *PROGRAMS])
    parser.add_argument("--fast", action="store_true", help="only the small effort")
    parser.add_argument("-o", "--output", type=Path)
    asked = parser.parse_args()
    efforts = {"gap, small effort": FAST, **({} if asked.fast else {"gap, usual effort": DEFAULT})}
    titles = ["program", "devices", *efforts, "plan", "best single device", "best of 200 random splits", "slivers (needless)"]
    lines = ["# Blocks on several devices", "", "| " + " | ".join(titles) + " |", "| " + " | ".join("---" for _ in titles) + " |"]
    for where, profile in (("workstation", load_profile("workstation")), ("two hosts", two_hosts())):
        for name in asked.programs or PROGRAMS:
            lines.append(row(name, where, profile, efforts))
            print(lines[-1], flush=True)
            if asked.output is not None:
                asked.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
