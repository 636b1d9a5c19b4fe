"""Pictures of schedules: what is drawn, that it is well formed, and that large plans stay readable."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest

from rho.backend.devices.cost_functions import Ticks
from rho.backend.graph.phases import PhaseId, ValueId
from rho.backend.schedule.plan.plan import (
    Buffer,
    Device,
    DeviceId,
    ExecutionPlan,
    FenceId,
    FenceStep,
    FreeStep,
    LoopStep,
    PlannedLink,
    PlannedPhase,
    PlannedRead,
    Prediction,
    Queue,
    Role,
    RunStep,
    SubPlan,
    TransferStep,
    WaitStep,
)
from rho.backend.schedule.problem import (
    Answer,
    Baseline,
    BoundCertificate,
    DeviceGroup,
    DeviceIndex,
    Edge,
    Link,
    PhaseIndex,
    PhaseTask,
    Problem,
    QueueKind,
    Schedule,
    Shard,
    Status,
    Transfer,
)
from rho.backend.schedule.rendering.gantt import colour, gantt_svg, gantt_text, trace_json
from rho.backend.schedule.rendering.gantt_model import MOST_LANES, BarKind, GanttChart, chart_of_answer, chart_of_plan, time_text
from rho.backend.schedule.rendering.html_page import graph_dot, graph_svg, plan_page

CPU, GPU, BUS = DeviceId("cpu0"), DeviceId("gpu0"), DeviceId("pcie0")


def phase(number: int, label: str, reads: tuple[int, ...], result: int, device: DeviceId) -> PlannedPhase:
    planned = tuple(PlannedRead(ValueId(v), "", 800) for v in reads)
    size = (100, "parallel")
    return PlannedPhase(
        PhaseId(number), "map", label, ("a.rho", 0, 1), (size,), planned, (ValueId(result),), 800, 800, 0, (), device
    )


def plan(limit: int | None = 10_000) -> ExecutionPlan:
    """x on the CPU, y ← x+1 on the GPU, printed on the CPU: up, run, down."""
    phases = (phase(0, "x ← input", (), 0, CPU), phase(1, 'y ← "add"', (0,), 1, GPU), phase(2, "print", (1,), 2, CPU))
    cpu = (
        RunStep(PhaseId(0), start=0, end=10),
        FenceStep(FenceId(1)),
        WaitStep(FenceId(3)),
        RunStep(PhaseId(2), start=60, end=70),
    )
    gpu = (WaitStep(FenceId(2)), RunStep(PhaseId(1), start=30, end=40), FenceStep(FenceId(4)), FreeStep((ValueId(0), ValueId(1))))
    bus = (
        WaitStep(FenceId(1)),
        TransferStep(ValueId(0), CPU, GPU, 800, link="pcie0", start=10, busy=25, arrive=30),
        FenceStep(FenceId(2)),
        WaitStep(FenceId(4)),
        TransferStep(ValueId(1), GPU, CPU, 800, link="pcie0", start=40, busy=55, arrive=60),
        FenceStep(FenceId(3)),
    )
    queues = (Queue(CPU, QueueKind.COMPUTE, cpu), Queue(BUS, QueueKind.COPY, bus), Queue(GPU, QueueKind.COMPUTE, gpu))
    buffers = tuple(
        Buffer(ValueId(v), d, Role.VALUE, 800, 0, first, last)
        for v, d, first, last in ((0, CPU, 0, 70), (0, GPU, 10, 40), (1, GPU, 30, 60), (1, CPU, 40, 70), (2, CPU, 60, 70))
    )
    main = SubPlan(queues, buffers, ((CPU, 2400), (GPU, 1600)))
    devices = (Device(CPU, "cpu"), Device(GPU, "cuda", memory=limit))
    told = Prediction(70, 65, Status.GAP, (("latency", 70),), BoundCertificate("bound", 65), (Baseline("HEFT", 70),
        Baseline("even", None)))
    return ExecutionPlan(
        "", (("n", 100),), devices, CPU, phases, main, (("x", ValueId(0)),), (("y", ValueId(1)),), tick_ns=1000,
        links=(PlannedLink("pcie0", "cpu0", "gpu0"),), prediction=told,
    )  # fmt: skip


def answer(devices: int) -> tuple[Problem, Answer]:
    """One phase spread evenly, a row a device, after its input has come over one shared link."""
    ticks = {"node": Ticks(((1, 10),)), "cpu": Ticks(((1, 10),))}
    phases = (PhaseTask("in", {"cpu": Ticks(((1, 0),))}, home=True), PhaseTask("work", ticks, rows=devices, out_bytes=devices))
    groups = (DeviceGroup("home", "cpu", home=True), DeviceGroup("node", "node", devices, memory=100))
    problem = Problem(groups, (Link("net", "home", "node"),), phases, (Edge(PhaseIndex(0), PhaseIndex(1)),))
    work = tuple(Shard(PhaseIndex(1), DeviceIndex(1 + i), i, i + 1, 5, 15) for i in range(devices))
    sent = tuple(Transfer(PhaseIndex(0), DeviceIndex(0), DeviceIndex(1 + i), 0, 0, 0, 0, 0, 0, 5) for i in range(devices))
    schedule = Schedule((Shard(PhaseIndex(0), DeviceIndex(0), 0, 1, 0, 0), *work), (), sent)
    return problem, Answer(Status.OPTIMAL, schedule, 15, (15,), BoundCertificate("bound", 15))


@pytest.fixture
def chart() -> GanttChart:
    return chart_of_plan(plan(), "a.rho")


def test_lanes_are_devices_then_links_with_every_step(chart: GanttChart) -> None:
    assert [(lane.name, lane.is_link, len(lane.bars)) for lane in chart.lanes] == [
        ("cpu0", False, 2), ("gpu0", False, 1), ("pcie0", True, 2),
    ]  # fmt: skip
    up = chart.lanes[2].bars[0]
    assert (up.name, up.kind, up.start, up.end, up.arrive) == ("x", BarKind.TRANSFER, 10, 25, 30)


def test_the_critical_path_goes_through_both_transfers(chart: GanttChart) -> None:
    assert [bar.critical for lane in chart.lanes for bar in lane.bars] == [True] * 5


def test_fences_join_the_steps_they_order(chart: GanttChart) -> None:
    names = {bar.key: f"{lane.name}:{bar.name}" for lane in chart.lanes for bar in lane.bars}
    assert {(names[a.source], names[a.target]) for a in chart.arrows} == {
        ("cpu0:x ← input", "pcie0:x"), ("pcie0:x", 'gpu0:y ← "add"'), ('gpu0:y ← "add"', "pcie0:y"), ("pcie0:y", "cpu0:print"),
    }  # fmt: skip


def test_two_pieces_of_a_value_are_two(chart: GanttChart) -> None:
    """Two pieces of 80 bytes of one value that is freed twice, once for each: the picture was at -160."""
    whole = plan()
    pieces = tuple(Buffer(ValueId(9), GPU, Role.VALUE, 80, 0, first, last) for first, last in ((5, 8), (5, 9)))
    made = chart_of_plan(replace(whole, main=replace(whole.main, buffers=pieces)))
    assert made.memory[1].points == ((0, 0), (5, 160), (8, 80), (9, 0))


def test_memory_is_that_of_the_buffers(chart: GanttChart) -> None:
    cpu, gpu = chart.memory
    assert gpu.points == ((0, 0), (10, 800), (30, 1600), (40, 800), (60, 0)) and gpu.limit == 10_000  # y until it has arrived
    assert cpu.points == ((0, 800), (40, 1600), (60, 2400), (70, 0))


def test_the_title_and_notes_say_how_good_it_is(chart: GanttChart) -> None:
    assert chart.title == "a.rho: 70 µs predicted"
    over = "bound over: phases each whole on one device"
    assert chart.notes == ("lower bound 65 µs · gap 7.1 % (bound)", over, "baselines: HEFT 70 µs", "n=100")


def test_svg_is_well_formed_and_draws_every_bar(chart: GanttChart) -> None:
    root = ElementTree.fromstring(gantt_svg(chart))
    bars = [e for e in root.iter() if (e.get("class") or "").startswith("bar")]
    assert len(bars) == 5
    assert any((e.get("class") or "") == "limit" for e in root.iter())


def test_the_axis_of_a_plan_is_time_and_of_a_task_graph_ticks(chart: GanttChart) -> None:
    def end(made: GanttChart) -> str:
        texts = [text for text in ElementTree.fromstring(gantt_svg(made)).iter() if text.get("text-anchor") == "middle"]
        return texts[-1].text or ""

    assert end(chart) == time_text(chart.makespan, chart.tick_ns)
    abstract = chart_of_answer(*answer(2))
    assert end(abstract) == str(abstract.makespan)


def test_memory_over_its_limit_is_drawn_red_in_every_picture() -> None:
    over = chart_of_plan(plan(limit=1000), "a.rho")
    assert 'class="memory over"' in gantt_svg(over)
    assert "<tr class=over><td>gpu0</td>" in plan_page(over)
    assert "#cc0000" in graph_dot(over) and "#cc0000" not in graph_dot(chart_of_plan(plan()))


def test_dot_has_clusters_bytes_and_quoted_names(chart: GanttChart) -> None:
    text = graph_dot(chart)
    assert 'label="gpu0";' in text
    assert '"0" -> "1" [label="800 B (800 B moved)", style=bold' in text
    assert r'"1" [label="y ← \"add\"\n10 µs"]' in text
    assert '"0" -> "1" [label="f2", style=dashed, constraint=false' in text


def test_trace_events_have_threads_bars_flows_and_counters(chart: GanttChart) -> None:
    events = json.loads(trace_json(chart, [chart]))["traceEvents"]
    kinds = {kind: [e for e in events if e["ph"] == kind] for kind in "MXsfC"}
    assert len(kinds["X"]) == 10 and {e["pid"] for e in kinds["X"]} == {1, 2}
    assert len(kinds["s"]) == len(kinds["f"]) == 8
    bar = next(e for e in kinds["X"] if e["name"] == 'y ← "add"')
    assert (bar["ts"], bar["dur"]) == (30.0, 10.0)
    assert {e["name"] for e in kinds["C"]} == {"memory cpu0", "memory gpu0"}


def test_the_page_is_self_contained() -> None:
    page = plan_page(chart_of_plan(plan(), "a.rho"))
    own = page.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")
    assert not [word for word in ("src=", "http", "url(h", "<link", "import ", "fetch(", "eval(") if word in own]
    assert "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'" in page


def test_the_terminal_chart_has_a_letter_a_phase(chart: GanttChart) -> None:
    lines = gantt_text(chart, 14).splitlines()
    assert lines[5] == "cpu0  ▕aa··········bb▏"
    assert lines[6] == "gpu0  ▕······cc······▏"
    assert lines[7] == "pcie0 ▕··ddd···eee···▏"
    assert lines[8:] == ["a x ← input", "b print", 'c y ← "add"', "d x", "e y"]


def test_names_from_programs_are_escaped() -> None:
    made = chart_of_plan(plan(), "<b>&")
    assert "<b>&" not in gantt_svg(made) and "<b>&" not in plan_page(made)


@pytest.mark.long
def test_equal_devices_are_one_lane() -> None:
    made = chart_of_answer(*answer(10_000))
    assert [(lane.name, lane.equal) for lane in made.lanes] == [("home", 1), ("node[0]", 10_000), ("net", 1)]
    assert "and 9,999 like it" in gantt_svg(made)
    assert len(gantt_svg(made)) < 3_000_000


def test_lanes_beyond_the_most_are_counted() -> None:
    problem, good = answer(2 * MOST_LANES)
    assert good.schedule is not None
    uneven = tuple(
        Shard(s.phase, s.device, s.first, s.stop, s.start, s.end + s.first) for s in good.schedule.shards
    )  # every device busy for another time
    made = chart_of_answer(problem, Answer(good.status, Schedule(uneven, (), ()), 15, (15,), good.proof))
    assert len(made.lanes) == MOST_LANES and made.hidden == MOST_LANES + 1
    assert f"and {MOST_LANES + 1} more queues" in gantt_svg(made)


def test_a_schedule_without_steps_still_has_a_picture() -> None:
    problem = Problem((DeviceGroup("cpu0", "cpu", home=True),), (), (), ())
    made = chart_of_answer(problem, Answer(Status.OPTIMAL, Schedule((), (), ()), 0, (0,), BoundCertificate("bound", 0)))
    ElementTree.fromstring(gantt_svg(made))
    ElementTree.fromstring(graph_svg(made))
    assert gantt_text(made).startswith("instance: 0 ticks")


def test_colours_depend_on_the_name_only() -> None:
    assert colour("add") == colour("add") != colour("mul")


def test_a_page_can_be_searched_zoomed_and_read_in_the_dark() -> None:
    page = plan_page(chart_of_plan(plan(), "a.rho"))
    assert page.count('class="zoom"') == page.count('data-by="1.5"') == 2 and 'id="find"' in page
    assert page.count("prefers-color-scheme:dark") >= 2
    assert page.count("<script>") == page.count("</script>") == 1 and page.count("{") == page.count("}")


def test_loops_unfold() -> None:
    turn = plan()
    phase = turn.phases[1].id
    main = turn.main
    loop = LoopStep(phase, main, None, 30, 40)
    whole = replace(turn, main=replace(main, queues=(replace(main.queues[0], steps=(loop,)),)))
    made = chart_of_plan(whole, "a.rho")
    (inner,) = made.inside
    assert inner.title.startswith(f"an iteration of #{phase} ") and inner.lanes == chart_of_plan(turn, "a.rho").lanes
    page = plan_page(made)
    assert page.count("<details>") == 1 and "<summary>an iteration of #" in page


def test_steps_without_ticks_stand_in_their_order() -> None:
    turn = plan()
    steps = (RunStep(turn.phases[1].id), RunStep(turn.phases[0].id))
    body = replace(turn.main, queues=(replace(turn.main.queues[0], steps=steps),))
    queue = replace(turn.main.queues[0], steps=(LoopStep(turn.phases[1].id, body, None, 0, 9),))
    (inner,) = chart_of_plan(replace(turn, main=replace(turn.main, queues=(queue,))), "a.rho").inside
    assert [(bar.start, bar.end) for bar in inner.lanes[0].bars] == [(0, 1), (1, 2)]
    assert inner.notes == ("one after the other; what each takes is not planned",)
