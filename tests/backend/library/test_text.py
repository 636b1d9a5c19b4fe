"""Random numbers, formatted text, cells that are scalars: library ops agree with the reference interpreter."""

from __future__ import annotations

import numpy as np
import pytest

from rho.backend.cpu.backend import CpuBackend
from rho.backend.graph.phases import LibraryPhase, PhaseId, ValueId
from rho.backend.library.operation import OperationContext
from rho.backend.reference.interpreter import uniform
from rho.backend.vm.values import Array, array, format_items, scalar
from rho.tests.backend.library.agreeing import ALL, SHAPES, SPAN, agree, compare, fresh, lifted, run
from rho.typechecker.elements import ArrayType, Element, Kind
from rho.typechecker.sizes.polynomials import number


def test_random() -> None:
    for shape in [*SHAPES, (1000,)]:
        for key in (scalar(Kind.I64, 7), scalar(Kind.I64, -(2**63)), array(Kind.I64, (2,), [3, -4])):
            compare_shape = [(Kind.F64, shape)]
            assert agree(run("random", [key], compare_shape, {})[0], uniform(key, shape))
    lifted("random", [array(Kind.I64, (3,), [1, 2, 3])], (True,), (3,), lambda key: uniform(key, (2, 2)))
    lifted("random", [array(Kind.I64, (2, 2), [1, 2, 3, 4])], (True,), (2,), lambda key: uniform(key, (5,)))


@pytest.mark.parametrize("kind", ALL)
def test_format(kind: Kind) -> None:
    def reference(value: Array) -> Array:
        characters, shape = format_items(value.kind, value.data, value.shape)
        return Array(Kind.CHAR, shape, tuple(characters))

    for shape in SHAPES:
        compare("format", [fresh(kind, shape, 2)], reference)


def test_kernels_take_items_from_cells() -> None:
    """A cell of rank 0 reaches a kernel as a NumPy scalar."""

    types = {ValueId(place): ArrayType(Element(Kind.I64), shape) for place, shape in enumerate([(), (), (number(2),)])}
    phase = LibraryPhase(PhaseId(0), SPAN, "stack", (ValueId(0), ValueId(1)), (ValueId(2),), {"axis": 0}, (), ())
    kernel = CpuBackend().library(phase, OperationContext(types, {}))
    assert kernel({ValueId(0): np.int64(4), ValueId(1): np.array(5)}, None)[0].tolist() == [4, 5]
