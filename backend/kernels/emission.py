"""What the loop nests of every form share: arguments, addresses by depth, operand vectors, body nodes, failed checks.

Depth d is inside the loops of axes 0 to d-1.  An operand or node belongs to the depth of the last axis it varies on; those of the
vector axis (and of the reduce axis, where columns are summed) are computed in the innermost loop.

Neighbours: `rows`, `side_rows` (use this), `ir` (Note [Argument block]); `backend.loops` (element-wise kernels).
"""

from __future__ import annotations

from ...typechecker.elements import Kind
from .ir import FAILURE_WORDS, Apply, Argument, Coordinate, Form, Kernel, Literal, Load, Step, kind_of
from .parts import load_part
from .rooms import Rooms
from .scalar_text import apply
from .vectors import STORED, Cursor, Vectors, literal_bits
from .writer import Loop, Writer

VECTOR_ALIGN = 64


class Emission:
    """One kernel being written."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.w = Writer()
        self.v = Vectors(self.w, kernel.lanes)
        self.known: dict[int, str] = {}
        self.inner = kernel.vector_axis + 1
        self.depths = self._depths()
        self.rooms = Rooms(self.w)
        self.needed = self._needed()

    # --------------------------------------------------------------------------------------- structure

    def _depths(self) -> list[int]:
        """The depth of each body node."""
        depths: list[int] = []
        for node in self.kernel.body:
            match node:
                case Load(operand):
                    moves = self.kernel.operands[operand].moves
                    depths.append(max((axis + 1 for axis, on in enumerate(moves) if on), default=0))
                case Coordinate(axis):
                    depths.append(axis + 1)
                case Apply(args=args):
                    depths.append(max((depths[arg] for arg in args), default=0))
                case Literal() | Argument():
                    depths.append(0)
        return depths

    def _needed(self) -> frozenset[int]:
        needed = {node for result in self.kernel.results for node in result.nodes}
        for place in range(len(self.kernel.body) - 1, -1, -1):
            node = self.kernel.body[place]
            if isinstance(node, Apply) and place in needed:
                needed.update(node.args)
        return frozenset(needed)

    def room(self, bytes: int) -> str:
        """Memory to work in, made once on entry."""
        return self.rooms.room(bytes)

    def lines(self) -> list[str]:
        """The function's body, entry block first."""
        return [*self.rooms.entry(), *self.w.lines]

    # --------------------------------------------------------------------------------------- arguments

    def _word(self, place: int, type: str = "i64") -> str:
        address = self.w.let(f"getelementptr i64, ptr %words, i64 {place}")
        return self.w.let(f"load {type}, ptr {address}, align 8")

    def enter(self) -> None:
        """Load the argument block and what varies on no axis."""
        kernel, axes = self.kernel, self.kernel.axes
        self.w.label("start")
        self.sizes = [self._word(axis) for axis in range(axes)]
        coordinates = {node.axis for node in kernel.body if isinstance(node, Coordinate)}
        self.origins = [self._word(axes + axis) if axis in coordinates else "0" for axis in range(axes)]
        place = 2 * axes
        self.scalars = [self._word(place + scalar) for scalar in range(kernel.scalars)]
        place += kernel.scalars
        self.bases: list[str] = []
        self.strides: list[list[str]] = []
        for operand in kernel.operands:
            self.bases.append(self._word(place, "ptr"))
            self.strides.append([self._word(place + 1 + a) if on else "0" for a, on in enumerate(operand.moves)])
            place += 1 + axes
        self.outputs: list[str] = []
        self.output_strides: list[list[str]] = []
        for _ in kernel.results:
            self.outputs.append(self._word(place, "ptr"))
            self.output_strides.append([self._word(place + 1 + axis) for axis in range(kernel.result_axes)])
            place += 1 + kernel.result_axes
        self.failure = kernel.words() - FAILURE_WORDS
        self.offsets = [self._lane_offsets(i) for i in range(len(kernel.operands))]
        self.compute(0, {})

    def _lane_offsets(self, operand: int) -> str:
        if self.kernel.operands[operand].step is not Step.STRIDED:
            return ""
        stride = self.v.splat(Kind.I64, self.strides[operand][self.kernel.vector_axis])
        return self.v.binary("mul", Kind.I64, stride, self.v.counting())

    # ------------------------------------------------------------------------------------- outer loops

    def open_outer(self, count: int) -> list[Loop]:
        """Loops over the axes before the vector axis; addresses move along."""
        loops = []
        for axis in range(count):
            loop = self.w.begin(0, self.sizes[axis])
            loops.append(loop)
            self.move(axis, loop.index)
        return loops

    def move(self, axis: int, index: str) -> None:
        """Enter a step of an outer axis."""
        for i, operand in enumerate(self.kernel.operands):
            if operand.moves[axis]:
                self.bases[i] = self.w.at(self.bases[i], self.w.word("mul", index, self.strides[i][axis]))
        for i, strides in enumerate(self.output_strides):
            self.outputs[i] = self.w.at(self.outputs[i], self.w.word("mul", index, strides[axis]))
        self.compute(axis + 1, {axis: self.w.word("add", index, self.origins[axis])})

    def close_outer(self, loops: list[Loop]) -> None:
        for loop in reversed(loops):
            self.w.end(loop)

    # ------------------------------------------------------------------------------------- body nodes

    def compute(self, depth: int, coordinates: dict[int, str]) -> None:
        """The nodes of an outer depth, as vectors of equal lanes."""
        if depth >= self.inner:
            return
        for place in range(len(self.kernel.body)):
            if self.depths[place] == depth and place in self.needed:
                self.known[place] = self._node(place, self.known, {}, coordinates)
        self.flush_checks(None)

    def _node(self, place: int, known: dict[int, str], cursors: dict[int, Cursor], coordinates: dict[int, str]) -> str:
        v = self.v
        match self.kernel.body[place]:
            case Load(operand, part):
                if part >= 0:
                    return load_part(v, self.kernel.operands[operand], self.bases[operand], cursors.get(operand), part)
                return self.load(operand, cursors.get(operand))
            case Literal(kind) as node:
                return f"splat ({'i1' if kind is Kind.BOOL else STORED[kind]} {literal_bits(node)})"
            case Argument(number):
                return v.splat(Kind.I64, self.scalars[number])
            case Coordinate(axis):
                first = v.splat(Kind.I64, coordinates[axis])
                return v.binary("add", Kind.I64, first, v.counting()) if axis == self.kernel.vector_axis else first
            case Apply() as node:
                return apply(v, place, node, [known[arg] for arg in node.args])

    def load(self, operand: int, cursor: Cursor | None) -> str:
        """The lanes of an operand from an address."""
        v, w, kind = self.v, self.w, self.kernel.operands[operand].kind
        address = cursor.address if cursor else self.bases[operand]
        match self.kernel.operands[operand].step:
            case Step.NONE:
                item = w.let(f"load {STORED[kind]}, ptr {address}, align 1")
                first = w.let(f"insertelement {v.stored(kind)} poison, {STORED[kind]} {item}, i64 0")
                zero = f"<{v.lanes} x i32> zeroinitializer"
                return v.from_stored(kind, w.let(f"shufflevector {v.stored(kind)} {first}, {v.stored(kind)} poison, {zero}"))
            case Step.UNIT:
                return v.load_present(kind, address, cursor.present) if cursor and cursor.present else v.load(kind, address)
            case Step.REVERSED:
                low = w.at(address, -(v.lanes - 1) * kind.bytes)
                type = v.stored(kind)
                value = w.let(f"load {type}, ptr {low}, align 1")
                order = "<" + ", ".join(f"i32 {lane}" for lane in range(v.lanes - 1, -1, -1)) + ">"
                return v.from_stored(kind, w.let(f"shufflevector {type} {value}, {type} poison, <{v.lanes} x i32> {order}"))
            case Step.STRIDED:
                assert cursor is not None
                pointers = w.let(f"getelementptr i8, ptr {address}, <{v.lanes} x i64> {cursor.offsets}")
                return v.gather(kind, pointers)

    # ----------------------------------------------------------------------------------------- checks

    def flush_checks(self, active: str | None) -> None:
        """Leave the kernel if a lane of a check failed among the first `active` ones (None: all)."""
        w, v, lanes = self.w, self.v, self.kernel.lanes
        checks, v.checks = v.checks, []
        mask = f"<{lanes} x i1>"
        for check in checks:
            failed, found, following = check.failed, w.new_label(), w.new_label()
            w.branch(w.call("i1", f"llvm.vector.reduce.or.v{lanes}i1", (mask, failed)), found, following)
            w.label(found)
            if active is not None:
                really, limit = w.new_label(), v.splat(Kind.I64, active)
                failed = w.let(f"and {mask} {failed}, {v.compare('ult', Kind.I64, v.counting(), limit)}")
                w.branch(w.call("i1", f"llvm.vector.reduce.or.v{lanes}i1", (mask, failed)), really, following)
                w.label(really)
            bits = w.let(f"bitcast {mask} {failed} to i{lanes}")
            lane = w.call(f"i{lanes}", f"llvm.cttz.i{lanes}", (f"i{lanes}", bits), ("i1", "true"))
            self._report(check.node, check.kind, w.let(f"extractelement {v.type(check.kind)} {check.value}, i{lanes} {lane}"))
            w.label(following)

    def _report(self, node: int, kind: Kind, value: str) -> None:
        w = self.w
        if kind.is_float:
            wide = w.let(f"fpext float {value} to double") if kind is Kind.F32 else value
            word = w.let(f"bitcast double {wide} to i64")
        elif kind is Kind.I64:
            word = value
        else:
            signed = "sext" if kind is Kind.I32 else "zext"
            word = w.let(f"{signed} {'i1' if kind is Kind.BOOL else STORED[kind]} {value} to i64")
        address = w.let(f"getelementptr i64, ptr %words, i64 {self.failure}")
        w.do(f"store i64 {word}, ptr {address}, align 8")
        w.do(f"ret i64 {node + 1}")

    def result_kind(self, place: int) -> Kind:
        return kind_of(self.kernel, self.kernel.results[place].node)

    @property
    def varying(self) -> list[int]:
        """Operands whose vectors change in the innermost loop."""
        inner = {self.kernel.vector_axis} | ({self.kernel.axes - 1} if self.kernel.form is Form.ACROSS else set())
        return [i for i, operand in enumerate(self.kernel.operands) if any(operand.moves[axis] for axis in inner)]


def copy(e: Emission, target: str, source: str, bytes: str) -> None:
    e.w.declarations["declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"] = None
    e.w.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {target}, ptr {source}, i64 {bytes}, i1 false)")
