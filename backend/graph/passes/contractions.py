"""Contraction order: rewrites regions of products and sums that contain a contraction to the order with the fewest products.

`(A+.×B)+.×v` becomes `A+.×B+.×v`, and row sums of `A+.×B` sum the rows of B first.  Another order rounds differently, within the
tolerance that contractions have (docs/kernels.md); integers wrap and stay the same.  Sizes are numbers here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from math import prod
from typing import Final, TypeAlias

from ....lang.support.records import dataclass, field, replace
from ....typechecker.elements import ArrayType, Element, Kind
from ....typechecker.sizes.polynomials import Size, number
from .. import traverse
from ..phases import (
    OFFER,
    Affine,
    ApplyNode,
    Axis,
    AxisKind,
    Graph,
    LibraryPhase,
    Node,
    Phase,
    PhaseId,
    PhaseResult,
    Projection,
    Read,
    ReadNode,
    Reshaped,
    Rewritten,
    SizeNode,
    Structured,
    SubGraph,
    ValueId,
    affine,
    axis_index,
    frame_of,
)
from ..registry import signature_of
from ..symbolic_costs import cost_of
from ..traverse import all_phases, operands, results, subgraphs, with_subgraphs

# ------------------------------------------------------------------------------------------------ index-set form
#
# A region of products and sums in index-set form (as `einsum`): the sum over some indices of a product of operands, each with its
# indices.
#
# Members of a region are contractions, and structured phases that multiply what they read and perhaps add along an axis.  They
# read one another, directly or under other axes (broadcasts, transpositions, diagonals), and each but the last has one reader,
# the next.  A value with other readers, an output or a root stays an operand.

MAX_OPERANDS: Final = 10
"""The most operands of a region, since the search goes through every subset of them."""
_KINDS: Final = frozenset({Kind.F64, Kind.F32, Kind.C128, Kind.C64, Kind.I64})
Index = int


@dataclass(frozen=True, slots=True)
class ContractionOperand:
    """A value, with the index of each of its axes."""

    value: ValueId
    indices: tuple[Index, ...]


@dataclass(slots=True)
class IndexRegion:
    """A region: `result` has the indices of its result's axes; all other indices are summed over.

    `sizes`: the extent of each index, also of one that no operand has, over which every term is the same.  `cost`:
    multiplications in the order of the program."""

    kind: Kind
    result: tuple[Index, ...]
    sizes: dict[Index, int] = field(default_factory=dict)
    operands: list[ContractionOperand] = field(default_factory=list)
    members: list[Phase] = field(default_factory=list)
    cost: int = 0

    @property
    def repetitions(self) -> int:
        """The factor of the sum: the product of the extents of summed indices that no operand has."""
        read = {index for operand in self.operands for index in operand.indices}
        return prod(size for index, size in self.sizes.items() if index not in read and index not in self.result)

    @property
    def contracts(self) -> bool:
        """May the region be reordered: does it hold integers, or a contraction, whose tolerance then covers the rest?"""
        return self.kind is Kind.I64 or any(isinstance(member, LibraryPhase) for member in self.members)


@dataclass(frozen=True, slots=True)
class ContractionBlock:
    """The phases of one block that may be members of regions, by their value, and how often each value is read anywhere."""

    members: Mapping[ValueId, Phase]
    uses: Counter[ValueId]
    shapes: Mapping[ValueId, tuple[int, ...]]


def is_member(phase: Phase, kind_of: Mapping[ValueId, Kind], shapes: Mapping[ValueId, tuple[int, ...]]) -> bool:
    """Does a phase only multiply and add?  All its sizes are numbers."""
    match phase:
        case LibraryPhase():
            if phase.op != "contract" or frame_of(phase):
                return False
            values = (*phase.args, *phase.results)
            if not all(value in shapes for value in values):
                return False
            return _one_kind(values, kind_of) and all(shapes[arg] for arg in phase.args)
        case Structured():
            values = (*(read.value for read in phase.reads), *(result.value for result in phase.results))
            if len(phase.results) != 1 or not phase.reads or not all(value in shapes for value in values):
                return False
            plain = all(size.constant is not None for size in traverse.axis_sizes(phase.axes))
            plain = plain and all(_indices(phase, read) is not None for read in phase.reads)
            return plain and _one_kind(values, kind_of) and _multiplies(phase)
        case _:
            return False


def _one_kind(values: tuple[ValueId, ...], kind_of: Mapping[ValueId, Kind]) -> bool:
    kinds = {kind_of[value] for value in values}
    return len(kinds) == 1 and not kinds.isdisjoint(_KINDS)


def _multiplies(phase: Structured) -> bool:
    (result,) = phase.results
    if result.reduction not in (None, "add"):
        return False
    return all(isinstance(n, ReadNode) or (isinstance(n, ApplyNode) and n.function == "mul") for n in phase.body)


def _indices(phase: Structured, read: Read) -> tuple[int, ...] | None:
    """The axis of the space that indexes each axis of the operand; None if the read is not such a selection of axes."""
    stages = read.projection.stages
    if not stages:
        return tuple(range(len(phase.axes)))
    if len(stages) != 1 or not isinstance(stages[0], Affine) or stages[0].fills:
        return None
    axes: list[int] = []
    for index, size in zip(stages[0].indices, stages[0].shape, strict=True):
        if len(index.terms) != 1 or index.terms[0].coefficient != 1 or index.constant.constant != 0:
            return None
        if phase.axes[index.terms[0].axis].size != size:
            return None
        axes.append(index.terms[0].axis)
    return tuple(axes)


def region_of(root: Phase, value: ValueId, block: ContractionBlock, kind: Kind) -> IndexRegion:
    """The largest region whose last member is `root`, with the result `value`."""
    rank = len(block.shapes[value])
    region = IndexRegion(kind, tuple(range(rank)), dict(enumerate(block.shapes[value])))
    pending = [ContractionOperand(value, region.result)]
    while pending:
        operand = pending.pop()
        inner = root if not region.members else block.members.get(operand.value)
        room = len(region.operands) + len(pending) + len(traverse.operands(inner) if inner is not None else ()) <= MAX_OPERANDS
        if inner is None or (region.members and (block.uses[operand.value] != 1 or not room)):
            region.operands.append(operand)
            continue
        region.members.append(inner)
        pending += reversed(_operands_of_member(region, inner, operand.indices, block))
    return region


def _operands_of_member(
    region: IndexRegion, phase: Phase, indices: tuple[Index, ...], block: ContractionBlock
) -> list[ContractionOperand]:
    """The operands of a member in the region's indices, to which the member adds those that it sums over."""
    if isinstance(phase, LibraryPhase):
        left, right = phase.args
        shared = len(region.sizes)
        region.sizes[shared] = block.shapes[right][0]
        split = len(block.shapes[left]) - 1
        region.cost += prod(block.shapes[left]) * prod(block.shapes[right][1:])
        return [ContractionOperand(left, (*indices[:split], shared)), ContractionOperand(right, (shared, *indices[split:]))]
    assert isinstance(phase, Structured)
    names = list(indices)
    if phase.axes and phase.axes[-1].kind is AxisKind.REDUCE:
        names.append(len(region.sizes))
        region.sizes[names[-1]] = _number(phase.axes[-1].size)
    points = prod(map(_number, traverse.axis_sizes(phase.axes)))
    region.cost += points if len(phase.body) > 1 or (phase.axes[-1:] and phase.axes[-1].kind is AxisKind.REDUCE) else 0
    factors: list[ContractionOperand] = []
    for node in _factors(phase):
        axes = _indices(phase, phase.reads[node.index])
        assert axes is not None
        factors.append(ContractionOperand(phase.reads[node.index].value, tuple(names[axis] for axis in axes)))
    return factors


