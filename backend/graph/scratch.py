"""Scratch memory of library ops: the bytes that an op needs while it runs besides operands and results, one rule an op.

The rules follow the NumPy implementations (`backend.library`) at their worst: keys of items, orders, masks and
index arrays that are alive at once.  `tests/backend/test_memory.py` measures every op against them.  Sizes are those of
full operands, frames included; run-time sizes count at their caps.

Note [Copies of views].  An operand that is a view, or has another order of axes, may be copied to be contiguous; the planner adds
that (`backend.schedule.program_facts.scratch_memory`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final, TypeAlias

from ...typechecker.elements import FUNCTIONS, SUMMED, Kind, ResultKind
from ...typechecker.sizes.polynomials import ONE, ZERO, Size, number, product
from ...typechecker.sizes.size import maximum, minimum, upper_bound
from ..scalar.function_table import REDUCTIONS
from .phases import BLAS_CROSSOVER, Cells, Operands, uses_ordered_sums

# ---------------------------------------------------------------------------------------------------- scratch

QUERIES: Final = 1 << 16
"""Queries that are searched in one batch."""
TABLE_QUERIES: Final = 1 << 14
"""Queries that are looked up in a table of all values in one batch."""
CHUNK: Final = 1 << 12
"""Items that are Python objects in one batch."""
_PYTHON_NUMBER: Final = 96
"""Bytes of a Python number in a list, and of its result in another list."""
SCANNED_BYTES: Final = 1 << 19
"""Bytes of the blocks whose totals are computed at a time."""
SORT_BLOCK: Final = 1 << 14
"""Items of a sort that are moved in one batch."""
BIN_BLOCK: Final = 1 << 16
"""Items that are added to their bins in one batch."""
MIN_BLAS_SIDE: Final = 8
"""The least rows and columns for which BLAS computes exact products of integers."""
_REDUCTION_POINTS: Final = 1 << 19
"""Points that large reductions have room for (`schedule.program_facts.scratch_memory`)."""
_RANDOM_BYTES: Final = 1 << 21


Rule: TypeAlias = Callable[[Operands], Size]


def no_scratch(op: Operands) -> Size:
    return ZERO


def cell_by_cell(rule: Rule) -> Rule:
    """The rule of an op that runs cell by cell over a frame: the scratch of one cell, at most that of all, plus the cell's
    result."""

    def bytes_of_all(op: Operands) -> Size:
        return rule(op) + op.result_bytes() if op.framed else rule(op)

    return bytes_of_all


results: Final = cell_by_cell(no_scratch)
"""The rule of ops that need only the bytes of one cell's result."""


# ------------------------------------------------------------------------------- moving and selecting


@cell_by_cell
def rotate(op: Operands) -> Size:
    if not op.cells.args[1]:
        return ZERO
    length = op.cells.args[0][op.axis()].constant
    amounts = op.items(1) * 16
    if length is not None and length >= 64:
        return amounts
    return amounts + op.items(0) * (16 + op.size(0))


def gather(op: Operands) -> Size:
    indices = op.items(1) * (0 if op.kind(1) is Kind.I64 else 8)
    if op.attribute("fills") is True:
        indices = indices + op.items(1) * 10
    if not op.framed:
        return indices
    if not op.flags[1]:
        return indices + op.result_bytes()
    before = product(upper_bound(s) for s in op.cells.args[0][: op.axis()])
    return indices + op.items(1) * before * 9


def update(op: Operands) -> Size:
    indexed = op.attribute("indexed")
    assert isinstance(indexed, tuple)
    cell = op.cells.args[0]
    last = max((axis + 1 for axis, has in enumerate(indexed) if has), default=0)
    places, lines, used = op.frame, ZERO, 0
    casts = ZERO
    for axis, has in enumerate(indexed):
        if not has:
            lines = lines + upper_bound(cell[axis]) * 8
            if axis < last:
                places = places * upper_bound(cell[axis])
            continue
        used += 1
        places = places * product(upper_bound(s) for s in op.cells.args[used])
        casts = casts + op.items(used) * (0 if op.kind(used) is Kind.I64 else 8)
    simple = last == 1 and not op.framed
    values = op.items(len(op.args) - 1) * op.size(len(op.args) - 1) + op.result_bytes() if op.framed else ZERO
    return places * (8 if simple else 24) + lines + casts + values


