"""Loop programs that are written by hand rather than lowered from phases: the inner loops of library functions.

The argument words of a program are those of `codegen.llvm_registers`: parameters, then each view's base and strides.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from enum import Enum
from functools import cache
from typing import Final

from ...lang.support.records import dataclass
from ...typechecker.elements import Kind
from ...typechecker.scalars import is_ordered, neutral_element
from ..graph.phases import bits_of
from ..jit.compiler import vector_bytes
from ..lower.loop_order import BLOCK, RUN, VectorStride
from .ir import ONE, ZERO, Index, LoopBuilder, LoopKind, LoopProgram, View, ViewRole, at, integer, plus, quotient, times

# --------------------------------------------------------------------------------- scatter and random numbers

_SCATTER_UNROLL: Final = 4
"""Items that one iteration combines, and the number of tables at most."""
PHILOX_ROUNDS: Final = 10
_MULTIPLIERS: Final = (0xD2511F53, 0xCD9E8D57)
_LOW: Final = 0xFFFFFFFF
_MOST_LEVELS: Final = 63
_COUNT_BLOCK: Final = 128
"""Items that are counted in a byte before widening."""


class LoopTemplate(ABC):
    """A loop program determined by its fields; `text` is its LLVM IR."""

    @abstractmethod
    def program(self) -> LoopProgram: ...

    def text(self) -> str:
        from ..codegen.llvm_printer import llvm_text

        return llvm_text(self.program(), vector_bytes())


@dataclass(frozen=True, slots=True)
class CombinePartials(LoopTemplate):
    """Combines the partial results of a split reduction: neighbours level by level, passing on a last odd one (the order of
    sums).

    Words: the number of rows of partial results; the items of a row; the rows (which are written over) and the bytes from row to
    row; the result."""

    function: str
    kind: Kind

    def program(self) -> LoopProgram:
        b, (count, cells) = LoopBuilder(), ("count", "cells")
        rows = View("rows", self.kind, (at(count), at(cells)), ViewRole.OUTPUT)
        result = View("result", self.kind, (at(cells),), ViewRole.OUTPUT)
        one = b.constant(Kind.I64, 1)
        with b.range(LoopKind.SERIAL, Index((), _MOST_LEVELS), [(Kind.I64, count, None)]) as level:
            (left,) = level.inside
            pairs = integer(b, "shr", one, left)
            with b.range(LoopKind.SERIAL, at(pairs)) as pair, b.range(LoopKind.VECTOR, at(cells)) as cell:
                first = times(at(pair.index), 2)
                both = [b.load(rows.name, (row, at(cell.index))) for row in (first, plus(first, ONE))]
                b.store(rows.name, (at(pair.index), at(cell.index)), b.apply(self.function, both, self.kind, self.kind))
            following = integer(b, "add", pairs, integer(b, "band", left, one))
            with b.loop(LoopKind.SERIAL, (at(pairs),), (at(following),)), b.range(LoopKind.VECTOR, at(cells)) as cell:
                last = b.load(rows.name, (plus(at(left), Index((), -1)), at(cell.index)))
                b.store(rows.name, (at(pairs), at(cell.index)), last)
            level.yields = (following,)
            level.until = b.compare("le", at(following), ONE)
        with b.range(LoopKind.VECTOR, at(cells)) as cell:
            b.store(result.name, (at(cell.index),), b.load(rows.name, (ZERO, at(cell.index))))
        return LoopProgram("joining", (count, cells), (rows, result), (*b.preamble, *b.statements))


@dataclass(frozen=True, slots=True)
class CountTrue(LoopTemplate):
    """Counts the true items of a mask, in bytes per block.  Words: the number of items; the mask; the result."""

    def program(self) -> LoopProgram:
        b, items = LoopBuilder(), at("items")
        views = View("mask", Kind.BOOL, (items,), ViewRole.INPUT), View("count", Kind.I64, (), ViewRole.OUTPUT)
        nothing = b.constant(Kind.U8, 0)
        with b.loop(LoopKind.SERIAL, (ZERO,), (items,), [(Kind.I64, b.constant(Kind.I64, 0), None)], step=_COUNT_BLOCK) as block:
            ends = plus(at(block.index), Index((), _COUNT_BLOCK)), items
            with b.loop(LoopKind.VECTOR, (at(block.index),), ends, [(Kind.U8, nothing, "add")]) as loop:
                item = b.apply("convert", (b.load("mask", (at(loop.index),)),), Kind.BOOL, Kind.U8)
                loop.yields = (b.apply("add", (loop.inside[0], item), Kind.U8, Kind.U8),)
            held = b.apply("convert", loop.results, Kind.U8, Kind.I64)
            block.yields = (integer(b, "add", block.inside[0], held),)
        b.store("count", (), block.results[0])
        return LoopProgram("counting", ("items",), views, (*b.preamble, *b.statements))


@dataclass(frozen=True, slots=True)
class Scatter(LoopTemplate):
    """Keyed reduction: combines each item, in order, with the entry of a table that its key indexes.

    A key out of range fails (check 0).  Functions that are exact in any order alternate between several `tables` (a power of
    two), so that a run of equal keys has no dependency chain; the others use one, in the order of the items.  With `runs`, for
    ascending keys and at least one item, an entry stays in a register while its key repeats; a descending key fails (check 1).
    `unit`: keys are contiguous.  `step`: the stride of the items.

    Words: the number of items; the entries of a table; the keys (i64) and, unless `unit`, their stride in bytes; the items and,
    where STRIDED, theirs; the tables and the bytes from table to table."""

    function: str
    kind: Kind
    tables: int
    unit: bool = False
    step: VectorStride = VectorStride.STRIDED
    runs: bool = False

    def program(self) -> LoopProgram:
        b, count, entries = LoopBuilder(), "count", "entries"
        keys = View("keys", Kind.I64, (at(count),), ViewRole.INPUT, unit=self.unit)
        shape = () if self.step is VectorStride.NONE else (at(count),)
        items = View("items", self.kind, shape, ViewRole.INPUT, unit=self.step is VectorStride.UNIT)
        tables = View("tables", self.kind, (Index((), self.tables), at(entries)), ViewRole.OUTPUT)

        only = "" if shape else b.load(items.name, ())

        def inside(key: str) -> None:
            b.fail(0, b.apply("outside", (key, entries), Kind.I64, Kind.BOOL))

        def joined(held: str, position: Index) -> str:
            item = only or b.load(items.name, (position,))
            return b.apply(self.function, (held, item), self.kind, self.kind)

        if self.runs:
            self.by_runs(b, inside, joined)
        else:
            full_groups = times(quotient(b, at(count), _SCATTER_UNROLL), _SCATTER_UNROLL)
            most = plus(at(count), Index((), 1 - _SCATTER_UNROLL))
            for lower, upper, together in (((ZERO,), most, _SCATTER_UNROLL), ((ZERO, full_groups), at(count), 1)):
                with b.loop(LoopKind.SERIAL, lower, (upper,), step=together) as loop:
                    for number in range(together):
                        position = plus(at(loop.index), Index((), number))
                        key = b.load(keys.name, (position,))
                        inside(key)
                        entry = Index((), number % self.tables), at(key)
                        b.store(tables.name, entry, joined(b.load(tables.name, entry), position))
        return LoopProgram("scatter", (count, entries), (keys, items, tables), (*b.preamble, *b.statements))

    def by_runs(self, b: LoopBuilder, inside: Callable[[str], None], joined: Callable[[str, Index], str]) -> None:
        """The reduction for ascending keys."""
        first = b.load("keys", (ZERO,))
        inside(first)
        entry = [(Kind.I64, first, None), (self.kind, b.load("tables", (ZERO, at(first))), None)]
        with b.range(LoopKind.SERIAL, at("count"), entry) as loop:
            last, total = loop.inside
            key = b.load("keys", (at(loop.index),))
            with b.block() as other:
                b.store("tables", (ZERO, at(last)), total)
                b.fail(1, b.compare("lt", at(key), at(last)))
                inside(key)
                held = b.load("tables", (ZERO, at(key)))
            (before,) = b.choose(b.compare("eq", at(key), at(last)), (), other, [(self.kind, total, held)])
            loop.yields = key, joined(before, at(loop.index))
        b.store("tables", (ZERO, at(loop.results[0])), loop.results[1])


@dataclass(frozen=True, slots=True)
class PhiloxUniforms(LoopTemplate):
    """Uniform random numbers of a key by Philox4x32-10, two numbers a block.

    Words: the blocks; the first block; the stream's low and high words; for each round both words of its key; the numbers."""

    def program(self) -> LoopProgram:
        b = LoopBuilder()
        keys = [(f"low{number}", f"high{number}") for number in range(PHILOX_ROUNDS)]
        out = View("out", Kind.F64, (times(at("count"), 2),), ViewRole.OUTPUT)
        names = ("count", "first", "low", "high", *(name for pair in keys for name in pair))

        def word(function: str, left: str, right: str | int) -> str:
            return integer(b, function, left, b.constant(Kind.I64, right) if isinstance(right, int) else right)

        def top(value: str, by: int) -> str:
            return integer(b, "shru", b.constant(Kind.I64, by), value)

        with b.range(LoopKind.VECTOR, at("count")) as loop:
            block = b.number(plus(at(loop.index), at("first")))
            counter = [word("band", block, _LOW), top(block, 32), "low", "high"]
            for low, high in keys:
                even, odd = word("mul", counter[0], _MULTIPLIERS[0]), word("mul", counter[2], _MULTIPLIERS[1])
                left, right = word("bxor", counter[1], low), word("bxor", counter[3], high)
                counter = [word("bxor", top(odd, 32), left), word("band", odd, _LOW),
                           word("bxor", top(even, 32), right), word("band", even, _LOW)]  # fmt: skip
            for half in range(2):
                upper, lower = counter[2 * half : 2 * half + 2]
                bits = word("bor", integer(b, "shl", b.constant(Kind.I64, 26), top(upper, 5)), top(lower, 6))
                mantissa = b.apply("convert", (bits,), Kind.I64, Kind.F64)
                scaled = b.apply("mul", (mantissa, b.constant(Kind.F64, bits_of(Kind.F64, 2.0**-53))), Kind.F64, Kind.F64)
                b.store(out.name, (plus(times(at(loop.index), 2), Index((), half)),), scaled)
        return LoopProgram("uniforms", names, (out,), (*b.preamble, *b.statements))


