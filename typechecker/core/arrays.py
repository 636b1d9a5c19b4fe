"""The array operations of the typed core, a flat, first-order program in single assignment.

Value ids are unique in the whole program.  Functions are inlined, tuples are several values, and positions are stored from 0 and
converted where they become numbers, so no function value, tuple, operator or index origin is left.

Conventions of every op:
  * Operands have the kind that the op computes in (the elaborator inserts `convert`).
  * Shapes are in `Core.types`; sizes are polynomials over size variables, which loading binds.  A run-time size variable is
    *defined* by exactly one op (`Compress.size`, …) and is at most its cap.
  * Axes are 0-based ints.  A fill is the prototype of the kind: 0, False, blank.
"""

from __future__ import annotations

from typing import NewType, TypeAlias

from ...lang.support.records import dataclass, field, replace
from ...lang.syntax.source import Span
from ..elements import Kind
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
    """How the program writes an index, for the message of a failed check: on `axis` of `rank`, counted from `origin`, with the
    spans of the indices by axis."""

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

    `checked`: indices are not proved in range, so a run checks each of them (E310).  `fills`: index -1 gives a fill.
    `shift`: the indices are counts of bits, checked for a shift of this kind.  `indexing`: how the program writes the index.
    `other_indices` are the scalar indices of the other axes `axes`, for the message of a failure; axes of arg before `axis` are
    checked first.
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
