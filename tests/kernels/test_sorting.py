"""Grades and sorts through kernels are those of NumPy's keys, to the bit, on every kind, in parts and whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import rho
from rho.backend.cpu import parallel_for, templates
from rho.backend.cpu.numpy_reductions import order_columns
from rho.backend.cpu.views import DTYPES
from rho.backend.jit import tiering
from rho.backend.library import sort as sorting
from rho.backend.library.sort import sorted_items
from rho.backend.library.sort_codegen import SORTED_KINDS
from rho.tests.kernels.phases import data
from rho.typechecker.elements import Kind

THREADS = (1, 2, 3, 4, 9)
_rng = np.random.default_rng(11)


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Kernels and parts for vectors of any length."""
    monkeypatch.setenv(tiering.SWITCH, "always")
    monkeypatch.setattr(sorting, "_PARTED", 0)
    sorting._bound.clear()
    yield
    sorting._bound.clear()


def test_large_results_are_given_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """A view of a result was copied for the caller."""
    copied: list[Any] = []
    original = templates.contiguous_copy
    monkeypatch.setattr(templates, "contiguous_copy", lambda array, threads: copied.append(array) or original(array, threads))
    function, rows = rho.compile("{⍵[⍋⍵]}⍤1"), _rng.random((300, 100))
    results = [function(rows) for _ in range(6)]
    assert all(same(result, results[0]) for result in results)
    assert not copied


def same(left: Any, right: Any) -> bool:
    return left is right or (not np.shares_memory(left, right) and np.array_equal(left, right))


def _kinds(kinds: Any) -> Any:
    return pytest.mark.parametrize("kind", sorted(kinds, key=lambda kind: kind.value))


def _vectors(kind: Kind, count: int) -> list[Any]:
    """Ties, extremes, few distinct items, all equal, in order, reversed; of floats NaN of both signs, zeros, infinities."""
    dtype = DTYPES[kind]
    items = data(kind, count, count)
    found = [items, np.sort(items), np.sort(items)[::-1].copy(), np.full(count, items[0]), np.resize(items[:2], count)]
    if kind.is_float:
        special = np.array([np.nan, -np.nan, 0.0, -0.0, np.inf, -np.inf, 1.0, 5e-324], dtype)
        found += [_rng.choice(special, count), np.full(count, np.nan, dtype), np.full(count, -0.0, dtype)]
        found += [np.where(_rng.random(count) < 0.1, _rng.choice(special, count), _rng.standard_normal(count)).astype(dtype)]
    elif kind in (Kind.I64, Kind.I32):
        limits = np.iinfo(dtype)
        found += [_rng.integers(limits.min, limits.max, count, dtype, endpoint=True)]
        found += [_rng.choice(np.array([limits.min, limits.max, 0], dtype), count)]
    return found


def _same_bits(left: Any, right: Any) -> bool:
    return left.dtype == right.dtype and left.shape == right.shape and left.tobytes() == right.tobytes()


