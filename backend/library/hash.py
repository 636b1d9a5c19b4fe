"""Equality and order of cells by hashing, by tables of known ranges and by integer keys: first occurrences, positions in a
table, stable order."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

from ...lang.support.records import dataclass
from ...typechecker.elements import Kind
from ..cpu.numpy_reductions import order_columns
from ..cpu.parallel_for import address_if_worthwhile, may_launch, run_tasks
from ..cpu.views import NumArray
from ..graph.scratch import QUERIES, TABLE_QUERIES
from ..jit.compiler import vector_bytes
from ..jit.tiering import PIECES_NANOSECONDS as PARALLEL
from ..vm.run_state import pooled_empty, reshaped

if TYPE_CHECKING:
    from ..codegen.llvm_builder import IrBuilder

# ------------------------------------------------------------------------------------------------ code generation of hash tables
#
# Equality of 64-bit words by hashing, as LLVM text: a hash table of positions with open addressing and linear probing.
#
# INSERT inserts the position of each word unless an equal word is there, so the first of equal words stays.  FIRSTS also returns
# for each word whether it was inserted.  FIND returns for each query the position of an equal word, or the number of words if
# there is none.  A probe of more than `PATIENCE` slots ends the kernel with 1, since the hashes collide; the caller sorts
# instead.
#
# Argument block: number of words; their address; the table (i32, -1 for a free slot) and its length less one (a power of two less
# one); the address of the words that positions refer to, and their number; the result.

PATIENCE: Final = 4096
_AHEAD: Final = 16
"""Words by which slots of the table are prefetched ahead."""
_FACTORS: Final = (-7046029254386353131, -4417276706812531889)


class HashForm(Enum):
    """The kernels of hash tables, described in the section above."""

    INSERT = "insert"
    FIRSTS = "firsts"
    FIND = "find"


@dataclass(frozen=True, slots=True)
class Hashing:
    form: HashForm

    def text(self) -> str:
        from ..codegen.llvm_builder import IrBuilder, function_text

        w = IrBuilder()
        w.label("start")
        words = []
        for operand in range(7):
            address = w.let(f"getelementptr i64, ptr %words, i64 {operand}")
            words.append(w.let(f"load {'ptr' if operand in (1, 2, 4, 6) else 'i64'}, ptr {address}, align 8"))
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
        occupied, again = w.new_label(), w.new_label()
        w.branch(w.test("eq", other, item), occupied, again)
        w.label(again)
        next_slot = w.word("and", w.word("add", slot, 1), mask)
        next_tries = w.word("add", tries, 1)
        w.branch(w.test("ult", next_tries, PATIENCE), following, lost)
        w.label(following)
        w.jump(probe)
        w.fill(slot_line, f"{slot} = phi i64 [ {first}, %{before} ], [ {next_slot}, %{following} ]")
        w.fill(tries_line, f"{tries} = phi i64 [ 0, %{before} ], [ {next_tries}, %{following} ]")
        w.label(free)
        if self.form is not HashForm.FIND:
            w.do(f"store i32 {w.let(f'trunc i64 {loop.index} to i32')}, ptr {address}, align 4")
        self._put(w, result, loop.index, absent if self.form is HashForm.FIND else "1")
        w.jump(ready)
        w.label(occupied)
        self._put(w, result, loop.index, position if self.form is HashForm.FIND else "0")
        w.jump(ready)
        w.label(ready)
        w.end(loop)
        w.do("ret i64 0")
        w.label(lost)
        w.do("ret i64 1")
        return function_text(w, ["entry:", "  br label %start", *w.lines])

    def _put(self, w: IrBuilder, result: str, index: str, value: str) -> None:
        match self.form:
            case HashForm.FIND:
                w.do(f"store i64 {value}, ptr {w.at(result, w.word('shl', index, 3))}, align 8")
            case HashForm.FIRSTS:
                w.do(f"store i8 {value}, ptr {w.at(result, index)}, align 1")
            case HashForm.INSERT:
                pass


def _hashed(w: IrBuilder, item: str) -> str:
    """Returns the hash of an item, of which every bit depends on all bits of the item."""
    first, second = _FACTORS
    mixed = w.word("mul", w.word("xor", item, w.word("lshr", item, 32)), first)
    mixed = w.word("mul", w.word("xor", mixed, w.word("lshr", mixed, 29)), second)
    return w.word("xor", mixed, w.word("lshr", mixed, 32))


# ---------------------------------------------------------------------------------------------------- running the tables

_MOST: Final = 1 << 30
_SAVED_BY_HASHING: Final = 20.0
_WORK: Final = 5.0
_PIECES: Final = 4


def first_of_equal(words: NumArray) -> NumArray | None:
    """Returns for each word whether it is the first of its equals; None if the caller has to sort."""
    address = _asked(HashForm.FIRSTS, words, len(words))
    if address is None:
        return None
    table = _table(len(words))
    result = np.empty(len(words), np.bool_)
    return result if _call(address, words, table, words, result) else None


def positions(table_words: NumArray, words: NumArray, threads: int) -> NumArray | None:
    """Returns the first position of each of `words` in `table_words`, the length of that if absent; None if the caller has to
    sort."""
    every = len(table_words) + len(words)
    insert, find = (_asked(form, table_words, every) for form in (HashForm.INSERT, HashForm.FIND))
    if insert is None or find is None or words.dtype != np.int64 or not words.flags.c_contiguous:
        return None
    table = _table(len(table_words))
    if not _call(insert, table_words, table, table_words, table):
        return None
    result = np.empty(len(words), np.int64)
    team = threads if len(words) * _WORK >= PARALLEL else 1
    each = max(1, -(-len(words) // (_PIECES * team if team > 1 else 1)))
    return result if _call(find, words, table, table_words, result, each, team) else None


def _asked(form: HashForm, words: NumArray, items: int) -> int | None:
    if words.dtype != np.int64 or not words.flags.c_contiguous or not 0 < len(words) < _MOST:
        return None
    return address_if_worthwhile(Hashing(form), items * _SAVED_BY_HASHING)


def _table(count: int) -> NumArray:
    """Returns an empty table of at least twice `count` slots."""
    return np.full(1 << (2 * count - 1).bit_length(), -1, np.int32)


def _call(address: int, words: NumArray, table: NumArray, known: NumArray, result: NumArray, each: int = 0, team: int = 1
          ) -> bool:  # fmt: skip
    """Run a kernel; returns whether no probe gave up.  `each`: words per task, or 0 for a single task."""
    queries, slots, others, target = [array.__array_interface__["data"][0] for array in (words, table, known, result)]
    calls = [
        (min(each or len(words), len(words) - start), queries + start * words.itemsize, slots, len(table) - 1, others, len(known),
         target + start * result.itemsize)
        for start in range(0, len(words), each or len(words))
    ]  # fmt: skip
    return not run_tasks(address, calls, team, len(words) * _WORK)


# ---------------------------------------------------------------------------------------------------- direct addressing
#
# Integers in a narrow range, by type or by one pass, address a table with a slot for each value of the range: they are counted,
# put in order, marked as seen, and searched without comparisons.
#
# `value_range` decides whether items qualify.  COUNT counts the items of each value.  PLACE writes the position of each item to
# the next free slot of its value, so that a stable grade is counts, their running sums and PLACE.  FILL writes each value as
# often as it was counted.  FIRST enters the first position of each value, LOOKUP reads it for each item, the entry after the
# range for items outside.  SEEN marks the values that occur, MEMBER reads the marks; NEW marks and tells for each item whether it
# was the first.  FIRST, SEEN and NEW stop as soon as all values of the range have occurred.
#
# Argument block: number of items; their address; the value of slot 0; the number of slots; the table (of i32, of marks i8); the
# result; the position of the first item; the number of results.  Slots and positions stay inside the table and the result even if
# another thread changes the items during the run.


class TableForm(Enum):
    """The kernels of direct addressing, described in the section above."""

    COUNT = "count"
    PLACE = "place"
    FILL = "fill"
    FIRST = "first"
    LOOKUP = "lookup"
    SEEN = "seen"
    MEMBER = "member"
    NEW = "new"


_KIND_OF: Final = {
    np.dtype(np.bool_): Kind.U8, np.dtype(np.uint8): Kind.U8, np.dtype(np.int32): Kind.I32, np.dtype(np.uint32): Kind.CHAR,
    np.dtype(np.int64): Kind.I64,
}  # fmt: skip
_BLOCK: Final = 1 << 10
"""Items between tests whether all values have occurred."""


@dataclass(frozen=True, slots=True)
class DirectAddressing:
    """A kernel for items of a kind; `descending`: slot 0 is that of the greatest value."""

    form: TableForm
    kind: Kind
    lanes: int = 1
    descending: bool = False

    def text(self) -> str:
        from ..codegen.llvm_builder import IrBuilder, function_text

        w = IrBuilder()
        w.label("start")
        words = []
        for operand in range(8):
            address = w.let(f"getelementptr i64, ptr %words, i64 {operand}")
            words.append(w.let(f"load {'ptr' if operand in (1, 4, 5) else 'i64'}, ptr {address}, align 8"))
        writer = _TableWriter(self, w, *words)
        match self.form:
            case TableForm.COUNT | TableForm.PLACE:
                loop = w.begin(0, words[0])
                (writer.count if self.form is TableForm.COUNT else writer.place)(loop.index)
                w.end(loop)
            case TableForm.FILL:
                writer.fill()
            case TableForm.FIRST | TableForm.SEEN | TableForm.NEW:
                writer.until_all_occurred()
            case TableForm.LOOKUP | TableForm.MEMBER:
                writer.read()
        w.do("ret i64 0")
        return function_text(w, ["entry:", "  br label %start", *w.lines])


class _TableWriter:
    """Writes the loops of one kernel; the parameters after `w` are the words of its argument block."""

    def __init__(self, code: DirectAddressing, w: IrBuilder, items_count: str, items: str, least: str, slots: str, table: str,
                 result: str, first: str, results: str) -> None:  # fmt: skip
        self.code, self.w, self.items_count, self.items, self.least, self.slots = code, w, items_count, items, least, slots
        self.table, self.result, self.first, self.results = table, result, first, results

    def slot(self, index: str) -> str:
        """The slot of an item; for an item outside the range, the extra slot behind all others."""
        from ..codegen.llvm_scalars import STORED

        w, kind = self.w, self.code.kind
        item = w.let(f"load {STORED[kind]}, ptr {w.at(self.items, w.word('mul', index, kind.bytes))}, align 1")
        if kind is not Kind.I64:
            item = w.let(f"{_extension(kind)} {STORED[kind]} {item} to i64")
        order = (self.least, item) if self.code.descending else (item, self.least)
        return w.smaller(w.word("sub", *order), self.slots)

    def entry(self, slot: str) -> str:
        return self.w.at(self.table, self.w.word("shl", slot, 2))

    # ------------------------------------------------------------------------------------------ counting

    def count(self, index: str) -> None:
        w, address = self.w, self.entry(self.slot(index))
        more = w.let(f"add i32 {w.let(f'load i32, ptr {address}, align 4')}, 1")
        w.do(f"store i32 {more}, ptr {address}, align 4")

    def place(self, index: str) -> None:
        w, address = self.w, self.entry(self.slot(index))
        free = w.let(f"load i32, ptr {address}, align 4")
        w.do(f"store i32 {w.let(f'add i32 {free}, 1')}, ptr {address}, align 4")
        target = w.smaller(w.let(f"zext i32 {free} to i64"), w.word("sub", self.results, 1))
        w.do(f"store i64 {w.word('add', self.first, index)}, ptr {w.at(self.result, w.word('shl', target, 3))}, align 8")

    def fill(self) -> None:
        """Writes each value as often as it was counted, in full vectors: what they write beyond a value's run, the next runs
        overwrite."""
        from ..codegen.llvm_scalars import STORED

        w, kind, lanes = self.w, self.code.kind, self.code.lanes
        stored = STORED[kind]
        safe = w.call("i64", "llvm.usub.sat.i64", ("i64", self.results), ("i64", str(lanes - 1)))
        runs = w.begin(0, self.slots, 1, [("i64", "0")])
        value = w.word("sub" if self.code.descending else "add", self.least, runs.index)
        if stored != "i64":
            value = w.let(f"trunc i64 {value} to {stored}")
        start = runs.carried[0]
        times = w.let(f"load i32, ptr {self.entry(runs.index)}, align 4")
        stop = w.smaller(w.word("add", start, w.let(f"zext i32 {times} to i64")), self.results)
        wide = w.let(f"insertelement <{lanes} x {stored}> poison, {stored} {value}, i64 0")
        wide = w.let(f"shufflevector <{lanes} x {stored}> {wide}, <{lanes} x {stored}> poison, <{lanes} x i32> zeroinitializer")
        vectors = w.begin(start, w.smaller(stop, safe), lanes)
        w.do(f"store <{lanes} x {stored}> {wide}, ptr {w.at(self.result, w.word('mul', vectors.index, kind.bytes))}, align 1")
        w.end(vectors)
        rest = w.begin(vectors.index, stop)
        w.do(f"store {stored} {value}, ptr {w.at(self.result, w.word('mul', rest.index, kind.bytes))}, align 1")
        w.end(rest)
        w.end(runs, [stop])

    # ------------------------------------------------------------------------------------------ occurrences

    def until_all_occurred(self) -> None:
        """Loops over blocks of items, and stops once all values have occurred, since later items are not new."""
        w = self.w
        blocks = w.begin(0, self.items_count, _BLOCK, [("i64", self.slots)])
        stop = w.smaller(w.word("add", blocks.index, _BLOCK), self.items_count)
        some, none, following = (w.new_label() for _ in range(3))
        w.branch(w.test("ne", blocks.carried[0], 0), some, none)
        w.label(some)
        loop = w.begin(blocks.index, stop, 1, [("i64", blocks.carried[0])])
        w.end(loop, [w.word("sub", loop.carried[0], self.occurred(loop.index))])
        after = w.block
        w.jump(following)
        w.label(none)
        if self.code.form is TableForm.NEW:
            w.declarations["declare void @llvm.memset.p0.i64(ptr, i8, i64, i1 immarg)"] = None
            length = w.word("sub", stop, blocks.index)
            w.do(f"call void @llvm.memset.p0.i64(ptr {w.at(self.result, blocks.index)}, i8 0, i64 {length}, i1 false)")
        w.jump(following)
        w.label(following)
        left = w.let(f"phi i64 [ {loop.carried[0]}, %{after} ], [ 0, %{none} ]")
        w.end(blocks, [left])

    def occurred(self, index: str) -> str:
        """Marks an item's value; returns 1 if it is new, else 0."""
        w, slot = self.w, self.slot(index)
        if self.code.form is TableForm.FIRST:
            address = self.entry(slot)
            known = w.let(f"load i32, ptr {address}, align 4")
            is_new = w.let(f"icmp eq i32 {known}, {w.let(f'trunc i64 {self.results} to i32')}")
            position = w.let(f"select i1 {is_new}, i32 {w.let(f'trunc i64 {index} to i32')}, i32 {known}")
            w.do(f"store i32 {position}, ptr {address}, align 4")
            return w.let(f"zext i1 {is_new} to i64")
        address = w.at(self.table, slot)
        fresh = w.let(f"xor i8 {w.let(f'load i8, ptr {address}, align 1')}, 1")
        w.do(f"store i8 1, ptr {address}, align 1")
        if self.code.form is TableForm.NEW:
            w.do(f"store i8 {fresh}, ptr {w.at(self.result, index)}, align 1")
        return w.let(f"zext i8 {fresh} to i64")

    # ------------------------------------------------------------------------------------------ search

    def read(self) -> None:
        w = self.w
        loop = w.begin(0, self.items_count)
        slot = self.slot(loop.index)
        if self.code.form is TableForm.MEMBER:
            mark = w.let(f"load i8, ptr {w.at(self.table, slot)}, align 1")
            w.do(f"store i8 {mark}, ptr {w.at(self.result, loop.index)}, align 1")
        else:
            position = w.let(f"zext i32 {w.let(f'load i32, ptr {self.entry(slot)}, align 4')} to i64")
            w.do(f"store i64 {position}, ptr {w.at(self.result, w.word('shl', loop.index, 3))}, align 8")
        w.end(loop)


