"""Scans, keyed reductions, products, decode and encode: library ops agree with the reference interpreter."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence

import numpy as np
import pytest

from rho.backend.cpu.views import DTYPES
from rho.backend.library import scans_and_generators
from rho.backend.reference import reductions
from rho.backend.vm.check_failures import CheckFailed
from rho.backend.vm.values import Array, array, scalar
from rho.lang.diagnostics.model import RunFailed
from rho.tests.backend.library.agreeing import ALL, NUMBERS, agree, compare, fresh, indices, lifted, run
from rho.typechecker.elements import FUNCTIONS, Kind, ResultKind

DYADIC = [
    (row.name, kind)
    for row in FUNCTIONS.values()
    if row.arity == 2
    for kind in ALL
    if kind in row.kinds and kind is not Kind.CHAR
]
ROUNDED = {"pow", "log", "root", "binomial", "residue", "gcd", "lcm", "div", "mul", "atan2"}


CHAOTIC = {"pow", "log", "root", "binomial", "residue"}
"""Of complex numbers: at a pole the result is not fixed, and repeated application magnifies rounding."""


def operands(function: str, kind: Kind, shape: Sequence[int]) -> Array:
    if function == "ipow":  # a greater base overflows into negative exponents
        return array(kind, shape, [random.Random(i).randint(0, 2) for i in range(math.prod(shape))])
    if function in ("min", "max") and kind.is_float:  # which of 0.0 and ¯0.0 is smaller is not fixed
        return array(kind, shape, [v + 0.0 for v in fresh(kind, shape, 11).data])  # type: ignore[operator]
    if function in CHAOTIC and kind.is_complex:
        return array(kind, shape, [v or 1.5 for v in fresh(kind, shape, 11, plain=True).data])
    if function in ("gcd", "lcm") and (kind.is_float or kind.is_complex):
        return array(kind, shape, [random.Random(i).randint(1, 12) for i in range(math.prod(shape))])
    return fresh(kind, shape, 11, plain=function in ROUNDED)


@pytest.mark.parametrize(("function", "kind"), DYADIC)
def test_scans(function: str, kind: Kind) -> None:
    tolerance = 64.0 if function in ROUNDED and (kind.is_float or kind.is_complex) else 0.0
    if kind.is_complex:
        tolerance = 64.0
    for shape in [(0,), (1,), (2,), (3,), (9,), (4, 3), (3, 11), (0, 2), (2, 0), (2, 5, 2), (0, 0)]:
        value = operands(function, kind, shape)
        for axis in range(len(shape)):
            if kind.is_complex and function in CHAOTIC and shape[axis] > 2:
                continue
            compare(
                "scan", [value], lambda v, axis=axis: reductions.scan(function, v, axis), tolerance, function=function, axis=axis
            )


@pytest.mark.parametrize("function", ["nand", "nor", "eq", "ne", "lt", "le", "ge", "gt"])
def test_truth_functions_on_every_short_vector(function: str) -> None:
    for length in range(1, 7):
        items = list(itertools.product((False, True), repeat=length))
        value = array(Kind.BOOL, (len(items), length), [v for row in items for v in row])
        compare("scan", [value], lambda v: reductions.scan(function, v, 1), function=function, axis=1)


@pytest.mark.parametrize(
    ("function", "kind"), [row for row in DYADIC if row[1] in (Kind.BOOL, Kind.I64, Kind.U8, Kind.F32, Kind.F64)]
)
def test_keyed_reductions(function: str, kind: Kind) -> None:
    tolerance = 64.0 if function in ROUNDED - {"mul"} and kind.is_float else 0.0
    has_identity = FUNCTIONS[function].identity is not None
    for own, cell in itertools.product([(0,), (1,), (12,), (3, 4)], [(), (2,), (0,), (70,)]):
        chosen = indices(own, 3 if not has_identity else 4, 8)
        bins = 4 if has_identity else len(set(chosen.data)) or 3
        if not has_identity:
            order = {v: i for i, v in enumerate(sorted(set(chosen.data)))}  # type: ignore[type-var]
            chosen = array(Kind.I64, own, [order[v] for v in chosen.data])
        value = operands(function, kind, (*own, *cell))

        def reference(i: Array, v: Array, bins: int = bins) -> Array:
            return reductions.key_reduce(function, i, v, bins, True)

        try:
            want = reference(chosen, value)
        except CheckFailed as failure:
            with pytest.raises(RunFailed) as caught:
                run("key_reduce", [chosen, value], [(kind, (bins, *cell))], {"function": function, "checked": True})
            assert caught.value.diagnostics[0].code == failure.code == "E204"
            continue
        found = run("key_reduce", [chosen, value], [(want.kind, want.shape)], {"function": function, "checked": True}, True)
        assert agree(found[0], want, tolerance), (function, kind, chosen, value, found, want)
    for framed in ((True, True), (False, True), (True, False)):
        chosen = array(Kind.I64, (2, 4), [0, 1, 1, 0, 1, 0, 1, 1]) if framed[0] else array(Kind.I64, (4,), [1, 0, 1, 1])
        value = operands(function, kind, (2, 4, 2) if framed[1] else (4, 2))
        lifted(
            "key_reduce",
            [chosen, value],
            framed,
            (2,),
            lambda i, v: reductions.key_reduce(function, i, v, 2, True),
            tolerance,
            function=function,
            checked=True,
        )


@pytest.mark.parametrize("block", [7, 1 << 16])
def test_keyed_sums_keep_order_and_signs(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scans_and_generators, "BIN_BLOCK", block)
    draw = random.Random(5)
    for cell in ((2,), (20,)):
        values = array(
            Kind.C128, (40, *cell), [complex(draw.choice([-0.0, 0.0, 1e16, 1.0, -1e16]), -0.0) for _ in range(40 * cell[0])]
        )
        chosen = indices((40,), 7, 3)
        compare(
            "key_reduce", [chosen, values], lambda i, v: reductions.key_reduce("add", i, v, 9, True), function="add", checked=True
        )  # type: ignore[arg-type]
    for kind in (Kind.F32, Kind.F64):
        value = array(kind, (300,), [draw.choice([1e8, -1e8, 1.0, 0.1, 1e-9]) for _ in range(300)])
        chosen = indices((300,), 4, 2)
        compare(
            "key_reduce", [chosen, value], lambda i, v: reductions.key_reduce("add", i, v, 4, True), function="add", checked=True
        )  # type: ignore[arg-type]
    value = array(Kind.F64, (5,), [-0.0, -0.0, 0.0, -0.0, 1.0])
    compare(
        "key_reduce",
        [array(Kind.I64, (5,), [0, 1, 1, 2, 2]), value],
        lambda i, v: reductions.key_reduce("add", i, v, 4, True),
        function="add",
        checked=True,
    )


def test_keyed_reduction_of_large_groups() -> None:
    draw = random.Random(1)
    chosen = array(Kind.I64, (900,), [draw.choice([0, 0, 0, 1, 2]) for _ in range(900)])
    for function, kind in (("sub", Kind.I64), ("lcm", Kind.I32), ("lt", Kind.F64), ("nand", Kind.BOOL)):
        value = operands(function, kind, (900,))
        run_want = reductions.key_reduce(function, chosen, value, 3, True)
        found = run("key_reduce", [chosen, value], [(kind, (3,))], {"function": function, "checked": True})
        assert agree(found[0], run_want)


def test_keys_are_checked() -> None:
    bad = [array(Kind.I64, (3,), [0, 3, 1]), fresh(Kind.F64, (3,))]
    with pytest.raises(RunFailed) as caught:
        run("key_reduce", bad, [(Kind.F64, (3,))], {"function": "add", "checked": True})
    assert caught.value.diagnostics[0].code == "E310"


@pytest.mark.parametrize("kind", NUMBERS)
def test_contract(kind: Kind) -> None:
    tolerance = 0.0 if kind.is_integer else 32.0
    for left, right in [
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((3,), (3, 2)),
        ((2, 3), (3, 4)),
        ((2, 2, 3), (3, 2, 2)),
        ((0,), (0,)),
        ((2, 0), (0, 3)),
        ((0, 3), (3, 2)),
        ((9, 12), (12, 10)),
    ]:
        plain = not kind.is_integer
        compare("contract", [fresh(kind, left, plain=plain), fresh(kind, right, 1, plain=plain)], reductions.contract, tolerance)
    for framed in ((True, True), (False, True), (True, False)):
        left_cell = fresh(kind, (2, 2, 3) if framed[0] else (2, 3), 2, plain=True)
        right_cell = fresh(kind, (2, 3, 4) if framed[1] else (3, 4), 3, plain=True)
        lifted("contract", [left_cell, right_cell], framed, (2,), reductions.contract, tolerance)


@pytest.mark.parametrize("kind", [Kind.U8, Kind.I32, Kind.I64])
def test_large_integers_multiply_exactly(kind: Kind) -> None:
    info = np.iinfo(DTYPES[kind])
    draw = np.random.default_rng(3)
    for high in (100, int(info.max), min(int(info.max), 2**40), min(int(info.max), 2**30)):  # the last limb carries the sign
        low = -high if info.min < 0 else 0
        a = draw.integers(low, high, (10, 40), endpoint=True, dtype=DTYPES[kind])
        b = draw.integers(low, high, (40, 9), endpoint=True, dtype=DTYPES[kind])
        args = [array(kind, m.shape, m.reshape(-1).tolist()) for m in (a, b)]
        assert np.array_equal(run("contract", args, [(kind, (10, 9))], {})[0], np.matmul(a, b))


@pytest.mark.parametrize("kind", NUMBERS)
def test_decode(kind: Kind) -> None:
    tolerance = 32.0 if kind.is_complex else 0.0
    pairs: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
        ((), ()),
        ((), (4,)),
        ((3,), (3,)),
        ((1,), (3,)),
        ((3,), (1,)),
        ((3,), ()),
        ((2, 3), (3,)),
        ((2, 3), (3, 2)),
        ((2, 1), (3, 2)),
        ((2, 3), (1, 2)),
        ((0,), (0,)),
        ((), (0,)),
        ((2, 0), (0, 3)),
        ((0, 3), (3, 2)),
        ((1,), (20,)),
    ]
    for radix, value in pairs:
        args = [fresh(kind, radix, 3, plain=True), fresh(kind, value, 4, plain=True)]
        compare("decode", args, reductions.decode, tolerance)
        for framed in ((True, True), (False, True), (True, False)):
            own = [fresh(kind, (2, *a.shape) if f else a.shape, 5, plain=True) for a, f in zip(args, framed, strict=True)]
            lifted("decode", own, framed, (2,), reductions.decode, tolerance)


@pytest.mark.parametrize("kind", NUMBERS)
def test_encode(kind: Kind) -> None:
    if kind.is_integer:
        signed = kind is not Kind.U8
        extreme = [int(np.iinfo(DTYPES[kind]).min), int(np.iinfo(DTYPES[kind]).max)]
        bases, numbers = (
            [0, 2, 8, 10, 3, 1, *([-3, -1, -8] if signed else [])],
            [0, 1, 7, 100, *([-1, -29] if signed else []), *extreme],
        )
        values = array(kind, (len(numbers),), numbers)
        for base in bases:
            compare("encode", [array(kind, (3,), [base] * 3), values], reductions.encode)
            compare("encode", [scalar(kind, base), values], reductions.encode)
        compare("encode", [array(kind, (3, 2), [0, 2, 4, 5, 7, 0]), values], reductions.encode)
    for radix, shape in itertools.product([(), (3,), (2, 2), (0,)], [(), (4,), (2, 3), (0,)]):
        args = [fresh(kind, radix, 7, plain=True), fresh(kind, shape, 8, plain=True)]
        compare("encode", args, reductions.encode)
        for framed in ((True, True), (False, True), (True, False)):
            own = [fresh(kind, (2, *a.shape) if f else a.shape, 9, plain=True) for a, f in zip(args, framed, strict=True)]
            lifted("encode", own, framed, (2,), reductions.encode)


C64_RADIX = [2 - 3.25j, 1j, -1 - 3.25j, 2j, -3.25 + 1j, -1 + 0.5j]
CARRIED: list[tuple[Kind, tuple[int, ...], list[complex], list[complex]]] = [
    (Kind.C64, (3, 2), C64_RADIX, [0.5, 2 + 2j, 1 - 3.25j, 1j]),
    (Kind.C128, (2, 2), [0.5 - 3.25j, 0.5, 1j, -3.25 + 0.5j], [-1 - 3.25j, -3.25j]),
    (Kind.F64, (2,), [3, 0.7], [33.8, 0.7]),
    (Kind.F64, (2,), [7, 2.2], [34.4, -34.4]),
]
"""Kinds, radices and numbers whose quotients are whole but for rounding: of what is a little less, the next floor is one less."""


@pytest.mark.parametrize(("kind", "shape", "radices", "numbers"), CARRIED)
def test_the_carry_of_encode_is_whole(kind: Kind, shape: tuple[int, ...], radices: list[complex], numbers: list[complex]) -> None:
    args = [array(kind, shape, radices), array(kind, (len(numbers),), numbers)]
    compare("encode", args, reductions.encode)
    digits = run("encode", args, [(kind, (*shape, len(numbers)))], {})[0]
    assert not kind.is_float or np.array_equal(digits[0], np.rint(digits[0]))


def test_comparisons_reduce_in_the_operands_kind() -> None:
    assert all(FUNCTIONS[name].result is ResultKind.BOOL for name in ("lt", "le", "eq", "ge", "gt", "ne"))
    value = array(Kind.F64, (4,), [2.0, 1.0, math.nan, 1.0])
    compare("scan", [value], lambda v: reductions.scan("lt", v, 0), function="lt", axis=0)
