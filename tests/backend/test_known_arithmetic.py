"""What folding computes is what running computes, to the bit: every scalar function, of every kind, on hard values."""

from __future__ import annotations

import itertools
import struct
from typing import Any

import pytest

import rho
from rho.backend.reference.scalars import evaluate
from rho.typechecker.elements import FUNCTIONS, Kind, ResultKind, limits
from rho.typechecker.values.constant_folding import fold, folded

FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 18.0, 53.0, 64.0, 2.0**52, 2.0**53, 2.0**63, -(2.0**63), 5e-324, -1e-310, 1e300,
          -1e300, float("inf"), float("-inf"), float("nan")]  # fmt: skip


def hard(kind: Kind) -> list[Any]:
    """Values at the edges of a kind."""
    if kind is Kind.BOOL:
        return [False, True]
    if kind is Kind.CHAR:
        return ["\0", "a", "b", "\U0010ffff"]
    if kind.is_complex:
        return [0j, 1 + 0j, -1j, 2.5 - 1j, complex(0.0, -0.0)]
    if kind.is_float:
        return FLOATS if kind is Kind.F64 else [0.0, -0.0, 1.0, -2.5, 2.0**24, float("inf"), float("nan")]
    low, high = limits(kind) or (0, 0)
    small = {-65, -8, -2, -1, 0, 1, 2, 3, 7, 20, 31, 32, 63, 64, 2**31}
    near = small | {low, low + 1, low // 2, high // 3, high // 2, high - 1, high}
    return sorted(value for value in near if low <= value <= high)


def bits(value: Any) -> object:
    """What tells two payloads apart: signs of zero too, one NaN."""
    if isinstance(value, float):
        return ("f", "NaN" if value != value else struct.pack("d", value))
    if isinstance(value, complex):
        return ("c", bits(value.real), bits(value.imag))
    return (type(value).__name__, value)


CASES = [(name, kind) for name, row in sorted(FUNCTIONS.items()) for kind in Kind
         if kind in row.kinds and row.result is not ResultKind.TARGET and name not in ("select", "circular")]  # fmt: skip


@pytest.mark.parametrize(("name", "kind"), CASES, ids=lambda case: case if isinstance(case, str) else case.value)
def test_folding_is_running(name: str, kind: Kind) -> None:
    row = FUNCTIONS[name]
    result = row.result_kind(kind)
    assert result is not None
    for items in itertools.product(hard(kind), repeat=row.arity):
        known, overflow = folded(name, kind, result, [(item,) for item in items], [()] * row.arity)
        assert overflow is None or limits(result) is not None
        if known is not None:
            assert bits(known[0]) == bits(evaluate(name, kind, items, result)), items


@pytest.mark.parametrize(("source", "target"), list(itertools.product(Kind, repeat=2)), ids=lambda kind: kind.value)
def test_conversions_fold_as_they_run(source: Kind, target: Kind) -> None:
    """`convert` is applied only where nothing can be lost but by rounding."""
    narrows = (source.is_float and not target.is_float and not target.is_complex) or (source.is_complex and not target.is_complex)
    for item in [] if narrows else hard(source):
        known = fold("convert", source, target, [(item,)], [()])
        bounds = limits(target)
        if known is not None and (bounds is None or bounds[0] <= item <= bounds[1]):
            assert bits(known[0]) == bits(evaluate("convert", source, (item,), target)), item


LATE = [
    ("f : u8 → u8\nf ← {⍵+u8 1}\nf u8 255", 0),
    ("use dates\ni64 dates.month_start ⎕date 9223372036854775807", 9223372036854775781),
    ("param k ← 9\nk*20", -6289078614652622815),
    ("f : i64 → i64\nf ← {|⍵}\nf ¯9223372036854775808", -(2**63)),
    ("param seed ← 6364136223846793005\n⊃(⍳3)+seed×3", 645664597830827399),
    ("param k ← i32 2147483647\nk+i32 1", -(2**31)),
    ("f : i64 → i64 → i64\nf ← {⍺×⍵}\n4611686018427387904 f 2", -(2**63)),
]


@pytest.mark.parametrize(("text", "value"), LATE)
def test_what_is_known_late_wraps(text: str, value: int) -> None:
    assert rho.eval(text) == value
