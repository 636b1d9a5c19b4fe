"""Copies of items from one layout into another, large ones by a kernel on the device's team, into memory of the pool.

What only moves items is bound by memory: fresh pages cost three times what copying into pages at hand does, and one thread cannot
use all of a machine's bandwidth.  So results are `room`s, and results larger than the caches bypass them.  Items are copied as
whole numbers of their size, so one kernel serves every kind.

Neighbours: `library.moving` (joins, rotations, cycles), `cpu` (results that are views), `sharing` (runs the pieces).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ....typechecker.elements import Kind
from ...kernels import policy
from ...kernels.build import Body, build_kernel
from ...kernels.ir import Load, Result, Stores
from ...kernels.kept import Kept
from ...kernels.llvm_leaf import is_installed
from ...kernels.nest import Nest, row_nest
from ...kernels.store import address_of
from ...loops.lower.kernel import KernelCode
from ..pool import ALIGNMENT, LEAST, room
from .compiled import STREAMED, strides_over
from .cuts import Cuts, Reduction, Work, cuts_of
from .kinds import NumArray, start_of
from .launching import Block, moved
from .sharing import Pieces

_KINDS: Final = {1: Kind.U8, 4: Kind.I32, 8: Kind.I64}
"""By bytes an item; others are copied by NumPy."""
_NANOSECONDS_A_BYTE: Final = 0.1
_SAVED: Final = 0.1
"""Nanoseconds a byte that a kernel saves."""
_TILE_ROWS: Final = 64
_TILE_ITEMS: Final = 1 << 14


def copied(array: NumArray, threads: int) -> NumArray:
    """The items in new memory, the last axis innermost."""
    if array.nbytes < LEAST:
        return array.copy()
    result: NumArray = room(array.shape, array.dtype)
    copy_into(result, array, threads)
    return result


def copy_into(target: NumArray, source: NumArray, threads: int) -> None:
    """Write the source, of the target's dtype and shape, into the target, which shares no memory with it."""
    if target.nbytes < LEAST:
        np.copyto(target, source)
        return
    addresses = start_of(source), start_of(target)
    pieces = _pieces(target, source, threads, is_aligned=addresses[1] % ALIGNMENT == 0)
    if pieces is None:
        np.copyto(target, source)
    else:
        pieces.run(addresses)


def _pieces(target: NumArray, source: NumArray, threads: int, *, is_aligned: bool) -> Pieces | None:
    """The kernel for a copy between such layouts; None where NumPy has to do it, or kernels have not paid yet."""
    key = (target.itemsize, target.shape, target.strides, source.strides, threads, is_aligned)
    found = _kept.of(key, (), lambda: drafted(target, source, threads, streams=is_aligned))
    if found is None or isinstance(found, Pieces):
        return found
    if policy.mode() is policy.Mode.OFF or not policy.is_worth(found.kernel, target.nbytes * _SAVED):
        return None
    address = address_of(found.kernel)
    if address is None:
        return None
    made = Pieces(address, found.blocks, 2, threads, target.nbytes * _NANOSECONDS_A_BYTE)
    _kept.put(key, (), made)
    return made


@dataclass(frozen=True, slots=True)
class Draft:
    """A copy whose kernel is not compiled; the bases of its blocks are source and target."""

    kernel: KernelCode
    blocks: tuple[Block, ...]


_kept: Final[Kept[Draft | Pieces | None]] = Kept(256)


def drafted(target: NumArray, source: NumArray, threads: int, *, streams: bool) -> Draft | None:
    """The copy between such layouts; None where NumPy has to do it."""
    kind = _KINDS.get(target.itemsize)
    written, read = strides_over(target, target.shape), strides_over(source, target.shape)
    if kind is None or not is_installed() or not source.flags.aligned or min(written) < 0:
        return None
    nest = row_nest(target.shape, (written, read), apart=False)
    outer, inner = nest.strides
    if outer[-1] != target.itemsize:
        return None
    rows_aligned = all(stride % ALIGNMENT == 0 for stride in outer[:-1])
    stores = Stores.STREAMED if streams and rows_aligned and target.nbytes >= STREAMED else Stores.PLAIN
    body = Body((Load(0),), (kind,), (), (Result(0, kind, None),), frozenset(), 0)
    kernel = build_kernel(body, replace(nest, strides=(inner,)), [kind], stores)
    duration = target.nbytes * _NANOSECONDS_A_BYTE
    places = 2 * kernel.axes, 3 * kernel.axes + 1
    blocks = []
    cuts = _cuts(nest, kind.bytes, duration, threads)
    for box in map(cuts.ranges, range(cuts.count)):
        counts, origins = [stop - start for start, stop in box], [start for start, _ in box]
        words = (*counts, *origins, 0, *inner, 0, *outer[:-1], 0)
        ahead = [sum([start * step for start, step in zip(origins, own, strict=True)]) for own in (inner, outer)]
        blocks.append(Block(words, moved(places, ((0, 0), (1, 0)), ahead)))
    return Draft(KernelCode(kernel), tuple(blocks))


def _cuts(nest: Nest, item: int, duration: float, threads: int) -> Cuts:
    """Tiles of what is read across, so that the lines of memory of a tile stay in the cache; else the pieces of any work."""
    _, read = nest.strides
    across = [loop for loop, step in enumerate(read[:-1]) if abs(step) == item] if abs(read[-1]) > item else []
    if not across:
        return cuts_of(nest, Work(duration, threads, Reduction.NONE))
    rows = min(nest.sizes[across[0]], _TILE_ROWS)
    made = Cuts.none(nest.sizes).cut(across[0], range(0, nest.sizes[across[0]], rows))
    return made.cut(len(read) - 1, range(0, nest.sizes[-1], max(_TILE_ITEMS // rows // ALIGNMENT, 1) * ALIGNMENT))


def joined(parts: Sequence[NumArray], axis: int, threads: int) -> NumArray:
    """Arrays of one dtype one after the other along an axis."""
    shape = list(parts[0].shape)
    shape[axis] = sum([part.shape[axis] for part in parts])
    result: NumArray = room(tuple(shape), parts[0].dtype)
    before, start = (slice(None),) * axis, 0
    for part in parts:
        stop = start + part.shape[axis]
        if part.size:
            copy_into(result[(*before, slice(start, stop))], part, threads)
        start = stop
    return result


def cycled(array: NumArray, shape: tuple[int, ...], threads: int) -> NumArray:
    """The items in row-major order, of which there are some, over and over until the shape is full."""
    result: NumArray = room(shape, array.dtype)
    flat, items = result.reshape(-1), array.reshape(-1)
    turns, rest = divmod(flat.size, items.size)
    if turns:
        cycles = flat[: turns * items.size].reshape(turns, items.size)
        copy_into(cycles, np.broadcast_to(items, cycles.shape), threads)
    if rest:
        copy_into(flat[flat.size - rest :], items[:rest], threads)
    return result
