"""Every example under every limit of memory: its answer, or E702."""

from __future__ import annotations

from pathlib import Path

import pytest
from share import share

from .conftest import Rho

EXAMPLES = sorted(Path(__file__).parents[2].joinpath("examples").glob("*.rho"))
LIMITS = [f"{digits}{unit}" for unit in ("kB", "0kB", "00kB", "MB", "0MB") for digits in (1, 2, 3, 5, 7)]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_limit_is_kept_or_refused(path: Path, rho: Rho) -> None:
    for limit in share(LIMITS, seed=len(path.stem)):
        ran = rho("plan", str(path), "--max-memory", limit)
        assert ran.code == 0 or (ran.code == 4 and "E702" in ran.err), (limit, ran)


def test_keys_of_computed_lengths_are_no_bug_in_a_small_limit(rho: Rho) -> None:
    """Partial results whose length only a run knows were asked for their size (AssertionError, exit 70)."""
    path = next(path for path in EXAMPLES if path.stem == "sales")
    ran = rho("plan", str(path), "--max-memory", "100kB")
    assert ran.code == 4 and "E702" in ran.err
