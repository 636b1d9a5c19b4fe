"""Stable grades of vectors and rows through kernels, and sorts of vectors in parts, on the team, in the memory of their results.

Items (of a grade: words of key and position) are dealt into as many parts as there are threads, and each part is sorted where it
lies, by NumPy's own function for its type.  That is a fixed sequence of launches for vectors of one length, which native helpers
do: they hold no lock and stay off the caller's processor.  Of one part a grade takes less than NumPy's, a sort does not.

Note [Pivots].  Parts of items end between different values; where many are equal, the nearest end of them is taken.  Words differ
in their positions, so that equal keys can be in two parts, unless bits of keys were lost: then words that are alike but for the
position stay together, to be repaired.

Neighbours: `sort_text` and `deal_text` (what is run); `sorting`, `keys` and `grading` (on NumPy, and ask).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Final

import numpy as np

from ...typechecker.elements import Kind
from ..graph.cells import frame_of
from ..graph.phases import LibraryPhase
from ..kernels import policy
from ..kernels.kept import Kept
from ..kernels.llvm_leaf import is_installed, vector_bytes
from ..kernels.store import Code, address_of
from ..run.cpu.kinds import DTYPES, NumArray
from ..run.cpu.launching import Block
from ..run.cpu.order import order_columns
from ..run.cpu.sharing import Pieces
from ..run.device import Types
from ..run.pool import room, trim
from .deal_text import Dealing, Stage
from .keys import is_ordered
from .numpy_sorts import numpy_sort
from .sort_text import HEAD, ITEMS_PLACE, MOST_PARTS, NOTES_PLACE, SORTED_KINDS, TARGET_PLACE, Form, Moves, Sorting
from .sorting import settle

LEAST: Final = {True: 1 << 9, False: 1 << 13}
"""Items from which kernels are asked for grades and for sorts: before, NumPy's calls take less."""
_PARTED: Final = 1 << 15
"""Items from which a vector is cut in parts."""
_SPARE: Final = 1 << 19
"""Items from which there are two parts a thread, so that a thread that is put aside has less to do."""
_LONG: Final = 1 << 22
"""Items of a part at most, while there may be more: interrupts are heard between them."""
_MOST: Final = 1 << 31
_SAVED: Final = {True: 6.0, False: 2.0}
"""Nanoseconds an item over NumPy, of grades and of sorts."""
_SAVED_CALLS: Final = 10_000.0
_PIECES: Final = 2
"""Pieces a thread, of what is dealt."""
_PIECES_OF_ROWS: Final = 8
_SAMPLE: Final = 256
"""Items of a sample for each part."""
_SPREAD: Final = np.uint64(0x9E3779B97F4A7C15)
"""Odd, near 2⁶⁴ times the golden section: its multiples are all over the words, regular in no way that data are likely to be."""
_WORK: Final = {Stage.TALLY: 0.4, Stage.DEAL: 1.0}
_SORTING: Final = {8: 7.0, 4: 3.5}
"""Nanoseconds an item, roughly; of a sort by its bytes."""
_WAKING: Final = 60_001.0
"""Added to what comes first: helpers that are awake for it are there for the sort."""
_KINDS: Final = frozenset({Kind.F64, Kind.F32, Kind.I64, Kind.I32, Kind.U8, Kind.BOOL, Kind.CHAR})
_BASES: Final = 3
"""Items, results, notes."""


