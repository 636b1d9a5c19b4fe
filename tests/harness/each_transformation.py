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
from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np
from drawing import Drawing, Term
from each_pass import Trial
from patterns import any_dims
from stepping import at_any_size
from tiers import MODES, kernels

from rho import backend
from rho.backend.graph import fusion_groups, traverse
from rho.backend.graph.bind_sizes import BoundGraph
from rho.backend.graph.iteration_graph import (
    _Copier,
    exit_graph,
    hoist_arms,
    is_distributable,
    iteration_of,
    rename_all_operands,
    unrolled,
    unrolling_obstacle,
)
from rho.backend.graph.phases import AxisKind, Loop, Output, Phase, PhaseId, Structured, ValueId
from rho.backend.graph.shard_of_phase import box_view, restrict
from rho.backend.graph.verify import verify
from rho.backend.lower import region
from rho.lang.syntax.source import Source
from rho.typechecker.check import check
from rho.typechecker.sizes.polynomials import number

# ------------------------------------------------------------------------------------------ programs


def step(d: Drawing, state: str, value: Any, x: Term, scalar: Term, times: int) -> tuple[list[str], Callable[[Any], Any]]:
    """Lines that update a state some times, and the same in NumPy."""
    rank = value.ndim
    lines: list[str] = []
    functions: list[Callable[[Any], Any]] = []
    for _ in range(times):
        k, axis = d.chance.choice([1, -1, 2, -3, 0]), d.chance.randrange(rank)
        shown, glyph, last = str(k).replace("-", "¯"), "⊖" if axis == 0 else "⌽", axis == rank - 1
        draws: list[tuple[str, Callable[[Any], Any]]] = [
            (f"{shown}{glyph}{state}", lambda s, k=k, axis=axis: np.roll(s, -k, axis)),
            (f"{state}+{shown}{glyph}{state}", lambda s, k=k, axis=axis: s + np.roll(s, -k, axis)),
            (f"({shown}{glyph}{state})-{x.text}×¯1{glyph}{state}",
             lambda s, k=k, axis=axis: np.roll(s, -k, axis) - x.value * np.roll(s, 1, axis)),
            (f"{state}+{x.text}", lambda s: s + x.value),
            (f"({state}×{scalar.text})-{x.text}", lambda s: s * scalar.value - x.value),
            (f"({state}>{x.text})¿({state} ⋄ {x.text}+1)", lambda s: np.where(s > x.value, s, x.value + 1)),
            (f"⊖{state}" if axis == 0 else f"⌽{state}", lambda s, axis=axis: np.flip(s, axis)),
            (f"{state}-+/,{state}" if rank == 1 else f"{state}-+/{state}", lambda s: s - s.sum(-1, keepdims=rank > 1)),
            (f"{state}⌈{shown}", lambda s, k=k: np.maximum(s, k)),
        ]  # fmt: skip
        if x.dims[axis].isdigit():  # else the length is not known to stay
            fill = d.chance.choice([0, 1])
            edge = f"((1↑{state})×0)+{fill}" if axis == 0 else f"{{({fill}+0×1↑⍵)}}⍤1 ⊢ {state}"
            if rank == 1 or axis == 0:
                join = "," if rank == 1 else "⍪"
                draws.append((f"({edge}){join}¯1↓{state}", lambda s, fill=fill, axis=axis: _pushed(s, fill, axis)))
        text, function = d.chance.choice(draws[:2] * (1 + (not last)) + draws)
        lines.append(f"  {state} ← {text}")
        functions.append(function)

    def together(s: Any) -> Any:
        for function in functions:
            s = function(s)
        return s

    return lines, together


def _pushed(s: Any, fill: int, axis: int) -> Any:
    """The rows moved by one, with a row of `fill` at the front."""
    return np.concatenate([np.full_like(np.take(s, [0], axis), fill), np.delete(s, -1, axis)], axis)


