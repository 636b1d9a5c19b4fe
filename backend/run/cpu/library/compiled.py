"""Library phases through compiled kernels, and others whose memory is the pool's: tried before the pool gives back what it keeps.

Each gives None where NumPy has to do it in its own memory (a foreign layout, few items, no llvmlite); before that the pool gives
back what it keeps (pool, Note [The bound holds]).  Either way the bits are the same.

Neighbours: `scanning`, `selecting`, `scattering`, `copying` of the folder above.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Final, TypeAlias

from ....graph.registry import wanted_of
from ...pool import LEAST
from ..copying import cycled, joined
from ..kinds import NumArray
from .contracting import contract_floats
from .frames import Arrays, Call
from .masking import define

_SHORT: Final = 64
"""Shorter runs are turned otherwise."""
Compiled: TypeAlias = Callable[[Call, Arrays], NumArray | None]


def _scan(call: Call, arrays: Arrays) -> NumArray | None:
    from ..scanning import scan_lines

    return scan_lines(call.function(), call.kind(), arrays[0], call.axis() + call.rank, call.threads)


def _compress(call: Call, arrays: Arrays) -> NumArray | None:
    from ..selecting import compressed

    mask, arg = arrays
    axis = call.axis()
    made = compressed(mask.reshape(-1), arg, axis, call.threads) if arg.ndim else None
    if made is not None:
        define(call, made.shape[axis])
    return made


def _where(call: Call, arrays: Arrays) -> NumArray | None:
    from ..selecting import places

    made = places(arrays[0], call.threads)
    if made is not None:
        define(call, len(made))
    return made


def _grade(call: Call, arrays: Arrays) -> NumArray | None:
    """Of a vector, or of each row."""
    items = arrays[0]
    if items.ndim != call.rank + 1 or wanted_of(call.phase) is not None:
        return None
    from ..sorting import graded

    rows = call.batched(arrays)[0] if call.rank else items
    made = graded(rows, call.operand_kind(0), call.flag("descending"), call.threads)
    return None if made is None else made.reshape(items.shape)


def _gather(call: Call, arrays: Arrays) -> NumArray | None:
    """By a kernel; `x[⍋x]` by NumPy's sort, in memory of the pool, large vectors in parts on the team."""
    order = call.phase.attributes.get("sorts")
    if order is None:
        from ..gathering import gather_run

        run = gather_run(call.phase, [call.operand_kind(0), call.operand_kind(1)], arrays[0], arrays[1], call.threads)
        return None if run is None else run.gathered(arrays[0], arrays[1])
    from ..sorting import sorted_vector
    from .selecting import sort
    from .sorting import selects

    if call.rank or selects(len(arrays[0]), wanted_of(call.phase)):
        return sort(call, arrays)[0]
    made = sorted_vector(arrays[0], call.operand_kind(0), order == "down", call.threads)
    return sort(call, arrays)[0] if made is None else made


def _join(call: Call, arrays: Arrays) -> NumArray | None:
    if call.rank or sum([array.nbytes for array in arrays]) < LEAST:
        return None
    return joined(arrays, call.axis(), call.threads)


def _rotate(call: Call, arrays: Arrays) -> NumArray | None:
    """One amount for all: two copies of slices."""
    arg, amount = arrays
    axis = call.axis()
    if call.rank or amount.ndim or arg.nbytes < LEAST or arg.shape[axis] < _SHORT:
        return None
    turn, before = int(amount) % arg.shape[axis], (slice(None),) * axis
    return joined((arg[(*before, slice(turn, None))], arg[(*before, slice(0, turn))]), axis, call.threads)


def _cycle(call: Call, arrays: Arrays) -> NumArray | None:
    (arg,), shape = arrays, call.shape()
    if call.rank or not arg.size or prod(shape) * arg.itemsize < LEAST:
        return None
    return cycled(arg, shape, call.threads)


COMPILED: Final[dict[str, Compiled]] = {
    "scan": _scan, "compress": _compress, "where": _where, "grade": _grade, "gather": _gather,
    "contract": contract_floats, "join": _join, "rotate": _rotate, "reshape_cycle": _cycle,
}  # fmt: skip
