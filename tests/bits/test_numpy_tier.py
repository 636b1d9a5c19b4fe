"""What the NumPy tier computes on whole arrays, for which NumPy has no function, has the bits of the definitions item by item."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from share import SEED, repeats

from rho.backend.cpu import numpy_reductions, numpy_scalars
from rho.backend.cpu.views import DTYPES
from rho.backend.reference import reductions
from rho.backend.scalar import special
from rho.tests.harness.tiers import accepted, arrays, outcome
from rho.typechecker.elements import Kind

FUNCTIONS: list[tuple[Callable[..., Any], Callable[..., Any], int]] = [
    (numpy_scalars.SPECIAL["factorial"], special.factorial, 1), (numpy_scalars.SPECIAL["digamma"], special.digamma, 1),
    (numpy_scalars.SPECIAL["lgamma"], special.lgamma, 1), (numpy_scalars.SPECIAL["gcd"], special.float_gcd, 2),
    (numpy_scalars.SPECIAL["lcm"], special.float_lcm, 2),
]  # fmt: skip
RARE = [0.0, -0.0, 1.0, 2.0, -1.0, -2.0, 0.5, 1.5, 2.5, 3.5, 170.0, 170.65, 171.0, -151.5, -200.5, 1e300, -1e300, 5e-324, -5e-324,
        1e-20, 1 + 2**-52, math.inf, -math.inf, math.nan]  # fmt: skip


def same(got: Any, wanted: Any) -> bool:
    """Equal bits; a NaN is any NaN."""
    got, wanted = np.asarray(got), np.asarray(wanted)
    parts = [(np.asarray(a), np.asarray(b)) for a, b in ((got.real, wanted.real), (got.imag, wanted.imag))]
    return got.dtype == wanted.dtype and got.shape == wanted.shape and all(
        np.array_equal(np.where(a != a, 0, a), np.where(b != b, 0, b)) and np.array_equal(a != a, b != b)
        and np.array_equal(np.signbit(a[a == a]), np.signbit(b[b == b])) for a, b in parts
    )


def numbers(rng: np.random.Generator, size: int) -> np.ndarray[Any, Any]:
    spread = rng.choice([rng.uniform(-4, 4, size), rng.uniform(-180, 180, size), rng.integers(-60, 60, size).astype(float)])
    return np.where(rng.random(size) < 0.05, rng.choice(RARE, size), spread)


@pytest.mark.parametrize("number", range(len(FUNCTIONS)))
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_functions_of_arrays_are_their_definitions_item_by_item(number: int, dtype: type) -> None:
    on_arrays, definition, arity = FUNCTIONS[number]
    for draw in range(repeats(40)):
        rng = np.random.default_rng([SEED, number, draw])
        for size in (1, 5, 300):
            with np.errstate(all="ignore"):
                operands = [numbers(rng, size).astype(dtype) for _ in range(arity)]
                wanted = numpy_scalars.itemwise(definition, *operands)
                assert same(on_arrays(*operands), wanted), (SEED, draw, operands)
                assert same(on_arrays(*(operand[0] for operand in operands)), wanted[0]), (SEED, draw, operands)
    with np.errstate(all="ignore"):
        every = [np.array(RARE, dtype).reshape(-1, *[1] * axis) for axis in range(arity)]
        assert same(on_arrays(*every), numpy_scalars.itemwise(definition, *every))


FOLDS = [("sub", Kind.F64), ("sub", Kind.F32), ("sub", Kind.C128), ("sub", Kind.I32), ("div", Kind.F64), ("div", Kind.F32),
         ("div", Kind.C128), ("lcm", Kind.I64), ("lcm", Kind.I32), ("lcm", Kind.U8), ("lcm", Kind.F64), ("gcd", Kind.F64),
         ("gcd", Kind.F32), ("residue", Kind.F64), ("residue", Kind.I64), ("residue", Kind.U8)]  # fmt: skip


def items_of(rng: np.random.Generator, kind: Kind, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    if not kind.is_integer:
        parts = rng.choice(RARE[:9] if rng.random() < 0.3 else [-2.0, 0.7, 1.3, 6.0], shape)
        items = np.empty(shape, DTYPES[kind])
        items.real = np.where(rng.random(shape) < 0.02, math.nan, parts)
        if kind.is_complex:
            items.imag = rng.permutation(parts)
        return items
    low, high = [(1, 6), (-6, 7), (0, 3), (1, 120), (-(2**31), 2**31)][rng.integers(5 if kind.bytes > 1 else 4)]
    return rng.integers(max(low, 0) if kind is Kind.U8 else low, high, shape).astype(DTYPES[kind])


@pytest.mark.parametrize(("function", "kind"), FOLDS)
def test_reductions_without_a_ufunc_are_folds_from_the_right(function: str, kind: Kind) -> None:
    """Few cells and many, single items, values that wrap, zeros of both signs, infinities and NaNs."""
    for draw in range(repeats(40)):
        rng = np.random.default_rng([SEED, draw])
        for shape in ((1,), (2,), (9,), (70,), (1, 3), (7, 2), (6, 20)):
            items = items_of(rng, kind, shape)
            lines = items.reshape(len(items), -1).T.tolist()
            with np.errstate(all="ignore"):
                got = numpy_reductions.right_fold(function, kind, items)
                if kind.is_complex and function == "div":  # the reference rounds quotients in another way
                    apply = numpy_scalars.implementation(function, kind, kind)
                    wanted = [reductions.right_fold(list(line), apply) for line in items.reshape(len(items), -1).T]
                else:
                    wanted = [reductions.reduce_line(function, kind, line) for line in lines]
                assert same(got, np.array(wanted, items.dtype).reshape(items.shape[1:])), (SEED, draw, items.tolist())
                if (function, kind.is_complex) in (("lcm", False), ("div", False)):
                    scanned = numpy_reductions.scan_leading(function, kind, items)
                    wanted = [reductions.scan_line(function, kind, line) for line in lines]
                    assert same(scanned, np.array(wanted, items.dtype).T.reshape(items.shape)), (SEED, draw, items.tolist())


def test_least_common_multiples_of_several_chunks() -> None:
    items = np.tile([6, -4, 15, 1], 3000)
    assert numpy_reductions.right_fold("lcm", Kind.I64, items) == 60
    items[4097] = 0
    assert numpy_reductions.right_fold("lcm", Kind.I64, items) == 0


def test_the_value_in_radix_one_adds_the_digits_in_order() -> None:
    """As Horner's rule: from 0, so that no sum is a negative zero, across chunks, and of several columns."""
    for draw in range(repeats(20)):
        rng = np.random.default_rng([SEED, draw])
        for shape in ((1,), (70,), (9_000,), (5, 3), (2_500, 4), (0,)):
            core = accepted(f"input x : f64{list(shape)}\noutput r ← 1⊥x".replace(",", ""))
            items = numbers(rng, math.prod(shape)).reshape(shape)
            (got,) = arrays(outcome(core, {"x": items}, "off"))
            totals = np.zeros(shape[1:])
            with np.errstate(all="ignore"):
                for row in items:
                    totals = totals * 1.0 + row
            assert same(got, totals), (SEED, draw, shape)


