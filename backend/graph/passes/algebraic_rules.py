"""Rewrite rules for products, digits and orders: library phases that become structured phases, and sorts.

A product with a vector, and `decode` of a few digits, become sums where one phase alone makes their operand: a sum fuses with
that phase and reads through views, so that windows (`(k↕x)+.×v`, `2⊥⍉3↕x`) are never stored.  `encode` becomes arithmetic.

Note [Exact quotients].  ⌊x÷w⌋ for w = 2ˢ × an odd m: with r = x modulo w, m times the quotient is ⌊x÷2ˢ⌋-⌊r÷2ˢ⌋, and a product
with the inverse of m modulo 2⁶⁴ leaves the quotient.  No step rounds, and the wraparound modulo 2⁶⁴ cancels.
"""

from __future__ import annotations

from math import prod
from typing import Final

from ....lang.support.records import replace
from ....typechecker.elements import ArrayType, Element, Kind
from ....typechecker.sizes.polynomials import number
from ..bind_sizes import KnownValues
from ..phases import (
    IDENTITY,
    Affine,
    ApplyNode,
    Axis,
    AxisKind,
    Constant,
    ConstantNode,
    LibraryPhase,
    Node,
    PhaseResult,
    Read,
    ReadNode,
    SizeNode,
    Structured,
    ValueId,
    affine,
    axis_index,
    constant_index,
    frame_of,
    may_fill,
    needed_positions,
    sum_of_products,
)
from ..traverse import all_phases, axis_sizes
from .rewriting import PatternMatch, Rewrite, RewriteScope, has_reduction, is_view

# ---------------------------------------------------------------------------------------- sums of products

_MOST_DIGITS: Final = 16


def product_to_sum(match: PatternMatch, scope: RewriteScope) -> Rewrite | None:
    """Rewrites a product of a matrix and a vector, or of two vectors, to a sum of products."""
    phase, left, right = match.root, match["left"], match["right"]
    shapes, kind = (scope.types[left].shape, scope.types[right].shape), scope.types[phase.results[0]].element.kind
    if 1 not in map(len, shapes) or not _has_one_kind(phase, scope):
        return None
    product = sum_of_products(kind, *shapes, 0, (left, right, phase.results[0]))
    return Rewrite({phase.id: (replace(product, id=phase.id, span=phase.span),)})


def decode_to_horner(match: PatternMatch, scope: RewriteScope) -> Rewrite | None:
    """Rewrites `decode` of a few digits to an element-wise phase: Horner's rule, one step a digit."""
    phase, radix, arg = match.root, match["radix"], match["arg"]
    (result,), radices, digits = phase.results, scope.types[radix].shape, scope.types[arg].shape
    if len(radices) > 1 or not digits or not _has_one_kind(phase, scope) or not _could_fuse(arg, phase, scope):
        return None
    counts = [size.constant for size in (*radices, digits[0])]
    kind, space, length = scope.types[result].element.kind, digits[1:], max(count or 0 for count in counts)
    if not all(counts) or length > _MOST_DIGITS or kind.is_complex:
        return None
    reads: list[Read] = []
    body: list[Node] = [ConstantNode(kind, 0.0 if kind.is_float else 0)]
    total = 0
    for position in range(length):
        base = [constant_index(number(position if radices[0].constant != 1 else 0))] if radices else []
        digit = [constant_index(number(position if digits[0].constant != 1 else 0)), *map(axis_index, range(len(space)))]
        reads += [Read(radix, affine(space, base, radices)), Read(arg, affine(space, digit, digits))]
        body += [ReadNode(len(reads) - 2, kind), ReadNode(len(reads) - 1, kind)]
        first = len(body) - 2
        body += [ApplyNode("mul", (total, first), kind), ApplyNode("add", (first + 2, first + 1), kind)]
        total = len(body) - 1
    axes = tuple(Axis(size, AxisKind.PARALLEL) for size in space)
    weighted_sum = Structured(phase.id, phase.span, axes, tuple(reads), tuple(body), (PhaseResult(result, total, None),))
    return Rewrite({phase.id: (weighted_sum,)})


