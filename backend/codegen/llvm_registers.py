"""Registers of a loop program as LLVM values: of one item, of all lanes, or plain numbers.

Note [Insertion points].  Loop-invariant code motion while printing: a value computed from registers alone is written once, in the
outermost loop in which all its operands are known.  Each open loop has two insertion points, its preheader and the top of its
body.  The `height` of a value is the index of the first open insertion point after which it may be used; a value whose insertion
point is already closed is written at the end of the text so far.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import gcd
from typing import Final

from ...lang.support.records import dataclass, field, replace
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
    """Returns the number of lanes that a loop is printed with; 1 if it cannot be printed with vectors."""
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
    """Returns whether a loop accesses several adjacent items per lane while its lanes are further apart (`llvm_memory.Tiles`)."""
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
    """Returns the statements of the innermost loops, or all statements if there is no loop."""
    inner = [statement for statement in body if isinstance(statement, For)]
    return [each for loop in inner for each in _busiest(loop.body)] if inner else list(walk(tuple(body)))


def vectors_of(loop: For, views: Mapping[str, View], vector_bytes: int) -> int:
    """Returns the unroll factor of a vector loop: how many vectors an iteration handles.

    Usually two; four to hide the latency of long binary32 functions, of loop control around a short body (sums in scratch), or of
    moving from row to row if inner loops store; one for scans and tiles, and where live values exceed the registers.
    """
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
"""The most items of a row that is loaded at once (`llvm_memory`, Note [Rows])."""
_TILE: Final = 4
"""The least number of adjacent items per lane for which a register transpose pays."""
MOST_TURNED: Final = 8
"""The most lanes of vectors that are transposed in registers."""
_WIDE: Final = 64
_FEW_ALIVE: Final = 4
_WAITING: Final = 3
"""The least number of binary32 polynomials in a body for which latency dominates, so that four vectors pay."""
_REGISTERS: Final = 10
"""The most live values, two registers each, that do not spill."""
_MANY_REGISTERS: Final = 13
"""The same on processors with twice as many vector registers."""


def _most_alive(statements: Sequence[Statement]) -> int:
    last: dict[str, int] = {}
    first: dict[str, int] = {}
    for position, statement in enumerate(statements):
        if isinstance(statement, Apply | Load):
            first.setdefault(statement.name, position)
        if isinstance(statement, Apply | Store):
            last.update(dict.fromkeys(uses(statement), position))
    for position, statement in enumerate(statements):
        if isinstance(statement, For):  # a value from outside the loop is live until its end
            end = position + sum(1 for _ in walk(statement.body))
            outside = (name for name, use in last.items() if position < use <= end and first.get(name, end) < position)
            last.update(dict.fromkeys(outside, end))
    ends: dict[int, int] = {}
    alive = most = 0
    seen: set[str] = set()
    for position, statement in enumerate(statements):
        names = {statement.name} if isinstance(statement, Apply | Load) else set[str]()
        names |= set(uses(statement)) if isinstance(statement, Apply) else set()
        for name in names - seen:  # a value from outside is live from its first use on
            seen.add(name)
            alive += 1
            ends[last.get(name, position)] = ends.get(last.get(name, position), 0) + 1
        most = max(most, alive)
        alive -= ends.pop(position, 0)
    return most


def _touches(loop: For) -> bool:
    """Returns whether executing lanes beyond the end has an effect (memory accesses, failing checks)."""
    return any(isinstance(s, Load | Store | Fail) or (isinstance(s, Apply) and may_fail(s)) for s in walk(loop.body))


def read_back(statements: Sequence[Statement]) -> set[str]:
    """Returns the views that are both loaded and stored."""
    return {s.view for s in statements if isinstance(s, Load)} & {s.view for s in statements if isinstance(s, Store)}


def fails(statements: Iterable[Statement]) -> bool:
    """Returns whether one of the statements may exit the program."""
    return any(isinstance(s, Fail) or (isinstance(s, Apply) and may_fail(s)) for s in statements)


def is_long(statements: Iterable[Statement]) -> bool:
    """Returns whether the body is too long to be printed a second time for the remainder loop."""
    return sum(isinstance(s, Apply) and weight_of(s.function) >= LONG for s in statements) > 1


def iterations_of(loop: For) -> int | None:
    """Returns the trip count of a loop of step 1; None if it is not constant."""
    if loop.step != 1 or len(loop.lower) != 1 or len(loop.upper) != 1:
        return None
    length = minus(loop.upper[0], loop.lower[0])
    return None if length.terms else max(0, length.constant)


def divisor_of(loop: For) -> int:
    """Returns a number that divides the trip count of a loop of step 1; 1 if no other is known."""
    if loop.step != 1 or len(loop.lower) != 1 or len(loop.upper) != 1:
        return 1
    length = minus(loop.upper[0], loop.lower[0])
    return gcd(length.constant, *(factor for _, factor in length.terms)) or 1


def kinds_of(program: LoopProgram) -> dict[str, Kind]:
    """Returns the kind of each register."""
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
    """A register's LLVM value: `<1 x T>`, or with `varying` a vector of the loop's lanes, or with `is_word` a plain i64.

    `literal`: a constant, whose text is the same for any number of lanes."""

    text: str
    height: int
    varying: bool = False
    is_word: bool = False
    literal: str = ""

    @property
    def number(self) -> int | None:
        """The value of a word that is a constant."""
        return int(self.text) if self.is_word and self.text.isdigit() else None


@dataclass(slots=True)
class InsertionPoint:
    """A preheader or the top of a loop's body: distinct `lines` to be inserted at line `hole`, and induction pointers."""

    hole: int
    counter: str = ""
    lines: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    pointers: dict[tuple[str, str], str] = field(default_factory=dict)
    """Induction variables of type `<1 x ptr>` by (address at counter 0, stride in bytes)."""


