"""Prints loop programs as LLVM text: modules, statements, vector loops and branches.

Values of registers are those of `llvm_registers`, loads and stores those of `llvm_memory`, scalar functions those of
`llvm_scalars`.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Final

from ...lang.support.records import dataclass
from ...typechecker.elements import Kind, is_exact_in_any_order, neutral_element
from ..jit import compiler
from ..loopir.ir import (
    MOST_VALUES,
    ZERO,
    Apply,
    Call,
    Carried,
    ConstantStatement,
    Fail,
    For,
    If,
    Index,
    IndexStatement,
    Load,
    LoopKind,
    LoopProgram,
    Statement,
    Store,
    View,
    ViewRole,
    index,
    scan_reductions,
    walk,
)
from .llvm_builder import IrBuilder, ThreadArena, function_text
from .llvm_memory import Addresses, MemoryAccess
from .llvm_registers import (
    Registers,
    RegisterValue,
    calls_at,
    calls_of,
    divisor_of,
    fails,
    is_long,
    is_own,
    iterations_of,
    lanes_of,
    runs_in_ranges,
    strides_of,
    vectors_of,
    words_of,
)
from .llvm_scalars import COMPUTED, Vectors, apply, combine, divide, fold_lanes, literal_bits, prepare

# ------------------------------------------------------------------------------------------------ vector scans
#
# Scans of vectors: each vector is combined with itself shifted by 1, 2, 4, … lanes, then with the total of the vectors before.
#
# The loop-carried dependence is one operation per vector: the total so far, in all lanes, combined with the vector's total.

@dataclass(slots=True)
class Prefix:
    """A scan: a reduction in a vector loop whose value after each item is used."""

    w: IrBuilder
    carried: Carried
    lanes: int
    after: str = ""
    """The total before the next vector, in all lanes."""

    def everywhere(self, one: str) -> str:
        """Returns a `<1 x T>` broadcast to all lanes."""
        return self.shuffled(f"<1 x {COMPUTED[self.carried.kind]}>", one, [0] * self.lanes)

    def first(self, value: str) -> str:
        """Returns the first lane as a `<1 x T>`."""
        return self.shuffled(self.v.type(self.carried.kind), value, [0])

    def up_to(self, before: str, items: str, present: str) -> str:
        """Returns the inclusive scan of a vector's active lanes (mask `present`; empty: all) that continues from the total
        `before`."""
        v, kind, lanes = self.v, self.carried.kind, self.lanes
        nothing, step = v.constant(kind, neutral_element(self.carried.reduction or "", kind)), 1
        if present:
            items = v.choose(kind, present, items, nothing)
        while step < lanes:
            places = [lane - step if lane >= step else lanes + lane for lane in range(lanes)]
            items = self.joined(self.shuffled(v.type(kind), items, places, nothing), items)
            step *= 2
        total = self.shuffled(v.type(kind), items, [lanes - 1] * lanes)
        self.after = self.joined(before, total)
        return self.joined(before, items)

    @property
    def v(self) -> Vectors:
        return Vectors(self.w, self.lanes)

    def joined(self, left: str, right: str) -> str:
        return combine(self.v, self.carried.reduction or "", self.carried.kind, left, right)

    def shuffled(self, type: str, value: str, places: Sequence[int], other: str = "poison") -> str:
        order = ", ".join(f"i32 {lane}" for lane in places)
        return self.w.let(f"shufflevector {type} {value}, {type} {other}, <{len(places)} x i32> <{order}>")


# ---------------------------------------------------------------------------------------------------- statements
#
# Statements of loop programs as LLVM text, except loops and branches: scalar functions, checks, calls.

_LOOP: Final = 2
"""Insertion points of a loop: its preheader and the top of its body."""


class _Ahead(IrBuilder):
    """Writes instructions at the insertion point of a given height (`llvm_registers`, Note [Insertion points])."""

    def __init__(self, registers: Registers, height: int) -> None:
        super().__init__()
        self.registers, self.height, self.declarations = registers, height, registers.w.declarations

    def let(self, text: str) -> str:
        return self.registers.let(self.height, text)


class StatementPrinter:
    """The state of printing a program, and the statements that contain no block."""

    def __init__(self, program: LoopProgram, vector_bytes: int) -> None:
        self.program, self.vector_bytes = program, vector_bytes
        self.views = {view.name: view for view in program.views}
        self.registers = Registers(program)
        self.addresses = Addresses(self.registers)
        self.memory = MemoryAccess(self.registers, self.addresses, self.views)
        self.w = self.registers.w
        self.rooms = ThreadArena(self.w)
        self.calls, self.called = calls_at(program), 0
        """The offsets of each call's words in the argument block, and the number of calls written so far."""
        self.outermost: str | None = None
        """The index register of the open outermost loop, if the failure record holds its iteration."""
        self.leave = ""
        """The label to which a vector loop branches if a check fails."""
        self.has_left = False

    def load_word(self, slot: int) -> str:
        return self.w.let(f"load i64, ptr {self.w.at('%words', 8 * slot)}, align 8")

    def constant(self, node: ConstantStatement) -> None:
        text = literal_bits(node.kind, node.bits)
        literal, is_word = f"splat ({COMPUTED[node.kind]} {text})", node.kind is Kind.I64
        self.registers.values[node.name] = RegisterValue(text if is_word else literal, 0, is_word=is_word, literal=literal)

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
        r.define(node.name, apply(v, node, args), varying=varying)
        for check in v.checks:
            self.check(check.node, v.lanes, check.failed, [(check.kind, check.value)])

    def is_quotient_of_rows(self, node: Apply) -> bool:
        """Returns whether the node divides by a loop invariant; see `llvm_scalars`, division by an invariant."""
        if node.function != "div" or not node.compute.is_float or not compiler.has_feature("fma"):
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
        """Prints a branch that is taken if a lane fails: from a vector loop to its scalar loop, from a scalar loop out of the
        function with a failure record."""
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
            for position, (kind, value) in enumerate(values):
                w.do(f"store i64 {self.widened(kind, value)}, ptr {w.at('%words', 8 * (self.calls[-1] + position))}, align 8")
            self.iteration()
            w.do(f"ret i64 {number + 1}")
        w.label(going)

    def iteration(self) -> None:
        """Stores the iteration of the outermost loop in the failure record."""
        if self.outermost is not None and runs_in_ranges(self.program):
            address = self.w.at("%words", 8 * (self.calls[-1] + MOST_VALUES))
            self.w.do(f"store i64 {self.addresses.index(index(self.outermost))}, ptr {address}, align 8")

    def call(self, node: Call) -> None:
        w, a = self.w, self.addresses
        words: list[str] = []
        for box in node.boxes:
            words.append(w.let(f"ptrtoint ptr {a.address(self.views[box.view], box.start)} to i64"))
            words += [a.index(size) for size in box.shape if size is not None]
        words += map(a.index, node.numbers)
        for slot, word in enumerate(words, self.calls[self.called]):
            w.do(f"store i64 {word}, ptr {w.at('%words', 8 * slot)}, align 8")
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
        """Returns a `<1 x T>` as a 64-bit word of the failure record: floats as binary64, others as integers."""
        w, one = self.w, self.w.let(f"extractelement <1 x {COMPUTED[kind]}> {value}, i64 0")
        if kind.is_float:
            wide = w.let(f"fpext float {one} to double") if kind is Kind.F32 else one
            return w.let(f"bitcast double {wide} to i64")
        if kind is Kind.I64:
            return one
        return w.let(f"{'sext' if kind is Kind.I32 else 'zext'} {COMPUTED[kind]} {one} to i64")


