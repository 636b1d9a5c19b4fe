"""The phase graph: what the core becomes before it is planned.

A `Graph` is a finite, flat list of phases over immutable values, in an order that respects data flow and
effects.  Sizes are symbolic until `bind_sizes.bind` substitutes numbers, for a plan for concrete inputs.
Most work is `Structured`: an iteration space, reads through projections, a scalar body, reductions, writes.
The rest are library phases with declared axis signatures, and `Loop`, `Branch` and `Map` with sub-graphs.

Note [Projections].  A projection maps a point of the iteration space to a point of the operand through a chain
of stages, each an affine map into an index box (`Affine`) or a row-major reinterpretation of a box as another of
equal size (`Reshaped`; the floor-division and remainder of phases.md in one exact step).  Adjacent affine stages
compose by multiplying out, adjacent reshapes by dropping the middle, so view folding is mechanical, and the box
an operand shard needs is computed stage by stage.
"""

from __future__ import annotations

import struct
from collections.abc import Hashable, Mapping, Sequence
from enum import Enum
from typing import Final, NewType, TypeAlias

from ...lang.support.records import dataclass
from ...lang.syntax.source import Span
from ...typechecker.core.operations import CoreGuard, CoreInput, CoreParam, Indexing, Payload
from ...typechecker.elements import ArrayType, Kind
from ...typechecker.sizes.polynomials import Size, SizeVariable

ValueId = NewType("ValueId", int)
PhaseId = NewType("PhaseId", int)


class AxisKind(Enum):
    PARALLEL = "parallel"
    REDUCE = "reduce"


@dataclass(frozen=True, slots=True)
class Axis:
    size: Size
    kind: AxisKind


@dataclass(frozen=True, slots=True)
class Term:
    """`coefficient × point[axis]`."""

    axis: int
    coefficient: int


@dataclass(frozen=True, slots=True)
class AffineIndex:
    """One target index: Σ terms + constant."""

    terms: tuple[Term, ...]
    constant: Size


@dataclass(frozen=True, slots=True)
class Affine:
    """One index per axis of the target box `shape`.  With `fills`, an index outside the box reads the
    kind's fill; without, every index is in the box (the verifier checks it)."""

    indices: tuple[AffineIndex, ...]
    shape: tuple[Size, ...]
    fills: bool = False


@dataclass(frozen=True, slots=True)
class Reshaped:
    """The point lies in box `source`; it is reinterpreted row-major in box `target` (equal products)."""

    source: tuple[Size, ...]
    target: tuple[Size, ...]


Stage: TypeAlias = Affine | Reshaped


@dataclass(frozen=True, slots=True)
class Projection:
    """Stages from the iteration space (first) to the operand (last).  Empty: the identity."""

    stages: tuple[Stage, ...]


@dataclass(frozen=True, slots=True)
class Read:
    value: ValueId
    projection: Projection


# ---------------------------------------------------------------------------- scalar bodies


@dataclass(frozen=True, slots=True)
class ReadNode:
    """The element read by `reads[index]`; where complex numbers are two reals (`lower.body`), its real `part` (0) or its
    imaginary one (1), of kind `kind`."""

    index: int
    kind: Kind
    part: int = 0


def payload_key(value: Payload) -> Hashable:
    """A key that distinguishes payloads which Python's equality does not, such as 0.0 and -0.0."""
    if isinstance(value, float):
        return struct.pack("<d", value)
    if isinstance(value, complex):
        return struct.pack("<dd", value.real, value.imag)
    return (type(value).__name__, value)


@dataclass(frozen=True, slots=True)
class ConstantNode:
    """A literal.  Two are equal if kind and bits are: 1, True, 1.0, 0.0 and -0.0 differ, and NaN equals itself."""

    kind: Kind
    value: Payload

    @property
    def bits(self) -> int:
        """The stored bits of a value that is not complex."""
        return bits_of(self.kind, self.value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConstantNode):
            return NotImplemented
        return self.kind is other.kind and payload_key(self.value) == payload_key(other.value)

    def __hash__(self) -> int:
        return hash((self.kind, payload_key(self.value)))

    def __repr__(self) -> str:
        return f"ConstantNode({self.kind.value}, {payload_key(self.value)!r})"


def bits_of(kind: Kind, value: Payload) -> int:
    """The stored bits of a value of a kind that is not complex."""
    if kind is Kind.CHAR:
        assert isinstance(value, str)
        return ord(value)
    if kind.is_float:
        assert isinstance(value, float | int)
        return int(struct.unpack("<Q", struct.pack("<d", value))[0] if kind is Kind.F64
                   else struct.unpack("<I", struct.pack("<f", value))[0])  # fmt: skip
    assert isinstance(value, int)
    return int(value)


