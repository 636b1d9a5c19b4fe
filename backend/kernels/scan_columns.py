"""Scans of lines side by side in vectors, as LLVM text: item by item, in the order of scans.

What each line has come to stays in registers for a run; what is before a run and before a block is in memory.

Neighbours: `scanning` (the words, the order).
"""

from __future__ import annotations

from typing import Final

from ...typechecker.scalars import neutral
from .scan_words import BLOCK, RUN, ScanWriting

_STRIP: Final = 512
"""Columns that are scanned together, a multiple of the lanes of the vectors of a group."""
_MANY_REGISTERS: Final = 64
"""Processors whose vectors have so many bytes have registers for twice as many."""


def write_columns(s: ScanWriting) -> None:
    w, lanes, kind = s.w, s.code.lanes, s.kind
    count, length, source, source_table, step = s.word(0), s.word(1), s.word(2, "ptr"), s.word(3), s.word(4)
    result, result_table, result_step, cells = s.word(5, "ptr"), s.word(6), s.word(7), s.word(8)
    rooms = (s.room(_STRIP), s.room(_STRIP))
    table = w.begin(0, count)
    source = w.at(source, w.word("mul", table.index, source_table))
    result = w.at(result, w.word("mul", table.index, result_table))
    vectors = 8 if lanes * kind.bytes >= _MANY_REGISTERS else 4
    whole = w.word("mul", w.word("udiv", cells, lanes * vectors), lanes * vectors)
    strips = w.begin(0, whole, _STRIP)
    places = (s.item(source, strips.index), step, s.item(result, strips.index), result_step)
    _strip(s, places, length, w.smaller(w.word("sub", whole, strips.index), _STRIP), vectors, rooms)
    w.end(strips)
    last = w.word("sub", cells, lanes)
    single = w.begin(whole, cells, lanes)
    first = w.smaller(single.index, last)
    places = (s.item(source, first), step, s.item(result, first), result_step)
    _strip(s, places, length, str(lanes), 1, rooms)
    w.end(single)
    w.end(table)


def _strip(
    s: ScanWriting, places: tuple[str, str, str, str], length: str, cells: str, vectors: int, rooms: tuple[str, str]
) -> None:
    """Lines side by side, as many as groups of vectors hold.  `places`: the source and its step, the result and its step."""
    w, v, lanes, kind = s.w, s.v, s.code.lanes, s.kind
    source, step, result, result_step = places
    type, blank = v.type(kind), v.constant(kind, neutral(s.code.function, kind))
    runs_before, blocks_before = rooms

    def load(room: str, at: str) -> str:
        return v.load(kind, s.item(room, at))

    clear = w.begin(0, cells, lanes)
    for room in rooms:
        v.store(kind, blank, s.item(room, clear.index))
    w.end(clear)
    blocks = w.begin(0, length, BLOCK)
    end_block = w.smaller(w.word("add", blocks.index, BLOCK), length)
    runs = w.begin(blocks.index, end_block, RUN)
    end_run = w.smaller(w.word("add", runs.index, RUN), end_block)
    groups = w.begin(0, cells, lanes * vectors)
    at = [w.word("add", groups.index, lanes * vector) for vector in range(vectors)]
    befores = [s.joined(load(blocks_before, place), load(runs_before, place), v) for place in at]
    steps = w.begin(runs.index, end_run, 1, [(type, blank)] * vectors)
    offset, target = w.at(source, w.word("mul", steps.index, step)), w.at(result, w.word("mul", steps.index, result_step))
    sums = [s.joined(total, load(offset, place), v) for total, place in zip(steps.carried, at, strict=True)]
    for before, total, place in zip(befores, sums, at, strict=True):
        v.store(kind, s.joined(before, total, v), s.item(target, place))
    w.end(steps, sums)
    for total, place in zip(steps.carried, at, strict=True):
        v.store(kind, s.joined(load(runs_before, place), total, v), s.item(runs_before, place))
    w.end(groups)
    w.end(runs)
    ends = w.begin(0, cells, lanes)
    total = s.joined(load(blocks_before, ends.index), load(runs_before, ends.index), v)
    v.store(kind, total, s.item(blocks_before, ends.index))
    v.store(kind, blank, s.item(runs_before, ends.index))
    w.end(ends)
    w.end(blocks)
