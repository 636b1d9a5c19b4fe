"""The verifier of loop programs.

`problems(program)` lists problems, each with the statement at fault; `verify(program)` raises `MalformedProgram` if one is WRONG.
  * WRONG: a name that is defined twice or not visible, kinds that do not agree, a violated rule of Note [Loops] or [Memory].
  * UNPROVED: an index that may leave its view, or two iterations of a VECTOR or PARALLEL loop that may access one item (a store
    of one and any access of the other), as far as `facts` can prove.  The proofs use the bounds of loops, the program's facts,
    the conditions of branches and masks, and earlier checks, which exit the program where they fail.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from ...lang.support.records import dataclass
from ...typechecker.elements import FUNCTIONS, Kind, is_exact_in_any_order
from ..lower.loop_order import LANES
from .facts import Facts, facts_of, statements_with_facts
from .ir import (
    MOST_VALUES,
    ONE,
    ZERO,
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
    defined_in_iteration,
    index,
    minus,
    plus,
    scan_reductions,
    uses,
    walk,
)
from .text import is_name, show_index, show_statement

_FAILING: Final = ("floor", "ceil")
_KERNELS: Final = {"square": "neg", "half_power": "neg", "log2": "neg", "log10": "neg", "same": "eq", "outside": "eq"}
"""Functions of kernels that the table of scalar functions lacks, each with one of the table that has the same signature."""


class ProblemStatus(Enum):
    WRONG = "wrong"
    UNPROVED = "not proved"


@dataclass(frozen=True, slots=True)
class VerifierProblem:
    standing: ProblemStatus
    message: str
    where: str = ""

    def __str__(self) -> str:
        return f"{self.standing.value}: {self.message}" + (f" in `{self.where}`" if self.where else "")


class MalformedProgram(Exception):
    """Raised with all rule violations of a program."""


def verify(program: LoopProgram) -> None:
    """Raise `MalformedProgram` if the program violates a rule; unproved accesses are ignored."""
    wrong = [problem for problem in problems(program) if problem.standing is ProblemStatus.WRONG]
    if wrong:
        raise MalformedProgram("\n".join(map(str, wrong)))


def problems(program: LoopProgram) -> tuple[VerifierProblem, ...]:
    """All rule violations or, if there are none, all unproved accesses."""
    rules = _RuleChecker(program)
    rules.program()
    if rules.problems:
        return tuple(rules.problems)
    return tuple(_AccessProofs(program).problems)


def may_fail(node: Apply) -> bool:
    return node.function == "convert_checked" or (node.function in _FAILING and node.compute.is_float)


# -------------------------------------------------------------------------------------------------- rules


class _RuleChecker:
    """Checks names, kinds, and the rules of loops."""

    def __init__(self, subject: LoopProgram) -> None:
        self.subject = subject
        self.views: dict[str, View] = {}
        self.names: set[str] = set()
        self.kinds: dict[str, Kind] = {}
        """The registers that are visible at the current statement."""
        self.problems: list[VerifierProblem] = []
        self.statement: Statement | None = None

    def wrong(self, message: str) -> None:
        where = show_statement(self.statement)[0] if self.statement is not None else ""
        self.problems.append(VerifierProblem(ProblemStatus.WRONG, message, where))

    def define(self, name: str, kind: Kind) -> None:
        if name in self.names:
            self.wrong(f"{name} is defined twice")
        if not is_name(name):
            self.wrong(f"{name!r} is no name")
        if kind.is_complex:
            self.wrong(f"{name} is {kind.value}: a complex number is two registers")
        self.names.add(name)
        self.kinds[name] = kind

    def use(self, name: str, kind: Kind | None, role: str = "") -> None:
        if name not in self.kinds:
            self.wrong(f"{name} is used where it is not defined")
        elif kind is not None and self.kinds[name] is not kind:
            self.wrong(f"{role or name} is {self.kinds[name].value}, not {kind.value}")

    def form(self, form: Index) -> None:
        if form.terms != tuple(sorted((name, c) for name, c in form.terms if c)):
            self.wrong(f"{show_index(form)} is not in its normal form")
        for name, _ in form.terms:
            self.use(name, Kind.I64)

    # -- the program

    def program(self) -> None:
        for name in self.subject.parameters:
            self.define(name, Kind.I64)
        for form in self.subject.facts:
            self.form(form)
        for view in self.subject.views:
            if view.name in self.views:
                self.wrong(f"view {view.name} is defined twice")
            if view.kind.is_complex or not is_name(view.name):
                self.wrong(f"{view.name} is not a view")
            if (view.private or view.local) and view.role is not ViewRole.SCRATCH:
                self.wrong(f"{view.name} is {'private' if view.private else 'local'} and no scratch")
            self.views[view.name] = view
            for form in view.shape:
                self.form(form)
        self.block(self.subject.body, ())

    def block(self, body: tuple[Statement, ...], around: tuple[For, ...]) -> None:
        """Checks a block; its definitions stay visible until the caller restores `kinds`."""
        for statement in body:
            self.statement = statement
            self.check(statement, around)

    def inside(self, body: tuple[Statement, ...], around: tuple[For, ...]) -> dict[str, Kind]:
        """Checks a block inside a statement; returns the registers that are visible at its end."""
        outer, self.kinds = self.kinds, dict(self.kinds)
        self.block(body, around)
        seen, self.kinds = self.kinds, outer
        return seen

    def check(self, statement: Statement, around: tuple[For, ...]) -> None:
        match statement:
            case ConstantStatement(name, kind, _):
                self.define(name, kind)
            case IndexStatement(name, form):
                self.form(form)
                self.define(name, Kind.I64)
            case Apply():
                self.apply(statement)
                self.define(statement.name, statement.kind)
            case Load() | Store():
                self.access(statement)
            case Fail(_, condition, values):
                self.use(condition, Kind.BOOL)
                for value in values:
                    self.use(value, None)
                if len(values) > MOST_VALUES:
                    self.wrong(f"a record has at most {MOST_VALUES} values")
            case Call():
                self.call(statement, around)
            case For():
                self.loop(statement, around)
            case If(condition, then, otherwise, results):
                self.use(condition, Kind.BOOL)
                arms = self.inside(then, around), self.inside(otherwise, around)
                self.statement = statement
                for chosen in results:
                    for name, seen in zip((chosen.then, chosen.otherwise), arms, strict=True):
                        self.given(name, chosen.kind, seen)
                    self.define(chosen.name, chosen.kind)

    def given(self, name: str, kind: Kind, seen: dict[str, Kind]) -> None:
        """Checks a register that a block yields; `seen`: the registers visible at the block's end."""
        outer, self.kinds = self.kinds, seen
        self.use(name, kind)
        self.kinds = outer

    def apply(self, node: Apply) -> None:
        row = FUNCTIONS.get(_KERNELS.get(node.function, node.function))
        if row is None or row.arity != len(node.args) or node.compute not in row.kinds:
            self.wrong(f"there is no {node.function} of {len(node.args)} × {node.compute.value}")
            return
        if row.result_kind(node.compute, node.parameter) not in (None, node.kind):
            self.wrong(f"{node.function} of {node.compute.value} does not give {node.kind.value}")
        for position, name in enumerate(node.args):
            self.use(name, Kind.BOOL if node.function == "select" and position == 0 else node.compute)
        if may_fail(node) is (node.check < 0):
            self.wrong(f"{node.function} of {node.compute.value} has {'no' if node.check < 0 else 'a'} check")

    def access(self, node: Load | Store) -> None:
        for form in node.indices:
            self.form(form)
        if node.mask is not None:
            self.use(node.mask, Kind.BOOL)
        view = self.views.get(node.view)
        if view is None or len(view.shape) != len(node.indices):
            self.wrong(f"there is no view {node.view} of rank {len(node.indices)}")
        if isinstance(node, Load):
            self.define(node.name, view.kind if view is not None else Kind.F64)
        elif view is not None:
            self.use(node.value, view.kind)
            if view.role is ViewRole.INPUT:
                self.wrong(f"{view.name} is only read")
            if node.join is not None and not is_exact_in_any_order(node.join, view.kind):
                self.wrong(f"{node.join} of {view.kind.value} is not exact in any order")

    def call(self, node: Call, around: tuple[For, ...]) -> None:
        for form in node.forms:
            self.form(form)
        for box in node.boxes:
            view = self.views.get(box.view)
            if view is None or not len(view.shape) == len(box.start) == len(box.shape):
                self.wrong(f"there is no view {box.view} of rank {len(box.start)}")
            elif view.role is ViewRole.INPUT and box in node.writes:
                self.wrong(f"{view.name} is only read")
        if any(loop.kind is LoopKind.VECTOR for loop in around):
            self.wrong("there are no calls in a vector loop")

    # -- loops

    def loop(self, loop: For, around: tuple[For, ...]) -> None:
        if not loop.lower or not loop.upper or loop.step < 1:
            self.wrong("a loop has bounds on both sides and a positive step")
        for form in (*loop.lower, *loop.upper):
            self.form(form)
        for carried in loop.carried:
            self.use(carried.initial, carried.kind)
        seen = self.body(loop, (*around, loop))
        for carried in loop.carried:
            self.given(carried.yielded, carried.kind, seen)
        if loop.until is not None:
            self.given(loop.until, Kind.BOOL, seen)
        self.rules(loop, around)
        for carried in loop.carried:
            self.define(carried.result, carried.kind)

    def body(self, loop: For, around: tuple[For, ...]) -> dict[str, Kind]:
        outer = dict(self.kinds)
        self.define(loop.index, Kind.I64)
        for carried in loop.carried:
            self.define(carried.inside, carried.kind)
        seen = self.inside(loop.body, around)
        self.kinds, self.statement = outer, loop
        return seen

    def rules(self, loop: For, around: tuple[For, ...]) -> None:
        kinds = [outer.kind for outer in around]
        vector = next((outer for outer in around if outer.kind is LoopKind.VECTOR), None)
        if vector is not None:
            if loop.kind is LoopKind.PARALLEL or (loop.kind is LoopKind.VECTOR and loop.carried):
                self.wrong("in a vector loop there are serial loops, or vector loops that carry nothing")
            inner = defined_in_iteration(vector) - {inside.index for inside in walk(vector.body) if isinstance(inside, For)}
            if vector.carried and any(name in inner for form in (*loop.lower, *loop.upper) for name, _ in form.terms):
                self.wrong(f"its bounds depend on the vector loop over {vector.index}")
        if loop.kind is LoopKind.PARALLEL and LoopKind.PARALLEL in kinds and kinds[-1] is not LoopKind.PARALLEL:
            self.wrong("parallel loops stand directly in each other")
        if loop.kind is not LoopKind.SERIAL and loop.until is not None:
            self.wrong("only serial loops end early")
        if loop.kind is LoopKind.PARALLEL and loop.carried:
            self.wrong("a parallel loop carries nothing")
        for carried in loop.carried:
            if loop.kind is LoopKind.SERIAL and carried.reduction is not None:
                self.wrong("a serial loop has no reductions")
            if loop.kind is LoopKind.VECTOR and not _is_reduction(loop, carried):
                self.wrong(f"{carried.inside} is not a reduction that is exact in any order, or of a few items")


