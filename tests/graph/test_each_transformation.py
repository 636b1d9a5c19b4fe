"""Programs that each transformation of graphs changes have NumPy's values (`each_transformation` draws many for one of them)."""

from __future__ import annotations

import pytest
from each_transformation import NAMES, drawn, trials
from share import APART, SEED, SHARE, seeds
from tiers import MODES, agree

WANTED = 500 if SHARE >= 1 else 8
"""Programs that a transformation has changed."""
PERMANENT: dict[str, list[int]] = {"restrict": [160, 314]}
"""Seeds that have failed, by the transformation that they were drawn for."""


@pytest.mark.parametrize("name", NAMES)
def test_what_a_transformation_changes_keeps_its_value(name: str) -> None:
    changed = tried = 0
    for _, trial in trials(name, (*PERMANENT.get(name, []), *range(SEED * APART, SEED * APART + 5 * WANTED + 20))):
        assert not trial.problem, f"{trial.problem}\n{trial.text}{trial.inputs}"
        changed, tried = changed + (name in trial.changed), tried + 1
        if changed == WANTED:
            break
    assert changed == WANTED, f"{changed} of {tried}"


@pytest.mark.parametrize("seed", seeds(70, least=7))
def test_every_tier(seed: int) -> None:
    program = drawn(NAMES[seed % len(NAMES)], seed)
    wanted = [program.outputs[name] for name in sorted(program.outputs)]
    assert not agree(program.text, program.inputs, ("no passes", *MODES), wanted=wanted), program.text