def _number(size: Size) -> int:
    assert size.constant is not None
    return size.constant


def _factors(phase: Structured) -> list[ReadNode]:
    """The factors of the product, with repetitions."""
    pending, factors = [phase.results[0].node], []
    while pending:
        node = phase.body[pending.pop()]
        if isinstance(node, ReadNode):
            factors.append(node)
        else:
            assert isinstance(node, ApplyNode)
            pending += reversed(node.args)
    return factors


# --------------------------------------------------------------------------------------- contraction order
#
# The best order of products: dynamic programming over the subsets of at most `MAX_OPERANDS` operands.
#
# The product of two parts keeps the indices that something else still needs; all others are summed where they last occur.  Among
# trees with equally many multiplications the one whose intermediate results have the fewest items is chosen.

Part: TypeAlias = "int | tuple[Part, Part]"


@dataclass(frozen=True, slots=True)
class ContractionTree:
    """`part`: an operand by its number, or two parts to multiply.  `cost`: multiplications, and items of intermediate results."""

    part: Part
    cost: tuple[int, int]


def best_tree(region: IndexRegion) -> ContractionTree:
    """Returns the contraction order with the fewest multiplications.  Sets of operands and of indices are bit sets."""
    sets = [sum({1 << index for index in operand.indices}) for operand in region.operands]
    points = _ContractionPoints(region)
    result = sum(1 << index for index in region.result)
    everything = (1 << len(sets)) - 1
    best: dict[int, tuple[int, int, int, int]] = {}  # multiplications, items of intermediate results, indices, first part or 0
    wanted = [result] * (everything + 1)
    for members in range(everything + 1):
        for operand, indices in enumerate(sets):
            if not members >> operand & 1:
                wanted[members] |= indices
    for operand, indices in enumerate(sets):
        left = indices & wanted[1 << operand]
        summed = left != indices
        best[1 << operand] = (points.of(indices) if summed else 0, points.of(left) if summed else 0, left, 0)
    for members in sorted(range(1, everything + 1), key=int.bit_count):
        if members not in best:
            best[members] = _best_split(members, best, wanted[members], points)
    cost, between, _, _ = best[everything]
    return ContractionTree(_part(everything, best), (cost, between))