# ----------------------------------------------------------------------------------------------------- compress
#
# Compress and where as loop programs: the items that a mask selects, in order.
#
# Eight bools are tested together, as one word: if none is true nothing is read, else each of the eight items is written to the
# next free position, which advances only past selected items; so there is no branch per item.  Near the end of the result (`due`
# items) only selected items are written, and never more than `due`: another thread may write to the mask after it was counted.
#
# Words: tables; items of each; `due`, the number of result items; the number of the first item (PAIRS: of the first table); the
# numbers of a cell; the mask and its bytes from table to table, twice; for ITEMS and CELLS the source and its strides from table
# to table and, unless `unit`, from item to item; the result and, for CELLS, its bytes from cell to cell.  The results of all
# tables are concatenated.  The processor is little-endian.

_MASK_GROUP: Final = 8
_ONES: Final = 0x0101010101010101
_LOW_SEVEN_BITS: Final = 0x7F7F7F7F7F7F7F7F


class SelectionForm(Enum):
    ITEMS = "items"
    """Items of a source, of `kind`, of one number or two."""
    CELLS = "cells"
    """Runs of numbers of a source."""
    PLACES = "places"
    """The number of the item."""
    PAIRS = "pairs"
    """The number of the table and that of the item (the coordinates in a matrix)."""


