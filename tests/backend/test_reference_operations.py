"""Pure array operations of the reference, against answers of APL interpreters and plain NumPy."""

from __future__ import annotations

import math

import pytest
from share import drawing

from rho.backend.reference import arrays, reductions
from rho.backend.reference.arrays import InternalError
from rho.backend.vm.check_failures import CheckFailed
from rho.backend.vm.values import Array, array, from_numpy, to_numpy
from rho.tests.harness.values import text
from rho.typechecker.elements import Kind

BOOL, U8, I32, I64, F32, F64, C64, C128, CHAR = Kind


def ints(*items: int, shape: tuple[int, ...] | None = None) -> Array:
    return array(I64, shape if shape is not None else (len(items),), items)


def floats(*items: float) -> Array:
    return array(F64, (len(items),), items)


def bools(*items: int) -> Array:
    return array(BOOL, (len(items),), items)


def grid(*shape: int) -> Array:
    return array(I64, shape, range(math.prod(shape)))


# ------------------------------------------------------------------------ structure


def test_reshape_cycles_truncates_and_fills() -> None:
    assert arrays.reshape(ints(1, 2, 3), (2, 2)).data == (1, 2, 3, 1)
    assert arrays.reshape(grid(2, 3), (4,)).data == (0, 1, 2, 3)
    assert arrays.reshape(text(""), (2, 3)).data == (" ",) * 6
    assert arrays.reshape(ints(), (0, 3)).shape == (0, 3)


def test_transpose_reorders_and_takes_diagonals() -> None:
    numpy = pytest.importorskip("numpy")
    value = grid(2, 3, 4)
    moved = arrays.transpose(value, (2, 0, 1))  # axis i goes to axes[i]
    assert (to_numpy(moved) == numpy.moveaxis(to_numpy(value), (0, 1, 2), (2, 0, 1))).all()
    assert arrays.transpose(value, (0, 0, 1)).data == tuple(int(to_numpy(value)[i, i, j]) for i in range(2) for j in range(4))
    assert arrays.transpose(grid(), ()).data == (0,)


def test_spread_replicates_new_axes() -> None:
    assert arrays.spread(ints(1, 2), (1,), (3, 2)).data == (1, 2, 1, 2, 1, 2)
    assert arrays.spread(ints(1, 2), (0,), (2, 3)).data == (1, 1, 1, 2, 2, 2)


def test_rotate_takes_an_amount_a_line() -> None:
    value = array(I64, (3, 4), range(1, 13))
    turned = arrays.rotate(value, ints(0, 1, 2, -1), 0)
    assert turned.data == (1, 6, 11, 12, 5, 10, 3, 4, 9, 2, 7, 8)
    assert arrays.rotate(ints(1, 2, 3, 4, 5, 6), array(I64, (), (-2,)), 0).data == (5, 6, 1, 2, 3, 4)
    assert arrays.rotate(ints(), array(I64, (), (3,)), 0).data == ()


def test_slice_overtakes_from_both_ends() -> None:
    assert arrays.slice_box(ints(1, 2, 3), (-2,), (5,)).data == (0, 0, 1, 2, 3)
    assert arrays.slice_box(grid(3, 3), (1, 1), (2, 2)).data == (4, 5, 7, 8)
    assert arrays.slice_box(grid(2, 2), (1,), (2, 2)).data == (2, 3, 0, 0)
    assert arrays.slice_box(text("ab"), (0,), (4,)).data == ("a", "b", " ", " ")


def test_join_stack_windows() -> None:
    assert arrays.join([grid(2, 1), grid(2, 2)], 1).data == (0, 0, 1, 1, 2, 3)
    assert arrays.join([grid(1, 2), grid(0, 2), grid(1, 2)], 0).shape == (2, 2)
    assert arrays.stack([ints(1, 2), ints(3, 4)], 1).data == (1, 3, 2, 4)
    assert arrays.stack([array(I64, (), (5,)), array(I64, (), (6,))], 0).data == (5, 6)
    assert arrays.windows(ints(1, 2, 3, 4), 1, (3, 2)).data == (1, 2, 2, 3, 3, 4)
    numpy = pytest.importorskip("numpy")
    value = grid(3, 4, 2)
    mine = to_numpy(arrays.windows(value, 2, (2, 3, 2, 2, 2)))
    theirs = numpy.lib.stride_tricks.sliding_window_view(to_numpy(value), (2, 2), axis=(0, 1))
    assert (mine == numpy.moveaxis(theirs, 2, -1)).all()


def test_reverse_and_iota() -> None:
    assert arrays.reverse(grid(2, 2), 0).data == (2, 3, 0, 1)
    assert arrays.iota_grid((2, 2, 2)).data == (0, 0, 0, 1, 1, 0, 1, 1)


# ------------------------------------------------------------------------ selection


