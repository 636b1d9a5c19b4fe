"""A native program: its words (`run.c`, Note [Words]), and what changes in them while it is used.

Neighbours: `encode` (makes the words), `sites` (add bindings), `layouts`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any, Final, TypeAlias

import numpy as np

from ..machine import Machine
from . import Native
from .layouts import Layouts

OTHER: Final = object()
"""What a native program returns for arguments that it is not for."""
MOST_LAYOUTS: Final = 16
"""Layouts of an argument that a program takes."""
HEAD: Final = 15
INPUT: Final = 2 + MOST_LAYOUTS
"""Words of `struct program` before its inputs, and of each of these."""
_RETIRED: Final = 5
Input: TypeAlias = tuple[np.dtype[Any], tuple[int, ...]]
"""What an argument is."""


class Operation(IntEnum):
    """Those of words, as `enum operation` of `run.c` has them."""

    RUN = 0
    FREE = 1
    SHARE = 2
    MOVE = 3
    CELL = 4
    PUT = 5
    SET = 6
    ADD = 7
    LOAD = 8
    EVALUATE = 9
    BRANCH = 10
    JUMP = 11
    POLL = 12
    GIVE = 13


def pause() -> None:
    """Called by loops now and then: Python looks for other threads, and for what they ask, as a function of its own begins."""


class Program:
    """`function`: takes the inputs in their order, gives the outputs, then what is printed (a tuple of several); `OTHER` for
    arguments that it is not for."""

    function: Callable[..., Any]
    words: np.ndarray[Any, np.dtype[np.int64]]
    inputs: Sequence[Input]

    def __init__(self, native: Native, machine: Machine, threads: int) -> None:
        self.native, self.machine, self.threads, self.layouts = native, machine, threads, Layouts()
        self.keep: list[object] = []
        self.asked = 0
        """How often sites have been."""

    def begin(self, words: Sequence[int], inputs: Sequence[Input], keep: Sequence[object]) -> None:
        """These are the words; they mention what is kept."""
        self.words, self.inputs = np.array(words, np.int64), inputs
        self.function = self.native.function(self.words, [self, *keep])

    @property
    def is_retired(self) -> bool:
        return bool(self.words[_RETIRED])

    def retire(self) -> None:
        """It has met more layouts than it can keep: another is to be made."""
        self.words[_RETIRED] = 1

    def admit(self, arrays: Sequence[Any]) -> bool:
        """Take arguments that lie like these from now on; False: there are none more, or they are of another type."""
        admitted = False
        for place, (array, (dtype, shape)) in enumerate(zip(arrays, self.inputs, strict=True)):
            if type(array) is not np.ndarray or array.dtype is not dtype or array.shape != shape:
                return False
            at = HEAD + place * INPUT
            layout, count = self.layouts.of(array), int(self.words[at + 1])
            if layout in self.words[at + 2 : at + 2 + count]:
                continue
            if count == MOST_LAYOUTS:
                return False
            self.words[at + 2 + count], self.words[at + 1], admitted = layout, count + 1, True
        return admitted