# -------------------------------------------------------------------------------- modules, loops and branches
#
# Loop programs as LLVM text, with explicit vectors and without LLVM's own passes: modules, loops and branches.
#
# A module is one function `i64 kernel(ptr words)`, `words` being the argument block (`llvm_registers`).  It returns 0, or 1 + the
# number of the check that failed, or -1 if a routine did not return 1.
#
# Note [Vector loops].  A VECTOR loop is printed as several loops:
#
# - the main loop, over one vector or several an iteration (`llvm_registers.vectors_of`);
# - where the stores are nontemporal, which cannot be masked, a loop over single vectors;
# - a remainder loop with masked lanes, if the processor has masks (`has_masks`) and the loop loads no scratch that it stores;
#   else a scalar loop.  If the body is long, there is only the masked loop, with as many vectors.
#
# In an inner loop with early exit a lane that has finished is carried along and keeps its values.  The remainder of a loop that
# may fail is a scalar loop: if a check fails in a vector, the scalar loop runs over that vector again and finds the first failing
# item; so such loops store no view that they load.  Loops that do not fit this (a branch on a varying value, a failing check
# beside views that are loaded and stored) are scalar throughout.  If the trip count is constant, loops that would run no
# iteration are omitted.
#
# Note [Counters].  Loop counters are vectors of one lane, to hide them from LLVM's strength reduction: it would take longer than
# all its other passes together, and finds nothing to improve in addresses as they are printed here.

