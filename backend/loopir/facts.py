"""Definitions and affine facts of the registers of a loop program, proofs from them, and estimates of iterations.

Note [Numbers].  Sizes and loop indices are below 2**52 in magnitude, so additions and small multiples of them are exact in i64:
an `Apply` of `add`, `sub`, `neg` or `mul` on them is an affine form, as an `IndexStatement` is.  Arithmetic on data may wrap, and
is opaque.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from functools import partial
from math import gcd, prod
from typing import Final, TypeAlias

from ...lang.support.records import dataclass
from ...typechecker.elements import ArrayType, Kind
from ...typechecker.sizes.polynomials import Size
from ...typechecker.sizes.size import upper_bound
from ..graph import traverse
from ..graph.phases import (
    ApplyNode,
    AxisKind,
    Branch,
    Fold,
    LibraryPhase,
    Loop,
    Map,
    Phase as AnyPhase,
    Structured,
    SubGraph,
    ValueId,
)
from ..scalar.function_table import TRANSCENDENTAL
from .ir import (
    ONE,
    Apply,
    ConstantStatement,
    Fail,
    For,
    If,
    Index,
    IndexStatement,
    Load,
    LoopProgram,
    Statement,
    coefficient,
    index,
    linear_combination,
    minus,
    normalised,
    plus,
    substitute,
    times,
    walk,
)

# ---------------------------------------------------------------------------------------------------- definitions

_MOST_COEFFICIENTS: Final = 1 << 10
_COMPARED: Final = ("lt", "le", "eq", "ge", "gt", "ne")


class Definitions:
    """The definitions of all registers, from one walk over a program.

    `rank`: their order of definition.  `forms`: affine registers in terms of parameters, loop indices and opaque registers.
    `of`: the statement that defines a register.  `aliases`: registers that equal another one (`add_alias`)."""

    def __init__(self, program: LoopProgram) -> None:
        self.rank: dict[str, int] = {}
        self._count = 0
        self.forms: dict[str, Index] = {}
        self.of: dict[str, Statement] = {}
        self.aliases: dict[str, str] = {}
        self._bounded = set(program.parameters)
        self._kinds = {view.name: view.kind for view in program.views}
        for name in program.parameters:
            self._number(name)
        self._alternating: dict[str, tuple[int, int]] = {}
        self.add(program.body)

    def add(self, body: tuple[Statement, ...]) -> None:
        """Adds the definitions of further statements, which may use those that are already there."""
        loops: list[For] = []
        for statement in walk(body):
            self._add(statement)
            if isinstance(statement, For) and statement.carried:
                loops.append(statement)
        for loop in loops:
            self._alternate(loop)

    def _add(self, statement: Statement) -> None:
        match statement:
            case For():
                self._number(statement.index)
                self._bounded.add(statement.index)
                for carried in statement.carried:
                    self._number(carried.inside)
                    self._number(carried.result)
            case If():
                for chosen in statement.results:
                    self._number(chosen.name)
            case ConstantStatement() | IndexStatement() | Apply() | Load():
                self._number(statement.name)
                self.of[statement.name] = statement
                form = self._form(statement)
                if form is not None:
                    self.forms[statement.name] = form

    def _alternate(self, loop: For) -> None:
        """Records the carried numbers of a loop that alternate (i, s - i, i, …), where i has constant bounds."""
        for carried in loop.carried:
            following = self.form(carried.yielded)
            ends = self._ends(carried.initial) if following.terms == ((carried.inside, -1),) else None
            if ends is not None:
                low, high = min(ends[0], following.constant - ends[1]), max(ends[1], following.constant - ends[0])
                self._alternating[carried.inside] = self._alternating[carried.result] = low, high

    def alternates(self, register: str) -> bool:
        """Is the register a carried number that alternates between i and s - i?"""
        return register in self._alternating

    def _ends(self, register: str) -> tuple[int, int] | None:
        """The constant bounds of a register that follow from its definition; None if there are none."""
        form = self.form(register)
        if not form.terms:
            return form.constant, form.constant
        match self.of.get(register):
            case Apply(function="residue", kind=Kind.I64, args=(size, _)) if not self.form(size).terms:
                return (0, self.form(size).constant - 1) if self.form(size).constant > 0 else None
        return self._alternating.get(register)

    def _number(self, name: str) -> None:
        self._count += 1
        self.rank[name] = self._count

    def add_alias(self, register: str, other: str) -> None:
        """Records that a register equals another one."""
        self.aliases[register] = other = self.aliases.get(other, other)
        self.forms[register] = self.form(other)

    def form(self, register: str) -> Index:
        return self.forms.get(register) or Index(((register, 1),))

    def expand(self, form: Index) -> Index:
        """The form in terms of registers that are not affine in others."""
        return substitute(form, self.forms)

    def _form(self, statement: Statement) -> Index | None:
        match statement:
            case ConstantStatement(kind=Kind.I64, bits=bits):
                return Index((), bits)
            case IndexStatement(index=form):
                return self.expand(form)
            case Apply(kind=Kind.I64, compute=Kind.I64):
                return self._sum(statement)
        return None

    def _sum(self, node: Apply) -> Index | None:
        forms = [self.form(name) for name in node.args]
        if any(name not in self._bounded for form in forms for name, _ in form.terms):
            return None
        match node.function, forms:
            case "add", [left, right]:
                total = plus(left, right)
            case "sub", [left, right]:
                total = minus(left, right)
            case "neg", [only]:
                total = times(only, -1)
            case "mul", [left, right] if not right.terms:
                total = times(left, right.constant)
            case "mul", [left, right] if not left.terms:
                total = times(right, left.constant)
            case "convert", [only]:
                total = only
            case "min" | "max", [_, _]:
                self._bounded.add(node.name)
                return None
            case _:
                return None
        exact = sum(abs(c) for _, c in total.terms) <= _MOST_COEFFICIENTS and abs(total.constant) < 1 << 52
        return total if exact else None

    # -- opaque registers

    def alternatives(self, register: str) -> tuple[tuple[Index, str | None, bool], ...]:
        """Forms one of which an opaque register equals, as (form, condition, value): a form applies if the register `condition`
        has `value`; None means that one of several forms applies."""
        match self.of.get(register):
            case Apply(function="min" | "max", kind=Kind.I64) as node:
                return tuple((self.form(name), None, True) for name in node.args)
            case Apply(function="select", kind=Kind.I64) as node:
                condition, then, otherwise = node.args
                return (self.form(then), condition, True), (self.form(otherwise), condition, False)
        return ()

    def bounds(self, register: str) -> tuple[Index, ...]:
        """Facts about an opaque register that follow from its definition."""
        register_form = Index(((register, 1),))
        if register in self._alternating:
            low, high = self._alternating[register]
            return plus(register_form, Index((), -low)), minus(Index((), high), register_form)
        match self.of.get(register):
            case Apply(function="max", kind=Kind.I64) as node:
                return tuple(minus(register_form, self.form(name)) for name in node.args)
            case Apply(function="min", kind=Kind.I64) as node:
                return tuple(minus(self.form(name), register_form) for name in node.args)
            case Apply(function="shr", kind=Kind.I64, args=(_, value)) if not self.form(value).terms:
                constant = self.form(value).constant
                return (register_form, minus(Index((), constant), register_form)) if constant >= 0 else ()
            case Apply(function="convert" | "convert_checked", compute=Kind.BOOL):
                return register_form, minus(ONE, register_form)
            case Apply(function="convert" | "convert_checked", compute=Kind.U8):
                return register_form, minus(Index((), 255), register_form)
        return ()

    def compared(self, register: str) -> tuple[str, Index] | None:
        """The function of an integer comparison, and its left operand minus its right one; None if the register is no
        comparison."""
        match self.of.get(register):
            case Apply(compute=Kind.I64) as node if node.function in _COMPARED:
                return node.function, minus(self.form(node.args[0]), self.form(node.args[1]))
        return None


# --------------------------------------------------------------------------------------------- affine facts
#
# Affine facts about the integers of a loop program, and proofs from them.
#
# Facts are affine forms that are nonnegative.  `Facts.proves(form)` eliminates registers, the innermost first: a register with a
# positive coefficient is replaced by a lower bound, one with a negative coefficient by an upper bound.  This is exact for bounds
# of loops (the greatest of affine forms, the least of others); a fact of several inner registers is also combined with the facts
# that bound its innermost register from the other side (Fourier-Motzkin elimination), which derives the facts that hold in a body
# because it is entered.

_MOST_FACTS: Final = 16
_MOST_STEPS: Final = 600
_PRIME: Final = "′"

Condition: TypeAlias = tuple[tuple[Index, ...], ...]


def _comparison_facts(function: str, difference: Index) -> Condition:
    """The facts that a comparison of `difference` with 0 implies: alternatives, each a conjunction of facts."""
    below = plus(times(difference, -1), Index((), -1))
    above = plus(difference, Index((), -1))
    match function:
        case "lt":
            return ((below,),)
        case "le":
            return ((times(difference, -1),),)
        case "gt":
            return ((above,),)
        case "ge":
            return ((difference,),)
        case "eq":
            return ((difference, times(difference, -1)),)
        case _:
            return (below,), (above,)


def conditions(definitions: Definitions, register: str, value: bool) -> Condition:
    """The facts that hold where a comparison register has the value; no alternatives if it is not a comparison."""
    compared = definitions.compared(register)
    return () if compared is None else _comparison_facts(compared[0] if value else _OPPOSITE[compared[0]], compared[1])


_OPPOSITE: Final = {"lt": "ge", "le": "gt", "eq": "ne", "ge": "lt", "gt": "le", "ne": "eq"}


class Facts:
    """The facts that hold at a point of a program, and the known values of bool registers (`known`).

    Facts are combined lazily, at the first query."""

    __slots__ = ("_assumed", "_before", "_by", "_forms", "_unreachable", "definitions", "inner", "known")

    def __init__(
        self, definitions: Definitions, known: dict[str, bool] | None = None, before: Facts | None = None,
        forms: tuple[Index, ...] = (), *, unreachable: bool = False, inner: frozenset[str] = frozenset(),
    ) -> None:  # fmt: skip
        """Adds to the facts of `before` that `forms` are nonnegative; `unreachable`: the point is never reached."""
        self.definitions, self.known, self.inner = definitions, known or {}, inner
        self._before, self._forms = before, forms
        self._by: dict[str, tuple[Index, ...]] | None = None
        self._assumed: tuple[Index, ...] = ()
        self._unreachable = unreachable

    # -- adding

    def with_facts(self, forms: Iterable[Index]) -> Facts:
        """These facts, plus that these forms are nonnegative."""
        return Facts(self.definitions, self.known, self, tuple(forms), inner=self.inner)

    @property
    def by(self) -> dict[str, tuple[Index, ...]]:
        """Facts by their innermost register."""
        if self._by is None:
            self._combine()
        assert self._by is not None
        return self._by

    @property
    def assumed(self) -> tuple[Index, ...]:
        """The facts in the order in which they were added."""
        return self._assumed if self.by is not None else ()

    @property
    def unreachable(self) -> bool:
        """Is the point never reached?"""
        return self._unreachable if self.by is not None else False

    def _combine(self) -> None:
        added = list[Index]()
        self._by = {} if self._before is None else self._before.by  # for queries made while the new facts are combined
        if self._before is not None:
            self._assumed, self._unreachable = self._before._assumed, self._unreachable or self._before._unreachable
        if not self._forms:
            return
        by, waiting = dict(self._by), [normalised(self.definitions.expand(form)) for form in self._forms]
        while waiting:
            form = waiting.pop()
            if not form.terms:
                self._unreachable = self._unreachable or form.constant < 0
                continue
            register = self._innermost(form)
            present = by.get(register, ())
            if form in present or len(present) >= _MOST_FACTS:
                continue
            multiple = coefficient(form, register)
            for other in (*present, *self._bounds_of(register)):
                c = coefficient(other, register)
                if c * multiple < 0:
                    waiting.append(normalised(linear_combination(form, abs(c), other, abs(multiple))))
            by[register] = (*present, form)
            added.append(form)
        self._by, self._assumed = by, (*self._assumed, *added)

    def assuming(self, condition: str | None, value: bool = True) -> Facts:
        """The facts where a register is true, or false."""
        if condition is None:
            return self
        condition = self.definitions.aliases.get(condition, condition)
        if condition in self.known:
            return self if self.known[condition] is value else Facts(self.definitions, self.known, self, unreachable=True)
        facts = Facts(self.definitions, {**self.known, condition: value}, self)
        node = self.definitions.of.get(condition)
        if isinstance(node, Apply) and node.compute is Kind.BOOL:
            match node.function, value:
                case "not", _:
                    return facts.assuming(node.args[0], not value)
                case ("and", True) | ("nand", False):
                    return facts.assuming(node.args[0]).assuming(node.args[1])
                case ("or", False) | ("nor", True):
                    return facts.assuming(node.args[0], False).assuming(node.args[1], False)
        if isinstance(node, Apply) and node.function == "outside" and not value:
            item, count = map(index, node.args)
            return facts.with_facts([item, minus(minus(count, ONE), item)])
        alternatives = conditions(self.definitions, condition, value)
        if len(alternatives) > 1:
            alternatives = tuple(forms for forms in alternatives if not facts._refutes(forms))
        return facts.with_facts(alternatives[0]) if len(alternatives) == 1 else facts

    def in_iteration(self, loop: For) -> Facts:
        """The facts in an iteration of a loop."""
        counter = index(loop.index)
        lower = [minus(counter, form) for form in loop.lower]
        return self.with_facts([*lower, *(linear_combination(form, 1, plus(counter, ONE), -1) for form in loop.upper)])

    # -- asking

    def proves(self, form: Index) -> bool:
        """Do the facts imply that the form is nonnegative?"""
        return self.unreachable or self._proves(self.definitions.expand(form), [_MOST_STEPS])

    def truth_of(self, condition: str) -> bool | None:
        """The value of a bool register if the facts imply it, else None."""
        condition = self.definitions.aliases.get(condition, condition)
        if condition in self.known:
            return self.known[condition]
        node = self.definitions.of.get(condition)
        match node:
            case ConstantStatement(kind=Kind.BOOL, bits=bits):
                return bool(bits)
            case Apply(function="not"):
                value = self.truth_of(node.args[0])
                return None if value is None else not value
            case Apply(function="and" | "or" | "nand" | "nor" as logic, args=args):
                absorbing = logic in ("or", "nor")
                values = [self.truth_of(name) for name in args]
                outcome = absorbing if absorbing in values else None if None in values else not absorbing
                return outcome if outcome is None or logic in ("and", "or") else not outcome
        for value in (True, False):
            if any(all(map(self.proves, forms)) for forms in conditions(self.definitions, condition, value)):
                return value
        return None

    def _refutes(self, forms: tuple[Index, ...]) -> bool:
        return any(self.proves(plus(times(form, -1), Index((), -1))) for form in forms)

    def _bounds_of(self, register: str) -> tuple[Index, ...]:
        if register.endswith(_PRIME):
            return tuple(self._primed(form) for form in self._bounds_of(register.removesuffix(_PRIME)))
        node = self.definitions.of.get(register)
        if isinstance(node, Apply) and node.function == "residue" and node.kind is Kind.I64:
            size, remainder = self.definitions.form(node.args[0]), Index(((register, 1),))
            last = plus(size, Index((), -1))
            return (remainder, minus(last, remainder)) if self.proves(last) else ()
        return self.definitions.bounds(register)

    def _innermost(self, form: Index) -> str:
        if len(form.terms) == 1:
            return form.terms[0][0]
        rank = self.definitions.rank
        if not self.inner:
            return max([name for name, _ in form.terms], key=rank.__getitem__)
        return max([name for name, _ in form.terms],
                   key=lambda name: (name.endswith(_PRIME), rank[name.removesuffix(_PRIME)]))  # fmt: skip

    def _proves(self, form: Index, left: list[int]) -> bool:
        form = normalised(form)
        if not form.terms:
            return form.constant >= 0
        left[0] -= 1
        if left[0] < 0:
            return False
        register = self._innermost(form)
        multiple = coefficient(form, register)
        for fact in (*self.by.get(register, ()), *self._bounds_of(register)):
            c = coefficient(fact, register)
            if c * multiple > 0 and self._proves(linear_combination(form, abs(c), fact, -abs(multiple)), left):
                return True
        alternatives = self.definitions.alternatives(register.removesuffix(_PRIME))
        if register.endswith(_PRIME):
            alternatives = tuple((self._primed(value), None, True) for value, _, _ in alternatives)
        for value, condition, truth in alternatives:
            facts = self.assuming(condition, truth)
            if not facts.unreachable and not facts._proves(substitute(form, {register: value}), left):
                return False
        return bool(alternatives)

    # -- two iterations

    def _primed(self, form: Index) -> Index:
        return index(*((name + _PRIME if name in self.inner else name, c) for name, c in form.terms), constant=form.constant)

    def across_iterations(self, other: Facts, loop: For, inner: frozenset[str]) -> Facts:
        """These facts, of one iteration of the loop, and `other`, of a later one.

        `inner`: the registers that an iteration defines, which have another name (`later`) in the later iteration."""
        both = Facts(self.definitions, self.known, self, unreachable=other.unreachable, inner=inner)
        theirs = [both._primed(form) for form in other.assumed if any(name in inner for name, _ in form.terms)]
        distance = index(loop.index + _PRIME, (loop.index, -1), constant=-loop.step)
        return both.with_facts([distance, *theirs])

    def proves_nonzero(self, form: Index) -> bool:
        """Do the facts imply that the form is nonzero?"""
        form = self.definitions.expand(form)
        divisor = gcd(*[c for _, c in form.terms])
        if divisor > 1 and form.constant % divisor:
            return True
        return self.proves(plus(form, Index((), -1))) or self.proves(minus(Index((), -1), form))

    def later(self, form: Index) -> Index:
        """The form in terms of the later iteration of `across_iterations`."""
        return self._primed(self.definitions.expand(form))


def facts_of(program: LoopProgram, definitions: Definitions | None = None) -> Facts:
    """The facts that hold before a program's first statement."""
    lengths = [length for view in program.views for length in view.shape]
    return Facts(definitions or Definitions(program)).with_facts([*program.facts, *lengths])


