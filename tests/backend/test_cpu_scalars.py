"""Every scalar function on NumPy arrays agrees with the reference, item by item, for every kind it takes."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from rho.backend.cpu.numpy_scalars import implementation
from rho.backend.cpu.views import DTYPES
from rho.backend.reference.scalars import evaluate
from rho.backend.vm.check_failures import CheckFailed as ReferenceFailed
from rho.backend.vm.values import normalise
from rho.typechecker.elements import FUNCTIONS, Kind, ScalarFunction

REALS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 3.0, -2.0, 10.0, 2.5, -7.25, 0.1, 1e-3, 7.0, 20.0, -3.5, 1e300, -1e300, 1e-310,
         math.inf, -math.inf, math.nan, 170.0, 171.0, 1e6]  # fmt: skip
INTEGERS = [0, 1, 2, 3, 5, 7, 12, 100, 255, -1, -2, -7, -12, 2**31 - 1, -(2**31), 2**62, 2**63 - 1, -(2**63)]
COMPLEX = [0j, 1 + 0j, -1 + 0j, 1j, -1j, 3 + 4j, -2.5 + 1.5j, 0.5 - 0.25j, 2 + 0j, 10 + 0j, 7 - 3j, 1e-3 + 2j, -4 + 0j, 2.5 + 0j]


def items(kind: Kind) -> list[object]:
    if kind is Kind.BOOL:
        return [False, True]
    if kind is Kind.CHAR:
        return ["a", "b", " ", "⍴", "\U0001f600", "\0"]
    if kind.is_integer:
        info = np.iinfo(DTYPES[kind])
        return [v for v in INTEGERS if info.min <= v <= info.max]
    values = COMPLEX if kind.is_complex else REALS
    return [normalise(kind, v) for v in values]


def close(kind: Kind, got: object, want: object, ulps: float) -> bool:
    if kind.is_complex:
        scale = abs(complex(want))  # type: ignore[arg-type]
        parts = ((got.real, want.real), (got.imag, want.imag))  # type: ignore[attr-defined]
    elif kind.is_float:
        scale = abs(want)  # type: ignore[arg-type]
        parts = ((got, want),)
    else:
        return got == want
    epsilon = float(np.finfo(DTYPES[kind]).eps)
    tiny = float(np.finfo(DTYPES[kind]).smallest_subnormal)
    for a, b in parts:
        if (math.isnan(a) and math.isnan(b)) or a == b:
            continue
        if kind.is_complex and not (math.isfinite(a) and math.isfinite(b)):
            continue  # which infinity or NaN a complex function gives at a pole is not fixed
        if not (math.isfinite(a) and math.isfinite(b)) or abs(a - b) > ulps * (epsilon * scale + tiny):
            return False
    return True


def check(row: ScalarFunction, kind: Kind, result: Kind, parameter: int = 0) -> None:
    choices = [items(Kind.BOOL) if row.name == "select" and i == 0 else items(kind) for i in range(row.arity)]
    if row.name == "ipow":
        choices[1] = [v for v in choices[1] if v >= 0]  # type: ignore[operator]
    if row.name in ("gcd", "lcm") and kind.is_complex:  # Gaussian integers: elsewhere Euclid need not end soon
        choices = [[v for v in c if v.real == int(v.real) and v.imag == int(v.imag)] for c in choices]  # type: ignore[attr-defined]
    rows = [[]]  # type: ignore[var-annotated]
    for choice in choices:
        rows = [[*r, c] for r in rows for c in choice]
    kept, expected = [], []
    for args in rows:
        try:
            expected.append(evaluate(row.name, kind, args, result, parameter))
            kept.append(args)
        except (ReferenceFailed, AssertionError):
            continue
    if not kept:
        return
    dtypes = [DTYPES[Kind.BOOL if row.name == "select" and i == 0 else kind] for i in range(row.arity)]
    columns = [np.array([ord(a[i]) if isinstance(a[i], str) else a[i] for a in kept], dtypes[i]) for i in range(row.arity)]
    function = implementation(row.name, kind, result, parameter)
    ulps = 4.0 if row.name in ("pow", "root", "log", "binomial", "residue") or kind.is_complex else 2.0
    if kind.is_complex and row.name == "circular":
        ulps = 16.0
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        got = function(*columns)
        assert got.dtype == DTYPES[result], got.dtype
        single = [c[:1].reshape(()) for c in columns]
        assert np.array_equal(np.asarray(function(*single)), got[0], equal_nan=result.is_float or result.is_complex)
    for args, value, want in zip(kept, got.tolist(), expected, strict=True):
        if result is Kind.CHAR:
            value = chr(value)
        assert close(result, value, want, ulps), f"{row.name} {kind.value} {args}: {value!r}, not {want!r}"


CASES = [(row, kind) for row in FUNCTIONS.values() for kind in sorted(row.kinds, key=lambda k: k.value)]


@pytest.mark.parametrize("row,kind", CASES, ids=lambda v: v.value if isinstance(v, Kind) else v.name)
def test_function(row: ScalarFunction, kind: Kind) -> None:
    if row.name in ("convert", "convert_checked"):
        for target in Kind:
            check(row, kind, target)
    elif row.name == "circular":
        for parameter in range(-12, 13):
            if kind.is_complex or parameter not in (-11, -12):
                check(row, kind, row.result_kind(kind, parameter) or kind, parameter)
    else:
        check(row, kind, row.result_kind(kind) or kind)


def test_checked_functions_fail_like_the_reference() -> None:
    for name in ("floor", "ceil", "convert_checked"):
        row = FUNCTIONS[name]
        for kind in row.kinds:
            for target in Kind if name == "convert_checked" else [Kind.I64]:
                if kind.is_complex and name != "convert_checked":
                    continue
                function = implementation(name, kind, target)
                for item in items(kind):
                    try:
                        evaluate(name, kind, [item], target)
                    except ReferenceFailed as failure:
                        stored = np.array([ord(item) if isinstance(item, str) else item], DTYPES[kind])
                        with np.errstate(all="ignore"), pytest.raises(Exception, match="E703") as caught:
                            function(stored)
                        assert caught.value.code == failure.code == "E703"  # type: ignore[attr-defined]
