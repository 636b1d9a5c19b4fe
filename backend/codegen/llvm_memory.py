"""Loads and stores: contiguous, reversed, of one item, gathers and scatters; with and without masks.

Note [Rows].  An array of structures: short rows that are contiguous in memory (the parts of complex numbers, points of three
coordinates).  If a block accesses every item of such rows, the rows of all lanes are loaded or stored as contiguous vectors, and
shuffles separate or interleave the items.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from ...lang.support.records import replace
from ...typechecker.elements import Kind
from ..loopir import ir
from ..loopir.ir import Apply, ConstantStatement, Index, IndexStatement, Load, Statement, Store, View, coefficient
from .llvm_registers import LONGEST_ROW, MOST_TURNED, Registers, fails
from .llvm_scalars import STORED, Vectors

# ---------------------------------------------------------------------------------------------------- addresses
#
# The addresses of the items of views.
#
# Note [Addresses].  An address is the view's base plus one term for each index register, outermost loop first, plus last a
# constant along an axis of unit stride, which is the displacement of the load: neighbours share all other terms.

class Addresses:
    def __init__(self, registers: Registers) -> None:
        self.registers = registers
        self.bases: dict[str, str] = {}
        self.strides: dict[str, tuple[str | int, ...]] = {}

    # ------------------------------------------------------------------------------------------ indices

    def index(self, index: Index) -> str:
        """Returns an index that is uniform over the lanes as a plain i64."""
        r, total, height = self.registers, str(index.constant), 0
        for name, factor in sorted(index.terms, key=lambda term: r.values[term[0]].height):
            height = max(height, r.values[name].height)
            term = r.word(name)
            if factor != 1:
                term = r.let(height, f"mul i64 {term}, {factor}")
            total = term if total == "0" else r.let(height, f"add i64 {term}, {total}")
        return total

    def index_vector(self, index: Index) -> str:
        """Returns an index as a vector of all lanes."""
        r = self.registers
        v, even = Vectors(r.w, r.lanes), r.even(index)
        total = r.splat(Kind.I64, self.index(even), r.height(name for name, _ in even.terms))
        for name, factor in index.terms:
            if r.differs(name):
                part = r.vector(name)
                if factor != 1:
                    part = v.binary("mul", Kind.I64, part, v.constant(Kind.I64, factor))
                total = v.binary("add", Kind.I64, total, part)
        return total

    # ---------------------------------------------------------------------------------------- addresses

    def address(self, view: View, indices: tuple[Index, ...], items: int = 0) -> str:
        """Returns the address of the first lane's item, moved on by `items` items along the last axis.

        All other registers of the indices are uniform over the lanes.
        """
        r, moves = self.registers, dict[str, list[int]]()
        constants = [index.constant for index in indices]
        for axis, index in enumerate(indices):
            for name, factor in index.terms:
                if (number := r.values[name].number) is not None:
                    constants[axis] += factor * number
                else:
                    moves.setdefault(name, [0] * len(indices))[axis] = factor
        last = items * view.kind.bytes
        if constants and view.unit:
            last += constants.pop() * view.kind.bytes
            constants.append(0)
        base, height = self.bases[view.name], 0
        if any(constants):
            base = r.let(height, f"getelementptr i8, ptr {base}, i64 {self.distance(view, constants)}")
        for name, steps in sorted(moves.items(), key=lambda move: r.values[move[0]].height):
            distance, below = self.distance(view, steps), height
            height = max(height, r.values[name].height)
            stepped = None if distance.isdigit() else r.stepping(name, below, base, distance)
            if stepped is None:
                offset = r.let(height, f"mul i64 {r.word(name)}, {distance}")
                stepped = r.let(height, f"getelementptr i8, ptr {base}, i64 {offset}")
            base = stepped
        return r.w.at(base, last) if last else base

    def distance(self, view: View, steps: Sequence[int]) -> str:
        """Returns the sum of steps × strides, in bytes."""
        r, pairs = self.registers, list(zip(steps, self.strides[view.name], strict=True))
        total = str(sum(step * stride for step, stride in pairs if isinstance(stride, int)))
        for step, stride in pairs:
            if isinstance(stride, str) and step:
                part = stride if step == 1 else r.let(0, f"mul i64 {stride}, {step}")
                total = part if total == "0" else r.let(0, f"add i64 {part}, {total}")
        return total

    def addresses(self, view: View, indices: tuple[Index, ...]) -> str:
        """Returns the address of each lane's item: the first lane's plus loop-invariant offsets of the other lanes."""
        r = self.registers
        v, total = Vectors(r.w, r.lanes), ""
        plain = (tuple(t for t in i.terms if t[0] == r.vector_index or not r.differs(t[0])) for i in indices)
        base = self.address(view, tuple(Index(terms, i.constant) for terms, i in zip(plain, indices, strict=True)))
        apart = self.distance(view, [ir.coefficient(index, r.vector_index) for index in indices])
        if apart.isdigit():
            total = f"<{', '.join(f'i64 {lane * int(apart)}' for lane in range(r.lanes))}>" if apart != "0" else ""
        else:
            total = r.let(0, f"mul {v.type(Kind.I64)} {r.splat(Kind.I64, apart, 0)}, {v.counting()}")
        for index, stride in zip(indices, self.strides[view.name], strict=True):
            terms = tuple(t for t in index.terms if t[0] != r.vector_index and r.differs(t[0]))
            if terms:
                step = v.constant(Kind.I64, stride) if isinstance(stride, int) else r.splat(Kind.I64, stride, 0)
                part = v.binary("mul", Kind.I64, self.index_vector(Index(terms)), step)
                total = part if not total else v.binary("add", Kind.I64, total, part)
        if not total:
            type = f"<{r.lanes} x ptr>"
            first = r.w.let(f"insertelement {type} poison, ptr {base}, i64 0")
            return r.w.let(f"shufflevector {type} {first}, {type} poison, <{r.lanes} x i32> zeroinitializer")
        return r.w.let(f"getelementptr i8, ptr {base}, {v.type(Kind.I64)} {total}")


# ------------------------------------------------------------------------------------------- register tiles
#
# Register tiles: square tiles that are transposed in registers, instead of gathers and scatters.
#
# If a block accesses as many neighbouring items of a view as there are lanes, and the lanes are further apart, a gather or a
# scatter for each access would touch each item separately.  Instead each lane's items are loaded or stored as one vector, and a
# transpose turns lane i of vector j into lane j of vector i.  All loads take place at the first load of the tile, and all stores
# at its last store; the block has no other access to the view.  An inactive lane uses the first lane's address, and the first
# lane's items are stored last.

_PLAIN: Final = (Apply, ConstantStatement, Load, IndexStatement, Store)


class Tiles:
    """The register tiles of the blocks that are printed."""

    def __init__(self, registers: Registers, addresses: Addresses, views: dict[str, View]) -> None:
        self.registers, self.addresses, self.views = registers, addresses, views
        self.places: dict[int, int] = {}
        self.rows: dict[str, list[str]] = {}
        """The transposed vectors of the last tile that was loaded, by view."""
        self.stored: dict[str, list[str]] = {}
        """The vectors of a tile that are to be stored, by view.  A view may be loaded in one block and stored in another."""

    def enter(self, body: Sequence[Statement]) -> None:
        """Determines the tiles of the block that is printed next."""
        lanes = self.registers.lanes
        for statement in body:
            self.places.pop(id(statement), None)
        if not 1 < lanes <= MOST_TURNED or fails(body) or not all(isinstance(statement, _PLAIN) for statement in body):
            return
        accesses: dict[str, list[Load | Store]] = {}
        for statement in body:
            if isinstance(statement, Load | Store):
                accesses.setdefault(statement.view, []).append(statement)
        for view, same_view in accesses.items():
            if len(same_view) % lanes == 0 and self.is_row(self.views[view], same_view):
                self.places.update((id(access), lane % lanes) for lane, access in enumerate(same_view))

    def is_row(self, view: View, accesses: Sequence[Load | Store]) -> bool:
        """Returns whether the accesses are all loads, or all stores, of adjacent items, with the lanes further apart."""
        r, first = self.registers, accesses[0]
        if not view.unit or view.streamed or not first.indices or first.mask is not None or view.kind.bytes < _LEAST_BYTES:
            return False
        if 0 < abs(coefficient(first.indices[-1], r.vector_index)) <= LONGEST_ROW or not self.varies(first.indices):
            return False
        *outer, last = first.indices
        return all(
            type(access) is type(first) and access.mask is None
            and access.indices == (*outer, replace(last, constant=last.constant + lane))
            for lane, access in enumerate(accesses)
        )  # fmt: skip

    def varies(self, indices: Iterable[Index]) -> bool:
        """Returns whether indices vary over the lanes by the vector index alone."""
        r = self.registers
        differing = {name for index in indices for name, _ in index.terms if r.differs(name)}
        return differing == {r.vector_index}

    def load(self, node: Load) -> str:
        """Returns the loaded item of each lane."""
        view, lane = self.views[node.view], self.places[id(node)]
        if lane == 0:
            v = Vectors(self.registers.w, self.registers.lanes)
            self.rows[node.view] = self.turned(view, [v.load(view.kind, address) for address in self.lines(node, view)])
        return self.rows[node.view][lane]

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
        """Returns the address of each lane's first item."""
        r, first = self.registers, self.addresses.address(view, access.indices)
        apart = self.addresses.distance(view, [coefficient(index, r.vector_index) for index in access.indices])
        addresses = [first]
        for lane in range(1, r.lanes):
            far = str(lane * int(apart)) if apart.isdigit() else r.let(0, f"mul i64 {apart}, {lane}")
            address = r.w.at(first, far)
            if r.mask:
                present = r.w.let(f"extractelement {r.mask_type} {r.mask}, i64 {lane}")
                address = r.w.let(f"select i1 {present}, ptr {address}, ptr {first}")
            addresses.append(address)
        return addresses

    def turned(self, view: View, rows: list[str]) -> list[str]:
        """Returns the transpose: lane i of vector j becomes lane j of vector i, by swapping halves, then quarters, and so on."""
        w, lanes, step = self.registers.w, self.registers.lanes, 1
        type = Vectors(w, lanes).type(view.kind)
        while step < lanes:
            for low in (row for row in range(lanes) if not row & step):
                pair = f"{type} {rows[low]}, {type} {rows[low + step]}"
                for row, ahead in ((low, 0), (low + step, step)):
                    order = [lanes + lane - step + ahead if lane & step else lane + ahead for lane in range(lanes)]
                    picked = ", ".join(f"i32 {lane}" for lane in order)
                    rows[row] = w.let(f"shufflevector {pair}, <{lanes} x i32> <{picked}>")
            step *= 2
        return rows


