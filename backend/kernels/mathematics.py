"""The functions that are no single instruction, defined once for every tier, in fused multiply-adds and divisions.

A definition is Python over values that know `+ - × ÷`, comparisons and integer operations: LLVM vectors (`math_text`) or CUDA
variables (`cuda_math`).  A multiplication is fused with an addition only where the definition says so, so that all give the same
bits.  NumPy phases call the compiled definitions (`backend.run.cpu.mathematics`): a phase may go from one tier to the other.

Largest errors found against mpmath are asserted in tests/kernels/test_mathematics.py: in binary64 1 or 2 ulp.  Of binary32, those
that `single` does not have are computed in binary64 and rounded.

Neighbours: `elementary`, `circles`, `inverses`, `hyperbolics`, `powers`, `plain`, `single` (the definitions), `scalar_text`
(calls these), `build` (asks which functions there are).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from ...typechecker.elements import Kind
from . import circles, elementary, hyperbolics, inverses, plain, powers, single

Compute: TypeAlias = Callable[..., Any]
"""Of the operands and the machine."""


@dataclass(frozen=True, slots=True)
class Definition:
    """`compute` on values of `kind`, to which the operands are converted and from which the result is."""

    compute: Compute
    kind: Kind


_DOUBLE: Final[dict[tuple[str, int], Compute]] = {
    ("exp", 0): elementary.exp, ("ln", 0): elementary.ln, ("erf", 0): elementary.erf, ("pow", 0): powers.power,
    ("expm1", 0): hyperbolics.expm1, ("log1p", 0): hyperbolics.log1p, ("root", 0): powers.root, ("log", 0): hyperbolics.log,
    ("log2", 0): hyperbolics.log2, ("log10", 0): hyperbolics.log10,
    ("circular", 1): circles.sin, ("circular", 2): circles.cos, ("circular", 3): circles.tan,
    ("circular", 5): hyperbolics.sinh, ("circular", 6): hyperbolics.cosh, ("circular", 7): elementary.tanh,
    ("circular", -1): inverses.asin, ("circular", -2): inverses.acos, ("circular", -3): inverses.atan,
    ("circular", -5): hyperbolics.asinh, ("circular", -6): hyperbolics.acosh, ("circular", -7): hyperbolics.atanh,
}  # fmt: skip
_SINGLE: Final[dict[tuple[str, int], Definition]] = {
    **{key: Definition(compute, Kind.F64) for key, compute in _DOUBLE.items()},
    ("exp", 0): Definition(single.exp, Kind.F32), ("ln", 0): Definition(single.ln, Kind.F32),
    ("erf", 0): Definition(single.erf, Kind.F32), ("circular", 7): Definition(single.tanh, Kind.F32),
    ("circular", 1): Definition(single.sin, Kind.F64), ("circular", 2): Definition(single.cos, Kind.F64),
    ("pow", 0): Definition(powers.narrow_power, Kind.F64),
}  # fmt: skip
_PLAIN: Final[dict[int, Compute]] = {
    0: plain.root_less, 4: plain.root_more, -4: plain.root_less_one, 8: plain.nothing, -8: plain.nothing, 9: plain.itself,
    10: plain.size, 11: plain.zero, 12: plain.angle, -9: plain.itself, -10: plain.itself,
}  # fmt: skip
"""The circular functions that are a few instructions, by number: they have NumPy's bits."""
TRANSCENDENTAL: Final[frozenset[str]] = frozenset(name for name, _ in _DOUBLE)


def is_plain(function: str, parameter: int) -> bool:
    """Is this a function whose definition has the bits that NumPy's has?"""
    return function == "circular" and parameter in _PLAIN


def definition(function: str, parameter: int, kind: Kind) -> Definition | None:
    """The definition of a scalar function on a kind, if it is one of these."""
    key = (function, parameter if function == "circular" else 0)
    if is_plain(function, parameter) and kind.is_float:
        return Definition(_PLAIN[parameter], kind)
    if kind is Kind.F32:
        return _SINGLE.get(key)
    compute = _DOUBLE.get(key) if kind is Kind.F64 else None
    return None if compute is None else Definition(compute, kind)
