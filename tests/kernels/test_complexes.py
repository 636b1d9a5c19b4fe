"""Complex numbers in kernels: the bits of NumPy on every layout, special values among them."""

from __future__ import annotations

import cmath
import math
from typing import Any

import numpy as np
import pytest
from values import is_within

import rho
from rho import backend
from rho.backend.cpu import kernels as compiled, parallel_for
from rho.backend.cpu.numpy_scalars import implementation, magnitude, multiply
from rho.backend.jit import tiering
from rho.backend.lower.body import Kernel, _most_square
from rho.tests.harness.tiers import agree, checked
from rho.tests.kernels.phases import apply, both, data, phase, projection, read, same_bits
from rho.typechecker.elements import Kind

KINDS = [Kind.C128, Kind.C64]
PART = {Kind.C64: Kind.F32, Kind.C128: Kind.F64}


@pytest.fixture(autouse=True)
def every_launch_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_for, "PARALLEL", 0)


def numbers(kind: Kind, count: int, seed: int) -> Any:
    parts = data(PART[kind], 2 * count, seed)
    return parts.view(np.complex64 if kind is Kind.C64 else np.complex128)


def same(left: Any, right: Any) -> bool:
    if left.dtype.kind != "c":
        return same_bits(left, right)
    return left.dtype == right.dtype and same_bits(left.real, right.real) and same_bits(left.imag, right.imag)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("function", ["add", "sub", "mul", "div", "eq", "ne"])
def test_two_operands(function: str, kind: Kind) -> None:
    for n in (1, 5, 129, 4099):
        line, back = projection([n], [n], [0]), projection([n], [n], [0], [-1], [n - 1])
        made = phase([n], [line, back], [read(0, kind), read(1, kind), apply(function, (0, 1), kind)], [2])
        for threads in (1, 3):
            for kernel, plain in both(made, [numbers(kind, n, 1), numbers(kind, n, 2)], threads):
                assert same(kernel, plain), (function, n)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("function", ["neg", "conj", "abs", "reciprocal", "pi_times"])
def test_one_operand(function: str, kind: Kind) -> None:
    for n in (3, 130, 5001):
        made = phase([n], [projection([n], [n], [0])], [read(0, kind), apply(function, (0,), kind)], [1])
        for kernel, plain in both(made, [numbers(kind, n, 3)]):
            assert same(kernel, plain), function


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("parameter", [9, 10, 11])
def test_parts(parameter: int, kind: Kind) -> None:
    body = [read(0, kind), apply("circular", (0,), kind, parameter, PART[kind])]
    for kernel, plain in both(phase([300], [projection([300], [300], [0])], body, [1]), [numbers(kind, 300, 3)]):
        assert same(kernel, plain)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("function", "parameter"), [("exp", 0), ("circular", -12)])
def test_exponentials(function: str, parameter: int, kind: Kind) -> None:
    """The bits of NumPy's tier, whose arrays go through the same formula, and the values of C."""
    for n in (3, 130, 5001):
        made = phase([n], [projection([n], [n], [0])], [read(0, kind), apply(function, (0,), kind, parameter, kind)], [1])
        for kernel, plain in both(made, [numbers(kind, n, 3)]):
            assert same(kernel, plain), function
    rng = np.random.default_rng(4)
    z = (rng.uniform(-30, 30, 4000) + 1j * rng.uniform(-9, 9, 4000)).astype(numbers(kind, 1, 1).dtype)
    made = phase([4000], [projection([4000], [4000], [0])], [read(0, kind), apply("exp", (0,), kind, 0, kind)], [1])
    wanted = np.array([cmath.exp(item) for item in z.tolist()])
    for kernel, _ in both(made, [z]):
        for mine, theirs in ((kernel.real, wanted.real), (kernel.imag, wanted.imag)):
            assert np.all(np.abs(mine - theirs) <= 4 * np.spacing(np.abs(theirs).astype(mine.dtype)))


