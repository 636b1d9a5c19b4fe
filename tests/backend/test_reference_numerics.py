"""Order of sums, Philox, linear algebra and transforms of the reference."""

from __future__ import annotations

import cmath
import math
import random

import pytest

from rho import backend
from rho.backend.reference import linear, linear as matrices, reductions, reductions as sums, scalars
from rho.backend.reference.interpreter import interpret
from rho.backend.vm.check_failures import CheckFailed
from rho.backend.vm.values import Array, array, round_f32, to_numpy
from rho.lang.diagnostics.model import RhoError
from rho.lang.syntax.source import Source
from rho.typechecker.check import check
from rho.typechecker.core.operations import Core
from rho.typechecker.elements import Kind

numpy = pytest.importorskip("numpy")
F32, F64, C128, I64 = Kind.F32, Kind.F64, Kind.C128, Kind.I64


def shape_of_sum(count: int) -> str:
    return sums.combine([str(i) for i in range(count)], lambda a, b: f"({a} {b})")


def test_the_order_of_short_sums_is_halving() -> None:
    assert shape_of_sum(1) == "0"
    assert shape_of_sum(3) == "((0 2) 1)"
    assert shape_of_sum(4) == "((0 2) (1 3))"
    assert shape_of_sum(5) == "(((0 4) 2) (1 3))"
    with pytest.raises(ValueError):
        shape_of_sum(0)


def test_rows_go_down_the_lanes_and_blocks_pair_up() -> None:
    lanes = sums.combine([(i,) for i in range(600)], lambda a, b: a + b)
    assert lanes[:3] == (0, 256, 512)
    blocks = sums.combine(list(range(5 * sums.SUMMATION_BLOCK)), lambda a, b: a + b)
    assert blocks == sum(range(5 * sums.SUMMATION_BLOCK))
    assert sums.tree(list("abcde"), lambda a, b: f"({a}{b})") == "(((ab)(cd))e)"


def test_every_item_is_added_once() -> None:
    for count in (255, 256, 257, 511, 4095, 4096, 4097):
        assert sorted(sums.combine([[i] for i in range(count)], lambda a, b: a + b)) == list(range(count))


def test_float_reductions_follow_the_order() -> None:
    items = [0.1, 0.2, 0.3]
    assert reductions.reduce("add", array(F64, (3,), items), 0).item == (0.1 + 0.3) + 0.2
    narrow = array(F32, (3,), items)
    a, b, c = narrow.data
    assert reductions.reduce("add", narrow, 0).item == round_f32(round_f32(a + c) + b)  # type: ignore[operator, arg-type]
    assert math.copysign(1, reductions.reduce("add", array(F64, (1,), [-0.0]), 0).item) == -1  # type: ignore[arg-type]
    assert reductions.scan("add", array(F64, (3,), items), 0).data == (0.1, 0.1 + 0.2, 0.1 + 0.2 + 0.3)