def _is_reduction(loop: For, carried: Carried) -> bool:
    readers = [statement for statement in walk(loop.body) if carried.inside in uses(statement)]
    if len(readers) != 1 or readers[0] not in loop.body:
        return False
    node, function = readers[0], carried.reduction
    return (isinstance(node, Apply) and function is not None and node.function == function and node.name == carried.yielded
            and node.args[0] == carried.inside and carried.inside not in node.args[1:]
            and (is_exact_in_any_order(function, carried.kind) or (_is_short(loop) and not scan_reductions(loop))))  # fmt: skip


def _is_short(loop: For) -> bool:
    """Can the reductions of a loop follow the order of sums: has it a constant number of at most `LANES` items, none of which may
    fail?"""
    if any(isinstance(s, Fail) or (isinstance(s, Apply) and may_fail(s)) for s in walk(loop.body)):
        return False
    return loop.lower == (ZERO,) and len(loop.upper) == 1 and not loop.upper[0].terms and 0 < loop.upper[0].constant <= LANES


# ------------------------------------------------------------------------------------------------- proofs


@dataclass(frozen=True, slots=True)
class ViewAccess:
    """An access, and the facts that hold there."""

    node: Load | Store
    facts: Facts


UNKNOWN_INDEX: Final = index("?")
"""An unknown index."""


