"""The place of an extreme of an expression, large enough that its boxes are made by a team."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

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
