"""The operations of the typed core, a flat, first-order program in single assignment; blocks, and whole programs.

Value ids are unique in the whole program.  Functions are inlined, but for large ones (`Invoke`); tuples are several values, and
positions are stored from 0 and converted where they become numbers, so no function value, tuple, operator or index origin is
left.  A `Block` is a list of ops
over value ids, so a nested block refers to an outer value by its id.

Conventions of every op:
  * Operands have the kind that the op computes in (the elaborator inserts `convert`).
  * Shapes are in `Core.types`; sizes are polynomials over size variables, which loading binds.  A runtime size variable is
    *defined* by exactly one op (`Compress.size`, …) and is at most its cap.
  * Axes are 0-based ints.  A fill is the prototype of the kind: 0, False, blank.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, NewType, TypeAlias

from ...lang.support.records import dataclass, field, field_names, replace
from ...lang.syntax.source import Source, Span
from ...lang.tree import program
from ...lang.tree.program import AS_WRITTEN, ColumnFormat
from ..elements import ArrayType, Kind
from ..proof.obligations import Obligation, SizeFact
from ..sizes.polynomials import Size, SizeVariable

ValueId = NewType("ValueId", int)
Payload: TypeAlias = bool | int | float | complex | str


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant array in row-major order; its type is `Core.types[result]` and all its sizes are numbers."""

    result: ValueId
    data: tuple[Payload, ...]


@dataclass(frozen=True, slots=True)
class SizeVector:
    """Sizes as an i64 value: a scalar if `scalar` (one size), else a vector.  They may be negative."""

    result: ValueId
    sizes: tuple[Size, ...]
    scalar: bool


@dataclass(frozen=True, slots=True)
class Scalar:
    """An elementwise function, named as in `typechecker.elements`.

    Operand shapes are prefixes of the result's shape (the principal frame); missing trailing axes
    replicate.  `parameter` is the circular function's number or unused.
    """

    result: ValueId
    function: str
    args: tuple[ValueId, ...]
    parameter: int = 0


@dataclass(frozen=True, slots=True)
class Iota:
    """0, 1, …, n-1 as i64; n is the result's only axis."""

    result: ValueId


@dataclass(frozen=True, slots=True)
class IotaGrid:
    """All positions of a box: result `i64[a b … r]`, each last-axis cell a position counted from 0."""

    result: ValueId


@dataclass(frozen=True, slots=True)
class Reshape:
    """Row-major reshape to the result's shape: equal products are a view, else it cycles or truncates; from an
    empty operand it gives fills."""

    result: ValueId
    arg: ValueId


@dataclass(frozen=True, slots=True)
class Transpose:
    """Operand axis i becomes result axis `axes[i]`; a repeated axis takes the diagonal (minimum length)."""

    result: ValueId
    arg: ValueId
    axes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Broadcast:
    """Replicate: operand axis i is result axis `axes[i]` (distinct, same size); result axes not named are new."""

    result: ValueId
    arg: ValueId
    axes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reverse:
    result: ValueId
    arg: ValueId
    axis: int


@dataclass(frozen=True, slots=True)
class Rotate:
    """result[…i…] = arg[…(i+amount) mod n…].  `amount` is a scalar i64 or has arg's shape without `axis`."""

    result: ValueId
    arg: ValueId
    amount: ValueId
    axis: int


@dataclass(frozen=True, slots=True)
class Slice:
    """Take and drop: result[i…] = arg[i+start…] for the leading `len(starts)` axes, a fill outside arg.

    Starts may be negative (overtake from the end).  Result sizes are in the result's shape.
    """

    result: ValueId
    arg: ValueId
    starts: tuple[Size, ...]


@dataclass(frozen=True, slots=True)
class Join:
    """Concatenate along `axis`; all operands have the result's rank."""

    result: ValueId
    args: tuple[ValueId, ...]
    axis: int


@dataclass(frozen=True, slots=True)
class Stack:
    """Operands of one shape become the cells of a new axis at `axis`."""

    result: ValueId
    args: tuple[ValueId, ...]
    axis: int = 0


@dataclass(frozen=True, slots=True)
class SlidingWindows:
    """result[i…, j…, t…] = arg[i+j…, t…]: result shape `(n-k)+1 …` ⧺ `k …` ⧺ rest, for the leading `count` axes."""

    result: ValueId
    arg: ValueId
    count: int