def compress(op: Operands) -> Size:
    mask, arg = op.cells.args
    simple = len(arg) == 1 and mask == arg
    return ZERO if simple else op.items(0) * 8


def select_runs(op: Operands) -> Size:
    """Bytes of the selected cells of a run and their positions; those of a shard of one run in proportion."""
    return op.items(1) * op.size(1) + op.items(0) * 8


def sum_runs(op: Operands) -> Size:
    """Bytes of the selected cells of a run, their positions, and the lanes of their blocks."""
    return op.items(1) * (2 * op.size(1)) + op.items(0) * 8


def join_sums(op: Operands) -> Size:
    """Bytes of a block's items and lanes, and of the partial results of all blocks and their sums in pairs."""
    return op.items(0) * (2 * op.size(0))


mask_update: Final = cell_by_cell(lambda op: op.items(1) * 8)
expand: Final = cell_by_cell(lambda op: upper_bound(op.cells.args[1][op.axis()]) * 8)


def where(op: Operands) -> Size:
    rank = len(op.args[0].shape)
    return ZERO if rank == 1 else op.items(0) * (8 * (rank + 1))


# ------------------------------------------------------------------------------ sequences and products


def _is_truth(function: str, kind: Kind) -> bool:
    return kind is Kind.BOOL or FUNCTIONS[function].result is ResultKind.BOOL


def right_fold(function: str, kind: Kind, items: Size, length: Size, cells: Size) -> Size:
    """Bytes of a right fold on NumPy of `items` items in `cells` cells, each `length` long."""
    if _is_truth(function, kind):
        return length * 8 + items * (6 + kind.bytes)
    if function == "sub":
        return items * (2 * kind.bytes)
    return cells * (4 * max(kind.bytes, 8)) + (items * 2 if function == "lcm" else ZERO)


@cell_by_cell
def scan_totals(op: Operands) -> Size:
    """Scans of a few blocks at a time."""
    return op.result_bytes() * 2 + ONE * (SCANNED_BYTES * 3)


@cell_by_cell
def scan(op: Operands) -> Size:
    function, kind, items = op.function(), op.kind(0), op.items(0)
    if len(op.args) > 1:
        return items * (3 * kind.bytes)  # a block before the items, and its scan
    length = upper_bound(op.cells.args[0][op.axis()])
    if kind.is_float and function in SUMMED:
        return items
    if function in REDUCTIONS or (function == "gcd" and kind.is_integer):
        return ZERO
    moved = items * kind.bytes if op.axis() else ZERO
    if _is_truth(function, kind):
        return moved + length * 8 + items * 9
    if function == "sub":
        return moved + items * kind.bytes
    if function == "lcm" and kind.is_integer:
        return moved + items * (2 * kind.bytes + 2)
    if function == "div" or FUNCTIONS[function].associative:
        return moved
    return moved + items * (kind.bytes + 24)


def contract(op: Operands) -> Size:
    stacked = op.result_bytes() if op.framed else ZERO
    if not op.kind(0).is_integer:
        return stacked + _summed(op)
    return stacked + _exact(op.cells, op.items(0), op.items(1), op.result_items())


def _summed(op: Operands) -> Size:
    """Bytes of sums of products in the order of sums: for sides that are or may become vectors, and for small matrices; see
    `backend.library.products`."""
    left, right = op.cells.args
    rows, columns = product(map(upper_bound, left[:-1])), product(map(upper_bound, right[1:]))
    if not left or not right:
        return ZERO
    shared = upper_bound(left[-1])
    numbers = [size.constant for size in (rows, shared, columns) if size.constant is not None]
    if len(numbers) == 3 and ONE not in (rows, columns) and (op.framed or not uses_ordered_sums(*numbers)):
        return ZERO
    points = rows * shared * columns if len(numbers) == 3 else maximum(maximum(rows, columns) * shared, ONE * BLAS_CROSSOVER)
    points = points * op.frame
    kind = op.results[0].element.kind
    return minimum(points, ONE * _REDUCTION_POINTS) * (kind.bytes * (1 + kind.is_complex) + 9)


