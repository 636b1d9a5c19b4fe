"""Scans as LLVM text, in the order of scans (`backend.run.scans`): runs of `RUN` items, blocks of `BLOCK`.

LINES: whole lines, or the part of one from a block on.  A block is gone along twice: eight runs side by side, so that no addition
waits for another, into the thread's memory; then, vector by vector, with what is before each run joined, into the result.
TOTALS: only the total of each block, which is what lines cut into parts need first.
COLUMNS: lines side by side in vectors, item by item.

Words of LINES and TOTALS: lines; items of each; the source, its stride from line to line and from item to item; the result (of
TOTALS: one item a block) and its stride from line to line; the address of what is before the first item; what is
behind the last is written next to it.
Words of COLUMNS: tables; items of each line; the source, its strides from table to table and item to item; the result and its
strides; the lines of a table, which lie next to each other (at least `lanes`).

Neighbours: `store` (compiles it), `backend.run.cpu.scanning` (calls it).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from ...typechecker.elements import Kind
from .llvm_text import function_text
from .rooms import Rooms
from .scalar_text import Vectors, identity
from .writer import Writer

RUN: Final = 64
BLOCK: Final = 4096
_SIDES: Final = 8
"""Runs that are scanned side by side."""
_VECTORS: Final = 4
"""Vectors of columns that take a step together."""
_STRIP: Final = 512
"""Columns that are scanned together, a multiple of the lanes of `_VECTORS` vectors."""
_ALIGN: Final = 64


class Form(Enum):
    """See the module."""

    LINES = "lines"
    TOTALS = "totals"
    COLUMNS = "columns"


@dataclass(frozen=True, slots=True)
class Scan:
    """`lanes`: items of a vector, a divisor of `RUN`.  `unit`: the items of a source line lie next to each other.
    `streamed`: results bypass the caches; lines of the result start at multiples of 64 bytes."""

    function: str
    kind: Kind
    form: Form
    lanes: int
    unit: bool = True
    streamed: bool = False

    def text(self) -> str:
        writing = _Writing(self)
        match self.form:
            case Form.LINES:
                writing.lines()
            case Form.TOTALS:
                writing.totals()
            case Form.COLUMNS:
                writing.columns()
        w = writing.w
        w.do("ret i64 0")
        return function_text(w, [*writing.rooms.entry(), *w.lines])


class _Writing:
    def __init__(self, code: Scan) -> None:
        self.code, self.kind = code, code.kind
        self.w = Writer()
        self.one, self.v = Vectors(self.w, 1), Vectors(self.w, code.lanes)
        self.rooms = Rooms(self.w)
        self.type = self.one.type(code.kind)
        self.nothing = self.one.constant(code.kind, identity(code.function, code.kind))
        self.w.label("start")

    def word(self, place: int, type: str = "i64") -> str:
        address = self.w.let(f"getelementptr i64, ptr %words, i64 {place}")
        return self.w.let(f"load {type}, ptr {address}, align 8")

    def room(self, items: int) -> str:
        return self.rooms.room(items * self.kind.bytes)

    def item(self, base: str, place: object, stride: object = None) -> str:
        """The address of an item."""
        return self.w.at(base, self.w.word("mul", place, self.kind.bytes if stride is None else stride))

    def joined(self, left: str, right: str, vectors: Vectors | None = None) -> str:
        return (vectors or self.one).combine(self.code.function, self.kind, left, right)

    # ------------------------------------------------------------------------------------------ lines

    def lines(self) -> None:
        w, one = self.w, self.one
        count, length = self.word(0), self.word(1)
        source, source_line, step = self.word(2, "ptr"), self.word(3), self.word(4)
        result, result_line, carry = self.word(5, "ptr"), self.word(6), self.word(7, "ptr")
        stride = self.kind.bytes if self.code.unit else step
        room, totals = self.room(BLOCK), self.room(BLOCK // RUN)
        before_all = one.load(self.kind, carry)
        line = w.begin(0, count)
        source = w.at(source, w.word("mul", line.index, source_line))
        result = w.at(result, w.word("mul", line.index, result_line))
        blocks = w.begin(0, length, BLOCK, [(self.type, before_all)])
        items = w.smaller(w.word("sub", length, blocks.index), BLOCK)
        runs = self.runs(self.item(source, blocks.index, stride), stride, items, room, totals)
        target = self.item(result, blocks.index)
        before_block = blocks.carried[0]
        each = w.begin(0, runs, 1, [(self.type, self.nothing)])
        before = self.joined(before_block, each.carried[0])
        start = w.word("mul", each.index, RUN)
        self.join_run(before, self.item(room, start), self.item(target, start), w.smaller(w.word("sub", items, start), RUN))
        total = one.load(self.kind, self.item(totals, each.index))
        w.end(each, [self.joined(each.carried[0], total)])
        w.end(blocks, [self.joined(before_block, each.carried[0])])
        one.store(self.kind, blocks.carried[0], w.at(carry, self.kind.bytes))
        w.end(line)

    def join_run(self, before: str, source: str, target: str, items: str) -> None:
        w, v, lanes = self.w, self.v, self.code.lanes
        scalar = w.let(f"extractelement {self.type} {before}, i64 0")
        wide = v.splat(self.kind, scalar)
        whole = w.word("and", items, -lanes)
        align, tail = (_ALIGN, ", !nontemporal !0") if self.code.streamed else (1, "")
        vectors = w.begin(0, whole, lanes)
        value = self.joined(wide, v.load(self.kind, self.item(source, vectors.index)), v)
        v.store(self.kind, value, self.item(target, vectors.index), min(align, lanes * self.kind.bytes), tail)
        w.end(vectors)
        rest = w.begin(whole, items)
        value = self.joined(before, self.one.load(self.kind, self.item(source, rest.index)))
        self.one.store(self.kind, value, self.item(target, rest.index))
        w.end(rest)

    def runs(self, source: str, stride: object, items: str, room: str | None, totals: str) -> str:
        """Scan the runs of a block into `room`, their totals into `totals`; the number of runs."""
        w = self.w
        whole = w.word("lshr", items, RUN.bit_length() - 1)
        aside = w.word("and", whole, -_SIDES)
        groups = w.begin(0, aside, _SIDES)
        self.side_by_side(source, stride, groups.index, _SIDES, str(RUN), room, totals)
        w.end(groups)
        runs = w.word("lshr", w.word("add", items, RUN - 1), RUN.bit_length() - 1)
        single = w.begin(aside, runs)
        length = w.smaller(w.word("sub", items, w.word("mul", single.index, RUN)), RUN)
        self.side_by_side(source, stride, single.index, 1, length, room, totals)
        w.end(single)
        return runs

    def side_by_side(self, source: str, stride: object, run: str, count: int, length: str, room: str | None, totals: str) -> None:
        w, one = self.w, self.one
        firsts = [w.word("mul", w.word("add", run, side), RUN) for side in range(count)]
        sources = [self.item(source, first, stride) for first in firsts]
        targets = [self.item(room, first) for first in firsts] if room else []
        steps = w.begin(0, length, 1, [(self.type, self.nothing)] * count)
        sums = [
            self.joined(total, one.load(self.kind, self.item(address, steps.index, stride)))
            for total, address in zip(steps.carried, sources, strict=True)
        ]
        for target, total in zip(targets, sums, strict=False):
            one.store(self.kind, total, self.item(target, steps.index))
        w.end(steps, sums)
        for side, total in enumerate(steps.carried):
            one.store(self.kind, total, self.item(totals, w.word("add", run, side)))

    # ----------------------------------------------------------------------------------------- totals

    def totals(self) -> None:
        w, one = self.w, self.one
        length, source, step, result = self.word(1), self.word(2, "ptr"), self.word(4), self.word(5, "ptr")
        stride = self.kind.bytes if self.code.unit else step
        totals = self.room(BLOCK // RUN)
        blocks = w.begin(0, length, BLOCK)
        items = w.smaller(w.word("sub", length, blocks.index), BLOCK)
        runs = self.runs(self.item(source, blocks.index, stride), stride, items, None, totals)
        each = w.begin(0, runs, 1, [(self.type, self.nothing)])
        w.end(each, [self.joined(each.carried[0], one.load(self.kind, self.item(totals, each.index)))])
        place = w.word("lshr", blocks.index, BLOCK.bit_length() - 1)
        one.store(self.kind, each.carried[0], self.item(result, place))
        w.end(blocks)

    # ---------------------------------------------------------------------------------------- columns

    def columns(self) -> None:
        w, lanes = self.w, self.code.lanes
        count, length, source, source_table, step = self.word(0), self.word(1), self.word(2, "ptr"), self.word(3), self.word(4)
        result, result_table, result_step, cells = self.word(5, "ptr"), self.word(6), self.word(7), self.word(8)
        table = w.begin(0, count)
        source = w.at(source, w.word("mul", table.index, source_table))
        result = w.at(result, w.word("mul", table.index, result_table))
        wide = w.word("udiv", cells, lanes * _VECTORS)
        whole = w.word("mul", wide, lanes * _VECTORS)
        strips = w.begin(0, whole, _STRIP)
        source_strip, result_strip = self.item(source, strips.index), self.item(result, strips.index)
        self.strip(source_strip, step, result_strip, result_step, length, w.smaller(w.word("sub", whole, strips.index), _STRIP))
        w.end(strips)
        last = w.word("sub", cells, lanes)
        single = w.begin(whole, cells, lanes)
        self.column(source, step, result, result_step, length, w.smaller(single.index, last))
        w.end(single)
        w.end(table)

    def strip(self, source: str, step: str, result: str, result_step: str, length: str, cells: str) -> None:
        """Lines side by side, as many as groups of vectors hold: item by item, what they have come to in memory."""
        w, v, lanes = self.w, self.v, self.code.lanes
        nothing = v.constant(self.kind, identity(self.code.function, self.kind))
        sums, befores, runs_before, blocks_before = rooms = [self.room(_STRIP) for _ in range(4)]

        def load(room: str, at: str) -> str:
            return v.load(self.kind, self.item(room, at))

        clear = w.begin(0, cells, lanes)
        for room in rooms:
            v.store(self.kind, nothing, self.item(room, clear.index))
        w.end(clear)
        blocks = w.begin(0, length, BLOCK)
        end_block = w.smaller(w.word("add", blocks.index, BLOCK), length)
        runs = w.begin(blocks.index, end_block, RUN)
        fresh = w.begin(0, cells, lanes)
        before = self.joined(load(blocks_before, fresh.index), load(runs_before, fresh.index), v)
        v.store(self.kind, before, self.item(befores, fresh.index))
        v.store(self.kind, nothing, self.item(sums, fresh.index))
        w.end(fresh)
        steps = w.begin(runs.index, w.smaller(w.word("add", runs.index, RUN), end_block))
        offset, target = w.at(source, w.word("mul", steps.index, step)), w.at(result, w.word("mul", steps.index, result_step))
        groups = w.begin(0, cells, lanes * _VECTORS)
        for vector in range(_VECTORS):
            at = w.word("add", groups.index, lanes * vector)
            total = self.joined(load(sums, at), load(offset, at), v)
            v.store(self.kind, total, self.item(sums, at))
            v.store(self.kind, self.joined(load(befores, at), total, v), self.item(target, at))
        w.end(groups)
        w.end(steps)
        self.gather_up(runs_before, sums, cells)
        w.end(runs)
        self.gather_up(blocks_before, runs_before, cells)
        clear = w.begin(0, cells, lanes)
        v.store(self.kind, nothing, self.item(runs_before, clear.index))
        w.end(clear)
        w.end(blocks)

    def gather_up(self, totals: str, parts: str, cells: str) -> None:
        """Each of `totals` joined with its part."""
        w, v = self.w, self.v
        each = w.begin(0, cells, self.code.lanes)
        at = self.item(totals, each.index)
        v.store(self.kind, self.joined(v.load(self.kind, at), v.load(self.kind, self.item(parts, each.index)), v), at)
        w.end(each)

    def column(self, source: str, step: str, result: str, result_step: str, length: str, first: str) -> None:
        """One vector of lines, from the first item to the last."""
        w, v, type = self.w, self.v, self.v.type(self.kind)
        blank = [(type, v.constant(self.kind, identity(self.code.function, self.kind)))]
        source, result = self.item(source, first), self.item(result, first)
        blocks = w.begin(0, length, BLOCK, blank)
        end_block = w.smaller(w.word("add", blocks.index, BLOCK), length)
        runs = w.begin(blocks.index, end_block, RUN, blank)
        before = self.joined(blocks.carried[0], runs.carried[0], v)
        steps = w.begin(runs.index, w.smaller(w.word("add", runs.index, RUN), end_block), 1, blank)
        total = self.joined(steps.carried[0], v.load(self.kind, w.at(source, w.word("mul", steps.index, step))), v)
        v.store(self.kind, self.joined(before, total, v), w.at(result, w.word("mul", steps.index, result_step)))
        w.end(steps, [total])
        w.end(runs, [self.joined(runs.carried[0], steps.carried[0], v)])
        w.end(blocks, [self.joined(blocks.carried[0], runs.carried[0], v)])
