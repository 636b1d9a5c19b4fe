"""Where the items of views are.

Note [Addresses].  An address is the view's base, what the registers of the indices add, outermost first, and last a constant
along an axis of unit stride, which is part of the instruction that loads: neighbours share all else.

Neighbours: `registers` (places), `memory` (loads and stores there).
"""

from __future__ import annotations

from collections.abc import Sequence

from ....typechecker.elements import Kind
from ...kernels.vectors import Vectors
from .. import forms
from ..ir import Index, View
from .registers import Registers


class Addresses:
    def __init__(self, registers: Registers) -> None:
        self.registers = registers
        self.bases: dict[str, str] = {}
        self.strides: dict[str, tuple[str | int, ...]] = {}

    # ------------------------------------------------------------------------------------------ indices

    def index(self, index: Index) -> str:
        """An index that is the same in all lanes, as a plain i64."""
        r, total, height = self.registers, str(index.constant), 0
        for name, coefficient in sorted(index.terms, key=lambda term: r.values[term[0]].height):
            height = max(height, r.values[name].height)
            term = r.word(name)
            if coefficient != 1:
                term = r.let(height, f"mul i64 {term}, {coefficient}")
            total = term if total == "0" else r.let(height, f"add i64 {term}, {total}")
        return total

    def index_vector(self, index: Index) -> str:
        """An index in all lanes."""
        r = self.registers
        v, even = Vectors(r.w, r.lanes), r.even(index)
        total = r.splat(Kind.I64, self.index(even), r.height(name for name, _ in even.terms))
        for name, coefficient in index.terms:
            if r.differs(name):
                part = r.vector(name)
                if coefficient != 1:
                    part = v.binary("mul", Kind.I64, part, v.constant(Kind.I64, coefficient))
                total = v.binary("add", Kind.I64, total, part)
        return total

    # ---------------------------------------------------------------------------------------- addresses

    def address(self, view: View, indices: tuple[Index, ...], items: int = 0) -> str:
        """Of an item whose indices are the same in all lanes (but for the vector index, which counts as the first lane's), and
        so many items on along the last axis."""
        r, moves = self.registers, dict[str, list[int]]()
        for axis, index in enumerate(indices):
            for name, coefficient in index.terms:
                moves.setdefault(name, [0] * len(indices))[axis] = coefficient
        constants = [index.constant for index in indices]
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
        """Σ steps × strides, in bytes."""
        r, pairs = self.registers, list(zip(steps, self.strides[view.name], strict=True))
        total = str(sum(step * stride for step, stride in pairs if isinstance(stride, int)))
        for step, stride in pairs:
            if isinstance(stride, str) and step:
                part = stride if step == 1 else r.let(0, f"mul i64 {stride}, {step}")
                total = part if total == "0" else r.let(0, f"add i64 {part}, {total}")
        return total

    def addresses(self, view: View, indices: tuple[Index, ...]) -> str:
        """Of each lane's item: that of the first lane, and what lies from there to the others, which no iteration changes."""
        r = self.registers
        v, total = Vectors(r.w, r.lanes), ""
        plain = (tuple(t for t in i.terms if t[0] == r.vector_index or not r.differs(t[0])) for i in indices)
        base = self.address(view, tuple(Index(terms, i.constant) for terms, i in zip(plain, indices, strict=True)))
        apart = self.distance(view, [forms.coefficient(index, r.vector_index) for index in indices])
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