def statements_with_facts(body: tuple[Statement, ...], facts: Facts) -> Iterator[tuple[Statement, Facts]]:
    """Every statement of a block, outer ones first, with the facts that hold before it (its mask is not assumed)."""
    for statement in body:
        yield statement, facts
        match statement:
            case Fail():
                facts = facts.assuming(statement.condition, False)
            case If():
                yield from statements_with_facts(statement.then, facts.assuming(statement.condition))
                yield from statements_with_facts(statement.otherwise, facts.assuming(statement.condition, False))
            case For():
                yield from statements_with_facts(statement.body, facts.in_iteration(statement))


# ----------------------------------------------------------------------------------------------- updates in place
#
# Note [In place].  The new value of a component of the state may overwrite the old one if nothing reads the old one later, and if
# the phase that writes it reads each old item before that item is written: an update of some items, an element-wise phase that
# reads the old value at the same point only, an inner loop or branch of which the same holds.  Otherwise the component has two
# buffers, which alternate.

DEFERRED_OPS: Final = frozenset({"rotate", "join"})
"""Ops that may be deferred: readers read the items of their operands, and index-set splitting removes the selection of the
operand."""


def in_place_chain(block: SubGraph, old: ValueId, new: ValueId) -> tuple[ValueId, ...] | None:
    """The chain of values from the result `new` of a block back to `old` that may all share `old`'s memory; None if `new` cannot
    be computed in place.  See Note [In place]."""
    producers = {value: (at_, phase) for at_, phase in enumerate(block.phases) for value in traverse.results(phase)}
    chain: list[ValueId] = []
    moved: set[ValueId] = set()
    for phase in block.phases:
        if isinstance(phase, LibraryPhase) and phase.op in DEFERRED_OPS and not moved.union((old,)).isdisjoint(phase.args):
            moved.add(phase.results[0])
    value = new
    while value != old:
        if value not in producers or value in chain:
            return None
        chain.append(value)
        position, phase = producers[value]
        source = _overwritable_operand(phase, value, old, moved)
        if source is None:
            return None
        later = [v for following in block.phases[position + 1 :] for v in traverse.uses(following)]
        if source in later or (source in block.results and source != new):
            return None
        value = source
    return tuple(chain)


