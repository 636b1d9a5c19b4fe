"""Time of a library phase: which table it is looked up in, and at which size.

A phase over a frame whose op goes cell by cell costs its cell's time once a cell; ops that take the frame at once cost by
all bytes touched.

Neighbours: `graph.registry` (shapes of cells, signatures), `keys` (names), `cost`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

from ...typechecker.elements import Kind
from ...typechecker.sizes import capacity
from ..graph.cells import cells_of, frame_of, framed_of, is_unread
from ..graph.phases import LibraryPhase
from ..graph.registry import LIBRARY
from .forms import Number, Types
from .keys import BY_WORK
from .points import cooled
from .rates import Around, Rates
from .spans import largest, smallest
from .tables import GRAIN, Grains

Shape = tuple[int, ...]

TALL: Final = 8
"""A product with one side this many times the others is tall or wide."""
THIN: Final = 4
"""A product with fewer rows or columns moves data, it does not compute."""
ROW_BYTES: Final = 64
"""Cells of at least this many bytes are gathered by the row."""
FEW: Final = 64
"""Items that are looked for among so few are found by going through them."""
BOUNDS: Final = 8
"""What `interval_index.few` is about; `interval_index` is about √n bounds of n items."""
NEAR: Final = 1 << 18
"""Bytes of items, indices and results that stay in the second cache."""
_CELL_BY_CELL: Final = frozenset({"rotate", "gather", "scan", "find", "update", "compress", "key_reduce", "solve"})
_CUBIC: Final = BY_WORK - {"gemm", "factor"}


def library_grains(phase: LibraryPhase, types: Types, rates: Rates, number: Number, cut: tuple[int, int] | None) -> Grains:
    """`cut`: (entry of the signature, its rows)."""
    if phase.op == "runtime_size":
        return Grains(0)
    args = [tuple(map(number, types[a].shape)) for a in phase.args]
    results = [tuple(map(number, types[r].shape)) for r in phase.results]
    if cut is not None:
        args, results = _cut(phase, args, results, cut)
    frame = frame_of(phase)
    points = prod(results[0][:frame]) if results else 1
    framed = framed_of(phase)
    cells = [shape[frame if carries else 0 :] for shape, carries in zip(args, framed, strict=True)]
    made = [shape[frame:] for shape in results]
    if 0 in (points, *(prod(shape) for shape in made)) and not phase.defines:
        return Grains(0)
    kind = types[phase.args[0]].element.kind if phase.args else types[phase.results[0]].element.kind
    if is_unread(phase):
        start = rates.table(("first",), Kind.F64)  # nobody reads its result: it is not made
        return Grains(0) if start is None else cooled(start, rates.around.get(phase.id, Around()))
    if phase.op == "contract":
        alike = rates.around.get(phase.id, Around()).alike
        return Grains(points * _product(cells[0], cells[1], types[phase.results[0]].element.kind, rates, alike))
    if phase.op in _CUBIC:
        work = LIBRARY[phase.op].work(cells_of(phase, types))
        size = sum(number(capacity(count)) for count in work.values()) if cut is None else prod(cells[0]) * cells[0][-1]
        return Grains(points * rates.grains(LIBRARY[phase.op].stems, kind, largest(1, size)))
    once = points if phase.op in _CELL_BY_CELL else 1
    size = sum(prod(s) * types[a].element.kind.bytes for s, a in zip(args, phase.args, strict=True))
    if phase.op == "reshape_cycle":
        size = smallest(size, prod(results[0]) * kind.bytes)  # what is left off is not read
    size += sum(prod(s) * types[r].element.kind.bytes for s, r in zip(results, phase.results, strict=True))
    return _by_bytes(phase, types, rates, cells, kind, -(-size // once), once)


def _by_bytes(
    phase: LibraryPhase, types: Types, rates: Rates, cells: Sequence[Shape], kind: Kind, size: int, times: int
) -> Grains:
    """The time of `times` cells that touch `size` bytes each, with a launch for every cell after the first."""
    stems = LIBRARY[phase.op].stems
    again = (times - 1) * rates.device.launch_ns * GRAIN
    match phase.op:
        case "scan":
            function, axis = str(phase.attributes["function"]), phase.attributes["axis"]
            tail = "row" if axis == len(cells[0]) - 1 else "col"
            stems = (f"scan.{function}.{tail}", f"scan.add.{tail}", f"scan.{function}", "scan.add", "scan")
        case "gather":
            axis = phase.attributes["axis"]
            assert isinstance(axis, int)
            if phase.attributes.get("sorts") is not None:
                sorts = ("gather.sorts", "sort", "grade")
                return Grains(times * rates.grains(sorts, kind, 2 * prod(cells[0]) * kind.bytes) + again)
            width = types[phase.args[0]].element.kind.bytes
            if prod(cells[0][axis + 1 :]) * width >= ROW_BYTES:
                stems = ("gather.rows", "gather")
            picked = prod(cells[1])
            read = picked * width * prod(cells[0][:axis]) * prod(cells[0][axis + 1 :])
            size = 2 * read + picked * 8  # what is not picked is not touched
            source = 3 * prod(cells[0]) * width  # as a table knows it: as many picked as there are
            if rates.measured and largest(size, source) > NEAR:
                return Grains(times * rates.require(stems, kind).rate(size, largest(source, NEAR)) + again)
        case "update":
            size = 2 * prod(cells[0]) * kind.bytes + 2 * prod(cells[-1]) * kind.bytes
        case "key_reduce":
            kind = types[phase.args[1]].element.kind
            function = str(phase.attributes["function"])
            stems = (f"key_reduce.{function}", "key_reduce.add", *stems)
            if prod(cells[1][len(cells[0]) :]) > 1:
                stems = (f"key_reduce.{function}.rows", "key_reduce.add.rows", *stems)
        case "encode" if rates.around.get(phase.id, Around()).binary:
            stems = ("encode.binary", *stems)
        case "index_of" | "member_of" if prod(cells[0 if phase.op == "index_of" else 1]) <= FEW:
            stems = (f"{phase.op}.few", *stems)
        case "interval_index":
            return Grains(times * _searched(prod(cells[0]), kind, size, stems, rates) + again)
        case "find":
            size = prod(cells[0]) * prod(cells[1]) * kind.bytes
        case "compress" | "mask_update" | "grade_by" | "expand":
            kind = types[phase.args[1 if phase.op != "mask_update" else 0]].element.kind
        case "decode":
            size = largest(size, 2 * prod(cells[1]) * kind.bytes)
        case _:
            pass
    return Grains(times * rates.grains(stems, kind, size) + again)


def _searched(bounds: int, kind: Kind, size: int, stems: Sequence[str], rates: Rates) -> int:
    """Each item goes through as many halvings as the bounds have, so between two tables time goes by the logarithm of their
    number."""
    if bounds == BOUNDS:
        return rates.grains(("interval_index.few", *stems), kind, size)
    many, few = rates.grains(stems, kind, size), rates.table(("interval_index.few",), kind)
    if few is None:
        return many
    least, level = few.at(size), _level(bounds)
    usual = max(_level(BOUNDS) + 1, _level(max(1, size // (2 * kind.bytes))) // 2)
    return max(least * 2 // 3, least + (many - least) * (level - _level(BOUNDS)) // (usual - _level(BOUNDS)))


def _level(count: int) -> int:
    """Its binary logarithm in 64ths."""
    return int((max(1, count) ** 64).bit_length()) - 1


def cold(rates: Rates, around: Around) -> Grains:
    """What a step takes more after one that touched much."""
    if not rates.measured:
        return Grains(0)
    library = rates.table(("first.library",), Kind.F64)
    if library is not None:
        return Grains(cooled(library, around) - library.at(1))
    tables = [table for name in ("step", "first") if (table := rates.table((name,), Kind.F64)) is not None]
    return Grains(sum(max(0, cooled(table, around) - table.at(1)) for table in tables))


def _product(left: Shape, right: Shape, kind: Kind, rates: Rates, alike: bool) -> Grains:
    """`left +.× right` of one cell; `alike`: a matrix and its transpose, whose product is symmetric."""
    shared = left[-1] if left else right[0] if right else 1
    rows, columns = prod(left[:-1]), prod(right[1:])
    touched = (rows * shared + shared * columns + rows * columns) * kind.bytes
    work = 2 * rows * columns * shared
    if rows == 1 and columns == 1:
        return rates.grains(("dot", "gemv", "gemm.square", "gemm"), kind, touched)
    if smallest(rows, columns) < THIN and rates.table(("gemv",), kind) is not None:
        return rates.grains(("gemv",) if smallest(rows, columns) == 1 else ("gemm.thin", "gemv"), kind, touched)
    most, rest = largest(rows, columns), largest(shared, smallest(rows, columns))
    shape = "square" if most < TALL * rest else "tall" if rows >= columns else "wide"
    own = ("gemm.own",) if alike and rows == columns else ()
    return rates.grains((*own, f"gemm.{shape}", "gemm.square", "gemm"), kind, work)


def _cut(phase: LibraryPhase, args: list[Shape], results: list[Shape], cut: tuple[int, int]) -> tuple[list[Shape], list[Shape]]:
    """Shapes of a shard: the axes that the signature cuts together have `rows`."""
    entry, rows = phase.signature[cut[0]], cut[1]
    own = [
        shape if axis is None else (*shape[:axis], rows, *shape[axis + 1 :])
        for shape, axis in zip(args, entry.operands, strict=True)
    ]
    if entry.result is None:
        return own, results
    axis = entry.result
    return own, [(*shape[:axis], rows, *shape[axis + 1 :]) for shape in results]
