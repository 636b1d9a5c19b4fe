"""A linked call as it is drafted: arguments to be checked, values made, launched on and given.

Neighbours: `linking` (from the steps of a plan), `encoding` (its words).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, Final, TypeAlias

import numpy as np

from ..native.words import Operation
from .kinds import NumArray
from .launching import HELPERS_PLACE

OTHER: Final = object()
"""What a linked call returns for arguments that it is not for."""
MOST_NANOSECONDS: Final = 10e6
"""Work of plans that are linked at most: of more, the calls are nothing, and an interrupt would not be heard."""
MOST_VALUES: Final = 256
_NOTHING: Final = np.empty(0, np.uint8)


Row: TypeAlias = tuple[Any, ...]
"""An operation and what it is about: numbers of values, and numbers, tuples of numbers and objects."""


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
    UNWRITTEN = "no step writes what another reads: a mistake in this room"


class Refused(Exception):
    """With the verdict."""


class Draft:
    """`bases`: arrays like the arguments, then like the values that are made (None: freed, or a number), whose contents nobody
    looks at.  `steps`: see `encoding`.  `lent`: bases that point into others and are no values."""

    def __init__(self, arguments: Sequence[tuple[str, NumArray, Take]]) -> None:
        self.arguments = {name: place for place, (name, _, _) in enumerate(arguments)}
        self.checks: list[int] = []
        self.bases: list[NumArray | None] = []
        for _, array, take in arguments:
            self.checks += [id(array.dtype) if take is Take.ARRAY else take.value, array.ndim]
            for length, stride in zip(array.shape, array.strides, strict=True):
                self.checks += [length, stride]
            self.bases.append(array)
        self.lent: set[int] = set()
        self.steps: list[Row] = []
        self.keep: list[object] = [array.dtype for _, array, _ in arguments]
        self.duration, self.helpers = 0.0, 0

    def new(self, example: NumArray | None) -> int:
        """The number of a new value."""
        if len(self.bases) >= MOST_VALUES:
            raise Refused(Verdict.NEVER)
        self.bases.append(example)
        return len(self.bases) - 1

    def make(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> int:
        """A new value."""
        example = np.empty(shape, dtype)
        number = self.new(example)
        self.steps.append((Operation.MAKE, number, dtype, shape))
        return number

    def show(self, array: NumArray, source: int) -> int:
        """A new value that shows part of another, as this array does."""
        whole = self.bases[source]
        if whole is None:
            raise Refused(Verdict.NEVER)
        number, ahead = self.new(array), address_of_array(array) - address_of_array(whole)
        self.steps.append((Operation.VIEW, number, array.dtype, array.shape, array.strides, ahead, source))
        return number

    def hold(self, maker: Callable[[], object]) -> int:
        """A new value that is no array: what `maker` gives, held until it is dropped (also where the call ends early)."""
        number = self.new(_NOTHING)
        self.steps.append((Operation.CALL, number, maker, ()))
        return number

    def drop(self, number: int) -> None:
        if number not in self.lent:
            self.steps.append((Operation.FREE, number))
        self.bases[number] = None

    def launch(self, words: list[int] | None, writes: Sequence[int]) -> None:
        """Of a kernel that fills these values, or a part of them."""
        if words is None:
            raise Refused(Verdict.NEVER)
        if not words[0]:
            return  # the kernel is not there yet: nobody writes these values
        self.helpers = max(self.helpers, words[HELPERS_PLACE])
        self.steps.append((Operation.LAUNCH, tuple(words), tuple(writes)))

    def work(self, duration: float) -> None:
        self.duration += duration
        if self.duration > MOST_NANOSECONDS:
            raise Refused(Verdict.NEVER)

    def give(self, given: Sequence[int]) -> None:
        """These values are returned, all others dropped."""
        for root, array in enumerate(self.bases):
            if array is not None and root >= len(self.arguments) and root not in given:
                self.drop(root)
        self.steps.append((Operation.GIVE, *given))


def address_of_array(array: NumArray) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


def distances(array: NumArray) -> NumArray:
    """Each item's distance in bytes from the first one, and one more (so that no fill looks like one)."""
    found = np.ones(array.shape, np.int64)
    for axis, (length, stride) in enumerate(zip(array.shape, array.strides, strict=True)):
        found += (np.arange(length) * stride).reshape(-1, *(1,) * (array.ndim - axis - 1))
    return found