def _overwritable_operand(phase: AnyPhase, value: ValueId, old: ValueId, moved: set[ValueId]) -> ValueId | None:
    """The operand that a phase may overwrite with `value`; None if there is none.

    `moved`: deferred rotations and joins of the operand; a phase that reads one reads the operand at other points."""
    match phase:
        case LibraryPhase():
            return phase.args[0] if phase.op == "update" and phase.args[0] not in phase.args[1:] else None
        case Structured():
            if any(axis.kind is AxisKind.REDUCE for axis in phase.axes):
                return None
            if moved & set(traverse.operands(phase)):
                return None
            reads = [read for read in phase.reads if read.value == old]
            return old if reads and all(not read.projection.stages for read in reads) else None
        case Loop():
            position = phase.results.index(value)
            source = phase.initial[position]
            inside = [v for graph in traverse.subgraphs(phase) for v in _free(graph)]
            return None if phase.keep or source in inside or phase.initial.count(source) > 1 else source
        case Branch():
            position = phase.results.index(value)
            for arm in (phase.then, phase.otherwise):
                if in_place_chain(arm, old, arm.results[position]) is None:
                    return None
            return old
        case _:
            return None


def _free(graph: SubGraph) -> Iterable[ValueId]:
    for phase in graph.phases:
        yield from traverse.uses(phase)
    yield from graph.results


