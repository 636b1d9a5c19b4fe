"""A plan as a `schedule` block gives the same plan when it is read; blocks of a file are for the devices that they name."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from rho import backend
from rho.backend.devices.phase_cost import packing_ticks
from rho.backend.devices.this_machine import load_profile
from rho.backend.schedule.plan.plan import BranchStep, CellsStep, ExecutionPlan, LoopStep, RunStep
from rho.backend.schedule.plan.plan_text import schedule_text
from rho.backend.schedule.program.plan_program import faults_of_stored, plan_is_reproved, plan_program
from rho.backend.schedule.search.strategy import Budget
from rho.lang.diagnostics.model import Rejected
from rho.lang.syntax.source import Source
from rho.shell.main import main
from rho.typechecker.check import check

QUICK = Budget(100, 0, without=frozenset({"chunks"}))
SUMS = "input x : f64[n]\ny ← √1+x×x\noutput z ← +/y"
SCAN = "input x : f64[n m] where n≥1\na ← 7○x×1.5\nb ← +⍀a\noutput c ← ⌈⌿b"
CHAIN = "input x : f64[n]\na ← ⌽√x\nb ← a+.×a\nc ← ⍋x\noutput d ← (+/x[c]×⍳≢x)+b"
PRODUCT = "input x : f64[n m]\ninput y : f64[m n]\noutput z ← (x+.×y)+.×x+.×y"
ROTATED = "input x : f64[n]\na ← x+1\nb ← ⌽a×2\noutput d ← (b-⌽b)×⌽a"
PROGRAMS = {
    "sums": (SUMS, {"x": (10_000_000,)}), "scan": (SCAN, {"x": (3000, 3000)}), "chain": (CHAIN, {"x": (4_000_000,)}),
    "product": (PRODUCT, {"x": (2000, 1500), "y": (1500, 2000)}), "rotated": (ROTATED, {"x": (5_000_000,)}),
}  # fmt: skip


def planned(text: str, shapes: dict[str, tuple[int, ...]], devices: str = "workstation") -> ExecutionPlan:
    core = check(Source("<block>", text)).core
    assert core is not None
    bound = backend.bind_shapes(core, shapes)
    plan = plan_program(core, bound, load_profile(devices), budget=QUICK).plan
    assert not faults_of_stored(plan, bound, core, load_profile(devices))
    return plan


def shards(plan: ExecutionPlan) -> list[tuple[str, object]]:
    """What each device runs, in its order."""
    wanted = RunStep, LoopStep, BranchStep, CellsStep
    return [
        (queue.device, (step.phase, getattr(step, "box", None)))
        for queue in plan.main.queues for step in queue.steps if isinstance(step, wanted)
    ]  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("devices", ["workstation", "laptop"])
def test_a_block_gives_the_plan_that_it_was_made_of(name: str, devices: str) -> None:
    text, shapes = PROGRAMS[name]
    first = planned(text, shapes, devices)
    block = schedule_text(first)
    again = planned(f"{text}\n{block}", shapes, devices)
    assert shards(again) == shards(first), block
    assert first.prediction is not None and again.prediction is not None
    assert again.prediction.makespan <= first.prediction.makespan, block


@pytest.mark.parametrize("shape, packed", [((131072, 32), True), ((8192, 512), False)])
def test_short_rows_that_are_not_contiguous_are_packed_for_a_link(shape: tuple[int, int], packed: bool) -> None:
    """Each byte of columns that crosses a link in rows of 128 bytes takes the time of copying it, on its way to the card and
    back; rows of 2,048 bytes are copied as they lie."""
    text = "input M : f64[r c]\ninput N : f64[c]\noutput r ← M-⍤1 ⊢ N\nschedule {{\n  split r rows 1:1 over cpu0 gpu0\n  {}\n}}"
    shapes, half = {"M": shape, "N": shape[1:]}, shape[0] * shape[1] * 8 // 2
    free, rows, columns = (planned(text.format(line), shapes) for line in ("", "cut r axis 0", "cut r axis 1"))
    assert free.prediction is not None and rows.prediction is not None and columns.prediction is not None
    each = packing_ticks(2 * half, load_profile("workstation"), rows.tick_ns)
    more = columns.prediction.makespan - rows.prediction.makespan
    assert each > 0 and (more >= 2 * half * each * Fraction(9, 10)) is packed
    assert free.prediction.makespan <= min(rows.prediction.makespan, columns.prediction.makespan)


@pytest.mark.long
def test_a_cut_is_along_the_axis_that_is_written_and_its_bound_is_of_these_plans() -> None:
    core = check(Source("<block>", SCAN)).core
    assert core is not None
    bound, profile = backend.bind_shapes(core, {"x": (2000, 2000)}), load_profile("workstation")
    free = plan_program(core, bound, profile, budget=QUICK).plan
    for axis in (0, 1):
        text = f"{SCAN}\nschedule {{ cut a axis {axis} }}"
        plan = planned(text, {"x": (2000, 2000)})
        axes = {one.phase: one.axis for one in plan.space.cuts}
        assert [axes[phase.id] for phase in plan.phases if phase.label.startswith("a ←")] == [axis]
        assert not plan.space.every_axis and free.space.every_axis
        assert plan.prediction is not None and free.prediction is not None
        assert plan.prediction.makespan >= free.prediction.lower_bound


@pytest.mark.parametrize(
    ("line", "said"),
    [("cut a axis 2", "axis 0 or 1"), ("cut c axis", "a cut is written"), ("cut a axis 0 ⋄ cut a axis 1", "another line"),
     ("place #77 on cpu0", "no phase `#77`")],
)  # fmt: skip
def test_what_a_cut_or_a_number_cannot_mean_is_refused(line: str, said: str) -> None:
    checked = check(Source("<block>", f"{SCAN}\nschedule {{ {line} }}"))
    if checked.core is None:
        assert any(said in one.message for one in checked.diagnostics)
        return
    with pytest.raises(Rejected) as refused:
        planned(f"{SCAN}\nschedule {{ {line} }}", {"x": (100, 100)})
    assert any(said in one.message for one in refused.value.diagnostics)


def test_blocks_of_a_file_are_for_the_devices_that_they_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sums.rho").write_text(SUMS + "\n")
    sized = ["plan", "sums.rho", "--size", "n=10000000", "--fast", "--devices"]
    assert main([*sized, "workstation", "--format", "schedule", "-o", "fast.rho"]) == 0
    assert main([*sized, "workstation", "--schedule", "fast.rho"]) == 0
    shown = capsys.readouterr()
    assert "obeys: split #" in shown.out and not shown.err
    assert main([*sized, "laptop", "--schedule", "fast.rho"]) == 0
    shown = capsys.readouterr()
    assert "is ignored, since the devices are" in shown.err and "obeys" not in shown.out
    Path("other.rho").write_text("x ← 1\n")
    assert main([*sized, "laptop", "--schedule", "other.rho"]) == 2
    assert "only `schedule { … }` blocks" in capsys.readouterr().err


def test_a_plan_with_a_cut_is_judged_and_proved_along_it() -> None:
    text = f"{SCAN}\nschedule {{ cut a axis 0 }}"
    core = check(Source("<block>", text)).core
    assert core is not None
    bound, profile = backend.bind_shapes(core, {"x": (300, 300)}), load_profile("workstation")
    plan = plan_program(core, bound, profile, budget=QUICK).plan
    assert plan_is_reproved(plan, bound, core, profile)
