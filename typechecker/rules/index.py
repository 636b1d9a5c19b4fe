"""Typing rules of `⊃ ⌷`, and the check of every index: in range by its type, by sizes, or at run time (E310, W310)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from ...lang.diagnostics.model import Code, Diagnostic, Label, Severity, Verdict
from ...lang.syntax.source import Span
from ..core.builder import Builder
from ..core.operations import Gather, Indexing, Payload, Reshape, Scalar, Slice, ValueId, Where
from ..diagnostics import show_type
from ..elements import ArrayType, Element, Kind, integer_range, size_range, strong, surely_unwrapped
from ..proof.obligations import Obligation, Relation, SizeFact
from ..sizes.polynomials import ONE, ZERO, Size, SizeOrigin, number, product, variable
from ..sizes.size import maximum, minimum, upper_bound
from ..values.facts import Operand, Value
from .argument_checks import axis_index, item_of, label, no_axis, require_rank, show_number, whole_numbers, with_static


class IndexPosition(NamedTuple):
    """An index counted from 0, as i64; `checked`: it must be checked at run time."""

    operand: Operand
    checked: bool


NONE: Final[Mapping[int, Operand]] = {}


def index_operand(b: Builder, index: Operand, size: Size, span: Span) -> IndexPosition | None:
    """The index counted from 0, and whether it must be checked at run time; None after E300, E304 or E310."""
    if index.poisoned:
        return None
    index = whole_numbers(b, index, span)
    kind = index.type.element.kind
    if kind is Kind.BOOL and index.type.shape != (ZERO,):
        b.error(Code.E304, "an index is a position, but this is a mask", span, labels=(label(b, index),),
                notes=("to keep the cells where it holds write `mask⌿x`, to replace them `0@mask ⊢ x`",))  # fmt: skip
        return None
    if index.type.element.unit is not None or not (kind.is_integer or index.type.shape == (ZERO,)):
        b.error(
            Code.E300, f"an index must be a whole number, but this is {show_type(index.type)}", span, labels=(label(b, index),)
        )
        return None
    if index.type.shape == (ZERO,) and not kind.is_integer:
        empty = b.literal((), ArrayType(strong(b.size_vector((), span).type.element), (ZERO,)), span)
        return IndexPosition(empty, False)
    position = b.to_position(index, span)
    return None if (checked := _must_check(b, index, position, size, span)) is None else IndexPosition(position, checked)


def _must_check(b: Builder, index: Operand, position: Operand, size: Size, span: Span) -> bool | None:
    """False if the index is proved in range, True after W310, None after E310."""
    if product(map(upper_bound, position.type.shape)) == ZERO:
        return False
    below = position.type.element.index_bound
    if below is not None and b.at_most(below, size):
        return False
    statics = position.static if isinstance(position.static, tuple) else None if position.static is None else (position.static,)
    if statics is None and position.constant is not None:
        statics = tuple(Size({(): int(c)}) for c in position.constant if isinstance(c, int))
    if statics is not None:
        verdicts = [_in_range(b, s, size) for s in statics]
        if False in verdicts:
            bad = statics[verdicts.index(False)]
            return _out_of_range(b, index, bad, size, span)
        if None not in verdicts:
            return False
        b.constraints.open_indices.update([fact for s in statics for fact in _needed(s, size)])
        worst = max((s for s, verdict in zip(statics, verdicts, strict=True) if verdict is None), key=lambda s: s.constant or 0)
        return _warn(b, index, f"index {_shown(b, worst)} may be out of range: this axis has {size} cells", span,
                     _in_range_if(b, worst, size), size)  # fmt: skip
    if is_inside(b, position, size):
        return False
    low, high = integer_range(position.type.element)
    if low is not None and low >= 0:
        b.constraints.open_indices.update(_needed(number(low), size))
    most = position.type.element.symbolic_max
    if low is not None and low >= 0 and b.at_most(size, number(low)):
        return _out_of_range(b, index, number(low), size, span)
    if high is not None and high < 0:
        return _out_of_range(b, index, Size({(): high}), size, span)
    if below is not None:
        hint = "" if b.at_most(below, size) is False else _stated(below, size)
        return _warn(b, index, f"positions go up to {below - 1}, but this axis has {size} cells", span, hint, size)
    top = most if most is not None else None if high is None else Size({(): high})
    if low is None or low < 0 or top is None:
        message = f"this index may be any {index.type.element.kind.value}, but the axis has {size} cells"
        return _warn(b, index, message, span, _declared(b, index, size), size)
    hint = "" if b.at_most(top + 1, size) is False else _stated(top + 1, size)
    return _warn(b, index, f"this index may be {_shown(b, top)}, but the axis has {size} cells", span, hint, size)


def _in_range(b: Builder, index: Size, size: Size) -> bool | None:
    low, high = [b.at_most(fact.left, fact.right) for fact in _needed(index, size)]
    if low is False or high is False:
        return False
    return True if low and high else None


def _needed(index: Size, size: Size) -> tuple[SizeFact, SizeFact]:
    """The facts that put an index into the range of an axis."""
    return SizeFact(Relation.AT_MOST, ZERO, index), SizeFact(Relation.AT_MOST, index + 1, size)


def is_inside(b: Builder, position: Operand, size: Size) -> bool:
    """Is every item of integers, counted from 0, known to be a position of an axis of this size?"""
    if product(map(upper_bound, position.type.shape)) == ZERO or _steps_inside(b, position, size):
        return True
    if is_exactly_inside(b, position, size):
        return True
    exact, (low, high) = position.static if isinstance(position.static, Size) else None, integer_range(position.type.element)
    if not (low is not None and low >= 0) and not (exact is not None and b.at_most(ZERO, exact)):
        return False
    tops = (exact, position.type.element.symbolic_max, None if high is None else number(high))
    return any(top is not None and (b.at_most(top + 1, size) or is_below_if_any(b, position, top + 1, size)) for top in tops)


def is_below_if_any(b: Builder, x: Operand, bound: Size, size: Size) -> bool:
    """Is the bound of an array's elements at most a size, given that the array has elements?"""
    facts = _has_elements(x)
    if not facts:
        return False
    with b.constraints.supposing(facts):
        return b.at_most(bound, size) is True


