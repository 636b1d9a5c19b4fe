"""Loops over rotations of their state, several turns at a time on bands of rows that stay in cache.

A band of rows is copied into a small buffer with as many rows above and below it as the turns reach; then its turns run between
two such buffers, each on fewer rows, and the last one writes the band's rows to the next array.  So memory is gone through
once for several turns; the rows that neighbouring bands both compute are few, and both get the same bits.  Each row in a buffer
has its wrapped neighbours beside it (`Kernel.ghosts`), and rows come into the buffers already wrapped around the first axis.

Every thread has its own buffers, its bands and their kernels, in one call (`kernels.chains`).  Threads meet after each stretch of
turns; there an interrupt is heard too.

Neighbours: `stencils` (decides, and runs the loops that are of another shape), `kernels.stencils` (which loops).
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from ....lang.certain import certain
from ....lang.opening import KERNEL_TEXT, read_text
from ....typechecker.elements import Kind
from ...kernels.build import Body, build_kernel
from ...kernels.chains import Chain
from ...kernels.ir import Form, Kernel, Load, Operand, Result, Step
from ...kernels.llvm_leaf import vector_bytes
from ...kernels.nest import plan_nest
from ...kernels.stencils import Turn
from ...kernels.store import address_of
from ...loops.lower.kernel import KernelCode
from ...schedule.facts.workspace import BANDS, FEW_BANDS
from ..pool import ALIGNMENT, room
from ..team import run_boxes
from .compiled import CALL, strides_over
from .kinds import DTYPES, NumArray

LEAST_ROW: Final = 16
"""Items of a row from which bands are thought of."""
LEAST_BAND: Final = 8
MOST_TURNS: Final = 16
_BUFFERED: Final = 1 << 18
"""Bytes of a thread's buffers where the size of its cache is not known."""
_PAGE: Final = 4096
_BYTE: Final = np.dtype(np.uint8)
_MEMORY: Final = 2.0
"""Going through memory once, in turns of computing."""


_CACHE: Final = Path("/sys/devices/system/cpu/cpu0/cache/index2/size")


@cache
def _buffer_bytes() -> int:
    """Half of a core's second-level cache."""
    try:
        found = read_text(_CACHE, KERNEL_TEXT).strip()
    except (OSError, ValueError):
        return _BUFFERED
    return max(_BUFFERED, int(found[:-1]) << 9) if found[:-1].isdigit() and found.endswith("K") else _BUFFERED


@dataclass(frozen=True, slots=True)
class Shape:
    """`band`: rows of a band; `turns`: of a stretch, at most; `above`, `below`: rows that one turn reaches."""

    band: int
    turns: int
    above: int
    below: int


