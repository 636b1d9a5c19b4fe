"""Runs one program on the planned back end and on the reference interpreter and says how they differ, if they do."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rho import backend
from rho.backend.reference import interpret
from rho.lang.diagnostics import RhoError
from rho.lang.source import Source
from rho.typechecker.check import check
from rho.typechecker.core import Payload
from rho.typechecker.elements import Kind

# Two units in the last place for each operation (phases.md); a program of these tests does at most a few dozen.
TOLERANCE = {Kind.F32: 1e-6, Kind.C64: 1e-6, Kind.F64: 1e-13, Kind.C128: 1e-13}


# Functions on whole cells, computed by other algorithms than the reference's.
LIBRARY = ("⌹", "⎕fft", "⎕ifft", "⎕rfft", "⎕irfft", "⎕cholesky", "⎕qr", "⎕svd", "⎕eigh", "⎕det", "⎕slogdet", "+.×")


@dataclass(frozen=True, slots=True)
class Outcome:
    """`refused`: the codes of a rejected program.  `difference`: what disagrees, None if all is well."""

    refused: tuple[str, ...] = ()
    difference: str | None = None


def outcome(text: str) -> Outcome:
    checked = check(Source("<test>", text + "\n"))
    errors = tuple(d.code for d in checked.diagnostics if d.is_error)
    if errors:
        return Outcome(refused=errors)
    core = checked.core
    assert core is not None
    expected: object
    actual: object
    try:
        expected = interpret(core, {}, {}).printed
    except RhoError as error:
        expected = error.diagnostics[0].code
    try:
        bound = backend.load(core, {}, {})
        actual = backend.execute(backend.plan(bound), bound, {}).printed
    except RhoError as error:
        actual = error.diagnostics[0].code
    if isinstance(expected, str) or isinstance(actual, str):
        return Outcome(difference=None if expected == actual else f"{expected} and {actual}")
    assert isinstance(expected, tuple) and isinstance(actual, tuple)
    if len(expected) != len(actual):
        return Outcome(difference=f"{len(expected)} and {len(actual)} values")
    for wanted, shown in zip(expected, actual, strict=True):
        if wanted.kind != shown.kind or tuple(wanted.shape) != tuple(shown.value.shape):
            return Outcome(difference=f"{wanted.kind}{wanted.shape} and {shown.kind}{shown.value.shape}")
        scale = _largest(wanted.data) if any(name in text for name in LIBRARY) else 0.0
        for one, other in zip(wanted.data, np.asarray(shown.value).ravel().tolist(), strict=True):
            if not _same(wanted.kind, one, other, scale):
                return Outcome(difference=f"{one!r} and {other!r}")
    return Outcome()


def _largest(data: tuple[Payload, ...]) -> float:
    """The norm by which errors of a library function on a whole cell are measured."""
    sizes = [abs(x) for x in data if not isinstance(x, str)]
    return max((x for x in sizes if math.isfinite(x)), default=0.0)


def _same(kind: Kind, one: object, other: object, scale: float) -> bool:
    if one == other or (one != one and other != other) or (one, other) == ("\0", ""):  # NumPy drops a NUL
        return True
    if kind not in TOLERANCE:
        return False
    assert isinstance(one, (int, float, complex)) and isinstance(other, (int, float, complex))
    return abs(one - other) <= TOLERANCE[kind] * max(abs(one), abs(other), 1000 * scale)