def test_gather_selects_along_any_axis() -> None:
    assert arrays.gather(grid(2, 3), ints(2, 0), 1, True, False).data == (2, 0, 5, 3)
    assert arrays.gather(grid(2, 3), ints(1, 1, 0, 0, shape=(2, 2)), 0, True, False).shape == (2, 2, 3)
    assert arrays.gather(ints(7, 8), ints(1, -1), 0, True, True).data == (8, 0)


@pytest.mark.parametrize("index", [-1, 3])
def test_an_index_outside_fails_and_never_wraps(index: int) -> None:
    with pytest.raises(CheckFailed) as caught:
        arrays.gather(ints(1, 2, 3), ints(index), 0, True, False)
    assert caught.value.code == "E310"
    with pytest.raises(InternalError):
        arrays.gather(ints(1, 2, 3), ints(index), 0, False, False)


def test_update_takes_outer_products_and_the_last_duplicate() -> None:
    value = grid(2, 3)
    assert arrays.update(value, (None, ints(0, 2)), ints(9, 8, 7, 6, shape=(2, 2)), True).data == (9, 1, 8, 7, 4, 6)
    assert arrays.update(ints(1, 2), (ints(0, 0),), ints(5, 6), True).data == (6, 2)
    assert arrays.update(value, (array(I64, (), (1,)), None), array(I64, (), (0,)), True).data == (0, 1, 2, 0, 0, 0)
    with pytest.raises(CheckFailed):
        arrays.update(value, (ints(2), None), array(I64, (), (0,)), True)


def test_mask_update_compress_expand_where() -> None:
    assert arrays.mask_update(grid(3, 2), bools(1, 0, 1), grid(2, 2)).data == (0, 1, 2, 3, 2, 3)
    assert arrays.mask_update(ints(1, 2, 3), bools(1, 0, 1), array(I64, (), (0,))).data == (0, 2, 0)
    with pytest.raises(CheckFailed):
        arrays.mask_update(ints(1, 2, 3), bools(1, 0, 1), ints(1))
    assert arrays.compress(bools(1, 0, 1), grid(2, 3), 1).data == (0, 2, 3, 5)
    assert arrays.expand(bools(1, 0, 1), ints(1, 2), 0).data == (1, 0, 2)
    with pytest.raises(CheckFailed):
        arrays.expand(bools(1, 1, 1), ints(1, 2), 0)
    assert arrays.where(array(BOOL, (2, 2), (0, 1, 1, 0))).data == (0, 1, 1, 0)
    assert arrays.where(bools(0, 1, 1)).data == (1, 2)


# ------------------------------------------------------------------------ searching


def test_grade_is_stable_lexicographic_and_puts_nan_last() -> None:
    assert arrays.grade(text("hello"), True).data == (4, 2, 3, 0, 1)
    assert arrays.grade(array(I64, (3, 2), (1, 2, 0, 9, 1, 1)), False).data == (1, 2, 0)
    assert arrays.grade(floats(math.nan, 2, math.nan, 1), False).data == (3, 1, 0, 2)
    assert arrays.grade(floats(math.nan, 2, math.nan, 1), True).data == (1, 3, 0, 2)
    assert arrays.grade(grid(3, 0), False).data == (0, 1, 2)


def test_grade_by_collation() -> None:
    assert arrays.grade_by(text("abc"), text("cab"), False).data == (1, 2, 0)
    assert arrays.grade_by(text("ab"), text("abc"), False).data == (0, 1, 2)
    assert arrays.grade_by(text("abc"), array(CHAR, (2, 3), "cabbac"), False).data == (1, 0)


def test_searches() -> None:
    assert arrays.index_of(ints(1, 2, 3, 2), ints(2, 9)).data == (1, 4)
    assert arrays.index_of(grid(3, 2), ints(2, 3)).data == (1,)
    assert arrays.index_of(text("abc"), ints(1)).data == (3,)
    assert arrays.index_of(floats(math.nan), floats(math.nan)).data == (1,)
    assert arrays.member_of(text("ab"), text("bcd")).data == (False, True)
    assert arrays.find(text("ab"), text("abcab")).data == (True, False, False, True, False)
    assert arrays.find(text(""), text("ab")).data == (True, True)
    assert arrays.find(ints(1, 2), array(I64, (3, 3), range(1, 10))).data == (True, *[False] * 8)
    assert arrays.find(grid(2, 2), ints(1, 2, 3)).data == (False,) * 3
    assert arrays.interval_index(ints(10, 20, 30), ints(5, 15, 25, 35)).data == (-1, 0, 1, 2)
    assert arrays.interval_index(floats(1), floats(math.nan)).data == (-1,)
    assert arrays.first_occurrence(text("abca")).data == (True, True, True, False)
    assert arrays.match(ints(1, 2), floats(1, 2))
    assert not arrays.match(ints(1, 2), ints(1, 2, shape=(2, 1)))


# ----------------------------------------------------------------------- reductions


