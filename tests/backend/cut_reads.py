"""What shards of boxes of any grid read, counted: 2×2 cuts, halos and replicated operands.  Plans cut one axis only."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence

from rho.backend.graph.phases import Phase, ValueId
from rho.backend.graph.symbolic_costs import Types
from rho.backend.schedule.plan.plan import Box
from rho.backend.schedule.program_facts.partitioning import full_box, operand_boxes, reads_of, space_of
from rho.backend.schedule.verify.judge import volume


def boxes_of(space: Sequence[int], parts: Mapping[int, Sequence[int]]) -> tuple[Box, ...]:
    """The grid of boxes with the axes of `parts` cut into pieces of those lengths (2×2 cuts and the like), row-major."""
    intervals = []
    for axis, size in enumerate(space):
        lengths = parts.get(axis, (size,))
        assert sum(lengths) == size, "the parts of an axis fill it"
        ends = list(itertools.accumulate(lengths))
        intervals.append([(end - length, end) for end, length in zip(ends, lengths, strict=True)])
    return tuple(itertools.product(*intervals))


def elements_read(phase: Phase, types: Types, boxes: Iterable[Box]) -> int:
    """Elements that shards of those boxes read in all, each operand of a shard counted once."""
    return sum(volume(part) for box in boxes for part in _distinct(phase, types, box).values())


def bytes_read(phase: Phase, types: Types, boxes: Iterable[Box]) -> int:
    return sum(
        volume(part) * types[value].element.kind.bytes for box in boxes for value, part in _distinct(phase, types, box).items()
    )


def marginal_bytes(phase: Phase, types: Types, boxes: Sequence[Box]) -> int:
    """What a cut reads beside what the uncut phase reads: halos and replicated operands."""
    space = space_of(phase, types)
    assert space is not None, "only phases of known sizes are cut"
    return bytes_read(phase, types, boxes) - bytes_read(phase, types, [full_box(space)])


def _distinct(phase: Phase, types: Types, box: Box) -> dict[ValueId, Box]:
    """The hull of what is read of each value."""
    found: dict[ValueId, Box] = {}
    for value, part in zip(reads_of(phase, types), operand_boxes(phase, types, box), strict=True):
        found[value] = hull(found[value], part) if value in found else part
    return found


def hull(a: Box, b: Box) -> Box:
    """The smallest box around two, of which empty ones count for nothing."""
    if any(start >= stop for start, stop in a):
        return b
    if any(start >= stop for start, stop in b):
        return a
    return tuple((min(p[0], q[0]), max(p[1], q[1])) for p, q in zip(a, b, strict=True))