def in_place_chains(body: SubGraph, until: SubGraph | None) -> list[tuple[ValueId, ...] | None]:
    """By component of a loop's state: its in-place chain, or None if it needs two buffers."""
    chains: list[tuple[ValueId, ...] | None] = []
    for position, (old, new) in enumerate(zip(body.params, body.results, strict=True)):
        chain = in_place_chain(body, old, new)
        seen = until is not None and until.params[len(body.params) + position] in set(_free(until))
        chains.append(None if seen or body.results.count(new) > 1 else chain)
    return chains


def overwriting_results(phase: AnyPhase) -> set[ValueId]:
    """The results that overwrite an operand in the loops of a compiled region, where Python would copy the operand."""
    values: set[ValueId] = set()
    if (isinstance(phase, Loop) and not phase.keep) or (isinstance(phase, Fold) and not phase.scan):
        state = phase.state if isinstance(phase, Loop) else phase.body.params[len(phase.args) :]
        body = SubGraph(state, phase.body.phases, phase.body.results)
        for old, chain in zip(state, in_place_chains(body, phase.until if isinstance(phase, Loop) else None), strict=True):
            values |= _chained(body, old, chain or ())
    for graph in traverse.subgraphs(phase):
        for inner in graph.phases:
            values |= overwriting_results(inner)
    return values