def accesses(body: tuple[Statement, ...], facts: Facts) -> list[ViewAccess]:
    """All accesses of a block."""
    result: list[ViewAccess] = []
    for node, there in statements_with_facts(body, facts):
        if isinstance(node, Call):
            result += [ViewAccess(any_item(box, node), there) for box in node.boxes]
        elif isinstance(node, Load | Store):
            result.append(ViewAccess(node, there.assuming(node.mask)))
    return result


def any_item(box: Box, call: Call) -> Load | Store:
    """An access of an arbitrary item of a box."""
    indices = tuple(first if size is None else UNKNOWN_INDEX for first, size in zip(box.start, box.shape, strict=True))
    return Store(box.view, indices, "") if box in call.writes else Load("", box.view, indices)


def are_disjoint(access: ViewAccess, later: ViewAccess, loop: For, inner: frozenset[str]) -> bool:
    """Does `later`, in a later iteration of the loop, provably access another item than `access`?

    `inner`: all registers that an iteration defines."""
    both = access.facts.across_iterations(later.facts, loop, inner)
    if both.unreachable:
        return True
    pairs = [pair for pair in zip(access.node.indices, later.node.indices, strict=True) if UNKNOWN_INDEX not in pair]
    return any(both.proves_nonzero(minus(both.later(other), both.definitions.expand(earlier))) for earlier, other in pairs)