def _best_split(
    members: int, best: dict[int, tuple[int, int, int, int]], needed: int, points: _ContractionPoints
) -> tuple[int, int, int, int]:
    """The cheapest way to split some operands (a bit set) into two parts."""
    cheapest: tuple[int, int, int, int] | None = None
    lowest = members & -members
    first = members
    while (first := (first - 1) & members) > 0:
        if not first & lowest:
            continue  # already seen with its parts swapped
        a, b = best[first], best[members ^ first]
        least = a[0] + b[0]
        if cheapest is not None and least > cheapest[0]:
            continue
        both = a[2] | b[2]
        cost, between = least + points.of(both), a[1] + b[1] + points.of(both & needed)
        if cheapest is None or (cost, between) < cheapest[:2]:
            cheapest = (cost, between, both & needed, first)
    assert cheapest is not None
    return cheapest


def _part(members: int, best: dict[int, tuple[int, int, int, int]]) -> Part:
    first = best[members][3]
    if not first:
        return members.bit_length() - 1
    return _part(first, best), _part(members ^ first, best)


class _ContractionPoints:
    """The number of points of a box of some indices (a bit set), memoised."""

    def __init__(self, region: IndexRegion) -> None:
        self.sizes, self.known = region.sizes, {0: 1}

    def of(self, indices: int) -> int:
        count = self.known.get(indices)
        if count is None:
            low = indices & -indices
            count = self.known[indices] = self.sizes[low.bit_length() - 1] * self.of(indices ^ low)
        return count


# ---------------------------------------------------------------------------------------------------- phases
#
# A tree of products as phases: a contraction of matrices where two parts have that form, else a structured sum of products.

RESULT: Final = -1
"""Stands for the result of a region among operands, which are numbered from 0."""


