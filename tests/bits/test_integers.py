"""Integer primitives at ±2*63 and around every width give what Python's integers give: in the reference and in every mode of
the plan."""

from __future__ import annotations

import numpy as np
import pytest
from share import share

from .integers import Case, cases
from .running import MODES, by_plan, by_reference, core_of

CASES = share(list(cases()), seed=12)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_integers(case: Case) -> None:
    core = core_of(case.program)
    compare(case, "reference", by_reference(core, case.inputs))
    for mode in MODES:
        compare(case, mode, by_plan(core, case.inputs, mode))


def compare(case: Case, tier: str, results: list[np.ndarray]) -> None:
    assert len(results) == len(case.expected)
    for result, expected in zip(results, case.expected, strict=True):
        assert result.dtype == expected.dtype and result.shape == expected.shape, (tier, result.dtype, result.shape)
        same = (result == expected) | ((result != result) & (expected != expected))
        wrong = np.flatnonzero(~same.reshape(-1))[:5]
        assert not wrong.size, (tier, wrong.tolist(), result.reshape(-1)[wrong].tolist(), expected.reshape(-1)[wrong].tolist())
