"""One program in several tiers: each gives the values of the reference interpreter, or fails with its code.

`agree(program, arguments, tiers)` says what differs.  Integers, truth values and characters are equal, and so are floats of
programs in which every operation has one order and one rounding.  Where one has not (`rounds`: products of matrices, transforms,
complex arithmetic, functions of mathematics), items lie as near as `allowed` says, the one rule of how far apart sums may lie.
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
from rho.typechecker.core.arrays import Contract, KeyReduce, Library, Reduce, Scalar, Scan
from rho.typechecker.core.blocks import Core, Op, all_ops
from rho.typechecker.elements import Kind

EVERY_PASS = frozenset({"views", "constants", "gathers", "sharing", "dead", "fusion"})
MODES = ("off", "auto", "always")
"""Of `RHO_KERNELS`: the plan's tiers on this machine."""
UNITS = 4
"""In the last place, for each term of a sum: two orders of n terms are each within n-1 roundings of the exact sum, and a term is
itself a product or a function that is rounded."""
FEWEST_TERMS = 16
ROUNDED = frozenset({name for name, row in ROWS.items() if row.cost is CostClass.TRANSCENDENTAL} - {"sqrt"}) | {
    "pi_times",
    "inverse", "solve", "fft", "ifft", "rfft", "irfft", "cholesky", "qr", "svd", "eigh", "det", "slogdet",
}  # fmt: skip
"""Functions that the reference computes by another algorithm."""

Inputs = Mapping[str, Any]
Params = Mapping[str, int]


@dataclass(frozen=True)
class Value:
    """An output or a printed line."""

    name: str
    kind: Kind
    array: Any


Outcome = tuple[Value, ...] | str
"""Outputs in the order of their names, then what is printed; the code of the failure where a run fails."""


@lru_cache(maxsize=64)
def checked(text: str, origin: int = 0) -> Core | None:
    """The core of an accepted program; tests run one in several ways."""
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
    """What a plan gave, as `by_reference` has it."""
    named = [*sorted(results.outputs.items()), *((f"line {n}", shown) for n, shown in enumerate(results.printed))]
    return tuple(Value(name, shown.kind, np.array(shown.value)) for name, shown in named)


def run_plan(core: Core, inputs: Inputs, params: Params | None = None, without: frozenset[str] = frozenset()) -> RunResults:
    """Load, plan and execute; nothing may warn and no input may change."""
    with warnings.catch_warnings(), unchanged(inputs):
        warnings.simplefilter("error")
        bound = backend.load(core, inputs, params, without=without)
        return backend.execute(backend.plan(bound), bound, inputs)


@contextmanager
def unchanged(inputs: Inputs) -> Iterator[None]:
    """No input may have changed in the end, unless what runs fails."""
    before = {name: np.array(value) for name, value in inputs.items()}
    yield
    for name, value in inputs.items():
        assert np.array_equal(value, before[name], equal_nan=value.dtype.kind in "fc"), f"input {name} changed"


@contextmanager
def kernels(mode: str) -> Iterator[None]:
    """`RHO_KERNELS` while a plan runs."""
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
    """What a program gives in one tier."""
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
    """What differs from the reference, or from `wanted` (outputs by name, then what is printed), in each of the tiers.

    `terms`: of the longest sum of the program, where no argument and no result is as long."""
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
    """May a tier round otherwise than the reference?"""
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
    """The values of a run that must not fail."""
    assert not isinstance(found, str), found
    return [value.array for value in found]


def longest(arguments: Inputs) -> int:
    """Items of the longest argument: a sum may have as many terms."""
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
    """Empty where a value is the expected one; of `terms` 0, no float may round otherwise."""
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
    """How far items may lie apart: `UNITS` in the last place of the largest for each of the `terms` of a sum.

    Of the largest, as a sum whose terms cancel is smaller than what was rounded.  What is not finite has no part in it."""
    finite = np.abs(want[np.isfinite(want)])
    return float(UNITS * terms * np.finfo(want.dtype).eps * finite.max(initial=0.0))
