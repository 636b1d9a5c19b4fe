"""Measured devices: what a phase will run as, and what it takes, on tables made up for the purpose."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from rho import backend
from rho.backend.calibration.measurement_loop import MeasuredCurve, rising, table_of
from rho.backend.devices import kernel_form
from rho.backend.devices.kernel_form import surroundings
from rho.backend.devices.loop_cost import chains_in
from rho.backend.devices.op_tables import Around, Rates
from rho.backend.devices.phase_cost import numbers_of, step_ns
from rho.backend.devices.profile import Calibration, CostTable, DeviceProfile, is_key
from rho.backend.graph import traverse
from rho.backend.graph.bind_sizes import BoundGraph
from rho.backend.graph.phases import LibraryPhase, Loop, Structured
from rho.backend.jit import tiering
from rho.backend.lower.fusion_units import shape_of
from rho.lang.syntax.source import Source
from rho.typechecker.check import check
from rho.typechecker.elements import Kind

FAR = 1 << 50
MANY = 1 << 14


def flat(ns: int) -> CostTable:
    return CostTable((1, FAR), (ns, ns))


def line(rate: int) -> CostTable:
    return CostTable((1, 10**9), (rate, rate * 10**9))


TABLES = {
    "step.f64": flat(1000), "first.f64": flat(300), "call.f64": flat(10), "read.f64": line(1), "write.f64": line(2),
    "point.add.f64": line(4), "point.mul.f64": line(4), "point.exp.f64": line(100), "row.add.f64": line(1024 * 8),
    "column.add.f64": line(1024 * 3), "ufunc.add.f64": line(7), "ufunc.mul.f64": line(7), "ufunc.exp.f64": line(200),
    "ufunc.add.c128": line(9), "ufunc.reduce.add.f64": line(5), "turn.f64": line(6),
    "grade.f64": line(50), "gather.f64": line(20), "sort.f64": line(30),
    "line.f64": CostTable((4, 100, FAR), (4096, 1024, 1)),
}  # fmt: skip


def device(**more: CostTable) -> DeviceProfile:
    return DeviceProfile(
        "cpu0", "cpu", threads=2, home=True, ops={**TABLES, **{name.replace("__", "."): t for name, t in more.items()}}
    )


def bound(text: str, **shapes: tuple[int, ...]) -> BoundGraph:
    found = check(Source("<test>", text))
    assert found.core is not None, found.diagnostics
    return backend.bind_shapes(found.core, shapes)


def of(graph: BoundGraph, kind: type = Structured) -> list:
    return [phase for phase in traverse.all_phases(graph.graph) if isinstance(phase, kind)]


def work(graph: BoundGraph, place: int = 0) -> kernel_form.Work:
    phase, number = of(graph)[place], numbers_of(graph)
    extents = tuple(number(axis.size) for axis in phase.axes)
    return kernel_form.work_of(phase, graph.graph.types, extents, number, kernels=True)


def ns(graph: BoundGraph, phase: object, on: DeviceProfile | None = None, launches: int = 1) -> int:
    found = step_ns(phase, graph, on or device(), Calibration(), launches)  # type: ignore[arg-type]
    assert found is not None
    return found.ns


def part(ns: int) -> int:
    """What of the shorter of moving and computing shows."""
    return -(-ns * kernel_form.OVERLAP[0] // kernel_form.OVERLAP[1])


SUM = "input x : f64[n]\ninput y : f64[n]\noutput z ← x+y\n"


# ------------------------------------------------------------------------------------------- forms


def test_what_has_a_kernel_is_asked_of_the_policy() -> None:
    assert work(bound(SUM, x=(MANY,), y=(MANY,))).tier is kernel_form.Tier.KERNEL
    assert work(bound(SUM, x=(50,), y=(50,))).tier is kernel_form.Tier.CALLS
    complex_sum = SUM.replace("f64", "c128")
    assert work(bound(complex_sum, x=(MANY,), y=(MANY,))).tier is kernel_form.Tier.KERNEL
    assert work(bound("input x : c128[n]\noutput z ← ⍟x\n", x=(MANY,))).tier is kernel_form.Tier.CALLS
    cases = ("x+1", tiering.SMALL, "KERNEL"), ("x+1", 50, "CALLS"), ("*x", 50, "KERNEL"), ("+/x", 50, "KERNEL")
    for text, count, tier in cases:
        assert work(bound(f"input x : f64[n]\noutput z ← {text}\n", x=(count,))).tier.name == tier


def test_applications_count_where_they_vary() -> None:
    graph = bound("input A : f64[r c]\ninput v : f64[r]\noutput z ← A-⍤1 0⊢*v+v\n", A=(100, 200), v=(100,))
    first, second = ({one.function: one.points for one in work(graph, place).applied} for place in (0, 1))
    assert first == {"add": 100, "exp": 100} and second == {"sub": 20_000}


def test_an_operand_is_read_once_however_often_it_is_shifted() -> None:
    graph = bound("input x : f64[n]\noutput z ← 3+/x\n", x=(MANY,))
    found = work(graph)
    assert [round(stream.size / MANY) for stream in found.reads] == [8]
    assert sum(one.points for one in found.applied) + sum(one.points for one in found.reduced) >= 2 * (MANY - 2)


def test_reductions_go_along_rows_or_across_columns() -> None:
    (along,) = work(bound("input A : f64[r c]\noutput z ← +/A\n", A=(300, 400))).reduced
    assert along.along and (along.points, along.run) == (120_000, 400)
    (across,) = work(bound("input A : f64[r c]\noutput z ← +⌿A\n", A=(300, 400))).reduced
    assert not across.along and (across.points, across.run) == (120_000, 400)


def test_truth_values_are_counted_as_they_are() -> None:
    found = work(bound("input x : f64[n]\noutput z ← +/x>0.5\n", x=(MANY,)))
    assert [one.function for one in found.applied] == ["gt"]
    assert [one.kind for one in found.reduced] == [Kind.BOOL]


def test_a_transposed_operand_is_read_across() -> None:
    found = work(bound("input A : f64[r r]\ninput B : f64[r r]\noutput z ← A+⍉B\n", A=(128, 128), B=(128, 128)))
    assert sorted(stream.across for stream in found.reads) == [False, True]


# ------------------------------------------------------------------------------------------- times


def test_a_kernel_takes_its_step_the_longer_part_and_some_of_the_shorter() -> None:
    graph = bound(SUM, x=(MANY,), y=(MANY,))
    moved, computed = MANY * (16 * 1 + 8 * 2), MANY * 24 * 4
    assert ns(graph, of(graph)[0]) == 1000 + 300 + 10 + computed + part(moved)
    assert ns(graph, of(graph)[0], launches=3) == 300 + 3 * (1010 + computed) + part(3 * moved)


def test_a_team_is_asked_for_what_one_thread_would_take() -> None:
    count = 1 << 18
    graph = bound(SUM, x=(count,), y=(count,))
    alone = count * 24 * 4 + part(count * 32)
    assert abs(ns(graph, of(graph)[0], device(team__f64=CostTable((alone,), (alone // 2,)))) - 1310 - alone // 2) <= 1
    late = CostTable((2 * alone,), (2 * alone + 700,))  # below the first point the same is added as there
    assert ns(graph, of(graph)[0], device(team__f64=late)) == 1310 + alone + 700


def test_pieces_cost_something_where_helpers_sleep_on() -> None:
    more = {"cut__f64": flat(77), "cut__reduced__f64": flat(99), "team__f64": CostTable((1,), (1000,)),
        "row__max__f64": line(1024)}
    times = {}
    for count in (1 << 14, 1 << 16):
        graph = bound(SUM, x=(count,), y=(count,))
        times[count] = ns(graph, of(graph)[0], device(**more)) - ns(graph, of(graph)[0])
    assert times == {1 << 14: 0, 1 << 16: 77}
    graph = bound("input x : f64[n]\noutput z ← ⌈/x\n", x=(1 << 17,))
    wide = device(row__max__f64=line(1024))
    assert ns(graph, of(graph)[0], device(**more)) - ns(graph, of(graph)[0], wide) == 99


def test_one_thread_has_no_team() -> None:
    graph = bound(SUM, x=(1 << 18,), y=(1 << 18,))
    single = replace(device(team__f64=CostTable((1,), (1000,))), threads=1)
    assert ns(graph, of(graph)[0], single) == ns(graph, of(graph)[0])


def test_sizes_that_only_a_run_knows_have_their_kernel_made_in_it() -> None:
    graph = bound("input x : f64[n]\ny ← (x>0.5)⌿x\noutput z ← y+y÷3\n", x=(100,))
    phase, slow = of(graph)[-1], device(first__made__f64=flat(5000), ufunc__div__f64=line(1), ufunc__gt__f64=line(1))
    quick = device(ufunc__div__f64=line(1), ufunc__gt__f64=line(1))
    assert ns(graph, phase, slow) - ns(graph, phase, quick) == 5000
    assert ns(graph, phase, slow, launches=3) - ns(graph, phase, quick, launches=3) == 5000


def test_a_library_step_s_first_execution_is_paid_once() -> None:
    graph = bound("input x : f64[n]\noutput z ← ⍋x\n", x=(MANY,))
    (grade,) = of(graph, LibraryPhase)
    warm = device(first__library__f64=flat(400))
    assert ns(graph, grade, warm, launches=3) == 3 * ns(graph, grade) - 2 * 400


def test_a_matrix_and_its_transpose_have_a_product_of_their_own() -> None:
    tables = {"gemm__square__f64": line(3), "gemm__own__f64": line(2)}
    for text, rate in (("(⍉A)+.×A", 2), ("A+.×A", 3), ("A+.×B", 3)):
        graph = bound(f"input A : f64[r r]\ninput B : f64[r r]\noutput z ← {text}\n", A=(50, 50), B=(50, 50))
        assert ns(graph, of(graph, LibraryPhase)[-1], device(**tables)) == 2 * 50**3 * rate


def test_turns_over_rotations_have_tables_by_their_state() -> None:
    tables = {"turn__line__f64": flat(700), "turn__line__ends__f64": flat(9000), "point__div__f64": line(1)}
    times = []
    for trips in (10, 20):
        graph = bound(f"input x : f64[n]\noutput z ← {{(⍵+1⌽⍵)÷2}}⍣{trips}⊢x\n", x=(100,))
        times.append(ns(graph, of(graph, Loop)[0], device(**tables)))
    assert times[1] - times[0] >= 10 * 700 and times[0] >= 9000 + 10 * 700


def test_short_rows_cost_entering_their_loop() -> None:
    wide = bound("input A : f64[r c]\ninput v : f64[c]\noutput z ← A+⍤1⊢v\n", A=(256, 400), v=(400,))
    narrow = bound("input A : f64[r c]\ninput v : f64[c]\noutput z ← A+⍤1⊢v\n", A=(25_600, 4), v=(4,))
    rates = Rates(device())
    assert (
        kernel_form.applied_grains(work(narrow), rates) > kernel_form.applied_grains(work(wide),
        rates) + (25_600 * 4 - 256 << 16) * 9 // 10
    )


def test_bytes_cost_by_what_was_touched_since() -> None:
    table = CostTable((100, 1000, 10_000, 10**7), (100, 2000, 40_000, 10**8))
    graph = bound(SUM, x=(MANY,), y=(MANY,))
    rates = Rates(device(read__f64=table))
    near, far = (
        kernel_form.moved_grains(work(graph), rates, Around(0,
        {r.value: since for r in of(graph)[0].reads})) for since in (1, 10**9)
    )
    assert near < far
    assert table.rate(10, 10_000) > table.rate(10, 100) == 10 << 16


def test_reuse_is_what_lies_between_two_uses() -> None:
    graph = bound("input x : f64[n]\ninput y : f64[n]\noutput a ← +/x\noutput b ← +/y\noutput c ← ⌈/x\n", x=(1000,), y=(1000,))
    found, _ = surroundings(graph, numbers_of(graph))
    sums = [phase for phase in of(graph) if phase.axes]
    since = [found[phase.id].since[phase.reads[0].value] for phase in sums]
    total = found[sums[0].id].total
    assert 24_000 <= total <= 24_100 and since[0] <= 8_100 and since[2] >= 16_000 and since[1] == total


def test_views_are_their_operand() -> None:
    graph = bound("input A : f64[r c]\noutput z ← +/⍉A\noutput y ← +/A\n", A=(100, 100))
    found, _ = surroundings(graph, numbers_of(graph))
    assert max(around.total for around in found.values()) < 170_000


def test_a_sort_costs_by_its_own_table_also_by_the_name_that_earlier_calibrations_gave_it() -> None:
    graph = bound("input x : f64[n]\noutput z ← x[⍋x]\n", x=(MANY,))
    (sort,), earlier = of(graph, LibraryPhase), {name.replace("sort.", "gather.sorts."): table for name, table in TABLES.items()}
    assert all(map(is_key, earlier)), "a stored profile with it is read"
    assert ns(graph, sort) == ns(graph, sort, replace(device(), ops=earlier)) == 16 * MANY * 30


def test_a_gather_costs_by_where_it_reads_from() -> None:
    table = CostTable((24_000, 2_400_000, 24_000_000), (10_000, 4_000_000, 100_000_000))
    near = bound("input x : f64[n]\ninput i : idx<n>[m]\noutput z ← x[i]\n", x=(1000,), i=(100_000,))
    far = bound("input x : f64[n]\ninput i : idx<n>[m]\noutput z ← x[i]\n", x=(1_000_000,), i=(100_000,))
    times = [ns(graph, of(graph, LibraryPhase)[0], device(gather__f64=table)) for graph in (near, far)]
    assert times[1] > 2 * times[0]


def test_element_wise_loops_are_one_kernel_and_rotations_a_call_a_turn() -> None:
    graph = bound("input x : f64[n]\noutput z ← {0.5×⍵+⍵}⍣7⊢x\n", x=(MANY,))
    moved, computed = MANY * (8 + 16), 7 * max(2 * 6 * 24 * MANY, 4 * 48 * MANY)
    assert ns(graph, of(graph, Loop)[0]) == 1000 + computed + part(moved)
    turns = []
    for trips in (10, 20):
        stencil = bound(f"input x : f64[n]\noutput z ← {{(⍵+1⌽⍵)÷2}}⍣{trips}⊢x\n", x=(MANY,))
        turns.append(ns(stencil, of(stencil, Loop)[0], device(point__div__f64=line(1))))
    assert turns[1] - turns[0] >= 10 * 500
    of_complex = bound("input x : c128[n]\noutput z ← {0.5×⍵+⍵}⍣7⊢x\n", x=(MANY,))
    assert ns(of_complex, of(of_complex, Loop)[0], device(ufunc__mul__c128=line(1))) > 7 * 1000


@pytest.mark.parametrize(
    ("text", "names"),
    [(SUM, "xy"), ("input x : f64[n]\noutput z ← +/x\n", "x"), ("input x : f64[n]\noutput z ← *x×x\n", "x"),
     ("input x : c128[n]\ninput y : c128[n]\noutput z ← x+y\n", "xy"), ("input x : f64[n]\noutput z ← {0.5×⍵+⍵}⍣7⊢x\n", "x"),
     ("input x : f64[n]\noutput z ← ⍋x\n", "x"), ("input x : f64[n]\noutput z ← 3+/x\n", "x")],
)  # fmt: skip
def test_more_never_takes_less(text: str, names: str) -> None:
    times = []
    for size in (10, 100, 1000, 8191, 8192, 10_000, 100_000, 524_288, 1_000_000, 10_000_000):
        graph = bound(text, **dict.fromkeys(names, (size,)))
        longest = max((phase for phase in traverse.all_phases(graph.graph)), key=lambda phase: ns(graph, phase))
        times.append(ns(graph, longest, device(read__f64=CostTable((1000, 100_000), (10, 4000)))))
    kernels = [place for place, size in enumerate((10, 100, 1000, 8191, 8192)) if size >= tiering.SMALL]
    for place, (less, more) in enumerate(pairwise(times)):
        assert less <= more or place + 1 in kernels, (place, times)  # a kernel may be quicker than fewer points without


# ------------------------------------------------------------------------------------------ solving


def test_what_falls_though_it_cannot_is_evened_out() -> None:
    assert rising([1.0, 3.0, 2.0, 4.0]) == [1.0, 2.5, 2.5, 4.0]
    assert rising([5.0, 4.0, 3.0]) == [4.0, 4.0, 4.0] and rising([]) == []
    assert table_of([(1, 40), (2, 50), (3, 10)], MeasuredCurve.FALLING).ns == (45, 45, 10, 10)
    assert table_of([(1, 40), (2, 50), (3, 10)], MeasuredCurve.LEVEL).ns == (33, 33, 33, 33)
    assert table_of([(10, 40), (20, 20), (40, 80)], MeasuredCurve.RATES).ns == (23, 47, 93)
    assert table_of([(1, 40), (1, 60), (2, -5)]) == CostTable((1, 2), (50, 1))


def test_more_work_never_takes_a_team_less() -> None:
    pairs = [(1000, 5000), (100_000, 90_000), (10_000, 4_000), (10_000, 4_000), (1_000_000, 500_000)]
    table = table_of(pairs, MeasuredCurve.RISING)
    assert table.size == (1000, 10_000, 100_000, 1_000_000)
    assert list(table.ns) == sorted(table.ns) and table.ns[0] == 4500


def test_a_chain_along_rows_is_one_body() -> None:
    graph = bound("input A : f64[r c]\noutput z ← {e←*⍵-⌈/⍵ ⋄ e÷+/e}⍤1⊢A\n", A=(300, 1000))
    (last,) = chains_in(graph)
    phase = next(phase for phase in of(graph) if phase.id == last)
    more = {"point__sub__f64": line(1), "point__div__f64": line(1), "row__max__f64": line(1024 * 8)}
    found = ns(graph, phase, device(**more))
    cells = 300_000
    assert found >= cells * (16 * 100 + 24 + 24) + 2 * cells * 8  # every application, and two reductions
    assert found < 2 * cells * (16 * 100 + 24 + 24 + 16 + 24)


def test_what_follows_a_row_s_number_is_done_once_a_row() -> None:
    graph = bound("input A : f64[r c]\noutput z ← {⍵÷√+/⍵×⍵}⍤1⊢A\n", A=(300, 1000))
    (unit,) = chains_in(graph).values()
    number = numbers_of(graph)
    found = kernel_form.work_of(shape_of(unit), graph.graph.types, (300, 1000), number, kernels=True)  # type: ignore[arg-type]
    counts = {one.function: one.points for one in found.applied}
    assert counts["sqrt"] == 300 and counts["mul"] == counts["along_add"] == 300_000
