"""Functions by polynomials: within their bound of the exact value, and the same bits on every tier."""

from __future__ import annotations

import ctypes
import math
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from rho.backend.codegen import llvm_scalars
from rho.backend.codegen.llvm_printer import llvm_text
from rho.backend.cpu.numpy_scalars import defined_function as through, evaluate_definition
from rho.backend.graph.phases import ApplyNode, ConstantNode, ReadNode, Structured
from rho.backend.jit import compiler
from rho.backend.lower.body import Body, BodyResult, Kernel, KernelOperand
from rho.backend.lower.loop_order import Form, VectorStride
from rho.backend.lower.rows import program_of
from rho.backend.scalar import coefficient_tables, function_table as rows
from rho.tests.kernels.phases import both, phase, projection, read, same_bits
from rho.typechecker.elements import Kind

mpmath.mp.prec = 120
FUNCTIONS = {
    "exp": ("exp", 0, mpmath.exp, 1.0, (-745.2, 709.7)),
    "ln": ("ln", 0, mpmath.log, 1.0, (5e-324, 1.7e308)),
    "sin": ("circular", 1, mpmath.sin, 1.0, (-1e6, 1e6)),
    "cos": ("circular", 2, mpmath.cos, 1.0, (-1e6, 1e6)),
    "tanh": ("circular", 7, mpmath.tanh, 2.0, (-20.0, 20.0)),
    "erf": ("erf", 0, mpmath.erf, 2.0, (-6.0, 6.0)),
    "tan": ("circular", 3, mpmath.tan, 2.0, (-1e6, 1e6)),
    "asin": ("circular", -1, mpmath.asin, 1.0, (-1.0, 1.0)),
    "acos": ("circular", -2, mpmath.acos, 1.0, (-1.0, 1.0)),
    "atan": ("circular", -3, mpmath.atan, 1.0, (-50.0, 50.0)),
    "sinh": ("circular", 5, mpmath.sinh, 2.0, (-710.4, 710.4)),
    "cosh": ("circular", 6, mpmath.cosh, 2.0, (-710.4, 710.4)),
    "asinh": ("circular", -5, mpmath.asinh, 2.0, (-1e6, 1e6)),
    "acosh": ("circular", -6, mpmath.acosh, 2.0, (1.0, 1e6)),
    "atanh": ("circular", -7, mpmath.atanh, 2.0, (-1.0, 1.0)),
    "expm1": ("expm1", 0, mpmath.expm1, 2.0, (-40.0, 709.0)),
    "log1p": ("log1p", 0, mpmath.log1p, 1.0, (-0.999, 1e6)),
    "log2": ("log2", 0, lambda x: mpmath.log(x) / mpmath.log(2), 1.0, (5e-324, 1.7e308)),
    "log10": ("log10", 0, lambda x: mpmath.log(x) / mpmath.log(10), 1.0, (5e-324, 1.7e308)),
}
LOGARITHMS = ("ln", "log2", "log10")
VOCABULARY = sorted(set(FUNCTIONS) - {"log2", "log10"})
"""Those of the core; the others are logarithms to a constant base."""
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 1e-310, -1e-310, 1e300, -1e300, 1e-200, 710.0, -746.0, 1e6,
           1000001.0, 1e22, 0.625, 0.6249999999, 6.0, 5.9999999, 1.0, -1.0, 2.2250738585072014e-308, math.pi / 2,
           math.pi]  # fmt: skip


def none(*args: Any) -> Any:
    raise AssertionError("not compiled")


def defined_function(function: str, kind: Kind, parameter: int) -> Callable[..., Any]:
    return through(function, kind, parameter, none)


def single(name: str, kind: Kind, count: int) -> Structured:
    function, parameter, *_ = FUNCTIONS[name]
    body = [read(0, kind), ApplyNode(function, (0,), kind, parameter)]
    return phase([count], [projection([count], [count], [0])], body, [1])


