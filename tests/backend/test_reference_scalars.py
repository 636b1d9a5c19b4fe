"""Scalar functions of the reference: kinds, IEEE specials, Dyalog's values, checks."""

from __future__ import annotations

import cmath
import math

import pytest

from rho.backend.reference.arrays import InternalError
from rho.backend.reference.scalars import convert_checked, evaluate, integer_to_f32
from rho.backend.scalar import special
from rho.backend.vm.check_failures import CheckFailed
from rho.backend.vm.values import Array, from_numpy, integer_range, nested, normalise, round_f32, scalar, to_numpy, wrap_integer
from rho.typechecker.elements import FUNCTIONS, Kind

BOOL, U8, I32, I64, F32, F64, C64, C128, CHAR = Kind
INF, NAN = math.inf, math.nan
SAMPLES = {
    BOOL: [False, True],
    U8: [0, 1, 200, 255],
    I32: [0, 1, -1, 7, -(2**31), 2**31 - 1],
    I64: [0, 1, -1, 7, -(2**63), 2**63 - 1],
    F32: [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 171.0, 1e30, INF, -INF, NAN],
    F64: [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 171.0, 1e300, 5e-324, INF, -INF, NAN],
    C64: [0j, 1 + 0j, -1j, 3 + 4j, -0.5 + 0.25j, complex(INF, 1), complex(NAN, 0), 1e30 + 1e30j],
    C128: [0j, 1 + 0j, -1j, 3 + 4j, -0.5 + 0.25j, complex(INF, 1), complex(NAN, 0), 1e300 + 1e300j],
    CHAR: ["a", "b", " "],
}


def same(a: object, b: object) -> bool:
    """Bit-like equality: NaN is NaN, zeros differ by sign."""
    return type(a) is type(b) and repr(a) == repr(b)


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n not in ("convert", "convert_checked", "circular", "select")])
def test_every_function_is_total_and_normalised(name: str) -> None:
    row = FUNCTIONS[name]
    for kind in row.kinds:
        result_kind = row.result_kind(kind)
        assert result_kind is not None
        items = SAMPLES[kind]
        tuples = [(x,) for x in items] if row.arity == 1 else [(x, y) for x in items for y in items]
        for args in tuples:
            if name == "ipow" and args[1] < 0:
                continue
            try:
                value = evaluate(name, kind, args, result_kind)
            except CheckFailed as failure:
                assert failure.code == "E703"
                assert name in ("floor", "ceil")
                continue
            assert same(value, normalise(result_kind, value)), (name, kind, args)


@pytest.mark.parametrize("parameter", range(-12, 13))
def test_circular_is_total(parameter: int) -> None:
    row = FUNCTIONS["circular"]
    for kind in row.kinds:
        if kind.is_float and parameter in (-11, -12):
            continue
        for item in SAMPLES[kind]:
            result_kind = row.result_kind(kind, parameter)
            assert result_kind is not None
            evaluate("circular", kind, (item,), result_kind, parameter)