def encode_to_arithmetic(match: PatternMatch, scope: RewriteScope) -> Rewrite | None:
    """Rewrites `encode` of i64 in constant radices to one element-wise phase a digit, and a stack of them."""
    phase, arg, radices = match.root, match["arg"], _numbers(match["radix"], scope)
    kind, rank = scope.types[arg].element.kind, len(scope.types[match["radix"]].shape)
    if kind is not Kind.I64 or not _has_one_kind(phase, scope) or rank != 1 or not 0 < len(radices) <= _MOST_DIGITS:
        return None
    if min(radices[1:], default=1) < 1 or radices[0] < 0 or prod(radices[1:]) >= 1 << 62:
        return None
    type, digits, digit_values = scope.types[phase.results[0]], list[Structured](), list[ValueId]()
    cell = ArrayType(type.element, type.shape[1:])
    axes = tuple(Axis(size, AxisKind.PARALLEL) for size in cell.shape)
    for position, radix in enumerate(radices):
        body: list[Node] = [ReadNode(0, Kind.I64)]
        digit = _residue(body, radix, _quotient(body, 0, prod(radices[position + 1 :])))
        digit_values.append(scope.value())
        result = PhaseResult(digit_values[-1], digit, None)
        digits.append(Structured(scope.phase(), phase.span, axes, (Read(arg, IDENTITY),), tuple(body), (result,)))
    stack = LibraryPhase(phase.id, phase.span, "stack", tuple(digit_values), phase.results, {"axis": 0}, (), ())
    return Rewrite({phase.id: (*digits, stack)}, dict.fromkeys(digit_values, cell))


def _numbers(value: ValueId, scope: RewriteScope) -> list[int]:
    """The integers of a constant or evenly stepping vector; empty if they are unknown."""
    maker, known = scope.makers.get(value), KnownValues(all_phases(scope.graph), scope.types)
    if isinstance(maker, Constant):
        return [int(item) for item in maker.data if isinstance(item, int)]
    steps, (count, *_) = known.steps.get(value), (*(size.constant for size in scope.types[value].shape), None)
    first = None if steps is None else steps.constant.constant
    return [] if steps is None or count is None or first is None else [first + steps.coefficients[0] * i for i in range(count)]


def _applied(body: list[Node], function: str, *args: int) -> int:
    body.append(ApplyNode(function, args, Kind.I64))
    return len(body) - 1


def _literal(body: list[Node], value: int) -> int:
    body.append(ConstantNode(Kind.I64, value))
    return len(body) - 1


def _residue(body: list[Node], modulus: int, item: int) -> int:
    return _applied(body, "residue", _literal(body, modulus), item) if modulus else item


def _quotient(body: list[Node], item: int, weight: int) -> int:
    """See Note [Exact quotients]."""
    if weight == 1:
        return item
    shift = (weight & -weight).bit_length() - 1
    odd, places = weight >> shift, _literal(body, shift)
    quotient = _applied(body, "shr", places, item)
    if odd == 1:
        return quotient
    rest = _applied(body, "shr", places, _residue(body, weight, item))
    inverse = pow(odd, -1, 1 << 64)
    return _applied(body, "mul", _applied(body, "sub", quotient, rest), _literal(body, inverse - (inverse >> 63 << 64)))


def _has_one_kind(phase: LibraryPhase, scope: RewriteScope) -> bool:
    return len({scope.types[value].element.kind for value in (*phase.args, *phase.results)}) == 1


def _could_fuse(value: ValueId, reader: LibraryPhase, scope: RewriteScope) -> bool:
    """Would the value's producer fuse with the rewritten reader: is it a view, or arithmetic that `reader` alone reads?"""
    maker = scope.makers.get(value)
    if not isinstance(maker, Structured) or has_reduction(maker) or value in scope.graph.roots:
        return False
    return is_view(maker) or (scope.readers(value) == [reader] and scope.in_same_block(maker, reader))


