"""Scalar primitives under rank operators, elaborated as broadcasts without a loop over cells.

`-⍤1⍤1 2`, `+¨`, `∘.×` and `×˘⍨` only determine which axes of the arguments meet.  `broadcast_map` computes that, and `apply_map`
broadcasts each argument along the axes it lacks and applies the primitive once.
"""

from __future__ import annotations

from ...lang.diagnostics.model import Code, Label
from ...lang.primitives.record import GlyphRole, Trait
from ...lang.primitives.table import by_glyph
from ...lang.support.records import dataclass
from ...lang.syntax.source import Span
from ..core.operations import Broadcast
from ..diagnostics import show_type
from ..elements import ArrayType
from ..proof.obligations import Obligation, Relation, SizeFact
from ..rules.argument_checks import transposed
from ..sizes.polynomials import Size
from ..values.facts import Operand, TupleOperand, Value
from .context import Context, DerivedFunction, FunctionValue, PrimitiveFunction, static_vector

# ---------------------------------------------------------------------------------------------------- broadcast maps

@dataclass(frozen=True, slots=True)
class BroadcastMap:
    """Axis i of the left argument is axis `left[i]` of the result, which has rank `rank`; likewise `right`.  `swapped`: the
    primitive takes the arguments in the opposite order."""

    primitive: PrimitiveFunction
    left: tuple[int, ...]
    right: tuple[int, ...]
    rank: int
    swapped: bool = False


def is_scalar_primitive(function: FunctionValue, *, dyadic: bool) -> bool:
    """Is it a primitive that is elementwise in this valence?"""
    if not isinstance(function, PrimitiveFunction):
        return False
    row = by_glyph(function.glyph, GlyphRole.FUNCTION)
    if row is None:
        return False
    use = row.dyadic if dyadic else row.monadic
    return use is not None and Trait.SCALAR in use.traits


def is_elementwise(function: FunctionValue) -> bool:
    """Is a monadic function a scalar primitive under operators that only cut its argument into cells?"""
    while isinstance(function, DerivedFunction) and function.operator in ("¨", "˘", "⍤"):
        if function.operator == "⍤" and ranks_of(function) is None:
            return False
        inner = function.operands[0]
        if isinstance(inner, (Operand, TupleOperand)):
            return False
        function = inner
    return is_scalar_primitive(function, dyadic=False)


def innermost(function: FunctionValue) -> FunctionValue:
    """The function under all `¨ ˘ ⍤r`."""
    while isinstance(function, DerivedFunction):
        inner = function.operands[0]
        if isinstance(inner, (Operand, TupleOperand)):
            break
        function = inner
    return function


def ranks_of(function: DerivedFunction) -> tuple[int, int, int] | None:
    """(monadic, left, right) ranks of `f⍤r`; None if its operand is a function or not static."""
    operand = function.operands[1]
    if not isinstance(operand, Operand):
        return None
    sizes = static_vector(operand)
    if sizes is None or operand.type.rank > 1 or not 1 <= len(sizes) <= 3:
        return None
    known = [s.constant for s in sizes]
    numbers = [n for n in known if n is not None]
    if len(numbers) != len(known):
        return None
    match numbers:
        case [r]:
            return r, r, r
        case [left, right]:
            return right, left, right
        case [monadic, left, right]:
            return monadic, left, right
        case _:
            return None


def cell_rank(rank_operand: int, rank: int) -> int:
    """The cell rank of `⍤r` on an argument: r, at most the argument's rank; a negative r is the rank of the frame."""
    return min(rank_operand, rank) if rank_operand >= 0 else max(0, rank + rank_operand)


