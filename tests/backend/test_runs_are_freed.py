"""What a run made is nobody's once the caller drops it: nothing that is kept for the next run (kernels of phases) holds it."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

from rho import backend
from rho.backend.jit import tiering
from rho.tests.harness.tiers import checked

PROGRAMS = """r ← +/√x
r ← √1+x×2+x×3+x×4+x×5+x×6
r ← x+1
r ← +/0↑x
r ← {⍵+x}⍣3 ⊢ x
r ← (⌽x)+1⌽x
r ← {(⍵-⌈/⍵)÷+/*⍵-⌈/⍵}⍤1 ⊢ 10 100⍴x
r ← +\\x
r ← {0.5×(1⌽⍵)+¯1⌽⍵}⍣4 ⊢ x""".splitlines()


@pytest.mark.parametrize("mode", ["off", "always", "auto"])
@pytest.mark.parametrize("text", PROGRAMS)
def test_arguments_and_results_of_a_run_go_with_it(text: str, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tiering.SWITCH, mode)
    core = checked(f"input x : f64[n]\n{text}\noutput r\n")
    assert core is not None
    inputs: dict[str, Any] = {"x": np.arange(1000.0)}
    bound = backend.load(core, inputs)
    plan = backend.plan(bound)
    results = backend.execute(plan, bound, inputs)
    results = backend.execute(plan, bound, inputs)
    held = [weakref.ref(inputs["x"])]
    held += [weakref.ref(shown.value) for shown in results.outputs.values() if np.ndim(shown.value)]
    inputs.clear()
    del results
    gc.collect()
    assert [found() is not None for found in held] == [False] * len(held)
