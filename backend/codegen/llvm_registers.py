"""Registers of a loop program as LLVM values: of one item, of all lanes, or plain numbers.

Note [Places].  What is computed from registers alone stands as far out as they are known, once: each open loop has two places for
lines, one before it and one at the top of its body.  A value's `height` is the first open place where it may be used; what has
no open place any more is written where the text has come to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from math import gcd
from typing import Final

from ...lang.support.records import dataclass
from ...typechecker.elements import Kind
from ..loopir.ir import (
    MOST_VALUES,
    Apply,
    Call,
    ConstantStatement,
    Fail,
    For,
    If,
    Index,
    IndexStatement,
    Load,
    LoopProgram,
    Statement,
    Store,
    View,
    ViewRole,
    coefficient,
    minus,
    scan_reductions,
    uses,
    walk,
)
from ..loopir.verifier import may_fail
from ..scalar.function_table import LONG, weight_of
from .llvm_builder import IrBuilder
from .llvm_scalars import COMPUTED, Vectors

# --------------------------------------------------------------------------------------------- vector width
#
# How many lanes and iterations a loop is printed with, and the kinds of registers.

def lanes_of(loop: For, views: Mapping[str, View], vector_bytes: int) -> int:
    """Of a loop that may be printed with vectors; 1 where it may not."""
    inside = list(walk(loop.body))
    if loop.step != 1 or (fails(inside) and read_back(inside)) or any(c.reduction is None for c in loop.carried):
        return 1
    varying, kinds = {loop.index}, list[Kind]()
    busiest = set(map(id, _busiest(loop.body)))
    for statement in inside:  # definitions come before uses
        is_busy = id(statement) in busiest
        match statement:
            case IndexStatement(name, index) if any(t in varying for t, _ in index.terms):
                varying.add(name)
                kinds += [Kind.I64] * is_busy
            case Apply(name=name, args=args) if any(a in varying for a in args):
                kinds += [statement.kind, statement.compute] * is_busy
                varying.add(name)
            case Load(name=name, view=view, indices=indices, mask=mask):
                if mask in varying or any(t in varying for i in indices for t, _ in i.terms):
                    kinds += [views[view].kind] * is_busy
                    varying.add(name)
            case Store(view=view):
                kinds += [views[view].kind] * is_busy
            case If(condition=condition):
                if condition in varying or statement.results:
                    return 1
            case For():
                bounds = (*statement.lower, *statement.upper)
                if any(t in varying for i in bounds for t, _ in i.terms) or (statement.until is not None and _touches(statement)):
                    return 1
                varying.update(name for c in statement.carried for name in (c.inside, c.result))
            case _:
                pass
    lanes = max(1, vector_bytes // max((k.bytes for k in kinds), default=8))
    return min(lanes, MOST_TURNED) if turns_tiles(loop) else lanes


def turns_tiles(loop: For) -> bool:
    """Does a loop touch many items one behind the other, of lanes that are apart (`tiles`)?"""
    places: dict[tuple[type, str, tuple[Index, ...]], int] = {}
    for statement in walk(loop.body):
        if isinstance(statement, Load | Store) and statement.indices:
            *outer, last = statement.indices
            if 0 < abs(coefficient(last, loop.index)) <= LONGEST_ROW:
                continue
            if any(coefficient(index, loop.index) for index in statement.indices):
                row = type(statement), statement.view, (*outer, replace(last, constant=0))
                places[row] = places.get(row, 0) + 1
    return max(places.values(), default=0) >= _TILE


def _busiest(body: Sequence[Statement]) -> list[Statement]:
    """What is done most often: the innermost loops, if there are any."""
    inner = [statement for statement in body if isinstance(statement, For)]
    return [each for loop in inner for each in _busiest(loop.body)] if inner else list(walk(tuple(body)))


def vectors_of(loop: For, views: Mapping[str, View], vector_bytes: int) -> int:
    """How many vectors of a loop go together: two; as many as hide the time of long functions of binary32, of counting where
    little is done (sums in scratch), or of going from row to row where loops inside store; or one where more values are alive at
    once than there are registers, and of scans and tiles."""
    if scan_reductions(loop) or turns_tiles(loop):
        return 1
    inside = list(walk(loop.body))
    kinds = [s.compute for s in inside if isinstance(s, Apply)]
    long = sum(isinstance(s, Apply) and weight_of(s.function) >= LONG for s in inside)
    is_wide, is_nested = vector_bytes >= _WIDE, any(isinstance(s, For) for s in inside)
    if is_wide and long >= _WAITING and max(k.bytes for k in kinds) == Kind.F32.bytes and not is_nested:
        return 4
    alive, stored = _most_alive(inside), [views[s.view].role for s in inside if isinstance(s, Store)]
    if stored and alive <= _FEW_ALIVE and all(role is ViewRole.SCRATCH for role in stored):
        return 4
    inner = [s for each in loop.body if isinstance(each, For) for s in walk(each.body)]
    if alive <= _REGISTERS // 2 and any(isinstance(s, Store) for s in inner):
        return 4
    return 1 if alive > (_MANY_REGISTERS if is_wide else _REGISTERS) else 2


LONGEST_ROW: Final = 8
"""Items of a row that is loaded as a whole (`memory`, Note [Rows])."""
_TILE: Final = 4
"""Items of a lane that are worth turning."""
MOST_TURNED: Final = 8
"""Lanes of vectors that are turned."""
_WIDE: Final = 64
_FEW_ALIVE: Final = 4
_WAITING: Final = 3
"""Functions of binary32 by polynomials, whose time is mostly waiting for one step after the other: four vectors fill it."""
_REGISTERS: Final = 10
"""More values alive than this, two registers each, would not fit."""
_MANY_REGISTERS: Final = 13
"""The same of processors whose registers are twice as many."""


def _most_alive(statements: Sequence[Statement]) -> int:
    last: dict[str, int] = {}
    first: dict[str, int] = {}
    for position, statement in enumerate(statements):
        if isinstance(statement, Apply | Load):
            first.setdefault(statement.name, position)
        if isinstance(statement, Apply | Store):
            last.update(dict.fromkeys(uses(statement), position))
    for position, statement in enumerate(statements):
        if isinstance(statement, For):  # what comes from outside is needed in the next iteration, too
            end = position + sum(1 for _ in walk(statement.body))
            outside = (name for name, use in last.items() if position < use <= end and first.get(name, end) < position)
            last.update(dict.fromkeys(outside, end))
    ends: dict[int, int] = {}
    alive = most = 0
    seen: set[str] = set()
    for position, statement in enumerate(statements):
        names = {statement.name} if isinstance(statement, Apply | Load) else set[str]()
        names |= set(uses(statement)) if isinstance(statement, Apply) else set()
        for name in names - seen:  # what comes from outside is alive from its first use on
            seen.add(name)
            alive += 1
            ends[last.get(name, position)] = ends.get(last.get(name, position), 0) + 1
        most = max(most, alive)
        alive -= ends.pop(position, 0)
    return most


def _touches(loop: For) -> bool:
    """Does an iteration more of some lanes show?"""
    return any(isinstance(s, Load | Store | Fail) or (isinstance(s, Apply) and may_fail(s)) for s in walk(loop.body))


def read_back(statements: Sequence[Statement]) -> set[str]:
    """The views that are both loaded and stored."""
    return {s.view for s in statements if isinstance(s, Load)} & {s.view for s in statements if isinstance(s, Store)}


def fails(statements: Iterable[Statement]) -> bool:
    """May one of them leave the program?"""
    return any(isinstance(s, Fail) or (isinstance(s, Apply) and may_fail(s)) for s in statements)


def is_long(statements: Iterable[Statement]) -> bool:
    """Are there so many instructions that they are better written once than once more for the rest?"""
    return sum(isinstance(s, Apply) and weight_of(s.function) >= LONG for s in statements) > 1


def iterations_of(loop: For) -> int | None:
    """How many a loop that goes item by item has, where that is known."""
    if loop.step != 1 or len(loop.lower) != 1 or len(loop.upper) != 1:
        return None
    length = minus(loop.upper[0], loop.lower[0])
    return None if length.terms else max(0, length.constant)


def divisor_of(loop: For) -> int:
    """A number that divides how many iterations a loop has that goes item by item, if it has any; 1 where none is known."""
    if loop.step != 1 or len(loop.lower) != 1 or len(loop.upper) != 1:
        return 1
    length = minus(loop.upper[0], loop.lower[0])
    return gcd(length.constant, *(factor for _, factor in length.terms)) or 1


def kinds_of(program: LoopProgram) -> dict[str, Kind]:
    """Of all registers."""
    kinds = dict.fromkeys(program.parameters, Kind.I64)
    views = {view.name: view for view in program.views}
    for statement in walk(program.body):
        match statement:
            case ConstantStatement(name=name, kind=kind) | Apply(name=name, kind=kind):
                kinds[name] = kind
            case IndexStatement(name, _):
                kinds[name] = Kind.I64
            case Load(name=name, view=view):
                kinds[name] = views[view].kind
            case For():
                kinds[statement.index] = Kind.I64
                for carried in statement.carried:
                    kinds[carried.inside] = kinds[carried.result] = carried.kind
            case If():
                for chosen in statement.results:
                    kinds[chosen.name] = chosen.kind
            case _:
                pass
    return kinds


# ---------------------------------------------------------------------------------------------------- registers

@dataclass(slots=True)
class RegisterValue:
    """`<1 x T>`, or with `varying` a vector of the loop's lanes; with `is_word` a plain i64.

    `literal`: the same for any number of lanes."""

    text: str
    height: int
    varying: bool = False
    is_word: bool = False
    literal: str = ""


@dataclass(slots=True)
class InsertionPoint:
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

    def __init__(self, program: LoopProgram) -> None:
        self.w = IrBuilder()
        self.kinds = kinds_of(program)
        self.values: dict[str, RegisterValue] = {}
        self.places: list[InsertionPoint] = []
        self.lanes = 1
        self.vector_index, self.mask = "", ""

    # ------------------------------------------------------------------------------------------- places

    def open(self, counter: str = "") -> None:
        """`counter`: of the loop whose body begins here."""
        self.places.append(InsertionPoint(self.w.hole(), counter))

    def close(self) -> None:
        preheader = self.places.pop()
        self.w.lines[preheader.hole] = "\n".join(preheader.lines)

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
        preheader = self.places[height]
        name = preheader.names.get(text)
        if name is None:
            name = preheader.names[text] = self.w.fresh()
            preheader.lines.append(f"  {name} = {text}")
        return name

    def height(self, names: Iterable[str]) -> int:
        return max((self.values[name].height for name in names), default=0)

    # ------------------------------------------------------------------------------------------- values

    def define(self, name: str, text: str, *, varying: bool = False) -> None:
        """A register whose value is there from here on."""
        self.values[name] = RegisterValue(text, self.here, varying=varying)

    def define_word(self, name: str, text: str, height: int) -> None:
        self.values[name] = RegisterValue(text, height, is_word=True)

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


# ------------------------------------------------------------------------------------------ argument layout
#
# The block of words that a kernel is given: what lies where.
#
# Parameters; for each view its base and its strides in bytes, but a last one that is one item (scratch of a constant shape is the
# function's own, where there are no calls); where there are calls, a function `i64 (i64)` that runs routines, given the number of
# the call in the order of the program, and for each call the address and the sizes of each box, and its numbers; the failure
# record: values, and, of a program that is run in ranges, the iteration of its outermost loop.

def words_of(program: LoopProgram) -> int:
    """Length of the block."""
    return calls_at(program)[-1] + MOST_VALUES + runs_in_ranges(program)


def runs_in_ranges(program: LoopProgram) -> bool:
    """Does the caller hand out the iterations of the outermost loop?"""
    return program.parameters[:1] == ("first",)


def calls_at(program: LoopProgram) -> list[int]:
    """Where the words of each call begin; before the first is the function, after the last the record."""
    calls = calls_of(program)
    given = [view for view in program.views if not is_own(program, view)]
    places = [len(program.parameters) + sum(1 + strides_of(view) for view in given) + bool(calls)]
    for call in calls:
        sizes = sum(size is not None for box in call.boxes for size in box.shape)
        places.append(places[-1] + len(call.boxes) + sizes + len(call.numbers))
    return places


def is_own(program: LoopProgram, view: View) -> bool:
    """Is a view memory of the function's own?  What routines run in between may have the same."""
    return view.private and not any(length.terms for length in view.shape) and not calls_of(program)


def strides_of(view: View) -> int:
    """How many strides of a view are words."""
    return len(view.shape) - (view.unit and bool(view.shape))


def calls_of(program: LoopProgram) -> list[Call]:
    """In the order of the program."""
    return [statement for statement in walk(program.body) if isinstance(statement, Call)]
