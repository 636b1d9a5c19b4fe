"""Kernels over every layout: strides, broadcasts, reversals, transposes, cuts, tails, overwriting, unaligned memory."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from share import seeds

from rho.backend.cpu import parallel_for
from rho.backend.graph.phases import AxisNode, Node, Projection, SizeNode
from rho.backend.jit import tiering
from rho.backend.lower.loop_order import LANES, ROWS
from rho.backend.reference import reductions
from rho.tests.kernels.phases import apply, both, data, phase, projection, read, run, same_bits
from rho.typechecker.elements import Kind
from rho.typechecker.sizes.polynomials import number

FLOATS = (Kind.F32, Kind.F64)


def operand(draw: random.Random, space: list[int], kind: Kind) -> tuple[Any, Projection]:
    """An array, perhaps with odd strides of its own, and a way to read it over the space."""
    axes = [a for a in range(len(space)) if draw.random() < 0.75]
    draw.shuffle(axes)
    steps = [draw.choice((1, 1, 1, -1, 2, -3)) for _ in axes]
    starts = [draw.randrange(3) + (abs(s) * (space[a] - 1) if s < 0 else 0) for a, s in zip(axes, steps, strict=True)]
    shape = [start + max(s, 0) * (space[a] - 1) + 1 + draw.randrange(2) for a, s, start in zip(axes, steps, starts, strict=True)]
    shape = [max(n, start + 1) for n, start in zip(shape, starts, strict=True)]
    count = int(np.prod(shape))
    way = draw.randrange(4)
    if way == 0 and count:
        raw = bytearray(count * data(kind, 1, 0).itemsize + 1)
        array = np.frombuffer(raw, data(kind, 1, 0).dtype, count, 1)
        array[:] = data(kind, count, draw.randrange(99))
        array = array.reshape(shape)
    elif way == 1:
        array = data(kind, 2 * count, draw.randrange(99))[::2].reshape(shape)
    elif way == 2:
        array = np.array(data(kind, count, draw.randrange(99)).reshape(shape), order="F")
    else:
        array = data(kind, count, draw.randrange(99)).reshape(shape)
    return array, projection(space, shape, axes, steps, starts)


def spaces(draw: random.Random) -> list[int]:
    return [draw.choice((1, 2, 3, 5, 7, 16, 33, 60)) for _ in range(draw.randrange(1, 4))]


def body_of(draw: random.Random, kinds: list[Kind], space: list[int]) -> list[Node]:
    """Reads, a coordinate, and a few functions that all kinds have."""
    kind = kinds[0]
    body: list[Node] = [read(i, k) for i, k in enumerate(kinds)]
    for _ in range(draw.randrange(1, 5)):
        function = draw.choice(("and", "or") if kind is Kind.BOOL else ("add", "sub", "mul", "min", "max"))
        places = [i for i, n in enumerate(body) if getattr(n, "kind", None) is kind]
        body.append(apply(function, (draw.choice(places), draw.choice(places)), kind))
    if kind is Kind.I64:
        body.append(AxisNode(draw.randrange(len(space))))
        body.append(SizeNode(number(draw.randrange(-9, 9))))
        body.append(apply("mul", (len(body) - 1, len(body) - 2), kind))
        body.append(apply("add", (len(body) - 1, draw.randrange(len(kinds))), kind))
    return body


@pytest.mark.parametrize("seed", seeds(120))
def test_maps(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_for, "PARALLEL", 1)
    draw = random.Random(seed)
    space, kind = spaces(draw), draw.choice((Kind.BOOL, Kind.U8, Kind.I32, Kind.I64, *FLOATS))
    pairs = [operand(draw, space, kind) for _ in range(draw.randrange(1, 4))]
    body = body_of(draw, [kind] * len(pairs), space)
    made = phase(space, [p for _, p in pairs], body, sorted({len(body) - 1, len(pairs)}))
    for threads in (1, 3):
        for got, want in both(made, [a for a, _ in pairs], threads):
            assert same_bits(got, want)


@pytest.mark.parametrize("seed", seeds(120))
def test_reductions(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_for, "PARALLEL", 1)
    draw = random.Random(1000 + seed)
    space = [*spaces(draw), draw.choice((1, 2, 15, 16, 31, 255, 256, 257, 300, 1000))]
    kind = draw.choice((Kind.BOOL, Kind.U8, Kind.I32, Kind.I64, *FLOATS))
    reduction = draw.choice(("and", "or") if kind is Kind.BOOL else ("add", "mul", "min", "max"))
    pairs = [operand(draw, space, kind) for _ in range(draw.randrange(1, 3))]
    body = body_of(draw, [kind] * len(pairs), space)
    made = phase(space, [p for _, p in pairs], body, sorted({len(body) - 1, 0}), reduction)
    for threads in (1, 3):
        for got, want in both(made, [a for a, _ in pairs], threads):
            assert same_bits(got, want)


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("count", [1, 2, 17, 4095, 4096, 4097, 8192, 12289, 40961, 300_000])
def test_order_of_sums(kind: Kind, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole vectors, columns and rows are summed as `reference.sums` says, on any number of threads."""
    monkeypatch.setattr(parallel_for, "PARALLEL", 1)
    rng = np.random.default_rng(count)
    x = rng.standard_normal(count).astype(data(kind, 1, 0).dtype)
    one = phase([count], [projection([count], [count], [0])], [read(0, kind)], [0], "add")
    wanted = reductions.combine(list(x), lambda a, b: a + b) if count < 20000 else run(one, [x], tiering.Mode.OFF)[0]
    for threads in (1, 2, 5):
        assert same_bits(np.asarray(run(one, [x], tiering.Mode.ALWAYS, threads)[0]), np.asarray(wanted))
    tall = np.stack([x * f for f in range(1, 8)], 1)
    made = phase([7, count], [projection([7, count], tall.shape, [1, 0])], [read(0, kind)], [0], "add")
    for got, want in both(made, [tall], 2):
        assert same_bits(got, want) and same_bits(got[:1], np.asarray(wanted).reshape(1))


def test_negative_zeros() -> None:
    """The sum of ¯0.0 is ¯0.0, whatever lanes are absent."""
    for count in (1, 5, 256, 300, 5000):
        made = phase([count], [projection([count], [count], [0])], [read(0, Kind.F64)], [0], "add")
        assert np.signbit(run(made, [np.full(count, -0.0)], tiering.Mode.ALWAYS)[0])


def test_same_constants() -> None:
    assert (ROWS, LANES) == (reductions.ROWS, reductions.LANES)


def test_overwriting() -> None:
    """The result goes into a dying operand where that is laid out as the result."""
    x = np.arange(1001.0)
    made = phase([1001], [projection([1001], [1001], [0])], [read(0, Kind.F64), apply("mul", (0, 0), Kind.F64)], [1])
    target = x.copy()
    (result,) = run(made, [target], tiering.Mode.ALWAYS, overwrite=target)
    assert np.shares_memory(result, target) and np.array_equal(result, x * x)
    transposed = np.arange(12.0).reshape(3, 4)
    flip = phase([4, 3], [projection([4, 3], [3, 4], [1, 0])], [read(0, Kind.F64), apply("neg", (0,), Kind.F64)], [1])
    (result,) = run(flip, [transposed], tiering.Mode.ALWAYS)
    assert np.array_equal(result, -transposed.T)