class ContractionPhases:
    """Builds the phases of contraction trees; the types of new values go into `types`."""

    def __init__(self, graph: Graph, types: dict[ValueId, ArrayType]) -> None:
        self.graph, self.types = graph, types
        self.last_value = max(graph.types, default=0)
        self.last_phase = max((phase.id for phase in all_phases(graph)), default=0)
        self.phases_so_far: list[Phase] = []
        self.region: IndexRegion
        self.repeated: int | None = None
        self.root: Phase
        self.target: tuple[ValueId, tuple[Index, ...]]

    def phases(self, region: IndexRegion, tree: ContractionTree, value: ValueId, root: Phase) -> list[Phase]:
        self.phases_so_far, self.region, self.root = [], region, root
        wanted = frozenset(region.result)
        self.repeated = self.smallest() if region.repetitions != 1 else None
        operand = self.part(tree.part, wanted, frozenset())
        if self.repeated == RESULT:
            operand = self.times(operand, region.repetitions)
        self.view(operand, region.result, value)
        return self.phases_so_far

    def smallest(self) -> int:
        """The operand with the fewest items, or `RESULT` if that has fewer: there the factor `repetitions` costs least."""
        parts = {position: set(operand.indices) for position, operand in enumerate(self.region.operands)}
        parts[RESULT] = set(self.region.result).intersection(set().union(*parts.values()))
        return min(parts, key=lambda position: prod(self.region.sizes[index] for index in parts[position]))

    # ------------------------------------------------------------------------------------- parts of a tree

    def part(self, part: Part, result: frozenset[Index], others: frozenset[Index]) -> ContractionOperand:
        """The value of a part; `others`: the indices of the parts that it is multiplied with later."""
        if isinstance(part, int):
            summed = self.summed(self.region.operands[part], result | others)
            return self.times(summed, self.region.repetitions) if part == self.repeated else summed
        left, right = part
        first = self.part(left, result, others | self.indices_of(right))
        second = self.part(right, result, others | self.indices_of(left))
        needed = (frozenset(first.indices) | frozenset(second.indices)) & (result | others)
        return self.joined(first, second, needed)

    def indices_of(self, part: Part) -> frozenset[Index]:
        if isinstance(part, int):
            return frozenset(self.region.operands[part].indices)
        return self.indices_of(part[0]) | self.indices_of(part[1])

    def summed(self, operand: ContractionOperand, needed: Collection[Index]) -> ContractionOperand:
        """The operand summed over its indices that are not needed, one after the other; repeated indices become a diagonal."""
        for index in dict.fromkeys(operand.indices):
            if index in needed:
                continue
            rest = tuple(other for other in dict.fromkeys(operand.indices) if other != index)
            operand = self.structured([operand], rest, index)
        if len(set(operand.indices)) < len(operand.indices):
            operand = self.view(operand, tuple(dict.fromkeys(operand.indices)))
        return operand

    def joined(self, first: ContractionOperand, second: ContractionOperand, needed: frozenset[Index]) -> ContractionOperand:
        """The product of two parts, summed over the indices that are not needed."""
        if first.indices[:1] == second.indices[-1:] and first.indices[-1:] != second.indices[:1]:
            first, second = second, first  # then no transposition is needed
        both = [index for index in first.indices if index in second.indices]
        shared = [index for index in both if index not in needed]
        batch = [index for index in both if index in needed]
        left = [index for index in first.indices if index not in both]
        right = [index for index in second.indices if index not in both]
        if not shared:
            return self.structured([first, second], (*batch, *left, *right), None)
        if not (batch or left or right) and len(shared) > 1:  # a sum of all items needs no transposition
            return self.summed(self.structured([first, second], tuple(shared[:-1]), shared[-1]), ())
        if batch and not (left and right):
            merged = [self.flattened(part, (*batch, *side), shared) for part, side in ((first, left), (second, right))]
            return self.structured(merged, (*batch, *left, *right), shared[0])
        a = self.flattened(first, (*batch, *left), shared)
        b = self.flattened(second, tuple(batch), shared, tuple(right))
        return self.contracted(a, b, tuple(batch), tuple(left), tuple(right))

    def flattened(
        self, operand: ContractionOperand, before: tuple[Index, ...], shared: Sequence[Index], behind: tuple[Index, ...] = ()
    ) -> ContractionOperand:
        """The operand with its axes in this order and the shared ones flattened into one, which the first of them names."""
        if len(shared) == 1:
            return self.view(operand, (*before, shared[0], *behind))
        moved = self.view(operand, (*before, *shared, *behind))
        old = self.shape(moved.indices)
        new = (*self.shape(before), number(prod(self.region.sizes[index] for index in shared)), *self.shape(behind))
        return ContractionOperand(self.moved(moved.value, Projection((Reshaped(new, old),)), new), (*before, shared[0], *behind))

    # ------------------------------------------------------------------------------------------- phases

    def shape(self, indices: Sequence[Index]) -> tuple[Size, ...]:
        return tuple(number(self.region.sizes[index]) for index in indices)

    def value(self, shape: tuple[Size, ...]) -> ValueId:
        self.last_value += 1
        value = ValueId(self.last_value)
        self.types[value] = ArrayType(Element(self.region.kind), shape)
        return value

    def id(self) -> PhaseId:
        self.last_phase += 1
        return PhaseId(self.last_phase)

    def type(self, value: ValueId) -> ArrayType:
        return self.types.get(value) or self.graph.types[value]

    def moved(self, value: ValueId, projection: Projection, shape: tuple[Size, ...], target: ValueId | None = None) -> ValueId:
        """A view of a value through a projection."""
        viewed = self.value(shape) if target is None else target
        axes = tuple(Axis(size, AxisKind.PARALLEL) for size in shape)
        body = (ReadNode(0, self.region.kind),)
        self.phases_so_far.append(
            Structured(self.id(), self.root.span, axes, (Read(value, projection),), body, (PhaseResult(viewed, 0, None),))
        )
        return viewed

    def view(self, operand: ContractionOperand, order: tuple[Index, ...], target: ValueId | None = None) -> ContractionOperand:
        """The operand with its axes in the given order; repeated indices become a diagonal."""
        if operand.indices == order and target is None:
            return operand
        if operand.indices == order and target is not None and self.renamed(operand.value, target):
            return ContractionOperand(target, order)
        shape = self.type(target).shape if target is not None else self.shape(order)
        places = [axis_index(order.index(index)) for index in operand.indices]
        projection = affine(shape, places, self.type(operand.value).shape)
        return ContractionOperand(self.moved(operand.value, projection, shape, target), order)

    def renamed(self, value: ValueId, target: ValueId) -> bool:
        """Let the last phase define `target` instead of `value`; False if it does not define `value`, so that this is
        impossible."""
        last = self.phases_so_far[-1] if self.phases_so_far else None
        if isinstance(last, Structured) and last.results[0].value == value:
            self.phases_so_far[-1] = replace(last, results=(replace(last.results[0], value=target),))
        elif isinstance(last, LibraryPhase) and last.results == (value,):
            self.phases_so_far[-1] = replace(last, results=(target,))
        else:
            return False
        self.types.pop(value, None)
        return True

    def structured(
        self, operands: Sequence[ContractionOperand], result: tuple[Index, ...], summed: Index | None
    ) -> ContractionOperand:
        """The product of one or two operands, with one index summed."""
        names = result if summed is None else (*result, summed)
        sizes: dict[Index, Size] = {}
        for operand in operands:
            sizes.update(zip(operand.indices, self.type(operand.value).shape, strict=True))
        space = tuple(sizes[index] for index in names)
        kinds = [AxisKind.REDUCE if index == summed else AxisKind.PARALLEL for index in names]
        axes = tuple(map(Axis, space, kinds))
        reads: list[Read] = []
        for operand in operands:
            places = [axis_index(names.index(index)) for index in operand.indices]
            reads.append(Read(operand.value, affine(space, places, self.type(operand.value).shape)))
        body: list[Node] = [ReadNode(position, self.region.kind) for position in range(len(reads))]
        if len(reads) == 2:
            body.append(ApplyNode("mul", (0, 1), self.region.kind))
        value = self.value(tuple(sizes[index] for index in result))
        reduction = None if summed is None else "add"
        results = (PhaseResult(value, len(body) - 1, reduction),)
        self.phases_so_far.append(Structured(self.id(), self.root.span, axes, tuple(reads), tuple(body), results))
        return ContractionOperand(value, result)

    def times(self, operand: ContractionOperand, count: int) -> ContractionOperand:
        """The operand multiplied by an integer."""
        kind, shape = self.region.kind, self.type(operand.value).shape
        body: list[Node] = [ReadNode(0, kind), SizeNode(number(count))]
        if kind is not Kind.I64:
            body.append(ApplyNode("convert", (1,), kind))
        body.append(ApplyNode("mul", (0, len(body) - 1), kind))
        value = self.value(shape)
        axes = tuple(Axis(size, AxisKind.PARALLEL) for size in shape)
        reads = (Read(operand.value, Projection(())),)
        results = (PhaseResult(value, len(body) - 1, None),)
        self.phases_so_far.append(Structured(self.id(), self.root.span, axes, reads, tuple(body), results))
        return ContractionOperand(value, operand.indices)

    def contracted(
        self, first: ContractionOperand, second: ContractionOperand, batch: tuple[Index, ...], left: tuple[Index, ...],
        right: tuple[Index, ...],
    ) -> ContractionOperand:
        """`first +.× second` at each point of the frame `batch`; `left` and `right`: the indices of the other axes."""
        order = (*batch, *left, *right)
        value = self.value(self.shape(order))
        attributes = {"frame": len(batch), "framed": (True, True)} if batch else {}
        phase = LibraryPhase(self.id(), self.root.span, "contract", (first.value, second.value), (value,), attributes, (), ())
        self.phases_so_far.append(replace(phase, signature=signature_of(phase, {**self.graph.types, **self.types})))
        return ContractionOperand(value, order)


