"""Random programs: the verifier's word, the printer's, and every transformation, against what the programs mean."""

from __future__ import annotations

from random import Random

import pytest
from share import repeats

from rho.backend.loops.check import Standing, problems
from rho.backend.loops.text import parse, show
from rho.backend.loops.transform import PIPELINE

from .drawn import SIZES, program
from .running import backwards, results

DRAWN = range(repeats(1000))


@pytest.mark.parametrize("seed", DRAWN)
def test_a_drawn_program(seed: int) -> None:
    drawn = program(Random(seed))
    assert not problems(drawn)
    assert parse(show(drawn)) == drawn
    expected = [results(drawn, sizes, seed) for sizes in SIZES]
    for sizes, outcome in zip(SIZES, expected, strict=True):
        if outcome[-1] is None:
            assert results(drawn, sizes, seed, backwards) == outcome, "an order of iterations shows"
    for name, transformation in PIPELINE:
        other = transformation(drawn)
        wrong = [str(p) for p in problems(other) if p.standing is Standing.WRONG]
        assert not wrong, f"{name}: {wrong}\n{show(other)}"
        for sizes, outcome in zip(SIZES, expected, strict=True):
            assert results(other, sizes, seed) == outcome, f"{name} at {sizes}:\n{show(drawn)}\n{show(other)}"
        again = transformation(other)
        if again != other:  # code behind a check that always fails is left to a second folding
            said = f"{name} is not idempotent:\n{show(other)}\n{show(again)}"
            assert name == "folding" and transformation(again) == again, said
        drawn = other
