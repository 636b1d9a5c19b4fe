"""Reductions by functions that are not associative: from the right, one item after the other, on NumPy, in kernels, in loops."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import rho
from rho.backend.cpu import numpy_reductions
from rho.backend.cpu.numpy_reductions import right_fold
from rho.backend.cpu.numpy_scalars import implementation
from rho.backend.cpu.views import DTYPES
from rho.backend.jit import tiering
from rho.backend.lower.body import legalize
from rho.backend.reference import reductions
from rho.backend.vm.values import Array, array
from rho.tests.backend.library.agreeing import agree, raw
from rho.tests.backend.library.test_reducing import CHAOTIC, DYADIC, ROUNDED, operands
from rho.tests.harness import tiers
from rho.tests.harness.tiers import checked
from rho.tests.kernels.phases import apply, data, phase, projection, read, run, same_bits
from rho.typechecker.elements import SUMMED, Kind

NOT_SUMMED = [(function, kind) for function, kind in DYADIC if function not in SUMMED]
IN_KERNELS = ["sub", "div", "pow", "log", "residue", "lt", "ge", "ne", "nand", "nor"]
MODES = [tiering.Mode.OFF, tiering.Mode.ALWAYS]


def reduced(function: str, value: Array, axis: int, mode: tiering.Mode) -> Any:
    """The structured phase that reduces an axis of a value."""
    shape = value.shape
    axes = [*(a if a < axis else a - 1 for a in range(len(shape)))]
    axes[axis] = len(shape) - 1
    space = [*shape[:axis], *shape[axis + 1 :], shape[axis]]
    made = phase(space, [projection(space, shape, axes)], [read(0, value.kind)], [0], function)
    if mode is tiering.Mode.ALWAYS and (0 in shape or legalize(made, complexes=True) is None):
        mode = tiering.Mode.OFF
    (found,) = run(made, [raw(value)], mode)
    return np.asarray(found)


@pytest.mark.parametrize(("function", "kind"), NOT_SUMMED)
def test_every_function_agrees_with_the_reference(function: str, kind: Kind) -> None:
    tolerance = 64.0 if kind.is_complex or (function in ROUNDED and kind.is_float) else 0.0
    for shape in [(0,), (1,), (2,), (3,), (9,), (4, 3), (3, 11), (0, 2), (2, 5, 2), (19, 21)]:
        value = operands(function, kind, shape)
        for axis, mode in itertools.product(range(len(shape)), MODES):
            if (kind.is_complex and function in CHAOTIC and shape[axis] > 2) or (function == "ipow" and shape[axis] > 11):
                continue
            try:
                want = reductions.reduce(function, value, axis)
            except Exception as failure:  # the same one
                with pytest.raises(type(failure)):
                    reduced(function, value, axis, mode)
                continue
            assert agree(reduced(function, value, axis, mode), want, tolerance), (shape, axis, mode, value, want)


@pytest.mark.parametrize("function", ["nand", "nor", "eq", "ne", "lt", "le", "ge", "gt"])
def test_truth_functions_on_every_short_vector(function: str) -> None:
    for length, mode in itertools.product(range(1, 7), MODES):
        items = list(itertools.product((False, True), repeat=length))
        value = array(Kind.BOOL, (len(items), length), [v for row in items for v in row])
        assert agree(reduced(function, value, 1, mode), reductions.reduce(function, value, 1))


@pytest.mark.parametrize("turned", [False, True], ids=["rows", "columns"])
@pytest.mark.parametrize("function", IN_KERNELS)
def test_kernels_have_the_bits_of_one_item_after_the_other(function: str, turned: bool) -> None:
    """Long and short rows, whatever lies side by side, however many threads."""
    kind = Kind.BOOL if function in ("nand", "nor") else Kind.F64
    for shape in [(9001,), (3, 700), (700, 3), (1, 50), (40, 33), (2, 30, 40)]:
        rank = len(shape)
        axes = [*range(1, rank), 0] if turned else [*range(rank)]
        items = data(kind, math.prod(shape), 7).reshape([shape[axis] for axis in axes])
        body = [read(0, kind), apply("or" if kind is Kind.BOOL else "mul", (0, 0), kind)]
        made = phase(shape, [projection(shape, items.shape, axes)], body, [1], function)
        (plain,) = run(made, [items], tiering.Mode.OFF)
        for threads in (1, 3):
            (found,) = run(made, [items], tiering.Mode.ALWAYS, threads)
            if function in ("pow", "log"):  # kernels have their own, within a bound
                np.testing.assert_allclose(found, plain, rtol=1e-12)
            else:
                assert same_bits(np.asarray(found), np.asarray(plain)), (shape, threads)


@pytest.mark.parametrize("kind", [Kind.F64, Kind.F32, Kind.C128, Kind.C64])
@pytest.mark.parametrize("function", ["pow", "log"])
def test_long_folds_call_no_function_of_arrays_for_each_item(function: str, kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bits of one call of arrays after the other, of lines that lie in any way."""
    if kind.is_complex and function == "log":
        return
    rng, apply_arrays = np.random.default_rng(3), implementation(function, kind, kind)
    items = rng.uniform(0.5, 1.5, (300, 4)).astype(DTYPES[kind])
    items[rng.integers(0, 300, 9), 1] = [0, -0.0, 1, np.nan, np.inf, -2, -1, 2, 0.5]
    lines = [items[:, 0], items[:, 1], items[::-1, 2], np.broadcast_to(items[0, 0], 300), items[:100].copy()]
    for line in lines:
        with np.errstate(all="ignore"):
            expected = np.asarray(line[-1])
            for item in line[-2::-1]:
                expected = np.asarray(apply_arrays(item, expected))
            with monkeypatch.context() as patch:
                patch.setattr(numpy_reductions, "implementation", lambda *given: None)
                assert np.array_equal(right_fold(function, kind, line), expected, equal_nan=True)