def _has_elements(x: Operand) -> list[SizeFact]:
    """The facts about lengths that hold if an array has elements."""
    lengths = [length for length in x.type.shape if length.constant is None]
    return [SizeFact(Relation.AT_MOST, ONE, fact) for length in lengths for fact in (length, *_capped(length))]


def _capped(length: Size) -> Sequence[Size]:
    """The upper bound of a runtime length and of its factors, which are not 0 if the length is not."""
    cap = upper_bound(length)
    return (cap, *[variable(v) for v in cap.variables() if cap.substitute({v: ZERO}) == ZERO]) if cap != length else ()


def _steps_inside(b: Builder, position: Operand, size: Size) -> bool:
    """Is a vector an affine sequence whose first and last item, if it has items, are positions of the axis?"""
    steps = b.sequences.of(position.value)
    if steps is None:
        return False
    count = position.type.shape[0]
    with b.constraints.supposing([SizeFact(Relation.AT_MOST, ONE, count)]):
        return all(_in_range(b, end, size) for end in (steps.start, steps.start + steps.step * (count - 1)))


_EXACT_DEPTH = 16


def is_exactly_inside(b: Builder, position: Operand, size: Size) -> bool:
    """Is every element a position of an axis, such as `(j×a)+b` for a < k and b < j on an axis of k×j cells?

    Sums and products wrap modulo 2*64, so a formula whose exact value is a position does not wrap in the end.
    """
    with b.constraints.supposing(_has_elements(position)):
        limits = _exact_limits(b, position.value)
        return limits is not None and b.at_most(ZERO, limits[0]) is True and b.at_most(limits[1] + 1, size) is True


def _exact_limits(b: Builder, value: ValueId, depth: int = _EXACT_DEPTH) -> tuple[Size, Size] | None:
    """The least and greatest exact value of the items of sums and products of integers, or of maxima and minima of these that do
    not wrap; None if unknown."""
    size = b.sequences.size(value)
    if size is not None:
        return size, size
    op = b.definitions.get(value)
    if isinstance(op, Scalar) and depth and b.types[value].element.kind is Kind.I64:
        parts: list[tuple[Size, Size] | None] = []
        if op.function in ("add", "sub", "mul", "convert"):
            parts = [_exact_limits(b, arg, depth - 1) for arg in op.args]
        elif op.function in ("min", "max"):
            parts = [_exact_limits(b, arg, 0) if surely_unwrapped(b.types[arg].element) else None for arg in op.args]
        known = [part for part in parts if part is not None]
        if known and len(known) == len(op.args):
            (low, high), (low2, high2) = known[0], known[-1]
            match op.function:
                case "convert":
                    return low, high
                case "add":
                    return low + low2, high + high2
                case "sub":
                    return low - high2, high - low2
                case "min":
                    return minimum(low, low2), minimum(high, high2)
                case "max":
                    return maximum(low, low2), maximum(high, high2)
                case "mul" if b.at_most(ZERO, low) and b.at_most(ZERO, low2):
                    return (ZERO if (low * low2).constant is None else low * low2), high * high2
    least, most = size_range(b.limited_type(value).element)
    return None if least is None or most is None else (least, most)


