"""A refusal for memory names a limit that would do, and with that limit the program runs."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from rho.lang.bind.directives import bytes_of
from rho.lang.diagnostics.model import Refused

from .running import loaded, results, same_bits

pytestmark = pytest.mark.long

_X = "input x : f64[n] where n ≥ 8\n"
PROGRAMS = {
    "a map": (_X + "z ← 1+x×x\noutput z", 2_000),
    "a reduction of rows": ("input m : f64[r 12] where r ≥ 8\nz ← m-⍤1 ⊢ (+⌿m)÷≢m\noutput z", 200_000),
    "a window": (_X + "z ← +/5↕x\noutput z", 1_000),
    "a sort": (_X + "z ← x[⍋x]\noutput z", 100_000),
    "a selection": (_X + "z ← (x>0.5)/x\noutput z", 2_000),
    "a value that is whole": (_X + "k ← ⍋x\nz ← x[⌽k]\noutput z", 1_100_000),
    "distinct items": (_X + "+/∪x", 1_300_000),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    stored, draw = tmp_path_factory.mktemp("stored"), np.random.default_rng(3)
    np.save(stored / "x.npy", draw.standard_normal(300_001))
    np.save(stored / "m.npy", draw.standard_normal((25_001, 12)))
    return stored


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_limit_that_is_named_is_enough(name: str, folder: Path) -> None:
    text, limit = PROGRAMS[name]
    with pytest.raises(Refused) as caught:
        loaded(text, folder, limit)
    (note,) = [note for note in caught.value.diagnostics[0].notes if "would do" in note]
    named = re.fullmatch(r"`--max-memory (\w+)` would do(, with all of its values in memory)?", note)
    assert named is not None, note
    enough = bytes_of(named[1])
    assert enough is not None and enough > limit
    program = loaded(text, folder, enough)
    assert program.streams is not bool(named[2])
    assert max(count for _, count in program.plan.main.peak) + program.file_bytes <= enough
    assert same_bits(results(program), results(loaded(text, folder, None)))


def test_no_limit_is_named_for_what_is_within_it(folder: Path) -> None:
    assert loaded(PROGRAMS["distinct items"][0], folder, 200_000_000).streams is False
