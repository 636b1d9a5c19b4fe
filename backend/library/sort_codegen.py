"""LLVM text of sorts and stable grades: of the parts of long vectors (`Dealing` distributes items to parts), of short vectors,
and of rows.

SPAN: finds the range of the keys (`backend.library.hash`: integers in the order of the items), from which words of key and
position are made (Note [Words]).  SORT: sorts the items of one part with NumPy's sorting function.  ORDER: sorts the words of one
part with such a function and keeps only their positions; if key bits were cut off, words that differ only in their position are
first put in the order of their full keys.  ROWS: does all this for each row of a matrix, or for a vector in one part.
`sort.settle` then orders equal items that differ in their bits (zeros, NaNs).

Note [Arguments].  All forms, including those of `Dealing`, have the same argument block, of which each uses a part: number of
items; their address; the index of the first one; the sorting function; the address of the results; the index of the last result;
the address of the notes; the number of tasks; the index of the task or part.  So the launches are set up once for vectors of one
length.  For ROWS the number of items is that of a row, and the number of tasks that of the rows.

Note [Notes].  64-bit words that one launch passes to the next: pivots, then `Moves`, then for each task how many of its items are
below each pivot (as many words as there are parts, the last one counting all items).

Note [Words].  A word is (key - least key), shifted right by the low bits that are 0 in all keys, with the position in the low
bits. If that exceeds 64 bits, more low bits of the key are cut off and lost.

Note [Long repairs].  ORDER repairs runs by insertion sort, and gives up (returns 1) after `PATIENCE` moves an item: the caller
has a better method for long runs whose keys agree in their high bits.  Positions never exceed the last one, even if another
thread changes the items meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, IntEnum
from typing import Final, NamedTuple

from ...lang.support.records import dataclass
from ...typechecker.elements import Kind
from ..codegen.llvm_builder import IrBuilder, function_text
from ..codegen.llvm_scalars import STORED, Vectors

# ---------------------------------------------------------------------------------------------------- sorting a part

PATIENCE: Final = 8
MOST_PARTS: Final = 8
SORTED_KINDS: Final = frozenset({Kind.F64, Kind.F32, Kind.I64, Kind.I32})
"""The kinds that kernels sort."""


class Moves(IntEnum):
    """Indices in the notes of the words that state how keys become words."""

    LEAST = MOST_PARTS
    CUT = MOST_PARTS + 1
    UP = MOST_PARTS + 2
    LOST = MOST_PARTS + 3


HEAD: Final = 16
"""Words of the notes before the counts of tasks."""


class SortForm(Enum):
    """The kernels of sorts and grades; see the module's docstring."""

    SPAN = "span"
    SORT = "sort"
    ORDER = "order"
    ROWS = "rows"


class SortKeys(NamedTuple):
    """The words of the argument block as LLVM values; see Note [Arguments]."""

    length: str
    items: str
    first: str
    function: str
    target: str
    last: str
    notes: str
    pieces: str
    number: str


WORDS: Final = len(SortKeys._fields)
ITEMS_PLACE, FUNCTION_PLACE, TARGET_PLACE, NOTES_PLACE = 1, 3, 4, 6
_ADDRESSES: Final = frozenset({ITEMS_PLACE, FUNCTION_PLACE, TARGET_PLACE, NOTES_PLACE})


@dataclass(frozen=True, slots=True)
class Sorting:
    """A kernel that sorts one of `parts` parts of items of a kind."""

    form: SortForm
    kind: Kind
    lanes: int = 1
    descending: bool = False
    parts: int = 1

    def text(self) -> str:
        w = IrBuilder()
        w.label("start")
        words = words_of(w)
        writing = _Writing(self, w, words)
        match self.form:
            case SortForm.SPAN:
                writing.span(words.length, words.items, words.notes)
            case SortForm.SORT:
                start, count = part_of(w, words, self.parts)
                call_sort(w, words.function, w.at(words.target, w.word("mul", start, self.kind.bytes)), count)
            case SortForm.ORDER:
                start, count = part_of(w, words, self.parts)
                writing.ordered(count, writing.at(words.target, start), words.items, words.last)
            case SortForm.ROWS:
                writing.rows()
        w.do("ret i64 0")
        return function_text(w, ["entry:", "  br label %start", *w.lines])


