"""Library phases through CuPy, where CuPy does what the language says; `kernels.cuda_support` lists them.

An implementation takes a `Call` and the operands, arrays of the device, and gives the results; none shares memory with an
operand.  Failed checks and run-time sizes wait for the device.  Products, transforms and linear algebra round as their
libraries do.

Neighbours: `cpu.library` (the same on NumPy: what these must agree with), `keyed`, `sorting`.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from ....lang.codes import Code
from ...graph.phases import LibraryPhase
from ...kernels.cuda_support import LIBRARY
from ..cpu.kinds import DTYPES, FILLS
from ..device import Kernel, Types
from ..failures import CheckFailed
from ..philox import fill_pairs
from .call import Arrays, Call, Implementation
from .fetching import gather, reshape_cycle, rotate
from .keyed import key_reduce
from .linear import LINEAR
from .modules import Modules
from .scanning import scan
from .searching import first_occurrence, index_of, interval_index, match, member_of
from .selecting import update
from .sorting import grade

_PIECE: Final = 1 << 22
"""Blocks of random numbers generated at once: what intermediate words take is bounded."""


def compile_library(xp: Any, modules: Modules, phase: LibraryPhase, types: Types) -> Kernel | None:
    """The phase as a kernel; None: the host has to do it."""
    row = LIBRARY.get(phase.op)
    if row is None or not row.condition(phase, types.types):
        return None
    implementation, call, operands = IMPLEMENTATIONS[phase.op], Call(phase, xp, modules, types), phase.args

    def run(memory: Any, overwrite: Any) -> Arrays:
        try:
            made = implementation(call, tuple([memory[value] for value in operands]))
        except CheckFailed as failure:
            raise failure.at(phase.span) from None
        return made if isinstance(made, tuple) else (made,)

    return run


# -------------------------------------------------------------------------------------------- making


def _size_vector(call: Call, arrays: Any) -> Any:
    return call.xp.asarray(np.array(call.sizes(call.types), np.int64).reshape(call.shape()))


def _random(call: Call, arrays: Any) -> Any:
    """Uniform f64 from an integer key or a pair."""
    xp, shape = call.xp, call.shape()
    words = [*arrays[0].reshape(-1).get().tolist(), 0]
    count = math.prod(shape)
    result = xp.empty((count + 1) // 2 * 2, np.float64).reshape(-1, 2)
    for first in range(0, len(result), _PIECE):
        fill_pairs(xp, result[first : first + _PIECE], first, int(words[0]), int(words[1]))
    return result.reshape(-1)[:count].reshape(shape).copy()


# -------------------------------------------------------------------------------------------- moving


def _join(call: Call, arrays: Arrays) -> Any:
    return call.xp.concatenate(arrays, call.axis())


def _stack(call: Call, arrays: Arrays) -> Any:
    return call.xp.stack(arrays, call.axis())


# ----------------------------------------------------------------------------------------- selecting


def _mask_update(call: Call, arrays: Arrays) -> Any:
    arg, mask, value = arrays
    cell = arg.shape[mask.ndim :]
    places = call.xp.flatnonzero(mask.reshape(-1))
    if value.ndim and value.shape != (places.size, *cell):
        raise CheckFailed(Code.E140, f"{value.shape[0]} replacements for {places.size} places")
    result = arg.copy().reshape(mask.size, *cell)
    result[places] = value
    return result.reshape(arg.shape)


def _compress(call: Call, arrays: Arrays) -> Any:
    mask, arg = arrays
    return call.xp.take(arg, call.xp.flatnonzero(mask.reshape(-1)), call.axis())


def _expand(call: Call, arrays: Arrays) -> Any:
    (mask, arg), axis, xp = arrays, call.axis(), call.xp
    places = xp.flatnonzero(mask.reshape(-1))
    if places.size != arg.shape[axis]:
        raise CheckFailed(Code.E703, f"the mask has {places.size} places for {arg.shape[axis]} items")
    result = xp.full((*arg.shape[:axis], mask.size, *arg.shape[axis + 1 :]), FILLS[call.kind()], DTYPES[call.kind()])
    result[(*(slice(None),) * axis, places)] = arg
    return result


def _where(call: Call, arrays: Arrays) -> Any:
    xp, mask = call.xp, arrays[0]
    found = xp.flatnonzero(mask.reshape(-1)).astype(np.int64)
    if mask.ndim <= 1:
        return found
    columns = []
    for size in reversed(mask.shape):
        columns.append(found % max(size, 1))
        found = found // max(size, 1)
    return xp.stack(columns[::-1], 1)


def _runtime_size(call: Call, arrays: Arrays) -> Any:
    return ()


# ----------------------------------------------------------------------------------------- computing


def _contract(call: Call, arrays: Arrays) -> Any:
    xp, (left, right) = call.xp, arrays
    shared = left.shape[-1]
    if not shared or not left.size or not right.size:
        return xp.zeros(call.shape(), left.dtype)
    rows, columns = left.size // shared, right.size // shared
    return xp.matmul(left.reshape(rows, shared), right.reshape(shared, columns)).reshape(call.shape())


def _transform(name: str) -> Implementation:
    def run(call: Call, arrays: Arrays) -> Any:
        xp, arg, shape, dtype = call.xp, arrays[0], call.shape(), DTYPES[call.kind()]
        if not arg.size or 0 in shape:
            return xp.zeros(shape, dtype)
        wide = arg.astype(np.complex128 if arg.dtype.kind == "c" else np.float64)
        moved = xp.fft.irfft(wide, shape[-1]) if name == "irfft" else getattr(xp.fft, name)(wide)
        return (moved if dtype.kind == "c" else moved.real).astype(dtype)

    return run


IMPLEMENTATIONS: Final[dict[str, Implementation]] = {
    "size_vector": _size_vector, "join": _join, "stack": _stack, "rotate": rotate, "reshape_cycle": reshape_cycle,
    "gather": gather, "update": update, "mask_update": _mask_update, "scan": scan, "contract": _contract, "compress": _compress,
    "expand": _expand, "where": _where, "runtime_size": _runtime_size, "grade": grade, "key_reduce": key_reduce,
    "random": _random, "index_of": index_of, "member_of": member_of, "first_occurrence": first_occurrence,
    "interval_index": interval_index, "match": match,
    **{name: _transform(name) for name in ("fft", "ifft", "rfft", "irfft")}, **LINEAR,
}  # fmt: skip
