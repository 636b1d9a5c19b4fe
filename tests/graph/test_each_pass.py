"""Programs that each pass changes have NumPy's values: equal, as all are whole numbers (`each_pass` draws many for one pass)."""

from __future__ import annotations

import pytest
from each_pass import MIXED, NAMES, PATTERNS, drawn, trials
from share import APART, SEED, SHARE, seeds
from tiers import MODES, agree

WANTED = 1_000 if SHARE >= 1 else 6
"""Programs that a pass has changed."""
IN_TIERS = 300 if SHARE >= 1 else 4
PERMANENT: dict[str, list[int]] = {"sink": [3008672]}
"""Seeds that have failed, by the pass that they were drawn for."""


def test_every_pass_has_programs() -> None:
    assert set(PATTERNS) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_what_a_pass_changes_keeps_its_value(name: str) -> None:
    changed = tried = 0
    for _, trial in trials(name, (*PERMANENT.get(name, []), *range(SEED * APART, SEED * APART + 5 * WANTED + 20))):
        assert not trial.problem, f"{trial.problem}\n{trial.text}{trial.inputs}"
        changed, tried = changed + (name in trial.changed), tried + 1
        if changed == WANTED:
            break
    assert changed == WANTED, f"{changed} of {tried}"


def test_any_program() -> None:
    for _, trial in trials("", range(SEED * APART, SEED * APART + (2_000 if SHARE >= 1 else 30))):
        assert not trial.problem, f"{trial.problem}\n{trial.text}{trial.inputs}"


@pytest.mark.parametrize("seed", seeds(IN_TIERS, least=IN_TIERS))
def test_every_tier(seed: int) -> None:
    """NumPy's values are those of the reference, of plans without passes, and of every mode of kernels."""
    program = drawn(MIXED if seed % 2 else "", seed)
    wanted = [program.outputs[name] for name in sorted(program.outputs)]
    assert not agree(program.text, program.inputs, ("no passes", *MODES), wanted=wanted), program.text
