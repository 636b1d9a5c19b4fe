"""The bound over all cuts with what they move: below every plan of random problems, and sharp where cuts move little."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from random import Random

import pytest
from share import SHARE, seeds

import rho
from rho.backend.devices.cost_functions import Ticks
from rho.backend.devices.this_machine import load_profile
from rho.backend.schedule.bounds import lp_relaxation
from rho.backend.schedule.bounds.bound_strategies import best_bound
from rho.backend.schedule.bounds.head_tail_bounds import BoundSet, Costs
from rho.backend.schedule.bounds.lp_relaxation import LinearProgram, LpRelaxation, LpRow, hull_of, round_to_rows, weights_bound
from rho.backend.schedule.problem import DeviceGroup, Edge, Link, PhaseIndex, PhaseTask, Problem, Status
from rho.backend.schedule.program.problem_from_program import problem_of as problem_of_program
from rho.backend.schedule.search.mode_enumeration import candidate_modes
from rho.backend.schedule.search.portfolio import bound_is_reproved, plan_problem
from rho.backend.schedule.search.strategy import Budget
from rho.backend.schedule.timeline.serial_sgs import ScheduleDecoder
from rho.benchmarks.blocks import PROGRAMS, two_hosts
from rho.shell.execution.modules import bind_known_sizes

from .drawn import decisions_for, problem_of
from .oracle import shortest


def fluid_bound(problem: Problem, known: int) -> int:
    """Also where what no plan of `known` ticks uses is left out."""
    bounds = BoundSet(Costs(ScheduleDecoder(problem)))
    return max(LpRelaxation(bounds, goal).bound() for goal in (2 * known, known + 1))


@pytest.mark.parametrize("phases", [3, 6])
def test_no_plan_of_a_random_problem_is_shorter(phases: int) -> None:
    asked = sharper = 0
    for seed in seeds(160):
        random = Random(seed)
        problem = problem_of(random, phases)
        problem = replace(problem, devices=tuple(replace(group, memory=None) for group in problem.devices))
        decoder = ScheduleDecoder(problem)
        costs = Costs(decoder)
        if not all(costs.allowed):
            continue
        answer = plan_problem(problem, Budget(300, 0))
        known = [] if answer.schedule is None else [answer.schedule.makespan]
        known += [ticks for _ in range(40) if (ticks := decoder.makespan(decisions_for(random, problem))) is not None]
        if known:
            bound = fluid_bound(problem, max(1, min(known)))
            assert bound <= min(known), seed
            asked += 1
            sharper += bound > best_bound(BoundSet(costs)).ticks
    assert asked > 5 and (sharper or SHARE < 1)


def cut_chain(random: Random) -> Problem:
    """Two or three phases of a few rows on two or three devices behind one bus."""
    count = random.randint(2, 3)
    devices = tuple(DeviceGroup(f"d{i}", f"k{i}", home=i == 0, sync=random.randint(0, 1)) for i in range(count))
    links = tuple(
        Link(f"l{i}", "d0", f"d{i}", random.randint(0, 2), Fraction(random.randint(1, 4)), group="bus") for i in range(1, count)
    )
    phases = tuple(
        PhaseTask(
            f"p{p}",
            {f"k{k}": Ticks(((1, low := random.randint(1, 8)), (4, low + random.randint(0, 20)))) for k in range(count)},
            rows=random.choice((0, 2, 3)),
            out_bytes=random.choice((1, 3, 6, 12)),
        )
        for p in range(random.randint(2, 3 if count == 2 else 2))
    )
    edges = tuple(
        Edge(PhaseIndex(a), PhaseIndex(b), whole=random.random() < 0.2)
        for a in range(len(phases))
        for b in range(a + 1, len(phases))
        if random.random() < 0.8
    )
    return Problem(devices, links, phases, edges)


def test_the_oracle_is_never_below_the_bound() -> None:
    met = 0
    for seed in seeds(60, least=12):
        problem = cut_chain(Random(seed))
        modes = candidate_modes(Costs(ScheduleDecoder(problem)))
        assert modes.complete
        best = shortest(problem, [[tuple((int(d), n) for d, n in mode) for mode in options] for options in modes.choices])
        assert best is not None
        bound = fluid_bound(problem, best)
        assert bound <= best, seed
        met += bound == best
    assert met > 1


def test_a_chain_behind_one_bus() -> None:
    """Equal rows on two devices, nothing worth moving: half of the work each, which no bound of one phase sees."""
    devices = (DeviceGroup("a", "k", home=True), DeviceGroup("b", "k"))
    links = (Link("bus", "a", "b", 1, Fraction(1), group="bus"),)
    phases = tuple(PhaseTask(f"p{i}", {"k": Ticks(((1, 2), (100, 200)))}, rows=100, out_bytes=10_000) for i in range(5))
    problem = Problem(devices, links, phases, tuple(Edge(PhaseIndex(i), PhaseIndex(i + 1)) for i in range(4)))
    assert fluid_bound(problem, 500) == 500


def test_weights_prove_in_integers_only() -> None:
    rows = [LpRow(((0, 1), (1, -3)), 0), LpRow(((1, 2),), 1)]
    assert weights_bound(rows, [2, 3], [True, False]) == 2  # 2 x0 - 6 x1 + 6 x1 >= 3, so x0 >= 1.5
    assert weights_bound(rows, [2, 4], [True, False]) == 1  # 2 x0 + 2 x1 >= 4 with x1 <= 1
    assert weights_bound(rows, [0, 5], [True, False]) == 0
    program = LinearProgram(10)
    column = program.column(ticks=False)
    program.rows += [LpRow(((0, 1), (column, -30)), 0), LpRow(((column, 2),), 1)]
    assert program.solve(100) and program.certified_bound() == 15


def test_few_pivots_at_a_time_reach_the_same_optimum(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """HiGHS returns to Python every few pivots, so that interrupts are seen, goes on from its last basis, and prints nothing."""

    def solved(portion: int, most: int) -> tuple[bool, int]:
        monkeypatch.setattr(lp_relaxation, "INTERRUPT_PIVOTS", portion)
        random, program = Random(5), LinearProgram(1000)
        columns = [program.column(ticks=True) for _ in range(40)]
        program.rows += [LpRow(((0, 1), (column, -1)), 0) for column in columns]
        for _ in range(3):
            for _ in range(40):
                terms = tuple((column, random.randint(1, 9)) for column in random.sample(columns, 6))
                program.rows.append(LpRow(terms, random.randint(100, 9000)))
            reached = program.solve(most)
        return reached, program.certified_bound()

    at_once = solved(10_000, 10_000)
    in_portions = solved(2, 10_000)
    assert at_once[0] and in_portions[0] and abs(at_once[1] - in_portions[1]) <= 1 < at_once[1]
    assert solved(2, 2)[0] is False and capfd.readouterr() == ("", "")


def test_the_hull_is_below_every_number_of_rows() -> None:
    for seed in seeds(100):
        random = Random(seed)
        rows = random.choice((1, 7, 40, 2000))
        low = random.randint(0, 30)
        table = Ticks(((1, low), (rows + 1, low + random.randint(0, 4 * rows))))
        hull = hull_of(table, rows)
        for r in {1, rows, *(random.randint(1, rows) for _ in range(30))}:
            x = Fraction(r, rows)
            (a, below), (b, above) = next(pair for pair in pairwise(hull) if pair[0][0] <= x <= pair[1][0])
            assert below + (above - below) * (x - a) / (b - a) <= Fraction(r * table.at(r), rows)


def test_shares_become_rows() -> None:
    assert round_to_rows([(0, 0.5), (1, 0.25), (2, 0.25)], 9) == ((0, 5), (1, 2), (2, 2))
    assert round_to_rows([(0, 1.0), (1, 0.0)], 4) == ((0, 4),)


def launches(count: int) -> Problem:
    """A chain that may be cut, whose phases cost their launch: half as much at home as on a node."""
    devices = (DeviceGroup("head", "h", home=True, sync=3), DeviceGroup("node", "n", 10, sync=4))
    links = (Link("net", "head", "node", 5, Fraction(2)),)
    table = {"h": Ticks(((1, 20), (64, 22))), "n": Ticks(((1, 40), (64, 42)))}
    phases = tuple(PhaseTask(f"p{i}", table, rows=64, out_bytes=64) for i in range(count))
    print_ = PhaseTask("print", {"h": Ticks(((1, 20),))}, home=True, effect=True)
    edges = (*(Edge(PhaseIndex(i), PhaseIndex(i + 1)) for i in range(count - 1)), Edge(PhaseIndex(count - 1), PhaseIndex(count)))
    return Problem(devices, links, (*phases, print_), edges)


def test_launches_are_proved_not_worth_cutting() -> None:
    problem = launches(4)
    answer = plan_problem(problem)
    assert answer.status is Status.OPTIMAL and answer.values == (4 * 22 + 20,)
    assert bound_is_reproved(problem, answer)
    assert not bound_is_reproved(problem, replace(answer, lower_bound=answer.lower_bound + 1, values=(answer.values[0] + 1,)))


@pytest.mark.long
def test_tiny_pivots_lose_no_digits() -> None:
    """Two hosts behind a slow network: quotients of costs that are next to nothing once led the simplex astray."""
    text, sizes = PROGRAMS["k-means"]
    core = rho.check(text).core
    assert core is not None
    graph = bind_known_sizes(core, sizes, {}, lambda _: {})
    alone, both = (
        fluid_bound(problem_of_program(graph, profile).problem, 132_600) for profile in (load_profile("workstation"), two_hosts())
    )
    assert 0.9 * alone < both <= alone
