"""A bound on one side says nothing of a sum, product or opposite: what leaves i64 there comes back on the other side."""

from __future__ import annotations

import numpy as np
import pytest

from rho.backend.reference.interpreter import interpret
from rho.backend.vm.values import from_numpy
from rho.lang.diagnostics.model import RhoError
from rho.tests.harness.tiers import agree, checked, run_plan

DECLARED = "input x : f64[3]\ninput i : i64[m]\ninput b : bool[m]\noutput r ← "
EXTREME = np.array([2**63 - 1, -(2**63), 2**62, -(2**62), 1, 0, -1, 2**63 - 8])
INDICES = (
    "1+0⌈i", "2×0⌈i", "(0⌈i)+0⌈i", "(1⌈i)×2⌈i", "-0⌊i", "3-0⌊i", "(u8 200)+0⌈i", "0⌈¯1+0⌊i", "0⌈(0⌊i)-3", "0⌈2×0⌊i", "(1+0⌈i)-1",
    "-1+0⌊i", "(0<i)+0⌈i",
)  # fmt: skip


@pytest.mark.parametrize("index", INDICES)
def test_indices_beyond_the_integers(index: str) -> None:
    core = checked(f"{DECLARED}x[2⌊{index}]\n")
    assert core is not None
    inputs = {"x": np.arange(3.0), "i": EXTREME, "b": EXTREME > 0}
    inputs = {entry.name: inputs[entry.name] for entry in core.inputs}
    assert not agree(core, inputs)  # that the values are within what was declared, the reference asserts
    try:
        run_plan(core, inputs)
    except RhoError as error:
        assert error.diagnostics[0].code == "E310"


@pytest.mark.parametrize("index", ["b×0⌈i", "(0⌈i)×b", "7⌊b×0⌈i", "1⌊|i", "2|i", "(1⌈i)|5"])
def test_bounds_that_stay(index: str) -> None:
    core = checked(f"{DECLARED}0⌈2⌊{index}\n")
    assert core is not None
    inputs = {"x": np.arange(3.0), "i": EXTREME[2:], "b": EXTREME[2:] > 0}
    inputs = {entry.name: inputs[entry.name] for entry in core.inputs}
    interpret(core, {name: from_numpy(value) for name, value in inputs.items()}, {})
    assert not agree(core, inputs)