@pytest.mark.parametrize(
    ("counter", "key", "words"),
    [
        ((0,) * 4, (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)  # fmt: skip
def test_philox_known_answers(counter: scalars.Words4, key: tuple[int, int], words: scalars.Words4) -> None:
    assert scalars.philox_block(counter, key) == words


def test_uniform_numbers_are_spread_and_keyed() -> None:
    values = [scalars.uniform(-3, 7, i) for i in range(2000)]
    assert all(0 <= v < 1 for v in values) and len(set(values)) == 2000
    assert abs(sum(values) / 2000 - 0.5) < 0.03
    assert scalars.uniform(1, 0, 5) != scalars.uniform(1, 1, 5) != scalars.uniform(2, 1, 5)
    assert scalars.uniform(0, 0, 0) == ((0x6627E8D5 >> 5) * 2**26 + (0xE169C58D >> 6)) / 2**53
    assert scalars.uniform(0, 0, 1) == ((0xBC57AC4C >> 5) * 2**26 + (0x9B00DBD8 >> 6)) / 2**53


# -------------------------------------------------------------------- linear algebra

SHAPES = [(1, 1), (3, 3), (5, 5), (5, 2), (2, 5), (4, 3), (0, 0), (3, 0), (0, 3)]


def matrix(rows: int, columns: int, kind: Kind, seed: int = 1) -> Array:
    chance = random.Random(f"{rows} {columns} {seed}")
    items = [chance.uniform(-1, 1) + (chance.uniform(-1, 1) * 1j if kind.is_complex else 0) for _ in range(rows * columns)]
    return array(kind, (rows, columns), items)


def apply(name: str, args: list[Array], *results: tuple[Kind, tuple[int, ...]]) -> list[object]:
    values = linear.library(name, args, [k for k, _ in results], [s for _, s in results])
    assert [v.shape for v in values] == [s for _, s in results]
    return [to_numpy(v) for v in values]


def near(a: object, b: object) -> bool:
    return bool(numpy.allclose(a, b, rtol=1e-13, atol=1e-14))


@pytest.mark.parametrize("kind", [F64, C128])
@pytest.mark.parametrize(("m", "n"), SHAPES)
def test_qr_and_svd_reconstruct_with_the_documented_signs(m: int, n: int, kind: Kind) -> None:
    a, k = matrix(m, n, kind), min(m, n)
    q, r = apply("qr", [a], (kind, (m, k)), (kind, (k, n)))
    assert near(q @ r, to_numpy(a)) and near(q.conj().T @ q, numpy.eye(k)) and near(numpy.tril(r, -1), 0)
    assert (numpy.diagonal(r).real >= 0).all() and near(numpy.diagonal(r).imag, 0)
    u, s, v = apply("svd", [a], (kind, (m, k)), (F64, (k,)), (kind, (k, n)))
    assert near((u * s) @ v, to_numpy(a)) and near(u.conj().T @ u, numpy.eye(k)) and near(v @ v.conj().T, numpy.eye(k))
    if k:
        assert near(s, numpy.linalg.svd(to_numpy(a), compute_uv=False))
        for column in u.T:
            leading = column[numpy.argmax(abs(column))]
            assert leading.real > 0 and abs(leading.imag) < 1e-12


def test_svd_of_low_rank_has_orthonormal_factors() -> None:
    a = array(F64, (3, 3), [1, 2, 3, 2, 4, 6, 3, 6, 9])
    u, s, v = apply("svd", [a], (F64, (3, 3)), (F64, (3,)), (F64, (3, 3)))
    assert near((u * s) @ v, to_numpy(a)) and near(u.T @ u, numpy.eye(3)) and near(v @ v.T, numpy.eye(3))


@pytest.mark.parametrize("kind", [F64, C128])
@pytest.mark.parametrize("n", [0, 1, 2, 5, 8])
def test_eigh_and_cholesky(n: int, kind: Kind) -> None:
    g = to_numpy(matrix(n, n, kind))
    h = g @ g.conj().T + numpy.eye(n) * 0.1
    a = Array(kind, (n, n), tuple(h.ravel().tolist()))
    w, v = apply("eigh", [a], (F64, (n,)), (kind, (n, n)))
    assert near(v * w @ v.conj().T, h) and near(v.conj().T @ v, numpy.eye(n)) and (numpy.diff(w) >= 0).all()
    (lower,) = apply("cholesky", [a], (kind, (n, n)))
    assert near(lower @ lower.conj().T, h) and near(numpy.triu(lower, 1), 0)


@pytest.mark.parametrize("kind", [F64, C128])
@pytest.mark.parametrize(("m", "n"), [s for s in SHAPES if min(s)])
def test_inverse_and_solve(m: int, n: int, kind: Kind) -> None:
    a, b = matrix(m, n, kind), matrix(m, 2, kind, seed=2)
    (inverse,) = apply("inverse", [a], (kind, (n, m)))
    assert near(inverse, numpy.linalg.pinv(to_numpy(a)))
    (x,) = apply("solve", [b, a], (kind, (n, 2)))
    assert near(x, numpy.linalg.lstsq(to_numpy(a), to_numpy(b), rcond=None)[0])


def test_vectors_and_scalars_invert_as_columns() -> None:
    assert near(apply("inverse", [array(F64, (3,), [1, 2, 3])], (F64, (3,)))[0], [1 / 14, 2 / 14, 3 / 14])
    assert near(apply("inverse", [array(F64, (), [4])], (F64, ()))[0], 0.25)
    a = array(F64, (3, 2), [1, 1, 1, 2, 1, 3])
    assert near(apply("solve", [array(F64, (3,), [1, 0, 0]), a], (F64, (2,)))[0], [4 / 3, -0.5])


def test_leading_axes_are_a_frame() -> None:
    stackd = array(F64, (2, 2, 2), [1, 2, 3, 4, 2, 0, 0, 5])
    (d,) = apply("det", [stackd], (F64, (2,)))
    assert near(d, [-2, 10])
    (inverse,) = apply("inverse", [stackd], (F64, (2, 2, 2)))
    assert near(inverse, numpy.linalg.inv(to_numpy(stackd)))


def test_what_cannot_be_solved_fails() -> None:
    singular = [[1.0, 2.0], [2.0, 4.0]]
    for run in (
        lambda: matrices.solve(singular, matrices.identity(2), 2),
        lambda: matrices.solve([[0.0], [0.0]], [[1.0], [1.0]], 1),
        lambda: matrices.cholesky([[0.0]]),
        lambda: matrices.cholesky([[1.0, 2.0], [2.0, 1.0]]),
    ):
        with pytest.raises(CheckFailed):
            run()
    assert matrices.determinant(singular) == 0


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 8])
def test_transforms_agree_with_numpy(n: int) -> None:
    line = to_numpy(matrix(2, n, C128))
    value = Array(C128, (2, n), tuple(line.ravel().tolist()))
    real = Array(F64, (2, n), tuple(line.real.ravel().tolist()))
    (moved,) = apply("fft", [value], (C128, (2, n)))
    (back,) = apply("ifft", [value], (C128, (2, n)))
    (half,) = apply("rfft", [real], (C128, (2, n // 2 + 1 if n else 0)))
    if n:
        assert near(moved, numpy.fft.fft(line)) and near(back, numpy.fft.ifft(line)) and near(half, numpy.fft.rfft(line.real))
        if n > 1:
            (again,) = apply("irfft", [value], (F64, (2, 2 * (n - 1))))
            assert near(again, numpy.fft.irfft(line))


def test_the_transform_of_an_impulse_is_exact() -> None:
    assert linear.fourier([1, 0, 0, 0], inverse=False) == [1] * 4
    assert cmath.isclose(linear.fourier([0, 1], inverse=False)[1], -1)


def test_divisors_of_complex_numbers_end() -> None:
    """Numbers that are not whole once made Euclid's algorithm run for ever."""
    from itertools import product

    from rho.backend.scalar.special import greatest_common_divisor

    parts = (0.1, 0.25, -4.7, 3.0, 1e-3, 1e300, 2**0.5)
    numbers = [complex(a, b) for a, b in product(parts, parts)]
    for x, y in product(numbers, numbers):
        greatest_common_divisor(x, y)
    assert greatest_common_divisor(6 + 0j, 4 + 0j) == 2


@pytest.mark.parametrize("program", ["⌹2 2⍴⍟100", "⌹2 2⍴4 7√8 27", "⌹2 2⍴0", "1 2⌹2 2⍴1 2 2 4", "⌹3 2⍴⍟7"])
def test_rounding_does_not_hide_a_singular_matrix(program: str) -> None:
    assert printed_or_code(program) == ["E703", "E703"]


def test_a_badly_scaled_matrix_is_not_singular() -> None:
    assert printed_or_code("1e20=(⌹2 2⍴1 0 0 1e¯20)[1;1]") == [(True,), (True,)]


def test_squares_of_far_numbers_are_not_needed() -> None:
    assert printed_or_code("0.5=1e300×(1e¯200⌹1e¯200)×(1 0⌹2 1⍴2e300 0)[0]") == [(True,), (True,)]


def printed_or_code(program: str) -> list[object]:
    """What the reference and the planned back end print, or the code of their failure."""
    core = check(Source("<test>", program)).core
    assert core is not None
    answers: list[object] = []
    for run in (lambda: interpret(core, {}, {}).printed[0].data, lambda: planned(core)):
        try:
            answers.append(run())
        except RhoError as error:
            answers.append(error.diagnostics[0].code)
    return answers


def planned(core: Core) -> tuple[object, ...]:
    bound = backend.load(core, {}, {})
    return tuple(backend.execute(backend.plan(bound), bound, {}).printed[0].value.ravel().tolist())