def test_what_numpy_does_item_by_item_is_compiled_at_once() -> None:
    """A few thousand calls of NumPy cost more than a compiler; what NumPy does at once does not."""

    def saving(function: str, kind: Kind) -> float:
        shape = [tiering.SMALL]
        body = legalize(phase(shape, [projection(shape, shape, [0])], [read(0, kind)], [0], function), complexes=True)
        assert body is not None
        return tiering.saving(body, tiering.SMALL)

    for function, kind in (
        ("pow", Kind.F64),
        ("residue", Kind.I64),
        ("div", Kind.F64),
        ("div", Kind.C128),
        ("sub", Kind.C128),
        ("div", Kind.F32),
    ):
        assert saving(function, kind) >= tiering.COMPILE_NANOSECONDS
    for function, kind in (("sub", Kind.F64), ("lt", Kind.I64), ("nand", Kind.BOOL)):
        assert saving(function, kind) < tiering.COMPILE_NANOSECONDS


PROGRAMS = {
    "along": "-/x", "down": "÷⌿x", "of what is made": "|/1+x×x", "of a counter": "-/0.5×⍳≢x", "twice": "(-/x)+÷/x",
    "beside a sum": "(+/x)--/x", "two columns": "-/x[;0 1]", "in a loop": "{⍵+-/x×⍵}⍣5⊢(≢x)⍴1.0", "of nothing": "-/0↑[1]x",
    "in a loop, of nothing": "{⍵+÷/0↑[1]x×⍵}⍣3⊢(≢x)⍴1.0", "of complex numbers": "÷/x×0J1+x", "rows": "{-/⍵×⍵}⍤1⊢x",
    "down in a loop": "{⍵+*⌿0.5×x}⍣3⊢(1⊃⍴x)⍴1.0",
}  # fmt: skip


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=list(PROGRAMS))
@pytest.mark.parametrize("mode", ["off", "always"])
def test_programs_agree_with_the_reference(text: str, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RHO_KERNELS", mode)
    for shape in ((3, 4), (1, 2), (7, 5)):
        core = checked(f"input x : f64[{shape[0]} {shape[1]}]\n{text}\n")
        assert core is not None
        x = np.random.default_rng(5).uniform(0.5, 1.5, shape).astype(DTYPES[Kind.F64])
        assert tiers.agree(core, {"x": x}) == []


@pytest.mark.parametrize("mode", ["off", "always"])
def test_the_first_item_that_fails_is_told(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though the last one is the first to be reduced."""
    monkeypatch.setenv("RHO_KERNELS", mode)
    x = np.array([1.0, 1e300, 2.0, 1e301, 3.0] * 2000)
    for function in ("-", "|", "+"):
        with pytest.raises(rho.RhoError, match="floor of 1E300"):
            rho.compile(f"{{{function}/⌊⍵}}")(x)
