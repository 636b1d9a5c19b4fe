"""The library ops of the graph: one row an op, with what the scheduler, the cost model and later stages ask of it.

A row gives the axis signature (which axes may be cut, with which operand axes, and what combines), the work by class of
operation (classes of the device profiles, scheduling.md 4.1), whether a run may fail, whose measured times are `like` its own,
and two slots: `vjp`, the name of its rule in the reverse-mode pass, and `onnx`, the operator that exports it.  Sizes are
polynomials.

Neighbours: `lower` emits these ops, `costs` adds bytes, `backend.run` implements each name, `verify` refuses others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from ...lang.records import dataclass
from ...typechecker.scalars import FUNCTIONS
from ...typechecker.sizes import ONE, Size, product
from ...typechecker.types import ArrayType
from .phases import AxisSignature, LibraryPhase, Phase, ValueId

Types: TypeAlias = Mapping[ValueId, ArrayType]
Shape: TypeAlias = tuple[Size, ...]
Signature: TypeAlias = tuple[AxisSignature, ...]
Work: TypeAlias = dict[str, Size]


@dataclass(frozen=True, slots=True)
class Cells:
    """The shapes of a library phase's cells: operands and results without the frame."""

    args: tuple[Shape, ...]
    results: tuple[Shape, ...]
    attributes: Mapping[str, object]

    @property
    def axis(self) -> int:
        value = self.attributes["axis"]
        assert isinstance(value, int)
        return value


@dataclass(frozen=True, slots=True)
class LibraryOp:
    name: str
    arity: int | None  # None: one or more
    signature: Callable[[Cells], Signature]
    work: Callable[[Cells], Work]  # of one cell
    fails: Callable[[Mapping[str, object]], bool] = lambda attributes: False
    defines: int = 0
    vjp: str | None = None
    onnx: str | None = None
    like: tuple[str, ...] = ()

    @property
    def stems(self) -> tuple[str, ...]:
        """The tables of a device that tell its time, best first."""
        return (self.name, *self.like)


def frame_of(phase: LibraryPhase) -> int:
    value = phase.attributes.get("frame", 0)
    assert isinstance(value, int)
    return value


def framed_of(phase: LibraryPhase) -> tuple[bool, ...]:
    value = phase.attributes.get("framed")
    return value if isinstance(value, tuple) else (False,) * len(phase.args)


def is_unread(phase: Phase) -> bool:
    """Nobody reads its result (a grade before a sort): it is not made."""
    return isinstance(phase, LibraryPhase) and wanted_of(phase) == (0, 0)


def wanted_of(phase: LibraryPhase) -> tuple[int, int] | None:
    """The places that are read of the axis that a grade or a sort orders; None where all are (`rules.orders`)."""
    found = phase.attributes.get("wanted")
    return found if isinstance(found, tuple) else None


def cells_of(phase: LibraryPhase, types: Types) -> Cells:
    frame = frame_of(phase)
    args = tuple(types[a].shape[frame if carries else 0 :] for a, carries in zip(phase.args, framed_of(phase), strict=True))
    return Cells(args, tuple(types[r].shape[frame:] for r in phase.results), phase.attributes)


def signature_of(phase: LibraryPhase, types: Types) -> Signature:
    """How the axes of the phase may be cut: its frame's axes, then the op's own, shifted behind the frame."""
    frame, flags = frame_of(phase), framed_of(phase)
    cell = LIBRARY[phase.op].signature(cells_of(phase, types))
    if not frame:
        return cell
    own = [AxisSignature(j, tuple(j if f else None for f in flags)) for j in range(frame)]
    for s in cell:
        operands = tuple(a if a is None else a + (frame if f else 0) for a, f in zip(s.operands, flags, strict=True))
        own.append(AxisSignature(None if s.result is None else s.result + frame, operands, s.combine))
    return tuple(own)


def may_fail(phase: LibraryPhase) -> bool:
    """May a run of this phase end in a diagnostic (E310 index, singular matrix)?"""
    return LIBRARY[phase.op].fails(phase.attributes)