@dataclass(frozen=True, slots=True)
class Indexing:
    """The text of an index, for the message of a failed check: it is on `axis` of `rank` axes and counted from `origin`; `spans`
    are those of the indices by axis."""

    axis: int
    rank: int
    origin: int
    spans: tuple[Span | None, ...] = field(default=(), compare=False)

    def on(self, axis: int) -> Indexing:
        """The index of another axis of the same brackets."""
        return replace(self, axis=axis)

    @property
    def span(self) -> Span | None:
        return self.spans[self.axis] if self.axis < len(self.spans) else None


@dataclass(frozen=True, slots=True)
class Gather:
    """result[a… i… b…] = arg[a… indices[i…] b…]: select along `axis`.

    `checked`: indices are not proved in range, so a run checks each of them (E310).  `fills`: index -1 gives a fill. `shift`: the
    indices are counts of bits, checked for a shift of this kind.  `indexing` describes the index in the program, `other_indices`
    are the scalar indices of the other axes `axes`; both are for the message of a failure.  Axes of arg before `axis` are checked
    first.
    """

    result: ValueId
    arg: ValueId
    indices: ValueId
    axis: int
    checked: bool
    fills: bool = False
    shift: Kind | None = None
    indexing: Indexing | None = None
    other_indices: tuple[ValueId, ...] = ()
    axes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Update:
    """arg with `arg[i;j;…] ← value`.  One entry an axis of arg, None takes the axis whole; index arrays combine as
    outer product; value has shape of the selection or is a scalar; among duplicates the last wins."""

    result: ValueId
    arg: ValueId
    indices: tuple[ValueId | None, ...]
    value: ValueId
    checked: bool
    indexing: Indexing | None = None


@dataclass(frozen=True, slots=True)
class MaskedUpdate:
    """arg with its major cells (or elements, if the mask has arg's shape) where `mask` holds replaced, in order, by the
    major cells of `value` (leading size = number of true elements)."""

    result: ValueId
    arg: ValueId
    mask: ValueId
    value: ValueId


@dataclass(frozen=True, slots=True)
class Reduce:
    """Reduce one axis with an associative-or-not scalar `function`, APL right to left.

    Float `add` and `mul` follow the fixed order of sums (docs/kernels.md), other associative functions any
    order, the rest (`sub div pow lt …`) exactly right to left.  Length 0 gives the identity.
    """

    result: ValueId
    function: str
    arg: ValueId
    axis: int


@dataclass(frozen=True, slots=True)
class Scan:
    """item i is the right-to-left reduction of the first i+1 items along `axis`; `function` as in Reduce.

    Float `add` is the sequential running sum; `sub div` are alternating sums and products."""

    result: ValueId
    function: str
    arg: ValueId
    axis: int


@dataclass(frozen=True, slots=True)
class Contract:
    """`+.×`: sum over arg `left`'s last and `right`'s first axis (numeric kinds, same kind)."""

    result: ValueId
    left: ValueId
    right: ValueId


@dataclass(frozen=True, slots=True)
class Compress:
    """Keep the cells along `axis` whose mask element holds; defines `size` (≤ n), the result's length there."""

    result: ValueId
    mask: ValueId
    arg: ValueId
    axis: int
    size: SizeVariable


@dataclass(frozen=True, slots=True)
class Expand:
    """Cells of arg along `axis` go where the mask holds, fills elsewhere; `checked`: +/mask = n is checked when run."""

    result: ValueId
    mask: ValueId
    arg: ValueId
    axis: int
    checked: bool


@dataclass(frozen=True, slots=True)
class Where:
    """Positions of true elements: `i64[k]` for a vector, `i64[k r]` for rank r > 1; defines `size`."""

    result: ValueId
    mask: ValueId
    size: SizeVariable


@dataclass(frozen=True, slots=True)
class BindSize:
    """Define `size` as the value of a scalar integer, checked to be in 0..cap (E403)."""

    value: ValueId
    size: SizeVariable


@dataclass(frozen=True, slots=True)
class KeyReduce:
    """Reduce the major cells of `arg` by bin: result[b…] = function over cells whose index is b; identity if none.

    `indices` has shape prefix of arg's; bins = result's leading size; out-of-range index is E310 when `checked`."""

    result: ValueId
    function: str
    indices: ValueId
    arg: ValueId
    checked: bool
    indexing: Indexing | None = None


