"""What each pass must do, must not do, and how a failing one is named."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from share import SEED, repeats

from rho import backend
from rho.backend.graph.lowering.blocks import lower
from rho.backend.graph.passes import fusion, pipeline
from rho.backend.graph.passes.pipeline import optimise
from rho.backend.graph.passes.rewriting import is_view
from rho.backend.graph.phases import (
    Affine,
    ApplyNode,
    Branch,
    Constant,
    ConstantNode,
    Graph,
    LibraryPhase,
    Loop,
    Output,
    PhaseId,
    Print,
    ReadNode,
    Structured,
    ValueId,
)
from rho.backend.graph.verify import GraphError, verify
from rho.tests.graph.build import BOOL, F64, I64, SPAN, Build, agree
from rho.tests.harness.tiers import checked
from rho.typechecker.core import operations as c
from rho.typechecker.sizes.polynomials import Size, SizeOrigin, variable


def vector() -> tuple[Build, c.ValueId, Size]:
    b = Build()
    n = variable(b.size("n"))
    return b, b.input("x", F64, [n], [4], [1.0, -2.0, 3.0, 0.5]), n


def structured(graph: Graph) -> list[Structured]:
    return [p for p in graph.phases if isinstance(p, Structured)]


def functions(phase: Structured) -> list[str]:
    return [n.function for n in phase.body if isinstance(n, ApplyNode)]


def test_a_chain_and_its_reduction_become_one_phase() -> None:
    b, x, _ = vector()
    b.output("r", b.reduce("add", b.scalar("exp", b.scalar("neg", b.same(lambda r: c.Reverse(r, x, 0), x)))))
    (only,) = structured(agree(b))
    assert functions(only) == ["neg", "exp"]
    assert only.results[0].reduction == "add"
    stage = only.reads[0].projection.stages[0]
    assert isinstance(stage, Affine) and stage.indices[0].terms[0].coefficient == -1


def test_nothing_is_computed_twice_for_fusion() -> None:
    b, x, n = vector()
    wave = b.scalar("exp", x)
    b.output("twice", b.scalar("mul", b.scalar("neg", wave), b.scalar("abs", wave)))
    kept = b.scalar("exp", b.scalar("neg", x))
    table = b.op(lambda r: c.Broadcast(r, kept, (1,)), F64, [n, n])
    b.output("table", b.scalar("add", table, x))
    graph = agree(b)
    assert sum(functions(p).count("exp") for p in structured(graph)) == 2
    assert not any("exp" in functions(p) and "add" in functions(p) for p in structured(graph))


def test_conversions_and_generators_are_computed_again() -> None:
    b, x, n = vector()
    mask = b.scalar("gt", x, b.literal(F64, [], [0.0]))
    count = b.scalar("convert", mask, kind=I64)
    steps = b.op(lambda r: c.Iota(r), I64, [n])
    b.output("sum", b.reduce("add", count))
    b.output("most", b.reduce("max", b.scalar("mul", count, steps)))
    b.output("weighted", b.reduce("add", b.scalar("add", steps, steps)))
    graph = agree(b)
    assert [[r.reduction for r in p.results] for p in structured(graph)] == [[None], ["add", "max"], ["add"]]


def test_siblings_share_a_pass_and_what_only_they_read_is_not_stored() -> None:
    b, x, _ = vector()
    wave = b.scalar("exp", x)
    b.output("sum", b.reduce("add", x))
    b.output("greatest", b.reduce("max", x))
    b.output("a", b.scalar("neg", wave))
    b.output("b", b.scalar("add", wave, wave))
    graph = agree(b)
    assert sorted(len(p.results) for p in structured(graph)) == [2, 2]
    assert wave not in graph.types


def test_reductions_from_the_right_are_siblings_of_one_another_alone() -> None:
    b, x, _ = vector()
    for function in ("add", "sub", "max", "div"):
        b.output(function, b.reduce(function, x))
    graph = agree(b)
    assert [[r.reduction for r in p.results] for p in structured(graph)] == [["add", "max"], ["sub", "div"]]


def test_chains_become_one_pass_where_they_meet() -> None:
    b, x, n = vector()
    y = b.input("y", F64, [n], [4], [0.5, 2.0, 1.0, 4.0])
    chains = [x, y]
    for function in ("exp", "abs", "neg", "exp"):  # each value is read twice, so that none is part of its reader
        chains = [b.scalar("mul", b.scalar(function, chain), chain) for chain in chains]
    met = b.scalar("add", *chains)
    b.output("a", b.scalar("exp", met))
    b.output("b", b.scalar("mul", met, chains[0]))
    (only,) = structured(agree(b))
    assert len(only.results) == 2


def test_a_pass_has_few_results_that_others_read() -> None:
    rng = random.Random(SEED)
    for _ in range(repeats(60)):
        b, x, n = vector()
        values = [x, b.input("y", F64, [n], [4], [0.5, 2.0, 1.0, 4.0])]
        for number in range(rng.randint(5, 60)):
            values.append(b.scalar(rng.choice(("add", "sub", "max")), *rng.choices(values[-8:], k=2)))
            if rng.random() < 0.2:
                b.output(f"o{number}", values[-1] if rng.random() < 0.5 else b.reduce("add", values[-1]))
        b.output("last", values[-1])
        assert all(len(phase.results) <= fusion.MOST_RESULTS for phase in structured(agree(b)))


def test_what_is_multiplied_is_made_in_its_own_order() -> None:
    b, x, n = vector()
    table = b.op(lambda r: c.Broadcast(r, b.scalar("exp", x), (0,)), F64, [n, n])
    waves = b.scalar("exp", b.scalar("mul", table, x))
    turned = b.op(lambda r: c.Transpose(r, waves, (1, 0)), F64, [n, n])
    b.output("product", b.op(lambda r: c.Contract(r, turned, x), F64, [n]))
    b.output("turned", b.op(lambda r: c.Transpose(r, b.scalar("exp", table), (1, 0)), F64, [n, n]))
    phases = structured(agree(b))
    assert sum(is_view(phase) for phase in phases) == 1
    assert all("exp" in functions(phase) for phase in phases if not is_view(phase) and len(phase.axes) == 2)


def test_siblings_wait_for_what_they_read() -> None:
    b, x, n = vector()
    first = b.scalar("neg", x)
    order = b.op(lambda r: c.library_op(r, "grade", first, descending=False), I64, [n])
    b.output("a", b.scalar("exp", first))
    b.output("b", b.scalar("mul", first, b.op(lambda r: c.Gather(r, x, order, 0, False), F64, [n])))
    k = b.compress(b.scalar("gt", x, b.literal(F64, [], [0.0])), x)
    count = b.value(I64, [])
    b.emit(c.SizeVector(count, (b.shape(k)[0],), True))
    b.output("c", b.scalar("mul", first, b.scalar("convert", count, kind=F64)))
    agree(b)


def test_a_fill_is_never_replaced_by_a_body() -> None:
    b, x, n = vector()
    ones = b.scalar("exp", b.same(lambda r: c.Reverse(r, x, 0), x))
    b.output("r", b.scalar("neg", b.op(lambda r: c.Slice(r, ones, (n - n,)), F64, [n + 2])))
    agree(b)


def test_what_may_fail_is_kept_and_fails() -> None:
    b, x, n = vector()
    huge = b.scalar("mul", x, b.literal(F64, [], [1e300]))
    b.scalar("floor", huge, kind=I64)  # nobody reads it
    b.output("r", b.scalar("neg", x))
    assert sum("floor" in functions(p) for p in structured(agree(b))) == 1
    b, x, n = vector()
    gap = b.scalar("sub", x, b.literal(F64, [], [0.5]))
    rounded = b.scalar("floor", b.scalar("div", b.literal(F64, [], [1.0]), gap), kind=I64)
    first = b.op(lambda r: c.Slice(r, rounded, (n - n,)), I64, [2])
    b.output("r", b.scalar("neg", first))  # only the first two are read; the fourth fails
    agree(b)


def test_gathers_by_steps_are_views_and_checked_ones_only_where_evident() -> None:
    b, x, n = vector()
    wide = b.literal(F64, [6], [float(i) for i in range(6)])
    steps = b.op(lambda r: c.Iota(r), I64, [3])
    twice = b.scalar("add", b.scalar("mul", steps, b.literal(I64, [], [2])), b.literal(I64, [], [1]))
    b.output("odd", b.op(lambda r: c.Gather(r, wide, twice, 0, True), F64, [3]))
    b.output("unknown", b.op(lambda r: c.Gather(r, x, twice, 0, True), F64, [3]))
    last = b.value(I64, [])
    b.emit(c.SizeVector(last, (n - 1,), True))
    b.output("last", b.op(lambda r: c.Gather(r, x, last, 0, False), F64, []))
    graph = optimise(lower(b.core()))
    assert [p.args[0] for p in graph.phases if isinstance(p, LibraryPhase)] == [0]


def test_equal_phases_are_shared_but_not_across_kinds_of_constants() -> None:
    b, x, _ = vector()
    b.output("a", b.scalar("mul", b.scalar("exp", x), b.literal(F64, [], [0.0])))
    b.output("b", b.scalar("mul", b.scalar("exp", x), b.literal(F64, [], [-0.0])))
    b.output("c", b.scalar("mul", b.scalar("exp", x), b.literal(F64, [], [0.0])))
    graph = agree(b)
    assert sum(functions(p).count("exp") for p in structured(graph)) == 1
    outputs = [p.arg for p in graph.phases if isinstance(p, Output)]
    assert outputs[0] == outputs[2] != outputs[1]


def test_constants_fold_only_exactly() -> None:
    b, _, _ = vector()
    three = b.scalar("add", b.literal(I64, [], [1]), b.literal(I64, [], [2]))
    b.output("three", three)
    b.output("row", b.scalar("mul", b.op(lambda r: c.Iota(r), I64, [4]), three))
    b.output("wave", b.scalar("exp", b.literal(F64, [], [1.0])))
    graph = agree(b)
    assert {p.data for p in graph.phases if isinstance(p, Constant)} == {(3,), (0, 3, 6, 9)}
    assert any("exp" in functions(p) for p in structured(graph))


def test_effects_keep_their_order_and_dead_phases_go() -> None:
    b, x, _ = vector()
    b.print(b.scalar("neg", x))
    b.scalar("exp", x)
    b.print(x)
    b.print(b.scalar("neg", x))
    graph = agree(b)
    assert [type(p) for p in graph.phases if not isinstance(p, Structured)][1:] == [Print] * 3
    assert len(structured(graph)) == 1


def test_roots_are_neither_fused_nor_shared_nor_dropped() -> None:
    b, x, _ = vector()
    first, second = b.scalar("neg", x), b.scalar("neg", x)
    unused = b.scalar("abs", x)
    b.output("r", b.scalar("exp", first))
    graph = lower(b.core())
    rooted = replace(graph, roots=frozenset(ValueId(int(v)) for v in (first, second, unused)))
    made = {p.results[0].value for p in structured(optimise(rooted, verify_each=True))}
    assert {first, second, unused} <= made


def test_a_size_keeps_the_phase_that_defines_it() -> None:
    b, x, _ = vector()
    k = b.size("k", SizeOrigin.RUNTIME, b.shape(x)[0])
    kept = b.value(F64, [variable(k)])
    b.emit(c.Compress(kept, b.scalar("gt", x, b.literal(F64, [], [0.0])), x, 0, k))
    count = b.value(I64, [])
    b.emit(c.SizeVector(count, (variable(k),), True))
    b.output("count", count)
    graph = agree(b, without=frozenset({"masked"}))
    assert any(isinstance(p, LibraryPhase) and k in p.defines for p in graph.phases)
    assert not any(isinstance(p, LibraryPhase) for p in agree(b).phases)  # counted, it is but a number


def test_passes_enter_loops_and_branches() -> None:
    b, x, _ = vector()

    def body(b: Build, s: c.ValueId) -> c.ValueId:
        return b.scalar("add", b.scalar("mul", s, b.literal(F64, [], [0.5])), b.scalar("mul", s, b.literal(F64, [], [0.5])))

    b.output("loop", b.loop([x], 3, body)[0])
    flag = b.input("t", BOOL, [], [], [True])
    b.output("arm", b.branch(flag, lambda b: body(b, x), lambda b: x))
    graph = agree(b)
    (loop,) = [p for p in graph.phases if isinstance(p, Loop)]
    (branch,) = [p for p in graph.phases if isinstance(p, Branch)]
    assert len(loop.body.phases) == len(branch.then.phases) == 1


def test_the_arm_that_sizes_decide_is_planned_alone() -> None:
    core = checked(
        "param w ← 3 where w ≥ 1\ninput x : f64[n]\nf : (w) → f64[n] → f64[n] where w ≥ 1\n"
        "f ← {w>n : n⍴⎕nan ⋄ n⍴0+⌿⍋⍤1⊢(w n)⍴⍵}\noutput y ← w f x\n"
    )  # fmt: skip
    assert core is not None
    for items, width, at_most in ((5, 10**15, 1 << 16), (5000, 40, 1 << 23)):
        bound = backend.load(core, {"x": np.zeros(items)}, params={"w": width})
        assert not any(isinstance(phase, Branch) for phase in bound.graph.phases)
        assert max(backend.plan(bound).peak.values()) < at_most


def test_invariants_leave_loops_but_not_branches_and_never_bring_failure() -> None:
    b, x, _ = vector()

    def body(b: Build, s: c.ValueId) -> c.ValueId:
        wave = b.scalar("exp", x)
        picked = b.op(lambda r: c.Gather(r, x, b.literal(I64, [], [9]), 0, True), F64, [])
        return b.scalar("mul", b.scalar("add", s, b.same(lambda r: c.Scan(r, "add", wave, 0), x)), picked)

    b.output("never", b.loop([x], 0, body)[0])
    b.output("nested", b.loop([x], 2, lambda b, s: b.loop([s], 2, lambda b, t: b.scalar("add", t, b.scalar("exp", x)))[0])[0])
    flag = b.input("t", BOOL, [], [], [True])
    b.output("arm", b.loop([x], 2, lambda b, s: b.branch(flag, lambda b: b.scalar("ln", x), lambda b: s))[0])
    graph = agree(b)
    assert [p.op for p in graph.phases if isinstance(p, LibraryPhase)] == ["scan"]
    assert sum(functions(p).count("exp") for p in structured(graph)) == 1
    assert not any("ln" in functions(p) for p in structured(graph))


def test_long_chains_are_cut_and_linear() -> None:
    b, x, _ = vector()
    value = x
    for _ in range(1500):
        value = b.scalar("sub", value, x)
    b.output("r", value)
    graph = optimise(lower(b.core()), verify_each=True)
    assert 1500 / fusion.MOST_NODES < len(structured(graph)) < 30


def test_verify_names_the_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(graph: Graph) -> Graph:
        return replace(graph, phases=graph.phases[::-1])

    b, x, _ = vector()
    b.output("r", b.scalar("neg", x))
    monkeypatch.setattr(pipeline, "PASSES", (pipeline.Pass("upside down", "", broken),))
    with pytest.raises(GraphError, match="after upside down"):
        optimise(lower(b.core()), verify_each=True)


def first_structured(graph: Graph, change: object) -> Graph:
    phases = [change(p) if isinstance(p, Structured) else p for p in graph.phases]  # type: ignore[operator]
    return replace(graph, phases=tuple(phases))


BREAKS = {
    "defined twice": lambda g: replace(g, phases=(*g.phases, replace(g.phases[-2], id=PhaseId(99)))),
    "id is used twice": lambda g: replace(g, phases=(*g.phases, replace(g.phases[-1]))),
    "has no type": lambda g: replace(g, types={v: t for v, t in g.types.items() if v == 0}),
    "uses a later node": lambda g: first_structured(g, lambda p: replace(p, body=(ApplyNode("neg", (0,), F64), *p.body))),
    "names no read": lambda g: first_structured(g, lambda p: replace(p, body=(ReadNode(5, F64), *p.body[1:]))),
    "reads f64 as bool": lambda g: first_structured(g, lambda p: replace(p, body=(ReadNode(0, BOOL), *p.body[1:]))),
    "a reduction goes with": lambda g: first_structured(
        g, lambda p: replace(p, results=(replace(p.results[0], reduction="add"),))
    ),
    "its node bool": lambda g: first_structured(
        g, lambda p: replace(p, body=(*p.body, ConstantNode(BOOL, True)), results=(replace(p.results[0], node=len(p.body)),))
    ),
    "a projection ends in": lambda g: first_structured(g, lambda p: replace(p, axes=(), reads=p.reads, results=p.results)),
    "is used before": lambda g: replace(g, phases=(*g.phases, Print(PhaseId(99), SPAN, ValueId(77)))),
}


@pytest.mark.parametrize("problem", BREAKS)
def test_the_verifier_notices(problem: str) -> None:
    b, x, _ = vector()
    b.output("r", b.scalar("neg", x))
    graph = lower(b.core())
    verify(graph)
    with pytest.raises(GraphError, match=problem):
        verify(BREAKS[problem](graph))