# ----------------------------------------------------------------------------------------- signatures


def _none(cells: Cells) -> Signature:
    return ()


def _every_result_axis(cells: Cells) -> Signature:
    return tuple(AxisSignature(a, (None,) * len(cells.args)) for a in range(len(cells.results[0])))


def _other_axes(cells: Cells) -> Signature:
    """Every operand and the result have one rank; all axes but `axis` are cut together."""
    return tuple(AxisSignature(a, (a,) * len(cells.args)) for a in range(len(cells.results[0])) if a != cells.axis)


def _stacked(cells: Cells) -> Signature:
    k = cells.axis
    return tuple(AxisSignature(a, (a if a < k else a - 1,) * len(cells.args)) for a in range(len(cells.results[0])) if a != k)


def _rotated(cells: Cells) -> Signature:
    k, whole = cells.axis, bool(cells.args[1])
    return tuple(
        AxisSignature(a, (a, (a if a < k else a - 1) if whole else None)) for a in range(len(cells.results[0])) if a != k
    )


def _gathered(cells: Cells) -> Signature:
    k, rank, whole = cells.axis, len(cells.args[1]), (None,) * (len(cells.args) - 2)
    before = [AxisSignature(a, (a, None, *whole)) for a in range(k)]
    picked = [AxisSignature(k + i, (None, i, *whole)) for i in range(rank)]
    behind = [AxisSignature(a - 1 + rank, (a, None, *whole)) for a in range(k + 1, len(cells.args[0]))]
    return (*before, *picked, *behind)


def _updated(cells: Cells) -> Signature:
    indexed = cells.attributes["indexed"]
    assert isinstance(indexed, tuple)
    value = cells.args[-1]
    found: list[AxisSignature] = []
    position, used = 0, 0
    for axis, has_index in enumerate(indexed):
        if has_index:
            position += len(cells.args[1 + used])
            used += 1
            continue
        inner = (None,) * (len(cells.args) - 2)
        found.append(AxisSignature(axis, (axis, *inner, position if value else None)))
        position += 1
    return tuple(found)


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
    function = cells.attributes["function"]
    assert isinstance(function, str)
    keys: list[AxisSignature] = []
    if function in FUNCTIONS and FUNCTIONS[function].associative:
        keys = [AxisSignature(None, (a, a), function) for a in range(rank)]
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
    steps = cells.args[1][0] if cells.args[1] else cells.args[0][-1] if cells.args[0] else ONE
    return {"multiply": product(cells.results[0]) * steps, "add": product(cells.results[0]) * steps}


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
    """Of the matrix, which is the second operand, and the right-hand sides, which are the first."""
    sides, shape = cells.args
    rows, columns = (shape[-2], shape[-1]) if len(shape) >= 2 else (product(shape), ONE)
    return {"solve": rows * columns * columns + columns * product(sides)}


def _checked(attributes: Mapping[str, object]) -> bool:
    return attributes.get("checked") is True


def _always(attributes: Mapping[str, object]) -> bool:
    return True


