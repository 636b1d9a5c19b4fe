"""Statements of loop programs as LLVM text, but for loops and branches: scalar functions, checks, calls.

Neighbours: `printer` (loops, branches, Notes), `registers`, `addresses`, `memory`; `kernels.scalar_text` (functions on vectors).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ....typechecker.elements import Kind
from ...kernels.ir import Apply as Function
from ...kernels.ir import Literal
from ...kernels.llvm_leaf import has_feature
from ...kernels.quotients import divide, prepare
from ...kernels.rooms import Rooms
from ...kernels.scalar_text import apply
from ...kernels.vectors import COMPUTED, Vectors, literal_bits
from ...kernels.writer import Writer
from ..ir import MOST_VALUES, Apply, Call, Constant, Fail, Index, Program, index
from .addresses import Addresses
from .memory import Memory
from .registers import Registers, Value
from .words import calls_at, runs_in_ranges

_LOOP: Final = 2
"""Places of a loop."""


class _Ahead(Writer):
    """Writes where what is known at a height is written."""

    def __init__(self, registers: Registers, height: int) -> None:
        super().__init__()
        self.registers, self.height, self.declarations = registers, height, registers.w.declarations

    def let(self, text: str) -> str:
        return self.registers.let(self.height, text)


class Statements:
    """What the text of a program is written with, and its statements without a block."""

    def __init__(self, program: Program, vector_bytes: int) -> None:
        self.program, self.vector_bytes = program, vector_bytes
        self.views = {view.name: view for view in program.views}
        self.registers = Registers(program)
        self.addresses = Addresses(self.registers)
        self.memory = Memory(self.registers, self.addresses, self.views)
        self.w = self.registers.w
        self.rooms = Rooms(self.w)
        self.calls, self.called = calls_at(program), 0
        """Where the words of each call are, and how many calls have been written."""
        self.outermost: str | None = None
        """The index of the outermost loop that is open, where the record says it."""
        self.leave = ""
        """Where a vector loop goes when a check fails."""
        self.has_left = False

    def load_word(self, place: int) -> str:
        return self.w.let(f"load i64, ptr {self.w.at('%words', 8 * place)}, align 8")

    def constant(self, node: Constant) -> None:
        text = literal_bits(Literal(node.kind, node.bits))
        literal, is_word = f"splat ({COMPUTED[node.kind]} {text})", node.kind is Kind.I64
        self.registers.values[node.name] = Value(text if is_word else literal, 0, is_word=is_word, literal=literal)

    def number(self, name: str, index: Index) -> None:
        r = self.registers
        if r.varies(index):
            r.define(name, self.addresses.index_vector(index), varying=True)
        else:
            r.define_word(name, self.addresses.index(index), r.height(name for name, _ in index.terms))

    def apply(self, node: Apply) -> None:
        r, varying = self.registers, any(map(self.registers.differs, node.args))
        v = Vectors(self.w, r.lanes if varying else 1)
        args = [r.vector(a) if varying else r.scalar(a) for a in node.args]
        if varying and self.is_quotient_of_rows(node):
            ahead = Vectors(_Ahead(r, r.values[node.args[1]].height), r.lanes)
            r.define(node.name, divide(v, args[0], prepare(ahead, node.compute, args[1])), varying=True)
            return
        function = Function(node.function, tuple(range(len(args))), node.compute, node.kind, node.parameter)
        r.define(node.name, apply(v, max(node.check, 0), function, args), varying=varying)
        for check in v.checks:
            self.check(check.node, v.lanes, check.failed, [(check.kind, check.value)])

    def is_quotient_of_rows(self, node: Apply) -> bool:
        """Is it a division by a number that is known before the loop?  See `kernels.quotients`."""
        if node.function != "div" or not node.compute.is_float or not has_feature("fma"):
            return False
        divisor, r = node.args[1], self.registers
        return not r.differs(divisor) and not r.values[divisor].literal and r.values[divisor].height <= r.here - _LOOP

    def fail(self, node: Fail) -> None:
        r = self.registers
        if r.differs(node.condition):
            self.check(node.check, r.lanes, r.vector(node.condition), ())
        else:
            values = [] if r.lanes > 1 else [(r.kinds[name], r.scalar(name)) for name in node.values]
            self.check(node.check, 1, r.scalar(node.condition), values)

    def check(self, number: int, lanes: int, failed: str, values: Sequence[tuple[Kind, str]]) -> None:
        """Leave where a lane fails: a vector loop for the scalar one, which leaves with a record."""
        w, bad, going = self.w, self.w.new_label(), self.w.new_label()
        if lanes > 1:
            failed = w.call("i1", f"llvm.vector.reduce.or.v{lanes}i1", (f"<{lanes} x i1>", failed))
        else:
            failed = w.let(f"extractelement <1 x i1> {failed}, i64 0")
        if self.registers.lanes > 1:
            self.has_left = True
            w.branch(failed, self.leave, going)
        else:
            w.branch(failed, bad, going)
            w.label(bad)
            for place, (kind, value) in enumerate(values):
                w.do(f"store i64 {self.widened(kind, value)}, ptr {w.at('%words', 8 * (self.calls[-1] + place))}, align 8")
            self.iteration()
            w.do(f"ret i64 {number + 1}")
        w.label(going)

    def iteration(self) -> None:
        """The iteration of the outermost loop goes to the record."""
        if self.outermost is not None and runs_in_ranges(self.program):
            place = self.w.at("%words", 8 * (self.calls[-1] + MOST_VALUES))
            self.w.do(f"store i64 {self.addresses.index(index(self.outermost))}, ptr {place}, align 8")

    def call(self, node: Call) -> None:
        w, a = self.w, self.addresses
        words: list[str] = []
        for box in node.boxes:
            words.append(w.let(f"ptrtoint ptr {a.address(self.views[box.view], box.start)} to i64"))
            words += [a.index(size) for size in box.shape if size is not None]
        words += map(a.index, node.numbers)
        for place, word in enumerate(words, self.calls[self.called]):
            w.do(f"store i64 {word}, ptr {w.at('%words', 8 * place)}, align 8")
        function = w.let(f"inttoptr i64 {self.load_word(self.calls[0] - 1)} to ptr")
        failed = w.test("ne", w.let(f"call i64 {function}(i64 {self.called})"), 1)
        self.called += 1
        bad, going = w.new_label(), w.new_label()
        w.branch(failed, bad, going)
        w.label(bad)
        self.iteration()
        w.do("ret i64 -1")
        w.label(going)

    def widened(self, kind: Kind, value: str) -> str:
        """A `<1 x T>` as 64 bits of the record: floats as binary64, others as integers."""
        w, one = self.w, self.w.let(f"extractelement <1 x {COMPUTED[kind]}> {value}, i64 0")
        if kind.is_float:
            wide = w.let(f"fpext float {one} to double") if kind is Kind.F32 else one
            return w.let(f"bitcast double {wide} to i64")
        if kind is Kind.I64:
            return one
        return w.let(f"{'sext' if kind is Kind.I32 else 'zext'} {COMPUTED[kind]} {one} to i64")
