"""Chains along rows as one kernel: everything about a row while it is in the nearest cache.

The body is that of `graph.chains.joined`: elements, and reductions of the row to one value, on which later elements depend.  It
is done in *sweeps* over the row.  A sweep evaluates the elements that its reductions and results need; what an earlier sweep
computed is kept in a row of scratch memory if computing it again would cost more than reading it.

Note [Order].  A sweep that sums floats goes through a block of the row lane by lane, as `sums` does: `strips` lanes that are
joined first are kept in registers side by side, the rest are halved in a small buffer.  Other sweeps go straight through.  So
the bits are those of the members one by one.

Note [Ends].  Items that fill no whole strip are packed on the stack, and what is stored there is copied to its place: the body is
there once a strip, and nothing beside the arrays is touched.  Scratch rows are long enough for whole strips.

Words: those of `ir` Note [Argument block] for a MAP with the row as its last axis, then the address of the scratch rows.

Neighbours: `graph.chains` (bodies), `emission`, `sums` (trees of blocks), `backend.run.cpu.rows` (binds this).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ...lang.certain import certain
from ...typechecker.elements import Kind
from ...typechecker.scalars import is_ordered, neutral
from ..scalar.table import TRANSCENDENTAL
from .emission import VECTOR_ALIGN
from .ir import BLOCK, LANES, Apply, Kernel, Load, Step, Stores, kind_of
from .quotients import Divisor, divide, prepare
from .row_ends import Ends, copy_row
from .row_plan import FUNCTIONS, RowEmission, Sweep, plan_sweeps
from .scalar_text import combine
from .sums import carry, finish
from .vectors import Vectors
from .writer import function_text

ODD: Final = VECTOR_ALIGN
"""Bytes between scratch rows, so that they do not begin at the same place in cache."""
_LINE: Final = 64
_AHEAD: Final = 2048
"""Items that the first sweep asks for beyond those it is at."""


@dataclass(frozen=True, slots=True)
class RowKernel:
    """`is_row`: which results have one item a row.  `short`: rows are shorter than the lanes of a block.  `fuses`: the processor
    multiplies and adds at once (see `quotients`)."""

    kernel: Kernel
    is_row: tuple[bool, ...]
    short: bool
    fuses: bool

    def text(self) -> str:
        emission = RowEmission(self.kernel)
        emission.enter()
        _Rows(emission, self).write()
        emission.w.do("ret i64 0")
        return function_text(emission.w, emission.lines())

    def words(self) -> int:
        return self.kernel.words() + 1


def scratch_rows(kernel: RowKernel) -> int:
    """How many rows of scratch memory a run of the kernel needs, each of `scratch_pitch` bytes."""
    plan = plan_sweeps(kernel.kernel, kernel.is_row)
    return len(plan.kept) + sum(_is_odd(kernel.kernel, i) for i in range(len(kernel.kernel.operands)))


def scratch_pitch(length: int) -> int:
    """Bytes of a scratch row."""
    return -(-length // LANES) * LANES * 8 + ODD


def _is_odd(kernel: Kernel, operand: int) -> bool:
    """Is an operand's row to be copied to scratch, because its items do not lie next to each other in order?"""
    row = kernel.operands[operand]
    return row.moves[-1] and row.step in (Step.STRIDED, Step.REVERSED)


# -------------------------------------------------------------------------------------------- writing


@dataclass(slots=True)
class _Total:
    """A reduction while its sweep is written."""

    place: int
    argument: int
    function: str
    kind: Kind
    buffer: str
    tree: str


