"""Shards of phases: any tiling into boxes gives the bits of the whole, for every phase of random programs."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import numpy as np
import pytest
from share import seeds
from values import is_within

from rho.backend.cpu.backend import CpuBackend
from rho.backend.cpu.views import DTYPES
from rho.backend.distributed.steps import KernelCache, ShardOutputKind, combine, compile_shard
from rho.backend.graph import traverse
from rho.backend.graph.bind_sizes import bind
from rho.backend.graph.lowering.blocks import lower
from rho.backend.graph.passes.pipeline import optimise
from rho.backend.graph.phases import Graph, LibraryPhase, Structured
from rho.backend.schedule.program_facts.partitioning import Cut, box_of, cuts_of, shape_of, space_of
from rho.backend.schedule.verify.judge import is_tiled
from rho.backend.vm.input_sizes import bind_sizes
from rho.backend.vm.run_state import Types
from rho.lang.diagnostics.model import RhoError
from rho.tests.backend.cut_reads import boxes_of
from rho.tests.backend.test_differential import DECLARED, PROGRAMS
from rho.tests.graph.test_random import program
from rho.tests.harness.tiers import EVERY_PASS, checked
from rho.typechecker.elements import Kind

BLAS = {"contract", "fft", "ifft", "rfft", "irfft", "inverse", "solve", "cholesky", "qr", "svd", "eigh", "det", "slogdet"}


def values(graph: Graph, rng: np.random.Generator, value: int) -> np.ndarray:  # type: ignore[type-arg]
    type = graph.types[value]  # type: ignore[index]
    shape = tuple(size.evaluate({}) for size in type.shape)
    kind = type.element.kind
    if kind in (Kind.F64, Kind.F32, Kind.C64, Kind.C128):
        return rng.standard_normal(shape).astype(DTYPES[kind])
    if kind is Kind.BOOL:
        return rng.random(shape) < 0.5
    return rng.integers(0, 3, shape).astype(DTYPES[kind])


def rows(cut: Cut, random: random.Random) -> Iterator[tuple[int, int]]:
    ends = sorted({0, cut.rows, *(random.randrange(cut.rows + 1) for _ in range(3))})
    return itertools.pairwise(ends)


def check_phase(phase: Structured | LibraryPhase, graph: Graph, seed: int) -> int:
    """Cut a phase in every way there is; the number of cuts."""
    rng, chance, backend = np.random.default_rng(seed), random.Random(seed), CpuBackend()
    cuts = cuts_of(phase, graph.types)
    if not cuts:
        return 0
    types = Types(graph.types, {}, ())
    operands = {value: values(graph, rng, value) for value in traverse.operands(phase)}
    with backend.quiet():
        try:
            kernel = backend.structured(phase, types) if isinstance(phase, Structured) else backend.library(phase, types)
            whole = kernel(operands, None)
        except RhoError:
            return 0
        except AssertionError as error:
            assert "was proved" in str(error)  # the operands drawn here need not be what the program gives
            return 0
        for cut in cuts:
            space = space_of(phase, graph.types)
            assert space is not None
            boxes = [box_of(cut, space, first, stop) for first, stop in rows(cut, chance)]
            assert is_tiled(box_of(cut, space, 0, cut.rows), boxes)
            assert not is_tiled(box_of(cut, space, 0, cut.rows), boxes[1:])
            made: dict[int, list] = {value: [] for value in traverse.results(phase)}  # type: ignore[type-arg]
            known: KernelCache = {}
            for box in boxes:
                makes = ShardOutputKind.PARTIALS if cut.combines else ShardOutputKind.RESULTS

                def take(value, part, full):  # type: ignore[no-untyped-def]
                    array = operands[value]
                    index = tuple(slice(a, b) for a, b in part)
                    if not full:
                        return array[index]
                    target = np.full(array.shape, array.dtype.type(1))
                    target[index] = array[index]
                    return target

                for one in compile_shard(phase, box, makes, types, backend, known)(take, lambda value, part: None):
                    made[one.value].append((one.box, one.array))
            for value, expected in zip(traverse.results(phase), whole, strict=True):
                if cut.combines:
                    assert isinstance(phase, Structured | LibraryPhase)
                    found = combine(phase, value, made[value], types, backend)
                else:
                    found = np.empty(shape_of(value, graph.types), expected.dtype)
                    for box, array in made[value]:
                        found[tuple(slice(a, b) for a, b in box)] = array
                if isinstance(phase, LibraryPhase) and phase.op in BLAS:
                    assert is_within(found, expected)
                else:
                    assert np.array_equal(found, expected, equal_nan=expected.dtype.kind in "fc"), (phase, cut)
    return len(cuts)


def check_graph(graph: Graph, seed: int) -> int:
    return sum(check_phase(p, graph, seed) for p in graph.phases if isinstance(p, Structured | LibraryPhase))


@pytest.mark.parametrize("part", range(4))
def test_phases_of_random_programs(part: int) -> None:
    cut = 0
    for seed in seeds(400)[part::4]:
        build = program(seed)
        core = build.core()
        sizes = bind_sizes(core, {name: value.shape for name, value in build.data.items()}, {})
        for without in (frozenset[str](), EVERY_PASS):
            cut += check_graph(bind(optimise(lower(core), without), sizes).graph, seed)
    assert cut > 20


@pytest.mark.parametrize("shape", [(7, 5, 3), (40, 1, 9), (9001, 6, 5)])
def test_phases_of_written_programs(shape: tuple[int, int, int]) -> None:
    n, r, c = shape
    cut = 0
    for text in PROGRAMS:
        core = checked(DECLARED + text)
        if core is None or (n > 1000 and not text.count("/")):
            continue
        shapes = {e.name: tuple(s.evaluate({v: {"n": n, "r": r, "c": c}.get(v.name, 3) for v in s.variables()}) for s in
                  core.types[e.value].shape) for e in core.inputs}  # fmt: skip
        try:
            graph = bind(optimise(lower(core)), bind_sizes(core, shapes, {})).graph
        except RhoError:
            continue
        cut += check_graph(graph, n)
    assert cut > 20


def test_boxes_of_a_grid_tile_it() -> None:
    boxes = boxes_of((10, 12), {0: (5, 5), 1: (6, 6)})
    assert boxes == (((0, 5), (0, 6)), ((0, 5), (6, 12)), ((5, 10), (0, 6)), ((5, 10), (6, 12)))
    assert is_tiled(((0, 10), (0, 12)), boxes)
    assert not is_tiled(((0, 10), (0, 12)), boxes[:3])
    assert not is_tiled(((0, 10), (0, 12)), (*boxes, ((0, 1), (0, 1))))
    assert not is_tiled(((0, 10), (0, 12)), (boxes[0], boxes[0], boxes[2], boxes[3]))


def test_shards_that_differ_in_place_alone_have_one_kernel() -> None:
    core = checked("input x : f64[n]\noutput y ← 1+x×x\n")
    assert core is not None
    bound = bind(optimise(lower(core)), bind_sizes(core, {"x": (60,)}, {}))
    (phase,) = [one for one in bound.graph.phases if isinstance(one, Structured)]
    types = Types(bound.graph.types, {}, ())
    known: KernelCache = {}
    for start in (0, 20, 40):
        compile_shard(phase, ((start, start + 20),), ShardOutputKind.RESULTS, types, CpuBackend(), known)
    assert len(known) == 1
    compile_shard(phase, ((0, 30),), ShardOutputKind.RESULTS, types, CpuBackend(), known)
    assert len(known) == 2