def _exact(cells: Cells, left: Size, right: Size, items: Size) -> Size:
    """Exact products of integers through binary64; see `backend.library.products`."""
    rows = product(upper_bound(s) for s in cells.args[0][:-1]).constant
    columns = product(upper_bound(s) for s in cells.args[1][1:]).constant
    if min(rows if rows is not None else MIN_BLAS_SIDE, columns if columns is not None else MIN_BLAS_SIDE) < MIN_BLAS_SIDE:
        return ZERO
    return left * 16 + right * 16 + items * 16


def decode(op: Operands) -> Size:
    left, right = op.cells.args
    rows = product(upper_bound(s) for s in left[:-1])
    radices = upper_bound(left[-1]) if left else ONE
    digits = upper_bound(right[0]) if right else ONE
    length = maximum(radices, digits)
    copies = op.result_bytes() if op.framed else ZERO
    if op.kind(0).is_integer:
        frames = op.frame
        return copies + rows * length * frames * 16 + _exact(op.cells, rows * length * frames, op.items(1), op.result_items())
    return copies + op.result_bytes() * 3 + minimum(length, CHUNK + 1) * _PYTHON_NUMBER


def encode(op: Operands) -> Size:
    columns = product(upper_bound(s) for s in op.cells.args[0][1:])
    digits = product(upper_bound(s) for s in op.cells.args[1])
    number = columns * digits * op.frame
    return number * (3 * max(op.size(0), 8) + 4)


# -------------------------------------------------------------------------------- orders and searches


def _parts(kind: Kind) -> int:
    return 2 if kind.is_complex else 1


def _is_real(kind: Kind) -> bool:
    return kind.is_float or kind.is_complex


def grade(op: Operands) -> Size:
    items, kind = op.items(0), op.kind(0)
    descending = op.attribute("descending") is True
    copied = _is_real(kind) or descending
    rank = len(op.cells.args[0])
    if rank == 1 and op.framed:
        return items * (10 + kind.bytes) if _is_real(kind) else items * 8
    cells = product(upper_bound(s) for s in op.cells.args[0][:1]) * op.frame
    if rank == 1:
        return items * (18 + (kind.bytes if copied else 0))
    keys = items * (8 * _parts(kind) + (8 * _parts(kind) if copied else 0))
    return keys + cells * (34 if not op.framed else 66)


def sort(op: Operands) -> Size:
    """Bytes of a sort in place, which reverses, counts and searches for NaN and zeros block by block; complex numbers are
    graded."""
    items, kind = op.items(0), op.kind(0)
    return items * 74 if kind.is_complex else minimum(items, 8 * SORT_BLOCK if op.framed else SORT_BLOCK) * 18


SORTED_RUNS: Final = 64
"""The most runs that a vector is sorted in."""


def sort_runs(op: Operands) -> Size:
    """Bytes of a sort in place, those of a shard of one run in proportion."""
    return minimum(op.items(0), SORTED_RUNS * SORT_BLOCK) * 18 + _padded(op)


def grade_runs(op: Operands) -> Size:
    return op.items(0) * (26 + op.kind(0).bytes) + _padded(op)


def _padded(op: Operands) -> Size:
    """Bytes of the items before they are padded to whole runs."""
    return ZERO if op.items(0) == op.result_items() else op.result_bytes()


def merge_runs(op: Operands) -> Size:
    """Bytes of merges from one buffer to another, or of a sort of all runs."""
    items = op.result_items()
    return items * (op.kind(0).bytes + 18) if len(op.args) == 1 else items * (3 * op.kind(1).bytes + 34)


@cell_by_cell
def grade_by(op: Operands) -> Size:
    items = op.items(1)
    return items * 18 + minimum(items, TABLE_QUERIES) * 40 + op.items(0) * 40 + 4104