_LEAST_BYTES: Final = 4
"""The item widths in bytes for which tiles are transposed."""


# ------------------------------------------------------------------------------------------ loads and stores

class MemoryAccess:
    def __init__(self, registers: Registers, addresses: Addresses, views: dict[str, View]) -> None:
        self.registers, self.addresses, self.views = registers, addresses, views
        self.rows: set[_Row] = set()
        """The rows that are accessed as contiguous vectors, see Note [Rows]."""
        self.stored: dict[_Row, list[str]] = {}
        """The items of a row so far, which are stored with the last one."""
        self.tiles = Tiles(registers, addresses, views)

    def enter(self, body: Sequence[Statement]) -> None:
        """Determines the rows and tiles of the block that is printed next."""
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
        """Returns the row that an access belongs to; the length of a row is the distance between the lanes in items."""
        *outer, last = access.indices
        length = coefficient(last, self.registers.vector_index)
        start = last.constant - last.constant % length if length else last.constant
        kind = Load if isinstance(access, Load) else Store
        return kind, length, access.view, (*outer, replace(last, constant=start)), access.mask

    def apart(self, access: Load | Store, view: View) -> int:
        """Returns the distance between lanes in items if together they access contiguous memory (negative: reversed); otherwise
        0."""
        r, indices = self.registers, access.indices
        if not indices or not view.unit or any(map(r.varies, indices[:-1])):
            return 0
        if any(r.values[name].varying for name, _ in indices[-1].terms):
            return 0
        apart = coefficient(indices[-1], r.vector_index)
        return apart if apart in (1, -1) or (apart > 1 and self.row(access) in self.rows) else 0

    def start(self, access: Load | Store, view: View, apart: int) -> str:
        """Returns the address at which the contiguous memory starts."""
        return self.addresses.address(view, self.row(access)[3], 1 - self.registers.lanes if apart == -1 else 0)

    def spread(self, apart: int, present: str) -> str:
        """Returns the mask of the contiguous memory for lanes with mask `present`."""
        lanes = range(self.registers.lanes)
        places = lanes[::-1] if apart == -1 else [lane for lane in lanes for _ in range(apart)]
        return self.shuffled(self.registers.mask_type, present, places) if apart != 1 else present

    def shuffled(self, type: str, value: str, places: Sequence[int], other: str = "poison") -> str:
        order = ", ".join(f"i32 {lane}" if lane >= 0 else "i32 poison" for lane in places)
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
        """Returns an item for each active lane, loaded in the cheapest way."""
        r, kind, lanes = self.registers, view.kind, self.registers.lanes
        if id(node) in self.tiles.places:
            return self.tiles.load(node)
        v, apart, present = Vectors(r.w, lanes), self.apart(node, view), r.present(node.mask)
        if apart:
            address, piece, stored = self.start(node, view, apart), Vectors(r.w, abs(apart) * lanes), _AS_STORED.get(kind, kind)
            vector = piece.load_present(stored, address, self.spread(apart, present)) if present else piece.load(stored, address)
            if apart != 1:
                first = node.indices[-1].constant % apart
                places = range(lanes)[::-1] if apart == -1 else range(first, apart * lanes, apart)
                vector = self.shuffled(piece.stored(kind), vector, places)
            return v.from_stored(kind, vector)
        pointers = self.addresses.addresses(view, node.indices)
        type = v.stored(kind)
        value = r.w.call(type, f"llvm.masked.gather.{_suffix(lanes, type)}.v{lanes}p0", (f"<{lanes} x ptr>", pointers),
                         ("i32", "1"), (r.mask_type, present or _ALL),
                         (type, "zeroinitializer" if present else "poison"))  # fmt: skip
        return v.from_stored(kind, value)

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
        """Prints a masked store or scatter of the active lanes."""
        name = f"llvm.masked.{what}.{_suffix(int(stored[1:].split()[0]), stored)}{suffix}"
        self.registers.w.declarations[f"declare void @{name}({stored}, {type}, i32 immarg, {mask})"] = None
        self.registers.w.do(f"call void @{name}({stored} {value}, {type} {address}, i32 1, {mask} {present})")

    def joined(self, type: str, items: Sequence[str]) -> str:
        """Returns the items of rows interleaved, in memory order."""
        lanes, merged, count = self.registers.lanes, items[0], 1
        element = type.split(" x ")[1].rstrip(">")
        for item in items[1:]:
            wide = f"<{count * lanes} x {element}>"
            item = self.shuffled(type, item, [*range(lanes), *(-1 for _ in range((count - 1) * lanes))])
            merged, count = self.shuffled(wide, merged, range((count + 1) * lanes), item), count + 1
        places = [item * lanes + lane for lane in range(lanes) for item in range(count)]
        return self.shuffled(f"<{count * lanes} x {element}>", merged, places)


_Row: TypeAlias = tuple[type, int, str, tuple[Index, ...], str | None]
_LINE: Final = 64
_AS_STORED: Final = {Kind.BOOL: Kind.U8}
_ALL: Final = "splat (i1 true)"


def _suffix(lanes: int, stored: str) -> str:
    """The suffix with which intrinsics name a vector type."""
    letter = stored.split(" x ")[1].rstrip(">")
    return f"v{lanes}" + {"double": "f64", "float": "f32"}.get(letter, letter)