def test_exponentials_at_the_ends() -> None:
    """What overflows alone, what has no imaginary part, what is at infinity."""
    inf, nan = math.inf, math.nan
    z = np.array([complex(720, 1.5707963267948966), complex(inf, 0.0), complex(inf, -0.0), complex(-inf, inf), complex(-inf, nan),
                  complex(inf, inf), complex(nan, 0.0), complex(-inf, 2.0), complex(inf, 2.0), complex(1.0, inf),
                  complex(709.5, -0.0)])  # fmt: skip
    with np.errstate(all="ignore"):
        made = implementation("exp", Kind.C128, Kind.C128)(z)
    exact = math.cos(1.5707963267948966) * math.exp(20) * math.exp(700)
    assert abs(made[0].real / exact - 1) < 1e-14 and made[0].imag == inf
    assert made[1] == complex(inf, 0) and math.copysign(1, made[2].imag) == -1
    assert made[3] == 0 and made[4] == 0
    assert made[5].real == inf and math.isnan(made[5].imag)
    assert math.isnan(made[6].real) and made[6].imag == 0
    assert made[7] == 0 and made[8] == complex(-inf, inf)
    assert math.isnan(made[9].real) and math.isnan(made[9].imag)
    assert abs(made[10].real / math.exp(709.5) - 1) < 1e-15 and math.copysign(1, made[10].imag) == -1


@pytest.mark.parametrize("kind", KINDS)
def test_layouts(kind: Kind, kernels: list[Kernel]) -> None:
    """Rows, columns, one number for all, every third number, chosen and converted."""
    space = [37, 41]
    reads = [projection(space, space, [0, 1]), projection(space, [41, 37], [1, 0]), projection(space, [41], [1]),
             projection(space, [37, 130], [0, 1], [1, 3], [0, 2])]  # fmt: skip
    body = [*(read(i, kind) for i in range(4)), apply("mul", (0, 1), kind), apply("sub", (4, 2), kind),
            apply("eq", (0, 3), kind), apply("select", (6, 5, 3), kind), apply("abs", (7,), kind)]  # fmt: skip
    arrays = [numbers(kind, 37 * 41, 1).reshape(space), numbers(kind, 41 * 37, 2).reshape(41, 37), numbers(kind, 41, 3),
              numbers(kind, 37 * 130, 4).reshape(37, 130)]  # fmt: skip
    for threads in (1, 3):
        for kernel, plain in both(phase(space, reads, body, [5, 8, 7]), arrays, threads):
            assert same(kernel, plain)
    assert len(kernels[-1].body.results[0].nodes) == 2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("space", [(9001,), (130, 40), (3, 517), (1153, 3), (9000, 2)])
def test_sums(kind: Kind, space: tuple[int, ...]) -> None:
    """Along and across, in the order of sums; a largest magnitude beside nothing complex."""
    for turned in (False, True):
        shape = [*space[:-2], *space[-2:][::-1]] if turned and len(space) > 1 else list(space)
        axes = [1, 0] if turned and len(space) > 1 else list(range(len(space)))
        view = projection(list(space), shape, axes)
        array = np.random.default_rng(1).standard_normal((*shape, 2)).astype(np.float32 if kind is Kind.C64 else np.float64)
        items = array.view(np.complex64 if kind is Kind.C64 else np.complex128)[..., 0]
        body = [read(0, kind), apply("mul", (0, 0), kind), apply("abs", (0,), kind)]
        for threads in (1, 3):
            for kernel, plain in both(phase(list(space), [view], body, [1, 0], "add"), [items], threads):
                assert same(kernel, plain), (space, turned)
            for kernel, plain in both(phase(list(space), [view], body, [2], "max"), [items], threads):
                assert same(kernel, plain), (space, turned)


