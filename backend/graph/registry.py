"""The library ops of the graph: one row an op, with all that lowering, the scheduler and the cost models ask of it.

A row gives the axis signature (which axes may be cut, with which operand axes, and what combines partial results), the work by
class of operation (classes of the device profiles, scheduling.md 4.1), the scratch bytes, the critical path (`span`), how the op
is lifted to a frame, whether a run may fail, the ops whose measured times stand in for its own (`like`), and two slots: `vjp`,
the name of its rule in the reverse-mode pass, and `onnx`, the operator that exports it.  Sizes are polynomials.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Final, TypeAlias, TypeVar

from ...lang.support.records import dataclass, field
from ...typechecker.core.operations import CoreFunction
from ...typechecker.elements import FUNCTIONS
from ...typechecker.sizes.polynomials import ONE, ZERO, Size, SizeVariable, product
from ...typechecker.sizes.size import upper_bound
from . import scratch, scratch as scratch_linear
from .phases import AxisSignature, Cells, Graph, LibraryPhase, Operands, Types, cells_of, frame_of, framed_of

Signature: TypeAlias = tuple[AxisSignature, ...]
Work: TypeAlias = dict[str, Size]
Log: TypeAlias = Callable[[Size], Size]
SpanRule: TypeAlias = Callable[[Cells, Log], Size]
Fails: TypeAlias = Callable[[Mapping[str, object]], bool]
T = TypeVar("T")


# ---------------------------------------------------------------------------------------------------- shared functions

@dataclass(frozen=True, eq=False)
class GraphFunction:
    """A function that calls share, after all passes that need no sizes.  `cache`: what stages know of it, by sizes."""

    core: CoreFunction
    graph: Graph
    may_fail: bool
    cache: dict[Hashable, Any] = field(default_factory=dict)

    @property
    def sizes(self) -> tuple[SizeVariable, ...]:
        return self.core.sizes

    def __str__(self) -> str:
        return self.core.name

    def cached(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value for a key, made when first asked for; of many, the oldest are dropped."""
        try:
            known: T = self.cache[key]
        except KeyError:
            while len(self.cache) >= _MOST_CACHED:
                self.cache.pop(next(iter(self.cache)), None)
            known = self.cache[key] = make()
        return known


_MOST_CACHED: Final = 256


def called(attributes: Mapping[str, object]) -> tuple[GraphFunction, dict[SizeVariable, Size]]:
    """The function that a phase `call` with these attributes calls, with its sizes."""
    function, sizes = attributes["callee"], attributes["sizes"]
    assert isinstance(function, GraphFunction) and isinstance(sizes, tuple)
    return function, dict(zip(function.sizes, sizes, strict=True))


# ---------------------------------------------------------------------------------------------------- rows of the table

def _never(attributes: Mapping[str, object]) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class LibraryOp:
    name: str
    arity: int | None  # None: any number, at least one
    signature: Callable[[Cells], Signature]
    work: Callable[[Cells], Work]  # of one cell
    scratch: Callable[[Operands], Size] = scratch.no_scratch
    span: SpanRule = lambda cells, log: ONE
    leads: tuple[int, ...] = ()  # operands whose frame joins their own leading axes, so that the phase gets no frame
    fails: Fails = _never
    defines: int | None = 0  # None: any number
    vjp: str | None = None
    onnx: str | None = None
    like: tuple[str, ...] = ()
    located: bool = False  # does a shard depend on where in the result it begins?

    @property
    def stems(self) -> tuple[str, ...]:
        """The names of the device's cost tables that predict its time, most specific first."""
        return (self.name, *self.like)


def signature_of(phase: LibraryPhase, types: Types) -> Signature:
    """The axis signature of the phase: its frame's axes, then the op's, shifted behind the frame."""
    frame, flags = frame_of(phase), framed_of(phase)
    cell = LIBRARY[phase.op].signature(cells_of(phase, types))
    if not frame:
        return cell
    signature = [AxisSignature(j, tuple(j if f else None for f in flags)) for j in range(frame)]
    for s in cell:
        operands = tuple(a if a is None else a + (frame if f else 0) for a, f in zip(s.operands, flags, strict=True))
        signature.append(AxisSignature(None if s.result is None else s.result + frame, operands, s.combine))
    return tuple(signature)


