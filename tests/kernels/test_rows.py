"""Chains along rows give the bits of their members one by one, through a kernel and in blocks of rows on NumPy."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from share import half

from rho import backend
from rho.backend.cpu import phases
from rho.backend.jit import tiering
from rho.backend.schedule import single_device
from rho.backend.schedule.plan.plan import RowsStep, RunStep, decode_plan, encode_plan
from rho.backend.schedule.program_facts import scratch_memory
from rho.backend.schedule.single_device import stays_within_peak
from rho.backend.schedule.verify.plan_checks import check_plan
from rho.backend.vm import run_state
from rho.tests.harness.tiers import agree, checked
from rho.tests.kernels.chains import FLOATS, MANY, SHORT, WHOLE, WHOLES, chains, given, planned, program, run
from rho.tests.kernels.phases import data, kind_of, same_bits
from rho.typechecker.elements import Kind

SHAPES = (
    (3, 32),
    (1, 33),
    (7, 64),
    (2, 100),
    (5, 255),
    (4, 256),
    (3, 257),
    (6, 300),
    (2, 1000),
    (2, 4095),
    (2, 4096),
    (2, 4097),
    (1, 9001),
)


@pytest.fixture(autouse=True)
def small_chains_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a few rows, blocks need more memory than members one by one."""
    monkeypatch.setattr(single_device, "stays_within_peak", lambda chained, apart: True)


def compare(text: str, inputs: Mapping[str, Any], threads: int = 1) -> None:
    expected = run(text, inputs, "apart")
    for mode in ("always", "off"):
        for name, value in run(text, inputs, mode, threads).items():
            assert same_bits(value, expected[name]), (text, mode, name, inputs["A"].shape)


@pytest.mark.parametrize("text", FLOATS + WHOLE)
@pytest.mark.parametrize("kind", [Kind.F64, Kind.F32])
def test_floats(text: str, kind: Kind) -> None:
    for place, shape in half(enumerate(SHAPES), f"{text} {kind}"):
        compare(program(text, kind), given(shape, kind), 1 + 2 * (place % 2))


@pytest.mark.parametrize("text", SHORT)
@pytest.mark.parametrize("kind", [Kind.F64, Kind.F32])
def test_short_rows(text: str, kind: Kind) -> None:
    for place, shape in half(enumerate(MANY), f"{text} {kind}"):
        compare(program(text, kind), given(shape, kind), 1 + place % 3)


@pytest.mark.parametrize("text", SHORT[:4])
def test_short_rows_in_other_layouts(text: str) -> None:
    inputs = given((900, 10), Kind.F64)
    large = data(Kind.F64, 1800 * 20, 8).reshape(1800, 20)
    for array in (np.asfortranarray(inputs["A"]), inputs["A"][::-1, ::-1], large[::2, ::2]):
        compare(program(text, Kind.F64), dict(inputs, A=array))


@pytest.mark.parametrize("text", WHOLES)
def test_whole_numbers_and_truths(text: str) -> None:
    for shape in SHAPES[::2]:
        compare(program(text, Kind.F64), given(shape, Kind.F64), 2)


@pytest.mark.parametrize("text", FLOATS[:5] + WHOLE[:2])
def test_operands_in_other_layouts(text: str) -> None:
    """Transposed, reversed and stepped operands have the results of copies that lie in rows."""
    inputs = given((6, 300), Kind.F64)
    large = data(Kind.F64, 12 * 600, 8).reshape(12, 600)
    for array in (
        np.asfortranarray(inputs["A"]),
        inputs["A"][::-1, ::-1],
        large[::2, ::2],
        np.broadcast_to(inputs["v"], (6, 300)),
    ):
        other = dict(inputs, A=array)
        expected = run(program(text, Kind.F64), dict(inputs, A=np.ascontiguousarray(array)), "apart")
        for mode in ("always", "off"):
            for name, value in run(program(text, Kind.F64), other, mode).items():
                assert same_bits(value, expected[name]), (text, mode, name)