def broadcast_map(function: FunctionValue, left: int, right: int) -> BroadcastMap | None:
    """The map for arguments of these ranks, if the function is a dyadic scalar primitive under rank operators; else None."""
    if isinstance(function, PrimitiveFunction):
        if not is_scalar_primitive(function, dyadic=True):
            return None
        return BroadcastMap(function, tuple(range(left)), tuple(range(right)), max(left, right))
    if not isinstance(function, DerivedFunction) or isinstance(function.operands[0], (Operand, TupleOperand)):
        return None
    inner_function = function.operands[0]
    match function.operator:
        case "⍨":
            inner = broadcast_map(inner_function, right, left)
            return (
                None if inner is None else BroadcastMap(inner.primitive, inner.right, inner.left, inner.rank, not inner.swapped)
            )
        case "∘.":
            inner = broadcast_map(inner_function, 0, 0)
            if inner is None:
                return None
            return BroadcastMap(
                inner.primitive, tuple(range(left)), tuple(range(left, left + right)), left + right, inner.swapped
            )
        case "¨":
            cells = (0, 0)
        case "˘":
            cells = (cell_rank(-1, left), cell_rank(-1, right))
        case "⍤":
            ranks = ranks_of(function)
            if ranks is None:
                return None
            cells = (cell_rank(ranks[1], left), cell_rank(ranks[2], right))
        case _:
            return None
    inner = broadcast_map(inner_function, *cells)
    if inner is None:
        return None
    left_frame, right_frame = left - cells[0], right - cells[1]
    frame = max(left_frame, right_frame)
    return BroadcastMap(
        inner.primitive,
        (*range(left_frame), *[frame + axis for axis in inner.left]),
        (*range(right_frame), *[frame + axis for axis in inner.right]),
        frame + inner.rank,
        inner.swapped,
    )


def apply_map(ctx: Context, map_: BroadcastMap, left: Operand, right: Operand, span: Span) -> Value:
    """Broadcast both arguments by the map and apply the primitive."""
    if _is_prefix(map_.left) and _is_prefix(map_.right):
        first, second = (right, left) if map_.swapped else (left, right)
        return ctx.call(map_.primitive, first, second, span)
    sizes: dict[int, Size] = {}
    for x, axes, other in ((left, map_.left, right), (right, map_.right, left)):
        for axis, size in zip(axes, x.type.shape, strict=True):
            if axis not in sizes:
                sizes[axis] = size
            elif not ctx.builder.require(_lines_up(axis, sizes[axis], size, other, x, span)):
                return ctx.builder.poison(span)
    shape = tuple([sizes[axis] for axis in range(map_.rank)])
    first = broadcast_to(ctx, left, map_.left, shape, span)
    second = broadcast_to(ctx, right, map_.right, shape, span)
    if map_.swapped:
        first, second = second, first
    return ctx.call(map_.primitive, first, second, span)


def _is_prefix(axes: tuple[int, ...]) -> bool:
    return axes == tuple(range(len(axes)))


def _lines_up(axis: int, first: Size, second: Size, x: Operand, y: Operand, span: Span) -> Obligation:
    return Obligation(
        SizeFact(Relation.EQUAL, first, second),
        Code.E101,
        span,
        f"these arrays do not line up: axes of {first} and {second} meet",
        (Label(span, f"{show_type(x.type)} with {show_type(y.type)}"),),
    )


def broadcast_to(ctx: Context, x: Operand, axes: tuple[int, ...], shape: tuple[Size, ...], span: Span) -> Operand:
    """x broadcast along `axes` of `shape`; unchanged where prefix agreement does the same."""
    if _is_prefix(axes):
        return x
    type_ = ArrayType(x.type.element, shape)
    return ctx.builder.emit(lambda result: Broadcast(result, x.value, axes), type_, span)


# ---------------------------------------------------------------------------------------------------- axes
#
# Bracket axes, and moving an axis to the front or back.

def to_front(ctx: Context, x: Operand, axis: int, span: Span) -> Operand:
    """x with `axis` first and the other axes in order."""
    axes = tuple([0 if a == axis else a + 1 if a < axis else a for a in range(x.type.rank)])
    return transposed(ctx.builder, x, axes, span)


def from_front(ctx: Context, x: Operand, axis: int, span: Span) -> Operand:
    """x with its first axis as axis `axis` and the other axes in order."""
    axes = tuple([axis if a == 0 else a - 1 if a <= axis else a for a in range(x.type.rank)])
    return transposed(ctx.builder, x, axes, span)