def test_reductions_go_right_to_left() -> None:
    assert reductions.reduce("sub", ints(1, 2, 3), 0).data == (2,)
    assert reductions.reduce("div", floats(1, 2, 4), 0).data == (2.0,)
    assert reductions.reduce("pow", floats(2, 3, 2), 0).data == (512.0,)
    assert reductions.reduce("lt", bools(0, 1, 1), 0).data == (False,)
    assert reductions.reduce("nand", bools(1, 1, 1), 0).data == (True,)
    assert reductions.reduce("lt", ints(3, 1, 2), 0).data == (0,)
    assert reductions.reduce("max", grid(2, 3), 1).data == (2, 5)


def test_empty_reductions_have_identities_or_fail() -> None:
    for function, value in (("add", 0), ("mul", 1), ("sub", 0), ("ipow", 1), ("residue", 0), ("eq", 1), ("gt", 0), ("gcd", 0)):
        assert reductions.reduce(function, array(I64, (2, 0), ()), 1).data == (value, value)
    assert reductions.reduce("and", bools(), 0).data == (True,)
    for function in ("max", "min"):
        with pytest.raises(CheckFailed) as caught:
            reductions.reduce(function, ints(), 0)
        assert caught.value.code == "E204"
    assert reductions.reduce("max", array(I64, (0, 0), ()), 1).data == ()


@pytest.mark.parametrize("function", ["add", "sub", "mul", "min", "max", "residue", "gcd", "lt", "ge", "ne"])
def test_a_scan_is_the_reductions_of_the_prefixes(function: str) -> None:
    chance = drawing(function)
    items = [chance.randint(-9, 9) for _ in range(9)]
    scanned = reductions.scan(function, ints(*items), 0)
    assert scanned.data == tuple(reductions.reduce(function, ints(*items[: i + 1]), 0).item for i in range(9))


@pytest.mark.parametrize("function", ["and", "or", "nand", "nor", "lt", "le", "eq", "ge", "gt", "ne"])
def test_a_boolean_scan_is_the_reductions_of_the_prefixes(function: str) -> None:
    for bits in range(32):
        items = [bits >> i & 1 for i in range(5)]
        scanned = reductions.scan(function, bools(*items), 0)
        assert scanned.data == tuple(reductions.reduce(function, bools(*items[: i + 1]), 0).item for i in range(5))


def test_scans_along_the_first_axis() -> None:
    assert reductions.scan("mul", array(I64, (3, 2), range(1, 7)), 0).data == (1, 2, 3, 8, 15, 48)
    assert reductions.scan("div", floats(8, 2, 4), 0).data == (8.0, 4.0, 16.0)


def test_contractions() -> None:
    numpy = pytest.importorskip("numpy")
    left, right = grid(2, 3, 4), grid(4, 5)
    assert (to_numpy(reductions.contract(left, right)) == numpy.tensordot(to_numpy(left), to_numpy(right), 1)).all()
    assert reductions.contract(ints(), ints()).data == (0,)
    assert reductions.contract(ints(2**62, 2**62), ints(2, 2)).data == (0,)


def test_decode_and_encode() -> None:
    two = array(I64, (), (2,))
    assert reductions.decode(two, ints(1, 0, 1)).data == (5,)
    assert reductions.decode(ints(1, 0, 1), ints(1, 2, 3)).data == (5,)
    assert reductions.decode(ints(24, 60, 60), ints(2, 3, 4)).data == (7384,)
    assert reductions.decode(ints(10, 10), array(I64, (), (3,))).data == (33,)
    assert reductions.decode(two, ints()).data == (0,)
    assert reductions.decode(ints(2, 2, shape=(2, 1)), grid(3, 2)).shape == (2, 2)
    assert reductions.encode(ints(2, 2), ints(5, 6)).data == (0, 1, 1, 0)
    assert reductions.encode(ints(0, 2, 2), array(I64, (), (5,))).data == (1, 0, 1)
    assert reductions.encode(ints(24, 60, 60), array(I64, (), (-1,))).data == (23, 59, 59)
    assert reductions.encode(array(F64, (2,), (0, 1)), array(F64, (), (2.5,))).data == (2.0, 0.5)
    assert reductions.encode(ints(*[2] * 6, shape=(2, 3)), array(I64, (), (5,))).data == (0, 0, 0, 1, 1, 1)


def test_key_reduce_keeps_order_and_fills_with_the_identity() -> None:
    assert reductions.key_reduce("add", ints(0, 2, 0), ints(1, 2, 3), 4, True).data == (4, 0, 2, 0)
    assert reductions.key_reduce("sub", ints(0, 0, 0), ints(5, 3, 1), 1, True).data == (3,)
    assert reductions.key_reduce("max", ints(1, 0), grid(2, 2), 2, True).data == (2, 3, 0, 1)
    with pytest.raises(CheckFailed):
        reductions.key_reduce("max", ints(0), ints(1), 2, True)
    with pytest.raises(CheckFailed) as caught:
        reductions.key_reduce("add", ints(2), ints(1), 2, True)
    assert caught.value.code == "E310"
    assert from_numpy(to_numpy(grid(2, 2))) == grid(2, 2)