# ------------------------------------------------------------------------------------------------ expressions
#
# A tree of products as source text, such as `(+/v)×+/w`, for an offer; None where that needs more than transpositions, sums and
# products of named vectors and matrices.

@dataclass(frozen=True, slots=True)
class _ContractionText:
    """An expression and the index of each of its axes; `is_atomic`: can it be a left argument without parentheses?"""

    text: str
    indices: tuple[Index, ...]
    is_atomic: bool = False

    @property
    def left(self) -> str:
        return self.text if self.is_atomic else f"({self.text})"


def as_expression(region: IndexRegion, tree: ContractionTree, names: Mapping[ValueId, str]) -> str | None:
    """Returns the tree as an expression; None if it needs other functions, or if a name stands for several values."""
    shared = Counter(names.values())
    if region.repetitions != 1 or any(shared[names.get(operand.value, "")] != 1 for operand in region.operands):
        return None
    words = _expression_of(tree.part, region, names, frozenset(region.result))
    turned = None if words is None else _transposed(words, region.result)
    return None if turned is None else turned.text


def _expression_of(
    part: Part, region: IndexRegion, names: Mapping[ValueId, str], needed: frozenset[Index]
) -> _ContractionText | None:
    """`needed`: the indices that the result or something else needs."""
    if isinstance(part, int):
        operand = region.operands[part]
        repeated = len(set(operand.indices)) < len(operand.indices) or len(operand.indices) > 2
        return None if repeated else _summed(_ContractionText(names[operand.value], operand.indices, True), needed)
    left, right = (_indices_of_part(one, region) for one in part)
    first, second = _expression_of(part[0], region, names, needed | right), _expression_of(part[1], region, names, needed | left)
    return None if first is None or second is None else _joined(first, second, needed)


