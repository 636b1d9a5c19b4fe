"""Reductions, scans and what is built from them: contraction, keyed reduction, decode, encode.

Order (phases.md): float and complex `add` and `mul` follow the order of sums (`combine`); every other function is a right fold,
which for associative ones gives the same as any order.  Scans of float `add` and `mul` follow the order of scans (`running`);
those of other associative functions run left to right; `sub` and `div` alternate; all others reduce each prefix by a right fold,
which is their definition.

Comparisons of numbers give 0 and 1 of the operand's kind here, so that a reduction keeps its kind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import copysign, isfinite, isnan
from typing import Final, TypeAlias, TypeVar

from ...lang.diagnostics.model import Code
from ...typechecker.core.operations import Indexing, Payload
from ...typechecker.elements import FUNCTIONS, SELECTIVE, SUMMED, Kind, ResultKind, identity_of, is_ordered
from ..vm.check_failures import CheckFailed
from ..vm.values import Array, normalise
from .arrays import assemble, at, build, cells, check_index, integers, lines, offset
from .scalars import evaluate, meaning

# ---------------------------------------------------------------------------------------------------- scans
#
# The order of float scans by + and ×: a function of the length alone, so every plan gives the same bits.
#
# The items of a line are cut into blocks of `BLOCK` consecutive ones, the blocks into runs of `RUN`.  In a run the items are
# added in order.  The prefix of a run is the sum of the totals of the earlier runs of its block, added in order.  The prefix of a
# block is the sum of the totals of the earlier blocks, added in order; the total of a block is the prefix that a further run of
# it would have.  An item of the scan is ((prefix of its block) + (prefix of its run)) + (sum of its run up to the item).  An
# absent prefix contributes nothing (no zero is added).
#
# So lines of at most `RUN` items are plain running sums; the first items of a line do not depend on how many follow; and a line
# can be cut at its blocks.  For functions that are exact in any order (of integers and booleans, ⌊ and ⌈) the order has no
# effect.
#
# This is the definition in its plainest form; every back end must agree with it bit for bit.

Item = TypeVar("Item")
_NOTHING: Final = None
RUN: Final = 64
BLOCK: Final = 4096


def running(items: Sequence[Item], add: Callable[[Item, Item], Item]) -> list[Item]:
    """The scan of a line; `add` rounds to the storage kind itself."""

    def joined(left: Item | None, right: Item) -> Item:
        return right if left is _NOTHING else add(left, right)

    totals: list[Item] = []
    before_block: Item | None = _NOTHING
    for block in range(0, len(items), BLOCK):
        before_run: Item | None = _NOTHING
        for start in range(block, min(block + BLOCK, len(items)), RUN):
            before = before_block if before_run is _NOTHING else joined(before_block, before_run)
            total: Item | None = _NOTHING
            for item in items[start : min(start + RUN, block + BLOCK)]:
                total = joined(total, item)
                totals.append(joined(before, total))
            assert total is not _NOTHING
            before_run = joined(before_run, total)
        assert before_run is not _NOTHING
        before_block = joined(before_block, before_run)
    return totals


# ---------------------------------------------------------------------------------------------------- sums
#
# The order of float sums and products: a function of the length alone, so every plan gives the same bits.
#
# phases.md, "Order of sums".  The elements along the reduced axis are cut into blocks of `ROWS × LANES` consecutive elements,
# element r × LANES + l of a block being row r, lane l.  In a block each lane is added down the rows in order; then for h = 128,
# 64, …, 1 lane l becomes lane l + lane (l + h) where lane l + h exists and l < h; then blocks 2i and 2i + 1 are added, level by
# level, an odd last block moving up unchanged.  Absent elements contribute nothing (no zero is added, so the sum of ¯0.0 alone is
# ¯0.0).  The caller handles empty sums, whose value is the identity.
#
# This is the definition in its plainest form; every back end must agree with it bit for bit.

ROWS: Final = 16
LANES: Final = 256
SUMMATION_BLOCK: Final = ROWS * LANES

Summand = TypeVar("Summand")


def combine(items: Sequence[Summand], add: Callable[[Summand, Summand], Summand]) -> Summand:
    """Combines one or more items in the documented order; `add` rounds to the storage kind."""
    if not items:
        raise ValueError("an empty sum has no order")
    partials = [_block(items[start : start + SUMMATION_BLOCK], add) for start in range(0, len(items), SUMMATION_BLOCK)]
    return tree(partials, add)


def tree(partials: Sequence[Summand], add: Callable[[Summand, Summand], Summand]) -> Summand:
    """The binary tree on the block index: neighbours are paired level by level."""
    level = list(partials)
    while len(level) > 1:
        paired = [add(level[i], level[i + 1]) for i in range(0, len(level) - 1, 2)]
        level = paired + level[len(paired) * 2 :]
    return level[0]


def _block(items: Sequence[Summand], add: Callable[[Summand, Summand], Summand]) -> Summand:
    lanes = list(items[:LANES])
    for start in range(LANES, len(items), LANES):
        for lane, item in enumerate(items[start : start + LANES]):
            lanes[lane] = add(lanes[lane], item)
    half = LANES // 2
    while half:
        for lane in range(half):
            if lane + half < len(lanes):
                lanes[lane] = add(lanes[lane], lanes[lane + half])
        lanes = lanes[:half]
        half //= 2
    return lanes[0]


# ---------------------------------------------------------------------------------------------------- reductions

Combine: TypeAlias = Callable[[Payload, Payload], Payload]
ALTERNATING = {"sub": "add", "div": "mul"}


def combiner(function: str, kind: Kind) -> Combine:
    """`function` as a map of two items of `kind` to one of `kind`."""
    truth = FUNCTIONS[function].result is ResultKind.BOOL
    apply = meaning(function, kind, 2, Kind.BOOL if truth else kind)
    if not truth or kind is Kind.BOOL:
        return apply
    return lambda x, y: normalise(kind, apply(x, y))


def identity(function: str, kind: Kind) -> Payload:
    """The result of an empty reduction; E204 if the function has no identity."""
    value = identity_of(function, kind)
    if value is None:
        raise CheckFailed(Code.E204, f"{function} of no items has no value")
    return normalise(kind, value)


def reduce_line(function: str, kind: Kind, items: Sequence[Payload]) -> Payload:
    """The reduction of one line of items."""
    if not items:
        return identity(function, kind)
    apply = combiner(function, kind)
    if is_ordered(function, kind):
        return _of_finite(function, kind, items, combine(items, apply))
    total = right_fold(items, apply)
    return total + 0.0 if function in SELECTIVE and isinstance(total, float) else total  # -0.0 becomes 0.0


def _of_finite(function: str, kind: Kind, items: Sequence[Payload], value: Payload) -> Payload:
    """The product; 0 instead of NaN if all items are finite, since the order of sums then computed ∞ × 0."""
    is_lost = function == "mul" and isinstance(value, float) and isnan(value)
    return normalise(kind, 0.0) if is_lost and all(isinstance(x, float) and isfinite(x) for x in items) else value


def right_fold(items: Sequence[Payload], apply: Combine) -> Payload:
    accumulated = items[-1]
    for item in reversed(items[:-1]):
        accumulated = apply(item, accumulated)
    return accumulated


def scan_line(function: str, kind: Kind, items: Sequence[Payload]) -> list[Payload]:
    """The scan of a line: item i is the reduction of the first i + 1 items."""
    apply = combiner(function, kind)
    if function in ALTERNATING:
        steps = [combiner(ALTERNATING[function], kind), apply]
        return _running(items, lambda i: steps[i % 2])
    if kind.is_float and function in SUMMED:
        return [_of_finite(function, kind, items[: i + 1], item) for i, item in enumerate(running(items, apply))]
    if FUNCTIONS[function].associative:
        return _running(items, lambda i: apply)
    return [right_fold(items[: i + 1], apply) for i in range(len(items))]


def _running(items: Sequence[Payload], step: Callable[[int], Combine]) -> list[Payload]:
    states: list[Payload] = []
    for i, item in enumerate(items):
        states.append(step(i)(states[-1], item) if states else item)
    return states


def reduce(function: str, value: Array, axis: int) -> Array:
    shape, rows = lines(value, axis)
    return Array(value.kind, shape, tuple(reduce_line(function, value.kind, row) for row in rows))


def scan(function: str, value: Array, axis: int) -> Array:
    rest, rows = lines(value, axis)
    scanned = [scan_line(function, value.kind, row) for row in rows]
    return build(value.kind, value.shape, lambda p: scanned[offset(p[:axis] + p[axis + 1 :], rest)][p[axis]])


# --------------------------------------------------------------------- contraction


def contract(left: Array, right: Array) -> Array:
    """`left +.× right`: sums of products over left's last and right's first axis."""
    times = combiner("mul", left.kind)
    split, length = left.rank - 1, right.shape[0]

    def item(p: tuple[int, ...]) -> Payload:
        products = [times(at(left, (*p[:split], i)), at(right, (i, *p[split:]))) for i in range(length)]
        return reduce_line("add", left.kind, products)

    return build(left.kind, left.shape[:-1] + right.shape[1:], item)


def decode(radix: Array, value: Array) -> Array:
    """`radix ⊥ value`: digits along value's first axis weighted by the products of the later radices (Horner's rule).

    A scalar or length-1 side extends to the other's length; the first radix never matters."""
    times, plus = combiner("mul", value.kind), combiner("add", value.kind)
    left = radix if radix.rank else Array(radix.kind, (1,), radix.data)
    right = value if value.rank else Array(value.kind, (1,), value.data)
    radices, digits, split = left.shape[-1], right.shape[0], left.rank - 1
    length = digits if radices == 1 else radices

    def item(p: tuple[int, ...]) -> Payload:
        total = normalise(value.kind, 0)
        for i in range(length):
            base = at(left, (*p[:split], 0 if radices == 1 else i))
            total = plus(times(total, base), at(right, (0 if digits == 1 else i, *p[split:])))
        return total

    return build(value.kind, left.shape[:-1] + right.shape[1:], item)