@dataclass(frozen=True, slots=True)
class SelectTemplate(LoopTemplate):
    """A selection by a mask.  `count`: numbers of an item of ITEMS.  `unit`: the items are contiguous."""

    form: SelectionForm
    kind: Kind = Kind.I64
    count: int = 1
    unit: bool = False

    @property
    def is_numbering(self) -> bool:
        return self.form in (SelectionForm.PLACES, SelectionForm.PAIRS)

    def program(self) -> LoopProgram:
        return _SelectProgram(self).program()


class _SelectProgram:
    def __init__(self, code: SelectTemplate) -> None:
        self.code, self.b = code, LoopBuilder()
        self.numbers = 2 if code.form is SelectionForm.PAIRS else code.count

    def program(self) -> LoopProgram:
        b, code = self.b, self.code
        tables, items = at("tables"), at("items")
        # the mask again as words of eight bools, of which only those of full groups exist
        views = [
            View("mask", Kind.BOOL, (tables, items), ViewRole.INPUT), View("words", Kind.I64, (tables, items), ViewRole.INPUT),
        ]  # fmt: skip
        groups = quotient(b, items, _MASK_GROUP)
        is_cells, count = code.form is SelectionForm.CELLS, Index((), code.count)
        if not code.is_numbering:
            axes = (times(items, code.count),) if code.unit else (items, at("cell") if is_cells else count)
            views.append(View("source", code.kind, (tables, *axes), ViewRole.INPUT))
        axes = (at("due"), at("cell")) if is_cells else (times(at("due"), self.numbers),)
        views.append(View("result", code.kind, axes, ViewRole.OUTPUT))
        with b.range(LoopKind.SERIAL, tables, [(Kind.I64, b.constant(Kind.I64, 0), None)]) as table:
            with b.range(LoopKind.SERIAL, groups, [(Kind.I64, table.inside[0], None)]) as group:
                group.yields = (self.group(at(table.index), at(group.index), group.inside[0]),)
            rest = self.itemwise(at(table.index), times(groups, _MASK_GROUP), items, group.results[0])
            table.yields = (rest,)
        parameters = ("tables", "items", "due", "first", "cell")
        return LoopProgram("selecting", parameters, tuple(views), (*b.preamble, *b.statements))

    def group(self, table: Index, group: Index, position: str) -> str:
        """Select among eight items; returns the next free position."""
        b, first = self.b, times(group, _MASK_GROUP)
        word = b.load("words", (table, group))
        with b.block() as some:
            after = times(plus(group, ONE), _MASK_GROUP)
            with b.block() as slow:
                last = self.itemwise(table, first, after, position)
            if self.code.form is SelectionForm.CELLS:
                b.statements += slow
            else:
                with b.block() as fast:
                    end = self.write_all(table, first, word, position)
                room = b.compare("le", plus(at(position), Index((), _MASK_GROUP)), at("due"))
                (last,) = b.choose(room, fast, slow, [(Kind.I64, end, last)])
        return b.choose(b.compare("ne", at(word), ZERO), some, (), [(Kind.I64, last, position)])[0]

    def write_all(self, table: Index, first: Index, word: str, position: str) -> str:
        """Write each of eight items to the next free position, without branches; returns the next free position."""
        b, sevens, ones = self.b, self.b.constant(Kind.I64, _LOW_SEVEN_BITS), self.b.constant(Kind.I64, _ONES)
        # each non-zero byte becomes 1; then byte k of the product counts those up to k
        low = integer(b, "add", integer(b, "band", word, sevens), sevens)
        held = integer(b, "band", self.shifted(integer(b, "bor", low, word), 7), ones)
        upto = integer(b, "mul", held, ones)
        self.write(table, first, at(position))
        for item in range(1, _MASK_GROUP):
            before = integer(b, "band", self.shifted(upto, 8 * item - 8), b.constant(Kind.I64, 255))
            self.write(table, plus(first, Index((), item)), plus(at(position), at(before)))
        return integer(b, "add", position, self.shifted(upto, 56))

    def shifted(self, value: str, by: int) -> str:
        return integer(self.b, "shru", self.b.constant(Kind.I64, by), value) if by else value

    def itemwise(self, table: Index, lower: Index, upper: Index, position: str) -> str:
        """Write the selected items, up to `due`, one at a time; returns the next free position."""
        b = self.b
        with b.loop(LoopKind.SERIAL, (lower,), (upper,), [(Kind.I64, position, None)]) as item:
            now = at(item.inside[0])
            held = b.load("mask", (table, at(item.index)))
            is_due = b.apply("and", (held, b.compare("lt", now, at("due"))), Kind.BOOL, Kind.BOOL)
            with b.block() as written:
                self.write(table, at(item.index), now)
            b.choose(is_due, written, ())
            item.yields = (integer(b, "add", item.inside[0], b.apply("convert", (is_due,), Kind.BOOL, Kind.I64)),)
        return item.results[0]

    def write(self, table: Index, item: Index, position: Index) -> None:
        b = self.b
        match self.code.form:
            case SelectionForm.CELLS:
                with b.range(LoopKind.VECTOR, at("cell")) as number:
                    b.store("result", (position, at(number.index)), b.load("source", (table, item, at(number.index))))
            case SelectionForm.ITEMS:
                for part in (Index((), number) for number in range(self.numbers)):
                    source = (plus(times(item, self.numbers), part),) if self.code.unit else (item, part)
                    b.store("result", (plus(times(position, self.numbers), part),), b.load("source", (table, *source)))
            case SelectionForm.PLACES:
                b.store("result", (position,), b.number(plus(at("first"), item)))
            case SelectionForm.PAIRS:
                for half, coordinate in ((ZERO, plus(at("first"), table)), (ONE, item)):
                    b.store("result", (plus(times(position, 2), half),), b.number(coordinate))