# --------------------------------------------------------------------------------------------------- sorting
#
# Rules about orders: `x[⍋x]` is a sort, `k↑x[⍒x]` a partial sort, and `x⍳⌈/x` and `⊃⍋x` are argument reductions.
#
# The attribute `needed` (start, stop) of sorts and grades permits a shortcut, so that a back end which ignores it is correct:
# only these positions of the ordered axis are read, and the items at all others may be anything.

def graded_gather_to_sort(match: PatternMatch, scope: RewriteScope) -> Rewrite | None:
    """Rewrites `x[⍋x]`, of a vector or of each row of a frame, to a sort."""
    gather, grade = match.library(0), match.library(1)
    type, order = scope.types[match["x"]], grade.results[0]
    frame = frame_of(gather)
    if len(type.shape) != frame + 1 or frame != frame_of(grade) or scope.readers(order) != [gather]:
        return None
    if frame and type.element.kind.is_complex:
        return None
    sort = replace(grade, id=gather.id, span=gather.span, op="sort", results=gather.results)
    return Rewrite({gather.id: (sort,), grade.id: ()})


def partly_graded_gather_to_sort(match: PatternMatch, scope: RewriteScope) -> Rewrite | None:
    """Rewrites `x[k↑⍒x]` to the same part of the sorted vector, without a grade."""
    gather, view = match.root, scope.makers.get(match["places"])
    if not isinstance(view, Structured) or not is_view(view) or may_fill(view.reads[0].projection):
        return None
    (read,), type = view.reads, scope.types[match["x"]]
    grade = scope.makers.get(read.value)
    if not isinstance(grade, LibraryPhase) or grade.op != "grade" or frame_of(grade) or grade.args[0] != match["x"]:
        return None
    alone = scope.readers(read.value) == [view] and scope.readers(match["places"]) == [gather]
    if len(type.shape) != 1 or not alone or not scope.in_same_block(grade, gather) or not scope.in_same_block(view, gather):
        return None
    ordered, kind = scope.value(), type.element.kind
    sort = replace(grade, id=scope.phase(), span=gather.span, op="sort", results=(ordered,))
    part = replace(
        view, id=gather.id, span=gather.span, reads=(Read(ordered, read.projection),), body=(ReadNode(0, kind),),
        results=(PhaseResult(gather.results[0], 0, None),),
    )  # fmt: skip
    types = {ordered: ArrayType(Element(kind), type.shape)}
    return Rewrite({grade.id: (), view.id: (), gather.id: (sort, part)}, types)


def limit_order_to_needed(match: PatternMatch, scope: RewriteScope) -> Rewrite | None:
    """Marks a sort or grade of which only some positions are read with that range."""
    phase = match.root
    (value,), axis = phase.results, frame_of(phase)
    shape = scope.types[phase.args[0]].shape
    if needed_positions(phase) is not None or len(shape) != axis + 1:
        return None
    readers = scope.readers(value)
    windows = [
        _window(reader, read, axis) if isinstance(reader, Structured) else None
        for reader in readers
        for read in (reader.reads if isinstance(reader, Structured) else (None,))
        if read is None or read.value == value
    ]
    known = [window for window in windows if window is not None]
    if not known or len(known) < len(windows):
        return None
    first, end = min(start for start, _ in known), max(stop for _, stop in known)
    length = shape[axis].constant
    if first < 0 or first >= end or (length is not None and (end > length or 2 * (end - first) > length)):
        return None
    return Rewrite({phase.id: (replace(phase, attributes={**phase.attributes, "needed": (first, end)}),)})


def _window(reader: Structured, read: Read | None, axis: int) -> tuple[int, int] | None:
    """The range of positions along an axis that a read may touch; None if it is unknown."""
    if read is None or len(read.projection.stages) != 1:
        return None
    (stage,) = read.projection.stages
    if not isinstance(stage, Affine) or stage.fills or stage.indices[axis].constant.constant is None:
        return None
    index = stage.indices[axis]
    low = high = index.constant.constant or 0
    for term in index.terms:
        size = reader.axes[term.axis].size.constant
        if not size:
            return None
        reach = (size - 1) * term.coefficient
        low, high = low + min(0, reach), high + max(0, reach)
    return low, high + 1


