"""The loop IR: loop nests in single assignment over strided views, free of addresses and sizes.

Phases, chains and regions of the phase graph become a `LoopProgram`.  Values are registers of one kind each, named by strings; a
name is defined once in the program and is visible in the rest of its block and in the blocks inside that.  Indices are affine in
i64 registers: loop indices, parameters (sizes), and numbers that the program computes.

Note [Loops].  `For` runs its body for index = lower, lower + step, … below upper, where lower is the greatest of the lower bounds
and upper the least of the upper bounds, which allows triangular and tiled loops.
  * SERIAL: iterations run in order.  Carried values have an initial value, a name inside and a value that each iteration yields;
    after the loop `results` are the last of them (the initial ones if there was no iteration).  With `until`, an i1 that an
    iteration computes, the loop ends after the first iteration in which it is true.
  * VECTOR: iterations are independent, except for carried values, each of which has a `reduction` that is either exact in any
    order, or over a constant number of at most `LANES` items in the order of sums (by halving; the initial value is not
    included).  Several iterations run at once, and no result depends on how many.  If other statements use the value that an
    iteration yields to a reduction that is exact in any order, it is a scan: the value includes the items up to there.  `until`
    is not allowed.  Inner loops are SERIAL, or VECTOR without carried values; inside a loop with carried values, their bounds may
    depend on loop indices but on nothing else that an iteration computes.
  * PARALLEL: iterations are independent and carry nothing; they may run on several threads.  A PARALLEL loop inside another one
    stands directly in its body.  Views that are SCRATCH and `private` belong to one thread.
On GPUs an iteration of a PARALLEL loop is a thread block, to which private views belong (shared memory), and an iteration of a
VECTOR loop is a thread.

Note [Memory].  A view is base, shape and strides of items of one kind; the caller gives base and strides.  Views of role INPUT
are only read.  BOOL items are bytes: any nonzero byte loads as true, and true is stored as 1.  Different views never overlap.

Note [Failures].  `Fail` exits the program with a failure record where its condition holds: the number of the check and up to
`MOST_VALUES` values.  Earlier stores stay.

Note [Calls].  `Call` runs a routine of the caller, which reads the items of some boxes and then writes items of others, and has
no other effect except that it may exit the program.  Items of the boxes that it writes are undefined unless it wrote them.  There
are no calls in a VECTOR loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from enum import Enum
from math import gcd
from typing import Final, TypeAlias

from ...lang.support.records import dataclass, field, require_invariant
from ...typechecker.elements import Kind

# ---------------------------------------------------------------------------------------------------- ir

MOST_VALUES: Final = 8
"""The most values of a failure record."""


@dataclass(frozen=True, slots=True)
class Index:
    """Σ coefficient × register + constant, an i64.  Terms are sorted by register, no coefficient is 0."""

    terms: tuple[tuple[str, int], ...]
    constant: int = 0


class ViewRole(Enum):
    INPUT = "input"
    OUTPUT = "output"
    SCRATCH = "scratch"


@dataclass(frozen=True, slots=True)
class View:
    """Strided memory of one kind; `shape` is affine in parameters, and scratch is row-major.

    `unit`: are neighbours along the last axis contiguous?  `streamed`: stores may bypass the caches (the base and all strides but
    the last are multiples of 64 bytes).  `local`: scratch whose items are stored in the same iteration of a loop over rows that
    loads them, before the loads."""

    name: str
    kind: Kind
    shape: tuple[Index, ...]
    role: ViewRole
    unit: bool = True
    private: bool = False
    streamed: bool = False
    local: bool = False


# -------------------------------------------------------------------------------------------- statements


@dataclass(frozen=True, slots=True)
class ConstantStatement:
    """A literal by its stored bits."""

    name: str
    kind: Kind
    bits: int


@dataclass(frozen=True, slots=True)
class IndexStatement:
    """An index as a register of kind I64."""

    name: str
    index: Index


@dataclass(frozen=True, slots=True)
class Apply:
    """A scalar function (`graph.phases.ApplyNode`) on registers of kind `compute` (`select`: from the second on).

    `check`: for a function that may fail (`convert_checked`, `floor`, `ceil`), the number of its check, else -1."""

    name: str
    kind: Kind
    function: str
    args: tuple[str, ...]
    compute: Kind
    parameter: int = 0
    check: int = -1


@dataclass(frozen=True, slots=True)
class Load:
    """The item of a view at the indices; where the register `mask` is false, 0 of the kind, and no memory is touched."""

    name: str
    view: str
    indices: tuple[Index, ...]
    mask: str | None = None


@dataclass(frozen=True, slots=True)
class Store:
    """Write `value` at the indices, where `mask` is true.

    `join`: a function that is exact in any order, which combines the stored item with `value` (atomically, on GPUs only, between
    iterations of loops that are not SERIAL)."""

    view: str
    indices: tuple[Index, ...]
    value: str
    mask: str | None = None
    join: str | None = None


@dataclass(frozen=True, slots=True)
class Fail:
    """Exit with a record of check number `check` if `condition` is true."""

    check: int
    condition: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Box:
    """Part of a view: `shape` items from `start` on along each axis; an axis with None has one item, and is dropped."""

    view: str
    start: tuple[Index, ...]
    shape: tuple[Index | None, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A call of routine number `routine`, which also receives `numbers`; see Note [Calls]."""

    routine: int
    reads: tuple[Box, ...]
    writes: tuple[Box, ...]
    numbers: tuple[Index, ...] = ()

    @property
    def boxes(self) -> tuple[Box, ...]:
        return self.reads + self.writes

    @property
    def forms(self) -> tuple[Index, ...]:
        axes = (form for box in self.boxes for form in (*box.start, *box.shape) if form is not None)
        return *self.numbers, *axes


