"""Conflicts: the fewest directives, data and capacities that contradict each other.

Scenarios S05, S07, S08, S15, S18, S21, S31."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from random import Random

import pytest
from share import seeds

from rho.backend.devices.cost_functions import Ticks
from rho.backend.schedule.exact.infeasibility import data_arcs, find_conflict, order_conflict, order_facts
from rho.backend.schedule.problem import (
    Before,
    Combine,
    Conflict,
    Deadline,
    DeviceGroup,
    Directive,
    Edge,
    IssueBefore,
    Keep,
    LimitMachines,
    LimitMemory,
    Link,
    NoSplit,
    PhaseIndex,
    PhaseTask,
    PlaceDirective,
    Problem,
    SourceLine,
    Split,
    Status,
)
from rho.backend.schedule.search.portfolio import plan_problem
from rho.backend.schedule.verify.schedule_checks import verify_schedule

from .problems import KINDS, atomic

MB = 1_000_000
CPU, GPU = DeviceGroup("cpu0", "cpu", home=True), DeviceGroup("gpu0", "gpu")
BOTH = {"cpu": Ticks(((1, 5),)), "gpu": Ticks(((1, 5),))}


def line(number: int, text: str = "") -> SourceLine:
    return SourceLine(number, text)


def graph(names: str, arrows: str, *directives: Directive, devices: tuple[DeviceGroup, ...] = (CPU, GPU)) -> Problem:
    """Phases by name, and arrows like `a>b`."""
    ids = names.split()
    edges = tuple(
        Edge(PhaseIndex(ids.index(a)), PhaseIndex(ids.index(b))) for a, b in (arrow.split(">") for arrow in arrows.split())
    )
    return Problem(devices, (), tuple(PhaseTask(name, BOTH) for name in ids), edges, directives)


def p(*indices: int) -> tuple[PhaseIndex, ...]:
    return tuple(PhaseIndex(index) for index in indices)


def conflict(problem: Problem) -> Conflict:
    found = find_conflict(problem)
    assert found is not None
    return found


# x, y <- x+2, z, r <- (x+y)+z
SUM = graph("x z y r", "x>y x>r y>r z>r")


def completions(problem: Problem) -> list[tuple[int, ...]]:
    """Every order of all phases that directives and data allow."""
    facts = order_facts(problem)
    arcs = [*data_arcs(problem), *(arc for fact in facts for arc in fact.arcs)]
    return [
        found
        for found in permutations(range(len(problem.phases)))
        if all(found.index(p) < found.index(q) for p, q in arcs)
    ]


class TestOrders:
    def test_several_completions(self) -> None:
        """S07: `order x z`."""
        problem = replace(SUM, directives=(IssueBefore(line(1), p(0), p(1)),))
        assert len(completions(problem)) == 2
        assert find_conflict(problem) is None

    def test_nothing_comes_after_what_needs_it(self) -> None:
        """S08: `order r z`: exactly two facts."""
        last = IssueBefore(line(1), p(3), p(1))
        found = conflict(replace(SUM, directives=(last,)))
        assert (found.code, found.directives, found.facts) == ("SCH102", (last,), ("`r` needs `z`",))
        assert completions(replace(SUM, directives=(last,))) == []

    def test_a_circle_of_directives(self) -> None:
        there, back = Before(line(3), p(0), p(1)), Before(line(5), p(1), p(0))
        bystander = Before(line(4), p(2), p(0))
        found = conflict(graph("a d e", "", there, bystander, back))
        assert (found.code, found.facts) == ("SCH101", ())
        assert set(found.directives) == {there, back}

    def test_directives_that_data_brings_against_each_other(self) -> None:
        """As many lines as contradict each other are shown, and it is they that do."""
        there, back = Before(line(3), p(1), p(2)), Before(line(5), p(2), p(0))
        found = conflict(graph("a print d", "a>print", there, back))
        assert (found.code, set(found.directives), found.facts) == ("SCH101", {there, back}, ("`print` needs `a`",))

    def test_before_itself(self) -> None:
        """S31."""
        itself = Before(line(1), p(0), p(0))
        assert (conflict(graph("a", "", itself)).code, conflict(graph("a", "", itself)).directives) == ("SCH101", (itself,))

    def test_the_shortest_circle_is_told(self) -> None:
        chain = tuple(Before(line(k), p(k), p(k + 1)) for k in range(4))
        short = (IssueBefore(line(8), p(4), p(3)),)
        found = conflict(graph("a b c d e", "", *chain, *short))
        assert set(found.directives) == {chain[3], *short}

    def test_far_data_is_one_fact(self) -> None:
        back = Before(line(1), p(3), p(0))
        found = conflict(graph("a b c d", "a>b b>c c>d", back))
        assert (found.code, found.directives, found.facts) == ("SCH102", (back,), ("`d` needs `a`",))

    def test_effects_keep_their_order(self) -> None:
        swapped = Before(line(1), p(1), p(0))
        problem = graph("print1 print2", "", swapped)
        problem = replace(problem, phases=tuple(replace(phase, effect=True, home=True) for phase in problem.phases))
        found = conflict(problem)
        assert (found.code, found.directives, len(found.facts)) == ("SCH102", (swapped,), 1)

    @pytest.mark.parametrize("count", [3, 30])
    def test_possible_orders_are_no_conflict(self, count: int) -> None:
        names = " ".join(f"p{k}" for k in range(count))
        assert order_conflict(graph(names, "", *(Before(line(k), p(k), p(k + 1)) for k in range(count - 1)))) is None


class TestPlaces:
    def test_effects_off_home(self) -> None:
        """S31."""
        place = PlaceDirective(line(1), p(0), "gpu0")
        problem = graph("print", "", place)
        found = conflict(replace(problem, phases=(replace(problem.phases[0], home=True, effect=True),)))
        assert (found.code, found.directives) == ("SCH105", (place,))

    def test_no_kernel_there(self) -> None:
        place = PlaceDirective(line(1), p(0), "gpu")
        problem = graph("a", "", place)
        found = conflict(replace(problem, phases=(replace(problem.phases[0], ticks={"cpu": Ticks(((1, 1),))}),)))
        assert (found.code, found.directives) == ("SCH104", (place,))

    def test_no_kernel_anywhere(self) -> None:
        problem = graph("a", "")
        found = conflict(replace(problem, phases=(replace(problem.phases[0], ticks={"tpu": Ticks(((1, 1),))}),)))
        assert (found.code, found.directives) == ("SCH104", ())

    def test_two_places(self) -> None:
        here, there = PlaceDirective(line(1), p(0, 1), "cpu0"), PlaceDirective(line(2), p(1), "gpu0")
        found = conflict(graph("a b", "", here, there))
        assert (found.code, found.directives) == ("SCH101", (here, there))

    def test_split_and_whole(self) -> None:
        split, whole = Split(line(1), PhaseIndex(0), (3, 1), ("cpu0", "gpu0")), NoSplit(line(2), PhaseIndex(0))
        problem = graph("a", "", split, whole)
        found = conflict(replace(problem, phases=(replace(problem.phases[0], rows=8),)))
        assert (found.code, found.directives) == ("SCH101", (split, whole))

    def test_no_way_to_keep_it_there(self) -> None:
        keep, place = Keep(line(1), PhaseIndex(0), "far"), PlaceDirective(line(2), p(0), "cpu0")
        problem = graph("a", "", keep, place, devices=(CPU, GPU, DeviceGroup("far", "cpu")))
        found = conflict(replace(problem, links=(Link("l", "cpu0", "gpu0"),)))
        assert set(found.directives) == {keep, place}


def test_data_that_no_link_brings_is_named() -> None:
    devices = (CPU, GPU, DeviceGroup("far", "far"))
    tasks = (PhaseTask("x", {"cpu": Ticks(((1, 5),))}, out_bytes=8), PhaseTask("y", {"far": Ticks(((1, 5),))}))
    found = conflict(Problem(devices, (Link("l", "cpu0", "gpu0"),), tasks, (Edge(*p(0, 1)),)))
    assert (found.code, found.directives, found.facts[0]) == ("SCH102", (), "`y` needs `x`")


class TestMemory:
    def sharded(self, a: int, b: int, *directives: Directive) -> Problem:
        devices = (DeviceGroup("a", "a", memory=a * MB, home=True), DeviceGroup("b", "b", memory=b * MB))
        phase = PhaseTask("m", {"a": Ticks(((1, 1),)), "b": Ticks(((1, 2),))}, rows=200, out_bytes=200 * MB)
        return Problem(devices, (), (phase,), (), directives)

    def test_ten_megabytes_short(self) -> None:
        """S15."""
        found = conflict(self.sharded(90, 100))
        assert (found.code, found.directives) == ("SCH103", ())
        assert found.facts == ("`m` needs 200 MB with its operands", "memory is 90 MB on a + 100 MB on b", "short 10 MB")
        assert plan_problem(self.sharded(90, 100)).conflict.hint == "`a` with 100 MB would fit"

    @pytest.mark.parametrize(
        ("a", "b", "facts"),
        [
            (30, 40, ("`m` needs 250 MB with its operands", "memory is 40 MB on b", "short 210 MB")),
            (80, 40, ("`m` needs 250 MB with its operands", "memory is 80 MB on a", "short 170 MB")),
            (80, 90, (
                "`m` needs 210 MB on a + 90 MB on b with its operands", "memory is 80 MB on a + 90 MB on b", "short 130 MB",
            )),
        ],
    )
    def test_an_operand_that_each_device_needs(self, a: int, b: int, facts: tuple[str, ...]) -> None:
        """Parts add up, and with as much more there is a plan."""
        plain = self.sharded(a, b)
        whole = PhaseTask("x", {"h": Ticks(((1, 1),))}, out_bytes=50 * MB)
        devices = (DeviceGroup("h", "h", home=True), *(replace(one, home=False) for one in plain.devices))
        links = tuple(Link(f"h{one.id}", "h", one.id) for one in plain.devices)
        problem = Problem(devices, links, (whole, *plain.phases), (Edge(*p(0, 1), whole=True),))
        assert conflict(problem).facts == facts
        (last,) = [at for at, one in enumerate(devices) if one.id == facts[1].split()[-1]]
        short = int(facts[2].split()[1]) * MB
        more = [replace(one, memory=(one.memory or 0) + short) if at == last else one for at, one in enumerate(devices)]
        assert find_conflict(replace(problem, devices=tuple(more))) is None

    def test_enough(self) -> None:
        assert find_conflict(self.sharded(120, 150)) is None

    def test_limits_count_and_only_those_that_matter(self) -> None:
        tight, loose = LimitMemory(line(1), "a", 90 * MB), LimitMemory(line(2), "b", 140 * MB)
        assert find_conflict(self.sharded(120, 150, tight, loose)) is None
        tighter = LimitMemory(line(3), "b", 100 * MB)
        found = conflict(self.sharded(120, 150, tight, tighter))
        assert (found.code, found.directives, found.facts[-1]) == ("SCH103", (tight, tighter), "short 10 MB")

    def test_the_planner_names_the_limits_too(self) -> None:
        tight, tighter = LimitMemory(line(1), "a", 90 * MB), LimitMemory(line(2), "b", 100 * MB)
        found = plan_problem(self.sharded(120, 150, tight, LimitMemory(line(3), "b", 140 * MB), tighter)).conflict
        assert found is not None
        assert (found.code, found.directives, found.facts[-1]) == ("SCH103", (tight, tighter), "short 10 MB")

    @pytest.mark.parametrize(("cap", "short"), [(250, None), (199, "short 1 MB")])
    def test_a_chain_by_liveness(self, cap: int, short: str | None) -> None:
        """S21."""
        size = 100 * MB
        phases = tuple(PhaseTask(name, BOTH, out_bytes=size) for name in "abc")
        place = PlaceDirective(line(1), p(0, 1, 2), "gpu0")
        problem = Problem((CPU, replace(GPU, memory=cap * MB)), (), phases, (Edge(*p(0, 1)), Edge(*p(1, 2))), (place,))
        found = find_conflict(problem)
        assert (None if found is None else (found.code, found.directives, found.facts[-1])) == (
            None if short is None else ("SCH103", (place,), short)
        )

    def test_several_phases_together(self) -> None:
        """No phase is too large by itself: the solver says how much every order needs."""
        phases = tuple(PhaseTask(name, BOTH, out_bytes=100 * MB) for name in "abcd")
        place = PlaceDirective(line(1), p(0, 1, 2, 3), "gpu0")
        needless = Before(line(2), p(0), p(2))
        problem = Problem((CPU, replace(GPU, memory=250 * MB)), (), phases, (Edge(*p(0, 2)), Edge(*p(1, 3))), (needless, place))
        found = conflict(problem)
        assert (found.code, found.directives) == ("SCH103", (place,))
        assert found.facts == ("every order needs 300 MB on `gpu0`", "it has 250 MB", "short 50 MB")


class TestLimits:
    def combined(self, *directives: Directive) -> Problem:
        phase = PhaseTask("sum", {"m": Ticks(((1, 10),))}, rows=6400, combine=Combine(10))
        return Problem((DeviceGroup("m", "m", 100, home=True),), (), (phase,), (), directives)

    def test_forty_machines_in_2000_ticks(self) -> None:
        assert find_conflict(self.combined(LimitMachines(line(1), 40), Deadline(line(2), 2000))) is None

    def test_forty_machines_in_1999_ticks(self) -> None:
        """S18."""
        machines, deadline = LimitMachines(line(1), 40), Deadline(line(2), 1999)
        found = conflict(self.combined(machines, deadline))
        assert (found.code, found.directives) == ("SCH106", (machines, deadline))
        assert found.facts == ("no schedule is shorter than 2000 ticks on so few machines",)

    def test_the_deadline_alone(self) -> None:
        machines, deadline = LimitMachines(line(1), 90), Deadline(line(2), 1500)
        found = conflict(self.combined(machines, deadline))
        assert (found.code, found.directives) == ("SCH106", (deadline,))
        assert "1600" in found.facts[0]

    def test_places_ask_for_more_machines(self) -> None:
        one, here, there = LimitMachines(line(1), 1), PlaceDirective(line(2), p(0), "cpu0"), PlaceDirective(line(3), p(1), "gpu0")
        found = conflict(graph("a b", "a>b", one, here, there))
        assert (found.code, found.directives) == ("SCH106", (one, here, there))

    def test_a_deadline_that_only_the_search_refutes(self) -> None:
        """Three equal phases on two devices: no bound by load or path says 10."""
        deadline = Deadline(line(1), 9)
        found = conflict(graph("a b c", "", deadline))
        assert (found.code, found.directives) == ("SCH106", (deadline,))


@pytest.mark.parametrize("seed", seeds(14, least=3))
def test_annotated_is_never_better_than_free(seed: int) -> None:
    """Random directives: the plan keeps to them (so says the verifier), is no shorter than the free optimum, or there is a
    conflict of directives that were written."""
    r = Random(seed)
    count, devices = r.randint(3, 6), r.randint(2, 3)
    free = atomic(seed, count, devices, memory=r.random() < 0.5)
    kinds = KINDS[:devices]
    directives: list[Directive] = []
    for number in range(r.randint(1, 3)):
        here = line(number + 1)
        x, z = (PhaseIndex(index) for index in r.sample(range(count), 2))
        options: list[Directive] = [
            Before(here, (x,), (z,)), IssueBefore(here, (x,), (z,)), PlaceDirective(here, (x, z), r.choice(kinds)),
            Keep(here, x, r.choice(kinds)),
            LimitMachines(here, r.randint(1, 2)), LimitMemory(here, r.choice(kinds), r.randint(60, 200)),
            Deadline(here, r.randint(100, 500)),
        ]  # fmt: skip
        directives.append(r.choice(options))
    annotated = replace(free, directives=tuple(directives))
    answer = plan_problem(annotated)
    if answer.schedule is None:
        assert answer.conflict is not None and answer.status is Status.IMPOSSIBLE
        assert answer.conflict.directives and set(answer.conflict.directives) <= set(directives)
        return
    assert verify_schedule(annotated, answer.schedule) == ()
    assert answer.status is Status.OPTIMAL
    assert answer.schedule.makespan >= plan_problem(free).lower_bound


class TestWhatWouldDo:
    """Hints say what would fit and what could be written instead, and these work."""

    def test_a_limit_that_would_fit(self) -> None:
        home = DeviceGroup("a", "a", home=True)
        phases = (PhaseTask("m", {"a": Ticks(((1, 1),))}, out_bytes=10_123_456),)
        tight = LimitMemory(SourceLine(1, "limit memory a 5MB"), "a", 5_000_000)
        found = plan_problem(Problem((home,), (), phases, (), (tight,))).conflict
        assert found is not None and found.code == "SCH103"
        assert found.facts == ("`m` needs 10.2 MB with its operands", "memory is 5 MB on a", "short 5.2 MB")
        assert found.hint == "`limit memory a 10.2MB` would fit"
        assert find_conflict(Problem((home,), (), phases, (), (replace(tight, bytes=10_200_000),))) is None

    def test_an_order_that_would_do(self) -> None:
        home = DeviceGroup("a", "a", home=True)
        phases = tuple(PhaseTask(name, {"a": Ticks(((1, 1),))}) for name in ("x", "z", "r"))
        edges = (Edge(PhaseIndex(0), PhaseIndex(2)), Edge(PhaseIndex(1), PhaseIndex(2)))
        asked = IssueBefore(SourceLine(4, "order r z"), p(2), p(1))
        found = find_conflict(Problem((home,), (), phases, edges, (asked,)))
        assert found is not None and found.code == "SCH102" and found.facts == ("`r` needs `z`",)
        assert found.hint == "write `order z r`"
        again = IssueBefore(SourceLine(4, "order z r"), p(1), p(2))
        assert find_conflict(Problem((home,), (), phases, edges, (again,))) is None
