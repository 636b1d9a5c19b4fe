"""Registers of a loop program as LLVM values: of one item, of all lanes, or plain numbers.

Note [Places].  What is computed from registers alone stands as far out as they are known, once: each open loop has two places for
lines, one before it and one at the top of its body.  A value's `height` is the first open place where it may be used; what has
no open place any more is written where the text has come to.

Neighbours: `addresses` (indices and where items are), `printer` (opens places, defines registers).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ....typechecker.elements import Kind
from ...kernels.vectors import COMPUTED, Vectors
from ...kernels.writer import Writer
from ..ir import Index, Program
from .lanes import kinds_of


@dataclass(slots=True)
class Value:
    """`<1 x T>`, or with `varying` a vector of the loop's lanes; with `is_word` a plain i64.

    `literal`: the same for any number of lanes."""

    text: str
    height: int
    varying: bool = False
    is_word: bool = False
    literal: str = ""


@dataclass(slots=True)
class Place:
    """Lines that are put in at `hole`, each once; of the top of a body also what steps on from iteration to iteration."""

    hole: int
    counter: str = ""
    lines: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    pointers: dict[tuple[str, str], str] = field(default_factory=dict)
    """`<1 x ptr>` by where they point if the counter is 0, and by how many bytes the counter moves them."""


class Registers:
    """`lanes`: how many are printed now, of which those of `mask` are there (all, if it is empty); `vector_index`: the loop's,
    whose register is the first lane's."""

    def __init__(self, program: Program) -> None:
        self.w = Writer()
        self.kinds = kinds_of(program)
        self.values: dict[str, Value] = {}
        self.places: list[Place] = []
        self.lanes = 1
        self.vector_index, self.mask = "", ""

    # ------------------------------------------------------------------------------------------- places

    def open(self, counter: str = "") -> None:
        """`counter`: of the loop whose body begins here."""
        self.places.append(Place(self.w.hole(), counter))

    def close(self) -> None:
        place = self.places.pop()
        self.w.lines[place.hole] = "\n".join(place.lines)

    def stepping(self, counter: str, height: int, base: str, distance: str) -> str | None:
        """A pointer that moves so many bytes with a loop's counter, added up from iteration to iteration: a multiplication in
        each takes longer.  None where the base, known at a height, is not known before the loop."""
        top = self.values[counter].height
        if height >= top or top >= len(self.places) or self.places[top].counter != counter:
            return None
        pointers = self.places[top].pointers
        name = pointers.get((base, distance)) or pointers.setdefault((base, distance), self.w.fresh())
        return self.let(top, f"extractelement <1 x ptr> {name}, i64 0")

    @property
    def here(self) -> int:
        """The height of what is written now."""
        return len(self.places)

    def let(self, height: int, text: str) -> str:
        """A value that depends on others up to a height."""
        if height >= len(self.places):
            return self.w.let(text)
        place = self.places[height]
        name = place.names.get(text)
        if name is None:
            name = place.names[text] = self.w.fresh()
            place.lines.append(f"  {name} = {text}")
        return name

    def height(self, names: Iterable[str]) -> int:
        return max((self.values[name].height for name in names), default=0)

    # ------------------------------------------------------------------------------------------- values

    def define(self, name: str, text: str, *, varying: bool = False) -> None:
        """A register whose value is there from here on."""
        self.values[name] = Value(text, self.here, varying=varying)

    def define_word(self, name: str, text: str, height: int) -> None:
        self.values[name] = Value(text, height, is_word=True)

    def word(self, name: str) -> str:
        """A register that is the same in all lanes, as a plain i64."""
        value = self.values[name]
        return value.text if value.is_word else self.let(value.height, f"extractelement <1 x i64> {value.text}, i64 0")

    def scalar(self, name: str) -> str:
        """The same as `<1 x T>`."""
        value = self.values[name]
        if not value.is_word:
            return value.text
        return value.literal or self.let(value.height, f"insertelement <1 x i64> poison, i64 {value.text}, i64 0")

    def truth(self, name: str) -> str:
        """A condition that is the same in all lanes, as a plain i1."""
        return self.w.let(f"extractelement <1 x i1> {self.scalar(name)}, i64 0")

    def vector(self, name: str) -> str:
        """A register in all lanes."""
        value = self.values[name]
        if value.literal:
            return value.literal
        if self.lanes == 1:
            return self.scalar(name)
        if value.varying:
            return value.text
        kind, one = self.kinds[name], value.text
        if not value.is_word:
            one = self.let(value.height, f"extractelement <1 x {COMPUTED[kind]}> {one}, i64 0")
        everywhere = self.splat(kind, one, value.height)
        if name != self.vector_index:
            return everywhere
        v = Vectors(self.w, self.lanes)
        return self.let(value.height, f"add {v.type(Kind.I64)} {everywhere}, {v.counting()}")

    def splat(self, kind: Kind, one: str, height: int) -> str:
        """A number in all lanes."""
        type = f"<{self.lanes} x {COMPUTED[kind]}>"
        first = self.let(height, f"insertelement {type} poison, {COMPUTED[kind]} {one}, i64 0")
        return self.let(height, f"shufflevector {type} {first}, {type} poison, <{self.lanes} x i32> zeroinitializer")

    @property
    def mask_type(self) -> str:
        return f"<{self.lanes} x i1>"

    def present(self, condition: str | None) -> str:
        """The lanes that are there and in which a condition holds; empty for all."""
        if condition is None:
            return self.mask
        held = self.vector(condition)
        return self.w.let(f"and {self.mask_type} {held}, {self.mask}") if self.mask else held

    def differs(self, name: str | None) -> bool:
        """Is a register another in each lane?"""
        return name is not None and self.lanes > 1 and (name == self.vector_index or self.values[name].varying)

    def varies(self, index: Index) -> bool:
        return any(self.differs(name) for name, _ in index.terms)

    def even(self, index: Index) -> Index:
        """The part of an index that is the same in all lanes."""
        return Index(tuple(t for t in index.terms if not self.differs(t[0])), index.constant)
