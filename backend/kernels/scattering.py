"""Keyed reduction as LLVM text: each item joins the entry of a table that its key names, in order.

A key that names no entry ends it (the result is 1).  Functions that are exact in any order use several tables in turn, so
that a run of equal keys does not wait for itself; the others use one, and run in the order of the items.  Where keys ascend
(`runs`) an entry stays in a register while its key does; a key below the one before ends it (the result is 2).

Words: the number of items; the address of the keys (i64) and their stride in bytes; of the items the same; the address of the
tables; the bytes of one table; the entries of one.

Neighbours: `store` (compiles it), `backend.run.cpu.scattering` (calls it).
"""

from __future__ import annotations

from dataclasses import dataclass

from ...typechecker.elements import Kind
from .ir import Step
from .scalar_text import combine
from .vectors import STORED, Vectors
from .writer import Writer, function_text

WORDS = 8


@dataclass(frozen=True, slots=True)
class Scatter:
    """`tables`: how many are used in turn, a power of two.  `unit`: keys lie next to each other.  `step`: how items do.
    `runs`: keys ascend, and there is an item."""

    function: str
    kind: Kind
    tables: int
    unit: bool = False
    step: Step = Step.STRIDED
    runs: bool = False

    def text(self) -> str:
        w = Writer()
        v = Vectors(w, 1)
        w.label("start")
        words = []
        for place in range(WORDS):
            address = w.let(f"getelementptr i64, ptr %words, i64 {place}")
            words.append(w.let(f"load {'ptr' if place in (1, 3, 5) else 'i64'}, ptr {address}, align 8"))
        count, keys, key_stride, items, item_stride, tables, pitch, entries = words
        key_step = "8" if self.unit else key_stride
        item_step = str(self.kind.bytes) if self.step is Step.UNIT else item_stride
        outside = w.new_label()
        only = v.load(self.kind, items) if self.step is Step.NONE else ""

        def key_at(at: str) -> str:
            return w.let(f"load i64, ptr {w.at(keys, w.word('mul', at, key_step))}, align 1")

        def item_at(at: str) -> str:
            return only or v.load(self.kind, w.at(items, w.word("mul", at, item_step)))

        def entry(table: str, key: str) -> str:
            return w.let(f"getelementptr {STORED[self.kind]}, ptr {table}, i64 {key}")

        def inside(key: str) -> None:
            label = w.new_label()
            w.branch(w.test("ult", key, entries), label, outside)
            w.label(label)

        if self.runs:
            first = key_at("0")
            inside(first)
            held = v.load(self.kind, entry(tables, first))
            loop = w.begin("0", count, 1, [("i64", first), (v.type(self.kind), held)])
            last, total = loop.carried
            key = key_at(loop.index)
            before, other, following, join = w.block, w.new_label(), w.new_label(), w.new_label()
            w.branch(w.test("eq", key, last), join, other)
            w.label(other)
            v.store(self.kind, total, entry(tables, last))
            below = w.new_label()
            w.branch(w.test("slt", key, last), below, following)
            w.label(below)
            w.do("ret i64 2")
            w.label(following)
            inside(key)
            other_total, behind = v.load(self.kind, entry(tables, key)), w.block
            w.jump(join)
            w.label(join)
            start = w.let(f"phi {v.type(self.kind)} [ {total}, %{before} ], [ {other_total}, %{behind} ]")
            w.end(loop, [key, combine(v, self.function, self.kind, start, item_at(loop.index))])
            v.store(self.kind, total, entry(tables, last))
        else:
            whole = w.word("and", count, -self.tables)
            starts = [w.at(tables, w.word("mul", pitch, table)) for table in range(self.tables)]
            for start, stop, step in (("0", whole, self.tables), (whole, count, 1)):
                loop = w.begin(start, stop, step)
                for table in range(step):
                    at = w.word("add", loop.index, table)
                    key = key_at(at)
                    inside(key)
                    item, held_at = item_at(at), entry(starts[table], key)
                    v.store(self.kind, combine(v, self.function, self.kind, v.load(self.kind, held_at), item), held_at)
                w.end(loop)
        w.do("ret i64 0")
        w.label(outside)
        w.do("ret i64 1")
        return function_text(w, ["entry:", "  br label %start", *w.lines])