@dataclass(frozen=True, slots=True)
class Library:
    """A function on whole arrays or cells, by the name of its phase in the registry of `backend.graph`.

    first_occurrence(x): bool[n], is this major cell the first equal to it?
    grade(x), descending: the stable permutation that sorts the major cells, lexicographic, NaN last.
    grade_by(order, x), descending: of text, by a char vector; unknown characters last.
    index_of(table, x): the first position of each cell of x among the major cells of the table; n if absent.
    member_of(x, table): bool of x's shape, does the element occur anywhere in the table?
    find(pattern, x): bool of x's shape, does the pattern (rank raised by leading 1s) start here?
    interval_index(table, x): (count of major cells of the sorted table ≤ cell) - 1, for each cell of x.
    match(x, y): scalar bool, same shape and equal elements.
    decode(radix, x): mixed-radix value over radix's last and x's first axis (a scalar or length-1 side extends).
    encode(radix, x): digits in the radix vectors along radix's first axis, shape (⍴radix) ⧺ ⍴x: a digit is the residue of what
        the later ones leave, the whole number nearest to (x - digit) ÷ radix.
    random(key): uniform f64 in [0, 1) from an i64 scalar or pair; element i is Philox-4x32-10 of (key, i).
    inverse solve fft ifft rfft irfft cholesky qr svd eigh det: leading axes beyond the cell rank are a frame (fft: last axis).
    """

    results: tuple[ValueId, ...]
    name: str
    args: tuple[ValueId, ...]
    attributes: tuple[tuple[str, bool], ...] = ()


def library_op(result: ValueId, name: str, *args: ValueId, **attributes: bool) -> Library:
    """A library function with one result."""
    return Library((result,), name, args, tuple(attributes.items()))


@dataclass(frozen=True, slots=True)
class Format:
    """⍕: the text of a value as it would print; with `digits`, a row for each item with that many digits after the point.
    Defines `size`, the result's last axis."""

    result: ValueId
    arg: ValueId
    size: SizeVariable
    digits: int | None = None


@dataclass(frozen=True, slots=True)
class CorePrint:
    """Print a value; effects keep the order of the block.  `goes_on`: it is an item of the tuple whose item was printed
    before."""

    arg: ValueId
    goes_on: bool = False


# ---------------------------------------------------------------------------------------------------- ops with blocks

@dataclass(frozen=True, slots=True)
class CoreFold:
    """Reduce the leading axis with a block of two parameters (⍺ item, ⍵ accumulator), right to left; length ≥ 1.

    Operands are several in step (a tuple reduces as one); `body.params` is all ⍺ then all ⍵."""

    results: tuple[ValueId, ...]
    args: tuple[ValueId, ...]
    body: Block


@dataclass(frozen=True, slots=True)
class FoldScan:
    """Scan the leading axis with a block, left to right: acc ← acc body item; `body.params` is accumulators, then items."""

    results: tuple[ValueId, ...]
    args: tuple[ValueId, ...]
    body: Block


@dataclass(frozen=True, slots=True)
class MapCells:
    """Apply `body` to cells: argument i splits into its leading `frames[i]` axes and a cell; `frame` is the principal
    frame's shape, every other frame a prefix of it.  Results have shape frame ⧺ the body result's shape."""

    results: tuple[ValueId, ...]
    args: tuple[ValueId, ...]
    frames: tuple[int, ...]
    frame: tuple[Size, ...]
    body: Block


@dataclass(frozen=True, slots=True)
class CoreLoop:
    """Iterate `body` on the state `trip` times (a trip count known only at run time is a size that `BindSize` defined).

    The body's parameters are the major cells of `cells` for the iteration, first to last, and then the state.  `index` is a size
    variable: the number of the iteration, from 0.  `needs_iteration`: facts about the body were proved from the existence of an
    iteration, so nothing may be hoisted out of the loop unless `trip` is at least 1.

    `until` is a block from (new state…, old state…) to a scalar bool, tested after each iteration; the loop stops once it holds
    (never with `keep`).  `keep`: each result has one more leading axis of trip+1 states, the initial one first.
    """

    results: tuple[ValueId, ...]
    initial: tuple[ValueId, ...]
    trip: Size
    body: Block
    until: Block | None
    keep: bool
    cells: tuple[ValueId, ...] = ()
    index: SizeVariable | None = None
    needs_iteration: bool = False


@dataclass(frozen=True, slots=True)
class CoreBranch:
    """The scalar bool `condition` selects one of two blocks without parameters.  A size that differs between the arms is defined
    here: `sizes` has each such runtime variable with its sizes (then, otherwise).  `needs_condition`: facts about an arm were
    proved from the condition, so no arm may be computed before it is known."""

    results: tuple[ValueId, ...]
    condition: ValueId
    then: Block
    otherwise: Block
    sizes: tuple[tuple[SizeVariable, Size, Size], ...] = ()
    needs_condition: bool = False


