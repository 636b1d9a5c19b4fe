"""Equality of cells by hashing and by integer keys: first occurrences, positions in a table, stable order."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, Final

import numpy as np

from ...lang.support.records import dataclass
from ..cpu.numpy_reductions import order_columns
from ..cpu.parallel_for import address_if_worthwhile, run_tasks
from ..cpu.views import NumArray
from ..graph.scratch import QUERIES, TABLE_QUERIES
from ..jit.tiering import PIECES_NANOSECONDS as PARALLEL

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
"""How many words ahead slots of the table are prefetched."""
_FACTORS: Final = (-7046029254386353131, -4417276706812531889)


class HashForm(Enum):
    """The kernels of hash tables, described above."""

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
    """Returns the hash of an item: bits that depend on all bits of the item."""
    first, second = _FACTORS
    mixed = w.word("mul", w.word("xor", item, w.word("lshr", item, 32)), first)
    mixed = w.word("mul", w.word("xor", mixed, w.word("lshr", mixed, 29)), second)
    return w.word("xor", mixed, w.word("lshr", mixed, 32))


# ---------------------------------------------------------------------------------------------------- running the tables

_MOST: Final = 1 << 30
_SAVED: Final = 20.0
_WORK: Final = 5.0
_PIECES: Final = 4


def first_of_equal(words: NumArray) -> NumArray | None:
    """Returns for each word whether it is the first of those equal to it; None if the caller has to sort."""
    address = _asked(HashForm.FIRSTS, words, len(words))
    if address is None:
        return None
    table = _table(len(words))
    result = np.empty(len(words), np.bool_)
    return result if _call(address, words, table, words, result) else None


def positions(table_words: NumArray, words: NumArray, threads: int) -> NumArray | None:
    """Returns the first position of each of `words` in `table_words`, its length if absent; None if the caller has to sort."""
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
    return address_if_worthwhile(Hashing(form), items * _SAVED)


def _table(count: int) -> NumArray:
    """Returns an empty table, at least twice as long as `count`."""
    return np.full(1 << (2 * count - 1).bit_length(), -1, np.int32)


def _call(address: int, words: NumArray, table: NumArray, known: NumArray, result: NumArray, each: int = 0, team: int = 1
          ) -> bool:  # fmt: skip
    """Run a kernel; returns whether no probe gave up.  `each`: words of a task, or 0 for all."""
    queries, slots, others, target = [array.__array_interface__["data"][0] for array in (words, table, known, result)]
    calls = [
        (min(each or len(words), len(words) - start), queries + start * words.itemsize, slots, len(table) - 1, others, len(known),
         target + start * result.itemsize)
        for start in range(0, len(words), each or len(words))
    ]  # fmt: skip
    return not run_tasks(address, calls, team, len(words) * _WORK)


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
_SMALL: Final = 512
_MOST_KEYS: Final = 1 << 31
_CHUNK: Final = 1 << 15
_GLANCE: Final = 32
_RARE: Final = 8
"""At most one of so many items may be in runs that are ordered again by the bits that were cut."""
_MULTIPLIERS: Final = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F))


def missing_items(items: NumArray) -> NumArray | None:
    """Returns which items are NaN; None if none is."""
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
    """Columns of one length with the same order and equality, joined into words; constant columns vanish."""
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
    if count < _SMALL or count >= _MOST_KEYS:
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
    """Returns the positions in sorted words (which are overwritten), runs that differ in the `cut` low key bits put in order."""
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
    """Returns positions ordered by the bits that were cut within each run; `runs`: the number of each item's run."""
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
    """Returns whether an item is less than its predecessor in the same run."""
    for start in range(0, len(items) - 1, _CHUNK):
        part, numbers = items[start : start + _CHUNK + 1], runs[start : start + _CHUNK + 1]
        if ((part[1:] < part[:-1]) & (numbers[1:] == numbers[:-1])).any():
            return True
    return False


