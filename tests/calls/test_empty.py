"""Nothing in each axis: every phase of the library, lifted over frames of no, one and two axes, against the reference.

An axis of length 0 may be one of the cells or of the frame, and there may be several."""

from __future__ import annotations

import numpy as np
import pytest
from share import share

from rho.tests.harness.tiers import agree, checked

SHORT = (
    "⍋⍵|⍒⍵|∪⍵|⌽⍵|⊖⍵|⍉⍵|,⍵|⍸⍵>0|+/⍵|+\\⍵|+⌿⍵|+⍀⍵|⌈/⍵|⌊⌿⍵|×\\⍵|∧\\⍵>0|≠\\⍵>0|-/⍵|{⍺-2×⍵}/⍵|{⍺-2×⍵}\\⍵|⊃⍋⍵|2↑⍵|1↓⍵|¯2↑⍵|"
    "≢⍵|⍴⍵|⌹⍵|⎕fft ⍵|⎕ifft ⍵|⎕rfft ⍵|⎕det ⍵|⎕cholesky ⍵|⎕qr ⍵|⎕svd ⍵|⎕eigh ⍵|(⍵>0)/⍵|⍵[⍋⍵]|⍵[⍒⍵]|⍵[0;]|2+/⍵|1⌽⍵|⍵≡⍵|⍵⍳⍵|⍵∊⍵|"
    "⍵⍸⍵|⍵⍷⍵|⍵+.×⍵|⍵+.×⍉⍵|(⍉⍵)+.×⍵|⍵∘.+⍵|⍵⊥⍵|2 3⊤⍵|⍵,⍵|⍵⍪⍵|⍵~⍵|⍕⍵|6⍴⍵|0⍴⍵|5 0⍴⍵|⍵[⍳0]"
)
TEXTS = SHORT.split("|")
SHAPES = [(0,), (0, 3), (3, 0), (0, 0), (2, 3, 0), (2, 0, 3), (0, 2, 3), (2, 0, 0), (1, 0), (2, 2, 3, 0), (2, 0, 3, 2)]
DTYPES = {"f64": np.float64, "i64": np.int64, "bool": np.bool_, "c128": np.complex128}
FRAMES = ["{%s} x", "{%s}⍤0 ⊢ x", "{%s}⍤1 ⊢ x", "{%s}⍤2 ⊢ x"]
CASES = share([(frame % text, shape) for text in TEXTS for frame in FRAMES for shape in SHAPES], seed=2)
NAMED = [("{⍋⍵}⍤1 ⊢ x", (2, 3, 0)), ("{⍒⍵}⍤1 ⊢ x", (2, 3, 0)), ("{⍵[⍋⍵]}⍤1 ⊢ x", (2, 3, 0))]


@pytest.mark.parametrize(("text", "shape"), [*NAMED, *(case for case in CASES if case not in NAMED)])
def test_empty_cells_and_frames(text: str, shape: tuple[int, ...]) -> None:
    for kind, dtype in DTYPES.items():
        core = checked(f"input x : {kind}[{' '.join(map(str, shape))}]\n{text}\n")
        if core is not None:  # else it is a type that the primitive is not for
            assert not agree(core, {"x": np.zeros(shape, dtype)}), kind
