"""The phase graph: what the core becomes before it is planned; and projections, through which phases read their operands.

A `Graph` is a finite, flat list of phases over immutable values, in an order that respects data flow and effects.  Sizes are
symbolic until `bind_sizes.bind` substitutes numbers, for a plan for concrete inputs. Most work is `Structured`: an iteration
space, reads through projections, a scalar body, reductions, writes. The rest are library phases with declared axis signatures,
and `Loop`, `Branch` and `Map` with sub-graphs.

Note [Projections].  A projection maps a point of the iteration space to a point of the operand through a chain of stages, each
an affine map into an index box (`Affine`) or a row-major reinterpretation of a box as another of equal size (`Reshaped`; the
floor-division and remainder of phases.md in one exact step).  Composition is concatenation followed by simplification, and the
box that an operand shard needs is computed stage by stage.  Simplification keeps these normal forms where sizes allow it to be
seen:

  * no two adjacent affine stages unless the first may fill, no two adjacent reshapes, no stage that changes nothing;
  * terms of an index are sorted by axis, one a term, no zero coefficient;
  * `fills` only where an index may leave the box;
  * a reshape that only adds or drops axes of length 1 is affine, and so is one of axes whose indices are known numbers.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Hashable, Mapping, Sequence
from enum import Enum
from typing import Final, NewType, TypeAlias

from ...lang.support.records import dataclass, field
from ...lang.syntax.source import Span
from ...typechecker.core.operations import CoreGuard, CoreInput, CoreParam, Indexing, Payload
from ...typechecker.elements import ArrayType, Kind
from ...typechecker.sizes.polynomials import ONE, ZERO, AtomKind, NonlinearAtom, Size, SizeVariable, number, product
from ...typechecker.sizes.size import upper_bound

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
    """The element read by `reads[index]`; in bodies that represent complex numbers as two reals (`lower.body`) its real `part`
    (0) or imaginary part (1), of kind `kind`."""

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
    """A literal.  Two are equal if their kinds and bits are: 1, True, 1.0, 0.0 and -0.0 all differ, and NaN equals itself."""

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
    """The kind in which a function works: that of its operands; for a `select`, that of the two values it selects from."""
    return kind_of(nodes[node.args[1 if node.function == "select" else 0]])


ARGUMENT_REDUCTIONS: Final = frozenset({"argmin", "argmax"})
"""Reductions to the first coordinate of the least or greatest item.  A NaN is beyond every number in both."""


@dataclass(frozen=True, slots=True)
class PhaseResult:
    """A written value: body node `node`, reduced over the reduce axes with `reduction` (None: no reduce axis).

    Its type has the sizes of the parallel axes as its shape, and the node's kind (i64 for `ARGUMENT_REDUCTIONS`)."""

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
    shard reads the full operand); `combine` names the monoid that joins partial results if the axis is reduced.

    `block`: points of the longest of these axes for which a shorter one has one item.  A shard reads all of the block in which
    its part begins, so that the phase knows how far in it begins."""

    result: int | None
    operands: tuple[int | None, ...]
    combine: str | None = None
    block: int = 1

    def operand_part(self, part: tuple[int, int], size: int, extent: int) -> tuple[int, int]:
        """The interval of an operand's axis of `extent` items that is read for `part` of the result's axis of `size` items."""
        start, stop = part
        if extent > size:
            return start * self.block, min(stop * self.block, extent)
        first = start // self.block
        return (first * self.block, stop) if extent == size else (first, -(-stop // self.block))


@dataclass(frozen=True, slots=True)
class LibraryPhase:
    """One whole-array operation; `op` is a row of `graph.registry`.

    `args` are the core op's operands in field order (absent ones left out), `attributes` its static fields by name, sizes as
    `Size`, and the result's shape is in `Graph.types`.  Names and attributes:

      size_vector(; sizes) · join(args…; axis) · broadcast(arg; axis) · stack(args…; axis) ·
      rotate(arg, amount; axis) · reshape_cycle(arg) ·
      gather(arg, indices; axis, checked, fills, indexing) ·
      update(arg, present indices…, value; indexed, checked, indexing) where `indexed`
      has one bool an axis of arg · mask_update(arg, mask, value) ·
      scan(arg, before; function, axis) where `before`, if present, has what precedes each block of the order of scans ·
      scan_totals(arg; function, axis) · scan_before(totals; function, axis) ·
      contract(left, right) · compress(mask, arg; axis) · expand(mask, arg; axis, checked) · where(mask) · runtime_size(value) ·
      first_occurrence(arg) · sort(arg; descending) · grade(arg; descending) · grade_by(order, arg; descending) ·
      select_runs(mask, arg; run) · join_runs(selected, counts) · sum_runs(mask, arg, before; function, run) ·
      join_sums(parts, counts; function) · sort_runs(arg; descending, run) · grade_runs(arg; descending, run) ·
      merge_runs(ordered, graded; descending, length) where `graded`, if present, has the items at positions that are ordered ·
      index_of(table, arg) ·
      member_of(arg, table) · find(pattern, arg) · interval_index(table, arg) · match(left, right) · decode(radix, arg) ·
      encode(radix, arg) · key_reduce(indices, arg; function, checked, indexing) · random(key) · format(arg) ·
      inverse solve fft ifft rfft irfft cholesky qr svd eigh det (as `core.Library.name`) ·
      call(args…; callee, sizes), a shared function with the values of its sizes

    Passes make sorts, and add `needed` to sorts and grades (`passes.algebraic_rules`); lowering adds to a checked gather
    `other_axes`: the axes that the indices after the second operand index, for the message of a failure.

    Note [Frames].  A lifted op is batched: attribute `frame` (an int, absent when 0) says that the leading `frame` axes of every
    result are a frame, and `framed` (one bool an operand) which operands carry the same leading axes; an operand without
    them serves every point of the frame.  The other attributes speak of the cells: at each point of the frame the op does to
    the cells what it would do without a frame.  With an empty frame nothing is checked.  Ops that define a size have no frame.

    `defines`: the run-time sizes that become known when the phase has run (compress join_runs where runtime_size format).
    Those that depend on the position of a shard (row `located` of the registry) have where it begins along the
    first axis of a cell as the attribute `origin` (absent: 0)."""

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
    merged: list[tuple[Mapping[ValueId, ArrayType], Phase]] = field(default_factory=list, init=False, repr=False, compare=False)
    """What `merged_loop_body` made of it, with the types of its graph."""

    @property
    def is_plain(self) -> bool:
        """Do all iterations compute the same: does the loop have neither cells nor an index?"""
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
    """A lifted body that could not be batched; it runs once per point of `frame`; argument i supplies its leading `frames[i]`
    axes, a prefix of the frame."""

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
    """A change by a rule (`passes.pipeline`), for people: the rule's name, its message, and where.  The rule `OFFER` is a faster
    rewrite that only the programmer may make; `text` is the expression to write, or empty."""

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


# ---------------------------------------------------------------------------------------------------- projections

IDENTITY: Final = Projection(())
LONGEST_CHAIN: Final = 6
"""The most stages of a projection that passes compose with views."""

Shape: TypeAlias = tuple[Size, ...]
Box: TypeAlias = tuple[tuple[int, int], ...]


def axis_index(axis: int) -> AffineIndex:
    """The coordinate of one axis."""
    return AffineIndex((Term(axis, 1),), ZERO)


def constant_index(value: Size) -> AffineIndex:
    return AffineIndex((), value)


def affine(space: Shape, indices: Sequence[AffineIndex], shape: Shape, *, fills: bool = False) -> Projection:
    """The simplified one-stage projection from `space` into the box `shape`."""
    return simplify(space, (Affine(tuple(indices), shape, fills),))


def compose(space: Shape, first: Projection, second: Projection) -> Projection:
    """The projection that goes from `space` through `first` into the space of `second`, then through `second`."""
    return simplify(space, first.stages + second.stages)


def simplify(space: Shape, stages: Sequence[Stage]) -> Projection:
    """The chain in normal form; `space` is the iteration space it starts from."""
    done: list[Stage] = []
    boxes: list[Shape] = [space]  # boxes[i] is what done[i] starts from
    pending = list(reversed(stages))
    while pending:
        stage = _local(boxes[-1], pending.pop())
        if stage is None:
            continue
        last = done[-1] if done else None
        if isinstance(stage, Affine) and isinstance(last, Affine) and not last.fills:
            done.pop()
            boxes.pop()
            pending.append(_multiply(last, stage))
        elif isinstance(stage, Reshaped) and isinstance(last, Reshaped):
            done.pop()
            boxes.pop()
            pending.append(Reshaped(last.source, stage.target))
        elif isinstance(stage, Reshaped) and isinstance(last, Affine) and not last.fills and (one := _known_digits(last, stage)):
            done.pop()
            boxes.pop()
            pending.append(one)
        else:
            done.append(stage)
            boxes.append(target_of(stage))
    return Projection(tuple(done))


def target_of(stage: Stage) -> Shape:
    return stage.shape if isinstance(stage, Affine) else stage.target


def target(space: Shape, projection: Projection) -> Shape:
    """The box that a projection ends in: the operand's shape."""
    return target_of(projection.stages[-1]) if projection.stages else space