@pytest.mark.parametrize(
    ("name", "kind", "args", "expected"),
    [
        ("add", I64, (2**63 - 1, 1), -(2**63)),
        ("mul", I32, (2**31 - 1, 2), -2),
        ("sub", U8, (0, 1), 255),
        ("neg", U8, (1,), 255),
        ("neg", I64, (-(2**63),), -(2**63)),
        ("abs", I32, (-(2**31),), -(2**31)),
        ("sign", I64, (-9,), -1),
        ("residue", I64, (-3, 5), -1),
        ("residue", I64, (3, -5), 1),
        ("residue", I64, (0, -7), -7),
        ("ipow", I64, (2, 63), -(2**63)),
        ("ipow", I64, (0, 0), 1),
        ("ipow", I32, (-3, 3), -27),
        ("gcd", I64, (-12, 18), 6),
        ("lcm", I64, (4, 6), 12),
        ("lcm", I64, (0, 6), 0),
        ("add", F32, (0.1, 0.2), round_f32(round_f32(0.1) + round_f32(0.2))),
        ("div", F64, (1.0, -0.0), -INF),
        ("div", F64, (0.0, 0.0), NAN),
        ("neg", F64, (0.0,), -0.0),
        ("sign", F64, (-0.0,), 0.0),
        ("reciprocal", F64, (-0.0,), -INF),
        ("exp", F64, (1000.0,), INF),
        ("ln", F64, (0.0,), -INF),
        ("ln", F64, (-1.0,), NAN),
        ("sqrt", F64, (-0.0,), -0.0),
        ("sqrt", F64, (-1.0,), NAN),
        ("pow", F64, (NAN, 0.0), 1.0),
        ("pow", F64, (-8.0, 1 / 3), NAN),
        ("pow", F64, (0.0, -1.0), INF),
        ("pow", F64, (-0.0, -1.0), -INF),
        ("pow", F64, (-10.0, 309.0), -INF),
        ("log", F64, (2.0, 8.0), 3.0),
        ("log", F64, (10.0, 1000.0), 3.0),
        ("log", F64, (2.0, 0.0), -INF),
        ("root", F64, (2.0, 9.0), 3.0),
        ("min", F64, (1.0, NAN), NAN),
        ("max", F64, (NAN, 1.0), NAN),
        ("residue", F64, (-3.0, 5.5), -0.5),
        ("residue", F64, (0.0, -7.5), -7.5),
        ("residue", F64, (1.0, INF), NAN),
        ("residue", F64, (INF, 5.0), 5.0),
        ("factorial", F64, (170.0,), float(math.factorial(170))),
        ("factorial", F64, (171.0,), INF),
        ("factorial", F64, (-1.0,), NAN),
        ("factorial", F64, (INF,), INF),
        ("factorial", F64, (-INF,), NAN),
        ("binomial", F64, (3.0, 100.0), 161700.0),
        ("binomial", F64, (5.0, 3.0), 0.0),
        ("binomial", F64, (3.0, -2.0), -4.0),
        ("binomial", F64, (-3.0, -2.0), -2.0),
        ("binomial", F64, (-1.0, 4.0), 0.0),
        ("binomial", F64, (1e9, 2e9), INF),
        ("binomial", F64, (1e9, 1e9 + 1), 1e9 + 1),
        ("gcd", F64, (1.5, -2.5), 0.5),
        ("gcd", F64, (INF, 1.0), NAN),
        ("lgamma", F64, (0.0,), INF),
        ("log1p", F64, (-1.0,), -INF),
        ("digamma", F64, (0.0,), NAN),
        ("lt", F64, (NAN, 1.0), False),
        ("ne", F64, (NAN, NAN), True),
        ("eq", F64, (0.0, -0.0), True),
        ("le", CHAR, ("a", "b"), True),
        ("nand", BOOL, (True, True), False),
        ("nor", BOOL, (False, False), True),
        ("floor", F64, (-2.5,), -3),
        ("ceil", F64, (-2.5,), -2),
        ("conj", C128, (3 + 4j,), 3 - 4j),
        ("mul", C128, (1 + 1j, 1 + 1j), 2j),
        ("div", C128, (1 + 1j, 0j), complex(INF, INF)),
        ("abs", C128, (3 + 4j,), 5.0),
        ("sign", C128, (3 + 4j,), 0.6 + 0.8j),
        ("sign", C128, (0j,), 0j),
        ("pow", C128, (3 + 4j, 2 + 0j), -7 + 24j),
        ("pow", C128, (0j, 0j), 1 + 0j),
        ("pow", C128, (0j, 2 + 0j), 0j),
        ("residue", C128, (5 + 0j, 3 + 4j), 3 - 1j),
        ("floor", C128, (1.5 + 2.5j,), 2 + 2j),
        ("floor", C128, (0.2 + 0.9j,), 1j),
        ("gcd", C128, (3 + 4j, 1 + 2j), 1 + 0j),
        ("ln", C128, (0j,), complex(-INF, 0.0)),
    ],
)
def test_values(name: str, kind: Kind, args: tuple[object, ...], expected: object) -> None:
    result_kind = FUNCTIONS[name].result_kind(kind)
    assert result_kind is not None
    args = tuple(normalise(kind, a) for a in args)  # type: ignore[arg-type]
    assert same(evaluate(name, kind, args, result_kind), normalise(result_kind, expected))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("parameter", "kind", "arg", "expected"),
    [
        (0, F64, 0.5, 0.8660254037844386), (4, F64, 0.5, 1.118033988749895), (6, F64, 0.5, 1.1276259652063807),
        (-2, F64, 0.5, 1.0471975511965979), (-6, F64, 2.0, 1.3169578969248166), (12, F64, -3.0, math.pi), (10, F64, -3.0, 3.0),
        (8, F64, 1.0, NAN), (-1, F64, 2.0, NAN), (-7, F64, 1.0, INF), (5, F64, -1000.0, -INF), (11, F64, 3.0, 0.0),
        (9, C128, 3 + 4j, 3.0), (10, C128, 3 + 4j, 5.0), (12, C128, 3 + 4j, 0.9272952180016122),
        (4, C128, 3 + 4j, cmath.sqrt(-6 + 24j)), (-6, C128, 3 + 4j, cmath.acosh(3 + 4j)),
        (-11, C128, 3 + 4j, -4 + 3j), (-4, C128, -1 + 0j, 0j), (-9, C128, 3 + 4j, 3 + 4j), (-10, C128, 3 + 4j, 3 - 4j),
    ],
)  # fmt: skip
def test_circular(parameter: int, kind: Kind, arg: complex, expected: complex) -> None:
    result_kind = FUNCTIONS["circular"].result_kind(kind, parameter)
    assert result_kind is not None
    value = evaluate("circular", kind, (arg,), result_kind, parameter)
    if expected != expected:
        assert value != value
    elif math.isinf(abs(expected)):
        assert value == expected
    else:
        assert abs(value - expected) <= 4e-15 * max(1.0, abs(expected))  # type: ignore[operator]


def test_complex_binary32_rounds_each_step() -> None:
    x, y = normalise(C64, 0.1 + 0.7j), normalise(C64, 1.3 - 0.9j)
    assert isinstance(x, complex) and isinstance(y, complex)
    real = round_f32(round_f32(x.real * y.real) - round_f32(x.imag * y.imag))
    value = evaluate("mul", C64, (x, y), C64)
    assert isinstance(value, complex) and value.real == real