@dataclass(frozen=True, eq=False)
class CoreFunction:
    """A function that calls share: a program whose inputs are the parameters and whose outputs are the results.

    Each call gives its `sizes` values.  `defines`: the run-time sizes in the types of its results, each with the number of the
    result and the axis whose length it is.  Values and sizes are numbered apart from those of the program that calls it."""

    name: str
    core: Core
    sizes: tuple[SizeVariable, ...]
    defines: tuple[tuple[SizeVariable, int, int], ...]


@dataclass(frozen=True, slots=True)
class Invoke:
    """A call that is not inlined; `sizes` are the values of the function's sizes, `defines` the run-time sizes of the results."""

    results: tuple[ValueId, ...]
    function: CoreFunction
    args: tuple[ValueId, ...]
    sizes: tuple[Size, ...]
    defines: tuple[SizeVariable, ...]


Op: TypeAlias = (
    Literal | SizeVector | Scalar | Iota | IotaGrid | Reshape | Transpose | Broadcast | Reverse | Rotate | Slice | Join
    | Stack | SlidingWindows | Gather | Update | MaskedUpdate | Reduce | Scan | CoreFold | FoldScan | Contract | Compress | Expand
    | Where | BindSize | KeyReduce | Library | Format | MapCells | CoreLoop | CoreBranch | Invoke
    | CorePrint
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Block:
    """`params` are bound by the enclosing op; `results` may be any visible values."""

    params: tuple[ValueId, ...]
    ops: tuple[Op, ...]
    results: tuple[ValueId, ...]


@dataclass(frozen=True, slots=True)
class CoreInput:
    """`input name : type ← path`: the size variables in its type are bound from the file's header.

    `default`: the items of a param, used unless others are set.  `pattern`: the text of the default of a param that is a regular
    expression; another value is another program."""

    name: str
    value: ValueId
    path: str | None
    span: Span
    default: tuple[Payload, ...] | None = None
    reading: ColumnFormat = AS_WRITTEN
    pattern: Span | None = None


@dataclass(frozen=True, slots=True)
class CoreParam:
    """`param name ← default` of a natural number, which may stand in types as a size."""

    name: str
    variable: SizeVariable
    default: int
    span: Span


@dataclass(frozen=True, slots=True)
class CoreGuard:
    """A fact that loading must check (E701), and the obligation it came from.

    `index`: it is checked in each iteration of the loop with this index instead.  `runs`: it is required only where this size is
    at least 1."""

    fact: SizeFact
    obligation: Obligation
    index: SizeVariable | None = None
    runs: Size | None = None

    @property
    def holds_always(self) -> bool:
        """Does the fact hold whenever the program runs?"""
        return self.index is None and self.runs is None

    def variables(self) -> frozenset[SizeVariable]:
        """The size variables that must be bound before it can be checked."""
        variables = self.fact.left.variables() | self.fact.right.variables()
        if self.runs is not None:
            variables |= self.runs.variables()
        return variables if self.index is None else variables | {self.index}

    def holds(self, sizes: Mapping[SizeVariable, int]) -> bool:
        """Is it true, or not required, for these sizes?"""
        return (self.runs is not None and self.runs.evaluate(sizes) < 1) or self.fact.holds(sizes)


@dataclass(frozen=True, slots=True)
class CoreOutput:
    name: str
    value: ValueId
    span: Span
    reading: ColumnFormat = AS_WRITTEN


@dataclass(frozen=True, slots=True)
class CoreCall:
    """An inlined call of a function whose signature states quantities, which are the reads of its arguments.

    The ops of its body define the values from `first` up to, not including, `last`.  `reads` has every argument whose quantity is
    stated, with its lower and upper bound (None is ω).
    """

    span: Span
    first: ValueId
    last: ValueId
    results: tuple[ValueId, ...]
    reads: tuple[tuple[ValueId, Size, Size | None], ...]


class Recomputed(NamedTuple):
    """A loop of `trip` iterations whose gradient stores few states and recomputes the others."""

    span: Span
    trip: Size


@dataclass(frozen=True, slots=True)
class Core:
    """A checked program.

    `types`, `spans` and `names` describe values; every op's results are in `types` and `spans`, `names` has the values bound at
    top level.  `solver_assumptions` are facts that the solver proved: loading evaluates them like guards, so that memory safety
    does not depend on the solver.
    """

    block: Block
    inputs: tuple[CoreInput, ...]
    params: tuple[CoreParam, ...]
    outputs: tuple[CoreOutput, ...]
    guards: tuple[CoreGuard, ...]
    types: Mapping[ValueId, ArrayType]
    spans: Mapping[ValueId, Span]
    names: Mapping[ValueId, str]
    schedules: tuple[program.ScheduleBlock, ...]
    sources: tuple[Source, ...]
    calls: tuple[CoreCall, ...] = ()
    solver_assumptions: tuple[CoreGuard, ...] = ()
    recomputed: tuple[Recomputed, ...] = ()

    @property
    def data(self) -> tuple[CoreInput, ...]:
        """The inputs that have files."""
        return tuple([entry for entry in self.inputs if entry.default is None])

    @property
    def settings(self) -> tuple[CoreInput, ...]:
        """The params that are not sizes."""
        return tuple([entry for entry in self.inputs if entry.default is not None])

    def facts(self) -> list[SizeFact]:
        """The facts that hold whenever the program runs, because loading checks them."""
        return [guard.fact for guard in self.guards if guard.holds_always]


# ---------------------------------------------------------------------------------------------------- traversal
#
# The results, operands and blocks of an op, and the outer values that its blocks read.

OPERANDS = frozenset({
    "arg", "args", "left", "right", "mask", "indices", "value", "amount", "initial",
    "cells", "other_indices",
    "condition",
})  # fmt: skip


_FIELDS: dict[type[object], tuple[tuple[str, ...], tuple[str, ...]]] = {}


def _fields(op: Op) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the operands and of the results of an op's class."""
    known = _FIELDS.get(type(op))
    if known is None:
        names = field_names(type(op))
        known = tuple([n for n in names if n in OPERANDS]), tuple([n for n in names if n in ("result", "results")])
        _FIELDS[type(op)] = known
    return known


def _values(op: Op, names: tuple[str, ...]) -> tuple[ValueId, ...]:
    values: list[ValueId] = []
    for name in names:
        value = getattr(op, name)
        values += [item for item in value if item is not None] if isinstance(value, tuple) else [value]
    return tuple(values)


def operands_of(op: Op) -> tuple[ValueId, ...]:
    """The operands of an op."""
    return _values(op, _fields(op)[0])


def results_of(op: Op) -> tuple[ValueId, ...]:
    """The values an op defines."""
    return _values(op, _fields(op)[1])


def blocks_of(op: Op) -> tuple[Block, ...]:
    match op:
        case MapCells() | CoreFold() | FoldScan():
            return (op.body,)
        case CoreLoop():
            return (op.body,) if op.until is None else (op.body, op.until)
        case CoreBranch():
            return op.then, op.otherwise
        case _:
            return ()


def all_ops(ops: Sequence[Op]) -> Iterator[Op]:
    """Every op, also in nested blocks."""
    pending = list(reversed(ops))
    while pending:
        op = pending.pop()
        yield op
        for block in blocks_of(op):
            pending.extend(reversed(block.ops))


def defined_sizes(op: Op) -> tuple[SizeVariable, ...]:
    """The runtime sizes an op itself defines, without those of its blocks."""
    match op:
        case Compress() | Where() | BindSize() | Format():
            return (op.size,)
        case CoreBranch():
            return tuple([variable for variable, _, _ in op.sizes])
        case Invoke():
            return op.defines
        case _:
            return ()


def field_sizes(op: Op) -> Iterator[Size]:
    """The sizes in an op's own fields."""
    match op:
        case SizeVector() | Invoke():
            yield from op.sizes
        case Slice():
            yield from op.starts
        case CoreLoop():
            yield op.trip
        case MapCells():
            yield from op.frame
        case CoreBranch():
            for _, then, otherwise in op.sizes:
                yield then
                yield otherwise
        case _:
            return


def captured(block: Block) -> frozenset[ValueId]:
    """The outer values that a block, or a block in it, reads."""
    defined, read = defined_and_read(block)
    return frozenset(read - defined)


def defined_and_read(block: Block) -> tuple[set[ValueId], set[ValueId]]:
    """The values that a block, with its nested blocks, defines, and those that it reads."""
    defined: set[ValueId] = set()
    read: set[ValueId] = set()
    pending = [block]
    while pending:
        current = pending.pop()
        defined.update(current.params)
        read.update(current.results)
        for op in current.ops:
            defined.update(results_of(op))
            read.update(operands_of(op))
            pending += blocks_of(op)
    return defined, read
