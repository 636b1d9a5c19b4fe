"""Element-wise kernels and reductions down columns are loop programs: well formed, and the same for registers of any width."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from without_code import forget_code

from rho import backend
from rho.backend.codegen.llvm_printer import llvm_text
from rho.backend.codegen.llvm_registers import vectors_of
from rho.backend.cpu import phases as chains
from rho.backend.graph.phases import AxisNode
from rho.backend.jit import compiler, tiering
from rho.backend.loopir import verifier
from rho.backend.loopir.ir import For, LoopProgram
from rho.backend.loopir.text import parse, show
from rho.backend.lower import rows as lowering
from rho.backend.schedule import single_device
from rho.backend.schedule.plan.plan import RowsStep
from rho.tests.harness.tiers import agree, checked, kernels, run_plan
from rho.tests.kernels.phases import apply, both, data, phase, projection, read, same_bits
from rho.typechecker.elements import Kind

pytestmark = pytest.mark.long


@pytest.fixture(params=[16, 32, 64])
def programs(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> list[LoopProgram]:
    """Those of the kernels that the test compiles for registers of so many bytes, each looked at by the verifier and by LLVM."""
    seen: list[LoopProgram] = []

    def compiled(text: str) -> bytes:
        try:
            return compile_text(text)
        except compiler.Unsupported as error:  # NumPy would do what it is for, and nobody would see
            raise AssertionError(f"LLVM refuses a text: {error}") from error

    def watched(program_of: Callable[[Any], LoopProgram]) -> Callable[[Any], LoopProgram]:
        def seen_of(code: Any) -> LoopProgram:
            program = program_of(code)
            verifier.verify(program)
            assert parse(show(program)) == program
            seen.append(program)
            return program

        return seen_of

    compile_text = compiler.compile_text
    monkeypatch.setenv("RHO_KERNEL_CACHE", "off")  # whose entries are for the registers of this processor
    monkeypatch.setattr(compiler, "compile_text", compiled)
    forget_code(monkeypatch)
    monkeypatch.setattr(compiler, "vector_bytes", lambda: request.param)
    monkeypatch.setattr(lowering, "program_of", watched(lowering.program_of))
    return seen


@pytest.mark.parametrize("kind", [Kind.F64, Kind.F32, Kind.I64, Kind.U8, Kind.BOOL])
def test_maps(kind: Kind, programs: list[LoopProgram]) -> None:
    """Forwards, backwards, strided, one item for all; rows of few columns."""
    most, least = ("or", "and") if kind is Kind.BOOL else ("max", "min")
    body = [*(read(place, kind) for place in range(4)), apply(most, (0, 1), kind), apply(least, (2, 3), kind),
            apply(most, (4, 5), kind)]  # fmt: skip
    for n in (1, 7, 16, 67, 1000):
        reads = [projection([n], [n], [0]), projection([n], [n], [0], [-1], [n - 1]), projection([n], [3 * n], [0], [3]),
                 projection([n], [1], [0], [0])]  # fmt: skip
        arrays = [data(kind, n, 1), data(kind, n, 2), data(kind, 3 * n, 3), data(kind, 1, 4)]
        for kernel, plain in both(phase([n], reads, body, [6, 4]), arrays):
            assert same_bits(kernel, plain), n
    for columns in (2, 3, 5, 9):
        space = [131, columns]
        reads = [projection(space, space, [0, 1]), projection(space, [131], [0]), projection(space, [columns], [1]),
                 projection(space, [columns, 131], [1, 0])]  # fmt: skip
        arrays = [data(kind, 131 * columns, 1).reshape(space), data(kind, 131, 2), data(kind, columns, 3),
                  data(kind, 131 * columns, 4).reshape(columns, 131)]  # fmt: skip
        for kernel, plain in both(phase(space, reads, body, [6, 5]), arrays):
            assert same_bits(kernel, plain), columns
    assert programs


@pytest.mark.parametrize("kind", [Kind.F64, Kind.F32, Kind.I32, Kind.BOOL])
@pytest.mark.parametrize("function", ["min", "argmin", "argmax"])
def test_columns(kind: Kind, function: str, programs: list[LoopProgram]) -> None:
    """The same node twice, and the place of what is computed of coordinates."""
    function = "and" if (kind, function) == (Kind.BOOL, "min") else function
    for cells, length in ((17, 5), (130, 40)):
        body = [read(0, kind), AxisNode(1), AxisNode(0), apply("sub", (1, 2), Kind.I64)]
        nodes = [0, 0] if function == "and" else [0, 3, 0]
        made = phase([cells, length], [projection([cells, length], [length, cells], [1, 0])], body, nodes, function)
        array = data(kind, cells * length, 5).reshape(length, cells)
        for kernel, plain in both(made, [array]):
            assert same_bits(kernel, plain), (cells, length)
    assert programs


@pytest.mark.parametrize("text", [
    "input x : c128[n]\noutput r ← (⌽x)×x+2", "input x : c64[n]\noutput r ← |x×x", "input x : f64[n]\noutput r ← ⌊x×100",
    "input x : f64[n]\noutput r ← 0.5×x+2÷x+1", "input x : f32[n]\noutput r ← (x×x+1)+¯0.5×x*2",
    "input x : i64[n]\noutput r ← {n ← 7|⍵×3 ⋄ n+⍵=2}x", "input x : f64[n]\noutput r ← (*x)+(⍟x+1)+1○x",
])  # fmt: skip
def test_programs(text: str, programs: list[LoopProgram], monkeypatch: pytest.MonkeyPatch) -> None:
    """Complex numbers, checks, mathematics and several types in one kernel."""
    monkeypatch.setenv(tiering.SWITCH, "always")
    for n in (1, 33, 500):
        kinds = {"c128": np.complex128, "c64": np.complex64, "i64": np.int64, "f32": np.float32, "f64": np.float64}
        drawn = np.random.default_rng(n).random(n) * 3
        core = checked(text)
        assert core is not None
        assert not agree(core, {"x": drawn.astype(kinds[text.split(" : ")[1].split("[")[0]])}), n
    assert programs


@pytest.mark.parametrize("kind", [Kind.F64, Kind.F32, Kind.I64, Kind.U8, Kind.BOOL])
@pytest.mark.parametrize("function", ["add", "max"])
def test_rows(kind: Kind, function: str, programs: list[LoopProgram]) -> None:
    """Sums and extremes along rows: of one item, of fewer than lanes, of a row of lanes and one more, of several blocks."""
    function = {(Kind.BOOL, "add"): "and", (Kind.BOOL, "max"): "or"}.get((kind, function), function)
    for cells, length in ((20, 40), (20, 1), (3, 255), (3, 257), (2, 4097), (1, 13_000)):
        space = [cells, length]
        for read_at in (projection(space, space, [0, 1]), projection(space, space, [0, 1], [1, -1], [0, length - 1])):
            made = phase(space, [read_at], [read(0, kind)], [0, 0], function)
            for kernel, plain in both(made, [data(kind, cells * length, 5).reshape(space)]):
                assert same_bits(kernel, plain), space
    assert programs


DISTANCES = "input x : f64[n 8]\ninput c : f64[k 8] where k ≥ 1\noutput r ← {⊃⍋⍵}⍤1 ⊢ +/(x (-⍤1⍤1 2) c)*2"


def test_inner_loops_have_registers_and_do_not_multiply(programs: list[LoopProgram], monkeypatch: pytest.MonkeyPatch) -> None:
    """What the rows of the outer loop are is held in registers during the whole inner one, which steps on from row to row."""
    monkeypatch.setenv(tiering.SWITCH, "always")
    core = checked(DISTANCES)
    assert core is not None
    draw = np.random.default_rng(3)
    assert not agree(core, {"x": draw.random((1000, 8)), "c": draw.random((16, 8))})
    fused = [program for program in programs if len(program.views) == 17]
    assert fused
    for program in fused:
        outer = next(s for s in program.body if isinstance(s, For))
        assert vectors_of(outer, {view.name: view for view in program.views}, 64) == 1
        inner = [block for block in llvm_text(program, 64).split("\nb") if " phi " in block and "fmul" in block]
        assert inner and not any("= mul i64" in block for block in inner)


@pytest.mark.parametrize("kind", [Kind.F64, Kind.F32])
@pytest.mark.parametrize("function", ["add", "mul"])
def test_sums_across_rows(kind: Kind, function: str, programs: list[LoopProgram]) -> None:
    """Columns forwards, backwards and strided, a number for each column beside them; of one to several blocks of rows."""
    for cells, length in ((4, 1), (7, 5), (33, 64), (20, 65), (9, 129), (12, 256), (5, 300), (4, 4096), (6, 4097), (4, 13_000),
                          (1100, 3), (530, 70)):  # fmt: skip
        space = [cells, length]
        reads = [projection(space, [length, cells], [1, 0]), projection(space, [length, cells], [1, 0], [1, -1], [0, cells - 1]),
                 projection(space, [length, 3 * cells], [1, 0], [1, 3]), projection(space, [cells], [0])]  # fmt: skip
        body = [*(read(place, kind) for place in range(4)), apply("sub", (0, 3), kind), apply("mul", (4, 1), kind)]
        arrays = [data(kind, length * cells, 1).reshape(length, cells), data(kind, length * cells, 2).reshape(length, cells),
                  data(kind, 3 * length * cells, 3).reshape(length, 3 * cells), data(kind, cells, 4)]  # fmt: skip
        for kernel, plain in both(phase(space, reads, body, [5, 2], function), arrays):
            assert same_bits(kernel, plain), space
    assert programs


@pytest.mark.parametrize("text", ["0.5×⌊÷x", "f64 i32 ÷x", "0.25×⌈÷x", "0.5×⌊÷x-3", "x×f64 i32 ÷x"])
def test_absent_items_do_not_fail(text: str, programs: list[LoopProgram], monkeypatch: pytest.MonkeyPatch) -> None:
    """A sum fills its last row up; what is computed there is no item, and no check of the program looks at it."""
    monkeypatch.setenv(tiering.SWITCH, "always")
    for shape in ((300,), (3, 4100), (2, 5000), (4100, 3), (60, 70), (300, 40), (20, 5), (20, 8), (20, 200)):
        drawn = 1 / np.random.default_rng(1).integers(1, 9, shape).astype(np.float64)
        for reduced in ("+/", "+⌿"):
            core = checked(f"input x : f64[{' '.join(map(str, shape))}]\noutput r ← {reduced}{text}")
            assert core is not None
            for last in (drawn.flat[-1], 0.0):
                drawn.flat[-1] = last
                assert not agree(core, {"x": drawn}), (shape, reduced, last)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("text", [
    "{e ← *⍵-⌈/⍵ ⋄ e÷+/e}⍤1 ⊢ A", "{m ← (+/⍵)÷≢⍵ ⋄ d ← ⍵-m ⋄ d÷√(+/d×d)÷≢⍵}⍤1 ⊢ A", "{m ← ⌊/⍵ ⋄ (+/⍵-m)÷+/⍵×⍵}⍤1 ⊢ A",
    "{⍵÷⌈/|⍵}⍤1 ⊢ ⌽A",
])  # fmt: skip
def test_chains(text: str, kind: type, programs: list[LoopProgram], monkeypatch: pytest.MonkeyPatch) -> None:
    """Of rows, forwards, backwards and strided, and of short rows side by side: the bits of NumPy's tier."""
    monkeypatch.setattr(single_device, "stays_within_peak", lambda chained, apart: True)
    core = checked(f"input A : {'f64' if kind is np.float64 else 'f32'}[r c]\noutput r ← {text}\n")
    assert core is not None
    chained = 0
    for place, shape in enumerate(((37, 33), (5, 257), (260, 66), (2, 4099), (1700, 5), (5, 1700))):
        drawn = np.random.default_rng(place).standard_normal(shape).astype(kind)
        for array in (drawn, np.asfortranarray(drawn), drawn[:, ::-1])[:: 1 if place % 2 else 2]:
            results = []
            for mode in ("always", "off"):
                monkeypatch.setenv(tiering.SWITCH, mode)
                chains._row_kernels.clear()
                bound = backend.load(core, {"A": array}, {})
                plan = backend.plan(bound)
                chained += any(isinstance(step, RowsStep) for queue in plan.main.queues for step in queue.steps)
                results.append(backend.execute(plan, bound, {"A": array}).outputs["r"].value)
            assert same_bits(*results), shape
    assert programs and chained >= 6  # rows that are too short for their number are no chain


