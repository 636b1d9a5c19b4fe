"""A region of products and sums in index-set form: the sum over some indices of a product of operands, each with its indices.

Members of a region are contractions, and structured phases that multiply what they read and perhaps add along an axis.  They
read one another, directly or under other axes (broadcasts, transpositions, diagonals), and each but the last is read by the next
alone, once.  What is shared or shown stays an operand.

Neighbours: `tree` (the cheapest order), `regroup` (the pass).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import field
from math import prod
from typing import Final

from .....lang.records import dataclass
from .....typechecker.elements import Kind
from .....typechecker.sizes import Size
from ... import traverse
from ...cells import frame_of
from ...phases import Affine, ApplyNode, AxisKind, LibraryPhase, Phase, Read, ReadNode, Structured, ValueId

MOST: Final = 10
"""Operands of a region: every order of so many is looked at."""
_KINDS: Final = frozenset({Kind.F64, Kind.F32, Kind.C128, Kind.C64, Kind.I64})
Index = int


@dataclass(frozen=True, slots=True)
class Operand:
    """A value, with the index of each of its axes."""

    value: ValueId
    indices: tuple[Index, ...]


@dataclass(slots=True)
class Region:
    """`result`: the indices of what it makes; all others are summed over.  `cost`: multiplications as it is written.

    An index has its extent in `sizes` whether or not an operand has it: of one that none has, every term is the same."""

    kind: Kind
    result: tuple[Index, ...]
    sizes: dict[Index, int] = field(default_factory=dict)
    operands: list[Operand] = field(default_factory=list)
    members: list[Phase] = field(default_factory=list)
    cost: int = 0

    @property
    def repetitions(self) -> int:
        """How often the sum over the operands' indices is repeated: the extents of summed indices that no operand has."""
        read = {index for operand in self.operands for index in operand.indices}
        return prod(size for index, size in self.sizes.items() if index not in read and index not in self.result)

    @property
    def contracts(self) -> bool:
        """Is there a contraction, whose tolerance all may have?"""
        return self.kind is Kind.I64 or any(isinstance(member, LibraryPhase) for member in self.members)


@dataclass(frozen=True, slots=True)
class Block:
    """What regions of one block may take in: members by their value, and how often values are read anywhere."""

    members: Mapping[ValueId, Phase]
    uses: Counter[ValueId]
    shapes: Mapping[ValueId, tuple[int, ...]]


def is_member(phase: Phase, kind_of: Mapping[ValueId, Kind], shapes: Mapping[ValueId, tuple[int, ...]]) -> bool:
    """Does a phase only multiply and add?  All sizes are numbers."""
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
    """The axis of the space that each axis of the operand is; None where it is none."""
    stages = read.projection.stages
    if not stages:
        return tuple(range(len(phase.axes)))
    if len(stages) != 1 or not isinstance(stages[0], Affine) or stages[0].fills:
        return None
    found: list[int] = []
    for index, size in zip(stages[0].indices, stages[0].shape, strict=True):
        if len(index.terms) != 1 or index.terms[0].coefficient != 1 or index.constant.constant != 0:
            return None
        if phase.axes[index.terms[0].axis].size != size:
            return None
        found.append(index.terms[0].axis)
    return tuple(found)


def region_of(root: Phase, value: ValueId, block: Block, kind: Kind) -> Region:
    """The largest region that ends with a phase."""
    rank = len(block.shapes[value])
    region = Region(kind, tuple(range(rank)), dict(enumerate(block.shapes[value])))
    pending = [Operand(value, region.result)]
    while pending:
        operand = pending.pop()
        inner = root if not region.members else block.members.get(operand.value)
        room = len(region.operands) + len(pending) + len(traverse.operands(inner) if inner is not None else ()) <= MOST
        if inner is None or (region.members and (block.uses[operand.value] != 1 or not room)):
            region.operands.append(operand)
            continue
        region.members.append(inner)
        pending += reversed(_opened(region, inner, operand.indices, block))
    return region


def _opened(region: Region, phase: Phase, indices: tuple[Index, ...], block: Block) -> list[Operand]:
    """What a member reads, in the region's indices."""
    if isinstance(phase, LibraryPhase):
        left, right = phase.args
        shared = len(region.sizes)
        region.sizes[shared] = block.shapes[right][0]
        split = len(block.shapes[left]) - 1
        region.cost += prod(block.shapes[left]) * prod(block.shapes[right][1:])
        return [Operand(left, (*indices[:split], shared)), Operand(right, (shared, *indices[split:]))]
    assert isinstance(phase, Structured)
    names = list(indices)
    if phase.axes and phase.axes[-1].kind is AxisKind.REDUCE:
        names.append(len(region.sizes))
        region.sizes[names[-1]] = _number(phase.axes[-1].size)
    points = prod(map(_number, traverse.axis_sizes(phase.axes)))
    region.cost += points if len(phase.body) > 1 or (phase.axes[-1:] and phase.axes[-1].kind is AxisKind.REDUCE) else 0
    made: list[Operand] = []
    for node in _factors(phase):
        axes = _indices(phase, phase.reads[node.index])
        assert axes is not None
        made.append(Operand(phase.reads[node.index].value, tuple(names[axis] for axis in axes)))
    return made


def _number(size: Size) -> int:
    assert size.constant is not None
    return size.constant


def _factors(phase: Structured) -> list[ReadNode]:
    """The factors of the product, as often as they are there."""
    pending, found = [phase.results[0].node], []
    while pending:
        node = phase.body[pending.pop()]
        if isinstance(node, ReadNode):
            found.append(node)
        else:
            assert isinstance(node, ApplyNode)
            pending += reversed(node.args)
    return found
