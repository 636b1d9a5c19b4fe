"""How often elements are read, counted by running graphs; each decision that follows, and the plan without it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pytest
from share import seeds

from rho.backend.graph.bind_sizes import bind
from rho.backend.graph.lowering.blocks import lower
from rho.backend.graph.passes.pipeline import optimise, optimise_with_sizes
from rho.backend.graph.passes.redundancy import drop_dead
from rho.backend.graph.passes.usage import quantities_of
from rho.backend.graph.phases import Choice, Graph, Input, LibraryPhase, Output, Print, Structured, ValueId
from rho.backend.graph.traverse import all_phases, operands, results, subgraphs
from rho.backend.reference.arrays import positions
from rho.backend.vm.input_sizes import bind_sizes
from rho.backend.vm.values import Array
from rho.tests.graph.oracle import Failed, Machine
from rho.tests.graph.test_random import program
from rho.tests.harness.tiers import checked

INPUTS = "input x : f64[n] where n ≥ 4\ninput y : f64[100]\ninput A : f64[n m]\n"


class Counting(Machine):
    """Counts the reads of each element by structured phases."""

    def __init__(self, graph: Graph, sizes: dict, inputs: Mapping[str, Array]) -> None:  # type: ignore[type-arg]
        super().__init__(graph, sizes, inputs)
        self.counts: Counter[tuple[ValueId, tuple[int, ...]]] = Counter()

    def structured(self, phase: Structured) -> list[Array]:
        for point in positions([self.size(axis.size) for axis in phase.axes]):
            for read in phase.reads:
                where = self.project(read.projection, point)
                if where is not None:
                    self.counts[read.value, where] += 1
        return super().structured(phase)


def counted(graph: Graph) -> set[ValueId]:
    """Values of the main block that structured phases alone read, there or in bodies."""
    made = {value for phase in graph.phases for value in results(phase)}
    for phase in all_phases(graph):
        if not isinstance(phase, Structured):
            made -= set(operands(phase))
        made -= {value for body in subgraphs(phase) for value in body.results}
    return made


@pytest.mark.parametrize("seed", seeds(400))
def test_reads_of_drawn_programs_are_within_their_grades(seed: int) -> None:
    build = program(seed)
    core = build.core()
    sizes = bind_sizes(core, {name: data.shape for name, data in build.data.items()}, {})
    for graph in (drop_dead(lower(core)), optimise(lower(core)), drop_dead(bind(lower(core), sizes).graph)):
        machine = Counting(graph, dict(sizes), build.data)
        try:
            machine.run(graph.phases)
        except Failed:
            return
        except Exception as failure:  # a check of the program failed: not all was read
            if type(failure).__name__ == "CheckFailed":
                return
            raise
        found = quantities_of(graph)
        for value in counted(graph):
            for element in positions(machine.values[value].shape):
                count = machine.counts[value, tuple(element)]
                assert found.grade(value).holds(count, sizes), (value, element, count, str(found.grade(value)))


def settled(text: str, *without: str, sizes: Mapping[str, int] | None = None) -> Graph:
    core = checked(INPUTS + text)
    assert core is not None, text
    known = dict(sizes or {"n": 50, "m": 7})
    shapes = {"x": (known["n"],), "y": (100,), "A": (known["n"], known["m"])}
    off = frozenset(without)
    graph = optimise(lower(core), off, verify_each=True)
    return optimise_with_sizes(bind(graph, bind_sizes(core, shapes, {})), off, verify_each=True).graph


def decided(graph: Graph) -> list[tuple[Choice, str, str]]:
    return [(one.choice, one.name, one.why) for one in graph.decisions]


def phases(graph: Graph) -> int:
    return sum(not isinstance(phase, Input | Output | Print) for phase in graph.phases)


def test_what_is_not_read_is_dropped() -> None:
    text = "t ← *x\noutput r ← +/x×≢t\n"
    assert decided(settled(text)) == [(Choice.DROPPED, "t", "no element is read")]
    kept = settled(text, "dead", "fusion")
    assert phases(kept) > phases(settled(text, "fusion"))
    assert not kept.decisions


def test_what_is_read_once_is_fused() -> None:
    text = "t ← *x\noutput r ← +/t\n"
    assert decided(settled(text)) == [(Choice.FUSED, "t", "each element is read once")]
    apart = settled(text, "fusion")
    assert (phases(settled(text)), phases(apart)) == (1, 2)
    assert not apart.decisions


def test_parts_of_one_value_are_fused_into_several_readers() -> None:
    """Two readers are no reason to keep it: each element is read once in all."""
    halves = settled("t ← *y\na ← +/30↑t\nb ← ⌈/30↓t\noutput r ← a,b\n")
    assert (Choice.FUSED, "t", "each element is read once") in decided(halves)
    assert all(len(p.reads) == 1 for p in halves.phases if isinstance(p, Structured) and p.axes)
    overlapping = settled("t ← *y\na ← +/31↑t\nb ← ⌈/30↓t\noutput r ← a,b\n")
    assert not [one for one in overlapping.decisions if one.name == "t"]


def test_what_may_fail_is_fused_where_it_is_read_exactly_once() -> None:
    assert (Choice.FUSED, "t", "each element is read once") in decided(settled("t ← ⌊y\noutput r ← +/⌽t\n"))
    part = settled("t ← ⌊y\noutput r ← +/30↑t\n")
    assert not [one for one in part.decisions if one.name == "t"], "an element that is not read may fail"


def test_what_is_read_several_times_is_made_again_only_where_that_costs_little(monkeypatch: pytest.MonkeyPatch) -> None:
    from rho.backend.graph.passes import sink_into_maps

    monkeypatch.setattr(sink_into_maps, "MIN_POINTS", 1)
    light = "d ← y-2\na ← +/d×d\nb ← +/d×⌽d\noutput r ← a+b\n"
    assert [choice for choice, name, _ in decided(settled(light)) if name == "d"] == [Choice.REPEATED]
    assert not [one for one in settled(light, "again").decisions if one.name == "d"]
    heavy = light.replace("y-2", "*y")
    assert not [one for one in settled(heavy).decisions if one.name == "d"]


def test_a_loop_reads_what_it_captures_in_every_turn() -> None:
    graph = settled("t ← *y\noutput r ← {(⌽t)+⍵}⍣3 ⊢ y\n", "invariants", "views", "fusion")
    (t,) = (value for value, name in graph.names.items() if name == "t")
    assert str(quantities_of(graph).grade(t)) == "3"


def test_operands_of_library_phases() -> None:
    graph = settled("t ← *A\noutput p ← t+.×⍉A\noutput s ← y[⍋y]\n", "views", "rules", "products", sizes={"n": 5, "m": 3})
    found = quantities_of(graph)
    grades = {p.op: [str(found.grade(value)) for value in p.args] for p in graph.phases if isinstance(p, LibraryPhase)}
    assert grades["contract"][0] == "5"
    assert grades["gather"][0] == "2", "once by the grade, once by the permutation that it is"
