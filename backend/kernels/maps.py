"""The innermost loop of an element-wise kernel.

The items that do not fill a vector are packed into vectors on the stack, go through the same loop once, and are unpacked; so
the body is there once, and what an item becomes does not depend on where it lies.

Neighbours: `emission`, `llvm_text`.
"""

from __future__ import annotations

from dataclasses import dataclass

from .emission import VECTOR_ALIGN, Emission
from .ir import Result, Step, Stores
from .parts import store_parts
from .vectors import STORED, Cursor


@dataclass(slots=True)
class _Phi:
    """A value of the loop that is one thing in whole vectors and another in the tail."""

    type: str
    name: str
    line: int
    whole: str


class _Loop:
    def __init__(self, emission: Emission) -> None:
        self.e = emission
        self.phis: list[_Phi] = []

    def phi(self, type: str, whole: str) -> str:
        name = self.e.w.fresh()
        self.phis.append(_Phi(type, name, self.e.w.hole(), whole))
        return name

    def fill(self, before: str, latch: str, tail: str, values: dict[str, str]) -> None:
        for phi in self.phis:
            entry = f"[ {phi.whole}, %{before} ], [ {phi.name}, %{latch} ], [ {values[phi.name]}, %{tail} ]"
            self.e.w.fill(phi.line, f"{phi.name} = phi {phi.type} {entry}")


def write_map(e: Emission) -> None:
    """Outer loops, then vectors of the last axis."""
    loops = e.open_outer(e.kernel.vector_axis)
    write_vectors(e)
    if e.kernel.ghosts >= 0:
        _write_ghosts(e)
    e.close_outer(loops)


def write_vectors(e: Emission) -> None:
    w, kernel, lanes = e.w, e.kernel, e.kernel.lanes
    operands, axis = kernel.operands, kernel.vector_axis
    size = e.sizes[axis]
    whole = w.word("and", size, -lanes)
    rest = w.word("sub", size, whole)
    head, latch_out, ask, pack, unpack, done = (w.new_label() for _ in range(6))
    before = w.block
    w.branch(w.test("ne", whole, 0), head, ask)

    w.label(head)
    index, index_line = w.fresh(), w.hole()
    loop = _Loop(e)
    stop = loop.phi("i64", whole)
    active = loop.phi("i64", str(lanes))
    tail = loop.phi("i1", "false")
    bases = {i: loop.phi("ptr", e.bases[i]) for i in e.varying}
    offsets = {i: loop.phi(f"<{lanes} x i64>", e.offsets[i]) for i in e.varying if operands[i].step is Step.STRIDED}
    steps = {i: loop.phi("i64", e.strides[i][axis]) for i in offsets}
    outputs = [loop.phi("ptr", output) for output in e.outputs]
    origin = loop.phi("i64", e.origins[axis])
    cursors: dict[int, Cursor] = {}
    for i, base in bases.items():
        if operands[i].step is Step.STRIDED:
            cursors[i] = Cursor(w.at(base, w.word("mul", index, steps[i])), offsets[i])
        else:
            bytes = operands[i].kind.bytes if operands[i].step is Step.UNIT else -operands[i].kind.bytes
            cursors[i] = Cursor(w.at(base, w.word("mul", index, bytes)))
    found = e.evaluate(cursors, {axis: w.word("add", origin, index)})
    e.flush_checks(active)
    for result, output in zip(kernel.results, outputs, strict=True):
        store_vector(e, result, found, w.at(output, w.word("mul", index, result.kind.bytes)))
    following = w.word("add", index, lanes)
    again = w.test("ult", following, stop)
    latch = w.block
    w.branch(again, head, latch_out)
    w.label(latch_out)
    w.branch(tail, unpack, ask)
    w.label(ask)
    w.branch(w.test("ne", rest, 0), pack, done)

    w.label(pack)
    values = {stop: str(lanes), active: rest, tail: "true", origin: w.word("add", e.origins[axis], whole)}
    for i in e.varying:
        values[bases[i]] = pack_operand(e, i, _moved(e, i, whole), rest)
        if i in offsets:
            bytes = operands[i].kind.bytes
            values[steps[i]] = str(bytes)
            values[offsets[i]] = "<" + ", ".join(f"i64 {lane * bytes}" for lane in range(lanes)) + ">"
    rooms = [e.room(lanes * result.kind.bytes) for result in kernel.results]
    values |= dict(zip(outputs, rooms, strict=True))
    packed = w.block
    w.jump(head)
    w.fill(index_line, f"{index} = phi i64 [ 0, %{before} ], [ {following}, %{latch} ], [ 0, %{packed} ]")
    loop.fill(before, latch, packed, values)

    w.label(unpack)
    for result, output, room in zip(kernel.results, e.outputs, rooms, strict=True):
        bytes = result.kind.bytes
        copy(e, w.at(output, w.word("mul", whole, bytes)), room, w.word("mul", rest, bytes))
    w.jump(done)
    w.label(done)