def words_of(w: IrBuilder) -> SortKeys:
    """Loads the words of the argument block."""
    words = []
    for slot in range(WORDS):
        address = w.let(f"getelementptr i64, ptr %words, i64 {slot}")
        words.append(w.let(f"load {'ptr' if slot in _ADDRESSES else 'i64'}, ptr {address}, align 8"))
    return SortKeys(*words)


def note(w: IrBuilder, notes: str, slot: int) -> str:
    return w.let(f"load i64, ptr {w.at(notes, 8 * slot)}, align 8")


def below(w: IrBuilder, words: SortKeys, parts: int, pieces: str, part: int | str) -> str:
    """Returns how many items of the first `pieces` tasks belong to parts before `part`; 0 for the first part."""
    column = w.word("sub", part, 1)
    loop = w.begin(0, pieces, 1, [("i64", "0")])
    index = w.word("add", w.word("add", w.word("mul", loop.index, parts), column), HEAD)
    tally = w.let(f"load i64, ptr {w.at(words.notes, w.word('mul', index, 8))}, align 8")
    w.end(loop, [w.word("add", loop.carried[0], tally)])
    return loop.carried[0]


def part_of(w: IrBuilder, words: SortKeys, parts: int) -> tuple[str, str]:
    """Returns the start and the number of items of the part that the argument block names."""
    none = w.test("eq", words.number, 0)
    start = below(w, words, parts, w.let(f"select i1 {none}, i64 0, i64 {words.pieces}"), words.number)
    stop = below(w, words, parts, words.pieces, w.word("add", words.number, 1))
    return start, w.word("sub", stop, start)


def call_sort(w: IrBuilder, function: str, address: str, count: str) -> None:
    """Calls a sorting function of NumPy with the address, the number of items, and an array that it ignores for numbers."""
    w.do(f"call i32 {function}(ptr {address}, i64 {count}, ptr null)")


def key_of(v: Vectors, kind: Kind, descending: bool, base: str, position: str) -> str:
    """Returns the keys of the items from `position` on, as i64."""
    w = v.w
    x = w.let(f"load {v.stored(kind)}, ptr {w.at(base, w.word('mul', position, kind.bytes))}, align 1")
    if not kind.is_float:
        wide = x
        if kind is not Kind.I64:
            sign = "sext" if kind is Kind.I32 else "zext"
            wide = w.let(f"{sign} {v.stored(kind)} {x} to {v.type(Kind.I64)}")
        return v.binary("xor", Kind.I64, wide, v.constant(Kind.I64, -1)) if descending else wide
    integer = Kind.I64 if kind is Kind.F64 else Kind.I32
    top = v.constant(integer, (1 << (8 * kind.bytes - 1)) - 1)
    bits = v.cast("bitcast", kind, integer, v.binary("fadd", kind, x, v.constant(kind, 0.0)))
    sign = v.binary("ashr", integer, bits, v.constant(integer, 8 * kind.bytes - 1))
    ordered = v.binary("xor", integer, bits, v.binary("and", integer, sign, top))
    if descending:
        ordered = v.binary("xor", integer, ordered, v.constant(integer, -1))
    ordered = v.choose(integer, v.compare("uno", kind, x, x), top, ordered)
    return ordered if integer is Kind.I64 else v.cast("sext", integer, Kind.I64, ordered)


