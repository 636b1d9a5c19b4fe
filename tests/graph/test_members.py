"""Membership among a few items that are written is arithmetic, with the values of looking them up."""

from __future__ import annotations

import numpy as np
import pytest

from rho.backend.graph.lowering.blocks import lower
from rho.backend.graph.passes.pipeline import optimise
from rho.backend.graph.phases import LibraryPhase
from rho.tests.harness.tiers import agree, checked

DECLARED = "input x : f64[n]\ninput i : i64[n]\ninput A : i32[3 n]\ninput f : f32[n]\n"
COMPARED = """r ← i∊2 3 5
r ← i∊2
r ← A∊0 1 1 0
r ← x∊0 1.5 2
r ← x∊3 4
r ← 'abcab'∊'bc'
r ← (2=i)∊0
r ← +/i∊1 2
r ← (i∊1 2)/x""".splitlines()
LOOKED_UP = """r ← f∊0.5 1
r ← i∊1.5 2
r ← i∊i+1
r ← i∊⍳20
r ← i∊'ab'
r ← x∊9007199254740993""".splitlines()


@pytest.mark.parametrize("text", COMPARED + LOOKED_UP)
def test_members(text: str) -> None:
    core = checked(DECLARED + text + "\noutput r\n")
    assert core is not None, text
    found = [phase.op for phase in optimise(lower(core), verify_each=True).phases if isinstance(phase, LibraryPhase)]
    if text in COMPARED:
        assert "member_of" not in found
    for n in (8, 1, 0):
        x = np.array([0.0, -0.0, np.nan, 1.5, 2, 3, 9007199254740992, -1])[:n]
        i = np.arange(-2, n - 2)
        A = np.resize(np.arange(4), (3, n)).astype(np.int32)
        assert not agree(core, {"x": x, "i": i, "A": A, "f": x.astype(np.float32) / 2}), text