def may_fill(projection: Projection) -> bool:
    return any(isinstance(s, Affine) and s.fills for s in projection.stages)


def is_identity(space: Shape, projection: Projection, shape: Shape) -> bool:
    """Does every point read the operand's element at the point's own index, where the operand has the shape of the space?"""
    return not projection.stages and space == shape


def substitute(projection: Projection, space: Shape, known: Callable[[Size], Size]) -> Projection:
    """The projection with each size replaced by `known(size)`, simplified again (`space` is already replaced)."""
    stages: list[Stage] = []
    for stage in projection.stages:
        match stage:
            case Affine():
                indices = tuple(AffineIndex(i.terms, known(i.constant)) for i in stage.indices)
                stages.append(Affine(indices, tuple(map(known, stage.shape)), stage.fills))
            case Reshaped():
                stages.append(Reshaped(tuple(map(known, stage.source)), tuple(map(known, stage.target))))
    return simplify(space, stages)


# ------------------------------------------------------------------------------------ simplification


def _local(space: Shape, stage: Stage) -> Stage | None:
    """One stage in its simplest form; None if it changes nothing."""
    if isinstance(stage, Reshaped):
        if stage.source == stage.target:
            return None
        unit = _unit_reshape(stage)
        if unit is None:
            return stage
        stage = unit
    if stage.fills and in_bounds(space, stage):
        stage = Affine(stage.indices, stage.shape)
    if not stage.fills and stage.shape == space and all(i == axis_index(a) for a, i in enumerate(stage.indices)):
        return None
    return stage


