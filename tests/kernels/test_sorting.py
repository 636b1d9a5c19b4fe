"""Grades through kernels are those of NumPy's keys, on every kind, in parts and whole."""

from __future__ import annotations

import numpy as np
import pytest

import rho
from rho.backend.kernels import policy
from rho.backend.kernels.sorting import MERGED_KINDS
from rho.backend.run.cpu import sorting
from rho.backend.run.cpu.library.keys import order_columns
from rho.tests.kernels.phases import data
from rho.typechecker.elements import Kind

pytest.importorskip("llvmlite")


@pytest.mark.parametrize("kind", sorted(sorting._KINDS, key=lambda kind: kind.value))
def test_grades(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(policy.SWITCH, "always")
    monkeypatch.setattr(sorting, "_PARTED", 0)
    for count in (2, 3, 7, 16, 17, 600, 3001):
        items = data(kind, count, count)
        for one in (items, np.sort(items), items[::-1].copy()):
            for descending in (False, True):
                wanted = np.argsort(order_columns(one, descending=descending)[0], kind="stable")
                for threads in (1, 2, 3, 4, 9):
                    made = sorting.graded(one, kind, descending, threads)
                    assert made is not None and made.dtype == np.int64 and np.array_equal(made, wanted)


def test_keys_with_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Low bits are cut, and ties of what is left are settled by them."""
    monkeypatch.setenv(policy.SWITCH, "always")
    rng = np.random.default_rng(4)
    near = np.append(1 + rng.integers(0, 500, 5000) * 2.0**-52, [-1e300, 1e300])
    few = rng.choice(rng.random(20), 5000)
    for items in (near, few, rng.integers(-(2**63), 2**63 - 1, 5000), np.append(rng.integers(0, 40, 400), [-(2**63), 2**63 - 1])):
        kind = Kind.F64 if items.dtype == np.float64 else Kind.I64
        made = sorting.graded(items, kind, False, 2)
        assert made is not None and np.array_equal(made, np.argsort(items, kind="stable"))


def test_what_numpy_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(policy.SWITCH, "always")
    assert sorting.graded(np.zeros(8)[::2], Kind.F64, False, 1) is None
    assert sorting.graded(np.zeros(1), Kind.F64, False, 1) is None
    assert sorting.graded(np.zeros((3, 3)), Kind.F64, False, 1) is None
    assert sorting.graded(np.zeros(9, complex), Kind.C128, False, 1) is None


@pytest.mark.parametrize("kind", sorted(MERGED_KINDS, key=lambda kind: kind.value))
def test_sorts_in_parts(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(policy.SWITCH, "always")
    monkeypatch.setattr(sorting, "_PARTED", 0)
    for count in (2, 3, 7, 16, 17, 600, 3001):
        items = data(kind, count, count)
        items = items[items == items]
        rare = np.sort(items)
        for one in (items, rare, rare[::-1], np.repeat(items, 2)[::2], np.resize(items[:2], count)):
            for threads in (2, 3, 4, 9):
                made = sorting.sorted_in_parts(one, kind, threads)
                assert (made is None) == (len(one) < 2)
                assert made is None or np.array_equal(made, np.sort(one))


def test_sorts_in_parts_are_the_grades_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Zeros of both signs stay in their order, NaN come last, both ways."""
    monkeypatch.setenv(policy.SWITCH, "always")
    monkeypatch.setattr(sorting, "_PARTED", 0)
    rng = np.random.default_rng(9)
    plain = rng.integers(-3, 4, 501) * rng.choice([-1.0, 1.0], 501)
    odd = np.where(rng.random(501) < 0.1, np.nan, plain)
    for dtype in (np.float64, np.float32):
        for items in (plain.astype(dtype), odd.astype(dtype)):
            for text, descending in (("{⍵[⍋⍵]}", False), ("{⍵[⍒⍵]}", True)):
                wanted = items[np.argsort(order_columns(items, descending=descending)[0], kind="stable")]
                made = rho.compile(text)(items)
                assert np.array_equal(made, wanted, equal_nan=True) and np.array_equal(np.signbit(made), np.signbit(wanted))