def may_fail(phase: LibraryPhase) -> bool:
    """May a run of this phase end in a diagnostic (E310 index, singular matrix)?"""
    return LIBRARY[phase.op].fails(phase.attributes)


# ----------------------------------------------------------------------------------------- signatures


def _none(cells: Cells) -> Signature:
    return ()


def _first_result_axis(cells: Cells) -> Signature:
    return (AxisSignature(0, (None,) * len(cells.args)),) if cells.results[0] else ()


def _every_axis(cells: Cells) -> Signature:
    return tuple(AxisSignature(a, (a,)) for a in range(len(cells.results[0])))


def _other_axes(cells: Cells) -> Signature:
    """The signature of an op whose operands and result have one rank: every axis but `axis` is cut together."""
    return tuple(AxisSignature(a, (a,) * len(cells.args)) for a in range(len(cells.results[0])) if a != cells.axis)


SCAN_BLOCK: Final = 4096
"""Items of a block of the order of scans (docs/kernels.md)."""


def _scanned(cells: Cells) -> Signature:
    """The other axes; with the values before blocks also the scanned one, where every shard starts from them."""
    if len(cells.args) == 1:
        return _other_axes(cells)
    return (*_other_axes(cells), AxisSignature(cells.axis, (cells.axis,) * 2, None, SCAN_BLOCK))


def _totals_of_blocks(cells: Cells) -> Signature:
    return (*_other_axes(cells), AxisSignature(cells.axis, (cells.axis,), None, SCAN_BLOCK))


def _in_runs(cells: Cells) -> Signature:
    run = cells.attributes["run"]
    assert isinstance(run, int)
    return (AxisSignature(0, (0, 0, None)[: len(cells.args)], None, run),)


def _stacked(cells: Cells) -> Signature:
    k = cells.axis
    return tuple(AxisSignature(a, (a if a < k else a - 1,) * len(cells.args)) for a in range(len(cells.results[0])) if a != k)


def _rotated(cells: Cells) -> Signature:
    k, has_amounts = cells.axis, bool(cells.args[1])
    return tuple(
        AxisSignature(a, (a, (a if a < k else a - 1) if has_amounts else None)) for a in range(len(cells.results[0])) if a != k
    )


def _gathered(cells: Cells) -> Signature:
    k, rank, unsplit = cells.axis, len(cells.args[1]), (None,) * (len(cells.args) - 2)
    before = [AxisSignature(a, (a, None, *unsplit)) for a in range(k)]
    picked = [AxisSignature(k + i, (None, i, *unsplit)) for i in range(rank)]
    behind = [AxisSignature(a - 1 + rank, (a, None, *unsplit)) for a in range(k + 1, len(cells.args[0]))]
    return (*before, *picked, *behind)


def _updated(cells: Cells) -> Signature:
    indexed = cells.attributes["indexed"]
    assert isinstance(indexed, tuple)
    value = cells.args[-1]
    signature: list[AxisSignature] = []
    position, used = 0, 0
    for axis, has_index in enumerate(indexed):
        if has_index:
            position += len(cells.args[1 + used])
            used += 1
            continue
        inner = (None,) * (len(cells.args) - 2)
        signature.append(AxisSignature(axis, (axis, *inner, position if value else None)))
        position += 1
    return tuple(signature)


def _mask_updated(cells: Cells) -> Signature:
    if len(cells.args[1]) != 1:
        return ()
    return tuple(AxisSignature(a, (a, None, a)) for a in range(1, len(cells.args[0])))


def _masked(cells: Cells) -> Signature:
    return tuple(AxisSignature(a, (None, a)) for a in range(len(cells.args[1])) if a != cells.axis)


def _contracted(cells: Cells) -> Signature:
    left, right = len(cells.args[0]), len(cells.args[1])
    rows = [AxisSignature(a, (a, None)) for a in range(left - 1)]
    columns = [AxisSignature(left - 1 + a - 1, (None, a)) for a in range(1, right)]
    return (*rows, *columns, AxisSignature(None, (left - 1, 0), "add"))


def _decoded(cells: Cells) -> Signature:
    left, right = max(len(cells.args[0]), 1), len(cells.args[1])
    rows = [AxisSignature(a, (a, None)) for a in range(left - 1)]
    return (*rows, *(AxisSignature(left - 1 + a - 1, (None, a)) for a in range(1, right)))