def _shown(b: Builder, index: Size) -> str:
    value = index + b.index_origin
    return show_number(value.constant) if value.constant is not None else str(value)


def _out_of_range(b: Builder, index: Operand, bad: Size, size: Size, span: Span) -> bool | None:
    """Report E310."""
    origin = b.index_origin
    valid_positions = f"positions {origin}..{_shown(b, size - 1)} exist" if size != ZERO else "it has no cells"
    notes: tuple[str, ...] = ()
    if (written := (bad + origin).constant) is not None and written < 0 and b.at_most(number(-written), size) is not False:
        last = show_number(-written - 1 + origin)
        notes = (f"positions count from the start; `{last}⌷⊖x` counts from the end (`⌽x` reverses the last axis)",)
    b.error(Code.E310, f"index {_shown(b, bad)} is out of range: {valid_positions}", span, labels=(label(b, index),), notes=notes)
    return None


def _warn(b: Builder, index: Operand, message: str, span: Span, hint: str, size: Size) -> bool:
    """W310, with labels at the origins of runtime sizes, whose names are not the program's."""
    if len([variable for variable in size.variables() if variable.is_runtime]) > 1:  # whose formula says little
        message = "this index is not proved to be in range"
        hint = ""
    if b.warned(index, message, span):
        return True
    b.report(Diagnostic(
        Code.W310, message, span, Severity.WARNING, labels=(label(b, index), *_run_time(b, size)), verdict=Verdict.UNKNOWN,
        notes=("every index is checked when the program runs", *_filled(b, index), *([hint] if hint else [])),
    ))  # fmt: skip
    return True


def _filled(b: Builder, index: Operand) -> tuple[str, ...]:
    """The note on positions beyond the end, which a take fills."""
    op = b.definitions.get(index.value)
    if not isinstance(op, Slice) or op.starts != (ZERO,) or b.at_most(index.type.shape[0], b.types[op.arg].shape[0]):
        return ()
    count = index.type.shape[0]
    return (f"where there are fewer, `↑` fills with position 0: `({count}⌊≢x)↑⍒x` is as many as there are",)


def _in_range_if(b: Builder, index: Size, size: Size) -> str:
    """Of the two facts that an index given by a size needs, the one that is not proved."""
    if b.at_most(ZERO, index):
        return _stated(index + 1, size)
    offset = Size({(): -index.terms[-1][1]}) if index.terms and not index.terms[-1][0] else ZERO
    return _stated(offset, index + offset)


def _run_time(b: Builder, size: Size) -> list[Label]:
    """Labels at the origins of the runtime sizes in a size."""
    sizes = [variable for variable in size.variables() if variable.origin is SizeOrigin.RUNTIME and variable in b.sizes.spans]
    origins = [(variable.name, *b.sizes.spans[variable]) for variable in sizes]
    return [Label(index_span, f"{name} is {why}") for name, index_span, why in origins]


def _stated(needed: Size, size: Size) -> str:
    """The text of the fact that would put the index in range."""
    if needed == maximum(ZERO, size - 1) + 1:
        needed = ONE
    fact = f"{needed} ≤ {size}" if needed.constant is None else f"{size} ≥ {needed}"
    return f"it is in range if {fact}" if size.is_runtime() else f"state it where the sizes come from: `where {fact}`"


def _declared(b: Builder, index: Operand, size: Size) -> str:
    """The hint that declares an index to be in range; empty if no declaration can."""
    if size.is_runtime():
        return ""
    if (size.bounds()[0] or 0) < 1 and b.facts_of(index).modulus == size and not b.at_most(ONE, size):
        return _stated(ONE, size)
    if size.constant is not None and index.value in b.definitions:
        return "a range that an `input` declares carries over: of `x : int<7..9>[n]`, `x-7` is a position on an axis of 3"
    return f"an index that its `input` or signature declares `idx<{size}>` is known to be in range"


def select_along(b: Builder, x: Operand, index: Operand, axis: int, span: Span) -> Operand:
    """x at `index` along one axis: the index's shape takes that axis's place."""
    index_position = index_operand(b, index, x.type.shape[axis], span)
    indexing = Indexing(axis, x.type.rank, b.index_origin)
    return b.poison(span) if index_position is None else select_at(b, x, index_position, index, axis, span, indexing)


