"""The typed core: flat, single-assignment, first-order.

A `Block` is a list of ops over value ids; ids are unique in the whole program, so a nested block
refers to an outer value simply by its id.  No function value, tuple, operator, index origin or
surface sugar is left: functions are inlined or are `Call`s of annotated definitions, tuples are
several values, positions are stored from 0 and converted where they become numbers.

Conventions every op obeys:
  * Operands already have the kind the op computes in (the elaborator inserts `convert`).
  * Shapes are in `Core.types`; sizes are polynomials over size variables, bound at load; a run-time
    size variable is *defined* by exactly one op (`Compress.size`, …) and is at most its cap.
  * Axes are 0-based ints.  A `Fill` is the prototype of the kind: 0, False, blank.

Neighbours: built by `typechecker.elaborate`, executed directly by `backend.reference`,
lowered by `backend.graph.lower`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NewType, TypeAlias

from ..lang import program_tree
from ..lang.reading_clauses import AS_WRITTEN, Reading
from ..lang.records import dataclass
from ..lang.source import Source, Span
from .elements import Kind
from .obligations import Obligation, SizeFact
from .sizes import Size, SizeVariable
from .types import ArrayType

ValueId = NewType("ValueId", int)
Payload: TypeAlias = bool | int | float | complex | str


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant array in row-major order; its type is `Core.types[result]` and all its sizes are numbers."""

    result: ValueId
    data: tuple[Payload, ...]


@dataclass(frozen=True, slots=True)
class SizeVector:
    """Sizes as an i64 value: a scalar when `scalar` (one size), else a vector.  May be negative."""

    result: ValueId
    sizes: tuple[Size, ...]
    scalar: bool