def word_of(v: Vectors, key: str, index: str, least: str, cut: str, up: str) -> str:
    """Returns keys as words (Note [Words]); `index`: the position of the first lane."""
    key = v.binary("sub", Kind.I64, key, v.splat(Kind.I64, least))
    key = v.binary("shl", Kind.I64, v.binary("lshr", Kind.I64, key, v.splat(Kind.I64, cut)), v.splat(Kind.I64, up))
    places = v.splat(Kind.I64, index)
    if v.lanes > 1:
        places = v.binary("add", Kind.I64, places, v.counting())
    return v.binary("or", Kind.I64, key, places)


class _Writing:
    def __init__(self, code: Sorting, w: IrBuilder, words: SortKeys) -> None:
        self.code, self.w, self.words = code, w, words
        self.one, self.v = Vectors(w, 1), Vectors(w, code.lanes)

    def key(self, v: Vectors, base: str, position: str) -> str:
        return key_of(v, self.code.kind, self.code.descending, base, position)

    def at(self, base: str, index: str) -> str:
        return self.w.at(base, self.w.word("mul", index, 8))

    # ------------------------------------------------------------------------------------------ words

    def span(self, count: str, items: str, notes: str) -> None:
        """Writes to the notes how the words of `count` items are formed; positions are below `last`."""
        w, v, one, lanes = self.w, self.v, self.one, self.code.lanes
        type, narrow = v.type(Kind.I64), one.type(Kind.I64)
        first = w.let(f"extractelement {narrow} {self.key(one, items, '0')}, i64 0")
        wide = v.splat(Kind.I64, first)
        vectorized = w.word("and", count, -lanes)
        vectors = w.begin(0, vectorized, lanes, [(type, wide), (type, wide), (type, "zeroinitializer")])
        key = self.key(v, items, vectors.index)
        w.end(vectors, self._spanned(v, vectors.carried, key, wide))
        folded = []
        for name, value in zip(("smin", "smax", "or"), vectors.carried, strict=True):
            folded.append(w.call("i64", f"llvm.vector.reduce.{name}.v{lanes}i64", (type, value)))
        starts = [(narrow, one.splat(Kind.I64, value)) for value in folded]
        single = one.splat(Kind.I64, first)
        rest = w.begin(vectorized, count, 1, starts)
        w.end(rest, self._spanned(one, rest.carried, self.key(one, items, rest.index), single))
        low, high, bits = (w.let(f"extractelement {narrow} {value}, i64 0") for value in rest.carried)
        w.declarations["declare i64 @llvm.ctlz.i64(i64, i1 immarg)"] = None
        w.declarations["declare i64 @llvm.cttz.i64(i64, i1 immarg)"] = None
        used = w.word("sub", 64, w.let(f"call i64 @llvm.ctlz.i64(i64 {w.word('sub', high, low)}, i1 false)"))
        trailing = w.let(f"call i64 @llvm.cttz.i64(i64 {bits}, i1 false)")
        idle = w.let(f"select i1 {w.test('eq', bits, 0)}, i64 0, i64 {trailing}")
        up = w.word("sub", 64, w.let(f"call i64 @llvm.ctlz.i64(i64 {self.words.last}, i1 false)"))
        over = w.word("sub", w.word("add", used, up), w.word("add", idle, 64))
        lost = w.call("i64", "llvm.smax.i64", ("i64", over), ("i64", "0"))
        cut = w.smaller(w.word("add", idle, lost), 63)
        for slot, value in ((Moves.LEAST, low), (Moves.CUT, cut), (Moves.UP, up), (Moves.LOST, lost)):
            w.do(f"store i64 {value}, ptr {w.at(notes, 8 * slot)}, align 8")

    def _spanned(self, v: Vectors, range_of_keys: tuple[str, ...], key: str, first: str) -> list[str]:
        least, most, bits = range_of_keys
        changed = v.binary("or", Kind.I64, bits, v.binary("xor", Kind.I64, key, first))
        return [v.intrinsic("smin", Kind.I64, least, key), v.intrinsic("smax", Kind.I64, most, key), changed]

    def rows(self) -> None:
        """Sorts each row; how words are formed is computed once for all rows."""
        w, words = self.w, self.words
        self.span(w.word("mul", words.length, words.pieces), words.items, words.notes)
        loop = w.begin(0, words.pieces)
        start = w.word("mul", loop.index, words.length)
        source, target = w.at(words.items, w.word("mul", start, self.code.kind.bytes)), self.at(words.target, start)
        self._packed(words.length, source, target)
        self.ordered(words.length, target, source, words.last)
        w.end(loop)

    def _packed(self, count: str, items: str, target: str) -> None:
        w, lanes = self.w, self.code.lanes
        moves = [note(w, self.words.notes, slot) for slot in (Moves.LEAST, Moves.CUT, Moves.UP)]
        vectorized = w.word("and", count, -lanes)
        for v, start, stop, step in ((self.v, "0", vectorized, lanes), (self.one, vectorized, count, 1)):
            loop = w.begin(start, stop, step)
            v.store(Kind.I64, word_of(v, self.key(v, items, loop.index), loop.index, *moves), self.at(target, loop.index))
            w.end(loop)

    # ------------------------------------------------------------------------------------------ order

    def ordered(self, count: str, words: str, items: str, last: str) -> None:
        """Sorts words, puts runs of equal key bits in order if bits were cut off, and keeps only the positions."""
        w, lanes = self.w, self.code.lanes
        call_sort(w, self.words.function, words, count)
        repair, ready = w.new_label(), w.new_label()
        limit = w.word("shl", 1, note(w, self.words.notes, Moves.UP))
        mask = w.word("sub", limit, 1)
        loses = w.test("ne", note(w, self.words.notes, Moves.LOST), 0)
        w.branch(w.let(f"and i1 {loses}, {w.test('ugt', count, 1)}"), repair, ready)
        w.label(repair)
        self._repaired(count, words, items, (last, limit, mask))
        w.jump(ready)
        w.label(ready)
        vectorized = w.word("and", count, -lanes)
        for v, start, stop, step in ((self.v, "0", vectorized, lanes), (self.one, vectorized, count, 1)):
            masks, most = v.splat(Kind.I64, mask), v.splat(Kind.I64, last)
            loop = w.begin(start, stop, step)
            address = self.at(words, loop.index)
            index = v.binary("and", Kind.I64, v.load(Kind.I64, address), masks)
            v.store(Kind.I64, v.intrinsic("umin", Kind.I64, index, most), address)
            w.end(loop)

    def _repaired(self, count: str, words: str, items: str, bounds: tuple[str, str, str]) -> None:
        """Insertion sort: each word moves back over words of its run with greater keys; see Note [Long repairs]."""
        w, lanes = self.w, self.code.lanes
        pairs = w.word("sub", count, 1)
        vectorized = w.word("and", pairs, -lanes)
        left = w.word("mul", count, PATIENCE)
        for v, start, stop, step in ((self.v, "0", vectorized, lanes), (self.one, vectorized, pairs, 1)):
            bound = v.splat(Kind.I64, bounds[1])
            loop = w.begin(start, stop, step, [("i64", left)])
            address = self.at(words, loop.index)
            changed = v.binary("xor", Kind.I64, v.load(Kind.I64, address), v.load(Kind.I64, w.at(address, 8)))
            alike = v.compare("ult", Kind.I64, changed, bound)
            some = w.call("i1", f"llvm.vector.reduce.or.v{step}i1", (f"<{step} x i1>", alike))
            settle_some, going, before = w.new_label(), w.new_label(), w.block
            w.branch(some, settle_some, going)
            w.label(settle_some)
            inner = w.begin(loop.index, w.word("add", loop.index, step), 1, [("i64", loop.carried[0])])
            after = self._moved_back(w.word("add", inner.index, 1), words, items, bounds, inner.carried[0])
            w.end(inner, [after])
            settled = inner.exit
            w.jump(going)
            w.label(going)
            w.end(loop, [w.let(f"phi i64 [ {loop.carried[0]}, %{before} ], [ {inner.carried[0]}, %{settled} ]")])
            left = loop.carried[0]

    def _moved_back(self, position: str, words: str, items: str, bounds: tuple[str, str, str], left: str) -> str:
        """Moves the word at a position back; returns how many moves remain."""
        w, limit = self.w, bounds[1]
        moving = w.let(f"load i64, ptr {self.at(words, position)}, align 8")
        head, alike, compare, move, out, late, goes = (w.new_label() for _ in range(7))
        key = self._one_key(items, moving, bounds)
        start = w.block
        w.jump(head)
        w.label(head)
        at, at_line = w.fresh(), w.hole()
        rest, rest_line = w.fresh(), w.hole()
        w.branch(w.test("eq", at, 0), out, alike)
        w.label(alike)
        before = w.word("sub", at, 1)
        other = w.let(f"load i64, ptr {self.at(words, before)}, align 8")
        w.branch(w.test("ult", w.word("xor", other, moving), limit), compare, out)
        w.label(compare)
        w.branch(w.test("sgt", self._one_key(items, other, bounds), key), move, out)
        w.label(move)
        w.do(f"store i64 {other}, ptr {self.at(words, at)}, align 8")
        less = w.word("sub", rest, 1)
        w.branch(w.test("eq", less, 0), late, goes)
        w.label(late)
        w.do("ret i64 1")
        w.label(goes)
        w.jump(head)
        w.fill(at_line, f"{at} = phi i64 [ {position}, %{start} ], [ {before}, %{goes} ]")
        w.fill(rest_line, f"{rest} = phi i64 [ {left}, %{start} ], [ {less}, %{goes} ]")
        w.label(out)
        w.do(f"store i64 {moving}, ptr {self.at(words, at)}, align 8")
        return rest

    def _one_key(self, items: str, word: str, bounds: tuple[str, str, str]) -> str:
        position = self.w.smaller(self.w.word("and", word, bounds[2]), bounds[0])
        return self.w.let(f"extractelement <1 x i64> {self.key(self.one, items, position)}, i64 0")


