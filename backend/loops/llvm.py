"""Loop programs as LLVM text, with explicit vectors and without LLVM's own passes.

One function `i64 kernel(ptr words)`.  Words: the parameters; for each view its base and its strides in bytes; then the failure
record, the values of the check that failed.  The function returns 0, or 1 + the number of that check.

Note [Addresses].  What an address owes to a loop's index is added at the top of that loop's body, outermost first, so that the
innermost loop adds its own index only.  What registers that a program computes add comes last, where the address is used.

Note [Vector loops].  A VECTOR loop is a loop over whole vectors and a scalar loop over the rest.  A vector in which a check fails
is left to the scalar loop, which finds the first item that fails; so such loops store no view that they load.  Loops that cannot
be printed so (a branch on a value of the lane, a failing check beside such views) are scalar loops throughout.

Neighbours: `ir`, `kernels.scalar_text` (scalar functions on vectors), `kernels.store` (compiles the text).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from ...typechecker.elements import Kind
from ..kernels.ir import Apply as Function
from ..kernels.ir import Literal
from ..kernels.llvm_text import function_text
from ..kernels.scalar_text import COMPUTED, Vectors, identity, literal_bits
from ..kernels.writer import Writer
from .ir import (
    MOST_VALUES,
    Apply,
    Carried,
    Constant,
    Fail,
    For,
    If,
    Index,
    Load,
    LoopKind,
    Number,
    Program,
    Statement,
    Store,
    View,
    walk,
)

_MAY_FAIL: Final = frozenset({"convert_checked", "floor", "ceil"})


def words_of(program: Program) -> int:
    """Length of the block of words."""
    return len(program.parameters) + sum(1 + len(view.shape) for view in program.views) + MOST_VALUES


def llvm_text(program: Program, vector_bytes: int) -> str:
    """The module of a program."""
    return _Printer(program, vector_bytes).module()


@dataclass(slots=True)
class _Value:
    """`<1 x T>`, or with `varying` a vector of the loop's lanes; with `is_word` a plain i64."""

    text: str
    varying: bool = False
    is_word: bool = False


@dataclass(slots=True)
class _Top:
    """The top of a loop's body: lines to be put there, the index as it is in the text, and what has been added so far."""

    name: str
    hole: int
    lines: list[str] = field(default_factory=list)
    sums: dict[tuple[str, tuple[tuple[tuple[str, int], ...], ...]], str] = field(default_factory=dict)