def _encoded(cells: Cells) -> Signature:
    rank = len(cells.args[0])
    return tuple(AxisSignature(rank + a, (None, a)) for a in range(len(cells.args[1])))


def _searched(cells: Cells) -> Signature:
    return tuple(AxisSignature(a, (None, a)) for a in range(len(cells.results[0])))


def _member(cells: Cells) -> Signature:
    return tuple(AxisSignature(a, (a, None)) for a in range(len(cells.results[0])))


def _keyed(cells: Cells) -> Signature:
    rank = len(cells.args[0])
    function = str(cells.attributes["function"])
    keys = [AxisSignature(None, (a, a), function) for a in range(rank)] if _is_associative(cells) else []
    return (*keys, *(AxisSignature(1 + a - rank, (None, a)) for a in range(rank, len(cells.args[1]))))


def _matrix_frame(rank: int) -> Callable[[Cells], Signature]:
    def signature(cells: Cells) -> Signature:
        depth = len(cells.args[0]) - rank
        return tuple(AxisSignature(a, (a,) * len(cells.args)) for a in range(depth))

    return signature


# ------------------------------------------------------------------------------------------------ work


def _result(kind: str) -> Callable[[Cells], Work]:
    return lambda cells: {kind: product(cells.results[0])}


def _arg(kind: str, which: int = 0) -> Callable[[Cells], Work]:
    return lambda cells: {kind: product(cells.args[which])}


def _nothing(cells: Cells) -> Work:
    return {}


def _gemm(cells: Cells) -> Work:
    shared = cells.args[0][-1] if cells.args[0] else ONE
    return {"gemm": product(cells.results[0]) * shared * 2}


def _decode_work(cells: Cells) -> Work:
    steps = product(cells.results[0]) * _digits(cells)
    return {"multiply": steps, "add": steps}


def _digits(cells: Cells) -> Size:
    return cells.args[1][0] if cells.args[1] else cells.args[0][-1] if cells.args[0] else ONE


def _search_work(cells: Cells) -> Work:
    return {"search": product(cells.args[0]) + product(cells.args[1])}


def _find_work(cells: Cells) -> Work:
    return {"compare": product(cells.args[0]) * product(cells.args[1])}


def _update_work(cells: Cells) -> Work:
    return {"copy": product(cells.results[0]), "scatter": product(cells.args[-1])}


def _cubic(kind: str) -> Callable[[Cells], Work]:
    def work(cells: Cells) -> Work:
        shape = cells.args[0]
        depth = product(shape[:-2])
        rows, columns = shape[-2:] if len(shape) >= 2 else (product(shape), ONE)
        return {kind: depth * rows * columns * columns}

    return work


def _solve_work(cells: Cells) -> Work:
    """The work of a solution: the matrix is the second operand, the right-hand sides are the first."""
    sides, shape = cells.args
    rows, columns = (shape[-2], shape[-1]) if len(shape) >= 2 else (product(shape), ONE)
    return {"solve": rows * columns * columns + columns * product(sides)}


def _checked(attributes: Mapping[str, object]) -> bool:
    return attributes.get("checked") is True


def _function_fails(attributes: Mapping[str, object]) -> bool:
    return called(attributes)[0].may_fail


def _always(attributes: Mapping[str, object]) -> bool:
    return True


# ------------------------------------------------------------------------------------------------ spans


def _is_associative(cells: Cells) -> bool:
    function = cells.attributes["function"]
    assert isinstance(function, str)
    return function in FUNCTIONS and FUNCTIONS[function].associative


def _scan_span(cells: Cells, log: Log) -> Size:
    length = upper_bound(cells.args[0][cells.axis])
    return log(length) if _is_associative(cells) else length


def _sort_span(*which: int) -> SpanRule:
    """The span of a sort: a sorting network over the items of these operands."""

    def span(cells: Cells, log: Log) -> Size:
        depth = log(sum((product(cells.args[operand]) for operand in which), ZERO))
        return ONE + depth * depth

    return span


def _tree_span(which: int) -> SpanRule:
    return lambda cells, log: ONE + log(product(cells.args[which]))


def _factor_span(which: int) -> SpanRule:
    def span(cells: Cells, log: Log) -> Size:
        shape = cells.args[which]
        rows, columns = shape[-2:] if len(shape) >= 2 else (product(shape), ONE)
        return upper_bound(columns) * (ONE + log(rows))

    return span