# ---------------------------------------------------------------------------------------------------- distribution to parts
#
# Distribution of items to the parts of a sample sort, as LLVM text: items below the first pivot come first, then those below the
# second, and so on.
#
# TALLY counts how many items of a task are below each pivot.  DEAL writes each item of a task to the next free slot of its part.
# Both work on the items themselves (for a sort), or on words of key and position (for a grade), compared as bits.  NaN is below
# no pivot.  Every task has its own slots in every part, so tasks run in parallel, and the parts are adjacent: there is no second
# buffer.  No slot beyond the last is written, even if another thread changes the items during the run.
#
# The argument block is that of `Sorting` (Note [Arguments]).

class SortStage(Enum):
    """The kernels of the distribution, described in the section above."""

    TALLY = "tally"
    DEAL = "deal"


@dataclass(frozen=True, slots=True)
class Dealing:
    """A kernel that counts or distributes; `keyed`: words of key and position instead of items.  Only TALLY is vectorised."""

    stage: SortStage
    kind: Kind
    parts: int
    keyed: bool
    lanes: int = 1
    descending: bool = False

    def text(self) -> str:
        w = IrBuilder()
        w.label("start")
        writing = _DistributionWriter(self, w)
        match self.stage:
            case SortStage.TALLY:
                writing.tally()
            case SortStage.DEAL:
                writing.deal()
        w.do("ret i64 0")
        return function_text(w, ["entry:", "  br label %start", *w.lines])