# -------------------------------------------------------------------------------------- keyed reductions on GPUs
#
# Keyed reductions (histograms) for GPUs: cells of `width` items, combined item by item into the bin that their key indexes.
#
# SCATTER combines cells by atomics, for functions of integers and bools that are exact in any order.  FEW does so in shared
# memory first, for cells of one item: with few bins all threads would contend for them.  GROUPED has one thread for each item of
# a bin, which goes through its items in order (a stable sort of the keys groups them), so that floats have the same bits as on
# CPUs.
#
# With `checked` a key out of range fails SCATTER and FEW.
#
# Words: the sizes that `KeyedReductionForm` names; the keys (FEW, SCATTER), or the start of each bin and the cells of all bins in
# order (GROUPED); the items and the bytes from cell to cell; the bins, initially neutral, and the bytes from bin to bin.

MOST_BINS: Final = 1 << 10
"""Bins that fit in shared memory."""
_CHUNK: Final = 1 << 12
"""Items that one thread block combines, several to a bin."""


class KeyedReductionForm(Enum):
    SCATTER = ("count", "width", "bins")
    FEW = ("count", "bins")
    GROUPED = ("bins", "width", "count")


@cache
def gpu_keyed_reduction(function: str, kind: Kind, form: KeyedReductionForm, *, checked: bool) -> LoopProgram:
    keyed, count, bins = _KeyedProgram(function, kind, checked), at("count"), at("bins")
    cell = (at("width"),) * (form is not KeyedReductionForm.FEW)
    starts, order = (plus(bins, ONE),), (count,)
    keys: tuple[View, ...] = View("starts", Kind.I64, starts, ViewRole.INPUT), View("order", Kind.I64, order, ViewRole.INPUT)
    if form is not KeyedReductionForm.GROUPED:
        keys = (View("keys", Kind.I64, (count,), ViewRole.INPUT),)
    views = *keys, View("items", kind, (count, *cell), ViewRole.INPUT), View("tables", kind, (bins, *cell), ViewRole.OUTPUT)
    {
        KeyedReductionForm.SCATTER: keyed.scatter, KeyedReductionForm.FEW: keyed.few, KeyedReductionForm.GROUPED: keyed.grouped,
    }[form]()  # fmt: skip
    return LoopProgram("keyed", form.value, (*views, *keyed.b.views.values()), (*keyed.b.preamble, *keyed.b.statements))


class _KeyedProgram:
    def __init__(self, function: str, kind: Kind, checked: bool) -> None:
        self.b, self.function, self.kind, self.checked = LoopBuilder(), function, kind, checked

    def key(self, item: str) -> Index:
        key = self.b.load("keys", (at(item),))
        if self.checked:
            self.b.fail(0, self.b.apply("outside", (key, "bins"), Kind.I64, Kind.BOOL))
        return at(key)

    def scatter(self) -> None:
        b = self.b
        with b.range(LoopKind.VECTOR, at("count")) as cell:
            key = self.key(cell.index)
            with b.range(LoopKind.VECTOR, at("width")) as column:
                item = b.load("items", (at(cell.index), at(column.index)))
                b.store("tables", (key, at(column.index)), item, join=self.function)

    def few(self) -> None:
        b, most = self.b, Index((), MOST_BINS)
        bins = b.view("own", self.kind, (most,), ViewRole.SCRATCH, private=True).name
        nothing = b.constant(self.kind, bits_of(self.kind, neutral_element(self.function, self.kind)))
        with b.loop(LoopKind.PARALLEL, (ZERO,), (at("count"),), step=_CHUNK) as chunk:
            with b.loop(LoopKind.VECTOR, (ZERO,), (most, at("bins"))) as entry:
                b.store(bins, (at(entry.index),), nothing)
            ends = plus(at(chunk.index), Index((), _CHUNK)), at("count")
            with b.loop(LoopKind.VECTOR, (at(chunk.index),), ends) as item:
                b.store(bins, (self.key(item.index),), b.load("items", (at(item.index),)), join=self.function)
            with b.loop(LoopKind.VECTOR, (ZERO,), (most, at("bins"))) as entry:
                total = b.load(bins, (at(entry.index),))
                is_more = b.apply("ne", (total, nothing), self.kind, Kind.BOOL)
                b.store("tables", (at(entry.index),), total, is_more, self.function)

    def grouped(self) -> None:
        b = self.b
        with b.range(LoopKind.VECTOR, at("bins")) as entry, b.range(LoopKind.VECTOR, at("width")) as column:
            here = at(column.index)
            first, last = (b.load("starts", (bound,)) for bound in (at(entry.index), plus(at(entry.index), ONE)))

            def item(position: Index) -> str:
                return b.load("items", (at(b.load("order", (position,))), here))

            with b.block() as some:
                head = [(self.kind, item(at(first)), None)]
                with b.loop(LoopKind.SERIAL, (plus(at(first), ONE),), (at(last),), head) as loop:
                    joined = loop.inside[0], item(at(loop.index))
                    loop.yields = (b.apply(self.function, joined, self.kind, self.kind),)
                b.store("tables", (at(entry.index), here), loop.results[0])
            b.choose(b.compare("lt", at(first), at(last)), some, ())


