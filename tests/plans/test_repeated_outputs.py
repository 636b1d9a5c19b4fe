"""The peak of a plan has a copy for each further result that is the same value."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import rho

OUTPUTS = {"output o ← v\noutput p ← v": 3, "output o ← v\noutput p ← v\noutput q ← v": 4, "output o ← v\noutput p ← ⌽v": 3}


@pytest.mark.parametrize("outputs", OUTPUTS)
def test_each_result_is_in_the_peak_and_in_the_bound(outputs: str, tmp_path: Path) -> None:
    (tmp_path / "p.rho").write_text(f"input i : i64[n]\nv ← 2×i\n{outputs}")
    program, values = rho.load(tmp_path / "p.rho"), np.arange(100_000)
    assert sum(program.plan(i=values).memory.values()) >= OUTPUTS[outputs] * values.nbytes
    memory = program.bounds(n=len(values)).memory
    assert isinstance(memory, int) and memory >= OUTPUTS[outputs] * values.nbytes
