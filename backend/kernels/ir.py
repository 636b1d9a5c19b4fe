"""The kernel IR: one loop nest over strided memory with a scalar body, free of addresses and sizes.

A `Kernel` is made from a structured phase whose sizes and layouts are known (`build`), and printed as a loop program
(`backend.loops.lower.kernel`).  It mentions neither sizes nor addresses, so one kernel serves every size: these come in a block
of 64-bit words when it is called (Note [Argument block]).

Axes are loops, outermost first.  `Form` says which of them is the vector axis and which is reduced:
  * MAP: every axis is parallel, the last is the vector axis;
  * ALONG: the last axis is reduced and is the vector axis (rows that are contiguous);
  * ACROSS: the last axis is reduced, the one before it is the vector axis (columns);
  * COLUMNS: as ACROSS, where every reduction is exact in any order, or item by item;
  * FEW: every axis is parallel, the last is of `length` items, the one before it is the vector axis (`short_rows`).

Float reductions follow the order of sums of phases.md: blocks of `ROWS` × `LANES`, halving, a binary tree.  All reductions use
it, as a reduction that is exact in any order may have any.

Note [Argument block].  64-bit words, in order: the size of each axis; the first coordinate of each axis; the scalars; for each
operand its address and its stride in bytes on each axis; for each result its address and its stride in bytes on each parallel
axis; then `FAILURE_WORDS` words for a failed check: the value, widened to 64 bits.  A kernel returns 0, 1 + the body
node whose check failed, or `NO_MEMORY`.

Neighbours: `build` (makes kernels), `loops.lower.kernel` and `cards` (lower them).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias

from ...typechecker.elements import Kind

ROWS: Final = 16
LANES: Final = 256
BLOCK: Final = ROWS * LANES
RUN: Final = 64
"""Items of a block of a scan that are joined one after the other."""
FAILURE_WORDS: Final = 1
NO_MEMORY: Final = -1
"""What a kernel returns that has no memory to work in (`rooms`)."""
FETCH: Final = "fetch"
PROVED: Final = "fetch_proved"
"""`FETCH` of an index that is known to be inside."""
NAME: Final = "kernel"
"""The name of the function that is printed."""


class Form(Enum):
    """See the module."""

    MAP = "map"
    ALONG = "along"
    ACROSS = "across"
    COLUMNS = "columns"
    FEW = "few"


class Step(Enum):
    """How an operand moves along the vector axis."""

    NONE = "none"
    UNIT = "unit"
    REVERSED = "reversed"
    STRIDED = "strided"


class Stores(Enum):
    """STREAMED: results bypass the caches; their addresses are multiples of a vector's bytes."""

    PLAIN = "plain"
    STREAMED = "streamed"


@dataclass(frozen=True, slots=True)
class Operand:
    """`moves`: on which axes its address changes."""

    kind: Kind
    step: Step
    moves: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Load:
    """`part` of a complex operand: 0 is the real one, 1 the imaginary."""

    operand: int
    part: int = -1


@dataclass(frozen=True, slots=True)
class Literal:
    """`bits`: the stored bits, so that 0.0 and -0.0 differ and NaN equals itself."""

    kind: Kind
    bits: int


@dataclass(frozen=True, slots=True)
class Argument:
    """Scalar number `place` of the argument block, an i64."""

    place: int


@dataclass(frozen=True, slots=True)
class Coordinate:
    """The coordinate on an axis, an i64."""

    axis: int


@dataclass(frozen=True, slots=True)
class Apply:
    """A scalar function of `typechecker.scalars` on earlier nodes of kind `compute` (`select`: from the second on).

    `FETCH` is an item of operand number `parameter`: its arguments are an index, the number of items of the indexed axis, and the
    bytes between them; an index outside it is a failed check.  On that axis the operand itself does not move."""

    function: str
    args: tuple[int, ...]
    compute: Kind
    kind: Kind
    parameter: int = 0


@dataclass(frozen=True, slots=True)
class Accumulator:
    """What a reduction from the right has come to (`Result.states`)."""

    kind: Kind


Node: TypeAlias = Load | Literal | Argument | Coordinate | Apply | Accumulator


@dataclass(frozen=True, slots=True)
class Result:
    """Body node `node`, reduced with `reduction` unless the form is MAP; `kind`: the node's, i64 of a place.

    Of a complex kind `node` is the real part and `imaginary` the other.

    A reduction from the right, whose first state is the last item, has `states`, the nodes that are its state (its parts), and
    `following`, those that are the next one."""

    node: int
    kind: Kind
    reduction: str | None
    imaginary: int = -1
    states: tuple[int, ...] = ()
    following: tuple[int, ...] = ()

    @property
    def nodes(self) -> tuple[int, ...]:
        return (self.node,) if self.imaginary < 0 else (self.node, self.imaginary)

    @property
    def roots(self) -> tuple[int, ...]:
        """The nodes that it needs."""
        return *self.nodes, *self.following


@dataclass(frozen=True, slots=True)
class Kernel:
    """With `length` the last axis is of just this length: at most `LANES` items side by side to be reduced (ALONG, `short_rows`),
    or a few to be done for many rows at once (FEW)."""

    form: Form
    axes: int
    operands: tuple[Operand, ...]
    scalars: int
    body: tuple[Node, ...]
    results: tuple[Result, ...]
    stores: Stores = Stores.PLAIN
    length: int = 0

    @property
    def result_axes(self) -> int:
        return self.axes if self.form in (Form.MAP, Form.FEW) else self.axes - 1

    def words(self) -> int:
        """Length of the argument block."""
        head = 2 * self.axes + self.scalars
        return head + len(self.operands) * (1 + self.axes) + len(self.results) * (1 + self.result_axes) + FAILURE_WORDS


def kind_of(kernel: Kernel, node: int) -> Kind:
    """The kind of a body node."""
    match kernel.body[node]:
        case Load(operand, part):
            kind = kernel.operands[operand].kind
            return kind if part < 0 else Kind.F32 if kind is Kind.C64 else Kind.F64
        case Literal(kind) | Apply(kind=kind) | Accumulator(kind):
            return kind
        case Argument() | Coordinate():
            return Kind.I64
