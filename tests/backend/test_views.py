"""Compiled reads fetch what the projection says, point by point, for random chains of stages."""

from __future__ import annotations

import itertools
import random
from math import prod

import numpy as np
import pytest
from share import seeds

from rho.backend.cpu import views, views as deferred
from rho.backend.cpu.views import compile_view
from rho.backend.graph.phases import Affine, AffineIndex, Projection, Reshaped, Term
from rho.typechecker.sizes.polynomials import number

Shape = tuple[int, ...]


def box(rng: random.Random, rank: int | None = None) -> Shape:
    return tuple(rng.choice([1, 1, 2, 3, 4]) for _ in range(rng.randint(0, 3) if rank is None else rank))


def random_affine(rng: random.Random, space: Shape) -> Affine:
    """A stage from `space`; without fills its box is just large enough."""
    indices, shape = [], []
    fills = rng.random() < 0.4
    for _ in range(rng.randint(0, 3)):
        axes = rng.sample(range(len(space)), rng.randint(0, min(2, len(space))))
        terms = tuple(Term(axis, rng.choice([1, 1, 1, 2, -1])) for axis in sorted(axes))
        low = sum(min(0, t.coefficient * (space[t.axis] - 1)) for t in terms)
        high = sum(max(0, t.coefficient * (space[t.axis] - 1)) for t in terms)
        constant = rng.randint(-2, 3) if fills else rng.randint(0, 1) - low
        indices.append(AffineIndex(terms, number(constant)))
        shape.append(rng.choice([0, 1, 2, 4]) if fills else high + constant + 1 + rng.randint(0, 1))
    return Affine(tuple(indices), tuple(map(number, shape)), fills)


def refold(rng: random.Random, shape: Shape) -> Shape:
    """Another box with as many points."""
    left, made = prod(shape), []
    while left > 1:
        divisors = [d for d in range(2, left + 1) if left % d == 0]
        made.append(rng.choice(divisors))
        left //= made[-1]
    for _ in range(rng.randint(0, 2)):
        made.insert(rng.randint(0, len(made)), 1)
    return tuple(made) if prod(shape) else tuple(shape)


def fetch(projection: Projection, point: Shape, operand: np.ndarray, fill: int) -> int:  # type: ignore[type-arg]
    current = point
    for stage in projection.stages:
        if isinstance(stage, Affine):
            shape = [s.constant or 0 for s in stage.shape]
            current = tuple(
                (i.constant.constant or 0) + sum(t.coefficient * current[t.axis] for t in i.terms) for i in stage.indices
            )
            if not all(0 <= c < n for c, n in zip(current, shape, strict=True)):
                return fill
        else:
            source, target = ([s.constant or 0 for s in side] for side in (stage.source, stage.target))
            flat = int(np.ravel_multi_index(current, source)) if source else 0
            current = tuple(map(int, np.unravel_index(flat, target))) if target else ()
    return int(operand[current])


def chain(seed: int) -> tuple[random.Random, Shape, Projection, np.ndarray]:  # type: ignore[type-arg]
    """A space, stages of reads over it, and an operand."""
    rng = random.Random(seed)
    space = box(rng)
    current, stages = space, []
    for _ in range(rng.randint(1, 4)):
        if rng.random() < 0.35 and 0 not in current:
            target = refold(rng, current)
            stages.append(Reshaped(tuple(map(number, current)), tuple(map(number, target))))
            current = target
        else:
            stage = random_affine(rng, current)
            if 0 in current and not stage.fills:
                continue
            stages.append(stage)
            current = tuple(s.constant or 0 for s in stage.shape)
    operand = np.arange(prod(current)).reshape(current)
    if rng.random() < 0.5 and operand.ndim > 1:  # a strided operand reads the same
        operand = np.asfortranarray(operand)
    return rng, space, Projection(tuple(stages)), operand


@pytest.mark.parametrize("seed", seeds(400))
def test_chain(seed: int) -> None:
    _, space, projection, operand = chain(seed)
    view, varying = compile_view(projection, space, -7, lambda size: size.constant or 0)
    got = view(operand)
    assert got.shape == tuple(n if on else 1 for n, on in zip(space, varying, strict=True))
    whole = np.broadcast_to(got, space)
    for point in itertools.product(*map(range, space)):
        assert int(whole[point]) == fetch(projection, point, operand, -7), (projection, point)


@pytest.mark.parametrize("shortest", [1, 3, 32])
def test_boxes_of_what_is_deferred(shortest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However few items there are, every box has those of the chain, and copying all of them some at a time gives the same."""
    monkeypatch.setattr(views, "WHOLE", -1)
    monkeypatch.setattr(deferred, "WHOLE", -1)
    monkeypatch.setattr(deferred, "POINTS", 5)
    monkeypatch.setattr(deferred, "MAX_FETCHED", 7)
    monkeypatch.setattr(deferred, "MIN_DEFERRED", shortest)
    count = 0
    for seed in seeds(2000):
        rng, space, projection, operand = chain(seed)
        view, _ = compile_view(projection, space, -7, lambda size: size.constant or 0)
        got = view(operand)
        if not isinstance(got, deferred.DeferredView):
            continue
        count += 1
        wanted = np.array([fetch(projection, point, operand, -7) for point in itertools.product(*map(range, space))])
        wanted = np.broadcast_to(wanted.reshape(space), space)[tuple(slice(0, size) for size in got.shape)]
        assert np.array_equal(got.into(np.empty(got.shape, got.dtype)), wanted), (seed, projection)
        for _ in range(3):
            starts = [rng.randrange(size) for size in got.shape]
            part = tuple([slice(at, rng.randint(at + 1, size)) for at, size in zip(starts, got.shape, strict=True)])
            assert np.array_equal(got[part], wanted[part]), (seed, projection, part)
    assert count > 0
