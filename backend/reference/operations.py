"""What each pure op of the core does: values in, values out.

One case an op; control flow (lift, loop, fold, branch) is in `interpret`.
`View` is how an op sees the running program: its operands, the declared types, the sizes that are bound.

Neighbours: `interpret` (calls `compute`), `structure selection searching reductions linear scalars` (the work).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from ...typechecker import core as c
from ...typechecker import core_blocks
from ...typechecker.core import Payload, ValueId
from ...typechecker.elements import Kind
from ...typechecker.sizes import Size
from ..run import text, text_reading
from ..run.values import Array, array, scalar
from . import linear, philox, reductions, searching, selection, structure
from .failures import InternalError
from .indexing import integers
from .scalars import meaning


class View(Protocol):
    def value(self, which: ValueId) -> Array: ...
    def kind(self, which: ValueId) -> Kind: ...
    def shape(self, which: ValueId) -> tuple[int, ...]: ...
    def size(self, size: Size) -> int: ...


def compute(op: core_blocks.Op, view: View) -> tuple[Array, ...]:
    """The results of a pure op, in the order of its result ids."""
    if isinstance(op, c.Library) and op.name not in _WHOLE and op.name != "random":
        kinds, shapes = [view.kind(r) for r in op.results], [view.shape(r) for r in op.results]
        return linear.library(op.name, [view.value(a) for a in op.args], kinds, shapes)
    return (_computed(op, view),)


def _computed(op: core_blocks.Op, view: View) -> Array:
    match op:
        case c.Literal():
            return array(view.kind(op.result), view.shape(op.result), op.data)
        case c.SizeVector():
            numbers = [view.size(size) for size in op.sizes]
            return array(Kind.I64, () if op.scalar else (len(numbers),), numbers)
        case c.Scalar():
            return apply_scalar(op, view)
        case c.Library(name="random", args=(key,), results=(result,)):
            return uniform(view.value(key), view.shape(result))
        case c.Library():
            return _WHOLE[op.name](*[view.value(arg) for arg in op.args], **dict(op.attributes))
        case c.Format():
            arg = view.value(op.arg)
            if op.digits is None:
                characters, shape = text.format_items(arg.kind, arg.data, arg.shape)
            else:
                characters, shape = text.fixed_items(arg.kind, arg.data, arg.shape, op.digits)
            return Array(Kind.CHAR, shape, tuple(characters))
        case c.Iota():
            return structure.iota(view.shape(op.result)[0])
        case c.IotaGrid():
            return structure.iota_grid(view.shape(op.result))
        case c.Reshape():
            return structure.reshape(view.value(op.arg), view.shape(op.result))
        case c.Transpose():
            return structure.transpose(view.value(op.arg), op.axes)
        case c.Spread():
            return structure.spread(view.value(op.arg), op.axes, view.shape(op.result))
        case c.Reverse():
            return structure.reverse(view.value(op.arg), op.axis)
        case c.Rotate():
            return structure.rotate(view.value(op.arg), view.value(op.amount), op.axis)
        case c.Slice():
            starts = [view.size(size) for size in op.starts]
            return structure.slice_box(view.value(op.arg), starts, view.shape(op.result))
        case c.Join():
            return structure.join([view.value(a) for a in op.args], op.axis)
        case c.Stack():
            return structure.stack([view.value(a) for a in op.args], op.axis)
        case c.Windows():
            return structure.windows(view.value(op.arg), op.count, view.shape(op.result))
        case c.Gather():
            arg, indices = view.value(op.arg), view.value(op.indices)
            beside = {axis: integers(view.value(v))[0] for axis, v in zip(op.axes, op.beside, strict=True)}
            return selection.gather(arg, indices, op.axis, op.checked, op.fills, op.shift, op.place, beside)
        case c.Update():
            choices = [None if i is None else view.value(i) for i in op.indices]
            return selection.update(view.value(op.arg), choices, view.value(op.value), op.checked, op.place)
        case c.MaskUpdate():
            return selection.mask_update(view.value(op.arg), view.value(op.mask), view.value(op.value))
        case c.Compress():
            return selection.compress(view.value(op.mask), view.value(op.arg), op.axis)
        case c.Expand():
            return selection.expand(view.value(op.mask), view.value(op.arg), op.axis)
        case c.Where():
            return selection.where(view.value(op.mask))
        case c.Reduce():
            return reductions.reduce(op.function, view.value(op.arg), op.axis)
        case c.Scan():
            return reductions.scan(op.function, view.value(op.arg), op.axis)
        case c.Contract():
            return reductions.contract(view.value(op.left), view.value(op.right))
        case c.KeyReduce():
            bins = view.shape(op.result)[0]
            return reductions.key_reduce(op.function, view.value(op.indices), view.value(op.arg), bins, op.checked, op.place)
    raise InternalError(f"{type(op).__name__} is not a pure op")


def apply_scalar(op: c.Scalar, view: View) -> Array:
    """Element by element over the principal frame; shorter operands replicate along the trailing axes they lack."""
    args = [view.value(a) for a in op.args]
    kind = args[1 if op.function == "select" else 0].kind
    for i, arg in enumerate(args):
        if arg.kind is not (Kind.BOOL if op.function == "select" and i == 0 else kind):
            raise InternalError(f"operand {i} of {op.function} is {arg.kind.value}, not {kind.value}")
    shape, result_kind = view.shape(op.result), view.kind(op.result)
    for arg in args:
        if arg.shape != shape[: arg.rank]:
            raise InternalError(f"{op.function}: {arg.shape} is not a prefix of {shape}")
    apply = meaning(op.function, kind, len(args), result_kind, op.parameter)
    rows = zip(*(replicated(arg, shape) for arg in args), strict=True)
    return Array(result_kind, shape, tuple(apply(*items) for items in rows))


def replicated(value: Array, shape: tuple[int, ...]) -> Sequence[Payload]:
    """The items over the whole frame: each one repeated along the trailing axes that the value lacks."""
    times = math.prod(shape[value.rank :])
    return value.data if times == 1 else [item for item in value.data for _ in range(times)]


def uniform(key: Array, shape: Sequence[int]) -> Array:
    """Uniform f64 from an i64 or a pair."""
    words = [*integers(key), 0]
    return array(Kind.F64, shape, [philox.uniform(words[0], words[1], i) for i in range(math.prod(shape))])


def _match(left: Array, right: Array) -> Array:
    return scalar(Kind.BOOL, searching.match(left, right))


def _reader(kind: Kind, read: Callable[[str], Payload]) -> Callable[[Array], Array]:
    """What each row of text says."""

    def function(rows: Array) -> Array:
        width, count = rows.shape[-1], math.prod(rows.shape[:-1])
        texts = ["".join(map(str, rows.data[i * width : (i + 1) * width])) for i in range(count)]
        return Array(kind, rows.shape[:-1], tuple(map(read, texts)))

    return function


_WHOLE: Mapping[str, Callable[..., Array]] = {
    "first_occurrence": searching.first_occurrence, "grade": searching.grade, "grade_by": searching.grade_by,
    "index_of": searching.index_of, "member_of": searching.member_of, "find": searching.find,
    "number": _reader(Kind.F64, text_reading.number_in), "date": _reader(Kind.I64, text_reading.date_in),
    "interval_index": searching.interval_index, "match": _match, "decode": reductions.decode, "encode": reductions.encode,
}  # fmt: skip
"""Library functions that need no more than the values."""
