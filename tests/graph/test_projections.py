"""Projections: composing and simplifying never changes where a point leads; boxes hold every point that is read."""

from __future__ import annotations

import itertools
import random

import pytest
from share import seeds

from rho.backend.graph.passes.usage import at_most_once, major_cells_read, multiplicity
from rho.backend.graph.phases import (
    Affine,
    AffineIndex,
    Projection,
    Reshaped,
    Shape,
    Stage,
    Term,
    affine,
    axis_index,
    box_needed,
    compose,
    constant_index,
    is_identity,
    leaves_bounds,
    may_fill,
    simplify,
    sizes_of,
    target,
)
from rho.typechecker.sizes.polynomials import ONE, ZERO, SizeOrigin, SizeVariable, number, variable
from rho.typechecker.sizes.size import maximum
from rho.typechecker.usage.backward_analysis import ONCE

N = variable(SizeVariable("n", 1, SizeOrigin.INPUT))
M = variable(SizeVariable("m", 2, SizeOrigin.INPUT))


def apply(stages: tuple[Stage, ...], point: tuple[int, ...]) -> tuple[int, ...] | None:
    for stage in stages:
        if isinstance(stage, Affine):
            point = tuple((i.constant.constant or 0) + sum(t.coefficient * point[t.axis] for t in i.terms) for i in stage.indices)
            if not all(0 <= p < (s.constant or 0) for p, s in zip(point, stage.shape, strict=True)):
                assert stage.fills
                return None
        else:
            flat = 0
            for p, s in zip(point, stage.source, strict=True):
                flat = flat * (s.constant or 0) + p
            found = []
            for s in reversed(stage.target):
                found.append(flat % (s.constant or 1))
                flat //= s.constant or 1
            point = tuple(reversed(found))
    return point