def samples(name: str, count: int) -> np.ndarray:  # type: ignore[type-arg]
    rng = np.random.default_rng(len(name))
    low, high = FUNCTIONS[name][4]
    if name in LOGARITHMS:
        wide = np.exp(rng.uniform(-700, 700, count // 2))
        return np.concatenate((wide, 1 + rng.uniform(-0.5, 1, count // 4), 1 + rng.uniform(-1e-4, 1e-4, count // 4)))
    small = rng.uniform(-2, 2, count // 2)
    if name in ("sin", "cos", "tan"):  # the numbers nearest to multiples of a quarter turn
        small[::2] = rng.integers(1, 636_000, len(small[::2])) * (math.pi / 2)
    found = np.concatenate((rng.uniform(low, high, count // 4), small, 10.0 ** rng.uniform(-12, 0, count // 4)))
    return np.clip(found, low, high) if name != "acosh" else 1 + np.abs(found - 1)


@pytest.mark.parametrize("kind", [Kind.F64, Kind.F32])
@pytest.mark.parametrize("name", VOCABULARY)
def test_tiers_agree(name: str, kind: Kind) -> None:
    dtype = np.float64 if kind is Kind.F64 else np.float32
    with np.errstate(all="ignore"):
        values = np.concatenate((np.array(SPECIAL), samples(name, 2000), [np.nan, 1e15])).astype(dtype)
    for count in (1, 7, len(values)):
        for got, want in both(single(name, kind, count), [values[-count:].copy()]):
            assert same_bits(got, want)


@pytest.mark.parametrize("kind", [Kind.F64, Kind.F32])
@pytest.mark.parametrize("name", [*sorted(FUNCTIONS), "pow", "log", "root"])
def test_compiled_as_defined(name: str, kind: Kind) -> None:
    """The bits of the definition, run step by step: what the first items of a process are computed by."""
    function, parameter = FUNCTIONS[name][:2] if name in FUNCTIONS else (name, 0)
    found = rows.definition(function, parameter, kind)
    assert found is not None
    dtype = np.float64 if kind is Kind.F64 else np.float32
    with np.errstate(all="ignore"):
        columns = [np.concatenate((np.array(SPECIAL), samples("exp", 200), samples("ln", 200))).astype(dtype)]
        columns += [np.random.default_rng(1).permutation(columns[0])] if name not in FUNCTIONS else []
        if name in ("log", "root"):
            columns[0][::3] = 2.0
        got = defined_function(function, kind, parameter)(*columns)
    assert same_bits(got, evaluate_definition(found, kind, columns))


def test_first_items_need_no_compiler() -> None:
    """A few items in a fresh process, and with them the bits of all later ones."""
    text = """
import sys
import numpy as np
from rho.backend.cpu.numpy_scalars import defined_function
from rho.typechecker.elements import Kind
for kind, dtype in ((Kind.F64, np.float64), (Kind.F32, np.float32)):
    few, many = np.linspace(-2, 2, 20).astype(dtype), np.linspace(-2, 2, 20).repeat(1000).astype(dtype)
    functions = [defined_function("exp", kind, 0, None), defined_function("circular", kind, 3, None)]
    first = [f(few) for f in functions]
    assert kind is Kind.F32 or "llvmlite" not in sys.modules
    later = [f(many)[::1000] for f in functions]
    assert all((a == b).all() for a, b in zip(first, later))
"""
    subprocess.run([sys.executable, "-c", text], check=True)


@pytest.mark.parametrize("features", [("avx512f", "avx2"), ("avx2",), ()])
@pytest.mark.parametrize("lanes", [1, 4, 8, 16, 32])
def test_entries_are_picked_alike(features: tuple[str, ...], lanes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By permutations of one register, of two, and from memory."""
    if not all(map(compiler.has_feature, features)):
        pytest.skip("another processor")
    monkeypatch.setattr(llvm_scalars, "has_feature", features.__contains__)
    nodes = ReadNode(0, Kind.F32), ApplyNode("circular", (0,), Kind.F32, 7)
    operand, body = KernelOperand(Kind.F32, VectorStride.UNIT, (True,)), Body(nodes, (BodyResult((1,), Kind.F32, None),))
    text = llvm_text(program_of(Kernel(Form.MAP, 1, (operand,), body)), 4 * lanes)
    assert ("permvar" in text, "permps" in text) == ("avx512f" in features, features == ("avx2",))
    call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(compiler.link(compiler.compile_text(text)))
    with np.errstate(all="ignore"):
        values = np.concatenate((SPECIAL, np.linspace(-10, 10, 333))).astype(np.float32)
    got = np.empty_like(values)
    words = (ctypes.c_int64 * 7)(len(values), 0, values.ctypes.data, 4, got.ctypes.data, 4, 0)
    assert call(ctypes.addressof(words)) == 0
    assert same_bits(got, defined_function("circular", Kind.F32, 7)(values))


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_error_bound(name: str) -> None:
    function, parameter, exact, bound, _ = FUNCTIONS[name]
    own = defined_function(function, Kind.F64, parameter)
    values = samples(name, 2000)
    with np.errstate(all="ignore"):
        got = own(values)
    worst = 0.0
    for x, y in zip(values.tolist(), got.tolist(), strict=True):
        true = exact(mpmath.mpf(x))
        unit = math.ulp(float(true))
        if math.isfinite(y):
            worst = max(worst, float(abs(mpmath.mpf(y) - true) / unit))
    assert worst <= bound, worst


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_error_bound_of_the_narrow_kind(name: str) -> None:
    """Against binary64, over all binades: a step that is no power of two through the bit patterns."""
    function, parameter, *_ = FUNCTIONS[name]
    narrow, wide = defined_function(function, Kind.F32, parameter), defined_function(function, Kind.F64, parameter)
    found = rows.definition(function, parameter, Kind.F32)
    bound = 0.6 if found is not None and found.kind is Kind.F64 and name not in ("sin", "cos") else 1.5
    last = 1e6 if name in ("sin", "cos", "tan") else 3.4e38
    places = [np.arange(1, np.array(last, np.float32).view(np.int32), 4099, dtype=np.int32)]
    places += [np.arange(*np.array(ends, np.float32).view(np.int32), 97, dtype=np.int32) for ends in ((0.01, 8.0), (0.5, 2.0))]
    points = np.concatenate(places).view(np.float32)
    with np.errstate(all="ignore"):
        for values in (points, -points) if name not in LOGARITHMS else (points,):
            got, true = narrow(values), wide(values.astype(np.float64))
            rounded = true.astype(np.float32)
            unit = np.spacing(np.abs(rounded)).astype(np.float64)
            worst = np.abs(got.astype(np.float64) - true) / unit
            finite = np.isfinite(rounded) & np.isfinite(got)
            assert (np.isfinite(rounded) == np.isfinite(got)).all()
            assert worst[finite].max(initial=0) <= bound, worst[finite].max()


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_special_values_of_the_narrow_kind(name: str) -> None:
    function, parameter, *_ = FUNCTIONS[name]
    narrow, wide = defined_function(function, Kind.F32, parameter), defined_function(function, Kind.F64, parameter)
    values = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, 120.0, -120.0], np.float32)
    with np.errstate(all="ignore"):
        assert np.allclose(narrow(values), wide(values.astype(float)).astype(np.float32), 2.5e-7, 0, equal_nan=True)
        assert (np.signbit(narrow(values[:2])) == np.signbit(wide(values[:2].astype(float)))).all()


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_special_values(name: str) -> None:
    """Those of the C library, to the sign of zero."""
    function, parameter, *_ = FUNCTIONS[name]
    own = defined_function(function, Kind.F64, parameter)
    with np.errstate(all="ignore"):
        got = own(np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324]))
    nan, inf, tiny, turn = math.nan, math.inf, 5e-324, math.pi / 2
    want = {
        "exp": [1, 1, inf, 0.0, nan, 1, 1], "ln": [-inf, -inf, inf, nan, nan, -744.4400719213812, nan],
        "sin": [0.0, -0.0, nan, nan, nan, tiny, -tiny], "cos": [1, 1, nan, nan, nan, 1, 1],
        "tan": [0.0, -0.0, nan, nan, nan, tiny, -tiny], "atan": [0.0, -0.0, turn, -turn, nan, tiny, -tiny],
        "asin": [0.0, -0.0, nan, nan, nan, tiny, -tiny], "acos": [turn, turn, nan, nan, nan, turn, turn],
        "sinh": [0.0, -0.0, inf, -inf, nan, tiny, -tiny], "cosh": [1, 1, inf, inf, nan, 1, 1],
        "asinh": [0.0, -0.0, inf, -inf, nan, tiny, -tiny], "acosh": [nan, nan, inf, nan, nan, nan, nan],
        "atanh": [0.0, -0.0, nan, nan, nan, tiny, -tiny], "expm1": [0.0, -0.0, inf, -1, nan, tiny, -tiny],
        "log1p": [0.0, -0.0, inf, nan, nan, tiny, -tiny], "log2": [-inf, -inf, inf, nan, nan, -1074, nan],
        "log10": [-inf, -inf, inf, nan, nan, -323.3062153431158, nan],
        "tanh": [0.0, -0.0, 1, -1, nan, tiny, -tiny], "erf": [0.0, -0.0, 1, -1, nan, tiny, -tiny],
    }[name]  # fmt: skip
    assert same_bits(got, np.array(want, float))


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_ends_of_domains(name: str) -> None:
    """Where the C library has no value or an infinite one, at and beside the ends."""
    function, parameter, *_ = FUNCTIONS[name]
    ends = np.array([-2, np.nextafter(-1, -2), -1, np.nextafter(-1, 0), np.nextafter(1, 0), 1, np.nextafter(1, 2), 2, 709.7,
                     709.8, 710.4758600739439, 710.475860073944, -745.1, -746.0])  # fmt: skip
    library = {"asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh, "acosh": np.arccosh,
               "atanh": np.arctanh, "ln": np.log}.get(name) or getattr(np, name, None)  # fmt: skip
    if library is None:
        pytest.skip("NumPy has no erf")
    with np.errstate(all="ignore"):
        assert np.allclose(defined_function(function, Kind.F64, parameter)(ends), library(ends), 1e-13, 0, equal_nan=True)


def test_logarithms_to_any_base() -> None:
    """Powers of 2 and of 10 have exact ones; the others are quotients."""
    log = defined_function("log", Kind.F64, 0)
    assert log(2.0, 2.0 ** np.arange(-1074, 1024)).tolist() == list(range(-1074, 1024))
    assert log(10.0, np.array([float(f"1e{k}") for k in range(23)])).tolist() == list(range(23))
    bases, values = np.repeat([2.0, 10.0, 3.0, 0.5, 1.0, -1.0, np.nan], 6), np.tile([0.0, -1.0, 1.0, 7.0, np.inf, np.nan], 7)
    with np.errstate(all="ignore"):
        ln = defined_function("ln", Kind.F64, 0)
        quotients = ln(values) / ln(bases)
        assert np.allclose(log(bases, values), quotients, 1e-15, 0, equal_nan=True)
        others = (bases != 2) & (bases != 10)
        assert same_bits(log(bases, values)[others], quotients[others])


def test_error_bound_of_logarithms_to_any_base() -> None:
    rng = np.random.default_rng(2)
    bases, values = np.exp(rng.uniform(-5, 5, 1000)), np.exp(rng.uniform(-300, 300, 1000))
    bases[:300], values[:300] = 1 + rng.uniform(-0.1, 0.1, 300), 1 + rng.uniform(-0.1, 0.1, 300)
    for base, x, y in zip(bases, values, defined_function("log", Kind.F64, 0)(bases, values), strict=True):
        true = mpmath.log(mpmath.mpf(x)) / mpmath.log(mpmath.mpf(base))
        assert abs(mpmath.mpf(y) - true) <= 3 * math.ulp(float(true))


@pytest.mark.parametrize("kind", [Kind.F64, Kind.F32])
def test_logarithms_to_constant_bases_and_roots(kind: Kind) -> None:
    values = np.abs(samples("exp", 500)).astype(np.float64 if kind is Kind.F64 else np.float32)
    for function in ("log", "root"):
        for base in (2.0, 10.0, 3.0, 0.5):
            body = [read(0, kind), ConstantNode(kind, base), ApplyNode(function, (1, 0), kind, 0)]
            for got, want in both(phase([500], [projection([500], [500], [0])], body, [2]), [values]):
                assert same_bits(got, want)
    root = defined_function("root", Kind.F64, 0)
    assert same_bits(root(np.array(2.0), np.array([0.0, -0.0, 2.0])), np.sqrt(np.array([0.0, -0.0, 2.0])))
    assert abs(root(np.array(3.0), np.array([27.0]))[0] - 3) < 1e-15


@pytest.mark.parametrize("kind", [Kind.F64, Kind.F32])
@pytest.mark.parametrize("parameter", [0, 4, -4, 8, -8, 9, 10, 11, 12, -9, -10])
def test_plain_circular_functions(parameter: int, kind: Kind) -> None:
    """Roots and less have NumPy's bits."""
    body = [read(0, kind), ApplyNode("circular", (0,), kind, parameter)]
    with np.errstate(all="ignore"):
        values = np.concatenate((SPECIAL, samples("atan", 300))).astype(np.float64 if kind is Kind.F64 else np.float32)
    count = len(values)
    for got, want in both(phase([count], [projection([count], [count], [0])], body, [1]), [values]):
        assert same_bits(got, want)


def test_table_of_erf() -> None:
    for table, exact in (("erf", mpmath.erf), ("erf_slope", lambda r: 2 / mpmath.sqrt(mpmath.pi) * mpmath.exp(-r * r))):
        found = coefficient_tables.entries(table)
        assert len(found) == 6 * coefficient_tables.STEPS_PER_UNIT + 1
        assert all(float(exact(mpmath.mpf(k) / coefficient_tables.STEPS_PER_UNIT)) == found[k] for k in range(0, len(found), 7))


def test_the_angle_of_a_point() -> None:
    """Within 2 ulp everywhere, and IEEE's answers for zeros of both signs, infinities and NaN; the same bits however many."""
    rng = np.random.default_rng(11)
    y = rng.standard_normal(3000) * 10.0 ** rng.integers(-200, 200, 3000)
    x = rng.standard_normal(3000) * np.where(rng.random(3000) < 0.5, 1.0, np.abs(y))
    ends = [0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 1.0, -1.0, 1e300, -1e300]
    pairs = np.array([(a, b) for a in ends for b in ends])
    own = defined_function("atan2", Kind.F64, 0)
    with np.errstate(all="ignore"):
        got, at_ends = own(y, x), own(pairs[:, 0], pairs[:, 1])
        assert same_bits(at_ends, np.arctan2(pairs[:, 0], pairs[:, 1]))
    for a, b, found in zip(y.tolist(), x.tolist(), got.tolist(), strict=True):
        exact = mpmath.atan2(mpmath.mpf(a), mpmath.mpf(b))
        assert abs(mpmath.mpf(found) - exact) <= 2 * mpmath.mpf(math.ulp(float(exact))), (a, b)
