"""`⊥` and `⊤`: Horner's rule and repeated residues, with one batch axis (frames, Note [One batch axis]).

Integers are exact modulo their width, so their decoding is a contraction with the products of the later radices; floats
follow Horner's rule step by step.

Neighbours: `contracting`; `reference.reductions` (definitions).
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from ...typechecker.elements import Kind
from ..graph.scratch import CHUNK
from ..run.cpu.kinds import NumArray
from ..run.cpu.scalars import implementation
from .contracting import products
from .frames import Arrays, Call, Operation, whole

_FEW: Final = 16
_TOGETHER: Final = 1 << 14
"""Results of floats that are made together."""


def decode(call: Call, arrays: Arrays) -> Arrays:
    """Digits along arg's first axis in the radices along radix's last; a scalar or length-1 side extends."""
    left, right = call.batched(arrays)
    if left.ndim == 1:
        left = left[:, np.newaxis]
    if right.ndim == 1:
        right = right[:, np.newaxis]
    rows, columns = left.shape[1:-1], right.shape[2:]
    radices, digits = left.shape[-1], right.shape[1]
    length = digits if radices == 1 else radices
    a = left.reshape(len(left), math.prod(rows), radices)
    b = right.reshape(len(right), digits, math.prod(columns))
    a = np.broadcast_to(a, (*a.shape[:2], length))
    b = np.broadcast_to(b, (len(b), length, b.shape[2]))
    total = _decoded(call.kind(), a, b, call.threads)
    count = math.prod(call.frame)
    total = np.broadcast_to(total, (count, *total.shape[1:]))
    return call.unbatched(total.reshape(count, *rows, *columns))


def _decoded(kind: Kind, radices: NumArray, digits: NumArray, threads: int) -> NumArray:
    """Cells of shape [rows length] and [length columns] to [rows columns]."""
    length = radices.shape[2]
    shape = (max(len(radices), len(digits)) if len(radices) and len(digits) else 0, radices.shape[1], digits.shape[2])
    if kind.is_integer and length:
        weights = np.ones(radices.shape, radices.dtype)
        weights[..., :-1] = np.multiply.accumulate(radices[..., :0:-1], axis=-1, dtype=radices.dtype)[..., ::-1]
        return products(kind, weights, digits, threads)
    if kind in (Kind.F64, Kind.C128) and math.prod(shape) <= _FEW < length:
        return _horner_by_item(radices, digits, shape)
    total = np.zeros(shape, digits.dtype)
    step = max(1, _TOGETHER // max(1, shape[1] * shape[2]))
    for start in range(0, shape[0], step):  # cells that stay in cache from digit to digit
        own = total[start : start + step]
        bases = radices[start : start + step] if len(radices) > 1 else radices
        items = digits[start : start + step] if len(digits) > 1 else digits
        for i in range(length):
            np.multiply(own, bases[:, :, i, np.newaxis], own)
            np.add(own, items[:, i, np.newaxis, :], own)
    return total


def _horner_by_item(radices: NumArray, digits: NumArray, shape: tuple[int, int, int]) -> NumArray:
    result = np.empty(shape, digits.dtype)
    for n, row, column in np.ndindex(shape):
        total: Any = digits.dtype.type(0).item()
        bases, own = radices[n if len(radices) > 1 else 0, row], digits[n if len(digits) > 1 else 0, :, column]
        for start in range(0, len(bases), CHUNK):
            for base, digit in zip(bases[start : start + CHUNK].tolist(), own[start : start + CHUNK].tolist(), strict=True):
                total = total * base + digit
        result[n, row, column] = total
    return result


def encode(call: Call, arrays: Arrays) -> Arrays:
    """The digits of each item, most significant first along radix's first axis."""
    radix, arg = call.batched(arrays)
    kind, count = call.kind(), math.prod(call.frame)
    scalar = radix.ndim == 1
    places = radix[:, np.newaxis] if scalar else radix
    columns, own = places.shape[2:], arg.shape[1:]
    bases = places.reshape(*places.shape, *[1] * len(own))
    number = np.broadcast_to(arg.reshape(len(arg), *[1] * len(columns), *own), (count, *columns, *own))
    result = np.empty((count, places.shape[1], *columns, *own), arg.dtype)
    for i in range(places.shape[1] - 1, -1, -1):
        number = _divide(kind, bases[:, i], number, result[:, i])
    return call.unbatched(result[:, 0] if scalar else result)


def _divide(kind: Kind, base: NumArray, number: NumArray, digit: NumArray) -> NumArray:
    """Put number modulo base in `digit`; what is carried to the next place."""
    if kind.is_integer:
        return _divide_integers(base, number, digit)
    digit[...] = implementation("residue", kind, kind)(np.broadcast_to(base, number.shape), number)
    carry = implementation("div", kind, kind)(number - digit, base)
    return np.asarray(np.where(base == 0, number.dtype.type(0), carry))


def _divide_integers(base: NumArray, number: NumArray, digit: NumArray) -> NumArray:
    if base.size == 1 and base.item() and number.size:
        one = base.reshape(())
        value = int(one)
        if value > 0 and not value & (value - 1):
            np.bitwise_and(number, one - one.dtype.type(1), out=digit)
            return np.asarray(number >> one.dtype.type(value.bit_length() - 1))
        with np.errstate(over="ignore"):  # what wraps on the way comes back
            carried: NumArray = np.asarray(number // one)
            np.subtract(number, carried * one, out=digit)
        return carried
    zero = base == 0
    safe = np.where(zero, base.dtype.type(1), base)
    digit[...] = np.where(zero, number, np.remainder(number, safe))
    with np.errstate(over="ignore"):  # the least integer by ¯1 wraps
        return np.asarray(np.where(zero, base.dtype.type(0), number // safe))


RADIX: Final[dict[str, Operation]] = {"decode": whole(decode), "encode": whole(encode)}
