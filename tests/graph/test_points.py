"""A table indexed along several axes in every cell: each point is read once, and no part of the table is made for a cell."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import rho

TABLE = np.arange(3 * 4 * 5).reshape(3, 4, 5) ** 2
PLACES = np.random.default_rng(1).integers(0, 3, (7, 3))
ROW, COLUMN, DEEP = PLACES.T
NEAR = (ROW[:, None] + [0, 1]) % 3
POINTS = {
    "m[⍵[0];⍵[1];⍵[2]]": TABLE[ROW, COLUMN, DEEP],
    "m[⍵[0];;⍵[2]]": TABLE[ROW, :, DEEP],
    "m[;⍵[1];⍵[2]]": TABLE[:, COLUMN, DEEP].T,
    "m[1;⍵[1];]": TABLE[1, COLUMN],
    "m[3|⍵[0]+⍳2;⍵[1];1 2]": TABLE[NEAR[:, :, None], COLUMN[:, None, None], [1, 2]],
    "{x ← ⍵ ⋄ a ← m[x[0];;] ⋄ a[x[1];]}⍵": TABLE[ROW, COLUMN],
    "{x ← ⍵ ⋄ a ← m[;;x[2]] ⋄ a[x[0];x[1]]+⊃⊃a}⍵": TABLE[ROW, COLUMN, DEEP] + TABLE[0, 0, DEEP],
    "⍵⊃m": TABLE[ROW, COLUMN, DEEP],
}


@pytest.mark.parametrize("text", POINTS)
def test_values(text: str) -> None:
    assert (rho.compile(f"{{m ← ⍺ ⋄ {{{text}}}⍤1 ⊢ ⍵}}")(TABLE, PLACES) == POINTS[text]).all()


def test_frames_apart() -> None:
    assert (rho.compile("{m ← ⍺ ⋄ (⍳3)∘.{m[⍺;⍵;⍵]}⍵}")(TABLE, ROW) == TABLE[:, ROW, ROW]).all()


@pytest.mark.parametrize(("row", "place"), [([0, 4, 0], "[;4;]"), ([3, 0, 0], "[3;;]"), ([0, 0, -1], "[;;¯1]")])
def test_a_place_outside_the_table(row: list[int], place: str) -> None:
    function = rho.compile("{m ← ⍺ ⋄ {m[⍵[0];⍵[1];⍵[2]]}⍤1 ⊢ ⍵}")
    with pytest.raises(rho.RunFailed) as caught:
        function(TABLE, np.vstack([PLACES, row]))
    (problem,) = caught.value.diagnostics
    assert problem.code == "E310" and problem.message.endswith(place)


def test_memory(tmp_path: Path) -> None:
    """Grows with the table and with the points, not with their product."""
    path = tmp_path / "points.rho"
    path.write_text("input m : i64[n k]\ninput i : i64[c]\ninput j : i64[c]\noutput s ← i{m[⍺;⍵]}¨j\n")
    assert rho.load(str(path)).bounds(n=1000, k=1000, c=1000).memory < 100e6