class _Rows:
    def __init__(self, e: RowEmission, rows: RowKernel) -> None:
        self.e, self.rows, self.kernel = e, rows, rows.kernel
        self.plan = plan_sweeps(self.kernel, rows.is_row)
        self.w, self.v = e.w, e.v
        self.known: dict[int, str] = {}
        self.divisors: dict[int, Divisor] = {}
        self.making: frozenset[int] = frozenset()
        self.ends = Ends(e)

    def write(self) -> None:
        e, w = self.e, self.w
        self.size = e.sizes[-1]
        scratch = e.word(self.kernel.words(), "ptr")
        pitch = w.word("mul", w.word("and", w.word("add", self.size, LANES - 1), -LANES), 8)
        pitch = w.word("add", pitch, ODD)
        odd = [i for i in range(len(self.kernel.operands)) if _is_odd(self.kernel, i)]
        self.kept = {p: w.at(scratch, w.word("mul", pitch, row)) for p, row in self.plan.kept.items()}
        self.copies = {i: w.at(scratch, w.word("mul", pitch, len(self.kept) + n)) for n, i in enumerate(odd)}
        loops = e.open_outer(self.kernel.axes - 1)
        self.known = dict(e.known)
        for operand, room in self.copies.items():
            copy_row(e, operand, room)
        self.compute_rows()
        for now, sweep in enumerate(self.plan.sweeps):
            self.prepare_divisors(sweep)
            self.sweep(sweep, first=now == 0)
            self.compute_rows()
        scalars = Vectors(w, 1)
        for result, output, on_row in zip(self.kernel.results, e.outputs, self.rows.is_row, strict=True):
            if on_row:
                type = self.v.type(result.kind)
                first = w.let(f"shufflevector {type} {self.known[result.node]}, {type} poison, <1 x i32> zeroinitializer")
                scalars.store(result.kind, first, output)
        e.close_outer(loops)

    def compute_rows(self) -> None:
        """What is the same for the whole row and can be known now."""
        for place, node in enumerate(self.kernel.body):
            if place in self.known or place in self.plan.elements or place not in self.e.needed:
                continue
            if isinstance(node, Apply) and node.function not in FUNCTIONS and all(arg in self.known for arg in node.args):
                self.known[place] = self.e.node(place, self.known)
        certain(not self.v.checks, "what is the same for a row cannot fail")

    # ------------------------------------------------------------------------------------- one sweep

    def sweep(self, sweep: Sweep, *, first: bool) -> None:
        kernel, e = self.kernel, self.e
        totals = []
        for place in sweep.reduces:
            node = kernel.body[place]
            assert isinstance(node, Apply)
            function, kind = FUNCTIONS[node.function], node.kind
            totals.append(_Total(place, node.args[0], function, kind, "", ""))
        ordered = any(is_ordered(t.function, t.kind) for t in totals)
        strips = self.strips(sweep, ordered=ordered)
        if ordered:
            for total in totals:
                total.buffer = e.room(LANES * total.kind.bytes)
                total.tree = e.room(28 * 2 * total.kind.bytes)
            self.lane_by_lane(sweep, totals, strips, first=first)
        else:
            self.straight(sweep, totals, strips)

    def strips(self, sweep: Sweep, *, ordered: bool) -> int:
        """Vectors side by side: enough that additions do not wait for each other, few where the body is long."""
        applied = [node for place in sweep.nodes if isinstance(node := self.kernel.body[place], Apply)]
        if any(node.function in TRANSCENDENTAL for node in applied) or (ordered and self.rows.short):
            return 1
        most = 4 if len(applied) <= 8 else 2
        return min(most, LANES // self.kernel.lanes)

    def straight(self, sweep: Sweep, totals: list[_Total], strips: int) -> None:
        w, lanes = self.w, self.kernel.lanes
        span = strips * lanes
        whole = w.word("and", self.size, -span)
        rest = w.word("sub", self.size, whole)
        self.pack(sweep, span, whole, rest)
        firsts = self.identities(totals, strips)
        loop = w.begin(0, self.size, span, firsts)
        is_tail = w.test("uge", loop.index, whole)
        offsets = [strip * lanes for strip in range(strips)]
        joined = self.strip_group(sweep, totals, loop.carried, "0", loop.index, is_tail, rest, "0", offsets)
        w.end(loop, joined)
        self.unpack(sweep, whole, rest)
        for number, total in enumerate(totals):
            parts = list(loop.carried[number * strips : (number + 1) * strips])
            value = self.together(total, parts)
            self.publish(total, self.across(total, value))

    def lane_by_lane(self, sweep: Sweep, totals: list[_Total], strips: int, *, first: bool) -> None:
        w, lanes, v = self.w, self.kernel.lanes, self.v
        apart = LANES // strips
        blocks = w.begin(0, w.word("lshr", w.word("add", self.size, BLOCK - 1), BLOCK.bit_length() - 1))
        start = w.word("mul", blocks.index, BLOCK)
        length = w.smaller(w.word("sub", self.size, start), BLOCK)
        height = w.word("lshr", w.word("add", length, LANES - 1), LANES.bit_length() - 1)
        whole = w.word("and", length, -LANES)
        rest = w.word("sub", length, whole)
        self.pack(sweep, LANES, w.word("add", start, whole), rest)
        stop = w.smaller(length, apart)
        self.clear(totals, stop, apart)
        groups = w.begin(0, stop, lanes)
        rows = w.begin(0, length, LANES, self.identities(totals, strips))
        is_tail = w.test("uge", rows.index, whole)
        if first:
            self.fetch_ahead(sweep, start, groups.index, rows.index, height, strips)
        offsets = [strip * apart for strip in range(strips)]
        joined = self.strip_group(sweep, totals, rows.carried, start, rows.index, is_tail, rest, groups.index, offsets)
        w.end(rows, joined)
        for number, total in enumerate(totals):
            value = self.together(total, list(rows.carried[number * strips : (number + 1) * strips]))
            v.store(total.kind, value, w.at(total.buffer, w.word("mul", groups.index, total.kind.bytes)))
        w.end(groups)
        self.unpack(sweep, w.word("add", start, whole), rest)
        scalars = Vectors(w, 1)
        for total in totals:
            parts = [v.load(total.kind, w.at(total.buffer, lane * total.kind.bytes)) for lane in range(0, apart, lanes)]
            value = self.across(total, self.together(total, parts))
            carry(w, scalars, total.function, total.kind, total.tree, blocks.index, value)
        w.end(blocks)
        for total in totals:
            self.publish(total, finish(w, scalars, total.function, total.kind, total.tree, self.size))

    def strip_group(self, sweep: Sweep, totals: list[_Total], carried: tuple[str, ...], start: str, row: str, is_tail: str,
                    rest: str, lane: str, offsets: list[int]) -> list[str]:  # fmt: skip
        """Every strip at one place: `start + row + lane + offset`, or in the packed end."""
        w, v, kernel = self.w, self.v, self.kernel
        place = w.word("add", start, row)
        at = w.word("add", place, lane)
        nodes = sorted(sweep.nodes)
        sources = {
            i: self.moved(self.ends.rooms["operand", i], self.e.bases[i], kernel.operands[i].kind.bytes, is_tail, place, lane)
            for i in self.loaded(sweep)
        }
        targets = {
            i: self.moved(self.ends.rooms["result", i], self.e.outputs[i], kernel.results[i].kind.bytes, is_tail, place, lane)
            for i in sweep.stores
        }
        values: list[list[str]] = [[] for _ in totals]
        for offset in offsets:
            found = dict(self.known)
            for node in nodes:
                found[node] = self.element(node, found, sources, at, offset)
            certain(not v.checks, "no element of a row kernel can fail")
            for node in sweep.keeps:
                kind = kind_of(kernel, node)
                v.store(kind, found[node], self.scratch(self.kept[node], kind, at, offset))
            for i in sweep.stores:
                kind = kernel.results[i].kind
                streamed = kernel.stores is Stores.STREAMED
                align = min(VECTOR_ALIGN, kernel.lanes * kind.bytes) if streamed else 1
                v.store(kind, found[kernel.results[i].node], w.at(targets[i], offset * kind.bytes), align,
                        ", !nontemporal !0" if streamed else "")  # fmt: skip
            for number, total in enumerate(totals):
                values[number].append(found[total.argument])
        values = self.without_absent(totals, values, is_tail, rest, lane, offsets)
        return [
            combine(v, total.function, total.kind, before, value)
            for number, total in enumerate(totals)
            for before, value in zip(carried[number * len(offsets) : (number + 1) * len(offsets)], values[number], strict=True)
        ]

    def element(self, place: int, found: dict[int, str], sources: dict[int, str], at: str, offset: int) -> str:
        node, kind = self.kernel.body[place], kind_of(self.kernel, place)
        if place in self.kept and place not in self.making:
            return self.v.load(kind, self.scratch(self.kept[place], kind, at, offset))
        if isinstance(node, Load):
            if node.operand in self.copies:
                return self.v.load(kind, self.scratch(self.copies[node.operand], kind, at, offset))
            return self.v.load(kind, self.w.at(sources[node.operand], offset * kind.bytes))
        if isinstance(node, Apply) and self.divides_by_row(node):
            return divide(self.v, found[node.args[0]], self.divisors[node.args[1]])
        return self.e.node(place, found)

    def prepare_divisors(self, sweep: Sweep) -> None:
        """What a sweep divides by that is the same for the whole row."""
        for place in sorted(sweep.nodes):
            node = self.kernel.body[place]
            if isinstance(node, Apply) and self.divides_by_row(node) and node.args[1] not in self.divisors:
                self.divisors[node.args[1]] = prepare(self.v, node.compute, self.known[node.args[1]])

    def divides_by_row(self, node: Apply) -> bool:
        """Is an element divided by what is the same for the whole row?"""
        return node.function == "div" and self.rows.fuses and node.compute.is_float and node.args[1] not in self.plan.elements

    def scratch(self, base: str, kind: Kind, at: str, offset: int) -> str:
        return self.w.at(self.w.at(base, self.w.word("mul", at, kind.bytes)), offset * kind.bytes)

    def moved(self, tail: str, base: str, bytes: int, is_tail: str, place: str, lane: str) -> str:
        w = self.w
        there = w.at(base, w.word("mul", place, bytes))
        chosen = w.let(f"select i1 {is_tail}, ptr {tail}, ptr {there}")
        return chosen if lane == "0" else w.at(chosen, w.word("mul", lane, bytes))

    # -------------------------------------------------------------------------------- ends and absences

    def pack(self, sweep: Sweep, span: int, whole: str, rest: str) -> None:
        """The items after `whole`, fewer than `span`, to the stack."""
        kernel = self.kernel
        certain(span <= LANES, "what is packed fits into its room")
        rows = []
        for i in self.loaded(sweep):
            self.ends.room_for("operand", i, kernel.operands[i].kind)
            rows.append((self.ends.rooms["operand", i], self.e.bases[i], kernel.operands[i].kind, True))
        for i in sweep.stores:
            self.ends.room_for("result", i, kernel.results[i].kind)
        self.making = frozenset(sweep.keeps)
        self.ends.when_some(rest, rows, whole)

    def loaded(self, sweep: Sweep) -> list[int]:
        """The operands that a sweep reads where they are."""
        found = {node.operand for place in sweep.nodes if isinstance(node := self.kernel.body[place], Load)}
        return sorted(found - self.copies.keys())

    def unpack(self, sweep: Sweep, whole: str, rest: str) -> None:
        rows = [(self.ends.rooms["result", i], self.e.outputs[i], self.kernel.results[i].kind, False) for i in sweep.stores]
        self.ends.when_some(rest, rows, whole)

    def identities(self, totals: list[_Total], strips: int) -> list[tuple[str, str]]:
        v = self.v
        return [(v.type(t.kind), v.constant(t.kind, neutral(t.function, t.kind))) for t in totals for _ in range(strips)]

    def clear(self, totals: list[_Total], stop: str, apart: int) -> None:
        """Identities in the lanes that a short block lacks."""
        w, v = self.w, self.v
        end = w.let(f"select i1 {w.test('ult', stop, apart)}, i64 {apart}, i64 0")
        loop = w.begin(0, end, self.kernel.lanes)
        for total in totals:
            none = v.constant(total.kind, neutral(total.function, total.kind))
            v.store(total.kind, none, w.at(total.buffer, w.word("mul", loop.index, total.kind.bytes)))
        w.end(loop)

    def without_absent(self, totals: list[_Total], values: list[list[str]], is_tail: str, rest: str, lane: str, offsets: list[int]
                       ) -> list[list[str]]:  # fmt: skip
        """The values, identities where a packed end has no item."""
        w, v = self.w, self.v
        if not totals:
            return values
        before, mask, ready = w.block, w.new_label(), w.new_label()
        w.branch(is_tail, mask, ready)
        w.label(mask)
        limit = v.splat(Kind.I64, w.word("sub", rest, lane))
        cut: list[list[str]] = [[] for _ in totals]
        for strip, offset in enumerate(offsets):
            here = "<" + ", ".join(f"i64 {offset + item}" for item in range(v.lanes)) + ">"
            present = v.compare("slt", Kind.I64, here, limit)
            for number, total in enumerate(totals):
                none = v.constant(total.kind, neutral(total.function, total.kind))
                cut[number].append(v.choose(total.kind, present, values[number][strip], none))
        after = w.block
        w.jump(ready)
        w.label(ready)
        return [
            [
                w.let(f"phi {v.type(total.kind)} [ {value}, %{before} ], [ {kept}, %{after} ]")
                for value, kept in zip(values[number], cut[number], strict=True)
            ]
            for number, total in enumerate(totals)
        ]

    # -------------------------------------------------------------------------------------- reductions

    def together(self, total: _Total, parts: list[str]) -> str:
        """Parts joined by halving: the first with the one in the middle."""
        while len(parts) > 1:
            half = len(parts) // 2
            parts = [combine(self.v, total.function, total.kind, parts[i], parts[i + half]) for i in range(half)]
        return parts[0]

    def across(self, total: _Total, value: str) -> str:
        """The lanes of a vector joined by halving; a vector of one."""
        w, count = self.w, self.kernel.lanes
        while count > 1:
            count //= 2
            v, whole = Vectors(w, count), Vectors(w, 2 * count).type(total.kind)
            halves = []
            for start in (0, count):
                order = "<" + ", ".join(f"i32 {start + lane}" for lane in range(count)) + ">"
                halves.append(w.let(f"shufflevector {whole} {value}, {whole} poison, <{count} x i32> {order}"))
            value = combine(v, total.function, total.kind, halves[0], halves[1])
        return value

    def publish(self, total: _Total, value: str) -> None:
        """A reduction, for all lanes."""
        one, order = Vectors(self.w, 1).type(total.kind), f"<{self.v.lanes} x i32> zeroinitializer"
        self.known[total.place] = self.w.let(f"shufflevector {one} {value}, {one} poison, {order}")

    def fetch_ahead(self, sweep: Sweep, start: str, lane: str, row: str, height: str, strips: int) -> None:
        """Ask for what comes later, in the order of memory."""
        w, lanes = self.w, self.kernel.lanes
        done = w.word("add", w.word("mul", w.word("mul", lane, height), strips),
                      w.word("mul", w.word("lshr", row, LANES.bit_length() - 1), strips * lanes))  # fmt: skip
        ahead = w.word("add", w.word("add", start, done), _AHEAD)
        for operand in self.loaded(sweep):
            described = self.kernel.operands[operand]
            if any(described.moves[:-1]):
                bytes = described.kind.bytes
                address = w.at(self.e.bases[operand], w.word("mul", ahead, bytes))
                w.declarations["declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"] = None
                for line in range(0, strips * lanes * bytes, _LINE):
                    w.do(f"call void @llvm.prefetch.p0(ptr {w.at(address, line)}, i32 0, i32 3, i32 1)")
