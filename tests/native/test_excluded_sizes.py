"""Sizes that a condition excludes: nothing is prepared for them where the condition's arm reads what only the others have."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rho
from rho.backend.jit import tiering
from rho.backend.vm.runtime import native

pytestmark = pytest.mark.long

Reference = Callable[[Any], Any]
CALLS = 5
WHOLE = ("(+/⍵>12)=≢⍵", "(⍴⍵)≡⍴(⍵>12)⌿⍵", "((⍵>12)⌿⍵)≡⍵", "(+/⍵>12)≥≢⍵", "(≢⍵)=≢(⍵>12)⌿⍵")
"""Conditions that hold where all items are above 12."""
ARMS: tuple[tuple[str, Reference], ...] = (
    ("⍵+(⍵>12)⌿⍵", lambda x: x + x),
    ("⌽⍵-2×(⍵>12)⌿⍵", lambda x: -x[::-1]),
    ("⍵+.×(⍵>12)⌿⍵", lambda x: x @ x),
    ("+/⍵×(⍵>12)⌿⍵", lambda x: (x * x).sum()),
    ("((⍵>12)⌿⍵)[⍋⍵]", lambda x: np.sort(x, kind="stable")),
    ("{⍵+(⍵>12)⌿⍵}⍣1⊢⍵", lambda x: x + x),
)
CASES: list[tuple[str, Reference]] = [
    ("{(+/⍵>12)=≢⍵ : ⍵+(⍵>12)⌿⍵ ⋄ ⍵}", lambda x: x + x if (x > 12).all() else x),
    ("{p←⍵>12 ⋄ ~∧/p : ¯1 ⋄ +/⍵+p⌿⍵}", lambda x: (x + x).sum() if (x > 12).all() else -1),
    ("{{(+/⍵>12)=≢⍵ : ⍵+(⍵>12)⌿⍵ ⋄ ⍵}⍣3⊢⍵}", lambda x: 8 * x if (x > 12).all() else x),
    ("{,{(+/⍵>12)=≢⍵ : ⍵+(⍵>12)⌿⍵ ⋄ ⍵}⍤1⊢(1,≢⍵)⍴⍵}", lambda x: x + x if (x > 12).all() else x),
]


def _of(condition: str, arm: tuple[str, Reference]) -> tuple[str, Reference]:
    text, reference = arm
    rest = "0" if np.ndim(reference(np.arange(3))) == 0 else "0×⍵"
    return f"{{{condition} : {text} ⋄ {rest}}}", lambda x: reference(x) if (x > 12).all() else 0 * reference(x)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    if native() is None:
        pytest.skip("no native code here")
    monkeypatch.setattr(tiering, "COMPILE_NANOSECONDS", 1.0)


def inputs(length: int) -> list[Any]:
    """All items above 12, and not."""
    above = np.arange(length)[::-1] + 20
    return [above, np.where(np.arange(length) == 1, 3, above), np.zeros(length, np.int64)]


CASES += [_of(WHOLE[at % len(WHOLE)], arm) for at, arm in enumerate(ARMS)]
CASES += [_of(condition, ARMS[0]) for condition in WHOLE[1:]]


@pytest.mark.parametrize(("text", "reference"), CASES)
def test_lengths_that_a_condition_makes_equal(text: str, reference: Reference) -> None:
    function = rho.compile(text)
    for length in range(6):
        for given in inputs(length):
            for _ in range(CALLS):
                assert np.array_equal(function(given), reference(given)), (length, given)


def test_a_count_that_a_condition_fixes() -> None:
    function = rho.compile("{(+/⍵>12)=3 : 1 2 3+(⍵>12)⌿⍵ ⋄ 1 2 3}")
    for length in (3, 4, 5):
        for count in (3, 2, 3, length):
            given = np.where(np.arange(length) < count, 20, 1)
            for _ in range(CALLS):
                assert np.array_equal(function(given), [21, 22, 23] if count == 3 else [1, 2, 3]), (length, count)


def test_a_loaded_program_runs_again(tmp_path: Path) -> None:
    (tmp_path / "p.rho").write_text("input x : i64[n]\noutput y ← {(+/⍵>12)=≢⍵ : ⍵+(⍵>12)⌿⍵ ⋄ ⍵} x\n", encoding="utf-8")
    program = rho.load(tmp_path / "p.rho")
    for given in [*inputs(3), *inputs(5), *inputs(0)]:
        for _ in range(CALLS):
            assert np.array_equal(program.run(x=given)["y"], given + given if (given > 12).all() else given)
