"""Cost formulas against the numbers of bound programs: work is equal, the peak never below the planned one."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import pytest
from share import seeds

from rho.backend.graph.bind_sizes import bind
from rho.backend.graph.lowering.blocks import lower
from rho.backend.graph.passes.pipeline import optimise
from rho.backend.graph.phases import Graph
from rho.backend.graph.symbolic_costs import Logarithms, ceiling_log2, graph_cost, graph_span, upper_bound_of
from rho.backend.schedule.program_facts.scratch_memory import peak_bound
from rho.backend.schedule.single_device import Detail, plan_one_device
from rho.lang.diagnostics.model import Refused
from rho.tests.backend.test_differential import DECLARED, PROGRAMS
from rho.tests.graph.test_random import program
from rho.tests.harness.tiers import checked
from rho.typechecker.core.operations import Core
from rho.typechecker.sizes.polynomials import Size, SizeOrigin, SizeVariable, number, variable

NUMBERS = (0, 1, 2, 7, 300, 2_000, 100_000)


def compare(core: Core, seed: int) -> None:
    """Every formula of a program on numbers for its sizes that differ by name."""
    graph = replace(optimise(lower(core)), guards=())
    cost, span, peak = graph_cost(graph), graph_span(graph), peak_bound(graph)
    sizes = sorted({v for t in core.types.values() for s in t.shape for v in s.variables() if v.origin is not SizeOrigin.RUNTIME},
                   key=lambda v: v.id)  # fmt: skip
    sizes += [p.variable for p in core.params if p.variable not in sizes]
    for turn in range(4):
        drawn = {v: NUMBERS[(seed * 3 + turn * 5 + 2 * at) % len(NUMBERS)] for at, v in enumerate(sizes)}
        try:
            bound = bind(graph, drawn)
        except Refused as refused:  # an empty array whose other axes no memory holds
            assert [one.code for one in refused.diagnostics] == ["E702"]
            continue
        exact = graph_cost(bound.graph)
        assert cost.total().evaluate(drawn) == exact.total().evaluate({}), (drawn, str(cost.total()))
        assert cost.read.evaluate(drawn) == exact.read.evaluate({})
        assert cost.written.evaluate(drawn) == exact.written.evaluate({})
        assert span.evaluate(drawn) >= graph_span(bound.graph).evaluate({})
        planned = max((n for _, n in plan_one_device(bound, detail=Detail.STEPS).main.peak), default=0)
        assert peak.evaluate(drawn) >= planned, (drawn, str(peak))


@pytest.mark.parametrize("seed", seeds(150, 16870013))
def test_random_programs(seed: int) -> None:
    compare(program(seed).core(), seed)


@pytest.mark.parametrize("part", range(8))
def test_one_line_programs(part: int) -> None:
    ran = 0
    for at, line in list(enumerate(PROGRAMS))[part::8]:
        core = checked(DECLARED + line)
        if core is not None:
            compare(core, at)
            ran += 1
    assert ran > 10


def test_the_larger_of_many_formulas_stays_short_and_is_never_less() -> None:
    sizes = [SizeVariable(name, at, SizeOrigin.INPUT) for at, name in enumerate("abcdefgh")]
    found = Size({})
    pieces = [variable(v) * number(k + 1) + k for k, v in enumerate(sizes)]
    products = [x * y + z for x, y, z in itertools.product(pieces, repeat=3)]
    for piece in products:
        found = upper_bound_of(found, piece)
    assert len(str(found)) < 2000
    drawn = {v: 3 * at + 1 for at, v in enumerate(sizes)}
    assert found.evaluate(drawn) >= max(piece.evaluate(drawn) for piece in products)


def test_logarithms() -> None:
    assert [ceiling_log2(n) for n in (0, 1, 2, 3, 4, 5, 1024, 1025)] == [0, 0, 1, 2, 2, 3, 10, 11]
    logs, n = Logarithms(), variable(SizeVariable("n", 0, SizeOrigin.INPUT))
    assert str(logs.of(n) + n * 2) == "(⌈2⍟n)+(2×n)"
    assert logs.of(number(5)) == number(3)


def spans(text: str) -> tuple[str, Graph]:
    core = checked(text)
    assert core is not None
    graph = optimise(lower(core))
    return str(graph_span(graph)), graph


@pytest.mark.parametrize(
    "text,span",
    [
        ("input x : f64[n]\n⎕←x+1", "1"),
        ("input x : f64[n]\n⎕←+/x×x", "(⌈2⍟n)+1"),
        ("input x : f64[n]\n⎕←+\\x", "(⌈2⍟n)"),
        ("input x : f64[n]\n⎕←-/x", "n"),
        ("input x : f64[n]\nparam p ← 3\n⎕←{1+⍵×2}⍣p ⊢ x", "2×p"),
        ("input A : f64[n k]\ninput B : f64[k m]\n⎕←A+.×B", "(⌈2⍟k)+1"),
        ("input x : f64[n]\n⎕←⌽x", "0"),
        ("input x : f64[n]\ny ← ⌽x\n⎕←(*x)+√√y", "3"),
    ],
)
def test_spans(text: str, span: str) -> None:
    assert spans(text)[0] == span


@pytest.mark.parametrize("seed", seeds(40))
def test_programs_of_several_lines(seed: int) -> None:
    """Results of lines are kept, viewed, joined and dropped at different times."""
    draw = random.Random(seed)
    lines = [f"v{at} ← {line}" for at, line in enumerate(draw.sample(PROGRAMS, 6)) if "←" not in line]
    kept = draw.sample(range(len(lines)), min(3, len(lines)))
    views = ["⌽v{0}", "⍉v{0}", "1↓v{0}", "5↑v{0}", ",v{0}", "2 2⍴v{0}", "v{0}"]
    lines += [f"w{at} ← " + draw.choice(views).format(lines[at].split()[0][1:]) for at in kept]
    lines += [f"⎕←{draw.choice(lines).split()[0]}" for _ in range(3)]
    core = checked(DECLARED + "\n".join(lines))
    if core is not None:
        compare(core, seed)
