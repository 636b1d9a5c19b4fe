"""Grades, equality of cells, find, interval index: library ops agree with the reference interpreter."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from rho.backend.jit.compiler import address_of
from rho.backend.library import hash, search
from rho.backend.reference import arrays
from rho.backend.reference.arrays import assemble, cells
from rho.backend.vm.values import Array, array, scalar
from rho.tests.backend.library.agreeing import ALL, ORDERED, SHAPES, compare, fresh, lifted, run
from rho.typechecker.elements import Kind


@pytest.mark.parametrize("kind", ALL)
def test_grades(kind: Kind) -> None:
    for descending in (False, True):

        def reference(v: Array, descending: bool = descending) -> Array:
            return arrays.grade(v, descending)

        for shape in [*SHAPES[1:], (40,), (30, 2), (600,), (520, 2)]:
            compare("grade", [fresh(kind, shape, 6)], reference, descending=descending)
        for frame, cell in (((2,), (5,)), ((2, 2), (4, 2)), ((3,), (0,))):
            lifted("grade", [fresh(kind, (*frame, *cell), 2)], (True,), frame, reference, descending=descending)
        lifted("grade", [fresh(kind, (0, 3))], (True,), (0,), reference, cell=(Kind.I64, (3,)), descending=descending)


@pytest.mark.parametrize("width", [8, 20, 40, 63])
def test_grades_of_many_integers_are_stable(width: int) -> None:
    draw = np.random.default_rng(width)
    keys = draw.integers(-(2 ** (width - 1)), 2 ** (width - 1), 3000)
    keys[1::3] = keys[::3]
    value = array(Kind.I64, (3000,), keys.tolist())
    for descending in (False, True):
        found = run("grade", [value], [(Kind.I64, (3000,))], {"descending": descending})[0]
        assert found.tolist() == sorted(range(3000), key=lambda i: -int(keys[i]) if descending else int(keys[i]))


def test_grade_by() -> None:
    for order in ("", "ba", "aab⍴", "⍴ "):
        for shape, descending in itertools.product([(0,), (7,), (4, 3), (2, 0)], (False, True)):
            args = [array(Kind.CHAR, (len(order),), order), fresh(Kind.CHAR, shape, 3)]
            compare(
                "grade_by", args, lambda o, v, descending=descending: arrays.grade_by(o, v, descending), descending=descending
            )


@pytest.mark.parametrize("kind", ALL)
def test_equality_of_cells(kind: Kind) -> None:
    for shape in [*SHAPES[1:], (50,), (40, 2), (30, 3), (12, 40)]:
        compare("first_occurrence", [fresh(kind, shape, 1)], arrays.first_occurrence)
        for frame in [(), (0,), (6,), (2, 3)]:
            args = [fresh(kind, shape, 2), fresh(kind, (*frame, *shape[1:]), 3)]
            compare("index_of", args, arrays.index_of)
            compare("member_of", [args[1], args[0]], arrays.member_of)
            assert_match(args[0], args[1])
            assert_match(args[0], args[0])
    args = [fresh(kind, (3, 4), 2), fresh(kind, (3, 2), 3)]
    for flags in ((True, True), (True, False), (False, True)):
        pair = [fresh(kind, (3, 4) if flags[0] else (4,), 2), fresh(kind, (3, 2) if flags[1] else (2,), 3)]
        lifted("index_of", pair, flags, (3,), arrays.index_of)
        lifted("member_of", pair[::-1], flags[::-1], (3,), arrays.member_of)
        rows = [fresh(kind, (3, 4, 2) if flags[0] else (4, 2), 2), fresh(kind, (3, 5, 2) if flags[1] else (5, 2), 3)]
        lifted("index_of", rows, flags, (3,), arrays.index_of)
        empty = [fresh(kind, (3, 0) if flags[0] else (0,), 2), fresh(kind, (3, 2) if flags[1] else (2,), 3)]
        lifted("index_of", empty, flags, (3,), arrays.index_of)
    lifted("index_of", [fresh(kind, (0, 4)), fresh(kind, (0, 2))], (True, True), (0,), arrays.index_of, cell=(Kind.I64, (2,)))
    lifted("first_occurrence", [fresh(kind, (2, 2, 6, 2), 2)], (True,), (2, 2), arrays.first_occurrence)
    lifted("member_of", [args[1], args[0]], (True, True), (3,), arrays.member_of)
    lifted("first_occurrence", [args[0]], (True,), (3,), arrays.first_occurrence)
    for framed in ((True, True), (False, True), (True, False)):
        pair = [fresh(kind, (3, 2) if f else (2,), 4) for f in framed]
        lifted("match", pair, framed, (3,), lambda a, b: scalar(Kind.BOOL, arrays.match(a, b)))


def assert_match(left: Array, right: Array) -> None:
    compare("match", [left, right], lambda a, b: scalar(Kind.BOOL, arrays.match(a, b)))


def test_wide_range_tables() -> None:
    draw = np.random.default_rng(0)
    table = draw.integers(-(2**63), 2**63 - 1, 3000).tolist()
    table[500] = table[20]
    arg = table[::-1][:2000] + draw.integers(-(2**63), 2**63 - 1, 100).tolist()
    args = [array(Kind.I64, (3000,), table), array(Kind.I64, (2100,), arg)]
    first: dict[int, int] = {}
    for i, v in enumerate(table):
        first.setdefault(v, i)
    assert run("index_of", args, [(Kind.I64, (2100,))], {})[0].tolist() == [first.get(v, 3000) for v in arg]
    firsts = run("first_occurrence", args[:1], [(Kind.BOOL, (3000,))], {})[0]
    assert firsts.tolist() == [first[v] == i for i, v in enumerate(table)]


def test_rows_too_wide_for_a_word() -> None:
    draw = np.random.default_rng(1)
    rows = draw.integers(-(2**63), 2**63 - 1, (2000, 3))
    rows[1000:] = rows[draw.permutation(1000)]
    arg = rows[draw.integers(0, 2000, 500)].copy()
    arg[::5, 2] ^= 1
    first: dict[tuple[int, ...], int] = {}
    for i, row in enumerate(map(tuple, rows.tolist())):
        first.setdefault(row, i)
    args = [array(Kind.I64, m.shape, m.reshape(-1).tolist()) for m in (rows, arg)]
    assert run("index_of", args, [(Kind.I64, (500,))], {})[0].tolist() == [first.get(tuple(r), 2000) for r in arg.tolist()]


def test_text_never_equals_numbers() -> None:
    text, numbers = array(Kind.CHAR, (2,), "ab"), array(Kind.I64, (2,), [97, 98])
    for left, right in ((text, numbers), (numbers, text), (array(Kind.CHAR, (0,), ""), array(Kind.I64, (0,), []))):
        assert_match(left, right)
        compare("index_of", [left, right], arrays.index_of)
        compare("member_of", [left, right], arrays.member_of)
        compare("find", [left, right], arrays.find)


@pytest.mark.parametrize("kind", ALL)
def test_find(kind: Kind) -> None:
    shapes = [
        ((), (5,)),
        ((1,), (5,)),
        ((2,), (30,)),
        ((0,), (3,)),
        ((0,), (0,)),
        ((2,), (1,)),
        ((2,), (3, 4)),
        ((2, 2), (4, 5)),
        ((2, 2), (5,)),
        ((3, 0), (4, 2)),
        ((0, 3), (4, 2)),
        ((), ()),
        ((2, 1, 2), (3, 2, 4)),
        ((1,), (0, 2)),
        ((3,), (40,)),
    ]
    for pattern, shape in shapes:
        compare("find", [fresh(kind, pattern, 3), fresh(kind, shape, 4)], arrays.find)
    value = array(Kind.CHAR, (12,), "abracadabrab")
    for pattern_text in ("abra", "ab", "a", "zz", "rab", "abracadabrab"):
        compare("find", [array(Kind.CHAR, (len(pattern_text),), pattern_text), value], arrays.find)
    for framed in ((True, True), (False, True), (True, False)):
        pair = [fresh(kind, (2, 2) if framed[0] else (2,), 5), fresh(kind, (2, 9) if framed[1] else (9,), 6)]
        lifted("find", pair, framed, (2,), arrays.find)


@pytest.mark.parametrize("kind", ORDERED)
def test_interval_index(kind: Kind) -> None:
    def ascending(value: Array) -> Array:
        order = [int(i) for i in arrays.grade(value, False).data]  # type: ignore[arg-type]
        rows = cells(value, 1)
        return assemble(kind, value.shape[:1], value.shape[1:], [rows[i] for i in order])

    for size, frame in itertools.product((0, 1, 6), [(), (0,), (7,), (2, 3)]):
        compare("interval_index", [ascending(fresh(kind, (size,))), fresh(kind, frame, 1)], arrays.interval_index)
        compare("interval_index", [ascending(fresh(kind, (size, 2))), fresh(kind, (*frame, 2), 1)], arrays.interval_index)
    for table in (fresh(kind, (5,)), fresh(kind, (0,)), ascending(fresh(kind, (600,)))):  # items that ascend are not searched for
        compare("interval_index", [table, ascending(fresh(kind, (700,), 1))], arrays.interval_index)
    lifted("interval_index", [fresh(kind, (2, 3)), fresh(kind, (2, 4), 1)], (True, True), (2,), arrays.interval_index)


def test_rows_with_a_nan_are_in_no_interval_where_kernels_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such rows have keys, the greatest: where kernels search among keys they were in the last interval."""
    monkeypatch.setattr(search, "address_if_worthwhile", lambda code, lost: address_of(code))
    numbers = [float(at) for at in range(1200)]
    numbers[7] = numbers[1198] = math.nan
    table = array(Kind.F64, (3, 2), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    for first in ((600, 2), (3, 200, 2)):
        compare("interval_index", [table, array(Kind.F64, first, numbers)], arrays.interval_index)


@pytest.mark.parametrize("shape", [(0, 10**7), (3, 0)])
def test_cells_without_items_have_no_keys(shape: tuple[int, int]) -> None:
    """However wide they would be: `⍳ ~ ⍋` of no cells took as long as a cell has items."""
    rows = np.empty(shape)
    assert hash.row_columns(rows) == []
    words, lost = hash.row_words(rows)
    assert not words.any() and len(words) == shape[0] and lost is None


@pytest.mark.parametrize("first", [-3, 0, 5, -(2**63), 2**63 - 700])
def test_items_one_after_the_other_among_bounds(first: int) -> None:
    """Also where bounds lie far outside, and where one item is there twice and another is not."""
    low, high = -(2**63), 2**63 - 1
    near = [first + at for at in (0, 1, 1, 5, 300, 699)]
    bounds = sorted([low, high, *near, max(first - 1, low), min(first + 700, high)])
    table, rows = array(Kind.I64, (len(bounds),), bounds), [first + at for at in range(700)]
    for items in (rows, [*rows[:500], rows[499], *rows[501:]]):
        compare("interval_index", [table, array(Kind.I64, (700,), items)], arrays.interval_index)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("dtype", ["i8", "i4", "f8", "f4"])
def test_a_merge_finds_what_a_bisection_does(dtype: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With many ranges, which begin within runs of equal items and of equal bounds, also where no bound is below, or all are."""
    monkeypatch.setattr(search, "pieces", lambda least, work: 3)
    monkeypatch.setattr(search, "_MERGE_WORK", 1e-3)
    monkeypatch.setattr(search, "address_if_worthwhile", lambda code, lost: address_of(code))
    draw = np.random.default_rng(5)
    for items, bounds, values in ((900, 900, 10**6), (900, 900, 5), (700, 3, 50), (600, 5000, 9), (512, 1, 2), (1, 40, 30)):
        table, arg = (np.sort(draw.integers(-values, values, size)).astype(dtype) for size in (bounds, items))
        for shift in (0, 3 * values, -3 * values):
            expected = np.searchsorted(table, arg + table.dtype.type(shift), side="right") - 1
            found = search._merged(table, arg + table.dtype.type(shift), threads)
            assert found is not None and found.dtype == np.int64 and (found == expected).all()
    if table.dtype.kind == "f":
        table, arg = (np.array([-np.inf, -0.0, 0.0, 0.0, np.inf], dtype), np.array([-np.inf, -5, -0.0, 0.0, 5, np.inf], dtype))
        found = search._merged(table, arg, threads)
        assert found is not None and found.tolist() == [0, 0, 3, 3, 3, 4]
