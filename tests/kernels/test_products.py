"""Products of matrices in pieces: the same values on any team and tier, linked or not, and BLAS as it was afterwards."""

from __future__ import annotations

import gc
import os
import sys
import threading
from itertools import product
from typing import Any

import numpy as np
import pytest
from values import is_within
from without_code import forget_code

import rho
from rho.backend.jit import tiering
from rho.backend.library import products
from rho.backend.library.products import bound_product, products_of
from rho.backend.loopir.ir import Index, LoopBuilder, quotient
from rho.backend.lower import phase as lower_phase
from rho.backend.vm import runtime
from rho.backend.vm.bytecode import NOT_APPLICABLE
from rho.typechecker.elements import Kind

pytestmark = pytest.mark.skipif(products.blas() is None, reason="NumPy's BLAS is none that is known")
KINDS = [
    (Kind.F64, np.float64, 16),
    (Kind.F32, np.float32, 16),
    (Kind.C128, np.complex128, 16),
    (Kind.C64, np.complex64, 16),
]
SMALL = [
    (2, 2, 2),
    (3, 5, 4),
    (1, 30, 200),
    (200, 30, 1),
    (1, 30, 2),
    (2, 30, 1),
    (100, 100, 100),
    (256, 512, 10),
    (2000, 30, 30),
    (700, 900, 1),
    (1, 900, 700),
    (97, 96, 48),
    (48, 96, 97),
]
LARGE = [(200, 300, 200), (333, 222, 130), (60, 300, 700)]
WAYS = list(product((False, True), (False, True)))


def product_of(kind: Kind, left: Any, right: Any, threads: int) -> Any:
    return products_of(kind, left[np.newaxis], right[np.newaxis], threads)[0]


def operands(shape: tuple[int, int, int], dtype: Any, turned: tuple[bool, bool]) -> tuple[Any, Any]:
    rows, shared, columns = shape
    rng = np.random.default_rng(rows)
    real = rng.random((rows, shared)) - 0.3j * rng.random((rows, shared)), rng.random((shared, columns)) + 0j
    left, right = [array.astype(dtype) if np.dtype(dtype).kind == "c" else array.real.astype(dtype) for array in real]
    return np.asfortranarray(left) if turned[0] else left, np.asfortranarray(right) if turned[1] else right


