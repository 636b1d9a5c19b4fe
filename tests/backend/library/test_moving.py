"""Size vectors, join, stack, rotate, reshape: library ops agree with the reference interpreter."""

from __future__ import annotations

import itertools
import math

import pytest

from rho.backend.graph.registry import LIBRARY
from rho.backend.library.operation_table import OPERATIONS
from rho.backend.reference import arrays
from rho.backend.vm.values import array, scalar
from rho.tests.backend.library.agreeing import ALL, SHAPES, agree, compare, fresh, indices, lifted, run
from rho.typechecker.elements import Kind
from rho.typechecker.sizes.polynomials import number


def test_every_op_has_an_implementation() -> None:
    assert set(OPERATIONS) == set(LIBRARY)


def test_size_vector() -> None:
    for sizes in ((), (3,), (2, 0, -5)):
        found = run("size_vector", [], [(Kind.I64, (len(sizes),))], {"sizes": tuple(map(number, sizes))})
        assert found[0].tolist() == list(sizes)


@pytest.mark.parametrize("kind", ALL)
def test_join_and_stack(kind: Kind) -> None:
    for shape in SHAPES:
        many = [fresh(kind, shape, seed) for seed in range(3)]
        for count, axis in itertools.product((1, 3), range(len(shape) + 1)):
            compare("stack", many[:count], lambda *a, axis=axis: arrays.stack(a, axis), axis=axis)
        for axis in range(len(shape)):
            longer = fresh(kind, (*shape[:axis], shape[axis] + 2, *shape[axis + 1 :]), 7)
            compare("join", [*many[:2], longer], lambda *a, axis=axis: arrays.join(a, axis), axis=axis)
            compare("join", many[:1], lambda *a, axis=axis: arrays.join(a, axis), axis=axis)


def test_rotate() -> None:
    for shape in [*SHAPES[1:], (3, 70), (70, 2), (2, 65, 2)]:
        value = fresh(Kind.F64, shape)
        for axis in range(len(shape)):
            rest = shape[:axis] + shape[axis + 1 :]
            for amount in (
                scalar(Kind.I64, 0),
                scalar(Kind.I64, -2),
                scalar(Kind.I64, 2**63 - 1),
                indices(rest, 9, 3, -9),
                array(Kind.I64, rest, [-(2**63)] * math.prod(rest)),
            ):
                compare("rotate", [value, amount], lambda v, a, axis=axis: arrays.rotate(v, a, axis), axis=axis)


@pytest.mark.parametrize("kind", ALL)
def test_cycling_reshape(kind: Kind) -> None:
    for old, new in itertools.product(SHAPES, [*SHAPES, (17,), (3, 7)]):
        value = fresh(kind, old)
        results = [(kind, new)]
        found = run("reshape_cycle", [value], results, {})
        assert agree(found[0], arrays.reshape(value, new))
    lifted("reshape_cycle", [fresh(kind, (2, 3))], [True], (2,), lambda v: arrays.reshape(v, (2, 4)))
    lifted("reshape_cycle", [fresh(kind, (2, 0))], [True], (2,), lambda v: arrays.reshape(v, (3,)))
