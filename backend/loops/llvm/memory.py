"""Loads and stores: side by side, backwards, of one item, anywhere; with and without masks.

Neighbours: `addresses` (where), `registers` (what).
"""

from __future__ import annotations

from typing import Final

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
        """An item for each lane that is there."""
        r, kind = self.registers, view.kind
        v, direction, present = Vectors(r.w, r.lanes), self.direction(view, node.indices), r.present(node.mask)
        if direction:
            address = self.addresses.address(view, node.indices, 0 if direction == 1 else 1 - r.lanes)
            present = self.turned(direction, r.mask_type, present) if present else ""
            value = v.load_present(kind, address, present) if present else v.load(kind, address)
            return self.turned(direction, v.type(kind), value)
        pointers = self.addresses.addresses(view, node.indices)
        lanes, stored = r.lanes, v.stored(kind)
        value = r.w.call(stored, f"llvm.masked.gather.{_suffix(lanes, stored)}.v{lanes}p0", (f"<{lanes} x ptr>", pointers),
                         (r.mask_type, present or _ALL), (stored, "zeroinitializer"))  # fmt: skip
        return v.from_stored(kind, value)

    def turned(self, direction: int, type: str, value: str) -> str:
        """The lanes in the order in which they lie."""
        if direction == 1:
            return value
        lanes = self.registers.lanes
        order = ", ".join(f"i32 {lane}" for lane in range(lanes - 1, -1, -1))
        return self.registers.w.let(f"shufflevector {type} {value}, {type} poison, <{lanes} x i32> <{order}>")

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
        present, stored = r.present(node.mask), v.stored(kind)
        if direction:
            address = self.addresses.address(view, node.indices, 0 if direction == 1 else 1 - r.lanes)
            value = self.turned(direction, v.type(kind), value)
            if not present:
                v.store(kind, value, address)
                return
            present = self.turned(direction, r.mask_type, present)
            name, type = f"llvm.masked.store.{_suffix(r.lanes, stored)}.p0", "ptr"
        else:
            address, type = self.addresses.addresses(view, node.indices), f"<{r.lanes} x ptr>"
            name = f"llvm.masked.scatter.{_suffix(r.lanes, stored)}.v{r.lanes}p0"
        if kind is Kind.BOOL:
            value = w.let(f"zext {v.type(kind)} {value} to {stored}")
        w.declarations[f"declare void @{name}({stored}, {type}, i32 immarg, {r.mask_type})"] = None
        w.do(f"call void @{name}({stored} {value}, {type} {address}, i32 1, {r.mask_type} {present or _ALL})")


_ALL: Final = "splat (i1 true)"


def _suffix(lanes: int, stored: str) -> str:
    """As intrinsics name a vector type."""
    letter = stored.split(" x ")[1].rstrip(">")
    return f"v{lanes}" + {"double": "f64", "float": "f32"}.get(letter, letter)