class LoopKind(Enum):
    SERIAL = "serial"
    VECTOR = "vector"
    PARALLEL = "parallel"


@dataclass(frozen=True, slots=True)
class Carried:
    """A loop-carried value: `inside` names it in an iteration, `result` after the loop; `initial` and `yielded` are the registers
    of its first and its next value.

    `reduction` (VECTOR only): the function that combines it; then `inside` is used only as the first argument of that function,
    whose value is `yielded`."""

    inside: str
    kind: Kind
    initial: str
    yielded: str
    result: str
    reduction: str | None = None


@dataclass(frozen=True, slots=True)
class For:
    index: str
    lower: tuple[Index, ...]
    upper: tuple[Index, ...]
    kind: LoopKind
    body: tuple[Statement, ...]
    carried: tuple[Carried, ...] = ()
    until: str | None = None
    step: int = 1


@dataclass(frozen=True, slots=True)
class BranchResult:
    """A result of a branch (a phi): `then` or `otherwise`, registers of the arms or of enclosing blocks."""

    name: str
    kind: Kind
    then: str
    otherwise: str


@dataclass(frozen=True, slots=True)
class If:
    condition: str
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...] = ()
    results: tuple[BranchResult, ...] = ()


Statement: TypeAlias = ConstantStatement | IndexStatement | Apply | Load | Store | Fail | Call | For | If


@dataclass(frozen=True, slots=True)
class LoopProgram:
    """A loop program.

    `parameters` are i64 registers that the caller sets: sizes, and the range of the outermost loop if the caller splits its
    iterations.  `facts` are affine in parameters and never negative when the program runs (for `hi ≤ n` the fact `n - hi`); the
    lengths of views are never negative either."""

    name: str
    parameters: tuple[str, ...]
    views: tuple[View, ...]
    body: tuple[Statement, ...]
    facts: tuple[Index, ...] = ()


# ----------------------------------------------------------------------------------------------- helpers


def index(*terms: str | tuple[str, int], constant: int = 0) -> Index:
    """Σ terms + constant; a bare name has coefficient 1."""
    coefficients: dict[str, int] = {}
    for term in terms:
        name, coefficient = (term, 1) if isinstance(term, str) else term
        coefficients[name] = coefficients.get(name, 0) + coefficient
    return Index(tuple(sorted((name, c) for name, c in coefficients.items() if c)), constant)


ZERO: Final = Index((), 0)
ONE: Final = Index((), 1)


def plus(left: Index, right: Index) -> Index:
    constant = left.constant + right.constant
    if not right.terms or not left.terms:
        return Index(left.terms or right.terms, constant)
    coefficients = dict(left.terms)
    for name, coefficient in right.terms:
        coefficients[name] = coefficients.get(name, 0) + coefficient
    return Index(tuple(sorted([term for term in coefficients.items() if term[1]])), constant)


