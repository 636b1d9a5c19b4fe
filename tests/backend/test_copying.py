"""Copies between layouts: what is written is what NumPy copies, whoever does it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rho
from rho.backend.cpu import templates
from rho.backend.cpu.parallel_for import TaskLaunch
from rho.backend.cpu.templates import concatenate, contiguous_copy, copy_cyclically, copy_into
from rho.backend.jit.compiler import LruCache
from rho.backend.vm.run_state import MIN_POOLED

DTYPES = (np.bool_, np.uint8, np.int32, np.uint32, np.int64, np.float32, np.float64, np.complex64, np.complex128)
VIEWS: dict[str, Callable[[Any], Any]] = {
    "whole": lambda m: m,
    "transposed": lambda m: m.T,
    "rows reversed": lambda m: m[::-1],
    "columns reversed": lambda m: m[:, ::-1],
    "part": lambda m: m[1:, 3:-2],
    "every third column": lambda m: m[:, ::3],
    "one row for all": lambda m: np.broadcast_to(m[0], m.shape),
    "one column for all": lambda m: np.broadcast_to(m[:, :1], m.shape),
    "in threes": lambda m: m[:, :600].reshape(m.shape[0], 3, 200).transpose(1, 2, 0),
    "a vector": lambda m: m.reshape(-1)[5:],
    "backwards": lambda m: m.reshape(-1)[::-2],
}


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RHO_KERNELS", "always")
    monkeypatch.setattr(templates, "_kept", LruCache(256))


def numbers(shape: tuple[int, ...], dtype: Any = np.float64) -> Any:
    return np.random.default_rng(7).integers(0, 1 << 40, shape).astype(dtype)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("view", VIEWS)
def test_layouts_are_copied(view: str, threads: int) -> None:
    source = VIEWS[view](numbers((251, 703)))
    made = contiguous_copy(source, threads)
    assert made.nbytes >= MIN_POOLED and made.flags.c_contiguous and not np.may_share_memory(made, source)
    assert np.array_equal(made, source)


@pytest.mark.parametrize("dtype", DTYPES)
def test_kinds_are_copied(dtype: Any) -> None:
    source = numbers((517, 519), dtype).T
    made = contiguous_copy(source, 2)
    assert made.dtype == dtype and made.tobytes() == source.tobytes()


def test_nan_and_signs_of_zero_are_copied_bit_by_bit() -> None:
    source = numbers((1 << 16,), np.int64).view(np.float64)[::-1]
    assert contiguous_copy(source, 2).tobytes() == source.tobytes()


def test_a_large_copy_is_a_kernel() -> None:
    contiguous_copy(numbers((300, 200)).T, 2)
    (made,) = templates._kept.values()
    assert isinstance(made, TaskLaunch) and made.count > 1


def test_without_kernels_numpy_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RHO_KERNELS", "off")
    source = numbers((300, 200)).T
    assert np.array_equal(contiguous_copy(source, 2), source)
    (made,) = templates._kept.values()
    assert not isinstance(made, TaskLaunch)


@pytest.mark.parametrize("ahead", range(0, 9, 2))
def test_larger_than_caches_from_any_item_on(ahead: int) -> None:
    """Lines of memory are written past the caches: the items before the first line and after the last one too."""
    target, source = np.zeros((1 << 22) + 100), np.arange((1 << 22) + 100.0)
    copy_into(target[ahead : -9 + ahead // 2], source[ahead : -9 + ahead // 2], 2)
    assert np.array_equal(target[ahead : -9 + ahead // 2], source[ahead : -9 + ahead // 2])
    assert not target[:ahead].any() and not target[-9 + ahead // 2 :].any()


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_parts_are_joined_along_any_axis(axis: int) -> None:
    one, two, none = numbers((40, 50, 60)), -numbers((40, 50, 60))[:, :, ::-1], np.empty((40, 50, 60))
    none = none.take(range(0), axis)
    parts = [one, none, two, one.take(range(3), axis)]
    assert np.array_equal(concatenate(parts, axis, 2), np.concatenate(parts, axis))


@pytest.mark.parametrize("items", [1, 7, 1000, 30_000, 50_000])
def test_items_go_round_and_round(items: int) -> None:
    source = numbers((items,))
    assert np.array_equal(copy_cyclically(source, (123, 321), 2), np.resize(source, (123, 321)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{⌽⍵}", lambda m: m[:, ::-1]),
        ("{⍉⍵}", lambda m: m.T),
        ("{3⌽⍵}", lambda m: np.roll(m, -3, 1)),
        ("{¯5⊖⍵}", lambda m: np.roll(m, 5, 0)),
        ("{⍵,⍵}", lambda m: np.concatenate((m, m), 1)),
        ("{⍵⍪⌽⍵}", lambda m: np.concatenate((m, m[:, ::-1]))),
        ("{200 300⍴⍵}", lambda m: np.resize(m, (200, 300))),
        ("{310 205↑⍵}", lambda m: np.pad(m, ((0, 10), (0, 5)))),
        ("{10 5↓⍵}", lambda m: m[10:, 5:]),
    ],
)
def test_programs_that_move_items(text: str, expected: Callable[[Any], Any]) -> None:
    given = numbers((300, 200))
    before = given.copy()
    made = rho.compile(text)(given)
    assert np.array_equal(made, expected(given)) and not np.may_share_memory(made, given)
    made[...] = 0
    assert np.array_equal(given, before)
