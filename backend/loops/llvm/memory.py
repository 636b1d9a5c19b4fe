"""Loads and stores: side by side, backwards, of one item, anywhere; with and without masks.

Note [Rows].  Where a block loads, or stores one after the other, every item of short rows that lie one after the other in memory
(the parts of complex numbers, points of three coordinates), the lanes of all of them are one piece of memory, and are taken apart
or put together by shuffles.

Neighbours: `tiles` (short pieces of many rows), `addresses` (where), `registers` (what).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from ....typechecker.elements import Kind
from ...kernels.vectors import STORED, Vectors
from ..forms import coefficient
from ..ir import Index, Load, Statement, Store, View
from .addresses import Addresses
from .lanes import LONGEST_ROW
from .registers import Registers
from .tiles import Tiles


class Memory:
    def __init__(self, registers: Registers, addresses: Addresses, views: dict[str, View]) -> None:
        self.registers, self.addresses, self.views = registers, addresses, views
        self.rows: set[_Row] = set()
        """Those that are loaded or stored as a whole."""
        self.stored: dict[_Row, list[str]] = {}
        """Items of such a row, which are stored when the last is there."""
        self.tiles = Tiles(registers, addresses, views)

    def enter(self, body: Sequence[Statement]) -> None:
        """Look for rows and tiles in a block that is printed next."""
        self.tiles.enter(body)
        loaded: dict[_Row, set[int]] = {}
        run: list[_Row] = []
        for statement in body if self.registers.lanes > 1 else ():
            if not isinstance(statement, Load | Store) or not statement.indices:
                run = []
                continue
            row, last = self.row(statement), statement.indices[-1].constant
            if not 1 < row[1] <= LONGEST_ROW:
                run = []
            elif isinstance(statement, Load):
                loaded.setdefault(row, set()).add(last % row[1])
                run = []
            else:
                run = [*run, row] if run and run[0] == row and last % row[1] == len(run) else [row] * (last % row[1] == 0)
            if row[1] in (len(run), len(loaded.get(row, ()))):
                self.rows.add(row)

    def row(self, access: Load | Store) -> _Row:
        """The row of an access, of as many items as the lanes are apart."""
        *outer, last = access.indices
        length = coefficient(last, self.registers.vector_index)
        start = last.constant - last.constant % length if length else last.constant
        kind = Load if isinstance(access, Load) else Store
        return kind, length, access.view, (*outer, replace(last, constant=start)), access.mask

    def apart(self, access: Load | Store, view: View) -> int:
        """How many items lie from lane to lane of a piece of memory (-1: it lies backwards); 0 where there is no such piece."""
        r, indices = self.registers, access.indices
        if not indices or not view.unit or any(map(r.varies, indices[:-1])):
            return 0
        if any(r.values[name].varying for name, _ in indices[-1].terms):
            return 0
        apart = coefficient(indices[-1], r.vector_index)
        return apart if apart in (1, -1) or (apart > 1 and self.row(access) in self.rows) else 0

    def start(self, access: Load | Store, view: View, apart: int) -> str:
        """Where the piece of memory begins."""
        return self.addresses.address(view, self.row(access)[3], 1 - self.registers.lanes if apart == -1 else 0)

    def spread(self, apart: int, present: str) -> str:
        """The mask of a piece of memory of that of the lanes."""
        lanes = range(self.registers.lanes)
        places = lanes[::-1] if apart == -1 else [lane for lane in lanes for _ in range(apart)]
        return self.shuffled(self.registers.mask_type, present, places) if apart != 1 else present

    def shuffled(self, type: str, value: str, places: Sequence[int], other: str = "poison") -> str:
        order = ", ".join(f"i32 {place}" if place >= 0 else "i32 poison" for place in places)
        return self.registers.w.let(f"shufflevector {type} {value}, {type} {other}, <{len(places)} x i32> <{order}>")

    def load(self, node: Load) -> None:
        r, view = self.registers, self.views[node.view]
        if r.differs(node.mask) or any(map(r.varies, node.indices)):
            r.define(node.name, self.lanes(node, view), varying=True)
            return
        v, address = Vectors(r.w, 1), self.addresses.address(view, node.indices)
        if node.mask is None:
            r.define(node.name, v.load(view.kind, address))
            return
        safe = r.w.let(f"select i1 {r.truth(node.mask)}, ptr {address}, ptr %words")
        r.define(node.name, v.choose(view.kind, r.scalar(node.mask), v.load(view.kind, safe), "zeroinitializer"))

    def lanes(self, node: Load, view: View) -> str:
        """An item for each lane that is there."""
        r, kind, lanes = self.registers, view.kind, self.registers.lanes
        if id(node) in self.tiles.places:
            return self.tiles.load(node)
        v, apart, present = Vectors(r.w, lanes), self.apart(node, view), r.present(node.mask)
        if apart:
            address, piece, stored = self.start(node, view, apart), Vectors(r.w, abs(apart) * lanes), _AS_STORED.get(kind, kind)
            if view.streamed and apart == 1 and not present:
                self.ask(address, lanes * kind.bytes)
            found = piece.load_present(stored, address, self.spread(apart, present)) if present else piece.load(stored, address)
            if apart != 1:
                first = node.indices[-1].constant % apart
                places = range(lanes)[::-1] if apart == -1 else range(first, apart * lanes, apart)
                found = self.shuffled(piece.stored(kind), found, places)
            return v.from_stored(kind, found)
        pointers = self.addresses.addresses(view, node.indices)
        type = v.stored(kind)
        value = r.w.call(type, f"llvm.masked.gather.{_suffix(lanes, type)}.v{lanes}p0", (f"<{lanes} x ptr>", pointers),
                         (r.mask_type, present or _ALL), (type, "zeroinitializer" if present else "poison"))  # fmt: skip
        return v.from_stored(kind, value)

    def ask(self, address: str, bytes: int) -> None:
        """Ask for what comes later, further ahead than processors look by themselves."""
        w = self.registers.w
        w.declarations["declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"] = None
        for line in range(_AHEAD, _AHEAD + bytes, _LINE):
            w.do(f"call void @llvm.prefetch.p0(ptr {w.at(address, line)}, i32 0, i32 3, i32 1)")

    def store(self, node: Store) -> None:
        assert node.join is None, "processors load and store"
        r, view = self.registers, self.views[node.view]
        w, kind = r.w, view.kind
        if r.lanes > 1:
            self.store_lanes(node, view)
            return
        v, address = Vectors(w, 1), self.addresses.address(view, node.indices)
        if node.mask is None:
            v.store(kind, r.scalar(node.value), address)
            return
        write, after = w.new_label(), w.new_label()
        w.branch(r.truth(node.mask), write, after)
        w.label(write)
        v.store(kind, r.scalar(node.value), address)
        w.jump(after)
        w.label(after)

    def store_lanes(self, node: Store, view: View) -> None:
        r, w, kind, lanes = self.registers, self.registers.w, view.kind, self.registers.lanes
        if id(node) in self.tiles.places:
            self.tiles.store(node, r.vector(node.value))
            return
        v, value, apart, present = Vectors(w, lanes), r.vector(node.value), self.apart(node, view), r.present(node.mask)
        if kind is Kind.BOOL:
            value = w.let(f"zext {v.type(kind)} {value} to {v.stored(kind)}")
        if apart == -1:
            value = self.shuffled(v.stored(kind), value, range(lanes)[::-1])
        if apart > 1:
            items = self.stored.setdefault(self.row(node), [])
            items.append(value)
            if len(items) < apart:
                return
            value = self.joined(v.stored(kind), self.stored.pop(self.row(node)))
        if not apart:
            pointers, stored = self.addresses.addresses(view, node.indices), v.stored(kind)
            self.masked("scatter", stored, value, f"<{lanes} x ptr>", f".v{lanes}p0", pointers, r.mask_type, present or _ALL)
            return
        address, count = self.start(node, view, apart), abs(apart) * lanes
        stored = f"<{count} x {STORED[kind]}>"
        if present:
            self.masked("store", stored, value, "ptr", ".p0", address, f"<{count} x i1>", self.spread(apart, present))
        elif view.streamed and apart > 0:
            w.do(f"store {stored} {value}, ptr {address}, align {min(_LINE, lanes * kind.bytes)}, !nontemporal !0")
        else:
            w.do(f"store {stored} {value}, ptr {address}, align 1")

    def masked(self, what: str, stored: str, value: str, type: str, suffix: str, address: str, mask: str, present: str) -> None:
        """A store or a scatter of some lanes."""
        name = f"llvm.masked.{what}.{_suffix(int(stored[1:].split()[0]), stored)}{suffix}"
        self.registers.w.declarations[f"declare void @{name}({stored}, {type}, i32 immarg, {mask})"] = None
        self.registers.w.do(f"call void @{name}({stored} {value}, {type} {address}, i32 1, {mask} {present})")

    def joined(self, type: str, items: Sequence[str]) -> str:
        """The items of rows as they lie in memory."""
        lanes, whole, count = self.registers.lanes, items[0], 1
        element = type.split(" x ")[1].rstrip(">")
        for item in items[1:]:
            wide = f"<{count * lanes} x {element}>"
            item = self.shuffled(type, item, [*range(lanes), *(-1 for _ in range((count - 1) * lanes))])
            whole, count = self.shuffled(wide, whole, range((count + 1) * lanes), item), count + 1
        places = [item * lanes + lane for lane in range(lanes) for item in range(count)]
        return self.shuffled(f"<{count * lanes} x {element}>", whole, places)


_Row: TypeAlias = tuple[type, int, str, tuple[Index, ...], str | None]
_LINE: Final = 64
_AHEAD: Final = 1024
_AS_STORED: Final = {Kind.BOOL: Kind.U8}
_ALL: Final = "splat (i1 true)"


def _suffix(lanes: int, stored: str) -> str:
    """As intrinsics name a vector type."""
    letter = stored.split(" x ")[1].rstrip(">")
    return f"v{lanes}" + {"double": "f64", "float": "f32"}.get(letter, letter)