def _product_span(cells: Cells, log: Log) -> Size:
    return ONE + (log(cells.args[0][-1]) if cells.args[0] else ZERO)


def _decode_span(cells: Cells, log: Log) -> Size:
    return upper_bound(_digits(cells))


def _encode_span(cells: Cells, log: Log) -> Size:
    return upper_bound(cells.args[0][0]) if cells.args[0] else ONE


# ------------------------------------------------------------------------------------------------- rows


def _transform(name: str, back: str) -> LibraryOp:
    """The row of a transform of lines along the last axis."""
    longer = name == "irfft"
    return LibraryOp(
        name, 1, _matrix_frame(1), _arg("transform"), scratch_linear.transform,
        lambda cells, log: ONE + log((cells.results if longer else cells.args)[0][-1]), leads=(0,), vjp=back, onnx="DFT",
        like=("transform",) if name == "fft" else ("fft", "transform"),
    )  # fmt: skip


def _matrices(
    name: str, kind: str, rule: Callable[[Operands], Size], like: tuple[str, ...], fails: Fails = _never, onnx: str | None = None
) -> LibraryOp:
    """The row of an operation on matrices behind any leading axes; the work is cubic."""
    return LibraryOp(name, 1, _matrix_frame(2), _cubic(kind), rule, _factor_span(0), (0,), fails, vjp=name, onnx=onnx, like=like)


_SORTED: Final = ("sort", "gather.sorts", "grade")  # earlier calibrations have `gather.sorts`

