"""Chains along short rows as one kernel: as many rows side by side as a vector has lanes, item after item.

What `rows` does with the vector along a row, this does with the vector across rows, where rows are too short to fill vectors: the
same bodies, the same sweeps.  The kernel's last axis is the row, the one before it is the vector axis (the form is ACROSS); the
last vector is taken back from the end, so nothing may be written over an operand.

Note [Order].  Rows are shorter than the lanes of a block, so the order of sums is halving: item i with item i + 16, then with
item i + 8, and so on; what is absent is left out.

Words: those of `ir` Note [Argument block], and one that is not used.

Neighbours: `row_plan`, `rows`, `backend.run.cpu.row_kernels` (binds this).
"""

from __future__ import annotations

from dataclasses import dataclass

from ...lang.certain import certain
from ...typechecker.elements import Kind
from ...typechecker.scalars import is_ordered, neutral
from .ir import Apply, Kernel, Load, kind_of
from .quotients import Divisor, divide, prepare
from .row_plan import FUNCTIONS, MOST_SIDE, RowEmission, Sweep, plan_sweeps
from .scalar_text import combine
from .sums import column_address
from .vectors import STORED, Cursor
from .writer import function_text


@dataclass(frozen=True, slots=True)
class SideKernel:
    """`is_row`: which results have one item a row.  `fuses`: the processor multiplies and adds at once."""

    kernel: Kernel
    is_row: tuple[bool, ...]
    fuses: bool

    def text(self) -> str:
        emission = RowEmission(self.kernel)
        emission.enter()
        _Sides(emission, self).write()
        emission.w.do("ret i64 0")
        return function_text(emission.w, emission.lines())

    def words(self) -> int:
        return self.kernel.words() + 1


