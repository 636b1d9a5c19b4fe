"""Quotients by corrected reciprocals have the bits of divisions, at both ends of the range and near halfway cases."""

from __future__ import annotations

import numpy as np
import pytest

from rho import backend
from rho.backend.codegen.llvm_printer import llvm_text
from rho.backend.graph.phases import ApplyNode, ReadNode
from rho.backend.jit import tiering
from rho.backend.jit.compiler import has_feature
from rho.backend.lower.body import Body, BodyResult, Kernel, KernelOperand
from rho.backend.lower.loop_order import Form, VectorStride
from rho.backend.lower.rows import program_of
from rho.tests.harness.tiers import checked
from rho.tests.kernels.phases import apply, both, data, phase, projection, read, same_bits
from rho.typechecker.elements import Kind

TEXT = "input A : {kind}[r c]\noutput r ← {{⍵÷⌈/⍵}}⍤1 ⊢ A\n"


@pytest.mark.parametrize("kind", ["f64", "f32"])
def test_quotients(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The greatest item of a row is its divisor; mantissas with long runs of ones and zeros are the hard ones."""
    monkeypatch.setenv(tiering.SWITCH, "always")
    dtype = np.dtype(np.float64 if kind == "f64" else np.float32)
    digits, reach = (52, 290) if kind == "f64" else (23, 36)
    rng = np.random.default_rng(5)
    rows, columns = 300, 512
    whole = rng.integers(0, 1 << digits, (rows, columns))
    runs = (1 << rng.integers(0, digits, (rows, columns))) * rng.choice([-1, 1], (rows, columns)) % (1 << digits)
    mantissas = 1 + np.where(rng.random((rows, columns)) < 0.5, whole, runs) / 2.0**digits
    values = (mantissas * 10.0 ** rng.integers(-reach, reach, (rows, 1)) * 2.0 ** rng.integers(-40, 0, (rows, columns))).astype(
        dtype
    )
    values[::7, ::5] = rng.choice(np.array([0.0, -0.0, 1e-300, 1e-320, -1e-40], dtype), values[::7, ::5].shape)
    values[3, 3], values[4, 4] = np.inf, np.nan
    core = checked(TEXT.format(kind=kind))
    assert core is not None
    bound = backend.load(core, {"A": values}, {})
    got = backend.execute(backend.plan(bound), bound, {"A": values}).outputs["r"].value
    with np.errstate(all="ignore"):
        assert same_bits(got, values / np.maximum.reduce(values, 1, keepdims=True))


@pytest.mark.parametrize("kind", [Kind.F64, Kind.F32])
def test_any_loop_that_divides_by_one_number(kind: Kind) -> None:
    """The number, or the items, at either end of the range; zeros, infinities and NaN."""
    space, last = [1000], 1e300 if kind is Kind.F64 else 1e37
    made = phase(space, [projection(space, space, [0]), projection(space, [1], [0], [0])],
                 [read(0, kind), read(1, kind), apply("div", (0, 1), kind)], [2])  # fmt: skip
    for number in (3.0, -7.3, 1 / last, last, 0.0, -0.0, np.inf, np.nan):
        items = data(kind, 1000, 1)
        items[:6] = 0.0, -0.0, np.inf, np.nan, last, 1 / last
        for kernel, plain in both(made, [items, np.array([number], items.dtype)]):
            assert same_bits(kernel, plain), number


def test_only_a_number_that_is_known_before_the_loop_is_prepared() -> None:
    if not has_feature("fma"):
        pytest.skip("the processor has no fused multiply-add")
    for moves, multiplies in ((False, True), (True, False)):
        operands = (KernelOperand(Kind.F64, VectorStride.UNIT, (True,)), KernelOperand(Kind.F64,
            VectorStride.UNIT if moves else VectorStride.NONE, (moves,)))
        nodes = ReadNode(0, Kind.F64), ReadNode(1, Kind.F64), ApplyNode("div", (0, 1), Kind.F64)
        kernel = Kernel(Form.MAP, 1, operands, Body(nodes, (BodyResult((2,), Kind.F64, None),)))
        assert ("@llvm.fma" in llvm_text(program_of(kernel), 32)) == multiplies