def store_vector(e: Emission, result: Result, found: dict[int, str], address: str) -> None:
    """A whole vector of a result, past the caches where the kernel's results go there."""
    kind, streamed = result.kind, e.kernel.stores is Stores.STREAMED
    if result.imaginary >= 0:
        store_parts(e.v, kind, found[result.node], found[result.imaginary], address, streamed=streamed)
        return
    value = found[result.node]
    align = min(VECTOR_ALIGN, e.kernel.lanes * kind.bytes) if streamed else 1
    e.v.store(kind, value, address, align, ", !nontemporal !0" if streamed else "")


def _write_ghosts(e: Emission) -> None:
    """The ends of a row of each result beside its other ends (`ir.Kernel.ghosts`)."""
    w = e.w
    before, behind = e.scalars[e.kernel.ghosts], e.scalars[e.kernel.ghosts + 1]
    for result, output in zip(e.kernel.results, e.outputs, strict=True):
        bytes, stored = result.kind.bytes, STORED[result.kind]
        row = w.word("mul", e.sizes[-1], bytes)
        for count, source, target in (
            (before, w.at(output, w.word("sub", row, w.word("mul", before, bytes))), w.at(output, w.word("mul", before, -bytes))),
            (behind, output, w.at(output, row)),
        ):
            loop = w.begin(0, count)
            place = w.word("mul", loop.index, bytes)
            item = w.let(f"load {stored}, ptr {w.at(source, place)}, align 1")
            w.do(f"store {stored} {item}, ptr {w.at(target, place)}, align 1")
            w.end(loop)


def _moved(e: Emission, operand: int, items: str) -> str:
    """The address some items on along the vector axis."""
    w, row = e.w, e.kernel.operands[operand]
    match row.step:
        case Step.UNIT:
            return w.at(e.bases[operand], w.word("mul", items, row.kind.bytes))
        case Step.REVERSED:
            return w.at(e.bases[operand], w.word("mul", items, -row.kind.bytes))
        case _:
            return w.at(e.bases[operand], w.word("mul", items, e.strides[operand][e.kernel.vector_axis]))


def copy(e: Emission, target: str, source: str, bytes: str) -> None:
    e.w.declarations["declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"] = None
    e.w.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {target}, ptr {source}, i64 {bytes}, i1 false)")


def pack_operand(e: Emission, operand: int, source: str, count: str) -> str:
    """Copy `count` items of an operand to the stack; the address that a vector load of its step starts from there.

    Strided items lie next to each other then."""
    w, row, lanes = e.w, e.kernel.operands[operand], e.kernel.lanes
    bytes, stored = row.kind.bytes, STORED[row.kind]
    if row.step is Step.NONE:
        return source
    room = e.room(lanes * bytes)
    w.do(f"store {e.v.stored(row.kind)} zeroinitializer, ptr {room}, align {VECTOR_ALIGN}")
    if row.step is Step.UNIT:
        copy(e, room, source, w.word("mul", count, bytes))
        return room
    start = w.at(room, (lanes - 1) * bytes) if row.step is Step.REVERSED else room
    step = -bytes if row.step is Step.REVERSED else bytes
    stride = -bytes if row.step is Step.REVERSED else e.strides[operand][e.kernel.vector_axis]
    loop = w.begin(0, count)
    item = w.let(f"load {stored}, ptr {w.at(source, w.word('mul', loop.index, stride))}, align 1")
    w.do(f"store {stored} {item}, ptr {w.at(start, w.word('mul', loop.index, step))}, align 1")
    w.end(loop)
    return start