def times(left: Index, factor: int) -> Index:
    if factor == 1:
        return left
    return Index(tuple([(name, c * factor) for name, c in left.terms]) if factor else (), left.constant * factor)


def defined(statement: Statement) -> tuple[str, ...]:
    """The registers that a statement defines for the statements after it."""
    match statement:
        case ConstantStatement() | IndexStatement() | Apply() | Load():
            return (statement.name,)
        case For():
            return tuple(c.result for c in statement.carried)
        case If():
            return tuple(c.name for c in statement.results)
        case Store() | Fail() | Call():
            return ()


def blocks(statement: Statement) -> tuple[tuple[Statement, ...], ...]:
    """The blocks inside a statement."""
    match statement:
        case For():
            return (statement.body,)
        case If():
            return (statement.then, statement.otherwise)
        case _:
            return ()


def walk(body: tuple[Statement, ...]) -> Iterator[Statement]:
    """Every statement, in preorder."""
    open_blocks = [iter(body)]
    while open_blocks:
        for statement in open_blocks[-1]:
            yield statement
            if type(statement) is For:
                open_blocks.append(iter(statement.body))
                break
            if type(statement) is If:
                open_blocks += iter(statement.otherwise), iter(statement.then)
                break
        else:
            open_blocks.pop()


def defined_within(statement: Statement) -> tuple[str, ...]:
    """The registers that a statement defines, for later statements and inside its blocks."""
    if isinstance(statement, For):
        return *(c.result for c in statement.carried), statement.index, *(c.inside for c in statement.carried)
    return defined(statement)


def uses(statement: Statement) -> tuple[str, ...]:
    """The registers that a statement reads directly, including those that its blocks yield."""
    match statement:
        case IndexStatement(index=form):
            return tuple(name for name, _ in form.terms)
        case Apply(args=args):
            return args
        case Load() | Store():
            stored = (statement.value,) if isinstance(statement, Store) else ()
            mask = (statement.mask,) if statement.mask is not None else ()
            return *stored, *mask, *(name for form in statement.indices for name, _ in form.terms)
        case Fail(_, condition, values):
            return condition, *values
        case Call():
            return tuple(name for form in statement.forms for name, _ in form.terms)
        case For():
            return *head_uses(statement), *(name for c in statement.carried for name in (c.initial, c.yielded))
        case If():
            return *head_uses(statement), *(name for c in statement.results for name in (c.then, c.otherwise))
        case ConstantStatement():
            return ()


def head_uses(statement: For | If) -> tuple[str, ...]:
    """The registers that determine how often the statement's blocks run."""
    if isinstance(statement, If):
        return (statement.condition,)
    bounds = tuple([name for form in (*statement.lower, *statement.upper) for name, _ in form.terms])
    return bounds if statement.until is None else (*bounds, statement.until)


def loaded_views(statement: Statement) -> tuple[str, ...]:
    """The views that a statement reads directly."""
    match statement:
        case Load(view=view) | Store(view=view, join=str()):
            return (view,)
        case Call():
            return tuple(box.view for box in statement.reads)
        case _:
            return ()


def stored_views(statement: Statement) -> tuple[str, ...]:
    """The views that a statement writes directly."""
    match statement:
        case Store():
            return (statement.view,)
        case Call():
            return tuple(box.view for box in statement.writes)
        case _:
            return ()


def scan_reductions(loop: For) -> dict[str, Carried]:
    """The reductions of a VECTOR loop that are scans, since each iteration's value is used; by yielded register."""
    joins = {c.yielded: c for c in loop.carried if c.reduction is not None}
    used = {name for statement in walk(loop.body) for name in uses(statement)} if joins else set[str]()
    return {name: c for name, c in joins.items() if name in used}


def defined_in_iteration(loop: For) -> set[str]:
    """All registers that an iteration of a loop defines."""
    return {loop.index, *(c.inside for c in loop.carried), *(name for s in walk(loop.body) for name in defined_within(s))}


# ---------------------------------------------------------------------------------------- affine arithmetic
#
# Arithmetic on affine forms (`ir.Index`).