def random_chain(r: random.Random) -> tuple[Shape, tuple[Stage, ...]]:
    """A chain on numbers: reversals, permutations, slices with fills, broadcasts, windows, reshapes."""
    space = tuple(r.choice([1, 2, 3, 4]) for _ in range(r.randint(1, 3)))
    box = space
    stages: list[Stage] = []
    for _ in range(r.randint(1, 5)):
        rank = len(box)
        kind = r.randrange(6)
        if kind == 0:
            order = r.sample(range(rank), rank)
            stage: Stage = Affine(tuple(axis_index(a) for a in order), sizes_of([box[a] for a in order]))
        elif kind == 1:
            stage = Affine(tuple(AffineIndex((Term(a, -1),), number(box[a] - 1)) for a in range(rank)), sizes_of(box))
        elif kind == 2:
            starts = [r.randint(-1, 2) for _ in box]
            shape = [r.randint(1, n + 2) for n in box]
            stage = Affine(tuple(AffineIndex((Term(a, 1),), number(s)) for a, s in enumerate(starts)), sizes_of(shape), True)
        elif kind == 3 and rank > 1:
            joined = AffineIndex((Term(0, 1), Term(1, 1)), ZERO)
            rest = [axis_index(a) for a in range(2, rank)]
            stage = Affine((joined, *rest, constant_index(ONE)), sizes_of([box[0] + box[1] - 1, *box[2:], 2]))
        elif kind == 4:  # one step of an axis that a reshape then takes apart
            length, many = r.choice([(4, (2, 2)), (6, (3, 2)), (6, (2, 3, 1)), (3, (3,)), (1, (1, 1))])
            at, where = r.randrange(length), r.randint(0, rank)
            picked = [axis_index(a) for a in range(rank)]
            picked.insert(where, constant_index(number(at)))
            stages.append(Affine(tuple(picked), sizes_of([*box[:where], length, *box[where:]])))
            stage = Reshaped(sizes_of([*box[:where], length, *box[where:]]), sizes_of([*box[:where], *many, *box[where:]]))
        else:
            total = 1
            for n in box:
                total *= n
            divisor = r.choice([d for d in range(1, total + 1) if total % d == 0])
            stage = Reshaped(sizes_of(box), sizes_of(r.choice([[divisor, total // divisor], [total], [1, total, 1]])))
        stages.append(stage)
        shape_now = stage.shape if isinstance(stage, Affine) else stage.target
        box = tuple(s.constant or 0 for s in shape_now)
    return sizes_of(space), tuple(stages)


@pytest.mark.parametrize("seed", seeds(150))
def test_simplified_chains_lead_to_the_same_elements(seed: int) -> None:
    space, stages = random_chain(random.Random(seed))
    numbers = [s.constant or 0 for s in space]
    cut = seed % (len(stages) + 1)
    once = simplify(space, stages)
    middle = target(space, simplify(space, stages[:cut]))
    split = compose(space, simplify(space, stages[:cut]), simplify(middle, stages[cut:]))
    points = list(itertools.product(*map(range, numbers)))
    where = [apply(stages, p) for p in points]
    assert [apply(once.stages, p) for p in points] == where
    assert [apply(split.stages, p) for p in points] == where
    read = [w for w in where if w is not None]
    grade = multiplicity(space, once)
    for element in itertools.product(*(range(s.constant or 0) for s in target(space, once))):
        assert grade.holds(read.count(element), {}), (element, str(grade))
    r = random.Random(seed)
    box = tuple((a, r.randint(a, n)) for n in numbers for a in [r.randint(0, n - 1)])
    needed = box_needed(numbers, once, box)
    for p in itertools.product(*(range(*b) for b in box)):
        w = apply(once.stages, p)
        assert w is None or all(lo <= x < hi for x, (lo, hi) in zip(w, needed, strict=True))


def test_transposing_twice_and_reversing_twice_is_the_identity() -> None:
    space = (N, M)
    flip = affine(space, [axis_index(1), axis_index(0)], (M, N))
    assert is_identity(space, compose(space, flip, affine((M, N), [axis_index(1), axis_index(0)], space)), space)
    back = affine((N,), [AffineIndex((Term(0, -1),), N - 1)], (N,))
    assert is_identity((N,), compose((N,), back, back), (N,))


def test_reshapes_compose_and_unit_axes_are_affine() -> None:
    ravel = Projection((Reshaped((N * M,), (N, M)),))
    unravel = Projection((Reshaped((N, M), (N * M,)),))
    assert is_identity((N, M), compose((N, M), unravel, ravel), (N, M))
    unit = simplify((N, ONE, M), (Reshaped((N, ONE, M), (N, M)),))
    assert all(isinstance(s, Affine) for s in unit.stages)


def test_a_reshape_of_steps_that_are_known_is_affine() -> None:
    step = affine((N, M), [axis_index(0), axis_index(1), constant_index(number(5))], (N, M, number(9)))
    window = Projection((Reshaped((N, M, number(9)), (N, M, number(3), number(3))),))
    (stage,) = compose((N, M), step, window).stages
    assert isinstance(stage, Affine)
    assert stage.indices == (axis_index(0), axis_index(1), constant_index(ONE), constant_index(number(2)))


def test_fills_go_where_bounds_are_evident() -> None:
    drop = affine((N - 1,), [AffineIndex((Term(0, 1),), ONE)], (N,), fills=True)
    total_drop = affine((maximum(ZERO, N - 1),), [AffineIndex((Term(0, 1),), ONE)], (N,), fills=True)
    over = affine((N + 1,), [AffineIndex((Term(0, 1),), ZERO)], (N,), fills=True)
    assert not may_fill(drop)
    assert not may_fill(total_drop)
    assert may_fill(over)


def test_what_is_known_of_an_index_does_not_hang_on_axes_that_it_does_not_mention() -> None:
    """Where an empty axis becomes a point (of a map that has no iterations), the read still fills."""
    three, two = number(3), number(2)
    for space in ((ZERO, three), (three, ZERO)):
        long = space.index(three)
        beside = affine(space, [axis_index(long)], (two,), fills=True)
        assert may_fill(beside)
        assert not may_fill(affine(space, [AffineIndex((Term(0, 1), Term(1, 1)), ONE)], (two,), fills=True)), "it has no value"
        sizes = [3 if size == three else 0 for size in space]
        assert leaves_bounds(sizes, Affine((axis_index(long),), (two,)))
        assert not leaves_bounds(sizes, Affine((AffineIndex((Term(0, 1), Term(1, 1)), ONE),), (two,)))


def test_a_fill_is_kept_when_a_later_step_would_hide_it() -> None:
    over = affine((N + 1,), [AffineIndex((Term(0, 1),), ZERO)], (N,), fills=True)
    back = affine((N,), [AffineIndex((Term(0, -1),), N - 1)], (N,))
    assert len(compose((N + 1,), over, back).stages) == 2


def test_how_often_windows_broadcasts_and_transpositions_read() -> None:
    windows = affine((N - 1, number(2)), [AffineIndex((Term(0, 1), Term(1, 1)), ZERO)], (N,))
    assert str(multiplicity((N - 1, number(2)), windows)) == "0..2"
    assert str(multiplicity((N, M), affine((N, M), [axis_index(0)], (N,)))) == "m"
    assert multiplicity((N, M), affine((N, M), [axis_index(1), axis_index(0)], (M, N))) == ONCE
    assert multiplicity((N,), affine((N,), [axis_index(0), axis_index(0)], (N, N))) == ONCE.at_most()
    sums = [AffineIndex((Term(0, k), Term(1, k)), ZERO) for k in (1, 2)]
    assert not at_most_once(multiplicity((N, M), affine((N, M), sums, (N + M, N * 2 + M * 2)))), "both say the same"


@pytest.mark.parametrize("coefficient", [-2, -1, 1, 2])
@pytest.mark.parametrize("length", [1, 3, 4])
def test_parts_are_the_cells_that_are_read(coefficient: int, length: int) -> None:
    """Or nothing is said of them: two parts that share no cell read no element twice."""
    for constant in range(9):
        cells = [constant + coefficient * i for i in range(length)]
        if min(cells) < 0 or max(cells) > 8:
            continue
        index = AffineIndex((Term(0, coefficient),), number(constant))
        space = (number(length), number(2))
        part = major_cells_read(space, Projection((Affine((index, axis_index(1)), (number(9), number(2))),)))
        if part is not None:
            assert sorted(cells) == list(range(part.start.constant or 0, part.stop.constant or 0))
            assert part.demand == ONCE and part.covers_axes
        assert part is not None or abs(coefficient) == 2