# ---------------------------------------------------------------------------------------------------- scans
#
# Scans as loop programs, in the order of scans (`backend.reference.reductions`): runs of `RUN` items, blocks of `BLOCK`.
#
# A scan that is exact in any order is a VECTOR loop whose reduction is used at each item.  Else several runs are scanned side by
# side into scratch, which hides the latency of additions; then each run, combined with the total before it, goes to the result.
# Short lines are scanned side by side themselves.  Bools are scanned as 0 and 1, negated for `=\`: ~x=y is (~x)≠~y.
#
# Words of LINES: lines; items of each; the source, its stride from line to line and, unless `unit`, from item to item; the result
# and its stride from line to line; the address of two items: the carry in, and the carry out, which is written.
# Words of COLUMNS: tables; items of each line; the lines of a table, which are interleaved; the source and its strides from table
# to table and item to item; the result and its strides.

_RUNS_TOGETHER: Final = 8
"""Runs that are scanned side by side: as many as a register transposition handles, and their scratch fits in the L1 cache."""
_MIN_LINES: Final = 8
"""Lines from which short lines are scanned side by side."""
_SCAN_UNROLL: Final = 8
"""Items of each run that are transposed together in registers."""
_SHORT_LINE: Final = 8 * RUN
"""Items of a short line."""
_STRIP: Final = 512
"""Adjacent columns that are scanned together."""
_SERIAL_ITEMS: Final = 8
"""Items of a line up to which it is scanned without vectors."""
_ABSORBING: Final = {"min": 0, "max": 1}
"""The absorbing element of a function of 0 and 1."""
_ON_BYTES: Final = {"and": "min", "or": "max", "ne": "bxor", "eq": "bxor"}
"""Functions of bools, as functions of 0 and 1."""

LoadItem = Callable[[Index], str]
"""Returns the item of a chain at an index."""
StoreTotal = Callable[[Index, str], None]
"""Stores the running total of a chain at an index."""


class ScanForm(Enum):
    LINES = "lines"
    COLUMNS = "columns"


@dataclass(frozen=True, slots=True)
class ScanTemplate(LoopTemplate):
    """A scan along lines.  `unit`: the items of a source line are contiguous.  `streamed`: results bypass the caches; lines of
    the result start at multiples of 64 bytes."""

    function: str
    kind: Kind
    form: ScanForm
    unit: bool = True
    streamed: bool = False

    @property
    def is_order_free(self) -> bool:
        """Is the scan exact in any order?"""
        return not is_ordered(self.function, self.kind)

    def program(self) -> LoopProgram:
        return (_LineScan if self.form is ScanForm.LINES else _ColumnScan)(self).program()


class ScanProgram:
    """Loads, combines and stores items of a scan; bools as 0 and 1."""

    def __init__(self, scan: ScanTemplate) -> None:
        self.b, self.scan = LoopBuilder(), scan
        is_truth = scan.kind is Kind.BOOL
        self.kind, self.function = (Kind.U8, _ON_BYTES[scan.function]) if is_truth else (scan.kind, scan.function)
        self.neutral = self.number(neutral_element(self.function, self.kind))

    def number(self, value: float) -> str:
        return self.b.constant(self.kind, bits_of(self.kind, value))

    def load(self, view: str, *indices: Index, mask: str | None = None) -> str:
        """An item as a number that the function combines."""
        b, item = self.b, self.b.load(view, indices, mask)
        if self.scan.kind is not Kind.BOOL:
            return item
        number = b.apply("convert", (item,), Kind.BOOL, Kind.U8)
        return b.apply("bxor", (number, self.number(1)), Kind.U8, Kind.U8) if self.scan.function == "eq" else number

    def item(self, *indices: Index, mask: str | None = None) -> str:
        """An item of the source."""
        return self.load("source", *indices, mask=mask)

    def store(self, view: str, value: str, *indices: Index) -> None:
        if self.scan.kind is Kind.BOOL:
            value = self.b.apply("eq" if self.scan.function == "eq" else "ne", (value, self.number(0)), Kind.U8, Kind.BOOL)
        self.b.store(view, indices, value)

    def joined(self, left: str, right: str) -> str:
        return self.b.apply(self.function, (left, right), self.kind, self.kind)

    def scratch(self, *shape: int) -> str:
        return self.b.view("room", self.kind, tuple([Index((), n) for n in shape]), ViewRole.SCRATCH, private=True).name

    def minimum(self, form: Index, most: int) -> Index:
        return at(integer(self.b, "min", self.b.number(form), self.b.constant(Kind.I64, most)))


