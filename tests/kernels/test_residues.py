"""Residues through kernels have NumPy's bits: constant divisors of every size and sign, float remainders of every sort."""

from __future__ import annotations

import numpy as np
import pytest

from rho.backend.graph.phases import ConstantNode
from rho.tests.kernels.phases import apply, both, data, phase, projection, read, same_bits
from rho.typechecker.elements import Kind

SIZES = [
    1,
    2,
    3,
    5,
    7,
    10,
    64,
    100,
    641,
    65_535,
    65_537,
    10**6,
    2**31 - 1,
    2**31,
    2**31 + 1,
    2**32 + 1,
    10**12,
    2**62,
    2**62 + 1,
    2**63 - 1,
]


@pytest.mark.parametrize("divisor", [0, *SIZES, *(-size for size in SIZES), -(2**63)])
def test_constant_divisors(divisor: int) -> None:
    rng = np.random.default_rng(abs(divisor) % 1000)
    edges = np.array([k * abs(divisor) + j for k in (0, 1, 2, 3, 1000) for j in (-1, 0, 1)], object)
    near = np.array([int(edge) for edge in edges if -(2**63) <= edge < 2**63], np.int64)
    short = rng.integers(0, 2**31, 300)
    short[:9] = [0, 1, 2**31 - 1, 2**31 - 2, 7, 8, 9, 10, 11]
    wide = np.concatenate((rng.integers(-(2**63), 2**63 - 1, 200, np.int64, endpoint=True), near, -near, data(Kind.I64, 99, 1)))
    for items in (short, wide, np.concatenate((short, wide))):
        count = len(items)
        for left in (True, False):  # `7|i`, and the residue as one step of several
            body = [ConstantNode(Kind.I64, divisor), read(0, Kind.I64), apply("residue", (0, 1), Kind.I64)]
            if left:
                body.append(apply("eq", (0, 2), Kind.I64))
            made = phase([count], [projection([count], [count], [0])], body, [len(body) - 1])
            for got, want in both(made, [items]):
                assert same_bits(got, want), divisor


@pytest.mark.parametrize("kind", [Kind.F64, Kind.F32])
def test_float_remainders(kind: Kind) -> None:
    rng = np.random.default_rng(3)
    count = 20_000
    x = (rng.standard_normal(count) * 10.0 ** rng.integers(-3, 3, count)).astype(data(kind, 1, 0).dtype)
    y = (rng.standard_normal(count) * 10.0 ** rng.integers(-6, 12, count)).astype(x.dtype)
    whole = np.round(y)
    multiples = x * rng.integers(-1000, 1000, count).astype(x.dtype)
    beside = np.nextafter(multiples, x.dtype.type(0))
    body = [read(0, kind), read(1, kind), apply("residue", (0, 1), kind)]
    made = phase([count], [projection([count], [count], [0])] * 2, body, [2])
    for pair in ((x, y), (x, multiples), (x, beside), (np.round(x), whole), (data(kind, count, 1), data(kind, count, 2)), (y, x)):
        for got, want in both(made, pair):
            assert same_bits(got, want)


@pytest.mark.parametrize("kind", [Kind.I64, Kind.I32, Kind.U8])
def test_divisors_of_every_item(kind: Kind) -> None:
    """Small numbers, numbers about the limit of binary64 quotients and beyond it, zero and ¯1, multiples and their neighbours."""
    rng = np.random.default_rng(5)
    dtype = data(kind, 1, 0).dtype
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    edges = [0, 1, -1, 2, -2, 3, 7, least, least + 1, most, most - 1]
    edges += [sign * (bound + step) for bound in (2**51, 2**52, 2**53) for sign in (1, -1) for step in (-1, 0, 1)]
    whole = np.array([edge for edge in edges if least <= edge <= most], dtype)
    pairs = np.meshgrid(whole, whole)
    small = rng.integers(max(least, -1000), min(most, 1000), 999).astype(dtype)
    near = rng.integers(max(least, -(2**51)), min(most, 2**51), 999).astype(dtype)
    multiples = (near // np.where(small == 0, 1, small)) * small
    beside = multiples + rng.integers(-1, 2, 999).astype(dtype)
    anything = rng.integers(least, most, 999, dtype, endpoint=True)
    body = [read(0, kind), read(1, kind), apply("residue", (0, 1), kind)]
    for x, y in ((pairs[0].ravel(), pairs[1].ravel()), (small, near), (small, multiples), (small, beside), (near, anything),
                 (anything, near), (anything, anything), (small, small)):  # fmt: skip
        made = phase([len(x)], [projection([len(x)], [len(x)], [0])] * 2, body, [2])
        for got, want in both(made, (x, y)):
            assert same_bits(got, want)