_ROWS = (
    LibraryOp("size_vector", 0, _none, _result("fill"), onnx="Shape", like=("fill", "step")),
    LibraryOp("join", None, _other_axes, _result("copy"), vjp="slices", onnx="Concat", like=("copy",)),
    LibraryOp("stack", None, _stacked, _result("copy"), vjp="slices", onnx="Concat", like=("join", "copy")),
    LibraryOp("rotate", 2, _rotated, _result("copy"), vjp="rotate_back", onnx="GatherElements", like=("join", "copy")),
    LibraryOp("reshape_cycle", 1, _none, _result("copy"), vjp="scatter_add", like=("copy",)),
    LibraryOp("gather", None, _gathered, _result("gather"), fails=_checked, vjp="scatter_add", onnx="Gather"),
    LibraryOp("update", None, _updated, _update_work, fails=_checked, vjp="update", onnx="ScatterND", like=("scatter",)),
    LibraryOp("mask_update", 3, _mask_updated, _result("copy"), fails=_always, vjp="mask_update", like=("compress", "compact")),
    LibraryOp("scan", 1, _other_axes, _arg("scan"), vjp="scan", onnx="CumSum"),
    LibraryOp("contract", 2, _contracted, _gemm, vjp="contract", onnx="MatMul"),
    LibraryOp("compress", 2, _masked, _arg("compact", 1), defines=1, vjp="expand", onnx="Compress", like=("compact",)),
    LibraryOp("expand", 2, _masked, _result("compact"), fails=_checked, vjp="compress", like=("compact", "compress")),
    LibraryOp("where", 1, _none, _arg("compact"), defines=1, onnx="NonZero", like=("compact",)),
    LibraryOp("runtime_size", 1, _none, _nothing, defines=1),
    LibraryOp("first_occurrence", 1, _none, _arg("sort"), onnx="Unique", like=("sort",)),
    LibraryOp("grade", 1, _none, _arg("sort"), onnx="TopK", like=("sort",)),
    LibraryOp("grade_by", 2, _none, _arg("sort", 1), like=("grade", "sort")),
    LibraryOp("index_of", 2, _searched, _search_work, like=("search",)),
    LibraryOp("member_of", 2, _member, _search_work, like=("index_of", "search")),
    LibraryOp("find", 2, _none, _find_work, like=("compare",)),
    LibraryOp("interval_index", 2, _searched, _search_work, like=("search",)),
    LibraryOp("match", 2, _none, _arg("compare"), like=("compare",)),
    LibraryOp("decode", 2, _decoded, _decode_work, vjp="decode", like=("multiply", "mul")),
    LibraryOp("encode", 2, _encoded, _result("divide"), like=("divide",)),
    LibraryOp("key_reduce", 2, _keyed, _arg("scatter", 1), fails=_checked, vjp="gather", onnx="ScatterElements",
              like=("scatter",)),
    LibraryOp("random", 1, _every_result_axis, _result("random"), onnx="RandomUniform", like=("sort", "grade")),
    LibraryOp("format", 1, _none, _result("format"), defines=1),
    LibraryOp("number", 1, _matrix_frame(1), _arg("format"), like=("format",)),
    LibraryOp("date", 1, _matrix_frame(1), _arg("format"), fails=_always, like=("format",)),
    LibraryOp("inverse", 1, _matrix_frame(2), _cubic("solve"), fails=_always, vjp="inverse", onnx="Inverse", like=("solve",)),
    LibraryOp("solve", 2, _none, _solve_work, fails=_always, vjp="solve"),
    LibraryOp("fft", 1, _matrix_frame(1), _arg("transform"), vjp="ifft", onnx="DFT", like=("transform",)),
    LibraryOp("ifft", 1, _matrix_frame(1), _arg("transform"), vjp="fft", onnx="DFT", like=("fft", "transform")),
    LibraryOp("rfft", 1, _matrix_frame(1), _arg("transform"), vjp="irfft", onnx="DFT", like=("fft", "transform")),
    LibraryOp("irfft", 1, _matrix_frame(1), _arg("transform"), vjp="rfft", onnx="DFT", like=("fft", "transform")),
    LibraryOp("cholesky", 1, _matrix_frame(2), _cubic("solve"), fails=_always, vjp="cholesky", like=("solve",)),
    LibraryOp("qr", 1, _matrix_frame(2), _cubic("factor"), vjp="qr", like=("factor", "svd")),
    LibraryOp("svd", 1, _matrix_frame(2), _cubic("factor"), vjp="svd", like=("factor",)),
    LibraryOp("eigh", 1, _matrix_frame(2), _cubic("factor"), vjp="eigh", like=("factor",)),
    LibraryOp("det", 1, _matrix_frame(2), _cubic("factor"), vjp="det", onnx="Det", like=("solve", "factor")),
    LibraryOp("slogdet", 1, _matrix_frame(2), _cubic("factor"), vjp="slogdet", like=("det", "solve", "factor")),
)  # fmt: skip

LIBRARY: dict[str, LibraryOp] = {row.name: row for row in _ROWS}
