"""Scans as LLVM text, in the order of scans (`backend.run.scans`): runs of `RUN` items, blocks of `BLOCK`.

LINES: whole lines, or the part of one from a block on.  Some runs are scanned side by side, one a lane, so that few additions
wait for each other, into memory on the stack; then, vector by vector, with what is before each run joined, into the result.
Short lines are gone along side by side themselves.  Where the order does not show, lines are gone along in vectors (`running`).
COLUMNS: lines side by side in vectors (`scan_columns`).

Words of LINES: lines; items of each; the source, its stride from line to line and from item to item; the result and its stride
from line to line; the address of what is before the first item; what is behind the last is written next to it.  Where there
are 0 lines, the totals of the blocks of one line are found instead, which is what lines cut into parts need first: items of the
result one a block.
Words of COLUMNS: tables; items of each line; the source, its strides from table to table and item to item; the result and its
strides; the lines of a table, which lie next to each other (at least `lanes`).

Neighbours: `scan_words` (what they are written with), `store` (compiles it), `backend.run.cpu.scanning` (calls it).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ...typechecker.scalars import neutral
from .running import write_lines, write_totals
from .scan_columns import write_columns
from .scan_words import BLOCK, RUN, VECTORS, Form, ScanShape, ScanWriting
from .vectors import COMPUTED
from .writer import function_text

_SHORT: Final = 8 * RUN
"""Lines of so many items are gone along side by side, where there are enough."""
_ALIGN: Final = 64

@dataclass(frozen=True, slots=True)
class Scan(ScanShape):
    """A scan that kernels do."""

    def text(self) -> str:
        writing = _LineWriting(self)
        match self.form:
            case Form.LINES:
                writing.lines_or_totals()
            case Form.COLUMNS:
                write_columns(writing)
        w = writing.w
        w.do("ret i64 0")
        return function_text(w, [*writing.rooms.entry(), *w.lines])


class _LineWriting(ScanWriting):
    """Lines one after the other, or some side by side."""

    # ------------------------------------------------------------------------------------------ lines

    def lines_or_totals(self) -> None:
        w = self.w
        lines, totals = w.new_label(), w.new_label()
        w.branch(w.test("ne", self.word(0), 0), lines, totals)
        w.label(totals)
        if self.code.is_free and self.code.unit:
            write_totals(self)
            w.do("ret i64 0")
            w.label(lines)
            write_lines(self)
            return
        self.totals()
        w.do("ret i64 0")
        w.label(lines)
        count, length, many, few = self.word(0), self.word(1), w.new_label(), w.new_label()
        short = w.let(f"and i1 {w.test('ule', length, _SHORT)}, {w.test('uge', count, self.sides)}")
        w.branch(short, many, few)
        w.label(many)
        self.short_lines()
        w.do("ret i64 0")
        w.label(few)
        self.lines()

    @property
    def stride(self) -> str:
        return str(self.kind.bytes) if self.code.unit else self.word(4)

    def lines(self) -> None:
        w, one, stride = self.w, self.one, self.stride
        count, length, source, source_line = self.word(0), self.word(1), self.word(2, "ptr"), self.word(3)
        result, result_line, carry = self.word(5, "ptr"), self.word(6), self.word(7, "ptr")
        room, totals = self.room(self.sides * RUN), self.room(self.sides)
        before_all = one.load(self.kind, carry)
        line = w.begin(0, count)
        source = w.at(source, w.word("mul", line.index, source_line))
        result = w.at(result, w.word("mul", line.index, result_line))
        blocks = w.begin(0, length, BLOCK, [(self.type, before_all)])
        before_block = blocks.carried[0]
        items = w.smaller(w.word("sub", length, blocks.index), BLOCK)
        origin, target = self.item(source, blocks.index, stride), self.item(result, blocks.index)
        whole = w.word("lshr", items, RUN.bit_length() - 1)
        groups = w.begin(0, whole, self.sides, [(self.type, self.nothing)])
        left = self.group(origin, stride, groups.index, whole, room, totals)
        first = self.item(target, w.word("mul", groups.index, RUN))
        each = w.begin(0, left, 1, [(self.type, groups.carried[0])])
        start = w.word("mul", each.index, RUN)
        self.join_run(self.joined(before_block, each.carried[0]), self.item(room, start), self.item(first, start))
        w.end(each, [self.joined(each.carried[0], one.load(self.kind, self.item(totals, each.index)))])
        w.end(groups, [each.carried[0]])
        before = self.joined(before_block, groups.carried[0])
        rest = w.begin(w.word("mul", whole, RUN), items, 1, [(self.type, self.nothing)])
        total = self.joined(rest.carried[0], one.load(self.kind, self.item(origin, rest.index, stride)))
        one.store(self.kind, self.joined(before, total), self.item(target, rest.index))
        w.end(rest, [total])
        w.end(blocks, [self.joined(before_block, self.joined(groups.carried[0], rest.carried[0]))])
        one.store(self.kind, blocks.carried[0], w.at(carry, self.kind.bytes))
        w.end(line)

    def join_run(self, before: str, source: str, target: str) -> None:
        """A whole run with what is before it."""
        w, v, lanes = self.w, self.v, self.code.lanes
        scalar = w.let(f"extractelement {self.type} {before}, i64 0")
        wide = v.splat(self.kind, scalar)
        align, tail = (min(_ALIGN, lanes * self.kind.bytes), ", !nontemporal !0") if self.code.streamed else (1, "")
        for place in range(0, RUN, lanes):
            value = self.joined(wide, v.load(self.kind, self.item(source, place)), v)
            v.store(self.kind, value, self.item(target, place), align, tail)

    def group(self, source: str, stride: str, run: str, runs: str, room: str | None, totals: str) -> str:
        """Scan the following runs into `room`, their totals into `totals`; how many there are.  The last is done again
        in place of those that are not there."""
        w = self.w
        left = w.smaller(w.word("sub", runs, run), self.sides)
        last = w.word("sub", left, 1)
        sources = []
        for side in range(self.sides):
            own = w.word("add", run, w.smaller(last, side)) if side else run
            sources.append(self.item(source, w.word("mul", own, RUN), stride))
        targets = [self.item(room, side * RUN) for side in range(self.sides)] if room is not None else []
        found = self.side_by_side(sources, stride, targets, str(RUN))
        for place, total in enumerate(found):
            self.wide.store(self.kind, total, self.item(totals, place * self.wide.lanes))
        return left

    def side_by_side(
        self, sources: list[str], stride: str, targets: list[str], length: str, befores: list[str] | None = None
    ) -> tuple[str, ...]:
        """Scan as many items of each source into its target, if there are any; the totals, one a lane.

        `befores`: what is joined to the results."""
        w, v, lanes = self.w, self.wide, self.wide.lanes
        type = v.type(self.kind)
        state = [(type, v.constant(self.kind, neutral(self.code.function, self.kind)))] * VECTORS
        parts = [range(lanes * vector, lanes * vector + lanes) for vector in range(VECTORS)]
        begun = "0"
        if self.code.unit and lanes > 1:
            begun = w.word("and", length, -lanes)
            steps = w.begin(0, begun, lanes, state)
            totals = list(steps.carried)
            for vector, part in enumerate(parts):
                rows = self.turned([v.load(self.kind, self.item(sources[side], steps.index)) for side in part])
                for place, row in enumerate(rows):
                    totals[vector] = self.joined(totals[vector], row, v)
                    rows[place] = self.joined(befores[vector], totals[vector], v) if befores else totals[vector]
                for side, row in zip(part, self.turned(rows) if targets else [], strict=False):
                    v.store(self.kind, row, self.item(targets[side], steps.index))
            w.end(steps, totals)
            state = [(type, total) for total in steps.carried]
        steps = w.begin(begun, length, 1, state)
        totals, offset = [], w.word("mul", steps.index, stride)
        for vector, part in enumerate(parts):
            row = "poison"
            for lane, side in enumerate(part):
                item = self.one.load(self.kind, w.at(sources[side], offset))
                item = w.let(f"extractelement {self.type} {item}, i64 0")
                row = w.let(f"insertelement {type} {row}, {COMPUTED[self.kind]} {item}, i64 {lane}")
            totals.append(self.joined(steps.carried[vector], row, v))
            shown = self.joined(befores[vector], totals[vector], v) if befores else totals[vector]
            for lane, side in enumerate(part if targets else ()):
                item = w.let(f"shufflevector {type} {shown}, {type} poison, <1 x i32> <i32 {lane}>")
                self.one.store(self.kind, item, self.item(targets[side], steps.index))
        w.end(steps, totals)
        return steps.carried

    def turned(self, rows: list[str]) -> list[str]:
        """As many vectors as they have lanes: lane i of vector j becomes lane j of vector i."""
        rows, lanes, type = list(rows), self.wide.lanes, self.wide.type(self.kind)
        step = 1
        while step < lanes:
            for low in (place for place in range(lanes) if not place & step):
                pair = f"{type} {rows[low]}, {type} {rows[low + step]}"
                for place, ahead in ((low, 0), (low + step, step)):
                    order = [lanes + lane - step + ahead if lane & step else lane + ahead for lane in range(lanes)]
                    picked = ", ".join(f"i32 {lane}" for lane in order)
                    rows[place] = self.w.let(f"shufflevector {pair}, <{lanes} x i32> <{picked}>")
            step *= 2
        return rows

    def short_lines(self) -> None:
        """Lines of less than a block side by side; the last are taken back from the end."""
        w, one, v = self.w, self.one, self.wide
        count, length, source, source_line = self.word(0), self.word(1), self.word(2, "ptr"), self.word(3)
        result, result_line = self.word(5, "ptr"), self.word(6)
        scalar = w.let(f"extractelement {self.type} {one.load(self.kind, self.word(7, 'ptr'))}, i64 0")
        before_all = v.splat(self.kind, scalar)
        last = w.word("sub", count, self.sides)
        groups = w.begin(0, count, self.sides)
        lines = [w.word("add", w.smaller(groups.index, last), side) for side in range(self.sides)]
        sources = [w.at(source, w.word("mul", line, source_line)) for line in lines]
        targets = [w.at(result, w.word("mul", line, result_line)) for line in lines]
        blank = (v.type(self.kind), v.constant(self.kind, neutral(self.code.function, self.kind)))
        runs = w.begin(0, length, RUN, [blank] * VECTORS)
        befores = [self.joined(before_all, total, v) for total in runs.carried]
        sources = [self.item(address, runs.index, self.stride) for address in sources]
        targets = [self.item(address, runs.index) for address in targets]
        items = w.smaller(w.word("sub", length, runs.index), RUN)
        totals = self.side_by_side(sources, self.stride, targets, items, befores)
        w.end(runs, [self.joined(before, total, v) for before, total in zip(runs.carried, totals, strict=True)])
        w.end(groups)

    # ----------------------------------------------------------------------------------------- totals

    def totals(self) -> None:
        w, one, stride = self.w, self.one, self.stride
        length, source, result = self.word(1), self.word(2, "ptr"), self.word(5, "ptr")
        totals = self.room(self.sides)
        blocks = w.begin(0, length, BLOCK)
        items = w.smaller(w.word("sub", length, blocks.index), BLOCK)
        origin = self.item(source, blocks.index, stride)
        whole = w.word("lshr", items, RUN.bit_length() - 1)
        groups = w.begin(0, whole, self.sides, [(self.type, self.nothing)])
        left = self.group(origin, stride, groups.index, whole, None, totals)
        each = w.begin(0, left, 1, [(self.type, groups.carried[0])])
        w.end(each, [self.joined(each.carried[0], one.load(self.kind, self.item(totals, each.index)))])
        w.end(groups, [each.carried[0]])
        rest = w.begin(w.word("mul", whole, RUN), items, 1, [(self.type, self.nothing)])
        w.end(rest, [self.joined(rest.carried[0], one.load(self.kind, self.item(origin, rest.index, stride)))])
        place = w.word("lshr", blocks.index, BLOCK.bit_length() - 1)
        one.store(self.kind, self.joined(groups.carried[0], rest.carried[0]), self.item(result, place))
        w.end(blocks)
