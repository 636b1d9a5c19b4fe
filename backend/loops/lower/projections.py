"""Where projections read, as indices of loop programs.

An index is affine in the point of the space and in sizes that a run finds; what a reshape makes of it is affine where the
parts of the source fit those of the target, else digits.

Neighbours: `structured`, `library` (ask); `values` (the indices of sizes).
"""

from __future__ import annotations

from collections.abc import Sequence

from ....typechecker.elements import Kind
from ....typechecker.sizes import Size, number
from ...graph.phases import Affine, Projection, Reshaped
from ..builder import at
from ..ir import ZERO, Index, plus, times
from .values import Scope, Unsupported


def indices_of(scope: Scope, projection: Projection, point: Sequence[Index], sizes: Sequence[Size]
               ) -> tuple[tuple[Index, ...], str | None]:  # fmt: skip
    """Where a projection reads at a point of a space of these sizes, and the register that says whether there is an item."""
    current = tuple(point)
    ranges = [(0, max(0, scope.most(size) - 1)) for size in sizes]
    mask: str | None = None
    for stage in projection.stages:
        match stage:
            case Affine():
                following: list[Index] = []
                reach: list[tuple[int, int]] = []
                for affine, extent in zip(stage.indices, stage.shape, strict=True):
                    total = scope.index_of(affine.constant)
                    least = most = affine.constant.constant
                    for term in affine.terms:
                        total = plus(total, times(current[term.axis], term.coefficient))
                        ends = [end * term.coefficient for end in ranges[term.axis]]
                        if least is not None and most is not None:
                            least, most = least + min(ends), most + max(ends)
                    following.append(total)
                    bound = extent.constant
                    if stage.fills:
                        if least is None or least < 0:
                            mask = scope.b.both(mask, scope.b.compare("le", ZERO, total))
                        if most is None or bound is None or most >= bound:
                            mask = scope.b.both(mask, scope.b.compare("lt", total, scope.index_of(extent)))
                    top = scope.most(extent) - 1
                    reach.append((max(0, least or 0), top if most is None else min(most, top)))
                current, ranges = tuple(following), reach
            case Reshaped():
                current, ranges = _reshaped(scope, stage, current, ranges)
    return current, mask


def _reshaped(scope: Scope, stage: Reshaped, point: tuple[Index, ...], ranges: list[tuple[int, int]]
              ) -> tuple[tuple[Index, ...], list[tuple[int, int]]]:  # fmt: skip
    """The same item by its place in row-major order, where that is affine."""
    numbers = [size.constant for size in (*stage.source, *stage.target)]
    if any(n is None for n in numbers):
        raise Unsupported("a reshape between sizes that a run finds")
    source, target = numbers[: len(stage.source)], numbers[len(stage.source) :]
    flat, low, high, step = ZERO, 0, 0, 1
    parts: list[tuple[Index, int, tuple[int, int]]] = []  # index, stride in the flat order, range
    for place in range(len(source) - 1, -1, -1):
        parts.append((point[place], step, ranges[place]))
        step *= source[place] or 0
    whole = ZERO
    for part, weight, _ in parts:
        whole = plus(whole, times(part, weight))
    following: list[Index] = []
    reach: list[tuple[int, int]] = []
    stride = 1
    for size in target:
        stride *= size or 0
    parts.reverse()
    for size in target:
        stride = stride // size if size else 0
        if size == 1 or not stride:
            following.append(ZERO)
            reach.append((0, 0))
            continue
        flat, low, high = ZERO, 0, 0
        left: list[tuple[Index, int, tuple[int, int]]] = []
        for part, weight, (first, last) in parts:
            if weight % stride == 0:
                flat = plus(flat, times(part, weight // stride))
                low, high = low + first * (weight // stride), high + last * (weight // stride)
            else:
                left.append((part, weight, (first, last)))
        if sum(last * weight for _, weight, (_, last) in left) >= stride:
            return _digits(scope, whole, target)
        parts = left
        following.append(flat)
        reach.append((low, high))
    return tuple(following), reach


def _digits(scope: Scope, whole: Index, target: Sequence[int | None]) -> tuple[tuple[Index, ...], list[tuple[int, int]]]:
    """The indices of an item by its place in row-major order.  Quotients are those of binary64, exact below 2⁵²."""
    b, following, stride = scope.b, list[Index](), 1
    sizes = [size or 0 for size in target]
    for size in sizes:
        stride *= size
    if stride >= 1 << 52:
        raise Unsupported("a reshape of very many items")
    place = b.number(whole)
    for position, size in enumerate(sizes):
        stride = stride // size if size else 0
        digit = place
        if stride > 1:
            divisor = b.number(scope.index_of(number(stride)))
            digit = scope.quotient(place, divisor)
        if position:
            digit = b.apply("residue", (b.number(scope.index_of(number(size))), digit), Kind.I64, Kind.I64)
        following.append(at(digit))
    return tuple(following), [(0, max(0, size - 1)) for size in sizes]
