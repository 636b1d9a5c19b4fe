"""The cost model on tables made up for the purpose: every time can be worked out by hand."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import pytest

from rho import backend
from rho.backend.devices.phase_cost import missing_operation, phase_ticks, step_ns
from rho.backend.devices.profile import Calibration, CostTable, DeviceProfile, Profile, is_key
from rho.backend.devices.this_machine import load_profile, shipped_names
from rho.backend.graph import traverse
from rho.backend.graph.bind_sizes import BoundGraph
from rho.backend.graph.phases import LibraryPhase, Loop, Map, Phase, Structured
from rho.backend.jit.tiering import tier_name
from rho.lang.syntax.source import Source
from rho.typechecker.check import check


def bound(text: str, **shapes: tuple[int, ...]) -> BoundGraph:
    found = check(Source("<test>", text))
    assert found.core is not None, found.diagnostics
    return backend.bind_shapes(found.core, shapes)


def phases(graph: BoundGraph, kind: type) -> Iterator[Phase]:
    return (phase for phase in traverse.all_phases(graph.graph) if isinstance(phase, kind))


def line(rate: int) -> CostTable:
    """`rate` ns a byte from the first byte on."""
    return CostTable((1, 10**9), (rate, rate * 10**9))


def machine(launch: int = 0, dispatch: int = 0, **ops: CostTable) -> Profile:
    named = {name.replace("__", "."): table for name, table in ops.items()}
    return Profile((DeviceProfile("cpu0", "cpu", home=True, launch_ns=launch, host_dispatch_ns=dispatch, ops=named),))


def ns(graph: BoundGraph, phase: Phase, profile: Profile, launches: int = 1) -> int:
    found = step_ns(phase, graph, profile.home, profile.calibration, launches)
    assert found is not None
    return found.ns


SUM = "input x : f64[n]\ninput y : f64[n]\noutput z ← x+y\n"
CHAIN = "input x : f64[n]\ninput y : f64[n]\noutput z ← (x×y)+*x\n"
WHOLE = {"add__f64": line(7), "mul__f64": line(8), "transcendental__f64": line(9)}
PARTS = {"read__f64": line(1), "write__f64": line(10), "step__f64": CostTable((1, 1 << 50), (0, 0)), "point__add__f64": line(100),
         "point__mul__f64": line(200), "point__exp__f64": line(1000), "row__add__f64": line(1024), "ufunc__add__f64": line(3),
         "ufunc__add__c128": line(5), "ufunc__mul__f64": line(4), "ufunc__exp__f64": line(6)}  # fmt: skip
MANY = 1 << 14
"""Points that are worth a kernel."""


def test_one_application_of_full_operands_is_looked_up() -> None:
    graph = bound(SUM, x=(50,), y=(50,))
    only = next(phases(graph, Structured))
    assert ns(graph, only, machine(**WHOLE)) == 7 * 24 * 50
    assert ns(graph, only, machine(launch=3, dispatch=4, **WHOLE)) == 7 * 24 * 50 + 7
    assert ns(graph, only, machine(launch=3, dispatch=4, **WHOLE), launches=10) == 10 * (7 * 24 * 50 + 3) + 4


def test_declared_tables_alone_take_the_slowest_and_what_others_add() -> None:
    declared = machine(add__f64=line(2), mul__f64=line(2), transcendental__f64=line(5))
    graph = bound(CHAIN, x=(50,), y=(50,))
    only = next(phases(graph, Structured))
    assert ns(graph, only, declared) == 50 * (24 * 2 + 16 * (5 - 2))


def test_a_view_costs_its_step_alone() -> None:
    graph = bound("input A : f64[r c]\noutput z ← ⍉A\n", A=(10, 5))
    assert ns(graph, next(phases(graph, Structured)), machine(launch=3, dispatch=4)) == 7


@pytest.mark.parametrize(
    ("expression", "layout"),
    [("+/,A", "full"), ("+/A", "row"), ("+⌿A", "col")],
)
def test_reductions_go_by_their_layout(expression: str, layout: str) -> None:
    graph = bound(f"input A : f64[r c]\noutput z ← {expression}\n", A=(2000, 2000))
    ops = {f"reduce__add__{one}__f64": line(rate) for one, rate in (("full", 2), ("row", 3), ("col", 5))}
    only = next(phases(graph, Structured))
    assert ns(graph, only, machine(**ops)) == 4_000_000 * 8 * {"full": 2, "row": 3, "col": 5}[layout]


def test_short_rows_cost_by_the_row() -> None:
    ops = {"reduce__add__row__f64": line(3), "reduce__add__short__f64": line(11), "reduce__add__full__f64": line(2)}
    times = []
    for rows, length in ((1000, 8), (500, 16), (100, 80), (8, 1000), (4, 2000)):
        graph = bound("input A : f64[r c]\noutput z ← +/A\n", A=(rows, length))
        times.append(ns(graph, next(phases(graph, Structured)), machine(**ops)))
    assert times[0] == 11 * 8 * 8000 and times[-1] == 3 * 8 * 8000
    assert times == sorted(times, reverse=True) and len(set(times)) == len(times)


def test_near_element_types_and_wider_names_stand_in() -> None:
    graph = bound("input x : i64[n]\noutput z ← x-3\n", x=(50,))
    only = next(phases(graph, Structured))
    assert ns(graph, only, machine(add__f64=line(2), copy__f64=line(1))) == 50 * 16 * 2
    assert missing_operation(only, graph, machine(scan__f64=line(1)).home) is not None


def test_without_a_table_a_phase_cannot_run_there() -> None:
    graph = bound("input x : f64[n]\noutput z ← ⍋x\n", x=(50,))
    grade = next(phases(graph, LibraryPhase))
    profile = machine(add__f64=line(1))
    assert phase_ticks(grade, graph, profile, "cpu0") is None
    assert missing_operation(grade, graph, profile.home) == "grade.f64"
    assert phase_ticks(grade, graph, machine(sort__f64=line(1)), "cpu0") is not None
    assert phase_ticks(grade, graph, profile, "gpu0") is None


def test_products_go_by_shape_and_count_operations() -> None:
    ops = {"gemm__square__f64": line(1), "gemm__tall__f64": line(2), "gemm__wide__f64": line(3), "gemv__f64": line(5)}
    for left, right, expected in (
        ((20, 20), (20, 20), 2 * 20**3), ((800, 10), (10, 10), 2 * 2 * 80_000), ((10, 10), (10, 800), 3 * 2 * 80_000),
        ((20, 20), (20, 1), 5 * 8 * (400 + 20 + 20)),
    ):  # fmt: skip
        graph = bound("input A : f64[r c]\ninput B : f64[c d]\noutput z ← A+.×B\n", A=left, B=right)
        assert ns(graph, next(phases(graph, LibraryPhase)), machine(**ops)) == expected


def test_a_loop_is_trips_times_its_body() -> None:
    graph = bound("input x : f64[n]\noutput z ← {0.5×⍵+⍵}⍣7⊢x\n", x=(50,))
    loop = next(phases(graph, Loop))
    body = sum(ns(graph, phase, machine(**WHOLE)) for phase in phases(graph, Structured))
    # one launch a step and one an iteration, one dispatch a kernel
    assert ns(graph, loop, machine(launch=3, dispatch=4, **WHOLE)) == 7 * (body + 3 + 3) + 4 + 4 + 3


def test_a_map_runs_its_body_once_a_cell() -> None:
    graph = bound("input A : f64[r c]\noutput z ← {(⍵[⍋⍵])+≢⍵}⍤1⊢A\n", A=(10, 5))
    for each in phases(graph, Map):
        assert ns(graph, each, machine(launch=1, sort__f64=line(1), gather__f64=line(1), add__f64=line(1))) > 10


# ------------------------------------------------------------------------------------------- shards


def test_ticks_of_shards_follow_the_tables_where_they_fall_too() -> None:
    graph = bound(SUM, x=(1000,), y=(1000,))
    only = next(phases(graph, Structured))
    table = CostTable((24, 2400, 2424, 24_000), (10, 1000, 600, 6000))
    profile = machine(launch=5, dispatch=1, add__f64=table)
    ticks = phase_ticks(only, graph, profile, profile.devices[0].name, axis=0, rows=1000)
    assert ticks is not None and ticks.at(1) == 16 and ticks.at(1000) == 6006
    assert [ticks.at(rows) for rows in range(1, 1001)] == [6 + -(-table.at(24 * rows) // 65536) for rows in range(1, 1001)]
    assert (ticks.at(100), ticks.at(101), ticks.max_rows_within(700, 1000), ticks.min_ticks(90, 1000)) == (1006, 606, 116, 606)
    coarse = phase_ticks(only, graph, profile, "cpu0", axis=0, rows=1000, tick_ns=1000)
    assert coarse is not None and coarse.at(1000) == 7


def test_a_shard_along_rows_reads_the_other_operand_whole() -> None:
    graph = bound("input A : f64[r c]\ninput B : f64[c d]\noutput z ← A+.×B\n", A=(100, 30), B=(30, 30))
    product = next(phases(graph, LibraryPhase))
    assert isinstance(product, LibraryPhase)
    profile = machine(gemm__f64=line(1))
    rows = phase_ticks(product, graph, profile, "cpu0", axis=0, rows=100)
    assert rows is not None and rows.at(100) == 2 * 100 * 900 and rows.at(50) == 100 * 900
    shared = next(place for place, entry in enumerate(product.signature) if entry.result is None)
    cut = phase_ticks(product, graph, profile, "cpu0", axis=shared, rows=30)
    assert cut is not None and cut.at(15) == 2 * 100 * 30 * 15


def test_atomic_ticks_have_one_point() -> None:
    graph = bound(SUM, x=(1000,), y=(1000,))
    ticks = phase_ticks(next(phases(graph, Structured)), graph, machine(add__f64=line(1)), "cpu0")
    assert ticks is not None and ticks.points == ((1, 24_000),)


# ---------------------------------------------------------------------------------------- estimates


def test_the_interval_comes_of_the_residuals() -> None:
    graph = bound(SUM, x=(1000,), y=(1000,))
    calibration = Calibration(residual_p10=Fraction(1, 10), residual_p90=Fraction(19, 100))
    found = step_ns(next(phases(graph, Structured)), graph, machine(add__f64=line(1)).home, calibration)
    assert found is not None and (found.p10, found.ns, found.p90) == (21_600, 24_000, 28_560)


def test_shipped_profiles_can_run_what_they_should() -> None:
    programs = [CHAIN, SUM, "input x : f64[n]\ninput y : f64[n]\noutput z ← (+/x<y)+⌈/x\n",
                "input x : f64[n]\ninput y : f64[n]\noutput z ← x[⍋y]+(+\\x)\n"]  # fmt: skip
    for name in shipped_names():
        profile = load_profile(name)
        assert all(is_key(key) for device in profile.devices for key in device.ops)
        for text in programs:
            graph = bound(text, x=(100_000,), y=(100_000,))
            for phase in traverse.all_phases(graph.graph):
                for device in profile.devices:
                    ticks = phase_ticks(phase, graph, profile, device.name)
                    assert ticks is not None and ticks.at(1) >= 0


def test_the_tier_is_named() -> None:
    assert tier_name() == "numpy" or tier_name().startswith("llvm ")


def test_a_step_costs_more_behind_one_that_touched_much() -> None:
    graph = bound("input x : f64[n]\ninput y : f64[m]\noutput s ← ⌈/y\noutput z ← 2×x\n", x=(50,), y=(1000,))
    first, second = phases(graph, Structured)
    warm = machine(**PARTS, first__f64=line(0), row__max__f64=line(0), ufunc__reduce__add__f64=line(0))
    cold = machine(
        **PARTS, first__f64=CostTable((1, 1000, 1 << 50), (0, 500, 500)), row__max__f64=line(0), ufunc__reduce__add__f64=line(0)
    )
    assert ns(graph, second, cold) - ns(graph, second, warm) == 500  # 8008 bytes went past
    assert ns(graph, first, cold) - ns(graph, first, warm) < 500  # the executor was at work just before


def test_searching_goes_by_the_number_of_bounds() -> None:
    tables = {"interval_index__f64": line(11), "interval_index__few__f64": line(3)}

    def taken(bounds: int) -> int:
        graph = bound("input x : f64[m]\ninput y : f64[n]\noutput z ← (x[⍋x])⍸y\n", x=(bounds,), y=(1 << 16,))
        only = [
            phase for phase in phases(graph, LibraryPhase) if isinstance(phase, LibraryPhase) and phase.op == "interval_index"
        ]
        return ns(graph, only[0], machine(**tables))

    size = 2 * 8 * (1 << 16)
    assert taken(8) == 3 * (size + 64) and taken(4) == 2 * (size + 32)
    assert taken(8) < taken(32) < taken(256) < 12 * size < taken(1024)


@pytest.mark.parametrize(("bases", "rate"), [("2 4 8", 3), ("2 3 4", 11)])
def test_powers_of_two_encode_by_shifts(bases: str, rate: int) -> None:
    graph = bound(f"input x : i32[n]\noutput z ← {bases}⊤x\n", x=(1000,))
    only = next(phases(graph, LibraryPhase))
    found = ns(graph, only, machine(encode__i32=line(11), encode__binary__i32=line(3)))
    assert found == rate * 4 * (1000 + 3000 + 3)