def first_occurrence(op: Operands) -> Size:
    items, kind = op.items(0), op.kind(0)
    cells = product(upper_bound(s) for s in op.cells.args[0][:1]) * op.frame
    several = len(op.cells.args[0]) > 1 or kind.is_complex
    single = len(op.cells.args[0]) == 1 and not op.framed and not _is_real(kind)
    keys = ZERO if single else items * (17 if several and _is_real(kind) else 8) * _parts(kind)
    ordered = maximum(cells * 27, cells * 24 + minimum(cells, TABLE_QUERIES) * 40)
    if single and kind.bytes == 1:  # looked up in a table
        ordered = cells * 17 + minimum(cells, TABLE_QUERIES) * 40 + _table(kind, kind, cells)
    return keys + ordered + (cells * 36 if op.framed else ZERO)


def _search(op: Operands, table: int, arg: int, *, by_items: bool) -> Size:
    """Bytes of `index_of` (by major cells) and `member_of` (by items), of full operands."""
    t_kind, a_kind = op.kind(table), op.kind(arg)
    t_items, a_items = op.items(table), op.items(arg)
    every = t_items + a_items
    shape = op.cells.args[table]
    single = (by_items or len(shape) <= 1) and not t_kind.is_complex and not a_kind.is_complex
    frames = op.frame if op.framed else ONE
    a_whole = a_items if not op.framed or op.flags[arg] else a_items * frames
    t_rows = t_items if by_items or len(shape) <= 1 else op.frame * upper_bound(shape[0])
    a_rows = a_whole if single else op.result_items()
    several = op.framed and op.flags[table]
    through_table = minimum(a_rows, TABLE_QUERIES) * 40 + _table(t_kind, a_kind, t_rows + a_rows)
    lookup = maximum(t_rows * 17 + minimum(a_rows, QUERIES) * 48, through_table)
    if t_kind.bytes == a_kind.bytes == 1:
        lookup = through_table
    copied = (a_whole - a_items) * a_kind.bytes if op.framed and not op.flags[arg] else ZERO
    if single:
        width = max(t_kind.bytes, a_kind.bytes)
        cast = width if t_kind is not a_kind else 0
        keys = every * cast + ((t_items + a_whole) * (width + 1) if _is_real(t_kind) or _is_real(a_kind) else ZERO)
        total = lookup + keys + copied
    else:
        parts = max(_parts(t_kind), _parts(a_kind))
        real = _is_real(t_kind) or _is_real(a_kind)
        total = (t_items + a_whole) * ((25 if real else 16) * parts) + (t_rows + a_rows) * 31 + copied
        total = total + minimum(a_rows, QUERIES) * 48
    if several:
        total = total + (t_rows + a_rows) * 64
    return total


def _table(table: Kind, arg: Kind, rows: Size) -> Size:
    """Bytes of a table of all values between the least and the greatest."""
    return Size({(): 4104}) if table.bytes == arg.bytes == 1 else rows * 8 + 4104


def index_of(op: Operands) -> Size:
    return _search(op, 0, 1, by_items=False)


def member_of(op: Operands) -> Size:
    return _search(op, 1, 0, by_items=True) + op.result_items() * 8


@cell_by_cell
def interval_index(op: Operands) -> Size:
    items, table = op.items(1), op.items(0)
    kind = op.kind(0)
    if len(op.cells.args[0]) <= 1:
        sort = 32 + kind.bytes + 1  # at most; for ascending items, the position where each bound is passed
        cast = 0 if op.kind(0) is op.kind(1) else 8
        return table * (sort + cast) + items * (1 + cast)
    rows = op.result_items() + upper_bound(op.cells.args[0][0])
    return (items + table) * ((24 if _is_real(kind) else 16) * _parts(kind)) + rows * 45


@cell_by_cell
def find(op: Operands) -> Size:
    return op.items(1) * (3 + max(1, len(op.cells.args[1]))) + op.items(0) * (16 * max(1, len(op.cells.args[1])))


def match(op: Operands) -> Size:
    return maximum(op.items(0), op.items(1)) if op.framed else op.items(0)


# --------------------------------------------------------------------------------------------- the rest