def loops(d: Drawing) -> None:
    """One or two loops of a few iterations, over one state or two, whose operands and results are random expressions."""
    d.kind = "i64"
    for number_of_loop in range(d.chance.choice([1, 1, 2])):
        dims = any_dims(d, 1, 2)
        a, x, scalar = d.number(dims, 1), d.define(d.number(dims, 1)), d.define(d.number((), 1))
        trips, name = d.chance.choice([0, 1, 2, 3, 4]), f"step{number_of_loop}"
        with np.errstate(all="ignore"):
            if d.chance.random() < 0.3:
                lines, function = step(d, "S", a.value, x, scalar, d.chance.randint(1, 2))
                others, other = step(d, "T", a.value, x, scalar, d.chance.randint(1, 2))
                b = d.define(d.number(dims, 1))
                d.lines += [f"{name} ← {{", "  (S T) ← ⍵", *lines, *others, "  (S ⋄ T+S)", "}"]
                s, t = a.value, b.value
                for _ in range(trips):
                    s = function(s)
                    t = other(t) + s
                d.lines.append(f"(s{number_of_loop} t{number_of_loop}) ← {name}⍣{trips} ⊢ ({a.text} ⋄ {b.text})")
                d.output(Term(f"s{number_of_loop}", s, dims, 1.0))
                d.output(Term(f"1+t{number_of_loop}", 1 + t, dims, 1.0))
                continue
            lines, function = step(d, "S", a.value, x, scalar, d.chance.randint(1, 3))
            d.lines += [f"{name} ← {{", "  S ← ⍵", *lines, "  S", "}"]
            s = a.value
            for _ in range(trips):
                s = function(s)
            d.lines.append(f"s{number_of_loop} ← {name}⍣{trips} ⊢ {a.text}")
            d.output(Term(f"s{number_of_loop}", s, dims, 1.0))
            if d.chance.random() < 0.5:
                d.output(Term(f"+/s{number_of_loop}", s.sum(-1), dims[:-1], 1.0))


def elementwise_loops(d: Drawing) -> None:
    """Loops whose body is element-wise in the state."""
    d.kind = d.chance.choice(["i64", "i64", "f64"])
    dims = any_dims(d, 1, 3)
    a, x, y = d.number(dims, 1), d.define(d.number(dims, 2)), d.define(d.number((), 1))
    s, trips = a.value, d.chance.choice([0, 1, 2, 3, 5])
    glyph, function = d.chance.choice([("⌈", np.maximum), ("⌊", np.minimum), ("-", np.subtract)])
    for _ in range(trips):
        s = function(x.value, s) + y.value
    d.lines.append(f"s ← {{({x.text}{glyph}⍵)+{y.text}}}⍣{trips} ⊢ {a.text}")
    d.output(Term("s", s, dims, 1.0))


def branches(d: Drawing) -> None:
    """Functions that choose one of two or three values by the data, inside one another too."""
    if d.kind == "c128":
        d.kind = "f64"
    for place in range(d.chance.choice([1, 1, 2])):
        dims = any_dims(d, 0, 2)
        b, c = d.named_mask(any_dims(d, 1, 1), 1), d.named_mask(any_dims(d, 1, 1), 1)
        p, q, r = (d.number(dims, d.chance.choice([1, 2])) for _ in range(3))
        first, second = bool(b.value.all()), bool(c.value.any())
        d.lines.append(f"c{place} ← ∧/{b.text} ⋄ e{place} ← ∨/{c.text}")
        if d.chance.random() < 0.4:
            d.lines.append(f"z{place} ← {{⍵ : {{⍵ : {p.text} ⋄ {q.text}}}e{place} ⋄ {r.text}}}c{place}")
            value = (p if second else q).value if first else r.value
        else:
            d.lines.append(f"z{place} ← {{⍵ : {p.text} ⋄ {q.text}}}c{place}")
            value = (p if first else q).value
        d.output(Term(f"z{place}", value, dims, 1.0))


FACTORS = {
    6: ["6", "2 3", "3 2", "1 6", "2 1 3"], 12: ["12", "3 4", "2 6", "2 2 3", "6 2", "4 3", "1 12"],
    24: ["24", "4 6", "2 3 4", "2 12", "8 3", "3 2 4"],
}  # fmt: skip


def phases(d: Drawing) -> None:
    """Random expressions, and arrays that are read through reshapes, transpositions and rotations."""
    for _ in range(d.chance.choice([1, 2])):
        if d.chance.random() < 0.5:
            d.output(d.number(any_dims(d, 1, 3), d.chance.choice([1, 2, 3])))
            continue
        shapes = d.chance.choice(list(FACTORS.values()))
        made = d.number(tuple(d.chance.choice(shapes).split()), 1)
        for _ in range(d.chance.choice([1, 2, 2])):
            dims = tuple(d.chance.choice(shapes).split())
            text, value = f"{d.shape_text(dims)}⍴{made.text}", made.value.reshape(d.shape(dims))
            if d.chance.random() < 0.5:
                text, value, dims = f"⍉({text})", value.T, dims[::-1]
            x = d.number(dims, 1)
            made = d.term((f"({text})+{x.text}", value + x.value, made.bound + x.bound), dims)
        d.output(made)
        if d.chance.random() < 0.5:
            d.output(d.term((f"+/{made.text}", made.value.sum(-1), made.bound * 24), made.dims[:-1]))