def linear_combination(left: Index, a: int, right: Index, b: int) -> Index:
    """a × left + b × right."""
    constant = a * left.constant + b * right.constant
    coefficients = {name: a * c for name, c in left.terms}
    for name, c in right.terms:
        total = coefficients.get(name, 0) + b * c
        if total:
            coefficients[name] = total
        else:
            del coefficients[name]
    return Index(tuple(sorted(coefficients.items())), constant)


def minus(left: Index, right: Index) -> Index:
    return linear_combination(left, 1, right, -1)


def coefficient(form: Index, register: str) -> int:
    for name, c in form.terms:
        if name == register:
            return c
    return 0


def substitute(form: Index, values: dict[str, Index]) -> Index:
    """The form with registers replaced by forms."""
    for name, _ in form.terms:
        if name in values:
            break
    else:
        return form
    total = Index((), form.constant)
    for name, c in form.terms:
        total = linear_combination(total, 1, values[name], c) if name in values else plus(total, Index(((name, c),)))
    return total


def normalised(form: Index) -> Index:
    """The form divided by the gcd of its coefficients and rounded down, which preserves whether it is nonnegative."""
    divisor = 0
    for _, c in form.terms:
        if c in (1, -1):
            return form
        divisor = gcd(divisor, c)
    return form if divisor <= 1 else Index(tuple([(name, c // divisor) for name, c in form.terms]), form.constant // divisor)


# ---------------------------------------------------------------------------------------------------- builder
#
# A builder of loop programs: fresh names, nested blocks, and constants that are defined once.

@dataclass(slots=True)
class OpenLoop:
    """A loop under construction: `inside` are its carried values; the builder's user sets `yields` and `until` before its end."""

    index: str
    inside: tuple[str, ...]
    yields: tuple[str, ...] = ()
    until: str | None = None
    results: tuple[str, ...] = ()


@dataclass(slots=True)
class LoopBuilder:
    """Builds a loop program; `statements` is the block under construction."""

    statements: list[Statement] = field(default_factory=list)
    views: dict[str, View] = field(default_factory=dict)
    _names: int = 0
    _constants: dict[tuple[Kind, int], str] = field(default_factory=dict)
    preamble: list[Statement] = field(default_factory=list)
    """Statements before all others: constants, and loads of outer scalars that no iteration changes."""

    def fresh(self, prefix: str = "v") -> str:
        self._names += 1
        return f"{prefix}{self._names}"

    def view(self, prefix: str, kind: Kind, shape: tuple[Index, ...], role: ViewRole, *, private: bool = False) -> View:
        view = View(self.fresh(prefix), kind, shape, role, private=private)
        self.views[view.name] = view
        return view

    # --------------------------------------------------------------------------------------- statements

    def constant(self, kind: Kind, bits: int) -> str:
        key = (kind, bits)
        if key not in self._constants:
            self._constants[key] = self.fresh("c")
            self.preamble.append(ConstantStatement(self._constants[key], kind, bits))
        return self._constants[key]

    def number(self, value: Index) -> str:
        """An index as a register."""
        if not value.constant and len(value.terms) == 1 and value.terms[0][1] == 1:
            return value.terms[0][0]
        if not value.terms:
            return self.constant(Kind.I64, value.constant)
        name = self.fresh("i")
        self.statements.append(IndexStatement(name, value))
        return name

    def apply(self, function: str, args: Sequence[str], compute: Kind, kind: Kind, parameter: int = 0, check: int = -1) -> str:
        name = self.fresh()
        self.statements.append(Apply(name, kind, function, tuple(args), compute, parameter, check))
        return name

    def compare(self, function: str, left: Index, right: Index) -> str:
        return self.apply(function, (self.number(left), self.number(right)), Kind.I64, Kind.BOOL)

    def both(self, left: str | None, right: str | None) -> str | None:
        """The conjunction of masks, of which None is always true."""
        if left is None or right is None:
            return left or right
        return self.apply("and", (left, right), Kind.BOOL, Kind.BOOL)

    def where(self, mask: str | None, args: Sequence[str], kind: Kind) -> Sequence[str]:
        """The arguments, replaced where a mask is false by zeros, on which no check fails."""
        if mask is None:
            return args
        zero = self.constant(kind, 0)
        return [self.apply("select", (mask, arg, zero), kind, kind) for arg in args]

    def load(self, view: str, indices: tuple[Index, ...], mask: str | None = None) -> str:
        name = self.fresh()
        self.statements.append(Load(name, view, indices, mask))
        return name

    def store(self, view: str, indices: tuple[Index, ...], value: str, mask: str | None = None, join: str | None = None) -> None:
        self.statements.append(Store(view, indices, value, mask, join))

    def fail(self, check: int, condition: str, values: Sequence[str] = ()) -> None:
        self.statements.append(Fail(check, condition, tuple(values)))

    # ------------------------------------------------------------------------------------------- blocks

    @contextmanager
    def block(self) -> Iterator[list[Statement]]:
        """Collects the statements written within the context into a separate block."""
        outer = self.statements
        self.statements = []
        try:
            yield self.statements
        finally:
            self.statements = outer

    @contextmanager
    def loop(
        self, kind: LoopKind, lower: Sequence[Index], upper: Sequence[Index],
        carried: Sequence[tuple[Kind, str, str | None]] = (), step: int = 1,
    ) -> Iterator[OpenLoop]:  # fmt: skip
        """Opens a loop; `carried`: (kind, initial register, reduction) of each carried value."""
        opened = OpenLoop(self.fresh("k"), tuple(self.fresh() for _ in carried))
        with self.block() as body:
            yield opened
        opened.results = tuple(self.fresh() for _ in carried)
        values = tuple(
            Carried(inside, kind, initial, yielded, result, reduction)
            for (kind, initial, reduction), inside, yielded, result in zip(
                carried, opened.inside, opened.yields, opened.results, strict=True
            )
        )
        self.statements.append(For(opened.index, tuple(lower), tuple(upper), kind, tuple(body), values, opened.until, step))

    def range(self, kind: LoopKind, upper: Index, carried: Sequence[tuple[Kind, str, str | None]] = ()
              ) -> AbstractContextManager[OpenLoop]:  # fmt: skip
        return self.loop(kind, (ZERO,), (upper,), carried)

    def choose(self, condition: str, then: Sequence[Statement], otherwise: Sequence[Statement],
               results: Sequence[tuple[Kind, str, str]] = ()) -> tuple[str, ...]:  # fmt: skip
        """Writes a branch; `results`: (kind, register of one arm, register of the other).  Returns the registers of the
        results."""
        chosen = tuple(BranchResult(self.fresh(), kind, a, b) for kind, a, b in results)
        self.statements.append(If(condition, tuple(then), tuple(otherwise), chosen))
        return tuple(c.name for c in chosen)


def at(name: str) -> Index:
    """A register as an index."""
    return index(name)


def power(b: LoopBuilder, base: str, exponent: str, kind: Kind) -> str:
    """An integer to a non-negative power by repeated squaring, which is exact modulo the width."""
    one, wide = b.constant(Kind.I64, 1), Kind.I64
    left = exponent if kind is wide else b.apply("convert", (exponent,), kind, wide)
    carried = [(kind, b.constant(kind, 1), None), (kind, base, None), (wide, left, None)]
    with b.range(LoopKind.SERIAL, Index((), 63), carried) as loop:
        result, square, left = loop.inside
        is_odd = b.apply("ne", (b.apply("band", (left, one), wide, wide), b.constant(wide, 0)), wide, Kind.BOOL)
        more = b.apply("select", (is_odd, b.apply("mul", (result, square), kind, kind), result), kind, kind)
        rest = b.apply("shr", (one, left), wide, wide)
        loop.yields = more, b.apply("mul", (square, square), kind, kind), rest
        loop.until = b.compare("le", at(rest), ZERO)
    return loop.results[0]


def integer(b: LoopBuilder, function: str, left: str, right: str) -> str:
    """Applies a function to two integers."""
    return b.apply(function, (left, right), Kind.I64, Kind.I64)


def quotient(b: LoopBuilder, number: Index, divisor: int) -> Index:
    """The floor of a number divided by a power of two."""
    require_invariant(divisor.bit_count() == 1, f"{divisor} is a power of two")
    return at(integer(b, "shr", b.constant(Kind.I64, divisor.bit_length() - 1), b.number(number)))
