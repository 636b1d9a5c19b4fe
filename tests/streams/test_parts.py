"""Small boxes of what flows, read where nothing else of it is: the bits of the whole run, and few bytes read for them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rho.lang.diagnostics.model import Refused
from rho.shell.execution.streaming import passes_of

from .running import loaded, results, same_bits

pytestmark = pytest.mark.long

LIMIT = 2_500_000
_X = "input x : f64[n] where n ≥ 8\n"
_M = "input m : f64[r 12] where r ≥ 8\n"
_MEDIAN = "median ← {s ← ⍵[⍋⍵] ⋄ (s[⌊(≢⍵)÷2]+s[⌊((≢⍵)-1)÷2])÷2}\n"
PROGRAMS = {
    "median": (_X + _MEDIAN + "median x", 2),
    "median of distances": (_X + _MEDIAN + "c ← median x\nmedian |x-c", 4),
    "ends": (_X + "x[(≢x)-1]+x[0]×+/x", 3),
    "near places": (_X + "x[7]-x[9]", 1),
    "an item and all": (_X + "x[7]\n+/x", 2),
    "cells": (_M + "m[7;3]+m[(≢m)-1;0]\n+/m[9;]", 3),
    "the last row": (_M + "z ← ,⊢m[(≢m)-1;]\noutput z", 1),
    "from the first row": (_M + "+⌿|m-(⍴m)⍴m[0;]", 2),
    "from the middle": (_X + "c ← x[⌊(≢x)÷2]\n+/|x-c", 2),
}


@pytest.fixture(scope="module", params=[600_000, 600_001])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made, draw = tmp_path_factory.mktemp("stored"), np.random.default_rng(3)
    np.save(made / "x.npy", draw.standard_normal(request.param))
    np.save(made / "m.npy", draw.standard_normal((request.param // 12, 12)))
    return made


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_bits_are_those_of_the_whole_run(name: str, folder: Path) -> None:
    text, most = PROGRAMS[name]
    whole, tiled = loaded(text, folder, None), loaded(text, folder, LIMIT)
    assert not whole.streams
    steps = passes_of(tiled.plan)
    assert 1 <= len(steps) <= most
    assert max(count for _, count in tiled.plan.main.peak) <= LIMIT
    assert sum(step.reads for step in steps) <= 1.1 * len(steps) * 4_800_008
    assert same_bits(results(whole), results(tiled))


def test_rows_that_are_read_alone_cost_their_own_bytes(folder: Path) -> None:
    (step,) = passes_of(loaded(PROGRAMS["near places"][0], folder, LIMIT).plan)
    assert step.reads == 3 * 8


def test_places_that_are_computed_are_refused_by_name(folder: Path) -> None:
    with pytest.raises(Refused) as caught:
        loaded(_X + "k ← ⍋x\nz ← x[⌽k]\noutput z", folder, LIMIT)
    assert any("it cannot stream from its files: `" in note for note in caught.value.diagnostics[0].notes)


@pytest.mark.parametrize(
    ("text", "help"),
    [
        (_X + "input w : f64[n]\nz ← w[⍋x]\noutput z", "`x[⍋x]` and `⍋x` alone are ordered"),
        (_M + "input b : f64[9 r]\nb+.×m", "store the transpose, as in `(⍉b)+.×a`"),
    ],
)
def test_what_would_stream_instead_is_said(text: str, help: str, folder: Path) -> None:
    if not (folder / "w.npy").exists():
        np.save(folder / "w.npy", np.load(folder / "x.npy"))
        np.save(folder / "b.npy", np.ones((9, len(np.load(folder / "m.npy", mmap_mode="r")))))
    with pytest.raises(Refused) as caught:
        loaded(text, folder, LIMIT)
    assert any(help in note for note in caught.value.diagnostics[0].notes)