def _indices_of_part(part: Part, region: IndexRegion) -> frozenset[Index]:
    if isinstance(part, int):
        return frozenset(region.operands[part].indices)
    return _indices_of_part(part[0], region) | _indices_of_part(part[1], region)


def _summed(words: _ContractionText, needed: frozenset[Index]) -> _ContractionText:
    """The expression summed over the indices that no other part needs."""
    for axis in range(len(words.indices) - 1, -1, -1):
        if words.indices[axis] not in needed:
            glyph = "+/" if axis == len(words.indices) - 1 else "+⌿"
            words = _ContractionText(glyph + words.text, (*words.indices[:axis], *words.indices[axis + 1 :]))
    return words


def _joined(first: _ContractionText, second: _ContractionText, needed: frozenset[Index]) -> _ContractionText | None:
    both = [index for index in first.indices if index in second.indices]
    summed = [index for index in both if index not in needed]
    if len(summed) == 1 and both == summed:
        (index,) = summed
        a = _transposed(first, (*(one for one in first.indices if one != index), index))
        b = _transposed(second, (index, *(one for one in second.indices if one != index)))
        return None if a is None or b is None else _ContractionText(f"{a.left}+.×{b.text}", (*a.indices[:-1], *b.indices[1:]))
    if not both and first.indices and second.indices:
        return _ContractionText(f"{first.left}∘.×{second.text}", (*first.indices, *second.indices))
    if not first.indices or not second.indices:
        return _ContractionText(f"{first.left}×{second.text}", first.indices or second.indices)
    same = _transposed(second, first.indices)
    return None if same is None else _summed(_ContractionText(f"{first.left}×{same.text}", first.indices), needed)


def _transposed(words: _ContractionText, indices: tuple[Index, ...]) -> _ContractionText | None:
    """The expression with its axes in another order; None unless that is the transposition of a matrix."""
    if words.indices == indices:
        return words
    return _ContractionText(f"⍉{words.left}", indices) if words.indices[::-1] == indices and len(indices) == 2 else None


# ---------------------------------------------------------------------------------------------------- contractions

_LARGEST: Final = (1 << 63) - 1
MAX_COST_SHARE: Final = 0.75
"""The order changes only if at most this share of the multiplications remains."""
REGROUPED: Final = "products"
MIN_OFFER_RATIO: Final = 2
MIN_OFFER_COST: Final = 1 << 16
"""Regions without a contraction keep the order of sums; the plan offers another order that would save at least this factor, of
at least so many multiplications."""


