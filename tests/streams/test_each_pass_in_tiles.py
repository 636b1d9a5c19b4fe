"""Programs that passes of the graph change, whose arrays of `n` rows are read in tiles: NumPy's values, whole numbers all.

What does not stream is refused, and what is too large for a test is not drawn: a tenth of the draws runs in tiles."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from unittest import mock

import drawing
import each_pass
import numpy as np
import pytest
from share import APART, SEED, SHARE, repeats
from stepping import NAMES, at_any_size, load

from rho.backend.schedule.plan.plan import StreamStep
from rho.lang.diagnostics.model import RhoError
from rho.lang.syntax.source import Source
from rho.typechecker.check import check

from .running import loaded, store

pytestmark = pytest.mark.long

ROWS = 8_011
MOST_ITEMS = 6 * ROWS
DRAWS = 400
SQUARE = {"rule solved"}
"""Passes of matrices whose rows are as many as their columns: none is read in tiles."""


class TooLarge(Exception):
    """The program would need an array that no test should make."""


class LongDrawing(drawing.Drawing):
    """Draws programs whose long axis comes first, where inputs are cut into tiles."""

    def shape(self, dims: drawing.Dims) -> tuple[int, ...]:
        shape = super().shape(dims)
        if np.prod(shape, dtype=float) > MOST_ITEMS:
            raise TooLarge
        return shape

    def dims(self, rank: int) -> drawing.Dims:
        return tuple(sorted(super().dims(rank), key="n".__ne__))


def drawn(name: str, seed: int) -> drawing.Drawing | None:
    """A random program for a pass; None where one of its arrays is too large."""
    sizes = [(ROWS, one, other) for one in (2, 3, 4) for other in (1, 2, 5)]
    with mock.patch.object(drawing, "SIZES", sizes), mock.patch.object(each_pass, "Drawing", LongDrawing):
        try:
            return each_pass.drawn(name, seed)
        except (TooLarge, MemoryError):
            return None


def in_tiles(program: drawing.Drawing, folder: Path) -> dict[str, np.ndarray] | None:
    """The outputs of a run in tiles, with three fifths of the memory that it takes in memory; None where it is not run so."""
    for name, value in program.inputs.items():
        np.save(folder / f"{name}.npy", value)
    try:
        whole = loaded(program.text, folder, None, write=False)
        streamed = loaded(program.text, folder, max(count for _, count in whole.plan.main.peak) * 3 // 5)
        steps = [step for step in streamed.plan.main.queues[0].steps if isinstance(step, StreamStep)]
        if not any(step.tiles > 1 for step in steps):
            return None
        store(streamed)
    except RhoError as error:
        assert error.diagnostics[0].code in ("E702", "E703", "E705"), program.text
        return None
    return {name: np.load(path) for name, path in streamed.request.outputs.items()}


def test_what_passes_change_has_its_value_in_tiles(tmp_path: Path) -> None:
    changed, names = Counter[str](), [name for name in NAMES if name not in SQUARE]
    with at_any_size():
        for seed in range(SEED * APART, SEED * APART + repeats(DRAWS)):
            name = names[seed % len(names)]
            if (program := drawn(name, seed)) is None or (outputs := in_tiles(program, tmp_path)) is None:
                continue
            core = check(Source("<drawn>", program.text)).core
            assert core is not None
            changed.update(load(core, program.inputs, verified=False)[1])
            for output, want in program.outputs.items():
                got = outputs[output]
                assert got.dtype == want.dtype and np.array_equal(got, want), (name, seed, output, program.text)
    print("programs in tiles that were changed by", dict(changed))
    assert changed or SHARE < 1, "of a few draws none may run in tiles"
