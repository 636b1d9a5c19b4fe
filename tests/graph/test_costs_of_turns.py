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


IN_PLACE = """input x : f64[n] where n ≥ 1000
(i s) ← {(i s) ← ⍵ ⋄ (i+1 ⋄ (2×s[i])@i ⊢ s)}⍣1000 ⊢ (0 ⋄ x)
output y ← s"""


@pytest.mark.parametrize(
    ("text", "items"),
    [(IN_PLACE, 1), (IN_PLACE.replace("(2×s[i])@i", "(2×s[i 0])@(i 0)"), 2),
     (IN_PLACE.replace("⊢ s)}", "⊢ s+0×⌽s)}"), None), (IN_PLACE.replace("(2×s[i])@i ⊢ s", "s+(2×s[i])@i ⊢ s"), None)],
)  # fmt: skip
def test_an_update_of_a_state_writes_the_items_that_it_replaces(text: str, items: int | None) -> None:
    """Updates of a large state counted as copies of it: a million of them "read 16 TB", and `--max-time` refused them."""
    cost = graph_cost(optimise(lower(core_of(text))))
    (n,) = cost.scratch.variables() or [v for size in cost.operations.values() for v in size.variables()][:1] or [None]
    at = 1_000_000
    known = {} if n is None else {n: at}
    written = cost.written.evaluate(known)
    assert (written < 100 * at) if items else (written > 1000 * 8 * at)
    if items:
        assert "scatter" in cost.operations and cost.total().evaluate(known) < 100 * at


def test_a_gather_reads_what_it_picks() -> None:
    cost = graph_cost(optimise(lower(core_of("input x : f64[n] where n ≥ 9\noutput y ← x[4 2 8]"))))
    assert cost.read.constant == 3 * (8 + 8)  # items and indices
