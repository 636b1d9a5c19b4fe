"""The words of a linked call as they are written: arguments to be checked, values made, launched on and given.

Neighbours: `linking` (from the steps of a plan), `kernels.native_text` (what the words mean).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, Final

import numpy as np

from ...kernels.native_text import Operation
from ..native import Native
from ..pool import LEAST, room
from .kinds import NumArray
from .launching import HELPERS_PLACE

OTHER: Final = object()
"""What a linked call returns for arguments that it is not for."""
MOST_NANOSECONDS: Final = 10e6
"""Work of plans that are linked at most: of more, the calls are nothing, and an interrupt would not be heard."""
MOST_VALUES: Final = 64
_NOTHING: Final = np.empty(0, np.uint8)


_HEAD: Final = 5


class Take(Enum):
    """What is given for an argument; numbers become 0-d arrays."""

    ARRAY = -1
    FLOAT = 0
    INT = 1


class Verdict(Enum):
    """Why there is no linked call."""

    LATER = "a kernel is not there yet"
    LAYOUT = "arrays like these are copied on the way"
    NEVER = "the plan is of another sort"


class Refused(Exception):
    """With the verdict."""


class Draft:
    """`bases`: arrays like the arguments, then like the values that are made (None: freed), whose contents nobody looks at."""

    def __init__(self, arguments: Sequence[tuple[str, NumArray, Take]]) -> None:
        self.arguments = {name: place for place, (name, _, _) in enumerate(arguments)}
        self.checks: list[int] = []
        self.bases: list[NumArray | None] = []
        for _, array, take in arguments:
            self.checks += [id(array.dtype) if take is Take.ARRAY else take.value, array.ndim]
            for length, stride in zip(array.shape, array.strides, strict=True):
                self.checks += [length, stride]
            self.bases.append(array)
        self.data: list[int] = []
        self.operations: list[int] = []
        self.keep: list[object] = [array.dtype for _, array, _ in arguments]
        self.duration, self.helpers = 0.0, 0

    def make(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> int:
        """A new value."""
        number, example = len(self.bases), np.empty(shape, dtype)
        if number >= MOST_VALUES:
            raise Refused(Verdict.NEVER)
        self.bases.append(example)
        self.keep += [dtype, shape, room]
        if example.nbytes >= LEAST:
            self.operations += [Operation.ROOM, number, id(room), id(shape), id(dtype)]
        else:
            self.operations += [Operation.MAKE, number, id(dtype), len(shape), self.put(shape)]
        return number

    def show(self, array: NumArray, source: int) -> int:
        """A new value that shows part of another, as this array does."""
        number, whole = len(self.bases), self.bases[source]
        if number >= MOST_VALUES or whole is None:
            raise Refused(Verdict.NEVER)
        self.bases.append(array)
        self.keep.append(array.dtype)
        place = self.put([*array.shape, *array.strides, address_of_array(array) - address_of_array(whole)])
        self.operations += [Operation.SHOW, number, id(array.dtype), array.ndim, place, source]
        return number

    def hold(self, maker: Callable[[object, object], object]) -> int:
        """A new value that is no array: what `maker` gives, held until it is dropped (also where the call ends early)."""
        number = len(self.bases)
        if number >= MOST_VALUES:
            raise Refused(Verdict.NEVER)
        self.bases.append(_NOTHING)
        self.keep.append(maker)
        self.operations += [Operation.ROOM, number, id(maker), id(None), id(None)]
        return number

    def drop(self, number: int) -> None:
        self.operations += [Operation.FREE, number]
        self.bases[number] = None

    def launch(self, words: list[int] | None) -> None:
        if words is None:
            raise Refused(Verdict.NEVER)
        self.helpers = max(self.helpers, words[HELPERS_PLACE])
        self.operations += [Operation.LAUNCH, self.put(words)]

    def put(self, words: Sequence[int]) -> int:
        """The place of words of the data."""
        place = _HEAD + len(self.checks) + len(self.data)
        self.data += words
        return place

    def work(self, duration: float) -> None:
        self.duration += duration
        if self.duration > MOST_NANOSECONDS:
            raise Refused(Verdict.NEVER)

    def finish(self, made: Native, given: Sequence[int]) -> Callable[..., Any]:
        """The function that gives these values."""
        for root, array in enumerate(self.bases):
            if array is not None and root >= len(self.arguments) and root not in given:
                self.operations += [Operation.FREE, root]
        self.operations += [Operation.GIVE, given[0]] if len(given) == 1 else [Operation.GIVE_ALL, len(given), *given]
        begin = _HEAD + len(self.checks) + len(self.data)
        head = [len(self.arguments), len(self.bases), id(OTHER), id(np.ndarray), begin]
        words = np.array([*head, *self.checks, *self.data, *self.operations, 0, 0, 0], np.int64)
        made.ask_for_helpers(self.helpers)
        return made.function(words, self.keep)


def address_of_array(array: NumArray) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


def distances(array: NumArray) -> NumArray:
    """Each item's distance in bytes from the first one, and one more (so that no fill looks like one)."""
    found = np.ones(array.shape, np.int64)
    for axis, (length, stride) in enumerate(zip(array.shape, array.strides, strict=True)):
        found += (np.arange(length) * stride).reshape(-1, *(1,) * (array.ndim - axis - 1))
    return found