def _chained(block: SubGraph, old: ValueId, chain: Sequence[ValueId]) -> set[ValueId]:
    """The values of an in-place chain, and of its continuations in the arms of branches."""
    values = set(chain)
    for phase in block.phases:
        if not isinstance(phase, Branch):
            continue
        for position in [position for position, result in enumerate(phase.results) if result in chain]:
            for arm in (phase.then, phase.otherwise):
                values |= _chained(arm, old, in_place_chain(arm, old, arm.results[position]) or ())
    return values


# ------------------------------------------------------------------------------------------ cost of an iteration
#
# Estimates of the work in one iteration of a loop, fold, scan or map, which decide whether it is compiled as a region.
#
# Run-time sizes count at their caps.

Phase: TypeAlias = Loop | Fold | Map
Types: TypeAlias = Mapping[ValueId, ArrayType]
_PHASE_NANOSECONDS: Final = 4_000.0
"""Rough nanoseconds of running one phase of a body from Python."""
_FUNCTION_NANOSECONDS: Final = 1.0
"""Rough nanoseconds of a scalar function at one point on NumPy."""
_TRANSCENDENTAL_WEIGHT: Final = 6
"""A transcendental function takes as long as this many other functions."""
_MOST_POINTS: Final = 20_000_000
"""The most points of an iteration (without its inner loops) of a region; beyond them each phase should use all threads."""
_POINTS_PER_PHASE: Final = 1 << 16
"""The same per phase for an iteration that calls routines, since its phases and chains along rows can use all threads."""
_POINTS_PER_COPIED_ITEM: Final = 8
"""Copying an item of state costs as much as running on all threads saves on this many points."""