class Registers:
    """The LLVM values of registers at the current point of the text.

    `lanes`: lanes of the loop that is printed now, of which `mask` (an LLVM value; empty: all) are active; `vector_index`: the
    index of that loop, whose register holds the first lane's value.
    """

    def __init__(self, program: LoopProgram) -> None:
        self.w = IrBuilder()
        self.kinds = kinds_of(program)
        self.values: dict[str, RegisterValue] = {}
        self.places: list[InsertionPoint] = []
        self.lanes = 1
        self.vector_index, self.mask = "", ""

    # ------------------------------------------------------------------------------------------- insertion points

    def open(self, counter: str = "") -> None:
        """Opens an insertion point; `counter`: the index of the loop whose body begins here."""
        self.places.append(InsertionPoint(self.w.hole(), counter))

    def close(self) -> None:
        preheader = self.places.pop()
        self.w.lines[preheader.hole] = "\n".join(preheader.lines)

    def stepping(self, counter: str, height: int, base: str, distance: str) -> str | None:
        """Returns a pointer that advances `distance` bytes per step of a loop's counter (strength reduction).

        `height`: that of the base.  None if the base is not known before the loop.
        """
        top = self.values[counter].height
        if height >= top or top >= len(self.places) or self.places[top].counter != counter:
            return None
        pointers = self.places[top].pointers
        name = pointers.get((base, distance)) or pointers.setdefault((base, distance), self.w.fresh())
        return self.let(top, f"extractelement <1 x ptr> {name}, i64 0")

    @property
    def here(self) -> int:
        """The height of a value that is written at the current point."""
        return len(self.places)

    def let(self, height: int, text: str) -> str:
        """Returns the name of an instruction whose operands are known at a height; it is written once, at that insertion
        point."""
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
        """Defines the value of a register from the current point on."""
        self.values[name] = RegisterValue(text, self.here, varying=varying)

    def define_word(self, name: str, text: str, height: int) -> None:
        self.values[name] = RegisterValue(text, height, is_word=True)

    def word(self, name: str) -> str:
        """The value of a register that is uniform over the lanes, as a plain i64."""
        value = self.values[name]
        return value.text if value.is_word else self.let(value.height, f"extractelement <1 x i64> {value.text}, i64 0")

    def scalar(self, name: str) -> str:
        """The value of a register that is uniform over the lanes, as `<1 x T>`."""
        value = self.values[name]
        if not value.is_word:
            return value.text
        return value.literal or self.let(value.height, f"insertelement <1 x i64> poison, i64 {value.text}, i64 0")

    def truth(self, name: str) -> str:
        """A condition that is uniform over the lanes, as a plain i1."""
        return self.w.let(f"extractelement <1 x i1> {self.scalar(name)}, i64 0")

    def vector(self, name: str) -> str:
        """The value of a register as a vector over all lanes."""
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
        """A number broadcast to all lanes."""
        type = f"<{self.lanes} x {COMPUTED[kind]}>"
        first = self.let(height, f"insertelement {type} poison, {COMPUTED[kind]} {one}, i64 0")
        return self.let(height, f"shufflevector {type} {first}, {type} poison, <{self.lanes} x i32> zeroinitializer")

    @property
    def mask_type(self) -> str:
        return f"<{self.lanes} x i1>"

    def present(self, condition: str | None) -> str:
        """Returns the mask of the active lanes in which a condition holds; empty for all lanes."""
        if condition is None:
            return self.mask
        held = self.vector(condition)
        return self.w.let(f"and {self.mask_type} {held}, {self.mask}") if self.mask else held

    def differs(self, name: str | None) -> bool:
        """Returns whether a register has a value per lane."""
        return name is not None and self.lanes > 1 and (name == self.vector_index or self.values[name].varying)

    def varies(self, index: Index) -> bool:
        return any(self.differs(name) for name, _ in index.terms)

    def even(self, index: Index) -> Index:
        """Returns the terms of an index that are uniform over the lanes."""
        return Index(tuple(t for t in index.terms if not self.differs(t[0])), index.constant)


