"""Loop programs that are written out rather than lowered from phases: what library functions run many items through.

The words of a program are those of `llvm.words`: parameters, then each view's base and strides.

Neighbours: `builder` (writes them), `kernels.store` (compiles them), `run.cpu.scattering`, `uniforms`, `launching` (run them).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ...typechecker.elements import Kind
from ..kernels.build import bits_of
from ..kernels.ir import Step
from ..kernels.llvm_leaf import vector_bytes
from .builder import Builder, at
from .ir import ONE, ZERO, Index, LoopKind, Program, Role, View, plus, times
from .llvm import llvm_text
from .orders import integer, whole_multiples

_TOGETHER: Final = 4
"""Items that are joined in an iteration, with as many tables at most."""
PHILOX_ROUNDS: Final = 10
_MULTIPLIERS: Final = (0xD2511F53, 0xCD9E8D57)
_LOW: Final = 0xFFFFFFFF
_MOST_LEVELS: Final = 63
_COUNTED: Final = 128
"""Items that are counted in bytes."""


class Written(ABC):
    """Code by what it is made for."""

    @abstractmethod
    def program(self) -> Program: ...

    def text(self) -> str:
        return llvm_text(self.program(), vector_bytes())


@dataclass(frozen=True, slots=True)
class Joining(Written):
    """Partial results of a cut reduction joined: neighbours level by level, a last odd one passed on (as in the order of sums).

    Words: the number of rows of partial results; the items of a row; the rows (which are written over) and the bytes from row to
    row; the result."""

    function: str
    kind: Kind

    def program(self) -> Program:
        b, (count, cells) = Builder(), ("count", "cells")
        rows = View("rows", self.kind, (at(count), at(cells)), Role.OUTPUT)
        result = View("result", self.kind, (at(cells),), Role.OUTPUT)
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
        return Program("joining", (count, cells), (rows, result), (*b.preamble, *b.statements))


@dataclass(frozen=True, slots=True)
class Counting(Written):
    """How many items of a mask hold, counted in bytes as far as these suffice.  Words: how many items; the mask; the number."""

    def program(self) -> Program:
        b, items = Builder(), at("items")
        views = View("mask", Kind.BOOL, (items,), Role.INPUT), View("count", Kind.I64, (), Role.OUTPUT)
        nothing = b.constant(Kind.U8, 0)
        with b.loop(LoopKind.SERIAL, (ZERO,), (items,), [(Kind.I64, b.constant(Kind.I64, 0), None)], step=_COUNTED) as block:
            ends = plus(at(block.index), Index((), _COUNTED)), items
            with b.loop(LoopKind.VECTOR, (at(block.index),), ends, [(Kind.U8, nothing, "add")]) as loop:
                item = b.apply("convert", (b.load("mask", (at(loop.index),)),), Kind.BOOL, Kind.U8)
                loop.yields = (b.apply("add", (loop.inside[0], item), Kind.U8, Kind.U8),)
            held = b.apply("convert", loop.results, Kind.U8, Kind.I64)
            block.yields = (integer(b, "add", block.inside[0], held),)
        b.store("count", (), block.results[0])
        return Program("counting", ("items",), views, (*b.preamble, *b.statements))


@dataclass(frozen=True, slots=True)
class Scatter(Written):
    """Keyed reduction: each item joins the entry of a table that its key names, in order.

    A key that names no entry ends it (check 0).  Functions that are exact in any order use several `tables` in turn (a power of
    two), so that a run of equal keys does not wait for itself; the others use one, and run in the order of the items.  Where keys
    ascend and there is an item (`runs`) an entry stays in a register while its key does; a key below the one before ends it
    (check 1).  `unit`: keys lie next to each other.  `step`: how items do.

    Words: the number of items; the entries of a table; the keys (i64) and, unless `unit`, their stride in bytes; the items and,
    where STRIDED, theirs; the tables and the bytes from table to table."""

    function: str
    kind: Kind
    tables: int
    unit: bool = False
    step: Step = Step.STRIDED
    runs: bool = False

    def program(self) -> Program:
        b, count, entries = Builder(), "count", "entries"
        keys = View("keys", Kind.I64, (at(count),), Role.INPUT, unit=self.unit)
        shape = () if self.step is Step.NONE else (at(count),)
        items = View("items", self.kind, shape, Role.INPUT, unit=self.step is Step.UNIT)
        tables = View("tables", self.kind, (Index((), self.tables), at(entries)), Role.OUTPUT)

        only = "" if shape else b.load(items.name, ())

        def inside(key: str) -> None:
            b.fail(0, b.apply("outside", (key, entries), Kind.I64, Kind.BOOL))

        def joined(held: str, place: Index) -> str:
            item = only or b.load(items.name, (place,))
            return b.apply(self.function, (held, item), self.kind, self.kind)

        if self.runs:
            self.by_runs(b, inside, joined)
        else:
            whole = times(whole_multiples(b, at(count), _TOGETHER), _TOGETHER)
            most = plus(at(count), Index((), 1 - _TOGETHER))
            for lower, upper, together in (((ZERO,), most, _TOGETHER), ((ZERO, whole), at(count), 1)):
                with b.loop(LoopKind.SERIAL, lower, (upper,), step=together) as loop:
                    for number in range(together):
                        place = plus(at(loop.index), Index((), number))
                        key = b.load(keys.name, (place,))
                        inside(key)
                        entry = Index((), number % self.tables), at(key)
                        b.store(tables.name, entry, joined(b.load(tables.name, entry), place))
        return Program("scatter", (count, entries), (keys, items, tables), (*b.preamble, *b.statements))

    def by_runs(self, b: Builder, inside: Callable[[str], None], joined: Callable[[str, Index], str]) -> None:
        """Of keys that ascend."""
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
class Uniforms(Written):
    """Uniform numbers of a key (`reference.philox`): Philox4x32-10, two numbers a block.

    Words: the blocks; the first block; the stream's low and high words; for each round both words of its key; the numbers."""

    def program(self) -> Program:
        b = Builder()
        keys = [(f"low{place}", f"high{place}") for place in range(PHILOX_ROUNDS)]
        out = View("out", Kind.F64, (times(at("count"), 2),), Role.OUTPUT)
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
            for place in range(2):
                upper, lower = counter[2 * place : 2 * place + 2]
                bits = word("bor", integer(b, "shl", b.constant(Kind.I64, 26), top(upper, 5)), top(lower, 6))
                whole = b.apply("convert", (bits,), Kind.I64, Kind.F64)
                scaled = b.apply("mul", (whole, b.constant(Kind.F64, bits_of(Kind.F64, 2.0**-53))), Kind.F64, Kind.F64)
                b.store(out.name, (plus(times(at(loop.index), 2), Index((), place)),), scaled)
        return Program("uniforms", names, (out,), (*b.preamble, *b.statements))