@dataclass(frozen=True, slots=True)
class SizeNode:
    """A size as an i64."""

    size: Size


@dataclass(frozen=True, slots=True)
class AxisNode:
    """The point's coordinate on an axis, i64."""

    axis: int


@dataclass(frozen=True, slots=True)
class ApplyNode:
    """A scalar function of `typechecker.elements` on earlier nodes; `kind` is the result's.

    `span` is set exactly where the function may fail when run (`convert_checked`, real `floor` and `ceil`: E703), so that a
    fused phase still blames the right expression."""

    function: str
    args: tuple[int, ...]
    kind: Kind
    parameter: int = 0
    span: Span | None = None


Node: TypeAlias = ReadNode | ConstantNode | SizeNode | AxisNode | ApplyNode


def kind_of(node: object) -> Kind:
    """The kind of a body node's value."""
    kind: Kind = getattr(node, "kind", Kind.I64)
    return kind


def operand_kind(nodes: Sequence[object], node: ApplyNode) -> Kind:
    """The kind that a function works in: that of its operands, of a `select` those that it selects from."""
    return kind_of(nodes[node.args[1 if node.function == "select" else 0]])


ARGUMENT_REDUCTIONS: Final = frozenset({"argmin", "argmax"})
"""Reductions to the first coordinate of the least or greatest item.  A NaN is beyond every number in both."""


@dataclass(frozen=True, slots=True)
class PhaseResult:
    """A written value: body node `node`, reduced over the reduce axes with `reduction` (None: no reduce axis).

    Its type's shape is the sizes of the parallel axes in order, its kind that of the node, but i64 for `ARGUMENT_REDUCTIONS`."""

    value: ValueId
    node: int
    reduction: str | None


@dataclass(frozen=True, slots=True)
class Structured:
    """`axes`: parallel axes first, then at most one reduce axis.  `body` is single assignment by position.

    Every result has a `reduction` exactly if there is a reduce axis; it is a function of two operands of
    `typechecker.elements` and works in the node's kind.  A function that is not associative is a right fold.  A reduce axis of
    length 0 gives the function's identity.  A size variable in `axes` or a `SizeNode` may be defined by an earlier phase.

    `+/x×y` of vectors of n items has the axes (n, REDUCE), two identity reads, the body (read 0, read 1, mul of 0 and 1) and one
    result: node 2, reduced with "add"."""

    id: PhaseId
    span: Span
    axes: tuple[Axis, ...]
    reads: tuple[Read, ...]
    body: tuple[Node, ...]
    results: tuple[PhaseResult, ...]


# --------------------------------------------------------------------------- library phases


@dataclass(frozen=True, slots=True)
class AxisSignature:
    """How one axis of a library phase may be cut: the `result` axis and the axes of `operands` that are cut with it (None: every
    shard reads the full operand); `combine` names the monoid that joins partial results if the axis is reduced."""

    result: int | None
    operands: tuple[int | None, ...]
    combine: str | None = None


@dataclass(frozen=True, slots=True)
class LibraryPhase:
    """One whole-array operation; `op` is a row of `graph.registry`.

    `args` are the core op's operands in field order (absent ones left out), `attributes` its static fields by name, sizes as
    `Size`, and the result's shape is in `Graph.types`.  Names and attributes:

      size_vector(; sizes) · join(args…; axis) · stack(args…; axis) · rotate(arg, amount; axis) · reshape_cycle(arg) ·
      gather(arg, indices; axis, checked, fills, indexing) ·
      update(arg, present indices…, value; indexed, checked, indexing) where `indexed`
      has one bool an axis of arg · mask_update(arg, mask, value) · scan(arg; function, axis) ·
      contract(left, right) · compress(mask, arg; axis) · expand(mask, arg; axis, checked) · where(mask) · runtime_size(value) ·
      first_occurrence(arg) · grade(arg; descending) · grade_by(order, arg; descending) · index_of(table, arg) ·
      member_of(arg, table) · find(pattern, arg) · interval_index(table, arg) · match(left, right) · decode(radix, arg) ·
      encode(radix, arg) · key_reduce(indices, arg; function, checked, indexing) · random(key) · format(arg) ·
      inverse solve fft ifft rfft irfft cholesky qr svd eigh det (as `core.Library.name`)

    Passes add `sorts` and `needed` to gathers and grades (`passes.algebraic_rules`), and lowering adds to a checked gather
    `other_axes`: the axes that the indices after the second operand index, for the message of a failure.

    Note [Frames].  A lifted op is batched: attribute `frame` (an int, absent when 0) says that the leading `frame` axes of every
    result are a frame, and `framed` (one bool an operand) which operands carry the same leading axes; an operand without
    them serves every point of the frame.  The other attributes speak of the cells: at each point of the frame the op does to
    the cells what it would do without a frame.  With an empty frame nothing is checked.  Ops that define a size have no frame.

    `defines`: the run-time sizes that become known when the phase has run (compress where runtime_size format)."""

    id: PhaseId
    span: Span
    op: str
    args: tuple[ValueId, ...]
    results: tuple[ValueId, ...]
    attributes: Mapping[str, object]
    defines: tuple[SizeVariable, ...]
    signature: tuple[AxisSignature, ...]

    @property
    def indexing(self) -> Indexing | None:
        """How the program writes the indices of a gather, an update or a reduction by key."""
        indexing = self.attributes.get("indexing")
        assert indexing is None or isinstance(indexing, Indexing)
        return indexing


