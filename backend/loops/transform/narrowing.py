"""Narrowing: whole numbers of known small range are computed, and kept in scratch, in narrow kinds.

Sums of truth values, digits and bytes are i64 in the language.  Values that flow into each other, through arithmetic, comparisons
and scratch, are one *group*; where every value of a group fits u8 or i32, it is computed there, exactly, up to eight times as
many to a vector, and widened only where something wide reads it.  What is carried, counts, or is an index stays as it is.

Neighbours: `forwarding`, `contracting` (before it: scratch that stays), `llvm.lanes` (lanes follow from the kinds of a loop).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from ....typechecker.elements import Kind
from ...kernels.narrowing import ARITHMETIC, COMPARISONS, SOURCES, Range, combined, narrowest
from ..ir import Apply, Call, Constant, Load, Program, Role, Statement, Store, blocks, uses, walk
from .rewriting import Names, rebuilt

_MOST: Final = 1 << 40
_PASSES: Final = 3
"""Scratch that is computed of other scratch."""


def run(program: Program) -> Program:
    """Narrow what can be narrow."""
    narrowing = _Narrowing(program)
    return narrowing.narrowed() if narrowing.kinds else program


class _Narrowing:
    def __init__(self, program: Program) -> None:
        self.program, self.names = program, Names(program)
        called = {box.view for s in walk(program.body) if isinstance(s, Call) for box in s.boxes}
        self.scratch = {
            view.name for view in program.views
            if view.role is Role.SCRATCH and view.kind is Kind.I64 and view.name not in called
        }  # fmt: skip
        self.views = {view.name: view.kind for view in program.views}
        self.ranges: dict[str, Range] = {}
        self.stored: dict[str, Range] = {}
        for _ in range(_PASSES):
            self.find_ranges()
        self.group_of: dict[str, str] = {}
        self.kinds = self.find_kinds()
        """The narrow kind of registers and views."""

    # -------------------------------------------------------------------------------------------- ranges

    def find_ranges(self) -> None:
        """What i64 registers may be, where something is known, with scratch as far as its stores are known."""
        for statement in walk(self.program.body):
            range_ = self.range_of(statement)
            if range_ is not None:
                self.ranges[statement.name] = range_  # type: ignore[union-attr]
        stored: dict[str, list[Range | None]] = {}
        for statement in walk(self.program.body):
            if isinstance(statement, Store) and statement.view in self.scratch:
                stored.setdefault(statement.view, []).append(self.ranges.get(statement.value) if statement.join is None else None)
        for view, ranges in stored.items():
            known = [own for own in ranges if own is not None]
            if len(known) == len(ranges):
                self.stored[view] = min(0, *(low for low, _ in known)), max(0, *(high for _, high in known))

    def range_of(self, statement: Statement) -> Range | None:
        match statement:
            case Constant(kind=Kind.I64, bits=bits):
                return bits, bits
            case Load(view=view):
                return self.stored.get(view)
            case Apply(function="convert", compute=source, kind=Kind.I64, args=(arg,)):
                return SOURCES.get(source) or self.ranges.get(arg)
            case Apply(function="select", compute=Kind.I64, args=(_, *args)) | Apply(compute=Kind.I64, kind=Kind.I64, args=args):
                ranges = [self.ranges[arg] for arg in args if arg in self.ranges]
                if len(ranges) < len(args):
                    return None
                if statement.function == "select":
                    return min(ranges)[0], max(high for _, high in ranges)
                if statement.function in ARITHMETIC:
                    low, high = combined(statement.function, ranges)
                    return (low, high) if low > -_MOST and high < _MOST else None
        return None

    # -------------------------------------------------------------------------------------------- groups

    def find_kinds(self) -> dict[str, Kind]:
        constants = {s.name: s.bits for s in walk(self.program.body) if isinstance(s, Constant) and s.kind is Kind.I64}
        wide = set(self.wide_uses())
        arithmetic: set[str] = set()
        beside: list[tuple[str, str]] = []
        """A member, and a constant that it meets."""
        for statement in walk(self.program.body):
            members = self.members(statement)
            own = [name for name in members if name not in constants]
            for name in own:
                self.join(own[0], name)
            if own:
                beside += [(own[0], name) for name in members if name in constants]
                if isinstance(statement, Apply) and statement.function in ARITHMETIC:
                    arithmetic.add(own[0])
        groups: dict[str, list[str]] = {}
        for name in self.group_of:
            groups.setdefault(self.group(name), []).append(name)
        ranges = {group: [self.ranges.get(name) or self.stored[name] for name in names] for group, names in groups.items()}
        for name, constant in beside:
            ranges[self.group(name)].append((constants[constant],) * 2)
        worth = {self.group(name) for name in arithmetic}
        kinds: dict[str, Kind] = {}
        for group, names in groups.items():
            kind = narrowest(ranges[group]) if group in worth and wide.isdisjoint(names) else None
            if kind is not None:
                kinds.update(dict.fromkeys(names, kind))
        return kinds

    def members(self, statement: Statement) -> list[str]:
        """Registers and scratch that a statement puts into one group."""
        match statement:
            case Apply() if statement.name in self.ranges:
                args = statement.args[1:] if statement.function == "select" else statement.args
                return [statement.name, *(() if statement.compute in SOURCES else args)]
            case Apply() if self.compares(statement):
                return list(statement.args)
            case Load() if statement.view in self.stored:
                return [statement.name, statement.view]
            case Store() if statement.view in self.stored:
                return [statement.value, statement.view]
        return []

    def compares(self, statement: Apply) -> bool:
        """Is it a comparison of numbers whose ranges are known?"""
        is_one = statement.function in COMPARISONS and statement.compute is Kind.I64
        return is_one and all(arg in self.ranges for arg in statement.args)

    def wide_uses(self) -> Iterator[str]:
        """What is read as an index, carried, or left in a record; and scratch that a constant is stored to."""
        constants = {s.name for s in walk(self.program.body) if isinstance(s, Constant)}
        for statement in walk(self.program.body):
            match statement:
                case Apply():
                    pass
                case Store():
                    yield from (name for form in statement.indices for name, _ in form.terms)
                    if statement.value in constants and statement.view in self.scratch:
                        yield statement.view
                case _:
                    yield from uses(statement)

    def group(self, name: str) -> str:
        while (above := self.group_of.setdefault(name, name)) != name:
            name = above
        return name

    def join(self, one: str, other: str) -> None:
        self.group_of[self.group(one)] = self.group(other)

    # -------------------------------------------------------------------------------------------- rewriting

    def narrowed(self) -> Program:
        self.widened: dict[str, str] = {}
        self.narrow_constants: dict[tuple[str, Kind], str] = {}
        for statement in walk(self.program.body):
            for name in self.read_wide(statement):
                if name not in self.widened:
                    self.widened[name] = self.names.fresh(name)
            if isinstance(statement, Apply) and (kind := self.kind_of(statement)) is not None:
                for arg in statement.args:
                    if arg not in self.kinds and arg in self.ranges and (arg, kind) not in self.narrow_constants:
                        self.narrow_constants[arg, kind] = self.names.fresh(arg)
        views = tuple(replace(view, kind=self.kinds.get(view.name, view.kind)) for view in self.program.views)
        return replace(self.program, body=self.block(self.program.body), views=views)

    def kind_of(self, statement: Apply) -> Kind | None:
        """The narrow kind that a statement computes in."""
        if statement.name in self.kinds:
            return self.kinds[statement.name]
        if self.compares(statement):
            return next((self.kinds[arg] for arg in statement.args if arg in self.kinds), None)
        return None

    def read_wide(self, statement: Statement) -> Iterable[str]:
        """The narrow registers that a statement reads as what they were."""
        if isinstance(statement, Apply) and self.kind_of(statement) is not None:
            return ()
        if isinstance(statement, Store) and statement.view in self.kinds:
            return ()
        return (name for name in uses(statement) if name in self.kinds)

    def block(self, body: tuple[Statement, ...]) -> tuple[Statement, ...]:
        done: list[Statement] = []
        for statement in body:
            done.append(self.statement(statement))
            match statement:
                case Constant():
                    done += [Constant(self.narrow_constants[key], key[1], statement.bits)
                             for key in self.narrow_constants if key[0] == statement.name]  # fmt: skip
                case Apply() | Load() if statement.name in self.widened:
                    wide = self.widened[statement.name]
                    done.append(Apply(wide, Kind.I64, "convert", (statement.name,), self.kinds[statement.name]))
        return tuple(done)

    def statement(self, statement: Statement) -> Statement:
        if isinstance(statement, Apply) and (kind := self.kind_of(statement)) is not None:
            args = tuple(self.narrow_constants.get((arg, kind), arg) for arg in statement.args)
            if statement.function == "convert":
                compute = kind if statement.compute is Kind.I64 else statement.compute
                return replace(statement, args=args, compute=compute, kind=kind)
            return replace(statement, args=args, compute=kind, kind=kind if statement.kind is Kind.I64 else statement.kind)
        if not blocks(statement) and not any(True for _ in self.read_wide(statement)):
            return statement
        wide = set(self.read_wide(statement))
        return rebuilt(statement, lambda name: self.widened[name] if name in wide else name, lambda form: form, self.block)
