"""Structured phases made by hand, and both ways to run them: through kernels and on NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rho.backend.cpu import kernels as compiled
from rho.backend.cpu.phases import compile_structured
from rho.backend.cpu.views import DTYPES
from rho.backend.graph.phases import (
    ARGUMENT_REDUCTIONS,
    Affine,
    AffineIndex,
    ApplyNode,
    Axis,
    AxisKind,
    Node,
    PhaseId,
    PhaseResult,
    Projection,
    Read,
    ReadNode,
    Structured,
    Term,
    ValueId,
)
from rho.backend.jit import tiering
from rho.lang.syntax.source import Span
from rho.typechecker.elements import FUNCTIONS, Kind, real_kind
from rho.typechecker.sizes.polynomials import number

SPAN = Span("<test>", 0, 1)
KINDS = {dtype.num: kind for kind, dtype in DTYPES.items()}
RESULT = 1000


def kind_of(array: Any) -> Kind:
    return KINDS[array.dtype.num]


def projection(
    space: Sequence[int], shape: Sequence[int], axes: Sequence[int], steps: Sequence[int] = (), starts: Sequence[int] = ()
) -> Projection:
    """Operand axis d is read at `steps[d] × point[axes[d]] + starts[d]`."""
    steps, starts = steps or [1] * len(axes), starts or [0] * len(axes)
    indices = tuple(AffineIndex((Term(a, s),), number(c)) for a, s, c in zip(axes, steps, starts, strict=True))
    return Projection((Affine(indices, tuple(map(number, shape))),))


def phase(
    space: Sequence[int], reads: Sequence[Projection], body: Sequence[Node], nodes: Sequence[int], reduction: str | None = None
) -> Structured:
    """Results are body nodes; with a `reduction` the last axis is reduced."""
    kinds = [AxisKind.PARALLEL] * (len(space) - 1) + [AxisKind.REDUCE if reduction else AxisKind.PARALLEL]
    axes = tuple(Axis(number(n), kind) for n, kind in zip(space, kinds[-len(space) :] if space else [], strict=True))
    return Structured(
        PhaseId(0), SPAN, axes, tuple(Read(ValueId(i), p) for i, p in enumerate(reads)), tuple(body),
        tuple(PhaseResult(ValueId(RESULT + i), node, reduction) for i, node in enumerate(nodes)),
    )  # fmt: skip


def node_kind(body: Sequence[Node], node: int) -> Kind:
    return getattr(body[node], "kind", Kind.I64)


def run(made: Structured, arrays: Sequence[Any], mode: tiering.Mode, threads: int = 1, overwrite: Any = None) -> tuple[Any, ...]:
    kinds = {ValueId(i): kind_of(a) for i, a in enumerate(arrays)}
    kinds |= {r.value: Kind.I64 if r.reduction in ARGUMENT_REDUCTIONS else node_kind(made.body, r.node) for r in made.results}
    before = tiering.mode
    try:
        tiering.mode = lambda: mode  # type: ignore[assignment]
        kernel = compile_structured(made, kinds.__getitem__, lambda size: size.evaluate({}), threads)
    finally:
        tiering.mode = before
    owner = getattr(kernel, "__self__", None)
    if mode is tiering.Mode.ALWAYS:
        assert isinstance(owner, compiled.CompiledRun), "kernels do not take this phase"
    with np.errstate(all="ignore"):
        results = kernel({ValueId(i): a for i, a in enumerate(arrays)}, overwrite)
    if mode is tiering.Mode.ALWAYS:
        assert all(isinstance(b, compiled.BoundKernel) for b in owner.kept.values()), "the phase ran on NumPy"
    return results


def both(made: Structured, arrays: Sequence[Any], threads: int = 1) -> list[tuple[Any, Any]]:
    """(through a kernel, on NumPy) of every result."""
    kernels = run(made, arrays, tiering.Mode.ALWAYS, threads)
    plain = run(made, arrays, tiering.Mode.OFF)
    return list(zip(kernels, plain, strict=True))


def same_bits(left: Any, right: Any) -> bool:
    """Equal shapes, dtypes and bits; any NaN is like any other."""
    if left.shape != right.shape or left.dtype != right.dtype:
        return False
    if left.dtype.kind == "c":
        return same_bits(left.real, right.real) and same_bits(left.imag, right.imag)
    if left.dtype.kind != "f":
        return bool(np.array_equal(left, right))
    nan = np.isnan(left)
    word = np.dtype(f"i{left.dtype.itemsize}")
    a, b = np.ascontiguousarray(left).view(word), np.ascontiguousarray(right).view(word)
    return bool(np.array_equal(nan, np.isnan(right)) and np.array_equal(a[~nan], b[~nan]))


def apply(function: str, args: Sequence[int], compute: Kind, parameter: int = 0, to: Kind | None = None) -> ApplyNode:
    kind = to or FUNCTIONS[function].result_kind(compute, parameter)
    assert kind is not None
    return ApplyNode(function, tuple(args), kind, parameter, SPAN if function in ("convert_checked", "floor", "ceil") else None)


def read(index: int, kind: Kind) -> ReadNode:
    return ReadNode(index, kind)


SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 1e-310, 1.7976931348623157e308, 0.5, -0.5, 2.5, 1e-40,
           3e38]  # fmt: skip
LIMITS = {Kind.U8: (0, 255), Kind.I32: (-(2**31), 2**31 - 1), Kind.I64: (-(2**63), 2**63 - 1), Kind.CHAR: (0, 0x10FFFF)}


def data(kind: Kind, count: int, seed: int) -> Any:
    """Ordinary items with every special value of the kind among them."""
    rng = np.random.default_rng(seed)
    dtype = DTYPES[kind]
    if kind is Kind.BOOL:
        return rng.random(count) < 0.5
    if kind.is_complex:
        parts = np.empty(count, dtype)
        parts.real, parts.imag = data(real_kind(kind), count, seed), data(real_kind(kind), count, ~seed & 0xFFFF)
        return parts
    if kind.is_float:
        made = rng.standard_normal(count).astype(dtype)
        with np.errstate(all="ignore"):
            special = np.array(SPECIAL).astype(dtype)
    else:
        low, high = LIMITS[kind]
        made = rng.integers(max(low, -9), min(high, 90), count).astype(dtype)
        special = np.array([low, high, low + 1, high - 1, 0, 1, 2, 7], dtype)
        if low < 0:
            special = np.concatenate((special, np.array([-1, -2, -7], dtype)))
    where = rng.random(count) < 0.4
    made[where] = rng.choice(special, int(where.sum()))
    return made