@dataclass(frozen=True, slots=True)
class IterationEstimate:
    """Estimates for one iteration: the number of its phases, the points of all their nests, the points outside inner loops, the
    items of the states of inner loops, the scalar functions evaluated, the points of nests that reduce, and the items that Python
    copies where a region overwrites."""

    phases: int
    points: int
    outside_loops: int
    state: int
    functions: int
    reduced: int = 0
    copied: int = 0

    @property
    def phasewise_nanoseconds(self) -> float:
        """Rough nanoseconds if Python runs each phase by itself."""
        return _PHASE_NANOSECONDS * self.phases + _FUNCTION_NANOSECONDS * (self.functions + self.copied)

    def is_for_region(self, *, calls: bool, in_tiles: Callable[[], bool]) -> bool:
        """Is one compiled region faster than running each phase on all threads?

        Inner loops use one thread either way, and as regions of their own they would copy their state each time.  `calls`: does
        it call routines?  `in_tiles`: can threads share its rows in time tiles?"""
        most = _POINTS_PER_PHASE * self.phases if calls else _MOST_POINTS
        return self.outside_loops <= most + _POINTS_PER_COPIED_ITEM * self.state or (not calls and in_tiles())


def estimate_iteration(phase: Phase, types: Types) -> IterationEstimate:
    body, inside = [p for graph in traverse.subgraphs(phase) for p in graph.phases], overwriting_results(phase)
    outside = 1 + sum(_points_of(p, types, inside, _unit_weight) for p in body if not isinstance(p, Phase))
    states = sum(_items(value, types) for p in body if isinstance(p, Loop) for value in p.initial)
    points, functions = _points(phase, types, inside, _unit_weight), _points(phase, types, inside, _function_weight)
    reduced = _points(phase, types, inside, partial(_reduction_weight, types)) - 1
    copied = _points(phase, types, set(), _function_weight) - functions
    return IterationEstimate(_phases(phase), points, outside, states, functions, reduced, copied)


