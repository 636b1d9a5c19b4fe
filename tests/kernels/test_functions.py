"""Every scalar function that kernels have, on every kind, gives the bits that NumPy gives, special values included."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from share import drawing

import rho
from rho.backend.graph.phases import ConstantNode, Structured
from rho.backend.jit import tiering
from rho.backend.lower.body import KINDS, legalize
from rho.backend.vm.check_failures import CheckFailed
from rho.tests.harness.tiers import kernels
from rho.tests.kernels.phases import apply, both, data, phase, projection, read, run, same_bits
from rho.typechecker.elements import FUNCTIONS, Kind, ResultKind

ORDER = sorted(KINDS, key=lambda kind: kind.value)
INEXACT = {"select", "floor", "ceil", "circular", "exp", "ln", "expm1", "log1p", "erf", "erfc", "pow", "log", "root"}
EXACT = [
    (name, kind)
    for name, row in FUNCTIONS.items()
    if row.result is not ResultKind.TARGET and name not in INEXACT
    for kind in ORDER
    if kind in row.kinds
]  # fmt: skip


def elementwise(function: str, kind: Kind, count: int, **more: object) -> Structured:
    arity = FUNCTIONS[function].arity
    body = [read(i, kind) for i in range(arity)]
    node = apply(function, range(arity), kind, **more)  # type: ignore[arg-type]
    return phase([count], [projection([count], [count], [0])] * arity, [*body, node], [arity])


@pytest.mark.parametrize(("function", "kind"), EXACT)
def test_exact_functions(function: str, kind: Kind) -> None:
    made = elementwise(function, kind, 333)
    if legalize(made) is None:
        pytest.skip("on NumPy")
    for count in (1, 31, 333):
        arrays = [data(kind, count, 7 * count + i) for i in range(FUNCTIONS[function].arity)]
        for got, want in both(elementwise(function, kind, count), arrays):
            assert same_bits(got, want), [(*pair, g, w) for *pair, g, w in zip(*arrays, got, want, strict=True) if g != w][:5]


def test_what_kernels_have() -> None:
    """The list above is not silently empty."""
    have = {(f, k) for f, k in EXACT if legalize(elementwise(f, k, 3)) is not None}
    assert len(have) > 90
    assert {(f, k) for f in ("add", "sub", "mul", "min", "max", "residue") for k in (Kind.U8, Kind.I32, Kind.I64)} <= have


@pytest.mark.parametrize("kind", ORDER)
def test_select(kind: Kind) -> None:
    count = 77
    body = [read(0, Kind.BOOL), read(1, kind), read(2, kind), apply("select", (0, 1, 2), kind)]
    made = phase([count], [projection([count], [count], [0])] * 3, body, [3])
    for got, want in both(made, [data(Kind.BOOL, count, 1), data(kind, count, 2), data(kind, count, 3)]):
        assert same_bits(got, want)


@pytest.mark.parametrize(("source", "target"), list(itertools.product(ORDER, ORDER)))
def test_conversions_with_checks(source: Kind, target: Kind) -> None:
    """Where every value fits; and where one does not, the code and the sentence are NumPy's."""
    count = 100
    values = (np.arange(count) % 2).astype(data(source, 1, 0).dtype)
    body = [read(0, source), apply("convert_checked", (0,), source, to=target)]
    made = phase([count], [projection([count], [count], [0])], body, [1])
    if legalize(made) is None:
        pytest.skip("on NumPy")
    for got, want in both(made, [values]):
        assert same_bits(got, want)
    for place in (3, 99):
        spoilt = values.copy()
        spoilt[place] = data(source, 400, place)[np.argmax(np.abs(data(source, 400, place).astype(np.float64)))]
        sentences = []
        for mode in (tiering.Mode.ALWAYS, tiering.Mode.OFF):
            try:
                sentences.append([r.tobytes() for r in run(made, [spoilt], mode)])
            except CheckFailed as failure:
                sentences.append([failure.code, failure.message])
        assert sentences[0] == sentences[1]


@pytest.mark.parametrize("function", ["floor", "ceil"])
@pytest.mark.parametrize("kind", [Kind.F32, Kind.F64])
def test_rounding(function: str, kind: Kind) -> None:
    count = 100
    values = (np.random.default_rng(3).standard_normal(count) * 1e6).astype(data(kind, 1, 0).dtype)
    dtype = values.dtype
    made = elementwise(function, kind, count)
    for got, want in both(made, [values]):
        assert same_bits(got, want)
    for bad in (np.nan, np.inf, -1e300, 9.3e18):
        with np.errstate(over="ignore"):
            values[-1] = dtype.type(bad)
        sentences = []
        for mode in (tiering.Mode.ALWAYS, tiering.Mode.OFF):
            with pytest.raises(CheckFailed) as failure:
                run(made, [values], mode)
            sentences.append(failure.value.message)
        assert sentences[0] == sentences[1]


@pytest.mark.parametrize("kind", [Kind.U8, Kind.I32, Kind.I64])
@pytest.mark.parametrize("exponent", [1, 2, 3, 10, 63])
def test_whole_powers(kind: Kind, exponent: int) -> None:
    body = [read(0, kind), ConstantNode(kind, exponent), apply("ipow", (0, 1), kind)]
    for got, want in both(phase([50], [projection([50], [50], [0])], body, [2]), [data(kind, 50, exponent)]):
        assert same_bits(got, want)


@pytest.mark.parametrize("kind", [Kind.F32, Kind.F64])
@pytest.mark.parametrize("exponent", [2.0, 3.0, 4.0, 0.5, -1.0])
def test_fixed_powers(kind: Kind, exponent: float) -> None:
    body = [read(0, kind), ConstantNode(kind, exponent), apply("pow", (0, 1), kind)]
    values = data(kind, 50, 4)
    for got, want in both(phase([50], [projection([50], [50], [0])], body, [2]), [values]):
        assert same_bits(got, want)


@pytest.mark.parametrize("text", ["{×⌿⍵}", "{×/⍵}", "{(×/⍵ ⋄ +/⍵-⍵)}", "{(×⌿⍵ ⋄ +⌿⍵-⍵)}", "{×⌿1+⍵*2}"])
@pytest.mark.parametrize("rows", [3, 10, 40])
def test_products_on_numpy_are_nan_only_where_a_factor_is_none(text: str, rows: int) -> None:
    """Whether all factors are finite is computed only where a product is not."""
    rng = np.random.default_rng(drawing(text, rows).getrandbits(32))
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e200, -1e200, 1e-200])
    for dtype in (np.float64, np.float32):
        for part in (0.0, 1e-3, 0.1):
            odd, plain = rng.choice(special, (rows, 3000)), rng.uniform(-2, 2, (rows, 3000))
            with np.errstate(over="ignore"):
                x = np.where(rng.random((rows, 3000)) < part, odd, plain).astype(dtype)
            given = np.ascontiguousarray(x if "⌿" in text else x.T)
            found = []
            for mode in ("off", "always"):
                with kernels(mode):
                    made = rho.compile(text)(given)
                results = made if isinstance(made, tuple) else (made,)
                found.append([np.where(np.isnan(result), np.nan, result).tobytes() for result in results])
            assert found[0] == found[1]
