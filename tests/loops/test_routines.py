"""Routines that regions call: what they raise leaves the machine code, interrupts are heard, cells fail in their order."""

from __future__ import annotations

import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rho
from rho import backend
from rho.backend.cpu import parallel_for, regions
from rho.backend.graph.phases import Loop
from rho.backend.jit import tiering
from rho.backend.jit.compiler import LruCache
from rho.backend.library import operation_table
from rho.backend.lower import region as control
from rho.backend.lower.region import Region
from rho.backend.schedule.program_facts.partitioning import lowered_loops
from rho.tests.harness.tiers import checked

PRODUCTS = "{{0.1×⍵(+.×⍤2)⍵}⍣N ⊢ ⍵}"


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RHO_KERNELS", "always")
    monkeypatch.setattr(regions, "_runs", LruCache(256))


def raising(monkeypatch: pytest.MonkeyPatch, error: BaseException, at: int) -> list[int]:
    """Call number `at` raises an error."""
    calls: list[int] = []
    real = operation_table._OperationSite.run

    def run(self: Any) -> None:
        calls.append(len(calls))
        if len(calls) == at:
            raise error
        real(self)

    monkeypatch.setattr(operation_table._OperationSite, "run", run)
    return calls


@pytest.mark.parametrize(("error", "expected"), [(KeyboardInterrupt(), KeyboardInterrupt), (MemoryError(), rho.RhoError),
                                                 (ZeroDivisionError("a bug"), ZeroDivisionError)])  # fmt: skip
