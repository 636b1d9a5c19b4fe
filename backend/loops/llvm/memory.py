"""Loads and stores: side by side, backwards, of one item, anywhere; with and without masks.

Neighbours: `addresses` (where), `registers` (what).
"""

from __future__ import annotations

from ....typechecker.elements import Kind
from ...kernels.vectors import Vectors
from ..ir import Index, Load, Store, View
from .addresses import Addresses
from .registers import Registers


class Memory:
    def __init__(self, registers: Registers, addresses: Addresses, views: dict[str, View]) -> None:
        self.registers, self.addresses, self.views = registers, addresses, views

    def direction(self, view: View, indices: tuple[Index, ...]) -> int:
        """1 or -1 where the lanes lie side by side, forwards or backwards; else 0."""
        r = self.registers
        if not indices or not view.unit or any(map(r.varies, indices[:-1])):
            return 0
        if any(r.values[name].varying for name, _ in indices[-1].terms):
            return 0
        coefficient = dict(indices[-1].terms).get(r.vector_index, 0)
        return coefficient if coefficient in (1, -1) else 0

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
        """An item for each lane."""
        r, kind = self.registers, view.kind
        v, direction = Vectors(r.w, r.lanes), self.direction(view, node.indices)
        match direction, node.mask:
            case 1, None:
                return v.load(kind, self.addresses.address(view, node.indices))
            case 1, str(mask):
                return v.load_present(kind, self.addresses.address(view, node.indices), r.vector(mask))
            case -1, None:
                return self.reversed(v, kind, v.load(kind, self.addresses.address(view, node.indices, 1 - r.lanes)))
        mask = "splat (i1 true)" if node.mask is None else r.vector(node.mask)
        pointers = self.addresses.addresses(view, node.indices)
        lanes, stored = r.lanes, v.stored(kind)
        value = r.w.call(stored, f"llvm.masked.gather.{_suffix(lanes, stored)}.v{lanes}p0", (f"<{lanes} x ptr>", pointers),
                         (f"<{lanes} x i1>", mask), (stored, "zeroinitializer"))  # fmt: skip
        return v.from_stored(kind, value)

    def reversed(self, v: Vectors, kind: Kind, value: str) -> str:
        order = ", ".join(f"i32 {lane}" for lane in range(v.lanes - 1, -1, -1))
        return self.registers.w.let(f"shufflevector {v.type(kind)} {value}, {v.type(kind)} poison, <{v.lanes} x i32> <{order}>")

    def store(self, node: Store) -> None:
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
        r, w, kind = self.registers, self.registers.w, view.kind
        v, value, direction = Vectors(w, r.lanes), r.vector(node.value), self.direction(view, node.indices)
        match direction, node.mask:
            case 1, None:
                v.store(kind, value, self.addresses.address(view, node.indices))
                return
            case -1, None:
                v.store(kind, self.reversed(v, kind, value), self.addresses.address(view, node.indices, 1 - r.lanes))
                return
        lanes, stored = r.lanes, v.stored(kind)
        if kind is Kind.BOOL:
            value = w.let(f"zext {v.type(kind)} {value} to {stored}")
        mask = "splat (i1 true)" if node.mask is None else r.vector(node.mask)
        name, type, where = f"llvm.masked.store.{_suffix(lanes, stored)}.p0", "ptr", ""
        if direction == 1:
            where = self.addresses.address(view, node.indices)
        else:
            name, type = f"llvm.masked.scatter.{_suffix(lanes, stored)}.v{lanes}p0", f"<{lanes} x ptr>"
            where = self.addresses.addresses(view, node.indices)
        w.declarations[f"declare void @{name}({stored}, {type}, i32 immarg, <{lanes} x i1>)"] = None
        w.do(f"call void @{name}({stored} {value}, {type} {where}, i32 1, <{lanes} x i1> {mask})")


def _suffix(lanes: int, stored: str) -> str:
    """As intrinsics name a vector type."""
    letter = stored.split(" x ")[1].rstrip(">")
    return f"v{lanes}" + {"double": "f64", "float": "f32"}.get(letter, letter)
