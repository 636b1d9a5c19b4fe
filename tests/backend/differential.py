"""A program through the reference interpreter and through the plan: printed values, outputs and failures must agree."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from rho import backend
from rho.backend.reference import interpret
from rho.backend.run.machine import Results, Shown
from rho.backend.run.values import Array, from_numpy, to_numpy
from rho.lang.diagnostics import RhoError
from rho.lang.source import Source
from rho.typechecker.check import check
from rho.typechecker.core_blocks import Core
from rho.typechecker.elements import Kind

EVERY_PASS = frozenset({"views", "constants", "gathers", "sharing", "dead", "fusion"})


@lru_cache(maxsize=64)
def checked(text: str, origin: int = 0) -> Core | None:
    """The core of an accepted program; tests run one in several ways."""
    source = Source("<test>", ("⎕IO←1\n" if origin else "") + text)
    try:
        return check(source).core
    except RhoError:
        return None


def run_both(core: Core, inputs: Mapping[str, Any], params: Mapping[str, int] | None = None) -> list[str]:
    """What differs between the reference and the plan, with passes on and off."""
    try:
        expected = interpret(core, {name: from_numpy(value) for name, value in inputs.items()}, params or {})
    except RhoError as error:
        return [
            problem
            for without in (frozenset(), EVERY_PASS)
            for problem in _failure(core, inputs, params, without, error.diagnostics[0].code)
        ]
    problems = []
    for without in (frozenset[str](), EVERY_PASS):
        try:
            got = run_plan(core, inputs, params, without)
        except RhoError as error:
            problems.append(f"fails with {error}")
            continue
        problems += _compare(got, expected.printed, expected.outputs)
    return problems


def run_plan(core: Core, inputs: Mapping[str, Any], params: Mapping[str, int] | None = None, without: frozenset[str] = frozenset()
             ) -> Results:  # fmt: skip
    """Load, plan and execute; nothing may warn and no input may change."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        before = {name: np.array(value) for name, value in inputs.items()}
        bound = backend.load(core, inputs, params, without=without)
        results = backend.execute(backend.plan(bound), bound, inputs)
        for name, value in inputs.items():
            assert np.array_equal(value, before[name], equal_nan=value.dtype.kind in "fc"), f"input {name} changed"
    return results


def _failure(
    core: Core, inputs: Mapping[str, Any], params: Mapping[str, int] | None, without: frozenset[str], code: str
) -> list[str]:
    try:
        run_plan(core, inputs, params, without)
    except RhoError as error:
        return [] if error.diagnostics[0].code == code else [f"fails with {error.diagnostics[0].code}, not {code}"]
    return [f"does not fail with {code}"]


def _compare(got: Results, printed: tuple[Array, ...], outputs: Mapping[str, Array]) -> list[str]:
    if len(got.printed) != len(printed):
        return [f"prints {len(got.printed)} values, not {len(printed)}"]
    pairs = [*zip(got.printed, printed, strict=True), *((got.outputs[name], value) for name, value in outputs.items())]
    return [problem for shown, value in pairs if (problem := difference(shown, value))]


def difference(shown: Shown, expected: Array) -> str:
    """Empty where a value is the expected one, floats to a few units in the last place of the largest item."""
    if shown.kind is not expected.kind or shown.value.shape != expected.shape:
        return f"{shown.kind.value}{list(shown.value.shape)}, not {expected.kind.value}{list(expected.shape)}"
    want = to_numpy(expected)
    if shown.value.dtype != want.dtype:
        return f"dtype {shown.value.dtype}, not {want.dtype}"
    if shown.kind.is_float or shown.kind.is_complex:
        return "" if close(shown.kind, shown.value, want) else f"{shown.value!r}, not {want!r}"
    return "" if np.array_equal(shown.value, want) else f"{shown.value!r}, not {want!r}"


def close(kind: Kind, got: Any, want: Any) -> bool:
    """Equal up to rounding of transcendental functions and of BLAS."""
    tolerance = 1e-5 if kind in (Kind.F32, Kind.C64) else 1e-11
    finite = np.abs(want[np.isfinite(want)]) if want.size else np.zeros(0)
    scale = float(finite.max()) if finite.size else 0.0
    return bool(
        np.allclose(got, want, rtol=tolerance, atol=tolerance * (scale if math.isfinite(scale) else 0.0) * 1e-2, equal_nan=True)
    )