def trips_and_points(phase: Phase, types: Types) -> tuple[int, int]:
    """An upper bound of the number of iterations, and the number of points of one."""
    return _trips(phase, types), _points(phase, types, overwriting_results(phase), _unit_weight)


def numpy_nanoseconds(phase: AnyPhase, types: Types) -> float:
    """An upper bound of the rough nanoseconds if Python runs each phase by itself, including the loop and its inner loops."""
    if not isinstance(phase, Phase):
        return _PHASE_NANOSECONDS
    inner = [numpy_nanoseconds(one, types) for graph in traverse.subgraphs(phase) for one in graph.phases]
    return _trips(phase, types) * sum(inner)


def _phases(phase: Phase) -> int:
    return sum(1 for graph in traverse.subgraphs(phase) for _ in traverse.all_phases(graph))


def _points(phase: Phase, types: Types, overwriting: AbstractSet[ValueId], weight: Callable[[AnyPhase], int]) -> int:
    """The points of all nests of an iteration, each multiplied by the weight of its phase; an update whose result is in
    `overwriting` counts the items that it writes."""
    body = [inner for graph in traverse.subgraphs(phase) for inner in graph.phases]
    return 1 + sum(_points_of(inner, types, overwriting, weight) for inner in body)


def _trips(phase: Phase, types: Types) -> int:
    match phase:
        case Loop():
            return _upper_bound(phase.trip)
        case Fold():
            return _upper_bound(types[phase.args[0]].shape[0])
        case Map():
            return prod(map(_upper_bound, phase.frame))