_LEAST_MASKED: Final = 64
"""The least vector width in bytes of processors that mask every load and store."""
_MOST_TOGETHER: Final = 256
"""The most statements, over all vectors, of a reduction that is fully unrolled."""


class PrefixSteps(Enum):
    """The items that an iteration of a printed loop handles: one, a full vector, or a vector with masked lanes."""

    SINGLE = "single"
    WHOLE = "whole"
    MASKED = "masked"


class Printer(StatementPrinter):
    """Prints modules, blocks, loops and branches."""

    def __init__(self, program: LoopProgram, vector_bytes: int) -> None:
        super().__init__(program, vector_bytes)
        self.scans: dict[str, Prefix] = {}
        """The scans of the vector loop that is printed, by the register that each yields."""

    # ------------------------------------------------------------------------------------------- module

    def module(self) -> str:
        w, slot = self.w, 0
        w.label("start")
        for slot, name in enumerate(self.program.parameters):
            self.registers.define_word(name, self.load_word(slot), 0)
        slot = len(self.program.parameters)
        for view in self.program.views:
            if is_own(self.program, view):
                self.allocate_private(view)
                continue
            self.addresses.bases[view.name] = w.let(f"inttoptr i64 {self.load_word(slot)} to ptr")
            slot += 1
            strides: list[str | int] = [self.load_word(slot + axis) for axis in range(strides_of(view))]
            slot += len(strides)
            self.addresses.strides[view.name] = (*strides, view.kind.bytes) if len(strides) < len(view.shape) else tuple(strides)
        self.registers.open()
        self.block(self.program.body)
        w.do("ret i64 0")
        self.registers.close()
        return function_text(w, [*self.rooms.entry(), *w.lines])

    def allocate_private(self, view: View) -> None:
        """Defines the address and strides of a private view, in the scratch memory of the function."""
        strides = [view.kind.bytes]
        for length in reversed(view.shape):
            strides.insert(0, strides[0] * length.constant)
        self.addresses.bases[view.name], self.addresses.strides[view.name] = self.rooms.room(strides[0]), tuple(strides[1:])

    # --------------------------------------------------------------------------------------- statements

    def block(self, body: tuple[Statement, ...]) -> None:
        self.memory.enter(body)
        for statement in body:
            match statement:
                case ConstantStatement():
                    self.constant(statement)
                case IndexStatement(name, index):
                    self.number(name, index)
                case Apply():
                    self.join(statement) if statement.name in self.scans else self.apply(statement)
                case Load():
                    self.memory.load(statement)
                case Store():
                    self.memory.store(statement)
                case Fail():
                    self.fail(statement)
                case Call():
                    self.call(statement)
                case If():
                    self.branch(statement)
                case For():
                    around, self.outermost = self.outermost, self.outermost or statement.index
                    self.loop(statement)
                    self.outermost = around

    # ----------------------------------------------------------------------------------------- control

    def join(self, node: Apply) -> None:
        """Prints a step of a scan."""
        r, (before, items) = self.registers, node.args
        shown = self.scans[node.name].up_to(r.vector(before), r.vector(items), r.mask)
        r.define(node.name, shown, varying=True)

    def yielded(self, carried: Carried) -> str:
        scan = self.scans.get(carried.yielded)
        return scan.after if scan is not None else self.registers.vector(carried.yielded)

    def branch(self, node: If) -> None:
        r, w = self.registers, self.w
        then, otherwise, after = w.new_label(), w.new_label(), w.new_label()
        w.branch(r.truth(node.condition), then, otherwise)
        ends: list[tuple[str, list[str]]] = []
        for label, block, names in (
            (then, node.then, [c.then for c in node.results]),
            (otherwise, node.otherwise, [c.otherwise for c in node.results]),
        ):
            w.label(label)
            self.block(block)
            values = list(map(r.scalar, names))
            ends.append((w.block, values))
            w.jump(after)
        w.label(after)
        for position, result in enumerate(node.results):
            arms = [(label, values[position]) for label, values in ends]
            r.define(result.name, self.phi(f"<1 x {COMPUTED[result.kind]}>", arms))

    def phi(self, type: str, sources: Sequence[tuple[str, str]]) -> str:
        return self.w.let(f"phi {type} " + ", ".join(f"[ {value}, %{label} ]" for label, value in sources))

    def bound(self, indices: tuple[Index, ...], extreme: str) -> str:
        limit = self.addresses.index(indices[0])
        for other in indices[1:]:
            limit = self.w.call("i64", f"llvm.{extreme}.i64", ("i64", limit), ("i64", self.addresses.index(other)))
        return limit

    def loop(self, node: For) -> None:
        r = self.registers
        lower, upper = self.bound(node.lower, "smax"), self.bound(node.upper, "smin")
        lanes = 1
        if node.kind is LoopKind.VECTOR and r.lanes == 1 and self.is_short(node):
            self.halved(node)
            return
        if node.kind is LoopKind.VECTOR and r.lanes == 1:
            lanes = lanes_of(node, self.views, self.vector_bytes)
        inside = [*walk(node.body)]
        masks_all = self.vector_bytes >= _LEAST_MASKED
        is_masked = lanes > 1 and self.has_masks(inside) and not fails(inside) and not self.reads_back(inside)
        values = [r.vector(c.initial) for c in node.carried]
        r.open()
        together = vectors_of(node, self.views, self.vector_bytes) if lanes > 1 else 1
        streams = any(self.views[s.view].streamed for s in inside if isinstance(s, Store))
        widths: list[int] = []
        if lanes > 1 and (streams or together > 2 or not (is_masked and masks_all and is_long(inside))):
            has_single = together > 1 and (streams or not (is_masked and masks_all))
            widths = [together * lanes, *([lanes] if has_single else ())]
            together = 1
        left, divisor = (None, 1) if fails(inside) else (iterations_of(node), divisor_of(node))
        for width in widths:
            if left is None or left >= width:
                lower, values = self.vectors(node, lower, upper, values, width, PrefixSteps.WHOLE)
                left = 0 if divisor % width == 0 else None if left is None else left % width
        if left == 0:
            pass
        elif is_masked:
            _, values = self.vectors(node, lower, upper, values, together * lanes, PrefixSteps.MASKED)
        else:
            _, values = self.counted(node, lower, upper, values, node.step, PrefixSteps.SINGLE)
        r.close()
        for carried, value in zip(node.carried, values, strict=True):
            r.define(carried.result, value, varying=r.lanes > 1)

    def is_short(self, node: For) -> bool:
        """Returns whether all vectors of a reduction fit in registers at once."""
        inside = [*walk(node.body)]
        if any(not is_exact_in_any_order(c.reduction or "", c.kind) for c in node.carried):
            return True
        if iterations_of(node) is None or node.lower != (ZERO,) or not node.carried or scan_reductions(node) or fails(inside):
            return False
        lanes = lanes_of(node, self.views, self.vector_bytes)
        return lanes > 1 and -(-node.upper[0].constant // (2 * lanes)) * len(inside) <= _MOST_TOGETHER

    def halved(self, node: For) -> None:
        """Prints a short reduction in the order of sums, fully unrolled: all vectors are in registers and are halved to one
        item."""
        r, w, count = self.registers, self.w, node.upper[0].constant
        lanes = 2 * lanes_of(node, self.views, self.vector_bytes)
        while lanes > 2 and lanes >= 2 * count:
            lanes //= 2
        v, joins = Vectors(w, lanes), {c.yielded: c for c in node.carried}
        items = {s.name: s.args[1] for s in node.body if isinstance(s, Apply) and s.name in joins}
        body = tuple(s for s in node.body if not (isinstance(s, Apply) and s.name in joins))

        def row(number: int) -> list[str]:
            """The items of a row of lanes."""
            first = number * lanes
            r.lanes, r.vector_index, present = lanes, node.index, min(lanes, count - first)
            r.define_word(node.index, str(first), 0)
            r.mask = "" if present == lanes else f"<{', '.join(f'i1 {str(lane < present).lower()}' for lane in range(lanes))}>"
            self.block(body)
            values: list[str] = []
            for name, c in joins.items():
                item = r.vector(items[name])
                if r.mask:
                    item = v.choose(c.kind, r.mask, item, v.constant(c.kind, neutral_element(c.reduction or "", c.kind)))
                values.append(item)
            r.mask, r.lanes, r.vector_index = "", 1, ""
            return values

        def combined(number: int, distance: int) -> list[str]:
            """Combines a row with the rows at multiples of a distance, depth first, so that few registers are live."""
            if distance >= rows:
                return row(number)
            values = combined(number, 2 * distance)
            if number + distance >= rows:
                return values
            others = combined(number + distance, 2 * distance)
            return [combine(v, c.reduction or "", c.kind, x, y)
                    for c, x, y in zip(joins.values(), values, others, strict=True)]  # fmt: skip

        rows = -(-count // lanes)
        for c, value in zip(joins.values(), combined(0, 1), strict=True):
            total = fold_lanes(w, c.reduction or "", c.kind, value, lanes)
            if is_exact_in_any_order(c.reduction or "", c.kind):
                total = combine(Vectors(w, 1), c.reduction or "", c.kind, r.scalar(c.initial), total)
            r.define(c.result, total)

    def has_masks(self, body: Sequence[Statement]) -> bool:
        """Returns whether masked lanes are quicker than a scalar loop: with AVX2, which masks items of at least four bytes, where
        each iteration has a loop."""
        kinds = (self.views[s.view].kind for s in body if isinstance(s, Load | Store))
        if self.vector_bytes >= _LEAST_MASKED:
            return True
        has_loop = any(isinstance(s, For) for s in body)
        return compiler.has_feature("avx2") and has_loop and all(kind.bytes >= 4 for kind in kinds)

    def reads_back(self, body: Sequence[Statement]) -> bool:
        """Returns whether a loop loads other items of a line of scratch than it stores; masks would defeat store forwarding
        then."""
        stored = {(s.view, s.indices[-1:]) for s in body if isinstance(s, Store) and self.views[s.view].role is ViewRole.SCRATCH}
        loads = {(s.view, s.indices[-1:]) for s in body if isinstance(s, Load)} - stored
        return not {view for view, _ in loads}.isdisjoint(view for view, _ in stored)

    def vectors(self, node: For, lower: str, upper: str, initial: Sequence[str], lanes: int, steps: PrefixSteps
                ) -> tuple[str, list[str]]:  # fmt: skip
        """Prints the loop by `counted`, with `lanes` lanes per iteration."""
        r, v = self.registers, Vectors(self.w, lanes)
        r.lanes, r.vector_index = lanes, node.index
        self.scans = scans = {name: Prefix(self.w, c, lanes) for name, c in scan_reductions(node).items()}
        entry = [v.constant(c.kind, neutral_element(c.reduction or "", c.kind)) if c.yielded not in scans
                 else scans[c.yielded].everywhere(start) for c, start in zip(node.carried, initial, strict=True)]  # fmt: skip
        lower, values = self.counted(node, lower, upper, entry, lanes, steps)
        r.lanes, r.vector_index, self.scans = 1, "", {}
        return lower, [scans[c.yielded].first(value) if c.yielded in scans else self.joined(c, lanes, start, value)
                       for c, start, value in zip(node.carried, initial, values, strict=True)]  # fmt: skip

    def counted(self, node: For, lower: str, upper: str, initial: Sequence[str], step: int, steps: PrefixSteps
                ) -> tuple[str, list[str]]:  # fmt: skip
        """Prints a counted loop; returns the index at which the remainder begins, and the carried values there."""
        r, w, may_leave = self.registers, self.w, steps is PrefixSteps.WHOLE
        body, after = w.new_label(), w.new_label()
        if may_leave:
            self.leave, self.has_left = w.new_label(), False
        counter = w.let(f"insertelement <1 x i64> poison, i64 {lower}, i64 0")
        absent = w.let(f"xor {r.mask_type} {r.mask}, splat (i1 true)") if r.mask and node.until is not None else "zeroinitializer"
        going, before, entry_hole = self.goes_on(lower, upper, step, steps), w.block, w.hole()
        w.branch(going, body, after)
        w.label(body)
        types = ["<1 x i64>", *(f"<{r.lanes} x {COMPUTED[c.kind]}>" for c in node.carried)]
        phis = [(w.fresh(), w.hole()) for _ in types]
        ended, ended_hole, pointers_hole = w.fresh(), w.hole(), w.hole()
        now = w.let(f"extractelement <1 x i64> {phis[0][0]}, i64 0")
        r.define_word(node.index, now, r.here)
        for carried, (name, _) in zip(node.carried, phis[1:], strict=True):
            r.define(carried.inside, name, varying=r.lanes > 1)
        r.open(node.index)
        if steps is PrefixSteps.MASKED:
            r.mask = self.first(w.word("sub", upper, now))
        self.block(node.body)
        following = w.word("add", now, step)
        going = self.goes_on(following, upper, step, steps)
        by_lane, following_ended = r.differs(node.until), ""
        if node.until is not None and not by_lane:
            going = w.let(f"select i1 {r.truth(node.until)}, i1 false, i1 {going}")
        yielded = [w.let(f"insertelement <1 x i64> poison, i64 {following}, i64 0"), *map(self.yielded, node.carried)]
        if steps is PrefixSteps.MASKED:
            for slot, (name, _) in enumerate(phis[1:], 1):
                yielded[slot] = w.let(f"select {r.mask_type} {r.mask}, {types[slot]} {yielded[slot]}, {types[slot]} {name}")
            r.mask = ""
        if by_lane and node.until is not None:
            for slot, (name, _) in enumerate(phis[1:], 1):
                yielded[slot] = w.let(f"select {r.mask_type} {ended}, {types[slot]} {name}, {types[slot]} {yielded[slot]}")
            following_ended = w.let(f"or {r.mask_type} {ended}, {r.vector(node.until)}")
            every = w.call("i1", f"llvm.vector.reduce.and.v{r.lanes}i1", (r.mask_type, following_ended))
            going = w.let(f"select i1 {every}, i1 false, i1 {going}")
        latch = w.block
        self.step_on(lower, step, (entry_hole, before), (pointers_hole, latch))
        w.branch(going, body, after)
        for (name, hole), type, first, last in zip(phis, types, [counter, *initial], yielded, strict=True):
            w.fill(hole, f"{name} = phi {type} [ {first}, %{before} ], [ {last}, %{latch} ]")
        if following_ended:
            w.fill(ended_hole, f"{ended} = phi {r.mask_type} [ {absent}, %{before} ], [ {following_ended}, %{latch} ]")
        r.close()
        sources = [(before, [lower, *initial]), (latch, [following, *yielded[1:]])]
        if may_leave and self.has_left:
            w.label(self.leave)
            w.jump(after)
            sources.append((self.leave, [now, *(name for name, _ in phis[1:])]))
        w.label(after)
        rest, *values = [
            self.phi(type, [(label, ends[position]) for label, ends in sources]) for position, type in enumerate(["i64",
            *types[1:]])
        ]
        return rest, values

    def step_on(self, lower: str, step: int, entry: tuple[int, str], body: tuple[int, str]) -> None:
        """Fills in the induction pointers of a printed loop (`Registers.stepping`); `entry`, `body`: (line to fill, label)."""
        r, w = self.registers, self.w
        (entry_hole, before), (body_hole, latch) = entry, body
        firsts: list[str] = []
        phis: list[str] = []
        for (base, distance), name in r.places[-1].pointers.items():
            first, far, alone = w.fresh(), w.fresh(), w.fresh()
            firsts += [f"  {far} = mul i64 {lower}, {distance}", f"  {first} = getelementptr i8, ptr {base}, i64 {far}",
                       f"  {alone} = insertelement <1 x ptr> poison, ptr {first}, i64 0"]  # fmt: skip
            stride = distance if step == 1 else r.let(0, f"mul i64 {distance}, {step}")
            following = w.let(f"getelementptr i8, <1 x ptr> {name}, i64 {stride}")
            phis.append(f"  {name} = phi <1 x ptr> [ {alone}, %{before} ], [ {following}, %{latch} ]")
        w.lines[entry_hole], w.lines[body_hole] = "\n".join(firsts), "\n".join(phis)

    def first(self, count: str) -> str:
        """Returns the mask of the first `count` lanes (at least one, at most all), from the bits of a word."""
        w, lanes = self.w, self.registers.lanes
        absent = w.word("sub", lanes, w.smaller(count, lanes))
        type = f"i{lanes}"
        if lanes != 64:
            absent = w.let(f"{'trunc' if lanes < 64 else 'zext'} i64 {absent} to {type}")
        return w.let(f"bitcast {type} {w.let(f'lshr {type} -1, {absent}')} to {self.registers.mask_type}")

    def goes_on(self, index: str, upper: str, step: int, steps: PrefixSteps) -> str:
        """Returns the condition that there is an iteration at the index."""
        if steps is PrefixSteps.WHOLE:
            return self.w.test("sle", self.w.word("add", index, step), upper)
        return self.w.test("slt", index, upper)

    def joined(self, carried: Carried, lanes: int, initial: str, value: str) -> str:
        """Returns the lanes of a reduction that is exact in any order, combined with each other and with the initial value."""
        function, kind = carried.reduction or "", carried.kind
        return combine(Vectors(self.w, 1), function, kind, initial, fold_lanes(self.w, function, kind, value, lanes))


# -------------------------------------------------------------------------------------------- entry points

__all__ = ["calls_at", "calls_of", "is_own", "llvm_text", "strides_of", "words_of"]


def llvm_text(program: LoopProgram, vector_bytes: int) -> str:
    """Returns the LLVM module of a program for registers of `vector_bytes`."""
    text = Printer(program, vector_bytes).module()
    compiler.code(program, text)
    return text
