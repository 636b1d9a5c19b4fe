"""The vocabulary of scalar functions on NumPy arrays: one callable `f(*operands)` a function and kind.

Contract of every callable: operands broadcast and have the compute kind's dtype, and are left as they are; the
result may be one of them.  Ufuncs also take `out`.
Floating-point flags are off for the whole run (`executor`), so nothing here warns.

Neighbours: `reals`, `complexes`, `conversions` (where they are); `structured` applies them.
"""

from __future__ import annotations

from ....typechecker.elements import Kind
from .reals import Implementation, real_function


def implementation(function: str, kind: Kind, result: Kind, parameter: int = 0) -> Implementation:
    """`function` of operands of `kind` (for `select`: of its second operand) giving `result`."""
    if function in ("convert", "convert_checked"):
        from .conversions import conversion

        converting: Implementation = conversion(kind, result, checked=function == "convert_checked")
        return converting
    if kind.is_complex:
        from .complexes import COMPLEX, complex_circular

        found = complex_circular(parameter) if function == "circular" else COMPLEX.get(function)
        if found is not None:
            return found
    return real_function(function, kind, parameter)
