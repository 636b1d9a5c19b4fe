"""Generated CUDA C++: what it looks like, and that NVRTC accepts what the test programs generate, without a word.

A sample of the programs, in few modules; `RHO_TEST_NVRTC=all` compiles the kernels of every program, each on its own.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator

import pytest

from rho import backend
from rho.backend.codegen.gpu_printer import GpuText, gpu_text
from rho.backend.codegen.gpu_targets import CUDA
from rho.backend.cpu.views import DTYPES
from rho.backend.gpu.launch import Launch, _compiled, nests_of
from rho.backend.graph import traverse
from rho.backend.graph.phases import Loop, Structured, ValueId
from rho.backend.loopir.templates import KeyedReductionForm as Keyed, gpu_keyed_reduction
from rho.backend.lower.body import Kernel, build_kernel, legalize
from rho.backend.lower.loop_order import Form, plan_nest
from rho.backend.lower.phase import gpu_kernel
from rho.backend.vm.run_state import Types
from rho.lang.diagnostics.model import RhoError
from rho.tests.backend import cuda_stub
from rho.tests.backend.test_differential import DECLARED, PROGRAMS, data
from rho.tests.harness.tiers import checked
from rho.tests.kernels import cuda_host, nvrtc
from rho.tests.kernels.phases import apply, phase, projection, read
from rho.tests.kernels.test_programs import LOOPS, STENCILS
from rho.typechecker.elements import Kind

ALL = os.environ.get("RHO_TEST_NVRTC", "") == "all"
needs_nvrtc = pytest.mark.skipif(nvrtc.library() is None, reason="nvidia-cuda-nvrtc-cu12 is not installed")


def kernel_of(made: Structured, kinds: list[Kind], strides: list[tuple[int, ...]], space: tuple[int, ...]) -> Kernel:
    body = legalize(made)
    assert body is not None
    return build_kernel(body, plan_nest(space, made.results[0].reduction is not None, strides, body.coordinates), kinds)


# ------------------------------------------------------------------------------------------- goldens

MAP = """extern "C" __global__ void __launch_bounds__(256) nest0(const i64 n0_, const i64 o0_, const char *x0_base, \
const i64 x0_at, const i64 x0_0, const char *x1_base, const i64 x1_at, const i64 x1_0, char *y0_base, const i64 y0_at, \
const i64 y0_0) {
  const char *x0 = x0_base + x0_at;
  const char *x1 = x1_base + x1_at;
  char *y0 = y0_base + y0_at;
  const float v1_ = *(const float *)(x1);
  if ((i64)blockIdx.x * 256 + threadIdx.x >= n0_) return;
  const i64 k2_ = (i64)blockIdx.x * 256 + threadIdx.x;
  const float v3_ = *(const float *)(x0 + k2_ * 4);
  const float v4_ = v3_ * v1_;
  *(float *)(y0 + k2_ * 4) = v4_;
}
"""


def text_of(kernel: Kernel) -> GpuText:
    return gpu_text(gpu_kernel(kernel), CUDA)


def test_a_map() -> None:
    body = [read(0, Kind.F32), read(1, Kind.F32), apply("mul", (0, 1), Kind.F32)]
    made = phase([9], [projection([9], [9], [0]), projection([9], [], [])], body, [2])
    text = text_of(kernel_of(made, [Kind.F32] * 2, [(4,), (0,)], (9,)))
    assert text.source == CUDA.prelude + MAP
    assert [grid.blocks({"n0": 1000}) for grid in text.grids] == [4] and not text.is_checked and not text.scratch


def test_forms() -> None:
    """The threads of a row, and those of a column, share memory; both leave partial results, which a second nest joins."""
    made = phase([9, 9999], [projection([9, 9999], [9, 9999], [0, 1])], [read(0, Kind.F64)], [0], "add")
    rows = kernel_of(made, [Kind.F64], [(9999 * 8, 8)], (9, 9999))
    columns = kernel_of(made, [Kind.F64], [(8, 72)], (9, 9999))
    assert (rows.form, columns.form) == (Form.REDUCE_INNER, Form.REDUCE_OUTER)
    along, across = text_of(rows), text_of(columns)
    assert "__shared__ double lanes1[256];" in along.source and "__shared__ double lanes1[2048];" in across.source
    sizes = {"n0": 9, "n1": 9999, "blocks": 3}
    assert [grid.blocks(sizes) for grid in along.grids] == [27, 9] and [grid.blocks(sizes) for grid in across.grids] == [3, 9]
    short = gpu_text(gpu_kernel(rows, 256), CUDA)
    assert len(short.grids) == 1 and not short.scratch


def test_what_is_not_needed_is_not_computed() -> None:
    """Nothing is loaded of an operand that the results do not need; a flag is taken only with checks."""
    body = [read(0, Kind.F64), read(1, Kind.F64), apply("neg", (1,), Kind.F64), apply("floor", (0,), Kind.F64)]
    made = phase([5, 7], [projection([5, 7], [5, 7], [0, 1])] * 2, body, [3])
    text = text_of(kernel_of(made, [Kind.F64] * 2, [(80, 16), (56, 8)], (5, 7)))
    assert text.is_checked and "failed = 1; return;" in text.source and "(x1 +" not in text.source


def test_nothing_is_rounded_otherwise_than_the_processor_does() -> None:
    assert {"--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true"} <= set(CUDA.options)


def test_constants_keep_their_bits() -> None:
    from rho.backend.codegen.gpu_scalars import number

    assert number(Kind.F64, 0.1) == "0x1.999999999999ap-4" and number(Kind.F64, -0.0) == "-0x0.0p+0"
    assert number(Kind.F32, 0.5) == "0x1.0000000000000p-1f"
    assert number(Kind.F64, float("-inf")) == "(-__longlong_as_double(0x7ff0000000000000))"
    assert number(Kind.I64, -(1 << 63)) == "((i64)-9223372036854775807 - 1)"


# --------------------------------------------------------------------------------------------- NVRTC


def texts_of(program: str, n: int, r: int, c: int) -> Iterator[GpuText]:
    """The kernels that a program would launch."""
    core = checked(DECLARED + program)
    if core is None:
        return
    try:
        bound = backend.load(core, data(n, r, c), {})
    except RhoError:
        return
    types, sizes = bound.graph.types, dict(bound.sizes)
    card = cuda_stub.card().card

    def kind(value: ValueId) -> Kind:
        return types[value].element.kind

    for one in traverse.all_phases(bound.graph):
        if any(v not in sizes for size in traverse.sizes(one) for v in size.variables()):
            continue
        launch = None
        if isinstance(one, Structured):
            launch = _compiled(card, one, kind, lambda size: size.evaluate(sizes))
        elif isinstance(one, Loop):
            _, program = nests_of(one, Types(types, sizes, bound.graph.guards))
            if program is not None:
                yield gpu_text(program, CUDA)
        if not isinstance(launch, Launch):
            continue
        strides = []
        for value, reading in launch.reads:
            shape = tuple(size.evaluate(sizes) for size in types[value].shape)
            strides.append(reading(card.empty(shape, DTYPES[kind(value)])).strides)
        yield launch.bound(strides).text


def together(texts: list[str]) -> str:
    """Several kernels as one module."""
    parts = []
    for place, text in enumerate(texts):
        own = re.sub(r"(__launch_bounds__\(\d+\) \w+)\(", rf"\1_{place}(", text.removeprefix(CUDA.prelude))
        parts.append(f"namespace k{place} {{\n{own}}}\n")
    return CUDA.prelude + "".join(parts)


def programs() -> list[str]:
    every = [*PROGRAMS, *LOOPS, *STENCILS]
    return every if ALL else [*PROGRAMS[::3], *LOOPS[::3]]


@needs_nvrtc
def test_nvrtc_accepts_the_kernels_of_programs() -> None:
    shapes = ((23, 3, 40), (9, 40, 3), (1, 1, 1)) if ALL else ((23, 3, 40),)
    pairs = itertools.product(programs(), shapes)
    found = list(dict.fromkeys(text.source for program, shape in pairs for text in texts_of(program, *shape)))
    assert len(found) > (150 if ALL else 25)
    size = 1 if ALL else 30
    for first in range(0, len(found), size):
        own = found[first : first + size]
        source = own[0] if size == 1 else together(own)
        made = nvrtc.compile_text(source)
        assert not made.log, source
        assert made.ptx.count(".entry") == source.count('extern "C"')
        if not any(
            name in source for name in (" sin(", " cos(", " fma(", " fmaf(")
        ):  # nothing is contracted that is not asked for
            assert "fma." not in made.ptx, source


@needs_nvrtc
def test_nvrtc_accepts_every_function() -> None:
    """Beside what programs use: every function on every kind, and the mathematics, with nothing contracted."""
    from rho.tests.kernels.test_cuda_semantics import together as functions
    from rho.tests.kernels.test_functions import EXACT

    texts = []
    for made, arrays in functions(EXACT):
        kind = next(k for k, d in DTYPES.items() if d == arrays[0].dtype)
        texts.append(text_of(kernel_of(made, [kind] * 2, [(kind.bytes,)] * 2, (333,))))
    for kind in (Kind.F32, Kind.F64):
        body = [read(0, kind), *(apply(f, (0,), kind) for f in ("exp", "ln", "erf")),
                *(apply("circular", (0,), kind, k) for k in (1, 7))]  # fmt: skip
        made = phase([9], [projection([9], [9], [0])], body, range(1, len(body)))
        texts.append(text_of(kernel_of(made, [kind], [(kind.bytes,)], (9,))))
    made_all = nvrtc.compile_text(together([text.source for text in texts]))
    assert not made_all.log


def recorded(monkeypatch: pytest.MonkeyPatch) -> dict[str, None]:
    """The texts that are loaded from now on."""
    seen: dict[str, None] = {}

    class Recorded(cuda_stub.RawModule):
        def __init__(self, code: str, options: tuple[str, ...]) -> None:
            seen[code] = None
            super().__init__(code, options)

    monkeypatch.setattr(cuda_stub, "RawModule", Recorded)
    monkeypatch.setattr("rho.backend.gpu.device._cards", {})
    return seen


REST = """output o ← +\\f
output o ← ⌈⍀A
output o ← {+/⍵}⌸f
output o ← +/A*2
output o ← +⌿A*2""".splitlines()


@needs_nvrtc
@pytest.mark.skipif(cuda_host.COMPILER is None, reason="no C++ compiler")
def test_nvrtc_accepts_what_runs_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops, turns that read neighbours, scans and keyed reductions, as the back end asks for them."""
    from rho.tests.backend.test_cuda_backend import run_on_card

    seen = recorded(monkeypatch)
    for text in [*REST, *(f"output {line}" for line in (*LOOPS[1::6], *STENCILS[:7:3]))]:
        core = checked(DECLARED + text)
        if core is not None:
            run_on_card(core, data(23, 3, 40))
    assert sum("first_" in code for code in seen) >= 2
    assert any("break;" in code and "nest1" not in code for code in seen)
    assert any("tables_" in code for code in seen) and any("lines_" in code for code in seen)
    made = nvrtc.compile_text(together(list(seen)))
    assert not made.log and made.ptx.count(".entry") == "".join(seen).count('extern "C"')