def key_reduce(op: Operands) -> Size:
    function, kind = op.function(), op.kind(1)
    cells, items, groups = op.items(0), op.items(1), op.result_items()
    if op.framed:
        cells = maximum(cells, product(upper_bound(s) for s in op.cells.args[0]) * op.frame)
        items = maximum(items, product(upper_bound(s) for s in op.cells.args[1]) * op.frame)
    cast = ZERO if op.kind(0) is Kind.I64 else cells * 8
    if function in REDUCTIONS or (function == "gcd" and kind.is_integer):
        block = minimum(items, ONE * BIN_BLOCK) * (8 + 2 * kind.bytes)
        copied = items * kind.bytes if op.framed else ZERO
        return cast + cells * (27 if function == "gcd" else 10) + block + copied + groups * (2 * kind.bytes + 2)
    ordered = cells * 26 + items * kind.bytes
    group = right_fold(function, kind, items, cells, ONE)
    together = minimum(cells, groups) * 40 + minimum(items, groups) * (4 * max(kind.bytes, 8))
    return cast + ordered + maximum(group, together)


@cell_by_cell
def random(op: Operands) -> Size:
    return minimum(op.result_items() * 80, _RANDOM_BYTES) + 1024


def format(op: Operands) -> Size:
    return op.items(0) * (120 * _parts(op.kind(0)))


def read_text(op: Operands) -> Size:
    """Bytes of rows of text and their numbers as Python objects."""
    return op.items(0) * 8 + op.result_items() * 120


# ------------------------------------------------------------------------------------- transforms and linear algebra
#
# Bytes that transforms and linear algebra need while they run, what LAPACK and pocketfft take for themselves included.
#
# Note [Transforms].  pocketfft holds twiddles and one line beside the line that it transforms.  A length n with a prime factor
# beyond its root goes by Bluestein's convolution of length m, the least product of 2 3 5 7 11 that is at least 2n-1: the chirp
# (n), its transform (m/2), the twiddles of m, and two lines of m; for real numbers a complex line of n too.  It transforms two
# lines at once, in SIMD vectors, and the last of an odd number while it still holds their memory.  An unknown n counts as such a
# length, with m at most 2.125 n.
#
# Note [LAPACK].  NumPy passes each matrix of a stack to LAPACK in buffers of its own: operands, results, and the workspace that
# LAPACK asks for.  All other copies are of full stacks: that of `numpy.linalg.qr`, and those of `backend.library.linear`.

_ALWAYS_PACKED = 50
_LARGEST_FACTORED = 1 << 40
_BLOCK = 64
"""Columns that LAPACK processes in one block."""
_DOUBLE = frozenset({Kind.F64, Kind.C128})


# ------------------------------------------------------------------------------------------ transforms


def transform(op: Operands) -> Size:
    """Bytes of `fft ifft rfft irfft`, which transform lines one after the other.  See Note [Transforms]."""
    kind, result = op.kind(0), op.results[0].element.kind
    cast = ZERO if kind in _DOUBLE else op.items(0) * (16 if kind.is_complex else 8)
    converted = ZERO if result in _DOUBLE else op.result_items() * (16 if result.is_complex else 8)
    real = not (kind.is_complex and result.is_complex)
    *frame, line = op.results[0].shape if kind.is_complex else op.args[0].shape
    length, lanes = upper_bound(line), 1 if product(upper_bound(size) for size in frame).constant in (0, 1) else 2
    if length.constant is not None:
        return cast + converted + number(_line_bytes(length.constant, real, lanes))
    return cast + converted + length * (16 * (5 + real + 5 * lanes))


