"""Integer primitives at ±2*63 and around every width give what Python's integers give: in the reference and in every mode of
the plan."""

from __future__ import annotations

import pytest
from share import share

from rho.tests.harness.tiers import MODES, agree

from .integers import Case, cases

CASES = share(list(cases()), seed=12)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_integers(case: Case) -> None:
    assert not agree(case.program, case.inputs, MODES, wanted=case.expected)
