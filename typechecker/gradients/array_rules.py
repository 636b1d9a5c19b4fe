"""The adjoints of the array operations: for each op, the cotangents of its operands from the cotangent of its result.

The adjoint of a gather is a sum by key and the reverse, so that no adjoint needs atomic additions; sums keep the documented
order. Conventions: at ties, and among equal keys, the first item takes the cotangent; of several writes to one position the last
one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeAlias

from ..core import operations as c
from ..core.operations import Op, ValueId, operands_of, results_of
from ..elements import Kind
from ..sizes.polynomials import ONE, ZERO, number, product, variable
from . import control_rules, library_rules
from .reverse_mode import ReversePass, Rules
from .scalar_rules import constant
from .terms import Masking, Terms

# ---------------------------------------------------------------------------------------------------- views

def _reshape(r: ReversePass, op: c.Reshape, g: ValueId) -> None:
    t, shape = r.terms, r.terms.shape(op.arg)
    count, taken = product(shape), product(t.shape(op.result))
    if count == taken or r.builder.equal(count, taken):
        r.add(op.arg, t.reshape(g, shape))
        return
    bins = count + 1  # one more bin, so that there is one if there are no items
    items = t.iota(count)
    positions = t.emit(lambda v: c.Reshape(v, items), Kind.I64, (taken,))
    sums = key_sum(t, positions, t.reshape(g, (taken,)), bins)
    r.add(op.arg, t.reshape(t.slice(sums, 0, ZERO, count), shape), Masking.CHOICE)


def _transpose(r: ReversePass, op: c.Transpose, g: ValueId) -> None:
    t, shape, axes = r.terms, r.terms.shape(op.arg), op.axes
    if len(set(axes)) == len(axes):
        r.add(op.arg, t.transpose(g, [axes.index(axis) for axis in range(len(axes))]))
        return
    first = [axes.index(axis) for axis in range(len(t.shape(g)))]
    for axis, source in enumerate(first):
        g = t.slice(g, axis, ZERO, shape[source])
    g = t.broadcast(g, shape, tuple(first))
    for axis, target in enumerate(axes):
        if first[target] != axis:
            same = t.apply("eq", t.coordinates(shape, first[target]), t.coordinates(shape, axis))
            g = t.where(same, g, None)
    r.add(op.arg, g, Masking.CHOICE)


def _broadcast(r: ReversePass, op: c.Broadcast, g: ValueId) -> None:
    t = r.terms
    for axis in reversed(range(len(t.shape(g)))):
        if axis not in op.axes:
            g = t.sum(g, axis)
    order = sorted(op.axes)
    r.add(op.arg, t.transpose(g, [op.axes.index(axis) for axis in order]))


def _reverse(r: ReversePass, op: c.Reverse, g: ValueId) -> None:
    r.add(op.arg, r.terms.reverse(g, op.axis))


def _rotate(r: ReversePass, op: c.Rotate, g: ValueId) -> None:
    t, back = r.terms, r.terms.apply("neg", op.amount)
    r.add(op.arg, t.emit(lambda v: c.Rotate(v, g, back, op.axis), t.kind(g), t.shape(g)))


def _slice(r: ReversePass, op: c.Slice, g: ValueId) -> None:
    t, starts = r.terms, tuple([-start for start in op.starts])
    r.add(op.arg, t.emit(lambda v: c.Slice(v, g, starts), t.kind(g), t.shape(op.arg)), Masking.CHOICE)


def _join(r: ReversePass, op: c.Join, g: ValueId) -> None:
    start = ZERO
    for arg in op.args:
        length = r.terms.shape(arg)[op.axis]
        if r.is_active(arg):
            r.add(arg, r.terms.slice(g, op.axis, start, length))
        start = start + length


def _stack(r: ReversePass, op: c.Stack, g: ValueId) -> None:
    for position, arg in enumerate(op.args):
        if r.is_active(arg):
            r.add(arg, r.terms.cell(g, op.axis, number(position)))


def _windows(r: ReversePass, op: c.SlidingWindows, g: ValueId) -> None:
    """Item p of an axis occurs in window p-t at position t, so its cotangent is the sum over t of theirs."""
    t, rank = r.terms, len(r.terms.shape(op.arg))
    for axis in reversed(range(op.count)):
        g = _overlapped(t, g, axis, op.count + axis, t.shape(op.arg)[axis])
    assert len(t.shape(g)) == rank
    r.add(op.arg, g)


def _overlapped(t: Terms, g: ValueId, windows: int, items: int, length: Any) -> ValueId:
    """The sums over windows: the axes `windows` (number of the window) and `items` (position in it) become one axis of
    `length`."""
    g = t.to_front(t.to_front(g, items), windows + 1)  # windows, items, others
    count, width = t.shape(g)[:2]
    padded = t.slice(g, 0, ONE - width, count + (width - 1) * 2)
    shape = (length, width, *t.shape(padded)[1:])
    skewed = t.reverse(t.emit(lambda v: c.SlidingWindows(v, padded, 1), t.kind(g), shape), 1)
    return t.from_front(t.sum(t.diagonal(skewed, 1, 2), 1), windows)


# ---------------------------------------------------------------------------------------------------- indexing

def key_sum(t: Terms, indices: ValueId, items: ValueId, bins: Any, *, checked: bool = False, indexing: Any = None) -> ValueId:
    """Sum the major cells of `items` by index; `indices` are those of the leading axes."""
    rest = t.shape(items)[len(t.shape(indices)) :]
    return t.emit(lambda v: c.KeyReduce(v, "add", indices, items, checked, indexing), t.kind(items), (bins, *rest))


def _gather(r: ReversePass, op: c.Gather, g: ValueId) -> None:
    t, shape = r.terms, r.terms.shape(op.arg)
    rank, at = len(t.shape(op.indices)), op.axis
    if op.arg in r.gathers and not op.fills:
        r.gathers[op.arg].append((op, g, t.masking))
        return
    if isinstance(t.builder.definitions.get(op.indices), c.Iota) and t.shape(op.indices)[0] == shape[at]:
        r.add(op.arg, g)
        return
    if rank == 0 and not op.fills:
        _add_to_cell(r, op, g)
        return
    axes = [*range(rank, rank + at), *range(rank), *range(rank + at, len(t.shape(g)))]
    items = t.transpose(g, axes)
    bins, indices = shape[at], op.indices
    if op.fills:
        bins, indices = bins + 1, t.apply("add", indices, t.literal(1, Kind.I64))
    sums = key_sum(t, indices, items, bins, checked=op.checked, indexing=op.indexing)
    if op.fills:
        sums = t.slice(sums, 0, ONE, shape[at])
    r.add(op.arg, t.from_front(sums, at), Masking.CHOICE)


def _add_to_cell(r: ReversePass, op: c.Gather, g: ValueId) -> None:
    """Add to the cotangent of the cell that one index selects."""
    if not r.is_active(op.arg):
        return
    at = constant(r.terms, op.indices)
    if at is not None and not op.checked and r.terms.shape(op.arg)[op.axis].constant is not None:
        r.add_cell(op, int(at), g)
        return
    r.replace(op.arg, r.terms.add_to_cell(r.cotangents.get(op.arg), op, g), Masking.CHOICE)


def _update(r: ReversePass, op: c.Update, g: ValueId) -> None:
    t = r.terms
    if r.is_active(op.arg):
        zero = t.number(0.0, g)
        rest = t.emit(lambda v: c.Update(v, g, op.indices, zero, op.checked, op.indexing), t.kind(g), t.shape(g))
        r.add(op.arg, rest, Masking.CHOICE)
    if not r.is_active(op.value):
        return
    taken = _at_indices(t, op, g)
    if any(index is not None and t.shape(index) for index in op.indices):  # the last of several writes to a position counts
        shape = t.shape(taken)
        serial = t.reshape(t.iota(product(shape)), shape)
        none = t.full(-1, Kind.I64, t.shape(op.arg))
        written = t.emit(lambda v: c.Update(v, none, op.indices, serial, op.checked, op.indexing), Kind.I64, t.shape(op.arg))
        taken = t.where(t.apply("eq", _at_indices(t, op, written), serial), taken, None)
    if len(t.shape(op.value)) < len(t.shape(taken)):
        taken = t.sum_to_rank(taken, 0)
    r.add(op.value, taken, Masking.CHOICE)


def _at_indices(t: Terms, op: c.Update, x: ValueId) -> ValueId:
    """The selection of an array by the indices of an update."""
    axis = 0
    for index in op.indices:
        if index is None:
            axis += 1
            continue
        shape, rank = t.shape(x), len(t.shape(index))
        gather = partial(c.Gather, arg=x, indices=index, axis=axis, checked=op.checked, indexing=op.indexing)
        x = t.emit(gather, t.kind(x), (*shape[:axis], *t.shape(index), *shape[axis + 1 :]))
        axis += rank
    return x


def _masked_update(r: ReversePass, op: c.MaskedUpdate, g: ValueId) -> None:
    t = r.terms
    r.add(op.arg, t.where(op.mask, None, g), Masking.CHOICE)
    if not r.is_active(op.value):
        return
    shape, mask = t.shape(g), t.shape(op.mask)
    flat = t.reshape(g, (product(shape[: len(mask)]), *shape[len(mask) :]))
    along = t.reshape(op.mask, (product(mask),))
    taken = _compressed(r, along, flat, 0)
    value = t.shape(op.value)
    taken = t.slice(taken, 0, ZERO, value[0]) if value else t.sum_to_rank(taken, 0)
    r.add(op.value, taken)


def _compressed(r: ReversePass, mask: ValueId, x: ValueId, axis: int) -> ValueId:
    """The cells of x where the mask holds; their number is a new runtime size."""
    t, shape = r.terms, r.terms.shape(x)
    size = r.builder.runtime_size("k", shape[axis], t.span, "the number of elements this mask keeps")
    full_shape = (*shape[:axis], variable(size), *shape[axis + 1 :])
    return t.emit(lambda v: c.Compress(v, mask, x, axis, size), t.kind(x), full_shape)


def _compress(r: ReversePass, op: c.Compress, g: ValueId) -> None:
    t = r.terms
    r.add(op.arg, t.emit(lambda v: c.Expand(v, op.mask, g, op.axis, checked=False), t.kind(g), t.shape(op.arg)), Masking.CHOICE)


def _expand(r: ReversePass, op: c.Expand, g: ValueId) -> None:
    taken = _compressed(r, op.mask, g, op.axis)
    r.add(op.arg, r.terms.slice(taken, op.axis, ZERO, r.terms.shape(op.arg)[op.axis]))


# ---------------------------------------------------------------------------------------------------- reductions

def _signs(t: Terms, like: ValueId, axis: int) -> ValueId:
    """The signs 1 ¯1 1 … along an axis, in the shape of `like`."""
    shape, two = t.shape(like), t.literal(2, Kind.I64)
    odd = t.apply("eq", t.apply("residue", two, t.coordinates(shape, axis)), t.literal(1, Kind.I64))
    return t.apply("select", odd, t.number(-1.0, like), t.number(1.0, like))


def _along(t: Terms, g: ValueId, like: ValueId, axis: int) -> ValueId:
    """Broadcast one value a line to all items of the line along `axis`."""
    shape = t.shape(like)
    return t.broadcast(g, shape, tuple([at for at in range(len(shape)) if at != axis]))


def first_true(t: Terms, holds: ValueId, axis: int) -> ValueId:
    """A mask of the first true item of each line."""
    at = t.coordinates(t.shape(holds), axis)
    positions = t.apply("select", holds, at, t.size(t.shape(holds)[axis]))
    return t.apply("eq", at, _along(t, t.reduce("min", positions, axis), holds, axis))


def _reduce(r: ReversePass, op: c.Reduce, g: ValueId) -> None:
    t, x, axis = r.terms, op.arg, op.axis
    spread = _along(t, g, x, axis)
    match op.function:
        case "add":
            t.sums[x, axis] = op.result
            r.add(x, spread)
        case "sub":
            r.add(x, t.mul(spread, _signs(t, x, axis)))
        case "mul":
            before = t.products_before(x, axis)
            after = t.reverse(t.products_before(t.reverse(x, axis), axis), axis)
            r.add(x, t.times(spread, t.mul(before, after)))
        case "div":
            r.add(x, t.times(t.mul(spread, _signs(t, x, axis)), t.div(_along(t, op.result, x, axis), x)))
        case "min" | "max":
            first = first_true(t, t.apply("eq", x, _along(t, op.result, x, axis)), axis)
            r.add(x, t.where(first, spread, None), Masking.CHOICE)
        case _:
            control_rules.reduce_or_scan(r, op, g)


def _suffix_sums(t: Terms, g: ValueId, axis: int) -> ValueId:
    return t.reverse(t.scan("add", t.reverse(g, axis), axis), axis)


def _scan(r: ReversePass, op: c.Scan, g: ValueId) -> None:
    t, x, axis = r.terms, op.arg, op.axis
    match op.function:
        case "add":
            r.add(x, _suffix_sums(t, g, axis))
        case "sub":
            r.add(x, t.mul(_suffix_sums(t, g, axis), _signs(t, x, axis)))
        case "div":
            r.add(x, t.over(t.mul(_suffix_sums(t, t.times(g, op.result), axis), _signs(t, x, axis)), x))
        case "min" | "max":
            r.add(x, _record_sums(r, op, g), Masking.CHOICE)
        case "mul":
            control_rules.reduce_or_scan(r, op, g)
        case _:
            raise t.refuse(f"a scan by `{op.function}` has no gradient in this version")


def _record_sums(r: ReversePass, op: c.Scan, g: ValueId) -> ValueId:
    """The adjoint of a running maximum or minimum: each record item gets the sum of the cotangents up to the next record."""
    t = r.terms
    lines, results = t.to_front(g, op.axis), t.to_front(op.result, op.axis)
    shape = t.shape(lines)
    before = t.slice(results, 0, number(-1), shape[0])
    at = t.coordinates(shape, 0)
    zero = t.literal(0, Kind.I64)
    is_new = t.apply("or", t.apply("ne", results, before), t.apply("eq", at, zero))
    record = t.scan("max", t.apply("select", is_new, at, zero), 0)
    others = product(shape[1:])
    line = t.reshape(t.iota(others), shape[1:]) if len(shape) > 1 else zero
    line = t.broadcast(line, shape, tuple(range(1, len(shape))))
    flat = t.reshape(t.add(t.mul(record, t.size(others)), line), (product(shape),))
    sums = key_sum(t, flat, t.reshape(lines, (product(shape),)), product(shape))
    return t.from_front(t.reshape(sums, shape), op.axis)


def _takes_complex(op: Any) -> bool:
    """Is the adjoint of an op valid for complex numbers?"""
    match op:
        case c.Reduce(function=function) | c.Scan(function=function):
            return function in ("add", "sub")
        case c.KeyReduce(function=function):
            return bool(function == "add")
        case c.Library(name=name):
            return name in library_rules.TRANSFORMS
    return True


def _contract(r: ReversePass, op: c.Contract, g: ValueId) -> None:
    t = r.terms
    outer, inner = len(t.shape(op.left)) - 1, len(t.shape(op.right)) - 1
    if r.is_active(op.left):
        right = _without_masked(t, op.right, g, 1, range(outer, outer + inner))
        r.add(op.left, _contracted(t, g, t.conj(t.transpose(right, [inner, *range(inner)])), inner, t.times))
    if r.is_active(op.right):
        left = _without_masked(t, op.left, g, 0, range(outer))
        left = t.conj(t.transpose(left, [*range(1, outer + 1), 0]))
        r.add(op.right, _contracted(t, left, g, outer, lambda slope, cotangent: t.times(cotangent, slope)))


def _without_masked(t: Terms, x: ValueId, g: ValueId, first: int, axes: range) -> ValueId:
    """An operand of a product, with 0 for NaN and infinities that only items with cotangent 0 read (they were masked out).

    Its axes from `first` on are `axes` of the cotangent.
    """
    if t.masking is not Masking.CHOICE or not axes or t.is_always_finite(x):
        return x
    is_read = t.apply("ne", g, t.number(0.0, g))
    for axis in reversed(range(len(t.shape(g)))):
        if axis not in axes:
            is_read = t.reduce("or", is_read, axis)
    is_read = t.broadcast(is_read, t.shape(x), tuple(range(first, first + len(axes))))
    return t.where(t.apply("or", is_read, t.is_finite(x)), x, None)


def _contracted(t: Terms, x: ValueId, y: ValueId, count: int, times: Callable[[ValueId, ValueId], ValueId]) -> ValueId:
    """The product of two arrays, contracted over the last `count` axes of x and the first of y; with 0, `times` of all pairs."""
    first, second = t.shape(x), t.shape(y)
    rows, columns = first[: len(first) - count], second[count:]
    shape = rows + columns
    if count == 0:
        left = t.broadcast(x, shape, tuple(range(len(first))))
        return times(left, t.broadcast(y, shape, tuple(range(len(first), len(shape)))))
    length = product(second[:count])
    a, b = t.reshape(x, (*rows, length)), t.reshape(y, (length, *columns))
    return t.emit(lambda v: c.Contract(v, a, b), t.kind(x), shape)


# ---------------------------------------------------------------------------------------------------- reductions by key

def _key_reduce(r: ReversePass, op: c.KeyReduce, g: ValueId) -> None:
    t, x = r.terms, op.arg
    spread, total = _by_key(t, op, g), op.result
    match op.function:
        case "add":
            r.add(x, spread)
        case "min" | "max":
            lines = len(t.shape(op.indices))
            extreme = t.apply("eq", x, _by_key(t, op, total))
            count = product(t.shape(op.indices))
            shape, none = t.shape(x), t.size(count)
            serial = t.reshape(t.iota(count), t.shape(op.indices)) if lines else t.literal(0, Kind.I64)
            serial = t.broadcast(serial, shape, tuple(range(lines)))
            order = t.apply("select", extreme, serial, none)
            firsts = _binned(t, op, "min", order)
            r.add(x, t.where(t.apply("eq", order, _by_key(t, op, firsts)), t.where(extreme, spread, None), None), Masking.CHOICE)
        case "mul":
            zero = t.apply("eq", x, t.number(0.0, x))
            factors = t.where(zero, t.number(1.0, x), x)
            zeros = _by_key(t, op, _binned(t, op, "add", t.apply("convert", zero, to=Kind.I64)))
            rest = _by_key(t, op, _binned(t, op, "mul", factors))
            has_none, has_one, has_two = (t.apply("eq", zeros, t.literal(number, Kind.I64)) for number in (0, 1, 2))
            zero_items = _by_key(t, op, _binned(t, op, "add", t.where(zero, x, None)))  # 0, with the derivatives of the items
            of_zero = t.where(has_one, rest, t.where(has_two, t.mul(t.sub(zero_items, x), rest), None))
            others = t.div(rest, factors)
            of_others = t.where(has_none, others, t.where(has_one, t.mul(zero_items, others), None))
            r.add(x, t.times(spread, t.where(zero, of_zero, of_others)))
        case _:
            raise t.refuse(f"a reduction by key with `{op.function}` has no gradient in this version")


def _binned(t: Terms, op: c.KeyReduce, function: str, items: ValueId) -> ValueId:
    """Reduce other items by the keys of `op`."""
    reduce = partial(c.KeyReduce, function=function, indices=op.indices, arg=items, checked=op.checked, indexing=op.indexing)
    return t.emit(reduce, t.kind(items), t.shape(op.result))


def _by_key(t: Terms, op: c.KeyReduce, bins: ValueId) -> ValueId:
    """The value of the item's bin, for each item."""
    shape = t.shape(op.indices) + t.shape(bins)[1:]
    return t.emit(lambda v: c.Gather(v, bins, op.indices, 0, op.checked, indexing=op.indexing), t.kind(bins), shape)