def regroup(graph: Graph) -> Graph:
    """Returns the graph with each region of products in the order that multiplies least."""
    regrouping = _Regrouping(graph)
    phases = regrouping.block(graph.phases)
    if not regrouping.notes:
        return graph
    if not regrouping.types and phases == graph.phases:
        phases = graph.phases
    types = {**graph.types, **regrouping.types}
    return replace(graph, phases=phases, types=types, rewritten=(*graph.rewritten, *regrouping.notes))


class _Regrouping:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.uses: Counter[ValueId] = Counter(graph.roots)
        for phase in all_phases(graph):
            self.uses.update(operands(phase))
            for sub in subgraphs(phase):
                self.uses.update(sub.results)
        self.uses.update(graph.roots)
        self.shapes: dict[ValueId, tuple[int, ...]] = {}
        for value, type in graph.types.items():
            sizes = [size.constant for size in type.shape]
            if None not in sizes:
                self.shapes[value] = tuple(int(size) for size in sizes if size is not None)
        self.kinds: dict[ValueId, Kind] = {value: type.element.kind for value, type in graph.types.items()}
        self.types: dict[ValueId, ArrayType] = {}
        self.notes: list[Rewritten] = []
        self.builder = ContractionPhases(graph, self.types)

    def subgraph(self, graph: SubGraph) -> SubGraph:
        phases = self.block(graph.phases)
        return graph if phases == graph.phases else replace(graph, phases=phases)

    def block(self, phases: Sequence[Phase]) -> tuple[Phase, ...]:
        phases = [with_subgraphs(phase, self.subgraph) for phase in phases]
        members = {results(phase)[0]: phase for phase in phases if is_member(phase, self.kinds, self.shapes)}
        block = ContractionBlock(members, self.uses, self.shapes)
        inner = {value for phase in members.values() for value in operands(phase) if value in members and self.uses[value] == 1}
        replaced: dict[PhaseId, list[Phase]] = {}
        pending = [value for value in members if value not in inner]
        done: set[ValueId] = set()
        while pending:
            value = pending.pop()
            if value in done:
                continue
            done.add(value)
            region = region_of(members[value], value, block, self.kinds[value])
            pending += [operand.value for operand in region.operands if operand.value in inner]
            regrouped = self.regrouped(region, value)
            if regrouped is not None:
                replaced.update({member.id: [] for member in region.members})
                replaced[members[value].id] = regrouped
        if not replaced:
            return tuple(phases)
        return tuple(new for phase in phases for new in replaced.get(phase.id, [phase]))

    def regrouped(self, region: IndexRegion, value: ValueId) -> list[Phase] | None:
        """The phases of the region in the best order; None if the region stays as it is."""
        if len(region.members) < 2 or len(region.operands) < 2 or 0 in region.sizes.values() or region.repetitions > _LARGEST:
            return None
        tree = best_tree(region)
        if tree.cost[0] > MAX_COST_SHARE * region.cost:
            return None
        root = region.members[0]
        if region.contracts:
            phases = self.builder.phases(region, tree, value, root)
            says = f"regrouped: {self.speedup_text(region, phases, self.types)} operations"
            self.notes.append(Rewritten(REGROUPED, says, root.span))
            return phases
        if region.cost >= max(MIN_OFFER_RATIO * tree.cost[0], MIN_OFFER_COST):
            types: dict[ValueId, ArrayType] = {}
            fewer = self.speedup_text(region, ContractionPhases(self.graph, types).phases(region, tree, value, root), types)
            says = f"written with `+.×`, its sums might have another order: {fewer} operations"
            self.notes.append(Rewritten(OFFER, says, root.span, as_expression(region, tree, self.graph.names) or ""))
        return None

    def speedup_text(self, region: IndexRegion, phases: Sequence[Phase], types: Mapping[ValueId, ArrayType]) -> str:
        """The factor by which `phases` have fewer operations than the region's members, as text; operations are counted as in
        plans."""
        before = _operations(region.members, self.graph.types)
        factor = before / max(1, _operations(phases, {**self.graph.types, **types}))
        return f"{factor:.0f}× fewer" if factor >= 10 else f"{factor:.1f}× fewer"


def _operations(phases: Sequence[Phase], types: Mapping[ValueId, ArrayType]) -> int:
    """The number of operations of phases whose sizes are numbers."""
    return sum(cost_of(phase, types).total().constant or 0 for phase in phases)