def encode(radix: Array, value: Array) -> Array:
    """`radix ⊤ value`: the digits of each item, most significant first along the first axis."""
    first = radix.shape[0] if radix.rank else 1
    columns = radix.shape[1:]

    def digits(column: tuple[int, ...], number: Payload) -> list[Payload]:
        result: list[Payload] = []
        for i in reversed(range(first)):
            base = at(radix, (i, *column)) if radix.rank else radix.item
            digit = evaluate("residue", value.kind, (base, number), value.kind)
            result.insert(0, digit)
            number = _carry(value.kind, base, number, digit)
        return result

    def item(p: tuple[int, ...]) -> Payload:
        position, rest = (p[0], p[1:]) if radix.rank else (0, p)
        return digits(rest[: len(columns)], at(value, rest[len(columns) :]))[position]

    return build(value.kind, radix.shape + value.shape, item)


def _carry(kind: Kind, base: Payload, number: Payload, digit: Payload) -> Payload:
    """The whole number (number - digit) ÷ base: for integers the quotient rounded down, as the difference may wrap; for others
    the nearest whole number to the rounded quotient; 0 above a base of 0."""
    if base == 0:
        return normalise(kind, 0)
    if kind.is_integer:
        return normalise(kind, int(number) // int(base))  # type: ignore[arg-type]
    difference = evaluate("sub", kind, (number, digit), kind)
    quotient = evaluate("div", kind, (difference, base), kind)
    if isinstance(quotient, complex):
        return complex(_nearest_whole(quotient.real), _nearest_whole(quotient.imag))
    return _nearest_whole(quotient)  # type: ignore[arg-type]


def _nearest_whole(number: float) -> float:
    return copysign(float(round(number)), number) if isfinite(number) else number


def key_reduce(function: str, indices: Array, value: Array, bins: int, checked: bool, indexing: Indexing | None = None) -> Array:
    """result[b…] reduces, in order, the cells of `value` whose index is b; the identity where there is none.

    Here `add` and `mul` run left to right in the order of the cells: the order of float sums depends on the keys."""
    apply = combiner(function, value.kind)
    groups: list[list[Array]] = [[] for _ in range(bins)]
    for index, cell in zip(integers(indices), cells(value, indices.rank), strict=True):
        check_index(index, bins, checked, indexing=indexing)
        groups[index].append(cell)
    cell_shape = value.shape[indices.rank :]
    parts: list[Array] = []
    for group in groups:
        columns = list(zip(*(cell.data for cell in group), strict=True)) if group else []
        if not group:
            parts.append(build(value.kind, cell_shape, lambda p: identity(function, value.kind)))
        elif FUNCTIONS[function].associative:
            parts.append(Array(value.kind, cell_shape, tuple(
                _of_finite(function, value.kind, c, _running(c, lambda i: apply)[-1]) for c in columns
            )))  # fmt: skip
        else:
            parts.append(Array(value.kind, cell_shape, tuple(right_fold(c, apply) for c in columns)))
    return assemble(value.kind, (bins,), cell_shape, parts)