@dataclass(frozen=True, slots=True)
class Scalar:
    """Element-wise work: `function` of `backend`-independent name, see `typechecker.scalars`.

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
class Spread:
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
class Windows:
    """result[i…, j…, t…] = arg[i+j…, t…]: result shape `(n-k)+1 …` ⧺ `k …` ⧺ rest, for the leading `count` axes."""

    result: ValueId
    arg: ValueId
    count: int


@dataclass(frozen=True, slots=True)
class Gather:
    """result[a… i… b…] = arg[a… indices[i…] b…]: select along `axis`.

    `checked`: indices are not proved in range, so a run checks every one (E310).  `fills`: index -1 gives a fill.
    `shift`: the indices are counts of bits, checked for a shift of this kind.  `place`: which axis it is, of how many, where the
    program indexes an array of several axes; `beside`: the indices of other axes of those that are numbers, at `axes`, which a
    failure tells; those before it that arg still has are checked first.
    """

    result: ValueId
    arg: ValueId
    indices: ValueId
    axis: int
    checked: bool
    fills: bool = False
    shift: Kind | None = None
    place: tuple[int, int] | None = None
    beside: tuple[ValueId, ...] = ()
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


@dataclass(frozen=True, slots=True)
class MaskUpdate:
    """arg with its major cells (or elements, if the mask has arg's shape) where `mask` holds replaced, in order, by the
    major cells of `value` (leading size = number of true elements)."""

    result: ValueId
    arg: ValueId
    mask: ValueId
    value: ValueId


@dataclass(frozen=True, slots=True)
class Reduce:
    """Reduce one axis with an associative-or-not scalar `function`, APL right to left.

    Float `add` and `mul` follow the fixed order of sums (phases.md), other associative functions any
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
class Fold:
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
class RuntimeSize:
    """Define `size` as the value of a scalar integer known to lie in 0..cap (clamped check E403 when run)."""

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


@dataclass(frozen=True, slots=True)
class Library:
    """A function on whole arrays or cells by its name, which is also that of its phase in the registry of `backend.graph`.

    first_occurrence(x): bool[n], is this major cell the first equal to it?
    grade(x), descending: the stable permutation that sorts the major cells, lexicographic, NaN last.
    grade_by(order, x), descending: of text, by a char vector; unknown characters last.
    index_of(table, x): the first position of each cell of x among the major cells of the table; n if absent.
    member_of(x, table): bool of x's shape, does the element occur anywhere in the table?
    find(pattern, x): bool of x's shape, does the pattern (rank raised by leading 1s) start here?
    interval_index(table, x): (count of major cells of the sorted table ≤ cell) - 1, for each cell of x.
    match(x, y): scalar bool, same shape and equal elements.
    decode(radix, x): mixed-radix value over radix's last and x's first axis (a scalar or length-1 side extends).
    encode(radix, x): digits in the radix vectors along radix's first axis, shape (⍴radix) ⧺ ⍴x.
    random(key): uniform f64 in [0, 1) from an i64 scalar or pair; element i is Philox-4x32-10 of (key, i).
    inverse solve fft ifft rfft irfft cholesky qr svd eigh det: leading axes beyond the cell rank are a frame (fft: last axis).
    """

    results: tuple[ValueId, ...]
    name: str
    args: tuple[ValueId, ...]
    attributes: tuple[tuple[str, bool], ...] = ()


def named(result: ValueId, name: str, *args: ValueId, **attributes: bool) -> Library:
    """A library function with one result."""
    return Library((result,), name, args, tuple(attributes.items()))


@dataclass(frozen=True, slots=True)
class Format:
    """⍕: text of a value as it would print; with `digits` a row for each item, with so many after the point.  Defines `size`, the
    result's last axis."""

    result: ValueId
    arg: ValueId
    size: SizeVariable
    digits: int | None = None


@dataclass(frozen=True, slots=True)
class Lift:
    """Apply `body` to cells: argument i splits into its leading `frames[i]` axes and a cell; `frame` is the principal
    frame's shape, every other frame a prefix of it.  Results have shape frame ⧺ the body result's shape."""

    results: tuple[ValueId, ...]
    args: tuple[ValueId, ...]
    frames: tuple[int, ...]
    frame: tuple[Size, ...]
    body: Block


@dataclass(frozen=True, slots=True)
class Loop:
    """Iterate `body` on the state `trip` times (a trip count known only when run is a size that `RuntimeSize` defined).

    The body's parameters are the major cells of `cells` for the turn, first to last, and then the state.  `index`: a size that is
    the number of the turn, from 0, in the body; with `premised` what was proved of the body needed that it runs, so that
    nothing of it may be done before the loop unless `trip` is at least 1.

    `until`: a block over (new state…, old state…) giving a scalar bool, tested after each step; the loop
    stops once it holds (never with `keep`).  `keep`: each result has one more leading axis of trip+1 states, the initial first.
    """

    results: tuple[ValueId, ...]
    initial: tuple[ValueId, ...]
    trip: Size
    body: Block
    until: Block | None
    keep: bool
    cells: tuple[ValueId, ...] = ()
    index: SizeVariable | None = None
    premised: bool = False


@dataclass(frozen=True, slots=True)
class Branch:
    """Scalar bool `condition` picks a block of no parameters.  A size that differs between the arms is
    defined here: `sizes` pairs each such run-time variable with (then, else) sizes."""

    results: tuple[ValueId, ...]
    condition: ValueId
    then: Block
    otherwise: Block
    sizes: tuple[tuple[SizeVariable, Size, Size], ...] = ()


@dataclass(frozen=True, slots=True)
class Print:
    """Print a value; effects keep the order of the block.  `goes_on`: is it one of several with the value printed before it?"""

    arg: ValueId
    goes_on: bool = False


Op: TypeAlias = (
    Literal | SizeVector | Scalar | Iota | IotaGrid | Reshape | Transpose | Spread | Reverse | Rotate | Slice | Join
    | Stack | Windows | Gather | Update | MaskUpdate | Reduce | Scan | Fold | FoldScan | Contract | Compress | Expand
    | Where | RuntimeSize | KeyReduce | Library | Format | Lift | Loop | Branch | Print
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Block:
    """`params` are bound by the enclosing op; `results` may be any visible values."""

    params: tuple[ValueId, ...]
    ops: tuple[Op, ...]
    results: tuple[ValueId, ...]


@dataclass(frozen=True, slots=True)
class CoreInput:
    """`input name : type ← path`: the size variables in its type bind from the file's header.

    `default`: it is a param, whose items these are unless others are set."""

    name: str
    value: ValueId
    path: str | None
    span: Span
    default: tuple[Payload, ...] | None = None
    reading: Reading = AS_WRITTEN


@dataclass(frozen=True, slots=True)
class CoreParam:
    """`param name ← default` of a natural number, which is a size."""

    name: str
    variable: SizeVariable
    default: int
    span: Span


@dataclass(frozen=True, slots=True)
class CoreGuard:
    """A fact that loading must check (E701), and the obligation it came from.

    `index`: it is checked in each turn of the loop with this index.  `runs`: it matters only where this size is at least 1."""

    fact: SizeFact
    obligation: Obligation
    index: SizeVariable | None = None
    runs: Size | None = None

    def variables(self) -> frozenset[SizeVariable]:
        """The sizes that must be known before it can be checked."""
        found = self.fact.left.variables() | self.fact.right.variables()
        if self.runs is not None:
            found |= self.runs.variables()
        return found if self.index is None else found | {self.index}

    def holds(self, sizes: Mapping[SizeVariable, int]) -> bool:
        """Is it true, or of no account, for these sizes?"""
        return (self.runs is not None and self.runs.evaluate(sizes) < 1) or self.fact.holds(sizes)


@dataclass(frozen=True, slots=True)
class CoreOutput:
    name: str
    value: ValueId
    span: Span
    reading: Reading = AS_WRITTEN


@dataclass(frozen=True, slots=True)
class CoreCall:
    """A call, expanded in place, of a function whose signature states quantities: what it promises about its arguments.

    The ops of its body are those that make values `first` to `last` (exclusive).  `reads` has every argument whose
    quantity is stated, with its bounds; an upper bound of None is ω.
    """

    span: Span
    first: ValueId
    last: ValueId
    results: tuple[ValueId, ...]
    reads: tuple[tuple[ValueId, Size, Size | None], ...]


@dataclass(frozen=True, slots=True)
class Core:
    """A checked program.

    `types`, `spans`, `names` describe values; every op's results are in `types` and `spans`, `names` has those bound at
    top level.  `shown` lists what the program shows in order: (name or "", value) of every top-level print.  `solved` are facts
    that a solver proved: loading evaluates them as it does the guards, for nothing that others proved is believed where memory
    depends on it.
    """

    block: Block
    inputs: tuple[CoreInput, ...]
    params: tuple[CoreParam, ...]
    outputs: tuple[CoreOutput, ...]
    guards: tuple[CoreGuard, ...]
    types: Mapping[ValueId, ArrayType]
    spans: Mapping[ValueId, Span]
    names: Mapping[ValueId, str]
    schedules: tuple[program_tree.Schedule, ...]
    sources: tuple[Source, ...]
    calls: tuple[CoreCall, ...] = ()
    solved: tuple[CoreGuard, ...] = ()

    @property
    def data(self) -> tuple[CoreInput, ...]:
        """The inputs that have files."""
        return tuple([entry for entry in self.inputs if entry.default is None])

    @property
    def settings(self) -> tuple[CoreInput, ...]:
        """The params that are no sizes."""
        return tuple([entry for entry in self.inputs if entry.default is not None])

    def facts(self) -> list[SizeFact]:
        """What holds wherever the program runs, because loading checks it."""
        return [guard.fact for guard in self.guards if guard.index is None and guard.runs is None]


def kind_of(core: Core, value: ValueId) -> Kind:
    """The storage kind of a value."""
    return core.types[value].element.kind