def is_ordered(items: NumArray, *, descending: bool = False) -> bool:
    """Returns whether items are sorted (never with NaN).  A few items are compared first, which suffices for most vectors."""
    in_order = np.less_equal if descending else np.greater_equal
    step, start = _GLANCE, 0
    while start < len(items) - 1:
        if not in_order(items[start + 1 : start + step + 1], items[start : start + step][: len(items) - start - 1]).all():
            return False
        start, step = start + step, _CHUNK
    return True


def _from_zero(keys: NumArray, low: int) -> NumArray:
    """Returns the keys less `low` as i64, or as the bits of u64 if their range exceeds i64."""
    words = keys.astype(np.int64)
    words -= low
    return words


def _idle_bits(words: NumArray) -> int:
    """Returns how many low bits are 0 in every word."""
    used = int(np.bitwise_or.reduce(words))
    return (used & -used).bit_length() - 1 if used else 0


def _alike(words: NumArray, places: int) -> NumArray:
    """Returns for each sorted word whether its key bits equal those of the word before; one more item, False, ends the array."""
    same = np.zeros(len(words) + 1, np.bool_)
    for start in range(0, len(words) - 1, _CHUNK):
        part = words[start : start + _CHUNK + 1]
        np.less(part[1:] ^ part[:-1], np.uint64(1 << places), out=same[start + 1 : start + len(part)])
    return same


def _steps(keys: NumArray, order: NumArray) -> NumArray:
    """Returns where neighbours in the sorted order differ."""
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
    """Returns whether equal hashes occur for equal rows only."""
    order = np.argsort(hashed)
    alike = ~_steps(hashed, order)
    before, after = order[:-1][alike], order[1:][alike]
    return all(bool(np.array_equal(word[before], word[after])) for word in words)


def first_positions(table: NumArray, words: NumArray, threads: int = 1) -> NumArray:
    """Returns for each of `words` (any shape) its first position in the vector `table`, the length of `table` if absent."""
    count = len(table)
    if not count or not words.size:
        return np.full(words.shape, count, np.int64)
    low, high = int(table.min()), int(table.max())
    if high - low <= 2 * (count + words.size) + 1024:
        return _looked_up(table, words, low, high)
    indices = positions(table.astype(np.int64, copy=False), words.reshape(-1).astype(np.int64, copy=False), threads)
    if indices is not None:
        return indices.reshape(words.shape)
    order = stable_order(table)
    ordered = table[order]
    flat = words.reshape(-1)
    result = np.empty(len(flat), np.int64)
    for start in range(0, len(flat), QUERIES):
        wanted = flat[start : start + QUERIES]
        if min(count, len(wanted)) > 1 << 15:  # ordered queries walk the table instead of jumping in it
            queue = np.argsort(wanted)
            places = np.empty(len(wanted), np.int64)
            places[queue] = np.searchsorted(ordered, wanted[queue])
        else:
            places = np.searchsorted(ordered, wanted)
        np.minimum(places, count - 1, out=places)
        result[start : start + QUERIES] = np.where(ordered[places] == wanted, order[places], count)
    return result.reshape(words.shape)


def _looked_up(table: NumArray, words: NumArray, low: int, high: int) -> NumArray:
    """As `first_positions`, by a direct-address table for the values from `low` to `high`, of 32-bit positions if they fit."""
    count = len(table)
    first = np.full(high - low + 2, count, np.int32 if count < 1 << 31 else np.int64)
    for stop in range(count, 0, -TABLE_QUERIES):  # from the end, so that the first of equal words is written last
        start = max(stop - TABLE_QUERIES, 0)
        first[_from_zero(table[start:stop], low)[::-1]] = np.arange(stop - 1, start - 1, -1, dtype=first.dtype)
    flat = words.reshape(-1)
    result = np.empty(len(flat), np.int64)
    for start in range(0, len(flat), TABLE_QUERIES):
        wanted = flat[start : start + TABLE_QUERIES].astype(np.int64)
        outside = (wanted < low) | (wanted > high)
        wanted -= low
        wanted[outside] = high - low + 1
        result[start : start + TABLE_QUERIES] = first[wanted]
    return result.reshape(words.shape)