def _extension(kind: Kind) -> str:
    return "sext" if kind is Kind.I32 else "zext"


# ------------------------------------------------------------------------------------------ ranges

Bounds: TypeAlias = "tuple[int | None, int | None]"
"""The least and the greatest value of items, as far as their type bounds them."""
UNBOUNDED: Final[Bounds] = (None, None)


class ValueRange(NamedTuple):
    """The integers [least, least + slots)."""

    least: int
    slots: int


def value_range(items: NumArray, most: int, bounds: Bounds = UNBOUNDED) -> ValueRange | None:
    """Returns a range with all items of a vector of integers or bools, from their type or by one pass over them; None if the
    range has more than `most` values."""
    if items.dtype.kind not in "biu" or not len(items):
        return None
    low, high = bounds if items.itemsize > 1 else (0, 1 if items.dtype.kind == "b" else 255)
    if low is None or high is None or high - low >= most:
        sample = items[:: max(1, len(items) // _GLANCE)] if len(items) > COUNTED else items[:0]
        if len(sample) and int(sample.max()) - int(sample.min()) >= most:
            return None
        low, high = int(items.min()), int(items.max())
    return ValueRange(low, high - low + 1) if high - low < most else None


COUNTED: Final = 1 << 12
"""The least items, and the most values, for which items are counted: the next free slots of that many values fit in the L1
cache."""
_MOST_PIECES: Final = 4
_READING: Final = 1.0
_SAVED: Final = {TableForm.PLACE: 3.0, TableForm.FILL: 1.5, TableForm.FIRST: 2.0, TableForm.LOOKUP: 2.0, TableForm.SEEN: 2.0,
                 TableForm.MEMBER: 2.0, TableForm.NEW: 2.5, TableForm.COUNT: 0.0}  # fmt: skip
"""Nanoseconds per item that a kernel saves; for PLACE and FILL, including the COUNT before them."""
_LAUNCH: Final = 20_000
"""Nanoseconds to prepare and make one launch."""


def _table_kernels(*wanted: tuple[TableForm, NumArray], descending: bool = False) -> list[int] | None:
    """Returns the kernels of some forms for vectors; None if the caller has to use another method."""
    lost, addresses = sum([len(items) * _SAVED[form] - _LAUNCH for form, items in wanted]), list[int]()
    if not may_launch(lost):
        return None
    for form, items in wanted:  # no short circuit, so that all of them are compiled together
        kind = _KIND_OF.get(items.dtype)
        if kind is None or not items.flags.c_contiguous or not 0 < len(items) < _MOST:
            return None
        lanes = vector_bytes() // kind.bytes if form is TableForm.FILL else 1
        address = address_if_worthwhile(DirectAddressing(form, kind, lanes, descending), lost)
        addresses += [] if address is None else [address]
    return addresses if len(addresses) == len(wanted) else None


def _run_on_table(address: int, items: NumArray, values: ValueRange, table: NumArray, result: NumArray, results: int,
                  pieces: int = 1, threads: int = 1) -> None:  # fmt: skip
    """Run a kernel on all items, in tasks.  Each task has its row of a table that is a matrix, and its part of a result as long
    as the items."""
    each = -(-len(items) // pieces)
    source, target, entries = [array.__array_interface__["data"][0] for array in (items, result, table)]
    moves = result.itemsize if table.ndim == 1 and len(result) == len(items) else 0
    rows = table.strides[0] if table.ndim > 1 else 0
    calls = [
        (min(each, len(items) - start), source + start * items.itemsize, values.least, values.slots, entries + number * rows,
         target + start * moves, start, results)
        for number, start in enumerate(range(0, len(items), each))
    ]  # fmt: skip
    run_tasks(address, calls, threads, len(items) * _READING)


def _team(items: NumArray, threads: int) -> int:
    return threads if len(items) * _READING >= PARALLEL else 1


def _counted(address: int, items: NumArray, values: ValueRange, team: int) -> NumArray:
    """Returns the count of each value in each of `team` parts of the items; an extra last column stays unused."""
    counts = np.zeros((-(-len(items) // -(-len(items) // team)), values.slots + 1), np.int32)
    _run_on_table(address, items, values, counts, counts, len(items), team, team)
    return counts


def counting_range(items: NumArray, bounds: Bounds = UNBOUNDED) -> ValueRange | None:
    """Returns the range by which a counting sort orders items; None if there are few items, or many values."""
    return value_range(items, min(COUNTED, len(items) >> 4), bounds) if len(items) >= COUNTED else None


def counted_order(items: NumArray, values: ValueRange, *, descending: bool, threads: int) -> NumArray | None:
    """Returns the stable grade of items in a range by a counting sort; None if the caller has to sort by comparisons."""
    kernels = _table_kernels((TableForm.COUNT, items), (TableForm.PLACE, items), descending=descending)
    if kernels is None:
        return None
    if descending:
        values = ValueRange(values.least + values.slots - 1, values.slots)
    team = min(_team(items, threads), _MOST_PIECES)
    counts = _counted(kernels[0], items, values, team)
    ends = np.cumsum(counts.T, dtype=np.int32).reshape(counts.shape[::-1]).T
    np.subtract(ends, counts, counts)
    result: NumArray = pooled_empty((len(items),), np.dtype(np.int64))
    _run_on_table(kernels[1], items, values, counts, result, len(items), team, team)
    return result


def inverse_permutation(items: NumArray, *, descending: bool, bounds: Bounds = UNBOUNDED) -> NumArray | None:
    """Returns the grade of a vector that contains each value of its range once; None for other vectors, or without kernels."""
    count = len(items)
    values = value_range(items, count, bounds) if count >= COUNTED else None
    if values is None or values.slots != count:
        return None
    sample = np.sort(items[:COUNTED])
    if (sample[1:] == sample[:-1]).any():
        return None
    kernels = _table_kernels((TableForm.FIRST, items))
    if kernels is None:
        return None
    first = np.full(count + 1, count, np.int32)
    _run_on_table(kernels[0], items, values, first, first, count)
    ordered = first[count - 1 :: -1] if descending else first[:count]
    if ordered.max() == count:
        return None
    result: NumArray = pooled_empty((count,), np.dtype(np.int64))
    result[...] = ordered
    return result


def counted_sort(items: NumArray, values: ValueRange, *, descending: bool, threads: int) -> NumArray | None:
    """Returns items in a range in order by a counting sort; None if the caller has to sort by comparisons."""
    kernels = _table_kernels((TableForm.COUNT, items), (TableForm.FILL, items), descending=descending)
    if kernels is None:
        return None
    if descending:
        values = ValueRange(values.least + values.slots - 1, values.slots)
    counts = _counted(kernels[0], items, values, min(_team(items, threads), _MOST_PIECES))
    result: NumArray = pooled_empty((len(items),), items.dtype)
    _run_on_table(kernels[1], items, values, counts.sum(0, np.int32), result, len(items))
    return result


# ---------------------------------------------------------------------------------------------------- composite keys
#
# Composite keys: cells as integers, on which all sorts and comparisons of cells work.
#
# Several key columns (`cpu.numpy_reductions`: the items of a cell) are packed into as few 63-bit words as their ranges allow.  So
# one stable sort of integers serves grades of every kind, and equality of cells is equality of words.
#
# Note [Stable order].  NumPy sorts 64-bit values several times faster than it argsorts them stably.  So words that consist of key
# and position are sorted, and the positions extracted.  If both do not fit into a word, low bits of the keys are cut off; then
# runs of words with equal remaining key bits are ordered by the bits that were cut, in the same way, if the runs are few.

WORD: Final = 63
_MIN_PACKED_KEYS: Final = 512
_MOST_KEYS: Final = 1 << 31
_CHUNK: Final = 1 << 15
_GLANCE: Final = 32
_RARE: Final = 8
"""Cut bits are restored if at most one item in so many is in a run of equal remaining bits."""
_MULTIPLIERS: Final = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F))


def missing_items(items: NumArray) -> NumArray | None:
    """Returns which items are NaN; None if none of them is."""
    if items.dtype.kind not in "fc":
        return None
    missing: NumArray = np.isnan(items)
    return missing if missing.any() else None


def row_columns(rows: NumArray, *, descending: bool = False) -> list[NumArray]:
    """The key columns of cells, given as the rows of a matrix, most significant first."""
    if not rows.size:  # cells without items are all equal
        return []
    parts = [key.T for key in order_columns(rows, descending=descending)]
    return [part[j] for j in range(rows.shape[1]) for part in parts]


def packed(columns: Sequence[NumArray]) -> list[NumArray]:
    """Returns columns of one length packed into words with the same order and equality; constant columns vanish."""
    words: list[NumArray] = []
    room = 0
    for column in columns:
        if not column.size:
            return []
        low, high = int(column.min()), int(column.max())
        width = (high - low).bit_length()
        if not width:
            continue
        if width > WORD:
            words.append(column)
            room = 0
            continue
        part = _from_zero(column, low)
        if width <= room:
            words[-1] <<= width
            words[-1] |= part
            room -= width
        else:
            words.append(part)
            room = WORD - width
    return words


# ------------------------------------------------------------------------------------------ order


def stable_order(keys: NumArray) -> NumArray:
    """Returns the positions (i64) in ascending order of integer keys, stable."""
    count = len(keys)
    if count < _MIN_PACKED_KEYS or count >= _MOST_KEYS:
        return np.argsort(keys, kind="stable")
    if is_ordered(keys):
        return np.arange(count)
    low, high = int(keys.min()), int(keys.max())
    places = (count - 1).bit_length()
    words = _from_zero(keys, low).view(np.uint64)
    width = (high - low).bit_length()
    cut = max(0, width + places - 64)
    idle = _idle_bits(words) if cut else 0
    cut = max(0, cut - idle)
    if idle or cut:
        words >>= np.uint64(idle + cut)
    words <<= np.uint64(places)
    words |= np.arange(count, dtype=np.uint64)
    words.sort()
    return repaired(keys, words, low, idle, cut, places)


def repaired(keys: NumArray, words: NumArray, low: int, idle: int, cut: int, places: int) -> NumArray:
    """Returns the positions in sorted words (which it overwrites), with runs that differ only in their `cut` low key bits put in
    order."""
    lost = _alike(words, places) if cut else None
    words &= np.uint64((1 << places) - 1)
    order = words.view(np.int64)
    if lost is None or not lost.any():
        return order
    if np.count_nonzero(lost) * _RARE > len(keys):
        order[...] = _repaired(keys, low, idle, cut, places, order, np.cumsum(~lost[:-1], dtype=np.int32))
    else:
        where = np.flatnonzero(lost[1:] | lost[:-1])
        order[where] = _repaired(keys, low, idle, cut, places, order[where], np.cumsum(~lost[where], dtype=np.int32))
    return order


def _repaired(keys: NumArray, low: int, idle: int, cut: int, places: int, known: NumArray, runs: NumArray) -> NumArray:
    """Returns positions ordered by the cut bits within each run; `runs`: the number of each item's run."""
    words = keys[known].astype(np.int64, copy=False)
    words -= low
    words = words.view(np.uint64)
    words >>= np.uint64(idle)
    words &= np.uint64((1 << cut) - 1)
    if not _falls(words, runs):
        return known
    for start in range(0, len(words), _CHUNK):
        words[start : start + _CHUNK] |= runs[start : start + _CHUNK].astype(np.uint64) << np.uint64(cut)
    if int(runs[-1]).bit_length() + cut + places > 64:
        return known[stable_order(words.view(np.int64))]
    words <<= np.uint64(places)
    words |= known.view(np.uint64)
    words.sort()
    words &= np.uint64((1 << places) - 1)
    return words.view(np.int64)


def _falls(items: NumArray, runs: NumArray) -> bool:
    """Returns whether some item is less than its predecessor in the same run."""
    for start in range(0, len(items) - 1, _CHUNK):
        part, numbers = items[start : start + _CHUNK + 1], runs[start : start + _CHUNK + 1]
        if ((part[1:] < part[:-1]) & (numbers[1:] == numbers[:-1])).any():
            return True
    return False


def is_ordered(items: NumArray, *, descending: bool = False) -> bool:
    """Returns whether items are sorted (never with NaN).  A few items are compared first, which settles most vectors."""
    in_order = np.less_equal if descending else np.greater_equal
    step, start = _GLANCE, 0
    while start < len(items) - 1:
        if not in_order(items[start + 1 : start + step + 1], items[start : start + step][: len(items) - start - 1]).all():
            return False
        start, step = start + step, _CHUNK
    return True


def _from_zero(keys: NumArray, low: int) -> NumArray:
    """Returns the keys minus `low` as i64, or as u64 if their range exceeds i64."""
    words = keys.astype(np.int64)
    words -= low
    return words


def _idle_bits(words: NumArray) -> int:
    """Returns the number of low bits that are 0 in every word."""
    used = int(np.bitwise_or.reduce(words))
    return (used & -used).bit_length() - 1 if used else 0


def _alike(words: NumArray, places: int) -> NumArray:
    """Returns for each sorted word whether its key bits equal those of the word before; a final False is appended."""
    same = np.zeros(len(words) + 1, np.bool_)
    for start in range(0, len(words) - 1, _CHUNK):
        part = words[start : start + _CHUNK + 1]
        np.less(part[1:] ^ part[:-1], np.uint64(1 << places), out=same[start + 1 : start + len(part)])
    return same


def _steps(keys: NumArray, order: NumArray) -> NumArray:
    """Returns where neighbours in sorted order differ."""
    ordered = keys[order]
    steps: NumArray = ordered[1:] != ordered[:-1]
    return steps


def dense_ranks(keys: NumArray) -> NumArray:
    """Returns for each key the number of distinct smaller keys."""
    ranks = np.zeros(len(keys), np.int64)
    if len(keys):
        order = np.argsort(keys)
        ordered = np.zeros(len(keys), np.int64)
        np.cumsum(_steps(keys, order), out=ordered[1:])
        ranks[order] = ordered
    return ranks


def lexicographic_keys(columns: Sequence[NumArray], count: int) -> NumArray:
    """Returns one key column with the order and equality of several of length `count`."""
    words = packed(columns)
    if not words:
        return np.zeros(count, np.int64)
    keys = words[0]
    for word in words[1:]:
        keys = dense_ranks(keys)
        if int(keys.max()) + 1 == count:
            return keys
        keys = keys * count + dense_ranks(word)
    return keys


# --------------------------------------------------------------------------------------- equality


def row_words(rows: NumArray) -> tuple[NumArray, NumArray | None]:
    """Returns integers that are equal exactly where rows are, and which rows hold a NaN (these equal nothing)."""
    missing = missing_items(rows)
    words = packed(row_columns(rows))
    lost = None if missing is None else np.asarray(missing.any(axis=1))
    if not words:
        return np.zeros(len(rows), np.int64), lost
    if len(words) == 1:
        return words[0], lost
    hashed = _hashed_keys(words)
    return (hashed if _is_faithful(hashed, words) else lexicographic_keys(words, len(rows))), lost


def _hashed_keys(words: Sequence[NumArray]) -> NumArray:
    first, second = _MULTIPLIERS
    mixed = np.zeros(len(words[0]), np.uint64)
    for word in words:
        mixed ^= word.astype(np.int64).view(np.uint64)
        mixed *= first
        mixed ^= mixed >> np.uint64(29)
        mixed *= second
        mixed ^= mixed >> np.uint64(32)
    return mixed.view(np.int64)


def _is_faithful(hashed: NumArray, words: Sequence[NumArray]) -> bool:
    """Returns whether only equal rows have equal hashes."""
    order = np.argsort(hashed)
    alike = ~_steps(hashed, order)
    before, after = order[:-1][alike], order[1:][alike]
    return all(bool(np.array_equal(word[before], word[after])) for word in words)


def first_positions(table: NumArray, words: NumArray, threads: int = 1, bounds: Bounds = UNBOUNDED) -> NumArray:
    """Returns for each of `words` (any shape) its first position in the vector `table`, or the length of `table` if absent."""
    count = len(table)
    if not count or not words.size:
        return np.full(words.shape, count, np.int64)
    values = _table_range(table, words, bounds)
    if values is not None:
        return _looked_up(table, words, values, threads)
    indices = positions(table.astype(np.int64, copy=False), words.reshape(-1).astype(np.int64, copy=False), threads)
    if indices is not None:
        return reshaped(indices, words.shape)
    order = stable_order(table)
    ordered = table[order]
    flat = words.reshape(-1)
    result = np.empty(len(flat), np.int64)
    for start in range(0, len(flat), QUERIES):
        wanted = flat[start : start + QUERIES]
        if min(count, len(wanted)) > 1 << 15:  # queries in order walk through the table instead of jumping
            queue = np.argsort(wanted)
            places = np.empty(len(wanted), np.int64)
            places[queue] = np.searchsorted(ordered, wanted[queue])
        else:
            places = np.searchsorted(ordered, wanted)
        np.minimum(places, count - 1, out=places)
        result[start : start + QUERIES] = np.where(ordered[places] == wanted, order[places], count)
    return reshaped(result, words.shape)


def _table_range(table: NumArray, words: NumArray, bounds: Bounds) -> ValueRange | None:
    """Returns the value range of a table that is searched by direct addressing; None for other tables."""
    return value_range(table, 2 * (len(table) + words.size) + 1025, bounds)


def _looked_up(table: NumArray, words: NumArray, values: ValueRange, threads: int) -> NumArray:
    """As `first_positions`, by a direct-address table, of 32-bit positions if they fit."""
    count, (low, slots), flat = len(table), values, words.reshape(-1)
    first = np.full(slots + 1, count, np.int32 if count < 1 << 31 else np.int64)
    result: NumArray = pooled_empty(flat.shape, np.dtype(np.int64))
    kernels = _table_kernels((TableForm.FIRST, table), (TableForm.LOOKUP, flat))
    if kernels is not None:
        _run_on_table(kernels[0], table, values, first, first, count)
        team = _team(flat, threads)
        _run_on_table(kernels[1], flat, values, first, result, len(flat), _PIECES * team if team > 1 else 1, team)
        return reshaped(result, words.shape)
    for stop in range(count, 0, -TABLE_QUERIES):  # backwards, so that the first of equal words is written last
        start = max(stop - TABLE_QUERIES, 0)
        first[_from_zero(table[start:stop], low)[::-1]] = np.arange(stop - 1, start - 1, -1, dtype=first.dtype)
    for start in range(0, len(flat), TABLE_QUERIES):
        wanted = flat[start : start + TABLE_QUERIES].astype(np.int64)
        outside = (wanted < low) | (wanted >= low + slots)
        wanted -= low
        wanted[outside] = slots
        result[start : start + TABLE_QUERIES] = first[wanted]
    return reshaped(result, words.shape)


def members(table: NumArray, words: NumArray, threads: int = 1, bounds: Bounds = UNBOUNDED) -> NumArray:
    """Returns for each of `words` (any shape) whether it occurs in the vector `table`."""
    values = _table_range(table, words, bounds)
    flat = words.reshape(-1)
    if values is not None:
        kernels = _table_kernels((TableForm.SEEN, table), (TableForm.MEMBER, flat))
        if kernels is not None:
            marks = np.zeros(values.slots + 1, np.uint8)
            result: NumArray = pooled_empty(flat.shape, np.dtype(np.bool_))
            _run_on_table(kernels[0], table, values, marks, marks, len(table))
            marks[values.slots] = 0
            team = _team(flat, threads)
            _run_on_table(kernels[1], flat, values, marks, result, len(flat), _PIECES * team if team > 1 else 1, team)
            return reshaped(result, words.shape)
    return np.asarray(first_positions(table, words, threads, bounds) < len(table))


def first_of_values(words: NumArray, bounds: Bounds = UNBOUNDED) -> NumArray:
    """Returns for each item of a vector of integers or bools whether it is the first of its equals."""
    count = len(words)
    result: NumArray = pooled_empty((count,), np.dtype(np.bool_))
    result[...] = True
    if count < 2:
        return result
    values = value_range(words, 4 * count + 1025, bounds)
    if values is not None:
        kernels = _table_kernels((TableForm.NEW, words))
        if kernels is None:
            return np.asarray(first_positions(words, words, 1, bounds) == np.arange(count))
        marks = np.zeros(values.slots + 1, np.uint8)
        _run_on_table(kernels[0], words, values, marks, result, count)
        return result
    firsts = first_of_equal(words.astype(np.int64, copy=False))
    if firsts is not None:
        return firsts
    order = stable_order(words)
    ordered = words[order]
    result[order[1:]] = ordered[1:] != ordered[:-1]
    return result
