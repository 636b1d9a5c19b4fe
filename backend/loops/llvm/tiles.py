"""Loads and stores of tiles: as many items side by side for each lane as there are lanes, which registers turn.

Where a block loads items of a view, or stores them, at so many places one behind the other, and lanes are further apart, a gather
or a scatter for each place would touch each item on its own.  Instead each lane's items are one vector in memory, and lane i of
vector j becomes lane j of vector i.  The loads are made at the first of them and the stores at the last: the block does nothing
else with the view.  A lane that is absent takes the first lane's place in memory, whose own items are stored last.

Neighbours: `memory` (asks), `addresses` (where).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from ...kernels.vectors import Vectors
from ..forms import coefficient
from ..ir import Apply, Constant, Index, Load, Number, Statement, Store, View
from .addresses import Addresses
from .lanes import LONGEST_ROW, MOST_TURNED, fails
from .registers import Registers

_PLAIN: Final = (Apply, Constant, Load, Number, Store)


class Tiles:
    """`places`: where in a tile accesses of the blocks that are printed are, by identity."""

    def __init__(self, registers: Registers, addresses: Addresses, views: dict[str, View]) -> None:
        self.registers, self.addresses, self.views = registers, addresses, views
        self.places: dict[int, int] = {}
        self.rows: dict[str, list[str]] = {}
        """By view: the vectors of the last tile that was loaded."""
        self.stored: dict[str, list[str]] = {}
        """By view: those of a tile that are to be stored.  A view may be loaded in one block and stored to in another."""

    def enter(self, body: Sequence[Statement]) -> None:
        """Look for tiles in a block that is printed next."""
        lanes = self.registers.lanes
        for statement in body:
            self.places.pop(id(statement), None)
        if not 1 < lanes <= MOST_TURNED or fails(body) or not all(isinstance(statement, _PLAIN) for statement in body):
            return
        accesses: dict[str, list[Load | Store]] = {}
        for statement in body:
            if isinstance(statement, Load | Store):
                accesses.setdefault(statement.view, []).append(statement)
        for view, own in accesses.items():
            if len(own) % lanes == 0 and self.is_row(self.views[view], own):
                self.places.update((id(access), place % lanes) for place, access in enumerate(own))

    def is_row(self, view: View, accesses: Sequence[Load | Store]) -> bool:
        """Are they all loads, or all stores, one behind the other, of lanes that are apart?"""
        r, first = self.registers, accesses[0]
        if not view.unit or view.streamed or not first.indices or first.mask is not None or view.kind.bytes < _LEAST_BYTES:
            return False
        if 0 < abs(coefficient(first.indices[-1], r.vector_index)) <= LONGEST_ROW or not self.varies(first.indices):
            return False
        *outer, last = first.indices
        return all(
            type(access) is type(first) and access.mask is None
            and access.indices == (*outer, replace(last, constant=last.constant + place))
            for place, access in enumerate(accesses)
        )  # fmt: skip

    def varies(self, indices: Iterable[Index]) -> bool:
        """Do they differ from lane to lane by the vector index alone?"""
        r = self.registers
        differing = {name for index in indices for name, _ in index.terms if r.differs(name)}
        return differing == {r.vector_index}

    def load(self, node: Load) -> str:
        """A place of each lane."""
        view, place = self.views[node.view], self.places[id(node)]
        if place == 0:
            v = Vectors(self.registers.w, self.registers.lanes)
            self.rows[node.view] = self.turned(view, [v.load(view.kind, address) for address in self.lines(node, view)])
        return self.rows[node.view][place]

    def store(self, node: Store, value: str) -> None:
        view, lanes = self.views[node.view], self.registers.lanes
        rows = self.stored.setdefault(node.view, [])
        rows.append(value)
        if len(rows) < lanes:
            return
        v, first = Vectors(self.registers.w, lanes), replace(node.indices[-1], constant=node.indices[-1].constant - lanes + 1)
        addresses = self.lines(replace(node, indices=(*node.indices[:-1], first)), view)
        rows = self.turned(view, self.stored.pop(node.view))
        for address, row in reversed(list(zip(addresses, rows, strict=True))):
            v.store(view.kind, row, address)

    def lines(self, access: Load | Store, view: View) -> list[str]:
        """Where each lane's items begin."""
        r, first = self.registers, self.addresses.address(view, access.indices)
        apart = self.addresses.distance(view, [coefficient(index, r.vector_index) for index in access.indices])
        found = [first]
        for lane in range(1, r.lanes):
            far = str(lane * int(apart)) if apart.isdigit() else r.let(0, f"mul i64 {apart}, {lane}")
            address = r.w.at(first, far)
            if r.mask:
                present = r.w.let(f"extractelement {r.mask_type} {r.mask}, i64 {lane}")
                address = r.w.let(f"select i1 {present}, ptr {address}, ptr {first}")
            found.append(address)
        return found

    def turned(self, view: View, rows: list[str]) -> list[str]:
        """Lane i of vector j becomes lane j of vector i: halves of pairs change places, then quarters, and so on."""
        w, lanes, step = self.registers.w, self.registers.lanes, 1
        type = Vectors(w, lanes).type(view.kind)
        while step < lanes:
            for low in (place for place in range(lanes) if not place & step):
                pair = f"{type} {rows[low]}, {type} {rows[low + step]}"
                for place, ahead in ((low, 0), (low + step, step)):
                    order = [lanes + lane - step + ahead if lane & step else lane + ahead for lane in range(lanes)]
                    picked = ", ".join(f"i32 {lane}" for lane in order)
                    rows[place] = w.let(f"shufflevector {pair}, <{lanes} x i32> <{picked}>")
            step *= 2
        return rows


_LEAST_BYTES: Final = 4
"""Of items that are turned."""
