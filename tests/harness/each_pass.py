"""Tests passes on random programs that they change, against NumPy: `python tests/harness/each_pass.py NAME COUNT [SEED]`, or
`every COUNT [SEED]` until each pass has changed so many, where a program counts for every pass that changed it.

Each program has a pattern that the pass rewrites (`patterns`) among random expressions (`drawing`); the graph is verified after
every pass (`stepping`), and the values of runs are compared.  Without arguments the names of the passes are printed.
`RHO_KERNELS=always` runs compiled code only.
"""

from __future__ import annotations

import random
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from drawing import Drawing
from rule_patterns import PATTERNS
from stepping import NAMES, at_any_size, load

from rho import backend
from rho.lang.syntax.source import Source
from rho.typechecker.check import check

MIXED = "mixed"
EVERY = [pattern for own in PATTERNS.values() for pattern in own]
KINDS = ("i64", "i64", "i64", "f64", "f64", "f32", "c128")


@dataclass(frozen=True)
class Trial:
    """A program, its inputs, the passes that changed it, and what is wrong with its outputs (empty if nothing)."""

    text: str
    inputs: Mapping[str, Any]
    changed: Set[str]
    problem: str


def drawn(name: str, seed: int) -> Drawing:
    """A random program for a pass, or for several (`MIXED`); for an empty name, any program."""
    chance = random.Random(f"{name} {seed}")
    drawing = Drawing(chance, chance.choice(KINDS))
    kind = drawing.kind
    patterns = EVERY if name == MIXED else PATTERNS.get(name, [])
    for _ in range(4 if name == MIXED else chance.choice([1, 1, 2])):
        if name:
            made = chance.choice(patterns)(drawing)
            made = drawing.define(made) if chance.random() < 0.5 else made
            drawing.output(made)
            drawing.kind = kind
        if not name or chance.random() < 0.4:
            depth = chance.choice([1, 2, 3] if name else [2, 3, 4])
            drawing.output(drawing.number(drawing.dims(chance.choice([0, 1, 1, 2, 2, 3])), depth))
    return drawing


def tried(drawing: Drawing, verified: bool = True, runs_of_each: int = 2) -> Trial:
    """Run a program `runs_of_each` times, since later runs of a plan use other code than the first (`backend.vm.executor`)."""
    core = check(Source("<drawn>", drawing.text)).core
    if core is None:
        return Trial(drawing.text, drawing.inputs, frozenset(), "is not accepted")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bound, changed = load(core, drawing.inputs, verified=verified)
        plan = backend.plan(bound, detail=backend.Detail.STEPS)
        runs = [backend.execute(plan, bound, drawing.inputs).outputs for _ in range(runs_of_each)]
    for name, want in drawing.outputs.items():
        for at, run in enumerate(runs):
            got = run[name].value
            if got.dtype != want.dtype or got.shape != want.shape or not np.array_equal(got, want):
                return Trial(drawing.text, drawing.inputs, changed, f"{name} of run {at} is {got!r}, not {want!r}")
    return Trial(drawing.text, drawing.inputs, changed, "")


def trials(name: str, seeds: Iterable[int]) -> Iterator[tuple[int, Trial]]:
    """The trials of some seeds; graphs are verified in an eighth of them."""
    with at_any_size():
        for seed in seeds:
            drawing = drawn(name, seed)
            try:
                yield seed, tried(drawing, seed % 8 == 0)
            except Exception as failure:
                yield seed, Trial(drawing.text, drawing.inputs, frozenset(), f"{type(failure).__name__}: {failure}")


def rarest(count: int, seed: int, batch: int = 50) -> Iterator[tuple[str, int, Trial]]:
    """Trials of the pass that has changed the fewest programs, in batches, until each has changed `count`."""
    changed, next_seed = Counter[str](), Counter[str]()
    while changed[name := min(NAMES, key=changed.__getitem__)] < count:
        first = seed + next_seed[name]
        next_seed[name] += batch
        for at, trial in trials(name, range(first, first + batch)):
            changed.update(trial.changed)
            yield name, at, trial


def main(name: str, count: int, seed: int) -> None:
    changed, wrong, tried, began = Counter[str](), 0, 0, time.process_time()
    one_name = ((name, at, trial) for at, trial in trials(name, range(seed, seed + count)))
    for drawn_for, at, trial in rarest(count, seed) if name == "every" else one_name:
        changed.update(trial.changed)
        tried += 1
        if trial.problem:
            wrong += 1
            print(f"--- {drawn_for!r} {at}\n{trial.text}{trial.inputs}\n{trial.problem}", flush=True)
        if tried % 5_000 == 0:
            print(f"after {tried:,}: at least {min(changed[one] for one in NAMES):,} of each", flush=True)
    by = changed[name] if name in NAMES else {one: changed[one] for one in NAMES}
    seconds = time.process_time() - began
    print(f"{name or 'any'}: {tried} tried, changed by it: {by}, {wrong} wrong, {seconds:.0f} s of processor time", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        print("\n".join(NAMES), MIXED, "every", sep="\n")
    else:
        main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0)
