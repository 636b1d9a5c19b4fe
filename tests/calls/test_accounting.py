"""A draft of a native call accounts for every phase: whichever launch is forgotten, there is no call.

The drafts of many programs are taken down as they are made; each launch and each call of Python's is then left out in turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import rho
from rho.backend.kernels import policy
from rho.backend.run import native, prepared
from rho.backend.run.cpu import linked_rows, linking
from rho.backend.run.cpu.accounting import is_accounted
from rho.backend.run.cpu.drafting import Row
from rho.backend.run.native.words import Operation

pytest.importorskip("llvmlite")
pytestmark = pytest.mark.skipif(native.native() is None, reason="no native calls in this Python")

MATRIX, SIDES = np.arange(60.0).reshape(12, 5), np.linspace(0, 1, 20000 * 8).reshape(20000, 8)
PROGRAMS: list[tuple[str, Any]] = [
    ("{1+⍵×2}", MATRIX), ("{(+/⍵ ⋄ ⌈⌿⍵)}", MATRIX), ("{+\\⍵}", MATRIX), ("{⍵+.×⍉⍵}", np.ones((40, 40))), ("{⍋⍵}", MATRIX[0]),
    ("{⍵[2 0 1;]}", MATRIX), ("{{⍵÷+/⍵}⍤1 ⊢ ⍵}", np.ones((40, 100))), ("{{e←*⍵-⌈/⍵ ⋄ e÷+/e}⍤1 ⊢ ⍵}", SIDES),
    ("{d←⍵-(+/,⍵)÷≢,⍵ ⋄ +/d×d}", MATRIX), ("{{⍵+0.5×⌽⍵}⍣5 ⊢ ⍵}", MATRIX), ("{+/⍵+⍳≢⍵}", np.arange(100_000.0)), ("{⍵}", MATRIX.T),
    ("{⌽⍵∘.×⍵}", MATRIX[0]), ("{+/,⍵×⍵}", MATRIX.astype(complex)), ("{⍵⍳3 2 1}", np.arange(9)),
    ("{{(⍉⍵)+.×⍵}⍤2 ⊢ ⍵}", np.ones((3, 4, 5))),
]  # fmt: skip


def drafts_of(text: str, argument: Any, monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[Row], int]]:
    """The drafts that calls of this function make."""
    seen: list[tuple[list[Row], int]] = []

    def taken_down(steps: Sequence[Row], arguments: int) -> bool:
        seen.append((list(steps), arguments))
        return is_accounted(steps, arguments)

    monkeypatch.setattr(linking, "is_accounted", taken_down)
    monkeypatch.setattr(policy, "mode", lambda: policy.Mode.ALWAYS)
    function = rho.compile(text)
    for _ in range(2 * prepared.FIRST_ASKED):
        function(argument)
    return seen


@pytest.mark.parametrize(("text", "argument"), PROGRAMS, ids=[text for text, _ in PROGRAMS])
def test_a_forgotten_launch_is_seen(text: str, argument: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    drafts = drafts_of(text, argument, monkeypatch)
    assert drafts
    for steps, arguments in drafts:
        assert is_accounted(steps, arguments)
        makers = [place for place, step in enumerate(steps) if step[0] in (Operation.LAUNCH, Operation.CALL)]
        assert makers
        for place in makers:
            assert not is_accounted([*steps[:place], *steps[place + 1 :]], arguments), steps[place]
            if steps[place][0] is Operation.LAUNCH:
                unwritten = (*steps[place][:2], ())
                assert not is_accounted([*steps[:place], unwritten, *steps[place + 1 :]], arguments), steps[place]


def test_a_kernel_that_is_not_bound_makes_no_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """In any mode: what a chain along rows would have made is in memory that somebody else had."""
    monkeypatch.setattr(policy, "mode", lambda: policy.Mode.ALWAYS)
    monkeypatch.setattr(linked_rows, "_bound", lambda *_: None)
    rows, function = np.asfortranarray(SIDES), rho.compile("{{e←*⍵-⌈/⍵ ⋄ e÷+/e}⍤1 ⊢ ⍵}")
    expected = np.exp(rows - rows.max(1, keepdims=True))
    expected /= expected.sum(1, keepdims=True)
    for _ in range(8):
        poison = [np.full(rows.shape, 777.0) for _ in range(3)]
        del poison
        assert np.allclose(function(rows), expected)


@pytest.mark.parametrize("layout", [np.asfortranarray, lambda a: np.repeat(a, 2, 1)[:, ::2], lambda a: a[::-1]])
def test_short_rows_of_any_layout(layout: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "mode", lambda: policy.Mode.ALWAYS)
    function = rho.compile("{{e←*⍵-⌈/⍵ ⋄ e÷+/e}⍤1 ⊢ ⍵}")
    expected = function(SIDES)
    rows = layout(SIDES)
    expected = function(np.array(rows, order="C"))
    for _ in range(8):
        poison = [np.full(rows.shape, 777.0) for _ in range(3)]
        del poison
        assert np.array_equal(function(rows), expected)