# ------------------------------------------------------------------------------------------ argument layout
#
# The argument block of a kernel, an array of 64-bit words in this order:
#
# - the parameters;
# - for each view its base and its strides in bytes, without a last stride of one item.  Scratch of a constant shape is on the
#   function's own stack instead, if the program has no calls;
# - if there are calls: a callback `i64 (i64)` that runs the routine whose call number (program order) it is passed; then for each
#   call the address and the sizes of each box, and the call's numbers;
# - the failure record: the values, and, if the program is run in ranges, the iteration of its outermost loop.

def words_of(program: LoopProgram) -> int:
    """Returns the length of a program's argument block in words."""
    return calls_at(program)[-1] + MOST_VALUES + runs_in_ranges(program)


def runs_in_ranges(program: LoopProgram) -> bool:
    """Returns whether the caller passes ranges of the outermost loop's iterations (parameter `first`)."""
    return program.parameters[:1] == ("first",)


def calls_at(program: LoopProgram) -> list[int]:
    """Returns the offset of each call's words, then that of the failure record; the word before the first is the callback."""
    calls = calls_of(program)
    passed = [view for view in program.views if not is_own(program, view)]
    places = [len(program.parameters) + sum(1 + strides_of(view) for view in passed) + bool(calls)]
    for call in calls:
        sizes = sum(size is not None for box in call.boxes for size in box.shape)
        places.append(places[-1] + len(call.boxes) + sizes + len(call.numbers))
    return places


def is_own(program: LoopProgram, view: View) -> bool:
    """Returns whether a view is on the function's stack; not in programs with calls, since their routines use that memory too."""
    return view.private and not any(length.terms for length in view.shape) and not calls_of(program)


def strides_of(view: View) -> int:
    """Returns how many strides of a view are in the argument block."""
    return len(view.shape) - (view.unit and bool(view.shape))


def calls_of(program: LoopProgram) -> list[Call]:
    """Returns the calls in program order."""
    return [statement for statement in walk(program.body) if isinstance(statement, Call)]
