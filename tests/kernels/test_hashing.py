"""Equal words are found by hashing as by sorting, also where all hashes are alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rho.backend.jit import tiering
from rho.backend.library import hash
from rho.backend.library.hash import PATIENCE, first_of_values, first_positions

_rng = np.random.default_rng(3)
CASES = {
    "wide": _rng.integers(-(2**63), 2**63 - 1, 3000),
    "few": _rng.integers(0, 9, 3000) * 2**55,
    "steps": np.arange(3000) * 2**40,
    "equal": np.full(70, -1),
    "one": np.array([5]),
}


@pytest.fixture(autouse=True)
def _always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tiering.SWITCH, "always")
    monkeypatch.setattr(hash, "PARALLEL", 0)


def first(words: Any) -> dict[int, int]:
    found: dict[int, int] = {}
    for place, word in enumerate(words.tolist()):
        found.setdefault(word, place)
    return found


@pytest.mark.parametrize("name", CASES)
def test_positions(name: str) -> None:
    words = CASES[name]
    known = first(words)
    made = hash.first_of_equal(words)
    assert made is not None and np.flatnonzero(made).tolist() == sorted(known.values())
    wanted = np.concatenate((words[::-1], _rng.integers(-9, 9, 90)))
    for threads in (1, 3):
        found = hash.positions(words, wanted, threads)
        assert found is not None and found.tolist() == [known.get(word, len(words)) for word in wanted.tolist()]
    empty = hash.positions(words, words[:0], 2)
    assert empty is not None and len(empty) == 0


def alike(count: int) -> Any:
    """Words whose hashes end in the same 24 bits: the hash is a chain of steps that can be undone."""
    made = []
    for number in range(count):
        word = number << 24
        word ^= word >> 32
        word = word * pow(-4417276706812531889, -1, 1 << 64) % (1 << 64)
        word ^= word >> 29 ^ word >> 58
        word = word * pow(-7046029254386353131, -1, 1 << 64) % (1 << 64)
        made.append(word ^ word >> 32)
    return np.array(made, np.uint64).view(np.int64)


def test_hashes_that_are_all_alike() -> None:
    words = alike(PATIENCE + 500)
    assert hash.first_of_equal(words) is None and hash.positions(words, words, 1) is None
    assert first_of_values(words).all() and np.array_equal(first_positions(words, words), np.arange(len(words)))
    assert hash.first_of_equal(words[: PATIENCE - 1]) is not None


def test_what_sorting_does() -> None:
    assert hash.first_of_equal(np.zeros(0, np.int64)) is None
    assert hash.first_of_equal(np.zeros(40, np.int64)[::2]) is None
    assert hash.first_of_equal(np.zeros(40, np.int32)) is None