class _LineScan(ScanProgram):
    """A scan along lines: one after the other, or several short ones side by side."""

    def program(self) -> LoopProgram:
        b, scan = self.b, self.scan
        lines, length = at("lines"), at("length")
        views = (
            View("source", scan.kind, (lines, length), ViewRole.INPUT, unit=scan.unit),
            View("result", scan.kind, (lines, length), ViewRole.OUTPUT, streamed=scan.streamed),
            View("carry", scan.kind, (Index((), 2),), ViewRole.OUTPUT),
        )
        self.order_free(lines, length) if scan.is_order_free else self.ordered(lines, length)
        return LoopProgram("lines", ("lines", "length"), (*views, *b.views.values()), (*b.preamble, *b.statements))

    def order_free(self, lines: Index, length: Index) -> None:
        b = self.b
        before = self.load("carry", ZERO)
        with b.block() as few, b.range(LoopKind.SERIAL, lines) as line:
            self.store("carry", self.part(LoopKind.SERIAL, at(line.index), ZERO, (length,), before), Index((), 1))
        with b.block() as many, b.range(LoopKind.SERIAL, lines) as line:
            if self.scan.kind is Kind.BOOL and self.function in _ABSORBING:
                last = self.short_circuit(at(line.index), length, before)
            else:
                last = self.part(LoopKind.VECTOR, at(line.index), ZERO, (length,), before)
            self.store("carry", last, Index((), 1))
        b.choose(b.compare("le", length, Index((), _SERIAL_ITEMS)), few, many)

    def part(self, kind: LoopKind, line: Index, start: Index, end: tuple[Index, ...], before: str) -> str:
        """Scan some items of a line in any order; returns the last total."""
        b = self.b
        with b.loop(kind, (start,), end, [(self.kind, before, self.function if kind is LoopKind.VECTOR else None)]) as loop:
            loop.yields = (self.joined(loop.inside[0], self.item(line, at(loop.index))),)
            self.store("result", loop.yields[0], line, at(loop.index))
        return loop.results[0]

    def short_circuit(self, line: Index, length: Index, before: str) -> str:
        """A scan by ∧ or ∨: once a block ends with the absorbing element, the rest of the line is filled with it."""
        b, decided = self.b, self.number(_ABSORBING[self.function])
        entry = [(self.kind, before, None), (Kind.I64, b.constant(Kind.I64, 0), None)]
        with b.loop(LoopKind.SERIAL, (ZERO,), (length,), entry, step=BLOCK) as block:
            end = plus(at(block.index), Index((), BLOCK))
            last = self.part(LoopKind.VECTOR, line, at(block.index), (end, length), block.inside[0])
            block.yields = last, b.number(end)
            block.until = b.apply("eq", (last, decided), self.kind, Kind.BOOL)
        last, done = block.results
        with b.loop(LoopKind.VECTOR, (at(done),), (length,)) as loop:
            self.store("result", last, line, at(loop.index))
        return last

    def ordered(self, lines: Index, length: Index) -> None:
        b = self.b
        before = self.load("carry", ZERO)
        with b.block() as side_by_side:
            self.short_lines(lines, length, before)
        with b.block() as one_by_one, b.range(LoopKind.SERIAL, lines) as line:
            with b.loop(LoopKind.SERIAL, (ZERO,), (length,), [(self.kind, before, None)], step=BLOCK) as block:
                (before_block,) = block.inside
                total = self.block(at(line.index), at(block.index), length, before_block)
                block.yields = (self.joined(before_block, total),)
            self.store("carry", block.results[0], Index((), 1))
        is_short = b.compare("le", length, Index((), _SHORT_LINE))
        are_enough = b.compare("le", Index((), _MIN_LINES), lines)
        b.choose(b.apply("and", (is_short, are_enough), Kind.BOOL, Kind.BOOL), side_by_side, one_by_one)

    def chain(self, first: Index, unrolled_end: Index, end: Index, load: LoadItem, store: StoreTotal) -> str:
        """Scan a chain of items, `_SCAN_UNROLL` at a time up to `unrolled_end`; returns its total."""
        b, total = self.b, self.neutral
        for start, stop, together in ((first, unrolled_end, _SCAN_UNROLL), (unrolled_end, end, 1)):
            if start == stop:
                continue
            most = plus(stop, Index((), 1 - together))
            with b.loop(LoopKind.SERIAL, (start,), (most,), [(self.kind, total, None)], step=together) as loop:
                (total,) = loop.inside
                for index in [plus(at(loop.index), Index((), ahead)) for ahead in range(together)]:
                    total = self.joined(total, load(index))
                    store(index, total)
                loop.yields = (total,)
            (total,) = loop.results
        return total

    def short_lines(self, lines: Index, length: Index, before: str) -> None:
        b = self.b
        runs, full_groups = quotient(b, length, RUN), times(quotient(b, length, _SCAN_UNROLL), _SCAN_UNROLL)
        with b.range(LoopKind.VECTOR, lines) as line:

            def run(start: Index, unrolled_end: Index, end: Index, before_run: str) -> str:
                first = self.joined(before, before_run)

                def give(index: Index, total: str) -> None:
                    self.store("result", self.joined(first, total), at(line.index), index)

                return self.chain(start, unrolled_end, end, lambda index: self.item(at(line.index), index), give)

            with b.range(LoopKind.SERIAL, runs, [(self.kind, self.neutral, None)]) as loop:
                start, (before_run,) = times(at(loop.index), RUN), loop.inside
                end = plus(start, Index((), RUN))
                loop.yields = (self.joined(before_run, run(start, end, end, before_run)),)
            run(times(runs, RUN), full_groups, length, loop.results[0])

    def block(self, line: Index, start: Index, length: Index, before_block: str) -> str:
        """Scan the items of a block; returns its total."""
        b = self.b
        items = self.minimum(plus(length, times(start, -1)), BLOCK)
        runs = quotient(b, items, RUN)
        with b.loop(LoopKind.SERIAL, (ZERO,), (runs,), [(self.kind, self.neutral, None)], step=_RUNS_TOGETHER) as group:
            count = self.minimum(plus(runs, times(at(group.index), -1)), _RUNS_TOGETHER)
            first = plus(start, times(at(group.index), RUN))
            group.yields = (self.runs(count, line, first, before_block, group.inside[0]),)
        before, rest = group.results[0], plus(start, times(runs, RUN))
        before_rest = self.joined(before_block, before)

        def take(index: Index) -> str:
            return self.item(line, plus(rest, index))

        def give(index: Index, total: str) -> None:
            self.store("result", self.joined(before_rest, total), line, plus(rest, index))

        left = plus(items, times(runs, -RUN))
        full_groups = times(quotient(b, left, _SCAN_UNROLL), _SCAN_UNROLL)
        return self.joined(before, self.chain(ZERO, full_groups, left, take, give))

    def runs(self, count: Index, line: Index, start: Index, before_block: str, before: str) -> str:
        """Scan full runs side by side; `before`: the total of the runs before them in the block.  Returns the total after
        them."""
        b, run_length = self.b, Index((), RUN)
        scanned, totals = self.scratch(_RUNS_TOGETHER, RUN), self.scratch(_RUNS_TOGETHER)
        with b.range(LoopKind.VECTOR, count) as run:

            def take(index: Index) -> str:
                return self.item(line, plus(plus(start, times(at(run.index), RUN)), index))

            def give(index: Index, total: str) -> None:
                b.store(scanned, (at(run.index), index), total)

            b.store(totals, (at(run.index),), self.chain(ZERO, run_length, run_length, take, give))
        with b.range(LoopKind.SERIAL, count, [(self.kind, before, None)]) as run:
            (before_run,) = run.inside
            first = self.joined(before_block, before_run)
            with b.range(LoopKind.VECTOR, run_length) as item:
                shown = self.joined(first, b.load(scanned, (at(run.index), at(item.index))))
                self.store("result", shown, line, plus(plus(start, times(at(run.index), RUN)), at(item.index)))
            run.yields = (self.joined(before_run, b.load(totals, (at(run.index),))),)
        return run.results[0]