@pytest.mark.parametrize("function", ["eq", "ne"])
def test_truth_values_are_compared_from_the_right(function: str) -> None:
    for draw in range(repeats(40)):
        items = np.random.default_rng([SEED, draw]).random((int(draw % 9) + 1, 3)) < 0.5
        lines = items.T.tolist()
        folds = [reductions.reduce_line(function, Kind.BOOL, line) for line in lines]
        assert same(numpy_reductions.reduce_first(function, Kind.BOOL, items), np.array(folds)), items.tolist()
        scans = [reductions.scan_line(function, Kind.BOOL, line) for line in lines]
        assert same(numpy_reductions.scan_axis(function, Kind.BOOL, items, 0), np.array(scans).T), items.tolist()


def test_a_sum_of_few_items_writes_and_shares_nothing() -> None:
    for count in range(1, 12):
        items = np.arange(count * 4, dtype=float).reshape(count, 4)
        kept = items.copy()
        total = numpy_reductions.NumpyReduction(0, "add", Kind.F64).total(items.T)
        assert not np.shares_memory(total, items)
        assert np.array_equal(items, kept) and np.array_equal(total, kept.sum(0))


@pytest.mark.parametrize("kind", [Kind.C64, Kind.C128])
def test_products_of_complex_scalars_have_the_bits_of_arrays(kind: Kind) -> None:
    parts = np.array([*RARE, *np.random.default_rng(SEED).standard_normal(100)])
    rng, dtype = np.random.default_rng(SEED), DTYPES[kind]
    with np.errstate(all="ignore"):
        x, y = ((rng.choice(parts, 500) + 1j * rng.choice(parts[5:20], 500)).astype(dtype) for _ in range(2))
        scalar = numpy_scalars.scalar_function("mul", kind)
        assert scalar is not None
        products = [scalar(*pair) for pair in zip(x, y, strict=True)]
        assert {type(product) for product in products} == {dtype.type}
        assert same(np.array(products), numpy_scalars.multiply(x, y))
