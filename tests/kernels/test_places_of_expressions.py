"""The place of an extreme of an expression, large enough that its boxes are made by a team."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from share import SEED

import rho
from rho.backend.jit import tiering
from rho.shell.main import main


@pytest.mark.parametrize(("text", "find"), [("1+x×x", np.argmax), ("(|x)+0.0", np.argmin)])
def test_it_is_that_of_all_pieces(text: str, find: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    x = np.random.default_rng(7).standard_normal(500_003)
    np.save(tmp_path / "x.npy", x)
    (tmp_path / "p.rho").write_text(f'input x : f64[n] ← "x.npy"\nw ← {text}\nw⍳{"⌈" if find is np.argmax else "⌊"}/w\n')
    assert main(["run", "-q", str(tmp_path / "p.rho")]) == 0
    values = 1 + x * x if find is np.argmax else abs(x)
    expected = values.argmax() if find is np.argmax else values.argmin()
    assert capsys.readouterr().out == f"{expected}\n"


def test_the_extreme_beside_its_position(monkeypatch: pytest.MonkeyPatch) -> None:
    """The vector's extreme is found once; it is NaN if an item is, and then the position is that of the best number."""
    monkeypatch.setenv(tiering.SWITCH, "always")
    rng = np.random.default_rng(SEED)
    for dtype in (np.float64, np.float32, np.int64):
        for glyph, extreme, find in (("⌈", np.max, np.argmax), ("⌊", np.min, np.argmin)):
            search = rho.compile(f"{{⍵⍳{glyph}/⍵}}")
            for length in (1, 5, 1023, 1024, 1025, 2048, *map(int, rng.integers(2, 5000, 3))):
                x = rng.integers(-9, 9, length).astype(dtype)
                cases = [x, np.where(x == 0, -x, x), np.full_like(x, 3)]
                if np.dtype(dtype).kind == "f":
                    cases += [np.full_like(x, np.inf), np.full_like(x, -np.inf)]
                    cases += [np.full_like(x, np.nan), x.copy()]
                    cases[-1][rng.integers(length)] = np.nan
                for case in cases:
                    expected = length if np.isnan(extreme(case)) else find(case)
                    assert search(case) == expected, (dtype, glyph, length)
