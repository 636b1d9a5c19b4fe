"""Tests transformations of graphs that are no passes, on random programs: `python tests/harness/each_transformation.py NAME 99`.

`backend.graph` unrolls loops, makes the graph of one iteration, hoists the arms of branches and restricts phases to shards, for
planners; it groups phases and merges loops for kernels.  Each has a generator of programs in whole numbers, whose values NumPy
computes while the text is drawn.  A transformed graph is verified, runs in one of the tiers, and its values are compared for
equality.
"""

from __future__ import annotations

import random
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from typing import Any
from unittest import mock

import numpy as np
from drawing import Drawing
from each_pass import Trial
from stepping import at_any_size
from tiers import MODES, kernels
from transformations import Transformed, at_run_time, hoisted, iterations, shards, shards_anywhere, unrolled_loops
from transformed_programs import branches, coordinates, elementwise_loops, loops, phases, rotated_rows, rows, stencils

from rho import backend
from rho.backend.cpu import parallel_for, regions
from rho.backend.graph import fusion_groups
from rho.backend.graph.bind_sizes import BoundGraph
from rho.backend.graph.verify import verify
from rho.backend.lower import region
from rho.lang.syntax.source import Source
from rho.typechecker.check import check

Transformation = Callable[[BoundGraph, random.Random], Transformed]
TRANSFORMATIONS: dict[str, tuple[Callable[[Drawing], None], Transformation]] = {
    "unrolled": (loops, unrolled_loops), "iteration_of": (loops, iterations), "hoist_arms": (branches, hoisted),
    "restrict": (phases, shards), "restrict at run time": (coordinates, shards_anywhere),
}  # fmt: skip
IN_KERNELS: dict[str, tuple[Callable[[Drawing], None], Any]] = {
    "join_chain": (rows, fusion_groups), "group_as_map": (stencils, fusion_groups),
    "rows_are_independent": (rotated_rows, fusion_groups), "merge_elementwise_loop": (elementwise_loops, region),
}  # fmt: skip
"""Those that only compiled code applies, and the modules that call them."""
NAMES = (*TRANSFORMATIONS, *IN_KERNELS)


def drawn(name: str, seed: int) -> Drawing:
    chance = random.Random(f"{name} {seed}")
    drawing = Drawing(chance, chance.choice(["i64", "i64", "f64"]))
    {**TRANSFORMATIONS, **IN_KERNELS}[name][0](drawing)
    return drawing


def wrong(drawing: Drawing, bound: BoundGraph) -> str:
    """What is wrong with the outputs of a graph; empty if nothing is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outputs = backend.execute(backend.plan(bound), bound, {**drawing.inputs, **at_run_time(bound.graph)}).outputs
    found = {name: one.value for name, one in outputs.items()}
    for name, want in drawing.outputs.items():
        if found[name].dtype != want.dtype or not np.array_equal(found[name], want):
            return f"{name} is {found[name]!r}, not {want!r}"
    for name, part in found.items():
        if name.startswith("shard"):
            place, *cut = name.split()[1:]
            want = found[f"whole {place}"][tuple(slice(*map(int, one.split(":"))) for one in cut)]
            if not np.array_equal(part, want, equal_nan=part.dtype.kind in "fc"):
                return f"{name} is {part!r}, not {want!r}"
    return ""


def tried(name: str, seed: int) -> Trial:
    drawing = drawn(name, seed)
    core = check(Source("<drawn>", drawing.text)).core
    if core is None:
        return Trial(drawing.text, drawing.inputs, frozenset(), "is not accepted")
    if name in IN_KERNELS:
        return in_kernels(name, drawing, core)
    bound = backend.load(core, drawing.inputs)
    changed = False
    for transformed in TRANSFORMATIONS[name][1](bound, random.Random(seed)):
        changed = True
        verify(transformed.graph, name)
        with kernels(MODES[seed % len(MODES)]):
            problem = wrong(drawing, transformed)
        if problem:
            return Trial(drawing.text, drawing.inputs, frozenset({name}), problem)
    return Trial(drawing.text, drawing.inputs, frozenset({name} if changed else ()), "")


def in_kernels(name: str, drawing: Drawing, core: Any) -> Trial:
    """The trial of a transformation of compiled code, which is all that runs, rows that threads may share in random order; it
    changes a program for which it is called and returns something, a rule one that it refuses."""
    module, calls = IN_KERNELS[name][1], 0
    original = getattr(module, name)

    def counted(*args: Any) -> Any:
        nonlocal calls
        found = original(*args)
        calls += found is not None and found is not True
        return found

    def in_any_order(ranges: Iterable[Any], worker: Callable[[], Callable[[Any], None]], threads: int) -> None:
        run = worker()
        for one in random.Random(drawing.text).sample(every := list(ranges), len(every)):
            run(one)

    with ExitStack() as stack:
        stack.enter_context(kernels("always"))
        stack.enter_context(mock.patch.object(parallel_for, "FIRST_OPERATIONS", 1))
        stack.enter_context(mock.patch.object(regions, "parallel_for", in_any_order))
        for limit in ("STENCIL_MIN_ITEMS", "MANY_ITEMS"):
            stack.enter_context(mock.patch.object(fusion_groups, limit, 1))
        stack.enter_context(mock.patch.object(module, name, counted))
        problem = wrong(drawing, backend.load(core, drawing.inputs))
    return Trial(drawing.text, drawing.inputs, frozenset({name} if calls else ()), problem)


def trials(name: str, seeds: Iterable[int]) -> Iterator[tuple[int, Trial]]:
    with at_any_size():
        for seed in seeds:
            try:
                yield seed, tried(name, seed)
            except Exception as failure:
                drawing = drawn(name, seed)
                yield seed, Trial(drawing.text, drawing.inputs, frozenset(), f"{type(failure).__name__}: {failure}")


def main(name: str, count: int, seed: int) -> None:
    changed, failed, began = Counter[str](), 0, time.monotonic()
    for at, trial in trials(name, range(seed, seed + count)):
        changed.update(trial.changed)
        if trial.problem:
            failed += 1
            print(f"--- {name!r} {at}\n{trial.text}{trial.inputs}\n{trial.problem}", flush=True)
    print(f"{name}: {count} tried, {changed[name]} changed, {failed} wrong, {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        print("\n".join(NAMES))
    else:
        main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0)
