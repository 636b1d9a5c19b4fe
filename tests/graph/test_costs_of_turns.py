"""What loops with an index cost: sums over their turns, with scratch and memory of the largest."""

from __future__ import annotations

import numpy as np
import pytest

from rho import backend
from rho.backend.graph.lowering.blocks import lower
from rho.backend.graph.passes.pipeline import optimise
from rho.backend.graph.symbolic_costs import graph_cost
from rho.lang.syntax.source import Source
from rho.typechecker.check import check
from rho.typechecker.core.operations import Core

TRIANGLE = "input x : f64[n]\n{⍵ + +/√⍺↑x}⍣(⍳≢x) ⊢ 0.0"
PYRAMID = "input x : f64[n]\n{i←⍺ ⋄ ⍵+{⍵ + +/√⍺↑x}⍣(⍳i) ⊢ 0.0}⍣(⍳≢x) ⊢ 0.0"


def core_of(text: str) -> Core:
    core = check(Source("<test>", text)).core
    assert core is not None
    return core


@pytest.mark.parametrize(
    ("text", "roots"),
    [(TRIANGLE, lambda n: n * (n - 1) // 2), (PYRAMID, lambda n: sum(j for i in range(n) for j in range(i))),
     (TRIANGLE.replace("⍺↑x", "(n-⍺)↑x").replace("{⍵", "n←≢x\n{⍵"), lambda n: n * (n + 1) // 2),
     (TRIANGLE.replace("⍺↑x", "(⌊⍺÷2)↑x"), None)],
)  # fmt: skip
def test_work_is_the_sum_of_the_turns(text: str, roots: object) -> None:
    graph = optimise(lower(core_of(text)))
    found = graph_cost(graph).operations
    (name,) = [v for size in found.values() for v in size.variables()][:1]
    for n in (1, 2, 5, 12):
        counted = found["transcendental"].evaluate({name: n})
        if roots is not None:
            assert counted == roots(n)  # type: ignore[operator]
        assert counted >= sum(i // 2 for i in range(n))


def test_memory_is_the_largest_turn() -> None:
    x = np.ones(1000)
    triangle = backend.load(core_of(TRIANGLE.replace("+/√⍺↑x", "+/⌽√⍺↑⍋x")), {"x": x}, {})
    assert graph_cost(triangle.graph).operations["transcendental"].constant == 499_500
    assert x.nbytes <= max(backend.plan(triangle).peak.values()) <= 8 * x.nbytes
