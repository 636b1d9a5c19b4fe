"""Equality of 64-bit words by hashing, as LLVM text: a table of positions, open, gone along from where the hash says.

INSERT puts the position of each word where no equal word is yet, so the first of equal ones stays.  FIRSTS also says of each word
whether it was put.  FIND gives for each of other words the position of an equal one, or the number of words where there is none.
Where a word is not found within `PATIENCE` places, they end with 1: hashes are all alike, and sorting does it.

Words: how many; their address; the table (i32, -1 where free) and its length less one, the length being a power of two; the
address of the words that positions are of, and how many; the result.

Neighbours: `store` (compiles it), `hashing` (calls it).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from ..kernels.writer import Writer, function_text

PATIENCE: Final = 4096
_AHEAD: Final = 16
"""How far ahead places in the table are asked for."""
_FACTORS: Final = (-7046029254386353131, -4417276706812531889)


class Form(Enum):
    """See the module."""

    INSERT = "insert"
    FIRSTS = "firsts"
    FIND = "find"


@dataclass(frozen=True, slots=True)
class Hashing:
    form: Form

    def text(self) -> str:
        w = Writer()
        w.label("start")
        words = []
        for place in range(7):
            address = w.let(f"getelementptr i64, ptr %words, i64 {place}")
            words.append(w.let(f"load {'ptr' if place in (1, 2, 4, 6) else 'i64'}, ptr {address}, align 8"))
        count, items, table, mask, known, absent, result = words
        lost = w.new_label()
        last = w.word("sub", count, 1)
        loop = w.begin(0, count)
        ahead = w.smaller(w.word("add", loop.index, _AHEAD), last)
        coming = w.let(f"load i64, ptr {w.at(items, w.word('shl', ahead, 3))}, align 8")
        w.declarations["declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"] = None
        there = w.at(table, w.word("shl", w.word("and", _hashed(w, coming), mask), 2))
        w.do(f"call void @llvm.prefetch.p0(ptr {there}, i32 0, i32 3, i32 1)")
        item = w.let(f"load i64, ptr {w.at(items, w.word('shl', loop.index, 3))}, align 8")
        probe, free, held, following, ready = (w.new_label() for _ in range(5))
        first = w.word("and", _hashed(w, item), mask)
        before = w.block
        w.jump(probe)
        w.label(probe)
        slot, tries = w.fresh(), w.fresh()
        slot_line, tries_line = w.hole(), w.hole()
        address = w.at(table, w.word("shl", slot, 2))
        position = w.let(f"sext i32 {w.let(f'load i32, ptr {address}, align 4')} to i64")
        w.branch(w.test("slt", position, 0), free, held)
        w.label(held)
        other = w.let(f"load i64, ptr {w.at(known, w.word('shl', position, 3))}, align 8")
        found, again = w.new_label(), w.new_label()
        w.branch(w.test("eq", other, item), found, again)
        w.label(again)
        next_slot = w.word("and", w.word("add", slot, 1), mask)
        next_tries = w.word("add", tries, 1)
        w.branch(w.test("ult", next_tries, PATIENCE), following, lost)
        w.label(following)
        w.jump(probe)
        w.fill(slot_line, f"{slot} = phi i64 [ {first}, %{before} ], [ {next_slot}, %{following} ]")
        w.fill(tries_line, f"{tries} = phi i64 [ 0, %{before} ], [ {next_tries}, %{following} ]")
        w.label(free)
        if self.form is not Form.FIND:
            w.do(f"store i32 {w.let(f'trunc i64 {loop.index} to i32')}, ptr {address}, align 4")
        self._put(w, result, loop.index, absent if self.form is Form.FIND else "1")
        w.jump(ready)
        w.label(found)
        self._put(w, result, loop.index, position if self.form is Form.FIND else "0")
        w.jump(ready)
        w.label(ready)
        w.end(loop)
        w.do("ret i64 0")
        w.label(lost)
        w.do("ret i64 1")
        return function_text(w, ["entry:", "  br label %start", *w.lines])

    def _put(self, w: Writer, result: str, index: str, value: str) -> None:
        match self.form:
            case Form.FIND:
                w.do(f"store i64 {value}, ptr {w.at(result, w.word('shl', index, 3))}, align 8")
            case Form.FIRSTS:
                w.do(f"store i8 {value}, ptr {w.at(result, index)}, align 1")
            case Form.INSERT:
                pass


def _hashed(w: Writer, item: str) -> str:
    """Bits that depend on all bits of the item."""
    first, second = _FACTORS
    mixed = w.word("mul", w.word("xor", item, w.word("lshr", item, 32)), first)
    mixed = w.word("mul", w.word("xor", mixed, w.word("lshr", mixed, 29)), second)
    return w.word("xor", mixed, w.word("lshr", mixed, 32))
