"""The functions that are no single instruction, defined once for every tier, in fused multiply-adds and divisions.

A definition is Python over values that know `+ - × ÷`, comparisons and integer operations: LLVM vectors (`math_text`) or CUDA
variables (`cuda_math`).  A multiplication is fused with an addition only where the definition says so, so that all give the same
bits.  NumPy phases call the compiled definitions (`backend.run.cpu.mathematics`): a phase may go from one tier to the other.

Largest errors found against mpmath are asserted in tests/kernels/test_mathematics.py: in binary64 1 ulp, and 2 for tanh and erf.

Neighbours: `elementary`, `circles`, `powers`, `single` (the definitions), `scalar_text` (calls these), `build` (asks which
functions there are).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from ...typechecker.elements import Kind
from . import circles, elementary, powers, single

Compute: TypeAlias = Callable[..., Any]
"""Of the operands and the machine."""


@dataclass(frozen=True, slots=True)
class Definition:
    """`compute` on values of `kind`, to which the operands are converted and from which the result is."""

    compute: Compute
    kind: Kind


_DOUBLE: Final[dict[tuple[str, int], Compute]] = {
    ("exp", 0): elementary.exp, ("ln", 0): elementary.ln, ("erf", 0): elementary.erf, ("pow", 0): powers.power,
    ("circular", 1): circles.sin, ("circular", 2): circles.cos, ("circular", 7): elementary.tanh,
}  # fmt: skip
_SINGLE: Final[dict[tuple[str, int], Definition]] = {
    ("exp", 0): Definition(single.exp, Kind.F32), ("ln", 0): Definition(single.ln, Kind.F32),
    ("erf", 0): Definition(single.erf, Kind.F32), ("circular", 7): Definition(single.tanh, Kind.F32),
    ("circular", 1): Definition(single.sin, Kind.F64), ("circular", 2): Definition(single.cos, Kind.F64),
    ("pow", 0): Definition(powers.narrow_power, Kind.F64),
}  # fmt: skip
TRANSCENDENTAL: Final[frozenset[str]] = frozenset(name for name, _ in _DOUBLE)


def definition(function: str, parameter: int, kind: Kind) -> Definition | None:
    """The definition of a scalar function on a kind, if it is one of these."""
    key = (function, parameter if function == "circular" else 0)
    if kind is Kind.F32:
        return _SINGLE.get(key)
    compute = _DOUBLE.get(key) if kind is Kind.F64 else None
    return None if compute is None else Definition(compute, kind)