def select_at(b: Builder, x: Operand, index_position: IndexPosition, index: Operand, axis: int, span: Span, indexing: Indexing,
              others: Mapping[int, Operand] = NONE) -> Operand:  # fmt: skip
    """x along one axis at an index that has been checked.

    `indexing` is how the program writes the index; `others` are the positions on the other axes, for messages."""
    position, checked = index_position
    shape = (*x.type.shape[:axis], *position.type.shape, *x.type.shape[axis + 1 :])
    permuted = x.type.permutation and index.type.permutation
    constant: tuple[Payload, ...] | None = None
    static: Size | tuple[Size, ...] | None = None
    if x.type.rank == 1 and position.type.rank <= 1 and position.constant is not None and not checked:
        places = [int(c) for c in position.constant if isinstance(c, int)]
        constant = None if x.constant is None else tuple(x.constant[i] for i in places)
        if isinstance(x.static, tuple):
            picked = tuple(x.static[i] for i in places)
            static = picked if position.type.rank else picked[0]
    type = ArrayType(_element_at(b, x, position, axis), shape, permuted)
    other_indices = {other_axis: other.value for other_axis, other in others.items() if checked and not other.type.rank}
    selected = b.emit(lambda r: Gather(r, x.value, position.value, axis, checked, indexing=indexing,
        other_indices=tuple(other_indices.values()),
                                   axes=tuple(other_indices)), type, span, constant=constant)  # fmt: skip
    return with_static(b, selected, static, x)


def _element_at(b: Builder, x: Operand, position: Operand, axis: int) -> Element:
    """The element of the cells at a position of an axis; of a column of `⍸m` it is an index of that axis of the mask."""
    op, column = b.definitions.get(x.value), position.constant if axis == 1 and not position.type.rank else None
    if isinstance(op, Where) and column is not None and isinstance(column[0], int):
        return Element(Kind.I64, index_bound=b.types[op.mask].shape[column[0]])
    return strong(x.type.element)


def select_cells(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`i⌷x`: major cells (or cells along `[axis]`)."""
    if not require_rank(b, right, 1, span):
        return b.poison(span)
    at = axis_index(b, axis, 0, right.type.rank, span)
    if at is None:
        return b.poison(span)
    count = left.type.shape[0].constant if left.type.rank == 1 else None
    if axis is None and right.type.rank > 1 and count == right.type.rank and left.type.element.weak and left.constant is not None:
        b.report(Diagnostic(
            Code.W320, f"this selects {count} major cells, not one element", span, Severity.WARNING, labels=(label(b, left),),
            notes=("for one element write `x[i;j]` or `i j⊃x`",),
        ))  # fmt: skip
    return select_along(b, right, left, at, span)


def first(b: Builder, x: Operand, axis: Operand | None, span: Span) -> Value:
    """`⊃x`: the first element; an empty axis is E204."""
    if not no_axis(b, axis, span):
        return b.poison(span)
    if x.type.rank == 0:
        return x
    default = "' '" if x.type.element.kind is Kind.CHAR else "0"
    notes = (f"join a default: `⊃x,{default}`",) if x.type.rank == 1 else ()
    for size in x.type.shape:
        message = "this array is empty" if size == ZERO else f"there is no first element if {size} is 0"
        if not b.require(Obligation(SizeFact(Relation.AT_MOST, ONE, size), Code.E204, span, message, (label(b, x),), notes)):
            return b.poison(span)
    constant = None if not x.constant else x.constant[:1]
    static = x.static[0] if isinstance(x.static, tuple) and x.static else None
    item = b.emit(lambda r: Reshape(r, x.value), ArrayType(strong(x.type.element), ()), span, constant=constant)
    return with_static(b, item, static, x)


def pick(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`i j⊃x`: index each leading axis in turn."""
    if not no_axis(b, axis, span):
        return b.poison(span)
    if left.type.rank > 1:
        return b.error(
            Code.E131, f"the left argument of `⊃` must be a scalar or a vector, but this is {show_type(left.type)}", span
        )
    count = 1 if left.type.rank == 0 else left.type.shape[0].constant
    if count is None:
        return b.error(
            Code.E403, "how many axes `⊃` indexes must be known before the program runs", span, labels=(label(b, left),)
        )
    if count > right.type.rank:
        return b.error(Code.E131, f"`⊃` is given {count} indices, but the array has rank {right.type.rank}", span,
                       labels=(label(b, right),))  # fmt: skip
    picked: list[tuple[Operand, IndexPosition]] = []
    for i in range(count):
        index = left if left.type.rank == 0 else item_of(b, left, i, span)
        if left.type.element.index_bound is None and left.type.element.kind is Kind.BOOL:
            index = b.convert(index, Kind.I64, span)
        index_position = index_operand(b, index, right.type.shape[i], span)
        if index_position is None:
            return b.poison(span)
        picked.append((index, index_position))
    x = right
    for i, (index, index_position) in enumerate(picked):
        others = {j: position for j, (_, (position, _)) in enumerate(picked) if j != i}
        x = select_at(b, x, index_position, index, 0, span, Indexing(i, right.type.rank, b.index_origin), others)
    return x
