"""Simplification by facts, propagation of index progressions, and integer narrowing.

Simplification uses the bounds of loops, conditions and facts:
  * Indices become affine in parameters, loop indices and opaque registers; affine `Apply`s become `IndexStatement`s.
  * A comparison, mask or branch with a known value is removed; so are `min`, `max`, `select` and `residue` with a known outcome,
    copies, and the combination of a value with the identity of a reduction, which does not change its bits.
  * A bound that another bound implies is removed; a loop without iterations is replaced by its initial values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from typing import Any, Final, TypeAlias

from ...lang.support.records import dataclass, replace
from ...typechecker.elements import Kind, neutral_element
from ..graph.phases import bits_of
from ..loopir.facts import Definitions, Facts, facts_of
from ..loopir.ir import (
    ONE,
    Apply,
    Call,
    Carried,
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
    ViewRole,
    blocks,
    index,
    minus,
    plus,
    substitute,
    times,
    uses,
    walk,
)
from ..lower.body import ARITHMETIC, COMPARISONS, SOURCES, Range, narrowest, range_of
from ..scalar.function_table import REDUCTIONS
from .rewriting import FreshNames, rebuilt

# ---------------------------------------------------------------------------------------------------- folding

def simplify(program: LoopProgram) -> LoopProgram:
    """Simplifies a program by the facts that hold at each statement."""
    folding = _Simplifier(program)
    body = folding.block(program.body, facts_of(program, folding.definitions))
    return program if body == program.body else replace(program, body=body)


class _Simplifier:
    def __init__(self, program: LoopProgram) -> None:
        self.definitions = Definitions(program)
        self.kinds = {view.name: view.kind for view in program.views}
        self.aliases = self.definitions.aliases
        self.joins: set[str] = set()
        """Registers that reductions yield, whose definitions must keep the form that Note [Loops] of `ir` requires."""

    def use(self, name: str) -> str:
        while name in self.aliases:  # an alias may have become aliased itself, in a further pass over a loop
            name = self.aliases[name]
        return name

    def form(self, form: Index) -> Index:
        expanded = self.definitions.expand(form)
        renamed = {name: index(self.use(name)) for name, _ in expanded.terms if name in self.aliases}
        return self.definitions.expand(substitute(expanded, renamed)) if renamed else expanded

    def block(self, body: tuple[Statement, ...], facts: Facts) -> tuple[Statement, ...]:
        """A block where `facts` hold; after a check, its condition is known to be false."""
        result: list[Statement] = []
        for statement in body:
            match statement:
                case Apply():
                    result += self.apply(statement, facts)
                case IndexStatement(name, form):
                    result += self.number(name, self.form(form))
                case Load() | Store():
                    result += self.access(statement, facts)
                case Fail(_, condition, _):
                    if facts.truth_of(condition) is not False:
                        result.append(self.substituted(statement))
                    facts = facts.assuming(condition, False)
                case For():
                    result += self.loop(statement, facts)
                case If():
                    result += self.branch(statement, facts)
                case Call():
                    result.append(self.substituted(statement))
                case _:
                    result.append(statement)
        return tuple(result)

    def substituted(self, statement: Statement) -> Statement:
        return rebuilt(statement, self.use, self.form, lambda body: body)

    # ------------------------------------------------------------------------------------------ scalars

    def number(self, name: str, form: Index) -> list[Statement]:
        if len(form.terms) == 1 and form.terms[0][1] == 1 and not form.constant:
            self.definitions.add_alias(name, form.terms[0][0])
            return []
        return [IndexStatement(name, form)]

    def constant(self, name: str, kind: Kind, bits: int) -> list[Statement]:
        constant = ConstantStatement(name, kind, bits)
        self.definitions.add((constant,))
        return [constant]

    def apply(self, node: Apply, facts: Facts) -> list[Statement]:
        if node.name in self.joins:
            return [self.substituted(node)]
        affine = self.definitions.forms.get(node.name)
        if affine is not None:
            return self.number(node.name, self.form(affine))
        if node.kind is Kind.BOOL and node.compute in (Kind.I64, Kind.BOOL):
            value = facts.truth_of(node.name)
            if value is not None:
                return self.constant(node.name, Kind.BOOL, int(value))
        chosen = self.equal_operand(node, facts)
        if chosen is not None:
            self.definitions.add_alias(node.name, chosen)
            return []
        if node.function == "residue" and node.kind is Kind.I64:
            size, dividend = map(self.definitions.form, node.args)
            for multiple in (0, 1, -1):
                shifted = plus(dividend, times(size, multiple))
                if facts.proves(shifted) and facts.proves(minus(minus(size, shifted), ONE)):
                    self.definitions.forms[node.name] = self.definitions.expand(shifted)
                    return self.number(node.name, self.form(shifted))
        return [self.substituted(node)]

    def equal_operand(self, node: Apply, facts: Facts) -> str | None:
        """The operand that an application is known to equal; None if there is none."""
        args = node.args
        match node.function:
            case "select":
                value = facts.truth_of(args[0])
                if value is not None:
                    return args[1] if value else args[2]
                return args[1] if self.use(args[1]) == self.use(args[2]) else None
            case "min" | "max" if node.kind is Kind.I64:
                difference = minus(*map(self.definitions.form, args))
                for left, sign in ((False, 1), (True, -1)):
                    if facts.proves(times(difference, sign)):
                        return args[0] if (node.function == "min") is left else args[1]
            case "and" | "or":
                for operand, other in (args, args[::-1]):
                    if facts.truth_of(operand) is (node.function == "and") or self.use(operand) == self.use(other):
                        return other
            case "convert" if node.kind is node.compute:
                return args[0]
            case function if function in REDUCTIONS:
                nothing = bits_of(node.compute, neutral_element(function, node.compute))
                for operand, other in (args, args[::-1]):
                    if self.definitions.of.get(self.use(operand)) == ConstantStatement(self.use(operand), node.compute, nothing):
                        return other
        return None

    def access(self, node: Load | Store, facts: Facts) -> list[Statement]:
        present = True if node.mask is None else facts.truth_of(node.mask)
        if present is False:
            return self.constant(node.name, self.kinds[node.view], 0) if isinstance(node, Load) else []
        return [self.substituted(replace(node, mask=None) if present else node)]

    # ------------------------------------------------------------------------------------------ blocks

    def branch(self, node: If, facts: Facts) -> list[Statement]:
        value = facts.truth_of(node.condition)
        if value is not None:
            arm = self.block(node.then if value else node.otherwise, facts)
            for chosen in node.results:
                self.definitions.add_alias(chosen.name, chosen.then if value else chosen.otherwise)
            return list(arm)
        then = self.block(node.then, facts.assuming(node.condition))
        otherwise = self.block(node.otherwise, facts.assuming(node.condition, False))
        results = []
        for chosen in node.results:
            arms = self.use(chosen.then), self.use(chosen.otherwise)
            if arms[0] == arms[1]:
                self.definitions.add_alias(chosen.name, arms[0])
            else:
                results.append(replace(chosen, then=arms[0], otherwise=arms[1]))
        return [If(self.use(node.condition), then, otherwise, tuple(results))]

    def unchanged(self, carried: tuple[Carried, ...]) -> tuple[Carried, ...]:
        """The carried values that never change."""
        return tuple(c for c in carried if self.use(c.yielded) in (c.inside, self.use(c.initial)))

    def loop(self, loop: For, facts: Facts) -> list[Statement]:
        lower, upper = tuple(map(self.form, loop.lower)), tuple(map(self.form, loop.upper))
        if any(facts.proves(minus(low, high)) for low in lower for high in upper):
            for carried in loop.carried:
                self.definitions.add_alias(carried.result, carried.initial)
            return []
        lower = _without_implied(lower, lambda low, other: facts.proves(minus(other, low)))
        upper = _without_implied(upper, lambda high, other: facts.proves(minus(high, other)))
        self.joins.update(c.yielded for c in loop.carried if c.reduction is not None)
        changing, still = loop.carried, self.unchanged(loop.carried)
        while True:
            for same in still:
                self.definitions.add_alias(same.inside, same.initial)
                self.definitions.add_alias(same.result, same.initial)
            changing = tuple(c for c in changing if c not in still)
            body = self.block(loop.body, facts.in_iteration(loop))
            still = self.unchanged(changing)
            if not still:
                break
        values = tuple(replace(c, initial=self.use(c.initial), yielded=self.use(c.yielded)) for c in changing)
        until = None if loop.until is None else self.use(loop.until)
        return [For(loop.index, lower, upper, loop.kind, body, values, until, loop.step)]


def _without_implied(bounds: tuple[Index, ...], is_implied: Callable[[Index, Index], bool]) -> tuple[Index, ...]:
    """The bounds that no other bound implies."""
    needed = list(dict.fromkeys(bounds))
    for bound in tuple(needed):
        if any(other is not bound and is_implied(bound, other) for other in needed):
            needed.remove(bound)
    return tuple(needed)


# ----------------------------------------------------------------------------------------- arithmetic progressions
#
# Arithmetic progressions: items of index vectors that count up or down are computed instead of loaded; so are scalar indices.
#
# A loaded index is data: it has no bounds, and what it reads is a gather.  Most index vectors of array programs are `⍳n`, `k+⍳n`
# and their reversals, and most scalar indices are small, or close to a size.  The caller of the program inspects the data and
# specializes the program, which is then correct for such indices only.

class Direction(Enum):
    """UP: item i is first + i.  DOWN: it is first + length - 1 - i."""

    UP = 1
    DOWN = -1


@dataclass(frozen=True, slots=True)
class Progression:
    first: int
    direction: Direction = Direction.UP

    def item(self, position: Index, length: Index) -> Index:
        """The item at a position, as an index expression."""
        up = position if self.direction is Direction.UP else minus(minus(length, ONE), position)
        return plus(up, Index((), self.first))


KnownIndices: TypeAlias = Progression | Index
"""The contents of a view of rank 1 (a progression) or of rank 0 (an index)."""


_MAX_INDICES: Final = 1 << 14
_MAX_FIRST_INDEX: Final = 8
"""The greatest length and first item of index vectors that are recognised as progressions."""


def progression(array: Any) -> Progression | None:
    """The arithmetic progression that a NumPy index vector is; None if it is none."""
    if array.dtype != "i8" or array.ndim != 1 or not 2 <= array.size <= _MAX_INDICES:
        return None
    step, least = int(array[1]) - int(array[0]), min(int(array[0]), int(array[-1]))
    if abs(step) != 1 or not 0 <= least < _MAX_FIRST_INDEX:
        return None
    return Progression(least, Direction(step)) if (array[1:] - array[:-1] == step).all() else None


def single_index(item: int, sizes: Mapping[str, int]) -> Index | None:
    """The index as a small constant, or as a size minus a small constant; None if it is neither."""
    if 0 <= item < _MAX_FIRST_INDEX:
        return Index((), item)
    below = [(size - item, name) for name, size in sizes.items() if 0 <= size - item < _MAX_FIRST_INDEX]
    return Index(((min(below)[1], 1),), -min(below)[0]) if below else None


def scalar_index_views(program: LoopProgram) -> tuple[str, ...]:
    """The input views of rank 0 whose item is used in an index."""
    views = {view.name for view in program.views if view.kind is Kind.I64 and not view.shape and view.role is ViewRole.INPUT}
    loaded = {s.name: s.view for s in walk(program.body) if isinstance(s, Load) and s.view in views}
    used = {name for s in walk(program.body) if isinstance(s, Load | Store | IndexStatement) for name in uses(s)}
    return tuple(dict.fromkeys(view for name, view in loaded.items() if name in used))


def propagate_progressions(program: LoopProgram, known: Mapping[str, KnownIndices]) -> LoopProgram:
    """The program specialized for i64 views with known contents, by name."""
    if not known:
        return program
    computing = _ProgressionPropagation(program, known)
    return replace(program, body=computing.block(program.body))


class _ProgressionPropagation:
    def __init__(self, program: LoopProgram, known: Mapping[str, KnownIndices]) -> None:
        self.known, self.names = known, FreshNames(program)
        self.lengths = {view.name: view.shape[0] for view in program.views if view.shape}

    def block(self, body: tuple[Statement, ...]) -> tuple[Statement, ...]:
        done: list[Statement] = []
        for statement in body:
            match statement:
                case Load() if statement.view in self.known:
                    done += self.load(statement)
                case For():
                    done.append(replace(statement, body=self.block(statement.body)))
                case If(_, then, otherwise, _):
                    done.append(replace(statement, then=self.block(then), otherwise=self.block(otherwise)))
                case _:
                    done.append(statement)
        return tuple(done)

    def load(self, load: Load) -> list[Statement]:
        item = self.known[load.view]
        if isinstance(item, Progression):
            item = item.item(load.indices[0], self.lengths[load.view])
        if load.mask is None:
            return [IndexStatement(load.name, item)]
        value, nothing = self.names.fresh("item"), self.names.fresh("nothing")
        chosen = Apply(load.name, Kind.I64, "select", (load.mask, value, nothing), Kind.I64)
        return [IndexStatement(value, item), ConstantStatement(nothing, Kind.I64, 0), chosen]


# -------------------------------------------------------------------------------------------- integer narrowing
#
# Integer narrowing by value ranges, in registers and in scratch.
#
# Sums of booleans, digits and bytes are i64 in the language.  Values that flow into each other, through arithmetic, comparisons
# and scratch, form a *group*; if every value of a group fits u8 or i32, it is computed in that kind, exactly, with up to eight
# times as many lanes, and widened only where a wide operation reads it.  Carried values and indices stay wide.

_PASSES: Final = 3
"""Passes over the program: one per scratch view that depends on another."""


def narrow_integers(program: LoopProgram) -> LoopProgram:
    """Computes each group of integers that fit a narrow kind in that kind."""
    narrowing = _Narrowing(program)
    return narrowing.narrowed() if narrowing.kinds else program


class _Narrowing:
    def __init__(self, program: LoopProgram) -> None:
        self.program, self.names = program, FreshNames(program)
        called = {box.view for s in walk(program.body) if isinstance(s, Call) for box in s.boxes}
        self.scratch = {
            view.name for view in program.views
            if view.role is ViewRole.SCRATCH and view.kind is Kind.I64 and view.name not in called
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
        """Computes the value ranges of i64 registers and of scratch, as far as they can be bounded."""
        for statement in walk(self.program.body):
            range_ = self.range_of(statement)
            if range_ is not None:
                self.ranges[statement.name] = range_  # type: ignore[union-attr]
        stored: dict[str, list[Range | None]] = {}
        for statement in walk(self.program.body):
            if isinstance(statement, Store) and statement.view in self.scratch:
                stored.setdefault(statement.view, []).append(self.ranges.get(statement.value) if statement.join is None else None)
        for view, ranges in stored.items():
            known = [limits for limits in ranges if limits is not None]
            if len(known) == len(ranges):
                self.stored[view] = min(0, *(low for low, _ in known)), max(0, *(high for _, high in known))

    def range_of(self, statement: Statement) -> Range | None:
        match statement:
            case ConstantStatement(kind=Kind.I64, bits=bits):
                return bits, bits
            case Load(view=view):
                return self.stored.get(view)
            case Apply(function=function, compute=compute, kind=kind, args=args):
                return range_of(function, compute, kind, [self.ranges.get(arg) for arg in args])
        return None

    # -------------------------------------------------------------------------------------------- groups

    def find_kinds(self) -> dict[str, Kind]:
        constants = {s.name: s.bits for s in walk(self.program.body) if isinstance(s, ConstantStatement) and s.kind is Kind.I64}
        wide = set(self.wide_uses())
        arithmetic: set[str] = set()
        meetings: list[tuple[str, str]] = []
        """Pairs of a member and a constant that one operation combines."""
        for statement in walk(self.program.body):
            members = self.members(statement)
            variables = [name for name in members if name not in constants]
            for name in variables:
                self.join(variables[0], name)
            if variables:
                meetings += [(variables[0], name) for name in members if name in constants]
                if isinstance(statement, Apply) and statement.function in ARITHMETIC:
                    arithmetic.add(variables[0])
        groups: dict[str, list[str]] = {}
        for name in self.group_of:
            groups.setdefault(self.group(name), []).append(name)
        ranges = {group: [self.ranges.get(name) or self.stored[name] for name in names] for group, names in groups.items()}
        for name, constant in meetings:
            ranges[self.group(name)].append((constants[constant],) * 2)
        worth = {self.group(name) for name in arithmetic}
        kinds: dict[str, Kind] = {}
        for group, names in groups.items():
            kind = narrowest(ranges[group]) if group in worth and wide.isdisjoint(names) else None
            if kind is not None:
                kinds.update(dict.fromkeys(names, kind))
        return kinds

    def members(self, statement: Statement) -> list[str]:
        """The registers and scratch views that a statement puts into one group."""
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
        """Is the statement a comparison of numbers whose ranges are known?"""
        is_one = statement.function in COMPARISONS and statement.compute is Kind.I64
        return is_one and all(arg in self.ranges for arg in statement.args)

    def wide_uses(self) -> Iterator[str]:
        """Registers that are used as an index, carried, or reported in a failure; and scratch that a constant is stored to."""
        constants = {s.name for s in walk(self.program.body) if isinstance(s, ConstantStatement)}
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

    def narrowed(self) -> LoopProgram:
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
        """The narrow registers that a statement needs in their original width."""
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
                case ConstantStatement():
                    done += [ConstantStatement(self.narrow_constants[key], key[1], statement.bits)
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
