"""The place of the least or greatest item on NumPy, slice by slice: NumPy's, NaN last, in the scratch that is planned."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from share import drawing

import rho

LENGTHS = (1, 4095, 4097, 131_072, 131_073, 300_001)
FUNCTIONS = {"⌊": np.nanargmin, "⌈": np.nanargmax}


@pytest.fixture(autouse=True)
def on_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RHO_KERNELS", "off")


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("glyph", FUNCTIONS)
def test_slices_do_not_show(glyph: str, length: int) -> None:
    draw = np.random.default_rng(drawing("argument reductions", glyph, length).randrange(1 << 30))
    place, by_row = rho.compile(f"{{⍵⍳{glyph}/⍵}}"), rho.compile(f"{{{{⍵⍳{glyph}/⍵}}⍤1 ⊢ ⍵}}")
    head = rho.compile({"⌊": "{⊃⍋⍵}", "⌈": "{⊃⍒⍵}"}[glyph])
    for values in (draw.standard_normal(length), draw.integers(-2, 3, length).astype(float)):
        assert int(place(values)) == FUNCTIONS[glyph](values)
        if length > 1:
            values[draw.integers(0, length, length // 2)] = np.nan
            values[-1] = 0.0
            assert int(head(values)) == FUNCTIONS[glyph](values)
            assert int(place(values)) == length, "the least item is NaN, which is equal to none"
        values[:] = np.nan
        assert int(head(values)) == 0
    rows = draw.integers(0, 9, (7, length)).astype(float)
    assert np.asarray(by_row(rows)).tolist() == FUNCTIONS[glyph](rows, axis=1).tolist()


def test_slices_take_the_scratch_that_is_planned(tmp_path: Path) -> None:
    """24 bytes of every item were taken, and those of 131,072 items planned."""
    (tmp_path / "p.rho").write_text("input x : f64[n] where n ≥ 1\nv ← (-((1+x×x)⌈(x>0.25)))+0.0\noutput p ← v⍳⌊/v")
    program, x = rho.load(tmp_path / "p.rho"), np.random.default_rng(3).standard_normal(1_000_000)
    program.run(x=x)
    tracemalloc.start()
    try:
        program.run(x=x)
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    planned = sum(program.plan(x=x).memory.values()) - x.nbytes
    assert taken <= planned + 400_000