class _Sides:
    def __init__(self, e: RowEmission, sides: SideKernel) -> None:
        self.e, self.sides, self.kernel = e, sides, sides.kernel
        self.plan = plan_sweeps(self.kernel, sides.is_row)
        self.w, self.v = e.w, e.v
        self.known: dict[int, str] = {}
        self.divisors: dict[int, Divisor] = {}
        self.rooms = {place: self.room(kind_of(self.kernel, place)) for place in self.plan.kept}
        self.trees: dict[int, str] = {}

    def room(self, kind: Kind) -> str:
        """A vector for each item of a row."""
        return self.e.room(MOST_SIDE * self.kernel.lanes * kind.bytes)

    def write(self) -> None:
        e, w, kernel = self.e, self.w, self.kernel
        cells, self.size = e.sizes[-2], e.sizes[-1]
        loops = e.open_outer(kernel.axes - 2)
        vectors = w.begin(0, cells, kernel.lanes)
        cell = w.smaller(vectors.index, w.word("sub", cells, kernel.lanes))
        self.columns = {i: column_address(e, i, cell) for i in e.varying}
        self.targets = [
            w.at(output, w.word("mul", cell, strides[-1])) for output, strides in zip(e.outputs, e.output_strides, strict=True)
        ]
        self.known = dict(e.known)
        self.compute_rows()
        for sweep in self.plan.sweeps:
            self.sweep(sweep)
            self.compute_rows()
        for result, target, on_row in zip(kernel.results, self.targets, self.sides.is_row, strict=True):
            if on_row:
                self.v.store(result.kind, self.known[result.node], target)
        w.end(vectors)
        e.close_outer(loops)

    def compute_rows(self) -> None:
        """What is one number a row and can be known now."""
        for place, node in enumerate(self.kernel.body):
            if place in self.known or place in self.plan.elements or place not in self.e.needed:
                continue
            if isinstance(node, Load):
                self.known[place] = self.e.load(node.operand, Cursor(self.columns[node.operand], self.e.offsets[node.operand]))
            elif isinstance(node, Apply) and node.function not in FUNCTIONS and all(arg in self.known for arg in node.args):
                self.known[place] = self.e.node(place, self.known)
        certain(not self.v.checks, "what is the same for a row cannot fail")

    def sweep(self, sweep: Sweep) -> None:
        w, v, kernel = self.w, self.v, self.kernel
        plain: list[tuple[int, int, str, Kind]] = []
        ordered: list[tuple[int, int, str, Kind]] = []
        for place in sweep.reduces:
            node = kernel.body[place]
            assert isinstance(node, Apply)
            function = FUNCTIONS[node.function]
            row = (place, node.args[0], function, node.kind)
            (ordered if is_ordered(function, node.kind) else plain).append(row)
        for place, _, _, kind in ordered:
            self.trees.setdefault(place, self.room(kind))
        for place in sorted(sweep.nodes):
            node = kernel.body[place]
            if isinstance(node, Apply) and self.divides_by_row(node) and node.args[1] not in self.divisors:
                self.divisors[node.args[1]] = prepare(v, node.compute, self.known[node.args[1]])
        firsts = [(v.type(kind), v.constant(kind, neutral(function, kind))) for _, _, function, kind in plain]
        items = w.begin(0, self.size, 1, firsts)
        found = dict(self.known)
        for place in sorted(sweep.nodes):
            found[place] = self.element(place, found, sweep, items.index)
        certain(not v.checks, "no element of a row kernel can fail")
        for place in sweep.keeps:
            self.put(self.rooms[place], kind_of(kernel, place), items.index, found[place])
        for place, argument, _, kind in ordered:
            self.put(self.trees[place], kind, items.index, found[argument])
        for i in sweep.stores:
            kind = kernel.results[i].kind
            self.scatter(kind, found[kernel.results[i].node], w.at(self.targets[i], w.word("mul", items.index, kind.bytes)), i)
        joined = [
            combine(v, function, kind, before, found[argument])
            for (_, argument, function, kind), before in zip(plain, items.carried, strict=True)
        ]
        w.end(items, joined)
        self.known |= {place: total for (place, *_), total in zip(plain, items.carried, strict=True)}
        for place, _, function, kind in ordered:
            self.known[place] = self.halved(self.trees[place], function, kind)

    def element(self, place: int, found: dict[int, str], sweep: Sweep, item: str) -> str:
        node, kind = self.kernel.body[place], kind_of(self.kernel, place)
        if place in self.plan.kept and place not in sweep.keeps:
            return self.v.load(kind, self.at(self.rooms[place], kind, item))
        if isinstance(node, Load):
            stride = self.e.strides[node.operand][-1]
            address = self.w.at(self.columns[node.operand], self.w.word("mul", item, stride))
            return self.e.load(node.operand, Cursor(address, self.e.offsets[node.operand]))
        if isinstance(node, Apply) and self.divides_by_row(node):
            return divide(self.v, found[node.args[0]], self.divisors[node.args[1]])
        return self.e.node(place, found)

    def divides_by_row(self, node: Apply) -> bool:
        return node.function == "div" and self.sides.fuses and node.compute.is_float and node.args[1] not in self.plan.elements

    def at(self, room: str, kind: Kind, item: str) -> str:
        return self.w.at(room, self.w.word("mul", item, self.kernel.lanes * kind.bytes))

    def put(self, room: str, kind: Kind, item: str, value: str) -> None:
        self.v.store(kind, value, self.at(room, kind, item))

    def halved(self, room: str, function: str, kind: Kind) -> str:
        """The items of a row in the order of sums.  See Note [Order]."""
        w, v = self.w, self.v
        half = MOST_SIDE // 2
        while half:
            rest = w.let(f"call i64 @llvm.usub.sat.i64(i64 {self.size}, i64 {half})")
            w.declarations["declare i64 @llvm.usub.sat.i64(i64, i64)"] = None
            items = w.begin(0, w.smaller(rest, half))
            low, high = self.at(room, kind, items.index), self.at(room, kind, w.word("add", items.index, half))
            v.store(kind, combine(v, function, kind, v.load(kind, low), v.load(kind, high)), low)
            w.end(items)
            half //= 2
        return v.load(kind, room)

    def scatter(self, kind: Kind, value: str, address: str, result: int) -> None:
        """An item of every row of the vector."""
        w, v, lanes = self.w, self.v, self.kernel.lanes
        if kind is Kind.BOOL:
            value = w.let(f"zext {v.type(kind)} {value} to {v.stored(kind)}")
        stride = v.splat(Kind.I64, self.e.output_strides[result][-1])
        offsets = v.binary("mul", Kind.I64, stride, v.counting())
        pointers = w.let(f"getelementptr i8, ptr {address}, <{lanes} x i64> {offsets}")
        letter = {"double": "f64", "float": "f32"}.get(STORED[kind], STORED[kind])
        name = f"llvm.masked.scatter.v{lanes}{letter}.v{lanes}p0"
        types = f"{v.stored(kind)}, <{lanes} x ptr>, i32, <{lanes} x i1>"
        w.declarations[f"declare void @{name}({types})"] = None
        w.do(f"call void @{name}({v.stored(kind)} {value}, <{lanes} x ptr> {pointers}, i32 1, <{lanes} x i1> splat (i1 true))")
