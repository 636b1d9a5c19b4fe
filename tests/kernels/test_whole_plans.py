"""Whole plans that run again: through a native call, on any threads."""

from __future__ import annotations

import numpy as np
import pytest

from rho import backend
from rho.backend.jit import tiering
from rho.backend.vm import executor, executor as prepared, run_state, runtime
from rho.lang.syntax.source import Source
from rho.typechecker.check import check
from rho.typechecker.elements import Kind

pytestmark = pytest.mark.skipif(runtime.native() is None, reason="no native calls in this Python")


def test_a_linked_plan_runs_in_several_threads_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """While one thread runs it step by step, others need not wait or do so."""
    monkeypatch.setattr(tiering, "COMPILE_NANOSECONDS", 1.0)
    checked = check(Source("<test>", "input x : f64[n]\noutput r ← 1+x×x\n")).core
    assert checked is not None
    given = {"x": np.arange(100_000.0)}
    bound = backend.load(checked, given)
    plan = backend.plan(bound)
    for _ in range(12):
        backend.execute(plan, bound, given)
    found = prepared._prepared_pools.get(id(plan))
    assert found is not None and [one._program is not None for one in found.free] == [True]

    def never(*arguments: object, **named: object) -> object:
        raise AssertionError("step by step")

    monkeypatch.setattr(executor, "execute_plan", never)
    results = found.use(lambda one: backend.execute(plan, bound, given))
    shown = results.outputs["r"]
    assert shown.kind is Kind.F64 and np.array_equal(shown.value, 1 + given["x"] ** 2)
    assert results == run_state.RunResults((), {"r": shown}) and type(results) is run_state.RunResults
    assert type(shown) is run_state.OutputValue and repr(results) == repr(run_state.RunResults((), {"r": shown}))