# ---------------------------------------------------------------------------------------------------- the table

ArrayRule: TypeAlias = Callable[[ReversePass, Any, ValueId], None]


def _of_result(rule: ArrayRule, r: ReversePass, op: Op) -> None:
    """Apply a rule to the cotangent of an op's result."""
    kinds = [r.terms.kind(value) for value in (*results_of(op), *filter(r.is_active, operands_of(op)))]
    if any(kind.is_complex for kind in kinds) and not _takes_complex(op):
        raise r.terms.refuse("this has no gradient where numbers are complex, in this version")
    rule(r, op, next(r.cotangents[result] for result in results_of(op) if result in r.cotangents))


_ARRAY_RULES: Final[dict[type, ArrayRule]] = {
    c.Reshape: _reshape, c.Transpose: _transpose, c.Broadcast: _broadcast, c.Reverse: _reverse, c.Rotate: _rotate,
    c.Slice: _slice, c.Join: _join, c.Stack: _stack, c.SlidingWindows: _windows, c.Gather: _gather, c.Update: _update,
    c.MaskedUpdate: _masked_update, c.Reduce: _reduce, c.Scan: _scan, c.Contract: _contract, c.Compress: _compress,
    c.Expand: _expand, c.KeyReduce: _key_reduce, c.Library: library_rules.adjoint,
}  # fmt: skip

RULES: Final[Rules] = {kind: partial(_of_result, rule) for kind, rule in _ARRAY_RULES.items()} | control_rules.RULES