@_kinds(SORTED_KINDS)
@pytest.mark.parametrize(("glyph", "descending"), [("⍋", False), ("⍒", True)])
def test_sorts_in_native_programs(kind: Kind, glyph: str, descending: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors and rows, also of a transpose, with no Python between."""
    for count in (1, 2, 17, 600):
        vectors = _vectors(kind, count)
        expected = [sorted_items(items, descending=descending) for items in vectors]
        rows, sorted_rows = np.stack(vectors), np.stack(expected)
        for text, given, wanted in (
            (f"{{⍵[{glyph}⍵]}}", vectors, expected),
            (f"{{⍵[{glyph}⍵]}}⍤1", [rows, np.asfortranarray(rows)], [sorted_rows, sorted_rows]),
        ):
            function = rho.compile(text)
            for items in given * 3:
                function(items)
            with monkeypatch.context() as patch:
                patch.delattr(sorting, "pooled_empty")  # of every result of Python's
                assert all(_same_bits(function(items), result) for items, result in zip(given, wanted, strict=True))


@_kinds(sorting._KINDS)
def test_grades(kind: Kind) -> None:
    """None: many keys that differ in bits that are lost."""
    found = []
    for count in (2, 3, 7, 16, 17, 600, 3001):
        for items in _vectors(kind, count):
            for descending in (False, True):
                wanted = np.argsort(order_columns(items, descending=descending)[0], kind="stable")
                for threads in THREADS:
                    made = sorting.graded(items, kind, descending, threads)
                    assert made is None or _same_bits(made, wanted)
                    found.append(made is not None)
    assert np.mean(found) > (0.9 if kind in (Kind.F64, Kind.I64) else 0.99)


@_kinds(sorting._KINDS)
def test_grades_of_rows(kind: Kind) -> None:
    found = []
    for rows, length in ((1, 2), (5, 3), (40, 17), (3, 700)):
        for items in _vectors(kind, rows * length):
            matrix = items.reshape(rows, length)
            for descending in (False, True):
                wanted = np.argsort(order_columns(matrix, descending=descending)[0], axis=1, kind="stable")
                for threads in (1, 2, 3):
                    made = sorting.graded(matrix, kind, descending, threads)
                    assert made is None or _same_bits(made, wanted)
                    found.append(made is not None)
    assert np.mean(found) > (0.9 if kind in (Kind.F64, Kind.I64) else 0.99)


@pytest.mark.parametrize("dtype", [np.uint8, np.bool_])
def test_bytes_are_counted(dtype: Any) -> None:
    for count in (0, 1, 7, 5000, 70_000):
        for most in (1, 2, 256):
            items = _rng.integers(0, most, count).astype(dtype)
            assert _same_bits(sorted_items(items, descending=False), np.sort(items))
            assert _same_bits(sorted_items(items, descending=True), np.sort(items)[::-1].copy())


@_kinds(SORTED_KINDS)
def test_sorts_are_the_grades_order(kind: Kind) -> None:
    """Zeros of both signs and NaN of all bits stay in their order, NaN come last both ways; so on NumPy alone."""
    for count in (2, 3, 7, 16, 17, 600, 3001):
        for items in _vectors(kind, count):
            for descending in (False, True):
                wanted = items[np.argsort(order_columns(items, descending=descending)[0], kind="stable")]
                assert _same_bits(sorted_items(items, descending=descending), wanted)
                for threads in THREADS:
                    made = sorting.sorted_vector(items, kind, descending, threads)
                    assert (made is None) == (threads == 1) and (made is None or _same_bits(made, wanted))


def test_keys_with_no_room() -> None:
    """Low bits are lost, and ties of what is left are settled by them, also where that takes long."""
    near = np.append(1 + _rng.integers(0, 500, 5000) * 2.0**-52, [-1e300, 1e300])
    rare = np.append(_rng.random(5000), [np.nextafter(0.5, 1), 0.5, np.nextafter(0.5, 0)])
    few = _rng.choice(_rng.random(20), 5000)
    wide = _rng.integers(-(2**63), 2**63 - 1, 5000)
    apart = np.append(_rng.integers(0, 40, 400), [-(2**63), 2**63 - 1])
    given_up = 0
    for items in (near, rare, few, wide, apart):
        kind = Kind.F64 if items.dtype == np.float64 else Kind.I64
        for threads in THREADS:
            made = sorting.graded(items, kind, False, threads)
            given_up += made is None
            assert made is None or np.array_equal(made, np.argsort(items, kind="stable"))
    assert 0 < given_up < 5 * len(THREADS)


def test_more_parts_than_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorting, "_SPARE", 0)
    items = np.round(_rng.standard_normal(3001), 2)
    order = np.argsort(order_columns(items)[0], kind="stable")
    for long in (100, 400, 5000):
        monkeypatch.setattr(sorting, "_LONG", long)
        for threads in (2, 3, 5):
            sorting._bound.clear()
            assert _same_bits(sorting.sorted_vector(items, Kind.F64, False, threads), items[order])
            assert _same_bits(sorting.graded(items, Kind.F64, False, threads), order)


def test_without_native_launches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_for, "native", lambda: None)
    items = data(Kind.F32, 3001, 5)
    order = np.argsort(order_columns(items, descending=True)[0], kind="stable")
    for threads in (2, 3):
        assert _same_bits(sorting.sorted_vector(items, Kind.F32, True, threads), items[order])
        assert _same_bits(sorting.graded(items, Kind.F32, True, threads), order)


def test_what_numpy_does(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sorting.graded(np.zeros(8)[::2], Kind.F64, False, 1) is None
    assert sorting.graded(np.zeros(1), Kind.F64, False, 1) is None
    assert sorting.graded(np.zeros((3, 3, 3)), Kind.F64, False, 1) is None
    assert sorting.graded(np.zeros((0, 3)), Kind.F64, False, 1) is None
    assert sorting.graded(np.zeros((3, 0)), Kind.F64, False, 1) is None
    assert sorting.graded(np.zeros(9, complex), Kind.C128, False, 1) is None
    assert sorting.sorted_vector(np.zeros(8)[::2], Kind.F64, False, 2) is None
    assert sorting.sorted_vector(np.zeros(8, np.uint8), Kind.U8, False, 2) is None
    monkeypatch.setattr(sorting, "numpy_sort", lambda dtype: None)
    assert sorting.sorted_vector(np.arange(8.0)[::-1].copy(), Kind.F64, False, 2) is None
    assert sorting.graded(np.arange(8.0)[::-1].copy(), Kind.F64, False, 1) is None


class _Changing:
    """A launch before which somebody changes the items."""

    def __init__(self, launch: Any, items: Any, number: int) -> None:
        self.launch, self.items, self.number = launch, items, number

    def run(self, addresses: Any) -> int:
        self.items[:] = np.roll(self.items, 7) * (-1) ** self.number
        code: int = self.launch.run(addresses)
        return code


@pytest.mark.parametrize(("kind", "keyed"), [(Kind.F64, False), (Kind.F64, True), (Kind.I32, False), (Kind.I32, True)])
def test_a_changing_operand(kind: Kind, keyed: bool) -> None:
    """Items that change between counting and dealing leave all positions inside the vector."""
    items = _rng.integers(-1000, 1000, 4099).astype(DTYPES[kind])
    bound = sorting._sort_of(sorting._SortTask(kind, keyed, False, len(items), 3))
    assert bound is not None
    bound.launches = [_Changing(launch, items, number) for number, launch in enumerate(bound.launches)]  # type: ignore[misc]
    made = bound.run(items)
    assert made is None or len(made) == len(items)
    assert made is None or not keyed or (int(made.min()) >= 0 and int(made.max()) < len(items))


def test_orders_of_programs() -> None:
    plain = _rng.integers(-3, 4, 501) * _rng.choice([-1.0, 1.0], 501)
    odd = np.where(_rng.random(501) < 0.1, np.nan, plain)
    for dtype in (np.float64, np.float32):
        for items in (plain.astype(dtype), odd.astype(dtype)):
            for text, descending in (("{⍵[⍋⍵]}", False), ("{⍵[⍒⍵]}", True)):
                wanted = items[np.argsort(order_columns(items, descending=descending)[0], kind="stable")]
                assert _same_bits(np.asarray(rho.compile(text)(items)), wanted)
