"""Runs one program in several tiers and compares each with the reference interpreter, in values or in the code of its failure.

`agree(program, arguments, tiers)` returns the differences.  Integers, truth values and characters must be equal, and so must
floats of programs in which every operation has a defined order and rounding.  For other operations (`rounds`: matrix products,
transforms, complex arithmetic, transcendental functions) `allowed` gives the tolerance.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from rho import backend
from rho.backend.reference.interpreter import interpret
from rho.backend.scalar.function_table import ROWS, CostClass
from rho.backend.vm.run_state import RunResults
from rho.backend.vm.values import from_numpy, to_numpy
from rho.lang.diagnostics.model import RhoError
from rho.lang.syntax.source import Source
from rho.typechecker.check import check
from rho.typechecker.core.operations import Contract, Core, KeyReduce, Library, Op, Reduce, Scalar, Scan, all_ops
from rho.typechecker.elements import Kind

EVERY_PASS = frozenset({"views", "constants", "gathers", "sharing", "dead", "fusion"})
MODES = ("off", "auto", "always")
"""The values of `RHO_KERNELS`, which are the plan's tiers on this machine."""
UNITS = 4
"""Units in the last place that are allowed for each term of a sum: two orders of n terms are each within n-1 roundings of the
exact sum, and each term is itself a rounded product or function."""
FEWEST_TERMS = 16
ROUNDED = frozenset({name for name, row in ROWS.items() if row.cost is CostClass.TRANSCENDENTAL} - {"sqrt"}) | {
    "pi_times",
    "inverse", "solve", "fft", "ifft", "rfft", "irfft", "cholesky", "qr", "svd", "eigh", "det", "slogdet",
}  # fmt: skip
"""The functions that the reference computes by another algorithm."""

Inputs = Mapping[str, Any]
Params = Mapping[str, int]


@dataclass(frozen=True)
class Value:
    """An output or a printed line."""

    name: str
    kind: Kind
    array: Any


Outcome = tuple[Value, ...] | str
"""The outputs in the order of their names, then the printed values; or the code of the failure."""


@lru_cache(maxsize=64)
def checked(text: str, origin: int = 0) -> Core | None:
    """The core of a program, None if it is rejected; cached, since tests run a program in several tiers."""
    source = Source("<test>", ("⎕IO←1\n" if origin else "") + text)
    try:
        return check(source).core
    except RhoError:
        return None


def accepted(text: str) -> Core:
    """The core of a program that must be accepted."""
    found = check(Source("<test>", text))
    assert found.core is not None, (text, [str(d.message) for d in found.diagnostics])
    return found.core


def by_reference(core: Core, inputs: Inputs, params: Params | None = None) -> Outcome:
    try:
        results = interpret(core, {name: from_numpy(value) for name, value in inputs.items()}, params or {})
    except RhoError as error:
        return error.diagnostics[0].code
    named = [*sorted(results.outputs.items()), *((f"line {n}", value) for n, value in enumerate(results.printed))]
    return tuple(Value(name, value.kind, to_numpy(value)) for name, value in named)


def values_of(results: RunResults) -> tuple[Value, ...]:
    """The results of a plan in the form of `by_reference`."""
    named = [*sorted(results.outputs.items()), *((f"line {n}", shown) for n, shown in enumerate(results.printed))]
    return tuple(Value(name, shown.kind, np.array(shown.value)) for name, shown in named)


def run_plan(core: Core, inputs: Inputs, params: Params | None = None, without: frozenset[str] = frozenset()) -> RunResults:
    """Load, plan and execute; a warning or a changed input is a failure."""
    with warnings.catch_warnings(), unchanged(inputs):
        warnings.simplefilter("error")
        bound = backend.load(core, inputs, params, without=without)
        return backend.execute(backend.plan(bound), bound, inputs)


@contextmanager
def unchanged(inputs: Inputs) -> Iterator[None]:
    """Assert that the block, unless it raises, leaves all inputs unchanged."""
    before = {name: np.array(value) for name, value in inputs.items()}
    yield
    for name, value in inputs.items():
        assert np.array_equal(value, before[name], equal_nan=value.dtype.kind in "fc"), f"input {name} changed"


@contextmanager
def kernels(mode: str) -> Iterator[None]:
    """Set `RHO_KERNELS` in the block."""
    before = os.environ.get("RHO_KERNELS")
    os.environ["RHO_KERNELS"] = mode
    try:
        yield
    finally:
        if before is None:
            del os.environ["RHO_KERNELS"]
        else:
            os.environ["RHO_KERNELS"] = before


Tier = str | Callable[[Core, Inputs], RunResults]
"""`reference`, `plan`, `no passes`, a mode of kernels, or a back end of a test's own."""
PLANS: tuple[Tier, ...] = ("plan", "no passes")


