"""Random programs: the verifier's word, the printer's, and every transformation, against what the programs mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

import pytest
from share import seeds

from rho.backend.loopir.ir import LoopProgram
from rho.backend.loopir.text import parse, show
from rho.backend.loopir.verifier import ProblemStatus, problems
from rho.backend.transform.pipeline import PIPELINE, Transformation

from .drawn import SIZES, STAGED_SIZES, SWEPT_SIZES, program, staged, sweeps
from .running import backwards, results


@pytest.mark.parametrize("seed", seeds(400, 30020050, 30020210, 15540019))
def test_a_drawn_program(seed: int) -> None:
    is_kept(program(Random(seed)), SIZES, seed)


@pytest.mark.parametrize("seed", seeds(400))
def test_phases_in_a_row(seed: int) -> None:
    is_kept(staged(Random(seed)), STAGED_SIZES, seed)


@pytest.mark.parametrize("seed", seeds(400))
def test_sweeps_over_rows(seed: int) -> None:
    is_kept(sweeps(Random(seed)), SWEPT_SIZES, seed)


def is_kept(drawn: LoopProgram, all_sizes: Sequence[Mapping[str, int]], seed: int) -> None:
    """What a program means is kept by the printer, by the order of independent iterations and by every transformation."""
    assert not problems(drawn)
    assert parse(show(drawn)) == drawn
    expected = [results(drawn, sizes, seed) for sizes in all_sizes]
    for sizes, outcome in zip(all_sizes, expected, strict=True):
        if outcome[-1] is None:
            assert results(drawn, sizes, seed, backwards) == outcome, "an order of iterations shows"
    for transformation in [one for first, tidy in PIPELINE for one in (first, *tidy)]:
        name, other = transformation.__name__, transformation(drawn)
        wrong = [str(p) for p in problems(other) if p.standing is ProblemStatus.WRONG]
        assert not wrong, f"{name}: {wrong}\n{show(other)}"
        for sizes, outcome in zip(all_sizes, expected, strict=True):
            assert results(other, sizes, seed) == outcome, f"{name} at {sizes}:\n{show(drawn)}\n{show(other)}"
        again = transformation(other)
        if again != other:
            said = f"{name} is not idempotent:\n{show(other)}\n{show(again)}"
            assert name in REPEATED and is_fixed_after(transformation, again), said
        drawn = other


REPEATED = {
    "simplify": "code behind a check that always fails",
    "unroll_loops": "a loop whose body was unrolled",
    "interchange_loops": "a loop around one that went inside its nest",
}
"""Transformations that leave something to another application, and what."""


def is_fixed_after(transformation: Transformation, program: LoopProgram, most: int = 3) -> bool:
    """Does a transformation change nothing any more after `most` applications?"""
    for _ in range(most):
        changed = transformation(program)
        if changed == program:
            return True
        program = changed
    return False