class _DistributionWriter:
    def __init__(self, code: Dealing, w: IrBuilder) -> None:
        self.code, self.w, self.words = code, w, words_of(w)
        self.kind = Kind.I64 if code.keyed else code.kind
        self.integer = Kind.I64 if self.kind.bytes == 8 else Kind.I32
        self.type = STORED[self.kind]
        self.moves = [note(w, self.words.notes, slot) for slot in (Moves.LEAST, Moves.CUT, Moves.UP)] if code.keyed else []

    def pivots(self) -> list[str]:
        w, notes = self.w, self.words.notes
        return [w.let(f"load {self.type}, ptr {w.at(notes, 8 * slot)}, align 8") for slot in range(self.code.parts - 1)]

    def loaded(self, v: Vectors, index: str) -> str:
        """Returns the items from `index` on, or their words."""
        w, code, items = self.w, self.code, self.words.items
        if not code.keyed:
            return v.load(self.kind, w.at(items, w.word("mul", index, self.kind.bytes)))
        position = w.word("add", self.words.first, index)
        return word_of(v, key_of(v, code.kind, code.descending, items, index), position, *self.moves)

    def below(self, v: Vectors, item: str, pivot: str) -> str:
        return v.compare("ult" if self.code.keyed else "olt" if self.kind.is_float else "slt", self.kind, item, pivot)

    # ------------------------------------------------------------------------------------------ parts

    def tally(self) -> None:
        w, words, lanes, one = self.w, self.words, self.code.lanes, Vectors(self.w, 1)
        many = Vectors(w, lanes)
        type, pivots = many.type(self.integer), self.pivots()
        vectorized = w.word("and", words.length, -lanes)
        wide = [many.splat(self.kind, pivot) for pivot in pivots]
        loop = w.begin(0, vectorized, lanes, [(type, "zeroinitializer")] * len(pivots))
        item = self.loaded(many, loop.index)
        counted = []
        for before, pivot in zip(loop.carried, wide, strict=True):
            less = w.let(f"sext <{lanes} x i1> {self.below(many, item, pivot)} to {type}")
            counted.append(many.binary("sub", self.integer, before, less))
        w.end(loop, counted)
        totals, narrow = [], STORED[self.integer]
        for value in loop.carried:
            total = w.call(narrow, f"llvm.vector.reduce.add.v{lanes}{narrow}", (type, value))
            totals.append(total if narrow == "i64" else w.let(f"zext i32 {total} to i64"))
        rest = w.begin(vectorized, words.length, 1, [("i64", total) for total in totals])
        item = self.loaded(one, rest.index)
        flags = [self._one(self.below(one, item, one.splat(self.kind, pivot))) for pivot in pivots]
        w.end(rest, self._counted(rest.carried, flags))
        row = w.word("mul", w.word("add", w.word("mul", words.number, self.code.parts), HEAD), 8)
        for slot, value in enumerate((*rest.carried, words.length)):
            w.do(f"store i64 {value}, ptr {w.at(words.notes, w.word('add', row, 8 * slot))}, align 8")

    def deal(self) -> None:
        w, words, parts = self.w, self.words, self.code.parts
        starts = [below(w, words, parts, words.pieces, part) if part else "0" for part in range(parts)]
        ahead = [below(w, words, parts, words.number, part) if part else "0" for part in range(parts + 1)]
        at = [w.word("add", start, w.word("sub", ahead[part + 1], ahead[part])) for part, start in enumerate(starts)]
        pivots, one, type = self.pivots(), Vectors(w, 1), self.type
        loop = w.begin(0, words.length, 1, [("i64", start) for start in at])
        vector = self.loaded(one, loop.index)
        flags = [self._one(self.below(one, vector, one.splat(self.kind, pivot))) for pivot in pivots]
        item = w.let(f"extractelement <1 x {type}> {vector}, i64 0")
        target = loop.carried[-1]
        for flag, other in zip(reversed(flags), reversed(loop.carried[:-1]), strict=True):
            target = w.let(f"select i1 {flag}, i64 {other}, i64 {target}")
        offset = w.word("mul", w.smaller(target, words.last), self.kind.bytes)
        w.do(f"store {type} {item}, ptr {w.at(words.target, offset)}, align {self.kind.bytes}")
        w.end(loop, self._counted(loop.carried, self._own_parts(flags)))

    def _own_parts(self, flags: list[str]) -> list[str]:
        """Returns for each part whether an item is in it, from the flags `below pivot`, each of which implies the next."""
        parts = flags[:1]
        for before, flag in zip(flags, [*flags[1:], "true"], strict=True):
            parts.append(self.w.let(f"xor i1 {flag}, {before}"))
        return parts

    def _counted(self, numbers: Sequence[str], flags: Sequence[str]) -> list[str]:
        """Returns each number, plus one if its flag is set."""
        w = self.w
        return [w.word("add", number, w.let(f"zext i1 {flag} to i64")) for number, flag in zip(numbers, flags, strict=True)]

    def _one(self, flag: str) -> str:
        return self.w.let(f"extractelement <1 x i1> {flag}, i64 0")