def _points_of(phase: AnyPhase, types: Types, overwriting: AbstractSet[ValueId], weight: Callable[[AnyPhase], int]) -> int:
    match phase:
        case Structured():
            return prod(_upper_bound(axis.size) for axis in phase.axes) * weight(phase)
        case Loop() | Fold() | Map():
            return _trips(phase, types) * _points(phase, types, overwriting, weight)
        case LibraryPhase(op="update", results=(result,)) if result in overwriting:
            return _updated_items(phase, types) * weight(phase)
        case _:
            sizes = [_items(value, types) for value in traverse.results(phase) if value not in overwriting]
            body = [inner for graph in traverse.subgraphs(phase) for inner in graph.phases]
            return max(sizes, default=0) * weight(phase) + sum(_points_of(p, types, overwriting, weight) for p in body)


def _updated_items(phase: LibraryPhase, types: Types) -> int:
    """An upper bound of the items that an update writes."""
    indexed, shape = phase.attributes["indexed"], types[phase.results[0]].shape
    assert isinstance(indexed, tuple)
    frame = len(shape) - len(indexed)
    lengths = [size for axis, size in enumerate(shape) if axis < frame or not indexed[axis - frame]]
    chosen = prod(_items(index, types) for index in phase.args[1:-1])
    return min(_items(phase.results[0], types), chosen * prod(map(_upper_bound, lengths)))


def _items(value: ValueId, types: Types) -> int:
    return prod(map(_upper_bound, types[value].shape))


def _unit_weight(phase: AnyPhase) -> int:
    return 1


def _reduction_weight(types: Types, phase: AnyPhase) -> int:
    """The number of items of each result of a product; 1 for a phase that reduces."""
    if isinstance(phase, LibraryPhase):
        return _upper_bound(types[phase.args[0]].shape[-1]) if phase.op == "contract" else 0
    return int(isinstance(phase, Structured) and any(axis.kind is AxisKind.REDUCE for axis in phase.axes))


def _function_weight(phase: AnyPhase) -> int:
    """The number of scalar functions that a phase evaluates at a point; transcendental ones count several times."""
    if not isinstance(phase, Structured):
        return 1
    functions = [node.function for node in phase.body if isinstance(node, ApplyNode)]
    return sum(_TRANSCENDENTAL_WEIGHT if function in TRANSCENDENTAL else 1 for function in functions)


def _upper_bound(size: Size) -> int:
    number = upper_bound(size).constant
    return 1 if number is None else max(0, number)
