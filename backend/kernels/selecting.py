"""Compress and where as LLVM text: what a mask selects, in order.

Eight bytes of the mask are looked at together: where none holds nothing is read, else each item is written where the next one
is due, and the place moves on by what the mask says.  So nothing is guessed.  Near the end of what is due, only what holds is
written.  Processors that can push the held lanes of a vector together (`packs`) write the eight items as one.

COPY: items of 1, 4, 8 or 16 bytes.  CELLS: runs of bytes.  PLACES: the number of the item.  PAIRS: the number of the table and
that of the item (the coordinates in a matrix).  The results of all tables lie one after the other.

Words: tables; items of each; the mask, and its bytes from table to table; the source, its strides from table to table and item
to item (of PLACES and PAIRS: the number of the first table and item in place of these); the result; how many items are due; the
bytes of a cell.  The processor has the lowest byte of a word first.

Neighbours: `store` (compiles it), `backend.run.cpu.selecting` (calls it).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from .writer import Writer, function_text

WORDS: Final = 10
_TYPES: Final = {1: "i8", 4: "i32", 8: "i64", 16: "<2 x i64>"}
WIDTHS: Final = frozenset(_TYPES)
_PACKED: Final = frozenset({4, 8})
_TOGETHER: Final = 8
_ONES: Final = 0x0101010101010101
_SEVENS: Final = 0x7F7F7F7F7F7F7F7F


class Form(Enum):
    """See the module."""

    COPY = "copy"
    CELLS = "cells"
    PLACES = "places"
    PAIRS = "pairs"


@dataclass(frozen=True, slots=True)
class Select:
    """`width`: bytes of an item of COPY, its stride too if `unit`.  `packs`: see the module (AVX-512 with short vectors)."""

    form: Form
    width: int = 8
    unit: bool = True
    packs: bool = False

    def text(self) -> str:
        writing = _Writing(self)
        writing.tables()
        writing.w.do("ret i64 0")
        return function_text(writing.w, ["entry:", "  br label %start", *writing.w.lines])


class _Writing:
    def __init__(self, code: Select) -> None:
        self.code, self.w = code, Writer()
        self.w.label("start")
        words = []
        for place in range(WORDS):
            address = self.w.let(f"getelementptr i64, ptr %words, i64 {place}")
            type = "ptr" if place in (2, 4, 7) and not (place == 4 and self.counts) else "i64"
            words.append(self.w.let(f"load {type}, ptr {address}, align 8"))
        (self.count, self.items, self.mask, self.mask_table, self.source, self.source_table, self.step, self.result, self.due,
         self.bytes) = words  # fmt: skip
        if code.form is Form.COPY and code.unit:
            self.step = str(code.width)

    @property
    def counts(self) -> bool:
        """Are items numbered, not copied?"""
        return self.code.form in (Form.PLACES, Form.PAIRS)

    def tables(self) -> None:
        w = self.w
        whole = w.word("and", self.items, -_TOGETHER)
        table = w.begin(0, self.count, 1, [("i64", "0")])
        mask = w.at(self.mask, w.word("mul", table.index, self.mask_table))
        if self.counts:
            first = w.word("add", self.source, table.index)
        else:
            first = w.at(self.source, w.word("mul", table.index, self.source_table))
        groups = w.begin(0, whole, _TOGETHER, [("i64", table.carried[0])])
        place = self.group(mask, first, groups.index, groups.carried[0])
        w.end(groups, [place])
        rest = w.begin(whole, self.items, 1, [("i64", groups.carried[0])])
        held = w.test("ne", w.let(f"zext i8 {w.let(f'load i8, ptr {w.at(mask, rest.index)}, align 1')} to i64"), 0)
        w.end(rest, [self.one(held, first, rest.index, rest.carried[0])])
        w.end(table, [rest.carried[0]])

    def group(self, mask: str, first: str, index: str, place: str) -> str:
        """Eight items; the place that is due next."""
        w = self.w
        word = w.let(f"load i64, ptr {w.at(mask, index)}, align 1")
        some, fast, slow, join = (w.new_label() for _ in range(4))
        before = w.block
        w.branch(w.test("ne", word, 0), some, join)
        w.label(some)
        # each byte that is not 0 becomes 1; then byte k counts those up to k
        low = w.word("add", w.word("and", word, _SEVENS), _SEVENS)
        word = w.word("and", w.word("lshr", w.word("or", low, word), 7), _ONES)
        upto = w.word("mul", word, _ONES)
        if self.code.form is Form.CELLS:
            w.jump(slow)
        else:
            w.branch(w.test("ule", w.word("add", place, _TOGETHER), self.due), fast, slow)
            w.label(fast)
            if self.code.packs and (self.code.form is Form.PLACES or (self.code.unit and self.code.width in _PACKED)):
                self.write_packed(mask, first, index, place)
            else:
                for item in range(_TOGETHER):
                    at = w.word("add", place, w.word("and", w.word("lshr", upto, 8 * item - 8), 255)) if item else place
                    self.write(first, w.word("add", index, item), at)
            all_written = w.word("add", place, w.word("lshr", upto, 56))
            w.jump(join)
        w.label(slow)
        each = w.begin(0, _TOGETHER, 1, [("i64", place)])
        bit = w.word("and", w.word("lshr", word, w.word("shl", each.index, 3)), 1)
        following = self.one(w.test("ne", bit, 0), first, w.word("add", index, each.index), each.carried[0])
        w.end(each, [following])
        end = w.block
        w.jump(join)
        w.label(join)
        fast_entry = "" if self.code.form is Form.CELLS else f", [ {all_written}, %{fast} ]"
        return w.let(f"phi i64 [ {place}, %{before} ], [ {each.carried[0]}, %{end} ]{fast_entry}")

    def write_packed(self, mask: str, first: str, index: str, place: str) -> None:
        """Eight items as a vector, those that are held in front."""
        w = self.w
        width = 8 if self.code.form is Form.PLACES else self.code.width
        type = f"<{_TOGETHER} x {_TYPES[width]}>"
        bytes = w.let(f"load <{_TOGETHER} x i8>, ptr {w.at(mask, index)}, align 1")
        held = w.let(f"icmp ne <{_TOGETHER} x i8> {bytes}, zeroinitializer")
        if self.code.form is Form.PLACES:
            start = w.let(f"insertelement {type} poison, i64 {w.word('add', self.step, index)}, i64 0")
            start = w.let(f"shufflevector {type} {start}, {type} poison, <{_TOGETHER} x i32> zeroinitializer")
            lanes = ", ".join(f"i64 {lane}" for lane in range(_TOGETHER))
            items = w.let(f"add {type} {start}, <{lanes}>")
        else:
            items = w.let(f"load {type}, ptr {w.at(first, w.word('mul', index, width))}, align 1")
        name = f"llvm.x86.avx512.mask.compress.v{_TOGETHER}{_TYPES[width]}"
        packed = w.call(type, name, (type, items), (type, "zeroinitializer"), (f"<{_TOGETHER} x i1>", held))
        w.do(f"store {type} {packed}, ptr {w.at(self.result, w.word('mul', place, width))}, align 1")

    def one(self, held: str, first: str, index: str, place: str) -> str:
        """One item if it is held.  Never more than are due: another thread may write to the mask after it was counted."""
        w = self.w
        write, join, before = w.new_label(), w.new_label(), w.block
        w.branch(w.let(f"and i1 {held}, {w.test('ult', place, self.due)}"), write, join)
        w.label(write)
        self.write(first, index, place)
        following = w.word("add", place, 1)
        written = w.block
        w.jump(join)
        w.label(join)
        return w.let(f"phi i64 [ {place}, %{before} ], [ {following}, %{written} ]")

    def write(self, first: str, index: str, place: str) -> None:
        w = self.w
        match self.code.form:
            case Form.COPY:
                type = _TYPES[self.code.width]
                item = w.let(f"load {type}, ptr {w.at(first, w.word('mul', index, self.step))}, align 1")
                w.do(f"store {type} {item}, ptr {w.at(self.result, w.word('mul', place, self.code.width))}, align 1")
            case Form.CELLS:
                w.declarations["declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"] = None
                source = w.at(first, w.word("mul", index, self.step))
                target = w.at(self.result, w.word("mul", place, self.bytes))
                w.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {target}, ptr {source}, i64 {self.bytes}, i1 false)")
            case Form.PLACES:
                number = w.word("add", self.step, index)
                w.do(f"store i64 {number}, ptr {w.at(self.result, w.word('shl', place, 3))}, align 8")
            case Form.PAIRS:
                target = w.at(self.result, w.word("shl", place, 4))
                w.do(f"store i64 {first}, ptr {target}, align 8")
                w.do(f"store i64 {w.word('add', self.step, index)}, ptr {w.at(target, 8)}, align 8")