# ---------------------------------------------------------------------------------------------------- merges
#
# Merges of two sorted runs, as LLVM text.

TOGETHER: Final = 4
"""Ranges of a merge that advance together, since each step waits for the one before."""


@dataclass(frozen=True, slots=True)
class MergingRuns:
    """A kernel that merges two runs, with `keyed` also the words beside their items; equal items keep their order.

    Argument block: steps of each range; the addresses of the items of the runs and of the result, with `keyed` those of the
    words; for each range the items of either run at which it begins.  No range goes on beyond the last item of a run."""

    kind: Kind
    keyed: bool
    descending: bool

    def text(self) -> str:
        w = IrBuilder()
        w.label("start")
        addresses = 6 if self.keyed else 3
        words = []
        for operand in range(1 + addresses + 2 * TOGETHER):
            address = w.let(f"getelementptr i64, ptr %words, i64 {operand}")
            words.append(w.let(f"load {'ptr' if 0 < operand <= addresses else 'i64'}, ptr {address}, align 8"))
        columns = [(self.kind, words[1:4]), (Kind.I64, words[4:7])][: addresses // 3]
        loop, moved = w.begin(0, words[0], 1, [("i64", begin) for begin in words[1 + addresses :]]), list[str]()
        for at in range(0, 2 * TOGETHER, 2):
            places = loop.carried[at : at + 2]
            target, later = w.word("add", *places), ""
            for kind, (*runs, result) in columns:
                stored = STORED[Kind.I64 if kind.bytes == 8 else Kind.I32]  # a choice of floats would be a branch
                offsets = [w.word("mul", index, kind.bytes) for index in (*places, target)]
                first, second = (
                    w.let(f"load {stored}, ptr {w.at(run, offset)}, align 1") for run, offset in zip(runs, offsets, strict=False)
                )
                later = later or self._precedes(w, first, second)
                item = w.let(f"select i1 {later}, {stored} {second}, {stored} {first}")
                w.do(f"store {stored} {item}, ptr {w.at(result, offsets[-1])}, align 1")
            step = w.let(f"zext i1 {later} to i64")
            moved += [w.word("add", places[0], w.word("xor", step, 1)), w.word("add", places[1], step)]
        w.end(loop, moved)
        w.do("ret i64 0")
        return function_text(w, ["entry:", "  br label %start", *w.lines])

    def _precedes(self, w: IrBuilder, first: str, second: str) -> str:
        """Does the item of the second run come before that of the first?  NaN comes last."""
        stored = STORED[self.kind]
        if not self.kind.is_float:
            return w.let(f"icmp {'slt' if self.descending else 'sgt'} {stored} {first}, {second}")
        a, b = (w.let(f"bitcast i{8 * self.kind.bytes} {item} to {stored}") for item in (first, second))
        before = w.let(f"fcmp {'ult' if self.descending else 'ugt'} {stored} {a}, {b}")
        return w.let(f"and i1 {before}, {w.let(f'fcmp ord {stored} {b}, {b}')}")
