"""The library in tiles on data that is awkward: missing items, ties, infinities, signs of zeros, tiles of a row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rho.backend.schedule.plan.plan import StreamStep

from .running import loaded, results, same_bits

pytestmark = pytest.mark.long

CALLS = (
    "missing.forward x", "missing.backward x", "64 rolling.sum x", "9 rolling.deviation x", "(¯1 0 0.3 0.5 1 2) stats.quantile x",
    "⌽⌊\\⌽x",
)  # fmt: skip


def _vectors(n: int) -> dict[str, Any]:
    draw = np.random.default_rng(n)
    sparse = np.full(n, np.nan)
    sparse[n // 2 : n // 2 + 1] = -0.0
    return {
        "one is there": sparse, "ties": draw.integers(0, 2, n) * 1.0,
        "holes": np.where(draw.random(n) < 0.5, np.nan, draw.standard_normal(n)),
        "infinities": draw.choice([np.inf, -np.inf, 0.0, -0.0, 1.0], n),
    }  # fmt: skip


@pytest.mark.parametrize("kind", _vectors(1))
@pytest.mark.parametrize("call", CALLS)
def test_awkward_items_in_tiles(call: str, kind: str, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", _vectors(60_011)[kind])
    text = f"use missing\nuse rolling\nuse stats\ninput x : f64[n] where n ≥ 8\nz ← {call}\noutput z"
    program = loaded(text, tmp_path, 500_000)
    assert program.plan.stores
    assert same_bits(results(program), results(loaded(text, tmp_path, None)))


@pytest.mark.parametrize("line", ["z ← ⌽⌈⍀⌽m", "z ← ⌽{⍵+0.5×⍺}⍀⌽m", "z ← {⍵+0.5×⍺}⍀m"])
def test_tiles_of_a_row(line: str, tmp_path: Path) -> None:
    np.save(tmp_path / "m.npy", np.random.default_rng(1).standard_normal((40, 30_000)))
    text = f"input m : f64[n 30000] where n ≥ 8\n{line}\noutput z"
    program = loaded(text, tmp_path, 2_500_000)
    (step,) = [step for step in program.plan.main.queues[0].steps if isinstance(step, StreamStep)]
    assert step.rows == 1 and step.tiles == 40
    assert same_bits(results(program), results(loaded(text, tmp_path, None)))
