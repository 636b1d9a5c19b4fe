"""Files of a process that are the same as home's, and how fast the process reads them.

Neighbours: `seeing` (asks every process of a cluster), `resident` (answers), `files.stored` (marks).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from time import perf_counter_ns
from typing import Any, Final

from ....lang.diagnostics import RhoError
from ..files.stored import StoredInput, mark_of
from .probing import rounded

HERE: Final = "here"
_PROBED: Final = (1 << 16, 2 << 20)
"""Bytes of a file, about, whatever they become in memory."""
_PLACES: Final = 4
"""Of a file that are read, since what has been read once is quicker the next time."""
_SHARE: Final = 4 * _PLACES
"""So little of a file is read at a place: a quarter of it at all of them, for a server sends it to every process."""


def sight(inputs: Sequence[StoredInput], marks: Sequence[Sequence[Any]] = (), *, probe: bool) -> dict[str, Any]:
    """Of this process: which of the files are the same here, and what reading some of the largest takes.  `marks`: of further
    files."""
    same = [mark_of(one.file) == one.mark for one in inputs]
    there = [mark_of(path) == tuple(mark) for path, mark in marks]
    largest = max((one for one, is_same in zip(inputs, same, strict=True) if is_same), key=_bytes, default=None)
    size, ns = ([], []) if largest is None or not probe else _probed(largest)
    return {"same": same, "there": there, "size": size, "ns": ns}


def _bytes(one: StoredInput) -> int:
    return prod(one.shape) * one.kind.bytes


def _probed(one: StoredInput) -> tuple[list[int], list[int]]:
    """Bytes of an array, and what they take; nothing if they cannot be read."""
    row = prod(one.shape[1:]) * one.kind.bytes
    size: list[int] = []
    ns: list[int] = []
    try:
        stored = one.source.bytes
        for wanted in _PROBED:
            rows = max(1, one.shape[0] * min(wanted, stored // _SHARE) // stored)
            times = []
            for place in range(_PLACES):
                first, start = place * (one.shape[0] - rows) // _PLACES, perf_counter_ns()
                one.window(((first, first + rows), *((0, n) for n in one.shape[1:]))).read()
                times.append(rounded(perf_counter_ns() - start))
            if not size or rows * row > size[-1]:
                size.append(rows * row)
                ns.append(max([min(times), *ns]))
    except RhoError:
        return [], []
    return size, ns