@pytest.mark.parametrize("text", FLOATS[::3] + WHOLES[:2])
def test_against_the_reference(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tiering.SWITCH, "always")
    core = checked(program(text, Kind.F64))
    assert core is not None
    rng = np.random.default_rng(3)
    inputs = given((3, 70), Kind.F64) | {"A": rng.standard_normal((3, 70)), "v": rng.standard_normal(70), "w": rng.random(3)}
    assert not agree(core, inputs), text


@pytest.mark.parametrize("block", [scratch_memory.CHAIN_POINTS, 1 << 6])
def test_rows_of_any_frame(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks are cut along the first axis of the frame of which a step is few points."""
    monkeypatch.setattr(scratch_memory, "CHAIN_POINTS", block)
    text = "input T : f64[a b c]\noutput r ← {e ← *⍵-⌈/⍵ ⋄ e÷+/e}⍤1 ⊢ T\noutput s ← {(+/⍵)÷≢⍵}⍤1 ⊢ 1⊖T\n"
    core = checked(text)
    assert core is not None
    for shape in ((2, 3, 40), (1, 5, 33), (4, 1, 300), (0, 3, 40), (3, 0, 40)):
        array = data(Kind.F64, int(np.prod(shape)), 1).reshape(shape)
        made = [backend_run(core, {"T": array}, mode) for mode in ("always", "off")]
        assert all(same_bits(a, b) for a, b in zip(*made, strict=True))
    assert not agree(core, {"T": np.random.default_rng(1).random((2, 3, 40))})


def backend_run(core: Any, inputs: Mapping[str, Any], mode: str) -> list[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(tiering.SWITCH, mode)
        bound = backend.load(core, inputs, {})
        return [shown.value for shown in backend.execute(backend.plan(bound), bound, inputs).outputs.values()]


def test_what_chains_leave_alone() -> None:
    """Short rows, long rows, columns, and members that another phase needs in between."""
    soft = "output r ← {e ← *⍵-⌈/⍵ ⋄ e÷+/e}⍤1 ⊢ A\n"
    for shape, many in (((9, 8), 0), ((2, 20000), 0), ((9, 64), 1)):
        assert len(chains(planned("input A : f64[r c]\n" + soft, {"A": np.ones(shape)})[0])) == many, shape
    across = "input A : f64[r c]\noutput r ← (+⌿A)÷≢A\n"
    assert not chains(planned(across, {"A": np.ones((64, 64))})[0])
    split = "input A : f64[r c]\nm ← ⌈/A\nB ← A+.×⍉A\nk ← ⌈/B\ne ← A-m+k\noutput r ← e÷+/e\n"
    inputs = {"A": np.random.default_rng(1).random((64, 64))}
    plan, _ = planned(split, inputs)
    core = checked(split)
    assert core is not None and chains(plan) and not agree(core, inputs)


def test_the_first_result_takes_a_dying_operand() -> None:
    text = "input x : f64[r c]\nA ← +\\x\noutput r ← {e ← *⍵-⌈/⍵ ⋄ e÷+/e}⍤1 ⊢ A\n"
    inputs = {"x": np.random.default_rng(1).standard_normal((64, 300))}
    plan, _ = planned(text, inputs)
    (step,) = chains(plan)
    assert step.overwrite is not None
    core = checked(text)
    assert core is not None and not agree(core, inputs)
    first, second = (backend_run(core, inputs, mode)[0] for mode in ("always", "off"))
    assert same_bits(first, second) and kind_of(first) is Kind.F64


def test_chains_in_loops() -> None:
    text = "input A : f64[r c]\noutput r ← {e ← *⍵-⍤0 1⍨⌈/⍵ ⋄ e}⍣2 ⊢ A\noutput s ← {({⍵÷+/⍵}⍤1 ⊢ ⍵)+1}⍣3 ⊢ A\n"
    core = checked(text)
    if core is None:
        text = "input A : f64[r c]\noutput s ← {({⍵÷+/⍵}⍤1 ⊢ ⍵)+1}⍣3 ⊢ A\n"
        core = checked(text)
    assert core is not None
    inputs = {"A": np.random.default_rng(1).random((5, 40))}
    assert not agree(core, inputs)
    first, second = (backend_run(core, inputs, mode) for mode in ("always", "off"))
    assert all(same_bits(a, b) for a, b in zip(first, second, strict=True))


def test_plans_with_other_chains_are_refused() -> None:
    """A stored plan says which phases run together; only what would be planned so is right."""
    text = "input A : f64[r c]\nB ← +\\A\noutput r ← {e ← *⍵-⌈/⍵ ⋄ e÷+/e}⍤1 ⊢ B\n"
    plan, bound = planned(text, {"A": np.ones((64, 100))})
    assert not check_plan(plan, bound) and decode_plan(encode_plan(plan)) == plan
    (queue,) = plan.main.queues
    (place,) = [place for place, step in enumerate(queue.steps) if isinstance(step, RowsStep)]
    (step,) = chains(plan)
    other = next(s.phase for s in queue.steps if isinstance(s, RunStep))
    wrong = [
        replace(step, phases=step.phases[:-1]), replace(step, phases=step.phases[::-1]), replace(step, phases=()),
        replace(step, phases=(*step.phases, other)), replace(step, results=step.results * 2),
        replace(step, overwrite=step.results[0]),
    ]  # fmt: skip
    for one in wrong:
        steps = (*queue.steps[:place], one, *queue.steps[place + 1 :])
        changed = replace(plan, main=replace(plan.main, queues=(replace(queue, steps=steps),)))
        assert check_plan(changed, bound), one


@pytest.mark.parametrize("mode", ["off", "always"])
@pytest.mark.parametrize("threads", [1, 4])
def test_the_planned_peak_is_a_bound(mode: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """And no array is there of what only the chain reads."""
    monkeypatch.setenv(tiering.SWITCH, mode)
    monkeypatch.setattr(single_device, "stays_within_peak", stays_within_peak)
    A = np.random.default_rng(1).standard_normal((4000, 500))
    for text in (FLOATS[0], FLOATS[2], "r ← {√(+/(⍵-(+/⍵)÷≢⍵)*2)÷≢⍵}⍤1 ⊢ A", FLOATS[0] + "\n"):
        deep = text.endswith("\n")
        inputs = {"A": A.reshape(8, 500, 500) if deep else A}
        plan, bound = planned(f"input A : f64[{'b ' * deep}r c]\noutput {text.strip()}\n", inputs, threads)
        assert chains(plan)
        backend.execute(plan, bound, inputs)
        backend.execute(plan, bound, inputs)
        run_state.trim()
        tracemalloc.start()
        try:
            results = backend.execute(plan, bound, inputs)
            measured = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        made = results.outputs["r"].value.nbytes
        del results
        assert measured <= max(plan.peak.values()) - inputs["A"].nbytes + (1 << 18), text
        if mode == "always":
            assert measured <= made + (1 << 18), text


def test_a_chain_is_compiled_once() -> None:
    inputs = {"A": np.random.default_rng(1).random((5, 40))}
    plan, bound = planned("input A : f64[r c]\noutput r ← {⍵÷+/⍵}⍤1 ⊢ A\n", inputs)
    phases._row_kernels.clear()
    for _ in range(3):
        backend.execute(plan, bound, inputs)
    assert len(phases._row_kernels.values()) == 1


@pytest.mark.parametrize("text", ["√+/A*2", "*A+.×v"])
def test_one_reduction_is_no_chain(text: str) -> None:
    """Its own kernel takes several rows at once."""
    plan, _ = planned(program(f"r ← {text}", Kind.F64), given((200, 100), Kind.F64))
    assert not chains(plan)


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="pages are fenced with mprotect")
def test_between_fenced_pages() -> None:
    """In a process of its own: a stray access ends it."""
    found = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-m", "rho.tests.kernels.guarded_rows"],
        env=os.environ | {"RHO_KERNEL_CACHE": "off"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