@pytest.mark.parametrize("x", [0.1, 0.5, 1.0, 2.0, 3.7, 25.0, -0.5, -3.3])
def test_digamma_satisfies_its_recurrence(x: float) -> None:
    assert math.isclose(special.digamma(x + 1), special.digamma(x) + 1 / x, rel_tol=1e-12, abs_tol=1e-13)


def test_digamma_at_one_is_minus_euler() -> None:
    assert math.isclose(special.digamma(1.0), -0.5772156649015329, rel_tol=1e-14)


@pytest.mark.parametrize("z", [0.5 + 1j, -2.5 + 0.25j, 4 - 3j])
def test_complex_factorial_satisfies_its_recurrence(z: complex) -> None:
    assert abs(special.complex_factorial(z + 1) - (z + 1) * special.complex_factorial(z)) < 1e-11 * abs(
        special.complex_factorial(z + 1)
    )


def test_binomial_of_fractions_agrees_with_gamma() -> None:
    assert math.isclose(special.binomial(2.5, 5.5), math.gamma(6.5) / (math.gamma(3.5) * math.gamma(4.0)))
    assert math.isclose(special.binomial(3.0, -0.11), -0.0429385)
    assert math.isclose(special.binomial(200.5, 300.5), math.exp(math.lgamma(301.5) - math.lgamma(201.5) - math.lgamma(101)))


@pytest.mark.parametrize(
    ("kind", "value", "target"),
    [
        (F64, 1.5, I64), (F64, NAN, I64), (F64, 1e19, I64), (I64, 256, U8), (I64, -1, U8), (I64, 2, BOOL), (F64, 1e39, F32),
        (C128, 1 + 1j, F64), (C128, 1e39 + 0j, C64), (I64, -1, CHAR), (I64, 1114112, CHAR), (CHAR, "é", BOOL), (CHAR, "Ā", U8),
        (C128, complex(NAN, 0), I64), (F64, INF, I32),
    ],
)  # fmt: skip
def test_checked_conversions_fail(kind: Kind, value: object, target: Kind) -> None:
    with pytest.raises(CheckFailed) as caught:
        convert_checked(kind, value, target)
    assert caught.value.code == "E703"


@pytest.mark.parametrize(
    ("kind", "value", "target", "expected"),
    [
        (F64, 3.0, I64, 3), (F64, -0.0, I64, 0), (I64, 1, BOOL, True), (C128, 3 + 0j, F64, 3.0), (F64, INF, F32, INF),
        (CHAR, "A", I64, 65), (I64, 0x1F600, CHAR, "😀"), (C128, 7 + 0j, U8, 7), (F64, 0.1, F32, round_f32(0.1)),
        (I64, 2**24 + 1, F32, 16777216.0), (BOOL, True, C64, 1 + 0j),
    ],
)  # fmt: skip
def test_checked_conversions(kind: Kind, value: object, target: Kind, expected: object) -> None:
    assert same(evaluate("convert_checked", kind, (value,), target), expected)  # type: ignore[arg-type]


def test_integers_round_to_binary32_once() -> None:
    numpy = pytest.importorskip("numpy")
    for value in (2**24 + 1, 2**53 + 2**29 + 1, -(2**63), 2**63 - 1, 9007199791611905, 0):
        assert integer_to_f32(value) == float(numpy.float32(numpy.int64(value)))


def test_convert_refuses_what_loses() -> None:
    for kind, value, target in ((I64, 300, U8), (C128, 1j, F64), (CHAR, "a", I64)):
        with pytest.raises(InternalError):
            evaluate("convert", kind, (value,), target)


def test_kinds_and_arity_are_checked() -> None:
    for name, kind, args, result in (("add", CHAR, ("a", "b"), CHAR), ("add", I64, (1,), I64), ("lt", I64, (1, 2), I64)):
        with pytest.raises(InternalError):
            evaluate(name, kind, args, result)  # type: ignore[arg-type]


def test_arrays_normalise_and_nest() -> None:
    assert wrap_integer(I32, 2**31) == -(2**31)
    assert integer_range(U8) == (0, 255)
    assert nested(Array(I64, (2, 2), (1, 2, 3, 4))) == [[1, 2], [3, 4]]
    assert nested(Array(CHAR, (2, 2), ("a", "b", "c", "d"))) == ["ab", "cd"]
    assert nested(scalar(F64, 1)) == 1.0
    assert nested(Array(I64, (2, 0), ())) == [[], []]
    with pytest.raises(AssertionError):
        Array(I64, (2,), (1,))


def test_numpy_round_trip() -> None:
    pytest.importorskip("numpy")
    for kind, items in SAMPLES.items():
        value = Array(kind, (1, len(items)), tuple(normalise(kind, i) for i in items))
        back = from_numpy(to_numpy(value))
        assert back.kind is kind and back.shape == value.shape
        assert [repr(i) for i in back.data] == [repr(i) for i in value.data]
