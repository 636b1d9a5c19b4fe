"""Cost formulas against the numbers of bound programs: work is equal, the peak never below that of the plan of the same graph,
before and after the passes that need sizes, in shared functions too."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import pytest
from share import seeds

from rho.backend import bind_shapes
from rho.backend.graph import traverse
from rho.backend.graph.bind_sizes import bind
from rho.backend.graph.lowering.blocks import lower
from rho.backend.graph.passes.pipeline import bound_function, optimise, optimise_with_sizes
from rho.backend.graph.phases import Graph, LibraryPhase
from rho.backend.graph.registry import called
from rho.backend.graph.symbolic_costs import Logarithms, ceiling_log2, graph_cost, graph_span, upper_bound_of
from rho.backend.schedule.program_facts.scratch_memory import Numbers, called_bytes, peak_bound, peak_of
from rho.backend.schedule.single_device import Detail, plan_one_device
from rho.lang.diagnostics.model import Refused
from rho.tests.backend.test_differential import DECLARED, PROGRAMS
from rho.tests.graph.test_random import program
from rho.tests.harness.tiers import checked
from rho.typechecker.core import cloning
from rho.typechecker.core.operations import Core
from rho.typechecker.sizes.polynomials import Size, SizeOrigin, SizeVariable, number, variable
from rho.typechecker.sizes.size import upper_bound

NUMBERS = (0, 1, 2, 7, 300, 2_000, 100_000)


def compare(core: Core, seed: int) -> None:
    """Every formula of a program on numbers for its sizes that differ by name; calls are planned after passes with sizes."""
    graph = replace(optimise(lower(core)), guards=())
    calls = any(isinstance(phase, LibraryPhase) and phase.op == "call" for phase in traverse.all_phases(graph))
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
        assert peak.evaluate(drawn) >= planned or calls, (drawn, str(peak))
        fused = optimise_with_sizes(bound)
        assert upper_bound(peak_bound(fused.graph)).evaluate({}) >= peak_of(plan_one_device(fused, detail=Detail.STEPS).main)


@pytest.mark.parametrize("seed", seeds(150, 16870013))
def test_random_programs(seed: int) -> None:
    compare(program(seed).core(), seed)


ONE_LINERS = (
    "{⌽⍵}", "{⊖⍵}", "{⍵+⌽⍵}", "{⍉(⌽⍉⍵)+⍉⍵}", "{⍵÷1⌈+/|⍵}", "{n m⍴,⍉⍵}", "{⍵-+/,⍵}", "{+⌿2 n m⍴⍵⍪⍵}", "{⍵[⍋+/⍵;]}", "{+⍀⌽⍵}",
    "{⍵-(n m)⍴+⌿⍵}",
)  # fmt: skip
JOINS = ("{F G ⍵}", "{(F ⍵)+G ⍵}", "{F (⊖G ⍵)-⍵}", "{(F ⍵)×+/G ⍵}", "{F ⌽G ⍵}")


def chain(seed: int) -> str:
    """Functions with signatures that call each other: reductions, reversals, transpositions, ravels."""
    draw, lines = random.Random(seed), list[str]()
    for at in range(draw.randint(2, 7)):
        body = draw.choice(ONE_LINERS if at < 2 or draw.random() < 0.3 else JOINS)
        body = "".join(f"f{draw.randrange(at)}" if letter in "FG" else letter for letter in body)
        lines += [f"f{at} : f64[n m] → f64[n m]", f"f{at} ← {body}"]
    return "\n".join([*lines, "input x : f64[n m]", f"output z ← (f{at} x)+f{at} ⌽x"])


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("seed", seeds(60, 75, 219))
def test_chains_of_functions(seed: int, shared: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The plan of a call was estimated from the graph before the passes that need sizes, so that it was below what calls take."""
    if shared:
        monkeypatch.setattr(cloning, "MOST_INLINED", 10)
    core = checked.__wrapped__(chain(seed))
    assert core is not None
    compare(core, seed)
    bound = bind_shapes(core, {"x": (300, 700)})
    for phase in traverse.all_phases(bound.graph):
        for stated in called_bytes(phase, bound.graph.types, Numbers()):
            assert isinstance(phase, LibraryPhase)
            function, sizes = called(phase.attributes)
            plan = plan_one_device(bound_function(function, tuple(map(Numbers().cap, sizes.values()))), detail=Detail.STEPS)
            values = {*traverse.operands(phase), *traverse.results(phase)}
            assert stated >= peak_of(plan.main) - sum(map(Numbers().bytes, map(bound.graph.types.__getitem__, values)))


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
