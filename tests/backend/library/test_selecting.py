"""Gathers and updates: library ops agree with the reference interpreter."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from rho.backend.reference import arrays
from rho.backend.vm.values import Array, array, scalar
from rho.tests.backend.library.agreeing import SHAPES, compare, fresh, indices, lifted, run
from rho.typechecker.elements import Kind


@pytest.mark.parametrize("kind", [Kind.BOOL, Kind.CHAR, Kind.F64])
def test_gather(kind: Kind) -> None:
    for shape, own, fills in itertools.product(SHAPES[1:], [(), (0,), (4,), (2, 2)], (False, True)):
        for axis, length in enumerate(shape):
            if not length and math.prod(own) and not fills:
                continue
            chosen = indices(own, length, 5, -1 if fills else 0)
            value = fresh(kind, shape)
            compare(
                "gather",
                [value, chosen],
                lambda v, i, axis=axis, fills=fills: arrays.gather(v, i, axis, True, fills),
                axis=axis,
                checked=True,
                fills=fills,
            )


def test_gather_checks_every_index() -> None:
    value = fresh(Kind.F64, (3, 2))
    for bad, fills in (([0, 3], False), ([1, -1, 5], False), ([-2], True), ([2**62], False)):
        compare(
            "gather",
            [value, array(Kind.I64, (len(bad),), bad)],
            lambda v, i, fills=fills: arrays.gather(v, i, 0, True, fills),
            axis=0,
            checked=True,
            fills=fills,
        )
    with pytest.raises(AssertionError):
        run("gather", [value, array(Kind.I64, (1,), [-1])], [(Kind.F64, (1, 2))], {"axis": 0, "checked": False, "fills": False})
    compare(
        "gather",
        [fresh(Kind.F64, (0, 2)), array(Kind.I64, (1,), [0])],
        lambda v, i: arrays.gather(v, i, 0, True, False),
        axis=0,
        checked=True,
        fills=False,
    )


@pytest.mark.parametrize("framed", [(True, True), (True, False), (False, True)])
def test_gather_over_frames(framed: tuple[bool, bool]) -> None:
    for frame, cell, own, fills in itertools.product(
        [(2,), (2, 3)], [(4,), (3, 4), (2, 3, 4)], [(), (2,), (2, 2)], (False, True)
    ):
        for axis, length in enumerate(cell):
            value = fresh(Kind.I64, (*frame, *cell) if framed[0] else cell)
            chosen = indices((*frame, *own) if framed[1] else own, length, 1, -1 if fills else 0)
            lifted(
                "gather",
                [value, chosen],
                framed,
                frame,
                lambda v, i, axis=axis, fills=fills: arrays.gather(v, i, axis, True, fills),
                axis=axis,
                checked=True,
                fills=fills,
            )
    nothing = [fresh(Kind.I64, (0, 4) if framed[0] else (4,)), indices((0, 2), 3) if framed[1] else array(Kind.I64, (2,), [9, 9])]
    lifted("gather", nothing, framed, (0,), lambda v, i: v, cell=(Kind.I64, (2,)), axis=0, checked=True, fills=False)


def test_update() -> None:
    cases: list[tuple[tuple[int, ...], tuple[tuple[int, ...] | None, ...]]] = [
        ((5,), ((),)),
        ((5,), ((4,),)),
        ((5,), ((2, 3),)),
        ((5,), ((0,),)),
        ((3, 4), ((2,), None)),
        ((3, 4), (None, (6,))),
        ((3, 4), ((4,), (3,))),
        ((3, 4), ((), ())),
        ((3, 4), (None, None)),
        ((2, 3, 4), ((3,), None, (2,))),
        ((), ()),
        ((0, 3), (None, (2,))),
        ((3, 0), ((2,), None)),
        ((2, 3, 2), (None, (5,), None)),
    ]
    for shape, choice in cases:
        value = fresh(Kind.I64, shape)
        present = [indices(own, shape[axis], axis) for axis, own in enumerate(choice) if own is not None]
        selected = tuple(n for axis, own in enumerate(choice) for n in ((shape[axis],) if own is None else own))
        attributes = {"indexed": tuple(own is not None for own in choice), "checked": True}

        def reference(v: Array, *rest: Array, choice: Any = choice) -> Array:
            supply = iter(rest[:-1])
            return arrays.update(v, [None if own is None else next(supply) for own in choice], rest[-1], True)

        for new in (fresh(Kind.I64, selected, 9), scalar(Kind.I64, 42)):
            compare("update", [value, *present, new], reference, **attributes)
            frame = (2,)
            for flags in itertools.product((False, True), repeat=2 + len(present)):
                if any(flags):
                    own = [fresh(Kind.I64, (2, *shape), 4) if flags[0] else value]
                    own += [
                        array(Kind.I64, (2, *p.shape), p.data + p.data[::-1]) if f else p
                        for p, f in zip(present, flags[1:-1], strict=True)
                    ]
                    own += [fresh(Kind.I64, (2, *new.shape), 6) if flags[-1] else new]
                    lifted("update", own, flags, frame, reference, **attributes)
    compare(
        "update",
        [fresh(Kind.I64, (3,)), array(Kind.I64, (2,), [0, 3]), scalar(Kind.I64, 1)],
        lambda v, i, r: arrays.update(v, [i], r, True),
        indexed=(True,),
        checked=True,
    )


def test_the_last_of_many_duplicates_wins() -> None:
    count = 20_000
    draw = np.random.default_rng(0)
    chosen, new = draw.integers(0, 7, count), np.arange(count)
    want = np.zeros(9, np.int64)
    for i, v in zip(chosen.tolist(), new.tolist(), strict=True):
        want[i] = v
    vectors = [
        array(Kind.I64, (9,), [0] * 9),
        array(Kind.I64, (count,), chosen.tolist()),
        array(Kind.I64, (count,), new.tolist()),
    ]
    assert run("update", vectors, [(Kind.I64, (9,))], {"indexed": (True,), "checked": True}, True)[0].tolist() == want.tolist()
    rows = [array(Kind.I64, (9, 2), [0] * 18), vectors[1], array(Kind.I64, (count, 2), np.repeat(new, 2).tolist())]
    found = run("update", rows, [(Kind.I64, (9, 2))], {"indexed": (True, False), "checked": True}, True)[0]
    assert found[:, 0].tolist() == found[:, 1].tolist() == want.tolist()