def shape_of(turn: Turn, body: Body, space: Sequence[int], turns: int, threads: int) -> Shape | None:
    """How to cut the space; None: it is not of two axes, or its rows are too long or too short."""
    if len(space) != 2 or space[1] < LEAST_ROW or space[0] < 2 * LEAST_BAND:
        return None
    reach = [own[0] for own, state in zip(turn.offsets, turn.states, strict=True) if state is not None]
    above, below = max(0, *(-o for o in reach), 0), max(0, *reach, 0)
    if any(any(own) for own, state in zip(turn.offsets, turn.states, strict=True) if state is None):
        return None
    row = sum(_pitch(space[1], *_sides(turn), result.kind.bytes) for result in body.results)
    held = space[0] * space[1] * sum(result.kind.bytes for result in body.results)
    rows = min(_buffer_bytes(), buffers_planned(held) // max(1, threads)) // (2 * row)
    best: tuple[float, Shape] | None = None
    for count in range(1, min(turns, MOST_TURNS) + 1):
        band = min(rows - (above + below) * count, -(-space[0] // max(1, threads)))
        if band < LEAST_BAND:
            break
        cost = 1 + (above + below) * (count - 1) / (2 * band) + _MEMORY / count
        if best is None or cost < best[0]:
            best = cost, Shape(band, count, above, below)
    return None if best is None else best[1]


def buffers_planned(state: int) -> int:
    """Bytes of the buffers of all threads together: a plan has the state's old and new copies, one that the body makes, and
    `bands_workspace`; what runs here takes the copies and the buffers."""
    return state + min(2 * state + FEW_BANDS, BANDS)


def _sides(turn: Turn) -> tuple[int, int]:
    """Items beside each row: before it, behind it."""
    last = [own[-1] for own, state in zip(turn.offsets, turn.states, strict=True) if state is not None]
    return max(0, *(-o for o in last), 0), max(0, *last, 0)


def _pitch(row: int, left: int, right: int, bytes: int) -> int:
    """Bytes from row to row of a buffer: the first item of a row is aligned."""
    return _before(left, bytes) + -(-(row + right) * bytes // ALIGNMENT) * ALIGNMENT


def _before(left: int, bytes: int) -> int:
    return -(-left * bytes // ALIGNMENT) * ALIGNMENT


class Bands:
    """A turn on a space of one shape, for a team of one size and operands from outside of one layout."""

    def __init__(self, turn: Turn, body: Body, space: tuple[int, int], operands: Sequence[Kind], scalars: Sequence[int],
                 shape: Shape, outside: Mapping[int, NumArray], threads: int) -> None:  # fmt: skip
        self.turn, self.body, self.space, self.operands, self.shape = turn, body, space, operands, shape
        self.scalars, self.places = list(scalars), sorted(outside)
        self.left, self.right = _sides(turn)
        self.kinds = [result.kind for result in body.results]
        self.pitches = [_pitch(space[1], self.left, self.right, kind.bytes) for kind in self.kinds]
        self.starts = [_before(self.left, kind.bytes) for kind in self.kinds]
        self.strides = [self._strides(place, outside) for place in range(len(operands))]
        bands = _cut(space[0], shape.band, threads)
        self.teams = [bands[at::threads] for at in range(min(threads, len(bands)))]
        self.kept: list[dict[tuple[int, int], _Blocks]] = []

    def _strides(self, place: int, outside: Mapping[int, NumArray]) -> tuple[int, int]:
        if place in outside:
            rows, items = strides_over(outside[place], self.space)
            return rows, items
        state = self.turn.states[place]
        assert state is not None
        return self.pitches[state], self.operands[place].bytes

    def kernel(self) -> Kernel | None:
        nest = plan_nest(self.space, False, self.strides, range(2))
        if list(nest.order) != sorted(nest.order) or nest.groups != ((0,), (1,)):
            return None
        made = build_kernel(self.body, nest, self.operands, vector_bytes())
        return replace(made, scalars=made.scalars + 2, ghosts=made.scalars)

    def copier(self, place: int) -> Kernel:
        """What brings rows of a state into a buffer."""
        kind = self.kinds[place]
        lanes = vector_bytes() // kind.bytes
        operand = Operand(kind, Step.UNIT, (True, True))
        return Kernel(Form.MAP, 2, lanes, (operand,), 2, (Load(0),), (Result(0, kind, None),), ghosts=0)

    def run(self, kernel: Kernel, outside: Mapping[int, NumArray], state: Sequence[Any], turns: int) -> tuple[Any, ...] | None:
        """The state after so many turns; None: there is no code."""
        copiers = (self.copier(place) for place in range(len(self.kinds)))
        found = [address_of(Chain()), *(address_of(KernelCode(own)) for own in (kernel, *copiers))]
        codes = [code for code in found if code is not None]
        if len(codes) != len(found):
            return None
        stretches = -(-turns // self.shape.turns)
        lengths = [turns // stretches + (at < turns % stretches) for at in range(stretches)]
        made = [room(self.space, DTYPES[kind]) for kind in self.kinds]
        alone = stretches == 1 and all(map(_is_rows, state))
        spare = made if alone else [room(self.space, DTYPES[kind]) for kind in self.kinds]
        now = [_in_rows(array, free) for array, free in zip(state, spare if stretches % 2 else made, strict=True)]
        height = self.shape.band + (self.shape.above + self.shape.below) * max(lengths)
        buffers = [self.buffers(height) for _ in self.teams]
        others = [outside[place] for place in self.places]
        call = CALL(codes[0])
        plans = self.kept.pop() if self.kept else {}
        for at, length in enumerate(lengths):
            target = made if (stretches - at) % 2 else spare
            plan: list[_Blocks] = []
            for team, own in enumerate(self.teams):
                if (length, team) not in plans:
                    plans[length, team] = self.blocks(kernel.words(), own, length, codes[1:])
                plans[length, team].aim([*buffers[team], *now, *target, *others])
                plan.append(plans[length, team])

            def work(place: int, plan: list[_Blocks] = plan, owners: Any = (now, target, buffers, others)) -> None:
                call(plan[place].links.ctypes.data)

            run_boxes(range(len(plan)), lambda work=work: work, len(plan))  # type: ignore[misc]
            now = target
        self.kept.append(plans)
        return tuple(made)

    def buffers(self, height: int) -> list[NumArray]:
        """For each side and state; one side's rows lie half a page from the other's, so that no load waits for a store whose
        address it seems to share."""
        made: list[NumArray] = []
        for side in range(2):
            for pitch in self.pitches:
                whole = room((height * pitch + _PAGE,), _BYTE)
                address = whole.__array_interface__["data"][0]
                start = (side * _PAGE // 2 - address) % _PAGE
                made.append(whole[start : start + height * pitch])
        return made

    # -------------------------------------------------------------------------------------- blocks

    def blocks(self, words: int, bands: Sequence[tuple[int, int]], turns: int, codes: Sequence[int]) -> _Blocks:
        """The argument blocks of a thread's bands: each is copied in, and makes its turns."""
        above, below, size = self.shape.above, self.shape.below, self.space[0]
        made = _Blocks(max(words, _COPY_WORDS))
        firsts = [start - above * turns for start, _ in bands]
        pieces = [
            (band, first, last)
            for band, (start, stop) in enumerate(bands)
            for first, last in _cut_where_wrapped(start - above * turns, stop + below * turns, size)
        ]
        for place in range(len(self.kinds)):
            self.copy(made, place, _Rows(pieces, firsts, turns + 1, 0), codes[1 + place])
        wraps = bool(self.places) or bool(self.body.coordinates)
        for turn in range(1, turns + 1):
            pieces = [
                (band, first, last)
                for band, (start, stop) in enumerate(bands)
                for first, last in _cut_where_wrapped(
                    start - above * (turns - turn), stop + below * (turns - turn), size if wraps else 0
                )
            ]
            self.step(made, _Rows(pieces, firsts, turns + 1, turn), turn, turn == turns, codes[0])
        made.finish()
        return made

    def copy(self, made: _Blocks, place: int, rows: _Rows, code: int) -> None:
        bytes, pitch, states = self.kinds[place].bytes, self.pitches[place], len(self.kinds)
        line = self.space[1] * bytes
        columns = [rows.count, self.space[1], 0, 0, self.left, self.right]
        columns += [rows.first % self.space[0] * line, line, bytes]
        columns += [(rows.first - rows.base) * pitch + self.starts[place], pitch, bytes, 0]
        certain(len(columns) == _COPY_WORDS, "a copy has the words that its kernel reads")
        made.add(code, rows.keys, columns, {6: 2 * states + place, 9: place})

    def step(self, made: _Blocks, rows: _Rows, turn: int, is_last: bool, code: int) -> None:
        """One turn on some rows, between the buffers; the last one to the next array."""
        states, around, line = len(self.kinds), rows.first % self.space[0], rows.first - rows.base
        sides = [0, 0] if is_last else [self.left, self.right]
        columns: list[Any] = [rows.count, self.space[1], around, 0, *self.scalars, *sides]
        bases: dict[int, int] = {}
        source, target = (turn - 1) % 2 * states, turn % 2 * states
        for place, offsets in enumerate(self.turn.offsets):
            strides, state = self.strides[place], self.turn.states[place]
            if state is None:
                bases[len(columns)] = 4 * states + self.places.index(place)
                columns += [around * strides[0], *strides]
            else:
                bases[len(columns)] = source + state
                columns += [self.starts[state] + (line + offsets[0]) * strides[0] + offsets[1] * strides[1], *strides]
        for place, kind in enumerate(self.kinds):
            row, pitch = self.space[1] * kind.bytes, self.pitches[place]
            if is_last:
                bases[len(columns)] = 3 * states + place
                columns += [rows.first * row, row, kind.bytes]
            else:
                bases[len(columns)] = target + place
                columns += [self.starts[place] + line * pitch, pitch, kind.bytes]
        made.add(code, rows.keys, [*columns, 0], bases)


def _is_rows(array: NumArray) -> bool:
    return bool(array.flags.c_contiguous)


def _in_rows(array: NumArray, free: NumArray) -> NumArray:
    """The state in rows: itself, or copied to an array that nothing is written to until the second stretch."""
    if _is_rows(array):
        return array
    free[...] = array
    return free


_COPY_WORDS: Final = 2 + 2 + 2 + 3 + 3 + 1


def _cut(rows: int, band: int, threads: int) -> list[tuple[int, int]]:
    """Bands of about equal heights, a multiple of the threads of them, none higher than `band`."""
    count = -(-rows // band)
    count = min(rows, -(-count // threads) * threads)
    ends = [rows * at // count for at in range(count + 1)]
    return list(itertools.pairwise(ends))


def _cut_where_wrapped(first: int, last: int, size: int) -> list[tuple[int, int]]:
    """Rows `first` to `last`, cut at multiples of `size` (0: nowhere)."""
    if not size:
        return [(first, last)]
    ends = [first, *range((first // size + 1) * size, last, size), last]
    return list(itertools.pairwise(ends))


class _Rows:
    """Runs of rows: `first` and `count` of each, the row `base` its buffer starts with, and when it comes."""

    def __init__(self, pieces: Sequence[tuple[int, int, int]], firsts: Sequence[int], steps: int, step: int) -> None:
        band, self.first, last = np.array(pieces, np.int64).T
        self.count, self.base, self.keys = last - self.first, np.array(firsts)[band], band * steps + step


class _Blocks:
    """Argument blocks in a row, and the chain that calls them."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.parts: list[tuple[int, NumArray, NumArray, Mapping[int, int]]] = []

    def add(self, code: int, keys: NumArray, columns: Sequence[Any], bases: Mapping[int, int]) -> None:
        """Blocks whose words are numbers, or differ; `bases`: words that get an address added, by its number."""
        words = np.zeros((len(keys), self.width), np.int64)
        for at, column in enumerate(columns):
            words[:, at] = column
        self.parts.append((code, keys, words, bases))

    def finish(self) -> None:
        """Put them in order."""
        order = np.argsort(np.concatenate([keys for _, keys, _, _ in self.parts]), kind="stable")
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        self.words = np.concatenate([words for _, _, words, _ in self.parts])[order]
        self.links = np.empty(1 + 2 * len(order), np.int64)
        self.links[0] = len(order)
        self.links[1::2] = np.concatenate([np.full(len(keys), code) for code, keys, _, _ in self.parts])[order]
        self.links[2::2] = self.words.ctypes.data + 8 * self.width * np.arange(len(order))
        rows: list[NumArray] = []
        columns: list[int] = []
        bases: list[int] = []
        start = 0
        for _, keys, _, wanted in self.parts:
            for column, base in wanted.items():
                rows.append(place[start : start + len(keys)])
                columns += [column] * len(keys)
                bases += [base] * len(keys)
            start += len(keys)
        self.at = np.concatenate(rows) * self.width + np.array(columns)
        self.bases = np.array(bases)
        self.flat = self.words.reshape(-1)
        self.offsets = self.flat[self.at]
        self.parts = []

    def aim(self, arrays: Sequence[NumArray]) -> None:
        """Let the addresses be those of these arrays."""
        addresses = np.array([array.__array_interface__["data"][0] for array in arrays], np.int64)
        self.flat[self.at] = self.offsets + addresses[self.bases]
