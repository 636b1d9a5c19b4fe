"""The CUDA back end over a CuPy of NumPy arrays whose kernels run on the host: whole programs, against reference and CPU."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rho import backend
from rho.backend.codegen import gpu_targets
from rho.backend.codegen.gpu_targets import CUDA
from rho.backend.cpu.backend import CpuBackend
from rho.backend.cpu.views import reshaped_strides
from rho.backend.devices.cost_functions import Ticks
from rho.backend.devices.phase_cost import missing_operation
from rho.backend.devices.profile import DeviceProfile, LinkProfile, Profile
from rho.backend.devices.this_machine import load_profile
from rho.backend.gpu import cuda as bindings, launch
from rho.backend.gpu.device import tiers
from rho.backend.gpu.driver import CardModel
from rho.backend.gpu.library import IMPLEMENTATIONS
from rho.backend.graph import traverse
from rho.backend.graph.bind_sizes import BoundGraph
from rho.backend.graph.phases import Structured
from rho.backend.graph.registry import LIBRARY as OPS
from rho.backend.schedule.plan.plan import Device, DeviceId, RunStep
from rho.backend.schedule.program.plan_from_schedule import plan_of
from rho.backend.schedule.program.plan_program import plan_program
from rho.backend.schedule.program.problem_from_program import problem_of
from rho.backend.vm.executor import execute_plan
from rho.backend.vm.run_state import RunResults
from rho.lang.diagnostics.model import RhoError
from rho.tests.backend import cuda_stub
from rho.tests.backend.quick import split_evenly
from rho.tests.backend.test_differential import DECLARED, PROGRAMS, data
from rho.tests.harness.tiers import agree, checked
from rho.tests.kernels import cuda_host
from rho.tests.kernels.test_programs import LOOPS, STENCILS
from rho.typechecker.core.operations import Core

pytestmark = pytest.mark.skipif(cuda_host.COMPILER is None, reason="no C++ compiler")
MAKE = cuda_stub.card
"""The back end; `benchmarks/cards.py` puts a card's there."""


def run_on_card(core: Core, inputs: Mapping[str, Any], hosted: Counter[str] | None = None, limit: int
    | None = None) -> RunResults:
    bound = backend.load(core, inputs, {})
    plan = backend.plan(bound)
    card = MAKE(limit)
    before = {name: np.array(value) for name, value in inputs.items()}
    try:
        return execute_plan(plan, bound, inputs, {plan.home: card})
    finally:
        for name, value in inputs.items():
            assert np.array_equal(value, before[name], equal_nan=value.dtype.kind in "fc"), f"input {name} changed"
        if hosted is not None:
            hosted.update(card.hosted)


def disagreements(core: Core, inputs: Mapping[str, Any], hosted: Counter[str] | None = None) -> list[str]:
    """What differs from the reference: values, or how it fails."""
    return agree(core, inputs, [lambda core, inputs: run_on_card(core, inputs, hosted)])


@pytest.mark.parametrize("part", range(4))
def test_programs(part: int) -> None:
    ran = 0
    for text in PROGRAMS[part * 3 :: 24]:
        core = checked(DECLARED + text)
        if core is not None:
            ran += 1
            assert not disagreements(core, data(7, 2, 5)), text
    assert ran > 5


TUPLES = """{(a b) ← ⍵ ⋄ (a+b ⋄ a×0.5)}⍣9 ⊢ (f ⋄ g)
{(a m) ← ⍵ ⋄ (m¿(a×a ⋄ a-1) ⋄ a<2)}⍣7 ⊢ (f ⋄ b)
{(a b) ← ⍵ ⋄ (b-1⌽a ⋄ a+¯1⊖b)}⍣3 ⊢ (A ⋄ A×2)""".splitlines()


@pytest.mark.parametrize("text", [*(f"(p q) ← {t}\noutput r ← p\noutput s ← q" for t in TUPLES),
                                  *(f"output {t}" for t in (*LOOPS[1::4], *STENCILS[:4], *STENCILS[6:8]))])  # fmt: skip
def test_loops(text: str) -> None:
    """All turns in one kernel, one kernel a turn that reads neighbours, and turns step by step."""
    core = checked(DECLARED + text + "\n")
    assert core is not None
    for n, r, c in ((5, 3, 4), (23, 2, 37), (0, 0, 3)):
        assert not disagreements(core, data(n, r, c)), n


