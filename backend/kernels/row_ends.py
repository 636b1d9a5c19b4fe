"""The ends of rows, in rooms: items that fill no whole strip, before and after they are computed on.

Neighbours: `rows` (Note [Ends]), `maps` (the same for element-wise kernels).
"""

from __future__ import annotations

from ...typechecker.elements import Kind
from .emission import Emission, copy
from .ir import LANES
from .vectors import STORED


class Ends:
    """`rooms`: where the end of an operand or of a result lies, by what it is and its number."""

    def __init__(self, e: Emission) -> None:
        self.e, self.w = e, e.w
        self.rooms: dict[tuple[str, int], str] = {}

    def when_some(self, rest: str, rows: list[tuple[str, str, Kind, bool]], whole: str) -> None:
        """Copy the items after `whole` between rooms and memory, if there are any."""
        w = self.w
        if not rows:
            return
        some, ready = w.new_label(), w.new_label()
        w.branch(w.test("ne", rest, 0), some, ready)
        w.label(some)
        for room, base, kind, inwards in rows:
            there, bytes = w.at(base, w.word("mul", whole, kind.bytes)), w.word("mul", rest, kind.bytes)
            copy(self.e, room if inwards else there, there if inwards else room, bytes)
        w.jump(ready)
        w.label(ready)

    def room_for(self, what: str, number: int, kind: Kind) -> None:
        """Room for an end, zeros at first: what is beyond it is computed on, too."""
        if (what, number) not in self.rooms:
            name = self.rooms[what, number] = self.e.room(LANES * kind.bytes)
            self.w.declarations["declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)"] = None
            self.e.rooms.on_entry(f"call void @llvm.memset.p0.i64(ptr {name}, i8 0, i64 {LANES * kind.bytes}, i1 false)")


def copy_row(e: Emission, operand: int, room: str) -> None:
    """A row whose items do not lie next to each other, to scratch."""
    w, row, base = e.w, e.kernel.operands[operand], e.bases[operand]
    stored, stride = STORED[row.kind], e.strides[operand][-1]
    loop = w.begin(0, e.sizes[-1])
    item = w.let(f"load {stored}, ptr {w.at(base, w.word('mul', loop.index, stride))}, align 1")
    w.do(f"store {stored} {item}, ptr {w.at(room, w.word('mul', loop.index, row.kind.bytes))}, align 1")
    w.end(loop)