@pytest.mark.parametrize("shape", SMALL + LARGE)
def test_values(shape: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bits on any team and tier, however the operands lie."""
    for kind, dtype, ulps in KINDS:
        made = []
        for turned in WAYS:
            left, right = operands(shape, dtype, turned)
            exact = left.astype(np.complex128) @ right.astype(np.complex128)
            made += [product_of(kind, left, right, threads) for threads in (1, 2, 3)]
            assert is_within(made[-1], exact, ulps)
            with monkeypatch.context() as patch:
                patch.setattr(tiering, "mode", lambda: tiering.Mode.OFF)
                made += [product_of(kind, left, right, threads) for threads in (1, 3)]
                assert not (bound := bound_product(kind, left[np.newaxis], right[np.newaxis], 2)) or bound.pieces is None
            apart = np.repeat(np.repeat(left, 2, 0), 2, 1)[::2, ::2], np.flip(np.flip(right).copy())
            made.append(product_of(kind, *apart, 2))
        assert all(np.array_equal(one, made[0]) for one in made)


@pytest.mark.parametrize("shape", [(2, 3, 2), (9, 40, 1), (1, 40, 9), (20, 30, 40), (100, 100, 100), (210, 200, 210)])
def test_batches(shape: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Each product of a batch has the bits that it has alone."""
    for kind, dtype, _ in KINDS:
        left, right = operands(shape, dtype, (False, False))
        lefts, rights = np.stack([left, -left, left * dtype(0.3)]), np.stack([right, right * dtype(1.7), -right])
        alone = [product_of(kind, a, b, 1) for a, b in zip(lefts, rights, strict=True)]
        every = [(lefts, rights), (lefts.transpose(0, 2, 1).copy().transpose(0, 2, 1), rights[::-1].copy()[::-1])]
        for mode in (tiering.Mode.ALWAYS, tiering.Mode.OFF):
            with monkeypatch.context() as patch:
                patch.setattr(tiering, "mode", lambda mode=mode: mode)
                made = [products_of(kind, *both, threads) for both in every for threads in (1, 2, 5)]
                shared = products_of(kind, lefts, rights[:1], 2), products_of(kind, np.broadcast_to(left, lefts.shape), rights, 2)
            assert all(np.array_equal(one, np.stack(alone)) for one in made)
            assert np.array_equal(shared[0][0], alone[0]) and np.array_equal(shared[1][0], alone[0])


@pytest.mark.long
@pytest.mark.parametrize(("rows", "shared"), [(2, 3), (60, 40), (100, 200), (300, 200), (500, 90)])
def test_a_matrix_and_itself_transposed(rows: int, shared: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Symmetric, and the same on any team, tier and layout."""
    for kind, dtype, ulps in KINDS:
        matrix, _ = operands((rows, shared, 2), dtype, (False, False))
        made = []
        unaligned = np.frombuffer(bytearray(matrix.nbytes + 1), np.uint8, matrix.nbytes, 1).view(dtype).reshape(matrix.shape)
        unaligned[...] = matrix
        for one in (matrix, np.asfortranarray(matrix), np.repeat(matrix, 2, 1)[:, ::2], matrix[::-1].copy()[::-1], unaligned):
            made += [product_of(kind, one, one.T, threads) for threads in (1, 2, 5)]
            with monkeypatch.context() as patch:
                patch.setattr(tiering, "mode", lambda: tiering.Mode.OFF)
                made.append(product_of(kind, one, one.T, 2))
        assert is_within(made[0], matrix @ matrix.T, ulps) and np.array_equal(made[0], made[0].T)
        assert all(np.array_equal(one, made[0]) for one in made)


def test_pieces_cover_the_result() -> None:
    for shape in (*SMALL, *LARGE, (97, 4000, 50), (49, 4000, 96), (5000, 40, 3), (2000, 40, 2000)):
        left, right = operands(shape, np.float64, (False, False))
        bound, other = [bound_product(Kind.F64, left[np.newaxis], right[np.newaxis], threads) for threads in (5, 1)]
        if 1 in (shape[0], shape[2]):
            assert bound is None
            continue
        assert bound is not None and other is not None and bound.cuts == other.cuts  # whoever does them
        rows, columns = {cut.rows for cut in bound.cuts}, {cut.columns for cut in bound.cuts}
        assert not (rows - {(0, shape[0])} and columns - {(0, shape[2])}) and len(rows) * len(columns) == len(bound.cuts)
        for bands, size in ((sorted(rows), shape[0]), (sorted(columns), shape[2])):
            assert [start for start, _ in bands] == [0, *(stop for _, stop in bands[:-1])]
            assert bands[-1][1] == size and all(start % 48 == 0 for start, _ in bands)


def test_unaligned_operands(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bits as aligned ones, with kernels and without."""
    rng = np.random.default_rng(4)
    for kind, dtype, _ in KINDS:
        for rows, shared in ((3, 3), (5, 8), (13, 100)):
            matrix = np.frombuffer(bytearray(rows * shared * 16 + 1), dtype, rows * shared, 1).reshape(rows, shared)
            matrix[...] = rng.random((rows, shared))
            for left, right in (
                (matrix, rng.random((shared, 1)).astype(dtype)),
                (rng.random((1, shared)).astype(dtype), matrix.T),
            ):
                made = [product_of(kind, left, right, 2), product_of(kind, left.copy("K"), right.copy("K"), 2)]
                with monkeypatch.context() as patch:
                    patch.setattr(tiering, "mode", lambda: tiering.Mode.OFF)
                    made.append(product_of(kind, left, right, 2))
                assert all(np.array_equal(one, made[0]) for one in made)


def test_strides_that_blas_does_not_take() -> None:
    wide = np.random.default_rng(2).random((60, 80))
    for left, right in ((wide[::2, ::2], wide[:40]), (wide[:, ::-1], wide[:80].T), (wide[:1].repeat(60, 0)[:, :1], wide[:1])):
        assert is_within(product_of(Kind.F64, left, right, 2), left.copy() @ right.copy())


def test_values_that_are_not_finite() -> None:
    left = np.ones((100, 50))
    left[3, 4], left[70, 5] = np.nan, np.inf
    found = product_of(Kind.F64, left, np.ones((50, 60)), 2)
    assert np.isnan(found[3]).all() and np.isposinf(found[70]).all() and (found[4] == 50).all()


@pytest.mark.long
def test_blas_has_its_threads_again() -> None:
    found = products.blas()
    assert found is not None
    before = found.threads()
    first = products.alone()
    second = products.alone()
    assert found.threads() == 1
    del first
    gc.collect()
    assert found.threads() == 1
    del second
    gc.collect()
    assert found.threads() == before


@pytest.mark.long
def test_an_end_that_is_interrupted_is_made_good_by_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    found = products.blas()
    assert found is not None
    before = found.threads()

    def interrupted(held: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(products, "_leave", interrupted)
        patch.setattr(sys, "unraisablehook", lambda told: None)  # pytest's keeps what it is told of
        token = products.alone()
        del token
        gc.collect()
    token = products.alone()
    assert found.threads() == 1
    del token
    gc.collect()
    assert found.threads() == before


@pytest.mark.long
def test_a_number_that_somebody_sets_meanwhile_stays() -> None:
    found = products.blas()
    assert found is not None
    before = found.threads()
    try:
        found.set_threads(2)
        token = products.alone()
        found.set_threads(3)
        del token
        gc.collect()
        assert found.threads() == 3
    finally:
        found.set_threads(before)


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_of_a_product() -> None:
    found = products.blas()
    assert found is not None
    before = found.threads()
    token = products.alone()
    child = os.fork()
    if not child:
        fine = found.threads() == before
        del token
        os._exit(0 if fine and found.threads() == before else 1)
    assert os.waitpid(child, 0)[1] == 0
    del token
    gc.collect()
    assert found.threads() == before


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    if runtime.native() is None:
        pytest.skip("no native calls in this Python")
    monkeypatch.setattr(tiering, "COMPILE_NANOSECONDS", 1.0)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("text", ["{⍺+.×⍵}", "{7○1+⍺+.×⍵}", "{⍵+.×⍺}", "{(⍉⍺)+.×⍵}", "{⍺+.×⍉⍵}", "{(⍺+.×⍵)+.×⍵}"])
def test_linked(text: str) -> None:
    rng = np.random.default_rng(5)
    for dtype in (np.float64, np.float32):
        for count in (3, 120):
            left, right = rng.random((count, count)).astype(dtype), rng.random((count, count)).astype(dtype)
            function = rho.compile(text)
            first = function(left, right)
            for _ in range(8):
                assert np.array_equal(function(left, right), first)
            assert function._latest(left, right) is not NOT_APPLICABLE, text
            other = rng.random((count, count)).astype(dtype)
            assert np.array_equal(function(left, other), rho.compile(text)(left, other))


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("shapes", [((90, 40), (40,)), ((40,), (40, 90)), ((3, 3), (3,)), ((3,), (3, 3))])
def test_linked_with_a_vector(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    rng = np.random.default_rng(6)
    left, right = (rng.random(shape) for shape in shapes)
    function = rho.compile("{⍺+.×⍵}")
    first = function(left, right)
    assert is_within(first, left @ right)
    for _ in range(8):
        assert np.array_equal(function(left, right), first)
    assert function._latest(left, right) is not NOT_APPLICABLE


@pytest.mark.long
@pytest.mark.usefixtures("at_once")
def test_a_matrix_times_itself_transposed() -> None:
    """NumPy makes a half of it: its bits are symmetric, in a linked call too."""
    x = np.random.default_rng(7).random((150, 150))
    function = rho.compile("{⍺+.×⍵}")
    for _ in range(8):
        function(x, x.copy().T)
    expected = rho.compile("{⍺+.×⍵}")(x, x.T)
    with products.alone():
        assert np.array_equal(function(x, x.T), expected) and np.array_equal(expected, x @ x.T)


@pytest.mark.parametrize("text", ["{⍵+.×⍉⍵}", "{(⍉⍵)+.×⍵}", "{⍵(+.×⍤2)⊢⍉⍤2⊢⍵}"])
def test_itself_transposed_in_a_native_program(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No Python between: the bits of every tier and layout, of a batch and of several tiles too."""
    rng = np.random.default_rng(11)
    for shape in ((40, 30), (260, 300)) if "⍤" not in text else ((3, 40, 30),):
        for x in (rng.random(shape), np.asfortranarray(rng.random(shape)), rng.random(shape).astype(np.float32)):
            monkeypatch.setenv(tiering.SWITCH, "off")
            expected = rho.compile(text)(x)
            monkeypatch.setenv(tiering.SWITCH, "always")
            function = rho.compile(text)
            for _ in range(3):
                assert function(x).tobytes() == expected.tobytes()
            with monkeypatch.context() as patch:
                patch.delattr(products, "products_of")  # which Python would call
                assert function(x).tobytes() == expected.tobytes()


@pytest.mark.parametrize("mode", ["off", "always"])
def test_one_of_a_batch_that_is_the_other_operand(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only one product of the batch is of a matrix and its own transpose: the whole was refused, and nothing computed."""
    monkeypatch.setenv(tiering.SWITCH, mode)
    for rows in (20, 200):
        x = np.random.default_rng(rows).standard_normal((4, rows, rows))
        function = rho.compile("{(0⌷⍵)(+.×⍤2)⊢⍉⍤2⊢⍵}")
        for _ in range(3):
            assert is_within(function(x), x[0] @ x.transpose(0, 2, 1).copy(), 16)


@pytest.mark.usefixtures("at_once")
def test_on_several_threads_at_once() -> None:
    rng = np.random.default_rng(8)
    given = [(rng.random((120, 130)), rng.random((130, 140))) for _ in range(4)]
    function = rho.compile("{⍺+.×⍵}")
    expected = [function(*pair) for pair in given]
    for _ in range(8):
        function(*given[0])
    wrong: list[int] = []

    def call(own: int) -> None:
        for _ in range(40):
            if not np.array_equal(function(*given[own]), expected[own]):
                wrong.append(own)

    threads = [threading.Thread(target=call, args=(own,)) for own in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("shapes", [((2, 3, 70), (70,)), ((70,), (70, 3, 2)), ((3, 2, 2, 9), (9,)), ((20, 30), (30,))])
def test_products_with_a_vector_are_native_at_any_rank(shapes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tiering.SWITCH, "always")
    rng, called = np.random.default_rng(4), rho.compile("{⍺+.×⍵}")
    given = [rng.standard_normal(shape) for shape in shapes]
    first = [called(*given) for _ in range(4)][-1]
    monkeypatch.delattr(products, "summed_products")  # which Python would call
    assert called(*given).tobytes() == first.tobytes()


@pytest.mark.long
@pytest.mark.parametrize("rows", [1, 3, 5, 6])
def test_any_number_of_shared_rows_gives_the_same_bits(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A number that is no power of two is rounded down, and rows that remain are reduced alone."""
    matrix, vector = np.random.default_rng(1).standard_normal((13, 300)), np.arange(300.0)
    monkeypatch.setenv("RHO_KERNELS", "always")
    expected = rho.compile("{⍺+.×⍵}")(matrix, vector)
    monkeypatch.setattr(lower_phase, "SHARING_ROWS", rows)
    forget_code(monkeypatch)
    monkeypatch.setenv("RHO_KERNEL_CACHE", "off")
    np.testing.assert_array_equal(rho.compile("{⍺+.×⍵}")(matrix, vector), expected)
    with pytest.raises(AssertionError):  # what would read and write past the arrays
        quotient(LoopBuilder(), Index((), 13), 3)