@pytest.mark.parametrize("kind", KINDS)
def test_sums_of_what_no_strides_say(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    """Box by box, and cut: partial sums of complex numbers are joined as those of reals are."""
    boxes: list[object] = []
    real = compiled.BoxwiseRun.run
    monkeypatch.setattr(compiled.BoxwiseRun, "run", lambda self, operands: boxes.append(real(self, operands)) or boxes[-1])
    items = numbers(kind, 70 * 1200, 6).reshape(70, 1200)
    for program in ("{+/,⍉⍵}", "{+/1+,⍉⍵×⍵}", "{+/3 84000⍴,⍉⍵}"):
        made = []
        for mode in ("always", "off"):
            monkeypatch.setenv(tiering.SWITCH, mode)
            made.append(np.asarray(rho.compile(program)(items)))
        assert same(*made), program
    assert len(boxes) > 1 and all(results is not None for results in boxes)


def test_products_do_not_depend_on_the_processor() -> None:
    x, y = numbers(Kind.C128, 5000, 1), numbers(Kind.C128, 5000, 2)
    with np.errstate(all="ignore"):
        made = multiply(x, y)
        wanted = [complex(a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real)
                  for a, b in zip(x.tolist(), y.tolist(), strict=True)]  # fmt: skip
    assert same(made, np.array(wanted))


@np.errstate(all="ignore")  # as the executor calls these functions
def test_magnitudes() -> None:
    """Within an ulp and a half of the exact root, at every scale; infinite beside anything."""
    rng = np.random.default_rng(2)
    for scale in (1.0, 1e200, 1e-200, 1e-310, 1e307):
        z = (rng.standard_normal(400) + 1j * rng.standard_normal(400)) * scale
        exact = np.array([math.hypot(a.real, a.imag) for a in z.tolist()])
        assert np.all(np.abs(magnitude(z) - exact) <= 1.5 * np.spacing(exact))
    odd = np.array([complex(math.inf, math.nan), complex(math.nan, -math.inf), complex(math.nan, 1.0), 0j, 3 + 4j])
    assert magnitude(odd).tolist()[:2] == [math.inf, math.inf] and math.isnan(magnitude(odd)[2])
    assert magnitude(odd).tolist()[3:] == [0.0, 5.0]


@pytest.mark.parametrize("limit", [2.0, 0.1, 1e-140, 3.3e140, 1.0000000000000002])
@pytest.mark.parametrize("function", ["lt", "le", "ge", "gt"])
def test_magnitudes_beside_a_number(function: str, limit: float) -> None:
    """No root is taken, and the answer is that of the root, also a bit away from the bound."""
    for below in (False, True):
        most = _most_square(limit, below=below)
        after = math.nextafter(most, math.inf)
        inside = (lambda s: math.sqrt(s) < limit) if below else (lambda s: math.sqrt(s) <= limit)
        assert inside(most) and not inside(after)
    rng, written = np.random.default_rng(3), repr(limit).replace("-", "¯").replace("+", "")
    angle = rng.random(3000) * 7
    with np.errstate(all="ignore"):
        z = limit * (np.cos(angle) + 1j * np.sin(angle)) * rng.choice([1, 1 + 2e-16, 1 - 2e-16, 2, 0.5, 0, np.inf, 1e170], 3000)
    for compared in ((1, 2), (2, 1)):
        program = f"input z : c128[n]\noutput r ← {'(|z)' + _SIGN[function] + written}\n"
        if compared == (2, 1):
            program = f"input z : c128[n]\noutput r ← {written}{_SIGN[function]}|z\n"
        core = checked(program)
        assert core is not None
        found = []
        for mode in ("off", "always"):
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv(tiering.SWITCH, mode)
                with np.errstate(all="ignore"):
                    bound = backend.load(core, {"z": z}, {})
                    found.append(backend.execute(backend.plan(bound), bound, {"z": z}).outputs["r"].value)
        assert np.array_equal(*found)


_SIGN = {"lt": "<", "le": "≤", "ge": "≥", "gt": ">"}
PROGRAMS = """r ← {z ← ⍵ ⋄ (2≥|z)¿(c+z×z ⋄ z)}⍣9 ⊢ c
(z k) ← {(z k) ← ⍵ ⋄ a ← 2≥|z ⋄ (a¿(c+z×z ⋄ z) ⋄ k+a)}⍣20 ⊢ (c ⋄ 0×i64 2≥|c) ⋄ r ← k
r ← (+c)×c÷1+c
r ← (+/c×+c)+c[0]-|c
r ← (c=+c)+1<|c÷2
r ← (⍳≢c)×c
r ← {⍵+c64 ⌈/|c}⍣2 ⊢ 0×c64 c""".splitlines()


@pytest.mark.parametrize("mode", ["off", "always"])
@pytest.mark.parametrize("text", PROGRAMS)
def test_programs(text: str, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tiering.SWITCH, mode)
    core = checked("input c : c128[n] where n ≥ 1\n" + text.replace(" ⋄ r", "\nr") + "\noutput r\n")
    assert core is not None, text
    rng = np.random.default_rng(1)
    for n in (1, 37, 300):
        assert not agree(core, {"c": rng.standard_normal(n) + 1j * rng.standard_normal(n)}), (text, n)


def test_linked_sums() -> None:
    """Sums of complex numbers in a call that is linked, beside one that is real."""
    rng = np.random.default_rng(1)
    x, y = (rng.standard_normal(9000) + 1j * rng.standard_normal(9000) for _ in range(2))
    function = rho.compile("{p ← ⍺×⍵ ⋄ ((+/p) ⋄ (+/|p) ⋄ (+/p)×+p[0])}")
    first = function(x, y)
    for _ in range(400):
        made = function(x, y)
    assert all(same(np.asarray(a), np.asarray(b)) for a, b in zip(first, made, strict=True))
    assert is_within(made[0], (x * y).sum(), 256) and is_within(made[1], np.abs(x * y).sum())