@dataclass(frozen=True, slots=True)
class Input:
    id: PhaseId
    span: Span
    name: str
    result: ValueId


@dataclass(frozen=True, slots=True)
class Constant:
    id: PhaseId
    span: Span
    data: tuple[Payload, ...]
    result: ValueId


@dataclass(frozen=True, slots=True)
class Print:
    id: PhaseId
    span: Span
    arg: ValueId


@dataclass(frozen=True, slots=True)
class Output:
    id: PhaseId
    span: Span
    name: str
    arg: ValueId


@dataclass(frozen=True, slots=True)
class SubGraph:
    """A body: phases over its own params and over visible outer values."""

    params: tuple[ValueId, ...]
    phases: tuple[Phase, ...]
    results: tuple[ValueId, ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """As `core.CoreLoop`; passes never unroll it.  The body's params are a cell of each of `cells`, then the state."""

    id: PhaseId
    span: Span
    trip: Size
    initial: tuple[ValueId, ...]
    results: tuple[ValueId, ...]
    body: SubGraph
    until: SubGraph | None
    keep: bool
    cells: tuple[ValueId, ...] = ()
    index: SizeVariable | None = None
    needs_iteration: bool = False

    @property
    def is_plain(self) -> bool:
        """Do all iterations compute alike: has it neither cells nor an index?"""
        return not self.cells and self.index is None

    @property
    def state(self) -> tuple[ValueId, ...]:
        """The body's params that are the state."""
        return self.body.params[len(self.cells) :]


@dataclass(frozen=True, slots=True)
class Branch:
    id: PhaseId
    span: Span
    condition: ValueId
    results: tuple[ValueId, ...]
    then: SubGraph
    otherwise: SubGraph
    defines: tuple[tuple[SizeVariable, Size, Size], ...]
    needs_condition: bool = False


@dataclass(frozen=True, slots=True)
class Map:
    """A lifted body that could not be batched: runs once per point of `frame`; argument i supplies its leading
    `frames[i]` axes, a prefix of the frame."""

    id: PhaseId
    span: Span
    frame: tuple[Size, ...]
    args: tuple[ValueId, ...]
    frames: tuple[int, ...]
    results: tuple[ValueId, ...]
    body: SubGraph


@dataclass(frozen=True, slots=True)
class Fold:
    """`core.CoreFold` (right to left) or, with `scan`, `core.FoldScan` (left to right): in sequence along the leading axis."""

    id: PhaseId
    span: Span
    args: tuple[ValueId, ...]
    results: tuple[ValueId, ...]
    body: SubGraph
    scan: bool


Phase: TypeAlias = Structured | LibraryPhase | Input | Constant | Print | Output | Loop | Branch | Map | Fold


OFFER: Final = "offer"


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A change by a rule (`passes.pipeline`), for people: the rule's name, its message, and where.  Rule `OFFER`: a rewrite that
    would be quicker but that only the programmer may make; `text` is the expression to write, or empty."""

    rule: str
    says: str
    span: Span
    text: str = ""


class Choice(Enum):
    """What the passes did with a value that the program names."""

    DROPPED = "dropped"
    FUSED = "fused"
    REPEATED = "made again"
    KEPT = "kept"
    IN_PLACE = "in place"


@dataclass(frozen=True, slots=True)
class Decision:
    """The choice for a named value and the reason, such as how often each element is read."""

    choice: Choice
    name: str
    why: str
    span: Span


@dataclass(frozen=True, slots=True)
class Graph:
    """`types` covers every value of every sub-graph.  Effects (Print, Output) keep their order in `phases`.

    `roots`: values named in a `schedule` block, which passes keep as they are (never dead, merged, or fused away)."""

    phases: tuple[Phase, ...]
    types: Mapping[ValueId, ArrayType]
    names: Mapping[ValueId, str]
    inputs: tuple[CoreInput, ...]
    params: tuple[CoreParam, ...]
    guards: tuple[CoreGuard, ...]
    roots: frozenset[ValueId] = frozenset()
    rewritten: tuple[Rewritten, ...] = ()
    decisions: tuple[Decision, ...] = ()