def test_what_runs_again_is_not_lowered_again(monkeypatch: pytest.MonkeyPatch) -> None:
    core = checked("input A : f64[r c]\ninput x : f64[n]\noutput r ← {e ← *⍵-⌈/⍵ ⋄ e÷+/e}⍤1 ⊢ A\noutput s ← +/⌽x×2\n")
    given = {"A": np.arange(12.0).reshape(3, 4), "x": np.arange(9.0)}
    assert core is not None
    bound, card, lowered = backend.load(core, given, {}), MAKE(None), list[object]()
    plan = backend.plan(bound)
    wanted, usual = execute_plan(plan, bound, given, {plan.home: card}).outputs, launch.build_kernel
    monkeypatch.setattr(launch, "build_kernel", lambda *given: lowered.append(given) or usual(*given))
    again = execute_plan(plan, bound, given, {plan.home: card}).outputs
    assert all(again[name].value.tobytes() == wanted[name].value.tobytes() for name in wanted) and not lowered


def test_a_loop_is_one_kernel_an_iteration_a_few_launches() -> None:
    """Neighbours that are added launch once an iteration; twice with edges that are joined, and in Life (sums of rows, then of
    these); a loop without neighbours launches once."""
    fixed = "input y : f64[m+2]\noutput r ← {(1↑⍵),(0.5×(2↓⍵)+¯2↓⍵),¯1↑⍵}⍣4 ⊢ y\n"
    added = "input x : f64[n]\noutput r ← {(¯1⌽⍵)+0.25×1⌽⍵}⍣4 ⊢ x\n"
    life = "input B : bool[r c]\noutput r ← {s ← (¯1⌽⍵)+⍵+1⌽⍵ ⋄ n ← (¯1⊖s)+s+1⊖s ⋄ (n=3)∨⍵∧n=4}⍣4 ⊢ B\n"
    alone = "input x : f64[n]\noutput r ← {(1.0001×⍵)-0.3×⍵×⍵}⍣25 ⊢ x\n"
    numbers, cells = {"x": np.arange(50) / 50}, {"B": np.eye(9, 7) > 0}
    for text, given, launches in ((life, cells, 8), (alone, numbers, 1), (added, numbers, 4), (fixed, {"y": np.arange(9.0)}, 8)):
        core = checked(text)
        assert core is not None
        cuda_stub.log.clear()
        assert not disagreements(core, given)
        assert sum(entry[0] == "launch" for entry in cuda_stub.log) == launches


def outputs(core: Core, inputs: Mapping[str, Any]) -> tuple[list[bytes], Counter[str]]:
    hosted: Counter[str] = Counter()
    made = run_on_card(core, inputs, hosted)
    return [shown.value.tobytes() for shown in made.outputs.values()], hosted


BITS = """output r ← +/x×y
output r ← (⌊x×100) + 1
output r ← +/⍤1 ⊢ M*2
output r ← +⌿M×0.1
output r ← *x÷10
output r ← {⍵-⍨0.3×⍵×⍵}⍣25 ⊢ x
output r ← x[⍋x]
output r ← (x>0)/x
output r ← +\\⌊x×100
output r ← +\\x
output r ← ⌈\\M
output r ← ×⍀M
output r ← ∧\\x>¯1""".splitlines()


@pytest.mark.parametrize("text", BITS)
def test_the_bits_of_the_cpu(text: str) -> None:
    """Several blocks of the order of sums, nothing on the host."""
    core = checked("input x : f64[n]\ninput y : f64[n]\ninput M : f64[r c]\n" + text)
    assert core is not None, text
    rng = np.random.default_rng(3)
    given = {"x": rng.standard_normal(9001), "y": rng.standard_normal(9001), "M": rng.standard_normal((70, 43))}
    bound = backend.load(core, given, {})
    wanted = [shown.value.tobytes() for shown in backend.execute(backend.plan(bound), bound, given).outputs.values()]
    got, hosted = outputs(core, given)
    assert got == wanted
    assert not hosted


SORTS = """output r ← {⍋⍵}⍤1 ⊢ M
output r ← {⍵[⍒⍵]}⍤1 ⊢ M
output r ← ⍋I
output r ← ⍒M
output r ← M[⍋M;]""".splitlines()


@pytest.mark.parametrize("text", SORTS)
@pytest.mark.parametrize("shape", [(6, 9), (50, 3), (3, 0), (0, 4), (1, 1)])
def test_orders_of_rows_and_of_matrices(text: str, shape: tuple[int, int]) -> None:
    """Equal items stay in their order; NaN comes last; nothing on the host."""
    core = checked("input M : f64[r c]\ninput I : i64[r c]\n" + text)
    assert core is not None, text
    rng = np.random.default_rng(8)
    items = rng.integers(-2, 3, shape)
    given = {"M": np.where(rng.random(shape) < 0.1, np.nan, items / 2), "I": items}
    hosted: Counter[str] = Counter()
    assert not disagreements(core, given, hosted) and not hosted


