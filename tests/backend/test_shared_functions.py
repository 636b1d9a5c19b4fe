"""Calls that are not inlined mean what inlined ones mean, in every tier: programs whose checked functions are all shared."""

from __future__ import annotations

import re

import numpy as np
import pytest

from rho.lang.syntax.source import Source
from rho.tests.harness.share import seeds
from rho.tests.harness.tiers import agree, by_reference
from rho.tests.typechecker.test_bodies_repeated import INPUTS, program
from rho.typechecker.check import check
from rho.typechecker.core import cloning as functions
from rho.typechecker.core.operations import Core, Invoke, all_ops


@pytest.fixture
def shares_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """All functions with a signature are shared, however small."""
    monkeypatch.setattr(functions, "MOST_INLINED", 0)


def checked(text: str) -> Core:
    core = check(Source("<test>", text)).core
    assert core is not None, text
    return core


def calls_of(core: Core) -> list[Invoke]:
    return [op for op in all_ops(core.block.ops) if isinstance(op, Invoke)]


@pytest.mark.parametrize("seed", seeds(300))
def test_random_programs_agree(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = program(seed)
    inlined = check(Source("<test>", text))
    monkeypatch.setattr(functions, "MOST_INLINED", 0)
    shared = check(Source("<test>", text))
    assert [d.code for d in shared.diagnostics if d.is_error] == [d.code for d in inlined.diagnostics if d.is_error], text
    assert re.sub(r"\bk\d+", "k", str(shared.types)) == re.sub(r"\bk\d+", "k", str(inlined.types)), text
    if shared.core is None or inlined.core is None:
        return
    for x in map(np.array, INPUTS):
        assert str(by_reference(shared.core, {"x": x})) == str(by_reference(inlined.core, {"x": x})), (text, x)
        assert agree(shared.core, {"x": x}, ("plan", "no passes")) == [], (text, x)