@pytest.mark.parametrize("bytes", [16, 32, 64])
@pytest.mark.parametrize(("items", "loops"), [("64", 1), ("n", 2), ("63", 2), ("1", 1), ("0", 0)])
def test_loops_that_nothing_goes_to_are_not_written(items: str, loops: int, bytes: int) -> None:
    """Of 64 items nothing is left over: the loop over the rest would never run."""
    text = f"""program doubled(n) {{
  input x: f64[n]
  output y: f64[n]
  for k in 0..{items} vector {{
    a = x[k]
    b: f64 = add(a, a)
    y[k] = b
  }}
}}"""
    counters = llvm_text(parse(text), bytes).count("phi <1 x i64>")
    assert counters == loops + (bytes < 64 and items in ("n", "63"))  # without masks, single vectors and single items


PRODUCTS = [
    ("A+.×x", "A : K[r n]", "x : K[n]"), ("x+.×A", "A : K[n r]", "x : K[n]"), ("(⍉A)+.×x", "A : K[n r]", "x : K[n]"),
    ("+/(A-⍤1⊢x)*2", "A : K[r n]", "x : K[n]"), ("(A+.×x)+A+.×-x", "A : K[r n]", "x : K[n]"),
]  # fmt: skip


@pytest.mark.parametrize("kind", ["f64", "f32", "c128"])
def test_products_with_a_vector_have_the_bits_of_each_row_alone(kind: str, programs: list[LoopProgram]) -> None:
    """Rows fewer and more than those reduced at once, of a vector, of a row of lanes, of several and of several blocks."""
    rng, dtype = np.random.default_rng(5), {"f64": np.float64, "f32": np.float32, "c128": np.complex128}[kind]
    for rows, length in ((1, 300), (3, 31), (4, 256), (7, 700), (9, 1023), (6, 8193), (70, 600)):
        x = rng.standard_normal(length).astype(dtype)
        x[:: 1 + length // 3] = -0.0
        A = (rng.standard_normal((rows, length)) * 1e3 ** rng.integers(-2, 2, (rows, length))).astype(dtype)
        for text, matrix, vector in PRODUCTS:
            core = checked(f"input {matrix}\ninput {vector}\noutput r ← {text}\n".replace("K", kind))
            assert core is not None, text
            inputs = {"A": np.ascontiguousarray(A.T) if "n r" in matrix else A, "x": x}
            results = []
            for mode in ("off", "always"):
                with kernels(mode):
                    results.append(run_plan(core, inputs).outputs["r"].value)
            off, compiled = results
            assert off.tobytes() == compiled.tobytes(), (text, rows, length)
    assert programs