class _ColumnScan(ScanProgram):
    """A scan of adjacent lines side by side.  The total of a run is in a register, those before it are in scratch."""

    def program(self) -> LoopProgram:
        b, scan = self.b, self.scan
        tables, length, cells = at("tables"), at("length"), at("cells")
        roles = ("source", ViewRole.INPUT), ("result", ViewRole.OUTPUT)
        views = [View(name, scan.kind, (tables, length, cells), role) for name, role in roles]
        rooms = self.scratch(_STRIP), self.scratch(_STRIP)
        with b.range(LoopKind.SERIAL, tables) as table, b.loop(LoopKind.SERIAL, (ZERO,), (cells,), step=_STRIP) as strip:
            count = self.minimum(plus(cells, times(at(strip.index), -1)), _STRIP)
            self.strip(at(table.index), length, at(strip.index), count, rooms)
        return LoopProgram("columns", ("tables", "length", "cells"), (*views, *b.views.values()), (*b.preamble, *b.statements))

    def strip(self, table: Index, length: Index, first: Index, cells: Index, rooms: tuple[str, str]) -> None:
        b, (run_room, block_room) = self.b, rooms
        with b.range(LoopKind.VECTOR, cells) as cell:
            for room in rooms:
                b.store(room, (at(cell.index),), self.neutral)
        with b.loop(LoopKind.SERIAL, (ZERO,), (length,), step=BLOCK) as block:
            end = plus(at(block.index), Index((), BLOCK)), length
            with b.loop(LoopKind.SERIAL, (at(block.index),), end, step=RUN) as run, b.range(LoopKind.VECTOR, cells) as cell:
                here = (at(cell.index),)
                before_run = b.load(run_room, here)
                before, ends = self.joined(b.load(block_room, here), before_run), (plus(at(run.index), Index((), RUN)), length)
                with b.loop(LoopKind.SERIAL, (at(run.index),), ends, [(self.kind, self.neutral, None)]) as item:
                    point = table, at(item.index), plus(first, at(cell.index))
                    item.yields = (self.joined(item.inside[0], self.item(*point)),)
                    self.store("result", self.joined(before, item.yields[0]), *point)
                b.store(run_room, here, self.joined(before_run, item.results[0]))
            with b.range(LoopKind.VECTOR, cells) as cell:
                here = (at(cell.index),)
                b.store(block_room, here, self.joined(b.load(block_room, here), b.load(run_room, here)))
                b.store(run_room, here, self.neutral)


