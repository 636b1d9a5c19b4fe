"""Programs that each pass changes have NumPy's values: equal, as all are whole numbers (`each_pass` draws many for one pass)."""

from __future__ import annotations

import pytest
from each_pass import NAMES, PATTERNS, trials
from share import APART, SEED, SHARE

WANTED = 1_000 if SHARE >= 1 else 6
"""Programs that a pass has changed."""
PERMANENT: dict[str, list[int]] = {}
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
