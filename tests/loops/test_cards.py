"""Loop programs for cards: well formed, read as they are printed, and the same whatever the order of blocks and threads.

What threads leave for each other must stand behind a barrier: the interpreter takes the iterations of a loop in any order, which
tests of the printed text on the host cannot show.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from rho.backend.codegen.gpu_printer import gpu_text
from rho.backend.codegen.gpu_targets import CUDA
from rho.backend.gpu.launch import run_text
from rho.backend.loopir import verifier
from rho.backend.loopir.ir import LoopProgram, ViewRole
from rho.backend.loopir.templates import GpuScanForm, KeyedReductionForm as Keyed, gpu_keyed_reduction, gpu_scan
from rho.backend.loopir.text import parse, show
from rho.backend.lower.body import Kernel, build_kernel, legalize
from rho.backend.lower.loop_order import plan_nest
from rho.backend.lower.phase import gpu_kernel, length_class
from rho.tests.backend import cuda_stub
from rho.tests.kernels import cuda_host
from rho.tests.kernels.phases import apply, phase, projection, read
from rho.tests.loops.running import arrays, results
from rho.typechecker.elements import Kind


def kernel(space: list[int], reduction: str | None, *, turned: bool = False, kind: Kind = Kind.F64) -> Kernel:
    axes = list(range(len(space)))
    made = phase(space, [projection(space, space[::-1] if turned else space, axes[::-1] if turned else axes)],
                 [read(0, kind), apply("mul", (0, 0), kind)], [1], reduction)  # fmt: skip
    body = legalize(made)
    assert body is not None
    strides, step = [0] * len(space), kind.bytes
    for axis in axes if turned else reversed(axes):
        strides[axis], step = step, step * space[axis]
    return build_kernel(body, plan_nest(tuple(space), reduction is not None, [tuple(strides)], body.coordinates), [kind])


def reducing(space: list[int], reduction: str = "add", *, turned: bool = False) -> tuple[LoopProgram, dict[str, int]]:
    made = kernel(space, reduction, turned=turned)
    sizes = {f"n{axis}": size for axis, size in enumerate(space)} | {f"o{axis}": 0 for axis in range(len(space))}
    return gpu_kernel(made, length_class(space[-1])), sizes | {"blocks": -(-space[-1] // 4096)}


CHOOSING = """program choosing(n, m) {
  input x: f64[n]
  output y: f64[n]
  output z: bool[n]
  zero: f64 = 0.0
  for i in 0..n vector {
    v = x[i]
    low: bool = lt:f64(v, zero)
    if low {
      w: f64 = neg(v)
      z[i] = low
    } else {
      u: f64 = add(v, v)
    } chosen (r: f64 = w | u)
    if low { } else { z[i] = low }
    high: bool = le:f64(v, r)
    y[i] = r if high
    far: bool = le:i64(m, i)
    fail 3 if far
  }
}
"""

PROGRAMS = {
    "branches": (parse(CHOOSING), {"n": 300, "m": 300}),
    "a check that fails": (parse(CHOOSING), {"n": 1, "m": 0}),
    "a map": (gpu_kernel(kernel([7], None)), {"n0": 7, "o0": 0}),
    "rows": reducing([5, 70]),
    "a line": reducing([300]),
    "blocks of a line": reducing([3 * 4096 + 50]),
    "columns": reducing([37, 70], turned=True),
    "short columns": reducing([37, 3], turned=True),
    "places": reducing([3, 300], "argmax"),
    "lines scanned": (gpu_scan("add", Kind.F64, GpuScanForm.LINES), {"tables": 2, "length": 70, "cells": 3}),
    "a block scanned": (gpu_scan("ne", Kind.BOOL, GpuScanForm.BLOCK), {"lines": 2, "length": 300}),
    "joined as they come": (
        gpu_keyed_reduction("max", Kind.I64, Keyed.SCATTER, checked=True), {"count": 70, "width": 3, "bins": 9},
    ),
    "truth values joined": (
        gpu_keyed_reduction("or", Kind.BOOL, Keyed.SCATTER, checked=True), {"count": 70, "width": 1, "bins": 9},
    ),
    "few bins": (gpu_keyed_reduction("add", Kind.I32, Keyed.FEW, checked=False), {"count": 9000, "bins": 9}),
    "a key that names no bin": (gpu_keyed_reduction("min", Kind.I32, Keyed.FEW, checked=True), {"count": 1, "bins": 0}),
    "blocks scanned": (gpu_scan("add", Kind.F32, GpuScanForm.BLOCKS), {"lines": 1, "length": 4200, "blocks": 2}),
    "totals of blocks": (gpu_scan("ne", Kind.BOOL, GpuScanForm.TOTALS), {"lines": 1, "length": 4200, "blocks": 2}),
    "blocks scanned on": (gpu_scan("mul", Kind.F64, GpuScanForm.AFTER), {"lines": 1, "length": 4200, "blocks": 2}),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_well_formed(name: str) -> None:
    program, _ = PROGRAMS[name]
    verifier.verify(program)
    assert parse(show(program)) == program


def shuffled(iterations: Sequence[int]) -> Sequence[int]:
    return random.Random(len(iterations)).sample(iterations, len(iterations))


@pytest.mark.parametrize("name", PROGRAMS)
def test_any_order_of_threads(name: str) -> None:
    program, sizes = PROGRAMS[name]
    wanted = results(program, sizes)
    assert wanted == results(program, sizes, order=lambda iterations: iterations[::-1]) == results(program, sizes, order=shuffled)


@pytest.mark.skipif(cuda_host.COMPILER is None, reason="no C++ compiler")
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_text_means_what_the_program_does(name: str) -> None:
    program, sizes = PROGRAMS[name]
    memory, words = arrays(program, sizes), list(sizes.values())
    for view in program.views:
        if view.role is not ViewRole.SCRATCH:
            array = memory[view.name]
            words += cuda_stub.over(array), *array.strides[: array.ndim - (view.unit and array.ndim > 0)]
    has_failed = run_text(cuda_stub.card().card, gpu_text(program, CUDA), words)
    made = [memory[view.name].tobytes() for view in program.views if view.role is ViewRole.OUTPUT]
    *wanted, record = results(program, sizes)
    assert has_failed == (record is not None) and made == wanted