class _AccessProofs:
    def __init__(self, program: LoopProgram) -> None:
        self.views = {view.name: view for view in program.views}
        self.problems: list[VerifierProblem] = []
        for statement, facts in statements_with_facts(program.body, facts_of(program)):
            match statement:
                case Call():
                    for box in statement.boxes:
                        self.inside(box, statement, facts)
                case Load() | Store():
                    self.bounds(statement, facts.assuming(statement.mask))
                case For() if statement.kind is not LoopKind.SERIAL:
                    self.independence(statement, accesses(statement.body, facts.in_iteration(statement)))

    def unproved(self, message: str, statement: Statement) -> None:
        self.problems.append(VerifierProblem(ProblemStatus.UNPROVED, message, show_statement(statement)[0]))

    def bounds(self, node: Load | Store, facts: Facts) -> None:
        for axis, (form, length) in enumerate(zip(node.indices, self.views[node.view].shape, strict=True)):
            if not facts.proves(form) or not facts.proves(minus(minus(length, form), ONE)):
                self.unproved(f"index {axis} of {node.view} may be outside 0..{show_index(length)}", node)

    def inside(self, box: Box, call: Call, facts: Facts) -> None:
        for axis, (first, size, length) in enumerate(zip(box.start, box.shape, self.views[box.view].shape, strict=True)):
            if not facts.proves(first) or not facts.proves(minus(length, plus(first, ONE if size is None else size))):
                self.unproved(f"axis {axis} of the box of {box.view} may leave 0..{show_index(length)}", call)

    def independence(self, loop: For, touched: list[ViewAccess]) -> None:
        inner = frozenset(defined_in_iteration(loop))
        for store in touched:
            view = self.views[store.node.view]
            if not isinstance(store.node, Store) or (view.private and loop.kind is LoopKind.PARALLEL):
                continue
            for other in touched:
                is_joined = isinstance(other.node, Store) and other.node.join == store.node.join is not None
                if other.node.view == view.name and not (
                    is_joined or (are_disjoint(store, other, loop, inner) and are_disjoint(other, store, loop, inner))
                ):
                    said = show_statement(other.node)[0]
                    self.unproved(f"another iteration over {loop.index} may touch what `{said}` touches", store.node)
                    break
