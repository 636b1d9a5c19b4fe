"""Compress, replicate, expand, where: library ops agree with the reference interpreter."""

from __future__ import annotations

import numpy as np
import pytest

from rho.backend.graph.phases import LibraryPhase, PhaseId, ValueId
from rho.backend.library.operation import OperationContext
from rho.backend.library.operation_table import OPERATIONS
from rho.backend.reference import arrays
from rho.backend.vm.values import array, scalar
from rho.lang.diagnostics.model import RunFailed
from rho.tests.backend.library.agreeing import SHAPES, SPAN, compare, fresh, lifted
from rho.typechecker.elements import ArrayType, Element, Kind
from rho.typechecker.sizes.polynomials import SizeOrigin, SizeVariable, number


def test_masks() -> None:
    for shape in SHAPES[1:]:
        value = fresh(Kind.CHAR, shape)
        for rank in {1, len(shape)}:
            mask = fresh(Kind.BOOL, shape[:rank], 1)
            places = sum(map(bool, mask.data))
            for new in (fresh(Kind.CHAR, (places, *shape[rank:]), 2), scalar(Kind.CHAR, "z")):
                compare("mask_update", [value, mask, new], arrays.mask_update)
        for axis, length in enumerate(shape):
            mask = fresh(Kind.BOOL, (length,), 3)
            compare("compress", [mask, value], lambda m, v, axis=axis: arrays.compress(m, v, axis), axis=axis)
            wide = array(Kind.BOOL, (length + 2,), [True] * length + [False, False])
            compare("expand", [wide, value], lambda m, v, axis=axis: arrays.expand(m, v, axis), axis=axis, checked=True)
    short = [fresh(Kind.I64, (3,)), array(Kind.BOOL, (3,), [1, 1, 0]), array(Kind.I64, (1,), [7])]
    compare("mask_update", short, arrays.mask_update)
    compare("expand", [short[1], short[0]], lambda m, v: arrays.expand(m, v, 0), axis=0, checked=True)


def test_masks_over_frames() -> None:
    mask = array(Kind.BOOL, (2, 3), [1, 0, 1, 1, 1, 0])
    lifted(
        "mask_update",
        [fresh(Kind.I64, (2, 3)), mask, fresh(Kind.I64, (2, 2), 5)],
        (True, True, True),
        (2,),
        arrays.mask_update,
    )
    lifted(
        "expand",
        [mask, fresh(Kind.F64, (2, 2, 2))],
        (True, True),
        (2,),
        lambda m, v: arrays.expand(m, v, 0),
        axis=0,
        checked=True,
    )
    one = array(Kind.BOOL, (3,), [1, 0, 1])
    lifted(
        "expand",
        [one, fresh(Kind.F64, (2, 3, 2))],
        (False, True),
        (2, 3),
        lambda m, v: arrays.expand(m, v, 0),
        axis=0,
        checked=True,
    )
    lifted(
        "expand", [one, fresh(Kind.F64, (0, 3))], (False, True), (0,), lambda m, v: v, cell=(Kind.F64, (3,)), axis=0, checked=True
    )


def test_where_and_sizes() -> None:
    for shape in SHAPES:
        compare("where", [fresh(Kind.BOOL, shape, 4)], arrays.where)
    size = SizeVariable("k", 1, SizeOrigin.RUNTIME, number(5))
    types = {ValueId(0): ArrayType(Element(Kind.I64), ())}
    phase = LibraryPhase(PhaseId(0), SPAN, "runtime_size", (ValueId(0),), (), {}, (size,), ())
    context = OperationContext(types, {})
    assert OPERATIONS["runtime_size"].run(phase, (np.array(5),), context) == () and context.sizes == {size: 5}
    for bad in (-1, 6):
        with pytest.raises(RunFailed) as caught:
            OPERATIONS["runtime_size"].run(phase, (np.array(bad),), context)
        assert caught.value.diagnostics[0].code == "E403"
