"""The functions that kernels define, on NumPy arrays: by the compiled definition itself, so that every tier has the same bits.

Where llvmlite is not installed, or does not work, there is no other tier to agree with, and NumPy's own functions are used.  A
kernel of one function on items side by side is compiled when the function is first called (or read from disk, like any kernel),
but the first few items of a process are computed one by one.

Neighbours: `scalars` (asks here first), `backend.scalar`, `meanings`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final

import numpy as np

from ....typechecker.elements import Kind
from ....typechecker.scalars import FUNCTIONS
from ...kernels import llvm_leaf, store
from ...kernels.ir import Apply, Form, Kernel, Load, Operand, Result, Step
from ...loops.lower.kernel import KernelCode
from ...scalar.table import Definition, definition, is_plain
from .kinds import DTYPES, start_of
from .meanings import by_steps
from .sharing import run_once

_ITEM_NANOSECONDS: Final = 8.0
"""What one takes, roughly."""
_FIRST, _PATIENCE = 64, 1024
"""Items of a call, and of all calls, that are computed one by one before llvmlite is imported: less than that takes."""


def own_function(function: str, kind: Kind, parameter: int, otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """`f(*operands)` of a function; `otherwise` where kernels do not define it, or there are none."""
    found = definition(function, parameter, kind)
    if found is None or is_plain(function, parameter) or not llvm_leaf.is_installed():
        return otherwise
    arity = FUNCTIONS[function].arity if function in FUNCTIONS else 1

    def apply(*args: Any) -> Any:
        if not llvm_leaf.is_loaded() and (made := _first(found, kind, args)) is not None:
            return made
        address = _compiled(function, kind, parameter, arity)
        if address is None:
            return otherwise(*args)
        return _applied(address, kind, args)

    return apply


_left = [_PATIENCE]


def _first(found: Definition, kind: Kind, args: tuple[Any, ...]) -> Any:
    """The values of a few items while nothing is compiled; None: too many by now."""
    operands = np.broadcast_arrays(*(np.asarray(arg, DTYPES[kind]) for arg in args))
    size = operands[0].size
    if size > _FIRST or size > _left[0]:
        return None
    _left[0] -= size
    return by_steps(found, kind, operands)


@cache
def _compiled(function: str, kind: Kind, parameter: int, arity: int) -> int | None:
    """Where the kernel of a function is."""
    operand = Operand(kind, Step.UNIT, (True,))
    apply = Apply(function, tuple(range(arity)), kind, kind, parameter)
    kernel = Kernel(Form.MAP, 1, (operand,) * arity, 0,
                    (*(Load(place) for place in range(arity)), apply), (Result(arity, kind, None),))  # fmt: skip
    return store.address_of(KernelCode(kernel))


def _applied(address: int, kind: Kind, operands: tuple[Any, ...]) -> Any:
    dtype = DTYPES[kind]
    arrays = [np.asarray(operand, dtype) for operand in operands]
    if len(arrays) > 1:
        arrays = list(np.broadcast_arrays(*arrays))
    arrays = [array if array.flags.c_contiguous else np.ascontiguousarray(array) for array in arrays]
    made = np.empty(arrays[0].shape, dtype)
    words = [made.size, 0]
    for array in (*arrays, made):
        words += [start_of(array), dtype.itemsize]
    run_once(address, [[*words, 0]], 1, made.size * _ITEM_NANOSECONDS)
    return made
