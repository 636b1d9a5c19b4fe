"""The place of the least or greatest item on NumPy, slice by slice: NumPy's, NaN last, in the scratch that is planned."""

from __future__ import annotations

import math
import random
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from share import drawing, seeds

import rho
from rho.backend.vm.call_sites import CallSite

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


PLACES = ("{⍵⍳⌈/⍵}", "{⍵⍳⌊/⍵}", "{⊃⍋⍵}", "{⊃⍒⍵}", "{x←|⍵ ⋄ (⍵×⍵)⍳⌊/x×x}", "{(⍵⍳⌈/⍵)+⍵⍳⌊/⍵}",
          "{{⍵⍳⌈/⍵}⍤1⊢⍵}", "{{⊃⍋⍵}⍤1⊢⍵}", "{{⊃⍒⍵}⍤1⊢⍉⍵}", "{(+/⍵)+⍵⍳⌈/⍵}", "{((+/⍵)÷≢⍵)-(⌊/⍵)+⊃⍋⍵}", "{{(+/⍵)+⍵⍳⌈/⍵}⍤1⊢⍵}",
          "{{(+/⍵×⍵)-⊃⍋⍵}⍤1⊢⍉⍵}")  # fmt: skip
HARD = (0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -3.0)
EXTENTS = ((1,), (2,), (9,), (63,), (64,), (1023,), (1024,), (1025,), (2500,), (3, 1), (40, 7), (5, 64), (2, 1030))


@pytest.mark.parametrize("seed", seeds(60, least=12))
def test_code_finds_what_numpy_finds(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks in vectors: ties, zeros of both signs, NaN, and blocks that have nothing else."""
    draw = random.Random(seed)
    text = draw.choice(PLACES)
    shape = draw.choice([extents for extents in EXTENTS if len(extents) == 1 + ("⍤" in text)])
    some = draw.choice((HARD, (np.nan, -np.inf), (np.nan,), (0.0, -0.0), range(5), (-(2**63),)))
    dtype = draw.choice([np.float64, np.float32, np.int64, np.int32, np.uint8, np.bool_])
    items = np.array(draw.choices(some, k=math.prod(shape))).reshape(shape)
    items = items if dtype in (np.float64, np.float32) or items.dtype.kind == "i" else np.nan_to_num(items, posinf=7, neginf=-7)
    with np.errstate(all="ignore"):
        x = (np.abs(items) if dtype is np.uint8 else items).astype(dtype)
    expected = rho.compile(text)(x)
    monkeypatch.setenv("RHO_KERNELS", "always")
    function = rho.compile(text)
    for _ in range(4):
        np.testing.assert_array_equal(function(x), expected, err_msg=text)


@pytest.mark.parametrize("text", ["{⍵⍳⌈/⍵}", "{⊃⍋⍵}", "{{⍵⍳⌈/⍵}⍤1⊢3 4⍴⍵}"])
def test_a_settled_call_enters_no_python(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It took 20 µs, as the place of an extreme had code only beside others."""
    monkeypatch.setenv("RHO_KERNELS", "always")
    function, x = rho.compile(text), np.random.default_rng(1).random(12)
    values = [np.asarray(function(x)).tolist() for _ in range(9)]
    calls: list[object] = []
    monkeypatch.setattr(CallSite, "__call__", lambda *given: calls.append(given))
    assert np.asarray(function(x)).tolist() == values[0]
    assert not calls


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


@pytest.mark.parametrize("text", ["y[⊃⍒x]", "(⊃⍋x)⌷y", "x[⊃⍋x]", "⊃⍋x", "1⊃⍒x", "y[⊃⌽⍒x]", "m[⊃⍒x;]", "{y[⊃⍒⍵]} x"])
def test_the_place_in_known_data_is_an_index(text: str) -> None:
    """A place is no permutation, though the order that it is the first of is one."""
    x, y, m = np.array([3, 1, 9.5, 2]), np.array([4, 5, 6, 7]), np.arange(8).reshape(4, 2)
    down, up = np.argsort(-x), np.argsort(x)
    expected = {
        "y[⊃⍒x]": y[down[0]], "(⊃⍋x)⌷y": y[up[0]], "x[⊃⍋x]": x[up[0]], "⊃⍋x": up[0], "1⊃⍒x": down[1], "y[⊃⌽⍒x]": y[down[-1]],
        "m[⊃⍒x;]": m[down[0]], "{y[⊃⍒⍵]} x": y[down[0]],
    }[text]  # fmt: skip
    np.testing.assert_array_equal(rho.eval(f"x ← 3 1 9.5 2 ⋄ y ← 4 5 6 7 ⋄ m ← 4 2⍴⍳8 ⋄ {text}"), expected)