class _Printer:
    def __init__(self, program: Program, vector_bytes: int) -> None:
        self.program, self.vector_bytes = program, vector_bytes
        self.w = Writer()
        self.views = {view.name: view for view in program.views}
        self.values: dict[str, _Value] = {}
        self.kinds = _kinds(program)
        self.bases: dict[str, str] = {}
        self.strides: dict[str, tuple[str | int, ...]] = {}
        self.tops: list[_Top] = []
        self.lanes = 1
        self.vector_index = ""
        self.record = 8 * (words_of(program) - MOST_VALUES)
        self.leave = ""
        """Where a vector loop goes when a check fails."""

    # ------------------------------------------------------------------------------------------- module

    def module(self) -> str:
        w = self.w
        w.label("start")
        place = 0
        for name in self.program.parameters:
            self.values[name] = _Value(self.load_word(place), is_word=True)
            place += 1
        for view in self.program.views:
            self.bases[view.name] = w.let(f"inttoptr i64 {self.load_word(place)} to ptr")
            strides: list[str | int] = [self.load_word(place + 1 + axis) for axis in range(len(view.shape))]
            if strides and view.unit:
                strides[-1] = view.kind.bytes
            self.strides[view.name] = tuple(strides)
            place += 1 + len(view.shape)
        self.tops.append(_Top("", w.hole()))
        self.block(self.program.body)
        w.do("ret i64 0")
        self.close(self.tops.pop())
        return function_text(w, ["entry:", "  br label %start", *w.lines])

    def load_word(self, place: int) -> str:
        return self.w.let(f"load i64, ptr {self.w.at('%words', 8 * place)}, align 8")

    def close(self, top: _Top) -> None:
        self.w.lines[top.hole] = "\n".join(top.lines)

    def let_at(self, top: _Top, text: str) -> str:
        name = self.w.fresh()
        top.lines.append(f"  {name} = {text}")
        return name

    # ------------------------------------------------------------------------------------------- values

    def word(self, name: str) -> str:
        """A register that is the same in all lanes, as a plain i64."""
        value = self.values[name]
        if value.is_word:
            return value.text
        return self.w.let(f"extractelement <1 x i64> {value.text}, i64 0")

    def scalar(self, name: str) -> str:
        """The same as `<1 x T>`."""
        value = self.values[name]
        if value.is_word:
            return self.w.let(f"insertelement <1 x i64> poison, i64 {value.text}, i64 0")
        return value.text

    def vector(self, name: str) -> str:
        """A register in all lanes."""
        value = self.values[name]
        if self.lanes == 1:
            return self.scalar(name)
        if name == self.vector_index:
            return self.index_vector(Index(((name, 1),)))
        if value.varying:
            return value.text
        kind = self.kinds[name]
        one = value.text if value.is_word else self.w.let(f"extractelement <1 x {COMPUTED[kind]}> {value.text}, i64 0")
        return Vectors(self.w, self.lanes).splat(kind, one)

    def differs(self, name: str | None) -> bool:
        """Is a register another in each lane?"""
        return name is not None and self.lanes > 1 and (name == self.vector_index or self.values[name].varying)

    def varies(self, index: Index) -> bool:
        return any(self.differs(name) for name, _ in index.terms)

    def index(self, index: Index) -> str:
        """An index that is the same in all lanes, as a plain i64."""
        total = str(index.constant)
        for name, coefficient in index.terms:
            term = self.word(name)
            if coefficient != 1:
                term = self.w.word("mul", term, coefficient)
            total = term if total == "0" else self.w.word("add", term, total)
        return total

    def index_vector(self, index: Index) -> str:
        """An index in all lanes."""
        w, v = self.w, Vectors(self.w, self.lanes)
        even = Index(tuple(t for t in index.terms if not self.differs(t[0])), index.constant)
        total = v.splat(Kind.I64, self.index(even))
        for name, coefficient in index.terms:
            if name == self.vector_index:
                step = v.splat(Kind.I64, self.values[name].text)
                part = w.let(f"add {v.type(Kind.I64)} {step}, {v.counting()}")
            elif self.values[name].varying:
                part = self.values[name].text
            else:
                continue
            if coefficient != 1:
                part = v.binary("mul", Kind.I64, part, v.constant(Kind.I64, coefficient))
            total = v.binary("add", Kind.I64, total, part)
        return total

    # ---------------------------------------------------------------------------------------- addresses

    def address(self, view: View, indices: tuple[Index, ...]) -> str:
        """Of an item whose indices are the same in all lanes (but for the vector index, which counts as the first lane's)."""
        per_name: dict[str, list[int]] = {}
        for axis, index in enumerate(indices):
            for name, coefficient in index.terms:
                per_name.setdefault(name, [0] * len(indices))[axis] += coefficient
        constants = [index.constant for index in indices]
        base = self.bases[view.name]
        key: tuple[tuple[str, int], ...] = ()
        so_far: list[tuple[tuple[str, int], ...]] = []
        if any(constants):
            so_far.append(tuple(("", c) for c in constants))
            base = self.summed(self.tops[0], view, so_far, base, lambda top: self.distance(top, view, constants))
        own_of = {top.name: top for top in self.tops}
        for name in [*self.program.parameters, *(top.name for top in self.tops[1:])]:
            if name not in per_name:
                continue
            steps = per_name.pop(name)
            top = own_of.get(name, self.tops[0])
            key = tuple((name, c) for c in steps)
            so_far.append(key)
            base = self.summed(
                top, view, so_far, base,
                lambda top, name=name, steps=steps: self.scaled(top, self.values[name].text, view, steps),  # type: ignore[misc]
            )  # fmt: skip
        for name, steps in per_name.items():
            here = _Top("", -1)
            offset = self.scaled(here, self.word(name), view, steps)
            self.w.lines += here.lines
            base = self.w.at(base, offset)
        return base

    def summed(self, top: _Top, view: View, so_far: list[tuple[tuple[str, int], ...]], base: str,
               offset: Callable[[_Top], str]) -> str:  # fmt: skip
        key = (view.name, tuple(so_far))
        if key not in top.sums:
            distance = offset(top)
            top.sums[key] = self.let_at(top, f"getelementptr i8, ptr {base}, i64 {distance}")
        return top.sums[key]

    def distance(self, top: _Top, view: View, steps: Sequence[int]) -> str:
        """Σ steps × strides, in bytes."""
        total: str | int = sum(step * stride for step, stride in zip(steps, self.strides[view.name], strict=True)
                               if isinstance(stride, int))  # fmt: skip
        for step, stride in zip(steps, self.strides[view.name], strict=True):
            if isinstance(stride, int) or not step:
                continue
            part = stride if step == 1 else self.let_at(top, f"mul i64 {stride}, {step}")
            total = part if total == 0 else self.let_at(top, f"add i64 {part}, {total}")
        return str(total)

    def scaled(self, top: _Top, number: str, view: View, steps: Sequence[int]) -> str:
        """number × (Σ steps × strides)."""
        first = self.tops[0]
        factor = self.distance(first, view, steps)
        return self.let_at(top, f"mul i64 {number}, {factor}")

    def addresses(self, view: View, indices: tuple[Index, ...]) -> str:
        """Of each lane's item."""
        v = Vectors(self.w, self.lanes)
        even = tuple(
            Index(tuple(t for t in index.terms if not self.differs(t[0])), index.constant)
            for index in indices
        )
        base = self.address(view, even)
        total = ""
        for index, stride in zip(indices, self.strides[view.name], strict=True):
            terms = tuple(t for t in index.terms if self.differs(t[0]))
            if not terms:
                continue
            lanes = self.index_vector(Index(terms))
            step = v.constant(Kind.I64, stride) if isinstance(stride, int) else v.splat(Kind.I64, stride)
            part = v.binary("mul", Kind.I64, lanes, step)
            total = part if not total else v.binary("add", Kind.I64, total, part)
        return self.w.let(f"getelementptr i8, ptr {base}, {v.type(Kind.I64)} {total}")

    # --------------------------------------------------------------------------------------- statements

    def block(self, body: tuple[Statement, ...]) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, statement: Statement) -> None:
        match statement:
            case Constant(name, kind, bits):
                text = literal_bits(Literal(kind, bits))
                self.values[name] = _Value(f"splat ({COMPUTED[kind]} {text})")
                if kind is Kind.I64:
                    self.values[name] = _Value(text, is_word=True)
            case Number(name, index):
                if self.varies(index):
                    self.values[name] = _Value(self.index_vector(index), varying=True)
                else:
                    self.values[name] = _Value(self.index(index), is_word=True)
            case Apply():
                self.apply(statement)
            case Load():
                self.load(statement)
            case Store():
                self.store(statement)
            case Fail():
                self.fail(statement)
            case If():
                self.branch(statement)
            case For():
                self.loop(statement)

    def apply(self, node: Apply) -> None:
        varying = any(self.differs(a) for a in node.args)
        v = Vectors(self.w, self.lanes if varying else 1)
        args = [self.vector(a) if varying else self.scalar(a) for a in node.args]
        function = Function(node.function, tuple(range(len(args))), node.compute, node.kind, node.parameter)
        value = v.apply(max(node.check, 0), function, args)
        self.values[node.name] = _Value(value, varying)
        for check in v.checks:
            self.check(check.node, v, check.failed, [(check.kind, check.value)])

    def check(self, number: int, v: Vectors, failed: str, values: Sequence[tuple[Kind, str]]) -> None:
        """Leave where a lane fails: a vector loop for the scalar one, which leaves with a record."""
        w = self.w
        bad, going = w.new_label(), w.new_label()
        if v.lanes > 1:
            w.branch(w.call("i1", f"llvm.vector.reduce.or.v{v.lanes}i1", (f"<{v.lanes} x i1>", failed)), self.leave, going)
            w.label(going)
            return
        failed = w.let(f"extractelement <1 x i1> {failed}, i64 0")
        if self.lanes > 1:  # the same in all lanes: the scalar loop says which
            w.branch(failed, self.leave, going)
            w.label(going)
            return
        w.branch(failed, bad, going)
        w.label(bad)
        for place, (kind, value) in enumerate(values):
            w.do(f"store i64 {self.widened(kind, value)}, ptr {w.at('%words', self.record + 8 * place)}, align 8")
        w.do(f"ret i64 {number + 1}")
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

    def fail(self, node: Fail) -> None:
        if self.differs(node.condition):
            self.check(node.check, Vectors(self.w, self.lanes), self.values[node.condition].text, ())
            return
        values = [] if self.lanes > 1 else [(self.kinds[name], self.scalar(name)) for name in node.values]
        self.check(node.check, Vectors(self.w, 1), self.scalar(node.condition), values)

    # ------------------------------------------------------------------------------------------ memory

    def contiguous(self, view: View, indices: tuple[Index, ...]) -> int:
        """1 or -1 where the lanes lie side by side, forwards or backwards; else 0."""
        if not indices or not view.unit:
            return 0
        if any(self.varies(i) for i in indices[:-1]):
            return 0
        if any(self.values[name].varying for name, _ in indices[-1].terms if name != self.vector_index):
            return 0
        coefficient = dict(indices[-1].terms).get(self.vector_index, 0)
        return coefficient if coefficient in (1, -1) else 0

    def load(self, node: Load) -> None:
        view, w = self.views[node.view], self.w
        kind = view.kind
        masked = node.mask is not None
        lanes_differ = any(self.varies(i) for i in node.indices)
        if lanes_differ or self.differs(node.mask):
            v = Vectors(w, self.lanes)
            direction = self.contiguous(view, node.indices)
            if direction == 1 and masked:
                value = v.load_present(kind, self.address(view, node.indices), self.vector(node.mask or ""))
            elif direction and not masked:
                address = self.address(view, node.indices)
                if direction == 1:
                    value = v.load(kind, address)
                else:
                    value = self.reversed(v, kind, v.load(kind, w.at(address, -kind.bytes * (self.lanes - 1))))
            else:
                same = self.addresses if lanes_differ else self.same_address
                pointers = same(view, node.indices)
                value = self.gather(v, kind, pointers, self.vector(node.mask or "") if masked else "splat (i1 true)")
            self.values[node.name] = _Value(value, varying=True)
            return
        v, address = Vectors(w, 1), self.address(view, node.indices)
        if not masked:
            self.values[node.name] = _Value(v.load(kind, address))
            return
        present = w.let(f"extractelement <1 x i1> {self.scalar(node.mask or '')}, i64 0")
        safe = w.let(f"select i1 {present}, ptr {address}, ptr %words")
        value = v.choose(kind, self.scalar(node.mask or ""), v.load(kind, safe), "zeroinitializer")
        self.values[node.name] = _Value(value)

    def same_address(self, view: View, indices: tuple[Index, ...]) -> str:
        address = self.address(view, indices)
        first = self.w.let(f"insertelement <{self.lanes} x ptr> poison, ptr {address}, i64 0")
        return self.w.let(f"shufflevector <{self.lanes} x ptr> {first}, <{self.lanes} x ptr> poison, "
                          f"<{self.lanes} x i32> zeroinitializer")  # fmt: skip

    def gather(self, v: Vectors, kind: Kind, pointers: str, mask: str) -> str:
        lanes, stored = v.lanes, v.stored(kind)
        value = self.w.call(stored, f"llvm.masked.gather.{_suffix(lanes, stored)}.v{lanes}p0", (f"<{lanes} x ptr>", pointers),
                            (f"<{lanes} x i1>", mask), (stored, "zeroinitializer"))  # fmt: skip
        return v.from_stored(kind, value)

    def reversed(self, v: Vectors, kind: Kind, value: str) -> str:
        order = ", ".join(f"i32 {lane}" for lane in range(v.lanes - 1, -1, -1))
        return self.w.let(f"shufflevector {v.type(kind)} {value}, {v.type(kind)} poison, <{v.lanes} x i32> <{order}>")

    def store(self, node: Store) -> None:
        view, w = self.views[node.view], self.w
        kind = view.kind
        if self.lanes > 1:
            v = Vectors(w, self.lanes)
            value = self.vector(node.value)
            direction = self.contiguous(view, node.indices)
            if direction == 1 and node.mask is None:
                v.store(kind, value, self.address(view, node.indices))
                return
            if direction == -1 and node.mask is None:
                address = w.at(self.address(view, node.indices), -kind.bytes * (self.lanes - 1))
                v.store(kind, self.reversed(v, kind, value), address)
                return
            if kind is Kind.BOOL:
                value = w.let(f"zext {v.type(kind)} {value} to {v.stored(kind)}")
            mask = "splat (i1 true)" if node.mask is None else self.vector(node.mask)
            lanes, stored = v.lanes, v.stored(kind)
            if direction == 1:
                name = f"llvm.masked.store.{_suffix(lanes, stored)}.p0"
                w.declarations[f"declare void @{name}({stored}, ptr, i32 immarg, <{lanes} x i1>)"] = None
                w.do(f"call void @{name}({stored} {value}, ptr {self.address(view, node.indices)}, i32 1, <{lanes} x i1> {mask})")
                return
            pointers = self.addresses(view, node.indices)
            name = f"llvm.masked.scatter.{_suffix(lanes, stored)}.v{lanes}p0"
            w.declarations[f"declare void @{name}({stored}, <{lanes} x ptr>, i32 immarg, <{lanes} x i1>)"] = None
            w.do(f"call void @{name}({stored} {value}, <{lanes} x ptr> {pointers}, i32 1, <{lanes} x i1> {mask})")
            return
        v, address = Vectors(w, 1), self.address(view, node.indices)
        if node.mask is None:
            v.store(kind, self.scalar(node.value), address)
            return
        write, after = w.new_label(), w.new_label()
        w.branch(w.let(f"extractelement <1 x i1> {self.scalar(node.mask)}, i64 0"), write, after)
        w.label(write)
        v.store(kind, self.scalar(node.value), address)
        w.jump(after)
        w.label(after)

    # ----------------------------------------------------------------------------------------- control

    def branch(self, node: If) -> None:
        w = self.w
        then, otherwise, after = w.new_label(), w.new_label(), w.new_label()
        w.branch(w.let(f"extractelement <1 x i1> {self.scalar(node.condition)}, i64 0"), then, otherwise)
        ends: list[tuple[str, list[str]]] = []
        for label, block, arm in ((then, node.then, 0), (otherwise, node.otherwise, 1)):
            w.label(label)
            self.block(block)
            ends.append(("", [self.scalar((r.then, r.otherwise)[arm]) for r in node.results]))
            ends[-1] = (w.block, ends[-1][1])
            w.jump(after)
        w.label(after)
        for place, result in enumerate(node.results):
            pairs = ", ".join(f"[ {values[place]}, %{label} ]" for label, values in ends)
            self.values[result.name] = _Value(w.let(f"phi <1 x {COMPUTED[result.kind]}> {pairs}"))

    def bound(self, indices: tuple[Index, ...], extreme: str) -> str:
        made = self.index(indices[0])
        for other in indices[1:]:
            made = self.w.call("i64", f"llvm.{extreme}.i64", ("i64", made), ("i64", self.index(other)))
        return made

    def loop(self, node: For) -> None:
        lower, upper = self.bound(node.lower, "smax"), self.bound(node.upper, "smin")
        lanes = self.lanes_of(node) if node.kind is LoopKind.VECTOR and self.lanes == 1 else 1
        if lanes == 1:
            self.counted(node, lower, upper, [self.scalar(c.initial) for c in node.carried])
            return
        rest, values = self.vectors(node, lower, upper, lanes)
        self.counted(node, rest, upper, values)

    def counted(self, node: For, lower: str, upper: str, initial: list[str]) -> None:
        """One iteration after the other (in a vector loop: with all lanes)."""
        w = self.w
        before, body, after = w.block, w.new_label(), w.new_label()
        types = [self.carried_type(c) for c in node.carried]
        w.branch(w.test("slt", lower, upper), body, after)
        w.label(body)
        names = [w.fresh() for _ in range(1 + len(types))]
        holes = [w.hole() for _ in names]
        top = _Top(node.index, w.hole())
        self.tops.append(top)
        self.values[node.index] = _Value(names[0], is_word=True)
        for carried, name in zip(node.carried, names[1:], strict=True):
            self.values[carried.inside] = _Value(name, varying=self.lanes > 1)
        self.block(node.body)
        following = w.word("add", names[0], node.step)
        going = w.test("slt", following, upper)
        if node.until is not None:
            stop = w.let(f"extractelement <1 x i1> {self.scalar(node.until)}, i64 0")
            going = w.let(f"select i1 {stop}, i1 false, i1 {going}")
        yielded = [self.vector(c.yielded) for c in node.carried]
        latch = w.block
        w.branch(going, body, after)
        firsts, lasts = [lower, *initial], [following, *yielded]
        for hole, name, type, first, last in zip(holes, names, ["i64", *types], firsts, lasts, strict=True):
            w.fill(hole, f"{name} = phi {type} [ {first}, %{before} ], [ {last}, %{latch} ]")
        self.close(self.tops.pop())
        w.label(after)
        for carried, type, first, last in zip(node.carried, types, initial, yielded, strict=True):
            value = w.let(f"phi {type} [ {first}, %{before} ], [ {last}, %{latch} ]")
            self.values[carried.result] = _Value(value, varying=self.lanes > 1)

    def carried_type(self, carried: Carried) -> str:
        return f"<{self.lanes} x {COMPUTED[carried.kind]}>"

    def vectors(self, node: For, lower: str, upper: str, lanes: int) -> tuple[str, list[str]]:
        """The loop over whole vectors: where the rest begins, and the carried values there."""
        w, v = self.w, Vectors(self.w, lanes)
        firsts = [v.constant(c.kind, identity(c.reduction or "", c.kind)) for c in node.carried]
        before, body, after = w.block, w.new_label(), w.new_label()
        first_end = w.word("add", lower, lanes)
        w.branch(w.test("sle", first_end, upper), body, after)
        w.label(body)
        names = [w.fresh() for _ in range(1 + len(firsts))]
        holes = [w.hole() for _ in names]
        top = _Top(node.index, w.hole())
        self.tops.append(top)
        self.lanes, self.vector_index, self.leave = lanes, node.index, w.new_label()
        failing = w.new_label()
        self.leave = failing
        self.values[node.index] = _Value(names[0], is_word=True)
        for carried, name in zip(node.carried, names[1:], strict=True):
            self.values[carried.inside] = _Value(name, varying=True)
        jumps = len(w.lines)
        self.block(node.body)
        following = w.word("add", names[0], lanes)
        end = w.word("add", following, lanes)
        going = w.test("sle", end, upper)
        yielded = [self.vector(c.yielded) for c in node.carried]
        latch = w.block
        w.branch(going, body, after)
        types = [f"<{lanes} x {COMPUTED[c.kind]}>" for c in node.carried]
        for hole, name, type, first, last in zip(
            holes, names, ["i64", *types], [lower, *firsts], [following, *yielded], strict=True
        ):
            w.fill(hole, f"{name} = phi {type} [ {first}, %{before} ], [ {last}, %{latch} ]")
        self.close(self.tops.pop())
        sources = [(before, [lower, *firsts]), (latch, [following, *yielded])]
        if any(f"%{failing}" in line for line in w.lines[jumps:]):
            w.label(failing)
            w.jump(after)
            sources.append((failing, list(names)))
        self.lanes, self.vector_index, self.leave = 1, "", ""
        w.label(after)
        merged = [
            w.let(f"phi {type} " + ", ".join(f"[ {values[place]}, %{label} ]" for label, values in sources))
            for place, type in enumerate(["i64", *types])
        ]
        rest = merged[0]
        totals: list[str] = []
        for carried, value in zip(node.carried, merged[1:], strict=True):
            totals.append(self.joined(carried, value, lanes, self.scalar(carried.initial)))
        return rest, totals

    def joined(self, carried: Carried, value: str, lanes: int, initial: str) -> str:
        """The lanes of a reduction that is exact in any order, and what it started from."""
        w, kind = self.w, carried.kind
        while lanes > 1:
            half = lanes // 2
            parts = []
            for start in (0, half):
                order = ", ".join(f"i32 {start + lane}" for lane in range(half))
                type = f"<{lanes} x {COMPUTED[kind]}>"
                parts.append(w.let(f"shufflevector {type} {value}, {type} poison, <{half} x i32> <{order}>"))
            value = Vectors(w, half).combine(carried.reduction or "", kind, parts[0], parts[1])
            lanes = half
        return Vectors(w, 1).combine(carried.reduction or "", kind, initial, value)

    # ---------------------------------------------------------------------------------------- vectors

    def lanes_of(self, node: For) -> int:
        """Of a loop that may be printed with vectors; 1 where it may not."""
        inside = list(walk(node.body))
        varying = {node.index}
        loaded = {s.view for s in inside if isinstance(s, Load)}
        stored = {s.view for s in inside if isinstance(s, Store)}
        fails = any(isinstance(s, Fail) or (isinstance(s, Apply) and s.function in _MAY_FAIL) for s in inside)
        if node.step != 1 or (fails and loaded & stored):
            return 1
        if any(c.reduction is None for c in node.carried):
            return 1
        kinds = [s.kind for s in inside if isinstance(s, Apply)]
        kinds += [s.compute for s in inside if isinstance(s, Apply)]
        kinds += [self.views[s.view].kind for s in inside if isinstance(s, Load | Store)]
        for statement in inside:  # definitions come before uses
            match statement:
                case Number(name, index) if any(t in varying for t, _ in index.terms):
                    varying.add(name)
                    kinds.append(Kind.I64)
                case Apply(name=name, args=args) if any(a in varying for a in args):
                    varying.add(name)
                case Load(name=name, indices=indices, mask=mask):
                    if mask in varying or any(t in varying for i in indices for t, _ in i.terms):
                        varying.add(name)
                case If(condition=condition):
                    return 1 if condition in varying or statement.results else self._lanes(kinds)
                case For():
                    bounds = (*statement.lower, *statement.upper)
                    if statement.until is not None or any(t in varying for i in bounds for t, _ in i.terms):
                        return 1
                    varying.update(c.inside for c in statement.carried)
                    varying.update(c.result for c in statement.carried)
                case _:
                    pass
        return self._lanes(kinds)

    def _lanes(self, kinds: list[Kind]) -> int:
        widest = max((k.bytes for k in kinds), default=8)
        return max(1, 2 * self.vector_bytes // widest)


def _suffix(lanes: int, stored: str) -> str:
    """As intrinsics name a vector type."""
    letter = stored.split(" x ")[1].rstrip(">")
    return f"v{lanes}" + {"double": "f64", "float": "f32"}.get(letter, letter)


def _kinds(program: Program) -> dict[str, Kind]:
    kinds = dict.fromkeys(program.parameters, Kind.I64)
    views = {view.name: view for view in program.views}
    for statement in walk(program.body):
        match statement:
            case Constant(name, kind, _):
                kinds[name] = kind
            case Number(name, _):
                kinds[name] = Kind.I64
            case Apply(name=name, kind=kind):
                kinds[name] = kind
            case Load(name=name, view=view):
                kinds[name] = views[view].kind
            case For():
                kinds[statement.index] = Kind.I64
                for carried in statement.carried:
                    kinds[carried.inside] = kinds[carried.result] = carried.kind
            case If():
                for chosen in statement.results:
                    kinds[chosen.name] = chosen.kind
            case _:
                pass
    return kinds