def rows(d: Drawing) -> None:
    """Reductions of rows beside what reads them along the rows."""
    d.kind = "i64"
    dims = (*any_dims(d, 0, 2), d.chance.choice(["5", "6", "9", "33", "40"]))
    a, b = d.define(d.number(dims, 2)), d.define(d.number(dims, 1))
    reductions = {"+": np.sum, "⌈": np.max, "⌊": np.min}
    glyph, other = d.chance.choice(list(reductions)), d.chance.choice(list(reductions))
    low = a.value - reductions[glyph](b.value, -1, keepdims=True)
    total = (low * b.value) + reductions[other](low, -1, keepdims=True)
    d.lines.append(f"l ← {a.text}-{glyph}/{b.text}")
    d.lines.append(f"t ← (l×{b.text})+{other}/l")
    d.output(Term("t", total, dims, 1.0))
    if d.chance.random() < 0.5:
        d.output(Term("+/t×l", (total * low).sum(-1), dims[:-1], 1.0))


def stencils(d: Drawing) -> None:
    """Rotations and the element-wise values that read them."""
    d.kind = "i64"
    dims = any_dims(d, 1, 2)
    a, b = d.define(d.number(dims, 1)), d.define(d.number(dims, 1))
    value, text = b.value, b.text
    for place in range(d.chance.randint(1, 3)):
        k, axis = d.chance.choice([1, -1, 2, -3]), d.chance.randrange(len(dims))
        of, shown = d.chance.choice([(a.value, a.text), (value, text)]), f"{k}".replace("-", "¯")
        glyph, function = d.chance.choice([("+", np.add), ("-", np.subtract), ("×", np.multiply)])
        value = function(np.roll(of[0], -k, axis), value)
        d.lines.append(f"g{place} ← ({shown}{'⊖' if axis == 0 else '⌽'}{of[1]}){glyph}{text}")
        text = f"g{place}"
    d.output(Term(text, value, dims, 1.0))
    d.output(Term(f"{text}×2", value * 2, dims, 1.0))


# ---------------------------------------------------------------------------------- transformations

Transformed = Iterator[BoundGraph]


def _loops_of(bound: BoundGraph) -> list[Loop]:
    return [phase for phase in bound.graph.phases if isinstance(phase, Loop)]


def unrolled_loops(bound: BoundGraph, chance: random.Random) -> Transformed:
    """Every loop unrolled, one after another."""
    for place in [loop.id for loop in _loops_of(bound)]:
        loop = next(one for one in _loops_of(bound) if one.id == place)
        if not unrolling_obstacle(loop, 1000):
            bound = unrolled(bound, loop)
            yield bound


def iterations(bound: BoundGraph, chance: random.Random) -> Transformed:
    """Every loop as copies of the graph of one iteration, cut along random axes, and of the graph of its exit."""
    for of in [loop.id for loop in _loops_of(bound)]:
        loop = next(one for one in _loops_of(bound) if one.id == of)
        graph = bound.graph
        if not is_distributable(loop, graph) or loop.until is not None:
            continue
        ranks = [len(graph.types[value].shape) for value in loop.body.params]
        one = iteration_of(bound, loop, tuple(chance.choice([None, *range(rank)]) for rank in ranks))
        leave = exit_graph(bound, loop, one)
        types = {**graph.types, **one.bound.graph.types, **leave.bound.graph.types}
        last = max(max(map(int, types)), *(int(p.id) for g in (one.bound, leave.bound) for p in g.graph.phases))
        copier = _Copier(types, dict(graph.names), last)
        state, copies = loop.initial, list[Phase]()
        for _ in range(loop.trip.constant or 0):
            current = dict(zip(loop.initial, state, strict=True)) if len(set(loop.initial)) == len(loop.initial) else {}
            for place, phase in enumerate(one.bound.graph.phases):
                if place < len(state):  # the entry of a state
                    current = {**current, loop.initial[place]: state[place]}
                    copies.append(copier.copied(phase, current))
                    if place + 1 == len(state):
                        for old in loop.initial:
                            current.pop(old, None)
                else:
                    copies.append(copier.copied(phase, current))
            state = tuple(current.get(value, value) for value in one.next)
        names = dict(zip(one.next, state, strict=True))
        copies += [rename_all_operands(phase, names) for phase in leave.bound.graph.phases]
        at = graph.phases.index(loop)
        phases = (*graph.phases[:at], *copies, *graph.phases[at + 1 :])
        bound = replace(bound, graph=replace(graph, phases=phases, types=copier.types, names=copier.names))
        yield bound