def absent(bound: BoundGraph) -> set[str]:
    """What a card has no kernel for."""
    types = bound.graph.types
    return {name for phase in traverse.all_phases(bound.graph) if (name := gpu_targets.missing(phase, types, CUDA)) is not None}


def test_what_has_no_kernel_is_declared() -> None:
    """The phases that went through the host are those without a kernel, by what is said before the run."""
    core = checked("input x : f64[n]\noutput r ← !x\noutput s ← 2 2⊤x\n")
    assert core is not None
    given = {"x": np.arange(9.0)}
    bound = backend.load(core, given, {})
    assert absent(bound) == {"factorial.f64", "encode.f64"}
    assert set(outputs(core, given)[1]) == {"factorial.f64", "encode.f64"}


def test_the_table_is_the_implementations() -> None:
    assert set(gpu_targets.LIBRARY) == set(IMPLEMENTATIONS) <= set(OPS)


@pytest.mark.long
def test_support_and_back_end_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the table says about each library phase of the test programs is what happens."""
    launched: dict[str, set[bool]] = {}

    def noting(op: str, implementation: Any) -> Any:
        def run(call: Any, arrays: Any) -> Any:
            before = sum(entry[0] == "launch" for entry in cuda_stub.log)
            made = implementation(call, arrays)
            after = sum(entry[0] == "launch" for entry in cuda_stub.log)
            launched.setdefault(op, set()).add(after > before)
            return made

        return run

    for op, implementation in IMPLEMENTATIONS.items():
        monkeypatch.setitem(IMPLEMENTATIONS, op, noting(op, implementation))
    for text in (*PROGRAMS[::3], "⎕←f[⍋g]\n"):
        core = checked(DECLARED + text)
        if core is None:
            continue
        try:
            bound = backend.load(core, data(7, 2, 5), {})
        except RhoError:
            continue
        missing = absent(bound)
        hosted: Counter[str] = Counter()
        try:
            run_on_card(core, data(7, 2, 5), hosted)
        except RhoError:
            continue
        assert set(hosted) <= missing, text
    assert len(launched) > 10
    for op, seen in launched.items():
        executes = gpu_targets.LIBRARY[op].implementation
        assert executes == "copies" or (True in seen) == (executes == "generated kernels"), op


def test_the_page_has_the_table() -> None:
    page = Path(gpu_targets.__file__).parents[2] / "docs" / "devices-gpu.md"
    assert "\n".join(gpu_targets.table()) in page.read_text(encoding="utf-8")


def test_a_kernel_is_compiled_once() -> None:
    core = checked("input x : f64[n]\noutput r ← {1⌽⍵+1}⍣9 ⊢ x\n")
    assert core is not None
    made: list[str] = []

    class Counted(cuda_stub.RawModule):
        def __init__(self, code: str, options: Any) -> None:
            made.append(code)
            super().__init__(code, options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cuda_stub, "RawModule", Counted)
        patch.setattr("rho.backend.gpu.device._cards", {})
        for _ in range(2):
            run_on_card(core, {"x": np.arange(5.0)})
    assert made and len(made) == len(set(made))


@pytest.mark.parametrize(
    ("shape", "strides", "target", "wanted"),
    [
        ((2, 3), (24, 8), (6,), (8,)), ((6,), (8,), (2, 3), (24, 8)), ((2, 3), (8, 16), (6,), None),
        ((4, 1, 3), (24, 5, 8), (2, 6), (48, 8)), ((3, 4), (0, 8), (12,), None), ((3, 4), (0, 8), (3, 2, 2), (0, 16, 8)),
        ((5,), (-8,), (5, 1), (-8, 0)), ((1,), (8,), (), ()),
    ],
)  # fmt: skip
def test_reshapes_that_copy_nothing(shape: Any, strides: Any, target: Any, wanted: Any) -> None:
    assert reshaped_strides(shape, strides, target) == wanted


# --------------------------------------------------------------------------------- several devices


def test_a_program_over_the_processor_and_a_card(monkeypatch: pytest.MonkeyPatch) -> None:
    """Phases on either, values carried between them, the same bits; `execute` makes the back ends that the plan names."""
    text = "input x : f64[n]\ny ← 3+x×x\nz ← +/y\noutput r ← y÷z\noutput t ← z\nschedule {\n  place y on gpu\n  nosplit y\n}\n"
    core = checked(text)
    assert core is not None
    given = {"x": np.random.default_rng(5).standard_normal(30_000)}
    bound = backend.load(core, given, {})
    planned = plan_program(core, bound, load_profile("h100")).plan
    assert {device.backend for device in planned.devices} == {"cpu", "cuda"}
    monkeypatch.setattr("rho.backend.gpu.cuda.cupy", lambda: cuda_stub)
    monkeypatch.setattr("rho.backend.gpu.device._cards", {})
    cuda_stub.log.clear()
    got = backend.execute(planned, bound, given)
    assert any(entry[0] == "launch" for entry in cuda_stub.log)
    wanted = backend.execute(backend.plan(bound), bound, given)
    assert {n: s.value.tobytes() for n, s in got.outputs.items()} == {n: s.value.tobytes() for n, s in wanted.outputs.items()}


def test_a_reduction_cut_over_the_processor_and_a_card() -> None:
    """Partial results of subtrees of the order of sums, made by different tiers, join to the same bits."""
    devices = (DeviceProfile("cpu0", "cpu", home=True), DeviceProfile("gpu0", "gpu"))
    core = checked("input x : f64[n]\ninput y : f64[n]\noutput r ← +/x×y\n")
    assert core is not None
    rng = np.random.default_rng(6)
    given = {"x": rng.standard_normal(50_000), "y": rng.standard_normal(50_000)}
    bound = backend.load(core, given, {})

    def one_tick_a_row(phase: object, group: object, cut: Any, tick_ns: int) -> Ticks:
        return Ticks(((1, 5),)) if cut is None else Ticks(((1, 1), (max(2, cut.rows), cut.rows)))

    program = problem_of(bound, Profile(devices, (LinkProfile("cpu0", "gpu0", latency_ns=1),)), ticks_of=one_tick_a_row)
    answer = split_evenly(program.problem)
    assert answer is not None
    cut_plan = plan_of(program, answer)
    card = cuda_stub.card()
    cuda_stub.log.clear()
    got = execute_plan(cut_plan, bound, given, {DeviceId("cpu0"): CpuBackend(), DeviceId("gpu0"): card})
    assert any(entry[0] == "launch" for entry in cuda_stub.log)
    wanted = backend.execute(backend.plan(bound), bound, given)
    assert got.outputs["r"].value.tobytes() == wanted.outputs["r"].value.tobytes()


def test_a_whole_program_on_a_card(monkeypatch: pytest.MonkeyPatch) -> None:
    """One device, which is a card; with a cut of its memory that is enforced."""
    monkeypatch.setattr("rho.backend.gpu.cuda.cupy", lambda: cuda_stub)
    monkeypatch.setattr("rho.backend.gpu.device._cards", {})
    core = checked("input x : f64[n]\noutput r ← +/x\noutput s ← x[⍒x]\n")
    assert core is not None
    given = {"x": np.random.default_rng(2).standard_normal(5000)}
    bound = backend.load(core, given, {})
    cuda_stub.log.clear()
    got = backend.execute(backend.plan(bound, Device(DeviceId("gpu0"), "cuda", memory=1 << 20)), bound, given)
    assert ("limit", 1 << 20) in cuda_stub.log
    wanted = backend.execute(backend.plan(bound), bound, given)
    assert all(got.outputs[n].value.tobytes() == wanted.outputs[n].value.tobytes() for n in ("r", "s"))


def test_the_planner_knows_what_a_card_cannot_run() -> None:
    """A phase without a kernel there is placed elsewhere, or refused where it may run nowhere else."""
    core = checked("input x : f64[n]\noutput r ← !x\n")
    assert core is not None
    bound = backend.load(core, {"x": np.arange(9.0)}, {})
    profile = load_profile("h100")
    planned = plan_program(core, bound, profile).plan
    ran = [queue.device for queue in planned.main.queues for step in queue.steps if isinstance(step, RunStep)]
    assert ran and set(ran) == {"cpu0"}
    (phase,) = (p for p in bound.graph.phases if isinstance(p, Structured))
    card = profile.device("gpu0")
    assert card is not None and missing_operation(phase, bound, card) == "factorial.f64"


def test_which_cards_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bindings, "cupy", lambda: cuda_stub)
    assert bindings.gpus() == (CardModel(0, "Stub", 1 << 33, "compute capability 9.0"),)
    assert "CUDA: Stub (compute capability 9.0)" in tiers()
    monkeypatch.setattr(bindings, "cupy", lambda: None)
    assert bindings.gpus() == () and "CUDA: none (cupy " in tiers()


def test_one_module_imports_cupy() -> None:
    """And none does before it is asked for."""
    package = Path(bindings.__file__).parents[2]
    files = [path for room in ("backend", "shell") for path in (package / room).rglob("*.py")]
    found = [path.name for path in files if re.search(r"^\s*(import|from) cupyx?\b", path.read_text(encoding="utf-8"), re.M)]
    assert found == ["cuda.py"]
