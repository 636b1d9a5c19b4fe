"""Scans as loop programs for cards, in the order of scans.

LINES has a thread a line: for many lines, or lines that do not lie along memory (neighbouring threads then have neighbouring
items).  Else a block of threads has a block of items, which a thread a run scans in the block's memory.  Lines of one BLOCK need
nothing else; of lines of several BLOCKS one nest finds what each block comes to, one what is before each, and one scans it.

Words of LINES: tables; items of each line; the lines of a table, which lie next to each other; the source and its strides from
table to table and item to item; the result and its strides.  Of the others: lines; items of each; blocks of each; the source and
its stride from line to line; the result and its.

Neighbours: `scans` (the same on processors), `cuda` (prints these), `backend.run.cuda.scanning` (runs them).
"""

from __future__ import annotations

from enum import Enum
from functools import cache
from typing import Final

from ...typechecker.elements import Kind
from ..kernels.ir import BLOCK, RUN
from . import scans
from .builder import at
from .ir import ONE, ZERO, Index, LoopKind, Program, Role, View, plus, times
from .orders import integer

_RUNS: Final = BLOCK // RUN


class Form(Enum):
    LINES = ("tables", "length", "cells")
    BLOCK = ("lines", "length")
    BLOCKS = ("lines", "length", "blocks")


@cache
def card_scan(function: str, kind: Kind, form: Form) -> Program:
    scan, sizes = _Scan(scans.Scan(function, kind, scans.Form.LINES)), form.value
    scan.lines() if form is Form.LINES else scan.blocks(is_long=form is Form.BLOCKS)
    shape = tuple(map(at, sizes if form is Form.LINES else sizes[:2]))
    views = View("source", kind, shape, Role.INPUT), View("result", kind, shape, Role.OUTPUT)
    return Program("scan", sizes, (*views, *scan.b.views.values()), (*scan.b.preamble, *scan.b.statements))


class _Scan(scans.Scanning):
    def entry(self) -> list[tuple[Kind, str, None]]:
        return [(self.kind, self.nothing, None)]

    def lines(self) -> None:
        b = self.b
        with b.range(LoopKind.PARALLEL, at("tables")) as table, b.range(LoopKind.VECTOR, at("cells")) as cell:
            self.line(at(table.index), at(cell.index), at("length"))

    def line(self, table: Index, cell: Index, length: Index) -> None:
        b = self.b
        with b.loop(LoopKind.SERIAL, (ZERO,), (length,), self.entry(), step=BLOCK) as block:
            ends = plus(at(block.index), Index((), BLOCK)), length
            with b.loop(LoopKind.SERIAL, (at(block.index),), ends, self.entry(), step=RUN) as run:
                before, ends = self.joined(block.inside[0], run.inside[0]), (plus(at(run.index), Index((), RUN)), length)
                with b.loop(LoopKind.SERIAL, (at(run.index),), ends, self.entry()) as item:
                    item.yields = (self.joined(item.inside[0], self.item(table, at(item.index), cell)),)
                    self.store("result", self.joined(before, item.yields[0]), table, at(item.index), cell)
                run.yields = (self.joined(run.inside[0], item.results[0]),)
            block.yields = (self.joined(block.inside[0], run.results[0]),)

    def blocks(self, *, is_long: bool) -> None:
        """`tile`: the items of a block, runs a place apart so that they are in different banks; `sums`: what runs come to."""
        b, lines = self.b, at("lines")
        self.tile, self.sums, before = self.room(BLOCK + _RUNS), self.room(_RUNS), ""
        if is_long:
            before = b.view("before", self.kind, (lines, at("blocks")), Role.SCRATCH).name
            with b.range(LoopKind.PARALLEL, lines) as line, b.range(LoopKind.PARALLEL, at("blocks")) as block:
                self.runs(at(line.index), times(at(block.index), BLOCK))
                with b.range(LoopKind.VECTOR, ONE):
                    b.store(before, (at(line.index), at(block.index)), self.follow(self.sums, (), Index((), _RUNS)))
            with b.range(LoopKind.PARALLEL, lines) as line:
                self.follow(before, (at(line.index),), at("blocks"))
        with b.range(LoopKind.PARALLEL, lines) as line, b.range(LoopKind.PARALLEL, at("blocks") if is_long else ONE) as block:
            start = times(at(block.index), BLOCK)
            self.runs(at(line.index), start)
            with b.range(LoopKind.VECTOR, ONE):
                first = b.load(before, (at(line.index), at(block.index))) if is_long else None
                self.follow(self.sums, (), Index((), _RUNS), first)
            left = plus(at("length"), times(start, -1))
            with b.loop(LoopKind.VECTOR, (ZERO,), (Index((), BLOCK), left)) as item:
                scanned = b.load(self.tile, (self.place(item.index),))
                shown = self.joined(b.load(self.sums, (self.run_of(item.index),)), scanned)
                self.store("result", shown, at(line.index), plus(start, at(item.index)))

    def runs(self, line: Index, start: Index) -> None:
        """Scan the runs of a block; what is not there changes nothing."""
        b, left = self.b, plus(at("length"), times(start, -1))
        with b.range(LoopKind.VECTOR, Index((), BLOCK)) as item:
            is_there = b.compare("lt", at(item.index), left)
            found = self.item(line, plus(start, at(item.index)), mask=is_there)
            found = b.apply("select", (is_there, found, self.nothing), self.kind, self.kind)
            b.store(self.tile, (self.place(item.index),), found)
        with b.range(LoopKind.VECTOR, Index((), _RUNS)) as run:
            with b.range(LoopKind.SERIAL, Index((), RUN), self.entry()) as item:
                here = (plus(times(at(run.index), RUN + 1), at(item.index)),)
                item.yields = (self.joined(item.inside[0], b.load(self.tile, here)),)
                b.store(self.tile, here, item.yields[0])
            b.store(self.sums, (at(run.index),), item.results[0])

    def follow(self, view: str, outer: tuple[Index, ...], count: Index, first: str | None = None) -> str:
        """Each total becomes what is before it (behind `first`); what all come to."""
        with self.b.range(LoopKind.SERIAL, count, self.entry()) as loop:
            (before,), here = loop.inside, (*outer, at(loop.index))
            loop.yields = (self.joined(before, self.b.load(view, here)),)
            self.b.store(view, here, before if first is None else self.joined(first, before))
        return loop.results[0]

    def run_of(self, item: str) -> Index:
        return at(integer(self.b, "shr", self.b.constant(Kind.I64, RUN.bit_length() - 1), item))

    def place(self, item: str) -> Index:
        return plus(at(item), self.run_of(item))
