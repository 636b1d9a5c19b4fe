"""Kernels between pages that must not be touched, on one thread and several: `python -m rho.tests.kernels.guarded`.

Operands and results lie flush against an inaccessible page, so that a load or store beside them ends the process (the test that
runs this sees how).  Then several threads run and compile at once.  All threads have the small stacks that some C libraries give.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import rho
from rho.backend.cpu import kernels, parallel_for, phases, templates
from rho.backend.cpu.numpy_reductions import order_columns, scan_axis
from rho.backend.cpu.numpy_scalars import UFUNC_FUNCTIONS
from rho.backend.graph.phases import LibraryPhase, PhaseId, ValueId
from rho.backend.jit import tiering
from rho.backend.library import hash, sort as sorting
from rho.backend.lower.loop_order import BLOCK
from rho.backend.vm import run_state
from rho.tests.kernels.phases import SPAN, apply, both, data, phase, projection, read, same_bits
from rho.typechecker.elements import Kind

PAGE = mmap.PAGESIZE
_libc = ctypes.CDLL(None, use_errno=True)
_kept: list[mmap.mmap] = []
_sides = iter(np.random.default_rng(5).integers(0, 2, 1 << 20).tolist())


def guarded(shape: Sequence[int], dtype: np.dtype[Any]) -> Any:
    """An array with a page on one side that nobody may touch."""
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    pages = -(-size // PAGE) * PAGE
    memory = mmap.mmap(-1, pages + 2 * PAGE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for fence in (start, start + PAGE + pages):
        if _libc.mprotect(ctypes.c_void_p(fence), ctypes.c_size_t(PAGE), 0):
            raise OSError(ctypes.get_errno(), "mprotect")
    _kept.append(memory)
    del _kept[:-64]  # those before are unmapped once no array shows them
    return np.ndarray(shape, dtype, memory, PAGE if next(_sides) else PAGE + pages - size)


def inside(array: Any) -> Any:
    made = guarded(array.shape, array.dtype)
    made[...] = array
    return made


def check(name: object, made: Any, arrays: Sequence[Any], threads: int) -> None:
    for left, right in both(made, [inside(a) for a in arrays], threads):
        assert same_bits(left, right), name


def maps(kind: Kind, threads: int) -> None:
    most, least = ("or", "and") if kind is Kind.BOOL else ("max", "min")
    body = [read(0, kind), read(1, kind), apply(most, (0, 1), kind), apply(least, (2, 0), kind)]
    for n in (1, 15, 129, 1153, 4099):
        line = projection([n], [n], [0])
        back = projection([n], [n], [0], [-1], [n - 1])
        check(("map", n), phase([n], [line, back], body, [2, 3]), [data(kind, n, 1), data(kind, n, 2)], threads)
    for rows, columns in ((129, 3), (200, 2), (71, 8), (70, 24), (67, 40)):  # rows of a few items, one item a row, one a column
        space = [rows, columns]
        every, left, below = projection(space, space, [0, 1]), projection(space, [rows], [0]), projection(space, [columns], [1])
        few = [read(0, kind), read(1, kind), read(2, kind), apply(most, (0, 1), kind), apply(least, (3, 2), kind)]
        arrays = [data(kind, rows * columns, 3).reshape(rows, columns), data(kind, rows, 4), data(kind, columns, 5)]
        check(("flat", rows, columns), phase(space, [every, left, below], few, [4]), arrays, threads)
    for rows, columns in ((3, 130), (257, 33), (5, 1153)):
        plain, turned = projection([rows, columns], [rows, columns], [0, 1]), projection([rows, columns], [columns, rows], [1, 0])
        arrays = [data(kind, rows * columns, 3).reshape(rows, columns), data(kind, rows * columns, 4).reshape(columns, rows)]
        check(("rows", rows, columns), phase([rows, columns], [plain, turned], body, [2]), arrays, threads)


def reductions(kind: Kind, function: str, threads: int) -> None:
    body = [read(0, kind)]
    for cells, length in ((1, 9000), (3, 517), (130, 40), (1153, 33), (1025, 3), (2049, 300), (7, 4097)):
        across = projection([cells, length], [length, cells], [1, 0])
        along = projection([cells, length], [cells, length], [0, 1])
        array = data(kind, cells * length, 5)
        check(("across", function, cells, length), phase([cells, length], [across], body, [0], function),
              [array.reshape(length, cells)], threads)  # fmt: skip
        check(("along", function, cells, length), phase([cells, length], [along], body, [0], function),
              [array.reshape(cells, length)], threads)  # fmt: skip


SCANNED = (
    ((1,), 0), ((70,), 0), ((4099,), 0), ((20, 9), 1), ((17, 100), 1),
    ((90_001,), 0), ((5, 130), 1), ((131, 3), 0), ((3, 67, 41), 1), ((66, 530), 0),
)  # fmt: skip


def scans(kind: Kind, function: str, threads: int) -> None:
    for shape, axis in SCANNED:
        array = inside(data(kind, int(np.prod(shape)), 6).reshape(shape))
        for one in (array, array[::-1], array[..., ::2], *repeated(array)):
            made = templates.scan_lines(function, kind, one, axis, threads)
            assert made is None or same_bits(made, _scanned(function, kind, one, axis)), (function, kind, shape)


def repeated(array: Any) -> list[Any]:
    """The array with a first, a middle and a last axis that repeats one item."""
    one = [(*(slice(None),) * axis, slice(0, 1)) for axis in range(array.ndim)]
    middle = array[:, np.newaxis]
    return [*(np.broadcast_to(array[part], array.shape) for part in one),
            np.broadcast_to(middle, (len(array), 5, *array.shape[1:]))]  # fmt: skip


def decided() -> None:
    """What follows the block that decides is never touched."""
    items = 2 * BLOCK
    memory = mmap.mmap(-1, items * 8)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    array = np.ndarray((items,), np.float64, memory)
    array[BLOCK - 1] = 1
    if _libc.mprotect(ctypes.c_void_p(start + BLOCK * 8), ctypes.c_size_t(BLOCK * 8), 0):
        raise OSError(ctypes.get_errno(), "mprotect")
    _kept.append(memory)
    assert rho.compile("{∨/⍵>0}")(array) and not rho.compile("{∧/⍵≤0}")(array)


def _scanned(function: str, kind: Kind, array: Any, axis: int) -> Any:
    ordered = kind.is_float and function == "add"
    with np.errstate(all="ignore"):
        if ordered:
            return scan_axis(function, kind, array, axis)
        return UFUNC_FUNCTIONS[function].accumulate(array, axis, array.dtype)


def selections(kind: Kind, threads: int) -> None:
    for shape, axis in SCANNED:
        array = inside(data(kind, int(np.prod(shape)), 8).reshape(shape))
        for share in (0.0, 0.03, 0.6, 1.0):
            mask = inside(np.random.default_rng(1).random(shape[axis]) < share)
            for one in (array, *repeated(array)):
                along = axis if one.ndim == array.ndim else axis + (axis > 0)
                own = mask if one.shape[along] == len(mask) else mask[:1]
                made = templates.compress_items(own, one, along, threads)
                assert made is None or same_bits(made, np.compress(own, one, along)), (kind, shape, share)
            flags = inside(np.random.default_rng(2).random(shape) < share)
            if flags.ndim < 3:
                found = templates.true_positions(flags, threads)
                assert np.array_equal(found, np.argwhere(flags) if flags.ndim == 2 else np.flatnonzero(flags))


def columns(kind: Kind, threads: int) -> None:
    """Outer products that are reduced, operands of cells that lie in rows or apart."""
    body = [read(0, kind), read(1, kind), read(2, kind), apply("max", (0, 1), kind), apply("min", (3, 2), kind)]
    for cells, length in ((2, 5), (3, 4), (17, 3), (130, 40), (1153, 7)):
        apart = projection([cells, length], [cells, 3], [0, 0], [1, 0], [0, 2])
        line, rows = projection([cells, length], [cells], [0]), projection([cells, length], [length], [1])
        arrays = [data(kind, cells * 3, 1).reshape(cells, 3), data(kind, length, 2), data(kind, cells, 3)]
        for function in ("argmin", "argmax", "max"):
            check(("columns", function, cells, length), phase([cells, length], [apart, rows, line], body, [4], function), arrays,
                  threads)  # fmt: skip


def orders(kind: Kind, threads: int) -> None:
    for count in (2, 9, 1153, 4099):
        items = inside(data(kind, count, 9))
        made = sorting.graded(items, kind, False, threads)
        assert made is None or np.array_equal(made, np.argsort(order_columns(items)[0], kind="stable")), (kind, count)
        for one in (items, np.sort(items), np.sort(items)[::-1]):
            found = sorting.sorted_vector(inside(one), kind, True, threads)
            wanted = one[np.argsort(order_columns(one, descending=True)[0], kind="stable")]
            assert found is None or same_bits(found, wanted), (kind, count)
        rows = inside(np.resize(items, (7, count)))
        made = sorting.graded(rows, kind, False, threads)
        assert made is None or np.array_equal(made, np.argsort(order_columns(rows)[0], 1, kind="stable")), (kind, count)


def searches(threads: int) -> None:
    for count in (1, 9, 4099):
        words = inside(np.random.default_rng(count).integers(0, 1 << 40, count))
        assert hash.first_of_equal(words) is not None
        assert np.array_equal(words[hash.positions(words, words, threads)], words)


def short_rows(kind: Kind, threads: int) -> None:
    """Rows that stay in registers, which end inside a vector."""
    body = [read(0, kind), read(1, kind), apply("sub", (0, 1), kind), apply("mul", (2, 2), kind)]
    for cells, length in ((16, 6), (17, 33), (40, 17), (130, 100), (33, 256)):
        left, right = projection([3, cells, length], [3, length], [0, 2]), projection([3, cells, length], [cells, length], [1, 2])
        arrays = [data(kind, 3 * length, 1).reshape(3, length), data(kind, cells * length, 2).reshape(cells, length)]
        check(("short", cells, length), phase([3, cells, length], [left, right], body, [3, 2], "add"), arrays, threads)


def gathers(kind: Kind, threads: int) -> None:
    """Items and rows by indices, some of them outside."""
    attributes = {"axis": 0, "checked": True, "fills": False}
    phase_of_gather = LibraryPhase(PhaseId(1), SPAN, "gather", (ValueId(0), ValueId(1)), (ValueId(2),), attributes, (), ())
    for rows, cell, count in ((1, (), 1), (7, (), 1153), (900, (), 130), (70, (33,), 41), (3, (16,), 517)):
        table = inside(data(kind, rows * int(np.prod(cell)), 1).reshape(rows, *cell))
        indices = inside(np.random.default_rng(2).integers(0, rows, count))
        run = templates.gather_run(phase_of_gather, [kind, Kind.I64], table, indices, threads)
        assert run is not None
        assert same_bits(np.ascontiguousarray(run.gathered(table, indices)), table[indices]), (rows, cell, count)
        for bad in (-1, rows, 1 << 60, -(1 << 63)):
            indices[count // 2] = bad
            assert run.gathered(table, indices) is None


def complexes(kind: Kind, threads: int) -> None:
    part = Kind.F64 if kind is Kind.C128 else Kind.F32
    body = [read(0, kind), read(1, kind), apply("mul", (0, 1), kind), apply("abs", (2,), kind)]
    for n in (1, 15, 129, 4099):
        line, back = projection([n], [n], [0]), projection([n], [n], [0], [-1], [n - 1])
        items = [inside(data(part, 2 * n, seed).view(np.complex128 if kind is Kind.C128 else np.complex64)) for seed in (1, 2)]
        for nodes, function in (([2, 3], None), ([2, 3], "add")):
            for left, right in both(phase([n], [line, back], body, nodes, function), items, threads):
                assert np.array_equal(left, right, equal_nan=True), (kind, n)


def together(count: int) -> None:
    """Threads that compile, load and run the same and other kernels, some of them in the background."""
    phases._kept.clear()
    failures: list[BaseException] = []
    begin = threading.Barrier(count)

    def work(own: int) -> None:
        try:
            begin.wait()
            for turn in range(12):
                n = 9000 + 16 * turn
                steps = [apply("add", (0, place), Kind.F64) for place in range(1 + (own + turn) % 4)]
                made = phase([n], [projection([n], [n], [0])], [read(0, Kind.F64), *steps], [len(steps)])
                array = np.arange(float(n))
                kernel = phases.compile_structured(made, lambda value: Kind.F64, lambda size: size.evaluate({}), 2)
                for _ in range(6):
                    (result,) = kernel({made.reads[0].value: array}, None)
                    assert np.array_equal(result, array * (len(steps) + 1))
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(own,)) for own in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures


def main() -> None:
    os.environ[tiering.SWITCH] = "always"
    parallel_for.PARALLEL = templates.PARALLEL = templates.PARALLEL = 0  # type: ignore[misc]
    sorting._PARTED = 0  # type: ignore[misc]
    kernels.room = templates.room = templates.room = sorting.room = guarded  # type: ignore[attr-defined]
    decided()
    for threads in (1, 2, 3):
        searches(threads)
        complexes(Kind.C128, threads)
        complexes(Kind.C64, threads)
        for kind in (Kind.F64, Kind.F32, Kind.BOOL, Kind.U8):
            maps(kind, threads)
            reductions(kind, "or" if kind is Kind.BOOL else "max", threads)
            if kind is not Kind.BOOL:
                columns(kind, threads)
            if kind.is_float:
                reductions(kind, "add", threads)
                short_rows(kind, threads)
                scans(kind, "add", threads)
            scans(kind, "or" if kind is Kind.BOOL else "max", threads)
            scans(kind, "ne" if kind is Kind.BOOL else "min", threads)
            selections(kind, threads)
            gathers(kind, threads)
            orders(kind, threads)
    del os.environ[tiering.SWITCH]
    kernels.STREAMING_BYTES, kernels.room = 1 << 12, run_state.pooled_empty  # type: ignore[misc]
    run_state.MIN_POOLED = 0  # type: ignore[misc]
    for threads in (1, 2):
        maps(Kind.F64, threads)
    tiering.COMPILE_NANOSECONDS = 2e5  # type: ignore[misc]
    tiering.LOAD_NANOSECONDS = 1e5  # type: ignore[misc]
    together(5)


def with_small_stacks(work: Callable[[], None]) -> None:
    """In a thread with a stack of 128 KiB, as those it starts have."""
    failures: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as failure:
            failures.append(failure)

    threading.stack_size(128 << 10)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failures:
        raise failures[0]


if __name__ == "__main__":
    with_small_stacks(main)
