"""Layouts of the values of a native program: how items lie, each described once, so that equal layouts have one address.

Neighbours: `run.c` (`struct layout`), `program` (one set for each).
"""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np

from ..pool import LEAST, room

MOST: Final = 2048
"""Layouts that a program meets, after which it is made anew (those of a table of lengths are as many as that has places)."""
MOST_CELLS: Final = 32767
"""Of an array whose layout is in a table of lengths."""
Key: TypeAlias = tuple[np.dtype[Any], tuple[int, ...], tuple[int, ...]]


class Layouts:
    """Those of one program, by address; they live as long as it does."""

    def __init__(self) -> None:
        self._known: dict[Key, int] = {}
        self._keys: dict[int, Key] = {}
        self._keep: list[object] = []
        self._lengths: dict[Key, int] = {}
        self._counted = 0

    @property
    def is_full(self) -> bool:
        return len(self._keys) - self._counted > MOST

    def of(self, array: Any) -> int:
        """The address of an array's layout."""
        key = (array.dtype, array.shape, array.strides)
        return self._known.get(key) or self._described(key)

    def rows(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> int:
        """Of an array that lies in rows."""
        return self.at(dtype, shape, _strides(shape, dtype))

    def at(self, dtype: np.dtype[Any], shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
        key = (dtype, shape, strides)
        return self._known.get(key) or self._described(key)

    def cell(self, layout: int, axes: int) -> int:
        """Of a cell: without the first axes."""
        dtype, shape, strides = self._keys[layout]
        return self.at(dtype, shape[axes:], strides[axes:])

    def lengths(self, dtype: np.dtype[Any], cell: tuple[int, ...], strides: tuple[int, ...] | None = None) -> int:
        """The address of the table (`struct lengths`) of 0 to `MOST_CELLS` cells of a shape, in rows or as strides say."""
        key = dtype, cell, _strides((0, *cell), dtype) if strides is None else strides
        found = self._lengths.get(key)
        if found is None:
            described = partial(self.counted, key)
            table = np.zeros(MOST_CELLS + 2, np.int64)
            table[0] = id(described)
            self._keep += (described, table)
            found = self._lengths[key] = int(table.ctypes.data)
        return found

    def counted(self, cells: Key, count: int) -> int:
        """Of so many cells, for their table."""
        known, (dtype, cell, strides) = len(self._keys), cells
        layout = self.at(dtype, (count, *cell), strides)
        self._counted += len(self._keys) - known
        return layout

    def key(self, layout: int) -> Key:
        """What a layout describes."""
        return self._keys[layout]

    def _described(self, key: Key) -> int:
        dtype, shape, strides = key
        maker: Any = None
        if prod(shape) * dtype.itemsize >= LEAST:
            order = sorted(range(len(shape)), key=lambda axis: -strides[axis])
            inner = tuple([shape[axis] for axis in order])
            if tuple([strides[axis] for axis in order]) == _strides(inner, dtype):
                turned = tuple(sorted(range(len(order)), key=order.__getitem__))
                maker = partial(room, shape, dtype) if order == sorted(order) else partial(_turned, inner, dtype, turned)
        is_rows = 0 in shape or all(n == 1 or a == b for n, a, b in zip(shape, strides, _strides(shape, dtype), strict=True))
        address = 0 if maker is None else id(maker)
        words = np.array([id(dtype), address, len(shape), dtype.itemsize, prod(shape), int(is_rows), *shape, *strides], np.int64)
        self._keep += (dtype, maker, words)
        found: int = words.ctypes.data
        self._known[key], self._keys[found] = found, key
        return found


def _strides(shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[int, ...]:
    made: list[int] = []
    step = dtype.itemsize
    for length in reversed(shape):
        made.append(step)
        step *= length
    return tuple(made[::-1])


def _turned(shape: tuple[int, ...], dtype: np.dtype[Any], order: tuple[int, ...]) -> Any:
    return room(shape, dtype).transpose(order)