def hoisted(bound: BoundGraph, chance: random.Random) -> Transformed:
    """The arms of every branch hoisted."""
    graph = hoist_arms(bound.graph)
    if graph is not bound.graph:
        yield replace(bound, graph=graph)


def shards(bound: BoundGraph, chance: random.Random) -> Transformed:
    """Phases restricted to random boxes: each shard is an output beside the value that it is a part of."""
    graph = bound.graph
    types, last = dict(graph.types), traverse.fresh_id(graph)
    phases, count = list[Phase](), 0

    def fresh() -> int:
        nonlocal last
        last += 1
        return last

    for phase in graph.phases:
        phases.append(phase)
        sizes = [axis.size.constant for axis in phase.axes] if isinstance(phase, Structured) else []
        if not isinstance(phase, Structured) or not sizes or not all(sizes):
            continue
        box = []
        for axis, size in zip(phase.axes, sizes, strict=True):
            start = chance.randrange(size or 1) if axis.kind is AxisKind.PARALLEL else 0
            box.append((start, chance.randint(start + 1, size or 1) if axis.kind is AxisKind.PARALLEL else size or 1))
        made = restrict(phase, tuple(box))
        names: dict[ValueId, ValueId] = {}
        for place, (read, part, is_whole) in enumerate(zip(phase.reads, made.boxes, made.is_unnarrowed, strict=True)):
            names[ValueId(-1 - place)] = read.value
            if not is_whole:
                value = names[ValueId(-1 - place)] = ValueId(fresh())
                source = types[read.value]
                types[value] = replace(source, shape=tuple(number(stop - start) for start, stop in part))
                starts = [start for start, _ in part]
                phases.append(box_view(PhaseId(fresh()), phase.span, read.value, source.shape, starts, types[value], value))
        results = []
        for result in phase.results:
            value = ValueId(fresh())
            shape = [stop - start for (start, stop), axis in zip(box, phase.axes, strict=True) if axis.kind is AxisKind.PARALLEL]
            types[value] = replace(types[result.value], shape=tuple(map(number, shape)))
            results.append(replace(made.phase.results[len(results)], value=value))
        shard = replace(made.phase, id=PhaseId(fresh()), results=tuple(results))
        phases.append(traverse.rename_operands(shard, names))
        cut = [one for one, axis in zip(box, phase.axes, strict=True) if axis.kind is AxisKind.PARALLEL]
        shown = " ".join(f"{start}:{stop}" for start, stop in cut)
        for result, part_of in zip(phase.results, results, strict=True):
            phases += [Output(PhaseId(fresh()), phase.span, f"whole {count}", result.value),
                       Output(PhaseId(fresh()), phase.span, f"shard {count} {shown}", part_of.value)]  # fmt: skip
            count += 1
    if count:
        yield replace(bound, graph=replace(graph, phases=tuple(phases), types=types))


Transformation = Callable[[BoundGraph, random.Random], Transformed]
TRANSFORMATIONS: dict[str, tuple[Callable[[Drawing], None], Transformation]] = {
    "unrolled": (loops, unrolled_loops), "iteration_of": (loops, iterations), "hoist_arms": (branches, hoisted),
    "restrict": (phases, shards),
}  # fmt: skip
IN_KERNELS: dict[str, tuple[Callable[[Drawing], None], Any]] = {
    "join_chain": (rows, fusion_groups), "group_as_map": (stencils, fusion_groups),
    "merge_elementwise_loop": (elementwise_loops, region),
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
        outputs = backend.execute(backend.plan(bound), bound, drawing.inputs).outputs
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
    """The trial of a transformation of compiled code, which is all that runs; it changes a program for which it is called and
    returns something."""
    module, calls = IN_KERNELS[name][1], 0
    original = getattr(module, name)

    def counted(*args: Any) -> Any:
        nonlocal calls
        found = original(*args)
        calls += found is not None
        return found

    with ExitStack() as stack:
        stack.enter_context(kernels("always"))
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