@needs_nvrtc
@pytest.mark.parametrize(("function", "kind"), [("add", Kind.I32), ("min", Kind.I64), ("or", Kind.BOOL), ("max", Kind.I32)])
def test_nvrtc_accepts_keyed_reductions(function: str, kind: Kind) -> None:
    text = together([keyed_text(function, kind, form) for form in Keyed])
    assert not nvrtc.compile_text(text).log


def keyed_text(function: str, kind: Kind, form: Keyed) -> str:
    return gpu_text(gpu_keyed_reduction(function, kind, form, checked=True), CUDA).source


@needs_nvrtc
@pytest.mark.parametrize("architecture", ["compute_75", "sm_80", "sm_90", "compute_90"])
def test_nvrtc_compiles_for_other_cards(architecture: str) -> None:
    """Turing, Ampere and Hopper; CuPy asks for machine code of the card's own."""
    texts = [
        keyed_text("add", Kind.I64, Keyed.FEW),
        keyed_text("add", Kind.F64, Keyed.GROUPED),
        *(t.source for t in texts_of("output r ← +/A", 3, 3, 40)),
    ]
    assert not nvrtc.compile_text(together(texts), architecture).log


@needs_nvrtc
def test_nvrtc_says_what_is_wrong() -> None:
    with pytest.raises(nvrtc.CudaCompileError, match="nonsense"):
        nvrtc.compile_text("nonsense")


def test_the_samples_are_not_empty() -> None:
    texts = [text for program in PROGRAMS[::8] for text in texts_of(program, 23, 3, 40)]
    assert len(texts) > 4 and any(text.scratch or len(text.grids) > 1 or "__shared__" in text.source for text in texts)