_ROWS = (
    LibraryOp("call", None, _none, _nothing, fails=_function_fails, defines=None),
    LibraryOp("size_vector", 0, _none, _result("fill"), onnx="Shape", like=("fill", "step")),
    LibraryOp("join", None, _other_axes, _result("copy"), scratch.results, vjp="slices", onnx="Concat", like=("copy",)),
    LibraryOp("broadcast", 1, _every_axis, _result("copy"), scratch.results, like=("join", "copy")),
    LibraryOp("stack", None, _stacked, _result("copy"), scratch.results, vjp="slices", onnx="Concat", like=("join", "copy")),
    LibraryOp("rotate", 2, _rotated, _result("copy"), scratch.rotate, vjp="rotate_back", onnx="GatherElements",
              like=("join", "copy")),
    LibraryOp("reshape_cycle", 1, _none, _result("copy"), scratch.results, vjp="scatter_add", like=("copy",)),
    LibraryOp("gather", None, _gathered, _result("gather"), scratch.gather, fails=_checked, vjp="scatter_add", onnx="Gather"),
    LibraryOp("update", None, _updated, _update_work, scratch.update, fails=_checked, vjp="update", onnx="ScatterND",
              like=("scatter",)),
    LibraryOp("mask_update", 3, _mask_updated, _result("copy"), scratch.mask_update, _tree_span(1), fails=_always,
              vjp="mask_update", like=("compress", "compact")),
    LibraryOp("scan", None, _scanned, _arg("scan"), scratch.scan, _scan_span, vjp="scan", onnx="CumSum"),
    LibraryOp("scan_totals", 1, _totals_of_blocks, _arg("scan"), scratch.scan_totals, _scan_span, like=("scan",)),
    LibraryOp("scan_before", 1, _other_axes, _arg("scan"), scratch.results, _scan_span, like=("scan",)),
    LibraryOp("contract", 2, _contracted, _gemm, scratch.contract, _product_span, vjp="contract", onnx="MatMul"),
    LibraryOp("compress", 2, _masked, _arg("compact", 1), scratch.compress, _tree_span(0), defines=1, vjp="expand",
              onnx="Compress", like=("compact",)),
    LibraryOp("select_runs", 2, _in_runs, _arg("compact", 1), scratch.select_runs, _tree_span(0), like=("compress", "compact")),
    LibraryOp("join_runs", 2, _none, _arg("copy"), span=_tree_span(0), defines=1,
              like=("join", "copy", "compress", "compact")),
    LibraryOp("sum_runs", 3, _in_runs, _arg("compact", 1), scratch.sum_runs, _tree_span(0), like=("compress", "compact"),
              located=True),
    LibraryOp("join_sums", 2, _none, _arg("copy"), scratch.join_sums, _tree_span(0),
              like=("join", "copy", "compress", "compact")),
    LibraryOp("expand", 2, _masked, _result("compact"), scratch.expand, _tree_span(0), fails=_checked, vjp="compress",
              like=("compact", "compress")),
    LibraryOp("where", 1, _none, _arg("compact"), scratch.where, _tree_span(0), defines=1, onnx="NonZero", like=("compact",)),
    LibraryOp("runtime_size", 1, _none, _nothing, defines=1),
    LibraryOp("first_occurrence", 1, _none, _arg("sort"), scratch.first_occurrence, _sort_span(0), onnx="Unique",
              like=("sort",)),
    LibraryOp("sort", 1, _none, _arg("sort"), scratch.sort, _sort_span(0), onnx="TopK", like=_SORTED[1:]),
    LibraryOp("grade", 1, _none, _arg("sort"), scratch.grade, _sort_span(0), onnx="TopK", like=("sort",)),
    LibraryOp("grade_by", 2, _none, _arg("sort", 1), scratch.grade_by, _sort_span(1), like=("grade", "sort")),
    LibraryOp("sort_runs", 1, _in_runs, _arg("sort"), scratch.sort_runs, _sort_span(0), like=_SORTED),
    LibraryOp("grade_runs", 1, _in_runs, _arg("sort"), scratch.grade_runs, _sort_span(0), like=("grade", "sort"),
              located=True),
    LibraryOp("merge_runs", None, _first_result_axis, _arg("sort"), scratch.merge_runs, _tree_span(0), like=("sort",),
              located=True),
    LibraryOp("index_of", 2, _searched, _search_work, scratch.index_of, _sort_span(0, 1), (1,), like=("search",)),
    LibraryOp("member_of", 2, _member, _search_work, scratch.member_of, _sort_span(0, 1), (0,), like=("index_of", "search")),
    LibraryOp("find", 2, _none, _find_work, scratch.find, _tree_span(0), like=("compare",)),
    LibraryOp("interval_index", 2, _searched, _search_work, scratch.interval_index, _sort_span(0, 1), (1,), like=("search",)),
    LibraryOp("match", 2, _none, _arg("compare"), scratch.match, _tree_span(0), like=("compare",)),
    LibraryOp("decode", 2, _decoded, _decode_work, scratch.decode, _decode_span, vjp="decode", like=("multiply", "mul")),
    LibraryOp("encode", 2, _encoded, _result("divide"), scratch.encode, _encode_span, like=("divide",)),
    LibraryOp("key_reduce", 2, _keyed, _arg("scatter", 1), scratch.key_reduce, _sort_span(0), fails=_checked, vjp="gather",
              onnx="ScatterElements", like=("scatter",)),
    LibraryOp("random", 1, _first_result_axis, _result("random"), scratch.random, onnx="RandomUniform", like=("sort", "grade"),
              located=True),
    LibraryOp("format", 1, _none, _result("format"), scratch.format, defines=1),
    LibraryOp("number", 1, _matrix_frame(1), _arg("format"), scratch.read_text, leads=(0,), like=("format",)),
    LibraryOp("date", 1, _matrix_frame(1), _arg("format"), scratch.read_text, leads=(0,), fails=_always, like=("format",)),
    LibraryOp("time", 1, _matrix_frame(1), _arg("format"), scratch.read_text, leads=(0,), fails=_always, like=("format",)),
    LibraryOp("solve", 2, _none, _solve_work, scratch_linear.solve, _factor_span(1), (0, 1), fails=_always, vjp="solve"),
    _transform("fft", "ifft"), _transform("ifft", "fft"), _transform("rfft", "irfft"), _transform("irfft", "rfft"),
    _matrices("inverse", "solve", scratch_linear.inverse, ("solve",), _always, "Inverse"),
    _matrices("cholesky", "solve", scratch_linear.cholesky, ("solve",), _always),
    _matrices("qr", "factor", scratch_linear.qr, ("factor", "svd")),
    _matrices("svd", "factor", scratch_linear.svd, ("factor",)),
    _matrices("eigh", "factor", scratch_linear.eigh, ("factor",)),
    _matrices("det", "factor", scratch_linear.determinant, ("solve", "factor"), onnx="Det"),
    _matrices("slogdet", "factor", scratch_linear.determinant, ("det", "solve", "factor")),
)  # fmt: skip

LIBRARY: dict[str, LibraryOp] = {row.name: row for row in _ROWS}
