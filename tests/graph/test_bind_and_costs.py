"""Binding puts in numbers, refuses false guards, and knows the peak; costs are polynomials with the right numbers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rho.backend.graph.bind_sizes import BoundGraph, bind
from rho.backend.graph.lowering.blocks import lower
from rho.backend.graph.passes.pipeline import optimise
from rho.backend.graph.phases import LibraryPhase, Loop, Structured
from rho.backend.graph.symbolic_costs import cost_of, graph_cost
from rho.backend.graph.traverse import all_phases, sizes
from rho.backend.graph.verify import verify
from rho.backend.schedule.single_device import plan_one_device
from rho.lang.diagnostics.model import Code, Refused
from rho.tests.graph.build import BOOL, F64, SPAN, Build
from rho.typechecker.core import operations as c
from rho.typechecker.proof.obligations import Obligation, Relation, SizeFact
from rho.typechecker.sizes.polynomials import Size, SizeOrigin, number, variable


def matrices() -> tuple[Build, c.ValueId, Size, Size]:
    b = Build()
    n, m = variable(b.size("n")), variable(b.size("m"))
    return b, b.input("x", F64, [n, m], [2, 3], [1.0] * 6), n, m


def values(b: Build, **numbers: int) -> dict[object, int]:
    found = {v for t in b.types.values() for s in t.shape for v in s.variables() if v.origin is SizeOrigin.INPUT}
    return {v: numbers[v.name] for v in found}


def test_bound_graphs_have_only_run_time_sizes() -> None:
    b, x, n, m = matrices()
    flat = b.op(lambda r: c.Reshape(r, x), F64, [n * m])
    kept = b.compress(b.scalar("gt", flat, b.literal(F64, [], [0.0])), flat)
    b.output("r", b.scalar("neg", kept))
    bound = bind(optimise(lower(b.core())), values(b, n=2, m=3))  # type: ignore[arg-type]
    verify(bound.graph)
    mentioned = {v for p in all_phases(bound.graph) for s in sizes(p) for v in s.variables()}
    assert [(v.name, v.cap) for v in mentioned] == [("k", number(6))]
    (compress,) = [p for p in bound.graph.phases if isinstance(p, LibraryPhase)]
    assert compress.defines[0].cap == number(6)


def test_false_guards_are_refused_together_with_numbers() -> None:
    b, x, n, m = matrices()
    b.output("r", x)
    k = b.size("k", SizeOrigin.RUNTIME, n)
    facts = [
        SizeFact(Relation.EQUAL, n, m),
        SizeFact(Relation.DIVIDES, number(2), m),
        SizeFact(Relation.AT_MOST, n, m),
        SizeFact(Relation.EQUAL, variable(k), n),
    ]
    core = b.core()
    guards = tuple(c.CoreGuard(f, Obligation(f, Code.E101, SPAN, "needed here")) for f in facts)
    graph = lower(replace(core, guards=guards))
    with pytest.raises(Refused) as refused:
        bind(graph, values(b, n=2, m=3))  # type: ignore[arg-type]
    assert [d.code for d in refused.value.diagnostics] == ["E701", "E701"]
    assert "n=2" in refused.value.diagnostics[0].message and "m=3" in refused.value.diagnostics[0].message
    left = bind(graph, values(b, n=4, m=4)).graph.guards  # type: ignore[arg-type]
    assert [str(g.fact.left) for g in left] == ["k"]


def peak(bound: BoundGraph) -> int:
    return max(size for _, size in plan_one_device(bound).peak.items())


def test_peak_is_the_most_alive_at_once() -> None:
    b, x, _, _ = matrices()
    first = b.same(lambda r: c.Scan(r, "add", x, 0), x)
    second = b.same(lambda r: c.Scan(r, "add", first, 0), x)
    b.output("r", b.same(lambda r: c.Scan(r, "add", second, 0), x))
    bound = bind(lower(b.core()), values(b, n=64, m=64))  # type: ignore[arg-type]
    array = 64 * 64 * 8
    assert peak(bound) == 3 * array + 64 * 64  # the input, one scan and the next, and the totals that a scan keeps
    assert peak(bind(lower(b.core()), values(b, n=1, m=1))) == (3 + 1) * 512  # type: ignore[arg-type]


def test_costs_are_polynomials() -> None:
    b, x, n, m = matrices()
    b.output("r", b.reduce("add", b.scalar("exp", b.scalar("mul", x, x)), 1))
    b.output("p", b.op(lambda r: c.Contract(r, x, b.op(lambda t: c.Transpose(t, x, (1, 0)), F64, [m, n])), F64, [n, n]))
    graph = optimise(lower(b.core()))
    phases = {type(p): cost_of(p, graph.types) for p in graph.phases}
    fused = next(cost_of(p, graph.types) for p in graph.phases if isinstance(p, Structured) and len(p.body) > 1)
    assert fused.operations == {"multiply": n * m, "transcendental": n * m, "reduce": n * m}
    assert (fused.read, fused.written, fused.parallel) == (n * m * 8, n * 8, ((0, n),))
    product = phases[LibraryPhase]
    assert product.operations == {"gemm": n * n * m * 2}
    assert product.parallel == ((0, n), (1, n))


def test_loops_count_their_trips_and_branches_the_larger_arm() -> None:
    b, x, n, m = matrices()
    (state,) = b.loop([x], 10, lambda b, s: b.scalar("add", s, x))
    flag = b.input("t", BOOL, [], [], [True])
    b.output("r", b.branch(flag, lambda b: b.scalar("exp", b.scalar("exp", state)), lambda b: b.scalar("exp", state)))
    graph = lower(b.core())
    (loop,) = [p for p in graph.phases if isinstance(p, Loop)]
    assert cost_of(loop, graph.types).operations == {"add": n * m * 10}
    total = graph_cost(graph).operations["transcendental"]
    assert total.evaluate(values(b, n=2, m=3)) == 12  # type: ignore[arg-type]