# ---------------------------------------------------------------------------------- argument reductions


def extreme_search_to_argmin(match: PatternMatch, scope: RewriteScope) -> Rewrite | None:
    """Rewrites `x⍳⌈/x` of each row to an argument reduction.

    The extreme of floats is reduced too: it is NaN if the row has a NaN, and the search for a NaN finds nothing (the length)."""
    search, reduction = match.root, match.phases[1]
    assert isinstance(reduction, Structured)
    table, extreme = search.args
    type, kind = scope.types[table], scope.types[table].element.kind
    frame, length = frame_of(search), type.shape[-1:]
    if kind.is_complex or kind is Kind.CHAR or len(type.shape) != frame + 1 or not (length[0].bounds()[0] or 0) >= 1:
        return None
    if axis_sizes(reduction.axes) != type.shape or any(value in scope.graph.roots for value in search.results):
        return None
    result = next(candidate for candidate in reduction.results if candidate.value == extreme)
    function = "argmax" if result.reduction in ("max", "or") else "argmin"
    argument = scope.value() if kind.is_float else search.results[0]
    both = replace(reduction, results=(*reduction.results, PhaseResult(argument, result.node, function)))
    if not kind.is_float:
        return Rewrite({reduction.id: (both,), search.id: ()})
    axes = reduction.axes[:-1]
    body = (
        ReadNode(0, kind), ReadNode(1, Kind.I64), SizeNode(length[0]), ApplyNode("eq", (0, 0), Kind.BOOL),
        ApplyNode("select", (3, 1, 2), Kind.I64),
    )  # fmt: skip
    reads = (Read(extreme, IDENTITY), Read(argument, IDENTITY))
    chosen = Structured(search.id, search.span, axes, reads, body, (PhaseResult(search.results[0], 4, None),))
    types = {argument: ArrayType(Element(Kind.I64), axis_sizes(axes))}
    return Rewrite({reduction.id: (both,), search.id: (chosen,)}, types)


def grade_head_to_argmin(match: PatternMatch, scope: RewriteScope) -> Rewrite | None:
    """Rewrites the head of each row's grade to an argument reduction, which fuses with the producer of the rows."""
    grade = match.root
    arg, (result,) = grade.args[0], grade.results
    type, frame = scope.types[arg], frame_of(grade)
    if needed_positions(grade) != (0, 1) or not _pays(scope, grade, frame):
        return None
    axes = tuple(Axis(size, AxisKind.REDUCE if axis == frame else AxisKind.PARALLEL) for axis, size in enumerate(type.shape))
    function = "argmax" if grade.attributes.get("descending") is True else "argmin"
    body = (ReadNode(0, type.element.kind),)
    reduction = Structured(grade.id, grade.span, axes, (Read(arg, IDENTITY),), body, (PhaseResult(result, 0, function),))
    readers = [reader for reader in scope.readers(result) if isinstance(reader, Structured)]
    changed = {
        reader.id: (replace(reader, reads=tuple(_without_last(reader, read, result, frame) for read in reader.reads)),)
        for reader in readers
    }
    shorter = replace(scope.types[result], shape=type.shape[:-1], permutation=False)
    return Rewrite({grade.id: (reduction,), **changed}, {result: shorter})


def _pays(scope: RewriteScope, grade: LibraryPhase, frame: int) -> bool:
    (result,), type = grade.results, scope.types[grade.args[0]]
    sizes, kind = [size.constant for size in type.shape], type.element.kind
    is_known = len(sizes) == frame + 1 and None not in sizes and bool(sizes[-1])
    return is_known and not (kind.is_complex or kind is Kind.CHAR or type.permutation or result in scope.graph.roots)


def _without_last(phase: Structured, read: Read, value: ValueId, frame: int) -> Read:
    """The phase's read of the first item of each row of the grade, as a read of the argument reduction's result."""
    if read.value != value:
        return read
    (stage,) = read.projection.stages
    assert isinstance(stage, Affine)
    return Read(value, affine(axis_sizes(phase.axes), stage.indices[:frame], stage.shape[:frame]))
