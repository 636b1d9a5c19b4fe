"""Closed phases, reductions too, are computed when the program is loaded, with the values that a run would give."""

from __future__ import annotations

import pytest

from rho import backend
from rho.backend.graph.phases import Constant, LibraryPhase, Output, Structured
from rho.tests.harness.tiers import agree, checked

FOLDED = """+/⍳10
+/⍳3000
⌈/7|3×⍳1000
+⌿5 7⍴⍳35
+/(⍳20)∘.×⍳30
×/1+⍳20
×/3 4⍴¯3+⍳12
∧/(⍳9)<10
∨/0 0
+/(⍳300)=7""".splitlines()
KEPT = """+/1÷1+⍳10
+/○⍳100
+/⍳70000
⍳300""".splitlines()


@pytest.mark.parametrize("text", FOLDED + KEPT)
def test_closed_phases(text: str) -> None:
    core = checked(f"output r ← {text}\n")
    assert core is not None
    found = {type(phase) for phase in backend.load(core, {}).graph.phases} - {Output, Constant}
    assert found <= {Structured, LibraryPhase} and (not found) == (text in FOLDED)
    assert not agree(core, {})