def outcome(core: Core, inputs: Inputs, tier: Tier, params: Params | None = None) -> Outcome:
    """The outcome of a program in one tier."""
    if tier == "reference":
        return by_reference(core, inputs, params)
    try:
        if callable(tier):
            return values_of(tier(core, inputs))
        if tier in MODES:
            with kernels(tier):
                return values_of(run_plan(core, inputs, params))
        return values_of(run_plan(core, inputs, params, EVERY_PASS if tier == "no passes" else frozenset()))
    except RhoError as error:
        return error.diagnostics[0].code


def agree(
    program: str | Core, arguments: Inputs, tiers: Sequence[Tier] = PLANS, params: Params | None = None, *,
    wanted: Sequence[Any] | None = None, terms: int | None = None,
) -> list[str]:  # fmt: skip
    """The differences of each tier from the reference, or from `wanted` (outputs by name, then printed values).

    `terms` is the number of terms of the program's longest sum, by default the length of the longest argument."""
    core = accepted(program) if isinstance(program, str) else program
    expected = by_reference(core, arguments, params)
    terms = max(terms or 0, longest(arguments)) if rounds(core) else 0
    problems = []
    if wanted is not None:
        if isinstance(expected, str):
            return [f"reference: {_told(expected)}"]
        given = tuple(Value(own.name, own.kind, array) for own, array in zip(expected, wanted, strict=True))
        problems += [f"reference: {problem}" for problem in differences(expected, given, terms)]
        expected = given
    for tier in tiers:
        found = outcome(core, arguments, tier, params)
        name = tier if isinstance(tier, str) else getattr(tier, "__name__", "tier")
        problems += [f"{name}: {problem}" for problem in differences(found, expected, terms)]
    return problems


def rounds(core: Core) -> bool:
    """May a tier round differently from the reference?"""
    complex_ = any(type.element.kind.is_complex for type in core.types.values())
    return complex_ or any(_rounds(op) for op in all_ops(core.block.ops))


def _rounds(op: Op) -> bool:
    match op:
        case Contract():
            return True
        case Library():
            return op.name in ROUNDED
        case Scalar() | Reduce() | Scan() | KeyReduce():
            return op.function in ROUNDED
        case _:
            return False


def arrays(found: Outcome) -> list[Any]:
    """The values of an outcome that must not be a failure."""
    assert not isinstance(found, str), found
    return [value.array for value in found]


def longest(arguments: Inputs) -> int:
    """The number of items of the longest argument, which bounds the terms of sums."""
    return max([FEWEST_TERMS, *(np.size(value) for value in arguments.values())])


def differences(found: Outcome, expected: Outcome, terms: int) -> list[str]:
    if isinstance(found, str) or isinstance(expected, str):
        return [] if found == expected else [f"{_told(found)}, not {_told(expected)}"]
    if len(found) != len(expected):
        return [f"{len(found)} values, not {len(expected)}"]
    pairs = zip(found, expected, strict=True)
    return [f"{one.name} is {problem}" for one, other in pairs if (problem := difference(one, other, terms))]


def _told(outcome: Outcome) -> str:
    return f"fails with {outcome}" if isinstance(outcome, str) else f"{len(outcome)} values"


def difference(found: Value, expected: Value, terms: int) -> str:
    """How a value differs from the expected one, empty if it does not; with `terms` 0 floats must be equal."""
    got, want = found.array, expected.array
    if found.kind is not expected.kind or got.shape != want.shape:
        return f"{found.kind.value}{list(got.shape)}, not {expected.kind.value}{list(want.shape)}"
    if got.dtype != want.dtype:
        return f"dtype {got.dtype}, not {want.dtype}"
    if got.dtype.kind in "fc":
        same = (got == want) | (np.isnan(got) & np.isnan(want))
        if terms and not same.all():
            with np.errstate(all="ignore"):
                same |= np.isfinite(want) & (np.abs(got - want) <= allowed(want, max(terms, want.size)))
    else:
        same = got == want
    wrong = np.flatnonzero(~np.reshape(same, -1))[:5]
    return f"{got.reshape(-1)[wrong].tolist()} at {wrong.tolist()}, not {want.reshape(-1)[wrong].tolist()}" if wrong.size else ""


def allowed(want: Any, terms: int) -> float:
    """The tolerance: `UNITS` units in the last place of the largest finite item, for each of the `terms` of a sum.

    It is relative to the largest item because a sum whose terms cancel is smaller than the rounded partial sums."""
    finite = np.abs(want[np.isfinite(want)])
    return float(UNITS * terms * np.finfo(want.dtype).eps * finite.max(initial=0.0))