@dataclass(frozen=True, slots=True)
class _Task:
    """`keyed`: a grade.  `rows`: of a matrix, each on its own; else 0."""

    kind: Kind
    keyed: bool
    descending: bool
    count: int
    threads: int
    rows: int = 0

    def parts(self) -> int:
        """As many as threads, or more if they would be long."""
        if self.threads < 2 or self.rows or self.count < max(_PARTED, 2):
            return 1
        each = max(1 if self.count < _SPARE else 2, -(-self.count // (self.threads * _LONG)))
        return min(MOST_PARTS, self.threads * each, self.count)

    def steps(self, parts: int) -> list[Code]:
        """What is called, one after the other."""
        kind, down = self.kind, self.descending and self.keyed
        lanes = max(1, vector_bytes() // (8 if self.keyed else kind.bytes))
        if parts == 1:
            return [Sorting(Form.ROWS, kind, lanes, down)]
        tally = Dealing(Stage.TALLY, kind, parts, self.keyed, lanes, down)
        dealt = [tally, Dealing(Stage.DEAL, kind, parts, self.keyed, 1, down)]
        if self.keyed:
            return [Sorting(Form.SPAN, kind, lanes, down), *dealt, Sorting(Form.ORDER, kind, lanes, down, parts)]
        return [*dealt, Sorting(Form.SORT, kind, parts=parts)]


class _Sort:
    """A task bound: what is called with which words, but for the addresses of the items, the results and the notes."""

    def __init__(self, task: _Task, calls: Sequence[int], function: int) -> None:
        parts, count = task.parts(), task.count
        self.task, self.parts = task, parts
        self.shape = (task.rows, count) if task.rows else (count,)
        self.dtype = np.dtype(np.int64) if task.keyed else DTYPES[task.kind]
        self.launches: list[Pieces] = []
        if parts == 1:
            self.launches.append(self.by_rows(max(1, task.rows), calls[0], function))
            return
        each = -(-count // (_PIECES * task.threads))
        starts = range(0, count, each)
        pieces = len(starts)
        self.notes = HEAD + pieces * parts

        def block(start: int, length: int, number: int) -> Block:
            words = [length, 0, start, function, 0, count - 1, 0, pieces, number]
            items = (ITEMS_PLACE, (0, start * task.kind.bytes))
            return Block(words, [items, (TARGET_PLACE, (1, 0)), (NOTES_PLACE, (2, 0))])

        whole, ordered = [block(0, count, 0)], [block(0, count, part) for part in range(parts)]
        cut = [block(start, min(each, count - start), piece) for piece, start in enumerate(starts)]
        for code, call in zip(task.steps(parts), calls, strict=True):
            if isinstance(code, Dealing):
                self.launches.append(_pieces(call, cut, task.threads, _WAKING + count * _WORK[code.stage]))
            elif isinstance(code, Sorting) and code.form in (Form.SORT, Form.ORDER):
                self.launches.append(_pieces(call, ordered, task.threads, count * _SORTING[self.dtype.itemsize]))
            else:
                self.launches.append(_pieces(call, whole, 1, count * 1.0))

    def by_rows(self, rows: int, call: int, function: int) -> Pieces:
        """Pieces of whole rows, each with notes of its own."""
        task, items = self.task, rows * self.task.count
        each = -(-rows // (_PIECES_OF_ROWS * task.threads)) if task.threads > 1 and items >= _PARTED else rows
        blocks: list[Block] = []
        for start in range(0, rows, each):
            ahead = start * task.count
            words = [task.count, 0, 0, function, 0, task.count - 1, 0, min(each, rows - start), 0]
            places = (ITEMS_PLACE, ahead * task.kind.bytes), (TARGET_PLACE, 8 * ahead), (NOTES_PLACE, 8 * HEAD * len(blocks))
            blocks.append(Block(words, [(place, (base, by)) for base, (place, by) in enumerate(places)]))
        self.notes = HEAD * len(blocks)
        return _pieces(call, blocks, task.threads, items * _SORTING[8])

    def run(self, items: NumArray) -> NumArray | None:
        """The result; None where a kernel gives up."""
        made: NumArray = room(self.shape, self.dtype)
        notes = np.empty(self.notes, np.int64)
        arrays = (items, made, notes)
        addresses = [int(array.__array_interface__["data"][0]) for array in arrays]
        for place, launch in enumerate(self.launches):
            if self.parts > 1 and place == int(self.task.keyed):  # behind SPAN
                self.choose(items, notes)
            if launch.run(addresses):
                return None
        return made

    def choose(self, items: NumArray, notes: NumArray) -> None:
        """The pivots, from items all over the vector.  See Note [Pivots]."""
        task, parts = self.task, self.parts
        spread = np.arange(1, min(task.count, _SAMPLE * parts) + 1, dtype=np.uint64) * _SPREAD >> np.uint64(32)
        places = spread * np.uint64(task.count) >> np.uint64(32)
        sample = items[places.view(np.int64)]
        if task.keyed:
            least, cut, up, lost = notes[Moves.LEAST : Moves.LOST + 1]
            wide = sample if task.kind.is_float else sample.astype(np.int64)
            keys = order_columns(wide, descending=task.descending)[0].astype(np.int64) - least
            sample = keys.view(np.uint64) >> cut.astype(np.uint64) << up.astype(np.uint64)
            sample |= np.uint64(0) if lost else places
        sample.sort()
        size = max(1, int(np.count_nonzero(sample == sample)))
        pivots = notes.view(sample.dtype)[:: notes.itemsize // sample.itemsize]
        for part in range(1, parts):
            place = size * part // parts
            before, after = (int(np.searchsorted(sample[:size], sample[place], side)) for side in ("left", "right"))
            is_near = after == size or place - before <= after - place
            pivots[part - 1] = sample[place if is_near else after]


def _pieces(address: int, blocks: Sequence[Block], threads: int, nanoseconds: float) -> Pieces:
    return Pieces(address, blocks, _BASES, threads, nanoseconds)


_bound: Final[Kept[_Sort]] = Kept(64)


def _sort_of(task: _Task) -> _Sort | None:
    """The task bound, once that is worth the time and if it can be."""
    found = _bound.get(task)
    if found is not None:
        return found
    dtype = np.dtype(np.uint64) if task.keyed else DTYPES[task.kind]
    codes, function = task.steps(task.parts()), numpy_sort(dtype)
    saved = _SAVED_CALLS * task.keyed + task.count * max(1, task.rows) * _SAVED[task.keyed]
    ready = [policy.is_worth(code, saved) for code in codes]  # each is asked: together they are made ready
    if function is None or not all(ready):
        return None
    calls = [address for address in map(address_of, codes) if address is not None]
    if len(calls) < len(codes):
        return None
    return _bound.put(task, (), _Sort(task, calls, function))


def _is_asked(items: NumArray, kind: Kind, keyed: bool) -> bool:
    current = policy.mode()
    if current is policy.Mode.OFF or (items.size < LEAST[keyed] and current is not policy.Mode.ALWAYS) or items.size < 2:
        return False
    return is_installed() and items.dtype == DTYPES[kind] and items.size < _MOST and items.flags.c_contiguous


def is_short(phase: LibraryPhase, types: Types) -> bool:
    """A vector of plain numbers, without a frame, too short for kernels?"""
    first = types.types[phase.args[0]]
    if prod(types.shape(phase.args[0])) >= LEAST[phase.op == "grade"]:
        return False
    return not frame_of(phase) and len(first.shape) == 1 and not first.element.kind.is_complex


@cache
def plain_order(kind: Kind, *, descending: bool) -> Callable[[NumArray], NumArray]:
    """The stable order of few items by NumPy, which is the language's: NaN behind all, equal zeros and NaNs as they are."""
    if not descending:
        return lambda items: items.argsort(kind="stable")
    if kind.is_float:
        return lambda items: (-items).argsort(kind="stable")
    return lambda items: (~items).argsort(kind="stable")


def graded(items: NumArray, kind: Kind, descending: bool, threads: int) -> NumArray | None:
    """The stable order of a vector, or of each row of a matrix; None where NumPy has to find it."""
    if kind not in _KINDS or items.ndim not in (1, 2) or items.shape[-1] < 2 or not _is_asked(items, kind, True):
        return None
    if items.ndim == 1 and is_ordered(items, descending=descending):
        trim()
        return np.arange(len(items))
    rows = len(items) if items.ndim == 2 else 0
    found = _sort_of(_Task(kind, True, descending, items.shape[-1], threads, rows))
    return None if found is None else found.run(items)


def sorted_vector(items: NumArray, kind: Kind, descending: bool, threads: int) -> NumArray | None:
    """The items of a vector in the order of their stable grade; None where NumPy has to sort them."""
    if kind not in SORTED_KINDS or items.ndim != 1 or not _is_asked(items, kind, False):
        return None
    task = _Task(kind, False, descending, len(items), threads)
    found = _sort_of(task) if task.parts() > 1 else None
    made = None if found is None else found.run(items)
    if made is not None:
        settle(items, made, descending=descending)
    return made
