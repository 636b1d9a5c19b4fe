"""A reference interpreter of loop programs, one item at a time, for tests.

`run` takes the semantics of scalar functions as an argument (`ScalarMeaning`), which is the reference's in `running`.  Undefined
behaviour (an item outside its view, use of SCRATCH that nothing wrote, an index
beyond i64) raises `Undefined`.  `order` permutes the iterations of PARALLEL and VECTOR loops, on which no result may depend.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, Protocol, TypeAlias

from rho.backend.loopir.ir import (
    Apply,
    Box,
    Call,
    Carried,
    ConstantStatement,
    Fail,
    For,
    If,
    Index,
    IndexStatement,
    Load,
    LoopKind,
    LoopProgram,
    Statement,
    Store,
    View,
    ViewRole,
    scan_reductions,
)
from rho.backend.loopir.text import literal_value
from rho.backend.lower.loop_order import LANES
from rho.lang.support.records import dataclass
from rho.typechecker.elements import Kind, is_exact_in_any_order

Payload: TypeAlias = bool | int | float | complex | str


class ScalarMeaning(Protocol):
    """Evaluates `function` on items of kind `kind`; raises `Failed` where a checked function fails."""

    def __call__(self, function: str, kind: Kind, args: Sequence[Payload], result: Kind, parameter: int, /) -> Payload: ...


Items: TypeAlias = tuple[tuple[int, ...], Sequence[Any]]
"""The shape of a box, and its items."""


class Routines(Protocol):
    """Runs routine number `routine`: from the items of each box that it reads, the shapes of those that it writes, and its
    numbers, to the items of each box that it writes.  Items are in row-major order, None where nothing was written."""

    def __call__(self, routine: int, reads: Sequence[Items], writes: Sequence[tuple[int, ...]], numbers: Sequence[int], /
                 ) -> Sequence[Sequence[Any]]: ...  # fmt: skip


class Failed(Exception):
    """A checked function has no result for its arguments."""


class Undefined(Exception):
    """The program has undefined behaviour."""


@dataclass(frozen=True, slots=True)
class FailureRecord:
    """The record of a failed check: its number, its values, and the indices of the loops around it."""

    check: int
    values: tuple[Payload, ...]
    indices: tuple[int, ...]


class _FailedCheck(Exception):
    def __init__(self, record: FailureRecord) -> None:
        self.record = record


_UNWRITTEN = object()
"""The value of unwritten scratch; a program may discard it by `select`, and must not use it otherwise."""


def forwards(iterations: Sequence[int]) -> Sequence[int]:
    return iterations


def run(
    program: LoopProgram,
    parameters: Mapping[str, int],
    arrays: Mapping[str, Any],
    meaning: ScalarMeaning,
    order: Callable[[Sequence[int]], Sequence[int]] = forwards,
    routines: Routines | None = None,
) -> FailureRecord | None:
    """Run a program on NumPy arrays, by view name; arrays of OUTPUT views are updated.

    Returns the record of the failed check that ended it, or None."""
    machine = _LoopInterpreter(program, parameters, arrays, meaning, order, routines)
    record: FailureRecord | None = None
    try:
        machine.block(program.body)
    except _FailedCheck as leave:
        record = leave.record
    for view in program.views:
        if view.role is ViewRole.OUTPUT:
            items = machine.memory[view.name]
            arrays[view.name].flat = [ord(item) if view.kind is Kind.CHAR else item for item in items]
    return record


class _LoopInterpreter:
    def __init__(self, program: LoopProgram, parameters: Mapping[str, int], arrays: Mapping[str, Any], meaning: ScalarMeaning,
                 order: Callable[[Sequence[int]], Sequence[int]], routines: Routines | None) -> None:  # fmt: skip
        self.program, self.meaning, self.order, self.routines = program, meaning, order, routines
        self.registers: dict[str, Any] = {name: parameters[name] for name in program.parameters}
        self.around: list[int] = []
        self.views = {view.name: view for view in program.views}
        self.shapes = {view.name: tuple(map(self.form, view.shape)) for view in program.views}
        self.memory: dict[str, list[Any]] = {}
        for view in program.views:
            if view.role is ViewRole.SCRATCH:
                self.empty(view)
                continue
            if arrays[view.name].shape != self.shapes[view.name]:
                raise Undefined(f"{view.name} has shape {arrays[view.name].shape}, not {self.shapes[view.name]}")
            self.memory[view.name] = [_item(view.kind, item) for item in arrays[view.name].ravel().tolist()]

    def empty(self, view: View) -> None:
        self.memory[view.name] = [_UNWRITTEN] * prod(self.shapes[view.name])

    def value(self, name: str) -> Any:
        value = self.registers[name]
        if value is _UNWRITTEN:
            raise Undefined(f"{name} is used, and nothing was written where it was loaded")
        return value

    def holds(self, condition: str | None) -> bool:
        return condition is None or bool(self.value(condition))

    def form(self, form: Index) -> int:
        value = form.constant + sum(self.value(name) * coefficient for name, coefficient in form.terms)
        if not -(2**63) <= value < 2**63:
            raise Undefined(f"{value} is not an i64")
        return int(value)

    def offset(self, access: Load | Store) -> int:
        """The row-major offset in its view of the item that is accessed."""
        offset = 0
        indices = tuple(map(self.form, access.indices))
        shape = self.shapes[access.view]
        if len(indices) != len(shape) or not all(0 <= i < size for i, size in zip(indices, shape, strict=True)):
            raise Undefined(f"{access.view}{list(indices)} of shape {shape}")
        for i, size in zip(indices, shape, strict=True):
            offset = offset * size + i
        return offset

    def block(self, body: tuple[Statement, ...]) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, statement: Statement) -> None:
        registers = self.registers
        match statement:
            case ConstantStatement(name, kind, bits):
                registers[name] = literal_value(kind, bits)
            case IndexStatement(name, form):
                registers[name] = self.form(form)
            case Apply():
                registers[statement.name] = self.apply(statement)
            case Load():
                registers[statement.name] = self.load(statement)
            case Store():
                if self.program_view(statement).role is ViewRole.INPUT:
                    raise Undefined(f"{statement.view} is only read")
                if self.holds(statement.mask):
                    self.store(statement)
            case Fail(check, condition, values):
                if self.holds(condition):
                    raise self.leave(check, values)
            case Call():
                self.call(statement)
            case For():
                self.loop(statement)
            case If(condition, then, otherwise, results):
                chosen = self.holds(condition)
                self.block(then if chosen else otherwise)
                for result in results:
                    registers[result.name] = registers[result.then if chosen else result.otherwise]

    def program_view(self, access: Load | Store) -> View:
        return self.views[access.view]

    def apply(self, statement: Apply) -> Payload:
        if statement.function == "select":
            condition, then, otherwise = statement.args
            return self.registers[then if self.holds(condition) else otherwise]  # type: ignore[no-any-return]
        values = [self.value(name) for name in statement.args]
        try:
            return self.meaning(statement.function, statement.compute, values, statement.kind, statement.parameter)
        except Failed:
            if statement.check < 0:
                raise Undefined(f"{statement.name} fails without a check") from None
            raise self.leave(statement.check, statement.args) from None

    def load(self, statement: Load) -> Any:
        if not self.holds(statement.mask):
            return _item(self.program_view(statement).kind, 0)
        return self.memory[statement.view][self.offset(statement)]

    def store(self, statement: Store) -> None:
        items, offset, value = self.memory[statement.view], self.offset(statement), self.value(statement.value)
        if statement.join is not None:
            if items[offset] is _UNWRITTEN:
                raise Undefined(f"{statement.view} is joined to, and nothing was written there")
            kind = self.program_view(statement).kind
            value = self.meaning(statement.join, kind, [items[offset], value], kind, 0)
        items[offset] = value

    def box(self, box: Box) -> tuple[tuple[int, ...], list[int]]:
        """The shape of a box, and the offsets of its items in the view."""
        view, places, shape = self.shapes[box.view], [0], list[int]()
        for first, size, length in zip(box.start, box.shape, view, strict=True):
            start, count = self.form(first), 1 if size is None else self.form(size)
            shape += [] if size is None else [count]
            if start < 0 or count < 0 or start + count > length:
                raise Undefined(f"items {start} to {start + count} of an axis of {box.view} of length {length}")
            places = [outer * length + i for outer in places for i in range(start, start + count)]
        return tuple(shape), places

    def call(self, call: Call) -> None:
        if self.routines is None:
            raise Undefined("a call without routines")
        given: list[Items] = []
        for box in call.reads:
            shape, places = self.box(box)
            items = [self.memory[box.view][offset] for offset in places]
            given.append((shape, [None if item is _UNWRITTEN else item for item in items]))
        targets = [self.box(box) for box in call.writes]
        try:
            results = self.routines(call.routine, given, [shape for shape, _ in targets], list(map(self.form, call.numbers)))
        except Failed:
            raise self.leave(-1, ()) from None
        for box, (_, places), written in zip(call.writes, targets, results, strict=True):
            for offset, item in zip(places, written, strict=True):
                self.memory[box.view][offset] = _UNWRITTEN if item is None else item

    def leave(self, check: int, values: tuple[str, ...]) -> _FailedCheck:
        return _FailedCheck(FailureRecord(check, tuple(map(self.value, values)), tuple(self.around)))

    def loop(self, loop: For) -> None:
        registers = self.registers
        iterations: Sequence[int] = range(max(map(self.form, loop.lower)), min(map(self.form, loop.upper)), loop.step)
        if loop.kind is not LoopKind.SERIAL and not scan_reductions(loop):
            iterations = self.order(iterations)
        values = [registers[c.initial] for c in loop.carried]
        ordered = [c.reduction is not None and not is_exact_in_any_order(c.reduction, c.kind) for c in loop.carried]
        items: list[dict[int, Any]] = [{} for _ in loop.carried]
        for i in iterations:
            registers[loop.index] = i
            if loop.kind is LoopKind.PARALLEL:
                for view in self.program.views:
                    if view.private:
                        self.empty(view)
            for c, value in zip(loop.carried, values, strict=True):
                registers[c.inside] = value
            self.around.append(i)
            self.block(loop.body)
            self.around.pop()
            values = [registers[c.yielded] for c in loop.carried]
            joins = {s.name: s.args[-1] for s in loop.body if isinstance(s, Apply)} if any(ordered) else {}
            for c, joined_items, is_ordered in zip(loop.carried, items, ordered, strict=True):
                if is_ordered:
                    joined_items[i] = registers[joins[c.yielded]]
            if loop.until is not None and self.holds(loop.until):
                break
        for c, value, joined_items, is_ordered in zip(loop.carried, values, items, ordered, strict=True):
            registers[c.result] = self.halved(c, joined_items) if is_ordered else value

    def halved(self, carried: Carried, items: dict[int, Any]) -> Any:
        """The items, by lane, combined in the order of sums."""
        half = LANES // 2
        while half:
            for lane in range(half):
                if lane + half in items:
                    pair = [items[lane], items.pop(lane + half)]
                    items[lane] = self.meaning(carried.reduction or "", carried.kind, pair, carried.kind, 0)
            half //= 2
        return items[0]


def _item(kind: Kind, item: Any) -> Any:
    if kind is Kind.BOOL:
        return bool(item)
    if kind is Kind.CHAR:
        return chr(item)
    return float(item) if kind.is_float else item