def _unit_reshape(stage: Reshaped) -> Affine | None:
    """A reshape that only adds or drops axes of length 1, as an affine stage; None for others."""
    source = [a for a, size in enumerate(stage.source) if size != ONE]
    if [stage.source[a] for a in source] != [size for size in stage.target if size != ONE]:
        return None
    axes = iter(source)
    return Affine(tuple(constant_index(ZERO) if size == ONE else axis_index(next(axes)) for size in stage.target), stage.target)


def _known_digits(first: Affine, second: Reshaped) -> Affine | None:
    """`second` after `first` as one affine stage, where the indices into every axis that the reshape splits or merges are
    constants; None otherwise."""
    source, target = second.source, second.target
    indices: list[AffineIndex] = []
    here = there = 0
    while here < len(source) and there < len(target):
        if source[here] == target[there]:
            indices.append(first.indices[here])
            here, there = here + 1, there + 1
            continue
        start, end, flat, points, target_points = here, there, 0, 1, 1
        while points != target_points or start == here or end == there:
            is_source = start == here or (points < target_points and end > there)
            if (start if is_source else end) >= len(source if is_source else target):
                return None
            length = (source[start] if is_source else target[end]).constant
            if not length:
                return None
            if is_source:
                at = first.indices[start].constant.constant
                if first.indices[start].terms or at is None:
                    return None
                flat, points, start = flat * int(length) + int(at), points * int(length), start + 1
            else:
                target_points, end = target_points * int(length), end + 1
        for size in target[there:end]:
            target_points //= int(size.constant or 1)
            indices.append(constant_index(number(flat // target_points)))
            flat %= target_points
        here, there = start, end
    if any(size != ONE for size in (*source[here:], *target[there:])):
        return None
    return Affine((*indices, *(constant_index(ZERO) for _ in target[there:])), target)


def _multiply(first: Affine, second: Affine) -> Affine:
    indices: list[AffineIndex] = []
    for index in second.indices:
        if len(index.terms) == 1 and index.terms[0].coefficient == 1 and index.constant == ZERO:
            indices.append(first.indices[index.terms[0].axis])
            continue
        coefficients: dict[int, int] = {}
        constant = index.constant
        for term in index.terms:
            inner = first.indices[term.axis]
            constant = constant + inner.constant * term.coefficient
            for t in inner.terms:
                coefficients[t.axis] = coefficients.get(t.axis, 0) + t.coefficient * term.coefficient
        indices.append(AffineIndex(tuple(Term(a, c) for a, c in sorted(coefficients.items()) if c), constant))
    return Affine(tuple(indices), second.shape, second.fills)


# -------------------------------------------------------------------------------------------- bounds


def in_bounds(space: Shape, stage: Affine) -> bool:
    """Is every index provably in the box for every point of the axes that it mentions?  An empty one of these axes makes it
    vacuous.

    Axes that an index does not mention do not count, even if they are empty: a pass may move the phase into a map over them.
    """
    inhabited = [when_inhabited(s) for s in space]
    return all(
        any(space[term.axis] == ZERO for term in index.terms) or _index_in_bounds(inhabited, index, size)
        for index, size in zip(stage.indices, stage.shape, strict=True)
    )


def leaves_bounds(space: Sequence[int], stage: Affine) -> bool:
    """Does some index provably leave the box at some point?  Indices and extents that are not numbers are skipped."""
    for index, size in zip(stage.indices, stage.shape, strict=True):
        if index.constant.constant is None or size.constant is None or any(space[term.axis] == 0 for term in index.terms):
            continue
        low, high = _interval([(0, n) for n in space], index)
        if low < 0 or high >= size.constant:
            return True
    return False


def _index_in_bounds(space: Sequence[Size], index: AffineIndex, extent: Size) -> bool:
    low, high = index.constant, index.constant
    for term in index.terms:
        reach = (space[term.axis] - 1) * term.coefficient
        if term.coefficient > 0:
            high = high + reach
        else:
            low = low + reach
    return not_negative(low) and not_negative(extent - 1 - high)


def not_negative(size: Size) -> bool:
    low = size.bounds()[0]
    return low is not None and low >= 0


def when_inhabited(size: Size) -> Size:
    """The size under the premise that it is at least 1: `0⌈x` becomes x."""
    if len(size.terms) == 1 and size.terms[0][1] == 1 and len(size.terms[0][0]) == 1:
        atom, power = size.terms[0][0][0]
        if power == 1 and isinstance(atom, NonlinearAtom) and atom.kind is AtomKind.MAXIMUM:
            rest = [a for a in atom.args if a != ZERO]
            if len(rest) == 1 and len(atom.args) == 2:
                return rest[0]
    return size


# --------------------------------------------------------------------------------------------- boxes


def box_needed(space: Sequence[int], projection: Projection, box: Box) -> Box:
    """The bounding box of the operand that the points of `box` read, as (start, stop) pairs, an axis each.

    All sizes are numbers; empty boxes give empty boxes.  For a window `x[i+j]` with i in 0…4 and j in 0…1 it is ((0, 6),)."""
    current: Box = box
    for stage in projection.stages:
        empty = any(stop <= start for start, stop in current)
        shape = tuple(_number(s) for s in target_of(stage))
        if empty:
            current = tuple((0, 0) for _ in shape) if shape else ()
            continue
        match stage:
            case Affine():
                intervals = []
                for index, extent in zip(stage.indices, shape, strict=True):
                    low, high = _interval(current, index)
                    start = min(max(low, 0), extent)
                    intervals.append((start, max(start, min(high + 1, extent))))
                current = tuple(intervals)
            case Reshaped():
                source = tuple(_number(s) for s in stage.source)
                current = _reshaped_box(source, shape, current)
    return current


def _interval(box: Sequence[tuple[int, int]], index: AffineIndex) -> tuple[int, int]:
    low = high = _number(index.constant)
    for term in index.terms:
        start, stop = box[term.axis]
        ends = (start * term.coefficient, (stop - 1) * term.coefficient)
        low, high = low + min(ends), high + max(ends)
    return low, high


def _reshaped_box(source: Sequence[int], target: Sequence[int], box: Box) -> Box:
    first = last = 0
    for size, (start, stop) in zip(source, box, strict=True):
        first, last = first * size + start, last * size + stop - 1
    low: list[int] = []
    high: list[int] = []
    for size in reversed(target):
        low.append(first % size)
        high.append(last % size)
        first, last = first // size, last // size
    result: list[tuple[int, int]] = []
    is_full = False
    for size, start, stop in zip(target, reversed(low), reversed(high), strict=True):
        result.append((0, size) if is_full else (start, stop + 1))
        is_full = is_full or start != stop
    return tuple(result)


def _number(size: Size) -> int:
    value = size.constant
    if value is None:
        raise ValueError(f"size {size} is not known")
    return value


def equal_products(left: Shape, right: Shape) -> bool:
    """Do two boxes evidently have equally many points?"""
    return product(left) == product(right)


def sizes_of(numbers: Sequence[int]) -> Shape:
    return tuple(number(n) for n in numbers)


# ---------------------------------------------------------------------------------------------------- sums of products
#
# Products with a vector, and of small matrices, as structured phases: sums of products in the order of sums.

_SPAN: Final = Span("", 0, 0)
BLAS_CROSSOVER: Final = 64
"""The most multiplications for which calling BLAS takes longer than doing them in a phase."""


def uses_ordered_sums(rows: int, shared: int, columns: int) -> bool:
    """Does a product of matrices of these sizes add in the order of sums?  BLAS computes larger ones, and those of a frame of
    matrices."""
    return 1 in (rows, columns) or rows * shared * columns <= BLAS_CROSSOVER


def sum_of_products(
    kind: Kind, left: Shape, right: Shape, depth: int, values: tuple[ValueId, ValueId, ValueId]
) -> Structured:
    """The phase for operands of these shapes, both with a frame of `depth` axes: left's last axis by right's first."""
    frame, rows, columns = left[:depth], left[depth:-1], right[depth + 1 :]
    sizes = (*frame, *rows, *columns)
    axes = (*(Axis(size, AxisKind.PARALLEL) for size in sizes), Axis(left[-1], AxisKind.REDUCE))
    before, last = range(depth), len(sizes)
    reads = (
        _read(values[0], left, [*before, *range(depth, depth + len(rows)), last]),
        _read(values[1], right, [*before, last, *range(depth + len(rows), last)]),
    )
    body = (ReadNode(0, kind), ReadNode(1, kind), ApplyNode("mul", (0, 1), kind))
    return Structured(PhaseId(-1), _SPAN, axes, reads, body, (PhaseResult(values[2], 2, "add"),))


def _read(value: ValueId, shape: Shape, axes: Sequence[int]) -> Read:
    """The read of a value by these axes of the space."""
    indices = tuple([AffineIndex((Term(axis, 1),), ZERO) for axis in axes])
    return Read(value, Projection((Affine(indices, shape),)))


# ---------------------------------------------------------------------------------- cells of library phases
#
# A library phase as the rules of the registry see it: its frame, its cells, and its whole operands (phases.py, Note [Frames]).

Types: TypeAlias = Mapping[ValueId, ArrayType]


def frame_of(phase: LibraryPhase) -> int:
    value = phase.attributes.get("frame", 0)
    assert isinstance(value, int)
    return value


def framed_of(phase: LibraryPhase) -> tuple[bool, ...]:
    value = phase.attributes.get("framed")
    return value if isinstance(value, tuple) else (False,) * len(phase.args)


def needed_positions(phase: LibraryPhase) -> tuple[int, int] | None:
    """The range (start, stop) that readers use of the axis that a grade or a sort orders; None: all
    (`passes.algebraic_rules`)."""
    limits = phase.attributes.get("needed")
    return limits if isinstance(limits, tuple) else None


@dataclass(frozen=True, slots=True)
class Cells:
    """The shapes of one cell of a library phase: operands and results without the frame."""

    args: tuple[Shape, ...]
    results: tuple[Shape, ...]
    attributes: Mapping[str, object]

    @property
    def axis(self) -> int:
        value = self.attributes["axis"]
        assert isinstance(value, int)
        return value


def cells_of(phase: LibraryPhase, types: Types) -> Cells:
    frame = frame_of(phase)
    args = tuple(types[a].shape[frame if carries else 0 :] for a, carries in zip(phase.args, framed_of(phase), strict=True))
    return Cells(args, tuple(types[r].shape[frame:] for r in phase.results), phase.attributes)


class Operands:
    """A library phase as its registry row sees it: whole operands and results, and the cells of a framed op."""

    def __init__(self, phase: LibraryPhase, types: Types) -> None:
        self.phase = phase
        self.args = [types[a] for a in phase.args]
        self.results = [types[r] for r in phase.results]
        self.cells: Cells = cells_of(phase, types)
        rank = frame_of(phase)
        self.frame = product(upper_bound(s) for s in self.results[0].shape[:rank]) if rank else ONE
        self.framed = rank > 0
        self.flags = framed_of(phase)

    def items(self, which: int) -> Size:
        return product(upper_bound(s) for s in self.args[which].shape)

    def size(self, which: int) -> int:
        """Bytes per item of an operand."""
        return self.args[which].element.kind.bytes

    def kind(self, which: int) -> Kind:
        return self.args[which].element.kind

    def result_items(self) -> Size:
        """The number of items of the first result."""
        return product(upper_bound(s) for s in self.results[0].shape)

    def result_bytes(self) -> Size:
        return self.result_items() * self.results[0].element.kind.bytes

    def attribute(self, name: str) -> object:
        return self.phase.attributes.get(name)

    def function(self) -> str:
        function = self.attribute("function")
        assert isinstance(function, str)
        return function

    def axis(self) -> int:
        axis = self.attribute("axis")
        assert isinstance(axis, int)
        return axis