def _line_bytes(length: int, real: bool, lanes: int) -> int:
    if length < _ALWAYS_PACKED or (length < _LARGEST_FACTORED and _largest_factor(length) ** 2 <= length):
        return 2 * lanes * length * (8 if real else 16)
    convolved = _smooth(2 * length - 1)
    return 16 * (length * (1 + real * lanes) + convolved // 2 + (1 + 2 * lanes) * convolved + 8)


@cache
def _largest_factor(length: int) -> int:
    """The largest prime factor of a length."""
    remaining, divisor, largest = length, 2, 1
    while divisor * divisor <= remaining:
        while remaining % divisor == 0:
            remaining, largest = remaining // divisor, divisor
        divisor += 1 if divisor == 2 else 2
    return max(remaining, largest)


@cache
def _smooth(minimum_length: int) -> int:
    """The least product of 2 3 5 7 11 that is at least `minimum_length`."""
    best = 1 << (minimum_length - 1).bit_length()
    odd = [1]
    for prime in (3, 5, 7, 11):
        for value in list(odd):
            while (value := value * prime) < best:
                odd.append(value)
    for value in odd:
        power = -(-minimum_length // value)
        best = min(best, value << (power - 1).bit_length())
    return best


# -------------------------------------------------------------------------------------- linear algebra


class _Matrices:
    """Sizes of a stack of matrices: `frame` of them, each `rows` by `columns`, of items of `width` bytes in binary64.

    `across` and `down` are the items of the two factors of a thin factorisation, of rank min(rows, columns)."""

    def __init__(self, op: Operands, which: int) -> None:
        self.op = op
        *frame, rows, columns = [upper_bound(size) for size in op.args[which].shape]
        self.rows, self.columns, self.frame = rows, columns, product(frame)
        self.rank = minimum(rows, columns)
        self.complex = op.kind(which).is_complex
        self.width = 16 if self.complex else 8
        self.cell = rows * columns
        self.across, self.down = rows * self.rank, self.rank * columns
        self.panels = columns * _BLOCK

    def bytes(self, items: Size) -> Size:
        """Bytes of `items` extra items, and of the binary64 copies of narrower operands and results."""
        op, wide = self.op, ZERO
        for which in range(len(op.args)):
            wide = wide if op.kind(which) in _DOUBLE else wide + op.items(which) * self.width
        for result in op.results:
            written = product(upper_bound(size) for size in result.shape) * self.width
            wide = wide if result.element.kind in _DOUBLE else wide + written
        return items * self.width + wide


def determinant(op: Operands) -> Size:
    a = _Matrices(op, 0)
    return a.bytes(a.cell + a.rows + a.frame)


def cholesky(op: Operands) -> Size:
    a = _Matrices(op, 0)
    return a.bytes(a.cell)


def qr(op: Operands) -> Size:
    a = _Matrices(op, 0)
    signs = a.frame * a.across  # Q with its signs while it has none yet
    return a.bytes(maximum(a.frame * a.cell + a.across + a.cell + a.panels, signs + a.frame * a.down))


def svd(op: Operands) -> Size:
    """Bytes of a decomposition by divide and conquer (`gesdd`)."""
    a = _Matrices(op, 0)
    work = a.rank * a.rank * 5 + a.rank * (4 * _BLOCK)
    safe = a.frame * a.cell  # a copy with non-finite items replaced
    return a.bytes(maximum(safe + a.cell + a.across + a.down + work, a.frame * (a.across * 2 + a.down)))


def eigh(op: Operands) -> Size:
    """Bytes of a decomposition by divide and conquer (`syevd`, `heevd`)."""
    a = _Matrices(op, 0)
    return a.bytes(maximum(a.frame * a.cell + a.cell * 3 + a.rows * _BLOCK, a.frame * a.cell * 2))


def solve(op: Operands) -> Size:
    a = _Matrices(op, 1)
    return a.bytes(_solving(a, upper_bound(op.args[0].shape[-1])))


def inverse(op: Operands) -> Size:
    a = _Matrices(op, 0)
    identity = a.cell if a.rows == a.columns else ZERO
    return a.bytes(_solving(a, a.rows) + identity)


def _solving(a: _Matrices, right: Size) -> Size:
    """Items to solve a stack: square matrices by LU and then a rank check, others by QR and then a triangular solve."""
    triangle, solution = a.columns * a.columns, a.columns * right
    looked = a.frame * triangle + maximum(triangle + a.panels, a.frame * triangle)
    square = maximum(triangle + solution + a.columns, a.frame * maximum(triangle, solution), looked)
    if a.rows == a.columns:
        return square
    factored = a.frame * (a.cell + a.across) + maximum(a.across + a.cell + a.panels, a.frame * a.down)
    solved = a.frame * (a.across * (2 if a.complex else 1) + triangle + solution) + triangle + solution
    return maximum(square, factored, solved)