def test_what_a_routine_raises(error: BaseException, expected: type[BaseException], monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(1).random((2, 4, 4))
    function = rho.compile(PRODUCTS.replace("N", "9"))
    whole = function(x)
    with monkeypatch.context() as patched:
        calls = raising(patched, error, 3)
        with pytest.raises(expected) as raised:
            function(x)
        assert len(calls) == 3, "nothing is called after it"
    if expected is rho.RhoError:
        assert [d.code for d in raised.value.diagnostics] == ["E702"]  # type: ignore[attr-defined]
    assert function(x).tobytes() == whole.tobytes()


def test_a_signal_in_machine_code(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """It is heard where a routine begins, and leaves there: nothing is lost, nothing is printed."""
    function = rho.compile(PRODUCTS.replace("N", "3000000"))
    x = np.random.default_rng(1).random((2, 4, 4)) * 0.5
    rho.compile(PRODUCTS.replace("N", "9"))(x)
    monkeypatch.setattr(parallel_for, "FIRST_OPERATIONS", 1 << 60)  # one range: Python is in routines alone
    main = threading.main_thread().ident
    assert main is not None
    for delay in (0.2, 0.21, 0.22, 0.23):
        timer = threading.Timer(delay, lambda: signal.pthread_kill(main, signal.SIGINT))
        timer.start()
        started = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            function(x)
        timer.join()
        assert time.monotonic() - started < 60
    assert "ignored" not in capfd.readouterr().err


def test_the_first_cell_that_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "{x←⍵ ⋄ {a←(⍵×2 2⍴2 1 1 3)+1-⍵ ⋄ {⍵+⊃1 2⌹a}⍣(2⋄{⍵<⍺}) ⊢ ⍵}¨x}"
    function = rho.compile(text)
    x = np.array([1.0] * 50 + [0.0] * 3 + [1.0] * 50)
    assert function(np.ones(9)).shape == (9,)
    monkeypatch.setenv("RHO_KERNELS", "off")
    with pytest.raises(rho.RhoError) as expected:
        rho.compile(text)(x)
    monkeypatch.setenv("RHO_KERNELS", "always")
    with pytest.raises(rho.RhoError) as raised:
        function(x)
    assert [(d.code, d.message) for d in raised.value.diagnostics] == [(d.code, d.message) for d in expected.value.diagnostics]
    assert any(run.region is not None and run.region.routines for run in regions._runs.values())


def test_cells_on_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "{x←⍵ ⋄ {+/(x>⍵)/x}¨x}"
    x = np.random.default_rng(1).random(400)
    monkeypatch.setenv("RHO_KERNELS", "off")
    expected = rho.compile(text)(x)
    monkeypatch.setenv("RHO_KERNELS", "always")
    monkeypatch.setattr(parallel_for, "FIRST_OPERATIONS", 1)
    function = rho.compile(text)
    for _ in range(5):
        assert function(x).tobytes() == expected.tobytes()


def test_an_index_makes_no_routine_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """What items are made of is an operand; only what space there is makes a routine."""
    made: list[int] = []
    real = operation_table._OperationSite.kernel

    def kernel(self: Any) -> Any:
        made.append(1)
        return real(self)

    monkeypatch.setattr(operation_table._OperationSite, "kernel", kernel)
    text = "{x←⍵ ⋄ {⍵+x*0.5J1×i←⍺}⍣(⍳40)⊢ x}"
    x = np.random.default_rng(1).random(50) + 0.5j
    value = rho.compile(text)(x)
    assert len(made) == 1
    monkeypatch.setenv("RHO_KERNELS", "off")
    assert rho.compile(text)(x).tobytes() == value.tobytes()


@pytest.mark.parametrize("complex_", [False, True])
@pytest.mark.parametrize("rows", [1, 2, 33, 70])
@pytest.mark.parametrize("body", ["{⍵+b⌹a+⍵[0;0]×0.01}", "{0.5×⌹⍵+a}", "{(q r)←⎕qr ⍵+a ⋄ r+0.1×q}", "{⍵+(b[;0]⌹a)∘.×b[;0]}"])
def test_linear_algebra_has_its_bits(body: str, rows: int, complex_: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """LAPACK on memory that is kept, and the operation by itself."""
    rng = np.random.default_rng(rows)
    a, b, x = (rng.standard_normal((rows, rows)) + (1j * rng.standard_normal((rows, rows)) if complex_ else 0) for _ in range(3))
    text, given = f"{{a←⍺[0;;] ⋄ b←⍺[1;;] ⋄ {body}⍣3⊢⍵}}", np.array([a, b])
    value = rho.compile(text)(given, x)
    runs = [run for run in regions._runs.values() if run.region is not None and run.region.routines]
    assert runs, "it is one region"
    monkeypatch.setenv("RHO_KERNELS", "off")
    assert rho.compile(text)(given, x).tobytes() == value.tobytes()


@pytest.mark.parametrize("a", [[[1.0, 2.0], [2.0, 4.0]], [[0.1, 0.3], [0.1 * 3, 0.3 * 3]], [[0.0, 0.0], [0.0, 0.0]]])
def test_a_singular_matrix_in_a_loop(a: list[list[float]]) -> None:
    function = rho.compile("{a←⍺ ⋄ {⍵⌹a}⍣3⊢⍵}")
    with pytest.raises(rho.RhoError) as raised:
        function(np.array(a), np.ones(2))
    assert [d.code for d in raised.value.diagnostics] == ["E703"]


NESTED = [
    "{{a←⍵ ⋄ {⍵+0.5×a[⍺]}⍣(⍳≢a)⊢a}⍣4 ⊢ ⍵}", "{{a←⍵ ⋄ {i←⍵ ⋄ {(0.01×⍺)+i×⍵÷9}/a}¨a}⍣2 ⊢ ⍵}", "{{{(0.5×⍺)+⍵}\\⍵}⍣5 ⊢ ⍵}",
    "{{⍵×{⍵+0.5×⍺}/⍵÷9}⍣5 ⊢ ⍵}",
]  # fmt: skip


@pytest.mark.parametrize("every", [1, 64])
@pytest.mark.parametrize("text", NESTED)
def test_interrupts_are_heard_in_loops_inside(text: str, every: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each iteration of a loop in a long iteration, or one in a few, enters Python, whose error leaves at once."""
    x = np.random.default_rng(1).random(100)
    monkeypatch.setattr(control, "_POLL_POINTS", every)
    function = rho.compile(text)
    with monkeypatch.context() as patched:
        calls = raising(patched, KeyboardInterrupt(), 1 << 60)
        whole = function(x)
    heard = len(calls)
    assert heard >= 190 // every
    with monkeypatch.context() as patched:
        calls = raising(patched, KeyboardInterrupt(), heard // 2)
        with pytest.raises(KeyboardInterrupt):
            function(x)
    assert len(calls) == heard // 2
    monkeypatch.setenv("RHO_KERNELS", "off")
    assert rho.compile(text)(x).tobytes() == whole.tobytes()


@pytest.mark.parametrize("name", ["lu", "cholesky"])
def test_a_triangle_is_one_region_at_every_size(name: str) -> None:
    """The loop inside is no reason to run phase by phase: that would copy the state in each iteration."""
    text = (Path(__file__).parents[2] / "benchmarks" / "npbench" / f"{name}.rho").read_text(encoding="utf-8")
    for size in (40, 400, 4000):
        core = checked(text)
        assert core is not None
        graph = backend.bind_shapes(core, {"A": (size, size)}, {}).graph
        ((_, region),) = lowered_loops(graph)
        assert isinstance(region, Region), region
        assert bool(region.routines) == (size >= 4000), "interrupts are heard inside where an iteration is long"


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.complex128])
@pytest.mark.parametrize("sizes", [(2, 2, 2), (4, 4, 4), (3, 7, 3), (2, 16, 2), (5, 4, 4), (2, 0, 3), (3, 1, 2)])
def test_small_products_have_one_order(sizes: tuple[int, int, int], kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Alone, in a native call, in a region, without kernels: what is shorter than a call of BLAS is summed in order, else not."""
    rows, shared, columns = sizes
    rng = np.random.default_rng(rows)
    phase = np.exp(1j) if kind is np.complex128 else 1.0
    a, b = (rng.standard_normal((rows, shared)) * phase).astype(kind), rng.standard_normal((shared, columns)).astype(kind)
    alone = rho.compile("{⍺+.×⍵}")
    found = {alone(a, b).tobytes() for _ in range(40)}
    loop = rho.compile("{a←⍺ ⋄ b←⍵ ⋄ {⍵+a+.×b×1+0×⍵[0;0]}⍣2⊢0×a+.×b}")
    twice = rho.compile("{c←⍺+.×⍵ ⋄ c+c}")(a, b).tobytes()
    assert {loop(a, b).tobytes()} == {twice}
    monkeypatch.setenv("RHO_KERNELS", "off")
    assert found == {rho.compile("{⍺+.×⍵}")(a, b).tobytes()}


@pytest.mark.parametrize("body", ["F+.×⍵+.×⍉F", "0.5×F+⍵[⍋⍵[;0];]", "⍵⌹F", "F+0.5×⍵", "0.5×F+⍵×+\\⍵"])
def test_a_loop_in_many_calls_enters_no_python(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Products, sorts, solvers and scans of a short loop are instructions of its native program."""
    monkeypatch.setenv("RHO_KERNELS", "warm")
    function = rho.compile(f"{{F←⍺ ⋄ {{{body}}}⍣300⊢⍵}}")
    rng = np.random.default_rng(1)
    a, b = np.eye(9) + 0.01 * rng.random((9, 9)), rng.random((9, 9))
    values = {function(a, b).tobytes() for _ in range(40)}
    assert len(values) == 1
    (ready,) = function._prepared_calls.values()
    assert any(plan._program is not None for plan in ready.free)
    regions_run: list[object] = []
    run = regions.RegionRun.run
    monkeypatch.setattr(regions.RegionRun, "run", lambda *given: regions_run.append(given) or run(*given))
    assert function(a, b).tobytes() in values
    assert not regions_run


CELLS = ("{{⍵×1-⍵}⍣20⊢⍵}¨X", "{{0.5×⍵+2÷1+|⍵}⍣(30 ⋄ {1e¯9>|⍺-⍵})⊢⍵}¨X", "{⍵>0.5 : {⍵÷2}⍣3⊢⍵ ⋄ {⍵-1}⍣4⊢⍵}¨X",
         "{{v←⍵ ⋄ v[1]←v[0]+v[2] ⋄ v}⍣5⊢⍵}⍤1⊢R", "{+/{0.5×⍵+1⌽⍵}⍣4⊢⍵}⍤1⊢R", "{{⍺+0.5×⍵}\\⍵-⌈/⍵}⍤1⊢R",
         "{{v←⍵ ⋄ v[⌊9×⍵[0]]←0.5 ⋄ v}⍣3⊢⍵}⍤1⊢R")  # fmt: skip


@pytest.mark.parametrize("text", CELLS)
@pytest.mark.parametrize("most", [1, tiering.SHARED_NANOSECONDS])
def test_cells_are_tasks_of_one_launch(text: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python ran the cells of a map that threads share, which took 80 µs; the first cell that fails is blamed as before."""
    monkeypatch.setattr(tiering, "SHARED_NANOSECONDS", most)
    function = rho.compile("{" + text.replace("X", ",⍵").replace("R", "⍵") + "}")
    monkeypatch.setenv("RHO_KERNELS", "off")
    plain = rho.compile("{" + text.replace("X", ",⍵").replace("R", "⍵") + "}")
    for scale in (0.3, 1.0):
        x = scale * np.random.default_rng(2).random((300, 8))

        def outcome(called: Any, x: Any = x) -> object:
            try:
                return np.asarray(called(x)).tobytes()
            except rho.RhoError as error:
                return [(d.code, d.message) for d in error.diagnostics]

        expected = outcome(plain)
        monkeypatch.setenv("RHO_KERNELS", "always")
        assert [outcome(function) for _ in range(5)] == [expected] * 5
        monkeypatch.setenv("RHO_KERNELS", "off")


def test_settled_maps_of_loops_enter_no_python(monkeypatch: pytest.MonkeyPatch) -> None:
    function, x = rho.compile("{{0.5×⍵+2÷⍵}⍣(50 ⋄ {1e¯12>|⍺-⍵})¨⍵}"), np.random.default_rng(1).random(3000) + 1
    values = {function(x).tobytes() for _ in range(9)}
    monkeypatch.setattr(regions.RegionRun, "run", None)
    assert {function(x).tobytes()} == values


UPDATED = {
    "two arrays": "{(u v)←{(u v)←⍵ ⋄ u[⍺]←v[0]+⍺ ⋄ v[⍺]←u[⍺]×0.5 ⋄ (u ⋄ v)}⍣(⍳≢⍵)⊢(⍵ ⋄ ⍵) ⋄ u+v}",
    "four updates": "{{u←⍵ ⋄ u[0]←u[⍺] ⋄ u[1]←u[⍺] ⋄ u[2]←u[⍺]+1 ⋄ u[⍺]←u[0] ⋄ u}⍣(⍳≢⍵)⊢⍵}",
    "in an arm": "{{x←⍵ ⋄ x[⍺]>0.5 : {⍵[3]←0.25 ⋄ ⍵} x ⋄ x[⍺]←x[0]+1 ⋄ x}⍣(⍳≢⍵)⊢⍵}",
    "a row": "{{x←⍵ ⋄ x[⍺;]←x[0;]+⍺ ⋄ x}⍣(⍳≢⍵)⊢⍵∘.+⍳2}",
    "some items": "{{x←⍵ ⋄ x[0 1 2]←x[⍺]+⍺ ⋄ x}⍣(⍳≢⍵)⊢⍵}",
}
COPIED = "{y←⍵ ⋄ {u←y ⋄ u[⍺]←⍵ ⋄ u[⍺]+u[0]}⍣(⍳≢⍵)⊢0.0}"


@pytest.mark.parametrize("text", UPDATED.values(), ids=UPDATED)
def test_updates_in_place_are_one_region_at_every_size(text: str) -> None:
    """An update writes a few items and is no reason to run phase by phase, which would copy the array each time."""
    for size in (100, 10_000_000, 400_000_000):
        core = checked(f"input x : f64[n]\n{text} x")
        assert core is not None
        graph = backend.bind_shapes(core, {"x": (size,)}, {}).graph
        ((_, region),) = ((loop, region) for loop, region in lowered_loops(graph) if isinstance(loop, Loop))
        assert isinstance(region, Region), region


@pytest.mark.parametrize("text", [*UPDATED.values(), COPIED], ids=[*UPDATED, "copied"])
def test_loops_poll_by_the_items_they_write(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop that updates in place enters Python once in many iterations, however large its arrays; one that copies, in each."""
    x = np.random.default_rng(1).random(300)
    monkeypatch.setattr(control, "_POLL_POINTS", 256)
    function = rho.compile(f"{{x←⍵ ⋄ {{+/,{text} x+⍵}}⍣4⊢0.0}}")
    with monkeypatch.context() as patched:
        calls = raising(patched, KeyboardInterrupt(), 1 << 60)
        whole = function(x)
    heard = len(calls)
    assert heard == 4 * len(x) if text == COPIED else 0 < heard < 2 * len(x)
    with monkeypatch.context() as patched:
        raising(patched, KeyboardInterrupt(), heard // 2)
        with pytest.raises(KeyboardInterrupt):
            function(x)
    monkeypatch.setenv("RHO_KERNELS", "off")
    assert np.asarray(rho.compile(f"{{x←⍵ ⋄ {{+/,{text} x+⍵}}⍣4⊢0.0}}")(x)).tobytes() == np.asarray(whole).tobytes()
