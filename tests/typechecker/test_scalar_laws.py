"""The laws of `typechecker.elements`, tried on all pairs, and on drawn triples, of 40 hard values of every kind."""

from __future__ import annotations

import itertools
import math
import struct
from typing import Any

import pytest
from share import drawing

from rho.backend.reference.scalars import evaluate
from rho.backend.vm.values import normalise
from rho.typechecker.elements import FUNCTIONS, Kind, Law, is_exact_in_any_order, is_ordered, neutral_element

_WHOLE = [0, 1, -1, 2, -2, 3, -3, 4, 5, -6, 7, 8, -9, 10, 12, 15, -16, 24, 30, 63, 64, -65, 97, 100, 120, 127, -128, 255, -256,
          1000, 2**15, -(2**16), 2**31 - 1, -(2**31), 2**32, 2**53 + 1, -(2**62), 2**63 - 1, -(2**63), 6 * 2**40]  # fmt: skip
_REAL = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 1.5, 3.0, -3.0, 0.1, -0.1, 1 / 3, math.pi, -math.e, 10.0, 100.0, 255.0,
         -256.0, 5e-324, -5e-324, 2.0**-1022, 1e-310, 1e-200, -1e-100, 1e-30, 1e30, -1e100, 1e200, 1.7e308, -1.7e308, 2.0**52,
         2.0**53, -(2.0**53), 2.0**63, math.inf, -math.inf, math.nan, 1 + 2.0**-52]  # fmt: skip
VALUES: dict[Kind, list[Any]] = {
    Kind.BOOL: [False, True], Kind.U8: sorted({value % 256 for value in _WHOLE}),
    Kind.I32: [normalise(Kind.I32, value) for value in _WHOLE], Kind.I64: _WHOLE,
    Kind.F32: [normalise(Kind.F32, value) for value in _REAL], Kind.F64: _REAL,
}  # fmt: skip
CASES = [(name, kind) for name, row in FUNCTIONS.items() if row.laws for kind in VALUES if kind in row.kinds]
NEUTRAL = [(name, kind) for name, kind in CASES if Law.ASSOCIATIVE in FUNCTIONS[name].laws and name not in ("gcd", "lcm")]
"""gcd and lcm are not negative: their identities change the sign of a negative item."""
TRIPLES = 3000


def applied(name: str, kind: Kind, x: Any, y: Any) -> Any:
    result = FUNCTIONS[name].result_kind(kind)
    assert result is not None
    return evaluate(name, kind, (x, y), result)


def same(x: Any, y: Any) -> bool:
    """As values: zeros of both signs are one, and so are all NaN."""
    return bool(x == y or (x != x and y != y))


def bits(x: Any) -> Any:
    return struct.pack("<d", x) if isinstance(x, float) and x == x else repr(x)


@pytest.mark.parametrize(("name", "kind"), CASES, ids=lambda case: case if isinstance(case, str) else case.value)
def test_laws(name: str, kind: Kind) -> None:
    laws, values = FUNCTIONS[name].laws, VALUES[kind]
    for x, y in itertools.product(values, values):
        made = applied(name, kind, x, y)
        if Law.COMMUTATIVE in laws:
            assert same(made, applied(name, kind, y, x)), (x, y)
        if Law.SELECTIVE in laws:
            assert bits(made) in (bits(x), bits(y)), (x, y)
    if is_exact_in_any_order(name, kind):
        assert not is_ordered(name, kind)
        triples = list(itertools.product(values, repeat=3))
        for x, y, z in drawing(name, kind).sample(triples, min(len(triples), TRIPLES)):
            left = applied(name, kind, applied(name, kind, x, y), z)
            right = applied(name, kind, x, applied(name, kind, y, z))
            assert same(left, right), (x, y, z)


@pytest.mark.parametrize(("name", "kind"), NEUTRAL,
                         ids=lambda case: case if isinstance(case, str) else case.value)  # fmt: skip
def test_what_changes_nothing(name: str, kind: Kind) -> None:
    nothing = normalise(kind, neutral_element(name, kind))
    for x in VALUES[kind]:
        assert bits(applied(name, kind, nothing, x)) == bits(x) == bits(applied(name, kind, x, nothing))