# ------------------------------------------------------------------------------------------------- scans on GPUs
#
# Scans as loop programs for GPUs, in the order of scans.
#
# LINES has one thread for each line: for many lines, or interleaved ones (so that neighbouring threads have neighbouring items).
# Else a thread block has a block of items, of which each thread scans a run in shared memory.  BLOCK is for lines of one block;
# for lines of several BLOCKS one nest computes the total of each block, one the totals before each, and one scans them.
#
# Words of LINES: tables; items of each line; the lines of a table, which are interleaved; the source and its strides from table
# to table and item to item; the result and its strides.  Of the others: lines; items of each; blocks of each (BLOCKS); the source
# and its stride from line to line; the result and its stride.

_RUNS_OF_BLOCK: Final = BLOCK // RUN


class GpuScanForm(Enum):
    LINES = ("tables", "length", "cells")
    BLOCK = ("lines", "length")
    BLOCKS = ("lines", "length", "blocks")


@cache
def gpu_scan(function: str, kind: Kind, form: GpuScanForm) -> LoopProgram:
    scan, sizes = _GpuScan(ScanTemplate(function, kind, ScanForm.LINES)), form.value
    scan.lines() if form is GpuScanForm.LINES else scan.blocks(is_long=form is GpuScanForm.BLOCKS)
    shape = tuple(map(at, sizes if form is GpuScanForm.LINES else sizes[:2]))
    views = View("source", kind, shape, ViewRole.INPUT), View("result", kind, shape, ViewRole.OUTPUT)
    return LoopProgram("scan", sizes, (*views, *scan.b.views.values()), (*scan.b.preamble, *scan.b.statements))


class _GpuScan(ScanProgram):
    def entry(self) -> list[tuple[Kind, str, None]]:
        return [(self.kind, self.neutral, None)]

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
        """Scan blocks in shared memory.  `tile`: the items of a block, with runs padded by one item, so that they start in
        different banks; `sums`: the totals of runs."""
        b, lines = self.b, at("lines")
        self.tile, self.sums, before = self.scratch(BLOCK + _RUNS_OF_BLOCK), self.scratch(_RUNS_OF_BLOCK), ""
        if is_long:
            before = b.view("before", self.kind, (lines, at("blocks")), ViewRole.SCRATCH).name
            with b.range(LoopKind.PARALLEL, lines) as line, b.range(LoopKind.PARALLEL, at("blocks")) as block:
                self.runs(at(line.index), times(at(block.index), BLOCK))
                with b.range(LoopKind.VECTOR, ONE):
                    b.store(before, (at(line.index), at(block.index)), self.follow(self.sums, (), Index((), _RUNS_OF_BLOCK)))
            with b.range(LoopKind.PARALLEL, lines) as line:
                self.follow(before, (at(line.index),), at("blocks"))
        with b.range(LoopKind.PARALLEL, lines) as line, b.range(LoopKind.PARALLEL, at("blocks") if is_long else ONE) as block:
            start = times(at(block.index), BLOCK)
            self.runs(at(line.index), start)
            with b.range(LoopKind.VECTOR, ONE):
                first = b.load(before, (at(line.index), at(block.index))) if is_long else None
                self.follow(self.sums, (), Index((), _RUNS_OF_BLOCK), first)
            left = plus(at("length"), times(start, -1))
            with b.loop(LoopKind.VECTOR, (ZERO,), (Index((), BLOCK), left)) as item:
                scanned = b.load(self.tile, (self.padded_index(item.index),))
                shown = self.joined(b.load(self.sums, (self.run_of(item.index),)), scanned)
                self.store("result", shown, at(line.index), plus(start, at(item.index)))

    def runs(self, line: Index, start: Index) -> None:
        """Scan the runs of a block in shared memory; absent items are neutral."""
        b, left = self.b, plus(at("length"), times(start, -1))
        with b.range(LoopKind.VECTOR, Index((), BLOCK)) as item:
            is_there = b.compare("lt", at(item.index), left)
            item_or_zero = self.item(line, plus(start, at(item.index)), mask=is_there)
            item_or_zero = b.apply("select", (is_there, item_or_zero, self.neutral), self.kind, self.kind)
            b.store(self.tile, (self.padded_index(item.index),), item_or_zero)
        with b.range(LoopKind.VECTOR, Index((), _RUNS_OF_BLOCK)) as run:
            with b.range(LoopKind.SERIAL, Index((), RUN), self.entry()) as item:
                here = (plus(times(at(run.index), RUN + 1), at(item.index)),)
                item.yields = (self.joined(item.inside[0], b.load(self.tile, here)),)
                b.store(self.tile, here, item.yields[0])
            b.store(self.sums, (at(run.index),), item.results[0])

    def follow(self, view: str, outer: tuple[Index, ...], count: Index, first: str | None = None) -> str:
        """Replace each total by the exclusive prefix (combined with `first`); returns the total of all."""
        with self.b.range(LoopKind.SERIAL, count, self.entry()) as loop:
            (before,), here = loop.inside, (*outer, at(loop.index))
            loop.yields = (self.joined(before, self.b.load(view, here)),)
            self.b.store(view, here, before if first is None else self.joined(first, before))
        return loop.results[0]

    def run_of(self, item: str) -> Index:
        return at(integer(self.b, "shr", self.b.constant(Kind.I64, RUN.bit_length() - 1), item))

    def padded_index(self, item: str) -> Index:
        return plus(at(item), self.run_of(item))
